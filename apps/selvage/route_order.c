/*
 * route_order.c: selvage route --order-out FILE: hosts in tree order, in which shifts do not
 * contend: for whoever numbers the ranks of a parallel program, or a guid_routing_order_file.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"
#include "structure/tree.h"

/* Hosts that compute only. */
static void write_host(sv_text *out, const sv_fabric *f, sv_node host)
{
    if (sv_terminal_of(f, host)->role == SV_ROLE_COMPUTE && sv_switch_of(f, host).i != SV_NONE)
        sv_text_print(out, "0x%016llx # %s\n", (unsigned long long)sv_node_guid(f, host),
                      sv_node_name(f, host));
}

/* Those that the request names first, then the rest. */
static sv_status write_hosts(struct app *app, const sv_fabric *f, const sv_route_request *request,
                             const sv_fat_tree *tree, bool *listed, const char *path)
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create(&file, app->ctx, path));
    sv_text_init(&out, app->ctx, &file.sink);
    for (size_t i = 0; i < request->num_hosts; i++) {
        listed[request->hosts[i].i - f->num_switches] = true;
        write_host(&out, f, request->hosts[i]);
    }
    for (uint32_t i = 0; i < tree->num_hosts; i++) {
        sv_node host = {tree->hosts[i]};
        if (!listed[host.i - f->num_switches])
            write_host(&out, f, host);
    }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

sv_status app_write_order(struct app *app, const sv_fabric *f, const sv_route_request *request,
                          const sv_route_report *report, const char *engine, const char *path)
{
    sv_arena arena;
    sv_core core;
    sv_fat_tree tree;
    if (report->structure.kind == NULL || strcmp(report->structure.kind, "fat tree") != 0)
        return sv_fail(app->ctx, SV_INFEASIBLE, "--order-out: %s has no order of hosts (ftree has)",
                       engine);
    sv_arena_init(&arena, app->ctx);
    bool *listed = SV_ARENA_NEW(&arena, bool, f->num_terminals);
    sv_status status = listed == NULL ? SV_NO_MEMORY : sv_core_init(&core, &arena, f);
    if (status == SV_OK)
        status = sv_fat_tree_find(&tree, &arena, f, &core, request->roots, request->num_roots);
    if (status == SV_OK)
        status = write_hosts(app, f, request, &tree, listed, path);
    sv_arena_release(&arena);
    return status;
}
