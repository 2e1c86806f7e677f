/*
 * fabric.h: the fabric: switches, terminals and the channels between them.
 *
 * A fabric is an immutable multigraph. Its nodes are the switches, numbered from 0, followed by the
 * terminals: one for each cabled port of a host adapter. Every cable is two channels, one in each
 * direction. Channels are numbered by (tail node, port), so the channels that leave a node have
 * consecutive numbers in the order of its ports. Parallel cables are different channels; a cable
 * may lead from a switch back to itself (loopback plugs are found in real fabrics).
 *
 * A failure changes nothing but which channels are listed: sv_fabric_mask makes a second fabric
 * over the same numbers in which the failed parts are missing from hops. So tables computed for
 * one can be compared with, or repaired into, tables for the other. Across files, numbers mean
 * nothing; there identity is GUID and port (sv_match_new).
 *
 * The struct is public because algorithms walk it in their innermost loops. It is read-only:
 * fabrics come from sv_builder_finish and sv_fabric_mask and are never changed afterwards.
 */
#ifndef SELVAGE_FABRIC_H
#define SELVAGE_FABRIC_H

#include <selvage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of nodes and channels are different types, so that the compiler keeps them apart. */
typedef struct sv_node {
    uint32_t i;
} sv_node;

typedef struct sv_channel {
    uint32_t i;
} sv_channel;

#define SV_NONE       UINT32_MAX
#define SV_NO_NODE    ((sv_node){SV_NONE})
#define SV_NO_CHANNEL ((sv_channel){SV_NONE})

/* InfiniBand's unicast LIDs are 1 … 49151; 0 stands for "none yet". */
#define SV_LID_MAX 0xbfffu

/* What a terminal is for. Only compute terminals count when jobs are placed or traffic is made. */
typedef enum sv_role { SV_ROLE_COMPUTE, SV_ROLE_IO, SV_ROLE_OTHER } sv_role;

typedef enum sv_adapter_kind {
    SV_ADAPTER_HOST,
    SV_ADAPTER_ROUTER,
    /* Inside a switch box, on a port beyond the cabled ones: SHARP aggregation nodes. */
    SV_ADAPTER_SPECIAL
} sv_adapter_kind;

typedef enum sv_speed {
    SV_SPEED_UNKNOWN,
    SV_SPEED_SDR,
    SV_SPEED_DDR,
    SV_SPEED_QDR,
    SV_SPEED_FDR10,
    SV_SPEED_FDR,
    SV_SPEED_EDR,
    SV_SPEED_HDR,
    SV_SPEED_NDR,
    SV_SPEED_XDR,
    SV_SPEED_COUNT
} sv_speed;

/* What a cable and the ports at its two ends can do. Zero stands for "not known" everywhere. */
typedef struct sv_link {
    uint16_t mtu_bytes;
    uint8_t width;  /* 1, 2, 4, 8 or 12 VLs */
    uint8_t speed;  /* an sv_speed, of one VL */
    uint8_t vls;    /* data virtual lanes: 1, 2, 4, 8 or 15 */
    bool one_sided; /* a file listed the cable at one of its ends only */
} sv_link;

typedef struct sv_switch_info {
    const char *name; /* never NULL */
    uint64_t guid, system_guid;
    uint32_t vendor, device;
    uint16_t ports; /* without the management port 0 */
    uint16_t lid;
    uint8_t lmc;
    bool enhanced_port0;
} sv_switch_info;

typedef struct sv_adapter_info {
    const char *name; /* never NULL */
    uint64_t guid, system_guid;
    uint32_t vendor, device;
    uint16_t ports;
    uint8_t kind; /* an sv_adapter_kind */
} sv_adapter_info;

typedef struct sv_terminal_info {
    uint64_t guid;    /* of the port */
    uint32_t adapter; /* index into sv_fabric.adapters */
    uint16_t port;    /* of the adapter */
    uint16_t lid;
    uint8_t lmc;
    uint8_t role; /* an sv_role */
} sv_terminal_info;

