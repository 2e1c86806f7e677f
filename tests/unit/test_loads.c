/*
 * test_loads.c: numbers about forwarding tables that can be worked out by hand. Random tables are
 * compared with a second implementation in tests/oracle/test_metrics.py.
 */
#include "support/testing.h"

#include <math.h>

#include "base/bitset.h"
#include "base/file.h"

static sv_ctx *ctx;

static int make_ctx(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int free_ctx(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static void near(double found, double wanted, double within)
{
    if (!(fabs(found - wanted) <= within))
        fail_msg("%.9g is not %.9g", found, wanted);
}

struct tables {
    sv_fabric *f;
    sv_routes *r;
};

static struct tables make(const char *spec, const char *engine, unsigned lmc)
{
    struct tables t = {test_fabric(ctx, spec), NULL};
    const sv_route_request request = {.lmc = lmc};
    OK(ctx, sv_route(ctx, t.f, engine, &request, &t.r, NULL));
    return t;
}

static void release(struct tables *t)
{
    sv_routes_free(t->r);
    sv_fabric_free(t->f);
}

/* Three switches in a line, two hosts each: 8 routes on every channel. */
static void loads_of_a_line(void **state)
{
    (void)state;
    struct tables t = make("mesh:3,hosts=2", "minhop", 0);
    uint64_t load[100];
    uint32_t bins[4];
    sv_load about;
    sv_stretch stretch;
    assert_true(t.f->num_channels <= 100);
    OK(ctx, sv_routes_load(ctx, t.f, t.r, load, &about));
    assert_int_equal(about.channels, 4);
    assert_int_equal(about.unused, 0);
    assert_int_equal(about.min, 8);
    assert_int_equal(about.max, 8);
    near(about.sdv, 0, 1e-9);
    assert_int_equal(about.pairs, 30);
    near(about.hops_avg, 32.0 / 30, 1e-12);
    sv_load_histogram(t.f, load, 3, 4, bins);
    assert_int_equal(bins[2], 4); /* 6, 7, 8 */
    assert_int_equal(bins[0] + bins[1] + bins[3], 0);
    sv_load_histogram(t.f, load, 2, 4, bins);
    assert_int_equal(bins[3], 4); /* what is beyond goes into the last */
    OK(ctx, sv_routes_stretch(ctx, t.f, t.r, &stretch));
    near(stretch.avg, 1, 0);
    near(stretch.max, 1, 0);
    assert_int_equal(stretch.pairs, 24); /* not those inside a switch */
    assert_int_equal(stretch.longer_pairs, 0);
    release(&t);
}

/* A triangle, where one switch sends the long way round to one host. */
static void a_detour_stretches(void **state)
{
    (void)state;
    struct tables t = make("fullmesh:3,hosts=1", "minhop", 0);
    sv_node to = {t.f->num_switches + 2}, home = sv_switch_of(t.f, to);
    sv_node a = {home.i == 0}, b = {3 - home.i - a.i};
    uint8_t *row = sv_routes_row(ctx, t.r, t.r->first[to.i]);
    SV_FOR_HOPS (t.f, a, hop)
        if (hop->to.i == b.i)
            row[a.i] = (uint8_t)t.f->port[hop->channel.i];
    sv_stretch stretch;
    sv_load about;
    OK(ctx, sv_routes_stretch(ctx, t.f, t.r, &stretch));
    OK(ctx, sv_routes_load(ctx, t.f, t.r, NULL, &about));
    near(stretch.avg, 7.0 / 6, 1e-12);
    near(stretch.max, 2, 0);
    assert_int_equal(stretch.pairs, 6);
    assert_int_equal(stretch.longer_pairs, 1);
    assert_int_equal(about.unused, 1);
    assert_int_equal(about.max, 2);
    /* Now the other switch sends it back: both lose their route. */
    SV_FOR_HOPS (t.f, b, hop)
        if (hop->to.i == a.i)
            row[b.i] = (uint8_t)t.f->port[hop->channel.i];
    OK(ctx, sv_routes_stretch(ctx, t.f, t.r, &stretch));
    assert_int_equal(stretch.pairs, 4);
    near(stretch.max, 1, 0);
    release(&t);
}

static void nothing_to_compare(void **state)
{
    (void)state;
    struct tables t = make("mesh:1x1,hosts=3", "minhop", 0);
    sv_stretch stretch;
    sv_vl_use use;
    sv_matchings found;
    OK(ctx, sv_routes_stretch(ctx, t.f, t.r, &stretch));
    near(stretch.avg, 1, 0);
    near(stretch.max, 1, 0);
    OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use));
    assert_int_equal(use.local, 6);
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, 5, 1, NULL, &found));
    assert_int_equal(found.flows, 1); /* the third host is left out */
    near(found.avg, 1, 0);
    release(&t);
    t = make("mesh:2,hosts=0", "minhop", 0);
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, 5, 1, NULL, &found));
    assert_int_equal(found.flows, 0);
    near(found.avg, 0, 0);
    OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use));
    assert_int_equal(use.local + use.routes[0], 0);
    release(&t);
}

