/*
 * pattern_changing.c: bursts whose pattern is another one each time (PR-DRB thesis, Fig. 2.6b).
 *
 * Idea: which pattern a burst has depends on its number alone, and that on the time of a message:
 * nothing is stored, and all ranks agree (with phases=random each goes through the patterns at its
 * own time). Patterns in turn, or each burst one at random.
 *
 * A rank that is idle in one pattern sends nothing in its bursts, and one that is idle in all sends
 * nothing at all, between bursts neither, as it is with one pattern.
 *
 * Cost: as that of the pattern, and a copy of the play a message.
 */
#include "simulate/traffic.h"

extern const sv__pattern sv__changing;

enum { MAX_PARTS = 16, ON_TICKS = 20000 * SV_TICKS_PER_NS };

/* The play as it is with one of its patterns. */
static sv__play with_part(const sv__play *play, const sv__part *part)
{
    sv__play alone = *play;
    alone.moves = part->moves;
    for (int i = 0; i < 3; i++)
        alone.param[i] = part->param[i];
    return alone;
}

static const sv__part *part_of(const sv__play *play, uint64_t burst)
{
    if (!play->shuffled)
        return &play->parts[burst % play->num_parts];
    sv_rng rng;
    sv_rng_init(&rng, play->seed);
    sv_rng_init(&rng, sv_rng_next(&rng) + burst);
    return &play->parts[sv_rng_below(&rng, play->num_parts)];
}

static uint64_t changing_sends(const sv__play *play, uint32_t rank)
{
    uint64_t max = 0;
    for (uint32_t i = 0; i < play->num_parts && max == 0; i++) {
        sv__play alone = with_part(play, &play->parts[i]);
        max = alone.moves->sends(&alone, rank);
    }
    return max;
}

static uint32_t changing_to(const sv__play *play, uint32_t rank, uint64_t k)
{
    sv__play alone = with_part(play, part_of(play, sv__burst_at(play, rank, play->time[rank])));
    return alone.moves->sends(&alone, rank) == 0 ? rank : alone.moves->to(&alone, rank, k);
}

/* One of the patterns, as it is without keys. */
static sv_status open_part(const sv__play *play, const sv__spec *spec, sv_span name, sv__part *part)
{
    const sv__pattern *pattern = sv__pattern_find(name);
    sv__spec plain = {.ctx = spec->ctx, .text = spec->text, .family = name};
    sv__play alone = *play;
    if (pattern == NULL)
        return sv__spec_fail(spec, "'%.*s' is no pattern", SV_SPAN(name));
    if (!pattern->info.endless || pattern->info.waits || pattern == &sv__changing)
        return sv__spec_fail(spec, "'%.*s' cannot be the pattern of a burst", SV_SPAN(name));
    SV_TRY(pattern->open(&alone, &plain));
    if (alone.moves->load != NULL || alone.moves->counts != NULL || alone.skips)
        return sv__spec_fail(spec, "'%.*s' cannot be the pattern of a burst", SV_SPAN(name));
    part->moves = alone.moves;
    for (int i = 0; i < 3; i++)
        part->param[i] = alone.param[i];
    return SV_OK;
}

static sv_status open_parts(sv__play *play, sv__spec *spec, sv_span names)
{
    sv__part *parts = SV_POOL_NEW(play->store, spec->ctx, sv__part, MAX_PARTS);
    const char *end = names.at + names.length;
    if (parts == NULL)
        return SV_NO_MEMORY;
    for (const char *at = names.at; at <= end;) {
        const char *stop = at;
        while (stop < end && *stop != '+')
            stop++;
        if (play->num_parts == MAX_PARTS)
            return sv__spec_fail(spec, "more than %d patterns", MAX_PARTS);
        SV_TRY(open_part(play, spec, (sv_span){at, (size_t)(stop - at)}, &parts[play->num_parts]));
        play->num_parts++;
        at = stop + 1;
    }
    play->parts = parts;
    return SV_OK;
}

static sv_status changing_open(sv__play *play, sv__spec *spec)
{
    static const sv__moves moves = {
        .sends = changing_sends, .to = changing_to, .draws = true, .by_time = true};
    static const char *const words[] = {"round", "random", NULL};
    sv_span names = sv__spec_text(spec, "patterns");
    unsigned turns;
    SV_TRY(sv__key_choice(spec, "turns", words, &turns));
    play->shuffled = turns == 1;
    if (play->on == 0) {
        play->on = play->off = ON_TICKS;
        play->load = play->load > 0 ? play->load : 1;
        play->kind = SV__PACED;
    }
    if (names.at == NULL)
        names = sv_span_of("bitreverse+shuffle+transpose");
    SV_TRY(open_parts(play, spec, names));
    play->moves = &moves;
    return SV_OK;
}

static const sv_sim_pattern_key changing_keys[] = {
    {"patterns", "names with '+' between them, of endless patterns as they are without keys",
     "bitreverse+shuffle+transpose"},
    {"turns", "of patterns, burst by burst: round, or random", "round"},
    {NULL, NULL, NULL}};

const sv__pattern sv__changing = {
    .info = {.name = "changing",
             .summary = "bursts (of 20us, unless on tells) of one pattern after the other",
             .keys = changing_keys,
             .endless = true},
    .open = changing_open};
