/*
 * traces.h: what files of this folder share: limits, the inside of .svt files, roles of ranks in
 * groups.
 */
#ifndef SV_TRACES_TRACES_H
#define SV_TRACES_TRACES_H

#include <selvage/experimental/traces.h>

#include "base/ctx.h"

#define SV__MAX_RANKS  (UINT32_C(1) << 20)
#define SV__MAX_EVENTS (UINT64_C(1) << 27) /* of a rank; of a file that is read, too */

/* Makes room for so many events more of a rank. UNSUPPORTED: too many. */
sv_status sv__mpi_reserve(sv_mpi_trace *trace, uint32_t rank, uint64_t more);

/* Adds an event that stands in a line of a text. */
sv_status sv__mpi_add_line(sv_mpi_trace *trace, uint32_t rank, const sv_mpi_event *event,
                           uint64_t line);

/* Where an event is: "rank 3, event 17", with "file:line: " in front where it is from a text. */
typedef struct sv__mpi_place {
    char text[300];
} sv__mpi_place;
sv__mpi_place sv__mpi_place_of(const sv_mpi_trace *trace, uint32_t rank, uint64_t event);

/* ---- kinds of events ---- */

static inline bool sv__is_collective(const sv_mpi_event *e)
{
    return e->kind == SV_MPI_COLLECTIVE || e->kind == SV_MPI_ICOLLECTIVE;
}

/* Whether it begins what a WAIT ends. */
static inline bool sv__begins(const sv_mpi_event *e)
{
    return e->kind == SV_MPI_ISEND || e->kind == SV_MPI_IRECV || e->kind == SV_MPI_ICOLLECTIVE;
}

/* ---- .svt (docs/formats.md) ---- */

enum {
    SV__SVT_END,       /* of a section */
    SV__SVT_GROUP,     /* ordinal, size, members */
    SV__SVT_EVENT,     /* an event, which gets a number */
    SV__SVT_REPEAT,    /* length, count */
    SV__SVT_AGAIN = 8, /* + the number of an event */
    SV__SVT_SUM = 8    /* bytes of the sum at the end */
};

extern const char sv__svt_magic[5];

/* All bytes of a source, which the caller releases. */
sv_status sv__slurp(sv_ctx *ctx, const sv_source *source, uint8_t **bytes, size_t *length);

/*
 * Adds the sections of a file in memory to a trace, which is made if *trace is NULL. has: a bit a
 * rank that has a section already, made with the trace (the caller releases it); NULL with *trace
 * NULL. Whatever happens *trace and *has are the caller's.
 */
sv_status sv__svt_parse(sv_ctx *ctx, const char *name, const uint8_t *bytes, size_t length,
                        sv_mpi_trace **trace, uint8_t **has);

/* Puts the right sum at the end of a file in memory: for tests that change bytes. */
void sv__svt_seal(uint8_t *bytes, size_t length);

/* ---- other readers ---- */

/* UNSUPPORTED in builds without the library. */
sv_status sv__read_otf2(sv_ctx *ctx, const char *path, sv_mpi_trace **trace);

/* Whether text looks like a GOAL schedule. */
bool sv__looks_like_goal(const uint8_t *bytes, size_t length);

#endif
