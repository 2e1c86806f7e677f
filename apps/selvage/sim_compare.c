/*
 * sim_compare.c: policies against each other: means over seeds with their confidence (95 %,
 * Student's), and the change against the first policy.
 *
 * The change is the mean of the changes seed by seed, as both had the same traffic: what seeds have
 * in common goes out of its interval. What was not in all runs (an infinite, or nothing arrived) is
 * left out.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "selvage/sim_shared.h"
#include "study/statistics.h"
#include "study/table.h"

/* What is compared: with its change, or as it is. */
static const struct measure {
    const char *name, *unit, *key;
    size_t offset;
    double factor; /* from JSON's unit to the table's */
    int digits;
    bool compared;
} measures[] = {
    {"latency", "us", "global_latency_us", offsetof(sim_measures, latency_us), 1, 3, true},
    {"contention", "us", "contention_us", offsetof(sim_measures, contention_us), 1, 3, true},
    {"worst router", "us", "worst_router_us", offsetof(sim_measures, worst_us), 1, 3, true},
    {"time", "us", "execution_us", offsetof(sim_measures, execution_us), 1, 1, true},
    {"since ready", "us", "global_since_ready_us", offsetof(sim_measures, since_ready_us), 1, 3,
     false},
    {"throughput", "GB/s", "throughput_gbyte_s", offsetof(sim_measures, throughput_gbyte_s), 1, 4,
     false},
    {"waiting", "%", "waiting_share", offsetof(sim_measures, waiting_share), 100, 2, false},
    {"control", "%", "control_share", offsetof(sim_measures, control_share), 100, 2, false},
    {"detours", "%", "detour_share", offsetof(sim_measures, detour_share), 100, 2, false},
    {"early", "%", "early_share", offsetof(sim_measures, early_share), 100, 2, false},
    {"early wait", "us", "early_wait_us", offsetof(sim_measures, early_us), 1, 3, false},
    {"buffer", "bytes", "early_max_bytes", offsetof(sim_measures, early_max_bytes), 1, 0, false},
};
enum { NUM_MEASURES = sizeof measures / sizeof measures[0] };

static double value(const sim_measures *m, const struct measure *what)
{
    return *(const double *)(const void *)((const char *)m + what->offset);
}

/* Mean and half of its interval without what is NAN. numbers is scratch. */
static sv_sample sample(const sim_contender *c, const struct measure *what, double *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < c->runs; i++)
        if (isfinite(value(&c->measures[i], what)))
            numbers[count++] = value(&c->measures[i], what);
    return sv_sample_of(numbers, count);
}

/* Changes against another policy, in percent, run by run. */
static sv_sample change(const sim_contender *c, const sim_contender *from,
                        const struct measure *what, double *numbers)
{
    size_t count = 0, runs = c->runs < from->runs ? c->runs : from->runs;
    for (size_t i = 0; i < runs; i++) {
        double a = value(&from->measures[i], what), b = value(&c->measures[i], what);
        if (isfinite(a) && isfinite(b) && a > 0)
            numbers[count++] = 100 * (b / a - 1);
    }
    return sv_sample_of(numbers, count);
}

/* What a policy did, mean of runs. */
static const struct {
    const char *name, *key;
    size_t offset;
    bool narrow; /* 32 bits */
} counts[] = {{"opened", "opened", offsetof(sv_adapt_report, opened), false},
              {"closed", "closed", offsetof(sv_adapt_report, closed), false},
              {"patterns", "patterns", offsetof(sv_adapt_report, patterns), false},
              {"repeated", "repeated", offsetof(sv_adapt_report, repeated), false},
              {"applied", "applied", offsetof(sv_adapt_report, applied), false},
              {"most applied", "max_applied", offsetof(sv_adapt_report, max_applied), false},
              {"unasked", "unasked", offsetof(sv_adapt_report, unasked), false},
              {"improved", "improved", offsetof(sv_adapt_report, improved), false},
              {"failed", "failed", offsetof(sv_adapt_report, failed), false},
              {"watchdogs", "watchdogs", offsetof(sv_adapt_report, watchdogs), false},
              {"foreseen", "foreseen", offsetof(sv_adapt_report, foreseen), false},
              {"most paths", "max_paths", offsetof(sv_adapt_report, max_paths), true}};
enum { NUM_COUNTS = sizeof counts / sizeof counts[0] };

static double count_of(const sim_contender *c, size_t i)
{
    double sum = 0;
    for (size_t run = 0; run < c->runs; run++) {
        const char *at = (const char *)&c->reports[run] + counts[i].offset;
        sum += counts[i].narrow ? *(const uint32_t *)(const void *)at
                                : (double)*(const uint64_t *)(const void *)at;
    }
    return c->runs > 0 ? sum / (double)c->runs : NAN;
}

