/*
 * test_live.c: from sweep to sweep: what is done after which change, that nothing is used that is
 * not proven, and what is told about it.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "support/living.h"
#include "support/trials.h"

static void test_changes(void **state)
{
    (void)state;
    const char *spec = "torus:4x4,hosts=2";
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sv_routes *first = NULL;
    assert_null(sv_live_routes(live));
    sv_live_report r = sweep(live, found(spec, NULL), SV_LIVE_UNKNOWN);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.passage, SV_PASSAGE_UNJUDGED);
    assert_true(r.whole);
    assert_int_equal(r.vls, 8);
    OK(ctx, sv_routes_clone(ctx, sv_live_routes(live), &first));

    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_SAME);
    assert_int_equal(r.passage, SV_PASSAGE_NONE);

    r = sweep(live, found(spec, "cable 3"), 0);
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    assert_int_not_equal(r.passage, SV_PASSAGE_UNJUDGED);
    assert_int_equal(r.parts_lost, 1);
    assert_non_null(strstr(r.fabric, "lost"));
    r = sweep(live, found(spec, "node 5"), 0);
    assert_int_equal(r.how, SV_LIVE_REPAIRED);
    assert_int_equal(r.split + r.lost, 0);

    r = sweep(live, found(spec, NULL), 0);
    assert_int_equal(r.how, SV_LIVE_RETURNED);
    const sv_routes *now = sv_live_routes(live);
    for (uint32_t d = 0; d < first->num_destinations; d++)
        assert_memory_equal(first->ports[d], now->ports[d], first->num_switches);

    r = sweep(live, found(spec, NULL), SV_LIVE_ANEW);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_equal(r.passage, SV_PASSAGE_NONE); /* the same tables again */
    sv_routes_free(first);
    sv_live_free(live);
}

/* An engine that changes VLs on the way: failures are routed anew, and return to what was. */
static void test_torus(void **state)
{
    (void)state;
    const char *spec = "torus:5x6,hosts=2";
    const char *without[] = {"cable 3", "node 5", "node 40", "cable 40", NULL};
    sv_live_options options = defaults();
    options.engine = "torus2qos";
    sv_live *live = start(&options);
    sv_routes *first = NULL;
    sweep(live, found(spec, NULL), 0);
    OK(ctx, sv_routes_clone(ctx, sv_live_routes(live), &first));
    for (int i = 0; i < 5; i++) {
        sv_live_report r = sweep(live, found(spec, without[i]), 0);
        assert_string_equal(r.engine, "torus2qos");
        assert_int_equal(r.lost + r.split, 0);
    }
    const sv_routes *now = sv_live_routes(live);
    for (uint32_t d = 0; d < first->num_destinations; d++)
        assert_memory_equal(first->ports[d], now->ports[d], first->num_switches);
    sv_routes_free(first);
    sv_live_free(live);
}

static void test_without_repair(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    options.no_repair = true;
    sv_live *live = start(&options);
    sweep(live, found("torus:4x4,hosts=1", NULL), 0);
    sv_live_report r = sweep(live, found("torus:4x4,hosts=1", "cable 3"), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_int_not_equal(r.passage, SV_PASSAGE_UNJUDGED);
    sv_live_free(live);
}

static void test_pieces(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, found("mesh:1x4,hosts=2", NULL), 0);
    assert_true(r.whole);
    r = sweep(live, found("mesh:1x4,hosts=2", "cable 1"), 0); /* two and two */
    assert_true(r.whole);
    assert_int_equal(r.split, 2 * 4 * 4);
    assert_int_equal(r.lost, 0);
    r = sweep(live, found("mesh:1x4,hosts=2", NULL), 0);
    assert_int_equal(r.split, 0);
    sv_live_free(live);
}

/* sssp deadlocks on a torus; nobody gets to see that. */
static void test_what_is_not_proven_is_not_used(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    options.engine = "sssp";
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, found("torus:5x5,hosts=1", NULL), 0);
    assert_int_equal(r.how, SV_LIVE_FELL_BACK);
    assert_string_equal(r.engine, "weave");
    assert_non_null(strstr(r.problem, "deadlock"));
    sv_live_free(live);
}

