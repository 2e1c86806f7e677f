/*
 * traffic.h: the inside of traffic: patterns, and plays of them.
 *
 * A pattern is a table of functions that have no state: which rank the k-th message of a rank goes
 * to, or, where ranks wait, what their g-th message is and how many must have arrived before it. A
 * play is a pattern with its keys, for ranks of its own (all terminals, or those of a job), and
 * holds what little state there is: how many messages each rank has sent and received, when, and
 * its random generator. To add a pattern: one sv__pattern in a file pattern_*.c, one line in
 * traffic_keys.c.
 */
#ifndef SV_SIMULATE_TRAFFIC_H
#define SV_SIMULATE_TRAFFIC_H

#include <selvage/traffic.h>

#include "base/pool.h"
#include "base/rng.h"
#include "text/spec.h"

typedef struct sv__play sv__play;

/* A message of a pattern that waits. Kinds (below SV__KINDS) tell a receiver what it has got. */
typedef struct sv__send {
    uint32_t to, bytes;
    unsigned kind;
} sv__send;

enum { SV__KINDS = 32, SV__KIND_BITS = 8 };

/* What ranks do. */
typedef struct sv__moves {
    /* How many messages a rank sends in all; SV_NEVER: no end. */
    uint64_t (*sends)(const sv__play *play, uint32_t rank);

    /* Of patterns that do not wait: who gets a rank's message k, counted from 0; the rank itself:
     * nobody, it is left out (play->skips). May draw from play->rng[rank] if draws is set; asked
     * once for each k, in order. */
    uint32_t (*to)(const sv__play *play, uint32_t rank, uint64_t k);
    /* The load of a rank; NULL: sv__rank_load. */
    double (*load)(const sv__play *play, uint32_t rank);
    /* Whether a rank has no bursts though others have; NULL: none. */
    bool (*steady)(const sv__play *play, uint32_t rank);
    /* Whether a rank's receptions count; NULL: they do. */
    bool (*counts)(const sv__play *play, uint32_t rank);
    bool draws;
    bool by_time; /* to depends on play->time[rank]; the rank itself: not at that time */

    /*
     * Of patterns that wait: message g of a rank, how many receptions must be before it, and the
     * kind of reception n (from 0), in the order in which the rank takes note of them. A message
     * that comes earlier than that waits for its turn; of one kind at most 3 may.
     */
    sv__send (*send)(const sv__play *play, uint32_t rank, uint64_t g);
    uint64_t (*needs)(const sv__play *play, uint32_t rank, uint64_t g);
    unsigned (*expects)(const sv__play *play, uint32_t rank, uint64_t n);
} sv__moves;

typedef struct sv__pattern {
    sv_sim_pattern info;
    /* Takes its keys from the spec and sets play->moves, and what these need. */
    sv_status (*open)(sv__play *play, sv__spec *spec);
} sv__pattern;

/* A pattern of several that a play has in turn. */
typedef struct sv__part {
    const sv__moves *moves;
    uint32_t param[3];
} sv__part;

typedef enum sv__traffic_kind { SV__PACED, SV__FAST, SV__WAITING } sv__traffic_kind;

/* How far a rank of a pattern that waits is. */
typedef struct sv__wait {
    uint64_t sent, received;
    uint64_t early; /* two bits a kind: how many came that are not yet counted as received */
} sv__wait;

struct sv__play {
    sv_pool *store; /* for all that the play holds */
    const sv__pattern *pattern;
    const sv__moves *moves;
    uint32_t number; /* of the job */
    sv__traffic_kind kind;

    uint32_t size;         /* ranks: at least two */
    uint32_t *terminal;    /* [size] */
    uint32_t *destination; /* [size]: of the tables */
    uint32_t *byte_ticks;  /* [size]: of each one's link */

    uint64_t seed;     /* of the play */
    uint32_t bytes;    /* of a message */
    double wire_bytes; /* with headers */
    uint64_t rounds;   /* where the pattern has rounds; 0: no end */
    uint64_t limit;    /* messages a rank; SV_NEVER: none */
    bool skips;        /* some ranks leave out some messages */

    /* ---- of those that do not wait ---- */
    double load; /* 0: as fast as possible */
    double rate; /* payload, bytes a tick, in place of a load; 0: none */
    bool regular;
    uint64_t on, off; /* ticks of a burst and between bursts; off 0: all is one */
    double rest;      /* load between bursts */
    bool rest_own;    /* which has the pattern, too; else it is uniform */
    uint64_t end;     /* nothing is ready then or later (with an offset: earlier by that) */
    uint64_t *offset; /* [size]: where in its cycle each rank begins; NULL: all at 0 */
    sv_rng *rng;      /* [size] or NULL */
    uint64_t *time;   /* [size]: of the last message; SV_NEVER: none yet. NULL if fast */
    uint64_t *sent;   /* [size] */

