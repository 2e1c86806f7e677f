/*
 * state.h: the state of a run, for the files of this room.
 *
 * Everything is by channel: the channel that leaves a port is its output side, and the input side
 * of the port at its other end. A queue of packets belongs to an input channel and VL (and output
 * port, with virtual output queues); the first packet of a queue stands among the wants of the
 * output it is for.
 *
 * What is touched at every hop is small and lies together; what a packet carries for its arrival
 * only (sv__cargo) lies elsewhere.
 *
 * With several threads each has a part of the nodes and an sv__sim of its own (parts.c). Arrays by
 * channel are shared: the output side of a channel, its credits among it, belongs to the part of
 * the node it leaves, the queues at its end to the part of the node there.
 */
#ifndef SV_SIMULATE_STATE_H
#define SV_SIMULATE_STATE_H

#include <selvage/simulate.h>

#include "base/arena.h"

enum { SV__BLOCK = 64 };

typedef struct sv__packet {
    uint64_t start;       /* of the link into the buffer it is in */
    uint32_t next;        /* in its queue */
    uint32_t destination; /* of the tables; with a policy: of its segment */
    uint32_t out;         /* channel it goes on by; SV_NONE: it is dropped */
    uint32_t from;        /* terminal; of a switch's control packets: see policy.c */
    uint16_t length;      /* bytes on the wire */
    uint8_t sl, vl;       /* VL of the link it came by */
    uint8_t out_vl;       /* of the link it goes on by; with a policy: the escape VL there */
    bool last : 1;        /* of its message */
    bool control : 1;     /* of a policy: of no message */
    uint8_t segment : 2;  /* 0 without a policy */
    uint16_t hops;        /* switches so far in its segment (with a director: 1 after the first) */
} sv__packet;

_Static_assert(sizeof(sv__packet) == 32, "two packets a cache line");

/* What matters when it arrives. */
typedef struct sv__cargo {
    uint64_t ready, injected; /* its message; its message's first packet */
    uint32_t tag, bytes;      /* of its message */
    uint32_t number;          /* of the packet in all */
    uint32_t serial; /* of the packet among those of its terminal; with a policy: its pair */
} sv__cargo;

/* Blocks that become free one after the other: block k at from + e(k) × rate, pauses aside. */
typedef struct sv__ramp {
    uint64_t from;
    uint32_t rate; /* ticks a byte */
    uint16_t length, taken;
} sv__ramp;

/* Credits of a VL of a channel. */
typedef struct sv__credits {
    sv__ramp *at;          /* that come back */
    uint32_t there;        /* that are back, at least */
    uint32_t need;         /* blocks somebody lacked at the last look; 0: nobody */
    uint32_t length, room; /* of at */
    sv__ramp few[2];       /* where at begins: most never need more */
} sv__credits;

/* The first packet of a queue, at the output it is for. */
typedef struct sv__sim_want {
    uint64_t ready; /* when it may be granted as far as it goes itself */
    uint32_t queue, in, packet;
    uint32_t pair; /* input port and VL it came by, in the order of rule 16 */
    uint16_t blocks;
    uint8_t vl;     /* of the link it goes on by: the one it stands for */
    uint8_t escape; /* with adaptive VLs: its escape VL */
} sv__sim_want;

/* The output side of a channel. */
typedef struct sv__output {
    uint64_t entry_free; /* of a switch's port; of an adapter: when its bus is free */
    uint64_t link_free;
    uint32_t byte, cross; /* ticks a byte: of the link, of the crossbar */
    uint32_t head;        /* node at the other end */
    uint16_t in_port;     /* there */
    uint16_t num_wants, wants_room;
    uint8_t last_vl;                      /* granted last, SV_NO_VL: none yet */
    uint8_t buffer_log;                   /* room of buffer is 2 to the power of it */
    uint32_t buffer_first, buffer_length; /* a ring */
    uint32_t buffer_free;                 /* blocks, at least */
    sv__sim_want *wants;
    sv__ramp *buffer; /* places that become free in the output buffer, in order */
} sv__output;

typedef struct sv__queue {
    uint32_t first, last; /* packets; first SV_NONE: none */
} sv__queue;

/* Where VL arbitration stands at a port (rule 16, tables). */
typedef struct sv__turn {
    uint32_t high_left, low_left, high_sent; /* blocks */
    uint8_t high_at, low_at;
} sv__turn;

