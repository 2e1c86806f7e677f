/*
 * index.c: from what a user typed to a node.
 *
 * Idea: maps from names and GUIDs to switches, adapters and terminals, one for each kind of thing,
 * and one from LIDs to nodes. A key that two things of a kind answer to maps to AMBIGUOUS, so that
 * asking for it is refused instead of answered at random. An adapter stands for a node if it has
 * one live port.
 *
 * Invariant: only live things are found.
 * Cost: linear expected to build, O(length) expected to ask.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "fabric/derive.h"
#include <selvage/fabric.h>

#include "base/pool.h"

#define AMBIGUOUS (SV_ABSENT - 1)

enum kind { SWITCHES, ADAPTERS, TERMINALS, KINDS };

struct sv_index {
    sv_ctx ctx; /* for its allocator */
    sv_arena arena;
    const sv_fabric *fabric;
    sv_names names[KINDS];
    sv_map guids[KINDS];
    sv_map lids;                  /* to nodes */
    uint32_t *first, *of_adapter; /* live terminals (as nodes) of each adapter */
};

static sv_status put_number(sv_map *map, uint64_t key, uint32_t value)
{
    uint32_t held;
    SV_TRY(sv_map_add(map, key, value, &held));
    if (held != value)
        sv_map_set(map, key, AMBIGUOUS);
    return SV_OK;
}

static sv_status put_name(sv_names *names, sv_span name, uint32_t value)
{
    uint32_t held;
    if (name.length == 0)
        return SV_OK;
    SV_TRY(sv_names_add(names, name, value, &held));
    if (held != value)
        sv_names_set(names, name, AMBIGUOUS);
    return SV_OK;
}

/* A name, and what stands before its first blank ("host7 mlx5_0" answers to "host7"). */
static sv_status put_names(sv_names *names, const char *name, uint32_t value)
{
    sv_span whole = sv_span_of(name), word = {name, strcspn(name, " ")};
    SV_TRY(put_name(names, whole, value));
    return word.length == whole.length ? SV_OK : put_name(names, word, value);
}

static sv_status add_switch(sv_index *index, uint32_t s)
{
    const sv_switch_info *about = &index->fabric->switches[s];
    if (about->guid != 0)
        SV_TRY(put_number(&index->guids[SWITCHES], about->guid, s));
    if (about->lid != 0)
        SV_TRY(put_number(&index->lids, about->lid, s));
    return put_names(&index->names[SWITCHES], about->name, s);
}

/* "host7 mlx5_0/2" and "host7/2" */
static sv_status add_numbered(sv_index *index, const char *name, unsigned port, uint32_t node)
{
    size_t whole = strlen(name), word = strcspn(name, " ");
    for (int i = 0; i < 2; i++) {
        size_t length = i == 0 ? whole : word;
        if (i == 1 && word == whole)
            break;
        char *numbered = sv_arena_alloc(&index->arena, length + 8, 1);
        if (numbered == NULL)
            return SV_NO_MEMORY;
        memcpy(numbered, name, length);
        snprintf(numbered + length, 8, "/%u", port);
        SV_TRY(put_name(&index->names[TERMINALS], sv_span_of(numbered), node));
    }
    return SV_OK;
}

static sv_status add_terminal(sv_index *index, uint32_t t)
{
    const sv_fabric *f = index->fabric;
    const sv_terminal_info *about = &f->terminals[t];
    const sv_adapter_info *adapter = &f->adapters[about->adapter];
    uint32_t node = f->num_switches + t;
    if (about->guid != 0)
        SV_TRY(put_number(&index->guids[TERMINALS], about->guid, node));
    if (adapter->guid != 0)
        SV_TRY(put_number(&index->guids[ADAPTERS], adapter->guid, about->adapter));
    for (uint32_t k = 0; about->lid != 0 && k < 1u << about->lmc; k++)
        SV_TRY(put_number(&index->lids, about->lid + k, node));
    SV_TRY(put_names(&index->names[ADAPTERS], adapter->name, about->adapter));
    return add_numbered(index, adapter->name, about->port, node);
}

