/*
 * adapting.h: what tests of policies share: a policy on a small fabric.
 */
#ifndef SELVAGE_ADAPTING_H
#define SELVAGE_ADAPTING_H

#include "adapt/balance.h"
#include "base/file.h"
#include "support/testing.h"

/* A fabric, its tables, a model and a policy. */
typedef struct bed {
    sv_fabric *f;
    sv_routes *r;
    sv_sim_model model;
    sv_adapt *a;
    sv__balance *b; /* of the family of DRB */
} bed;

static inline void bed_policy(sv_ctx *ctx, bed *d, const char *spec, const char *store)
{
    sv_memory memory = {store, store == NULL ? 0 : strlen(store)};
    sv_source source = sv_memory_source(&memory, "store");
    sv_adapt_request request = {
        .spec = spec, .model = &d->model, .seed = 1, .store = store == NULL ? NULL : &source};
    unsigned vls = 0;
    OK(ctx, sv_adapt_new(ctx, d->f, d->r, &request, &d->a, &vls));
    d->model.vls = vls;
    d->b = d->a->state;
}

static inline bed bed_new(sv_ctx *ctx, const char *fabric, const char *engine, const char *profile)
{
    bed d = {.f = test_fabric(ctx, fabric)};
    d.r = test_routed(ctx, d.f, engine, 0);
    OK(ctx, sv_profile_model(ctx, profile, &d.model));
    return d;
}

static inline void bed_free(bed *d)
{
    sv_adapt_free(d->a);
    sv_routes_free(d->r);
    sv_fabric_free(d->f);
    *d = (bed){0};
}

static inline sv__drb_pair *bed_pair(sv_ctx *ctx, bed *d, uint32_t from, uint32_t to)
{
    uint32_t pair = 0;
    OK(ctx, sv__pairs_get(d->b, from, d->r->first[d->f->num_switches + to], &pair));
    return d->b->pairs.at[pair];
}

#endif
