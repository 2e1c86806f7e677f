/*
 * sheet.c: allocations in the making: names become numbers, entries of one job and time become one,
 * and all are sorted by when they began.
 *
 * Idea: readers push entries and hosts as they meet them. At the end entries are sorted by (begin,
 * as they came); those of one job with the same times are brought together by sorting another
 * index of them by (job, begin, end).
 *
 * Invariants: every allocation has a host; hosts of one ascend, each once.
 * Cost: linear in what was pushed, expected, and sorting.
 */
#include "jobs/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"

/* Limits on what a file may ask for; the largest machines stay far below. */
enum { MAX_HOSTS = 4000000, MAX_MEMBERS = 500000000, LONGEST_LINE = 4 << 20 };

/* So many hosts between two looks at whether to go on. */
enum { LOOK_UP = 65536 };

sv_status sv__sheet_init(sv__sheet *s, sv_ctx *ctx, const sv_source *source)
{
    *s = (sv__sheet){.ctx = ctx};
    sv_arena_init(&s->arena, ctx);
    sv_names_init(&s->hosts, ctx);
    sv_names_init(&s->jobs, ctx);
    SV_TRY(sv_lines_init(&s->lines, ctx, source));
    s->lines.longest = LONGEST_LINE;
    return SV_OK;
}

void sv__sheet_release(sv__sheet *s)
{
    sv_array_release(s->ctx, &s->members);
    sv_array_release(s->ctx, &s->entries);
    sv_array_release(s->ctx, &s->host_lines);
    sv_array_release(s->ctx, &s->job_names);
    sv_array_release(s->ctx, &s->host_names);
    sv_lines_release(&s->lines);
    sv_names_release(&s->jobs);
    sv_names_release(&s->hosts);
    sv_arena_release(&s->arena);
}

sv_status sv__sheet_fail(const sv__sheet *s, const char *format, ...)
{
    char what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (s->place[0] == 0)
        return sv_lines_fail(&s->lines, "%s", what);
    return sv_lines_fail(&s->lines, "%s: %s", s->place, what);
}

void sv__sheet_nodeless(sv__sheet *s)
{
    if (s->nodeless++ == 0)
        s->nodeless_line = s->lines.number;
}

/* ---- pushing ---- */

sv_status sv__sheet_begin(sv__sheet *s, sv_span job, int64_t begin, int64_t end)
{
    uint32_t number = sv_names_get(&s->jobs, job);
    if (number == SV_ABSENT) {
        const char *name = sv_arena_text(&s->arena, job.at, job.length);
        if (name == NULL)
            return SV_NO_MEMORY;
        number = (uint32_t)s->job_names.length;
        SV_TRY(sv_array_push(s->ctx, &s->job_names, name));
        SV_TRY(sv_names_add(&s->jobs, (sv_span){name, job.length}, number, NULL));
    }
    return sv_array_push(
        s->ctx, &s->entries,
        (sv__entry){.job = number, .begin = begin, .end = end, .first = s->members.length});
}

sv_status sv__sheet_host(sv__sheet *s, sv_span host)
{
    uint32_t number = sv_names_get(&s->hosts, host);
    if (number == SV_ABSENT) {
        uint64_t line = s->lines.number;
        const char *name = sv_arena_text(&s->arena, host.at, host.length);
        if (name == NULL)
            return SV_NO_MEMORY;
        number = (uint32_t)s->host_names.length;
        if (number == MAX_HOSTS)
            return sv__sheet_fail(s, "more than %d hosts", MAX_HOSTS);
        SV_TRY(sv_array_push(s->ctx, &s->host_names, name));
        SV_TRY(sv_array_push(s->ctx, &s->host_lines, line > UINT32_MAX ? 0 : (uint32_t)line));
        SV_TRY(sv_names_add(&s->hosts, (sv_span){name, host.length}, number, NULL));
    }
    if (s->members.length == MAX_MEMBERS)
        return sv__sheet_fail(s, "more than %d hosts of all jobs", MAX_MEMBERS);
    if (s->members.length % LOOK_UP == LOOK_UP - 1) /* a line may stand for a million */
        SV_TRY(sv_progress(s->ctx, "jobs", s->lines.number, 0));
    s->entries.at[s->entries.length - 1].count++;
    return sv_array_push(s->ctx, &s->members, number);
}

struct taker {
    sv__sheet *s;
    bool taken; /* one at least: then the list itself was fine */
};

static sv_status take_host(void *user, const char *name, size_t length)
{
    struct taker *taker = user;
    taker->taken = true;
    return sv__sheet_host(taker->s, (sv_span){name, length});
}

sv_status sv__sheet_hosts(sv__sheet *s, sv_span list)
{
    char why[300];
    struct taker taker = {.s = s};
    sv_status status = sv_hostlist_expand(s->ctx, list.at, list.length, take_host, &taker);
    if (status != SV_BAD_INPUT || taker.taken)
        return status;
    snprintf(why, sizeof why, "%s", sv_ctx_message(s->ctx));
    return sv__sheet_fail(s, "nodes '%.*s': %s%s", list.length > 60 ? 60 : (int)list.length,
                          list.at, why, s->advice != NULL ? s->advice : "");
}

