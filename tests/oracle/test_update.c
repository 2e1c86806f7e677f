/*
 * test_update.c: plans of updates against a slow judge (update_oracle.h) that knows nothing of how
 * they are made: random small fabrics, random changes of their tables; every mixture of every step
 * must be safe, every number must be right. The judge has to show what it can: on changes whose
 * answer is known, against sv_verify_transition, and on plans that were spoilt.
 *
 *     oracle_test_update [TRIALS [SEED]]
 *
 * SELVAGE_VERBOSE=1 tells what came of it.
 */
#include "support/testing.h"
#include "support/trials.h"

#include "update_case.h"
#include "update_oracle.h"
#include "update_search.h"
#include "update_spoil.h"

static sv_ctx *ctx;
static uint32_t trials = 3000;
static uint64_t seed = 1;
static bool verbose;

#define SAY(...)                                                                                   \
    do {                                                                                           \
        if (verbose)                                                                               \
            fprintf(stderr, __VA_ARGS__);                                                          \
    } while (0)

/* ---- changes whose answer is known ---- */

static uint8_t port_to(const sv_fabric *f, uint32_t s, uint32_t v)
{
    SV_FOR_HOPS (f, (sv_node){s}, hop)
        if (hop->to.i == v)
            return (uint8_t)f->port[hop->channel.i];
    fail_msg("no cable from %u to %u", s, v);
    return SV_NO_PORT;
}

/* Tables of a triangle of switches with a terminal each: everybody goes straight. */
static sv_routes *straight(const sv_fabric *f)
{
    sv_routes *r = NULL;
    sv_sl2vl vls;
    OK(ctx, sv_routes_new(ctx, f, 0, &r));
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        vls.of_sl[sl] = (uint8_t)(sl % 2);
    for (uint32_t v = 0; v < 6; v++)
        r->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(ctx, r, &vls);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_DESTINATION));
    for (uint32_t d = 0; d < r->num_destinations; d++) {
        uint32_t to = r->node[d].i, home = to < 3 ? to : to - 3;
        uint8_t *row = sv_routes_row(ctx, r, d);
        for (uint32_t s = 0; s < 3; s++)
            row[s] = s != home ? port_to(f, s, home) : to < 3 ? 0 : port_to(f, s, to);
        sv_routes_sl_row(ctx, r, 0)[d] = 0;
    }
    return r;
}

/* Packets from switch a to terminal t go by b. */
static void around(sv_routes *r, const sv_fabric *f, uint32_t a, uint32_t b, uint32_t t)
{
    sv_routes_row(ctx, r, r->first[3 + t])[a] = port_to(f, a, b);
}

static void the_judge_sees_circles(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:3,hosts=1");
    sv_routes *before = straight(f), *after = straight(f);
    around(before, f, 1, 0, 2);
    around(after, f, 0, 1, 2);
    oracle o;
    oracle_init(&o, f, before, after, SV_TRAFFIC_MANAGED);
    uint32_t d = after->first[5];
    oracle_plan p = search_at_once(&o);
    assert_int_equal(p.steps, 1);
    assert_int_equal(oracle_judge(&o, &p), ORACLE_CIRCLE);
    p.steps = 2;
    p.step[d * 3 + 0] = 1;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    p.step[d * 3 + 0] = 0;
    p.step[d * 3 + 1] = 1;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_CIRCLE);
    sv_routes_row(ctx, after, d)[0] = SV_NO_PORT; /* 1 sends by 0, which forgets the way */
    assert_int_equal(oracle_judge(&o, &p), ORACLE_LOST);
    p.step[d * 3 + 0] = 1; /* 1 has left for its own way before */
    p.step[d * 3 + 1] = 0;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    oracle_plan_free(&p);
    oracle_release(&o);
    sv_routes_free(before);
    sv_routes_free(after);
    sv_fabric_free(f);
}

