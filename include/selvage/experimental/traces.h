/*
 * traces.h: what a parallel program says to whom, and what it waits for: logical traces of MPI
 * programs. Clocks are in them only as time that a rank computes between two calls, so a program
 * ends earlier on a faster network.
 *
 * A trace has ranks; a rank has events, one after the other. What an MPI call does is one event or
 * a few; which call it was stays known (sv_mpi_call). Collectives are kept as such; they become
 * messages when a trace is replayed (docs/traces.md has the schedules).
 */
#ifndef SELVAGE_TRACES_H
#define SELVAGE_TRACES_H

#include <selvage/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SV_MPI_ANY UINT32_MAX /* a peer, or a tag, of a receive that takes any */
/* The tag of messages that collectives of different sizes become (MPI_Alltoallv …): no program's.
 */
#define SV_MPI_COLLECTIVE_TAG UINT32_C(0x80000000)

typedef enum sv_mpi_kind {
    SV_MPI_COMPUTE, /* for ns */
    SV_MPI_SEND,    /* bytes to peer: goes on once it is handed over (eager), or was asked for */
    SV_MPI_ISEND,   /* the same, which request ends with */
    SV_MPI_RECV,    /* from peer or any: goes on when it is there */
    SV_MPI_IRECV,
    SV_MPI_WAIT, /* until one request is done */
    SV_MPI_COLLECTIVE,
    SV_MPI_ICOLLECTIVE, /* begins one, which request ends with */
    SV_MPI_KINDS
} sv_mpi_kind;

/* Which MPI call an event is from; of the call's events the first has it, others SV_CALL_NONE. */
typedef enum sv_mpi_call {
    SV_CALL_NONE, /* no call of its own: computing, or the rest of a call */
    SV_CALL_SEND,
    SV_CALL_SSEND,
    SV_CALL_ISEND,
    SV_CALL_RECV,
    SV_CALL_IRECV,
    SV_CALL_SENDRECV,
    SV_CALL_WAIT,
    SV_CALL_WAITALL,
    SV_CALL_WAITANY,
    SV_CALL_TEST, /* one that said yes */
    SV_CALL_BARRIER,
    SV_CALL_BCAST,
    SV_CALL_REDUCE,
    SV_CALL_ALLREDUCE,
    SV_CALL_GATHER,
    SV_CALL_ALLGATHER,
    SV_CALL_SCATTER,
    SV_CALL_ALLTOALL,
    SV_CALL_REDUCE_SCATTER,
    SV_CALL_SCAN,
    SV_CALL_COUNT
} sv_mpi_call;

/* "MPI_Send" …; NULL beyond the last. */
SV_API const char *sv_mpi_call_name(unsigned call);
/* "MPI_Ibarrier" … of a collective that is begun; NULL of others. */
SV_API const char *sv_mpi_begun_name(unsigned call);

typedef struct sv_mpi_event {
    uint64_t amount;    /* bytes; of COMPUTE nanoseconds */
    uint32_t peer;      /* world rank; of collectives with a root, that */
    uint32_t tag;       /* of messages; of COLLECTIVE the call's number is enough: 0 */
    uint32_t request;   /* of ISEND, IRECV, ICOLLECTIVE, WAIT: a number below that of the rank's
                         events, free again after WAIT */
    uint16_t group;     /* of messages and collectives: which group of ranks (communicator) */
    uint8_t kind, call; /* sv_mpi_kind, sv_mpi_call; of (I)COLLECTIVE call tells which */
} sv_mpi_event;

/* A communicator: world ranks in the order of its own. Group 0 is all ranks. */
typedef struct sv_mpi_group {
    uint32_t *ranks;
    uint32_t size;
    uint32_t ordinal; /* of communicators with these very ranks: 0 is the first */
} sv_mpi_group;

typedef struct sv_mpi_rank {
    sv_mpi_event *events;
    uint64_t length, room;
    uint32_t *lines; /* of the text that events were read from (GOAL), for messages; or NULL */
    uint64_t lines_room;
} sv_mpi_rank;

typedef struct sv_mpi_trace {
    char *name; /* of the program, or where it is from; never NULL */
    sv_mpi_rank *ranks;
    uint32_t num_ranks;
    sv_mpi_group *groups;
    uint32_t num_groups;
    sv_ctx *ctx; /* whose memory this is */
} sv_mpi_trace;

