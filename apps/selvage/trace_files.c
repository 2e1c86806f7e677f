/*
 * trace_files.c: selvage trace join, convert, make and check; and traces in and out of files.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "selvage/sim_shared.h"
#include "selvage/trace_shared.h"

/* ---- files ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

int trace_format_of(struct app *app, const char *name, const char *output, trace_format *format)
{
    static const struct {
        const char *name, *suffix;
        trace_format format;
    } known[] = {
        {"svt", ".svt", TRACE_SVT}, {"goal", ".goal", TRACE_GOAL}, {"text", ".txt", TRACE_TEXT}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (name != NULL ? strcmp(name, known[i].name) == 0 : ends_with(output, known[i].suffix)) {
            *format = known[i].format;
            return -1;
        }
    if (name != NULL)
        return app_usage_error(app, "--format: '%s' is none of svt, goal and text", name);
    return app_usage_error(
        app, "'%s' ends in none of .svt, .goal and .txt, and there is no --format", output);
}

/* A recording of a program that was killed has files with other names. */
static sv_status must_be_whole(struct app *app, const char *path)
{
    DIR *folder = opendir(path);
    sv_status status = SV_OK;
    if (folder == NULL) /* a file, or a matter for others */
        return SV_OK;
    for (const struct dirent *e = readdir(folder); e != NULL && status == SV_OK;
         e = readdir(folder))
        if (ends_with(e->d_name, ".svt.part"))
            status =
                sv_fail(app->ctx, SV_BAD_INPUT,
                        "%s/%s: this rank did not end: it was killed, or could not be recorded",
                        path, e->d_name);
    closedir(folder);
    return status;
}

static sv_status load_file(struct app *app, const char *path, sv_mpi_trace **trace)
{
    struct stat about;
    sv_status status = sv_mpi_load(app->ctx, path, trace);
    if (status != SV_IO || stat(path, &about) == 0 || errno != ENOENT)
        return status;
    return sv_fail(
        app->ctx, SV_IO,
        "cannot open '%s': %s (and it is no skeleton; selvage trace make help lists them)", path,
        strerror(ENOENT));
}

sv_status trace_load(struct app *app, const char *path, sv_mpi_trace **trace)
{
    if (sim_is_skeleton(path))
        return sv_mpi_skeleton_make(app->ctx, path, trace);
    SV_TRY(must_be_whole(app, path));
    SV_TRY(load_file(app, path, trace));
    if (strstr((*trace)->name, " (ended ") != NULL)
        sv_warn(app->ctx, "%s: '%s'", path, (*trace)->name);
    return SV_OK;
}

sv_status trace_in(struct app *app, const char *path, sv_status status)
{
    char why[900];
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    size_t length = strlen(name);
    if (status != SV_BAD_INPUT && status != SV_UNSUPPORTED && status != SV_INFEASIBLE)
        return status;
    snprintf(why, sizeof why, "%s", sv_ctx_message(app->ctx));
    if (strncmp(why, name, length) == 0 && why[length] == ':')
        return status; /* has its place */
    return sv_fail(app->ctx, status, "%s: %s", name, why);
}

static sv_status write_to(struct app *app, const sv_mpi_trace *trace, const sv_sink *sink,
                          trace_format format)
{
    switch (format) {
    case TRACE_SVT:
        return sv_mpi_write(app->ctx, trace, sink);
    case TRACE_GOAL:
        return sv_mpi_write_goal(app->ctx, trace, sink);
    case TRACE_TEXT:
        break;
    }
    return trace_write_text(app, trace, sink);
}

sv_status trace_save(struct app *app, const sv_mpi_trace *trace, const char *path,
                     trace_format format)
{
    sv_file file;
    SV_TRY(sv_file_create(&file, app->ctx, path));
    sv_status status = write_to(app, trace, &file.sink, format);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

void trace_note(struct app *app, const sv_mpi_trace *trace, const char *output)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < trace->num_ranks; i++)
        events += trace->ranks[i].length;
    sv_note(app->ctx, "%s: %u rank%s of '%s', %llu events", output, trace->num_ranks,
            trace->num_ranks == 1 ? "" : "s", trace->name, (unsigned long long)events);
}

/* ---- join, convert ---- */

struct convert {
    const char *input, *output, *format;
    bool smooth;
};

static int convert(struct app *app, const struct convert *o, trace_format format)
{
    sv_mpi_trace *trace = NULL;
    sv_status status = sv_file_try(app->ctx, o->output);
    if (status == SV_OK)
        status = trace_load(app, o->input, &trace);
    if (status == SV_OK && o->smooth)
        status = trace_smooth(app, &trace);
    if (status == SV_OK)
        status = trace_save(app, trace, o->output, format);
    if (status == SV_OK && strcmp(o->output, "-") != 0)
        trace_note(app, trace, o->output);
    sv_mpi_free(trace);
    return app_exit(app, status);
}

#define SMOOTH_HELP "computing between like events becomes their mean: smaller files"

