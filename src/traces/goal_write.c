/*
 * goal_write.c: writes a trace as a GOAL schedule.
 *
 * Idea: what a rank does next requires the front: the operations that must be done, or have begun,
 * before. Computing, SEND and RECV are the front alone when they are done. ISEND and IRECV are when
 * they have begun (irequires), which keeps the order of messages; WAIT adds that its operation is
 * done. A step of a collective is a receive and a message, and the front when both are done. The
 * steps of one that is begun follow each other beside all else; WAIT adds that the last is done.
 *
 * GOAL knows no groups: messages of group 0 keep their tags; those of others, and of collectives,
 * get tags above the largest of these, one for each group and tag; in a group in which some are
 * begun each collective has one, since they may pass each other. A receive with any tag takes those
 * of other groups, too, then.
 *
 * Cost: linear in what is written.
 */
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "traces/collective.h"
#include "traces/traces.h"

struct front {
    uint64_t label;
    bool begun; /* is enough */
};

/* The operations that a request ends with; 0: none. */
struct ends {
    uint64_t labels[2];
};

struct writer {
    sv_ctx *ctx;
    const sv_mpi_trace *t;
    sv_text out;
    sv_map tags;
    uint32_t plain; /* tags from here on are ours */
    uint32_t rank;
    uint64_t labels;
    SV_ARRAY(struct front) front;
    SV_ARRAY(struct ends) pending; /* by request */
    /* [groups]: whether some are begun; how many there were of the rank */
    bool *begun;
    uint32_t *turns;
};

/* ---- tags ---- */

static void look_at_all(struct writer *w)
{
    for (uint32_t rank = 0; rank < w->t->num_ranks; rank++)
        for (uint64_t i = 0; i < w->t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &w->t->ranks[rank].events[i];
            if ((e->kind == SV_MPI_SEND || e->kind == SV_MPI_ISEND) && e->group == 0 &&
                e->tag >= w->plain)
                w->plain = e->tag + 1;
            if (e->kind == SV_MPI_ICOLLECTIVE)
                w->begun[e->group] = true;
        }
}

static sv_status tag_of(struct writer *w, const sv_mpi_event *e, uint32_t *tag)
{
    bool collective = sv__is_collective(e);
    uint32_t turn = collective && w->begun[e->group] ? w->turns[e->group]++ : 0;
    *tag = e->tag;
    if (!collective && (e->group == 0 || e->tag == SV_MPI_ANY))
        return SV_OK;
    uint64_t key =
        (uint64_t)e->group << 33 | (uint64_t)collective << 32 | (collective ? turn : e->tag);
    uint32_t number;
    SV_TRY(sv_map_add(&w->tags, key, (uint32_t)w->tags.count, &number));
    if (number >= SV_MPI_ANY - w->plain)
        return sv_fail(w->ctx, SV_UNSUPPORTED, "'%s' has too many different tags for GOAL",
                       w->t->name);
    *tag = w->plain + number;
    return SV_OK;
}

/* ---- operations ---- */

static uint64_t begin_label(struct writer *w)
{
    uint64_t label = ++w->labels;
    sv_text_print(&w->out, "l%llu: ", (unsigned long long)label);
    return label;
}

static void require(struct writer *w, uint64_t label)
{
    for (size_t i = 0; i < w->front.length; i++)
        sv_text_print(&w->out, "l%llu %s l%llu\n", (unsigned long long)label,
                      w->front.at[i].begun ? "irequires" : "requires",
                      (unsigned long long)w->front.at[i].label);
}

static sv_status advance(struct writer *w, uint64_t label, bool begun)
{
    w->front.length = 0;
    return sv_array_push(w->ctx, &w->front, (struct front){label, begun});
}

/* A number, or -1. */
static void print_or_any(struct writer *w, uint32_t number)
{
    if (number == SV_MPI_ANY)
        sv_text_print(&w->out, "-1");
    else
        sv_text_print(&w->out, "%u", number);
}

static uint64_t write_message(struct writer *w, bool sends, uint32_t peer, uint64_t bytes,
                              uint32_t tag)
{
    uint64_t label = begin_label(w);
    sv_text_print(&w->out, "%s %llub %s ", sends ? "send" : "recv", (unsigned long long)bytes,
                  sends ? "to" : "from");
    print_or_any(w, peer);
    sv_text_print(&w->out, " tag ");
    print_or_any(w, tag);
    sv_text_print(&w->out, "\n");
    require(w, label);
    return label;
}

static uint32_t place_in(const sv_mpi_group *g, uint32_t rank)
{
    uint32_t place = 0;
    while (place < g->size - 1 && g->ranks[place] != rank)
        place++;
    return place;
}

