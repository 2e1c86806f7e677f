/*
 * packets.c: packets and messages of a rehearsal: what is under way, who met what, and what arrived
 * in which phase.
 *
 * Messages get tags of ours, by which each packet is known to belong to one; sources and watches of
 * others see their own tags.
 *
 * Old and new: where old and new tables have different entries for a destination in a switch, a
 * packet that the switch sends on went by one of the two: by its port. A packet that went by both
 * kinds is inconsistent; so is a pair that had a packet of one kind and another of the other kind
 * under way at a time (from injection to arrival). Entries that dropped a packet do not count.
 *
 * Arrivals are known before they happen, so a phase gets its bytes when it is known to be over, or
 * when a packet is injected after them: a phase does not end before what has happened.
 *
 * When there is no memory the run ends in the next tick; until then nothing is followed any more.
 *
 * Invariants: tracks are those of packets first_packet on, the first of which is not over.
 * Cost: O(1) for each packet and hop.
 */
#include <string.h>

#include "rehearse/trial.h"

enum { LATE_MIN = 4096 };

sv_status sv__packets_init(sv__trial *x)
{
    x->free_parcel = SV_NONE;
    x->late_max = LATE_MIN;
    for (unsigned i = 0; i < SV_REHEARSE_PHASES; i++)
        x->report->phase[i] = (sv_rehearsal_phase){.from = 1};
    x->report->phase[0] = (sv_rehearsal_phase){.from = x->q->begin / 2, .until = SV_NEVER};
    return SV_OK;
}

/* ---- phases ---- */

/* Arrivals before a time belong to the present phase; without one that is over, to whatever comes.
 */
static void count_late(sv__trial *x, uint64_t before)
{
    sv_rehearsal_phase *phase = &x->report->phase[x->phase];
    size_t kept = 0;
    for (size_t i = 0; i < x->late.length; i++)
        if (x->late.at[i].time /*~phase_end*/ >= before)
            x->late.at[kept++] = x->late.at[i];
        else if (x->late.at[i].time >= phase->from)
            phase->bytes += x->late.at[i].bytes;
    x->late.length = kept;
}

void sv__phase_begin(sv__trial *x, unsigned phase)
{
    sv_rehearsal_phase *all = &x->report->phase[5];
    count_late(x, x->now);
    x->report->phase[x->phase].until = x->now;
    x->phase = phase;
    x->report->phase[phase] = (sv_rehearsal_phase){.from = x->now, .until = SV_NEVER};
    if (phase == 1)
        *all = (sv_rehearsal_phase){.from = x->now, .until = SV_NEVER};
    if (phase == 4)
        all->until = x->now;
}

void sv__phase_end(sv__trial *x, uint64_t time)
{
    sv_rehearsal_phase *phase = x->report->phase;
    if (x->resting && x->rested < time) /* what is under way then has no company */
        /*~rest_time*/ time = x->rested;
    count_late(x, time);
    phase[x->phase].until = time;
    if (phase[5].until == SV_NEVER)
        phase[5].until = time;
    for (unsigned i = 1; i <= 3; i++)
        phase[5].bytes += phase[i].bytes;
}

static void arrive(sv__trial *x, uint32_t bytes, uint64_t time)
{
    if (x->late.length >= x->late_max) { /* at most half of them are looked at in vain */
        count_late(x, x->seen);
        x->late_max = 2 * x->late.length > LATE_MIN ? 2 * x->late.length : LATE_MIN;
    }
    if (sv_array_push(x->ctx, &x->late, (sv__rehearse_late){time, bytes}) != SV_OK)
        sv__trial_fail(x);
}

/* ---- messages ---- */

/* Frees a message that nobody will speak of any more. */
static void let_go(sv__trial *x, uint32_t i)
{
    sv__rehearse_message *parcel = &x->parcels.at[i];
    if (parcel->left > 0 || !parcel->closed)
        return;
    parcel->next = x->free_parcel;
    x->free_parcel = i;
}

