/*
 * load.c: how many routes each channel carries (the edge forwarding index), and how long they are.
 *
 * The switches' entries for one destination form a tree; adding up from its tips inwards gives the
 * number of terminals behind every switch, which is the load of its way out. Packets that do not
 * arrive load nothing. Counted are routes from terminals to terminals, and hops between switches.
 *
 * Invariant: sums are integers, so the number of threads does not show.
 * Cost: O(switches) a destination.
 */
#include <math.h>
#include <selvage/metrics.h>
#include <string.h>

#include "base/threads.h"
#include "routes/routes.h"

/* What a worker has for itself. */
struct part {
    uint64_t *load;                                  /* [channels] */
    uint32_t *out, *order, *feeders, *hops, *behind; /* [switches] */
    uint64_t pairs, hop_sum;
    uint32_t hop_max;
};

struct count {
    const sv_fabric *fabric;
    const sv_routes *routes;
    sv_portmap ports;
    uint32_t *terminals; /* [switches] */
    struct part *parts;
};

/* Switches from the tips inwards; those on rings are left out. */
static uint32_t peel(const struct count *c, struct part *p, uint32_t d)
{
    const sv_fabric *f = c->fabric;
    uint32_t tail = 0;
    memset(p->feeders, 0, f->num_switches * sizeof *p->feeders);
    for (uint32_t s = 0; s < f->num_switches; s++) {
        p->out[s] = sv_portmap_at(&c->ports, s, c->routes->ports[d][s]).i;
        p->behind[s] = 0;
        if (p->out[s] != SV_NONE && sv_is_switch(f, f->head[p->out[s]]))
            p->feeders[f->head[p->out[s]].i]++;
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (p->feeders[s] == 0)
            p->order[tail++] = s;
    for (uint32_t i = 0; i < tail; i++) {
        uint32_t out = p->out[p->order[i]];
        if (out == SV_NONE || !sv_is_switch(f, f->head[out]))
            continue;
        uint32_t next = f->head[out].i;
        if (--p->feeders[next] == 0)
            p->order[tail++] = next;
    }
    return tail;
}

/* Hops from every switch to a destination; SV_NONE where packets do not arrive. */
static void measure(const struct count *c, struct part *p, uint32_t count, sv_node to)
{
    const sv_fabric *f = c->fabric;
    memset(p->hops, 0xff, f->num_switches * sizeof *p->hops);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t s = p->order[i], out = p->out[s];
        if (out == SV_NONE)
            p->hops[s] = s == to.i ? 0 : SV_NONE;
        else if (!sv_is_switch(f, f->head[out]))
            p->hops[s] = f->head[out].i == to.i ? 0 : SV_NONE;
        else if (p->hops[f->head[out].i] != SV_NONE)
            p->hops[s] = p->hops[f->head[out].i] + 1;
    }
}

static sv_status count_one(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    (void)ctx;
    const struct count *c = arg;
    const sv_fabric *f = c->fabric;
    struct part *p = &c->parts[worker];
    sv_node to = {f->num_switches + (uint32_t)piece};
    if (!sv_node_alive(f, to))
        return SV_OK;
    uint32_t home = sv_switch_of(f, to).i;
    for (uint32_t d = c->routes->first[to.i]; d < c->routes->first[to.i + 1]; d++) {
        uint32_t count = peel(c, p, d);
        measure(c, p, count, to);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t s = p->order[i], own = c->terminals[s] - (s == home);
            if (p->hops[s] == SV_NONE)
                continue;
            p->pairs += own;
            p->hop_sum += (uint64_t)own * p->hops[s];
            if (own > 0 && p->hops[s] > p->hop_max)
                p->hop_max = p->hops[s];
            p->behind[s] += own;
            if (p->hops[s] == 0)
                continue;
            p->load[p->out[s]] += p->behind[s];
            p->behind[f->head[p->out[s]].i] += p->behind[s];
        }
    }
    return SV_OK;
}

static sv_status prepare(struct count *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->terminals == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            c->terminals[s] += !sv_is_switch(f, hop->to);
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &c->parts[i];
        p->load = SV_ARENA_NEW(arena, uint64_t, f->num_channels);
        p->out = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->order = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->feeders = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->hops = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        p->behind = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        if (p->load == NULL || p->out == NULL || p->order == NULL || p->feeders == NULL ||
            p->hops == NULL || p->behind == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

/* Sums up what the workers counted. */
static void sum_up(const struct count *c, unsigned workers, uint64_t *load, sv_load *about)
{
    const sv_fabric *f = c->fabric;
    uint64_t hops = 0, total = 0;
    double squares = 0;
    *about = (sv_load){.min = UINT64_MAX};
    for (unsigned i = 0; i < workers; i++) {
        about->pairs += c->parts[i].pairs;
        hops += c->parts[i].hop_sum;
        if (c->parts[i].hop_max > about->hops_max)
            about->hops_max = c->parts[i].hop_max;
    }
    for (uint32_t k = 0; k < f->num_channels; k++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < workers; i++)
            sum += c->parts[i].load[k];
        if (load != NULL)
            load[k] = sum;
        if (!sv_channel_alive(f, (sv_channel){k}) || !sv_joins_switches(f, (sv_channel){k}))
            continue;
        about->channels++;
        about->min = sum < about->min ? sum : about->min;
        about->max = sum > about->max ? sum : about->max;
        total += sum;
        squares += (double)sum * (double)sum;
    }
    if (about->channels == 0)
        about->min = 0;
    double n = about->channels > 0 ? about->channels : 1, mean = (double)total / n;
    double variance = squares / n - mean * mean;
    about->avg = mean;
    about->sdv = variance > 0 ? sqrt(variance) : 0;
    about->hops_avg = about->pairs > 0 ? (double)hops / (double)about->pairs : 0;
}

sv_status sv_routes_load(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         uint64_t *load, sv_load *about)
{
    if (routes->num_switches != fabric->num_switches ||
        routes->num_terminals != fabric->num_terminals)
        return sv_fail(ctx, SV_BAD_INPUT, "tables that belong to another fabric");
    unsigned workers = sv_ctx_threads(ctx, fabric->num_terminals);
    struct count c = {.fabric = fabric, .routes = routes};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(&c, &arena, workers);
    if (status == SV_OK)
        status = sv_parallel(ctx, "counting routes", fabric->num_terminals, count_one, &c);
    if (status == SV_OK)
        sum_up(&c, workers, load, about);
    sv_arena_release(&arena);
    return status;
}
