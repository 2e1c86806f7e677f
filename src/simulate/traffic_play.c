/*
 * traffic_play.c: a pattern at work among some ranks.
 *
 * Idea: patterns have no state, so all of it is here and small. A rank that does not wait has a
 * count of messages, the time of the last, and a generator. A rank that waits has two counts: its
 * message g may go when it has received as many as the pattern says, and is ready when the last of
 * those came. Receptions are counted in the pattern's order; what comes before its turn, because a
 * partner is ahead, is remembered by its kind until then.
 *
 * How far receptions can run ahead of messages (the engine may be slow to ask) is bounded by the
 * pattern: so a few times a rank are enough to tell for each message when it could go, and the
 * answer does not depend on when the engine asks.
 *
 * Invariant: what is said of a rank depends on calls for its terminal alone, and times of its
 * messages do not decrease.
 * Cost: O(1) a message, 72 bytes a rank and less; 8 × depth + 24 more for one that waits.
 */
#include "simulate/traffic.h"

/* ---- opening ---- */

static double wire_bytes(const sv_sim_model *model, uint32_t bytes)
{
    uint32_t packets = bytes == 0 ? 1 : (bytes - 1) / model->mtu_bytes + 1;
    return (double)bytes + (double)packets * (double)model->header_bytes;
}

static sv_status read_bursts(sv__play *play, sv__spec *spec)
{
    static const char *const words[] = {"together", "random", NULL};
    const uint64_t far = UINT64_MAX / 4; /* as traffic_pace.c has it */
    static const char *const whose[] = {"uniform", "same", NULL};
    unsigned phases, own;
    uint64_t bursts;
    SV_TRY(sv__key_time(spec, "on", 0, &play->on));
    SV_TRY(sv__key_time(spec, "off", play->on, &play->off));
    SV_TRY(sv__key_choice(spec, "phases", words, &phases));
    SV_TRY(sv__key_load(spec, "rest", 0, &play->rest));
    SV_TRY(sv__key_choice(spec, "resting", whose, &own));
    play->rest_own = own == 1;
    SV_TRY(sv__spec_number(spec, "bursts", 1, 1000000000, 0, &bursts));
    if (play->on == 0 && (play->off > 0 || sv__spec_has(spec, "phases") ||
                          sv__spec_has(spec, "rest") || sv__spec_has(spec, "bursts")))
        return sv__spec_fail(spec, "off, phases, rest and bursts are of bursts: on is missing");
    if (sv__spec_has(spec, "resting") && play->rest == 0)
        return sv__spec_fail(spec, "resting is of messages between bursts: rest is missing");
    if (play->on > 0 && play->load == 0)
        play->load = 1;
    play->end = bursts == 0 || play->on + play->off > far / bursts
                    ? SV_NEVER
                    : bursts * (play->on + play->off) - play->off;
    if (phases == 0)
        return SV_OK;
    play->offset = SV_POOL_NEW(play->store, spec->ctx, uint64_t, play->size);
    if (play->offset == NULL)
        return SV_NO_MEMORY;
    for (uint32_t rank = 0; rank < play->size; rank++) {
        sv_rng rng; /* not the rank's own: its messages are the same whatever the phases are */
        sv_rng_init(&rng, ~(play->seed + play->terminal[rank]));
        play->offset[rank] = sv_rng_below(&rng, play->on + play->off);
    }
    return SV_OK;
}

/* A load, or a rate in place of it. */
static sv_status read_load(sv__play *play, sv__spec *spec, double absent)
{
    SV_TRY(sv__key_load(spec, "load", absent, &play->load));
    SV_TRY(sv__key_rate(spec, "rate", &play->rate));
    if (play->rate == 0)
        return SV_OK;
    if (sv__spec_has(spec, "load"))
        return sv__spec_fail(spec, "load and rate exclude each other");
    if (play->bytes == 0)
        return sv__spec_fail(spec, "a rate is of payload: messages of 0 bytes have none");
    play->load = 1;
    for (uint32_t rank = 0; rank < play->size; rank++)
        if (sv__rank_load(play, rank) > 1)
            return sv__spec_fail(spec, "rank %u has a link that is slower than rate, with headers",
                                 rank);
    return SV_OK;
}