/* Lists the live terminals by adapter. */
static sv_status group_terminals(sv_index *index)
{
    const sv_fabric *f = index->fabric;
    uint32_t *first = SV_ARENA_NEW(&index->arena, uint32_t, (size_t)f->num_adapters + 2);
    index->first = first;
    index->of_adapter = SV_ARENA_NEW(&index->arena, uint32_t, f->num_terminals);
    if (first == NULL || index->of_adapter == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            first[f->terminals[t].adapter + 2]++;
    for (uint32_t a = 0; a < f->num_adapters; a++)
        first[a + 2] += first[a + 1];
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            index->of_adapter[first[f->terminals[t].adapter + 1]++] = f->num_switches + t;
    return SV_OK;
}

static sv_status add_all(sv_index *index)
{
    const sv_fabric *f = index->fabric;
    SV_TRY(group_terminals(index));
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            SV_TRY(add_switch(index, s));
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            SV_TRY(add_terminal(index, t));
    return SV_OK;
}

sv_index *sv_index_new(sv_ctx *ctx, const sv_fabric *fabric)
{
    sv_index *index = sv_alloc(ctx, 1, sizeof *index);
    if (index == NULL)
        return NULL;
    index->ctx.host = (sv_host){.user = ctx->host.user, .resize = ctx->host.resize};
    index->fabric = fabric;
    sv_arena_init(&index->arena, &index->ctx);
    for (int kind = 0; kind < KINDS; kind++) {
        sv_names_init(&index->names[kind], &index->ctx);
        sv_map_init(&index->guids[kind], &index->ctx);
    }
    sv_map_init(&index->lids, &index->ctx);
    if (add_all(index) != SV_OK) {
        sv_fail(ctx, SV_NO_MEMORY, "out of memory");
        sv_index_free(index);
        return NULL;
    }
    return index;
}

void sv_index_free(sv_index *index)
{
    if (index == NULL)
        return;
    for (int kind = 0; kind < KINDS; kind++) {
        sv_names_release(&index->names[kind]);
        sv_map_release(&index->guids[kind]);
    }
    sv_map_release(&index->lids);
    sv_arena_release(&index->arena);
    sv_ctx allocator = index->ctx;
    sv_release(&allocator, index);
}

uint32_t sv_index_terminals(const sv_index *index, uint32_t adapter, const sv_node **nodes)
{
    /* A node is a struct of one number: the same bytes. */
    *nodes = (const sv_node *)(const void *)(index->of_adapter + index->first[adapter]);
    return index->first[adapter + 1] - index->first[adapter];
}

/* ---- asking ---- */

/* What one kind of thing answers: a number, SV_ABSENT or AMBIGUOUS. */
static uint32_t ask(const sv_index *index, enum kind kind, const char *text)
{
    uint64_t guid;
    uint32_t found = sv_names_get(&index->names[kind], sv_span_of(text));
    sv_scan scan = sv_scan_of(sv_span_of(text));
    if (found == SV_ABSENT && strncmp(text, "0x", 2) == 0 && sv_scan_hex(&scan, &guid) &&
        sv_scan_done(&scan))
        found = sv_map_get(&index->guids[kind], guid);
    return found;
}

/* The node of "lid N". */
static uint32_t ask_lid(const sv_index *index, const char *text)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    uint64_t lid;
    if (!sv_scan_text(&scan, "lid "))
        return SV_ABSENT;
    sv_scan_blanks(&scan);
    if (!sv_scan_number(&scan, SV_LID_MAX, &lid) || !sv_scan_done(&scan))
        return SV_ABSENT;
    return sv_map_get(&index->lids, lid);
}

/* ---- refusing ---- */

