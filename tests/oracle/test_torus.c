/*
 * test_torus.c: engine torus2qos against what the names of switches tell.
 *
 * Generated meshes and tori name their switches by coordinates ("sw2-0-1"). The engine never looks
 * at names; here they are the second opinion. Fabrics are rebuilt with switches, ports and GUIDs
 * shuffled, so that nothing but the graph is left.
 *
 * Without failures every path must be as short as the coordinates say, must go through the
 * dimensions one after the other in an order that all paths share, and its VL in a dimension must
 * tell whether it crosses one and the same place of the ring, which no path on the other VL does.
 * With failures every fabric is either routed, and sv_verify agrees, or refused with a switch
 * named; where the promise is that it is routed, it must be.
 */
#include "support/testing.h"
#include "support/trials.h"

static sv_ctx *ctx;
static uint64_t lottery;

static uint32_t draw(uint32_t below)
{
    lottery ^= lottery << 13;
    lottery ^= lottery >> 7;
    lottery ^= lottery << 17;
    return (uint32_t)((lottery >> 11) % below);
}

static int begin(void **state)
{
    (void)state;
    lottery = 88172645463325252u;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static void shuffle(uint32_t *list, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = draw(i), held = list[i - 1];
        list[i - 1] = list[k];
        list[k] = held;
    }
}

/* ---- the same fabric in another order ---- */

struct rebuild {
    sv_builder *builder;
    const sv_fabric *f;
    uint32_t *as;   /* [nodes]: index of a switch or terminal in the new one */
    uint8_t *ports; /* [switches][64]: where each port went */
};

static sv_end end_of(const struct rebuild *b, sv_node v, unsigned port)
{
    if (!sv_is_switch(b->f, v))
        return (sv_end){.terminal = true, .index = b->as[v.i], .port = (uint16_t)port};
    return (sv_end){.index = b->as[v.i], .port = b->ports[v.i * 64 + port]};
}

static void add_nodes(struct rebuild *b, const uint32_t *order, bool same_guids)
{
    for (uint32_t i = 0; i < b->f->num_switches; i++) {
        uint32_t s = order[i], ports[64], count = b->f->switches[s].ports;
        sv_switch_info about = b->f->switches[s];
        if (!same_guids)
            about.guid = 0x100000 + draw(1u << 30);
        for (uint32_t p = 0; p < count; p++)
            ports[p] = p + 1;
        shuffle(ports, count);
        for (uint32_t p = 0; p < count; p++)
            b->ports[s * 64 + p + 1] = (uint8_t)ports[p];
        if (sv_node_alive(b->f, (sv_node){s}))
            OK(ctx, sv_builder_add_switch(b->builder, &about, &b->as[s]));
    }
    for (uint32_t t = 0; t < b->f->num_terminals; t++) {
        sv_terminal_info about = b->f->terminals[t];
        if (!sv_node_alive(b->f, (sv_node){b->f->num_switches + t}))
            continue;
        OK(ctx, sv_builder_add_adapter(b->builder, &b->f->adapters[about.adapter], &about.adapter));
        OK(ctx, sv_builder_add_terminal(b->builder, &about, &b->as[b->f->num_switches + t]));
    }
}

/* What is alive of a fabric, with switches and ports in any order, and perhaps other GUIDs. */
static sv_fabric *rebuilt(const sv_fabric *f, bool same_guids)
{
    struct rebuild b = {sv_builder_new(ctx), f, calloc(sv_num_nodes(f), sizeof *b.as),
                        calloc(f->num_switches, 64)};
    uint32_t *order = calloc(f->num_switches, sizeof *order);
    sv_fabric *made = NULL;
    for (uint32_t s = 0; s < f->num_switches; s++)
        order[s] = s;
    shuffle(order, f->num_switches);
    add_nodes(&b, order, same_guids);
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (sv_channel_alive(f, channel) && sv_is_cable(f, channel))
            OK(ctx, sv_builder_add_cable(b.builder, end_of(&b, f->tail[c], f->port[c]),
                                         end_of(&b, f->head[c], f->port[f->reverse[c].i]),
                                         sv_link_of(f, channel)));
    }
    OK(ctx, sv_builder_finish(b.builder, &made));
    free(order);
    free(b.ports);
    free(b.as);
    return made;
}