/* auto takes what suits the fabric; what it cannot mend is routed anew. */
static void test_auto(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    options.engine = "auto";
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, found("kary:k=4,n=2,hosts=4", NULL), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    assert_string_equal(r.engine, "ftree");
    r = sweep(live, found("kary:k=4,n=2,hosts=4", "cable 0"), 0);
    assert_int_equal(r.problem[0], 0);
    sv_live_free(live);
}

/* Roots are for engines that heed them: not for weave, when it routes what a repair cannot. */
static void test_auto_with_roots(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(file, "0x02005e1a00000005\n");
    fclose(file);
    sv_live_options options = defaults();
    options.engine = "auto";
    options.roots_path = path;
    options.route.sl_mode = SV_SLS_ONE;
    sv_live *live = start(&options);
    for (int cable = 0; cable < 8; cable++) {
        char broken[20];
        snprintf(broken, sizeof broken, "cable %d", cable);
        sv_live_report r = sweep(live, found("kary:k=4,n=2,hosts=4", broken), 0);
        assert_string_equal(r.problem, "");
    }
    unlink(path);
    sv_live_free(live);
}

/* Numbers of nodes are of one fabric; sweeps see many. */
static void test_orders_of_hosts_are_not_kept(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_node *gone = malloc(sizeof *gone);
    assert_non_null(gone);
    gone->i = 1u << 30;
    options.engine = "ftree";
    options.route.hosts = gone;
    options.route.num_hosts = 1;
    sv_live *live = start(&options);
    free(gone);
    sv_live_report r = sweep(live, found("kary:k=4,n=2,hosts=4", NULL), 0);
    assert_string_equal(r.problem, "");
    sv_live_free(live);
}

/* A repair that fails, and the engine that then refuses for the same reason, complain once. */
static void test_one_complaint_for_one_reason(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    options.engine = "dla";
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, found("dragonfly:a=3,p=1,h=1,g=4", NULL), 0);
    assert_string_equal(r.engine, "dla");
    r = sweep(live, found("dragonfly:a=3,p=1,h=1,g=4", "cable 0"), 0);
    assert_int_equal(r.how, SV_LIVE_FELL_BACK);
    const char *why = strstr(r.problem, "dla needs one");
    assert_non_null(why);
    assert_null(strstr(why + 1, "dla needs one"));
    sv_live_free(live);
}

static void test_an_engine_that_cannot(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    options.engine = "dfsssp";
    options.route.vls = 1;
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, found("torus:5x5,hosts=1", NULL), 0);
    assert_int_equal(r.how, SV_LIVE_FELL_BACK);
    assert_int_equal(r.vls, 1);
    assert_non_null(strstr(r.problem, "VL"));
    sv_live_free(live);
}

static uint64_t ticks;

/* A clock that makes everything slow. */
static uint64_t slow_clock(void *user)
{
    (void)user;
    return ticks += 1000000;
}

static void test_time_budget(void **state)
{
    (void)state;
    const sv_host host = {.clock_ns = slow_clock};
    sv_live_options options = defaults();
    sv_live *live = NULL;
    sv_live_report r;
    options.engine = "dfsssp";
    options.budget_ns = 5000000;
    assert_int_equal(sv_live_new(&host, &options, &live, message, sizeof message), SV_OK);
    assert_int_equal(sv_live_sweep(live, found("torus:4x4x4,hosts=2", NULL), 0, &r), SV_OK);
    assert_int_equal(r.how, SV_LIVE_FELL_BACK);
    assert_string_equal(r.engine, "weave");
    assert_non_null(strstr(r.problem, "did not finish within 0.005 s"));
    sv_live_free(live);
}

