/*
 * test_cdg.c: dependency graphs that stay acyclic: every answer against a plain search, the order
 * they keep, and what is taken out again.
 */
#include "base/rng.h"
#include "cdg/cdg.h"
#include "support/testing.h"

static sv_ctx *ctx;
static sv_arena arena;

static int begin(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    sv_arena_init(&arena, ctx);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_arena_release(&arena);
    sv_ctx_free(ctx);
    return 0;
}

/* The slow way: turns as a matrix, and a search from the beginning each time. */
enum { MAX = 256 };
struct plain {
    bool turn[MAX][MAX];
    bool seen[MAX];
};

static bool reaches(struct plain *p, uint32_t count, uint32_t from, uint32_t to)
{
    if (from == to)
        return true;
    p->seen[from] = true;
    for (uint32_t e = 0; e < count; e++)
        if (p->turn[from][e] && !p->seen[e] && reaches(p, count, e, to))
            return true;
    return false;
}

static void check_invariants(const sv_cdg *cdg, const struct plain *plain, unsigned vl)
{
    const sv_core *core = cdg->core;
    bool taken[MAX] = {false};
    for (uint32_t e = 0; e < core->num_entries; e++) {
        uint32_t place = cdg->vl[vl].place[e];
        assert_true(place < core->num_entries && !taken[place]);
        taken[place] = true;
    }
    for (uint32_t in = 0; in < core->num_entries; in++) {
        uint32_t s = core->to[in];
        for (uint32_t k = core->first[s]; k < core->first[s + 1]; k++) {
            uint32_t out = core->back[k];
            bool there = cdg->vls[sv_cdg_turn(cdg, in, out)] >> vl & 1;
            assert_int_equal(there, plain->turn[in][out]);
            if (there)
                assert_true(cdg->vl[vl].place[in] < cdg->vl[vl].place[out]);
        }
    }
}

/* Another order, by keys that are drawn; of what may come first, something with the lowest does. */
static void sort(sv_cdg *cdg, const struct plain *p, unsigned vl, sv_rng *rng)
{
    uint32_t key[MAX], first[7], lowest = 7, count = cdg->core->num_entries;
    for (uint32_t e = 0; e < count; e++)
        key[e] = (uint32_t)sv_rng_below(rng, 7);
    for (uint32_t e = 0; e < count; e++) {
        bool waits = false;
        for (uint32_t in = 0; in < count; in++)
            waits = waits || p->turn[in][e];
        if (!waits && key[e] < lowest)
            lowest = key[e];
    }
    sv_cdg_sort(cdg, vl, key, 7, first);
    assert_int_equal(key[cdg->vl[vl].at[0]], lowest);
    for (uint32_t e = 0; e < count; e++)
        assert_int_equal(cdg->vl[vl].at[cdg->vl[vl].place[e]], e);
    check_invariants(cdg, p, vl);
}

/* Random turns, added and taken out, in two VLs. */
static void trial(const char *spec, uint64_t seed, bool ordered)
{
    sv_fabric *f = test_fabric(ctx, spec);
    sv_core core;
    sv_cdg cdg;
    sv_rng rng;
    static struct plain plain[2];
    memset(plain, 0, sizeof plain);
    sv_rng_init(&rng, seed);
    OK(ctx, sv_core_init(&core, &arena, f));
    assert_true(core.num_entries <= MAX);
    OK(ctx, sv_cdg_init(&cdg, &arena, &core));
    OK(ctx, sv_cdg_add_vl(&cdg, ordered ? sv_core_inside_out(&core, &arena) : NULL));
    OK(ctx, sv_cdg_add_vl(&cdg, NULL));
    uint32_t refused = 0, given_up = 0;
    for (int i = 0; i < 1500; i++) {
        unsigned vl = (unsigned)sv_rng_below(&rng, 2);
        uint32_t in = (uint32_t)sv_rng_below(&rng, core.num_entries), s = core.to[in];
        uint32_t degree = core.first[s + 1] - core.first[s];
        uint32_t out = core.back[core.first[s] + sv_rng_below(&rng, degree)];
        struct plain *p = &plain[vl];
        if (p->turn[in][out] && sv_rng_below(&rng, 4) == 0) {
            sv_cdg_remove(&cdg, vl, in, out);
            p->turn[in][out] = false;
            continue;
        }
        memset(p->seen, 0, sizeof p->seen);
        bool fits = p->turn[in][out] || !reaches(p, core.num_entries, out, in);
        if (i % 97 == 0)
            sort(&cdg, p, vl, &rng);
        if (i % 3 == 0) { /* with little patience first: what is given up changes nothing */
            cdg.patience = 1 + (uint32_t)sv_rng_below(&rng, 4);
            bool added = sv_cdg_add(&cdg, vl, in, out);
            assert_true(added ? fits : cdg.gave_up || !fits);
            given_up += cdg.gave_up;
            cdg.patience = 0;
        }
        assert_int_equal(sv_cdg_add(&cdg, vl, in, out), fits);
        p->turn[in][out] |= fits;
        refused += !fits;
        if (i % 100 == 0)
            check_invariants(&cdg, p, vl);
    }
    assert_true(refused > 0 && given_up > 0);
    check_invariants(&cdg, &plain[0], 0);
    check_invariants(&cdg, &plain[1], 1);
    sv_fabric_free(f);
}

