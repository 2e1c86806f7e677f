/*
 * test_sim_deadlock.c: packets that wait for each other: the ring of five of the DFSSSP paper
 * (IPDPS 2011, Fig. 2), a ring that is stuck while others go on, and that what sv_verify calls free
 * of deadlocks never gets into one, however small buffers are. What is reported stuck is held
 * against rule 20 of docs/simulator.md and against the tables.
 */
#include "support/simulating.h"

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

enum { W = 2074, BLOCKS = 33 };

/* ---- what is stuck ---- */

/* It is on the way that tables give it: in, then out, on these VLs. */
static void assert_on_its_way(const sim_case *c, const sv_sim_stuck *stuck)
{
    sv_hop_taken taken[64];
    uint32_t count, k = 1;
    sv_node at, from = {c->f->num_switches + stuck->from};
    assert_int_equal(sv_routes_trace(c->f, c->r, from, stuck->destination,
                                     sv_route_sl(c->r, from, stuck->destination), taken, 64, &count,
                                     &at),
                     SV_TRACE_ARRIVED);
    while (k < count && taken[k - 1].channel.i != stuck->in.i)
        k++;
    assert_true(k < count);
    assert_int_equal(taken[k - 1].vl, stuck->vl);
    assert_int_equal(taken[k].channel.i, stuck->out.i);
    assert_int_equal(taken[k].vl, stuck->out_vl);
}

/* Rule 20, for packets of one length: it stands behind a stuck one, or stuck ones in the next
 * buffer, which is a switch's, leave too little room. */
static void assert_cannot_move(const sim_case *c, const sv_sim_stuck *stuck)
{
    const sv_sim_result *result = c->result;
    uint32_t before = 0, ahead = 0;
    for (uint32_t i = 0; i < result->num_stuck; i++) {
        const sv_sim_stuck *other = &result->stuck[i];
        before += other != stuck && other->in.i == stuck->in.i && other->vl == stuck->vl &&
                  (!c->model.voq || other->out.i == stuck->out.i);
        ahead += other->in.i == stuck->out.i && other->vl == stuck->out_vl;
    }
    if (stuck->behind) {
        assert_true(before > 0);
    } else {
        assert_true(sv_is_switch(c->f, c->f->head[stuck->out.i]));
        assert_true(ahead * BLOCKS + BLOCKS > c->model.input);
    }
}

/* Of those in a buffer the one that is first; of several (queues by output) any. */
static const sv_sim_stuck *first_in(const sv_sim_result *result, sv_channel in, unsigned vl)
{
    for (uint32_t i = 0; i < result->num_stuck; i++)
        if (result->stuck[i].in.i == in.i && result->stuck[i].vl == vl && !result->stuck[i].behind)
            return &result->stuck[i];
    fail_msg("nothing is stuck in the buffer that channel %u leads to", in.i);
    return NULL;
}

/* From each, who waits for whom leads into a circle: its length. */
static uint32_t circle_of(const sv_sim_result *result, const sv_sim_stuck *stuck)
{
    uint32_t length = 0;
    if (stuck->behind) /* waits for those before it, wherever it wants to go */
        stuck = first_in(result, stuck->in, stuck->vl);
    for (uint32_t i = 0; i < result->num_stuck; i++)
        stuck = first_in(result, stuck->out, stuck->out_vl);
    const sv_sim_stuck *start = stuck;
    do {
        stuck = first_in(result, stuck->out, stuck->out_vl);
        length++;
    } while (stuck != start && length <= result->num_stuck);
    assert_ptr_equal(stuck, start);
    return length;
}

