/*
 * test_adapt_decide.c: what sources do when they hear of their paths (points 3 to 16 of decision
 * 28), by hand: acknowledgements, notices and watchdogs without a simulator.
 */
#include "support/adapting.h"

TEST_CONTEXT

/* A pair with several paths, and a clock. */
typedef struct play {
    bed d;
    sv__drb_pair *p;
    uint64_t now;
    uint32_t flow[8];
    uint32_t saw[SV__SAW_IMPROVED + 1];
    sv__spy spy;
} play;

static void saw(void *user, const sv__saw *s)
{
    ((play *)user)->saw[s->kind]++;
}

static void begin_play(play *x, const char *spec)
{
    *x = (play){.d = bed_new(ctx, "kary:k=4,n=2,hosts=4", "updn", "drb")};
    bed_policy(ctx, &x->d, spec, NULL);
    x->p = bed_pair(ctx, &x->d, 0, 15);
    x->spy = (sv__spy){x, saw};
    sv__balance_spy(x->d.a, &x->spy);
}

static void end_play(play *x)
{
    const sv_adapt_report report = sv_adapt_end(x->d.a);
    assert_int_equal(report.opened - report.closed, x->p->meta.count - 1);
    assert_int_equal(report.opened, x->saw[SV__SAW_OPENED]);
    assert_int_equal(report.closed, x->saw[SV__SAW_CLOSED]);
    assert_int_equal(report.applied, x->saw[SV__SAW_APPLIED]);
    assert_int_equal(report.failed, x->saw[SV__SAW_FAILED]);
    assert_int_equal(report.patterns, x->saw[SV__SAW_KEPT]);
    assert_int_equal(report.improved, x->saw[SV__SAW_IMPROVED]);
    bed_free(&x->d);
}

/* An acknowledgement of a path; waited by what path 0 takes empty; flows 1 … n, if any. */
static void ack_with(play *x, uint32_t path, double waited, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        x->flow[i] = first + i;
    sv__flows flows = {x->flow, count, 2};
    x->now += 1000;
    OK(ctx, sv__decide_ack(x->d.b, x->p, x->now, path, (uint64_t)(waited * x->p->base), &flows));
}

static void ack(play *x, uint32_t path, double waited)
{
    ack_with(x, path, waited, 0, 0);
}

#define BASIC "high=2,low=0.6,smooth=1,paths=4"

/* ---- opening and closing ---- */

static void a_pair_begins_with_the_tables_own_path(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "drb:" BASIC);
    assert_int_equal(x.p->meta.count, 1);
    assert_int_equal(x.p->paths[0].way.vias, 0);
    assert_int_equal(x.p->paths[0].channels, 4);
    ack(&x, 0, 0);
    ack(&x, 0, 1); /* twice what it takes empty: not above */
    assert_int_equal(x.p->meta.count, 1);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_false(x.p->searched);
    end_play(&x);
}

static void paths_are_opened_one_at_a_time(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "drb:" BASIC);
    ack(&x, 0, 1.01);
    assert_int_equal(x.p->meta.count, 2);
    uint32_t second = x.p->meta.at[1].path;
    ack(&x, 0, 50); /* the new one has not been heard of */
    ack(&x, 0, 50);
    assert_int_equal(x.p->meta.count, 2);
    ack(&x, second, 50);
    assert_int_equal(x.p->meta.count, 3);
    uint32_t third = x.p->meta.at[2].path;
    ack(&x, second, 50);
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, third, 50);
    assert_int_equal(x.p->meta.count, 4);
    ack(&x, x.p->meta.at[3].path, 50);
    ack(&x, 0, 50);
    assert_int_equal(x.p->meta.count, 4); /* there may be four */
    assert_int_equal(sv_adapt_end(x.d.a).max_paths, 4);
    assert_int_equal(sv_adapt_end(x.d.a).pairs, 1);
    end_play(&x);
}

