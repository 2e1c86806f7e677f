/*
 * sim_shared.h: what `selvage sim` is asked (sim_options.c), what can be asked (sim_lists.c), what
 * it simulated (cmd_sim.c; sim_runs.c several times), how packets choose their ways (sim_policy.c),
 * programs that are replayed (sim_trace.c), and who tells of it (sim_print.c, sim_adapt.c,
 * sim_csv.c, sim_compare.c, sim_map.c).
 */
#ifndef SELVAGE_APP_SIM_SHARED_H
#define SELVAGE_APP_SIM_SHARED_H

#include <string.h>

#include "selvage/app.h"

/* The value of a number that was not given; none that can be typed. */
#define SIM_NOT_GIVEN UINT64_MAX

/* Files that are written when it is over. */
enum sim_file {
    SIM_TERMINALS,
    SIM_CHANNELS,
    SIM_LATENCIES,
    SIM_TIMELINE,
    SIM_ROUTERS,
    SIM_STUCK,
    SIM_NUM_FILES
};

struct sim_options {
    /* As typed. */
    const char *input, *engine;
    app_list engine_options;
    uint64_t vls, seed, assume_sl;
    const char *traffic, *message, *load, *order, *jobs, *list;
    app_list job_traffic;
    uint64_t messages, wall;
    const char *profile;
    app_list set;
    const char *warm_up, *sample, *precision, *interval, *limit;
    bool steady, json;
    const char *files[SIM_NUM_FILES];
    app_list policies;
    const char *store, *store_out;
    const char *trace, *map, *eager, *compute;
    uint64_t repeat;
    const char *seeds, *picture;
    /* What it means. */
    sv_sim_model model;
    uint64_t warm_up_ticks, sample_ticks, interval_ticks, limit_ticks; /* or SIM_NOT_GIVEN */
    uint64_t message_bytes;             /* where a message was given */
    double load_share, precision_share; /* 0: not given */
    bool file_on_output;                /* so that nothing else is printed there */
    uint64_t eager_bytes;
    double compute_factor;
    uint64_t first_seed, num_seeds;
    bool several; /* runs, which are compared */
};

/* A simulation. */
struct sim {
    const struct sim_options *o;
    const char *engine; /* that made the tables, or NULL */
    sv_fabric *f;
    sv_routes *r;
    sv_sim_setup setup;
    sv_sim_traffic *made; /* by setup.source */
    const char *traffic;  /* its spec, or the file it is from */
    bool endless;
    const char *policy; /* as it is asked for, or NULL */
    sv_adapt *adapt;
    unsigned vls;              /* that a run takes; the model may have more */
    const sv_mpi_trace *trace; /* that is replayed, or NULL */
    sv_mpi_replay *replay;
    sv_mpi_replay_result replayed;
    sv_sim_result *result;
    double seconds;    /* of simulating */
    uint32_t counting; /* terminals that count and took part */
    double injection;  /* bytes a second that those could inject */
    sv_wait *cycle;    /* of a deadlock */
    size_t cycle_length;
};

/* Reads a command line. Returns -1 to go on, or the exit code to end with. */
int sim_parse(struct app *app, struct sim_options *options, int argc, char **argv);

/* Files that are to be written are different ones, and can be: -1 or an exit code. */
int sim_check_outputs(struct app *app, const struct sim_options *options);

/* Values as typed: -1 or an exit code. A time in microseconds (SIM_NOT_GIVEN: NULL); a share of 1,
 * more than 0 (0: NULL); all that o->profile, o->set and o->message say. */
int sim_parse_time(struct app *app, const char *name, const char *text, bool positive,
                   uint64_t *ticks);
int sim_parse_share(struct app *app, const char *name, const char *text, double *share);
int sim_parse_message(struct app *app, struct sim_options *options);
int sim_parse_model(struct app *app, struct sim_options *options);
/* What options and the keys of --traffic both tell: -1 or an exit code. */
int sim_check_twice(struct app *app, const struct sim_options *options);

