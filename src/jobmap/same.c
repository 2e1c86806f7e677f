/*
 * same.c: whether two job maps have the same jobs, whatever they are called.
 *
 * Idea: a job is its set of terminals, so jobs of both maps are sorted by their sets (the smaller
 * first, then as words of terminals) and compared one by one.
 *
 * Invariants: jobs without terminals do not count; several jobs on the same terminals do, each.
 * Cost: O(jobs log jobs) comparisons, each of two sets of one size.
 * Source: thesis 5.2.2.1 (lists of jobs are compared without their identifiers).
 */
#include <stdlib.h>
#include <string.h>

#include "jobmap/jobmap.h"

static int by_terminals(const void *a, const void *b)
{
    const sv_job *x = *(const sv_job *const *)a, *y = *(const sv_job *const *)b;
    if (x->num_terminals != y->num_terminals)
        return x->num_terminals < y->num_terminals ? -1 : 1;
    for (uint32_t i = 0; i < x->num_terminals; i++)
        if (x->terminals[i].i != y->terminals[i].i)
            return x->terminals[i].i < y->terminals[i].i ? -1 : 1;
    return 0;
}

static const sv_job **sorted_jobs(sv_ctx *ctx, const sv_jobmap *map, size_t *count)
{
    const sv_job **list = sv_alloc(ctx, map->num_jobs, sizeof *list);
    if (list == NULL)
        return NULL;
    *count = 0;
    for (uint32_t j = 0; j < map->num_jobs; j++)
        if (map->jobs[j].num_terminals > 0)
            list[(*count)++] = &map->jobs[j];
    qsort(list, *count, sizeof *list, by_terminals);
    return list;
}

/* Walks over both as if they were to be merged. */
static sv_jobmap_change compare(const sv_job *const *a, size_t in_a, const sv_job *const *b,
                                size_t in_b)
{
    sv_jobmap_change change = {0};
    for (size_t i = 0, j = 0; i < in_a || j < in_b;) {
        int order = i == in_a ? 1 : j == in_b ? -1 : by_terminals(&a[i], &b[j]);
        change.gone += order < 0;
        change.added += order > 0;
        change.same += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return change;
}

sv_status sv_jobmap_compare(sv_ctx *ctx, const sv_jobmap *a, const sv_jobmap *b,
                            sv_jobmap_change *change)
{
    size_t in_a = 0, in_b = 0;
    const sv_job **x = sorted_jobs(ctx, a, &in_a);
    const sv_job **y = x == NULL ? NULL : sorted_jobs(ctx, b, &in_b);
    sv_status status = y == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK)
        *change = compare(x, in_a, y, in_b);
    sv_release(ctx, y);
    sv_release(ctx, x);
    return status;
}

sv_status sv_jobmap_same(sv_ctx *ctx, const sv_jobmap *a, const sv_jobmap *b, bool *same)
{
    sv_jobmap_change change;
    SV_TRY(sv_jobmap_compare(ctx, a, b, &change));
    *same = change.added == 0 && change.gone == 0;
    return SV_OK;
}
