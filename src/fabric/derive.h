/*
 * derive.h: small facts about a fabric that several rooms need. All results come from the caller's
 * arena; NULL means no memory.
 */
#ifndef SV_FABRIC_DERIVE_H
#define SV_FABRIC_DERIVE_H

#include <selvage/fabric.h>

#include "base/arena.h"

/* For each adapter whether it is there: it has a live port, or never had a cable. */
bool *sv_live_adapters(sv_arena *arena, const sv_fabric *fabric);

/* Whether a switch has a live terminal that is a host's (or router's): none inside the switch. */
bool sv_has_hosts(const sv_fabric *fabric, sv_node s);

/*
 * Which node it is, for people who have to tell it from others: "switch 'leaf3' 0x… LID 7", or for
 * a terminal "'host1 mlx5_0/1' 0x… LID 9 on 'leaf3' port 4". What is not known is left out.
 */
void sv_node_words(const sv_fabric *fabric, sv_node node, char *text, size_t room);

/*
 * For each switch its level: its distance from the nearest leaf. Leaves are the switches with
 * hosts, and those without that look like one: more than half of their neighbours are neighbours of
 * one and the same switch with hosts (a leaf nobody has plugged hosts into yet). In a tree these
 * are the levels from below. SV_NONE where there is no way to a leaf. *highest is the largest of
 * them.
 */
uint32_t *sv_switch_levels(sv_arena *arena, const sv_fabric *fabric, uint32_t *highest);

/* The same where the caller knows leaves: level is 0 for those before. false: no memory. */
bool sv_levels_above(sv_arena *arena, const sv_fabric *fabric, uint32_t *level, uint32_t *highest);

/*
 * Marks in seen (one bit a node) all that can be reached from a node over live hops, and returns
 * how many terminals are among them. With switches_only, terminals are not entered. stack holds a
 * number for each node.
 */
uint32_t sv_flood(const sv_fabric *fabric, sv_node from, bool switches_only, uint64_t *seen,
                  uint32_t *stack);

/* The VLs of a cable that InfiniBand's LinkWidthActive stands for; 0 if nothing. */
static inline uint8_t sv_width_of_code(unsigned code)
{
    switch (code) {
    case 1:
        return 1;
    case 2:
        return 4;
    case 4:
        return 8;
    case 8:
        return 12;
    case 16:
        return 2;
    default:
        return 0;
    }
}

#endif
