/*
 * test_sim.c: the fast simulator against the one that moves block by block: small random fabrics,
 * tables, buffers, speeds and messages; every injection, grant and arrival must come at the same
 * tick, and the same packets must be stuck. Then as many with tables that change, where the same
 * incidents must befall the same packets.
 *
 *     oracle_test_sim [TRIALS [SEED [still|changing]]]
 *
 * mutate_sim.py shows that mutants of the fast one do not come through.
 */
#include "sim_trial.h"
#include "support/testing.h"
#include "support/trials.h"

static sv_ctx *ctx;
static uint32_t trials = 1000;
static uint64_t seed = 1, present; /* the first, and that of the trial under way */

/* ---- the oracle's side ---- */

static void make_packet(struct trial *t, const sim_message *m, uint32_t payload)
{
    oracle_packet *p = &t->packets[t->num_packets];
    sv_hop_taken taken[MAX_HOPS];
    uint32_t count = 1;
    sv_node at, from = {t->c.f->num_switches + m->from};
    taken[0].channel = t->c.f->hops[t->c.f->first[from.i]].channel;
    taken[0].vl = 0;
    if (!t->c.changing)
        assert_int_equal(sv_routes_trace(t->c.f, t->c.r, from, m->destination,
                                         sv_route_sl(t->c.r, from, m->destination), taken, MAX_HOPS,
                                         &count, &at),
                         SV_TRACE_ARRIVED);
    oracle_hop *hops = t->hops + (size_t)t->num_packets * MAX_HOPS;
    for (uint32_t k = 0; k < count; k++)
        hops[k] = (oracle_hop){t->c.f->tail[taken[k].channel.i].i, t->c.f->port[taken[k].channel.i],
                               taken[k].vl};
    *p = (oracle_packet){.ready = m->ready,
                         .message = (uint32_t)(m - t->c.messages),
                         .length = payload + t->c.model.header_bytes,
                         .num_hops = count,
                         .hops = hops,
                         .granted = t->granted + (size_t)t->num_packets * MAX_HOPS};
    t->num_packets++;
}

static void make_packets(struct trial *t)
{
    uint32_t room = 0, mtu = t->c.model.mtu_bytes;
    for (uint32_t i = 0; i < t->c.num_messages; i++)
        room += t->c.messages[i].bytes / mtu + 1;
    t->packets = calloc(room + 1, sizeof *t->packets);
    t->hops = calloc((size_t)(room + 1) * MAX_HOPS, sizeof *t->hops);
    t->granted = calloc((size_t)(room + 1) * MAX_HOPS, sizeof *t->granted);
    t->first_packet = calloc(t->c.num_messages + 1, sizeof *t->first_packet);
    t->sent = calloc(t->c.num_messages + 1, sizeof *t->sent);
    t->packet_of = calloc(room + 1, sizeof *t->packet_of);
    t->after = calloc(t->c.num_messages, sizeof *t->after);
    t->heard = calloc(t->c.f->num_terminals, sizeof *t->heard);
    t->next = calloc(t->c.f->num_terminals, sizeof *t->next);
    for (uint32_t i = 0; i < t->c.num_messages; i++) {
        uint32_t left = t->c.messages[i].bytes;
        t->first_packet[i] = t->num_packets;
        if (i == 0 || t->c.messages[i].from != t->c.messages[i - 1].from)
            t->next[t->c.messages[i].from] = i;
        do {
            uint32_t part = left < mtu ? left : mtu;
            make_packet(t, &t->c.messages[i], part);
            left -= part;
        } while (left > 0);
    }
    t->destination = calloc(t->c.num_messages, sizeof *t->destination);
    t->sl = calloc(t->c.num_messages, sizeof *t->sl);
    t->seen = calloc(t->num_packets + 1, sizeof *t->seen);
    for (uint32_t p = 0; p < t->num_packets; p++)
        t->seen[p].arrived = UINT64_MAX;
}

static uint64_t arrival_of(const struct trial *t, uint32_t message)
{
    uint32_t next = message + 1 < t->c.num_messages ? t->first_packet[message + 1] : t->num_packets;
    return t->packets[next - 1].arrived;
}

/*
 * For a source that does not tell its messages beforehand: which of them can wait until something
 * has arrived at their terminal, since that is before they are ready.
 */
static void hold_back(struct trial *t)
{
    for (uint32_t i = 0; i < t->c.num_messages && t->c.reluctant; i++)
        for (uint32_t k = 0; k < t->c.num_messages; k++)
            if (t->c.r->node[t->c.messages[k].destination].i ==
                t->c.f->num_switches + t->c.messages[i].from)
                t->after[i] += arrival_of(t, k) <= t->c.messages[i].ready;
}

