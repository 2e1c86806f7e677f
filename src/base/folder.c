/*
 * folder.c: directories that are opened once.
 *
 * Idea: a path is walked part by part, each directory opened in the one before it without following
 * links; a link is read and its target walked instead. So it is known for every link in which
 * directory it stands. A privileged program (the plugin inside OpenSM, as root) must not be led
 * astray by whoever can write there: it follows only links in directories that nobody but root and
 * itself can write.
 *
 * Whoever is not privileged follows links as the kernel does where fs.protected_symlinks is 1: in
 * directories such as /tmp only their own and those of the directory's owner.
 *
 * Invariant: a descriptor that is not in a folder given back is closed.
 * Cost: some calls to the kernel for each part of the path.
 */
#define _GNU_SOURCE /* O_PATH */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 };

struct walk {
    sv_ctx *ctx;
    const char *what, *path; /* for messages */
    int at;                  /* the directory we are in */
    int links;
    bool whole;          /* the path is a directory's; else that of something in one */
    char rest[PATH_MAX]; /* what is still to be walked */
};

static sv_status cannot(const struct walk *w, const char *why)
{
    return sv_fail(w->ctx, SV_IO, "cannot %s '%s': %s", w->what, w->path, why);
}

/* Whether others than root and this user can write to an open directory. */
static bool is_shared(int descriptor)
{
    struct stat about;
    return fstat(descriptor, &about) != 0 || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
           (about.st_uid != 0 && about.st_uid != geteuid());
}

static sv_status start(struct walk *w, const char *where)
{
    if (w->at >= 0)
        close(w->at);
    w->at = open(where, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return w->at < 0 ? cannot(w, strerror(errno)) : SV_OK;
}

/* Takes the next part off the rest. last: nothing but slashes comes behind it. */
static sv_status next_part(struct walk *w, char part[NAME_MAX + 1], bool *last)
{
    const char *from = w->rest + strspn(w->rest, "/");
    size_t length = strcspn(from, "/");
    if (length > NAME_MAX)
        return cannot(w, strerror(ENAMETOOLONG));
    memcpy(part, from, length);
    part[length] = 0;
    from += length;
    *last = from[strspn(from, "/")] == 0;
    bool slash = *last && *from == '/';
    memmove(w->rest, from, strlen(from) + 1);
    /* "x/" is a directory, whatever it is to be. */
    return slash && !w->whole ? cannot(w, strerror(EISDIR)) : SV_OK;
}

/* Whether a link could be a trap: in a directory such as /tmp, and of somebody else. */
static bool is_trap(int at, const char *link)
{
    enum { TEMPORARY = S_ISVTX | S_IWOTH };
    struct stat folder, about;
    return fstat(at, &folder) != 0 || fstatat(at, link, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
           ((folder.st_mode & TEMPORARY) == TEMPORARY && about.st_uid != geteuid() &&
            about.st_uid != folder.st_uid);
}

/* A link: its target comes before the rest. */
static sv_status follow(struct walk *w, const char *part)
{
    char target[PATH_MAX];
    if (is_trap(w->at, part))
        return sv_fail(
            w->ctx, SV_IO,
            "cannot %s '%s': '%s' is a symbolic link of another user in a directory that "
            "everybody can write; name the file itself",
            w->what, w->path, part);
    if (w->ctx->host.privileged && is_shared(w->at))
        return sv_fail(w->ctx, SV_IO,
                       "cannot %s '%s': '%s' is a symbolic link in a directory that others can "
                       "write; name the file itself, or move it to a directory of root's",
                       w->what, w->path, part);
    ssize_t length = readlinkat(w->at, part, target, sizeof target - 1);
    if (length < 0)
        return cannot(w, strerror(errno));
    target[length] = 0;
    if (++w->links > MAX_LINKS)
        return cannot(w, strerror(ELOOP));
    size_t rest = strlen(w->rest);
    if ((size_t)length + rest >= sizeof w->rest)
        return cannot(w, strerror(ENAMETOOLONG));
    memmove(w->rest + length, w->rest, rest + 1);
    memcpy(w->rest, target, (size_t)length);
    return target[0] == '/' ? start(w, "/") : SV_OK;
}

/* Walks to the last part, which stays in name; into that, too, if the whole is a directory. */
static sv_status walk(struct walk *w, char name[NAME_MAX + 1])
{
    for (;;) {
        bool last;
        struct stat about;
        SV_TRY(next_part(w, name, &last));
        if (*name == 0) /* the path was nothing but slashes */
            return w->whole ? SV_OK : cannot(w, strerror(EISDIR));
        bool there = fstatat(w->at, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
        if (there && S_ISLNK(about.st_mode)) {
            SV_TRY(follow(w, name));
            continue;
        }
        if (last && !w->whole)
            return there || errno == ENOENT ? SV_OK : cannot(w, strerror(errno));
        int next = openat(w->at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0)
            return cannot(w, strerror(errno));
        close(w->at);
        w->at = next;
        if (last)
            return SV_OK;
    }
}

static sv_status open_folder(sv_folder *folder, sv_ctx *ctx, const char *what, const char *path,
                             bool whole, char name[NAME_MAX + 1])
{
    struct walk w = {.ctx = ctx, .what = what, .path = path, .at = -1, .whole = whole};
    *folder = (sv_folder){.descriptor = -1};
    size_t length = strlen(path);
    if (length == 0)
        return cannot(&w, strerror(ENOENT));
    if (length >= sizeof w.rest)
        return sv_fail(ctx, SV_IO, "cannot %s '%.100s…': the name is too long", what, path);
    memcpy(w.rest, path, length + 1);
    sv_status status = start(&w, path[0] == '/' ? "/" : ".");
    if (status == SV_OK)
        status = walk(&w, name);
    if (status != SV_OK) {
        if (w.at >= 0)
            close(w.at);
        return status;
    }
    /* On the way it was enough to pass through; to sync and lock it must be open. */
    int open = openat(w.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (open >= 0)
        close(w.at);
    *folder = (sv_folder){.descriptor = open >= 0 ? open : w.at};
    return SV_OK;
}

sv_status sv_folder_open(sv_folder *folder, sv_ctx *ctx, const char *what, const char *path)
{
    char name[NAME_MAX + 1];
    return open_folder(folder, ctx, what, path, true, name);
}

sv_status sv_folder_above(sv_folder *folder, sv_ctx *ctx, const char *what, const char *path,
                          char name[NAME_MAX + 1])
{
    return open_folder(folder, ctx, what, path, false, name);
}

void sv_folder_close(sv_folder *folder)
{
    if (folder->descriptor >= 0)
        close(folder->descriptor);
    folder->descriptor = -1;
}

sv_status sv_folder_sync(const sv_folder *folder, sv_ctx *ctx, const char *path)
{
    /* Some file systems cannot do that for directories, and need not. */
    if (fsync(folder->descriptor) == 0 || errno == EINVAL || errno == EBADF)
        return SV_OK;
    return sv_fail(ctx, SV_IO, "cannot write '%s': %s", path, strerror(errno));
}
