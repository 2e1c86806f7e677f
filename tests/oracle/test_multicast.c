/*
 * test_multicast.c: multicast trees against a slow second opinion: every packet that anybody can
 * send is followed, unicast and multicast, what waits for what is written into a square matrix,
 * and a depth-first search looks for cycles. On fabrics of a few switches all spanning trees are
 * tried, so that it is known whether there was one to be found.
 */
#include "support/testing.h"
#include "support/trials.h"

static sv_ctx *ctx;
static uint64_t seed = 1;

static uint32_t lot(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* ---- what waits for what ---- */

enum { VLS = 16 };

struct waits {
    const sv_fabric *f;
    const sv_routes *r;
    size_t vertices;
    uint8_t *matrix; /* [vertices][vertices] */
    uint8_t *colour;
    bool *tree; /* [channels]: both directions of its cables */
};

static size_t vertex(sv_channel c, unsigned vl)
{
    assert_true(vl < VLS);
    return (size_t)c.i * VLS + vl;
}

static void wait_for(struct waits *w, size_t a, size_t b)
{
    w->matrix[a * w->vertices + b] = 1;
}

static struct waits waits_new(const sv_fabric *f, const sv_routes *r)
{
    struct waits w = {.f = f, .r = r, .vertices = (size_t)f->num_channels * VLS};
    w.matrix = calloc(w.vertices * w.vertices, 1);
    w.colour = calloc(w.vertices, 1);
    w.tree = calloc(f->num_channels, sizeof *w.tree);
    return w;
}

static void waits_free(struct waits *w)
{
    free(w->matrix);
    free(w->colour);
    free(w->tree);
}

static void follow_unicast(struct waits *w, sv_traffic traffic)
{
    enum { MAX = 200 };
    sv_hop_taken hops[MAX];
    for (uint32_t v = 0; v < sv_num_nodes(w->f); v++)
        for (uint32_t d = 0; d < w->r->num_destinations; d++) {
            unsigned switches = (v < w->f->num_switches) + sv_is_switch(w->f, w->r->node[d]);
            uint32_t count;
            sv_node at;
            if (switches > (unsigned)traffic || w->r->node[d].i == v ||
                !sv_node_alive(w->f, (sv_node){v}) || !sv_node_alive(w->f, w->r->node[d]))
                continue;
            sv_routes_trace(w->f, w->r, (sv_node){v}, d, sv_route_sl(w->r, (sv_node){v}, d), hops,
                            MAX, &count, &at);
            assert_true(count < MAX);
            for (uint32_t i = 1; i < count; i++)
                wait_for(w, vertex(hops[i - 1].channel, hops[i - 1].vl),
                         vertex(hops[i].channel, hops[i].vl));
        }
}

/* Copies of a packet that is in a switch: it came by a channel (SV_NO_CHANNEL: it began here). */
static void copy(struct waits *w, sv_node s, sv_channel in, unsigned vl, unsigned in_port,
                 unsigned sl)
{
    SV_FOR_HOPS (w->f, s, hop) {
        unsigned port = w->f->port[hop->channel.i];
        if (port == in_port || (sv_is_switch(w->f, hop->to) && !w->tree[hop->channel.i]))
            continue;
        unsigned next = sv_route_sl2vl(w->r, w->f, s, in_port, port)->of_sl[sl];
        assert_int_not_equal(next, SV_NO_VL);
        if (in.i != SV_NONE)
            wait_for(w, vertex(in, vl), vertex(hop->channel, next));
        if (sv_is_switch(w->f, hop->to))
            copy(w, hop->to, hop->channel, next, w->f->port[w->f->reverse[hop->channel.i].i], sl);
    }
}

/* From every terminal and, if they talk at all, from every switch to everybody. */
static void follow_multicast(struct waits *w, sv_traffic traffic, unsigned sl)
{
    for (uint32_t v = 0; v < sv_num_nodes(w->f); v++) {
        sv_node from = {v};
        if (!sv_node_alive(w->f, from))
            continue;
        if (sv_is_switch(w->f, from)) {
            if (traffic != SV_TRAFFIC_TERMINALS)
                copy(w, from, SV_NO_CHANNEL, 0, 0, sl);
            continue;
        }
        SV_FOR_HOPS (w->f, from, hop)
            if (sv_is_switch(w->f, hop->to))
                copy(w, hop->to, hop->channel,
                     sv_route_sl2vl(w->r, w->f, from, 0, w->f->port[hop->channel.i])->of_sl[sl],
                     w->f->port[w->f->reverse[hop->channel.i].i], sl);
    }
}

static bool cycle_from(struct waits *w, size_t v)
{
    w->colour[v] = 1;
    for (size_t u = 0; u < w->vertices; u++)
        if (w->matrix[v * w->vertices + u] &&
            (w->colour[u] == 1 || (w->colour[u] == 0 && cycle_from(w, u))))
            return true;
    w->colour[v] = 2;
    return false;
}

static bool has_cycle(struct waits *w)
{
    memset(w->colour, 0, w->vertices);
    for (size_t v = 0; v < w->vertices; v++)
        if (w->colour[v] == 0 && cycle_from(w, v))
            return true;
    return false;
}

/* ---- random trials ---- */

static sv_fabric *draw_fabric(bool small)
{
    char spec[100];
    sv_fabric *f = NULL, *left = NULL;
    uint32_t n = small ? 4 + lot(3) : 6 + lot(9);
    switch (lot(small ? 2 : 4)) {
    case 0:
        snprintf(spec, sizeof spec, "random:switches=%u,links=%u,total=%u,seed=%u", n,
                 n + lot(small ? 4 : n), n + lot(n), 1 + lot(1000));
        break;
    case 1:
        snprintf(spec, sizeof spec, "torus:%u,hosts=1", n);
        break;
    case 2:
        snprintf(spec, sizeof spec, "torus:%ux%u,hosts=1", 3 + lot(2), 3 + lot(2));
        break;
    default:
        snprintf(spec, sizeof spec, "dragonfly:a=2,p=1,h=%u,g=%u", 1 + lot(2), 3);
        break;
    }
    OK(ctx, sv_topology_generate(ctx, spec, &f));
    sv_mask *mask = sv_mask_new(ctx, f);
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_joins_switches(f, (sv_channel){c}) && lot(24) == 0)
            sv_mask_cable(mask, f, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &left));
    sv_mask_free(mask);
    sv_fabric_free(f);
    return left;
}

