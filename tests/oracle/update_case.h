/*
 * update_case.h: random changes of tables of small fabrics: failures, what came back, other
 * engines, other jobs, repairs, and tables by hand.
 */
#ifndef TESTS_ORACLE_UPDATE_CASE_H
#define TESTS_ORACLE_UPDATE_CASE_H

#include <selvage/experimental.h>
#include <selvage/selvage.h>

typedef enum update_kind {
    UPDATE_FAILURE,
    UPDATE_RETURN,
    UPDATE_ENGINE,
    UPDATE_JOBS,
    UPDATE_REPAIR,
    UPDATE_HAND, /* both tables */
    UPDATE_FEW,  /* some rows of the new ones */
    UPDATE_KINDS
} update_kind;

typedef struct update_case {
    sv_ctx *ctx;
    uint64_t lot;
    update_kind kind;
    sv_fabric *whole, *f; /* as it was built; as it is now */
    sv_routes *before, *after;
    sv_repair_report *report;
    sv_traffic traffic;
    uint32_t max_steps;
    char what[400];
} update_case;

uint32_t update_draw(update_case *c, uint32_t below);

/* The case of a seed, always the same; false: there is none (an engine refused). To be released. */
bool update_case_draw(sv_ctx *ctx, uint64_t seed, bool tiny, update_case *c);
void update_case_release(update_case *c);
const char *update_kind_name(update_kind kind);

#endif