/* ---- making, reading, writing ---- */

/* An empty trace of so many ranks, with group 0. *trace: owned by the caller. */
SV_API SV_MUST_USE sv_status sv_mpi_new(sv_ctx *ctx, const char *name, uint32_t ranks,
                                        sv_mpi_trace **trace);
SV_API void sv_mpi_free(sv_mpi_trace *trace);
/* Adds an event at the end of a rank. Time: O(1). */
SV_API SV_MUST_USE sv_status sv_mpi_add(sv_mpi_trace *trace, uint32_t rank,
                                        const sv_mpi_event *event);
/* The number of a group of world ranks with an ordinal, which is added if there is none like it. */
SV_API SV_MUST_USE sv_status sv_mpi_add_group(sv_mpi_trace *trace, const uint32_t *ranks,
                                              uint32_t size, uint32_t ordinal, uint16_t *group);

/*
 * Proves that a trace is one: peers, groups and requests in range, a WAIT for every request and
 * none twice, the same collectives, begun or not, in the same order for all ranks of a group, and
 * every receive has a message (matched as MPI does: by sender, tag and group, in order). BAD_INPUT
 * names rank and event of the first that does not hold. Time: linear, but for receives from
 * anybody.
 */
SV_API SV_MUST_USE sv_status sv_mpi_check(sv_ctx *ctx, const sv_mpi_trace *trace);

/*
 * Reads a trace: a .svt file, a folder of them (one a rank, as the recorder writes), a GOAL
 * schedule, an OTF2 archive (its .otf2 file). Which it is is told by what is in it. BAD_INPUT with
 * file and place; UNSUPPORTED: OTF2 where selvage was built without its library.
 */
SV_API SV_MUST_USE sv_status sv_mpi_load(sv_ctx *ctx, const char *path, sv_mpi_trace **trace);
/* Reads or writes one .svt file (docs/formats.md). */
SV_API SV_MUST_USE sv_status sv_mpi_read(sv_ctx *ctx, const sv_source *source,
                                         sv_mpi_trace **trace);
SV_API SV_MUST_USE sv_status sv_mpi_write(sv_ctx *ctx, const sv_mpi_trace *trace,
                                          const sv_sink *sink);
/* Reads and writes GOAL text: collectives as their messages (send, recv, calc, requires). */
SV_API SV_MUST_USE sv_status sv_mpi_read_goal(sv_ctx *ctx, const sv_source *source,
                                              sv_mpi_trace **trace);
SV_API SV_MUST_USE sv_status sv_mpi_write_goal(sv_ctx *ctx, const sv_mpi_trace *trace,
                                               const sv_sink *sink);

/* ---- skeletons ---- */

typedef struct sv_mpi_skeleton {
    const char *name, *summary, *source;
    const char *keys; /* "ranks=64, steps=50, class=S|A|B …": what there is, and defaults */
} sv_mpi_skeleton;

/* The programs whose communication can be written without running them; NULL beyond the last. */
SV_API const sv_mpi_skeleton *sv_mpi_skeleton_at(size_t i);
/* "lu:class=A,ranks=64": writes it. BAD_INPUT: no such skeleton, key or value. */
SV_API SV_MUST_USE sv_status sv_mpi_skeleton_make(sv_ctx *ctx, const char *spec,
                                                  sv_mpi_trace **trace);

/* ---- what is in it ---- */

/* A phase: a stretch of events that comes again (thesis 2.2.5; docs/traces.md has the rule). */
typedef struct sv_mpi_phase {
    uint64_t weight;   /* how often it comes: its first step does */
    uint64_t messages; /* of one time (the first of each of its steps), collectives as theirs */
    uint64_t bytes;
    uint64_t first; /* which step its first step is for the first time, from 0 on */
    bool relevant;
    bool collective; /* nothing else is in it */
} sv_mpi_phase;

