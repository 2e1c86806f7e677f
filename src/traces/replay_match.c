/*
 * replay_match.c: messages on their way, and which receive gets which (as MPI has it).
 *
 * Idea: a message that arrives takes the receive that was posted first among those that want it; a
 * receive takes the message that arrived first among those it wants. Between two ranks in a group
 * there is a VL with both lists (at most one of them has something for a tag); receives from
 * anybody are in a list of their rank. Order numbers tell who was first.
 *
 * Who gets what depends on the order of arrivals and on that of receives, but not on how both are
 * mixed: the first receive gets the first message it wants in any case, and so on. So a rank may
 * run ahead of what has arrived, and its times are still right: what it waits for is done at the
 * later of both times.
 *
 * Messages above the eager limit go in three legs: ask, answer, data. The parcel is the same one.
 *
 * Invariants: a parcel is in one outbox, in one list, or with the simulator. Cost: O(1) a message,
 * but for different tags between two ranks, and O(partners) for receives from anybody.
 */
#include "base/heap.h"
#include "traces/replay.h"

static bool fits(uint32_t wanted, uint32_t tag)
{
    return wanted == SV_MPI_ANY || wanted == tag;
}

static void *no_memory(sv_mpi_replay *p)
{
    p->status = SV_NO_MEMORY;
    return NULL;
}

/* ---- outboxes ---- */

static bool before(const sv_mpi_replay *p, uint32_t a, uint32_t b)
{
    const sv__replay_message *x = &p->parcels.at[a], *y = &p->parcels.at[b];
    return x->ready != y->ready ? x->ready < y->ready : x->order < y->order;
}

/* Of p's. */
#define EARLIER(a, b) before(p, *(a), *(b))

void sv__replay_push(sv_mpi_replay *p, uint32_t terminal, uint32_t parcel)
{
    sv__outbox *box = &p->outboxes[terminal];
    if (sv_array_push(p->ctx, &box->heap, parcel) != SV_OK) {
        no_memory(p);
        return;
    }
    sv_heap_rise(uint32_t, &box->heap, EARLIER);
}

uint32_t sv__replay_pop(sv_mpi_replay *p, uint32_t terminal)
{
    sv__outbox *box = &p->outboxes[terminal];
    if (box->heap.length == 0)
        return SV_NONE;
    uint32_t first = box->heap.at[0];
    sv_heap_drop(uint32_t, &box->heap, EARLIER);
    return first;
}

/* ---- parcels, posts, VLs ---- */

static sv__replay_message *parcel_new(sv_mpi_replay *p, uint32_t *number)
{
    if (p->free_parcel != SV_NONE) {
        *number = p->free_parcel;
        p->free_parcel = p->parcels.at[*number].next;
    } else {
        *number = (uint32_t)p->parcels.length;
        if (sv_array_push(p->ctx, &p->parcels, (sv__replay_message){0}) != SV_OK)
            return no_memory(p);
    }
    return &p->parcels.at[*number];
}

static void parcel_free(sv_mpi_replay *p, uint32_t number)
{
    p->parcels.at[number].next = p->free_parcel;
    p->free_parcel = number;
}

static sv__vl *vl_between(sv_mpi_replay *p, uint32_t from, uint32_t to, uint32_t group)
{
    uint64_t column = (uint64_t)group * p->trace->num_ranks + from;
    uint32_t number = sv_cells_get(&p->vl_of, to, column);
    if (number != SV_ABSENT)
        return &p->vls.at[number];
    const sv__replay_list none = {SV_NONE, SV_NONE};
    number = (uint32_t)p->vls.length;
    if (sv_array_push(p->ctx, &p->vls, (sv__vl){none, none, group, p->actors[to].vls}) != SV_OK ||
        sv_cells_add(&p->vl_of, to, column, number, &number) != SV_OK)
        return no_memory(p);
    p->actors[to].vls = number;
    return &p->vls.at[number];
}

/* ---- lists ---- */

static void append_parcel(sv_mpi_replay *p, sv__replay_list *list, uint32_t number)
{
    p->parcels.at[number].next = SV_NONE;
    if (list->first == SV_NONE)
        list->first = number;
    else
        p->parcels.at[list->last].next = number;
    list->last = number;
}

