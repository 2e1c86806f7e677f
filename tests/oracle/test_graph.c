/*
 * test_graph.c: the numbers of metrics.h against igraph and against plain enumeration.
 *
 * Thousands of small fabrics are sketched at random: trees, rings, stars, complete graphs, barbells
 * with a cut vertex, two cliques that share k switches, sparse and dense ones; with parallel
 * cables, loopback plugs, isolated switches, several pieces, shuffled numbers, some with failures.
 * Others come from the generators, with random failures. The oracle sees a fabric only through its
 * channels and the bits of the dead ones (never through hops) and turns it into a matrix of cables
 * between live switches. From there:
 *
 *   components     igraph, with and without terminals
 *   distances      Floyd and Warshall's three loops, and igraph's diameter and mean path
 *   connectivity   igraph's maximum flows; up to 11 switches also every set of switches, as the
 *                  set that fails (vertices) or as one side of a cut (cables)
 *   bisection      up to 10 switches, every set of switches as one half
 *
 * test_igraph_conventions pins what igraph says where definitions differ (complete graphs, single
 * vertices, parallel edges). Every number must also be the same with 1, 2 and 7 threads. Trials are
 * numbered; a number gives the seed.
 */
#include "support/testing.h"
#include "support/trials.h"

#include <igraph.h>
#include <math.h>

enum {
    LARGEST = 40,      /* switches of a sketch */
    MAX_CABLES = 2000, /* of a sketch */
    MAX = 80,          /* switches the oracle's matrix has room for */
    UNREACHED = 1000   /* farther than any two switches are apart */
};

/* splitmix64 */
static uint64_t roll(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(roll(state) % n);
}

static bool one_in(uint64_t *state, uint32_t n)
{
    return below(state, n) == 0;
}

/* ---- sketches, and fabrics from them ---- */

typedef struct sketch {
    uint32_t switches, cables;
    uint32_t a[MAX_CABLES], b[MAX_CABLES];
    uint32_t hosts[LARGEST];
} sketch;

static void join(sketch *s, uint32_t a, uint32_t b)
{
    if (s->cables < MAX_CABLES) {
        s->a[s->cables] = a;
        s->b[s->cables++] = b;
    }
}

/* Every two of the switches from … to - 1 with a chance of one in `rare`. */
static void join_some(sketch *s, uint32_t from, uint32_t to, uint32_t rare, uint64_t *dice)
{
    for (uint32_t i = from; i < to; i++)
        for (uint32_t j = i + 1; j < to; j++)
            if (one_in(dice, rare))
                join(s, i, j);
}

static void shape(sketch *s, uint32_t n, uint64_t *dice)
{
    uint32_t k = below(dice, n), end = k + below(dice, n - k) + 1, step = 1 + below(dice, 2);
    switch (below(dice, 9)) {
    case 0: /* a tree */
        for (uint32_t i = 1; i < n; i++)
            join(s, i, below(dice, i));
        break;
    case 1: /* a ring, or its square, with chords at times */
        for (uint32_t i = 0; i < step * n; i++)
            join(s, i % n, (i + 1 + i / n) % n);
        for (uint32_t i = below(dice, 4); i > 0; i--)
            join(s, i % n, below(dice, n));
        break;
    case 2: /* a star or, with more centres, a complete bipartite graph */
        for (uint32_t i = 0; i <= k / 2; i++)
            for (uint32_t j = k / 2 + 1; j < n; j++)
                join(s, i, j);
        break;
    case 3: /* a barbell: two cliques that meet in switch k, or in a cable */
        join_some(s, 0, k + 1, 1, dice);
        join_some(s, k + (step - 1), n, 1, dice);
        if (step == 2 && k + 1 < n)
            join(s, k, k + 1);
        break;
    case 4: /* two cliques that share the switches k … end - 1 */
        join_some(s, 0, end, 1, dice);
        join_some(s, k, n, 1, dice);
        break;
    case 5: /* complete, or all but */
        join_some(s, 0, n, 1, dice);
        s->cables -= s->cables > 3 ? below(dice, 4) : 0;
        break;
    default:
        join_some(s, 0, n, 2 + below(dice, 4), dice);
    }
}

