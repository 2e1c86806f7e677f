/*
 * file.c: sources and sinks on POSIX files.
 *
 * Idea: mkstemp beside the target, then rename. A symbolic link is followed first, so that the
 * link stays and its target is replaced. The new file gets the mode of the one it replaces, or
 * what the umask says.
 *
 * Invariant: until sv_file_commit returned SV_OK the old content of path is untouched; after
 * sv_file_close no temporary file is left.
 * Cost: one write call for each piece the text buffer hands over, one fsync a file.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t read_descriptor(void *user, void *buffer, size_t size)
{
    const sv_file *file = user;
    for (;;) {
        ssize_t got = read(file->descriptor, buffer, size);
        if (got >= 0 || errno != EINTR)
            return got;
    }
}

static bool write_descriptor(void *user, const void *bytes, size_t size)
{
    const sv_file *file = user;
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(file->descriptor, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

static char *copy_text(sv_ctx *ctx, const char *text)
{
    char *copy = sv_alloc(ctx, strlen(text) + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, strlen(text));
    return copy;
}

sv_status sv_file_open(sv_file *file, sv_ctx *ctx, const char *path)
{
    *file = (sv_file){.ctx = ctx, .descriptor = -1};
    bool standard = strcmp(path, "-") == 0;
    file->path = copy_text(ctx, standard ? "<stdin>" : path);
    if (file->path == NULL)
        return SV_NO_MEMORY;
    file->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    sv_status status = SV_OK;
    struct stat about;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        status = sv_fail(ctx, SV_IO, "cannot open '%s': %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        status = sv_fail(ctx, SV_IO, "cannot read '%s': it is a directory", path);
    if (status != SV_OK)
        sv_file_close(file);
    file->source = (sv_source){file->path, file, read_descriptor};
    return status;
}

static mode_t mode_for(const struct stat *old)
{
    if (old != NULL)
        return old->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Opens a temporary file beside the target, with the mode the target is to have. */
static sv_status create_beside(sv_file *file, mode_t mode)
{
    size_t length = strlen(file->path);
    file->temporary = sv_alloc(file->ctx, length + 16, 1);
    if (file->temporary == NULL)
        return SV_NO_MEMORY;
    snprintf(file->temporary, length + 16, "%s.XXXXXX", file->path);
    file->descriptor = mkstemp(file->temporary);
    if (file->descriptor < 0 || fchmod(file->descriptor, mode) != 0) {
        sv_status status =
            sv_fail(file->ctx, SV_IO, "cannot create '%s': %s", file->path, strerror(errno));
        if (file->descriptor < 0) {
            sv_release(file->ctx, file->temporary);
            file->temporary = NULL;
        }
        return status;
    }
    return SV_OK;
}

/* The target's own path, links followed; the path as given where there is no such file yet. */
static sv_status resolve(sv_file *file, const char *path)
{
    char whole[PATH_MAX];
    file->path = copy_text(file->ctx, realpath(path, whole) != NULL ? whole : path);
    return file->path == NULL ? SV_NO_MEMORY : SV_OK;
}

sv_status sv_file_create(sv_file *file, sv_ctx *ctx, const char *path)
{
    *file = (sv_file){.ctx = ctx, .descriptor = -1};
    sv_status status = SV_OK;
    struct stat old;
    if (strcmp(path, "-") == 0) {
        file->path = copy_text(ctx, "<stdout>");
        file->descriptor = STDOUT_FILENO;
        status = file->path == NULL ? SV_NO_MEMORY : SV_OK;
    } else if (stat(path, &old) != 0) {
        status = resolve(file, path);
        if (status == SV_OK)
            status = create_beside(file, mode_for(NULL));
    } else if (S_ISDIR(old.st_mode)) {
        status = sv_fail(ctx, SV_IO, "cannot write '%s': it is a directory", path);
    } else if (S_ISREG(old.st_mode)) {
        status = resolve(file, path);
        if (status == SV_OK)
            status = create_beside(file, mode_for(&old));
    } else {
        status = resolve(file, path);
        if (status == SV_OK)
            file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        if (status == SV_OK && file->descriptor < 0)
            status = sv_fail(ctx, SV_IO, "cannot open '%s': %s", path, strerror(errno));
    }
    if (status != SV_OK)
        sv_file_close(file);
    file->sink = (sv_sink){file->path, file, write_descriptor};
    return status;
}

sv_status sv_file_commit(sv_file *file)
{
    sv_status status = SV_OK;
    if (file->temporary != NULL) {
        bool good = fsync(file->descriptor) == 0;
        good = close(file->descriptor) == 0 && good;
        file->descriptor = -1;
        good = good && rename(file->temporary, file->path) == 0;
        if (good) {
            sv_release(file->ctx, file->temporary);
            file->temporary = NULL;
        } else {
            status =
                sv_fail(file->ctx, SV_IO, "cannot write '%s': %s", file->path, strerror(errno));
        }
    }
    sv_file_close(file);
    return status;
}

void sv_file_close(sv_file *file)
{
    if (file->descriptor > STDERR_FILENO)
        close(file->descriptor);
    file->descriptor = -1;
    if (file->temporary != NULL)
        unlink(file->temporary);
    sv_release(file->ctx, file->temporary);
    sv_release(file->ctx, file->path);
    file->temporary = file->path = NULL;
}

static int64_t read_memory(void *user, void *buffer, size_t size)
{
    sv_memory *memory = user;
    size_t some = memory->left < size ? memory->left : size;
    if (some > 0)
        memcpy(buffer, memory->at, some);
    memory->at += some;
    memory->left -= some;
    return (int64_t)some;
}

sv_source sv_memory_source(sv_memory *memory, const char *name)
{
    return (sv_source){name, memory, read_memory};
}
