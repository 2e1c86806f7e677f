/*
 * replay.c: a trace as a source of messages for the simulator.
 *
 * Idea: ranks run ahead of the simulated time as far as they can (replay_run.c), because nothing
 * but what arrives at a terminal can change what its ranks do. What they have for the wire waits in
 * an outbox a terminal, the first first. If something arrives before the message that the simulator
 * knows of already is ready, that comes back (sv_sim_source.back), since what is sent because of
 * the arrival (by another rank of the terminal, or the answer to one that asks) may be earlier.
 *
 * A message's tag on the wire is the number of its parcel.
 *
 * Invariants: times that a terminal tells do not decrease; what a terminal tells depends on calls
 * for it alone (numbers of parcels do not, but nobody looks at them).
 * Memory that runs out while the simulator runs cannot be told to it: nothing more is sent then,
 * and the result says so.
 * Cost: O(1) an event; memory linear in ranks, in pairs of ranks that talk and in what is under
 * way.
 */
#include "traces/replay.h"

#include <stdlib.h>

#include "base/rng.h"

/* ---- the source ---- */

static bool tell(void *user, uint32_t terminal, sv_sim_message *message)
{
    sv_mpi_replay *p = user;
    sv__outbox *box = &p->outboxes[terminal];
    if (box->told != SV_NONE) {
        uint32_t rank = box->told;
        box->told = SV_NONE;
        p->actors[rank].paused = false;
        sv__replay_go_on(p, rank);
        sv__replay_run(p);
    }
    if (p->status != SV_OK)
        return false;
    uint32_t number = sv__replay_pop(p, terminal);
    if (number == SV_NONE)
        return false;
    const sv__replay_message *parcel = &p->parcels.at[number];
    bool loaded = parcel->leg == SV__WHOLE || parcel->leg == SV__DATA;
    uint32_t to = parcel->leg == SV__ANSWER ? parcel->from : parcel->to;
    *message = (sv_sim_message){.ready = parcel->ready,
                                .destination = p->actors[to].destination,
                                .bytes = loaded ? parcel->bytes : 0,
                                .tag = number};
    if (parcel->pauses)
        box->told = parcel->from;
    return true;
}

static void take_back(void *user, uint32_t terminal, const sv_sim_message *message)
{
    sv_mpi_replay *p = user;
    p->outboxes[terminal].told = SV_NONE;
    sv__replay_push(p, terminal, message->tag);
}

static void hear(void *user, const sv_sim_arrival *arrival)
{
    sv_mpi_replay *p = user;
    if (p->status != SV_OK)
        return;
    sv__replay_deliver(p, arrival->tag, arrival->time);
    sv__replay_run(p);
}

const sv_sim_source *sv_mpi_replay_source(const sv_mpi_replay *replay)
{
    return &replay->source;
}

/* ---- groups ---- */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static sv_status sort_groups(sv_mpi_replay *p)
{
    const sv_mpi_trace *t = p->trace;
    p->places = sv_alloc(p->ctx, t->num_groups, sizeof *p->places);
    p->turns = sv_alloc(p->ctx, t->num_groups, sizeof *p->turns);
    if (p->places == NULL || p->turns == NULL)
        return SV_NO_MEMORY;
    for (uint32_t g = 0; g < t->num_groups; g++) {
        uint32_t size = t->groups[g].size;
        uint64_t *places = p->places[g] = sv_alloc(p->ctx, size, sizeof *places);
        p->turns[g] = sv_alloc(p->ctx, size, sizeof *p->turns[g]);
        if (places == NULL || p->turns[g] == NULL)
            return SV_NO_MEMORY;
        for (uint32_t i = 0; i < size; i++)
            places[i] = (uint64_t)t->groups[g].ranks[i] << 32 | i;
        qsort(places, size, sizeof *places, by_size);
    }
    return SV_OK;
}

uint32_t sv__place_in(const sv_mpi_replay *p, uint16_t group, uint32_t rank)
{
    const uint64_t *places = p->places[group];
    uint32_t low = 0, high = p->trace->groups[group].size;
    if (rank < high && places[rank] >> 32 == rank) /* all ranks, as a rule */
        return (uint32_t)places[rank];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (places[middle] >> 32 <= rank)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)places[low];
}

/* ---- who is where ---- */

/* Terminals that compute, by switch and port, as traffic has them. */
static uint32_t list_terminals(const sv_fabric *f, uint32_t *order)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, (sv_node){s}, hop)
            if (!sv_is_switch(f, hop->to) && sv_terminal_of(f, hop->to)->role == SV_ROLE_COMPUTE)
                order[count++] = hop->to.i - f->num_switches;
    return count;
}

