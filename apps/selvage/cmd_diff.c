/*
 * cmd_diff.c: selvage diff A B: what is different between two fabrics, planned and found say.
 * Exit code 0: nothing; 1: something.
 */
#include <string.h>

#include "selvage/app.h"

static const char *const kinds[] = {"added", "lost", "moved", "changed", "renamed"};
static const char *const whats[] = {"switch", "adapter", "cable"};

/* 'name' port 3 */
static void print_end(sv_text *out, const sv_fabric *f, sv_node v, unsigned port)
{
    sv_text_print(out, "'%s' port %u", sv_node_name(f, v), port);
}

static void print_cable(sv_text *out, const sv_fabric *f, uint32_t c)
{
    print_end(out, f, f->tail[c], f->port[c]);
    sv_text_print(out, " to ");
    print_end(out, f, f->head[c], f->port[f->reverse[c].i]);
}

static void print_link(sv_text *out, const sv_fabric *f, uint32_t c)
{
    const sv_link *link = sv_link_of(f, (sv_channel){c});
    sv_text_print(out, "%ux%s", link->width, sv_speed_name(link->speed));
}

static void print_change(sv_text *out, const sv_fabric *a, const sv_fabric *b,
                         const sv_change *change)
{
    sv_text_print(out, "%-8s %-8s ", kinds[change->kind], whats[change->what]);
    bool lost = change->kind == SV_CHANGE_LOST;
    const sv_fabric *f = lost ? a : b;
    uint32_t i = lost ? change->a : change->b;
    if (change->what != SV_WHAT_CABLE) {
        bool is_switch = change->what == SV_WHAT_SWITCH;
        if (change->kind == SV_CHANGE_RENAMED)
            sv_text_print(out, "'%s' is now ",
                          is_switch ? a->switches[change->a].name : a->adapters[change->a].name);
        sv_text_print(out, "'%s' (0x%016llx)",
                      is_switch ? f->switches[i].name : f->adapters[i].name,
                      (unsigned long long)(is_switch ? f->switches[i].guid : f->adapters[i].guid));
    } else if (change->kind == SV_CHANGE_MOVED) {
        print_end(out, a, a->tail[change->a], a->port[change->a]);
        sv_text_print(out, " from ");
        print_end(out, a, a->head[change->a], a->port[a->reverse[change->a].i]);
        sv_text_print(out, " to ");
        print_end(out, b, b->head[change->b], b->port[b->reverse[change->b].i]);
    } else if (change->kind == SV_CHANGE_LINK) {
        print_cable(out, b, change->b);
        sv_text_print(out, " from ");
        print_link(out, a, change->a);
        sv_text_print(out, " to ");
        print_link(out, b, change->b);
    } else {
        print_cable(out, f, i);
    }
    sv_text_print(out, "\n");
}

static void json_end(sv_json *j, const char *key, const sv_fabric *f, sv_node v, unsigned port)
{
    sv_json_begin_row(j, key, '{');
    sv_json_text(j, "name", sv_node_name(f, v));
    sv_json_guid(j, "guid", sv_node_guid(f, v));
    sv_json_number(j, "port", port);
    sv_json_end(j, '}');
}

static void json_cable(sv_json *j, const char *key, const sv_fabric *f, uint32_t c)
{
    const sv_link *link = sv_link_of(f, (sv_channel){c});
    sv_json_begin_object(j, key);
    json_end(j, "from", f, f->tail[c], f->port[c]);
    json_end(j, "to", f, f->head[c], f->port[f->reverse[c].i]);
    sv_json_number(j, "width", link->width);
    sv_json_text(j, "speed", sv_speed_name(link->speed));
    sv_json_end(j, '}');
}

static void json_node(sv_json *j, const char *key, const sv_fabric *f, bool is_switch, uint32_t i)
{
    sv_json_begin_row(j, key, '{');
    sv_json_text(j, "name", is_switch ? f->switches[i].name : f->adapters[i].name);
    sv_json_guid(j, "guid", is_switch ? f->switches[i].guid : f->adapters[i].guid);
    sv_json_end(j, '}');
}

