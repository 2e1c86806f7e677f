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
    uint64_t limit; /* ticks: what would happen at it or later does not */
} oracle_params;

/* Nodes: switches 0 … num_switches - 1, then adapters. Switch s has ports 1 … ports[s], an adapter
 * has port 1. A cable is two links. */
typedef struct oracle_cable {
    uint32_t a, a_port, b, b_port;
    uint64_t tau; /* ticks a byte */
} oracle_cable;

/* hops[0] is the source adapter (port 1, lane of the first link), then comes each switch with its
 * output port and the lane on the link that it leads to. */
typedef struct oracle_hop {
    uint32_t node, out_port;
    uint8_t lane;
} oracle_hop;

/* The packets of a message stand one behind the other in their array, in its order. Messages may
 * stand there in any order. */
typedef struct oracle_packet {
    uint64_t ready;    /* of its message */
    uint32_t message;  /* its number */
    uint32_t length;   /* W, bytes */
    uint32_t num_hops; /* the source adapter and all switches on the way */
    const oracle_hop *hops;
    /* results */
    uint64_t
        *granted;     /* [num_hops]: [0] injected, then granted at each switch; UINT64_MAX: never */
    uint64_t arrived; /* UINT64_MAX: never */
    bool stuck;       /* of the set S of rule 20 at the end */
} oracle_packet;

/* COMPLETED: all packets arrived. DEADLOCK: they did not, nothing more happens before the limit,
 * and S is not empty then. LIMIT: otherwise. */
typedef enum oracle_end { ORACLE_COMPLETED, ORACLE_DEADLOCK, ORACLE_LIMIT } oracle_end;

oracle_end oracle_run(const oracle_params *params, uint32_t num_switches, const uint32_t *ports,
                      uint32_t num_adapters, const oracle_cable *cables, uint32_t num_cables,
                      oracle_packet *packets, uint32_t num_packets);

#endif