static oracle_end run_oracle(struct trial *t)
{
    const sv_sim_model *m = &t->c.model;
    uint32_t ports[8], num_cables;
    oracle_cable *cables = sim_case_cables(&t->c, ports, &num_cables);
    oracle_tables tables[2];
    oracle_entry entries[4][64];
    const oracle_tables *given[2];
    for (int who = SV_VLARB_CA; who <= SV_VLARB_SWE; who++) {
        const sv_vlarb *v = &t->c.r->vlarb[who];
        for (int i = 0; i < v->high.length; i++)
            entries[2 * who][i] = (oracle_entry){v->high.vl[i], v->high.weight[i]};
        for (int i = 0; i < v->low.length; i++)
            entries[2 * who + 1][i] = (oracle_entry){v->low.vl[i], v->low.weight[i]};
        tables[who] = (oracle_tables){.high = entries[2 * who],
                                      .low = entries[2 * who + 1],
                                      .num_high = v->high.length,
                                      .num_low = v->low.length,
                                      .limit = v->high_limit};
        given[who] = m->weighted && v->given ? &tables[who] : NULL;
    }
    oracle_params params = sim_case_params(&t->c);
    params.switch_tables = given[SV_VLARB_SWE];
    params.adapter_tables = given[SV_VLARB_CA];
    oracle_end end = trial_run_oracle(t, &params, ports, cables, num_cables);
    free(cables);
    return end;
}

/* ---- the fast one's ---- */

static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct trial *t = user;
    uint32_t i = t->next[terminal];
    const sim_message *m = &t->c.messages[i];
    if (i >= t->c.num_messages || m->from != terminal || t->heard[terminal] < t->after[i])
        return false;
    t->next[terminal]++;
    *message = (sv_sim_message){m->ready, m->destination, m->bytes, i};
    return true;
}

static void message_arrived(void *user, const sv_sim_arrival *arrival)
{
    struct trial *t = user;
    const sim_message *m = &t->c.messages[arrival->tag];
    const oracle_packet *first = &t->packets[t->first_packet[arrival->tag]];
    assert_int_equal(arrival->ready, m->ready);
    assert_int_equal(arrival->from, m->from);
    assert_int_equal(arrival->bytes, m->bytes);
    assert_int_equal(arrival->to + t->c.f->num_switches, t->c.r->node[m->destination].i);
    assert_int_equal(arrival->injected, first->granted[0]);
    if (arrival->time < t->c.limit)
        assert_int_equal(arrival->time, arrival_of(t, arrival->tag));
    t->heard[arrival->to]++;
    if (t->stage && t->c.calls)
        sv_sim_call(t->stage, arrival->time);
}

static void move(struct trial *t, uint32_t packet, uint64_t time)
{
    uint32_t p = t->packet_of[packet];
    struct seen *seen = &t->seen[p];
    uint64_t right = seen->hops < t->packets[p].num_hops ? t->packets[p].granted[seen->hops] : 0;
    if (time != right)
        fail_msg("seed %llu: packet %u hop %u: granted at %llu, should be %llu",
                 (unsigned long long)t->seed, p, seen->hops, (unsigned long long)time,
                 (unsigned long long)right);
    if (seen->hops == seen->room) {
        seen->room = seen->room ? 2 * seen->room : 8;
        seen->granted = realloc(seen->granted, seen->room * sizeof *seen->granted);
    }
    seen->granted[seen->hops++] = time;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    struct trial *t = user;
    assert_int_equal(t->c.messages[tag].from, terminal);
    assert_in_range(packet, 0, t->num_packets - 1);
    assert_in_range(t->first_packet[tag] + t->sent[tag], 0, t->num_packets - 1);
    t->packet_of[packet] = t->first_packet[tag] + t->sent[tag]++;
    move(t, packet, time);
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    const struct trial *t = user;
    const struct seen *seen = &t->seen[t->packet_of[packet]];
    const oracle_hop *hop = &t->packets[t->packet_of[packet]].hops[seen->hops];
    assert_true(seen->hops < t->packets[t->packet_of[packet]].num_hops);
    assert_int_equal(hop->node, t->c.f->tail[out.i].i);
    assert_int_equal(hop->out_port, t->c.f->port[out.i]);
    assert_int_equal(hop->vl, vl);
    move(user, packet, time);
}

/* Arrivals are told when they are known; those at the limit or later have not happened. */
static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct trial *t = user;
    if (time < t->c.limit)
        t->seen[t->packet_of[packet]].arrived = time;
}