static sv_routes *draw_routes(const sv_fabric *f)
{
    const char *engines[] = {"weave", "weave", "weave", "nue", "dfsssp", "lash", "updn", "minhop"};
    const char *engine = engines[lot(8)];
    sv_route_request request = {.vls = 1u << lot(3), .seed = 1 + lot(100)};
    if (strcmp(engine, "weave") == 0)
        request.sl_mode = (sv_sl_mode)lot(SV_SLS_COUNT);
    sv_routes *r = NULL;
    sv_status status = sv_route(ctx, f, engine, &request, &r, NULL);
    assert_true(status == SV_OK || status == SV_INFEASIBLE);
    return r;
}

/* VLs by ports, drawn for all pairs of ports: few tables, so that VLs meet again. */
static void draw_vls(const sv_fabric *f, sv_routes *r)
{
    uint32_t tables[4], vls = 2 + lot(3);
    for (int i = 0; i < 4; i++) {
        sv_sl2vl drawn = {{0}};
        for (unsigned sl = 0; sl < r->num_sls; sl++)
            drawn.of_sl[sl] = (uint8_t)lot(vls);
        tables[i] = sv_routes_sl2vl_table(ctx, r, &drawn);
    }
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)tables[lot(4)];
    for (uint32_t s = 0; s < f->num_switches; s++)
        for (unsigned in = 0; in <= f->switches[s].ports; in++)
            for (unsigned out = 0; out <= f->switches[s].ports; out++)
                OK(ctx, sv_routes_set_sl2vl(ctx, f, r, (sv_node){s}, in, out, tables[lot(4)]));
}

