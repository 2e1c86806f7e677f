/*
 * follow.h: selvage jobs follow: what its files share.
 *
 *     jobs_follow.c    options, the loop, what is decided
 *     follow_weigh.c   the fabric, the tables in use, what others would gain
 *     follow_run.c     waiting, and commands with a time limit
 *     follow_tell.c    making the subnet manager reroute
 *     follow_say.c     lines of log and JSON
 *
 * Intervals are taken from the monotonic clock; what is remembered from one run to the next has the
 * time of day, because nothing else survives a restart.
 */
#ifndef SELVAGE_FOLLOW_H
#define SELVAGE_FOLLOW_H

#include <signal.h>

#include "base/array.h"
#include "jobs/follow.h"
#include "selvage/jobs_shared.h"

typedef enum follow_verdict {
    FOLLOW_SAME,       /* nothing changed */
    FOLLOW_ONE_SWITCH, /* something did, but only inside of single switches */
    FOLLOW_FLOOR,      /* too soon after the last time */
    FOLLOW_GAIN,       /* not worth it */
    FOLLOW_STRANGERS,  /* jobs of another fabric */
    FOLLOW_AWAY,       /* the batch system does not answer, or not with jobs */
    FOLLOW_WAITING,    /* it did not, and it is too soon to ask again */
    FOLLOW_ACTED,      /* the map is written, and the subnet manager told */
    FOLLOW_UNTOLD,     /* the map is written, but the subnet manager could not be told */
    FOLLOW_BROKEN,     /* the map could not be written, or there is no fabric */
    FOLLOW_WOULD,      /* all of that, but for --dry-run */
    FOLLOW_VERDICTS
} follow_verdict;

/* What one look came to. */
typedef struct follow_decision {
    follow_verdict verdict;
    uint32_t jobs, spread; /* that run; those on several switches */
    uint32_t added, gone;  /* of the latter, against the map that is there */
    uint32_t unknown;      /* hosts */
    bool weighed, retried; /* gain is known; the subnet manager was told again, nothing else */
    sv_follow_weight now, then;
    double gain;
    double left;       /* seconds: of the floor, or until the batch system is asked again */
    char problem[600]; /* or empty */
} follow_decision;

typedef struct follow_options {
    const char *fabric, *map, *from, *engine, *trigger, *state, *log;
    double every, timeout, floor, settle; /* seconds */
    double gain;                          /* percent */
    uint64_t vls, seed;
    bool once, dry_run, json;
} follow_options;

typedef SV_ARRAY(char) follow_text;

typedef struct follow {
    struct app *app;
    sv_ctx *ctx; /* of all work: it warns nobody, and stops when the command is to stop */
    follow_options o;
    sigset_t open; /* signals as they were: while something is waited for */

    sv_fabric *fabric;
    sv_routes *tables; /* in use: of the directory, or as predicted; NULL: to be predicted */
    bool dumped;       /* the fabric is a directory of tables, or a file with tables in it */
    uint64_t looked;   /* what the files of the fabric looked like when they were read */
    sv_jobmap *judged; /* not worth a reroute, with what was found then */
    follow_decision because;

    sv_follow_state state;
    bool rerouted; /* at rerouted_s on the monotonic clock */
    double rerouted_s;
    uint32_t untold; /* times in a row that the subnet manager could not be told */
    bool slow;       /* the batch system answers, but late */
} follow;

/* ---- follow_run.c ---- */

/* Seconds on the monotonic clock; seconds since 1970. */
double follow_now(void);
int64_t follow_time(void);

/* Whether the command is to end. */
bool follow_stopped(const follow *f);

/* Waits, unless somebody asks to end or, if hurry, for a look at once (SIGHUP). */
void follow_sleep(follow *f, double seconds, bool hurry);

/*
 * Runs a command: words if there are any, else text through the shell. What it prints goes into
 * out. False, with the reason in why: it did not end well in time; it is then gone, with its
 * children.
 */
bool follow_run(follow *f, const char *const *words, const char *text, double timeout,
                follow_text *out, char *why, size_t size);

/* Catches what ends and hurries; signals come only while something is waited for or computed. */
void follow_catch(follow *f);
void follow_block(follow *f, bool block);

/* ---- follow_weigh.c ---- */

/* Reads the fabric if it is not there or changed. Anything but SV_OK: there is none. */
sv_status follow_look(follow *f, char *warning, size_t size);

/* What tables for a map would gain over those in use; *tables: those, NULL if they are not. */
sv_status follow_weigh(follow *f, const sv_jobmap *old, const sv_jobmap *map, follow_decision *d,
                       sv_routes **tables);

void follow_forget(follow *f);

/* ---- follow_tell.c ---- */

/* Whether --trigger is one. EXIT_USAGE, or -1. */
int follow_check_trigger(struct app *app, const char *trigger);

/* Makes the subnet manager reroute. False: why. */
bool follow_tell(follow *f, char *why, size_t size);

/* ---- follow_say.c ---- */

/* One line for a decision, and one of JSON; next: seconds until the next look, or negative. */
void follow_say(follow *f, const follow_decision *d, double next);

/* A line of its own. */
void follow_note(follow *f, const char *format, ...) SV_PRINTF(2, 3);

#endif
