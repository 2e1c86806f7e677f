/*
 * test_sim_policy.c: the fast simulator against the one that moves block by block, where packets
 * choose their way (rules 25 to 33): small random fabrics, tables, buffers and messages, and a
 * random policy (sim_policy.c) that is the same for both. Every injection, grant, call of a hook,
 * what hooks see and what sources hear must come in the same order with the same values; then
 * arrivals, totals and packets that are stuck.
 *
 *     oracle_test_sim_policy [TRIALS [SEED]]
 *
 * mutate_sim.py shows that wrong versions of the fast one do not come through.
 */
#include "sim_policy.h"
#include "support/testing.h"

static sv_ctx *ctx;
static uint32_t trials = 1000;
static uint64_t seed = 1, present; /* the first, and that of the trial under way */

struct trial {
    sim_case c;
    sim_mind mind;
    uint64_t seed;
    uint32_t num_packets;
    oracle_packet *packets;
    oracle_hop *hops;
    uint32_t *first_packet; /* [messages]: of the oracle's */
    uint64_t *heard_at;     /* [messages] */
    bool in_order;          /* what sources hear comes in its tick */
    uint32_t *next;         /* [terminals]: the message it sends next */
    uint32_t *after;        /* [messages]: it is not told before so many have arrived there */
    uint32_t *heard;        /* [terminals]: messages that have arrived there */
    uint64_t *arrived;      /* [room_arrived]: of packets and control packets, by number */
    uint64_t *seen;         /* [room_arrived]: the same, as the fast one tells it */
    uint32_t room_arrived, num_arrived;

    oracle_counts counts;
    sv_sim_channel *channels; /* as the fast one counts */
    uint64_t *waited;         /* [channels]: of packets that were granted */
    sim_log expected;
    uint32_t told; /* of those the fast one has done */
    oracle_stuck *stuck;
    uint32_t num_stuck;
    uint64_t limit_of_timers;
    bool early_end; /* the fast one has seen a deadlock while others moved */
};

/* ---- the oracle's side ---- */

static uint32_t channel_of(const struct trial *t, uint32_t node, uint32_t port)
{
    return sv_channel_at(t->c.f, (sv_node){node}, port).i;
}

static uint32_t node_of(void *user, uint32_t target)
{
    return ((struct trial *)user)->c.r->node[target].i;
}

static uint32_t port_to(void *user, uint32_t node, uint32_t target)
{
    return sv_route_port(((struct trial *)user)->c.r, (sv_node){node}, target);
}

static uint8_t sl_of(void *user, uint32_t from, uint32_t target)
{
    return (uint8_t)sv_route_sl(((struct trial *)user)->c.r, (sv_node){from}, target);
}

static uint8_t lane_of(void *user, uint32_t node, uint32_t in, uint32_t out, uint8_t sl)
{
    const struct trial *t = user;
    return sv_route_lanes(t->c.r, t->c.f, (sv_node){node}, in, out)->of_sl[sl];
}

static void slow_send(void *stage, uint32_t from, uint32_t destination, uint32_t bytes,
                      uint64_t ready, uint32_t mark, uint32_t note)
{
    oracle_send(stage, from, destination, bytes, ready, mark, note);
}

static void slow_call(void *stage, uint64_t time)
{
    oracle_call(stage, time);
}

static const struct trial *slow; /* of the trial under way: the oracle's stage knows no channels */

static uint64_t slow_backlog(void *stage, sv_channel c)
{
    return oracle_backlog(stage, slow->c.f->tail[c.i].i, slow->c.f->port[c.i]);
}

static uint32_t slow_waiting_for(void *stage, sv_channel c, sv_sim_waiting *waiting, uint32_t most)
{
    const sv_fabric *f = slow->c.f;
    oracle_waiting found[8];
    uint32_t count = oracle_waiting_for(stage, f->tail[c.i].i, f->port[c.i], found, most);
    for (uint32_t i = 0; i < count; i++)
        waiting[i] =
            (sv_sim_waiting){found[i].from - f->num_switches, found[i].to - f->num_switches,
                             found[i].bytes, found[i].since};
    return count;
}

