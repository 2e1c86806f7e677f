/*
 * store_file.c: stores as text: a line a solution (docs/formats.md).
 *
 *     FROM TO latency NS [at SWITCH] path NS VIA VIA … flow FROM TO …
 *
 * VIA is a switch or -; NS of a path is what packets waited on it. Nodes are written by name where
 * a name is enough, else by GUID or LID, and read as sv_index_find does. What is wrong is told by
 * its line; nothing is kept of a file that is.
 *
 * Cost: linear in the file; reading also finds path 0 of each pair.
 */
#include <stdio.h>
#include <string.h>

#include "adapt/balance.h"
#include "text/quantity.h"

/* ---- writing ---- */

struct writer {
    const sv_adapt *a;
    sv_index *index;
    sv_text out;
    bool begins; /* a line */
};

/* Text behind a blank, in quotes where it needs them. */
static void write_word(struct writer *w, const char *word)
{
    sv_text *out = &w->out;
    sv_text_print(out, "%s", w->begins ? "" : " ");
    w->begins = false;
    if (strpbrk(word, " \t\"\\#") == NULL && strcmp(word, "-") != 0) {
        sv_text_print(out, "%s", word);
        return;
    }
    sv_text_add(out, "\"", 1);
    for (const char *c = word; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            sv_text_add(out, "\\", 1);
        sv_text_add(out, c, 1);
    }
    sv_text_add(out, "\"", 1);
}

