/*
 * test_nue.c: pieces of engine nue against plain second implementations: convex subgraph and
 * betweenness on the whole graph with terminals as vertices, by counting paths between all pairs;
 * dependency graphs with and without an order against a search from scratch.
 */
#include "support/testing.h"

#include "base/rng.h"
#include "routing/nue.h"

static sv_ctx *ctx;

static int make_ctx(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int free_ctx(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

/* ---- all pairs, all vertices ---- */

enum { MAX = 128 };

struct pairs {
    uint32_t n, hops[MAX][MAX];
    double paths[MAX][MAX];
};

/* Distances and numbers of shortest paths between all nodes, terminals included. */
static void count_all(struct pairs *p, const sv_fabric *f)
{
    p->n = sv_num_nodes(f);
    assert_true(p->n <= MAX);
    for (uint32_t s = 0; s < p->n; s++) {
        for (uint32_t v = 0; v < p->n; v++) {
            p->hops[s][v] = v == s ? 0 : 1000;
            p->paths[s][v] = v == s;
        }
        for (uint32_t round = 0; round < p->n; round++)
            for (uint32_t v = 0; v < p->n; v++) {
                if (p->hops[s][v] != round)
                    continue;
                SV_FOR_HOPS (f, (sv_node){v}, hop) {
                    uint32_t u = hop->to.i;
                    if (p->hops[s][u] == 1000)
                        p->hops[s][u] = round + 1;
                    if (p->hops[s][u] == round + 1)
                        p->paths[s][u] += p->paths[s][v];
                }
            }
    }
}

/* Whether a node is on a shortest path between two others, and the share of paths over it. */
static double share_of(const struct pairs *p, uint32_t a, uint32_t b, uint32_t over)
{
    if (over == a || over == b || p->hops[a][b] >= 1000 ||
        p->hops[a][over] + p->hops[over][b] != p->hops[a][b])
        return 0;
    return p->paths[a][over] * p->paths[over][b] / p->paths[a][b];
}

/* Some terminals and switches are drawn as destinations; all pieces must agree. */
static void compare(const sv_fabric *f, uint64_t seed)
{
    static struct pairs p;
    sv_arena arena;
    sv_core core;
    sv_rng rng;
    bool chosen[MAX] = {false}, inside[MAX];
    double score[MAX];
    sv__wanted wanted[MAX] = {{0, 0}};
    sv_arena_init(&arena, ctx);
    sv_rng_init(&rng, seed);
    OK(ctx, sv_core_init(&core, &arena, f));
    count_all(&p, f);
    for (uint32_t v = 0; v < p.n; v++) {
        sv_node node = {v};
        chosen[v] = sv_node_alive(f, node) && sv_rng_below(&rng, 3) == 0 &&
                    (sv_is_switch(f, node) || sv_switch_of(f, node).i != SV_NONE);
        if (chosen[v] && sv_is_switch(f, node))
            wanted[v].itself++;
        else if (chosen[v])
            wanted[sv_switch_of(f, node).i].terminals++;
    }
    OK(ctx, sv__convex(&arena, &core, wanted, inside));
    OK(ctx, sv__betweenness(&arena, &core, wanted, inside, score));
    for (uint32_t s = 0; s < f->num_switches; s++) {
        double all = 0;
        for (uint32_t a = 0; a < p.n; a++)
            for (uint32_t b = 0; b < p.n; b++)
                all += chosen[a] && chosen[b] && a != b ? share_of(&p, a, b, s) : 0;
        /* A switch whose terminals alone are wanted counts as inside, even if none sends. */
        bool home = wanted[s].terminals + wanted[s].itself > 0;
        assert_true(inside[s] == (home || all > 0));
        assert_true(score[s] < all + 1e-6 && all < score[s] + 1e-6);
    }
    sv_arena_release(&arena);
}

static void roots(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:4x4,hosts=2",        "mesh:3x4,hosts=1",
        "torus:5,hosts=3",          "kary:k=3,n=3,hosts=2",
        "torus:3x3,hosts=1,r=2",    "random:switches=14,links=20,total=25,seed=3",
        "dragonfly:a=4,p=2,h=1,g=5"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (uint64_t seed = 1; seed <= 8; seed++)
            compare(f, seed);
        sv_fabric_free(f);
    }
}

/* ---- turns ---- */

/* Whether one entry leads to another over turns of a VL, from their masks alone. */
static bool leads_to(const sv_cdg *cdg, unsigned vl, uint32_t from, uint32_t to, bool *seen)
{
    const sv_core *core = cdg->core;
    uint32_t s = core->to[from];
    if (from == to)
        return true;
    seen[from] = true;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t next = core->back[e];
        if ((cdg->vls[sv_cdg_turn(cdg, from, next)] >> vl & 1) && !seen[next] &&
            leads_to(cdg, vl, next, to, seen))
            return true;
    }
    return false;
}

/* Turns are drawn and added to both kinds of VL, some taken out again. */
static void mix_turns(const sv_fabric *f, uint64_t seed)
{
    sv_arena arena;
    sv_core core;
    sv_cdg cdg;
    sv_rng rng;
    sv_arena_init(&arena, ctx);
    sv_rng_init(&rng, seed);
    OK(ctx, sv_core_init(&core, &arena, f));
    OK(ctx, sv_cdg_init(&cdg, &arena, &core));
    OK(ctx, sv_cdg_add_vl(&cdg, NULL));
    OK(ctx, sv_cdg_add_plain_vl(&cdg));
    bool *seen = SV_ARENA_NEW(&arena, bool, core.num_entries);
    for (uint32_t i = 0; i < 6 * core.num_entries && i < 2500; i++) {
        uint32_t in = (uint32_t)sv_rng_below(&rng, core.num_entries), s = core.to[in];
        uint32_t degree = core.first[s + 1] - core.first[s];
        uint32_t out = core.back[core.first[s] + sv_rng_below(&rng, degree)];
        if (core.back[in] == out)
            continue;
        memset(seen, 0, core.num_entries);
        bool used = cdg.vls[sv_cdg_turn(&cdg, in, out)] & 1;
        bool good = used || !leads_to(&cdg, 0, out, in, seen);
        assert_true(sv_cdg_add(&cdg, 0, in, out) == good);
        assert_true(sv_cdg_add(&cdg, 1, in, out) == good);
        if (good && sv_rng_below(&rng, 5) == 0) {
            sv_cdg_remove(&cdg, 0, in, out);
            sv_cdg_remove(&cdg, 1, in, out);
        }
        assert_true(cdg.vl[0].at[cdg.vl[0].place[in]] == in);
    }
    for (uint32_t in = 0; in < core.num_entries; in++)
        for (uint32_t e = core.first[core.to[in]]; e < core.first[core.to[in] + 1]; e++) {
            sv_vl_mask vls = cdg.vls[sv_cdg_turn(&cdg, in, core.back[e])];
            assert_true(vls == 0 || vls == 3);
            assert_true(vls == 0 || cdg.vl[0].place[in] < cdg.vl[0].place[core.back[e]]);
        }
    sv_arena_release(&arena);
}

static void turns(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:4x4", "torus:5", "fullmesh:9",
                                        "fullmesh:70,radix=80",
                                        "random:switches=20,links=60,total=20,seed=5"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        for (uint64_t seed = 1; seed <= (i == 3 ? 1 : 10); seed++)
            mix_turns(f, seed);
        sv_fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roots), cmocka_unit_test(turns)};
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
