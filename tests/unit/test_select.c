/*
 * test_select.c: engine auto: it takes the best of what holds, says why, and leaves out what cannot
 * be done.
 */
#include "support/testing.h"

TEST_CONTEXT

static const sv_candidate *candidate(const sv_selection *s, const char *engine)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->candidates[i].engine, engine) == 0)
            return &s->candidates[i];
    fail_msg("%s was not tried", engine);
    return NULL;
}

/* What is returned is what the table says of the chosen one, and nobody is clearly better. */
static void agrees(const sv_fabric *f, const sv_routes *r, const sv_selection *s)
{
    const sv_candidate *best = &s->candidates[s->chosen];
    sv_verification *found = NULL;
    sv_load load;
    OK(ctx, sv_routes_load(ctx, f, r, NULL, &load));
    assert_int_equal(load.max, best->load.max);
    OK(ctx, sv_verify(ctx, f, r, NULL, &found));
    assert_int_equal(found->deadlock_free[SV_TRAFFIC_MANAGED], SV_VERDICT_YES);
    assert_int_equal(best->candidacy, SV_CANDIDATE_CHOSEN);
    for (uint32_t i = 0; i < s->count; i++) {
        const sv_candidate *c = &s->candidates[i];
        assert_true(c->why[0] != 0);
        assert_int_not_equal(c->candidacy, SV_CANDIDATE_UNPROVEN);
        if (c->candidacy == SV_CANDIDATE_PROVEN)
            assert_true((double)best->load.max <= 1.0201 * (double)c->load.max);
    }
    sv_verification_free(found);
}

static void the_best_is_taken(void **state)
{
    (void)state;
    const char *specs[] = {"kary:k=4,n=3,hosts=4", "torus:5x5,hosts=2", "dragonfly:a=4,p=2,h=2,g=9",
                           "random:switches=20,links=50,total=40", "mesh:1x1,hosts=3"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i]);
        sv_routes *r = NULL;
        sv_selection s;
        sv_route_report report;
        OK(ctx, sv_route_auto(ctx, f, NULL, SV_TRAFFIC_MANAGED, &r, &report, &s));
        agrees(f, r, &s);
        assert_int_equal(report.vls_needed, s.candidates[s.chosen].report.vls_needed);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

static void reasons_are_given(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=4,n=3,hosts=4");
    sv_routes *r = NULL;
    sv_selection s;
    OK(ctx, sv_route_auto(ctx, f, NULL, SV_TRAFFIC_MANAGED, &r, NULL, &s));
    assert_int_equal(candidate(&s, "weave")->candidacy, SV_CANDIDATE_PROVEN);
    assert_non_null(strstr(candidate(&s, "weave")->why, "fewer routes on its busiest channel"));
    sv_routes_free(r);
    sv_fabric_free(f);
    f = test_fabric(ctx, "random:switches=20,links=50,total=40");
    OK(ctx, sv_route_auto(ctx, f, NULL, SV_TRAFFIC_MANAGED, &r, NULL, &s));
    assert_int_equal(candidate(&s, "ftree")->candidacy, SV_CANDIDATE_REFUSED);
    assert_non_null(strstr(candidate(&s, "ftree")->why, "this is no tree"));
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* Roots go to those who heed them, VLs and modes to all; options to nobody. */
static void requests_are_passed_on(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "kary:k=3,n=2,hosts=3");
    sv_node root = {3};
    sv_routes *r = NULL;
    sv_selection s;
    const char *options[] = {"align=no"};
    sv_route_request request = {.roots = &root, .num_roots = 1, .vls = 1, .lmc = 1, .seed = 2};
    OK(ctx, sv_route_auto(ctx, f, &request, SV_TRAFFIC_MANAGED, &r, NULL, &s));
    assert_int_equal(r->lmc, 1);
    /* One root of three: all goes over it. */
    assert_true(candidate(&s, "ftree")->load.max > candidate(&s, "weave")->load.max);
    sv_routes_free(r);
    r = NULL;
    request = (sv_route_request){.options = options, .num_options = 1};
    FAILS(ctx, sv_route_auto(ctx, f, &request, SV_TRAFFIC_MANAGED, &r, NULL, &s), SV_BAD_INPUT,
          "auto passes no options on: 'align=no'");
    request = (sv_route_request){.lmc = 9};
    FAILS(ctx, sv_route_auto(ctx, f, &request, SV_TRAFFIC_MANAGED, &r, NULL, &s), SV_INFEASIBLE,
          "no engine routes this: weave: LMC is 0 to 7");
    assert_null(r);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_is_taken),
        cmocka_unit_test(reasons_are_given),
        cmocka_unit_test(requests_are_passed_on),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