void sv_node_words(const sv_fabric *f, sv_node v, char *text, size_t room)
{
    bool is_switch = sv_is_switch(f, v);
    const sv_terminal_info *about = is_switch ? NULL : sv_terminal_of(f, v);
    uint64_t guid = is_switch ? f->switches[v.i].guid : about->guid;
    uint32_t lid = is_switch ? f->switches[v.i].lid : about->lid;
    char end[8] = "", known[40] = "", place[100] = "";
    int length = 0;
    if (!is_switch)
        snprintf(end, sizeof end, "/%u", about->port);
    if (guid != 0)
        length = snprintf(known, sizeof known, " 0x%016llx", (unsigned long long)guid);
    if (lid != 0)
        snprintf(known + length, sizeof known - (size_t)length, " LID %u", lid);
    sv_node home = is_switch ? SV_NO_NODE : sv_switch_of(f, v);
    if (home.i != SV_NONE) {
        sv_channel c = f->hops[f->first[v.i]].channel;
        snprintf(place, sizeof place, " on '%.60s' port %u", sv_node_name(f, home),
                 f->port[f->reverse[c.i].i]);
    }
    snprintf(text, room, "%s'%.60s%s'%s%s", is_switch ? "switch " : "",
             is_switch ? f->switches[v.i].name : f->adapters[about->adapter].name, end, known,
             place);
}

/* Whether something of that name answers to a text, itself or with a port behind it. */
static bool called(const char *name, unsigned port, const char *text)
{
    size_t lengths[2] = {strlen(name), strcspn(name, " ")};
    char end[8] = "";
    if (port > 0)
        snprintf(end, sizeof end, "/%u", port);
    for (int i = 0; i < 2; i++)
        if (strncmp(text, name, lengths[i]) == 0 && strcmp(text + lengths[i], end) == 0)
            return true;
    return false;
}

/* Whether a node is one of those that a text may mean. guid: the text's, or 0. */
static bool answers(const sv_index *index, sv_node v, const char *text, uint64_t guid, uint64_t lid)
{
    const sv_fabric *f = index->fabric;
    if (sv_is_switch(f, v)) {
        const sv_switch_info *about = &f->switches[v.i];
        return called(about->name, 0, text) || (guid != 0 && about->guid == guid) ||
               (lid != 0 && about->lid == lid);
    }
    const sv_terminal_info *about = sv_terminal_of(f, v);
    const sv_adapter_info *adapter = &f->adapters[about->adapter];
    return called(adapter->name, 0, text) || called(adapter->name, about->port, text) ||
           (guid != 0 && (about->guid == guid || adapter->guid == guid)) ||
           (lid != 0 && lid >= about->lid && lid < about->lid + (1u << about->lmc));
}

/* "node" is told by ports, an adapter by those it has: both are terminals. */
static sv_status refuse(sv_ctx *ctx, const sv_index *index, const char *what, const char *text,
                        uint32_t found)
{
    enum { LISTED = 4, LONGEST = 230 };
    const sv_fabric *f = index->fabric;
    char all[LISTED * (LONGEST + 2) + 1] = "", more[40] = "";
    uint64_t guid = 0, lid = 0;
    uint32_t count = 0;
    size_t used = 0;
    if (found != AMBIGUOUS)
        return sv_fail(ctx, SV_BAD_INPUT, "no %s is called '%.200s'", what, text);
    sv_scan scan = sv_scan_of(sv_span_of(text));
    if (sv_scan_text(&scan, "lid "))
        sv_scan_number(&scan, SV_LID_MAX, &lid);
    else if (strncmp(text, "0x", 2) == 0 && (!sv_scan_hex(&scan, &guid) || !sv_scan_done(&scan)))
        guid = 0;
    bool switches = strcmp(what, "adapter") != 0, terminals = strcmp(what, "switch") != 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        bool wanted = v < f->num_switches ? switches : terminals;
        if (!wanted || !sv_node_alive(f, (sv_node){v}) ||
            !answers(index, (sv_node){v}, text, guid, lid) || ++count > LISTED)
            continue;
        char one[LONGEST];
        sv_node_words(f, (sv_node){v}, one, sizeof one);
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", count > 1 ? ", " : "", one);
    }
    if (count > LISTED)
        snprintf(more, sizeof more, " and %u more", count - LISTED);
    return sv_fail(ctx, SV_BAD_INPUT,
                   "more than one %s is called '%.200s': give GUID, LID or port of one: %s%s", what,
                   text, all, more);
}

