/*
 * update_shared.h: what `selvage update` is asked (update_options.c), what it planned
 * (cmd_update.c), what it rehearsed (update_rehearse.c), and who tells of it (update_print.c,
 * update_json.c).
 */
#ifndef SELVAGE_APP_UPDATE_SHARED_H
#define SELVAGE_APP_UPDATE_SHARED_H

#include "selvage/sim_shared.h"

struct update_options {
    /* As typed. */
    const char *words[2]; /* OLD and NEW */
    const char *output, *rehearse;
    const char *begin, *delay, *retry, *settle, *rest;
    uint64_t loss, window, runs, seed, vls, max_steps, assume_sl;
    bool json, strict, terminals_only;
    struct sim_options sim; /* traffic and model */
    /* What it means. */
    sv_traffic traffic;
    bool ways[SV_REHEARSE_WAYS], one; /* one: it was asked for by name */
    uint64_t begin_ticks, delay_min, delay_max, retry_ticks, settle_ticks, rest_ticks;
};

/* The first packet that something happened to, and in which run. */
struct update_first {
    uint64_t seed;
    sv_sim_example example;
};

/* A way, over all its runs. */
struct update_tally {
    const char *why_not; /* it cannot be; NULL: it can */
    unsigned vls;        /* that its tables use */
    uint64_t runs, done, called_off, deadlocks;
    uint64_t incidents[SV_SIM_INCIDENTS], harmed[SV_SIM_INCIDENTS], inconsistent;
    uint64_t blocks, datagrams, lost, again, steps, held;
    uint64_t held_max, drain_max;                                 /* ticks */
    uint64_t time[SV_REHEARSE_PHASES], bytes[SV_REHEARSE_PHASES]; /* of all runs */
    bool both_deadlock_free;
    struct update_first first[SV_SIM_INCIDENTS];
    uint64_t deadlock_seed, deadlock_time;
    uint32_t stuck; /* packets of that */
    sv_wait *cycle;
    size_t cycle_length;
};

struct update {
    const struct update_options *o;
    app_table_pair x;
    uint32_t gone; /* LIDs of OLD that nobody has in NEW */
    sv_update *plan;
    /* For five phases. */
    sv_routes *before2, *after2; /* two sets: composed, or those of x */
    bool composed;
    sv_update *plan2;
    unsigned vls; /* that there are */
    char why_not[300];
    struct update_tally tally[SV_REHEARSE_WAYS];
    const char *traffic;
    bool cancelled;
};

extern const char *const update_ways[SV_REHEARSE_WAYS];

/* What holds for whoever answers path records, where SLs change. */
extern const char update_sl_condition[];

/* Whether a plan is safe though nobody is silent. */
static inline bool update_needs_nobody(const sv_update *plan)
{
    return plan->way == SV_UPDATE_NOTHING || plan->way == SV_UPDATE_AT_ONCE ||
           plan->way == SV_UPDATE_STEPS;
}

/* Reads a command line. Returns -1 to go on, or the exit code to end with. */
int update_parse(struct app *app, struct update_options *options, int argc, char **argv);

/* Rehearses all ways that are asked for. */
sv_status update_rehearse(struct app *app, struct update *u);

/* Tables, and fabric, that a way is rehearsed on. */
static inline const sv_routes *update_tables(const struct update *u, unsigned way)
{
    return way == SV_REHEARSE_FIVE ? u->after2 : u->x.r;
}

void update_print_text(sv_text *out, const struct update *u);
void update_print_json(sv_text *out, const struct update *u);
/* The plan itself, for --output. */
void update_print_plan(sv_text *out, const struct update *u);

#endif
