/*
 * test_discover.c: what needs no device: datagrams as bytes, the window over a wire that loses,
 * delays, repeats and reorders, and the smallest form of SLs.
 */
#include "support/testing.h"

#include <selvage/experimental/discover.h>

#include "base/rng.h"
#include "discover/net.h"

/* ---- datagrams ---- */

/* Against bytes put down from the specification. */
static void questions_of_nodes(void **state)
{
    (void)state;
    uint8_t mad[SV__MAD_BYTES], expected[SV__MAD_BYTES] = {0};
    sv__way way = {0};
    assert_true(sv__way_extend(&way, 1));
    assert_true(sv__way_extend(&way, 7));
    static const uint8_t head[] = {1, 0x81, 1, 1,    0, 0,    0, 2, 0, 0, 0, 0,
                                   0, 0,    0, 0x2a, 0, 0x17, 0, 0, 0, 0, 3, 5};
    memcpy(expected, head, sizeof head);
    memset(expected + 32, 0xff, 4);
    expected[128 + 1] = 1;
    expected[128 + 2] = 7;
    sv__mad_ask_node(mad, &way, SV__SL2VL_TABLE, 3 << 8 | 5);
    sv__mad_set_transaction(mad, 42);
    assert_memory_equal(mad, expected, sizeof mad);
    assert_false(sv__mad_is_answer(mad));
    for (unsigned i = way.hops; i < SV__MAX_HOPS; i++)
        assert_true(sv__way_extend(&way, 9));
    assert_false(sv__way_extend(&way, 9));
    sv__mad_ask_node(mad, &way, SV__LFT_TABLE, 0);
    assert_int_equal(mad[191], 9);
    assert_int_equal(mad[192], 0);
}

static void questions_of_the_manager(void **state)
{
    (void)state;
    uint8_t mad[SV__MAD_BYTES], expected[SV__MAD_BYTES] = {1, 3, 2, 1};
    expected[17] = 0x35;
    expected[55] = 0x30; /* destination and source LID */
    expected[56 + 41] = 9;
    expected[56 + 42] = 1;
    expected[56 + 43] = 2;
    sv__mad_ask_path(mad, 0x102, 9);
    assert_memory_equal(mad, expected, sizeof mad);
    mad[3] = 0x81;
    mad[56 + 52] = 0xff;
    mad[56 + 53] = 0xf6; /* the class of service stands before it */
    assert_int_equal(sv__mad_path_sl(mad), 6);
    assert_false(sv__mad_has_no_records(mad));
    mad[4] = 3;
    assert_true(sv__mad_has_no_records(mad));
    mad[1] = 0x81;
    assert_false(sv__mad_has_no_records(mad));
}

static void answers(void **state)
{
    (void)state;
    uint8_t mad[SV__MAD_BYTES] = {1, 0x81, 1, 0x81, 0x80};
    assert_true(sv__mad_is_answer(mad));
    assert_int_equal(sv__mad_status(mad), 0); /* the highest bit is the direction */
    mad[5] = 0x1c;
    assert_int_equal(sv__mad_status(mad), 0x1c);
    assert_false(sv__mad_is_busy(mad));
    mad[5] = 1;
    assert_true(sv__mad_is_busy(mad));
    mad[64] = 0x01;
    mad[65] = 0x2f;
    mad[71] = 0xe7;
    sv_sl2vl vls = sv__mad_vls(mad);
    assert_int_equal(vls.of_sl[0], 0);
    assert_int_equal(vls.of_sl[1], 1);
    assert_int_equal(vls.of_sl[2], 2);
    assert_int_equal(vls.of_sl[3], SV_NO_VL);
    assert_int_equal(vls.of_sl[14], 14);
    assert_int_equal(vls.of_sl[15], 7);
    mad[64 + 62] = 0x80;
    mad[64 + 63] = 0x01;
    assert_int_equal(sv__mad_group_ports(mad, 31), 0x8001);
    sv__mad_set_transaction(mad, 0xfedcba98);
    memset(mad + 8, 0x77, 4); /* the system's half */
    assert_int_equal(sv__mad_transaction(mad), 0xfedcba98);
}

