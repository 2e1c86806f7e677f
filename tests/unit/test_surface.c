/* Latency maps: surfaces over the switches of a fabric, and over time. */
#include <math.h>

#include "picture/svg.h"
#include "support/testing.h"

TEST_CONTEXT

enum { MAX = 100 };

static char *written(const sv_surface *surface)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_surface_write(ctx, surface, &sink));
    return buffer.text;
}

static uint32_t occurrences(const char *text, const char *what)
{
    uint32_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        count++;
    return count;
}

static sv_surface surface_of(const sv_fabric *f, const sv_surface_panel *panels, uint32_t count)
{
    return (sv_surface){.fabric = f,
                        .panels = panels,
                        .count = count,
                        .title = "a < b",
                        .unit = "us",
                        .time_unit = "ms"};
}

/* Four switches of a square: one patch, whose corners are as high as they should. */
static void a_square_is_one_patch(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=1");
    double height[4] = {0, 1, 2, 4};
    const sv_surface_panel panel = {.title = "x & y", .height = height};
    const sv_surface surface = surface_of(f, &panel, 1);
    char *text = written(&surface);
    assert_int_equal(occurrences(text, "<polygon class=\"s"), 1);
    /* (7 / 4 + 4) / 2 of 4: 0.72 × 16 steps */
    assert_int_equal(occurrences(text, "<polygon class=\"s12\""), 1);
    assert_int_equal(occurrences(text, "<circle "), 4);
    assert_non_null(strstr(text, ">sw1-1: 4 us</title>"));
    assert_non_null(strstr(text, ">sw0-0: 0 us</title>"));
    assert_non_null(strstr(text, "peak 4 us at sw1-1<"));
    assert_non_null(strstr(text, ">x &amp; y</text>"));
    assert_non_null(strstr(text, "<title>a &lt; b</title>"));
    assert_null(strstr(text, "over time"));
    assert_null(strstr(text, "nan"));
    /* the front corner, 150 higher than where it is on the ground: (1 + 1) × 95 */
    assert_non_null(strstr(text, "<circle class=\"point\" cx=\"0.0\" cy=\"40.0\""));
    free(text);
    sv_fabric_free(f);
}

/* One scale for all panels; over time only those that were ever high, the highest first. */
static void panels_share_a_scale(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x3,hosts=1");
    double low[6] = {0, 1, 0, 0, 0, NAN}, high[6] = {0, 0, 10, 0, 0, NAN};
    double cells[12] = {0, 3, NAN, 0, 0, 0, 0, 6, 0, 0, 0, 0};
    const sv_surface_panel panels[] = {
        {.title = "low", .height = low, .cells = cells, .columns = 2, .column = 2.5},
        {.title = "high", .height = high}};
    const sv_surface surface = surface_of(f, panels, 2);
    char *text = written(&surface);
    assert_int_equal(occurrences(text, "<polygon class=\"s"), 4);
    assert_int_equal(occurrences(text, "<polygon class=\"s1\""), 2);  /* of low: 1/16 … */
    assert_int_equal(occurrences(text, "<polygon class=\"s10\""), 1); /* of high: 0.625 */
    assert_int_equal(occurrences(text, "<polygon class=\"s0\""), 1);
    assert_int_equal(occurrences(text, "<rect class=\"s8\" x=\"96.0\" y=\"11\""), 1);
    assert_non_null(strstr(text, "<rect class=\"s16\" x=\"263.0\" y=\"11\""));
    assert_int_equal(occurrences(text, "<rect class=\"s"), 4 + 17); /* two switches, legend */
    assert_non_null(strstr(text, "sw0-2: nothing</title>"));
    assert_non_null(strstr(text, ">5 ms</text>"));
    assert_non_null(strstr(text, "surface: 0 … 10 us; over time: 0 … 6 us"));
    char *again = written(&surface);
    assert_string_equal(text, again);
    free(again);
    free(text);
    sv_fabric_free(f);
}