/* A way out of a node. */
typedef struct sv_hop {
    sv_channel channel;
    sv_node to;
} sv_hop;

typedef struct sv_fabric {
    /* How many numbers are in use; failed parts keep theirs. */
    uint32_t num_switches, num_terminals, num_adapters, num_channels;
    /* How many are alive. */
    uint32_t live_switches, live_terminals, live_channels;

    const sv_switch_info *switches;    /* [num_switches] */
    const sv_terminal_info *terminals; /* [num_terminals]: node num_switches + t */
    const sv_adapter_info *adapters;   /* [num_adapters] */

    /* The live hops of node v, by ascending port: hops[first[v]] … hops[first[v + 1] - 1]. */
    const uint32_t *first; /* [nodes + 1] */
    const sv_hop *hops;    /* [live_channels] */

    /* Of every channel, dead ones included. */
    const sv_node *tail, *head;
    const sv_channel *reverse;
    const uint16_t *port; /* at the tail; the one at the head is port[reverse] */
    const uint16_t *link; /* index into links */
    const sv_link *links;
    uint32_t num_links;

    /* One bit each; NULL when nothing failed. */
    const uint64_t *dead_nodes, *dead_channels;

    sv_pool *store; /* who owns all this */
} sv_fabric;

/* ---- walking ---- */

static inline uint32_t sv_num_nodes(const sv_fabric *f)
{
    return f->num_switches + f->num_terminals;
}

static inline bool sv_is_switch(const sv_fabric *f, sv_node v)
{
    return v.i < f->num_switches;
}

static inline bool sv_node_alive(const sv_fabric *f, sv_node v)
{
    return f->dead_nodes == NULL || !((f->dead_nodes[v.i >> 6] >> (v.i & 63)) & 1);
}

static inline bool sv_channel_alive(const sv_fabric *f, sv_channel c)
{
    return f->dead_channels == NULL || !((f->dead_channels[c.i >> 6] >> (c.i & 63)) & 1);
}

static inline const sv_terminal_info *sv_terminal_of(const sv_fabric *f, sv_node v)
{
    return &f->terminals[v.i - f->num_switches];
}

/* Number of live channels that leave a node. */
static inline uint32_t sv_degree(const sv_fabric *f, sv_node v)
{
    return f->first[v.i + 1] - f->first[v.i];
}

static inline const sv_link *sv_link_of(const sv_fabric *f, sv_channel c)
{
    return &f->links[f->link[c.i]];
}

/* True for exactly one of the two channels of a cable: the one that stands for it. */
static inline bool sv_is_cable(const sv_fabric *f, sv_channel c)
{
    return c.i < f->reverse[c.i].i;
}

/* Whether a channel joins two different switches. */
static inline bool sv_joins_switches(const sv_fabric *f, sv_channel c)
{
    return sv_is_switch(f, f->tail[c.i]) && sv_is_switch(f, f->head[c.i]) &&
           f->tail[c.i].i != f->head[c.i].i;
}

