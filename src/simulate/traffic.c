/*
 * traffic.c: from a request to a source of messages: who takes part, in which order, in which
 * plays, and whose turn it is when the engine asks.
 *
 * Idea: without a job map there is one play of all terminals, with one a play a job. A terminal has
 * a slot (play, rank) for each play it is in, mostly one. If it has several, the first message of
 * each is held, and the one that is ready first goes first; of those that are ready at the same
 * time the play goes first whose turn it is.
 *
 * Invariant: slots of a terminal are in the order of plays, and of plays of one kind: else one that
 * is as fast as possible would never let the others send, or a message that comes with a load
 * and is held for its time would hold up an answer that could go at once.
 *
 * Cost: linear in terminals to make; O(slots of the terminal) a message, mostly one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "simulate/traffic.h"

struct slot {
    uint32_t play, rank;
};

struct sv_sim_traffic {
    sv_pool *store;
    sv_sim_source source;
    bool endless;
    uint32_t num_terminals;

    sv__play *plays;
    uint32_t num_plays;
    uint32_t *first; /* [terminals + 1] */
    struct slot *slots;

    /* Where some terminal has several slots, else NULL. */
    sv_sim_message *heads; /* [slots]: the next message of each */
    bool *held;            /* [slots]: whether there is one */
    uint32_t *turn;        /* [terminals]: the slot that goes first */

    uint64_t *silent; /* bits of terminals that do not count; NULL: all do */

    sv__traffic_list list; /* of a file */
    size_t *list_at;       /* [terminals] */
};

/* What is needed to make traffic, and no longer. */
struct maker {
    sv_ctx *ctx;
    sv_arena arena;
    const sv_fabric *f;
    const sv_routes *r;
    const sv_sim_traffic_request *request;
    uint32_t *order, num_order; /* terminals by rank, counted from 0 */
    uint32_t *place;            /* [terminals]: rank, or SV_NONE */
    sv_sim_traffic *t;
};

/* ---- asking ---- */

static bool list_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    sv_sim_traffic *t = user;
    if (t->list_at[terminal] == t->list.first[terminal + 1])
        return false;
    *message = t->list.messages[t->list_at[terminal]++];
    return true;
}

/* Among several slots. */
static bool merged_next(sv_sim_traffic *t, uint32_t terminal, sv_sim_message *message)
{
    uint32_t first = t->first[terminal], count = t->first[terminal + 1] - first, best = SV_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = first + (t->turn[terminal] + i) % count;
        if (!t->held[s])
            t->held[s] = sv__play_next(&t->plays[t->slots[s].play], t->slots[s].rank, &t->heads[s]);
        if (t->held[s] && (best == SV_NONE || t->heads[s].ready < t->heads[best].ready))
            best = s;
    }
    if (best == SV_NONE)
        return false;
    *message = t->heads[best];
    t->held[best] = false;
    t->turn[terminal] = best - first + 1;
    return true;
}

static bool play_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    sv_sim_traffic *t = user;
    uint32_t s = t->first[terminal], end = t->first[terminal + 1];
    if (end - s > 1)
        return merged_next(t, terminal, message);
    return s < end && sv__play_next(&t->plays[t->slots[s].play], t->slots[s].rank, message);
}

static void play_arrived(void *user, const sv_sim_arrival *arrival)
{
    sv_sim_traffic *t = user;
    for (uint32_t s = t->first[arrival->to]; s < t->first[arrival->to + 1]; s++) {
        sv__play *play = &t->plays[t->slots[s].play];
        if (play->number == arrival->tag >> SV__KIND_BITS)
            sv__play_arrived(play, t->slots[s].rank, arrival->tag & ((1u << SV__KIND_BITS) - 1),
                             arrival->time);
    }
}

static bool play_counts(void *user, uint32_t terminal)
{
    const sv_sim_traffic *t = user;
    return !sv_bit(t->silent, terminal);
}

/* ---- who takes part ---- */