static void slow_note(void *user, const sim_record *record)
{
    sim_log_add(&((struct trial *)user)->expected, record);
}

static sim_world slow_world(struct trial *t, oracle_stage *stage)
{
    return (sim_world){.c = &t->c,
                       .mind = &t->mind,
                       .stage = stage,
                       .send = slow_send,
                       .call = slow_call,
                       .backlog = slow_backlog,
                       .waiting_for = slow_waiting_for,
                       .user = t,
                       .note = slow_note};
}

static sv_sim_message message_of(const struct trial *t, uint32_t i)
{
    const sim_message *m = &t->c.messages[i];
    return (sv_sim_message){m->ready, m->destination, m->bytes, i};
}

static sv_sim_head head_of(const oracle_head *head)
{
    return (sv_sim_head){.way = {.via = {head->way.via[0], head->way.via[1]},
                                 .vias = (uint8_t)head->way.vias,
                                 .mark = head->way.mark},
                         .from = {head->from},
                         .destination = head->destination,
                         .bytes = head->bytes,
                         .tag = head->control ? 0 : head->message,
                         .sequence = head->sequence,
                         .injected = head->injected,
                         .waited = head->waited,
                         .note = head->note,
                         .segment = (uint8_t)head->segment,
                         .control = head->control,
                         .last = head->last};
}

static void slow_choose(void *user, oracle_stage *stage, uint64_t now, uint32_t packet,
                        oracle_way *way)
{
    struct trial *t = user;
    sim_world w = slow_world(t, stage);
    uint32_t i = t->packets[packet].message;
    if (!t->mind.has[SIM_CHOOSE])
        return;
    const sv_sim_message m = message_of(t, i);
    sv_sim_way chosen = {0};
    sim_choose(&w, now, t->c.messages[i].from, &m,
               (packet - t->first_packet[i]) * t->c.model.mtu_bytes, &chosen);
    *way = (oracle_way){{chosen.via[0], chosen.via[1]}, chosen.vias, chosen.mark};
}

static void slow_depart(void *user, oracle_stage *stage, uint64_t now, uint32_t node,
                        uint32_t out_port, uint64_t waited, oracle_head *head)
{
    sim_world w = slow_world(user, stage);
    sv_sim_head copy = head_of(head);
    if (!w.mind->has[SIM_DEPART])
        return;
    sim_depart(&w, now, (sv_channel){channel_of(user, node, out_port)}, waited, &copy);
    head->note = copy.note;
}

static void make_room(struct trial *t, uint32_t number)
{
    uint32_t room = number < t->room_arrived ? t->room_arrived : 2 * (number + 1);
    t->arrived = realloc(t->arrived, room * sizeof *t->arrived);
    t->seen = realloc(t->seen, room * sizeof *t->seen);
    for (; t->room_arrived < room; t->room_arrived++)
        t->arrived[t->room_arrived] = t->seen[t->room_arrived] = SV_NEVER;
}

static void slow_deliver(void *user, oracle_stage *stage, uint64_t now, uint32_t node,
                         oracle_head *head)
{
    sim_world w = slow_world(user, stage);
    sv_sim_head copy = head_of(head);
    struct trial *t = user;
    make_room(t, head->number);
    t->arrived[head->number] = now;
    t->num_arrived++;
    if (!t->mind.has[SIM_DELIVER])
        return;
    sim_deliver(&w, now, node - t->c.f->num_switches, &copy);
    head->note = copy.note;
}

static void slow_timer(void *user, oracle_stage *stage, uint64_t now, uint64_t *again)
{
    struct trial *t = user;
    sim_world w = slow_world(t, stage);
    if (now < t->limit_of_timers && t->mind.has[SIM_TIMER])
        sim_timer(&w, now, again);
}

static void slow_injected(void *user, const oracle_head *head, uint64_t now)
{
    struct trial *t = user;
    const sim_record record = {SIM_INJECTED,
                               {head->number, head->from - t->c.f->num_switches,
                                head->control ? head->way.mark : head->message, now}};
    sim_log_add(&t->expected, &record);
}