static void tables_of_another_fabric(void **state)
{
    (void)state;
    struct tables t = make("mesh:3,hosts=2", "minhop", 0), other = make("mesh:2,hosts=2", "dor", 0);
    const sv_lost_plan plan = {.trials = 1};
    sv_stretch stretch;
    sv_vl_use use;
    sv_matchings found;
    FAILS(ctx, sv_routes_stretch(ctx, t.f, other.r, &stretch), SV_BAD_INPUT, "another fabric");
    FAILS(ctx, sv_routes_vls(ctx, t.f, other.r, &use), SV_BAD_INPUT, "another fabric");
    FAILS(ctx, sv_routes_matchings(ctx, t.f, other.r, 1, 1, NULL, &found), SV_BAD_INPUT,
          "another fabric");
    FAILS(ctx, sv_routes_lost(ctx, t.f, other.r, &plan, NULL, NULL, NULL), SV_BAD_INPUT,
          "another fabric");
    release(&t);
    release(&other);
}

/* ---- VLs ---- */

/* A line of three: SLs by destination, SL 1 on VL 1, but on VL 2 out of the middle switch. */
static void vls_of_a_line(void **state)
{
    (void)state;
    struct tables t = make("mesh:3,hosts=1", "minhop", 0);
    sv_sl2vl vls = {{0}};
    sv_vl_use use;
    vls.of_sl[1] = 1;
    uint16_t ends = (uint16_t)sv_routes_sl2vl_table(ctx, t.r, &vls);
    vls.of_sl[1] = 2;
    uint16_t middle = (uint16_t)sv_routes_sl2vl_table(ctx, t.r, &vls);
    for (uint32_t v = 0; v < sv_num_nodes(t.f); v++)
        t.r->vls_of[v] = v == 1 ? middle : ends;
    OK(ctx, sv_routes_set_sl_form(ctx, t.r, SV_SL_BY_DESTINATION));
    uint8_t *sls = sv_routes_sl_row(ctx, t.r, 0);
    for (uint32_t d = 0; d < t.r->num_destinations; d++)
        sls[d] = sv_switch_of(t.f, t.r->node[d]).i == 2; /* to the last host: SL 1 */
    OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use));
    assert_int_equal(use.routes[0], 4); /* to the first two hosts */
    assert_int_equal(use.hops[0], 1 + 2 + 1 + 1);
    assert_int_equal(use.hops[0] + use.hops[1] + use.hops[2], 8);
    assert_int_equal(use.routes[1], 1);
    assert_int_equal(use.hops[1], 1);
    assert_int_equal(use.routes[2], 1);
    assert_int_equal(use.hops[2], 2);
    assert_int_equal(use.local + use.discarded + use.unknown, 0);
    assert_true(use.known);
    vls.of_sl[1] = SV_NO_VL; /* now the middle switch discards them */
    t.r->vls_of[1] = (uint16_t)sv_routes_sl2vl_table(ctx, t.r, &vls);
    OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use));
    assert_int_equal(use.routes[1], 1);
    assert_int_equal(use.hops[1], 1);
    assert_int_equal(use.routes[2], 0);
    assert_int_equal(use.discarded, 2);
    memset(sls, SV_NO_SL, t.r->num_destinations);
    OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use));
    assert_int_equal(use.unknown, 6);
    assert_int_equal(use.routes[0] + use.hops[0], 0);
    release(&t);
}

/* ---- jobs ---- */