static void add_oddities(sketch *s, uint64_t *dice)
{
    if (one_in(dice, 2)) /* parallel cables */
        for (uint32_t i = s->cables, rare = 1 + below(dice, 6); i-- > 0;)
            for (uint32_t more = one_in(dice, rare) ? 1 + below(dice, 3) : 0; more > 0; more--)
                join(s, s->a[i], s->b[i]);
    for (uint32_t i = one_in(dice, 3) ? 1 + below(dice, 3) : 0; i > 0; i--) {
        uint32_t loopback = below(dice, s->switches);
        join(s, loopback, loopback);
    }
    for (uint32_t i = 0, hosts = below(dice, 4); i < s->switches; i++)
        s->hosts[i] = one_in(dice, 2) ? hosts : below(dice, hosts + 1);
}

/* A terminal on an adapter of its own. */
static sv_end add_host(sv_builder *builder)
{
    sv_end end = {.terminal = true, .port = 1};
    sv_terminal_info about = {.port = 1};
    sv_builder_add_adapter(builder, &(sv_adapter_info){.name = "host", .ports = 1}, &about.adapter);
    sv_builder_add_terminal(builder, &about, &end.index);
    return end;
}

/* Switches in shuffled order. Whatever goes wrong while adding, sv_builder_finish says so. */
static sv_fabric *build(sv_ctx *ctx, const sketch *s, uint32_t pairs, uint64_t *dice)
{
    static const sv_link kinds[] = {{.width = 4, .speed = SV_SPEED_QDR},
                                    {.width = 4, .speed = SV_SPEED_HDR},
                                    {.width = 1, .speed = SV_SPEED_EDR},
                                    {0}};
    sv_builder *builder = sv_builder_new(ctx);
    sv_fabric *fabric = NULL;
    sv_switch_info about = {.name = "switch", .ports = 2 * MAX_CABLES};
    uint32_t name[LARGEST] = {0}, links = below(dice, 3); /* one speed, three, or unknown */
    uint16_t used[LARGEST] = {0};
    for (uint32_t i = 0, j; i < s->switches; i++) {
        sv_builder_add_switch(builder, &about, NULL);
        name[i] = name[j = below(dice, i + 1)];
        name[j] = i;
    }
    for (uint32_t i = 0; i < s->cables; i++) {
        sv_end a = {.index = name[s->a[i]], .port = ++used[s->a[i]]};
        sv_end b = {.index = name[s->b[i]], .port = ++used[s->b[i]]};
        sv_builder_add_cable(builder, a, b, &kinds[links == 1 ? below(dice, 3) : links * 3 / 2]);
    }
    for (uint32_t i = 0; i < s->switches; i++)
        for (uint32_t h = 0; h < s->hosts[i]; h++) {
            sv_end at = {.index = name[i], .port = ++used[i]};
            sv_builder_add_cable(builder, at, add_host(builder), &kinds[0]);
        }
    for (; pairs > 0; pairs--)
        sv_builder_add_cable(builder, add_host(builder), add_host(builder), &kinds[0]);
    OK(ctx, sv_builder_finish(builder, &fabric));
    OK(ctx, sv_fabric_check(ctx, fabric));
    return fabric;
}

/* pairs: whether there may be terminals back to back. */
static sv_fabric *draw_fabric(sv_ctx *ctx, uint32_t max, bool pairs, uint64_t *dice)
{
    sketch s = {.switches = 1 + below(dice, max)};
    uint32_t apart = one_in(dice, 8) && s.switches > 2 ? 1 + below(dice, 2) : 0;
    shape(&s, s.switches - apart, dice);
    add_oddities(&s, dice);
    return build(ctx, &s, pairs && one_in(dice, 8) ? 1 + below(dice, 2) : 0, dice);
}

/* Lets every node and cable fail with a chance of one in …; frees the old fabric. */
static sv_fabric *fail_some(sv_ctx *ctx, sv_fabric *f, uint32_t nodes, uint32_t cables,
                            uint64_t *dice)
{
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_fabric *result = NULL;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (one_in(dice, nodes))
            sv_mask_node(mask, (sv_node){v});
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (one_in(dice, cables))
            sv_mask_cable(mask, f, (sv_channel){c});
    OK(ctx, sv_fabric_mask(ctx, f, mask, &result));
    OK(ctx, sv_fabric_check(ctx, result));
    sv_mask_free(mask);
    sv_fabric_free(f);
    return result;
}

