/*
 * json_out.c: a fabric as JSON, for programs that want it whole.
 *
 * Switches, adapters and terminals are listed by index; cables refer to nodes as the library
 * numbers them (switches, then terminals), so that the file can be joined with anything else that
 * selvage writes about the same fabric. Dead parts are left out; indices then have gaps, so every
 * object carries its own.
 *
 * Cost: linear in the output.
 */
#include "base/json.h"
#include "fabric/derive.h"
#include "formats/formats.h"

static void write_switches(sv_json *j, const sv_fabric *f)
{
    sv_json_begin_array(j, "switches");
    for (uint32_t s = 0; s < f->num_switches; s++) {
        const sv_switch_info *about = &f->switches[s];
        if (!sv_node_alive(f, (sv_node){s}))
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "node", s);
        sv_json_text(j, "name", about->name);
        sv_json_guid(j, "guid", about->guid);
        sv_json_number(j, "ports", about->ports);
        sv_json_number(j, "lid", about->lid);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void write_adapters(sv_json *j, const sv_fabric *f, const bool *live)
{
    static const char *const kinds[] = {"host", "router", "special"};
    sv_json_begin_array(j, "adapters");
    for (uint32_t a = 0; a < f->num_adapters; a++) {
        if (!live[a])
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "adapter", a);
        sv_json_text(j, "name", f->adapters[a].name);
        sv_json_guid(j, "guid", f->adapters[a].guid);
        sv_json_number(j, "ports", f->adapters[a].ports);
        sv_json_text(j, "kind", kinds[f->adapters[a].kind]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void write_terminals(sv_json *j, const sv_fabric *f)
{
    sv_json_begin_array(j, "terminals");
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        const sv_terminal_info *about = &f->terminals[t];
        if (!sv_node_alive(f, (sv_node){f->num_switches + t}))
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "node", f->num_switches + t);
        sv_json_number(j, "adapter", about->adapter);
        sv_json_number(j, "port", about->port);
        sv_json_guid(j, "guid", about->guid);
        sv_json_number(j, "lid", about->lid);
        sv_json_number(j, "lmc", about->lmc);
        sv_json_text(j, "role", sv_role_name(about->role));
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void write_cables(sv_json *j, const sv_fabric *f)
{
    sv_json_begin_array(j, "cables");
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_channel_alive(f, channel) || !sv_is_cable(f, channel))
            continue;
        const sv_link *link = sv_link_of(f, channel);
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "a", f->tail[c].i);
        sv_json_number(j, "a_port", f->port[c]);
        sv_json_number(j, "b", f->head[c].i);
        sv_json_number(j, "b_port", f->port[f->reverse[c].i]);
        sv_json_number(j, "width", link->width);
        sv_json_text(j, "speed", link->speed == 0 ? NULL : sv_speed_name(link->speed));
        if (link->mtu_bytes != 0)
            sv_json_number(j, "mtu", link->mtu_bytes);
        if (link->vls != 0)
            sv_json_number(j, "vls", link->vls);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

sv_status sv__write_json(sv_text *out, const sv_fabric *f)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    bool *live = sv_live_adapters(&arena, f);
    if (live == NULL) {
        sv_arena_release(&arena);
        return SV_NO_MEMORY;
    }
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    write_switches(&j, f);
    write_adapters(&j, f, live);
    write_terminals(&j, f);
    write_cables(&j, f);
    sv_json_end(&j, '}');
    sv_arena_release(&arena);
    return out->status;
}
