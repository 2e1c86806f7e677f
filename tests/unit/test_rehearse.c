/*
 * test_rehearse.c: updates in the simulator: what goes wrong without care, what does not with it,
 * over random changes of tables; who is silent and for how long; datagrams; phases; refusals.
 *
 * usage: test_rehearse [TRIALS [SEED]]
 */
#include "support/transition.h"
#include "support/trials.h"

TEST_CONTEXT

enum { US = 1000 * SV_TICKS_PER_NS, MESSAGES = 100 };

static uint64_t trials = 300, first_seed = 1;
static uint32_t application[256];

static sv_rehearsal *rehearse(const test_transition *t, sv_rehearsal_way way, uint64_t seed)
{
    sv_rehearsal_request q = test_transition_request(ctx, t, way, seed, application);
    return test_transition_rehearse(ctx, t, &q, MESSAGES);
}

/* ---- without care ---- */

/* Each incident, and a deadlock, is found by looking at some random changes. */
static void carelessness_shows_all_that_can_go_wrong(void **state)
{
    (void)state;
    uint64_t found[SV_SIM_INCIDENTS + 1] = {0};
    unsigned kinds = 0;
    for (uint64_t seed = 1; seed <= 400 && kinds < SV_SIM_INCIDENTS + 1; seed++) {
        test_transition t;
        test_transition_init(ctx, seed, &t);
        sv_rehearsal *r = rehearse(&t, SV_REHEARSE_AT_ONCE, seed);
        bool shows[SV_SIM_INCIDENTS + 1];
        for (int i = 0; i < SV_SIM_INCIDENTS; i++) /* of pairs that keep a path all the time */
            shows[i] = r->harmed[i] > 0;
        shows[SV_SIM_INCIDENTS] = r->sim->end == SV_SIM_DEADLOCK && r->both_deadlock_free;
        for (int i = 0; i <= SV_SIM_INCIDENTS; i++)
            if (shows[i] && found[i] == 0) {
                found[i] = seed;
                kinds++;
                print_message("%s by %s\n",
                              i == SV_SIM_INCIDENTS
                                  ? "deadlock"
                                  : (const char *[]){"drop", "circle", "overtaking"}[i],
                              t.about);
            }
        assert_true(r->together == (r->sim->end != SV_SIM_DEADLOCK));
        sv_rehearsal_free(r);
        test_transition_release(&t);
    }
    assert_int_equal(kinds, SV_SIM_INCIDENTS + 1);
}

/* ---- with care ---- */

#define NONE(t, way, what, value)                                                                  \
    do {                                                                                           \
        if ((value) != 0)                                                                          \
            fail_msg("%s: way %d: %s: %llu", (t)->about, (way), (what),                            \
                     (unsigned long long)(value));                                                 \
    } while (0)

/* Definition 5.5, and that all has arrived. silent: nobody is overtaken, either. */
static void must_hold(const test_transition *t, const sv_rehearsal_request *q,
                      const sv_rehearsal *r)
{
    sv_rehearsal_way way = q->way;
    bool silent = way != SV_REHEARSE_STEPS, off = r->five.called_off > 0;
    NONE(t, way, "old or new tables can deadlock", !r->both_deadlock_free);
    NONE(t, way, "inconsistent", silent ? r->inconsistent : 0);
    NONE(t, way, "deadlock", !r->together);
    NONE(t, way, "dropped", r->harmed[SV_SIM_DROPPED]);
    NONE(t, way, "looped", r->harmed[SV_SIM_LOOPED]);
    NONE(t, way, "overtaken", silent ? r->sim->incidents[SV_SIM_OVERTAKEN] : 0);
    NONE(t, way, "done, or called off", r->done == off);
    NONE(t, way, "blocks that are not as planned", r->done && r->blocks != q->plan->writes);
    NONE(t, way, "packets that neither arrived nor were dropped",
         r->sim->packets - r->sim->arrived_packets - r->sim->incidents[SV_SIM_DROPPED]);
    NONE(t, way, "who is alive has not sent all",
         q->dead == SV_NONE && r->sim->end != SV_SIM_COMPLETED);
}

