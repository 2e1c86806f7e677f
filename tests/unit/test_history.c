/*
 * test_history.c: histories made up: what every one of them keeps to, what plans do, and what is
 * refused.
 */
#include "support/testing.h"

#include <math.h>

#include "base/file.h"
#include "text/hostlist.h"

enum { DAY = 86400 };

static char warnings[1024];

static void keep_warning(void *user, sv_log_level level, const char *message)
{
    (void)user;
    if (level == SV_LOG_WARNING)
        snprintf(warnings, sizeof warnings, "%s", message);
}

static sv_ctx *ctx;

static int begin(void **state)
{
    (void)state;
    sv_host host = {.log = keep_warning};
    ctx = sv_ctx_new(&host);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static sv_history *made(const sv_fabric *f, const sv_history_plan *plan)
{
    sv_history *h = NULL;
    warnings[0] = 0;
    OK(ctx, sv_history_make(ctx, f, plan, &h));
    return h;
}

static char *written(const sv_history *h)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_history_write(ctx, h, &sink));
    return buffer.text;
}

/* Small and busy: a queue forms. */
static sv_history_plan busy_plan(void)
{
    sv_history_plan plan = sv_history_defaults();
    plan.load = 0.95;
    plan.large = 0.2;
    plan.largest = 30;
    plan.days = 10;
    plan.warm_up = 5;
    return plan;
}

static void no_node_has_two_jobs_at_once(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=6,n=2,hosts=6");
    for (int best = 0; best < 2; best++) {
        sv_history_plan plan = busy_plan();
        plan.best_fit = best;
        sv_history *h = made(f, &plan);
        assert_int_equal(h->num_hosts, 36);
        for (uint32_t i = 0; i < h->count; i++) {
            const sv_made_job *a = &h->jobs[i];
            if (a->begin == SV_TIME_OPEN)
                continue;
            assert_true(a->submit <= a->begin && a->begin < a->end);
            assert_true(a->end - a->begin <= a->limit && a->switches >= 1);
            assert_int_equal(a->killed, a->end - a->begin == a->limit);
            for (uint32_t k = 1; k < a->num_hosts; k++)
                assert_true(a->hosts[k - 1] < a->hosts[k]);
            for (uint32_t j = 0; j < i; j++) {
                const sv_made_job *b = &h->jobs[j];
                if (b->begin == SV_TIME_OPEN || a->end <= b->begin || b->end <= a->begin)
                    continue;
                for (uint32_t k = 0; k < a->num_hosts; k++)
                    for (uint32_t l = 0; l < b->num_hosts; l++)
                        assert_int_not_equal(a->hosts[k], b->hosts[l]);
            }
        }
        sv_history_free(h);
    }
    sv_fabric_free(f);
}

static void who_waits_first_begins_as_promised(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=6,n=2,hosts=6");
    uint32_t waited = 0, overtaken = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sv_history_plan plan = busy_plan();
        plan.seed = seed;
        sv_history *h = made(f, &plan);
        for (uint32_t i = 0; i < h->count; i++) {
            const sv_made_job *job = &h->jobs[i];
            if (job->promised == SV_TIME_UNKNOWN)
                continue;
            waited++;
            assert_true(job->begin <= job->promised || job->promised >= h->end);
            for (uint32_t k = i + 1; k < h->count; k++)
                overtaken += h->jobs[k].begin < job->begin;
        }
        sv_history_free(h);
    }
    assert_true(waited > 50 && overtaken > 50); /* else nothing was tried */
    sv_fabric_free(f);
}

static void the_same_plan_makes_the_same(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4,hosts=2");
    char *text[3];
    for (int i = 0; i < 3; i++) {
        sv_history_plan plan = busy_plan();
        plan.seed = i == 2 ? 8 : 7;
        sv_history *h = made(f, &plan);
        text[i] = written(h);
        sv_history_free(h);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++)
        free(text[i]);
    sv_fabric_free(f);
}