/* ---- coordinates ---- */

struct shape {
    const char *spec;
    int dims, size[4];
    bool torus;
    unsigned vls; /* that it needs without failures */
};

static const struct shape shapes[] = {
    {"torus:5x5,hosts=1", 2, {5, 5}, true, 2},
    {"torus:6x5,hosts=2", 2, {6, 5}, true, 2},
    {"torus:3x3,hosts=1", 2, {3, 3}, true, 1},
    {"torus:8x3x2,hosts=1", 3, {8, 3, 2}, true, 2},
    {"torus:5x3x6,hosts=2", 3, {5, 3, 6}, true, 2},
    {"torus:5x5x5,hosts=1", 3, {5, 5, 5}, true, 2},
    {"torus:7x6,hosts=1,r=3", 2, {7, 6}, true, 2},
    {"torus:9,hosts=2", 1, {9}, true, 2},
    {"torus:5x3x3x3,hosts=1", 4, {5, 3, 3, 3}, true, 2},
    {"mesh:5x5,hosts=1", 2, {5, 5}, false, 1},
    {"mesh:3x4x5,hosts=1", 3, {3, 4, 5}, false, 1},
    {"mesh:4x2x3,hosts=2", 3, {4, 2, 3}, false, 1},
    {"mesh:6,hosts=1", 1, {6}, false, 1},
    {"mesh:3x3,hosts=1,r=4", 2, {3, 3}, false, 1},
};

enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0] };

static void coordinates(const sv_fabric *f, uint32_t s, int *at)
{
    const char *text = sv_node_name(f, (sv_node){s}) + 2;
    for (int d = 0; *text != 0; d++) {
        at[d] = atoi(text);
        text += strcspn(text, "-");
        text += *text == '-';
    }
}

static bool wraps(const struct shape *shape, int d)
{
    return shape->torus && shape->size[d] > 2;
}

static int distance(const struct shape *shape, int d, int a, int b)
{
    int straight = abs(a - b), around = shape->size[d] - straight;
    return wraps(shape, d) && around < straight ? around : straight;
}

/* ---- without failures ---- */

/* What was seen of a dimension: which places of a ring are crossed by paths on each VL. */
struct seen {
    bool before[4][4]; /* some path goes through one dimension, then another */
    uint64_t never[4],
        ever[4]; /* [dimension]: places that a path on VL 0 crosses; that all on 1 do */
};

static int dimension_of(const struct shape *shape, const int *a, const int *b)
{
    int d = 0;
    while (d < shape->dims && a[d] == b[d])
        d++;
    return d;
}

static void look_at_path(const sv_fabric *f, const sv_routes *r, const struct shape *shape,
                         uint32_t from, uint32_t to, struct seen *seen)
{
    sv_hop_taken hops[64];
    uint32_t count, steps = 0, wanted = 0;
    sv_node at;
    int here[4] = {0}, there[4] = {0}, last = -1, vl[4];
    uint64_t crossed[4] = {0};
    unsigned sl = sv_route_sl(r, (sv_node){from}, to);
    assert_int_equal(sv_routes_trace(f, r, (sv_node){from}, to, sl, hops, 64, &count, &at),
                     SV_TRACE_ARRIVED);
    coordinates(f, from, here);
    coordinates(f, r->home[r->node[to].i - r->num_switches], there);
    for (int d = 0; d < shape->dims; d++)
        wanted += (uint32_t)distance(shape, d, here[d], there[d]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = f->tail[hops[i].channel.i].i, b = f->head[hops[i].channel.i].i;
        int from_at[4] = {0}, to_at[4] = {0};
        if (b >= f->num_switches)
            continue;
        steps++;
        coordinates(f, a, from_at);
        coordinates(f, b, to_at);
        int d = dimension_of(shape, from_at, to_at), low = from_at[d], n = shape->size[d];
        if ((to_at[d] + 1) % n == from_at[d] && n > 2)
            low = to_at[d];
        crossed[d] |= (uint64_t)1 << low; /* the place between low and low + 1 */
        if (d != last && last >= 0) {
            assert_int_equal(crossed[d] & (crossed[d] - 1), 0); /* nobody comes back to one */
            for (int e = 0; e < shape->dims; e++)
                seen->before[e][d] |= e != d && crossed[e] != 0;
        }
        if (d == last)
            assert_int_equal(hops[i].vl, vl[d]);
        vl[d] = hops[i].vl;
        last = d;
    }
    assert_int_equal(steps, wanted);
    for (int d = 0; d < shape->dims; d++)
        if (crossed[d] != 0 && vl[d] == 0)
            seen->never[d] |= crossed[d];
        else if (crossed[d] != 0)
            seen->ever[d] &= crossed[d];
}

