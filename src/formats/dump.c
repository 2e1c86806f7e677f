/*
 * dump.c: a directory as OpenSM dumps it: fabric and tables together.
 *
 *     opensm-subnet.lst   the fabric (subnet.lst)
 *     opensm-lfts.dump    forwarding tables (opensm.fdbs, osm.fdbs)
 *     opensm-sl2vl.dump   lanes
 *     opensm.psl          service levels of paths
 *     opensm.mcfdbs       multicast tables (osm.mcfdbs)
 *     opensm-qos.conf     VL arbitration
 *     selvage.orders      why they cannot deadlock, for repairs (nobody else reads it)
 *
 * Only the first two must be there. What a missing file would have told is not known: no lanes
 * means lanes unknown, no psl means SLs unknown (sv_verify says what follows). We write all of
 * them, and LFTs in both formats, all or none: every file is complete out of sight before the first
 * is put in its place.
 *
 * Cost: linear in the files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
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
    for (uint32_t t = 0; t < r->num_lane_tables; t++)
        for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
            if (r->lane_tables[t].of_sl[sl] >= SV_HARDWARE_LANES &&
                r->lane_tables[t].of_sl[sl] != SV_NO_LANE)
                return sv_fail(ctx, SV_INFEASIBLE,
                               "lane %u is in use, but InfiniBand has %d: write a .svr file",
                               r->lane_tables[t].of_sl[sl], SV_HARDWARE_LANES);
    if (r->num_sls > SV_HARDWARE_SLS)
        return sv_fail(ctx, SV_INFEASIBLE,
                       "%u service levels, but InfiniBand has %d: write a .svr file", r->num_sls,
                       SV_HARDWARE_SLS);
    return SV_OK;
}

/* ---- reading ---- */

static char *join(sv_arena *arena, const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = sv_arena_alloc(arena, size, 1);
    if (path != NULL)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* The first of some names that is there; NULL if none is. */
static sv_status find(sv_arena *arena, const char *directory, const char *const *names,
                      const char **found)
{
    *found = NULL;
    for (; *found == NULL && *names != NULL; names++) {
        char *path = join(arena, directory, *names);
        if (path == NULL)
            return SV_NO_MEMORY;
        if (access(path, F_OK) == 0)
            *found = path;
    }
    return SV_OK;
}

static sv_status read_part(sv__tables *t, const char *path, sv__tables_read_fn *read)
{
    sv_file file;
    sv_lines lines;
    SV_TRY(sv_file_open(&file, t->ctx, path));
    sv_status status = sv_lines_init(&lines, t->ctx, &file.source);
    if (status == SV_OK)
        status = read(t, &lines);
    sv_lines_release(&lines);
    sv_file_close(&file);
    if (status == SV_OK && t->strangers > 0)
        sv_warn(t->ctx, "%s: %llu GUID(s) or LID(s) are not in the fabric, %s first", path,
                (unsigned long long)t->strangers, t->stranger);
    t->strangers = 0;
    return status;
}

static const char *const subnet_names[] = {"opensm-subnet.lst", "subnet.lst", NULL};
static const char *const lft_names[] = {"opensm-lfts.dump", "opensm.fdbs", "osm.fdbs", NULL};

static const struct part {
    const char *names[3];
    sv__tables_read_fn *read;
} parts[] = {
    {{"opensm-sl2vl.dump", NULL}, sv__read_sl2vl},
    {{"opensm.psl", NULL}, sv__read_psl},
    {{"opensm.mcfdbs", "osm.mcfdbs", NULL}, sv__read_mcfdbs},
    {{"opensm-qos.conf", NULL}, sv__read_qos},
    {{"selvage.orders", NULL}, sv__read_orders},
};

static sv_status read_parts(sv__tables *t, const char *directory)
{
    const char *path;
    SV_TRY(find(&t->arena, directory, lft_names, &path));
    if (path == NULL)
        return sv_fail(t->ctx, SV_BAD_INPUT,
                       "%s: no forwarding tables (opensm-lfts.dump or opensm.fdbs)", directory);
    SV_TRY(read_part(t, path, sv__read_lfts));
    t->routes->lanes_known = false;
    t->routes->sl_form = SV_SL_UNKNOWN;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        SV_TRY(find(&t->arena, directory, parts[i].names, &path));
        if (path != NULL)
            SV_TRY(read_part(t, path, parts[i].read));
    }
    return SV_OK;
}

