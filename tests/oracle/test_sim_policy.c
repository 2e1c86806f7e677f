/*
 * test_sim_policy.c: the fast simulator against the one that moves block by block, where packets
 * choose their way (rules 25 to 33): small random fabrics, tables, buffers and messages, and a
 * random policy (sim_policy.c) that is the same for both. Every injection, grant, call of a hook,
 * what hooks see and what sources hear must come in the same order with the same values; then
 * arrivals, totals and packets that are stuck.
 *
 *     oracle_test_sim_policy [TRIALS [SEED]]
 *
 * mutate_sim.py shows that mutants of the fast one do not come through.
 */
#include "sim_choosing.h"
#include "support/testing.h"
#include "support/trials.h"

static sv_ctx *ctx;
static uint32_t trials = 1000;
static uint64_t seed = 1, present; /* the first, and that of the trial under way */

/* ---- the fast one's ---- */

/* Padding does not count. */
static bool same(const sim_record *a, const sim_record *b)
{
    return a->what == b->what && memcmp(a->value, b->value, sizeof a->value) == 0;
}

/* Something happened: it must be what is next in the log. */
static void fast_note(void *user, const sim_record *record)
{
    struct trial *t = user;
    if (t->told >= t->expected.count)
        fail_msg("seed %llu: more than there should be: %s", (unsigned long long)t->seed,
                 sim_record_text(record));
    const sim_record *right = &t->expected.all[t->told++];
    if (!same(right, record))
        fail_msg("seed %llu: event %u is\n  %s, should be\n  %s", (unsigned long long)t->seed,
                 t->told - 1, sim_record_text(record), sim_record_text(right));
}

static void fast_send(void *stage, uint32_t from, uint32_t destination, uint32_t bytes,
                      uint64_t ready, uint32_t mark, uint32_t note)
{
    OK(ctx, sv_sim_send(stage, (sv_node){from}, destination, bytes, ready, mark, note));
}

static void fast_call(void *stage, uint64_t time)
{
    sv_sim_call(stage, time);
}

static uint64_t fast_backlog(void *stage, sv_channel c)
{
    return sv_sim_backlog(stage, c);
}

static uint32_t fast_waiting_for(void *stage, sv_channel c, sv_sim_waiting *waiting, uint32_t max)
{
    return sv_sim_waiting_for(stage, c, waiting, max);
}

static sim_world fast_world(struct trial *t, sv_sim_run *stage)
{
    return (sim_world){.c = &t->c,
                       .mind = &t->mind,
                       .stage = stage,
                       .send = fast_send,
                       .call = fast_call,
                       .backlog = fast_backlog,
                       .waiting_for = fast_waiting_for,
                       .user = t,
                       .note = fast_note};
}

static sv_status fast_choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                             const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sim_world w = fast_world(user, stage);
    sim_choose(&w, now, terminal, message, offset, way);
    return SV_OK;
}

static sv_status fast_depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                             uint64_t waited, sv_sim_head *head)
{
    sim_world w = fast_world(user, stage);
    sim_depart(&w, now, out, waited, head);
    return SV_OK;
}

static sv_status fast_deliver(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                              sv_sim_head *head)
{
    sim_world w = fast_world(user, stage);
    sim_deliver(&w, now, terminal, head);
    return SV_OK;
}

static sv_status fast_timer(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    sim_world w = fast_world(user, stage);
    sim_timer(&w, now, again);
    return SV_OK;
}

static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct trial *t = user;
    uint32_t i = t->next[terminal];
    if (i >= t->c.num_messages || t->c.messages[i].from != terminal ||
        t->heard[terminal] < t->after[i])
        return false;
    t->next[terminal]++;
    *message = choosing_message(t, i);
    return true;
}

