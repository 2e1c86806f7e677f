/*
 * trace_record.c: selvage trace record COMMAND …: runs an MPI program with the recorder
 * (plugin/pmpi) preloaded, and joins what its ranks wrote.
 *
 * The command is run as it is, with two more variables in its environment: LD_PRELOAD (what was
 * there stays behind it) and SELVAGE_TRACE_DIR. Ranks write to a folder beside the output, which is
 * removed afterwards, unless --keep names one, or all ranks ended and the output cannot be written.
 * Standard streams are the command's; ours says what was recorded, on standard error. The command's
 * exit code, when it is not 0, is ours (128 + the signal that ended it, as shells do); a trace that
 * is whole is written all the same.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "selvage/trace_shared.h"

enum { NOT_RUN = 127 }; /* the exit code, as shells have it, of what could not be run */

struct record {
    const char *output, *keep;
    bool smooth;
    char library[PATH_MAX];
    char folder[PATH_MAX];
};

/* ---- before ---- */

static sv_status find_recorder(struct app *app, struct record *r)
{
    SV_TRY(app_find_module(app, "libselvage_trace.so", r->library));
    if (strpbrk(r->library, " :") == NULL)
        return SV_OK;
    return sv_fail(app->ctx, SV_UNSUPPORTED,
                   "cannot preload '%s': LD_PRELOAD takes no spaces or colons in a path; install "
                   "selvage elsewhere",
                   r->library);
}

/* Whether a folder has files with this in their names. */
static bool has(const char *path, const char *what)
{
    bool found = false;
    DIR *folder = opendir(path);
    for (const struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL;
         e = readdir(folder))
        found = found || strstr(e->d_name, what) != NULL;
    if (folder != NULL)
        closedir(folder);
    return found;
}

static sv_status make_folder(struct app *app, struct record *r)
{
    char text[PATH_MAX];
    if (r->keep != NULL) {
        if (mkdir(r->keep, 0777) != 0 && errno != EEXIST)
            return sv_fail(app->ctx, SV_IO, "cannot make '%s': %s", r->keep, strerror(errno));
        struct stat about;
        if (stat(r->keep, &about) == 0 && !S_ISDIR(about.st_mode))
            return sv_fail(app->ctx, SV_BAD_INPUT, "'%s' is no folder", r->keep);
        if (has(r->keep, ".svt"))
            return sv_fail(app->ctx, SV_BAD_INPUT, "'%s' has traces in it already", r->keep);
        snprintf(text, sizeof text, "%s", r->keep);
    } else {
        int length = snprintf(text, sizeof text, "%s.XXXXXX", r->output);
        if (length < 0 || (size_t)length >= sizeof text || mkdtemp(text) == NULL)
            return sv_fail(app->ctx, SV_IO, "cannot make a folder beside '%s': %s", r->output,
                           strerror(errno));
    }
    if (realpath(text, r->folder) == NULL) /* ranks may be elsewhere */
        return sv_fail(app->ctx, SV_IO, "cannot find '%s': %s", text, strerror(errno));
    return SV_OK;
}

/* ---- running ---- */

/* In the child: does not come back. */
static void become(const struct record *r, char **command)
{
    char preload[2 * PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    bool more = before != NULL && *before != 0;
    snprintf(preload, sizeof preload, "%s%s%s", r->library, more ? ":" : "", more ? before : "");
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGXFSZ, &usual, NULL);
    if (setenv("LD_PRELOAD", preload, 1) == 0 && setenv("SELVAGE_TRACE_DIR", r->folder, 1) == 0)
        execvp(command[0], command);
    fprintf(stderr, "selvage: cannot run '%s': %s\n", command[0], strerror(errno));
    _exit(NOT_RUN);
}

/* Its exit code. Ctrl-C reaches both: the command decides when it is over. */
static sv_status run_command(struct app *app, const struct record *r, char **command, int *code)
{
    int how = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return sv_fail(app->ctx, SV_IO, "cannot start '%s': %s", command[0], strerror(errno));
    if (child == 0)
        become(r, command);
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return sv_fail(app->ctx, SV_IO, "cannot wait for '%s': %s", command[0],
                           strerror(errno));
    *code = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
    return SV_OK;
}

/* ---- after ---- */

static void remove_folder(const struct record *r)
{
    char path[2 * PATH_MAX];
    DIR *folder = opendir(r->folder);
    for (const struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL;
         e = readdir(folder))
        if (strstr(e->d_name, ".svt") != NULL) {
            snprintf(path, sizeof path, "%s/%s", r->folder, e->d_name);
            unlink(path);
        }
    if (folder != NULL)
        closedir(folder);
    rmdir(r->folder);
}

