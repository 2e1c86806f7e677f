/*
 * wire.h: the packets of distributed routing balancing as bytes (thesis Figs. 3.16 to 3.18).
 *
 * Integers have four bytes, highest first. In the simulator packets have these lengths; their
 * contents stay in structs.
 */
#ifndef SV_ADAPT_WIRE_H
#define SV_ADAPT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SV__WIRE_HEADER = 32,    /* of data, and all of an acknowledgement */
    SV__WIRE_PREDICTIVE = 8, /* of the predictive header … */
    SV__WIRE_FLOW = 4,       /* … and of each flow in it */
    SV__WIRE_MAX_FLOWS = 64, /* that a predictive header has at most */
    SV__WIRE_MAX_TERMINALS = 65536,
    SV__WIRE_MAX_SWITCHES = 65535 /* router ids begin with 1 */
};

#define SV__WIRE_NO_VIA UINT32_MAX

/* Figs. 3.16 and 3.17. */
typedef struct sv__header {
    uint32_t source, via[2], destination; /* a via that is not there: SV__WIRE_NO_VIA */
    uint32_t latency_ns;
    bool predictive; /* P: of data: a switch has told; of acknowledgements: Fig. 3.18 follows */
    bool final;      /* F: the last packet of a message, or the acknowledgement of that */
    bool ack;        /* T */
    uint8_t segment; /* Header_id: which via is next, 2 behind both */
    uint32_t mpi_type, mpi_sequence;
} sv__header;

typedef enum sv__search {
    SV__SEARCH_NONE, /* room that nobody has used */
    SV__SEARCH_FULL, /* a source looks for a solution … */
    SV__SEARCH_TREND /* … or at the trend of its latencies */
} sv__search;

/* Fig. 3.18. A flow is terminal × 65536 + terminal. */
typedef struct sv__predictive {
    sv__search type;
    uint16_t router; /* 1 + switch; 0: destinations tell */
    uint16_t count;
    uint32_t flows[SV__WIRE_MAX_FLOWS];
} sv__predictive;

static inline uint32_t sv__flow(uint32_t from, uint32_t to)
{
    return from << 16 | to;
}

static inline uint32_t sv__flow_from(uint32_t flow)
{
    return flow >> 16;
}

static inline uint32_t sv__flow_to(uint32_t flow)
{
    return flow & 0xffff;
}

static inline uint32_t sv__wire_predictive_bytes(uint32_t flows)
{
    return SV__WIRE_PREDICTIVE + SV__WIRE_FLOW * flows;
}

/* Ticks as nanoseconds of four bytes, the largest where they are more. */
uint32_t sv__wire_latency(uint64_t ticks);

/* How many bytes were written into room bytes, or read of length bytes: 0 if that is not enough, or
 * they are no such header. */
size_t sv__wire_put_header(const sv__header *header, uint8_t *bytes, size_t room);
size_t sv__wire_get_header(const uint8_t *bytes, size_t length, sv__header *header);
size_t sv__wire_put_predictive(const sv__predictive *p, uint8_t *bytes, size_t room);
size_t sv__wire_get_predictive(const uint8_t *bytes, size_t length, sv__predictive *p);

#endif
