/*
 * clock.c: a library to preload under OpenSM that sets the clock for the plugin alone.
 *
 * The time of day is an hour ahead until the file $SELVAGE_CLOCK is there, then what it is: a clock
 * that was set back while the program ran. The kernel, which ends waits, has the right one all the
 * time, so a wait until a time of day that began before lasts an hour, as it would with a real
 * clock. OpenSM's own waits are by time of day, too: they are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void *caller)
{
    Dl_info about;
    struct stat there;
    const char *path = getenv("SELVAGE_CLOCK");
    if (path == NULL || dladdr(caller, &about) == 0 ||
        strstr(about.dli_fname, "selvage_osm") == NULL)
        return 0;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &there, 0) == 0 ? 0 : 3600;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += ahead(__builtin_return_address(0));
    return code;
}

time_t time(time_t *to)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    now.tv_sec += ahead(__builtin_return_address(0));
    if (to != NULL)
        *to = now.tv_sec;
    return now.tv_sec;
}
