/*
 * dump.c: a directory as OpenSM dumps it: fabric and tables together.
 *
 *     opensm-subnet.lst   the fabric (subnet.lst)
 *     opensm-lfts.dump    forwarding tables (opensm.fdbs, osm.fdbs)
 *     opensm-sl2vl.dump   VLs
 *     opensm.psl          service levels of paths
 *     opensm.mcfdbs       multicast tables (osm.mcfdbs)
 *     opensm-qos.conf     VL arbitration
 *     selvage.orders      why they cannot deadlock, for repairs (nobody else reads it)
 *
 * Only the first two must be there. What a missing file would have told is not known: no VLs
 * means VLs unknown, no psl means SLs unknown (sv_verify says what follows). We write all of
 * them, and LFTs in both formats, as one set (base/fileset.h): whoever reads the directory gets the
 * old tables or the new ones, never a mixture, and one that was made by hand is refused.
 *
 * Cost: linear in the files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fileset.h"
#include "formats/svr.h"
#include "formats/tables.h"

/* ---- shared ---- */

sv_status sv__tables_init(sv__tables *t, sv_ctx *ctx, const sv_fabric *f)
{
    *t = (sv__tables){.ctx = ctx, .fabric = f};
    sv_arena_init(&t->arena, ctx);
    sv_map_init(&t->switches, ctx);
    sv_map_init(&t->terminals, ctx);
    uint32_t held;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_node_alive(f, (sv_node){s}))
            SV_TRY(sv_map_add(&t->switches, f->switches[s].guid, s, &held));
    for (uint32_t i = 0; i < f->num_terminals; i++)
        if (sv_node_alive(f, (sv_node){f->num_switches + i}))
            SV_TRY(sv_map_add(&t->terminals, f->terminals[i].guid, i, &held));
    return SV_OK;
}

void sv__tables_release(sv__tables *t)
{
    sv_map_release(&t->switches);
    sv_map_release(&t->terminals);
    sv_arena_release(&t->arena);
}

sv_status sv__tables_index(sv__tables *t)
{
    if (t->by_lid == NULL)
        t->by_lid = SV_ARENA_NEW(&t->arena, uint32_t, SV_LID_MAX + 1);
    if (t->by_lid == NULL)
        return SV_NO_MEMORY;
    for (uint32_t lid = 0; lid <= SV_LID_MAX; lid++)
        t->by_lid[lid] = SV_NONE;
    for (uint32_t d = 0; d < t->routes->num_destinations; d++) {
        uint32_t lid = t->routes->lid[d];
        if (lid > 0 && lid <= SV_LID_MAX && t->by_lid[lid] == SV_NONE)
            t->by_lid[lid] = d;
    }
    return SV_OK;
}