/* first: of its first step, if there is one. */
static sv_status write_collective(struct writer *w, const sv_mpi_event *e, struct ends *first)
{
    const sv_mpi_group *g = &w->t->groups[e->group];
    sv__coll coll = {.call = e->call,
                     .size = g->size,
                     .me = place_in(g, w->rank),
                     .root = place_in(g, e->peer),
                     .bytes = e->amount};
    sv__coll_step step;
    uint32_t tag;
    SV_TRY(tag_of(w, e, &tag));
    for (uint32_t i = 0; sv__coll_step_at(&coll, i, &step); i++) {
        uint64_t received = 0, sent = 0;
        if (step.from != SV_NONE)
            received = write_message(w, false, g->ranks[step.from], step.from_bytes, tag);
        if (step.to != SV_NONE)
            sent = write_message(w, true, g->ranks[step.to], step.to_bytes, tag);
        w->front.length = 0;
        if (i == 0)
            *first = (struct ends){{received, sent}};
        if (received > 0)
            SV_TRY(sv_array_push(w->ctx, &w->front, (struct front){received, false}));
        if (sent > 0)
            SV_TRY(sv_array_push(w->ctx, &w->front, (struct front){sent, false}));
    }
    return SV_OK;
}

static sv_status remember(struct writer *w, uint32_t request, struct ends ends)
{
    while (w->pending.length <= request)
        SV_TRY(sv_array_push(w->ctx, &w->pending, (struct ends){{0}}));
    w->pending.at[request] = ends;
    return SV_OK;
}

static sv_status push_ends(struct writer *w, const struct ends *ends, bool begun)
{
    for (int i = 0; i < 2; i++)
        if (ends->labels[i] > 0)
            SV_TRY(sv_array_push(w->ctx, &w->front, (struct front){ends->labels[i], begun}));
    return SV_OK;
}

/* What follows requires that its first step has begun. */
static sv_status begin_collective(struct writer *w, const sv_mpi_event *e)
{
    struct ends first = {{0}}, last = {{0}};
    SV_TRY(write_collective(w, e, &first));
    if (first.labels[0] == 0 && first.labels[1] == 0)
        return remember(w, e->request, last); /* it has no messages: the front is what it was */
    for (size_t i = 0; i < w->front.length; i++)
        last.labels[i] = w->front.at[i].label;
    w->front.length = 0;
    SV_TRY(push_ends(w, &first, true));
    return remember(w, e->request, last);
}

static sv_status write_event(struct writer *w, const sv_mpi_event *e)
{
    uint64_t label;
    uint32_t tag;
    struct ends first;
    bool sends = e->kind == SV_MPI_SEND || e->kind == SV_MPI_ISEND;
    bool later = e->kind == SV_MPI_ISEND || e->kind == SV_MPI_IRECV;
    switch ((sv_mpi_kind)e->kind) {
    case SV_MPI_COMPUTE:
        label = begin_label(w);
        sv_text_print(&w->out, "calc %llu\n", (unsigned long long)e->amount);
        require(w, label);
        return advance(w, label, false);
    case SV_MPI_SEND:
    case SV_MPI_ISEND:
    case SV_MPI_RECV:
    case SV_MPI_IRECV:
        SV_TRY(tag_of(w, e, &tag));
        label = write_message(w, sends, e->peer, e->amount, tag);
        if (later)
            SV_TRY(remember(w, e->request, (struct ends){{label}}));
        return advance(w, label, later);
    case SV_MPI_WAIT:
        return push_ends(w, &w->pending.at[e->request], false);
    case SV_MPI_COLLECTIVE:
        return write_collective(w, e, &first);
    case SV_MPI_ICOLLECTIVE:
        return begin_collective(w, e);
    case SV_MPI_KINDS:
        break;
    }
    return SV_OK;
}

static sv_status write_all(struct writer *w)
{
    look_at_all(w);
    sv_text_print(&w->out, "num_ranks %u\n", w->t->num_ranks);
    for (w->rank = 0; w->rank < w->t->num_ranks; w->rank++) {
        const sv_mpi_rank *of = &w->t->ranks[w->rank];
        w->labels = 0;
        w->front.length = w->pending.length = 0;
        memset(w->turns, 0, w->t->num_groups * sizeof *w->turns);
        sv_text_print(&w->out, "\nrank %u {\n", w->rank);
        for (uint64_t i = 0; i < of->length && w->out.status == SV_OK; i++)
            SV_TRY(write_event(w, &of->events[i]));
        sv_text_print(&w->out, "}\n");
    }
    return sv_text_finish(&w->out);
}

sv_status sv_mpi_write_goal(sv_ctx *ctx, const sv_mpi_trace *trace, const sv_sink *sink)
{
    SV_TRY(sv_mpi_check(ctx, trace));
    struct writer w = {.ctx = ctx, .t = trace};
    sv_text_init(&w.out, ctx, sink);
    sv_map_init(&w.tags, ctx);
    w.begun = sv_alloc(ctx, trace->num_groups, sizeof *w.begun);
    w.turns = sv_alloc(ctx, trace->num_groups, sizeof *w.turns);
    sv_status status = w.begun == NULL || w.turns == NULL ? SV_NO_MEMORY : write_all(&w);
    sv_release(ctx, w.begun);
    sv_release(ctx, w.turns);
    sv_array_release(ctx, &w.front);
    sv_array_release(ctx, &w.pending);
    sv_map_release(&w.tags);
    sv_text_release(&w.out);
    return status;
}
