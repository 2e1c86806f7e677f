/*
 * hopping.c: engines sssp-df and minhop-df: another lane for every hop (DF-DN; Schneider, Bibartiu
 * and Hoefler, HOTI 2016).
 *
 * Paths are those of sssp or minhop. Hop i of each (from switch to switch, counted from 0) goes
 * lane i. So along any chain of dependencies lanes ascend, and nothing can wait in a circle; there
 * must be as many lanes as the longest path has hops, which is few where the diameter is low.
 *
 * A switch does not know which hop of its path a packet is on. It knows the ports it comes in at
 * and leaves by (its turn) and its SL, and by these it chooses the lane. So paths that make a turn
 * on different hops need different SLs: an SL has one lane for each turn. Which SL each path gets
 * is a colouring problem; paths are taken one after the other, and each gets the first SL in which
 * all its turns have the lane it needs, or none yet. What comes in from a terminal, or from the
 * switch itself, is on its first hop: lane 0 with any SL.
 *
 * Invariant: hop i of a path that counts (decision 0008) has lane i. Paths between two switches
 * without terminals come last and get SLs and lanes of their own only if there are idle ones.
 *
 * Cost: that of the tables, and O(hops) a path, which is one of each switch to each destination;
 * memory: 8 bytes for each turn and lane.
 */
#include <string.h>

#include "lanes/lanes.h"
#include "routing/engine.h"

/* One bit an SL. */
typedef uint64_t sls_mask;

struct hopping {
    sv__job *job;
    sv_core core;
    sv_layering lanes;    /* trees only */
    unsigned needed;      /* hops of the longest path that counts */
    unsigned most_hops;   /* that any path may have here: there are that many lanes */
    uint32_t farthest[2]; /* a switch and a destination that need so many */
    size_t *turns;        /* [entries]: the first turn after each */
    sls_mask *used;       /* [turn × (most_hops - 1) + hop - 1]: SLs in which it has that lane */
    uint16_t *depth;      /* [switches]: hops to the destination at hand */
    unsigned num_sls, num_lanes; /* in use */
    uint64_t unsafe;
};

/* ---- turns ---- */

/* The masks of a turn, one for each hop from 1 on. in, out: entries that follow each other. */
static sls_mask *masks_of(const struct hopping *h, uint32_t in, uint32_t out)
{
    uint32_t cable = h->core.back[out] - h->core.first[h->core.to[in]];
    return h->used + (h->turns[in] + cable) * (h->most_hops - 1);
}

/* The SLs in which a turn has another lane than that of a hop. */
static sls_mask closed(const struct hopping *h, const sls_mask *masks, unsigned hop)
{
    sls_mask others = 0;
    for (unsigned i = 0; i + 1 < h->most_hops; i++)
        others |= i + 1 == hop ? 0 : masks[i];
    return others;
}

/* The SLs that a path may have. */
static sls_mask open_to(const struct hopping *h, uint32_t s)
{
    const uint32_t *via = h->lanes.tree.via;
    sls_mask open = ~(sls_mask)0;
    uint32_t in = via[s];
    for (unsigned hop = 1; hop < h->depth[s]; hop++) {
        uint32_t out = via[h->core.to[in]];
        open &= ~closed(h, masks_of(h, in, out), hop);
        in = out;
    }
    return open;
}

static void take(struct hopping *h, uint32_t s, unsigned sl)
{
    const uint32_t *via = h->lanes.tree.via;
    uint32_t in = via[s];
    for (unsigned hop = 1; hop < h->depth[s]; hop++) {
        uint32_t out = via[h->core.to[in]];
        masks_of(h, in, out)[hop - 1] |= (sls_mask)1 << sl;
        in = out;
    }
}

/* ---- paths ---- */

/* The tree of a destination, and how far each switch is. */
static void look_at(struct hopping *h, uint32_t d)
{
    const sv_tree *tree = &h->lanes.tree;
    sv_layering_tree(&h->lanes, d);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t s = tree->order[i], via = tree->via[s];
        uint32_t far = via == SV_NONE ? 0 : h->depth[h->core.to[via]] + 1u;
        h->depth[s] = (uint16_t)(far < UINT16_MAX ? far : UINT16_MAX);
    }
}

