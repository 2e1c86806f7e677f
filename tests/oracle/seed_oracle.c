/*
 * seed_oracle.c: stores worked out from traces, by the words of docs/decisions/0028-policies.md
 * ("Stores from traces"), slowly: loads are added up anew before every piece, and who meets is
 * asked of every flow at every channel and step. Ways, what they take empty, phases and their flows
 * are the library's own: they have oracles of theirs.
 */
#include "seed_oracle.h"

#include "base/ctx.h"

enum { DRB_HEADER = 32 };

/* ---- flows and ways ---- */

static bool is_in(const flow *f, uint32_t step)
{
    return (f->steps >> step & 1) != 0;
}

static flow *flow_of(seed_trial *x, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < x->num_flows; i++)
        if (x->flow[i].from == from && x->flow[i].to == to) {
            x->met.merged++;
            return &x->flow[i];
        }
    assert_true(x->num_flows < MAX_FLOWS);
    x->flow[x->num_flows] = (flow){.from = from, .to = to};
    return &x->flow[x->num_flows++];
}

static bool comes_before(const flow *a, const flow *b)
{
    if (a->weight != b->weight)
        return a->weight > b->weight;
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

static void find_flows(seed_trial *x, const sv_mpi_flow *ranks, uint32_t count)
{
    x->num_flows = x->steps = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = x->map[ranks[i].from].i, to = x->map[ranks[i].to].i;
        if (from == to)
            continue;
        flow *f = flow_of(x, from - x->c.f->num_switches, to - x->c.f->num_switches);
        f->weight += ranks[i].bytes + ranks[i].messages;
        f->steps |= ranks[i].steps;
    }
    for (uint32_t i = 0; i < x->num_flows; i++) {
        uint32_t steps = 0;
        for (uint32_t s = 0; s < STEPS; s++)
            if (is_in(&x->flow[i], s)) {
                steps++;
                x->steps = s < x->steps ? x->steps : s + 1;
            }
        assert_true(steps > 0);
        x->flow[i].weight = x->flow[i].weight / steps + 1;
    }
    flow *other = malloc(sizeof *other);
    assert_non_null(other);
    for (uint32_t i = 1; i < x->num_flows; i++)
        for (uint32_t k = i; k > 0 && comes_before(&x->flow[k], &x->flow[k - 1]); k--) {
            *other = x->flow[k];
            x->flow[k] = x->flow[k - 1];
            x->flow[k - 1] = *other;
        }
    free(other);
}

/* False: tables do not join them. */
static bool find_ways(seed_trial *x, flow *f)
{
    sv__adapt_path found[MAX_WAYS];
    uint32_t destination = x->c.r->first[x->c.f->num_switches + f->to];
    uint32_t max = 3 * x->paths < MAX_WAYS ? 3 * x->paths : MAX_WAYS;
    sv_status status = sv__ways_find(x->a, f->from, destination, max, found, &f->num_ways);
    if (status == SV_BAD_INPUT)
        return false;
    assert_int_equal(status, SV_OK);
    for (uint32_t i = 0; i < f->num_ways; i++) {
        way *w = &f->ways[i];
        sv_channel channels[MAX_LENGTH];
        *w = (way){.way = found[i].way};
        OK(x->ctx, sv__ways_channels(x->a, f->from, destination, &w->way, channels, MAX_LENGTH,
                                     &w->length));
        assert_true(w->length >= 2 && w->length <= MAX_LENGTH);
        for (uint32_t k = 0; k < w->length; k++)
            w->channels[k] = channels[k].i;
    }
    return true;
}

/* ---- loads ---- */

static bool is_inner(const seed_trial *x, uint32_t channel)
{
    return sv_joins_switches(x->c.f, (sv_channel){channel});
}

/* All of them, anew; in pieces, of which a flow has as many as it may have paths. */
static void add_up(seed_trial *x)
{
    memset(x->load, 0, x->steps * sizeof x->load[0]);
    for (uint32_t i = 0; i < x->num_flows; i++)
        for (uint32_t k = 0; k < x->flow[i].num_ways; k++) {
            const flow *f = &x->flow[i];
            const way *w = &f->ways[k];
            for (uint32_t s = 0; w->pieces > 0 && s < x->steps; s++)
                for (uint32_t h = 0; is_in(f, s) && h < w->length; h++)
                    x->load[s][w->channels[h]] += w->pieces * f->weight;
        }
}

/* The largest load of a channel between switches on a way in a step. */
static uint64_t busiest(const seed_trial *x, const way *w, uint32_t step)
{
    uint64_t max = 0;
    for (uint32_t h = 0; h < w->length; h++)
        if (is_inner(x, w->channels[h]) && x->load[step][w->channels[h]] > max)
            max = x->load[step][w->channels[h]];
    return max;
}

