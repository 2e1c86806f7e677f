/*
 * svr.c: fabric and tables in one binary file (docs/formats.md has the layout).
 *
 * A head, a list of sections, the sections, each at a multiple of 64 bytes so that the file can be
 * mapped and used in place; numbers are little-endian. The fabric is in it as ibnetdiscover text;
 * all else refers to switches and terminals by their place in two lists of GUIDs, so that a reader
 * need not number nodes as we do. A sum over everything behind the head tells a damaged file from a
 * whole one.
 *
 * A file is believed only as far as its length: every count is checked against the section it
 * speaks of before anything is allocated.
 *
 * Cost: linear in the file; reading holds it in memory once more.
 */
#include "formats/svr.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "base/file.h"
#include "formats/formats.h"
#include "formats/tables.h"

static const char magic[8] = "selvage";

enum { VERSION = 1, HEAD_SIZE = 64, ENTRY_SIZE = 32, ALIGN = 64, MOST_SECTIONS = 64 };

/* Sections. Names are four letters, as in a hex dump. */
enum section {
    FABRIC,   /* FABR: ibnetdiscover text */
    SWITCHES, /* SWCH: GUIDs */
    ADDRESS,  /* TERM: port GUIDs of terminals */
    ABOUT,    /* ABOU: eight 32-bit numbers */
    LIDS,     /* LIDS: 16 bits a destination */
    PORTS,    /* PORT: a byte a (destination, switch) */
    SLS,      /* SLS_: bytes, as the form says */
    LANES,    /* LANE: 64 bytes a table */
    LANES_OF, /* LNOF: 16 bits a node */
    BY_PORTS, /* LNBP: for some switches: place, ports + 1, then 16 bits a pair of ports */
    VLARB,    /* VLAR */
    GROUPS,   /* MCAS: MLID, SL, then 32 bytes a switch */
    NUM_SECTIONS
};

static const char names[NUM_SECTIONS][5] = {"FABR", "SWCH", "TERM", "ABOU", "LIDS", "PORT",
                                            "SLS_", "LANE", "LNOF", "LNBP", "VLAR", "MCAS"};

/* ABOUT's numbers. */
enum { A_LMC, A_SL_FORM, A_SL, A_NUM_SLS, A_LANES_KNOWN, A_NUM_GROUPS, A_VLARB_GIVEN, A_SPARE };

struct sum {
    uint64_t value;
    uint8_t tail[8];
    size_t held;
};

/* FNV's step on 64-bit words; the last one is filled up with zeroes. */
static void sum_add(struct sum *sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size > 0) {
        size_t take = 8 - sum->held < size ? 8 - sum->held : size;
        memcpy(sum->tail + sum->held, at, take);
        sum->held += take;
        at += take;
        size -= take;
        if (sum->held < 8)
            return;
        uint64_t word = 0;
        for (int i = 7; i >= 0; i--)
            word = word << 8 | sum->tail[i];
        sum->value = (sum->value ^ word) * 0x100000001b3u;
        sum->held = 0;
    }
}

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

/* ---- writing ---- */

struct writer {
    sv_ctx *ctx;
    const sv_fabric *f;
    const sv_routes *r;
    uint32_t *nodes; /* live switches, then live terminals */
    uint32_t switches, terminals;
    sv_text out; /* what follows the head; collected in memory */
    uint64_t offset[NUM_SECTIONS], length[NUM_SECTIONS];
    struct sum sum;
    uint64_t written;
};

/* Bytes of the body, added to the sum and handed on. */
static sv_status emit(struct writer *w, const void *bytes, size_t size)
{
    sum_add(&w->sum, bytes, size);
    w->written += size;
    sv_text_add(&w->out, bytes, size);
    return w->out.status;
}

