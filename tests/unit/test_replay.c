/*
 * test_replay.c: replays: what counts how often, what is told of tables, pictures, and what is
 * refused. That the numbers are right is for tests/oracle/test_jobs_replay.py.
 */
#include "support/testing.h"

#include <math.h>

#include "base/file.h"
#include "text/times.h"

TEST_CONTEXT

/* A job on two switches of torus:3x3,hosts=2 for two hours, one on one, and another after it. */
static const char *const two_jobs =
    "JobID|Start|End|State|NodeList\n"
    "1|2015-02-01T00:05:00|2015-02-01T02:00:00|COMPLETED|host[0-5]\n"
    "2|2015-02-01T01:00:00|2015-02-01T04:00:00|COMPLETED|host[6-7]\n"
    "3|2015-02-01T02:00:00|2015-02-01T03:00:00|COMPLETED|host[0-5]\n"
    "4|2015-02-01T05:00:00|2015-02-01T06:00:00|COMPLETED|host[3-9]\n";

static sv_allocations *history_of(const char *text)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "history");
    sv_allocations *history = NULL;
    OK(ctx, sv_allocations_read(ctx, &source, SV_JOBS_AUTO, &history));
    return history;
}

static const sv_replay_engine both[] = {{.name = "sar", .jobs = true, .label = "sar"},
                                        {.name = "updn", .label = "updn"}};

static sv_replay_plan plan_of(int64_t every)
{
    return (sv_replay_plan){.engines = both,
                            .num_engines = 2,
                            .begin = SV_TIME_UNKNOWN,
                            .until = SV_TIME_UNKNOWN,
                            .every = every};
}

static void only_changes_that_matter_are_routed(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=2");
    sv_allocations *history = history_of(two_jobs);
    sv_replay_plan plan = plan_of(300);
    sv_replay *r = NULL;
    OK(ctx, sv_replay_run(ctx, f, history, &plan, &r));
    /* Six hours less the first five minutes. Job 3 is job 1 once more, job 2 is on one switch. */
    assert_int_equal(r->num_samples, 71);
    assert_int_equal(r->num_scenes, 3);
    assert_int_equal(r->scenes[0].samples, 35);
    assert_int_equal(r->scenes[1].samples, 24);
    assert_int_equal(r->scenes[2].samples, 12);
    assert_int_equal(r->scenes[1].jobs, 0);
    assert_int_equal(r->idle, 24);
    assert_int_equal(r->samples[30].running, 2);
    assert_int_equal(r->samples[59].at, r->samples[0].at + 59 * 300);
    assert_int_equal(r->tables[0].routed, 2); /* nothing is routed for no jobs */
    assert_int_equal(r->tables[1].routed, 1);
    for (int e = 0; e < 2; e++)
        assert_int_equal(r->tables[e].unconnected + r->tables[e].deadlocking +
                             r->tables[e].undecided + r->tables[e].infeasible,
                         0);
    const double *idle = &r->values[2 * SV_REPLAY_METRICS];
    assert_true(idle[SV_REPLAY_EFI] == 0 && idle[SV_REPLAY_DARK] == 100);
    assert_true(isnan(idle[SV_REPLAY_JOB_EFI]) && isnan(idle[SV_REPLAY_LINKS]));
    assert_int_equal(sv_replay_improvement(r, SV_REPLAY_EFI, 0, 1).samples, 47);
    sv_replay_free(r);
    sv_allocations_free(history);
    sv_fabric_free(f);
}

static void threads_do_not_show(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_history_plan wanted = sv_history_defaults();
    sv_history *made = NULL;
    wanted.days = 2;
    OK(ctx, sv_history_make(ctx, f, &wanted, &made));
    test_buffer text;
    sv_sink sink = test_sink(&text);
    OK(ctx, sv_history_write(ctx, made, &sink));
    sv_allocations *history = history_of(text.text);
    sv_replay_plan plan = plan_of(3600);
    test_buffer csv[2];
    for (int i = 0; i < 2; i++) {
        sv_replay *r = NULL;
        sv_sink into = test_sink(&csv[i]);
        sv_ctx_set_threads(ctx, i == 0 ? 1 : 5);
        OK(ctx, sv_replay_run(ctx, f, history, &plan, &r));
        OK(ctx, sv_replay_write_csv(ctx, r, &into));
        sv_replay_free(r);
    }
    sv_ctx_set_threads(ctx, 0);
    assert_string_equal(csv[0].text, csv[1].text);
    assert_non_null(strstr(csv[0].text, ",updn,"));
    free(csv[0].text);
    free(csv[1].text);
    free(text.text);
    sv_allocations_free(history);
    sv_history_free(made);
    sv_fabric_free(f);
}

