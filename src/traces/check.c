/*
 * check.c: whether a trace is one.
 *
 * Idea: three passes. Each event by itself, and requests, rank by rank. Collectives: the first rank
 * of a group says which there are, the others must have the same. Messages: for each receiver all
 * that is sent to it and all that it receives, sorted by group, sender and tag; a receive must find
 * a message among those it may take.
 *
 * Receives from anybody, or with any tag, get what named ones leave; if both kinds want the same
 * messages, the numbers may add up and some order of arrivals still leave one without. So this
 * finds what can never be, and a replay tells of a rank that waits for ever.
 *
 * Cost: O(n log n) for n events (of one receiver); for receives from anybody with a tag, events of
 * the receiver each.
 */
#include <stdlib.h>

#include "base/array.h"
#include "traces/traces.h"

struct check {
    sv_ctx *ctx;
    const sv_mpi_trace *t;
};

static sv_status bad(const struct check *c, uint32_t rank, uint64_t event, const char *what)
{
    return sv_fail(c->ctx, SV_BAD_INPUT, "%s: %s", sv__mpi_place_of(c->t, rank, event).text, what);
}

static bool is_send(const sv_mpi_event *e)
{
    return e->kind == SV_MPI_SEND || e->kind == SV_MPI_ISEND;
}

static bool is_receive(const sv_mpi_event *e)
{
    return e->kind == SV_MPI_RECV || e->kind == SV_MPI_IRECV;
}

static bool has_root(const sv_mpi_event *e)
{
    return e->call == SV_CALL_BCAST || e->call == SV_CALL_REDUCE || e->call == SV_CALL_GATHER ||
           e->call == SV_CALL_SCATTER;
}

/* ---- each by itself ---- */

/* Who is in which group: a bit for each rank of each group but the first. */
struct members {
    uint8_t *bits;
    size_t row;
};

static bool is_member(const struct check *c, const struct members *m, uint16_t group, uint32_t rank)
{
    if (rank >= c->t->num_ranks)
        return false;
    return group == 0 || (m->bits[(group - 1u) * m->row + rank / 8] >> rank % 8 & 1) != 0;
}

static sv_status list_members(const struct check *c, struct members *m)
{
    const sv_mpi_trace *t = c->t;
    m->row = (t->num_ranks + 7) / 8;
    m->bits = sv_alloc(c->ctx, m->row, t->num_groups);
    if (m->bits == NULL)
        return SV_NO_MEMORY;
    for (uint32_t g = 1; g < t->num_groups; g++)
        for (uint32_t i = 0; i < t->groups[g].size; i++) {
            uint32_t rank = t->groups[g].ranks[i];
            if (rank >= t->num_ranks || is_member(c, m, (uint16_t)g, rank))
                return sv_fail(c->ctx, SV_BAD_INPUT, "group %u: rank %u is %s", g, rank,
                               rank < t->num_ranks ? "there twice" : "out of range");
            m->bits[(g - 1) * m->row + rank / 8] |= (uint8_t)(1u << rank % 8);
        }
    return SV_OK;
}

static sv_status check_event(const struct check *c, const struct members *m, uint32_t rank,
                             uint64_t i)
{
    const sv_mpi_event *e = &c->t->ranks[rank].events[i];
    if (e->kind >= SV_MPI_KINDS || e->call >= SV_CALL_COUNT)
        return bad(c, rank, i, "there is no such kind of event, or call");
    if (e->kind == SV_MPI_COMPUTE || e->kind == SV_MPI_WAIT)
        return SV_OK;
    if (e->group >= c->t->num_groups)
        return bad(c, rank, i, "there is no such group");
    if (!is_member(c, m, e->group, rank))
        return bad(c, rank, i, "the rank is not in the group");
    if (sv__is_collective(e)) {
        if (e->call < SV_CALL_BARRIER)
            return bad(c, rank, i, "the call is no collective");
        if (has_root(e) && !is_member(c, m, e->group, e->peer))
            return bad(c, rank, i, "the root is not in the group");
        return SV_OK;
    }
    if (is_receive(e) && e->peer == SV_MPI_ANY)
        return SV_OK;
    if (!is_member(c, m, e->group, e->peer))
        return bad(c, rank, i, "the peer is not in the group");
    return is_send(e) && e->tag == SV_MPI_ANY ? bad(c, rank, i, "a message with any tag") : SV_OK;
}