/* The last packets of a link, for credits that go between them (rule 8, in band). */
typedef struct sv__sim_sent {
    uint64_t from, until;
} sv__sim_sent;

typedef struct sv__line {
    sv__sim_sent *at; /* in order */
    uint32_t first, length, room;
} sv__line;

/* A message that an adapter has open. */
typedef struct sv__sim_open {
    sv_sim_message message;
    uint64_t injected; /* its first packet */
    uint32_t sent;     /* bytes */
    uint32_t next;     /* of the same VL, or free */
    uint8_t sl;
} sv__sim_open;

typedef struct sv__adapter {
    sv_sim_message coming; /* what it opens next, if has_coming */
    bool has_coming, idle; /* idle: the source had nothing */
    bool held;             /* the director does not let it open its next message */
    uint64_t vls;          /* that have open messages */
    uint32_t open;
    uint32_t serial;  /* packets so far */
    uint32_t channel; /* SV_NONE: not cabled */
    uint64_t drained; /* end of the packet drained last */
} sv__adapter;

/* When outputs are looked at: see events.c. */
typedef struct sv__event {
    uint64_t when;
    uint32_t channel;
} sv__event;

typedef struct sv__heap {
    sv__event *at;
    uint32_t length;
} sv__heap;

typedef struct sv__events {
    uint64_t *when;                  /* [channels] */
    uint32_t *next, *before, *place; /* [channels] */
    uint32_t *bucket;                /* [buckets]: lists */
    uint64_t *used;                  /* [buckets / 64]: bits */
    uint32_t buckets;
    uint32_t base;           /* what stands before channels: see events.c */
    const sv__output *slots; /* [base + channels] */
    unsigned shift;
    uint64_t floor; /* the present bucket, whose channels are in near */
    sv__heap near;  /* sorted, from near_first on */
    uint32_t near_first, near_room;
    sv__heap far;
} sv__events;

/* One terminal's bandwidth, interval by interval (steady.c). */
typedef struct sv__series {
    uint64_t interval, bytes;    /* the present one */
    double count, mean, squares; /* of those before: how many, their mean, squared deviations */
} sv__series;

/* The last packet of a flow that arrived. */
typedef struct sv__flow {
    uint32_t from, destination, serial;
    bool used;
} sv__flow;

/* An arrival that is known before the step in which it happens. */
typedef struct sv__sim_late {
    uint64_t time;
    sv__cargo cargo;
    uint32_t to;
    uint16_t length;
    bool drained, last; /* its bytes are there; its message is */
} sv__sim_late;

/* What one part tells another: a packet sent over a channel, credits that come back on one. */
typedef struct sv__sim_crossing {
    sv__packet packet;
    sv__cargo cargo;
    uint32_t channel;
} sv__sim_crossing;

typedef struct sv__slip {
    sv__ramp ramp;
    uint32_t channel;
    uint8_t vl;
} sv__slip;

typedef struct sv__box {
    sv__sim_crossing *mails;
    sv__slip *slips;
    uint32_t num_mails, mails_room, num_slips, slips_room;
} sv__box;

enum { SV__MAX_PARTS = 64 };

