/*
 * study.h: studies: many cells (a fabric with failures, an engine, traffic), each run once, kept in
 * a database. docs/study.md says what a cell is and what the database holds.
 *
 * A library of its own (selvage-study), because it needs SQLite.
 */
#ifndef SELVAGE_STUDY_H
#define SELVAGE_STUDY_H

#include <selvage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is to be varied: a product of lists. Each entry of a list is text that may itself be
 * several: "0,1%,3%" where numbers are asked for, "1..10" for a range, "{1..5}" and "{a,b}" in the
 * spec of a fabric. A list that is empty stands for one entry, the default.
 */
typedef struct sv_study_list {
    const char *const *at;
    size_t length;
} sv_study_list;

typedef struct sv_study_request {
    const char *study;     /* its name: goes into the database with the words */
    sv_study_list fabrics; /* specs or files; at least one */
    /* Failures: all of these together make one axis. Default: none. */
    sv_study_list links, switches, both; /* numbers or percentages */
    const char *ratio;                   /* of both: "1:13" */
    sv_study_list years;
    const char *model;     /* of years: see failures.h */
    sv_study_list states;  /* files: the fabric as it was found */
    sv_study_list seeds;   /* of failures; default 1 */
    sv_study_list engines; /* "nue,weave,mode=one,minhop", "all" (but sar); default all */
    /*
     * Tables as they are, instead of engines: directories or .svr files of one fabric, which need
     * not be given then. No failures: those would need an engine.
     */
    sv_study_list tables;
    sv_study_list vls;      /* VLs; 0: as many as links offer */
    sv_study_list traffic;  /* specs; default exchange */
    sv_study_list loads;    /* 0: as fast as possible */
    sv_study_list messages; /* bytes; 0: one MTU */
    const char *profile;    /* "qdr", "qdr,ways=2"; default qdr */
    bool no_simulation;     /* traffic, loads, messages and profile do not matter then */
    bool bound;             /* the bound of the forwarding index, too */
    uint32_t matchings;     /* for the effective bisection bandwidth; 0: not asked */
    const char *lost; /* "links/1,2,5/100": kind, numbers of failures, trials; NULL: not asked */
    uint32_t part, parts;     /* only one of so many parts, from 1 on; parts 0: all */
    bool keep_all, keep_none; /* loads and timelines; else those of the first seed */
} sv_study_request;

typedef struct sv_study sv_study;

/*
 * Makes a plan. BAD_INPUT: something in it is not right, or it has more than a million cells.
 * *study: owned by the caller (sv_study_free). Nothing of the request is kept. Time: linear in the
 * cells; files are read.
 */
SV_API SV_MUST_USE sv_status sv_study_new(sv_ctx *ctx, const sv_study_request *request,
                                          sv_study **study);
SV_API void sv_study_free(sv_study *study);

/* How many cells it has; the key of one. Time: O(1). */
SV_API uint32_t sv_study_cells(const sv_study *study);
SV_API const char *sv_study_key(const sv_study *study, uint32_t cell);
/* Its options in their canonical form. Time: O(1). */
SV_API const char *sv_study_words(const sv_study *study);

/* How far it is. */
typedef struct sv_study_progress {
    uint32_t done, total; /* cells of this run: those that had a result before do not count */
    uint32_t before;      /* that had one */
    uint32_t not_ok;      /* of those done: anything but ok */
    const char *current;  /* a cell that is being run, in words; NULL: none */
    double seconds;       /* since the run began */
} sv_study_progress;

typedef struct sv_study_limits {
    double seconds;      /* of a cell; 0: none */
    uint64_t bytes;      /* of a cell; 0: none */
    unsigned threads;    /* cells at a time; 0: one for each core */
    uint64_t stop_after; /* cells; 0: none. For tests and for those who have little time */
} sv_study_limits;

/*
 * Who runs cells together: several processes that have the same plan, one of which (rank 0) has the
 * database. All slots are called by one thread only. A process alone needs none of this.
 */
typedef struct sv_study_team {
    void *user;
    unsigned rank, size;
    /* Sends bytes to a rank; they are the callee's to copy. */
    sv_status (*send)(void *user, sv_ctx *ctx, unsigned to, const void *bytes, size_t length);
    /* Something for this rank, if there is: *bytes is valid until the next call. */
    sv_status (*receive)(void *user, sv_ctx *ctx, unsigned *from, const void **bytes,
                         size_t *length, bool *there);
} sv_study_team;

typedef struct sv_study_run {
    const char *database; /* is made if it is not there */
    sv_study_limits limits;
    bool retry;                /* cells again that came to a limit or an error */
    const sv_study_team *team; /* NULL: alone */
    void *user;
    void (*progress)(void *user, const sv_study_progress *progress); /* or NULL */
} sv_study_run;

typedef struct sv_study_outcome {
    uint32_t ran, before, not_ok;
    uint32_t others; /* cells that other studies on the same database ran meanwhile */
    double seconds;
    double waited; /* seconds that the database took, while cells went on */
} sv_study_outcome;

/*
 * Runs the cells that have no result yet. Other processes may do so on the same database at the
 * same time: a cell is run by one of them, and each ends when all cells of its plan have results;
 * what one was at that ends early is run by another. Whatever happens to a cell is its result;
 * CANCELLED (what is finished is kept), IO, UNSUPPORTED (a database that is none, or of a newer
 * version) are not. Time: that of the cells, by the number of threads.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * const char *const fabrics[] = {"torus:3x3,hosts=2"}, *const engines[] = {"updn,nue"};
 * const char *const links[] = {"0,1"}, *const seeds[] = {"1..3"};
 * const sv_study_request request = {.study = "run",
 *                                   .fabrics = {fabrics, 1},
 *                                   .links = {links, 1},
 *                                   .seeds = {seeds, 1},
 *                                   .engines = {engines, 1},
 *                                   .no_simulation = true};
 * const sv_study_run run = {.database = ":memory:"};
 * sv_study *study = NULL;
 * sv_study_outcome outcome;
 * if (sv_study_new(ctx, &request, &study) == SV_OK &&
 *     sv_study_run_cells(ctx, study, &run, &outcome) == SV_OK)
 *     printf("%u of %u cells run\n", outcome.ran, sv_study_cells(study));
 * sv_study_free(study);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_study_run_cells(sv_ctx *ctx, const sv_study *study,
                                                const sv_study_run *run, sv_study_outcome *outcome);

/* Adds all that is in another database (of a part of the same study, say). */
SV_API SV_MUST_USE sv_status sv_study_merge(sv_ctx *ctx, const char *database, const char *other);

#ifdef __cplusplus
}
#endif
#endif