static sv_status emit_number(struct writer *w, uint64_t value, int bytes)
{
    uint8_t raw[8];
    put(raw, value, bytes);
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
                              r->lanes_known, r->num_groups, given, 0};
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
        if (w->r->lanes_by_ports[s] == NULL)
            continue;
        SV_TRY(emit_number(w, i, 4));
        SV_TRY(emit_number(w, ports, 4));
        for (size_t k = 0; k < ports * ports; k++)
            SV_TRY(emit_number(w, w->r->lanes_by_ports[s][k], 2));
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
            SV_TRY(emit(w, tables[k]->lane, 64));
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
    case LANES:
        return emit(w, w->r->lane_tables, w->r->num_lane_tables * sizeof(sv_lanes));
    case LANES_OF:
        for (uint32_t i = 0; i < w->switches + w->terminals; i++)
            SV_TRY(emit_number(w, w->r->lanes_of[w->nodes[i]], 2));
        return SV_OK;
    case BY_PORTS:
        return write_by_ports(w);
    case VLARB:
        return write_vlarb(w);
    case GROUPS:
        return write_groups(w);
    default:
        return SV_OK;
    }
}

/* The sections, each padded; notes where they are. */
static sv_status write_body(struct writer *w)
{
    static const uint8_t zeroes[ALIGN];
    uint64_t begin = HEAD_SIZE + (uint64_t)NUM_SECTIONS * ENTRY_SIZE;
    begin = (begin + ALIGN - 1) / ALIGN * ALIGN;
    for (int s = 0; s < NUM_SECTIONS; s++) {
        w->offset[s] = begin + w->written;
        uint64_t before = w->written;
        SV_TRY(write_section(w, (enum section)s));
        w->length[s] = w->written - before;
        SV_TRY(emit(w, zeroes, (size_t)(-w->written & (ALIGN - 1))));
    }
    return SV_OK;
}

/* How long head and list of sections are, padded. */
static uint64_t head_length(uint64_t sections)
{
    return (HEAD_SIZE + sections * ENTRY_SIZE + ALIGN - 1) / ALIGN * ALIGN;
}

