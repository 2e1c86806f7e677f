/*
 * oddities.c: what looks wrong in a fabric that is formally fine.
 *
 * Idea: count each kind of oddity and keep one example of it in words, so that a report is short
 * however broken the fabric is.
 *
 * Cost: linear, expected.
 */
#include <stdio.h>

#include "base/map.h"
#include <selvage/fabric.h>

#include "base/pool.h"

struct watcher {
    sv_ctx *ctx;
    const sv_fabric *f;
    sv_oddities *found;
};

const char *sv_oddity_name(sv_oddity_kind kind)
{
    static const char *const names[SV_ODD_COUNT] = {"isolated switch",
                                                    "isolated adapter",
                                                    "cable listed at one end only",
                                                    "cable between switches unlike most others",
                                                    "cable to a terminal unlike most others",
                                                    "duplicate name",
                                                    "duplicate GUID",
                                                    "duplicate LID",
                                                    "cable from a switch to itself",
                                                    "adapters cabled to each other",
                                                    "node without GUID"};
    return (unsigned)kind < SV_ODD_COUNT ? names[kind] : "?";
}

static void SV_PRINTF(3, 4) notice(struct watcher *w, sv_oddity_kind kind, const char *format, ...)
{
    if (w->found->count[kind]++ > 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(w->found->example[kind], sizeof w->found->example[kind], format, args);
    va_end(args);
}

static void watch_cables(struct watcher *w)
{
    const sv_fabric *f = w->f;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_channel_alive(f, channel) || !sv_is_cable(f, channel))
            continue;
        const char *from = sv_node_name(f, f->tail[c]), *to = sv_node_name(f, f->head[c]);
        unsigned port = f->port[c], far = f->port[f->reverse[c].i];
        if (sv_link_of(f, channel)->one_sided)
            notice(w, SV_ODD_ONE_SIDED, "'%s' port %u to '%s' port %u", from, port, to, far);
        if (f->tail[c].i == f->head[c].i)
            notice(w, SV_ODD_LOOPBACK, "'%s' ports %u and %u", from, port, far);
        if (!sv_is_switch(f, f->tail[c]) && !sv_is_switch(f, f->head[c]))
            notice(w, SV_ODD_BACK_TO_BACK, "'%s' and '%s'", from, to);
    }
}

/*
 * The width and speed most cables have, among those between switches or those to terminals; others
 * are odd.
 */
static sv_status watch_speeds(struct watcher *w, sv_arena *scratch, sv_oddity_kind kind)
{
    const sv_fabric *f = w->f;
    bool switches = kind == SV_ODD_MIXED_SPEEDS;
    uint32_t *count = SV_ARENA_NEW(scratch, uint32_t, 65536);
    if (count == NULL)
        return SV_NO_MEMORY;
    uint32_t usual = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t c = 0; c < f->num_channels; c++) {
            sv_channel channel = {c};
            bool mine = switches ? sv_is_cable(f, channel) && sv_joins_switches(f, channel)
                                 : !sv_is_switch(f, f->tail[c]);
            if (!mine || !sv_channel_alive(f, channel))
                continue;
            const sv_link *link = sv_link_of(f, channel);
            uint32_t key = (uint32_t)link->width << 8 | link->speed;
            if (pass == 0 && ++count[key] > count[usual])
                usual = key;
            if (pass == 1 && key != usual)
                notice(w, kind, "'%s' port %u is %ux%s, most are %ux%s",
                       sv_node_name(f, f->tail[c]), f->port[c], link->width,
                       sv_speed_name(link->speed), usual >> 8, sv_speed_name(usual & 255));
        }
    }
    return SV_OK;
}

static sv_status watch_name(struct watcher *w, sv_names *names, const char *name)
{
    size_t before = names->count;
    if (name[0] == 0)
        return SV_OK;
    SV_TRY(sv_names_add(names, sv_span_of(name), 0, NULL));
    if (names->count == before)
        notice(w, SV_ODD_DUPLICATE_NAME, "'%s'", name);
    return SV_OK;
}

/* ---- GUIDs ---- */

/*
 * Switches, terminals (their ports) and adapters share one space of GUIDs: an owner is a node, or
 * behind them an adapter. An adapter may call one of its ports as itself.
 */
static bool is_own_port(const sv_fabric *f, uint32_t a, uint32_t b)
{
    uint32_t nodes = sv_num_nodes(f), node = a < b ? a : b, adapter = (a < b ? b : a) - nodes;
    return (a >= nodes) != (b >= nodes) && node >= f->num_switches &&
           f->terminals[node - f->num_switches].adapter == adapter;
}

/* "'host0/1' on 'leaf3' port 4", "switch 'leaf3'", "adapter 'host0' on …": which one it is. */
static void owner_words(const sv_fabric *f, uint32_t owner, char *text, size_t room)
{
    uint32_t nodes = sv_num_nodes(f), t = 0;
    char place[100] = "";
    if (owner < f->num_switches) {
        snprintf(text, room, "switch '%.60s'", f->switches[owner].name);
        return;
    }
    while (owner >= nodes && t < f->num_terminals &&
           (f->terminals[t].adapter != owner - nodes ||
            !sv_node_alive(f, (sv_node){f->num_switches + t})))
        t++;
    sv_node v = {owner < nodes ? owner : f->num_switches + t};
    sv_node home = v.i < nodes ? sv_switch_of(f, v) : SV_NO_NODE;
    if (home.i != SV_NONE) {
        sv_channel c = f->hops[f->first[v.i]].channel;
        snprintf(place, sizeof place, " on '%.60s' port %u", sv_node_name(f, home),
                 f->port[f->reverse[c.i].i]);
    }
    if (owner < nodes)
        snprintf(text, room, "'%.60s/%u'%s", sv_node_name(f, v), sv_terminal_of(f, v)->port, place);
    else
        snprintf(text, room, "adapter '%.60s'%s", f->adapters[owner - nodes].name, place);
}

