/*
 * nue.c: engine nue: paths and freedom from deadlock at once, with as many VLs as there are
 * (Domke's thesis, chapter 6).
 *
 * Destinations are divided into layers, one a VL (nue_parts.c). Each layer has escape paths, a
 * spanning tree whose turns are used from the beginning (nue_root.c). Then the tree of every
 * destination is grown, by the least weight among the fewest hops, as sssp does, but only over
 * turns that close no cycle with those used so far in its layer (nue_grow.c, nue_turns.c); where
 * that ends in an impasse it is backtracked (nue_island.c).
 *
 * Beyond the thesis:
 * - What early destinations use lies in the way of later ones. So with several VLs a thrifty tree
 *   is laid for every switch first, and only then weights count: paths are shorter, impasses rare,
 *   and it is faster because most turns are known by then. (With one VL too few turns come to be
 *   shared by too many paths; there it is left out.)
 * - An impasse need not send everything over the escape paths: the search is repeated, thriftily,
 *   and if that fails too, guarded, which cannot fail and uses escape channels only where it must.
 *   Guarded searches are what is reported as fallbacks. With impasse=never all are guarded.
 * impasse=escape and lay=no leave both out.
 *
 * Packets keep the VL of their destination, so every layer stands for itself: what is acyclic
 * there cannot deadlock, whoever sends: terminals or switches.
 *
 * Takes any fabric, with one VL or more. Paths may be longer than the shortest.
 * Cost: O(channels) a destination, and the tests for cycles.
 */
#include "routing/nue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vls/vls.h"

struct choice {
    sv__nue_partition partition;
    bool omega, escape, never, lay;
};

/* Which of the words an option has; the first if it is not given. */
static int word_of(const sv__routing_job *job, const char *name, const char *const *words,
                   int count)
{
    const char *value = sv__job_option(job, name);
    int which = 0;
    while (value != NULL && which < count - 1 && strcmp(value, words[which]) != 0)
        which++;
    return which;
}

static void read_options(const sv__routing_job *job, struct choice *choice)
{
    static const char *const partitions[] = {"kway", "random", "clustered"};
    static const char *const searches[] = {"order", "omega"};
    static const char *const impasses[] = {"guard", "escape", "never"};
    static const char *const lays[] = {"auto", "yes", "no"};
    int impasse = word_of(job, "impasse", impasses, 3), lay = word_of(job, "lay", lays, 3);
    choice->partition = (sv__nue_partition)word_of(job, "partition", partitions, 3);
    choice->omega = word_of(job, "search", searches, 2) == 1;
    choice->escape = impasse == 1;
    choice->never = impasse == 2;
    choice->lay = lay == 1 || (lay == 0 && job->vls > 1);
}

/* Components of the switches, and the largest number of cables. */
static void look_around(sv__nue *x)
{
    const sv_core *core = &x->core;
    uint32_t n = core->num_switches;
    memset(x->component, 0xff, n * sizeof *x->component);
    for (uint32_t root = 0; root < n; root++) {
        uint32_t tail = 0, cables = core->first[root + 1] - core->first[root];
        x->max_cables = cables > x->max_cables ? cables : x->max_cables;
        if (x->component[root] != SV_NONE)
            continue;
        x->component[root] = root;
        x->order[tail++] = root;
        for (uint32_t i = 0; i < tail; i++)
            for (uint32_t e = core->first[x->order[i]]; e < core->first[x->order[i] + 1]; e++)
                if (x->component[core->entries[e].from] == SV_NONE) {
                    x->component[core->entries[e].from] = root;
                    x->order[tail++] = core->entries[e].from;
                }
        x->size[root] = tail;
    }
}

static void clear_weights(sv__nue *x)
{
    for (uint32_t e = 0; e < x->core.num_entries; e++)
        x->weight[e] = sv__lot(e, sv__lots(x->job, SV_NONE));
}

