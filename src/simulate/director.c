/*
 * director.c: tables that change while traffic runs: the director's calls, and what he may do
 * (rules 21 and 22; incident.c has what becomes of packets).
 *
 * A run with a director is of one part, and looks ways up in tables of its own: a clone of those it
 * was given, of which a row is copied when it is first changed. So whoever looks a way up need not
 * know that there is a director.
 *
 * Invariants: the director acts before any other event of its tick, and x->now is that tick then.
 * An adapter that is held has no look planned for the sake of its next message: it waits for
 * sv_sim_wake, and does not spin.
 *
 * Cost: O(1) for each look; for a block, O(destinations in it), and a copy of each row that changes
 * first; for VLs, O(ports² × tables).
 */
#include "simulate/director.h"
#include "base/bitset.h"
#include "routes/routes.h"

/* ---- setting up ---- */

/* Sorts destinations by blocks. */
static sv_status init_blocks(sv__sim *x, sv__sim_direction *direction)
{
    const sv_routes *r = direction->r;
    uint32_t n = r->num_destinations;
    for (uint32_t d = 0; d < n; d++) {
        uint32_t block = sv__routes_block(r, d);
        direction->num_blocks = block >= direction->num_blocks ? block + 1 : direction->num_blocks;
    }
    direction->block_first = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)direction->num_blocks + 2);
    direction->block_of = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)n + 1);
    if (direction->block_first == NULL || direction->block_of == NULL)
        return SV_NO_MEMORY;
    for (uint32_t d = 0; d < n; d++) /* counted two places on: filling moves each by one */
        direction->block_first[sv__routes_block(r, d) + 2]++;
    for (uint32_t b = 2; b < direction->num_blocks + 2; b++)
        direction->block_first[b] += direction->block_first[b - 1];
    for (uint32_t d = 0; d < n; d++)
        /*~block_lids*/ direction->block_of[direction->block_first[sv__routes_block(r, d) + 1]++] =
            d;
    return SV_OK;
}

sv_status sv__direct_init(sv__sim *x)
{
    sv__sim_direction *direction = SV_ARENA_NEW(&x->arena, sv__sim_direction, 1);
    if (direction == NULL)
        return SV_NO_MEMORY;
    direction->next = x->director->act != NULL ? x->director->first : SV_NEVER;
    direction->words = sv_bitset_words((size_t)x->f->num_switches + 1);
    sv_map_init(&direction->latest, x->ctx);
    x->direction = direction;
    SV_TRY(sv_routes_clone(x->ctx, x->r, &direction->r));
    x->r = direction->r;
    return init_blocks(x, direction);
}

void sv__direct_release(sv__sim *x)
{
    sv__sim_direction *direction = x->direction;
    if (direction == NULL)
        return;
    sv_release(x->ctx, direction->visited);
    sv_array_release(x->ctx, &direction->coming);
    sv_map_release(&direction->latest);
    sv_routes_free(direction->r);
}

uint64_t sv__direct_bytes(const sv__sim *x)
{
    const sv__sim_direction *direction = x->direction;
    return direction->visited_room * direction->words * sizeof *direction->visited +
           direction->coming.room * sizeof *direction->coming.at +
           direction->latest.size * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

/* ---- running ---- */

uint64_t sv__direct_next(const sv__sim *x)
{
    return x->direction->next;
}

static sv_status act(sv__sim *x)
{
    sv__sim_direction *direction = x->direction;
    uint64_t again = SV_NEVER;
    x->now = direction->next;
    direction->next = SV_NEVER;
    /*~settle_first*/ sv__direct_settle(x, x->now);
    direction->acting = true;
    sv_status status = x->director->act(x->director->user, x, x->now, &again);
    direction->acting = false;
    SV_TRY(status);
    if (again <= x->now)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "a director wants to be called again at tick %llu of %llu",
                       (unsigned long long)again, (unsigned long long)x->now);
    direction->next = /*~call_again*/ again < direction->next ? again : direction->next;
    return SV_OK;
}

sv_status sv__direct_run(sv__sim *x, uint64_t until)
{
    for (;;) {
        uint64_t event = sv__events_peek(x), next = x->direction->next;
        if ((next < event ? next : event) >= until)
            return SV_OK;
        if (next /*~act_after*/ <= event) {
            SV_TRY(act(x));
            continue;
        }
        uint32_t c = sv__events_next(x);
        x->result->looks++;
        SV_TRY(sv__is_switch(x, x->f->tail[c].i) ? sv__look(x, c) : sv__look_adapter(x, c));
    }
}

