/*
 * dragonfly.c: finding the groups of a dragonfly.
 *
 * Two switches of a fully connected group have nearly the same closed neighbourhood (themselves and
 * their neighbours), the two ends of a cable between groups hardly anything of it in common
 * (Maglione-Mathey et al., TPDS 2018). So cables are put in the order of how much their ends have
 * in common, and switches are joined along them, the likest first. After each step there is a
 * grouping, from every switch alone to everything in one group; each is judged by what it lacks to
 * be a fully connected dragonfly (grouping.c), and the best is taken. No threshold has to be
 * guessed, and several cables between two groups, groups of different size and missing cables do
 * not matter as long as likeness tells.
 *
 * Likeness is measured in three ways: what is in common of the smaller neighbourhood, of the
 * larger, and, where neighbours of neighbours matter (leaf-spine groups have no triangles), how
 * many squares a cable is in. Where all of them fail, as with groups of two, switches of
 * consecutive numbers are tried as groups: numbers only propose, cables decide. Then single
 * switches and whole groups are moved as long as that leaves less to be wished for. If that is
 * still no dragonfly, complete graphs of each size are tried (cliques.c).
 *
 * Rings of six and complete graphs can be seen as dragonflies in several ways; all of them are.
 *
 * Cost: O(cables × ports) for neighbourhoods, O(cables × ports²) for squares; each of at most a
 * thousand likenesses costs O(cables).
 */
#include "structure/dragonfly.h"

#include "base/sets.h"
#include <stdlib.h>
#include <string.h>

/* More than anything lacks. */
#define NOTHING                                                                                    \
    {                                                                                              \
        .cables = UINT64_MAX, .uneven = UINT32_MAX                                                 \
    }

enum { LIKENESSES = 1024, MOVES_WORK = 1 << 26, LARGEST_CLIQUE = 24, CLIQUE_STEPS = 1 << 20 };

struct finder {
    sv_dragonfly *d;
    const uint32_t *part;   /* [switches] */
    uint32_t *parent;       /* [switches]: of the union of sets */
    uint32_t *scratch;      /* [switches] */
    uint32_t *order, *from; /* [pairs of neighbours]: the likest first; the one with the number */
    uint16_t *likeness;     /* [pairs of neighbours], both directions */
    bool *mark;             /* [switches] */
    uint32_t bucket[LIKENESSES + 2];
    sv__grouping tried;
    uint32_t *best; /* [switches]: the best grouping so far */
    sv_dragonfly_lack lack;
    /* The best that likeness tells with a cable between any two groups, of which there are two. */
    uint32_t *joined;
    sv_dragonfly_lack joined_lack;
    /* The one that lacks least of all with a cable between any two groups. */
    uint32_t *tight;
    sv_dragonfly_lack tight_lack;
    uint64_t work; /* spent on moves */
};

/* ---- neighbours and parts ---- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static sv_status list_neighbours(sv_dragonfly *d, sv_arena *arena)
{
    const sv_core *core = d->core;
    uint32_t n = core->num_switches, count = 0;
    d->near_first = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    d->near = SV_ARENA_NEW(arena, uint32_t, (size_t)core->num_entries + 1);
    if (d->near_first == NULL || d->near == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t degree = core->first[s + 1] - core->first[s], *mine = d->near + count, kept = 0;
        d->near_first[s] = count;
        if (degree == 0)
            continue;
        memcpy(mine, core->neighbour + core->first[s], degree * sizeof *mine);
        qsort(mine, degree, sizeof *mine, ascending);
        for (uint32_t k = 0; k < degree; k++)
            if (k == 0 || mine[k] != mine[k - 1])
                mine[kept++] = mine[k];
        count += kept;
    }
    d->near_first[n] = count;
    return SV_OK;
}

/* The smaller root stays: groups come out numbered by their first switch. */
static bool join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = sv_set_head(parent, a);
    b = sv_set_head(parent, b);
    if (a == b)
        return false;
    parent[a > b ? a : b] = a > b ? b : a;
    return true;
}

static void each_alone(struct finder *x, const sv_fabric *f)
{
    for (uint32_t s = 0; s < x->d->core->num_switches; s++)
        x->parent[s] = sv_node_alive(f, (sv_node){s}) ? s : SV_NONE;
}

/* ---- likeness ---- */

/* How many of the closed neighbourhoods of two neighbours are in both. */
static uint32_t in_common(const sv_dragonfly *d, uint32_t a, uint32_t b)
{
    uint32_t i = d->near_first[a], j = d->near_first[b], count = 2; /* the two themselves */
    while (i < d->near_first[a + 1] && j < d->near_first[b + 1]) {
        uint32_t x = d->near[i], y = d->near[j];
        count += x == y;
        i += x <= y;
        j += y <= x;
    }
    return count;
}

