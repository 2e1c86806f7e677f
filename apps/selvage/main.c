/*
 * main.c: the selvage command: a table of verbs, and the host that the library talks to.
 *
 * Messages, warnings and progress go to standard error, results to standard output. Progress is
 * shown only on a terminal and not more than ten times a second. Ctrl-C sets a flag that the
 * library looks at, so that nothing is left half written. Verbs that have nothing to lose (what
 * they write has no name until it is whole) are left after a second, wherever they are: METIS, for
 * one, does not ask.
 */
#include <errno.h>
#include <fcntl.h>
#include <selvage/experimental/discover.h>
#include <selvage/experimental/report.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "selvage/app.h"

static const struct verb {
    const char *name, *summary;
    int (*run)(struct app *app, int argc, char **argv);
    bool may_leave; /* at once, a second after it was asked to stop */
} verbs[] = {
    {"topo", "generate a fabric from a topology spec", cmd_topo, true},
    {"info", "counts, distances, connectivity, what looks wrong", cmd_info, true},
    {"faults", "let links, switches or adapters fail", cmd_faults, true},
    {"convert", "between file formats", cmd_convert, true},
    {"discover", "read a live fabric and what is programmed into it", cmd_discover, false},
    {"diff", "what is different between two fabrics", cmd_diff, true},
    {"engines", "the routing engines and their options", cmd_engines, true},
    {"route", "compute forwarding tables", cmd_route, true},
    {"check", "prove forwarding tables, or show what is wrong with them", cmd_check, true},
    {"path", "the way from one node to another", cmd_path, true},
    {"metrics", "balance, lengths, jobs, failures and bandwidth of tables", cmd_metrics, true},
    {"sim", "simulate traffic over tables: throughput, latency, deadlocks", cmd_sim, false},
    {"update", "from old tables to new ones under traffic: a safe order, and rehearsals",
     cmd_update, false},
    {"trace", "what MPI programs say to whom: record, convert, make, tell", cmd_trace, false},
    {"jobs", "what runs where, and routing that follows it", cmd_jobs, false},
    {"study", "many such runs, kept in a database: what failures and engines cost", cmd_study,
     false},
    {"report", "a study's results as a page for a browser, or as tables", cmd_report, false},
};

enum { NUM_VERBS = sizeof verbs / sizeof verbs[0] };

static volatile sig_atomic_t stop_asked, may_leave, line_shown;

/* Asked twice, do not wait: what is being written has no name yet and vanishes by itself. */
static void on_signal(int number)
{
    (void)number;
    if (stop_asked)
        _exit(EXIT_CANCELLED);
    stop_asked = 1;
    if (may_leave)
        alarm(1);
}

/* It was asked a second ago, and is in the middle of something long. */
static void on_alarm(int number)
{
    static const char clear[] = "\r\033[K", words[] = "selvage: cancelled\n";
    (void)number;
    ssize_t put = line_shown ? write(STDERR_FILENO, clear, sizeof clear - 1) : 0;
    if (put >= 0)
        put = write(STDERR_FILENO, words, sizeof words - 1);
    _exit(EXIT_CANCELLED);
}

static bool host_cancelled(void *user)
{
    const struct app *app = user;
    return stop_asked != 0 && !app->concluding;
}

static void clear_progress(struct app *app)
{
    if (app->progress_shown)
        fputs("\r\033[K", stderr);
    app->progress_shown = false;
    line_shown = 0;
}

static void host_log(void *user, sv_log_level level, const char *message)
{
    clear_progress(user);
    fprintf(stderr, "selvage: %s%s\n", level == SV_LOG_WARNING ? "warning: " : "", message);
}

/* How fast it goes and how long it will take, once that can be told. */
static void show_rate(const struct app *a, uint64_t now, uint64_t done, uint64_t total)
{
    double seconds = (double)(now - a->progress_begun_ns) / 1e9;
    if (seconds < 0.5 || done <= a->progress_from)
        return;
    double rate = (double)(done - a->progress_from) / seconds;
    fprintf(stderr, rate < 10 ? ", %.1f/s" : ", %.0f/s", rate);
    if (total > done)
        fprintf(stderr, ", %.0f s left", (double)(total - done) / rate);
}