static void message_arrived(void *user, const sv_sim_arrival *a)
{
    struct trial *t = user;
    const sim_record record = {SIM_HEARD,
                               {a->tag, a->time, a->from, a->to, a->bytes, a->injected, a->ready}};
    uint64_t first = t->packets[t->first_packet[a->tag]].granted[0];
    const sim_record right = choosing_hearing(t, a->tag, t->heard_at[a->tag], first);
    if (t->in_order)
        fast_note(t, &record);
    else if (t->heard_at[a->tag] != SV_NEVER && !same(&right, &record))
        fail_msg("seed %llu: %s, should be\n  %s", (unsigned long long)t->seed,
                 sim_record_text(&record), sim_record_text(&right));
    t->heard[a->to]++;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    const sim_record record = {SIM_INJECTED, {packet, terminal, tag, time}};
    fast_note(user, &record);
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    const sim_record record = {SIM_GRANTED, {packet, out.i, vl, time}};
    fast_note(user, &record);
}

/* Arrivals are told when they are known; those after the end have not happened. */
static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct trial *t = user;
    choosing_room(t, packet);
    t->seen[packet] = time;
}

static void stuck(void *user, uint32_t packet, sv_channel in, unsigned vl)
{
    struct trial *t = user;
    for (uint32_t i = 0; i < t->num_stuck; i++) {
        const oracle_stuck *s = &t->stuck[i];
        uint32_t from = s->in_port == 0 ? SV_NONE : choosing_channel(t, s->in_node, s->in_port);
        if (s->head.number == packet && from == in.i && s->vl == vl)
            return;
    }
    fail_msg("seed %llu: packet %u is not stuck, or elsewhere", (unsigned long long)t->seed,
             packet);
}

/* ---- comparing ---- */

#define SAME(t, a, b)                                                                              \
    do {                                                                                           \
        uint64_t is = (uint64_t)(a), right = (uint64_t)(b);                                        \
        if (is != right)                                                                           \
            fail_msg("seed %llu: " #a " is %llu, should be %llu", (unsigned long long)(t)->seed,   \
                     (unsigned long long)is, (unsigned long long)right);                           \
    } while (0)

static bool same_stuck(const struct trial *t, const oracle_stuck *o, const sv_sim_stuck *s)
{
    uint32_t in = o->in_port == 0 ? SV_NONE : choosing_channel(t, o->in_node, o->in_port);
    if (s->behind != o->behind && !t->early_end)
        return false;
    return s->in.i == in && s->out.i == choosing_channel(t, o->node, o->out_port) &&
           s->vl == o->vl && s->out_vl == o->out_vl &&
           s->from + t->c.f->num_switches == o->head.from &&
           s->destination == o->head.destination && s->since == o->since;
}

static void compare_stuck(struct trial *t, const sv_sim_result *r)
{
    uint64_t since = 0;
    for (uint32_t i = 0; i < t->num_stuck; i++)
        since = t->stuck[i].since > since ? t->stuck[i].since : since;
    if (!t->early_end)
        SAME(t, r->num_stuck, t->num_stuck);
    if (t->num_stuck > 0 && !t->early_end)
        SAME(t, r->stuck_since, since);
    assert_in_range(r->num_stuck, 0, t->num_stuck);
    for (uint32_t i = 0; i < r->num_stuck; i++) {
        uint32_t k = i;
        while (k < t->num_stuck && !same_stuck(t, &t->stuck[k], &r->stuck[i]))
            k++;
        if (k == t->num_stuck)
            fail_msg("seed %llu: who is stuck is so otherwise", (unsigned long long)t->seed);
        oracle_stuck held = t->stuck[k];
        t->stuck[k] = t->stuck[i];
        t->stuck[i] = held;
    }
}