/* Squares that a cable is in: its ends' other neighbours that are neighbours. */
static uint64_t squares(const struct finder *x, uint32_t a, uint32_t b)
{
    const sv_dragonfly *d = x->d;
    uint64_t count = 0;
    for (uint32_t k = d->near_first[b]; k < d->near_first[b + 1]; k++)
        x->mark[d->near[k]] = d->near[k] != a;
    for (uint32_t k = d->near_first[a]; k < d->near_first[a + 1]; k++) {
        uint32_t s = d->near[k];
        for (uint32_t l = d->near_first[s]; s != b && l < d->near_first[s + 1]; l++)
            count += x->mark[d->near[l]];
    }
    for (uint32_t k = d->near_first[b]; k < d->near_first[b + 1]; k++)
        x->mark[d->near[k]] = false;
    return count;
}

enum measure { OF_SMALLER, OF_LARGER, SQUARES, MEASURES };

static uint16_t likeness(const struct finder *x, enum measure measure, uint32_t a, uint32_t b)
{
    const sv_dragonfly *d = x->d;
    uint64_t at_a = d->near_first[a + 1] - d->near_first[a], of;
    uint64_t at_b = d->near_first[b + 1] - d->near_first[b], count;
    if (measure == SQUARES) {
        count = squares(x, a, b);
        of = (at_a - 1) * (at_b - 1);
    } else {
        count = in_common(d, a, b);
        of = 1 + ((measure == OF_SMALLER) == (at_a < at_b) ? at_a : at_b);
    }
    return of == 0 ? 0 : (uint16_t)(count * LIKENESSES / of);
}

/* Puts the pairs of neighbours in order, the likest first. */
static void sort_pairs(struct finder *x, enum measure measure)
{
    const sv_dragonfly *d = x->d;
    memset(x->bucket, 0, sizeof x->bucket);
    for (uint32_t s = 0; s < d->core->num_switches; s++)
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1] && d->near[k] < s; k++) {
            x->likeness[k] = likeness(x, measure, s, d->near[k]);
            x->bucket[LIKENESSES - x->likeness[k] + 1]++;
        }
    for (uint32_t i = 1; i < LIKENESSES + 2; i++)
        x->bucket[i] += x->bucket[i - 1];
    for (uint32_t s = 0; s < d->core->num_switches; s++)
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1] && d->near[k] < s; k++) {
            uint32_t at = x->bucket[LIKENESSES - x->likeness[k]]++;
            x->order[at] = k;
            x->from[at] = s;
        }
}

/* ---- groupings ---- */

/*
 * Whether a grouping with any pattern inside is better than another: all groups are joined, none
 * is more than twice as large as another, and cables stay inside more than they would by chance.
 */
static bool joins_better(sv_dragonfly_lack a, sv_dragonfly_lack b)
{
    if (a.between > 0 || a.pairs == 0 || a.uneven > a.smallest)
        return false;
    return b.cables == UINT64_MAX || a.modularity > b.modularity;
}

/* Judges the grouping that is tried and keeps it if it is the best so far. */
static bool try_grouping(struct finder *x, bool told)
{
    uint32_t n = x->d->core->num_switches;
    uint64_t max = told || x->lack.cables == UINT64_MAX ? UINT64_MAX : x->lack.cables + n;
    sv_dragonfly_lack lack = sv__grouping_judge(&x->tried, x->d, x->part, max);
    if (told && lack.cables != UINT64_MAX && joins_better(lack, x->joined_lack)) {
        x->joined_lack = lack;
        memcpy(x->joined, x->tried.group, n * sizeof *x->joined);
    }
    if (lack.between == 0 && lack.pairs > 0 && sv__lacks_less(lack, x->tight_lack)) {
        x->tight_lack = lack;
        memcpy(x->tight, x->tried.group, n * sizeof *x->tight);
    }
    if (!sv__lacks_less(lack, x->lack))
        return false;
    x->lack = lack;
    memcpy(x->best, x->tried.group, n * sizeof *x->best);
    return true;
}

/* The same for the sets that are joined now. told: by likeness. */
static void try_sets(struct finder *x, bool told)
{
    uint32_t n = x->d->core->num_switches;
    for (uint32_t s = 0; s < n; s++)
        x->tried.group[s] = x->parent[s] == SV_NONE ? SV_NONE : sv_set_head(x->parent, s);
    sv__grouping_number(&x->tried, x->scratch, n);
    try_grouping(x, told);
}

static void try_likeness(struct finder *x, const sv_fabric *f, enum measure measure)
{
    uint32_t count = x->d->near_first[x->d->core->num_switches] / 2;
    bool changed = false;
    each_alone(x, f);
    sort_pairs(x, measure);
    for (uint32_t i = 0; i < count; i++) {
        changed |= join(x->parent, x->from[i], x->d->near[x->order[i]]);
        if (changed &&
            (i + 1 == count || x->likeness[x->order[i + 1]] != x->likeness[x->order[i]])) {
            try_sets(x, true);
            changed = false;
        }
    }
}

