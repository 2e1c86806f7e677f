/*
 * place.c: allocations on a fabric: the jobs of a moment as a job map.
 *
 * Idea: the allocations of the moment are walked over in their order, and their hosts handed to the
 * mapper (jobmap/mapper.c), by name or, for histories of machines whose fabric is not known, the
 * k-th name as the k-th adapter. Names are sorted as people count: n9 before n10.
 *
 * Invariants: jobs without a live terminal are not in the map.
 * Cost: linear in fabric and allocations, expected, and sorting.
 * Source: thesis 5.2.2.1.
 */
#include <selvage/experimental/jobs.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/file.h"
#include "jobmap/jobmap.h"
#include "text/times.h"

/* ---- moments ---- */

sv_status sv_allocations_moment(sv_ctx *ctx, const sv_allocations *allocations, const char *text,
                                int64_t *at)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    sv__moment moment = {.dated = false};
    uint64_t seconds;
    double exact = 0;
    bool relative = sv_scan_char(&scan, '+');
    if (!relative && sv_span_number(sv_scan_rest(&scan), SV__LAST_MOMENT, &seconds)) {
        *at = (int64_t)seconds;
        return SV_OK;
    }
    bool good = relative ? sv__span_length(sv_scan_rest(&scan), &exact)
                         : sv__scan_moment(&scan, &moment) && sv_scan_done(&scan) && moment.dated;
    if (!good)
        return sv_refuse(
            ctx,
            "'%.100s' is neither a date (2013-01-05T12:00:00), nor seconds since 1970, "
            "nor +36h from the beginning",
            text);
    if (relative && allocations->begin == SV_TIME_UNKNOWN)
        return sv_fail(ctx, SV_BAD_INPUT, "'%.100s': when it begins is not known", text);
    if (!relative)
        exact = moment.hours * 3600;
    *at = (int64_t)(exact < 0 ? exact - 0.5 : exact + 0.5) + (relative ? allocations->begin : 0);
    return SV_OK;
}

/* ---- the order of names ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Two runs of digits as numbers; *a and *b end behind them. */
static int compare_numbers(const char **a, const char **b)
{
    while (**a == '0')
        ++*a;
    while (**b == '0')
        ++*b;
    size_t in_a = 0, in_b = 0;
    while (is_digit((*a)[in_a]))
        in_a++;
    while (is_digit((*b)[in_b]))
        in_b++;
    int order = in_a != in_b ? (in_a < in_b ? -1 : 1) : memcmp(*a, *b, in_a);
    *a += in_a;
    *b += in_b;
    return order;
}

int sv_hosts_compare(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x != 0 && *y != 0) {
        if (is_digit(*x) && is_digit(*y)) {
            int order = compare_numbers(&x, &y);
            if (order != 0)
                return order;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++, y++;
        }
    }
    if (*x != *y)
        return *x == 0 ? -1 : 1;
    return strcmp(a, b); /* n7 and n007 */
}

struct named {
    const char *name;
    uint32_t number;
};

