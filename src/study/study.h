/*
 * study.h: plans, cells and their results, for the files of this room.
 */
#ifndef SV_STUDY_STUDY_H
#define SV_STUDY_STUDY_H

#include <selvage/experimental/study.h>
#include <selvage/fabric.h>
#include <selvage/faults.h>
#include <selvage/formats.h>
#include <selvage/metrics.h>
#include <selvage/profiles.h>
#include <selvage/routing.h>
#include <selvage/topology.h>
#include <selvage/traffic.h>

#include "base/arena.h"

typedef enum sv__fault_kind {
    SV__NO_FAULTS,
    SV__LINKS,
    SV__SWITCHES,
    SV__BOTH,
    SV__YEARS,
    SV__STATE
} sv__fault_kind;

/* An entry of the axis of failures. */
typedef struct sv__fault {
    sv__fault_kind kind;
    const char *words, *unit; /* "links 3%", "%" */
    double amount;            /* 3 */
    sv_amount value;
    uint32_t ratio_switches, ratio_links;
    const char *model, *file; /* of years, of a state */
} sv__fault;

/* An entry of the axis of engines. */
typedef struct sv__router {
    const char *name, *words; /* words: its options, blanks between them */
    const char *tables;       /* a directory or .svr file; NULL: it is an engine */
    const char *digest;       /* of those, or "" */
    const char **options;     /* "name=value" */
    size_t num_options;
} sv__router;

typedef struct sv__cell {
    const char *key;
    const char *fabric;
    const sv__fault *fault;
    const sv__router *router;
    const char *traffic; /* "" without a simulation */
    const char *held;    /* a digest of its file, or "" */
    const char *profile;
    uint64_t seed;
    double load;
    uint32_t message;
    unsigned vls;
    bool keep;      /* loads and timeline */
    uint32_t place; /* in the whole plan */
} sv__cell;

struct sv_study {
    sv_ctx *ctx;
    sv_arena arena;
    const char *name, *words, *what;
    sv__cell *cells;
    uint32_t num_cells;
    bool simulate, bound;
    uint32_t matchings;
    sv_lost_plan lost; /* trials 0: not asked */
    sv_sim_model model;
};

/* ---- results ---- */

enum sv__column {
#define COLUMN(name, kind) SV__C_##name,
#include "study/columns.h"
#undef COLUMN
    SV__COLUMNS
};

typedef struct sv__value {
    bool given;
    int64_t integer;
    double real;
} sv__value;

typedef struct sv__lost_row {
    uint64_t pairs;
    sv_lost lost;
} sv__lost_row;

/* What came out of a cell. Arrays are in the arena that it was run with. */
typedef struct sv__result {
    char status[16], words[1024], sim_status[16];
    sv__value values[SV__COLUMNS];
    sv__lost_row *lost;
    uint32_t num_lost;
    /* Of the fabric without failures; body NULL: too large, or not asked for. */
    uint32_t fabric_switches, fabric_terminals, fabric_links;
    char *body;
    uint8_t *cables, *nodes; /* of table loads; NULL: not kept */
    size_t cables_bytes, nodes_bytes;
    uint8_t *timeline;
    size_t timeline_bytes;
    uint32_t columns;
    double interval_us, largest_us;
    double route_seconds, verify_seconds, metrics_seconds, sim_seconds, seconds;
    uint64_t bytes;
    char machine[64];
} sv__result;

static inline void sv__set_integer(sv__result *r, enum sv__column column, uint64_t value)
{
    r->values[column] = (sv__value){.given = true, .integer = (int64_t)value};
}

static inline void sv__set_real(sv__result *r, enum sv__column column, double value)
{
    r->values[column] = (sv__value){.given = true, .real = value};
}

/* ---- plan.c, lists.c ---- */

typedef struct sv__words {
    const char **at;
    size_t length, room;
} sv__words;

/* Adds what a list stands for: "1..5" and commas (numbers), or "{…}" (specs). */
sv_status sv__expand_numbers(sv_arena *arena, const char *text, sv__words *words);
sv_status sv__expand_spec(sv_arena *arena, const char *text, sv__words *words);
sv_status sv__words_add(sv_arena *arena, sv__words *words, const char *text, size_t length);

/* digests.c: what a file or directory holds, as "#…"; "" for a spec. And that of a file that an
 * option names, added to others; and whether two sets of tables are for the same fabric. */