static void assert_stuck(const sim_case *c, uint32_t number, uint32_t behind)
{
    const sv_sim_result *result = c->result;
    uint32_t found = 0;
    uint64_t last = 0;
    assert_int_equal(result->end, SV_SIM_DEADLOCK);
    assert_int_equal(result->num_stuck, number);
    assert_true(c->quiet || c->num_stuck == number);
    for (uint32_t i = 0; i < number; i++) {
        const sv_sim_stuck *stuck = &result->stuck[i];
        assert_on_its_way(c, stuck);
        assert_cannot_move(c, stuck);
        assert_true(circle_of(result, stuck) > 2);
        found += stuck->behind;
        last = stuck->since > last ? stuck->since : last;
    }
    assert_int_equal(found, behind);
    assert_int_equal(result->stuck_since, last);
}

/* ---- the ring of five ---- */

static sim_case five(const char *spec, const char *engine, unsigned vls)
{
    sim_case c = sim_begin(ctx, test_fabric(ctx, spec));
    const sv_route_request request = {.vls = vls, .seed = 1};
    sv_routes_free(c.r);
    OK(ctx, sv_route(ctx, c.f, engine, &request, &c.r, NULL));
    c.model.input = c.model.output = BLOCKS;
    return c;
}

/* Everybody to the next but one; each of hosts a switch to the same of that one. */
static uint32_t to_the_next_but_one(sim_send *sends, uint32_t hosts, uint32_t shift)
{
    for (uint32_t i = 0; i < 5 * hosts; i++)
        sends[i] = (sim_send){i, (i + shift * hosts) % (5 * hosts), 2048, 0};
    return 5 * hosts;
}

/* Whether the circle that packets are in is the cycle that verifying found. */
static bool same_cycle(const sim_case *c, const sv_verification *found)
{
    uint32_t shared = 0;
    for (size_t i = 0; i < found->cycle_length; i++)
        for (uint32_t k = 0; k < c->result->num_stuck; k++) {
            const sv_sim_stuck *stuck = &c->result->stuck[k];
            const sv_wait *wait = &found->cycle[i],
                          *next = &found->cycle[(i + 1) % found->cycle_length];
            shared += stuck->in.i == wait->channel.i && stuck->vl == wait->vl &&
                      stuck->out.i == next->channel.i && stuck->out_vl == next->vl;
        }
    return shared == found->cycle_length && shared == c->result->num_stuck;
}

/*
 * Every switch takes its host's packet, whose first block is across, and so on its way, one hop
 * (sim_hop) after injection; then each of the five buffers of the ring has one packet, which needs
 * the next: all five are stuck, each since that tick. Both ways round; sv_verify shows one of them.
 */
static void the_ring_of_five_gets_stuck(void **state)
{
    (void)state;
    uint32_t shown = 0;
    for (uint32_t shift = 2; shift <= 3; shift++) {
        sim_case c = five("torus:5", "sssp", 1);
        sim_send sends[5];
        bool seen[5] = {false};
        sv_verification *found = NULL;
        sim_run(ctx, &c, sends, to_the_next_but_one(sends, 1, shift), 1);
        assert_stuck(&c, 5, 0);
        for (uint32_t i = 0; i < 5; i++) {
            const sv_sim_stuck *stuck = &c.result->stuck[i];
            assert_true(sv_joins_switches(c.f, stuck->in) && sv_joins_switches(c.f, stuck->out));
            assert_int_equal(circle_of(c.result, stuck), 5);
            assert_int_equal(stuck->since, sim_hop(&c.model, W, QDR, QDR));
            assert_int_equal(c.r->node[stuck->destination].i - 5, (stuck->from + shift) % 5);
            assert_false(seen[c.f->tail[stuck->in.i].i]);
            seen[c.f->tail[stuck->in.i].i] = true;
        }
        assert_int_equal(c.result->arrived_messages, 0);
        assert_int_equal(c.result->packets, 5);
        assert_int_equal(c.result->payload_bytes, 0);
        OK(ctx, sv_verify(ctx, c.f, c.r, NULL, &found));
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_TERMINALS], SV_VERDICT_NO);
        assert_int_equal(found->cycle_length, 5);
        shown += same_cycle(&c, found);
        sv_verification_free(found);
        sim_finish(&c);
    }
    assert_int_equal(shown, 1);
}

