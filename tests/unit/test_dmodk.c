/*
 * test_dmodk.c: engine dmodk: shifts without contention on whole trees, and broken, odd and
 * decorated trees judged by sv_verify.
 */
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

/* ---- what must hold whatever happens ---- */

/* Components, by flooding; part has a number for each node, 0 for the dead. */
static uint32_t parts_of(const sv_fabric *f, uint32_t *part)
{
    uint32_t nodes = sv_num_nodes(f), parts = 0, *stack = malloc((nodes + 1) * sizeof *stack);
    memset(part, 0, nodes * sizeof *part);
    for (uint32_t v = 0; v < nodes; v++) {
        uint32_t depth = 0;
        if (part[v] != 0 || !sv_node_alive(f, (sv_node){v}))
            continue;
        part[v] = ++parts;
        stack[depth++] = v;
        while (depth > 0) {
            uint32_t at = stack[--depth];
            SV_FOR_HOPS (f, (sv_node){at}, hop)
                if (part[hop->to.i] == 0) {
                    part[hop->to.i] = parts;
                    stack[depth++] = hop->to.i;
                }
        }
    }
    free(stack);
    return parts;
}

/* All that is joined can talk, and nothing can wait for ever, switches included. */
static void judge(const sv_fabric *f, const sv_routes *r, const char *what)
{
    uint32_t nodes = sv_num_nodes(f), *part = malloc(nodes * sizeof *part);
    uint32_t parts = parts_of(f, part);
    uint64_t(*count)[2] = calloc(parts + 1, sizeof *count), all[2] = {0},
    apart[SV_PAIRS_COUNT] = {0};
    sv_verification *found = NULL;
    for (uint32_t v = 0; v < nodes; v++)
        if (part[v] != 0) {
            count[part[v]][!sv_is_switch(f, (sv_node){v})]++;
            all[!sv_is_switch(f, (sv_node){v})]++;
        }
    for (uint32_t p = 1; p <= parts; p++) {
        uint64_t *mine = count[p];
        apart[SV_PAIRS_TERMINAL_TERMINAL] += mine[1] * (all[1] - mine[1]) << r->lmc;
        apart[SV_PAIRS_TERMINAL_SWITCH] += mine[1] * (all[0] - mine[0]);
        apart[SV_PAIRS_SWITCH_TERMINAL] += mine[0] * (all[1] - mine[1]) << r->lmc;
        apart[SV_PAIRS_SWITCH_SWITCH] += mine[0] * (all[0] - mine[0]);
    }
    OK(ctx, sv_routes_check(ctx, f, r));
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    for (int k = 0; k < SV_PAIRS_COUNT; k++)
        if (found->unreachable[k] != apart[k])
            fail_msg("%s: of pairs of kind %d %llu cannot talk instead of %llu", what, k,
                     (unsigned long long)found->unreachable[k], (unsigned long long)apart[k]);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        for (uint32_t s = 0; s < f->num_switches; s++)
            if (part[s] != part[r->node[d].i] && r->ports[d][s] != SV_NO_PORT)
                fail_msg("%s: switch %u knows a way to where there is none", what, s);
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        if (found->deadlock_free[k] != SV_VERDICT_YES)
            fail_msg("%s: traffic %d can deadlock", what, k);
    assert_int_equal(found->loops, 0);
    sv_verification_free(found);
    free(count);
    free(part);
}

/* Routes and judges. Returns the report's fallbacks, or SV_NONE if refused with a place. */
static uint64_t routed(const sv_fabric *f, unsigned lmc, const char *what)
{
    const sv_route_request request = {.lmc = lmc};
    sv_route_report report;
    sv_routes *r = NULL;
    sv_status status = sv_route(ctx, f, "dmodk", &request, &r, &report);
    if (status == SV_INFEASIBLE) {
        if (strchr(sv_ctx_message(ctx), '\'') == NULL &&
            strstr(sv_ctx_message(ctx), "no switch has hosts") == NULL)
            fail_msg("%s: \"%s\" names no place", what, sv_ctx_message(ctx));
        return SV_NONE;
    }
    OK(ctx, status);
    judge(f, r, what);
    sv_routes_free(r);
    return report.fallbacks;
}

