/*
 * traffic.h: what terminals send in a simulation: patterns by name, from one line of text.
 *
 * A spec string is "pattern" or "pattern:key=value,…" ("uniform", "shift:by=4",
 * "allreduce:by=doubling,rounds=10"). sv_sim_pattern_at lists patterns and their keys.
 *
 * Ranks. A pattern is about ranks 0 … N - 1, one for each terminal that takes part. Unless the
 * request has an order of its own these are the live terminals that compute (sv_role) and hang on
 * a switch, by switch in the order of the fabric, then by port of the switch. Neighbours in rank
 * are so neighbours in the fabric.
 *
 * Two kinds of patterns. Most say beforehand what is sent: their messages come with a load, or as
 * fast as possible (all ready at 0, one after the other). Others wait: what a terminal sends next
 * depends on what has arrived there (pingpong, ring, allreduce, allgather), and is ready when it
 * has; they have no load.
 *
 * Same request, same messages, whatever the order in which terminals are asked: each terminal
 * draws from a generator of its own.
 */
#ifndef SELVAGE_TRAFFIC_H
#define SELVAGE_TRAFFIC_H

#include <selvage/jobmap.h>
#include <selvage/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_sim_traffic sv_sim_traffic;

/* A key of a pattern, what it means, and what stands for it when it is not given. */
typedef struct sv_sim_pattern_key {
    const char *name, *meaning, *otherwise;
} sv_sim_pattern_key;

typedef struct sv_sim_pattern {
    const char *name, *summary;
    const sv_sim_pattern_key *keys; /* ends with a NULL name; without sv_sim_pattern_keys */
    bool endless;                   /* unless keys or the request say otherwise */
    bool waits;                     /* for arrivals: has no load */
} sv_sim_pattern;

/* The patterns; NULL beyond the last. Time: O(1). */
SV_API const sv_sim_pattern *sv_sim_pattern_at(size_t i);

/*
 * Whether a spec has a pattern that there is, and keys that the pattern has, for callers that want
 * to know before they have a fabric; values are not looked at. BAD_INPUT (sv_ctx_in_request).
 * Time: linear in the spec.
 */
SV_API SV_MUST_USE sv_status sv_sim_traffic_check(sv_ctx *ctx, const char *spec);

/* The keys of all patterns that wait, and of all that do not; ends with a NULL name. */
SV_API const sv_sim_pattern_key *sv_sim_pattern_keys(bool waits);

/* What is asked for. All zeroes but spec and model is a sane request. */
typedef struct sv_sim_traffic_request {
    /*
     * "pattern:key=value,…", "file:PATH" (the rest of the string is the path) or "file" (see
     * below). With a job map: for jobs that job_specs does not name; NULL: those send nothing.
     */
    const char *spec;
    /* mtu_bytes, header_bytes and byte_ticks: what a message takes on a wire. */
    const sv_sim_model *model;
    uint32_t bytes; /* of a message; 0: mtu_bytes */
    /*
     * Of the bandwidth of each terminal's own link, up to 1, counting headers: the mean distance of
     * messages is their time on the wire by the load. 0: as fast as possible.
     */
    double load;
    uint64_t seed;
    uint64_t messages; /* at most so many a terminal, and endless patterns end; 0: no limit */

    const sv_node *order; /* which terminals take part, by rank; NULL: as above */
    uint32_t num_order;

    /*
     * Each job has ranks of its own (terminals of the job, in the order above) and its own pattern:
     * job_specs are "JOB=SPEC". Terminals without a job send nothing, nor do jobs of one terminal
     * that only spec is for.
     */
    const sv_jobmap *jobs;
    const char *const *job_specs;
    uint32_t num_job_specs;

    const sv_source *file; /* of spec "file": messages, a line each */
} sv_sim_traffic_request;

/*
 * Makes traffic.
 *
 * fabric, routes: the tables are those of the fabric; destinations are the first address (base LID)
 * of each terminal. Nothing of them or of the request is kept.
 * *traffic: owned by the caller (sv_sim_traffic_free); good for one run.
 *
 * Tags of messages: the number of the job in the map (0 without one) × 256, and below that what
 * patterns that wait tell their messages apart by. In a file they are whatever the file says.
 *
 * A terminal may run several jobs, if these are of one kind: all with a load, all as fast as
 * possible (they take turns) or all waiting.
 *
 * A file of messages is lines
 *
 *     TIME FROM TO BYTES [TAG]
 *
 * in any order: TIME in nanoseconds, with up to nine decimals; FROM and TO what sv_index_find
 * understands (a host adapter's name, or the part of it before its first blank; "host7/2" for its
 * second port; a GUID), in double quotes if there are blanks in it, or @K for rank K; TAG a number
 * (0 if there is none). # starts a comment.
 *
 * BAD_INPUT: a spec that is wrong or cannot be for so many terminals, a line of a file that is
 * (then the message starts with "file:line: "), less than two terminals. IO: the file cannot be
 * read.
 * Time: linear in terminals (and lines of a file). Memory: some dozens of bytes a terminal, for
 * recursive doubling eight more for each doubling; 24 bytes a message of a file.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * sv_sim_traffic *traffic = NULL;
 * sv_sim_model model = {.mtu_bytes = 2048, .header_bytes = 26};
 * sv_sim_traffic_request request = {.spec = "exchange", .model = &model};
 * sv_sim_message message;
 * if (sv_topology_generate(ctx, "mesh:2x2,hosts=2", &fabric) == SV_OK &&
 *     sv_routes_new(ctx, fabric, 0, &routes) == SV_OK &&
 *     sv_sim_traffic_new(ctx, fabric, routes, &request, &traffic) == SV_OK) {
 *     const sv_sim_source *source = sv_sim_traffic_source(traffic);
 *     while (source->next(source->user, 0, &message))
 *         printf("terminal 0 sends %u bytes to destination %u\n", message.bytes,
 *                message.destination);
 * }
 * sv_sim_traffic_free(traffic);
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_sim_traffic_new(sv_ctx *ctx, const sv_fabric *fabric,
                                                const sv_routes *routes,
                                                const sv_sim_traffic_request *request,
                                                sv_sim_traffic **traffic);

/* Frees it. NULL is fine. */
SV_API void sv_sim_traffic_free(sv_sim_traffic *traffic);

/* For sv_sim_setup; valid as long as the traffic is. Several threads may ask it at once (for
 * different terminals; what arrives was asked for before). */
SV_API const sv_sim_source *sv_sim_traffic_source(const sv_sim_traffic *traffic);

/* Whether some terminal never stops sending: then the run needs a limit. */
SV_API bool sv_sim_traffic_endless(const sv_sim_traffic *traffic);

#ifdef __cplusplus
}
#endif
#endif