typedef struct sv__sim {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *f;
    const sv_routes *r;
    const sv_sim_model *m;
    const sv_sim_control *k;
    const sv_sim_source *source;
    const sv_sim_watch *watch; /* never NULL */
    const sv_sim_director *director;
    struct sv__sim_direction *direction; /* NULL without a director */
    struct sv__policy *policy;           /* NULL without one */
    sv_sim_result *result;
    uint64_t now;
    uint32_t me;            /* this part */
    const uint8_t *part_of; /* [nodes]; NULL: there is one part */
    sv__box *boxes;         /* [2 × parts]: to each, in windows of even and of odd number */
    sv__box *outgoing;      /* those of the present window */
    bool plain;             /* nothing but counting at a grant: no watch, no timeline */
    bool listens;           /* a policy hears of packets: what they waited is summed up */

    sv__output *outputs;   /* [inputs] */
    sv__credits *credits;  /* [inputs × VLs] */
    uint32_t *last_pair;   /* [channels × VLs]: granted last on each; SV_NONE: none yet */
    sv__turn *turns;       /* [channels], or NULL */
    sv__line *lines;       /* [channels], or NULL */
    uint64_t *ways;        /* [inputs × ways]: when each way of an input is free */
    sv__queue *queues;     /* see queue_of */
    uint32_t *first_queue; /* [inputs + 1] */
    uint32_t *first_port;  /* [switches + 1]: first channel that leaves it */
    uint32_t *port_base;   /* [switches + 1]: of by_port */
    uint32_t *by_port;     /* channels by switch and port; SV_NONE: no cable */
    uint32_t num_inputs;   /* channels, and with a policy port 0 of each switch after them */
    uint32_t header;       /* bytes of a data packet besides its payload */
    uint32_t vl_step;      /* VLs of a segment; 0 without a policy */
    uint32_t adaptive;     /* VLs, after those of all segments */
    uint64_t *load;     /* [channels]: bytes that wait for each, where a policy may ask; or NULL */
    uint32_t min;       /* blocks of the smallest packet so far */
    uint32_t min_data;  /* of those that are no control packets */
    uint16_t *controls; /* [channels]: control packets that want each; NULL without a policy */
    uint16_t max_hops;  /* more are a loop */
    uint8_t *could;     /* [could_room]: which wants may be granted, at a look */
    uint32_t could_room;

    sv__packet *packets;
    sv__cargo *cargo;
    sv_sim_head *heads; /* as packets; with a policy only; all but what they waited */
    uint64_t *waited;   /* as packets; if it listens: ticks, at all switches so far */
    uint32_t num_packets, packets_room, free_packet;

    sv__adapter *adapters; /* [terminals] */
    sv__queue *outboxes;   /* [terminals × VLs]: open messages */
    sv__sim_open *opened;
    uint32_t num_opened, opened_room, free_opened;

    sv__events events;
    uint64_t injected, arrived;                 /* packets */
    uint64_t control_injected, control_arrived; /* of them, control packets */
    uint64_t pending;                           /* messages that are known and not injected */
    uint64_t dropped;
    uint64_t sum_in, sum_out; /* of what was injected and what arrived: the same at the end */
    sv__flow *seen;           /* order of flows: see audit.c */
    uint64_t step_end;        /* nothing later is counted yet */
    sv__sim_late *late;       /* arrivals after that, known already */
    uint32_t num_late, late_room;
    uint64_t last_arrival;

    /* statistics */
    sv__series *series; /* [terminals], or NULL */
    uint32_t rows_room;
} sv__sim;

static inline uint32_t sv__blocks(uint32_t bytes)
{
    return /*~blocks_empty*/ (bytes + SV__BLOCK - 1) / SV__BLOCK;
}

/* The byte that block k (from 1 on) ends with. */
static inline uint64_t sv__block_end(uint32_t length, uint32_t k)
{
    uint64_t end = (uint64_t)SV__BLOCK * k;
    return /*~block_long*/ end < length ? end : length;
}

static inline uint64_t sv__max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline sv__credits *sv__credits_of(const sv__sim *x, uint32_t channel, unsigned vl)
{
    return &x->credits[(size_t)channel * x->m->vls + vl];
}

static inline bool sv__is_switch(const sv__sim *x, uint32_t node)
{
    return node < x->f->num_switches;
}

/*
 * When a packet that came in by a channel may cross, as far as it goes itself (rule 11): what it
 * takes after its link started. Of other blocks than the first and the last two none is larger.
 */
static inline uint64_t sv__ready_after(const sv__sim *x, uint32_t length, uint64_t byte,
                                       uint64_t cross)
{
    uint64_t max = sv__block_end(length, 1) * byte;
    uint32_t n = sv__blocks(length);
    if (/*~wait_first*/ byte > cross && n > 1) {
        uint64_t last = length * byte - (uint64_t)SV__BLOCK * (n - 1) * cross;
        uint64_t before = (uint64_t)SV__BLOCK * ((n - 1) * byte - (n - 2) * cross);
        max = sv__max(max, /*~wait_before*/ sv__max(last, before));
    }
    return max /*~cable_none*/ + x->m->cable;
}

/* Whether a node is of another part. */
static inline bool sv__elsewhere(const sv__sim *x, uint32_t node)
{
    return x->part_of != NULL && x->part_of[node] != x->me;
}

