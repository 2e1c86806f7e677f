/*
 * random.c: each way of a pair as likely as the others.
 *
 * Source: the thesis of Nunez Castillo (2013) compares with it (4.8.4) and says no more; ways are
 * those that DRB would open. Cost: a look-up a choice.
 */
#include "adapt/pathsets.h"

static uint32_t pick(sv_adapt *a, sv__pathset *set)
{
    return (uint32_t)sv_rng_below(&a->rng, /*~random_last*/ set->count);
}

static sv_status make(sv_adapt *a)
{
    return sv__pathsets_make(a, pick);
}

const sv__policy_kind sv__policy_random = {
    .about = {.name = "random",
              .summary = "path 0 and other ways of a pair, each as likely",
              .source = "thesis of Nunez Castillo (2013), chapter 4: what DRB is compared with",
              .keys = sv__pathsets_keys},
    .segments = SV_SIM_MAX_SEGMENTS,
    .make = make,
    .release = sv__pathsets_release,
};
