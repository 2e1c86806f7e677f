/*
 * drawings.c: the large things of the page: fabrics with their places, loads of cables, timelines.
 *
 * A page has a size that it must not exceed, so each of them is taken only while there is room, in
 * an order that leaves out the least interesting: of all fabrics in turn, first what an engine does
 * with the whole fabric, then with most failures, then what is between. How many were left out is
 * written behind them.
 *
 * Invariant: what is written belongs together: loads have as many numbers as the fabric has cables;
 * those that do not are left out with a warning. Cost: linear, and that of the layouts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "report/data.h"

/* Base64, and something for keys. */
static size_t packed_size(size_t bytes)
{
    return bytes / 3 * 4 + 200;
}

static bool fits(const sv__report *r, size_t bytes)
{
    return r->text.length + packed_size(bytes) < r->max;
}

/* ---- fabrics ---- */

typedef struct drawn {
    sv_arena arena;
    sv_names sizes; /* of fabrics that are drawn: place in counts */
    struct {
        uint32_t switches, wires;
    } * counts;
    size_t length, room, left_out;
} drawn;

static void write_names(sv_json *json, const sv__picture_net *net)
{
    sv_json_begin_row(json, "names", '[');
    for (uint32_t s = 0; s < net->num_switches; s++)
        sv_json_text(json, NULL, net->names[s]);
    sv_json_end(json, ']');
}

/* Places to four digits of the larger extent, which is less than a pixel of any screen. */
static void write_places(sv_json *json, const char *key, const float *at, float low, float factor,
                         double *numbers, uint32_t count)
{
    for (uint32_t s = 0; s < count; s++)
        numbers[s] = floor((double)(at[s] - low) * (double)factor + 0.5);
    sv__pack_numbers(json, key, numbers, count);
}

static void bounds(const float *at, uint32_t count, float *low, float *high)
{
    *low = *high = count > 0 ? at[0] : 0;
    for (uint32_t s = 0; s < count; s++) {
        *low = at[s] < *low ? at[s] : *low;
        *high = at[s] > *high ? at[s] : *high;
    }
}

static void write_layout(sv_json *json, const sv__picture_net *net, const sv__layout *layout,
                         double *numbers)
{
    float low[2], high[2];
    bounds(layout->x, net->num_switches, &low[0], &high[0]);
    bounds(layout->y, net->num_switches, &low[1], &high[1]);
    float width = high[0] - low[0], height = high[1] - low[1];
    float larger = width > height ? width : height;
    float factor = larger > 0 ? 20000 / larger : 1;
    sv_json_text(json, "layout", layout->kind);
    sv_json_text(json, "shape", layout->words);
    write_places(json, "x", layout->x, low[0], factor, numbers, net->num_switches);
    write_places(json, "y", layout->y, low[1], factor, numbers, net->num_switches);
    for (uint32_t w = 0; w < net->num_wires; w++)
        numbers[w] = layout->bend[w];
    sv__pack_numbers(json, "bend", numbers, net->num_wires);
}

static void write_wires(sv_json *json, const sv__picture_net *net, double *numbers)
{
    for (uint32_t s = 0; s < net->num_switches; s++)
        numbers[s] = net->terminals[s];
    sv__pack_numbers(json, "terminalsOf", numbers, net->num_switches);
    static const char *const keys[] = {"a", "b", "portA", "portB"};
    for (int k = 0; k < 4; k++) {
        for (uint32_t w = 0; w < net->num_wires; w++) {
            const sv__picture_wire *wire = &net->wires[w];
            numbers[w] = k == 0 ? wire->a : k == 1 ? wire->b : k == 2 ? wire->port_a : wire->port_b;
        }
        sv__pack_numbers(json, keys[k], numbers, net->num_wires);
    }
}

