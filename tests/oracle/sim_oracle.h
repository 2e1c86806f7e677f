/* A slow, obvious simulator, written from docs/simulator.md alone: what sim_oracle.c says. Numbers
 * of rules are those of that page. */
#ifndef TESTS_ORACLE_SIM_ORACLE_H
#define TESTS_ORACLE_SIM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* Rule 16. A weight is counted in blocks. */
typedef struct oracle_entry {
    uint8_t vl;
    uint32_t weight;
} oracle_entry;

typedef struct oracle_tables {
    const oracle_entry *high, *low;
    uint32_t num_high, num_low;
    uint32_t limit; /* in 64 blocks; 255: none */
} oracle_tables;

/* hops[0] is the source adapter (port 1, VL of the first link), then comes each switch with its
 * output port and the VL on the link that it leads to. */
typedef struct oracle_hop {
    uint32_t node, out_port;
    uint8_t vl;
} oracle_hop;

/* Rules 22 to 24. */
typedef enum oracle_incident { ORACLE_DROPPED, ORACLE_CIRCLED, ORACLE_OVERTAKEN } oracle_incident;

/*
 * Tables that change (rules 21 to 24): nobody knows ways beforehand, so they are asked for. What is
 * said for a tick must be what holds in all of it. Packets are numbers in the array.
 */
typedef struct oracle_director {
    void *user;
    /* The way of a packet out of a switch to which it is sent now, and comes by a port: the output
     * port and the VL of *way. False: it has none, and *why comes back with the incident. */
    bool (*look)(void *user, uint32_t packet, uint32_t node, uint32_t in_port, uint64_t now,
                 oracle_hop *way, uint8_t *why);
    /* The message of this packet, its first, can be opened now: *VL is for all of its packets, at
     * the adapter. False: not now, nor any that comes after it there. */
    bool (*open)(void *user, uint32_t packet, uint64_t now, uint8_t *vl);
    void (*incident)(void *user, oracle_incident what, uint32_t packet, uint32_t node, uint64_t now,
                     uint8_t why);
    const uint64_t *wakes; /* ticks at which open may say something else than before */
    uint32_t num_wakes;
} oracle_director;

/* ---- policies (rules 25 to 33) ---- */

/* A run, for hooks. */
typedef struct oracle_stage oracle_stage;

/* Switches by which a packet goes: targets, as its destination is one. */
typedef struct oracle_way {
    uint32_t via[2], vias, mark;
} oracle_way;

typedef struct oracle_head {
    oracle_way way;
    uint32_t number;      /* as packets are injected; of a switch's own as they are sent */
    uint32_t from;        /* a node */
    uint32_t destination; /* a target */
    uint32_t bytes, message, sequence;
    uint64_t injected, waited;
    uint32_t note, segment;
    bool control, last;
} oracle_head;

/* A data packet that waits for a channel. */
typedef struct oracle_waiting {
    uint32_t from, to, bytes; /* nodes */
    uint64_t since;
} oracle_waiting;

/* A packet of S at the end. */
typedef struct oracle_stuck {
    uint32_t in_node, in_port; /* the port that the link into its buffer leaves; port 0: its own */
    uint32_t node, out_port;   /* where it is, and wants to go */
    uint8_t vl, out_vl;        /* the one it came by; its escape VL */
    bool behind;               /* one of S in its queue */
    uint64_t since;            /* its link's start */
    oracle_head head;
} oracle_stuck;

typedef struct oracle_counts {
    uint64_t packets, control_packets, control_bytes, detours, early, early_wait, early_max;
    uint64_t time; /* of the last delivery */
} oracle_counts;

/*
 * Who chooses ways. Targets are numbers of the caller's, who says of each which node it is, and
 * what the tables have: the port, the SL from a node, the VL of an SL between ports (at adapters:
 * from 0 to 1). All of the hooks must be there.
 */
typedef struct oracle_policy {
    void *user;
    uint32_t segments, adaptive;
    uint32_t vls; /* rule 25's L */
    bool by_packet;
    uint64_t patience, first;

    uint32_t (*node)(void *user, uint32_t target);
    uint32_t (*port)(void *user, uint32_t node, uint32_t target);
    uint8_t (*sl)(void *user, uint32_t from, uint32_t target);
    uint8_t (*vl)(void *user, uint32_t node, uint32_t in, uint32_t out, uint8_t sl);

    void (*choose)(void *user, oracle_stage *stage, uint64_t now, uint32_t packet, oracle_way *way);
    /* May change the head's note. */
    void (*depart)(void *user, oracle_stage *stage, uint64_t now, uint32_t node, uint32_t out_port,
                   uint64_t waited, oracle_head *head);
    void (*deliver)(void *user, oracle_stage *stage, uint64_t now, uint32_t node,
                    oracle_head *head);
    void (*timer)(void *user, oracle_stage *stage, uint64_t now, uint64_t *again);

    /* What happens. started: by a link, for which it waited before it was granted. heard: the last
     * packet of a message is delivered. */
    void (*injected)(void *user, const oracle_head *head, uint64_t now);
    void (*granted)(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                    uint32_t vl, uint64_t now, uint64_t waited);
    void (*started)(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                    uint64_t waited);
    void (*heard)(void *user, uint32_t message, uint64_t now);
    void (*stuck)(void *user, const oracle_stuck *stuck);
} oracle_policy;

