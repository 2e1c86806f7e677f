/*
 * portmap.c: from a switch and a port to the live channel there.
 *
 * 256 places a switch, so that every byte of a row (SV_NO_PORT, too) is a valid index and the
 * innermost loops of proofs have nothing to test. Only the lines of ports in use are ever touched.
 * Cost: 1 KiB a switch.
 */
#include "routes/routes.h"

sv_status sv_portmap_init(sv_portmap *map, sv_arena *arena, const sv_fabric *f)
{
    size_t places = (size_t)f->num_switches << 8;
    map->channel = SV_ARENA_NEW(arena, uint32_t, places);
    if (map->channel == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < places; i++)
        map->channel[i] = SV_NONE;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            map->channel[(size_t)s << 8 | (f->port[hop->channel.i] & 255)] = hop->channel.i;
    return SV_OK;
}
