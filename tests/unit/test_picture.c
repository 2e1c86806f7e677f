/* Pictures of fabrics: places of switches, and heat maps. (Surfaces: test_surface.c.) */
#include <math.h>

#include "picture/scene.h"
#include "picture/svg.h"
#include "support/testing.h"

TEST_CONTEXT

/* ---- layouts ---- */

/* A fabric as the database has it. */
static sv__picture_net net_of(sv_arena *arena, const sv_fabric *f)
{
    sv__picture_net net = {.num_switches = f->num_switches};
    net.names = SV_ARENA_NEW(arena, const char *, f->num_switches);
    net.terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    net.wires = SV_ARENA_NEW(arena, sv__picture_wire, f->num_channels);
    for (uint32_t s = 0; s < f->num_switches; s++)
        net.names[s] = sv_arena_text(arena, f->switches[s].name, strlen(f->switches[s].name));
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_is_cable(f, channel))
            continue;
        if (sv_joins_switches(f, channel))
            net.wires[net.num_wires++] = (sv__picture_wire){f->tail[c].i, f->head[c].i, f->port[c],
                                                            f->port[f->reverse[c].i]};
        else
            net.terminals[f->tail[c].i < f->num_switches ? f->tail[c].i : f->head[c].i]++;
    }
    return net;
}

/* All places are finite, and no two are the same. */
static void assert_apart(const sv__picture_net *net, const sv__layout *l)
{
    for (uint32_t s = 0; s < net->num_switches; s++) {
        assert_true(isfinite(l->x[s]) && isfinite(l->y[s]));
        for (uint32_t t = 0; t < s; t++)
            if (l->x[s] == l->x[t] && l->y[s] == l->y[t])
                fail_msg("%s and %s are in one place", net->names[s], net->names[t]);
    }
}

static void laid_out(sv_arena *arena, const char *spec, sv__picture_net *net, sv__layout *l)
{
    sv_fabric *f = test_fabric(ctx, spec);
    *net = net_of(arena, f);
    OK(ctx, sv__layout_find(ctx, arena, net, l));
    assert_apart(net, l);
    sv_fabric_free(f);
}

static uint32_t count_around(const sv__picture_net *net, const sv__layout *l)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < net->num_wires; w++)
        count += l->bend[w] >= SV__AROUND;
    return count;
}

static void test_torus_is_a_grid(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "torus:4x4x3,hosts=4", &net, &l);
    assert_string_equal(l.kind, "grid");
    assert_string_equal(l.words, "a torus of 4 × 4 × 3 switches");
    assert_int_equal(count_around(&net, &l), 4 * 3 + 4 * 3 + 4 * 4);
    for (uint32_t w = 0; w < net.num_wires; w++) /* others are steps of one of three kinds */
        if (l.bend[w] == 0) {
            float dx = fabsf(l.x[net.wires[w].a] - l.x[net.wires[w].b]);
            float dy = fabsf(l.y[net.wires[w].a] - l.y[net.wires[w].b]);
            static const float steps[3][2] = {{3, 0}, {0, 3}, {0.8f, 0.62f}};
            bool found = false;
            for (int k = 0; k < 3; k++)
                found =
                    found || (fabsf(dx - steps[k][0]) < 1e-3f && fabsf(dy - steps[k][1]) < 1e-3f);
            assert_true(found);
        }
    sv_arena_release(&arena);
}

static void test_mesh_is_a_grid(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "mesh:5x7", &net, &l);
    assert_string_equal(l.kind, "grid");
    assert_string_equal(l.words, "a mesh of 5 × 7 switches");
    assert_int_equal(count_around(&net, &l), 0);
    for (uint32_t w = 0; w < net.num_wires; w++) {
        float dx = l.x[net.wires[w].a] - l.x[net.wires[w].b];
        float dy = l.y[net.wires[w].a] - l.y[net.wires[w].b];
        assert_true(dx * dx + dy * dy == 1);
    }
    sv_arena_release(&arena);
}

static void test_more_dimensions(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "torus:3x3x3x3", &net, &l);
    assert_string_equal(l.kind, "grid");
    laid_out(&arena, "hypercube:6", &net, &l);
    assert_string_equal(l.kind, "grid");
    sv_arena_release(&arena);
}

static void test_tree_has_levels(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "kary:k=4,n=3,hosts=4", &net, &l);
    assert_string_equal(l.kind, "tree");
    float lowest = 0;
    for (uint32_t s = 0; s < net.num_switches; s++)
        lowest = l.y[s] > lowest ? l.y[s] : lowest;
    for (uint32_t s = 0; s < net.num_switches; s++) /* those with hosts are at the bottom */
        assert_int_equal(net.terminals[s] > 0, l.y[s] == lowest);
    for (uint32_t w = 0; w < net.num_wires; w++) /* cables join neighbouring levels */
        assert_float_equal(fabsf(l.y[net.wires[w].a] - l.y[net.wires[w].b]), lowest / 2, 1e-3);
    sv_arena_release(&arena);
}