static void what_is_written_can_be_read(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=6,n=2,hosts=6");
    sv_history_plan plan = busy_plan();
    sv_history *h = made(f, &plan);
    char *text = written(h);
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "made");
    sv_allocations *read = NULL;
    uint64_t node_seconds = 0;
    OK(ctx, sv_allocations_read(ctx, &source, SV_JOBS_AUTO, &read));
    assert_int_equal(read->count, h->told);
    assert_int_equal(read->begin, h->begin); /* jobs of the warm-up are cut */
    assert_true(read->end <= h->end);
    for (uint32_t i = 0; i < read->count; i++) {
        const sv_allocation *a = &read->list[i];
        const sv_made_job *job = &h->jobs[atoi(a->job) - 1];
        assert_int_equal(a->num_hosts, job->num_hosts);
        assert_int_equal(a->begin, job->begin > h->begin ? job->begin : h->begin);
        assert_int_equal(a->end, job->end < h->end ? job->end : h->end);
        node_seconds += (uint64_t)(a->end - a->begin) * a->num_hosts;
    }
    assert_true(fabs((double)node_seconds / (36.0 * 10 * DAY) - h->utilisation) < 1e-9);
    sv_allocations_free(read);
    free(text);
    sv_history_free(h);
    sv_fabric_free(f);
}

static void a_share_on_several_switches_is_met(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=8,n=2,hosts=8");
    sv_history_plan plan = sv_history_defaults();
    const double wanted[] = {0.3, 0.5, 0.66};
    for (int i = 0; i < 3; i++) {
        plan.several = wanted[i];
        sv_history *h = made(f, &plan);
        assert_true(fabs((double)h->several / h->told - wanted[i]) < 0.02);
        assert_string_equal(warnings, "");
        sv_history_free(h);
    }
    plan.several = 0.99; /* some jobs always fit on one switch */
    sv_history *h = made(f, &plan);
    assert_non_null(strstr(warnings, "not 99.0 %"));
    sv_history_free(h);
    sv_fabric_free(f);
}

/* A host with two adapters on two switches, one with one; and a server for storage. */
static const char net[] =
    "Switch 8 \"S-1\" # \"sw1\"\n[1] \"H-1\"[1]\n[2] \"H-3\"[1]\n[3] \"H-4\"[1]\n[8] \"S-2\"[8]\n\n"
    "Switch 8 \"S-2\" # \"sw2\"\n[1] \"H-2\"[1]\n[8] \"S-1\"[8]\n\n"
    "Ca 1 \"H-1\" # \"n10 HCA-1\"\n[1] \"S-1\"[1]\n\n"
    "Ca 1 \"H-2\" # \"n10 HCA-2\"\n[1] \"S-2\"[1]\n\n"
    "Ca 1 \"H-3\" # \"n9 HCA-1\"\n[1] \"S-1\"[2]\n\n"
    "Ca 1 \"H-4\" # \"%s\"\n[1] \"S-1\"[3]\n";

static void hosts_are_known_by_name(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, net, "n011 HCA-1");
    sv_fabric *f = test_read(ctx, text);
    sv_history_plan plan = sv_history_defaults();
    plan.single = 1;
    sv_history *h = made(f, &plan);
    assert_int_equal(h->num_hosts, 3);
    assert_string_equal(h->hosts[0], "n9");
    assert_string_equal(h->hosts[1], "n10");
    assert_string_equal(h->hosts[2], "n011");
    bool seen[2] = {false, false};
    for (uint32_t i = 0; i < h->count; i++)
        if (h->jobs[i].begin != SV_TIME_OPEN && h->jobs[i].num_hosts == 1) {
            bool two = h->jobs[i].hosts[0] == 1; /* n10 hangs on both switches */
            assert_int_equal(h->jobs[i].switches, two ? 2 : 1);
            seen[two] = true;
        }
    assert_true(seen[0] && seen[1]);
    sv_history_free(h);
    sv_fabric_free(f);
}