/* What all patterns have that do not wait. */
static sv_status read_pace(sv__play *play, sv__spec *spec, const sv_sim_traffic_request *request)
{
    static const char *const words[] = {"poisson", "regular", NULL};
    const uint64_t max = 1000000000000000;
    unsigned arrivals;
    SV_TRY(read_load(play, spec, request->load));
    SV_TRY(sv__spec_number(spec, "messages", 1, max,
                           request->messages == 0 ? SV_NEVER - 1 : request->messages,
                           &play->limit));
    if (play->limit == SV_NEVER - 1)
        play->limit = SV_NEVER;
    SV_TRY(sv__key_choice(spec, "arrivals", words, &arrivals));
    play->regular = arrivals == 1;
    SV_TRY(read_bursts(play, spec));
    if (sv__spec_has(spec, "arrivals") && play->load == 0)
        return sv__spec_fail(spec, "arrivals are of a load: as fast as possible has none");
    play->kind = play->load > 0 ? SV__PACED : SV__FAST;
    return SV_OK;
}

static sv_status make_paced(sv_ctx *ctx, sv__play *play)
{
    play->sent = SV_POOL_NEW(play->store, ctx, uint64_t, play->size);
    if (play->sent == NULL)
        return SV_NO_MEMORY;
    if (play->kind == SV__PACED) {
        play->time = SV_POOL_NEW(play->store, ctx, uint64_t, play->size);
        if (play->time == NULL)
            return SV_NO_MEMORY;
        for (uint32_t rank = 0; rank < play->size; rank++)
            play->time[rank] = SV_NEVER;
    }
    if (play->kind == SV__PACED || play->moves->draws) {
        play->rng = SV_POOL_NEW(play->store, ctx, sv_rng, play->size);
        if (play->rng == NULL)
            return SV_NO_MEMORY;
        for (uint32_t rank = 0; rank < play->size; rank++)
            sv_rng_init(&play->rng[rank], play->seed + 1 + play->terminal[rank]);
    }
    return SV_OK;
}

static sv_status make_waits(sv_ctx *ctx, sv__play *play)
{
    size_t times = (size_t)play->size * (play->depth == 0 ? 1 : play->depth);
    play->waits = SV_POOL_NEW(play->store, ctx, sv__wait, play->size);
    play->times = SV_POOL_NEW(play->store, ctx, uint64_t, times);
    return play->waits == NULL || play->times == NULL ? SV_NO_MEMORY : SV_OK;
}

/* Only some of the ranks take part, if that is asked for. */
static sv_status choose_ranks(sv__play *play, sv__spec *spec)
{
    static const char *const words[] = {"first", "spread", "random", NULL};
    uint64_t ranks;
    unsigned place;
    SV_TRY(sv__spec_number(spec, "ranks", 2, play->size, play->size, &ranks));
    SV_TRY(sv__key_choice(spec, "place", words, &place));
    if (sv__spec_has(spec, "place") && !sv__spec_has(spec, "ranks"))
        return sv__spec_fail(spec, "place is of some ranks only: ranks is missing");
    sv_rng rng; /* of its own: what is sent does not depend on who takes part */
    sv_rng_init(&rng, ~play->seed);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < play->size && kept < ranks; i++) {
        uint64_t before = (uint64_t)i * ranks / play->size,
                 behind = ((uint64_t)i + 1) * ranks / play->size;
        bool taken = place == 0   ? true
                     : place == 1 ? behind > before
                                  : sv_rng_below(&rng, play->size - i) < ranks - kept;
        if (!taken)
            continue;
        play->terminal[kept] = play->terminal[i];
        play->destination[kept] = play->destination[i];
        play->byte_ticks[kept++] = play->byte_ticks[i];
    }
    play->size = kept;
    return SV_OK;
}

