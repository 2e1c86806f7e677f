/*
 * metapath.h: the paths that a pair has open, what they take, and in which zone that is.
 */
#ifndef SV_ADAPT_METAPATH_H
#define SV_ADAPT_METAPATH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sv__zone { SV__LOW, SV__MEDIUM, SV__HIGH } sv__zone;

/* A path that is open. Times in ticks. */
typedef struct sv__open_path {
    double empty, waited; /* of a full packet; as acknowledged */
    uint8_t path;         /* which of its pair's */
    bool heard;           /* an acknowledgement has come since it was opened */
} sv__open_path;

/* The order is that of opening; path 0 is first. */
typedef struct sv__metapath {
    sv__open_path *at;
    uint32_t count;
} sv__metapath;

/* Eq. 3.3. */
static inline double sv__open_latency(const sv__open_path *o)
{
    return o->empty + o->waited;
}

/* Eq. 3.4. Time: O(paths), as the others. */
double sv__metapath_latency(const sv__metapath *m);
/* Eq. 3.5, for thresholds in ticks. */
sv__zone sv__metapath_zone(double latency, double low, double high);
/* Eq. 3.6: the open path at a number 0 … 1 (1 excluded) of the distribution. */
uint32_t sv__metapath_pick(const sv__metapath *m, double at);
/* The place of a path, or UINT32_MAX. */
uint32_t sv__metapath_find(const sv__metapath *m, uint32_t path);
/* An acknowledgement; share: of the newest. False: the path is not open. */
bool sv__metapath_hear(sv__metapath *m, uint32_t path, double waited, double share);
/* Opens a path, which is not; there must be room. */
void sv__metapath_open(sv__metapath *m, uint32_t path, double empty, double waited);
/* Closes what was opened last, and tells which; never path 0: count is more than 1. */
uint32_t sv__metapath_close(sv__metapath *m);

#endif
