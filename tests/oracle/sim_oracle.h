/* A slow, obvious simulator, written from docs/simulator.md alone: what sim_oracle.c says. Numbers
 * of rules are those of that page. */
#ifndef TESTS_ORACLE_SIM_ORACLE_H
#define TESTS_ORACLE_SIM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* Rule 16. A weight is counted in blocks. */
typedef struct oracle_entry {
    uint8_t lane;
    uint32_t weight;
} oracle_entry;

typedef struct oracle_tables {
    const oracle_entry *high, *low;
    uint32_t num_high, num_low;
    uint32_t limit; /* in 64 blocks; 255: none */
} oracle_tables;

/* hops[0] is the source adapter (port 1, lane of the first link), then comes each switch with its
 * output port and the lane on the link that it leads to. */
typedef struct oracle_hop {
    uint32_t node, out_port;
    uint8_t lane;
} oracle_hop;

/* Rules 22 to 24. */
typedef enum oracle_mishap { ORACLE_DROPPED, ORACLE_CIRCLED, ORACLE_OVERTAKEN } oracle_mishap;

/*
 * Tables that change (rules 21 to 24): nobody knows ways beforehand, so they are asked for. What is
 * said for a tick must be what holds in all of it. Packets are numbers in the array.
 */
typedef struct oracle_director {
    void *user;
    /* The way of a packet out of a switch to which it is sent now, and comes by a port: the output
     * port and the lane of *way. False: it has none, and *why comes back with the mishap. */
    bool (*look)(void *user, uint32_t packet, uint32_t node, uint32_t in_port, uint64_t now,
                 oracle_hop *way, uint8_t *why);
    /* The message of this packet, its first, can be opened now: *lane is for all of its packets, at
     * the adapter. False: not now, nor any that comes after it there. */
    bool (*open)(void *user, uint32_t packet, uint64_t now, uint8_t *lane);
    void (*mishap)(void *user, oracle_mishap what, uint32_t packet, uint32_t node, uint64_t now,
                   uint8_t why);
    const uint64_t *wakes; /* ticks at which open may say something else than before */
    uint32_t num_wakes;
} oracle_director;

typedef struct oracle_params {
    uint64_t cable, credit, switch_delay; /* ticks */
    uint32_t input, output;               /* blocks */
    uint32_t speedup;                     /* percent */
    uint32_t ways, lanes;
    uint32_t mtu, header;   /* bytes; not looked at: packets are given */
    uint64_t inject, drain; /* ticks a byte */
    uint64_t pause, period; /* ticks; pause 0: never */
    uint32_t open;          /* messages of an adapter at a time */
    uint32_t inband;        /* bytes of flow control after each packet; 0: out of band */
    bool voq;
    const oracle_tables *switch_tables, *adapter_tables; /* NULL: lanes take turns there */
    uint64_t limit;                  /* ticks: what would happen at it or later does not */
    const oracle_director *director; /* NULL: tables do not change */
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
 * With a director num_hops is 1 and hops[0] the adapter. What comes back is a way as long as it was
 * found out, in hops and granted of its own, which the caller frees. */
typedef struct oracle_packet {
    uint64_t ready;    /* of its message */
    uint32_t message;  /* its number */
    uint32_t length;   /* W, bytes */
    uint32_t num_hops; /* the source adapter and all switches on the way */
    oracle_hop *hops;
    /* results */
    uint64_t
        *granted;     /* [num_hops]: [0] injected, then granted at each switch; UINT64_MAX: never */
    uint64_t arrived; /* UINT64_MAX: never */
    bool stuck;       /* of the set S of rule 20 at the end */
    bool dropped;     /* at the switch after hops[num_hops - 1] */
} oracle_packet;

/* COMPLETED: all packets arrived or were dropped. DEADLOCK: they did not, nothing more happens
 * before the limit, and S is not empty then. LIMIT: otherwise. */
typedef enum oracle_end { ORACLE_COMPLETED, ORACLE_DEADLOCK, ORACLE_LIMIT } oracle_end;

oracle_end oracle_run(const oracle_params *params, uint32_t num_switches, const uint32_t *ports,
                      uint32_t num_adapters, const oracle_cable *cables, uint32_t num_cables,
                      oracle_packet *packets, uint32_t num_packets);

#endif
