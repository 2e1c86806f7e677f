/* Rules 25 to 33 of docs/simulator.md for the slow simulator: packets that choose their way.
 *
 * Idea: what a packet knows of its way is its head; each time it is sent to a switch a hop is added
 * to its hops, and everything that sim_oracle.c does goes by those. Control packets are packets
 * like others, added to the end of the array when they are sent. Whatever a policy may ask for is
 * counted when it asks, by walking over all that waits; what is early, or next of a pair, is found
 * by looking at all packets.
 *
 * Invariants: hops[next] of a packet that waits at a switch has its escape VL; when it is granted
 * the VL that it takes is put there. A packet of a switch's own has that switch and port 0 as its
 * first hop, as if it had been sent to itself. All packets of an open message that are not injected
 * yet have the VL of the next one, stand one behind the other, and those of a VL stand in the
 * order in which they came to it. Hooks may add packets, so nothing keeps a pointer to one across
 * a hook.
 *
 * Cost: that of sim_oracle.c, and all packets once for each that arrives or is injected.
 *
 * Source: docs/simulator.md and nothing else. */
#include "sim_oracle_inside.h"

/* ---- ways (rules 25, 26) ---- */

static uint32_t node_of(const sim *s, uint32_t target)
{
    return s->params->policy->node(s->params->policy->user, target);
}

/* Where the packet goes in its segment. */
static uint32_t target_of(const oracle_head *head)
{
    return head->segment < head->way.vias ? head->way.via[head->segment] : head->destination;
}

/* The way out of a switch to which a packet comes by a port, and its escape VL there. */
static void add_hop(sim *s, uint32_t p, uint32_t node, uint32_t in_port)
{
    const oracle_policy *policy = s->params->policy;
    packet *a = &s->packets[p];
    while (a->head.segment < a->head.way.vias &&
           node_of(s, a->head.way.via[a->head.segment]) == node) {
        a->head.segment++;
        a->sl = policy->sl(policy->user, node, target_of(&a->head));
        in_port = 0;
    }
    uint32_t out = policy->port(policy->user, node, target_of(&a->head));
    uint32_t vl = policy->vl(policy->user, node, in_port, out, a->sl);
    assert(out > 0 && port_of(s, node, out)->peer && vl < policy->vls);
    assert(a->head.segment < policy->segments);
    oracle_lengthen(s, p);
    s->given[p].hops[s->given[p].num_hops - 1] =
        (oracle_hop){node, out, (uint8_t)(a->head.segment * policy->vls + vl)};
}

void oracle_policy_look(sim *s, uint32_t p)
{
    const port *in = in_of(s, p, s->given[p].num_hops);
    if (is_switch(s, in->node))
        add_hop(s, p, in->node, in->number);
    else
        assert(in->node == node_of(s, s->given[p].destination));
}

/* The SL and the VL with which an adapter sends it. */
static void set_first_vl(sim *s, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    uint32_t from = s->given[p].hops[0].node;
    packet *a = &s->packets[p];
    assert(a->head.segment == 0 && a->head.way.vias < policy->segments);
    a->sl = policy->sl(policy->user, from, target_of(&a->head));
    s->given[p].hops[0].vl = policy->vl(policy->user, from, 0, 1, a->sl);
    assert(vl_of(s, p, 0) < policy->vls);
}

/* ---- VLs (rule 27) ---- */

uint32_t oracle_policy_vl(const sim *s, const port *out, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    uint32_t first = policy->segments * policy->vls, blocks = s->packets[p].blocks;
    for (uint32_t vl = first; vl < first + policy->adaptive; vl++)
        if (out->credits[vl] >= blocks)
            return vl;
    uint8_t escape = vl_of(s, p, s->packets[p].next);
    return out->credits[escape] >= blocks ? escape : NONE;
}

/* ---- asking (rule 28) ---- */

/* The packet gets a way, and so do those of its message after it. */
static void ask(sim *s, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    uint32_t message = s->given[p].message;
    oracle_way way = {0};
    policy->choose(policy->user, s, s->now, p, &way);
    for (; p < s->num_packets && s->given[p].message == message; p++) {
        s->packets[p].head.way = way;
        set_first_vl(s, p);
    }
}

void oracle_policy_open(sim *s, uint32_t p)
{
    ask(s, p);
}

void oracle_policy_next(sim *s, port *out, uint32_t p)
{
    uint8_t before = vl_of(s, p, 0);
    uint32_t message = s->given[p].message;
    if (!s->params->policy->by_packet)
        return;
    ask(s, p);
    if (vl_of(s, p, 0) == before)
        return;
    for (; p < s->num_packets && s->given[p].message == message; p++) {
        take_out(&out->outgoing, p);
        append(&out->outgoing, p);
    }
}

