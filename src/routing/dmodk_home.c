/*
 * dmodk_home.c: what engine dmodk finds out about a home, and the rows that follow.
 *
 * Seen from a home (the switch of a destination) the switches above it send down, all others up by
 * their slots (dmodk_slots.c), and any climb ends above the home, as roots are above everything. So
 * a row is the rows of all levels' slots laid over each other, with the ways down written into it.
 *
 * Failures break this at roots that are not above the home. From them the trouble spreads down: a
 * switch all whose cables up lead to such has no way either (stuck); one that has others must not
 * use these slots (items, by level and slot, so that a row meets those of its own slots only). What
 * is not below such a root is not looked at. Switches that have a parent above the home and others
 * take the former, which is shorter.
 *
 * Homes on upper levels are above which few roots are work the other way round: who has a way is
 * found from above, and all others are stuck (few).
 *
 * The stuck go towards the foot's summit; if that has no way by levels either, the tree of the foot
 * leads from it to the home (foot.c says why this cannot deadlock).
 *
 * Cost of a home: the cables up from it, and those that a failure makes useless for it; of a row:
 * its length, and what of that stands in its slots.
 */
#include <string.h>

#include "routing/dmodk.h"

sv_status sv__dmodk_home_init(sv__dmodk_home *h, const sv__dmodk *k, sv_arena *arena)
{
    uint32_t n = k->core.num_switches;
    *h = (sv__dmodk_home){.k = k,
                          .home = SV_NONE,
                          .part = SV_NONE,
                          .seen = SV_ARENA_NEW(arena, uint32_t, n),
                          .kind = SV_ARENA_NEW(arena, uint8_t, n),
                          .count = SV_ARENA_NEW(arena, uint32_t, n),
                          .hops = SV_ARENA_NEW(arena, uint32_t, n),
                          .above = SV_ARENA_NEW(arena, uint32_t, n),
                          .reached = SV_ARENA_NEW(arena, uint32_t, n),
                          .stuck = SV_ARENA_NEW(arena, uint32_t, n),
                          .near = SV_ARENA_NEW(arena, uint32_t, n),
                          .only = SV_ARENA_NEW(arena, uint32_t, n),
                          .late = SV_ARENA_NEW(arena, uint32_t, n),
                          .bound = SV_ARENA_NEW(arena, uint32_t, k->foot.num_narrow),
                          .bound_port = SV_ARENA_NEW(arena, uint8_t, k->foot.num_narrow),
                          .items = SV_ARENA_NEW(arena, sv__dmodk_item, 2 * (size_t)k->up_first[n]),
                          .first_item = SV_ARENA_NEW(arena, uint32_t *, k->levels),
                          .blank = SV_ARENA_NEW(arena, uint8_t, n),
                          .row = SV_ARENA_NEW(arena, uint8_t, n)};
    if (h->seen == NULL || h->kind == NULL || h->count == NULL || h->hops == NULL ||
        h->above == NULL || h->reached == NULL || h->stuck == NULL || h->near == NULL ||
        h->only == NULL || h->late == NULL || h->bound == NULL || h->bound_port == NULL ||
        h->items == NULL || h->first_item == NULL || h->blank == NULL || h->row == NULL)
        return SV_NO_MEMORY;
    for (uint32_t l = 0; l < k->levels; l++) {
        if ((h->first_item[l] = SV_ARENA_NEW(arena, uint32_t, k->level[l].slots)) == NULL)
            return SV_NO_MEMORY;
        memset(h->first_item[l], 0xff, k->level[l].slots * sizeof **h->first_item);
    }
    return SV_OK;
}

static void set_kind(sv__dmodk_home *h, uint32_t s, unsigned kind)
{
    if (h->seen[s] != h->epoch) {
        h->seen[s] = h->epoch;
        h->count[s] = 0;
    }
    h->kind[s] = (uint8_t)kind;
}

