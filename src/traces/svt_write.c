/*
 * svt_write.c: writes .svt files, and finds what comes again and again in them.
 *
 * Idea: a rank's events are numbered (equal ones get one number), which gives a list of records.
 * Then loops are folded: level by level periods of 1, 2, 3 to 4, 5 to 8 … records are looked for.
 * On a level, a period d of more than g and at most 2 g records shows in that the g records at i
 * come again at i + d; where they do is found by a hash of g records each. If the d records at i
 * are those at i + d, too, all that follow alike become one record: a repetition. An outer loop has
 * its inner one in it (body and repetition), so its period is longer, and is found later, or in
 * another pass of the same level.
 *
 * What a repetition repeats is told by how many records before it, so nothing is folded that a
 * later one repeats (reach).
 *
 * Invariants: a repetition is a symbol of its own, equal only to repetitions that stand for the
 * same events; hashes only suggest, records are compared.
 * Cost: O(n log n) for n events a rank, memory O(n).
 */
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/text.h"
#include "traces/traces.h"

/* A record: an event of the dictionary, or a repetition. */
struct record {
    uint32_t symbol;        /* equal: stands for the same */
    uint32_t length, count; /* of a repetition; length 0: symbol is an event's number */
};

/* What a repetition stands for, but for how it is hashed. */
struct body {
    uint32_t *symbols, length, count;
};

struct writer {
    sv_ctx *ctx;
    const sv_mpi_trace *trace;
    sv_text out;
    uint64_t sum;
    sv_arena arena; /* of the section */
    uint32_t rank;
    uint32_t *group; /* [groups of the trace]: the section's number, 0: none */
    uint32_t groups;
    struct record *records;
    size_t length;
    uint64_t *hash;  /* [length + 1]: of all records before */
    uint32_t *next;  /* [length]: where the same records stand next, or SV_NONE */
    uint32_t *reach; /* [length + 1]: where the first record stands that repetitions from here on
                        repeat */
    uint32_t *seen;  /* [slots] */
    size_t slots;    /* a power of two */
    sv_names names;  /* the dictionary: bytes of events, to their numbers */
    SV_ARRAY(sv_span) events;
    sv_map hashes; /* of repetitions: which of bodies */
    SV_ARRAY(struct body) bodies;
};

/* ---- bytes ---- */

struct bytes {
    uint8_t at[96];
    unsigned length;
};

static void put(struct bytes *b, uint64_t value)
{
    for (; value > 127; value >>= 7)
        b->at[b->length++] = (uint8_t)(value | 128);
    b->at[b->length++] = (uint8_t)value;
}

static uint64_t zigzag(uint32_t to, uint32_t from)
{
    return to >= from ? 2 * (uint64_t)(to - from) : 2 * (uint64_t)(from - to) - 1;
}

static void hand_over(struct writer *w, const void *bytes, size_t length)
{
    w->sum = sv_digest(w->sum, bytes, length);
    sv_text_add(&w->out, bytes, length);
}

static void put_out(struct writer *w, struct bytes *b)
{
    hand_over(w, b->at, b->length);
    b->length = 0;
}

/* ---- events ---- */

static void encode(const struct writer *w, const sv_mpi_event *e, struct bytes *b)
{
    bool waits = e->kind == SV_MPI_WAIT;
    put(b, e->kind);
    put(b, e->call);
    if (sv__is_collective(e)) {
        put(b, e->peer);
        put(b, w->group[e->group]);
    } else if (!waits && e->kind != SV_MPI_COMPUTE) {
        put(b, e->peer == SV_MPI_ANY ? 0 : 1 + zigzag(e->peer, w->rank));
        put(b, e->tag == SV_MPI_ANY ? 0 : 1 + (uint64_t)e->tag);
        put(b, w->group[e->group]);
    }
    if (!waits)
        put(b, e->amount);
    if (waits || sv__begins(e))
        put(b, e->request);
}

static bool has_group(const sv_mpi_event *e)
{
    return e->kind != SV_MPI_COMPUTE && e->kind != SV_MPI_WAIT;
}

