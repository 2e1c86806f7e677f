/*
 * test_live_careful.c: tables that follow jobs only where the change cannot deadlock (careful):
 * what is not followed stays so whatever happens next, a restart included, until somebody asks.
 */
#define _DEFAULT_SOURCE
#include "support/following.h"

static const char torus[] = "torus:4x4,hosts=1";

/* With careful, a change of jobs that might deadlock is left alone, whatever happens next. */
static void test_careful(void **state)
{
    (void)state;
    char spare[96];
    uint32_t shunned = 0;
    snprintf(spare, sizeof spare, "%s.spare", map_path);
    for (unsigned step = 1; step < 8; step++) {
        sv_live_report r[2];
        for (int careful = 0; careful < 2; careful++) {
            sv_live_options options = following();
            sv_fabric *f = test_fabric(ctx, torus);
            options.careful = careful == 1;
            unlink(map_path);
            sv_live *live = start(&options);
            sweep(live, found(torus, NULL), 0);
            FILE *file = fopen(map_path, "w");
            write_jobs(file, f, "a", 0, step, 8);
            fclose(file);
            sv_fabric_free(f);
            r[careful] = sweep(live, found(torus, NULL), 0);
            if (r[careful].how == SV_LIVE_SAME) {
                assert_int_equal(careful, 1);
                assert_int_equal(r[0].passage, SV_PASSAGE_UNSAFE);
                assert_non_null(strstr(r[1].note, "deadlock"));
                assert_int_equal(r[1].jobs, 1);
                assert_true(r[1].jobs_efi > 0);
                sv_live_report next =
                    sweep(live, found(torus, NULL), 0); /* it is not tried again */
                assert_int_equal(next.how, SV_LIVE_SAME);
                assert_int_equal(next.route_ns, 0);
                assert_int_equal(next.note[0], 0);
                assert_int_equal(sweep(live, found(torus, "cable 3"), 0).how, SV_LIVE_REPAIRED);
                next = sweep(live, found(torus, NULL), 0);
                assert_true(next.how == SV_LIVE_RETURNED || next.how == SV_LIVE_REPAIRED);
                rename(map_path, spare); /* the jobs of before: these tables are theirs */
                assert_int_equal(sweep(live, found(torus, NULL), 0).how, SV_LIVE_SAME);
                rename(spare, map_path); /* which is not forgotten when it is tried again */
                next = sweep(live, found(torus, NULL), 0);
                assert_true(next.route_ns > 0);
                assert_true(next.how == SV_LIVE_ROUTED || strstr(next.note, "deadlock") != NULL);
                assert_int_equal(sweep(live, found(torus, NULL), SV_LIVE_ANEW).how,
                                 SV_LIVE_ROUTED); /* somebody asked */
                assert_int_equal(sweep(live, found(torus, NULL), 0).how, SV_LIVE_SAME);
                shunned++;
            } else {
                assert_int_equal(r[careful].how, SV_LIVE_ROUTED);
                assert_true(careful == 0 || r[0].passage != SV_PASSAGE_UNSAFE);
            }
            sv_live_free(live);
        }
    }
    assert_true(shunned > 0);
}

/* The same when a cable fails at the same time: mended for the jobs of before, if that is safe. */
static void test_careful_with_failures(void **state)
{
    (void)state;
    uint32_t shunned = 0;
    for (unsigned cable = 0; cable < 32; cable++) {
        char without[32];
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live_options options = following();
        sv_fabric *f = test_fabric(ctx, torus);
        options.careful = true;
        unlink(map_path);
        sv_live *live = start(&options);
        sweep(live, found(torus, NULL), 0);
        FILE *file = fopen(map_path, "w");
        write_jobs(file, f, "a", 0, 1 + cable % 7, 8);
        fclose(file);
        sv_fabric_free(f);
        sv_live_report r = sweep(live, found(torus, without), 0);
        if (r.how == SV_LIVE_REPAIRED) { /* which is not always safe, either */
            assert_int_not_equal(r.passage, SV_PASSAGE_UNSAFE);
            assert_non_null(strstr(r.note, "jobs"));
            assert_int_equal(sweep(live, found(torus, without), 0).how, SV_LIVE_SAME);
            shunned++;
        }
        sv_live_free(live);
    }
    assert_true(shunned > 0);
}

