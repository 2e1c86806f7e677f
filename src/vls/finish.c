/*
 * finish.c: after VLs are assigned: the rest of the paths, idle VLs, VL tables.
 *
 * Paths between two switches without terminals hardly carry packets and must not cost VLs that
 * others could use. They go to the first VL that takes them, after all others; a further VL is
 * opened for them only while there are idle ones.
 *
 * Idle VLs: any part of an acyclic set of paths is acyclic, so VLs that were not needed take
 * paths over from those that were (thesis Alg. 3.6, line 16). Each goes to the VL that has the
 * most for every VL sharing it; the paths of a VL are dealt out in turn to those who share.
 *
 * Cost: O(switches × destinations).
 */
#include "base/threads.h"
#include "vls/online.h"

/* Adds all paths that have a VL to its dependency graph; they are acyclic. */
static sv_status rebuild(sv_packer *p)
{
    sv_layering *x = p->x;
    const sv_routes *r = x->routes;
    while (p->cdg.num_vls < x->vls)
        SV_TRY(sv_cdg_add_vl(&p->cdg, NULL));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        if (d % 64 == 0)
            SV_TRY(sv_progress(x->ctx, "vls", d, r->num_destinations));
        sv_layering_tree(x, d);
        for (uint32_t i = 0; i < x->tree.count; i++) {
            unsigned vl = r->sls[d][x->tree.order[i]];
            p->open[x->tree.order[i]] = vl == SV_NO_SL ? 0 : (sv_vl_mask)1 << vl;
        }
        for (uint32_t i = x->tree.count; i-- > 1;) {
            uint32_t s = x->tree.order[i], in = x->tree.via[s], to = x->core->to[in];
            p->open[to] |= p->open[s];
            if (x->tree.via[to] == SV_NONE)
                continue;
            uint32_t out = x->tree.via[to];
            sv_vl_mask new = p->open[s] & ~p->cdg.vls[sv_cdg_turn(&p->cdg, in, out)];
            for (; new != 0; new &= new - 1)
                if (!sv_cdg_add(&p->cdg, (unsigned)__builtin_ctzll(new), in, out))
                    return sv_fail(x->ctx, SV_INFEASIBLE, "VLs were assigned with a cycle");
        }
    }
    return SV_OK;
}

/* Whether a row has SLs for all but, perhaps, the home: then nothing is left. */
static bool is_done(const sv_layering *x, uint32_t d)
{
    const uint8_t *sls = x->routes->sls[d];
    sv_node to = x->routes->node[d];
    uint32_t home = sv_is_switch(x->fabric, to) ? to.i : sv_switch_of(x->fabric, to).i, missing = 0;
    for (uint32_t s = 0; s < x->routes->num_switches; s++)
        missing += sls[s] == SV_NO_SL;
    return missing == 0 || (missing == 1 && home != SV_NONE && sls[home] == SV_NO_SL);
}

static bool is_left(const sv_layering *x, uint32_t s, uint32_t d)
{
    return x->routes->sls[d][s] == SV_NO_SL && x->tree.via[s] != SV_NONE;
}

/* Paths that have no VL get one, if any takes them. */
static sv_status place_rest(sv_layering *x, unsigned vls, uint64_t *unsafe)
{
    sv_packer p = {0};
    bool begun = false;
    for (uint32_t d = 0; d < x->routes->num_destinations; d++) {
        bool any = false;
        if (d % 64 == 0)
            SV_TRY(sv_progress(x->ctx, "vls", d, x->routes->num_destinations));
        if (is_done(x, d))
            continue;
        sv_layering_tree(x, d);
        for (uint32_t i = 1; i < x->tree.count && !any; i++)
            any = is_left(x, x->tree.order[i], d);
        if (!any)
            continue;
        if (!begun) {
            SV_TRY(sv_packer_init(&p, x, vls));
            if ((p.start = sv_core_outside_in(x->core, x->arena)) == NULL)
                return SV_NO_MEMORY;
            SV_TRY(rebuild(&p));
            begun = true;
        }
        uint8_t *sls = sv_routes_sl_row(x->ctx, x->routes, d);
        if (sls == NULL)
            return SV_NO_MEMORY;
        sv_packer_begin(&p, d);
        for (uint32_t i = 1; i < x->tree.count; i++) {
            uint32_t s = x->tree.order[i];
            unsigned vl;
            if (!is_left(x, s, d)) {
                p.open[s] = sv_packer_open(&p, s);
                continue;
            }
            SV_TRY(sv_packer_path(&p, s, &vl));
            *unsafe += vl == SV_NO_SL;
            sls[s] = vl == SV_NO_SL ? 0 : (uint8_t)vl;
        }
    }
    if (begun)
        x->vls = p.cdg.num_vls > x->vls ? p.cdg.num_vls : x->vls;
    return SV_OK;
}

