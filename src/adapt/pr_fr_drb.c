/*
 * pr_fr_drb.c: predictive, with fast response: a late acknowledgement makes a source look for a
 * solution against the flows that it knows, or open a path.
 *
 * All of it is in balance.c and what stands beside that. Cost: see there.
 */
#include "adapt/balance.h"

static sv_status make(sv_adapt *a)
{
    return sv__balance_make(a, /*~kind_pr_fr*/ true, true);
}

static const sv_adapt_key *const keys[] = {SV__KEY(PATHS),    SV__KEY(VIAS),
                                           SV__KEY(REACH),    SV__KEY(STRETCH),
                                           SV__KEY(SMOOTH),   SV__KEY(HIGH),
                                           SV__KEY(LOW),      SV__KEY(ACK),
                                           SV__KEY(BY),       SV__KEY(ADAPTIVE),
                                           SV__KEY(WATCHDOG), SV__KEY(CONTENTION),
                                           SV__KEY(LOOK),     SV__KEY(FLOWS),
                                           SV__KEY(SHARE),    SV__KEY(NOTIFY),
                                           SV__KEY(SIMILAR),  SV__KEY(TRIAL),
                                           SV__KEY(APPLY),    SV__KEY(TREND),
                                           SV__KEY(AHEAD),    NULL};

const sv__policy_kind sv__policy_pr_fr_drb = {
    .about = {.name = "pr-fr-drb",
              .summary = "pr-drb that does not wait for late acknowledgements",
              .source = "thesis of Nunez Castillo (2013), 4.8.4",
              .keys = keys,
              .keeps = true},
    .segments = SV_SIM_MAX_SEGMENTS,
    .routers_send = true,
    .make = make,
    .release = sv__balance_release,
    .load = sv__balance_load,
    .save = sv__balance_save,
};