static void measure(struct hopping *h)
{
    const sv_tree *tree = &h->lanes.tree;
    unsigned longest = 1;
    for (uint32_t d = 0; d < h->job->routes->num_destinations; d++) {
        look_at(h, d);
        for (uint32_t i = 0; i < tree->count; i++) {
            uint32_t s = tree->order[i];
            longest = h->depth[s] > longest ? h->depth[s] : longest;
            if (h->depth[s] <= h->needed || !sv_layering_counts(&h->lanes, s, d))
                continue;
            h->needed = h->depth[s];
            h->farthest[0] = s;
            h->farthest[1] = d;
        }
    }
    h->most_hops = longest < h->job->vls ? longest : h->job->vls;
}

/* Which paths get their SLs now. */
struct round {
    unsigned least, most; /* hops */
    bool count;           /* those that count, or the others */
    unsigned sls;         /* that there are */
};

static sv_status place(struct hopping *h, uint32_t d, const struct round *round)
{
    const sv_tree *tree = &h->lanes.tree;
    uint8_t *sls = sv_routes_sl_row(h->job->ctx, h->job->routes, d);
    sls_mask there = round->sls < 64 ? ((sls_mask)1 << round->sls) - 1 : ~(sls_mask)0;
    if (sls == NULL)
        return SV_NO_MEMORY;
    look_at(h, d);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t s = tree->order[i];
        unsigned hops = h->depth[s];
        if (hops < round->least || hops > round->most ||
            sv_layering_counts(&h->lanes, s, d) != round->count)
            continue;
        sls_mask open = hops > h->most_hops ? 0 : open_to(h, s) & there;
        sls[s] = 0;
        if (open == 0 && round->count)
            return SV_INFEASIBLE;
        if (open == 0) {
            h->unsafe++;
            continue;
        }
        sls[s] = (uint8_t)__builtin_ctzll(open);
        h->num_sls = sls[s] >= h->num_sls ? sls[s] + 1u : h->num_sls;
        h->num_lanes = hops > h->num_lanes ? hops : h->num_lanes;
        take(h, s, sls[s]);
    }
    return SV_OK;
}

static sv_status place_all(struct hopping *h, bool longest_first, unsigned sls)
{
    uint32_t count = h->job->routes->num_destinations;
    for (unsigned hops = h->needed; hops > 0; hops--) {
        const struct round now = {longest_first ? hops : 0, hops, true, SV_MOST_SLS};
        SV_TRY(sv_progress(h->job->ctx, "lanes", h->needed - hops, h->needed));
        for (uint32_t d = 0; d < count; d++)
            SV_TRY(place(h, d, &now));
        if (!longest_first)
            break;
    }
    const struct round rest = {0, UINT16_MAX, false, sls};
    for (uint32_t d = 0; d < count && h->num_sls <= sls; d++)
        SV_TRY(place(h, d, &rest));
    return SV_OK;
}

/* ---- tables ---- */

/* A switch itself, and what it cannot reach, has any SL. */
static sv_status fill(struct hopping *h)
{
    sv_routes *r = h->job->routes;
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint8_t *sls = sv_routes_sl_row(h->job->ctx, r, d);
        if (sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < r->num_switches; s++)
            sls[s] = sls[s] == SV_NO_SL ? 0 : sls[s];
    }
    return SV_OK;
}

/* The lane of each SL at a turn; where no path has it, that of its lowest SL that has one. */
static bool table_of(const struct hopping *h, const sls_mask *masks, sv_lanes *lanes)
{
    sls_mask all = 0;
    unsigned usual = 0;
    for (unsigned i = 0; i + 1 < h->most_hops; i++)
        all |= masks[i];
    if (all == 0)
        return false;
    for (unsigned i = 0; i + 1 < h->most_hops; i++)
        if (masks[i] >> __builtin_ctzll(all) & 1)
            usual = i + 1;
    memset(lanes, 0, sizeof *lanes);
    for (unsigned sl = 0; sl < h->job->routes->num_sls; sl++) {
        lanes->of_sl[sl] = (uint8_t)usual;
        for (unsigned i = 0; i + 1 < h->most_hops; i++)
            if (masks[i] >> sl & 1)
                lanes->of_sl[sl] = (uint8_t)(i + 1);
    }
    return true;
}

