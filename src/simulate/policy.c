/*
 * policy.c: packets that choose their way (rules 25 to 28, 30, 31, 33): the policy's hooks,
 * segments and VLs. control.c has the packets it sends itself, reorder.c what happens where
 * packets arrive.
 *
 * Idea: packet->destination is the target of the packet's segment, so that whoever looks a way up
 * need not know of vias; that a packet is at its via shows when the tables have port 0 for it. What
 * a packet carries for the policy alone is in an array beside the others, which is touched where
 * packets begin and end, and at a grant if there is a hook that hears what they waited.
 *
 * Port 0 of switch s is an input like those of channels: number channels + s.
 *
 * Invariants: a run with a policy is of one part. In a tick, packets arrive first, then comes the
 * timer, then outputs are looked at. A hook may send control packets, and so move x->packets and
 * x->heads: it gets a copy of the head, and nobody keeps pointers into them across it.
 *
 * Cost: O(1) for each packet and hop, and for each choice one look-up of the pair a message.
 */
#include "simulate/policy.h"

/* ---- setting up ---- */

sv_status sv__policy_check(sv_ctx *ctx, const sv_sim_setup *setup)
{
    const sv_sim_policy *p = setup->policy;
    if (setup->director != NULL)
        return sv_fail(ctx, SV_BAD_INPUT, "a policy and a director exclude each other");
    if (p->segments < 1 || p->segments > SV_SIM_MAX_SEGMENTS)
        return sv_fail(ctx, SV_BAD_INPUT, "a policy has 1 to %d segments, not %u",
                       SV_SIM_MAX_SEGMENTS, p->segments);
    if (p->header_bytes > UINT16_MAX)
        return sv_fail(ctx, SV_BAD_INPUT, "a policy's header of %u bytes is too long",
                       p->header_bytes);
    return SV_OK;
}

static unsigned max_of(const sv_routes *r, const sv_sl2vl *vls, unsigned max)
{
    for (unsigned sl = 0; sl < r->num_sls; sl++)
        if (vls->of_sl[sl] != SV_NO_VL && vls->of_sl[sl] >= max)
            max = vls->of_sl[sl] + 1u;
    return max;
}

unsigned sv_sim_table_vls(const sv_fabric *f, const sv_routes *r)
{
    unsigned max = 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (/*~vls_node*/ v >= f->num_switches || r->sl2vl_by_port[v] == NULL) {
            max = max_of(r, &r->vl_tables[r->vls_of[v]], max);
            continue;
        }
        for (unsigned in = /*~vls_port_one*/ 0; in <= f->switches[v].ports; in++)
            for (unsigned out = 1; out <= f->switches[v].ports; out++)
                max = max_of(r, sv_route_sl2vl(r, f, (sv_node){v}, in, out), max);
    }
    return max;
}

static sv_status check_vls(sv__sim *x, const sv_sim_policy *p)
{
    unsigned vls = sv_sim_table_vls(x->f, x->r);
    if (x->m->weighted && (x->r->vlarb[SV_VLARB_CA].given || x->r->vlarb[SV_VLARB_SWE].given))
        return sv_fail(x->ctx, SV_BAD_INPUT, "a policy and VLs by weights exclude each other");
    if ((uint64_t)p->segments * vls + p->adaptive > x->m->vls)
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "%u segments of %u VLs and %u adaptive ones are more than %u VLs",
                       p->segments, vls, p->adaptive, x->m->vls);
    x->vl_step = vls;
    x->adaptive = p->adaptive;
    x->policy->first_adaptive = /*~adaptive_first*/ p->segments * vls;
    return SV_OK;
}

