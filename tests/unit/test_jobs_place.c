/*
 * test_jobs_place.c: where jobs are: host lists, the order of hosts, and job maps made of
 * allocations, compared and written.
 */
#include "support/testing.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

TEST_CONTEXT

/* ---- host lists ---- */

static sv_status collect(void *user, const char *name, size_t length)
{
    char *text = user;
    assert_int_equal(strlen(name), length);
    assert_true(strlen(text) + length + 2 < 4096);
    strcat(strcat(text, *text != 0 ? " " : ""), name);
    return SV_OK;
}

static sv_status expand(const char *list, char *text)
{
    text[0] = 0;
    return sv_hostlist_expand(ctx, list, strlen(list), collect, text);
}

static void host_lists_are_written_out(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"login", "login"},
        {"a,b,a", "a b a"},
        {"n[1-3]", "n1 n2 n3"},
        {"n[001-003,33]-ib", "n001-ib n002-ib n003-ib n33-ib"},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"n[98-101]", "n98 n99 n100 n101"},
        {"n[1-1]", "n1"},
        {"r[1-2]n[01-03]", "r1n01 r1n02 r1n03 r2n01 r2n02 r2n03"},
        {"r[1-2]n[1,5]x[07-08],z",
         "r1n1x07 r1n1x08 r1n5x07 r1n5x08 r2n1x07 r2n1x08 r2n5x07 r2n5x08 z"},
        {"[3-4]", "3 4"},
        {"[1-2][3-4]", "13 14 23 24"},
        {"n[0-2].cluster_a", "n0.cluster_a n1.cluster_a n2.cluster_a"},
    };
    char text[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OK(ctx, expand(cases[i][0], text));
        assert_string_equal(text, cases[i][1]);
    }
}

static void wrong_host_lists_hand_out_nothing(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "empty name"},
        {"a,", "empty name"},
        {"a,,b", "empty name"},
        {",a", "empty name"},
        {"ok,n[1-2", "not closed"},
        {"ok,n[1-2,", "not a number"},
        {"ok,n[1-", "'1-' in brackets is not a number"},
        {"ok,n[", "not a number"},
        {"ok,n1]", "']' cannot be"},
        {"ok,n[]", "not a number"},
        {"ok,n[[1]]", "not a number"},
        {"ok,n[a-b]", "'a-b' in brackets"},
        {"ok,n[1 -2]", "not a number"},
        {"ok,n[1-2-3]", "'1-2-3' in brackets"},
        {"ok,n[3-2]", "'3-2' descends"},
        {"ok,a b", "' ' cannot be"},
        {"ok,(Resources)", "'(' cannot be"},
        {"ok,n[0-1000000]", "more than 1000000"},
        {"ok,n[0-999]x[0-1000]", "more than 1000000"},
        {"n[0-999999],b", "more than 1000000"},
        {"ok,n[1-99999999999999999999]", "in brackets"},
        {"ok,n[0000000000000001]", "in brackets"},
        {"ok,[1][1][1][1][1][1][1][1][1]", "more than 8 brackets"},
    };
    char text[4096], long_name[400];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FAILS(ctx, expand(cases[i][0], text), SV_BAD_INPUT, cases[i][1]);
        assert_string_equal(text, "");
    }
    memset(long_name, 'x', sizeof long_name);
    snprintf(long_name + 250, 20, "[08-9]"); /* 252 letters */
    OK(ctx, expand(long_name, text));
    snprintf(long_name + 250, 20, "[0000008-9]");
    FAILS(ctx, expand(long_name, text), SV_BAD_INPUT, "more than 255 letters");
}

static sv_status stop_at_two(void *user, const char *name, size_t length)
{
    (void)name;
    (void)length;
    return ++*(int *)user == 2 ? SV_CANCELLED : SV_OK;
}

static void a_million_names_are_fine_and_stopping_stops(void **state)
{
    (void)state;
    int count = 0;
    assert_int_equal(sv_hostlist_expand(ctx, "n[0-999999]", 11, stop_at_two, &count), SV_CANCELLED);
    assert_int_equal(count, 2);
    count = 2;
    OK(ctx, sv_hostlist_expand(ctx, "n[0-999]x[0-999]", 16, stop_at_two, &count));
    assert_int_equal(count, 1000002);
}

