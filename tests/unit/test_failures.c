/*
 * test_failures.c: models of failures as text and as shares, fabrics that grow old by them, logs of
 * failures and what is fitted to them. Rates and shapes of random logs are checked against a second
 * implementation in tests/oracle/test_failures.py.
 */
#include "support/testing.h"

#include <math.h>

#include "base/bitset.h"
#include "base/file.h"

TEST_CONTEXT

static const double year_hours = 24 * 365.25;

static void near(double found, double wanted, double error)
{
    if (!(fabs(found - wanted) <= error))
        fail_msg("%.12g is not within %g of %.12g", found, error, wanted);
}

static sv_failure_model model_of(const char *text)
{
    sv_failure_model model;
    OK(ctx, sv_failure_model_parse(ctx, text, &model));
    return model;
}

/* ---- models ---- */

static void what_the_thesis_tells(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double link, switch_, adapter, shape;
    } published[] = {{"deimos", 0.002, 0.015, 0.01, 0.76},
                     {"tsubame2", 0.009, 0.01, 63.045 / 93 / 2816, 1.07},
                     {"lanl2,link=0%,switch=0%", 0, 0, 365.25 / 10.2 / 588, 0.95}};
    for (size_t i = 0; i < 3; i++) {
        sv_failure_model m = model_of(published[i].text);
        near(m.of[SV_FAILURE_LINK].annual, published[i].link, 1e-15);
        near(m.of[SV_FAILURE_SWITCH].annual, published[i].switch_, 1e-15);
        /* What is derived is told with two digits. */
        near(m.of[SV_FAILURE_ADAPTER].annual, published[i].adapter, 0.01 * published[i].adapter);
        for (int k = 0; k < SV_FAILURE_PARTS; k++)
            near(m.of[k].shape, published[i].shape, 1e-15);
    }
}

/* Each number of a preset has a reason, and what is missing must be given. */
static void presets_hide_nothing(void **state)
{
    (void)state;
    const sv_failure_preset *preset;
    size_t missing = 0;
    for (size_t i = 0; (preset = sv_failure_preset_at(i)) != NULL; i++) {
        assert_true(preset->summary[0] != 0 && preset->source[0] != 0);
        for (const sv_failure_value *v = preset->values; v->name != NULL; v++) {
            assert_true(v->why[0] != 0);
            assert_false(v->published && v->value == NULL);
            missing += v->value == NULL;
        }
    }
    assert_int_equal(missing, 2);
    sv_failure_model m;
    FAILS(ctx, sv_failure_model_parse(ctx, "lanl2", &m), SV_BAD_INPUT,
          "lanl2 has no rate of link failures, because none is published; add link=P%");
    FAILS(ctx, sv_failure_model_parse(ctx, "lanl2,link=1%", &m), SV_BAD_INPUT, "add switch=P%");
}