static void jobs_on_a_line(void **state)
{
    (void)state;
    struct tables t = make("mesh:3,hosts=2", "minhop", 1); /* two addresses each */
    char text[300];
    const char *name[6];
    for (uint32_t i = 0; i < 6; i++) {
        sv_node v = {t.f->num_switches + i};
        name[2 * sv_switch_of(t.f, v).i + i % 2] = sv_node_name(t.f, v);
    }
    /* ends: first and last switch; near: first two; one: inside the middle switch. */
    snprintf(text, sizeof text, "%s ends\n%s ends\n%s near\n%s near\n%s one\n%s one\n", name[0],
             name[4], name[1], name[2], name[2], name[3]);
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "map");
    sv_jobmap *map = NULL;
    sv_job_load jobs[3];
    sv_jobs_load about;
    uint64_t load[100];
    OK(ctx, sv_jobmap_read(ctx, t.f, &source, &map));
    OK(ctx, sv_jobs_count(ctx, t.f, t.r, map, load, jobs, &about));
    assert_int_equal(jobs[0].links, 4);
    assert_int_equal(jobs[0].max, 2); /* to each address */
    assert_int_equal(jobs[0].pairs, 4);
    assert_int_equal(jobs[1].links, 2);
    assert_int_equal(jobs[1].max, 2);
    assert_int_equal(jobs[2].links, 0);
    assert_int_equal(jobs[2].max, 0);
    assert_int_equal(jobs[2].pairs, 4);
    assert_int_equal(about.efi.min, 2);
    assert_int_equal(about.efi.max, 4);
    near(about.efi.avg, 3, 1e-12);
    near(about.efi.sdv, 1, 1e-9);
    near(about.dark_fibre, 0, 0);
    assert_int_equal(about.spread, 2);
    near(about.job_links_avg, 3, 1e-12);
    near(about.job_max_avg, 2, 1e-12);
    assert_int_equal(about.pairs, 12);
    uint32_t users[100];
    OK(ctx, sv_jobs_share(ctx, t.f, t.r, map, users));
    for (uint32_t c = 0; c < t.f->num_channels; c++) {
        bool inner = sv_joins_switches(t.f, (sv_channel){c});
        bool both = inner && t.f->tail[c].i < 2 && t.f->head[c].i < 2; /* of the first two */
        assert_int_equal(users[c], inner + both);
    }
    sv_jobmap_free(map);
    map = NULL;
    snprintf(text, sizeof text, "%s near\n%s near\n", name[1], name[2]);
    memory = (sv_memory){text, strlen(text)};
    source = sv_memory_source(&memory, "map");
    OK(ctx, sv_jobmap_read(ctx, t.f, &source, &map));
    OK(ctx, sv_jobs_count(ctx, t.f, t.r, map, NULL, NULL, &about));
    near(about.dark_fibre, 50, 0);
    sv_jobmap_free(map);
    release(&t);
}

/* Of one large job that has everything, the effective index is the index; a small one adds to it.
 */
static void a_job_that_has_everything(void **state)
{
    (void)state;
    struct tables t = make("kary:k=8,n=3,total=600", "sssp", 0);
    test_buffer text;
    sv_sink sink = test_sink(&text);
    char line[64];
    for (uint32_t i = 0; i < 602; i++) {
        const char *job = i < 600 ? "all" : "few";
        snprintf(line, sizeof line, "host%u %s\n", i < 600 ? i : (i - 600) * 300, job);
        assert_true(sink.write(sink.user, line, strlen(line)));
    }
    sv_memory memory = {text.text, text.length};
    sv_source source = sv_memory_source(&memory, "map");
    sv_jobmap *map = NULL;
    sv_job_load jobs[2];
    sv_jobs_load about;
    sv_load load;
    uint64_t *whole = calloc(t.f->num_channels, sizeof *whole);
    uint64_t *found = calloc(t.f->num_channels, sizeof *found), more = 0;
    OK(ctx, sv_jobmap_read(ctx, t.f, &source, &map));
    OK(ctx, sv_routes_load(ctx, t.f, t.r, whole, &load));
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        sv_ctx_set_threads(ctx, threads);
        OK(ctx, sv_jobs_count(ctx, t.f, t.r, map, found, jobs, &about));
        assert_int_equal(jobs[0].pairs, load.pairs);
        assert_int_equal(jobs[0].max, load.max);
        assert_int_equal(jobs[0].links, load.channels - load.unused);
        assert_int_equal(jobs[1].pairs, 2);
        assert_int_equal(about.efi.channels, load.channels);
        more = 0;
        for (uint32_t k = 0; k < t.f->num_channels; k++)
            more += found[k] - whole[k];
        assert_int_equal(more, 8); /* four hops each way */
    }
    sv_ctx_set_threads(ctx, 0);
    free(whole);
    free(found);
    free(text.text);
    sv_jobmap_free(map);
    release(&t);
}

