/*
 * app.h: what the subcommands share: options, loading fabrics, output, exit codes.
 *
 * To add a subcommand: write cmd_<verb>.c with a run function, add it to the table in main.c and a
 * section to docs/selvage.1. A run function parses its options with app_parse, does its work with
 * library calls, and returns app_exit(app, status) or the answer's own exit code.
 */
#ifndef SELVAGE_APP_H
#define SELVAGE_APP_H

#include <limits.h>

#include <selvage/experimental.h>
#include <selvage/selvage.h>

#include "base/ctx.h"
#include "base/json.h"
#include "base/text.h"

/* Exit codes, as in the manual. */
enum {
    EXIT_YES = 0,
    EXIT_NO = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_INFEASIBLE = 4,
    EXIT_SYSTEM = 5,
    EXIT_UNDECIDED = 6,
    EXIT_CANCELLED = 130
};

struct app {
    sv_ctx *ctx;
    const char *verb;
    bool progress;       /* standard error is a terminal */
    bool progress_shown; /* and has an unfinished line on it */
    bool concluding;     /* tells what there is so far, even if asked to stop */
    uint64_t progress_ns;
    const char *progress_what; /* what is being done, since when, and from where on */
    uint64_t progress_begun_ns, progress_from;
    sv_sink standard_output;
};

/* A seed is any number of 64 bits; of others the largest is none, as it may stand for not given. */
typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_NUMBER,
    OPTION_SEED,
    OPTION_LIST
} option_kind;

enum { APP_MAX_LIST = 64 };

/* The values of an option that may be given several times. */
typedef struct app_list {
    const char *at[APP_MAX_LIST];
    size_t length;
} app_list;

/* One option of a verb: --name, -letter, where its value goes and what help says. */
typedef struct app_option {
    const char *name;
    char letter;
    option_kind kind;
    void *value; /* bool *, const char **, uint64_t *, app_list * */
    const char *argument, *help;
} app_option;

typedef struct app_usage {
    const char *arguments; /* "FABRIC [options]" */
    const char *summary;
    const char *example;       /* one line a command */
    const app_option *options; /* ends with a NULL name; at most 64 */
} app_usage;

/*
 * Parses a command line. Positional arguments are put into words (at most most; at least least must
 * come). Only flags and lists may be given several times. Returns -1 to go on, or the exit code to
 * end with (0 after --help).
 */
int app_parse(struct app *app, const app_usage *usage, int argc, char **argv, const char **words,
              int min, int max);

/* An option whose numbers have limits. UINT64_MAX: it was not given. */
typedef struct app_limit {
    const char *name;
    uint64_t value, min, max;
} app_limit;

/* EXIT_USAGE when one of these numbers is out of its limits, else -1. */
int app_check_limits(struct app *app, const app_limit *limits, size_t count);

/* Warns where fewer VLs are used than were asked for (--vls; UINT64_MAX: not given). */
void app_warn_vls(struct app *app, uint64_t asked, unsigned used);

/* EXIT_USAGE when more than one of these arguments is "-", else -1. NULL is fine. */
int app_one_stream(struct app *app, const char *stream, const char *const *uses, size_t count);

/*
 * EXIT_USAGE when two files are one, under whatever names, else -1. NULL and "-" are fine. Options
 * are called without their dashes.
 */
int app_two_files(struct app *app, const char *option, const char *path, const char *other,
                  const char *other_path);

/* Whether two files are one. NULL and "-" are no files. */
bool app_same_file(const char *path, const char *other);

/* Complains on standard error and returns EXIT_USAGE. */
int app_usage_error(struct app *app, const char *format, ...) SV_PRINTF(2, 3);

/* The exit code of a status; its message has then been printed. */
int app_exit(struct app *app, sv_status status);

/* The path of a module of the command, such as selvage-mpi.so. UNSUPPORTED: it is not there. */
sv_status app_find_module(struct app *app, const char *name, char found[PATH_MAX]);

/*
 * What can be told of an engine (or auto) and what it is asked before there is a fabric: -1, or the
 * exit code. Of roots, hosts and jobs only counts whether there are any.
 */
int app_check_engine(struct app *app, const char *engine, const sv_route_request *request);

/* Hosts in tree order, into a file. INFEASIBLE: the engine was not one for trees. */
sv_status app_write_order(struct app *app, const sv_fabric *fabric, const sv_route_request *request,
                          const sv_route_report *report, const char *engine, const char *path);

/* What engine auto tried. */
void app_print_selection(sv_text *out, const sv_selection *selection);
void app_json_selection(sv_json *json, const sv_selection *selection);

/* A file, "-" or a spec string. */
sv_status app_load(struct app *app, const char *argument, sv_fabric **fabric);

/* The same, with roles from OpenSM's GUID files where given. */
sv_status app_load_roles(struct app *app, const char *argument, const char *cn_guids,
                         const char *io_guids, sv_fabric **fabric);

/* Whether tables of this name are a .svr file, not a directory. */
bool app_is_svr(const char *path);

/* A directory of tables, or a .svr file, with the fabric in it. */
sv_status app_load_tables(struct app *app, const char *argument, sv_fabric **fabric,
                          sv_routes **routes);

/* Both sides of a change, and the old tables in the numbers of the new fabric. */
typedef struct app_table_pair {
    sv_fabric *old_fabric, *f;
    sv_routes *old, *r, *carried;
    sv_lid_move *moves; /* LIDs that are other nodes' than before */
    uint32_t num_moves;
} app_table_pair;