/* ---- failures ---- */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* Fails some cables between switches and some switches, so many of a thousand. */
static sv_fabric *broken(const sv_fabric *whole, uint64_t *seed, uint32_t cables, uint32_t switches)
{
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_fabric *f = NULL;
    assert_non_null(mask);
    for (uint32_t s = 0; s < whole->num_switches; s++)
        if (draw(seed, 1000) < switches)
            sv_mask_node(mask, (sv_node){s});
    for (uint32_t c = 0; c < whole->num_channels; c++)
        if (sv_joins_switches(whole, (sv_channel){c}) && sv_is_cable(whole, (sv_channel){c}) &&
            draw(seed, 1000) < cables)
            sv_mask_cable(mask, whole, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    sv_mask_free(mask);
    return f;
}

/* Hundreds of trees of all shapes, from whole to hardly there. */
static void broken_trees_stay_safe(void **state)
{
    (void)state;
    uint64_t seed = 7;
    uint32_t refused = 0, apart = 0;
    const uint32_t trees = test_times(600);
    for (uint32_t i = 0; i < trees; i++) {
        char spec[120];
        uint32_t h = 1 + draw(&seed, 3), m[3], w[3];
        for (int l = 0; l < 3; l++) {
            m[l] = 1 + draw(&seed, h == 3 ? 3 : 5);
            w[l] = 1 + draw(&seed, h == 3 ? 3 : 4);
        }
        int used = snprintf(spec, sizeof spec, "xgft:h=%u,m=%u", h, m[0]);
        for (uint32_t l = 1; l < h; l++)
            used += snprintf(spec + used, sizeof spec - (size_t)used, "/%u", m[l]);
        used += snprintf(spec + used, sizeof spec - (size_t)used, ",w=%u", w[0]);
        for (uint32_t l = 1; l < h; l++)
            used += snprintf(spec + used, sizeof spec - (size_t)used, "/%u", w[l]);
        snprintf(spec + used, sizeof spec - (size_t)used, ",hosts=%u,r=%u", 1 + draw(&seed, 4),
                 1 + draw(&seed, 2));
        sv_fabric *whole = test_fabric(ctx, spec);
        sv_fabric *f = broken(whole, &seed, draw(&seed, 1 + i / 2), draw(&seed, 100));
        uint64_t fallbacks = routed(f, draw(&seed, 4) == 0 ? 2 : 0, spec);
        refused += fallbacks == SV_NONE;
        apart += fallbacks > 0;
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
    print_message("%u of %u refused, %u over the foot\n", refused, trees, apart);
    assert_true(!test_enough() || (refused < trees / 5 && apart > 0));
}

/* Systems with directors, and trees large enough for rows by slots to matter. */
static void broken_systems_stay_safe(void **state)
{
    (void)state;
    const char *specs[] = {"tsubame2:rail=1",
                           "tsubame2:rail=2",
                           "taurus",
                           "deimos",
                           "kary:k=6,n=3,hosts=6",
                           "xgft:h=2,m=6/8,w=6/3,hosts=9,r=2",
                           "kary:k=3,n=4,hosts=3"};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *whole = test_fabric(ctx, specs[i]);
        routed(whole, 0, specs[i]);
        for (uint32_t k = 1; k <= test_times(6); k++) {
            sv_fabric *f = broken(whole, &seed, k * k * 6, k * k);
            routed(f, k == 2, specs[i]);
            sv_fabric_free(f);
        }
        sv_fabric_free(whole);
    }
}

/* ---- whole trees ---- */

/* The largest number of flows on a channel when every host sends to the one so many further. */
static uint32_t max_flows(const sv_fabric *f, const sv_routes *r, uint32_t shift, uint32_t *flows)
{
    uint32_t max = 0, n = f->num_terminals;
    memset(flows, 0, f->num_channels * sizeof *flows);
    for (uint32_t i = 0; i < n; i++) {
        sv_hop_taken hops[32];
        uint32_t count = 0, to = r->first[f->num_switches + (i + shift) % n];
        sv_node at;
        assert_int_equal(
            sv_routes_trace(f, r, (sv_node){f->num_switches + i}, to, 0, hops, 32, &count, &at),
            SV_TRACE_ARRIVED);
        for (uint32_t k = 0; k < count; k++)
            if (++flows[hops[k].channel.i] > max)
                max = flows[hops[k].channel.i];
    }
    return max;
}

/* All shifts: one flow a channel, or as many as there are hosts for a cable. */
static void shifts_do_not_meet(void **state)
{
    (void)state;
    const struct {
        const char *spec;
        uint32_t flows;
    } trees[] = {{"kary:k=4,n=3,hosts=4", 1},
                 {"kary:k=8,n=2,hosts=8", 1},
                 {"kary:k=2,n=5,hosts=2", 1},
                 {"kary:k=3,n=4,hosts=3", 1},
                 {"xgft:h=2,m=4/6,w=4/4,hosts=4", 1},
                 {"xgft:h=1,m=6,w=4,hosts=8,r=2", 1},
                 {"xgft:h=2,m=4/4,w=4/4,hosts=8,r=2", 1},
                 {"xgft:h=2,m=3/4,w=2/3,hosts=6,r=3", 1},
                 {"xgft:h=2,m=6/6,w=3/3,hosts=12", 8},
                 {"xgft:h=1,m=5,w=4,hosts=8", 2},
                 {"xgft:h=2,m=4/4,w=4/2,hosts=4", 2}};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        sv_fabric *f = test_fabric(ctx, trees[i].spec);
        sv_routes *r = test_routed(ctx, f, "dmodk", 0);
        uint32_t *flows = malloc(f->num_channels * sizeof *flows);
        judge(f, r, trees[i].spec);
        for (uint32_t shift = 1; shift < f->num_terminals; shift++) {
            uint32_t max = max_flows(f, r, shift, flows);
            if (max > trees[i].flows)
                fail_msg("%s: %u flows on a channel with shift %u", trees[i].spec, max, shift);
        }
        free(flows);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

/* Ways up and down by levels are as short as any: what has a parent above the home goes there. */
static void ways_are_short(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=3,hosts=4", "xgft:h=2,m=6/6,w=3/3,hosts=12",
                           "tsubame2:rail=1", "tsubame2:rail=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_load best, mine;
        sv_routes *a = test_routed(ctx, f, "sssp", 0), *b = test_routed(ctx, f, "dmodk", 0);
        OK(ctx, sv_routes_load(ctx, f, a, NULL, &best));
        OK(ctx, sv_routes_load(ctx, f, b, NULL, &mine));
        assert_float_equal(mine.hops_avg, best.hops_avg, 1e-9);
        sv_routes_free(b);
        sv_routes_free(a);
        sv_fabric_free(f);
    }
}

/* What failures displace is spread: the busiest channel is no worse than sssp's. */
static void displaced_routes_are_spread(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=8,n=3,hosts=8", "kary:k=16,n=2,hosts=16",
                           "xgft:h=2,m=12/12,w=12/12,hosts=12"};
    uint64_t seed = 9;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *whole = test_fabric(ctx, specs[i]), *f = broken(whole, &seed, 10, 0);
        sv_load best, mine;
        sv_routes *a = test_routed(ctx, f, "sssp", 0), *b = test_routed(ctx, f, "dmodk", 0);
        OK(ctx, sv_routes_load(ctx, f, a, NULL, &best));
        OK(ctx, sv_routes_load(ctx, f, b, NULL, &mine));
        print_message("%s: %llu, sssp %llu\n", specs[i], (unsigned long long)mine.max,
                      (unsigned long long)best.max);
        assert_true(mine.max <= best.max);
        sv_routes_free(b);
        sv_routes_free(a);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
}