/* The model: the VLs that tables use; adapters that are slower than their links are warned of. */
sv_status sim_fit_model(struct app *app, struct sim *sim);
/* What is sent: setup.source, which is good for one run. */
sv_status sim_load_traffic(struct app *app, struct sim *sim);

/* Whether a number of the model was set by name ("vls="). */
bool sim_is_set(const struct sim_options *options, const char *name_and_equals);

/* ---- sim_policy.c, sim_trace.c ---- */

/* Makes the policy that is asked for, if one is: setup.policy, and VLs for it. */
sv_status sim_make_policy(struct app *app, struct sim *sim);
/* Writes what it has learned into o->store_out, if that is given. */
sv_status sim_write_store(struct app *app, const struct sim *sim);
/* Whether --map has such a value, or none: -1 or an exit code. */
int sim_check_map(struct app *app, const char *map);
/* Checks the options of policies, traces and runs: -1 or an exit code. */
int sim_parse_policies(struct app *app, struct sim_options *options);
/* Loads the fabric o->input and routes it, as o says, with o->engine. */
sv_status sim_route(struct app *app, struct sim *sim);
/* Whether an argument is a fabric and no tables, as far as its name tells. */
bool sim_is_fabric(const char *argument);
/* Whether an argument is a skeleton's name, and no file's. */
bool sim_is_skeleton(const char *argument);
/* The program that is to be replayed: a file, or a skeleton. */
sv_status sim_load_trace(struct app *app, const char *argument, sv_mpi_trace **trace);
/* A file of hosts, one a rank, of sim's fabric and trace. *nodes: to be released. */
sv_status sim_read_map(struct app *app, const struct sim *sim, const char *path, sv_node **nodes);
/* Replays it: setup.source. */
sv_status sim_make_replay(struct app *app, struct sim *sim);

/* ---- one run ---- */

/* Simulates with the tables that there are; what it made is released by sim_end_run. */
sv_status sim_run(struct app *app, struct sim *sim);
/* Everything has arrived, but a rank of the program waits for ever. */
bool sim_blocked(const struct sim *sim);
void sim_end_run(struct app *app, struct sim *sim);
/* Writes into a file, or to standard output. */
typedef void sim_write_fn(sv_text *out, const void *what);
sv_status sim_save(struct app *app, const char *path, sim_write_fn *write, const void *what);

/* ---- what is compared ---- */

/* Numbers of a run. Whatever cannot be told is NAN. */
typedef struct sim_measures {
    double latency_us, since_ready_us; /* Eq. 4.2: mean over destinations of their means */
    double contention_us, worst_us;    /* wait of a packet at a router, and at the worst one */
    double execution_us, throughput_gbyte_s;
    double waiting_share; /* of ranks' time that they waited, of a trace */
    double control_share; /* of bytes that terminals send */
    double detour_share, early_share;
    double early_us, early_max_bytes; /* wait of an early packet */
    uint32_t destinations;
    sv_node worst; /* SV_NONE: nobody waited */
} sim_measures;

sim_measures sim_measure(const struct sim *sim);
/* Packets that a switch granted, and how long they waited there, in the time that counts. */
void sim_router(const struct sim *sim, uint32_t s, uint64_t *packets, sv_sim_sum *waited);

/* One policy in all runs. */
typedef struct sim_contender {
    const char *policy;     /* NULL: none, the tables' ways */
    unsigned vls;           /* that it takes */
    size_t runs;            /* that were completed */
    sim_measures *measures; /* [num_seeds] */
    sv_adapt_report *reports;
    uint64_t ends[SV_SIM_CANCELLED + 1];
    uint64_t blocked; /* programs with a rank that waits for ever */
    double seconds;
    double *packets, *waited; /* [switches]: sums, of --latency-map */
    double *cells;            /* [columns × switches]: mean wait in us, of the first run */
    uint32_t columns;
    double column_us;
} sim_contender;

