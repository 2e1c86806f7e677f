/*
 * deterministic.c: packets go as the tables say. What others are compared with; with adaptive
 * VLs, those on top.
 *
 * Cost: none.
 */
#include "adapt/adapt.h"

static sv_status make(sv_adapt *a)
{
    (void)a;
    return SV_OK;
}

static const sv_adapt_key *const keys[] = {SV__KEY(ADAPTIVE), NULL};

const sv__policy_kind sv__policy_deterministic = {
    .about = {.name = "deterministic",
              .summary = "the tables' own path",
              .source = "thesis of Nunez Castillo (2013), chapter 4: what DRB is compared with",
              .keys = keys},
    .segments = 1,
    .make = make,
};
