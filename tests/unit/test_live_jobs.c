/*
 * test_live_jobs.c: tables that follow a job map from sweep to sweep: what makes them change, what
 * does not, what is kept when the map is no good, and that a restart or a failure mixes up nothing.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "support/following.h"
#include "support/trials.h"

static const char spec[] = "kary:k=4,n=2,hosts=4";

/* Two jobs, each with a host on every leaf switch; shift moves both. */
static void put_two(unsigned shift, const char *one, const char *two)
{
    sv_fabric *f = test_fabric(ctx, spec);
    FILE *file = fopen(map_path, "w");
    assert_non_null(file);
    write_jobs(file, f, one, shift, 4, 4);
    write_jobs(file, f, two, shift + 5, 5, 3);
    fclose(file);
    sv_fabric_free(f);
}

static void test_jobs_change(void **state)
{
    (void)state;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    unlink(map_path);
    sv_live_report r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.jobs + r.jobs_terminals + r.jobs_efi, 0);
    put_two(0, "1", "2");
    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.jobs, 2);
    assert_int_equal(r.jobs_terminals, 7);
    assert_true(r.jobs_efi > 0);
    put_two(0, "3", "4"); /* other numbers, the same nodes */
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_SAME);
    put_two(1, "3", "4");
    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_not_equal(r.passage, SV_PASSAGE_UNJUDGED);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_SAME);
    put_two(0, "5", "6"); /* those of before: their tables are gone */
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
    put("");
    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.jobs, 0);
    unlink(map_path);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_SAME);
    sv_live_free(live);
}

/* It is the engine that is told: the job's own routes are spread as well as can be. */
static void test_jobs_are_heeded(void **state)
{
    (void)state;
    static const char *const engines[] = {"sar", "weave", "dfsssp", "nue"};
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        sv_live_options options = following();
        sv_fabric *f = test_fabric(ctx, "kary:k=6,n=2,hosts=6");
        options.engine = engines[e];
        FILE *file = fopen(map_path, "w");
        write_jobs(file, f, "j", 0, 6, 6); /* one host of each leaf */
        write_jobs(file, f, "k", 1, 6, 6);
        fclose(file);
        sv_fabric_free(f);
        sv_live *live = start(&options);
        sv_live_report with = sweep(live, found("kary:k=6,n=2,hosts=6", NULL), 0);
        const sv_routes *r = sv_live_routes(live);
        sv_jobmap *map = NULL;
        sv_jobs_load load, plain;
        sv_routes *other = NULL;
        const sv_route_request request = {.seed = 1};
        OK(ctx, sv_jobmap_load(ctx, sv_live_fabric(live), map_path, &map));
        OK(ctx, sv_jobs_count(ctx, sv_live_fabric(live), r, map, NULL, NULL, &load));
        assert_int_equal(load.efi.max, with.jobs_efi);
        OK(ctx, sv_route(ctx, sv_live_fabric(live),
                         strcmp(engines[e], "sar") == 0 ? "dfsssp" : engines[e], &request, &other,
                         NULL));
        OK(ctx, sv_jobs_count(ctx, sv_live_fabric(live), other, map, NULL, NULL, &plain));
        assert_true(load.efi.max <= plain.efi.max);
        sv_routes_free(other);
        sv_jobmap_free(map);
        sv_live_free(live);
    }
}

static void test_bad_maps(void **state)
{
    (void)state;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    put_two(0, "1", "2");
    sweep(live, found(spec, NULL), 0);
    put("host1 job extra words\n");
    sv_live_report r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_SAME);
    assert_int_equal(r.jobs, 2);
    put("elsewhere 1\n"); /* not one of its nodes is there */
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_SAME);
    r = sweep(live, found(spec, "cable 3"), 0); /* the old text serves other fabrics, too */
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    assert_int_equal(r.jobs, 2);
    unlink(map_path);
    mkdir(map_path, 0700); /* cannot be read, whoever asks */
    r = sweep(live, found(spec, "cable 3"), 0);
    assert_int_equal(r.how, SV_LIVE_SAME);
    assert_int_equal(r.jobs, 2);
    rmdir(map_path);
    assert_int_equal(mkfifo(map_path, 0600), 0); /* nobody is waited for */
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_SAME);
    unlink(map_path);
    put_two(1, "1", "2");
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
}

