/*
 * simulate.h: what tables really deliver: a lossless fabric, packet by packet, exact to the tick
 * (docs/simulator.md has the rules).
 */
#ifndef SELVAGE_SIMULATE_H
#define SELVAGE_SIMULATE_H

#include <selvage/routes.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SV_TICKS_A_NS = 1800 };

#define SV_NEVER UINT64_MAX

/* A sum of ticks: a thousand million messages that wait a second each are more than 64 bits. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 sv_sim_sum;
#else
typedef uint64_t sv_sim_sum;
#endif

/* The numbers of docs/simulator.md. Times in ticks, buffers in blocks of 64 bytes. */
typedef struct sv_sim_model {
    uint64_t cable, credit, switch_delay;
    uint32_t input, output;
    uint32_t speedup; /* of the crossbar, percent of the link */
    uint32_t ways, lanes;
    uint32_t mtu_bytes, header_bytes;
    uint64_t inject, drain; /* ticks a byte */
    uint64_t pause, period; /* pause 0: never */
    uint32_t open;          /* messages of an adapter at a time */
    uint32_t inband_bytes;  /* of flow control after each packet; 0: out of band */
    bool voq;
    uint64_t byte_ticks; /* of every 4X link; 0: as links say */
    bool weighted; /* lanes by the tables' VL arbitration, where they have one; else by turns */
} sv_sim_model;

/* ---- traffic ---- */

typedef struct sv_sim_message {
    uint64_t ready;       /* not before that of the terminal's message before */
    uint32_t destination; /* of the tables, on another terminal */
    uint32_t bytes;
    uint32_t tag; /* comes back with its arrival */
} sv_sim_message;

typedef struct sv_sim_arrival {
    uint64_t ready, injected,
        time;          /* of the message: ready, first packet sent, last byte drained */
    uint32_t from, to; /* terminals, counted from 0 */
    uint32_t bytes, tag;
} sv_sim_arrival;

/* Who says what terminals send. Terminals are counted from 0: node num_switches + terminal. */
typedef struct sv_sim_source {
    void *user;
    /*
     * The next message of a terminal; false: none, or none before something arrives there, after
     * which it is asked again. Calls for one terminal come in order; between terminals they come in
     * no particular order, so what one says may depend on nothing but that terminal's own calls.
     */
    bool (*next)(void *user, uint32_t terminal, sv_sim_message *message);
    /* A message has arrived at its `to`. Calls for one terminal come in order of time, when that
     * time is known, which may be before it. NULL: does not care. */
    void (*arrived)(void *user, const sv_sim_arrival *arrival);
    /* Whether what a terminal receives counts for statistics; NULL: all do. */
    bool (*counts)(void *user, uint32_t terminal);
    uint64_t messages; /* in all, for progress; 0: endless or not known */
    bool threads;      /* calls for different terminals may come from different threads at once */
} sv_sim_source;

/* ---- running ---- */

/* When to stop, and what to count. */
typedef struct sv_sim_control {
    uint64_t limit;    /* ticks; SV_NEVER: none */
    uint64_t wall_ns;  /* of the context's clock: a limit, too; 0: none */
    uint64_t warm_up;  /* statistics are of what happens from then on … */
    uint64_t sample;   /* … for so long, then it stops; 0: to the end */
    uint64_t steady;   /* ticks of an interval whose bandwidth is one observation; 0: not asked */
    double precision;  /* of means, for steady: half of the 99 % interval by the mean */
    uint64_t interval; /* ticks of a row of the timeline, which begins at 0; 0: none */
    bool ignore_stuck; /* do not look for deadlocks while others still move */
} sv_sim_control;

/* ---- changing tables while traffic runs (rules 21 to 24) ---- */

/* A run, for those who change tables in it. */
typedef struct sv__sim sv_sim_stage;

/* What can go wrong with a packet while tables change. */
typedef enum sv_sim_mishap {
    SV_SIM_DROPPED,   /* a switch had no way for it, or no lane */
    SV_SIM_CIRCLED,   /* it came to a switch for the second time (counted once a packet) */
    SV_SIM_OVERTAKEN, /* one that its terminal sent to the same terminal later arrived before it */
    SV_SIM_MISHAPS
} sv_sim_mishap;

