/*
 * test_rehearse.c: updates in the simulator: what goes wrong without care, what does not with it,
 * over random changes of tables; who is silent and for how long; datagrams; phases; refusals.
 *
 * usage: test_rehearse [TRIALS [SEED]]
 */
#include "support/transition.h"

TEST_CONTEXT

enum { US = 1000 * SV_TICKS_A_NS, MESSAGES = 100 };

static uint64_t trials = 150, first_seed = 1;
static uint32_t application[256];

static sv_rehearsal *rehearse(const test_transition *t, sv_rehearsal_way way, uint64_t seed)
{
    sv_rehearsal_request q = test_transition_request(ctx, t, way, seed, application);
    return test_transition_rehearse(ctx, t, &q, MESSAGES);
}

/* ---- without care ---- */

/* Each mishap, and a deadlock, is found by looking at some random changes. */
static void carelessness_shows_all_that_can_go_wrong(void **state)
{
    (void)state;
    uint64_t found[SV_SIM_MISHAPS + 1] = {0};
    unsigned kinds = 0;
    for (uint64_t seed = 1; seed <= 400 && kinds < SV_SIM_MISHAPS + 1; seed++) {
        test_transition t;
        test_transition_init(ctx, seed, &t);
        sv_rehearsal *r = rehearse(&t, SV_REHEARSE_AT_ONCE, seed);
        bool shows[SV_SIM_MISHAPS + 1];
        for (int i = 0; i < SV_SIM_MISHAPS; i++) /* of pairs that keep a path all the time */
            shows[i] = r->harmed[i] > 0;
        shows[SV_SIM_MISHAPS] = r->sim->end == SV_SIM_DEADLOCK && r->both_deadlock_free;
        for (int i = 0; i <= SV_SIM_MISHAPS; i++)
            if (shows[i] && found[i] == 0) {
                found[i] = seed;
                kinds++;
                print_message("%s by %s\n",
                              i == SV_SIM_MISHAPS
                                  ? "deadlock"
                                  : (const char *[]){"drop", "circle", "overtaking"}[i],
                              t.about);
            }
        assert_true(r->together == (r->sim->end != SV_SIM_DEADLOCK));
        sv_rehearsal_free(r);
        test_transition_release(&t);
    }
    assert_int_equal(kinds, SV_SIM_MISHAPS + 1);
}

/* ---- with care ---- */

#define NONE(t, way, what, value)                                                                  \
    do {                                                                                           \
        if ((value) != 0)                                                                          \
            fail_msg("%s: way %d: %s: %llu", (t)->about, (way), (what),                            \
                     (unsigned long long)(value));                                                 \
    } while (0)

/* Definition 5.5, and that all has arrived. hold: nobody is overtaken, either. */
static void must_hold(const test_transition *t, sv_rehearsal_way way, const sv_rehearsal *r)
{
    bool strict = way != SV_REHEARSE_STEPS;
    NONE(t, way, "old or new tables can deadlock", !r->both_deadlock_free);
    NONE(t, way, "inconsistent", strict ? r->inconsistent : 0);
    NONE(t, way, "deadlock", !r->together);
    NONE(t, way, "dropped", r->harmed[SV_SIM_DROPPED]);
    NONE(t, way, "circled", r->harmed[SV_SIM_CIRCLED]);
    NONE(t, way, "overtaken", strict ? r->harmed[SV_SIM_OVERTAKEN] : 0);
    NONE(t, way, "anybody overtaken",
         way == SV_REHEARSE_FIVE ? r->sim->mishaps[SV_SIM_OVERTAKEN] : 0);
    NONE(t, way, "not done", !r->done);
    NONE(t, way, "packets that neither arrived nor were dropped",
         r->sim->packets - r->sim->arrived_packets - r->sim->mishaps[SV_SIM_DROPPED]);
}

/* Old tables become new ones, whatever is lost on the way: traffic after it meets new ones. */
static void safe_ways_do_no_harm(void **state)
{
    (void)state;
    uint64_t careless = 0, lost = 0, again = 0, steps = 0, held = 0;
    for (uint64_t seed = first_seed; seed < first_seed + trials; seed++) {
        test_transition t;
        test_transition_init(ctx, seed, &t);
        for (int way = SV_REHEARSE_AT_ONCE; way < SV_REHEARSE_WAYS; way++) {
            sv_rehearsal *r = rehearse(&t, (sv_rehearsal_way)way, seed);
            if (way == SV_REHEARSE_AT_ONCE)
                careless += r->inconsistent > 0 || !r->together || r->harmed[0] > 0 ||
                            r->harmed[1] > 0 || r->sim->mishaps[2] > 0;
            else if (r->five.called_off == 0)
                must_hold(&t, (sv_rehearsal_way)way, r);
            lost += r->lost;
            again += r->again;
            steps += r->steps > 1;
            held += r->held;
            sv_rehearsal_free(r);
        }
        test_transition_release(&t);
    }
    print_message("%llu of %llu changes do harm at once; %llu datagrams lost, %llu repeated, %llu "
                  "runs of several steps, %llu pairs silent\n",
                  (unsigned long long)careless, (unsigned long long)trials,
                  (unsigned long long)lost, (unsigned long long)again, (unsigned long long)steps,
                  (unsigned long long)held);
    assert_true(careless > trials / 4 && lost > 0 && again > 0 && steps > 0 && held > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carelessness_shows_all_that_can_go_wrong),
        cmocka_unit_test(safe_ways_do_no_harm),
    };
    if (argc > 1)
        trials = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, begin, end);
}