static void paths_are_closed_last_first(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "drb:" BASIC);
    ack(&x, 0, 50);
    ack(&x, 1, 50);
    ack(&x, 2, 50);
    ack(&x, 3, 1);
    assert_int_equal(x.p->meta.count, 4);
    ack(&x, 3, 0); /* 1/(3/51 + 1) is not below 0.6 */
    assert_int_equal(x.p->meta.count, 4);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    ack(&x, 0, 0); /* 1/(1 + 1 + 2/51) is */
    assert_int_equal(x.p->zone, SV__LOW);
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(sv__metapath_find(&x.p->meta, 3), UINT32_MAX);
    ack(&x, 3, 70); /* closed: tells nothing */
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, 1, 0);
    ack(&x, 0, 0);
    assert_int_equal(x.p->meta.count, 1);
    ack(&x, 0, 0);
    assert_int_equal(x.p->meta.count, 1);
    /* And again from the beginning. */
    ack(&x, 0, 9);
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(x.p->meta.at[1].path, 1);
    end_play(&x);
}

/* ---- solutions ---- */

#define PREDICTIVE BASIC ",trial=3,similar=0.8"

/* Two paths against flows first … first + 4, and closed again. */
static void learn(play *x, uint32_t first, double waited)
{
    ack_with(x, 0, 5, first, 5);
    ack(x, 1, waited);
    assert_int_equal(x->p->zone, SV__MEDIUM);
}

static void calm(play *x)
{
    for (int i = 0; i < 6; i++)
        ack(x, x->p->meta.at[x->p->meta.count - 1].path, 0);
    ack(x, 0, 0);
    ack(x, 0, 0);
    while (x->p->meta.count > 1)
        ack(x, x->p->meta.at[x->p->meta.count - 1].path, 0);
    assert_int_equal(x->p->newest.count, 0);
}

static void what_helped_is_kept(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    learn(&x, 10, 0.5);
    const sv__solution *s = x.p->store.first;
    assert_non_null(s);
    assert_null(s->next);
    assert_int_equal(s->flows.count, 5);
    assert_int_equal(s->flows.at[0], 10);
    assert_int_equal(s->flows.router, 2);
    assert_int_equal(s->num_paths, 2);
    assert_true(s->latency > 1.19 * x.p->base && s->latency < 1.21 * x.p->base); /* 1/(1/6+1/1.5) */
    assert_int_equal(sv_adapt_routers(x.d.a)[2].patterns, 1);
    end_play(&x);
}

static void nothing_is_kept_without_flows(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    ack(&x, 0, 5);
    ack(&x, 1, 0.5);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_null(x.p->store.first);
    end_play(&x);
}

/* Three paths are learned; when the flows come again, all are opened at once. */
static void what_was_kept_is_applied_at_once(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    ack_with(&x, 0, 5, 10, 5);
    ack(&x, 1, 5);
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, 2, 0.5);
    assert_int_equal(x.p->store.first->num_paths, 3);
    calm(&x);
    assert_int_equal(x.p->meta.count, 1);
    ack_with(&x, 0, 5, 11, 5); /* four of five: alike */
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 1);
    assert_int_equal(sv_adapt_end(x.d.a).repeated, 1);
    assert_int_equal(sv_adapt_end(x.d.a).max_applied, 1);
    assert_int_equal(sv_adapt_routers(x.d.a)[2].applied, 1);
    /* New paths have what they had then. */
    assert_true(x.p->meta.at[2].waited == x.p->store.first->paths[2].waited);
    assert_true(x.p->meta.at[0].waited > 4.9 * x.p->base);
    /* It is judged after three, and was good enough. */
    ack(&x, 0, 50);
    ack(&x, 1, 50);
    assert_int_equal(x.p->zone, SV__HIGH);
    ack(&x, 2, 0);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(sv_adapt_end(x.d.a).failed, 0);
    end_play(&x);
}

static void other_flows_find_nothing(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    learn(&x, 10, 0.5);
    calm(&x);
    ack_with(&x, 0, 5, 12, 5); /* three of five */
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    ack(&x, 1, 0.5);
    assert_int_equal(sv_adapt_end(x.d.a).patterns, 2);
    end_play(&x);
}