sv_status sv__policy_init(sv__sim *x, const sv_sim_policy *p)
{
    sv__policy *k = SV_ARENA_NEW(&x->arena, sv__policy, 1);
    if (k == NULL)
        return SV_NO_MEMORY;
    k->hooks = p;
    k->next = p->timer != NULL ? p->first : SV_NEVER;
    k->free_control = SV_NONE;
    k->queued = x->listens = p->deliver != NULL || p->depart != NULL;
    x->policy = k;
    SV_TRY(sv_cells_init(&k->pair_of, x->ctx, x->f->num_terminals, x->f->num_terminals));
    x->num_inputs = x->f->num_channels + x->f->num_switches;
    SV_TRY(check_vls(x, p));
    size_t terminals = x->f->num_terminals;
    k->inboxes = SV_ARENA_NEW(&x->arena, sv__queue, terminals);
    k->outboxes = SV_ARENA_NEW(&x->arena, sv__queue, terminals);
    k->early = SV_ARENA_NEW(&x->arena, uint64_t, terminals);
    x->controls = SV_ARENA_NEW(&x->arena, uint16_t, x->f->num_channels);
    if (k->inboxes == NULL || k->outboxes == NULL || k->early == NULL || x->controls == NULL)
        return SV_NO_MEMORY;
    for (size_t t = 0; t < terminals; t++)
        k->inboxes[t].first = k->outboxes[t].first = SV_NONE;
    if (x->listens || p->choose != NULL || p->timer != NULL) {
        x->load = SV_ARENA_NEW(&x->arena, uint64_t, x->f->num_channels);
        if (x->load == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

void sv__policy_release(sv__sim *x)
{
    sv__policy *k = x->policy;
    if (k == NULL)
        return;
    sv_cells_release(&k->pair_of);
    for (size_t i = 0; i < k->pairs.length; i++)
        sv_release(x->ctx, k->pairs.at[i].early);
    sv_array_release(x->ctx, &k->pairs);
    sv_array_release(x->ctx, &k->controls);
    sv_release(x->ctx, k->plans);
    sv_release(x->ctx, k->waiting.next);
    sv_release(x->ctx, x->heads);
    sv_release(x->ctx, x->waited);
}

uint64_t sv__policy_bytes(const sv__sim *x)
{
    const sv__policy *k = x->policy;
    size_t next = k->waiting.lists != NULL ? sizeof *k->waiting.next : 0;
    next += x->listens ? sizeof *x->waited : 0;
    return k->heads_room * (sizeof *x->heads + next) + k->plans_room * sizeof *k->plans +
           k->pairs.room * sizeof *k->pairs.at + k->controls.room * sizeof *k->controls.at +
           k->early_room * sizeof *k->pairs.at->early + sv_cells_bytes(&k->pair_of);
}

sv_status sv__policy_room(sv__sim *x, uint32_t packets)
{
    sv_sim_head *heads = sv_resize(x->ctx, x->heads, packets, sizeof *heads);
    if (heads == NULL)
        return SV_NO_MEMORY;
    x->heads = heads;
    x->policy->heads_room = packets;
    if (x->listens) {
        uint64_t *waited = sv_resize(x->ctx, x->waited, packets, sizeof *waited);
        if (waited == NULL)
            return SV_NO_MEMORY;
        x->waited = waited;
    }
    if (x->policy->waiting.lists != NULL) {
        uint32_t *next = sv_resize(x->ctx, x->policy->waiting.next, packets, sizeof *next);
        if (next == NULL)
            return SV_NO_MEMORY;
        x->policy->waiting.next = next;
    }
    return SV_OK;
}

sv_status sv__policy_open_room(sv__sim *x, uint32_t opened)
{
    sv__sim_plan *plans = sv_resize(x->ctx, x->policy->plans, opened, sizeof *plans);
    if (plans == NULL)
        return SV_NO_MEMORY;
    x->policy->plans = plans;
    x->policy->plans_room = opened;
    return SV_OK;
}

/* ---- running ---- */

bool sv__policy_done(const sv__sim *x)
{
    return x->pending == 0 &&
           /*~end_control*/ x->injected - x->control_injected == x->arrived - x->control_arrived;
}

uint64_t sv__policy_next(sv__sim *x)
{
    const sv__policy *k = x->policy;
    uint64_t event = sv__events_peek(x), next = event < k->next ? event : k->next;
    if (!sv__policy_done(x) || next < x->last_arrival)
        return next;
    bool arrives = event == x->last_arrival && sv__events_arrives(x);
    return /*~end_last*/ arrives ? next : SV_NEVER;
}

bool sv__policy_hopeless(sv__sim *x)
{
    return !sv__policy_done(x) && sv__events_peek(x) == SV_NEVER;
}

void sv__policy_call(sv__sim *x, uint64_t time)
{
    sv__policy *k = x->policy;
    if (k->hooks->timer != NULL /*~timer_later*/ && time < k->next)
        /*~timer_lost*/ k->next = time;
}

static sv_status call(sv__sim *x)
{
    sv__policy *k = x->policy;
    uint64_t again = SV_NEVER;
    x->now = k->next;
    k->next = SV_NEVER;
    SV_TRY(k->hooks->timer(k->hooks->user, x, x->now, &again));
    if (again <= x->now)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "a policy wants to be called again at tick %llu of %llu",
                       (unsigned long long)again, (unsigned long long)x->now);
    k->next = /*~timer_sooner*/ again < k->next ? again : k->next;
    return SV_OK;
}

sv_status sv__policy_run(sv__sim *x, uint64_t until)
{
    const sv__policy *k = x->policy;
    uint32_t base = x->events.base;
    for (;;) {
        uint64_t event = sv__events_peek(x);
        if (event >= until || event >= k->next || sv__policy_done(x)) {
            if (sv__policy_next(x) >= until)
                return SV_OK;
            if (/*~timer_before*/ k->next < event || (k->next == event && !sv__events_arrives(x))) {
                SV_TRY(call(x));
                continue;
            }
        }
        uint32_t slot = sv__events_next(x), c = slot - base;
        if (slot < base) {
            SV_TRY(sv__policy_arrived(x, slot));
            continue;
        }
        x->result->looks++;
        SV_TRY(sv__is_switch(x, x->f->tail[c].i) ? sv__look(x, c) : sv__look_adapter(x, c));
    }
}

/* ---- ways ---- */

static sv_status check_way(const sv__sim *x, const sv_sim_way *way)
{
    unsigned max = x->policy->hooks->segments - 1;
    if (way->vias > max)
        return sv_fail(x->ctx, SV_BAD_INPUT, "a way by %u switches is not one of %u segments",
                       way->vias, max + 1);
    for (unsigned i = 0; i < way->vias; i++)
        if (way->via[i] >= x->r->num_destinations || !sv__is_switch(x, x->r->node[way->via[i]].i))
            return sv_fail(x->ctx, SV_BAD_INPUT,
                           "a way leads by destination %u, which is no switch", way->via[i]);
    return SV_OK;
}

/* The target of a way's segment. */
static uint32_t target_of(const sv_sim_way *way, uint32_t destination, unsigned segment)
{
    return segment < way->vias ? way->via[segment] : destination;
}

sv_status sv__policy_choose(sv__sim *x, uint32_t t, uint32_t i, unsigned *vl)
{
    sv__policy *k = x->policy;
    const sv_sim_message message = x->opened[i].message;
    sv_sim_way way = {0};
    if (k->hooks->choose != NULL) {
        k->turns = t + 1;
        sv_status status = k->hooks->choose(k->hooks->user, x, x->now, t, &message,
                                            /*~offset_before*/ x->opened[i].sent, &way);
        k->turns = 0;
        SV_TRY(status);
        SV_TRY(check_way(x, &way));
    }
    uint32_t target = target_of(&way, message.destination, 0);
    unsigned sl = sv_route_sl(x->r, (sv_node){x->f->num_switches + t}, /*~first_sl*/ target);
    k->plans[i].way = way;
    x->opened[i].sl = (uint8_t)sl;
    return sv__adapter_vl(x, t, target, sl, vl);
}

sv_status sv__policy_open(sv__sim *x, uint32_t t, uint32_t i, unsigned *vl)
{
    const sv_sim_message *message = &x->opened[i].message;
    uint32_t to = x->r->node[message->destination].i - x->f->num_switches;
    uint32_t packets = message->bytes == 0
                           ? /*~packets_none*/ 1
                           : /*~packets_full*/ (message->bytes - 1) / x->m->mtu_bytes + 1;
    sv__sim_plan *plan = &x->policy->plans[i];
    SV_TRY(sv__pair_of(x, t, to, &plan->pair));
    sv__sim_pair *pair = &x->policy->pairs.at[plan->pair];
    plan->sequence = pair->opened;
    pair->opened += packets;
    return sv__policy_choose(x, t, i, vl);
}

bool sv__policy_by_packet(const sv__sim *x)
{
    return x->policy->hooks->by_packet && x->policy->hooks->choose != NULL;
}

void sv__policy_injected(sv__sim *x, uint32_t p, uint32_t i)
{
    sv__sim_plan *plan = &x->policy->plans[i];
    sv__packet *packet = &x->packets[p];
    uint32_t sequence = plan->sequence++, blocks = sv__blocks(packet->length);
    x->heads[p] = (sv_sim_head){.way = plan->way,
                                .from = {x->f->num_switches + packet->from},
                                .destination = packet->destination,
                                .bytes = packet->length,
                                .tag = x->cargo[p].tag,
                                .sequence = sequence,
                                .injected = x->now,
                                .last = packet->last};
    packet->destination = target_of(&plan->way, packet->destination, /*~via_first*/ 0);
    x->cargo[p].serial = plan->pair;
    x->result->detours += /*~detours_control*/ plan->way.vias > 0;
    /*~data_small*/ x->min_data = blocks < x->min_data ? blocks : x->min_data;
    if (x->listens)
        x->waited[p] = 0;
    sv__audit_injected(x, plan->pair, sequence);
}

sv_status sv__way_from(sv__sim *x, sv__packet *packet, sv_node at)
{
    uint32_t to = packet->destination, base = x->port_base[at.i];
    unsigned port = sv_route_port(x->r, at, to), sl = sv_route_sl(x->r, at, to);
    uint32_t out = base + port < x->port_base[at.i + 1] ? x->by_port[base + port] : SV_NONE;
    if (out == SV_NONE)
        return sv_fail(x->ctx, SV_BAD_INPUT, "switch '%s' has no way for a packet to '%s'",
                       sv_node_name(x->f, at), sv_node_name(x->f, x->r->node[to]));
    if (sl >= SV_MAX_SLS)
        return sv_fail(x->ctx, SV_BAD_INPUT, "the service level from '%s' to '%s' is not known",
                       sv_node_name(x->f, at), sv_node_name(x->f, x->r->node[to]));
    unsigned vl = sv_route_sl2vl(x->r, x->f, at, /*~segment_port*/ 0, port)->of_sl[sl];
    if (vl >= x->m->vls)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "switch '%s' has no VL for service level %u from port 0 to port %u",
                       sv_node_name(x->f, at), sl, port);
    /*~segment_sl*/ packet->sl = (uint8_t)sl;
    packet->out = out;
    packet->out_vl = /*~segment_vl*/ (uint8_t)(vl + packet->segment * x->vl_step);
    /*~loop_segments*/ packet->hops = 1;
    return SV_OK;
}

sv_status sv__policy_turn(sv__sim *x, uint32_t p, sv_node at)
{
    sv__packet *packet = &x->packets[p];
    sv_sim_head *head = &x->heads[p];
    /*~via_twice*/ while (x->r->node[packet->destination].i == at.i &&
                          head->segment < head->way.vias) {
        head->segment++;
        packet->destination = target_of(&head->way, head->destination, head->segment);
    }
    packet->segment = head->segment & 3;
    return sv__way_from(x, packet, at);
}

/* ---- VLs ---- */

uint32_t sv__policy_first_adaptive(const sv__sim *x)
{
    return x->policy->first_adaptive;
}

/* Whether there are credits on a VL for a want. */
static bool stands(sv__sim *x, uint32_t channel, sv__sim_want *w, unsigned vl, uint64_t *lacking,
                   uint64_t *next)
{
    uint64_t when;
    if (*lacking >> vl & 1) /* and somebody has planned for it */
        return false;
    if (sv__credits_there(x, channel, vl, w->blocks, &when)) {
        w->vl = (uint8_t)vl;
        return true;
    }
    if (/*~adaptive_lack*/ w->blocks == x->min)
        *lacking |= (uint64_t)1 << vl;
    *next = when < *next ? when : *next;
    return false;
}

bool sv__stand_for(sv__sim *x, uint32_t channel, sv__sim_want *w, uint64_t *lacking, uint64_t *next)
{
    unsigned first = x->policy->first_adaptive;
    /*~escape_first*/ for (unsigned vl = first; /*~adaptive_less*/ vl < first + x->adaptive; vl++)
        if (stands(x, channel, w, /*~adaptive_last*/ vl, lacking, next))
            return true;
    return /*~escape_never*/ stands(x, channel, w, w->escape, lacking, next);
}

/* ---- what can be heard ---- */

sv_status sv__policy_granted(sv__sim *x, uint32_t p, uint32_t out, uint64_t waited)
{
    const sv_sim_policy *hooks = x->policy->hooks;
    if (waited == 0)
        return SV_OK;
    x->waited[p] /*~waited_sum*/ += waited;
    if (hooks->depart == NULL || waited /*~patience_just*/ <= hooks->patience)
        return SV_OK;
    sv_sim_head head = x->heads[p];
    head.waited = x->waited[p];
    SV_TRY(hooks->depart(hooks->user, x, x->now, (sv_channel){out}, waited, &head));
    /*~note_lost*/ x->heads[p].note = head.note;
    return SV_OK;
}
