/*
 * test_adapt_drb.c: the family of distributed routing balancing in small runs: three hosts of one
 * leaf of a 4-ary 2-tree send in bursts to hosts of the three others, all by the same root; between
 * bursts they say little.
 */
#include "support/adapting.h"

TEST_CONTEXT

enum { SENDERS = 3, BURSTS = 3, A_BURST = 150, A_REST = 40, MAX = 1000, MAX_LOG = 100000 };

/* What was seen, without pointers. */
typedef struct entry {
    sv__saw_kind kind;
    uint64_t time;
    uint32_t from, path, flows, open;
    double latency;
    sv__zone zone;
} entry;

typedef struct run {
    bed d;
    uint32_t next[SENDERS], destination[SENDERS];
    uint64_t ready[SENDERS][MAX];
    double sum[2 * BURSTS];
    uint32_t count[2 * BURSTS], length;
    uint64_t starts[BURSTS];
    entry *log;
    uint32_t entries;
    sv_sim_result *result;
    sv_adapt_report report;
    sv__spy spy;
} run;

static void saw(void *user, const sv__saw *s)
{
    run *x = user;
    assert_true(x->entries < MAX_LOG);
    x->log[x->entries++] = (entry){.kind = s->kind,
                                   .time = s->time,
                                   .from = s->pair != NULL ? s->pair->from : SV_NONE,
                                   .path = s->path,
                                   .flows = s->flows != NULL ? s->flows->count : 0,
                                   .open = s->pair != NULL ? s->pair->meta.count : 0,
                                   .latency = s->latency,
                                   .zone = s->pair != NULL ? s->pair->zone : SV__MEDIUM};
}

static bool next(void *user, uint32_t terminal, sv_sim_message *message)
{
    run *x = user;
    if (terminal >= SENDERS || x->next[terminal] == x->length)
        return false;
    uint32_t i = x->next[terminal]++, at = i % (A_BURST + A_REST);
    *message = (sv_sim_message){.ready = x->ready[terminal][i],
                                .destination = x->destination[terminal],
                                .bytes = 1024,
                                .tag = 2 * (i / (A_BURST + A_REST)) + (at >= A_BURST)};
    return true;
}

static void arrived(void *user, const sv_sim_arrival *a)
{
    run *x = user;
    x->sum[a->tag] += (double)(a->time - a->ready);
    x->count[a->tag]++;
}

/* Latency of a burst, microseconds. */
static double burst(const run *x, uint32_t i)
{
    return x->sum[2 * i] / x->count[2 * i] / SV_TICKS_PER_NS / 1000;
}

static void plan(run *x)
{
    const uint64_t packet = 1100 * 7200; /* about what one takes on a link */
    x->length = BURSTS * (A_BURST + A_REST);
    for (uint32_t t = 0; t < SENDERS; t++) {
        uint64_t time = 5 * packet * t; /* between bursts they do not meet */
        x->destination[t] = x->d.r->first[x->d.f->num_switches + 4 * (t + 1)];
        for (uint32_t i = 0; i < x->length; i++) {
            bool rests = i % (A_BURST + A_REST) >= A_BURST;
            if (t == 0 && i % (A_BURST + A_REST) == 0)
                x->starts[i / (A_BURST + A_REST)] = time;
            x->ready[t][i] = time;
            time += rests ? 16 * packet : packet * 5 / 3;
        }
    }
}

static void go(run *x, const char *spec, const char *store, uint64_t limit)
{
    memset(x, 0, sizeof *x);
    x->log = calloc(MAX_LOG, sizeof *x->log);
    x->d = bed_new(ctx, "kary:k=4,n=2,hosts=4", "dmodk", "drb");
    x->d.model.output = 64;
    plan(x);
    bed_policy(ctx, &x->d, spec, store);
    x->spy = (sv__spy){x, saw};
    if (x->d.b != NULL)
        sv__balance_spy(x->d.a, &x->spy);
    sv_sim_source source = {.user = x, .next = next, .arrived = arrived};
    sv_sim_setup setup = {.model = x->d.model,
                          .control = {.limit = limit},
                          .source = &source,
                          .policy = sv_adapt_policy(x->d.a)};
    OK(ctx, sv_simulate(ctx, x->d.f, x->d.r, &setup, &x->result));
    x->report = sv_adapt_end(x->d.a);
    if (limit == SV_NEVER) {
        assert_int_equal(x->result->end, SV_SIM_COMPLETED);
        assert_int_equal(x->result->arrived_messages, SENDERS * x->length);
        assert_int_equal(x->report.choices, x->d.b != NULL ? SENDERS * x->length : 0);
    }
}

static void done(run *x)
{
    free(x->log);
    sv_sim_free(x->result);
    bed_free(&x->d);
}

