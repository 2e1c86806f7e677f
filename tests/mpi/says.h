/*
 * says.h: programs for tests/live/test_record.py. Each does a few MPI calls and says, by itself, in
 * a file of its own a rank, which events a trace of them must have: by the rules of
 * docs/decisions/0029-traces.md, not by looking at the recorder.
 *
 *     send CALL to PEER tag TAG bytes B in GROUP
 *     isend CALL to PEER tag TAG bytes B in GROUP request R       recv, irecv: from
 *     wait CALL request R
 *     collective CALL root RANK bytes B in GROUP
 *     icollective CALL root RANK bytes B in GROUP request R
 *
 * CALL is MPI's name or -; GROUP is world or ORDINAL:RANK,RANK,…
 */
#ifndef SELVAGE_MPI_SAYS_H
#define SELVAGE_MPI_SAYS_H

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <stdbool.h>

extern int rank, size;

/* A line of what a trace must have; nothing when nobody asks for it (SAYS_DIR). */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The tag of messages that collectives of different sizes become. */
#define COLLECTIVE_TAG 2147483648u

static inline int right(void)
{
    return (rank + 1) % size;
}

static inline int left(void)
{
    return (rank + size - 1) % size;
}

/* One a test. */
void do_ring(void);
void do_modes(void);
void do_sendrecv(void);
void do_begin(void);
void do_any(void);
void do_some(void);
void do_test(void);
void do_many(void);
void do_persistent(void);
void do_wildcard(void);
void do_long(void);
void do_never(void);
void do_take(void);
void do_cancel(void);
void do_forget(void);
void do_leave(void);
void do_comms(void);
void do_again(void);
void do_duplicates(void);
void do_inter(void);
void do_all(void);
void do_vary(void);
void do_later(void);
void do_overlap(void);
void do_vary_later(void);
void do_near(void);
void do_errors(void);

#endif
