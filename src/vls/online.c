/*
 * online.c: VLs path by path: each goes to the first VL whose dependency graph stays acyclic
 * (DFSSSP's online variant; LASH's way for pairs).
 *
 * Most paths need no search at all: their turns are in some VL already. The VLs in which all
 * turns of a path are follow from those of the path one hop nearer, so one look a path tells.
 *
 * Invariant: at every moment the paths assigned are free of deadlock.
 * Cost: O(1) for most paths; O(hops × VLs) additions to a graph for the rest.
 */
#include "vls/online.h"

sv_status sv_packer_init(sv_packer *p, sv_layering *x, unsigned max)
{
    p->x = x;
    p->max = max;
    SV_TRY(sv_cdg_init(&p->cdg, x->arena, x->core));
    p->open = SV_ARENA_NEW(x->arena, sv_vl_mask, x->core->num_switches);
    p->added = SV_ARENA_NEW(x->arena, uint32_t, x->core->num_switches);
    p->closed = SV_ARENA_NEW(x->arena, sv_vl_mask, p->cdg.num_turns);
    uint32_t *start = sv_core_inside_out(x->core, x->arena);
    if (p->open == NULL || p->added == NULL || p->closed == NULL || start == NULL)
        return SV_NO_MEMORY;
    return sv_cdg_add_vl(&p->cdg, start);
}

/*
 * Adds all turns from a switch on to a VL, or none. What a VL refuses without turns that are
 * taken back it refuses for good, and is not asked again.
 */
static bool add_path(sv_packer *p, unsigned vl, uint32_t s)
{
    const sv_core *core = p->x->core;
    const uint32_t *via = p->x->tree.via;
    sv_vl_mask bit = (sv_vl_mask)1 << vl;
    uint32_t count = 0;
    for (uint32_t in = via[s]; via[core->to[in]] != SV_NONE; in = via[core->to[in]]) {
        uint32_t out = via[core->to[in]];
        size_t turn = sv_cdg_turn(&p->cdg, in, out);
        if (p->cdg.vls[turn] & bit)
            continue;
        if (p->closed[turn] & bit || !sv_cdg_add(&p->cdg, vl, in, out)) {
            p->closed[turn] |= count == 0 ? bit : 0;
            while (count-- > 0)
                sv_cdg_remove(&p->cdg, vl, p->added[count], via[core->to[p->added[count]]]);
            return false;
        }
        p->added[count++] = in;
    }
    return true;
}

/* The VLs that have all turns of the path from a switch; of those nearer it is known. */
sv_vl_mask sv_packer_open(const sv_packer *p, uint32_t s)
{
    const uint32_t *via = p->x->tree.via;
    uint32_t in = via[s], to = p->x->core->to[in];
    if (via[to] == SV_NONE)
        return ~(sv_vl_mask)0;
    return p->open[to] & p->cdg.vls[sv_cdg_turn(&p->cdg, in, via[to])];
}

sv_status sv_packer_path(sv_packer *p, uint32_t s, unsigned *vl)
{
    unsigned count = p->cdg.num_vls;
    sv_vl_mask all = ~(sv_vl_mask)0 >> (SV_CDG_MAX_VLS - count);
    p->open[s] = sv_packer_open(p, s) & all;
    *vl = SV_NO_SL;
    if (p->open[s] != 0) {
        *vl = (unsigned)__builtin_ctzll(p->open[s]);
        return SV_OK;
    }
    for (unsigned l = 0; l < count && *vl == SV_NO_SL; l++)
        if (add_path(p, l, s))
            *vl = l;
    if (*vl == SV_NO_SL && count < p->max) {
        SV_TRY(sv_cdg_add_vl(&p->cdg, p->start));
        add_path(p, count, s); /* a path alone has no cycle */
        *vl = count;
    }
    if (*vl != SV_NO_SL)
        p->open[s] |= (sv_vl_mask)1 << *vl;
    return SV_OK;
}

/* Additions may have opened VLs to switches nearer; nothing that was open closes. */
void sv_packer_begin(sv_packer *p, uint32_t d)
{
    sv_layering_tree(p->x, d);
    if (p->x->tree.count > 0)
        p->open[p->x->tree.order[0]] = ~(sv_vl_mask)0;
}

/* Puts the paths to a destination into VLs; *fit: whether all that count have one. */
static sv_status pack(sv_packer *p, uint32_t d, uint8_t *vls, bool *fit)
{
    sv_layering *x = p->x;
    sv_packer_begin(p, d);
    *fit = true;
    for (uint32_t i = 1; i < x->tree.count && *fit; i++) {
        uint32_t s = x->tree.order[i];
        unsigned vl;
        if (!sv_layering_counts(x, s, d)) {
            p->open[s] = sv_packer_open(p, s);
            continue;
        }
        SV_TRY(sv_packer_path(p, s, &vl));
        *fit = vl != SV_NO_SL;
        if (vls != NULL)
            vls[s] = (uint8_t)vl;
    }
    return SV_OK;
}

sv_status sv_layering_probe(sv_layering *x, const uint32_t *destinations, uint32_t count)
{
    bool fit = true;
    if (x->probe == NULL) {
        if ((x->probe = SV_ARENA_NEW(x->arena, sv_packer, 1)) == NULL)
            return SV_NO_MEMORY;
        SV_TRY(sv_packer_init(x->probe, x, 1));
    }
    for (uint32_t i = 0; i < count && fit; i++)
        if (destinations[i] != SV_NONE)
            SV_TRY(pack(x->probe, destinations[i], NULL, &fit));
    return fit ? SV_OK : SV_INFEASIBLE;
}

sv_status sv__vls_online(sv_layering *x, unsigned max)
{
    sv_packer p = {0};
    const sv_routes *r = x->routes;
    bool fit = true;
    SV_TRY(sv_packer_init(&p, x, max));
    for (uint32_t d = 0; d < r->num_destinations && fit; d++) {
        uint8_t *vls = sv_routes_sl_row(x->ctx, x->routes, d);
        if (d % 64 == 0)
            SV_TRY(sv_progress(x->ctx, "vls", d, r->num_destinations));
        if (vls == NULL)
            return SV_NO_MEMORY;
        SV_TRY(pack(&p, d, vls, &fit));
    }
    x->vls = p.cdg.num_vls;
    return fit ? SV_OK : SV_INFEASIBLE;
}
