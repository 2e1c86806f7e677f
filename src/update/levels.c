/*
 * levels.c: in which order the entries of one destination change.
 *
 * If the union of old and new entries has no circle, and nobody who has a path can come to where
 * there is none, all may change at once. Else a switch changes after those that change on its new
 * path: whoever meets a new entry then meets none but new ones behind it, so paths are an old
 * beginning and a new end, and neither has circles. Switches that had a way and have none then
 * change after all that keep one.
 *
 * Cost: O(switches) for the first; O(switches × hops between changes) for the second.
 */
#include <string.h>

#include "update/update.h"

sv_status sv__levels_init(sv__levels *l, const sv__sides *x, sv_arena *arena)
{
    uint32_t n = x->f->num_switches;
    *l = (sv__levels){.x = x};
    l->level = SV_ARENA_NEW(arena, uint32_t, n);
    l->stack = SV_ARENA_NEW(arena, uint32_t, n + 1);
    l->colour = SV_ARENA_NEW(arena, uint8_t, n);
    l->good = SV_ARENA_NEW(arena, bool, n);
    l->lured = SV_ARENA_NEW(arena, bool, n);
    l->was_good = SV_ARENA_NEW(arena, bool, n);
    l->rows[0] = SV_ARENA_NEW(arena, uint8_t, n);
    l->rows[1] = SV_ARENA_NEW(arena, uint8_t, n);
    return l->level == NULL || l->stack == NULL || l->colour == NULL || l->good == NULL ||
                   l->lured == NULL || l->was_good == NULL || l->rows[0] == NULL ||
                   l->rows[1] == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

/* The row of the old (0) or new (1) tables. */
static const uint8_t *row_of(const sv__levels *l, uint32_t d, unsigned which)
{
    return which == 0 ? l->x->before->ports[d] : l->x->after->ports[d];
}

/* Whether the union of both rows has a circle: depth first, colours count ways that were taken. */
static bool circles(sv__levels *l, uint32_t d)
{
    enum { DONE = 3 };
    const sv__sides *x = l->x;
    memset(l->colour, 0, x->f->num_switches);
    for (uint32_t start = 0; start < x->f->num_switches; start++) {
        uint32_t depth = 0;
        if (l->colour[start] == DONE || !sv_node_alive(x->f, (sv_node){start}))
            continue;
        l->stack[depth++] = start;
        while (depth > 0) {
            uint32_t s = l->stack[depth - 1];
            if (l->colour[s] == 2) {
                l->colour[s] = DONE;
                depth--;
                continue;
            }
            uint32_t next = sv__next_switch(x, s, row_of(l, d, l->colour[s]++)[s]);
            if (next == SV_NONE || l->colour[next] == DONE)
                continue;
            if (l->colour[next] != 0)
                return true;
            l->stack[depth++] = next;
        }
    }
    return false;
}

/* Whether somebody whose old path is good can be led, by some mixture, to where there is no way. */
static bool loses(sv__levels *l, uint32_t d)
{
    const sv__sides *x = l->x;
    uint32_t n = x->f->num_switches;
    const uint8_t *was = row_of(l, d, 0), *is = row_of(l, d, 1);
    for (uint32_t s = 0; s < n; s++) {
        l->good[s] = sv__is_end(x, s, was[s], d);
        l->lured[s] = (!l->good[s] && sv__next_switch(x, s, was[s]) == SV_NONE) ||
                      (!sv__is_end(x, s, is[s], d) && sv__next_switch(x, s, is[s]) == SV_NONE);
    }
    for (bool news = true; news;) {
        news = false;
        for (uint32_t s = 0; s < n; s++) {
            uint32_t a = sv__next_switch(x, s, was[s]), b = sv__next_switch(x, s, is[s]);
            if (!l->good[s] && a != SV_NONE && l->good[a])
                news = l->good[s] = true;
            if (!l->lured[s] && ((a != SV_NONE && l->lured[a]) || (b != SV_NONE && l->lured[b])))
                news = l->lured[s] = true;
        }
    }
    for (uint32_t s = 0; s < n; s++)
        if (l->good[s] && l->lured[s] && sv_node_alive(x->f, (sv_node){s}))
            return true;
    return false;
}

/* The next switch on the new path behind one whose entry changes; SV_NONE: none. */
static uint32_t next_changed(const sv__levels *l, uint32_t d, uint32_t s)
{
    const sv__sides *x = l->x;
    for (uint32_t hops = 0; hops < x->f->num_switches; hops++) {
        s = sv__next_switch(x, s, x->after->ports[d][s]);
        if (s == SV_NONE || sv__changes(x, s, d))
            return s;
    }
    return SV_NONE;
}

/* From where a row's packets arrive. */
static void mark_good(const sv__levels *l, uint32_t d, const uint8_t *row, bool *good)
{
    const sv__sides *x = l->x;
    for (uint32_t s = 0; s < x->f->num_switches; s++)
        good[s] = sv__is_end(x, s, row[s], d);
    for (bool news = true; news;) {
        news = false;
        for (uint32_t s = 0; s < x->f->num_switches; s++) {
            uint32_t next = good[s] ? SV_NONE : sv__next_switch(x, s, row[s]);
            if (next != SV_NONE && good[next])
                news = good[s] = true;
        }
    }
}

/* Levels along the new path of a switch: one more than that of the next which changes; of those
 * that forget a way, not below a floor. Returns how many levels that makes. */
static uint32_t count_from(sv__levels *l, uint32_t d, uint32_t start, uint32_t floor)
{
    uint32_t depth = 0, s = start;
    while (s != SV_NONE && l->level[s] == SV_NONE && depth < l->x->f->num_switches) {
        l->stack[depth++] = s;
        s = next_changed(l, d, s);
    }
    while (depth > 0) {
        uint32_t above = s;
        s = l->stack[--depth];
        l->level[s] = above == SV_NONE ? 0 : l->level[above] + 1;
        if (l->was_good[s] && !l->good[s] && l->level[s] < floor)
            l->level[s] = floor;
    }
    return l->level[start] + 1;
}

/* First those who have a way then; those who forget theirs when nobody comes to them any more. */
static uint32_t count_along(sv__levels *l, uint32_t d)
{
    const sv__sides *x = l->x;
    uint32_t levels = 0, floor = 0;
    mark_good(l, d, row_of(l, d, 0), l->was_good);
    mark_good(l, d, row_of(l, d, 1), l->good);
    for (int good = 1; good >= 0; good--) {
        for (uint32_t s = 0; s < x->f->num_switches; s++) {
            if (!sv__changes(x, s, d) || l->good[s] != (good == 1))
                continue;
            uint32_t count = count_from(l, d, s, floor);
            levels = count > levels ? count : levels;
        }
        floor = levels;
    }
    return levels;
}

uint32_t sv__level(sv__levels *l, uint32_t d, bool fine)
{
    const sv__sides *x = l->x;
    uint32_t n = x->f->num_switches;
    bool any = false;
    for (uint32_t s = 0; s < n; s++) {
        any |= sv__changes(x, s, d);
        l->level[s] = SV_NONE;
    }
    if (!any)
        return 0;
    if (fine || circles(l, d) || loses(l, d))
        return count_along(l, d);
    for (uint32_t s = 0; s < n; s++)
        l->level[s] = sv__changes(x, s, d) ? 0 : SV_NONE;
    return 1;
}

const uint8_t *sv__row_at(sv__levels *l, uint32_t d, uint32_t level, int which)
{
    uint8_t *row = l->rows[which];
    const uint8_t *was = row_of(l, d, 0), *is = row_of(l, d, 1);
    for (uint32_t s = 0; s < l->x->f->num_switches; s++)
        row[s] = l->level[s] != SV_NONE && l->level[s] < level ? is[s] : was[s];
    return row;
}
