/*
 * events.c: which output is looked at next: by time, then by number.
 *
 * Channels are numbered by node, then by port, switches first, so that equal times come in the
 * order that the rules ask for. With a policy, terminals stand before channels: packets arrive
 * before anything else happens in their tick (rule 33). A slot is a terminal, or a channel after
 * base of them; without a policy base is 0, and slots are channels.
 *
 * Time is cut into buckets. The present bucket (and what comes late for it) is sorted; those that
 * follow are lists, as far as there are buckets; what is later still is in a heap. Buckets are so
 * long that a few outputs are looked at in each, and so many that most plans fall into one.
 *
 * Cost: O(1) for each plan, as a rule; O(log outputs) for what is far away; O(n log n) for a bucket
 * of n, and O(n) for what is planned into it once it is the present one.
 */
#include <stdlib.h>
#include <string.h>

#include "simulate/state.h"

/* In place, beside the number. */
static const uint32_t IN_LIST = 0x80000000, IN_FAR = 0x40000000, IN_NEAR = 0;

/* What a byte takes on the fastest link. */
static uint64_t min_byte(const sv__sim *x)
{
    uint64_t min = UINT32_MAX;
    for (uint32_t c = 0; c < x->f->num_channels; c++)
        min = x->outputs[c].byte < min ? x->outputs[c].byte : min;
    return min;
}

sv_status sv__events_init(sv__sim *x)
{
    sv__events *e = &x->events;
    e->base = x->policy != NULL ? x->f->num_terminals : 0;
    e->slots = x->outputs - e->base; /* see sv__sim_init */
    uint32_t n = x->f->num_channels + e->base;
    uint64_t packet = (x->m->mtu_bytes + x->header) * min_byte(x);
    packet /= x->listens ? 4 : 1; /* there are arrivals besides, and small packets */
    e->buckets = 1024;
    while (e->buckets < 2 * n && e->buckets < 1u << 20)
        e->buckets *= 2;
    while ((uint64_t)2 << e->shift < 12 * packet / (n + 1))
        e->shift++;
    e->when = SV_ARENA_NEW(&x->arena, uint64_t, n);
    e->next = SV_ARENA_NEW(&x->arena, uint32_t, n);
    e->before = SV_ARENA_NEW(&x->arena, uint32_t, n);
    e->place = SV_ARENA_NEW(&x->arena, uint32_t, n);
    e->bucket = SV_ARENA_NEW(&x->arena, uint32_t, e->buckets);
    e->used = SV_ARENA_NEW(&x->arena, uint64_t, e->buckets / 64);
    e->near_room = n + 1;
    e->near.at = SV_ARENA_NEW(&x->arena, sv__event, n + 1);
    e->far.at = SV_ARENA_NEW(&x->arena, sv__event, n);
    if (e->when == NULL || e->next == NULL || e->before == NULL || e->place == NULL ||
        e->bucket == NULL || e->used == NULL || e->near.at == NULL || e->far.at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 0; c < n; c++)
        e->place[c] = SV_NONE;
    for (uint32_t b = 0; b < e->buckets; b++)
        e->bucket[b] = SV_NONE;
    return SV_OK;
}

/* ---- what is far away: a heap ---- */

static bool earlier(sv__event a, sv__event b)
{
    return a.when != b.when ? a.when < b.when : a.channel /*~tick_order*/ < b.channel;
}

static void put(sv__events *e, uint32_t at, sv__event event)
{
    e->far.at[at] = event;
    /*~heap_moved*/ e->place[event.channel] = at | IN_FAR;
}

