/*
 * routes.h: what the files of this room, and those that read tables in their innermost loops,
 * share.
 */
#ifndef SV_ROUTES_ROUTES_H
#define SV_ROUTES_ROUTES_H

#include <selvage/routes.h>
#include <string.h>

#include "base/arena.h"

/* How many rows of SLs there are: 0, 1 or one a destination. */
size_t sv__routes_sl_rows(const sv_routes *routes);

/* How long each of them is. */
size_t sv__routes_sl_row_length(const sv_routes *routes);

/*
 * Rows of their own for all live destinations, with anything in them: the caller fills all
 * entries. NO_MEMORY, or SV_OK. Time: O(destinations).
 */
sv_status sv__routes_raw_rows(sv_ctx *ctx, const sv_fabric *fabric, sv_routes *routes);

/*
 * A node takes its SL-to-VL tables from other tables of the same fabric. NO_MEMORY (some of them
 * may be taken then), or SV_OK. Time: O(ports²) where they go by ports.
 */
sv_status sv__routes_take_vls(sv_ctx *ctx, const sv_fabric *fabric, sv_routes *routes, sv_node v,
                              const sv_routes *from);

/* The first place from one on where two rows differ, or their length. Eight at a time. */
static inline uint32_t sv__rows_differ(const uint8_t *a, const uint8_t *b, uint32_t from,
                                       uint32_t length)
{
    for (; from + 8 <= length; from += 8)
        if (memcmp(a + from, b + from, 8) != 0)
            break;
    while (from < length && a[from] == b[from])
        from++;
    return from;
}

/* The block of 64 LIDs that a destination is in; by its number where it has no LID. */
static inline uint32_t sv__routes_block(const sv_routes *r, uint32_t d)
{
    return (r->lid[d] != 0 ? r->lid[d] : d) / SV_LFT_BLOCK;
}

/* Orders of tables in the numbers of another fabric. node: which switch each of its was, SV_NONE.
 */
sv_status sv__routes_carry_orders(sv_ctx *ctx, const sv_routes *from, const sv_fabric *to,
                                  sv_routes *made, const uint32_t *node);

/* What is behind a port of a switch. */
typedef struct sv_place {
    uint32_t channel; /* that leaves it, or SV_NONE */
    uint32_t end;     /* the node it leads to, shifted by 8, and the port it comes in at */
} sv_place;

/* The same for all ports of all switches, for loops that cannot afford a search. */
typedef struct sv_portmap {
    uint32_t *first; /* [switches + 1] */
    sv_place *places;
    const sv_place *nowhere;
} sv_portmap;

/*
 * NO_MEMORY, or the map, from the arena. No switch may have more than 254 ports, and there may be
 * no more than 2^24 nodes (there are not that many addresses).
 */
sv_status sv_portmap_init(sv_portmap *map, sv_arena *arena, const sv_fabric *fabric);

/* port: one that the switch has, or SV_NO_PORT. */
static inline const sv_place *sv_portmap_place(const sv_portmap *map, uint32_t s, unsigned port)
{
    return port == SV_NO_PORT ? map->nowhere : &map->places[map->first[s] + port];
}

static inline sv_channel sv_portmap_at(const sv_portmap *map, uint32_t s, unsigned port)
{
    return (sv_channel){sv_portmap_place(map, s, port)->channel};
}

#endif