/* Old tables become new ones, whatever is lost on the way. */
static void safe_ways_do_no_harm(void **state)
{
    (void)state;
    uint64_t careless = 0, lost = 0, again = 0, steps = 0, held = 0, off = 0, expelled = 0;
    uint64_t ways[SV_UPDATE_WAYS] = {0};
    for (uint64_t seed = first_seed; seed < first_seed + trials; seed++) {
        test_transition t;
        test_transition_init(ctx, seed, &t);
        ways[t.plan->way]++;
        for (int way = SV_REHEARSE_AT_ONCE; way < SV_REHEARSE_WAYS; way++) {
            sv_rehearsal_request q =
                test_transition_request(ctx, &t, (sv_rehearsal_way)way, seed, application);
            sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, MESSAGES);
            if (way == SV_REHEARSE_AT_ONCE)
                careless += r->inconsistent > 0 || !r->together || r->harmed[0] > 0 ||
                            r->harmed[1] > 0 || r->sim->incidents[2] > 0;
            else
                must_hold(&t, &q, r);
            lost += r->lost;
            again += r->again;
            steps += r->steps > 1;
            held += r->held;
            off += r->five.called_off;
            expelled += r->five.expelled;
            sv_rehearsal_free(r);
        }
        test_transition_release(&t);
    }
    print_message("%llu of %llu changes do harm at once; %llu datagrams lost, %llu repeated, %llu "
                  "runs of several steps, %llu pairs silent, %llu updates called off, %llu "
                  "applications expelled\n",
                  (unsigned long long)careless, (unsigned long long)trials,
                  (unsigned long long)lost, (unsigned long long)again, (unsigned long long)steps,
                  (unsigned long long)held, (unsigned long long)off, (unsigned long long)expelled);
    for (unsigned way = 0; way < SV_UPDATE_WAYS; way++)
        print_message("%llu %s%s", (unsigned long long)ways[way],
                      sv_update_way_name((sv_update_way)way),
                      way + 1 < SV_UPDATE_WAYS ? ", " : "\n");
    if (trials >= 100) { /* a few need not meet everything */
        assert_true(careless > trials / 4 && lost > 0 && again > 0 && steps > 0 && held > 0);
        assert_true(expelled > 0 && off < trials / 4);
    }
}

/* ---- by hand ---- */

/* Four hosts on two switches with two cables: all that goes over one is to go over the other. */
static test_transition two_switches(void)
{
    test_transition t = {.about = "two switches"};
    t.f = test_fabric(ctx, "mesh:1x2,hosts=2,r=2");
    t.before = test_routed(ctx, t.f, "updn", 0);
    OK(ctx, sv_routes_clone(ctx, t.before, &t.after));
    for (uint32_t d = 2; d < t.before->num_destinations; d++)
        for (uint32_t s = 0; s < 2; s++) {
            sv_node at = {s};
            unsigned ports[2], n = 0;
            for (unsigned port = 1; port <= t.f->switches[s].ports; port++) {
                sv_channel c = sv_channel_at(t.f, at, port);
                if (c.i != SV_NONE && sv_is_switch(t.f, t.f->head[c.i]))
                    ports[n++] = port;
            }
            assert_int_equal(n, 2);
            if (t.before->home[t.before->node[d].i - 2] == s)
                continue;
            sv_routes_row(ctx, t.before, d)[s] = (uint8_t)ports[0];
            sv_routes_row(ctx, t.after, d)[s] = (uint8_t)ports[1];
        }
    OK(ctx, sv_update_two_sets(ctx, t.f, t.before, t.before, 1, &t.before2));
    OK(ctx, sv_update_two_sets(ctx, t.f, t.after, t.before, 1, &t.after2));
    OK(ctx, sv_update_plan(ctx, t.f, t.before, t.after, NULL, &t.plan));
    OK(ctx, sv_update_plan(ctx, t.f, t.before2, t.after2, NULL, &t.plan2));
    return t;
}

static sv_rehearsal_request plain(const test_transition *t, sv_rehearsal_way way)
{
    return (sv_rehearsal_request){.way = way,
                                  .plan = way == SV_REHEARSE_FIVE ? t->plan2 : t->plan,
                                  .model = test_transition_model(ctx, t),
                                  .control = {.limit = 5000 * (uint64_t)US},
                                  .begin = 20 * US,
                                  .delay_min = 2 * US,
                                  .delay_max = 2 * US,
                                  .retry = 10 * US,
                                  .ack = US,
                                  .five = {.retry = 10 * US, .tries = 5},
                                  .dead = SV_NONE,
                                  .forward = US,
                                  .seed = 1};
}

