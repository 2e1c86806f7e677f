/*
 * routes.h: what the files of this room, and those that read tables in their innermost loops,
 * share.
 */
#ifndef SV_ROUTES_ROUTES_H
#define SV_ROUTES_ROUTES_H

#include <selvage/routes.h>

#include "base/arena.h"

/* How many rows of SLs there are: 0, 1 or one a destination. */
size_t sv__routes_sl_rows(const sv_routes *routes);

/* Which live channel leaves each port of each switch, for loops that cannot afford a search. */
typedef struct sv_portmap {
    uint32_t *channel; /* [switch << 8 | port], SV_NONE where there is none */
} sv_portmap;

/* NO_MEMORY, or the map, from the arena. No switch may have more than 254 ports. */
sv_status sv_portmap_init(sv_portmap *map, sv_arena *arena, const sv_fabric *fabric);

static inline sv_channel sv_portmap_at(const sv_portmap *map, uint32_t s, unsigned port)
{
    return (sv_channel){map->channel[(size_t)s << 8 | port]};
}

#endif
