/*
 * net.c: from a drawing to a fabric.
 *
 * Idea: spread the terminals, lay out the ports (terminals, then cables by slot), check that they
 * fit, and hand everything to the builder. GUIDs are made from numbers: a switch's is
 * 0x02005e1a00000000 plus its number plus one, an adapter's 0x02005e1b00000000 plus sixteen times
 * that, its port's one more (as ibsim makes them). The 02 marks them as locally administered.
 *
 * Invariants: switch numbers and terminal numbers follow the family's order; terminals of a switch
 * are consecutive.
 * Cost: linear; cable ends are ordered by two counting sorts.
 */
#include "topology/net.h"

#include <stdio.h>
#include <string.h>

#define SWITCH_GUID  UINT64_C(0x02005e1a00000000)
#define ADAPTER_GUID UINT64_C(0x02005e1b00000000)

enum { MAX_SWITCHES = 1 << 22, MAX_PORTS = 65000 };
#define MAX_ENDS (UINT64_C(1) << 27)

bool sv__product(uint64_t a, uint64_t b, uint64_t *x)
{
    if (a > UINT32_MAX || b > UINT32_MAX || a * b > UINT32_MAX)
        return false;
    *x = a * b;
    return true;
}

sv_status sv__net_begin(sv__topology_net *net, uint64_t switches)
{
    if (switches == 0 || switches > MAX_SWITCHES)
        return sv__spec_infeasible(net->spec, "%llu switches: 1 to %d are possible",
                                   (unsigned long long)switches, MAX_SWITCHES);
    net->num_switches = (uint32_t)switches;
    net->names = SV_ARENA_NEW(&net->arena, const char *, switches);
    net->leaf = SV_ARENA_NEW(&net->arena, bool, switches);
    if (net->names == NULL || net->leaf == NULL)
        return SV_NO_MEMORY;
    memset(net->leaf, true, switches);
    return SV_OK;
}

sv_status sv__net_expect(sv__topology_net *net, uint64_t ports)
{
    if (ports <= MAX_ENDS)
        return SV_OK;
    return sv__spec_infeasible(net->spec, "%llu cabled ports: %llu are possible",
                               (unsigned long long)ports, (unsigned long long)MAX_ENDS);
}

sv_status sv__net_name(sv__topology_net *net, uint32_t s, const char *format, ...)
{
    char name[96];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    net->names[s] = sv_arena_text(&net->arena, name, strlen(name));
    return net->names[s] == NULL ? SV_NO_MEMORY : SV_OK;
}

sv_status sv__net_cable(sv__topology_net *net, uint32_t a, uint32_t slot_a, uint32_t b,
                        uint32_t slot_b, uint32_t copies)
{
    struct sv__net_cable cable = {a, b, slot_a, slot_b, copies};
    if (copies == 0)
        return SV_OK;
    if (2 * (net->cables.length + 1) > MAX_ENDS)
        return sv__spec_infeasible(net->spec, "more than %llu cables",
                                   (unsigned long long)(MAX_ENDS / 2));
    if ((net->cables.length & 0xffff) == 0xffff)
        SV_TRY(sv_progress(net->ctx, "drawing cables", net->cables.length, 0));
    return sv_array_push(net->ctx, &net->cables, cable);
}

/* ---- terminals ---- */

sv_status sv__net_count_hosts(sv__topology_net *net, uint32_t **result)
{
    uint64_t each, total, leaves = 0;
    uint32_t *hosts = SV_ARENA_NEW(&net->arena, uint32_t, net->num_switches);
    if (hosts == NULL)
        return SV_NO_MEMORY;
    *result = hosts;
    if (net->hosts != NULL) {
        if (sv__spec_unasked(net->spec, "hosts") || sv__spec_unasked(net->spec, "total"))
            return sv__spec_fail(net->spec, "the terminals of this system are fixed");
        memcpy(hosts, net->hosts, net->num_switches * sizeof *hosts);
        return SV_OK;
    }
    if (sv__spec_has(net->spec, "hosts") && sv__spec_has(net->spec, "total"))
        return sv__spec_fail(net->spec, "hosts= and total= exclude each other");
    SV_TRY(sv__spec_number(net->spec, "hosts", 0, MAX_PORTS, net->default_hosts, &each));
    for (uint32_t s = 0; s < net->num_switches; s++)
        leaves += net->leaf[s];
    SV_TRY(sv__spec_number(net->spec, "total", 0, MAX_ENDS, each * leaves, &total));
    uint64_t base = leaves == 0 ? 0 : total / leaves, more = leaves == 0 ? 0 : total % leaves;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        if (!net->leaf[s])
            continue;
        hosts[s] = (uint32_t)base + (more > 0);
        more -= more > 0;
    }
    return SV_OK;
}

