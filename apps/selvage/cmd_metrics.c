/*
 * cmd_metrics.c: selvage metrics DIR [DIR]: how evenly tables load the channels, how long paths
 * are, what they do for jobs, in failures, and for random traffic.
 */
#include <string.h>

#include "selvage/measured.h"

/* "1,2,5": ascending numbers; false if it is anything else. */
static bool parse_numbers(const char *text, struct metrics_options *o)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    for (o->num_numbers = 0; o->num_numbers < METRICS_MAX_NUMBERS;) {
        uint64_t number;
        if (!sv_scan_number(&scan, UINT32_MAX - 1, &number))
            return false;
        if (o->num_numbers > 0 && number <= o->numbers[o->num_numbers - 1])
            return false;
        o->numbers[o->num_numbers++] = (uint32_t)number;
        if (sv_scan_done(&scan))
            return true;
        if (!sv_scan_char(&scan, ','))
            return false;
    }
    return false;
}

/* What options mean; -1 or an exit code. */
static int check_options(struct app *app, struct metrics_options *o, int sets)
{
    if (o->lost == NULL && (o->failures != NULL || o->trials != METRICS_NOT_GIVEN))
        return app_usage_error(app, "--failures and --trials go with --lost");
    if (o->lost != NULL && strcmp(o->lost, "links") != 0 && strcmp(o->lost, "switches") != 0)
        return app_usage_error(app, "--lost: '%s' is neither links nor switches", o->lost);
    o->lost_switches = o->lost != NULL && strcmp(o->lost, "switches") == 0;
    if (o->lost != NULL && !parse_numbers(o->failures != NULL ? o->failures : "1,2,5,10", o))
        return app_usage_error(app, "--failures: '%s' is not a list of ascending numbers",
                               o->failures);
    o->trials = o->trials == METRICS_NOT_GIVEN ? 100 : o->trials;
    const app_limit limits[] = {{"histogram", o->histogram, 1, 1000},
                                {"trials", o->trials, 1, 1000000},
                                {"bisection", o->bisection, 1, 10000000}};
    int code = app_check_limits(app, limits, 3);
    if (code >= 0)
        return code;
    if (sets == 2 && o->jobs != NULL && strcmp(o->jobs, "-") == 0)
        return app_usage_error(app, "--jobs: two directories cannot both read standard input");
    if (o->job != NULL && o->jobs == NULL)
        return app_usage_error(app, "--job goes with --jobs");
    if (sets == 2 && o->links != NULL)
        return app_usage_error(app, "--links: of one directory only");
    const char *const outputs[] = {o->heat, o->links, o->json ? "-" : NULL};
    code = app_two_files(app, "heat", o->heat, "links", o->links);
    return code >= 0 ? code : app_one_stream(app, "output", outputs, 3);
}

/* What is always told. */
static sv_status measure_basics(struct app *app, struct metrics *m)
{
    sv_verification *found = NULL;
    const sv_verify_options quick = {.quick = true};
    SV_TRY(app_load_tables(app, m->name, &m->f, &m->r));
    m->loads = sv_alloc(app->ctx, m->f->num_channels, sizeof *m->loads);
    if (m->loads == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_routes_load(app->ctx, m->f, m->r, m->loads, &m->load));
    SV_TRY(sv_routes_bound(app->ctx, m->f, m->r, &m->bound));
    SV_TRY(sv_routes_stretch(app->ctx, m->f, m->r, &m->stretch));
    SV_TRY(sv_routes_vls(app->ctx, m->f, m->r, &m->vls));
    SV_TRY(sv_verify(app->ctx, m->f, m->r, &quick, &found));
    m->vls_used = found->vls_used;
    sv_verification_free(found);
    return SV_OK;
}

/* Leaves one job in the map. */
static sv_status choose_job(struct app *app, const struct metrics_options *o, struct metrics *m)
{
    m->map = m->read;
    for (uint32_t i = 0; o->job != NULL && i < m->read->num_jobs; i++)
        if (strcmp(m->read->jobs[i].name, o->job) == 0) {
            m->one = *m->read;
            m->one.jobs = &m->read->jobs[i];
            m->one.num_jobs = 1;
            m->one.num_terminals = m->read->jobs[i].num_terminals;
            m->map = &m->one;
        }
    if (o->job != NULL && m->map == m->read)
        return sv_fail(app->ctx, SV_BAD_INPUT, "%s: there is no job '%.200s'", o->jobs, o->job);
    return SV_OK;
}

static sv_status measure_jobs(struct app *app, const struct metrics_options *o, struct metrics *m)
{
    SV_TRY(sv_jobmap_load(app->ctx, m->f, o->jobs, &m->read));
    SV_TRY(choose_job(app, o, m));
    m->job_loads = sv_alloc(app->ctx, m->map->num_jobs, sizeof *m->job_loads);
    m->effective = sv_alloc(app->ctx, m->f->num_channels, sizeof *m->effective);
    if (m->job_loads == NULL || m->effective == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_jobs_count(app->ctx, m->f, m->r, m->map, m->effective, m->job_loads, &m->jobs));
    if (o->links == NULL)
        return SV_OK;
    m->users = sv_alloc(app->ctx, m->f->num_channels, sizeof *m->users);
    return m->users == NULL ? SV_NO_MEMORY : sv_jobs_share(app->ctx, m->f, m->r, m->map, m->users);
}