sv_status sv__play_open(sv_ctx *ctx, sv__play *play, const char *text,
                        const sv_sim_traffic_request *request)
{
    sv__spec spec;
    char known[500];
    SV_TRY(sv__spec_parse(&spec, ctx, text));
    SV_TRY(sv__pattern_of(&spec, &play->pattern));
    if (play->pattern->open == NULL)
        return sv__spec_fail(&spec, "a job cannot have a file of messages");
    if (play->size < 2)
        return sv__spec_fail(&spec, "fewer than two terminals take part");
    bool waits = play->pattern->info.waits;
    uint64_t bytes;
    SV_TRY(sv__spec_number(&spec, "bytes", 0, UINT32_MAX,
                           request->bytes == 0 ? request->model->mtu_bytes : request->bytes,
                           &bytes));
    play->bytes = (uint32_t)bytes;
    play->wire_bytes = wire_bytes(request->model, play->bytes);
    SV_TRY(choose_ranks(play, &spec));
    play->limit = play->end = SV_NEVER;
    play->kind = SV__WAITING;
    if (!waits)
        SV_TRY(read_pace(play, &spec, request));
    SV_TRY(play->pattern->open(play, &spec));
    sv__pattern_keys(play->pattern, known, sizeof known);
    SV_TRY(sv__spec_done(&spec, known));
    SV_TRY(waits ? make_waits(ctx, play) : make_paced(ctx, play));
    for (uint32_t rank = 0; rank < play->size; rank++)
        if (sv__play_sends(play, rank) > 0)
            return SV_OK;
    return sv__spec_fail(&spec, "no terminal of %u has anything to send", play->size);
}

/* ---- playing ---- */

uint64_t sv__play_sends(const sv__play *play, uint32_t rank)
{
    uint64_t sends = play->moves->sends(play, rank);
    return sends < play->limit ? sends : play->limit;
}

static bool paced_next(sv__play *play, uint32_t rank, sv_sim_message *message)
{
    uint64_t sends = sv__play_sends(play, rank);
    bool rest = false, paced = play->kind == SV__PACED;
    uint32_t to = rank;
    do {
        uint64_t before = paced ? play->time[rank] : 0;
        if (play->sent[rank] >= sends || (paced && !sv__pace_next(play, rank, &rest)))
            return false;
        to = rest && !play->rest_own ? sv__other_rank(play, rank) : rank;
        while (to == rank && play->sent[rank] < sends) {
            to = play->moves->to(play, rank, play->sent[rank]++);
            if (to == rank && play->moves->by_time) { /* nobody now: that was no message */
                play->sent[rank]--;
                break;
            }
        }
        if (to == rank && (!play->moves->by_time || play->time[rank] == before))
            return false;
    } while (to == rank);
    message->ready = paced ? play->time[rank] : 0;
    message->destination = play->destination[to];
    message->bytes = play->bytes;
    message->tag = play->number << SV__KIND_BITS;
    return true;
}

/* Where the time of reception n of a rank is kept. */
static uint64_t *time_of(const sv__play *play, uint32_t rank, uint64_t n)
{
    if (play->depth > 0)
        return &play->times[(size_t)rank * play->depth + n % play->depth];
    uint32_t back = (uint32_t)(n % play->size);
    return &play->times[rank >= back ? rank - back : rank + (play->size - back)];
}

static bool waiting_next(sv__play *play, uint32_t rank, sv_sim_message *message)
{
    sv__wait *wait = &play->waits[rank];
    if (wait->sent >= play->moves->sends(play, rank))
        return false;
    uint64_t needs = play->moves->needs(play, rank, wait->sent);
    if (wait->received < needs)
        return false;
    sv__send send = play->moves->send(play, rank, wait->sent++);
    message->ready = needs == 0 ? 0 : *time_of(play, rank, needs);
    message->destination = play->destination[send.to];
    message->bytes = send.bytes;
    message->tag = play->number << SV__KIND_BITS | send.kind;
    return true;
}

bool sv__play_next(sv__play *play, uint32_t rank, sv_sim_message *message)
{
    return play->kind == SV__WAITING ? waiting_next(play, rank, message)
                                     : paced_next(play, rank, message);
}

void sv__play_arrived(sv__play *play, uint32_t rank, unsigned kind, uint64_t time)
{
    if (play->kind != SV__WAITING || kind >= SV__KINDS)
        return;
    sv__wait *wait = &play->waits[rank];
    wait->early += UINT64_C(1) << 2 * kind;
    for (;;) {
        unsigned next = play->moves->expects(play, rank, wait->received);
        if ((wait->early >> 2 * next & 3) == 0)
            return;
        wait->early -= UINT64_C(1) << 2 * next;
        wait->received++;
        *time_of(play, rank, wait->received) = time;
    }
}
