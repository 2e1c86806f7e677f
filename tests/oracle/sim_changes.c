/*
 * sim_changes.c: what somebody changes while a case runs, and what holds at a tick: what sim_case.h
 * says.
 *
 * There are two tables of one fabric: those of an engine, and others with the same LIDs, in which
 * some or many entries are whatever comes: none, the switch itself, dead ports, wrong terminals,
 * back to where a packet came from. Switches get blocks and VLs of either at random ticks, so
 * that packets are lost, go in circles, overtake each other and wait for each other. In the end all
 * switches get the first tables back, or there is a limit: packets do not go round for ever.
 *
 * What holds at a tick is found by reading the list of changes from its beginning: nothing is kept.
 */
#include "base/rng.h"
#include "sim_case.h"
#include "support/testing.h"

static bool one_in(sv_rng *rng, uint32_t n)
{
    return sv_rng_below(rng, n) == 0;
}

/* ---- tables ---- */

void sim_vls_draw(const sim_case *c, sv_routes *r, sv_rng *rng, uint32_t discards)
{
    uint32_t tables[4], lossy[4];
    for (int i = 0; i < 4; i++) {
        sv_sl2vl vl;
        for (int sl = 0; sl < SV_MAX_SLS; sl++)
            vl.of_sl[sl] = (uint8_t)sv_rng_below(rng, c->model.vls);
        tables[i] = lossy[i] = sv_routes_sl2vl_table(c->ctx, r, &vl);
        for (int sl = 0; sl < SV_MAX_SLS && discards > 0; sl++)
            if (one_in(rng, discards))
                vl.of_sl[sl] = SV_NO_VL;
        if (discards > 0)
            lossy[i] = sv_routes_sl2vl_table(c->ctx, r, &vl);
    }
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
        r->vls_of[v] = (uint16_t)tables[sv_rng_below(rng, 4)];
    for (uint32_t s = 0; s < c->f->num_switches; s++)
        for (unsigned in = c->choosing ? 0 : 1; in <= c->f->switches[s].ports; in++)
            for (unsigned out = 1; out <= c->f->switches[s].ports; out++)
                OK(c->ctx, sv_routes_set_sl2vl(c->ctx, c->f, r, (sv_node){s}, in, out,
                                               lossy[sv_rng_below(rng, 4)]));
    OK(c->ctx, sv_routes_set_sl_form(c->ctx, r, SV_SL_BY_NODE));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(c->ctx, r, d);
        for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
            row[v] = (uint8_t)sv_rng_below(rng, 16);
    }
}

/* LIDs far apart, so that there are several blocks, in any order; or none at all. */
static void draw_lids(sv_routes *r, sv_rng *rng)
{
    static const uint32_t steps[] = {0, 1, 13, 40, 64, 100};
    uint32_t step = steps[sv_rng_below(rng, 6)];
    uint32_t first = step > 0 ? 1 + (uint32_t)sv_rng_below(rng, 100) : 0;
    uint32_t *order = calloc(r->num_destinations, sizeof *order);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        order[d] = d;
    if (one_in(rng, 2))
        sv_rng_shuffle(rng, order, r->num_destinations);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        r->lid[d] = (uint16_t)(first + step * order[d]);
    free(order);
}

/* An entry that need not make sense, more often one that leads to another switch. */
static uint8_t draw_entry(const sv_fabric *f, sv_rng *rng, uint32_t s)
{
    if (one_in(rng, 12))
        return one_in(rng, 2) ? SV_NO_PORT : 0;
    uint8_t port = 0;
    for (int tries = 0; tries < 4; tries++) {
        port = (uint8_t)(1 + sv_rng_below(rng, f->switches[s].ports));
        sv_channel c = sv_channel_at(f, (sv_node){s}, port);
        if (c.i != SV_NONE && sv_is_switch(f, f->head[c.i]))
            break;
    }
    return port;
}

/* The second tables: one entry in `tame` is drawn. */
static void draw_second(sim_case *c, sv_rng *rng)
{
    static const uint32_t tameness[] = {1, 2, 4, 4, 10, 10, 100};
    uint32_t tame = tameness[sv_rng_below(rng, 7)];
    OK(c->ctx, sv_routes_clone(c->ctx, c->r, &c->tables[1]));
    for (uint32_t d = 0; d < c->r->num_destinations; d++)
        for (uint32_t s = 0; s < c->f->num_switches; s++)
            if (one_in(rng, tame))
                sv_routes_row(c->ctx, c->tables[1], d)[s] = draw_entry(c->f, rng, s);
    if (one_in(rng, 2))
        sim_vls_draw(c, c->tables[1], rng, one_in(rng, 3) ? 8 : 0);
    OK(c->ctx, sv_routes_check(c->ctx, c->f, c->tables[1]));
}

/* ---- changes ---- */

