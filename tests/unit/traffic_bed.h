/*
 * traffic_bed.h: what tests of traffic share: some terminals, tables of which nothing matters but
 * the numbers of destinations (two addresses a terminal, of which the first must be used), and
 * traffic among them.
 */
#ifndef SELVAGE_TRAFFIC_BED_H
#define SELVAGE_TRAFFIC_BED_H

#include "support/testing.h"

static const sv_sim_model model = {.mtu_bytes = 2048, .header_bytes = 26};

struct bed {
    sv_fabric *f;
    sv_routes *r;
    sv_sim_traffic *t;
    const sv_sim_source *source;
};

static inline struct bed bed_on(sv_ctx *ctx, const char *spec)
{
    struct bed bed = {.f = test_fabric(ctx, spec)};
    OK(ctx, sv_routes_new(ctx, bed.f, 1, &bed.r));
    return bed;
}

/* Generated fabrics number terminals by switch and port: there a rank is a terminal. */
static inline struct bed bed_of(sv_ctx *ctx, uint32_t terminals)
{
    char spec[64];
    snprintf(spec, sizeof spec, "mesh:1x5,total=%u", terminals);
    return bed_on(ctx, spec);
}

static inline void ask(sv_ctx *ctx, struct bed *bed, sv_sim_traffic_request request)
{
    request.model = &model;
    sv_sim_traffic_free(bed->t);
    bed->t = NULL;
    OK(ctx, sv_sim_traffic_new(ctx, bed->f, bed->r, &request, &bed->t));
    bed->source = sv_sim_traffic_source(bed->t);
}

static inline void release(struct bed *bed)
{
    sv_sim_traffic_free(bed->t);
    sv_routes_free(bed->r);
    sv_fabric_free(bed->f);
}

static inline bool next(const struct bed *bed, uint32_t terminal, sv_sim_message *message)
{
    return bed->source->next(bed->source->user, terminal, message);
}

/* The terminal of a destination, which must be its first address. */
static inline uint32_t terminal_of(const struct bed *bed, uint32_t destination)
{
    assert_true(destination < bed->r->num_destinations);
    sv_node v = bed->r->node[destination];
    assert_int_equal(bed->r->first[v.i], destination);
    assert_true(v.i >= bed->f->num_switches);
    return v.i - bed->f->num_switches;
}

/* The receiver of the next message of a terminal; SV_NONE: there is none. */
static inline uint32_t next_to(const struct bed *bed, uint32_t terminal)
{
    sv_sim_message message;
    return next(bed, terminal, &message) ? terminal_of(bed, message.destination) : SV_NONE;
}

#endif