/* ---- the window ---- */

enum { MAX_QUESTIONS = 3000, MAX_FLYING = 8192 };

struct flying {
    uint8_t mad[SV__MAD_BYTES];
    uint64_t due_ns;
    bool lost;
};

/* A wire, and whoever answers at its other end. */
struct net {
    sv_rng rng;
    uint64_t now_ns, sent, max_waiting;
    unsigned lose, repeat, busy; /* in a hundred */
    bool says_lost, broken;
    uint64_t stop_after; /* datagrams; 0: never */
    struct flying air[MAX_FLYING];
    size_t flying;
    uint64_t count;
    uint8_t asked[MAX_QUESTIONS], taken[MAX_QUESTIONS], missing[MAX_QUESTIONS];
};

static uint64_t clock_of(void *user)
{
    return ((struct net *)user)->now_ns;
}

static bool wants_to_stop(void *user)
{
    const struct net *n = user;
    return n->stop_after > 0 && n->sent >= n->stop_after;
}

static void fly(struct net *n, const uint8_t *mad, uint64_t delay_ns, bool lost)
{
    assert_true(n->flying < MAX_FLYING);
    struct flying *f = &n->air[n->flying++];
    memcpy(f->mad, mad, SV__MAD_BYTES);
    f->due_ns = n->now_ns + delay_ns;
    f->lost = lost;
}

static sv_status send_one(void *user, const uint8_t *mad)
{
    struct net *n = user;
    uint8_t back[SV__MAD_BYTES];
    n->sent++;
    if (n->broken && n->sent > 10)
        return SV_IO;
    memcpy(back, mad, sizeof back);
    uint32_t i = (uint32_t)mad[20] << 24 | mad[21] << 16 | mad[22] << 8 | mad[23];
    bool dead = i % 100 == 99;
    if (dead || sv_rng_below(&n->rng, 100) < n->lose) {
        if (n->says_lost)
            fly(n, back, 900, true);
        return SV_OK;
    }
    back[3] = 0x81;
    back[5] = sv_rng_below(&n->rng, 100) < n->busy ? 1 : 0;
    fly(n, back, sv_rng_below(&n->rng, 1500), false); /* some come too late */
    if (sv_rng_below(&n->rng, 100) < n->repeat)
        fly(n, back, sv_rng_below(&n->rng, 3000), false);
    return SV_OK;
}

static sv_status receive_one(void *user, uint64_t wait_ns, sv__answer *answer, bool *got)
{
    struct net *n = user;
    size_t first = n->flying;
    for (size_t i = 0; i < n->flying; i++)
        if (first == n->flying || n->air[i].due_ns < n->air[first].due_ns)
            first = i;
    *got = first < n->flying && n->air[first].due_ns <= n->now_ns + wait_ns;
    if (!*got) {
        n->now_ns += wait_ns;
        return SV_OK;
    }
    if (n->air[first].due_ns > n->now_ns)
        n->now_ns = n->air[first].due_ns;
    memcpy(answer->mad, n->air[first].mad, SV__MAD_BYTES);
    answer->lost = n->air[first].lost;
    n->air[first] = n->air[--n->flying];
    return SV_OK;
}

static bool ask(void *user, uint64_t i, uint8_t *mad)
{
    struct net *n = user;
    sv__way way = {0};
    if (i % 7 == 3)
        return false;
    n->asked[i]++;
    uint64_t waiting = 0;
    for (uint64_t k = 0; k < n->count; k++)
        waiting += n->asked[k] > 0 && n->taken[k] == 0;
    n->max_waiting = waiting > n->max_waiting ? waiting : n->max_waiting;
    sv__mad_ask_node(mad, &way, SV__LFT_TABLE, (uint32_t)i);
    return true;
}

static sv_status take(void *user, uint64_t i, const uint8_t *mad)
{
    struct net *n = user;
    n->taken[i]++;
    n->missing[i] = mad == NULL;
    if (mad != NULL)
        assert_int_equal((uint32_t)mad[22] << 8 | mad[23], i);
    return SV_OK;
}

