/*
 * adapt.h: what policies are made of: the registry's entries, ways that packets can take, and what
 * a policy knows of the run it is in.
 *
 * A policy is one file and one line of registry.c. Its make function gets an sv_adapt whose common
 * part is filled in (fabric, tables, model, generator, settings), puts its hooks into a->policy and
 * its own state into a->state.
 */
#ifndef SV_ADAPT_ADAPT_H
#define SV_ADAPT_ADAPT_H

#include <selvage/adapt.h>

#include "base/arena.h"
#include "base/rng.h"

/* ---- settings ---- */

/* The values of all keys there are, of which a policy uses those that it lists (point numbers are
 * those of docs/decisions/0028-policies.md). */
typedef struct sv__settings {
    unsigned paths, reach, stretch; /* 1, 2 */
    double smooth, high, low;       /* 3, 5 */
    bool ack_packets;               /* 8 */
    double watchdog;                /* 9 */
    uint64_t contention, look;      /* 10: ticks */
    unsigned flows;                 /* 10 */
    double share;                   /* 10 */
    bool by_router;                 /* 11 */
    double similar;                 /* 12 */
    unsigned trial;                 /* 13 */
    unsigned trend;                 /* 15: 0 is off */
    double ahead;                   /* 15 */
    bool by_packet, all_switches;   /* by=packet; via=all */
    double bias;                    /* UGAL: bytes × channels, or bytes */
    unsigned adaptive;              /* lanes */
} sv__settings;

/* ---- ways (ways.c) ---- */

typedef struct sv__path {
    sv_sim_way way;
    uint16_t channels; /* of all of it, those at the terminals too */
    uint16_t shared;   /* channels between switches that path 0 has, too */
} sv__path;

typedef struct sv__ways sv__ways;

/* Path 0 of a pair of terminals and then the candidates of point 2, at most most in all. BAD_INPUT:
 * tables do not join them. Time: O(switches near both ends, squared, × length). */
sv_status sv__ways_find(sv_adapt *a, uint32_t from, uint32_t destination, unsigned most,
                        sv__path *paths, uint32_t *count);
/* The channels of a way from a terminal, at most most; *count is how many there are. */
sv_status sv__ways_channels(sv_adapt *a, uint32_t from, uint32_t destination, const sv_sim_way *way,
                            sv_channel *channels, uint32_t most, uint32_t *count);
/* Ticks that a packet of so many bytes takes over so many channels when nothing else is there: from
 * injection until it has arrived, all links as fast as that of the terminal. */
uint64_t sv__ways_empty(const sv_adapt *a, uint32_t from, unsigned channels, uint32_t bytes);

/* ---- a policy in a run ---- */

struct sv_adapt {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *f;
    const sv_routes *r;
    sv_sim_model model;
    sv__settings set;
    sv_rng rng; /* drawn from in the order of choices: same seed, same run */
    sv__ways *ways;
    sv_sim_policy policy;
    sv_adapt_report report;
    sv_adapt_router *routers; /* [switches], or NULL */
    const struct sv__kind *kind;
    void *state;
};

/* A line of the registry. */
typedef struct sv__kind {
    sv_adapt_about about;
    unsigned segments;              /* at most */
    bool routers_send;              /* switches send packets, too (if set.by_router) */
    sv_status (*make)(sv_adapt *a); /* fills in a->policy's hooks and a->state */
    void (*release)(sv_adapt *a);   /* or NULL: all is in the arena */
    sv_status (*load)(sv_adapt *a, const sv_source *source);   /* a store; or NULL */
    sv_status (*save)(const sv_adapt *a, const sv_sink *sink); /* or NULL */
} sv__kind;

extern const sv__kind sv__deterministic, sv__random, sv__cyclic, sv__valiant, sv__ugal_l,
    sv__ugal_g, sv__drb, sv__fr_drb, sv__pr_drb, sv__pr_fr_drb;

#endif
