/*
 * jobmap.c: which node runs which jobs, read from lines "NODE JOB".
 *
 * Idea: names are what batch systems know, so a name stands for every host adapter that is called
 * so, or whose description starts with it and a blank. Adapters of one name are chained; lines
 * become (job, terminal) pairs, which are sorted once at the end.
 *
 * Invariants: a job has at least one line, its terminals are live, ascending and different.
 * Cost: linear in the fabric and the file, expected, and sorting the pairs.
 * Source: thesis 5.1 (a job is a set of nodes that work together).
 */
#include <selvage/jobmap.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/map.h"
#include "fabric/store.h"

/* So many nodes that are not there are named; the rest is only counted. */
enum { MOST_WARNINGS = 5 };

struct pair {
    uint32_t job, node;
};

/* Adapters by name: a list for each name that ends with SV_NONE. */
struct link {
    uint32_t adapter, next;
};

struct reader {
    sv_ctx *ctx;
    const sv_fabric *f;
    sv_lines lines;
    sv_arena arena;       /* for as long as the file is read */
    sv_names nodes, jobs; /* to links, to numbers of jobs */
    SV_ARRAY(struct link) links;
    SV_ARRAY(const char *) names; /* of jobs */
    SV_ARRAY(struct pair) pairs;
    uint32_t *first, *terminals; /* of each adapter: terminals[first[a] … first[a + 1]) */
    uint32_t unknown;
    uint64_t known;
};

/* ---- names ---- */

static sv_status add_name(struct reader *r, sv_span name, uint32_t adapter)
{
    uint32_t held, number = (uint32_t)r->links.length;
    if (name.length == 0)
        return SV_OK;
    SV_TRY(sv_array_push(r->ctx, &r->links, (struct link){adapter, SV_NONE}));
    SV_TRY(sv_names_add(&r->nodes, name, number, &held));
    if (held != number) { /* behind the first of the name: the order does not matter */
        r->links.at[number].next = r->links.at[held].next;
        r->links.at[held].next = number;
    }
    return SV_OK;
}

static sv_status index_names(struct reader *r)
{
    for (uint32_t a = 0; a < r->f->num_adapters; a++) {
        if (r->f->adapters[a].kind != SV_ADAPTER_HOST)
            continue;
        sv_span whole = sv_span_of(r->f->adapters[a].name), word = whole;
        for (word.length = 0; word.length < whole.length; word.length++)
            if (whole.at[word.length] == ' ' || whole.at[word.length] == '\t')
                break;
        SV_TRY(add_name(r, whole, a));
        if (word.length < whole.length)
            SV_TRY(add_name(r, word, a));
    }
    return SV_OK;
}