static void rise(sv__events *e, uint32_t at, sv__event event)
{
    /*~heap_once*/ while (at > 0 && earlier(event, e->far.at[(at - 1) / 4])) {
        put(e, at, e->far.at[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    put(e, at, event);
}

static void sink(sv__events *e, uint32_t at, sv__event event)
{
    const sv__heap *h = &e->far;
    for (;;) {
        uint32_t first = 4 * at + 1,
                 last = /*~heap_three*/ first + 4 < h->length ? first + 4 : h->length;
        if (first >= last)
            break;
        uint32_t min = first;
        for (uint32_t k = first + 1; k < last; k++)
            min = earlier(h->at[k], h->at[min]) ? k : min;
        if (/*~heap_top*/ earlier(event, h->at[min]))
            break;
        put(e, at, h->at[min]);
        at = min;
    }
    put(e, at, event);
}

/* Takes whatever stands at a place out of the heap. */
static void far_cut(sv__events *e, uint32_t at)
{
    sv__event last = e->far.at[--e->far.length];
    if (at == e->far.length)
        return;
    if (/*~heap_sinks*/ at > 0 && earlier(last, e->far.at[(at - 1) / 4]))
        rise(e, at, last);
    else
        sink(e, at, last);
}

/* ---- the present bucket: sorted, from near_first on ---- */

/* The first place in it that is not earlier than an event. */
static uint32_t near_place(const sv__events *e, sv__event event)
{
    uint32_t low = e->near_first, high = e->near.length;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (earlier(e->near.at[middle], event))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void near_cut(sv__events *e, uint32_t channel)
{
    uint32_t at = near_place(e, (sv__event){e->when[channel], channel});
    e->near.length--;
    memmove(&e->near.at[at], &e->near.at[at + 1], (e->near.length - at) * sizeof *e->near.at);
}

static void near_add(sv__events *e, uint32_t channel, uint64_t time)
{
    if (e->near_first > 0 && e->near.length == e->near_room) {
        e->near.length -= e->near_first;
        memmove(e->near.at, e->near.at + e->near_first, e->near.length * sizeof *e->near.at);
        /*~near_begin*/ e->near_first = 0;
    }
    sv__event event = {time, channel};
    uint32_t at = /*~bucket_end*/ near_place(e, event);
    memmove(&e->near.at[at + 1], &e->near.at[at], (e->near.length - at) * sizeof *e->near.at);
    e->near.at[at] = event;
    e->near.length++;
    e->place[channel] = IN_NEAR;
}

static int in_order(const void *a, const void *b)
{
    return earlier(*(const sv__event *)a, *(const sv__event *)b) /*~sort_reverse*/ ? -1 : 1;
}

/*
 * Sorts a fresh bucket. Lists are read from their end, so that outputs that were planned in order
 * come in order: as a rule little is to be moved. If it is much after all, a sort that does not
 * mind.
 */
static void near_sort(sv__events *e)
{
    sv__event *at = e->near.at;
    uint32_t length = e->near.length;
    uint64_t moves = 8 * (uint64_t)length + 64;
    for (uint32_t i = 0, k = length; i + 1 < k; i++) {
        sv__event event = at[i];
        at[i] = at[--k];
        at[k] = event;
    }
    for (uint32_t i = 1; i < length; i++) {
        sv__event event = at[i];
        uint32_t k = i;
        for (; k > 0 && earlier(event, at[k - 1]); k--)
            at[k] = at[k - 1];
        at[k] = event;
        if (i - k > moves) {
            /*~sort_none*/ qsort(at, length, sizeof *at, in_order);
            return;
        }
        moves -= i - k;
    }
}

/* ---- buckets ---- */

static void list_add(sv__events *e, uint32_t b, uint32_t channel)
{
    uint32_t first = e->bucket[b];
    e->next[channel] = first;
    e->before[channel] = SV_NONE;
    if (first != SV_NONE)
        /*~list_joins*/ e->before[first] = channel;
    else
        e->used[b / 64] |= (uint64_t)1 << (b & 63);
    e->bucket[b] = channel;
    e->place[channel] = IN_LIST | b;
}

static void list_cut(sv__events *e, uint32_t channel)
{
    uint32_t b = e->place[channel] & ~IN_LIST;
    uint32_t next = e->next[channel], before = e->before[channel];
    /*~list_before*/ if (next != SV_NONE)
        e->before[next] = before;
    if (before != SV_NONE) {
        e->next[before] = next;
        return;
    }
    e->bucket[b] = /*~bucket_lost*/ next;
    /*~bucket_used*/ if (next == SV_NONE)
        e->used[b / 64] &= ~((uint64_t)1 << (b & 63));
}

void sv__events_plan(sv__sim *x, uint32_t channel, uint64_t time)
{
    sv__events *e = &x->events;
    channel += e->base;
    uint32_t place = e->place[channel];
    /*~never_time*/ if (time == SV_NEVER)
        return;
    if (place != SV_NONE) {
        /*~look_later*/ if (time >= e->when[channel])
            return;
        if (place & IN_LIST)
            list_cut(e, channel);
        else if (place & IN_FAR)
            far_cut(e, place & ~IN_FAR);
        else
            /*~cut_none*/ near_cut(e, channel);
    }
    e->when[channel] = time;
    uint64_t b = time >> e->shift;
    if (b /*~late_round*/ <= e->floor)
        near_add(e, channel, time);
    else if (/*~far_near*/ b - e->floor < e->buckets)
        list_add(e, (uint32_t)(b & (e->buckets - 1)), channel);
    else
        rise(e, e->far.length++, (sv__event){time, channel});
}

void sv__events_arrival(sv__sim *x, uint32_t terminal, uint64_t time)
{
    sv__events_plan(x, /*~arrive_after*/ terminal - x->events.base, time); /* modulo 2^32 */
}

/* The first bucket after the present one with something in it; UINT64_MAX: none. */
static uint64_t next_bucket(const sv__events *e)
{
    uint32_t words = e->buckets / 64, first = (uint32_t)((e->floor + 1) & (e->buckets - 1));
    for (uint32_t i = 0; i /*~round_cut*/ <= words; i++) {
        uint32_t word = (first / 64 + i) & (words - 1);
        uint64_t bits = e->used[word];
        if (i == 0)
            /*~round_behind*/ bits &= ~(uint64_t)0 << (first & 63);
        else if (i == words)
            /*~round_twice*/ bits &= ((uint64_t)1 << (first & 63)) - 1;
        if (bits != 0) {
            uint32_t b = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return /*~round_count*/ e->floor + 1 + ((b - first) & (e->buckets - 1));
        }
    }
    return UINT64_MAX;
}

/* Makes the next bucket that has something the present one. */
static bool advance(sv__sim *x)
{
    sv__events *e = &x->events;
    uint64_t b = next_bucket(e);
    uint64_t far = e->far.length > 0 ? e->far.at[0].when >> e->shift : UINT64_MAX;
    if (b == UINT64_MAX && far == UINT64_MAX)
        return false;
    e->floor = b < far ? b : far;
    e->near_first = e->near.length = 0;
    /*~far_one*/ while (e->far.length > 0 && e->far.at[0].when >> e->shift == e->floor) {
        sv__event event = e->far.at[0];
        far_cut(e, 0);
        e->near.at[e->near.length++] = event;
        /*~far_place*/ e->place[event.channel] = IN_NEAR;
    }
    uint32_t slot = (uint32_t)(b & (e->buckets - 1));
    uint32_t channel = b /*~bucket_far*/ <= far ? e->bucket[slot] : SV_NONE;
    if (b /*~bucket_far*/ <= far) {
        e->bucket[slot] = SV_NONE;
        e->used[slot / 64] &= ~((uint64_t)1 << (slot & 63));
    }
    for (; channel != SV_NONE; channel = e->next[channel]) {
        __builtin_prefetch(&e->slots[channel]);
        e->near.at[e->near.length++] = (sv__event){e->when[channel], channel};
        e->place[channel] = IN_NEAR;
    }
    /*~bucket_order*/ near_sort(e);
    return true;
}

uint64_t sv__events_ahead(sv__sim *x)
{
    const sv__events *e = &x->events;
    return advance(x) ? e->near.at[e->near_first].when : SV_NEVER;
}

uint32_t sv__events_next(sv__sim *x)
{
    sv__events *e = &x->events;
    if (e->near_first == e->near.length && !advance(x))
        return SV_NONE;
    sv__event event = e->near.at[e->near_first++];
    e->place[event.channel] = SV_NONE;
    x->now = event.when;
    if (e->near_first < e->near.length) /* what the next look will need, while this one works */
        __builtin_prefetch(e->slots[e->near.at[e->near_first].channel].wants);
    return event.channel;
}