/* ---- decorated trees ---- */

/* A tree with room: its parts again, in a builder, each switch with some more ports. */
static sv_builder *copied(const sv_fabric *f)
{
    sv_builder *b = sv_builder_new(ctx);
    const sv_link link = {.width = 4, .speed = SV_SPEED_HDR};
    for (uint32_t s = 0; s < f->num_switches; s++) {
        sv_switch_info about = f->switches[s];
        about.ports = (uint16_t)(about.ports + 8);
        sv_builder_add_switch(b, &about, NULL);
    }
    for (uint32_t a = 0; a < f->num_adapters; a++)
        sv_builder_add_adapter(b, &f->adapters[a], NULL);
    for (uint32_t t = 0; t < f->num_terminals; t++)
        sv_builder_add_terminal(b, &f->terminals[t], NULL);
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_node ends[2] = {f->tail[c], f->head[c]};
        sv_end made[2];
        if (!sv_is_cable(f, (sv_channel){c}))
            continue;
        for (int i = 0; i < 2; i++) {
            bool terminal = !sv_is_switch(f, ends[i]);
            uint32_t channel = i == 0 ? c : f->reverse[c].i;
            made[i] = (sv_end){.terminal = terminal,
                               .index = terminal ? ends[i].i - f->num_switches : ends[i].i,
                               .port = f->port[channel]};
        }
        sv_builder_add_cable(b, made[0], made[1], &link);
    }
    return b;
}

