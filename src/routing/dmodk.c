/*
 * dmodk.c: engine dmodk: fat trees by a closed form (E. Zahavi, Fat-trees routing and node ordering
 * providing contention free traffic for MPI global collectives, 2011), failures included (as J.
 * Gliksberg et al., High-quality fault-resiliency in fat-tree networks, 2019, do it: the closed
 * form over what is left).
 *
 * A host's number in tree order, taken apart into digits, says which cable up packets for it take
 * on each level (dmodk_slots.c); down there is nothing to choose. When all hosts send to the host
 * so many places further, no channel of a full tree carries two flows: hosts of a subtree have
 * consecutive numbers, and so have those they send to.
 *
 * Failures are met where they matter (dmodk_home.c): a home that all roots can send down to needs
 * nothing but its row. All else, switches as ends and trees that fell apart into what no way up and
 * down joins, goes over the foot (foot.c). Trees so odd that this could deadlock, or in which hosts
 * on both sides of cables within a level have no other way, are routed up and down the foot's order
 * as updn does it: a closed form has nothing to say there.
 *
 * Deadlock-free with one VL: no packet passes a valley of the foot's order.
 *
 * Cost: a byte for each entry of the tables, and what dmodk_home.c says for each switch.
 */
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "routing/dmodk.h"
#include "routing/orient.h"
#include "routing/treeorder.h"

/* The level with most hosts. */
static sv_status find_base(sv__dmodk *k)
{
    uint32_t n = k->core.num_switches;
    uint64_t *hosts = SV_ARENA_NEW(k->job->arena, uint64_t, k->levels);
    k->level_of = SV_ARENA_NEW(k->job->arena, uint32_t, n);
    k->cellar = SV_ARENA_NEW(k->job->arena, uint32_t, n);
    if (hosts == NULL || k->level_of == NULL || k->cellar == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        k->level_of[s] = k->tree.level[s] == SV_NONE ? 0 : k->tree.level[s];
        hosts[k->level_of[s]] += k->core.terminals[s];
    }
    for (uint32_t l = 1; l < k->levels; l++)
        if (hosts[l] > hosts[k->base])
            k->base = l;
    return SV_OK;
}

/* What homes need to know of all switches. */
static sv_status look_around(sv__dmodk *k)
{
    sv_arena *arena = k->job->arena;
    uint32_t n = k->core.num_switches, parts = k->foot.parts;
    k->roots = SV_ARENA_NEW(arena, uint32_t, n);
    k->root_first = SV_ARENA_NEW(arena, uint32_t, (size_t)parts + 2);
    k->up_at = SV_ARENA_NEW(arena, uint32_t, k->core.num_entries);
    k->to_foot = SV_ARENA_NEW(arena, uint8_t, n);
    if (k->roots == NULL || k->root_first == NULL || k->up_at == NULL || k->to_foot == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t part = k->foot.part[s], way = k->foot.way[s];
        k->to_foot[s] = way == SV_NONE ? SV_NO_PORT : k->core.port[way];
        for (uint32_t u = k->up_first[s]; u < k->up_first[s + 1]; u++)
            k->up_at[k->ups[u]] = u;
        bool root = k->up_first[s] == k->up_first[s + 1];
        if (part != SV_NONE && root)
            k->root_first[part + 2]++;
        if (part != SV_NONE && !root && k->level_of[s] < k->base)
            k->cellar[k->num_cellar++] = s;
    }
    for (uint32_t p = 2; p <= parts; p++)
        k->root_first[p + 1] += k->root_first[p];
    for (uint32_t s = 0; s < n; s++)
        if (k->foot.part[s] != SV_NONE && k->up_first[s] == k->up_first[s + 1])
            k->roots[k->root_first[k->foot.part[s] + 1]++] = s;
    return SV_OK;
}

/* Whether some switches with terminals, on levels up to one, have no way by levels to the home. */
static bool is_apart(const sv__dmodk_home *h, uint32_t highest)
{
    const sv__dmodk *k = h->k;
    for (uint32_t i = 0; i < h->num_stuck; i++)
        if (k->core.terminals[h->stuck[i]] > 0 && k->level_of[h->stuck[i]] <= highest)
            return true;
    for (uint32_t i = 0; h->few && i < k->tree.num_leaves; i++) {
        uint32_t s = k->tree.leaves[i];
        if (k->foot.part[s] == h->part && sv__dmodk_kind(h, s) == SV__FAR &&
            k->level_of[s] <= highest)
            return true;
    }
    return false;
}

