/*
 * trace_info.c: selvage trace info: what sv_mpi_summarise finds, for people and as JSON.
 *
 * Calls are those of the programs (Table 2.1 of the thesis of Núñez Castillo, 2013); messages count
 * collectives as the messages that replaying makes of them; phases are those of its Table 2.2
 * (docs/traces.md has the rule).
 */
#include <string.h>

#include "base/file.h"
#include "selvage/trace_shared.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Calls, then those that begin a collective (MPI_Ibarrier …). */
enum { CALLS = 2 * SV_CALL_COUNT };

static uint64_t count_of(const sv_mpi_summary *s, unsigned i)
{
    return i < SV_CALL_COUNT ? s->calls[i] : s->begun[i - SV_CALL_COUNT];
}

static const char *name_of(unsigned i)
{
    return i < SV_CALL_COUNT ? sv_mpi_call_name(i) : sv_mpi_begun_name(i - SV_CALL_COUNT);
}

static uint64_t all_calls(const sv_mpi_summary *s)
{
    uint64_t all = 0;
    for (unsigned i = 1; i < CALLS; i++)
        all += count_of(s, i);
    return all;
}

/* The next of the calls with the most before the rest; SV_CALL_NONE: there is none left. */
static unsigned next_call(const sv_mpi_summary *s, uint64_t *told)
{
    unsigned best = SV_CALL_NONE;
    for (unsigned i = 1; i < CALLS; i++)
        if (count_of(s, i) > 0 && (*told >> i & 1) == 0 &&
            (best == SV_CALL_NONE || count_of(s, i) > count_of(s, best)))
            best = i;
    *told |= UINT64_C(1) << best;
    return best;
}

/* Sizes of bucket i of the summary. */
static void bucket(unsigned i, uint64_t *min, uint64_t *max)
{
    *min = i == 0 ? 0 : UINT64_C(1) << (i - 1);
    *max = i == 0 ? 0 : *min + (*min - 1);
}

/* ---- text ---- */

static void print_calls(sv_text *out, const sv_mpi_summary *s)
{
    uint64_t all = all_calls(s), told = 0;
    sv_text_print(out, "\ncalls             %llu\n", (unsigned long long)all);
    for (unsigned i = next_call(s, &told); i != SV_CALL_NONE; i = next_call(s, &told))
        sv_text_print(out, "  %-18s %12llu  %6.2f %%\n", name_of(i),
                      (unsigned long long)count_of(s, i), percent(count_of(s, i), all));
}

static void print_sizes(sv_text *out, const sv_mpi_summary *s)
{
    uint64_t min, max;
    sv_text_print(out, "\nbytes a message\n");
    for (unsigned i = 0; i <= 64; i++) {
        if (s->sizes[i] == 0)
            continue;
        bucket(i, &min, &max);
        sv_text_print(out, "  %10llu to %-10llu %10llu  %6.2f %%\n", (unsigned long long)min,
                      (unsigned long long)max, (unsigned long long)s->sizes[i],
                      percent(s->sizes[i], s->messages));
    }
}

static void print_phases(sv_text *out, const sv_mpi_summary *s)
{
    sv_text_print(out, "\n   phase    first   weight   messages        bytes\n");
    for (uint32_t i = 0; i < s->num_phases; i++) {
        const sv_mpi_phase *p = &s->phases[i];
        sv_text_print(out, "%8u %8llu %8llu %10llu %12llu%s%s\n", i, (unsigned long long)p->first,
                      (unsigned long long)p->weight, (unsigned long long)p->messages,
                      (unsigned long long)p->bytes, p->relevant ? "  relevant" : "",
                      p->collective ? "  collective" : "");
    }
}

void trace_print_summary(sv_text *out, const sv_mpi_trace *trace, const sv_mpi_summary *s,
                         bool phases)
{
    sv_text_print(out, "program           %s\n", trace->name);
    sv_text_print(out, "ranks             %u\n", s->ranks);
    sv_text_print(out, "communicators     %u\n", trace->num_groups);
    sv_text_print(out, "events            %llu\n", (unsigned long long)s->events);
    sv_text_print(out, "messages          %llu of %llu bytes (collectives as theirs)\n",
                  (unsigned long long)s->messages, (unsigned long long)s->bytes);
    sv_text_print(out, "computing         %.6f s a rank\n",
                  s->ranks > 0 ? (double)s->compute_ns / 1e9 / s->ranks : 0);
    sv_text_print(out, "degree            mean %.2f, most %u (point to point)\n", s->degree_mean,
                  s->degree_max);
    sv_text_print(out, "phases            %u, %u relevant with weight %llu\n", s->num_phases,
                  s->relevant_phases, (unsigned long long)s->relevant_weight);
    print_calls(out, s);
    print_sizes(out, s);
    if (phases)
        print_phases(out, s);
}

/* ---- JSON ---- */