static void slow_granted(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                         uint32_t lane, uint64_t now, uint64_t waited)
{
    struct trial *t = user;
    t->waited[channel_of(t, node, out_port)] += waited;
    const sim_record record = {SIM_GRANTED,
                               {head->number, channel_of(t, node, out_port), lane, now}};
    sim_log_add(&t->expected, &record);
}

static void slow_started(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                         uint64_t waited)
{
    struct trial *t = user;
    sv_sim_channel *c = &t->channels[channel_of(t, node, out_port)];
    c->waited += waited;
    c->packets++;
    c->bytes += head->bytes;
}

static sim_record hearing(const struct trial *t, uint32_t message, uint64_t now, uint64_t injected)
{
    const sim_message *m = &t->c.messages[message];
    return (sim_record){SIM_HEARD,
                        {message, now, m->from,
                         t->c.r->node[m->destination].i - t->c.f->num_switches, m->bytes, injected,
                         m->ready}};
}

static void slow_heard(void *user, uint32_t message, uint64_t now)
{
    struct trial *t = user;
    t->heard_at[message] = now;
    /* When its first packet was injected is put in afterwards. */
    const sim_record record = hearing(t, message, now, 0);
    if (t->in_order)
        sim_log_add(&t->expected, &record);
}

static void slow_stuck(void *user, const oracle_stuck *stuck)
{
    struct trial *t = user;
    t->stuck = realloc(t->stuck, (t->num_stuck + 1) * sizeof *t->stuck);
    t->stuck[t->num_stuck++] = *stuck;
}

/* ---- running it ---- */

static void make_packets(struct trial *t)
{
    const sv_sim_model *m = &t->c.model;
    uint32_t room = 0;
    for (uint32_t i = 0; i < t->c.num_messages; i++)
        room += t->c.messages[i].bytes / m->mtu_bytes + 1;
    t->packets = calloc(room + 1, sizeof *t->packets);
    t->hops = calloc(room + 1, sizeof *t->hops);
    t->channels = calloc(t->c.f->num_channels, sizeof *t->channels);
    t->waited = calloc(t->c.f->num_channels, sizeof *t->waited);
    t->first_packet = calloc(t->c.num_messages, sizeof *t->first_packet);
    t->heard_at = calloc(t->c.num_messages, sizeof *t->heard_at);
    t->after = calloc(t->c.num_messages, sizeof *t->after);
    t->heard = calloc(t->c.f->num_terminals, sizeof *t->heard);
    t->next = calloc(t->c.f->num_terminals, sizeof *t->next);
    for (uint32_t i = 0; i < t->c.num_messages; i++) {
        const sim_message *from = &t->c.messages[i];
        uint32_t left = from->bytes;
        t->heard_at[i] = SV_NEVER;
        t->first_packet[i] = t->num_packets;
        if (i == 0 || from->from != from[-1].from)
            t->next[from->from] = i;
        do {
            uint32_t part = left < m->mtu_bytes ? left : m->mtu_bytes, p = t->num_packets++;
            t->hops[p] = (oracle_hop){t->c.f->num_switches + from->from, 1, 0};
            t->packets[p] = (oracle_packet){.ready = from->ready,
                                            .message = i,
                                            .length = part + m->header_bytes + t->c.policy_bytes,
                                            .payload = part,
                                            .destination = from->destination,
                                            .num_hops = 1,
                                            .hops = &t->hops[p]};
            left -= part;
        } while (left > 0);
    }
}

/* Rule 1. */
static uint64_t ticks_of(const sv_sim_model *m, const sv_link *link)
{
    static const uint64_t of_four[] = {450, 1800, 900, 450, 360, 264, 144, 72, 36, 18};
    return (m->byte_ticks > 0 ? m->byte_ticks : of_four[link->speed]) * 4 / link->width;
}