static void stuck(void *user, uint32_t packet, sv_channel in, unsigned vl)
{
    struct trial *t = user;
    struct seen *seen = &t->seen[t->packet_of[packet]];
    const oracle_hop *hop = &t->packets[t->packet_of[packet]].hops[seen->hops - 1];
    assert_int_equal(hop->node, t->c.f->tail[in.i].i);
    assert_int_equal(hop->out_port, t->c.f->port[in.i]);
    assert_int_equal(hop->vl, vl);
    assert_false(seen->stuck);
    seen->stuck = true;
}

/* ---- comparing ---- */

static void compare(const struct trial *t, uint64_t number)
{
    for (uint32_t p = 0; p < t->num_packets; p++) {
        const oracle_packet *o = &t->packets[p];
        const struct seen *s = &t->seen[p];
        assert_true(s->hops <= o->num_hops);
        for (uint32_t k = 0; k < o->num_hops; k++) {
            uint64_t mine = k < s->hops ? s->granted[k] : UINT64_MAX;
            if (mine != o->granted[k])
                fail_msg("seed %llu: packet %u hop %u: granted at %llu, should be %llu",
                         (unsigned long long)number, p, k, (unsigned long long)mine,
                         (unsigned long long)o->granted[k]);
        }
        if (s->arrived != o->arrived)
            fail_msg("seed %llu: packet %u arrived at %llu, should be %llu",
                     (unsigned long long)number, p, (unsigned long long)s->arrived,
                     (unsigned long long)o->arrived);
        if (s->stuck != o->stuck)
            fail_msg("seed %llu: packet %u stuck %d, should be %d", (unsigned long long)number, p,
                     s->stuck, o->stuck);
    }
}

/* Packets that can never move stand where the oracle has them, and want to go there. */
static void compare_stuck(const struct trial *t, const sv_sim_result *r)
{
    uint32_t left = 0;
    for (uint32_t p = 0; p < t->num_packets; p++)
        left += t->packets[p].stuck;
    assert_int_equal(r->num_stuck, left);
    for (uint32_t p = 0; p < t->num_packets; p++) {
        const oracle_packet *o = &t->packets[p];
        const oracle_hop *in = &o->hops[t->seen[p].hops - 1], *out = in + 1;
        uint32_t to =
            t->c.changing ? t->destination[o->message] : t->c.messages[o->message].destination;
        for (uint32_t i = 0; o->stuck && i < r->num_stuck; i++) {
            const sv_sim_stuck *s = &r->stuck[i];
            const sv_fabric *f = t->c.f;
            if (f->tail[s->in.i].i == in->node && f->port[s->in.i] == in->out_port &&
                s->vl == in->vl && f->tail[s->out.i].i == out->node &&
                f->port[s->out.i] == out->out_port && s->out_vl == out->vl &&
                s->from == t->c.messages[o->message].from && s->destination == to) {
                left--;
                break;
            }
        }
    }
    assert_int_equal(left, 0);
}

/* What the fast one counts of packets and messages that have come that far before the limit. */
static void compare_totals(const struct trial *t, const sv_sim_result *r)
{
    uint64_t injected = 0, hops = 0, packets = 0, bytes = 0, messages = 0, latency = 0, total = 0;
    for (uint32_t p = 0; p < t->num_packets; p++) {
        const oracle_packet *o = &t->packets[p];
        injected += o->granted[0] != UINT64_MAX;
        for (uint32_t k = 1; k < o->num_hops; k++)
            hops += o->granted[k] != UINT64_MAX;
        packets += o->arrived != UINT64_MAX;
        bytes += o->arrived != UINT64_MAX ? o->length - t->c.model.header_bytes : 0;
    }
    for (uint32_t i = 0; i < t->c.num_messages; i++)
        if (arrival_of(t, i) != UINT64_MAX) {
            messages++;
            latency += arrival_of(t, i) - t->packets[t->first_packet[i]].granted[0];
            total += arrival_of(t, i) - t->c.messages[i].ready;
        }
    assert_int_equal(r->packets, injected);
    assert_int_equal(r->packet_hops, hops);
    assert_int_equal(r->arrived_packets, packets);
    assert_int_equal(r->arrived_messages, messages);
    assert_int_equal(r->payload_bytes, bytes);
    assert_int_equal(r->latency_sum, latency);
    assert_int_equal(r->total_sum, total);
}

/* Where all have arrived: when the last did, and what links have carried. */
static void compare_end(const struct trial *t, const sv_sim_result *r)
{
    uint64_t last = 0, sent = 0, carried = 0;
    for (uint32_t p = 0; p < t->num_packets; p++) {
        uint64_t arrived = t->packets[p].dropped ? 0 : t->packets[p].arrived;
        last = arrived > last ? arrived : last;
        sent += (uint64_t)t->packets[p].num_hops * t->packets[p].length;
    }
    for (uint32_t c = 0; c < t->c.f->num_channels; c++)
        carried += r->channels[c].bytes;
    assert_int_equal(r->time, last);
    if (r->incidents[SV_SIM_DROPPED] > 0) /* a link may start what is dropped after all is over */
        assert_in_range(carried, 0, sent);
    else
        assert_int_equal(carried, sent);
}