void sv__stranger(sv__tables *t, const char *format, ...)
{
    if (t->strangers++ > 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(t->stranger, sizeof t->stranger, format, args);
    va_end(args);
}

sv_status sv__fits_lids(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r)
{
    uint64_t wanted = f->live_switches + ((uint64_t)f->live_terminals << r->lmc);
    if (wanted > SV_LID_MAX)
        return sv_fail(ctx, SV_INFEASIBLE,
                       "%llu addresses, but InfiniBand has %u unicast LIDs: write a .svr file",
                       (unsigned long long)wanted, SV_LID_MAX);
    for (uint32_t d = 0; d < r->num_destinations; d++)
        if (r->lid[d] == 0 && sv_node_alive(f, r->node[d]))
            return sv_fail(ctx, SV_INFEASIBLE, "\"%s\" has no LID", sv_node_name(f, r->node[d]));
    for (uint32_t t = 0; t < r->num_vl_tables; t++)
        for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
            if (r->vl_tables[t].of_sl[sl] >= SV_HARDWARE_VLS &&
                r->vl_tables[t].of_sl[sl] != SV_NO_VL)
                return sv_fail(ctx, SV_INFEASIBLE,
                               "VL %u is in use, but InfiniBand has %d: write a .svr file",
                               r->vl_tables[t].of_sl[sl], SV_HARDWARE_VLS);
    if (r->num_sls > SV_HARDWARE_SLS)
        return sv_fail(ctx, SV_INFEASIBLE,
                       "%u service levels, but InfiniBand has %d: write a .svr file", r->num_sls,
                       SV_HARDWARE_SLS);
    return SV_OK;
}

/* ---- reading ---- */

/* In the order in which they are read. */
enum {
    PART_SUBNET,
    PART_LFTS,
    PART_SL2VL,
    PART_PSL,
    PART_MCFDBS,
    PART_QOS,
    PART_ORDERS,
    PART_FDBS, /* not read if there is another file of LFTs, but ibdmchk does: it must be of the set
                */
    NUM_PARTS
};

static const sv_fileset_part parts[NUM_PARTS] = {
    {{"opensm-subnet.lst", "subnet.lst", NULL}},
    {{"opensm-lfts.dump", "opensm.fdbs", "osm.fdbs", NULL}},
    {{"opensm-sl2vl.dump", NULL}},
    {{"opensm.psl", NULL}},
    {{"opensm.mcfdbs", "osm.mcfdbs", NULL}},
    {{"opensm-qos.conf", NULL}},
    {{"selvage.orders", NULL}},
    {{"opensm.fdbs", NULL}},
};

static sv_status read_part(sv__tables *t, const sv_file *file, sv__tables_read_fn *read)
{
    sv_lines lines;
    sv_status status = sv_lines_init(&lines, t->ctx, &file->source);
    if (status == SV_OK)
        status = read(t, &lines);
    sv_lines_release(&lines);
    if (status == SV_OK && t->strangers > 0)
        sv_warn_content(t->ctx, file->path, 0,
                        "%llu GUID(s) or LID(s) are not in the fabric, %s first",
                        (unsigned long long)t->strangers, t->stranger);
    t->strangers = 0;
    return status;
}

static sv_status read_parts(sv__tables *t, const sv_fileset *set, const char *directory)
{
    static sv__tables_read_fn *const readers[NUM_PARTS] = {
        [PART_LFTS] = sv__read_lfts, [PART_SL2VL] = sv__read_sl2vl,
        [PART_PSL] = sv__read_psl,   [PART_MCFDBS] = sv__read_mcfdbs,
        [PART_QOS] = sv__read_qos,   [PART_ORDERS] = sv__read_orders};
    if (set->file[PART_LFTS].descriptor < 0)
        return sv_fail(t->ctx, SV_BAD_INPUT,
                       "%s: no forwarding tables (opensm-lfts.dump or opensm.fdbs)", directory);
    SV_TRY(read_part(t, &set->file[PART_LFTS], sv__read_lfts));
    t->routes->sl2vl_known = false;
    t->routes->sl_form = SV_SL_UNKNOWN;
    for (int i = PART_LFTS + 1; i < NUM_PARTS; i++)
        if (set->file[i].descriptor >= 0 && readers[i] != NULL)
            SV_TRY(read_part(t, &set->file[i], readers[i]));
    return SV_OK;
}

/* What a set that is open holds. */
static sv_status read_set(sv_ctx *ctx, const sv_fileset *set, const char *directory,
                          sv_fabric **fabric, sv_routes **routes)
{
    sv_fabric *f = NULL;
    if (set->file[PART_SUBNET].descriptor < 0)
        return sv_fail(ctx, SV_BAD_INPUT, "%s: no opensm-subnet.lst in it", directory);
    SV_TRY(sv_fabric_read(ctx, &set->file[PART_SUBNET].source, SV_FORMAT_AUTO, &f));
    if (routes == NULL) {
        *fabric = f;
        return SV_OK;
    }
    sv__tables t;
    sv_status status = sv__tables_init(&t, ctx, f);
    if (status == SV_OK)
        status = read_parts(&t, set, directory);
    sv__tables_release(&t);
    if (status == SV_OK) {
        *fabric = f;
        *routes = t.routes;
    } else {
        sv_routes_free(t.routes);
        sv_fabric_free(f);
    }
    return status;
}

static sv_status read_directory(sv_ctx *ctx, const char *directory, sv_fabric **fabric,
                                sv_routes **routes)
{
    enum { ATTEMPTS = 5 };
    sv_fileset set;
    for (int attempt = 1;; attempt++) {
        SV_TRY(sv_fileset_open(&set, ctx, directory, parts,
                               routes == NULL ? PART_SUBNET + 1 : NUM_PARTS));
        sv_fabric *f = NULL;
        sv_routes *r = NULL;
        sv_status status = read_set(ctx, &set, directory, &f, routes == NULL ? NULL : &r);
        bool settled = sv_fileset_settled(&set);
        sv_fileset_close(&set);
        if (settled && status == SV_OK) {
            *fabric = f;
            if (routes != NULL)
                *routes = r;
            return SV_OK;
        }
        sv_routes_free(r);
        sv_fabric_free(f);
        if (settled || status == SV_CANCELLED || status == SV_NO_MEMORY)
            return status;
        if (attempt == ATTEMPTS)
            return sv_fail(ctx, SV_BAD_INPUT,
                           "%s: files change while they are read; try again when whoever writes "
                           "them is done",
                           directory);
    }
}

/* ---- as one number ---- */

bool sv__dump_has(const char *name)
{
    for (int i = 0; i < NUM_PARTS; i++)
        for (int k = 0; parts[i].names[k] != NULL; k++)
            if (strcmp(parts[i].names[k], name) == 0)
                return true;
    return false;
}

static sv_status digest_part(sv_ctx *ctx, const sv_file *file, uint64_t *digest)
{
    unsigned char bytes[4096];
    int64_t length;
    while ((length = file->source.read(file->source.user, bytes, sizeof bytes)) > 0)
        *digest = sv_digest(*digest, bytes, (size_t)length);
    return length < 0 ? sv_fail(ctx, SV_IO, "cannot read '%s'", file->path) : SV_OK;
}

sv_status sv__dump_digest(sv_ctx *ctx, const char *directory, uint64_t *digest)
{
    sv_fileset set;
    *digest = SV_DIGEST_START;
    SV_TRY(sv_fileset_open(&set, ctx, directory, parts, NUM_PARTS));
    sv_status status = SV_OK;
    for (unsigned i = 0; status == SV_OK && i < NUM_PARTS; i++) {
        *digest = sv_digest(*digest, &i, sizeof i);
        if (set.file[i].descriptor >= 0)
            status = digest_part(ctx, &set.file[i], digest);
    }
    if (status == SV_OK && !sv_fileset_settled(&set))
        status = sv_fail(ctx, SV_BAD_INPUT,
                         "%s: files change while they are read; try again when whoever writes them "
                         "is done",
                         directory);
    sv_fileset_close(&set);
    return status;
}

sv_status sv_dump_read(sv_ctx *ctx, const char *path, sv_fabric **fabric, sv_routes **routes)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return sv_fail(ctx, SV_IO, "cannot open '%s': %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return read_directory(ctx, path, fabric, routes);
    return sv__read_svr(ctx, path, fabric, routes);
}

/* ---- writing ---- */

static sv_status write_subnet(sv_text *out, const sv_fabric *f, const sv_routes *r)
{
    (void)r;
    return sv_fabric_write(out->ctx, f, SV_FORMAT_SUBNET, out->sink);
}

/* What is not known is not written: a file would claim that it is. */
static bool is_known(const sv_routes *r, sv__tables_write_fn *write)
{
    return !(write == sv__write_sl2vl && !r->sl2vl_known) &&
           !(write == sv__write_psl && r->sl_form == SV_SL_UNKNOWN) &&
           !(write == sv__write_orders && r->orders == NULL);
}

/* All that belongs to a set. What OpenSM, ibsim and ibdmchk read in front of a line is theirs. */
enum { NUM_FILES = 8, REPATH = NUM_FILES, NUM_MEMBERS };

static const sv_fileset_member members[NUM_MEMBERS] = {
    {"opensm-subnet.lst", SV_STAMP_TAIL}, {"opensm-lfts.dump", SV_STAMP_LINE},
    {"opensm.fdbs", SV_STAMP_LINE},       {"opensm-sl2vl.dump", SV_STAMP_LINE},
    {"opensm.psl", SV_STAMP_LINE},        {"opensm.mcfdbs", SV_STAMP_LINE},
    {"opensm-qos.conf", SV_STAMP_LINE},   {"selvage.orders", SV_STAMP_LINE},
    {"repath.txt", SV_STAMP_LINE}};

static sv__tables_write_fn *const writers[NUM_FILES] = {
    write_subnet,  sv__write_lfts,   sv__write_fdbs, sv__write_sl2vl,
    sv__write_psl, sv__write_mcfdbs, sv__write_qos,  sv__write_orders};

static sv_status write_file(sv_fileset_writer *w, unsigned i, const sv_fabric *f,
                            const sv_routes *r)
{
    const sv_sink *sink = sv_fileset_begin(w, i);
    sv_text out;
    if (sink == NULL)
        return SV_IO;
    sv_text_init(&out, w->ctx, sink);
    sv_status status = writers[i](&out, f, r);
    if (status == SV_OK)
        status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

static sv_status write_repath(sv_fileset_writer *w, const sv_dump_extra *extra)
{
    const sv_sink *sink = sv_fileset_begin(w, REPATH);
    return sink == NULL ? SV_IO : extra->write(extra->user, w->ctx, sink);
}

static sv_status write_directory(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r,
                                 const char *directory, const sv_dump_extra *extra)
{
    sv_fileset_writer w;
    SV_TRY(sv_fileset_create(&w, ctx, directory, members, NUM_MEMBERS));
    sv_status status = SV_OK;
    for (unsigned i = 0; status == SV_OK && i < NUM_FILES; i++)
        if (is_known(r, writers[i]))
            status = write_file(&w, i, f, r);
    if (status == SV_OK && extra != NULL)
        status = write_repath(&w, extra);
    if (status == SV_OK)
        status = sv_fileset_commit(&w);
    sv_fileset_end(&w);
    return status;
}

/* Files list what has cables. */
static bool has_cabled_switch(const sv_fabric *f)
{
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (sv_degree(f, (sv_node){s}) > 0)
            return true;
    return false;
}

/* Makes a directory, so that it lasts; *made is false if it was there. */
static sv_status make_directory(sv_ctx *ctx, const char *path, bool *made)
{
    char name[NAME_MAX + 1], plain[PATH_MAX];
    sv_folder above;
    *made = mkdir(path, 0777) == 0;
    if (!*made)
        return errno == EEXIST ? SV_OK
                               : sv_fail(ctx, SV_IO, "cannot make '%s': %s", path, strerror(errno));
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    snprintf(plain, sizeof plain, "%.*s", (int)length, path);
    SV_TRY(sv_folder_above(&above, ctx, "make", plain, name));
    sv_status status = sv_folder_sync(&above, ctx, path);
    sv_folder_close(&above);
    return status;
}

static sv_status write_into(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                            const char *path, const sv_dump_extra *extra)
{
    SV_TRY(sv__fits_lids(ctx, fabric, routes));
    if (!has_cabled_switch(fabric))
        return sv_fail(ctx, SV_INFEASIBLE,
                       "a fabric with no switch with a cable has no forwarding tables");
    sv_fabric *with_lids = NULL;
    bool made = false;
    SV_TRY(sv_fabric_with_lids(ctx, fabric, routes, &with_lids));
    sv_status status = make_directory(ctx, path, &made);
    if (status == SV_OK)
        status = write_directory(ctx, with_lids, routes, path, extra);
    if (status != SV_OK && made)
        rmdir(path);
    sv_fabric_free(with_lids);
    return status;
}

/*
 * One file, and what belongs to it beside it. What was beside the old one is of other tables: it
 * goes first, and the new one comes last, so that at no moment a list stands beside tables that it
 * is not for; if anything fails, both are as they were.
 */
static sv_status write_single(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                              const char *path, const sv_dump_extra *extra)
{
    char beside[PATH_MAX];
    sv_file tables, list = {.ctx = ctx, .descriptor = -1}, stale = list;
    sv_file *const files[] = {&stale, &tables, extra == NULL ? NULL : &list};
    snprintf(beside, sizeof beside, "%s.repath", path);
    SV_TRY(sv_file_create(&tables, ctx, path));
    sv_status status = sv__write_svr(ctx, fabric, routes, &tables);
    if (status == SV_OK)
        status = sv_file_remove(&stale, ctx, beside);
    if (status == SV_OK && extra != NULL)
        status = sv_file_create(&list, ctx, beside);
    if (status == SV_OK && extra != NULL)
        status = extra->write(extra->user, ctx, &list.sink);
    if (status == SV_OK)
        return sv_files_commit(files, 3);
    sv_file_close(&tables);
    sv_file_close(&stale);
    sv_file_close(&list);
    return status;
}

sv_status sv_dump_write_with(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                             const char *path, const sv_dump_extra *extra)
{
    size_t length = strlen(path);
    SV_TRY(sv__names_are_own(ctx, fabric));
    if (length > 4 && strcmp(path + length - 4, ".svr") == 0)
        return write_single(ctx, fabric, routes, path, extra);
    return write_into(ctx, fabric, routes, path, extra);
}

sv_status sv_dump_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const char *path)
{
    return sv_dump_write_with(ctx, fabric, routes, path, NULL);
}

sv_status sv_routes_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                          sv_routes_format format, const sv_sink *sink)
{
    static sv__tables_write_fn *const single[] = {
        sv__write_lfts,        sv__write_fdbs,   sv__write_sl2vl, sv__write_psl,
        sv__write_ibdmchk_psl, sv__write_mcfdbs, sv__write_qos};
    if ((unsigned)format >= SV_ROUTES_FORMAT_COUNT)
        return sv_fail(ctx, SV_UNSUPPORTED, "this format cannot be written");
    SV_TRY(sv__names_are_own(ctx, fabric));
    SV_TRY(sv__fits_lids(ctx, fabric, routes));
    if (!is_known(routes, single[format]) ||
        (format == SV_ROUTES_IBDMCHK_PSL && routes->sl_form == SV_SL_UNKNOWN))
        return sv_fail(ctx, SV_INFEASIBLE, "the tables do not tell that");
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_status status = single[format](&out, fabric, routes);
    if (status == SV_OK)
        status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

static const char *const format_names[] = {"lfts",        "fdbs",   "sl2vl", "psl",
                                           "ibdmchk-psl", "mcfdbs", "qos"};

sv_routes_format sv_routes_format_named(const char *name)
{
    for (int i = 0; i < SV_ROUTES_FORMAT_COUNT; i++)
        if (strcmp(format_names[i], name) == 0)
            return (sv_routes_format)i;
    return SV_ROUTES_FORMAT_COUNT;
}
