/*
 * cmd_study.c: selvage study NAME: runs what a study lacks, and tells what it says.
 */
#include "selvage/app.h"

#ifndef SELVAGE_SQLITE

int cmd_study(struct app *app, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return app_exit(app, sv_fail(app->ctx, SV_UNSUPPORTED,
                                 "this selvage was built without SQLite, which studies need"));
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selvage/study_shared.h"
#include "selvage/study_tables.h"

/* ---- options ---- */

/* The studies and what they do, for --help. */
static const char SUMMARY[] =
    "Runs a study: every fabric with every amount of failures, seed, engine and traffic is a\n"
    "cell; results go into a database, and what is there already is not run again. NAME:\n\n"
    "  run          cells as given, no answer at the end\n"
    "  usability    which engine routes which fabric without deadlocks\n"
    "  degradation  throughput as parts fail: means, regressions, when to change the engine\n"
    "  lost         routes lost until tables are computed anew\n"
    "  VLs        VLs that engines need\n"
    "  balance      forwarding index, path lengths, fallbacks\n"
    "  runtime      seconds, and which engine can\n"
    "  ebb          effective bisection bandwidth\n"
    "  lifetime     years until throughput falls below a threshold\n"
    "  compare A B  two engines of a database (nue, nue/4), two databases, or two directories\n"
    "               of tables, which are run first; cell by cell\n"
    "  summary      what a database says, in words\n"
    "  merge FILE…  adds other databases to --db\n\n"
    "Lists: 0,1%,3% and 1..10; options may be repeated. Specs may have {1..5} or {a,b}.";

static int parse(struct app *app, struct study_options *o, int argc, char **argv)
{
    const app_option options[] = {
        {"db", 'd', OPTION_TEXT, &o->database, "FILE", "the database (default study.db)"},
        {"fabric", 'f', OPTION_LIST, &o->fabrics, "FABRIC", "a spec or a file"},
        {"links", 0, OPTION_LIST, &o->links, "LIST", "failed links: numbers or percentages"},
        {"switches", 0, OPTION_LIST, &o->switches, "LIST", "failed switches"},
        {"both", 0, OPTION_LIST, &o->both, "LIST", "failed links, and switches by --ratio"},
        {"ratio", 0, OPTION_TEXT, &o->ratio, "S:L", "S switches for every L links (1:13)"},
        {"years", 0, OPTION_LIST, &o->years, "LIST", "failures after so many years, by --model"},
        {"model", 0, OPTION_TEXT, &o->model, "MODEL", "of failures (see selvage faults)"},
        {"state", 0, OPTION_LIST, &o->states, "FILE",
         "the fabric as it was found: what the plan has and it lacks has failed"},
        {"seeds", 0, OPTION_LIST, &o->seeds, "LIST", "of the failures"},
        {"engine", 'e', OPTION_LIST, &o->engines, "LIST",
         "nue,dfsssp,assign=weakest (default all but sar; options after their engine)"},
        {"tables", 0, OPTION_LIST, &o->tables, "DIR", "tables as they are, instead of engines"},
        {"vls", 0, OPTION_LIST, &o->vls, "LIST", "VLs (0: as many as links offer)"},
        {"traffic", 't', OPTION_LIST, &o->traffic, "SPEC", "as for sim (default exchange)"},
        {"message", 'm', OPTION_LIST, &o->messages, "LIST", "bytes (default: one MTU)"},
        {"load", 0, OPTION_LIST, &o->loads, "LIST", "offered, up to 1 (0: as fast as it goes)"},
        {"profile", 'p', OPTION_TEXT, &o->profile, "NAME", "as for sim; qdr,ways=2 sets a number"},
        {"no-sim", 0, OPTION_FLAG, &o->no_sim, NULL, "do not simulate"},
        {"bound", 0, OPTION_FLAG, &o->bound, NULL, "the bound of the forwarding index, too"},
        {"ebb", 0, OPTION_NUMBER, &o->ebb, "N", "bisection bandwidth by so many matchings"},
        {"lost", 0, OPTION_TEXT, &o->lost, "SPEC", "lost routes: links/1,2,5/100 (100 trials)"},
        {"keep", 0, OPTION_TEXT, &o->keep, "WHAT",
         "loads and timelines for the page: first (seed; default), all, none"},
        {"cell-seconds", 0, OPTION_TEXT, &o->seconds, "S", "a cell may take so long"},
        {"cell-memory", 0, OPTION_TEXT, &o->memory, "B", "and so much memory (4GiB)"},
        {"retry", 0, OPTION_FLAG, &o->retry, NULL, "cells again that came to a limit or an error"},
        {"stop-after", 0, OPTION_NUMBER, &o->stop_after, "N", "run at most so many cells now"},
        {"part", 0, OPTION_TEXT, &o->part, "I/N", "only the I-th of N parts of the cells"},
        {"slurm", 0, OPTION_NUMBER, &o->slurm, "N", "print a script for an array of N jobs"},
        {"dry-run", 'n', OPTION_FLAG, &o->dry_run, NULL, "print the cells, run nothing"},
        {"no-answer", 'q', OPTION_FLAG, &o->quiet, NULL, "run cells, print no tables"},
        {"threshold", 0, OPTION_TEXT, &o->threshold, "F",
         "lifetime: the share of throughput to keep (default 0.8)"},
        {"table", 0, OPTION_TEXT, &o->table, "NAME", "print only this table of the answer"},
        {"csv", 0, OPTION_FLAG, &o->csv, NULL, "print tables as CSV"},
        {"json", 'j', OPTION_FLAG, &o->json, NULL, "print tables as JSON"},
        {0}};
    const app_usage usage = {
        "NAME [options]", SUMMARY,
        "selvage study degradation -f torus:4x4x3,hosts=4 -e nue,dfsssp --links 0,5% --seeds 1..3 "
        "--db study.db\n"
        "selvage study compare nue dfsssp --db study.db\n"
        "selvage study usability -f kary:k=4,n=2,hosts=4 -f torus:5x5 --db use.db",
        options};
    const char *words[APP_MAX_LIST] = {NULL};
    int code = app_parse(app, &usage, argc, argv, words, 1, APP_MAX_LIST);
    if (code >= 0)
        return code;
    o->name = words[0];
    for (int i = 1; i < APP_MAX_LIST && words[i] != NULL; i++)
        o->words[o->num_words++] = words[i];
    return -1;
}

static int check(struct app *app, const struct study_options *o, const study_kind *kind)
{
    if (kind == NULL)
        return study_kind_unknown(app, o->name);
    bool compares = strcmp(kind->name, "compare") == 0, merges = strcmp(kind->name, "merge") == 0;
    if (!compares && !merges && o->num_words > 0)
        return app_usage_error(app, "what is '%s'? fabrics are given with --fabric", o->words[0]);
    if (compares && o->num_words != 2)
        return app_usage_error(app, "compare takes two: A B");
    if (compares && o->tables.length > 0)
        return app_usage_error(app, "compare takes tables as its two words, not with --tables");
    if (merges && o->num_words == 0)
        return app_usage_error(app, "merge takes the databases to add");
    char *end;
    double share = o->threshold != NULL ? strtod(o->threshold, &end) : 1;
    if (o->threshold != NULL && (*end != 0 || !(share > 0 && share <= 1)))
        return app_usage_error(app, "--threshold: '%s' is not a share up to 1", o->threshold);
    if (o->json && o->csv)
        return app_usage_error(app, "--json and --csv are two answers");
    if (o->slurm > 100000)
        return app_usage_error(app, "--slurm: at most 100000 jobs");
    if (o->slurm > 0 && o->part != NULL)
        return app_usage_error(app, "--slurm gives each job its --part");
    return -1;
}

static bool is_file(const char *word)
{
    struct stat about;
    return stat(word, &about) == 0 && S_ISREG(about.st_mode);
}

/* Whether both words are tables rather than databases or engines. */
static bool has_tables(const struct study_options *o)
{
    for (int i = 0; i < 2; i++) {
        struct stat about;
        size_t length = strlen(o->words[i]);
        bool svr = length > 4 && strcmp(o->words[i] + length - 4, ".svr") == 0;
        if (stat(o->words[i], &about) != 0 || !(S_ISDIR(about.st_mode) || svr))
            return false;
    }
    return true;
}

/* ---- running ---- */

static sv_status print_plan(struct app *app, const struct study_options *o, const sv_study *study)
{
    sv_text out;
    SV_TRY(app_print_begin(app, &out));
    if (o->slurm > 0)
        study_print_slurm(&out, o, sv_study_words(study));
    for (uint32_t i = 0; o->slurm == 0 && i < sv_study_cells(study); i++)
        sv_text_print(&out, "%s\n", sv_study_key(study, i));
    return app_print_end(app, &out);
}

/* What was done, for people who watch; the answer goes to standard output. */
static void tell(const struct study_options *o, const sv_study_outcome *found, uint32_t cells,
                 bool stopped)
{
    fprintf(stderr, "selvage: %u of %u cells run in %.1f s", found->ran, cells, found->seconds);
    if (found->others > 0)
        fprintf(stderr, ", %u by another study", found->others);
    if (found->before > 0)
        fprintf(stderr, ", %u were in %s", found->before, o->database);
    if (found->not_ok > 0)
        fprintf(stderr, ", %u not ok", found->not_ok);
    fprintf(stderr, "%s\n", stopped ? "; stopped, the same command goes on" : "");
}

/* Runs cells; -1 to go on with the answer, or an exit code. */
static int run(struct app *app, const struct study_options *o, const sv_study *study,
               const sv_study_limits *limits)
{
    struct study_bar bar = {.app = app};
    sv_study_run run = {.database = o->database,
                        .limits = *limits,
                        .retry = o->retry,
                        .user = &bar,
                        .progress = study_bar_show};
    sv_study_outcome found;
    int code = study_team_open(app, &run.team);
    if (code >= 0)
        return code;
    if (run.team != NULL && limits->threads == 0)
        run.limits.threads = study_team_threads(run.team);
    sv_status status = sv_study_run_cells(app->ctx, study, &run, &found);
    bool leads = run.team == NULL || run.team->rank == 0;
    study_bar_clear(&bar);
    if (leads && (status == SV_OK || status == SV_CANCELLED))
        tell(o, &found, sv_study_cells(study), status == SV_CANCELLED);
    study_team_close(run.team);
    if (status == SV_CANCELLED)
        return EXIT_CANCELLED;
    if (status != SV_OK)
        return app_exit(app, status);
    return leads ? -1 : EXIT_YES;
}

/* The number of a plan in the database. */
static sv_status find_plan(struct app *app, struct study_options *o, const char *words)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *ask = NULL;
    SV_TRY(sv_answers_open(app->ctx, o->database, &db));
    if (sqlite3_prepare_v2(db, "SELECT id FROM plan WHERE words = ?", -1, &ask, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(ask, 1, words, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW)
        o->plan = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    sqlite3_close(db);
    return SV_OK;
}

static int plan_and_run(struct app *app, struct study_options *o, const study_kind *kind)
{
    sv_study_request request;
    sv_study_limits limits;
    sv_study *study = NULL;
    int code = study_request(app, o, kind, &request, &limits);
    if (code >= 0)
        return code;
    sv_status status = sv_study_new(app->ctx, &request, &study);
    if (status != SV_OK)
        return app_exit(app, status);
    if (o->dry_run || o->slurm > 0)
        code = app_exit(app, print_plan(app, o, study));
    else
        code = run(app, o, study, &limits);
    if (code < 0 && !o->quiet && find_plan(app, o, sv_study_words(study)) != SV_OK)
        code = app_exit(app, sv_ctx_status(app->ctx));
    sv_study_free(study);
    return code;
}

static int merge(struct app *app, const struct study_options *o)
{
    for (int i = 0; i < o->num_words; i++) {
        sv_status status = sv_study_merge(app->ctx, o->database, o->words[i]);
        if (status != SV_OK)
            return app_exit(app, status);
    }
    return EXIT_YES;
}

/* Rates of the model, for lifetimes from regressions. */
static int rates(struct app *app, const char *text, sv_answer_options *answer)
{
    sv_failure_model model;
    if (sv_failure_model_parse(app->ctx, text, &model) != SV_OK)
        return app_usage_error(app, "--model: %s", sv_ctx_message(app->ctx));
    answer->links_a_year = model.of[SV_FAILURE_LINK].annual;
    answer->switches_a_year = model.of[SV_FAILURE_SWITCH].annual;
    return -1;
}

static int answer(struct app *app, const struct study_options *o, const study_kind *kind)
{
    struct study_print_options print = {.answer.plan = o->plan,
                                        .table = o->table,
                                        .format = o->json  ? STUDY_JSON
                                                  : o->csv ? STUDY_CSV
                                                           : STUDY_TEXT};
    const char *model = o->model != NULL ? o->model : kind->model;
    if (model != NULL && rates(app, model, &print.answer) >= 0)
        return EXIT_USAGE;
    if (o->threshold != NULL)
        print.answer.threshold = strtod(o->threshold, NULL);
    const char *database = o->database;
    if (o->num_words == 2 && is_file(o->words[0]) && is_file(o->words[1])) {
        database = o->words[0];
        print.other = o->words[1];
    } else if (o->num_words == 2) {
        print.answer.a = o->words[0];
        print.answer.b = o->words[1];
    }
    return study_print(app, database, kind->answer, &print);
}

/* compare DIR DIR: cells with these tables first. */
static int compare_tables(struct app *app, struct study_options *o, const study_kind *kind)
{
    static char names[2][4200];
    for (int i = 0; i < 2; i++) {
        o->tables.at[o->tables.length++] = o->words[i];
        snprintf(names[i], sizeof names[i], "tables %s", o->words[i]);
    }
    int code = plan_and_run(app, o, kind);
    for (int i = 0; i < 2; i++)
        o->words[i] = names[i];
    return code;
}

int cmd_study(struct app *app, int argc, char **argv)
{
    struct study_options o = {.database = "study.db"};
    int code = parse(app, &o, argc, argv);
    if (code >= 0)
        return code;
    const study_kind *kind = study_kind_named(o.name);
    code = check(app, &o, kind);
    if (code < 0 && strcmp(kind->name, "merge") == 0)
        return merge(app, &o);
    if (code < 0 && !kind->no_run)
        code = plan_and_run(app, &o, kind);
    else if (code < 0 && strcmp(kind->name, "compare") == 0 && has_tables(&o))
        code = compare_tables(app, &o, kind);
    if (code >= 0 || o.quiet || kind->answer == NULL)
        return code >= 0 ? code : EXIT_YES;
    return answer(app, &o, kind);
}

#endif