/*
 * With more to send: a second packet of each host gets into its switch and is stuck there, as the
 * buffer of the ring does not empty; a third one has no credits and stays at home.
 *
 * Four hosts and buffers of two packets: at the first slot switches take host 1's packet, at the
 * second host 2's (ports go in turn, and the ring's come after the hosts'), and the ring is full: 2
 * in each of its buffers, one behind the other. Of hosts 1 and 2 packets two and three are in their
 * buffers, of hosts 3 and 4 one and two: in all 5 (2 + 8) stuck, half of them behind another.
 */
static void more_to_send_is_more_stuck(void **state)
{
    (void)state;
    sim_send sends[20];
    for (uint32_t times = 2; times <= 3; times++) {
        sim_case c = five("torus:5", "sssp", 1);
        sim_run(ctx, &c, sends, to_the_next_but_one(sends, 1, 2), times);
        assert_stuck(&c, 10, 0);
        sim_finish(&c);
    }
    for (int voq = 0; voq < 2; voq++) {
        sim_case c = five("torus:5,hosts=4", "sssp", 1);
        c.model.input = 2 * BLOCKS;
        c.model.voq = voq;
        sim_run(ctx, &c, sends, to_the_next_but_one(sends, 4, 2), 3);
        assert_stuck(&c, 50, 25);
        sim_finish(&c);
    }
}

/* It stops when the last has come to where it is, or when that is noticed, not before. */
static void a_deadlock_takes_its_time(void **state)
{
    (void)state;
    sim_send sends[5];
    sim_case c = five("torus:5", "sssp", 1);
    sim_run(ctx, &c, sends, to_the_next_but_one(sends, 1, 2), 1);
    assert_true(c.result->time >= sim_hop(&c.model, W, QDR, QDR));
    assert_int_equal(c.result->until, c.result->time);
    sim_finish(&c);
}

/* The same traffic and buffers, tables that verify: everything arrives. One packet each is no
 * traffic for a deadlock if only four send. */
static void what_breaks_the_circle_ends_it(void **state)
{
    (void)state;
    sim_send sends[5];
    sim_case two = five("torus:5", "dfsssp", 2), one = five("torus:5", "updn", 1),
             four = five("torus:5", "sssp", 1);
    sim_run(ctx, &two, sends, to_the_next_but_one(sends, 1, 2), 100);
    assert_int_equal(two.result->end, SV_SIM_COMPLETED);
    assert_int_equal(two.result->arrived_messages, 500);
    assert_int_equal(two.result->num_stuck, 0);
    sim_run(ctx, &one, sends, 5, 100);
    assert_int_equal(one.result->end, SV_SIM_COMPLETED);
    sim_run(ctx, &four, sends, 4, 100);
    assert_int_equal(four.result->end, SV_SIM_COMPLETED);
    assert_int_equal(four.result->arrived_messages, 400);
    sim_finish(&two);
    sim_finish(&one);
    sim_finish(&four);
}

/* ---- while others go on ---- */

/*
 * Three hosts a switch. The first of each is in the circle; two others on switch 0 send to each
 * other for ever. The circle is found although there is always something that moves; whoever asks
 * not to look sees them run to the limit, or to the end if traffic has one; what is stuck then is
 * the same.
 */