static void names_are_ordered_as_people_count(void **state)
{
    (void)state;
    static const char *const ascending[] = {"",
                                            "7",
                                            "9",
                                            "10",
                                            "a",
                                            "n07",
                                            "n7",
                                            "n8",
                                            "n10",
                                            "n10-1",
                                            "n10a",
                                            "n10b2",
                                            "n10b10",
                                            "na",
                                            "n\xc3",
                                            "x99999999999999999999998",
                                            "x99999999999999999999999"};
    enum { COUNT = sizeof ascending / sizeof ascending[0] };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            int order = sv_hosts_compare(ascending[i], ascending[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    assert_true(sv_hosts_compare("n07", "n7") < 0 && sv_hosts_compare("n7", "n07") > 0);
    assert_true(sv_hosts_compare("n07a", "n7b") < 0 && sv_hosts_compare("n07", "n8") < 0);
}

static sv_status read_as(const char *text, sv_jobs_format format, sv_allocations **jobs)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "jobs");
    return sv_allocations_read(ctx, &source, format, jobs);
}

/* ---- maps ---- */

/* Two switches; node7 has an adapter on each, node8 two ports on the first; io9 does not compute.
 */
static const char *const net =
    "Switch 8 \"S-1\" # \"s1\"\n[1] \"H-1\"[1]\n[2] \"H-3\"[1]\n[3] \"H-3\"[2]\n[4] "
    "\"H-5\"[1]\n[8] "
    "\"S-2\"[8]\n\n"
    "Switch 8 \"S-2\" # \"s2\"\n[1] \"H-2\"[1]\n[2] \"H-4\"[1]\n[3] \"H-6\"[1]\n[8] \"S-1\"[8]\n\n"
    "Ca 1 \"H-1\" # \"node7 HCA-1\"\n[1] \"S-1\"[1]\n\n"
    "Ca 1 \"H-2\" # \"node7 HCA-2\"\n[1] \"S-2\"[1]\n\n"
    "Ca 2 \"H-3\" # \"node8\"\n[1] \"S-1\"[2]\n[2] \"S-1\"[3]\n\n"
    "Ca 1 \"H-4\" # \"node10\"\n[1] \"S-2\"[2]\n\n"
    "Ca 1 \"H-5\" # \"twin\"\n[1] \"S-1\"[4]\n\n"
    "Ca 1 \"H-6\" # \"twin\"\n[1] \"S-2\"[3]\n";

static sv_jobmap *map_of(const sv_fabric *f, const char *text, int64_t at, sv_placing placing,
                         bool several, sv_placed *placed)
{
    sv_allocations *jobs = NULL;
    sv_jobmap *map = NULL;
    OK(ctx, read_as(text, SV_JOBS_AUTO, &jobs));
    OK(ctx, sv_allocations_map(ctx, jobs, at, f, placing, several, &map, placed));
    sv_allocations_free(jobs);
    return map;
}