typedef struct sv_mpi_summary {
    uint32_t ranks;
    uint64_t events, messages, bytes; /* collectives as their messages */
    uint64_t compute_ns;              /* sum over ranks */
    uint64_t calls[SV_CALL_COUNT];    /* MPI calls, all ranks */
    uint64_t begun[SV_CALL_COUNT];    /* of collectives: those that begin one, not in calls */
    uint64_t sizes[65];               /* messages of 0 bytes; of 2^(i-1) … 2^i - 1 */
    /* Bytes and messages from rank to rank, [from × ranks + to]: point to point (without those of
     * SV_MPI_COLLECTIVE_TAG), and all. */
    uint64_t *point_bytes, *all_bytes, *all_messages;
    /* Topological degree of communication: other ranks that a rank sends to, point to point. */
    uint32_t *degree; /* [ranks] */
    double degree_mean;
    uint32_t degree_max;
    sv_mpi_phase *phases;
    uint32_t num_phases, relevant_phases;
    uint64_t relevant_weight; /* sum of the weights of relevant ones */
    sv_ctx *ctx;
} sv_mpi_summary;

/*
 * Everything above. BAD_INPUT: as sv_mpi_check. Time: linear in events, and the matrix (ranks²),
 * and the messages of each different collective.
 */
SV_API SV_MUST_USE sv_status sv_mpi_summarise(sv_ctx *ctx, const sv_mpi_trace *trace,
                                              sv_mpi_summary **summary);
SV_API void sv_mpi_summary_free(sv_mpi_summary *summary);

/* The messages of one time of a phase (the first time of each of its steps), by pairs of ranks. */
typedef struct sv_mpi_flow {
    uint32_t from, to; /* ranks */
    uint64_t messages, bytes;
    uint64_t steps; /* of the phase in which it is: bit i of steps i, i + 64 … */
} sv_mpi_flow;
/* *flows: in no particular order; to be released by the caller (sv_release of base/ctx.h; free
 * through the context). BAD_INPUT: no such phase. Time: as sv_mpi_summarise without the matrix. */
SV_API SV_MUST_USE sv_status sv_mpi_phase_flows(sv_ctx *ctx, const sv_mpi_trace *trace,
                                                const sv_mpi_summary *summary, uint32_t phase,
                                                sv_mpi_flow **flows, uint32_t *count);

/* ---- replaying ---- */

typedef struct sv_mpi_replay sv_mpi_replay;

typedef struct sv_mpi_replay_request {
    const sv_sim_model *model;
    /* Terminals by rank; NULL: live compute terminals as traffic.h has them, the first num_ranks */
    const sv_node *map;
    uint32_t num_map;
    bool random; /* with map NULL: drawn from all of those, by seed */
    uint64_t seed;
    uint32_t eager_bytes; /* larger ones ask first (rendezvous); 0: none does */
    double compute;       /* time of computing is multiplied by this; 0: as 1 */
    uint32_t repeat;      /* the whole trace so often; 0: once */
    bool checked;         /* sv_mpi_check said yes: it is not asked again */
} sv_mpi_replay_request;

/*
 * Where ranks are when nobody says so: live compute terminals as traffic.h has them, the first so
 * many; random: drawn from all of those by seed. map: [ranks]. INFEASIBLE: there are not so many.
 */
SV_API SV_MUST_USE sv_status sv_mpi_place(sv_ctx *ctx, const sv_fabric *fabric, uint32_t ranks,
                                          bool random, uint64_t seed, sv_node *map);

/*
 * A source of messages for sv_simulate. Several ranks may be on one terminal (their messages to
 * each other take no time). Keeps the trace, nothing else. INFEASIBLE: more ranks than terminals
 * and no map. *replay: owned by the caller, good for one run. Time: O(1) an event.
 */
SV_API SV_MUST_USE sv_status sv_mpi_replay_new(sv_ctx *ctx, const sv_fabric *fabric,
                                               const sv_routes *routes, const sv_mpi_trace *trace,
                                               const sv_mpi_replay_request *request,
                                               sv_mpi_replay **replay);
SV_API void sv_mpi_replay_free(sv_mpi_replay *replay);
SV_API const sv_sim_source *sv_mpi_replay_source(const sv_mpi_replay *replay);

typedef struct sv_mpi_replay_result {
    sv_status status;    /* NO_MEMORY: it ran out, and sent nothing more; else OK */
    bool done;           /* all ranks came to their end */
    uint64_t time;       /* ticks, when the last did */
    uint64_t waiting;    /* ticks that ranks waited for others, sum */
    uint32_t blocked;    /* a rank that did not end, or SV_NONE */
    uint64_t blocked_at; /* its event */
} sv_mpi_replay_result;

/* After the run. */
SV_API sv_mpi_replay_result sv_mpi_replay_end(const sv_mpi_replay *replay);

#ifdef __cplusplus
}
#endif
#endif
