/*
 * weave_turns.c: VLs by turn: a switch may choose the VL of a packet by the port it comes in at
 * and the port it leaves by (and by its SL), but not by the VL it came on.
 *
 * VLs stand in pairs, one SL each. In a pair, each turn has a label: the VL that packets go to.
 * They set out on the first VL. A virtual channel is a channel with a VL; what a packet on VL
 * l of channel a may do is turn to b if (a, l) waiting for (b, label of the turn) closes no cycle
 * among virtual channels. So masks mean: from these VLs of the channel that a switch takes,
 * packets get through. Its own need the first VL of a pair, those of a neighbour behind it the
 * label of the turn that they come by. Trees are laid, mended and spread as ever; here is what a
 * turn means.
 *
 * It helps because a circle of turns is made of pieces of paths: if packets that come from afar are
 * on another VL than those that have just set out, most pieces do not meet. With one SL and two
 * VLs that is as good as eight VLs on random fabrics and dragonflies, and lies between one and
 * two straight VLs on tori with long rings (docs/decisions/0014). More than two VLs in a group
 * have been tried and add nothing.
 *
 * Invariant: all dependencies that masks and labels allow agree with one order of virtual channels
 * a pair; a label, once settled, stays.
 * Cost: as weave with one VL a pair, on a graph with every channel twice.
 */
#include <string.h>

#include "routing/weave.h"

/* A virtual channel: cable j of a switch becomes its cables 2 j and 2 j + 1. */
static uint32_t virtual(uint32_t entry, unsigned vl)
{
    return entry * SV__PAIR + vl % SV__PAIR;
}

sv_status sv__turns_init(sv__weave *w)
{
    sv__turns *x = SV_ARENA_NEW(w->job->arena, sv__turns, 1);
    if ((w->turns = x) == NULL)
        return SV_NO_MEMORY;
    x->label = SV_ARENA_NEW(w->job->arena, sv_vl_mask, w->cdg.num_turns);
    x->start = SV_ARENA_NEW(w->job->arena, uint32_t, (size_t)w->core.num_entries * SV__PAIR);
    if (x->label == NULL || x->start == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < w->core.num_switches; s++)
        w->want[s] = SV__FIRST_VLS;
    SV_TRY(sv_core_widen(&w->core, w->job->arena, SV__PAIR, &x->core));
    return sv_cdg_init(&x->cdg, w->job->arena, &x->core);
}

sv_status sv__turns_clear(sv__weave *w, unsigned pairs, const uint32_t *start)
{
    sv__turns *x = w->turns;
    for (uint32_t e = 0; e < w->core.num_entries; e++)
        for (unsigned l = 0; l < SV__PAIR; l++)
            x->start[virtual(e, l)] = l * (2 * w->core.num_switches + 4) + start[e];
    memset(x->label, 0, w->cdg.num_turns * sizeof *x->label);
    sv_cdg_clear(&x->cdg);
    for (unsigned i = 0; i < pairs; i++)
        SV_TRY(sv_cdg_add_vl(&x->cdg, x->start));
    return SV_OK;
}

/* The label of a turn in the pair of a VL; 0: open. */
static sv_vl_mask label_in(const sv__weave *w, size_t turn, unsigned vl)
{
    return w->turns->label[turn] & (sv_vl_mask)3 << (vl & ~1u);
}

static unsigned vl_of(sv_vl_mask label)
{
    return (unsigned)__builtin_ctzll(label);
}

/* A bit for each way that a turn can be made in a pair: what closes a cycle once always will. */
static sv_vl_mask closed_bit(unsigned from, unsigned to)
{
    unsigned bit = from / SV__PAIR * 4 + from % SV__PAIR * 2 + to % SV__PAIR;
    return bit < SV_CDG_MAX_VLS ? (sv_vl_mask)1 << bit : 0;
}

/*
 * One step of a path: (in, from) waits for (out, label of the turn). False: that closes a cycle;
 * alone: of steps that stay.
 */
