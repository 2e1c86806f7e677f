/*
 * file.c: sources and sinks on POSIX files.
 *
 * Idea: a new file is first one without a name (O_TMPFILE), which vanishes by itself however the
 * program ends; committing gives it a temporary name beside the target and renames it. Where the
 * file system has no such files, it has the temporary name from the start (O_EXCL). Symbolic links
 * are followed first, so that a link stays and its target is replaced, or made; a privileged host
 * follows only links that root or itself has made (folder.c). The directory is opened once, and
 * everything happens in that. The new file gets the mode of the one it replaces, or what the umask
 * says.
 *
 * Whoever waits for a pipe or a terminal looks up now and then whether the host wants to cancel.
 *
 * Invariant: until sv_file_commit returned SV_OK the old content of path is untouched; after
 * sv_file_close no temporary file is left.
 * Cost: one write call for each piece the text buffer hands over, two fsyncs a file.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_UP_MS = 100 }; /* how long a reader waits before it asks whether to cancel */

/* Waits until there is something to read. False: the host wants to cancel. */
static bool wait_for(const sv_file *file)
{
    struct pollfd one = {.fd = file->descriptor, .events = POLLIN};
    for (;;) {
        if (sv_cancelled(file->ctx)) {
            errno = EINTR;
            return false;
        }
        int ready = poll(&one, 1, LOOK_UP_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; /* or reading says what is wrong */
    }
}

static int64_t read_descriptor(void *user, void *buffer, size_t size)
{
    const sv_file *file = user;
    for (;;) {
        if (file->waits && !wait_for(file))
            return -1;
        ssize_t got = read(file->descriptor, buffer, size);
        if (got < 0 && errno == EAGAIN)
            continue;
        if (got >= 0 || errno != EINTR || sv_cancelled(file->ctx))
            return got;
    }
}

bool sv_write_all(const sv_ctx *ctx, int descriptor, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(descriptor, at, size);
        if (put < 0 && errno == EINTR && !sv_cancelled(ctx))
            continue;
        if (put < 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

static bool write_descriptor(void *user, const void *bytes, size_t size)
{
    const sv_file *file = user;
    return sv_write_all(file->ctx, file->descriptor, bytes, size);
}

static char *copy_text(sv_ctx *ctx, const char *text)
{
    char *copy = sv_alloc(ctx, strlen(text) + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, strlen(text));
    return copy;
}

static sv_status cannot(sv_ctx *ctx, const char *what, const char *path)
{
    if (errno == EINTR && sv_cancelled(ctx))
        return sv_fail(ctx, SV_CANCELLED, "cancelled while waiting for '%s'", path);
    return sv_fail(ctx, SV_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

static sv_status irregular(sv_ctx *ctx, const char *what, const char *path)
{
    return sv_fail(ctx, SV_IO, "cannot %s '%s': it is not a regular file", what, path);
}

/* ---- reading ---- */

enum { READING = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* What was opened: only a regular file is sure to end. */
static sv_status look_at(sv_file *file, bool regular_only)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return cannot(file->ctx, "open", file->path);
    if (S_ISDIR(about.st_mode))
        return sv_fail(file->ctx, SV_IO, "cannot read '%s': it is a directory", file->path);
    if (regular_only && !S_ISREG(about.st_mode))
        return irregular(file->ctx, "read", file->path);
    file->waits = !S_ISREG(about.st_mode);
    return SV_OK;
}

static sv_status open_as(sv_file *file, sv_ctx *ctx, const char *path)
{
    *file = (sv_file){.ctx = ctx, .descriptor = -1, .folder = {.descriptor = -1}};
    file->path = copy_text(ctx, path);
    file->source = (sv_source){file->path, file, read_descriptor};
    return file->path == NULL ? SV_NO_MEMORY : SV_OK;
}

/* With privileges: in its directory, if that is who it says it is. */
static sv_status open_carefully(sv_file *file, const char *path)
{
    char name[NAME_MAX + 1];
    SV_TRY(sv_folder_above(&file->folder, file->ctx, "open", path, name));
    file->descriptor = openat(file->folder.descriptor, name, READING | O_NOFOLLOW);
    sv_status status = file->descriptor < 0 ? cannot(file->ctx, "open", path) : SV_OK;
    sv_folder_close(&file->folder);
    return status;
}

sv_status sv_file_open(sv_file *file, sv_ctx *ctx, const char *path)
{
    bool standard = strcmp(path, "-") == 0 && !ctx->host.privileged;
    sv_status status = open_as(file, ctx, standard ? "<stdin>" : path);
    if (status == SV_OK && standard)
        file->descriptor = STDIN_FILENO;
    else if (status == SV_OK && ctx->host.privileged)
        status = open_carefully(file, path);
    else if (status == SV_OK && (file->descriptor = open(path, READING)) < 0)
        status = cannot(ctx, "open", path);
    if (status == SV_OK)
        status = look_at(file, ctx->host.privileged);
    if (status != SV_OK)
        sv_file_close(file);
    return status;
}

sv_status sv_file_open_in(sv_file *file, sv_ctx *ctx, const sv_folder *folder, const char *name,
                          const char *path, bool *there)
{
    /* A link could lead to one that others can change. */
    int flags = READING | (ctx->host.privileged ? O_NOFOLLOW : 0);
    sv_status status = open_as(file, ctx, path);
    *there = true;
    if (status == SV_OK && (file->descriptor = openat(folder->descriptor, name, flags)) < 0) {
        *there = errno != ENOENT;
        if (errno == ELOOP && ctx->host.privileged)
            status = sv_fail(ctx, SV_IO, "cannot open '%s': it is a symbolic link", path);
        else
            status = *there ? cannot(ctx, "open", path) : SV_IO;
    }
    if (status == SV_OK)
        status = look_at(file, true);
    if (status != SV_OK)
        sv_file_close(file);
    return status;
}

/* ---- writing ---- */

/* The mode of a file that takes a place. exact: whatever the umask says. */
static mode_t mode_for(const sv_ctx *ctx, const sv_folder *folder, const char *name, bool public,
                       bool *exact)
{
    struct stat old;
    bool private = ctx->host.privileged && !public;
    *exact = fstatat(folder->descriptor, name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
             S_ISREG(old.st_mode) && (!ctx->host.privileged || old.st_uid == geteuid());
    if (*exact)
        return old.st_mode & (private ? 07770 : 07777);
    return private ? 0640 : public ? 0644 : 0666;
}

/* One of a million names. */
static void draw_name(char temporary[24], unsigned attempt)
{
    unsigned number = ((unsigned)getpid() * 1000 + attempt) % 1000000;
    snprintf(temporary, 24, ".selvage.%06u", number);
}

int sv_file_nameless(const sv_ctx *ctx, const sv_folder *folder, const char *name, bool public,
                     char temporary[24])
{
    int descriptor = -1;
    bool exact;
    mode_t mode = mode_for(ctx, folder, name, public, &exact);
    mode_t first = exact ? 0600 : mode; /* until it is told otherwise; the umask takes its part */
    temporary[0] = 0;
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) /* else it could not be given a name later */
        descriptor = openat(folder->descriptor, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, first);
#endif
    for (unsigned attempt = 0; descriptor < 0 && attempt < 1000; attempt++) {
        draw_name(temporary, attempt);
        descriptor = openat(folder->descriptor, temporary,
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor >= 0 && exact && fchmod(descriptor, mode) != 0) {
        int why = errno;
        close(descriptor);
        if (temporary[0] != 0)
            unlinkat(folder->descriptor, temporary, 0);
        errno = why;
        descriptor = -1;
    }
    if (descriptor < 0)
        temporary[0] = 0;
    return descriptor;
}

bool sv_file_name(const sv_folder *folder, int descriptor, char temporary[24], const char *name)
{
    char self[64];
    if (temporary[0] != 0) {
        if (renameat(folder->descriptor, temporary, folder->descriptor, name) != 0)
            return false;
        temporary[0] = 0;
        return true;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, self, folder->descriptor, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A file that is to take the place of another, or of none. */
static sv_status create_beside(sv_file *file, const char *path, bool public)
{
    char name[NAME_MAX + 1];
    struct stat old;
    SV_TRY(sv_folder_above(&file->folder, file->ctx, "create", path, name));
    bool exists = fstatat(file->folder.descriptor, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return sv_fail(file->ctx, SV_IO, "cannot write '%s': it is a directory", path);
    if (exists && !S_ISREG(old.st_mode) && file->ctx->host.privileged)
        return irregular(file->ctx, "write", path);
    if ((file->name = copy_text(file->ctx, name)) == NULL)
        return SV_NO_MEMORY;
    file->descriptor = sv_file_nameless(file->ctx, &file->folder, name, public, file->temporary);
    if (file->descriptor < 0)
        return cannot(file->ctx, "create", path);
    file->replaces = true;
    return SV_OK;
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

static sv_status create(sv_file *file, sv_ctx *ctx, const char *path, bool public)
{
    struct stat old;
    bool standard = strcmp(path, "-") == 0 && !ctx->host.privileged;
    sv_status status = open_as(file, ctx, standard ? "<stdout>" : path);
    if (status != SV_OK)
        return status;
    bool stream = !standard && !ctx->host.privileged && stat(path, &old) == 0 &&
                  !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode);
    if (standard)
        file->descriptor = STDOUT_FILENO;
    else if (!stream)
        status = create_beside(file, path, public);
    else if ((file->descriptor = open_patiently(ctx, path, O_WRONLY)) < 0)
        status = cannot(ctx, "open", path);
    file->source = (sv_source){0};
    file->sink = (sv_sink){file->path, file, write_descriptor};
    if (status != SV_OK)
        sv_file_close(file);
    return status;
}

sv_status sv_file_create(sv_file *file, sv_ctx *ctx, const char *path)
{
    return create(file, ctx, path, false);
}

sv_status sv_file_create_public(sv_file *file, sv_ctx *ctx, const char *path)
{
    return create(file, ctx, path, true);
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

/* ---- taking its place ---- */

/* Gives a file without a name a temporary one. */
static bool name_it(sv_file *file)
{
    char drawn[24];
    for (unsigned attempt = 0; file->temporary[0] == 0 && attempt < 1000; attempt++) {
        draw_name(drawn, attempt);
        if (sv_file_name(&file->folder, file->descriptor, file->temporary, drawn))
            memcpy(file->temporary, drawn, sizeof drawn);
        else if (errno != EEXIST)
            break;
    }
    return file->temporary[0] != 0;
}

/* All of it is on the disk, and has a name. */
static sv_status prepare(sv_file *file)
{
    if (!file->replaces || file->removes)
        return SV_OK;
    if (fsync(file->descriptor) != 0 || !name_it(file))
        return cannot(file->ctx, "write", file->path);
    return SV_OK;
}

static sv_status take_place(sv_file *file)
{
    int at = file->folder.descriptor;
    if (!file->replaces)
        return SV_OK;
    if (file->removes)
        return unlinkat(at, file->name, 0) == 0 || errno == ENOENT
                   ? SV_OK
                   : cannot(file->ctx, "remove", file->path);
    if (renameat(at, file->temporary, at, file->name) != 0)
        return cannot(file->ctx, "write", file->path);
    file->temporary[0] = 0;
    return SV_OK;
}

static sv_status make_last(const sv_file *file)
{
    return file->replaces ? sv_folder_sync(&file->folder, file->ctx, file->path) : SV_OK;
}

sv_status sv_file_commit(sv_file *file)
{
    sv_status status = prepare(file);
    if (status == SV_OK)
        status = take_place(file);
    if (status == SV_OK)
        status = make_last(file);
    sv_file_close(file);
    return status;
}

/* ---- several files ---- */

sv_status sv_file_remove(sv_file *file, sv_ctx *ctx, const char *path)
{
    char name[NAME_MAX + 1];
    SV_TRY(open_as(file, ctx, path));
    file->replaces = file->removes = true;
    sv_status status = sv_folder_above(&file->folder, ctx, "remove", path, name);
    if (status == SV_OK && (file->name = copy_text(ctx, name)) == NULL)
        status = SV_NO_MEMORY;
    if (status != SV_OK)
        sv_file_close(file);
    return status;
}

/* What was in the place of a file, so that it can be put back. */
struct before {
    bool nothing;   /* there was none */
    char aside[24]; /* its second name; empty: it has none */
};

static struct before keep(const sv_file *file, unsigned *drawn)
{
    struct before before = {.nothing = false};
    int at = file->folder.descriptor;
    while (file->replaces && *drawn < 1000) {
        draw_name(before.aside, (*drawn)++);
        if (linkat(at, file->name, at, before.aside, 0) == 0)
            return before;
        if (errno == EEXIST)
            continue;
        before.nothing = errno == ENOENT;
        break;
    }
    before.aside[0] = 0;
    return before;
}

static void put_back(const sv_file *file, struct before *before)
{
    int at = file->folder.descriptor;
    if (file->replaces && before->nothing)
        unlinkat(at, file->name, 0);
    else if (before->aside[0] != 0 && renameat(at, before->aside, at, file->name) == 0)
        before->aside[0] = 0;
}

static sv_status take_places(sv_file *const *files, struct before *before, unsigned count)
{
    sv_status status = SV_OK;
    unsigned drawn = 0, done = 0;
    while (status == SV_OK && done < count) {
        before[done] = keep(files[done], &drawn);
        status = take_place(files[done]);
        done++;
    }
    for (unsigned i = done; status != SV_OK && i-- > 0;)
        if (i + 1 < done) /* the last one is as it was */
            put_back(files[i], &before[i]);
    for (unsigned i = 0; i < done; i++)
        if (before[i].aside[0] != 0)
            unlinkat(files[i]->folder.descriptor, before[i].aside, 0);
    for (unsigned i = 0; status == SV_OK && i < count; i++)
        status = make_last(files[i]);
    return status;
}

sv_status sv_files_commit(sv_file *const *files, unsigned count)
{
    enum { MAX = 4 };
    sv_file *there[MAX];
    struct before before[MAX];
    unsigned n = 0;
    sv_status status = SV_OK;
    for (unsigned i = 0; i < count; i++)
        if (files[i] != NULL && n < MAX)
            there[n++] = files[i];
    for (unsigned i = 0; status == SV_OK && i < n; i++)
        status = prepare(there[i]);
    if (status == SV_OK)
        status = take_places(there, before, n);
    for (unsigned i = 0; i < n; i++)
        sv_file_close(there[i]);
    return status;
}

void sv_file_close(sv_file *file)
{
    if (file->descriptor > STDERR_FILENO)
        close(file->descriptor);
    file->descriptor = -1;
    if (file->temporary[0] != 0)
        unlinkat(file->folder.descriptor, file->temporary, 0);
    file->temporary[0] = 0;
    if (file->replaces || file->folder.descriptor > STDERR_FILENO)
        sv_folder_close(&file->folder);
    sv_release(file->ctx, file->name);
    sv_release(file->ctx, file->path);
    file->name = file->path = NULL;
    file->replaces = file->removes = false;
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
