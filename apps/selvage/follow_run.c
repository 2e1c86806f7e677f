/*
 * follow_run.c: waiting, and commands that must end in time.
 *
 * Idea: a command gets a process group of its own, so that it can be ended with all that it
 * started. Signals are blocked but while something is waited for (or computed), so none is missed
 * between a look at its flag and the wait; SIGCHLD is caught for the same reason.
 *
 * Invariants: when follow_run returns, its child is reaped, and its group has been killed while the
 * child's number was still its own.
 * Cost: no busy waiting: every wait ends with an event or a time.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selvage/follow.h"

/* ---- clocks and signals ---- */

double follow_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int64_t follow_time(void)
{
    return (int64_t)time(NULL);
}

static volatile sig_atomic_t look_asked;

static void on_hangup(int number)
{
    (void)number;
    look_asked = 1;
}

/* Waits end when a child does. */
static void on_child(int number)
{
    (void)number;
}

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
}

void follow_catch(follow *f)
{
    struct sigaction action = {.sa_handler = on_hangup};
    sigset_t ours;
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    fill_signals(&ours); /* whoever started us may have blocked them */
    sigprocmask(SIG_UNBLOCK, &ours, NULL);
    sigprocmask(SIG_BLOCK, NULL, &f->open);
}

void follow_block(follow *f, bool block)
{
    sigset_t ours;
    fill_signals(&ours);
    if (block)
        sigprocmask(SIG_BLOCK, &ours, NULL);
    else
        sigprocmask(SIG_SETMASK, &f->open, NULL);
}

bool follow_stopped(const follow *f)
{
    return sv_cancelled(f->app->ctx);
}

static struct timespec span_of(double seconds)
{
    double whole = seconds < 0 ? 0 : seconds > 1e8 ? 1e8 : seconds;
    struct timespec span = {.tv_sec = (time_t)whole};
    span.tv_nsec = (long)((whole - (double)span.tv_sec) * 1e9);
    return span;
}

void follow_sleep(follow *f, double seconds, bool hurry)
{
    double until = follow_now() + seconds;
    follow_block(f, true);
    while (!follow_stopped(f) && !(hurry && look_asked) && follow_now() < until) {
        struct timespec span = span_of(until - follow_now());
        pselect(0, NULL, NULL, NULL, &span, &f->open);
    }
    if (hurry)
        look_asked = 0;
    follow_block(f, false);
}

/* ---- commands ---- */

struct child {
    pid_t pid;
    int out, err; /* our ends; -1: closed */
    bool ended;
    int status;
    char said[300]; /* the beginning of what it complained of */
    size_t length;
};

static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return true;
}

/* What the child does; never returns. */
static void become(const follow *f, const char *const *words, const char *text, int out, int err)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    int null = open("/dev/null", O_RDONLY);
    char *list[16] = {NULL};
    setpgid(0, 0);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
    sigprocmask(SIG_SETMASK, &f->open, NULL);
    if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(126);
    if (words == NULL) {
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    } else {
        for (size_t i = 0; words[i] != NULL && i < sizeof list / sizeof list[0] - 1; i++)
            list[i] = strdup(words[i]);
        execvp(list[0], list);
    }
    dprintf(2, "%s: %s\n", words != NULL ? words[0] : "/bin/sh", strerror(errno));
    _exit(127);
}

static bool start(follow *f, const char *const *words, const char *text, struct child *c)
{
    int out[2], err[2];
    if (!make_pipe(out))
        return false;
    if (!make_pipe(err)) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    c->pid = fork();
    if (c->pid == 0)
        become(f, words, text, out[1], err[1]);
    if (c->pid > 0)
        setpgid(c->pid, c->pid); /* whoever of both comes first */
    close(out[1]);
    close(err[1]);
    if (c->pid < 0) {
        close(out[0]);
        close(err[0]);
        return false;
    }
    c->out = out[0];
    c->err = err[0];
    return true;
}

