/*
 * drb_network.h: packets of a run as drb_network.c follows them, and what must be seen of them.
 */
#ifndef SELVAGE_DRB_NETWORK_H
#define SELVAGE_DRB_NETWORK_H

#include "drb_oracle.h"
#include "support/testing.h"

#define DRB_DATA UINT32_C(0x80000000) /* in tags of messages: marks of control packets lack it */

enum { DRB_MAX_PACKETS = 60000, DRB_MAX_PARTS = 8 };

typedef struct drb_message {
    uint32_t from, to, destination, bytes, packets;
    uint32_t path[DRB_MAX_PARTS], mark[DRB_MAX_PARTS], chosen, injected;
} drb_message;

/* What an acknowledgement must say. */
typedef struct drb_answer {
    uint32_t from, destination; /* the pair it is of */
    uint32_t path, mark, message, bytes;
    uint64_t waited, ready;
    bool last, alone; /* of its message; nothing else is under way or waits */
    drb_flows flows;
} drb_answer;

typedef enum drb_kind { DRB_UNKNOWN, DRB_PACKET, DRB_ANSWER, DRB_NOTICE } drb_kind;

typedef struct drb_packet {
    drb_kind kind;
    uint32_t message, part;   /* of data */
    uint32_t answer;          /* of acknowledgements and notices */
    uint32_t from, to, bytes; /* terminals */
    const drb_path *way;      /* of data */
    uint32_t at;              /* hops that are behind it */
    uint64_t start, waited;   /* of its last link; in all */
    bool told, arrived;       /* a switch has told it */
    drb_flows flows;
} drb_packet;

typedef struct drb_net {
    drb o;
    sv_adapt *a;
    sv__balance *b;
    const sv_sim_policy *inner;
    sv_ctx *ctx;
    drb_pair **pairs; /* [terminals × destinations] */
    uint32_t num_pairs;
    drb_message *messages;
    uint32_t num_messages;
    drb_packet *packets;
    uint32_t granted, arrived, max; /* the last, and the largest number */
    uint64_t waited_here;
    drb_answer *answers;
    uint32_t num_answers;
    uint32_t *queue, *first, *last; /* of answers, by terminal: [terminals][DRB_MAX_PACKETS] */
    uint64_t *link_free;            /* [channels] */
    uint64_t *may_look;
    drb_flows *seen;
    drb_event spied[DRB_MAX_EVENTS];
    uint32_t num_spied;
    double drawn, sum_drawn; /* the last; all of those that decided something */
    uint64_t draws;
    sv__spy spy;
    sv_sim_policy outer;
    sv_sim_watch watch;
    uint64_t looks, told, detours;
    uint64_t control_bytes, unsent; /* acknowledgements that still wait at their terminals */
    uint32_t under_way, at_once;
    uint64_t wire_data, wire_turned, wire_acks, wire_told; /* packets that drb_wire.c has read */
} drb_net;

/* Puts itself between a policy and the simulator. */
void drb_net_begin(drb_net *n, sv_ctx *ctx, const sv_fabric *f, const sv_routes *r,
                   const sv_sim_model *model, sv_adapt *a, bool fast, bool predictive);
void drb_net_end(drb_net *n);
/* At the end of a run: all pairs once more. */
void drb_net_finish(drb_net *n);
/* The pair of a terminal and an address of another; made if need be. */
drb_pair *drb_net_pair(drb_net *n, uint32_t from, uint32_t destination);
/* Everything that is known of a pair is the same. */
void drb_net_compare(drb_net *n, drb_pair *p);
/* The number that a pair of the other side's has for us. */
uint32_t drb_net_path(drb_net *n, drb_pair *p, const sv_sim_way *way);

/* drb_compare.c. Who is told what happens; events since the last call are what they must be; what a
 * pair begins with is taken over. */
void drb_saw(void *user, const sv__saw *s);
void drb_compare_events(drb_net *n);
void drb_copy_store(drb_net *n, const sv__drb_pair *other);

/* drb_wire.c. A packet on its way to a node, as bytes, says what it must. */
void drb_wire_check(drb_net *n, const drb_packet *k, const sv_sim_head *head, uint32_t at);

#endif