/* Switches of consecutive numbers, some at a time, those of one part together. */
static void try_numbers(struct finder *x, const sv_fabric *f, uint32_t size)
{
    uint32_t n = x->d->core->num_switches;
    each_alone(x, f);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t t = s - s % size; x->parent[s] != SV_NONE && t < s; t++)
            if (x->parent[t] != SV_NONE && x->part[t] == x->part[s]) {
                join(x->parent, s, t);
                break;
            }
    /* Where likeness tells of groups, numbers may know them better; else any halves would do. */
    try_sets(x, x->joined_lack.cables != UINT64_MAX);
}

/* Complete groups of a size. */
static void try_cliques(struct finder *x, const sv_fabric *f, uint32_t size, uint64_t *steps)
{
    uint32_t n = x->d->core->num_switches;
    for (uint32_t s = 0; s < n; s++)
        x->mark[s] = sv_node_alive(f, (sv_node){s});
    sv__cliques_group(x->d, size, x->mark, x->tried.group, steps);
    memset(x->mark, 0, n * sizeof *x->mark);
    sv__grouping_number(&x->tried, x->scratch, n);
    try_grouping(x, false);
}

/* The most neighbours that any switch has, and no more than make a small group. */
static uint32_t max_neighbours(const sv_dragonfly *d)
{
    uint32_t max = 0;
    for (uint32_t s = 0; s < d->core->num_switches; s++)
        if (d->near_first[s + 1] - d->near_first[s] > max)
            max = d->near_first[s + 1] - d->near_first[s];
    return max < LARGEST_CLIQUE ? max : LARGEST_CLIQUE;
}

/* ---- moving ---- */

/* Takes the best grouping, with one group's number in place of another's where who says so. */
static void change(struct finder *x, uint32_t who, uint32_t from, uint32_t to)
{
    uint32_t n = x->d->core->num_switches;
    memcpy(x->tried.group, x->best, n * sizeof *x->best);
    for (uint32_t s = 0; s < n; s++)
        if (s == who || (who == SV_NONE && x->best[s] == from))
            x->tried.group[s] = to;
    sv__grouping_number(&x->tried, x->scratch, n);
}

/* Neighbours that a switch has in a group. */
static uint32_t friends(const struct finder *x, uint32_t s, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t k = x->d->near_first[s]; k < x->d->near_first[s + 1]; k++)
        count += x->best[x->d->near[k]] == group;
    return count;
}

/* Moves a switch, or its whole group, to where a neighbour is, if that is better. */
static bool move_one(struct finder *x, uint32_t s, uint64_t *work)
{
    const sv_dragonfly *d = x->d;
    uint32_t mine = x->best[s], here = mine == SV_NONE ? 0 : friends(x, s, mine);
    for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1]; k++) {
        uint32_t to = x->best[d->near[k]], there = friends(x, s, to);
        *work += d->near_first[s + 1] - d->near_first[s];
        if (to == mine || (there < here && there < 2))
            continue;
        for (int whole = 0; whole < 2; whole++) {
            *work += d->near_first[d->core->num_switches];
            change(x, whole ? SV_NONE : s, mine, to);
            if (try_grouping(x, false))
                return true;
        }
    }
    return false;
}

static void move_all(struct finder *x)
{
    for (bool better = true; better && x->lack.cables > 0;) {
        better = false;
        for (uint32_t s = 0; s < x->d->core->num_switches && x->work < MOVES_WORK; s++)
            better |= move_one(x, s, &x->work);
    }
}

/* ---- all of it ---- */

static sv_status finder_init(struct finder *x, sv_dragonfly *d, sv_arena *arena, const sv_fabric *f)
{
    uint32_t n = d->core->num_switches, parts = 0;
    SV_TRY(list_neighbours(d, arena));
    uint32_t pairs = d->near_first[n], *part = SV_ARENA_NEW(arena, uint32_t, n);
    *x = (struct finder){
        .d = d, .part = part, .lack = NOTHING, .joined_lack = NOTHING, .tight_lack = NOTHING};
    x->parent = SV_ARENA_NEW(arena, uint32_t, n);
    x->scratch = SV_ARENA_NEW(arena, uint32_t, n);
    x->order = SV_ARENA_NEW(arena, uint32_t, pairs / 2);
    x->from = SV_ARENA_NEW(arena, uint32_t, pairs / 2);
    x->likeness = SV_ARENA_NEW(arena, uint16_t, pairs);
    x->mark = SV_ARENA_NEW(arena, bool, n);
    x->best = SV_ARENA_NEW(arena, uint32_t, n);
    x->joined = SV_ARENA_NEW(arena, uint32_t, n);
    x->tight = SV_ARENA_NEW(arena, uint32_t, n);
    if (part == NULL || x->parent == NULL || x->scratch == NULL || x->order == NULL ||
        x->from == NULL || x->likeness == NULL || x->mark == NULL || x->best == NULL ||
        x->joined == NULL || x->tight == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__grouping_init(&x->tried, arena, d));
    each_alone(x, f);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1]; k++)
            join(x->parent, s, d->near[k]);
    for (uint32_t s = 0; s < n; s++)
        if (x->parent[s] != SV_NONE)
            part[s] = sv_set_head(x->parent, s) == s ? parts++ : part[x->parent[s]];
    /* All in one group, and each in its own: what everything else is measured by. */
    try_sets(x, false);
    each_alone(x, f);
    try_sets(x, false);
    return SV_OK;
}