/* Two engines, four scenes: weights 1, 2, 5, 1; the third without jobs, the last without tables. */
static const sv_replay_scene scenes[] = {{0, 1, 3, 9}, {1, 2, 3, 9}, {3, 5, 0, 0}, {8, 1, 2, 9}};
static const double values[4][2][SV_REPLAY_METRICS] = {
    {{60, 6, 40, 12}, {100, 8, 50, 10}},
    {{30, 3, 50, 20}, {40, 2, 40, 25}},
    {{0, NAN, 100, NAN}, {0, NAN, 100, NAN}},
    {{NAN, NAN, NAN, NAN}, {9, 9, 9, 9}},
};

static sv_replay hand_made(sv_replay_sample samples[9])
{
    for (uint32_t s = 0, i = 0; s < 4; s++)
        for (uint32_t k = 0; k < scenes[s].samples; k++, i++)
            samples[i] = (sv_replay_sample){43200 * (int64_t)i, s, 7};
    return (sv_replay){.samples = samples,
                       .num_samples = 9,
                       .scenes = scenes,
                       .num_scenes = 4,
                       .engines = both,
                       .num_engines = 2,
                       .values = &values[0][0][0],
                       .every = 43200};
}

static void improvements_are_as_defined(void **state)
{
    (void)state;
    sv_replay_sample samples[9];
    sv_replay r = hand_made(samples);
    sv_improvement efi = sv_replay_improvement(&r, SV_REPLAY_EFI, 0, 1);
    assert_int_equal(efi.samples, 3);
    assert_true(efi.max == 40 && efi.max_percent == 40); /* of 100; 10 of 40 is less */
    assert_true(efi.value == 40 && efi.other == 60 && efi.mean == 20);
    assert_true(fabs(efi.mean_percent - 100.0 / 3) < 1e-9); /* of the means: not 30 */
    sv_improvement links = sv_replay_improvement(&r, SV_REPLAY_LINKS, 0, 1);
    assert_true(links.max == 2 && links.max_percent == 20); /* more is better */
    assert_true(fabs(links.mean - (2 - 10) / 3.0) < 1e-9);
    sv_improvement dark = sv_replay_improvement(&r, SV_REPLAY_DARK, 0, 1);
    assert_true(fabs(dark.mean - (10 - 20) / 3.0) < 1e-9);
    r.num_scenes = 0;
    assert_true(isnan(sv_replay_improvement(&r, SV_REPLAY_EFI, 0, 1).max));
    assert_true(isnan(sv_replay_improvement(&r, SV_REPLAY_EFI, 0, 1).mean_percent));
}

static void changes_are_counted_by_day(void **state)
{
    (void)state;
    sv_replay_sample samples[9];
    sv_replay r = hand_made(samples); /* 4.5 days; changes at 0.5, 1.5 and, in a half day, at 4 */
    sv_replay_changes found = sv_replay_count_changes(&r);
    assert_int_equal(found.days, 4);
    assert_int_equal(found.min, 0);
    assert_int_equal(found.max, 1);
    assert_true(found.mean == 0.5);
    r.every = 3600; /* less than a day is one */
    for (int64_t i = 0; i < 9; i++)
        samples[i].at = 3600 * i;
    found = sv_replay_count_changes(&r);
    assert_int_equal(found.days, 1);
    assert_int_equal(found.min, 3);
    assert_true(found.mean == 3);
}

static void pictures_escape_what_must_be(void **state)
{
    (void)state;
    sv_replay_sample samples[9];
    sv_replay r = hand_made(samples);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_replay_write_svg(ctx, &r, "a<b>&c\n\xff\xef\xbf\xbf\x7f", &sink));
    assert_non_null(strstr(buffer.text, ">a&lt;b&gt;&amp;c\?\?\?"));
    assert_null(strstr(buffer.text, "\xef\xbf\xbf")); /* U+FFFF is no character of XML */
    assert_non_null(strstr(buffer.text, ">sar</text>"));
    assert_null(strstr(buffer.text, "nan"));
    assert_null(strstr(buffer.text, "inf"));
    free(buffer.text);
}