/* The first of a kind from a time on, or NULL. */
static const entry *first(const run *x, sv__saw_kind kind, uint64_t from)
{
    for (uint32_t i = 0; i < x->entries; i++)
        if (x->log[i].kind == kind && x->log[i].time >= from)
            return &x->log[i];
    return NULL;
}

#define KEYS "high=2,low=0.55,smooth=0.2"

/* ---- DRB ---- */

static void paths_are_opened_one_at_a_time_and_closed_afterwards(void **state)
{
    (void)state;
    static run x;
    go(&x, "drb:" KEYS, NULL, SV_NEVER);
    uint32_t waits_for[SENDERS] = {SV_NONE, SV_NONE, SV_NONE};
    assert_true(x.report.opened >= 4);
    for (uint32_t i = 0; i < x.entries; i++) {
        const entry *e = &x.log[i];
        if (e->kind == SV__SAW_ACK && e->path == waits_for[e->from])
            waits_for[e->from] = SV_NONE;
        if (e->kind == SV__SAW_OPENED) {
            assert_int_equal(waits_for[e->from], SV_NONE);
            waits_for[e->from] = e->path;
            assert_int_equal(e->zone, SV__HIGH);
        }
    }
    for (uint32_t t = 0; t < SENDERS; t++)
        assert_int_equal(bed_pair(ctx, &x.d, t, 4 * (t + 1))->meta.count, 1);
    assert_int_equal(x.report.opened, x.report.closed);
    assert_int_equal(x.report.acks, SENDERS * x.length);
    assert_int_equal(x.result->control_bytes, 32 * x.result->control_packets);
    assert_true(x.report.detours > 0);
    assert_int_equal(x.report.detours, x.result->detours);
    double with = burst(&x, 0);
    done(&x);
    go(&x, "deterministic", NULL, SV_NEVER);
    assert_true(with < burst(&x, 0) / 5); /* three in one link: it helps a lot */
    done(&x);
}

/* ---- FR-DRB ---- */

static void a_late_acknowledgement_opens_a_path_before_it_comes(void **state)
{
    (void)state;
    static run x;
    go(&x, "drb:" KEYS, NULL, SV_NEVER);
    uint64_t slow = first(&x, SV__SAW_OPENED, 0)->time;
    done(&x);
    go(&x, "fr-drb:watchdog=1.5," KEYS, NULL, SV_NEVER);
    const entry *opened = first(&x, SV__SAW_OPENED, 0);
    assert_true(opened->time < slow);
    assert_int_equal(first(&x, SV__SAW_LATE, 0)->time, opened->time);
    for (const entry *e = x.log; e < opened; e++) /* nothing that came said high */
        assert_false(e->kind == SV__SAW_ZONE &&
                     e->latency > 2 * bed_pair(ctx, &x.d, e->from, 4 * (e->from + 1))->base);
    assert_true(x.report.watchdogs > 0);
    done(&x);
    /* With a patient one it is DRB. */
    go(&x, "fr-drb:watchdog=1000," KEYS, NULL, SV_NEVER);
    assert_int_equal(x.report.watchdogs, 0);
    assert_int_equal(first(&x, SV__SAW_OPENED, 0)->time, slow);
    done(&x);
}

/* ---- PR-DRB ---- */

#define PREDICTIVE KEYS ",contention=4us,look=1us,share=0.1,trial=4,flows=8"

static void a_solution_is_applied_when_the_burst_comes_again(void **state)
{
    (void)state;
    static run x;
    go(&x, "pr-drb:notify=destination," PREDICTIVE, NULL, SV_NEVER);
    assert_true(x.report.patterns > 0 && x.report.applied > 0 && x.report.notices > 0);
    assert_true(x.report.repeated <= x.report.patterns && x.report.max_applied > 0);
    const entry *applied = first(&x, SV__SAW_APPLIED, x.starts[1]);
    const entry *opened = first(&x, SV__SAW_OPENED, x.starts[1]);
    assert_non_null(applied);
    assert_true(applied->time < x.starts[2]);
    /* The first thing that is done in the second burst. */
    assert_true(opened == applied + 1);
    uint64_t patterns = 0, notices = 0;
    for (uint32_t s = 0; s < x.d.f->num_switches; s++) {
        patterns += sv_adapt_routers(x.d.a)[s].patterns;
        notices += sv_adapt_routers(x.d.a)[s].notices;
    }
    assert_int_equal(patterns, x.report.patterns);
    assert_true(notices > 0);
    done(&x);
}

