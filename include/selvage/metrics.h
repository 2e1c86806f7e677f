/*
 * metrics.h: numbers about a fabric: distances, connectivity, bisection.
 *
 * "The switch graph" is the live switches and the cables between different ones; terminals hang on
 * it and are no part of it.
 */
#ifndef SELVAGE_METRICS_H
#define SELVAGE_METRICS_H

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
} sv_distances;

/*
 * Distances between all switches. Time: O(switches / 64 * diameter * channels) at worst, shared
 * among the context's threads.
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
    uint64_t pairs; /* (terminal, destination) pairs that are joined */
    double hops_avg;
    uint32_t hops_max;
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

#ifdef __cplusplus
}
#endif
#endif