static bool finds(const struct writer *w, const char *word, sv_node node)
{
    sv_node found;
    for (const char *c = word; *c != 0; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    sv_status status = sv_is_switch(w->a->f, node)
                           ? sv_index_find_switch(w->a->ctx, w->index, word, &found)
                           : sv_index_find(w->a->ctx, w->index, word, &found);
    return status == SV_OK && found.i == node.i;
}

static void write_node(struct writer *w, sv_node node)
{
    const sv_fabric *f = w->a->f;
    char word[300];
    if (finds(w, sv_node_name(f, node), node)) {
        write_word(w, sv_node_name(f, node));
        return;
    }
    if (!sv_is_switch(f, node)) {
        snprintf(word, sizeof word, "%.250s/%u", sv_node_name(f, node),
                 sv_terminal_of(f, node)->port);
        if (finds(w, word, node)) {
            write_word(w, word);
            return;
        }
    }
    snprintf(word, sizeof word, "0x%016llx", (unsigned long long)sv_node_guid(f, node));
    if (!finds(w, word, node))
        snprintf(word, sizeof word, "lid %u",
                 sv_is_switch(f, node) ? f->switches[node.i].lid : sv_terminal_of(f, node)->lid);
    write_word(w, word);
}

static void write_terminal(struct writer *w, uint32_t terminal)
{
    write_node(w, (sv_node){w->a->f->num_switches + terminal});
}

static void write_solution(struct writer *w, const sv__drb_pair *p, const sv__solution *s)
{
    sv_text *out = &w->out;
    w->begins = true;
    write_terminal(w, p->from);
    write_terminal(w, p->to);
    sv_text_print(out, " latency %.6f", s->latency / SV_TICKS_PER_NS);
    if (s->flows.router != SV_NONE) {
        sv_text_print(out, " at");
        write_node(w, (sv_node){s->flows.router});
    }
    for (uint32_t i = 0; i < s->num_paths; i++) {
        const sv_sim_way *way = &p->paths[s->paths[i].path].way;
        sv_text_print(out, " path %.6f", s->paths[i].waited / SV_TICKS_PER_NS);
        for (unsigned k = 0; k < SV_SIM_MAX_VIAS; k++)
            if (k < way->vias)
                write_node(w, w->a->r->node[way->via[k]]);
            else
                sv_text_print(out, " -");
    }
    for (uint32_t i = 0; i < s->flows.count; i++) {
        sv_text_print(out, " flow");
        write_terminal(w, sv__flow_from(s->flows.at[i]));
        write_terminal(w, sv__flow_to(s->flows.at[i]));
    }
    sv_text_print(out, "\n");
}

sv_status sv__balance_save(const sv_adapt *a, const sv_sink *sink)
{
    const sv__balance *b = a->state;
    struct writer w = {.a = a, .index = sv_index_new(a->ctx, a->f)};
    if (w.index == NULL)
        return SV_NO_MEMORY;
    sv_text_init(&w.out, a->ctx, sink);
    sv_text_print(&w.out, "# selvage store: FROM TO latency NS at SWITCH path NS VIA VIA … "
                          "flow FROM TO …\n");
    for (size_t i = 0; i < b->pairs.length; i++)
        for (const sv__solution *s = b->pairs.at[i]->store.first; s != NULL; s = s->next)
            write_solution(&w, b->pairs.at[i], s);
    sv_status status = sv_text_finish(&w.out);
    sv_text_release(&w.out);
    sv_index_free(w.index);
    return status;
}

/* ---- reading ---- */

struct reader {
    sv__balance *b;
    sv_index *index;
    sv_scan scan;
    char *word; /* the present one, with room for a line */
    size_t room;
    sv__flows flows;
    sv__metapath meta;
    uint32_t paths, told; /* of the present line: besides path 0; all */
};

/* The next word; false at the end of the line. */
static sv_status next_word(struct reader *x, bool *more)
{
    sv_scan_blanks(&x->scan);
    *more = !sv_scan_done(&x->scan) && *x->scan.at != '#';
    if (*more && !sv_scan_quoted(&x->scan, x->word))
        return sv_fail(x->b->a->ctx, SV_BAD_INPUT, "a quote is not closed");
    return SV_OK;
}

static sv_status want_word(struct reader *x, const char *what)
{
    bool more;
    SV_TRY(next_word(x, &more));
    return more ? SV_OK : sv_fail(x->b->a->ctx, SV_BAD_INPUT, "%s is missing", what);
}

static sv_status read_terminal(struct reader *x, const char *what, uint32_t *terminal)
{
    const sv_adapt *a = x->b->a;
    sv_node node;
    SV_TRY(want_word(x, what));
    SV_TRY(sv_index_find(a->ctx, x->index, x->word, &node));
    if (sv_is_switch(a->f, node))
        return sv_fail(a->ctx, SV_BAD_INPUT, "'%.100s' is no terminal", x->word);
    *terminal = node.i - a->f->num_switches;
    return SV_OK;
}

static sv_status read_ns(struct reader *x, const char *what, double *ticks)
{
    double ns;
    SV_TRY(want_word(x, what));
    if (!sv_span_decimal(sv_span_of(x->word), &ns))
        return sv_fail(x->b->a->ctx, SV_BAD_INPUT, "%s '%.100s' is not a number of nanoseconds",
                       what, x->word);
    *ticks = ns * SV_TICKS_PER_NS;
    return SV_OK;
}

static sv_status read_path(struct reader *x, sv__drb_pair *p)
{
    sv_adapt *a = x->b->a;
    sv_sim_way way = {0};
    double waited = 0;
    uint32_t path;
    SV_TRY(read_ns(x, "the wait of a path", &waited));
    for (unsigned i = 0; i < SV_SIM_MAX_VIAS; i++) {
        sv_node s;
        SV_TRY(want_word(x, "a via of a path"));
        if (strcmp(x->word, "-") == 0)
            continue;
        SV_TRY(sv_index_find_switch(a->ctx, x->index, x->word, &s));
        way.via[way.vias++] = a->r->first[s.i];
    }
    if (way.vias >= a->policy.segments)
        return sv_fail(a->ctx, SV_BAD_INPUT, "a path has %u vias, and the policy %u segments",
                       way.vias, a->policy.segments);
    SV_TRY(sv__pairs_path(x->b, p, &way, &path));
    uint32_t at = sv__metapath_find(&x->meta, path);
    if (at != UINT32_MAX)
        x->meta.at[at].waited = waited;
    else if (x->meta.count < a->set.paths)
        sv__metapath_open(&x->meta, path, 0, waited);
    x->paths += path != 0;
    x->told++;
    return SV_OK;
}

static sv_status read_flow(struct reader *x)
{
    uint32_t from, to;
    SV_TRY(read_terminal(x, "the source of a flow", &from));
    SV_TRY(read_terminal(x, "the destination of a flow", &to));
    if (from == to)
        return sv_fail(x->b->a->ctx, SV_BAD_INPUT, "a flow goes from a terminal to itself");
    if (x->flows.count < x->b->shelf.max_flows)
        x->flows.at[x->flows.count++] = sv__flow(from, to);
    return SV_OK;
}

/* What stands behind the two terminals. */
static sv_status read_rest(struct reader *x, sv__drb_pair *p, double *latency)
{
    const sv_adapt *a = x->b->a;
    for (bool more;;) {
        SV_TRY(next_word(x, &more));
        if (!more)
            return SV_OK;
        if (strcmp(x->word, "latency") == 0) {
            SV_TRY(read_ns(x, "the latency", latency));
        } else if (strcmp(x->word, "at") == 0) {
            sv_node s;
            SV_TRY(want_word(x, "a switch"));
            SV_TRY(sv_index_find_switch(a->ctx, x->index, x->word, &s));
            x->flows.router = s.i;
        } else if (strcmp(x->word, "path") == 0) {
            SV_TRY(read_path(x, p));
        } else if (strcmp(x->word, "flow") == 0) {
            SV_TRY(read_flow(x));
        } else {
            return sv_fail(a->ctx, SV_BAD_INPUT, "'%.100s' is not latency, at, path or flow",
                           x->word);
        }
    }
}

static sv_status add_solution(struct reader *x, sv__drb_pair *p, double latency)
{
    sv_adapt *a = x->b->a;
    if (x->flows.count == 0 || x->told == 0 || latency <= 0)
        return sv_fail(a->ctx, SV_BAD_INPUT,
                       "a solution has a latency, paths and "
                       "flows");
    if (x->paths > 0 && x->meta.count < 2)
        return SV_OK; /* the policy has one path only */
    sv__flows_sort(&x->flows);
    sv__solution *s = sv__store_find(&p->store, &x->flows, 1);
    if (s != NULL) { /* the same flows again: the better solution is kept */
        if (latency >= s->latency)
            return SV_OK;
        if (s->flows.router != SV_NONE)
            /*~file_twice*/ a->routers[s->flows.router].patterns--;
    } else {
        s = sv__store_add(&p->store, &x->b->shelf);
        if (s == NULL)
            return SV_NO_MEMORY;
        s->seeded = true;
        a->report.patterns++;
        a->report.seeded++;
    }
    sv__solution_fill(s, &x->flows, &x->meta, latency, x->b->shelf.max_paths);
    if (s->flows.router != SV_NONE)
        a->routers[s->flows.router].patterns++;
    return SV_OK;
}

static sv_status read_line(struct reader *x)
{
    sv_adapt *a = x->b->a;
    uint32_t from, to, pair;
    double latency = 0;
    SV_TRY(read_terminal(x, "a source", &from));
    SV_TRY(read_terminal(x, "a destination", &to));
    if (from == to)
        return sv_fail(a->ctx, SV_BAD_INPUT, "source and destination are the same");
    SV_TRY(sv__pairs_get(x->b, from, a->r->first[a->f->num_switches + to], &pair));
    x->flows.count = x->meta.count = x->paths = x->told = 0;
    x->flows.router = SV_NONE;
    /* Path 0 belongs to every solution, told or not. */
    sv__metapath_open(&x->meta, 0, 0, 0);
    SV_TRY(read_rest(x, x->b->pairs.at[pair], &latency));
    return add_solution(x, x->b->pairs.at[pair], latency);
}

static sv_status read_lines(struct reader *x, sv_lines *lines)
{
    sv_ctx *ctx = x->b->a->ctx;
    for (;;) {
        sv_span line;
        bool more;
        SV_TRY(sv_lines_next(lines, &line, &more));
        if (!more)
            return SV_OK;
        x->scan = sv_scan_of(line);
        sv_scan_blanks(&x->scan);
        if (sv_scan_done(&x->scan) || *x->scan.at == '#')
            continue;
        if (line.length + 1 > x->room) {
            char *word = sv_resize(ctx, x->word, line.length + 1, 1);
            if (word == NULL)
                return SV_NO_MEMORY;
            x->word = word;
            x->room = line.length + 1;
        }
        sv_status status = read_line(x);
        if (status != SV_BAD_INPUT && status != SV_OK)
            return status;
        if (status == SV_BAD_INPUT) {
            char why[512];
            snprintf(why, sizeof why, "%s", sv_ctx_message(ctx));
            return sv_lines_fail(lines, "%s", why);
        }
    }
}

sv_status sv__balance_load(sv_adapt *a, const sv_source *source)
{
    sv__balance *b = a->state;
    struct reader x = {.b = b, .index = sv_index_new(a->ctx, a->f)};
    sv_lines lines = {.ctx = a->ctx};
    x.flows.at = SV_ARENA_NEW(&a->arena, uint32_t, b->shelf.max_flows);
    x.meta.at = SV_ARENA_NEW(&a->arena, sv__open_path, a->set.paths);
    sv_status status = x.index == NULL || x.flows.at == NULL || x.meta.at == NULL
                           ? SV_NO_MEMORY
                           : sv_lines_init(&lines, a->ctx, source);
    if (status == SV_OK)
        status = read_lines(&x, &lines);
    sv_lines_release(&lines);
    sv_release(a->ctx, x.word);
    sv_index_free(x.index);
    return status;
}