static void compare_totals(const struct trial *t, const sv_sim_result *r)
{
    uint64_t hops = 0, bytes = 0, messages = 0, latency = 0, total = 0;
    for (uint32_t i = 0; i < t->expected.count; i++) {
        hops += t->expected.all[i].what == SIM_GRANTED;
    }
    for (uint32_t p = 0; p < t->num_packets; p++)
        bytes += t->packets[p].arrived != SV_NEVER ? t->packets[p].payload : 0;
    for (uint32_t i = 0; i < t->c.num_messages; i++)
        if (t->heard_at[i] != SV_NEVER) {
            messages++;
            latency += t->heard_at[i] - t->packets[t->first_packet[i]].granted[0];
            total += t->heard_at[i] - t->c.messages[i].ready;
        }
    SAME(t, r->packets, t->counts.packets);
    SAME(t, r->packet_hops, hops);
    SAME(t, r->arrived_packets, t->num_arrived);
    SAME(t, r->payload_bytes, bytes);
    SAME(t, r->arrived_messages, messages);
    SAME(t, r->latency_sum, latency);
    SAME(t, r->total_sum, total);
    SAME(t, r->control_packets, t->counts.control_packets);
    SAME(t, r->control_bytes, t->counts.control_bytes);
    SAME(t, r->detours, t->counts.detours);
    SAME(t, r->early, t->counts.early);
    SAME(t, r->early_wait, t->counts.early_wait);
    SAME(t, r->early_max, t->counts.early_max);
    if (r->end == SV_SIM_COMPLETED)
        SAME(t, r->time, t->counts.time);
}

/* What channels have carried, and terminals sent and received. */
static void compare_parts(const struct trial *t, const sv_sim_result *r)
{
    sv_sim_terminal *all = calloc(t->c.f->num_terminals, sizeof *all);
    for (uint32_t c = 0; c < t->c.f->num_channels; c++) {
        if (r->end == SV_SIM_DEADLOCK) /* it may be seen before links have started all */
            continue;
        /* That of packets whose links start after the end may count, as they are granted. */
        assert_in_range(r->channels[c].waited, t->channels[c].waited, t->waited[c]);
        SAME(t, r->channels[c].packets, t->channels[c].packets);
        SAME(t, r->channels[c].bytes, t->channels[c].bytes);
    }
    for (uint32_t p = 0; p < t->num_packets; p++) {
        const oracle_packet *o = &t->packets[p];
        sv_sim_terminal *to = &all[t->c.r->node[o->destination].i - t->c.f->num_switches];
        if (o->granted[0] != SV_NEVER)
            all[t->c.messages[o->message].from].sent_bytes += o->payload;
        if (o->arrived == SV_NEVER)
            continue;
        to->received_bytes += o->payload;
        to->last = o->arrived > to->last ? o->arrived : to->last;
    }
    for (uint32_t i = 0; i < t->c.num_messages; i++)
        all[t->c.r->node[t->c.messages[i].destination].i - t->c.f->num_switches].messages +=
            t->heard_at[i] != SV_NEVER;
    for (uint32_t i = 0; i < t->c.f->num_terminals; i++) {
        SAME(t, r->terminals[i].sent_bytes, all[i].sent_bytes);
        SAME(t, r->terminals[i].received_bytes, all[i].received_bytes);
        SAME(t, r->terminals[i].messages, all[i].messages);
        SAME(t, r->terminals[i].last, all[i].last);
    }
    free(all);
}

/* All arrivals that the oracle knows have been told. */
static void compare_arrivals(const struct trial *t)
{
    for (uint32_t i = 0; i < t->room_arrived; i++)
        if (t->arrived[i] != SV_NEVER && t->arrived[i] != t->seen[i])
            fail_msg("seed %llu: packet %u arrived at %llu, should be %llu",
                     (unsigned long long)t->seed, i, (unsigned long long)t->seen[i],
                     (unsigned long long)t->arrived[i]);
}

/* What all trials had. */
struct tally {
    uint32_t ends[3];
    uint64_t events[SIM_EVENTS], control, detours, early, cut, seen_early;
};

/*
 * The fast one may end by a deadlock though the timer has more to do, when that is all that is left
 * (rule 33). Then it must be as if nothing more had been planned.
 */
static void cut_timers(struct trial *t, const sv_sim_result *r, oracle_end *end)
{
    if (t->told == t->expected.count || r->end != SV_SIM_DEADLOCK)
        return;
    const sim_record *next = &t->expected.all[t->told];
    t->early_end = next->what != SIM_TIMER;
    if (t->early_end && (t->c.patient || r->packet_hops < 4096))
        fail_msg("seed %llu: ended before\n  %s", (unsigned long long)t->seed,
                 sim_record_text(next));
    if (t->early_end)
        return;
    t->limit_of_timers = next->value[0];
    choosing_forget(t);
    *end = choosing_run_oracle(t);
}

