/*
 * record.h: what the files of the recorder share. See record.c for the idea.
 *
 *     calls_*.c   a wrapper for each MPI call; the real one first, then what it did is noted
 *     record.c    whether to record, computing time, the beginning and the end
 *     events.c    events in order, some of them held until it is known what they are
 *     requests.c  which MPI_Request is which event
 *     groups.c    communicators as groups of world ranks
 *     messages.c  collectives of different sizes as messages
 *     writer.c    the file
 */
#ifndef SELVAGE_PMPI_RECORD_H
#define SELVAGE_PMPI_RECORD_H

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <selvage/experimental/traces.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- wrapping ---- */

typedef void (*rec_function)(void);

/* The function of this name behind this library; kept in *slot. Ends the program if there is none,
 * which would be another MPI library than this one was built with. */
rec_function rec_real(rec_function *slot, const char *name);

/*
 * WRAP(Send) stands before the definition of PMPI_Send, which is called for MPI_Send, too: Open
 * MPI's Fortran calls PMPI_ directly. REAL(Send)(…) is the library's own.
 */
#define WRAP(name)                                                                                 \
    static rec_function real_##name;                                                               \
    extern __typeof__(PMPI_##name) MPI_##name                                                      \
        __attribute__((alias("PMPI_" #name), visibility("default")))
#define REAL(name) ((__typeof__(&PMPI_##name))rec_real(&real_##name, "PMPI_" #name))

/*
 * A call begins: true if it is to be noted. False inside of another (MPI libraries call
 * themselves), outside of MPI_Init and MPI_Finalize, and once something went wrong. Takes the
 * computing before.
 */
bool rec_enter(void);
/* It ends; the rank computes again. */
void rec_leave(void);
/* Which call the next event is from. */
void rec_call(unsigned call);

/* That one, which no other event gets. */
unsigned rec_take_call(void);

/* Something went wrong: one line on standard error, nothing more is recorded. */
void rec_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Said once for each what. */
void rec_cannot(const char *what);
/* Memory for good or until free; NULL after rec_give_up. */
void *rec_alloc(size_t size);

uint64_t rec_bytes(MPI_Aint count, MPI_Datatype type);
int rec_world_rank(void);
uint32_t rec_world_size(void);

/* ---- the file (writer.c) ---- */

bool rec_file_begin(const char *folder, const char *program, uint32_t rank, uint32_t ranks);
bool rec_file_group(const uint32_t *ranks, uint32_t size, uint32_t ordinal);
bool rec_file_event(const sv_mpi_event *event);
/* what: NULL, or how it ended instead of by MPI_Finalize. */
bool rec_file_end(const char *what);
/* Why the last of them was false. */
const char *rec_file_error(void);

/* ---- events (events.c) ---- */

/* Adds an event behind all others, and its computing before it. Returns its place. */
uint64_t rec_event(const sv_mpi_event *event);
/* The same for a receive, which is held until rec_settle or rec_drop. */
uint64_t rec_hold(const sv_mpi_event *event);
/* The held event at a place is this one; or it did not happen. */
void rec_settle(uint64_t place, const sv_mpi_event *event);
void rec_drop(uint64_t place);
/* Computing until now. */
void rec_compute(uint64_t ns);
/* Everything that is held is let go, as it is; computing is written. */
void rec_events_end(void);

/* The lowest number that is free, for a request; and free again. */
uint32_t rec_number(void);
void rec_number_free(uint32_t number);

/* ---- communicators (groups.c) ---- */

/* Kept for good: freed communicators may still have requests. */
typedef struct rec_group {
    struct rec_group *next;
    uint32_t *ranks; /* world ranks */
    uint32_t size, ordinal;
    uint32_t number; /* in the file; UINT32_MAX before it is used */
    bool used;       /* a communicator has it */
} rec_group;

typedef struct rec_comm {
    rec_group *group; /* of an intercommunicator both sides, that of the lowest rank first */
    rec_group *peers; /* whom ranks of messages mean */
    int me;           /* own rank; of an intercommunicator on its side */
    bool inter;
} rec_comm;

bool rec_groups_begin(void);
/* A communicator, made known when it was not; NULL: something went wrong, or it is none. */
const rec_comm *rec_comm_of(MPI_Comm comm);
/* One that begins to be made, with the ranks of another; and is made. All its ranks count it where
 * it begins: they may wait for it in any order. */
rec_comm *rec_comm_begin(MPI_Comm like);
void rec_comm_made(rec_comm *known, MPI_Comm made);
/* The number of its group in the file. */
uint16_t rec_group_number(rec_group *group);
/* The world rank of a peer. false: it is nobody (MPI_PROC_NULL). */
bool rec_peer(const rec_comm *comm, int rank, uint32_t *peer);

/* ---- requests (requests.c) ---- */

typedef enum rec_kind {
    REC_NOTHING, /* MPI_PROC_NULL, or what cannot be recorded */
    REC_SEND,    /* or all else that is only waited for: its event was there */
    REC_RECV,
    REC_MESSAGES, /* several, of a collective */
    REC_COMM      /* a communicator that is being made */
} rec_kind;

enum { REC_BY_HANDLE, REC_BY_BOTH };

typedef struct rec_request {
    struct {
        struct rec_request *before, *after;
    } link[2]; /* in the queues of requests.c */
    MPI_Request handle;
    const void *address; /* where the program keeps it: Open MPI has one handle for many */
    rec_kind kind;
    bool persistent, active, is_open; /* is_open: the event has not been waited for */
    sv_mpi_event event;               /* as it was begun */
    const rec_group *peers;           /* of a receive from anybody */
    uint64_t place;                   /* of a receive */
    uint32_t *numbers;                /* of REC_MESSAGES */
    uint32_t num_numbers;
    rec_comm *comm; /* of REC_COMM, which will be there */
    const MPI_Comm *made;
} rec_request;

/* What a call returned in *address. NULL: something went wrong. */
rec_request *rec_request_new(const MPI_Request *address);
/* handle as it was before the call that ended it. NULL: not one of ours (inactive, or none). */
rec_request *rec_request_of(MPI_Request handle, const void *address);
/* It is done: its events happen. */
void rec_request_done(rec_request *request, MPI_Status *status);
/* The program forgets it. */
void rec_request_forget(rec_request *request);
/* At the end: whatever is open is waited for, receives that got nothing did not happen. */
void rec_requests_end(void);
/* A buffered send has nothing to wait for: until the end. */
void rec_request_orphan(uint32_t number);

/* ---- what calls have in common (messages.c) ---- */

/* An event of a message; call is the one of rec_call. */
sv_mpi_event rec_message(unsigned kind, const rec_comm *comm, uint32_t peer, int tag,
                         uint64_t bytes);
void rec_wait(uint32_t number);
/* A blocking collective of one size; root is a rank of the communicator or below 0. */
void rec_collective(unsigned call, const rec_comm *comm, int root, uint64_t bytes);
/* One that was begun; ends with *address. */
void rec_begin_collective(unsigned call, const rec_comm *comm, int root, uint64_t bytes,
                          const MPI_Request *address);

/* What goes from rank to rank of a communicator in a collective, as one rank knows it. */
typedef struct rec_exchange {
    const uint64_t *out, *in; /* to and from each; NULL: nothing */
    const MPI_Request *begun; /* not NULL: it ends with this request */
    unsigned call;
} rec_exchange;
void rec_exchange_all(const rec_comm *comm, const rec_exchange *exchange);

/* Messages to some ranks of a communicator, and from some, all under way at once. */
typedef struct rec_some {
    const int *ranks;
    uint64_t *sizes;
    uint32_t count;
} rec_some;
void rec_exchange_some(const rec_comm *comm, const rec_some *out, const rec_some *in, unsigned call,
                       const MPI_Request *begun);
/* Around the ring, sizes of all known to all. */
void rec_ring(const rec_comm *comm, const uint64_t *sizes, unsigned call);

#endif