static bool is_crowded(const seed_trial *x, const flow *f)
{
    const way *own = &f->ways[0];
    for (uint32_t s = 0; s < x->steps; s++)
        if (is_in(f, s) && busiest(x, own, s) > x->load[s][own->channels[0]] &&
            busiest(x, own, s) > x->load[s][own->channels[own->length - 1]])
            return true;
    return false;
}

static void find_who_stays(seed_trial *x)
{
    for (uint32_t i = 0; i < x->num_flows; i++)
        x->flow[i].ways[0].pieces = x->paths;
    add_up(x);
    for (uint32_t i = 0; i < x->num_flows; i++)
        x->flow[i].stays = !is_crowded(x, &x->flow[i]);
    for (uint32_t i = 0; i < x->num_flows; i++)
        x->flow[i].ways[0].pieces = 0;
}

/* Ways in use; path 0 is. */
static uint32_t used(const flow *f)
{
    uint32_t count = 1;
    for (uint32_t k = 1; k < f->num_ways; k++)
        count += f->ways[k].pieces > 0;
    return count;
}

static void lay_piece(seed_trial *x, flow *f)
{
    uint32_t best = SV_NONE;
    uint64_t min = 0;
    add_up(x);
    for (uint32_t k = 0; k < (f->stays ? 1 : f->num_ways); k++) {
        const way *w = &f->ways[k];
        uint64_t max = 0;
        if (k > 0 && w->pieces == 0 && used(f) == x->paths)
            continue;
        for (uint32_t s = 0; s < x->steps; s++)
            if (is_in(f, s) && busiest(x, w, s) > max)
                max = busiest(x, w, s);
        if (best == SV_NONE || max < min || (max == min && w->length < f->ways[best].length)) {
            best = k;
            min = max;
        }
    }
    f->ways[best].pieces++;
}

static void lay(seed_trial *x)
{
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < x->num_flows; i++) {
            flow *f = &x->flow[i];
            uint32_t before = used(f), first = f->ways[0].pieces;
            for (uint32_t k = 0; k < f->num_ways; k++)
                f->ways[k].pieces = 0;
            for (uint32_t piece = 0; piece < x->paths; piece++)
                lay_piece(x, f);
            x->met.moved += turn == 1 && (used(f) != before || f->ways[0].pieces != first);
        }
    add_up(x);
}

/* ---- solutions ---- */

static bool has(const kept *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->pattern[i][0] == from && s->pattern[i][1] == to)
            return true;
    return false;
}

/* Whether four fifths of the larger of two patterns are in both. */
static bool are_alike(seed_trial *x, const kept *a, const kept *b)
{
    uint32_t both = 0, larger = a->count > b->count ? a->count : b->count;
    for (uint32_t i = 0; i < a->count; i++)
        both += has(b, a->pattern[i][0], a->pattern[i][1]);
    x->met.alike += 5 * both >= 4 * larger && both < larger;
    return 5 * both >= 4 * larger;
}

static void solve(seed_trial *x, const flow *f, kept *s)
{
    double n[MAX_WAYS], e[MAX_WAYS], w = 0, sum = 0;
    uint32_t full = x->model.mtu_bytes + x->model.header_bytes + DRB_HEADER;
    s->num_paths = 0;
    for (uint32_t k = 0; k < f->num_ways; k++) {
        if (k > 0 && f->ways[k].pieces == 0)
            continue;
        uint32_t i = s->num_paths++;
        s->paths[i].way = f->ways[k].way;
        n[i] = f->ways[k].pieces > 0 ? f->ways[k].pieces : 0.25;
        e[i] = (double)sv__ways_empty(x->a, f->from, f->ways[k].length, full);
        w = n[i] * e[i] > w ? n[i] * e[i] : w;
        sum += n[i];
    }
    for (uint32_t i = 0; i < s->num_paths; i++)
        s->paths[i].waited = w / n[i] - e[i];
    s->latency = w / sum;
}

/* pattern has what is the same for all flows that meet. */
static void keep(seed_trial *x, const flow *f, const kept *pattern)
{
    for (uint32_t i = 0; i < x->num_kept; i++) {
        const kept *s = &x->kept[i];
        if (s->from == f->from && s->to == f->to && are_alike(x, s, pattern))
            return;
    }
    assert_true(x->num_kept < MAX_KEPT);
    kept *s = &x->kept[x->num_kept++];
    *s = *pattern;
    s->from = f->from;
    s->to = f->to;
    solve(x, f, s);
    x->met.spread += s->num_paths > 1;
    x->met.still += s->num_paths == 1;
    x->met.outside += !has(s, f->from, f->to);
}

static bool meets(const flow *f, uint32_t channel, uint32_t step)
{
    for (uint32_t h = 0; is_in(f, step) && h < f->ways[0].length; h++)
        if (f->ways[0].channels[h] == channel)
            return true;
    return false;
}

