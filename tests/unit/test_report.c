/* The page's data: places of switches, packed numbers, text that may stand in HTML. */
#include <math.h>
#include <selvage/report.h>
#include <sqlite3.h>
#include <unistd.h>

#include "picture/layout.h"
#include "report/pack.h"
#include "study/schema.h"
#include "support/testing.h"

TEST_CONTEXT

/* ---- layouts ---- */

/* A fabric as the database has it. */
static sv__net net_of(sv_arena *arena, const sv_fabric *f)
{
    sv__net net = {.num_switches = f->num_switches};
    net.names = SV_ARENA_NEW(arena, const char *, f->num_switches);
    net.terminals = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    net.wires = SV_ARENA_NEW(arena, sv__wire, f->num_channels);
    for (uint32_t s = 0; s < f->num_switches; s++)
        net.names[s] = sv_arena_text(arena, f->switches[s].name, strlen(f->switches[s].name));
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_is_cable(f, channel))
            continue;
        if (sv_joins_switches(f, channel))
            net.wires[net.num_wires++] =
                (sv__wire){f->tail[c].i, f->head[c].i, f->port[c], f->port[f->reverse[c].i]};
        else
            net.terminals[f->tail[c].i < f->num_switches ? f->tail[c].i : f->head[c].i]++;
    }
    return net;
}

/* All places are finite, and no two are the same. */
static void assert_apart(const sv__net *net, const sv__layout *l)
{
    for (uint32_t s = 0; s < net->num_switches; s++) {
        assert_true(isfinite(l->x[s]) && isfinite(l->y[s]));
        for (uint32_t t = 0; t < s; t++)
            if (l->x[s] == l->x[t] && l->y[s] == l->y[t])
                fail_msg("%s and %s are in one place", net->names[s], net->names[t]);
    }
}

static void laid_out(sv_arena *arena, const char *spec, sv__net *net, sv__layout *l)
{
    sv_fabric *f = test_fabric(ctx, spec);
    *net = net_of(arena, f);
    OK(ctx, sv__layout_find(ctx, arena, net, l));
    assert_apart(net, l);
    sv_fabric_free(f);
}

static uint32_t count_around(const sv__net *net, const sv__layout *l)
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
    sv__net net;
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
    sv__net net;
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
    sv__net net;
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
    sv__net net;
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
    sv__net net;
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
    sv__net net;
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
        sv__net net;
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
    sv__wire twice[] = {{0, 1, 1, 1}, {0, 2, 1, 1}, {2, 1, 7, 200}};
    sv__wire itself[] = {{0, 0, 1, 2}, {0, 1, 3, 1}};
    sv__wire far[] = {{0, 1, 0, 255}};
    sv__net nothing = {0}, alone = {4, 0, names, terminals, NULL};
    sv__net ports = {4, 3, names, terminals, twice}, loop = {4, 2, names, terminals, itself};
    sv__net strange = {4, 1, names, terminals, far}, one = {1, 0, names, terminals, NULL};
    const sv__net *all[] = {&nothing, &alone, &ports, &loop, &strange, &one};
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
        sv__net net = net_of(&arena, f);
        test_out_of_memory(specs[i], lay_out, &net);
        sv_arena_release(&arena);
        sv_fabric_free(f);
    }
}

/* ---- packing ---- */

static void assert_packed(const double *numbers, size_t count, const char *wanted)
{
    sv_text text;
    sv_json json;
    sv_text_init(&text, ctx, NULL);
    sv_json_init(&json, &text);
    sv_json_begin_row(&json, NULL, '[');
    sv__pack_numbers(&json, NULL, numbers, count);
    sv_json_end(&json, ']');
    OK(ctx, sv_text_finish(&text));
    assert_string_equal(text.at, wanted);
    sv_text_release(&text);
}

static void test_numbers_take_the_smallest_form(void **state)
{
    (void)state;
    assert_packed((double[]){1, -2, NAN}, 3,
                  "[{\"type\": \"i8\", \"length\": 3, \"data\": \"Af6A\"}]\n");
    assert_packed((double[]){-127, 127}, 2,
                  "[{\"type\": \"i8\", \"length\": 2, \"data\": \"gX8=\"}]\n");
    assert_packed((double[]){-128, 1}, 2, /* -128 would be no number */
                  "[{\"type\": \"i16\", \"length\": 2, \"data\": \"gP8BAA==\"}]\n");
    assert_packed((double[]){65536, NAN}, 2,
                  "[{\"type\": \"i32\", \"length\": 2, \"data\": \"AAABAAAAAIA=\"}]\n");
    assert_packed((double[]){4294967296.0}, 1,
                  "[{\"type\": \"f64\", \"length\": 1, \"data\": \"AAAAAAAA8EE=\"}]\n");
    assert_packed((double[]){0.1}, 1,
                  "[{\"type\": \"f64\", \"length\": 1, \"data\": \"mpmZmZmZuT8=\"}]\n");
    assert_packed((double[]){7, 7, 7, 7}, 4,
                  "[{\"type\": \"i8\", \"length\": 4, \"data\": \"Bw==\"}]\n");
    assert_packed(NULL, 0, "[{\"type\": \"i8\", \"length\": 0, \"data\": \"\"}]\n");
}