static const char *name_of(const sim_contender *c)
{
    return c->policy != NULL ? c->policy : "(tables)";
}

/* ---- for people ---- */

static void add_mean(sv_table *t, sv_sample s, int digits)
{
    if (s.count > 1)
        sv_table_print(t, "%.*f ± %.*f", digits, s.mean, digits, s.half);
    else if (s.count == 1)
        sv_table_print(t, "%.*f", digits, s.mean);
    else
        sv_table_missing(t);
}

static void add_changes(sv_tables *tables, const struct sim *sim, const sim_contender *all,
                        size_t count, double *numbers)
{
    sv_table *t = sv_table_new(tables, "policies", "Policies",
                               count > 1 ? "Means, and changes against the first line."
                                         : "Means of all runs.");
    sv_table_column(t, "policy", NULL, SV_TEXT_COLUMN);
    for (size_t i = 0; i < NUM_MEASURES; i++)
        if (measures[i].compared) {
            sv_table_column(t, measures[i].name, measures[i].unit, SV_TEXT_COLUMN);
            if (count > 1)
                sv_table_column(t, "change", "%", SV_TEXT_COLUMN);
        }
    for (size_t p = 0; p < count; p++) {
        sv_table_text(t, name_of(&all[p]));
        for (size_t i = 0; i < NUM_MEASURES; i++) {
            if (!measures[i].compared)
                continue;
            add_mean(t, sample(&all[p], &measures[i], numbers), measures[i].digits);
            if (count == 1)
                continue;
            sv_sample s = change(&all[p], &all[0], &measures[i], numbers);
            if (p == 0 || s.count == 0)
                sv_table_missing(t);
            else if (s.count > 1)
                sv_table_print(t, "%+.1f ± %.1f", s.mean, s.half);
            else
                sv_table_print(t, "%+.1f", s.mean);
        }
    }
    if (sim->o->num_seeds > 1)
        sv_table_note(t,
                      "± is half of the 95 %% confidence interval (Student's) over %llu seeds, "
                      "from %llu on; changes are of pairs with the same seed.",
                      (unsigned long long)sim->o->num_seeds,
                      (unsigned long long)sim->o->first_seed);
}

/* Ranks wait where there are ranks. */
static bool is_deed(const struct sim *sim, const struct measure *m)
{
    return !m->compared &&
           (sim->trace != NULL || m->offset != offsetof(sim_measures, waiting_share));
}

static void print_ends(sv_table *t, const sim_contender *c)
{
    char ends[100] = "";
    size_t length = 0;
    for (int e = 0; e <= SV_SIM_CANCELLED; e++)
        if (c->ends[e] > 0 && length < sizeof ends)
            length += (size_t)snprintf(ends + length, sizeof ends - length, "%s%llu %s",
                                       length > 0 ? ", " : "", (unsigned long long)c->ends[e],
                                       sim_end_name((sv_sim_end)e));
    sv_table_text(t, ends);
}

static void add_traffic(sv_tables *tables, const struct sim *sim, const sim_contender *all,
                        size_t count, double *numbers)
{
    sv_table *t = sv_table_new(tables, "traffic", "What packets did", "Means of all runs.");
    bool proven = false;
    sv_table_column(t, "policy", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "vls", NULL, 0);
    sv_table_column(t, "runs", NULL, SV_TEXT_COLUMN);
    for (size_t i = 0; i < NUM_MEASURES; i++)
        if (is_deed(sim, &measures[i]))
            sv_table_column(t, measures[i].name, measures[i].unit, measures[i].digits);
    sv_table_column(t, "took", "s", 2);
    for (size_t p = 0; p < count; p++) {
        sv_table_text(t, name_of(&all[p]));
        sv_table_number(t, all[p].vls);
        print_ends(t, &all[p]);
        for (size_t i = 0; i < NUM_MEASURES; i++)
            if (is_deed(sim, &measures[i]))
                sv_table_number(t,
                                measures[i].factor * sample(&all[p], &measures[i], numbers).mean);
        sv_table_number(t, all[p].seconds);
        proven = proven || (all[p].runs > 0 && all[p].reports[0].proven);
    }
    if (proven)
        sv_table_note(t, "Proven beforehand for policies that send packets by way of switches: "
                         "these cannot wait for each other for ever on their VLs.");
}

