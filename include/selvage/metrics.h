/*
 * metrics.h: numbers about a fabric (distances, connectivity, bisection) and about forwarding
 * tables (balance, lengths, VLs, jobs, failures, bandwidth).
 *
 * "The switch graph" is the live switches and the cables between different ones; terminals hang on
 * it and are no part of it.
 *
 * A "route" is an ordered pair of a live terminal and an address (one of 2^LMC) of another one,
 * where packets arrive by the forwarding tables. All numbers about tables are over such routes;
 * they and their hops are counted on live directed channels between different switches, the
 * channels of the terminals themselves left out.
 */
#ifndef SELVAGE_METRICS_H
#define SELVAGE_METRICS_H

#include <selvage/jobmap.h>
#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_components {
    uint32_t all;      /* of live switches and terminals */
    uint32_t switches; /* of the switch graph */
} sv_components;

/* In how many pieces the fabric is. Time: linear. */
SV_API SV_MUST_USE sv_status sv_fabric_components(sv_ctx *ctx, const sv_fabric *fabric,
                                                  sv_components *components);

typedef struct sv_distances {
    uint32_t diameter;    /* of the switch graph: its longest shortest path, in cables */
    double mean_distance; /* over ordered pairs of different switches that reach each other */
    /*
     * Over ordered pairs of different terminals that reach each other, in cables between switches:
     * what the mean path of a routing cannot be below.
     */
    double mean_terminal_distance;
    uint64_t terminal_pairs;    /* that reach each other, ordered */
    uint64_t unreachable_pairs; /* of live terminals, ordered */
    /*
     * 0: distances from all switches. Else from so many only, evenly spread, because all would take
     * too long: means are those of the sample, and the diameter is at least what is told. Pairs are
     * exact.
     */
    uint32_t sampled_switches;
} sv_distances;

/*
 * Distances between all switches, or from a sample of them. Time: O(switches / 64 * (diameter or
 * 64, if that is less) * channels) at worst, shared among the context's threads, and bounded to
 * some minutes of a core.
 */
SV_API SV_MUST_USE sv_status sv_fabric_distances(sv_ctx *ctx, const sv_fabric *fabric,
                                                 sv_distances *distances);

/*
 * How many cables have to fail to disconnect the switch graph: its edge connectivity, parallel
 * cables counted. 0 for a single switch. Exact. Time: a few passes of O(channels log switches) on
 * anything found in practice, O(switches * channels) at worst.
 */
SV_API SV_MUST_USE sv_status sv_fabric_edge_connectivity(sv_ctx *ctx, const sv_fabric *fabric,
                                                         uint32_t *connectivity);

/*
 * How many switches have to fail to disconnect the rest: the vertex connectivity of the switch
 * graph; one less than the switches if every two are joined. Exact.
 * Time: O(k^2) flows for connectivity k, each a few passes over the channels, and the easier rest.
 */
SV_API SV_MUST_USE sv_status sv_fabric_vertex_connectivity(sv_ctx *ctx, const sv_fabric *fabric,
                                                           uint32_t *connectivity);

typedef struct sv_bisection {
    uint32_t cables;       /* between the two halves */
    uint64_t mbit;         /* their payload capacity in one direction, Mbit/s; 0 if unknown */
    uint32_t terminals[2]; /* on each side, the larger number first */
} sv_bisection;

/*
 * An estimate of the bisection: the fewest cables found between two halves with equally many
 * terminals (switches, when there are no terminals). Up to 16 switches it is exact, and the halves
 * are as equal as they can be; beyond, halves that differ by at most one in a hundred terminals
 * count as equal, and the estimate is an upper bound. (Only where no such halves are found,
 * terminals shows a larger difference.) UNSUPPORTED in a build without METIS. Same seed, same
 * result. Time: some tens of passes over the channels.
 */
SV_API SV_MUST_USE sv_status sv_fabric_bisection(sv_ctx *ctx, const sv_fabric *fabric,
                                                 uint32_t seed, sv_bisection *bisection);

/*
 * How routes from terminals to terminals load the channels between switches (edge forwarding index)
 * and how many of those channels they take.
 */
typedef struct sv_load {
    uint32_t channels; /* live ones between different switches */
    uint64_t min, max;
    double avg, sdv;
    uint64_t pairs; /* routes: (terminal, destination) pairs that are joined */
    double hops_avg;
    uint32_t hops_max;
    uint32_t unused; /* channels without a route */
} sv_load;

/*
 * Counts routes. load[num_channels] (may be NULL) gets the number on each channel.
 * Time: O(switches × destinations).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_load load;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "sssp", NULL, &routes, NULL) == SV_OK &&
 *     sv_routes_load(ctx, fabric, routes, NULL, &load) == SV_OK)
 *     printf("busiest channel: %llu routes\n", (unsigned long long)load.max);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_routes_load(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_routes *routes, uint64_t *load,
                                            sv_load *about);

/* What makes a bound: the channels that routes have to share. */
typedef enum sv_bound_kind {
    SV_BOUND_NONE,    /* no routes between switches: efi is 0 */
    SV_BOUND_MEAN,    /* all of a component, with the hops that distances add up to */
    SV_BOUND_SWITCH,  /* those of one switch */
    SV_BOUND_BALL,    /* those out of all switches within some hops of one */
    SV_BOUND_CLUSTER, /* the same, less switches of the rim that lean outwards */
    SV_BOUND_SUBTREE, /* those out of what hangs together below a level */
    SV_BOUND_HALVES,  /* those between two halves */
    SV_BOUND_CUT      /* those out of some other set of switches */
} sv_bound_kind;