/* ---- control packets (rule 29) ---- */

static uint32_t add_packet(sim *s)
{
    if (s->num_packets == s->room_packets) {
        s->room_packets *= 2;
        s->given = realloc(s->given, s->room_packets * sizeof *s->given);
        s->packets = realloc(s->packets, s->room_packets * sizeof *s->packets);
        if (!s->given || !s->packets)
            abort();
    }
    return s->num_packets++;
}

/* In the order of ready times, then of calls. */
static void queue_control(sim *s, port *out, uint32_t p)
{
    list *l = &out->control;
    append(l, p);
    for (uint32_t i = l->count - 1; i > 0; i--) {
        if (s->packets[l->items[i - 1]].wanted <= s->packets[p].wanted)
            break;
        l->items[i] = l->items[i - 1];
        l->items[i - 1] = p;
    }
}

static void count_control(sim *s, uint32_t p)
{
    s->counts.control_packets++;
    s->counts.control_bytes += s->given[p].length;
}

void oracle_send(oracle_stage *s, uint32_t from, uint32_t destination, uint32_t bytes,
                 uint64_t ready, uint32_t mark, uint32_t note)
{
    const oracle_policy *policy = s->params->policy;
    bool own = is_switch(s, from);
    uint32_t p = add_packet(s);
    assert(bytes > 0 && ready >= s->now + own && !is_switch(s, node_of(s, destination)));
    s->given[p] = (oracle_packet){.message = NONE,
                                  .ready = ready,
                                  .length = bytes,
                                  .destination = destination,
                                  .num_hops = 1,
                                  .hops = get(4, sizeof(oracle_hop)),
                                  .granted = get(4, sizeof(uint64_t)),
                                  .arrived = NEVER,
                                  .delivered = NEVER};
    s->packets[p] = (packet){.blocks = (bytes + BLOCK - 1) / BLOCK, .room = 4, .wanted = ready};
    s->packets[p].head = (oracle_head){.way.mark = mark,
                                       .from = from,
                                       .destination = destination,
                                       .bytes = bytes,
                                       .note = note,
                                       .control = true};
    assert(s->packets[p].blocks <= s->params->input && s->packets[p].blocks <= s->params->output);
    s->given[p].hops[0] = (oracle_hop){from, own ? 0 : 1, 0};
    s->given[p].granted[0] = NEVER;
    if (own) {
        count_control(s, p);
        s->given[p].granted[0] = s->now;
        s->packets[p].next = 1;
        s->packets[p].ready_at = s->packets[p].head.injected = ready;
        s->packets[p].head.number = s->next_number++;
        s->packets[p].sl = policy->sl(policy->user, from, destination);
        add_hop(s, p, from, 0);
        append(&port_of(s, from, 0)->inside, p);
        oracle_push(s, ready, READY, p, 1, 0);
    } else {
        set_first_vl(s, p);
        queue_control(s, port_of(s, from, 1), p);
        oracle_push(s, ready > s->now ? ready : s->now + 1, WAKE, 0, 0, 0);
    }
}

bool oracle_policy_control(sim *s, port *out)
{
    if (!out->control.count)
        return false;
    uint32_t p = out->control.items[0];
    if (s->now < s->packets[p].wanted || out->credits[vl_of(s, p, 0)] < s->packets[p].blocks)
        return false;
    take_out(&out->control, p);
    oracle_inject(s, out, p);
    return true;
}

/* ---- what happens is told (rules 30, 32) ---- */

/* Two data packets of one pair of terminals. */
static bool same_pair(const sim *s, uint32_t p, uint32_t q)
{
    const oracle_head *a = &s->packets[p].head, *b = &s->packets[q].head;
    return !a->control && !b->control && a->from == b->from &&
           node_of(s, a->destination) == node_of(s, b->destination);
}

/* Rule 32: in the order in which messages are opened (rule 17), then of the packets in one. */
static bool comes_before(const sim *s, uint32_t p, uint32_t q)
{
    const oracle_packet *a = &s->given[p], *b = &s->given[q];
    if (a->message == b->message)
        return p < q;
    return a->ready != b->ready ? a->ready < b->ready : a->message < b->message;
}

void oracle_policy_injected(sim *s, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    oracle_head *head = &s->packets[p].head;
    head->number = s->next_number++;
    head->injected = s->now;
    for (uint32_t q = 0; q < s->num_packets; q++)
        head->sequence += same_pair(s, p, q) && comes_before(s, q, p);
    s->counts.detours += head->way.vias > 0;
    if (head->control)
        count_control(s, p);
    policy->injected(policy->user, head, s->now);
}

