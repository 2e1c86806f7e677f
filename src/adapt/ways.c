/*
 * ways.c: ways that packets can take by going to one or two switches first: which there are for a
 * pair of terminals, in what order they are opened, and what channels they have.
 *
 * Candidates (decision 28, point 2) of terminals on switches S and D, which differ: by one via that
 * is within reach of S (channels of the tables' path from S to it) or of D (from it to D), or by
 * two, the first within reach of S, the second of D. No via is S or D, no way passes a switch
 * twice, none is longer than path 0 by more than stretch. They are ordered by length, by the larger
 * distance of its vias (of one that is near both ends, the smaller), by channels between switches
 * that path 0 has, too, by vias, by a number drawn, and by vias' numbers at last; of two with the
 * same channels the first counts.
 *
 * Few are wanted of many there are. So they are first only counted by length and distance, which
 * are looked up; then, one such class after the other, listed, followed channel by channel and
 * sorted, until there are enough.
 *
 * Invariants: distances between switches are kept a row for each destination, and lists of switches
 * near one for each switch, made when first asked for. When they take more than MAX_KEPT bytes all
 * are forgotten; where rows could take more than half of that, there are none, and tables are
 * followed instead.
 *
 * Cost: O(a b) for a and b switches near the two ends, and O(length) for each of the classes that
 * are opened. Memory: MAX_KEPT bytes, channels, and the largest class.
 */
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/array.h"

enum { MAX_KEPT = 64 << 20, FAR = UINT16_MAX }; /* bytes; no distance */

struct near {
    uint32_t at, distance;
};

struct near_list {
    struct near *at;
    uint32_t length;
    bool known;
};

struct candidate {
    uint32_t via[SV_SIM_MAX_VIAS];
    uint32_t shared;
    uint64_t draw;
    uint8_t vias;
};

struct sv__ways {
    uint32_t *port_base, *by_port; /* channels by switch and port, SV_NONE: no cable */
    sv_arena kept;
    uint16_t **rows;            /* [switches]: from each switch to this one; NULL: not yet */
    struct near_list *out, *in; /* [switches]: near as seen from it; that it is near to */
    size_t max_kept;            /* bytes */
    bool has_rows;
    uint32_t *last;   /* [switches]: channels to the present destination, of those in use */
    uint64_t *on_way; /* [channels]: stamp of the path 0 it is on */
    uint64_t *been;   /* [switches]: stamp of the walk that was there */
    uint64_t stamp;
    SV_ARRAY(sv_channel) channels; /* of a walk */
    SV_ARRAY(sv_channel) taken;    /* of paths taken, one behind the other */
    SV_ARRAY(struct candidate) found;
    SV_ARRAY(uint32_t) counts;
};

/* ---- making ready ---- */

static sv_status init_ports(sv_adapt *a, sv__ways *w)
{
    const sv_fabric *f = a->f;
    uint32_t ports = 0;
    w->port_base = SV_ARENA_NEW(&a->arena, uint32_t, (size_t)f->num_switches + 1);
    if (w->port_base == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        w->port_base[s] = ports;
        ports += f->switches[s].ports + 1u;
    }
    w->port_base[f->num_switches] = ports;
    w->by_port = SV_ARENA_NEW(&a->arena, uint32_t, ports);
    if (w->by_port == NULL)
        return SV_NO_MEMORY;
    memset(w->by_port, 0xff, ports * sizeof *w->by_port);
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            w->by_port[w->port_base[s] + f->port[hop->channel.i]] = hop->channel.i;
    return SV_OK;
}