static void texts_go_in_and_out(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"tsubame2", "link=0.9%,switch=1%,adapter=0.024%,shape=1.07,over=3"},
        {"deimos,link=0.4%", "link=0.4%,switch=1.5%,adapter=1%,shape=0.76,over=5.1"},
        {"deimos,over=1,shape=1", "link=0.2%,switch=1.5%,adapter=1%,shape=1"},
        {"switch=1%,link=0.9%", "link=0.9%,switch=1%,adapter=0%,shape=1"},
        {"link=0%", "link=0%,switch=0%,adapter=0%,shape=1"},
        {"shape=2,link-shape=.5,adapter=99.9%,over=1000",
         "link=0%,switch=0%,adapter=99.9%,link-shape=0.5,switch-shape=2,adapter-shape=2,over=1000"},
        {"link-shape=.5,shape=2,link=1%", "link=1%,switch=0%,adapter=0%,shape=2"},
        {"link=0.00000123456789%,shape=0.01",
         "link=0.00000123457%,switch=0%,adapter=0%,shape=0.01"},
        {"link=33.3333333%", "link=33.3333%,switch=0%,adapter=0%,shape=1"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[SV_FAILURE_MODEL_TEXT], again[SV_FAILURE_MODEL_TEXT];
        sv_failure_model m = model_of(texts[i][0]);
        sv_failure_model_text(&m, text);
        assert_string_equal(text, texts[i][1]);
        m = model_of(text);
        sv_failure_model_text(&m, again);
        assert_string_equal(again, text);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"", "'' has nothing in it"},
        {"link=1%,", "beside a comma"},
        {",link=1%", "beside a comma"},
        {"titan", "'titan' is neither a preset"},
        {"link=1%,deimos", "'deimos' is not KEY=VALUE (a preset comes first)"},
        {"links=1%", "'links' is not link, switch"},
        {"link=1%,link=2%", "link is given twice"},
        {"link=0.9", "link is a share a year from 0% to 99.9%, not '0.9'"},
        {"link=100%", "not '100%'"},
        {"link=-1%", "not '-1%'"},
        {"link=1%%", "not '1%%'"},
        {"link=%", "not '%'"},
        {"link=1e3%", "not '1e3%'"},
        {"link=1%,shape=0", "shape is a number from 0.01 to 100, not '0'"},
        {"link=1%,shape=101", "not '101'"},
        {"link=1%,shape=1%", "not '1%'"},
        {"link=1%,shape=nan", "not 'nan'"},
        {"link=1%,over=0", "over is a number from 0.001 to 1000, not '0'"},
        {"shape=1", "no rate is given"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sv_failure_model m = {.over = 77};
        FAILS(ctx, sv_failure_model_parse(ctx, wrong[i][0], &m), SV_BAD_INPUT, wrong[i][1]);
        assert_true(m.over == 77);
    }
}

static void shares(void **state)
{
    (void)state;
    sv_failure_model constant = model_of("link=1%"), early = model_of("link=1%,shape=0.76");
    sv_failure_model mean = model_of("link=1%,shape=0.76,over=5");
    near(sv_failure_share(&constant, SV_FAILURE_LINK, 1), 0.01, 1e-15);
    near(sv_failure_share(&constant, SV_FAILURE_LINK, 5), 1 - pow(0.99, 5), 1e-15);
    near(sv_failure_share(&constant, SV_FAILURE_LINK, 0.5), 1 - sqrt(0.99), 1e-15);
    near(sv_failure_share(&constant, SV_FAILURE_LINK, 0), 0, 0);
    near(sv_failure_share(&constant, SV_FAILURE_SWITCH, 1000), 0, 0);
    /* F(1) is the annual rate whatever the shape; over, it is where both shapes agree. */
    near(sv_failure_share(&early, SV_FAILURE_LINK, 1), 0.01, 1e-15);
    near(sv_failure_share(&early, SV_FAILURE_LINK, 5), 1 - pow(0.99, pow(5, 0.76)), 1e-15);
    near(sv_failure_share(&mean, SV_FAILURE_LINK, 5), 1 - pow(0.99, 5), 1e-15);
    assert_true(sv_failure_share(&mean, SV_FAILURE_LINK, 1) > 0.014);
    for (double y = 0; y < 100; y += 0.7)
        assert_true(sv_failure_share(&early, SV_FAILURE_LINK, y) <
                    sv_failure_share(&early, SV_FAILURE_LINK, y + 0.7));
}

/* ---- fabrics that grow old ---- */

static sv_mask *age(const sv_fabric *f, const char *model, double years, uint64_t seed,
                    sv_fault_report *report)
{
    sv_failure_model m = model_of(model);
    sv_mask *mask = sv_mask_new(ctx, f);
    OK(ctx, sv_faults_age(ctx, f, &m, years, seed, mask, report));
    return mask;
}

