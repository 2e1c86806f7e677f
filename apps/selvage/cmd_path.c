/*
 * cmd_path.c: selvage path DIR A B: every hop of the way from A to B.
 */
#include <stdio.h>
#include <string.h>

#include "selvage/app.h"

struct path {
    const char *words[3]; /* DIR A B */
    const char *sl_text;
    uint64_t offset;
    bool json;
};

/* A walk that has been done. */
struct walked {
    const sv_fabric *f;
    const sv_routes *r;
    sv_node from, at;
    uint32_t destination, count;
    unsigned sl;
    bool sl_assumed;
    sv_hop_taken *hops;
    sv_trace_end end;
};

/* The LID of "7" and "lid 7"; false: it is something else. */
static bool is_lid(const char *text, uint64_t *lid)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    if (sv_scan_text(&scan, "lid "))
        sv_scan_blanks(&scan);
    return sv_scan_number(&scan, SV_LID_MAX, lid) && sv_scan_done(&scan) && *lid > 0;
}

/*
 * A node by name, GUID or LID ("lid 7", or just 7 if nothing is called so), any of its range.
 * *offset: of the LID from the node's base one.
 */
static sv_status find(struct app *app, const struct walked *w, const sv_index *index,
                      const char *text, sv_node *node, uint32_t *offset)
{
    const sv_routes *r = w->r;
    uint64_t lid;
    bool number = is_lid(text, &lid);
    sv_status status = strncmp(text, "lid ", 4) == 0 && number
                           ? SV_BAD_INPUT
                           : sv_index_find(app->ctx, index, text, node);
    *offset = 0;
    if (status != SV_BAD_INPUT || !number)
        return status;
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (r->lid[d] == lid && sv_node_alive(w->f, r->node[d])) {
            *node = r->node[d];
            *offset = d - r->first[node->i];
            return SV_OK;
        }
    return sv_fail(app->ctx, SV_BAD_INPUT, "no node has LID %llu", (unsigned long long)lid);
}

static const char *speed_of(const sv_link *link, char *text, size_t room)
{
    if (link->width == 0 && link->speed == SV_SPEED_UNKNOWN)
        return "?";
    snprintf(text, room, "%ux %s", link->width, sv_speed_name((sv_speed)link->speed));
    return text;
}

static void print_text(sv_text *out, const struct walked *w)
{
    const sv_fabric *f = w->f;
    char speed[32];
    sv_text_print(out, "%s to %s (LID %u), SL %u%s\n", sv_node_name(f, w->from),
                  sv_node_name(f, w->r->node[w->destination]), w->r->lid[w->destination], w->sl,
                  w->sl_assumed ? " (the files do not tell: assumed)" : "");
    for (uint32_t i = 0; i < w->count; i++) {
        sv_channel c = w->hops[i].channel;
        sv_text_print(out, "%3u  %s port %u → %s port %u   VL%u, %s\n", i + 1,
                      sv_node_name(f, f->tail[c.i]), f->port[c.i], sv_node_name(f, f->head[c.i]),
                      f->port[f->reverse[c.i].i], w->hops[i].vl,
                      speed_of(sv_link_of(f, c), speed, sizeof speed));
    }
    if (w->end == SV_TRACE_ARRIVED)
        sv_text_print(out, "arrives after %u channel%s\n", w->count, w->count == 1 ? "" : "s");
    else
        sv_text_print(out, "no path: at %s, %s\n", sv_node_name(f, w->at),
                      sv_trace_end_name(w->end));
}

static void print_json(sv_text *out, const struct walked *w)
{
    const sv_fabric *f = w->f;
    char speed[32];
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "source", sv_node_name(f, w->from));
    sv_json_text(&j, "destination", sv_node_name(f, w->r->node[w->destination]));
    sv_json_number(&j, "lid", w->r->lid[w->destination]);
    sv_json_number(&j, "sl", w->sl);
    sv_json_bool(&j, "sl_known", !w->sl_assumed);
    sv_json_bool(&j, "arrives", w->end == SV_TRACE_ARRIVED);
    sv_json_text(&j, "end", sv_trace_end_name(w->end));
    sv_json_text(&j, "at", sv_node_name(f, w->at));
    sv_json_begin_array(&j, "hops");
    for (uint32_t i = 0; i < w->count; i++) {
        sv_channel c = w->hops[i].channel;
        sv_json_begin_row(&j, NULL, '{');
        sv_json_text(&j, "from", sv_node_name(f, f->tail[c.i]));
        sv_json_number(&j, "out_port", f->port[c.i]);
        sv_json_text(&j, "to", sv_node_name(f, f->head[c.i]));
        sv_json_number(&j, "in_port", f->port[f->reverse[c.i].i]);
        sv_json_number(&j, "vl", w->hops[i].vl);
        sv_json_text(&j, "link", speed_of(sv_link_of(f, c), speed, sizeof speed));
        sv_json_end(&j, '}');
    }
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
}