sv_status sv__ways_new(sv_adapt *a)
{
    const sv_fabric *f = a->f;
    size_t n = f->num_switches;
    sv__ways *w = SV_ARENA_NEW(&a->arena, sv__ways, 1);
    if (w == NULL)
        return SV_NO_MEMORY;
    sv_arena_init(&w->kept, a->ctx);
    a->ways = w;
    w->rows = SV_ARENA_NEW(&a->arena, uint16_t *, n);
    w->out = SV_ARENA_NEW(&a->arena, struct near_list, n);
    w->in = SV_ARENA_NEW(&a->arena, struct near_list, n);
    w->last = SV_ARENA_NEW(&a->arena, uint32_t, n);
    w->been = SV_ARENA_NEW(&a->arena, uint64_t, n);
    w->on_way = SV_ARENA_NEW(&a->arena, uint64_t, f->num_channels);
    if (w->rows == NULL || w->out == NULL || w->in == NULL || w->last == NULL || w->been == NULL ||
        w->on_way == NULL)
        return SV_NO_MEMORY;
    sv__ways_keep(a, MAX_KEPT);
    return init_ports(a, w);
}

void sv__ways_keep(sv_adapt *a, size_t max)
{
    size_t n = a->f->num_switches;
    a->ways->max_kept = max;
    a->ways->has_rows = n * n * sizeof(uint16_t) <= max / 2;
}

void sv__ways_free(sv_adapt *a)
{
    sv__ways *w = a->ways;
    if (w == NULL)
        return;
    sv_array_release(a->ctx, &w->channels);
    sv_array_release(a->ctx, &w->taken);
    sv_array_release(a->ctx, &w->found);
    sv_array_release(a->ctx, &w->counts);
    sv_arena_release(&w->kept);
}

/* Forgets what is kept if it is too much. */
static void forget(sv_adapt *a)
{
    sv__ways *w = a->ways;
    size_t n = a->f->num_switches;
    if (w->kept.taken <= w->max_kept)
        return;
    sv_arena_release(&w->kept);
    sv_arena_init(&w->kept, a->ctx);
    memset(w->rows, 0, n * sizeof *w->rows);
    /*~lists_kept*/ memset(w->out, 0, n * sizeof *w->out);
    memset(w->in, 0, n * sizeof *w->in);
}

/* ---- following tables ---- */

sv_channel sv__ways_next(const sv_adapt *a, uint32_t s, uint32_t destination)
{
    const sv__ways *w = a->ways;
    unsigned port = a->r->ports[destination][s];
    if (port == 0 || port > a->f->switches[s].ports)
        return SV_NO_CHANNEL;
    return (sv_channel){w->by_port[w->port_base[s] + port]};
}

/* Channels to a node, SV_NONE if that takes more than most. */
static uint32_t follow(const sv_adapt *a, uint32_t s, uint32_t destination, uint32_t max)
{
    uint32_t target = a->r->node[destination].i, steps = 0;
    for (; s != target; steps++) {
        if (s >= a->f->num_switches || steps == max)
            return SV_NONE;
        sv_channel c = sv__ways_next(a, s, destination);
        if (c.i == SV_NONE)
            return SV_NONE;
        s = a->f->head[c.i].i;
    }
    return steps;
}

uint32_t sv__ways_length(const sv_adapt *a, uint32_t s, uint32_t destination)
{
    return follow(a, s, destination, a->f->num_switches + 1);
}

/* ---- distances ---- */

static sv_status make_row(sv_adapt *a, uint32_t to)
{
    sv__ways *w = a->ways;
    uint32_t n = a->f->num_switches, destination = a->r->first[to];
    uint16_t *row = SV_ARENA_NEW(&w->kept, uint16_t, n);
    if (row == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t steps = sv__ways_length(a, s, destination);
        row[s] = steps < FAR ? (uint16_t)steps : FAR;
    }
    w->rows[to] = row;
    return SV_OK;
}

static sv_status distance(sv_adapt *a, uint32_t from, uint32_t to, uint32_t max, uint32_t *steps)
{
    sv__ways *w = a->ways;
    if (!w->has_rows) {
        *steps = follow(a, from, a->r->first[to], max);
        return SV_OK;
    }
    if (w->rows[to] == NULL)
        SV_TRY(make_row(a, to));
    *steps = w->rows[to][from] == FAR ? SV_NONE : w->rows[to][from];
    return SV_OK;
}