static sv_status init(sv__nue *x, sv__routing_job *job)
{
    sv_arena *arena = job->arena;
    SV_TRY(sv_core_init(&x->core, arena, job->fabric));
    SV_TRY(sv_cdg_init(&x->cdg, arena, &x->core));
    uint32_t n = x->core.num_switches;
    uint32_t **arrays[] = {&x->component, &x->size, &x->hops,   &x->out,    &x->order,
                           &x->routes,    &x->now,  &x->next,   &x->queued, &x->path_round,
                           &x->path_down, &x->way,  &x->missed, &x->counted};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if ((*arrays[i] = SV_ARENA_NEW(arena, uint32_t, n)) == NULL)
            return SV_NO_MEMORY;
    x->weight = SV_ARENA_NEW(arena, uint64_t, x->core.num_entries);
    x->path = SV_ARENA_NEW(arena, uint64_t, n);
    x->key = SV_ARENA_NEW(arena, uint64_t, n);
    x->turns = SV_ARENA_NEW(arena, size_t, n);
    x->promised = SV_ARENA_NEW(arena, bool, n);
    if (x->weight == NULL || x->path == NULL || x->key == NULL || x->turns == NULL ||
        x->promised == NULL)
        return SV_NO_MEMORY;
    clear_weights(x);
    look_around(x);
    x->tries = SV_ARENA_NEW(arena, struct sv__nue_try, (size_t)x->max_cables * x->max_cables);
    return x->tries == NULL ? SV_NO_MEMORY : SV_OK;
}

/* The layers, each with its escape paths. */
static sv_status open_layers(sv__nue *x, const uint32_t *destinations, uint32_t count,
                             const uint8_t *layer)
{
    const sv__routing_job *job = x->job;
    uint32_t n = x->core.num_switches;
    for (unsigned l = 0; l < x->num_layers; l++)
        if ((x->layer[l].wanted = SV_ARENA_NEW(job->arena, sv__wanted, n)) == NULL)
            return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = destinations[i];
        sv_node to = job->routes->node[d];
        sv__wanted *wanted = x->layer[layer[d]].wanted;
        if (sv_is_switch(job->fabric, to))
            wanted[to.i].itself++;
        else
            wanted[sv_switch_of(job->fabric, to).i].terminals++;
    }
    SV_TRY(sv__nue_turns_init(x));
    for (unsigned l = 0; l < x->num_layers; l++) {
        SV_TRY(sv__nue_plant(x, &x->layer[l]));
        SV_TRY(sv__nue_open(x, &x->layer[l]));
    }
    return SV_OK;
}

/*
 * Adds the routes of terminals to the weights, from the tips inwards. Where only some count, those
 * inside a job, the others do a little, so that they do not pile up.
 */
static void weigh(sv__nue *x, const uint32_t *sources, uint32_t lots)
{
    enum { INSIDE = 8 }; /* what a route inside a job weighs more */
    const uint32_t *all = x->core.terminals;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t s = x->order[i];
        x->routes[s] = sources == all ? all[s] : INSIDE * sources[s] + all[s];
    }
    for (uint32_t i = x->count; i-- > 1;) {
        uint32_t s = x->order[i], e = x->out[s];
        x->weight[e] = sv__weigh(x->weight[e], x->routes[s], e, lots);
        x->routes[x->core.to[e]] += x->routes[s];
    }
}

/* A thrifty tree for every switch that has destinations in a layer, for its turns only. */
static sv_status lay_all(sv__nue *x)
{
    uint32_t n = x->core.num_switches;
    for (uint32_t s = 0; s < n; s++) {
        if (s % 16 == 0)
            SV_TRY(sv_progress(x->job->ctx, "laying", s, n));
        for (x->at = 0; x->at < x->num_layers; x->at++) {
            const sv__wanted *wanted = &x->layer[x->at].wanted[s];
            if (wanted->terminals + wanted->itself > 0 && sv__nue_grow(x, s, SV__NUE_THRIFTY))
                weigh(x, x->core.terminals, sv__lots(x->job, s));
        }
    }
    clear_weights(x);
    return SV_OK;
}

