/* A slow, obvious simulator: the rules of docs/simulator.md, block by block.
 *
 * Idea: whatever changes by itself is an event of a single block at a tick: it crossed a switch,
 * left an output buffer, was drained, vanished with a dropped packet, or its credit came back. An
 * event moves a counter by one. Three more kinds carry no block: a link is free again, a packet
 * becomes ready at the far end of a link, and a mere reason to look again. At each tick that has an
 * event all of them are applied, in any order; then every switch port and then every adapter looks
 * at all that waits (rule 15). Nothing is remembered about what could be skipped, and no time is
 * computed for a packet that a block could tell.
 *
 * Invariants: a packet waits in one input list at most: that of the port for whose buffer it took
 * credits last. Events that a grant or an injection makes are later than its tick, so a tick is
 * never looked at twice. Between two ticks with events nothing can become possible: the counters
 * stand still, and where time alone matters (a message ready, the injector free, the next of a
 * queue first, a director who changes his mind) there is a WAKE. Where tables change, the way out
 * of a switch is asked for as soon as a packet is sent there, and added to its hops: everything
 * else goes by hops and does not know the difference.
 *
 * Cost: for each tick with events all ports times VLs times what waits. For small networks.
 *
 * Source: docs/simulator.md and nothing else. One file, though a long one: it is read against that
 * page from top to bottom, and it is compiled into whatever test wants it. Only rules 25 to 33
 * stand on a page of their own, sim_oracle_policy.c. */
#include "sim_oracle_inside.h"

/* ---- events: a binary heap by time ---- */

