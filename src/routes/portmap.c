/*
 * portmap.c: from a switch and a port to the live channel there, and where it leads.
 *
 * Proofs look this up once for every entry of every table, so what they need stands together: the
 * channel, the node it leads to and the port it comes in at. A switch has a place for each port, 0
 * included; entries beyond its ports are the caller's to keep out (SV_NO_PORT is caught).
 * Cost: 8 bytes a port.
 */
#include "routes/routes.h"

sv_status sv_portmap_init(sv_portmap *map, sv_arena *arena, const sv_fabric *f)
{
    size_t places = 0;
    map->first = SV_ARENA_NEW(arena, uint32_t, (size_t)f->num_switches + 1);
    if (map->first == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        map->first[s] = (uint32_t)places;
        places += f->switches[s].ports + 1u;
    }
    map->first[f->num_switches] = (uint32_t)places;
    map->places = SV_ARENA_NEW(arena, sv_place, places + 1);
    if (map->places == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i <= places; i++)
        map->places[i] = (sv_place){SV_NONE, SV_NONE};
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop) {
            unsigned in = f->port[f->reverse[hop->channel.i].i];
            map->places[map->first[s] + f->port[hop->channel.i]] =
                (sv_place){hop->channel.i, hop->to.i << 8 | (in & 255)};
        }
    map->nowhere = &map->places[places];
    return SV_OK;
}