/* ---- the oracle's view of a fabric ---- */

enum { ALL, SWITCHES, VERTEX, EDGE, DIAMETER, MEAN, MEAN_TERMINAL, PAIRS, UNREACHABLE, ANSWERS };

static const char *const questions[] = {
    "components",       "components of switches", "vertex connectivity",    "edge connectivity",
    "diameter",         "mean distance",          "mean terminal distance", "terminal pairs",
    "unreachable pairs"};

typedef struct view {
    uint32_t n;         /* live switches */
    uint32_t pairs;     /* of terminals back to back */
    uint32_t name[MAX]; /* the fabric's number of a live switch */
    uint32_t hosts[MAX];
    uint32_t cables[MAX][MAX];
    uint64_t mbit[MAX][MAX];
    uint32_t far[MAX][MAX]; /* or UNREACHED */
} view;

static void add_cable(view *v, const sv_fabric *f, const uint32_t *place, sv_channel c)
{
    uint32_t a = f->tail[c.i].i, b = f->head[c.i].i;
    if (a >= f->num_switches && b >= f->num_switches) {
        v->pairs++;
    } else if (a >= f->num_switches) {
        v->hosts[place[b]]++;
    } else if (b >= f->num_switches) {
        v->hosts[place[a]]++;
    } else if (a != b) {
        v->cables[place[a]][place[b]]++;
        v->cables[place[b]][place[a]]++;
        v->mbit[place[a]][place[b]] += sv_link_mbit(sv_link_of(f, c));
        v->mbit[place[b]][place[a]] = v->mbit[place[a]][place[b]];
    }
}

static view *look(const sv_fabric *f)
{
    view *v = calloc(1, sizeof *v);
    uint32_t place[MAX] = {0}, terminals = 0;
    assert_non_null(v);
    assert_true(f->num_switches <= MAX);
    for (uint32_t i = 0; i < f->num_switches; i++)
        if (sv_node_alive(f, (sv_node){i})) {
            v->name[v->n] = i;
            place[i] = v->n++;
        }
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_channel_alive(f, (sv_channel){c}) && c < f->reverse[c].i)
            add_cable(v, f, place, (sv_channel){c});
    for (uint32_t i = 0; i < v->n; i++)
        terminals += v->hosts[i];
    assert_int_equal(v->n, f->live_switches);
    assert_int_equal(terminals + 2 * v->pairs, f->live_terminals);
    return v;
}

static void wrong(const view *v, const char *trial, const char *what, double got, double want)
{
    print_error("%u switches (terminals):", v->n);
    for (uint32_t i = 0; i < v->n; i++)
        print_error(" %u(%u)", v->name[i], v->hosts[i]);
    print_error("; %u pairs; cables:", v->pairs);
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t j = i + 1; j < v->n; j++)
            if (v->cables[i][j] != 0)
                print_error(" %u-%u*%u", v->name[i], v->name[j], v->cables[i][j]);
    print_error("\n");
    fail_msg("%s: %s is %.17g, should be %.17g", trial, what, got, want);
}

static void same(const view *v, const char *trial, const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)))
        wrong(v, trial, what, got, want);
}

/* The switch graph, with every terminal as a vertex more if so wished. */
static void to_igraph(const view *v, bool terminals, igraph_t *graph)
{
    igraph_vector_int_t edges;
    igraph_integer_t n = v->n;
    igraph_vector_int_init(&edges, 0);
    for (uint32_t i = 0; i < v->n; i++) {
        for (uint32_t j = i + 1; j < v->n; j++)
            for (uint32_t k = v->cables[i][j]; k > 0; k--) {
                igraph_vector_int_push_back(&edges, i);
                igraph_vector_int_push_back(&edges, j);
            }
        for (uint32_t h = 0; terminals && h < v->hosts[i]; h++) {
            igraph_vector_int_push_back(&edges, i);
            igraph_vector_int_push_back(&edges, n++);
        }
    }
    for (uint32_t p = 0; terminals && p < 2 * v->pairs; p++)
        igraph_vector_int_push_back(&edges, n++);
    assert_int_equal(igraph_create(graph, &edges, n, false), IGRAPH_SUCCESS);
    igraph_vector_int_destroy(&edges);
}

