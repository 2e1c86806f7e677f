/*
 * test_depend.c: what unicast packets wait for, three times: by whoever grows multicast trees
 * (src/multicast), by the judge (src/verify), and by following every packet of every pair and SL
 * by itself. Maker and judge share no code, so a mistake of one does not hide in the other; here
 * they must agree on tables of all kinds: SLs by node or not given, SL2VL by ports, VLs that
 * discard, entries that loop or lead nowhere, failed parts.
 *
 * usage: oracle_test_depend [TRIALS [SEED]]
 */
#include "base/rng.h"
#include "multicast/multicast.h"
#include "support/testing.h"
#include "support/trials.h"
#include "verify/rows.h"

TEST_CONTEXT

static uint64_t trials = 400, first_seed = 1;

struct drawn {
    sv_rng rng;
    sv_fabric *whole, *f;
    sv_routes *r;
    sv_traffic traffic;
};

static uint32_t draw(struct drawn *x, uint32_t below)
{
    return (uint32_t)sv_rng_below(&x->rng, below);
}

/* ---- random tables ---- */

static void draw_fabric(struct drawn *x)
{
    static const char *const specs[] = {"torus:4x3,hosts=1",
                                        "mesh:3x3,hosts=2",
                                        "kary:k=3,n=2,hosts=2",
                                        "dragonfly:a=3,p=1,h=1,g=4",
                                        "random:switches=7,links=13,total=9",
                                        "torus:5,hosts=1",
                                        "hyperx:3x3,hosts=1"};
    x->whole = test_fabric(ctx, specs[draw(x, sizeof specs / sizeof specs[0])]);
    sv_mask *mask = sv_mask_new(ctx, x->whole);
    assert_non_null(mask);
    for (uint32_t i = draw(x, 3); i > 0; i--)
        sv_mask_cable(mask, x->whole, (sv_channel){draw(x, x->whole->num_channels)});
    if (draw(x, 4) == 0)
        sv_mask_node(mask, (sv_node){draw(x, sv_num_nodes(x->whole))});
    OK(ctx, sv_fabric_mask(ctx, x->whole, mask, &x->f));
    sv_mask_free(mask);
}

/* Tables that discard, or change VLs by the ports that packets come and go by. */
static void draw_vls(struct drawn *x)
{
    sv_routes *r = x->r;
    uint32_t tables[4];
    bool discards = draw(x, 2);
    for (int t = 0; t < 4; t++) {
        sv_sl2vl vls = {{0}};
        for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
            vls.of_sl[sl] = (uint8_t)(discards && draw(x, 12) == 0 ? SV_NO_VL : draw(x, 3));
        tables[t] = sv_routes_sl2vl_table(ctx, r, &vls);
    }
    bool by_ports = draw(x, 2);
    for (uint32_t v = 0; v < sv_num_nodes(x->f); v++) {
        r->vls_of[v] = (uint16_t)tables[draw(x, 4)];
        for (int i = 0; by_ports && v < x->f->num_switches && i < 4; i++) {
            unsigned ports = x->f->switches[v].ports + 1u;
            OK(ctx, sv_routes_set_sl2vl(ctx, x->f, r, (sv_node){v}, draw(x, ports), draw(x, ports),
                                        tables[draw(x, 4)]));
        }
    }
}

static void draw_sls(struct drawn *x)
{
    static const sv_sl_form forms[] = {SV_SL_CONSTANT, SV_SL_BY_NODE, SV_SL_BY_SWITCH,
                                       SV_SL_UNKNOWN};
    sv_routes *r = x->r;
    OK(ctx, sv_routes_set_sl_form(ctx, r, forms[draw(x, 4)]));
    size_t rows = sv__routes_sl_rows(r), length = sv__routes_sl_row_length(r);
    r->sl = (uint8_t)draw(x, 5);
    for (uint32_t i = 0; i < rows; i++) {
        uint8_t *row = sv_routes_sl_row(ctx, r, i);
        for (size_t k = 0; k < length; k++)
            row[k] = (uint8_t)(draw(x, 20) == 0 ? SV_NO_SL : draw(x, 5));
    }
}

