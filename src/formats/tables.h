/*
 * tables.h: forwarding tables as files: what their readers and writers share.
 *
 * Files name things by GUIDs and LIDs; tables by numbers. A directory is read in the order subnet
 * list (the fabric), LFTs (which tell how many LIDs a terminal has), then the rest.
 */
#ifndef SV_FORMATS_TABLES_H
#define SV_FORMATS_TABLES_H

#include <selvage/formats.h>

#include "base/map.h"
#include "base/text.h"
#include "routes/routes.h"

typedef struct sv__tables {
    sv_ctx *ctx;
    const sv_fabric *fabric;
    sv_routes *routes; /* NULL until the LFTs are read */
    sv_arena arena;
    sv_map switches;    /* GUID to switch */
    sv_map terminals;   /* port GUID to terminal (without the switches before it) */
    uint32_t *by_lid;   /* [SV_LID_MAX + 1]: destination, or SV_NONE; once there are routes */
    uint64_t strangers; /* GUIDs and LIDs that are not in the fabric */
    char stranger[64];  /* the first of them */
} sv__tables;

sv_status sv__tables_init(sv__tables *t, sv_ctx *ctx, const sv_fabric *fabric);
void sv__tables_release(sv__tables *t);

/* Makes by_lid from the LIDs of the routes. */
sv_status sv__tables_index(sv__tables *t);

/* Counts something that the fabric does not have. */
void sv__stranger(sv__tables *t, const char *format, ...) SV_PRINTF(2, 3);

typedef sv_status sv__tables_read_fn(sv__tables *t, sv_lines *lines);
typedef sv_status sv__tables_write_fn(sv_text *out, const sv_fabric *fabric,
                                      const sv_routes *routes);

/* LFTs from either format; the first line tells which. */
sv__tables_read_fn sv__read_lfts, sv__read_sl2vl, sv__read_psl, sv__read_mcfdbs, sv__read_qos,
    sv__read_orders;
sv__tables_write_fn sv__write_lfts, sv__write_fdbs, sv__write_sl2vl, sv__write_psl,
    sv__write_ibdmchk_psl, sv__write_mcfdbs, sv__write_qos, sv__write_orders;

/* Whether a node is in the files: what has no cable is in no subnet list, so nowhere else, either.
 */
static inline bool sv__is_told(const sv_fabric *f, sv_node v)
{
    return sv_node_alive(f, v) && sv_degree(f, v) > 0;
}

/*
 * INFEASIBLE if two nodes share a GUID that files of tables tell them apart by: switches by theirs,
 * terminals by their ports'.
 */
sv_status sv__names_are_own(sv_ctx *ctx, const sv_fabric *fabric);

/* A switch whose pairs of ports all agree needs one table of VLs only. */
void sv__simplify_vls(const sv_fabric *fabric, sv_routes *routes);

/* Whether a file of that name in a directory of tables is of the set. */
bool sv__dump_has(const char *name);

/* A digest of what sv_dump_read would read from a directory, other files apart. */
sv_status sv__dump_digest(sv_ctx *ctx, const char *directory, uint64_t *digest);

/* INFEASIBLE unless tables fit into formats that speak of LIDs, and of 16 SLs and 15 VLs. */
sv_status sv__fits_lids(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes);

#endif