/* What a file has no words for. */
static sv_status event_is_fine(const struct writer *w, uint64_t i, const sv_mpi_event *e)
{
    const sv_mpi_trace *t = w->trace;
    bool any = e->kind == SV_MPI_RECV || e->kind == SV_MPI_IRECV;
    if (e->kind >= SV_MPI_KINDS || e->call >= SV_CALL_COUNT ||
        (has_group(e) && (e->group >= t->num_groups ||
                          (e->peer >= t->num_ranks && !(any && e->peer == SV_MPI_ANY)))) ||
        (has_group(e) && !sv__is_collective(e) && e->tag == SV_MPI_ANY && !any))
        return sv_fail(w->ctx, SV_BAD_INPUT, "rank %u, event %llu: cannot be written", w->rank,
                       (unsigned long long)i);
    return SV_OK;
}

static void write_group(struct writer *w, uint16_t group)
{
    const sv_mpi_group *g = &w->trace->groups[group];
    struct bytes b = {.length = 0};
    w->group[group] = ++w->groups;
    put(&b, SV__SVT_GROUP);
    put(&b, g->ordinal);
    put(&b, g->size);
    uint32_t last = 0;
    for (uint32_t i = 0; i < g->size; i++) {
        put(&b, zigzag(g->ranks[i], last));
        last = g->ranks[i];
        if (b.length > sizeof b.at / 2)
            put_out(w, &b);
    }
    put_out(w, &b);
}

/* Numbers the events of a rank, and writes the groups that are in them. */
static sv_status number_events(struct writer *w)
{
    const sv_mpi_rank *rank = &w->trace->ranks[w->rank];
    for (uint64_t i = 0; i < rank->length; i++) {
        const sv_mpi_event *e = &rank->events[i];
        struct bytes b = {.length = 0};
        SV_TRY(event_is_fine(w, i, e));
        if (has_group(e) && e->group != 0 && w->group[e->group] == 0)
            write_group(w, e->group);
        encode(w, e, &b);
        sv_span key = {(const char *)b.at, b.length};
        uint32_t number = sv_names_get(&w->names, key);
        if (number == SV_ABSENT) {
            key.at = sv_arena_text(&w->arena, key.at, key.length);
            if (key.at == NULL)
                return SV_NO_MEMORY;
            SV_TRY(sv_array_push(w->ctx, &w->events, key));
            SV_TRY(sv_names_add(&w->names, key, (uint32_t)w->events.length - 1, &number));
        }
        w->records[i] = (struct record){.symbol = number};
    }
    w->length = (size_t)rank->length;
    return SV_OK;
}

/* ---- loops ---- */

#define BASE UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

