/*
 * test_jobmap.c: job maps: which ports a line gives to a job, and what is refused, with its line.
 */
#include "support/testing.h"

#include "base/file.h"

static char warnings[4096];

static void keep_warning(void *user, sv_log_level level, const char *message)
{
    (void)user;
    if (level == SV_LOG_WARNING)
        snprintf(warnings + strlen(warnings), sizeof warnings - strlen(warnings), "%s\n", message);
}

static sv_ctx *ctx;

static int make_ctx(void **state)
{
    (void)state;
    sv_host host = {.log = keep_warning};
    ctx = sv_ctx_new(&host);
    return ctx == NULL;
}

static int free_ctx(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

/* Two hosts with two adapters each, one with two ports, and a router. */
static const char *const net =
    "Switch 8 \"S-1\" # \"sw\"\n[1] \"H-1\"[1]\n[2] \"H-2\"[1]\n[3] \"H-2\"[2]\n[4] \"H-3\"[1]\n"
    "[5] \"H-4\"[1]\n[6] \"R-5\"[1]\n\n"
    "Ca 1 \"H-1\" # \"node7 HCA-1\"\n[1] \"S-1\"[1]\n\n"
    "Ca 2 \"H-2\" # \"node7 HCA-2\"\n[1] \"S-1\"[2]\n[2] \"S-1\"[3]\n\n"
    "Ca 1 \"H-3\" # \"node8 HCA-1\"\n[1] \"S-1\"[4]\n\n"
    "Ca 1 \"H-4\" # \"node8 HCA-2\"\n[1] \"S-1\"[5]\n\n"
    "Rt 1 \"R-5\" # \"node9 router\"\n[1] \"S-1\"[6]\n";

static sv_status read_map(const sv_fabric *f, const char *text, sv_jobmap **map)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "map");
    warnings[0] = 0;
    return sv_jobmap_read(ctx, f, &source, map);
}

static void a_name_stands_for_all_its_ports(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map = NULL;
    OK(ctx, read_map(f,
                     "# a comment\n\nnode8 42\n\tnode7   a#b # why not\r\nnode8 42\nnode7 42\n"
                     "\"node8 HCA-2\" \"third job\"",
                     &map));
    assert_int_equal(map->num_jobs, 3);
    assert_int_equal(map->num_terminals, 5);
    assert_int_equal(map->unknown, 0);
    assert_string_equal(map->jobs[0].name, "42");
    assert_int_equal(map->jobs[0].num_terminals, 5);
    assert_string_equal(map->jobs[1].name, "a#b");
    assert_int_equal(map->jobs[1].num_terminals, 3);
    assert_string_equal(map->jobs[2].name, "third job");
    assert_int_equal(map->jobs[2].num_terminals, 1);
    for (uint32_t i = 1; i < 5; i++)
        assert_true(map->jobs[0].terminals[i - 1].i < map->jobs[0].terminals[i].i);
    assert_string_equal(sv_node_name(f, map->jobs[2].terminals[0]), "node8 HCA-2");
    assert_string_equal(warnings, "");
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

static void unknown_nodes_are_told_with_their_lines(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map = NULL;
    OK(ctx, read_map(f, "node1 1\n# x\nnode7 1\nnode9 2\n", &map));
    assert_string_equal(warnings, "map:1: node 'node1' is not in the fabric\n"
                                  "map:4: node 'node9' is not in the fabric\n");
    assert_int_equal(map->unknown, 2);
    assert_int_equal(map->num_jobs, 2);
    assert_int_equal(map->jobs[1].num_terminals, 0);
    sv_jobmap_free(map);
    map = NULL;
    OK(ctx, read_map(f, "node7 1\na 1\nb 1\nc 1\nd 1\ne 1\nf 1\ng 1\n", &map));
    assert_non_null(strstr(warnings, "map:6: node 'e'"));
    assert_null(strstr(warnings, "node 'f'"));
    assert_non_null(strstr(warnings, "map: 2 more nodes are not in the fabric"));
    sv_jobmap_free(map);
    map = NULL;
    FAILS(ctx, read_map(f, "a 1\nb 1\n", &map), SV_BAD_INPUT,
          "map:2: none of the 2 nodes is in the fabric");
    FAILS(ctx, read_map(f, "a 1\n", &map), SV_BAD_INPUT,
          "map:1: the only node is not in the fabric");
    assert_null(map);
    OK(ctx, read_map(f, "node7 1\na 1\nb 1\nc 1\nd 1\ne 1\nf 1\n", &map));
    assert_non_null(strstr(warnings, "map: 1 more node is not in the fabric"));
    sv_jobmap_free(map);
    map = NULL;
    OK(ctx, read_map(f, "\xef\xbb\xbfnode7 1\n", &map)); /* as some editors save it */
    assert_string_equal(warnings, "");
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

/* What Slurm prints is no job map, and there is a way from one to the other. */
static void what_batch_systems_print_is_told(void **state)
{
    (void)state;
    static const char *const texts[] = {"12|RUNNING|node7\n", "{\n",
                                        "  JOBID PARTITION NAME NODELIST\n"};
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        FAILS(ctx, read_map(f, texts[i], &map), SV_BAD_INPUT,
              "; selvage jobs read makes a job map of what Slurm prints");
    FAILS(ctx, read_map(f, "node7\n", &map), SV_BAD_INPUT, "map:1: node 'node7' has no job");
    assert_null(strstr(sv_ctx_message(ctx), "Slurm"));
    sv_fabric_free(f);
}

/* Names of jobs, order and repetition do not count for the digest; who works with whom does. */
static void what_the_digest_tells(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool same; /* as the first */
    } cases[] = {{"node7 1\nnode8 1\nnode9 2\n", true},
                 {"node9 b\nnode8 a\nnode7 a\nnode8 a\n", true},
                 {"node7 1\nnode8 1\n", false},
                 {"node7 1\nnode8 1\nnode9 1\n", false},
                 {"node7 1\nnode8 2\nnode9 3\n", false},
                 {"node7 1\nnode8 2\nnode9 1\n", false},
                 {"node7 1\nnode8 1\nnode9 2\nnode9 3\n", false}};
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map = NULL;
    uint64_t first = 0;
    OK(ctx, read_map(f, "# nothing\n", &map));
    assert_int_equal(map->digest, 0);
    sv_jobmap_free(map);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        map = NULL;
        OK(ctx, read_map(f, cases[i].text, &map));
        assert_true(map->digest != 0);
        first = i == 0 ? map->digest : first;
        assert_int_equal(map->digest == first, cases[i].same);
        sv_jobmap_free(map);
    }
    sv_fabric_free(f);
}