static void run_fast(struct trial *t, sv_sim_result **result)
{
    const sv_sim_watch watch = {t, injected, granted, arrived, stuck, NULL};
    const sv_sim_source source = {.user = t, .next = next_message, .arrived = message_arrived};
    const sv_sim_policy policy = {.user = t,
                                  .segments = t->c.segments,
                                  .adaptive = t->c.adaptive,
                                  .header_bytes = t->c.policy_bytes,
                                  .by_packet = t->mind.by_packet,
                                  .patience = t->mind.patience,
                                  .first = t->mind.first,
                                  .choose = t->mind.has[SIM_CHOOSE] ? fast_choose : NULL,
                                  .depart = t->mind.has[SIM_DEPART] ? fast_depart : NULL,
                                  .deliver = t->mind.has[SIM_DELIVER] ? fast_deliver : NULL,
                                  .timer = t->mind.has[SIM_TIMER] ? fast_timer : NULL};
    const sv_sim_setup setup = {.model = t->c.model,
                                .control = {.limit = t->c.limit, .ignore_stuck = t->c.patient},
                                .source = &source,
                                .watch = &watch,
                                .policy = &policy};
    OK(ctx, sv_simulate(ctx, t->c.f, t->c.r, &setup, result));
}

static void one(uint64_t number, struct tally *tally)
{
    struct trial t = {.seed = number, .limit_of_timers = SV_NEVER};
    sv_sim_result *result = NULL;
    t.c = sim_case_draw_choosing(ctx, number);
    t.mind = sim_mind_draw(&t.c, number);
    /* Whoever has no hook for what happens to packets may hear of messages when it is known that
     * they will arrive. */
    t.in_order = t.mind.has[SIM_DELIVER] || t.mind.has[SIM_DEPART];
    choosing_make(&t);
    oracle_end end = choosing_run_oracle(&t);
    choosing_hold_back(&t);
    run_fast(&t, &result);
    cut_timers(&t, result, &end);
    if (t.told < t.expected.count && !t.early_end)
        fail_msg("seed %llu: ended before\n  %s", (unsigned long long)number,
                 sim_record_text(&t.expected.all[t.told]));
    static const sv_sim_end ends[] = {SV_SIM_COMPLETED, SV_SIM_DEADLOCK, SV_SIM_LIMIT};
    SAME(&t, result->end, ends[end]);
    if (!t.early_end) {
        compare_arrivals(&t);
        compare_totals(&t, result);
        compare_parts(&t, result);
    }
    compare_stuck(&t, result);
    tally->ends[end]++;
    tally->seen_early += t.early_end;
    for (uint32_t i = 0; i < t.expected.count; i++)
        tally->events[t.expected.all[i].what]++;
    tally->control += t.counts.control_packets;
    tally->detours += t.counts.detours;
    tally->early += t.counts.early;
    tally->cut += t.limit_of_timers != SV_NEVER;
    sv_sim_free(result);
    choosing_release(&t);
}

static void both_agree_on_policies(void **state)
{
    (void)state;
    struct tally all = {0};
    for (present = seed; present < seed + trials; present++)
        one(present, &all);
    print_message(
        "%u completed, %u deadlocks, %u limits; %llu control packets, %llu detours, %llu "
        "early; hooks: %llu choose, %llu depart, %llu deliver, %llu timer; %llu cut, %llu "
        "seen early\n",
        all.ends[0], all.ends[1], all.ends[2], (unsigned long long)all.control,
        (unsigned long long)all.detours, (unsigned long long)all.early,
        (unsigned long long)all.events[SIM_CHOOSE], (unsigned long long)all.events[SIM_DEPART],
        (unsigned long long)all.events[SIM_DELIVER], (unsigned long long)all.events[SIM_TIMER],
        (unsigned long long)all.cut, (unsigned long long)all.seen_early);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_agree_on_policies)};
    trials = test_trials(argc, argv, trials);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed)
        fprintf(stderr, "both disagree: oracle_test_sim_policy 1 %llu\n",
                (unsigned long long)present);
    sv_ctx_free(ctx);
    return failed;
}