/* Only what at least one policy did. */
static void add_deeds(sv_tables *tables, const sim_contender *all, size_t count)
{
    double did[NUM_COUNTS] = {0}, any = 0;
    for (size_t i = 0; i < NUM_COUNTS; i++)
        for (size_t p = 0; p < count; p++)
            did[i] += count_of(&all[p], i) > 0 ? count_of(&all[p], i) : 0;
    for (size_t i = 0; i < NUM_COUNTS; i++)
        any += did[i];
    if (!(any > 0))
        return;
    sv_table *t = sv_table_new(tables, "deeds", "What policies did", "Means of all runs.");
    sv_table_column(t, "policy", NULL, SV_TEXT_COLUMN);
    for (size_t i = 0; i < NUM_COUNTS; i++)
        if (did[i] > 0)
            sv_table_column(t, counts[i].name, NULL, 1);
    for (size_t p = 0; p < count; p++) {
        sv_table_text(t, name_of(&all[p]));
        for (size_t i = 0; i < NUM_COUNTS; i++)
            if (did[i] > 0)
                sv_table_number(t, all[p].policy != NULL ? count_of(&all[p], i) : NAN);
    }
}

void sim_print_contenders(sv_text *out, const struct sim *sim, const sim_contender *all,
                          size_t count, bool partial)
{
    sv_ctx *ctx = out->ctx;
    sv_arena arena;
    sv_tables tables;
    sv_arena_init(&arena, ctx);
    sv_tables_init(&tables, &arena);
    double *numbers = SV_ARENA_NEW(&arena, double, sim->o->num_seeds);
    if (numbers != NULL) {
        add_changes(&tables, sim, all, count, numbers);
        add_traffic(&tables, sim, all, count, numbers);
        add_deeds(&tables, all, count);
    }
    sim_print_what(out, sim);
    if (partial)
        sv_text_print(out, "status         cancelled: this is what there is so far\n");
    for (size_t i = 0; i < tables.count; i++) {
        sv_text_print(out, "\n");
        sv_table_write_text(out, tables.at[i], 0);
    }
    if (out->status == SV_OK)
        out->status = numbers == NULL ? SV_NO_MEMORY : tables.status;
    sv_arena_release(&arena);
}

/* ---- for programs ---- */

static void json_number(sv_json *j, const char *key, double number)
{
    if (isfinite(number))
        sv_json_real(j, key, number, 6);
    else
        sv_json_null(j, key);
}

static void json_contender(sv_json *j, const sim_contender *c, const sim_contender *first,
                           double *numbers)
{
    sv_json_begin_object(j, NULL);
    sv_json_text(j, "policy", c->policy);
    sv_json_number(j, "vls", c->vls);
    if (c->policy != NULL && c->runs > 0)
        sv_json_bool(j, "proven", c->reports[0].proven);
    sv_json_number(j, "runs", c->runs);
    sv_json_begin_row(j, "ends", '{');
    for (int e = 0; e < SV_SIM_CANCELLED; e++)
        sv_json_number(j, sim_end_name((sv_sim_end)e), c->ends[e]);
    sv_json_end(j, '}');
    for (size_t i = 0; i < NUM_MEASURES; i++) {
        sv_sample own = sample(c, &measures[i], numbers);
        sv_json_begin_row(j, measures[i].key, '{');
        json_number(j, "mean", own.mean);
        json_number(j, "half", own.half);
        sv_sample against = change(c, first, &measures[i], numbers);
        json_number(j, "change_percent", c == first ? NAN : against.mean);
        json_number(j, "change_half", c == first ? NAN : against.half);
        sv_json_end(j, '}');
    }
    sv_json_begin_row(j, "did", '{');
    for (size_t i = 0; i < NUM_COUNTS; i++)
        json_number(j, counts[i].key, c->policy != NULL ? count_of(c, i) : NAN);
    sv_json_end(j, '}');
    json_number(j, "wall_seconds", c->seconds);
    sv_json_end(j, '}');
}

void sim_json_contenders(sv_text *out, const struct sim *sim, const sim_contender *all,
                         size_t count, bool partial)
{
    sv_json j;
    double *numbers = sv_alloc(out->ctx, sim->o->num_seeds, sizeof *numbers);
    if (numbers == NULL) {
        out->status = SV_NO_MEMORY;
        return;
    }
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "status", partial ? "cancelled" : "completed");
    sv_json_bool(&j, "partial", partial);
    sim_json_what(&j, sim);
    sv_json_number(&j, "first_seed", sim->o->first_seed);
    sv_json_number(&j, "seeds", sim->o->num_seeds);
    sv_json_begin_array(&j, "policies");
    for (size_t p = 0; p < count; p++)
        json_contender(&j, &all[p], &all[0], numbers);
    sv_json_end(&j, ']');
    sv_json_end(&j, '}');
    sv_release(out->ctx, numbers);
}
