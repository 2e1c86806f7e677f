/*
 * valiant.c: each packet first goes to a random switch, then to where it wants to go: whatever the
 * traffic, it is uniform then, at the cost of twice the way.
 *
 * Source: L. G. Valiant, A Scheme for Fast Parallel Communication, 1982. Cost: O(length) a choice.
 */
#include "adapt/vias.h"

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    sv__detour detour = sv__vias_draw(a, a->state, terminal, message->destination);
    (void)stage, (void)now, (void)offset;
    a->report.choices++;
    if (detour.via != SV_NONE)
        sv__vias_take(a, &detour, way);
    return SV_OK;
}

static sv_status make(sv_adapt *a)
{
    a->policy.choose = choose;
    return sv__vias_new(a);
}

static const sv_adapt_key *const keys[] = {SV__KEY(VIA), SV__KEY(BY_PACKET), SV__KEY(ADAPTIVE),
                                           NULL};

const sv__policy_kind sv__policy_valiant = {
    .about = {.name = "valiant",
              .summary = "by way of a random switch, always",
              .source = "Valiant 1982; on dragonflies as Kim et al., ISCA 2008",
              .keys = keys},
    .segments = 2,
    .make = make,
};