/* Columns in which nothing was are one rectangle, others are not; thousands of us are ms. */
static void stretches_of_nothing_are_one(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=1");
    double height[4] = {0, 2000, 0, 0}, cells[5 * 4] = {0};
    const double over_time[5] = {NAN, NAN, 1500, 1500, NAN};
    for (int c = 0; c < 5; c++)
        cells[4 * c + 1] = over_time[c];
    const sv_surface_panel panel = {
        .title = "one", .height = height, .cells = cells, .columns = 5, .column = 2};
    const sv_surface surface = surface_of(f, &panel, 1);
    char *text = written(&surface);
    assert_int_equal(occurrences(text, "<rect class=\"s"), 4 + 17);
    assert_non_null(strstr(text, "<rect class=\"s0\" x=\"96.0\" y=\"0\" width=\"133.6\""));
    assert_non_null(strstr(text, "<rect class=\"s16\" x=\"229.6\" y=\"0\" width=\"66.8\""));
    assert_non_null(strstr(text, "<rect class=\"s0\" x=\"363.2\" y=\"0\" width=\"66.8\""));
    assert_non_null(strstr(text, "surface: 0 … 2 ms; over time: 0 … 1.5 ms"));
    free(text);
    sv_fabric_free(f);
}

static void trees_have_levels_and_others_bars(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t patches, bars;
    } cases[] = {{"kary:k=4,n=3,hosts=4", 2 * 15, 0},
                 {"torus:4x5,hosts=1", 3 * 4, 0},
                 {"dragonfly:a=4,p=1,h=2,g=9", 0, 36},
                 {"xgft:h=2,m=4/4,w=2/2,hosts=1", 0, 28}, /* levels of 16, 8 and 4 */
                 {"mesh:5,hosts=1", 0, 5},
                 {"mesh:1,hosts=2", 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_fabric *f = test_fabric(ctx, cases[i].spec);
        double height[MAX] = {0};
        assert_true(f->num_switches <= MAX);
        for (uint32_t s = 0; s < f->num_switches; s++)
            height[s] = s;
        const sv_surface_panel panel = {.height = height};
        const sv_surface surface = surface_of(f, &panel, 1);
        char *text = written(&surface);
        if (occurrences(text, "<polygon class=\"s") != cases[i].patches ||
            occurrences(text, "<path class=\"bar") != cases[i].bars)
            fail_msg("%s: %u patches, %u bars", cases[i].spec,
                     occurrences(text, "<polygon class=\"s"),
                     occurrences(text, "<path class=\"bar"));
        assert_null(strstr(text, "nan"));
        free(text);
        sv_fabric_free(f);
    }
}

/* Nothing waited anywhere: flat, and no division by nothing. */
static void nothing_is_flat(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:3x3,hosts=1");
    double height[9], cells[9];
    for (int i = 0; i < 9; i++)
        height[i] = cells[i] = i % 2 == 0 ? 0 : NAN;
    const sv_surface_panel panel = {.height = height, .cells = cells, .columns = 1, .column = 1};
    const sv_surface surface = surface_of(f, &panel, 1);
    char *text = written(&surface);
    assert_int_equal(occurrences(text, "<polygon class=\"s0\""), 4);
    assert_non_null(strstr(text, "nothing waited"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    sv_fabric_free(f);
}

static sv_status draw(sv_ctx *own, void *arg)
{
    const sv_fabric *f = arg;
    double height[MAX] = {1, 2, 3};
    const sv_surface_panel panel = {
        .height = height, .cells = height, .columns = 1, .column = 1, .title = "t"};
    const sv_surface surface = surface_of(f, &panel, 1);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_status status = sv_surface_write(own, &surface, &sink);
    free(buffer.text);
    return status;
}

static bool full(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return false;
}

static void memory_and_room_may_run_out(void **state)
{
    (void)state;
    static const char *const specs[] = {"mesh:3x3", "kary:k=2,n=2,hosts=1", "kautz:d=2,k=2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        test_out_of_memory(specs[i], draw, f);
        double height[MAX] = {1};
        const sv_surface_panel panel = {.height = height};
        const sv_surface surface = surface_of(f, &panel, 1);
        sv_sink sink = {"nowhere", NULL, full};
        assert_int_equal(sv_surface_write(ctx, &surface, &sink), SV_IO);
        sv_fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_square_is_one_patch),
        cmocka_unit_test(panels_share_a_scale),
        cmocka_unit_test(stretches_of_nothing_are_one),
        cmocka_unit_test(trees_have_levels_and_others_bars),
        cmocka_unit_test(nothing_is_flat),
        cmocka_unit_test(memory_and_room_may_run_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