static void switches_tell_sooner_than_destinations(void **state)
{
    (void)state;
    static run x;
    uint64_t heard = 0;
    go(&x, "pr-drb:notify=destination," PREDICTIVE, NULL, SV_NEVER);
    for (uint32_t i = 0; i < x.entries && heard == 0; i++)
        if (x.log[i].kind == SV__SAW_ACK && x.log[i].flows > 0)
            heard = x.log[i].time;
    uint64_t looked = first(&x, SV__SAW_LOOK, 0)->time;
    assert_int_equal(x.report.predictive_acks, 0);
    assert_null(first(&x, SV__SAW_NOTICE, 0));
    done(&x);
    go(&x, "pr-drb:notify=router," PREDICTIVE, NULL, SV_NEVER);
    const entry *notice = first(&x, SV__SAW_NOTICE, 0);
    assert_non_null(notice);
    assert_true(notice->time > first(&x, SV__SAW_LOOK, 0)->time);
    assert_true(notice->time - first(&x, SV__SAW_LOOK, 0)->time < heard - looked);
    assert_true(x.report.predictive_acks > 0);
    for (uint32_t i = 0; i < x.entries; i++)
        assert_false(x.log[i].kind == SV__SAW_ACK && x.log[i].flows > 0);
    done(&x);
}

static void a_store_helps_from_the_first_burst_on(void **state)
{
    (void)state;
    static run x;
    go(&x, "pr-drb:notify=destination," PREDICTIVE, NULL, SV_NEVER);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_adapt_store_write(ctx, x.d.a, &sink));
    uint64_t patterns = x.report.patterns;
    uint64_t learned = first(&x, SV__SAW_APPLIED, 0)->time;
    double without = burst(&x, 0);
    done(&x);
    go(&x, "pr-drb:notify=destination," PREDICTIVE, buffer.text, SV_NEVER);
    assert_int_equal(x.report.seeded, patterns);
    const entry *applied = first(&x, SV__SAW_APPLIED, 0);
    assert_true(applied->time < x.starts[1] && applied->time < learned);
    assert_true(first(&x, SV__SAW_OPENED, 0) == applied + 1);
    assert_true(burst(&x, 0) < without);
    assert_int_equal(x.report.unasked, 0);
    without = burst(&x, 0);
    done(&x);
    /* And before its first packet, where nobody has to tell. */
    go(&x, "pr-drb:notify=destination,apply=message," PREDICTIVE, buffer.text, SV_NEVER);
    assert_int_equal(x.report.unasked, SENDERS);
    assert_int_equal(x.log[0].kind, SV__SAW_APPLIED);
    assert_true(first(&x, SV__SAW_CHOICE, 0)->open > 1);
    assert_true(burst(&x, 0) < without);
    assert_int_equal(x.report.closed, 0);
    done(&x);
    free(buffer.text);
}

/* ---- all of them ---- */

static const char *const all[] = {
    "drb:" KEYS,
    "fr-drb:" KEYS,
    "pr-drb:notify=destination," PREDICTIVE,
    "pr-drb:notify=router," PREDICTIVE,
    "pr-fr-drb:notify=destination," PREDICTIVE,
    "pr-fr-drb:notify=router,trend=4,by=packet,ack=packet," PREDICTIVE,
    "pr-fr-drb:notify=router,apply=message," PREDICTIVE};

static void the_same_seed_is_the_same_run(void **state)
{
    (void)state;
    static run x, y;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        go(&x, all[i], NULL, SV_NEVER);
        go(&y, all[i], NULL, SV_NEVER);
        assert_int_equal(x.entries, y.entries);
        for (uint32_t k = 0; k < x.entries; k++) {
            assert_int_equal(x.log[k].time, y.log[k].time);
            assert_int_equal(x.log[k].kind, y.log[k].kind);
            assert_int_equal(x.log[k].path, y.log[k].path);
        }
        assert_int_equal(x.result->time, y.result->time);
        done(&x);
        done(&y);
    }
}

/* With packets and acknowledgements under way: nothing is left behind (valgrind, ASan). */
static void a_run_may_end_at_any_time(void **state)
{
    (void)state;
    static run x;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint64_t us = 1; us < 2000; us = us * 5 / 2 + 1) {
            go(&x, all[i], NULL, us * 1000 * SV_TICKS_PER_NS);
            assert_int_equal(x.result->end, SV_SIM_LIMIT);
            done(&x);
        }
}

