/*
 * parts.c: the run itself, on one thread or, cut into parts, on several.
 *
 * Each part has some of the switches, with their terminals, and its own events. What happens at a
 * time t in one part is felt by another only some time later: a packet takes at least the delays of
 * cable and switch, a credit at least its own. So all parts go through a window of that length from
 * the earliest event of all on, tell each other what was sent in it, and go on: whatever they are
 * told happens after the window. Who tells first does not matter: packets of one channel come from
 * one part, in order, and for the rest there are only sums.
 *
 * So results are those of one thread, whatever the parts. (Looks are not: an output may be looked
 * at once more or less.)
 *
 * A part has no thread of its own. In each window every part is claimed once, by its usual thread
 * if that one is there, by another one that has nothing to do otherwise (work_on); who finishes the
 * last part opens the next window (close_window). On a busy machine the scheduler takes a thread
 * away for milliseconds, where a window takes microseconds: then the others do its parts, and wait
 * only if it was taken away inside of one. Who waits looks some ten microseconds long, and then
 * sleeps, so that what he waits for gets his processor.
 *
 * Invariants: a part is in the hands of one thread at a time; what one window's thread wrote the
 * next one's sees, by left and turn. In a window a part writes only into its own arrays and its
 * boxes of that window (outgoing), and takes in what the others put into those of the window
 * before: there are two sets, used in turn. Between two calls of sv__run_until all boxes are empty.
 * Only who has claimed a part reads what close_window sets.
 *
 * Cost: one barrier for each window, and some fifty nanoseconds for each packet that changes parts.
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "simulate/state.h"

/* ---- boxes ---- */

static void *grow(sv__sim *x, void *old, uint32_t *room, size_t size)
{
    uint32_t more = *room == 0 ? 256 : 2 * *room;
    void *at = sv_resize(x->ctx, old, more, size);
    if (at != NULL)
        *room = more;
    return at;
}

sv_status sv__post_packet(sv__sim *x, uint32_t p, uint32_t channel)
{
    sv__box *box = &x->outgoing[x->part_of[x->outputs[channel].head]];
    if (box->num_mails == box->mails_room) {
        sv__sim_crossing *mails = grow(x, box->mails, &box->mails_room, sizeof *mails);
        if (mails == NULL)
            return SV_NO_MEMORY;
        box->mails = mails;
    }
    box->mails[box->num_mails++] =
        (sv__sim_crossing){.packet = x->packets[p], .cargo = x->cargo[p], .channel = channel};
    sv__packet_free(x, p);
    return SV_OK;
}

sv_status sv__post_credits(sv__sim *x, uint32_t channel, unsigned vl, sv__ramp ramp)
{
    sv__box *box = &x->outgoing[x->part_of[x->f->tail[channel].i]];
    if (box->num_slips == box->slips_room) {
        sv__slip *slips = grow(x, box->slips, &box->slips_room, sizeof *slips);
        if (slips == NULL)
            return SV_NO_MEMORY;
        box->slips = slips;
    }
    box->slips[box->num_slips++] = (sv__slip){.ramp = ramp, .channel = channel, .vl = (uint8_t)vl};
    return SV_OK;
}

/* Takes in what another part has sent. */
static sv_status take(sv__sim *x, sv__box *box)
{
    for (uint32_t i = 0; i < box->num_mails; i++) {
        const sv__sim_crossing *mail = &box->mails[i];
        uint32_t p = sv__packet_new(x), blocks = sv__blocks(mail->packet.length);
        if (p == SV_NONE)
            return SV_NO_MEMORY;
        x->packets[p] = mail->packet;
        x->cargo[p] = mail->cargo;
        x->min = blocks < x->min ? blocks : x->min;
        SV_TRY(sv__receive(x, p, mail->channel));
    }
    for (uint32_t i = 0; i < box->num_slips; i++)
        SV_TRY(sv__credits_back(x, box->slips[i].channel, box->slips[i].vl, box->slips[i].ramp));
    box->num_mails = box->num_slips = 0;
    return SV_OK;
}

/* ---- one part ---- */

/* Everything of a part that happens before a time. */
static sv_status run_part(sv__sim *x, uint64_t until)
{
    while (sv__events_peek(x) < until) {
        uint32_t c = sv__events_next(x);
        x->result->looks++;
        SV_TRY(sv__is_switch(x, x->f->tail[c].i) ? sv__look(x, c) : sv__look_adapter(x, c));
    }
    return SV_OK;
}

/* ---- several ---- */