/* Adds hosts to a switch, at its last ports. */
static void add_hosts(sv_builder *b, uint32_t s, uint32_t ports, uint32_t count)
{
    const sv_link link = {.width = 4, .speed = SV_SPEED_HDR};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t adapter, terminal;
        sv_adapter_info about = {.name = "more", .guid = 0x900000 + s * 64 + i, .ports = 1};
        sv_builder_add_adapter(b, &about, &adapter);
        sv_terminal_info end = {.guid = about.guid + 0x900000, .adapter = adapter, .port = 1};
        sv_builder_add_terminal(b, &end, &terminal);
        sv_builder_add_cable(b, (sv_end){.index = s, .port = (uint16_t)(ports - count + 1 + i)},
                             (sv_end){.terminal = true, .index = terminal, .port = 1}, &link);
    }
}

/* Hangs a switch with hosts on others. */
static void hang(sv_builder *b, const sv_fabric *f, const uint32_t *on, uint32_t count,
                 uint32_t hosts)
{
    const sv_link link = {.width = 4, .speed = SV_SPEED_HDR};
    const sv_switch_info about = {.name = "management", .guid = 0x880000, .ports = 24};
    uint32_t s;
    sv_builder_add_switch(b, &about, &s);
    add_hosts(b, s, 24, hosts);
    for (uint32_t i = 0; i < count; i++)
        sv_builder_add_cable(
            b, (sv_end){.index = s, .port = (uint16_t)(1 + i)},
            (sv_end){.index = on[i], .port = (uint16_t)(f->switches[on[i]].ports + 1)}, &link);
}

/* I/O hosts on roots and in the middle, a management switch below leaves or beside roots. */
static void hosts_may_be_anywhere(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=2,hosts=4", "kary:k=3,n=3,hosts=3",
                           "xgft:h=2,m=4/4,w=3/2,hosts=5,r=2"};
    uint64_t seed = 11;
    for (uint32_t i = 0; i < 3 * 32; i++) {
        sv_fabric *tree = test_fabric(ctx, specs[i % 3]), *whole = NULL;
        uint32_t n = tree->num_switches, on[2] = {0, n - 1};
        sv_builder *b = copied(tree);
        if (i & 4)
            add_hosts(b, n - 1, tree->switches[n - 1].ports + 8u, 2);
        if (i & 8)
            add_hosts(b, n - 5, tree->switches[n - 5].ports + 8u, 3);
        if (i & 16)
            hang(b, tree, i & 32 ? on : on + 1, i & 32 && i & 64 ? 2 : 1, i & 1 ? 1 : 3);
        OK(ctx, sv_builder_finish(b, &whole));
        sv_fabric *f = broken(whole, &seed, i < 24 ? 0 : 60, i < 48 ? 0 : 20);
        routed(f, 0, specs[i % 3]);
        sv_fabric_free(f);
        sv_fabric_free(whole);
        sv_fabric_free(tree);
    }
}

/* Adds a cable between the next free ports of two switches. */
static void join(sv_builder *b, uint16_t *used, uint32_t a, uint32_t c)
{
    const sv_link link = {.width = 4, .speed = SV_SPEED_HDR};
    sv_builder_add_cable(b, (sv_end){.index = a, .port = ++used[a]},
                         (sv_end){.index = c, .port = ++used[c]}, &link);
}

