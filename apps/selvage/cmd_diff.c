/*
 * cmd_diff.c: selvage diff A B: what is different between two fabrics, planned and found say.
 * Exit code 0: nothing; 1: something; 6: nothing, but some nodes cannot be told apart.
 */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "fabric/derive.h"
#include "selvage/app.h"

static const char *const kinds[] = {"added", "lost", "moved", "changed", "renamed"};
static const char *const whats[] = {"switch", "adapter", "cable", "port"};

/* A fabric and its names: the value of one that several nodes have is not their number. */
struct named {
    const sv_fabric *f;
    sv_names names;
};

enum { UNIQUE, SHARED };

static sv_status add_name(struct named *named, const char *name)
{
    size_t before = named->names.count;
    SV_TRY(sv_names_add(&named->names, sv_span_of(name), UNIQUE, NULL));
    if (named->names.count == before)
        sv_names_set(&named->names, sv_span_of(name), SHARED);
    return SV_OK;
}

static sv_status named_init(struct named *named, sv_ctx *ctx, const sv_fabric *f)
{
    named->f = f;
    sv_names_init(&named->names, ctx);
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_TRY(add_name(named, f->switches[s].name));
    for (uint32_t a = 0; a < f->num_adapters; a++)
        SV_TRY(add_name(named, f->adapters[a].name));
    return SV_OK;
}

/* 'name' port 3; with its GUID where others have the same name */
static void print_end(sv_text *out, const struct named *named, sv_node v, unsigned port)
{
    const sv_fabric *f = named->f;
    const char *name = sv_node_name(f, v);
    uint64_t guid = sv_is_switch(f, v) ? f->switches[v.i].guid
                                       : f->adapters[sv_terminal_of(f, v)->adapter].guid;
    sv_text_print(out, "'%s'", name);
    if (sv_names_get(&named->names, sv_span_of(name)) != UNIQUE)
        sv_text_print(out, " (0x%016llx)", (unsigned long long)guid);
    sv_text_print(out, " port %u", port);
}

static void print_cable(sv_text *out, const struct named *named, uint32_t c)
{
    const sv_fabric *f = named->f;
    print_end(out, named, f->tail[c], f->port[c]);
    sv_text_print(out, " to ");
    print_end(out, named, f->head[c], f->port[f->reverse[c].i]);
}

static void print_link(sv_text *out, const sv_fabric *f, uint32_t c)
{
    const sv_link *link = sv_link_of(f, (sv_channel){c});
    if (link->speed == SV_SPEED_UNKNOWN && link->width == 0)
        sv_text_print(out, "an unknown speed");
    else if (link->speed == SV_SPEED_UNKNOWN)
        sv_text_print(out, "%ux", link->width);
    else
        sv_text_print(out, "%ux%s", link->width, sv_speed_name(link->speed));
}

/* Behind a cable that moved: whether its speed changed as well. */
static void print_new_speed(sv_text *out, const sv_fabric *a, uint32_t old, const sv_fabric *b,
                            uint32_t new)
{
    const sv_link *was = sv_link_of(a, (sv_channel){old}), *is = sv_link_of(b, (sv_channel){new});
    bool speed = was->speed != is->speed && was->speed != 0 && is->speed != 0;
    bool width = was->width != is->width && was->width != 0 && is->width != 0;
    if (!speed && !width)
        return;
    sv_text_print(out, ", from ");
    print_link(out, a, old);
    sv_text_print(out, " to ");
    print_link(out, b, new);
}

static void print_node(sv_text *out, const struct named *old, const struct named *new,
                       const sv_change *change)
{
    bool is_switch = change->what == SV_WHAT_SWITCH, lost = change->kind == SV_CHANGE_LOST;
    const sv_fabric *a = old->f, *f = lost ? old->f : new->f;
    uint32_t i = lost ? change->a : change->b;
    if (change->kind == SV_CHANGE_RENAMED)
        sv_text_print(out, "'%s' is now ",
                      is_switch ? a->switches[change->a].name : a->adapters[change->a].name);
    sv_text_print(out, "'%s' (0x%016llx)", is_switch ? f->switches[i].name : f->adapters[i].name,
                  (unsigned long long)(is_switch ? f->switches[i].guid : f->adapters[i].guid));
}