static void a_part_gets_stuck_while_others_go_on(void **state)
{
    (void)state;
    sim_case c = five("torus:5,hosts=3", "sssp", 1);
    sim_send sends[7];
    for (uint32_t i = 0; i < 5; i++)
        sends[i] = (sim_send){3 * i, 3 * ((i + 2) % 5), 2048, 0};
    sends[5] = (sim_send){1, 2, 2048, 0};
    sends[6] = (sim_send){2, 1, 2048, 0};
    sim_run(ctx, &c, sends, 7, UINT32_MAX);
    assert_stuck(&c, 10, 0);
    assert_true(c.result->arrived_messages > 2);
    c.control.limit = c.result->time + 1000000000;
    c.control.ignore_stuck = true;
    uint64_t arrived = c.result->arrived_messages;
    sim_run(ctx, &c, sends, 7, UINT32_MAX);
    assert_int_equal(c.result->time, c.control.limit);
    assert_int_equal(c.result->num_stuck, 10);
    assert_true(c.result->arrived_messages > arrived + 1000);
    c.control.limit = SV_NEVER;
    sim_run(ctx, &c, sends, 7, 50);
    assert_stuck(&c, 10, 0);
    assert_int_equal(c.result->arrived_messages, 100);
    sim_finish(&c);
}

/* Who asks for a steady state gets no answer of 0 bytes a second, known well, from a ring that is
 * stuck: it is a deadlock, however short the intervals, and whether traffic has an end or not. */
static void a_deadlock_is_no_steady_state(void **state)
{
    (void)state;
    sim_send sends[5];
    for (uint64_t interval = 10000; interval < 100000000; interval *= 10)
        for (uint32_t times = 2; times < 100; times += 90) {
            sim_case c = five("torus:5", "sssp", 1);
            c.control.steady = interval;
            c.control.precision = 0.01;
            sim_run(ctx, &c, sends, to_the_next_but_one(sends, 1, 2), times);
            assert_stuck(&c, 10, 0);
            sim_finish(&c);
        }
}

/* ---- random traffic ---- */

/* Some messages from everybody, a third of them to one terminal, of up to three packets. */
static uint32_t draw(sv_rng *rng, uint32_t terminals, uint32_t each, sim_send *sends)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < terminals; t++)
        for (uint32_t k = 0; k < each; k++) {
            uint32_t to = sv_rng_below(rng, 3) == 0 ? 0 : (uint32_t)sv_rng_below(rng, terminals);
            if (to != t)
                sends[count++] = (sim_send){t, to, (uint32_t)sv_rng_below(rng, 3 * 2048), 0};
        }
    return count;
}

static sv_sim_model smallest(sv_rng *rng)
{
    sv_sim_model m = sim_model();
    m.input = m.output = BLOCKS;
    m.speedup = 100 + (uint32_t)sv_rng_below(rng, 200);
    m.ways = 1 + (uint32_t)sv_rng_below(rng, 2);
    m.voq = sv_rng_below(rng, 2) == 0;
    m.inband_bytes = sv_rng_below(rng, 2) == 0 ? 0 : 8;
    m.drain = 1 + sv_rng_below(rng, 600);
    m.open = 1 + (uint32_t)sv_rng_below(rng, 4);
    m.switch_delay = sv_rng_below(rng, 200000);
    return m;
}

static const struct safe {
    const char *spec, *engine;
} safe[] = {
    {"torus:4x4,hosts=2", "updn"},
    {"torus:4x4,hosts=2", "dnup"},
    {"torus:4x4,hosts=2", "lash"},
    {"torus:4x4,hosts=2", "dfsssp"},
    {"torus:4x4,hosts=2", "nue"},
    {"torus:4x4,hosts=2", "weave"},
    {"torus:5x3,hosts=2", "torus2qos"},
    {"dragonfly:a=4,p=2,h=2,g=5", "dla"},
    {"dragonfly:a=4,p=2,h=2,g=5", "d3r"},
    {"dragonfly:a=4,p=2,h=2,g=5", "sssp-df"},
    {"dragonfly:a=4,p=2,h=2,g=5", "minhop-df"},
    {"dragonfly:a=4,p=2,h=2,g=5", "nue"},
    {"random:switches=12,links=24,total=36,seed=3", "updn"},
    {"random:switches=12,links=24,total=36,seed=4", "lash"},
    {"random:switches=12,links=24,total=36,seed=5", "dfsssp"},
    {"random:switches=12,links=24,total=36,seed=6", "nue"},
    {"random:switches=12,links=24,total=36,seed=7", "weave"},
    {"kautz:d=2,k=3,hosts=2", "weave"},
    {"kary:k=4,n=2,hosts=4", "ftree"},
    {"mesh:4x4,hosts=2", "dor"},
};