static bool add_step(sv__weave *w, unsigned vl, unsigned from, uint32_t in, uint32_t out,
                     bool alone)
{
    size_t turn = sv_cdg_turn(&w->cdg, in, out);
    sv_vl_mask label = label_in(w, turn, vl);
    unsigned to = label == 0 ? vl : vl_of(label);
    if (w->closed[turn] & closed_bit(from, to))
        return false;
    if (!sv_cdg_add(&w->turns->cdg, vl / SV__PAIR, virtual(in, from), virtual(out, to))) {
        w->closed[turn] |= alone ? closed_bit(from, to) : 0;
        return false;
    }
    w->turns->label[turn] |= (sv_vl_mask)1 << to;
    w->cdg.vls[turn] |= (sv_vl_mask)1 << from;
    return true;
}

/* Takes a step back; settled: its label was settled before. */
static void remove_step(sv__weave *w, unsigned from, uint32_t in, uint32_t out, bool settled)
{
    size_t turn = sv_cdg_turn(&w->cdg, in, out);
    sv_vl_mask label = label_in(w, turn, from);
    sv_cdg_remove(&w->turns->cdg, from / SV__PAIR, virtual(in, from), virtual(out, vl_of(label)));
    w->turns->label[turn] ^= settled ? 0 : label;
    w->cdg.vls[turn] &= ~((sv_vl_mask)1 << from);
}

bool sv__turns_join(sv__weave *w, unsigned vl, uint32_t in, uint32_t out)
{
    return add_step(w, vl, vl & ~1u, in, out, true);
}

/*
 * The steps that a path lacks, into added (the channel) and spare (its VL, and whether the label
 * is settled); SV_NONE if one of them is known to close a cycle. From where a VL is open on, all
 * is there.
 */
static uint32_t list_steps(sv__weave *w, unsigned vl, uint32_t first)
{
    const uint32_t *to = w->core.to, *way = w->tree.out;
    uint32_t in = first, count = 0;
    unsigned from = vl & ~1u;
    while (way[to[in]] != SV_NONE &&
           (in == first || !(w->tree.open[w->core.entries[in].from] >> from & 1))) {
        size_t turn = sv_cdg_turn(&w->cdg, in, way[to[in]]);
        sv_vl_mask label = label_in(w, turn, vl);
        unsigned next = label == 0 ? vl : vl_of(label);
        if (w->closed[turn] & closed_bit(from, next))
            return SV_NONE;
        if (!(w->cdg.vls[turn] >> from & 1)) {
            w->spare[count] = from << 1 | (label != 0);
            w->added[count++] = in;
        }
        from = next;
        in = way[to[in]];
    }
    return count;
}

bool sv__turns_open(sv__weave *w, unsigned vl, uint32_t first)
{
    const uint32_t *to = w->core.to, *way = w->tree.out;
    uint32_t count = list_steps(w, vl, first);
    for (uint32_t i = count; count != SV_NONE && i-- > 0;) {
        uint32_t in = w->added[i];
        if (add_step(w, vl, w->spare[i] >> 1, in, way[to[in]], i + 1 == count))
            continue;
        while (++i < count)
            remove_step(w, w->spare[i] >> 1, w->added[i], way[to[w->added[i]]], w->spare[i] & 1);
        return false;
    }
    return count != SV_NONE;
}

sv_status sv__turns_add_pair(sv__weave *w, const uint32_t *homes)
{
    sv__wtree *t = &w->tree;
    unsigned vl = sv__weave_num_vls(w);
    SV_TRY(sv_cdg_add_vl(&w->turns->cdg, w->turns->start));
    for (uint32_t h = 0; h < w->core.num_switches; h++) {
        if (!sv_node_alive(w->job->fabric, (sv_node){homes[h]}))
            continue;
        if (h % 64 == 0)
            SV_TRY(sv_progress(w->job->ctx, "vls", h, w->core.num_switches));
        sv__wtree_use_laid(w, homes[h]);
        for (uint32_t i = 1; i < t->count; i++) {
            uint32_t s = t->order[i];
            t->open[s] = sv__weave_vls(w, t->out[s]);
            if (!(t->open[s] >> vl & 1) &&
                (sv__turns_open(w, vl, t->out[s]) || sv__turns_open(w, vl + 1, t->out[s])))
                t->open[s] = sv__weave_vls(w, t->out[s]);
        }
    }
    return SV_OK;
}

