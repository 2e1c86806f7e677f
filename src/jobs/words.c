/*
 * words.c: words that Slurm's commands share: states, names of jobs, dates.
 *
 * Idea: a job counts when it has its nodes and may communicate: RUNNING, and what RUNNING turns
 * into while it changes its size or gets a signal. SUSPENDED and STOPPED jobs are silent (others
 * may run on their nodes), CONFIGURING ones wait for their nodes to boot. Of COMPLETING jobs the
 * processes are over, and Slurm lists only those nodes that are not cleaned up yet, fewer each
 * time: to follow them would change routes for nothing. squeue cuts words off where its columns
 * end; what is left is enough if all states that begin so agree.
 *
 * Cost: linear in the word.
 * Source: the squeue manual, on job state codes.
 */
#include <string.h>

#include "jobs/sheet.h"
#include "text/times.h"

/* Shorter ones could be names of something else. */
enum { SHORTEST_CUT = 5 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* How many letters of a name a word has; SIZE_MAX if it has others. */
static size_t letters_of(sv_span word, const char *name)
{
    size_t i = 0;
    for (; i < word.length && name[i] != 0; i++)
        if (lower(word.at[i]) != lower(name[i]))
            return SIZE_MAX;
    return i == word.length ? i : SIZE_MAX;
}

bool sv__same_word(sv_span word, const char *name)
{
    return letters_of(word, name) == strlen(name);
}

bool sv__starts_word(sv_span word, const char *name)
{
    return letters_of(word, name) != SIZE_MAX;
}

sv__slurm_state sv__slurm_state_of(sv_span word)
{
    static const struct {
        const char *code, *name;
        bool runs;
    } states[] = {{"BF", "BOOT_FAIL", false},      {"CA", "CANCELLED", false},
                  {"CD", "COMPLETED", false},      {"CF", "CONFIGURING", false},
                  {"CG", "COMPLETING", false},     {"DL", "DEADLINE", false},
                  {"F", "FAILED", false},          {"NF", "NODE_FAIL", false},
                  {"OOM", "OUT_OF_MEMORY", false}, {"OM", "OUT_OF_MEMORY", false},
                  {"PD", "PENDING", false},        {"PR", "PREEMPTED", false},
                  {"R", "RUNNING", true},          {"RD", "RESV_DEL_HOLD", false},
                  {"RF", "REQUEUE_FED", false},    {"RH", "REQUEUE_HOLD", false},
                  {"RQ", "REQUEUED", false},       {"RS", "RESIZING", true},
                  {"RV", "REVOKED", false},        {"SI", "SIGNALING", true},
                  {"SE", "SPECIAL_EXIT", false},   {"SO", "STAGE_OUT", false},
                  {"ST", "STOPPED", false},        {"S", "SUSPENDED", false},
                  {"TO", "TIMEOUT", false},        {"EX", "EXPEDITING", false},
                  {"LF", "LAUNCH_FAILED", false},  {"RC", "RECONFIG_FAIL", false},
                  {"PO", "POWER_UP_NODE", false}};
    bool cut[2] = {false, false};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (sv__same_word(word, states[i].code) || sv__same_word(word, states[i].name))
            return states[i].runs ? SV__STATE_RUNS : SV__STATE_IDLE;
        if (word.length >= SHORTEST_CUT && sv__starts_word(word, states[i].name))
            cut[states[i].runs] = true;
    }
    if (cut[0] == cut[1])
        return SV__STATE_UNKNOWN;
    return cut[1] ? SV__STATE_RUNS : SV__STATE_IDLE;
}

bool sv__slurm_is_job(sv_span word)
{
    if (word.length == 0 || word.at[0] < '0' || word.at[0] > '9')
        return false;
    for (size_t i = 0; i < word.length; i++)
        if (!(word.at[i] >= '0' && word.at[i] <= '9') && strchr("_+[],-%", word.at[i]) == NULL)
            return false;
    return true;
}

sv_span sv__slurm_job(sv_span word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.at[i] == '+')
            return (sv_span){word.at, i};
    return word;
}

bool sv__slurm_time(sv_span word, int64_t *seconds)
{
    enum { MAX = INT32_MAX };
    uint64_t number;
    sv__moment moment;
    if (sv_span_number(word, (uint64_t)MAX * 100, &number)) {
        *seconds = (int64_t)number;
        return true;
    }
    sv_scan scan = sv_scan_of(word);
    if (!sv__scan_moment(&scan, &moment) || !sv_scan_done(&scan) || !moment.dated)
        return false;
    double exact = moment.hours * 3600;
    *seconds = (int64_t)(exact < 0 ? exact - 0.5 : exact + 0.5);
    return true;
}
