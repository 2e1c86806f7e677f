/*
 * svr.c: reads fabric and tables from one binary file (docs/formats.md has the layout).
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
 * Cost: linear in the file, which is held in memory once more.
 */
#include "formats/svr.h"

#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "base/file.h"
#include "formats/tables.h"

const char sv__svr_magic[8] = "selvage";

const char sv__svr_names[NUM_SECTIONS][5] = {"FABR", "SWCH", "TERM", "ABOU", "LIDS", "PORT", "SLS_",
                                             "LANE", "LNOF", "LNBP", "VLAR", "MCAS", "ORDR"};

enum { MAX_SECTIONS = 64 };

/* FNV's step on 64-bit words; the last one is filled up with zeroes. */
static uint64_t sum_of(const uint8_t *bytes, uint64_t size)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t left = size - i;
        sum = (sum ^ sv__get(bytes + i, left < 8 ? (int)left : 8)) * 0x100000001b3u;
    }
    return sum;
}

void sv__svr_seal(uint8_t *bytes, uint64_t size)
{
    uint64_t head = size < SV__SVR_HEAD ? UINT64_MAX : sv__svr_head_length(sv__get(bytes + 12, 4));
    if (head > size)
        return;
    sv__put(bytes + 24, sum_of(bytes + head, size - head), 8);
    sv__put(bytes + 32, 0, 8);
    sv__put(bytes + 32, sum_of(bytes, head), 8);
}

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
            status = sv_cancelled(r->ctx)
                         ? sv_fail(r->ctx, SV_CANCELLED, "cancelled during reading")
                         : sv_fail(r->ctx, SV_IO, "cannot read '%s'", r->path);
        else
            r->size += (uint64_t)got;
        /* Not a file of ours: do not read gigabytes of it. */
        if (r->size >= 8 && memcmp(r->bytes, sv__svr_magic, 8) != 0)
            break;
    }
    sv_file_close(&file);
    return status;
}

static sv_status find_sections(struct reader *r)
{
    uint64_t count, head_size;
    if (r->size < SV__SVR_HEAD || memcmp(r->bytes, sv__svr_magic, sizeof sv__svr_magic) != 0)
        return bad(r, "neither a directory of tables nor a .svr file");
    if (sv__get(r->bytes + 8, 4) != SV__SVR_VERSION)
        return sv_fail(r->ctx, SV_UNSUPPORTED, "%s: version %llu, this selvage reads %d", r->path,
                       (unsigned long long)sv__get(r->bytes + 8, 4), SV__SVR_VERSION);
    count = sv__get(r->bytes + 12, 4);
    head_size = sv__svr_head_length(count);
    if (count > MAX_SECTIONS || sv__get(r->bytes + 16, 8) != r->size || head_size > r->size)
        return bad(r, "its length is not what it says: is it cut off?");
    uint64_t head_sum = sv__get(r->bytes + 32, 8), body_sum = sv__get(r->bytes + 24, 8);
    sv__svr_seal(r->bytes, r->size);
    if (head_sum != sv__get(r->bytes + 32, 8) || body_sum != sv__get(r->bytes + 24, 8))
        return bad(r, "its sum is wrong: the file is damaged");
    for (int s = 0; s < NUM_SECTIONS; s++)
        r->section[s] = (struct section_at){r->bytes, 0}; /* a missing one is empty */
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = r->bytes + SV__SVR_HEAD + i * SV__SVR_ENTRY;
        uint64_t offset = sv__get(entry + 8, 8), length = sv__get(entry + 16, 8);
        if (offset > r->size || length > r->size - offset)
            return bad(r, "a section is not within the file");
        for (int s = 0; s < NUM_SECTIONS; s++)
            if (memcmp(entry, sv__svr_names[s], 4) == 0)
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
        uint32_t v = sv_map_get(is_switch ? &t->switches : &t->terminals, sv__get(at, 8));
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
                  {VLS_OF, 2 * nodes},
                  {VLARB, SV_VLARB_COUNT * (1 + 2 * 129)},
                  {GROUPS, about[A_NUM_GROUPS] * (4 + 32 * (uint64_t)r->switches)}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (r->section[wanted[i].what].length != wanted[i].length)
            return sv_fail(r->ctx, SV_BAD_INPUT, "%s: section %s has the wrong length", r->path,
                           sv__svr_names[wanted[i].what]);
    uint64_t tables = r->section[VLS].length / sizeof(sv_sl2vl);
    if (tables == 0 || tables > UINT16_MAX || r->section[VLS].length % sizeof(sv_sl2vl) != 0)
        return bad(r, "section LANE has the wrong length");
    return SV_OK;
}