static void dead_ports_run_nothing(void **state)
{
    (void)state;
    sv_fabric *whole = test_read(ctx, net), *f = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, (sv_node){whole->num_switches + 1});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
    sv_jobmap *map = NULL;
    OK(ctx, read_map(f, "node7 1\n", &map));
    assert_int_equal(map->jobs[0].num_terminals, 2);
    sv_jobmap_free(map);
    sv_mask_free(mask);
    sv_fabric_free(f);
    sv_fabric_free(whole);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    sv_fabric *f = test_read(ctx, net);
    sv_jobmap *map = NULL;
    FAILS(ctx, read_map(f, "node7 1\nnode8\n", &map), SV_BAD_INPUT,
          "map:2: node 'node8' has no job");
    FAILS(ctx, read_map(f, "node8 # 5\n", &map), SV_BAD_INPUT, "map:1: node 'node8' has no job");
    FAILS(ctx, read_map(f, "\n\nnode7 1 2\n", &map), SV_BAD_INPUT,
          "map:3: 'node7 1 2' is more than a node and a job");
    FAILS(ctx, read_map(f, "\"node7 1\n", &map), SV_BAD_INPUT, "map:1: a quote is not closed");
    FAILS(ctx, read_map(f, "node7 \"1\n", &map), SV_BAD_INPUT, "map:1: a quote is not closed");
    FAILS(ctx, read_map(f, "\"\" 1\n", &map), SV_BAD_INPUT, "map:1: an empty name");
    FAILS(ctx, sv_jobmap_load(ctx, f, "/nowhere/map", &map), SV_IO, "/nowhere/map");
    assert_null(map);
    OK(ctx, read_map(f, "", &map));
    assert_int_equal(map->num_jobs, 0);
    sv_jobmap_free(map);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_stands_for_all_its_ports),
        cmocka_unit_test(unknown_nodes_are_told_with_their_lines),
        cmocka_unit_test(what_batch_systems_print_is_told),
        cmocka_unit_test(what_the_digest_tells),
        cmocka_unit_test(dead_ports_run_nothing),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
