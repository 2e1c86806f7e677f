/*
 * test_dmodk.c: engine dmodk against the closed form written down from coordinates, entry by entry,
 * on whole trees; and against a search for ways up and down in broken ones.
 *
 * XGFT(h; m; w) as docs/topologies.md numbers it: a switch of level l is (a, b), a counting
 * subtrees and b copies; its parent by digit u is (a / m, u * copies + b). All cables are r-fold.
 */
#include "support/testing.h"
#include "support/trials.h"

enum { MAX = 4 };

static sv_ctx *ctx;

struct shape {
    uint32_t h, m[MAX], w[MAX], hosts, r;
    uint32_t first[MAX + 2], copies[MAX + 1]; /* of levels 0 … h */
};

static int begin(void **state)
{
    (void)state;
    ctx = sv_ctx_new(NULL);
    return ctx == NULL;
}

static int end(void **state)
{
    (void)state;
    sv_ctx_free(ctx);
    return 0;
}

static sv_fabric *build(struct shape *x)
{
    char spec[160], m[40] = "", w[40] = "";
    uint32_t groups = 1, copies = 1;
    for (uint32_t l = 0; l < x->h; l++) {
        snprintf(m + strlen(m), sizeof m - strlen(m), "%s%u", l ? "/" : "", x->m[l]);
        snprintf(w + strlen(w), sizeof w - strlen(w), "%s%u", l ? "/" : "", x->w[l]);
        groups *= x->m[l];
    }
    x->first[0] = 0;
    for (uint32_t l = 0; l <= x->h; l++) {
        x->copies[l] = copies;
        x->first[l + 1] = x->first[l] + groups * copies;
        if (l < x->h) {
            groups /= x->m[l];
            copies *= x->w[l];
        }
    }
    snprintf(spec, sizeof spec, "xgft:h=%u,m=%s,w=%s,hosts=%u,r=%u", x->h, m, w, x->hosts, x->r);
    sv_fabric *f = test_fabric(ctx, spec);
    assert_int_equal(f->num_switches, x->first[x->h + 1]);
    return f;
}

static uint32_t level_of(const struct shape *x, uint32_t s)
{
    uint32_t l = 0;
    while (s >= x->first[l + 1])
        l++;
    return l;
}

/* The port of a switch that has the n-th cable to another. */
static unsigned port_to(const sv_fabric *f, uint32_t s, uint32_t to, uint32_t n)
{
    SV_FOR_HOPS (f, (sv_node){s}, hop)
        if (hop->to.i == to && n-- == 0)
            return f->port[hop->channel.i];
    fail_msg("there is no such cable");
    return 0;
}

/* What the closed form says: the port of a switch for host number i. */
static unsigned closed_form(const struct shape *x, const sv_fabric *f, uint32_t s, uint32_t i)
{
    uint32_t l = level_of(x, s), a = (s - x->first[l]) / x->copies[l];
    uint32_t b = (s - x->first[l]) % x->copies[l], leaf = i / x->hosts, digits = i;
    if (l == 0 && a == leaf)
        return port_to(f, s, f->num_switches + i, 0);
    uint32_t subtree = leaf;
    for (uint32_t k = 0; k < l; k++)
        subtree /= x->m[k];
    if (subtree != a) { /* up */
        for (uint32_t k = 0; k < l; k++)
            digits /= x->w[k];
        uint32_t u = digits % x->w[l], cable = digits / x->w[l] % x->r;
        return port_to(
            f, s, x->first[l + 1] + a / x->m[l] * x->copies[l + 1] + u * x->copies[l] + b, cable);
    }
    for (uint32_t k = 0; k + 1 < l; k++) {
        digits /= x->w[k];
        leaf /= x->m[k];
    }
    uint32_t child = x->first[l - 1] + leaf * x->copies[l - 1] + b % x->copies[l - 1];
    return port_to(f, s, child, digits / x->w[l - 1] % x->r);
}

