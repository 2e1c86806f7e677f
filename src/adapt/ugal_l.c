/*
 * ugal_l.c: universal globally adaptive load-balanced routing with what a source's switch knows: a
 * random detour is drawn, and taken if the tables' own path looks slower: bytes that wait at its
 * first channel times its hops against the same of the detour.
 *
 * Channels are those between switches. Where the first one is the same the tables' path is taken,
 * as it is not longer.
 *
 * Source: A. Singh, Load-Balanced Routing in Interconnection Networks, 2005; on dragonflies J. Kim
 * et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008. Cost: O(length) a
 * choice.
 */
#include "adapt/vias.h"

static double waits(const sv_adapt *a, const sv_sim_run *stage, uint32_t s, uint32_t first,
                    uint32_t channels)
{
    sv_channel c = sv__ways_next(a, s, first);
    return (double)sv_sim_backlog(stage, c) * channels;
}

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    uint32_t destination = message->destination;
    sv__detour detour = sv__vias_draw(a, a->state, terminal, destination);
    (void)now, (void)offset;
    a->report.choices++;
    uint32_t own = detour.via == SV_NONE ? SV_NONE : sv__ways_length(a, detour.s, destination);
    if (own == SV_NONE || own < 2)
        return SV_OK;
    if (waits(a, stage, detour.s, destination, own /*~ugal_terminal*/ - 1) /*~ugal_equal*/ >
        waits(a, stage, detour.s, detour.via, detour.channels - 1) /*~ugal_bias*/ + a->set.bias)
        sv__vias_take(a, &detour, way);
    return SV_OK;
}

static sv_status make(sv_adapt *a)
{
    a->policy.choose = choose;
    return sv__vias_new(a);
}

static const sv_adapt_key *const keys[] = {SV__KEY(VIA_FAR), SV__KEY(BIAS), SV__KEY(BY_PACKET),
                                           SV__KEY(ADAPTIVE), NULL};

const sv__policy_kind sv__policy_ugal_l = {
    .about = {.name = "ugal-l",
              .summary = "by way of a random switch if the first channel there waits less",
              .source = "Singh 2005; on dragonflies Kim et al., ISCA 2008",
              .keys = keys},
    .segments = 2,
    .make = make,
};