/* Old: 0 to 2 by 1. New: 1 to 0 by 2, and 2 to 1 by 0. Each alone is harmless, all three are not.
 */
static void the_judge_sees_deadlocks(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:3,hosts=1");
    sv_routes *before = straight(f), *after = straight(f);
    around(before, f, 0, 1, 2);
    around(after, f, 1, 2, 0);
    around(after, f, 2, 0, 1);
    oracle o;
    oracle_init(&o, f, before, after, SV_TRAFFIC_TERMINALS);
    assert_true(oracle_acyclic(&o, false) && oracle_acyclic(&o, true));
    uint32_t d[3] = {after->first[3], after->first[4], after->first[5]};
    oracle_plan p = search_at_once(&o);
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    p.steps = 2; /* first the one that goes straight */
    p.step[d[0] * 3 + 1] = p.step[d[1] * 3 + 2] = p.first[d[0]] = p.first[d[1]] = 1;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    p.settle = false; /* its packets may still be there */
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    p.from[d[2] * 6 + 3] = p.to[d[2] * 6 + 3] = 0; /* not if their sender waits for them */
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    p.from[d[2] * 6 + 3] = p.to[d[2] * 6 + 3] = SV_NONE;
    p.settle = true;
    p.step[d[2] * 3 + 0] = p.first[d[2]] = 1; /* the others first, as far as they get */
    p.step[d[0] * 3 + 1] = p.step[d[1] * 3 + 2] = p.first[d[0]] = p.first[d[1]] = 0;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    oracle_plan_free(&p);
    oracle_release(&o);
    sv_routes_free(before);
    sv_routes_free(after);
    sv_fabric_free(f);
}

/* The same, but that the old way stays, on the other VL: open connections do not know it. */
static void the_judge_sees_old_sls(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "fullmesh:3,hosts=1");
    sv_routes *before = straight(f), *after = straight(f);
    around(before, f, 0, 1, 2);
    around(after, f, 0, 1, 2);
    around(after, f, 1, 2, 0);
    around(after, f, 2, 0, 1);
    uint32_t d[3] = {after->first[3], after->first[4], after->first[5]};
    sv_routes_sl_row(ctx, after, 0)[d[2]] = 1;
    oracle o;
    oracle_init(&o, f, before, after, SV_TRAFFIC_TERMINALS);
    assert_true(oracle_acyclic(&o, true));
    oracle_plan none, p = search_at_once(&o);
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    assert_int_equal(search_order(&o, 100, &none), SEARCH_NONE);
    p.steps = 2;
    p.step[d[0] * 3 + 1] = p.step[d[1] * 3 + 2] = p.first[d[0]] = p.first[d[1]] = 1;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    p.from[d[2] * 6 + 3] = p.to[d[2] * 6 + 3] = 0;
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    p.from[d[2] * 6 + 3] = p.to[d[2] * 6 + 3] = 1; /* too late: with the others */
    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
    p.steps = 3;
    p.step[d[0] * 3 + 1] = p.first[d[0]] = 0;
    p.step[d[1] * 3 + 2] = p.first[d[1]] = 1;
    p.first[d[2]] = p.from[d[2] * 6 + 3] = p.to[d[2] * 6 + 3] = 2; /* now it is */
    assert_int_equal(oracle_judge(&o, &p), ORACLE_DEADLOCK);
    oracle_plan_free(&p);
    oracle_release(&o);
    sv_routes_free(before);
    sv_routes_free(after);
    sv_fabric_free(f);
}

/* ---- against sv_verify_transition ---- */

