/*
 * rows.h: all packets for one destination at a time, through the whole fabric.
 */
#ifndef SV_VERIFY_ROWS_H
#define SV_VERIFY_ROWS_H

#include <selvage/verify.h>

#include "routes/routes.h"
#include "verify/deps.h"

/* What stands for an SL that nobody told. */
typedef enum sv__unknown { SV__UNKNOWN_ANY, SV__UNKNOWN_NONE, SV__UNKNOWN_ZERO } sv__unknown;

/* Tables under judgement, and what every walk over them needs to know. */
typedef struct sv__verify_case {
    const sv_fabric *fabric;
    const sv_routes *routes;
    sv_verify_options options;
    sv_portmap ports;
    unsigned vls;                 /* highest VL of any table, plus one */
    uint64_t sls;                 /* one SL of each class that all VL tables treat alike */
    uint8_t class_of[SV_MAX_SLS]; /* which SL stands for each */
    bool discards;                /* some table discards some SL */
    bool adapters_discard;        /* an adapter's does */
    bool sl_matters;              /* two SLs may go different ways */
    uint32_t *terminals;          /* [switches]: how many live terminals hang on each */
    uint32_t *component;          /* [nodes] */
    bool split;                   /* there is more than one */
} sv__verify_case;

sv_status sv__case_init(sv__verify_case *c, sv_arena *arena, const sv_fabric *fabric,
                        const sv_routes *routes, const sv_verify_options *options);

/*
 * The SLs (bits of representatives) that packets from a node to a destination may have; 0 if none
 * is known and unknown ones do not count.
 */
uint64_t sv__case_sls(const sv__verify_case *c, sv_node from, uint32_t destination,
                      sv__unknown unknown);

/* What one worker found; to be summed up. */
typedef struct sv__verify_tally {
    uint64_t pairs[SV_PAIRS_COUNT], unreachable[SV_PAIRS_COUNT], split_pairs, loops;
    uint32_t lost_destination, loop_destination; /* the lowest; SV_NONE */
    sv_node lost_from, loop_at;
} sv__verify_tally;

/*
 * Walks all destinations on several threads. traffic: whose packets. deps: gets their dependencies.
 * tally: NULL if not wanted.
 */
sv_status sv__walk_all(sv_ctx *ctx, const sv__verify_case *c, sv_traffic traffic,
                       sv__unknown unknown, const sv__deps *deps, sv__verify_tally *tally);

#endif
