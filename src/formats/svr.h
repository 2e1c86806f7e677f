/*
 * svr.h: the binary file of fabric and tables: its layout (docs/formats.md), shared by the reader
 * (svr.c) and the writer (svr_write.c).
 */
#ifndef SV_FORMATS_SVR_H
#define SV_FORMATS_SVR_H

#include <selvage/routes.h>

#include "base/file.h"

enum {
    SV__SVR_VERSION = 1,
    SV__SVR_HEAD = 64,  /* bytes of the head */
    SV__SVR_ENTRY = 32, /* of each line in the list of sections */
    SV__SVR_ALIGN = 64
};

extern const char sv__svr_magic[8];

/* Sections. Names are four letters, as in a hex dump. */
enum section {
    FABRIC,   /* FABR: ibnetdiscover text */
    SWITCHES, /* SWCH: GUIDs */
    ADDRESS,  /* TERM: port GUIDs of terminals */
    ABOUT,    /* ABOU: eight 32-bit numbers */
    LIDS,     /* LIDS: 16 bits a destination */
    PORTS,    /* PORT: a byte a (destination, switch) */
    SLS,      /* SLS_: bytes, as the form says */
    VLS,      /* LANE: 64 bytes a table */
    VLS_OF,   /* LNOF: 16 bits a node */
    BY_PORTS, /* LNBP: for some switches: place, ports + 1, then 16 bits a pair of ports */
    VLARB,    /* VLAR */
    GROUPS,   /* MCAS: MLID, SL, then 32 bytes a switch */
    ORDERS,   /* ORDR: VLs, zero, then 32 bits a (switch, port from 0 on, VL) */
    NUM_SECTIONS
};

extern const char sv__svr_names[NUM_SECTIONS][5];

/* ABOUT's numbers. */
enum { A_LMC, A_SL_FORM, A_SL, A_NUM_SLS, A_VLS_KNOWN, A_NUM_GROUPS, A_VLARB_GIVEN, A_SPARE };

static inline void sv__put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t sv__get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

/* How long head and list of sections are, padded. */
static inline uint64_t sv__svr_head_length(uint64_t sections)
{
    uint64_t length = SV__SVR_HEAD + sections * SV__SVR_ENTRY;
    return (length + SV__SVR_ALIGN - 1) / SV__SVR_ALIGN * SV__SVR_ALIGN;
}

/* Puts the sums into the head of a file in memory. */
void sv__svr_seal(uint8_t *bytes, uint64_t size);

/* routes may be NULL when reading: only the fabric is wanted. */
sv_status sv__read_svr(sv_ctx *ctx, const char *path, sv_fabric **fabric, sv_routes **routes);

/* The same from memory (which is written to, but only where the sums are). */
sv_status sv__parse_svr(sv_ctx *ctx, const char *name, uint8_t *bytes, uint64_t size,
                        sv_fabric **fabric, sv_routes **routes);

/* Writes to a file that was started, which the caller commits or closes. */
sv_status sv__write_svr(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        sv_file *file);

#endif
