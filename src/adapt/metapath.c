/*
 * metapath.c: arithmetic of metapaths (thesis Eqs. 3.3 to 3.6).
 *
 * A path's latency is what a full packet takes on it when it is empty, and what the packet that was
 * acknowledged last had to wait. Latencies are so above 0, and their inverses (what a path can
 * carry) finite. All packets count as full ones: what they wait for does not depend on their own
 * length, and thresholds mean the same for all of them.
 *
 * Cost: O(open paths) a call.
 */
#include "adapt/metapath.h"

double sv__metapath_latency(const sv__metapath *m)
{
    double capacity = 0;
    for (uint32_t i = 0; i < m->count; i++)
        /*~meta_best*/ capacity += 1 / sv__open_latency(&m->at[i]);
    return 1 / capacity;
}

sv__zone sv__metapath_zone(double latency, double low, double high)
{
    if (latency > high)
        return SV__HIGH;
    return /*~zones_one*/ latency < low ? SV__LOW : SV__MEDIUM;
}

uint32_t sv__metapath_pick(const sv__metapath *m, double at)
{
    double capacity = 0, sum = 0;
    for (uint32_t i = 0; i < m->count; i++)
        capacity += 1 / sv__open_latency(&m->at[i]);
    for (uint32_t i = 0; i + 1 < m->count; i++) {
        sum += 1 / sv__open_latency(&m->at[/*~draw_slow*/ i]);
        if (/*~draw_even*/ at * capacity < sum)
            return i;
    }
    return m->count - 1;
}

uint32_t sv__metapath_find(const sv__metapath *m, uint32_t path)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->at[i].path == path)
            return i;
    return UINT32_MAX;
}

bool sv__metapath_hear(sv__metapath *m, uint32_t path, double waited, double share)
{
    uint32_t i = sv__metapath_find(m, path);
    if (i == UINT32_MAX)
        return false;
    sv__open_path *o = &m->at[i];
    o->waited = /*~smooth_first*/ o->heard
                    ? /*~smooth_share*/ share * waited + (1 - share) * o->waited
                    : waited;
    o->heard = true;
    return true;
}

void sv__metapath_open(sv__metapath *m, uint32_t path, double empty, double waited)
{
    m->at[m->count++] =
        (sv__open_path){.empty = empty, .waited = /*~opened_heard*/ waited, .path = (uint8_t)path};
}

uint32_t sv__metapath_close(sv__metapath *m)
{
    return m->at[--m->count].path;
}