static sv_status read_directory(sv_ctx *ctx, const char *directory, sv_fabric **fabric,
                                sv_routes **routes)
{
    sv_arena arena;
    sv_fabric *f = NULL;
    sv_arena_init(&arena, ctx);
    const char *path;
    sv_status status = find(&arena, directory, subnet_names, &path);
    if (status == SV_OK && path == NULL)
        status = sv_fail(ctx, SV_BAD_INPUT, "%s: no opensm-subnet.lst in it", directory);
    if (status == SV_OK)
        status = sv_fabric_load(ctx, path, &f);
    sv_arena_release(&arena);
    if (status != SV_OK || routes == NULL) {
        if (status == SV_OK)
            *fabric = f;
        return status;
    }
    sv__tables t;
    status = sv__tables_init(&t, ctx, f);
    if (status == SV_OK)
        status = read_parts(&t, directory);
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
    return !(write == sv__write_sl2vl && !r->lanes_known) &&
           !(write == sv__write_psl && r->sl_form == SV_SL_UNKNOWN) &&
           !(write == sv__write_orders && r->orders == NULL);
}

static const struct file {
    const char *name;
    sv__tables_write_fn *write;
} files[] = {
    {"opensm-subnet.lst", write_subnet}, {"opensm-lfts.dump", sv__write_lfts},
    {"opensm.fdbs", sv__write_fdbs},     {"opensm-sl2vl.dump", sv__write_sl2vl},
    {"opensm.psl", sv__write_psl},       {"opensm.mcfdbs", sv__write_mcfdbs},
    {"opensm-qos.conf", sv__write_qos},  {"selvage.orders", sv__write_orders},
};

enum { NUM_FILES = sizeof files / sizeof files[0] };

static sv_status write_file(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r,
                            const struct file *about, sv_file *file)
{
    sv_text out;
    sv_text_init(&out, ctx, &file->sink);
    sv_status status = about->write(&out, f, r);
    if (status == SV_OK)
        status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

static sv_status write_directory(sv_ctx *ctx, const sv_fabric *f, const sv_routes *r,
                                 const char *directory)
{
    sv_file open[NUM_FILES];
    const char *stale[NUM_FILES] = {NULL};
    sv_arena arena;
    sv_status status = SV_OK;
    int made = 0, unknown = 0;
    sv_arena_init(&arena, ctx);
    for (int i = 0; status == SV_OK && i < NUM_FILES; i++) {
        const char *path = join(&arena, directory, files[i].name);
        if (path != NULL && !is_known(r, files[i].write)) {
            stale[unknown++] = path;
            continue;
        }
        status = path == NULL ? SV_NO_MEMORY : sv_file_create(&open[made], ctx, path);
        if (status == SV_OK && (status = write_file(ctx, f, r, &files[i], &open[made])) != SV_OK)
            sv_file_close(&open[made]);
        made += status == SV_OK;
    }
    for (int i = 0; status == SV_OK && i < made; i++)
        status = sv_file_prepare(&open[i]);
    for (int i = 0; i < made; i++)
        if (status == SV_OK)
            status = sv_file_commit(&open[i]);
        else
            sv_file_close(&open[i]);
    for (int i = 0; status == SV_OK && i < unknown; i++)
        unlink(stale[i]); /* what was there told of other tables */
    sv_arena_release(&arena);
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

sv_status sv_dump_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const char *path)
{
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".svr") == 0)
        return sv__write_svr(ctx, fabric, routes, path);
    SV_TRY(sv__fits_lids(ctx, fabric, routes));
    if (!has_cabled_switch(fabric))
        return sv_fail(ctx, SV_INFEASIBLE,
                       "a fabric with no switch with a cable has no forwarding tables");
    sv_fabric *with_lids = NULL;
    SV_TRY(sv_fabric_with_lids(ctx, fabric, routes, &with_lids));
    bool made = mkdir(path, 0777) == 0;
    sv_status status = !made && errno != EEXIST
                           ? sv_fail(ctx, SV_IO, "cannot make '%s': %s", path, strerror(errno))
                           : write_directory(ctx, with_lids, routes, path);
    if (status != SV_OK && made)
        rmdir(path);
    sv_fabric_free(with_lids);
    return status;
}

sv_status sv_routes_write(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                          sv_routes_format format, const sv_sink *sink)
{
    static sv__tables_write_fn *const writers[] = {
        sv__write_lfts,        sv__write_fdbs,   sv__write_sl2vl, sv__write_psl,
        sv__write_ibdmchk_psl, sv__write_mcfdbs, sv__write_qos};
    if ((unsigned)format >= SV_ROUTES_FORMAT_COUNT)
        return sv_fail(ctx, SV_UNSUPPORTED, "this format cannot be written");
    SV_TRY(sv__fits_lids(ctx, fabric, routes));
    if (!is_known(routes, writers[format]) ||
        (format == SV_ROUTES_IBDMCHK_PSL && routes->sl_form == SV_SL_UNKNOWN))
        return sv_fail(ctx, SV_INFEASIBLE, "the tables do not tell that");
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_status status = writers[format](&out, fabric, routes);
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