/*
 * Roots that several switches of a subtree hang on, as real trees have them: two subtrees of four
 * leaves and four switches, the first two of which (and the last two) hang on the same four roots.
 * The numbers of the second subtree's switches run backwards.
 */
static void wide_roots_keep_flows_apart(void **state)
{
    (void)state;
    sv_builder *b = sv_builder_new(ctx);
    uint16_t used[24] = {0};
    sv_fabric *f = NULL;
    for (uint32_t s = 0; s < 24; s++) { /* leaves 0 …, middle 8 …, roots 16 … */
        char name[16];
        snprintf(name, sizeof name, "s%u", s);
        const sv_switch_info about = {.name = name, .guid = 0x1000 + s, .ports = 8};
        sv_builder_add_switch(b, &about, NULL);
    }
    for (uint32_t s = 0; s < 8; s++)
        add_hosts(b, s, 8, 4);
    for (uint32_t s = 0; s < 8; s++)
        for (uint32_t k = 0; k < 4; k++)
            join(b, used, s, 8 + s / 4 * 4 + k);
    for (uint32_t m = 0; m < 8; m++)
        for (uint32_t k = 0; k < 4; k++)
            join(b, used, 8 + m, 16 + (m < 4 ? m / 2 : (7 - m) / 2) * 4 + k);
    OK(ctx, sv_builder_finish(b, &f));
    sv_routes *r = test_routed(ctx, f, "dmodk", 0);
    judge(f, r, "wide roots");
    uint32_t *flows = malloc(f->num_channels * sizeof *flows);
    for (uint32_t shift = 1; shift < 32; shift++)
        if (max_flows(f, r, shift, flows) > 1)
            fail_msg("flows meet with shift %u", shift);
    free(flows);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- what can be asked for ---- */

static void addresses_take_different_ways(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=3,hosts=4");
    sv_routes *r = test_routed(ctx, f, "dmodk", 2);
    judge(f, r, "four addresses");
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        uint32_t to = r->first[f->num_switches + t];
        uint32_t elsewhere = (r->home[t] + 5) % 16; /* a leaf that it is not on */
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t l = 0; l < k; l++)
                assert_int_not_equal(r->ports[to + k][elsewhere], r->ports[to + l][elsewhere]);
    }
    sv_routes_free(r);
    sv_fabric_free(f);
}

static bool same_tables(const sv_routes *a, const sv_routes *b)
{
    for (uint32_t d = 0; d < a->num_destinations; d++)
        if (memcmp(a->ports[d], b->ports[d], a->num_switches) != 0)
            return false;
    return true;
}