/* Who reaches the home going down: nearest first. Returns how many roots are among them. */
static uint32_t look_up(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    uint32_t roots = 0;
    h->several = false;
    h->num_above = 0;
    h->above[h->num_above++] = h->home;
    set_kind(h, h->home, SV__ABOVE);
    h->hops[h->home] = 0;
    for (uint32_t i = 0; i < h->num_above; i++) {
        uint32_t s = h->above[i];
        roots += k->up_first[s] == k->up_first[s + 1];
        for (uint32_t u = k->up_first[s]; u < k->up_first[s + 1]; u++) {
            uint32_t up = k->core.neighbour[k->ups[u]];
            if (h->seen[up] == h->epoch) {
                h->count[up] += h->hops[up] == h->hops[s] + 1;
                h->several = h->several || k->core.neighbour[h->only[up]] != s;
                continue;
            }
            set_kind(h, up, SV__ABOVE);
            h->count[up] = 1;
            h->only[up] = k->core.back[k->ups[u]];
            h->hops[up] = h->hops[s] + 1;
            h->above[h->num_above++] = up;
        }
    }
    return roots;
}

/* A cable up of a switch is not to be used: its slot goes on the list. */
static void list_item(sv__dmodk_home *h, uint32_t s, uint32_t up)
{
    const sv__dmodk *k = h->k;
    uint8_t slot = k->up_slot[up];
    if (slot == SV__NO_SLOT)
        return;
    uint32_t *first = &h->first_item[k->level_of[s]][slot];
    h->items[h->num_items] = (sv__dmodk_item){s, *first};
    *first = h->num_items++;
}

/* Which of a switch's cables up an entry of its parent is. */
static uint32_t up_of(const sv__dmodk *k, uint32_t entry)
{
    return k->up_at[k->core.back[entry]];
}

/* Marks what cannot go on from roots that are not above the home. */
static void spread_stuck(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    for (uint32_t i = k->root_first[h->part]; i < k->root_first[h->part + 1]; i++)
        if (h->seen[k->roots[i]] != h->epoch) {
            set_kind(h, k->roots[i], SV__NO_WAY);
            h->stuck[h->num_stuck++] = k->roots[i];
        }
    for (uint32_t i = 0; i < h->num_stuck; i++) {
        uint32_t s = h->stuck[i];
        for (uint32_t d = k->down_first[s]; d < k->down_first[s + 1]; d++) {
            uint32_t to = k->core.neighbour[k->downs[d]];
            if (sv__dmodk_kind(h, to) == SV__ABOVE)
                continue;
            if (h->seen[to] != h->epoch)
                set_kind(h, to, SV__SOME_WAYS);
            list_item(h, to, up_of(k, k->downs[d]));
            if (++h->count[to] == k->up_first[to + 1] - k->up_first[to]) {
                h->kind[to] = SV__NO_WAY;
                h->stuck[h->num_stuck++] = to;
            }
        }
    }
}

/* A switch beside one that is above the home: it leaves out its parents that are not. */
static void prefer_near(sv__dmodk_home *h, uint32_t s)
{
    const sv__dmodk *k = h->k;
    if (h->seen[s] != h->epoch)
        set_kind(h, s, SV__SOME_WAYS);
    for (uint32_t u = k->up_first[s]; u < k->up_first[s + 1]; u++)
        if (sv__dmodk_kind(h, k->core.neighbour[k->ups[u]]) != SV__ABOVE)
            list_item(h, s, u);
}

/* Finds switches with parents of both kinds, below those above the home that are no roots. */
static void look_beside(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    for (uint32_t i = 1; i < h->num_above; i++) {
        uint32_t s = h->above[i];
        if (k->up_first[s] == k->up_first[s + 1])
            continue;
        for (uint32_t d = k->down_first[s]; d < k->down_first[s + 1]; d++) {
            uint32_t to = k->core.neighbour[k->downs[d]];
            unsigned kind = sv__dmodk_kind(h, to);
            if (kind == SV__ABOVE || h->near[to] == h->epoch)
                continue;
            h->near[to] = h->epoch;
            for (uint32_t u = k->up_first[to]; u < k->up_first[to + 1]; u++)
                if (sv__dmodk_kind(h, k->core.neighbour[k->ups[u]]) == SV__FAR ||
                    sv__dmodk_kind(h, k->core.neighbour[k->ups[u]]) == SV__SOME_WAYS) {
                    prefer_near(h, to);
                    break;
                }
        }
    }
}