/* The judge's word on a tree, all terminals being members. */
static bool judged_safe(const sv_fabric *f, const sv_routes *r, const sv_mtree *t,
                        sv_traffic traffic)
{
    sv_routes *clone = NULL;
    sv_verification *found = NULL;
    OK(ctx, sv_routes_clone(ctx, r, &clone));
    OK(ctx, sv_mtree_add_all(ctx, t, f, clone, 0xc000));
    OK(ctx, sv_verify(ctx, f, clone, NULL, &found));
    bool safe = found->together[traffic] == SV_VERDICT_YES;
    sv_verification_free(found);
    sv_routes_free(clone);
    return safe;
}

static void take_tree(struct waits *w, const sv_mtree *t)
{
    memset(w->tree, 0, w->f->num_channels * sizeof *w->tree);
    for (uint32_t s = 0; s < t->num_switches; s++)
        if (t->up[s] != SV_NONE)
            w->tree[t->up[s]] = w->tree[w->f->reverse[t->up[s]].i] = true;
}

static void trees_have_no_cycle(void **state)
{
    (void)state;
    unsigned found = 0, refused = 0;
    for (uint32_t trial = 0; trial < test_times(400); trial++) {
        sv_fabric *f = draw_fabric(false);
        sv_routes *r = draw_routes(f);
        sv_traffic traffic = (sv_traffic)lot(SV_TRAFFIC_COUNT);
        if (r != NULL && trial % 3 == 0)
            draw_vls(f, r);
        for (unsigned sl = 0; r != NULL && sl < 4; sl++) {
            struct waits w = waits_new(f, r);
            sv_mtree *t = NULL;
            follow_unicast(&w, traffic);
            bool broken = has_cycle(&w);
            sv_status status = sv_mtree_new(ctx, f, r, traffic, sl, NULL, 0, &t);
            assert_true(status == SV_OK || status == SV_INFEASIBLE);
            assert_true(!broken || status == SV_INFEASIBLE);
            if (status == SV_OK) {
                take_tree(&w, t);
                follow_multicast(&w, traffic, sl);
                assert_false(has_cycle(&w));
                assert_true(judged_safe(f, r, t, traffic));
            }
            found += status == SV_OK;
            refused += status != SV_OK && !broken;
            sv_mtree_free(t);
            waits_free(&w);
        }
        sv_routes_free(r);
        sv_fabric_free(f);
    }
    printf("%u trees, %u times none\n", found, refused);
    assert_true(!test_enough() || (found > 1000 && refused * 20 < found));
}

/* Trees for several SLs, each beside those before it, and all their packets together. */
static void nor_do_several_together(void **state)
{
    (void)state;
    unsigned found = 0, refused = 0;
    for (uint32_t trial = 0; trial < test_times(200); trial++) {
        sv_fabric *f = draw_fabric(false);
        sv_routes *r = draw_routes(f);
        sv_traffic traffic = (sv_traffic)lot(SV_TRAFFIC_COUNT);
        sv_mtree *trees[4] = {NULL};
        const sv_mtree *others[4];
        size_t count = 0;
        if (r != NULL && trial % 2 == 0)
            draw_vls(f, r);
        for (unsigned sl = 0; r != NULL && sl < 4; sl++) {
            if (sv_mtree_new(ctx, f, r, traffic, sl, others, count, &trees[count]) == SV_OK) {
                others[count] = trees[count];
                count++;
            } else
                refused++;
        }
        if (count > 0) {
            struct waits w = waits_new(f, r);
            follow_unicast(&w, traffic);
            for (size_t i = 0; i < count; i++) {
                take_tree(&w, trees[i]);
                follow_multicast(&w, traffic, trees[i]->sl);
            }
            assert_false(has_cycle(&w));
            waits_free(&w);
        }
        for (size_t i = 0; i < count; i++)
            sv_mtree_free(trees[i]);
        found += (unsigned)count;
        sv_routes_free(r);
        sv_fabric_free(f);
    }
    printf("%u trees, %u times none, or tables that deadlock\n", found, refused);
    assert_true(!test_enough() || found > 400);
}

/* ---- all trees ---- */