static sv_status given_order(struct maker *m)
{
    const sv_sim_traffic_request *q = m->request;
    for (uint32_t i = 0; i < q->num_order; i++) {
        sv_node v = q->order[i];
        if (v.i < m->f->num_switches || v.i >= sv_num_nodes(m->f) ||
            sv_switch_of(m->f, v).i == SV_NONE)
            return sv_fail(m->ctx, SV_BAD_INPUT, "rank %u of the order is no host on a switch", i);
        uint32_t terminal = v.i - m->f->num_switches;
        if (m->place[terminal] != SV_NONE)
            return sv_fail(m->ctx, SV_BAD_INPUT, "'%.200s' is in the order twice",
                           sv_node_name(m->f, v));
        m->place[terminal] = m->num_order;
        m->order[m->num_order++] = terminal;
    }
    return SV_OK;
}

static sv_status make_order(struct maker *m)
{
    const sv_fabric *f = m->f;
    m->order = SV_ARENA_NEW(&m->arena, uint32_t, f->num_terminals);
    m->place = SV_ARENA_NEW(&m->arena, uint32_t, f->num_terminals);
    if (m->order == NULL || m->place == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        m->place[t] = SV_NONE;
    if (m->request->order != NULL) {
        SV_TRY(given_order(m));
    } else {
        for (uint32_t s = 0; s < f->num_switches; s++)
            SV_FOR_HOPS (f, (sv_node){s}, hop)
                if (!sv_is_switch(f, hop->to) &&
                    sv_terminal_of(f, hop->to)->role == SV_ROLE_COMPUTE) {
                    uint32_t terminal = hop->to.i - f->num_switches;
                    m->place[terminal] = m->num_order;
                    m->order[m->num_order++] = terminal;
                }
    }
    if (m->num_order < 2)
        return sv_fail(m->ctx, SV_BAD_INPUT, "fewer than two terminals take part");
    return SV_OK;
}

/* ---- plays ---- */

/* Ticks a byte on the link of a terminal, as the engine has it. */
static uint32_t byte_ticks(const struct maker *m, sv_node v)
{
    const sv_link *link = sv_link_of(m->f, m->f->hops[m->f->first[v.i]].channel);
    uint64_t ticks = sv_sim_byte_ticks(link);
    if (m->request->model->byte_ticks > 0)
        ticks = m->request->model->byte_ticks * 4 / (link->width > 0 ? link->width : 4);
    return ticks == 0 ? 1 : ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* A play of some terminals. */
static sv_status open_play(struct maker *m, uint32_t number, const uint32_t *terminals,
                           uint32_t size, const char *spec)
{
    sv__play *play = &m->t->plays[m->t->num_plays];
    *play = (sv__play){.store = m->t->store, .number = number, .size = size};
    play->terminal = SV_POOL_NEW(play->store, m->ctx, uint32_t, size);
    play->destination = SV_POOL_NEW(play->store, m->ctx, uint32_t, size);
    play->byte_ticks = SV_POOL_NEW(play->store, m->ctx, uint32_t, size);
    if (play->terminal == NULL || play->destination == NULL || play->byte_ticks == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < size; i++) {
        sv_node v = {m->f->num_switches + terminals[i]};
        play->terminal[i] = terminals[i];
        play->destination[i] = m->r->first[v.i];
        play->byte_ticks[i] = byte_ticks(m, v);
    }
    sv_rng rng;
    sv_rng_init(&rng, m->request->seed);
    sv_rng_init(&rng, sv_rng_next(&rng) + number);
    play->seed = sv_rng_next(&rng);
    SV_TRY(sv__play_open(m->ctx, play, spec, m->request));
    m->t->num_plays++;
    return SV_OK;
}

/* The pattern of each job, from "JOB=SPEC". */
static sv_status name_jobs(struct maker *m, sv_names *names, const char **specs)
{
    const sv_sim_traffic_request *q = m->request;
    for (uint32_t j = 0; j < q->jobs->num_jobs; j++)
        SV_TRY(sv_names_add(names, sv_span_of(q->jobs->jobs[j].name), j, NULL));
    for (uint32_t i = 0; i < q->num_job_specs; i++) {
        const char *text = q->job_specs[i], *spec = NULL;
        uint32_t job = SV_ABSENT;
        for (const char *at = strchr(text, '='); at != NULL; at = strchr(at + 1, '=')) {
            uint32_t found = sv_names_get(names, (sv_span){text, (size_t)(at - text)});
            job = found != SV_ABSENT ? found : job; /* names may have '=' in them, too */
            spec = found != SV_ABSENT ? at + 1 : spec;
        }
        if (strchr(text, '=') == NULL)
            return sv_refuse(m->ctx, "'%.200s' is not JOB=SPEC", text);
        if (job == SV_ABSENT)
            return sv_fail(m->ctx, SV_BAD_INPUT, "no job of the map is called '%.*s'",
                           (int)strcspn(text, "="), text);
        if (specs[job] != NULL)
            return sv_refuse(m->ctx, "job '%.200s' has two patterns", q->jobs->jobs[job].name);
        specs[job] = spec;
    }
    return SV_OK;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A job's play; terminals is scratch for as many as there are. */
static sv_status open_job(struct maker *m, uint32_t number, const char *own, uint32_t *terminals)
{
    const sv_job *job = &m->request->jobs->jobs[number];
    const char *spec = own != NULL ? own : m->request->spec;
    uint32_t size = 0;
    for (uint32_t i = 0; i < job->num_terminals; i++) {
        uint32_t place = m->place[job->terminals[i].i - m->f->num_switches];
        if (place != SV_NONE)
            terminals[size++] = place;
    }
    if (spec == NULL || (own == NULL && size < 2))
        return SV_OK;
    if (size < 2)
        return sv_fail(m->ctx, SV_BAD_INPUT, "job '%.200s' has fewer than two terminals",
                       job->name);
    qsort(terminals, size, sizeof *terminals, ascending);
    for (uint32_t i = 0; i < size; i++)
        terminals[i] = m->order[terminals[i]];
    sv_status status = open_play(m, number, terminals, size, spec);
    if (status == SV_BAD_INPUT) {
        char why[800];
        strncpy(why, sv_ctx_message(m->ctx), sizeof why - 1);
        why[sizeof why - 1] = 0;
        return sv_ctx_in_request(m->ctx)
                   ? sv_refuse(m->ctx, "job '%.100s': %s", job->name, why)
                   : sv_fail(m->ctx, status, "job '%.100s': %s", job->name, why);
    }
    return status;
}

static sv_status open_jobs(struct maker *m)
{
    uint32_t jobs = m->request->jobs->num_jobs;
    const char **specs = SV_ARENA_NEW(&m->arena, const char *, (size_t)jobs + 1);
    uint32_t *terminals = SV_ARENA_NEW(&m->arena, uint32_t, m->f->num_terminals);
    m->t->plays = SV_POOL_NEW(m->t->store, m->ctx, sv__play, (size_t)jobs + 1);
    if (specs == NULL || terminals == NULL || m->t->plays == NULL)
        return SV_NO_MEMORY;
    if (jobs >= 1u << (32 - SV__KIND_BITS))
        return sv_fail(m->ctx, SV_BAD_INPUT, "%u jobs are too many", jobs);
    sv_names names;
    sv_names_init(&names, m->ctx);
    sv_status status = name_jobs(m, &names, specs);
    sv_names_release(&names);
    for (uint32_t j = 0; j < jobs && status == SV_OK; j++)
        status = open_job(m, j, specs[j], terminals);
    if (status == SV_OK && m->t->num_plays == 0)
        return sv_fail(m->ctx, SV_BAD_INPUT, "no job of the map has two terminals and a pattern");
    return status;
}

static sv_status open_plays(struct maker *m)
{
    const sv_sim_traffic_request *q = m->request;
    if (q->jobs != NULL) {
        SV_TRY(open_jobs(m));
    } else {
        m->t->plays = SV_POOL_NEW(m->t->store, m->ctx, sv__play, 1);
        if (m->t->plays == NULL)
            return SV_NO_MEMORY;
        SV_TRY(open_play(m, 0, m->order, m->num_order, q->spec));
    }
    bool waits = true;
    for (uint32_t i = 0; i < m->t->num_plays; i++)
        waits = waits && m->t->plays[i].kind == SV__WAITING;
    if (waits && (q->load > 0 || q->messages > 0))
        return sv_refuse(m->ctx, "%s is not for pattern '%s': it sends when something has arrived",
                         q->load > 0 ? "a load" : "a number of messages",
                         m->t->plays[0].pattern->info.name);
    return SV_OK;
}

/* ---- slots ---- */

static sv_status one_kind(struct maker *m, uint32_t terminal)
{
    const sv_sim_traffic *t = m->t;
    const sv__play *play = &t->plays[t->slots[t->first[terminal]].play];
    for (uint32_t s = t->first[terminal] + 1; s < t->first[terminal + 1]; s++) {
        const sv__play *other = &t->plays[t->slots[s].play];
        if (other->kind != play->kind)
            return sv_fail(m->ctx, SV_BAD_INPUT,
                           "'%.100s' runs jobs '%.100s' and '%.100s': patterns must both have a "
                           "load, both be as fast as possible or both wait",
                           sv_node_name(m->f, (sv_node){m->f->num_switches + terminal}),
                           m->request->jobs->jobs[play->number].name,
                           m->request->jobs->jobs[other->number].name);
    }
    return SV_OK;
}

static sv_status make_slots(struct maker *m)
{
    sv_sim_traffic *t = m->t;
    uint32_t terminals = t->num_terminals, max = 0;
    size_t slots = 0;
    for (uint32_t p = 0; p < t->num_plays; p++)
        slots += t->plays[p].size;
    if (slots >= UINT32_MAX)
        return sv_fail(m->ctx, SV_BAD_INPUT, "jobs have more than 2^32 terminals");
    t->first = SV_POOL_NEW(t->store, m->ctx, uint32_t, (size_t)terminals + 2);
    t->slots = SV_POOL_NEW(t->store, m->ctx, struct slot, slots);
    if (t->first == NULL || t->slots == NULL)
        return SV_NO_MEMORY;
    for (uint32_t p = 0; p < t->num_plays; p++)
        for (uint32_t i = 0; i < t->plays[p].size; i++)
            t->first[t->plays[p].terminal[i] + 2]++;
    for (uint32_t i = 0; i < terminals; i++) {
        max = t->first[i + 2] > max ? t->first[i + 2] : max;
        t->first[i + 2] += t->first[i + 1];
    }
    for (uint32_t p = 0; p < t->num_plays; p++)
        for (uint32_t i = 0; i < t->plays[p].size; i++)
            t->slots[t->first[t->plays[p].terminal[i] + 1]++] = (struct slot){p, i};
    if (max < 2)
        return SV_OK;
    for (uint32_t i = 0; i < terminals; i++)
        if (t->first[i + 1] - t->first[i] > 1)
            SV_TRY(one_kind(m, i));
    t->heads = SV_POOL_NEW(t->store, m->ctx, sv_sim_message, slots);
    t->held = SV_POOL_NEW(t->store, m->ctx, bool, slots);
    t->turn = SV_POOL_NEW(t->store, m->ctx, uint32_t, terminals);
    return t->heads == NULL || t->held == NULL || t->turn == NULL ? SV_NO_MEMORY : SV_OK;
}

/* How many messages there are, and who does not count. */
static sv_status sum_up(struct maker *m)
{
    sv_sim_traffic *t = m->t;
    bool known = true;
    for (uint32_t p = 0; p < t->num_plays; p++) {
        const sv__play *play = &t->plays[p];
        known = known && !play->skips && play->rest == 0 && play->end == SV_NEVER;
        if (play->moves->counts != NULL && t->silent == NULL) {
            t->silent = sv_bitset_new(&t->store->arena, t->num_terminals);
            if (t->silent == NULL)
                return sv_fail(m->ctx, SV_NO_MEMORY, "out of memory");
        }
        for (uint32_t rank = 0; rank < play->size; rank++) {
            uint64_t sends = sv__play_sends(play, rank);
            t->endless = t->endless || (sends == SV_NEVER && play->end == SV_NEVER);
            known = known && sends < SV_NEVER - t->source.messages;
            t->source.messages += known ? sends : 0;
            if (play->moves->counts != NULL && !play->moves->counts(play, rank))
                sv_bit_set(t->silent, play->terminal[rank]);
        }
    }
    t->source.messages = known ? t->source.messages : 0;
    return SV_OK;
}

static sv_status make_plays(struct maker *m)
{
    SV_TRY(open_plays(m));
    SV_TRY(make_slots(m));
    SV_TRY(sum_up(m));
    m->t->source.next = play_next;
    for (uint32_t p = 0; p < m->t->num_plays; p++)
        if (m->t->plays[p].kind == SV__WAITING)
            m->t->source.arrived = play_arrived;
    m->t->source.counts = m->t->silent != NULL ? play_counts : NULL;
    return SV_OK;
}

/* ---- a file ---- */

static bool is_file(const sv_sim_traffic_request *q)
{
    return q->spec != NULL && strncmp(q->spec, "file", 4) == 0 &&
           (q->spec[4] == 0 || q->spec[4] == ':');
}

static sv_status make_list(struct maker *m)
{
    const sv_sim_traffic_request *q = m->request;
    sv_sim_traffic *t = m->t;
    const char *path = q->spec[4] == 0 ? NULL : q->spec + 5;
    if (q->jobs != NULL)
        return sv_refuse(m->ctx, "a job cannot have a file of messages");
    if (q->load > 0 || q->messages > 0)
        return sv_refuse(m->ctx, "%s is not for a file of messages",
                         q->load > 0 ? "a load" : "a number of messages");
    if (path == NULL ? q->file == NULL : *path == 0)
        return sv_refuse(m->ctx, "which file of messages: give file:PATH");
    sv_file file;
    if (path != NULL)
        SV_TRY(sv_file_open(&file, m->ctx, path));
    sv_status status = sv__list_read(m->ctx, t->store, m->f, m->r, m->order, m->num_order,
                                     path != NULL ? &file.source : q->file, &t->list);
    if (path != NULL)
        sv_file_close(&file);
    SV_TRY(status);
    t->list_at = SV_POOL_NEW(t->store, m->ctx, size_t, t->num_terminals);
    if (t->list_at == NULL)
        return SV_NO_MEMORY;
    memcpy(t->list_at, t->list.first, t->num_terminals * sizeof *t->list_at);
    t->source.next = list_next;
    t->source.messages = t->list.count;
    return SV_OK;
}

/* ---- making ---- */

static sv_status check(struct maker *m)
{
    const sv_sim_traffic_request *q = m->request;
    if (m->r->num_switches != m->f->num_switches || m->r->num_terminals != m->f->num_terminals)
        return sv_fail(m->ctx, SV_BAD_INPUT, "tables and fabric do not belong together");
    if (q->model == NULL || q->model->mtu_bytes == 0 || q->model->header_bytes == 0)
        return sv_fail(m->ctx, SV_BAD_INPUT, "packets have no size: the model is missing");
    if (!(q->load >= 0 && q->load <= 1))
        return sv_refuse(m->ctx, "load %g is not in 0…1", q->load);
    if (q->spec == NULL && q->jobs == NULL)
        return sv_refuse(m->ctx, "no pattern is given");
    if (q->jobs == NULL && q->num_job_specs > 0)
        return sv_refuse(m->ctx, "patterns of jobs need a job map");
    return SV_OK;
}

sv_status sv_sim_traffic_new(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                             const sv_sim_traffic_request *request, sv_sim_traffic **traffic)
{
    struct maker m = {.ctx = ctx, .f = fabric, .r = routes, .request = request};
    SV_TRY(check(&m));
    sv_pool *store = sv__pool_new(ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_arena_init(&m.arena, ctx);
    m.t = SV_POOL_NEW(store, ctx, sv_sim_traffic, 1);
    sv_status status = m.t == NULL ? SV_NO_MEMORY : make_order(&m);
    if (status == SV_OK) {
        m.t->store = store;
        m.t->num_terminals = fabric->num_terminals;
        m.t->source.user = m.t;
        m.t->source.threads = true;
        status = is_file(request) ? make_list(&m) : make_plays(&m);
    }
    sv_arena_release(&m.arena);
    if (status == SV_OK)
        *traffic = m.t;
    else
        sv__pool_drop(store);
    return status;
}

void sv_sim_traffic_free(sv_sim_traffic *traffic)
{
    if (traffic != NULL)
        sv__pool_drop(traffic->store);
}

const sv_sim_source *sv_sim_traffic_source(const sv_sim_traffic *traffic)
{
    return &traffic->source;
}

bool sv_sim_traffic_endless(const sv_sim_traffic *traffic)
{
    return traffic->endless;
}