void oracle_policy_granted(sim *s, const port *out, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    uint64_t ready = s->packets[p].ready_at, waited = s->now > ready ? s->now - ready : 0;
    s->packets[p].waited = waited;
    s->packets[p].head.waited += waited;
    policy->granted(policy->user, &s->packets[p].head, out->node, out->number,
                    vl_of(s, p, s->packets[p].next - 1), s->now, waited);
    if (waited <= policy->patience)
        return;
    oracle_head head = s->packets[p].head;
    policy->depart(policy->user, s, s->now, out->node, out->number, waited, &head);
    s->packets[p].head.note = head.note;
}

/* The packet of the same pair that is the next to be delivered, if it has arrived; or NONE. */
static uint32_t next_due(const sim *s, uint32_t p)
{
    uint32_t due = 0;
    for (uint32_t q = 0; q < s->num_packets; q++)
        due += same_pair(s, p, q) && s->packets[q].delivered;
    for (uint32_t q = 0; q < s->num_packets; q++)
        if (same_pair(s, p, q) && s->given[q].arrived != NEVER &&
            s->packets[q].head.sequence == due)
            return q;
    return NONE;
}

/* A data packet has arrived: all that is delivered by that. */
static void deliver(sim *s, uint32_t p)
{
    const oracle_policy *policy = s->params->policy;
    uint64_t waits = 0;
    for (uint32_t q = next_due(s, p); q != NONE; q = next_due(s, p)) {
        s->packets[q].delivered = true;
        s->given[q].delivered = s->counts.time = s->now;
        s->counts.early_wait += s->now - s->given[q].arrived;
        if (s->packets[q].head.last)
            policy->heard(policy->user, s->given[q].message, s->now);
    }
    s->counts.early += !s->packets[p].delivered;
    for (uint32_t q = 0; q < s->num_packets; q++)
        if (s->given[q].arrived != NEVER && !s->packets[q].head.control &&
            !s->packets[q].delivered &&
            node_of(s, s->given[q].destination) == node_of(s, s->given[p].destination))
            waits += s->given[q].payload;
    s->counts.early_max = waits > s->counts.early_max ? waits : s->counts.early_max;
}

/* ---- what a tick begins with (rule 33) ---- */

/* A packet of which the last byte is drained at this node at this tick, or NONE. */
static uint32_t arrives_at(const sim *s, uint32_t node)
{
    for (size_t i = 0; i < s->num_events; i++) {
        const event *e = &s->heap[i];
        if (e->time == s->now && e->kind == DRAINED && e->block == s->packets[e->packet].blocks &&
            (node == NONE || in_of(s, e->packet, e->hop)->node == node))
            return e->packet;
    }
    return NONE;
}

static void arrive(sim *s, uint32_t p, uint32_t node)
{
    const oracle_policy *policy = s->params->policy;
    oracle_head head = s->packets[p].head;
    s->given[p].arrived = s->now;
    policy->deliver(policy->user, s, s->now, node, &head);
    s->packets[p].head.note = head.note;
    if (s->packets[p].head.control)
        return;
    s->left--;
    deliver(s, p);
}

void oracle_policy_tick(sim *s)
{
    const oracle_policy *policy = s->params->policy;
    bool any = arrives_at(s, NONE) != NONE;
    for (uint32_t node = s->num_switches; any && node < s->num_nodes; node++) {
        uint32_t p = arrives_at(s, node);
        if (p != NONE)
            arrive(s, p, node);
    }
    if (s->plan != s->now || !s->left)
        return;
    uint64_t again = NEVER;
    s->plan = NEVER;
    policy->timer(policy->user, s, s->now, &again);
    if (again != NEVER)
        oracle_call(s, again);
}

void oracle_call(oracle_stage *s, uint64_t time)
{
    time = time > s->now ? time : s->now + 1;
    if (time >= s->plan)
        return;
    s->plan = time;
    oracle_push(s, time, WAKE, 0, 0, 0);
}

/* ---- what can be seen (rule 31) ---- */

/* When the link into the buffer where it is, or will be, started the packet, or starts it; of none
 * (NONE): when the link of a port is free of all that was granted. */
static uint64_t link_time(const sim *s, const port *out, uint32_t p)
{
    uint64_t free_at = out->free_at;
    for (uint32_t i = 0; is_switch(s, out->node) && i < out->outgoing.count; i++) {
        uint32_t q = out->outgoing.items[i];
        uint64_t across = s->given[q].granted[s->packets[q].next - 1] + end_of(s, q, 1) * out->chi;
        uint64_t start = across > free_at ? across : free_at;
        if (q == p)
            return start;
        free_at = start + (s->given[q].length + s->params->inband) * out->tau;
    }
    return p == NONE ? free_at : s->packets[p].started;
}