/* Loads them (x is empty before). INFEASIBLE: LIDs of nodes, or the LMC, change. */
sv_status app_load_table_pair(struct app *app, const char *old, const char *new, app_table_pair *x);
void app_release_table_pair(struct app *app, app_table_pair *x);

/* "sw12 port 3 VL0": where a packet waits. */
void app_print_wait(sv_text *out, const sv_fabric *fabric, const sv_wait *wait);

/* A cycle, a step a line, with the pairs that make it. */
void app_print_cycle(sv_text *out, const sv_fabric *fabric, const sv_routes *routes,
                     const sv_wait *cycle, size_t length);
void app_json_cycle(sv_json *json, const sv_fabric *fabric, const sv_routes *routes,
                    const sv_wait *cycle, size_t length);

/* What sv_verify found. traffic: the kind that the answer is about. */
void app_print_verification(sv_text *out, const sv_fabric *fabric, const sv_routes *routes,
                            const sv_verification *found, sv_traffic traffic);
void app_json_verification(sv_json *json, const sv_fabric *fabric, const sv_routes *routes,
                           const sv_verification *found, sv_traffic traffic);

/* Whether it is all right: unicast of a kind, together with multicast. */
sv_verdict app_verdict(const sv_verification *found, sv_traffic traffic);

/* True, false, or null: not judged, or not decided. */
void app_json_verdict(sv_json *json, const char *key, sv_verdict verdict);

/* What a repair did. pairs: the file with those that must be re-pathed, or NULL. */
void app_print_repair(sv_text *out, const sv_fabric *fabric, const sv_repair_report *report,
                      const char *engine, const char *pairs);
void app_json_repair(sv_json *json, const sv_fabric *fabric, const sv_routes *routes,
                     const sv_repair_report *report, const char *engine, const char *pairs);

/* That file, which is written with the tables, in or beside the output. */
typedef struct app_pairs {
    const sv_fabric *fabric;
    const sv_routes *routes;
    const sv_repair_report *report;
    char *path; /* NULL: there are none. To be released. */
    sv_dump_extra extra;
} app_pairs;

sv_status app_pairs_init(app_pairs *pairs, struct app *app, const sv_fabric *fabric,
                         const sv_routes *routes, const sv_repair_report *report,
                         const char *output);

/* The multicast group that route --multicast adds. */
typedef struct app_multicast {
    bool wanted, again; /* again: there was no room for a tree until the engine was asked for it */
    bool keep;          /* SLs are not to be exchanged */
    bool own_vl;        /* it gets a VL of its own, this one */
    unsigned vl;
    unsigned other; /* the SL that its own was exchanged with, or its own */
    uint32_t depth, pieces;
} app_multicast;

/* Adds it to tables. INFEASIBLE: there is no tree. */
sv_status app_add_multicast(struct app *app, const sv_fabric *fabric, sv_routes *routes,
                            sv_traffic traffic, app_multicast *made);
void app_print_multicast(sv_text *out, const app_multicast *made);
void app_json_multicast(sv_json *json, const app_multicast *made);

/* The second set of routes that route --two-sets adds, for high addresses. */
typedef struct app_two_sets {
    bool wanted;
    unsigned vl; /* of its own */
} app_two_sets;

/* What is asked for leaves a VL to them. INFEASIBLE: there is no more than one. */
sv_status app_two_sets_begin(struct app *app, const sv_fabric *fabric, sv_route_request *request,
                             app_two_sets *sets);
/* Tables become the base ones of two sets. request: as it was before. */
sv_status app_two_sets_end(struct app *app, const sv_fabric *fabric,
                           const sv_route_request *request, const app_two_sets *sets,
                           sv_routes **routes, sv_route_report *report);
void app_print_two_sets(sv_text *out, const app_two_sets *sets);
void app_json_two_sets(sv_json *json, const app_two_sets *sets);

/*
 * --format F, or by the suffix of the output's name; without one SV_FORMAT_AUTO (ibnetdiscover).
 * EXIT_USAGE for an unknown one, else -1.
 */
int app_format(struct app *app, const char *name, const char *output, sv_format *format);

/* Text for standard output; app_print_end hands it over. */
sv_status app_print_begin(struct app *app, sv_text *out);
sv_status app_print_end(struct app *app, sv_text *out);

/* Cables between different switches, and all others, that are alive. */
uint32_t app_count_links(const sv_fabric *fabric, uint32_t *others);

int cmd_topo(struct app *app, int argc, char **argv);
int cmd_info(struct app *app, int argc, char **argv);
int cmd_faults(struct app *app, int argc, char **argv);
int cmd_convert(struct app *app, int argc, char **argv);
int cmd_discover(struct app *app, int argc, char **argv);
int cmd_diff(struct app *app, int argc, char **argv);
int cmd_engines(struct app *app, int argc, char **argv);
int cmd_route(struct app *app, int argc, char **argv);
int cmd_check(struct app *app, int argc, char **argv);
int cmd_path(struct app *app, int argc, char **argv);
int cmd_metrics(struct app *app, int argc, char **argv);
int cmd_sim(struct app *app, int argc, char **argv);
int cmd_update(struct app *app, int argc, char **argv);
int cmd_trace(struct app *app, int argc, char **argv);
int cmd_jobs(struct app *app, int argc, char **argv);
int cmd_study(struct app *app, int argc, char **argv);
int cmd_report(struct app *app, int argc, char **argv);

#endif
