/*
 * digests.c: what files hold, as part of the key of a cell: other content, another cell.
 *
 * Cost: linear in the files.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/file.h"
#include "formats/tables.h"
#include "study/study.h"

static sv_status digest_file(sv_arena *arena, const char *path, uint64_t *hash)
{
    sv_file file;
    unsigned char bytes[4096];
    int64_t length;
    *hash = SV_DIGEST_START;
    SV_TRY(sv_file_open(&file, arena->ctx, path));
    while ((length = file.source.read(file.source.user, bytes, sizeof bytes)) > 0)
        *hash = sv_digest(*hash, bytes, (size_t)length);
    sv_file_close(&file);
    return length < 0 ? sv_fail(arena->ctx, SV_IO, "cannot read '%s'", path) : SV_OK;
}

/*
 * One digest of all files of a directory, whatever their order. Those of a set of tables are
 * digested as they are read, which is not always by their names (base/fileset.h).
 */
static sv_status digest_folder(sv_arena *arena, const char *path, const char **text)
{
    uint64_t sum = 0;
    SV_TRY(sv__dump_digest(arena->ctx, path, &sum));
    DIR *folder = opendir(path);
    if (folder == NULL)
        return sv_fail(arena->ctx, SV_IO, "cannot open '%s': %s", path, strerror(errno));
    sv_status status = SV_OK;
    for (struct dirent *entry; status == SV_OK && (entry = readdir(folder)) != NULL;) {
        struct stat about;
        uint64_t hash = 0;
        if (entry->d_name[0] == '.' || sv__dump_has(entry->d_name))
            continue; /* what somebody who writes there has not put in its place; and the set */
        char *file = sv__print(arena, "%s/%s", path, entry->d_name);
        if (file == NULL)
            status = SV_NO_MEMORY;
        else if (stat(file, &about) == 0 && S_ISREG(about.st_mode))
            status = digest_file(arena, file, &hash);
        if (hash != 0)
            sum += sv_digest(hash, entry->d_name, strlen(entry->d_name));
    }
    closedir(folder);
    *text = sv__print(arena, "#%016llx", (unsigned long long)sum);
    return status == SV_OK && *text == NULL ? SV_NO_MEMORY : status;
}

/* A digest of what a file or directory holds; "" for a spec. */
sv_status sv__digest(sv_arena *arena, const char *name, const char **text)
{
    struct stat about;
    uint64_t hash;
    *text = "";
    if (stat(name, &about) != 0) {
        int why = errno;
        if (sv_topology_is_spec(name) || (strpbrk(name, ":,=") != NULL && !strchr(name, '/')))
            return sv_topology_check(arena->ctx, name);
        return sv_fail(arena->ctx, SV_IO, "cannot open '%.200s': %s (and it is no topology spec)",
                       name, strerror(why));
    }
    if (S_ISDIR(about.st_mode))
        return sv_topology_is_spec(name) ? SV_OK : digest_folder(arena, name, text);
    SV_TRY(digest_file(arena, name, &hash));
    *text = sv__print(arena, "#%016llx", (unsigned long long)hash);
    return *text == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Adds that of a file that an option names. */
sv_status sv__digest_value(sv_arena *arena, const char *value, size_t length, const char **all)
{
    struct stat about;
    const char *held;
    char *path = sv_arena_text(arena, value, length);
    if (path == NULL)
        return SV_NO_MEMORY;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return SV_OK;
    SV_TRY(sv__digest(arena, path, &held));
    *all = sv__print(arena, "%s%s", *all, held);
    return *all == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Whether two sets of tables are for the same fabric. */
sv_status sv__same_fabric(sv_arena *arena, const char *one, const char *other)
{
    sv_fabric *first = NULL, *second = NULL;
    sv_diff *diff = NULL;
    sv_status status = sv_dump_read(arena->ctx, one, &first, NULL);
    if (status == SV_OK)
        status = sv_dump_read(arena->ctx, other, &second, NULL);
    if (status == SV_OK)
        status = sv_fabric_diff(arena->ctx, first, second, SV_MATCH_GUID, &diff);
    if (status == SV_OK && diff->length > 0)
        status = sv_fail(arena->ctx, SV_BAD_INPUT,
                         "'%s' and '%s' are tables of different fabrics (%zu differences)", one,
                         other, diff->length);
    sv_diff_free(diff);
    sv_fabric_free(second);
    sv_fabric_free(first);
    return status;
}
