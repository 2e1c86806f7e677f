/*
 * update_oracle.h: a slow judge of update plans, written from selvage/update.h and decisions 8 and
 * 27 before there was a planner. It walks tables by itself, keeps a matrix of what waits for what,
 * and looks for cycles in it.
 *
 * Time is the number of the step under way: at time i the entries of earlier steps are new, those
 * of step i are old or new, later ones are old; time `steps` is when all is done.
 */
#ifndef TESTS_ORACLE_UPDATE_ORACLE_H
#define TESTS_ORACLE_UPDATE_ORACLE_H

#include <selvage/experimental.h>
#include <selvage/selvage.h>

/* Which rule a plan breaks. */
typedef enum oracle_rule {
    ORACLE_FINE,
    ORACLE_SHAPE,    /* it does not hold together, or counts wrongly */
    ORACLE_PAIRS,    /* pairs are missing, too many, or have a wrong span */
    ORACLE_TABLES,   /* sv_update_tables are not what they should be */
    ORACLE_LOST,     /* a mixture loses a pair that had a path and keeps one */
    ORACLE_CIRCLE,   /* a mixture goes round in circles */
    ORACLE_DEADLOCK, /* packets can wait for each other for ever */
    ORACLE_RULES
} oracle_rule;

/* What changes: a fabric, two tables, and whose packets there are; and room for what waits. */
typedef struct oracle {
    const sv_fabric *f;
    const sv_routes *before, *after;
    sv_traffic traffic;
    uint32_t max_mix; /* entries of one destination in one step all of whose mixtures are tried */
    uint32_t switches, nodes, dests, ports, vls;
    uint32_t *channel; /* [nodes][ports]: the live one there, or SV_NONE */
    uint32_t *vertex;  /* [channels]: of its VL 0, or SV_NONE if it does not join switches */
    uint32_t vertices, words;
    uint64_t *waits;  /* [vertices][words]: one bit each */
    uint8_t *reached; /* [channels][VLs], and in which order: */
    uint32_t *queue;
    uint64_t mixtures; /* that were tried, of all judgements */
    char why[300];     /* of the last judgement that was not FINE */
} oracle;

/* A plan with nothing left to be counted. */
typedef struct oracle_plan {
    uint32_t steps;
    bool settle, vls;
    uint32_t *step;      /* [dests][switches], or SV_NONE: the entry stays */
    uint32_t *first;     /* [dests]: when new SLs begin, or SV_NONE */
    uint32_t *from, *to; /* [dests][nodes]: when it is silent because it must; SV_NONE: never */
} oracle_plan;

void oracle_init(oracle *o, const sv_fabric *f, const sv_routes *before, const sv_routes *after,
                 sv_traffic traffic);
void oracle_release(oracle *o);

/* An entry of a live switch that differs. */
bool oracle_differs(const oracle *o, uint32_t s, uint32_t d);
/* The VL of each SL by some tables. */
const sv_sl2vl *oracle_vls(const oracle *o, const sv_routes *r, uint32_t v, unsigned in,
                           unsigned out);
/* Whether a pair is of the traffic; packets to a dead node count as far as they get. */
bool oracle_counts(const oracle *o, uint32_t v, uint32_t d);
/* Whether SLs of either tables are by node. */
bool oracle_by_node(const oracle *o);
/* How VL tables differ: not at all, where nobody uses it, or else. */
enum { ORACLE_VLS_SAME, ORACLE_VLS_UNUSED, ORACLE_VLS_DIFFER };
int oracle_vls_differ(const oracle *o);

/*
 * The switches that packets from a node meet when entries of steps before `time` are new; *arrives
 * whether they do. Returns how many; list has room for all switches.
 */
uint32_t oracle_path(const oracle *o, const oracle_plan *p, uint32_t v, uint32_t d, uint32_t time,
                     uint32_t *list, bool *arrives);

/* A plan with no steps for anything; to be filled. */
oracle_plan oracle_plan_new(const oracle *o);
oracle_plan oracle_plan_copy(const oracle *o, const oracle_plan *p);
void oracle_plan_free(oracle_plan *p);

/* Whether steps are safe. */
oracle_rule oracle_judge(oracle *o, const oracle_plan *p);
/* The same of one time alone, for a plan that settles. */
oracle_rule oracle_judge_time(oracle *o, const oracle_plan *p, uint32_t time);
/* Whether tables by themselves, old or new, cannot deadlock. */
bool oracle_acyclic(oracle *o, bool new_ones);

/*
 * Whether a plan as it was told (update_count.c) holds together; *plan, to be freed, is what is
 * left to be judged.
 */
oracle_rule oracle_count(oracle *o, const sv_update *update, oracle_plan *plan);
/* Whether sv_update_tables are right for every step. */
oracle_rule oracle_tables(oracle *o, sv_ctx *ctx, const sv_update *update, const oracle_plan *plan);

#endif