static int by_name(const void *a, const void *b)
{
    return sv_hosts_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* All hosts in their order, from an arena. */
static struct named *sort_hosts(sv_arena *arena, const sv_allocations *a)
{
    struct named *list = SV_ARENA_NEW(arena, struct named, a->num_hosts);
    for (uint32_t h = 0; list != NULL && h < a->num_hosts; h++)
        list[h] = (struct named){a->hosts[h], h};
    if (list != NULL && a->num_hosts > 0)
        qsort(list, a->num_hosts, sizeof *list, by_name);
    return list;
}

/* ---- maps ---- */

struct placer {
    sv__mapper mapper;
    const sv_allocations *a;
    sv_placing placing;
    uint32_t *home;   /* of a host: 1 + its link, or its adapter; 0: not looked for yet */
    uint64_t *absent; /* hosts that are not there */
    sv_placed placed;
};

/* Gives hosts adapters: those with a port that computes, in the order of their numbers. */
static sv_status place_in_order(struct placer *p)
{
    const sv_fabric *f = p->mapper.f;
    struct named *hosts = sort_hosts(&p->mapper.arena, p->a);
    uint64_t *computes = sv_bitset_new(&p->mapper.arena, f->num_adapters);
    uint32_t used = 0, adapters = 0;
    if (hosts == NULL || computes == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (f->terminals[t].role == SV_ROLE_COMPUTE &&
            f->adapters[f->terminals[t].adapter].kind == SV_ADAPTER_HOST)
            sv_bit_set(computes, f->terminals[t].adapter);
    for (uint32_t i = 0; i < f->num_adapters; i++) {
        if (!sv_bit(computes, i))
            continue;
        adapters++;
        if (used < p->a->num_hosts)
            p->home[hosts[used++].number] = i + 1;
    }
    if (used < p->a->num_hosts)
        return sv_fail(p->mapper.ctx, SV_INFEASIBLE,
                       "%u hosts, and only %u adapters that compute to place them on",
                       p->a->num_hosts, adapters);
    return SV_OK;
}

static void miss(struct placer *p, uint32_t host)
{
    if (sv_bit(p->absent, host))
        return;
    sv_bit_set(p->absent, host);
    if (p->placed.unknown_hosts < SV_PLACED_NAMED)
        p->placed.unknown[p->placed.unknown_hosts] = host;
    p->placed.unknown_hosts++;
}

static sv_status place_job(struct placer *p, const sv_allocation *one)
{
    uint32_t job;
    SV_TRY(sv__mapper_job(&p->mapper, sv_span_of(one->job), &job));
    for (uint32_t i = 0; i < one->num_hosts; i++) {
        uint32_t host = one->hosts[i];
        if (p->placing == SV_PLACE_IN_ORDER) {
            SV_TRY(sv__mapper_add_adapter(&p->mapper, job, p->home[host] - 1));
            continue;
        }
        if (p->home[host] == 0 && !sv_bit(p->absent, host)) {
            uint32_t link = sv__mapper_find(&p->mapper, sv_span_of(p->a->hosts[host]));
            if (link != SV_NONE)
                p->home[host] = link + 1;
            else
                miss(p, host);
        }
        if (p->home[host] != 0)
            SV_TRY(sv__mapper_add(&p->mapper, job, p->home[host] - 1));
    }
    return SV_OK;
}

static sv_status place(struct placer *p, int64_t at)
{
    p->home = SV_ARENA_NEW(&p->mapper.arena, uint32_t, p->a->num_hosts);
    p->absent = sv_bitset_new(&p->mapper.arena, p->a->num_hosts);
    if (p->home == NULL || p->absent == NULL)
        return SV_NO_MEMORY;
    if (p->placing == SV_PLACE_IN_ORDER)
        SV_TRY(place_in_order(p));
    for (uint32_t i = 0; i < p->a->count; i++)
        if (sv_allocation_runs(&p->a->list[i], at))
            SV_TRY(place_job(p, &p->a->list[i]));
    return SV_OK;
}

sv_status sv_allocations_map(sv_ctx *ctx, const sv_allocations *allocations, int64_t at,
                             const sv_fabric *fabric, sv_placing placing, bool several_switches,
                             sv_jobmap **result, sv_placed *placed)
{
    struct placer p = {.a = allocations, .placing = placing};
    sv_jobmap *map = NULL;
    sv__homes homes;
    sv_status status = sv__mapper_init(&p.mapper, ctx, fabric);
    if (status == SV_OK)
        status = place(&p, at);
    if (status == SV_OK)
        status = sv__mapper_finish(&p.mapper, several_switches ? 2 : 1, &map, &homes);
    if (status == SV_OK) {
        p.placed.running = (uint32_t)p.mapper.names.length;
        p.placed.homeless = homes.homeless;
        p.placed.one_switch = homes.one_switch;
        map->unknown = p.placed.unknown_hosts;
        *result = map;
        if (placed != NULL)
            *placed = p.placed;
    }
    sv__mapper_release(&p.mapper);
    return status;
}

/* ---- lines ---- */

struct line {
    uint32_t rank; /* of the host */
    const char *host, *job;
};

static int by_rank(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return sv_hosts_compare(x->job, y->job);
}

static sv_status write_lines(sv_arena *arena, sv_text *out, const sv_allocations *a, int64_t at)
{
    struct named *hosts = sort_hosts(arena, a);
    uint32_t *rank = SV_ARENA_NEW(arena, uint32_t, a->num_hosts);
    size_t count = 0;
    if (hosts == NULL || rank == NULL)
        return SV_NO_MEMORY;
    for (uint32_t h = 0; h < a->num_hosts; h++)
        rank[hosts[h].number] = h;
    for (uint32_t i = 0; i < a->count; i++)
        count += sv_allocation_runs(&a->list[i], at) ? a->list[i].num_hosts : 0;
    struct line *lines = SV_ARENA_NEW(arena, struct line, count);
    if (lines == NULL)
        return SV_NO_MEMORY;
    count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t h = 0; sv_allocation_runs(&a->list[i], at) && h < a->list[i].num_hosts; h++)
            lines[count++] = (struct line){rank[a->list[i].hosts[h]], a->hosts[a->list[i].hosts[h]],
                                           a->list[i].job};
    if (count > 0)
        qsort(lines, count, sizeof *lines, by_rank);
    sv_text_print(out, "# job map: NODE JOB\n");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_rank(&lines[i - 1], &lines[i]) == 0) /* it was requeued, say */
            continue;
        sv__jobmap_word(out, lines[i].host);
        sv_text_add(out, " ", 1);
        sv__jobmap_word(out, lines[i].job);
        sv_text_add(out, "\n", 1);
    }
    return sv_text_finish(out);
}

sv_status sv_allocations_save(sv_ctx *ctx, const sv_allocations *allocations, int64_t at,
                              const char *path)
{
    sv_arena arena;
    sv_text out;
    sv_file file;
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_arena_init(&arena, ctx);
    sv_text_init(&out, ctx, &file.sink);
    sv_status status = write_lines(&arena, &out, allocations, at);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_text_release(&out);
    sv_arena_release(&arena);
    sv_file_close(&file);
    return status;
}
