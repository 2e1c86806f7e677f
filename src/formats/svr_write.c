/*
 * svr_write.c: writes fabric and tables into one binary file (svr.h, docs/formats.md).
 *
 * Cost: linear in the file, which is put together in memory.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/formats.h"
#include "formats/svr.h"
#include "formats/tables.h"

struct writer {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_routes *r;
    uint32_t *nodes; /* live switches, then live terminals */
    uint32_t switches, terminals;
    sv_text out; /* the whole file, collected in memory */
    uint64_t offset[NUM_SECTIONS], length[NUM_SECTIONS];
};

static sv_status emit(struct writer *w, const void *bytes, size_t size)
{
    sv_text_add(&w->out, bytes, size);
    return w->out.status;
}

static sv_status emit_number(struct writer *w, uint64_t value, int bytes)
{
    uint8_t raw[8];
    sv__put(raw, value, bytes);
    return emit(w, raw, (size_t)bytes);
}

static sv_status write_fabric_text(struct writer *w)
{
    sv_text text;
    sv_text_init(&text, w->ctx, NULL);
    sv_status status = sv__write_ibnetdiscover(&text, w->f);
    if (status == SV_OK)
        status = sv_text_finish(&text);
    if (status == SV_OK)
        status = emit(w, text.at, text.length);
    sv_text_release(&text);
    return status;
}

static sv_status write_guids(struct writer *w, bool switches)
{
    uint32_t begin = switches ? 0 : w->switches;
    uint32_t end = switches ? w->switches : w->switches + w->terminals;
    for (uint32_t i = begin; i < end; i++)
        SV_TRY(emit_number(w, sv_node_guid(w->f, (sv_node){w->nodes[i]}), 8));
    return SV_OK;
}

static sv_status write_about(struct writer *w)
{
    const sv_routes *r = w->r;
    unsigned given = 0;
    for (int i = 0; i < SV_VLARB_COUNT; i++)
        given |= (unsigned)r->vlarb[i].given << i;
    const uint64_t about[] = {r->lmc,         r->sl_form,    r->sl, r->num_sls,
                              r->sl2vl_known, r->num_groups, given, 0};
    for (int i = 0; i <= A_SPARE; i++)
        SV_TRY(emit_number(w, about[i], 4));
    return SV_OK;
}

/* One row of bytes, of the live switches or of all live nodes. */
static sv_status write_row(struct writer *w, const uint8_t *row, bool all_nodes)
{
    uint8_t buffer[4096];
    uint32_t count = w->switches + (all_nodes ? w->terminals : 0);
    for (uint32_t i = 0; i < count;) {
        uint32_t n = 0;
        while (n < sizeof buffer && i < count)
            buffer[n++] = row[w->nodes[i++]];
        SV_TRY(emit(w, buffer, n));
    }
    return SV_OK;
}

static sv_status write_by_destination(struct writer *w, enum section what)
{
    const sv_routes *r = w->r;
    for (uint32_t i = 0; i < w->switches + w->terminals; i++)
        for (uint32_t d = r->first[w->nodes[i]]; d < r->first[w->nodes[i] + 1]; d++) {
            if (what == LIDS)
                SV_TRY(emit_number(w, r->lid[d], 2));
            else if (what == PORTS)
                SV_TRY(write_row(w, r->ports[d], false));
            else if (r->sl_form == SV_SL_BY_DESTINATION)
                SV_TRY(emit(w, &r->sls[0][d], 1));
            else if (r->sl_form == SV_SL_BY_SWITCH || r->sl_form == SV_SL_BY_NODE)
                SV_TRY(write_row(w, r->sls[d], r->sl_form == SV_SL_BY_NODE));
        }
    return SV_OK;
}

static sv_status write_by_ports(struct writer *w)
{
    for (uint32_t i = 0; i < w->switches; i++) {
        uint32_t s = w->nodes[i];
        size_t ports = w->f->switches[s].ports + 1u;
        if (w->r->sl2vl_by_port[s] == NULL)
            continue;
        SV_TRY(emit_number(w, i, 4));
        SV_TRY(emit_number(w, ports, 4));
        for (size_t k = 0; k < ports * ports; k++)
            SV_TRY(emit_number(w, w->r->sl2vl_by_port[s][k], 2));
    }
    return SV_OK;
}

static sv_status write_vlarb(struct writer *w)
{
    for (int i = 0; i < SV_VLARB_COUNT; i++) {
        const sv_vlarb *v = &w->r->vlarb[i];
        const sv_vlarb_table *tables[] = {&v->high, &v->low};
        SV_TRY(emit_number(w, v->high_limit, 1));
        for (int k = 0; k < 2; k++) {
            SV_TRY(emit_number(w, tables[k]->length, 1));
            SV_TRY(emit(w, tables[k]->vl, 64));
            SV_TRY(emit(w, tables[k]->weight, 64));
        }
    }
    return SV_OK;
}

static sv_status write_groups(struct writer *w)
{
    for (uint32_t g = 0; g < w->r->num_groups; g++) {
        SV_TRY(emit_number(w, w->r->groups[g].mlid, 2));
        SV_TRY(emit_number(w, w->r->groups[g].sl, 2));
        for (uint32_t i = 0; i < w->switches; i++)
            for (int k = 0; k < 4; k++)
                SV_TRY(emit_number(w, w->r->groups[g].ports[w->nodes[i]][k], 8));
    }
    return SV_OK;
}

