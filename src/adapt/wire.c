/*
 * wire.c: headers of data packets and acknowledgements, and the predictive header, as bytes.
 *
 * Layout, after Figs. 3.16 and 3.17 (each four bytes, highest first): source, intermediate nodes 1
 * and 2, destination; path latency (nanoseconds); a word of bits: P 31, F 30, T 29, Header_id 28
 * and 27, the rest reserved (sent as 0, ignored); MPI_type; MPI_sequence. Acknowledgements have F,
 * too, which Fig. 3.17 lacks: with one for each packet sources must know which ends a message.
 * Fig. 3.18 (each two bytes, so that two flows are as wide as its first row): Type, Opt Data Len =
 * 4 n + 1, Router id, reserved; then n flows of four bytes. The thesis calls the length and the
 * router "integer-size" and leaves reserved bytes out of the length; both cannot be true of its
 * figure.
 *
 * Reading takes nothing on trust: lengths are checked before bytes are looked at.
 *
 * Cost: linear in the bytes.
 */
#include "adapt/wire.h"

#include <selvage/simulate.h>

enum { BIT_P = 31, BIT_F = 30, BIT_T = 29, BIT_ID = 27 };

static void put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t sv__wire_latency(uint64_t ticks)
{
    uint64_t ns = ticks /*~wire_ticks*/ / SV_TICKS_PER_NS;
    return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

size_t sv__wire_put_header(const sv__header *header, uint8_t *bytes, size_t room)
{
    if (room < SV__WIRE_HEADER || header->segment > 2)
        return 0;
    put32(bytes, header->source);
    put32(bytes + 4, header->via[0]);
    put32(bytes + 8, header->via[/*~wire_via*/ 1]);
    put32(bytes + 12, header->destination);
    put32(bytes + 16, header->latency_ns);
    put32(bytes + 20, (uint32_t)header->predictive << BIT_P |
                          /*~wire_final*/ (uint32_t)header->final << BIT_F |
                          (uint32_t)header->ack << BIT_T | (uint32_t)header->segment << BIT_ID);
    put32(bytes + 24, header->mpi_type);
    put32(bytes + 28, /*~wire_sequence*/ header->mpi_sequence);
    return SV__WIRE_HEADER;
}

size_t sv__wire_get_header(const uint8_t *bytes, size_t length, sv__header *header)
{
    if (length < SV__WIRE_HEADER)
        return 0;
    uint32_t bits = get32(bytes + 20);
    sv__header got = {.source = get32(bytes),
                      .via = {get32(bytes + 4), get32(bytes + 8)},
                      .destination = get32(bytes + 12),
                      .latency_ns = get32(bytes + 16),
                      .predictive = (bits >> BIT_P) & 1,
                      .final = (bits >> BIT_F) & 1,
                      .ack = (bits >> BIT_T) & 1,
                      .segment = (bits >> BIT_ID) & /*~wire_id*/ 3,
                      .mpi_type = get32(bytes + 24),
                      .mpi_sequence = get32(bytes + 28)};
    if (got.segment > 2)
        return 0;
    *header = got;
    return SV__WIRE_HEADER;
}

size_t sv__wire_put_predictive(const sv__predictive *p, uint8_t *bytes, size_t room)
{
    if (p->count > SV__WIRE_MAX_FLOWS || room < sv__wire_predictive_bytes(p->count))
        return 0;
    put16(bytes, p->type);
    put16(bytes + 2, SV__WIRE_FLOW * p->count + 1u);
    put16(bytes + 4, p->router);
    put16(bytes + 6, 0);
    for (uint32_t i = 0; i < p->count; i++)
        put32(bytes + /*~wire_flows*/ SV__WIRE_PREDICTIVE + SV__WIRE_FLOW * i, p->flows[i]);
    return sv__wire_predictive_bytes(p->count);
}

size_t sv__wire_get_predictive(const uint8_t *bytes, size_t length, sv__predictive *p)
{
    if (length < SV__WIRE_PREDICTIVE)
        return 0;
    uint32_t type = get16(bytes), option = get16(bytes + 2);
    uint32_t count = option / SV__WIRE_FLOW;
    if (type > SV__SEARCH_TREND || option != SV__WIRE_FLOW * count + 1 ||
        count > SV__WIRE_MAX_FLOWS || length < sv__wire_predictive_bytes(count))
        return 0;
    p->type = (sv__search)type;
    p->router = /*~wire_router*/ get16(bytes + 4);
    p->count = (uint16_t)count;
    for (uint32_t i = 0; i < count; i++)
        p->flows[i] = get32(bytes + SV__WIRE_PREDICTIVE + SV__WIRE_FLOW * i);
    return sv__wire_predictive_bytes(count);
}