static uint32_t block_of(const sv_routes *r, uint32_t destination)
{
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (r->lid[d] != 0)
            return r->lid[destination] / SV_LFT_BLOCK;
    return destination / SV_LFT_BLOCK;
}

static uint32_t count_blocks(const sv_routes *r)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        count = block_of(r, d) >= count ? block_of(r, d) + 1 : count;
    return count;
}

static int by_tick(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b; /* both begin with it */
    return *x < *y ? -1 : *x > *y;
}

/* Stable: of one tick those that were first stay so. */
static void sort_changes(sim_case *c)
{
    for (uint32_t i = 1; i < c->num_changes; i++)
        for (uint32_t k = i; k > 0 && c->changes[k].tick < c->changes[k - 1].tick; k--) {
            sim_change held = c->changes[k];
            c->changes[k] = c->changes[k - 1];
            c->changes[k - 1] = held;
        }
}

static void add_change(sim_case *c, uint64_t tick, uint32_t node, uint32_t block, uint8_t with)
{
    c->changes[c->num_changes++] =
        (sim_change){.tick = tick, .node = node, .block = block, .with = with};
}

/* All switches have all of the first tables again. */
static void restore(sim_case *c, sv_rng *rng, uint64_t from, uint64_t until)
{
    for (uint32_t s = 0; s < c->f->num_switches; s++) {
        add_change(c, from + sv_rng_below(rng, until - from), s, SIM_VLS, 0);
        for (uint32_t block = 0; block < count_blocks(c->r); block++)
            add_change(c, from + sv_rng_below(rng, until - from), s, block, 0);
    }
}

static void draw_changes(sim_case *c, sv_rng *rng, uint64_t grain, uint64_t span)
{
    uint32_t blocks = count_blocks(c->r);
    uint32_t drawn = (uint32_t)sv_rng_below(rng, one_in(rng, 4) ? 5 : 60 + 8 * blocks);
    c->changes = calloc(drawn + (size_t)c->f->num_switches * (blocks + 1) + 1, sizeof *c->changes);
    for (uint32_t i = 0; i < drawn; i++) {
        uint64_t tick = sv_rng_below(rng, span) / grain * grain;
        bool vls = one_in(rng, 4);
        uint32_t node = (uint32_t)sv_rng_below(rng, vls ? sv_num_nodes(c->f) : c->f->num_switches);
        uint32_t block = block_of(c->r, (uint32_t)sv_rng_below(rng, c->r->num_destinations));
        add_change(c, tick, node, vls ? SIM_VLS : block, (uint8_t)sv_rng_below(rng, 2));
    }
    if (one_in(rng, 3))
        c->limit = c->limit < 3 * span ? c->limit : span + sv_rng_below(rng, 2 * span);
    else
        restore(c, rng, span, 2 * span);
    sort_changes(c);
}

/* ---- terminals ---- */

static uint64_t perhaps(sv_rng *rng, uint64_t grain, uint64_t span)
{
    return one_in(rng, 2) ? SV_NEVER : sv_rng_below(rng, span) / grain * grain;
}

static void draw_habits(sim_case *c, sv_rng *rng, uint64_t grain, uint64_t span)
{
    uint32_t terminals = c->f->num_terminals;
    bool any = c->asks = !one_in(rng, 3);
    c->habits = calloc(terminals, sizeof *c->habits);
    c->wakes = calloc(3 * (size_t)terminals, sizeof *c->wakes);
    for (uint32_t t = 0; t < terminals; t++) {
        sim_habit *h = &c->habits[t];
        *h = (sim_habit){SV_NEVER, SV_NEVER, SV_NEVER, SV_NEVER, (uint8_t)sv_rng_below(rng, 16)};
        if (!any)
            continue;
        h->sl_from = perhaps(rng, grain, span);
        h->address_from = perhaps(rng, grain, span);
        h->silent_from = perhaps(rng, grain, span);
        if (h->silent_from != SV_NEVER && !one_in(rng, 50)) { /* else for ever */
            h->silent_until = h->silent_from + (1 + sv_rng_below(rng, span / grain)) * grain;
            c->wakes[c->num_wakes++] = (sim_wake){h->silent_until, t};
        }
        for (int i = 0; i < 2 && one_in(rng, 3); i++) /* for nothing */
            c->wakes[c->num_wakes++] = (sim_wake){sv_rng_below(rng, span) / grain * grain, t};
    }
    qsort(c->wakes, c->num_wakes, sizeof *c->wakes, by_tick);
}

void sim_changes_draw(sim_case *c, sv_rng *rng, uint64_t grain)
{
    static const uint32_t spans[] = {5, 30, 100, 300};
    uint64_t span = (uint64_t)SIM_GRAIN * spans[sv_rng_below(rng, 4)];
    draw_lids(c->r, rng);
    c->tables[0] = c->r;
    draw_second(c, rng);
    c->r = c->tables[one_in(rng, 4)];
    draw_changes(c, rng, grain, span);
    draw_habits(c, rng, grain, span);
    c->snap = one_in(rng, 2);
    c->calls = one_in(rng, 3);
    c->patient = one_in(rng, 2);
}

