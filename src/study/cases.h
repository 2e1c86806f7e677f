/*
 * cases.h: the cells of a database with their results, in memory and in order, for answers_*.c.
 *
 * A case is a cell with a result. Its names are numbers here: indices into the lists of
 * sv__study_cases. fabric     as typed, a file with its contents; group: those that differ in seed=
 * only are one level      failures in words ("links 3%"); family: levels that differ in the amount
 * only contender  an engine with its VLs and options traffic    with profile, message and load; 0
 * is none Cases are ordered by fabric, traffic, contender, level and seed, so that whatever belongs
 * together is a run. Levels are ordered: none first, then family by family, by amount, and where a
 * family has amounts in several units, by how many parts fail in the mean.
 */
#ifndef SV_STUDY_CASES_H
#define SV_STUDY_CASES_H

#include "study/answers.h"

typedef enum sv__outcome {
    SV__CASE_OK,
    SV__CASE_UNSAFE,     /* tables may deadlock, and did not */
    SV__CASE_DEADLOCK,   /* they did */
    SV__CASE_INCOMPLETE, /* pairs are not joined, or packets go in circles */
    SV__CASE_ENGINE,     /* refuses or fails */
    SV__CASE_OTHER, /* says nothing about the routing: limits, faults that cannot be drawn, … */
    SV__NUM_OUTCOMES
} sv__outcome;

/* Measured values, NAN where there is none. */
typedef enum sv__study_measure {
    SV__LINKS_FAILED,
    SV__SWITCHES_FAILED,
    SV__ADAPTERS_FAILED,
    SV__SWITCHES,
    SV__TERMINALS,
    SV__LINKS,
    SV__VLS_NEEDED,
    SV__VLS_USED,
    SV__FALLBACKS,
    SV__EFI_MIN,
    SV__EFI_AVG,
    SV__EFI_MAX,
    SV__EFI_SDV,
    SV__EFI_BOUND,
    SV__HOPS_AVG,
    SV__HOPS_MAX,
    SV__EBB_AVG,
    SV__EBB_MIN,
    SV__EBB_MAX,
    SV__EBB_SDV,
    SV__THROUGHPUT,
    SV__LATENCY_AVG,
    SV__LATENCY_P99,
    SV__ROUTE_SECONDS,
    SV__NUM_VALUES
} sv__study_measure;

typedef struct sv__study_case {
    int64_t id, seed;
    uint32_t fabric, traffic, contender, level;
    uint32_t rank; /* of the level */
    sv__outcome outcome;
    bool undrawn; /* says nothing of any engine: its failures cannot be drawn, no fabric, … */
    bool error;
    bool nothing; /* was drawn as failures, but nothing failed */
    const char *words;
    double value[SV__NUM_VALUES];
} sv__study_case;

typedef enum sv__cause {
    SV__CAUSE_NONE,
    SV__CAUSE_LINKS,
    SV__CAUSE_SWITCHES,
    SV__CAUSE_BOTH,
    SV__CAUSE_YEARS,
    SV__CAUSE_STATE /* whatever a fabric lacks of its plan */
} sv__cause;

typedef struct sv__level {
    const char *words, *unit;
    sv__cause kind;
    double amount;
    uint32_t family, rank;
} sv__level;

typedef struct sv__contender {
    const char *name; /* as short as is clear in this database */
    const char *full; /* engine[/VLs][ options] */
    const char *engine, *options;
    int vls;
} sv__contender;

typedef struct sv__fabric {
    const char *name;
    const char *full; /* with the digest of a file */
    unsigned several; /* contents are called so, if not 0 */
    uint32_t group;
    double switches, terminals, links; /* without failures; NAN if it is not known */
} sv__fabric;

typedef struct sv__study_cases {
    sv_ctx *ctx;
    sv_arena *arena;
    sqlite3 *db;
    sv__study_case *at;
    size_t count;
    size_t repeated, open; /* cells that were measured in several ways; that have no result yet */
    size_t undrawn, nothing;
    sv__fabric *fabrics;
    sv__level *levels;
    sv__contender *contenders;
    const char **traffics, **families, **groups;
    size_t num_fabrics, num_levels, num_contenders, num_traffics, num_families, num_groups;
} sv__study_cases;

/* Reads all cases of a database (of one plan, of one fabric) into the arena. */
sv_status sv__cases_read(sv__study_cases *cases, sv_arena *arena, sqlite3 *db,
                         const sv_answer_options *options);

/* Puts them in order, once each, and judges them (a part of reading). */
sv_status sv__cases_order(sv__study_cases *cases);

/* SQLite's complaint, as a status of ours. */
sv_status sv__sql_failed(sv_ctx *ctx, sqlite3 *db);

/* The first case behind a run of cases that agree with at[from] in the first parts (1 … 4) of
 * fabric, traffic, contender, level. */
size_t sv__run_end(const sv__study_cases *cases, size_t from, int parts);

/* A case of these, or NULL. */
const sv__study_case *sv__case_find(const sv__study_cases *cases, uint32_t fabric, uint32_t traffic,
                                    uint32_t contender, uint32_t level, int64_t seed);

/* Its throughput, or NAN if it is none that counts: tables that failed have none. */
double sv__case_throughput(const sv__study_case *c);

/* Failed parts that a regression over a family counts: links, switches, or all. */
double sv__case_failed(const sv__study_cases *cases, const sv__study_case *c, sv__cause kind);

/* The kind of failures of a family. */
sv__cause sv__family_cause(const sv__study_cases *cases, uint32_t family);

/* The contender that a name means, or NULL: its name, its full name, or an engine with only one. */
const sv__contender *sv__contender_find(const sv__study_cases *cases, const char *name);

/* Says below a table what is not in it: cells without results, cells that were measured again. */
void sv__note_cells(const sv__study_cases *cases, sv_table *table);

/* And what is left out of comparisons, since no engine is to blame. */
void sv__note_undrawn(const sv__study_cases *cases, sv_table *table);

/* ---- the answers ---- */

typedef sv_status sv__answer(const sv__study_cases *cases, const sv_answer_options *options,
                             sv_tables *tables);
sv__answer sv__answer_summary, sv__answer_usability, sv__answer_degradation, sv__answer_lifetime,
    sv__answer_lost, sv__answer_vls, sv__answer_balance, sv__answer_runtime, sv__answer_ebb,
    sv__answer_compare;

#endif
