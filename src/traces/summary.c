/*
 * summary.c: what a trace says: who sends how much to whom, in which sizes, by which calls.
 *
 * Idea: one pass over all events. Messages go straight into the matrix; collectives are counted by
 * kind, and each kind is taken apart into its messages once, for there are few kinds and many
 * collectives. Messages that the recorder has made of a collective (SV_MPI_COLLECTIVE_TAG) are none
 * from point to point.
 *
 * Invariants: all_bytes is point_bytes and what collectives send; sums over all_messages, sizes and
 * messages agree.
 * Source: PR-DRB thesis 2.2.4 to 2.2.6 (Tables 2.1 and 2.2, topological degree of communication).
 * Cost: linear in events, ranks² for the matrix, the messages of each kind of collective, and
 * phases.
 */
#include "traces/summary.h"

/* ---- collectives by kind ---- */

void sv__coll_kinds_init(sv__coll_kinds *k, sv_ctx *ctx, const sv_mpi_trace *trace)
{
    *k = (sv__coll_kinds){.ctx = ctx, .trace = trace};
    sv_map_init(&k->shapes, ctx);
    sv_map_init(&k->sizes, ctx);
    sv_map_init(&k->both, ctx);
}

void sv__coll_kinds_release(sv__coll_kinds *k)
{
    sv_map_release(&k->shapes);
    sv_map_release(&k->sizes);
    sv_map_release(&k->both);
    sv_array_release(k->ctx, &k->kinds);
}

/* The rank's place in a group; the group's size if it is not in it. */
static uint32_t place_in(const sv_mpi_group *group, uint32_t rank)
{
    uint32_t i = 0;
    while (i < group->size && group->ranks[i] != rank)
        i++;
    return i;
}

sv_status sv__coll_messages(const sv_mpi_trace *trace, const sv_mpi_event *event,
                            sv__coll_message message, void *user)
{
    const sv_mpi_group *group = &trace->groups[event->group];
    uint32_t root = place_in(group, event->peer);
    for (uint32_t me = 0; me < group->size; me++) {
        sv__coll coll = {.call = event->call,
                         .size = group->size,
                         .me = me,
                         .root = root < group->size ? root : 0,
                         .bytes = event->amount};
        sv__coll_step step;
        for (uint32_t i = 0; sv__coll_step_at(&coll, i, &step); i++)
            if (step.to != SV_NONE)
                SV_TRY(message(user, group->ranks[me], group->ranks[step.to], step.to_bytes));
    }
    return SV_OK;
}

static sv_status count_one(void *user, uint32_t from, uint32_t to, uint64_t bytes)
{
    sv__coll_kind *kind = user;
    (void)from;
    (void)to;
    kind->messages++;
    kind->bytes += bytes;
    return SV_OK;
}

static sv_status number_of(sv_map *map, uint64_t key, uint32_t *count, uint32_t *number)
{
    SV_TRY(sv_map_add(map, key, *count, number));
    *count += *number == *count;
    return SV_OK;
}

sv_status sv__coll_kind_of(sv__coll_kinds *k, const sv_mpi_event *event, uint32_t *kind)
{
    uint64_t shape_key = (uint64_t)event->call << 48 | (uint64_t)event->group << 32 | event->peer;
    uint32_t shape, size, count = (uint32_t)k->kinds.length;
    SV_TRY(number_of(&k->shapes, shape_key, &k->num_shapes, &shape));
    SV_TRY(number_of(&k->sizes, event->amount, &k->num_sizes, &size));
    SV_TRY(sv_map_add(&k->both, (uint64_t)shape << 32 | size, count, kind));
    if (*kind < count)
        return SV_OK;
    sv__coll_kind made = {.event = *event};
    SV_TRY(sv__coll_messages(k->trace, event, count_one, &made));
    return sv_array_push(k->ctx, &k->kinds, made);
}

/* ---- one pass ---- */

typedef struct pass {
    const sv_mpi_trace *trace;
    sv_mpi_summary *summary;
    sv__coll_kinds kinds;
    uint64_t times; /* of the collective that is being taken apart */
    uint8_t *talk;  /* whether a rank sends to another, point to point */
} pass;

static void count_messages(sv_mpi_summary *s, uint32_t from, uint32_t to, uint64_t bytes,
                           uint64_t times)
{
    size_t at = (size_t)from * s->ranks + to;
    s->messages += times;
    s->bytes += bytes * times;
    s->sizes[sv__bits(bytes)] += times;
    s->all_messages[at] += times;
    s->all_bytes[at] += bytes * times;
}