/* ---- setup.c ---- */

sv_status sv__sim_init(sv__sim *x);
/* header: bytes of a data packet besides its payload. */
sv_status sv__check_model(sv_ctx *ctx, const sv_sim_model *m, uint32_t header);

/* ---- credits.c ---- */

/* Places in an output buffer: 0 if n are free now, else when they are. */
uint64_t sv__room(sv__sim *x, sv__output *o, uint32_t n);
/* The same; as a rule they are. */
static inline uint64_t sv__room_for(sv__sim *x, sv__output *o, uint32_t n)
{
    return o->buffer_free >= n ? 0 : sv__room(x, o, n);
}

/* Takes places for a packet whose link starts at a time. */
sv_status sv__room_take(sv__sim *x, sv__output *o, uint64_t start, uint32_t length);
/* Credits: whether n are there now; if not, *when is not after they are (SV_NEVER: nobody knows).
 */
bool sv__credits_there(sv__sim *x, uint32_t channel, unsigned vl, uint32_t n, uint64_t *when);
/* Blocks become free at the end of a channel: their credits come back. */
sv_status sv__credits_back(sv__sim *x, uint32_t channel, unsigned vl, sv__ramp ramp);
/* When that many ticks of draining are done that began at from. */
uint64_t sv__drained_at(const sv_sim_model *m, uint64_t from, uint64_t ticks);
/* In band: notes that a link sends a packet. */
sv_status sv__line_add(sv__sim *x, uint32_t channel, uint64_t from, uint64_t until);

/* ---- switch.c ---- */

/* Grants what an output of a switch may grant now, and plans its next look. */
sv_status sv__look(sv__sim *x, uint32_t channel);
/* Sends a packet over a channel from a time on: into the queue at its other end. has_way: it is
 * known already where it goes on from there. */
sv_status sv__send(sv__sim *x, uint32_t packet, uint32_t channel, unsigned vl, uint64_t start,
                   bool has_way);
/* Puts a packet that its channel has started into the queue at its end. */
sv_status sv__receive(sv__sim *x, uint32_t packet, uint32_t channel);
/* Puts a packet whose way is known into its queue at the end of a channel; drops it if it has none.
 */
sv_status sv__enqueue(sv__sim *x, uint32_t packet, uint32_t channel);

/* ---- arbitrate.c ---- */

/* The VL, of those in a set, whose turn it is at an output; it is taken for so many blocks. */
unsigned sv__choose_vl(const sv__sim *x, uint32_t channel, uint64_t vls);
void sv__take_vl(sv__sim *x, uint32_t channel, unsigned vl, uint64_t vls, uint32_t blocks);

/* The same; as a rule there is one, and no choice. */
static inline unsigned sv__one_vl(const sv__sim *x, uint32_t channel, uint64_t vls)
{
    return (vls & (vls - 1)) == 0 ? (unsigned)__builtin_ctzll(vls) : sv__choose_vl(x, channel, vls);
}

/* ---- adapter.c ---- */

/* A place for a packet; SV_NONE: no memory. */
uint32_t sv__packet_new(sv__sim *x);
void sv__packet_free(sv__sim *x, uint32_t packet);

/* Asks terminals of this part for their first messages. */
sv_status sv__adapters_begin(sv__sim *x);
/* Injects what an adapter may inject now, and plans its next look. */
sv_status sv__look_adapter(sv__sim *x, uint32_t channel);
/* A packet comes in at an adapter: it is drained, and that is all. */
sv_status sv__drain(sv__sim *x, uint32_t packet, uint32_t channel);
/* Takes what an injection takes of an adapter's link and credits, and counts it. */
void sv__take_link(sv__sim *x, uint32_t channel, unsigned vl, uint32_t length);
/* The VL of an SL at an adapter, for packets to a destination. */
sv_status sv__adapter_vl(sv__sim *x, uint32_t terminal, uint32_t destination, unsigned sl,
                         unsigned *vl);
/* A message is there: the source hears of it, and may have something to send now. */
sv_status sv__arrive(sv__sim *x, uint32_t from, const sv__cargo *cargo, uint32_t to, uint64_t time);

/* ---- events.c ---- */