static void test_dragonfly_has_groups(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "dragonfly:a=4,p=2,h=2,g=9", &net, &l);
    assert_string_equal(l.kind, "groups");
    assert_string_equal(l.words, "9 groups of 4 switches");
    for (uint32_t s = 0; s < net.num_switches; s++) /* nobody is nearer than the own group */
        for (uint32_t t = 0; t < net.num_switches; t++) {
            uint32_t own = s / 4 * 4 + (s + 1) % 4;
            if (t / 4 != s / 4)
                assert_true(hypotf(l.x[s] - l.x[t], l.y[s] - l.y[t]) >
                            0.5f * hypotf(l.x[s] - l.x[own], l.y[s] - l.y[own]));
        }
    sv_arena_release(&arena);
}

static void test_names_with_coordinates(void **state)
{
    (void)state;
    sv_arena arena;
    sv__picture_net net;
    sv__layout l;
    sv_arena_init(&arena, ctx);
    laid_out(&arena, "hyperx:5x4", &net, &l);
    assert_string_equal(l.kind, "coordinates");
    for (uint32_t s = 0; s < net.num_switches; s++) {
        unsigned x, y;
        assert_int_equal(sscanf(net.names[s], "sw%u-%u", &y, &x), 2);
        assert_true(l.x[s] == (float)x && l.y[s] == (float)y);
    }
    sv_arena_release(&arena);
}

/* Neighbours are nearer than others, on the whole; and it is the same every time. */
static void test_by_distance(void **state)
{
    (void)state;
    static const char *const specs[] = {"random:switches=125,links=400,hosts=2,seed=3",
                                        "jellyfish:switches=60,degree=6,hosts=2", "kautz:d=3,k=3"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_arena arena;
        sv__picture_net net;
        sv__layout l, again;
        sv_arena_init(&arena, ctx);
        laid_out(&arena, specs[i], &net, &l);
        assert_string_equal(l.kind, "distance");
        double near = 0, all = 0;
        for (uint32_t w = 0; w < net.num_wires; w++)
            near += hypot(l.x[net.wires[w].a] - l.x[net.wires[w].b],
                          l.y[net.wires[w].a] - l.y[net.wires[w].b]) /
                    net.num_wires;
        for (uint32_t s = 0; s < net.num_switches; s++)
            for (uint32_t t = 0; t < net.num_switches; t++)
                all += hypot(l.x[s] - l.x[t], l.y[s] - l.y[t]) / net.num_switches /
                       (net.num_switches - 1);
        assert_true(near < 0.85 * all);
        OK(ctx, sv__layout_find(ctx, &arena, &net, &again));
        assert_memory_equal(l.x, again.x, net.num_switches * sizeof *l.x);
        assert_memory_equal(l.y, again.y, net.num_switches * sizeof *l.y);
        sv_arena_release(&arena);
    }
}

/* What no generator makes: nothing at all, no cables, a port twice, a cable from a switch to
 * itself. */
static void test_odd_fabrics(void **state)
{
    (void)state;
    sv_arena arena;
    sv__layout l;
    const char *names[] = {"a", "b", "c", ""};
    uint32_t terminals[4] = {1, 0, 3, 0};
    sv__picture_wire twice[] = {{0, 1, 1, 1}, {0, 2, 1, 1}, {2, 1, 7, 200}};
    sv__picture_wire itself[] = {{0, 0, 1, 2}, {0, 1, 3, 1}};
    sv__picture_wire far[] = {{0, 1, 0, 255}};
    sv__picture_net nothing = {0}, alone = {4, 0, names, terminals, NULL};
    sv__picture_net ports = {4, 3, names, terminals, twice},
                    loop = {4, 2, names, terminals, itself};
    sv__picture_net strange = {4, 1, names, terminals, far}, one = {1, 0, names, terminals, NULL};
    const sv__picture_net *all[] = {&nothing, &alone, &ports, &loop, &strange, &one};
    sv_arena_init(&arena, ctx);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        OK(ctx, sv__layout_find(ctx, &arena, all[i], &l));
        assert_apart(all[i], &l);
    }
    sv_arena_release(&arena);
}

static sv_status lay_out(sv_ctx *own, void *arg)
{
    sv_arena arena;
    sv__layout l;
    sv_arena_init(&arena, own);
    sv_status status = sv__layout_find(own, &arena, arg, &l);
    sv_arena_release(&arena);
    return status;
}