sv_status sv__direct_open(sv__sim *x, uint32_t t, sv_sim_message *message, unsigned *sl)
{
    sv_sim_message changed = *message;
    uint8_t level = (uint8_t)*sl;
    if (x->director->open == NULL)
        return SV_OK;
    if (!x->director->open(x->director->user, t, x->now, &changed, &level)) {
        /*~held_opened*/ x->adapters[t].held = true;
        return SV_OK;
    }
    if (changed.destination >= x->r->num_destinations ||
        x->r->node[changed.destination].i != x->r->node[message->destination].i)
        return sv_fail(x->ctx, SV_BAD_INPUT, "a director sends a message to '%s' elsewhere",
                       sv_node_name(x->f, x->r->node[message->destination]));
    /*~told_address*/ message->destination = changed.destination;
    /*~told_sl*/ *sl = level;
    return SV_OK;
}

/* ---- what a director may do ---- */

static sv_status may_change(const sv__sim *x, const sv_routes *with)
{
    if (x->direction == NULL || !x->direction->acting)
        return sv_fail(x->ctx, SV_BAD_INPUT, "tables change at the beginning of a tick only");
    const sv_routes *r = x->direction->r;
    if (with->num_switches != r->num_switches || with->num_terminals != r->num_terminals ||
        with->num_destinations != r->num_destinations)
        return sv_fail(x->ctx, SV_BAD_INPUT, "tables of different fabrics");
    return SV_OK;
}

sv_status sv_sim_set_block(sv_sim_run *x, sv_node s, uint32_t block, const sv_routes *with)
{
    const sv__sim_direction *direction = x->direction;
    SV_TRY(may_change(x, with));
    if (!sv__is_switch(x, s.i))
        return sv_fail(x->ctx, SV_BAD_INPUT, "node %u has no forwarding table", s.i);
    if (block >= direction->num_blocks)
        return SV_OK;
    for (uint32_t i = /*~entry_first*/ direction->block_first[block];
         i < direction->block_first[block + /*~block_next*/ 1]; i++) {
        uint32_t d = direction->block_of[i];
        if (with->lid[d] != direction->r->lid[d])
            return sv_fail(x->ctx, SV_BAD_INPUT, "tables of different LIDs");
        if (with->ports[d][s.i] == direction->r->ports[d][s.i])
            continue;
        uint8_t *row = sv_routes_row(x->ctx, direction->r, d);
        if (row == NULL)
            return SV_NO_MEMORY;
        row[s.i] = with->ports[d][s.i];
    }
    return SV_OK;
}

sv_status sv_sim_set_sl2vl(sv_sim_run *x, sv_node node, const sv_routes *with)
{
    SV_TRY(may_change(x, with));
    if (node.i >= sv_num_nodes(x->f))
        return sv_fail(x->ctx, SV_BAD_INPUT, "there is no node %u", node.i);
    return /*~vls_switch*/ sv__routes_take_vls(x->ctx, x->f, x->direction->r, node, with);
}

void sv_sim_wake(sv_sim_run *x, uint32_t terminal)
{
    if (terminal >= x->f->num_terminals || !x->adapters[terminal].held)
        return;
    x->adapters[terminal].held = false;
    sv__events_plan(x, x->adapters[terminal].channel, /*~wake_late*/ x->now);
}

void sv_sim_call(sv_sim_run *x, uint64_t time)
{
    time = sv__max(time, x->now /*~timer_again*/ + 1);
    if (x->policy != NULL)
        sv__policy_call(x, time);
    else if (x->director->act != NULL && time < x->direction->next)
        /*~call_lost*/ x->direction->next = time;
}

uint64_t sv_sim_under_way(const sv_sim_run *x)
{
    const sv__sim_direction *direction = x->direction;
    uint64_t still = 0; /* drained, as far as is known, but not yet */
    if (direction == NULL)
        return x->injected - x->arrived;
    if (direction->acting) /* what was before is settled */
        still = /*~drained_gone*/ direction->coming.length;
    else
        for (size_t i = 0; i < direction->coming.length; i++)
            still += direction->coming.at[i].time >= x->now;
    return x->injected - x->arrived - x->dropped + still;
}

uint32_t sv_sim_next_packet(const sv_sim_run *x)
{
    return (uint32_t)x->injected;
}