static void test_pin(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX";
    const char *spec = "torus:4x4,hosts=1";
    sv_live_options options = defaults();
    sv_fabric *f = found(spec, NULL);
    sv_routes *r = test_routed(ctx, f, "updn", 0);
    assert_true(mkdtemp(path) != NULL);
    char file[64];
    snprintf(file, sizeof file, "%s/pin.svr", path);
    OK(ctx, sv_dump_write(ctx, f, r, file));
    options.pin_path = file;
    sv_live *live = start(&options);
    sv_live_report report = sweep(live, f, 0);
    assert_int_equal(report.how, SV_LIVE_PINNED);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        assert_memory_equal(r->ports[d], sv_live_routes(live)->ports[d], r->num_switches);
    report = sweep(live, found(spec, "cable 2"), 0); /* no longer valid */
    assert_int_not_equal(report.how, SV_LIVE_PINNED);
    assert_true(report.whole);
    assert_non_null(strstr(report.problem, "without a path"));
    report = sweep(live, found(spec, NULL), 0);
    assert_int_equal(report.how, SV_LIVE_PINNED);
    sv_live_free(live);
    sv_routes_free(r);
    unlink(file);
    rmdir(path);
}

static void test_state_file(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX", file[64];
    const char *spec = "torus:4x4,hosts=1";
    sv_live_options options = defaults();
    assert_true(mkdtemp(path) != NULL);
    snprintf(file, sizeof file, "%s/state.svr", path);
    options.state_path = file;
    sv_live *live = start(&options);
    sweep(live, found(spec, NULL), 0);
    sv_live_report r = sweep(live, found(spec, "cable 4"), 0);
    sv_fabric *same = NULL; /* what is shared with live may not outlive it */
    sv_routes *before = NULL;
    OK(ctx, sv_dump_read(ctx, file, &same, &before));
    sv_live_free(live);
    live = start(&options); /* a restart: the same tables, without routing */
    r = sweep(live, found(spec, "cable 4"), 0);
    assert_int_equal(r.how, SV_LIVE_RETURNED);
    assert_int_equal(r.passage, SV_PASSAGE_NONE);
    for (uint32_t d = 0; d < before->num_destinations; d++)
        assert_memory_equal(before->ports[d], sv_live_routes(live)->ports[d], before->num_switches);
    sv_routes_free(before);
    sv_fabric_free(same);
    sv_live_free(live);
    FILE *spoilt = fopen(file, "w"); /* no use is no reason to stop */
    fputs("nonsense", spoilt);
    fclose(spoilt);
    live = start(&options);
    r = sweep(live, found(spec, "cable 4"), 0);
    assert_int_equal(r.how, SV_LIVE_ROUTED);
    sv_live_free(live);
    unlink(file);
    rmdir(path);
}

static void test_bad_options(void **state)
{
    (void)state;
    sv_live *live = NULL;
    sv_live_options options = defaults();
    options.engine = "magic";
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_BAD_INPUT);
    assert_non_null(strstr(message, "magic"));
    options = defaults();
    const char *list[] = {"no-such=1"};
    options.route.options = list;
    options.route.num_options = 1;
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_BAD_INPUT);
    options = defaults();
    options.pin_path = "/does/not/exist";
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_IO);
    options = defaults();
    options.engine = "updn";
    options.roots_path = "/does/not/exist";
    assert_int_equal(sv_live_new(NULL, &options, &live, message, sizeof message), SV_IO);
    assert_null(live);
}

static void test_empty_and_too_large(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sv_live_report r;
    sv_fabric *nothing = NULL;
    OK(ctx, sv_builder_finish(sv_builder_new(ctx), &nothing));
    r = sweep(live, nothing, 0);
    assert_int_equal(r.pairs, 0);
    sweep(live, found("mesh:1x2,hosts=1", NULL), 0);
    const sv_routes *before = sv_live_routes(live);
    sv_fabric *large = test_fabric(ctx, "fullmesh:50,hosts=1000,radix=1100");
    assert_int_equal(large->num_switches, 50);
    assert_int_equal(sv_live_sweep(live, large, 0, &r), SV_INFEASIBLE);
    assert_non_null(strstr(r.problem, "50050 addresses"));
    assert_ptr_equal(before, sv_live_routes(live));
    sv_live_free(live);
}

/* A fabric whose links tell their VLs (files do not), with LIDs. */
static sv_fabric *with_vls(const char *spec)
{
    sv_fabric *f = test_fabric(ctx, spec), *with = NULL;
    sv_routes *r = NULL;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    OK(ctx, sv_fabric_with_lids(ctx, f, r, &with));
    sv_routes_free(r);
    sv_fabric_free(f);
    return with;
}