static void write_head(const struct writer *w, uint8_t *head, size_t size)
{
    memset(head, 0, size);
    memcpy(head, magic, sizeof magic);
    put(head + 8, VERSION, 4);
    put(head + 12, NUM_SECTIONS, 4);
    put(head + 16, size + w->written, 8);
    for (int s = 0; s < NUM_SECTIONS; s++) {
        uint8_t *entry = head + HEAD_SIZE + (size_t)s * ENTRY_SIZE;
        memcpy(entry, names[s], 4);
        put(entry + 8, w->offset[s], 8);
        put(entry + 16, w->length[s], 8);
    }
    struct sum sum = w->sum;
    put(head + 24, sum.value, 8); /* sections are padded: nothing is held back */
    sum = (struct sum){0};
    sum_add(&sum, head, size);
    put(head + 32, sum.value, 8);
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

/* The body is put together in memory, because the head in front of it tells its sum. */
static sv_status write_all(struct writer *w, sv_file *file)
{
    uint8_t head[(HEAD_SIZE + NUM_SECTIONS * ENTRY_SIZE + ALIGN - 1) / ALIGN * ALIGN];
    sv_text_init(&w->out, w->ctx, NULL);
    SV_TRY(write_body(w));
    write_head(w, head, sizeof head);
    if (!file->sink.write(file->sink.user, head, sizeof head) ||
        !file->sink.write(file->sink.user, w->out.at, w->out.length))
        return sv_fail(w->ctx, SV_IO, "cannot write '%s'", file->path);
    return SV_OK;
}

sv_status sv__write_svr(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const char *path)
{
    struct writer w = {.ctx = ctx, .f = fabric, .r = routes};
    sv_file file;
    sv_arena arena;
    sv_fabric *with_lids = NULL;
    SV_TRY(sv_fabric_with_lids(ctx, fabric, routes, &with_lids));
    w.f = with_lids;
    sv_status status = sv_file_create(&file, ctx, path);
    if (status == SV_OK) {
        sv_arena_init(&arena, ctx);
        status = list_nodes(&w, &arena);
        if (status == SV_OK)
            status = write_all(&w, &file);
        sv_text_release(&w.out);
        sv_arena_release(&arena);
        if (status == SV_OK)
            status = sv_file_commit(&file);
        else
            sv_file_close(&file);
    }
    sv_fabric_free(with_lids);
    return status;
}

/* ---- reading ---- */

struct section_at {
    const uint8_t *at;
    uint64_t length;
};

struct reader {
    sv_ctx *ctx;
    const char *path;
    uint8_t *bytes;
    uint64_t size;
    struct section_at section[NUM_SECTIONS];
    const sv_fabric *f;
    sv_routes *r;
    uint32_t *nodes; /* the fabric's number of each node in the file's order */
    uint32_t switches, terminals;
    uint64_t destinations;
};

static sv_status bad(const struct reader *r, const char *what)
{
    return sv_fail(r->ctx, SV_BAD_INPUT, "%s: %s", r->path, what);
}

void sv__svr_seal(uint8_t *bytes, uint64_t size)
{
    uint64_t head_size = size < HEAD_SIZE ? size : head_length(get(bytes + 12, 4));
    struct sum head = {0}, body = {0};
    if (size < HEAD_SIZE || head_size > size)
        return;
    sum_add(&body, bytes + head_size, (size_t)(size - head_size));
    put(bytes + 24, body.value, 8);
    memset(bytes + 32, 0, 8);
    sum_add(&head, bytes, (size_t)head_size);
    put(bytes + 32, head.value, 8);
}

/* The whole file. */
static sv_status slurp(struct reader *r)
{
    sv_file file;
    size_t room = 0;
    SV_TRY(sv_file_open(&file, r->ctx, r->path));
    sv_status status = SV_OK;
    for (int64_t got = 1; status == SV_OK && got > 0;) {
        if (room - r->size < 65536)
            status = sv__array_grow(r->ctx, (void **)&r->bytes, &room, room + 65536, 1);
        if (status != SV_OK)
            break;
        got = file.source.read(file.source.user, r->bytes + r->size, room - r->size);
        if (got < 0)
            status = sv_fail(r->ctx, SV_IO, "cannot read '%s'", r->path);
        else
            r->size += (uint64_t)got;
        /* Not a file of ours: do not read gigabytes of it. */
        if (r->size >= 8 && memcmp(r->bytes, magic, 8) != 0)
            break;
    }
    sv_file_close(&file);
    return status;
}

static sv_status find_sections(struct reader *r)
{
    uint64_t count, head_size;
    if (r->size < HEAD_SIZE || memcmp(r->bytes, magic, sizeof magic) != 0)
        return bad(r, "neither a directory of tables nor a .svr file");
    if (get(r->bytes + 8, 4) != VERSION)
        return sv_fail(r->ctx, SV_UNSUPPORTED, "%s: version %llu, this selvage reads %d", r->path,
                       (unsigned long long)get(r->bytes + 8, 4), VERSION);
    count = get(r->bytes + 12, 4);
    head_size = head_length(count);
    if (count > MOST_SECTIONS || get(r->bytes + 16, 8) != r->size || head_size > r->size)
        return bad(r, "its length is not what it says: is it cut off?");
    uint64_t head_sum = get(r->bytes + 32, 8), body_sum = get(r->bytes + 24, 8);
    sv__svr_seal(r->bytes, r->size);
    if (head_sum != get(r->bytes + 32, 8) || body_sum != get(r->bytes + 24, 8))
        return bad(r, "its sum is wrong: the file is damaged");
    for (int s = 0; s < NUM_SECTIONS; s++)
        r->section[s] = (struct section_at){r->bytes, 0}; /* a missing one is empty */
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = r->bytes + HEAD_SIZE + i * ENTRY_SIZE;
        uint64_t offset = get(entry + 8, 8), length = get(entry + 16, 8);
        if (offset > r->size || length > r->size - offset)
            return bad(r, "a section is not within the file");
        for (int s = 0; s < NUM_SECTIONS; s++)
            if (memcmp(entry, names[s], 4) == 0)
                r->section[s] = (struct section_at){r->bytes + offset, length};
    }
    return SV_OK;
}