static sv_status watch_guid(struct watcher *w, sv_map *guids, uint64_t guid, uint32_t owner)
{
    uint32_t held = owner;
    if (guid == 0)
        return SV_OK;
    SV_TRY(sv_map_add(guids, guid, owner, &held));
    if (held == owner || is_own_port(w->f, held, owner))
        return SV_OK;
    char first[180], second[180];
    owner_words(w->f, held, first, sizeof first);
    owner_words(w->f, owner, second, sizeof second);
    notice(w, SV_ODD_DUPLICATE_GUID, "0x%016llx of %s and %s", (unsigned long long)guid, first,
           second);
    return SV_OK;
}

static void watch_lid(struct watcher *w, uint64_t *lids, unsigned lid, unsigned lmc,
                      const char *name)
{
    for (unsigned k = 0; lid != 0 && k < 1u << lmc; k++) {
        if (sv_bit(lids, lid + k)) {
            notice(w, SV_ODD_DUPLICATE_LID, "lid %u ('%s')", lid + k, name);
            return;
        }
        sv_bit_set(lids, lid + k);
    }
}

/* For each adapter, whether it has a live cable, and whether all its ports died. */
static sv_status watch_adapters(struct watcher *w, sv_arena *scratch, sv_names *names,
                                sv_map *guids)
{
    const sv_fabric *f = w->f;
    enum { CABLED = 1, DEAD = 2, ALIVE = 4 };
    uint8_t *state = SV_ARENA_NEW(scratch, uint8_t, f->num_adapters);
    if (state == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        uint8_t *mine = &state[f->terminals[t].adapter];
        *mine |=
            (uint8_t)((sv_degree(f, v) > 0 ? CABLED : 0) | (sv_node_alive(f, v) ? ALIVE : DEAD));
    }
    for (uint32_t a = 0; a < f->num_adapters; a++) {
        const sv_adapter_info *about = &f->adapters[a];
        if (state[a] == DEAD)
            continue;
        if (!(state[a] & CABLED))
            notice(w, SV_ODD_ISOLATED_ADAPTER, "'%s'", about->name);
        /* Aggregation nodes are all called the same; that is how they come. */
        SV_TRY(watch_name(w, names, about->kind == SV_ADAPTER_SPECIAL ? "" : about->name));
        if (about->guid == 0)
            notice(w, SV_ODD_NO_GUID, "'%s'", about->name);
        SV_TRY(watch_guid(w, guids, about->guid, sv_num_nodes(f) + a));
    }
    return SV_OK;
}

static sv_status watch_nodes(struct watcher *w, sv_arena *scratch, sv_names *names, sv_map *guids)
{
    const sv_fabric *f = w->f;
    uint64_t *lids = sv_bitset_new(scratch, 2 * 65536);
    if (lids == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        sv_node v = {s};
        const sv_switch_info *about = &f->switches[s];
        if (!sv_node_alive(f, v))
            continue;
        if (sv_degree(f, v) == 0)
            notice(w, SV_ODD_ISOLATED_SWITCH, "'%s'", about->name);
        SV_TRY(watch_name(w, names, about->name));
        if (about->guid == 0)
            notice(w, SV_ODD_NO_GUID, "'%s'", about->name);
        SV_TRY(watch_guid(w, guids, about->guid, s));
        watch_lid(w, lids, about->lid, about->lmc, about->name);
    }
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        const sv_terminal_info *about = &f->terminals[t];
        if (!sv_node_alive(f, (sv_node){f->num_switches + t}))
            continue;
        watch_lid(w, lids, about->lid, about->lmc, f->adapters[about->adapter].name);
        SV_TRY(watch_guid(w, guids, about->guid, f->num_switches + t));
    }
    return watch_adapters(w, scratch, names, guids);
}

sv_status sv_fabric_oddities(sv_ctx *ctx, const sv_fabric *fabric, sv_oddities *oddities)
{
    sv_oddities found = {{0}, {{0}}};
    struct watcher w = {ctx, fabric, &found};
    sv_arena scratch;
    sv_names names;
    sv_map guids;
    sv_arena_init(&scratch, ctx);
    sv_names_init(&names, ctx);
    sv_map_init(&guids, ctx);
    watch_cables(&w);
    sv_status status = watch_speeds(&w, &scratch, SV_ODD_MIXED_SPEEDS);
    if (status == SV_OK)
        status = watch_speeds(&w, &scratch, SV_ODD_MIXED_TERMINALS);
    if (status == SV_OK)
        status = watch_nodes(&w, &scratch, &names, &guids);
    sv_map_release(&guids);
    sv_names_release(&names);
    sv_arena_release(&scratch);
    if (status == SV_OK)
        *oddities = found;
    return status;
}