/* Failures are mended; what was routed for other jobs is not returned to. */
static void test_failures(void **state)
{
    (void)state;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    put_two(0, "1", "2");
    sweep(live, found(spec, NULL), 0);
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_REPAIRED);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    sv_live_report r = sweep(live, found(spec, "node 8"), 0); /* the first host, of the first job */
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    assert_int_equal(r.jobs_terminals, 6);
    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_RETURNED);
    assert_int_equal(r.jobs_terminals, 7);
    sweep(live, found(spec, "cable 3"), 0);
    put_two(1, "1", "2");
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_ROUTED);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_REPAIRED);
    put_two(2, "1", "2"); /* both at once */
    assert_int_equal(sweep(live, found(spec, "cable 5"), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
}

/* A node of a job that turns up is routed for; one that comes back is not news. */
static void test_nodes_turn_up(void **state)
{
    (void)state;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    put_two(0, "1", "2");
    assert_int_equal(sweep(live, found(spec, "node 8"), 0).jobs_terminals, 6);
    sv_live_report r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.jobs_terminals, 7);
    assert_int_equal(sweep(live, found(spec, "node 8"), 0).how, SV_LIVE_REPAIRED);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    sv_live_free(live);
}

/* Nor is one that comes back while another goes, though as many are missing as before. */
static void test_nodes_take_turns(void **state)
{
    (void)state;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    put_two(0, "1", "2");
    assert_int_equal(sweep(live, found(spec, "node 8"), 0).jobs_terminals, 6);
    sv_live_report r = sweep(live, found(spec, "node 12"), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.jobs_terminals, 6);
    assert_int_equal(sweep(live, found(spec, "node 12"), 0).how, SV_LIVE_SAME);
    sv_live_free(live);
}

static void test_state_file(void **state)
{
    (void)state;
    sv_live_options options = following();
    options.state_path = state_path;
    put_two(0, "1", "2");
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_live_free(live);

    put_two(0, "7", "8");
    live = start(&options); /* as it was */
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    sv_live_free(live);
    put_two(1, "7", "8");
    live = start(&options); /* other jobs */
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    sv_live_free(live);
    live = start(&options); /* other jobs, and another fabric: not mended */
    put_two(2, "7", "8");
    assert_int_equal(sweep(live, found(spec, "cable 2"), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
    options.jobs_path = NULL; /* jobs do not count any more */
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, "cable 2"), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, "cable 2"), 0).how, SV_LIVE_RETURNED);
    sv_live_free(live);
}

/* Whose file is spoilt is tables of nobody knows whom. */
static void test_spoilt_key(void **state)
{
    (void)state;
    char key[96];
    sv_live_options options = following();
    options.state_path = state_path;
    put_two(0, "1", "2");
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_live_free(live);
    snprintf(key, sizeof key, "%s.jobs", state_path);
    FILE *file = fopen(key, "w");
    fputs("nonsense", file);
    fclose(file);
    unlink(map_path);
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
}

/* Files can have so many bytes from now on. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Tables that could not be replaced are never taken for those of other jobs, or of none. */
static void test_full_disk(void **state)
{
    (void)state;
    const rlim_t room[] = {10, 200}; /* not even for a key; for a key, but not for tables */
    for (int i = 0; i < 2; i++) {
        sv_live_options options = following();
        options.state_path = state_path;
        put_two(0, "1", "2");
        sv_live *live = start(&options);
        sweep(live, found(spec, NULL), 0);
        put_two(1, "1", "2");
        signal(SIGXFSZ, SIG_IGN);
        sv_fabric *f = found(spec, NULL);
        sv_live_report r;
        limit_files(room[i]);
        assert_int_equal(sv_live_sweep(live, f, 0, &r), SV_OK);
        limit_files(RLIM_INFINITY);
        assert_int_equal(r.how, SV_LIVE_ROUTED);
        sv_live_free(live);
        put("");
        live = start(&options);
        assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
        sv_live_free(live);
        live = start(&options); /* nothing ran, and nothing runs */
        assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
        sv_live_free(live);
    }
}

/* A state file without a key is of a time without jobs. */
static void test_state_without_key(void **state)
{
    (void)state;
    char key[96];
    sv_live_options options = defaults();
    options.state_path = state_path;
    snprintf(key, sizeof key, "%s.jobs", state_path);
    unlink(key);
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_live_free(live);
    assert_int_not_equal(access(key, F_OK), 0);
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    sv_live_free(live);
    options.jobs_path = map_path; /* whose they are is not known for sure */
    put("");
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
}

