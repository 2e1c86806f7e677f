/*
 * test_dmodk.c: engine dmodk: shifts without contention on whole trees, and broken, odd and
 * decorated trees judged by sv_verify.
 */
#include "support/testing.h"

static sv_ctx *ctx;

static int begin(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

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
        if (strchr(sv_ctx_message(ctx), '\'') == NULL)
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
    enum { TREES = 600 };
    for (int i = 0; i < TREES; i++) {
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
        sv_fabric *f = broken(whole, &seed, draw(&seed, 1 + (uint32_t)i / 2), draw(&seed, 100));
        uint64_t fallbacks = routed(f, draw(&seed, 4) == 0 ? 2 : 0, spec);
        refused += fallbacks == SV_NONE;
        apart += fallbacks > 0;
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
    print_message("%u of %d refused, %u over the foot\n", refused, TREES, apart);
    assert_true(refused < TREES / 5);
    assert_true(apart > 0);
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
        for (uint32_t k = 1; k <= 6; k++) {
            sv_fabric *f = broken(whole, &seed, k * k * 6, k * k);
            routed(f, k == 2, specs[i]);
            sv_fabric_free(f);
        }
        sv_fabric_free(whole);
    }
}

/* ---- whole trees ---- */

/* The largest number of flows on a channel when every host sends to the one so many further. */
static uint32_t most_flows(const sv_fabric *f, const sv_routes *r, uint32_t shift, uint32_t *flows)
{
    uint32_t most = 0, n = f->num_terminals;
    memset(flows, 0, f->num_channels * sizeof *flows);
    for (uint32_t i = 0; i < n; i++) {
        sv_hop_taken hops[32];
        uint32_t count = 0, to = r->first[f->num_switches + (i + shift) % n];
        sv_node at;
        assert_int_equal(
            sv_routes_trace(f, r, (sv_node){f->num_switches + i}, to, 0, hops, 32, &count, &at),
            SV_TRACE_ARRIVED);
        for (uint32_t k = 0; k < count; k++)
            if (++flows[hops[k].channel.i] > most)
                most = flows[hops[k].channel.i];
    }
    return most;
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
            uint32_t most = most_flows(f, r, shift, flows);
            if (most > trees[i].flows)
                fail_msg("%s: %u flows on a channel with shift %u", trees[i].spec, most, shift);
        }
        free(flows);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_do_not_meet),
        cmocka_unit_test(broken_trees_stay_safe),
        cmocka_unit_test(broken_systems_stay_safe),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
