/*
 * test_sar.c: routing that follows jobs (thesis Alg. 5.1): in which order destinations come, whose
 * routes count, what that does for jobs, and that tables stay safe.
 */
#include "base/file.h"
#include "routing/schedule.h"
#include "support/testing.h"
#include "support/trials.h"

TEST_CONTEXT

static sv_jobmap *read_map(const sv_fabric *f, const char *text)
{
    sv_jobmap *map = NULL;
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "jobs");
    OK(ctx, sv_jobmap_read(ctx, f, &source, &map));
    return map;
}

/* A schedule as an engine gets it. */
struct plan {
    sv_arena arena;
    sv__routing_job job;
    sv_route_request request;
    sv__schedule schedule;
};

static void plan_init(struct plan *p, const sv_fabric *f, const sv_jobmap *map, unsigned lmc,
                      uint32_t batch)
{
    *p = (struct plan){.request = {.jobs = map}};
    sv_arena_init(&p->arena, ctx);
    p->job = (sv__routing_job){.ctx = ctx, .arena = &p->arena, .fabric = f, .request = &p->request};
    OK(ctx, sv_routes_new(ctx, f, lmc, &p->job.routes));
    OK(ctx, sv__schedule_init(&p->schedule, &p->job, batch));
}

static void plan_release(struct plan *p)
{
    sv_routes_free(p->job.routes);
    sv_arena_release(&p->arena);
}

/* Names of what comes, in order; an address more than the first as host+1. */
static void expect_order(const struct plan *p, const char *wanted)
{
    char text[2000] = "";
    const sv_fabric *f = p->job.fabric;
    for (uint32_t i = 0; i < p->schedule.count; i++) {
        uint32_t d = p->schedule.order[i];
        size_t used = strlen(text);
        if (sv__schedule_turns(&p->schedule, i))
            used += (size_t)snprintf(text + used, sizeof text - used, "| ");
        if (d == SV_NONE) {
            snprintf(text + used, sizeof text - used, "- ");
            continue;
        }
        sv_node node = p->job.routes->node[d];
        uint32_t more = d - p->job.routes->first[node.i];
        const char *name = sv_is_switch(f, node)
                               ? f->switches[node.i].name
                               : f->adapters[f->terminals[node.i - f->num_switches].adapter].name;
        snprintf(text + used, sizeof text - used, more > 0 ? "%s+%u " : "%s ", name, more);
    }
    assert_string_equal(text, wanted);
}

/* Three leaves of three hosts each: host0 … host8. */
#define TREE "xgft:h=1,m=3,w=2,hosts=3"

static void without_jobs_round_robin(void **state)
{
    (void)state;
    struct plan p;
    sv_fabric *f = test_fabric(ctx, TREE);
    plan_init(&p, f, NULL, 0, 1);
    expect_order(&p, "host0 host3 host6 host1 host4 host7 host2 host5 host8 leaf0 leaf1 leaf2 l1-0 "
                     "l1-1 ");
    plan_release(&p);
    sv_fabric_free(f);
}