static sv_status read_fabric(struct reader *r, sv_fabric **fabric)
{
    sv_memory memory = {(const char *)r->section[FABRIC].at, (size_t)r->section[FABRIC].length};
    sv_source source = sv_memory_source(&memory, r->path);
    return sv_fabric_read(r->ctx, &source, SV_FORMAT_IBNETDISCOVER, fabric);
}

/* From the file's lists of GUIDs to the numbers of the fabric. */
static sv_status match_nodes(struct reader *r, sv__tables *t)
{
    r->switches = (uint32_t)(r->section[SWITCHES].length / 8);
    r->terminals = (uint32_t)(r->section[ADDRESS].length / 8);
    if (r->switches != r->f->num_switches || r->terminals != r->f->num_terminals)
        return bad(r, "lists of nodes do not fit the fabric in it");
    r->nodes = SV_ARENA_NEW(&t->arena, uint32_t, sv_num_nodes(r->f));
    uint64_t *seen = sv_bitset_new(&t->arena, sv_num_nodes(r->f));
    if (r->nodes == NULL || seen == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < r->switches + r->terminals; i++) {
        bool is_switch = i < r->switches;
        const uint8_t *at = is_switch ? r->section[SWITCHES].at + 8 * (size_t)i
                                      : r->section[ADDRESS].at + 8 * (size_t)(i - r->switches);
        uint32_t v = sv_map_get(is_switch ? &t->switches : &t->terminals, get(at, 8));
        if (v == SV_ABSENT)
            return bad(r, "a listed node is not in the fabric");
        v += is_switch ? 0 : r->f->num_switches;
        if (sv_bit(seen, v))
            return bad(r, "a node is listed twice");
        sv_bit_set(seen, v);
        r->nodes[i] = v;
    }
    return SV_OK;
}