static sv_status ask_all(struct net *n, unsigned size, unsigned tries, sv__window *w)
{
    sv_host host = {.user = n, .clock_ns = clock_of, .cancelled = wants_to_stop};
    sv_ctx *ctx = sv_ctx_new(&host);
    sv__discover_wire wire = {.user = n, .send = send_one, .receive = receive_one};
    sv__questions q = {.what = "tests", .count = n->count, .user = n, .ask = ask, .take = take};
    *w = (sv__window){.ctx = ctx, .wire = &wire, .size = size, .tries = tries, .timeout_ns = 1000};
    sv_status status = sv__window_run(w, &q);
    sv_ctx_free(ctx);
    return status;
}

static struct net *new_net(uint64_t seed, uint64_t count)
{
    struct net *n = calloc(1, sizeof *n);
    sv_rng_init(&n->rng, seed);
    n->count = count;
    return n;
}

static void every_question_is_taken_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct net *n = new_net(seed, seed == 0 ? 0 : 1 + 37 * seed);
        unsigned size = (unsigned)(1 + seed * seed), tries = 60;
        n->lose = seed % 3 * 20;
        n->repeat = seed % 2 * 30;
        n->busy = seed % 5 == 4 ? 10 : 0;
        n->says_lost = seed % 4 == 1;
        sv__window w;
        size = size > SV__MAX_WINDOW ? SV__MAX_WINDOW : size;
        assert_int_equal(ask_all(n, size, tries, &w), SV_OK);
        assert_true(n->max_waiting <= size);
        assert_int_equal(w.sent, n->sent);
        uint64_t again = 0;
        for (uint64_t i = 0; i < n->count; i++) {
            assert_int_equal(n->taken[i], i % 7 == 3 ? 0 : 1);
            assert_int_equal(n->missing[i], i % 100 == 99 && i % 7 != 3);
            if (n->missing[i])
                assert_int_equal(n->asked[i], tries);
            again += n->asked[i] > 0 ? n->asked[i] - 1u : 0;
        }
        assert_int_equal(w.again, again);
        free(n);
    }
}

static void it_stops_when_told(void **state)
{
    (void)state;
    struct net *n = new_net(1, 1000);
    sv__window w;
    n->stop_after = 100;
    assert_int_equal(ask_all(n, 8, 3, &w), SV_CANCELLED);
    assert_true(n->sent < 200);
    free(n);
    n = new_net(1, 1000);
    n->broken = true;
    assert_int_equal(ask_all(n, 8, 3, &w), SV_IO);
    assert_int_equal(n->sent, 11);
    free(n);
}

static sv_status window_in(sv_ctx *ctx, void *arg)
{
    (void)arg;
    struct net *n = new_net(2, 0);
    sv__discover_wire wire = {.user = n, .send = send_one, .receive = receive_one};
    sv__questions q = {.what = "tests", .user = n, .ask = ask, .take = take};
    sv__window w = {.ctx = ctx, .wire = &wire, .size = 700, .tries = 1, .timeout_ns = 1000};
    sv_status status = sv__window_run(&w, &q);
    free(n);
    return status;
}

/* ---- SLs ---- */

typedef uint8_t sl_rule(const sv_routes *r, uint32_t d, uint32_t v);

static uint8_t always_five(const sv_routes *r, uint32_t d, uint32_t v)
{
    (void)r;
    (void)d;
    (void)v;
    return 5;
}

static uint8_t by_destination(const sv_routes *r, uint32_t d, uint32_t v)
{
    (void)r;
    (void)v;
    return d == 3 ? SV_NO_SL : (uint8_t)(d % 16);
}

static uint8_t by_switch(const sv_routes *r, uint32_t d, uint32_t v)
{
    uint32_t home = v < r->num_switches ? v : r->home[v - r->num_switches];
    return (uint8_t)((d + home) % 16);
}

static uint8_t by_node(const sv_routes *r, uint32_t d, uint32_t v)
{
    (void)r;
    return (uint8_t)((d + v) % 16);
}

static uint8_t one_missing(const sv_routes *r, uint32_t d, uint32_t v)
{
    (void)r;
    return d == 2 && v == 7 ? SV_NO_SL : 5;
}