/* Flows that come when it is high already, before any were known, are asked for, too. */
static void flows_may_come_late(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    ack_with(&x, 0, 5, 10, 5);
    ack(&x, 1, 5);
    ack(&x, 2, 0.5);
    calm(&x);
    ack(&x, 0, 5); /* no flows: opened as ever */
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    ack_with(&x, 0, 5, 10, 5); /* while path 1 is not heard of nothing is decided */
    assert_int_equal(x.p->meta.count, 2);
    ack(&x, 1, 5);
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 1);
    end_play(&x);
}

/* They are the episode's even if it is over at the next decision, and the first of them are. */
static void flows_that_come_while_it_is_high_are_kept(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    ack(&x, 0, 5); /* no flows */
    ack_with(&x, 0, 5, 10, 5);
    ack_with(&x, 0, 5, 30, 3);
    assert_null(x.p->store.first);
    ack(&x, 1, 0.5);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_non_null(x.p->store.first);
    assert_int_equal(x.p->store.first->flows.count, 5);
    assert_int_equal(x.p->store.first->flows.at[0], 10);
    assert_null(x.p->store.first->next);
    end_play(&x);
}

static void a_solution_that_fails_is_replaced(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    learn(&x, 10, 0.5);
    double latency = x.p->store.first->latency;
    calm(&x);
    ack_with(&x, 0, 5, 10, 5);
    assert_int_equal(x.p->meta.count, 2);
    ack(&x, 0, 9);
    ack(&x, 0, 9);
    assert_int_equal(x.p->meta.count, 2);
    ack(&x, 1, 9); /* still high: as ever */
    assert_int_equal(sv_adapt_end(x.d.a).failed, 1);
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, 2, 1); /* 1/(1/10 + 1/10 + 1/2): worse than it was, but it holds */
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_int_equal(sv_adapt_end(x.d.a).improved, 1);
    assert_int_equal(sv_adapt_end(x.d.a).patterns, 1);
    assert_int_equal(x.p->store.first->num_paths, 3);
    assert_true(x.p->store.first->latency > latency);
    end_play(&x);
}

static void a_better_solution_takes_the_place_of_one_alike(void **state)
{
    (void)state;
    for (int better = 0; better < 2; better++) {
        play x;
        begin_play(&x, "pr-drb:" PREDICTIVE);
        learn(&x, 10, 0.5);
        calm(&x);
        ack_with(&x, 0, 5, 11, 5);
        ack(&x, 0, 5);
        ack(&x, 0, 5);
        ack(&x, 1, better ? 0.4 : 0.6);
        assert_int_equal(x.p->zone, SV__MEDIUM);
        assert_int_equal(sv_adapt_end(x.d.a).improved, better);
        assert_int_equal(x.p->store.first->flows.at[0], better ? 11 : 10);
        assert_null(x.p->store.first->next);
        end_play(&x);
    }
}

/* A solution whose paths are open already cannot help: the next path is opened, and kept. */
static void a_solution_that_is_open_already_is_not_applied(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" PREDICTIVE);
    learn(&x, 10, 0.5);
    ack(&x, 0, 9);
    ack_with(&x, 1, 9, 10, 5);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, 2, 1);
    assert_int_equal(x.p->zone, SV__MEDIUM);
    assert_int_equal(sv_adapt_end(x.d.a).improved, 1);
    assert_int_equal(x.p->store.first->num_paths, 3);
    end_play(&x);
}

/* ---- notices of switches ---- */

static void notice(play *x, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        x->flow[i] = first + i;
    x->now += 1000;
    OK(ctx, sv__decide_notice(x->d.b, x->p, x->now, &(sv__flows){x->flow, count, 2}));
}

/* An episode that has its flows goes on with them. */
static void a_notice_does_not_disturb_an_episode(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:notify=router," PREDICTIVE);
    ack_with(&x, 0, 5, 10, 5);
    ack(&x, 1, 5);
    ack(&x, 2, 0.5);
    assert_int_equal(x.p->store.first->num_paths, 3);
    calm(&x);
    ack_with(&x, 0, 5, 30, 5);
    assert_int_equal(x.p->meta.count, 2);
    notice(&x, 10, 5);
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    end_play(&x);
}

