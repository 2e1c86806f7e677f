/*
 * test_adapt_ways.c: the ways that src/adapt finds for pairs of terminals, against all there are:
 * every switch and every pair of switches is tried as a via, each way followed hop by hop with
 * sv_routes_trace, and those left over sorted.
 *
 *     oracle_test_adapt_ways [TRIALS [SEED]]
 *
 * Random fabrics with failures, tables of several engines, some entries taken out of them; random
 * reach, stretch and numbers of vias. Order and all numbers must be the same.
 */
#include "adapt/adapt.h"
#include "adapt_case.h"
#include "support/trials.h"

enum { MAX_HOPS = 200, MAX_WAYS = 64 };

static sv_ctx *ctx;
static uint32_t trials = 1000;
static uint64_t seed = 1;

/* A way, all of it. */
typedef struct way {
    uint32_t via[2], vias;
    uint32_t hops[MAX_HOPS], length;
    uint32_t far, shared;
    uint64_t draw;
} way;

/* Channels from a node to a destination, put behind what is there; SV_NONE if it does not arrive.
 */
static uint32_t trace(const adapt_case *c, sv_node from, uint32_t destination, way *w)
{
    sv_hop_taken taken[MAX_HOPS];
    uint32_t count;
    sv_node at;
    if (sv_routes_trace(c->f, c->r, from, destination, sv_route_sl(c->r, from, destination), taken,
                        MAX_HOPS, &count, &at) != SV_TRACE_ARRIVED)
        return SV_NONE;
    assert_true(count < MAX_HOPS && (w == NULL || w->length + count < MAX_HOPS));
    for (uint32_t i = 0; w != NULL && i < count; i++)
        w->hops[w->length++] = taken[i].channel.i;
    return count;
}

/* Distances do not ask for VLs. */
static uint32_t steps(const adapt_case *c, uint32_t s, uint32_t to)
{
    uint32_t count = 0, d = c->r->first[to];
    for (; s != to; count++) {
        sv_channel out = SV_NO_CHANNEL;
        if (sv_route_port(c->r, (sv_node){s}, d) != SV_NO_PORT)
            out = sv_channel_at(c->f, (sv_node){s}, sv_route_port(c->r, (sv_node){s}, d));
        if (out.i == SV_NONE || count > c->f->num_switches ||
            !sv_is_switch(c->f, c->f->head[out.i]))
            return SV_NONE;
        s = c->f->head[out.i].i;
    }
    return count;
}

static bool follow(const adapt_case *c, uint32_t from, uint32_t destination, way *w)
{
    sv_node at = {c->f->num_switches + from};
    w->length = 0;
    for (uint32_t i = 0; i < w->vias; i++) {
        if (trace(c, at, c->r->first[w->via[i]], w) == SV_NONE)
            return false;
        at = (sv_node){w->via[i]};
    }
    return trace(c, at, destination, w) != SV_NONE;
}

static bool passes_twice(const adapt_case *c, const way *w)
{
    for (uint32_t i = 0; i < w->length; i++)
        for (uint32_t k = 0; k < i; k++)
            if (c->f->head[w->hops[i]].i == c->f->head[w->hops[k]].i)
                return true;
    return false;
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ b) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int in_order(const void *a, const void *b)
{
    const way *x = a, *y = b;
    const uint64_t keys[2][7] = {
        {x->length, x->far, x->shared, x->vias, x->draw, x->via[0], x->via[1]},
        {y->length, y->far, y->shared, y->vias, y->draw, y->via[0], y->via[1]}};
    for (int i = 0; i < 7; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

/* All there is to say of a way; false: it is none. */
static bool complete(const adapt_case *c, const sv__settings *set, uint32_t from,
                     uint32_t destination, const way *own, way *w)
{
    uint32_t s = c->f->head[own->hops[0]].i, d = c->f->tail[own->hops[own->length - 1]].i;
    uint32_t here = steps(c, s, w->via[0]), there = steps(c, w->via[w->vias - 1], d);
    bool near_s = here <= set->reach, near_d = there <= set->reach;
    for (uint32_t i = 0; i < w->vias; i++)
        if (w->via[i] == s || w->via[i] == d)
            return false;
    if (w->vias == 1) {
        if (!near_s && !near_d)
            return false;
        w->far = !near_d || (near_s && here < there) ? here : there;
    } else {
        if (!near_s || !near_d || w->via[0] == w->via[1])
            return false;
        w->far = here > there ? here : there;
    }
    if (!follow(c, from, destination, w) || w->length > own->length + set->stretch ||
        passes_twice(c, w))
        return false;
    for (uint32_t i = 1; i + 1 < w->length; i++)
        for (uint32_t k = 1; k + 1 < own->length; k++)
            w->shared += w->hops[i] == own->hops[k];
    w->draw = mixed(mixed(seed, from), destination);
    for (uint32_t i = 0; i < w->vias; i++)
        w->draw = mixed(w->draw, c->r->first[w->via[i]]);
    return true;
}

/* All ways of a pair in order, path 0 first; how many. */
static uint32_t all_ways(const adapt_case *c, const sv__settings *set, unsigned max_vias,
                         uint32_t from, uint32_t destination, way **ways)
{
    uint32_t n = c->f->num_switches, count = 1, left = 1;
    way *at = calloc((size_t)n * n + n + 1, sizeof *at);
    *ways = at;
    if (!follow(c, from, destination, &at[0]))
        return 0;
    at[0].shared = at[0].length - 2;
    if (at[0].length == 2 || max_vias == 0)
        return 1;
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t u = 0; u <= n; u++) {
            way w = {.via = {v, u < n ? u : 0}, .vias = u < n ? 2 : 1};
            if (w.vias <= max_vias && complete(c, set, from, destination, &at[0], &w))
                at[count++] = w;
        }
    qsort(at + 1, count - 1, sizeof *at, in_order);
    for (uint32_t i = 1; i < count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < left; k++)
            again |= at[k].length == at[i].length &&
                     memcmp(at[k].hops, at[i].hops, at[i].length * sizeof *at[i].hops) == 0;
        if (!again)
            at[left++] = at[i];
    }
    return left;
}

