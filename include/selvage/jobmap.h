/*
 * jobmap.h: which node runs which jobs.
 */
#ifndef SELVAGE_JOBMAP_H
#define SELVAGE_JOBMAP_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_job {
    const char *name;
    const sv_node *terminals; /* all live ports of its nodes, ascending, each once */
    uint32_t num_terminals;
} sv_job;

typedef struct sv_jobmap {
    const sv_job *jobs; /* by their first line in the file */
    uint32_t num_jobs;
    uint32_t num_terminals; /* that run at least one job */
    uint32_t unknown;       /* lines whose node is not in the fabric */
    uint64_t digest;     /* of maps that were read: a number for which names of nodes work together,
                            whatever jobs are called, in whatever order they come, and whether or not
                            the nodes are in the fabric; 0: no jobs, or the map was not read */
    uint64_t missing[4]; /* of maps that were read: a bit, by its digest, for each node that is not
                            in the fabric: if a bit is gone a node has turned up */
    sv_pool *store;
} sv_jobmap;

/*
 * Reads a job map: a node and a job a line, in any order,
 *
 *     NODE JOB
 *
 * where a node may run several jobs, a line may come twice, # starts a comment and words with
 * blanks stand in double quotes. NODE is the name of a host adapter, or the part of it before its
 * first blank; if several adapters answer to it ("node7 HCA-1", "node7 HCA-2") all their ports run
 * the job. JOB is any word. A node that is not in the fabric is warned of, with its line (batch
 * systems list nodes that are down), and counted.
 *
 * *map: owned by the caller (sv_jobmap_free), valid as long as the numbers of the fabric are.
 * BAD_INPUT with "name:line: what" for lines of another form, or when not one of the nodes is in
 * the fabric. Time: linear in the fabric and the file, expected.
 */
SV_API SV_MUST_USE sv_status sv_jobmap_read(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_source *source, sv_jobmap **map);

/* The same from a file ("-": standard input). IO when it cannot be read. */
SV_API SV_MUST_USE sv_status sv_jobmap_load(sv_ctx *ctx, const sv_fabric *fabric, const char *path,
                                            sv_jobmap **map);

/*
 * Writes a map as sv_jobmap_read takes it ("-": standard output), job by job; a node is called by
 * the part of its name before the first blank where that means the same. The file appears whole or
 * not at all. UNSUPPORTED when names are not unique enough to say it. Time: linear, expected.
 */
SV_API SV_MUST_USE sv_status sv_jobmap_save(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_jobmap *map, const char *path);

/* Jobs of two maps; one that has other terminals is gone, and another is new. */
typedef struct sv_jobmap_change {
    uint32_t same, added, gone;
} sv_jobmap_change;

/*
 * Compares the jobs of two maps of one fabric, whatever they are called and in whatever order: a
 * job is the set of its terminals (thesis 5.2.2.1). Jobs without terminals do not count.
 * Time: linear, and sorting jobs.
 */
SV_API SV_MUST_USE sv_status sv_jobmap_compare(sv_ctx *ctx, const sv_jobmap *old_map,
                                               const sv_jobmap *new_map, sv_jobmap_change *change);

/* Whether nothing is added or gone. */
SV_API SV_MUST_USE sv_status sv_jobmap_same(sv_ctx *ctx, const sv_jobmap *a, const sv_jobmap *b,
                                            bool *same);

/* Frees a map. NULL is fine. */
SV_API void sv_jobmap_free(sv_jobmap *map);

#ifdef __cplusplus
}
#endif
#endif
