/*
 * torus2qos.c: engine torus2qos: dimension order with datelines on meshes and tori (thesis 3.3.7,
 * OpenSM's manual page torus-2QoS(8)).
 *
 * Idea: a packet goes along x, then y, then z, each the shorter way round. Turns go from lower to
 * higher dimensions only, so packets can wait for each other in a circle only within one ring.
 * There a dateline lies between the last coordinate and the first. A bit of the SL for each
 * dimension says whether the path crosses its dateline; the switch's tables turn the bit of the
 * dimension that the packet goes on in into one of two VLs. What crosses is never longer than
 * half the ring, so neither VL has a circle. Rings of up to four need no bit: in three nothing
 * goes two steps, and in four ways can be chosen that close no circle (decision 19).
 *
 * SLs follow from coordinates alone: no failure changes them.
 *
 * A ring that lost a cable is a line: packets go the other way round, on any VL. What that does
 * not help, missing switches and lines cut in two, is for torus_detour.c: detours with turns
 * against the order, on two more VLs.
 *
 * Balance: halfway round an even ring both ways are as short. Which one is taken depends on the
 * destination's address and on where in the ring the packet is, so that both directions carry the
 * same. Parallel cables are dealt out among the addresses of a switch.
 *
 * Two levels of service: SLs from 8 on are the second level, on VLs of its own (4 … 7).
 *
 * Structure is found by structure/torus.c, without a configuration; with one (config=FILE, OpenSM's
 * torus-2QoS.conf) it is checked, and axes and datelines are what it says.
 *
 * Cost: one table row is some memory copies; O(destinations × switches) in all.
 */
#include "routing/torus2qos.h"

#include <stdio.h>
#include <string.h>

#include "base/bitset.h"
#include "base/file.h"

struct options {
    unsigned levels, level; /* how many there are; on which paths are */
    sv_torus_conf conf;
    bool has_conf;
};

struct engine {
    sv__routing_job *job;
    struct options options;
    sv_bundles g;
    sv_tori tori;
    sv__grid *grids; /* one a piece */
    unsigned width;  /* VLs for datelines: 1 or 2 */
    unsigned turned; /* of all pieces together */
    unsigned vls;    /* of one level */
    unsigned second; /* the first VL of the second level */
    bool parallel;   /* there are parallel cables */
    /* Of one switch as a home: rows for both variants, and scratch by point. */
    uint8_t *ports[2], *sls[2], *ways[2], *point_sls;
    bool ready[2];
    uint32_t first[2]; /* the destination whose row of SLs the others share */
};

/* Bits of SLs; rings of four or less need none. */
static sv_status give_bits(const struct engine *e, sv__grid *x)
{
    const sv_torus *t = x->t;
    uint8_t max = e->options.levels == 2 ? 3 : 4, used = 0;
    for (uint32_t d = 0; d < t->dims; d++) {
        x->bit[d] = SV__NO_BIT;
        if (t->wraps[d] && t->size[d] > 4)
            x->bit[d] = t->dims <= 3 ? (uint8_t)d : used++;
        x->ties |= t->wraps[d] && t->size[d] % 2 == 0 && t->size[d] > 4;
    }
    if (used > max)
        return sv_fail(e->job->ctx, SV_INFEASIBLE,
                       "a torus of %u dimensions with rings of five or more needs 2^%u "
                       "service levels: there are no more than 2^%u (around switch '%s')",
                       used, used, max, sv_node_name(e->job->fabric, (sv_node){t->at[0]}));
    return SV_OK;
}

static sv_status grid_init(struct engine *e, sv__grid *x, const sv_torus *t)
{
    *x = (sv__grid){.job = e->job, .g = &e->g, .t = t};
    for (uint8_t d = 0; d < t->dims; d++)
        x->order[d] = x->place[d] = d;
    SV_TRY(give_bits(e, x));
    SV_TRY(sv__grid_look(x));
    uint8_t *ways = SV_ARENA_NEW(e->job->arena, uint8_t, t->points);
    bool blocked = false;
    if (ways == NULL)
        return SV_NO_MEMORY;
    for (uint32_t p = 0; p < t->points && x->num_broken > 0 && !blocked; p++)
        blocked = t->at[p] != SV_NONE && sv__grid_ways(x, p, 0, ways);
    return blocked ? sv__grid_detour(x) : SV_OK;
}

