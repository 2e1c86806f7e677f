/*
 * heap.c: a library to preload under OpenSM that counts what its heap holds. support/memory.py
 * builds and uses it.
 *
 * Resident memory alone does not tell a leak from a heap with holes; and malloc's own statistics
 * count as in use what threads keep for themselves (tcache). So every block that is given out and
 * not yet freed is counted here, by its usable size; malloc itself stays the C library's.
 *
 * A thread waits at a FIFO ($SELVAGE_HEAP); for each byte that comes it writes a line of JSON to
 * $SELVAGE_HEAP.answer and renames it to $SELVAGE_HEAP.told: bytes and blocks in use, and bytes
 * that malloc holds. 't' instead of '?' first gives back what can be (malloc_trim). It calls the
 * kernel by syscall(), since the simulator's client library has open, read and write of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own names for them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_long bytes, blocks;

static void *given(void *block)
{
    if (block != NULL) {
        atomic_fetch_add(&bytes, (long)malloc_usable_size(block));
        atomic_fetch_add(&blocks, 1);
    }
    return block;
}

static void taken(size_t size)
{
    atomic_fetch_sub(&bytes, (long)size);
    atomic_fetch_sub(&blocks, 1);
}

void *malloc(size_t size)
{
    return given(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return given(__libc_calloc(count, size));
}

void free(void *block)
{
    if (block != NULL)
        taken(malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size)
{
    size_t before = block != NULL ? malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);
    if (block != NULL && (moved != NULL || size == 0))
        taken(before);
    return given(moved);
}

void *memalign(size_t alignment, size_t size)
{
    return given(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return given(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *at = given(__libc_memalign(alignment, size));
    if (at == NULL)
        return ENOMEM;
    *block = at;
    return 0;
}

/* ---- who asks ---- */

static void answer(const char *path, const char *told)
{
    char text[256];
    struct mallinfo2 m = mallinfo2();
    int length = snprintf(text, sizeof text, "{\"in_use\": %ld, \"blocks\": %ld, \"held\": %zu}\n",
                          atomic_load(&bytes), atomic_load(&blocks), m.arena + m.hblkhd);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return;
    long written = syscall(SYS_write, file, text, (size_t)length);
    syscall(SYS_close, file);
    if (written == length)
        rename(path, told);
}

static void *serve(void *arg)
{
    const char *path = arg;
    char *at = NULL, *told = NULL, byte;
    if (asprintf(&at, "%s.answer", path) < 0 || asprintf(&told, "%s.told", path) < 0)
        return NULL;
    int fifo = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    for (;;) {
        long got = syscall(SYS_read, fifo, &byte, (size_t)1);
        if (got != 1 && errno != EINTR)
            return NULL;
        if (got == 1 && byte == 't')
            malloc_trim(0);
        if (got == 1)
            answer(at, told);
    }
}

__attribute__((constructor)) static void begin(void)
{
    static char path[4096];
    const char *fifo = getenv("SELVAGE_HEAP");
    sigset_t all, before;
    pthread_t thread;
    if (fifo == NULL || strlen(fifo) >= sizeof path ||
        strcmp(program_invocation_short_name, "opensm") != 0)
        return;
    strcpy(path, fifo);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for OpenSM's own threads */
    pthread_create(&thread, NULL, serve, path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
