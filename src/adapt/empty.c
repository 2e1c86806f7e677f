/*
 * empty.c: how long a packet takes over a way when nothing else is there.
 *
 * Rules 4, 5, 11, 14, 18 and 19 of docs/simulator.md with nobody to wait for: from one link's start
 * to that of the next it is the cable, as many blocks as it takes to run through, the switch and
 * the first block's crossing; at the end, draining. tests/unit/test_adapt_ways.c holds it against
 * the simulator, to the tick.
 *
 * Cost: O(1), or O(channels) where links differ.
 */
#include "adapt/adapt.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t sv__ways_byte(const sv_adapt *a, sv_channel c)
{
    const sv_link *link = sv_link_of(a->f, c);
    unsigned width = link->width > 0 ? link->width : 4;
    return a->model.byte_ticks > 0 ? larger(1, a->model.byte_ticks * 4 / width)
                                   : sv_sim_byte_ticks(link);
}

/* Of a link's start until the packet can go on at a rate so that it runs through (rule 11). */
static uint64_t ready_after(const sv_adapt *a, uint32_t bytes, uint64_t byte, uint64_t cross)
{
    uint64_t blocks = (bytes + 63u) / 64u, first = bytes < 64 ? bytes : 64, max = first * byte;
    if (byte > cross && blocks > 1) {
        /*~empty_last*/ max = larger(max, bytes * byte - 64 * (blocks - 1) * cross);
        /*~empty_before*/ max = larger(max, 64 * ((blocks - 1) * byte - (blocks - 2) * cross));
    }
    return a->model.cable + max;
}

/* From the start of one link to that of the next, over a switch. */
static uint64_t hop_ticks(const sv_adapt *a, uint32_t bytes, uint64_t byte, uint64_t next_byte)
{
    uint64_t cross = larger(1, 100 * /*~empty_cross*/ next_byte / a->model.speedup);
    uint64_t first = bytes < 64 ? bytes : 64;
    return ready_after(a, bytes, byte, cross) + a->model.switch_delay /*~empty_first*/ +
           first * cross;
}

uint64_t sv__ways_empty(const sv_adapt *a, uint32_t from, unsigned channels, uint32_t bytes)
{
    sv_node node = {a->f->num_switches + from};
    if (channels == 0 || sv_degree(a->f, node) == 0)
        return 0;
    uint64_t byte = sv__ways_byte(a, a->f->hops[a->f->first[node.i]].channel);
    return (channels - 1) * hop_ticks(a, bytes, byte, byte) +
           ready_after(a, bytes, byte, a->model.drain) + bytes * a->model.drain;
}

uint64_t sv__ways_stream(const sv_adapt *a, uint32_t from, uint64_t bytes)
{
    sv_node node = {a->f->num_switches + from};
    if (sv_degree(a->f, node) == 0)
        return 0;
    uint64_t byte = sv__ways_byte(a, a->f->hops[a->f->first[node.i]].channel);
    return bytes * /*~adapter_fast*/ larger(byte, larger(a->model.inject, a->model.drain));
}

uint64_t sv__ways_empty_over(const sv_adapt *a, const sv_channel *channels, uint32_t count,
                             uint32_t bytes)
{
    uint64_t ticks = 0;
    for (uint32_t i = 1; i < count; i++)
        ticks +=
            hop_ticks(a, bytes, sv__ways_byte(a, channels[i - 1]), sv__ways_byte(a, channels[i]));
    return count == 0
               ? 0
               : ticks + bytes * a->model.drain +
                     ready_after(a, bytes, sv__ways_byte(a, channels[count - 1]), a->model.drain);
}