typedef struct sv_bound {
    uint64_t efi; /* the busiest channel carries at least so many routes */
    sv_bound_kind kind;
    uint64_t terminals; /* on the one side; with MEAN, of the component */
    uint64_t channels;  /* that share the routes */
    uint64_t pairs;     /* routes there are when all arrive */
    double hops;        /* what their mean cannot be below */
} sv_bound;

/*
 * What no routing can be better than, if every terminal reaches all addresses in its component:
 * lower bounds of sv_load's max and hops_avg. (Tables that lose packets can be below both.) Ties
 * go to the kind named first.
 *
 * routes: whose addresses count (2^LMC a terminal); NULL: one a terminal. Up to 16 switches in a
 * component, the best of all cuts; beyond, SV_BOUND_HALVES only in a build with METIS.
 * Time: O(switches × channels) at worst, shared among the context's threads.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_bound bound;
 * if (sv_topology_generate(ctx, "torus:4x4,hosts=2", &fabric) == SV_OK &&
 *     sv_routes_bound(ctx, fabric, NULL, &bound) == SV_OK)
 *     printf("at least %llu routes on some channel (%s)\n", (unsigned long long)bound.efi,
 *            sv_bound_kind_name(bound.kind));
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_routes_bound(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_routes *routes, sv_bound *bound);

/* "mean", "switch" and so on; "none". Time: O(1). */
SV_API const char *sv_bound_kind_name(sv_bound_kind kind);

/*
 * How often loads occur: counts[i] gets the number of live channels between different switches with
 * a load from i × width on and below (i + 1) × width; the last bin takes all that is beyond, too.
 * A width of max / bins + 1 puts a largest load of max into the bins. Time: linear.
 */
SV_API void sv_load_histogram(const sv_fabric *fabric, const uint64_t *load, uint64_t width,
                              uint32_t bins, uint32_t *counts);

/* ---- lengths and VLs ---- */

/*
 * How much longer routes are than they could be: hops divided by the distance of the two switches.
 * Over routes between terminals of different switches; those of one switch have no distance.
 */
typedef struct sv_stretch {
    double avg, max;       /* 1 where there are no routes */
    uint64_t pairs;        /* routes that were compared */
    uint64_t longer_pairs; /* those that are longer than the distance */
} sv_stretch;

/* Compares routes with distances. Time: O(switches × (channels + destinations)). */
SV_API SV_MUST_USE sv_status sv_routes_stretch(sv_ctx *ctx, const sv_fabric *fabric,
                                               const sv_routes *routes, sv_stretch *stretch);

/*
 * Which VLs routes are on, by their SLs and the tables of VLs on the way. A route counts for
 * the VL of its first channel between switches; each of its channels between switches counts as a
 * hop of the VL it is on there.
 */
typedef struct sv_vl_use {
    uint64_t routes[SV_MAX_VLS], hops[SV_MAX_VLS];
    uint64_t local;     /* routes inside one switch */
    uint64_t discarded; /* routes whose SL some table on the way discards */
    uint64_t unknown;   /* routes whose SL is not known; they are nowhere else */
    bool known;         /* VLs are; otherwise all is on VL 0 */
} sv_vl_use;

/*
 * Counts routes and hops of each VL. Time: O(switches × destinations), times the SLs that meet in
 * a switch; O(terminals × destinations) where each terminal has SLs of its own.
 */
SV_API SV_MUST_USE sv_status sv_routes_vls(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_routes *routes, sv_vl_use *use);

/* ---- jobs ---- */

/* Loads of channels: least, largest, mean and standard deviation. */
typedef struct sv_efi {
    uint32_t channels, unused; /* all, and those with load 0 */
    uint64_t min, max;
    double avg, sdv;
} sv_efi;

/* What one job's own routes do: those between terminals of the job. */
typedef struct sv_job_load {
    uint32_t links; /* channels they use */
    uint64_t max;   /* routes on the busiest: the edge forwarding index of the job */
    uint64_t pairs; /* routes; fewer than terminals × (terminals - 1) × 2^LMC: some do not arrive */
} sv_job_load;

/* What all jobs' routes do together. */
typedef struct sv_jobs_load {
    sv_efi efi;        /* effective edge forwarding index: over channels, summed over jobs */
    double dark_fibre; /* percent of the channels without any job's route */
    uint64_t pairs;
    uint32_t spread; /* jobs whose routes use channels between switches */
    /* Means over those jobs of their largest load and number of channels. */
    double job_max_avg, job_links_avg;
} sv_jobs_load;

