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

enum { SV_TICKS_PER_NS = 1800 };

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
    uint32_t ways, vls;
    uint32_t mtu_bytes, header_bytes;
    uint64_t inject, drain; /* ticks a byte */
    uint64_t pause, period; /* pause 0: never */
    uint32_t open;          /* messages of an adapter at a time */
    uint32_t inband_bytes;  /* of flow control after each packet; 0: out of band */
    bool voq;
    uint64_t byte_ticks; /* of every 4X link; 0: as links say */
    bool weighted;       /* VLs by the tables' VL arbitration, where they have one; else by turns */
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
    /*
     * Something has arrived at a terminal before the message that next told last is ready: that
     * message, which was not opened, goes back, and next is asked again for what comes first now
     * (not before the arrival). NULL: what was told stays. For sources whose answers to what
     * arrives may be ready before what they had to send anyway.
     */
    void (*back)(void *user, uint32_t terminal, const sv_sim_message *message);
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
typedef struct sv__sim sv_sim_run;

/* What can go wrong with a packet while tables change. */
typedef enum sv_sim_incident {
    SV_SIM_DROPPED,   /* a switch had no way for it, or no VL */
    SV_SIM_LOOPED,    /* it came to a switch for the second time (counted once a packet) */
    SV_SIM_OVERTAKEN, /* one that its terminal sent to the same terminal later arrived before it */
    SV_SIM_INCIDENTS
} sv_sim_incident;

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
    sv_status (*act)(void *user, sv_sim_run *run, uint64_t now, uint64_t *again);
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
SV_API SV_MUST_USE sv_status sv_sim_set_block(sv_sim_run *run, sv_node s, uint32_t block,
                                              const sv_routes *with);
/* A node takes its SL-to-VL tables from other tables. */
SV_API SV_MUST_USE sv_status sv_sim_set_sl2vl(sv_sim_run *run, sv_node node, const sv_routes *with);
/* A terminal whose message was not opened tries again, at the tick of the call. */
SV_API void sv_sim_wake(sv_sim_run *run, uint32_t terminal);
/* act is called at a time, or earlier if that is planned already: for those who learn from
 * sv_sim_source's calls that there is something to do. At the earliest in the tick after the
 * present one. */
SV_API void sv_sim_call(sv_sim_run *run, uint64_t time);
/* Packets that are under way: injected, neither arrived (before this tick) nor dropped; and the
 * number that the next one gets. */
SV_API uint64_t sv_sim_under_way(const sv_sim_run *run);
SV_API uint32_t sv_sim_next_packet(const sv_sim_run *run);

/* ---- policies: packets that choose their way (rules 25 to 33) ---- */

enum { SV_SIM_MAX_VIAS = 2, SV_SIM_MAX_SEGMENTS = SV_SIM_MAX_VIAS + 1 };

/* VLs that tables use (rule 25): one more than the largest that some SL has at some adapter or
 * pair of ports of a switch, port 0 being one to come in by. A model for a policy has segments
 * times so many VLs, and adaptive ones. Time: O(ports² of switches). */
SV_API unsigned sv_sim_table_vls(const sv_fabric *fabric, const sv_routes *routes);

/* A multistep path: to one switch after the other, each time as the tables say, then home. */
typedef struct sv_sim_way {
    uint32_t via[SV_SIM_MAX_VIAS]; /* destinations of the tables that are switches */
    uint8_t vias;                  /* of them; 0: the tables' own path */
    uint32_t mark;                 /* the policy's own: comes back in the packet's head */
} sv_sim_way;

/* What a packet carries for a policy. */
typedef struct sv_sim_head {
    sv_sim_way way;
    sv_node from;         /* a terminal; of control packets a switch, too */
    uint32_t destination; /* of the tables */
    uint32_t bytes;       /* on the wire */
    uint32_t tag;         /* of its message */
    uint32_t sequence;    /* among the data packets of its pair of terminals, from 0 on (rule 32) */
    uint64_t injected;    /* this packet; of control packets of a switch: when they were ready */
    uint64_t waited;      /* ticks, at all switches so far (rule 30) */
    uint32_t note;        /* the policy's own: 0 at the beginning, may be changed by hooks */
    uint8_t segment;      /* in depart: the one it leaves the next switch in */
    bool control, last;   /* last: of its message */
} sv_sim_head;

/*
 * Who chooses ways. With one there is one thread, and no director. Hooks may be NULL; one that does
 * not return SV_OK ends the run with that status. Hooks that get a run may call the functions
 * below with it.
 */
typedef struct sv_sim_policy {
    void *user;
    unsigned segments;     /* 1 … SV_SIM_MAX_SEGMENTS: one more than vias at most */
    unsigned adaptive;     /* VLs besides escape VLs */
    uint32_t header_bytes; /* that data packets have besides those of the model */
    bool by_packet;        /* choose is asked for each packet, not for each message */
    uint64_t patience;     /* depart hears of packets that waited for more ticks than this */
    uint64_t first;        /* when timer is called for the first time; SV_NEVER: never */
    /* A terminal is about to send (rule 28): offset is the first byte of the packet in its message.
     * *way: all zeroes on entry. */
    sv_status (*choose)(void *user, sv_sim_run *run, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way);
    /* A switch has granted a packet, which waited there. */
    sv_status (*depart)(void *user, sv_sim_run *run, uint64_t now, sv_channel out, uint64_t waited,
                        sv_sim_head *head);
    /* A packet has arrived at a terminal: drained, maybe before others of its pair. Called for all
     * packets, control packets too, at the tick at which it happens. */
    sv_status (*deliver)(void *user, sv_sim_run *run, uint64_t now, uint32_t terminal,
                         sv_sim_head *head);
    /* *again: as sv_sim_director's; and so is sv_sim_call. */
    sv_status (*timer)(void *user, sv_sim_run *run, uint64_t now, uint64_t *again);
} sv_sim_policy;

