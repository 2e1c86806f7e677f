/*
 * fileset.c: files of one directory that belong together: reading one generation of them, and
 * replacing it by another (fileset.h).
 *
 * A generation is a digest of all bytes of the set, in hexadecimal, in a comment of each file:
 *
 *     # selvage generation 0123456789abcdef
 *
 * Writing. New files have no names at first, so that nothing is left of them if the writer dies.
 * When all are complete and on the disk, one writer at a time (a lock on the directory):
 *
 *  1. finishes what a writer left that died in step 4 or 5;
 *  2. gives the new files names, .selvage-next.NAME;
 *  3. creates .selvage-next, which holds the new generation, the names of its members, and what
 *     was there (sizes, times): from here on the new set is the one that readers get;
 *  4. exchanges every member with its new file; moves away what the set does not have any more;
 *  5. removes .selvage-next, then all .selvage-next.NAME.
 *
 * A call that fails in step 4 has everything exchanged back. Everything reaches the disk before the
 * next step begins.
 *
 * Reading. If there is .selvage-next, its generation is the one to read, and a member is whichever
 * of NAME and .selvage-next.NAME has it; a NAME that is neither of it nor what was there is of
 * somebody else, who came after a writer had died, and is refused. Else all members have to be of
 * one generation, or all of none (what OpenSM dumps). If they are not, a writer may have been at
 * work: it is tried again some times; so it is if names in the directory change meanwhile, because
 * a member that is not there could be of either set. Files of ours that are open do not change any
 * more; those that others write into (OpenSM, cp) have another time afterwards, and are read again
 * (sv_fileset_settled). No reader locks anything. If the journal stays its writer is dead; who
 * reads is warned then that programs that know nothing of it find files of both sets.
 *
 * Invariant: at any moment a reader finds the old or the new set, whole.
 * Cost: that of writing the files, and some 40 calls for each; reading 4 KiB of each twice, or the
 * first line if that is longer.
 */
#define _GNU_SOURCE /* RENAME_EXCHANGE */
#include "base/fileset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/journal.h"

enum {
    READ_AGAIN = 20, /* times, */
    READ_WAIT_MS = 10,
    LOCK_WAIT_MS = 20,
    LOCK_AGAIN = 1500 /* 30 seconds in all */
};

static void rest_ms(unsigned ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000L};
    nanosleep(&pause, NULL);
}

static void next_name(char to[NAME_MAX + 1], const char *name)
{
    snprintf(to, NAME_MAX + 1, SV__JOURNAL ".%s", name);
}

/* ---- reading ---- */

struct opening {
    sv_fileset *set;
    const char *directory;
    sv_folder folder;
    sv__journal journal;
    bool mixed;          /* what was opened does not belong together */
    bool moving;         /* names changed meanwhile */
    const char *changed; /* the member that is not what the journal says; NULL: all are */
};

/* A member that the new set does not have any more. */
static void look_at_dropped(struct opening *o, const char *name)
{
    struct stat now;
    if (fstatat(o->folder.descriptor, name, &now, 0) == 0 &&
        sv__journal_foreign(&o->journal, name, &now))
        o->changed = name;
}

/* The journal has a member; what is open under its own name, if anything, is not of its set. */
static sv_status open_next(struct opening *o, unsigned i, const char *name, const char *path,
                           bool *there)
{
    sv_fileset *set = o->set;
    char next[NAME_MAX + 1];
    struct stat now;
    if (*there && fstat(set->file[i].descriptor, &now) != 0)
        return sv_fail(set->ctx, SV_IO, "cannot read '%s': %s", path, strerror(errno));
    bool foreign = sv__journal_foreign(&o->journal, name, *there ? &now : NULL);
    if (*there)
        sv_file_close(&set->file[i]);
    next_name(next, name);
    sv_status status = sv_file_open_in(&set->file[i], set->ctx, &o->folder, next, path, there);
    o->set->stamp[i] = status == SV_OK ? sv__stamp_of(set->file[i].descriptor) : SV__NO_STAMP;
    if (foreign || o->set->stamp[i] != o->journal.generation)
        o->changed = name;
    return status != SV_OK && *there ? status : SV_OK;
}

