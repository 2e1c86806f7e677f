/*
 * sim_case.h: random cases for the fast and the slow simulator: a small fabric, tables, a model and
 * messages.
 */
#ifndef TESTS_ORACLE_SIM_CASE_H
#define TESTS_ORACLE_SIM_CASE_H

#include <selvage/selvage.h>

typedef struct sim_message {
    uint64_t ready;
    uint32_t from, number; /* number: before it was sorted */
    uint32_t destination, bytes;
} sim_message;

typedef struct sim_case {
    sv_ctx *ctx;
    sv_fabric *f;
    sv_routes *r;
    sv_sim_model model;
    uint64_t limit;
    sim_message *messages; /* by terminal, then in order */
    uint32_t num_messages;
    bool reluctant; /* the source tells messages as late as can be */
} sim_case;

/* The case of a seed, always the same; to be released. */
sim_case sim_case_draw(sv_ctx *ctx, uint64_t seed);
void sim_case_release(sim_case *c);

#endif