static void the_jobs_of_a_moment(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_placed placed;
    const char *text =
        "1|R|node7\n2|R|node8,elsewhere\n3|R|lost[1-7]\n4|R|node[8,10]\n5|R|elsewhere\n";
    sv_jobmap *map = map_of(f, text, SV_TIME_OPEN, SV_PLACE_BY_NAME, false, &placed);
    assert_int_equal(map->num_jobs, 3);
    assert_string_equal(map->jobs[0].name, "1");
    assert_int_equal(map->jobs[0].num_terminals, 2);
    assert_string_equal(map->jobs[1].name, "2");
    assert_int_equal(map->jobs[1].num_terminals, 2);
    assert_string_equal(map->jobs[2].name, "4");
    assert_int_equal(map->jobs[2].num_terminals, 3);
    assert_int_equal(map->num_terminals, 5);
    assert_int_equal(placed.running, 5);
    assert_int_equal(placed.homeless, 2);
    assert_int_equal(placed.one_switch, 1);
    assert_int_equal(placed.unknown_hosts, 8);
    assert_int_equal(map->unknown, 8);
    assert_int_equal(placed.unknown[0], 2); /* node7, node8, elsewhere */
    sv_jobmap_free(map);
    map = map_of(f, text, SV_TIME_OPEN, SV_PLACE_BY_NAME, true, NULL);
    assert_int_equal(map->num_jobs, 2);
    assert_string_equal(map->jobs[1].name, "4");
    assert_int_equal(map->num_terminals, 5);
    sv_jobmap_free(map);
    /* [begin, end) */
    text = "JobID|Start|End|NodeList\n1|100|200|node7\n2|150|Unknown|node8\n1|200|300|node10\n";
    const int64_t moments[] = {99, 100, 149, 150, 199, 200, 299, 300, SV_TIME_OPEN};
    const uint32_t jobs[] = {0, 1, 1, 2, 2, 2, 2, 1, 1}, terminals[] = {0, 2, 2, 4, 4, 3, 3, 2, 2};
    for (int i = 0; i < 9; i++) {
        map = map_of(f, text, moments[i], SV_PLACE_BY_NAME, false, &placed);
        assert_int_equal(map->num_jobs, jobs[i]);
        assert_int_equal(map->num_terminals, terminals[i]);
        assert_int_equal(placed.running, jobs[i]);
        sv_jobmap_free(map);
    }
    sv_fabric_free(f);
}

static void hosts_in_order(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map =
        map_of(f, "1|R|n10\n2|R|n9\n3|R|n[1-4]\n", SV_TIME_OPEN, SV_PLACE_IN_ORDER, false, NULL);
    assert_int_equal(map->num_jobs, 3);
    assert_int_equal(map->num_terminals, 7); /* node8 has two */
    for (int j = 0; j < 2; j++) {            /* n10 is the sixth, n9 the fifth */
        uint32_t adapter = sv_terminal_of(f, map->jobs[j].terminals[0])->adapter;
        assert_int_equal(adapter, 5 - j);
        assert_int_equal(map->jobs[j].num_terminals, 1);
    }
    sv_jobmap_free(map);
    /* a dead adapter keeps its number, and its host is nowhere */
    sv_fabric *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_mask_node(mask, (sv_node){f->num_switches});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_placed placed;
    map = map_of(left, "1|R|n1\n2|R|n2\n", SV_TIME_OPEN, SV_PLACE_IN_ORDER, false, &placed);
    assert_int_equal(map->num_jobs, 1);
    assert_string_equal(map->jobs[0].name, "2");
    assert_int_equal(placed.homeless, 1);
    assert_int_equal(sv_terminal_of(left, map->jobs[0].terminals[0])->adapter, 1);
    sv_jobmap_free(map);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_allocations *jobs = NULL;
    OK(ctx, read_as("1|R|n[1-7]\n", SV_JOBS_AUTO, &jobs));
    map = NULL;
    FAILS(ctx, sv_allocations_map(ctx, jobs, SV_TIME_OPEN, f, SV_PLACE_IN_ORDER, false, &map, NULL),
          SV_INFEASIBLE, "7 hosts, and only 6 adapters");
    assert_null(map);
    sv_allocations_free(jobs);
    sv_fabric_free(f);
}

static bool same(const sv_fabric *f, const char *a, const char *b, sv_jobmap_change *change)
{
    bool yes = false;
    sv_jobmap *x = map_of(f, a, SV_TIME_OPEN, SV_PLACE_BY_NAME, false, NULL);
    sv_jobmap *y = map_of(f, b, SV_TIME_OPEN, SV_PLACE_BY_NAME, false, NULL);
    OK(ctx, sv_jobmap_same(ctx, x, y, &yes));
    OK(ctx, sv_jobmap_compare(ctx, x, y, change));
    assert_int_equal(yes, change->added + change->gone == 0);
    sv_jobmap_free(y);
    sv_jobmap_free(x);
    return yes;
}