/* VLs that links do not have are never used, whoever asks for them. */
static void test_vls_that_are_not_there(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX", file[64];
    sv_live_options options = defaults();
    options.route.vls = 8;
    sv_live *live = start(&options);
    sv_live_report r = sweep(live, with_vls("torus:5x5,hosts=1,vls=2"), 0);
    assert_int_equal(r.vls, 2);
    r = sweep(live, with_vls("torus:5x5,hosts=1,vls=8"), 0); /* more than before: used */
    assert_int_equal(r.vls, 8);
    assert_true(mkdtemp(path) != NULL);
    snprintf(file, sizeof file, "%s/pin.svr", path);
    OK(ctx, sv_dump_write(ctx, sv_live_fabric(live), sv_live_routes(live), file));
    r = sweep(live, with_vls("torus:5x5,hosts=1,vls=1"), 0); /* fewer: all is routed anew */
    assert_int_equal(r.vls, 1);
    assert_int_not_equal(r.how, SV_LIVE_REPAIRED);
    sv_live_free(live);
    options.pin_path = file;
    live = start(&options);
    r = sweep(live, with_vls("torus:5x5,hosts=1,vls=4"), 0);
    assert_int_not_equal(r.how, SV_LIVE_PINNED);
    assert_non_null(strstr(r.problem, "more VLs than the 4"));
    assert_in_range(r.vls, 1, 4);
    sv_live_free(live);
    unlink(file);
    rmdir(path);
}

/* The same fabric with the LIDs of two terminals exchanged. */
static sv_fabric *with_other_lids(sv_fabric *f)
{
    sv_routes *r = NULL;
    sv_fabric *other = NULL;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    OK(ctx, sv_routes_assign_lids(ctx, f, r));
    uint16_t lid = r->lid[f->num_switches];
    r->lid[f->num_switches] = r->lid[f->num_switches + 1];
    r->lid[f->num_switches + 1] = lid;
    OK(ctx, sv_fabric_with_lids(ctx, f, r, &other));
    sv_routes_free(r);
    sv_fabric_free(f);
    return other;
}

static void test_lids_that_move(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sweep(live, found("torus:4x4,hosts=1", NULL), 0);
    sv_live_report r = sweep(live, with_other_lids(found("torus:4x4,hosts=1", NULL)), 0);
    assert_int_equal(r.passage, SV_PASSAGE_UNJUDGED);
    assert_non_null(strstr(r.fabric, "2 LIDs are other nodes' than before"));
    const sv_fabric *f = sv_live_fabric(live);
    for (uint32_t t = 0; t < f->num_terminals; t++)
        assert_int_equal(sv_live_routes(live)->lid[f->num_switches + t], f->terminals[t].lid);
    sv_live_free(live);
}

static int64_t bytes_held;

/* An allocator that keeps the size of each block in front of it. */
static void *counting_resize(void *user, void *block, size_t size)
{
    (void)user;
    size_t *head = block == NULL ? NULL : (size_t *)block - 2;
    __atomic_sub_fetch(&bytes_held, head == NULL ? 0 : (int64_t)*head, __ATOMIC_RELAXED);
    if (size == 0) {
        free(head);
        return NULL;
    }
    head = realloc(head, size + 2 * sizeof *head);
    if (head == NULL)
        return NULL;
    *head = size;
    __atomic_add_fetch(&bytes_held, (int64_t)size, __ATOMIC_RELAXED);
    return head + 2;
}

/* What live holds does not grow from flap to flap, with tables to go back to and without. */
static void test_memory_of_flaps(void **state)
{
    (void)state;
    const sv_host host = {.resize = counting_resize};
    sv_live_options options = defaults();
    for (int kind = 0; kind < 2; kind++) {
        sv_live *live = NULL;
        int64_t after[3] = {0};
        bytes_held = 0;
        assert_int_equal(sv_live_new(&host, &options, &live, message, sizeof message), SV_OK);
        sweep(live, found("torus:4x4,hosts=1", kind == 0 ? NULL : "cable 9"), 0);
        for (int i = 0; i < 96; i++) {
            sweep(live, found("torus:4x4,hosts=1", "cable 3"), 0);
            sweep(live, found("torus:4x4,hosts=1", kind == 0 ? NULL : "cable 5"), 0);
            if (i % 32 == 31)
                after[i / 32] = bytes_held;
        }
        assert_in_range(after[2], 1, after[0] + after[0] / 20);
        sv_live_free(live);
        assert_int_equal(bytes_held, 0);
    }
}