/* Requests: numbers below the number of events, started and waited for in turn. */
static sv_status check_requests(const struct check *c, uint32_t rank, uint64_t *started)
{
    const sv_mpi_rank *of = &c->t->ranks[rank];
    for (uint64_t i = 0; i < of->length; i++) {
        const sv_mpi_event *e = &of->events[i];
        bool starts = sv__begins(e);
        if (!starts && e->kind != SV_MPI_WAIT)
            continue;
        if (e->request >= of->length)
            return bad(c, rank, i, "a request's number is not below the number of events");
        if (starts ? started[e->request] != 0 : started[e->request] == 0)
            return bad(c, rank, i,
                       starts ? "the request is not waited for yet, and starts again"
                              : "waits for a request that is not there");
        started[e->request] = starts ? i + 1 : 0;
    }
    for (uint64_t i = 0; i < of->length; i++)
        if (started[i] != 0)
            return bad(c, rank, started[i] - 1, "nobody waits for the request");
    return SV_OK;
}

static sv_status check_ranks(const struct check *c)
{
    struct members m = {0};
    sv_status status = list_members(c, &m);
    for (uint32_t rank = 0; rank < c->t->num_ranks && status == SV_OK; rank++) {
        const sv_mpi_rank *of = &c->t->ranks[rank];
        for (uint64_t i = 0; i < of->length && status == SV_OK; i++)
            status = check_event(c, &m, rank, i);
        if (status != SV_OK)
            break;
        uint64_t *started = sv_alloc(c->ctx, (size_t)of->length, sizeof *started);
        status = started == NULL ? SV_NO_MEMORY : check_requests(c, rank, started);
        sv_release(c->ctx, started);
    }
    sv_release(c->ctx, m.bits);
    return status;
}

/* ---- collectives ---- */

/* Those of a group, as its first rank has them; where the rank that is looked at stands. */
struct sequence {
    const sv_mpi_event **at;
    size_t length, room, next;
};

static const char *name_of(const sv_mpi_event *e)
{
    return e->kind == SV_MPI_ICOLLECTIVE ? sv_mpi_begun_name(e->call) : sv_mpi_call_name(e->call);
}

static sv_status compare_rank(const struct check *c, uint32_t rank, struct sequence *all)
{
    const sv_mpi_rank *of = &c->t->ranks[rank];
    for (uint32_t g = 0; g < c->t->num_groups; g++)
        all[g].next = 0;
    for (uint64_t i = 0; i < of->length; i++) {
        const sv_mpi_event *e = &of->events[i];
        if (!sv__is_collective(e))
            continue;
        struct sequence *s = &all[e->group];
        const sv_mpi_event *is = s->next < s->length ? s->at[s->next++] : NULL;
        if (is == NULL || is->call != e->call || is->kind != e->kind || is->amount != e->amount ||
            (has_root(e) && is->peer != e->peer))
            return sv_fail(
                c->ctx, SV_BAD_INPUT, "rank %u, event %llu: %s, where rank %u of the group has %s",
                rank, (unsigned long long)i, name_of(e), c->t->groups[e->group].ranks[0],
                is == NULL                                   ? "none"
                : is->call != e->call || is->kind != e->kind ? name_of(is)
                                                             : "it with another root or size");
    }
    return SV_OK;
}

static sv_status collect(const struct check *c, struct sequence *all)
{
    for (uint32_t rank = 0; rank < c->t->num_ranks; rank++)
        for (uint64_t i = 0; i < c->t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &c->t->ranks[rank].events[i];
            if (sv__is_collective(e) && c->t->groups[e->group].ranks[0] == rank)
                SV_TRY(sv_array_push(c->ctx, &all[e->group], e));
        }
    return SV_OK;
}

/* The rank of a group that has not all of its collectives. */
static sv_status who_misses(const struct check *c, uint32_t g, const struct sequence *of)
{
    for (uint32_t i = 0; i < c->t->groups[g].size; i++) {
        uint32_t rank = c->t->groups[g].ranks[i];
        const sv_mpi_rank *events = &c->t->ranks[rank];
        size_t count = 0;
        for (uint64_t n = 0; n < events->length; n++)
            count += sv__is_collective(&events->events[n]) && events->events[n].group == g;
        if (count < of->length)
            return sv_fail(c->ctx, SV_BAD_INPUT,
                           "rank %u, event %llu: it ends with %zu of the %zu collectives of group "
                           "%u: %s is missing",
                           rank, (unsigned long long)events->length, count, of->length, g,
                           name_of(of->at[count]));
    }
    return SV_OK;
}

/* All ranks of a group have all of its collectives (nobody has more). */
static sv_status all_there(const struct check *c, const struct sequence *all, uint64_t *counts)
{
    for (uint32_t rank = 0; rank < c->t->num_ranks; rank++)
        for (uint64_t i = 0; i < c->t->ranks[rank].length; i++)
            if (sv__is_collective(&c->t->ranks[rank].events[i]))
                counts[c->t->ranks[rank].events[i].group]++;
    for (uint32_t g = 0; g < c->t->num_groups; g++)
        if (counts[g] != (uint64_t)all[g].length * c->t->groups[g].size)
            SV_TRY(who_misses(c, g, &all[g]));
    return SV_OK;
}

