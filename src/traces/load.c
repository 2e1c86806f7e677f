/*
 * load.c: traces from whatever a path is: a .svt file, a folder of them, GOAL text, an OTF2
 * archive.
 *
 * Idea: what is in a file tells what it is: .svt files and OTF2 anchor files begin as no other,
 * GOAL text has its own words. Of a folder all *.svt files are joined, in the order of their names;
 * they must be of one program, and every rank must be in one of them, once.
 *
 * Cost: that of the reader.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "traces/traces.h"

/* A trace on its way, from one file or several. */
struct join {
    sv_ctx *ctx;
    sv_mpi_trace *trace;
    uint8_t *has; /* [ranks]: has a section */
};

static sv_status slurp_path(sv_ctx *ctx, const char *path, uint8_t **bytes, size_t *length)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv__slurp(ctx, &file.source, bytes, length);
    sv_file_close(&file);
    return status;
}

static sv_status add_file(struct join *join, const char *path)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    SV_TRY(slurp_path(join->ctx, path, &bytes, &length));
    sv_status status = sv__svt_parse(join->ctx, path, bytes, length, &join->trace, &join->has);
    sv_release(join->ctx, bytes);
    return status;
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef SV_ARRAY(char *) paths;

static sv_status list_files(sv_ctx *ctx, const char *folder, paths *found)
{
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return sv_fail(ctx, SV_IO, "cannot read '%s': %s", folder, strerror(errno));
    sv_status status = SV_OK;
    for (struct dirent *entry; status == SV_OK && (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name), whole = strlen(folder) + length + 2;
        if (length < 5 || strcmp(entry->d_name + length - 4, ".svt") != 0)
            continue;
        char *path = sv_alloc(ctx, whole, 1);
        status = path == NULL ? SV_NO_MEMORY : sv_array_push(ctx, found, path);
        if (status == SV_OK)
            snprintf(path, whole, "%s/%s", folder, entry->d_name);
        else
            sv_release(ctx, path);
    }
    closedir(directory);
    if (status == SV_OK && found->length == 0)
        return sv_fail(ctx, SV_BAD_INPUT, "%s: a folder without .svt files", folder);
    if (status == SV_OK)
        qsort(found->at, found->length, sizeof *found->at, by_name);
    return status;
}

static sv_status load_folder(struct join *join, const char *path)
{
    paths found = {0};
    sv_status status = list_files(join->ctx, path, &found);
    for (size_t i = 0; i < found.length && status == SV_OK; i++)
        status = add_file(join, found.at[i]);
    for (size_t i = 0; i < found.length; i++)
        sv_release(join->ctx, found.at[i]);
    sv_array_release(join->ctx, &found);
    SV_TRY(status);
    for (uint32_t rank = 0; rank < join->trace->num_ranks; rank++)
        if (!join->has[rank])
            return sv_fail(join->ctx, SV_BAD_INPUT, "%s: no file has rank %u, of %u", path, rank,
                           join->trace->num_ranks);
    return SV_OK;
}

/* ---- files ---- */

/* The sections of one file may be those of some ranks only. */
static void warn_of_missing(const struct join *join, const char *path)
{
    uint32_t missing = 0, first = 0;
    for (uint32_t rank = join->trace->num_ranks; rank-- > 0;)
        if (!join->has[rank]) {
            missing++;
            first = rank;
        }
    if (missing > 0)
        sv_warn(join->ctx, "%s: %u of %u ranks are not in it, rank %u is the first of them", path,
                missing, join->trace->num_ranks, first);
}

static sv_status load_bytes(struct join *join, const char *path, const uint8_t *bytes,
                            size_t length)
{
    if (length >= 6 && memcmp(bytes + 2, "OTF2", 4) == 0)
        return sv__read_otf2(join->ctx, path, &join->trace);
    if (sv__looks_like_goal(bytes, length)) {
        sv_memory memory = {(const char *)bytes, length};
        sv_source source = sv_memory_source(&memory, path);
        return sv_mpi_read_goal(join->ctx, &source, &join->trace);
    }
    if (length < sizeof sv__svt_magic || memcmp(bytes, sv__svt_magic, sizeof sv__svt_magic) != 0)
        return sv_fail(join->ctx, SV_BAD_INPUT,
                       "%s:1: no trace: neither .svt nor GOAL nor an OTF2 archive's .otf2", path);
    SV_TRY(sv__svt_parse(join->ctx, path, bytes, length, &join->trace, &join->has));
    warn_of_missing(join, path);
    return SV_OK;
}

sv_status sv_mpi_load(sv_ctx *ctx, const char *path, sv_mpi_trace **trace)
{
    struct join join = {.ctx = ctx};
    struct stat about;
    sv_status status;
    if (strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        status = load_folder(&join, path);
    } else {
        uint8_t *bytes = NULL;
        size_t length = 0;
        SV_TRY(slurp_path(ctx, path, &bytes, &length));
        status = load_bytes(&join, strcmp(path, "-") == 0 ? "<stdin>" : path, bytes, length);
        sv_release(ctx, bytes);
    }
    sv_release(ctx, join.has);
    if (status != SV_OK) {
        sv_mpi_free(join.trace);
        return status;
    }
    *trace = join.trace;
    return SV_OK;
}