/* Marks all that has a way, from above. */
static void spread_reached(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    h->num_reached = 0;
    for (uint32_t i = 0; i < h->num_above + h->num_reached; i++) {
        uint32_t s = i < h->num_above ? h->above[i] : h->reached[i - h->num_above];
        for (uint32_t d = k->down_first[s]; d < k->down_first[s + 1]; d++) {
            uint32_t to = k->core.neighbour[k->downs[d]];
            if (h->seen[to] == h->epoch && h->kind[to] == SV__ABOVE)
                continue;
            if (h->seen[to] != h->epoch) {
                set_kind(h, to, SV__SOME_WAYS);
                h->reached[h->num_reached++] = to;
            }
            if (h->count[to]++ == 0)
                h->only[to] = k->downs[d];
        }
    }
}

/* What has to be written into each row: the lower levels, and choices by the lowest digit. */
static void list_late(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    h->num_late = h->num_stuck_low = 0;
    for (uint32_t i = 1; i < h->num_above; i++) {
        uint32_t s = h->above[i], child = k->core.neighbour[h->only[s]];
        if (k->level_of[s] <= k->base || (h->count[s] > 1 && k->level_of[child] <= k->base))
            h->late[h->num_late++] = s;
    }
    for (uint32_t i = 0; i < h->num_stuck; i++)
        if (k->level_of[h->stuck[i]] <= k->base) {
            uint32_t s = h->stuck[i];
            h->stuck[i] = h->stuck[h->num_stuck_low];
            h->stuck[h->num_stuck_low++] = s;
        }
}

/* Whether packets for the home may go up to a switch. */
static bool has_way(const sv__dmodk_home *h, uint32_t s)
{
    unsigned kind = sv__dmodk_kind(h, s);
    return h->few ? kind != SV__FAR : kind != SV__NO_WAY;
}

/* Whether packets come to a narrow switch along the ways to the foot; *out: where they may go on.
 */
static bool is_bound(const sv__dmodk_home *h, uint32_t s, uint32_t *out)
{
    const sv__dmodk *k = h->k;
    const sv_core *core = &k->core;
    bool bound = false;
    *out = SV_NONE;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t to = core->neighbour[e], way = k->foot.way[to];
        if (!sv__foot_owns(&k->foot, core, e))
            continue;
        if (has_way(h, to) && *out == SV_NONE && k->level_of[to] > k->level_of[s])
            *out = e;
        bound = bound || (!has_way(h, to) && way != SV_NONE && core->neighbour[way] == s);
    }
    return bound;
}

static void look_at_foot(sv__dmodk_home *h)
{
    const sv__dmodk *k = h->k;
    uint32_t summit = k->foot.summit[h->part];
    h->num_bound = 0;
    h->over_foot = !has_way(h, summit);
    for (uint32_t i = 0; i < k->foot.num_narrow; i++) {
        uint32_t s = k->foot.narrow[i], out;
        if (s == h->home || k->foot.part[s] != h->part || !has_way(h, s) || !is_bound(h, s, &out))
            continue;
        h->over_foot = h->over_foot || (s == summit && out == SV_NONE);
        h->bound_port[h->num_bound] = out == SV_NONE ? k->to_foot[s] : k->core.port[out];
        h->bound[h->num_bound++] = s;
    }
}

void sv__dmodk_home_look(sv__dmodk_home *h, uint32_t home)
{
    const sv__dmodk *k = h->k;
    h->home = home;
    if (h->part != k->foot.part[home]) {
        h->part = k->foot.part[home];
        for (uint32_t s = 0; s < k->core.num_switches; s++)
            h->blank[s] = k->foot.part[s] == h->part ? 0 : SV_NO_PORT;
    }
    h->epoch++;
    h->row_of = UINT64_MAX;
    if (h->num_items > 0)
        for (uint32_t l = 0; l < k->levels; l++)
            memset(h->first_item[l], 0xff, k->level[l].slots * sizeof **h->first_item);
    h->num_items = h->num_stuck = h->num_reached = 0;
    uint32_t all = k->root_first[h->part + 1] - k->root_first[h->part], roots = look_up(h);
    h->few = 2 * roots < all;
    if (h->few) {
        spread_reached(h);
    } else {
        if (roots < all)
            spread_stuck(h);
        look_beside(h);
    }
    list_late(h);
    look_at_foot(h);
}

/* ---- ports ---- */