static bool is_within(const sv_mask *a, const sv_mask *b)
{
    bool within = true;
    for (size_t w = 0; w < sv_bitset_words(a->num_nodes); w++)
        within = within && (a->nodes[w] & ~b->nodes[w]) == 0;
    for (size_t w = 0; w < sv_bitset_words(a->num_channels); w++)
        within = within && (a->channels[w] & ~b->channels[w]) == 0;
    return within;
}

static void more_years_contain_fewer(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:4x4x3,hosts=2");
    const char *model = "link=3%,switch=1%,adapter=2%,shape=0.8,link-shape=1.4";
    for (uint64_t seed = 0; seed < 20; seed++) {
        sv_fault_report before = {0}, report;
        sv_mask *less = sv_mask_new(ctx, f);
        for (double years = 0.25; years < 40; years *= 1.7) {
            sv_mask *more = age(f, model, years, seed, &report);
            assert_true(is_within(less, more));
            assert_true(report.links >= before.links && report.switches >= before.switches &&
                        report.adapters >= before.adapters && report.critical >= before.critical);
            before = report;
            sv_mask_free(less);
            less = more;
        }
        assert_true(before.links > 0 && before.switches > 0 && before.adapters > 0);
        sv_mask_free(less);
    }
    sv_fabric_free(f);
}

static void seeds_repeat_and_differ(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:6x6,hosts=1");
    sv_fault_report a, b, c;
    sv_mask *first = age(f, "link=10%", 3, 5, &a), *again = age(f, "link=10%", 3, 5, &b);
    sv_mask *other = age(f, "link=10%", 3, 6, &c);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(is_within(first, again) && is_within(again, first));
    assert_false(is_within(first, other));
    sv_mask_free(first);
    sv_mask_free(again);
    sv_mask_free(other);
    sv_fabric_free(f);
}

/* Nothing is cut off, and the report counts what is in the mask. */
static void critical_failures_are_repaired(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "xgft:h=2,m=3/4,w=1/2,hosts=2");
    uint32_t critical = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        sv_fault_report report;
        sv_fabric *left = NULL;
        uint32_t cut_off = 77;
        sv_mask *mask = age(f, "link=20%,switch=3%,adapter=5%", 4, seed, &report);
        OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
        OK(ctx, sv_fabric_check(ctx, left));
        OK(ctx, sv_faults_cut_off(ctx, left, &cut_off));
        assert_int_equal(cut_off, 0);
        assert_int_equal(left->live_switches + report.switches, f->live_switches);
        assert_int_equal(left->live_terminals + report.lost_terminals, f->live_terminals);
        assert_true(test_links(left) + report.links <= test_links(f));
        critical += report.critical;
        sv_mask_free(mask);
        sv_fabric_free(left);
    }
    assert_true(critical > 0);
    /* In a tree every cable is critical: all are repaired, none is lost. */
    sv_fabric *tree = test_fabric(ctx, "mesh:20,hosts=1");
    sv_fault_report report;
    sv_mask_free(age(tree, "link=99.9%", 1000, 1, &report));
    assert_int_equal(report.links, 0);
    assert_int_equal(report.critical, 19);
    sv_fabric_free(tree);
    sv_fabric_free(f);
}