static sv_status check_collectives(const struct check *c)
{
    struct sequence *all = sv_alloc(c->ctx, c->t->num_groups, sizeof *all);
    uint64_t *counts = sv_alloc(c->ctx, c->t->num_groups, sizeof *counts);
    sv_status status = all == NULL || counts == NULL ? SV_NO_MEMORY : collect(c, all);
    for (uint32_t rank = 0; rank < c->t->num_ranks && status == SV_OK; rank++)
        status = compare_rank(c, rank, all);
    if (status == SV_OK)
        status = all_there(c, all, counts);
    for (uint32_t g = 0; all != NULL && g < c->t->num_groups; g++)
        sv_release(c->ctx, all[g].at);
    sv_release(c->ctx, counts);
    sv_release(c->ctx, all);
    return status;
}

/* ---- messages ---- */

/* A message to a rank, or a receive of it. */
struct item {
    uint64_t event;
    uint32_t from, tag;
    uint16_t group;
    bool receive;
};

/* By group, sender, tag; messages before receives. */
static int by_kind(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    if (x->receive != y->receive)
        return x->receive ? 1 : -1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* Messages left for a receive from anybody with a tag: those of the group with it. */
static int64_t left_with_tag(const struct item *items, size_t count, uint32_t tag)
{
    int64_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].from != SV_MPI_ANY && items[i].tag == tag)
            left += items[i].receive ? -1 : 1;
    return left;
}

/* The items of one group. What is left: of one sender and tag, of one sender, of all. */
static sv_status check_group(const struct check *c, uint32_t rank, const struct item *items,
                             size_t count)
{
    int64_t exact = 0, row = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        const struct item *is = &items[i];
        bool same_row = i > 0 && items[i - 1].from == is->from;
        bool same = same_row && items[i - 1].tag == is->tag;
        row = same_row ? row : 0;
        if (!same)
            exact = is->from == SV_MPI_ANY && is->tag != SV_MPI_ANY
                        ? left_with_tag(items, count, is->tag)
                        : 0;
        int64_t one = is->receive ? -1 : 1;
        exact += one;
        row += one;
        all += one;
        bool named = is->from != SV_MPI_ANY;
        if ((is->tag != SV_MPI_ANY && exact < 0) || (named && row < 0) || all < 0)
            return bad(c, rank, is->event, "there is no message for this receive");
    }
    return SV_OK;
}

static sv_status check_receiver(const struct check *c, uint32_t rank, struct item *items,
                                size_t count)
{
    qsort(items, count, sizeof *items, by_kind);
    for (size_t i = 0, end = 0; i < count; i = end) {
        while (end < count && items[end].group == items[i].group)
            end++;
        SV_TRY(check_group(c, rank, items + i, end - i));
    }
    return SV_OK;
}

/* first: [ranks + 1]: where the items of each receiver begin. */
static void list_items(const struct check *c, size_t *next, struct item *items)
{
    for (uint32_t rank = 0; rank < c->t->num_ranks; rank++)
        for (uint64_t i = 0; i < c->t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &c->t->ranks[rank].events[i];
            if (is_send(e))
                items[next[e->peer]++] = (struct item){i, rank, e->tag, e->group, false};
            else if (is_receive(e))
                items[next[rank]++] = (struct item){i, e->peer, e->tag, e->group, true};
        }
}

static sv_status check_messages(const struct check *c)
{
    uint32_t ranks = c->t->num_ranks;
    size_t *first = sv_alloc(c->ctx, ranks + (size_t)2, sizeof *first);
    if (first == NULL)
        return SV_NO_MEMORY;
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint64_t i = 0; i < c->t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &c->t->ranks[rank].events[i];
            if (is_send(e) || is_receive(e))
                first[(is_send(e) ? e->peer : rank) + 2]++;
        }
    for (uint32_t rank = 0; rank < ranks; rank++)
        first[rank + 2] += first[rank + 1];
    struct item *items = sv_alloc(c->ctx, first[ranks + 1], sizeof *items);
    sv_status status = items == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK)
        list_items(c, first + 1, items); /* first[rank] is then where its items begin */
    for (uint32_t rank = 0; rank < ranks && status == SV_OK; rank++)
        status = check_receiver(c, rank, items + first[rank], first[rank + 1] - first[rank]);
    sv_release(c->ctx, items);
    sv_release(c->ctx, first);
    return status;
}

sv_status sv_mpi_check(sv_ctx *ctx, const sv_mpi_trace *trace)
{
    const struct check c = {ctx, trace};
    SV_TRY(check_ranks(&c));
    SV_TRY(check_collectives(&c));
    return check_messages(&c);
}