static void at_once_is_what_verify_says(void **state)
{
    (void)state;
    uint32_t yes = 0, no = 0, stricter = 0;
    for (uint64_t t = 0; t < trials / 4 + 1; t++) {
        update_case c;
        sv_transition *said = NULL;
        oracle o;
        if (update_case_draw(ctx, seed + t, false, &c)) {
            oracle_init(&o, c.f, c.before, c.after, c.traffic);
            if (oracle_vls_differ(&o) == ORACLE_VLS_SAME) {
                oracle_plan p = search_at_once(&o);
                oracle_rule rule = oracle_judge(&o, &p);
                OK(ctx, sv_verify_transition(ctx, c.f, c.before, c.after, c.traffic, &said));
                bool theirs = sv_transition_safe(said);
                if (theirs && rule != ORACLE_FINE)
                    fail_msg("seed %llu (%s): verify says yes, here: %s",
                             (unsigned long long)(seed + t), c.what, o.why);
                stricter += !theirs && rule == ORACLE_FINE;
                yes += theirs;
                no += !theirs;
                oracle_plan_free(&p);
            }
            oracle_release(&o);
            sv_transition_free(said);
        }
        update_case_release(&c);
    }
    SAY("at once: verify says yes %u, no %u; no where the judge says yes %u\n", yes, no, stricter);
    assert_true(trials < 1000 || (yes > 50 && no > 50 && stricter * 10 < no));
}

/* ---- the planner ---- */

struct tally {
    uint32_t cases, refused, ways[SV_UPDATE_WAYS], settled, vls, by_node, one_is_enough;
    uint32_t broken[ORACLE_RULES];
    uint64_t steps, entries, musts, mixtures;
    uint64_t moving, moved; /* destinations: to be moved, by partial plans */
};

/* What is wrong with the plan of a case: nothing, or why is told. */
static oracle_rule judge_case(const update_case *c, oracle *o, struct tally *n)
{
    const sv_update_request request = {.traffic = c->traffic, .max_steps = c->max_steps};
    sv_update *u = NULL;
    sv_status status = sv_update_plan(ctx, c->f, c->before, c->after, &request, &u);
    bool good = oracle_acyclic(o, true);
    n->refused += !good;
    if ((status == SV_OK) != good || (status != SV_OK && status != SV_BAD_INPUT)) {
        snprintf(o->why, sizeof o->why, "new tables %s deadlock; the planner: %s",
                 good ? "cannot" : "can", status == SV_OK ? "fine" : sv_ctx_message(ctx));
        sv_update_free(u);
        return ORACLE_SHAPE;
    }
    if (!good)
        return ORACLE_FINE;
    oracle_plan p;
    oracle_rule rule = oracle_count(o, u, &p);
    if (rule == ORACLE_FINE)
        rule = oracle_judge(o, &p);
    if (rule == ORACLE_FINE)
        rule = oracle_tables(o, ctx, u, &p);
    n->ways[u->way]++;
    n->settled += u->settle;
    n->vls += u->vls;
    n->by_node += oracle_by_node(o);
    n->steps += u->steps;
    n->entries += u->num_entries;
    n->musts += u->must_pairs;
    if (rule == ORACLE_FINE && u->way != SV_UPDATE_NOTHING) {
        oracle_plan once = search_at_once(o);
        n->one_is_enough += u->way != SV_UPDATE_AT_ONCE && oracle_judge(o, &once) == ORACLE_FINE;
        oracle_plan_free(&once);
    }
    oracle_plan_free(&p);
    sv_update_free(u);
    return rule;
}

/* ---- as much as needs no help ---- */

/* Whether tables have the new rows of what has moved, and the old ones of the rest. */
static bool is_part(const oracle *o, const sv_update *u, const sv_routes *r)
{
    for (uint32_t d = 0; d < o->dests; d++) {
        const sv_routes *as = u->first_step[d] != SV_NONE ? o->after : o->before;
        for (uint32_t s = 0; s < o->switches; s++)
            if (sv_node_alive(o->f, (sv_node){s}) && r->ports[d][s] != as->ports[d][s])
                return false;
        for (uint32_t v = 0; v < o->nodes; v++) {
            sv_node from = {v};
            unsigned old_sl = sv_route_sl(o->before, from, d);
            if (sv_node_alive(o->f, from) && v != o->after->node[d].i && old_sl != SV_NO_SL &&
                sv_route_sl(o->after, from, d) != SV_NO_SL &&
                sv_route_sl(r, from, d) != sv_route_sl(as, from, d))
                return false;
        }
    }
    return true;
}