static void largest_job_first(void **state)
{
    (void)state;
    struct plan p;
    sv_fabric *f = test_fabric(ctx, TREE);
    sv_jobmap *map = read_map(f, "host8 small\nhost3 small\nhost4 big\nhost5 big\nhost1 big\n"
                                 "host0 also\nhost6 also\nhost6 big2\n");
    plan_init(&p, f, map, 0, 1);
    /* also (0, 6) and small (3, 8) are as large: the lowest terminal decides. */
    expect_order(&p, "host1 host4 host5 host0 host6 host3 host8 | host2 host7 leaf0 leaf1 leaf2 "
                     "l1-0 l1-1 ");
    plan_release(&p);
    plan_init(&p, f, map, 1, 1);
    expect_order(&p, "host1 host1+1 host4 host4+1 host5 host5+1 host0 host0+1 host6 host6+1 host3 "
                     "host3+1 host8 host8+1 | host2 host2+1 host7 host7+1 leaf0 leaf1 leaf2 l1-0 "
                     "l1-1 ");
    plan_release(&p);
    /* Jobs with few switches go one by one, whatever the batch. */
    plan_init(&p, f, map, 0, 2);
    expect_order(&p, "host1 - host4 - host5 - host0 - host6 - host3 - host8 - | host2 host7 leaf0 "
                     "leaf1 leaf2 l1-0 l1-1 ");
    plan_release(&p);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

static void storage_then_the_rest(void **state)
{
    (void)state;
    struct plan p;
    sv_fabric *plain = test_fabric(ctx, TREE), *f = NULL;
    sv_role roles[9] = {[2] = SV_ROLE_IO, [4] = SV_ROLE_IO, [7] = SV_ROLE_IO, [8] = SV_ROLE_OTHER};
    OK(ctx, sv_fabric_with_roles(ctx, plain, roles, &f));
    sv_jobmap *map = read_map(f, "host0 a\nhost3 a\nhost4 a\n");
    plan_init(&p, f, map, 0, 1);
    expect_order(&p, "host0 host3 host4 | host2 host7 | host1 host5 host6 host8 leaf0 leaf1 leaf2 "
                     "l1-0 l1-1 ");
    plan_release(&p);
    sv_jobmap_free(map);
    map = read_map(f, "");
    plan_init(&p, f, map, 0, 1);
    expect_order(&p, "host2 host4 host7 | host0 host3 host6 host1 host5 host8 leaf0 leaf1 leaf2 "
                     "l1-0 l1-1 ");
    plan_release(&p);
    sv_jobmap_free(map);
    sv_fabric_free(f);
    sv_fabric_free(plain);
}

/* A terminal that shares several jobs with a destination counts once. */
static void who_counts(void **state)
{
    (void)state;
    struct plan p;
    uint32_t room[5], all[5] = {3, 3, 3, 0, 0};
    sv_fabric *f = test_fabric(ctx, TREE);
    sv_jobmap *map = read_map(f, "host0 a\nhost3 a\nhost4 a\nhost0 b\nhost3 b\nhost6 b\nhost7 c\n");
    plan_init(&p, f, map, 0, 1);
    const struct {
        uint32_t terminal, wanted[5];
        bool everybody;
    } cases[] = {{0, {1, 2, 1, 0, 0}, false}, {3, {1, 2, 1, 0, 0}, false},
                 {4, {1, 2, 0, 0, 0}, false}, {6, {1, 1, 1, 0, 0}, false},
                 {7, {3, 3, 3, 0, 0}, true},  {8, {3, 3, 3, 0, 0}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t d = p.job.routes->first[f->num_switches + cases[i].terminal];
        const uint32_t *found = sv__schedule_sources(&p.schedule, p.job.routes, d, all, room);
        assert_int_equal(found == all, cases[i].everybody);
        assert_memory_equal(found, cases[i].wanted, sizeof room);
    }
    assert_ptr_equal(sv__schedule_sources(&p.schedule, p.job.routes, 0, all, room), all);
    plan_release(&p);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

/* Jobs over a fabric: blocks of seven hosts, some run two. */
static sv_jobmap *some_jobs(const sv_fabric *f, unsigned jobs)
{
    char *text = malloc(64 * (size_t)f->num_terminals + 1);
    size_t used = 0;
    assert_non_null(text);
    text[0] = 0;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        const char *name = f->adapters[f->terminals[t].adapter].name;
        used += (size_t)sprintf(text + used, "%s job%u\n", name, t / 7 * 3 % jobs);
        if (t % 9 == 0)
            used += (size_t)sprintf(text + used, "%s more%u\n", name, t % 2);
    }
    sv_jobmap *map = read_map(f, text);
    free(text);
    return map;
}

static void safe_whatever_the_fabric(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:5,hosts=2",
                                        "torus:5x5,hosts=2",
                                        "torus:4x4x3,hosts=2,r=2",
                                        "kary:k=3,n=3,hosts=3",
                                        "hypercube:5,hosts=1",
                                        "dragonfly:a=4,p=2,h=2,g=9",
                                        "kautz:d=3,k=3,hosts=1",
                                        "xgft:h=1,m=10,w=6,hosts=18",
                                        "random:switches=40,links=90,hosts=2",
                                        "fullmesh:1,hosts=3"};
    static const char *const engines[] = {"sar", "dfsssp", "weave", "nue"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (size_t e = 0; e < 4; e++)
            for (unsigned vls = e < 2 ? 8 : 1; vls <= 8; vls *= 2) {
                sv_fabric *f = test_fabric(ctx, specs[i]);
                sv_jobmap *map = some_jobs(f, 1 + (unsigned)i % 4);
                sv_routes *r = NULL;
                sv_verification *found = NULL;
                OK(ctx,
                   sv_route(ctx, f, engines[e],
                            &(sv_route_request){.vls = vls, .seed = 1, .jobs = map}, &r, NULL));
                OK(ctx, sv_routes_check(ctx, f, r));
                OK(ctx, sv_verify(ctx, f, r, NULL, &found));
                assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
                assert_int_equal(found->unreachable[SV_PAIRS_TERMINAL_TERMINAL], 0);
                assert_true(found->vls_used <= vls);
                sv_verification_free(found);
                sv_routes_free(r);
                sv_jobmap_free(map);
                sv_fabric_free(f);
            }
}

/* The busiest channel of all routes, if they follow jobs. */
static uint64_t busiest(const sv_fabric *f, const char *engine, const sv_jobmap *map)
{
    sv_routes *r = NULL;
    sv_load load;
    OK(ctx, sv_route(ctx, f, engine, &(sv_route_request){.seed = 1, .jobs = map}, &r, NULL));
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    sv_routes_free(r);
    return load.max;
}

/* The busiest channel of routes inside jobs. */
static sv_jobs_load job_load(const sv_fabric *f, const char *engine, const char *option,
                             const sv_jobmap *map, bool follow)
{
    sv_routes *r = NULL;
    sv_jobs_load load;
    const sv_route_request request = {
        .seed = 1, .jobs = follow ? map : NULL, .options = &option, .num_options = option != NULL};
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    OK(ctx, sv_jobs_count(ctx, f, r, map, NULL, NULL, &load));
    sv_routes_free(r);
    return load;
}

/* Thesis Fig. 5.2: three jobs on ten leaf switches, from over 160 to about 60. */
static void three_jobs(void **state)
{
    (void)state;
    static const char *const specs[] = {"xgft:h=1,m=10,w=6,hosts=18,r=3",
                                        "xgft:h=1,m=10,w=9,hosts=18,r=2",
                                        "xgft:h=1,m=10,w=18,hosts=18"};
    char text[180 * 12] = "";
    for (int node = 1; node <= 180; node++) {
        int third = (node - 1) / 30; /* 1-30, 31-60 … */
        int job = third == 0 || third == 3 ? 1 : third == 1 || third == 5 ? 2 : 3;
        sprintf(text + strlen(text), "host%d j%d\n", node - 1, job);
    }
    for (int i = 0; i < 3; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_jobmap *map = read_map(f, text);
        assert_true(job_load(f, "dfsssp", NULL, map, false).efi.max > 100);
        sv_jobs_load one = job_load(f, "sar", "assign=online", map, true);
        sv_jobs_load two = job_load(f, "sar", NULL, map, true);
        sv_jobs_load woven = job_load(f, "weave", NULL, map, true);
        assert_true(one.efi.max <= 90 && one.dark_fibre == 0);
        assert_true(two.efi.max <= 60 && two.dark_fibre == 0);
        assert_true(woven.efi.max <= 60 && woven.dark_fibre == 0);
        assert_int_equal(job_load(f, "sssp", NULL, map, true).efi.max, one.efi.max);
        assert_true(busiest(f, "sar", map) < 1.5 * (double)busiest(f, "sar", NULL));
        sv_jobmap_free(map);
        sv_fabric_free(f);
    }
}

/* A small job on a large fabric: most channels have no load, the few that have must differ. */
static void one_small_job(void **state)
{
    (void)state;
    static const char *const specs[] = {"taurus", "torus:8x8x4,hosts=4"};
    for (int i = 0; i < 2; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        char text[60 * 80] = "";
        for (uint32_t k = 0; k < 60; k++)
            sprintf(text + strlen(text), "\"%s\" job\n",
                    f->adapters[f->terminals[k * k * 7 % 257].adapter].name);
        sv_jobmap *map = read_map(f, text);
        sv_jobs_load one = job_load(f, "sssp", NULL, map, true);
        sv_jobs_load two = job_load(f, "sar", NULL, map, true);
        assert_true(two.efi.max <= one.efi.max);
        assert_true(one.efi.max <= job_load(f, "sssp", NULL, map, false).efi.max);
        sv_jobmap_free(map);
        sv_fabric_free(f);
    }
}

/* Jobs that fill a leaf and a part of the next: a full channel must not look cheap. */
static void parts_of_leaves(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=18,n=2,hosts=18");
    for (uint32_t hosts = 19; hosts <= 60; hosts += 2)
        for (uint32_t first = 0; first < 18; first += 7) {
            char text[60 * 16] = "";
            for (uint32_t k = first; k < first + hosts; k++)
                sprintf(text + strlen(text), "host%u job\n", k);
            sv_jobmap *map = read_map(f, text);
            sv_jobs_load one = job_load(f, "sssp", NULL, map, true);
            assert_true(job_load(f, "sar", NULL, map, true).efi.max <= one.efi.max);
            assert_true(job_load(f, "weave", NULL, map, true).efi.max <= one.efi.max);
            sv_jobmap_free(map);
        }
    sv_fabric_free(f);
}

/* On fabrics of all kinds, summed up: routes inside jobs spread better. */
static void jobs_gain(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "torus:6x6,hosts=4", "kary:k=4,n=3,hosts=4", "dragonfly:a=6,p=3,h=3,g=10",
        "random:switches=50,links=150,hosts=4", "hyperx:5x5,hosts=4"};
    const struct {
        const char *engine;
        double busiest, own; /* shares that are left, at most: of the busiest channel, of a job's */
    } cases[] = {{"sssp", 1, 0.9}, {"nue", 1, 0.9}, {"sar", 0.85, 0.9}, {"weave", 0.85, 0.9}};
    for (int e = 0; e < 4; e++) {
        sv_jobs_load before, after;
        double sums[4] = {0, 0, 0, 0};
        for (int i = 0; i < 5; i++) {
            sv_fabric *f = test_fabric(ctx, specs[i]);
            sv_jobmap *map = some_jobs(f, 7);
            before = job_load(f, cases[e].engine, NULL, map, false);
            after = job_load(f, cases[e].engine, NULL, map, true);
            sums[0] += (double)before.efi.max;
            sums[1] += (double)after.efi.max;
            sums[2] += before.job_max_avg;
            sums[3] += after.job_max_avg;
            sv_jobmap_free(map);
            sv_fabric_free(f);
        }
        assert_true(sums[1] < cases[e].busiest * sums[0]);
        assert_true(sums[3] < cases[e].own * sums[2]);
    }
}

/* Routes that are not inside a job are balanced nearly as well as without jobs. */
static void the_rest_is_balanced(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:6x6,hosts=4", "kary:k=4,n=3,hosts=4",
                                        "dragonfly:a=6,p=3,h=3,g=10", "hyperx:5x5,hosts=4"};
    for (int i = 0; i < 8; i++) {
        const char *engine = i % 2 == 0 ? "weave" : "sar";
        sv_fabric *f = test_fabric(ctx, specs[i / 2]);
        sv_jobmap *map = some_jobs(f, 7);
        assert_true((double)busiest(f, engine, map) < 1.45 * (double)busiest(f, engine, NULL));
        sv_jobmap_free(map);
        sv_fabric_free(f);
    }
}