/* Switches within reach, seen from one (out) or of which it is (in). */
static sv_status find_near(sv_adapt *a, uint32_t s, bool out, const struct near_list **list)
{
    sv__ways *w = a->ways;
    struct near_list *l = out ? &w->out[s] : &w->in[s];
    uint32_t n = a->f->num_switches, count = 0;
    *list = l;
    if (l->known)
        return SV_OK;
    for (int pass = 0; pass < 2; pass++, l->length = count, count = 0) {
        if (pass == 1) {
            l->at = SV_ARENA_NEW(&w->kept, struct near, l->length);
            if (l->at == NULL)
                return SV_NO_MEMORY;
        }
        for (uint32_t v = 0; v < n; v++) {
            uint32_t steps = v == s ? SV_NONE
                             : out  ? follow(a, s, a->r->first[v], /*~reach_more*/ a->set.reach)
                                    : follow(a, v, a->r->first[s], a->set.reach);
            if (steps == SV_NONE)
                continue;
            if (pass == 1)
                l->at[count] = (struct near){v, steps};
            count++;
        }
    }
    l->known = true;
    return SV_OK;
}

/* ---- ways, channel by channel ---- */

/* A packet that is followed. */
struct walk {
    uint32_t from, destination;
    const sv_sim_way *way;
    bool once; /* no switch twice */
};

/* The VL of a packet on a channel; false if tables have none. */
static bool has_vl(const sv_adapt *a, sv_node at, unsigned in, sv_channel c, unsigned sl)
{
    return sl < SV_MAX_SLS &&
           sv_route_sl2vl(a->r, a->f, at, in, a->f->port[c.i])->of_sl[sl] != SV_NO_VL;
}

static sv_status step(sv_adapt *a, sv_node *at, unsigned *in, sv_channel c, unsigned sl, bool *good)
{
    sv__ways *w = a->ways;
    if (!has_vl(a, *at, *in, c, sl))
        return SV_OK;
    *good = true;
    *at = a->f->head[c.i];
    *in = a->f->port[a->f->reverse[c.i].i];
    return sv_array_push(a->ctx, &w->channels, c);
}

/* To one destination after the other. *good is false where tables end it. */
static sv_status segment(sv_adapt *a, const struct walk *x, sv_node *at, unsigned *in,
                         uint32_t destination, bool *good)
{
    sv__ways *w = a->ways;
    sv_node target = a->r->node[destination];
    unsigned sl = sv_route_sl(a->r, *at, destination);
    size_t max = w->channels.length + a->f->num_switches + 2;
    *good = true;
    while (*good && at->i != target.i) {
        sv_channel c = SV_NO_CHANNEL;
        if (sv_is_switch(a->f, *at))
            c = sv__ways_next(a, at->i, destination);
        else if (w->channels.length == 0 && sv_degree(a->f, *at) > 0)
            c = a->f->hops[a->f->first[at->i]].channel;
        *good = false;
        if (c.i == SV_NONE || w->channels.length >= max)
            return SV_OK;
        SV_TRY(step(a, at, in, c, sl, good));
        if (!*good || !sv_is_switch(a->f, *at))
            continue;
        if (x->once && w->been[at->i] == /*~way_twice*/ w->stamp)
            *good = false;
        w->been[at->i] = w->stamp;
    }
    return SV_OK;
}

/* Puts a way into w->channels. */
static sv_status walk(sv_adapt *a, const struct walk *x, bool *good)
{
    sv__ways *w = a->ways;
    sv_node at = {a->f->num_switches + x->from};
    unsigned in = 0;
    w->channels.length = 0;
    w->stamp++;
    *good = true;
    for (unsigned i = 0; *good && i < x->way->vias; i++) {
        if (i > 0)
            in = 0;
        SV_TRY(segment(a, x, &at, &in, x->way->via[i], good));
    }
    /*~segment_in*/ if (x->way->vias > 0)
        in = 0;
    return *good ? segment(a, x, &at, &in, x->destination, good) : SV_OK;
}