enum {
    OVER = 0,       /* as a turn: nothing is left to do, or somebody failed */
    PATIENCE = 1000 /* looks before a thread sleeps: some ten microseconds */
};

struct share {
    alignas(64) atomic_uint claimed; /* the last turn in which somebody took it */
    uint64_t next;                   /* not after its next event, or one that it causes elsewhere */
};

struct meeting {
    sv__team *team;
    uint64_t until;
    uint64_t begin, end;          /* of the window */
    bool last;                    /* nothing happens in it but that boxes are emptied */
    alignas(64) atomic_uint left; /* parts that are not done */
    alignas(64) atomic_uint turn; /* number of the window, from 1 on; OVER */
    atomic_uint asleep;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    struct share shares[SV__MAX_PARTS];
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits until a turn is over; what comes then. */
static unsigned wait_for_next(struct meeting *m, unsigned turn)
{
    unsigned now;
    for (unsigned i = 0; i < PATIENCE; i++) {
        now = atomic_load_explicit(&m->turn, memory_order_acquire);
        if (now != turn)
            return now;
        relax();
    }
    pthread_mutex_lock(&m->lock);
    atomic_fetch_add(&m->asleep, 1); /* before it looks at turn: set_turn does the reverse */
    while ((now = atomic_load(&m->turn)) == turn)
        pthread_cond_wait(&m->turned, &m->lock);
    atomic_fetch_sub(&m->asleep, 1);
    pthread_mutex_unlock(&m->lock);
    return now;
}

static void set_turn(struct meeting *m, unsigned turn)
{
    atomic_store(&m->turn, turn);
    if (atomic_load(&m->asleep) == 0)
        return;
    pthread_mutex_lock(&m->lock);
    pthread_cond_broadcast(&m->turned);
    pthread_mutex_unlock(&m->lock);
}

/* All parts are done with a window: opens the next one. */
static void close_window(struct meeting *m, unsigned turn)
{
    const sv__team *team = m->team;
    uint64_t min = SV_NEVER;
    if (m->last) {
        set_turn(m, OVER);
        return;
    }
    for (uint32_t i = 0; i < team->count; i++)
        min = m->shares[i].next < min ? m->shares[i].next : min;
    m->last = min >= m->until;
    m->begin = min;
    m->end = m->until - min > team->lookahead ? min + team->lookahead : m->until;
    atomic_store_explicit(&m->left, team->count, memory_order_relaxed);
    set_turn(m, turn + 1);
}

/* A part's window: takes in what others sent in the one before, and goes on. */
static sv_status run_window(struct meeting *m, sv__sim *x, unsigned turn)
{
    const sv__team *team = m->team;
    uint32_t here = (turn & 1) * team->count, before = team->count - here;
    uint64_t *next = &m->shares[x->me].next;
    x->outgoing = x->boxes + here;
    for (uint32_t i = 0; i < team->count; i++)
        if (i != x->me)
            SV_TRY(take(x, &team->parts[i].boxes[before + x->me]));
    if (!m->last)
        SV_TRY(run_part(x, m->end));
    *next = sv__events_peek(x);
    for (uint32_t i = 0; i < team->count; i++)
        if (x->outgoing[i].num_mails + x->outgoing[i].num_slips > 0)
            *next = m->begin + team->lookahead < *next ? m->begin + team->lookahead : *next;
    return SV_OK;
}

/* Takes a part for a turn, if nobody has. */
static bool claim(struct share *share, unsigned turn)
{
    unsigned before = turn - 1;
    return atomic_load_explicit(&share->claimed, memory_order_relaxed) == before &&
           atomic_compare_exchange_strong_explicit(&share->claimed, &before, turn,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* What one thread does, until all is: in each window its own part, and others that wait. */
static sv_status work_on(sv_ctx *ctx, unsigned worker, uint64_t piece, void *arg)
{
    struct meeting *m = arg;
    uint32_t count = m->team->count;
    unsigned turn = atomic_load_explicit(&m->turn, memory_order_acquire);
    (void)piece;
    for (; turn != OVER; turn = wait_for_next(m, turn)) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t part = (worker + i) % count;
            if (!claim(&m->shares[part], turn))
                continue;
            sv__sim *x = &m->team->parts[part];
            x->ctx = x->arena.ctx = ctx;
            sv_status status = run_window(m, x, turn);
            if (status != SV_OK) {
                set_turn(m, OVER); /* this window is never closed */
                return status;
            }
            if (atomic_fetch_sub_explicit(&m->left, 1, memory_order_acq_rel) == 1)
                close_window(m, turn);
        }
    }
    return SV_OK;
}

sv_status sv__run_until(sv__team *team, uint64_t time)
{
    if (team->parts[0].direction != NULL)
        return sv__direct_run(&team->parts[0], time);
    if (team->parts[0].policy != NULL)
        return sv__policy_run(&team->parts[0], time);
    if (team->count == 1)
        return run_part(&team->parts[0], time);
    struct meeting m = {.team = team, .until = time};
    pthread_mutex_init(&m.lock, NULL);
    pthread_cond_init(&m.turned, NULL);
    for (uint32_t i = 0; i < team->count; i++)
        m.shares[i].next = sv__events_peek(&team->parts[i]);
    close_window(&m, 0);
    sv_status status = sv_threads_run(team->pool, NULL, team->count, work_on, &m);
    pthread_cond_destroy(&m.turned);
    pthread_mutex_destroy(&m.lock);
    for (uint32_t i = 0; i < team->count; i++)
        team->parts[i].ctx = team->parts[i].arena.ctx = team->ctx;
    return status;
}

/* ---- who is of which part ---- */

/* Ports of a switch, those to terminals twice: the terminal's are of the same part. */
static uint32_t weight_of(const sv_fabric *f, uint32_t v)
{
    uint32_t weight = 0;
    for (uint32_t i = f->first[v]; i < f->first[v + 1]; i++)
        weight += sv_is_switch(f, f->hops[i].to) ? 1 : 2;
    return weight;
}

/* The part, of those with room, that most neighbours of a switch are of; then the emptiest. */
static uint32_t part_for(const sv_fabric *f, uint32_t v, const uint8_t *part_of,
                         const uint64_t *filled, uint32_t parts)
{
    uint32_t links[SV__MAX_PARTS] = {0}, best = 0;
    uint64_t min = filled[0];
    for (uint32_t i = f->first[v]; i < f->first[v + 1]; i++)
        if (part_of[f->hops[i].to.i] < parts)
            links[part_of[f->hops[i].to.i]]++;
    for (uint32_t p = 1; p < parts; p++)
        min = filled[p] < min ? filled[p] : min;
    uint64_t room = min + f->live_channels / (16 * parts);
    for (uint32_t p = 1; p < parts; p++) {
        bool full = filled[p] > room, best_full = filled[best] > room;
        if (full != best_full
                ? best_full
                : links[p] > links[best] || (links[p] == links[best] && filled[p] < filled[best]))
            best = p;
    }
    return best;
}

static void put(const sv_fabric *f, uint32_t v, uint32_t part, uint8_t *part_of, uint64_t *filled)
{
    part_of[v] = (uint8_t)part;
    filled[part] += weight_of(f, v);
}

/*
 * Switches with terminals by their numbers, about as many ports in each part; then, from those
 * outward, each other switch to its neighbours. So subtrees and groups stay together.
 */
void sv__cut(const sv_fabric *f, uint32_t parts, uint8_t *part_of, uint32_t *queue)
{
    uint64_t filled[SV__MAX_PARTS] = {0}, all = 0, so_far = 0;
    uint32_t length = 0;
    memset(part_of, SV__MAX_PARTS, sv_num_nodes(f));
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node s = sv_switch_of(f, (sv_node){f->num_switches + t});
        if (s.i == SV_NONE || part_of[s.i] == 0)
            continue;
        part_of[s.i] = 0;
        all += weight_of(f, s.i);
    }
    for (uint32_t v = 0; v < f->num_switches; v++) {
        if (part_of[v] != 0)
            continue;
        uint32_t part = (uint32_t)(so_far * parts / (all + 1));
        so_far += weight_of(f, v);
        put(f, v, part, part_of, filled);
        queue[length++] = v;
    }
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t k = f->first[queue[i]]; k < f->first[queue[i] + 1]; k++) {
            uint32_t v = f->hops[k].to.i;
            if (v >= f->num_switches || part_of[v] < SV__MAX_PARTS)
                continue;
            put(f, v, part_for(f, v, part_of, filled, parts), part_of, filled);
            queue[length++] = v;
        }
    }
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (part_of[v] < SV__MAX_PARTS)
            continue;
        sv_node s = v < f->num_switches ? (sv_node){SV_NONE} : sv_switch_of(f, (sv_node){v});
        part_of[v] = s.i == SV_NONE ? 0 : part_of[s.i];
    }
}
