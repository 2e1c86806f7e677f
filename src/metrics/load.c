/*
 * load.c: how many routes each channel carries (the edge forwarding index), how long they are, and
 * how often each load occurs.
 *
 * The switches' entries for one destination form a tree (tree.c); adding up from its tips inwards
 * gives the number of terminals behind every switch, which is the load of its way out. Packets that
 * do not arrive load nothing. Counted are routes from terminals to terminals, and hops between
 * switches.
 *
 * Invariant: sums are integers, so the number of threads does not show.
 * Cost: O(switches) a destination.
 * Source: thesis Def. 3.12.
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "metrics/tree.h"

/* What a worker has for itself. */
struct part {
    sv__tree tree;
    uint64_t *load;   /* [channels] */
    uint32_t *behind; /* [switches] */
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
        const sv__tree *t = &p->tree;
        sv__tree_make(&p->tree, f, &c->ports, c->routes, d);
        memset(p->behind, 0, f->num_switches * sizeof *p->behind);
        for (uint32_t i = 0; i < t->count; i++) {
            uint32_t s = t->order[i], own = c->terminals[s] - (s == home);
            if (t->hops[s] == SV_NONE)
                continue;
            p->pairs += own;
            p->hop_sum += (uint64_t)own * t->hops[s];
            if (own > 0 && t->hops[s] > p->hop_max)
                p->hop_max = t->hops[s];
            p->behind[s] += own;
            if (t->hops[s] == 0)
                continue;
            p->load[t->out[s]] += p->behind[s];
            p->behind[f->head[t->out[s]].i] += p->behind[s];
        }
    }
    return SV_OK;
}

static sv_status prepare(struct count *c, sv_arena *arena, unsigned workers)
{
    const sv_fabric *f = c->fabric;
    SV_TRY(sv_portmap_init(&c->ports, arena, f));
    c->terminals = sv__terminals(arena, f);
    c->parts = SV_ARENA_NEW(arena, struct part, workers);
    if (c->terminals == NULL || c->parts == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < workers; i++) {
        struct part *p = &c->parts[i];
        SV_TRY(sv__tree_init(&p->tree, arena, f));
        p->load = SV_ARENA_NEW(arena, uint64_t, f->num_channels);
        p->behind = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
        if (p->load == NULL || p->behind == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

sv_efi sv__efi(const sv_fabric *f, const uint64_t *load)
{
    sv_efi efi = {.min = UINT64_MAX};
    uint64_t total = 0;
    double squares = 0;
    for (uint32_t k = 0; k < f->num_channels; k++) {
        if (!sv__counts(f, k))
            continue;
        efi.channels++;
        efi.unused += load[k] == 0;
        efi.min = load[k] < efi.min ? load[k] : efi.min;
        efi.max = load[k] > efi.max ? load[k] : efi.max;
        total += load[k];
        squares += (double)load[k] * (double)load[k];
    }
    if (efi.channels == 0)
        efi.min = 0;
    double n = efi.channels > 0 ? efi.channels : 1, mean = (double)total / n;
    double variance = squares / n - mean * mean;
    efi.avg = mean;
    efi.sdv = variance > 0 ? sqrt(variance) : 0;
    return efi;
}

/* Sums up what the workers counted. */
static void sum_up(const struct count *c, unsigned workers, uint64_t *load, sv_load *about)
{
    uint64_t hops = 0, *sums = c->parts[0].load;
    *about = (sv_load){0};
    for (unsigned i = 0; i < workers; i++) {
        about->pairs += c->parts[i].pairs;
        hops += c->parts[i].hop_sum;
        if (c->parts[i].hop_max > about->hops_max)
            about->hops_max = c->parts[i].hop_max;
        for (uint32_t k = 0; i > 0 && k < c->fabric->num_channels; k++)
            sums[k] += c->parts[i].load[k];
    }
    sv_efi efi = sv__efi(c->fabric, sums);
    about->channels = efi.channels;
    about->unused = efi.unused;
    about->min = efi.min;
    about->max = efi.max;
    about->avg = efi.avg;
    about->sdv = efi.sdv;
    about->hops_avg = about->pairs > 0 ? (double)hops / (double)about->pairs : 0;
    if (load != NULL)
        memcpy(load, sums, c->fabric->num_channels * sizeof *load);
}

sv_status sv_routes_load(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                         uint64_t *load, sv_load *about)
{
    SV_TRY(sv__tables_fit(ctx, fabric, routes));
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

void sv_load_histogram(const sv_fabric *f, const uint64_t *load, uint64_t width, uint32_t bins,
                       uint32_t *counts)
{
    memset(counts, 0, bins * sizeof *counts);
    for (uint32_t k = 0; bins > 0 && k < f->num_channels; k++)
        if (sv__counts(f, k)) {
            uint64_t bin = load[k] / (width > 0 ? width : 1);
            counts[bin < bins ? bin : bins - 1]++;
        }
}