/* ---- ticks that matter ---- */

static uint64_t snapped(sv_rng *rng, uint64_t tick, const uint64_t *ticks, uint32_t count)
{
    if (tick == SV_NEVER || one_in(rng, 4))
        return tick;
    for (uint32_t i = 0; i < count; i++)
        if (ticks[i] >= tick) {
            tick = ticks[i] + sv_rng_below(rng, 3);
            return tick > 0 ? tick - 1 : 0;
        }
    return tick;
}

void sim_changes_snap(sim_case *c, uint64_t seed, uint64_t *ticks, uint32_t count)
{
    sv_rng rng;
    sv_rng_init(&rng, ~seed);
    qsort(ticks, count, sizeof *ticks, by_tick);
    for (uint32_t i = 0; i < c->num_changes; i++) { /* they stay in order: what is last stays so */
        uint64_t tick = snapped(&rng, c->changes[i].tick, ticks, count);
        uint64_t min = i > 0 ? c->changes[i - 1].tick : 0;
        c->changes[i].tick = tick > min ? tick : min;
    }
    for (uint32_t t = 0; t < c->f->num_terminals; t++) {
        sim_habit *h = &c->habits[t];
        h->sl_from = snapped(&rng, h->sl_from, ticks, count);
        h->address_from = snapped(&rng, h->address_from, ticks, count);
        uint64_t silent = snapped(&rng, h->silent_from, ticks, count);
        h->silent_from = silent < h->silent_until ? silent : h->silent_from;
    }
}

void sim_changes_cut(sim_case *c, uint64_t tick)
{
    while (c->num_changes > 0 && c->changes[c->num_changes - 1].tick >= tick)
        c->num_changes--;
    while (c->num_wakes > 0 && c->wakes[c->num_wakes - 1].tick >= tick)
        c->num_wakes--;
    for (uint32_t t = 0; t < c->f->num_terminals; t++)
        if (c->habits[t].silent_until >= tick)
            c->habits[t].silent_until = SV_NEVER;
    c->snap = false;
}

/* ---- what holds ---- */

/* The tables of which a node has this part. */
static const sv_routes *tables_at(const sim_case *c, uint32_t node, uint32_t part, uint64_t now)
{
    const sv_routes *r = c->r;
    for (uint32_t i = 0; i < c->num_changes; i++)
        if (c->changes[i].tick <= now && c->changes[i].node == node && c->changes[i].block == part)
            r = c->tables[c->changes[i].with];
    return r;
}

sv_trace_end sim_way_at(const sim_case *c, uint32_t destination, unsigned sl, sv_node s,
                        unsigned in, uint64_t now, unsigned *out, uint8_t *vl)
{
    const sv_routes *entries = tables_at(c, s.i, block_of(c->r, destination), now);
    const sv_routes *vls = tables_at(c, s.i, SIM_VLS, now);
    *out = sv_route_port(entries, s, destination);
    if (*out == SV_NO_PORT)
        return SV_TRACE_NO_ENTRY;
    if (*out == 0)
        return SV_TRACE_ASTRAY;
    sv_channel way = sv_channel_at(c->f, s, *out);
    if (way.i == SV_NONE)
        return SV_TRACE_DEAD_PORT;
    sv_node to = c->f->head[way.i];
    if (!sv_is_switch(c->f, to) && to.i != c->r->node[destination].i)
        return SV_TRACE_ASTRAY;
    *vl = sv_route_sl2vl(vls, c->f, s, in, *out)->of_sl[sl];
    return *vl == SV_NO_VL ? SV_TRACE_DISCARDED : SV_TRACE_ARRIVED;
}

uint8_t sim_vl_at(const sim_case *c, uint32_t terminal, unsigned sl, uint64_t now)
{
    sv_node v = {c->f->num_switches + terminal};
    return sv_route_sl2vl(tables_at(c, v.i, SIM_VLS, now), c->f, v, 0, 1)->of_sl[sl];
}

bool sim_open_at(const sim_case *c, uint32_t terminal, uint64_t now, uint32_t *destination,
                 uint8_t *sl)
{
    const sim_habit *h = &c->habits[terminal];
    sv_node from = {c->f->num_switches + terminal};
    if (now >= h->silent_from && now < h->silent_until)
        return false;
    if (now >= h->address_from && c->r->lmc > 0) {
        uint32_t first = c->r->first[c->r->node[*destination].i];
        *destination = first + ((*destination - first) ^ 1);
    }
    *sl = (uint8_t)(now >= h->sl_from ? h->sl : sv_route_sl(c->r, from, *destination));
    return true;
}
