/*
 * svt.c: reads .svt files (docs/formats.md has the layout).
 *
 * Idea: the file is in memory and its sum is right before anything else is looked at, so most
 * damage gets one message. A section's events are written out as they come: where record i begins
 * is known (starts), so a repetition is a copy of what stands at the end, without recursion,
 * however deep repetitions are nested.
 *
 * A file is believed only as far as its length, except for repetitions: of these a few bytes may
 * ask for much, so events are counted (SV__MAX_EVENTS) before they are made.
 *
 * Cost: linear in the file and the events.
 */
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "traces/traces.h"

const char sv__svt_magic[5] = {'S', 'V', 'T', '1', '\n'};

struct reader {
    sv_ctx *ctx;
    const char *name;
    const uint8_t *bytes;
    size_t at, length;
    sv_mpi_trace *trace;
    uint32_t rank;
    uint64_t seen;                /* events of this file so far */
    SV_ARRAY(uint16_t) groups;    /* of the section, from 1 on: those of the trace */
    SV_ARRAY(sv_mpi_event) known; /* its dictionary */
    SV_ARRAY(uint64_t) starts;    /* of each record: its first event */
    SV_ARRAY(uint32_t) members;   /* of a group */
};

static sv_status bad(const struct reader *r, const char *what)
{
    return sv_fail(r->ctx, SV_BAD_INPUT, "%s: byte %zu: %s", r->name, r->at, what);
}

sv_status sv__slurp(sv_ctx *ctx, const sv_source *source, uint8_t **bytes, size_t *length)
{
    uint8_t *all = NULL;
    size_t room = 0, used = 0;
    sv_status status = SV_OK;
    for (int64_t got = 1; status == SV_OK && got > 0;) {
        if (room - used < 65536)
            status = sv__array_grow(ctx, (void **)&all, &room, used + 65536, 1);
        if (status != SV_OK)
            break;
        got = source->read(source->user, all + used, room - used);
        if (got < 0)
            status = sv_cancelled(ctx)
                         ? sv_fail(ctx, SV_CANCELLED, "cancelled while reading '%s'", source->name)
                         : sv_fail(ctx, SV_IO, "cannot read '%s'", source->name);
        else
            used += (size_t)got;
    }
    if (status != SV_OK) {
        sv_release(ctx, all);
        return status;
    }
    *bytes = all;
    *length = used;
    return SV_OK;
}

/* ---- numbers ---- */

static sv_status number(struct reader *r, uint64_t max, const char *what, uint64_t *found)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (r->at == r->length)
            return bad(r, "it is cut off");
        uint8_t byte = r->bytes[r->at];
        if (shift > 63 || (shift == 63 && byte > 1))
            return bad(r, "a number has more than 64 bits");
        r->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    if (value > max)
        return sv_fail(r->ctx, SV_BAD_INPUT, "%s: byte %zu: %s %llu, of at most %llu", r->name,
                       r->at, what, (unsigned long long)value, (unsigned long long)max);
    *found = value;
    return SV_OK;
}

static sv_status number32(struct reader *r, uint32_t max, const char *what, uint32_t *found)
{
    uint64_t value;
    SV_TRY(number(r, max, what, &value));
    *found = (uint32_t)value;
    return SV_OK;
}

/* A rank of the trace that is told by its distance from another. */
static sv_status distant(struct reader *r, uint64_t zigzag, uint32_t from, uint32_t *rank)
{
    uint64_t size = zigzag / 2 + (zigzag & 1);
    if (zigzag & 1 ? size > from : size >= r->trace->num_ranks - from)
        return bad(r, "a rank is out of range");
    *rank = zigzag & 1 ? from - (uint32_t)size : from + (uint32_t)size;
    return SV_OK;
}

/* ---- ops ---- */

static sv_status read_group(struct reader *r)
{
    uint32_t ordinal, size, last = 0;
    uint16_t group;
    SV_TRY(number32(r, UINT32_MAX, "ordinal", &ordinal));
    SV_TRY(number32(r, r->trace->num_ranks, "ranks of a group", &size));
    if (size > r->length - r->at)
        return bad(r, "it is cut off");
    r->members.length = 0;
    for (uint32_t i = 0; i < size; i++) {
        uint64_t zigzag;
        SV_TRY(number(r, UINT64_MAX, "", &zigzag));
        SV_TRY(distant(r, zigzag, last, &last));
        SV_TRY(sv_array_push(r->ctx, &r->members, last));
    }
    sv_status status = sv_mpi_add_group(r->trace, r->members.at, size, ordinal, &group);
    if (status == SV_BAD_INPUT)
        return bad(r, "a group has no ranks, or one twice");
    if (status == SV_UNSUPPORTED)
        return sv_fail(r->ctx, status, "%s: byte %zu: more than %d groups of ranks", r->name, r->at,
                       UINT16_MAX + 1);
    SV_TRY(status);
    if (r->groups.length >= UINT16_MAX)
        return bad(r, "more groups than there can be");
    return sv_array_push(r->ctx, &r->groups, group);
}

