/* bench.h: what benchmarks share: a clock, and the most memory so far. */
#ifndef SELVAGE_BENCH_H
#define SELVAGE_BENCH_H

#include <stdio.h>
#include <time.h>

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* VmHWM of this process, in MB. */
static inline double peak_mb(void)
{
    char line[256];
    double kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kb / 1024;
}

#endif