/* ---- rows ---- */

static bool has_bits(const sv__grid *x)
{
    for (uint32_t d = 0; d < x->t->dims; d++)
        if (x->bit[d] != SV__NO_BIT)
            return true;
    return false;
}

/* Where the ways to a point are: those that detours found, or the switch's own. */
static const uint8_t *ways_of(const struct engine *e, const sv__grid *x, uint32_t target,
                              unsigned variant)
{
    return x->detours == NULL ? e->ways[variant]
                              : x->detours + ((size_t)target * 2 + variant) * x->t->points;
}

/* Ports and SLs to a switch, one variant, into e->ports and e->sls. */
static void make_rows(struct engine *e, const sv__grid *x, uint32_t target, unsigned variant)
{
    const sv_torus *t = x->t;
    const uint8_t *ways = ways_of(e, x, target, variant);
    uint8_t base = (uint8_t)(e->options.level * 8);
    uint32_t n = e->g.num_switches;
    if (x->detours == NULL)
        sv__grid_ways(x, target, variant, e->ways[variant]);
    sv__grid_sls(x, target, variant, e->point_sls);
    if (e->tori.count > 1 || t->switches < n) {
        memset(e->ports[variant], SV_NO_PORT, n);
        memset(e->sls[variant], base, n);
    }
    for (uint32_t p = 0; p < t->points; p++) {
        uint32_t s = t->at[p];
        if (s == SV_NONE)
            continue;
        e->sls[variant][s] = (uint8_t)(e->point_sls[p] + base);
        if (p != target)
            e->ports[variant][s] = x->port[p][ways[p]];
    }
    e->ready[variant] = true;
    e->first[variant] = SV_NONE;
}

/* The row again with the cables of each bundle that are the turn of an address. */
static void deal_cables(const struct engine *e, const sv__grid *x, uint32_t target,
                        unsigned variant, uint32_t turn, uint8_t *row)
{
    const sv_torus *t = x->t;
    const uint8_t *ways = ways_of(e, x, target, variant);
    for (uint32_t p = 0; p < t->points; p++) {
        if (t->at[p] == SV_NONE || p == target)
            continue;
        uint32_t b = x->way[p][ways[p]], first = e->g.first_port[b];
        row[t->at[p]] = e->g.ports[first + turn % (e->g.first_port[b + 1] - first)];
    }
}

/*
 * The row of one destination. rank: which of the addresses of its switch it is. seat: the same by
 * its port alone, whoever else is there: SLs depend on it.
 */
static sv_status route_one(struct engine *e, const sv__grid *x, uint32_t d, uint32_t target,
                           uint32_t rank, uint32_t seat)
{
    sv__routing_job *job = e->job;
    sv_node home;
    uint8_t *row;
    unsigned variant = x->ties ? (seat ^ seat >> 1) & 1 : 0;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    uint8_t own = row[home.i];
    if (!e->ready[variant])
        make_rows(e, x, target, variant);
    memcpy(row, e->ports[variant], e->g.num_switches);
    if (e->parallel) {
        uint32_t turn = rank;
        for (uint32_t i = 0; i < x->t->dims; i++)
            turn += sv__grid_coordinate(x, target, i);
        deal_cables(e, x, target, variant, turn, row);
    }
    row[home.i] = own;
    if (job->routes->sl_form != SV_SL_BY_SWITCH)
        return SV_OK;
    if (e->first[variant] != SV_NONE) { /* the same row; who changes it copies it first */
        job->routes->sls[d] = job->routes->sls[e->first[variant]];
        sv_bit_clear(job->routes->own_sls, e->first[variant]);
        return SV_OK;
    }
    uint8_t *sls = sv_routes_sl_row(job->ctx, job->routes, d);
    if (sls == NULL)
        return SV_NO_MEMORY;
    memcpy(sls, e->sls[variant], e->g.num_switches);
    e->first[variant] = d;
    return SV_OK;
}

/* Where a port comes in the order that a configuration gives; those it does not name come last. */
static uint32_t place_in_order(const sv_torus_conf *conf, unsigned port)
{
    for (uint32_t i = 0; i < conf->num_port_order; i++)
        if (conf->port_order[i] == port)
            return i;
    return 255 + port; /* port 1: a multiple of 4, as if it were the first */
}