static sv_status measure(struct app *app, const struct metrics_options *o, struct metrics *m)
{
    SV_TRY(measure_basics(app, m));
    if (o->jobs != NULL)
        SV_TRY(measure_jobs(app, o, m));
    if (o->lost != NULL) {
        const sv_lost_plan plan = {.switches = o->lost_switches,
                                   .seed = o->seed,
                                   .trials = (uint32_t)o->trials,
                                   .failures = o->numbers,
                                   .count = o->num_numbers};
        SV_TRY(sv_routes_lost(app->ctx, m->f, m->r, &plan, m->lost, &m->lost_pairs, NULL));
    }
    if (o->bisection != METRICS_NOT_GIVEN)
        SV_TRY(sv_routes_matchings(app->ctx, m->f, m->r, (uint32_t)o->bisection, o->seed, NULL,
                                   &m->matchings));
    return SV_OK;
}

static void release(struct app *app, struct metrics *m)
{
    sv_release(app->ctx, m->users);
    sv_release(app->ctx, m->effective);
    sv_release(app->ctx, m->job_loads);
    sv_release(app->ctx, m->loads);
    sv_jobmap_free(m->read);
    sv_routes_free(m->r);
    sv_fabric_free(m->f);
}

/* Files first: what is printed last says that all went well. */
static sv_status tell(struct app *app, const struct metrics_options *o, const struct metrics *sets,
                      int count)
{
    sv_text out;
    bool taken = (o->heat != NULL && strcmp(o->heat, "-") == 0) ||
                 (o->links != NULL && strcmp(o->links, "-") == 0);
    SV_TRY(metrics_write_files(app, o, sets, count));
    if (taken) /* standard output has a file */
        return SV_OK;
    SV_TRY(app_print_begin(app, &out));
    sv_status printed =
        (o->json ? metrics_print_json : metrics_print_text)(app, &out, o, sets, count);
    sv_status status = app_print_end(app, &out);
    return printed != SV_OK ? printed : status;
}

static int run(struct app *app, const struct metrics_options *o, const char *const *names,
               int count)
{
    sv_status status = SV_OK;
    struct metrics *sets = sv_alloc(app->ctx, 2, sizeof *sets);
    if (sets == NULL)
        return app_exit(app, SV_NO_MEMORY);
    for (int i = 0; status == SV_OK && i < count; i++) {
        sets[i].name = names[i];
        status = measure(app, o, &sets[i]);
    }
    if (status == SV_OK)
        status = tell(app, o, sets, count);
    for (int i = 0; i < 2; i++)
        release(app, &sets[i]);
    sv_release(app->ctx, sets);
    return app_exit(app, status);
}

int cmd_metrics(struct app *app, int argc, char **argv)
{
    const char *names[2] = {NULL, NULL};
    struct metrics_options o = {.histogram = METRICS_NOT_GIVEN,
                                .trials = METRICS_NOT_GIVEN,
                                .bisection = METRICS_NOT_GIVEN,
                                .seed = 1};
    const app_option options[] = {
        {"jobs", 0, OPTION_TEXT, &o.jobs, "MAP", "job map: effective EFI, dark fibre, links a job"},
        {"job", 0, OPTION_TEXT, &o.job, "NAME", "of the job map only this job"},
        {"heat", 0, OPTION_TEXT, &o.heat, "FILE",
         "SVG: the fabric, its cables coloured by load (of jobs)"},
        {"links", 0, OPTION_TEXT, &o.links, "FILE", "CSV: load of every channel between switches"},
        {"histogram", 0, OPTION_NUMBER, &o.histogram, "N", "how often loads occur, in N bins"},
        {"lost", 0, OPTION_TEXT, &o.lost, "WHAT", "routes lost when links (or switches) fail"},
        {"failures", 0, OPTION_TEXT, &o.failures, "K,K,...", "how many fail (default 1,2,5,10)"},
        {"trials", 0, OPTION_NUMBER, &o.trials, "N", "draws of each number (default 100)"},
        {"bisection", 0, OPTION_NUMBER, &o.bisection, "N",
         "effective bisection bandwidth of N random matchings"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of draws and matchings (default 1)"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "DIR [DIR] [options]",
        "How many routes between terminals each channel between switches carries (edge\n"
        "forwarding index), how many such channels a route takes, and what tables do for\n"
        "jobs, in failures, and for random traffic. Two directories: side by side.",
        "selvage metrics tables --bisection 1000\n"
        "selvage metrics tables --lost links --failures 1,5\n"
        "selvage metrics old new --jobs jobs.txt --heat heat.svg\n"
        "selvage metrics tables --jobs jobs.txt --job 4711 --links links.csv",
        options};
    int code = app_parse(app, &usage, argc, argv, names, 1, 2);
    if (code >= 0)
        return code;
    int count = names[1] != NULL ? 2 : 1;
    code = check_options(app, &o, count);
    return code >= 0 ? code : run(app, &o, names, count);
}