/* For hooks: rules 29, 31, 33. */
void oracle_send(oracle_stage *stage, uint32_t from, uint32_t destination, uint32_t bytes,
                 uint64_t ready, uint32_t mark, uint32_t note);
void oracle_call(oracle_stage *stage, uint64_t time);
uint64_t oracle_backlog(const oracle_stage *stage, uint32_t node, uint32_t port);
uint32_t oracle_waiting_for(const oracle_stage *stage, uint32_t node, uint32_t port,
                            oracle_waiting *waiting, uint32_t max);

typedef struct oracle_params {
    uint64_t cable, credit, switch_delay; /* ticks */
    uint32_t input, output;               /* blocks */
    uint32_t speedup;                     /* percent */
    uint32_t ways, vls;
    uint32_t mtu, header;   /* bytes; not looked at: packets are given */
    uint64_t inject, drain; /* ticks a byte */
    uint64_t pause, period; /* ticks; pause 0: never */
    uint32_t open;          /* messages of an adapter at a time */
    uint32_t inband;        /* bytes of flow control after each packet; 0: out of band */
    bool voq;
    const oracle_tables *switch_tables, *adapter_tables; /* NULL: VLs take turns there */
    uint64_t limit;                  /* ticks: what would happen at it or later does not */
    const oracle_director *director; /* NULL: tables do not change */
    const oracle_policy *policy;     /* NULL: packets do not choose their way */
    oracle_counts *counts;           /* with a policy: a result */
} oracle_params;

/* Nodes: switches 0 … num_switches - 1, then adapters. Switch s has ports 1 … ports[s], an adapter
 * has port 1. A cable is two links. */
typedef struct oracle_cable {
    uint32_t a, a_port, b, b_port;
    uint64_t tau; /* ticks a byte */
} oracle_cable;

/* The packets of a message stand one behind the other in their array, in its order. Messages may
 * stand there in any order.
 *
 * With a director or a policy num_hops is 1 and hops[0] the adapter. What comes back is a way as
 * long as it was found out, in hops and granted of its own, which the caller frees. */
typedef struct oracle_packet {
    uint64_t ready;                /* of its message */
    uint32_t message;              /* its number */
    uint32_t length;               /* W, bytes */
    uint32_t payload, destination; /* looked at by policies only */
    uint32_t num_hops;             /* the source adapter and all switches on the way */
    oracle_hop *hops;
    /* results */
    uint64_t
        *granted;     /* [num_hops]: [0] injected, then granted at each switch; UINT64_MAX: never */
    uint64_t arrived; /* UINT64_MAX: never */
    bool stuck;       /* of the set S of rule 20 at the end */
    bool dropped;     /* at the switch after hops[num_hops - 1] */
    uint64_t delivered; /* with a policy (rule 32) */
} oracle_packet;

/* COMPLETED: all packets arrived or were dropped. DEADLOCK: they did not, nothing more happens
 * before the limit, and S is not empty then. LIMIT: otherwise. */
typedef enum oracle_end { ORACLE_COMPLETED, ORACLE_DEADLOCK, ORACLE_LIMIT } oracle_end;

oracle_end oracle_run(const oracle_params *params, uint32_t num_switches, const uint32_t *ports,
                      uint32_t num_adapters, const oracle_cable *cables, uint32_t num_cables,
                      oracle_packet *packets, uint32_t num_packets);

/* A network whose times are worked out by hand: buffers are large, all is fast but the cables. */
static inline oracle_params oracle_easy(unsigned vls, uint64_t limit)
{
    return (oracle_params){.cable = 5,
                           .credit = 3,
                           .switch_delay = 10,
                           .input = 1000,
                           .output = 1000,
                           .speedup = 200,
                           .ways = 100,
                           .vls = vls,
                           .inject = 1,
                           .drain = 1,
                           .open = 1000,
                           .limit = limit};
}

#endif