static sv_status read_peer(struct reader *r, bool receives, sv_mpi_event *e)
{
    uint64_t peer;
    uint32_t tag;
    SV_TRY(number(r, UINT64_MAX, "", &peer));
    if (peer == 0 && !receives)
        return bad(r, "a message to anybody");
    e->peer = SV_MPI_ANY;
    if (peer > 0)
        SV_TRY(distant(r, peer - 1, r->rank, &e->peer));
    SV_TRY(number32(r, UINT32_MAX, "tag", &tag));
    if (tag == 0 && !receives)
        return bad(r, "a message with any tag");
    e->tag = tag == 0 ? SV_MPI_ANY : tag - 1;
    return SV_OK;
}

static sv_status read_group_number(struct reader *r, sv_mpi_event *e)
{
    uint32_t group;
    SV_TRY(number32(r, (uint32_t)r->groups.length, "group", &group));
    e->group = group == 0 ? 0 : r->groups.at[group - 1];
    return SV_OK;
}

static sv_status read_event(struct reader *r, sv_mpi_event *e)
{
    uint32_t kind, call;
    SV_TRY(number32(r, SV_MPI_KINDS - 1, "kind", &kind));
    SV_TRY(number32(r, SV_CALL_COUNT - 1, "call", &call));
    *e = (sv_mpi_event){.kind = (uint8_t)kind, .call = (uint8_t)call};
    switch ((sv_mpi_kind)kind) {
    case SV_MPI_SEND:
    case SV_MPI_ISEND:
    case SV_MPI_RECV:
    case SV_MPI_IRECV:
        SV_TRY(read_peer(r, kind == SV_MPI_RECV || kind == SV_MPI_IRECV, e));
        SV_TRY(read_group_number(r, e));
        break;
    case SV_MPI_COLLECTIVE:
    case SV_MPI_ICOLLECTIVE:
        SV_TRY(number32(r, r->trace->num_ranks - 1, "root", &e->peer));
        SV_TRY(read_group_number(r, e));
        break;
    case SV_MPI_COMPUTE:
    case SV_MPI_WAIT:
    case SV_MPI_KINDS:
        break;
    }
    if (kind != SV_MPI_WAIT)
        SV_TRY(number(r, UINT64_MAX, "amount", &e->amount));
    if (kind == SV_MPI_WAIT || sv__begins(e))
        SV_TRY(number32(r, UINT32_MAX, "request", &e->request));
    return SV_OK;
}

static sv_status count_events(struct reader *r, uint64_t more)
{
    if (more > SV__MAX_EVENTS - r->seen)
        return sv_fail(r->ctx, SV_UNSUPPORTED, "%s: byte %zu: more than %llu events", r->name,
                       r->at, (unsigned long long)SV__MAX_EVENTS);
    r->seen += more;
    return SV_OK;
}

static sv_status happens(struct reader *r, const sv_mpi_event *e)
{
    SV_TRY(count_events(r, 1));
    SV_TRY(sv_array_push(r->ctx, &r->starts, r->trace->ranks[r->rank].length));
    return sv_mpi_add(r->trace, r->rank, e);
}

static sv_status read_repeat(struct reader *r)
{
    uint64_t length, count;
    sv_mpi_rank *of = &r->trace->ranks[r->rank];
    SV_TRY(number(r, r->starts.length, "a repetition of", &length));
    SV_TRY(number(r, UINT64_MAX, "", &count));
    if (length == 0 || count == 0)
        return bad(r, "a repetition of nothing");
    uint64_t from = r->starts.at[r->starts.length - length], stretch = of->length - from;
    if (stretch > SV__MAX_EVENTS / count)
        return count_events(r, SV__MAX_EVENTS + 1);
    SV_TRY(count_events(r, stretch * count));
    SV_TRY(sv_array_push(r->ctx, &r->starts, of->length));
    SV_TRY(sv__mpi_reserve(r->trace, r->rank, stretch * count));
    for (uint64_t i = 0; i < stretch * count; i++)
        of->events[of->length + i] = of->events[from + i];
    of->length += stretch * count;
    return SV_OK;
}

static sv_status read_section(struct reader *r)
{
    r->groups.length = r->known.length = r->starts.length = 0;
    for (;;) {
        uint64_t op;
        sv_mpi_event event;
        SV_TRY(number(r, UINT64_MAX, "", &op));
        if (op == SV__SVT_END)
            return SV_OK;
        if (op == SV__SVT_GROUP) {
            SV_TRY(read_group(r));
        } else if (op == SV__SVT_EVENT) {
            SV_TRY(read_event(r, &event));
            SV_TRY(sv_array_push(r->ctx, &r->known, event));
            SV_TRY(happens(r, &event));
        } else if (op == SV__SVT_REPEAT) {
            SV_TRY(read_repeat(r));
        } else if (op >= SV__SVT_AGAIN && op - SV__SVT_AGAIN < r->known.length) {
            event = r->known.at[op - SV__SVT_AGAIN];
            SV_TRY(happens(r, &event));
        } else {
            return bad(r, op < SV__SVT_AGAIN ? "there is no such operation"
                                             : "an event that is not known yet");
        }
    }
}

