/*
 * pr_drb.c: predictive: a source keeps the paths that helped, with the flows that they helped
 * against, and opens all of them at once when those flows come again.
 *
 * All of it is in balance.c and what stands beside that. Cost: see there.
 */
#include "adapt/balance.h"

static sv_status make(sv_adapt *a)
{
    return sv__balance_make(a, /*~kind_pr*/ false, true);
}

static const sv_adapt_key *const keys[] = {SV__KEY(PATHS),    SV__KEY(VIAS),       SV__KEY(REACH),
                                           SV__KEY(STRETCH),  SV__KEY(SMOOTH),     SV__KEY(HIGH),
                                           SV__KEY(LOW),      SV__KEY(ACK),        SV__KEY(BY),
                                           SV__KEY(ADAPTIVE), SV__KEY(CONTENTION), SV__KEY(LOOK),
                                           SV__KEY(FLOWS),    SV__KEY(SHARE),      SV__KEY(NOTIFY),
                                           SV__KEY(SIMILAR),  SV__KEY(TRIAL),      SV__KEY(APPLY),
                                           SV__KEY(TREND),    SV__KEY(AHEAD),      NULL};

const sv__policy_kind sv__policy_pr_drb = {
    .about = {.name = "pr-drb",
              .summary = "drb that learns which paths helped against whom",
              .source = "thesis of Nunez Castillo (2013), chapter 3",
              .keys = keys,
              .keeps = true},
    .segments = SV_SIM_MAX_SEGMENTS,
    .routers_send = true,
    .make = make,
    .release = sv__balance_release,
    .load = sv__balance_load,
    .save = sv__balance_save,
};
