/*
 * dmodk.h: what the files of engine dmodk share: the digits of destinations and the slots of
 * switches, and what a home means to all others.
 */
#ifndef SV_ROUTING_DMODK_H
#define SV_ROUTING_DMODK_H

#include "routing/foot.h"
#include "structure/tree.h"

enum { SV__NO_SLOT = 255 };

/*
 * The switches of a level. A destination's index, divided by what the levels below have taken, has
 * a digit here: it picks one of the slots, which stand for the cables up.
 */
typedef struct sv__dmodk_level {
    uint32_t parents, cables; /* of a switch, usually; cables: to each of them */
    uint32_t slots;           /* parents * cables; 0: nothing is above */
    uint64_t divisor;         /* of the index */
    bool mixed;               /* most have but some of the parents that they share */
    uint8_t **up;             /* [slots]: a row with the ports of this level, else 0 */
    uint32_t *lame;           /* switches that have no cable for a slot */
    uint32_t *lame_first;     /* [slots + 1] */
} sv__dmodk_level;

typedef struct sv__dmodk {
    sv__routing_job *job;
    sv_core core;
    sv_fat_tree tree;
    sv__foot foot;
    uint32_t levels, base; /* base: the level most hosts are on */
    sv__dmodk_level *level;
    uint32_t *level_of; /* [switches]: 0 where the tree says none */
    /* The cables up and down of each switch, as entries of its own; parents in order of slots. */
    uint32_t *ups, *up_first, *downs, *down_first;
    uint8_t **slot_up;            /* [switches][slots]: which of its ups, or SV__NO_SLOT */
    uint8_t *up_slot;             /* [ups]: and the other way round */
    uint32_t *roots, *root_first; /* by component of the foot */
    uint32_t *cellar, num_cellar; /* switches below the base level */
    uint32_t *up_at;              /* [entries]: where ups has it */
    uint8_t *to_foot;             /* [switches]: port towards the summit, or SV_NO_PORT */
    uint64_t *index;              /* [terminals] */
    uint32_t *ordinal;            /* [switches]: within their level */
    uint32_t *sibling;            /* [switches]: among those that share parents */
    struct sv__dmodk_home *homes; /* one for each thread */
    unsigned threads;
} sv__dmodk;

/* What is where, seen from a home. */
enum { SV__FAR, SV__ABOVE, SV__NO_WAY, SV__SOME_WAYS };

/* A switch, and the next of the same slot. */
typedef struct sv__dmodk_item {
    uint32_t s, next;
} sv__dmodk_item;

typedef struct sv__dmodk_home {
    const sv__dmodk *k;
    uint32_t home, part;
    bool few; /* few switches have a way: those in reached; the rest goes to the foot */
    uint32_t epoch, *seen; /* [switches]: kind, count and hops count only if seen is epoch */
    uint8_t *kind;
    uint32_t *count; /* cables up to where there is no way (few: to where there is one) */
    uint32_t *hops;  /* down to the home */
    uint32_t *only;  /* an entry of a neighbour: above, one down; few: one of the parent, down */
    uint32_t *near;  /* epoch in which it was found beside one above the home */
    uint32_t *above, num_above;     /* who reaches the home going down; itself first */
    uint32_t *reached, num_reached; /* few: who else has a way */
    uint32_t *stuck, num_stuck;     /* not few: who has none; those of lower levels first */
    uint32_t num_stuck_low;
    uint32_t *late, num_late;   /* of above: what differs from row to row */
    bool over_foot;             /* the summit has none either */
    uint32_t *bound, num_bound; /* narrow ones of the foot that have to keep to its tree */
    uint8_t *bound_port;
    bool several; /* some above have several children to send down to */
    /* Switches whose cable for a slot leads nowhere, by level and slot. */
    sv__dmodk_item *items;
    uint32_t num_items, **first_item;
    uint8_t *blank;     /* SV_NO_PORT in other components, else 0 */
    uint8_t *row;       /* what all destinations with the same higher digits share */
    uint64_t fallbacks; /* destinations that some hosts reach over the foot only */
    uint64_t row_of;    /* the digits above the base of row */
} sv__dmodk_home;

/* Levels, slots and indices. Needs core, tree and foot. */
sv_status sv__dmodk_slots(sv__dmodk *k);
sv_status sv__dmodk_indices(sv__dmodk *k);

sv_status sv__dmodk_home_init(sv__dmodk_home *h, const sv__dmodk *k, sv_arena *arena);

/* Finds out who has a way to a home. NO_MEMORY never: the rooms are large enough. */
void sv__dmodk_home_look(sv__dmodk_home *h, uint32_t home);

static inline unsigned sv__dmodk_kind(const sv__dmodk_home *h, uint32_t s)
{
    return h->seen[s] == h->epoch ? h->kind[s] : SV__FAR;
}

/* Fills a row but for the home's own entry. */
void sv__dmodk_row(sv__dmodk_home *h, uint64_t index, uint8_t *row);

#endif