/* ---- layout ---- */

struct layout {
    uint32_t r;
    uint32_t *hosts;
    uint32_t *used;  /* ports of each switch */
    uint32_t *order; /* cable ends by (switch, slot): end = 2 * cable + side */
    sv_link link;
    uint16_t radix, ports;
    bool own_speeds;
};

static uint32_t end_switch(const sv__topology_net *net, uint32_t end)
{
    const struct sv__net_cable *cable = &net->cables.at[end >> 1];
    return end & 1 ? cable->b : cable->a;
}

static uint32_t end_slot(const sv__topology_net *net, uint32_t end)
{
    const struct sv__net_cable *cable = &net->cables.at[end >> 1];
    return end & 1 ? cable->slot_b : cable->slot_a;
}

typedef uint32_t key_fn(const sv__topology_net *net, uint32_t end);

/* A stable counting sort of ends by a key below keys. */
static sv_status sort_by(sv__topology_net *net, const uint32_t *from, uint32_t *to, uint32_t ends,
                         key_fn *key, uint32_t keys)
{
    uint32_t *start = SV_ARENA_NEW(&net->arena, uint32_t, (size_t)keys + 1);
    if (start == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < ends; i++)
        start[key(net, from[i]) + 1]++;
    for (uint32_t k = 0; k < keys; k++)
        start[k + 1] += start[k];
    for (uint32_t i = 0; i < ends; i++)
        to[start[key(net, from[i])]++] = from[i];
    return SV_OK;
}

static sv_status order_ends(sv__topology_net *net, struct layout *layout)
{
    uint32_t ends = 2 * (uint32_t)net->cables.length, slots = 1;
    uint32_t *by_slot = SV_ARENA_NEW(&net->arena, uint32_t, ends);
    layout->order = SV_ARENA_NEW(&net->arena, uint32_t, ends);
    if (by_slot == NULL || layout->order == NULL)
        return SV_NO_MEMORY;
    for (uint32_t end = 0; end < ends; end++) {
        layout->order[end] = end;
        if (end_slot(net, end) >= slots)
            slots = end_slot(net, end) + 1;
    }
    SV_TRY(sort_by(net, layout->order, by_slot, ends, end_slot, slots));
    return sort_by(net, by_slot, layout->order, ends, end_switch, net->num_switches);
}

/* Counts the ports each switch needs and refuses what does not fit. */
static sv_status fit(sv__topology_net *net, struct layout *layout)
{
    uint64_t *used = SV_ARENA_NEW(&net->arena, uint64_t, net->num_switches), all = 0, max = 0;
    layout->used = SV_ARENA_NEW(&net->arena, uint32_t, net->num_switches);
    if (used == NULL || layout->used == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < net->cables.length; i++) {
        uint64_t copies = (uint64_t)net->cables.at[i].copies * layout->r;
        used[net->cables.at[i].a] += copies;
        used[net->cables.at[i].b] += copies;
    }
    uint64_t limit = layout->radix == 0 ? MAX_PORTS : layout->radix;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        uint64_t cables = used[s];
        used[s] += layout->hosts[s];
        if (used[s] > limit) {
            char number[24];
            snprintf(number, sizeof number, "sw%u", s);
            return sv__spec_infeasible(
                net->spec,
                "switch '%s' needs %llu ports (%u for terminals, %llu for switches) and has %llu",
                net->names[s] != NULL ? net->names[s] : number, (unsigned long long)used[s],
                layout->hosts[s], (unsigned long long)cables, (unsigned long long)limit);
        }
        all += used[s];
        max = used[s] > max ? used[s] : max;
        layout->used[s] = (uint32_t)used[s];
    }
    SV_TRY(sv__net_expect(net, all));
    layout->ports = layout->radix != 0 ? layout->radix : (uint16_t)(max == 0 ? 1 : max);
    return SV_OK;
}

