/*
 * follow_weigh.c: the fabric that jobs run on, the tables that are in use there, and what others
 * would gain.
 *
 * Idea: where the subnet manager dumps its tables (or keeps them in a file), these are in use;
 * elsewhere those that the engine would have made for the map that is there. Files that change
 * while they are looked at are being written: they are read once they hold still.
 *
 * Invariants: f->tables and f->judged are of f->fabric.
 * Cost: a look at a few files, as a rule; reading and routing when something changed.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "selvage/follow.h"

/* ---- the fabric ---- */

/* What a file looks like, and when it changed last. */
static uint64_t look_at(const char *path, uint64_t so_far, int64_t *newest)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return sv_digest(so_far, "-", 1);
    const int64_t facts[] = {(int64_t)about.st_ino, (int64_t)about.st_size,
                             (int64_t)about.st_mtim.tv_sec, (int64_t)about.st_mtim.tv_nsec};
    *newest = *newest > facts[2] ? *newest : facts[2];
    return sv_digest(so_far, facts, sizeof facts);
}

/* The same of all files that tell of the fabric and its routes. */
static uint64_t look(const follow *f, int64_t *newest)
{
    static const char *const names[] = {"opensm-subnet.lst", "subnet.lst", "opensm-lfts.dump",
                                        "opensm.fdbs", "osm.fdbs"};
    struct stat about;
    uint64_t seen = SV_DIGEST_START;
    *newest = 0;
    if (stat(f->o.fabric, &about) != 0 || !S_ISDIR(about.st_mode))
        return look_at(f->o.fabric, seen, newest);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", f->o.fabric, names[i]) < (int)sizeof path)
            seen = look_at(path, seen, newest);
    }
    return seen;
}

/* Waits until files that are being written hold still. */
static uint64_t settle(follow *f)
{
    enum { MAX = 20 };
    int64_t newest;
    uint64_t seen = look(f, &newest), before = seen + 1;
    if (newest + (int64_t)f->o.settle + 1 < follow_time() || f->o.settle <= 0)
        return seen;
    for (int i = 0; i < MAX && seen != before && !follow_stopped(f); i++) {
        before = seen;
        follow_sleep(f, f->o.settle, false);
        seen = look(f, &newest);
    }
    return seen;
}

static bool has_tables(const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    if (stat(path, &about) != 0 || strcmp(path, "-") == 0)
        return false;
    return S_ISDIR(about.st_mode) ? !sv_topology_is_spec(path)
                                  : length > 4 && strcmp(path + length - 4, ".svr") == 0;
}

void follow_forget(follow *f)
{
    sv_jobmap_free(f->judged);
    sv_routes_free(f->tables);
    sv_fabric_free(f->fabric);
    f->judged = NULL;
    f->tables = NULL;
    f->fabric = NULL;
}

sv_status follow_look(follow *f, char *warning, size_t size)
{
    int64_t newest;
    struct app quiet = *f->app;
    sv_fabric *fabric = NULL;
    sv_routes *tables = NULL;
    warning[0] = 0;
    if (f->fabric != NULL && look(f, &newest) == f->looked)
        return SV_OK;
    uint64_t seen = settle(f);
    quiet.ctx = f->ctx;
    bool dumped = has_tables(f->o.fabric);
    sv_status status = sv_follow_check_file(f->ctx, f->o.fabric, true);
    if (status == SV_OK)
        status = dumped ? sv_dump_read(f->ctx, f->o.fabric, &fabric, &tables)
                        : app_load(&quiet, f->o.fabric, &fabric);
    if (status == SV_OK) {
        follow_forget(f);
        f->dumped = dumped;
        f->fabric = fabric;
        f->tables = tables;
        f->looked = seen;
        return SV_OK;
    }
    if (f->fabric == NULL || status == SV_CANCELLED || status == SV_NO_MEMORY)
        return status;
    snprintf(warning, size, "the fabric of before is used: %s", sv_ctx_message(f->ctx));
    return SV_OK;
}

/* ---- what is gained ---- */

/* Of the tables in use; of a fabric alone, what its ports tell. */
static unsigned lmc_of(const follow *f)
{
    unsigned lmc = 0;
    if (f->tables != NULL)
        return f->tables->lmc;
    for (uint32_t t = 0; t < f->fabric->num_terminals; t++)
        lmc = f->fabric->terminals[t].lmc > lmc ? f->fabric->terminals[t].lmc : lmc;
    return lmc;
}

sv_status follow_weigh(follow *f, const sv_jobmap *old, const sv_jobmap *map, follow_decision *d,
                       sv_routes **tables)
{
    const sv_route_request request = {
        .vls = (unsigned)f->o.vls, .lmc = lmc_of(f), .seed = f->o.seed};
    sv_routes *made = NULL;
    if (f->tables == NULL)
        SV_TRY(sv_follow_predict(f->ctx, f->fabric, f->o.engine, &request, old, &f->tables));
    SV_TRY(sv_follow_weigh(f->ctx, f->fabric, f->tables, map, &d->now));
    SV_TRY(sv_follow_predict(f->ctx, f->fabric, f->o.engine, &request, map, &made));
    sv_status status = sv_follow_weigh(f->ctx, f->fabric, made, map, &d->then);
    if (status != SV_OK) {
        sv_routes_free(made);
        return status;
    }
    d->gain = sv_follow_gain(d->now, d->then);
    d->weighed = true;
    *tables = made;
    return SV_OK;
}