/* An open label: the earlier of the VLs that packets which have just set out may go to. */
static void settle_label(sv__weave *w, unsigned pair, uint32_t in, uint32_t out)
{
    const uint32_t *place = w->turns->cdg.vl[pair].place;
    size_t turn = sv_cdg_turn(&w->cdg, in, out);
    unsigned best = place[virtual(out, 1)] < place[virtual(out, 0)];
    if (label_in(w, turn, pair * SV__PAIR) != 0)
        return;
    if (place[virtual(in, 0)] > place[virtual(out, best)])
        best = 1 - best;
    if (place[virtual(in, 0)] < place[virtual(out, best)])
        w->turns->label[turn] |= (sv_vl_mask)1 << (pair * SV__PAIR + best);
}

static void enrich_pair(sv__weave *w, unsigned pair)
{
    const sv_core *core = &w->core;
    const uint32_t *place = w->turns->cdg.vl[pair].place;
    for (uint32_t in = 0; in < core->num_entries; in++)
        for (uint32_t k = core->first[core->to[in]]; k < core->first[core->to[in] + 1]; k++) {
            uint32_t out = core->back[k];
            size_t turn = sv_cdg_turn(&w->cdg, in, out);
            if (k == in)
                continue;
            settle_label(w, pair, in, out);
            sv_vl_mask label = label_in(w, turn, pair * SV__PAIR);
            for (unsigned l = 0; label != 0 && l < SV__PAIR; l++)
                if (place[virtual(in, l)] < place[virtual(out, vl_of(label))])
                    w->cdg.vls[turn] |= (sv_vl_mask)1 << (pair * SV__PAIR + l);
        }
}

void sv__turns_enrich(sv__weave *w)
{
    for (unsigned pair = 0; pair < w->turns->cdg.num_vls; pair++)
        enrich_pair(w, pair);
}

/* ---- tables ---- */

/* The table of a turn: SL n goes to a VL of pair n. Higher SLs do as the first: all are safe. */
static sv_status table_of(sv__weave *w, sv_vl_mask label, uint32_t *table)
{
    sv_routes *r = w->job->routes;
    unsigned pairs = w->turns->cdg.num_vls;
    sv_sl2vl vls = {{0}};
    for (unsigned sl = 0; sl < r->num_sls; sl++) {
        unsigned pair = sl < pairs ? sl : 0;
        vls.of_sl[sl] = (uint8_t)(pair * SV__PAIR + (label >> (pair * SV__PAIR + 1) & 1));
    }
    *table = sv_routes_sl2vl_table(w->job->ctx, r, &vls);
    return *table == SV_NONE ? SV_NO_MEMORY : SV_OK;
}

sv_status sv__turns_finish(sv__weave *w, unsigned *used)
{
    const sv_core *core = &w->core;
    sv_routes *r = w->job->routes;
    sv_vl_mask all = 0;
    uint32_t table;
    SV_TRY(table_of(w, 0, &table));
    for (uint32_t v = 0; v < r->num_switches + r->num_terminals; v++)
        r->vls_of[v] = (uint16_t)table;
    for (uint32_t in = 0; in < core->num_entries; in++)
        for (uint32_t k = core->first[core->to[in]]; k < core->first[core->to[in] + 1]; k++) {
            sv_vl_mask label = w->turns->label[sv_cdg_turn(&w->cdg, in, core->back[k])];
            all |= label;
            SV_TRY(table_of(w, label, &table));
            SV_TRY(sv_routes_set_sl2vl(w->job->ctx, w->job->fabric, r, (sv_node){core->to[in]},
                                       core->entries[core->back[in]].port,
                                       core->entries[core->back[k]].port, table));
        }
    *used = all == 0 ? 1 : SV_CDG_MAX_VLS - (unsigned)__builtin_clzll(all);
    return SV_OK;
}