static sv_status fail_way(const sv_adapt *a, uint32_t from, uint32_t destination)
{
    return sv_fail(a->ctx, SV_BAD_INPUT, "tables do not carry packets from '%s' to '%s'",
                   sv_node_name(a->f, (sv_node){a->f->num_switches + from}),
                   sv_node_name(a->f, a->r->node[destination]));
}

sv_status sv__ways_channels(sv_adapt *a, uint32_t from, uint32_t destination, const sv_sim_way *way,
                            sv_channel *channels, uint32_t max, uint32_t *count)
{
    sv__ways *w = a->ways;
    struct walk x = {from, destination, way, false};
    bool good;
    SV_TRY(walk(a, &x, &good));
    if (!good)
        return fail_way(a, from, destination);
    *count = (uint32_t)w->channels.length;
    memcpy(channels, w->channels.at, (*count < max ? *count : max) * sizeof *channels);
    return SV_OK;
}

/* ---- candidates ---- */

/* A search. */
struct search {
    sv_adapt *a;
    uint32_t from, destination, s, d; /* the two switches */
    uint32_t limit;                   /* channels */
    const struct near_list *out, *in;
    uint64_t path0; /* stamp of its channels */
    /* What is done with each candidate: counted, or listed if it is of one class. */
    bool list;
    uint32_t length, distance;
    unsigned max_vias;
    sv__adapt_path *paths;
    uint32_t max, count;
};

/* Steps of splitmix64. */
static uint64_t mix(uint64_t seed, uint64_t value)
{
    uint64_t z = (seed ^ value) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static sv_status add(struct search *x, uint32_t v1, uint32_t v2)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    struct candidate c = {.via = {a->r->first[v1]}, .vias = 1};
    uint64_t draw = mix(mix(/*~draw_pair*/ mix(a->seed, x->from), x->destination), c.via[0]);
    if (v2 != SV_NONE) {
        c.via[c.vias++] = a->r->first[v2];
        draw = mix(draw, c.via[1]);
    }
    c.draw = draw;
    return sv_array_push(a->ctx, &w->found, c);
}

/* Counts a candidate, or lists it if it is of the class. */
static inline sv_status note(struct search *x, uint32_t v1, uint32_t v2, uint32_t length,
                             uint32_t far)
{
    if (length > x->limit)
        return SV_OK;
    if (x->list)
        return length == x->length && far == x->distance ? add(x, v1, v2) : SV_OK;
    x->a->ways->counts.at[(size_t)length * (x->a->set.reach + 1) + far]++;
    return SV_OK;
}

/* Ways by one via: near the source's switch, or near the destination's. */
static sv_status enumerate_one(struct search *x)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    for (uint32_t i = 0, j = 0; i < x->out->length; i++) { /* both are in ascending order */
        struct near v = x->out->at[i];
        while (j < x->in->length && x->in->at[j].at < v.at)
            j++;
        bool both = j < x->in->length && x->in->at[j].at == v.at;
        uint32_t far = both && x->in->at[j].distance /*~via_near*/ < v.distance
                           ? x->in->at[j].distance
                           : v.distance;
        if (/*~via_end*/ v.at != x->d && w->last[v.at] != SV_NONE)
            SV_TRY(note(x, v.at, SV_NONE, 1 + v.distance + w->last[v.at], far));
    }
    for (uint32_t i = 0, j = 0; i < x->in->length; i++) {
        struct near v = x->in->at[i];
        uint32_t steps;
        while (j < x->out->length && x->out->at[j].at < v.at)
            j++;
        if (v.at == x->s || w->last[v.at] == SV_NONE ||
            (j < x->out->length && x->out->at[j].at == v.at))
            continue;
        SV_TRY(distance(a, x->s, v.at, x->limit, &steps));
        if (steps != SV_NONE)
            SV_TRY(note(x, v.at, SV_NONE, 1 + steps + w->last[v.at], v.distance));
    }
    return SV_OK;
}