/* The first packet that something happened to. */
typedef struct sv_sim_example {
    uint64_t time;
    uint32_t packet, from, destination; /* its number, terminal, destination of the tables */
    sv_node at;                         /* the switch; where it arrived, of OVERTAKEN */
    uint8_t why;                        /* of DROPPED: an sv_trace_end (routes.h) */
} sv_sim_example;

/* Who changes tables. With one there is one thread. Either function may be NULL. */
typedef struct sv_sim_director {
    void *user;
    uint64_t first; /* when act is called for the first time; SV_NEVER: never */
    /*
     * Called at a tick before anything else happens in it. May call the functions below. *again:
     * the next time, later than now; SV_NEVER, which it is on entry: not until sv_sim_call. Not
     * SV_OK: the run ends with that status.
     */
    sv_status (*act)(void *user, sv_sim_stage *stage, uint64_t now, uint64_t *again);
    /*
     * A terminal is about to open a message, at the tick now (rule 21). May give it another
     * destination on the same node (what else it changes in it does not count), and another SL
     * than that of the tables, which *sl has on entry for the destination it has then. False: not
     * now; nothing of this terminal is opened before sv_sim_wake.
     */
    bool (*open)(void *user, uint32_t terminal, uint64_t now, sv_sim_message *message, uint8_t *sl);
} sv_sim_director;

/* A switch takes the entries of a block of 64 LIDs (of destinations, where there are no LIDs) from
 * other tables of the same fabric with the same LIDs and destinations. From act only, as the next:
 * BAD_INPUT otherwise. */
SV_API SV_MUST_USE sv_status sv_sim_set_block(sv_sim_stage *stage, sv_node s, uint32_t block,
                                              const sv_routes *with);
/* A node takes its SL-to-lane tables from other tables. */
SV_API SV_MUST_USE sv_status sv_sim_set_lanes(sv_sim_stage *stage, sv_node node,
                                              const sv_routes *with);
/* A terminal whose message was not opened tries again, at the tick of the call. */
SV_API void sv_sim_wake(sv_sim_stage *stage, uint32_t terminal);
/* act is called at a time, or earlier if that is planned already: for those who learn from
 * sv_sim_source's calls that there is something to do. At the earliest in the tick after the
 * present one. */
SV_API void sv_sim_call(sv_sim_stage *stage, uint64_t time);
/* Packets that are under way: injected, neither arrived (before this tick) nor dropped; and the
 * number that the next one gets. */
SV_API uint64_t sv_sim_under_way(const sv_sim_stage *stage);
SV_API uint32_t sv_sim_next_packet(const sv_sim_stage *stage);

/* Is told what happens. Each may be NULL. Packets are numbered as they are injected. */
typedef struct sv_sim_watch {
    void *user;
    void (*injected)(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time);
    void (*granted)(void *user, uint32_t packet, sv_channel out, unsigned lane, uint64_t time);
    void (*arrived)(void *user, uint32_t packet, uint64_t time);
    void (*stuck)(void *user, uint32_t packet, sv_channel in, unsigned lane);
    void (*mishap)(void *user, sv_sim_mishap what, const sv_sim_example *which);
} sv_sim_watch;

typedef enum sv_sim_end {
    SV_SIM_COMPLETED, /* all that was to be sent has arrived */
    SV_SIM_STEADY,    /* bandwidths are known as well as was asked, or the sample is over */
    SV_SIM_DEADLOCK,
    SV_SIM_LIMIT,
    SV_SIM_CANCELLED /* what there is so far */
} sv_sim_end;

/* A packet that can never move: in the buffer at the end of a channel, waiting for a lane of the
 * next. */
typedef struct sv_sim_stuck {
    sv_channel in, out;
    uint8_t lane, out_lane;
    bool behind; /* another stuck one in its queue */
    uint32_t from, destination;
    uint64_t since; /* the link into that buffer started it */
} sv_sim_stuck;