static void compare(const adapt_case *c, sv_adapt *a, uint32_t from, uint32_t destination,
                    uint32_t max, uint64_t *compared)
{
    way *ways;
    sv__adapt_path paths[MAX_WAYS];
    uint32_t count = 0;
    uint32_t wanted = all_ways(c, &a->set, a->policy.segments - 1, from, destination, &ways);
    sv_status status = sv__ways_find(a, from, destination, max, paths, &count);
    assert_int_equal(status, wanted > 0 ? SV_OK : SV_BAD_INPUT);
    if (wanted > max)
        wanted = max;
    assert_int_equal(count, wanted);
    for (uint32_t i = 0; i < wanted; i++, ++*compared) {
        const way *w = &ways[i];
        sv_channel channels[MAX_HOPS];
        uint32_t length;
        assert_int_equal(paths[i].way.vias, w->vias);
        assert_int_equal(paths[i].way.mark, i);
        for (uint32_t k = 0; k < w->vias; k++)
            assert_int_equal(paths[i].way.via[k], c->r->first[w->via[k]]);
        assert_int_equal(paths[i].channels, w->length);
        assert_int_equal(paths[i].shared, w->shared);
        OK(ctx,
           sv__ways_channels(a, from, destination, &paths[i].way, channels, MAX_HOPS, &length));
        assert_int_equal(length, w->length);
        for (uint32_t k = 0; k < length; k++)
            assert_int_equal(channels[k].i, w->hops[k]);
    }
    free(ways);
}

/* Some pairs of ports discard everything, most often what a switch itself would send. */
static void discard(adapt_case *c, sv_rng *rng)
{
    sv_sl2vl none;
    memset(none.of_sl, SV_NO_VL, sizeof none.of_sl);
    uint32_t table = sv_routes_sl2vl_table(ctx, c->r, &none);
    for (uint64_t i = sv_rng_below(rng, 10); i > 0; i--) {
        uint32_t s = (uint32_t)sv_rng_below(rng, c->f->num_switches);
        unsigned ports = c->f->switches[s].ports;
        unsigned in = sv_rng_below(rng, 3) > 0 ? 0 : (unsigned)sv_rng_below(rng, ports + 1);
        OK(ctx, sv_routes_set_sl2vl(ctx, c->f, c->r, (sv_node){s}, in,
                                    1 + (unsigned)sv_rng_below(rng, ports), table));
    }
}

/* Takes some entries out, or turns them to another port. */
static void spoil(adapt_case *c, sv_rng *rng)
{
    discard(c, rng);
    for (uint64_t i = sv_rng_below(rng, 6); i > 0; i--) {
        uint32_t d = (uint32_t)sv_rng_below(rng, c->r->num_destinations);
        uint32_t s = (uint32_t)sv_rng_below(rng, c->f->num_switches);
        if (c->r->node[d].i == s)
            continue;
        sv_routes_row(ctx, c->r, d)[s] =
            sv_rng_below(rng, 2) == 0 ? SV_NO_PORT
                                      : (uint8_t)(1 + sv_rng_below(rng, c->f->switches[s].ports));
    }
}

static sv_adapt *draw_policy(const adapt_case *c, sv_rng *rng)
{
    char spec[100];
    sv_adapt *a = NULL;
    unsigned vls;
    const sv_sim_model model = {.speedup = 100};
    const sv_adapt_request request = {
        .spec = spec, .model = &model, .seed = seed, .max_vls = SV_MAX_VLS, .unproven = true};
    snprintf(spec, sizeof spec, "random:paths=%u,vias=%u,reach=%u,stretch=%u", MAX_WAYS,
             1 + (unsigned)sv_rng_below(rng, 2), 1 + (unsigned)sv_rng_below(rng, 3),
             (unsigned)sv_rng_below(rng, 6));
    OK(ctx, sv_adapt_new(ctx, c->f, c->r, &request, &a, &vls));
    if (sv_rng_below(rng, 3) == 0) /* nothing, or something, and it is forgotten again and again */
        sv__ways_keep(a, (size_t)sv_rng_below(rng, 3) * 600);
    return a;
}

static void same_ways(void **state)
{
    uint64_t compared = 0, first = seed;
    (void)state;
    for (uint32_t i = 0; i < trials; i++) {
        sv_rng rng;
        seed = first + i;
        sv_rng_init(&rng, seed);
        adapt_case c = adapt_draw(ctx, &rng, true);
        if (sv_rng_below(&rng, 3) == 0)
            spoil(&c, &rng);
        sv_adapt *a = draw_policy(&c, &rng);
        for (uint32_t k = 0; k < 12; k++) {
            uint32_t from = (uint32_t)sv_rng_below(&rng, c.f->num_terminals), to = from;
            while (to == from)
                to = (uint32_t)sv_rng_below(&rng, c.f->num_terminals);
            uint32_t d = c.r->first[c.f->num_switches + to + 1] - 1;
            compare(&c, a, from, d, 1 + (uint32_t)sv_rng_below(&rng, MAX_WAYS), &compared);
        }
        sv_adapt_free(a);
        adapt_free(&c);
    }
    seed = first;
    print_message("%llu ways are the same\n", (unsigned long long)compared);
    assert_true(trials < 100 || compared > 10 * (uint64_t)trials);
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_ways)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) /* seed is still that of the trial */
        print_error("oracle_test_adapt_ways 1 %llu shows it\n", (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
