/*
 * phases.c: stretches of the communication that come again.
 *
 * Idea (docs/traces.md has the rule): logical time (ticks.h) puts every message into a step of the
 * whole program. Between steps of collectives and others there is a cut. A stretch between two cuts
 * that is short and comes again is a phase: that is how programs do it that sum up now and then.
 * What is left goes step by step: steps are alike when the same ranks send to the same others
 * equally often, the same collectives are in them, and their bytes have the same number of bits. Of
 * two kinds of step, the second belongs to the phase of the first if it nearly always (SHARE) comes
 * right after it, and nearly always nothing else comes before it: so phases are the straight pieces
 * of the graph of kinds, as basic blocks are of a program's.
 *
 * Invariants: a kind is one step, or a stretch; kinds are numbered in the order in which they come
 * first; every kind is in one phase; phases are in the order in which their first kinds come; no
 * two phases are alike. Kinds are told apart by sums of 64-bit numbers drawn from what is in a
 * step: that two different ones are taken for one another is as likely as a wrong bit in memory.
 * Source: PR-DRB thesis 2.2.5; Wong, Rexachs and Luque, PAS2P (2009), whose phases are told by
 * logical ticks, too.
 * Cost: that of logical time, O(1) a step expected.
 */
#include <string.h>

#include "traces/summary.h"
#include "traces/ticks.h"

enum { SHARE_OF = 5, SHARE = 4 };         /* nearly always: four in five */
enum { LONGEST = 64 };                    /* of a stretch that is a phase as a whole, in steps */
enum { RELEVANT = 100, COMES_AGAIN = 2 }; /* one in a hundred of bytes or of steps */

typedef struct step {
    uint64_t sum[2]; /* of numbers that stand for what is in it */
    uint64_t messages, bytes;
    uint32_t tick;
    bool points, collectives; /* has such messages */
} step;

/* A step that comes again, or a stretch of several. */
typedef struct kind {
    uint64_t times, bytes; /* of all times */
    uint64_t first;        /* step */
    uint32_t length;       /* steps */
    uint32_t next, before; /* of its phase, or SV_NONE */
    bool collective, head;
} kind;

typedef struct follow {
    uint32_t first, second;
    uint64_t times;
} follow;

typedef struct finding {
    sv_mpi_phase phase;
    uint64_t steps, bytes; /* of all times */
    uint32_t head;         /* its first kind */
} finding;

typedef struct finder {
    sv_ctx *ctx;
    sv__coll_kinds collectives;
    SV_ARRAY(step) steps; /* by tick, then without those that have no messages */
    SV_ARRAY(kind) kinds;
    SV_ARRAY(uint32_t) string; /* kinds, one after the other */
    SV_ARRAY(follow) follows;
    SV_ARRAY(finding) phases;
} finder;

/* ---- steps ---- */

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static sv_status step_at(finder *f, uint32_t tick, step **found)
{
    if (tick >= f->steps.length) {
        SV_TRY(sv_array_reserve(f->ctx, &f->steps, (size_t)tick + 1));
        memset(f->steps.at + f->steps.length, 0,
               (tick + 1 - f->steps.length) * sizeof *f->steps.at);
        f->steps.length = (size_t)tick + 1;
    }
    *found = &f->steps.at[tick];
    return SV_OK;
}

static void put(step *s, uint64_t what, uint64_t messages, uint64_t bytes)
{
    s->sum[0] += mix(what);
    s->sum[1] += mix(~what);
    s->messages += messages;
    s->bytes += bytes;
}

static sv_status put_message(void *user, uint32_t from, const sv_mpi_event *event, uint32_t tick)
{
    step *s;
    SV_TRY(step_at(user, tick, &s));
    put(s, (uint64_t)from << 32 | event->peer, 1, event->amount);
    s->points = true;
    return SV_OK;
}

static sv_status put_collective(void *user, const sv_mpi_event *event, uint32_t tick)
{
    finder *f = user;
    step *s;
    uint32_t number;
    SV_TRY(step_at(f, tick, &s));
    SV_TRY(sv__coll_kind_of(&f->collectives, event, &number));
    const sv__coll_kind *k = &f->collectives.kinds.at[number];
    uint64_t what = mix((uint64_t)event->call << 48 | (uint64_t)event->group << 32 | event->peer);
    put(s, mix(what + sv__bits(event->amount)), k->messages, k->bytes);
    s->collectives = true;
    return SV_OK;
}