/* Two nodes do not talk: the manager knows no path. */
static uint8_t no_path(const sv_routes *r, uint32_t d, uint32_t v)
{
    (void)r;
    return d == 2 && v == 7 ? SV_NO_SL - 1 : 5;
}

static uint8_t no_path_by_node(const sv_routes *r, uint32_t d, uint32_t v)
{
    return d == 2 && v == 7 ? SV_NO_SL - 1 : by_node(r, d, v);
}

/* Tables with SLs by node after a rule; nobody's own entries hold rubbish. */
static sv_status shrunk(sv_ctx *ctx, sv_fabric *f, sl_rule *rule, sv_routes **routes)
{
    SV_TRY(sv_routes_new(ctx, f, 1, routes));
    SV_TRY(sv_routes_assign_lids(ctx, f, *routes));
    SV_TRY(sv_routes_set_sl_form(ctx, *routes, SV_SL_BY_NODE));
    for (uint32_t d = 0; d < (*routes)->num_destinations; d++) {
        uint8_t *row = sv_routes_sl_row(ctx, *routes, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        for (uint32_t v = 0; v < sv_num_nodes(f); v++)
            row[v] = (*routes)->node[d].i == v ? SV_NO_SL : rule(*routes, d, v);
    }
    return sv__shrink_sls(ctx, f, *routes);
}

static void the_smallest_form(void **state)
{
    (void)state;
    static const struct {
        sl_rule *rule;
        sv_sl_form form;
    } cases[] = {{always_five, SV_SL_CONSTANT},   {by_destination, SV_SL_BY_DESTINATION},
                 {by_switch, SV_SL_BY_SWITCH},    {by_node, SV_SL_BY_NODE},
                 {one_missing, SV_SL_BY_NODE},    {no_path, SV_SL_CONSTANT},
                 {no_path_by_node, SV_SL_BY_NODE}};
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "mesh:2x2,hosts=2");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_routes *r = NULL;
        OK(ctx, shrunk(ctx, f, cases[i].rule, &r));
        assert_int_equal(r->sl_form, cases[i].form);
        OK(ctx, sv_routes_check(ctx, f, r));
        for (uint32_t d = 0; d < r->num_destinations; d++)
            for (uint32_t v = 0; v < sv_num_nodes(f); v++)
                if (r->node[d].i != v && cases[i].rule(r, d, v) != SV_NO_SL - 1)
                    assert_int_equal(sv_route_sl(r, (sv_node){v}, d), cases[i].rule(r, d, v));
                else if (r->node[d].i != v)
                    assert_int_equal(sv_route_sl(r, (sv_node){v}, d),
                                     r->sl_form == SV_SL_BY_NODE ? SV_NO_SL : 5);
        sv_routes_free(r);
    }
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

static sv_status shrink_in(sv_ctx *ctx, void *arg)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    sv_status status = sv_topology_generate(ctx, "mesh:1x2", &f);
    if (status == SV_OK)
        status = shrunk(ctx, f, *(sl_rule **)arg, &r);
    sv_routes_free(r);
    sv_fabric_free(f);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    sl_rule *rules[] = {always_five, by_destination, by_switch, by_node};
    test_out_of_memory("a window", window_in, NULL);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        test_out_of_memory("SLs", shrink_in, &rules[i]);
}

/* ---- no device ---- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = NULL;
    sv_discover_options wide = {.window = 5000}, slow = {.timeout_ms = 4000000};
    if (sv_can_discover()) {
        FAILS(ctx, sv_fabric_discover(ctx, &wide, &f, NULL, NULL), SV_BAD_INPUT, "window of 5000");
        FAILS(ctx, sv_fabric_discover(ctx, &slow, &f, NULL, NULL), SV_BAD_INPUT, "timeout");
    } else {
        FAILS(ctx, sv_fabric_discover(ctx, NULL, &f, NULL, NULL), SV_UNSUPPORTED, "libibnetdisc");
    }
    assert_null(f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_of_nodes),
        cmocka_unit_test(questions_of_the_manager),
        cmocka_unit_test(answers),
        cmocka_unit_test(every_question_is_taken_once),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(the_smallest_form),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