/*
 * The first rank of a terminal's addresses among those of its switch. Dead terminals count, too, so
 * that a failure changes nobody else's.
 */
static uint32_t rank_of(const struct engine *e, uint32_t s, unsigned port, sv_channel begin)
{
    const sv_fabric *f = e->job->fabric;
    uint32_t rank = 0, place = place_in_order(&e->options.conf, port);
    for (uint32_t c = begin.i; c < f->num_channels && f->tail[c].i == s; c++)
        rank +=
            !sv_is_switch(f, f->head[c]) && place_in_order(&e->options.conf, f->port[c]) < place;
    return rank << e->job->routes->lmc;
}

/* All destinations of a switch: itself, and the addresses of its terminals. */
static sv_status route_home(struct engine *e, const sv__grid *x, uint32_t target, sv_channel begin)
{
    const sv_routes *r = e->job->routes;
    const sv_fabric *f = e->job->fabric;
    uint32_t s = x->t->at[target];
    e->ready[0] = e->ready[1] = false;
    SV_TRY(route_one(e, x, r->first[s], target, 0, 0));
    SV_FOR_HOPS (f, (sv_node){s}, hop) {
        if (sv_is_switch(f, hop->to))
            continue;
        unsigned port = f->port[hop->channel.i];
        uint32_t rank = rank_of(e, s, port, begin);
        uint32_t seat = place_in_order(&e->options.conf, port) << r->lmc;
        for (uint32_t d = r->first[hop->to.i]; d < r->first[hop->to.i + 1]; d++)
            SV_TRY(route_one(e, x, d, target, rank++, seat++));
    }
    return SV_OK;
}

static sv_status route_all(struct engine *e)
{
    sv__routing_job *job = e->job;
    const sv_fabric *f = job->fabric;
    uint32_t n = f->num_switches, points = 1;
    for (uint32_t i = 0; i < e->tori.count; i++)
        points = e->tori.pieces[i].points > points ? e->tori.pieces[i].points : points;
    for (int v = 0; v < 2; v++) {
        e->ports[v] = SV_ARENA_NEW(job->arena, uint8_t, n);
        e->sls[v] = SV_ARENA_NEW(job->arena, uint8_t, n);
        e->ways[v] = SV_ARENA_NEW(job->arena, uint8_t, points);
        if (e->ports[v] == NULL || e->sls[v] == NULL || e->ways[v] == NULL)
            return SV_NO_MEMORY;
    }
    e->point_sls = SV_ARENA_NEW(job->arena, uint8_t, points);
    if (e->point_sls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0, c = 0; s < n; s++) {
        while (c < f->num_channels && f->tail[c].i < s)
            c++;
        if (s % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", s, n));
        if (e->tori.piece[s] != SV_NONE)
            SV_TRY(route_home(e, &e->grids[e->tori.piece[s]], e->tori.point[s], (sv_channel){c}));
    }
    return SV_OK;
}

/* ---- VLs ---- */

/* The VL of each SL on a way in dimension d; turned: against the order. */
static sv_sl2vl vls_of(const struct engine *e, uint8_t bit, bool turned)
{
    sv_sl2vl vls = {{0}};
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        unsigned level = e->options.levels == 2 ? sl / 8 % 2 : 0;
        unsigned crosses = bit == SV__NO_BIT ? 0 : sl >> bit & 1;
        unsigned vl = !turned ? crosses : e->width + (e->turned == 3 ? crosses : 0);
        vls.of_sl[sl] = (uint8_t)(level * e->second + vl);
    }
    return vls;
}