/* ---- failures ---- */

/* What is lost with one failure is what the failed part carries. */
static void one_failure(void **state)
{
    (void)state;
    struct tables t = make("torus:4,hosts=1", "minhop", 0);
    static const uint32_t numbers[] = {0, 1};
    enum { TRIALS = 150 }; /* more than a batch */
    uint64_t load[100], samples[2 * TRIALS], pairs;
    sv_lost lost[2];
    sv_load about;
    sv_lost_plan plan = {.seed = 7, .trials = TRIALS, .failures = numbers, .count = 2};
    OK(ctx, sv_routes_load(ctx, t.f, t.r, load, &about));
    OK(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, &pairs, samples));
    assert_int_equal(pairs, 12);
    assert_int_equal(lost[0].failures, 0);
    assert_int_equal(lost[0].max, 0);
    near(lost[0].expected, 0, 0);
    near(lost[1].expected, 4, 1e-12); /* 16 hops on 8 channels, and a link has two */
    near(lost[1].mean, 4, 0.7);
    for (uint32_t i = 0; i < TRIALS; i++) {
        const sv_fault_plan faults = {.seed = 7 + i, .links = {false, 1}};
        sv_fault_report report;
        sv_mask *mask = sv_mask_new(ctx, t.f);
        uint64_t carried = 0;
        OK(ctx, sv_faults_draw(ctx, t.f, &faults, mask, &report));
        for (uint32_t k = 0; k < t.f->num_channels; k++)
            carried += sv_bit(mask->channels, k) ? load[k] : 0;
        assert_int_equal(samples[TRIALS + i], carried);
        sv_mask_free(mask);
    }
    plan.switches = true;
    OK(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, &pairs, samples));
    near(lost[1].expected, 7, 1e-12); /* 3 from, 3 to, 1 through */
    assert_in_range(lost[1].min, 6, 7);
    release(&t);
}

static void quartiles(void **state)
{
    (void)state;
    struct tables t = make("kary:k=2,n=2,hosts=2", "minhop", 0);
    static const uint32_t numbers[] = {1};
    uint64_t samples[4], sorted[4];
    sv_lost lost;
    const sv_lost_plan plan = {.seed = 3, .trials = 4, .failures = numbers, .count = 1};
    OK(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, &lost, NULL, samples));
    memcpy(sorted, samples, sizeof sorted);
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (sorted[j] < sorted[i]) {
                uint64_t kept = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = kept;
            }
    assert_int_equal(lost.min, sorted[0]);
    assert_int_equal(lost.max, sorted[3]);
    near(lost.median, ((double)sorted[1] + (double)sorted[2]) / 2, 1e-12);
    near(lost.q1, (double)sorted[0] + 0.75 * ((double)sorted[1] - (double)sorted[0]), 1e-12);
    near(lost.q3, (double)sorted[2] + 0.25 * ((double)sorted[3] - (double)sorted[2]), 1e-12);
    release(&t);
}

static void plans_that_make_no_sense(void **state)
{
    (void)state;
    struct tables t = make("mesh:3,hosts=1", "minhop", 0);
    static const uint32_t falling[] = {2, 1}, one[] = {1};
    sv_lost lost[2];
    sv_lost_plan plan = {.trials = 1, .failures = falling, .count = 2};
    FAILS(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, NULL, NULL), SV_BAD_INPUT,
          "do not ascend: 2, 1");
    plan.trials = 0;
    FAILS(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, NULL, NULL), SV_BAD_INPUT, "no trials");
    plan = (sv_lost_plan){.trials = 1, .failures = one, .count = 201};
    FAILS(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, NULL, NULL), SV_BAD_INPUT, "more than");
    plan.count = 1;
    FAILS(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost, NULL, NULL), SV_INFEASIBLE,
          "only 0 of 1 links can fail");
    release(&t);
}

