/*
 * writer.c: the file of one rank (docs/decisions/0029-traces.md has the format).
 *
 * Idea: an event that was there before is its number in the dictionary, most often one byte. While
 * the program runs the file is called rank-N.svt.part, and the program's name in it says that it
 * did not end; rec_file_end writes it again, with the right name and the sum, and renames it. So a
 * program that was killed leaves a file that says so, and cannot be taken for a whole one. What is
 * there already, of another program that was started by this one, say, is left as it is.
 *
 * Invariant: dictionary and number of records of the file are those of its reader. Events are
 * written as they come, with a buffer between; loops are found by whoever joins the files.
 *
 * Cost: O(1) an event; memory for each different one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum { BUFFER = 1 << 16, MAX_PATH = 4096, MAX_EVENT = 64 };

static struct {
    int descriptor;
    uint32_t rank, ranks;
    off_t body; /* where the section begins */
    size_t filled;
    uint64_t sum;
    sv_mpi_event *known; /* the dictionary, in order */
    uint32_t *table;     /* 1 + index, by hash */
    uint32_t num_known, room;
    const char *error;
    char program[256];
    char path[MAX_PATH]; /* without .part */
    unsigned char buffer[BUFFER];
} file = {.descriptor = -1};

const char *rec_file_error(void)
{
    return file.error;
}

static bool fail(const char *why)
{
    file.error = why;
    return false;
}

/* ---- bytes ---- */

/* As write; but where files may not be larger (ulimit -f) that is an error, not the program's end.
 */
static ssize_t write_some(const void *bytes, size_t length)
{
    const struct timespec now = {0};
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    ssize_t n = write(file.descriptor, bytes, length);
    int error = errno;
    if (n < 0 && error == EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&too_large, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

static bool flush(void)
{
    size_t done = 0;
    while (done < file.filled) {
        ssize_t n = write_some(file.buffer + done, file.filled - done);
        if (n < 0 && errno != EINTR)
            return fail(strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    file.filled = 0;
    return true;
}

static bool put_bytes(const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < length; i++) {
        if (file.filled == BUFFER && !flush())
            return false;
        file.buffer[file.filled++] = from[i];
        file.sum = (file.sum ^ from[i]) * UINT64_C(0x100000001b3);
    }
    return true;
}

static size_t leb(unsigned char *to, uint64_t value)
{
    size_t length = 0;
    do {
        to[length] = (unsigned char)(value & 0x7f);
        value >>= 7;
        to[length++] |= value != 0 ? 0x80 : 0;
    } while (value != 0);
    return length;
}

static bool put(uint64_t value)
{
    unsigned char bytes[10];
    return put_bytes(bytes, leb(bytes, value));
}

static uint64_t zigzag(int64_t value)
{
    return value < 0 ? 2 * (uint64_t)(-(value + 1)) + 1 : 2 * (uint64_t)value;
}

static bool put_head(const char *note)
{
    char name[sizeof file.program + 64];
    int length = snprintf(name, sizeof name, "%s%s%s%s", file.program, note != NULL ? " (" : "",
                          note != NULL ? note : "", note != NULL ? ")" : "");
    return put_bytes("SVT1\n", 5) && put(file.ranks) && put((uint64_t)length) &&
           put_bytes(name, (size_t)length);
}

/* ---- the dictionary ---- */

static uint64_t hash(const sv_mpi_event *e)
{
    uint64_t h = e->amount * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 29) ^ e->peer) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 32) ^ e->tag) * UINT64_C(0x94d049bb133111eb);
    h = (h ^ (h >> 29) ^ e->request) * UINT64_C(0x9e3779b97f4a7c15);
    return (h ^ (h >> 31) ^ ((uint64_t)e->group << 16 | (uint64_t)e->kind << 8 | e->call)) *
           UINT64_C(0xbf58476d1ce4e5b9);
}

static bool same(const sv_mpi_event *a, const sv_mpi_event *b)
{
    return a->amount == b->amount && a->peer == b->peer && a->tag == b->tag &&
           a->request == b->request && a->group == b->group && a->kind == b->kind &&
           a->call == b->call;
}

/* The place in the table where an event is, or would be. */
static uint32_t *find(const sv_mpi_event *event)
{
    uint32_t mask = 2 * file.room - 1, at = (uint32_t)(hash(event) >> 20) & mask;
    while (file.table[at] != 0 && !same(&file.known[file.table[at] - 1], event))
        at = (at + 1) & mask;
    return &file.table[at];
}

static bool grow(void)
{
    if (file.num_known < file.room)
        return true;
    uint32_t room = file.room == 0 ? 256 : 2 * file.room;
    sv_mpi_event *known = realloc(file.known, room * sizeof *known);
    if (known != NULL)
        file.known = known;
    uint32_t *table = calloc(2 * (size_t)room, sizeof *table);
    if (known == NULL || table == NULL) {
        free(table);
        return fail("out of memory");
    }
    free(file.table);
    file.table = table;
    file.room = room;
    for (uint32_t i = 0; i < file.num_known; i++)
        *find(&file.known[i]) = i + 1;
    return true;
}

