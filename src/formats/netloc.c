/*
 * netloc.c: the nodes file of netloc (hwloc's network part): JSON with an object of nodes by id and
 * one of edges by number; an edge is one direction of a cable.
 *
 * The id of a node is a GUID in groups of four digits, of a host's port rather than the host; its
 * logical id is the LID. How many ports a switch has is not in the file: the highest number in use
 * is taken.
 *
 * JSON is parsed by jansson; errors in it have jansson's line, errors in what it says the line of
 * the node or edge (json_walk.h), though most of these files are one long line.
 *
 * Cost: linear in the text, plus its tree in memory.
 */
#include <string.h>

#include "base/json_walk.h"
#include "formats/draft.h"
#include "formats/formats.h"

#ifndef SELVAGE_JANSSON

sv_status sv__read_netloc(sv_lines *lines, sv_fabric **fabric)
{
    (void)fabric;
    return sv_fail(lines->ctx, SV_UNSUPPORTED, "%s:1: this build has no jansson: no JSON files",
                   lines->source->name);
}

#else

#include <jansson.h>

enum { HOST_TYPE = 2, SWITCH_TYPE = 1 };

struct reader {
    sv__draft draft;
    sv_names lines[2]; /* of nodes and of edges, by their keys */
};

/* Notes the lines of the members of an object of the whole. */
static sv_status note_lines(sv_names *lines, sv_span text, const char *key)
{
    sv_json_walk walk = sv_json_walk_of(text);
    if (!sv_json_walk_to(&walk, key))
        return SV_OK;
    walk = sv_json_walk_into(&walk);
    while (sv_json_walk_next(&walk))
        SV_TRY(sv_names_add(lines, walk.key, walk.line > SV_ABSENT - 1 ? 1 : (uint32_t)walk.line,
                            NULL));
    return SV_OK;
}

/* The line of a member; that of the whole if its key is written with escapes. */
static uint64_t line_of(const sv_names *lines, const char *key)
{
    uint32_t line = sv_names_get(lines, sv_span_of(key));
    return line == SV_ABSENT ? 1 : line;
}

/* "0002:c903:0006:dc31" */
static bool to_guid(const char *text, uint64_t *guid)
{
    *guid = 0;
    size_t digits = 0;
    for (; *text != 0; text++) {
        if (*text == ':')
            continue;
        sv_span one = {text, 1};
        sv_scan scan = sv_scan_of(one);
        uint64_t digit;
        if (!sv_scan_hex(&scan, &digit) || ++digits > 16)
            return false;
        *guid = *guid << 4 | digit;
    }
    return digits > 0;
}

/* The text of a member, or NULL. */
static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool number_of(const json_t *object, const char *key, uint64_t max, uint64_t *number)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value)) {
        json_int_t integer = json_integer_value(value);
        *number = (uint64_t)integer;
        return integer >= 0 && (uint64_t)integer <= max;
    }
    const char *text = json_string_value(value);
    return text != NULL && sv_span_number(sv_span_of(text), max, number);
}

static sv_status read_node(struct reader *r, const char *id, const json_t *node)
{
    uint64_t type, lid = 0, line = line_of(&r->lines[0], id);
    sv__draft_device d = {.id = sv_span_of(id), .line = line};
    if (!number_of(node, "node_type", 2, &type) || type < SWITCH_TYPE)
        return sv__draft_fail(&r->draft, line, "node %s has no node_type 1 or 2", id);
    if (!to_guid(id, &d.guid))
        return sv__draft_fail(&r->draft, line, "node id '%s' is not a GUID", id);
    d.kind = type == HOST_TYPE ? SV__HOST : SV__SWITCH;
    d.system_guid = d.guid;
    if (number_of(node, "log_id", SV_LID_MAX, &lid) && d.kind == SV__SWITCH)
        d.lid = (uint16_t)lid;
    const char *name = text_of(node, "desc");
    sv_span text = sv_span_of(name == NULL ? id : name);
    if (text.length >= 2 && text.at[0] == '\'' && text.at[text.length - 1] == '\'')
        text = (sv_span){text.at + 1, text.length - 2};
    d.name = sv__draft_name(&r->draft, text);
    uint32_t index;
    return d.name == NULL ? SV_NO_MEMORY : sv__draft_add_device(&r->draft, &d, &index);
}

