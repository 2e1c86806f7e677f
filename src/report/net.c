/*
 * net.c: a fabric's switches and cables out of its body, which is JSON. SQLite reads JSON, so there
 * is no second reader of it here.
 *
 * Invariant: places and ports of a net are in range, whatever the body says. Cost: linear.
 */
#include <string.h>

#include "base/array.h"
#include "report/data.h"

typedef SV_ARRAY(sv__picture_wire) wires;

static sv_status bad_body(sv__report *r, const char *fabric, const char *what)
{
    return sv_fail(r->ctx, SV_BAD_INPUT, "%s: the body of fabric '%.200s' has %s", r->name, fabric,
                   what);
}

/* Rows of a list in the body; take is called for each. */
typedef struct reading {
    sv__report *r;
    sv_arena *arena;
    const char *fabric;
    sv__picture_net *net;
    SV_ARRAY(const char *) names;
    SV_ARRAY(uint32_t) terminals;
    wires found;
} reading;

static sv_status take_switch(reading *x, sqlite3_stmt *query)
{
    const char *name = (const char *)sqlite3_column_text(query, 0);
    int64_t terminals = sqlite3_column_int64(query, 1);
    if (name == NULL)
        name = "";
    char *copy = sv_arena_text(x->arena, name, strlen(name));
    if (copy == NULL)
        return SV_NO_MEMORY;
    if (terminals < 0 || terminals > UINT32_MAX)
        return bad_body(x->r, x->fabric, "a strange number of terminals");
    SV_TRY(sv_array_push(x->r->ctx, &x->names, copy));
    return sv_array_push(x->r->ctx, &x->terminals, (uint32_t)terminals);
}

static sv_status take_cable(reading *x, sqlite3_stmt *query)
{
    int64_t n[4];
    for (int i = 0; i < 4; i++)
        n[i] = sqlite3_column_int64(query, i);
    int64_t switches = (int64_t)x->names.length;
    if (n[0] < 0 || n[0] >= switches || n[2] < 0 || n[2] >= switches)
        return bad_body(x->r, x->fabric, "a cable to a switch that is not there");
    if (n[1] < 0 || n[1] > 255 || n[3] < 0 || n[3] > 255)
        return bad_body(x->r, x->fabric, "a port that is not there");
    sv__picture_wire wire = {(uint32_t)n[0], (uint32_t)n[2], (uint16_t)n[1], (uint16_t)n[3]};
    return sv_array_push(x->r->ctx, &x->found, wire);
}

static sv_status each(reading *x, const char *sql,
                      sv_status (*take)(reading *x, sqlite3_stmt *query))
{
    sqlite3_stmt *query;
    bool more = true;
    SV_TRY(sv__query(x->r, sql, &query));
    sqlite3_bind_text(query, 1, x->fabric, -1, SQLITE_STATIC);
    sv_status status = sv__next_row(x->r, query, &more);
    while (status == SV_OK && more) {
        status = take(x, query);
        if (status == SV_OK)
            status = sv__next_row(x->r, query, &more);
    }
    sqlite3_finalize(query);
    return status;
}

static sv_status read_lists(reading *x)
{
    SV_TRY(each(x,
                "SELECT json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]')"
                " FROM fabric, json_each(fabric.body, '$.switches') e WHERE fabric.name = ?"
                " ORDER BY e.id",
                take_switch));
    SV_TRY(each(x,
                "SELECT json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]'),"
                " json_extract(e.value, '$[2]'), json_extract(e.value, '$[3]')"
                " FROM fabric, json_each(fabric.body, '$.cables') e WHERE fabric.name = ?"
                " ORDER BY e.id",
                take_cable));
    return SV_OK;
}

/* Arrays into the arena, where they live as long as the names. */
static sv_status settle(reading *x)
{
    sv__picture_net *net = x->net;
    size_t switches = x->names.length, cables = x->found.length;
    net->num_switches = (uint32_t)switches;
    net->num_wires = (uint32_t)cables;
    net->names = SV_ARENA_NEW(x->arena, const char *, switches);
    net->terminals = SV_ARENA_NEW(x->arena, uint32_t, switches);
    net->wires = SV_ARENA_NEW(x->arena, sv__picture_wire, cables);
    if (net->names == NULL || net->terminals == NULL || net->wires == NULL)
        return SV_NO_MEMORY;
    for (size_t s = 0; s < switches; s++) {
        net->names[s] = x->names.at[s];
        net->terminals[s] = x->terminals.at[s];
    }
    for (size_t w = 0; w < cables; w++)
        net->wires[w] = x->found.at[w];
    return SV_OK;
}

sv_status sv__net_read(sv__report *r, sv_arena *arena, const char *fabric, sv__picture_net *net,
                       bool *there)
{
    reading x = {.r = r, .arena = arena, .fabric = fabric, .net = net};
    sv_status status = read_lists(&x);
    if (status == SV_OK)
        status = settle(&x);
    sv_array_release(r->ctx, &x.names);
    sv_array_release(r->ctx, &x.terminals);
    sv_array_release(r->ctx, &x.found);
    *there = status == SV_OK && net->num_switches > 0;
    return status;
}