/* A partial plan as a whole one for what it changes: why tells of the rest, and so does NEVER. */
static sv_update *as_whole(const sv_update *u, uint32_t dests)
{
    sv_update *whole = spoil_copy(u, dests);
    if (u->way == SV_UPDATE_NEVER && u->steps == 0)
        whole->way = SV_UPDATE_NOTHING;
    whole->why[0] = 0;
    return whole;
}

static oracle_rule judge_part(const update_case *c, oracle *o, struct tally *n)
{
    const sv_update_request request = {.traffic = c->traffic, .partial = true};
    sv_update *u = NULL;
    sv_routes *part = NULL;
    oracle_plan p = {0};
    oracle narrow;
    if (sv_update_plan(ctx, c->f, c->before, c->after, &request, &u) != SV_OK) {
        snprintf(o->why, sizeof o->why, "partial: %s", sv_ctx_message(ctx));
        return ORACLE_SHAPE;
    }
    OK(ctx, sv_update_tables(ctx, c->f, c->before, c->after, u, u->steps, false, &part));
    oracle_init(&narrow, c->f, c->before, part, c->traffic);
    sv_update *whole = as_whole(u, o->dests);
    oracle_rule rule = ORACLE_TABLES;
    snprintf(narrow.why, sizeof narrow.why, "not old rows and new ones");
    if (is_part(o, u, part))
        rule = oracle_count(&narrow, whole, &p);
    if (rule == ORACLE_FINE && u->steps > 0)
        rule = oracle_judge(&narrow, &p);
    uint32_t moving = search_moving(o, NULL), moved = 0, max = 0; /* SLs of the dead may count */
    for (uint32_t d = 0; d < o->dests; d++) {
        bool differs = false;
        for (uint32_t v = 0; v < o->nodes; v++)
            differs |=
                sv_route_sl(o->before, (sv_node){v}, d) != sv_route_sl(o->after, (sv_node){v}, d) ||
                (v < o->switches && oracle_differs(o, v, d));
        moved += u->first_step[d] != SV_NONE;
        max += differs;
    }
    if (rule == ORACLE_FINE &&
        (whole->way >= SV_UPDATE_REPATH || u->left + moved < moving || u->left + moved > max ||
         (u->why[0] != 0) != (u->left > 0 || u->way == SV_UPDATE_NEVER))) {
        rule = ORACLE_SHAPE;
        snprintf(narrow.why, sizeof narrow.why, "way %d, %u of %u moved, %llu left", (int)u->way,
                 moved, moving, (unsigned long long)u->left);
    }
    n->moving += moving;
    n->moved += moved;
    if (rule != ORACLE_FINE)
        snprintf(o->why, sizeof o->why, "partial: %.250s", narrow.why);
    oracle_plan_free(&p);
    oracle_release(&narrow);
    spoil_free(whole);
    sv_routes_free(part);
    sv_update_free(u);
    return rule;
}

