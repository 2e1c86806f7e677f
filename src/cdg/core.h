/*
 * core.h: the switches and the live channels between them, laid out for searches.
 *
 * A channel between switches is an entry; entries are numbered by the switch that they lead into,
 * so that a search which starts at a destination finds what comes in side by side. The channels out
 * of a switch are the backs of its entries, in the same order: cable j of switch s is
 * entry first[s] + j inwards and back[first[s] + j] outwards.
 */
#ifndef SV_CDG_CORE_H
#define SV_CDG_CORE_H

#include <selvage/fabric.h>

#include "base/arena.h"

typedef struct sv_entry {
    uint32_t from;    /* the switch it comes from */
    uint32_t channel; /* that comes in */
    uint8_t port;     /* at the other switch */
} sv_entry;

typedef struct sv_core {
    uint32_t num_switches, num_entries;
    const uint32_t *first;     /* [switches + 1] */
    const sv_entry *entries;   /* of switch s: entries[first[s]] … first[s + 1] - 1 */
    const uint32_t *back;      /* [entries]: the entry of the same cable's other direction */
    const uint32_t *to;        /* [entries]: the switch it leads into */
    const uint32_t *neighbour; /* [entries]: the switch it comes from, once more, side by side */
    const uint8_t *port;       /* [entries]: of the same cable, at the switch it leads into */
    const uint32_t *terminals; /* [switches]: live terminals on each */
} sv_core;

/* Time and memory: linear. */
sv_status sv_core_init(sv_core *core, sv_arena *arena, const sv_fabric *fabric);

/*
 * The same with every cable several times side by side, one for each VL that packets may change
 * between: cable j of a switch becomes its cables j × times … Time and memory: linear.
 */
sv_status sv_core_widen(const sv_core *core, sv_arena *arena, unsigned times, sv_core *wide);

/*
 * Breadth first: those in queue from place head on (to tail, excluded) have their hops, all that is
 * still SV_NONE and can be reached gets one more than where it is reached from, and is queued.
 * Returns the new tail. Time: linear.
 */
uint32_t sv_core_spread(const sv_core *core, uint32_t *hops, uint32_t *queue, uint32_t head,
                        uint32_t tail);

/* The entry behind each port. */
typedef struct sv_core_ports {
    const uint32_t *first; /* [switches + 1] */
    const uint32_t *entry; /* [first[s] + port]: or SV_NONE */
} sv_core_ports;

sv_status sv_core_ports_init(sv_core_ports *ports, sv_arena *arena, const sv_core *core,
                             const sv_fabric *fabric);

/* port: one that the switch has, or 255: none. */
static inline uint32_t sv_core_entry(const sv_core_ports *ports, uint32_t s, unsigned port)
{
    return port == 255 ? SV_NONE : ports->entry[ports->first[s] + port];
}

/*
 * A number for each entry: those that lead away from the terminals first, outermost first, then
 * those that lead back. On trees every path ascends in this order. NULL: no memory. Time: linear.
 */
uint32_t *sv_core_inside_out(const sv_core *core, sv_arena *arena);

/* The other way round: in this order paths ascend that lead from the middle out and back. */
uint32_t *sv_core_outside_in(const sv_core *core, sv_arena *arena);

#endif
