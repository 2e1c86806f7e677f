/*
 * test_study.c: plans and results from inside: what lists stand for, what makes two cells one, and
 * results as bytes for other processes. Studies as they are run: tests/cli/test_study.py.
 */
#include <string.h>

#include "study/study.h"
#include "support/testing.h"

TEST_CONTEXT

/* Expands a list and compares it with words separated by blanks. */
static void expands(sv_arena *arena, bool spec, const char *text, const char *wanted)
{
    sv__words words = {0};
    char all[1000] = "";
    OK(ctx, (spec ? sv__expand_spec : sv__expand_numbers)(arena, text, &words));
    for (size_t i = 0; i < words.length; i++) {
        strcat(all, i > 0 ? " " : "");
        strcat(all, words.at[i]);
    }
    assert_string_equal(all, wanted);
}

static void lists_stand_for_what_they_say(void **state)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    expands(&arena, false, "0,1%,3%", "0 1% 3%");
    expands(&arena, false, "1..3,7", "1 2 3 7");
    expands(&arena, false, "5..5", "5");
    expands(&arena, true, "torus:4x4", "torus:4x4");
    expands(&arena, true, "torus:{3x3,4x4},hosts={1..2}",
            "torus:3x3,hosts=1 torus:3x3,hosts=2 torus:4x4,hosts=1 torus:4x4,hosts=2");
    sv__words words = {0};
    assert_int_equal(sv__expand_numbers(&arena, "1,", &words), SV_BAD_INPUT);
    assert_int_equal(sv__expand_numbers(&arena, "", &words), SV_BAD_INPUT);
    assert_int_equal(sv__expand_numbers(&arena, "3..2", &words), SV_BAD_INPUT);
    assert_int_equal(sv__expand_numbers(&arena, "1..99999999999", &words), SV_BAD_INPUT);
    assert_int_equal(sv__expand_spec(&arena, "a{1", &words), SV_BAD_INPUT);
    sv_arena_release(&arena);
    (void)state;
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) \
    }

static void a_cell_is_there_once(void **state)
{
    sv_study *study = NULL;
    const sv_study_request request = {.study = "run",
                                      .fabrics = LIST("mesh:2x2", "mesh:2x2"),
                                      .links = LIST("0,1,0%,1"),
                                      .switches = LIST("0"),
                                      .seeds = LIST("1..3", "2"),
                                      .engines = LIST("updn,nue,updn"),
                                      .no_simulation = true};
    OK(ctx, sv_study_new(ctx, &request, &study));
    assert_int_equal(sv_study_cells(study), 2 * (1 + 3));
    assert_string_equal(sv_study_key(study, 0),
                        "fabric=mesh:2x2 faults=none seed=0 engine=updn vls=0 options= traffic= "
                        "profile= message=0 load=0 what=metrics");
    assert_string_equal(sv_study_words(study),
                        "run --fabric mesh:2x2 --fabric mesh:2x2 --links 0,1,0%,1 --switches 0 "
                        "--seeds 1..3 --seeds 2 --engine updn,nue,updn --no-sim");
    sv_study_free(study);
    (void)state;
}

static void parts_make_the_whole(void **state)
{
    sv_study_request request = {.study = "run",
                                .fabrics = LIST("mesh:{2..9}x2"),
                                .links = LIST("0,1"),
                                .seeds = LIST("1..20"),
                                .engines = LIST("updn,nue,minhop,dor"),
                                .no_simulation = true};
    sv_study *whole = NULL;
    OK(ctx, sv_study_new(ctx, &request, &whole));
    uint32_t cells = sv_study_cells(whole), seen[700] = {0};
    assert_int_equal(cells, 8 * 21 * 4);
    for (uint32_t parts = 1; parts < 9; parts++) {
        memset(seen, 0, sizeof seen);
        for (uint32_t part = 1; part <= parts; part++) {
            sv_study *study = NULL;
            unsigned nue = 0;
            request.part = part;
            request.parts = parts;
            OK(ctx, sv_study_new(ctx, &request, &study));
            for (uint32_t i = 0; i < sv_study_cells(study); i++) {
                uint32_t place = study->cells[i].place;
                seen[place]++;
                assert_string_equal(sv_study_key(study, i), sv_study_key(whole, place));
                nue += strcmp(study->cells[i].router->name, "nue") == 0;
            }
            assert_in_range(sv_study_cells(study), cells / parts, cells / parts + 1);
            assert_in_range(nue, cells / parts / 4 / 3, cells / parts / 4 * 3); /* its share */
            sv_study_free(study);
        }
        for (uint32_t i = 0; i < cells; i++)
            assert_int_equal(seen[i], 1);
    }
    sv_study_free(whole);
    (void)state;
}