static void a_notice_applies_what_is_known(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:notify=router," PREDICTIVE);
    notice(&x, 10, 5);
    assert_int_equal(x.p->meta.count, 1); /* nothing is known: latency decides */
    ack(&x, 0, 5);
    ack(&x, 1, 0.5);
    assert_int_equal(sv_adapt_end(x.d.a).patterns, 1);
    notice(&x, 10, 5); /* its paths are open */
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    calm(&x);
    notice(&x, 30, 5);
    assert_int_equal(x.p->meta.count, 1);
    notice(&x, 10, 5);
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(x.p->zone, SV__HIGH);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 1);
    notice(&x, 10, 5); /* it is on trial */
    assert_int_equal(sv_adapt_end(x.d.a).applied, 1);
    assert_int_equal(sv_adapt_end(x.d.a).notices, 5);
    end_play(&x);
}

/* ---- before messages (point 17) ---- */

#define UNASKED PREDICTIVE ",apply=message"

static void message(play *x)
{
    OK(ctx, sv__decide_message(x->d.b, x->p, ++x->now));
}

/* All paths of what is known, nobody having told of anything; and they stay though it is calm. */
static void a_message_opens_what_is_known(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" UNASKED);
    message(&x); /* nothing is known */
    assert_int_equal(x.p->meta.count, 1);
    ack_with(&x, 0, 5, 10, 5);
    ack(&x, 1, 5);
    ack(&x, 2, 0.5);
    message(&x); /* others are open */
    assert_int_equal(sv_adapt_end(x.d.a).applied, 0);
    calm(&x);
    assert_int_equal(x.p->zone, SV__LOW);
    message(&x);
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(x.p->zone, SV__LOW);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 1);
    assert_int_equal(sv_adapt_end(x.d.a).unasked, 1);
    for (uint32_t i = 0; i < 12; i++)
        ack(&x, i % 3, 0);
    assert_int_equal(x.p->zone, SV__LOW);
    assert_int_equal(x.p->meta.count, 3);
    message(&x);
    assert_int_equal(sv_adapt_end(x.d.a).unasked, 1);
    assert_int_equal(sv_adapt_end(x.d.a).failed, 0);
    /* More are opened as ever, and none of them is closed either. */
    ack(&x, 0, 50);
    ack(&x, 1, 50);
    ack(&x, 2, 50);
    assert_int_equal(x.p->meta.count, 4);
    for (uint32_t i = 0; i < 12; i++)
        ack(&x, i % 4, 0);
    assert_int_equal(x.p->meta.count, 4);
    end_play(&x);
}

static void what_fails_is_not_held(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" UNASKED);
    learn(&x, 10, 0.5);
    calm(&x);
    message(&x);
    assert_int_equal(x.p->meta.count, 2);
    ack(&x, 0, 50);
    ack(&x, 1, 50);
    assert_int_equal(x.p->meta.count, 2); /* on trial */
    ack(&x, 0, 50);
    assert_int_equal(sv_adapt_end(x.d.a).failed, 1);
    assert_int_equal(x.p->meta.count, 3);
    ack(&x, 2, 50);
    assert_int_equal(x.p->meta.count, 4);
    calm(&x);
    assert_int_equal(x.p->meta.count, 1);
    /* It was replaced by nothing: no flows came. So it is left alone. */
    message(&x);
    assert_int_equal(x.p->meta.count, 1);
    end_play(&x);
}

/* The one that was applied last, whoever asked for it; else the oldest (above). */
static void a_message_opens_what_was_last_applied(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:" UNASKED);
    learn(&x, 10, 0.5);
    calm(&x);
    ack_with(&x, 0, 5, 20, 5);
    ack(&x, 1, 5);
    ack(&x, 2, 0.5);
    calm(&x);
    sv__solution *first = x.p->store.first, *second = first->next;
    assert_int_equal(second->num_paths, 3);
    notice(&x, 20, 5);
    assert_ptr_equal(x.p->last, second);
    ack(&x, 0, 0);
    ack(&x, 1, 0);
    calm(&x); /* what a notice opened is closed */
    message(&x);
    assert_ptr_equal(x.p->last, second);
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(sv_adapt_end(x.d.a).applied, 2);
    assert_int_equal(sv_adapt_end(x.d.a).unasked, 1);
    /* A notice may apply another one; what is held on to is then that. */
    for (uint32_t i = 0; i < 3; i++)
        ack(&x, i, 0);
    x.p->store.first->paths[1].path = 3; /* one that is not open */
    notice(&x, 10, 5);
    assert_ptr_equal(x.p->last, first);
    assert_int_equal(x.p->meta.count, 2);
    for (uint32_t i = 0; i < 12; i++)
        ack(&x, x.p->meta.at[i % 2].path, 0);
    assert_int_equal(x.p->meta.count, 2);
    end_play(&x);
}