/* What is proved never to deadlock does not, with room for one packet everywhere. */
static void what_is_proved_safe_never_gets_stuck(void **state)
{
    (void)state;
    sim_send *sends = calloc(10000, sizeof *sends);
    for (uint32_t i = 0; i < LENGTH(safe); i++) {
        sim_case c = sim_begin(ctx, test_fabric(ctx, safe[i].spec));
        sv_verification *found = NULL;
        sv_routes_free(c.r);
        c.r = test_routed(ctx, c.f, safe[i].engine, 0);
        OK(ctx, sv_verify(ctx, c.f, c.r, NULL, &found));
        assert_int_equal(found->deadlock_free[SV_TRAFFIC_TERMINALS], SV_VERDICT_YES);
        sv_verification_free(found);
        c.quiet = true;
        for (uint32_t seed = 1; seed <= 4; seed++) {
            sv_rng rng;
            sv_rng_init(&rng, 100 * i + seed);
            c.model = smallest(&rng);
            uint32_t count = draw(&rng, c.f->num_terminals, 40, sends);
            const sv_sim_result *result = sim_run(ctx, &c, sends, count, 1);
            if (result->end != SV_SIM_COMPLETED || result->arrived_messages != count)
                fail_msg("%s by %s, seed %u: ended by %d, %u stuck", safe[i].spec, safe[i].engine,
                         seed, result->end, result->num_stuck);
        }
        sim_finish(&c);
    }
    free(sends);
}

/* What is not: here all of this traffic gets stuck, and what is said to be stuck really is. Only
 * messages of full packets, so that rule 20 can be counted in packets. */
static void what_is_not_safe_gets_stuck(void **state)
{
    (void)state;
    static const char *const specs[] = {"torus:5x5,hosts=4", "kautz:d=2,k=3,hosts=6",
                                        "random:switches=20,links=40,total=80,seed=2"};
    sim_send *sends = calloc(10000, sizeof *sends);
    for (uint32_t i = 0; i < LENGTH(specs); i++)
        for (uint32_t seed = 1; seed <= 4; seed++) {
            sv_rng rng;
            sim_case c = five(specs[i], "sssp", 1);
            sv_verification *found = NULL;
            OK(ctx, sv_verify(ctx, c.f, c.r, NULL, &found));
            assert_int_equal(found->deadlock_free[SV_TRAFFIC_TERMINALS], SV_VERDICT_NO);
            sv_verification_free(found);
            sv_rng_init(&rng, seed);
            uint32_t count = draw(&rng, c.f->num_terminals, 40, sends), behind = 0;
            for (uint32_t k = 0; k < count; k++)
                sends[k].bytes = 2048;
            c.model.voq = seed % 2 == 0;
            c.model.input = BLOCKS * (1 + seed / 3);
            sim_run(ctx, &c, sends, count, 1);
            for (uint32_t k = 0; k < c.result->num_stuck; k++)
                behind += c.result->stuck[k].behind;
            assert_stuck(&c, c.result->num_stuck, behind);
            sim_finish(&c);
        }
    free(sends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_of_five_gets_stuck),
        cmocka_unit_test(more_to_send_is_more_stuck),
        cmocka_unit_test(a_deadlock_takes_its_time),
        cmocka_unit_test(what_breaks_the_circle_ends_it),
        cmocka_unit_test(a_part_gets_stuck_while_others_go_on),
        cmocka_unit_test(a_deadlock_is_no_steady_state),
        cmocka_unit_test(what_is_proved_safe_never_gets_stuck),
        cmocka_unit_test(what_is_not_safe_gets_stuck),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