static sv_status set_lanes(struct hopping *h)
{
    const sv_core *core = &h->core;
    sv__job *job = h->job;
    sv_lanes lanes;
    for (uint32_t in = 0; in < core->num_entries && h->most_hops > 1; in++) {
        uint32_t s = core->to[in];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            if (!table_of(h, masks_of(h, in, core->back[k]), &lanes))
                continue;
            uint32_t table = sv_routes_lane_table(job->ctx, job->routes, &lanes);
            if (table == SV_NONE)
                return SV_NO_MEMORY;
            SV_TRY(sv_routes_set_lanes(job->ctx, job->fabric, job->routes, (sv_node){s},
                                       core->port[in], core->port[k], table));
        }
    }
    return SV_OK;
}

/* ---- all of it ---- */

static sv_status too_long(const struct hopping *h, const char *engine)
{
    const sv_fabric *f = h->job->fabric;
    return sv_fail(h->job->ctx, SV_INFEASIBLE,
                   "%s needs %u lanes, %u %s there: the path from '%s' to '%s' has %u hops", engine,
                   h->needed, h->job->vls, h->job->vls == 1 ? "is" : "are",
                   sv_node_name(f, (sv_node){h->farthest[0]}),
                   sv_node_name(f, h->job->routes->node[h->farthest[1]]), h->needed);
}

static sv_status choice_of(const sv__job *job, bool *longest_first)
{
    const char *value = sv__job_option(job, "sls");
    *longest_first = value == NULL || strcmp(value, "few") == 0;
    if (*longest_first || strcmp(value, "first") == 0)
        return SV_OK;
    return sv_fail(job->ctx, SV_BAD_INPUT, "sls is few or first, not \"%s\"", value);
}

static sv_status hopping_init(struct hopping *h, sv__job *job)
{
    *h = (struct hopping){.job = job, .needed = 1, .num_sls = 1, .num_lanes = 1};
    SV_TRY(sv_core_init(&h->core, job->arena, job->fabric));
    SV_TRY(sv_layering_init(&h->lanes, job->ctx, job->arena, job->fabric, &h->core, job->routes));
    h->depth = SV_ARENA_NEW(job->arena, uint16_t, h->core.num_switches);
    h->turns = SV_ARENA_NEW(job->arena, size_t, (size_t)h->core.num_entries + 1);
    if (h->depth == NULL || h->turns == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < h->core.num_entries; e++) {
        uint32_t s = h->core.to[e];
        h->turns[e + 1] = h->turns[e] + h->core.first[s + 1] - h->core.first[s];
    }
    return SV_OK;
}

static sv_status route(sv__job *job, const char *engine, const sv__engine *tables)
{
    struct hopping h;
    unsigned sls = SV_HARDWARE_SLS - job->request->sl_offset;
    bool longest_first;
    SV_TRY(choice_of(job, &longest_first));
    SV_TRY(tables->route(job));
    SV_TRY(hopping_init(&h, job));
    measure(&h);
    job->report->vls_needed = h.needed;
    if (h.needed > job->vls)
        return too_long(&h, engine);
    h.used =
        SV_ARENA_NEW(job->arena, sls_mask, h.turns[h.core.num_entries] * (h.most_hops - 1) + 1);
    if (h.used == NULL)
        return SV_NO_MEMORY;
    sv_status status = place_all(&h, longest_first, sls);
    if (status == SV_INFEASIBLE)
        return sv_fail(job->ctx, status, "%s needs more than %d service levels, %u are there",
                       engine, SV_MOST_SLS, sls);
    SV_TRY(status);
    if (h.num_sls > sls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "%s needs %u service levels, %u are there", engine,
                       h.num_sls, sls);
    job->report->sls_used = h.num_sls;
    job->report->vls_used = h.num_lanes;
    sv__note_unsafe(job, h.unsafe);
    SV_TRY(fill(&h));
    return set_lanes(&h);
}

static sv_status route_sssp(sv__job *job)
{
    return route(job, "sssp-df", &sv__engine_sssp);
}

static sv_status route_minhop(sv__job *job)
{
    return route(job, "minhop-df", &sv__engine_minhop);
}

enum {
    TRAITS = SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_LANES
};

static const sv_engine_option options[] = {
    {"sls", "few|first", "longest paths get their SL first, or in the order of destinations"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_sssp_df = {
    {"sssp-df", "sssp, with another lane for every hop; for fabrics of low diameter",
     "Schneider et al., HOTI 2016", TRAITS, options},
    route_sssp};

const sv__engine sv__engine_minhop_df = {
    {"minhop-df", "minhop, with another lane for every hop; for fabrics of low diameter",
     "Schneider et al., HOTI 2016", TRAITS, options},
    route_minhop};
