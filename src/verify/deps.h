/*
 * deps.h: the set of dependencies between (channel, VL) pairs that tables induce, and whether it
 * has a cycle.
 *
 * A packet that came into a switch at one port and leaves at another makes the channel into the
 * first depend on the channel out of the second. So the set is, for every switch, a bit for each
 * (in port, VL, out port, VL). Channels from and to terminals cannot lie on a cycle; they are
 * in it only if asked for, as proofs do.
 */
#ifndef SV_VERIFY_DEPS_H
#define SV_VERIFY_DEPS_H

#include <selvage/fabric.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "routes/routes.h"

typedef struct sv__deps {
    const sv_fabric *fabric;
    const sv_portmap *ports;
    unsigned vls;
    bool ends;       /* channels from and to terminals are in it */
    uint64_t *first; /* [switches]: its first bit */
    _Atomic uint64_t *bits;
    _Atomic uint64_t *used; /* [channels × VLs]: some packet takes it */
    uint64_t num_bits;
} sv__deps;

sv_status sv__deps_init(sv__deps *deps, sv_arena *arena, const sv_fabric *fabric,
                        const sv_portmap *ports, unsigned vls, bool ends);
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

/*
 * A packet that came into a switch at one port on a VL wants to leave by another on a VL. Both
 * channels must be in the set.
 */
static inline void sv__deps_turn(const sv__deps *deps, uint32_t s, unsigned in, unsigned vl_in,
                                 unsigned out, unsigned vl_out)
{
    uint64_t ports = deps->fabric->switches[s].ports + 1u;
    sv__set_bit(deps->bits, deps->first[s] +
                                (((uint64_t)in * deps->vls + vl_in) * ports + out) * deps->vls +
                                vl_out);
}

/* The same by channels. */
static inline void sv__deps_add(const sv__deps *deps, sv_channel a, unsigned vl_a, sv_channel b,
                                unsigned vl_b)
{
    const sv_fabric *f = deps->fabric;
    sv__deps_turn(deps, f->head[a.i].i, f->port[f->reverse[a.i].i], vl_a, f->port[b.i], vl_b);
}

static inline void sv__deps_use(const sv__deps *deps, sv_channel a, unsigned vl)
{
    sv__set_bit(deps->used, (uint64_t)a.i * deps->vls + vl);
}

/* Whether a channel is in the set. */
static inline bool sv__deps_has(const sv__deps *deps, sv_channel c)
{
    const sv_fabric *f = deps->fabric;
    return deps->ends || (sv_is_switch(f, f->tail[c.i]) && sv_is_switch(f, f->head[c.i]));
}

/* Number of dependencies; with inner, only of those between channels that join switches. */
uint64_t sv__deps_count(const sv__deps *deps, bool inner);

/* How many different VLs are used on channels between switches. */
unsigned sv__deps_vls_used(const sv__deps *deps);

/* One (channel, VL) of a cycle. */
typedef struct sv__vertex {
    sv_channel channel;
    uint8_t vl;
} sv__vertex;

/* Calls fn for each dependency, in the order of what waits. Time: linear in the bits. */
typedef sv_status sv__deps_fn(void *arg, sv__vertex waits, sv__vertex for_whom);
sv_status sv__deps_each(const sv__deps *deps, sv__deps_fn *fn, void *arg);

/*
 * Puts all (channel, VL) pairs in an order along which every dependency ascends: place[channel ×
 * VLs + VL] from 0 on. If there is none, cycle gets a short cycle (from the arena) and *length
 * is not 0; place may be NULL. Time: linear in the bits; finding a short cycle costs more.
 */
sv_status sv__deps_order(const sv__deps *deps, sv_arena *arena, uint32_t *place, sv__vertex **cycle,
                         size_t *length);

/* The first dependency (in the order of bits) that does not ascend in place; false: all do. */
bool sv__deps_descends(const sv__deps *deps, const uint32_t *place, sv__vertex *from,
                       sv__vertex *to);

#endif