/* The port up of a switch that is not above the home but has a way: its slot, or the next. */
static uint8_t pick_up(const sv__dmodk_home *h, uint32_t s, uint64_t index)
{
    const sv__dmodk *k = h->k;
    const sv__dmodk_level *l = &k->level[k->level_of[s]];
    const uint32_t *ups = k->ups + k->up_first[s];
    uint32_t count = k->up_first[s + 1] - k->up_first[s];
    uint64_t digits = index / l->divisor;
    uint32_t up = k->slot_up[s][digits % l->slots];
    bool near = !h->few && h->near[s] == h->epoch, all = h->seen[s] != h->epoch;
    bool slot = up != SV__NO_SLOT;
    for (uint32_t tries = 0;; tries++) {
        if (tries > 0 || slot) {
            uint32_t to = k->core.neighbour[ups[up]];
            if (all || (near ? sv__dmodk_kind(h, to) == SV__ABOVE : has_way(h, to)))
                return k->core.port[ups[up]];
        }
        /* Its slot does not do: begin where the higher digits say. */
        up = tries > 0 ? up + 1 : (uint32_t)((digits / l->slots + k->sibling[s]) % count);
        up = up == count ? 0 : up;
    }
}

/* The port down of a switch above the home: of parallel cables that of the next digit. */
static uint8_t pick_down(const sv__dmodk_home *h, uint32_t s, uint64_t index)
{
    const sv__dmodk *k = h->k;
    if (h->count[s] == 1)
        return k->core.port[h->only[s]];
    uint32_t child = k->core.neighbour[h->only[s]];
    const sv__dmodk_level *l = &k->level[k->level_of[child]];
    uint64_t digits = index / l->divisor, left = digits / (l->parents > 0 ? l->parents : 1);
    for (int pass = 0;; pass++) {
        bool several = false;
        for (uint32_t d = k->down_first[s]; d < k->down_first[s + 1]; d++) {
            uint32_t to = k->core.neighbour[k->downs[d]];
            if (sv__dmodk_kind(h, to) != SV__ABOVE || h->hops[to] + 1 != h->hops[s])
                continue;
            several = several || to != child;
            if (pass > 0 && left-- == 0)
                return k->core.port[k->downs[d]];
        }
        left = (several ? left + digits : left) % h->count[s];
    }
}

/* ---- rows ---- */

/* From the summit to the home along the tree of the foot. */
static void lay_foot(const sv__dmodk_home *h, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    for (uint32_t s = h->home; k->foot.way[s] != SV_NONE;) {
        uint32_t e = k->foot.way[s], up = k->core.neighbour[e];
        row[up] = k->core.entries[e].port;
        s = up;
    }
}

/* Those whose slot for an index does not do, on one level. */
static void mend_level(const sv__dmodk_home *h, uint32_t level, uint64_t index, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    const sv__dmodk_level *l = &k->level[level];
    uint64_t slot = index / l->divisor % l->slots;
    for (uint32_t i = l->lame_first[slot]; i < l->lame_first[slot + 1]; i++) {
        uint32_t s = l->lame[i];
        unsigned kind = sv__dmodk_kind(h, s);
        if (k->foot.part[s] == h->part && kind != SV__ABOVE && kind != SV__NO_WAY)
            row[s] = pick_up(h, s, index);
    }
    for (uint32_t i = h->first_item[level][slot]; i != SV_NONE; i = h->items[i].next)
        if (h->kind[h->items[i].s] == SV__SOME_WAYS)
            row[h->items[i].s] = pick_up(h, h->items[i].s, index);
}

/*
 * Where there are several children to send down to, the one that a climb from the home would take:
 * so that packets from everywhere come down the same way, as in trees that have but one.
 */
static void lay_chain(const sv__dmodk_home *h, uint64_t index, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    for (uint32_t s = h->home; k->up_first[s] < k->up_first[s + 1];) {
        const sv__dmodk_level *l = &k->level[k->level_of[s]];
        uint32_t first = k->up_first[s], end = k->up_first[s + 1], next = SV_NONE;
        uint64_t digits = index / l->divisor;
        uint8_t slot = k->slot_up[s][digits % l->slots];
        uint64_t up =
            slot != SV__NO_SLOT ? slot : (digits / l->slots + k->sibling[s]) % (end - first);
        next = k->core.neighbour[k->ups[first + up]];
        for (uint32_t u = first, run; u < end; u += run) {
            uint32_t to = k->core.neighbour[k->ups[u]];
            for (run = 1; u + run < end && k->core.neighbour[k->ups[u + run]] == to;)
                run++;
            uint32_t cable = k->ups[u + digits / l->parents % run];
            if (h->hops[to] == h->hops[s] + 1 && s != h->home)
                row[to] = k->core.entries[cable].port;
        }
        s = next;
    }
}

