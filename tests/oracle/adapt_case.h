/*
 * adapt_case.h: random fabrics with failures and tables of several engines, for oracles of
 * src/adapt.
 */
#ifndef SELVAGE_ADAPT_CASE_H
#define SELVAGE_ADAPT_CASE_H

#include "base/rng.h"
#include "support/testing.h"

typedef struct adapt_case {
    sv_fabric *f;
    sv_routes *r;
    const char *spec, *engine;
    uint32_t failed, vls;
} adapt_case;

typedef struct adapt_kind {
    const char *spec, *engines[8];
} adapt_kind;

/* Cables between switches that fail, drawn. */
static inline sv_fabric *adapt_fail(sv_ctx *ctx, const sv_fabric *f, sv_rng *rng, uint32_t count)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *left = NULL;
    assert_non_null(mask);
    for (uint32_t i = 0; i < count; i++) {
        sv_channel c = {(uint32_t)sv_rng_below(rng, f->num_channels)};
        if (sv_joins_switches(f, c))
            sv_mask_cable(mask, f, c);
    }
    if (count > 3)
        sv_mask_node(mask, (sv_node){(uint32_t)sv_rng_below(rng, f->num_switches)});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    return left;
}

static inline void adapt_free(adapt_case *c)
{
    sv_routes_free(c->r);
    sv_fabric_free(c->f);
    *c = (adapt_case){0};
}

/* Whoever cannot do a fabric says so: the next engine of the row then, and nue at last. */
static inline adapt_case adapt_draw(sv_ctx *ctx, sv_rng *rng, bool failures)
{
    static const adapt_kind kinds[] = {
        {"mesh:3x3,hosts=1", {"dor", "updn", "nue", "minhop"}},
        {"mesh:4x3,hosts=2", {"dor", "weave", "nue", "dfsssp"}},
        {"torus:4x4,hosts=1", {"dor", "updn", "nue", "weave", "dfsssp", "torus2qos", "lash"}},
        {"torus:5,hosts=2", {"sssp", "nue", "updn", "dfsssp", "minhop"}},
        {"torus:3x3,hosts=1", {"weave", "nue", "sssp", "lash"}},
        {"kary:k=3,n=2,hosts=3", {"dmodk", "ftree", "updn", "nue", "minhop"}},
        {"kary:k=2,n=3,hosts=2", {"dmodk", "ftree", "updn", "dfsssp", "dnup"}},
        {"dragonfly:a=2,p=1,h=1,g=3", {"dla", "d3r", "nue", "weave", "minhop"}},
        {"dragonfly:a=4,p=1,h=1,g=5", {"dla", "d3r", "nue", "sssp", "sssp-df"}},
        {"dragonfly:a=3,p=2,h=1,g=4", {"dla", "d3r", "weave", "dfsssp", "minhop-df"}},
        {"hyperx:3x3,hosts=1", {"nue", "dfsssp", "weave", "dor", "minhop"}},
    };
    const adapt_kind *kind = &kinds[sv_rng_below(rng, sizeof kinds / sizeof kinds[0])];
    adapt_case c = {.spec = kind->spec};
    uint32_t engines = 0;
    while (engines < 8 && kind->engines[engines] != NULL)
        engines++;
    c.f = test_fabric(ctx, kind->spec);
    if (failures && sv_rng_below(rng, 2) == 0) {
        c.failed = 1 + (uint32_t)sv_rng_below(rng, 4);
        sv_fabric *left = adapt_fail(ctx, c.f, rng, c.failed);
        sv_fabric_free(c.f);
        c.f = left;
    }
    c.vls = 1 + (uint32_t)sv_rng_below(rng, 5);
    uint32_t first = (uint32_t)sv_rng_below(rng, engines);
    sv_route_request request = {.vls = c.vls, .lmc = sv_rng_below(rng, 4) == 0, .seed = 1};
    for (uint32_t i = 0; i <= engines && c.r == NULL; i++) {
        c.engine = i < engines ? kind->engines[(first + i) % engines] : "nue";
        sv_status status = sv_route(ctx, c.f, c.engine, &request, &c.r, NULL);
        assert_true(status == SV_OK || status == SV_INFEASIBLE || status == SV_BAD_INPUT);
    }
    assert_non_null(c.r);
    return c;
}

/* Terminals that tables join with the first that lives: how many. */
static inline uint32_t adapt_ranks(const adapt_case *c, sv_node *ranks)
{
    uint32_t count = 0, hops;
    sv_node at;
    for (uint32_t i = 0; i < c->f->num_terminals; i++) {
        sv_node v = {c->f->num_switches + i};
        uint32_t d = c->r->first[v.i];
        if (sv_node_alive(c->f, v) &&
            (count == 0 || sv_routes_trace(c->f, c->r, ranks[0], d, sv_route_sl(c->r, ranks[0], d),
                                           NULL, 0, &hops, &at) == SV_TRACE_ARRIVED))
            ranks[count++] = v;
    }
    return count;
}

#endif