/* ---- matchings ---- */

/* Two switches with two hosts: both flows inside, or across in two directions: 1; in one: 1/2. */
static void matchings_of_a_cable(void **state)
{
    (void)state;
    struct tables t = make("mesh:2,hosts=2", "minhop", 0);
    enum { MANY = 4000 };
    static double bandwidth[MANY];
    sv_matchings found, again;
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, MANY, 1, bandwidth, &found));
    assert_int_equal(found.flows, 2);
    near(found.min, 0.5, 0);
    near(found.max, 1, 0);
    near(found.avg, 5.0 / 6, 0.02); /* a third of all matchings is of the second kind */
    near(found.sdv, sqrt(1.0 / 18), 0.02);
    assert_int_equal(found.worst, 2);
    assert_int_equal(found.lost, 0);
    for (int i = 0; i < MANY; i++)
        assert_true(bandwidth[i] == 0.5 || bandwidth[i] == 1);
    /* The first matchings of a seed are the same, however many are drawn. */
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, 1, 1, NULL, &again));
    near(again.avg, bandwidth[0], 0);
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, MANY, 2, NULL, &again));
    assert_true(again.avg != found.avg);
    release(&t);
}

static void flows_that_do_not_arrive(void **state)
{
    (void)state;
    struct tables t = make("mesh:2,hosts=1", "minhop", 0);
    sv_matchings found;
    for (uint32_t d = 0; d < t.r->num_destinations; d++)
        memset(sv_routes_row(ctx, t.r, d), SV_NO_PORT, t.f->num_switches);
    OK(ctx, sv_routes_matchings(ctx, t.f, t.r, 10, 1, NULL, &found));
    near(found.avg, 0, 0);
    assert_int_equal(found.lost, 10);
    assert_int_equal(found.worst, 0);
    release(&t);
}

static void threads_do_not_show(void **state)
{
    (void)state;
    struct tables t = make("random:switches=20,links=40,total=50,seed=3", "sssp", 1);
    static const uint32_t numbers[] = {1, 3};
    const sv_lost_plan plan = {.seed = 1, .trials = 20, .failures = numbers, .count = 2};
    sv_stretch stretch[2];
    sv_vl_use use[2];
    sv_matchings found[2];
    sv_lost lost[2][2];
    memset(stretch, 0, sizeof stretch);
    memset(use, 0, sizeof use);
    memset(found, 0, sizeof found);
    memset(lost, 0, sizeof lost);
    for (unsigned i = 0; i < 2; i++) {
        sv_ctx_set_threads(ctx, i == 0 ? 1 : 7);
        OK(ctx, sv_routes_stretch(ctx, t.f, t.r, &stretch[i]));
        OK(ctx, sv_routes_vls(ctx, t.f, t.r, &use[i]));
        OK(ctx, sv_routes_matchings(ctx, t.f, t.r, 100, 5, NULL, &found[i]));
        OK(ctx, sv_routes_lost(ctx, t.f, t.r, &plan, lost[i], NULL, NULL));
    }
    sv_ctx_set_threads(ctx, 0);
    assert_true(stretch[0].avg == stretch[1].avg && stretch[0].max == stretch[1].max);
    assert_memory_equal(use[0].hops, use[1].hops, sizeof use[0].hops);
    assert_true(found[0].avg == found[1].avg && found[0].sdv == found[1].sdv);
    assert_true(lost[0][1].mean == lost[1][1].mean && lost[0][1].q1 == lost[1][1].q1);
    release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_a_line),
        cmocka_unit_test(a_detour_stretches),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(tables_of_another_fabric),
        cmocka_unit_test(vls_of_a_line),
        cmocka_unit_test(jobs_on_a_line),
        cmocka_unit_test(a_job_that_has_everything),
        cmocka_unit_test(one_failure),
        cmocka_unit_test(quartiles),
        cmocka_unit_test(plans_that_make_no_sense),
        cmocka_unit_test(matchings_of_a_cable),
        cmocka_unit_test(flows_that_do_not_arrive),
        cmocka_unit_test(threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