static sv_status walk(struct app *app, const struct path *o, struct walked *w)
{
    sv_node to;
    uint64_t sl = 0, offset = o->offset;
    uint32_t of_from, of_to;
    sv_index *index = sv_index_new(app->ctx, w->f);
    if (index == NULL)
        return SV_NO_MEMORY;
    sv_status status = find(app, w, index, o->words[1], &w->from, &of_from);
    if (status == SV_OK)
        status = find(app, w, index, o->words[2], &to, &of_to);
    sv_index_free(index);
    SV_TRY(status);
    if (of_to > 0 && offset > 0)
        return sv_refuse(app->ctx, "LID %u is one of several of '%s': give no --offset besides",
                         w->r->lid[w->r->first[to.i] + of_to], sv_node_name(w->f, to));
    offset += of_to;
    if (offset >= w->r->first[to.i + 1] - w->r->first[to.i])
        return sv_fail(app->ctx, SV_BAD_INPUT, "\"%s\" has %u address(es): no offset %llu",
                       sv_node_name(w->f, to), w->r->first[to.i + 1] - w->r->first[to.i],
                       (unsigned long long)offset);
    w->destination = w->r->first[to.i] + (uint32_t)offset;
    if (o->sl_text != NULL)
        sv_span_number(sv_span_of(o->sl_text), SV_HARDWARE_SLS - 1, &sl);
    else
        sl = sv_route_sl(w->r, w->from, w->destination);
    w->sl_assumed = sl == SV_NO_SL;
    w->sl = w->sl_assumed ? 0 : (unsigned)sl;
    uint32_t max = w->f->num_switches + 2;
    w->hops = sv_alloc(app->ctx, max, sizeof *w->hops);
    if (w->hops == NULL)
        return SV_NO_MEMORY;
    w->end = sv_routes_trace(w->f, w->r, w->from, w->destination, w->sl, w->hops, max, &w->count,
                             &w->at);
    if (w->count > max)
        w->count = max;
    return SV_OK;
}

int cmd_path(struct app *app, int argc, char **argv)
{
    struct path o = {0};
    const app_option options[] = {
        {"sl", 0, OPTION_TEXT, &o.sl_text, "N",
         "with this service level (default: the pair's own)"},
        {"offset", 0, OPTION_NUMBER, &o.offset, "N", "to B's base LID + N (default 0)"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "DIR A B",
        "The way of packets from A to B: every hop with ports, VL and speed.\n"
        "A and B are names, GUIDs (0x…) or LIDs, any of a node's. Exit code 1: there is none.",
        "selvage path tables host0 host191", options};
    int code = app_parse(app, &usage, argc, argv, o.words, 3, 3);
    if (code >= 0)
        return code;
    uint64_t sl;
    if (o.sl_text != NULL && !sv_span_number(sv_span_of(o.sl_text), SV_HARDWARE_SLS - 1, &sl))
        return app_usage_error(app, "--sl: '%s' is not 0 to %d", o.sl_text, SV_HARDWARE_SLS - 1);
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    struct walked w = {0};
    sv_text out;
    sv_status status = app_load_tables(app, o.words[0], &f, &r);
    if (status == SV_OK) {
        w.f = f;
        w.r = r;
        status = walk(app, &o, &w);
    }
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        if (o.json)
            print_json(&out, &w);
        else
            print_text(&out, &w);
        status = app_print_end(app, &out);
    }
    code = w.end == SV_TRACE_ARRIVED ? EXIT_YES : EXIT_NO;
    sv_release(app->ctx, w.hops);
    sv_routes_free(r);
    sv_fabric_free(f);
    return status == SV_OK ? code : app_exit(app, status);
}
