/*
 * room.c: a tree for an SL on whatever VLs have room for one.
 *
 * An SL is a name: if all packets of two SLs exchange theirs, and all VL tables what they do with
 * them, everything is as it was. So a tree that fits the VLs of one SL becomes a tree for
 * another. Engines that fill VLs one after the other leave more room in the last than in the
 * first, which is the one that OpenSM's groups would use. Or the SL gets a VL of its own, if
 * there is one that nobody uses.
 *
 * Invariant: tables change only when nothing can fail any more.
 * Cost: one walk over all rows, a search for a tree for each SL that is tried, and the SLs of all
 * pairs where names are exchanged.
 */
#include "multicast/multicast.h"

#include <string.h>

/* One bit for each SL that some path or group has. */
static uint64_t sls_in_use(const sv_routes *r)
{
    uint64_t used = r->sl_form == SV_SL_CONSTANT ? (uint64_t)1 << r->sl : 0;
    size_t rows = sv__routes_sl_rows(r), length = sv__routes_sl_row_length(r);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < length; k++)
            if (r->sls[i][k] < SV_MAX_SLS)
                used |= (uint64_t)1 << r->sls[i][k];
    for (uint32_t g = 0; g < r->num_groups; g++)
        if (r->groups[g].sl < SV_MAX_SLS)
            used |= (uint64_t)1 << r->groups[g].sl;
    return used;
}

static uint8_t renamed(uint8_t sl, unsigned a, unsigned b)
{
    return (uint8_t)(sl == a ? b : sl == b ? a : sl);
}

/* All rows of SLs become the tables' own, so that what follows cannot fail. */
static sv_status own_rows(sv_ctx *ctx, sv_routes *r)
{
    size_t rows = sv__routes_sl_rows(r);
    for (size_t i = 0; i < rows; i++)
        if (sv_routes_sl_row(ctx, r, (uint32_t)i) == NULL)
            return SV_NO_MEMORY;
    return SV_OK;
}

static void rename_paths(sv_routes *r, unsigned a, unsigned b)
{
    size_t rows = sv__routes_sl_rows(r), length = sv__routes_sl_row_length(r);
    r->sl = renamed(r->sl, a, b);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < length; k++)
            r->sls[i][k] = renamed(r->sls[i][k], a, b);
    for (uint32_t g = 0; g < r->num_groups; g++)
        r->groups[g].sl = renamed(r->groups[g].sl, a, b);
}

/* Gives sl the VLs of another. */
static sv_status exchange(sv_ctx *ctx, sv_routes *r, unsigned sl, unsigned other, bool used)
{
    if (used)
        SV_TRY(own_rows(ctx, r));
    for (uint32_t t = 0; t < r->num_vl_tables; t++) {
        uint8_t *of_sl = r->vl_tables[t].of_sl, vl = of_sl[sl];
        of_sl[sl] = of_sl[other];
        of_sl[other] = used ? vl : of_sl[other];
    }
    if (used)
        rename_paths(r, sl, other);
    return SV_OK;
}

static bool has_tree(const sv__mcast *m, unsigned sl)
{
    for (size_t i = 0; i < m->num_others; i++)
        if (m->others[i]->sl == sl)
            return true;
    return false;
}

/* The SLs to try, of each that all VL tables treat alike one, one in use if there is; last first.
 */
static unsigned list_others(const sv__mcast *m, unsigned sl, uint64_t used, uint8_t *list)
{
    bool uses = used >> sl & 1;
    const uint8_t *class_of = m->deps.class_of;
    unsigned count = 0, num_sls = m->routes->num_sls;
    for (unsigned first = num_sls; first-- > 0;) {
        unsigned chosen = first;
        if (class_of[first] != first || first == class_of[sl])
            continue;
        for (unsigned s = num_sls; s-- > 0;)
            if (class_of[s] == first && used >> s & 1)
                chosen = s;
        if (!uses || !has_tree(m, chosen)) /* that one's SL stays as it is */
            list[count++] = (uint8_t)chosen;
    }
    return count;
}

/* A tree on the VLs of an SL of the list. */
static sv_status look_around(const sv__mcast *m, const uint8_t *list, unsigned count,
                             unsigned searches, sv_mtree **tree, unsigned *other)
{
    sv_status status = SV_INFEASIBLE;
    for (unsigned i = 0; i < count && status == SV_INFEASIBLE; i++) {
        *other = list[i];
        status = sv__mtree_try(m, list[i], searches, tree);
    }
    return status;
}

/* Whether an SL may get other VLs: paths are known to have it or not, and no tree has it. */
static bool may_change(const sv__mcast *m, unsigned sl)
{
    return m->routes->sl_form != SV_SL_UNKNOWN && !has_tree(m, sl);
}