/* What a terminal received (and sent) in the time that counts. */
typedef struct sv_sim_terminal {
    uint64_t sent_bytes, received_bytes; /* payload */
    uint64_t messages;                   /* received whole */
    uint64_t last;                       /* when the last of those bytes was drained; 0: none */
    /* Ticks, of those: from the first packet's injection to the last byte drained; from ready. */
    sv_sim_sum latency_sum, total_sum;
    uint64_t latency_most, total_most;
} sv_sim_terminal;

/* What a channel carried in the time that counts: packets whose link starts then. */
typedef struct sv_sim_channel {
    uint64_t packets, bytes; /* on the wire */
    uint64_t waited;         /* ticks that packets were ready, before it took them */
} sv_sim_channel;

/* One switch in one interval of the timeline. */
typedef struct sv_sim_cell {
    uint32_t packets;
    uint64_t bytes, waited;
} sv_sim_cell;

/* Latencies by size: bin b of SV_SIM_BINS holds those of sv_sim_bin_from(b) … below the next's. */
enum { SV_SIM_BINS = 64 * 32 };

typedef struct sv_sim_result {
    sv_sim_end end;
    uint64_t time;        /* the last arrival; where it did not complete, when it stopped */
    uint64_t from, until; /* the time that counts */
    /* Hops are grants at switches. Looks and state_bytes depend on the number of threads, nothing
     * else does. */
    uint64_t messages, packets, arrived_messages, arrived_packets, packet_hops, looks;
    uint64_t payload_bytes; /* arrived in the time that counts, where terminals count */
    double throughput;      /* bytes a second: of those */
    /* Of messages that arrive in the time that counts: from the first packet's injection to the
     * last byte drained; total: from ready. */
    uint64_t latencies, latency_most, total_most;
    sv_sim_sum latency_sum, total_sum;
    uint64_t *latency; /* [SV_SIM_BINS] */
    uint64_t state_bytes;
    double steady_share; /* of terminals, when steady was asked */

    sv_sim_terminal *terminals; /* [terminals] */
    sv_sim_channel *channels;   /* [channels] */
    sv_sim_cell *timeline;      /* [rows × switches] */
    uint32_t rows;

    sv_sim_stuck *stuck; /* of a deadlock */
    uint32_t num_stuck;
    uint64_t stuck_since; /* when the last of them came to where it is */

    /* With a director: how often, and the first of each. */
    uint64_t mishaps[SV_SIM_MISHAPS];
    sv_sim_example example[SV_SIM_MISHAPS];

    sv_ctx *ctx; /* whose memory this is */
} sv_sim_result;

typedef struct sv_sim_setup {
    sv_sim_model model;
    sv_sim_control control;
    const sv_sim_source *source;
    const sv_sim_watch *watch;       /* or NULL */
    const sv_sim_director *director; /* or NULL */
} sv_sim_setup;

/*
 * Simulates. INFEASIBLE: a packet does not fit into a buffer. BAD_INPUT: a model that is none, or a
 * message that tables do not carry (with several threads and several such messages, any of them is
 * told). Cancelling is a result: what there is so far.
 *
 * *result: owned by the caller (sv_sim_free). Time: some hundred nanoseconds for each packet and
 * hop. Memory: linear in channels, lanes (and ports, with virtual output queues) and packets under
 * way.
 */
SV_API SV_MUST_USE sv_status sv_simulate(sv_ctx *ctx, const sv_fabric *fabric,
                                         const sv_routes *routes, const sv_sim_setup *setup,
                                         sv_sim_result **result);
SV_API void sv_sim_free(sv_sim_result *result);

/* The smallest latency in ticks that belongs to a bin; the share-th quantile (0 … 1) of a result's
 * latencies, not more than 1/32 too large. Time: O(SV_SIM_BINS). */
SV_API uint64_t sv_sim_bin_from(uint32_t bin);
SV_API uint64_t sv_sim_quantile(const sv_sim_result *result, double share);

/* Ticks that a link takes a byte; those of 4X QDR where it is not known. */
SV_API uint64_t sv_sim_byte_ticks(const sv_link *link);

#ifdef __cplusplus
}
#endif
#endif