void oracle_push(sim *s, uint64_t time, kind what, uint32_t p, uint32_t hop, uint32_t block)
{
    if (s->num_events == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->heap = realloc(s->heap, s->room * sizeof *s->heap);
        if (!s->heap)
            abort();
    }
    size_t i = s->num_events++;
    for (; i > 0 && s->heap[(i - 1) / 2].time > time; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = (event){.time = time, .kind = what, .packet = p, .hop = hop, .block = block};
}

static event pop(sim *s)
{
    event top = s->heap[0], last = s->heap[--s->num_events];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < s->num_events && s->heap[child + 1].time < s->heap[child].time)
            child++;
        if (child >= s->num_events || s->heap[child].time >= last.time)
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* Rule 9: two packets of one input port stand in one queue. Both wait for the hop after that port.
 */
static bool same_queue(const sim *s, uint32_t p, uint32_t q)
{
    uint32_t hp = s->packets[p].next, hq = s->packets[q].next;
    if (vl_of(s, p, hp - 1) != vl_of(s, q, hq - 1))
        return false;
    return !s->params->voq || out_of(s, p, hp) == out_of(s, q, hq);
}

/* No packet of its queue is before the i-th of this input port. */
static bool first_in_queue(const sim *s, const port *in, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (same_queue(s, in->inside.items[j], in->inside.items[i]))
            return false;
    return true;
}

/* ---- links (rules 4, 5, 14) ---- */

/* Rule 11 and 18: how long after its link's start a packet may begin to cross at chi ticks a byte,
 * without the cable and the switch. This is the page's formula as it stands. */
static uint64_t wait_of(const sim *s, uint32_t p, uint64_t tau, uint64_t chi)
{
    uint64_t max = 0;
    for (uint32_t k = 1; k <= s->packets[p].blocks; k++) {
        uint64_t whole = end_of(s, p, k) * tau, ahead = (uint64_t)BLOCK * (k - 1) * chi;
        if (whole > ahead && whole - ahead > max)
            max = whole - ahead;
    }
    return max;
}

/* The link of a hop starts the packet now. */
static void start_link(sim *s, uint32_t p, uint32_t hop)
{
    const oracle_params *params = s->params;
    port *out = out_of(s, p, hop);
    out->link_busy = true;
    out->started = s->packets[p].started = s->now;
    out->sent = s->now + s->given[p].length * out->tau;
    for (uint32_t k = 1; k <= s->packets[p].blocks; k++)
        oracle_push(s, s->now + end_of(s, p, k) * out->tau, LEFT, p, hop, k);
    out->free_at = out->sent + params->inband * out->tau;
    oracle_push(s, out->free_at, FREE, p, hop, 0);
    if (params->policy)
        params->policy->started(params->policy->user, &s->packets[p].head, out->node, out->number,
                                s->packets[p].waited);
    if (s->given[p].dropped && hop + 1 == s->given[p].num_hops) {
        for (uint32_t k = 1; k <= s->packets[p].blocks; k++)
            oracle_push(s, s->now + end_of(s, p, k) * out->tau + params->cable, GONE, p, hop + 1,
                        k);
        return;
    }
    bool last = hop + 1 == s->given[p].num_hops;
    uint64_t chi = last ? params->drain : out_of(s, p, hop + 1)->chi;
    uint64_t extra = last ? 0 : params->switch_delay;
    s->packets[p].ready_at = s->now + params->cable + wait_of(s, p, out->tau, chi) + extra;
    oracle_push(s, s->packets[p].ready_at, READY, p, hop + 1, 0);
}

/* An output port of a switch starts the first packet of its buffer, if there is one to start. */
static void try_link(sim *s, port *out)
{
    if (out->link_busy || !out->outgoing.count)
        return;
    uint32_t p = out->outgoing.items[0];
    if (!s->packets[p].across)
        return;
    take_out(&out->outgoing, p);
    start_link(s, p, s->packets[p].next - 1);
}

/* ---- draining (rules 18, 19) ---- */

/* The first tick, not before d, at which so many ticks of work are done since d. */
static uint64_t worked(const oracle_params *params, uint64_t d, uint64_t work)
{
    if (params->pause == 0 || work == 0)
        return d + work;
    if (params->pause >= params->period)
        return NEVER;
    uint64_t awake = params->period - params->pause;
    for (;;) {
        uint64_t into = d % params->period;
        uint64_t here = into < awake ? awake - into : 0;
        if (work <= here)
            return d + work;
        work -= here;
        d += params->period - into;
    }
}

static void try_drain(sim *s, port *in)
{
    if (in->draining || !in->inside.count)
        return;
    uint32_t p = in->inside.items[0];
    if (!s->packets[p].ready)
        return;
    in->draining = true;
    for (uint32_t k = 1; k <= s->packets[p].blocks; k++) {
        uint64_t at = worked(s->params, s->now, end_of(s, p, k) * s->params->drain);
        oracle_push(s, at, DRAINED, p, s->given[p].num_hops, k);
    }
}

/* ---- what happens by itself ---- */

/* Rule 8: a block of the input buffer by which the packet came to a hop is free now. A packet that
 * the other link starts in this very tick does not hold the credit up, and the one before it has
 * been sent by now: so it does not matter whether that start has been applied already. */
static void return_credit(sim *s, uint32_t p, uint32_t hop, uint32_t block)
{
    const port *back = in_of(s, p, hop);
    uint64_t goes = s->now;
    if (s->params->inband > 0) {
        if (back->started < s->now && back->sent > s->now)
            goes = back->sent;
        goes += s->params->inband * back->tau;
    }
    oracle_push(s, goes + s->params->credit, CREDIT, p, hop - 1, block);
}

static void block_crossed(sim *s, const event *e)
{
    port *out = out_of(s, e->packet, e->hop), *in = in_of(s, e->packet, e->hop);
    if (in->number != 0) /* rule 29 */
        return_credit(s, e->packet, e->hop, e->block);
    if (e->block == s->packets[e->packet].blocks) {
        out->entry_busy = false;
        in->crossing--;
    }
    if (e->block == 1) {
        s->packets[e->packet].across = true;
        try_link(s, out);
    }
}

static void link_free(sim *s, port *out)
{
    out->link_busy = false;
    if (is_switch(s, out->node))
        try_link(s, out);
}

/* Rule 24: whether one that its adapter injected later for the same adapter has arrived. */
static bool overtaken(const sim *s, uint32_t p)
{
    const oracle_packet *a = &s->given[p];
    for (uint32_t q = 0; q < s->num_packets; q++) {
        const oracle_packet *b = &s->given[q];
        if (b->arrived != NEVER && b->hops[0].node == a->hops[0].node &&
            in_of(s, q, b->num_hops) == in_of(s, p, a->num_hops) && b->granted[0] > a->granted[0])
            return true;
    }
    return false;
}

static void incident(const sim *s, oracle_incident what, uint32_t p, uint32_t node, uint8_t why)
{
    s->params->director->incident(s->params->director->user, what, p, node, s->now, why);
}

static void block_drained(sim *s, const event *e)
{
    port *in = in_of(s, e->packet, e->hop);
    return_credit(s, e->packet, e->hop, e->block);
    if (e->block < s->packets[e->packet].blocks)
        return;
    if (s->params->director && overtaken(s, e->packet))
        incident(s, ORACLE_OVERTAKEN, e->packet, in->node, 0);
    if (!s->params->policy) { /* else that was before (rule 33) */
        s->given[e->packet].arrived = s->now;
        s->left--;
    }
    take_out(&in->inside, e->packet);
    in->draining = false;
    try_drain(s, in);
}

static void apply(sim *s, const event *e)
{
    switch (e->kind) {
    case WAKE:
        break;
    case CREDIT:
        out_of(s, e->packet, e->hop)->credits[vl_of(s, e->packet, e->hop)]++;
        break;
    case CROSSED:
        block_crossed(s, e);
        break;
    case LEFT:
        if (is_switch(s, out_of(s, e->packet, e->hop)->node))
            out_of(s, e->packet, e->hop)->used--;
        break;
    case FREE:
        link_free(s, out_of(s, e->packet, e->hop));
        break;
    case READY:
        s->packets[e->packet].ready = true;
        if (e->hop == s->given[e->packet].num_hops)
            try_drain(s, in_of(s, e->packet, e->hop));
        break;
    case DRAINED:
        block_drained(s, e);
        break;
    case GONE:
        return_credit(s, e->packet, e->hop, e->block);
        break;
    }
}

/* ---- choosing a VL (rule 16) ---- */

/* The entry that a list offers, or NONE. */
static uint32_t offer(const port *out, const place *at)
{
    if (at->count == 0)
        return NONE;
    if (out->candidate[at->entries[at->current].vl] != NONE && at->left > 0)
        return at->current;
    for (uint32_t i = 1; i <= at->count; i++) {
        uint32_t e = (at->current + i) % at->count;
        if (at->entries[e].weight > 0 && out->candidate[at->entries[e].vl] != NONE)
            return e;
    }
    return NONE;
}

/* An offered entry is taken for so many blocks. It is the current one with nothing left only where
 * the search went all the way round to it. */
static void take_entry(place *at, uint32_t e, uint32_t blocks)
{
    if (e != at->current || at->left == 0)
        at->left = at->entries[e].weight;
    at->current = e;
    at->left -= blocks < at->left ? blocks : at->left;
}

static uint32_t vl_by_tables(const sim *s, port *out)
{
    uint32_t high = offer(out, &out->high), low = offer(out, &out->low);
    uint64_t max = out->tables->limit ? 64 * (uint64_t)out->tables->limit : 1;
    bool take_high =
        high != NONE && (low == NONE || out->tables->limit == 255 || out->high_blocks < max);
    place *at = take_high ? &out->high : &out->low;
    uint32_t e = take_high ? high : low;
    if (e == NONE)
        return NONE;
    uint32_t vl = at->entries[e].vl, blocks = s->packets[out->candidate[vl]].blocks;
    take_entry(at, e, blocks);
    out->high_blocks = take_high ? out->high_blocks + blocks : 0;
    return vl;
}

static uint32_t vl_by_turns(const sim *s, port *out)
{
    for (uint32_t i = 1; i <= s->params->vls; i++) {
        uint32_t vl = (out->last_vl + i) % s->params->vls;
        if (out->candidate[vl] != NONE) {
            out->last_vl = vl;
            return vl;
        }
    }
    return NONE;
}

/* Of the port's candidates the one that goes, or NONE. The one that is chosen must go. */
static uint32_t choose(const sim *s, port *out)
{
    uint32_t vl = out->tables ? vl_by_tables(s, out) : vl_by_turns(s, out);
    return vl == NONE ? NONE : out->candidate[vl];
}

/* A VL in use must stand in one of the lists with a weight. */
static bool listed(const oracle_tables *tables, uint32_t vl)
{
    for (uint32_t i = 0; i < tables->num_high; i++)
        if (tables->high[i].vl == vl && tables->high[i].weight > 0)
            return true;
    for (uint32_t i = 0; i < tables->num_low; i++)
        if (tables->low[i].vl == vl && tables->low[i].weight > 0)
            return true;
    return false;
}

/* ---- ways that nobody knows beforehand (rules 21 to 23) ---- */

/* Hops and granted get a place more. */
void oracle_lengthen(sim *s, uint32_t p)
{
    oracle_packet *given = &s->given[p];
    packet *a = &s->packets[p];
    if (given->num_hops == a->room) {
        a->room *= 2;
        given->hops = realloc(given->hops, a->room * sizeof *given->hops);
        given->granted = realloc(given->granted, a->room * sizeof *given->granted);
        if (!given->hops || !given->granted)
            abort();
    }
    given->granted[given->num_hops++] = NEVER;
}

/* The packet is sent over the last of its hops now. Where that leads to a switch, the way out of it
 * is looked up. */
static void look_ahead(sim *s, uint32_t p)
{
    const oracle_director *director = s->params->director;
    oracle_packet *given = &s->given[p];
    const port *in = in_of(s, p, given->num_hops);
    oracle_hop way = {.node = in->node};
    uint8_t why = 0;
    if (!is_switch(s, in->node))
        return;
    for (uint32_t k = 0; k < given->num_hops && !s->packets[p].looped; k++)
        if (given->hops[k].node == in->node) {
            s->packets[p].looped = true;
            incident(s, ORACLE_CIRCLED, p, in->node, 0);
        }
    if (!director->look(director->user, p, in->node, in->number, s->now, &way, &why)) {
        given->dropped = true;
        s->left--;
        incident(s, ORACLE_DROPPED, p, in->node, why);
        return;
    }
    oracle_lengthen(s, p);
    given->hops[given->num_hops - 1] = way;
    const port *out = out_of(s, p, given->num_hops - 1);
    assert(out->node == in->node && out->peer && way.vl < s->params->vls);
    assert(!out->tables || listed(out->tables, way.vl));
}

/* ---- granting (rules 12, 13, 15, 16) ---- */

/* The packet goes into the next input buffer: it takes the credits and stands at the end, unless it
 * is dropped. */
static void enter_next(sim *s, uint32_t p)
{
    uint32_t hop = s->packets[p].next++;
    port *out = out_of(s, p, hop);
    out->credits[vl_of(s, p, hop)] -= s->packets[p].blocks;
    if (s->params->director)
        look_ahead(s, p);
    if (s->params->policy)
        oracle_policy_look(s, p);
    if (!s->given[p].dropped)
        append(&out->peer->inside, p);
    s->packets[p].ready = false;
    s->packets[p].across = false;
    s->packets[p].first_from = 0;
    s->given[p].granted[hop] = s->now;
}

/* The VL of the next link that a packet can take as far as credits go, or NONE. */
static uint32_t vl_now(const sim *s, const port *out, uint32_t p)
{
    if (s->params->policy)
        return oracle_policy_vl(s, out, p);
    uint8_t vl = vl_of(s, p, s->packets[p].next);
    return out->credits[vl] >= s->packets[p].blocks ? vl : NONE;
}

/* Rule 12 for the i-th packet of an input port of the same switch, on a VL of the next link. */
static bool may_grant(const sim *s, const port *out, const port *in, uint32_t i, uint32_t vl)
{
    uint32_t p = in->inside.items[i];
    const packet *a = &s->packets[p];
    if (out_of(s, p, a->next) != out || vl_now(s, out, p) != vl)
        return false;
    if (!a->ready || s->now < a->first_from || !first_in_queue(s, in, i))
        return false;
    return in->crossing < s->params->ways && s->params->output - out->used >= a->blocks;
}

static void grant(sim *s, port *out, uint32_t p)
{
    packet *a = &s->packets[p];
    port *in = in_of(s, p, a->next);
    for (uint32_t i = 0; i < in->inside.count; i++)
        if (in->inside.items[i] != p && same_queue(s, in->inside.items[i], p))
            s->packets[in->inside.items[i]].first_from = s->now + 1;
    oracle_push(s, s->now + 1, WAKE, 0, 0, 0);
    for (uint32_t k = 1; k <= a->blocks; k++)
        oracle_push(s, s->now + end_of(s, p, k) * out->chi, CROSSED, p, a->next, k);
    uint8_t vl = s->given[p].hops[a->next].vl = (uint8_t)vl_now(s, out, p);
    out->entry_busy = true;
    out->used += a->blocks;
    out->last_pair[vl] = in->number * s->params->vls + vl_of(s, p, a->next - 1);
    in->crossing++;
    take_out(&in->inside, p);
    enter_next(s, p);
    append(&out->outgoing, p);
    if (s->params->policy)
        oracle_policy_granted(s, out, p);
}

/* The packet of this input port, come by a VL, that may be granted. */
static uint32_t pick_from(const sim *s, const port *out, const port *in, uint32_t vl,
                          uint32_t came_by)
{
    for (uint32_t i = 0; i < in->inside.count; i++) {
        uint32_t p = in->inside.items[i];
        if (vl_of(s, p, s->packets[p].next - 1) == came_by && may_grant(s, out, in, i, vl))
            return p;
    }
    return NONE;
}

/* Whether anybody at the switch waits for a VL of this port: most often nobody does. */
static bool wanted(const sim *s, const port *out, uint32_t vl)
{
    for (uint32_t i = s->base[out->node]; i < s->base[out->node + 1]; i++)
        for (uint32_t k = 0; k < s->ports[i].inside.count; k++) {
            uint32_t p = s->ports[i].inside.items[k];
            if (s->packets[p].ready && out_of(s, p, s->packets[p].next) == out &&
                vl_now(s, out, p) == vl)
                return true;
        }
    return false;
}

/* The first pair in turn for a VL. */
static uint32_t find_candidate(const sim *s, const port *out, uint32_t vl)
{
    uint32_t vls = s->params->vls;
    uint32_t numbers = s->base[out->node + 1] - s->base[out->node]; /* with port 0 */
    for (uint32_t j = 1; j <= numbers * vls; j++) {
        uint32_t pair = (out->last_pair[vl] + j) % (numbers * vls);
        port *in = port_of(s, out->node, pair / vls);
        uint32_t p = pick_from(s, out, in, vl, pair % vls);
        if (p != NONE)
            return p;
    }
    return NONE;
}

static void try_grant(sim *s, port *out)
{
    if (!out->peer || out->entry_busy)
        return;
    for (uint32_t vl = 0; vl < s->params->vls; vl++)
        out->candidate[vl] = wanted(s, out, vl) ? find_candidate(s, out, vl) : NONE;
    uint32_t p = choose(s, out);
    if (p != NONE)
        grant(s, out, p);
}

/* ---- injecting (rule 17) ---- */

/* The messages whose turn it is become open. */
static void open_messages(sim *s, port *out)
{
    while (out->closed.count && out->num_open < s->params->open &&
           s->given[out->closed.items[0]].ready <= s->now) {
        const oracle_director *director = s->params->director;
        uint32_t first = out->closed.items[0], message = s->given[first].message;
        uint8_t vl = vl_of(s, first, 0);
        if (director && !director->open(director->user, first, s->now, &vl))
            return;
        if (s->params->policy) {
            oracle_policy_open(s, first);
            vl = vl_of(s, first, 0);
        }
        assert(vl < s->params->vls && (!out->tables || listed(out->tables, vl)));
        out->num_open++;
        while (out->closed.count && s->given[out->closed.items[0]].message == message) {
            uint32_t p = out->closed.items[0];
            s->given[p].hops[0].vl = vl;
            append(&out->outgoing, p);
            take_out(&out->closed, p);
        }
    }
}

static bool still_open(const sim *s, const port *out, uint32_t message)
{
    for (uint32_t i = 0; i < out->outgoing.count; i++)
        if (s->given[out->outgoing.items[i]].message == message)
            return true;
    return false;
}

void oracle_inject(sim *s, port *out, uint32_t p)
{
    out->injector = s->now + s->given[p].length * s->params->inject;
    if (out->injector > s->now)
        oracle_push(s, out->injector, WAKE, 0, 0, 0);
    enter_next(s, p);
    start_link(s, p, 0);
    if (s->params->policy)
        oracle_policy_injected(s, p);
}

/* The same for one of a message. */
static void inject(sim *s, port *out, uint32_t p)
{
    uint32_t message = s->given[p].message;
    take_out(&out->outgoing, p);
    bool goes_on = still_open(s, out, message);
    if (!goes_on)
        out->num_open--;
    oracle_inject(s, out, p);
    if (goes_on && s->params->policy)
        oracle_policy_next(s, out, p + 1);
}

/* The first of a VL's queue, if there are credits for it. */
static uint32_t first_to_inject(const sim *s, const port *out, uint32_t vl)
{
    for (uint32_t i = 0; i < out->outgoing.count; i++) {
        uint32_t p = out->outgoing.items[i];
        if (vl_of(s, p, 0) == vl)
            return out->credits[vl] >= s->packets[p].blocks ? p : NONE;
    }
    return NONE;
}

static void try_inject(sim *s, port *out)
{
    if (!out->peer)
        return;
    if (out->link_busy || s->now < out->injector)
        return;
    if (s->params->policy && oracle_policy_control(s, out))
        return;
    open_messages(s, out); /* not earlier: rule 21 */
    for (uint32_t vl = 0; vl < s->params->vls; vl++)
        out->candidate[vl] = first_to_inject(s, out, vl);
    uint32_t p = choose(s, out);
    if (p != NONE)
        inject(s, out, p);
}

/* ---- the set S of rule 20 ---- */

static bool in_switch_buffer(const sim *s, uint32_t p)
{
    return s->packets[p].next > 0 && s->packets[p].next < s->given[p].num_hops;
}

/* Whether those of S leave a packet too little room where it goes next, on a VL. */
static bool full(const sim *s, uint32_t p, uint32_t vl)
{
    const list *there = &out_of(s, p, s->packets[p].next)->peer->inside;
    uint64_t taken = s->packets[p].blocks;
    for (uint32_t i = 0; i < there->count; i++) {
        uint32_t q = there->items[i];
        if (s->given[q].stuck && vl_of(s, q, s->packets[q].next - 1) == vl)
            taken += s->packets[q].blocks;
    }
    return taken > s->params->input;
}

/* Whether the packet keeps standing if those of S do: it stands behind one of them, or they leave
 * it too little room where it goes next. One that waits behind others may be of S for the latter:
 * when those are gone it will not move. */
static bool stays(const sim *s, uint32_t p)
{
    const oracle_packet *given = s->given;
    uint32_t hop = s->packets[p].next;
    const list *here = &in_of(s, p, hop)->inside;
    for (uint32_t i = 0; here->items[i] != p; i++)
        if (given[here->items[i]].stuck && same_queue(s, here->items[i], p))
            return true;
    if (!full(s, p, vl_of(s, p, hop)))
        return false;
    const oracle_policy *policy = s->params->policy;
    for (uint32_t i = 0; policy && i < policy->adaptive; i++)
        if (!full(s, p, policy->segments * policy->vls + i)) /* rule 27 */
            return false;
    return true;
}

/* All of them at first; then those that do not stay go, until none does. Says whether any is left.
 */
static bool find_stuck(sim *s)
{
    for (uint32_t p = 0; p < s->num_packets; p++)
        s->given[p].stuck = in_switch_buffer(s, p);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t p = 0; p < s->num_packets; p++)
            if (s->given[p].stuck && !stays(s, p)) {
                s->given[p].stuck = false;
                changed = true;
            }
    }
    for (uint32_t p = 0; p < s->num_packets; p++)
        if (s->given[p].stuck)
            return true;
    return false;
}

