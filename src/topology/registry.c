/*
 * registry.c: the list of families, and the way from a spec string to a fabric.
 *
 * To add a family: declare it here and put it into the table. A preset is another name for a spec;
 * keys the user gives replace the preset's.
 */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/text.h"
#include "topology/net.h"

extern const sv__family sv__mesh, sv__torus, sv__hypercube, sv__expressmesh, sv__kary, sv__xgft,
    sv__kautz, sv__dragonfly, sv__dragonflyplus, sv__cascade, sv__random, sv__jellyfish, sv__hyperx,
    sv__flatfly, sv__fullmesh, sv__slimfly, sv__deimos, sv__tsubame2, sv__taurus;

const sv__family *const sv__families[] = {
    &sv__mesh,      &sv__torus,     &sv__hypercube,     &sv__kary,    &sv__xgft,
    &sv__kautz,     &sv__dragonfly, &sv__dragonflyplus, &sv__cascade, &sv__random,
    &sv__jellyfish, &sv__hyperx,    &sv__flatfly,       &sv__slimfly, &sv__expressmesh,
    &sv__fullmesh,  &sv__deimos,    &sv__tsubame2,      &sv__taurus,  NULL};

static const sv_topology_key common[] = {
    {"hosts", "terminals on each (leaf) switch (default 1)"},
    {"total", "terminals in all, spread evenly; the first switches get one more"},
    {"r", "cables instead of each one between switches (default 1)"},
    {"radix", "ports of a switch; what does not fit is refused"},
    {"speed", "SDR, DDR, QDR (default), FDR10, FDR, EDR, HDR, NDR or XDR"},
    {"width", "VLs of a cable: 1, 2, 4 (default), 8 or 12"},
    {"mtu", "bytes: 256, 512, 1024, 2048 (default) or 4096"},
    {"vls", "data virtual lanes of a port: 1, 2, 4, 8 (default) or 15"},
    {"seed", "of random families (default 1)"},
    {NULL, NULL}};

const sv_topology_key *sv_topology_common_keys(void)
{
    return common;
}

const sv_topology_info *sv_topology_at(size_t i)
{
    size_t count = sizeof sv__families / sizeof sv__families[0] - 1;
    return i < count ? &sv__families[i]->info : NULL;
}

static const sv__family *find_family(sv_span name)
{
    for (size_t i = 0; sv__families[i] != NULL; i++)
        if (sv_span_is(name, sv__families[i]->info.name))
            return sv__families[i];
    return NULL;
}

static const sv_preset *find_preset(sv_span name)
{
    for (size_t i = 0; sv_preset_at(i) != NULL; i++)
        if (sv_span_is(name, sv_preset_at(i)->name))
            return sv_preset_at(i);
    return NULL;
}

bool sv_topology_is_spec(const char *text)
{
    sv_span name = {text, strcspn(text, ":,")};
    return find_family(name) != NULL || find_preset(name) != NULL;
}

/* Adds a name to "a, b", if there is room. */
static void add_name(char *text, size_t room, const char *name)
{
    size_t length = strlen(text);
    if (length + strlen(name) + 3 <= room)
        snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", name);
}

/* The family or preset of a spec that is nearly its name, for messages. */
static const char *near_name(sv_near *near, sv_span name)
{
    char known[600] = "";
    for (size_t i = 0; sv__families[i] != NULL; i++)
        add_name(known, sizeof known, sv__families[i]->info.name);
    for (size_t i = 0; sv_preset_at(i) != NULL; i++)
        add_name(known, sizeof known, sv_preset_at(i)->name);
    return sv_near_hint(near, name, known);
}

/* "hosts, total, …" of a family: its own keys, then everybody's. */
static void list_keys(const sv__family *family, char *text, size_t room)
{
    const sv_topology_key *lists[2] = {family->info.keys, common};
    text[0] = 0;
    for (int i = 0; i < 2; i++)
        for (const sv_topology_key *key = lists[i]; key != NULL && key->name != NULL; key++)
            add_name(text, room, key->name);
}