/* Leaves out steps in which nothing happens. */
static void close_up(finder *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->steps.length; i++)
        if (f->steps.at[i].points || f->steps.at[i].collectives) {
            f->steps.at[kept] = f->steps.at[i];
            f->steps.at[kept++].tick = (uint32_t)i;
        }
    f->steps.length = kept;
}

/* ---- kinds ---- */

/* A number for what is in a step, whatever its bytes. */
static uint64_t shape_of(const step *s)
{
    return mix(s->sum[0] ^ mix(s->sum[1] ^ mix((uint64_t)s->points << 1 | s->collectives)));
}

/* A number for a stretch: its steps' shapes, and how many bits all their bytes have. */
static uint64_t key_of(const step *s, size_t length)
{
    uint64_t key = length, bytes = 0;
    for (size_t i = 0; i < length; i++) {
        key = mix(key ^ shape_of(&s[i]));
        bytes += s[i].bytes;
    }
    return mix(key + sv__bits(bytes));
}

/* How many steps from one on are all of collectives alone, or none is. */
static size_t stretch_at(const finder *f, size_t from)
{
    size_t end = from + 1;
    while (end < f->steps.length && f->steps.at[end].points == f->steps.at[from].points)
        end++;
    return end - from;
}

/* Notes short stretches; those that come again have the value 1. */
static sv_status count_stretches(finder *f, sv_map *map)
{
    for (size_t at = 0, length; at < f->steps.length; at += length) {
        length = stretch_at(f, at);
        if (length > LONGEST)
            continue;
        uint64_t key = key_of(&f->steps.at[at], length);
        if (sv_map_get(map, key) != SV_ABSENT)
            sv_map_set(map, key, 1);
        else
            SV_TRY(sv_map_add(map, key, 0, &(uint32_t){0}));
    }
    return SV_OK;
}

static sv_status add_kind(finder *f, sv_map *map, size_t at, size_t length)
{
    const step *s = &f->steps.at[at];
    uint32_t number, count = (uint32_t)f->kinds.length;
    SV_TRY(sv_map_add(map, key_of(s, length), count, &number));
    if (number == count)
        SV_TRY(sv_array_push(f->ctx, &f->kinds,
                             (kind){.first = at,
                                    .length = (uint32_t)length,
                                    .next = SV_NONE,
                                    .before = SV_NONE,
                                    .collective = !s->points}));
    kind *k = &f->kinds.at[number];
    k->times++;
    for (size_t i = 0; i < length; i++)
        k->bytes += s[i].bytes;
    return sv_array_push(f->ctx, &f->string, number);
}

static sv_status find_kinds(finder *f, const sv_map *stretches, sv_map *map)
{
    for (size_t at = 0, length; at < f->steps.length; at += length) {
        length = stretch_at(f, at);
        bool whole =
            length <= LONGEST && sv_map_get(stretches, key_of(&f->steps.at[at], length)) == 1;
        for (size_t i = 0; i < (whole ? 1 : length); i++)
            SV_TRY(add_kind(f, map, at + i, whole ? length : 1));
    }
    return SV_OK;
}

static sv_status count_follows(finder *f, sv_map *map)
{
    for (size_t i = 0; i + 1 < f->string.length; i++) {
        uint32_t a = f->string.at[i], b = f->string.at[i + 1];
        uint32_t at, count = (uint32_t)f->follows.length;
        SV_TRY(sv_map_add(map, (uint64_t)a << 32 | b, count, &at));
        if (at == count)
            SV_TRY(sv_array_push(f->ctx, &f->follows, (follow){.first = a, .second = b}));
        f->follows.at[at].times++;
    }
    return SV_OK;
}

/* ---- phases ---- */

static void link_kinds(finder *f)
{
    for (size_t i = 0; i < f->follows.length; i++) {
        const follow *w = &f->follows.at[i];
        kind *a = &f->kinds.at[w->first], *b = &f->kinds.at[w->second];
        if (a != b && a->collective == b->collective && SHARE_OF * w->times >= SHARE * a->times &&
            SHARE_OF * w->times >= SHARE * b->times) {
            a->next = w->second;
            b->before = w->first;
        }
    }
}

/* Heads: kinds with nothing before them, and in circles the one that comes first. */
static sv_status find_heads(finder *f)
{
    uint8_t *seen = sv_alloc(f->ctx, f->kinds.length, 1);
    if (seen == NULL)
        return SV_NO_MEMORY;
    for (int circles = 0; circles < 2; circles++)
        for (uint32_t i = 0; i < f->kinds.length; i++) {
            if (seen[i] != 0 || (circles == 0 && f->kinds.at[i].before != SV_NONE))
                continue;
            f->kinds.at[i].head = true;
            for (uint32_t k = i; k != SV_NONE && seen[k] == 0; k = f->kinds.at[k].next)
                seen[k] = 1;
        }
    sv_release(f->ctx, seen);
    return SV_OK;
}