static oracle_params params_of(struct trial *t, const oracle_policy *policy)
{
    const sv_sim_model *m = &t->c.model;
    return (oracle_params){.cable = m->cable,
                           .credit = m->credit,
                           .switch_delay = m->switch_delay,
                           .input = m->input,
                           .output = m->output,
                           .speedup = m->speedup,
                           .ways = m->ways,
                           .lanes = m->lanes,
                           .inject = m->inject,
                           .drain = m->drain,
                           .pause = m->pause,
                           .period = m->period,
                           .open = m->open,
                           .inband = m->inband_bytes,
                           .voq = m->voq,
                           .limit = t->c.limit,
                           .policy = policy,
                           .counts = &t->counts};
}

static oracle_policy policy_of(struct trial *t)
{
    return (oracle_policy){.user = t,
                           .segments = t->c.segments,
                           .adaptive = t->c.adaptive,
                           .lanes = t->c.table_lanes,
                           .by_packet = t->mind.by_packet,
                           .patience = t->mind.patience,
                           .first = t->mind.first,
                           .node = node_of,
                           .port = port_to,
                           .sl = sl_of,
                           .lane = lane_of,
                           .choose = slow_choose,
                           .depart = slow_depart,
                           .deliver = slow_deliver,
                           .timer = slow_timer,
                           .injected = slow_injected,
                           .granted = slow_granted,
                           .started = slow_started,
                           .heard = slow_heard,
                           .stuck = slow_stuck};
}

static oracle_end run_oracle(struct trial *t)
{
    const sv_fabric *f = t->c.f;
    uint32_t ports[8], num_cables = 0;
    oracle_cable *cables = calloc(f->num_channels + 1, sizeof *cables);
    for (uint32_t s = 0; s < f->num_switches; s++)
        ports[s] = f->switches[s].ports;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_is_cable(f, (sv_channel){c}) && sv_channel_alive(f, (sv_channel){c}))
            cables[num_cables++] =
                (oracle_cable){f->tail[c].i, f->port[c], f->head[c].i, f->port[f->reverse[c].i],
                               ticks_of(&t->c.model, sv_link_of(f, (sv_channel){c}))};
    const oracle_policy policy = policy_of(t);
    const oracle_params params = params_of(t, &policy);
    slow = t;
    oracle_end end = oracle_run(&params, f->num_switches, ports, f->num_terminals, cables,
                                num_cables, t->packets, t->num_packets);
    free(cables);
    for (uint32_t i = 0; i < t->expected.count; i++) {
        sim_record *r = &t->expected.all[i];
        if (r->what == SIM_HEARD)
            r->value[5] = t->packets[t->first_packet[r->value[0]]].granted[0];
    }
    return end;
}

/* Before it is run again. */
static void forget(struct trial *t)
{
    for (uint32_t p = 0; p < t->num_packets; p++) {
        free(t->packets[p].hops);
        free(t->packets[p].granted);
        t->packets[p].num_hops = 1;
        t->packets[p].hops = &t->hops[p];
    }
    for (uint32_t i = 0; i < t->room_arrived; i++)
        t->arrived[i] = SV_NEVER;
    memset(t->channels, 0, t->c.f->num_channels * sizeof *t->channels);
    memset(t->waited, 0, t->c.f->num_channels * sizeof *t->waited);
    t->expected.count = t->num_stuck = t->num_arrived = 0;
}

/*
 * For a source that does not tell its messages beforehand: which of them can wait until something
 * has been heard at their terminal, since that is before they are ready.
 */
static void hold_back(struct trial *t)
{
    for (uint32_t i = 0; i < t->c.num_messages && t->c.reluctant; i++)
        for (uint32_t k = 0; k < t->c.num_messages; k++)
            if (t->c.r->node[t->c.messages[k].destination].i ==
                t->c.f->num_switches + t->c.messages[i].from)
                t->after[i] += t->heard_at[k] <= t->c.messages[i].ready;
}

/* ---- the fast one's ---- */