static void release(struct trial *t)
{
    trial_forget(t);
    for (uint32_t p = 0; p < t->num_packets; p++)
        free(t->seen[p].granted);
    free(t->destination);
    free(t->sl);
    free(t->expected.all);
    free(t->told.all);
    free(t->next);
    free(t->first_packet);
    free(t->sent);
    free(t->after);
    free(t->heard);
    free(t->packet_of);
    free(t->packets);
    free(t->hops);
    free(t->granted);
    free(t->seen);
    sim_case_release(&t->c);
}

/* After a deadlock nothing but the director's calls was left when it ended. */
static void compare_cut(const struct trial *t)
{
    for (uint32_t p = 0; p < t->num_packets; p++)
        for (uint32_t k = 0; k < t->packets[p].num_hops; k++)
            assert_true(t->packets[p].granted[k] < t->cut || t->packets[p].granted[k] == SV_NEVER);
}

/* What all trials had. */
struct tally {
    uint32_t ends[3];
    uint64_t with[3]; /* trials with a incident of this kind */
};

static void one(uint64_t number, bool changing, struct tally *tally)
{
    struct trial t = {.seed = number};
    sv_sim_result *result = NULL;
    t.c = sim_case_draw(ctx, number, changing);
    make_packets(&t);
    oracle_end end = run_oracle(&t);
    hold_back(&t);
    const sv_sim_watch watch = {&t, injected, granted, arrived, stuck, trial_incident};
    const sv_sim_source source = {.user = &t, .next = next_message, .arrived = message_arrived};
    const sv_sim_director director = trial_director(&t);
    const sv_sim_setup setup = {.model = t.c.model,
                                .control = {.limit = t.c.limit, .ignore_stuck = t.c.patient},
                                .source = &source,
                                .watch = &watch,
                                .director = changing ? &director : NULL};
    OK(ctx, sv_simulate(ctx, t.c.f, t.c.r, &setup, &result));
    if (changing && trial_cut(&t, result)) {
        end = run_oracle(&t);
        compare_cut(&t);
    }
    compare(&t, number);
    static const sv_sim_end ends[] = {SV_SIM_COMPLETED, SV_SIM_DEADLOCK, SV_SIM_LIMIT};
    if (result->end != ends[end])
        fail_msg("seed %llu: ended by %d, should be %d", (unsigned long long)number, result->end,
                 ends[end]);
    if (changing)
        trial_compare_incidents(&t, result);
    compare_totals(&t, result);
    compare_stuck(&t, result);
    if (end == ORACLE_COMPLETED)
        compare_end(&t, result);
    tally->ends[end]++;
    for (int what = 0; what < 3; what++)
        tally->with[what] += result->incidents[what] > 0;
    sv_sim_free(result);
    release(&t);
}

static void both_agree_to_the_tick(void **state)
{
    (void)state;
    struct tally all = {0};
    for (present = seed; present < seed + trials; present++)
        one(present, false, &all);
    print_message("%u completed, %u deadlocks, %u limits\n", all.ends[0], all.ends[1], all.ends[2]);
}

static void both_agree_on_changes(void **state)
{
    (void)state;
    struct tally all = {0};
    for (present = seed; present < seed + trials; present++)
        one(present, true, &all);
    print_message("%u completed, %u deadlocks, %u limits; %llu with drops, %llu with circles, %llu "
                  "with overtaking\n",
                  all.ends[0], all.ends[1], all.ends[2], (unsigned long long)all.with[0],
                  (unsigned long long)all.with[1], (unsigned long long)all.with[2]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest still[] = {cmocka_unit_test(both_agree_to_the_tick)};
    const struct CMUnitTest changing[] = {cmocka_unit_test(both_agree_on_changes)};
    trials = test_trials(argc, argv, trials);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    ctx = sv_ctx_new(NULL);
    int failed = 0;
    if (argc < 4 || strcmp(argv[3], "still") == 0)
        failed = cmocka_run_group_tests(still, NULL, NULL);
    if (!failed && (argc < 4 || strcmp(argv[3], "changing") == 0))
        failed = cmocka_run_group_tests(changing, NULL, NULL);
    if (failed)
        fprintf(stderr, "both disagree: oracle_test_sim 1 %llu\n", (unsigned long long)present);
    sv_ctx_free(ctx);
    return failed;
}
