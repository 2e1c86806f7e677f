/*
 * cyclic.c: the ways of a pair in turn, beginning with the tables' own.
 *
 * Source: the thesis of Nunez Castillo (2013) compares with it (4.8.4) and says no more; ways are
 * those that DRB would open. Cost: a look-up a choice.
 */
#include "adapt/pathsets.h"

static uint32_t pick(sv_adapt *a, sv__pathset *set)
{
    (void)a;
    return /*~cyclic_second*/ set->turn++ % set->count;
}

static sv_status make(sv_adapt *a)
{
    return sv__pathsets_make(a, pick);
}

const sv__policy_kind sv__policy_cyclic = {
    .about = {.name = "cyclic",
              .summary = "path 0 and other ways of a pair, in turn",
              .source = "thesis of Nunez Castillo (2013), chapter 4: what DRB is compared with",
              .keys = sv__pathsets_keys},
    .segments = SV_SIM_MAX_SEGMENTS,
    .make = make,
    .release = sv__pathsets_release,
};
