/*
 * follow_tell.c: making the subnet manager reroute.
 *
 *     pid:FILE           SIGHUP to the process whose number is in a file, if it is an opensm
 *     signal:PID         the same with the number
 *     console:HOST:PORT  "resweep heavy" on OpenSM's console
 *     command:TEXT       any command
 *     none               nobody is told
 *
 * Idea: SIGHUP makes OpenSM look at the whole fabric again, in which the plugin reads the new map;
 * so does a heavy sweep by the console ("reroute" would route anew even where that is not safe).
 * A number from a file may be another process's by now, so its name is looked at first.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "selvage/follow.h"

static const double patience = 10; /* seconds for a console */

static const char *behind(const char *trigger, const char *kind)
{
    size_t length = strlen(kind);
    return strncmp(trigger, kind, length) == 0 && trigger[length] != 0 ? trigger + length : NULL;
}

static bool is_port(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < 6 && strspn(text, "0123456789") == length &&
           strtol(text, NULL, 10) > 0 && strtol(text, NULL, 10) <= 65535;
}

int follow_check_trigger(struct app *app, const char *trigger)
{
    const char *console = behind(trigger, "console:"), *number = behind(trigger, "signal:");
    const char *port = console != NULL ? strrchr(console, ':') : NULL;
    if (strcmp(trigger, "none") == 0 || behind(trigger, "pid:") || behind(trigger, "command:"))
        return -1;
    if (port != NULL && port > console && is_port(port + 1))
        return -1;
    if (number != NULL && strspn(number, "0123456789") == strlen(number) && strlen(number) < 10)
        return -1;
    return app_usage_error(app,
                           "--trigger: '%s' is none of pid:FILE, signal:PID, console:HOST:PORT, "
                           "command:COMMAND and none",
                           trigger);
}

/* ---- signals ---- */

static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    bool done = file != NULL && fgets(line, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (done)
        line[strcspn(line, "\n")] = 0;
    return done;
}

static bool hang_up(const char *number, char *why, size_t size)
{
    char path[64], name[64], *end;
    long pid = strtol(number, &end, 10);
    end += strspn(end, " \t");
    if (pid <= 1 || *end != 0) {
        snprintf(why, size, "'%.40s' is no process", number);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    if (!read_line(path, name, sizeof name)) {
        snprintf(why, size, "there is no process %ld", pid);
        return false;
    }
    if (strncmp(name, "opensm", 6) != 0) {
        snprintf(why, size, "process %ld is no opensm but '%.40s'", pid, name);
        return false;
    }
    if (kill((pid_t)pid, SIGHUP) == 0)
        return true;
    snprintf(why, size, "cannot signal process %ld: %s", pid, strerror(errno));
    return false;
}

static bool hang_up_file(follow *f, const char *path, char *why, size_t size)
{
    char number[64];
    if (sv_follow_check_file(f->ctx, path, false) != SV_OK) {
        snprintf(why, size, "%s", sv_ctx_message(f->ctx));
        return false;
    }
    errno = 0;
    if (!read_line(path, number, sizeof number)) {
        snprintf(why, size, "cannot read '%s': %s", path,
                 errno != 0 ? strerror(errno) : "it is empty");
        return false;
    }
    return hang_up(number, why, size);
}

/* ---- the console ---- */

/* Whether a socket is ready in time; a signal to stop ends the wait. */
static bool ready(follow *f, int at, bool writes, double until)
{
    int count = 0;
    follow_block(f, true);
    while (count <= 0 && !follow_stopped(f) && follow_now() < until) {
        double left = until - follow_now();
        struct timespec span = {.tv_sec = (time_t)left};
        fd_set set;
        FD_ZERO(&set);
        FD_SET(at, &set);
        span.tv_nsec = (long)((left - (double)span.tv_sec) * 1e9);
        count = pselect(at + 1, writes ? NULL : &set, writes ? &set : NULL, NULL,
                        left > 0 ? &span : &(struct timespec){0}, &f->open);
    }
    follow_block(f, false);
    return count > 0;
}

/* Reads until OpenSM's prompt. */
static bool await_prompt(follow *f, int at, double until)
{
    static const char prompt[] = "$ ";
    char last[3] = "", piece[512];
    while (ready(f, at, false, until)) {
        ssize_t got = read(at, piece, sizeof piece);
        if (got <= 0)
            return false;
        for (ssize_t i = 0; i < got; i++) {
            last[0] = last[1];
            last[1] = piece[i];
        }
        if (last[0] == prompt[0] && last[1] == prompt[1])
            return true;
    }
    return false;
}

static int join(follow *f, const struct addrinfo *to, double until)
{
    int at = socket(to->ai_family, to->ai_socktype, to->ai_protocol), problem = 0;
    socklen_t length = sizeof problem;
    if (at < 0)
        return -1;
    fcntl(at, F_SETFD, FD_CLOEXEC);
    fcntl(at, F_SETFL, O_NONBLOCK);
    if (connect(at, to->ai_addr, to->ai_addrlen) != 0 &&
        (errno != EINPROGRESS || !ready(f, at, true, until) ||
         getsockopt(at, SOL_SOCKET, SO_ERROR, &problem, &length) != 0 || problem != 0)) {
        close(at);
        errno = problem != 0 ? problem : errno != EINPROGRESS ? errno : ETIMEDOUT;
        return -1;
    }
    return at;
}

static bool type(follow *f, const char *place, char *why, size_t size)
{
    static const char order[] = "resweep heavy\n", end[] = "quit\n";
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    double until = follow_now() + patience;
    char host[256];
    const char *port = strrchr(place, ':'), *name = place, *last = port;
    if (*name == '[' && last[-1] == ']') { /* an address that has colons itself */
        name++;
        last--;
    }
    snprintf(host, sizeof host, "%.*s", (int)(last - name), name);
    int code = getaddrinfo(host, port + 1, &hints, &found);
    if (code != 0) {
        snprintf(why, size, "no console '%s': %s", place, gai_strerror(code));
        return false;
    }
    int at = -1;
    for (const struct addrinfo *a = found; a != NULL && at < 0; a = a->ai_next)
        at = join(f, a, until);
    freeaddrinfo(found);
    if (at < 0) {
        snprintf(why, size, "no console at '%s': %s", place, strerror(errno));
        return false;
    }
    bool done = await_prompt(f, at, until) &&
                write(at, order, sizeof order - 1) == (ssize_t)sizeof order - 1 &&
                await_prompt(f, at, until);
    if (done)
        done = write(at, end, sizeof end - 1) > 0;
    else
        snprintf(why, size, "the console at '%s' does not answer as OpenSM's does", place);
    close(at);
    return done;
}

/* ---- all ---- */

bool follow_tell(follow *f, char *why, size_t size)
{
    const char *trigger = f->o.trigger, *rest;
    why[0] = 0;
    if ((rest = behind(trigger, "pid:")) != NULL)
        return hang_up_file(f, rest, why, size);
    if ((rest = behind(trigger, "signal:")) != NULL)
        return hang_up(rest, why, size);
    if ((rest = behind(trigger, "console:")) != NULL)
        return type(f, rest, why, size);
    if ((rest = behind(trigger, "command:")) != NULL) {
        follow_text said = {0};
        bool done = follow_run(f, NULL, rest, f->o.timeout, &said, why, size);
        sv_array_release(f->ctx, &said);
        return done;
    }
    return true;
}