/* Entries that loop, or lead nowhere. */
static void spoil(struct drawn *x)
{
    for (uint32_t i = draw(x, 12); i > 0; i--) {
        uint32_t d = draw(x, x->r->num_destinations), s = draw(x, x->f->num_switches);
        uint32_t port = draw(x, x->f->switches[s].ports + 2u);
        sv_routes_row(ctx, x->r, d)[s] =
            (uint8_t)(port > x->f->switches[s].ports ? SV_NO_PORT : port);
    }
}

static bool draw_case(struct drawn *x, uint64_t seed)
{
    static const char *const engines[] = {"minhop", "updn", "sssp", "nue", "weave", "dfsssp"};
    *x = (struct drawn){.traffic = SV_TRAFFIC_TERMINALS};
    sv_rng_init(&x->rng, seed);
    draw_fabric(x);
    const sv_route_request request = {.vls = 1 + draw(x, 4), .seed = seed};
    if (sv_route(ctx, x->f, engines[draw(x, 6)], &request, &x->r, NULL) != SV_OK)
        return false;
    if (draw(x, 2))
        draw_vls(x);
    if (draw(x, 2))
        draw_sls(x);
    if (draw(x, 3) == 0)
        spoil(x);
    x->traffic = (sv_traffic)draw(x, SV_TRAFFIC_COUNT);
    return true;
}

/* ---- three walks, each into a square matrix of (channel, VL) ---- */

struct matrix {
    const sv_core *core; /* of the maker's */
    size_t vertices;
    uint8_t *at;
};

static size_t vertex(uint32_t channel, unsigned vl)
{
    assert_true(vl < SV_MAX_VLS);
    return (size_t)channel * 16 + vl;
}

static void note(struct matrix *m, size_t a, size_t b)
{
    m->at[a * m->vertices + b] = 1;
}

static sv_status note_made(void *arg, sv__muse a, sv__muse b)
{
    struct matrix *m = arg;
    note(m, vertex(m->core->entries[a.entry].channel, a.vl),
         vertex(m->core->entries[b.entry].channel, b.vl));
    return SV_OK;
}

static sv_status note_judged(void *arg, sv__vertex a, sv__vertex b)
{
    note(arg, vertex(a.channel.i, a.vl), vertex(b.channel.i, b.vl));
    return SV_OK;
}

static struct matrix matrix_new(const sv_fabric *f)
{
    struct matrix m = {.vertices = (size_t)f->num_channels * 16};
    m.at = calloc(m.vertices * m.vertices, 1);
    assert_non_null(m.at);
    return m;
}

static struct matrix of_maker(struct drawn *x, sv_arena *arena)
{
    struct matrix m = matrix_new(x->f);
    sv_core core;
    sv__mdeps deps;
    uint32_t *entry_of = SV_ARENA_NEW(arena, uint32_t, x->f->num_channels);
    OK(ctx, sv_core_init(&core, arena, x->f));
    memset(entry_of, 0xff, x->f->num_channels * sizeof *entry_of);
    for (uint32_t e = 0; e < core.num_entries; e++)
        entry_of[core.entries[e].channel] = e;
    OK(ctx, sv__mdeps_init(&deps, arena, x->f, x->r, x->traffic, &core, entry_of));
    m.core = &core;
    OK(ctx, sv__mdeps_each(&deps, note_made, &m));
    m.core = NULL;

    /* Its order: every dependency ascends, or there is a cycle, as the judge says below. */
    uint32_t *place = SV_ARENA_NEW(arena, uint32_t, (size_t)core.num_entries * deps.vls);
    bool cyclic;
    OK(ctx, sv__mdeps_order(&deps, arena, place, &cyclic));
    for (uint32_t a = 0; a < core.num_entries && !cyclic; a++)
        for (uint32_t b = 0; b < core.num_entries; b++)
            for (unsigned i = 0; i < deps.vls; i++)
                for (unsigned j = 0; j < deps.vls; j++)
                    if (m.at[vertex(core.entries[a].channel, i) * m.vertices +
                             vertex(core.entries[b].channel, j)])
                        assert_true(place[a * deps.vls + i] < place[b * deps.vls + j]);
    return m;
}