/* The table of each port pair of a switch that leads out on some way. */
static sv_status set_switch(struct engine *e, const sv__grid *x, uint32_t point,
                            const uint32_t (*tables)[2])
{
    sv__routing_job *job = e->job;
    const sv_fabric *f = job->fabric;
    sv_node s = {x->t->at[point]};
    size_t ports = f->switches[s.i].ports + 1u;
    uint8_t way_in[256];
    memset(way_in, 255, sizeof way_in);
    for (uint8_t way = 0; way < 2 * x->t->dims; way++)
        for (uint32_t b = x->way[point][way], i = b == SV_NONE ? 0 : e->g.first_port[b];
             b != SV_NONE && i < e->g.first_port[b + 1]; i++)
            way_in[e->g.ports[i]] = way ^ 1; /* what comes in there goes the other way */
    for (uint8_t way = 0; way < 2 * x->t->dims; way++)
        for (uint32_t b = x->way[point][way], i = b == SV_NONE ? 0 : e->g.first_port[b];
             b != SV_NONE && i < e->g.first_port[b + 1]; i++) {
            unsigned out = e->g.ports[i];
            SV_TRY(sv_routes_set_sl2vl(job->ctx, f, job->routes, s, 0, out, tables[way / 2][0]));
            for (size_t in = 1; in < ports; in++) {
                bool turned =
                    x->turned && way_in[in] != 255 && sv__grid_illegal(x, way_in[in], way);
                uint32_t table = tables[way / 2][turned];
                uint16_t *held = job->routes->sl2vl_by_port[s.i];
                if (held != NULL) /* ours alone since the call above, or all were the default */
                    held[in * ports + out] = (uint16_t)table;
                else
                    SV_TRY(
                        sv_routes_set_sl2vl(job->ctx, f, job->routes, s, (unsigned)in, out, table));
            }
        }
    return SV_OK;
}

static sv_status set_vls(struct engine *e)
{
    sv__routing_job *job = e->job;
    sv_routes *r = job->routes;
    if (job->report->vls_needed == 1)
        return SV_OK;
    if (e->options.levels == 2) { /* on the way into and out of hosts: one VL a level */
        sv_sl2vl ends = {{0}};
        for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
            ends.of_sl[sl] = (uint8_t)(sl / 8 % 2);
        uint32_t table = sv_routes_sl2vl_table(job->ctx, r, &ends);
        if (table == SV_NONE)
            return SV_NO_MEMORY;
        for (uint32_t v = 0; v < sv_num_nodes(job->fabric); v++)
            r->vls_of[v] = (uint16_t)table;
    }
    for (uint32_t i = 0; i < e->tori.count; i++) {
        const sv__grid *x = &e->grids[i];
        uint32_t tables[SV_TORUS_DIMS][2];
        for (uint32_t d = 0; d < x->t->dims; d++)
            for (int turned = 0; turned < 2; turned++) {
                sv_sl2vl vls = vls_of(e, x->bit[d], turned);
                tables[d][turned] = sv_routes_sl2vl_table(job->ctx, r, &vls);
                if (tables[d][turned] == SV_NONE)
                    return SV_NO_MEMORY;
                if (!x->turned)
                    tables[d][1] = tables[d][0], turned = 2;
            }
        for (uint32_t p = 0; p < x->t->points; p++)
            if (x->t->at[p] != SV_NONE)
                SV_TRY(set_switch(e, x, p, (const uint32_t(*)[2])tables));
    }
    return SV_OK;
}

/* How many VLs there have to be, and whether there are. */
static sv_status count_vls(struct engine *e)
{
    sv__routing_job *job = e->job;
    unsigned sls = 1;
    e->width = 1;
    for (uint32_t i = 0; i < e->tori.count; i++) {
        const sv__grid *x = &e->grids[i];
        e->width = has_bits(x) ? 2 : e->width;
        e->turned |= x->turned;
        for (uint32_t d = 0; d < x->t->dims; d++)
            if (x->bit[d] != SV__NO_BIT && 2u << x->bit[d] > sls)
                sls = 2u << x->bit[d];
    }
    e->vls = e->width + (e->turned == 3 ? 2 : e->turned > 0);
    unsigned needed = e->vls * e->options.levels;
    job->report->vls_needed = job->report->vls_used = needed;
    job->report->sls_used = e->options.levels == 2 ? SV_HARDWARE_SLS : sls;
    if (e->options.levels == 2) {
        e->second = job->vls >= 2 * SV__TORUS_VLS ? SV__TORUS_VLS : e->vls;
        job->report->vls_used = e->second + e->vls;
    }
    if (needed > job->vls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "this torus needs %u VLs%s%s: there are %u", needed,
                       e->turned ? ", for detours around what is missing" : "",
                       e->options.levels == 2 ? ", for two levels of service" : "", job->vls);
    return SV_OK;
}

