/*
 * tree.h: the ways to one destination, as metrics need them: all at once, or one after the other.
 */
#ifndef SV_METRICS_TREE_H
#define SV_METRICS_TREE_H

#include <selvage/metrics.h>

#include "routes/routes.h"

/* The switches' entries for a destination. */
typedef struct sv__tree {
    uint32_t *out;  /* [switches]: the channel a switch sends packets out of, or SV_NONE */
    uint32_t *hops; /* [switches]: channels between switches to go, or SV_NONE: never arrives */
    uint32_t
        *order; /* [count]: switches, each before the one it sends to; none that is on a ring */
    uint32_t count;
    uint32_t *feeders; /* scratch */
} sv__tree;

/* Room for a tree. NO_MEMORY, or OK. */
sv_status sv__tree_init(sv__tree *tree, sv_arena *arena, const sv_fabric *fabric);

/* Fills it for a destination. Time: O(switches). */
void sv__tree_make(sv__tree *tree, const sv_fabric *fabric, const sv_portmap *ports,
                   const sv_routes *routes, uint32_t destination);

/* How many live terminals each switch has; NULL: no memory. */
uint32_t *sv__terminals(sv_arena *arena, const sv_fabric *fabric);

/* Whether a channel is one that metrics are about: live, between different switches. */
static inline bool sv__counts(const sv_fabric *f, uint32_t channel)
{
    return sv_channel_alive(f, (sv_channel){channel}) &&
           sv_joins_switches(f, (sv_channel){channel});
}

/* BAD_INPUT when tables were made for a fabric of another size. */
sv_status sv__tables_fit(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes);

/* What is said about loads of channels. */
sv_efi sv__efi(const sv_fabric *fabric, const uint64_t *load);

/*
 * Follows a row from a switch to a terminal: path[switches] gets the channels between switches.
 * Returns how many, or SV_NONE where packets do not arrive.
 */
static inline uint32_t sv__follow(const sv_portmap *ports, uint32_t switches, const uint8_t *row,
                                  uint32_t s, uint32_t terminal, uint32_t *path)
{
    for (uint32_t hops = 0;;) {
        const sv_place *place = sv_portmap_place(ports, s, row[s]);
        uint32_t next = place->end >> 8;
        if (place->channel == SV_NONE)
            return SV_NONE;
        if (next >= switches)
            return next == terminal ? hops : SV_NONE;
        if (hops == switches)
            return SV_NONE; /* round in circles */
        path[hops++] = place->channel;
        s = next;
    }
}

#endif