/* ---- a run ---- */

static place start_of(const oracle_params *params, const oracle_entry *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert(entries[i].vl < params->vls);
    return (place){.entries = entries, .count = count, .left = count ? entries[0].weight : 0};
}

static void make_ports(sim *s, const uint32_t *ports)
{
    const oracle_params *params = s->params;
    s->base = get(s->num_nodes + 1, sizeof *s->base);
    for (uint32_t v = 0; v < s->num_nodes; v++)
        s->base[v + 1] = s->base[v] + (is_switch(s, v) ? ports[v] : 1) + 1;
    s->ports = get(s->base[s->num_nodes], sizeof *s->ports);
    for (uint32_t v = 0; v < s->num_nodes; v++)
        for (uint32_t i = 0; s->base[v] + i < s->base[v + 1]; i++) {
            port *a = port_of(s, v, i);
            a->node = v;
            a->number = i;
            a->credits = get(params->vls, sizeof *a->credits);
            a->last_pair = get(params->vls, sizeof *a->last_pair);
            a->candidate = get(params->vls, sizeof *a->candidate);
            a->last_vl = params->vls - 1; /* so that VL 0 is the first */
            a->tables = is_switch(s, v) ? params->switch_tables : params->adapter_tables;
            if (a->tables) {
                a->high = start_of(params, a->tables->high, a->tables->num_high);
                a->low = start_of(params, a->tables->low, a->tables->num_low);
            }
            for (uint32_t vl = 0; vl < params->vls; vl++) {
                a->credits[vl] = params->input;
                a->last_pair[vl] = (s->base[v + 1] - s->base[v]) * params->vls - 1; /* and port 0 */
            }
        }
}

