/*
 * metis.c: METIS behind the one mutable global of the tree, a lock (docs/decisions/0004).
 */
#include "base/metis.h"

#ifdef SELVAGE_METIS

#include <pthread.h>

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

sv_status sv_metis_split(sv_ctx *ctx, sv_metis_graph *g, const sv_metis_how *how)
{
    idx_t options[METIS_NOPTIONS], one = 1, parts = (idx_t)how->parts, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(how->seed & 0x7fffffff);
    if (how->slack > 0)
        options[METIS_OPTION_UFACTOR] = (idx_t)how->slack;
    if (how->cuts > 0)
        options[METIS_OPTION_NCUTS] = (idx_t)how->cuts;
    int (*method)(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *,
                  real_t *, idx_t *, idx_t *, idx_t *) =
        how->recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    pthread_mutex_lock(&metis_lock);
    int result = method(&g->n, &one, g->first, g->peer, g->vertex_weight, NULL, g->edge_weight,
                        &parts, NULL, NULL, options, &cut, g->part);
    pthread_mutex_unlock(&metis_lock);
    if (result == METIS_ERROR_MEMORY)
        return sv_fail(ctx, SV_NO_MEMORY, "out of memory in METIS");
    if (result != METIS_OK)
        return sv_fail(ctx, SV_UNSUPPORTED, "METIS refused the switch graph (%d)", result);
    return SV_OK;
}

#else

/* A file must have something in it. */
typedef int sv__no_metis;

#endif