static void json_change(sv_json *j, const sv_fabric *a, const sv_fabric *b, const sv_change *c)
{
    sv_json_begin_object(j, NULL);
    sv_json_text(j, "change", kinds[c->kind]);
    sv_json_text(j, "what", whats[c->what]);
    bool is_switch = c->what == SV_WHAT_SWITCH;
    if (c->a != SV_NONE && c->what == SV_WHAT_CABLE)
        json_cable(j, "old", a, c->a);
    else if (c->a != SV_NONE)
        json_node(j, "old", a, is_switch, c->a);
    if (c->b != SV_NONE && c->what == SV_WHAT_CABLE)
        json_cable(j, "new", b, c->b);
    else if (c->b != SV_NONE)
        json_node(j, "new", b, is_switch, c->b);
    sv_json_end(j, '}');
}

static sv_status print_json(struct app *app, const sv_fabric *a, const sv_fabric *b,
                            const sv_diff *diff)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    sv_json_bool(&j, "same", diff->length == 0);
    sv_json_begin_array(&j, "changes");
    for (size_t i = 0; i < diff->length; i++)
        json_change(&j, a, b, &diff->changes[i]);
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

static sv_status print_text(struct app *app, const sv_fabric *a, const sv_fabric *b,
                            const sv_diff *diff)
{
    sv_text out;
    uint32_t counts[5] = {0};
    SV_TRY(app_print_begin(app, &out));
    for (size_t i = 0; i < diff->length; i++) {
        counts[diff->changes[i].kind]++;
        print_change(&out, a, b, &diff->changes[i]);
    }
    if (diff->length == 0)
        sv_text_print(&out, "no difference\n");
    else
        sv_text_print(&out,
                      "%zu difference%s: %u added, %u lost, %u moved, %u changed, %u renamed\n",
                      diff->length, diff->length == 1 ? "" : "s", counts[0], counts[1], counts[2],
                      counts[3], counts[4]);
    return app_print_end(app, &out);
}

int cmd_diff(struct app *app, int argc, char **argv)
{
    const char *inputs[2], *by_name = "guid";
    bool json = false;
    const app_option options[] = {{"match", 'm', OPTION_TEXT, &by_name, "guid|name",
                                   "what makes two nodes the same one (default guid)"},
                                  {"json", 'j', OPTION_FLAG, &json, NULL, "print JSON"},
                                  {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "OLD NEW",
        "Cables, switches and adapters added, lost, moved or changed in speed.\n"
        "Exit code 0 if there is no difference, 1 if there is.",
        "selvage diff planned.txt found.txt\n"
        "ibnetdiscover | selvage diff --match name torus:4x4x3,hosts=4 -",
        options};
    int code = app_parse(app, &usage, argc, argv, inputs, 2, 2);
    if (code >= 0)
        return code;
    if (strcmp(by_name, "guid") != 0 && strcmp(by_name, "name") != 0)
        return app_usage_error(app, "--match: '%s' is neither guid nor name", by_name);
    sv_match_by by = strcmp(by_name, "guid") == 0 ? SV_MATCH_GUID : SV_MATCH_NAME;
    sv_fabric *a = NULL, *b = NULL;
    sv_diff *diff = NULL;
    sv_status status = app_load(app, inputs[0], &a);
    if (status == SV_OK)
        status = app_load(app, inputs[1], &b);
    if (status == SV_OK)
        status = sv_fabric_diff(app->ctx, a, b, by, &diff);
    if (status == SV_OK)
        status = json ? print_json(app, a, b, diff) : print_text(app, a, b, diff);
    bool same = status == SV_OK && diff->length == 0;
    sv_diff_free(diff);
    sv_fabric_free(b);
    sv_fabric_free(a);
    return status == SV_OK && !same ? EXIT_NO : app_exit(app, status);
}