/* Runs all policies with all seeds, and tells. Returns the exit code. */
int sim_compare(struct app *app, struct sim *sim);
/* What was found; partial: it was told to stop. */
void sim_print_contenders(sv_text *out, const struct sim *sim, const sim_contender *all,
                          size_t count, bool partial);
void sim_json_contenders(sv_text *out, const struct sim *sim, const sim_contender *all,
                         size_t count, bool partial);

/* Takes what the picture needs from a run (times: and when), puts runs of a policy together (the
 * first one's when), and draws it. */
sv_status sim_take_map(struct app *app, const struct sim *sim, sim_contender *contender,
                       bool times);
void sim_add_map(sim_contender *contender, sim_contender *from, uint32_t switches);
sv_status sim_draw_map(struct app *app, const struct sim *sim, const sim_contender *all,
                       size_t count);
void sim_release_map(struct app *app, sim_contender *contender);

/* Lines about policy, trace, latencies and contention, and the same for programs. */
void sim_print_what(sv_text *out, const struct sim *sim);
void sim_json_what(sv_json *j, const struct sim *sim);
void sim_print_adapt(sv_text *out, const struct sim *sim);
void sim_json_adapt(sv_json *j, const struct sim *sim);
const char *sim_end_name(sv_sim_end end);

/* What --profile help, --traffic help and --policy help print. Returns the exit code. */
typedef void sim_list_fn(sv_text *out, bool json);
void sim_list_profiles(sv_text *out, bool json);
void sim_list_traffic(sv_text *out, bool json);
void sim_list_policies(sv_text *out, bool json);
int sim_list(struct app *app, sim_list_fn *list, bool json);

/* The path of "file:PATH"; NULL of anything else. */
static inline const char *sim_path_of(const char *text)
{
    return text != NULL && strncmp(text, "file:", 5) == 0 ? text + 5 : NULL;
}

/* Microseconds of ticks. */
static inline double sim_us(sv_sim_sum ticks)
{
    return (double)ticks / (1000.0 * SV_TICKS_PER_NS);
}

/* What happened: packets injected, granted at a switch, drained. */
static inline uint64_t sim_events(const sv_sim_result *r)
{
    return r->packets + r->packet_hops + r->arrived_packets;
}

/* Of a message, unless the spec tells. */
static inline uint32_t sim_message_bytes(const struct sim *sim)
{
    return sim->o->message != NULL ? (uint32_t)sim->o->message_bytes : sim->o->model.mtu_bytes;
}

/* Whether that is what messages have: neither a file nor the spec tells. */
static inline bool sim_same_bytes(const struct sim *sim)
{
    return sim->o->list == NULL && sim->trace == NULL && strncmp(sim->traffic, "file:", 5) != 0 &&
           strstr(sim->traffic, "bytes=") == NULL;
}

/* Ticks that a channel takes a byte. */
static inline uint64_t sim_byte_ticks(const struct sim *sim, sv_channel c)
{
    const sv_link *link = sv_link_of(sim->f, c);
    if (sim->setup.model.byte_ticks == 0)
        return sv_sim_byte_ticks(link);
    return sim->setup.model.byte_ticks * 4 / (link->width != 0 ? link->width : 4);
}

/* The share of the time that counts in which a channel was busy, 0 … 1. */
double sim_utilisation(const struct sim *sim, sv_channel c);

/*
 * Packets that wait for each other, from those that are stuck: each holds a place in a buffer that
 * the one before it waits for, and the first one that the last waits for. *cycle: to be released.
 */
sv_status sim_find_cycle(struct app *app, const struct sim *sim, sv_wait **cycle, size_t *length);

void sim_print_text(sv_text *out, const struct sim *sim);
void sim_print_json(sv_text *out, const struct sim *sim);

/* Writes one of the files as CSV. */
void sim_print_csv(sv_text *out, const struct sim *sim, enum sim_file file);

#endif