static void tables_that_do_not_exist_are_told(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:5x5,hosts=2");
    sv_allocations *history =
        history_of("JobID|Start|End|State|NodeList\n"
                   "1|2015-02-01T00:00:00|2015-02-01T01:00:00|COMPLETED|host[0-49]\n");
    sv_replay_plan plan = plan_of(600);
    sv_replay *r = NULL;
    plan.vls = 1; /* sar needs more on a torus; updn does not */
    OK(ctx, sv_replay_run(ctx, f, history, &plan, &r));
    assert_int_equal(r->tables[0].routed, 0);
    assert_int_equal(r->tables[0].infeasible, 1);
    assert_true(isnan(r->values[SV_REPLAY_EFI]));
    assert_int_equal(sv_replay_improvement(r, SV_REPLAY_EFI, 0, 1).samples, 0);
    sv_replay_free(r);
    r = NULL;
    const sv_replay_engine fixed[] = {{.name = "dfsssp"}, {.name = "updn"}, {.name = "ftree"}};
    plan.engines = fixed;
    plan.num_engines = 1;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_INFEASIBLE, "no engine has tables");
    assert_null(r);
    plan.num_engines = 3;
    OK(ctx, sv_replay_run(ctx, f, history, &plan, &r));
    for (int e = 0; e < 3; e++) {
        assert_int_equal(r->tables[e].routed, e == 1);
        assert_int_equal(r->tables[e].infeasible, e != 1);
        assert_int_equal(isnan(r->values[e * SV_REPLAY_METRICS + SV_REPLAY_EFI]), e != 1);
    }
    test_buffer svg;
    sv_sink sink = test_sink(&svg);
    OK(ctx, sv_replay_write_svg(ctx, r, "t", &sink));
    assert_null(strstr(svg.text, "nan"));
    free(svg.text);
    sv_replay_free(r);
    sv_allocations_free(history);
    sv_fabric_free(f);
}

static void wrong_plans_are_refused(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=2");
    sv_allocations *history = history_of(two_jobs), *now = history_of("host1 12\n");
    sv_replay_plan plan = plan_of(0);
    sv_replay *r = NULL;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "every 0 seconds");
    plan = plan_of(1);
    plan.until = history->begin;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "is empty");
    plan.until = history->begin + 20000000;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "samples are too many");
    plan = plan_of(600);
    FAILS(ctx, sv_replay_run(ctx, f, now, &plan, &r), SV_BAD_INPUT, "tells no times");
    sv_allocations *open = history_of("JobID|Start|End|NodeList\n1|100|Unknown|host[0-5]\n");
    FAILS(ctx, sv_replay_run(ctx, f, open, &plan, &r), SV_BAD_INPUT, "until when (--until)?");
    sv_allocations_free(open);
    plan.num_engines = 0;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "0 engines");
    const sv_replay_engine none[] = {{.name = "magic"}}, deaf[] = {{.name = "updn", .jobs = true}};
    plan.num_engines = 1;
    plan.engines = none;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "no engine 'magic'");
    plan.engines = deaf;
    FAILS(ctx, sv_replay_run(ctx, f, history, &plan, &r), SV_BAD_INPUT, "updn follows no jobs");
    assert_null(r);
    assert_null(sv_replay_metric_name(SV_REPLAY_METRICS));
    sv_replay_free(NULL);
    sv_allocations_free(now);
    sv_allocations_free(history);
    sv_fabric_free(f);
}

static void dates_are_of_the_calendar(void **state)
{
    (void)state;
    const struct {
        int64_t at;
        const char *text;
    } cases[] = {{0, "1970-01-01T00:00:00"},
                 {INT64_C(951782400), "2000-02-29T00:00:00"},
                 {INT64_C(951868799), "2000-02-29T23:59:59"},
                 {INT64_C(1422748800), "2015-02-01T00:00:00"},
                 {INT64_C(4107542399), "2100-02-28T23:59:59"},
                 {INT64_C(4107542400), "2100-03-01T00:00:00"},
                 {-1, "1969-12-31T23:59:59"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SV__DATE_ROOM];
        sv__date_text(cases[i].at, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_changes_that_matter_are_routed),
                                       cmocka_unit_test(threads_do_not_show),
                                       cmocka_unit_test(improvements_are_as_defined),
                                       cmocka_unit_test(changes_are_counted_by_day),
                                       cmocka_unit_test(pictures_escape_what_must_be),
                                       cmocka_unit_test(tables_that_do_not_exist_are_told),
                                       cmocka_unit_test(wrong_plans_are_refused),
                                       cmocka_unit_test(dates_are_of_the_calendar)};
    return cmocka_run_group_tests(tests, begin, end);
}
