/*
 * drb.c: distributed routing balancing: a source opens paths, one at a time, when what its packets
 * wait for is too much, sends more over those that are faster, and closes them again.
 *
 * All of it is in balance.c and what stands beside that. Cost: see there.
 */
#include "adapt/balance.h"

static sv_status make(sv_adapt *a)
{
    return sv__balance_make(a, /*~kind_drb*/ false, false);
}

static const sv_adapt_key *const keys[] = {SV__KEY(PATHS),
                                           SV__KEY(VIAS),
                                           SV__KEY(REACH),
                                           SV__KEY(STRETCH),
                                           SV__KEY(SMOOTH),
                                           SV__KEY(HIGH),
                                           SV__KEY(LOW),
                                           SV__KEY(ACK),
                                           SV__KEY(BY),
                                           SV__KEY(ADAPTIVE),
                                           NULL};

const sv__policy_kind sv__policy_drb = {
    .about = {.name = "drb",
              .summary = "paths are opened where it is crowded, and closed again",
              .source = "Franco, Garces, Luque: Distributed Routing Balancing; thesis of Nunez "
                        "Castillo (2013), 3.2",
              .keys = keys},
    .segments = SV_SIM_MAX_SEGMENTS,
    .make = make,
    .release = sv__balance_release,
};