/* The first message of a list with a tag; *behind: the one before it. */
static uint32_t find_parcel(const sv_mpi_replay *p, const sv__replay_list *list, uint32_t tag,
                            uint32_t *behind)
{
    *behind = SV_NONE;
    uint32_t i = list->first;
    while (i != SV_NONE && !fits(tag, p->parcels.at[i].tag)) {
        *behind = i;
        i = p->parcels.at[i].next;
    }
    return i;
}

static void take_parcel(sv_mpi_replay *p, sv__replay_list *list, uint32_t i, uint32_t behind)
{
    uint32_t next = p->parcels.at[i].next;
    if (behind == SV_NONE)
        list->first = next;
    else
        p->parcels.at[behind].next = next;
    if (list->last == i)
        list->last = behind;
}

static uint32_t find_post(const sv_mpi_replay *p, const sv__replay_list *list, uint32_t tag,
                          uint32_t group, uint32_t *behind)
{
    *behind = SV_NONE;
    uint32_t i = list->first;
    while (i != SV_NONE && (p->posts.at[i].group != group || !fits(p->posts.at[i].tag, tag))) {
        *behind = i;
        i = p->posts.at[i].next;
    }
    return i;
}

/* Takes it out of its list; it is free. */
static sv__post take_post(sv_mpi_replay *p, sv__replay_list *list, uint32_t i, uint32_t behind)
{
    sv__post post = p->posts.at[i];
    if (behind == SV_NONE)
        list->first = post.next;
    else
        p->posts.at[behind].next = post.next;
    if (list->last == i)
        list->last = behind;
    p->posts.at[i].next = p->free_post;
    p->free_post = i;
    return post;
}

static void append_post(sv_mpi_replay *p, sv__replay_list *list, const sv__post *post)
{
    uint32_t number = p->free_post;
    if (number != SV_NONE) {
        p->free_post = p->posts.at[number].next;
        p->posts.at[number] = *post;
    } else {
        number = (uint32_t)p->posts.length;
        if (sv_array_push(p->ctx, &p->posts, *post) != SV_OK) {
            no_memory(p);
            return;
        }
    }
    p->posts.at[number].next = SV_NONE;
    if (list->first == SV_NONE)
        list->first = number;
    else
        p->posts.at[list->last].next = number;
    list->last = number;
}

/* ---- on the way ---- */

/* From one rank to the other, at a time; order: among others of that time. */
static void under_way(sv_mpi_replay *p, uint32_t number, uint32_t from, uint32_t to, uint64_t ready,
                      uint64_t order)
{
    sv__replay_message *parcel = &p->parcels.at[number];
    uint32_t terminal = p->actors[from].terminal;
    parcel->ready = ready;
    parcel->order = order;
    parcel->pauses = false;
    if (terminal == p->actors[to].terminal)
        sv__replay_deliver(p, number, ready);
    else
        sv__replay_push(p, terminal, number);
}

/* A message that arrived at a time and its receive have found each other. An answer to one that was
 * there before goes in the order of what the rank does, whenever we hear of it. */
static void matched(sv_mpi_replay *p, uint32_t number, const sv__post *post, uint64_t arrived)
{
    sv__replay_message *parcel = &p->parcels.at[number];
    uint32_t to = parcel->to;
    uint64_t time = post->time > arrived ? post->time : arrived;
    if (parcel->leg == SV__WHOLE) {
        parcel_free(p, number);
        sv__replay_done(p, to, post->slot, time);
        return;
    }
    parcel->leg = SV__ANSWER;
    parcel->receive_slot = post->slot;
    under_way(p, number, to, parcel->from, time, post->time >= arrived ? post->order : p->orders++);
}