static sv_status write_orders(struct writer *w)
{
    const sv_routes *r = w->r;
    if (r->orders == NULL)
        return SV_OK;
    SV_TRY(emit_number(w, r->order_vls, 4));
    SV_TRY(emit_number(w, 0, 4));
    for (uint32_t i = 0; i < w->switches; i++) {
        uint32_t s = w->nodes[i];
        const uint32_t *numbers = sv_route_order(r, (sv_node){s}, 0);
        for (uint32_t k = 0; k < (w->f->switches[s].ports + 1u) * r->order_vls; k++)
            SV_TRY(emit_number(w, numbers[k], 4));
    }
    return SV_OK;
}

static sv_status write_section(struct writer *w, enum section what)
{
    switch (what) {
    case FABRIC:
        return write_fabric_text(w);
    case SWITCHES:
        return write_guids(w, true);
    case ADDRESS:
        return write_guids(w, false);
    case ABOUT:
        return write_about(w);
    case LIDS:
    case PORTS:
    case SLS:
        return write_by_destination(w, what);
    case VLS:
        return emit(w, w->r->vl_tables, w->r->num_vl_tables * sizeof(sv_sl2vl));
    case VLS_OF:
        for (uint32_t i = 0; i < w->switches + w->terminals; i++)
            SV_TRY(emit_number(w, w->r->vls_of[w->nodes[i]], 2));
        return SV_OK;
    case BY_PORTS:
        return write_by_ports(w);
    case VLARB:
        return write_vlarb(w);
    case GROUPS:
        return write_groups(w);
    case ORDERS:
        return write_orders(w);
    default:
        return SV_OK;
    }
}

/* Room for the head, then the sections, each padded; notes where they are. */
static sv_status write_body(struct writer *w)
{
    static const uint8_t zeroes[SV__SVR_ALIGN];
    while (w->out.length < sv__svr_head_length(NUM_SECTIONS))
        SV_TRY(emit(w, zeroes, sizeof zeroes));
    for (int s = 0; s < NUM_SECTIONS; s++) {
        w->offset[s] = w->out.length;
        SV_TRY(write_section(w, (enum section)s));
        w->length[s] = w->out.length - w->offset[s];
        SV_TRY(emit(w, zeroes, -w->out.length & (SV__SVR_ALIGN - 1)));
    }
    return SV_OK;
}

static void write_head(const struct writer *w)
{
    uint8_t *head = (uint8_t *)w->out.at;
    memcpy(head, sv__svr_magic, sizeof sv__svr_magic);
    sv__put(head + 8, SV__SVR_VERSION, 4);
    sv__put(head + 12, NUM_SECTIONS, 4);
    sv__put(head + 16, w->out.length, 8);
    for (int s = 0; s < NUM_SECTIONS; s++) {
        uint8_t *entry = head + SV__SVR_HEAD + (size_t)s * SV__SVR_ENTRY;
        memcpy(entry, sv__svr_names[s], 4);
        sv__put(entry + 8, w->offset[s], 8);
        sv__put(entry + 16, w->length[s], 8);
    }
    sv__svr_seal(head, w->out.length);
}

static sv_status list_nodes(struct writer *w, sv_arena *arena)
{
    w->nodes = SV_ARENA_NEW(arena, uint32_t, sv_num_nodes(w->f));
    if (w->nodes == NULL)
        return SV_NO_MEMORY;
    uint32_t n = 0;
    for (uint32_t v = 0; v < sv_num_nodes(w->f); v++)
        if (sv_node_alive(w->f, (sv_node){v})) {
            w->nodes[n++] = v;
            if (v < w->f->num_switches)
                w->switches++;
            else
                w->terminals++;
        }
    return SV_OK;
}

/* The file is put together in memory, because its head tells the sum of the rest. */
static sv_status write_all(struct writer *w, sv_file *file)
{
    sv_text_init(&w->out, w->ctx, NULL);
    SV_TRY(write_body(w));
    write_head(w);
    if (file->sink.write(file->sink.user, w->out.at, w->out.length))
        return SV_OK;
    if (sv_cancelled(w->ctx))
        return sv_fail(w->ctx, SV_CANCELLED, "cancelled during writing");
    return sv_fail(w->ctx, SV_IO, "cannot write '%s': %s", file->path, strerror(errno));
}

sv_status sv__write_svr(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        sv_file *file)
{
    struct writer w = {.ctx = ctx, .f = fabric, .r = routes};
    sv_arena arena;
    sv_fabric *with_lids = NULL;
    SV_TRY(sv_fabric_with_lids(ctx, fabric, routes, &with_lids));
    w.f = with_lids;
    sv_arena_init(&arena, ctx);
    sv_status status = list_nodes(&w, &arena);
    if (status == SV_OK)
        status = write_all(&w, file);
    sv_text_release(&w.out);
    sv_arena_release(&arena);
    sv_fabric_free(with_lids);
    return status;
}