static void connect(sim *s, const oracle_cable *cable)
{
    port *ends[2] = {port_of(s, cable->a, cable->a_port), port_of(s, cable->b, cable->b_port)};
    assert(!ends[0]->peer && !ends[1]->peer);
    for (uint32_t i = 0; i < 2; i++) {
        ends[i]->peer = ends[1 - i];
        ends[i]->tau = cable->tau;
        ends[i]->chi = 100 * cable->tau / s->params->speedup;
        if (ends[i]->chi == 0)
            ends[i]->chi = 1;
    }
}

/* Rule 17: whether the message of a packet is to be opened after that of another. */
static bool opens_after(const oracle_packet *a, const oracle_packet *b)
{
    return a->ready != b->ready ? a->ready > b->ready : a->message > b->message;
}

/* Into its adapter's list: after those before it in the order of opening. */
static void close_in(sim *s, uint32_t p)
{
    const oracle_packet *given = s->given;
    list *l = &out_of(s, p, 0)->closed;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t q = l->items[i];
        assert(given[q].message != given[p].message ||
               (given[q].ready == given[p].ready && given[p - 1].message == given[p].message));
    }
    append(l, p);
    for (uint32_t i = l->count - 1; i > 0 && opens_after(&given[l->items[i - 1]], &given[p]); i--) {
        l->items[i] = l->items[i - 1];
        l->items[i - 1] = p;
    }
    oracle_push(s, given[p].ready, WAKE, 0, 0, 0);
}

