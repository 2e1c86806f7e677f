/*
 * sim_choosing.c: the oracle's side of a trial with a policy: what sim_choosing.h says.
 *
 * Each hook of the oracle hands on to the same policy that the fast simulator has (sim_policy.c),
 * in that one's words, and what happens is added to the log that the fast one is held to.
 */
#include "sim_choosing.h"

#include "support/testing.h"

/* ---- hooks ---- */

uint32_t choosing_channel(const struct trial *t, uint32_t node, uint32_t port)
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

static uint8_t vl_of(void *user, uint32_t node, uint32_t in, uint32_t out, uint8_t sl)
{
    const struct trial *t = user;
    return sv_route_sl2vl(t->c.r, t->c.f, (sv_node){node}, in, out)->of_sl[sl];
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

static uint32_t slow_waiting_for(void *stage, sv_channel c, sv_sim_waiting *waiting, uint32_t max)
{
    const sv_fabric *f = slow->c.f;
    oracle_waiting found[8];
    uint32_t count = oracle_waiting_for(stage, f->tail[c.i].i, f->port[c.i], found, max);
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

sv_sim_message choosing_message(const struct trial *t, uint32_t i)
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
    const sv_sim_message m = choosing_message(t, i);
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
    sim_depart(&w, now, (sv_channel){choosing_channel(user, node, out_port)}, waited, &copy);
    head->note = copy.note;
}

void choosing_room(struct trial *t, uint32_t number)
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
    choosing_room(t, head->number);
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
                         uint32_t vl, uint64_t now, uint64_t waited)
{
    struct trial *t = user;
    t->waited[choosing_channel(t, node, out_port)] += waited;
    const sim_record record = {SIM_GRANTED,
                               {head->number, choosing_channel(t, node, out_port), vl, now}};
    sim_log_add(&t->expected, &record);
}

static void slow_started(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                         uint64_t waited)
{
    struct trial *t = user;
    sv_sim_channel *c = &t->channels[choosing_channel(t, node, out_port)];
    c->waited += waited;
    c->packets++;
    c->bytes += head->bytes;
}

sim_record choosing_hearing(const struct trial *t, uint32_t message, uint64_t now,
                            uint64_t injected)
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
    const sim_record record = choosing_hearing(t, message, now, 0);
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

void choosing_make(struct trial *t)
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

static oracle_policy policy_of(struct trial *t)
{
    return (oracle_policy){.user = t,
                           .segments = t->c.segments,
                           .adaptive = t->c.adaptive,
                           .vls = t->c.table_vls,
                           .by_packet = t->mind.by_packet,
                           .patience = t->mind.patience,
                           .first = t->mind.first,
                           .node = node_of,
                           .port = port_to,
                           .sl = sl_of,
                           .vl = vl_of,
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

oracle_end choosing_run_oracle(struct trial *t)
{
    const sv_fabric *f = t->c.f;
    uint32_t ports[8], num_cables;
    oracle_cable *cables = sim_case_cables(&t->c, ports, &num_cables);
    const oracle_policy policy = policy_of(t);
    oracle_params params = sim_case_params(&t->c);
    params.policy = &policy;
    params.counts = &t->counts;
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

void choosing_forget(struct trial *t)
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

void choosing_hold_back(struct trial *t)
{
    for (uint32_t i = 0; i < t->c.num_messages && t->c.reluctant; i++)
        for (uint32_t k = 0; k < t->c.num_messages; k++)
            if (t->c.r->node[t->c.messages[k].destination].i ==
                t->c.f->num_switches + t->c.messages[i].from)
                t->after[i] += t->heard_at[k] <= t->c.messages[i].ready;
}

/* ---- the end ---- */

void choosing_release(struct trial *t)
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