/* The kind after k in its phase, or SV_NONE. */
static uint32_t next_in_phase(const finder *f, uint32_t k)
{
    uint32_t next = f->kinds.at[k].next;
    return next == SV_NONE || f->kinds.at[next].head ? SV_NONE : next;
}

/* The number for all steps of a phase together, and what is in them. */
static uint64_t add_up(const finder *f, uint32_t head, finding *p)
{
    const kind *h = &f->kinds.at[head];
    uint64_t key = 0;
    *p = (finding){.phase = {.weight = h->times, .first = h->first, .collective = h->collective},
                   .head = head};
    for (uint32_t k = head; k != SV_NONE; k = next_in_phase(f, k)) {
        const kind *part = &f->kinds.at[k];
        for (uint64_t i = part->first; i < part->first + part->length; i++) {
            key = mix(key ^ shape_of(&f->steps.at[i]));
            p->phase.messages += f->steps.at[i].messages;
            p->phase.bytes += f->steps.at[i].bytes;
        }
        p->steps += part->times * part->length;
        p->bytes += part->bytes;
    }
    return mix(key + sv__bits(p->phase.bytes));
}

/* Phases that are alike are one, whether they were found as stretches or step by step. */
static sv_status gather(finder *f, sv_map *map)
{
    for (uint32_t i = 0; i < f->kinds.length; i++) {
        finding p;
        uint32_t at, count = (uint32_t)f->phases.length;
        if (!f->kinds.at[i].head)
            continue;
        SV_TRY(sv_map_add(map, add_up(f, i, &p), count, &at));
        if (at == count) {
            SV_TRY(sv_array_push(f->ctx, &f->phases, p));
            continue;
        }
        f->phases.at[at].phase.weight += p.phase.weight;
        f->phases.at[at].steps += p.steps;
        f->phases.at[at].bytes += p.bytes;
    }
    return SV_OK;
}

static bool is_relevant(const finder *f, const finding *p, uint64_t all_bytes)
{
    bool much = p->bytes > 0 && p->bytes >= (all_bytes + RELEVANT - 1) / RELEVANT;
    bool often = RELEVANT * p->steps >= f->steps.length;
    return p->phase.weight >= COMES_AGAIN && (much || often);
}

static sv_status list_phases(finder *f, sv_mpi_summary *s)
{
    s->phases = sv_alloc(f->ctx, f->phases.length, sizeof *s->phases);
    if (s->phases == NULL)
        return SV_NO_MEMORY;
    s->num_phases = (uint32_t)f->phases.length;
    for (uint32_t i = 0; i < s->num_phases; i++) {
        s->phases[i] = f->phases.at[i].phase;
        s->phases[i].relevant = is_relevant(f, &f->phases.at[i], s->bytes);
        s->relevant_phases += s->phases[i].relevant;
        s->relevant_weight += s->phases[i].relevant ? s->phases[i].weight : 0;
    }
    return SV_OK;
}

/* All but the list. */
static sv_status find(finder *f, const sv_mpi_trace *trace)
{
    sv__tick_visitor visitor = {f, put_message, put_collective};
    SV_TRY(sv__ticks(f->ctx, trace, &visitor));
    close_up(f);
    sv_map stretches, kinds, follows, alike;
    sv_map *maps[] = {&stretches, &kinds, &follows, &alike};
    for (int i = 0; i < 4; i++)
        sv_map_init(maps[i], f->ctx);
    sv_status status = count_stretches(f, &stretches);
    if (status == SV_OK)
        status = find_kinds(f, &stretches, &kinds);
    if (status == SV_OK)
        status = count_follows(f, &follows);
    if (status == SV_OK) {
        link_kinds(f);
        status = find_heads(f);
    }
    if (status == SV_OK)
        status = gather(f, &alike);
    for (int i = 0; i < 4; i++)
        sv_map_release(maps[i]);
    return status;
}

static void begin(finder *f, sv_ctx *ctx, const sv_mpi_trace *trace)
{
    *f = (finder){.ctx = ctx};
    sv__coll_kinds_init(&f->collectives, ctx, trace);
}

