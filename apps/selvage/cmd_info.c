/*
 * cmd_info.c: selvage info FABRIC: everything worth knowing about a fabric before routing it.
 */
#include <stdio.h>

#include "base/array.h"
#include "fabric/derive.h"
#include "selvage/app.h"

/* A kind of cable, and how many there are between different switches and elsewhere. */
struct speed_row {
    uint8_t width, speed;
    uint32_t links, other_links;
};

struct info {
    const sv_fabric *f;
    uint32_t adapters, links, other_links;
    uint32_t roles[3], special, routers;
    uint32_t ports_min, ports_max, radix_max;
    double ports_avg;
    sv_components components;
    sv_distances distances;
    uint32_t vertex, edge;
    bool has_bisection, quick;
    sv_bisection bisection;
    sv_oddities oddities;
    struct speed_row speeds[16 * SV_SPEED_COUNT];
    size_t num_speeds;
};

static void count_ports(struct info *info)
{
    const sv_fabric *f = info->f;
    uint64_t sum = 0;
    info->ports_min = f->live_switches == 0 ? 0 : SV_NONE;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
        uint32_t used = sv_degree(f, (sv_node){s});
        sum += used;
        info->ports_min = used < info->ports_min ? used : info->ports_min;
        info->ports_max = used > info->ports_max ? used : info->ports_max;
        if (f->switches[s].ports > info->radix_max)
            info->radix_max = f->switches[s].ports;
    }
    info->ports_avg = f->live_switches == 0 ? 0 : (double)sum / f->live_switches;
}

static struct speed_row *speed_row(struct info *info, const sv_link *link)
{
    for (size_t i = 0; i < info->num_speeds; i++)
        if (info->speeds[i].width == link->width && info->speeds[i].speed == link->speed)
            return &info->speeds[i];
    struct speed_row *row = &info->speeds[info->num_speeds++];
    *row = (struct speed_row){.width = link->width, .speed = link->speed};
    return row;
}

static void count_speeds(struct info *info)
{
    const sv_fabric *f = info->f;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_channel_alive(f, channel) || !sv_is_cable(f, channel))
            continue;
        struct speed_row *row = speed_row(info, sv_link_of(f, channel));
        if (sv_joins_switches(f, channel))
            row->links++;
        else
            row->other_links++;
    }
}

static sv_status count_adapters(struct app *app, struct info *info)
{
    const sv_fabric *f = info->f;
    sv_arena arena;
    sv_arena_init(&arena, app->ctx);
    bool *live = sv_live_adapters(&arena, f);
    for (uint32_t a = 0; live != NULL && a < f->num_adapters; a++) {
        info->adapters += live[a];
        info->special += live[a] && f->adapters[a].kind == SV_ADAPTER_SPECIAL;
        info->routers += live[a] && f->adapters[a].kind == SV_ADAPTER_ROUTER;
    }
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            info->roles[f->terminals[t].role]++;
    sv_arena_release(&arena);
    return live == NULL ? SV_NO_MEMORY : SV_OK;
}

static sv_status collect(struct app *app, struct info *info, uint64_t seed)
{
    const sv_fabric *f = info->f;
    info->links = app_count_links(f, &info->other_links);
    count_ports(info);
    count_speeds(info);
    SV_TRY(count_adapters(app, info));
    SV_TRY(sv_fabric_oddities(app->ctx, f, &info->oddities));
    SV_TRY(sv_fabric_components(app->ctx, f, &info->components));
    if (info->quick)
        return SV_OK;
    SV_TRY(sv_fabric_distances(app->ctx, f, &info->distances));
    SV_TRY(sv_fabric_edge_connectivity(app->ctx, f, &info->edge));
    SV_TRY(sv_fabric_vertex_connectivity(app->ctx, f, &info->vertex));
    sv_status status = sv_fabric_bisection(app->ctx, f, (uint32_t)seed, &info->bisection);
    info->has_bisection = status == SV_OK;
    return status == SV_UNSUPPORTED ? SV_OK : status;
}

/* ---- JSON ---- */

