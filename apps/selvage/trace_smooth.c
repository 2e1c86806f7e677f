/*
 * trace_smooth.c: computing made smooth.
 *
 * Idea: computing between two events is never the same twice, least of all where ranks share cores,
 * and a loop whose turns differ in that alone cannot be written once. So between two events of a
 * rank that are alike in all but bytes it becomes the mean of all such (none counts as 0), rounded
 * to three binary digits. What is less than a microsecond on average is left out: clocks are no
 * better than that.
 *
 * Invariant: nothing but computing changes; a rank's sum stays what it was, but for rounding.
 *
 * Cost: O(events), expected. Two different pairs of events with the same 64 bits of hash would
 * share their mean: no harm.
 */
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "selvage/trace_shared.h"

enum { MIN_NS = 1000, DIGITS = 3 };

typedef struct between {
    uint64_t sum, count;
} between;

typedef struct smoothing {
    struct app *app;
    sv_map map; /* two events, hashed: which of means */
    SV_ARRAY(between) means;
} smoothing;

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 29;
}

static uint64_t hash(uint64_t h, const sv_mpi_event *e)
{
    if (e == NULL)
        return mix(h, 1);
    h = mix(h, (uint64_t)e->peer << 32 | e->tag);
    return mix(mix(h, (uint64_t)e->request << 32 | e->group),
               2 + ((uint64_t)e->kind << 8 | e->call));
}

static uint64_t rounded(uint64_t ns)
{
    unsigned shift = 0;
    while (ns >> shift >= 1u << DIGITS)
        shift++;
    return shift == 0 ? ns : (ns + (UINT64_C(1) << (shift - 1))) >> shift << shift;
}

/* The mean of what is between two events; made if there is none. */
static sv_status find(smoothing *s, const sv_mpi_event *before, const sv_mpi_event *after,
                      uint32_t *at)
{
    uint64_t key = hash(hash(0, before), after);
    uint32_t next = (uint32_t)s->means.length;
    SV_TRY(sv_map_add(&s->map, key, next, at));
    if (*at == next)
        SV_TRY(sv_array_push(s->app->ctx, &s->means, ((between){0, 0})));
    return SV_OK;
}

/*
 * Walks over a rank. to NULL: what is between two events is added up; else events are added there,
 * with the mean between them. The computing at the very end stands for itself.
 */
static sv_status walk(smoothing *s, const sv_mpi_rank *rank, sv_mpi_trace *to, uint32_t number)
{
    const sv_mpi_event *before = NULL;
    uint64_t ns = 0;
    uint32_t at;
    for (uint64_t i = 0; i <= rank->length; i++) {
        const sv_mpi_event *e = i < rank->length ? &rank->events[i] : NULL;
        if (e != NULL && e->kind == SV_MPI_COMPUTE) {
            ns += e->amount;
            continue;
        }
        SV_TRY(find(s, before, e, &at));
        between *mean = &s->means.at[at];
        sv_mpi_event compute = {.kind = SV_MPI_COMPUTE};
        if (to == NULL) {
            mean->sum += ns;
            mean->count++;
        } else if (mean->sum >= MIN_NS * mean->count && mean->count > 0) {
            compute.amount = rounded(mean->sum / mean->count);
            SV_TRY(sv_mpi_add(to, number, &compute));
        }
        if (to != NULL && e != NULL)
            SV_TRY(sv_mpi_add(to, number, e));
        before = e;
        ns = 0;
    }
    return SV_OK;
}

static sv_status smooth_rank(struct app *app, const sv_mpi_trace *from, uint32_t rank,
                             sv_mpi_trace *to)
{
    smoothing s = {.app = app};
    sv_map_init(&s.map, app->ctx);
    sv_status status = walk(&s, &from->ranks[rank], NULL, rank);
    if (status == SV_OK)
        status = walk(&s, &from->ranks[rank], to, rank);
    sv_map_release(&s.map);
    sv_array_release(app->ctx, &s.means);
    return status;
}

sv_status trace_smooth(struct app *app, sv_mpi_trace **trace)
{
    const sv_mpi_trace *from = *trace;
    sv_mpi_trace *to = NULL;
    uint16_t number;
    SV_TRY(sv_mpi_new(app->ctx, from->name, from->num_ranks, &to));
    sv_status status = SV_OK;
    for (uint32_t g = 1; g < from->num_groups && status == SV_OK; g++)
        status = sv_mpi_add_group(to, from->groups[g].ranks, from->groups[g].size,
                                  from->groups[g].ordinal, &number);
    for (uint32_t r = 0; r < from->num_ranks && status == SV_OK; r++)
        status = smooth_rank(app, from, r, to);
    if (status != SV_OK) {
        sv_mpi_free(to);
        return status;
    }
    sv_mpi_free(*trace);
    *trace = to;
    return SV_OK;
}