static sv_status read_edge(struct reader *r, const char *number, const json_t *edge,
                           const json_t *nodes)
{
    const char *from = text_of(edge, "src_node_id"), *to = text_of(edge, "dest_node_id");
    const char *width = text_of(edge, "width"), *speed = text_of(edge, "speed");
    uint64_t port, remote_port, lid, line = line_of(&r->lines[1], number);
    if (from == NULL || to == NULL)
        return sv__draft_fail(&r->draft, line, "edge %s lacks a node", number);
    if (!number_of(edge, "src_port_id", SV__MAX_PORTS, &port) ||
        !number_of(edge, "dest_port_id", SV__MAX_PORTS, &remote_port))
        return sv__draft_fail(&r->draft, line, "edge %s lacks a port in 1 to %d", number,
                              SV__MAX_PORTS);
    uint32_t device = sv__draft_find(&r->draft, sv_span_of(from));
    if (device == SV_ABSENT)
        return sv__draft_fail(&r->draft, line, "edge %s leaves unknown node %s", number, from);
    sv__draft_end end = {.device = device,
                         .port = (uint16_t)port,
                         .remote = sv_span_of(to),
                         .remote_port = (uint16_t)remote_port,
                         .line = line};
    char link[64];
    size_t length = 0;
    const char *parts[2] = {width, speed};
    for (int i = 0; i < 2; i++)
        for (const char *c = parts[i]; c != NULL && *c != 0 && length + 1 < sizeof link; c++)
            link[length++] = *c;
    sv_scan scan = sv_scan_of((sv_span){link, length});
    sv__scan_link(&scan, &end.link);
    const sv__draft_device *d = &r->draft.devices.at[device];
    if (d->kind == SV__HOST) {
        end.guid = d->guid; /* ids of hosts are those of their ports */
        if (number_of(json_object_get(nodes, from), "log_id", SV_LID_MAX, &lid))
            end.lid = (uint16_t)lid;
    }
    return sv__draft_add_end(&r->draft, &end);
}

static sv_status read_tree(struct reader *r, json_t *root)
{
    json_t *nodes = json_object_get(root, "node_info");
    json_t *edges = json_object_get(root, "edge_info");
    if (!json_is_object(nodes) || !json_is_object(edges))
        return sv__draft_fail(&r->draft, 1,
                              "JSON without node_info and edge_info: not a netloc "
                              "nodes file");
    for (void *i = json_object_iter(nodes); i != NULL; i = json_object_iter_next(nodes, i))
        SV_TRY(read_node(r, json_object_iter_key(i), json_object_iter_value(i)));
    for (void *i = json_object_iter(edges); i != NULL; i = json_object_iter_next(edges, i))
        SV_TRY(read_edge(r, json_object_iter_key(i), json_object_iter_value(i), nodes));
    return SV_OK;
}

static sv_status read_text(struct reader *r, json_t *root, sv_span text, sv_fabric **fabric)
{
    SV_TRY(note_lines(&r->lines[0], text, "node_info"));
    SV_TRY(note_lines(&r->lines[1], text, "edge_info"));
    SV_TRY(read_tree(r, root));
    return sv__draft_finish(&r->draft, fabric);
}

sv_status sv__read_netloc(sv_lines *lines, sv_fabric **fabric)
{
    struct reader r = {0};
    sv_json_feed feed = {.lines = lines};
    json_error_t error;
    sv__draft_init(&r.draft, lines->ctx, lines->source->name);
    sv_names_init(&r.lines[0], lines->ctx);
    sv_names_init(&r.lines[1], lines->ctx);
    json_t *root = json_load_callback(sv_json_feed_more, &feed, JSON_REJECT_DUPLICATES, &error);
    sv_status status = feed.status;
    if (status == SV_OK && root == NULL)
        status = sv_fail_content(lines->ctx, lines->source->name,
                                 error.line > 0 ? (uint64_t)error.line : 1, "JSON: %s", error.text);
    if (status == SV_OK)
        status = read_text(&r, root, (sv_span){feed.text.at, feed.text.length}, fabric);
    sv_names_release(&r.lines[1]);
    sv_names_release(&r.lines[0]);
    sv__draft_release(&r.draft);
    json_decref(root);
    sv_array_release(lines->ctx, &feed.text);
    return status;
}

#endif
