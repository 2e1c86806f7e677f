/*
 * jobmap.h: making job maps out of names: what the reader of maps and those of batch systems share.
 */
#ifndef SV_JOBMAP_JOBMAP_H
#define SV_JOBMAP_JOBMAP_H

#include <selvage/jobmap.h>

#include "base/array.h"
#include "base/map.h"

/* Adapters by name: a list for each name that ends with SV_NONE. */
typedef struct sv__name_link {
    uint32_t adapter, next;
} sv__name_link;

typedef struct sv__job_pair {
    uint32_t job, node;
} sv__job_pair;

/* A map in the making. */
typedef struct sv__mapper {
    sv_ctx *ctx;
    const sv_fabric *f;
    sv_arena arena;       /* as long as the mapper */
    sv_names nodes, jobs; /* to links, to numbers of jobs */
    SV_ARRAY(sv__name_link) links;
    SV_ARRAY(const char *) names; /* of jobs */
    SV_ARRAY(sv__job_pair) pairs;
    uint32_t *first, *terminals; /* of each adapter: terminals[first[a] … first[a + 1]) */
} sv__mapper;

/* Jobs of a map by where they are. */
typedef struct sv__homes {
    uint32_t homeless;   /* without a live terminal */
    uint32_t one_switch; /* with terminals on one switch only */
} sv__homes;

/* Whatever init returned, release is due. Time: linear in the fabric, expected. */
sv_status sv__mapper_init(sv__mapper *m, sv_ctx *ctx, const sv_fabric *fabric);
void sv__mapper_release(sv__mapper *m);

/* The number of a job; its name is copied. Jobs are numbered as they come. */
sv_status sv__mapper_job(sv__mapper *m, sv_span name, uint32_t *job);

/* The first link of a name, or SV_NONE. */
uint32_t sv__mapper_find(const sv__mapper *m, sv_span name);

/* All live ports of all adapters of a list of links, or of one adapter, run a job. */
sv_status sv__mapper_add(sv__mapper *m, uint32_t job, uint32_t link);
sv_status sv__mapper_add_adapter(sv__mapper *m, uint32_t job, uint32_t adapter);

/*
 * The map. switches: on how many switches a job must have terminals to be in it (0: all jobs are,
 * even homeless ones). *homes may be NULL.
 */
sv_status sv__mapper_finish(sv__mapper *m, unsigned switches, sv_jobmap **map, sv__homes *homes);

/* ---- lines ---- */

/*
 * Takes "NODE JOB" apart. words: room for twice the line and two more; *node and *job are in it,
 * and NULL where the line says nothing.
 */
sv_status sv__jobmap_split(const sv_lines *lines, sv_span line, char *words, const char **node,
                           const char **job);

/* A word as sv__jobmap_split takes it: in quotes if need be. */
void sv__jobmap_word(sv_text *out, const char *word);

#endif
