/*
 * draft.c: from what a file says to a fabric.
 *
 * Idea: a cable is listed twice, once at each end; the two must name each other. A cable listed at
 * one end only is kept and marked (partial discoveries produce them), a port that two cables claim
 * is an error, and so is a cable whose ends name different partners. If the ends give different
 * speeds the slower one is taken, with a warning: both cannot be true.
 *
 * An adapter is special (no host) when it shares its system GUID with the switch it hangs on or is
 * called an aggregation node: SHARP's aggregation nodes look like adapters on an extra port.
 *
 * Invariants: ids are unique; ends of one device have different ports.
 * Cost: linear, expected.
 */
#include "formats/draft.h"

#include <stdio.h>
#include <string.h>

void sv__draft_init(sv__draft *draft, sv_ctx *ctx, const char *name)
{
    *draft = (sv__draft){.ctx = ctx, .name = name};
    sv_arena_init(&draft->arena, ctx);
    sv_names_init(&draft->ids, ctx);
    sv_map_init(&draft->ports, ctx);
}

void sv__draft_release(sv__draft *draft)
{
    sv_array_release(draft->ctx, &draft->devices);
    sv_array_release(draft->ctx, &draft->ends);
    sv_names_release(&draft->ids);
    sv_map_release(&draft->ports);
    sv_arena_release(&draft->arena);
}

sv_status sv__draft_fail(const sv__draft *draft, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sv_status status = sv_vfail_content(draft->ctx, draft->name, line, format, args);
    va_end(args);
    return status;
}

const char *sv__draft_text(sv__draft *draft, sv_span text)
{
    return sv_arena_text(&draft->arena, text.at, text.length);
}

