/*
 * json.c: jobs as squeue --json and slurmrestd tell them.
 *
 * Idea: of each element of "jobs" four things matter: its number, its state, when it began and its
 * nodes. How they are written has changed from version to version: a number may be a number or
 * {"set": …, "number": …}, a state a word or a list of words, nodes a list of hosts in "nodes" or
 * in "job_resources". All of these are taken. An answer with "errors" in it is refused: no jobs
 * then does not mean that nothing runs.
 *
 * JSON is parsed by jansson; errors in it have jansson's line, errors in what it says the line in
 * which the job begins (json_walk.h) and its number in the list.
 *
 * Cost: linear in the text, plus its tree in memory.
 * Source: what Slurm 22.05 prints, and data of slurmrestd 24.05 (0.0.41).
 */
#include <stdio.h>
#include <string.h>

#include "base/json_walk.h"
#include "jobs/sheet.h"

#ifndef SELVAGE_JANSSON

sv_status sv__read_slurm_json(sv__sheet *s)
{
    return sv_fail(s->ctx, SV_UNSUPPORTED, "%s:1: this build has no jansson: no JSON files",
                   s->lines.source->name);
}

#else

#include <jansson.h>

/* 12, or {"set": true, "infinite": false, "number": 12}; false if there is none. */
static bool number_of(const json_t *value, int64_t *number)
{
    if (json_is_object(value)) {
        const json_t *set = json_object_get(value, "set");
        if (json_is_false(set) || json_is_true(json_object_get(value, "infinite")))
            return false;
        value = json_object_get(value, "number");
    }
    if (json_is_string(value)) { /* as some programs between hand it on */
        uint64_t digits;
        if (!sv_span_number(sv_span_of(json_string_value(value)), INT64_MAX, &digits))
            return false;
        *number = (int64_t)digits;
        return true;
    }
    if (!json_is_integer(value))
        return false;
    *number = json_integer_value(value);
    return *number >= 0;
}

/*
 * Whether a job runs: by its state, and all that is said along with it. Words that are not known
 * may stand beside a state that is: versions to come have more of them.
 */
static sv_status read_state(const sv__sheet *s, const json_t *job, bool *runs)
{
    const json_t *state = json_object_get(job, "job_state");
    size_t count = json_is_array(state) ? json_array_size(state) : 1;
    bool silent = false, known = false;
    *runs = false;
    for (size_t i = 0; i < count; i++) {
        const char *word =
            json_string_value(json_is_array(state) ? json_array_get(state, i) : state);
        if (word == NULL)
            return sv__sheet_fail(s, "no job_state");
        sv_span span = sv_span_of(word);
        known = known || sv__slurm_state_of(span) != SV__STATE_UNKNOWN;
        *runs = *runs || sv__slurm_state_of(span) == SV__STATE_RUNS;
        silent = silent || sv__same_word(span, "SUSPENDED") || sv__same_word(span, "STOPPED") ||
                 sv__same_word(span, "CONFIGURING") || sv__same_word(span, "COMPLETING") ||
                 sv__same_word(span, "POWER_UP_NODE") || sv__same_word(span, "STAGE_OUT");
    }
    *runs = *runs && !silent;
    return known ? SV_OK : sv__sheet_fail(s, "job_state is not a state of a job");
}

/*
 * The list of nodes of a job that runs, or NULL if it has none. Where they cannot be read it is
 * refused: to take it for a job that does not run would be wrong.
 */
static sv_status find_nodes(const sv__sheet *s, const json_t *job, const char **list)
{
    const json_t *own = json_object_get(job, "nodes");
    const json_t *resources = json_object_get(job, "job_resources");
    const json_t *held = json_object_get(resources, "nodes");
    if (json_is_object(held))
        held = json_object_get(held, "list");
    *list = NULL;
    if (own == NULL && held == NULL)
        return sv__sheet_fail(s, "it runs, and there is no nodes");
    if (own != NULL && !json_is_null(own) && !json_is_string(own))
        return sv__sheet_fail(s, "it runs, and nodes is not a text");
    if (own != NULL && json_string_length(own) > 0)
        *list = json_string_value(own);
    else if (held != NULL && !json_is_null(held) && !json_is_string(held))
        return sv__sheet_fail(s, "it runs, and job_resources.nodes is not a text");
    else if (json_string_length(held) > 0)
        *list = json_string_value(held);
    return SV_OK;
}

