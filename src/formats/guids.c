/*
 * guids.c: OpenSM's GUID files: one GUID a line. Roots are switches, by node GUID; compute and I/O
 * nodes, and hosts in the order they are to be routed, are adapters' ports, by port GUID (opensm's
 * manual page).
 *
 * Roots are the switches farthest from the terminals, which in a tree are its top level. Where
 * every switch has terminals there is no top; then the root is a centre of the switch graph: the
 * switch whose farthest other one is nearest, the first of them. Of more than 2,048 switches only
 * every second, third, … is tried.
 *
 * Cost: linear, but for the centre: 2,048 searches at most.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "fabric/derive.h"
#include "formats/formats.h"

enum { MAX_TRIED = 2048 };

static void write_guid(sv_text *out, uint64_t guid)
{
    sv_text_print(out, "0x%016llx\n", (unsigned long long)guid);
}

/* The largest distance from a switch to any it can reach, and how many it can. */
static uint32_t eccentricity(const sv_fabric *f, uint32_t from, uint32_t *distance, uint32_t *queue,
                             uint32_t *reached)
{
    uint32_t head = 0, tail = 0, last = from;
    memset(distance, 0xff, f->num_switches * sizeof *distance);
    distance[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        last = queue[head++];
        SV_FOR_HOPS (f, ((sv_node){last}), hop)
            if (sv_is_switch(f, hop->to) && distance[hop->to.i] == SV_NONE) {
                distance[hop->to.i] = distance[last] + 1;
                queue[tail++] = hop->to.i;
            }
    }
    *reached = tail;
    return distance[last];
}

static sv_status write_centre(sv_text *out, const sv_fabric *f, sv_arena *arena)
{
    uint32_t *distance = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    uint32_t *queue = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    uint32_t best = SV_NONE, min = SV_NONE, max = 0, reached;
    uint32_t step = f->num_switches / MAX_TRIED + 1;
    if (distance == NULL || queue == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s += step) {
        if (!sv_node_alive(f, (sv_node){s}) || sv_degree(f, (sv_node){s}) == 0)
            continue;
        SV_TRY(sv_progress(out->ctx, "centre", s, f->num_switches));
        uint32_t farthest = eccentricity(f, s, distance, queue, &reached);
        /* In a fabric that fell apart, the middle of the largest piece. */
        if (reached > max || (reached == max && farthest < min)) {
            max = reached;
            min = farthest;
            best = s;
        }
    }
    if (best != SV_NONE)
        write_guid(out, f->switches[best].guid);
    return out->status;
}

sv_status sv__write_root_guids(sv_text *out, const sv_fabric *f)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    uint32_t highest, *level = sv_switch_levels(&arena, f, &highest);
    sv_status status = level == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK && highest == 0)
        status = write_centre(out, f, &arena);
    else if (status == SV_OK)
        for (uint32_t s = 0; s < f->num_switches; s++)
            if (level[s] == highest && sv_node_alive(f, (sv_node){s}))
                write_guid(out, f->switches[s].guid);
    sv_arena_release(&arena);
    return status;
}

static sv_status write_role(sv_text *out, const sv_fabric *f, sv_role role)
{
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (f->terminals[t].role == role && sv_node_alive(f, (sv_node){f->num_switches + t}))
            write_guid(out, f->terminals[t].guid);
    return out->status;
}

sv_status sv__write_cn_guids(sv_text *out, const sv_fabric *fabric)
{
    return write_role(out, fabric, SV_ROLE_COMPUTE);
}

sv_status sv__write_io_guids(sv_text *out, const sv_fabric *fabric)
{
    return write_role(out, fabric, SV_ROLE_IO);
}

/* ---- reading ---- */

/* What a list of GUIDs is for: called with the index of each that is known. */
typedef sv_status guid_fn(sv_lines *lines, uint32_t index, void *arg);

/* A list that was read: GUIDs that the fabric does not have. */
struct list {
    uint32_t missing;
    uint64_t guid, line; /* of the first of them */
    uint64_t lines;      /* of the file */
};

static void miss(struct list *list, const sv_lines *lines, uint64_t guid)
{
    if (list->missing++ > 0)
        return;
    list->guid = guid;
    list->line = lines->number;
}

static sv_status read_guids(sv_lines *lines, const sv_map *known, const uint32_t *next, guid_fn *fn,
                            void *arg, struct list *list)
{
    for (;;) {
        sv_span line;
        bool more;
        uint64_t guid;
        SV_TRY(sv_lines_next(lines, &line, &more));
        list->lines = lines->number;
        if (!more)
            return SV_OK;
        sv_scan scan = sv_scan_of(line);
        sv_scan_blanks(&scan);
        if (sv_scan_done(&scan) || *scan.at == '#')
            continue;
        bool good = sv_scan_hex(&scan, &guid);
        sv_scan_blanks(&scan);
        if (!good || !(sv_scan_done(&scan) || *scan.at == '#'))
            return sv_lines_fail(lines, "'%.*s' is not a GUID", SV_SPAN(line));
        uint32_t index = sv_map_get(known, guid);
        if (index == SV_ABSENT)
            miss(list, lines, guid);
        for (; index != SV_ABSENT; index = next[index])
            SV_TRY(fn(lines, index, arg));
    }
}

