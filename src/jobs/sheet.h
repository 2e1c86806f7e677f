/*
 * sheet.h: allocations on their way from a file, and what the readers of the formats share.
 */
#ifndef SV_JOBS_SHEET_H
#define SV_JOBS_SHEET_H

#include <selvage/experimental/jobs.h>

#include "base/array.h"
#include "base/map.h"

/* An entry: its hosts are members[first … first + count). */
typedef struct sv__entry {
    uint32_t job, count;
    int64_t begin, end;
    size_t first, hosts; /* hosts: where they are once they are sorted */
} sv__entry;

typedef struct sv__sheet {
    sv_ctx *ctx;
    sv_lines lines;
    sv_arena arena;       /* names, until they are copied at the end */
    sv_names hosts, jobs; /* to numbers */
    SV_ARRAY(const char *) host_names;
    SV_ARRAY(const char *) job_names;
    SV_ARRAY(uint32_t) host_lines;
    SV_ARRAY(sv__entry) entries;
    SV_ARRAY(uint32_t) members;
    uint32_t left_out, nodeless; /* nodeless: of left_out, those that run all the same */
    uint64_t nodeless_line;      /* of the first of them */
    uint32_t backwards;          /* of left_out, those that ended before they began */
    bool blank;
    char place[48];     /* where the reader is, besides the line: "jobs[5]" */
    const char *advice; /* to go with host lists that look cut off, or NULL */
} sv__sheet;

/* Whatever init returned, release is due. */
sv_status sv__sheet_init(sv__sheet *s, sv_ctx *ctx, const sv_source *source);
void sv__sheet_release(sv__sheet *s);

/* Starts an entry; its hosts follow. */
sv_status sv__sheet_begin(sv__sheet *s, sv_span job, int64_t begin, int64_t end);
sv_status sv__sheet_host(sv__sheet *s, sv_span host);
/* All hosts of a list. */
sv_status sv__sheet_hosts(sv__sheet *s, sv_span list);

/* A job that runs, they say, but has no nodes. */
void sv__sheet_nodeless(sv__sheet *s);

/* BAD_INPUT with "name:line: ", or "name: place: ", in front. */
sv_status sv__sheet_fail(const sv__sheet *s, const char *format, ...) SV_PRINTF(2, 3);

/* The allocations. BAD_INPUT when jobs run, and not one of them has nodes; some: a warning. */
sv_status sv__sheet_finish(sv__sheet *s, sv_allocations **result);

/* ---- Slurm's words ---- */

typedef enum sv__slurm_state {
    SV__STATE_UNKNOWN, /* not a state */
    SV__STATE_IDLE,    /* has no nodes, or does not use them */
    SV__STATE_RUNS
} sv__slurm_state;

/* "R", "RUNNING", or at least 8 letters of a state that squeue cut off. */
sv__slurm_state sv__slurm_state_of(sv_span word);

/* "12", "12_3", "12+0", "12_[3-5%2]": starts with a digit, without blanks. */
bool sv__slurm_is_job(sv_span word);

/* The job that it stands for: "12+0" is a part of 12. */
sv_span sv__slurm_job(sv_span word);

/* A date as Slurm prints it, or seconds since 1970. */
bool sv__slurm_time(sv_span word, int64_t *seconds);

/* ---- the formats ---- */

/* Each reads what is left of s->lines into s. */
sv_status sv__read_squeue(sv__sheet *s);
sv_status sv__read_slurm_json(sv__sheet *s);
sv_status sv__read_sacct(sv__sheet *s);
sv_status sv__read_swf(sv__sheet *s);
sv_status sv__read_job_lines(sv__sheet *s);

/* Of a line: whether it is one of theirs. */
bool sv__squeue_titles(sv_span line);
bool sv__squeue_plain(sv_span line);
bool sv__sacct_titles(sv_span line);
bool sv__swf_line(sv_span line);

/* Whether a word is a name, or its beginning; capitals do not matter. */
bool sv__same_word(sv_span word, const char *name);
bool sv__starts_word(sv_span word, const char *name);

#endif