/* As squeue calls it: 12, or 12_3 of an array; a part of a heterogeneous job is called as that. */
static sv_status name_of(const sv__sheet *s, const json_t *job, char *name, size_t room)
{
    int64_t id, array = 0, task = 0, whole = 0;
    if (!number_of(json_object_get(job, "job_id"), &id))
        return sv__sheet_fail(s, "no job_id");
    if (number_of(json_object_get(job, "het_job_id"), &whole) && whole > 0)
        snprintf(name, room, "%lld", (long long)whole);
    else if (number_of(json_object_get(job, "array_job_id"), &array) && array > 0 &&
             number_of(json_object_get(job, "array_task_id"), &task))
        snprintf(name, room, "%lld_%lld", (long long)array, (long long)task);
    else
        snprintf(name, room, "%lld", (long long)id);
    return SV_OK;
}

static sv_status read_job(sv__sheet *s, const json_t *job)
{
    char name[64];
    bool runs;
    const char *nodes = NULL;
    int64_t begin;
    if (!json_is_object(job))
        return sv__sheet_fail(s, "not an object");
    SV_TRY(name_of(s, job, name, sizeof name));
    SV_TRY(read_state(s, job, &runs));
    if (runs)
        SV_TRY(find_nodes(s, job, &nodes));
    if (nodes == NULL) {
        s->left_out++;
        if (runs)
            sv__sheet_nodeless(s);
        return SV_OK;
    }
    if (!number_of(json_object_get(job, "start_time"), &begin) || begin == 0 ||
        begin > INT64_C(100000000000))
        begin = SV_TIME_UNKNOWN;
    SV_TRY(sv__sheet_begin(s, sv_span_of(name), begin, SV_TIME_OPEN));
    return sv__sheet_hosts(s, sv_span_of(nodes));
}

/* What Slurm says went wrong, or NULL. */
static const char *first_error(const json_t *root)
{
    const json_t *errors = json_object_get(root, "errors"), *one = errors;
    if (json_is_array(errors))
        one = json_array_size(errors) > 0 ? json_array_get(errors, 0) : NULL;
    if (one == NULL || json_is_null(one))
        return NULL;
    static const char *const keys[] = {"description", "error", "source"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *text = json_string_value(json_object_get(one, keys[i]));
        if (text != NULL && *text != 0)
            return text;
    }
    return json_is_string(one) ? json_string_value(one) : "an error without words";
}

/* BAD_INPUT where a member of the whole is, or in line 1 if there is none. */
static sv_status fail_at(sv__sheet *s, sv_span text, const char *key, const char *what)
{
    sv_json_walk walk = sv_json_walk_of(text);
    s->lines.number = sv_json_walk_to(&walk, key) ? walk.line : 1;
    return sv_lines_fail(&s->lines, "%s", what);
}

static sv_status read_root(sv__sheet *s, const json_t *root, sv_span text)
{
    const json_t *jobs = json_is_array(root) ? root : json_object_get(root, "jobs");
    const char *error = first_error(root);
    sv_json_walk walk = sv_json_walk_of(text);
    if (error != NULL) {
        char what[300];
        snprintf(what, sizeof what, "Slurm reports an error: %.200s", error);
        return fail_at(s, text, "errors", what);
    }
    if (!json_is_array(jobs))
        return fail_at(s, text, "jobs", "no list of jobs in it");
    if (jobs != root && sv_json_walk_to(&walk, "jobs"))
        walk = sv_json_walk_into(&walk);
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        sv_json_walk_next(&walk);
        s->lines.number = walk.line;
        snprintf(s->place, sizeof s->place, "jobs[%zu]", i);
        SV_TRY(read_job(s, json_array_get(jobs, i)));
    }
    return SV_OK;
}

sv_status sv__read_slurm_json(sv__sheet *s)
{
    sv_json_feed feed = {.lines = &s->lines};
    json_error_t error;
    json_t *root = json_load_callback(sv_json_feed_more, &feed, 0, &error);
    sv_status status = feed.status;
    if (status == SV_OK && root == NULL)
        status = sv_fail(s->ctx, SV_BAD_INPUT, "%s:%d: %.200s", s->lines.source->name,
                         error.line < 1 ? 1 : error.line, error.text);
    if (status == SV_OK)
        status = read_root(s, root, (sv_span){feed.text.at, feed.text.length});
    json_decref(root);
    sv_array_release(s->ctx, &feed.text);
    return status;
}

#endif
