/*
 * hopping.c: engines sssp-df and minhop-df: another VL for every hop (DF-DN; Schneider, Bibartiu
 * and Hoefler, HOTI 2016).
 *
 * Paths are those of sssp or minhop. Hop i of each (from switch to switch, counted from 0) goes
 * VL i. So along any chain of dependencies VLs ascend, and nothing can wait in a circle; there
 * must be as many VLs as the longest path has hops, which is few where the diameter is low.
 *
 * A switch does not know which hop of its path a packet is on. It knows the ports it comes in at
 * and leaves by (its turn) and its SL, and by these it chooses the VL. So paths that make a turn
 * on different hops need different SLs: an SL has one VL for each turn. Which SL each path gets
 * is a colouring problem; paths are taken one after the other, and each gets the first SL in which
 * all its turns have the VL it needs, or none yet. What comes in from a terminal, or from the
 * switch itself, is on its first hop: VL 0 with any SL.
 *
 * Invariant: hop i of a path that counts (decision 0008) has VL i. Paths between two switches
 * without terminals come last and get SLs and VLs of their own only if there are idle ones.
 *
 * Cost: that of the tables, and O(hops) a path, which is one of each switch to each destination;
 * memory: 8 bytes for each turn and VL.
 */
#include <string.h>

#include "routing/engine.h"
#include "vls/vls.h"

/* One bit an SL. */
typedef uint64_t sls_mask;

struct hopping {
    sv__routing_job *job;
    sv_core core;
    sv_layering vls;           /* trees only */
    unsigned needed;           /* hops of the longest path that counts */
    unsigned max_hops;         /* that any path may have here: there are that many VLs */
    uint32_t farthest[2];      /* a switch and a destination that need so many */
    size_t *turns;             /* [entries]: the first turn after each */
    sls_mask *used;            /* [turn × (max_hops - 1) + hop - 1]: SLs in which it has that VL */
    uint8_t *depth;            /* [switches]: hops to the destination at hand */
    bool some_do_not_count;    /* of the paths with turns */
    unsigned num_sls, num_vls; /* in use */
    uint64_t unsafe;
};

/* ---- turns ---- */

/* The masks of a turn, one for each hop from 1 on. in, out: entries that follow each other. */
static sls_mask *masks_of(const struct hopping *h, uint32_t in, uint32_t out)
{
    uint32_t cable = h->core.back[out] - h->core.first[h->core.to[in]];
    return h->used + (h->turns[in] + cable) * (h->max_hops - 1);
}

/* The SLs in which a turn has another VL than that of a hop. */
static sls_mask closed(const struct hopping *h, const sls_mask *masks, unsigned hop)
{
    sls_mask others = 0;
    for (unsigned i = 0; i + 1 < h->max_hops; i++)
        others |= i + 1 == hop ? 0 : masks[i];
    return others;
}

/* The entry that a switch sends to a destination by. */
static uint32_t leaves_by(const struct hopping *h, const uint8_t *row, uint32_t s)
{
    return sv_core_entry(&h->vls.ports, s, row[s]);
}

/* The SLs that a path may have. row: of its destination. */
static sls_mask open_to(const struct hopping *h, const uint8_t *row, uint32_t s, unsigned hops)
{
    sls_mask open = ~(sls_mask)0;
    uint32_t in = leaves_by(h, row, s);
    for (unsigned hop = 1; hop < hops; hop++) {
        uint32_t out = leaves_by(h, row, h->core.to[in]);
        open &= ~closed(h, masks_of(h, in, out), hop);
        in = out;
    }
    return open;
}

static void take(struct hopping *h, const uint8_t *row, uint32_t s, unsigned hops, unsigned sl)
{
    uint32_t in = leaves_by(h, row, s);
    for (unsigned hop = 1; hop < hops; hop++) {
        uint32_t out = leaves_by(h, row, h->core.to[in]);
        masks_of(h, in, out)[hop - 1] |= (sls_mask)1 << sl;
        in = out;
    }
}

/* ---- paths ---- */

/*
 * Until a path has its SL, its number of hops stands there (beyond all SLs, and at most so many); a
 * single hop makes no turn and needs none.
 */