static sv_status draw(sv__report *r, drawn *d, const char *name)
{
    sv_arena arena;
    sv__picture_net net;
    sv__layout layout;
    bool there = false;
    sv_arena_init(&arena, r->ctx);
    sv_status status = sv__net_read(r, &arena, name, &net, &there);
    size_t max = there ? (net.num_switches > net.num_wires ? net.num_switches : net.num_wires) : 0;
    double *numbers = status != SV_OK ? NULL : SV_ARENA_NEW(&arena, double, max);
    if (status == SV_OK && numbers == NULL)
        status = SV_NO_MEMORY;
    /* names take what they take; half of all room is for loads */
    if (status == SV_OK && there &&
        !fits(r, 2 * (24 * (size_t)net.num_switches + 7 * net.num_wires))) {
        d->left_out++;
        there = false;
    }
    if (status == SV_OK && there)
        status = sv__layout_find(r->ctx, &arena, &net, &layout);
    if (status == SV_OK && there) {
        write_names(&r->json, &net);
        write_wires(&r->json, &net, numbers);
        write_layout(&r->json, &net, &layout, numbers);
        char *copy = sv_arena_text(&d->arena, name, strlen(name));
        status = copy == NULL
                     ? SV_NO_MEMORY
                     : sv_names_add(&d->sizes, sv_span_of(copy), (uint32_t)d->length, NULL);
        d->counts[d->length].switches = net.num_switches;
        d->counts[d->length++].wires = net.num_wires;
    }
    sv_arena_release(&arena);
    return status;
}

static sv_status write_fabric(sv__report *r, drawn *d, sqlite3_stmt *query, uint64_t done)
{
    const char *name = (const char *)sqlite3_column_text(query, 0);
    if (name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_progress(r->ctx, "drawing fabrics", done, d->room));
    sv_json_begin_object(&r->json, NULL);
    sv_json_text(&r->json, "name", name);
    sv_json_number(&r->json, "switches", (uint64_t)sqlite3_column_int64(query, 1));
    sv_json_number(&r->json, "terminals", (uint64_t)sqlite3_column_int64(query, 2));
    sv_json_number(&r->json, "links", (uint64_t)sqlite3_column_int64(query, 3));
    sv_status status = sqlite3_column_int(query, 4) ? draw(r, d, name) : SV_OK;
    sv_json_end(&r->json, '}');
    return status;
}

static sv_status write_fabrics(sv__report *r, drawn *d)
{
    sqlite3_stmt *query;
    bool more = false;
    uint64_t done = 0;
    SV_TRY(sv__query(r, "SELECT count(*) FROM fabric", &query));
    sv_status status = sv__next_row(r, query, &more);
    d->room = more ? (size_t)sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    SV_TRY(status);
    d->counts = sv_arena_alloc(&d->arena, d->room, sizeof *d->counts);
    if (d->counts == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__query(r,
                     "SELECT name, switches, terminals, links, body IS NOT NULL AND"
                     " EXISTS (SELECT 1 FROM cell JOIN loads ON loads.cell = cell.id"
                     " WHERE cell.fabric = fabric.name) FROM fabric ORDER BY"
                     " (SELECT min(id) FROM cell WHERE cell.fabric = fabric.name), name",
                     &query));
    sv_json_begin_array(&r->json, "fabrics");
    status = sv__next_row(r, query, &more);
    while (status == SV_OK && more) {
        status = write_fabric(r, d, query, done++);
        if (status == SV_OK)
            status = sv__next_row(r, query, &more);
    }
    sv_json_end(&r->json, ']');
    sqlite3_finalize(query);
    return status;
}

/* ---- what belongs to a cell ---- */

/* Cells in order of interest: in turn of all fabrics; whole ones first, then the most broken. */
#define BY_INTEREST(table, fields)                                                                 \
    "SELECT cell.fabric, cell.id, " fields ", row_number() OVER (PARTITION BY cell.fabric ORDER"   \
    " BY cell.fault_amount > 0, cell.fault_amount DESC, cell.fault_kind, cell.id) AS turn "        \
    "FROM " table " JOIN cell ON cell.id = " table ".cell ORDER BY turn, cell.id"

typedef bool write_one(sv__report *r, const drawn *d, sqlite3_stmt *query, uint32_t place);

static const void *blob(sqlite3_stmt *query, int column, size_t *length)
{
    const void *bytes = sqlite3_column_blob(query, column);
    *length = (size_t)sqlite3_column_bytes(query, column);
    return bytes;
}