/* The mean of many draws is near what is expected, where (next to) nothing is critical. */
static void draws_are_as_expected(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    sv_fabric *f = test_fabric(ctx, "fullmesh:20,hosts=3");
    static const char *const models[] = {"link=1%", "link=40%,shape=0.3", "link=1%,shape=2"};
    uint32_t parts[SV_FAILURE_PARTS];
    OK(ctx, sv_failure_parts(ctx, f, parts));
    assert_int_equal(parts[SV_FAILURE_LINK], 190);
    assert_int_equal(parts[SV_FAILURE_SWITCH], 20);
    assert_int_equal(parts[SV_FAILURE_ADAPTER], 60);
    for (size_t i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s,adapter=3%%", models[i]);
        sv_failure_model m = model_of(text);
        double links = 0, squares = 0, adapters = 0;
        double share = sv_failure_share(&m, SV_FAILURE_LINK, 2.5);
        double other = sv_failure_share(&m, SV_FAILURE_ADAPTER, 2.5);
        for (uint64_t seed = 0; seed < DRAWS; seed++) {
            sv_fault_report report;
            sv_mask_free(age(f, text, 2.5, seed, &report));
            assert_int_equal(report.critical, 0);
            links += report.links;
            squares += (double)report.links * report.links;
            adapters += report.adapters;
        }
        double variance = squares / DRAWS - links / DRAWS * (links / DRAWS);
        near(links / DRAWS, 190 * share, 4 * sqrt(190 * share * (1 - share) / DRAWS));
        near(adapters / DRAWS, 60 * other, 4 * sqrt(60 * other * (1 - other) / DRAWS));
        near(variance, 190 * share * (1 - share), 0.3 * 190 * share); /* binomial, not all alike */
    }
    sv_fabric_free(f);
}

/* Kinds have streams of their own: hosts do not fail because their switches would. */
static void kinds_are_independent(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:40,hosts=1");
    sv_fault_report report;
    sv_mask *switches = age(f, "switch=30%", 1, 1, &report);
    sv_mask *adapters = age(f, "adapter=30%", 1, 1, &report);
    uint32_t alone = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            alone += !sv_is_switch(f, hop->to) && sv_bit(adapters->nodes, hop->to.i) &&
                     !sv_bit(switches->nodes, s);
    assert_true(report.adapters > 4 && alone > 0);
    sv_mask_free(switches);
    sv_mask_free(adapters);
    sv_fabric_free(f);
}

/* Half of the switches fail at once, all cables after ten years: those of dead switches no more. */
static void what_is_gone_does_not_fail(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:12,hosts=1");
    const char *model = "link=99.9%,link-shape=100,switch=6%,switch-shape=0.01,adapter=6%,"
                        "adapter-shape=100,over=10";
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sv_fault_report report;
        sv_mask_free(age(f, model, 20, seed, &report));
        uint32_t left = 12 - report.switches;
        assert_true(report.switches > 1 && left > 1);
        assert_int_equal(report.links + report.critical, left * (left - 1) / 2);
        assert_int_equal(report.lost_terminals, report.switches + report.adapters);
        assert_int_equal(report.adapters, left);
    }
    sv_fabric_free(f);
}

/* Lives belong to ids: failures of a masked fabric are those of the whole one, less what is gone.
 */
static void what_is_dead_does_not_fail(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:12,hosts=2"), *left = NULL;
    sv_fault_report whole, rest;
    sv_mask *gone = age(f, "link=30%,adapter=20%", 1, 3, &whole);
    OK(ctx, sv_fabric_mask(ctx, f, gone, &left));
    sv_mask *again = age(left, "link=30%,adapter=20%", 1, 3, &rest);
    assert_true(whole.links > 10 && whole.adapters > 0);
    assert_int_equal(rest.links + rest.adapters + rest.critical, 0);
    sv_mask *later = age(f, "link=30%,adapter=20%", 1.5, 3, &whole);
    sv_mask *later_left = age(left, "link=30%,adapter=20%", 1.5, 3, &rest);
    assert_true(is_within(later_left, later));
    assert_true(rest.links > 0 && rest.links < whole.links);
    sv_mask_free(gone);
    sv_mask_free(again);
    sv_mask_free(later);
    sv_mask_free(later_left);
    sv_fabric_free(left);
    sv_fabric_free(f);
}

