/*
 * table_pair.c: both sides of a change of tables: old ones in the numbers of the new fabric, whose
 * nodes are matched by GUID.
 */
#include "selvage/app.h"

void app_release_table_pair(struct app *app, app_table_pair *x)
{
    sv_release(app->ctx, x->moves);
    sv_routes_free(x->carried);
    sv_routes_free(x->old);
    sv_routes_free(x->r);
    sv_fabric_free(x->old_fabric);
    sv_fabric_free(x->f);
}

/* Destinations must have kept their LIDs; that new ones took over those of others is noted. */
static sv_status carry_over(struct app *app, app_table_pair *x)
{
    const sv_routes *r = x->r;
    sv_match *match = NULL;
    if (x->old->lmc != r->lmc)
        return sv_fail(app->ctx, SV_INFEASIBLE,
                       "the LMC changes from %u to %u: not only the tables do", x->old->lmc,
                       r->lmc);
    x->moves = sv_alloc(app->ctx, (size_t)r->num_destinations + 1, sizeof *x->moves);
    if (x->moves == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_match_new(app->ctx, x->old_fabric, x->f, SV_MATCH_GUID, &match));
    sv_status status = sv_routes_remap(app->ctx, x->old_fabric, x->old, x->f, match, &x->carried);
    for (uint32_t d = 0; status == SV_OK && d < r->num_destinations; d++)
        if (x->carried->lid[d] != 0 && x->carried->lid[d] != r->lid[d])
            status = sv_fail(app->ctx, SV_INFEASIBLE,
                             "the LID of \"%s\" changes from %u to %u: not only the tables do",
                             sv_node_name(x->f, r->node[d]), x->carried->lid[d], r->lid[d]);
    if (status == SV_OK)
        status = sv_routes_remap_lids(app->ctx, x->old_fabric, x->old, x->f, match, r, x->carried,
                                      x->moves, &x->num_moves);
    sv_match_free(match);
    return status;
}

sv_status app_load_table_pair(struct app *app, const char *old, const char *new, app_table_pair *x)
{
    SV_TRY(app_load_tables(app, new, &x->f, &x->r));
    SV_TRY(app_load_tables(app, old, &x->old_fabric, &x->old));
    return carry_over(app, x);
}