/*
 * Counts routes between terminals of the same job, a terminal pair once for every job that has both
 * (thesis Def. 5.1 and 5.2).
 *
 * load[num_channels] and jobs[map->num_jobs] may be NULL. map: read for this fabric. Time: the sum
 * over jobs of terminals × switches with terminals of the job × hops.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_jobmap *map = NULL;
 * sv_jobs_load jobs;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "sssp", NULL, &routes, NULL) == SV_OK &&
 *     sv_jobmap_load(ctx, fabric, "jobs.txt", &map) == SV_OK &&
 *     sv_jobs_count(ctx, fabric, routes, map, NULL, NULL, &jobs) == SV_OK)
 *     printf("dark fibre: %.1f %%\n", jobs.dark_fibre);
 * sv_jobmap_free(map);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_jobs_count(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_routes *routes, const sv_jobmap *map,
                                           uint64_t *load, sv_job_load *jobs, sv_jobs_load *about);

/*
 * How many jobs share each channel: users[num_channels] gets the number of those with a route on
 * it. Same cost as sv_jobs_count.
 */
SV_API SV_MUST_USE sv_status sv_jobs_share(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_routes *routes, const sv_jobmap *map,
                                           uint32_t *users);

/* ---- failures without rerouting ---- */

typedef struct sv_lost_plan {
    bool switches;            /* fail; otherwise links (both channels of a cable) */
    uint64_t seed;            /* of the first trial; the next has seed + 1, and so on */
    uint32_t trials;          /* draws for each number of failures; at least 1 */
    const uint32_t *failures; /* numbers of failures, ascending */
    uint32_t count;           /* of them: at most 200 */
} sv_lost_plan;

/*
 * Routes lost when so many parts fail and the tables stay as they are: those with a failed channel
 * or switch on them, and those of terminals that went with their switch. The five numbers of a
 * whisker plot are over the trials; quartiles between two of them are interpolated.
 */
typedef struct sv_lost {
    uint32_t failures;
    /*
     * By Propositions 4.1 and 4.2 of the thesis: failed channels (two a link) times the mean load
     * of a channel; for switches, failed switches times the mean number of routes through, from or
     * to a switch. Linear, so above what can be lost when many fail.
     */
    double expected;
    uint64_t min, max;
    double q1, median, q3, mean;
} sv_lost;

/*
 * Lets parts fail, plan->trials times for each number, and counts. Trial i fails what
 * sv_faults_draw with seed + i and nothing but that number of links or switches does.
 *
 * lost[plan->count]. *pairs (may be NULL): all routes. samples (may be NULL): [count][trials], what
 * each trial lost. INFEASIBLE when so many cannot fail (sv_faults_draw). Time: O(switches ×
 * destinations × trials) byte operations, and the draws.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * const uint32_t numbers[] = {1, 2, 5};
 * const sv_lost_plan plan = {.seed = 1, .trials = 100, .failures = numbers, .count = 3};
 * sv_lost lost[3];
 * uint64_t pairs;
 * if (sv_topology_generate(ctx, "kary:k=4,n=3", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "updn", NULL, &routes, NULL) == SV_OK &&
 *     sv_routes_lost(ctx, fabric, routes, &plan, lost, &pairs, NULL) == SV_OK)
 *     printf("5 links: %.0f of %llu routes\n", lost[2].median, (unsigned long long)pairs);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_routes_lost(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_routes *routes, const sv_lost_plan *plan,
                                            sv_lost *lost, uint64_t *pairs, uint64_t *samples);

/* ---- bandwidth ---- */

/*
 * Effective bisection bandwidth: of random perfect matchings of the compute terminals, in each of
 * which the first of a pair sends to the second (its base address). A flow gets 1 / (flows on the
 * most crowded channel of its route) of a link's bandwidth, 0 if it does not arrive; a matching's
 * bandwidth is the mean over its flows.
 */
typedef struct sv_matchings {
    uint32_t flows;            /* in a matching: half the compute terminals, rounded down */
    double avg, min, max, sdv; /* over matchings */
    uint64_t lost;             /* flows that do not arrive, in all matchings */
    uint32_t worst;            /* flows on the most crowded channel of all matchings */
} sv_matchings;

/*
 * Draws matchings; the same seed draws the same. bandwidth (may be NULL): [matchings], of each.
 * Time: O(terminals × hops) a matching, after O(ports) once.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_matchings found;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK &&
 *     sv_route(ctx, fabric, "sssp", NULL, &routes, NULL) == SV_OK &&
 *     sv_routes_matchings(ctx, fabric, routes, 1000, 1, NULL, &found) == SV_OK)
 *     printf("%.1f %% of full bandwidth\n", 100 * found.avg);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_routes_matchings(sv_ctx *ctx, const sv_fabric *fabric,
                                                 const sv_routes *routes, uint32_t matchings,
                                                 uint64_t seed, double *bandwidth,
                                                 sv_matchings *found);

#ifdef __cplusplus
}
#endif
#endif
