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
    struct sv__store *store;
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

/* Frees a map. NULL is fine. */
SV_API void sv_jobmap_free(sv_jobmap *map);

#ifdef __cplusplus
}
#endif
#endif