/* The grouping that was taken, laid out. */
static sv_status take(struct finder *x, sv_arena *arena)
{
    sv_dragonfly *d = x->d;
    uint32_t n = d->core->num_switches;
    memcpy(x->tried.group, x->best, n * sizeof *x->best);
    sv__grouping_number(&x->tried, x->scratch, n);
    d->num_groups = x->tried.num_groups;
    d->lack = x->lack;
    d->group = x->tried.group;
    d->first = SV_ARENA_NEW(arena, uint32_t, (size_t)d->num_groups + 2);
    d->members = SV_ARENA_NEW(arena, uint32_t, (size_t)n + 1);
    d->part = SV_ARENA_NEW(arena, uint32_t, (size_t)d->num_groups + 1);
    if (d->first == NULL || d->members == NULL || d->part == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        if (d->group[s] != SV_NONE)
            d->first[d->group[s] + 2]++;
    for (uint32_t i = 1; i < d->num_groups; i++)
        d->first[i + 2] += d->first[i + 1];
    for (uint32_t s = 0; s < n; s++)
        if (d->group[s] != SV_NONE) {
            d->members[d->first[d->group[s] + 1]++] = s;
            d->part[d->group[s]] = x->part[s];
        }
    return sv__dragonfly_describe(d, arena);
}

/* Whether what is lacking may have failed: a quarter between groups, an eighth inside, no more. */
static bool plausible(sv_dragonfly_lack lack)
{
    return lack.between * 4 <= lack.pairs && (lack.cables - lack.between) * 8 <= lack.inside_pairs;
}

/*
 * A switch that lost most cables of its group is cheaper to leave alone, but then some pairs of
 * groups have no cable. If that is all that speaks against a grouping without such pairs, and it is
 * not far from complete, it is the right one.
 */
static bool tight_is_better(const struct finder *x)
{
    sv_dragonfly_lack tight = x->tight_lack;
    return tight.cables != UINT64_MAX && tight.groups > 2 && tight.uneven <= tight.smallest / 2 &&
           tight.cables * 4 <= tight.inside_pairs &&
           tight.cables + 2 <= x->lack.cables + tight.smallest + tight.uneven;
}

/* Looks for groups, in all ways. */
static void look_for_groups(struct finder *x, const sv_fabric *f)
{
    uint32_t n = x->d->core->num_switches;
    for (int m = 0; m < MEASURES; m++)
        if (m != SQUARES || x->lack.cables > 0)
            try_likeness(x, f, (enum measure)m);
    for (uint32_t k = 2; k <= n / 2; k++)
        if (n % k == 0)
            try_numbers(x, f, k);
    move_all(x);
    uint64_t steps = plausible(x->lack) ? 0 : CLIQUE_STEPS;
    for (uint32_t k = max_neighbours(x->d); k > 1 && steps > 0; k--)
        try_cliques(x, f, k, &steps);
    move_all(x);
    x->d->found = true;
    if (plausible(x->lack) && x->lack.between == 0)
        return;
    if (tight_is_better(x)) {
        x->lack = x->tight_lack;
        x->best = x->tight;
    } else if (!plausible(x->lack) && x->joined_lack.cables != UINT64_MAX) {
        x->lack = x->joined_lack;
        x->best = x->joined;
    } else
        x->d->found = plausible(x->lack);
}

sv_status sv_dragonfly_find(sv_dragonfly *d, sv_arena *arena, const sv_core *core,
                            const sv_fabric *f, uint32_t size)
{
    struct finder x;
    *d = (sv_dragonfly){.core = core, .found = true};
    SV_TRY(finder_init(&x, d, arena, f));
    if (size > 0) {
        x.lack = (sv_dragonfly_lack)NOTHING;
        try_numbers(&x, f, size);
        memcpy(x.best, x.tried.group, core->num_switches * sizeof *x.best);
    } else
        look_for_groups(&x, f);
    return take(&x, arena);
}