static void years_have_bounds(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=1");
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fault_report report = {.links = 77};
    sv_failure_model good = model_of("link=50%"), bad = good;
    const double years[] = {-1, 1000.1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        FAILS(ctx, sv_faults_age(ctx, f, &good, years[i], 1, mask, &report), SV_BAD_INPUT,
              "years are from 0 to 1000");
    bad.of[SV_FAILURE_ADAPTER].shape = NAN;
    FAILS(ctx, sv_faults_age(ctx, f, &bad, 1, 1, mask, &report), SV_BAD_INPUT, "out of its bounds");
    assert_int_equal(report.links, 77);
    OK(ctx, sv_faults_age(ctx, f, &good, 0, 1, mask, &report));
    assert_int_equal(report.links, 0);
    sv_mask_free(mask);
    sv_fabric_free(f);
}

/* ---- logs ---- */

static sv_status read_log(const char *text, sv_failure_log **log)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "log");
    return sv_failure_log_read(ctx, &source, log);
}

static sv_failure_log *log_of(const char *text)
{
    sv_failure_log *log = NULL;
    OK(ctx, read_log(text, &log));
    return log;
}

static void times_are_understood(void **state)
{
    (void)state;
    /* Days since 1970 were counted with date(1). */
    sv_failure_log *log = log_of("# a comment\n\n"
                                 "2012-03-01T06:00 switch 36min # the day after a leap day\n"
                                 "2012-02-29 link\r\n"
                                 "  2010-09-01T18:30:36Z\tHCA 1.5h\n"
                                 "2010-09-01 12:00+09:00 NIC -\n"
                                 "2010-09-01T01:00-0230 cable 2d\n"
                                 "1969-12-31T23:00 software 90s\n"
                                 "2000-03-01 unknown 1y\n");
    const sv_failure wanted[] = {
        {-1, 0.025, SV_FAILURE_SOFTWARE},
        {11017 * 24 + 12, year_hours, SV_FAILURE_UNSPECIFIED},
        {14853 * 24 + 3, -1, SV_FAILURE_ADAPTER},
        {14853 * 24 + 3.5, 48, SV_FAILURE_LINK},
        {14853 * 24 + 18.51, 1.5, SV_FAILURE_ADAPTER},
        {15399 * 24 + 12, -1, SV_FAILURE_LINK},
        {15400 * 24 + 6, 0.6, SV_FAILURE_SWITCH},
    };
    assert_int_equal(log->length, 7);
    assert_true(log->dated);
    for (size_t i = 0; i < 7; i++) {
        near(log->at[i].hours, wanted[i].hours, 1e-9);
        near(log->at[i].repair_hours, wanted[i].repair_hours, 1e-12);
        assert_int_equal(log->at[i].kind, wanted[i].kind);
    }
    double hours;
    OK(ctx, sv_failure_moment(ctx, log, "2012-02-29", true, &hours));
    near(hours, 15400 * 24, 0);
    OK(ctx, sv_failure_moment(ctx, log, "2012-02-29", false, &hours));
    near(hours, 15399 * 24, 0);
    OK(ctx, sv_failure_moment(ctx, log, "2012-02-29T00:00", true, &hours));
    near(hours, 15399 * 24, 0);
    FAILS(ctx, sv_failure_moment(ctx, log, "5d", true, &hours), SV_BAD_INPUT,
          "'5d' is a number, and the log's times are dates");
    FAILS(ctx, sv_failure_moment(ctx, log, "2012-02-30", true, &hours), SV_BAD_INPUT,
          "'2012-02-30' is neither a date nor");
    sv_failure_log_free(log);
}

