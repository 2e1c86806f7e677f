/*
 * jobmap.c: which node runs which jobs, read from lines "NODE JOB".
 *
 * Idea: a line is a name and a job, which the mapper turns into terminals (mapper.c).
 *
 * Invariants: a job has at least one line; jobs are in the order of their first lines.
 * Cost: linear in the fabric and the file, expected, and sorting.
 * Source: thesis 5.1 (a job is a set of nodes that work together).
 */
#include "jobmap/jobmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include <selvage/fabric.h>

#include "base/pool.h"

/* So many nodes that are not there are named; the rest is only counted. */
enum { MAX_WARNINGS = 5 };

/* A node of a job, by its name, in the fabric or not. */
struct mark {
    uint32_t job;
    uint64_t node;
};

struct reader {
    sv__mapper mapper;
    SV_ARRAY(struct mark) marks;
    sv_lines lines;
    uint32_t unknown;
    uint64_t missing[4];
    uint64_t known;
};

/* ---- lines ---- */

/* What helps where a line begins with such a word: it is what a batch system printed. */
static const char *hint(const char *word)
{
    bool theirs = strchr(word, '|') != NULL || *word == '{' || strcmp(word, "JOBID") == 0;
    return theirs ? "; selvage jobs read makes a job map of what Slurm prints" : "";
}

/* Spreads a number over all of its bits, so that sums of such numbers differ if these do. */
static uint64_t spread(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

sv_status sv__jobmap_split(const sv_lines *lines, sv_span line, char *words, const char **first,
                           const char **second)
{
    sv_scan scan = sv_scan_of(line);
    char *node = words, *job = words + line.length + 1;
    *first = *second = NULL;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    bool closed = sv_scan_quoted(&scan, node);
    sv_scan_blanks(&scan);
    if (closed && (sv_scan_done(&scan) || *scan.at == '#'))
        return sv_lines_fail(lines, "node '%.200s' has no job%s", node, hint(node));
    closed = closed && sv_scan_quoted(&scan, job);
    if (!closed)
        return sv_lines_fail(lines, "a quote is not closed");
    sv_scan_blanks(&scan);
    if (!sv_scan_done(&scan) && *scan.at != '#')
        return sv_lines_fail(lines, "'%.*s' is more than a node and a job%s", SV_SPAN(line),
                             hint(node));
    if (*node == 0 || *job == 0)
        return sv_lines_fail(lines, "an empty name");
    *first = node;
    *second = job;
    return SV_OK;
}

static sv_status add_line(struct reader *r, const char *node, const char *word)
{
    uint32_t job, link = sv__mapper_find(&r->mapper, sv_span_of(node));
    uint64_t mark = sv_digest(SV_DIGEST_START, node, strlen(node));
    SV_TRY(sv__mapper_job(&r->mapper, sv_span_of(word), &job));
    SV_TRY(sv_array_push(r->mapper.ctx, &r->marks, (struct mark){job, mark}));
    if (link == SV_NONE) {
        uint64_t bit = spread(mark) >> 56;
        r->missing[bit / 64] |= UINT64_C(1) << bit % 64;
        if (r->unknown++ < MAX_WARNINGS)
            sv_warn(r->mapper.ctx, "%s:%llu: node '%.200s' is not in the fabric",
                    r->lines.source->name, (unsigned long long)r->lines.number,
                    r->mapper.ctx->host.privileged ? "…" : node);
        return SV_OK;
    }
    r->known++;
    return sv__mapper_add(&r->mapper, job, link);
}

static sv_status read_lines(struct reader *r)
{
    sv_ctx *ctx = r->mapper.ctx;
    SV_ARRAY(char) words = {0};
    sv_status status = sv_lines_skip_mark(&r->lines);
    bool more = true;
    for (sv_span line; status == SV_OK;) {
        const char *node = NULL, *job = NULL;
        status = sv_lines_next(&r->lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        status = sv_array_reserve(ctx, &words, 2 * line.length + 2);
        if (status == SV_OK)
            status = sv__jobmap_split(&r->lines, line, words.at, &node, &job);
        if (status == SV_OK && node != NULL)
            status = add_line(r, node, job);
        if (status == SV_OK && r->lines.number % 4096 == 0)
            status = sv_progress(ctx, "job map", r->lines.number, 0);
    }
    sv_array_release(ctx, &words);
    if (status == SV_OK && r->unknown > 0 && r->known == 0)
        status = r->unknown == 1 ? sv_lines_fail(&r->lines, "the only node is not in the fabric")
                                 : sv_lines_fail(&r->lines, "none of the %u nodes is in the fabric",
                                                 r->unknown);
    if (status == SV_OK && r->unknown > MAX_WARNINGS)
        sv_warn(ctx, "%s: %u more node%s not in the fabric", r->lines.source->name,
                r->unknown - MAX_WARNINGS, r->unknown == MAX_WARNINGS + 1 ? " is" : "s are");
    return status;
}

/* ---- the map ---- */

static int by_mark(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* A sum over jobs of what stands for each one's set of names: order and numbers do not count. */
static uint64_t digest(struct reader *r)
{
    uint64_t all = 0;
    const struct mark *m = r->marks.at;
    if (r->marks.length > 0)
        qsort(r->marks.at, r->marks.length, sizeof *r->marks.at, by_mark);
    for (size_t i = 0; i < r->marks.length;) {
        uint64_t job = 0;
        size_t first = i;
        for (; i < r->marks.length && m[i].job == m[first].job; i++)
            if (i == first || m[i].node != m[i - 1].node)
                job += spread(m[i].node);
        all += spread(job);
    }
    return all;
}

sv_status sv_jobmap_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                         sv_jobmap **result)
{
    struct reader r = {.unknown = 0};
    sv_jobmap *map = NULL;
    sv_status status = sv_lines_init(&r.lines, ctx, source);
    if (status != SV_OK)
        return status;
    status = sv__mapper_init(&r.mapper, ctx, fabric);
    if (status == SV_OK)
        status = read_lines(&r);
    if (status == SV_OK)
        status = sv__mapper_finish(&r.mapper, 0, &map, NULL);
    if (status == SV_OK) {
        map->unknown = r.unknown;
        memcpy(map->missing, r.missing, sizeof r.missing);
        map->digest = digest(&r);
        *result = map;
    }
    sv_array_release(ctx, &r.marks);
    sv__mapper_release(&r.mapper);
    sv_lines_release(&r.lines);
    return status;
}

sv_status sv_jobmap_load(sv_ctx *ctx, const sv_fabric *fabric, const char *path, sv_jobmap **map)
{
    sv_file file;
    SV_TRY(sv_file_open(&file, ctx, path));
    sv_status status = sv_jobmap_read(ctx, fabric, &file.source, map);
    sv_file_close(&file);
    return status;
}

void sv_jobmap_free(sv_jobmap *map)
{
    if (map != NULL)
        sv__pool_drop(map->store);
}