/* Two answers to one question: the one there is, or AMBIGUOUS. */
static uint32_t either(uint32_t a, uint32_t b)
{
    return a == SV_ABSENT ? b : b == SV_ABSENT || a == b ? a : AMBIGUOUS;
}

sv_status sv_index_find_switch(sv_ctx *ctx, const sv_index *index, const char *text, sv_node *node)
{
    uint32_t found = ask(index, SWITCHES, text), lid = ask_lid(index, text);
    if (found == SV_ABSENT && lid < index->fabric->num_switches)
        found = lid;
    if (found == SV_ABSENT || found == AMBIGUOUS)
        return refuse(ctx, index, "switch", text, found);
    *node = (sv_node){found};
    return SV_OK;
}

/* A terminal by its own GUID, name and port, or LID. */
static uint32_t ask_terminal(const sv_index *index, const char *text)
{
    uint32_t lid = ask_lid(index, text);
    if (lid != SV_ABSENT && lid != AMBIGUOUS && lid < index->fabric->num_switches)
        lid = SV_ABSENT;
    return either(ask(index, TERMINALS, text), lid);
}

sv_status sv_index_find_adapter(sv_ctx *ctx, const sv_index *index, const char *text,
                                uint32_t *adapter)
{
    uint32_t found = ask(index, ADAPTERS, text), terminal = ask_terminal(index, text);
    if (terminal != SV_ABSENT && terminal != AMBIGUOUS)
        terminal = sv_terminal_of(index->fabric, (sv_node){terminal})->adapter;
    found = either(found, terminal);
    if (found == SV_ABSENT || found == AMBIGUOUS)
        return refuse(ctx, index, "adapter", text, found);
    *adapter = found;
    return SV_OK;
}

sv_status sv_index_find(sv_ctx *ctx, const sv_index *index, const char *text, sv_node *node)
{
    uint32_t terminal = ask_terminal(index, text), adapter = ask(index, ADAPTERS, text);
    if (terminal == SV_ABSENT && adapter != SV_ABSENT && adapter != AMBIGUOUS) {
        const sv_node *nodes;
        terminal = sv_index_terminals(index, adapter, &nodes) == 1 ? nodes[0].i : AMBIGUOUS;
    } else if (terminal == SV_ABSENT) {
        terminal = adapter;
    }
    uint32_t found = either(ask(index, SWITCHES, text), terminal), lid = ask_lid(index, text);
    found = found == SV_ABSENT ? lid : found;
    if (found == SV_ABSENT || found == AMBIGUOUS)
        return refuse(ctx, index, "node", text, found);
    *node = (sv_node){found};
    return SV_OK;
}

sv_status sv_index_find_port(sv_ctx *ctx, const sv_index *index, const char *text, unsigned port,
                             sv_channel *channel)
{
    const sv_fabric *f = index->fabric;
    sv_node v;
    uint32_t adapter;
    sv_channel found = SV_NO_CHANNEL;
    bool is_switch = sv_index_find_switch(ctx, index, text, &v) == SV_OK;
    bool is_adapter = sv_index_find_adapter(ctx, index, text, &adapter) == SV_OK;
    if (is_switch == is_adapter)
        return refuse(ctx, index, "node", text, is_switch ? AMBIGUOUS : SV_ABSENT);
    if (is_switch) {
        found = sv_channel_at(f, v, port);
    } else {
        const sv_node *nodes;
        uint32_t count = sv_index_terminals(index, adapter, &nodes);
        for (uint32_t i = 0; i < count && found.i == SV_NONE; i++)
            found = sv_channel_at(f, nodes[i], port);
    }
    if (found.i == SV_NONE)
        return sv_fail(ctx, SV_BAD_INPUT, "port %u of '%.200s' has no cable", port, text);
    *channel = found;
    return SV_OK;
}