static void test_layout_without_memory(void **state)
{
    (void)state;
    static const char *const specs[] = {"mesh:3x3", "kary:k=2,n=2", "kautz:d=2,k=2",
                                        "dragonfly:a=2,p=1,h=1,g=3"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_arena arena;
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_arena_init(&arena, ctx);
        sv__picture_net net = net_of(&arena, f);
        test_out_of_memory(specs[i], lay_out, &net);
        sv_arena_release(&arena);
        sv_fabric_free(f);
    }
}

/* ---- scenes ---- */

/* How far two points are apart. */
static double apart(const float a[2], const float b[2])
{
    return hypot((double)(a[0] - b[0]), (double)(a[1] - b[1]));
}

/* Everything lies on the paper, and each half begins at the switch that sends. */
static void assert_drawn(const char *spec)
{
    sv_arena arena;
    sv__scene s;
    sv_fabric *f = test_fabric(ctx, spec);
    sv_arena_init(&arena, ctx);
    OK(ctx, sv__scene_make(ctx, &arena, f, &s));
    assert_int_equal(s.num_halves, 2 * test_links(f));
    for (uint32_t h = 0; h < s.num_halves; h++) {
        const sv__half *half = &s.halves[h];
        const sv__picture_wire *wire = &s.net.wires[h / 2];
        uint32_t from = h % 2 == 0 ? wire->a : wire->b;
        float at[2] = {s.layout.x[from], s.layout.y[from]};
        assert_int_equal(f->tail[half->channel.i].i, s.node[from]);
        if (h % 2 == 1) /* the other direction of the same cable */
            assert_int_equal(f->reverse[half->channel.i].i, s.halves[h - 1].channel.i);
        assert_true(apart(half->at[0], at) <= (double)s.radius); /* aside, but inside it */
        assert_true(half->line > 0 && half->line <= s.stroke);
        for (int k = 0; k < 3; k += 2) {
            assert_true(half->at[k][0] >= 0 && half->at[k][0] <= s.width);
            assert_true(half->at[k][1] >= 0 && half->at[k][1] <= s.height);
        }
    }
    assert_true(s.width < 2600 && s.height < 2600);
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

static void test_scenes(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "mesh:2,hosts=1",       "torus:5x4x3,hosts=1",      "xgft:h=1,m=10,w=6,hosts=18,r=3",
        "hyperx:4x4,hosts=1",   "fullmesh:2,r=20",          "kautz:d=3,k=2,hosts=1",
        "torus:20,hosts=1,r=2", "dragonfly:a=4,p=2,h=2,g=9"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        assert_drawn(specs[i]);
}

/* Parallel cables do not lie on one another. */
static void test_parallel_cables_are_apart(void **state)
{
    (void)state;
    sv_arena arena;
    sv__scene s;
    sv_fabric *f = test_fabric(ctx, "fullmesh:2,r=12");
    sv_arena_init(&arena, ctx);
    OK(ctx, sv__scene_make(ctx, &arena, f, &s));
    for (uint32_t a = 0; a < s.num_halves; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_true(apart(s.halves[a].at[0], s.halves[b].at[0]) > (double)s.halves[a].line);
    sv_arena_release(&arena);
    sv_fabric_free(f);
}

/* ---- heat ---- */

static void test_steps(void **state)
{
    (void)state;
    const uint64_t largest[] = {1, 2, 3, 15, 16, 17, 60, 1000003, UINT64_MAX};
    uint32_t steps;
    assert_int_equal(sv_heat_step(0, 0, &steps), 0);
    assert_int_equal(steps, 0);
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        uint64_t max = largest[i];
        assert_int_equal(sv_heat_step(0, max, &steps), 0);
        assert_int_equal(steps, max < 16 ? max : 16);
        assert_int_equal(sv_heat_step(1, max, NULL), 1);
        assert_int_equal(sv_heat_step(max, max, NULL), steps);
        if (max > 1) /* only the largest share has the last colour */
            assert_true(sv_heat_step(max / 2, max, NULL) <= steps / 2 + 1);
    }
    for (uint64_t load = 1; load <= 60; load++) { /* the first k with load <= k × 60 / 16 */
        uint32_t k = 1;
        while (load > k * 60 / 16)
            k++;
        assert_int_equal(sv_heat_step(load, 60, NULL), k);
    }
}

static char *written(const sv_heat *heat)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_heat_write(ctx, heat, &sink));
    return buffer.text;
}

static uint32_t occurrences(const char *text, const char *what)
{
    uint32_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        count++;
    return count;
}

