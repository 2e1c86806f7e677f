/*
 * deps.h: the set of dependencies between (channel, lane) pairs that tables induce, and whether it
 * has a cycle.
 *
 * Only channels that can lie on a cycle are in it (those between switches), unless ends are asked
 * for, as proofs do. From a channel one can only go on to channels that leave its head, so the set
 * is a bit for each (channel, lane, way out of its head, lane).
 */
#ifndef SV_VERIFY_DEPS_H
#define SV_VERIFY_DEPS_H

#include <selvage/fabric.h>
#include <stdatomic.h>

#include "base/arena.h"

typedef struct sv__deps {
    const sv_fabric *fabric;
    unsigned lanes;
    bool ends;           /* channels from and to terminals are in it */
    uint32_t *slot;      /* [channels]: which way out of its tail it is, or SV_NONE: not in it */
    uint32_t *ways;      /* [nodes]: ways out that are in it */
    sv_channel *way;     /* those of node v are way[first_way[v]] … */
    uint32_t *first_way; /* [nodes] */
    uint64_t *base;      /* [channels]: its first bit */
    _Atomic uint64_t *bits;
    _Atomic uint64_t *used; /* [channels × lanes]: some packet takes it */
    uint64_t num_bits;
} sv__deps;

sv_status sv__deps_init(sv__deps *deps, sv_arena *arena, const sv_fabric *fabric, unsigned lanes,
                        bool ends);
void sv__deps_clear(sv__deps *deps);

static inline void sv__set_bit(_Atomic uint64_t *set, uint64_t i)
{
    uint64_t bit = (uint64_t)1 << (i & 63);
    if (!(atomic_load_explicit(&set[i >> 6], memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(&set[i >> 6], bit, memory_order_relaxed);
}

static inline bool sv__get_bit(_Atomic uint64_t *set, uint64_t i)
{
    return (atomic_load_explicit(&set[i >> 6], memory_order_relaxed) >> (i & 63)) & 1;
}

static inline uint64_t sv__deps_bit(const sv__deps *deps, sv_channel a, unsigned lane_a,
                                    sv_channel b, unsigned lane_b)
{
    uint32_t ways = deps->ways[deps->fabric->head[a.i].i];
    return deps->base[a.i] + ((uint64_t)lane_a * ways + deps->slot[b.i]) * deps->lanes + lane_b;
}

/* A packet that holds a on one lane wants b on another. Both must be in the set. */
static inline void sv__deps_add(const sv__deps *deps, sv_channel a, unsigned lane_a, sv_channel b,
                                unsigned lane_b)
{
    sv__set_bit(deps->bits, sv__deps_bit(deps, a, lane_a, b, lane_b));
}

static inline void sv__deps_use(const sv__deps *deps, sv_channel a, unsigned lane)
{
    sv__set_bit(deps->used, (uint64_t)a.i * deps->lanes + lane);
}

static inline bool sv__deps_has(const sv__deps *deps, sv_channel c)
{
    return deps->slot[c.i] != SV_NONE;
}

/* Number of dependencies; with inner, only of those between channels that join switches. */
uint64_t sv__deps_count(const sv__deps *deps, bool inner);

/* How many different lanes are used on channels between switches. */
unsigned sv__deps_lanes_used(const sv__deps *deps);

/* One (channel, lane) of a cycle. */
typedef struct sv__vertex {
    sv_channel channel;
    uint8_t lane;
} sv__vertex;

/*
 * Puts all (channel, lane) pairs in an order along which every dependency ascends: place[channel ×
 * lanes + lane] from 0 on. If there is none, cycle gets a short cycle (from the arena) and *length
 * is not 0; place may be NULL. Time: linear in the bits; finding a short cycle costs more.
 */
sv_status sv__deps_order(const sv__deps *deps, sv_arena *arena, uint32_t *place, sv__vertex **cycle,
                         size_t *length);

/* The first dependency (in the order of bits) that does not ascend in place; false: all do. */
bool sv__deps_descends(const sv__deps *deps, const uint32_t *place, sv__vertex *from,
                       sv__vertex *to);

#endif