/* An event in full; returns its length. */
static size_t spell(unsigned char *to, const sv_mpi_event *e)
{
    size_t n = leb(to, e->kind);
    n += leb(to + n, e->call);
    if (e->kind == SV_MPI_WAIT)
        return n + leb(to + n, e->request);
    if (e->kind == SV_MPI_COLLECTIVE || e->kind == SV_MPI_ICOLLECTIVE) {
        n += leb(to + n, e->peer);
        n += leb(to + n, e->group);
    } else if (e->kind != SV_MPI_COMPUTE) {
        int64_t away = (int64_t)e->peer - file.rank;
        n += leb(to + n, e->peer == SV_MPI_ANY ? 0 : 1 + zigzag(away));
        n += leb(to + n, e->tag == SV_MPI_ANY ? 0 : 1 + (uint64_t)e->tag);
        n += leb(to + n, e->group);
    }
    n += leb(to + n, e->amount);
    if (e->kind == SV_MPI_ISEND || e->kind == SV_MPI_IRECV || e->kind == SV_MPI_ICOLLECTIVE)
        n += leb(to + n, e->request);
    return n;
}

bool rec_file_event(const sv_mpi_event *event)
{
    unsigned char bytes[MAX_EVENT];
    if (!grow())
        return false;
    uint32_t *at = find(event);
    if (*at != 0)
        return put(8 + (uint64_t)*at - 1);
    file.known[file.num_known++] = *event;
    *at = file.num_known;
    return put(2) && put_bytes(bytes, spell(bytes, event));
}

bool rec_file_group(const uint32_t *ranks, uint32_t size, uint32_t ordinal)
{
    bool ok = put(1) && put(ordinal) && put(size);
    int64_t before = 0;
    for (uint32_t i = 0; i < size && ok; i++) {
        ok = put(zigzag((int64_t)ranks[i] - before));
        before = ranks[i];
    }
    return ok;
}

/* ---- beginning and end ---- */

/* exclusive: nobody else's is written over. */
static bool create(const char *suffix, int exclusive)
{
    char path[MAX_PATH + 8];
    snprintf(path, sizeof path, "%s%s", file.path, suffix);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | exclusive, 0666);
    if (descriptor < 0)
        return fail(strerror(errno));
    file.descriptor = descriptor;
    file.filled = 0;
    file.sum = UINT64_C(0xcbf29ce484222325);
    return true;
}

bool rec_file_begin(const char *folder, const char *program, uint32_t rank, uint32_t ranks)
{
    char *whole = realpath(folder, NULL); /* the program may go elsewhere */
    if (whole == NULL)
        return fail(strerror(errno));
    int length = snprintf(file.path, sizeof file.path, "%s/rank-%06u.svt", whole, (unsigned)rank);
    free(whole);
    if (length < 0 || (size_t)length >= sizeof file.path)
        return fail("the folder's name is too long");
    if (access(file.path, F_OK) == 0)
        return fail("this rank is there already");
    snprintf(file.program, sizeof file.program, "%s", program);
    file.rank = rank;
    file.ranks = ranks;
    if (!create(".part", O_EXCL) || !put_head("did not end"))
        return false;
    file.body = (off_t)file.filled;
    return put(1 + (uint64_t)rank);
}

/* What was written so far, from the body on, goes into the file that is open now. */
static bool copy_body(int from)
{
    unsigned char bytes[4096];
    if (lseek(from, file.body, SEEK_SET) < 0)
        return fail(strerror(errno));
    for (;;) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fail(strerror(errno));
        if (n > 0 && !put_bytes(bytes, (size_t)n))
            return false;
    }
}

static bool put_end(void)
{
    unsigned char sum[8];
    if (!put(0) || !put(0))
        return false;
    for (int i = 0; i < 8; i++)
        sum[i] = (unsigned char)(file.sum >> 8 * i);
    return put_bytes(sum, sizeof sum) && flush();
}

static void close_file(void)
{
    if (file.descriptor >= 0)
        close(file.descriptor);
    file.descriptor = -1;
    free(file.known);
    free(file.table);
    file.known = NULL;
    file.table = NULL;
    file.room = file.num_known = 0;
}

bool rec_file_end(const char *what)
{
    char part[MAX_PATH + 8], whole[MAX_PATH + 8];
    bool ok = flush();
    close_file();
    snprintf(part, sizeof part, "%s.part", file.path);
    snprintf(whole, sizeof whole, "%s.new", file.path);
    int from = ok ? open(part, O_RDONLY | O_CLOEXEC) : -1;
    if (ok && from < 0)
        ok = fail(strerror(errno));
    ok = ok && create(".new", 0) && put_head(what) && copy_body(from) && put_end();
    close_file();
    if (from >= 0)
        close(from);
    if (ok && rename(whole, file.path) != 0)
        ok = fail(strerror(errno));
    if (ok)
        unlink(part);
    else
        unlink(whole);
    return ok;
}