sv_status sv_mpi_place(sv_ctx *ctx, const sv_fabric *f, uint32_t ranks, bool random, uint64_t seed,
                       sv_node *map)
{
    uint32_t *order = sv_alloc(ctx, f->num_terminals, sizeof *order);
    if (order == NULL)
        return SV_NO_MEMORY;
    uint32_t count = list_terminals(f, order);
    if (random) {
        sv_rng rng;
        sv_rng_init(&rng, seed);
        sv_rng_shuffle(&rng, order, count);
    }
    for (uint32_t rank = 0; rank < ranks && count >= ranks; rank++)
        map[rank] = (sv_node){f->num_switches + order[rank]};
    sv_release(ctx, order);
    if (count < ranks)
        return sv_fail(ctx, SV_INFEASIBLE, "%u ranks, but %u terminals that compute", ranks, count);
    return SV_OK;
}

static sv_status map_by_itself(sv_mpi_replay *p, const sv_fabric *f,
                               const sv_mpi_replay_request *request)
{
    uint32_t ranks = p->trace->num_ranks;
    sv_node *map = sv_alloc(p->ctx, ranks, sizeof *map);
    if (map == NULL)
        return SV_NO_MEMORY;
    sv_status status = sv_mpi_place(p->ctx, f, ranks, request->random, request->seed, map);
    for (uint32_t rank = 0; rank < ranks && status == SV_OK; rank++)
        p->actors[rank].terminal = map[rank].i - f->num_switches;
    sv_release(p->ctx, map);
    return status;
}

static sv_status map_ranks(sv_mpi_replay *p, const sv_fabric *f,
                           const sv_mpi_replay_request *request)
{
    if (request->map == NULL)
        return map_by_itself(p, f, request);
    if (request->num_map != p->trace->num_ranks)
        return sv_fail(p->ctx, SV_BAD_INPUT, "the map has %u ranks, the trace %u", request->num_map,
                       p->trace->num_ranks);
    for (uint32_t rank = 0; rank < request->num_map; rank++) {
        sv_node v = request->map[rank];
        if (v.i < f->num_switches || v.i >= sv_num_nodes(f) || sv_switch_of(f, v).i == SV_NONE)
            return sv_fail(p->ctx, SV_BAD_INPUT, "rank %u of the map is on no host on a switch",
                           rank);
        p->actors[rank].terminal = v.i - f->num_switches;
    }
    return SV_OK;
}

/* ---- making ---- */

/* A wire knows messages of 32 bits. */
static sv_status sizes_fit(sv_mpi_replay *p)
{
    const sv_mpi_trace *t = p->trace;
    for (uint32_t rank = 0; rank < t->num_ranks; rank++)
        for (uint64_t i = 0; i < t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &t->ranks[rank].events[i];
            bool blocks = e->call == SV_CALL_GATHER || e->call == SV_CALL_SCATTER ||
                          e->call == SV_CALL_ALLGATHER;
            uint64_t max = UINT32_MAX;
            if (e->kind == SV_MPI_COMPUTE || e->kind == SV_MPI_WAIT)
                continue;
            if (sv__is_collective(e) && blocks)
                max /= t->groups[e->group].size;
            if (e->amount > max)
                return sv_fail(p->ctx, SV_UNSUPPORTED, "%s: messages of 4 GiB or more",
                               sv__mpi_place_of(t, rank, i).text);
        }
    return SV_OK;
}

/* Nor does it know times of more than 29 days: half of that is left for messages. */
static sv_status times_fit(sv_mpi_replay *p)
{
    const sv_mpi_trace *t = p->trace;
    double max =
        (double)(SV_NEVER / 8) / SV_TICKS_PER_NS / p->compute / (p->rounds + (p->rounds == 0));
    for (uint32_t rank = 0; rank < t->num_ranks; rank++) {
        double ns = 0;
        for (uint64_t i = 0; i < t->ranks[rank].length; i++) {
            const sv_mpi_event *e = &t->ranks[rank].events[i];
            ns += e->kind == SV_MPI_COMPUTE ? (double)e->amount : 0;
            if (ns > max)
                return sv_fail(p->ctx, SV_UNSUPPORTED,
                               "%s: the rank computes for more than 14 days",
                               sv__mpi_place_of(t, rank, i).text);
        }
    }
    return SV_OK;
}

/* The requests of a rank; whether some are collectives. */
static bool count_requests(const sv_mpi_rank *of, uint64_t *requests)
{
    bool strands = false;
    *requests = 0;
    for (uint64_t i = 0; i < of->length; i++) {
        const sv_mpi_event *e = &of->events[i];
        if (sv__begins(e) && e->request >= *requests)
            *requests = (uint64_t)e->request + 1;
        strands = strands || e->kind == SV_MPI_ICOLLECTIVE;
    }
    return strands;
}