/* Failures of one day have the day for themselves, in the order of lines. */
static void days_are_shared(void **state)
{
    (void)state;
    sv_failure_log *log = log_of("1970-01-02 link\n1970-01-02 switch\n1970-01-02T00:00 software\n"
                                 "1970-01-02 hca\n1970-01-02T10:00 unspecified\n");
    static const double hours[] = {24, 28, 34, 36, 44};
    static const sv_failure_kind kinds[] = {SV_FAILURE_SOFTWARE, SV_FAILURE_LINK,
                                            SV_FAILURE_UNSPECIFIED, SV_FAILURE_SWITCH,
                                            SV_FAILURE_ADAPTER};
    for (size_t i = 0; i < 5; i++) {
        near(log->at[i].hours, hours[i], 1e-9);
        assert_int_equal(log->at[i].kind, kinds[i]);
    }
    sv_failure_log_free(log);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"12 link\n", "log:1: '12' is neither a date"},
        {"# x\n2010-13-01 link\n", "log:2: '2010-13-01' is neither"},
        {"2010-02-29 link\n", "log:1: '2010-02-29' is neither"},
        {"2100-02-29 link\n", "log:1: '2100-02-29' is neither"},
        {"10-02-27 link\n", "log:1: '10-02-27' is neither"},
        {"2010-02-27T24:00 link\n", "log:1: '2010-02-27T24:00' is neither"},
        {"2010-02-27T12:00+15:00 link\n", "is neither"},
        {"2010-02-27T12:00:61 link\n", "is neither"},
        {"2010-02-27x link\n", "log:1: '2010-02-27x' is neither"},
        {"5weeks link\n", "log:1: '5weeks' is neither"},
        {"-5h link\n", "log:1: '-5h' is neither"},
        {"1001y link\n", "log:1: '1001y' is neither"},
        {"5h link\n2010-02-27 link\n", "log:2: times are dates here and numbers before"},
        {"5h\n", "log:1: what failed?"},
        {"5h # link\n", "log:1: what failed?"},
        {"5h links\n", "log:1: 'links' is not link, switch, adapter, software or unspecified"},
        {"5h link 12\n", "log:1: '12' is not how long a repair took"},
        {"5h link 12hours\n", "log:1: '12hours' is not how long"},
        {"5h link 1h sw3\n", "log:1: 'sw3' is more than a time, a kind and a repair"},
        {"5h link\n\n5h link - -\n", "log:3: '-' is more than"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sv_failure_log *log = NULL;
        FAILS(ctx, read_log(wrong[i][0], &log), SV_BAD_INPUT, wrong[i][1]);
        assert_null(log);
    }
}

/* ---- fits ---- */

/* Failures at 1/4, 2/4, 3/4, 4/4 of 1000 days, worked out by hand. */
static void a_small_log(void **state)
{
    (void)state;
    sv_failure_log *whole =
        log_of("250d link 2h\n500d link\n750d link 4h\n1000d link\n0d software\n"
               "1100d switch\n");
    sv_failure_fit fit;
    sv_fit_request request = {.parts = {100, 5, 0}, .has_end = true, .end_hours = 24000};
    OK(ctx, sv_failure_fit_log(ctx, whole, &request, &fit));
    const sv_fit_kind *link = &fit.of[SV_FAILURE_LINK];
    double years = 1000 / 365.25;
    near(fit.years, years, 1e-12);
    assert_int_equal(fit.outside, 1);
    assert_int_equal(link->failures, 4);
    assert_int_equal(fit.hardware.failures, 4);
    assert_int_equal(fit.all.failures, 5);
    near(link->share, 0.8, 1e-12);
    near(link->annual.value, 4 / (100 * years), 1e-12);
    near(link->annual.low, 1.089865 / (100 * years),
         1e-8); /* half of chi-square's quantiles, from */
    near(link->annual.high, 10.24159 / (100 * years), 1e-7); /* tables */
    near(fit.of[SV_FAILURE_SWITCH].annual.value, 0, 0);
    near(fit.of[SV_FAILURE_SWITCH].annual.high, 3.688879 / (5 * years), 1e-6);
    assert_false(fit.of[SV_FAILURE_ADAPTER].annual.known);
    near(link->mtbf_hours, 6000, 1e-9);
    assert_int_equal(link->repairs, 2);
    near(link->mttr_hours, 3, 1e-12);
    double shape = 4 / (log(4) + log(2) + log(4 / 3.0));
    near(link->shape.value, shape, 1e-12);
    near(link->shape.low, shape * 1.089865 / 4, 1e-6);
    near(link->shape.high, shape * 8.767273 / 4, 1e-6);
    assert_false(link->between.known); /* all the same */
    assert_false(fit.of[SV_FAILURE_SOFTWARE].shape.known);
    near(fit.model.of[SV_FAILURE_LINK].annual, 1 - exp(-4 / (100 * years)), 1e-12);
    near(fit.model.of[SV_FAILURE_SWITCH].shape, shape, 1e-12);
    near(fit.model.over, years, 1e-12);
    /* So that as many are expected to fail as did, up to second failures of a part. */
    near(-100 * log(1 - sv_failure_share(&fit.model, SV_FAILURE_LINK, years)), 4, 1e-9);
    /* Ended by the last link: a degree of freedom less. */
    request = (sv_fit_request){.has_end = false};
    sv_failure_log *shorter = log_of("250d link\n500d link\n750d link\n1000d link\n");
    OK(ctx, sv_failure_fit_log(ctx, shorter, &request, &fit));
    near(fit.of[SV_FAILURE_LINK].shape.value, shape, 1e-12);
    near(fit.of[SV_FAILURE_LINK].shape.low, shape * 0.6186721 / 4, 1e-6);
    sv_failure_log_free(shorter);
    sv_failure_log_free(whole);
}

