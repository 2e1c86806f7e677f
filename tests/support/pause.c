/*
 * pause.c: holds a program at the calls that a test wants it held at. Preloaded; $SELVAGE_PAUSE is
 * a directory. Where that has open:NAME, openat of NAME waits after it is done; with rename:NAME,
 * renameat to NAME before. open:NAME.reached tells that it does; it goes on when open:NAME is
 * removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int openat_fn(int at, const char *name, int flags, ...);
typedef int renameat_fn(int from_at, const char *from, int to_at, const char *to);

static void hold(const char *call, const char *name)
{
    const char *where = getenv("SELVAGE_PAUSE");
    char pause[4096], reached[4096];
    if (where == NULL || strchr(name, '/') != NULL)
        return;
    snprintf(pause, sizeof pause, "%s/%s:%s", where, call, name);
    snprintf(reached, sizeof reached, "%s/%s:%s.reached", where, call, name);
    if (access(pause, F_OK) != 0)
        return;
    FILE *file = fopen(reached, "w");
    if (file != NULL)
        fclose(file);
    while (access(pause, F_OK) == 0)
        usleep(1000);
}

int openat(int at, const char *name, int flags, ...)
{
    openat_fn *real = (openat_fn *)dlsym(RTLD_NEXT, "openat");
    va_list args;
    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    int descriptor = real(at, name, flags, mode);
    hold("open", name);
    return descriptor;
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    renameat_fn *real = (renameat_fn *)dlsym(RTLD_NEXT, "renameat");
    hold("rename", to);
    return real(from_at, from, to_at, to);
}
