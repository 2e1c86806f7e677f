/*
 * balance.c: the hooks of distributed routing balancing, and what its policies are made of.
 *
 * A packet's mark is its path (eight bits) and the number of its message among those of its pair
 * (24 bits). What comes back about it goes to decide.c.
 *
 * Cost: a choice O(open paths), an acknowledgement as decide.c. Memory: pairs that talk, eight
 * bytes a channel.
 */
#include "adapt/balance.h"

enum { PACKETS_A_LOOK = 16 };

/* ---- hooks ---- */

/* A number 0 … 1, 1 excluded. */
static double draw(sv_rng *rng)
{
    return /*~draw_same*/ (double)(sv_rng_next(rng) >> 11) * 0x1p-53;
}

/* When a message's acknowledgement is late: by what it takes on path 0, there (its first packet,
 * and the others behind it) and back. */
static uint64_t span_of(const sv__balance *b, const sv__drb_pair *p, uint32_t bytes)
{
    const sv_adapt *a = b->a;
    uint32_t mtu = a->model.mtu_bytes, packets = bytes == 0 ? 1 : (bytes - 1) / mtu + 1;
    uint32_t header = a->model.header_bytes + a->policy.header_bytes;
    uint32_t first = bytes < mtu ? bytes : mtu;
    uint64_t others = bytes - first + (uint64_t)(packets - 1) * header;
    uint64_t there =
        sv__ways_empty(a, p->from, p->paths[0].channels, first + header) /*~span_first*/ +
        sv__ways_stream(a, p->from, others);
    return 1 + (uint64_t)(a->set.watchdog * /*~span_back*/ (double)(there + p->back));
}

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    sv__balance *b = a->state;
    uint32_t pair;
    SV_TRY(sv__pairs_get(b, terminal, message->destination, &pair));
    sv__drb_pair *p = b->pairs.at[pair];
    if (/*~ask_packet*/ offset == 0 && /*~ask_always*/ a->set.unasked)
        SV_TRY(sv__decide_message(b, p, now));
    double drawn = 0;
    uint32_t at = 0;
    if (p->meta.count > 1) {
        drawn = draw(&a->rng);
        at = sv__metapath_pick(&p->meta, drawn);
    }
    uint32_t path = p->meta.at[at].path;
    if (offset == 0) {
        if (b->fast)
            SV_TRY(sv__watchdog_sent(b, stage, pair, now, span_of(b, p, message->bytes)));
        p->serial++;
    }
    *way = p->paths[path].way;
    way->mark = path | (p->serial - 1) << 8;
    a->report.choices++;
    a->report.detours += way->vias > 0;
    sv__tell(b, &(sv__saw){
                    .kind = SV__SAW_CHOICE, .time = now, .pair = p, .path = path, .drawn = drawn});
    return SV_OK;
}

/* A switch's notice for all pairs of this terminal that are among the flows: by whatever address of
 * their destination, for flows have none. */
static sv_status hear_switch(sv__balance *b, uint64_t now, uint32_t terminal, const sv__note *n)
{
    const sv_adapt *a = b->a;
    for (uint32_t i = 0; i < n->flows.count; i++) {
        uint32_t flow = n->flows.at[i], to = a->f->num_switches + sv__flow_to(flow);
        if (sv__flow_from(flow) != terminal)
            continue;
        for (uint32_t d = a->r->first[to]; d < /*~notice_address*/ a->r->first[to + 1]; d++) {
            uint32_t pair = sv__pairs_find(b, terminal, d);
            if (pair != SV_ABSENT)
                /*~notice_first*/ SV_TRY(sv__decide_notice(b, b->pairs.at[pair], now, &n->flows));
        }
    }
    return SV_OK;
}

static sv_status deliver(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                         sv_sim_head *head)
{
    sv__balance *b = ((sv_adapt *)user)->state;
    if (!head->control)
        return sv__monitor_arrive(b, stage, now, terminal, head);
    const sv__note *n = sv__notes_at(&b->notes, head->note);
    if (n->pair == SV_NONE) {
        SV_TRY(hear_switch(b, now, terminal, n));
    } else {
        sv__drb_pair *p = b->pairs.at[n->pair];
        const sv__note *told = n->told != 0 ? sv__notes_at(&b->notes, n->told) : n;
        /* Packets that choose one by one do not know their message: it is the oldest then. */
        if (b->fast /*~ack_each*/ && n->last)
            SV_TRY(sv__watchdog_heard(b, stage, n->pair, now,
                                      /*~ack_message*/ b->a->set.by_packet ? p->sent.serial
                                                                           : n->mark >> 8));
        SV_TRY(sv__decide_ack(b, p, now, n->mark & 0xff, n->waited, &told->flows));
        sv__notes_drop(&b->notes, n->told);
    }
    sv__notes_drop(&b->notes, head->note);
    head->note = 0;
    return SV_OK;
}

