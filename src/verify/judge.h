/* judge.h: what the files of this room share beyond rows and dependencies. */
#ifndef SV_VERIFY_JUDGE_H
#define SV_VERIFY_JUDGE_H

#include "verify/rows.h"

/* Adds the dependencies of all multicast groups. */
sv_status sv__walk_groups(sv_ctx *ctx, const sv__verify_case *c, const sv__deps *deps);

/*
 * Turns a cycle into steps with an example of a pair for each. store: where they are kept.
 */
sv_status sv__explain(sv_ctx *ctx, const sv__verify_case *c, sv_traffic traffic,
                      sv__unknown unknown, const sv__vertex *cycle, size_t length, sv_pool *store,
                      sv_wait **steps);

#endif