enum { WAITS = 0x80, MAX_HOPS = 0x7e };

/* VLs that may be used. */
static unsigned vls_there(const struct hopping *h)
{
    return h->job->vls < SV_HARDWARE_SLS ? h->job->vls : SV_HARDWARE_SLS;
}

/* Notes how far each switch is from a destination, and what the longest path is. */
static sv_status look_at(struct hopping *h, uint32_t d, unsigned *longest)
{
    const sv_tree *tree = &h->vls.tree;
    uint8_t *sls = sv_routes_sl_row(h->job->ctx, h->job->routes, d);
    if (sls == NULL)
        return SV_NO_MEMORY;
    sv_layering_tree(&h->vls, d);
    memset(sls, 0, h->core.num_switches);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t s = tree->order[i], via = tree->via[s];
        unsigned far = via == SV_NONE ? 0 : h->depth[h->core.to[via]] + 1u;
        bool counts = sv_layering_counts(&h->vls, s, d);
        h->depth[s] = (uint8_t)(far < MAX_HOPS ? far : MAX_HOPS);
        sls[s] = far < 2 ? 0 : WAITS | h->depth[s];
        *longest = far > *longest ? far : *longest;
        h->some_do_not_count |= !counts && far > 1;
        if (far > h->needed && counts) {
            h->needed = far;
            h->farthest[0] = s;
            h->farthest[1] = d;
        }
    }
    return SV_OK;
}

static sv_status measure(struct hopping *h)
{
    unsigned longest = 1;
    for (uint32_t d = 0; d < h->job->routes->num_destinations; d++)
        SV_TRY(look_at(h, d, &longest));
    h->max_hops = longest < vls_there(h) ? longest : vls_there(h);
    return SV_OK;
}

/* Which paths get their SLs now. */
struct round {
    unsigned min, max; /* hops */
    bool count;        /* those that count, or the others */
    unsigned sls;      /* that there are */
};

static sv_status place(struct hopping *h, uint32_t d, const struct round *round)
{
    const uint8_t *row = h->job->routes->ports[d];
    uint8_t *sls = h->job->routes->sls[d];
    sls_mask there = round->sls < 64 ? ((sls_mask)1 << round->sls) - 1 : ~(sls_mask)0;
    for (uint32_t s = 0; s < h->core.num_switches; s++) {
        unsigned hops = sls[s] & ~(unsigned)WAITS;
        if (sls[s] < WAITS || hops < round->min || hops > round->max ||
            sv_layering_counts(&h->vls, s, d) != round->count)
            continue;
        sls_mask open = hops > h->max_hops ? 0 : open_to(h, row, s, hops) & there;
        sls[s] = 0;
        if (open == 0 && round->count)
            return SV_INFEASIBLE;
        if (open == 0) {
            h->unsafe++;
            continue;
        }
        sls[s] = (uint8_t)__builtin_ctzll(open);
        h->num_sls = sls[s] >= h->num_sls ? sls[s] + 1u : h->num_sls;
        h->num_vls = hops > h->num_vls ? hops : h->num_vls;
        take(h, row, s, hops, sls[s]);
    }
    return SV_OK;
}

static sv_status place_all(struct hopping *h, bool longest_first, unsigned sls)
{
    uint32_t count = h->job->routes->num_destinations;
    h->num_vls = h->needed;
    for (unsigned hops = h->needed; hops > 1 && longest_first; hops--) {
        const struct round now = {hops, hops, true, SV_MAX_SLS};
        SV_TRY(sv_progress(h->job->ctx, "vls", h->needed - hops, h->needed));
        for (uint32_t d = 0; d < count; d++)
            SV_TRY(place(h, d, &now));
    }
    for (uint32_t d = 0; d < count && !longest_first; d++)
        for (unsigned hops = 2; hops <= h->needed; hops++) {
            const struct round now = {hops, hops, true, SV_MAX_SLS};
            SV_TRY(place(h, d, &now));
        }
    const struct round rest = {0, MAX_HOPS, false, sls};
    for (uint32_t d = 0; d < count && h->some_do_not_count && h->num_sls <= sls; d++)
        SV_TRY(place(h, d, &rest));
    return SV_OK;
}

