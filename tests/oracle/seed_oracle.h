/*
 * seed_oracle.h: a trace on a fabric, and the store that is to come of it (seed_oracle.c).
 */
#ifndef SELVAGE_SEED_ORACLE_H
#define SELVAGE_SEED_ORACLE_H

#include "adapt/adapt.h"
#include "adapt_case.h"

enum { MAX_RANKS = 40, MAX_FLOWS = MAX_RANKS * MAX_RANKS, MAX_LENGTH = 64, STEPS = 64 };
enum { MAX_WAYS = 32, MAX_KEPT = 40000, MAX_CHANNELS = 400, SEED_LINE = 8192 };

typedef struct way {
    sv_sim_way way;
    uint32_t channels[MAX_LENGTH], length, pieces;
} way;

typedef struct flow {
    uint32_t from, to; /* terminals */
    uint64_t steps, weight;
    way ways[MAX_WAYS];
    uint32_t num_ways;
    bool stays;
} flow;

/* A line of the store. */
typedef struct kept {
    uint32_t from, to, at; /* at: a switch, or SV_NONE */
    uint32_t pattern[64][2], count;
    double latency;
    struct {
        sv_sim_way way;
        double waited;
    } paths[MAX_WAYS];
    uint32_t num_paths;
} kept;

/* What trials have met: solutions with several ways and with one, patterns that have more flows
 * than are told, those told of one source alone, solutions that one like them kept out, those of
 * flows that are not told, flows of several pairs of ranks, pairs that tables do not join, flows
 * laid otherwise the second time, and flows in the last step that has a bit. */
typedef struct seed_met {
    uint64_t spread, still, cut, one_source, alike, outside, merged, refused, moved, late;
} seed_met;

typedef struct seed_trial {
    sv_ctx *ctx;
    sv_rng rng;
    adapt_case c;
    sv_sim_model model;
    sv_adapt *a; /* knows ways */
    sv_mpi_trace *t;
    sv_node map[MAX_RANKS];
    uint32_t paths, flows;
    flow *flow;                /* [MAX_FLOWS] */
    uint32_t num_flows, steps; /* of the phase, as far as they are told apart */
    uint64_t load[STEPS][MAX_CHANNELS];
    kept *kept; /* [MAX_KEPT] */
    uint32_t num_kept;
    seed_met met;
} seed_trial;

/* The solutions, as they were found; false: tables do not join a pair. */
bool seed_oracle(seed_trial *x);
/* A solution as it stands in a file. line: [SEED_LINE]. */
void seed_oracle_line(const seed_trial *x, const kept *s, char *line);

#endif
