/*
 * dragonfly.h: the groups of a dragonfly, found from its cables alone.
 *
 * A fully connected dragonfly has a cable between any two switches of a group and between any two
 * groups. Of the groupings that are looked at, the one counts that needs the fewest further cables
 * to be that: so a dragonfly from which some cables are missing is still recognised, and what it
 * lacks can be named. Where groups have another pattern inside, that would be too many; there the
 * best counts that likeness tells and that has a cable between any two groups.
 */
#ifndef SV_STRUCTURE_DRAGONFLY_H
#define SV_STRUCTURE_DRAGONFLY_H

#include "cdg/core.h"

/* What a grouping lacks to be a fully connected dragonfly: few cables, even groups, few groups. */
typedef struct sv_dragonfly_lack {
    uint64_t cables;              /* for unjoined switches of a group, and unjoined groups */
    uint64_t between;             /* those of unjoined groups */
    uint64_t inside_pairs, pairs; /* of switches of a group, of groups of a part */
    int64_t modularity;           /* Newman and Girvan's, without its denominator (cables² × 4) */
    uint32_t smallest;
    uint32_t uneven; /* switches that the largest group has more than the smallest */
    uint32_t groups;
} sv_dragonfly_lack;

typedef struct sv_dragonfly {
    const sv_core *core;
    uint32_t num_groups;
    uint32_t *group;      /* [switches]: by their first switch; SV_NONE: it is dead */
    uint32_t *first;      /* [groups + 1]: members[first[g]] … first[g + 1] - 1 */
    uint32_t *members;    /* switches, by number */
    uint32_t *part;       /* [groups]: which part of a fabric in several parts it is in */
    uint32_t *near_first; /* [switches + 1]: the neighbours of a switch, each once, by number */
    uint32_t *near;
    sv_dragonfly_lack lack;
    bool found; /* false: this is as good as it gets, and no dragonfly */

    uint32_t smallest, largest; /* switches in a group */
    uint32_t local_cables, global_cables;
    uint32_t fewest_between, max_between; /* cables that join two groups of one part */
    uint64_t unjoined_switches, unjoined_groups;
    /* Examples: two switches of a group without a cable, two groups without, a group in pieces. */
    uint32_t apart[2], strangers[2], split;
} sv_dragonfly;

/*
 * The best grouping of the live switches, from the arena.
 *
 * size: 0 to look for groups, or how many switches of consecutive numbers make one. core: of the
 * fabric. Time: O(cables × ports) where neighbourhoods tell, O(cables × ports²) else.
 */
sv_status sv_dragonfly_find(sv_dragonfly *dragonfly, sv_arena *arena, const sv_core *core,
                            const sv_fabric *fabric, uint32_t size);

/* ---- between the files of it ---- */

/* A grouping that is tried, and scratch to judge it. */
typedef struct sv__grouping {
    uint32_t *group;   /* [switches] */
    uint32_t *size;    /* [switches]: of groups */
    uint32_t *in_part; /* [switches]: scratch: groups of a part */
    uint64_t *volume;  /* [switches]: scratch: ends of cables in a group */
    uint64_t *joined;
    uint64_t room; /* bits of joined */
    uint32_t num_groups;
} sv__grouping;

sv_status sv__grouping_init(sv__grouping *g, sv_arena *arena, const sv_dragonfly *d);

/* Numbers groups by their first switch and counts them. */
void sv__grouping_number(sv__grouping *g, uint32_t *scratch, uint32_t switches);

/* What it lacks; cables UINT64_MAX if that is certainly more than most. */
sv_dragonfly_lack sv__grouping_judge(const sv__grouping *g, const sv_dragonfly *d,
                                     const uint32_t *part, uint64_t max);

static inline bool sv__lacks_less(sv_dragonfly_lack a, sv_dragonfly_lack b)
{
    return a.cables != b.cables   ? a.cables < b.cables
           : a.uneven != b.uneven ? a.uneven < b.uneven
                                  : a.groups < b.groups;
}

/*
 * Complete graphs of a size, and of smaller ones what is left. live: [switches]; steps: that may be
 * taken, and are taken off.
 */
void sv__cliques_group(const sv_dragonfly *d, uint32_t size, const bool *live, uint32_t *group,
                       uint64_t *steps);

/* Fills in the numbers and examples of the grouping that was taken. */
sv_status sv__dragonfly_describe(sv_dragonfly *d, sv_arena *arena);

#endif