/* ---- the end ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Those of one job and time next to each other, as they came. */
static int by_job(const void *a, const void *b)
{
    const sv__entry *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_begin(const void *a, const void *b)
{
    const sv__entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Writes the members of entries first … last - 1 to *to as one set. */
static sv__entry unite(const sv__sheet *s, const sv__entry *entries, size_t count, uint32_t *to)
{
    sv__entry whole = entries[0];
    size_t length = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].count > 0)
            memcpy(to + length, s->members.at + entries[i].first, entries[i].count * sizeof *to);
        length += entries[i].count;
    }
    qsort(to, length, sizeof *to, by_number);
    for (size_t i = 0; i < length; i++)
        if (kept == 0 || to[kept - 1] != to[i])
            to[kept++] = to[i];
    whole.count = (uint32_t)kept;
    return whole;
}

/* Copies of names, in one piece. */
static const char **copy_names(sv__sheet *s, sv_pool *store, const char *const *names, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    const char **list = SV_POOL_NEW(store, s->ctx, const char *, count + 1);
    char *text = SV_POOL_NEW(store, s->ctx, char, bytes + 1);
    if (list == NULL || text == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]) + 1;
        memcpy(text, names[i], length);
        list[i] = text;
        text += length;
    }
    return list;
}

/* Entries without hosts are left out, those of one job and time are united, all are sorted. */
static sv_status fill_list(sv__sheet *s, sv_allocations *a, const char *const *jobs)
{
    size_t entries = s->entries.length, count = 0;
    sv_allocation *list = SV_POOL_NEW(a->store, s->ctx, sv_allocation, entries + 1);
    uint32_t *hosts = SV_POOL_NEW(a->store, s->ctx, uint32_t, s->members.length + 1);
    if (list == NULL || hosts == NULL)
        return SV_NO_MEMORY;
    sv__entry *at = s->entries.at;
    if (entries > 0)
        qsort(at, entries, sizeof *at, by_job);
    for (size_t i = 0, j, used = 0; i < entries; i = j) {
        for (j = i + 1; j < entries && at[j].job == at[i].job && at[j].begin == at[i].begin &&
                        at[j].end == at[i].end;)
            j++;
        at[count] = unite(s, at + i, j - i, hosts + used);
        at[count].hosts = used;
        used += at[count].count;
        count += at[count].count > 0;
    }
    if (count > 0)
        qsort(at, count, sizeof *at, by_begin);
    for (size_t i = 0; i < count; i++)
        list[i] = (sv_allocation){jobs[at[i].job], at[i].begin, at[i].end, hosts + at[i].hosts,
                                  at[i].count};
    a->list = list;
    a->count = (uint32_t)count;
    return SV_OK;
}

static void fill_times(sv_allocations *a)
{
    a->begin = a->end = SV_TIME_UNKNOWN;
    for (uint32_t i = 0; i < a->count; i++) {
        const sv_allocation *one = &a->list[i];
        if (one->begin == SV_TIME_UNKNOWN)
            continue;
        if (a->begin == SV_TIME_UNKNOWN)
            a->begin = one->begin;
        a->end = one->begin > a->end ? one->begin : a->end;
        if (one->end != SV_TIME_OPEN && one->end > a->end)
            a->end = one->end;
    }
}

static sv_status fill(sv__sheet *s, sv_allocations *a)
{
    const char **jobs = copy_names(s, a->store, s->job_names.at, s->job_names.length);
    if (jobs == NULL)
        return SV_NO_MEMORY;
    const char **hosts = copy_names(s, a->store, s->host_names.at, s->host_names.length);
    uint32_t *lines = SV_POOL_NEW(a->store, s->ctx, uint32_t, s->host_lines.length + 1);
    if (hosts == NULL || lines == NULL)
        return SV_NO_MEMORY;
    if (s->host_lines.length > 0)
        memcpy(lines, s->host_lines.at, s->host_lines.length * sizeof *lines);
    a->hosts = hosts;
    a->lines = lines;
    a->num_hosts = (uint32_t)s->host_names.length;
    a->left_out = s->left_out;
    a->blank = s->blank;
    SV_TRY(fill_list(s, a, jobs));
    fill_times(a);
    return SV_OK;
}

/* A job may give up all of its nodes and go on; but not all jobs do, and then it is the column. */
static sv_status check_left_out(const sv__sheet *s)
{
    const char *name = s->lines.source->name;
    if (s->nodeless > 0 && s->entries.length == 0)
        return sv_fail(s->ctx, SV_BAD_INPUT, "%s:%llu: %u job%s, and nodes are told of none", name,
                       (unsigned long long)s->nodeless_line, s->nodeless,
                       s->nodeless == 1 ? " runs" : "s run");
    if (s->backwards > 0) /* clocks on walls are put back once a year */
        sv_warn(s->ctx, "%s: %u job%s ended before %s began, left out", name, s->backwards,
                s->backwards == 1 ? "" : "s", s->backwards == 1 ? "it" : "they");
    if (s->nodeless > 0)
        sv_warn(s->ctx, "%s: %u job%s without nodes, left out", name, s->nodeless,
                s->nodeless == 1 ? " runs" : "s run");
    return SV_OK;
}

sv_status sv__sheet_finish(sv__sheet *s, sv_allocations **result)
{
    SV_TRY(check_left_out(s));
    sv_pool *store = sv__pool_new(s->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_allocations *a = SV_POOL_NEW(store, s->ctx, sv_allocations, 1);
    sv_status status = a == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        a->store = store;
        status = fill(s, a);
    }
    if (status == SV_OK)
        *result = a;
    else
        sv__pool_drop(store);
    return status;
}

void sv_allocations_free(sv_allocations *allocations)
{
    if (allocations != NULL)
        sv__pool_drop(allocations->store);
}