static void print_port(sv_text *out, const struct named *old, const struct named *new,
                       const sv_change *change)
{
    const sv_terminal_info *was = &old->f->terminals[change->a];
    const sv_terminal_info *is = &new->f->terminals[change->b];
    print_end(out, new, (sv_node){new->f->num_switches + change->b}, is->port);
    sv_text_print(out, " from 0x%016llx to 0x%016llx", (unsigned long long)was->guid,
                  (unsigned long long)is->guid);
}

static void print_change(sv_text *out, const struct named *old, const struct named *new,
                         const sv_change *change)
{
    const sv_fabric *a = old->f, *b = new->f;
    uint32_t was = change->a, is = change->b;
    sv_text_print(out, "%-8s %-8s ", kinds[change->kind], whats[change->what]);
    if (change->what == SV_WHAT_PORT) {
        print_port(out, old, new, change);
    } else if (change->what != SV_WHAT_CABLE) {
        print_node(out, old, new, change);
    } else if (change->kind == SV_CHANGE_MOVED) {
        print_end(out, old, a->tail[was], a->port[was]);
        sv_text_print(out, " from ");
        print_end(out, old, a->head[was], a->port[a->reverse[was].i]);
        sv_text_print(out, " to ");
        print_end(out, new, b->head[is], b->port[b->reverse[is].i]);
        print_new_speed(out, a, was, b, is);
    } else if (change->kind == SV_CHANGE_LINK) {
        print_cable(out, new, is);
        sv_text_print(out, " from ");
        print_link(out, a, was);
        sv_text_print(out, " to ");
        print_link(out, b, is);
    } else {
        bool lost = change->kind == SV_CHANGE_LOST;
        print_cable(out, lost ? old : new, lost ? was : is);
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
    sv_json_text(j, "speed", link->speed == 0 ? NULL : sv_speed_name(link->speed));
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
    if (c->what == SV_WHAT_PORT) {
        json_end(j, "old", a, (sv_node){a->num_switches + c->a}, a->terminals[c->a].port);
        json_end(j, "new", b, (sv_node){b->num_switches + c->b}, b->terminals[c->b].port);
        sv_json_end(j, '}');
        return;
    }
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

/* ---- nodes that cannot be told apart ---- */

struct twins {
    uint32_t count;
    char example[100];
};

static sv_status add_twin(sv_names *seen, const char *name, uint64_t guid, struct twins *twins)
{
    char key[400];
    uint32_t times;
    if (guid == 0)
        return SV_OK;
    snprintf(key, sizeof key, "%016llx %.300s", (unsigned long long)guid, name);
    SV_TRY(sv_names_add(seen, sv_span_of(key), 0, &times));
    sv_names_set(seen, sv_span_of(key), times + 1);
    if (times == 0)
        return SV_OK;
    twins->count += times == 1 ? 2 : 1;
    if (twins->example[0] == 0)
        snprintf(twins->example, sizeof twins->example, "'%.60s' 0x%016llx", name,
                 (unsigned long long)guid);
    return SV_OK;
}

/* Nodes of one GUID and one name: where they are is all there is, and they may have changed places.
 */
static sv_status find_twins(struct app *app, const sv_fabric *f, struct twins *twins)
{
    sv_names seen;
    sv_arena arena;
    sv_names_init(&seen, app->ctx);
    sv_arena_init(&arena, app->ctx);
    bool *live = sv_live_adapters(&arena, f);
    sv_status status = live == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t s = 0; status == SV_OK && s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            status = add_twin(&seen, f->switches[s].name, f->switches[s].guid, twins);
    for (uint32_t a = 0; status == SV_OK && a < f->num_adapters; a++)
        if (live[a])
            status = add_twin(&seen, f->adapters[a].name, f->adapters[a].guid, twins);
    sv_arena_release(&arena);
    sv_names_release(&seen);
    return status;
}

/* Says which nodes share a GUID, and counts those that share their name, too. */
static sv_status look_at_guids(struct app *app, const char *path, const sv_fabric *f,
                               struct twins *twins)
{
    sv_oddities found;
    SV_TRY(sv_fabric_oddities(app->ctx, f, &found));
    if (found.count[SV_ODD_DUPLICATE_GUID] == 0)
        return SV_OK;
    sv_warn(app->ctx, "%s: duplicate GUID: %u, for example %s",
            strcmp(path, "-") == 0 ? "<stdin>" : path, found.count[SV_ODD_DUPLICATE_GUID],
            found.example[SV_ODD_DUPLICATE_GUID]);
    return find_twins(app, f, twins);
}

/* ---- telling ---- */

static sv_status print_json(struct app *app, const sv_fabric *a, const sv_fabric *b,
                            const sv_diff *diff, const struct twins *twins)
{
    sv_text out;
    sv_json j;
    SV_TRY(app_print_begin(app, &out));
    sv_json_init(&j, &out);
    sv_json_begin_object(&j, NULL);
    if (diff->length == 0 && twins->count > 0)
        sv_json_null(&j, "same");
    else
        sv_json_bool(&j, "same", diff->length == 0);
    sv_json_number(&j, "indistinguishable", twins->count);
    sv_json_begin_array(&j, "changes");
    for (size_t i = 0; i < diff->length; i++)
        json_change(&j, a, b, &diff->changes[i]);
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
    return app_print_end(app, &out);
}

static sv_status print_changes(struct app *app, const struct named *a, const struct named *b,
                               const sv_diff *diff, const struct twins *twins)
{
    sv_text out;
    uint32_t counts[5] = {0};
    SV_TRY(app_print_begin(app, &out));
    for (size_t i = 0; i < diff->length; i++) {
        counts[diff->changes[i].kind]++;
        print_change(&out, a, b, &diff->changes[i]);
    }
    if (diff->length == 0 && twins->count > 0)
        sv_text_print(&out,
                      "no difference that can be told: %u nodes have GUID and name in common with "
                      "another (%s)\n",
                      twins->count, twins->example);
    else if (diff->length == 0)
        sv_text_print(&out, "no difference\n");
    else
        sv_text_print(&out,
                      "%zu difference%s: %u added, %u lost, %u moved, %u changed, %u renamed\n",
                      diff->length, diff->length == 1 ? "" : "s", counts[0], counts[1], counts[2],
                      counts[3], counts[4]);
    return app_print_end(app, &out);
}

static sv_status print_text(struct app *app, const sv_fabric *a, const sv_fabric *b,
                            const sv_diff *diff, const struct twins *twins)
{
    struct named old = {0}, new = {0};
    sv_names_init(&new.names, app->ctx);
    sv_status status = named_init(&old, app->ctx, a);
    if (status == SV_OK)
        status = named_init(&new, app->ctx, b);
    if (status == SV_OK)
        status = print_changes(app, &old, &new, diff, twins);
    sv_names_release(&old.names);
    sv_names_release(&new.names);
    return status;
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
        "Exit code 0 if there is no difference, 1 if there is, 6 if none can be told because "
        "nodes\n"
        "have one GUID and one name.",
        "selvage diff planned.txt found.txt\n"
        "ibnetdiscover | selvage diff --match name torus:4x4x3,hosts=4 -",
        options};
    int code = app_parse(app, &usage, argc, argv, inputs, 2, 2);
    if (code >= 0)
        return code;
    code = app_one_stream(app, "input", inputs, 2);
    if (code >= 0)
        return code;
    if (strcmp(by_name, "guid") != 0 && strcmp(by_name, "name") != 0)
        return app_usage_error(app, "--match: '%s' is neither guid nor name", by_name);
    sv_match_by by = strcmp(by_name, "guid") == 0 ? SV_MATCH_GUID : SV_MATCH_NAME;
    sv_fabric *a = NULL, *b = NULL;
    sv_diff *diff = NULL;
    struct twins twins[2] = {{0}};
    sv_status status = app_load(app, inputs[0], &a);
    if (status == SV_OK)
        status = app_load(app, inputs[1], &b);
    if (status == SV_OK)
        status = sv_fabric_diff(app->ctx, a, b, by, &diff);
    if (status == SV_OK && by == SV_MATCH_GUID)
        status = look_at_guids(app, inputs[0], a, &twins[0]);
    if (status == SV_OK && by == SV_MATCH_GUID && !app_same_file(inputs[0], inputs[1]))
        status = look_at_guids(app, inputs[1], b, &twins[1]);
    const struct twins *more = twins[1].count > twins[0].count ? &twins[1] : &twins[0];
    if (status == SV_OK)
        status = (json ? print_json : print_text)(app, a, b, diff, more);
    bool same = status == SV_OK && diff->length == 0;
    sv_diff_free(diff);
    sv_fabric_free(b);
    sv_fabric_free(a);
    if (status != SV_OK)
        return app_exit(app, status);
    return !same ? EXIT_NO : more->count > 0 ? EXIT_UNDECIDED : EXIT_YES;
}