/* Ways by some switch near the source's, then by one near the destination's. The innermost loop:
 * distances of the first are looked up, and hardly any is left. */
static sv_status enumerate_second(struct search *x, struct near v2)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    uint32_t base = 1 + w->last[v2.at], target = a->r->first[v2.at];
    if (w->has_rows && w->rows[v2.at] == NULL)
        SV_TRY(make_row(a, v2.at));
    const uint16_t *row = w->rows[v2.at];
    for (uint32_t i = 0; i < x->out->length; i++) {
        struct near v1 = x->out->at[i];
        uint32_t steps = row != NULL ? row[v1.at] : follow(a, v1.at, target, x->limit);
        uint32_t length = steps >= FAR ? SV_NONE : base + v1.distance + steps;
        if (length > x->limit || (x->list && length != x->length) || v1.at == x->d ||
            v1.at == v2.at)
            continue;
        SV_TRY(
            note(x, v1.at, v2.at, length, v1.distance > v2.distance ? v1.distance : v2.distance));
    }
    return SV_OK;
}

static sv_status enumerate(struct search *x)
{
    const sv__ways *w = x->a->ways;
    SV_TRY(enumerate_one(x));
    for (uint32_t j = 0; j < x->in->length && x->max_vias > 1; j++) {
        struct near v2 = x->in->at[j];
        bool could = v2.at != x->s && w->last[v2.at] != SV_NONE &&
                     w->last[v2.at] + 2 <= (x->list ? x->length : x->limit) &&
                     (!x->list || v2.distance <= x->distance);
        if (could)
            SV_TRY(enumerate_second(x, v2));
    }
    return SV_OK;
}

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->shared != y->shared)
        return x->shared < y->shared /*~shared_more*/ ? -1 : 1;
    if (x->vias != y->vias)
        return x->vias < y->vias /*~vias_more*/ ? -1 : 1;
    if (x->draw != y->draw)
        return x->draw < y->draw /*~draw_reverse*/ ? -1 : 1;
    for (int i = 0; i < SV_SIM_MAX_VIAS; i++)
        if (x->via[i] != y->via[i])
            return x->via[i] < y->via[i] ? -1 : 1;
    return 0;
}

static sv_sim_way way_of(const struct candidate *c)
{
    sv_sim_way way = {.vias = c->vias};
    memcpy(way.via, c->via, sizeof way.via);
    return way;
}

/* Channels of the last walk between switches that path 0 has, too. */
static uint32_t count_shared(const struct search *x)
{
    const sv__ways *w = x->a->ways;
    uint32_t shared = 0;
    for (size_t i = 0; i < w->channels.length; i++)
        shared += w->on_way[w->channels.at[i].i] == x->path0;
    return shared;
}

/* Whether the last walk is that of a path that was taken. */
static bool is_taken(const struct search *x)
{
    const sv__ways *w = x->a->ways;
    const sv_channel *at = w->taken.at;
    for (uint32_t i = 0; i < x->count; at += x->paths[i++].channels)
        if (x->paths[i].channels == w->channels.length &&
            memcmp(at, w->channels.at, w->channels.length * sizeof *at) == 0)
            return true;
    return false;
}

/* Takes the last walk. */
static sv_status take(struct search *x, sv_sim_way way, uint32_t shared)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    way.mark = /*~marks_one*/ x->count;
    SV_TRY(sv_array_reserve(a->ctx, &w->taken, w->taken.length + w->channels.length));
    memcpy(w->taken.at + w->taken.length, w->channels.at,
           w->channels.length * sizeof *w->channels.at);
    w->taken.length += w->channels.length;
    x->paths[x->count++] = (sv__adapt_path){way, (uint16_t)w->channels.length, (uint16_t)shared};
    return SV_OK;
}