void sv_vl_shares_init(sv_vl_shares *h, const uint64_t *paths, unsigned needed, unsigned vls)
{
    for (unsigned l = 0; l < needed; l++) {
        h->count[l] = 1;
        h->member[l][0] = (uint8_t)l;
    }
    for (unsigned idle = needed; idle < vls; idle++) {
        unsigned max = 0;
        for (unsigned l = 1; l < needed; l++)
            if (paths[l] * h->count[max] > paths[max] * h->count[l])
                max = l;
        h->member[max][h->count[max]++] = (uint8_t)idle;
    }
}

/* Dealing paths out, in pieces of some destinations each. */
enum { CHUNK = 64 };

struct deal {
    const sv_layering *x;
    sv_vl_shares shares;
    uint64_t (*paths)[SV_MAX_VLS]; /* [chunks]: of terminals, by VL */
    uint64_t (*turns)[SV_MAX_VLS]; /* [chunks]: how often it is the next one's turn, by VL */
};

static sv_status count_chunk(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    struct deal *deal = arg;
    const sv_routes *r = deal->x->routes;
    const uint32_t *terminals = deal->x->core->terminals;
    (void)ctx;
    (void)worker;
    for (uint64_t d = piece * CHUNK; d < r->num_destinations && d < (piece + 1) * CHUNK; d++)
        for (uint32_t s = 0; s < r->num_switches; s++) {
            deal->paths[piece][r->sls[d][s]] += terminals[s];
            deal->turns[piece][r->sls[d][s]] += terminals[s] > 0;
        }
    return SV_OK;
}

/* turns: that of the piece's first path. */
static sv_status deal_chunk(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    struct deal *deal = arg;
    const sv_routes *r = deal->x->routes;
    const uint32_t *terminals = deal->x->core->terminals;
    unsigned next[SV_MAX_VLS];
    (void)ctx;
    (void)worker;
    for (unsigned l = 0; l < deal->x->vls; l++)
        next[l] = (unsigned)(deal->turns[piece][l] % deal->shares.count[l]);
    for (uint64_t d = piece * CHUNK; d < r->num_destinations && d < (piece + 1) * CHUNK; d++)
        for (uint32_t s = 0; s < r->num_switches; s++) {
            unsigned l = r->sls[d][s], turn = next[l];
            r->sls[d][s] = deal->shares.member[l][turn];
            turn += terminals[s] > 0;
            next[l] = turn == deal->shares.count[l] ? 0 : turn;
        }
    return SV_OK;
}

/* Deals the paths of each VL out to those who share it. */
static sv_status spread(sv_layering *x, unsigned vls)
{
    uint64_t chunks = ((uint64_t)x->routes->num_destinations + CHUNK - 1) / CHUNK;
    uint64_t paths[SV_MAX_VLS] = {0}, turns[SV_MAX_VLS] = {0};
    struct deal deal = {.x = x};
    deal.paths = sv_arena_alloc(x->arena, chunks, sizeof *deal.paths);
    deal.turns = sv_arena_alloc(x->arena, chunks, sizeof *deal.turns);
    if (deal.paths == NULL || deal.turns == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_parallel(x->ctx, "vls", chunks, count_chunk, &deal));
    for (uint64_t i = 0; i < chunks; i++)
        for (unsigned l = 0; l < SV_MAX_VLS; l++) {
            uint64_t before = turns[l];
            paths[l] += deal.paths[i][l];
            turns[l] += deal.turns[i][l];
            deal.turns[i][l] = before;
        }
    sv_vl_shares_init(&deal.shares, paths, x->vls, vls);
    return sv_parallel(x->ctx, "vls", chunks, deal_chunk, &deal);
}

sv_status sv_sl2vl_identity(sv_ctx *ctx, sv_routes *routes, unsigned vls)
{
    sv_sl2vl straight = {{0}};
    if (vls > routes->num_sls)
        routes->num_sls = (uint8_t)vls;
    for (unsigned sl = 0; sl < routes->num_sls; sl++)
        straight.of_sl[sl] = (uint8_t)(sl % vls);
    uint32_t table = sv_routes_sl2vl_table(ctx, routes, &straight);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    for (uint32_t v = 0; v < routes->num_switches + routes->num_terminals; v++)
        routes->vls_of[v] = (uint16_t)table;
    return SV_OK;
}

/* A switch sends to itself, and to its own terminals, on any VL. */
static sv_status fill(sv_layering *x)
{
    for (uint32_t d = 0; d < x->routes->num_destinations; d++) {
        uint8_t *sls = sv_routes_sl_row(x->ctx, x->routes, d);
        if (sls == NULL)
            return SV_NO_MEMORY;
        for (uint32_t s = 0; s < x->routes->num_switches; s++)
            if (sls[s] == SV_NO_SL)
                sls[s] = 0;
    }
    return SV_OK;
}

sv_status sv_layering_finish(sv_layering *x, unsigned vls, unsigned *used, uint64_t *unsafe)
{
    *unsafe = 0;
    *used = sv_vls_to_use(x->vls, vls);
    SV_TRY(place_rest(x, *used, unsafe));
    SV_TRY(fill(x));
    if (*used > x->vls)
        SV_TRY(spread(x, *used));
    return sv_sl2vl_identity(x->ctx, x->routes, *used);
}