/* ---- tables ---- */

/* VLs of SLs, four bits each, and for which of them they matter. */
struct pattern {
    uint64_t vls, matter;
};

/* Patterns that turns have, as few as come of putting each into the first that it agrees with. */
struct patterns {
    struct pattern *at; /* [MAX_PATTERNS] */
    uint32_t count, last;
    uint16_t *of; /* [turns] */
};

enum { MAX_PATTERNS = UINT16_MAX };

static struct pattern pattern_of(const struct hopping *h, const sls_mask *masks)
{
    struct pattern p = {0, 0};
    for (unsigned i = 0; i + 1 < h->max_hops; i++)
        for (sls_mask left = masks[i]; left != 0; left &= left - 1) {
            unsigned at = 4 * (unsigned)__builtin_ctzll(left);
            p.vls |= (uint64_t)(i + 1) << at;
            p.matter |= (uint64_t)15 << at;
        }
    return p;
}

static bool agree(struct pattern a, struct pattern b)
{
    return ((a.vls ^ b.vls) & a.matter & b.matter) == 0;
}

/* The number of a pattern that serves; MAX_PATTERNS: there are too many. */
static uint32_t find_pattern(struct patterns *x, struct pattern p)
{
    uint32_t i = x->last;
    if (i >= x->count || !agree(x->at[i], p))
        for (i = 0; i < x->count && !agree(x->at[i], p);)
            i++;
    if (i == MAX_PATTERNS)
        return i;
    x->count = i == x->count ? i + 1 : x->count;
    x->at[i].vls |= p.vls;
    x->at[i].matter |= p.matter;
    return x->last = i;
}

static sv_status find_patterns(const struct hopping *h, struct patterns *x)
{
    size_t turns = h->turns[h->core.num_entries];
    x->at = SV_ARENA_NEW(h->job->arena, struct pattern, MAX_PATTERNS);
    x->of = SV_ARENA_NEW(h->job->arena, uint16_t, turns + 1);
    if (x->at == NULL || x->of == NULL)
        return SV_NO_MEMORY;
    for (size_t turn = 0; turn < turns; turn++) {
        struct pattern p = pattern_of(h, h->used + turn * (h->max_hops - 1));
        uint32_t found = p.matter == 0 ? MAX_PATTERNS : find_pattern(x, p);
        if (p.matter != 0 && found == MAX_PATTERNS)
            return sv_fail(h->job->ctx, SV_INFEASIBLE, "more than %d different tables of VLs",
                           MAX_PATTERNS);
        x->of[turn] = (uint16_t)found;
    }
    return SV_OK;
}

/* Gives each pattern a table, whose number takes the place of its VLs. */
static sv_status make_tables(const struct hopping *h, struct patterns *x)
{
    sv_routes *r = h->job->routes;
    for (uint32_t i = 0; i < x->count; i++) {
        sv_sl2vl vls = {{0}};
        for (unsigned sl = 0; sl < r->num_sls; sl++)
            vls.of_sl[sl] = sl < SV_HARDWARE_SLS ? x->at[i].vls >> (4 * sl) & 15 : 0;
        uint32_t table = sv_routes_sl2vl_table(h->job->ctx, r, &vls);
        if (table == SV_NONE)
            return SV_NO_MEMORY;
        x->at[i].vls = table;
    }
    return SV_OK;
}

static sv_status set_vls(const struct hopping *h)
{
    const sv_core *core = &h->core;
    const sv__routing_job *job = h->job;
    struct patterns x = {0};
    if (h->max_hops < 2)
        return SV_OK;
    SV_TRY(find_patterns(h, &x));
    SV_TRY(make_tables(h, &x));
    for (uint32_t in = 0; in < core->num_entries; in++) {
        uint32_t s = core->to[in];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            uint16_t pattern = x.of[h->turns[in] + k - core->first[s]];
            if (pattern != MAX_PATTERNS)
                SV_TRY(sv_routes_set_sl2vl(job->ctx, job->fabric, job->routes, (sv_node){s},
                                           core->port[in], core->port[k],
                                           (uint32_t)x.at[pattern].vls));
        }
    }
    return SV_OK;
}