/* for each live hop out of node v: SV_FOR_HOPS (f, v, hop) { … hop->to … } */
#define SV_FOR_HOPS(f, v, hop)                                                                     \
    for (const sv_hop *hop = (f)->hops + (f)->first[(v).i],                                        \
                      *hop##_end = (f)->hops + (f)->first[(v).i + 1];                              \
         hop < hop##_end; hop++)

/*
 * The live channel at a port of a node, or SV_NO_CHANNEL. Time: O(log ports).
 */
SV_API sv_channel sv_channel_at(const sv_fabric *f, sv_node v, unsigned port);

/* The switch a terminal hangs on, or SV_NO_NODE (not cabled, or cabled to another terminal). */
SV_API sv_node sv_switch_of(const sv_fabric *f, sv_node terminal);

/* The name of a switch, or of a terminal's adapter. Never NULL. Time: O(1). */
SV_API const char *sv_node_name(const sv_fabric *f, sv_node v);

/* The GUID of a switch, or of a terminal's port. Time: O(1). */
SV_API uint64_t sv_node_guid(const sv_fabric *f, sv_node v);

/* "QDR" and so on; "?" for unknown. Time: O(1). */
SV_API const char *sv_speed_name(sv_speed speed);

/* "compute", "io", "other". Time: O(1). */
SV_API const char *sv_role_name(sv_role role);

/* Payload bits a link carries in a microsecond (Mbit/s), after line coding; 0 if unknown. */
SV_API uint32_t sv_link_mbit(const sv_link *link);

/* ---- making ---- */

typedef struct sv_builder sv_builder;

/* One end of a cable to be: a switch or a terminal by the index its add call gave, and a port. */
typedef struct sv_end {
    bool terminal;
    uint16_t port;
    uint32_t index;
} sv_end;

/*
 * Starts a fabric. Returns NULL when there is no memory. The builder is owned by the caller until
 * sv_builder_finish or sv_builder_free. Time: O(1).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_builder *builder = sv_builder_new(ctx);
 * uint32_t sw = 0, host = 0, port = 0;
 * sv_fabric *fabric = NULL;
 * sv_switch_info about = {.name = "leaf", .guid = 0x100, .ports = 8};
 * sv_adapter_info card = {.name = "host", .guid = 0x200, .ports = 1};
 * sv_builder_add_switch(builder, &about, &sw);
 * sv_builder_add_adapter(builder, &card, &host);
 * sv_terminal_info end = {.guid = 0x201, .adapter = host, .port = 1};
 * sv_builder_add_terminal(builder, &end, &port);
 * sv_link link = {.width = 4, .speed = SV_SPEED_HDR};
 * sv_builder_add_cable(builder, (sv_end){.index = sw, .port = 1},
 *                      (sv_end){.terminal = true, .index = port, .port = 1}, &link);
 * if (sv_builder_finish(builder, &fabric) == SV_OK)
 *     printf("%u switch, %u terminal\n", fabric->num_switches, fabric->num_terminals);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API sv_builder *sv_builder_new(sv_ctx *ctx);
SV_API void sv_builder_free(sv_builder *builder);

/*
 * Add a part; *index (if not NULL) is its index among its kind, counted from 0. Names are copied.
 * A builder that failed stays failed; sv_builder_finish then repeats the first status.
 * Time: O(length of the name), amortised.
 */
SV_API sv_status sv_builder_add_switch(sv_builder *builder, const sv_switch_info *about,
                                       uint32_t *index);
SV_API sv_status sv_builder_add_adapter(sv_builder *builder, const sv_adapter_info *about,
                                        uint32_t *index);
SV_API sv_status sv_builder_add_terminal(sv_builder *builder, const sv_terminal_info *about,
                                         uint32_t *index);
SV_API sv_status sv_builder_add_cable(sv_builder *builder, sv_end a, sv_end b, const sv_link *link);

/*
 * Turns what was added into a fabric, owned by the caller (sv_fabric_free), and frees the builder,
 * however it went. BAD_INPUT when a port is used twice or does not exist. Time and memory: linear.
 */
SV_API SV_MUST_USE sv_status sv_builder_finish(sv_builder *builder, sv_fabric **fabric);

/* Frees a fabric. NULL is fine. One that others were masked from stays until they are freed. */
SV_API void sv_fabric_free(sv_fabric *fabric);

/* ---- failures ---- */

/* A set of nodes and cables of a fabric. */
typedef struct sv_mask {
    uint64_t *nodes, *channels; /* one bit each */
    uint32_t num_nodes, num_channels;
    sv_pool *store;
} sv_mask;

/* An empty mask for a fabric and all that share its numbers; NULL when there is no memory. */
SV_API sv_mask *sv_mask_new(sv_ctx *ctx, const sv_fabric *fabric);
SV_API void sv_mask_free(sv_mask *mask);
SV_API void sv_mask_node(sv_mask *mask, sv_node v);
/* Both directions of the cable that a channel belongs to. */
SV_API void sv_mask_cable(sv_mask *mask, const sv_fabric *fabric, sv_channel c);

/*
 * The fabric without what the mask holds, over the same numbers: a failed node takes its cables
 * with it, and a terminal that lost its cable is dead, too. What was dead in fabric stays so.
 * The result is owned by the caller; fabric may be freed before it. Time: linear in the channels.
 */
SV_API SV_MUST_USE sv_status sv_fabric_mask(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_mask *mask, sv_fabric **result);

/*
 * The same fabric with other roles: roles[t] for terminal t. Same ownership as sv_fabric_mask.
 * Time: linear in the terminals.
 */
SV_API SV_MUST_USE sv_status sv_fabric_with_roles(sv_ctx *ctx, const sv_fabric *fabric,
                                                  const sv_role *roles, sv_fabric **result);

/* ---- checking and finding ---- */

/*
 * Proves every invariant of the struct: SV_OK, or BAD_INPUT and a message that names the first one
 * that does not hold. Tests call it everywhere. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_fabric_check(sv_ctx *ctx, const sv_fabric *fabric);

typedef struct sv_index sv_index;

/* What a name, GUID or LID refers to. Built in linear time; owned by the caller. NULL: no memory.
 */
SV_API sv_index *sv_index_new(sv_ctx *ctx, const sv_fabric *fabric);
SV_API void sv_index_free(sv_index *index);

/*
 * Finds a live node from what a user typed: a name ("leaf3", "host7", "host7/2" for an adapter's
 * second port; of a longer name the part before its first blank is enough), a GUID (0x…) of a
 * switch, a port, or an adapter with one live port, or "lid N". BAD_INPUT when nothing or more than
 * one node answers to it. Time: O(length).
 */
SV_API SV_MUST_USE sv_status sv_index_find(sv_ctx *ctx, const sv_index *index, const char *text,
                                           sv_node *node);

/* The same among switches only: a host of that name does not matter. */
SV_API SV_MUST_USE sv_status sv_index_find_switch(sv_ctx *ctx, const sv_index *index,
                                                  const char *text, sv_node *node);

/* Finds a live adapter by its name, its GUID, or the name, GUID or LID of one of its ports. */
SV_API SV_MUST_USE sv_status sv_index_find_adapter(sv_ctx *ctx, const sv_index *index,
                                                   const char *text, uint32_t *adapter);

/*
 * Finds the live channel that leaves a port of a switch or adapter, which is named as above.
 * BAD_INPUT when there is no such node, or no cable in that port.
 */
SV_API SV_MUST_USE sv_status sv_index_find_port(sv_ctx *ctx, const sv_index *index,
                                                const char *text, unsigned port,
                                                sv_channel *channel);

/* The live terminals of an adapter: how many, and *nodes, an array of them. Time: O(1). */
SV_API uint32_t sv_index_terminals(const sv_index *index, uint32_t adapter, const sv_node **nodes);

/* ---- comparing ---- */

typedef enum sv_change_kind {
    SV_CHANGE_ADDED,
    SV_CHANGE_LOST,
    SV_CHANGE_MOVED,  /* a cable that now ends elsewhere */
    SV_CHANGE_LINK,   /* a cable with another width or speed, or a port with another GUID */
    SV_CHANGE_RENAMED /* the same GUID under another name */
} sv_change_kind;

typedef enum sv_change_what {
    SV_WHAT_SWITCH,
    SV_WHAT_ADAPTER,
    SV_WHAT_CABLE,
    SV_WHAT_PORT /* of an adapter: another GUID, where nodes are matched by GUID */
} sv_change_what;

/*
 * One difference. For switches, adapters and ports (as terminals) a and b are indices in the old
 * and the new fabric (or SV_NONE); for cables they are channels. A moved cable's old_channel and
 * new_channel leave the end that stayed.
 */
typedef struct sv_change {
    uint8_t kind, what;
    uint32_t a, b;
} sv_change;

typedef enum sv_match_by { SV_MATCH_GUID, SV_MATCH_NAME } sv_match_by;

/* Which part of one fabric is which part of another. */
typedef struct sv_match {
    uint32_t *switches, *adapters, *terminals, *channels; /* old index to new, or SV_NONE */
    sv_pool *store;
} sv_match;

/*
 * Matches the live parts of two fabrics by node GUID (or name) and port. Nodes whose GUID or name
 * is not unique are told apart by where they are cabled, as far as that goes; the rest is not
 * matched. Owned by the caller. Time: linear, expected.
 */
SV_API SV_MUST_USE sv_status sv_match_new(sv_ctx *ctx, const sv_fabric *old_fabric,
                                          const sv_fabric *new_fabric, sv_match_by by,
                                          sv_match **match);
SV_API void sv_match_free(sv_match *match);

typedef struct sv_diff {
    sv_change *changes;
    size_t length;
    sv_pool *store;
} sv_diff;

/*
 * What is different between two fabrics, planned and found say: cables, switches and adapters
 * added, lost, moved, changed in speed. A switch or adapter that is new or gone takes its cables
 * with it; they are not listed again. Owned by the caller. Time: linear, expected.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *plan = NULL, *found = NULL;
 * sv_diff *diff = NULL;
 * if (sv_topology_generate(ctx, "mesh:3x3", &plan) == SV_OK &&
 *     sv_topology_generate(ctx, "torus:3x3", &found) == SV_OK &&
 *     sv_fabric_diff(ctx, plan, found, SV_MATCH_GUID, &diff) == SV_OK)
 *     printf("%zu differences\n", diff->length);
 * sv_diff_free(diff);
 * sv_fabric_free(found);
 * sv_fabric_free(plan);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_fabric_diff(sv_ctx *ctx, const sv_fabric *old_fabric,
                                            const sv_fabric *new_fabric, sv_match_by by,
                                            sv_diff **diff);
SV_API void sv_diff_free(sv_diff *diff);

/* ---- what looks wrong ---- */

typedef enum sv_oddity_kind {
    SV_ODD_ISOLATED_SWITCH,
    SV_ODD_ISOLATED_ADAPTER,
    SV_ODD_ONE_SIDED,       /* a file listed a cable at one end only */
    SV_ODD_MIXED_SPEEDS,    /* cables between switches are not all alike */
    SV_ODD_MIXED_TERMINALS, /* cables to terminals are not all alike */
    SV_ODD_DUPLICATE_NAME,
    SV_ODD_DUPLICATE_GUID,
    SV_ODD_DUPLICATE_LID,
    SV_ODD_LOOPBACK,     /* a cable from a switch to itself */
    SV_ODD_BACK_TO_BACK, /* two terminals cabled to each other */
    SV_ODD_NO_GUID,
    SV_ODD_COUNT
} sv_oddity_kind;

/* How often each oddity was found, and one example of each as text. */
typedef struct sv_oddities {
    uint32_t count[SV_ODD_COUNT];
    char example[SV_ODD_COUNT][400];
} sv_oddities;

/* Looks for what a careful administrator would ask about. Time: linear, expected. */
SV_API SV_MUST_USE sv_status sv_fabric_oddities(sv_ctx *ctx, const sv_fabric *fabric,
                                                sv_oddities *oddities);

/* What an oddity means, in a few words. Time: O(1). */
SV_API const char *sv_oddity_name(sv_oddity_kind kind);

#ifdef __cplusplus
}
#endif
#endif
