/*
 * claims.c: studies that share a database.
 *
 * Idea: a file beside the database (its name and "-claims") of which nothing is read or written but
 * locks on single bytes: one is the door, one says that somebody is inside (shared), one for each
 * cell says that it is being run. The system gives a process's locks back however it ends, so there
 * is nothing to clean up, and no clock: a cell whose process was killed is free at that moment.
 * Locks of POSIX (fcntl) work between machines, too, where the file system has them.
 *
 * The door. Whoever changes how the database is kept (its tables, its journal) stands at the door
 * and is alone there. The last to leave removes the file while it still holds the door; who waited
 * for that door finds that the name now stands for another file, or none, and begins again.
 *
 * Invariants: a process opens the file once, since closing it anywhere would give all locks back;
 * only the thread that opened it uses it. The order is door, then the rest: nobody waits inside.
 * Cost: a system call each.
 */
#include "study/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DOOR, INSIDE, FIRST_CELL };

/* Locks a byte, or gives it back (F_UNLCK). 0 or errno. */
static int lock(int descriptor, int command, short kind, int64_t byte)
{
    struct flock what = {.l_type = kind, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    return fcntl(descriptor, command, &what) == 0 ? 0 : errno;
}

/* Waits at the door; errno, or 0. A signal that stops the study ends it (EINTR). */
static int wait_at_door(const sv__claims *claims)
{
    int error;
    do
        error = lock(claims->descriptor, F_SETLKW, F_WRLCK, DOOR);
    while (error == EINTR && !sv_cancelled(claims->ctx));
    return error;
}

/* Whether the file that is open is still the one of that name. */
static bool is_current(const sv__claims *claims)
{
    struct stat opened, named;
    return fstat(claims->descriptor, &opened) == 0 && stat(claims->path, &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static sv_status fail(sv__claims *claims, int error)
{
    sv_ctx *ctx = claims->ctx;
    if (error == EINTR)
        return sv_fail(ctx, SV_CANCELLED, "cancelled while another study begins or ends");
    if (error == ENOLCK || error == ENOTSUP || error == ENOSYS || error == EINVAL) {
        sv_warn(ctx, "%s: no locks here (%s): another study on this database would run cells twice",
                claims->path, strerror(error));
        close(claims->descriptor);
        claims->descriptor = -1;
        return SV_OK;
    }
    return sv_fail(ctx, SV_IO, "cannot lock '%s': %s", claims->path, strerror(error));
}

sv_status sv__claims_open(sv__claims *claims, sv_ctx *ctx, const char *database)
{
    *claims = (sv__claims){.ctx = ctx, .descriptor = -1};
    if (database == NULL || *database == 0) /* in memory: nobody else has it */
        return SV_OK;
    size_t length = strlen(database);
    claims->path = sv_alloc(ctx, length + 8, 1);
    if (claims->path == NULL)
        return SV_NO_MEMORY;
    memcpy(claims->path, database, length);
    memcpy(claims->path + length, "-claims", 8);
    for (;;) {
        claims->descriptor = open(claims->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (claims->descriptor < 0)
            return sv_fail(ctx, SV_IO, "cannot open '%s': %s", claims->path, strerror(errno));
        int error = wait_at_door(claims);
        if (error != 0)
            return fail(claims, error);
        if (is_current(claims))
            break;
        close(claims->descriptor);
    }
    int error = lock(claims->descriptor, F_SETLK, F_RDLCK, INSIDE);
    return error == 0 ? SV_OK : fail(claims, error);
}

void sv__claims_enter(const sv__claims *claims)
{
    if (claims->descriptor >= 0)
        lock(claims->descriptor, F_SETLK, F_UNLCK, DOOR);
}

/* The byte of a cell. Numbers are small but in a database that somebody has changed. */
static int64_t byte_of(int64_t cell)
{
    return FIRST_CELL + (cell & INT64_MAX >> 1);
}

bool sv__claims_take(const sv__claims *claims, int64_t cell)
{
    if (claims->descriptor < 0)
        return true;
    int error = lock(claims->descriptor, F_SETLK, F_WRLCK, byte_of(cell));
    return error != EAGAIN && error != EACCES;
}

void sv__claims_drop(const sv__claims *claims, int64_t cell)
{
    if (claims->descriptor >= 0)
        lock(claims->descriptor, F_SETLK, F_UNLCK, byte_of(cell));
}

bool sv__claims_leave(const sv__claims *claims)
{
    if (claims->descriptor < 0)
        return true;
    while (lock(claims->descriptor, F_SETLKW, F_WRLCK, DOOR) == EINTR)
        ;
    return lock(claims->descriptor, F_SETLK, F_WRLCK, INSIDE) == 0;
}

void sv__claims_close(sv__claims *claims, bool last)
{
    if (claims->descriptor >= 0) {
        if (last)
            unlink(claims->path);
        close(claims->descriptor);
    }
    if (claims->ctx != NULL)
        sv_release(claims->ctx, claims->path);
    *claims = (sv__claims){.descriptor = -1};
}