/* Dimension order, and datelines. */
static void check_paths(const sv_fabric *f, const sv_routes *r, const struct shape *shape)
{
    struct seen seen = {0};
    for (int d = 0; d < 4; d++)
        seen.ever[d] = UINT64_MAX;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        for (uint32_t s = 0; s < f->num_switches; s++)
            if (s != r->home[t])
                look_at_path(f, r, shape, s, r->first[f->num_switches + t], &seen);
    for (int d = 0; d < shape->dims; d++) {
        uint64_t all = ((uint64_t)1 << shape->size[d]) - 1;
        for (int e = 0; e < shape->dims; e++)
            assert_false(seen.before[d][e] && seen.before[e][d]);
        if (!wraps(shape, d) || shape->size[d] < 5)
            continue;
        uint64_t dateline = seen.ever[d] & all;
        assert_true(dateline != 0 && (dateline & (dateline - 1)) == 0); /* one place */
        assert_int_equal(seen.never[d], all & ~dateline);
    }
}

static void must_hold(const sv_fabric *f, const sv_routes *r)
{
    sv_verification *found = NULL;
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->loops, 0);
    assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], found->split_pairs);
    if (found->split_pairs == 0 && f->live_switches == f->num_switches)
        for (int k = 0; k < SV_PAIRS_COUNT; k++)
            assert_int_equal(found->unreachable[k], 0);
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        assert_int_equal(found->deadlock_free[k], SV_VERDICT_YES);
    sv_verification_free(found);
}

static void paths_are_what_coordinates_say(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_SHAPES; i++) {
        sv_fabric *plan = test_fabric(ctx, shapes[i].spec);
        for (int trial = 0; trial < 3; trial++) {
            sv_fabric *f = rebuilt(plan, trial == 0);
            sv_routes *r = NULL;
            sv_route_report report;
            OK(ctx, sv_route(ctx, f, "torus2qos", NULL, &r, &report));
            must_hold(f, r);
            assert_int_equal(report.vls_needed, shapes[i].vls);
            check_paths(f, r, &shapes[i]);
            /* Sizes, in any order. */
            int left[4] = {0};
            for (int d = 0; d < shapes[i].dims; d++)
                left[d] = shapes[i].size[d];
            assert_int_equal(report.structure.facts[0].count, shapes[i].dims);
            for (int k = 0; k < shapes[i].dims; k++) {
                int d = 0;
                while (d < shapes[i].dims && left[d] != (int)report.structure.facts[0].values[k])
                    d++;
                assert_true(d < shapes[i].dims);
                left[d] = 0;
            }
            sv_routes_free(r);
            sv_fabric_free(f);
        }
        sv_fabric_free(plan);
    }
}

/* ---- with failures ---- */

/* Which line a cable is in, and its dimension: a number. */
static uint32_t line_of(const sv_fabric *f, const struct shape *shape, uint32_t c)
{
    int a[4] = {0}, b[4] = {0};
    coordinates(f, f->tail[c].i, a);
    coordinates(f, f->head[c].i, b);
    int d = dimension_of(shape, a, b);
    uint32_t line = (uint32_t)d;
    for (int e = 0; e < shape->dims; e++)
        line = line * 16 + (uint32_t)(e == d ? 15 : a[e]);
    return line;
}

static bool is_parallel(const sv_fabric *f, uint32_t a, uint32_t b)
{
    return (f->tail[a].i == f->tail[b].i && f->head[a].i == f->head[b].i) ||
           (f->tail[a].i == f->head[b].i && f->head[a].i == f->tail[b].i);
}