struct all {
    struct waits *w;
    const uint8_t *unicast; /* the matrix of that alone */
    sv_channel cables[64];
    unsigned num_cables;
    uint32_t part[16];
    unsigned missing; /* cables that a forest still needs */
    sv_traffic traffic;
    unsigned sl;
    unsigned trees, good;
};

static uint32_t part_of(const struct all *x, uint32_t s)
{
    while (x->part[s] != s)
        s = x->part[s];
    return s;
}

/* Every spanning forest: each cable in it or not. */
static void try_from(struct all *x, unsigned i)
{
    struct waits *w = x->w;
    if (x->missing == 0) {
        memcpy(w->matrix, x->unicast, w->vertices * w->vertices);
        follow_multicast(w, x->traffic, x->sl);
        x->trees++;
        x->good += !has_cycle(w);
        return;
    }
    if (x->good > 0 || x->num_cables - i < x->missing)
        return;
    sv_channel c = x->cables[i];
    uint32_t a = part_of(x, w->f->tail[c.i].i), b = part_of(x, w->f->head[c.i].i);
    if (a != b) {
        x->part[a] = b;
        x->missing--;
        w->tree[c.i] = w->tree[w->f->reverse[c.i].i] = true;
        try_from(x, i + 1);
        w->tree[c.i] = w->tree[w->f->reverse[c.i].i] = false;
        x->missing++;
        x->part[a] = a;
    }
    try_from(x, i + 1);
}

/* Whether some tree of all has no cycle. */
static bool exists(struct waits *w, sv_traffic traffic, unsigned sl)
{
    struct all x = {.w = w, .traffic = traffic, .sl = sl};
    const sv_fabric *f = w->f;
    uint8_t *unicast = malloc(w->vertices * w->vertices);
    memcpy(unicast, w->matrix, w->vertices * w->vertices);
    x.unicast = unicast;
    assert_true(f->num_switches <= 16);
    for (uint32_t s = 0; s < f->num_switches; s++)
        x.part[s] = s;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_channel_alive(f, (sv_channel){c}) && sv_is_cable(f, (sv_channel){c}) &&
            sv_joins_switches(f, (sv_channel){c}) && x.num_cables < 64)
            x.cables[x.num_cables++] = (sv_channel){c};
    for (unsigned i = 0; i < x.num_cables; i++) { /* how many any forest has */
        uint32_t a = part_of(&x, f->tail[x.cables[i].i].i),
                 b = part_of(&x, f->head[x.cables[i].i].i);
        x.missing += a != b;
        x.part[a] = b;
    }
    for (uint32_t s = 0; s < f->num_switches; s++)
        x.part[s] = s;
    memset(w->tree, 0, f->num_channels * sizeof *w->tree);
    try_from(&x, 0);
    free(unicast);
    return x.good > 0;
}

static void what_is_there_is_found(void **state)
{
    (void)state;
    unsigned none = 0, some = 0;
    for (uint32_t trial = 0; trial < test_times(400); trial++) {
        sv_fabric *f = draw_fabric(true);
        sv_routes *r = draw_routes(f);
        sv_traffic traffic = (sv_traffic)lot(SV_TRAFFIC_COUNT);
        if (r != NULL && trial % 3 == 0)
            draw_vls(f, r);
        for (unsigned sl = 0; r != NULL && sl < 2; sl++) {
            struct waits w = waits_new(f, r);
            sv_mtree *t = NULL;
            follow_unicast(&w, traffic);
            if (!has_cycle(&w)) {
                bool there = exists(&w, traffic, sl);
                sv_status status = sv_mtree_new(ctx, f, r, traffic, sl, NULL, 0, &t);
                assert_int_equal(status, there ? SV_OK : SV_INFEASIBLE);
                some += there;
                none += !there;
            }
            sv_mtree_free(t);
            waits_free(&w);
        }
        sv_routes_free(r);
        sv_fabric_free(f);
    }
    printf("%u times there is a tree, %u times none\n", some, none);
    assert_true(!test_enough() || some > 100);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_have_no_cycle),
                                       cmocka_unit_test(nor_do_several_together),
                                       cmocka_unit_test(what_is_there_is_found)};
    return cmocka_run_group_tests(tests, begin, end);
}