/* Sends a control packet of so many bytes on the wire from a node, ready at a tick that is later
 * than now (from a terminal: not earlier), to a destination that is another terminal, by the
 * tables' own path. BAD_INPUT: any of that does not hold; INFEASIBLE: it does not fit into a
 * buffer. Time: O(1), if a terminal's are sent in the order in which they are ready. */
SV_API SV_MUST_USE sv_status sv_sim_send(sv_sim_run *run, sv_node from, uint32_t destination,
                                         uint32_t bytes, uint64_t ready, uint32_t mark,
                                         uint32_t note);
/* Bytes that wait for a channel or are being sent over it (rule 31). Time: O(1). */
SV_API uint64_t sv_sim_backlog(const sv_sim_run *run, sv_channel c);

/* A data packet that waits for a channel. */
typedef struct sv_sim_waiting {
    uint32_t from, to; /* terminals */
    uint32_t bytes;    /* on the wire */
    uint64_t since;    /* when the link into the buffer it is in started it */
} sv_sim_waiting;

/* The first packets, most of them at most, that wait for a channel of a switch (rule 31); how many
 * were put into waiting. Time: O(ports × VLs / 64 + packets that are told) for a policy that has
 * depart, else O(ports × VLs + packets in their queues). */
SV_API uint32_t sv_sim_waiting_for(const sv_sim_run *run, sv_channel c, sv_sim_waiting *waiting,
                                   uint32_t max);

/* Is told what happens. Each may be NULL. Packets are numbered as they are injected. */
typedef struct sv_sim_watch {
    void *user;
    void (*injected)(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time);
    void (*granted)(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time);
    void (*arrived)(void *user, uint32_t packet, uint64_t time);
    void (*stuck)(void *user, uint32_t packet, sv_channel in, unsigned vl);
    void (*incident)(void *user, sv_sim_incident what, const sv_sim_example *which);
} sv_sim_watch;

typedef enum sv_sim_end {
    SV_SIM_COMPLETED, /* all that was to be sent has arrived */
    SV_SIM_STEADY,    /* bandwidths are known as well as was asked, or the sample is over */
    SV_SIM_DEADLOCK,
    SV_SIM_LIMIT,
    SV_SIM_CANCELLED /* what there is so far */
} sv_sim_end;

/* A packet that can never move: in the buffer at the end of a channel, waiting for a VL of the
 * next. */
typedef struct sv_sim_stuck {
    sv_channel in, out;
    uint8_t vl, out_vl;
    bool behind; /* another stuck one in its queue */
    /* Node num_switches + from sent it (modulo 2^32: control packets of switches, too). in is
     * SV_NONE for those of them that wait at port 0. */
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
    uint64_t latency_max, total_max;
} sv_sim_terminal;

/* What a channel carried in the time that counts: packets whose link starts then. */
typedef struct sv_sim_channel {
    uint64_t packets, bytes; /* on the wire */
    /* Ticks that packets were ready, before it took them; where a run ends before the time that
     * counts does, also of those whose link has not started then. */
    uint64_t waited;
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
    uint64_t latencies, latency_max, total_max;
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
    uint64_t incidents[SV_SIM_INCIDENTS];
    sv_sim_example example[SV_SIM_INCIDENTS];

    /*
     * With a policy, all of them in the whole run. packets, arrived_packets, packet_hops, channels
     * and timeline count data and control packets together, all else data alone: bytes when they
     * are drained, messages when they are delivered. time is the last delivery.
     */
    uint64_t control_packets, control_bytes; /* injected, or sent by switches; on the wire */
    uint64_t detours;                        /* data packets with vias */
    uint64_t early;                          /* data packets that arrived before one of their pair
                                                that is before it (rule 32) … */
    sv_sim_sum early_wait;                   /* … how long those waited for it, in all … */
    uint64_t early_max;                      /* … and the most bytes that did at one terminal */

    sv_ctx *ctx; /* whose memory this is */
} sv_sim_result;

typedef struct sv_sim_setup {
    sv_sim_model model;
    sv_sim_control control;
    const sv_sim_source *source;
    const sv_sim_watch *watch;       /* or NULL */
    const sv_sim_director *director; /* or NULL */
    const sv_sim_policy *policy;     /* or NULL */
} sv_sim_setup;

/*
 * Simulates. INFEASIBLE: a packet does not fit into a buffer, or a policy needs more VLs than the
 * model has. BAD_INPUT: a model that is none, or a
 * message that tables do not carry (with several threads and several such messages, any of them is
 * told), a policy with a director or with VLs by weights, or one whose ways are none. Cancelling
 * is a result: what there is so far.
 *
 * *result: owned by the caller (sv_sim_free). Time: some hundred nanoseconds for each packet and
 * hop. Memory: linear in channels, VLs (and ports, with virtual output queues) and packets under
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