sv_status sv__digest(sv_arena *arena, const char *name, const char **text);
sv_status sv__digest_value(sv_arena *arena, const char *value, size_t length, const char **all);
sv_status sv__same_fabric(sv_arena *arena, const char *one, const char *other);

/* faults.c: the axis of failures. */
sv_status sv__fault_axis(sv_ctx *ctx, sv_arena *arena, const sv_study_request *request,
                         sv__fault **faults, size_t *count);

/* Prints into an arena; NULL: no memory. */
char *sv__print(sv_arena *arena, const char *format, ...) SV_PRINTF(2, 3);

/* ---- cell.c ---- */

/* stop: whether all is to end, asked often; CANCELLED is then what a cell returns. */
typedef struct sv__cell_limits {
    double seconds;
    uint64_t bytes;
    bool (*stop)(void *user);
    void *user;
} sv__cell_limits;

sv_status sv__cell_run(const sv_study *study, uint32_t cell, const sv__cell_limits *limits,
                       sv_arena *arena, sv__result *result);
/* What a result is called, and the words for it. */
void sv__say(sv__result *result, const char *status, const char *format, ...) SV_PRINTF(3, 4);

/* ---- measure.c ---- */

/* What a cell works on. */
typedef struct sv__bench {
    sv_ctx *ctx;
    const sv_study *study;
    const sv__cell *cell;
    sv_fabric *whole, *f; /* without and with failures */
    sv_routes *r;
    uint64_t *load; /* of channels, in routes */
    sv__result *result;
    sv_arena *arena;
    uint64_t until_ns; /* for the simulation; 0: no limit */
    bool incomplete;   /* tables do not join all that they could */
    bool split;        /* not all terminals can be joined */
} sv__bench;

sv_status sv__measure_fabric(sv__bench *b);
sv_status sv__verify_tables(sv__bench *b);
sv_status sv__measure_tables(sv__bench *b);
sv_status sv__measure_simulation(sv__bench *b);

/* ---- snapshot.c ---- */

/* The body of a fabric; loads and timeline of a cell. from, ticks: of a simulation, or NULL. */
struct sv_sim_result;
sv_status sv__snapshot_fabric(sv__bench *b);
sv_status sv__snapshot_loads(sv__bench *b, const struct sv_sim_result *from);
sv_status sv__snapshot_timeline(sv__bench *b, const struct sv_sim_result *from, uint64_t interval);

/* ---- workers.c: threads that run cells ---- */

/* A cell that was run. Release it with sv__workers_release. */
typedef struct sv__study_job {
    struct sv__study_job *next;
    uint32_t cell;
    sv_status status; /* of running it: OK, or what ends the study */
    char message[256];
    sv_arena arena;
    sv__result result;
} sv__study_job;

typedef struct sv__study_workers sv__study_workers;

/* Starts threads; *workers is NULL if there is not even one. */
sv_status sv__workers_new(sv_ctx *ctx, const sv_study *study, const sv_study_limits *limits,
                          sv__study_workers **workers);
unsigned sv__workers_threads(const sv__study_workers *workers);
/* Gives it a cell to run. */
sv_status sv__workers_give(sv__study_workers *workers, uint32_t cell);
/* How many cells it has that are not finished. */
uint32_t sv__workers_busy(sv__study_workers *workers);
/* A finished one, or NULL; waits so many milliseconds for it. */
sv__study_job *sv__workers_take(sv__study_workers *workers, unsigned milliseconds);
void sv__workers_release(sv__study_workers *workers, sv__study_job *job);
/* A cell that is being run; SV_NONE: none. */
uint32_t sv__workers_current(sv__study_workers *workers);
/* Ends it; cells that are being run are given up. */
void sv__workers_free(sv__study_workers *workers);

/* ---- message.c: results as bytes, for other processes ---- */

/* Into memory of the context: to be released. kind: the first number of the message. */
sv_status sv__message_pack(sv_ctx *ctx, uint32_t kind, uint32_t cell, const sv__result *result,
                           void **bytes, size_t *length);
/* Out of it; arrays are put into the arena. BAD_INPUT: it is none. */
sv_status sv__message_unpack(sv_arena *arena, const void *bytes, size_t length, uint32_t *cell,
                             sv__result *result);

#endif
