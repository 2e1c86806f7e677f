/*
 * ugal_g.c: UGAL with a view of the whole fabric: the sum of what waits at all channels between
 * switches of a way decides between the tables' own path and a random detour. No switch could know
 * that: it is what UGAL-L is measured against.
 *
 * Source: J. Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008.
 * Cost: O(length) a choice.
 */
#include "adapt/vias.h"

/* Bytes that wait on the way from a switch to a destination; the last channel, to a terminal, is
 * the same for all ways and does not count. *s: the switch where it ends. */
static uint64_t waits(const sv_adapt *a, const sv_sim_run *stage, uint32_t *s, uint32_t destination)
{
    uint64_t bytes = 0;
    uint32_t target = a->r->node[destination].i;
    while (*s != target) {
        sv_channel c = sv__ways_next(a, *s, destination);
        uint32_t next = c.i == SV_NONE ? SV_NONE : a->f->head[c.i].i;
        if (next >= a->f->num_switches)
            break;
        bytes /*~ugal_last*/ += sv_sim_backlog(stage, c);
        *s = next;
    }
    return bytes;
}

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    uint32_t destination = message->destination;
    sv__detour detour = sv__vias_draw(a, a->state, terminal, destination);
    (void)now, (void)offset;
    a->report.choices++;
    if (detour.via == SV_NONE || sv__ways_length(a, detour.s, destination) == SV_NONE)
        return SV_OK;
    uint32_t at = detour.s;
    uint64_t own = waits(a, stage, &at, destination);
    at = detour.s;
    uint64_t other = waits(a, stage, &at, detour.via);
    /*~ugal_on*/ other += waits(a, stage, &at, destination);
    if ((double)own > (double)other + a->set.bias)
        sv__vias_take(a, &detour, way);
    return SV_OK;
}

static sv_status make(sv_adapt *a)
{
    a->policy.choose = choose;
    return sv__vias_new(a);
}

static const sv_adapt_key *const keys[] = {SV__KEY(VIA_FAR), SV__KEY(BIAS_SUM), SV__KEY(BY_PACKET),
                                           SV__KEY(ADAPTIVE), NULL};

const sv__policy_kind sv__policy_ugal_g = {
    .about = {.name = "ugal-g",
              .summary = "by way of a random switch if all channels there wait less",
              .source = "Kim et al., ISCA 2008",
              .keys = keys},
    .segments = 2,
    .make = make,
};