static uint64_t length(const sv_rehearsal *r, int phase)
{
    return r->phase[phase].until - r->phase[phase].from;
}

static void times_and_datagrams_are_as_told(void **state)
{
    (void)state;
    test_transition t = two_switches();
    sv_rehearsal_request q = plain(&t, SV_REHEARSE_AT_ONCE);
    sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 200);
    assert_true(r->done && r->together && r->both_deadlock_free);
    assert_int_equal(r->blocks, 2);
    assert_int_equal(r->datagrams, 4); /* to each switch, and back */
    assert_int_equal(r->lost + r->again, 0);
    assert_int_equal(r->steps, 1);
    assert_int_equal(r->phase[0].from, 10 * US);
    assert_int_equal(r->phase[0].until, 20 * US);
    assert_int_equal(length(r, 1), 0);
    assert_int_equal(length(r, 2), 4 * US);
    assert_int_equal(length(r, 3), 0);
    assert_int_equal(r->phase[4].until, r->sim->time);
    assert_int_equal(length(r, 5), 4 * US);
    sv_rehearsal_free(r);
    q.window = 1;
    r = test_transition_rehearse(ctx, &t, &q, 200);
    assert_int_equal(length(r, 2), 8 * US);
    sv_rehearsal_free(r);
    q = plain(&t, SV_REHEARSE_HOLD); /* four terminals are told, twice */
    r = test_transition_rehearse(ctx, &t, &q, 200);
    assert_int_equal(r->steps, t.plan->steps);
    assert_int_equal(r->datagrams - r->again, 4 * 2 * 2 + 2 * t.plan->writes);
    assert_int_equal(length(r, 3), 4 * US);
    assert_true(length(r, 1) >= 4 * US + r->drain_max);
    assert_int_equal(r->held, 8); /* of each to two on the other side */
    assert_true(r->held_max > 0 && r->held_sum >= r->held_max);
    sv_rehearsal_free(r);
    test_transition_release(&t);
}

/* A manager with few tries gives up, and says so; nobody is harmed if it goes by a plan. */
static void a_switch_that_does_not_answer(void **state)
{
    (void)state;
    test_transition t = two_switches();
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sv_rehearsal_request q = plain(&t, SV_REHEARSE_STEPS);
        q.tries = 1;
        q.loss = 400;
        q.seed = seed;
        sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 100);
        failed += !r->done;
        assert_true(r->done == (r->phase[4].until >= r->phase[4].from));
        assert_true(r->together);
        assert_int_equal(r->sim->end, SV_SIM_COMPLETED);
        sv_rehearsal_free(r);
    }
    assert_in_range(failed, 5, 20);
    test_transition_release(&t);
}

static void an_application_dies(void **state)
{
    (void)state;
    test_transition t = two_switches();
    static const uint32_t apps[] = {7, 7, 9, 9};
    static const struct {
        uint64_t lease;
        bool trust;
        uint32_t expelled, off;
    } cases[] = {{0, false, 0, 1}, {0, true, 1, 0}, {300 * US, false, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sv_rehearsal_request q = plain(&t, SV_REHEARSE_FIVE);
        q.application = apps;
        q.dead = 7;
        q.five.lease = cases[i].lease;
        q.five.margin = cases[i].lease / 6;
        q.five.trust = cases[i].trust;
        sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 300);
        assert_int_equal(r->five.expelled, cases[i].expelled);
        assert_int_equal(r->five.called_off, cases[i].off);
        assert_int_equal(r->done, !cases[i].off);
        assert_int_equal(r->blocks, cases[i].off ? 0 : 2);
        assert_int_equal(r->inconsistent, 0);
        assert_int_equal(r->sim->end, SV_SIM_LIMIT); /* it had more to send */
        if (cases[i].off)
            assert_true(r->phase[2].until < r->phase[2].from);
        sv_rehearsal_free(r);
    }
    test_transition_release(&t);
}

/* VLs of packets that go to a terminal, by when they were granted. */
struct vls {
    const sv_fabric *f;
    uint64_t done; /* counts from then on */
    uint64_t on[4];
};

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    struct vls *x = user;
    (void)packet;
    if (time >= x->done && sv_joins_switches(x->f, out))
        x->on[vl]++;
}

