/*
 * transition.h: random changes of tables for tests: failures, repairs, other seeds, engines and
 * jobs; plans for them, two sets, traffic; and rehearsals of all that.
 */
#ifndef SELVAGE_TEST_TRANSITION_H
#define SELVAGE_TEST_TRANSITION_H

#include "support/testing.h"

typedef struct test_transition {
    char about[200];             /* what it is */
    sv_fabric *f;                /* as it is now */
    sv_routes *before, *after;   /* of that, LMC 0 */
    sv_routes *before2, *after2; /* the same as two sets, LMC 1 */
    sv_update *plan, *plan2;
} test_transition;

/* A change by its seed. */
void test_transition_init(sv_ctx *ctx, uint64_t seed, test_transition *t);
void test_transition_release(test_transition *t);

/* A small model with small buffers, which deadlocks easily. */
sv_sim_model test_transition_model(sv_ctx *ctx, const test_transition *t);

/* How a way is rehearsed: delays, losses, applications by the seed. application: [terminals]. */
sv_rehearsal_request test_transition_request(sv_ctx *ctx, const test_transition *t,
                                             sv_rehearsal_way way, uint64_t seed,
                                             uint32_t *application);

/* Runs it, with traffic of so many messages. */
sv_rehearsal *test_transition_rehearse(sv_ctx *ctx, const test_transition *t,
                                       sv_rehearsal_request *request, uint64_t messages);

#endif