/* Messages of many packets are acknowledged once, or for each packet. */
static void acknowledgements_are_of_messages_or_packets(void **state)
{
    (void)state;
    for (int packets = 0; packets < 2; packets++) {
        bed d = bed_new(ctx, "kary:k=2,n=2,hosts=2", "dmodk", "drb");
        d.model.output = 64;
        bed_policy(ctx, &d, packets ? "drb:ack=packet" : "drb", NULL);
        sv_sim_traffic_request request = {
            .spec = "shift:by=2", .model = &d.model, .bytes = 10 * 1024, .messages = 7};
        sv_sim_traffic *traffic = NULL;
        OK(ctx, sv_sim_traffic_new(ctx, d.f, d.r, &request, &traffic));
        sv_sim_setup setup = {.model = d.model,
                              .control = {.limit = SV_NEVER},
                              .source = sv_sim_traffic_source(traffic),
                              .policy = sv_adapt_policy(d.a)};
        sv_sim_result *result = NULL;
        OK(ctx, sv_simulate(ctx, d.f, d.r, &setup, &result));
        assert_int_equal(sv_adapt_end(d.a).acks, packets ? 4 * 7 * 10 : 4 * 7);
        assert_int_equal(sv_adapt_end(d.a).choices, 4 * 7);
        sv_sim_free(result);
        sv_sim_traffic_free(traffic);
        bed_free(&d);
    }
}

/* A switch tells of terminals; whoever talks to one by several addresses hears it for all. */
static void notices_are_for_all_addresses(void **state)
{
    (void)state;
    bed d = {.f = test_fabric(ctx, "kary:k=2,n=2,hosts=2")};
    d.r = test_routed(ctx, d.f, "updn", 2);
    OK(ctx, sv_profile_model(ctx, "drb", &d.model));
    bed_policy(ctx, &d, "pr-drb:notify=router", NULL);
    const sv_sim_policy *policy = sv_adapt_policy(d.a);
    uint32_t first = d.r->first[d.f->num_switches + 3], other = d.r->first[d.f->num_switches + 2];
    const uint32_t flows[] = {sv__flow(0, 3), sv__flow(1, 3)};
    uint32_t pairs[5];
    for (uint32_t i = 0; i < 3; i++) /* the second of its four addresses is not used */
        OK(ctx, sv__pairs_get(d.b, 0, first + i + (i > 0), &pairs[i]));
    OK(ctx, sv__pairs_get(d.b, 0, other, &pairs[3]));
    OK(ctx, sv__pairs_get(d.b, 1, first, &pairs[4]));
    uint32_t note = sv__notes_take(ctx, &d.b->notes);
    assert_int_not_equal(note, 0);
    sv__flows told = {.at = sv__notes_at(&d.b->notes, note)->flows.at, .count = 2, .router = 0};
    memcpy(told.at, flows, sizeof flows);
    sv__notes_at(&d.b->notes, note)->flows = told;
    sv_sim_head head = {.control = true, .note = note};
    OK(ctx, policy->deliver(policy->user, NULL, 1, 0, &head));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(d.b->pairs.at[pairs[i]]->newest.count, i < 3 ? 2 : 0);
    assert_int_equal(sv_adapt_end(d.a).notices, 3);
    assert_int_equal(sv__pairs_find(d.b, 0, first + 1), SV_ABSENT);
    bed_free(&d);
}

/* Flows have two numbers of 16 bits (Fig. 3.18), and 64 places; who does not fit is refused. */
static void what_does_not_fit_predictive_headers_is_refused(void **state)
{
    (void)state;
    bed d = bed_new(ctx, "kary:k=2,n=2,hosts=2", "updn", "drb");
    sv_adapt_request request = {.spec = "pr-drb:flows=65", .model = &d.model, .seed = 1};
    unsigned vls = 0;
    FAILS(ctx, sv_adapt_new(ctx, d.f, d.r, &request, &d.a, &vls), SV_BAD_INPUT, "flows");
    bed_policy(ctx, &d, "pr-drb:flows=64", NULL);
    sv__balance_release(d.a);
    sv_fabric many = *d.f; /* nobody looks further than at these two numbers */
    d.a->f = &many;
    many.num_terminals = 65537;
    FAILS(ctx, sv__balance_make(d.a, false, true), SV_INFEASIBLE, "there are 65537");
    sv__balance_release(d.a);
    many.num_terminals = d.f->num_terminals;
    many.num_switches = 65536;
    FAILS(ctx, sv__balance_make(d.a, false, true), SV_INFEASIBLE, "65536 switches");
    sv__balance_release(d.a);
    OK(ctx, sv__balance_make(d.a, false, false)); /* no flows, no limit */
    d.a->f = d.f;
    bed_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_opened_one_at_a_time_and_closed_afterwards),
        cmocka_unit_test(a_late_acknowledgement_opens_a_path_before_it_comes),
        cmocka_unit_test(a_solution_is_applied_when_the_burst_comes_again),
        cmocka_unit_test(switches_tell_sooner_than_destinations),
        cmocka_unit_test(a_store_helps_from_the_first_burst_on),
        cmocka_unit_test(the_same_seed_is_the_same_run),
        cmocka_unit_test(a_run_may_end_at_any_time),
        cmocka_unit_test(acknowledgements_are_of_messages_or_packets),
        cmocka_unit_test(notices_are_for_all_addresses),
        cmocka_unit_test(what_does_not_fit_predictive_headers_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