/* A cable between switches, and all that are parallel to it. */
static void fail_link(sv_mask *mask, const sv_fabric *f, uint32_t c)
{
    for (uint32_t e = 0; e < f->num_channels; e++)
        if (is_parallel(f, c, e))
            sv_mask_cable(mask, f, (sv_channel){e});
}

static uint32_t draw_link(const sv_fabric *f)
{
    for (;;) {
        sv_channel c = {draw(f->num_channels)};
        if (sv_joins_switches(f, c))
            return c.i;
    }
}

/* Fails links and switches; at most one link a line if so wanted. */
static sv_fabric *failed(const sv_fabric *f, const struct shape *shape, int links, int switches,
                         bool one_a_line)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    uint32_t lines[64];
    sv_fabric *left = NULL;
    for (int i = 0; i < switches; i++)
        sv_mask_node(mask, (sv_node){draw(f->num_switches)});
    for (int i = 0, tries = 0; i < links && tries < 1000; tries++) {
        uint32_t c = draw_link(f), line = line_of(f, shape, c);
        bool fresh = true;
        for (int k = 0; k < i; k++)
            fresh &= lines[k] != line;
        if (one_a_line && !fresh)
            continue;
        fail_link(mask, f, c);
        lines[i++] = line;
    }
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

/* Routed and proven: true; refused, naming a switch that there is: false. */
static bool routed_or_refused(const sv_fabric *f)
{
    sv_routes *r = NULL;
    sv_route_report report;
    sv_status status = sv_route(ctx, f, "torus2qos", NULL, &r, &report);
    if (status == SV_OK) {
        must_hold(f, r);
        sv_routes_free(r);
        return true;
    }
    assert_int_equal(status, SV_INFEASIBLE);
    print_message("refused: %s\n", sv_ctx_message(ctx));
    assert_null(r);
    const char *quote = strchr(sv_ctx_message(ctx), '\'');
    assert_non_null(quote);
    bool named = false;
    for (uint32_t s = 0; s < f->num_switches && !named; s++) {
        size_t length = strlen(sv_node_name(f, (sv_node){s}));
        named = strncmp(quote + 1, sv_node_name(f, (sv_node){s}), length) == 0 &&
                quote[1 + length] == '\'';
    }
    assert_true(named);
    return false;
}

static const struct shape faulty[] = {
    {"torus:5x5,hosts=1", 2, {5, 5}, true, 2},      {"torus:6x7,hosts=1", 2, {6, 7}, true, 2},
    {"torus:4x4,hosts=1", 2, {4, 4}, true, 1},      {"torus:3x3,hosts=1", 2, {3, 3}, true, 1},
    {"torus:4x4x4,hosts=1", 3, {4, 4, 4}, true, 1}, {"torus:5x4x3,hosts=1", 3, {5, 4, 3}, true, 2},
    {"torus:3x3x3,hosts=1", 3, {3, 3, 3}, true, 1}, {"torus:6x5x5,hosts=1", 3, {6, 5, 5}, true, 2},
    {"torus:6x2,hosts=1", 2, {6, 2}, true, 2},      {"mesh:5x5,hosts=1", 2, {5, 5}, false, 1},
    {"mesh:4x3x3,hosts=1", 3, {4, 3, 3}, false, 1}, {"torus:5x6,hosts=1,r=2", 2, {5, 6}, true, 2},
};

enum { NUM_FAULTY = sizeof faulty / sizeof faulty[0] };

/* At most one failed link a ring: always routed, with the VLs that it needed before. */
static void one_link_a_ring_is_no_trouble(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_FAULTY; i++) {
        sv_fabric *plan = test_fabric(ctx, faulty[i].spec);
        for (uint32_t trial = 0; trial < test_times(20); trial++) {
            /* In a ring of four the coordinates of names are not the only ones: one link only. */
            bool fours = false, rings = faulty[i].torus;
            for (int d = 0; d < faulty[i].dims; d++) {
                fours |= faulty[i].size[d] == 4;
                rings &= faulty[i].size[d] > 2;
            }
            int links = 1 + (int)draw(rings && !fours ? 4 : 1);
            sv_fabric *f = failed(plan, &faulty[i], links, 0, true), *g = rebuilt(f, trial % 2);
            sv_routes *r = NULL;
            sv_route_report report;
            OK(ctx, sv_route(ctx, g, "torus2qos", NULL, &r, &report));
            must_hold(g, r);
            if (rings)
                assert_int_equal(report.vls_needed, faulty[i].vls);
            sv_routes_free(r);
            sv_fabric_free(g);
            sv_fabric_free(f);
        }
        sv_fabric_free(plan);
    }
}