/* With one switch or none, only components are filled in. */
static void ask_igraph(const view *v, double *to)
{
    igraph_t graph;
    igraph_integer_t all, pieces, vertex = 0;
    igraph_real_t unreached;
    to_igraph(v, true, &graph);
    igraph_connected_components(&graph, NULL, NULL, &all, IGRAPH_WEAK);
    igraph_destroy(&graph);
    to_igraph(v, false, &graph);
    igraph_connected_components(&graph, NULL, NULL, &pieces, IGRAPH_WEAK);
    if (v->n > 1) {
        igraph_diameter(&graph, &to[DIAMETER], NULL, NULL, NULL, NULL, false, true);
        igraph_average_path_length(&graph, &to[MEAN], &unreached, false, true);
        igraph_mincut_value(&graph, &to[EDGE], NULL);
        igraph_simplify(&graph, true, true, NULL);
        igraph_vertex_connectivity(&graph, &vertex, true);
    }
    igraph_destroy(&graph);
    to[ALL] = (double)all;
    to[SWITCHES] = (double)pieces;
    to[VERTEX] = (double)vertex;
    to[MEAN] = isnan(to[MEAN]) ? 0 : to[MEAN];
}

static bool connected(const view *v, uint32_t set)
{
    uint32_t reached = set & (~set + 1), before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t i = 0; i < v->n; i++)
            for (uint32_t j = 0; j < v->n; j++)
                if (reached >> i & 1 && set >> j & 1 && v->cables[i][j] != 0)
                    reached |= 1u << j;
    }
    return reached == set;
}

/* The smallest set of switches whose failure leaves a disconnected rest, or a single switch. */
static uint32_t slow_vertex(const view *v)
{
    uint32_t all = (1u << v->n) - 1, best = v->n == 0 ? 0 : v->n - 1;
    for (uint32_t failed = 0; failed < all; failed++)
        if ((uint32_t)__builtin_popcount(failed) < best && !connected(v, all & ~failed))
            best = (uint32_t)__builtin_popcount(failed);
    return best;
}

static uint32_t cut_of(const view *v, uint32_t side, uint64_t *mbit)
{
    uint32_t cables = 0;
    *mbit = 0;
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t j = i + 1; j < v->n; j++)
            if ((side >> i & 1) != (side >> j & 1)) {
                cables += v->cables[i][j];
                *mbit += v->mbit[i][j];
            }
    return cables;
}

static uint32_t slow_edge(const view *v)
{
    uint32_t best = v->n > 1 ? UINT32_MAX : 0, cables;
    uint64_t mbit;
    for (uint32_t side = 1; side < (1u << v->n) - 1; side++)
        best = (cables = cut_of(v, side, &mbit)) < best ? cables : best;
    return best;
}

static void slow_distances(view *v, double *to)
{
    double pairs = 0, sum = 0, ends = 2 * v->pairs, ends_sum = 0, terminals = 2 * v->pairs;
    to[DIAMETER] = 0;
    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t j = 0; j < v->n; j++)
            v->far[i][j] = i == j ? 0 : v->cables[i][j] != 0 ? 1 : UNREACHED;
    for (uint32_t k = 0; k < v->n; k++)
        for (uint32_t i = 0; i < v->n; i++)
            for (uint32_t j = 0; j < v->n; j++)
                if (v->far[i][k] + v->far[k][j] < v->far[i][j])
                    v->far[i][j] = v->far[i][k] + v->far[k][j];
    for (uint32_t i = 0; i < v->n; i++) {
        terminals += v->hosts[i];
        for (uint32_t j = 0; j < v->n; j++) {
            double between = (double)v->hosts[i] * v->hosts[j] - (i == j ? v->hosts[i] : 0);
            if (v->far[i][j] == UNREACHED)
                continue;
            to[DIAMETER] = v->far[i][j] > to[DIAMETER] ? v->far[i][j] : to[DIAMETER];
            ends += between;
            ends_sum += between * v->far[i][j];
            sum += v->far[i][j];
            pairs += i != j;
        }
    }
    to[MEAN] = pairs > 0 ? sum / pairs : 0;
    to[MEAN_TERMINAL] = ends > 0 ? ends_sum / ends : 0;
    to[PAIRS] = ends; /* those back to back have no cable between switches on their way */
    to[UNREACHABLE] = terminals * terminals - terminals - ends;
}

/* ---- the comparison ---- */