static void plans_are_safe(void **state)
{
    (void)state;
    struct tally n = {0};
    uint32_t failures = 0;
    for (uint64_t t = 0; t < trials; t++) {
        update_case c;
        if (update_case_draw(ctx, seed + t, false, &c)) {
            oracle o;
            oracle_init(&o, c.f, c.before, c.after, c.traffic);
            oracle_rule rule = judge_case(&c, &o, &n);
            if (rule == ORACLE_FINE && oracle_acyclic(&o, true))
                rule = judge_part(&c, &o, &n);
            n.cases++;
            n.broken[rule]++;
            n.mixtures += o.mixtures;
            if (rule != ORACLE_FINE && (failures++ < 20 || verbose))
                fprintf(stderr, "oracle_test_update 1 %llu: %s\n  (%s, traffic %d)\n",
                        (unsigned long long)(seed + t), o.why, c.what, (int)c.traffic);
            oracle_release(&o);
        }
        update_case_release(&c);
    }
    SAY("%u cases, %u with bad new tables; nothing %u, at once %u, steps %u, repath %u, never %u\n",
        n.cases, n.refused, n.ways[0], n.ways[1], n.ways[2], n.ways[3], n.ways[4]);
    SAY("%llu steps, %llu entries, %llu musts; settle %u, VLs %u, by node %u; %llu mixtures\n",
        (unsigned long long)n.steps, (unsigned long long)n.entries, (unsigned long long)n.musts,
        n.settled, n.vls, n.by_node, (unsigned long long)n.mixtures);
    SAY("not at once though it would do: %u\n", n.one_is_enough);
    SAY("partial plans move %llu destinations of %llu\n", (unsigned long long)n.moved,
        (unsigned long long)n.moving);
    SAY("wrong: shape %u, pairs %u, tables %u, lost %u, circle %u, deadlock %u\n", n.broken[1],
        n.broken[2], n.broken[3], n.broken[4], n.broken[5], n.broken[6]);
    assert_int_equal(failures, 0);
}

/* ---- does it find what there is? ---- */

static void plans_are_found(void **state)
{
    (void)state;
    uint32_t asked = 0, found = 0, gave_up = 0, repath = 0, never = 0;
    for (uint64_t t = 0; t < trials; t++) {
        update_case c;
        if (update_case_draw(ctx, seed + t, t % 2 == 0, &c)) {
            const sv_update_request request = {.traffic = c.traffic};
            sv_update *u = NULL;
            oracle o;
            oracle_init(&o, c.f, c.before, c.after, c.traffic);
            if (oracle_acyclic(&o, true) && oracle_acyclic(&o, false) &&
                sv_update_plan(ctx, c.f, c.before, c.after, &request, &u) == SV_OK &&
                u->way >= SV_UPDATE_REPATH) {
                oracle_plan p;
                search_answer answer = search_order(&o, 60, &p);
                asked++;
                found += answer == SEARCH_FOUND;
                gave_up += answer == SEARCH_GAVE_UP;
                repath += answer == SEARCH_FOUND && u->way == SV_UPDATE_REPATH;
                never += answer == SEARCH_FOUND && u->way == SV_UPDATE_NEVER;
                if (answer == SEARCH_FOUND) {
                    SAY("%s seed %llu: way %d, steps there are: %u (%s, traffic %d)\n",
                        t % 2 ? "" : "tiny", (unsigned long long)(seed + t), (int)u->way, p.steps,
                        c.what, (int)c.traffic);
                    assert_int_equal(oracle_judge(&o, &p), ORACLE_FINE);
                    oracle_plan_free(&p);
                }
            }
            sv_update_free(u);
            oracle_release(&o);
        }
        update_case_release(&c);
    }
    SAY("repath or never %u: steps exist for %u (repath %u, never %u), not known of %u\n", asked,
        found, repath, never, gave_up);
    assert_true(found * 4 <= asked - gave_up || trials < 1000);
}

/* ---- the judge can say no ---- */

struct spoilt {
    uint32_t tried[SPOILS], seen[SPOILS], told[TELLS], noticed[TELLS];
    uint32_t missed[SPOILS], stricter[SPOILS]; /* by sv_update_prove */
};

/* What the library itself says about a spoilt plan. */
static bool proven(const oracle *o, const sv_update *u, const oracle_plan *p)
{
    sv_update *worse = spoil_copy(u, o->dests);
    uint32_t bad = SV_NONE;
    spoil_apply(o, p, worse);
    OK(ctx, sv_update_prove(ctx, o->f, o->before, o->after, worse, o->traffic, &bad));
    spoil_free(worse);
    return bad == SV_NONE;
}