const char *sv__draft_name(sv__draft *draft, sv_span name)
{
    char *copy = sv_arena_text(&draft->arena, name.at, name.length);
    for (char *c = copy; c != NULL && *c != 0; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    return copy;
}

sv_status sv__draft_add_device(sv__draft *draft, const sv__draft_device *device, uint32_t *index)
{
    sv__draft_device kept = *device;
    if (device->id.length == 0)
        return sv__draft_fail(draft, device->line, "a node without an id");
    kept.id.at = sv__draft_text(draft, device->id);
    if (kept.id.at == NULL)
        return SV_NO_MEMORY;
    uint32_t held, number = (uint32_t)draft->devices.length;
    SV_TRY(sv_names_add(&draft->ids, kept.id, number, &held));
    if (held != number)
        return sv__draft_fail(
            draft, device->line,
            "node \"%.*s\" appears twice, first in line %llu: do two devices have one GUID?",
            SV_SPAN(device->id), (unsigned long long)draft->devices.at[held].line);
    SV_TRY(sv_array_push(draft->ctx, &draft->devices, kept));
    *index = number;
    return SV_OK;
}

uint32_t sv__draft_find(const sv__draft *draft, sv_span id)
{
    return sv_names_get(&draft->ids, id);
}

sv_status sv__draft_add_end(sv__draft *draft, const sv__draft_end *end)
{
    const sv__draft_device *device = &draft->devices.at[end->device];
    uint16_t max = device->ports == 0 ? SV__MAX_PORTS : device->ports;
    if (end->port < 1 || end->port > max)
        return sv__draft_fail(draft, end->line, "port %u of \"%.*s\", which has ports 1 to %u",
                              end->port, SV_SPAN(device->id), max);
    sv__draft_end kept = *end;
    kept.remote.at = sv__draft_text(draft, end->remote);
    if (kept.remote.at == NULL)
        return SV_NO_MEMORY;
    uint32_t held, number = (uint32_t)draft->ends.length;
    SV_TRY(sv_map_add(&draft->ports, (uint64_t)end->device << 16 | end->port, number, &held));
    if (held != number)
        return sv__draft_fail(draft, end->line,
                              "port %u of \"%.*s\" is used twice, first in line %llu", end->port,
                              SV_SPAN(device->id), (unsigned long long)draft->ends.at[held].line);
    return sv_array_push(draft->ctx, &draft->ends, kept);
}

bool sv__scan_link(sv_scan *scan, sv_link *link)
{
    sv_scan inside = *scan;
    uint64_t width;
    if (!sv_scan_number(&inside, 12, &width) || !sv_scan_char(&inside, 'x') ||
        !(width == 1 || width == 2 || width == 4 || width == 8 || width == 12))
        return false;
    sv_span word = {inside.at, 0};
    if (sv_scan_text(&inside, " undefined") || sv_scan_text(&inside, "undefined")) {
        link->speed = SV_SPEED_UNKNOWN;
        inside.at = inside.end; /* "undefined (6)" */
    } else {
        if (!sv_scan_word(&inside, &word))
            return false;
        link->speed = SV_SPEED_UNKNOWN;
        for (int speed = SV_SPEED_SDR; speed < SV_SPEED_COUNT; speed++)
            if (sv_span_is(word, sv_speed_name(speed)))
                link->speed = (uint8_t)speed;
        if (link->speed == SV_SPEED_UNKNOWN && word.at[0] != '?')
            return false;
    }
    link->width = (uint8_t)width;
    *scan = inside;
    return true;
}

/* ---- finishing ---- */

/* What the ends were found to be, while building. */
struct build {
    sv__draft *draft;
    uint32_t *partner;  /* of each end: the end at the other side, or SV_ABSENT: one-sided */
    uint32_t *remote;   /* of each end: the other device */
    uint32_t *number;   /* of each device: its index among switches or adapters */
    uint32_t *terminal; /* of each end that is an adapter's: its terminal */
    bool *special;      /* of each device */
    uint32_t speed_clashes;
    uint64_t clash_line;
};

/* Finds the device and the end that an end points at, and whether that points back. */
static sv_status resolve(struct build *b, uint32_t e)
{
    sv__draft *draft = b->draft;
    const sv__draft_end *end = &draft->ends.at[e];
    const sv__draft_device *own = &draft->devices.at[end->device];
    b->remote[e] = sv__draft_find(draft, end->remote);
    if (b->remote[e] == SV_ABSENT)
        return sv__draft_fail(draft, end->line, "unknown node \"%.*s\"", SV_SPAN(end->remote));
    const sv__draft_device *other = &draft->devices.at[b->remote[e]];
    uint16_t max = other->ports == 0 ? SV__MAX_PORTS : other->ports;
    if (end->remote_port < 1 || end->remote_port > max)
        return sv__draft_fail(draft, end->line, "port %u of \"%.*s\", which has ports 1 to %u",
                              end->remote_port, SV_SPAN(end->remote), max);
    uint64_t key = (uint64_t)b->remote[e] << 16 | end->remote_port;
    b->partner[e] = sv_map_get(&draft->ports, key);
    if (b->partner[e] == e)
        return sv__draft_fail(draft, end->line, "port %u of \"%.*s\" is cabled to itself",
                              end->port, SV_SPAN(own->id));
    if (b->partner[e] == SV_ABSENT)
        return SV_OK;
    const sv__draft_end *back = &draft->ends.at[b->partner[e]];
    const sv__draft_device *seen = NULL;
    uint32_t there = sv__draft_find(draft, back->remote);
    if (there != SV_ABSENT)
        seen = &draft->devices.at[there];
    if (seen != own || back->remote_port != end->port)
        return sv__draft_fail(
            draft, end->line,
            "the ends disagree: \"%.*s\" port %u leads to \"%.*s\" port %u, which leads to "
            "\"%.*s\" port %u (line %llu)",
            SV_SPAN(own->id), end->port, SV_SPAN(end->remote), end->remote_port,
            SV_SPAN(back->remote), back->remote_port, (unsigned long long)back->line);
    return SV_OK;
}

/* A port that is only mentioned from the other side: it must not be mentioned twice. */
static sv_status claim_one_sided(struct build *b, sv_map *claimed, uint32_t e)
{
    const sv__draft_end *end = &b->draft->ends.at[e];
    uint32_t held;
    SV_TRY(sv_map_add(claimed, (uint64_t)b->remote[e] << 16 | end->remote_port, e, &held));
    if (held != e)
        return sv__draft_fail(b->draft, end->line,
                              "port %u of \"%.*s\" is used twice, first in line %llu",
                              end->remote_port, SV_SPAN(end->remote),
                              (unsigned long long)b->draft->ends.at[held].line);
    return SV_OK;
}

static sv_status resolve_all(struct build *b)
{
    sv_map claimed;
    sv_map_init(&claimed, b->draft->ctx);
    sv_status status = SV_OK;
    for (uint32_t e = 0; status == SV_OK && e < b->draft->ends.length; e++) {
        status = resolve(b, e);
        if (status == SV_OK && b->partner[e] == SV_ABSENT)
            status = claim_one_sided(b, &claimed, e);
    }
    sv_map_release(&claimed);
    return status;
}

/* Devices whose file does not tell how many ports they have get the highest number in use. */
static void count_ports(struct build *b, uint16_t *ports)
{
    for (uint32_t i = 0; i < b->draft->devices.length; i++)
        ports[i] = b->draft->devices.at[i].ports;
    for (uint32_t e = 0; e < b->draft->ends.length; e++) {
        const sv__draft_end *end = &b->draft->ends.at[e];
        uint32_t own = end->device, other = b->remote[e];
        if (b->draft->devices.at[own].ports == 0 && ports[own] < end->port)
            ports[own] = end->port;
        if (b->draft->devices.at[other].ports == 0 && ports[other] < end->remote_port)
            ports[other] = end->remote_port;
    }
    for (uint32_t i = 0; i < b->draft->devices.length; i++)
        ports[i] = ports[i] == 0 ? 1 : ports[i];
}

static void find_special(struct build *b)
{
    const sv__draft *draft = b->draft;
    for (uint32_t i = 0; i < draft->devices.length; i++)
        b->special[i] = draft->devices.at[i].kind == SV__HOST &&
                        strstr(draft->devices.at[i].name, "Aggregation Node") != NULL;
    for (uint32_t e = 0; e < draft->ends.length; e++) {
        uint32_t own = draft->ends.at[e].device, other = b->remote[e];
        const sv__draft_device *here = &draft->devices.at[own], *there = &draft->devices.at[other];
        if (here->kind == SV__HOST && there->kind == SV__SWITCH && here->system_guid != 0 &&
            here->system_guid == there->system_guid)
            b->special[own] = true;
    }
}

static sv_status add_devices(struct build *b, sv_builder *builder, const uint16_t *ports)
{
    const sv__draft *draft = b->draft;
    for (uint32_t i = 0; i < draft->devices.length; i++) {
        const sv__draft_device *d = &draft->devices.at[i];
        if (d->kind == SV__SWITCH) {
            sv_switch_info about = {.name = d->name,
                                    .guid = d->guid,
                                    .system_guid = d->system_guid,
                                    .vendor = d->vendor,
                                    .device = d->device,
                                    .ports = ports[i],
                                    .lid = d->lid,
                                    .lmc = d->lmc,
                                    .enhanced_port0 = d->enhanced_port0};
            SV_TRY(sv_builder_add_switch(builder, &about, &b->number[i]));
        } else {
            sv_adapter_info about = {.name = d->name,
                                     .guid = d->guid,
                                     .system_guid = d->system_guid,
                                     .vendor = d->vendor,
                                     .device = d->device,
                                     .ports = ports[i]};
            about.kind = d->kind == SV__ROUTER ? SV_ADAPTER_ROUTER
                         : b->special[i]       ? SV_ADAPTER_SPECIAL
                                               : SV_ADAPTER_HOST;
            SV_TRY(sv_builder_add_adapter(builder, &about, &b->number[i]));
        }
    }
    return SV_OK;
}

static sv_status add_terminal(struct build *b, sv_builder *builder, uint32_t device, uint16_t port,
                              const sv__draft_end *told, uint64_t guid, uint16_t lid,
                              uint32_t *index)
{
    const sv__draft_device *d = &b->draft->devices.at[device];
    sv_terminal_info about = {.adapter = b->number[device], .port = port, .lid = lid};
    about.guid = guid != 0 ? guid : d->guid != 0 ? d->guid + port : 0;
    about.role = d->kind == SV__HOST && !b->special[device] ? SV_ROLE_COMPUTE : SV_ROLE_OTHER;
    if (told != NULL) {
        about.lid = told->lid;
        about.lmc = told->lmc;
    }
    return sv_builder_add_terminal(builder, &about, index);
}

static sv_status add_terminals(struct build *b, sv_builder *builder)
{
    const sv__draft *draft = b->draft;
    for (uint32_t e = 0; e < draft->ends.length; e++) {
        const sv__draft_end *end = &draft->ends.at[e];
        if (draft->devices.at[end->device].kind != SV__SWITCH)
            SV_TRY(add_terminal(b, builder, end->device, end->port, end, end->guid, 0,
                                &b->terminal[e]));
    }
    return SV_OK;
}

/* What either end knows, where at least one of them does not know all. */
static sv_link either_link(const sv_link *here, const sv_link *there)
{
    sv_link link = *here;
    link.width = link.width != 0 ? link.width : there->width;
    link.speed = link.speed != SV_SPEED_UNKNOWN ? link.speed : there->speed;
    link.mtu_bytes = link.mtu_bytes != 0 ? link.mtu_bytes : there->mtu_bytes;
    link.vls = link.vls != 0 ? link.vls : there->vls;
    return link;
}

/* What the two ends say of their cable: what only one of them knows, or the slower if they differ.
 */
static sv_link agreed_link(struct build *b, const sv__draft_end *end, const sv__draft_end *back)
{
    const sv_link *here = &end->link, *there = &back->link;
    if (here->speed == SV_SPEED_UNKNOWN || here->width == 0 || there->speed == SV_SPEED_UNKNOWN ||
        there->width == 0)
        return either_link(here, there);
    if (here->speed != there->speed || here->width != there->width)
        if (b->speed_clashes++ == 0)
            b->clash_line = end->line;
    sv_link link = sv_link_mbit(there) < sv_link_mbit(here) ? *there : *here;
    if (there->vls != 0 && (here->vls == 0 || there->vls < here->vls))
        link.vls = there->vls;
    return link;
}

/* One cable, from the end that is listed first. */
static sv_status add_cable(struct build *b, sv_builder *builder, uint32_t e)
{
    const sv__draft *draft = b->draft;
    const sv__draft_end *end = &draft->ends.at[e];
    bool host = draft->devices.at[end->device].kind != SV__SWITCH;
    bool remote_host = draft->devices.at[b->remote[e]].kind != SV__SWITCH;
    sv_end near = {host, end->port, host ? b->terminal[e] : b->number[end->device]};
    sv_end far = {remote_host, end->remote_port, b->number[b->remote[e]]};
    sv_link link = end->link;
    if (b->partner[e] == SV_ABSENT) {
        link.one_sided = true;
        if (remote_host)
            SV_TRY(add_terminal(b, builder, b->remote[e], end->remote_port, NULL, end->remote_guid,
                                end->remote_lid, &far.index));
    } else {
        const sv__draft_end *back = &draft->ends.at[b->partner[e]];
        if (remote_host)
            far.index = b->terminal[b->partner[e]];
        link = agreed_link(b, end, back);
    }
    return sv_builder_add_cable(builder, near, far, &link);
}

static sv_status build_all(struct build *b, sv_builder *builder, const uint16_t *ports)
{
    const sv__draft *draft = b->draft;
    SV_TRY(add_devices(b, builder, ports));
    SV_TRY(add_terminals(b, builder));
    for (uint32_t e = 0; e < draft->ends.length; e++)
        if (b->partner[e] == SV_ABSENT || e < b->partner[e])
            SV_TRY(add_cable(b, builder, e));
    if (b->speed_clashes > 0 && b->clash_line > 0)
        sv_warn(draft->ctx, "%s:%llu: the ends of %u cable(s) differ in speed: took the slower",
                draft->name, (unsigned long long)b->clash_line, b->speed_clashes);
    else if (b->speed_clashes > 0)
        sv_warn(draft->ctx, "%s: the ends of %u cable(s) differ in speed: took the slower",
                draft->name, b->speed_clashes);
    return SV_OK;
}

static bool build_alloc(struct build *b, uint16_t **ports)
{
    sv_arena *arena = &b->draft->arena;
    size_t ends = b->draft->ends.length, devices = b->draft->devices.length;
    b->partner = SV_ARENA_NEW(arena, uint32_t, ends);
    b->remote = SV_ARENA_NEW(arena, uint32_t, ends);
    b->terminal = SV_ARENA_NEW(arena, uint32_t, ends);
    b->number = SV_ARENA_NEW(arena, uint32_t, devices);
    b->special = SV_ARENA_NEW(arena, bool, devices);
    *ports = SV_ARENA_NEW(arena, uint16_t, devices);
    return b->partner != NULL && b->remote != NULL && b->terminal != NULL && b->number != NULL &&
           b->special != NULL && *ports != NULL;
}

sv_status sv__draft_finish(sv__draft *draft, sv_fabric **fabric)
{
    struct build b = {.draft = draft};
    uint16_t *ports;
    if (draft->devices.length == 0)
        return sv__draft_fail(draft, 1, "no nodes in this file");
    if (!build_alloc(&b, &ports))
        return SV_NO_MEMORY;
    SV_TRY(resolve_all(&b));
    count_ports(&b, ports);
    find_special(&b);
    sv_builder *builder = sv_builder_new(draft->ctx);
    if (builder == NULL)
        return SV_NO_MEMORY;
    sv_status status = build_all(&b, builder, ports);
    if (status != SV_OK) {
        sv_builder_free(builder);
        return status;
    }
    return sv_builder_finish(builder, fabric);
}
