/*
 * mad.c: management datagrams, byte by byte (InfiniBand Architecture Specification 1.3, volume 1:
 * 13.4 the common header, 14.2 subnet management, 15.2 subnet administration).
 *
 *     0   base version, class, class version, method
 *     4   status; of directed routes the highest bit is the direction, then hop pointer and count
 *     8   transaction, 16 attribute, 20 modifier
 *
 * Directed: 32 source and destination LID (none: 0xffff), 64 data, 128 the way there, 192 the way
 * back. To the subnet manager: 48 which components are given, 56 the record.
 *
 * Invariants: all numbers are big-endian; whatever is not named is zero.
 * Cost: O(1).
 */
#include "discover/mad.h"

#include <string.h>

enum {
    AT_CLASS = 1,
    AT_METHOD = 3,
    AT_STATUS = 4,
    AT_HOP_COUNT = 7,
    AT_TRANSACTION = 12, /* its low half */
    AT_ATTRIBUTE = 16,
    AT_MODIFIER = 20,
    AT_DIRECTED_LIDS = 32,
    AT_COMPONENTS = 48,
    AT_RECORD = 56,
    AT_WAY = 128
};

enum { METHOD_GET = 0x01, METHOD_ANSWER = 0x80, STATUS_BUSY = 0x0001, STATUS_NO_RECORDS = 0x0300 };

/* Of a path record: where its parts are, and their bits among the components. */
enum { PATH_TO = 40, PATH_FROM = 42, PATH_SL = 53, GIVEN_TO = 1 << 4, GIVEN_FROM = 1 << 5 };

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static void begin(uint8_t *mad, unsigned class, unsigned class_version, sv__attribute attribute)
{
    memset(mad, 0, SV__MAD_BYTES);
    mad[0] = 1;
    mad[AT_CLASS] = (uint8_t) class;
    mad[2] = (uint8_t)class_version;
    mad[AT_METHOD] = METHOD_GET;
    put16(mad + AT_ATTRIBUTE, attribute);
}

bool sv__way_extend(sv__way *way, unsigned port)
{
    if (way->hops >= SV__MAX_HOPS)
        return false;
    way->ports[++way->hops] = (uint8_t)port;
    return true;
}

void sv__mad_ask_node(uint8_t *mad, const sv__way *way, sv__attribute attribute, uint32_t modifier)
{
    begin(mad, SV__CLASS_DIRECTED, 1, attribute);
    put32(mad + AT_MODIFIER, modifier);
    put32(mad + AT_DIRECTED_LIDS, 0xffffffff);
    mad[AT_HOP_COUNT] = way->hops;
    memcpy(mad + AT_WAY + 1, way->ports + 1, way->hops);
}

void sv__mad_ask_path(uint8_t *mad, uint16_t from_lid, uint16_t to_lid)
{
    begin(mad, SV__CLASS_SA, 2, SV__PATH_RECORD);
    put32(mad + AT_COMPONENTS + 4, GIVEN_TO | GIVEN_FROM);
    put16(mad + AT_RECORD + PATH_TO, to_lid);
    put16(mad + AT_RECORD + PATH_FROM, from_lid);
}

void sv__mad_set_transaction(uint8_t *mad, uint32_t transaction)
{
    put32(mad + AT_TRANSACTION, transaction);
}

uint32_t sv__mad_transaction(const uint8_t *mad)
{
    return (uint32_t)get16(mad + AT_TRANSACTION) << 16 | get16(mad + AT_TRANSACTION + 2);
}

bool sv__mad_is_answer(const uint8_t *mad)
{
    return (mad[AT_METHOD] & METHOD_ANSWER) != 0;
}

unsigned sv__mad_status(const uint8_t *mad)
{
    unsigned status = get16(mad + AT_STATUS);
    return mad[AT_CLASS] == SV__CLASS_DIRECTED ? status & 0x7fff : status;
}

bool sv__mad_is_busy(const uint8_t *mad)
{
    return (sv__mad_status(mad) & STATUS_BUSY) != 0;
}

bool sv__mad_has_no_records(const uint8_t *mad)
{
    return mad[AT_CLASS] == SV__CLASS_SA && sv__mad_status(mad) == STATUS_NO_RECORDS;
}

sv_sl2vl sv__mad_vls(const uint8_t *mad)
{
    sv_sl2vl vls = {{0}};
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        unsigned pair = mad[SV__MAD_DATA + sl / 2], vl = sl % 2 == 0 ? pair >> 4 : pair & 15;
        vls.of_sl[sl] = vl == 15 ? SV_NO_VL : (uint8_t)vl;
    }
    return vls;
}

uint16_t sv__mad_group_ports(const uint8_t *mad, unsigned i)
{
    return (uint16_t)get16(mad + SV__MAD_DATA + 2 * i);
}

unsigned sv__mad_path_sl(const uint8_t *mad)
{
    return mad[AT_RECORD + PATH_SL] & 15;
}