/* ---- common keys ---- */

static sv_status read_speed(sv__topology_net *net, struct layout *layout)
{
    sv_span value = sv__spec_text(net->spec, "speed");
    layout->own_speeds = value.at == NULL && net->speeds != NULL;
    layout->link.speed = (uint8_t)net->default_speed;
    if (value.at == NULL)
        return SV_OK;
    for (int speed = SV_SPEED_SDR; speed < SV_SPEED_COUNT; speed++) {
        sv_span name = sv_span_of(sv_speed_name(speed));
        bool equal = name.length == value.length;
        for (size_t i = 0; equal && i < name.length; i++)
            equal = (name.at[i] | 0x20) == (value.at[i] | 0x20);
        if (equal) {
            layout->link.speed = (uint8_t)speed;
            return SV_OK;
        }
    }
    return sv__spec_fail(net->spec,
                         "speed=%.*s is none of SDR, DDR, QDR, FDR10, FDR, EDR, HDR, "
                         "NDR, XDR",
                         SV_SPAN(value));
}

static bool one_of(uint64_t number, const uint64_t *list)
{
    for (; *list != 0; list++)
        if (*list == number)
            return true;
    return false;
}

static sv_status read_common(sv__topology_net *net, struct layout *layout)
{
    uint64_t r, radix, width, mtu, vls, seed;
    SV_TRY(sv__spec_number(net->spec, "r", 1, 10000, 1, &r));
    SV_TRY(sv__spec_number(net->spec, "radix", 1, MAX_PORTS, 0, &radix));
    SV_TRY(sv__spec_number(net->spec, "width", 1, 12, 4, &width));
    SV_TRY(sv__spec_number(net->spec, "mtu", 256, 4096, 2048, &mtu));
    SV_TRY(sv__spec_number(net->spec, "vls", 1, 15, 8, &vls));
    /* Known to all, needed by some. */
    SV_TRY(sv__spec_number(net->spec, "seed", 0, UINT64_MAX - 1, 1, &seed));
    if (!one_of(width, (const uint64_t[]){1, 2, 4, 8, 12, 0}))
        return sv__spec_fail(net->spec, "width=%u is none of 1, 2, 4, 8, 12", (unsigned)width);
    if (!one_of(mtu, (const uint64_t[]){256, 512, 1024, 2048, 4096, 0}))
        return sv__spec_fail(net->spec, "mtu=%u is none of 256, 512, 1024, 2048, 4096",
                             (unsigned)mtu);
    if (!one_of(vls, (const uint64_t[]){1, 2, 4, 8, 15, 0}))
        return sv__spec_fail(net->spec, "vls=%u is none of 1, 2, 4, 8, 15", (unsigned)vls);
    layout->r = (uint32_t)r;
    layout->radix = (uint16_t)radix;
    layout->link =
        (sv_link){.width = (uint8_t)width, .mtu_bytes = (uint16_t)mtu, .vls = (uint8_t)vls};
    return read_speed(net, layout);
}

/* ---- building ---- */

static sv_status add_switches(sv__topology_net *net, const struct layout *layout,
                              sv_builder *builder)
{
    for (uint32_t s = 0; s < net->num_switches; s++) {
        char number[24];
        snprintf(number, sizeof number, "sw%u", s);
        uint64_t guid = SWITCH_GUID + s + 1;
        sv_switch_info about = {.name = net->names[s] != NULL ? net->names[s] : number,
                                .guid = guid,
                                .system_guid = guid,
                                .ports = layout->ports,
                                .enhanced_port0 = true};
        SV_TRY(sv_builder_add_switch(builder, &about, NULL));
        if ((s & 0xffff) == 0xffff)
            SV_TRY(sv_progress(net->ctx, "generating switches", s, net->num_switches));
    }
    return SV_OK;
}