/* Takes what there is of a pipe; false: no more room for it. */
static bool take(follow *f, int *from, follow_text *text, struct child *c)
{
    enum { PIECE = 65536, MAX = 256 << 20 };
    char piece[PIECE];
    ssize_t got = read(*from, piece, sizeof piece);
    if (got <= 0 && !(got < 0 && errno == EINTR)) {
        close(*from);
        *from = -1;
        return true;
    }
    if (got < 0)
        return true;
    if (text == NULL) {
        size_t room = sizeof c->said - 1 - c->length;
        size_t some = (size_t)got < room ? (size_t)got : room;
        memcpy(c->said + c->length, piece, some);
        c->length += some;
        return true;
    }
    if (text->length + (size_t)got > MAX ||
        sv_array_reserve(f->ctx, text, text->length + (size_t)got) != SV_OK)
        return false;
    memcpy(text->at + text->length, piece, (size_t)got);
    text->length += (size_t)got;
    return true;
}

/* Whether the child has ended; it is not reaped, so that its number stays its own. */
static bool has_ended(struct child *c)
{
    siginfo_t about = {0};
    if (!c->ended && waitid(P_PID, (id_t)c->pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0)
        c->ended = about.si_pid == c->pid;
    return c->ended;
}

/* Until all is said and done, the time is over, or somebody wants to stop. Signals are blocked. */
static bool listen_to(follow *f, struct child *c, follow_text *text, double timeout)
{
    const double grace = 1; /* for children of the child that keep its output open */
    double until = follow_now() + timeout;
    bool counted = false;
    for (;;) {
        if (has_ended(c) && c->out < 0 && c->err < 0)
            return true;
        if (has_ended(c) && !counted) {
            counted = true;
            until = follow_now() + grace < until ? follow_now() + grace : until;
        }
        double left = until - follow_now();
        if (follow_stopped(f) || left <= 0)
            return c->ended;
        fd_set set;
        FD_ZERO(&set);
        if (c->out >= 0)
            FD_SET(c->out, &set);
        if (c->err >= 0)
            FD_SET(c->err, &set);
        int highest = c->out > c->err ? c->out : c->err;
        struct timespec span = span_of(left);
        if (pselect(highest + 1, &set, NULL, NULL, &span, &f->open) <= 0)
            continue;
        if (c->out >= 0 && FD_ISSET(c->out, &set) && !take(f, &c->out, text, c))
            return false;
        if (c->err >= 0 && FD_ISSET(c->err, &set) && !take(f, &c->err, NULL, c))
            return false;
    }
}

static void finish(struct child *c)
{
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    if (c->out >= 0)
        close(c->out);
    if (c->err >= 0)
        close(c->err);
    c->said[c->length] = 0;
    c->said[strcspn(c->said, "\r\n")] = 0; /* its first line */
}

bool follow_run(follow *f, const char *const *words, const char *text, double timeout,
                follow_text *out, char *why, size_t size)
{
    struct child c = {.out = -1, .err = -1};
    const char *name = words != NULL ? words[0] : "the command";
    out->length = 0;
    follow_block(f, true);
    double begun = follow_now();
    bool done = start(f, words, text, &c);
    if (!done) {
        snprintf(why, size, "%s cannot be started: %s", name, strerror(errno));
        follow_block(f, false);
        return false;
    }
    done = listen_to(f, &c, out, timeout);
    bool late = follow_now() - begun >= timeout;
    finish(&c);
    follow_block(f, false);
    if (!done && follow_stopped(f))
        snprintf(why, size, "%s was stopped", name);
    else if (!done && late)
        snprintf(why, size, "%s did not end within %.3g s", name, timeout);
    else if (!done)
        snprintf(why, size, "%s says too much", name);
    else if (WIFSIGNALED(c.status))
        snprintf(why, size, "%s was ended by signal %d", name, WTERMSIG(c.status));
    else if (WEXITSTATUS(c.status) != 0)
        snprintf(why, size, "%s: exit code %d%s%s", name, WEXITSTATUS(c.status),
                 c.said[0] != 0 ? ": " : "", c.said);
    else
        return true;
    return false;
}