/*
 * Whatever allocation fails, nothing leaks, and tables are either proven or not changed. (Another
 * way may lead to tables after one ran out of memory, so a sweep need not fail.)
 */
static void test_out_of_memory_anywhere(void **state)
{
    (void)state;
    const uint64_t step = test_enough() ? 1 : 5;
    uint64_t fail_at = 0;
    bool failed = true;
    while (failed) {
        test_memory memory = {.fail_at = fail_at += step};
        sv_host host = test_host(&memory);
        const sv_live_options options = defaults();
        sv_live *live = NULL;
        sv_live_report r;
        uint64_t(*ports)[4] = calloc(9, sizeof *ports);
        if (sv_live_new(&host, &options, &live, message, sizeof message) == SV_OK) {
            const char *const without[] = {NULL, "cable 3", "node 4", NULL};
            for (int i = 0; i < 4; i++)
                if (sv_live_sweep(live, found("torus:3x3,hosts=1", without[i]), 0, &r) == SV_OK)
                    assert_true(r.proven);
            const sv_node members[] = {{9}, {10}};
            if (sv_live_routes(live) != NULL && sv_live_fabric(live)->num_switches == 9)
                (void)!sv_live_group(live, 0, members, 2, ports);
        }
        sv_live_free(live);
        free(ports);
        assert_int_equal(memory.blocks, 0);
        failed = memory.count >= fail_at;
        if (fail_at > 200) /* the first ones all, then fewer and fewer */
            fail_at += fail_at / 16;
    }
    assert_true(fail_at > 200);
}

/* Pulls cables, or puts some back, of a fabric at random; out: one flag a channel. */
static void shake(const sv_fabric *f, bool *out, sv_rng *rng)
{
    uint32_t c = (uint32_t)sv_rng_below(rng, f->num_channels);
    uint64_t kind = sv_rng_below(rng, 10);
    if (kind == 0) { /* a whole switch, or its terminals with it */
        uint32_t s = (uint32_t)sv_rng_below(rng, f->num_switches);
        bool pull = sv_rng_below(rng, 2) == 0;
        for (uint32_t i = 0; i < f->num_channels; i++)
            if (f->tail[i].i == s)
                out[i] = out[f->reverse[i].i] = pull;
        return;
    }
    for (uint32_t i = 0; i < f->num_channels; i++, c = (c + 1) % f->num_channels)
        if (kind < 6 ? out[c] : !out[c] && sv_joins_switches(f, (sv_channel){c})) {
            out[c] = out[f->reverse[c].i] = kind >= 6;
            return;
        }
}

/* A long walk through failures and returns, the fabric often in pieces: repairs hold, all of them.
 */
static void test_random_walk(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sv_fabric *whole = with_vls("torus:4x4,hosts=1");
    bool *out = calloc(whole->num_channels, sizeof *out);
    sv_rng rng;
    sv_rng_init(&rng, 11);
    for (uint32_t i = 0; i < test_times(400); i++) {
        sv_mask *mask = sv_mask_new(ctx, whole);
        sv_fabric *now = NULL;
        for (uint64_t n = sv_rng_below(&rng, 4); n > 0 && i > 0; n--)
            shake(whole, out, &rng);
        for (uint32_t c = 0; c < whole->num_channels; c++)
            if (out[c])
                sv_mask_cable(mask, whole, (sv_channel){c});
        OK(ctx, sv_fabric_mask(ctx, whole, mask, &now));
        sv_mask_free(mask);
        sv_live_report r = sweep(live, now, 0);
        assert_true(r.whole);
        if (strstr(r.note, "did not hold") != NULL)
            fail_msg("step %u: %s", i, r.note);
    }
    free(out);
    sv_fabric_free(whole);
    sv_live_free(live);
}

