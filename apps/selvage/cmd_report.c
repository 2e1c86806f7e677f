/*
 * cmd_report.c: selvage report DB: what a study found, as one page for a browser (-o page.html), or
 * as tables on standard output (--text, --csv, --json).
 */
#include <selvage/experimental/report.h>
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"

#ifdef SELVAGE_SQLITE
#include "selvage/study_tables.h"

struct wanted {
    const char *database, *output, *title;
    bool text, csv, json;
    uint64_t megabytes;
    const app_list *pictures;
};

static sv_status write_page(struct app *app, const struct wanted *w)
{
    sv_report_request request = {.database = w->database,
                                 .title = w->title,
                                 .pictures = w->pictures->at,
                                 .num_pictures = w->pictures->length,
                                 .max_bytes = w->megabytes * 1000000};
    sv_file file;
    SV_TRY(sv_file_create(&file, app->ctx, w->output));
    sv_status status = sv_report_write(app->ctx, &request, &file.sink);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

static int run(struct app *app, const struct wanted *w)
{
    int forms = w->text + w->csv + w->json;
    if (forms + (w->output != NULL) > 1)
        return app_usage_error(app, "-o, --text, --csv and --json exclude each other");
    if (forms == 0 && w->output == NULL)
        return app_usage_error(app, "say where the page goes (-o page.html), or --text");
    if (w->megabytes > 4000)
        return app_usage_error(app, "--megabytes: at most 4000");
    if (forms > 0 && w->pictures->length > 0)
        return app_usage_error(app, "--picture goes with -o");
    if (forms == 0)
        return app_exit(app, write_page(app, w));
    struct study_print_options options = {.format = w->csv    ? STUDY_CSV
                                                    : w->json ? STUDY_JSON
                                                              : STUDY_TEXT};
    return study_print(app, w->database, "all", &options);
}
#endif

int cmd_report(struct app *app, int argc, char **argv)
{
    const char *output = NULL, *title = NULL, *words[1];
    bool text = false, csv = false, json = false;
    uint64_t megabytes = 0;
    app_list pictures = {0};
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "FILE", "write the page there"},
        {"title", 0, OPTION_TEXT, &title, "TEXT", "its title"},
        {"megabytes", 0, OPTION_NUMBER, &megabytes, "N",
         "how large it may become (default 10); drawings that do not fit are left out"},
        {"picture", 0, OPTION_LIST, &pictures, "FILE.svg",
         "a latency map (sim --latency-map) that is shown on it, too"},
        {"text", 't', OPTION_FLAG, &text, NULL, "print the tables instead"},
        {"csv", 0, OPTION_FLAG, &csv, NULL, "print them as CSV"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "print them as JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "DATABASE -o FILE | DATABASE --text",
        "What a study found: one page that a browser opens from disk, with the recommendation and\n"
        "its evidence, charts, and the fabrics drawn with their loads; or the same tables as text.",
        "selvage report study.db -o page.html\n"
        "selvage report study.db -o page.html --picture policies.svg\n"
        "selvage report study.db --text | less",
        options};
    int code = app_parse(app, &usage, argc, argv, words, 1, 1);
    if (code >= 0)
        return code;
#ifdef SELVAGE_SQLITE
    struct wanted wanted = {words[0], output, title, text, csv, json, megabytes, &pictures};
    return run(app, &wanted);
#else
    return app_exit(app, sv_fail(app->ctx, SV_UNSUPPORTED,
                                 "this selvage was built without SQLite, and reads no studies"));
#endif
}
