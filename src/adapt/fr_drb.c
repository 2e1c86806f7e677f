/*
 * fr_drb.c: fast response: an acknowledgement that is late is a sign of crowds, too. A source so
 * opens paths before the packets that waited have arrived.
 *
 * All of it is in balance.c and what stands beside that. Cost: see there.
 */
#include "adapt/balance.h"

static sv_status make(sv_adapt *a)
{
    return sv__balance_make(a, /*~kind_fr*/ true, false);
}

static const sv_adapt_key *const keys[] = {SV__KEY(PATHS),    SV__KEY(VIAS),     SV__KEY(REACH),
                                           SV__KEY(STRETCH),  SV__KEY(SMOOTH),   SV__KEY(HIGH),
                                           SV__KEY(LOW),      SV__KEY(ACK),      SV__KEY(BY),
                                           SV__KEY(ADAPTIVE), SV__KEY(WATCHDOG), NULL};

const sv__policy_kind sv__policy_fr_drb = {
    .about =
        {.name = "fr-drb",
         .summary = "drb that does not wait for late acknowledgements",
         .source =
             "Lugones, Franco, Luque: fast-response DRB; thesis of Nunez Castillo (2013), 4.8.4",
         .keys = keys},
    .segments = SV_SIM_MAX_SEGMENTS,
    .make = make,
    .release = sv__balance_release,
};