static void grow_somehow(sv__nue *x, uint32_t home, const struct choice *choice)
{
    if (sv__nue_grow(x, home, choice->never ? SV__NUE_GUARDED : 0) ||
        (!choice->escape && sv__nue_grow(x, home, SV__NUE_THRIFTY)))
        return;
    x->job->report->fallbacks++;
    if (choice->escape)
        sv__nue_fall_back(x);
    else
        sv__nue_grow(x, home, SV__NUE_GUARDED | SV__NUE_THRIFTY);
}

static sv_status route_one(sv__nue *x, const struct choice *choice, const sv__schedule *schedule,
                           uint32_t d, unsigned layer)
{
    sv__routing_job *job = x->job;
    uint8_t *row;
    sv_node home;
    SV_TRY(sv__end_row(job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    x->at = layer;
    grow_somehow(x, home.i, choice);
    for (uint32_t i = 1; i < x->count; i++)
        row[x->order[i]] = x->core.entries[x->out[x->order[i]]].port;
    if (!sv_is_switch(job->fabric, job->routes->node[d]))
        weigh(x, sv__schedule_sources(schedule, job->routes, d, x->core.terminals, x->counted),
              sv__lots(job, d));
    return SV_OK;
}

static sv_status route_all(sv__nue *x, const struct choice *choice, const sv__schedule *schedule,
                           const uint8_t *layer)
{
    const uint32_t *destinations = schedule->order, count = schedule->count;
    sv__routing_job *job = x->job;
    uint8_t *sls = NULL;
    if (x->num_layers > 1) {
        SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_DESTINATION));
        if ((sls = sv_routes_sl_row(job->ctx, job->routes, 0)) == NULL)
            return SV_NO_MEMORY;
        memset(sls, 0, job->routes->num_destinations);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i % 64 == 0)
            SV_TRY(sv_progress(job->ctx, "routing", i, count));
        if (sv__schedule_turns(schedule, i))
            clear_weights(x);
        SV_TRY(route_one(x, choice, schedule, destinations[i], layer[destinations[i]]));
        if (sls != NULL)
            sls[destinations[i]] = layer[destinations[i]];
    }
    return SV_OK;
}

static sv_status route(sv__routing_job *job)
{
    sv__nue *x = SV_ARENA_NEW(job->arena, sv__nue, 1);
    uint8_t *layer = SV_ARENA_NEW(job->arena, uint8_t, job->routes->num_destinations);
    struct choice choice;
    sv__schedule schedule;
    if (x == NULL || layer == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__schedule_init(&schedule, job, 1));
    read_options(job, &choice);
    x->job = job;
    x->omega = choice.omega;
    sv__nue_partition asked = choice.partition;
    SV_TRY(sv__nue_parts(job, schedule.order, schedule.count, &choice.partition, layer,
                         &x->num_layers));
    if (schedule.count == 0)
        return SV_OK;
    SV_TRY(init(x, job));
    SV_TRY(open_layers(x, schedule.order, schedule.count, layer));
    if (choice.lay)
        SV_TRY(lay_all(x));
    SV_TRY(route_all(x, &choice, &schedule, layer));
    job->report->vls_needed = job->report->vls_used = job->report->sls_used = x->num_layers;
    if (asked != choice.partition)
        snprintf(job->report->note, sizeof job->report->note,
                 "this build has no METIS: partition=clustered");
    return sv_sl2vl_identity(job->ctx, job->routes, x->num_layers);
}

static const sv_engine_option options[] = {
    {"partition", "kway|random|clustered", "how destinations are divided into layers"},
    {"search", "order|omega", "how cycles are looked for; the result is the same"},
    {"impasse", "guard|escape|never",
     "after a failed search: one that cannot fail, or a spanning tree; never: all cannot fail"},
    {"lay", "auto|yes|no", "whether thrifty trees are laid first (auto: with several VLs)"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_nue = {
    {"nue", "balanced paths without deadlock on any fabric, with any number of VLs", "thesis ch. 6",
     SV_ENGINE_ANY_TOPOLOGY | SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS | SV_ENGINE_JOBS, options},
    route};