static bool write_loads(sv__report *r, const drawn *d, sqlite3_stmt *query, uint32_t place)
{
    size_t cables, nodes;
    const void *cable = blob(query, 2, &cables), *node = blob(query, 3, &nodes);
    if (cables != 4 * (size_t)d->counts[place].wires || nodes != d->counts[place].switches) {
        sv_warn(r->ctx, "%s: the loads of cell %lld do not fit its fabric", r->name,
                (long long)sqlite3_column_int64(query, 1));
        return true;
    }
    if (!fits(r, cables + nodes))
        return false;
    sv_json_begin_row(&r->json, NULL, '{');
    sv_json_number(&r->json, "cell", (uint64_t)sqlite3_column_int64(query, 1));
    sv__pack_bytes(&r->json, "cables", cable, cables);
    sv__pack_bytes(&r->json, "nodes", node, nodes);
    sv_json_end(&r->json, '}');
    return true;
}

static bool write_timeline(sv__report *r, const drawn *d, sqlite3_stmt *query, uint32_t place)
{
    size_t length;
    const void *body = blob(query, 5, &length);
    int64_t columns = sqlite3_column_int64(query, 2);
    double scale[2] = {sqlite3_column_double(query, 3), sqlite3_column_double(query, 4)};
    if (columns < 1 || columns > 1000000 ||
        length != 2 * (size_t)columns * d->counts[place].switches) {
        sv_warn(r->ctx, "%s: the timeline of cell %lld does not fit its fabric", r->name,
                (long long)sqlite3_column_int64(query, 1));
        return true;
    }
    if (!fits(r, length))
        return false;
    sv_json_begin_row(&r->json, NULL, '{');
    sv_json_number(&r->json, "cell", (uint64_t)sqlite3_column_int64(query, 1));
    sv_json_number(&r->json, "columns", (uint64_t)columns);
    sv__pack_numbers(&r->json, "scale", scale, 2);
    sv__pack_bytes(&r->json, "body", body, length);
    sv_json_end(&r->json, '}');
    return true;
}

/* Those that fit, in a list; *left_out: how many did not. */
static sv_status write_list(sv__report *r, const drawn *d, const char *key, const char *sql,
                            write_one *write, size_t *left_out)
{
    sqlite3_stmt *query;
    bool more = false;
    uint64_t done = 0;
    SV_TRY(sv__query(r, sql, &query));
    sv_json_begin_array(&r->json, key);
    sv_status status = sv__next_row(r, query, &more);
    while (status == SV_OK && more) {
        const char *fabric = (const char *)sqlite3_column_text(query, 0);
        uint32_t place = fabric == NULL ? SV_ABSENT : sv_names_get(&d->sizes, sv_span_of(fabric));
        if (place == SV_ABSENT || !write(r, d, query, place))
            (*left_out)++;
        status = sv_progress(r->ctx, key, ++done, 0);
        if (status == SV_OK)
            status = sv__next_row(r, query, &more);
    }
    sv_json_end(&r->json, ']');
    sqlite3_finalize(query);
    return status;
}

static sv_status write_all(sv__report *r, drawn *d)
{
    size_t loads = 0, timelines = 0, all = r->max;
    SV_TRY(write_fabrics(r, d));
    /* loads may take two thirds of what is left, timelines the rest */
    r->max = r->text.length < all ? r->text.length + (all - r->text.length) / 3 * 2 : all;
    SV_TRY(write_list(r, d, "loads", BY_INTEREST("loads", "loads.cables, loads.nodes"), write_loads,
                      &loads));
    r->max = all;
    SV_TRY(write_list(r, d, "timelines",
                      BY_INTEREST("timeline", "timeline.columns, timeline.interval_us,"
                                              " timeline.largest_us, timeline.body"),
                      write_timeline, &timelines));
    sv_json_begin_row(&r->json, "leftOut", '{');
    sv_json_number(&r->json, "fabrics", d->left_out);
    sv_json_number(&r->json, "loads", loads);
    sv_json_number(&r->json, "timelines", timelines);
    sv_json_end(&r->json, '}');
    return r->text.status;
}

sv_status sv__write_drawings(sv__report *r)
{
    drawn d = {0};
    sv_arena_init(&d.arena, r->ctx);
    sv_names_init(&d.sizes, r->ctx);
    sv_status status = write_all(r, &d);
    sv_names_release(&d.sizes);
    sv_arena_release(&d.arena);
    return status;
}