static sv_link link_at(const sv__topology_net *net, const struct layout *layout, uint32_t a,
                       uint32_t b)
{
    sv_link link = layout->link;
    if (layout->own_speeds)
        link.speed = net->speeds[a] < net->speeds[b] ? net->speeds[a] : net->speeds[b];
    return link;
}

static sv_status add_terminals(sv__topology_net *net, const struct layout *layout,
                               sv_builder *builder)
{
    uint32_t number = 0;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        sv_link link = link_at(net, layout, s, s);
        for (uint32_t h = 0; h < layout->hosts[s]; h++, number++) {
            char name[24];
            snprintf(name, sizeof name, "host%u", number);
            uint64_t guid = ADAPTER_GUID + 16 * ((uint64_t)number + 1);
            sv_adapter_info card = {.name = name, .guid = guid, .system_guid = guid, .ports = 1};
            sv_terminal_info end = {.guid = guid + 1, .adapter = number, .port = 1};
            end.role = number < net->compute ? SV_ROLE_COMPUTE : SV_ROLE_OTHER;
            SV_TRY(sv_builder_add_adapter(builder, &card, NULL));
            SV_TRY(sv_builder_add_terminal(builder, &end, NULL));
            SV_TRY(sv_builder_add_cable(builder, (sv_end){.index = s, .port = (uint16_t)(h + 1)},
                                        (sv_end){.terminal = true, .index = number, .port = 1},
                                        &link));
            if ((number & 0xffff) == 0xffff)
                SV_TRY(sv_progress(net->ctx, "generating terminals", number, 0));
        }
    }
    return SV_OK;
}

/* Gives every cable end its first port: in slot order behind the terminals. */
static sv_status assign_ports(sv__topology_net *net, const struct layout *layout, uint16_t **result)
{
    uint32_t ends = 2 * (uint32_t)net->cables.length;
    uint32_t *next = SV_ARENA_NEW(&net->arena, uint32_t, net->num_switches);
    uint16_t *port = SV_ARENA_NEW(&net->arena, uint16_t, ends);
    if (next == NULL || port == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < net->num_switches; s++)
        next[s] = layout->hosts[s] + 1;
    for (uint32_t i = 0; i < ends; i++) {
        uint32_t end = layout->order[i], s = end_switch(net, end);
        port[end] = (uint16_t)next[s];
        next[s] += net->cables.at[end >> 1].copies * layout->r;
    }
    *result = port;
    return SV_OK;
}

static sv_status add_cables(sv__topology_net *net, const struct layout *layout, sv_builder *builder)
{
    uint16_t *port;
    SV_TRY(assign_ports(net, layout, &port));
    for (uint32_t i = 0; i < net->cables.length; i++) {
        const struct sv__net_cable *cable = &net->cables.at[i];
        sv_link link = link_at(net, layout, cable->a, cable->b);
        for (uint32_t k = 0; k < cable->copies * layout->r; k++)
            SV_TRY(sv_builder_add_cable(
                builder, (sv_end){.index = cable->a, .port = (uint16_t)(port[2 * i] + k)},
                (sv_end){.index = cable->b, .port = (uint16_t)(port[2 * i + 1] + k)}, &link));
        if ((i & 0xffff) == 0)
            SV_TRY(sv_progress(net->ctx, "generating", i, net->cables.length));
    }
    return SV_OK;
}

sv_status sv__net_finish(sv__topology_net *net, sv_fabric **fabric)
{
    struct layout layout = {0};
    SV_TRY(read_common(net, &layout));
    SV_TRY(sv__net_count_hosts(net, &layout.hosts));
    SV_TRY(fit(net, &layout));
    SV_TRY(order_ends(net, &layout));
    sv_builder *builder = sv_builder_new(net->ctx);
    if (builder == NULL)
        return SV_NO_MEMORY;
    sv_status status = add_switches(net, &layout, builder);
    if (status == SV_OK)
        status = add_terminals(net, &layout, builder);
    if (status == SV_OK)
        status = add_cables(net, &layout, builder);
    if (status != SV_OK) {
        sv_builder_free(builder);
        return status;
    }
    return sv_builder_finish(builder, fabric);
}