/* Whether cables within a level are the only way between some hosts; roots with hosts are apart. */
static bool needs_sideways(const sv__dmodk *k)
{
    for (uint32_t i = 0; k->tree.sideways > 0 && i < k->tree.num_leaves; i++) {
        if (k->level_of[k->tree.leaves[i]] > k->base)
            continue;
        sv__dmodk_home_look(&k->homes[0], k->tree.leaves[i]);
        if (is_apart(&k->homes[0], k->base))
            return true;
    }
    return false;
}

/* The rows of a home: of the switch itself and its terminals. */
static sv_status route_home(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    const sv__dmodk *k = arg;
    const sv_fabric *f = k->job->fabric;
    const sv_routes *r = k->job->routes;
    sv__dmodk_home *h = &k->homes[worker];
    sv_node home = {(uint32_t)piece};
    (void)ctx;
    if (!sv_node_alive(f, home))
        return SV_OK;
    sv__dmodk_home_look(h, home.i);
    if (k->core.terminals[home.i] > 0 && is_apart(h, k->levels))
        h->fallbacks += k->core.terminals[home.i] << r->lmc;
    sv__dmodk_row(h, k->ordinal[home.i], r->ports[r->first[home.i]]);
    r->ports[r->first[home.i]][home.i] = 0;
    SV_FOR_HOPS (f, home, hop) {
        if (sv_is_switch(f, hop->to))
            continue;
        for (uint32_t d = r->first[hop->to.i]; d < r->first[hop->to.i + 1]; d++) {
            uint64_t index = k->index[hop->to.i - f->num_switches] + (d - r->first[hop->to.i]);
            sv__dmodk_row(h, index, r->ports[d]);
            r->ports[d][home.i] = (uint8_t)f->port[hop->channel.i];
        }
    }
    return SV_OK;
}

static sv_status make_rows(sv__dmodk *k)
{
    sv__routing_job *job = k->job;
    SV_TRY(sv__routes_raw_rows(job->ctx, job->fabric, job->routes));
    SV_TRY(sv_parallel(job->ctx, "routing", k->core.num_switches, route_home, k));
    for (unsigned i = 0; i < k->threads; i++)
        job->report->fallbacks += k->homes[i].fallbacks;
    return SV_OK;
}

/* Scratch for each thread. */
static sv_status make_homes(sv__dmodk *k)
{
    k->threads = sv_ctx_threads(k->job->ctx, k->core.num_switches);
    k->homes = SV_ARENA_NEW(k->job->arena, sv__dmodk_home, k->threads);
    if (k->homes == NULL)
        return SV_NO_MEMORY;
    for (unsigned i = 0; i < k->threads; i++)
        SV_TRY(sv__dmodk_home_init(&k->homes[i], k, k->job->arena));
    return SV_OK;
}

/* What no closed form fits. */
static sv_status route_odd(sv__dmodk *k, bool sideways)
{
    const sv_fabric *f = k->job->fabric;
    char *note = k->job->report->note;
    if (sideways)
        snprintf(note, sizeof k->job->report->note,
                 "hosts joined by cables within a level ('%s' and '%s'): up and down one order",
                 sv_node_name(f, (sv_node){k->tree.odd_a}),
                 sv_node_name(f, (sv_node){k->tree.odd_b}));
    else
        snprintf(note, sizeof k->job->report->note,
                 "an odd tree around '%s': up and down one order",
                 sv_node_name(f, (sv_node){k->foot.odd}));
    k->job->report->fallbacks = k->job->routes->num_destinations;
    return sv__updn_along(k->job, k->foot.place);
}

static sv_status route(sv__routing_job *job)
{
    sv__dmodk k = {.job = job};
    SV_TRY(sv_core_init(&k.core, job->arena, job->fabric));
    SV_TRY(sv_fat_tree_find(&k.tree, job->arena, job->fabric, &k.core, job->request->roots,
                            job->request->num_roots));
    SV_TRY(sv_fat_tree_fits(job->ctx, &k.tree, job->fabric, "dmodk"));
    k.levels = k.tree.levels;
    SV_TRY(find_base(&k));
    SV_TRY(sv__foot_find(&k.foot, job, &k.core, k.level_of));
    SV_TRY(sv__dmodk_slots(&k));
    SV_TRY(sv__dmodk_indices(&k));
    SV_TRY(look_around(&k));
    sv__tree_tell(k.job, &k.tree);
    SV_TRY(make_homes(&k));
    bool sideways = needs_sideways(&k);
    return sideways || k.foot.odd != SV_NONE ? route_odd(&k, sideways) : make_rows(&k);
}

const sv__engine sv__engine_dmodk = {
    {"dmodk", "fat trees by a closed form: no two flows meet in shifts; failures are worked around",
     "Zahavi 2011", SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_ROOTS | SV_ENGINE_HOSTS, NULL},
    route};