static uint64_t start_of(const sim *s, uint32_t p)
{
    const port *from = out_of(s, p, s->packets[p].next - 1);
    return from->number == 0 ? s->packets[p].wanted : link_time(s, from, p);
}

uint64_t oracle_backlog(const oracle_stage *s, uint32_t node, uint32_t number)
{
    const port *out = port_of(s, node, number);
    uint64_t bytes = 0, free_at = link_time(s, out, NONE);
    for (uint32_t i = s->base[node]; is_switch(s, node) && i < s->base[node + 1]; i++)
        for (uint32_t k = 0; k < s->ports[i].inside.count; k++) {
            uint32_t p = s->ports[i].inside.items[k];
            if (out_of(s, p, s->packets[p].next) == out)
                bytes += s->given[p].length;
        }
    return bytes + (free_at > s->now ? (free_at - s->now) / out->tau : 0);
}

uint32_t oracle_waiting_for(const oracle_stage *s, uint32_t node, uint32_t number,
                            oracle_waiting *waiting, uint32_t max)
{
    const port *out = port_of(s, node, number);
    uint32_t count = 0, vls = s->params->vls;
    assert(is_switch(s, node));
    for (uint32_t i = s->base[node] * vls; i < s->base[node + 1] * vls; i++) {
        const list *inside = &s->ports[i / vls].inside;
        for (uint32_t k = 0; k < inside->count && count < max; k++) {
            uint32_t p = inside->items[k], hop = s->packets[p].next;
            const oracle_head *head = &s->packets[p].head;
            if (out_of(s, p, hop) == out && vl_of(s, p, hop - 1) == i % vls && !head->control)
                waiting[count++] = (oracle_waiting){head->from, node_of(s, head->destination),
                                                    s->given[p].length, start_of(s, p)};
        }
    }
    return count;
}

/* ---- a run ---- */

void oracle_policy_begin(sim *s)
{
    const oracle_policy *policy = s->params->policy;
    const oracle_packet *packets = s->given;
    assert(!s->params->director && !s->params->switch_tables && !s->params->adapter_tables);
    assert(s->params->vls >= policy->segments * policy->vls + policy->adaptive);
    s->room_packets = s->num_packets + 1;
    s->given = get(s->room_packets, sizeof *s->given);
    s->packets = realloc(s->packets, s->room_packets * sizeof *s->packets);
    if (!s->packets)
        abort();
    for (uint32_t p = 0; p < s->num_packets; p++) {
        oracle_packet *a = &s->given[p];
        *a = packets[p];
        a->delivered = NEVER;
        s->packets[p].head =
            (oracle_head){.from = a->hops[0].node,
                          .destination = a->destination,
                          .bytes = a->length,
                          .message = a->message,
                          .last = p + 1 == s->num_packets || packets[p + 1].message != a->message};
    }
    s->plan = NEVER;
    if (policy->first != NEVER) {
        s->plan = policy->first;
        oracle_push(s, policy->first, WAKE, 0, 0, 0);
    }
}

/* Whether one of S stands before it in its queue. */
static bool is_behind(const sim *s, uint32_t p)
{
    uint32_t hop = s->packets[p].next;
    const list *here = &in_of(s, p, hop)->inside;
    for (uint32_t i = 0; here->items[i] != p; i++) {
        uint32_t q = here->items[i], at = s->packets[q].next;
        if (s->given[q].stuck && vl_of(s, q, at - 1) == vl_of(s, p, hop - 1) &&
            (!s->params->voq || out_of(s, q, at) == out_of(s, p, hop)))
            return true;
    }
    return false;
}

static void tell_stuck(const sim *s, uint32_t p)
{
    const oracle_hop *out = &s->given[p].hops[s->packets[p].next], *in = out - 1;
    const oracle_stuck stuck = {.in_node = in->node,
                                .in_port = in->out_port,
                                .node = out->node,
                                .out_port = out->out_port,
                                .vl = in->vl,
                                .out_vl = out->vl,
                                .behind = is_behind(s, p),
                                .since = start_of(s, p),
                                .head = s->packets[p].head};
    s->params->policy->stuck(s->params->policy->user, &stuck);
}

void oracle_policy_end(sim *s, oracle_packet *packets, uint32_t num_packets)
{
    for (uint32_t p = 0; p < s->num_packets; p++)
        if (s->given[p].stuck)
            tell_stuck(s, p);
    for (uint32_t p = 0; p < s->num_packets; p++) {
        if (p < num_packets) {
            packets[p] = s->given[p];
            continue;
        }
        free(s->given[p].hops);
        free(s->given[p].granted);
    }
    free(s->given);
    s->given = packets;
    s->counts.packets = s->next_number;
    *s->params->counts = s->counts;
}