static void end(finder *f)
{
    sv__coll_kinds_release(&f->collectives);
    sv_array_release(f->ctx, &f->steps);
    sv_array_release(f->ctx, &f->kinds);
    sv_array_release(f->ctx, &f->string);
    sv_array_release(f->ctx, &f->follows);
    sv_array_release(f->ctx, &f->phases);
}

sv_status sv__find_phases(sv_ctx *ctx, const sv_mpi_trace *trace, sv_mpi_summary *summary)
{
    finder f;
    begin(&f, ctx, trace);
    sv_status status = find(&f, trace);
    if (status == SV_OK)
        status = list_phases(&f, summary);
    end(&f);
    return status;
}

/* ---- flows of one phase ---- */

typedef struct collector {
    sv_ctx *ctx;
    const sv_mpi_trace *trace;
    const uint8_t *wanted; /* by tick: 0, or 1 + its step, by 64 */
    uint32_t num_ticks;
    uint8_t step; /* of what is added */
    sv_map pairs;
    SV_ARRAY(sv_mpi_flow) flows;
} collector;

static sv_status add_flow(void *user, uint32_t from, uint32_t to, uint64_t bytes)
{
    collector *c = user;
    uint32_t at, count = (uint32_t)c->flows.length;
    SV_TRY(sv_map_add(&c->pairs, (uint64_t)from << 32 | to, count, &at));
    if (at == count)
        SV_TRY(sv_array_push(c->ctx, &c->flows, (sv_mpi_flow){.from = from, .to = to}));
    c->flows.at[at].messages++;
    c->flows.at[at].bytes += bytes;
    c->flows.at[at].steps |= (uint64_t)1 << c->step;
    return SV_OK;
}

/* Whether a tick is one of the phase's; its step is the present one then. */
static bool is_wanted(collector *c, uint32_t tick)
{
    if (tick >= c->num_ticks || c->wanted[tick] == 0)
        return false;
    c->step = (uint8_t)(c->wanted[tick] - 1);
    return true;
}

static sv_status collect_message(void *user, uint32_t from, const sv_mpi_event *event,
                                 uint32_t tick)
{
    return is_wanted(user, tick) ? add_flow(user, from, event->peer, event->amount) : SV_OK;
}

static sv_status collect_collective(void *user, const sv_mpi_event *event, uint32_t tick)
{
    const collector *c = user;
    return is_wanted(user, tick) ? sv__coll_messages(c->trace, event, add_flow, user) : SV_OK;
}

/* Marks the ticks of the first time of each step of a phase. */
static void mark(const finder *f, uint32_t phase, uint8_t *wanted)
{
    uint32_t at = 0;
    for (uint32_t k = f->phases.at[phase].head; k != SV_NONE; k = next_in_phase(f, k))
        for (uint32_t i = 0; i < f->kinds.at[k].length; i++, at++)
            wanted[f->steps.at[f->kinds.at[k].first + i].tick] = (uint8_t)(1 + at % 64);
}

static sv_status collect(finder *f, const sv_mpi_trace *trace, uint32_t phase, collector *c)
{
    SV_TRY(find(f, trace));
    uint32_t ticks = f->steps.length == 0 ? 0 : f->steps.at[f->steps.length - 1].tick + 1;
    uint8_t *wanted = sv_alloc(f->ctx, ticks, 1);
    if (wanted == NULL)
        return SV_NO_MEMORY;
    mark(f, phase, wanted);
    c->wanted = wanted;
    c->num_ticks = ticks;
    sv__tick_visitor visitor = {c, collect_message, collect_collective};
    sv_status status = sv__ticks(f->ctx, trace, &visitor);
    sv_release(f->ctx, wanted);
    return status;
}

sv_status sv_mpi_phase_flows(sv_ctx *ctx, const sv_mpi_trace *trace, const sv_mpi_summary *summary,
                             uint32_t phase, sv_mpi_flow **flows, uint32_t *count)
{
    if (phase >= summary->num_phases)
        return sv_fail(ctx, SV_BAD_INPUT, "no phase %u: there are %u", phase, summary->num_phases);
    finder f;
    collector c = {.ctx = ctx, .trace = trace};
    begin(&f, ctx, trace);
    sv_map_init(&c.pairs, ctx);
    sv_status status = collect(&f, trace, phase, &c);
    end(&f);
    sv_map_release(&c.pairs);
    if (status != SV_OK) {
        sv_array_release(ctx, &c.flows);
        return status;
    }
    *flows = c.flows.at;
    *count = (uint32_t)c.flows.length;
    return SV_OK;
}
