/*
 * mad.h: management datagrams: what is asked of switches, adapters and the subnet manager, as
 * bytes. Knows no library and no device, so that it can be tested without either.
 */
#ifndef SV_DISCOVER_MAD_H
#define SV_DISCOVER_MAD_H

#include <selvage/routes.h>

enum {
    SV__MAD_BYTES = 256,
    SV__MAD_DATA = 64,  /* where the data of a subnet management datagram begins */
    SV__MAX_HOPS = 63,  /* of a directed route */
    SV__MFT_BLOCK = 32, /* multicast LIDs of one datagram */
    SV__MFT_PORTS = 16, /* and ports */
    SV__FIRST_MLID = 0xc000,
    SV__LAST_MLID = 0xfffe
};

/* What is asked for. */
typedef enum sv__attribute {
    SV__SL2VL_TABLE = 0x17,
    SV__LFT_TABLE = 0x19,
    SV__MFT_TABLE = 0x1b,
    SV__PATH_RECORD = 0x35
} sv__attribute;

/* Management classes that answers come from. */
enum { SV__CLASS_DIRECTED = 0x81, SV__CLASS_SA = 0x03 };

/* A directed route: out ports from the own one on; it works whatever the tables say. */
typedef struct sv__way {
    uint8_t hops;
    uint8_t ports[SV__MAX_HOPS + 1]; /* [1 … hops] */
} sv__way;

/* The way that goes on through one more port; false if it would be too long. */
bool sv__way_extend(sv__way *way, unsigned port);

/* Asks a node for an attribute. mad: SV__MAD_BYTES. */
void sv__mad_ask_node(uint8_t *mad, const sv__way *way, sv__attribute attribute, uint32_t modifier);

/* Asks the subnet manager for the path between two LIDs. */
void sv__mad_ask_path(uint8_t *mad, uint16_t from_lid, uint16_t to_lid);

/* The transaction: only its low half is ours, systems use the other one. */
void sv__mad_set_transaction(uint8_t *mad, uint32_t transaction);
uint32_t sv__mad_transaction(const uint8_t *mad);

bool sv__mad_is_answer(const uint8_t *mad);

/* 0: fine. */
unsigned sv__mad_status(const uint8_t *mad);

/* Whether the other side wants to be asked again later. */
bool sv__mad_is_busy(const uint8_t *mad);

/* Whether the subnet manager says that there is no such path. */
bool sv__mad_has_no_records(const uint8_t *mad);

/* Of answers: 16 SLs to VLs; whether port of block is set for the i-th multicast LID; the SL. */
sv_sl2vl sv__mad_vls(const uint8_t *mad);
uint16_t sv__mad_group_ports(const uint8_t *mad, unsigned i);
unsigned sv__mad_path_sl(const uint8_t *mad);

#endif