static void threads_do_not_show(void **state)
{
    (void)state;
    uint64_t seed = 5;
    sv_fabric *whole = test_fabric(ctx, "kary:k=6,n=3,hosts=6,r=2");
    sv_fabric *f = broken(whole, &seed, 20, 10);
    sv_routes *r[3];
    for (unsigned i = 0; i < 3; i++) {
        sv_ctx_set_threads(ctx, 1 + 2 * i);
        r[i] = test_routed(ctx, f, "dmodk", 1);
        assert_true(same_tables(r[0], r[i]));
    }
    sv_ctx_set_threads(ctx, 0);
    for (unsigned i = 0; i < 3; i++)
        sv_routes_free(r[i]);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

/* Backwards: shifts do not meet then either, and the tables are others. */
static void an_order_is_heeded(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_routes *plain = test_routed(ctx, f, "dmodk", 0), *r = NULL;
    sv_node hosts[16];
    for (uint32_t i = 0; i < 16; i++)
        hosts[i] = (sv_node){f->num_switches + 15 - i};
    sv_route_request request = {.hosts = hosts, .num_hosts = 16};
    OK(ctx, sv_route(ctx, f, "dmodk", &request, &r, NULL));
    judge(f, r, "backwards");
    assert_false(same_tables(plain, r));
    uint32_t *flows = malloc(f->num_channels * sizeof *flows);
    for (uint32_t shift = 1; shift < 16; shift++)
        assert_int_equal(max_flows(f, r, shift, flows), 1);
    free(flows);
    sv_routes_free(r);
    /* A leaf whose second host does I/O: the others take the places one after the other. */
    sv_role roles[16] = {0};
    sv_fabric *with = NULL;
    roles[1] = SV_ROLE_IO;
    OK(ctx, sv_fabric_with_roles(ctx, f, roles, &with));
    r = test_routed(ctx, with, "dmodk", 0);
    uint32_t first = r->first[f->num_switches], port = r->ports[first][1];
    assert_int_equal(r->ports[first + 2][1], port + 1);
    assert_int_equal(r->ports[first + 3][1], port + 2);
    sv_routes_free(r);
    sv_routes_free(plain);
    sv_fabric_free(with);
    sv_fabric_free(f);
}

static void roots_are_heeded(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=3,n=3,hosts=3");
    sv_routes *plain = test_routed(ctx, f, "dmodk", 0), *r = NULL;
    sv_node roots[9];
    for (uint32_t i = 0; i < 9; i++)
        roots[i] = (sv_node){18 + i};
    sv_route_request request = {.roots = roots, .num_roots = 9};
    OK(ctx, sv_route(ctx, f, "dmodk", &request, &r, NULL));
    assert_true(same_tables(plain, r));
    sv_routes_free(r);
    for (uint32_t i = 1; i <= 9; i++) { /* any will do, or be refused */
        r = NULL;
        for (uint32_t k = 0; k < i; k++)
            roots[k] = (sv_node){(7 * k + i) % 27};
        request.num_roots = i;
        sv_status status = sv_route(ctx, f, "dmodk", &request, &r, NULL);
        if (status == SV_OK)
            judge(f, r, "silly roots");
        else
            assert_int_equal(status, SV_INFEASIBLE);
        sv_routes_free(r);
    }
    sv_routes_free(plain);
    sv_fabric_free(f);
}

/* A host that fails takes no other's place: the tables of the rest stay as they are. */
static void dead_hosts_keep_their_places(void **state)
{
    (void)state;
    sv_fabric *whole = test_fabric(ctx, "kary:k=4,n=2,hosts=4"), *f = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, (sv_node){whole->num_switches + 5});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    sv_routes *a = test_routed(ctx, whole, "dmodk", 0), *b = test_routed(ctx, f, "dmodk", 0);
    for (uint32_t t = 0; t < whole->num_terminals; t++) {
        uint32_t d = a->first[whole->num_switches + t];
        if (t != 5)
            assert_memory_equal(a->ports[d], b->ports[d], a->num_switches);
    }
    sv_routes_free(a);
    sv_routes_free(b);
    sv_mask_free(mask);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

static void it_says_what_it_found(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "xgft:h=2,m=6/6,w=3/3,hosts=12");
    sv_route_report report;
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, "dmodk", NULL, &r, &report));
    assert_string_equal(report.structure.kind, "fat tree");
    assert_string_equal(report.structure.words,
                        "3 levels of 9, 18, 36 switches from the top, 432 hosts on 36");
    assert_string_equal(report.structure.facts[1].name, "switches_by_level");
    assert_int_equal(report.structure.facts[1].count, 3);
    assert_int_equal(report.structure.facts[1].values[0], 36);
    assert_int_equal(report.fallbacks, 0);
    sv_routes_free(r);
    sv_fabric_free(f);
    r = NULL;
    f = test_fabric(ctx, "torus:4x4,hosts=1");
    FAILS(ctx, sv_route(ctx, f, "dmodk", NULL, &r, NULL), SV_INFEASIBLE, "dmodk: this is no tree");
    assert_null(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_do_not_meet),
        cmocka_unit_test(broken_trees_stay_safe),
        cmocka_unit_test(broken_systems_stay_safe),
        cmocka_unit_test(ways_are_short),
        cmocka_unit_test(displaced_routes_are_spread),
        cmocka_unit_test(hosts_may_be_anywhere),
        cmocka_unit_test(wide_roots_keep_flows_apart),
        cmocka_unit_test(addresses_take_different_ways),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(an_order_is_heeded),
        cmocka_unit_test(roots_are_heeded),
        cmocka_unit_test(dead_hosts_keep_their_places),
        cmocka_unit_test(it_says_what_it_found),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
