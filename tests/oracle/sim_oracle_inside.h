/* What sim_oracle.c and sim_oracle_policy.c share: what a run consists of. */
#ifndef TESTS_ORACLE_SIM_ORACLE_INSIDE_H
#define TESTS_ORACLE_SIM_ORACLE_INSIDE_H

#include "sim_oracle.h"

#undef NDEBUG /* an oracle is always checked */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX
#define NONE  UINT32_MAX
#define BLOCK 64u

/* What an event's hop means is said with each kind. */
typedef enum kind {
    WAKE,    /* nothing but a reason to look */
    CREDIT,  /* one credit is back at hops[hop], which sent the packet */
    CROSSED, /* a block is across the switch of hops[hop] */
    LEFT,    /* a block has left hops[hop] over its link */
    FREE,    /* that link may start another packet */
    READY,   /* the packet may be granted at hops[hop]; num_hops: may be drained */
    DRAINED, /* a block was drained at the destination */
    GONE     /* a block of a dropped packet is whole, and gone, at hops[hop] if there were one */
} kind;

typedef struct event {
    uint64_t time;
    kind kind;
    uint32_t packet, hop, block;
} event;

typedef struct list {
    uint32_t *items;
    uint32_t count, room;
} list;

/* Where a port stands in the high or the low list (rule 16). */
typedef struct place {
    const oracle_entry *entries;
    uint32_t count, current, left;
} place;

/* One port with both its directions: output (where packets leave to the peer) and input. */
typedef struct port {
    uint32_t node, number;
    struct port *peer;
    uint64_t tau, chi;
    uint32_t *credits; /* [VLs]: for the peer's input buffers */
    bool entry_busy;   /* a packet crosses to this output */
    uint32_t used;     /* blocks of the output buffer */
    bool link_busy;
    uint64_t started, sent; /* the link's last packet: its start, the end of its last byte */
    uint64_t free_at;       /* and when the link is free of it */
    uint32_t *candidate;    /* [VLs]: the packet that may go now if the VL is chosen, or NONE */
    const oracle_tables *tables; /* or NULL */
    place high, low;
    uint64_t high_blocks; /* granted from the high list since the last grant from the low one */
    uint32_t last_vl;     /* granted or injected last */
    uint32_t *last_pair;  /* [VLs]: input port and VL it came by, granted last on the VL */
    list outgoing;        /* switch: granted, not yet started; adapter: open, not yet injected */
    list closed;          /* adapter: packets of messages not yet opened */
    uint32_t num_open;    /* adapter: messages */
    uint64_t injector;    /* adapter: from when on it may inject */
    list control;         /* adapter: control packets, not yet injected, in their order */
    list inside;       /* switch: not yet granted; adapter: not yet arrived. In order of starts */
    uint32_t crossing; /* packets that cross from this input */
    bool draining;
} port;

typedef struct packet {
    uint32_t blocks;
    uint32_t next;       /* the hop that it waits for; num_hops: its adapter has it, or will */
    bool ready;          /* for that hop */
    bool across;         /* its first block is in the output buffer of the hop before */
    uint64_t first_from; /* it may not be looked at as first of a queue earlier */
    uint32_t room;       /* where ways are found out: of hops and granted */
    bool looped;         /* and it was told */

    /* With a policy. */
    oracle_head head;
    uint64_t started;  /* its last link did that */
    uint64_t ready_at; /* rule 11's r, where it waits */
    uint64_t waited;   /* before it was granted last */
    uint64_t wanted;   /* of control packets: when they are to be ready */
    uint8_t sl;        /* in its segment */
    bool delivered;
} packet;

typedef struct oracle_stage {
    const oracle_params *params;
    uint32_t num_switches, num_nodes, num_packets, left;
    uint32_t *base; /* [num_nodes + 1]: port p of node v is ports[base[v] + p] */
    port *ports;
    oracle_packet *given;
    packet *packets;
    event *heap;
    size_t num_events, room;
    uint64_t now;

    /* With a policy. */
    uint32_t room_packets, next_number;
    uint64_t plan; /* when the timer is called next */
    oracle_counts counts;
} sim;

static inline void *get(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        abort();
    return memory;
}

/* ---- lists of packets ---- */

static inline void append(list *l, uint32_t item)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 8;
        l->items = realloc(l->items, l->room * sizeof *l->items);
        if (!l->items)
            abort();
    }
    l->items[l->count++] = item;
}

static inline void take_out(list *l, uint32_t item)
{
    uint32_t i = 0;
    while (l->items[i] != item)
        i++;
    l->count--;
    memmove(&l->items[i], &l->items[i + 1], (l->count - i) * sizeof *l->items);
}

/* ---- where things are ---- */

static inline bool is_switch(const sim *s, uint32_t node)
{
    return node < s->num_switches;
}

static inline port *port_of(const sim *s, uint32_t node, uint32_t number)
{
    return &s->ports[s->base[node] + number];
}

/* The port over which the packet leaves at a hop. */
static inline port *out_of(const sim *s, uint32_t p, uint32_t hop)
{
    const oracle_hop *h = &s->given[p].hops[hop];
    return port_of(s, h->node, h->out_port);
}

/* The port by which it came to a hop (num_hops: to its destination). Port 0 of a switch has no
 * peer: what its hop has been sent by leaves the switch by the next one. */
static inline port *in_of(const sim *s, uint32_t p, uint32_t hop)
{
    port *out = out_of(s, p, hop - 1);
    return out->number == 0 ? out : out->peer;
}

static inline uint8_t vl_of(const sim *s, uint32_t p, uint32_t hop)
{
    return s->given[p].hops[hop].vl;
}

/* Rule 3: the byte with which block k ends. */
static inline uint64_t end_of(const sim *s, uint32_t p, uint32_t k)
{
    uint64_t end = (uint64_t)BLOCK * k;
    return end < s->given[p].length ? end : s->given[p].length;
}

/* ---- sim_oracle.c ---- */

/* An event to come. */
void oracle_push(sim *s, uint64_t time, kind what, uint32_t p, uint32_t hop, uint32_t block);
/* The packet's hops and times get a place more. */
void oracle_lengthen(sim *s, uint32_t p);
/* The packet leaves its adapter now. */
void oracle_inject(sim *s, port *out, uint32_t p);

/* ---- sim_oracle_policy.c: only where there is a policy ---- */

/* The packets that it begins with, before anything happens. */
void oracle_policy_begin(sim *s);
/* The packet is sent over the last of its hops now: the way out of where that leads to. */
void oracle_policy_look(sim *s, uint32_t p);
/* The VL that a packet stands for now at a port that it wants, or NONE. */
uint32_t oracle_policy_vl(const sim *s, const port *out, uint32_t p);
/* The message of this packet, its first, is opened now. */
void oracle_policy_open(sim *s, uint32_t p);
/* A packet of a message has been injected, and this is the next one. */
void oracle_policy_next(sim *s, port *out, uint32_t p);
/* The control packets of an adapter: whether one has been injected. */
bool oracle_policy_control(sim *s, port *out);
/* An adapter has injected a packet; a switch has granted one. */
void oracle_policy_injected(sim *s, uint32_t p);
void oracle_policy_granted(sim *s, const port *out, uint32_t p);
/* What a tick begins with. */
void oracle_policy_tick(sim *s);
/* After all: what is stuck is told, and memory given back. */
void oracle_policy_end(sim *s, oracle_packet *packets, uint32_t num_packets);

#endif