/* One row laid over another, eight switches at a time. */
static void lay_over(uint8_t *row, const uint8_t *base, const uint8_t *over, uint32_t n)
{
    uint32_t s = 0;
    for (; s + 8 <= n; s += 8) {
        uint64_t a, b;
        memcpy(&a, base + s, 8);
        memcpy(&b, over + s, 8);
        a |= b;
        memcpy(row + s, &a, 8);
    }
    for (; s < n; s++)
        row[s] = base[s] | over[s];
}

/* What destinations share that differ in the lowest digit only; lower levels stay 0. */
static void lay_base(sv__dmodk_home *h, uint64_t index)
{
    const sv__dmodk *k = h->k;
    uint32_t n = k->core.num_switches;
    uint8_t *row = h->row;
    memcpy(row, h->blank, n);
    for (uint32_t l = k->base + 1; l < k->levels; l++) {
        if (k->level[l].slots == 0)
            continue;
        const uint8_t *up = k->level[l].up[index / k->level[l].divisor % k->level[l].slots];
        lay_over(row, row, up, n);
    }
    for (uint32_t l = k->base + 1; l < k->levels; l++)
        if (k->level[l].slots > 0)
            mend_level(h, l, index, row);
    for (uint32_t i = h->num_stuck_low; i < h->num_stuck; i++)
        row[h->stuck[i]] = k->to_foot[h->stuck[i]];
    for (uint32_t i = 1; i < h->num_above; i++)
        if (k->level_of[h->above[i]] > k->base)
            row[h->above[i]] = pick_down(h, h->above[i], index);
}

/* Few have a way: these one by one. */
static void lay_few(const sv__dmodk_home *h, uint64_t index, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    lay_over(row, h->blank, k->to_foot, k->core.num_switches);
    for (uint32_t i = 0; i < h->num_reached; i++) {
        uint32_t s = h->reached[i];
        row[s] = h->count[s] == 1 ? k->core.entries[h->only[s]].port : pick_up(h, s, index);
    }
    for (uint32_t i = 1; i < h->num_above; i++)
        row[h->above[i]] = pick_down(h, h->above[i], index);
}

/* Levels up to the base, of which the first digit is. */
static void lay_low(const sv__dmodk_home *h, uint64_t index, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    const sv__dmodk_level *l = &k->level[k->base];
    uint32_t n = k->core.num_switches;
    if (l->slots == 0) {
        memcpy(row, h->row, n);
    } else {
        lay_over(row, h->row, l->up[index / l->divisor % l->slots], n);
        mend_level(h, k->base, index, row);
    }
    for (uint32_t i = 0; i < k->num_cellar; i++) {
        uint32_t s = k->cellar[i];
        unsigned kind = sv__dmodk_kind(h, s);
        if (k->foot.part[s] == h->part && kind != SV__ABOVE && kind != SV__NO_WAY)
            row[s] = pick_up(h, s, index);
    }
    for (uint32_t i = 0; i < h->num_stuck_low; i++)
        row[h->stuck[i]] = k->to_foot[h->stuck[i]];
    for (uint32_t i = 0; i < h->num_late; i++)
        row[h->late[i]] = pick_down(h, h->late[i], index);
    if (h->several)
        lay_chain(h, index, row);
}

void sv__dmodk_row(sv__dmodk_home *h, uint64_t index, uint8_t *row)
{
    const sv__dmodk *k = h->k;
    if (h->few) {
        lay_few(h, index, row);
    } else {
        uint64_t high = k->base + 1 < k->levels ? index / k->level[k->base + 1].divisor : 0;
        if (h->row_of != high)
            lay_base(h, index);
        h->row_of = high;
        lay_low(h, index, row);
    }
    for (uint32_t i = 0; i < h->num_bound; i++)
        row[h->bound[i]] = h->bound_port[i];
    if (h->over_foot)
        lay_foot(h, row);
}