/* The live terminals of each adapter. */
static sv_status index_terminals(struct reader *r)
{
    const sv_fabric *f = r->f;
    r->first = SV_ARENA_NEW(&r->arena, uint32_t, (size_t)f->num_adapters + 2);
    r->terminals = SV_ARENA_NEW(&r->arena, uint32_t, f->num_terminals);
    if (r->first == NULL || r->terminals == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            r->first[f->terminals[t].adapter + 2]++;
    for (uint32_t a = 0; a < f->num_adapters; a++)
        r->first[a + 2] += r->first[a + 1];
    for (uint32_t t = 0; t < f->num_terminals; t++)
        if (sv_node_alive(f, (sv_node){f->num_switches + t}))
            r->terminals[r->first[f->terminals[t].adapter + 1]++] = f->num_switches + t;
    return SV_OK;
}

/* ---- lines ---- */

static sv_status job_number(struct reader *r, const char *word, uint32_t *job)
{
    sv_span span = sv_span_of(word);
    *job = sv_names_get(&r->jobs, span);
    if (*job != SV_ABSENT)
        return SV_OK;
    *job = (uint32_t)r->names.length;
    const char *name = sv_arena_text(&r->arena, span.at, span.length);
    if (name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_array_push(r->ctx, &r->names, name));
    return sv_names_add(&r->jobs, (sv_span){name, span.length}, *job, NULL);
}

static sv_status add_line(struct reader *r, const char *node, const char *word)
{
    uint32_t job, number = sv_names_get(&r->nodes, sv_span_of(node));
    SV_TRY(job_number(r, word, &job));
    if (number == SV_ABSENT) {
        if (r->unknown++ < MOST_WARNINGS)
            sv_warn(r->ctx, "%s:%llu: node '%.200s' is not in the fabric", r->lines.source->name,
                    (unsigned long long)r->lines.number, node);
        return SV_OK;
    }
    r->known++;
    for (; number != SV_NONE; number = r->links.at[number].next) {
        uint32_t a = r->links.at[number].adapter;
        for (uint32_t i = r->first[a]; i < r->first[a + 1]; i++)
            SV_TRY(sv_array_push(r->ctx, &r->pairs, (struct pair){job, r->terminals[i]}));
    }
    return SV_OK;
}

/* words: twice the room of the line. */
static sv_status read_line(struct reader *r, sv_span line, char *words)
{
    sv_scan scan = sv_scan_of(line);
    char *node = words, *job = words + line.length + 1;
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    bool closed = sv_scan_quoted(&scan, node);
    sv_scan_blanks(&scan);
    if (closed && (sv_scan_done(&scan) || *scan.at == '#'))
        return sv_lines_fail(&r->lines, "node '%.200s' has no job", node);
    closed = closed && sv_scan_quoted(&scan, job);
    if (!closed)
        return sv_lines_fail(&r->lines, "a quote is not closed");
    sv_scan_blanks(&scan);
    if (!sv_scan_done(&scan) && *scan.at != '#')
        return sv_lines_fail(&r->lines, "'%.*s' is more than a node and a job", SV_SPAN(line));
    if (*node == 0 || *job == 0)
        return sv_lines_fail(&r->lines, "an empty name");
    return add_line(r, node, job);
}

static sv_status read_lines(struct reader *r)
{
    SV_ARRAY(char) words = {0};
    sv_status status = SV_OK;
    bool more = true;
    for (sv_span line; status == SV_OK;) {
        status = sv_lines_next(&r->lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        status = sv_array_reserve(r->ctx, &words, 2 * line.length + 2);
        if (status == SV_OK)
            status = read_line(r, line, words.at);
        if (status == SV_OK && r->lines.number % 4096 == 0)
            status = sv_progress(r->ctx, "job map", r->lines.number, 0);
    }
    sv_array_release(r->ctx, &words);
    if (status == SV_OK && r->unknown > 0 && r->known == 0)
        status = sv_lines_fail(&r->lines, "none of the %u nodes is in the fabric", r->unknown);
    if (status == SV_OK && r->unknown > MOST_WARNINGS)
        sv_warn(r->ctx, "%s: %u more nodes are not in the fabric", r->lines.source->name,
                r->unknown - MOST_WARNINGS);
    return status;
}

/* ---- the map ---- */

static int by_job(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static sv_status fill(struct reader *r, sv_jobmap *map)
{
    size_t jobs = r->names.length, length = r->pairs.length, used = 0;
    sv_job *list = SV_STORE_NEW(map->store, r->ctx, sv_job, jobs + 1);
    sv_node *nodes = SV_STORE_NEW(map->store, r->ctx, sv_node, length + 1);
    uint64_t *busy = sv_bitset_new(&r->arena, sv_num_nodes(r->f));
    if (list == NULL || nodes == NULL || busy == NULL)
        return SV_NO_MEMORY;
    if (length > 0)
        qsort(r->pairs.at, length, sizeof *r->pairs.at, by_job);
    for (size_t j = 0, i = 0; j < jobs; j++) {
        size_t bytes = strlen(r->names.at[j]) + 1;
        char *name = SV_STORE_NEW(map->store, r->ctx, char, bytes);
        if (name == NULL)
            return SV_NO_MEMORY;
        memcpy(name, r->names.at[j], bytes);
        size_t begin = used;
        for (; i < length && r->pairs.at[i].job == j; i++) {
            uint32_t node = r->pairs.at[i].node;
            if (used > begin && nodes[used - 1].i == node)
                continue;
            nodes[used++] = (sv_node){node};
            map->num_terminals += !sv_bit(busy, node);
            sv_bit_set(busy, node);
        }
        list[j] = (sv_job){name, nodes + begin, (uint32_t)(used - begin)};
    }
    map->jobs = list;
    map->num_jobs = (uint32_t)jobs;
    map->unknown = r->unknown;
    return SV_OK;
}

static sv_status make_map(struct reader *r, sv_jobmap **result)
{
    sv__store *store = sv__store_new(r->ctx, NULL);
    if (store == NULL)
        return SV_NO_MEMORY;
    sv_jobmap *map = SV_STORE_NEW(store, r->ctx, sv_jobmap, 1);
    sv_status status = map == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK) {
        map->store = store;
        status = fill(r, map);
    }
    if (status == SV_OK)
        *result = map;
    else
        sv__store_drop(store);
    return status;
}

sv_status sv_jobmap_read(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                         sv_jobmap **map)
{
    struct reader r = {.ctx = ctx, .f = fabric};
    sv_arena_init(&r.arena, ctx);
    sv_names_init(&r.nodes, ctx);
    sv_names_init(&r.jobs, ctx);
    sv_status status = sv_lines_init(&r.lines, ctx, source);
    if (status == SV_OK)
        status = index_names(&r);
    if (status == SV_OK)
        status = index_terminals(&r);
    if (status == SV_OK)
        status = read_lines(&r);
    if (status == SV_OK)
        status = make_map(&r, map);
    sv_array_release(ctx, &r.pairs);
    sv_array_release(ctx, &r.names);
    sv_array_release(ctx, &r.links);
    sv_names_release(&r.jobs);
    sv_names_release(&r.nodes);
    sv_lines_release(&r.lines);
    sv_arena_release(&r.arena);
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
        sv__store_drop(map->store);
}