static void answers_are_those_of_a_plain_search(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial("torus:3x3,hosts=1", seed, false);
        trial("random:switches=9,links=20,total=5", seed, true);
        trial("kary:k=2,n=3,hosts=2", seed, true);
        trial("torus:4,hosts=1,r=3", seed, false);
        trial("fullmesh:12,hosts=1", seed, false);
    }
}

static void wide_switches_have_rows_of_several_words(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=0,r=90");
    sv_core core;
    sv_cdg cdg;
    OK(ctx, sv_core_init(&core, &arena, f));
    OK(ctx, sv_cdg_init(&cdg, &arena, &core));
    OK(ctx, sv_cdg_add_vl(&cdg, NULL));
    assert_int_equal(core.num_entries, 180);
    /* To and fro along the cables: every turn fits but the last, which closes the cycle. */
    uint32_t first = core.first[0] + 5, e = first;
    for (uint32_t i = 1; i < 90; i++) {
        uint32_t out = core.back[core.first[core.to[e]] + (5 + 7 * i) % 90];
        assert_true(sv_cdg_add(&cdg, 0, e, out));
        e = out;
    }
    assert_true(core.to[e] == core.entries[first].from);
    assert_false(sv_cdg_add(&cdg, 0, e, first));
    sv_fabric_free(f);
}

static void vls_end_somewhere(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3,hosts=1");
    sv_core core;
    sv_cdg cdg;
    OK(ctx, sv_core_init(&core, &arena, f));
    OK(ctx, sv_cdg_init(&cdg, &arena, &core));
    for (int i = 0; i < SV_CDG_MAX_VLS; i++)
        OK(ctx, sv_cdg_add_vl(&cdg, NULL));
    assert_int_equal(sv_cdg_add_vl(&cdg, NULL), SV_INFEASIBLE);
    sv_fabric_free(f);
}

/* On a tree every path up and down ascends in the order from the inside out. */
static void the_order_of_trees(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=3,n=3,hosts=3");
    sv_core core;
    OK(ctx, sv_core_init(&core, &arena, f));
    const uint32_t *number = sv_core_inside_out(&core, &arena);
    sv_routes *r = NULL;
    sv_core_ports ports;
    OK(ctx, sv_core_ports_init(&ports, &arena, &core, f));
    OK(ctx, sv_route(ctx, f, "sssp", NULL, &r, NULL));
    uint32_t turns = 0;
    for (uint32_t d = f->num_switches; d < r->num_destinations; d++)
        for (uint32_t s = 0; s < f->num_switches; s++) {
            uint32_t in = sv_core_entry(&ports, s, r->ports[d][s]);
            uint32_t out = in == SV_NONE
                               ? SV_NONE
                               : sv_core_entry(&ports, core.to[in], r->ports[d][core.to[in]]);
            if (out == SV_NONE)
                continue;
            assert_true(number[in] < number[out]);
            turns++;
        }
    assert_true(turns > 400);
    sv_routes_free(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_those_of_a_plain_search, begin, end),
        cmocka_unit_test_setup_teardown(wide_switches_have_rows_of_several_words, begin, end),
        cmocka_unit_test_setup_teardown(vls_end_somewhere, begin, end),
        cmocka_unit_test_setup_teardown(the_order_of_trees, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