/* ---- the engine ---- */

static sv_status check(sv_ctx *ctx, const sv_route_request *request)
{
    const char *qos = sv__request_option(request, "qos");
    const char *level = sv__request_option(request, "level");
    if (level != NULL && level[0] == '1' && (qos == NULL || qos[0] != '2'))
        return sv_refuse(ctx, "level is 0, or 1 with qos=2, not '%s'", level);
    return SV_OK;
}

static sv_status read_options(struct engine *e)
{
    sv__routing_job *job = e->job;
    const char *qos = sv__job_option(job, "qos"), *level = sv__job_option(job, "level");
    const char *config = sv__job_option(job, "config");
    e->options.levels = qos != NULL && qos[0] == '2' ? 2 : 1;
    e->options.level = level != NULL && level[0] == '1';
    if (config == NULL)
        return SV_OK;
    sv_file file;
    SV_TRY(sv_file_open(&file, job->ctx, config));
    sv_status status = sv_torus_conf_read(job->ctx, job->arena, &file.source, &e->options.conf);
    sv_file_close(&file);
    e->options.has_conf = true;
    return status;
}

static void tell(struct engine *e)
{
    const sv_torus *t = &e->tori.pieces[0];
    uint32_t wraps[SV_TORUS_DIMS], sizes[SV_TORUS_DIMS], rings = 0, dims = 0;
    char text[120] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < t->dims; d++) {
        if (t->size[d] == 1 && t->points > 1)
            continue;
        sizes[dims] = t->size[d];
        wraps[dims++] = t->wraps[d];
        rings += t->wraps[d];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u%s", dims > 1 ? " x " : "",
                                 t->size[d], t->wraps[d] ? " (ring)" : "");
        used = used < sizeof text ? used : sizeof text - 1;
    }
    uint32_t holes = t->points - t->switches;
    char missing[80] = ", none missing";
    if (holes > 0 || t->missing_links > 0)
        snprintf(missing, sizeof missing, ", %u switch%s and %u link%s missing", holes,
                 holes == 1 ? "" : "es", t->missing_links, t->missing_links == 1 ? "" : "s");
    sv__found(e->job, rings > 0 ? "torus" : "mesh", "%s switches%s%s", text, missing,
              e->tori.count > 1 ? "; and smaller pieces" : "");
    sv__fact_list(e->job, "size", sizes, dims);
    sv__fact_list(e->job, "wraps", wraps, dims);
    sv__fact(e->job, "missing_switches", holes);
    sv__fact(e->job, "missing_links", t->missing_links);
    if (e->tori.count > 1)
        sv__fact(e->job, "pieces", e->tori.count);
}

static sv_status route(sv__routing_job *job)
{
    struct engine e = {.job = job};
    SV_TRY(read_options(&e));
    SV_TRY(sv_bundles_init(&e.g, job->arena, job->fabric));
    SV_TRY(sv_tori_find(job->ctx, job->arena, job->fabric, &e.g,
                        e.options.has_conf ? &e.options.conf : NULL, &e.tori));
    if (e.tori.count == 0)
        return SV_OK;
    tell(&e);
    e.grids = SV_ARENA_NEW(job->arena, sv__grid, e.tori.count);
    if (e.grids == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < e.tori.count; i++)
        SV_TRY(grid_init(&e, &e.grids[i], &e.tori.pieces[i]));
    for (uint32_t b = 0; b < e.g.count; b++)
        e.parallel |= e.g.first_port[b + 1] - e.g.first_port[b] > 1;
    SV_TRY(count_vls(&e));
    if (e.width > 1)
        SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_SWITCH));
    else
        job->routes->sl = (uint8_t)(e.options.level * 8);
    SV_TRY(set_vls(&e));
    return route_all(&e);
}

static const sv_engine_option options[] = {
    {"config", "FILE", "OpenSM's torus-2QoS.conf: checked; its seeds say where axes point"},
    {"qos", "1|2", "levels of service: with 2, SLs 8 to 15 have VLs of their own"},
    {"level", "0|1", "with qos=2: which level the SLs of paths are of"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_torus2qos = {
    {"torus2qos", "meshes and tori: dimension order, datelines as VLs, detours around failures",
     "thesis 3.3.7", SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS, options},
    route,
    check};