/* Same paths, other SLs: connections keep theirs, unless they have been silent. */
static void connections_keep_their_sl(void **state)
{
    (void)state;
    test_transition t = two_switches();
    sv_update_free(t.plan);
    sv_routes_free(t.after);
    OK(ctx, sv_routes_clone(ctx, t.before, &t.after));
    sv_sl2vl vls = {{0, 1}};
    uint32_t table = sv_routes_sl2vl_table(ctx, t.before, &vls);
    for (uint32_t v = 0; v < 6; v++)
        t.before->vls_of[v] = (uint16_t)table;
    sv_routes_free(t.after);
    OK(ctx, sv_routes_clone(ctx, t.before, &t.after));
    t.after->sl_form = SV_SL_CONSTANT;
    t.after->sl = 1;
    t.before->sl_form = SV_SL_CONSTANT;
    t.before->sl = 0;
    OK(ctx, sv_update_plan(ctx, t.f, t.before, t.after, NULL, &t.plan));
    for (int hold = 0; hold < 2; hold++) {
        sv_rehearsal_request q = plain(&t, hold ? SV_REHEARSE_HOLD : SV_REHEARSE_AT_ONCE);
        struct vls seen = {.f = t.f, .done = 200 * US};
        const sv_sim_watch watch = {.user = &seen, .granted = granted};
        q.watch = &watch;
        sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 3000);
        assert_true(r->done && r->phase[4].from < seen.done);
        assert_true(seen.on[hold] > 100);
        assert_int_equal(seen.on[1 - hold], 0);
        sv_rehearsal_free(r);
    }
    test_transition_release(&t);
}

/* Same paths, and SL-to-VL tables that change: all nodes get theirs, before anything else. */
static void vls_change(void **state)
{
    (void)state;
    test_transition t = two_switches();
    const sv_sl2vl vls = {{1}};
    for (uint32_t v = 0; v < 6; v++)
        t.after->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(ctx, t.after, &vls);
    sv_update_free(t.plan);
    OK(ctx, sv_update_plan(ctx, t.f, t.before, t.after, NULL, &t.plan));
    assert_true(t.plan->vls);
    for (int way = SV_REHEARSE_AT_ONCE; way <= SV_REHEARSE_HOLD; way++) {
        sv_rehearsal_request q = plain(&t, (sv_rehearsal_way)way);
        struct vls seen = {.f = t.f, .done = 200 * US};
        const sv_sim_watch watch = {.user = &seen, .granted = granted};
        q.watch = &watch;
        sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 3000);
        assert_true(r->done && r->phase[4].from < seen.done);
        assert_true(seen.on[1] > 100);
        assert_int_equal(seen.on[0], 0);
        assert_int_equal(r->blocks, 2);
        assert_true(r->datagrams >= 2 * (2 + 6));
        sv_rehearsal_free(r);
    }
    test_transition_release(&t);
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    uint64_t *first = user;
    (void)packet, (void)tag;
    first[terminal] = time < first[terminal] ? time : first[terminal];
}

/* Applications send when their subscription is confirmed, and their ranks have heard of it. */
static void flows_begin_when_the_subscription_is_confirmed(void **state)
{
    (void)state;
    test_transition t = two_switches();
    static const uint32_t apps[] = {5, SV_NONE, 5, 8};
    uint64_t first[] = {SV_NEVER, SV_NEVER, SV_NEVER, SV_NEVER};
    sv_rehearsal_request q = plain(&t, SV_REHEARSE_FIVE);
    const sv_sim_watch watch = {.user = first, .injected = injected};
    q.application = apps;
    q.watch = &watch;
    sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 100);
    assert_int_equal(first[0], 4 * US);
    assert_int_equal(first[1], 0);
    assert_int_equal(first[2], 5 * US);
    assert_int_equal(first[3], 4 * US);
    sv_rehearsal_free(r);
    test_transition_release(&t);
}

/* Who never subscribed stays on base addresses, and goes by the plan. */
static void who_never_subscribed(void **state)
{
    (void)state;
    test_transition t = two_switches();
    static const uint32_t apps[] = {SV_NONE, 3, SV_NONE, 3};
    sv_rehearsal_request q = plain(&t, SV_REHEARSE_FIVE);
    struct vls seen = {.f = t.f};
    const sv_sim_watch watch = {.user = &seen, .granted = granted};
    q.application = apps;
    q.watch = &watch;
    sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 1000);
    assert_true(r->done && r->together);
    assert_true(seen.on[0] > seen.on[1] && seen.on[1] > 0);
    assert_int_equal(r->inconsistent, 0); /* they do not count */
    assert_int_equal(r->sim->incidents[SV_SIM_DROPPED] + r->sim->incidents[SV_SIM_LOOPED], 0);
    assert_int_equal(r->five.subscribers, 1);
    sv_rehearsal_free(r);
    test_transition_release(&t);
}