/* As long as no map could be read, the tables of before stay, which are for the jobs of before. */
static void test_bad_map_at_start(void **state)
{
    (void)state;
    sv_live_options options = following();
    options.state_path = state_path;
    put_two(0, "1", "2");
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_live_free(live);
    put("host1 job extra words\n");
    live = start(&options);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_RETURNED);
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_REPAIRED);
    put_two(0, "1", "2");
    assert_int_equal(sweep(live, found(spec, "cable 3"), 0).how, SV_LIVE_SAME);
    sv_live_free(live);

    put("host1 job extra words\n");
    live = start(&options); /* routed anew, tables are for no jobs */
    assert_int_equal(sweep(live, found(spec, NULL), SV_LIVE_ANEW).how, SV_LIVE_ROUTED);
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_SAME);
    put_two(0, "1", "2");
    assert_int_equal(sweep(live, found(spec, NULL), 0).how, SV_LIVE_ROUTED);
    sv_live_free(live);
}

static void test_refusals(void **state)
{
    (void)state;
    sv_live *live = NULL;
    sv_live_options options = following();
    options.engine = "updn";
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_BAD_INPUT);
    assert_non_null(strstr(message, "updn follows no jobs"));
    options = following();
    options.pin_path = "somewhere";
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_BAD_INPUT);
    assert_non_null(strstr(message, "pin"));
    assert_null(live);
    options = following();
    options.engine = "auto";
    live = start(&options);
    sv_live_free(live);
}

/* Whatever comes and goes: tables are for the last map that was one, and no work is done twice. */
static void test_random_walk(void **state)
{
    (void)state;
    static const char *const without[] = {NULL, NULL, "cable 3", "cable 7", "node 8"};
    sv_rng rng;
    const sv_live_options options = following();
    sv_live *live = start(&options);
    uint64_t fabric_before = 99, map_before = 99, map_good = 5;
    unlink(map_path);
    sv_rng_init(&rng, 11);
    for (uint32_t i = 0; i < test_times(150); i++) {
        uint64_t fabric = sv_rng_below(&rng, 5), map = sv_rng_below(&rng, 8);
        fabric = fabric == 1 ? 0 : fabric;
        if (map < 4)
            put_two((unsigned)map, "1", "2");
        else if (map == 4)
            put("nonsense\n");
        else if (map == 5)
            unlink(map_path);
        map_good = map < 4 || map == 5 ? map : map_good; /* else what was there stays */
        sv_live_report r = sweep(live, found(spec, without[fabric]), 0);
        assert_int_equal(r.jobs, map_good == 5 ? 0 : 2);
        if (map_before == map_good && fabric_before == fabric)
            assert_int_equal(r.how, SV_LIVE_SAME);
        else if (map_before != map_good)
            assert_int_equal(r.how, SV_LIVE_ROUTED);
        else
            assert_true(r.how == SV_LIVE_REPAIRED || r.how == SV_LIVE_RETURNED ||
                        r.how == SV_LIVE_ROUTED); /* drift, or a node that turned up */
        map_before = map_good;
        fabric_before = fabric;
    }
    sv_live_free(live);
}

static void test_out_of_memory_anywhere(void **state)
{
    (void)state;
    const uint64_t step = test_enough() ? 1 : 16;
    uint64_t fail_at = 0;
    for (bool failed = true; failed; fail_at += fail_at > 200 ? fail_at / 8 * step : 0) {
        test_memory memory = {.fail_at = fail_at += step};
        sv_host host = test_host(&memory);
        sv_live_options options = following();
        options.state_path = state_path;
        options.careful = true;
        sv_live *live = NULL;
        sv_live_report r;
        put_two(0, "1", "2");
        if (sv_live_new(&host, &options, &live, message, sizeof message) == SV_OK)
            for (unsigned i = 0; i < 4; i++) {
                put_two(i / 2, "1", "2");
                if (sv_live_sweep(live, found(spec, i == 1 ? "cable 3" : NULL), 0, &r) == SV_OK)
                    assert_true(r.proven);
            }
        sv_live_free(live);
        assert_int_equal(memory.blocks, 0);
        failed = memory.count >= fail_at;
    }
    assert_true(fail_at > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_change),      cmocka_unit_test(test_jobs_are_heeded),
        cmocka_unit_test(test_bad_maps),         cmocka_unit_test(test_failures),
        cmocka_unit_test(test_nodes_turn_up),    cmocka_unit_test(test_nodes_take_turns),
        cmocka_unit_test(test_state_file),       cmocka_unit_test(test_spoilt_key),
        cmocka_unit_test(test_full_disk),        cmocka_unit_test(test_state_without_key),
        cmocka_unit_test(test_bad_map_at_start), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_random_walk),      cmocka_unit_test(test_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