/* Where ways are found out: hops and times of its own, which can grow. */
static void make_way(sim *s, uint32_t p)
{
    oracle_packet *given = &s->given[p];
    oracle_hop first = given->hops[0];
    assert(given->num_hops == 1 && first.out_port == 1);
    s->packets[p].room = 4;
    given->hops = get(s->packets[p].room, sizeof *given->hops);
    given->granted = get(s->packets[p].room, sizeof *given->granted);
    given->hops[0] = (oracle_hop){first.node, 1, 0};
}

static void make_packet(sim *s, uint32_t p)
{
    oracle_packet *given = &s->given[p];
    bool known = !s->params->director && !s->params->policy;
    if (!known)
        make_way(s, p);
    s->packets[p].blocks = (given->length + BLOCK - 1) / BLOCK;
    given->arrived = NEVER;
    given->stuck = given->dropped = false;
    for (uint32_t hop = 0; hop < given->num_hops; hop++) {
        given->granted[hop] = NEVER;
        const port *out = out_of(s, p, hop);
        assert(vl_of(s, p, hop) < s->params->vls && out->peer);
        assert(!known || !out->tables || listed(out->tables, vl_of(s, p, hop)));
        assert(hop == 0 || in_of(s, p, hop)->node == given->hops[hop].node);
    }
    assert(given->length > 0 && !is_switch(s, given->hops[0].node));
    assert(!known || !is_switch(s, in_of(s, p, given->num_hops)->node));
    assert(s->packets[p].blocks <= s->params->input);
    assert((given->num_hops == 1 && known) || s->packets[p].blocks <= s->params->output);
    close_in(s, p);
}