static void results_as_bytes(void **state)
{
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv__lost_row lost[2] = {{7, {.failures = 1, .mean = 2.5}}, {8, {.failures = 3}}};
    uint8_t cables[] = {1, 2, 3, 4}, nodes[] = {1}, timeline[] = {9, 9};
    char body[] = "{\"switches\": []}";
    sv__result from = {.status = "ok",
                       .words = "",
                       .lost = lost,
                       .num_lost = 2,
                       .body = body,
                       .cables = cables,
                       .cables_bytes = 4,
                       .nodes = nodes,
                       .nodes_bytes = 1,
                       .timeline = timeline,
                       .timeline_bytes = 2,
                       .columns = 1},
               to;
    sv__set_real(&from, SV__C_throughput, 12.5);
    void *bytes;
    size_t length;
    uint32_t cell;
    OK(ctx, sv__message_pack(ctx, 7, 41, &from, &bytes, &length));
    OK(ctx, sv__message_unpack(&arena, bytes, length, &cell, &to));
    assert_int_equal(cell, 41);
    assert_int_equal(*(const uint32_t *)bytes, 7);
    assert_string_equal(to.body, body);
    assert_memory_equal(to.lost, lost, sizeof lost);
    assert_memory_equal(to.cables, cables, 4);
    assert_memory_equal(to.nodes, nodes, 1);
    assert_memory_equal(to.timeline, timeline, 2);
    assert_true(to.values[SV__C_throughput].given && to.values[SV__C_throughput].real == 12.5);
    assert_false(to.values[SV__C_latency_avg].given);
    for (size_t cut = 0; cut < length; cut += cut + 8 < length ? 7 : 1)
        assert_int_equal(sv__message_unpack(&arena, bytes, cut, &cell, &to), SV_BAD_INPUT);
    sv_release(ctx, bytes);
    sv_arena_release(&arena);
    (void)state;
}

/* A workers that is ended while it works gives up. */
static void workers_can_be_ended(void **state)
{
    sv_study *study = NULL;
    const sv_study_request request = {
        .study = "run", .fabrics = LIST("torus:{6,7,8}x6x6,hosts=4"), .engines = LIST("updn,nue")};
    OK(ctx, sv_study_new(ctx, &request, &study));
    sv__study_workers *workers = NULL;
    const sv_study_limits limits = {.threads = 3};
    OK(ctx, sv__workers_new(ctx, study, &limits, &workers));
    for (uint32_t i = 0; i < sv_study_cells(study); i++)
        OK(ctx, sv__workers_give(workers, i));
    assert_int_equal(sv__workers_threads(workers), 3);
    /* Each cell takes far longer than a thread takes to begin, however busy the machine. */
    for (unsigned i = 0; i < 1000 && sv__workers_current(workers) == SV_NONE; i++)
        assert_null(sv__workers_take(workers, 20));
    assert_true(sv__workers_current(workers) != SV_NONE);
    assert_int_equal(sv__workers_busy(workers), 6);
    sv__workers_free(workers);
    sv_study_free(study);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_stand_for_what_they_say), cmocka_unit_test(a_cell_is_there_once),
        cmocka_unit_test(parts_make_the_whole),          cmocka_unit_test(results_as_bytes),
        cmocka_unit_test(workers_can_be_ended),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