static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    sv__trial *x = user;
    const sv_sim_source *source = x->q->source;
    if (x->status != SV_OK || x->resting || !source->next(source->user, terminal, message))
        return false;
    uint32_t mtu = x->q->model.mtu_bytes, i = x->free_parcel;
    sv__rehearse_message parcel = {.tag = message->tag, .bytes = message->bytes, .pair = SV_NONE};
    parcel.left = message->bytes > 0 ? message->bytes / mtu + (message->bytes % mtu > 0) : 1;
    if (i != SV_NONE) {
        x->free_parcel = x->parcels.at[i].next;
        x->parcels.at[i] = parcel;
    } else {
        i = (uint32_t)x->parcels.length;
        if (sv_array_push(x->ctx, &x->parcels, parcel) != SV_OK) {
            sv__trial_fail(x);
            return false;
        }
    }
    message->tag = i;
    return true;
}

static void message_arrived(void *user, const sv_sim_arrival *arrival)
{
    sv__trial *x = user;
    const sv_sim_source *source = x->q->source;
    sv_sim_arrival told = *arrival;
    if (x->status != SV_OK)
        return;
    sv__rehearse_message *parcel = &x->parcels.at[arrival->tag];
    /*~tag_seen*/ told.tag = parcel->tag;
    parcel->closed = true;
    let_go(x, arrival->tag);
    if (source->arrived != NULL)
        source->arrived(source->user, &told);
}

static bool terminal_counts(void *user, uint32_t terminal)
{
    const sv__trial *x = user;
    const sv_sim_source *source = x->q->source;
    return source->counts == NULL || source->counts(source->user, terminal);
}

const sv_sim_source sv__packets_source = {
    .next = next_message, .arrived = message_arrived, .counts = terminal_counts};

/* ---- packets ---- */

static sv__track *track_of(sv__trial *x, uint32_t packet)
{
    return &x->tracks.at[packet - x->first_packet];
}

/* Forgets packets that are over, once half of all are before the first that is not. */
static void forget(sv__trial *x)
{
    size_t over = x->leading, length = x->tracks.length;
    while (over < length && x->tracks.at[over].over)
        over++;
    x->leading = over;
    if (length < 1024 || over < length / 2)
        return;
    x->leading = 0;
    memmove(x->tracks.at, x->tracks.at + over, (length - over) * sizeof *x->tracks.at);
    x->tracks.length = length - over;
    x->first_packet += (uint32_t)over;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    sv__trial *x = user;
    const sv_sim_watch *watch = x->q->watch;
    sv__rehearse_message *parcel = &x->parcels.at[tag];
    uint32_t mtu = x->q->model.mtu_bytes, sent = parcel->packets++ * mtu;
    uint32_t left = parcel->bytes - sent;
    if (x->status != SV_OK)
        return;
    x->seen = time;
    forget(x);
    if (sv_array_push(x->ctx, &x->tracks,
                      (sv__track){.injected = time,
                                  .parcel = tag,
                                  .payload = left < mtu ? left : mtu,
                                  .last = left <= mtu}) != SV_OK) {
        sv__trial_fail(x);
        return;
    }
    x->under_way++;
    if (watch != NULL && watch->injected != NULL)
        watch->injected(watch->user, packet, terminal, parcel->tag, time);
}

/* A packet went by an old entry, or by a new one. */
static void meet(sv__trial *x, sv__track *track, unsigned kind)
{
    sv__rehearse_pair *pair = &x->pairs.at[x->parcels.at[track->parcel].pair];
    unsigned this = kind == SV__NEW, other = !this;
    if (track->kinds & kind)
        return;
    uint32_t others = pair->alive[other] /*~mixed_self*/ - (track->kinds != 0);
    track->kinds |= (uint8_t)kind;
    pair->alive[this]++;
    x->report->inconsistent += track->kinds == (SV__OLD | SV__NEW);
    if (!pair->mixed && (others > 0 /*~left_kinds*/ || pair->until[other] > track->injected)) {
        pair->mixed = true;
        x->report->inconsistent++;
    }
}

