/*
 * jobs.c: the job map that a fabric is routed for, from sweep to sweep.
 *
 * Idea: the file is read in every sweep, as text, because nodes have other numbers whenever the
 * fabric changed. What tables were routed for is remembered with them as a key: a number for the
 * sets of names that work together (jobmap.h), and which of those names were not in the fabric.
 * Tables fit a map if the numbers are the same and no node of a job has turned up since. A node
 * that went is no reason to route anew: a repair does.
 *
 * A map that was not followed because the change to it would not have been safe (careful) is
 * excused: tables that are in use then fit it, until there is another one. As long as no map could
 * be read at all, the tables that are there (of the state file, after a restart) fit.
 *
 * Invariants: live->jobs is of the fabric being swept, and gone after the sweep; live->jobs_text is
 * the last text that could be read, if live->jobs_seen. Tables of the state file are never beside a
 * key of others: it says that nobody knows while they are written.
 * Cost: linear in fabric and file; sv_jobs_count for the report.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "live/live.h"

/* ---- the file ---- */

/* All of a file. BAD_INPUT: it is no job map of this world. */
static sv_status read_text(sv_live *live, sv__text *text)
{
    enum { PIECE = 65536, MAX = 256 << 20 };
    sv_file file;
    SV_TRY(sv_file_open(&file, live->ctx, live->options.jobs_path));
    sv_status status = SV_OK;
    for (int64_t got = 1; status == SV_OK && got > 0;) {
        status = sv_array_reserve(live->ctx, text, text->length + PIECE);
        if (status != SV_OK)
            break;
        got = file.source.read(file.source.user, text->at + text->length, PIECE);
        if (got < 0)
            status = sv_fail(live->ctx, sv_cancelled(live->ctx) ? SV_CANCELLED : SV_IO,
                             "cannot read '%s': %s", live->options.jobs_path, strerror(errno));
        else
            text->length += (size_t)got;
        if (status == SV_OK && text->length > MAX)
            status = sv_fail(live->ctx, SV_BAD_INPUT, "'%s' is too large for a job map",
                             live->options.jobs_path);
    }
    sv_file_close(&file);
    return status;
}

static sv_status parse(sv_live *live, const sv_fabric *f, const sv__text *text, sv_jobmap **map)
{
    sv_memory memory = {text->at != NULL ? text->at : "", text->length};
    sv_source source = sv_memory_source(&memory, live->options.jobs_path);
    return sv_jobmap_read(live->ctx, f, &source, map);
}

/*
 * What the file says now. A file that is not there says that nothing runs. A pipe is none: a sweep
 * cannot wait until somebody writes into it.
 */
static sv_status read_file(sv_live *live, const sv_fabric *f, sv_jobmap **map)
{
    const char *path = live->options.jobs_path;
    sv__text text = {0};
    sv_status status = SV_OK;
    struct stat about;
    if (stat(path, &about) == 0)
        status = S_ISREG(about.st_mode)
                     ? read_text(live, &text)
                     : sv_fail(live->ctx, SV_IO, "'%s' is no regular file", path);
    else if (errno != ENOENT)
        status = sv_fail(live->ctx, SV_IO, "cannot read '%s': %s", path, strerror(errno));
    if (status == SV_OK)
        status = parse(live, f, &text, map);
    if (status == SV_OK) {
        sv_array_release(live->ctx, &live->jobs_text);
        live->jobs_text = text;
        live->jobs_seen = true;
        return SV_OK;
    }
    sv_array_release(live->ctx, &text);
    return status;
}

static bool is_fatal(sv_status status)
{
    return status == SV_NO_MEMORY || status == SV_CANCELLED;
}

sv_status sv__live_read_jobs(sv_live *live, const sv_fabric *f)
{
    sv_jobmap *map = NULL;
    if (live->options.jobs_path == NULL)
        return SV_OK;
    sv_status status = read_file(live, f, &map);
    if (is_fatal(status))
        return status;
    if (status != SV_OK) {
        const sv__set *before = live->now.routes != NULL ? &live->now : &live->kept;
        sv_warn(live->ctx, "the jobs of before stay%s: %s",
                before->routes == NULL ? ", and there are none" : "", sv_ctx_message(live->ctx));
        live->jobs_key = before->jobs;
        if (live->jobs_seen)
            status = parse(live, f, &live->jobs_text, &map);
        if (is_fatal(status))
            return status;
    }
    if (status != SV_OK) /* nor can the last one be used: there is none, or none of its nodes */
        return SV_OK;
    live->jobs = map;
    live->jobs_key = (sv__jobs_key){map->digest, map->unknown, {0}};
    memcpy(live->jobs_key.missing, map->missing, sizeof map->missing);
    live->excusing = live->excusing && live->excused == map->digest;
    return SV_OK;
}