static void host_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct app *a = user;
    if (!a->progress)
        return;
    if (done == 0 && total == 0) { /* is said before writing, too, which begins on an empty line */
        clear_progress(a);
        return;
    }
    uint64_t now = sv_now_ns(a->ctx);
    if (a->progress_what == NULL || strcmp(a->progress_what, what) != 0 ||
        done < a->progress_from) {
        a->progress_what = what;
        a->progress_begun_ns = now;
        a->progress_from = done;
    }
    if (now - a->progress_ns < 100000000u)
        return;
    a->progress_ns = now;
    fprintf(stderr, "\r\033[K%s: %llu", what, (unsigned long long)done);
    if (total > 0)
        fprintf(stderr, " of %llu", (unsigned long long)total);
    show_rate(a, now, done, total);
    a->progress_shown = true;
    line_shown = 1;
}

int app_exit(struct app *app, sv_status status)
{
    clear_progress(app);
    if (status != SV_OK)
        fprintf(stderr, "selvage: %s\n", sv_ctx_message(app->ctx));
    switch (status) {
    case SV_OK:
        return EXIT_YES;
    case SV_BAD_INPUT:
        return sv_ctx_in_request(app->ctx) ? EXIT_USAGE : EXIT_BAD_INPUT;
    case SV_UNSUPPORTED:
    case SV_INFEASIBLE:
        return EXIT_INFEASIBLE;
    case SV_CANCELLED:
        return EXIT_CANCELLED;
    case SV_IO:
    case SV_NO_MEMORY:
        break;
    }
    return EXIT_SYSTEM;
}

static void print_help(FILE *to)
{
    fprintf(to,
            "usage: selvage VERB [ARGUMENTS]\n\n"
            "Fabrics for high-performance computing: generate, break, inspect, route, prove.\n\n");
    for (int i = 0; i < NUM_VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(to,
            "\n"
            "A FABRIC is a file (its format is recognised) or a spec such as torus:4x4x3,hosts=4.\n"
            "selvage help VERB explains a verb; selvage --version tells what is built in.\n");
}

static int unknown_verb(const char *name)
{
    char known[300] = "";
    size_t used = 0;
    sv_near near;
    for (int i = 0; i < NUM_VERBS; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", verbs[i].name);
    fprintf(stderr, "selvage: unknown verb '%s'%s (see selvage --help)\n", name,
            sv_near_hint(&near, sv_span_of(name), known));
    return EXIT_USAGE;
}

static int run_verb(struct app *app, int argc, char **argv)
{
    for (int i = 0; i < NUM_VERBS; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            app->verb = verbs[i].name;
            may_leave = verbs[i].may_leave;
            return verbs[i].run(app, argc - 1, argv + 1);
        }
    return unknown_verb(argv[1]);
}

/* "help VERB" as "VERB --help"; jobs and trace have verbs of their own. */
static int help_of(struct app *app, int argc, char **argv)
{
    char asked[] = "--help", *words[4] = {argv[0]};
    int count = 1;
    for (int i = 2; i < argc && i < 4; i++)
        words[count++] = argv[i];
    words[count++] = asked;
    return run_verb(app, count, words);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL); /* a file that may not grow is an error like others */
}

/* A file opened later must not take the place of a standard stream that was closed. */
static void keep_standard_streams(void)
{
    for (int descriptor = open("/dev/null", O_RDWR); descriptor >= 0 && descriptor <= 2;)
        descriptor = open("/dev/null", O_RDWR);
}

/* Ends output to standard output that did not go through the library. */
static int flushed(void)
{
    if (fflush(stdout) == 0)
        return EXIT_YES;
    fprintf(stderr, "selvage: cannot write '<stdout>': %s\n", strerror(errno));
    return EXIT_SYSTEM;
}

/* What of studies and reports is built in. */
static const char *study_features(void)
{
#ifdef SELVAGE_SQLITE
    return " sqlite page";
#else
    return "";
#endif
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && (argc == 2 || strcmp(argv[2], "help") == 0))) {
        print_help(stdout);
        return flushed();
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("selvage %s (%s%s%s)\n", sv_version(), sv_features(),
               sv_can_discover() ? " ibnetdisc" : "", study_features());
        return flushed();
    }
    struct app app = {.progress = isatty(STDERR_FILENO) == 1};
    sv_host host = {
        .user = &app, .log = host_log, .progress = host_progress, .cancelled = host_cancelled};
    app.ctx = sv_ctx_new(&host);
    if (app.ctx == NULL) {
        fputs("selvage: out of memory\n", stderr);
        return EXIT_SYSTEM;
    }
    catch_signals();
    int code =
        strcmp(argv[1], "help") == 0 ? help_of(&app, argc, argv) : run_verb(&app, argc, argv);
    may_leave = 0;
    clear_progress(&app);
    sv_ctx_free(app.ctx);
    return code;
}