/* The ways of one length and distance. */
static sv_status open_class(struct search *x)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    size_t good_ones = 0;
    x->list = true;
    w->found.length = 0;
    SV_TRY(enumerate(x));
    for (size_t i = 0; i < w->found.length; i++) {
        struct candidate c = w->found.at[i];
        sv_sim_way way = way_of(&c);
        bool good;
        SV_TRY(walk(a, &(struct walk){x->from, x->destination, &way, true}, &good));
        if (!good)
            continue;
        c.shared = count_shared(x);
        w->found.at[good_ones++] = c;
    }
    if (good_ones > 1)
        qsort(w->found.at, good_ones, sizeof *w->found.at, compare);
    for (size_t i = 0; i < good_ones && x->count < x->max; i++) {
        sv_sim_way way = way_of(&w->found.at[i]);
        bool good;
        SV_TRY(walk(a, &(struct walk){x->from, x->destination, &way, true}, &good));
        if (/*~same_twice*/ !is_taken(x))
            SV_TRY(take(x, way, w->found.at[i].shared));
    }
    return SV_OK;
}

/* Everything but path 0, which is taken. */
static sv_status search(struct search *x)
{
    sv_adapt *a = x->a;
    sv__ways *w = a->ways;
    uint32_t classes = a->set.reach + 1;
    forget(a);
    SV_TRY(find_near(a, x->s, true, &x->out));
    SV_TRY(find_near(a, x->d, false, &x->in));
    for (uint32_t i = 0; i < x->out->length; i++)
        w->last[x->out->at[i].at] = sv__ways_length(a, x->out->at[i].at, x->destination);
    for (uint32_t i = 0; i < x->in->length; i++)
        w->last[x->in->at[i].at] = sv__ways_length(a, x->in->at[i].at, x->destination);
    SV_TRY(sv_array_reserve(a->ctx, &w->counts, (size_t)(x->limit + 1) * classes));
    memset(w->counts.at, 0, (size_t)(x->limit + 1) * classes * sizeof *w->counts.at);
    SV_TRY(enumerate(x));
    for (x->length = 0; x->length <= x->limit && x->count < x->max; x->length++)
        for (x->distance = 1; x->distance < classes && x->count < x->max; x->distance++)
            if (w->counts.at[(size_t)x->length * classes + x->distance] > 0)
                SV_TRY(open_class(x));
    return SV_OK;
}

sv_status sv__ways_find(sv_adapt *a, uint32_t from, uint32_t destination, unsigned max,
                        sv__adapt_path *paths, uint32_t *count)
{
    sv__ways *w = a->ways;
    sv_sim_way own = {0};
    uint32_t between = 0;
    bool good;
    SV_TRY(walk(a, &(struct walk){from, destination, &own, false}, &good));
    if (!good || w->channels.length == 0)
        return fail_way(a, from, destination);
    struct search x = {.a = a,
                       .from = from,
                       .destination = destination,
                       .path0 = w->stamp,
                       .limit = (uint32_t)w->channels.length + /*~stretch_less*/ a->set.stretch,
                       .max_vias = a->policy.segments - 1,
                       .paths = paths,
                       .max = max};
    for (size_t i = 0; i < w->channels.length; i++)
        if (sv_joins_switches(a->f, w->channels.at[i])) {
            w->on_way[w->channels.at[i].i] = x.path0;
            between++;
        }
    w->taken.length = 0;
    SV_TRY(take(&x, own, /*~own_shared*/ between));
    x.s = a->f->head[w->channels.at[0].i].i;
    x.d = a->f->tail[w->channels.at[w->channels.length - 1].i].i;
    if (max > 1 && between > 0 && x.s != x.d && x.max_vias > 0)
        SV_TRY(search(&x));
    *count = x.count;
    return SV_OK;
}