static void test_no_name_ends_a_script(void **state)
{
    (void)state;
    test_buffer buffer = {0};
    sv_sink sink = test_sink(&buffer);
    sv__script script;
    sv_text text;
    sv_json json;
    sv__script_init(&script, &sink);
    sv_text_init(&text, ctx, &script.sink);
    sv_json_init(&json, &text);
    sv_json_begin_row(&json, NULL, '[');
    sv_json_text(&json, NULL, "</script><script>alert(1)</script>");
    sv_json_text(&json, NULL, "<!--\xff\"\\\n");
    sv_json_text(&json, NULL, "<");
    sv_json_end(&json, ']');
    OK(ctx, sv_text_finish(&text));
    assert_string_equal(buffer.text, "[\"\\u003c/script>\\u003cscript>alert(1)\\u003c/script>\", "
                                     "\"\\u003c!--\\ufffd\\\"\\\\\\u000a\", \"\\u003c\"]\n");
    sv_text_release(&text);
    free(buffer.text);
}

static bool refuse(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    return size != 6; /* the escape */
}

static void test_script_passes_failures_on(void **state)
{
    (void)state;
    sv_sink sink = {.name = "full", .write = refuse};
    sv__script script;
    sv__script_init(&script, &sink);
    assert_true(script.sink.write(script.sink.user, "abc", 3));
    assert_false(script.sink.write(script.sink.user, "a<b", 3));
}

static void test_html_text(void **state)
{
    (void)state;
    sv_text text;
    sv_text_init(&text, ctx, NULL);
    sv__html_text(&text, "a<b>&\"é\xff</title>");
    assert_string_equal(text.at, "a&lt;b>&amp;&quot;é\xef\xbf\xbd&lt;/title>");
    sv_text_release(&text);
}

/* ---- all of it ---- */

static const char content[] =
    "INSERT INTO plan VALUES (1, 'run', 'run --fabric pair', '0.1.0', 2);"
    "INSERT INTO cell VALUES (1, 'a', 'pair', 'none', 'none', '', 0, 0, 'nue', 0, '', 'exchange',"
    " 'qdr', 2048, 0, 'sim'), (2, 'b', 'pair', 'links 1%', 'link', '%', 1, 1, 'nue', 0, '',"
    " 'exchange', 'qdr', 2048, 0, 'sim');"
    "INSERT INTO planned VALUES (1, 0, 1), (1, 1, 2);"
    "INSERT INTO result (cell, status, words, links_failed, throughput) VALUES"
    " (1, 'ok', '', 0, 2.5), (2, 'ok', '', 1, 1.5);"
    "INSERT INTO fabric VALUES ('pair', 2, 2, 2,"
    " '{\"switches\": [[\"a\", 1], [\"b\", 1]], \"cables\": [[0, 1, 1, 1], [0, 2, 1, 2]]}');"
    "INSERT INTO loads VALUES (1, x'0000000000000000', x'0101');"
    "INSERT INTO timeline VALUES (1, 1, 2.5, 1.0, x'00000000');";

static void fill_database(const char *path)
{
    sqlite3 *db = NULL;
    char text[64];
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (int version = 1; version <= sv__schema_version(); version++)
        assert_int_equal(sqlite3_exec(db, sv__schema_step(version), NULL, NULL, NULL), SQLITE_OK);
    snprintf(text, sizeof text, "PRAGMA user_version = %d; PRAGMA application_id = %d",
             sv__schema_version(), SV__SCHEMA_ID);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, content, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static bool swallow(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return true;
}

static sv_status write_report(sv_ctx *own, void *arg)
{
    sv_sink sink = {.name = "nowhere", .write = swallow};
    sv_report_request request = {.database = arg};
    return sv_report_write(own, &request, &sink);
}

static void test_report_without_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    fill_database(path);
    if (sv_can_report())
        test_out_of_memory("report", write_report, path);
    else
        FAILS(ctx, write_report(ctx, path), SV_UNSUPPORTED, "built without its page");
    unlink(path);
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
        cmocka_unit_test(test_numbers_take_the_smallest_form),
        cmocka_unit_test(test_no_name_ends_a_script),
        cmocka_unit_test(test_script_passes_failures_on),
        cmocka_unit_test(test_html_text),
        cmocka_unit_test(test_report_without_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