/* The last job ends: a map without jobs is a map, too. */
static void test_careful_without_jobs(void **state)
{
    (void)state;
    uint32_t shunned = 0;
    for (unsigned step = 1; step < 8; step++) {
        sv_live_options options = following();
        sv_fabric *f = test_fabric(ctx, torus);
        options.careful = true;
        FILE *file = fopen(map_path, "w");
        write_jobs(file, f, "a", 0, step, 8);
        fclose(file);
        sv_fabric_free(f);
        sv_live *live = start(&options);
        sweep(live, found(torus, NULL), 0);
        put("");
        sv_live_report r = sweep(live, found(torus, NULL), 0);
        if (r.how == SV_LIVE_SAME) {
            assert_non_null(strstr(r.note, "deadlock"));
            r = sweep(live, found(torus, NULL), 0); /* it is said once, and not tried again */
            assert_int_equal(r.how, SV_LIVE_SAME);
            assert_int_equal(r.note[0], 0);
            assert_int_equal(r.route_ns, 0);
            r = sweep(live, found(torus, "cable 3"), 0);
            assert_int_equal(r.how, SV_LIVE_REPAIRED);
            assert_int_not_equal(r.passage, SV_PASSAGE_UNSAFE);
            shunned++;
        }
        sv_live_free(live);
    }
    assert_true(shunned > 0);
}

/*
 * Nor does a restart make a change safe that was not: the tables of the state file stay, as they
 * are or mended, whether or not the subnet manager says that switches may hold anything.
 */
static void test_careful_restart(void **state)
{
    (void)state;
    uint32_t shunned = 0, mended = 0;
    for (unsigned i = 0; i < 32; i++) {
        sv_live_options options = following();
        sv_fabric *f = test_fabric(ctx, torus);
        unsigned flags = i & 1 ? SV_LIVE_UNKNOWN : 0;
        char cable[32], *without = i & 2 ? cable : NULL;
        snprintf(cable, sizeof cable, "cable %u", i);
        options.careful = true;
        options.state_path = state_path;
        put("");
        unlink(state_path);
        sv_live *live = start(&options);
        sweep(live, found(torus, NULL), 0);
        FILE *file = fopen(map_path, "w");
        write_jobs(file, f, "a", 0, 1 + i % 7, 8);
        fclose(file);
        sv_fabric_free(f);
        bool stays = sweep(live, found(torus, NULL), 0).how == SV_LIVE_SAME;
        sv_live_free(live);
        live = start(&options);
        sv_live_report r = sweep(live, found(torus, without), flags);
        if (stays && without == NULL) {
            assert_int_equal(r.how, SV_LIVE_RETURNED);
            assert_non_null(strstr(r.note, "to follow the jobs"));
            assert_int_equal(r.passage, flags ? SV_PASSAGE_UNJUDGED : SV_PASSAGE_NONE);
            r = sweep(live, found(torus, NULL), 0);
            assert_int_equal(r.how, SV_LIVE_SAME);
            assert_int_equal(r.route_ns, 0);
            assert_int_equal(sweep(live, found(torus, "cable 5"), 0).how, SV_LIVE_REPAIRED);
            r = sweep(live, found(torus, "cable 5"), SV_LIVE_ANEW); /* somebody asked */
            assert_int_equal(r.how, SV_LIVE_ROUTED);
            shunned++;
        } else if (r.how == SV_LIVE_REPAIRED) {
            assert_non_null(strstr(r.note, "to follow the jobs"));
            mended++;
        }
        sv_live_free(live);
    }
    assert_true(shunned > 1);
    assert_true(mended > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_careful),
        cmocka_unit_test(test_careful_with_failures),
        cmocka_unit_test(test_careful_without_jobs),
        cmocka_unit_test(test_careful_restart),
    };
    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