/* Something has come to its receiver, who may want it. */
static void offer(sv_mpi_replay *p, uint32_t number, uint64_t time)
{
    sv__replay_message *parcel = &p->parcels.at[number];
    sv__vl *vl = vl_between(p, parcel->from, parcel->to, parcel->group);
    if (vl == NULL)
        return;
    sv__replay_list *posted = &vl->posted, *any = &p->actors[parcel->to].any;
    uint32_t behind, behind_any;
    uint32_t i = find_post(p, posted, parcel->tag, parcel->group, &behind);
    uint32_t k = find_post(p, any, parcel->tag, parcel->group, &behind_any);
    if (i == SV_NONE && k == SV_NONE) {
        parcel->arrived = time;
        parcel->order = p->orders++;
        append_parcel(p, &vl->early, number);
        return;
    }
    bool named = k == SV_NONE || (i != SV_NONE && p->posts.at[i].order < p->posts.at[k].order);
    sv__post post = named ? take_post(p, posted, i, behind) : take_post(p, any, k, behind_any);
    matched(p, number, &post, time);
}

void sv__replay_deliver(sv_mpi_replay *p, uint32_t number, uint64_t time)
{
    sv__replay_message *parcel = &p->parcels.at[number];
    uint32_t from = parcel->from, to = parcel->to;
    switch ((sv__leg)parcel->leg) {
    case SV__WHOLE:
    case SV__ASK:
        offer(p, number, time);
        return;
    case SV__ANSWER:
        parcel->leg = SV__DATA;
        sv__replay_done(p, from, parcel->send_slot, time);
        under_way(p, number, from, to, time, p->orders++);
        return;
    case SV__DATA:
        sv__replay_done(p, to, parcel->receive_slot, time);
        parcel_free(p, number);
        return;
    }
}

/* ---- ranks ---- */

void sv__replay_send(sv_mpi_replay *p, uint32_t rank, const sv__replay_want *what, bool *told)
{
    uint32_t number;
    sv__replay_message *parcel = parcel_new(p, &number);
    if (parcel == NULL)
        return;
    bool asks = p->eager > 0 && what->bytes > p->eager;
    bool pauses = told != NULL && p->actors[rank].terminal != p->actors[what->peer].terminal;
    *parcel = (sv__replay_message){.from = rank,
                                   .to = what->peer,
                                   .tag = what->tag,
                                   .bytes = (uint32_t)what->bytes,
                                   .group = what->group,
                                   .send_slot = what->slot,
                                   .leg = asks ? SV__ASK : SV__WHOLE};
    p->actors[rank].slots[what->slot].done = asks ? SV_NEVER : what->now;
    under_way(p, number, rank, what->peer, what->now, p->orders++);
    if (pauses)
        p->parcels.at[number].pauses = *told = true;
}

/* The message that a receive from anybody takes: the first of all VLs. */
static uint32_t find_any(sv_mpi_replay *p, const sv__post *post, uint32_t rank,
                         sv__replay_list **list, uint32_t *behind)
{
    uint32_t best = SV_NONE;
    for (uint32_t l = p->actors[rank].vls; l != SV_NONE; l = p->vls.at[l].next) {
        uint32_t last;
        sv__replay_list *early = &p->vls.at[l].early;
        if (p->vls.at[l].group != post->group)
            continue;
        uint32_t i = find_parcel(p, early, post->tag, &last);
        if (i == SV_NONE || (best != SV_NONE && p->parcels.at[best].order < p->parcels.at[i].order))
            continue;
        best = i;
        *list = early;
        *behind = last;
    }
    return best;
}

void sv__replay_receive(sv_mpi_replay *p, uint32_t rank, const sv__replay_want *what)
{
    sv__actor *actor = &p->actors[rank];
    const sv__post post = {.time = what->now,
                           .order = p->orders++,
                           .from = what->peer,
                           .tag = what->tag,
                           .group = what->group,
                           .slot = what->slot};
    sv__replay_list *list = NULL;
    uint32_t behind = SV_NONE, i;
    bool any = what->peer == SV_MPI_ANY;
    actor->slots[what->slot].done = SV_NEVER;
    if (any) {
        i = find_any(p, &post, rank, &list, &behind);
    } else {
        sv__vl *vl = vl_between(p, what->peer, rank, what->group);
        if (vl == NULL)
            return;
        list = &vl->early;
        i = find_parcel(p, list, post.tag, &behind);
        if (i == SV_NONE)
            list = &vl->posted;
    }
    if (i == SV_NONE) {
        append_post(p, any ? &actor->any : list, &post);
        return;
    }
    take_parcel(p, list, i, behind);
    matched(p, i, &post, p->parcels.at[i].arrived);
}
