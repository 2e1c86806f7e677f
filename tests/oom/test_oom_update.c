/*
 * test_oom_update.c: plans of every way, tables between their steps and their proof with the 1st,
 * 2nd, 3rd … allocation failing.
 */
#include "support/testing.h"

struct change {
    sv_fabric *f;
    sv_routes *before, *after;
    sv_update_request request;
    sv_update_way way; /* that it ends in */
    sv_update *plan;   /* made before, with all the memory it wants */
};

static sv_status planning(sv_ctx *ctx, void *arg)
{
    struct change *c = arg;
    sv_update *u = NULL;
    sv_status status = sv_update_plan(ctx, c->f, c->before, c->after, &c->request, &u);
    assert_true((status == SV_OK) == (u != NULL));
    if (u != NULL) {
        assert_int_equal(u->way, c->way);
        assert_int_equal(u->steps, c->plan->steps);
        assert_int_equal(u->must_pairs, c->plan->must_pairs);
    }
    sv_update_free(u);
    return status;
}

/* All tables between steps. */
static sv_status going_through(sv_ctx *ctx, void *arg)
{
    struct change *c = arg;
    sv_status status = SV_OK;
    for (uint32_t i = 0; status == SV_OK && i <= 2 * c->plan->steps; i++) {
        sv_routes *tables = NULL;
        status =
            sv_update_tables(ctx, c->f, c->before, c->after, c->plan, i / 2, i % 2 == 1, &tables);
        assert_true((status == SV_OK) == (tables != NULL));
        sv_routes_free(tables);
    }
    return status;
}

static sv_status proving(sv_ctx *ctx, void *arg)
{
    struct change *c = arg;
    uint32_t bad = 0;
    sv_status status =
        sv_update_prove(ctx, c->f, c->before, c->after, c->plan, c->request.traffic, &bad);
    if (status == SV_OK)
        assert_int_equal(bad, SV_NONE);
    return status;
}

static sv_routes *route(sv_ctx *ctx, const sv_fabric *f, const char *engine, unsigned vls,
                        uint64_t seed)
{
    const sv_route_request request = {.vls = vls, .seed = seed};
    sv_routes *r = NULL;
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    return r;
}

static void run(const char *name, const char *spec, const char *was, unsigned vls_before,
                const char *is, unsigned vls_after, sv_update_way way, bool partial)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct change c = {.f = test_fabric(ctx, spec),
                       .request = {.traffic = SV_TRAFFIC_MANAGED, .partial = partial},
                       .way = way};
    sv_mtree *tree = NULL;
    c.before = route(ctx, c.f, was, vls_before, 1);
    c.after = route(ctx, c.f, is, vls_after, 2);
    if (partial) { /* trees need memory, too */
        OK(ctx, sv_mtree_new(ctx, c.f, c.after, SV_TRAFFIC_MANAGED, 0, NULL, 0, &tree));
        OK(ctx, sv_mtree_add_all(ctx, tree, c.f, c.after, 0xc000));
    }
    OK(ctx, sv_update_plan(ctx, c.f, c.before, c.after, &c.request, &c.plan));
    assert_int_equal(c.plan->way, way);
    test_out_of_memory(name, planning, &c);
    test_out_of_memory(name, going_through, &c);
    test_out_of_memory(name, proving, &c);
    sv_mtree_free(tree);
    sv_update_free(c.plan);
    sv_routes_free(c.before);
    sv_routes_free(c.after);
    sv_fabric_free(c.f);
    sv_ctx_free(ctx);
}

static void steps(void **state)
{
    (void)state;
    run("steps", "torus:4,hosts=1", "nue", 2, "updn", 1, SV_UPDATE_STEPS, false);
}

static void repath(void **state)
{
    (void)state;
    run("repath", "torus:5,hosts=1", "dfsssp", 2, "lash", 2, SV_UPDATE_REPATH, false);
}

static void never(void **state)
{
    (void)state;
    run("never", "torus:3x3,hosts=1", "updn", 1, "nue", 1, SV_UPDATE_NEVER, false);
}

static void partial(void **state)
{
    (void)state;
    run("partial", "torus:4,hosts=1", "nue", 2, "dfsssp", 2, SV_UPDATE_STEPS, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(repath),
                                       cmocka_unit_test(never), cmocka_unit_test(partial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