/* ---- watchdogs ---- */

static void late_acknowledgements_open_paths(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "fr-drb:" BASIC);
    OK(ctx, sv__decide_late(x.d.b, x.p, 1));
    assert_int_equal(x.p->meta.count, 2);
    OK(ctx, sv__decide_late(x.d.b, x.p, 2)); /* does not wait for the one before */
    assert_int_equal(x.p->meta.count, 3);
    assert_int_equal(x.p->zone, SV__HIGH);
    end_play(&x);
}

static void late_acknowledgements_apply_solutions(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-fr-drb:" PREDICTIVE);
    ack_with(&x, 0, 5, 10, 5);
    ack(&x, 1, 5);
    ack(&x, 2, 0.5);
    calm(&x);
    ack_with(&x, 0, 0.5, 10, 5); /* known, but not high */
    assert_int_equal(x.p->meta.count, 1);
    OK(ctx, sv__decide_late(x.d.b, x.p, x.now + 1));
    assert_int_equal(x.p->meta.count, 3);
    OK(ctx, sv__decide_late(x.d.b, x.p, x.now + 2)); /* it is on trial */
    assert_int_equal(x.p->meta.count, 3);
    end_play(&x);
}

/* ---- trend ---- */

static void a_trend_opens_paths_before_it_is_high(void **state)
{
    (void)state;
    play x;
    begin_play(&x, "pr-drb:trend=3,ahead=1," PREDICTIVE);
    uint64_t slow = x.p->round / 4; /* between acknowledgements */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(x.p->meta.count, 1);
        x.now += slow;
        ack(&x, 0, 0.1 + 0.2 * i); /* four more: 1.3 waited, above 1 */
    }
    assert_int_equal(x.p->meta.count, 2);
    assert_int_equal(sv_adapt_end(x.d.a).foreseen, 1);
    end_play(&x);
    begin_play(&x, "pr-drb:trend=3,ahead=0.5," PREDICTIVE);
    for (uint32_t i = 0; i < 3; i++) {
        x.now += slow;
        ack(&x, 0, 0.1 + 0.2 * i); /* two more: 0.9 */
    }
    assert_int_equal(x.p->meta.count, 1);
    assert_int_equal(sv_adapt_end(x.d.a).foreseen, 0);
    end_play(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_begins_with_the_tables_own_path),
        cmocka_unit_test(paths_are_opened_one_at_a_time),
        cmocka_unit_test(paths_are_closed_last_first),
        cmocka_unit_test(what_helped_is_kept),
        cmocka_unit_test(nothing_is_kept_without_flows),
        cmocka_unit_test(what_was_kept_is_applied_at_once),
        cmocka_unit_test(other_flows_find_nothing),
        cmocka_unit_test(flows_may_come_late),
        cmocka_unit_test(flows_that_come_while_it_is_high_are_kept),
        cmocka_unit_test(a_solution_that_fails_is_replaced),
        cmocka_unit_test(a_better_solution_takes_the_place_of_one_alike),
        cmocka_unit_test(a_solution_that_is_open_already_is_not_applied),
        cmocka_unit_test(a_notice_does_not_disturb_an_episode),
        cmocka_unit_test(a_notice_applies_what_is_known),
        cmocka_unit_test(a_message_opens_what_is_known),
        cmocka_unit_test(what_fails_is_not_held),
        cmocka_unit_test(a_message_opens_what_was_last_applied),
        cmocka_unit_test(late_acknowledgements_open_paths),
        cmocka_unit_test(late_acknowledgements_apply_solutions),
        cmocka_unit_test(a_trend_opens_paths_before_it_is_high),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