/* A trace that nobody can use is written all the same, but not in silence. */
static sv_status warn_if_unsound(struct app *app, const sv_mpi_trace *trace, const char *path)
{
    char why[512];
    sv_status status = sv_mpi_check(app->ctx, trace);
    if (status != SV_BAD_INPUT)
        return status;
    snprintf(why, sizeof why, "%s", sv_ctx_message(app->ctx));
    sv_warn(app->ctx, "%s: something was not recorded: %s", path, why);
    return SV_OK;
}

static sv_status join(struct app *app, const struct record *r)
{
    sv_mpi_trace *trace = NULL;
    if (!has(r->folder, ".svt"))
        return sv_fail(app->ctx, SV_BAD_INPUT,
                       "nothing was recorded: no MPI program, or linked against another MPI (see "
                       "docs/traces.md)");
    sv_status status = trace_load(app, r->folder, &trace);
    if (status == SV_OK && r->smooth)
        status = trace_smooth(app, &trace);
    if (status == SV_OK)
        status = warn_if_unsound(app, trace, r->output);
    if (status == SV_OK)
        status = trace_save(app, trace, r->output, TRACE_SVT);
    if (status == SV_OK)
        trace_note(app, trace, r->output);
    sv_mpi_free(trace);
    return status;
}

static int record(struct app *app, struct record *r, char **command)
{
    int code = 0;
    sv_status status = find_recorder(app, r);
    if (status == SV_OK) /* nobody should wait for a program to hear it */
        status = sv_file_try(app->ctx, r->output);
    if (status == SV_OK)
        status = make_folder(app, r);
    if (status != SV_OK)
        return app_exit(app, status);
    status = run_command(app, r, command, &code);
    if (status == SV_OK && (code != NOT_RUN || has(r->folder, ".svt")))
        status = join(app, r);
    /* All ranks ended: what they wrote is not lost with what could not be made of it. */
    bool stays = status != SV_OK && has(r->folder, ".svt") && !has(r->folder, ".svt.part");
    if (r->keep == NULL && !stays)
        remove_folder(r);
    int own = app_exit(app, status);
    if (stays)
        sv_warn(app->ctx, "the files of ranks stay in '%s'", r->folder);
    return code != 0 ? code : own;
}

/* Where the command begins: at the first word that is no option of ours, or behind "--". */
static int find_command(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != 0; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i;
        if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0 ||
            strcmp(argv[i], "--keep") == 0 || strcmp(argv[i], "--threads") == 0)
            i++;
    }
    return i < argc ? i : argc;
}

int trace_record(struct app *app, int argc, char **argv)
{
    struct record r = {.output = "trace.svt"};
    const app_option options[] = {
        {"output", 'o', OPTION_TEXT, &r.output, "FILE", "the trace (default trace.svt)"},
        {"keep", 0, OPTION_TEXT, &r.keep, "FOLDER", "keep the files of ranks, in this folder"},
        {"smooth", 0, OPTION_FLAG, &r.smooth, NULL,
         "computing between like events becomes their mean: smaller files"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "[options] [--] COMMAND [ARGUMENTS]",
        "Run an MPI program with the recorder preloaded: what its ranks send, receive, wait\n"
        "for and compute is one file afterwards. COMMAND is what you would type: mpirun and\n"
        "so on. On several machines the folder must be one that all see (--keep), and mpirun\n"
        "told to pass on LD_PRELOAD and SELVAGE_TRACE_DIR (-x). An exit code of COMMAND other\n"
        "than 0 is passed on.",
        "selvage trace record -o lammps.svt mpirun -np 64 lmp -in in.chain\n"
        "selvage trace record --keep ranks -- mpirun -np 8 ./program --its-option",
        options};
    const char *none = NULL;
    int begin = find_command(argc, argv);
    int code = app_parse(app, &usage, begin, argv, &none, 0, 0);
    if (code >= 0)
        return code;
    if (begin < argc && strcmp(argv[begin], "--") == 0)
        begin++;
    if (begin >= argc)
        return app_usage_error(app, "which command?");
    if (strcmp(r.output, "-") == 0)
        return app_usage_error(app, "--output: standard output is the command's; name a file");
    code = app_two_files(app, "output", r.output, "keep", r.keep);
    return code >= 0 ? code : record(app, &r, argv + begin);
}