/* What is made can be read: every name, or the history is refused. */
static void names_go_round_or_are_refused(void **state)
{
    (void)state;
    sv_history_plan plan = sv_history_defaults();
    plan.single = 1;
    plan.load = 0.95;
    int made_of = 0, refused = 0;
    for (int c = 33; c < 256; c++) {
        char text[1024], name[20];
        if (c == '"' || c == '\\' || c == 127) /* not in the names of this file */
            continue;
        snprintf(name, sizeof name, c < 128 ? "n%cx7" : "n\xc3%cx7", c < 192 ? c : c - 64);
        snprintf(text, sizeof text, net, name);
        sv_fabric *f = test_read(ctx, text);
        sv_history *h = NULL;
        sv_status status = sv_history_make(ctx, f, &plan, &h);
        if (status != SV_OK) {
            FAILS(ctx, status, SV_INFEASIBLE, "cannot stand in a list of hosts");
            assert_true(c < 128);
            refused++;
        } else {
            char *list = written(h);
            sv_memory memory = {list, strlen(list)};
            sv_source source = sv_memory_source(&memory, "made");
            sv_allocations *read = NULL;
            bool seen = false;
            OK(ctx, sv_allocations_read(ctx, &source, SV_JOBS_AUTO, &read));
            for (uint32_t i = 0; i < read->num_hosts; i++)
                seen = seen || strcmp(read->hosts[i], name) == 0;
            assert_true(seen);
            assert_int_equal(read->left_out, 0);
            sv_allocations_free(read);
            sv_history_free(h);
            free(list);
            made_of++;
        }
        sv_fabric_free(f);
    }
    assert_int_equal(refused, 11); /* []{}()|,';# */
    assert_true(made_of > 150);
}

static void names_that_no_list_holds(void **state)
{
    (void)state;
    static const char *const names[] = {"a|b", "n;0", "n{a}0", "n'0"};
    const sv_history_plan plan = sv_history_defaults();
    char text[1024], words[40];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, net, names[i]);
        snprintf(words, sizeof words, "'%s' cannot stand", names[i]);
        sv_fabric *f = test_read(ctx, text);
        sv_history *h = NULL;
        FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_INFEASIBLE, words);
        sv_fabric_free(f);
    }
    assert_true(sv__host_listable("n=1") && sv__host_listable("\xc3\xa4"));
    assert_false(sv__host_listable("") || sv__host_listable("a b") || sv__host_listable("a\"") ||
                 sv__host_listable("a\\"));
}

static void wrong_plans_are_refused(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=1"), *one = test_fabric(ctx, "mesh:1,hosts=1");
    const sv_history_plan fine = sv_history_defaults();
    sv_history *h = NULL;
    sv_history_plan plan = fine;
    plan.load = 1.01;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "load: 1.01 is not in 0.001…1");
    plan = fine, plan.days = 0;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "days: 0 is not in");
    plan = fine, plan.run_hours = NAN;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "hours of a run");
    plan = fine, plan.begin = 3;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "before 1970");
    plan = fine, plan.largest = 10;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "jobs of 10 nodes: there are 9");
    plan = fine, plan.usual = 8, plan.largest = 4;
    FAILS(ctx, sv_history_make(ctx, f, &plan, &h), SV_BAD_INPUT, "that does not ascend");
    FAILS(ctx, sv_history_make(ctx, one, &fine, &h), SV_INFEASIBLE, "need at least two");
    assert_null(h);
    sv_history_free(NULL);
    sv_fabric_free(one);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_node_has_two_jobs_at_once),
                                       cmocka_unit_test(who_waits_first_begins_as_promised),
                                       cmocka_unit_test(the_same_plan_makes_the_same),
                                       cmocka_unit_test(what_is_written_can_be_read),
                                       cmocka_unit_test(a_share_on_several_switches_is_met),
                                       cmocka_unit_test(hosts_are_known_by_name),
                                       cmocka_unit_test(names_go_round_or_are_refused),
                                       cmocka_unit_test(names_that_no_list_holds),
                                       cmocka_unit_test(wrong_plans_are_refused)};
    return cmocka_run_group_tests(tests, begin, end);
}