static void traffic_ends_when_it_is_told(void **state)
{
    (void)state;
    test_transition t = two_switches();
    for (int way = 0; way < SV_REHEARSE_WAYS; way++) {
        sv_rehearsal_request q = plain(&t, (sv_rehearsal_way)way);
        q.rest = 30 * US;
        sv_rehearsal *r = test_transition_rehearse(ctx, &t, &q, 1000000);
        assert_int_equal(r->sim->end, SV_SIM_COMPLETED);
        assert_int_equal(length(r, 4), 30 * US); /* not what drains after that */
        assert_true(r->sim->time > r->phase[4].until);
        sv_rehearsal_free(r);
    }
    test_transition_release(&t);
}

static void same_seed_same_run(void **state)
{
    (void)state;
    test_transition t;
    test_transition_init(ctx, 5, &t);
    for (int way = 0; way < SV_REHEARSE_WAYS; way++) {
        sv_rehearsal *a = rehearse(&t, (sv_rehearsal_way)way, 5),
                     *b = rehearse(&t, (sv_rehearsal_way)way, 5),
                     *c = rehearse(&t, (sv_rehearsal_way)way, 6);
        assert_memory_equal(a->phase, b->phase, sizeof a->phase);
        assert_int_equal(a->sim->time, b->sim->time);
        assert_int_equal(a->sim->looks, b->sim->looks);
        assert_int_equal(a->inconsistent, b->inconsistent);
        assert_int_equal(a->datagrams, b->datagrams);
        assert_int_not_equal(a->phase[5].until, c->phase[5].until);
        sv_rehearsal_free(a);
        sv_rehearsal_free(b);
        sv_rehearsal_free(c);
    }
    test_transition_release(&t);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    test_transition t = two_switches();
    const sv_sim_source nothing = {0};
    sv_rehearsal *r = NULL;
    sv_rehearsal_request good = plain(&t, SV_REHEARSE_AT_ONCE), q;
    good.source = &nothing;
    q = good;
    q.retry = 0;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &q, &r), SV_BAD_INPUT, "cannot be");
    q = good;
    q.loss = 1000;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &q, &r), SV_BAD_INPUT, "cannot be");
    q = good;
    q.delay_min = q.delay_max + 1;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &q, &r), SV_BAD_INPUT, "cannot be");
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after2, &good, &r), SV_BAD_INPUT,
          "do not belong together");
    q = good;
    q.way = SV_REHEARSE_STEPS;
    q.plan = NULL;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &q, &r), SV_BAD_INPUT, "need a plan");
    q.way = SV_REHEARSE_FIVE;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &q, &r), SV_BAD_INPUT, "LMC 1");
    sv_routes_row(ctx, t.after2, t.after2->first[3] + 1)[0] = SV_NO_PORT;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before2, t.after2, &q, &r), SV_BAD_INPUT,
          "has other routes in the new tables");
    assert_null(r);
    t.after->lid[2] = 99;
    FAILS(ctx, sv_rehearse(ctx, t.f, t.before, t.after, &good, &r), SV_BAD_INPUT, "different LIDs");
    test_transition_release(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_datagrams_are_as_told),
        cmocka_unit_test(a_switch_that_does_not_answer),
        cmocka_unit_test(an_application_dies),
        cmocka_unit_test(connections_keep_their_sl),
        cmocka_unit_test(vls_change),
        cmocka_unit_test(flows_begin_when_the_subscription_is_confirmed),
        cmocka_unit_test(who_never_subscribed),
        cmocka_unit_test(traffic_ends_when_it_is_told),
        cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(what_cannot_be_is_refused),
        /* Random trials, after what takes no time. */
        cmocka_unit_test(carelessness_shows_all_that_can_go_wrong),
        cmocka_unit_test(safe_ways_do_no_harm),
    };
    trials = test_trials(argc, argv, (uint32_t)trials);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, begin, end);
}