static void test_groups(void **state)
{
    (void)state;
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sweep(live, found("torus:4x4,hosts=1", NULL), 0);
    const sv_fabric *f = sv_live_fabric(live);
    uint64_t(*ports)[4] = calloc(f->num_switches, sizeof *ports);
    const sv_node members[] = {{f->num_switches}, {f->num_switches + 7}, {f->num_switches + 12}};
    uint32_t at = 0, bits = 0;
    for (unsigned sl = 0; sl < 3; sl++) { /* of which two have no tree yet, perhaps no room */
        sv_status status = sv_live_group(live, sl, members, 3, ports);
        if (sl == 0)
            assert_int_equal(status, SV_OK);
        if (status != SV_OK)
            assert_int_equal(status, SV_INFEASIBLE);
    }
    assert_int_equal(sv_live_group(live, 0, members, 3, ports), SV_OK);
    for (uint32_t s = 0; s < f->num_switches; s++) {
        at += ports[s][0] != 0;
        bits += (uint32_t)__builtin_popcountll(ports[s][0]);
    }
    assert_int_equal(bits,
                     3 + 2 * (at - 1)); /* a tree: three members and its edges from both ends */
    assert_int_equal(sv_live_group(live, 16, members, 3, ports), SV_BAD_INPUT);
    free(ports);
    sv_live_free(live);
}

/* Engines whose VLs are full get one less, and multicast packets that one: nobody else routes. */
static void test_a_vl_for_multicast(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:5x5,hosts=1", "torus:6x6,hosts=1",
                                        "dragonfly:a=4,p=2,h=2,g=9", "kautz:d=2,k=4,hosts=1"};
    uint32_t spared = 0;
    for (int i = 0; i < 4; i++) {
        sv_live_options options = defaults();
        options.engine = "nue";
        options.route.vls = 2;
        sv_live *live = start(&options);
        sv_live_report r = sweep(live, with_vls(specs[i]), 0);
        assert_string_equal(r.engine, "nue");
        assert_int_equal(r.how, SV_LIVE_ROUTED);
        spared += strstr(r.problem, "no room for multicast") != NULL;
        sv_live_free(live);
    }
    assert_true(spared > 0);
}

/* With careful, nothing changes back in a way that could deadlock if there is another way. */
static void test_careful(void **state)
{
    (void)state;
    uint32_t other = 0;
    for (uint32_t cable = 0; cable < 32; cable++) {
        char without[32];
        snprintf(without, sizeof without, "cable %u", cable);
        for (int careful = 0; careful < 2; careful++) {
            sv_live_options options = defaults();
            options.careful = careful == 1;
            sv_live *live = start(&options);
            sweep(live, found("torus:4x4,hosts=1", NULL), 0);
            sweep(live, found("torus:4x4,hosts=1", without), 0);
            sv_live_report r = sweep(live, found("torus:4x4,hosts=1", NULL), 0);
            if (careful == 0)
                assert_int_equal(r.how, SV_LIVE_RETURNED);
            if (r.how == SV_LIVE_REPAIRED) {
                other++;
                assert_true(r.passage == SV_PASSAGE_NONE || r.passage == SV_PASSAGE_ANY_ORDER ||
                            r.passage == SV_PASSAGE_LOSSY);
            }
            sv_live_free(live);
        }
    }
    assert_true(other > 0);
}

/* A tree stays as it is when a cable fails that is none of its own. */
static void test_trees_stay(void **state)
{
    (void)state;
    uint32_t stayed = 0;
    for (uint32_t cable = 0; cable < 32; cable++) {
        char without[32];
        sv_live_options options = defaults();
        sv_live *live = start(&options);
        uint64_t before[16][4], after[16][4];
        sv_node all[16];
        for (uint32_t t = 0; t < 16; t++)
            all[t] = (sv_node){16 + t};
        sweep(live, found("torus:4x4,hosts=1", NULL), 0);
        assert_int_equal(sv_live_group(live, 0, all, 16, before), SV_OK);
        snprintf(without, sizeof without, "cable %u", cable);
        sv_live_report r = sweep(live, found("torus:4x4,hosts=1", without), 0);
        assert_int_equal(sv_live_group(live, 0, all, 16, after), SV_OK);
        bool own = false; /* a port of the tree has no cable any more */
        for (uint32_t s = 0; s < 16; s++)
            for (unsigned port = 1; port <= 5; port++)
                own |= before[s][0] >> port & 1 &&
                       sv_channel_at(sv_live_fabric(live), (sv_node){s}, port).i == SV_NONE;
        if (r.how == SV_LIVE_REPAIRED && !own)
            stayed += memcmp(before, after, sizeof before) == 0;
        if (own)
            assert_memory_not_equal(before, after, sizeof before);
        sv_live_free(live);
    }
    assert_int_equal(stayed, 17); /* all cables that are in no tree of 16 switches */
}

