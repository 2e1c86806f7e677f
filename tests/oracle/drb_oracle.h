/*
 * drb_oracle.h: distributed routing balancing once more, slowly: what sources, switches and
 * destinations do by points 1 to 17 of docs/decisions/0028-policies.md, written from that page and
 * not from src/adapt.
 *
 * drb_oracle.c is what a source decides; drb_network.c follows packets through the simulator (who
 * waits where, what packets and acknowledgements carry, when watchdogs run out). Everything is in
 * arrays that are gone through from the beginning.
 */
#ifndef SELVAGE_DRB_ORACLE_H
#define SELVAGE_DRB_ORACLE_H

#include "adapt/balance.h"

enum {
    DRB_MAX_FLOWS = 64,
    DRB_MAX_PATHS = 40,
    DRB_MAX_HOPS = 40,
    DRB_MAX_SOLUTIONS = 100,
    DRB_MAX_SAMPLES = 16,
    DRB_MAX_EVENTS = 4096
};

/* A set of flows, ascending; count 0: none. */
typedef struct drb_flows {
    uint32_t count, router, at[DRB_MAX_FLOWS];
} drb_flows;

/* A way that a pair knows. */
typedef struct drb_path {
    uint32_t vias, via[2]; /* destinations */
    uint32_t hops[DRB_MAX_HOPS], length;
    double empty;
} drb_path;

typedef struct drb_open {
    uint32_t path;
    double waited;
    bool heard;
} drb_open;

typedef struct drb_solution {
    drb_flows flows;
    uint32_t path[DRB_MAX_PATHS], paths;
    double waited[DRB_MAX_PATHS], latency;
    uint64_t applied;
    bool seeded, failed;
} drb_solution;

/* A message that is under way. */
typedef struct drb_sent {
    uint32_t message;
    uint64_t since, span;
    bool acknowledged;
} drb_sent;

typedef struct drb_pair {
    uint32_t from, to, destination;
    drb_path paths[DRB_MAX_PATHS]; /* path 0, candidates in their order, others */
    uint32_t num_paths, candidates;
    drb_open open[DRB_MAX_PATHS]; /* as they were opened */
    uint32_t num_open;
    bool ever; /* had more than one */
    double base;
    uint64_t back; /* what an acknowledgement takes */
    sv__zone zone;
    bool waits; /* for probe */
    uint32_t probe;
    uint32_t trial;    /* acknowledgements that are still waited for */
    uint32_t solution; /* that one */
    uint32_t last;     /* 1 + the one applied last; 0: none was */
    bool held;         /* point 17: nothing is closed … */
    bool still;        /* … or opened: path 0 is all it needs */
    bool asked;        /* this episode has had its look into the store */
    drb_flows newest, episode;
    drb_solution *store;
    uint32_t solutions;
    double sample[DRB_MAX_SAMPLES], when[DRB_MAX_SAMPLES];
    uint32_t samples;
    drb_sent *sent;
    uint32_t num_sent, room_sent;
    uint64_t became;   /* when its first became the oldest */
    drb_flows carried; /* at the destination */
} drb_pair;

/* What must be seen. */
typedef struct drb_event {
    sv__saw_kind kind;
    uint32_t from, to, path;
    uint64_t waited;
    double latency;
    uint32_t flows, out;
    uint64_t hash; /* of flows */
} drb_event;

/* What all of them share. */
typedef struct drb {
    const sv_fabric *f;
    const sv_routes *r;
    sv_sim_model model;
    sv__settings set;
    bool fast, predictive;
    uint64_t byte; /* ticks on a link */
    uint32_t full; /* bytes of a full packet */
    drb_event events[DRB_MAX_EVENTS];
    uint32_t num_events;
    sv_adapt_report report;
    sv_adapt_router routers[64];
} drb;

uint64_t drb_hash(const uint32_t *flows, uint32_t count);
void drb_tell(drb *o, const drb_pair *p, sv__saw_kind kind, uint32_t path, double latency);

/* Ticks of a packet over so many channels when nothing else is there (rules 4, 5, 11, 14, 18). */
uint64_t drb_empty(const drb *o, uint32_t channels, uint32_t bytes);
/* Eq. 3.4, and 3.6 for a number from 0 on and below 1: the place of an open path. */
double drb_latency(const drb_pair *p);
uint32_t drb_choose(const drb_pair *p, double drawn);

/* What sources do. flows: NULL if none came. */
void drb_ack(drb *o, drb_pair *p, uint64_t now, uint32_t path, uint64_t waited,
             const drb_flows *flows);
void drb_notice(drb *o, drb_pair *p, uint64_t now, const drb_flows *flows);
void drb_late(drb *o, drb_pair *p, uint64_t now);
/* Before the first packet of a message. */
void drb_speak(drb *o, drb_pair *p);

#endif