/* What jobs are called, in which order they are listed, and jobs on one switch make no difference.
 */
static void names_do_not_count(void **state)
{
    (void)state;
    static const char *const engines[] = {"sssp", "sar", "weave", "nue"};
    sv_fabric *f = test_fabric(ctx, "torus:4x3,hosts=2");
    sv_jobmap *a = read_map(f, "host0 a\nhost5 a\nhost7 a\nhost9 b\nhost11 b\nhost2 b\nhost4 c\n"
                               "host20 c\nhost0 d\nhost5 d\nhost9 d\n");
    sv_jobmap *b =
        read_map(f, "host20 1\nhost4 1\nhost5 o\nhost9 o\nhost0 o\nhost11 x\nhost2 x\n"
                    "host9 x\nhost7 9\nhost0 9\nhost5 9\nhost5 9\nhost12 one\nhost13 one\n"
                    "host0 two\nhost1 two\nhost18 three\n");
    for (int e = 0; e < 4; e++) {
        sv_routes *r = NULL, *q = NULL;
        OK(ctx, sv_route(ctx, f, engines[e], &(sv_route_request){.seed = 1, .jobs = a}, &r, NULL));
        OK(ctx, sv_route(ctx, f, engines[e], &(sv_route_request){.seed = 1, .jobs = b}, &q, NULL));
        for (uint32_t d = 0; d < r->num_destinations; d++)
            assert_memory_equal(r->ports[d], q->ports[d], r->num_switches);
        sv_routes_free(r);
        sv_routes_free(q);
    }
    sv_jobmap_free(a);
    sv_jobmap_free(b);
    sv_fabric_free(f);
}