    /* ---- of those that wait ---- */
    sv__wait *waits; /* [size] */
    /*
     * When receptions were counted: reception n (from 1) of a rank at [rank × depth + n % depth].
     * Depth 0: all ranks are a ring in which message n of each waits for message n - 1 of the
     * one before; then a time belongs to what goes round, [(rank - n) mod size], because each
     * of the N things that go round is at one rank at a time.
     */
    uint64_t *times;
    uint32_t depth;

    /* ---- of patterns ---- */
    uint32_t param[3];   /* root, distance, sides … */
    uint32_t count;      /* of at */
    const uint32_t *at;  /* hot spots, moves … */
    const uint8_t *role; /* [size] */
    const sv__part *parts;
    uint32_t num_parts;
    bool shuffled; /* parts in random order */
    double noise;  /* load of ranks that are in no flow */
};

/* ---- traffic_keys.c ---- */

const sv__pattern *sv__pattern_find(sv_span name);
/* That of a spec, which must have one. */
sv_status sv__pattern_of(const sv__spec *spec, const sv__pattern **pattern);
/* "bytes, load, …" of a pattern: its own, then the common ones. */
void sv__pattern_keys(const sv__pattern *pattern, char *text, size_t room);

/* A number with up to nine decimals: whole part, and billionths. */
bool sv__scan_decimal(sv_scan *scan, uint64_t max, uint64_t *whole, uint64_t *billionths);
/* "10us": a decimal and ns (or nothing), us, ms or s, as ticks: at least one, up to 10^15 ns. */
sv_status sv__key_time(sv__spec *spec, const char *key, uint64_t absent, uint64_t *ticks);
/* "400Mbps": a decimal and kbps, Mbps or Gbps, as bytes a tick: more than 0. *rate is 0 when the
 * key is not given. */
sv_status sv__key_rate(sv__spec *spec, const char *key, double *rate);
/* A load: more than 0, at most 1. */
sv_status sv__key_load(sv__spec *spec, const char *key, double absent, double *load);
/* One of some words, which end with NULL; the first when the key is not given. */
sv_status sv__key_choice(sv__spec *spec, const char *key, const char *const *words,
                         unsigned *choice);
/* "4x4x2": at most room numbers; *count is 0 when the key is not given. */
sv_status sv__key_dims(sv__spec *spec, const char *key, uint32_t *dims, size_t room, size_t *count);
/* play->rounds from key "rounds". */
sv_status sv__key_rounds(sv__play *play, sv__spec *spec, uint64_t absent);

/* ---- traffic_play.c ---- */

/* Opens a play from a spec: store, size, terminal, destination, byte_ticks and seed are set. */
sv_status sv__play_open(sv_ctx *ctx, sv__play *play, const char *spec,
                        const sv_sim_traffic_request *request);
/* What a rank sends in all; SV_NEVER: no end. */
uint64_t sv__play_sends(const sv__play *play, uint32_t rank);
bool sv__play_next(sv__play *play, uint32_t rank, sv_sim_message *message);
void sv__play_arrived(sv__play *play, uint32_t rank, unsigned kind, uint64_t time);
/* ---- traffic_pace.c ---- */

/* When the next message of a rank is ready, which is play->time[rank] then. *rest: it is one
 * between bursts. False: there is none. */
bool sv__pace_next(sv__play *play, uint32_t rank, bool *rest);
/* What share of its link a rank's messages take, where all have the play's load or rate. */
double sv__rank_load(const sv__play *play, uint32_t rank);
/* Which burst a time is in, or behind; counted from 0. */
uint64_t sv__burst_at(const sv__play *play, uint32_t rank, uint64_t time);

/* ---- traffic_file.c ---- */

/* The messages of a file, by terminal, then time, then line. */
typedef struct sv__traffic_list {
    sv_sim_message *messages;
    size_t count;
    size_t *first; /* [terminals + 1] */
} sv__traffic_list;

/* order: the terminals (counted from 0) by rank. */
sv_status sv__list_read(sv_ctx *ctx, sv_pool *store, const sv_fabric *fabric,
                        const sv_routes *routes, const uint32_t *order, uint32_t num_order,
                        const sv_source *source, sv__traffic_list *list);

/* ---- pattern_*.c: what several patterns use ---- */

/* The partner of a rank in a random perfect matching that a round has, or SV_NONE: left over. */
uint32_t sv__matched(const sv__play *play, uint64_t round, uint32_t rank);
/* A rank other than this one, each as likely. */
uint32_t sv__other_rank(const sv__play *play, uint32_t rank);

/* count × times, or SV_NEVER when times is 0. */
static inline uint64_t sv__in_rounds(const sv__play *play, uint64_t a_round)
{
    return play->rounds == 0 ? (a_round == 0 ? 0 : SV_NEVER) : a_round * play->rounds;
}

#endif