int trace_join(struct app *app, int argc, char **argv)
{
    struct convert o = {.output = NULL};
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &o.output, "FILE", "the one file (required)"},
        {"smooth", 0, OPTION_FLAG, &o.smooth, NULL, SMOOTH_HELP},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "FOLDER -o FILE.svt [options]",
        "Join the files of a recording, one a rank, to one file, in which loops are found\n"
        "and written once. A folder in which a rank is missing or did not end is refused.",
        "selvage trace join recording -o lammps.svt", options};
    int code = app_parse(app, &usage, argc, argv, &o.input, 1, 1);
    if (code >= 0)
        return code;
    if (o.output == NULL)
        return app_usage_error(app, "where to? (--output FILE)");
    return convert(app, &o, TRACE_SVT);
}

int trace_convert(struct app *app, int argc, char **argv)
{
    struct convert o = {.output = NULL};
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &o.output, "FILE", "where to (default: text to the terminal)"},
        {"format", 0, OPTION_TEXT, &o.format, "F",
         "svt, goal or text (default: by the suffix .svt, .goal, .txt)"},
        {"smooth", 0, OPTION_FLAG, &o.smooth, NULL, SMOOTH_HELP},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "TRACE [-o FILE] [options]",
        "Write a trace in another format. text is one line an event (see the manual), goal\n"
        "a schedule with collectives as their messages.",
        "selvage trace convert traces.otf2 -o program.svt\n"
        "selvage trace convert program.svt | grep '^5 '",
        options};
    trace_format format = TRACE_TEXT;
    int code = app_parse(app, &usage, argc, argv, &o.input, 1, 1);
    if (code < 0 && (o.output != NULL || o.format != NULL))
        code = trace_format_of(app, o.format, o.output != NULL ? o.output : "-", &format);
    if (code >= 0)
        return code;
    if (o.output == NULL)
        o.output = "-";
    return convert(app, &o, format);
}

/* ---- make ---- */

static int list_skeletons(struct app *app)
{
    sv_text out;
    sv_status status = app_print_begin(app, &out);
    if (status != SV_OK)
        return app_exit(app, status);
    const sv_mpi_skeleton *s;
    for (size_t i = 0; (s = sv_mpi_skeleton_at(i)) != NULL; i++)
        sv_text_print(&out, "%-10s %s\n%-10s %s\n%-10s after: %s\n", s->name, s->summary, "",
                      s->keys, "", s->source);
    return app_exit(app, app_print_end(app, &out));
}

int trace_make(struct app *app, int argc, char **argv)
{
    const char *spec = NULL, *output = NULL, *name = NULL;
    const app_option options[] = {{"output", 'o', OPTION_TEXT, &output, "FILE", "where to"},
                                  {"format", 0, OPTION_TEXT, &name, "F",
                                   "svt, goal or text (default: by the suffix .svt, .goal, .txt)"},
                                  {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "SPEC -o FILE [options]",
        "Write the communication of a program that was not run: its skeleton.\n"
        "'selvage trace make help' lists what there is.",
        "selvage trace make lu:class=A,ranks=64 -o lu.svt\nselvage trace make help", options};
    trace_format format = TRACE_SVT;
    int code = app_parse(app, &usage, argc, argv, &spec, 1, 1);
    if (code >= 0)
        return code;
    if (strcmp(spec, "help") == 0)
        return list_skeletons(app);
    if (output == NULL)
        return app_usage_error(app, "where to? (--output FILE)");
    code = trace_format_of(app, name, output, &format);
    if (code >= 0)
        return code;
    sv_mpi_trace *trace = NULL;
    sv_status status = sv_file_try(app->ctx, output);
    if (status == SV_OK)
        status = sv_mpi_skeleton_make(app->ctx, spec, &trace);
    if (status == SV_OK)
        status = trace_save(app, trace, output, format);
    if (status == SV_OK && strcmp(output, "-") != 0)
        trace_note(app, trace, output);
    sv_mpi_free(trace);
    return app_exit(app, status);
}

/* ---- check ---- */

int trace_check(struct app *app, int argc, char **argv)
{
    const char *input = NULL;
    bool json = false;
    const app_option options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "print the answer as JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "TRACE [options]",
        "Prove that a trace is one: peers, groups and requests are there, every request is\n"
        "waited for once, ranks of a group have the same collectives in the same order,\n"
        "every receive has a message. Exit 0: it is; 3: it is not, and where.",
        "selvage trace check lammps.svt", options};
    int code = app_parse(app, &usage, argc, argv, &input, 1, 1);
    if (code >= 0)
        return code;
    sv_mpi_trace *trace = NULL;
    sv_text out;
    sv_status status = trace_load(app, input, &trace);
    if (status == SV_OK)
        status = trace_in(app, input, sv_mpi_check(app->ctx, trace));
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        if (json)
            sv_text_print(&out, "{\"sound\": true, \"ranks\": %u}\n", trace->num_ranks);
        else
            sv_text_print(&out, "sound: %u rank%s of %s\n", trace->num_ranks,
                          trace->num_ranks == 1 ? "" : "s", trace->name);
        status = app_print_end(app, &out);
    }
    sv_mpi_free(trace);
    return app_exit(app, status);
}