void sv__live_drop_jobs(sv_live *live)
{
    sv_jobmap_free(live->jobs);
    live->jobs = NULL;
}

/* ---- whose tables ---- */

bool sv__live_jobs_fit(const sv_live *live, const sv__set *set)
{
    const sv__jobs_key *now = &live->jobs_key, *then = &set->jobs;
    if (live->excusing && live->excused == now->digest)
        return true; /* there are no sets of yet others */
    if (now->digest != then->digest || now->unknown < then->unknown)
        return false;
    for (size_t i = 0; i < sizeof now->missing / sizeof now->missing[0]; i++)
        if (then->missing[i] & ~now->missing[i])
            return false; /* a node has turned up */
    return true;
}

const sv_jobmap *sv__live_jobs(const sv_live *live)
{
    return live->jobs != NULL && live->jobs->num_jobs > 0 ? live->jobs : NULL;
}

sv__jobs_key sv__live_told(const sv_live *live)
{
    return live->jobs != NULL ? live->jobs_key : (sv__jobs_key){0};
}

sv_status sv__live_count_jobs(sv_live *live, const sv_fabric *f, const sv_routes *r,
                              sv_live_report *report)
{
    sv_jobs_load load = {0};
    report->jobs = report->jobs_terminals = 0;
    report->jobs_efi = 0;
    if (live->jobs == NULL)
        return SV_OK;
    SV_TRY(sv_jobs_count(live->ctx, f, r, live->jobs, NULL, NULL, &load));
    report->jobs = live->jobs->num_jobs;
    report->jobs_terminals = live->jobs->num_terminals;
    report->jobs_efi = load.efi.max;
    return SV_OK;
}

/* ---- beside the state file ---- */

enum { NOBODY_KNOWS = 1 }; /* a digest of some map, or of none */

static sv_status key_path(sv_live *live, sv_text *path)
{
    sv_text_init(path, live->ctx, NULL);
    sv_text_print(path, "%s.jobs", live->options.state_path);
    return sv_text_finish(path);
}

static sv_status write_key(sv_live *live, const char *path, const sv__jobs_key *key)
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create(&file, live->ctx, path));
    sv_text_init(&out, live->ctx, &file.sink);
    sv_text_print(&out, "%016llx %u", (unsigned long long)key->digest, key->unknown);
    for (size_t i = 0; i < sizeof key->missing / sizeof key->missing[0]; i++)
        sv_text_print(&out, " %016llx", (unsigned long long)key->missing[i]);
    sv_text_print(&out, "\n");
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

/* Whose jobs do not count needs no key: one that is there goes, after the tables that it is of. */
sv_status sv__live_save_key(sv_live *live, bool before)
{
    static const sv__jobs_key unsure = {.digest = NOBODY_KNOWS};
    sv_text path;
    sv_status status = key_path(live, &path);
    bool wanted = live->options.jobs_path != NULL;
    if (status == SV_OK && (wanted || (before && access(path.at, F_OK) == 0)))
        status = write_key(live, path.at, before ? &unsure : &live->now.jobs);
    else if (status == SV_OK && !before && unlink(path.at) != 0 && errno != ENOENT)
        status = sv_fail(live->ctx, SV_IO, "cannot remove '%s': %s", path.at, strerror(errno));
    sv_text_release(&path);
    return status;
}

/* The beginning of a file, terminated; empty if it cannot be read. */
static void read_start(sv_live *live, const char *path, char *text, size_t size)
{
    sv_file file;
    int64_t got = 0;
    if (sv_file_open(&file, live->ctx, path) == SV_OK) {
        got = file.source.read(file.source.user, text, size - 1);
        sv_file_close(&file);
    }
    text[got > 0 ? got : 0] = 0;
}

sv_status sv__live_load_key(sv_live *live)
{
    sv_text path;
    struct stat about;
    char text[256] = "";
    sv_status status = key_path(live, &path);
    bool none = status == SV_OK && lstat(path.at, &about) != 0 && errno == ENOENT &&
                live->options.jobs_path == NULL;
    unsigned long long digest = NOBODY_KNOWS, missing[4] = {0};
    unsigned unknown = 0;
    if (status == SV_OK && !none)
        read_start(live, path.at, text, sizeof text);
    if (sscanf(text, "%16llx %u %16llx %16llx %16llx %16llx", &digest, &unknown, &missing[0],
               &missing[1], &missing[2], &missing[3]) != 6)
        digest = NOBODY_KNOWS;
    live->kept.jobs = (sv__jobs_key){
        none ? 0 : digest, unknown, {missing[0], missing[1], missing[2], missing[3]}};
    sv_text_release(&path);
    return status;
}