static void test_heat_of_a_line(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:3,hosts=1");
    uint64_t load[100] = {0};
    for (uint32_t c = 0, k = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c}))
            load[c] = (uint64_t[]){0, 0, 7, 32}[k++];
    const sv_heat_panel panels[] = {{.fabric = f, .load = load, .title = "a < b & \"c\" \x01\xff"},
                                    {.fabric = f, .load = load}};
    const sv_heat one = {.panels = panels, .count = 1}, two = {panels, 2, 64};
    char *text = written(&one);
    assert_int_equal(occurrences(text, "<path "), 4);
    assert_int_equal(occurrences(text, "<circle "), 3);
    assert_non_null(strstr(text, ">a &lt; b &amp; &quot;c&quot; ?"
                                 "?</text>"));
    assert_non_null(strstr(text, "most on a channel: 32 routes; dark fibre: 50.00 % (2 of 4"));
    assert_non_null(strstr(text, "<g class=\"h4\"")); /* 7 of 32: ends at 8 */
    assert_non_null(strstr(text, "<g class=\"h16\""));
    free(text);
    text = written(&two);
    assert_int_equal(occurrences(text, "<path "), 8);
    assert_int_equal(occurrences(text, "<g class=\"h2\""), 2); /* a larger scale */
    assert_int_equal(occurrences(text, "<g class=\"h8\""), 2);
    char *again = written(&two);
    assert_string_equal(text, again);
    free(again);
    free(text);
    sv_fabric_free(f);
}

/* What failed is not drawn; without cables, or switches, there is still a picture. */
static void test_heat_of_what_is_left(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=1"), *left = NULL;
    uint64_t load[200] = {0};
    sv_mask *mask = sv_mask_new(ctx, f);
    for (uint32_t v = 0; v < 9; v++) {
        sv_mask_node(mask, (sv_node){v});
        OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
        const sv_heat_panel panel = {.fabric = left, .load = load};
        const sv_heat heat = {.panels = &panel, .count = 1};
        char *text = written(&heat);
        assert_int_equal(occurrences(text, "<circle "), 8 - v);
        assert_int_equal(occurrences(text, "<path "), 2 * test_links(left));
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
        sv_fabric_free(left);
    }
    sv_mask_free(mask);
    sv_fabric_free(f);
}

static bool full(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    size_t *room = user;
    if (size > *room)
        return false;
    *room -= size;
    return true;
}

static sv_status draw(sv_ctx *own, void *arg)
{
    uint64_t load[200] = {1, 2, 3, 4, 5, 6, 7, 8};
    const sv_heat_panel panel = {.fabric = arg, .load = load};
    const sv_heat heat = {.panels = &panel, .count = 1};
    size_t room = SIZE_MAX;
    sv_sink sink = {"nowhere", &room, full};
    return sv_heat_write(own, &heat, &sink);
}

static void test_heat_without_memory_or_room(void **state)
{
    (void)state;
    static const char *const specs[] = {"mesh:3x3", "kary:k=2,n=2,hosts=1", "kautz:d=2,k=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        test_out_of_memory(specs[i], draw, f);
        sv_fabric_free(f);
    }
    sv_fabric *f = test_fabric(ctx, "mesh:3x3");
    uint64_t load[200] = {0};
    const sv_heat_panel panel = {.fabric = f, .load = load};
    const sv_heat heat = {.panels = &panel, .count = 1};
    size_t room = 1000;
    sv_sink sink = {"nowhere", &room, full};
    assert_int_equal(sv_heat_write(ctx, &heat, &sink), SV_IO);
    FAILS(ctx, sv_heat_save(ctx, &heat, "/nonexistent/heat.svg"), SV_IO, "/nonexistent");
    sv_fabric_free(f);
}

static void test_svg_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t max;
        const char *wanted;
    } cases[] = {{"", 0, ""},
                 {"<a href='x'>&\"", 0, "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"},
                 {"grün\t\x1b\x7f", 0, "grün\t??"},
                 {"\xc3", 0, "?"},
                 {"\xef\xbf\xbf\xef\xbf\xbd", 0, "?\xef\xbf\xbd"},
                 {"üüüü", 4, "üüüü"},
                 {"üüüüü", 4, "üüü…"},
                 {"&&&", 2, "&amp;…"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_text out;
        sv_text_init(&out, ctx, NULL);
        sv__svg_text(&out, cases[i].text, cases[i].max);
        assert_string_equal(out.at != NULL ? out.at : "", cases[i].wanted);
        sv_text_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torus_is_a_grid),
        cmocka_unit_test(test_mesh_is_a_grid),
        cmocka_unit_test(test_more_dimensions),
        cmocka_unit_test(test_tree_has_levels),
        cmocka_unit_test(test_dragonfly_has_groups),
        cmocka_unit_test(test_names_with_coordinates),
        cmocka_unit_test(test_by_distance),
        cmocka_unit_test(test_odd_fabrics),
        cmocka_unit_test(test_layout_without_memory),
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_parallel_cables_are_apart),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_heat_of_a_line),
        cmocka_unit_test(test_heat_of_what_is_left),
        cmocka_unit_test(test_heat_without_memory_or_room),
        cmocka_unit_test(test_svg_text),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