/* Batches, on several threads: the same bytes. */
static void large_fabrics(void **state)
{
    (void)state;
    static const char *const engines[] = {"sar", "sssp", "weave"};
    sv_fabric *f = test_fabric(ctx, "torus:9x8x8,hosts=2");
    sv_jobmap *map = some_jobs(f, 3);
    for (int e = 0; e < (test_enough() ? 3 : 1); e++) {
        sv_routes *r = NULL, *q = NULL;
        const sv_route_request request = {.seed = 1, .jobs = map, .vls = 8};
        sv_ctx_set_threads(ctx, 1);
        OK(ctx, sv_route(ctx, f, engines[e], &request, &r, NULL));
        sv_ctx_set_threads(ctx, 3);
        OK(ctx, sv_route(ctx, f, engines[e], &request, &q, NULL));
        for (uint32_t d = 0; d < r->num_destinations; d++)
            assert_memory_equal(r->ports[d], q->ports[d], r->num_switches);
        sv_routes_free(r);
        sv_routes_free(q);
    }
    sv_ctx_set_threads(ctx, 0);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

/* Hosts that are gone, and jobs of which nothing is left. */
static void broken_fabrics(void **state)
{
    (void)state;
    static const char *const engines[] = {"sssp", "sar", "weave", "nue"};
    sv_fabric *whole = test_fabric(ctx, TREE), *f = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, (sv_node){0});                       /* a leaf with hosts 0 to 2 */
    sv_mask_node(mask, (sv_node){whole->num_switches + 4}); /* host 4 */
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    sv_jobmap *maps[] = {read_map(f, "host0 a\nhost1 a\nhost5 b\nhost4 b\nhost8 b\n"),
                         read_map(whole, "host0 a\nhost1 a\nhost5 b\nhost4 b\nhost8 b\n")};
    for (int e = 0; e < 4; e++)
        for (int m = 0; m < 2; m++) {
            sv_routes *r = NULL;
            OK(ctx, sv_route(ctx, f, engines[e], &(sv_route_request){.seed = 1, .jobs = maps[m]},
                             &r, NULL));
            OK(ctx, sv_routes_check(ctx, f, r));
            sv_routes_free(r);
        }
    sv_jobmap_free(maps[0]);
    sv_jobmap_free(maps[1]);
    sv_mask_free(mask);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

static void what_engines_say(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, TREE);
    sv_jobmap *map = read_map(f, "host0 a\nhost5 a\n");
    sv_routes *r = NULL;
    sv_route_report report;
    const sv_engine_info *engine;
    const char *const wrong[] = {"rounds=0"};
    for (size_t i = 0; (engine = sv_engine_at(i)) != NULL; i++)
        if (!(engine->traits & SV_ENGINE_JOBS))
            FAILS(ctx, sv_route(ctx, f, engine->name, &(sv_route_request){.jobs = map}, &r, NULL),
                  SV_BAD_INPUT, "follows no jobs");
    FAILS(
        ctx,
        sv_route(ctx, f, "sar", &(sv_route_request){.options = wrong, .num_options = 1}, &r, NULL),
        SV_BAD_INPUT, "rounds=0 is not 1-9");
    OK(ctx, sv_route(ctx, f, "sar", NULL, &r, &report));
    assert_string_equal(report.note, "no job map: as dfsssp");
    sv_routes_free(r);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

/* auto judges by routes inside jobs, and tries sar. */
static void auto_follows(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=2,hosts=4");
    sv_jobmap *map = read_map(f, "host0 a\nhost1 a\nhost4 a\nhost5 a\nhost8 a\nhost12 a\n");
    sv_routes *r = NULL;
    sv_selection *tried = test_malloc(sizeof *tried);
    sv_jobs_load load;
    bool sar = false;
    OK(ctx, sv_route_auto(ctx, f, &(sv_route_request){.seed = 1, .jobs = map}, SV_TRAFFIC_MANAGED,
                          &r, NULL, tried));
    OK(ctx, sv_jobs_count(ctx, f, r, map, NULL, NULL, &load));
    assert_int_equal(tried->candidates[tried->chosen].busiest, load.efi.max);
    for (uint32_t i = 0; i < tried->count; i++) {
        sar = sar || strcmp(tried->candidates[i].engine, "sar") == 0;
        if (tried->candidates[i].candidacy >= SV_CANDIDATE_PROVEN)
            assert_true(tried->candidates[i].busiest * 51 / 50 >= load.efi.max);
    }
    assert_true(sar);
    test_free(tried);
    sv_routes_free(r);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_jobs_round_robin),
                                       cmocka_unit_test(largest_job_first),
                                       cmocka_unit_test(storage_then_the_rest),
                                       cmocka_unit_test(who_counts),
                                       cmocka_unit_test(safe_whatever_the_fabric),
                                       cmocka_unit_test(three_jobs),
                                       cmocka_unit_test(one_small_job),
                                       cmocka_unit_test(parts_of_leaves),
                                       cmocka_unit_test(jobs_gain),
                                       cmocka_unit_test(the_rest_is_balanced),
                                       cmocka_unit_test(names_do_not_count),
                                       cmocka_unit_test(large_fabrics),
                                       cmocka_unit_test(broken_fabrics),
                                       cmocka_unit_test(what_engines_say),
                                       cmocka_unit_test(auto_follows)};
    return cmocka_run_group_tests(tests, begin, end);
}