/* One of the names of a part; *there false: there is none of that name. */
static sv_status open_name(struct opening *o, unsigned i, const char *name, bool *there)
{
    sv_fileset *set = o->set;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", o->directory, name);
    *there = false;
    if (sv__journal_has(&o->journal, "drops", name)) {
        look_at_dropped(o, name);
        return SV_OK;
    }
    sv_status status = sv_file_open_in(&set->file[i], set->ctx, &o->folder, name, path, there);
    if (status != SV_OK && *there)
        return status;
    o->set->stamp[i] = *there ? sv__stamp_of(set->file[i].descriptor) : SV__NO_STAMP;
    if (!sv__journal_has(&o->journal, "has", name) || o->set->stamp[i] == o->journal.generation)
        return SV_OK;
    return open_next(o, i, name, path, there);
}

/* What an open file is now. */
static bool look_at(const sv_fileset *set, unsigned i, struct stat *now)
{
    return fstat(set->file[i].descriptor, now) == 0;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static sv_status open_all(struct opening *o, const sv_fileset_part *parts)
{
    sv_fileset *set = o->set;
    struct stat before, after;
    int first = -1;
    o->mixed = false;
    o->changed = NULL;
    bool known = fstat(o->folder.descriptor, &before) == 0;
    SV_TRY(sv__journal_read(&o->journal, set->ctx, &o->folder, o->directory));
    for (unsigned i = 0; i < set->count; i++) {
        bool there = false;
        for (int k = 0; !there && parts[i].names[k] != NULL; k++)
            SV_TRY(open_name(o, i, parts[i].names[k], &there));
        if (!there)
            continue;
        if (!look_at(set, i, &set->opened[i]))
            return sv_fail(set->ctx, SV_IO, "cannot read '%s': %s", set->file[i].path,
                           strerror(errno));
        first = first < 0 ? (int)i : first;
        o->mixed |= set->stamp[i] != set->stamp[first];
    }
    o->mixed |= o->changed != NULL;
    o->moving = known && fstat(o->folder.descriptor, &after) == 0 &&
                !same_time(&before.st_mtim, &after.st_mtim);
    return SV_OK;
}

bool sv_fileset_settled(const sv_fileset *set)
{
    for (unsigned i = 0; i < set->count; i++) {
        struct stat now;
        if (set->file[i].descriptor >= 0 &&
            (!look_at(set, i, &now) || now.st_size != set->opened[i].st_size ||
             !same_time(&now.st_mtim, &set->opened[i].st_mtim) ||
             sv__stamp_of(set->file[i].descriptor) != set->stamp[i]))
            return false;
    }
    return true;
}

/* A journal that stays for as long as no writer takes between it and its end. */
static void warn_of_the_dead(const struct opening *o)
{
    struct stat first, now;
    int at = o->folder.descriptor;
    if (!o->journal.there || fstatat(at, SV__JOURNAL, &first, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    for (int i = 0; i < READ_AGAIN; i++) {
        rest_ms(READ_WAIT_MS);
        if (fstatat(at, SV__JOURNAL, &now, AT_SYMLINK_NOFOLLOW) != 0 || now.st_ino != first.st_ino)
            return;
    }
    sv_warn(o->set->ctx,
            "'%s': a program died here that replaced tables: the new ones are read, but other "
            "programs (OpenSM, ibdmchk) find files of both; write the tables again",
            o->directory);
}

static void describe(char text[64], uint64_t stamp)
{
    if (stamp == SV__NO_STAMP)
        snprintf(text, 64, "none");
    else
        snprintf(text, 64, "%016llx", (unsigned long long)stamp);
}

static sv_status refuse(const struct opening *o)
{
    const sv_fileset *set = o->set;
    unsigned a = 0, b;
    char one[64], other[64];
    if (o->changed != NULL)
        return sv_fail(set->ctx, SV_BAD_INPUT,
                       "%s: '%s' was changed after a program died here that replaced tables; write "
                       "the tables again, or remove '" SV__JOURNAL "' to keep what is there",
                       o->directory, o->changed);
    while (a + 1 < set->count && set->file[a].descriptor < 0)
        a++;
    for (b = a; b + 1 < set->count &&
                (set->file[b].descriptor < 0 || o->set->stamp[b] == o->set->stamp[a]);)
        b++;
    describe(one, o->set->stamp[a]);
    describe(other, o->set->stamp[b]);
    return sv_fail(set->ctx, SV_BAD_INPUT,
                   "%s: files of different sets of tables: the generation of '%s' is %s, that of "
                   "'%s' %s; write the tables again, or copy all files of one set",
                   o->directory, set->file[a].path, one, set->file[b].path, other);
}

sv_status sv_fileset_open(sv_fileset *set, sv_ctx *ctx, const char *directory,
                          const sv_fileset_part *parts, unsigned count)
{
    struct opening o = {.set = set, .directory = directory};
    *set = (sv_fileset){.ctx = ctx, .count = count};
    for (unsigned i = 0; i < count; i++)
        set->file[i] = (sv_file){.ctx = ctx, .descriptor = -1, .folder = {.descriptor = -1}};
    SV_TRY(sv_folder_open(&o.folder, ctx, "open", directory));
    sv_status status = SV_OK;
    for (int attempt = 0;; attempt++) {
        status = open_all(&o, parts);
        if (status != SV_OK || !(o.mixed || o.moving))
            break;
        if (sv_cancelled(ctx))
            status = sv_fail(ctx, SV_CANCELLED, "cancelled during reading");
        else if (attempt == READ_AGAIN && o.mixed)
            status = refuse(&o);
        if (status != SV_OK || attempt == READ_AGAIN)
            break;
        sv_fileset_close(set);
        rest_ms(READ_WAIT_MS);
    }
    if (status == SV_OK)
        warn_of_the_dead(&o);
    sv_folder_close(&o.folder);
    if (status != SV_OK)
        sv_fileset_close(set);
    return status;
}

void sv_fileset_close(sv_fileset *set)
{
    for (unsigned i = 0; i < set->count; i++)
        sv_file_close(&set->file[i]);
}

/* ---- writing ---- */

static sv_status cannot(const sv_fileset_writer *w, const char *name)
{
    return sv_fail(w->ctx, SV_IO, "cannot write '%s/%s': %s", w->path, name, strerror(errno));
}

static bool put(sv_fileset_new *file, const void *bytes, size_t size)
{
    file->at += size;
    return sv_write_all(file->writer->ctx, file->descriptor, bytes, size);
}

/* Room for the generation, which is known only when everything is written. */
static bool put_stamp(sv_fileset_new *file, const char *before, const char *after)
{
    static const char room[] = SV__MARK "0000000000000000";
    if (!put(file, before, strlen(before)) || !put(file, room, sizeof room - 1))
        return false;
    file->stamp_at = file->at - SV__STAMP_DIGITS;
    return put(file, after, strlen(after));
}

static sv_stamp stamp_kind(const sv_fileset_new *file)
{
    return file->writer->members[file - file->writer->file].stamp;
}

static bool write_bytes(void *user, const void *bytes, size_t size)
{
    sv_fileset_new *file = user;
    const char *line_end;
    file->writer->digest = sv_digest(file->writer->digest, bytes, size);
    if (file->stamp_at != UINT64_MAX)
        return put(file, bytes, size);
    if (stamp_kind(file) == SV_STAMP_LINE)
        return put_stamp(file, "", "\n") && put(file, bytes, size);
    line_end = memchr(bytes, '\n', size);
    if (line_end == NULL)
        return put(file, bytes, size);
    size_t head = (size_t)(line_end - (const char *)bytes);
    return put(file, bytes, head) && put_stamp(file, " ", "") && put(file, line_end, size - head);
}

sv_status sv_fileset_create(sv_fileset_writer *w, sv_ctx *ctx, const char *directory,
                            const sv_fileset_member *members, unsigned count)
{
    *w = (sv_fileset_writer){.ctx = ctx,
                             .path = directory,
                             .members = members,
                             .count = count,
                             .digest = SV_DIGEST_START};
    for (unsigned i = 0; i < count; i++)
        w->file[i].descriptor = -1;
    return sv_folder_open(&w->folder, ctx, "write", directory);
}

const sv_sink *sv_fileset_begin(sv_fileset_writer *w, unsigned i)
{
    sv_fileset_new *file = &w->file[i];
    const char *name = w->members[i].name;
    *file = (sv_fileset_new){.writer = w, .stamp_at = UINT64_MAX};
    file->sink = (sv_sink){name, file, write_bytes};
    w->digest = sv_digest(w->digest, name, strlen(name) + 1);
    file->descriptor = sv_file_nameless(w->ctx, &w->folder, name, false, file->temporary);
    if (file->descriptor >= 0)
        return &file->sink;
    cannot(w, name);
    return NULL;
}

/* All that is written gets its generation, and is on the disk. */
static sv_status complete(sv_fileset_writer *w, uint64_t generation)
{
    char digits[SV__STAMP_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)generation);
    for (unsigned i = 0; i < w->count; i++) {
        sv_fileset_new *file = &w->file[i];
        if (file->descriptor < 0)
            continue;
        if (file->stamp_at == UINT64_MAX && !put_stamp(file, file->at > 0 ? " " : "", "\n"))
            return cannot(w, w->members[i].name);
        if (pwrite(file->descriptor, digits, SV__STAMP_DIGITS, (off_t)file->stamp_at) !=
                SV__STAMP_DIGITS ||
            fsync(file->descriptor) != 0)
            return cannot(w, w->members[i].name);
    }
    return SV_OK;
}

/* One writer at a time; a file system without locks has none. */
static sv_status lock(const sv_fileset_writer *w)
{
    for (int attempt = 0; attempt < LOCK_AGAIN; attempt++) {
        if (flock(w->folder.descriptor, LOCK_EX | LOCK_NB) == 0)
            return SV_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return SV_OK;
        if (sv_cancelled(w->ctx))
            return sv_fail(w->ctx, SV_CANCELLED, "cancelled while waiting for '%s'", w->path);
        rest_ms(LOCK_WAIT_MS);
    }
    return sv_fail(w->ctx, SV_IO,
                   "cannot write '%s': another program has locked it for %d seconds; try again "
                   "when it is done",
                   w->path, LOCK_AGAIN * LOCK_WAIT_MS / 1000);
}

static uint64_t stamp_in(const sv_folder *folder, const char *name)
{
    int descriptor =
        openat(folder->descriptor, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t stamp = descriptor < 0 ? SV__NO_STAMP : sv__stamp_of(descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return stamp;
}

static bool is_there(const sv_folder *folder, const char *name)
{
    struct stat about;
    return fstatat(folder->descriptor, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether somebody has changed what a dead writer left: a member is neither new nor what was there.
 */
static bool was_changed(const sv_fileset_writer *w, const sv__journal *j)
{
    for (unsigned i = 0; i < w->count; i++) {
        const char *name = w->members[i].name;
        struct stat now;
        bool there = fstatat(w->folder.descriptor, name, &now, 0) == 0;
        if (stamp_in(&w->folder, name) != j->generation &&
            sv__journal_foreign(j, name, there ? &now : NULL))
            return true;
    }
    return false;
}

/* One member of a writer that died. */
static sv_status finish_member(const sv_fileset_writer *w, const sv__journal *j, const char *name)
{
    int at = w->folder.descriptor;
    char next[NAME_MAX + 1];
    next_name(next, name);
    if (stamp_in(&w->folder, name) == j->generation)
        return SV_OK;
    if (sv__journal_has(j, "has", name) && stamp_in(&w->folder, next) == j->generation &&
        renameat(at, next, at, name) != 0)
        return cannot(w, name);
    if (sv__journal_has(j, "drops", name) && unlinkat(at, name, 0) != 0 && errno != ENOENT)
        return cannot(w, name);
    return SV_OK;
}

/*
 * Step 1: a writer died when its set was the one to be read already. If somebody has put other
 * files there since, those stay: nothing of the dead one's set is mixed into them.
 */
static sv_status finish_others(const sv_fileset_writer *w)
{
    sv__journal j;
    SV_TRY(sv__journal_read(&j, w->ctx, &w->folder, w->path));
    if (!j.there)
        return SV_OK;
    bool changed = was_changed(w, &j);
    for (unsigned i = 0; i < w->count && !changed; i++)
        SV_TRY(finish_member(w, &j, w->members[i].name));
    SV_TRY(sv_folder_sync(&w->folder, w->ctx, w->path));
    return unlinkat(w->folder.descriptor, SV__JOURNAL, 0) == 0 ? SV_OK : cannot(w, SV__JOURNAL);
}

static void remove_next(const sv_fileset_writer *w)
{
    char next[NAME_MAX + 1];
    for (unsigned i = 0; i < w->count; i++) {
        next_name(next, w->members[i].name);
        unlinkat(w->folder.descriptor, next, 0);
    }
}

/* Step 2. */
static sv_status name_files(sv_fileset_writer *w)
{
    char next[NAME_MAX + 1];
    struct stat about;
    remove_next(w); /* of somebody who died before step 3 */
    for (unsigned i = 0; i < w->count; i++) {
        sv_fileset_new *file = &w->file[i];
        const char *name = w->members[i].name;
        next_name(next, name);
        if (fstatat(w->folder.descriptor, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(about.st_mode)) {
            errno = EISDIR;
            return cannot(w, name);
        }
        if (file->descriptor >= 0 &&
            !sv_file_name(&w->folder, file->descriptor, file->temporary, next))
            return cannot(w, name);
    }
    return sv_folder_sync(&w->folder, w->ctx, w->path);
}

/* Step 3. */
static sv_status write_journal(sv_fileset_writer *w, uint64_t generation)
{
    char text[SV__JOURNAL_MAX], temporary[24];
    struct stat old;
    int length = snprintf(text, sizeof text, "selvage-next 1\ngeneration %016llx\n",
                          (unsigned long long)generation);
    for (unsigned i = 0; i < w->count; i++) {
        const char *name = w->members[i].name;
        length += snprintf(text + length, sizeof text - (size_t)length, "%s %s\n",
                           w->file[i].descriptor >= 0 ? "has" : "drops", name);
        if (fstatat(w->folder.descriptor, name, &old, 0) == 0)
            length += sv__journal_old(text + length, sizeof text - (size_t)length, name, &old);
    }
    int descriptor = sv_file_nameless(w->ctx, &w->folder, SV__JOURNAL, true, temporary);
    if (descriptor < 0)
        return cannot(w, SV__JOURNAL);
    /* Whoever may read the set must be able to read this, too, whatever the umask. */
    bool done = fchmod(descriptor, 0644) == 0 &&
                sv_write_all(w->ctx, descriptor, text, (size_t)length) && fsync(descriptor) == 0 &&
                sv_file_name(&w->folder, descriptor, temporary, SV__JOURNAL);
    sv_status status = done ? SV_OK : cannot(w, SV__JOURNAL);
    if (temporary[0] != 0)
        unlinkat(w->folder.descriptor, temporary, 0);
    close(descriptor);
    return status == SV_OK ? sv_folder_sync(&w->folder, w->ctx, w->path) : status;
}

/* What step 4 did with a member, so that it can be undone. */
enum { NOTHING, EXCHANGED, MOVED_IN, MOVED_AWAY, REPLACED };

static int exchange(const sv_fileset_writer *w, unsigned i)
{
    int at = w->folder.descriptor;
    const char *name = w->members[i].name;
    char next[NAME_MAX + 1];
    next_name(next, name);
    if (w->file[i].descriptor < 0) {
        if (!is_there(&w->folder, name))
            return NOTHING;
        return renameat(at, name, at, next) == 0 ? MOVED_AWAY : -1;
    }
    if (!is_there(&w->folder, name))
        return renameat(at, next, at, name) == 0 ? MOVED_IN : -1;
    if (renameat2(at, next, at, name, RENAME_EXCHANGE) == 0)
        return EXCHANGED;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return renameat(at, next, at, name) == 0 ? REPLACED : -1; /* a file system without exchange */
}

/* True: everything is as it was. */
static bool undo(const sv_fileset_writer *w, const int *did, unsigned count)
{
    int at = w->folder.descriptor;
    bool undone = true;
    char next[NAME_MAX + 1];
    while (count-- > 0) {
        const char *name = w->members[count].name;
        next_name(next, name);
        if (did[count] == EXCHANGED)
            undone &= renameat2(at, next, at, name, RENAME_EXCHANGE) == 0;
        else if (did[count] == MOVED_IN)
            undone &= renameat(at, name, at, next) == 0;
        else if (did[count] == MOVED_AWAY)
            undone &= renameat(at, next, at, name) == 0;
        else if (did[count] == REPLACED)
            undone = false;
    }
    return undone;
}

/* Steps 4 and 5. */
static sv_status exchange_all(const sv_fileset_writer *w)
{
    int did[SV_FILESET_MAX];
    for (unsigned i = 0; i < w->count; i++) {
        did[i] = exchange(w, i);
        if (did[i] >= 0)
            continue;
        sv_status status = cannot(w, w->members[i].name);
        /* If it cannot be undone the journal stays, and readers get the new set. */
        if (undo(w, did, i) && unlinkat(w->folder.descriptor, SV__JOURNAL, 0) == 0)
            remove_next(w);
        return status;
    }
    sv_status synced = sv_folder_sync(&w->folder, w->ctx, w->path);
    if (synced != SV_OK || unlinkat(w->folder.descriptor, SV__JOURNAL, 0) != 0) {
        /* The set is there all the same; the next writer removes what is left over. */
        sv_warn(w->ctx, "'%s/" SV__JOURNAL "' stays: %s", w->path, strerror(errno));
        return SV_OK;
    }
    remove_next(w);
    sv_status last = sv_folder_sync(&w->folder, w->ctx, w->path);
    (void)last; /* what could be lost is only that the leftovers are gone */
    return SV_OK;
}

sv_status sv_fileset_commit(sv_fileset_writer *w)
{
    uint64_t generation = w->digest == SV__NO_STAMP ? 1 : w->digest;
    SV_TRY(complete(w, generation));
    SV_TRY(lock(w));
    SV_TRY(finish_others(w));
    sv_status status = name_files(w);
    if (status == SV_OK)
        status = write_journal(w, generation);
    if (status != SV_OK) {
        unlinkat(w->folder.descriptor, SV__JOURNAL, 0);
        remove_next(w);
        return status;
    }
    return exchange_all(w);
}

void sv_fileset_end(sv_fileset_writer *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        sv_fileset_new *file = &w->file[i];
        if (file->descriptor >= 0)
            close(file->descriptor);
        if (file->temporary[0] != 0)
            unlinkat(w->folder.descriptor, file->temporary, 0);
        file->descriptor = -1;
        file->temporary[0] = 0;
    }
    sv_folder_close(&w->folder);
}