/* Flows ascend in a store. */
static void sort_pattern(kept *p)
{
    for (uint32_t i = 1; i < p->count; i++)
        for (uint32_t k = i; k > 0; k--) {
            uint32_t *a = p->pattern[k - 1], *b = p->pattern[k];
            if (a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]))
                break;
            uint32_t other[2] = {a[0], a[1]};
            memcpy(a, b, sizeof other);
            memcpy(b, other, sizeof other);
        }
}

static void keep_pattern(seed_trial *x, uint32_t channel, uint32_t step)
{
    kept p = {.at = x->c.f->tail[channel].i};
    uint32_t all = 0, source = SV_NONE;
    bool several = false;
    for (uint32_t i = 0; i < x->num_flows; i++) {
        const flow *f = &x->flow[i];
        if (!meets(f, channel, step))
            continue;
        several = several || (all > 0 && f->from != source);
        source = f->from;
        if (p.count < x->flows) {
            p.pattern[p.count][0] = f->from;
            p.pattern[p.count++][1] = f->to;
        }
        all++;
    }
    if (!several)
        return;
    bool same = true;
    for (uint32_t i = 1; i < p.count; i++)
        same = same && p.pattern[i][0] == p.pattern[0][0];
    x->met.one_source += same;
    x->met.cut += all > p.count;
    sort_pattern(&p);
    for (uint32_t i = 0; i < x->num_flows; i++)
        if (meets(&x->flow[i], channel, step) && used(&x->flow[i]) > 1)
            keep(x, &x->flow[i], &p);
}

static void keep_all(seed_trial *x)
{
    for (uint32_t c = 0; c < x->c.f->num_channels; c++)
        for (uint32_t s = 0; is_inner(x, c) && s < x->steps; s++)
            keep_pattern(x, c, s);
    for (uint32_t i = 0; i < x->num_flows; i++) {
        const flow *f = &x->flow[i];
        kept itself = {.at = SV_NONE, .pattern = {{f->from, f->to}}, .count = 1};
        if (used(f) == 1 && !is_crowded(x, f))
            keep(x, f, &itself);
    }
}

bool seed_oracle(seed_trial *x)
{
    sv_mpi_summary *summary;
    bool joined = true;
    OK(x->ctx, sv_mpi_summarise(x->ctx, x->t, &summary));
    x->num_kept = 0;
    for (uint32_t p = 0; p < summary->num_phases && joined; p++) {
        sv_mpi_flow *ranks;
        uint32_t count;
        if (!summary->phases[p].relevant)
            continue;
        OK(x->ctx, sv_mpi_phase_flows(x->ctx, x->t, summary, p, &ranks, &count));
        find_flows(x, ranks, count);
        for (uint32_t i = 0; i < count; i++)
            x->met.late += ranks[i].steps >> 63;
        sv_release(x->ctx, ranks);
        for (uint32_t i = 0; i < x->num_flows && joined; i++)
            joined = find_ways(x, &x->flow[i]);
        if (!joined)
            break;
        find_who_stays(x);
        lay(x);
        keep_all(x);
    }
    sv_mpi_summary_free(summary);
    return joined;
}

/* ---- lines ---- */

static void add(char *line, const char *word)
{
    size_t length = strlen(line), more = strlen(word);
    assert_true(length + more + 2 < SEED_LINE);
    assert_null(strpbrk(word, " \"\\#"));
    snprintf(line + length, SEED_LINE - length, "%s%s", length > 0 ? " " : "", word);
}

static void add_node(const seed_trial *x, char *line, uint32_t node)
{
    add(line, sv_node_name(x->c.f, (sv_node){node}));
}

static void add_time(char *line, const char *word, double ticks)
{
    char number[64];
    add(line, word);
    snprintf(number, sizeof number, "%.6f", ticks / SV_TICKS_PER_NS);
    add(line, number);
}

void seed_oracle_line(const seed_trial *x, const kept *s, char *line)
{
    uint32_t switches = x->c.f->num_switches;
    line[0] = 0;
    add_node(x, line, switches + s->from);
    add_node(x, line, switches + s->to);
    add_time(line, "latency", s->latency);
    if (s->at != SV_NONE) {
        add(line, "at");
        add_node(x, line, s->at);
    }
    for (uint32_t i = 0; i < s->num_paths; i++) {
        add_time(line, "path", s->paths[i].waited);
        for (uint32_t v = 0; v < 2; v++)
            if (v < s->paths[i].way.vias)
                add_node(x, line, x->c.r->node[s->paths[i].way.via[v]].i);
            else
                add(line, "-");
    }
    for (uint32_t i = 0; i < s->count; i++) {
        add(line, "flow");
        add_node(x, line, switches + s->pattern[i][0]);
        add_node(x, line, switches + s->pattern[i][1]);
    }
}