static sv_status read_vls(struct reader *r)
{
    uint32_t tables = (uint32_t)(r->section[VLS].length / sizeof(sv_sl2vl));
    for (uint32_t i = 0; i < tables; i++) {
        sv_sl2vl vls;
        memcpy(&vls, r->section[VLS].at + i * sizeof vls, sizeof vls);
        for (int sl = 0; sl < SV_MAX_SLS; sl++)
            if ((vls.of_sl[sl] >= SV_MAX_VLS && vls.of_sl[sl] != SV_NO_VL) ||
                (sl >= r->r->num_sls && vls.of_sl[sl] != 0))
                return bad(r, "a VL is out of range");
        uint32_t number = sv_routes_sl2vl_table(r->ctx, r->r, &vls);
        if (number == SV_NONE)
            return SV_NO_MEMORY;
        if (number != i)
            return bad(r, "tables of VLs are not in order");
    }
    for (uint32_t i = 0; i < r->switches + r->terminals; i++) {
        uint64_t table = sv__get(r->section[VLS_OF].at + 2 * (size_t)i, 2);
        if (table >= tables)
            return bad(r, "a table of VLs is out of range");
        r->r->vls_of[r->nodes[i]] = (uint16_t)table;
    }
    const uint8_t *at = r->section[BY_PORTS].at, *end = at + r->section[BY_PORTS].length;
    while (end - at >= 8) {
        uint64_t place = sv__get(at, 4), ports = sv__get(at + 4, 4);
        if (place >= r->switches || ports != r->f->switches[r->nodes[place]].ports + 1u ||
            (uint64_t)(end - at) < 8 + 2 * ports * ports)
            return bad(r, "VLs by ports do not fit the fabric");
        for (uint64_t k = 0; k < ports * ports; k++) {
            uint64_t table = sv__get(at + 8 + 2 * k, 2);
            if (table >= tables)
                return bad(r, "a table of VLs is out of range");
            SV_TRY(sv_routes_set_sl2vl(r->ctx, r->f, r->r, (sv_node){r->nodes[place]},
                                       (unsigned)(k / ports), (unsigned)(k % ports),
                                       (uint32_t)table));
        }
        at += 8 + 2 * ports * ports;
    }
    return at == end ? SV_OK : bad(r, "VLs by ports are cut off");
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
    r->r->lid[d] = (uint16_t)sv__get(r->section[LIDS].at + 2 * i, 2);
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
            memcpy(tables[k]->vl, at, 64);
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
        SV_TRY(sv_routes_add_group(r->ctx, r->r, (unsigned)sv__get(at, 2), &group));
        group->sl = (uint8_t)sv__get(at + 2, 2);
        at += 4;
        for (uint32_t i = 0; i < r->switches; i++)
            for (int k = 0; k < 4; k++, at += 8)
                group->ports[r->nodes[i]][k] = sv__get(at, 8);
    }
    return SV_OK;
}

/* A file without orders has no such section, or an empty one. */
static sv_status read_orders(struct reader *r)
{
    const struct section_at *from = &r->section[ORDERS];
    uint64_t ports = 0, vls = from->length < 8 ? 0 : sv__get(from->at, 4);
    uint32_t *numbers;
    if (from->length == 0)
        return SV_OK;
    for (uint32_t s = 0; s < r->switches; s++)
        ports += r->f->switches[s].ports + 1u;
    if (vls == 0 || vls > SV_MAX_VLS || from->length != 8 + 4 * ports * vls)
        return bad(r, "section ORDR has the wrong length");
    SV_TRY(sv_routes_set_orders(r->ctx, r->f, r->r, (unsigned)vls, &numbers));
    const uint8_t *at = from->at + 8;
    for (uint32_t i = 0; i < r->switches; i++) {
        uint32_t s = r->nodes[i];
        uint32_t *to = numbers + r->r->order_first[s] * vls;
        for (uint64_t k = 0; k < (r->f->switches[s].ports + 1u) * vls; k++, at += 4)
            to[k] = (uint32_t)sv__get(at, 4);
    }
    return SV_OK;
}

static sv_status read_tables(struct reader *r, sv__tables *t)
{
    uint32_t about[A_SPARE + 1];
    if (r->section[ABOUT].length != sizeof about)
        return bad(r, "section ABOU has the wrong length");
    for (int i = 0; i <= A_SPARE; i++)
        about[i] = (uint32_t)sv__get(r->section[ABOUT].at + 4 * (size_t)i, 4);
    if (about[A_LMC] > 7 || about[A_SL_FORM] > SV_SL_BY_NODE ||
        about[A_NUM_SLS] < SV_HARDWARE_SLS || about[A_NUM_SLS] > SV_MAX_SLS ||
        about[A_SL] >= about[A_NUM_SLS])
        return bad(r, "section ABOU has a number out of range");
    SV_TRY(match_nodes(r, t));
    SV_TRY(check_lengths(r, about));
    SV_TRY(sv_routes_new(r->ctx, r->f, about[A_LMC], &r->r));
    SV_TRY(sv_routes_set_sl_form(r->ctx, r->r, (sv_sl_form)about[A_SL_FORM]));
    r->r->sl = (uint8_t)about[A_SL];
    r->r->num_sls = (uint8_t)about[A_NUM_SLS];
    r->r->sl2vl_known = about[A_VLS_KNOWN] != 0;
    SV_TRY(read_vls(r));
    uint64_t place = 0;
    for (uint32_t i = 0; i < r->switches + r->terminals; i++)
        for (uint32_t d = r->r->first[r->nodes[i]]; d < r->r->first[r->nodes[i] + 1]; d++)
            SV_TRY(read_destination(r, place++, d));
    SV_TRY(read_vlarb(r, about[A_VLARB_GIVEN]));
    SV_TRY(read_groups(r, about[A_NUM_GROUPS]));
    SV_TRY(read_orders(r));
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
