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

#include <selvage/experimental/adapt.h>

#include "base/arena.h"
#include "base/rng.h"
#include "base/text.h"

/* ---- settings ---- */

/* The values of all keys there are, of which a policy uses those that it lists (point numbers are
 * those of docs/decisions/0028-policies.md). */
typedef struct sv__settings {
    unsigned paths, vias, reach, stretch; /* 1, 2 */
    double smooth, high, low;             /* 3, 5 */
    bool ack_packets;                     /* 8 */
    double watchdog;                      /* 9 */
    uint64_t contention, look;            /* 10: ticks */
    unsigned flows;                       /* 10 */
    double share;                         /* 10 */
    bool by_router;                       /* 11 */
    double similar;                       /* 12 */
    unsigned trial;                       /* 13 */
    unsigned trend;                       /* 15: 0 is off */
    double ahead;                         /* 15 */
    bool unasked;                         /* 17 */
    bool by_packet;
    unsigned via;      /* an sv__via */
    double bias;       /* UGAL: bytes × channels, or bytes */
    unsigned adaptive; /* VLs */
} sv__settings;

/* Switches that detours of Valiant and UGAL go by. */
typedef enum sv__via { SV__VIA_TERMINALS, SV__VIA_FAR, SV__VIA_ALL } sv__via;

typedef enum sv__key_id {
    SV__KEY_PATHS,
    SV__KEY_VIAS,
    SV__KEY_REACH,
    SV__KEY_STRETCH,
    SV__KEY_SMOOTH,
    SV__KEY_HIGH,
    SV__KEY_LOW,
    SV__KEY_ACK,
    SV__KEY_WATCHDOG,
    SV__KEY_CONTENTION,
    SV__KEY_LOOK,
    SV__KEY_FLOWS,
    SV__KEY_SHARE,
    SV__KEY_NOTIFY,
    SV__KEY_SIMILAR,
    SV__KEY_TRIAL,
    SV__KEY_APPLY,
    SV__KEY_TREND,
    SV__KEY_AHEAD,
    SV__KEY_BY,
    SV__KEY_BY_PACKET, /* the same with another default, for policies that are published so */
    SV__KEY_VIA,
    SV__KEY_VIA_FAR,
    SV__KEY_BIAS,
    SV__KEY_BIAS_SUM,
    SV__KEY_ADAPTIVE,
    SV__KEYS
} sv__key_id;

typedef struct sv__key {
    sv_adapt_key about; /* otherwise is read as a value that is given */
    uint8_t kind;       /* keys.c */
    size_t at;          /* in sv__settings */
    double min, max;
    const char *words[4];
} sv__key;

extern const sv__key sv__keys[SV__KEYS];
#define SV__KEY(name) &sv__keys[SV__KEY_##name].about

/* Whose keys these are: all there are get their defaults first, then the policy's own. text: what
 * is behind the colon, or empty. */
sv_status sv__keys_read(sv_ctx *ctx, const sv_adapt_about *about, const char *spec, sv_span text,
                        sv__settings *set);

/* ---- ways (ways.c) ---- */

typedef struct sv__adapt_path {
    sv_sim_way way;
    uint16_t channels; /* of all of it, those at the terminals too */
    uint16_t shared;   /* channels between switches that path 0 has, too */
} sv__adapt_path;

typedef struct sv__ways sv__ways;

sv_status sv__ways_new(sv_adapt *a);
void sv__ways_free(sv_adapt *a);
/* How many bytes of distances may be kept, from the beginning on (64 MiB if nobody says). */
void sv__ways_keep(sv_adapt *a, size_t max);

/* Path 0 of a pair of terminals and then the candidates of point 2, at most most in all, with marks
 * 0, 1, 2 … in that order. BAD_INPUT: tables do not join them. Time: O(switches near both ends,
 * squared), and O(length) for those that are as short as the last one taken. */
sv_status sv__ways_find(sv_adapt *a, uint32_t from, uint32_t destination, unsigned max,
                        sv__adapt_path *paths, uint32_t *count);
/* The channels of a way from a terminal, at most most; *count is how many there are. BAD_INPUT:
 * tables do not carry packets so. Time: O(length). */
sv_status sv__ways_channels(sv_adapt *a, uint32_t from, uint32_t destination, const sv_sim_way *way,
                            sv_channel *channels, uint32_t max, uint32_t *count);
/* Ticks that a byte takes on a channel's link, in this model. Time: O(1). */
uint64_t sv__ways_byte(const sv_adapt *a, sv_channel c);
/* Ticks that a packet of so many bytes on the wire takes over so many channels when nothing else is
 * there: from injection until it has arrived, all links as fast as that of the terminal, without
 * pauses of adapters. Time: O(1). */
uint64_t sv__ways_empty(const sv_adapt *a, uint32_t from, unsigned channels, uint32_t bytes);
/* Ticks that so many bytes more take behind such a packet, in packets of the same message. Time:
 * O(1). */
uint64_t sv__ways_stream(const sv_adapt *a, uint32_t from, uint64_t bytes);
/* The same as sv__ways_empty for channels one by one, whatever the speeds of their links. Time:
 * O(count). */
uint64_t sv__ways_empty_over(const sv_adapt *a, const sv_channel *channels, uint32_t count,
                             uint32_t bytes);
/* The channel that a switch sends packets for a destination by, or SV_NO_CHANNEL. Time: O(1). */
sv_channel sv__ways_next(const sv_adapt *a, uint32_t s, uint32_t destination);
/* Channels from a switch to a destination by the tables (the last one to a terminal among them), or
 * SV_NONE. Time: O(length). */
uint32_t sv__ways_length(const sv_adapt *a, uint32_t s, uint32_t destination);

/* ---- VLs (VLs.c) ---- */

/* INFEASIBLE: too many VLs, or it could deadlock. Fills in a->policy.segments and adaptive. */
sv_status sv__vls_find(sv_adapt *a, const sv_adapt_request *request, unsigned *vls);

/* ---- a policy in a run ---- */

struct sv_adapt {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *f;
    const sv_routes *r;
    sv_sim_model model;
    sv__settings set;
    sv_rng rng; /* drawn from in the order of choices: same seed, same run */
    uint64_t seed;
    sv__ways *ways;
    sv_sim_policy policy;
    sv_adapt_report report;
    sv_adapt_router *routers; /* [switches], or NULL */
    const struct sv__policy_kind *kind;
    void *state;
};

/* A line of the registry. */
typedef struct sv__policy_kind {
    sv_adapt_about about;
    unsigned segments;              /* at most */
    bool routers_send;              /* switches send packets, too (if set.by_router) */
    sv_status (*make)(sv_adapt *a); /* fills in a->policy's hooks and a->state */
    void (*release)(sv_adapt *a);   /* or NULL: all is in the arena; state may be NULL */
    sv_status (*load)(sv_adapt *a, const sv_source *source);   /* a store, if it keeps */
    sv_status (*save)(const sv_adapt *a, const sv_sink *sink); /* likewise */
} sv__policy_kind;

extern const sv__policy_kind sv__policy_deterministic, sv__policy_random, sv__policy_cyclic,
    sv__policy_valiant, sv__policy_ugal_l, sv__policy_ugal_g, sv__policy_drb, sv__policy_fr_drb,
    sv__policy_pr_drb, sv__policy_pr_fr_drb;

#endif
