/*
 * random.c: each way of a pair as likely as the others.
 *
 * Source: the thesis of Nunez Castillo (2013) compares with it (4.8.4) and says no more; ways are
 * those that DRB would open. Cost: a look-up a choice.
 */
#include "adapt/pathsets.h"

static sv_status choose(void *user, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    sv__pathset *set;
    const sv_sim_way *ways;
    (void)stage, (void)now, (void)offset;
    SV_TRY(sv__pathsets_of(a, terminal, message->destination, &set, &ways));
    *way = ways[sv_rng_below(&a->rng, set->count)];
    a->report.choices++;
    a->report.detours += way->vias > 0;
    return SV_OK;
}

static sv_status make(sv_adapt *a)
{
    a->policy.choose = choose;
    return sv__pathsets_make(a);
}

static const sv_adapt_key *const keys[] = {
    SV__KEY(PATHS),    SV__KEY(VIAS), SV__KEY(REACH), SV__KEY(STRETCH), SV__KEY(BY),
    SV__KEY(ADAPTIVE), NULL};

const sv__kind sv__policy_random = {
    .about = {.name = "random",
              .summary = "path 0 and other ways of a pair, each as likely",
              .source = "thesis of Nunez Castillo (2013), chapter 4: what DRB is compared with",
              .keys = keys},
    .segments = SV_SIM_MOST_SEGMENTS,
    .make = make,
    .release = sv__pathsets_release,
};