/* Each switch alone. */
static void one_switch_is_no_trouble(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_FAULTY; i++) {
        sv_fabric *plan = test_fabric(ctx, faulty[i].spec);
        for (uint32_t s = 0; s < plan->num_switches; s++) {
            sv_mask *mask = sv_mask_new(ctx, plan);
            sv_fabric *f = NULL;
            sv_mask_node(mask, (sv_node){s});
            OK(ctx, sv_fabric_mask(ctx, plan, mask, &f));
            sv_fabric *g = s % 3 == 0 ? rebuilt(f, false) : NULL;
            if (!routed_or_refused(g != NULL ? g : f))
                fail_msg("%s without switch %u is refused", faulty[i].spec, s);
            sv_fabric_free(g);
            sv_fabric_free(f);
            sv_mask_free(mask);
        }
        sv_fabric_free(plan);
    }
}

/* Anything may fail. Most are routed all the same. */
static void all_else_is_routed_or_refused(void **state)
{
    (void)state;
    int routed = 0, trials = 0;
    for (int i = 0; i < NUM_FAULTY; i++) {
        sv_fabric *plan = test_fabric(ctx, faulty[i].spec);
        for (uint32_t trial = 0; trial < test_times(80); trial++, trials++) {
            sv_fabric *f = failed(plan, &faulty[i], (int)draw(7), (int)draw(4), false);
            sv_fabric *g = trial % 2 ? rebuilt(f, trial % 4 == 1) : NULL;
            routed += routed_or_refused(g != NULL ? g : f);
            sv_fabric_free(g);
            sv_fabric_free(f);
        }
        sv_fabric_free(plan);
    }
    print_message("%d of %d routed\n", routed, trials);
    assert_true(trials < 100 || routed * 10 > trials * 8);
}

/* No failure changes an SL, as long as GUIDs tell axes apart. */
static void failures_change_no_sl(void **state)
{
    (void)state;
    const char *specs[] = {"torus:6x5,hosts=2", "torus:5x5x5,hosts=2", "torus:7x6x2,hosts=3"};
    const struct shape shape[] = {
        {NULL, 2, {6, 5}, true, 2}, {NULL, 3, {5, 5, 5}, true, 2}, {NULL, 3, {7, 6, 2}, true, 2}};
    for (int i = 0; i < 3; i++) {
        sv_fabric *plan = test_fabric(ctx, specs[i]);
        sv_routes *before = test_routed(ctx, plan, "torus2qos", 0);
        for (uint32_t trial = 0; trial < test_times(25); trial++) {
            sv_fabric *f = failed(plan, &shape[i], (int)draw(4), (int)draw(2), false);
            sv_routes *after = NULL;
            if (sv_route(ctx, f, "torus2qos", NULL, &after, NULL) == SV_OK) {
                for (uint32_t t = plan->num_switches; t < sv_num_nodes(plan); t++)
                    for (uint32_t v = 0; v < sv_num_nodes(plan); v++)
                        if (sv_node_alive(f, (sv_node){v}) && sv_node_alive(f, (sv_node){t}))
                            assert_int_equal(sv_route_sl(after, (sv_node){v}, after->first[t]),
                                             sv_route_sl(before, (sv_node){v}, before->first[t]));
                sv_routes_free(after);
            }
            sv_fabric_free(f);
        }
        sv_routes_free(before);
        sv_fabric_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_are_what_coordinates_say, begin, end),
        cmocka_unit_test_setup_teardown(one_link_a_ring_is_no_trouble, begin, end),
        cmocka_unit_test_setup_teardown(one_switch_is_no_trouble, begin, end),
        cmocka_unit_test_setup_teardown(all_else_is_routed_or_refused, begin, end),
        cmocka_unit_test_setup_teardown(failures_change_no_sl, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