static void ask(sv_ctx *ctx, const sv_fabric *f, unsigned threads, double *to)
{
    sv_components components;
    uint32_t vertex, edge;
    sv_distances d;
    sv_ctx_set_threads(ctx, threads);
    OK(ctx, sv_fabric_components(ctx, f, &components));
    OK(ctx, sv_fabric_vertex_connectivity(ctx, f, &vertex));
    OK(ctx, sv_fabric_edge_connectivity(ctx, f, &edge));
    OK(ctx, sv_fabric_distances(ctx, f, &d));
    to[ALL] = components.all;
    to[SWITCHES] = components.switches;
    to[VERTEX] = vertex;
    to[EDGE] = edge;
    to[DIAMETER] = d.diameter;
    to[MEAN] = d.mean_distance;
    to[MEAN_TERMINAL] = d.mean_terminal_distance;
    to[PAIRS] = (double)d.terminal_pairs;
    to[UNREACHABLE] = (double)d.unreachable_pairs;
}

/* What the oracles say; they must agree where there are two. */
static void known(view *v, const char *trial, double *to)
{
    double library[ANSWERS] = {0};
    ask_igraph(v, library);
    slow_distances(v, to);
    same(v, trial, "igraph's diameter", library[DIAMETER], to[DIAMETER]);
    same(v, trial, "igraph's mean distance", library[MEAN], to[MEAN]);
    memcpy(to, library, DIAMETER * sizeof *to);
    if (v->n <= 11) {
        same(v, trial, "igraph's vertex connectivity", to[VERTEX], slow_vertex(v));
        same(v, trial, "igraph's edge connectivity", to[EDGE], slow_edge(v));
    }
}

static void compare(sv_ctx *ctx, const sv_fabric *f, const char *trial)
{
    double want[ANSWERS], got[3][ANSWERS];
    view *v = look(f);
    known(v, trial, want);
    ask(ctx, f, 1, got[0]);
    ask(ctx, f, 2, got[1]);
    ask(ctx, f, 7, got[2]);
    for (int i = 0; i < ANSWERS; i++) {
        same(v, trial, questions[i], got[0][i], want[i]);
        if (got[1][i] != got[0][i] || got[2][i] != got[0][i])
            fail_msg("%s: %s depends on the threads", trial, questions[i]);
    }
    free(v);
}

/* ---- bisection ---- */

/* Terminals of a side; its switches when the fabric has no terminals. */
static uint32_t weight(const view *v, uint32_t side, bool of_switches)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < v->n; i++)
        sum += side >> i & 1 ? (of_switches ? 1 : v->hosts[i]) : 0;
    return sum;
}

/* The fewest cables of all cuts into sides as equal as they can be; whether the answer is a cut. */
static uint32_t best_cut(const view *v, const sv_bisection *got, bool *exists)
{
    uint32_t all = (1u << v->n) - 1, min = UINT32_MAX, best = UINT32_MAX;
    bool bare = weight(v, all, false) == 0;
    for (uint32_t side = 0; side <= all; side++) {
        uint64_t mbit;
        uint32_t cables = cut_of(v, side, &mbit), rest = all & ~side;
        uint32_t a = weight(v, side, bare), b = weight(v, rest, bare);
        *exists |= weight(v, side, false) == got->terminals[0] && cables == got->cables &&
                   weight(v, rest, false) == got->terminals[1] && mbit == got->mbit;
        if (a <= b && (b - a < min || (b - a == min && cables < best))) {
            min = b - a;
            best = cables;
        }
    }
    return best;
}

static void check_bisection(sv_ctx *ctx, const sv_fabric *f, const char *trial, bool bound)
{
    sv_bisection got, again;
    bool exists = false;
    sv_ctx_set_threads(ctx, 1);
    OK(ctx, sv_fabric_bisection(ctx, f, 7, &got));
    sv_ctx_set_threads(ctx, 7);
    OK(ctx, sv_fabric_bisection(ctx, f, 7, &again));
    if (got.cables != again.cables || got.mbit != again.mbit ||
        got.terminals[0] != again.terminals[0] || got.terminals[1] != again.terminals[1])
        fail_msg("%s: the same seed gives another bisection", trial);
    view *v = look(f);
    uint32_t best = best_cut(v, &got, &exists);
    if (!exists)
        wrong(v, trial, "bisection: no two sides fit the answer; its cables", got.cables, best);
    if (bound && got.cables < best)
        wrong(v, trial, "the upper bound of the bisection", got.cables, best);
    free(v);
}

