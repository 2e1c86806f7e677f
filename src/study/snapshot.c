/*
 * snapshot.c: what a page draws: the fabric, what its cables carried, how long packets waited where
 * and when. docs/study.md has the forms.
 *
 * Cost: linear in cables, and in the cells of the simulator's timeline.
 */
#include <selvage/simulate.h>

#include "base/json.h"
#include "study/study.h"

enum { MAX_SWITCHES = 5000, COLUMNS = 64, FULL = 65534, DEAD = 65535 };

/* Whether a channel is the first of a cable between switches, in the fabric without failures. */
static bool is_cable(const sv_fabric *f, uint32_t c)
{
    return c < f->reverse[c].i && sv_channel_alive(f, (sv_channel){c}) &&
           sv_is_switch(f, f->tail[c]) && sv_is_switch(f, f->head[c]);
}

static void write_switches(sv__bench *b, sv_json *json)
{
    const sv_fabric *f = b->whole;
    sv_json_begin_array(json, "switches");
    for (uint32_t s = 0; s < f->num_switches; s++) {
        uint32_t terminals = 0;
        for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++)
            terminals += !sv_is_switch(f, f->hops[i].to);
        sv_json_begin_row(json, NULL, '[');
        sv_json_text(json, NULL, sv_node_name(f, (sv_node){s}));
        sv_json_number(json, NULL, terminals);
        sv_json_end(json, ']');
    }
    sv_json_end(json, ']');
}

sv_status sv__snapshot_fabric(sv__bench *b)
{
    const sv_fabric *f = b->whole;
    sv_text out;
    sv_json json;
    if (f->num_switches > MAX_SWITCHES)
        return SV_OK;
    sv_text_init(&out, b->ctx, NULL);
    sv_json_init(&json, &out);
    sv_json_begin_object(&json, NULL);
    write_switches(b, &json);
    sv_json_begin_array(&json, "cables");
    for (uint32_t c = 0; c < f->num_channels; c++) {
        if (!is_cable(f, c))
            continue;
        sv_json_begin_row(&json, NULL, '[');
        sv_json_number(&json, NULL, f->tail[c].i);
        sv_json_number(&json, NULL, f->port[c]);
        sv_json_number(&json, NULL, f->head[c].i);
        sv_json_number(&json, NULL, f->port[f->reverse[c].i]);
        sv_json_end(&json, ']');
    }
    sv_json_end(&json, ']');
    sv_json_end(&json, '}');
    sv_status status = sv_text_finish(&out);
    if (status == SV_OK) {
        b->result->body = sv_arena_text(b->arena, out.at, out.length);
        status = b->result->body == NULL ? SV_NO_MEMORY : SV_OK;
    }
    sv_text_release(&out);
    return status;
}

/* What a channel carried, of FULL. */
static uint16_t share_of(const sv__bench *b, const sv_sim_result *from, uint32_t c, uint64_t max)
{
    double share;
    if (from == NULL) {
        share = max > 0 ? (double)b->load[c] / (double)max : 0;
    } else {
        const sv_link *link = sv_link_of(b->f, (sv_channel){c});
        uint64_t byte = b->study->model.byte_ticks > 0
                            ? b->study->model.byte_ticks * 4 / (link->width > 0 ? link->width : 4)
                            : sv_sim_byte_ticks(link);
        double ticks = (double)(from->until - from->from);
        share = ticks > 0 ? (double)from->channels[c].bytes * (double)byte / ticks : 0;
    }
    return (uint16_t)(share >= 1 ? FULL : share * FULL + 0.5);
}

static void put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

sv_status sv__snapshot_loads(sv__bench *b, const sv_sim_result *from)
{
    const sv_fabric *f = b->whole;
    sv__result *r = b->result;
    uint64_t max = 0;
    if (f->num_switches > MAX_SWITCHES)
        return SV_OK;
    uint8_t *at = sv_arena_raw(b->arena, (size_t)4 * r->fabric_links + 1, 1);
    uint8_t *nodes = sv_arena_raw(b->arena, (size_t)f->num_switches + 1, 1);
    if (at == NULL || nodes == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (sv_is_switch(f, f->tail[c]) && sv_is_switch(f, f->head[c]))
            max = b->load[c] > max ? b->load[c] : max;
    r->cables = at;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        if (!is_cable(f, c))
            continue;
        bool alive = sv_channel_alive(b->f, (sv_channel){c});
        put16(at, alive ? share_of(b, from, c, max) : DEAD);
        put16(at + 2, alive ? share_of(b, from, f->reverse[c].i, max) : DEAD);
        at += 4;
    }
    r->cables_bytes = (size_t)(at - r->cables);
    for (uint32_t s = 0; s < f->num_switches; s++)
        nodes[s] = sv_node_alive(b->f, (sv_node){s});
    r->nodes = nodes;
    r->nodes_bytes = f->num_switches;
    return SV_OK;
}

sv_status sv__snapshot_timeline(sv__bench *b, const sv_sim_result *from, uint64_t interval)
{
    sv__result *r = b->result;
    uint32_t switches = b->whole->num_switches, join = (from->rows + COLUMNS - 1) / COLUMNS;
    if (switches > MAX_SWITCHES || from->rows == 0)
        return SV_OK;
    uint32_t columns = (from->rows + join - 1) / join;
    size_t cells = (size_t)columns * switches;
    double *mean = SV_ARENA_NEW(b->arena, double, cells), max = 0;
    r->timeline = sv_arena_raw(b->arena, 2 * cells, 1);
    if (mean == NULL || r->timeline == NULL)
        return SV_NO_MEMORY;
    for (uint32_t k = 0; k < columns; k++)
        for (uint32_t s = 0; s < switches; s++) {
            uint64_t packets = 0, waited = 0;
            for (uint32_t row = k * join; row < (k + 1) * join && row < from->rows; row++) {
                packets += from->timeline[(size_t)row * switches + s].packets;
                waited += from->timeline[(size_t)row * switches + s].waited;
            }
            double us =
                packets > 0 ? (double)waited / (double)packets / (SV_TICKS_PER_NS * 1e3) : 0;
            mean[(size_t)k * switches + s] = us;
            max = us > max ? us : max;
        }
    for (size_t i = 0; i < cells; i++)
        put16(r->timeline + 2 * i, (uint16_t)(max > 0 ? mean[i] / max * DEAD + 0.5 : 0));
    r->timeline_bytes = 2 * cells;
    r->columns = columns;
    r->interval_us = (double)interval * join / (SV_TICKS_PER_NS * 1e3);
    r->largest_us = max;
    return SV_OK;
}