static sv_status count_event(pass *p, uint32_t rank, const sv_mpi_event *event)
{
    sv_mpi_summary *s = p->summary;
    uint32_t kind;
    (event->kind == SV_MPI_ICOLLECTIVE ? s->begun : s->calls)[event->call]++;
    switch (event->kind) {
    case SV_MPI_COMPUTE:
        s->compute_ns += event->amount;
        break;
    case SV_MPI_SEND:
    case SV_MPI_ISEND:
        count_messages(s, rank, event->peer, event->amount, 1);
        if (event->tag >= SV_MPI_COLLECTIVE_TAG)
            break;
        s->point_bytes[(size_t)rank * s->ranks + event->peer] += event->amount;
        p->talk[(size_t)rank * s->ranks + event->peer] = 1;
        break;
    case SV_MPI_COLLECTIVE:
    case SV_MPI_ICOLLECTIVE:
        if (p->trace->groups[event->group].ranks[0] != rank)
            break;
        SV_TRY(sv__coll_kind_of(&p->kinds, event, &kind));
        p->kinds.kinds.at[kind].times++;
        break;
    default:
        break;
    }
    return SV_OK;
}

static void find_degrees(sv_mpi_summary *s, const uint8_t *talk)
{
    uint64_t sum = 0;
    for (uint32_t from = 0; from < s->ranks; from++) {
        for (uint32_t to = 0; to < s->ranks; to++)
            s->degree[from] += to != from && talk[(size_t)from * s->ranks + to] != 0;
        sum += s->degree[from];
        if (s->degree[from] > s->degree_max)
            s->degree_max = s->degree[from];
    }
    s->degree_mean = (double)sum / s->ranks;
}

static sv_status count_collective(void *user, uint32_t from, uint32_t to, uint64_t bytes)
{
    pass *p = user;
    count_messages(p->summary, from, to, bytes, p->times);
    return SV_OK;
}

static sv_status count_all(pass *p)
{
    const sv_mpi_trace *trace = p->trace;
    for (uint32_t rank = 0; rank < trace->num_ranks; rank++) {
        const sv_mpi_rank *of = &trace->ranks[rank];
        SV_TRY(sv_progress(p->summary->ctx, "summing up", rank, trace->num_ranks));
        p->summary->events += of->length;
        for (uint64_t i = 0; i < of->length; i++)
            SV_TRY(count_event(p, rank, &of->events[i]));
    }
    p->summary->calls[SV_CALL_NONE] = 0;
    find_degrees(p->summary, p->talk);
    for (size_t i = 0; i < p->kinds.kinds.length; i++) {
        p->times = p->kinds.kinds.at[i].times;
        SV_TRY(sv__coll_messages(trace, &p->kinds.kinds.at[i].event, count_collective, p));
    }
    return SV_OK;
}

static sv_status fill(sv_ctx *ctx, const sv_mpi_trace *trace, sv_mpi_summary *s)
{
    size_t cells = (size_t)s->ranks * s->ranks;
    s->point_bytes = sv_alloc(ctx, cells, sizeof *s->point_bytes);
    s->all_bytes = sv_alloc(ctx, cells, sizeof *s->all_bytes);
    s->all_messages = sv_alloc(ctx, cells, sizeof *s->all_messages);
    s->degree = sv_alloc(ctx, s->ranks, sizeof *s->degree);
    if (s->point_bytes == NULL || s->all_bytes == NULL || s->all_messages == NULL ||
        s->degree == NULL)
        return SV_NO_MEMORY;
    pass p = {.trace = trace, .summary = s, .talk = sv_alloc(ctx, cells, 1)};
    if (p.talk == NULL)
        return SV_NO_MEMORY;
    sv__coll_kinds_init(&p.kinds, ctx, trace);
    sv_status status = count_all(&p);
    sv__coll_kinds_release(&p.kinds);
    sv_release(ctx, p.talk);
    return status == SV_OK ? sv__find_phases(ctx, trace, s) : status;
}

sv_status sv_mpi_summarise(sv_ctx *ctx, const sv_mpi_trace *trace, sv_mpi_summary **summary)
{
    SV_TRY(sv_mpi_check(ctx, trace));
    sv_mpi_summary *s = sv_alloc(ctx, 1, sizeof *s);
    if (s == NULL)
        return SV_NO_MEMORY;
    s->ctx = ctx;
    s->ranks = trace->num_ranks;
    sv_status status = fill(ctx, trace, s);
    if (status != SV_OK)
        sv_mpi_summary_free(s);
    else
        *summary = s;
    return status;
}

void sv_mpi_summary_free(sv_mpi_summary *summary)
{
    if (summary == NULL)
        return;
    sv_release(summary->ctx, summary->point_bytes);
    sv_release(summary->ctx, summary->all_bytes);
    sv_release(summary->ctx, summary->all_messages);
    sv_release(summary->ctx, summary->degree);
    sv_release(summary->ctx, summary->phases);
    sv_release(summary->ctx, summary);
}