/* Rule 15. */
static void one_tick(sim *s)
{
    s->now = s->heap[0].time;
    if (s->params->policy)
        oracle_policy_tick(s);
    if (!s->left)
        return; /* rule 33 */
    while (s->num_events && s->heap[0].time == s->now) {
        event e = pop(s);
        apply(s, &e);
    }
    for (uint32_t i = 0; i < s->base[s->num_switches]; i++)
        try_grant(s, &s->ports[i]);
    for (uint32_t i = s->base[s->num_switches]; i < s->base[s->num_nodes]; i++)
        try_inject(s, &s->ports[i]);
    assert(!s->num_events || s->heap[0].time > s->now);
}

static void release(sim *s)
{
    for (uint32_t i = 0; i < s->base[s->num_nodes]; i++) {
        free(s->ports[i].credits);
        free(s->ports[i].last_pair);
        free(s->ports[i].candidate);
        free(s->ports[i].closed.items);
        free(s->ports[i].outgoing.items);
        free(s->ports[i].inside.items);
        free(s->ports[i].control.items);
    }
    free(s->ports);
    free(s->base);
    free(s->packets);
    free(s->heap);
}

oracle_end oracle_run(const oracle_params *params, uint32_t num_switches, const uint32_t *ports,
                      uint32_t num_adapters, const oracle_cable *cables, uint32_t num_cables,
                      oracle_packet *packets, uint32_t num_packets)
{
    assert(params->credit > 0 && params->speedup > 0 && params->vls > 0 && params->ways > 0);
    assert(params->open > 0 && params->drain > 0);
    sim s = {.params = params,
             .num_switches = num_switches,
             .num_nodes = num_switches + num_adapters,
             .num_packets = num_packets,
             .left = num_packets,
             .given = packets,
             .packets = get(num_packets, sizeof(packet))};
    make_ports(&s, ports);
    for (uint32_t i = 0; i < num_cables; i++)
        connect(&s, &cables[i]);
    for (uint32_t p = 0; p < num_packets; p++)
        make_packet(&s, p);
    for (uint32_t i = 0; params->director && i < params->director->num_wakes; i++)
        oracle_push(&s, params->director->wakes[i], WAKE, 0, 0, 0);
    if (params->policy)
        oracle_policy_begin(&s);
    while (s.left && s.num_events && s.heap[0].time < params->limit)
        one_tick(&s);
    oracle_end end = ORACLE_COMPLETED;
    if (s.left)
        end = find_stuck(&s) ? ORACLE_DEADLOCK : ORACLE_LIMIT;
    if (params->policy)
        oracle_policy_end(&s, packets, num_packets);
    release(&s);
    return end;
}