static void spoil_order(update_case *c, oracle *o, const sv_update *u, const oracle_plan *p,
                        struct spoilt *n)
{
    for (spoil how = 0; how < SPOILS; how++) {
        oracle_plan worse = oracle_plan_copy(o, p);
        if (spoil_plan(c, o, &worse, how)) {
            bool safe = oracle_judge(o, &worse) == ORACLE_FINE, says = proven(o, u, &worse);
            n->tried[how]++;
            n->seen[how] += !safe;
            n->missed[how] += says && !safe;
            n->stricter[how] += !says && safe;
            if (says && !safe)
                SAY("%s, %s: proven, but %s\n", c->what, spoil_name(how), o->why);
        }
        oracle_plan_free(&worse);
    }
}

static void spoil_words(update_case *c, oracle *o, const sv_update *u, struct spoilt *n)
{
    for (tell how = 0; how < TELLS; how++) {
        sv_update *worse = spoil_copy(u, o->dests);
        oracle_plan p = {0};
        if (spoil_told(c, o, worse, how)) {
            oracle_rule rule = oracle_count(o, worse, &p);
            n->told[how]++;
            n->noticed[how] += rule != ORACLE_FINE;
            oracle_plan_free(&p);
        }
        spoil_free(worse);
    }
}

static void the_judge_sees_what_is_spoilt(void **state)
{
    (void)state;
    struct spoilt n = {0};
    for (uint64_t t = 0; t < trials / 2; t++) {
        update_case c;
        sv_update *u = NULL;
        if (update_case_draw(ctx, seed + t, false, &c)) {
            const sv_update_request request = {.traffic = c.traffic};
            oracle o;
            oracle_plan p = {0};
            oracle_init(&o, c.f, c.before, c.after, c.traffic);
            if (sv_update_plan(ctx, c.f, c.before, c.after, &request, &u) == SV_OK &&
                oracle_count(&o, u, &p) == ORACLE_FINE && oracle_judge(&o, &p) == ORACLE_FINE) {
                spoil_order(&c, &o, u, &p, &n);
                spoil_words(&c, &o, u, &n);
            }
            oracle_plan_free(&p);
            oracle_release(&o);
            sv_update_free(u);
        }
        update_case_release(&c);
    }
    for (spoil how = 0; how < SPOILS; how++)
        SAY("%s: %u tried, %u seen; sv_update_prove misses %u and sees %u more\n", spoil_name(how),
            n.tried[how], n.seen[how], n.missed[how], n.stricter[how]);
    for (spoil how = 0; how < SPOILS; how++) {
        /* of a hundred; musts are more than are needed one by one */
        static const uint32_t share[] = {70, 40, 70, 3, 20, 15, 5};
        assert_true(trials < 1000 || n.tried[how] > 50);
        assert_true(trials < 1000 || n.seen[how] * 100 >= n.tried[how] * share[how]);
        assert_int_equal(n.missed[how], 0);
    }
    for (tell how = 0; how < TELLS; how++) {
        SAY("%s: %u tried, %u seen\n", tell_name(how), n.told[how], n.noticed[how]);
        assert_int_equal(n.told[how], n.noticed[how]);
        assert_true(trials < 1000 || n.told[how] > 20);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_judge_sees_circles),
                                       cmocka_unit_test(the_judge_sees_deadlocks),
                                       cmocka_unit_test(the_judge_sees_old_sls),
                                       cmocka_unit_test(at_once_is_what_verify_says),
                                       cmocka_unit_test(plans_are_safe),
                                       cmocka_unit_test(plans_are_found),
                                       cmocka_unit_test(the_judge_sees_what_is_spoilt)};
    trials = test_trials(argc, argv, trials);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    verbose = getenv("SELVAGE_VERBOSE") != NULL;
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sv_ctx_free(ctx);
    return failed;
}
