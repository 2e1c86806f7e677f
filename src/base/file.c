/*
 * file.c: sources and sinks on POSIX files.
 *
 * Idea: a new file is first one without a name (O_TMPFILE), which vanishes by itself however the
 * program ends; committing gives it a temporary name beside the target and renames it. Where the
 * file system has no such files, it has the temporary name from the start. Symbolic links are
 * followed first, so that a link stays and its target is replaced, or made. The new file gets the
 * mode of the one it replaces, or what the umask says.
 *
 * Reading and writing stop when the host wants to cancel; an interrupted call is otherwise
 * repeated.
 *
 * Invariant: until sv_file_commit returned SV_OK the old content of path is untouched; after
 * sv_file_close no temporary file is left.
 * Cost: one write call for each piece the text buffer hands over, one fsync a file.
 */
#define _GNU_SOURCE /* O_TMPFILE */
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
        if (got >= 0 || errno != EINTR || sv_cancelled(file->ctx))
            return got;
    }
}

static bool write_descriptor(void *user, const void *bytes, size_t size)
{
    const sv_file *file = user;
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(file->descriptor, at, size);
        if (put < 0 && errno == EINTR && !sv_cancelled(file->ctx))
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

/* open, again when interrupted (a pipe without a partner waits). */
static int open_patiently(sv_ctx *ctx, const char *path, int flags)
{
    for (;;) {
        int descriptor = open(path, flags | O_CLOEXEC);
        if (descriptor >= 0 || errno != EINTR || sv_cancelled(ctx))
            return descriptor;
    }
}

static sv_status cannot(sv_ctx *ctx, const char *what, const char *path)
{
    if (errno == EINTR && sv_cancelled(ctx))
        return sv_fail(ctx, SV_CANCELLED, "cancelled while waiting for '%s'", path);
    return sv_fail(ctx, SV_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

sv_status sv_file_open(sv_file *file, sv_ctx *ctx, const char *path)
{
    *file = (sv_file){.ctx = ctx, .descriptor = -1};
    bool standard = strcmp(path, "-") == 0;
    file->path = copy_text(ctx, standard ? "<stdin>" : path);
    if (file->path == NULL)
        return SV_NO_MEMORY;
    file->descriptor = standard ? STDIN_FILENO : open_patiently(ctx, path, O_RDONLY);
    sv_status status = SV_OK;
    struct stat about;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        status = cannot(ctx, "open", path);
    else if (S_ISDIR(about.st_mode))
        status = sv_fail(ctx, SV_IO, "cannot read '%s': it is a directory", path);
    file->source = (sv_source){file->path, file, read_descriptor};
    if (status != SV_OK)
        sv_file_close(file);
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

/* The length of the directory part of a path, its slash included; 0 if there is none. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Where a path leads when symbolic links are followed, even to a file that is not there yet. */
static sv_status resolve(sv_file *file, const char *path)
{
    char whole[PATH_MAX], target[PATH_MAX];
    if (strlen(path) >= sizeof whole)
        return sv_fail(file->ctx, SV_IO, "cannot create '%.100s…': the name is too long", path);
    memcpy(whole, path, strlen(path) + 1);
    for (int links = 0; links < 40; links++) {
        ssize_t length = readlink(whole, target, sizeof target - 1);
        if (length < 0) { /* not a link */
            file->path = copy_text(file->ctx, whole);
            return file->path == NULL ? SV_NO_MEMORY : SV_OK;
        }
        target[length] = 0;
        size_t directory = target[0] == '/' ? 0 : directory_length(whole);
        if (directory + (size_t)length + 1 > sizeof whole)
            break;
        memcpy(whole + directory, target, (size_t)length + 1);
    }
    return sv_fail(file->ctx, SV_IO, "cannot create '%s': too many symbolic links", path);
}

/* The temporary name: a short one in the directory of the target. */
static sv_status name_temporary(sv_file *file)
{
    size_t directory = directory_length(file->path);
    file->temporary = sv_alloc(file->ctx, directory + 24, 1);
    if (file->temporary == NULL)
        return SV_NO_MEMORY;
    memcpy(file->temporary, file->path, directory);
    memcpy(file->temporary + directory, ".selvage.XXXXXX", 16);
    return SV_OK;
}

static void forget_temporary(sv_file *file)
{
    sv_release(file->ctx, file->temporary);
    file->temporary = NULL;
}

/* Opens a file without a name in the directory of the target, or else one with a temporary name. */
static sv_status create_hidden(sv_file *file, mode_t mode)
{
    char directory[PATH_MAX] = ".";
    size_t length = directory_length(file->path);
    if (length > 0) {
        memcpy(directory, file->path, length);
        directory[length] = 0;
    }
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) /* else it could not be given a name later */
        file->descriptor = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
#endif
    if (file->descriptor < 0) {
        SV_TRY(name_temporary(file));
        file->descriptor = mkstemp(file->temporary);
        if (file->descriptor < 0) {
            forget_temporary(file);
            return cannot(file->ctx, "create", file->path);
        }
    }
    file->replaces = true;
    if (fchmod(file->descriptor, mode) != 0)
        return cannot(file->ctx, "create", file->path);
    return SV_OK;
}

sv_status sv_file_create(sv_file *file, sv_ctx *ctx, const char *path)
{
    *file = (sv_file){.ctx = ctx, .descriptor = -1};
    sv_status status = SV_OK;
    struct stat old;
    errno = 0;
    bool standard = strcmp(path, "-") == 0, exists = !standard && stat(path, &old) == 0;
    if (*path == 0 || errno == ENAMETOOLONG) { /* which renaming it would find out too late */
        status = cannot(ctx, "create", path);
    } else if (standard) {
        file->path = copy_text(ctx, "<stdout>");
        file->descriptor = STDOUT_FILENO;
        status = file->path == NULL ? SV_NO_MEMORY : SV_OK;
    } else if (exists && S_ISDIR(old.st_mode)) {
        status = sv_fail(ctx, SV_IO, "cannot write '%s': it is a directory", path);
    } else {
        status = resolve(file, path);
        if (status == SV_OK && exists && !S_ISREG(old.st_mode)) {
            file->descriptor = open_patiently(ctx, path, O_WRONLY);
            status = file->descriptor < 0 ? cannot(ctx, "open", path) : SV_OK;
        } else if (status == SV_OK) {
            status = create_hidden(file, mode_for(exists ? &old : NULL));
        }
    }
    file->sink = (sv_sink){file->path, file, write_descriptor};
    if (status != SV_OK)
        sv_file_close(file);
    return status;
}

sv_status sv_file_try(sv_ctx *ctx, const char *path)
{
    struct stat old;
    sv_file file;
    if (strcmp(path, "-") == 0)
        return SV_OK;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))
        return access(path, W_OK) == 0 ? SV_OK : cannot(ctx, "open", path);
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_file_close(&file);
    return SV_OK;
}

/* Gives a file without a name a temporary one. */
static sv_status link_temporary(sv_file *file)
{
    char self[64];
    if (file->temporary != NULL)
        return SV_OK;
    SV_TRY(name_temporary(file));
    snprintf(self, sizeof self, "/proc/self/fd/%d", file->descriptor);
    char *digits = strrchr(file->temporary, '.') + 1;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(digits, 7, "%06u", ((unsigned)getpid() * 1000 + attempt) % 1000000);
        if (linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
            return SV_OK;
        if (errno != EEXIST)
            break;
    }
    sv_status status = cannot(file->ctx, "write", file->path);
    forget_temporary(file);
    return status;
}

sv_status sv_file_prepare(sv_file *file)
{
    if (!file->replaces)
        return SV_OK;
    if (fsync(file->descriptor) != 0)
        return cannot(file->ctx, "write", file->path);
    return link_temporary(file);
}

sv_status sv_file_commit(sv_file *file)
{
    sv_status status = sv_file_prepare(file);
    if (status == SV_OK && file->replaces) {
        if (rename(file->temporary, file->path) == 0)
            forget_temporary(file);
        else
            status = cannot(file->ctx, "write", file->path);
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
    forget_temporary(file);
    sv_release(file->ctx, file->path);
    file->path = NULL;
    file->replaces = false;
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