/* ---- the trials ---- */

static void test_igraph_conventions(void **state)
{
    (void)state;
    view *v = calloc(1, sizeof *v);
    double to[ANSWERS];
    assert_non_null(v);
    v->n = 3; /* a triangle of 2, 3 and 4 parallel cables */
    v->cables[0][1] = v->cables[1][0] = 2;
    v->cables[1][2] = v->cables[2][1] = 3;
    v->cables[0][2] = v->cables[2][0] = 4;
    known(v, "triangle", to);
    assert_true(to[VERTEX] == 2 && to[EDGE] == 5 && to[SWITCHES] == 1);
    v->n = 4; /* and a switch for itself */
    v->pairs = 1;
    known(v, "triangle and one more", to);
    assert_true(to[VERTEX] == 0 && to[EDGE] == 0 && to[SWITCHES] == 2 && to[ALL] == 3);
    v->n = 1;
    known(v, "one switch", to);
    assert_true(to[VERTEX] == 0 && to[EDGE] == 0 && to[SWITCHES] == 1);
    free(v);
}

typedef struct batch {
    uint32_t trials, switches;
    bool metrics, bound; /* bound: the bisection shall be an upper bound, too, and not just a cut */
} batch;

static void test_sketches(void **state)
{
    const batch *todo = *state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    for (uint32_t trial = 0; trial < test_times(todo->trials); trial++) {
        uint64_t dice = 0x5e1ec7ed + trial;
        char name[64];
        snprintf(name, sizeof name, "trial %u of up to %u switches", trial, todo->switches);
        sv_fabric *f = draw_fabric(ctx, todo->switches, todo->metrics, &dice);
        for (int failures = 0; failures < 2; failures++) {
            if (todo->metrics)
                compare(ctx, f, name);
            else if (strstr(sv_features(), "metis") != NULL)
                check_bisection(ctx, f, name, todo->bound);
            uint32_t nodes = 1 + below(&dice, 12), cables = 1 + below(&dice, 12);
            f = fail_some(ctx, f, nodes, cables, &dice);
        }
        sv_fabric_free(f);
    }
    sv_ctx_free(ctx);
}

static const char specs[] = "torus:4x4x3,hosts=2\0kary:k=4,n=3,hosts=4\0dragonfly:a=4,h=2,g=9\0"
                            "slimfly:q=5\0kautz:d=3,k=3\0hyperx:5x4,k=1/2\0fullmesh:16,r=2\0"
                            "mesh:5x5,r=2\0hypercube:5\0expressmesh:8x5,gap=2\0"
                            "xgft:h=2,m=4/3,w=2/2,hosts=3\0dragonfly+:l=3,s=3,p=2,h=2,g=5\0"
                            "random:switches=40,links=90,total=70,seed=3\0"
                            "jellyfish:switches=40,degree=7,seed=5\0";

static void test_generated(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    for (const char *spec = specs; *spec != 0; spec += strlen(spec) + 1)
        for (uint32_t trial = 0; trial < test_times(6); trial++) {
            uint64_t dice = 0x6e0 + 100 * (uint64_t)(spec - specs) + trial;
            char name[96];
            snprintf(name, sizeof name, "%s, failures %u", spec, trial);
            sv_fabric *f = test_fabric(ctx, spec);
            if (trial > 0)
                f = fail_some(ctx, f, 80 / trial, trial % 2 == 0 ? 100 : 40 / trial, &dice);
            compare(ctx, f, name);
            sv_fabric_free(f);
        }
    sv_ctx_free(ctx);
}

int main(void)
{
    batch small = {6000, 14, true}, middle = {150, LARGEST, true};
    batch cut = {3000, 10, false, false}, bound = {3000, 10, false, true};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_igraph_conventions),
        {"test_small", test_sketches, NULL, NULL, &small},
        {"test_middle", test_sketches, NULL, NULL, &middle},
        cmocka_unit_test(test_generated),
        {"test_bisection_is_a_cut", test_sketches, NULL, NULL, &cut},
        {"test_bisection_is_an_upper_bound", test_sketches, NULL, NULL, &bound},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