/* Whether sections are as long as they must be. */
static sv_status check_lengths(struct reader *r, const uint32_t *about)
{
    uint64_t form = about[A_SL_FORM], nodes = (uint64_t)r->switches + r->terminals;
    r->destinations = r->switches + ((uint64_t)r->terminals << about[A_LMC]);
    uint64_t sls = form == SV_SL_BY_DESTINATION ? r->destinations
                   : form == SV_SL_BY_SWITCH    ? r->destinations * r->switches
                   : form == SV_SL_BY_NODE      ? r->destinations * nodes
                                                : 0;
    const struct {
        enum section what;
        uint64_t length;
    } wanted[] = {{LIDS, 2 * r->destinations},
                  {PORTS, r->destinations * r->switches},
                  {SLS, sls},
                  {LANES_OF, 2 * nodes},
                  {VLARB, SV_VLARB_COUNT * (1 + 2 * 129)},
                  {GROUPS, about[A_NUM_GROUPS] * (4 + 32 * (uint64_t)r->switches)}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (r->section[wanted[i].what].length != wanted[i].length)
            return sv_fail(r->ctx, SV_BAD_INPUT, "%s: section %s has the wrong length", r->path,
                           names[wanted[i].what]);
    uint64_t tables = r->section[LANES].length / sizeof(sv_lanes);
    if (tables == 0 || tables > UINT16_MAX || r->section[LANES].length % sizeof(sv_lanes) != 0)
        return bad(r, "section LANE has the wrong length");
    return SV_OK;
}

static sv_status read_lanes(struct reader *r)
{
    uint32_t tables = (uint32_t)(r->section[LANES].length / sizeof(sv_lanes));
    for (uint32_t i = 0; i < tables; i++) {
        sv_lanes lanes;
        memcpy(&lanes, r->section[LANES].at + i * sizeof lanes, sizeof lanes);
        for (int sl = 0; sl < SV_MOST_SLS; sl++)
            if ((lanes.of_sl[sl] >= SV_MOST_LANES && lanes.of_sl[sl] != SV_NO_LANE) ||
                (sl >= r->r->num_sls && lanes.of_sl[sl] != 0))
                return bad(r, "a lane is out of range");
        uint32_t number = sv_routes_lane_table(r->ctx, r->r, &lanes);
        if (number == SV_NONE)
            return SV_NO_MEMORY;
        if (number != i)
            return bad(r, "tables of lanes are not in order");
    }
    for (uint32_t i = 0; i < r->switches + r->terminals; i++) {
        uint64_t table = get(r->section[LANES_OF].at + 2 * (size_t)i, 2);
        if (table >= tables)
            return bad(r, "a table of lanes is out of range");
        r->r->lanes_of[r->nodes[i]] = (uint16_t)table;
    }
    const uint8_t *at = r->section[BY_PORTS].at, *end = at + r->section[BY_PORTS].length;
    while (end - at >= 8) {
        uint64_t place = get(at, 4), ports = get(at + 4, 4);
        if (place >= r->switches || ports != r->f->switches[r->nodes[place]].ports + 1u ||
            (uint64_t)(end - at) < 8 + 2 * ports * ports)
            return bad(r, "lanes by ports do not fit the fabric");
        for (uint64_t k = 0; k < ports * ports; k++) {
            uint64_t table = get(at + 8 + 2 * k, 2);
            if (table >= tables)
                return bad(r, "a table of lanes is out of range");
            SV_TRY(sv_routes_set_lanes(r->ctx, r->f, r->r, (sv_node){r->nodes[place]},
                                       (unsigned)(k / ports), (unsigned)(k % ports),
                                       (uint32_t)table));
        }
        at += 8 + 2 * ports * ports;
    }
    return at == end ? SV_OK : bad(r, "lanes by ports are cut off");
}

/* One destination: its LID, its row, its SLs. i: its place in the file. */
static sv_status read_destination(struct reader *r, uint64_t i, uint32_t d)
{
    unsigned form = r->r->sl_form;
    const uint8_t *ports = r->section[PORTS].at + i * r->switches;
    uint32_t all = r->switches + r->terminals;
    uint8_t *row = sv_routes_row(r->ctx, r->r, d);
    if (row == NULL)
        return SV_NO_MEMORY;
    r->r->lid[d] = (uint16_t)get(r->section[LIDS].at + 2 * i, 2);
    if (r->r->lid[d] > SV_LID_MAX)
        return bad(r, "a LID is out of range");
    for (uint32_t k = 0; k < r->switches; k++)
        row[r->nodes[k]] = ports[k];
    if (form != SV_SL_BY_DESTINATION && form != SV_SL_BY_SWITCH && form != SV_SL_BY_NODE)
        return SV_OK;
    uint32_t length = form == SV_SL_BY_NODE ? all : form == SV_SL_BY_SWITCH ? r->switches : 1;
    const uint8_t *from = r->section[SLS].at + i * length;
    uint8_t *sls = sv_routes_sl_row(r->ctx, r->r, form == SV_SL_BY_DESTINATION ? 0 : d);
    if (sls == NULL)
        return SV_NO_MEMORY;
    for (uint32_t k = 0; k < length; k++) {
        if (from[k] != SV_NO_SL && from[k] >= r->r->num_sls)
            return bad(r, "a service level is out of range");
        sls[form == SV_SL_BY_DESTINATION ? d : r->nodes[k]] = from[k];
    }
    return SV_OK;
}

static sv_status read_vlarb(struct reader *r, unsigned given)
{
    const uint8_t *at = r->section[VLARB].at;
    for (int i = 0; i < SV_VLARB_COUNT; i++) {
        sv_vlarb *v = &r->r->vlarb[i];
        sv_vlarb_table *tables[] = {&v->high, &v->low};
        v->given = given >> i & 1;
        v->high_limit = *at++;
        for (int k = 0; k < 2; k++) {
            tables[k]->length = *at++;
            if (tables[k]->length > 64)
                return bad(r, "VL arbitration with more than 64 entries");
            memcpy(tables[k]->lane, at, 64);
            memcpy(tables[k]->weight, at + 64, 64);
            at += 128;
        }
    }
    return SV_OK;
}

static sv_status read_groups(struct reader *r, uint32_t count)
{
    const uint8_t *at = r->section[GROUPS].at;
    for (uint32_t g = 0; g < count; g++) {
        sv_group *group;
        SV_TRY(sv_routes_add_group(r->ctx, r->r, (unsigned)get(at, 2), &group));
        group->sl = (uint8_t)get(at + 2, 2);
        at += 4;
        for (uint32_t i = 0; i < r->switches; i++)
            for (int k = 0; k < 4; k++, at += 8)
                group->ports[r->nodes[i]][k] = get(at, 8);
    }
    return SV_OK;
}

static sv_status read_tables(struct reader *r, sv__tables *t)
{
    uint32_t about[A_SPARE + 1];
    if (r->section[ABOUT].length != sizeof about)
        return bad(r, "section ABOU has the wrong length");
    for (int i = 0; i <= A_SPARE; i++)
        about[i] = (uint32_t)get(r->section[ABOUT].at + 4 * (size_t)i, 4);
    if (about[A_LMC] > 7 || about[A_SL_FORM] > SV_SL_BY_NODE ||
        about[A_NUM_SLS] < SV_HARDWARE_SLS || about[A_NUM_SLS] > SV_MOST_SLS ||
        about[A_SL] >= about[A_NUM_SLS])
        return bad(r, "section ABOU has a number out of range");
    SV_TRY(match_nodes(r, t));
    SV_TRY(check_lengths(r, about));
    SV_TRY(sv_routes_new(r->ctx, r->f, about[A_LMC], &r->r));
    SV_TRY(sv_routes_set_sl_form(r->ctx, r->r, (sv_sl_form)about[A_SL_FORM]));
    r->r->sl = (uint8_t)about[A_SL];
    r->r->num_sls = (uint8_t)about[A_NUM_SLS];
    r->r->lanes_known = about[A_LANES_KNOWN] != 0;
    SV_TRY(read_lanes(r));
    uint64_t place = 0;
    for (uint32_t i = 0; i < r->switches + r->terminals; i++)
        for (uint32_t d = r->r->first[r->nodes[i]]; d < r->r->first[r->nodes[i] + 1]; d++)
            SV_TRY(read_destination(r, place++, d));
    SV_TRY(read_vlarb(r, about[A_VLARB_GIVEN]));
    SV_TRY(read_groups(r, about[A_NUM_GROUPS]));
    return sv_routes_check(r->ctx, r->f, r->r);
}

sv_status sv__read_svr(sv_ctx *ctx, const char *path, sv_fabric **fabric, sv_routes **routes)
{
    struct reader r = {.ctx = ctx, .path = path};
    sv_status status = slurp(&r);
    if (status == SV_OK)
        status = sv__parse_svr(ctx, path, r.bytes, r.size, fabric, routes);
    sv_release(ctx, r.bytes);
    return status;
}

sv_status sv__parse_svr(sv_ctx *ctx, const char *path, uint8_t *bytes, uint64_t size,
                        sv_fabric **fabric, sv_routes **routes)
{
    struct reader r = {.ctx = ctx, .path = path, .bytes = bytes, .size = size};
    sv_fabric *f = NULL;
    sv_status status = find_sections(&r);
    if (status == SV_OK)
        status = read_fabric(&r, &f);
    if (status == SV_OK && routes != NULL) {
        sv__tables t;
        r.f = f;
        status = sv__tables_init(&t, ctx, f);
        if (status == SV_OK)
            status = read_tables(&r, &t);
        sv__tables_release(&t);
    }
    if (status == SV_OK) {
        *fabric = f;
        if (routes != NULL)
            *routes = r.r;
    } else {
        sv_routes_free(r.r);
        sv_fabric_free(f);
    }
    return status;
}
