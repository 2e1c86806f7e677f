/*
 * five.h: the insides of the two machines of the five phases, for themselves and for tests that
 * begin with unlikely numbers.
 *
 * Mail is not queued as it is: each machine notes which kinds it owes to whom, and makes them up
 * when they are taken. So no call but those that make room can fail, what is owed twice is sent
 * once, and it is true when it is sent.
 */
#ifndef SV_UPDATE_FIVE_H
#define SV_UPDATE_FIVE_H

#include <selvage/experimental/update.h>

#include "base/array.h"

/* What the manager knows of one application in the present epoch. */
typedef enum sv__five_state {
    SV__ASKED, /* UNPATH or REPATH was sent, nothing has come back */
    SV__HEARD,
    SV__DONE, /* or not waited for */
    SV__LEFT  /* not subscribed: it only gets its CONFIRM */
} sv__five_state;

typedef struct sv__five_member {
    uint32_t number;
    uint32_t serial;  /* the newest that came */
    uint32_t confirm; /* the one to be confirmed */
    uint32_t times;   /* UNPATH or REPATH went out in this epoch */
    sv__five_state state;
    unsigned owes;      /* bits of sv_five_kind; UNPATH stands for REPATH, too */
    uint64_t lease_end; /* UINT64_MAX: never */
    uint64_t
        next; /* of ASKED: to be sent again; of HEARD: the end of patience, or the next asking */
} sv__five_member;

struct sv_five_manager {
    sv_ctx *ctx;
    sv_five_options options;
    sv_five_phase phase;
    SV_ARRAY(sv__five_member) members; /* by number */
    size_t missing;                    /* ASKED or HEARD */
    size_t turn;                       /* whose mail is taken next */
    uint64_t due;                      /* nothing is earlier; something may be no more */
    sv_five_count count;
};

struct sv_five_subscriber {
    sv_ctx *ctx;
    sv_five_options options;
    uint32_t number, serial, epoch;
    sv_five_place place;
    bool knows;         /* an epoch */
    bool once;          /* it has begun at least once: serial is one */
    bool begun;         /* and not ended */
    bool member;        /* confirmed since then: there may be flows */
    bool asking;        /* the present round is not confirmed */
    bool fenced;        /* keeps off base addresses until a round is confirmed */
    bool noted;         /* nothing is to be said of the present epoch */
    uint32_t farewells; /* UNSUBSCRIBE is still to be sent so many times */
    unsigned owes;      /* bits of sv_five_kind */
    uint64_t first;     /* sending of the present round */
    uint64_t again;     /* SUBSCRIBE or UNSUBSCRIBE goes out again */
    uint64_t renew;     /* the next round begins */
    uint64_t fence;     /* the lease is too short from here on */
    uint64_t done;      /* DONE goes out again */
};

/* Whether a comes after b, by serial numbers that wrap around. */
static inline bool sv__newer(uint32_t a, uint32_t b)
{
    return /*~numbers_round*/ a != b && a - b < UINT32_C(1) << 31;
}

/* UINT64_MAX stands for never. */
static inline uint64_t sv__after(uint64_t now, uint64_t time)
{
    return now > UINT64_MAX - time ? UINT64_MAX : now + time;
}

static inline uint64_t sv__sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of a lease: a round's life. */
static inline uint64_t sv__third(const sv_five_options *options)
{
    return options->lease < 3 ? 1 : options->lease / 3;
}

/* How long somebody is given to answer. */
static inline uint64_t sv__all_tries(const sv_five_options *options)
{
    return options->retry > UINT64_MAX / options->tries ? UINT64_MAX
                                                        : options->retry * options->tries;
}

/* BAD_INPUT where machines with these options could not work. */
sv_status sv__five_check(sv_ctx *ctx, const sv_five_options *options);

#endif