/* Slots for all requests of all ranks, and two more a rank, and a strand. */
static sv_status make_slots(sv_mpi_replay *p)
{
    uint32_t ranks = p->trace->num_ranks;
    size_t all = 0, all_strands = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        sv__actor *actor = &p->actors[rank];
        bool strands = count_requests(&p->trace->ranks[rank], &actor->requests);
        actor->begins = strands;
        all += actor->requests * (strands ? 3 : 1) + 2;
        all_strands += strands ? actor->requests : 0;
    }
    p->slots = sv_alloc(p->ctx, all, sizeof *p->slots);
    p->strands = sv_alloc(p->ctx, all_strands, sizeof *p->strands);
    if (p->slots == NULL || p->strands == NULL)
        return SV_NO_MEMORY;
    sv__slot *slots = p->slots;
    sv__strand *strands = p->strands;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        sv__actor *actor = &p->actors[rank];
        actor->slots = slots;
        actor->strands = strands;
        slots += actor->requests * (actor->begins ? 3 : 1) + 2;
        strands += actor->begins ? actor->requests : 0;
    }
    return SV_OK;
}

static sv_status make(sv_mpi_replay *p, const sv_fabric *f, const sv_routes *routes,
                      const sv_mpi_replay_request *request)
{
    uint32_t ranks = p->trace->num_ranks;
    SV_TRY(sizes_fit(p));
    SV_TRY(times_fit(p));
    p->actors = sv_alloc(p->ctx, ranks, sizeof *p->actors);
    p->outboxes = sv_alloc(p->ctx, f->num_terminals, sizeof *p->outboxes);
    if (p->actors == NULL || p->outboxes == NULL)
        return SV_NO_MEMORY;
    p->num_terminals = f->num_terminals;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        p->outboxes[t].told = SV_NONE;
    SV_TRY(map_ranks(p, f, request));
    SV_TRY(make_slots(p));
    SV_TRY(sort_groups(p));
    SV_TRY(sv_array_reserve(p->ctx, &p->runnable, ranks));
    p->left = ranks;
    for (uint32_t rank = ranks; rank-- > 0;) {
        sv__actor *actor = &p->actors[rank];
        actor->destination = routes->first[f->num_switches + actor->terminal];
        actor->vls = SV_NONE;
        actor->any = (sv__replay_list){SV_NONE, SV_NONE};
        sv__replay_go_on(p, rank);
    }
    sv__replay_run(p);
    return p->status;
}

sv_status sv_mpi_replay_new(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                            const sv_mpi_trace *trace, const sv_mpi_replay_request *request,
                            sv_mpi_replay **replay)
{
    if (!request->checked)
        SV_TRY(sv_mpi_check(ctx, trace));
    sv_mpi_replay *p = sv_alloc(ctx, 1, sizeof *p);
    if (p == NULL)
        return SV_NO_MEMORY;
    p->ctx = ctx;
    p->trace = trace;
    p->eager = request->eager_bytes;
    p->compute = request->compute == 0 ? 1 : request->compute;
    p->rounds = request->repeat;
    p->free_parcel = p->free_post = SV_NONE;
    p->source = (sv_sim_source){.user = p, .next = tell, .arrived = hear, .back = take_back};
    sv_status status = sv_cells_init(&p->vl_of, ctx, trace->num_ranks,
                                     (uint64_t)2 * trace->num_groups * trace->num_ranks);
    if (status == SV_OK)
        status = make(p, fabric, routes, request);
    if (status != SV_OK) {
        sv_mpi_replay_free(p);
        return status;
    }
    *replay = p;
    return SV_OK;
}

void sv_mpi_replay_free(sv_mpi_replay *p)
{
    if (p == NULL)
        return;
    for (uint32_t t = 0; t < p->num_terminals; t++)
        sv_array_release(p->ctx, &p->outboxes[t].heap);
    for (uint32_t g = 0; p->places != NULL && g < p->trace->num_groups; g++)
        sv_release(p->ctx, p->places[g]);
    for (uint32_t g = 0; p->turns != NULL && g < p->trace->num_groups; g++)
        sv_release(p->ctx, p->turns[g]);
    sv_array_release(p->ctx, &p->parcels);
    sv_array_release(p->ctx, &p->posts);
    sv_array_release(p->ctx, &p->vls);
    sv_array_release(p->ctx, &p->runnable);
    sv_array_release(p->ctx, &p->ready);
    sv_cells_release(&p->vl_of);
    sv_release(p->ctx, p->places);
    sv_release(p->ctx, p->turns);
    sv_release(p->ctx, p->strands);
    sv_release(p->ctx, p->slots);
    sv_release(p->ctx, p->outboxes);
    sv_release(p->ctx, p->actors);
    sv_release(p->ctx, p);
}

sv_mpi_replay_result sv_mpi_replay_end(const sv_mpi_replay *p)
{
    sv_mpi_replay_result result = {.status = p->status,
                                   .done = p->left == 0,
                                   .time = p->last,
                                   .waiting = p->waiting,
                                   .blocked = SV_NONE};
    for (uint32_t rank = 0; rank < p->trace->num_ranks && result.blocked == SV_NONE; rank++)
        if (!p->actors[rank].done) {
            result.blocked = rank;
            result.blocked_at = p->actors[rank].at;
        }
    return result;
}