static void json_lists(sv_json *j, const struct info *info)
{
    sv_json_begin_array(j, "speeds");
    for (size_t i = 0; i < info->num_speeds; i++) {
        const struct speed_row *row = &info->speeds[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "width", row->width);
        sv_json_text(j, "speed", row->speed == 0 ? NULL : sv_speed_name(row->speed));
        sv_json_number(j, "links", row->links);
        sv_json_number(j, "other_links", row->other_links);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_begin_array(j, "warnings");
    for (int i = 0; i < SV_ODD_COUNT; i++) {
        if (info->oddities.count[i] == 0)
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "what", sv_oddity_name(i));
        sv_json_number(j, "count", info->oddities.count[i]);
        sv_json_text(j, "example", info->oddities.example[i]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void json_shape(sv_json *j, const struct info *info)
{
    if (info->quick)
        return;
    sv_json_number(j, "diameter", info->distances.diameter);
    sv_json_real(j, "mean_distance", info->distances.mean_distance, 6);
    sv_json_real(j, "mean_terminal_distance", info->distances.mean_terminal_distance, 6);
    sv_json_number(j, "unreachable_pairs", info->distances.unreachable_pairs);
    if (info->distances.sampled_switches > 0)
        sv_json_number(j, "sampled_switches", info->distances.sampled_switches);
    else
        sv_json_null(j, "sampled_switches");
    sv_json_number(j, "vertex_connectivity", info->vertex);
    sv_json_number(j, "edge_connectivity", info->edge);
    if (!info->has_bisection) {
        sv_json_null(j, "bisection");
        return;
    }
    sv_json_begin_object(j, "bisection");
    sv_json_number(j, "links", info->bisection.cables);
    sv_json_number(j, "mbit_s", info->bisection.mbit);
    sv_json_begin_row(j, "terminals", '[');
    sv_json_number(j, NULL, info->bisection.terminals[0]);
    sv_json_number(j, NULL, info->bisection.terminals[1]);
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

static sv_status print_json(struct app *app, const struct info *info)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_number(&j, "switches", info->f->live_switches);
    sv_json_number(&j, "terminals", info->f->live_terminals);
    sv_json_number(&j, "adapters", info->adapters);
    sv_json_number(&j, "special_adapters", info->special);
    sv_json_number(&j, "routers", info->routers);
    sv_json_number(&j, "links", info->links);
    sv_json_number(&j, "other_links", info->other_links);
    sv_json_number(&j, "components", info->components.all);
    sv_json_begin_row(&j, "roles", '{');
    for (int role = 0; role < 3; role++)
        sv_json_number(&j, sv_role_name(role), info->roles[role]);
    sv_json_end(&j, '}');
    sv_json_begin_row(&j, "ports_used", '{');
    sv_json_number(&j, "min", info->ports_min);
    sv_json_real(&j, "avg", info->ports_avg, 4);
    sv_json_number(&j, "max", info->ports_max);
    sv_json_end(&j, '}');
    json_shape(&j, info);
    json_lists(&j, info);
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

/* ---- text ---- */

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void text_counts(sv_text *out, const struct info *info)
{
    const sv_fabric *f = info->f;
    sv_text_print(out, "switches       %u\n", f->live_switches);
    sv_text_print(out, "terminals      %u: %u compute, %u I/O, %u other\n", f->live_terminals,
                  info->roles[SV_ROLE_COMPUTE], info->roles[SV_ROLE_IO],
                  info->roles[SV_ROLE_OTHER]);
    sv_text_print(out, "adapters       %u", info->adapters);
    if (info->special > 0)
        sv_text_print(out, ", %u of them inside switches", info->special);
    if (info->routers > 0)
        sv_text_print(out, ", %u of them router%s", info->routers, plural(info->routers));
    sv_text_print(out, "\nlinks          %u between switches, %u other%s\n", info->links,
                  info->other_links, plural(info->other_links));
    for (size_t i = 0; i < info->num_speeds; i++) {
        const struct speed_row *row = &info->speeds[i];
        char kind[16] = "unknown";
        if (row->speed != SV_SPEED_UNKNOWN)
            snprintf(kind, sizeof kind, "%ux%s", row->width, sv_speed_name(row->speed));
        sv_text_print(out, "  %-12s %u between switches, %u others\n", kind, row->links,
                      row->other_links);
    }
    sv_text_print(out, "ports used     %u to %u of %u on a switch, %.2f on average\n",
                  info->ports_min, info->ports_max, info->radix_max, info->ports_avg);
    sv_text_print(out, "components     %u\n", info->components.all);
}

static void text_connectivity(sv_text *out, const struct info *info)
{
    if (info->f->live_switches < 2)
        sv_text_print(out, "connectivity   nothing to disconnect: fewer than two switches\n");
    else if (info->edge == 0)
        sv_text_print(out, "connectivity   0: the switches are not connected\n");
    else
        sv_text_print(out,
                      "connectivity   %u switch%s or %u link%s must fail to disconnect switches\n",
                      info->vertex, info->vertex == 1 ? "" : "es", info->edge, plural(info->edge));
}

static void text_shape(sv_text *out, const struct info *info)
{
    const sv_distances *d = &info->distances;
    if (d->sampled_switches == 0)
        sv_text_print(out, "diameter       %u\n", d->diameter);
    else
        sv_text_print(out, "diameter       at least %u (distances from %u of %u switches)\n",
                      d->diameter, d->sampled_switches, info->f->live_switches);
    sv_text_print(out, "mean distance  %.4f between switches, %.4f between terminals\n",
                  d->mean_distance, d->mean_terminal_distance);
    if (d->unreachable_pairs > 0)
        sv_text_print(out, "unreachable    %llu ordered pairs of terminals\n",
                      (unsigned long long)d->unreachable_pairs);
    text_connectivity(out, info);
    if (!info->has_bisection) {
        sv_text_print(out, "bisection      not estimated: this build has no METIS\n");
        return;
    }
    const sv_bisection *b = &info->bisection;
    sv_text_print(out, "bisection      %u link%s at most", b->cables, plural(b->cables));
    if (b->mbit > 0)
        sv_text_print(out, ", %.1f Gbit/s each way", (double)b->mbit / 1000);
    sv_text_print(out, " (estimate; %u and %u terminals)\n", b->terminals[0], b->terminals[1]);
}

static sv_status print_text(struct app *app, const struct info *info)
{
    sv_text out;
    bool none = true;
    SV_TRY(app_print_begin(app, &out));
    text_counts(&out, info);
    if (!info->quick)
        text_shape(&out, info);
    for (int i = 0; i < SV_ODD_COUNT; i++) {
        if (info->oddities.count[i] == 0)
            continue;
        none = false;
        sv_text_print(&out, "warning        %s: %u, for example %s\n", sv_oddity_name(i),
                      info->oddities.count[i], info->oddities.example[i]);
    }
    if (none)
        sv_text_print(&out, "warnings       none\n");
    return app_print_end(app, &out);
}

int cmd_info(struct app *app, int argc, char **argv)
{
    const char *input, *cn = NULL, *io = NULL;
    bool json = false;
    uint64_t seed = 1;
    struct info info = {0};
    const app_option options[] = {
        {"quick", 'q', OPTION_FLAG, &info.quick, NULL,
         "only counts: no distances, connectivity, bisection"},
        {"cn-guids", 0, OPTION_TEXT, &cn, "FILE", "only these port GUIDs compute (as for opensm)"},
        {"io-guids", 0, OPTION_TEXT, &io, "FILE", "these port GUIDs are I/O nodes"},
        {"seed", 0, OPTION_SEED, &seed, "N", "of the bisection estimate (default 1)"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {"FABRIC", "Counts, distances, connectivity and what looks wrong.",
                             "selvage info torus:4x4x3,hosts=4\n"
                             "ibnetdiscover | selvage info -",
                             options};
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    if (code >= 0)
        return code;
    const char *const inputs[] = {input, cn, io};
    code = app_one_stream(app, "input", inputs, 3);
    if (code >= 0)
        return code;
    sv_fabric *fabric = NULL;
    sv_status status = app_load_roles(app, input, cn, io, &fabric);
    if (status == SV_OK) {
        info.f = fabric;
        status = collect(app, &info, seed);
    }
    if (status == SV_OK)
        status = json ? print_json(app, &info) : print_text(app, &info);
    sv_fabric_free(fabric);
    return app_exit(app, status);
}