/* Something happened: it must be what is next in the log. */
static void fast_note(void *user, const sim_record *record)
{
    struct trial *t = user;
    if (t->told >= t->expected.count)
        fail_msg("seed %llu: more than there should be: %s", (unsigned long long)t->seed,
                 sim_record_text(record));
    const sim_record *right = &t->expected.all[t->told++];
    if (memcmp(right, record, sizeof *right) != 0)
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

static uint32_t fast_waiting_for(void *stage, sv_channel c, sv_sim_waiting *waiting, uint32_t most)
{
    return sv_sim_waiting_for(stage, c, waiting, most);
}

static sim_world fast_world(struct trial *t, sv_sim_stage *stage)
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

static sv_status fast_choose(void *user, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                             const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sim_world w = fast_world(user, stage);
    sim_choose(&w, now, terminal, message, offset, way);
    return SV_OK;
}

static sv_status fast_depart(void *user, sv_sim_stage *stage, uint64_t now, sv_channel out,
                             uint64_t waited, sv_sim_head *head)
{
    sim_world w = fast_world(user, stage);
    sim_depart(&w, now, out, waited, head);
    return SV_OK;
}

static sv_status fast_deliver(void *user, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                              sv_sim_head *head)
{
    sim_world w = fast_world(user, stage);
    sim_deliver(&w, now, terminal, head);
    return SV_OK;
}

static sv_status fast_timer(void *user, sv_sim_stage *stage, uint64_t now, uint64_t *again)
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
    *message = message_of(t, i);
    return true;
}

static void message_arrived(void *user, const sv_sim_arrival *a)
{
    struct trial *t = user;
    const sim_record record = {SIM_HEARD,
                               {a->tag, a->time, a->from, a->to, a->bytes, a->injected, a->ready}};
    uint64_t first = t->packets[t->first_packet[a->tag]].granted[0];
    const sim_record right = hearing(t, a->tag, t->heard_at[a->tag], first);
    if (t->in_order)
        fast_note(t, &record);
    else if (t->heard_at[a->tag] != SV_NEVER && memcmp(&right, &record, sizeof right) != 0)
        fail_msg("seed %llu: %s, should be\n  %s", (unsigned long long)t->seed,
                 sim_record_text(&record), sim_record_text(&right));
    t->heard[a->to]++;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    const sim_record record = {SIM_INJECTED, {packet, terminal, tag, time}};
    fast_note(user, &record);
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned lane, uint64_t time)
{
    const sim_record record = {SIM_GRANTED, {packet, out.i, lane, time}};
    fast_note(user, &record);
}

/* Arrivals are told when they are known; those after the end have not happened. */
static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct trial *t = user;
    make_room(t, packet);
    t->seen[packet] = time;
}

static void stuck(void *user, uint32_t packet, sv_channel in, unsigned lane)
{
    struct trial *t = user;
    for (uint32_t i = 0; i < t->num_stuck; i++) {
        const oracle_stuck *s = &t->stuck[i];
        uint32_t from = s->in_port == 0 ? SV_NONE : channel_of(t, s->in_node, s->in_port);
        if (s->head.number == packet && from == in.i && s->lane == lane)
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
    uint32_t in = o->in_port == 0 ? SV_NONE : channel_of(t, o->in_node, o->in_port);
    if (s->behind != o->behind && !t->early_end)
        return false;
    return s->in.i == in && s->out.i == channel_of(t, o->node, o->out_port) && s->lane == o->lane &&
           s->out_lane == o->out_lane && s->from + t->c.f->num_switches == o->head.from &&
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
    SAME(t, r->early_most, t->counts.early_most);
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

static void release(struct trial *t)
{
    for (uint32_t p = 0; p < t->num_packets; p++) {
        free(t->packets[p].hops);
        free(t->packets[p].granted);
    }
    free(t->packets);
    free(t->hops);
    free(t->first_packet);
    free(t->heard_at);
    free(t->next);
    free(t->after);
    free(t->heard);
    free(t->arrived);
    free(t->seen);
    free(t->channels);
    free(t->waited);
    free(t->expected.all);
    free(t->stuck);
    sim_case_release(&t->c);
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
    forget(t);
    *end = run_oracle(t);
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
    make_packets(&t);
    oracle_end end = run_oracle(&t);
    hold_back(&t);
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
    release(&t);
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
    trials = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : trials;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed)
        fprintf(stderr, "both disagree: oracle_test_sim_policy 1 %llu\n",
                (unsigned long long)present);
    sv_ctx_free(ctx);
    return failed;
}