static void whole_trees_follow_the_closed_form(void **state)
{
    (void)state;
    struct shape shapes[] = {{.h = 1, .m = {4}, .w = {4}, .hosts = 4, .r = 1},
                             {.h = 1, .m = {6}, .w = {3}, .hosts = 5, .r = 2},
                             {.h = 2, .m = {4, 4}, .w = {4, 4}, .hosts = 4, .r = 1},
                             {.h = 2, .m = {4, 4}, .w = {4, 4}, .hosts = 8, .r = 2},
                             {.h = 2, .m = {6, 6}, .w = {3, 3}, .hosts = 12, .r = 1},
                             {.h = 2, .m = {3, 5}, .w = {2, 4}, .hosts = 7, .r = 3},
                             {.h = 3, .m = {3, 3, 3}, .w = {3, 3, 3}, .hosts = 3, .r = 1},
                             {.h = 3, .m = {2, 3, 4}, .w = {3, 2, 2}, .hosts = 5, .r = 2},
                             {.h = 4, .m = {2, 2, 2, 2}, .w = {2, 2, 2, 2}, .hosts = 2, .r = 1},
                             {.h = 2, .m = {10, 10}, .w = {10, 10}, .hosts = 11, .r = 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        sv_fabric *f = build(&shapes[i]);
        sv_routes *r = test_routed(ctx, f, "dmodk", 0);
        for (uint32_t t = 0; t < f->num_terminals; t++)
            for (uint32_t s = 0; s < f->num_switches; s++) {
                unsigned is = r->ports[r->first[f->num_switches + t]][s];
                unsigned wanted = closed_form(&shapes[i], f, s, t);
                if (is != wanted)
                    fail_msg("tree %zu, switch %u, host %u: port %u instead of %u", i, s, t, is,
                             wanted);
            }
        sv_routes_free(r);
        sv_fabric_free(f);
    }
}

/* ---- broken trees ---- */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* Whether a way up and then down leads from one switch to another, by going all of them. */
static bool way_exists(const struct shape *x, const sv_fabric *f, uint32_t from, uint32_t to,
                       bool down)
{
    if (from == to)
        return true;
    SV_FOR_HOPS (f, (sv_node){from}, hop) {
        if (!sv_is_switch(f, hop->to))
            continue;
        bool goes_down = hop->to.i < from;
        if (level_of(x, hop->to.i) == level_of(x, from) || (down && !goes_down))
            continue;
        if (way_exists(x, f, hop->to.i, to, goes_down))
            return true;
    }
    return false;
}

/* Whether the way that the tables take is one. */
static bool goes_up_and_down(const sv_fabric *f, const sv_routes *r, uint32_t from, uint32_t d)
{
    sv_hop_taken hops[64];
    uint32_t count = 0;
    sv_node at;
    bool down = false;
    if (sv_routes_trace(f, r, (sv_node){from}, d, 0, hops, 64, &count, &at) != SV_TRACE_ARRIVED)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        sv_node a = f->tail[hops[i].channel.i], b = f->head[hops[i].channel.i];
        if (!sv_is_switch(f, a) || !sv_is_switch(f, b))
            continue;
        if (down && b.i > a.i) /* numbers grow upwards */
            return false;
        down = down || b.i < a.i;
    }
    return true;
}

static void broken_trees_use_what_is_there(void **state)
{
    (void)state;
    uint64_t seed = 23;
    uint32_t looked_at = 0, ways = 0, odd = 0;
    for (uint32_t i = 0; i < test_times(300); i++) {
        struct shape x = {.h = 1 + draw(&seed, 3), .hosts = 1 + draw(&seed, 3)};
        for (uint32_t l = 0; l < x.h; l++) {
            x.m[l] = 2 + draw(&seed, x.h == 3 ? 1 : 3);
            x.w[l] = 2 + draw(&seed, x.h == 3 ? 1 : 2);
        }
        x.r = 1 + draw(&seed, 2);
        sv_fabric *whole = build(&x), *f = NULL;
        sv_mask *mask = sv_mask_new(ctx, whole);
        uint32_t share = draw(&seed, 200);
        for (uint32_t c = 0; c < whole->num_channels; c++)
            if (sv_joins_switches(whole, (sv_channel){c}) && draw(&seed, 1000) < share)
                sv_mask_cable(mask, whole, (sv_channel){c});
        OK(ctx, sv_fabric_mask(ctx, whole, mask, &f));
        sv_mask_free(mask);
        sv_routes *r = NULL;
        sv_route_report report;
        OK(ctx, sv_route(ctx, f, "dmodk", NULL, &r, &report));
        /* Where levels are what they were, and it was not taken for something odd. */
        bool plain = report.structure.facts[0].values[0] == x.h + 1 && report.note[0] == '\0';
        for (uint32_t l = 0; plain && l <= x.h; l++)
            plain = report.structure.facts[1].values[l] == x.first[l + 1] - x.first[l];
        looked_at += plain;
        for (uint32_t t = 0; plain && t < f->num_terminals; t++)
            for (uint32_t s = 0; s < f->num_switches; s++) {
                if (!way_exists(&x, f, s, r->home[t], false))
                    continue;
                ways++;
                if (goes_up_and_down(f, r, s, r->first[f->num_switches + t]))
                    continue;
                /* Where a switch has no such way, others that its packets pass go over the foot
                 * with them: forwarding is by destination. */
                odd++;
            }
        sv_routes_free(r);
        sv_fabric_free(f);
        sv_fabric_free(whole);
    }
    print_message("%u trees, %u ways, %u not taken\n", looked_at, ways, odd);
    assert_true(odd <= ways / 10000);
    assert_true(!test_enough() || looked_at > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trees_follow_the_closed_form),
        cmocka_unit_test(broken_trees_use_what_is_there),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