/* Whether inconsistency of a pair counts: it has a path that works, and is not left to itself. */
static bool takes_part(const sv__trial *x, const sv__rehearse_pair *pair)
{
    return /*~pathless_count*/ pair->joined &&
           (x->q->way != SV_REHEARSE_FIVE || x->terminals[pair->from].application != SV_NONE);
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    sv__trial *x = user;
    const sv_sim_watch *watch = x->q->watch;
    if (x->status != SV_OK)
        return;
    sv__track *track = track_of(x, packet);
    const sv__rehearse_message *parcel = &x->parcels.at[track->parcel];
    sv_node s = x->f->tail[out.i];
    unsigned old = sv_route_port(x->before, s, parcel->destination),
             new = sv_route_port(x->after, s, parcel->destination);
    if (old != new &&takes_part(x, &x->pairs.at[parcel->pair]))
        meet(x, track, x->f->port[out.i] == new ? SV__NEW : SV__OLD);
    if (watch != NULL && watch->granted != NULL)
        watch->granted(watch->user, packet, out, vl, time);
}

/* A packet has arrived, or was dropped. */
static void leave(sv__trial *x, uint32_t packet, uint64_t time)
{
    sv__track *track = track_of(x, packet);
    sv__rehearse_message *parcel = &x->parcels.at[track->parcel];
    sv__rehearse_pair *pair = &x->pairs.at[parcel->pair];
    for (unsigned k = 0; k < 2; k++)
        if (track->kinds & (k == 0 ? SV__OLD : SV__NEW)) {
            pair->alive[k]--;
            pair->until[k] = time > pair->until[k] ? time : pair->until[k];
        }
    track->over = true;
    x->under_way--;
    x->latest = time > x->latest ? time : x->latest;
    pair->last = time > pair->last ? time : pair->last;
    if (packet < x->settle_before && x->settle_left > 0) {
        x->settle_at = time > x->settle_at ? time : x->settle_at;
        if (--x->settle_left == 0)
            sv__trial_note(x, x->settle_at + 1, SV__DUE_SETTLED, x->step, 0, 0);
    }
    if (--parcel->left == 0)
        sv__pairs_arrived(x, parcel->pair);
}

void sv__packets_settle(sv__trial *x, uint32_t step, uint64_t min)
{
    x->settle_before = sv_sim_next_packet(x->run);
    x->settle_left = /*~settle_none*/ x->under_way;
    x->settle_at = x->latest > min ? x->latest : min;
    if (x->settle_left == 0)
        sv__trial_note(x, x->settle_at + 1, SV__DUE_SETTLED, step, 0, 0);
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    sv__trial *x = user;
    const sv_sim_watch *watch = x->q->watch;
    if (x->status != SV_OK)
        return;
    const sv__track track = *track_of(x, packet);
    arrive(x, track.payload, time);
    leave(x, packet, time);
    let_go(x, track.parcel);
    if (watch != NULL && watch->arrived != NULL)
        watch->arrived(watch->user, packet, time);
}

static void stuck(void *user, uint32_t packet, sv_channel in, unsigned vl)
{
    const sv__trial *x = user;
    const sv_sim_watch *watch = x->q->watch;
    if (watch != NULL && watch->stuck != NULL)
        watch->stuck(watch->user, packet, in, vl);
}

static void incident(void *user, sv_sim_incident what, const sv_sim_example *which)
{
    sv__trial *x = user;
    const sv_sim_watch *watch = x->q->watch;
    uint32_t base = which->destination, i;
    if (x->status != SV_OK)
        return;
    if (x->after->node[base].i >= x->f->num_switches)
        base = x->after->first[x->after->node[base].i];
    i = sv_map_get(&x->pair_of, (uint64_t)which->from << 32 | base);
    if (i == SV_ABSENT) /* not by a base address */
        i = sv_map_get(&x->pair_of, (uint64_t)which->from << 32 | which->destination);
    x->report->harmed[what] += i != SV_ABSENT && x->pairs.at[i].joined;
    if (what == SV_SIM_DROPPED) {
        const sv__track track = *track_of(x, which->packet);
        x->parcels.at[track.parcel].closed |= track.last;
        /*~dropped_ever*/ leave(x, which->packet, which->time);
        let_go(x, track.parcel);
    }
    if (watch != NULL && watch->incident != NULL)
        watch->incident(watch->user, what, which);
}

const sv_sim_watch sv__packets_watch = {.injected = injected,
                                        .granted = granted,
                                        .arrived = arrived,
                                        .stuck = stuck,
                                        .incident = incident};