sv_status sv__events_init(sv__sim *x);
/* Looks at an output at a time, or earlier if that is planned already. SV_NEVER: no. */
void sv__events_plan(sv__sim *x, uint32_t channel, uint64_t time);
/* The next output; SV_NONE: none. x->now becomes its time. With a policy: a slot, which is a
 * terminal below x->events.base, and a channel from there on. */
uint32_t sv__events_next(sv__sim *x);
/* With a policy: something arrives at a terminal at a time. */
void sv__events_arrival(sv__sim *x, uint32_t terminal, uint64_t time);

/* When it is, where the present bucket has nothing; SV_NEVER: none. */
uint64_t sv__events_ahead(sv__sim *x);
/* When it is; SV_NEVER: none. */
static inline uint64_t sv__events_peek(sv__sim *x)
{
    const sv__events *e = &x->events;
    return e->near_first < e->near.length ? e->near.at[e->near_first].when : sv__events_ahead(x);
}
/* Whether it is an arrival; there is one. */
static inline bool sv__events_arrives(const sv__sim *x)
{
    return x->events.near.at[x->events.near_first].channel < x->events.base;
}

/* ---- parts.c ---- */

/* All parts of a run. */
typedef struct sv__team {
    sv__sim *parts; /* [count] */
    uint32_t count;
    uint64_t lookahead; /* ticks after which, at the earliest, a part feels another */
    struct sv_threads *pool;
    sv_ctx *ctx;
    const sv_sim_policy *chooses; /* or NULL */
} sv__team;

/* Runs everything that happens before a time. */
sv_status sv__run_until(sv__team *team, uint64_t time);
sv_status sv__post_packet(sv__sim *x, uint32_t packet, uint32_t channel);
sv_status sv__post_credits(sv__sim *x, uint32_t channel, unsigned vl, sv__ramp ramp);
/* Which part each node is of: about as many ports in each, and few cables between them. queue:
 * [switches], to work with. */
void sv__cut(const sv_fabric *f, uint32_t parts, uint8_t *part_of, uint32_t *queue);

/* ---- director.c: with a director only ---- */

sv_status sv__direct_init(sv__sim *x);
void sv__direct_release(sv__sim *x);
uint64_t sv__direct_bytes(const sv__sim *x);
/* When the director acts next. */
uint64_t sv__direct_next(const sv__sim *x);
/* Runs everything that happens before a time. */
sv_status sv__direct_run(sv__sim *x, uint64_t until);
/* Asks the director about a message that is to be opened; the adapter is held if he does not want
 * it. */
sv_status sv__direct_open(sv__sim *x, uint32_t t, sv_sim_message *message, unsigned *sl);

/* ---- incident.c: with a director only ---- */

/* Where a packet goes on from the switch at the end of a channel; its out is SV_NONE if there is no
 * way. */
sv_status sv__direct_way(sv__sim *x, uint32_t packet, uint32_t over);
/* A packet without a way, which a channel has started, is no more. */
sv_status sv__direct_drop(sv__sim *x, uint32_t packet, uint32_t channel);
/* A packet arrives at a terminal, at a time that is now or later. */
sv_status sv__direct_arrived(sv__sim *x, uint32_t packet, uint32_t to, uint64_t time);
/* Packets that arrive before a time have: what happened to them is told, in order. */
void sv__direct_settle(sv__sim *x, uint64_t time);

/* ---- policy.c and its neighbours: with a policy only ---- */

/* Refuses what does not go together. */
sv_status sv__policy_check(sv_ctx *ctx, const sv_sim_setup *setup);
/* Before sv__sim_init: how many VLs and inputs there are follows from it. */
sv_status sv__policy_init(sv__sim *x, const sv_sim_policy *policy);
void sv__policy_release(sv__sim *x);
uint64_t sv__policy_bytes(const sv__sim *x);
/* Whether all data has arrived or will have at a time that is known (x->last_arrival), and nothing
 * is to be sent. */
bool sv__policy_done(const sv__sim *x);
/* When something happens next; SV_NEVER: nothing does, or all is done. */
uint64_t sv__policy_next(sv__sim *x);
/* Whether there is data and nothing moves any more, whatever the timer does. */
bool sv__policy_hopeless(sv__sim *x);
/* The timer is called at a time, or earlier if that is planned already. */
void sv__policy_call(sv__sim *x, uint64_t time);
/* Runs everything that happens before a time; less if all is done. */
sv_status sv__policy_run(sv__sim *x, uint64_t until);