static uint64_t power(uint64_t exponent)
{
    uint64_t result = 1, square = BASE;
    for (; exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return result;
}

/* Of count records from i on; scale: BASE to the power count. */
static uint64_t hash_of(const struct writer *w, size_t i, size_t count, uint64_t scale)
{
    return w->hash[i + count] - w->hash[i] * scale;
}

/* For each place where g records stand: the next where they do, too. */
static void find_next(struct writer *w, size_t g)
{
    uint64_t scale = power(g);
    w->hash[0] = 0;
    for (size_t i = 0; i < w->length; i++)
        w->hash[i + 1] = w->hash[i] * BASE + mix(w->records[i].symbol + 1);
    w->reach[w->length] = SV_NONE;
    for (size_t i = w->length; i-- > 0;) {
        uint32_t from = (uint32_t)i - w->records[i].length;
        w->reach[i] = w->records[i].length > 0 && from < w->reach[i + 1] ? from : w->reach[i + 1];
    }
    memset(w->seen, 0xff, w->slots * sizeof *w->seen);
    for (size_t i = w->length; i-- > 0;) {
        w->next[i] = SV_NONE;
        if (i + g > w->length)
            continue;
        uint64_t hash = hash_of(w, i, g, scale);
        size_t slot = (size_t)mix(hash) & (w->slots - 1);
        while (w->seen[slot] != SV_NONE && hash_of(w, w->seen[slot], g, scale) != hash)
            slot = (slot + 1) & (w->slots - 1);
        w->next[i] = w->seen[slot];
        w->seen[slot] = (uint32_t)i;
    }
}

static bool same(const struct writer *w, size_t i, size_t k, size_t count)
{
    for (size_t j = 0; j < count; j++)
        if (w->records[i + j].symbol != w->records[k + j].symbol)
            return false;
    return true;
}

/* How often the records at i come again right behind, with the period that pays: *period. */
static uint32_t again_at(const struct writer *w, size_t i, size_t g, size_t *period)
{
    enum { TRIES = 16 };
    uint32_t at = (uint32_t)i;
    for (int k = 0; k < TRIES; k++) {
        at = w->next[at];
        if (at == SV_NONE || at - i > 2 * g)
            return 0;
        size_t d = at - i;
        uint64_t scale = power(d), hash;
        if (d + i + d > w->length || (hash = hash_of(w, i, d, scale)) != hash_of(w, at, d, scale))
            continue;
        uint32_t count = 0;
        for (size_t then = at;
             then + d <= w->length && hash_of(w, then, d, scale) == hash && same(w, i, then, d);
             then += d)
            count++;
        if ((uint64_t)count * d < 3 || w->reach[i + (count + 1) * d] < i + (count + 1) * d)
            continue;
        *period = d;
        return count;
    }
    return 0;
}

static bool is_body(const struct writer *w, const struct body *body, size_t i, size_t d,
                    uint32_t count)
{
    if (body->length != d || body->count != count)
        return false;
    for (size_t k = 0; k < d; k++)
        if (body->symbols[k] != w->records[i + k].symbol)
            return false;
    return true;
}

/* The symbol of a repetition: the same for the same. (If two of them had one hash, the second would
 * get a symbol that nobody finds again.) */
static sv_status repetition(struct writer *w, size_t i, size_t d, uint32_t count, uint32_t *symbol)
{
    uint64_t hash = mix(hash_of(w, i, d, power(d)) ^ mix(((uint64_t)count << 32) + d));
    uint32_t number = sv_map_get(&w->hashes, hash);
    if (number == SV_ABSENT || !is_body(w, &w->bodies.at[number], i, d, count)) {
        struct body body = {SV_ARENA_NEW(&w->arena, uint32_t, d), (uint32_t)d, count};
        if (body.symbols == NULL)
            return SV_NO_MEMORY;
        for (size_t k = 0; k < d; k++)
            body.symbols[k] = w->records[i + k].symbol;
        uint32_t held;
        number = (uint32_t)w->bodies.length;
        SV_TRY(sv_array_push(w->ctx, &w->bodies, body));
        SV_TRY(sv_map_add(&w->hashes, hash, number, &held));
    }
    *symbol = (uint32_t)w->events.length + number;
    return SV_OK;
}

/* One pass over periods of g + 1 to 2 g records (1 to 2, g being 1). */
static sv_status fold(struct writer *w, size_t g, bool *folded)
{
    size_t out = 0, d = 0;
    *folded = false;
    find_next(w, g);
    for (size_t i = 0; i < w->length;) {
        uint32_t count = again_at(w, i, g, &d), symbol;
        if (count == 0) {
            w->records[out++] = w->records[i++];
            continue;
        }
        SV_TRY(repetition(w, i, d, count, &symbol));
        memmove(w->records + out, w->records + i, d * sizeof *w->records);
        out += d;
        w->records[out++] = (struct record){symbol, (uint32_t)d, count};
        i += (count + (size_t)1) * d;
        *folded = true;
    }
    w->length = out;
    return SV_OK;
}

static sv_status fold_all(struct writer *w)
{
    for (size_t g = 1; g <= w->length / 2; g *= 2)
        for (bool folded = true; folded;)
            SV_TRY(fold(w, g, &folded));
    return SV_OK;
}

/* ---- a file ---- */

static void write_records(struct writer *w)
{
    struct bytes b = {.length = 0};
    uint32_t known = 0;
    for (size_t i = 0; i < w->length; i++) {
        const struct record *record = &w->records[i];
        if (record->length > 0) {
            put(&b, SV__SVT_REPEAT);
            put(&b, record->length);
            put(&b, record->count);
        } else if (record->symbol < known) {
            put(&b, SV__SVT_AGAIN + (uint64_t)record->symbol);
        } else { /* numbers are in the order of first events, of which none was folded away */
            known++;
            put(&b, SV__SVT_EVENT);
            put_out(w, &b);
            hand_over(w, w->events.at[record->symbol].at, w->events.at[record->symbol].length);
        }
        if (b.length > sizeof b.at / 2)
            put_out(w, &b);
    }
    put(&b, SV__SVT_END);
    put_out(w, &b);
}

/* Room for a rank of so many events; what the rank before had is forgotten. */
static sv_status make_room(struct writer *w, size_t events)
{
    w->slots = 16;
    while (w->slots < 2 * events)
        w->slots *= 2;
    w->records = SV_ARENA_NEW(&w->arena, struct record, events);
    w->hash = SV_ARENA_NEW(&w->arena, uint64_t, events + 1);
    w->next = SV_ARENA_NEW(&w->arena, uint32_t, events);
    w->reach = SV_ARENA_NEW(&w->arena, uint32_t, events + 1);
    w->seen = SV_ARENA_NEW(&w->arena, uint32_t, w->slots);
    w->group = SV_ARENA_NEW(&w->arena, uint32_t, w->trace->num_groups);
    w->groups = 0;
    w->events.length = w->bodies.length = 0;
    return w->records == NULL || w->hash == NULL || w->next == NULL || w->reach == NULL ||
                   w->seen == NULL || w->group == NULL
               ? SV_NO_MEMORY
               : SV_OK;
}

static sv_status write_section(struct writer *w)
{
    struct bytes b = {.length = 0};
    put(&b, 1 + (uint64_t)w->rank);
    put_out(w, &b);
    sv_arena_init(&w->arena, w->ctx);
    sv_names_init(&w->names, w->ctx);
    sv_map_init(&w->hashes, w->ctx);
    sv_status status = make_room(w, (size_t)w->trace->ranks[w->rank].length);
    if (status == SV_OK)
        status = number_events(w);
    if (status == SV_OK)
        status = fold_all(w);
    if (status == SV_OK)
        write_records(w);
    sv_map_release(&w->hashes);
    sv_names_release(&w->names);
    sv_arena_release(&w->arena);
    return status != SV_OK ? status : w->out.status;
}

static sv_status write_all(struct writer *w)
{
    const sv_mpi_trace *t = w->trace;
    size_t name = strlen(t->name) > UINT16_MAX ? UINT16_MAX : strlen(t->name);
    struct bytes b = {.length = 0};
    hand_over(w, sv__svt_magic, sizeof sv__svt_magic);
    put(&b, t->num_ranks);
    put(&b, name);
    put_out(w, &b);
    hand_over(w, t->name, name);
    for (w->rank = 0; w->rank < t->num_ranks; w->rank++)
        SV_TRY(write_section(w));
    put(&b, 0);
    put_out(w, &b);
    uint64_t sum = w->sum;
    for (int i = 0; i < SV__SVT_SUM; i++)
        b.at[b.length++] = (uint8_t)(sum >> 8 * i);
    put_out(w, &b);
    return sv_text_finish(&w->out);
}

sv_status sv_mpi_write(sv_ctx *ctx, const sv_mpi_trace *trace, const sv_sink *sink)
{
    struct writer w = {.ctx = ctx, .trace = trace, .sum = SV_DIGEST_START};
    sv_text_init(&w.out, ctx, sink);
    sv_status status = write_all(&w);
    sv_text_release(&w.out);
    sv_array_release(ctx, &w.events);
    sv_array_release(ctx, &w.bodies);
    return status;
}