/* All of a short file. */
static void read_text(const char *path, char *text, size_t size)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, size - 1, in)] = 0;
    fclose(in);
}

static void test_status_files(void **state)
{
    (void)state;
    char path[] = "/tmp/selvage-test-XXXXXX", file[64], text[8192];
    sv_live_options options = defaults();
    sv_live *live = start(&options);
    sv_live_status status = {
        .sweeps = 3, .unix_time = 1700000000, .version = "a \"manager\"", .active = true};
    status.last = sweep(live, found("torus:4x4,hosts=1", NULL), 0);
    assert_true(mkdtemp(path) != NULL);
    snprintf(file, sizeof file, "%s/status", path);
    OK(ctx, sv_live_write_json(ctx, &status, file));
    read_text(file, text, sizeof text);
    assert_non_null(strstr(text, "\"proven\": true"));
    assert_non_null(strstr(text, "\"dry_run_proven\": false"));
    assert_non_null(strstr(text, "\"last_fault\": null"));
    assert_non_null(strstr(text, "a \\\"manager\\\""));
    OK(ctx, sv_live_write_prometheus(ctx, &status, file));
    read_text(file, text, sizeof text);
    assert_non_null(strstr(text, "\nselvage_proven 1\n"));
    assert_non_null(strstr(text, "\nselvage_sweeps_total 3\n"));
    /* Tables that are not in the switches are proven to nobody. */
    status.active = false;
    status.dry_run = true;
    OK(ctx, sv_live_write_prometheus(ctx, &status, file));
    read_text(file, text, sizeof text);
    assert_non_null(strstr(text, "\nselvage_proven 0\n"));
    assert_non_null(strstr(text, "\nselvage_dry_run_proven 1\n"));
    FAILS(ctx, sv_live_write_json(ctx, &status, "/does/not/exist/status"), SV_IO, "status");
    /* Whatever a name holds, a label is one; and numbers that are none are written as Go reads
     * them. */
    strcpy(status.last.engine, "a\"b\\c\nd\xc3\xa9\xff");
    status.phase = "\"";
    status.last.hops = NAN;
    status.seconds = INFINITY;
    OK(ctx, sv_live_write_prometheus(ctx, &status, file));
    read_text(file, text, sizeof text);
    assert_non_null(strstr(text, ",engine=\"a\\\"b\\\\c\\nd\xc3\xa9\xef\xbf\xbd\",how="));
    assert_non_null(strstr(text, "{phase=\"\\\"\"} 1\n"));
    assert_non_null(strstr(text, "\nselvage_hops_avg NaN\n"));
    assert_non_null(strstr(text, "\nselvage_sweep_seconds +Inf\n"));
    unlink(file);
    rmdir(path);
    sv_live_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_without_repair),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_what_is_not_proven_is_not_used),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_auto_with_roots),
        cmocka_unit_test(test_orders_of_hosts_are_not_kept),
        cmocka_unit_test(test_one_complaint_for_one_reason),
        cmocka_unit_test(test_an_engine_that_cannot),
        cmocka_unit_test(test_time_budget),
        cmocka_unit_test(test_pin),
        cmocka_unit_test(test_state_file),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_empty_and_too_large),
        cmocka_unit_test(test_vls_that_are_not_there),
        cmocka_unit_test(test_lids_that_move),
        cmocka_unit_test(test_memory_of_flaps),
        cmocka_unit_test(test_out_of_memory_anywhere),
        cmocka_unit_test(test_random_walk),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_a_vl_for_multicast),
        cmocka_unit_test(test_careful),
        cmocka_unit_test(test_trees_stay),
        cmocka_unit_test(test_status_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