/* ---- making ---- */

/* Ticks that a full packet takes on a link: on that of the first terminal that has one. */
static uint64_t packet_ticks(const sv_adapt *a, uint32_t bytes)
{
    for (uint32_t t = 0; t < a->f->num_terminals; t++) {
        sv_node node = {a->f->num_switches + t};
        if (sv_degree(a->f, node) > 0)
            return bytes * sv__ways_byte(a, a->f->hops[a->f->first[node.i]].channel);
    }
    return 0;
}

static sv_status make_predictive(sv__balance *b)
{
    sv_adapt *a = b->a;
    if (a->f->num_terminals > SV__WIRE_MAX_TERMINALS || a->f->num_switches > SV__WIRE_MAX_SWITCHES)
        return sv_fail(a->ctx, SV_INFEASIBLE,
                       "'%s' tells terminals apart by 16 bits; there are %u, and %u switches",
                       a->kind->about.name, a->f->num_terminals, a->f->num_switches);
    b->looked = SV_ARENA_NEW(&a->arena, uint64_t, a->f->num_channels);
    b->told = SV_ARENA_NEW(&a->arena, uint32_t, a->f->num_channels);
    b->waiting = SV_ARENA_NEW(&a->arena, sv_sim_waiting, SV__MAX_WAITING);
    b->tallies = SV_ARENA_NEW(&a->arena, sv__tallies, 1);
    b->found.at = SV_ARENA_NEW(&a->arena, uint32_t, a->set.flows);
    a->routers = SV_ARENA_NEW(&a->arena, sv_adapt_router, a->f->num_switches);
    if (b->looked == NULL || b->told == NULL || b->waiting == NULL || b->tallies == NULL ||
        b->found.at == NULL || a->routers == NULL)
        return SV_NO_MEMORY;
    a->policy.depart = sv__monitor_depart;
    if (/*~flows_room*/ !a->set.by_router)
        a->policy.header_bytes += sv__wire_predictive_bytes(a->set.flows);
    uint64_t packet =
        packet_ticks(a, a->model.mtu_bytes + a->model.header_bytes + a->policy.header_bytes);
    b->look = a->set.look > 0 ? a->set.look : PACKETS_A_LOOK * packet;
    a->policy.patience = a->set.contention > 0 ? a->set.contention : packet;
    return SV_OK;
}

sv_status sv__balance_make(sv_adapt *a, bool fast, bool predictive)
{
    sv__balance *b = SV_ARENA_NEW(&a->arena, sv__balance, 1);
    if (b == NULL)
        return SV_NO_MEMORY;
    *b = (sv__balance){.a = a, .fast = fast, .predictive = predictive};
    a->state = b;
    SV_TRY(sv_cells_init(&b->index, a->ctx, a->f->num_terminals, a->r->num_destinations));
    uint32_t flows = predictive ? a->set.flows : 0;
    b->shelf = (sv__shelf){&a->arena, flows, a->set.paths};
    b->notes = (sv__notes){.arena = &a->arena, .max_flows = flows};
    b->scratch = SV_ARENA_NEW(&a->arena, sv__open_path, a->set.paths);
    if (b->scratch == NULL)
        return SV_NO_MEMORY;
    a->policy.header_bytes = SV__WIRE_HEADER;
    a->policy.choose = choose;
    a->policy.deliver = deliver;
    if (fast)
        a->policy.timer = sv__watchdog_timer;
    if (predictive)
        SV_TRY(make_predictive(b));
    b->full = a->model.mtu_bytes + a->model.header_bytes + a->policy.header_bytes;
    return SV_OK;
}

void sv__balance_release(sv_adapt *a)
{
    sv__balance *b = a->state;
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->pairs.length; i++)
        sv_release(a->ctx, b->pairs.at[i]->sent.at);
    sv_array_release(a->ctx, &b->pairs);
    sv_array_release(a->ctx, &b->alarms);
    sv_array_release(a->ctx, &b->notes.blocks);
    sv_cells_release(&b->index);
}

void sv__balance_spy(sv_adapt *a, const sv__spy *spy)
{
    ((sv__balance *)a->state)->spy = spy;
}