static void names_and_order_of_jobs_do_not_matter(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "torus:3x3,hosts=2");
    sv_jobmap_change c;
    assert_true(same(f, "1|R|host[1-3]\n2|R|host[4-5]\n", "9|R|host[4-5]\n8|R|host[3,1,2]\n", &c));
    assert_int_equal(c.same, 2);
    assert_true(same(f, "", "1|R|elsewhere\n", &c));
    assert_false(same(f, "1|R|host[1-3]\n2|R|host[4-5]\n", "1|R|host[1-3]\n2|R|host[4-6]\n", &c));
    assert_true(c.same == 1 && c.added == 1 && c.gone == 1);
    assert_false(same(f, "1|R|host[1-3]\n", "1|R|host[1-3]\n2|R|host[1-3]\n", &c));
    assert_true(c.same == 1 && c.added == 1 && c.gone == 0);
    assert_false(same(f, "1|R|host[1-4]\n", "1|R|host[1-2]\n2|R|host[3-4]\n", &c));
    assert_true(c.same == 0 && c.added == 2 && c.gone == 1);
    sv_fabric_free(f);
}

/* Writes a map and reads it again. */
static char *written(const sv_fabric *f, const sv_jobmap *map)
{
    static char text[8192];
    char path[] = "/tmp/selvage-jobs-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    OK(ctx, sv_jobmap_save(ctx, f, map, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    sv_jobmap *again = NULL;
    OK(ctx, sv_jobmap_load(ctx, f, path, &again));
    assert_int_equal(again->num_jobs, map->num_jobs);
    assert_int_equal(again->num_terminals, map->num_terminals);
    for (uint32_t j = 0; j < map->num_jobs; j++) {
        assert_string_equal(again->jobs[j].name, map->jobs[j].name);
        assert_int_equal(again->jobs[j].num_terminals, map->jobs[j].num_terminals);
        assert_memory_equal(again->jobs[j].terminals, map->jobs[j].terminals,
                            map->jobs[j].num_terminals * sizeof(sv_node));
    }
    sv_jobmap_free(again);
    unlink(path);
    return text;
}

static void maps_are_written_as_they_are_read(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map =
        map_of(f,
               "node7 \"a job\"\n\"node7 HCA-2\" \"#1\"\nnode8 \"say \\\"x\\\\y\\\"\"\n"
               "twin 5\nnode10 5\n",
               SV_TIME_OPEN, SV_PLACE_BY_NAME, false, NULL);
    assert_string_equal(written(f, map),
                        "# job map: NODE JOB\nnode7 \"a job\"\n\"node7 HCA-2\" \"#1\"\n"
                        "node8 \"say \\\"x\\\\y\\\"\"\nnode10 5\ntwin 5\n");
    sv_jobmap_free(map);
    map = map_of(f, "", SV_TIME_OPEN, SV_PLACE_BY_NAME, false, NULL);
    assert_string_equal(written(f, map), "# job map: NODE JOB\n");
    sv_jobmap_free(map);
    /* one of the twins alone has no name of its own */
    map = map_of(f, "1|R|n[1-4]\n2|R|n5\n", SV_TIME_OPEN, SV_PLACE_IN_ORDER, false, NULL);
    char path[] = "/tmp/selvage-jobs-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, "as it was", 9) == 9);
    FAILS(ctx, sv_jobmap_save(ctx, f, map, path), SV_UNSUPPORTED,
          "a map cannot name 'twin': other adapters answer to it, too");
    char text[32] = "";
    assert_int_equal(pread(descriptor, text, 31, 0), 9);
    assert_string_equal(text, "as it was");
    close(descriptor);
    unlink(path);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_lists_are_written_out),
        cmocka_unit_test(wrong_host_lists_hand_out_nothing),
        cmocka_unit_test(a_million_names_are_fine_and_stopping_stops),
        cmocka_unit_test(names_are_ordered_as_people_count),
        cmocka_unit_test(the_jobs_of_a_moment),
        cmocka_unit_test(hosts_in_order),
        cmocka_unit_test(names_and_order_of_jobs_do_not_matter),
        cmocka_unit_test(maps_are_written_as_they_are_read),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