static sv_status build(sv_ctx *ctx, sv__spec *spec, const sv__family *family, sv_fabric **fabric)
{
    sv__topology_net net = {.ctx = ctx,
                            .spec = spec,
                            .default_hosts = 1,
                            .compute = SV_NONE,
                            .default_speed = SV_SPEED_QDR};
    sv_arena_init(&net.arena, ctx);
    sv_fabric *result = NULL;
    sv_status status = family->build(&net);
    if (status == SV_OK)
        status = sv__net_finish(&net, &result);
    if (status == SV_OK) {
        char known[400];
        list_keys(family, known, sizeof known);
        status = sv__spec_done(spec, known);
    }
    sv_array_release(ctx, &net.cables);
    sv_arena_release(&net.arena);
    if (status == SV_OK)
        *fabric = result;
    else
        sv_fabric_free(result);
    return status;
}

/* The preset's spec with the user's keys in place of, or behind, its own. */
static sv_status expand(sv_ctx *ctx, const sv__spec *user, const sv_preset *preset, sv_text *text)
{
    sv__spec own;
    SV_TRY(sv__spec_parse(&own, ctx, preset->spec));
    sv_text_print(text, "%.*s", SV_SPAN(own.family));
    char separator = ':';
    if (own.size.at != NULL) {
        sv_text_print(text, ":%.*s", SV_SPAN(own.size));
        separator = ',';
    }
    bool hosts =
        sv__spec_has(user, "hosts") || sv__spec_has(user, "total") || sv__spec_has(user, "p");
    for (size_t i = 0; i < own.num_keys; i++) {
        sv_span key = own.keys[i].key;
        if (sv__spec_overrides(user, key) ||
            (hosts &&
             (sv_span_is(key, "hosts") || sv_span_is(key, "total") || sv_span_is(key, "p"))))
            continue;
        sv_text_print(text, "%c%.*s=%.*s", separator, SV_SPAN(key), SV_SPAN(own.keys[i].value));
        separator = ',';
    }
    for (size_t i = 0; i < user->num_keys; i++) {
        sv_text_print(text, "%c%.*s=%.*s", separator, SV_SPAN(user->keys[i].key),
                      SV_SPAN(user->keys[i].value));
        separator = ',';
    }
    return sv_text_finish(text);
}

static sv_status no_such(const sv__spec *spec)
{
    sv_near near;
    return sv__spec_fail(spec, "'%.*s' is no family or preset%s (selvage topo --list)",
                         SV_SPAN(spec->family), near_name(&near, spec->family));
}

/* The family of a preset. */
static const sv__family *family_of(const sv_preset *preset)
{
    return find_family((sv_span){preset->spec, strcspn(preset->spec, ":,")});
}

sv_status sv_topology_check(sv_ctx *ctx, const char *text)
{
    sv__spec spec;
    char known[400];
    SV_TRY(sv__spec_parse(&spec, ctx, text));
    const sv__family *family = find_family(spec.family);
    const sv_preset *preset = family == NULL ? find_preset(spec.family) : NULL;
    if (preset != NULL)
        family = family_of(preset);
    if (family == NULL)
        return no_such(&spec);
    list_keys(family, known, sizeof known);
    const sv_topology_key *lists[2] = {family->info.keys, common};
    for (size_t i = 0; i < spec.num_keys; i++) {
        bool there = false;
        for (int k = 0; k < 2; k++)
            for (const sv_topology_key *key = lists[k]; key != NULL && key->name != NULL; key++)
                there = there || sv_span_is(spec.keys[i].key, key->name);
        if (!there)
            return sv__spec_unknown(&spec, spec.keys[i].key, known);
    }
    return SV_OK;
}

sv_status sv_topology_generate(sv_ctx *ctx, const char *text, sv_fabric **fabric)
{
    sv__spec spec;
    SV_TRY(sv__spec_parse(&spec, ctx, text));
    const sv__family *family = find_family(spec.family);
    if (family != NULL)
        return build(ctx, &spec, family, fabric);
    const sv_preset *preset = find_preset(spec.family);
    if (preset == NULL)
        return no_such(&spec);
    if (spec.size.at != NULL)
        return sv__spec_fail(&spec, "a preset has no size: '%.*s'", SV_SPAN(spec.size));
    sv_text whole;
    sv_text_init(&whole, ctx, NULL);
    sv_status status = expand(ctx, &spec, preset, &whole);
    if (status == SV_OK)
        status = sv_topology_generate(ctx, whole.at, fabric);
    sv_text_release(&whole);
    return status;
}