/* ---- all of it ---- */

static sv_status too_long(const struct hopping *h, const char *engine)
{
    const sv_fabric *f = h->job->fabric;
    return sv_fail(h->job->ctx, SV_INFEASIBLE,
                   "%s needs %u VLs, %u %s there: the path from '%s' to '%s' has %u hops", engine,
                   h->needed, vls_there(h), vls_there(h) == 1 ? "is" : "are",
                   sv_node_name(f, (sv_node){h->farthest[0]}),
                   sv_node_name(f, h->job->routes->node[h->farthest[1]]), h->needed);
}

static bool longest_are_first(const sv__routing_job *job)
{
    const char *value = sv__job_option(job, "sls");
    return value == NULL || strcmp(value, "few") == 0;
}

static sv_status hopping_init(struct hopping *h, sv__routing_job *job)
{
    *h = (struct hopping){.job = job, .needed = 1, .num_sls = 1, .num_vls = 1};
    SV_TRY(sv_core_init(&h->core, job->arena, job->fabric));
    SV_TRY(sv_layering_init(&h->vls, job->ctx, job->arena, job->fabric, &h->core, job->routes));
    h->depth = SV_ARENA_NEW(job->arena, uint8_t, h->core.num_switches);
    h->turns = SV_ARENA_NEW(job->arena, size_t, (size_t)h->core.num_entries + 1);
    if (h->depth == NULL || h->turns == NULL)
        return SV_NO_MEMORY;
    for (uint32_t e = 0; e < h->core.num_entries; e++) {
        uint32_t s = h->core.to[e];
        h->turns[e + 1] = h->turns[e] + h->core.first[s + 1] - h->core.first[s];
    }
    return SV_OK;
}

static sv_status route(sv__routing_job *job, const char *engine, const sv__engine *tables)
{
    struct hopping h;
    unsigned sls = SV_HARDWARE_SLS - job->request->sl_offset;
    bool longest_first = longest_are_first(job);
    SV_TRY(tables->route(job));
    SV_TRY(hopping_init(&h, job));
    SV_TRY(measure(&h));
    job->report->vls_needed = h.needed;
    if (h.needed > vls_there(&h))
        return too_long(&h, engine);
    sv__found(job, "low diameter", "no path has more than %u hop%s", h.needed,
              h.needed == 1 ? "" : "s");
    sv__fact(job, "longest_path", h.needed);
    h.used = SV_ARENA_NEW(job->arena, sls_mask, h.turns[h.core.num_entries] * (h.max_hops - 1) + 1);
    if (h.used == NULL)
        return SV_NO_MEMORY;
    sv_status status = place_all(&h, longest_first, sls);
    if (status == SV_INFEASIBLE)
        return sv_fail(job->ctx, status, "%s needs more than %d service levels, %u %s there",
                       engine, SV_MAX_SLS, sls, sls == 1 ? "is" : "are");
    SV_TRY(status);
    if (h.num_sls > sls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "%s needs %u service levels, %u %s there", engine,
                       h.num_sls, sls, sls == 1 ? "is" : "are");
    job->report->sls_used = h.num_sls;
    job->report->vls_used = h.num_vls;
    sv__note_unsafe(job, h.unsafe);
    return set_vls(&h);
}

static sv_status route_sssp(sv__routing_job *job)
{
    return route(job, "sssp-df", &sv__engine_sssp);
}

static sv_status route_minhop(sv__routing_job *job)
{
    return route(job, "minhop-df", &sv__engine_minhop);
}

enum {
    TRAITS = SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_MINIMAL | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS |
             SV_ENGINE_BY_PORTS
};

static const sv_engine_option options[] = {
    {"sls", "few|first", "longest paths get their SL first, or in the order of destinations"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_sssp_df = {
    {"sssp-df", "sssp, with another VL for every hop; for fabrics of low diameter",
     "Schneider et al., HOTI 2016", TRAITS, options},
    route_sssp};

const sv__engine sv__engine_minhop_df = {
    {"minhop-df", "minhop, with another VL for every hop; for fabrics of low diameter",
     "Schneider et al., HOTI 2016", TRAITS, options},
    route_minhop};