/* ---- a file ---- */

static uint64_t sum_at(const uint8_t *at)
{
    uint64_t sum = 0;
    for (int i = SV__SVT_SUM - 1; i >= 0; i--)
        sum = sum << 8 | at[i];
    return sum;
}

void sv__svt_seal(uint8_t *bytes, size_t length)
{
    if (length < SV__SVT_SUM)
        return;
    uint64_t sum = sv_digest(SV_DIGEST_START, bytes, length - SV__SVT_SUM);
    for (int i = 0; i < SV__SVT_SUM; i++)
        bytes[length - SV__SVT_SUM + (size_t)i] = (uint8_t)(sum >> 8 * i);
}

/* The trace of this name, made or found to be it; takes over nothing. */
static sv_status name_trace(struct reader *r, const char *name, uint32_t ranks,
                            sv_mpi_trace **trace, uint8_t **has)
{
    if (*trace == NULL) {
        SV_TRY(sv_mpi_new(r->ctx, name, ranks, trace));
        *has = sv_alloc(r->ctx, ranks, 1);
        return *has == NULL ? SV_NO_MEMORY : SV_OK;
    }
    if ((*trace)->num_ranks != ranks || strcmp((*trace)->name, name) != 0)
        return sv_fail(r->ctx, SV_BAD_INPUT,
                       "%s: of '%.200s' with %u ranks, others are of '%.200s' with %u", r->name,
                       name, ranks, (*trace)->name, (*trace)->num_ranks);
    return SV_OK;
}

/* Name and number of ranks: makes the trace, or finds that they are those of the trace. What a
 * terminal would take for more than letters is '?' in the name. */
static sv_status read_head(struct reader *r, sv_mpi_trace **trace, uint8_t **has)
{
    uint32_t ranks, length;
    SV_TRY(number32(r, SV__MAX_RANKS, "ranks", &ranks));
    SV_TRY(number32(r, UINT16_MAX, "a name's length", &length));
    if (ranks == 0 || length > r->length - r->at)
        return bad(r, ranks == 0 ? "a trace without ranks" : "it is cut off");
    const char *text = (const char *)r->bytes + r->at;
    if (memchr(text, 0, length) != NULL)
        return bad(r, "the program's name has a zero in it");
    r->at += length;
    char *name = sv_alloc(r->ctx, (size_t)length + 1, 1);
    if (name == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < length; i++)
        name[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
    sv_status status = name_trace(r, name, ranks, trace, has);
    sv_release(r->ctx, name);
    r->trace = *trace;
    return status;
}

static sv_status read_all(struct reader *r, sv_mpi_trace **trace, uint8_t **has)
{
    SV_TRY(read_head(r, trace, has));
    for (;;) {
        uint32_t section;
        SV_TRY(number32(r, r->trace->num_ranks, "a section of rank + 1 =", &section));
        if (section == 0)
            break;
        r->rank = section - 1;
        if ((*has)[r->rank]++ > 0) {
            (*has)[r->rank] = 1;
            return sv_fail(r->ctx, SV_BAD_INPUT, "%s: byte %zu: rank %u is there twice", r->name,
                           r->at, r->rank);
        }
        SV_TRY(read_section(r));
    }
    return r->at == r->length ? SV_OK : bad(r, "something follows its end");
}

sv_status sv__svt_parse(sv_ctx *ctx, const char *name, const uint8_t *bytes, size_t length,
                        sv_mpi_trace **trace, uint8_t **has)
{
    struct reader r = {.ctx = ctx, .name = name, .bytes = bytes};
    const size_t magic = sizeof sv__svt_magic;
    if (length < magic || memcmp(bytes, sv__svt_magic, magic) != 0)
        return sv_fail(ctx, SV_BAD_INPUT, "%s: no .svt file: it does not begin as one", name);
    if (length < magic + SV__SVT_SUM || sum_at(bytes + length - SV__SVT_SUM) !=
                                            sv_digest(SV_DIGEST_START, bytes, length - SV__SVT_SUM))
        return sv_fail(ctx, SV_BAD_INPUT, "%s: its sum is wrong: it is cut off or damaged", name);
    r.at = magic;
    r.length = length - SV__SVT_SUM;
    sv_status status = read_all(&r, trace, has);
    sv_array_release(ctx, &r.groups);
    sv_array_release(ctx, &r.known);
    sv_array_release(ctx, &r.starts);
    sv_array_release(ctx, &r.members);
    return status;
}

sv_status sv_mpi_read(sv_ctx *ctx, const sv_source *source, sv_mpi_trace **trace)
{
    uint8_t *bytes = NULL, *has = NULL;
    size_t length = 0;
    sv_mpi_trace *read = NULL;
    SV_TRY(sv__slurp(ctx, source, &bytes, &length));
    sv_status status = sv__svt_parse(ctx, source->name, bytes, length, &read, &has);
    sv_release(ctx, has);
    sv_release(ctx, bytes);
    if (status != SV_OK) {
        sv_mpi_free(read);
        return status;
    }
    *trace = read;
    return SV_OK;
}
