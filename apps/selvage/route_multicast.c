/*
 * route_multicast.c: selvage route --multicast: a group of all terminals, along a tree that cannot
 * deadlock together with the unicast tables.
 *
 * Dumps do not tell the SL of a group; OpenSM's default is 0, so the tree is for that.
 */
#include <string.h>

#include "selvage/app.h"

enum { MLID = 0xc000, SL = 0 };

/* All live terminals become one group. */
static sv_status add_group(struct app *app, const sv_fabric *f, sv_routes *routes,
                           const sv_mtree *tree)
{
    sv_group *group;
    size_t count = 0;
    sv_node *members = sv_alloc(app->ctx, f->num_terminals, sizeof *members);
    if (members == NULL)
        return SV_NO_MEMORY;
    for (uint32_t v = f->num_switches; v < sv_num_nodes(f); v++)
        members[count++] = (sv_node){v}; /* dead ones do not count */
    sv_status status = sv_routes_add_group(app->ctx, routes, MLID, &group);
    if (status == SV_OK) {
        group->sl = SL;
        status = sv_mtree_prune(app->ctx, tree, f, members, count, group->ports);
    }
    sv_release(app->ctx, members);
    return status;
}

static sv_status find_tree(struct app *app, const sv_fabric *f, sv_routes *r, sv_traffic traffic,
                           app_multicast *made, sv_mtree **tree)
{
    made->other = SL;
    if (made->keep)
        return sv_mtree_new(app->ctx, f, r, traffic, SL, NULL, 0, tree);
    if (made->own_vl)
        return sv_mtree_own_vl(app->ctx, f, r, traffic, SL, made->vl, NULL, 0, tree, &made->other);
    return sv_mtree_make_room(app->ctx, f, r, traffic, SL, NULL, 0, tree, &made->other);
}

sv_status app_add_multicast(struct app *app, const sv_fabric *fabric, sv_routes *routes,
                            sv_traffic traffic, app_multicast *made)
{
    sv_mtree *tree = NULL;
    sv_status status = find_tree(app, fabric, routes, traffic, made, &tree);
    if (status == SV_OK)
        status = add_group(app, fabric, routes, tree);
    if (status == SV_OK) {
        made->depth = tree->depth;
        made->pieces = tree->num_pieces;
    }
    sv_mtree_free(tree);
    return status;
}

void app_print_multicast(sv_text *out, const app_multicast *made)
{
    if (!made->wanted)
        return;
    sv_text_print(out, "multicast      group 0x%04x of all terminals, SL %d, a tree of depth %u",
                  MLID, SL, made->depth);
    if (made->pieces > 1)
        sv_text_print(out, " at most in %u pieces", made->pieces);
    if (made->own_vl)
        sv_text_print(out, ", VL %u for it alone", made->vl);
    else if (made->other != SL)
        sv_text_print(out, "; SLs %d and %u exchanged", SL, made->other);
    sv_text_print(out, "\n");
}

void app_json_multicast(sv_json *j, const app_multicast *made)
{
    if (!made->wanted)
        return;
    sv_json_begin_object(j, "multicast");
    sv_json_number(j, "mlid", MLID);
    sv_json_number(j, "sl", SL);
    sv_json_number(j, "exchanged_sl", made->other);
    sv_json_number(j, "depth", made->depth);
    sv_json_number(j, "pieces", made->pieces);
    sv_json_bool(j, "routed_again", made->again);
    sv_json_bool(j, "own_vl", made->own_vl);
    sv_json_end(j, '}');
}