/* A tree for sl, which gets the VLs of another SL if need be. */
static sv_status make_room(sv__mcast *m, sv_routes *r, unsigned sl, sv_mtree **tree,
                           unsigned *other)
{
    uint8_t list[SV_MAX_SLS] = {(uint8_t)sl};
    uint64_t used = sls_in_use(r);
    bool uses = used >> sl & 1;
    unsigned count = 1 + (may_change(m, sl) ? list_others(m, sl, used, list + 1) : 0), chosen = sl;
    sv_mtree *made = NULL;
    sv_status status = SV_INFEASIBLE;
    m->by_orders = r->orders != NULL; /* such a tree outlasts repairs */
    if (m->by_orders)
        status = look_around(m, list, count, 0, &made, &chosen);
    m->by_orders = false;
    if (status == SV_INFEASIBLE)
        status = look_around(m, list, count, 0, &made, &chosen);
    if (status == SV_INFEASIBLE)
        status = look_around(m, list, count, count, &made, &chosen);
    if (status == SV_INFEASIBLE && count > 1)
        return sv_fail(m->ctx, SV_INFEASIBLE,
                       "no tree for multicast packets was found that cannot deadlock, neither on "
                       "the VLs of SL %u nor on those of another",
                       sl);
    if (status == SV_OK && chosen != sl)
        status = exchange(m->ctx, r, sl, chosen, uses);
    if (status != SV_OK) {
        sv_mtree_free(made);
        return status;
    }
    made->sl = (uint8_t)sl;
    *tree = made;
    *other = chosen;
    return SV_OK;
}

sv_status sv_mtree_make_room(sv_ctx *ctx, const sv_fabric *fabric, sv_routes *routes,
                             sv_traffic traffic, unsigned sl, const sv_mtree *const *others,
                             size_t num_others, sv_mtree **tree, unsigned *other)
{
    sv_arena arena;
    sv__mcast m;
    sv_arena_init(&arena, ctx);
    sv_status status = sv__mcast_init(&m, &arena, fabric, routes, traffic, sl, others, num_others);
    if (status == SV_OK)
        status = make_room(&m, routes, sl, tree, other);
    sv_arena_release(&arena);
    return status;
}

/* ---- a VL of its own ---- */

/* Whether the VL and a name for the paths of sl are there to be had. */
static sv_status find_name(sv_ctx *ctx, const sv_routes *r, unsigned sl, unsigned vl,
                           unsigned *name)
{
    uint64_t used = sls_in_use(r);
    if (sl >= r->num_sls || vl >= SV_MAX_VLS)
        return sv_fail(ctx, SV_BAD_INPUT, "SLs are 0 to %u, VLs 0 to %d", r->num_sls - 1u,
                       SV_MAX_VLS - 1);
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned s = 0; s < r->num_sls; s++)
            if (r->vl_tables[t].of_sl[s] == vl)
                return sv_fail(ctx, SV_INFEASIBLE, "VL %u is in use", vl);
    if (r->sl_form == SV_SL_UNKNOWN)
        return sv_fail(ctx, SV_INFEASIBLE, "it is not known which SLs paths have");
    *name = sl;
    for (unsigned s = 0; used >> sl & 1 && *name == sl; s++) {
        if (s == r->num_sls)
            return sv_fail(ctx, SV_INFEASIBLE, "paths have all %u SLs", r->num_sls);
        *name = used >> s & 1 ? sl : s;
    }
    return SV_OK;
}

sv_status sv_mtree_own_vl(sv_ctx *ctx, const sv_fabric *fabric, sv_routes *routes,
                          sv_traffic traffic, unsigned sl, unsigned vl,
                          const sv_mtree *const *others, size_t num_others, sv_mtree **tree,
                          unsigned *other)
{
    unsigned name = sl;
    size_t tables = routes->num_vl_tables;
    SV_TRY(find_name(ctx, routes, sl, vl, &name));
    for (size_t i = 0; i < num_others; i++)
        if (others[i]->sl == sl || others[i]->sl == name)
            return sv_fail(ctx, SV_INFEASIBLE, "SL %u has a tree already", others[i]->sl);
    SV_TRY(own_rows(ctx, routes));
    sv_sl2vl *before = sv_alloc(ctx, tables, sizeof *before);
    if (before == NULL)
        return SV_NO_MEMORY;
    memcpy(before, routes->vl_tables, tables * sizeof *before);
    for (size_t t = 0; t < tables; t++) {
        routes->vl_tables[t].of_sl[name] = before[t].of_sl[sl];
        routes->vl_tables[t].of_sl[sl] = (uint8_t)vl;
    }
    rename_paths(routes, sl, name);
    sv_status status = sv_mtree_new(ctx, fabric, routes, traffic, sl, others, num_others, tree);
    if (status == SV_OK)
        *other = name;
    else { /* as if nothing had been */
        memcpy(routes->vl_tables, before, tables * sizeof *before);
        rename_paths(routes, sl, name);
    }
    sv_release(ctx, before);
    return status;
}