static void observations(void **state)
{
    (void)state;
    sv_failure_log *log = log_of("2010-01-05T10:00 link\n2010-03-05 switch\n2011-01-05 link\n");
    sv_failure_fit fit;
    sv_fit_request request = {0};
    OK(ctx, sv_failure_fit_log(ctx, log, &request, &fit));
    near(fit.begin_hours, 14614 * 24, 0);
    near(fit.end_hours, (14614 + 365) * 24 + 12, 0);
    request.span_hours = year_hours / 2;
    OK(ctx, sv_failure_fit_log(ctx, log, &request, &fit));
    near(fit.years, 0.5, 1e-12);
    assert_int_equal(fit.outside, 1);
    request = (sv_fit_request){.has_begin = true, .begin_hours = 14615 * 24};
    OK(ctx, sv_failure_fit_log(ctx, log, &request, &fit));
    assert_int_equal(fit.outside, 1);
    request.begin_hours = 99999999;
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_BAD_INPUT,
          "the observation ends before it begins");
    request.begin_hours = 0;
    request.has_end = true;
    request.end_hours = 1;
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_BAD_INPUT, "can be fitted");
    request.end_hours = 14614 * 24;
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_INFEASIBLE, "nothing to fit");
    request = (sv_fit_request){.parts = {1, 0, 0}, .span_hours = 2400};
    sv_failure_log_free(log);
    log = log_of("1h link\n2h link\n");
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_INFEASIBLE,
          "2 failures of 1 links in 0.274 years: more than a model can hold");
    sv_failure_log_free(log);
    log = log_of("# nothing\n");
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_INFEASIBLE, "has no failures");
    sv_failure_log_free(log);
    log = log_of("0h software\n9000h software\n");
    FAILS(ctx, sv_failure_fit_log(ctx, log, &request, &fit), SV_INFEASIBLE, "no link, switch or");
    sv_failure_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_thesis_tells),
        cmocka_unit_test(presets_hide_nothing),
        cmocka_unit_test(texts_go_in_and_out),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(shares),
        cmocka_unit_test(more_years_contain_fewer),
        cmocka_unit_test(seeds_repeat_and_differ),
        cmocka_unit_test(critical_failures_are_repaired),
        cmocka_unit_test(draws_are_as_expected),
        cmocka_unit_test(kinds_are_independent),
        cmocka_unit_test(what_is_gone_does_not_fail),
        cmocka_unit_test(what_is_dead_does_not_fail),
        cmocka_unit_test(years_have_bounds),
        cmocka_unit_test(times_are_understood),
        cmocka_unit_test(days_are_shared),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(a_small_log),
        cmocka_unit_test(observations),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
