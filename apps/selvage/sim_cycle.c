/*
 * sim_cycle.c: one ring of packets out of the many that a deadlock holds.
 *
 * A packet that is stuck waits for room in the buffer of a (channel, VL). That buffer holds
 * others that are stuck, and the first of these in its queue waits for room somewhere, too. So from
 * any stuck packet one can go on for ever, and comes back to a buffer where one was. Time: O(n log
 * n) of n packets.
 */
#include <stdlib.h>

#include "selvage/sim_shared.h"

/* By the buffer a packet is in; those that only stand behind another come last. */
static int in_order(const void *a, const void *b)
{
    const sv_sim_stuck *x = a, *y = b;
    if (x->in.i != y->in.i)
        return x->in.i < y->in.i ? -1 : 1;
    if (x->vl != y->vl)
        return x->vl < y->vl ? -1 : 1;
    if (x->behind != y->behind)
        return x->behind ? 1 : -1;
    if (x->out.i != y->out.i)
        return x->out.i < y->out.i ? -1 : 1;
    return x->since < y->since ? -1 : x->since > y->since;
}

/* The first packet in a buffer, or count. */
static size_t first_in(const sv_sim_stuck *stuck, size_t count, sv_channel in, unsigned vl)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const sv_sim_stuck *s = &stuck[middle];
        if (s->in.i < in.i || (s->in.i == in.i && s->vl < vl))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || stuck[low].in.i != in.i || stuck[low].vl != vl)
        return count;
    return low;
}

/* Goes from packet to packet until it is somewhere again: steps[p] is when p was passed, from 1 on.
 * Returns where it came back to, or count if the packets are none that wait for each other. */
static size_t walk(const sv_sim_stuck *stuck, size_t count, size_t *steps)
{
    size_t at = 0;
    for (size_t step = 1; at < count && steps[at] == 0; step++) {
        steps[at] = step;
        at = first_in(stuck, count, stuck[at].out, stuck[at].out_vl);
    }
    return at;
}

static sv_wait wait_of(const struct sim *sim, const sv_sim_stuck *s)
{
    sv_node from = {sim->f->num_switches + s->from};
    return (sv_wait){.channel = s->in,
                     .vl = s->vl,
                     .sl = (uint8_t)sv_route_sl(sim->r, from, s->destination),
                     .from = from,
                     .destination = s->destination};
}

sv_status sim_find_cycle(struct app *app, const struct sim *sim, sv_wait **cycle, size_t *length)
{
    size_t count = sim->result->num_stuck, found = 0;
    sv_sim_stuck *stuck = sv_alloc(app->ctx, count, sizeof *stuck);
    size_t *steps = sv_alloc(app->ctx, count, sizeof *steps);
    sv_wait *waits = sv_alloc(app->ctx, count, sizeof *waits);
    if (stuck != NULL && steps != NULL && waits != NULL && count > 0) {
        for (size_t i = 0; i < count; i++)
            stuck[i] = sim->result->stuck[i];
        qsort(stuck, count, sizeof *stuck, in_order);
        size_t begin = walk(stuck, count, steps), at = begin;
        while (at < count && (at != begin || found == 0)) {
            waits[found++] = wait_of(sim, &stuck[at]);
            at = first_in(stuck, count, stuck[at].out, stuck[at].out_vl);
        }
    }
    sv_status status = stuck == NULL || steps == NULL || waits == NULL ? SV_NO_MEMORY : SV_OK;
    sv_release(app->ctx, stuck);
    sv_release(app->ctx, steps);
    *cycle = waits;
    *length = found;
    return status;
}