/* Tells whoever wants to know. */
static void tell_missing(sv_ctx *ctx, const sv_source *source, const struct list *list,
                         const char *what, uint32_t *unknown)
{
    char more[60] = "";
    if (unknown == NULL)
        return;
    *unknown = list->missing;
    if (list->missing > 1)
        snprintf(more, sizeof more, ", nor %s %u more GUID%s of this file",
                 list->missing == 2 ? "is" : "are", list->missing - 1,
                 list->missing == 2 ? "" : "s");
    if (list->missing > 0)
        sv_warn_content(ctx, source->name, list->line, "0x%016llx is no %s of the fabric%s",
                        (unsigned long long)list->guid, what, more);
}

/* A list that has nothing. */
static sv_status fail_empty(sv_ctx *ctx, const sv_source *source, const struct list *list,
                            const char *what)
{
    if (list->missing == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "%s:%llu: no GUIDs in it", source->name,
                       (unsigned long long)(list->lines > 0 ? list->lines : 1));
    return sv_fail_content(ctx, source->name, list->line,
                           "none of its GUIDs is a %s of the fabric, 0x%016llx is the first", what,
                           (unsigned long long)list->guid);
}

/* Reads a list with a map from the GUIDs of terminals, or of switches; a GUID may be several's. */
static sv_status read_list(sv_ctx *ctx, const sv_fabric *f, const sv_source *source, bool switches,
                           bool dead_too, guid_fn *fn, void *arg, struct list *list)
{
    sv_map known;
    sv_lines lines;
    uint32_t count = switches ? f->num_switches : f->num_terminals;
    uint32_t *next = sv_alloc(ctx, count, sizeof *next); /* with the same GUID, or SV_ABSENT */
    if (next == NULL)
        return SV_NO_MEMORY;
    *list = (struct list){0};
    sv_map_init(&known, ctx);
    sv_status status = sv_lines_init(&lines, ctx, source);
    for (uint32_t i = count; status == SV_OK && i-- > 0;) {
        uint64_t guid = switches ? f->switches[i].guid : f->terminals[i].guid;
        sv_node node = {switches ? i : f->num_switches + i};
        if (guid == 0 || (!dead_too && !sv_node_alive(f, node)))
            continue;
        next[i] = sv_map_get(&known, guid);
        status = sv_map_add(&known, guid, i, NULL);
        if (status == SV_OK)
            sv_map_set(&known, guid, i);
    }
    if (status == SV_OK)
        status = read_guids(&lines, &known, next, fn, arg, list);
    sv_lines_release(&lines);
    sv_map_release(&known);
    sv_release(ctx, next);
    return status;
}

struct roles {
    sv_role role, *roles;
};

static sv_status set_role(sv_lines *lines, uint32_t terminal, void *arg)
{
    (void)lines;
    const struct roles *r = arg;
    r->roles[terminal] = r->role;
    return SV_OK;
}

sv_status sv_roles_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source, sv_role role,
                        sv_role *roles, uint32_t *unknown)
{
    struct roles r = {role, roles};
    struct list list;
    SV_TRY(read_list(ctx, fabric, source, false, true, set_role, &r, &list));
    tell_missing(ctx, source, &list, "host", unknown);
    return SV_OK;
}

struct roots {
    sv_node *nodes;
    size_t length, room;
};

static sv_status add_root(sv_lines *lines, uint32_t s, void *arg)
{
    struct roots *r = arg;
    for (size_t i = 0; i < r->length; i++)
        if (r->nodes[i].i == s)
            return SV_OK;
    if (r->length == r->room)
        return sv_lines_fail(lines, "more roots than switches");
    r->nodes[r->length++] = (sv_node){s};
    return SV_OK;
}

sv_status sv_roots_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                        sv_node *roots, size_t *count, uint32_t *unknown)
{
    struct roots r = {roots, 0, fabric->num_switches};
    struct list list;
    SV_TRY(read_list(ctx, fabric, source, true, false, add_root, &r, &list));
    if (r.length == 0)
        return fail_empty(ctx, source, &list, "switch");
    tell_missing(ctx, source, &list, "switch", unknown);
    *count = r.length;
    return SV_OK;
}

struct hosts {
    const sv_fabric *fabric;
    sv_node *nodes;
    size_t length;
    bool *listed; /* [terminals] */
};

static sv_status add_host(sv_lines *lines, uint32_t terminal, void *arg)
{
    (void)lines;
    struct hosts *h = arg;
    if (!h->listed[terminal])
        h->nodes[h->length++] = (sv_node){h->fabric->num_switches + terminal};
    h->listed[terminal] = true;
    return SV_OK;
}

sv_status sv_hosts_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                        sv_node *hosts, size_t *count, uint32_t *unknown)
{
    struct hosts h = {.fabric = fabric,
                      .nodes = hosts,
                      .listed = sv_alloc(ctx, fabric->num_terminals, sizeof *h.listed)};
    struct list list;
    if (h.listed == NULL)
        return SV_NO_MEMORY;
    sv_status status = read_list(ctx, fabric, source, false, false, add_host, &h, &list);
    sv_release(ctx, h.listed);
    if (status == SV_OK && h.length == 0)
        status = fail_empty(ctx, source, &list, "host");
    if (status != SV_OK)
        return status;
    tell_missing(ctx, source, &list, "host", unknown);
    *count = h.length;
    return SV_OK;
}