static void json_calls(sv_json *j, const sv_mpi_summary *s)
{
    uint64_t all = all_calls(s), told = 0;
    sv_json_number(j, "calls_all", all);
    sv_json_begin_array(j, "calls");
    for (unsigned i = next_call(s, &told); i != SV_CALL_NONE; i = next_call(s, &told)) {
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "call", name_of(i));
        sv_json_number(j, "count", count_of(s, i));
        sv_json_real(j, "percent", percent(count_of(s, i), all), 4);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void json_sizes(sv_json *j, const sv_mpi_summary *s)
{
    uint64_t min, max;
    sv_json_begin_array(j, "sizes");
    for (unsigned i = 0; i <= 64; i++) {
        if (s->sizes[i] == 0)
            continue;
        bucket(i, &min, &max);
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "min", min);
        sv_json_number(j, "max", max);
        sv_json_number(j, "messages", s->sizes[i]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void json_phases(sv_json *j, const sv_mpi_summary *s)
{
    sv_json_begin_array(j, "phase_list");
    for (uint32_t i = 0; i < s->num_phases; i++) {
        const sv_mpi_phase *p = &s->phases[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "first", p->first);
        sv_json_number(j, "weight", p->weight);
        sv_json_number(j, "messages", p->messages);
        sv_json_number(j, "bytes", p->bytes);
        sv_json_bool(j, "relevant", p->relevant);
        sv_json_bool(j, "collective", p->collective);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

void trace_json_summary(sv_text *out, const sv_mpi_trace *trace, const sv_mpi_summary *s,
                        bool phases)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "program", trace->name);
    sv_json_number(&j, "ranks", s->ranks);
    sv_json_number(&j, "communicators", trace->num_groups);
    sv_json_number(&j, "events", s->events);
    sv_json_number(&j, "messages", s->messages);
    sv_json_number(&j, "bytes", s->bytes);
    sv_json_number(&j, "compute_ns", s->compute_ns);
    sv_json_real(&j, "degree_mean", s->degree_mean, 4);
    sv_json_number(&j, "degree_max", s->degree_max);
    sv_json_number(&j, "phases", s->num_phases);
    sv_json_number(&j, "relevant_phases", s->relevant_phases);
    sv_json_number(&j, "relevant_weight", s->relevant_weight);
    json_calls(&j, s);
    json_sizes(&j, s);
    if (phases)
        json_phases(&j, s);
    sv_json_end(&j, '}');
}

/* ---- the matrix ---- */

sv_status trace_write_matrix(struct app *app, const sv_mpi_summary *s, const char *path)
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create(&file, app->ctx, path));
    sv_text_init(&out, app->ctx, &file.sink);
    sv_text_print(&out, "from,to,messages,bytes,point_to_point_bytes\n");
    for (size_t from = 0; from < s->ranks; from++)
        for (size_t to = 0; to < s->ranks; to++) {
            size_t at = from * s->ranks + to;
            if (s->all_messages[at] > 0)
                sv_text_print(&out, "%zu,%zu,%llu,%llu,%llu\n", from, to,
                              (unsigned long long)s->all_messages[at],
                              (unsigned long long)s->all_bytes[at],
                              (unsigned long long)s->point_bytes[at]);
        }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

/* ---- the verb ---- */

static sv_status tell(struct app *app, const sv_mpi_trace *trace, const sv_mpi_summary *summary,
                      bool phases, bool json)
{
    sv_text out;
    SV_TRY(app_print_begin(app, &out));
    (json ? trace_json_summary : trace_print_summary)(&out, trace, summary, phases);
    return app_print_end(app, &out);
}

int trace_info(struct app *app, int argc, char **argv)
{
    const char *input = NULL, *matrix = NULL;
    bool json = false, phases = false;
    const app_option options[] = {
        {"matrix", 0, OPTION_TEXT, &matrix, "FILE", "who sends how much to whom, as CSV"},
        {"phases", 0, OPTION_FLAG, &phases, NULL, "tell every phase"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "print it as JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "TRACE [options]",
        "What is in a trace: calls and their shares, messages and their sizes (collectives\n"
        "as theirs), to how many others a rank sends, phases that come again.",
        "selvage trace info lammps.svt --phases\n"
        "selvage trace info lammps.svt --matrix matrix.csv --json",
        options};
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    const char *const outputs[] = {"-", matrix};
    if (code < 0)
        code = app_one_stream(app, "output", outputs, 2);
    if (code < 0 && app_same_file(matrix, input))
        code = app_usage_error(app, "--matrix: '%s' is the trace", matrix);
    if (code >= 0)
        return code;
    sv_mpi_trace *trace = NULL;
    sv_mpi_summary *summary = NULL;
    sv_status status = matrix != NULL ? sv_file_try(app->ctx, matrix) : SV_OK;
    if (status == SV_OK)
        status = trace_load(app, input, &trace);
    if (status == SV_OK)
        status = trace_in(app, input, sv_mpi_summarise(app->ctx, trace, &summary));
    if (status == SV_OK && matrix != NULL)
        status = trace_write_matrix(app, summary, matrix);
    if (status == SV_OK)
        status = tell(app, trace, summary, phases, json);
    sv_mpi_summary_free(summary);
    sv_mpi_free(trace);
    return app_exit(app, status);
}