static struct matrix of_judge(struct drawn *x, sv_arena *arena)
{
    struct matrix m = matrix_new(x->f);
    sv__verify_case c;
    sv__deps deps;
    OK(ctx, sv__case_init(&c, arena, x->f, x->r, NULL));
    OK(ctx, sv__deps_init(&deps, arena, x->f, &c.ports, c.vls, false));
    OK(ctx, sv__walk_all(ctx, &c, x->traffic, SV__UNKNOWN_ANY, &deps, NULL));
    OK(ctx, sv__deps_each(&deps, note_judged, &m));
    return m;
}

/* One packet; one that loops is followed until each channel must have been met on each VL. */
static void follow(struct drawn *x, struct matrix *m, sv_node at, uint32_t d, unsigned sl)
{
    const sv_fabric *f = x->f;
    size_t held = SIZE_MAX;
    unsigned in = 0;
    if (!sv_is_switch(f, at)) {
        if (sv_degree(f, at) == 0 || sv_route_sl2vl(x->r, f, at, 0, 1)->of_sl[sl] == SV_NO_VL)
            return;
        sv_channel c = f->hops[f->first[at.i]].channel;
        at = f->head[c.i];
        in = f->port[f->reverse[c.i].i];
    }
    for (uint32_t i = 0; i < 16 * (f->num_switches + 1) && sv_is_switch(f, at); i++) {
        unsigned port = sv_route_port(x->r, at, d);
        sv_channel c = port == SV_NO_PORT || port == 0 ? SV_NO_CHANNEL : sv_channel_at(f, at, port);
        unsigned vl = c.i == SV_NONE ? SV_NO_VL : sv_route_sl2vl(x->r, f, at, in, port)->of_sl[sl];
        if (vl == SV_NO_VL)
            return;
        if (held != SIZE_MAX && sv_joins_switches(f, c))
            note(m, held, vertex(c.i, vl));
        held = vertex(c.i, vl);
        at = f->head[c.i];
        in = f->port[f->reverse[c.i].i];
    }
}

static struct matrix of_packets(struct drawn *x)
{
    struct matrix m = matrix_new(x->f);
    for (uint32_t v = 0; v < sv_num_nodes(x->f); v++)
        for (uint32_t d = 0; d < x->r->num_destinations; d++) {
            unsigned switches = (v < x->f->num_switches) + sv_is_switch(x->f, x->r->node[d]);
            unsigned sl = sv_route_sl(x->r, (sv_node){v}, d);
            unsigned from = sl < x->r->num_sls ? sl : 0,
                     to = sl < x->r->num_sls ? sl + 1 : x->r->num_sls;
            if (switches > (unsigned)x->traffic || x->r->node[d].i == v ||
                !sv_node_alive(x->f, (sv_node){v}) || !sv_node_alive(x->f, x->r->node[d]))
                continue;
            for (sl = from; sl < to; sl++)
                follow(x, &m, (sv_node){v}, d, sl);
        }
    return m;
}

static void compare(const struct matrix *a, const struct matrix *b, const char *who, uint64_t seed)
{
    for (size_t i = 0; i < a->vertices * a->vertices; i++)
        if (a->at[i] != b->at[i])
            fail_msg("seed %llu: %s: channel %zu VL %zu waits for channel %zu VL %zu: %d and %d",
                     (unsigned long long)seed, who, i / a->vertices / 16, i / a->vertices % 16,
                     i % a->vertices / 16, i % a->vertices % 16, a->at[i], b->at[i]);
}

static void all_agree(void **state)
{
    (void)state;
    uint64_t judged = 0;
    for (uint64_t seed = first_seed; seed < first_seed + trials; seed++) {
        struct drawn x;
        if (draw_case(&x, seed)) {
            sv_arena arena;
            sv_arena_init(&arena, ctx);
            struct matrix made = of_maker(&x, &arena), found = of_judge(&x, &arena);
            struct matrix packets = of_packets(&x);
            compare(&made, &packets, "maker and packets", seed);
            compare(&found, &packets, "judge and packets", seed);
            free(made.at);
            free(found.at);
            free(packets.at);
            sv_arena_release(&arena);
            judged++;
        }
        sv_routes_free(x.r);
        sv_fabric_free(x.f);
        sv_fabric_free(x.whole);
    }
    assert_true(trials < 100 || judged > trials / 2);
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, (uint32_t)trials);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_agree)};
    return cmocka_run_group_tests(tests, begin, end);
}
