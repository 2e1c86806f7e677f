/*
 * slmode.c: which mode of service levels tables keep to (sv_sl_mode), so that what is made from
 * them keeps to it, too.
 */
#include "routing/engine.h"

/* Whether any two switches use one SL both ways, and not all the same. */
static bool is_reversible(const sv_fabric *f, const sv_routes *r)
{
    for (uint32_t a = 0; a < r->num_switches; a++)
        for (uint32_t b = a + 1; b < r->num_switches; b++) {
            sv_node from = {a}, to = {b};
            if (sv_node_alive(f, from) && sv_node_alive(f, to) &&
                sv_route_sl(r, from, r->first[b]) != sv_route_sl(r, to, r->first[a]))
                return false;
        }
    return true;
}

sv_sl_mode sv_routes_sl_mode(const sv_fabric *f, const sv_routes *r)
{
    switch (r->sl_form) {
    case SV_SL_CONSTANT:
        return SV_SLS_ONE;
    case SV_SL_BY_DESTINATION:
        return SV_SLS_DESTINATION;
    case SV_SL_BY_SWITCH:
        return is_reversible(f, r) ? SV_SLS_REVERSIBLE : SV_SLS_PAIR;
    default:
        return SV_SLS_PAIR;
    }
}
