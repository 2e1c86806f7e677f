/*
 * window.h: many questions, some of them on the wire at once, each asked again if no answer comes.
 *
 * What the wire is stands in an sv__discover_wire, so that tests have one that loses and reorders.
 */
#ifndef SV_DISCOVER_WINDOW_H
#define SV_DISCOVER_WINDOW_H

#include "base/arena.h"
#include "discover/mad.h"

enum { SV__MAX_WINDOW = 1024 };

/* What came in. */
typedef struct sv__answer {
    bool lost; /* the system says that no answer came; mad is what was sent */
    uint8_t mad[SV__MAD_BYTES];
} sv__answer;

typedef struct sv__discover_wire {
    void *user;
    sv_status (*send)(void *user, const uint8_t *mad);
    /* Waits up to so long; *got is false if nothing came. */
    sv_status (*receive)(void *user, uint64_t wait_ns, sv__answer *answer, bool *got);
} sv__discover_wire;

typedef struct sv__questions {
    const char *what; /* for progress */
    uint64_t count;
    void *user;
    /* Writes question i; false: it need not be asked (any more). */
    bool (*ask)(void *user, uint64_t i, uint8_t *mad);
    /* Its answer; NULL: none came, however often it was asked. */
    sv_status (*take)(void *user, uint64_t i, const uint8_t *mad);
} sv__questions;

typedef struct sv__window {
    sv_ctx *ctx;
    const sv__discover_wire *wire;
    unsigned size;        /* questions on the wire at once: 1 … SV__MAX_WINDOW */
    unsigned tries;       /* how often each is asked: from 1 on */
    uint64_t timeout_ns;  /* how long an answer may take */
    uint64_t sent, again; /* how many datagrams, and how many of them not for the first time */
    uint32_t serial;
} sv__window;

/* Asks everything and returns when all is answered or given up. */
sv_status sv__window_run(sv__window *window, const sv__questions *questions);

#endif