/* Room beside packets, and beside open messages, for so many. */
sv_status sv__policy_room(sv__sim *x, uint32_t packets);
sv_status sv__policy_open_room(sv__sim *x, uint32_t opened);
/* Asks for the way of a message that is opened, or of the rest of one; *VL: that of its packets.
 */
sv_status sv__policy_open(sv__sim *x, uint32_t terminal, uint32_t open, unsigned *vl);
sv_status sv__policy_choose(sv__sim *x, uint32_t terminal, uint32_t open, unsigned *vl);
bool sv__policy_by_packet(const sv__sim *x);
uint32_t sv__policy_first_adaptive(const sv__sim *x);
/* A packet of an open message was made. */
void sv__policy_injected(sv__sim *x, uint32_t packet, uint32_t open);
/* A packet is at the via of its segment: the next one begins. */
sv_status sv__policy_turn(sv__sim *x, uint32_t packet, sv_node at);
/* The first VL of those a packet may take at an output that has credits, as w->VL; false: none,
 * and *next is not after one of them has. */
bool sv__stand_for(sv__sim *x, uint32_t channel, sv__sim_want *w, uint64_t *lacking,
                   uint64_t *next);
/* A packet has left a switch after it waited. */
sv_status sv__policy_granted(sv__sim *x, uint32_t packet, uint32_t out, uint64_t waited);

/* ---- waiting.c ---- */

sv_status sv__waiting_init(sv__sim *x);
/* A packet is in an input's buffer, and in its queue there; it was granted out of it. */
void sv__waiting_add(sv__sim *x, uint32_t packet, uint32_t in);
void sv__waiting_cut(sv__sim *x, uint32_t packet, uint32_t in, unsigned vl, uint32_t out);

/* ---- control.c ---- */

/* Injects a terminal's first control packet, if it may be. *next: when that may be, if not. */
sv_status sv__control_inject(sv__sim *x, uint32_t terminal, uint32_t channel, bool *sent,
                             uint64_t *next);
/* When the first control packet of a terminal is ready. */
uint64_t sv__control_ready(const sv__sim *x, uint32_t terminal);

/* ---- reorder.c ---- */

/* The number of a pair of terminals. */
sv_status sv__pair_of(sv__sim *x, uint32_t from, uint32_t to, uint32_t *pair);
/* A packet is drained at a time that is now or later. */
sv_status sv__policy_drained(sv__sim *x, uint32_t packet, uint32_t to, uint64_t time);
/* The first packet that is drained at a terminal has arrived, now. */
sv_status sv__policy_arrived(sv__sim *x, uint32_t to);

/* ---- deadlock.c ---- */

/* Finds packets that can never move; they are put into the result of the first part. control: also
 * if they are all control packets, without which a run may still be completed. */
sv_status sv__find_stuck(const sv__team *team, bool control);

/* ---- statistics.c ---- */

sv_status sv__statistics_init(sv__sim *x);
/* Counts an arrival in the step in which it happens. */
sv_status sv__count_arrival(sv__sim *x, const sv__sim_late *arrival);
/* A new step begins: counts what happens before its end. */
void sv__count_until(sv__sim *x, uint64_t time);
void sv__count_cell(sv__sim *x, uint32_t node, uint32_t bytes, uint64_t waited);
/* Makes room for the timeline's rows up to a time. */
sv_status sv__rows_until(sv__sim *x, uint64_t time);
/* The share of terminals whose bandwidth is known well enough (steady). */
double sv__steady_share(const sv__team *team, uint64_t now);
/* Sums up, once all is over. */
void sv__statistics_end(const sv__team *team);

/* ---- audit.c ---- */

sv_status sv__audit_init(sv__sim *x);
void sv__audit_injected(sv__sim *x, uint32_t from, uint32_t serial);
/* It has arrived, or was dropped. */
void sv__audit_gone(sv__sim *x, uint32_t from, uint32_t serial);
/* The same; UNSUPPORTED if a packet overtook another of its flow: a bug of ours. */
sv_status sv__audit_arrived(sv__sim *x, const sv__packet *packet, const sv__cargo *cargo);
/* The same at the end: nothing lost, nothing twice. */
sv_status sv__audit_end(const sv__team *team);

#endif
