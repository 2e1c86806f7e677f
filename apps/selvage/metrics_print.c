/*
 * metrics_print.c: what `selvage metrics` prints.
 *
 * As text, every number is a row of a label and a value, so that two sets of tables can be put side
 * by side; both make the same rows in the same order. What is no single number (histogram, jobs,
 * lost connections of one set) are tables of their own below.
 */
#include <stdio.h>
#include <string.h>

#include "selvage/measured.h"

struct row {
    char label[48];
    double value;
    int digits;
};

enum { MAX_ROWS = 40 + 2 * SV_MAX_VLS + 3 * METRICS_MAX_NUMBERS };

struct rows {
    struct row at[MAX_ROWS];
    int count;
};

static void SV_PRINTF(4, 5)
    add(struct rows *rows, double value, int digits, const char *format, ...)
{
    if (rows->count == MAX_ROWS)
        return;
    struct row *row = &rows->at[rows->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(row->label, sizeof row->label, format, args);
    va_end(args);
    row->value = value;
    row->digits = digits;
}

static double percent(double part, uint64_t of)
{
    return of > 0 ? 100 * part / (double)of : 0;
}

/* One more than the highest VL that routes are on. */
static unsigned num_vls(const sv_vl_use *use)
{
    unsigned vls = 0;
    for (unsigned i = 0; i < SV_MAX_VLS; i++)
        if (use->routes[i] > 0 || use->hops[i] > 0)
            vls = i + 1;
    return vls;
}

/* ---- rows ---- */

static void list_basics(struct rows *rows, const struct metrics *m, unsigned vls, bool both)
{
    add(rows, m->f->live_switches, 0, "switches");
    add(rows, m->f->live_terminals, 0, "terminals");
    add(rows, m->load.channels, 0, "channels between switches");
    add(rows, (double)m->load.min, 0, "routes on a channel: least");
    add(rows, m->load.avg, 2, "  average");
    add(rows, (double)m->load.max, 0, "  most");
    if (both) /* of two sets the kinds can be different */
        add(rows, (double)m->bound.efi, 0, "  bound of any routing");
    else
        add(rows, (double)m->bound.efi, 0, "  bound of any routing (%s)",
            sv_bound_kind_name(m->bound.kind));
    add(rows, m->load.sdv, 2, "  standard deviation");
    add(rows, m->load.unused, 0, "channels without routes");
    add(rows, (double)m->load.pairs, 0, "pairs joined");
    add(rows, m->load.hops_avg, 4, "hops: average");
    add(rows, m->bound.hops, 4, "  bound of any routing");
    add(rows, m->load.hops_max, 0, "  most");
    add(rows, m->stretch.avg, 4, "hops / distance: average");
    add(rows, m->stretch.max, 2, "  most");
    add(rows, (double)m->stretch.longer_pairs, 0, "pairs longer than distance");
    add(rows, m->vls_used, 0, "VLs used");
    for (unsigned i = 0; vls > 1 && i < vls; i++) {
        add(rows, (double)m->vls.routes[i], 0, "VL %u: routes", i);
        add(rows, (double)m->vls.hops[i], 0, "  hops");
    }
}

static void list_jobs(struct rows *rows, const struct metrics *m)
{
    add(rows, m->map->num_jobs, 0, "jobs");
    add(rows, m->map->num_terminals, 0, "terminals with jobs");
    add(rows, (double)m->jobs.pairs, 0, "pairs inside jobs");
    add(rows, (double)m->jobs.efi.min, 0, "their routes on a channel: least");
    add(rows, m->jobs.efi.avg, 2, "  average");
    add(rows, (double)m->jobs.efi.max, 0, "  most");
    add(rows, m->jobs.efi.sdv, 2, "  standard deviation");
    add(rows, m->jobs.dark_fibre, 2, "dark fibre, %%");
    add(rows, m->jobs.spread, 0, "jobs on several switches");
    add(rows, m->jobs.job_max_avg, 2, "  most routes of a job, average");
    add(rows, m->jobs.job_links_avg, 2, "  channels of a job, average");
}

static void list_lost(struct rows *rows, const struct metrics_options *o, const struct metrics *m)
{
    for (uint32_t i = 0; i < o->num_numbers; i++) {
        const sv_lost *lost = &m->lost[i];
        add(rows, percent(lost->expected, m->lost_pairs), 3, "%% lost to %u %s: expected",
            lost->failures, o->lost);
        add(rows, percent(lost->mean, m->lost_pairs), 3, "  mean");
        add(rows, percent((double)lost->max, m->lost_pairs), 3, "  most");
    }
}

static void list_bisection(struct rows *rows, const struct metrics *m)
{
    add(rows, m->matchings.flows, 0, "flows of a matching");
    add(rows, m->matchings.avg, 4, "effective bisection bandwidth");
    add(rows, m->matchings.min, 4, "  least of a matching");
    add(rows, m->matchings.max, 4, "  most of a matching");
    add(rows, m->matchings.sdv, 4, "  standard deviation");
    add(rows, m->matchings.worst, 0, "  most flows on a channel");
    add(rows, (double)m->matchings.lost, 0, "  flows that do not arrive");
}

static void list_all(struct rows *rows, const struct metrics_options *o, const struct metrics *m,
                     unsigned vls, bool both)
{
    rows->count = 0;
    list_basics(rows, m, vls, both);
    if (m->map != NULL)
        list_jobs(rows, m);
    if (o->lost != NULL && both)
        list_lost(rows, o, m);
    if (o->bisection != METRICS_NOT_GIVEN)
        list_bisection(rows, m);
}

static void print_rows(sv_text *out, const struct rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        sv_text_print(out, "%-34s %12.*f\n", rows->at[i].label, rows->at[i].digits,
                      rows->at[i].value);
}

static void print_both(sv_text *out, const struct metrics *sets, const struct rows *a,
                       const struct rows *b)
{
    sv_text_print(out, "A: %s\nB: %s\n\n%-34s %12s %12s %12s %8s\n", sets[0].name, sets[1].name, "",
                  "A", "B", "B - A", "B / A");
    for (int i = 0; i < a->count; i++) {
        double x = a->at[i].value, y = b->at[i].value;
        int digits = a->at[i].digits;
        sv_text_print(out, "%-34s %12.*f %12.*f %+12.*f", a->at[i].label, digits, x, digits, y,
                      digits, y - x + 0.0);
        if (x != 0)
            sv_text_print(out, " %8.3f\n", y / x);
        else
            sv_text_print(out, " %8s\n", "-");
    }
}

/* ---- tables of their own ---- */

enum { NAME_WIDTH = 24 };

/* Bins of a histogram: of all routes, or of those inside jobs. */
static uint64_t max_of(const struct metrics *m, bool jobs)
{
    return jobs ? m->jobs.efi.max : m->load.max;
}

static uint64_t width_of(const struct metrics_options *o, const struct metrics *sets, int count,
                         bool jobs)
{
    uint64_t max = max_of(&sets[0], jobs);
    if (count == 2 && max_of(&sets[1], jobs) > max)
        max = max_of(&sets[1], jobs);
    return max / o->histogram + 1;
}

static void print_histogram(sv_text *out, const struct metrics_options *o,
                            const struct metrics *sets, int count, bool jobs)
{
    uint32_t bins[2][1000];
    uint64_t width = width_of(o, sets, count, jobs), used = 0;
    for (int i = 0; i < count; i++) {
        sv_load_histogram(sets[i].f, jobs ? sets[i].effective : sets[i].loads, width,
                          (uint32_t)o->histogram, bins[i]);
        uint64_t last = max_of(&sets[i], jobs) / width + 1;
        used = last > used ? last : used;
    }
    sv_text_print(out, "\n%21s %12s\n", jobs ? "routes inside jobs" : "routes on a channel",
                  "channels");
    for (uint64_t k = 0; k < used; k++) {
        sv_text_print(out, "%9llu … %9llu", (unsigned long long)(k * width),
                      (unsigned long long)(k * width + width - 1));
        for (int i = 0; i < count; i++)
            sv_text_print(out, " %12u", bins[i][k]);
        sv_text_print(out, "\n");
    }
}

/*
 * A name in a column of so many characters. What a terminal would take for a command, or is no
 * UTF-8, becomes a question mark.
 */
static void print_name(sv_text *out, const char *name, int width)
{
    for (size_t length; *name != 0; name += length, width--) {
        length = sv_utf8_length(name);
        const unsigned char *c = (const unsigned char *)name;
        bool control = *c < ' ' || *c == 127 || (*c == 0xc2 && length == 2 && c[1] < 0xa0);
        if (length == 0 || control)
            sv_text_add(out, "?", 1);
        else
            sv_text_add(out, name, length);
        length += length == 0;
    }
    sv_text_print(out, "%*s", width > 0 ? width : 0, "");
}

static void print_jobs(sv_text *out, const struct metrics *m)
{
    sv_text_print(out, "\n%-24s %10s %12s %12s %10s\n", "job", "terminals", "routes", "most on one",
                  "channels");
    for (uint32_t j = 0; j < m->map->num_jobs; j++) {
        print_name(out, m->map->jobs[j].name, NAME_WIDTH);
        sv_text_print(out, " %10u %12llu %12llu %10u\n", m->map->jobs[j].num_terminals,
                      (unsigned long long)m->job_loads[j].pairs,
                      (unsigned long long)m->job_loads[j].max, m->job_loads[j].links);
    }
}

/* Whether two sets have the same jobs in the same order, as they have unless a fabric lacks one. */
static bool same_jobs(const struct metrics *sets)
{
    const sv_jobmap *a = sets[0].map, *b = sets[1].map;
    if (a == NULL || b == NULL || a->num_jobs != b->num_jobs)
        return false;
    for (uint32_t i = 0; i < a->num_jobs; i++)
        if (strcmp(a->jobs[i].name, b->jobs[i].name) != 0)
            return false;
    return true;
}

static void print_jobs_both(sv_text *out, const struct metrics *sets)
{
    const sv_jobmap *a = sets[0].map, *b = sets[1].map;
    sv_text_print(out, "\n%-24s %12s %12s %12s %12s %12s %12s\n", "job", "terminals: A", "B",
                  "most: A", "B", "channels: A", "B");
    for (uint32_t i = 0; i < a->num_jobs; i++) {
        print_name(out, a->jobs[i].name, NAME_WIDTH);
        sv_text_print(out, " %12u %12u %12llu %12llu %12u %12u\n", a->jobs[i].num_terminals,
                      b->jobs[i].num_terminals, (unsigned long long)sets[0].job_loads[i].max,
                      (unsigned long long)sets[1].job_loads[i].max, sets[0].job_loads[i].links,
                      sets[1].job_loads[i].links);
    }
}

static void print_lost(sv_text *out, const struct metrics_options *o, const struct metrics *m)
{
    sv_text_print(out, "\n%% of %llu routes lost when %s fail, %llu draws\n",
                  (unsigned long long)m->lost_pairs, o->lost, (unsigned long long)o->trials);
    sv_text_print(out, "%8s %10s %10s %10s %10s %10s %10s %10s\n", "failures", "expected", "min",
                  "quartile", "median", "quartile", "max", "mean");
    for (uint32_t i = 0; i < o->num_numbers; i++) {
        const sv_lost *l = &m->lost[i];
        const double numbers[] = {l->expected, (double)l->min, l->q1,  l->median,
                                  l->q3,       (double)l->max, l->mean};
        sv_text_print(out, "%8u", l->failures);
        for (int k = 0; k < 7; k++)
            sv_text_print(out, " %10.3f", percent(numbers[k], m->lost_pairs));
        sv_text_print(out, "\n");
    }
}

sv_status metrics_print_text(struct app *app, sv_text *out, const struct metrics_options *o,
                             const struct metrics *sets, int count)
{
    struct rows *rows = sv_alloc(app->ctx, 2, sizeof *rows);
    if (rows == NULL)
        return SV_NO_MEMORY;
    unsigned vls = num_vls(&sets[0].vls);
    if (count == 2 && num_vls(&sets[1].vls) > vls)
        vls = num_vls(&sets[1].vls);
    for (int i = 0; i < count; i++)
        list_all(&rows[i], o, &sets[i], vls, count == 2);
    if (count == 2) {
        print_both(out, sets, &rows[0], &rows[1]);
        if (same_jobs(sets))
            print_jobs_both(out, sets);
    } else {
        print_rows(out, &rows[0]);
        if (sets[0].map != NULL)
            print_jobs(out, &sets[0]);
        if (o->lost != NULL)
            print_lost(out, o, &sets[0]);
    }
    if (o->histogram != METRICS_NOT_GIVEN)
        print_histogram(out, o, sets, count, false);
    if (o->histogram != METRICS_NOT_GIVEN && sets[0].map != NULL)
        print_histogram(out, o, sets, count, true);
    sv_release(app->ctx, rows);
    return SV_OK;
}

/* ---- JSON ---- */

static void json_efi(sv_json *j, const char *key, const sv_efi *efi)
{
    sv_json_begin_row(j, key, '{');
    sv_json_number(j, "min", efi->min);
    sv_json_real(j, "avg", efi->avg, 4);
    sv_json_number(j, "max", efi->max);
    sv_json_real(j, "sdv", efi->sdv, 4);
    sv_json_number(j, "unused", efi->unused);
    sv_json_end(j, '}');
}

static void json_vls(sv_json *j, const sv_vl_use *use)
{
    sv_json_begin_array(j, "vls");
    for (unsigned i = 0; i < SV_MAX_VLS; i++) {
        if (use->routes[i] == 0 && use->hops[i] == 0)
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "vl", i);
        sv_json_number(j, "routes", use->routes[i]);
        sv_json_number(j, "hops", use->hops[i]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_begin_row(j, "no_vl", '{');
    sv_json_number(j, "local", use->local);
    sv_json_number(j, "discarded", use->discarded);
    sv_json_number(j, "unknown", use->unknown);
    sv_json_end(j, '}');
    sv_json_bool(j, "sl2vl_known", use->known);
}

static void json_bound(sv_json *j, const sv_bound *bound)
{
    sv_json_number(j, "efi_bound", bound->efi);
    sv_json_text(j, "efi_bound_kind", sv_bound_kind_name(bound->kind));
    sv_json_begin_row(j, "efi_bound_cut", '{');
    sv_json_number(j, "terminals", bound->terminals);
    sv_json_number(j, "channels", bound->channels);
    sv_json_end(j, '}');
}

static void json_basics(sv_json *j, const struct metrics *m)
{
    const sv_load *load = &m->load;
    const sv_efi efi = {load->channels, load->unused, load->min, load->max, load->avg, load->sdv};
    sv_json_number(j, "switches", m->f->live_switches);
    sv_json_number(j, "terminals", m->f->live_terminals);
    sv_json_number(j, "channels", load->channels);
    json_efi(j, "efi", &efi);
    json_bound(j, &m->bound);
    sv_json_begin_row(j, "hops", '{');
    sv_json_real(j, "avg", load->hops_avg, 6);
    sv_json_number(j, "max", load->hops_max);
    sv_json_end(j, '}');
    sv_json_real(j, "hops_bound", m->bound.hops, 6);
    sv_json_begin_row(j, "stretch", '{');
    sv_json_real(j, "avg", m->stretch.avg, 6);
    sv_json_real(j, "max", m->stretch.max, 6);
    sv_json_number(j, "pairs", m->stretch.pairs);
    sv_json_number(j, "longer_pairs", m->stretch.longer_pairs);
    sv_json_end(j, '}');
    sv_json_number(j, "pairs", load->pairs);
    sv_json_number(j, "vls_used", m->vls_used);
    json_vls(j, &m->vls);
}

static void json_histogram(sv_json *j, const struct metrics_options *o, const struct metrics *m,
                           uint64_t width, bool jobs)
{
    uint32_t bins[1000];
    sv_load_histogram(m->f, jobs ? m->effective : m->loads, width, (uint32_t)o->histogram, bins);
    sv_json_begin_object(j, "histogram");
    sv_json_number(j, "width", width);
    sv_json_begin_row(j, "channels", '[');
    for (uint64_t k = 0; k <= max_of(m, jobs) / width; k++)
        sv_json_number(j, NULL, bins[k]);
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

static void json_jobs(sv_json *j, const struct metrics_options *o, const struct metrics *m,
                      uint64_t width)
{
    sv_json_begin_object(j, "jobs");
    sv_json_number(j, "count", m->map->num_jobs);
    sv_json_number(j, "terminals", m->map->num_terminals);
    sv_json_number(j, "unknown_lines", m->map->unknown);
    sv_json_number(j, "pairs", m->jobs.pairs);
    json_efi(j, "efi", &m->jobs.efi);
    sv_json_real(j, "dark_fibre_percent", m->jobs.dark_fibre, 4);
    sv_json_number(j, "spread", m->jobs.spread);
    sv_json_real(j, "job_max_avg", m->jobs.job_max_avg, 4);
    sv_json_real(j, "job_links_avg", m->jobs.job_links_avg, 4);
    if (o->histogram != METRICS_NOT_GIVEN)
        json_histogram(j, o, m, width, true);
    sv_json_begin_array(j, "list");
    for (uint32_t i = 0; i < m->map->num_jobs; i++) {
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "job", m->map->jobs[i].name);
        sv_json_number(j, "terminals", m->map->jobs[i].num_terminals);
        sv_json_number(j, "pairs", m->job_loads[i].pairs);
        sv_json_number(j, "max", m->job_loads[i].max);
        sv_json_number(j, "links", m->job_loads[i].links);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

static void json_lost(sv_json *j, const struct metrics_options *o, const struct metrics *m)
{
    sv_json_begin_object(j, "lost");
    sv_json_text(j, "what", o->lost);
    sv_json_number(j, "trials", o->trials);
    sv_json_number(j, "seed", o->seed);
    sv_json_number(j, "pairs", m->lost_pairs);
    sv_json_begin_array(j, "failures");
    for (uint32_t i = 0; i < o->num_numbers; i++) {
        const sv_lost *l = &m->lost[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "failures", l->failures);
        sv_json_real(j, "expected", l->expected, 4);
        sv_json_number(j, "min", l->min);
        sv_json_real(j, "q1", l->q1, 2);
        sv_json_real(j, "median", l->median, 2);
        sv_json_real(j, "q3", l->q3, 2);
        sv_json_number(j, "max", l->max);
        sv_json_real(j, "mean", l->mean, 4);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_end(j, '}');
}

static void json_bisection(sv_json *j, const struct metrics_options *o, const sv_matchings *m)
{
    sv_json_begin_object(j, "bisection");
    sv_json_number(j, "matchings", o->bisection);
    sv_json_number(j, "seed", o->seed);
    sv_json_number(j, "flows", m->flows);
    sv_json_real(j, "avg", m->avg, 6);
    sv_json_real(j, "min", m->min, 6);
    sv_json_real(j, "max", m->max, 6);
    sv_json_real(j, "sdv", m->sdv, 6);
    sv_json_number(j, "max_on_a_channel", m->worst);
    sv_json_number(j, "lost_flows", m->lost);
    sv_json_end(j, '}');
}

sv_status metrics_print_json(struct app *app, sv_text *out, const struct metrics_options *o,
                             const struct metrics *sets, int count)
{
    (void)app;
    static const char *const keys[] = {"a", "b"};
    sv_json j;
    sv_json_init(&j, out);
    if (count == 2)
        sv_json_begin_object(&j, NULL);
    for (int i = 0; i < count; i++) {
        sv_json_begin_object(&j, count == 2 ? keys[i] : NULL);
        if (count == 2)
            sv_json_text(&j, "tables", sets[i].name);
        json_basics(&j, &sets[i]);
        if (o->histogram != METRICS_NOT_GIVEN)
            json_histogram(&j, o, &sets[i], width_of(o, sets, count, false), false);
        if (sets[i].map != NULL)
            json_jobs(&j, o, &sets[i], width_of(o, sets, count, true));
        if (o->lost != NULL)
            json_lost(&j, o, &sets[i]);
        if (o->bisection != METRICS_NOT_GIVEN)
            json_bisection(&j, o, &sets[i].matchings);
        sv_json_end(&j, '}');
    }
    if (count == 2)
        sv_json_end(&j, '}');
    return out->status;
}
