/*
 * squeue.c: what squeue prints: columns under a line of titles, or -h -o "%i|%T|%N".
 *
 * Idea: titles say which column is which. Columns stand between | if the titles do, else between
 * blanks; but names of jobs, and some other columns, may have blanks (or a |) in them. So columns
 * left of the first such are counted from the left, those right of the last from the right. A line
 * that ends with a reason in parentheses where nodes should be is a job that does not run.
 *
 * squeue cuts off what is wider than its column. A list of nodes that was cut is told by a bracket
 * that is not closed, a comma at its end, or fewer hosts than the column NODES says; it is refused,
 * since half a job is worse than none.
 *
 * Invariants: nothing is guessed: where it cannot be told which column is which, the line is
 * refused, unless it is one of a job that surely does not run.
 * Cost: linear.
 * Source: the squeue manual.
 */
#include <string.h>

#include "jobs/sheet.h"

/* Inside of formats, and as it is. */
#define ADVICE "; squeue -o \"%%i|%%T|%%N\" is understood"
#define CUT    ": it looks cut off; squeue -o \"%%i|%%T|%%N\" cuts nothing off"
static const char cut_off[] = ": it looks cut off; squeue -o \"%i|%T|%N\" cuts nothing off";

enum { JOB, STATE, NODES, REASON, COUNT, COLUMNS };

/* Room for pieces: two more than there are. */
enum { MAX_PIECES = 126, ROOM = 128, SHORTEST_TITLE = 5 };

struct reader {
    sv__sheet *s;
    char separator;      /* '|', or ' ' for blanks */
    int column[COLUMNS]; /* -1: not there */
    int titles;          /* 0: there are none */
    int first, last;     /* columns with blanks in them; titles and -1 if there are none */
};

/* ---- columns ---- */

/* Takes a line apart; of more than MAX_PIECES pieces all but the first MAX_PIECES are one. */
static int split(sv_span line, char separator, sv_span *pieces)
{
    sv_scan scan = sv_scan_of(line);
    int count = 0;
    if (separator == ' ') {
        for (sv_scan_blanks(&scan); count < MAX_PIECES && sv_scan_word(&scan, &pieces[count]);
             sv_scan_blanks(&scan))
            count++;
        if (!sv_scan_done(&scan))
            pieces[count++] = sv_scan_rest(&scan);
        return count;
    }
    while (count < MAX_PIECES && sv_scan_until(&scan, separator, &pieces[count]))
        count++;
    pieces[count++] = sv_scan_rest(&scan);
    for (int i = 0; i < count; i++) { /* columns with a width have blanks around what they say */
        sv_span *p = &pieces[i];
        while (p->length > 0 && p->at[p->length - 1] == ' ')
            p->length--;
        while (p->length > 0 && *p->at == ' ')
            p->at++, p->length--;
    }
    return count;
}

/* Whether what stands under a title never has blanks in it. Titles are cut off, too: TIME_LIMI. */
static bool is_solid(sv_span title)
{
    static const char *const names[] = {
        "JOBID",      "PARTITION",  "USER",     "ST",           "STATE",         "TIME",
        "TIME_LIMIT", "TIME_LEFT",  "NODES",    "CPUS",         "NODELIST",      "NODELIST(REASON)",
        "QOS",        "PRIORITY",   "ACCOUNT",  "START_TIME",   "END_TIME",      "SUBMIT_TIME",
        "UID",        "GROUP",      "GROUP_ID", "ARRAY_JOB_ID", "ARRAY_TASK_ID", "EXEC_HOST",
        "BATCH_HOST", "MIN_MEMORY", "MIN_CPUS", "CLUSTER",      "HETJOBID",      "HETJOBOFFSET"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sv__same_word(title, names[i]) ||
            (title.length >= SHORTEST_TITLE && sv__starts_word(title, names[i])))
            return true;
    return false;
}

static bool find_titles(struct reader *r, sv_span line)
{
    static const char *const names[COLUMNS] = {"JOBID", NULL, "NODELIST", "NODELIST(REASON)",
                                               "NODES"};
    sv_span titles[ROOM];
    r->separator = memchr(line.at, '|', line.length) != NULL ? '|' : ' ';
    r->titles = r->first = split(line, r->separator, titles);
    r->last = -1;
    for (int i = 0; i < COLUMNS; i++)
        r->column[i] = -1;
    for (int i = 0; i < r->titles; i++) {
        for (int c = 0; c < COLUMNS; c++)
            if (names[c] != NULL && r->column[c] < 0 && sv__same_word(titles[i], names[c]))
                r->column[c] = i;
        if (sv__same_word(titles[i], "ST") || sv__same_word(titles[i], "STATE"))
            r->column[STATE] = i;
        if (r->column[REASON] < 0 && titles[i].length > SHORTEST_TITLE &&
            !sv__same_word(titles[i], names[NODES]) && sv__starts_word(titles[i], names[REASON]))
            r->column[REASON] = i;
        if (!is_solid(titles[i])) {
            r->first = i < r->first ? i : r->first;
            r->last = i;
        }
    }
    if (r->column[NODES] < 0)
        r->column[NODES] = r->column[REASON];
    else
        r->column[REASON] = -1;
    return r->column[JOB] >= 0;
}

bool sv__squeue_titles(sv_span line)
{
    struct reader r = {.s = NULL};
    return line.length > 0 && find_titles(&r, line);
}

bool sv__squeue_plain(sv_span line)
{
    sv_span pieces[ROOM];
    char separator = memchr(line.at, '|', line.length) != NULL ? '|' : ' ';
    int count = split(line, separator, pieces);
    return (count == 3 || (count == 2 && separator == ' ')) && sv__slurm_is_job(pieces[0]) &&
           sv__slurm_state_of(pieces[1]) != SV__STATE_UNKNOWN;
}

/* ---- jobs ---- */

/* How many nodes the column says: 12, or 2K for 2048. 0: it cannot be told. */
static uint64_t stated_nodes(sv_span word)
{
    sv_scan scan = sv_scan_of(word);
    uint64_t count;
    if (!sv_scan_number(&scan, 1000000, &count))
        return 0;
    if (sv_scan_char(&scan, 'K'))
        count *= 1024;
    return sv_scan_done(&scan) ? count : 0;
}

/* fields: those of COLUMNS; empty where there is none. */
static sv_status add_job(struct reader *r, const sv_span *fields, bool has_state)
{
    sv__sheet *s = r->s;
    sv_span job = fields[JOB], nodes = fields[NODES];
    sv__slurm_state state = has_state ? sv__slurm_state_of(fields[STATE]) : SV__STATE_RUNS;
    if (!sv__slurm_is_job(job))
        return sv__sheet_fail(s, "'%.*s' is not the number of a job" ADVICE, SV_SPAN(job));
    if (state == SV__STATE_UNKNOWN)
        return sv__sheet_fail(s, "'%.*s' is not a state of a job" ADVICE, SV_SPAN(fields[STATE]));
    bool none = nodes.length == 0 || sv__same_word(nodes, "(null)") ||
                sv__same_word(nodes, "n/a") || nodes.at[0] == '(';
    if (state == SV__STATE_IDLE || none) {
        s->left_out++;
        if (has_state && state == SV__STATE_RUNS)
            sv__sheet_nodeless(s);
        return SV_OK;
    }
    SV_TRY(sv__sheet_begin(s, sv__slurm_job(job), SV_TIME_UNKNOWN, SV_TIME_OPEN));
    s->advice = nodes.at[nodes.length - 1] == ']' ? NULL : cut_off;
    SV_TRY(sv__sheet_hosts(s, nodes));
    uint64_t stated = stated_nodes(fields[COUNT]);
    uint32_t listed = s->entries.at[s->entries.length - 1].count;
    if (has_state && fields[STATE].at[0] == 'R' && listed < stated)
        return sv__sheet_fail(s, "nodes '%.*s' are %u, and the job has %llu" CUT,
                              nodes.length > 60 ? 60 : (int)nodes.length, nodes.at, listed,
                              (unsigned long long)stated);
    return SV_OK;
}

/* Without titles: JOB STATE NODES. */
static sv_status read_plain(struct reader *r, sv_span line)
{
    sv_span pieces[ROOM],
        fields[COLUMNS] = {{line.at, 0}, {line.at, 0}, {line.at, 0}, {line.at, 0}, {line.at, 0}};
    char separator = memchr(line.at, '|', line.length) != NULL ? '|' : ' ';
    int count = split(line, separator, pieces);
    if (count != 3 && !(count == 2 && separator == ' '))
        return sv__sheet_fail(r->s,
                              "%d column%s without titles, where a job, its state and its "
                              "nodes should be" ADVICE,
                              count, count == 1 ? "" : "s");
    for (int i = 0; i < count; i++)
        fields[i == 2 ? NODES : i] = pieces[i];
    return add_job(r, fields, true);
}

/* The piece of a column, counted from the side on which nothing has blanks; -1: neither. */
static int piece_of(const struct reader *r, int column, int pieces)
{
    bool all = pieces == r->titles && (r->separator == '|' || r->first >= r->last);
    if (all || column < r->first)
        return column < pieces ? column : -1;
    int piece = pieces - (r->titles - column);
    return column > r->last && piece >= 0 ? piece : -1;
}

/* Whether some piece could be a state, and all that could are of jobs that do not run. */
static bool surely_idle(const sv_span *pieces, int count)
{
    bool idle = false;
    for (int i = 0; i < count; i++) {
        sv__slurm_state state = sv__slurm_state_of(pieces[i]);
        if (state == SV__STATE_RUNS)
            return false;
        idle = idle || state == SV__STATE_IDLE;
    }
    return idle;
}

/* The fields of a line; false if it cannot be told which is which. */
static bool take_fields(const struct reader *r, sv_span line, const sv_span *pieces, int count,
                        sv_span *fields)
{
    for (int c = 0; c < COLUMNS; c++) {
        int piece = r->column[c] < 0 ? -1 : piece_of(r, r->column[c], count);
        fields[c] = piece >= 0 ? pieces[piece] : (sv_span){line.at, 0};
        if (piece < 0 && r->column[c] >= 0 && c != COUNT)
            return false;
    }
    return sv__slurm_is_job(fields[JOB]) &&
           (r->column[STATE] < 0 || sv__slurm_state_of(fields[STATE]) != SV__STATE_UNKNOWN);
}

/* The same of a job that does not run, and has nothing where nodes should be, at the end. */
static bool without_nodes(const struct reader *r, sv_span line, sv_span *pieces, int count,
                          sv_span *fields)
{
    pieces[count] = (sv_span){line.at, 0};
    return take_fields(r, line, pieces, count + 1, fields) &&
           (r->column[STATE] < 0 || sv__slurm_state_of(fields[STATE]) == SV__STATE_IDLE);
}

/*
 * Whether a job that seems to run may be one that does not, because it is called "R", say, and
 * nothing stands where its nodes should be. NODELIST(REASON) is never empty.
 */
static bool in_doubt(const struct reader *r, const sv_span *pieces, int count,
                     const sv_span *fields)
{
    if (r->separator != ' ' || r->last < 0 || r->column[REASON] >= 0 || r->column[STATE] < 0 ||
        sv__slurm_state_of(fields[STATE]) != SV__STATE_RUNS)
        return false;
    for (int i = 0; i < count; i++)
        if (sv__slurm_state_of(pieces[i]) == SV__STATE_IDLE)
            return true;
    return false;
}

/*
 * The same with what may be missing: nodes at the end, of a job that does not run; or, if not, its
 * name.
 */
static bool find_fields(const struct reader *r, sv_span line, sv_span *pieces, int count,
                        sv_span *fields)
{
    bool fewer = count == r->titles - 1, last = r->column[NODES] == r->titles - 1;
    if (count > MAX_PIECES || count < r->titles - 1)
        return false;
    bool found = fewer && last && without_nodes(r, line, pieces, count, fields);
    if (!found && (!fewer || r->first == r->last))
        found = take_fields(r, line, pieces, count, fields);
    if (!found && !fewer && last)
        found = without_nodes(r, line, pieces, count, fields);
    return found && !in_doubt(r, pieces, count, fields);
}

/* Whether a line is one of a job at all: its number is where it should be, or, if names may stand
 * before it, somewhere. */
static bool has_number(const struct reader *r, const sv_span *pieces, int count)
{
    int job = r->column[JOB];
    if (job <= r->first)
        return job < count && sv__slurm_is_job(pieces[job]);
    for (int i = 0; i < count; i++)
        if (sv__slurm_is_job(pieces[i]))
            return true;
    return false;
}

static sv_status read_titled(struct reader *r, sv_span line)
{
    sv_span pieces[ROOM], fields[COLUMNS];
    int count = split(line, r->separator, pieces);
    bool reason = r->column[REASON] == r->titles - 1 && line.at[line.length - 1] == ')' &&
                  has_number(r, pieces, count);
    bool known = !reason && find_fields(r, line, pieces, count, fields);
    if (known)
        return add_job(r, fields, r->column[STATE] >= 0);
    int state = count == r->titles ? r->column[STATE] : -1;
    if (!reason && state >= 0 && sv__slurm_state_of(pieces[state]) == SV__STATE_UNKNOWN)
        return sv__sheet_fail(r->s, "'%.*s' is not a state of a job" ADVICE,
                              SV_SPAN(pieces[state]));
    if (!reason && (r->column[STATE] < 0 || !surely_idle(pieces, count)))
        return sv__sheet_fail(r->s, "%d column%s under %d titles" ADVICE, count,
                              count == 1 ? "" : "s", r->titles);
    r->s->left_out++; /* why it does not run, or nothing where nodes should be */
    return SV_OK;
}

/* "Mon Nov 16 04:13:57 2026", which -l prints first. */
static bool is_date(sv_span line)
{
    for (size_t i = 0; i + 8 <= line.length; i++) {
        sv_scan scan = {line.at + i, line.at + i + 8};
        uint64_t part;
        if (sv_scan_number(&scan, 23, &part) && sv_scan_char(&scan, ':') &&
            sv_scan_number(&scan, 59, &part) && sv_scan_char(&scan, ':') &&
            sv_scan_number(&scan, 60, &part) && sv_scan_done(&scan))
            return true;
    }
    return false;
}

/* A line in front of which nothing was understood: titles, a job, or a date. */
static sv_status read_first(struct reader *r, sv_span line)
{
    if (!sv__squeue_titles(line))
        return sv__squeue_plain(line) || !is_date(line) ? read_plain(r, line) : SV_OK;
    find_titles(r, line);
    if (r->column[NODES] < 0)
        return sv__sheet_fail(r->s, "there is no column NODELIST" ADVICE);
    if (r->column[STATE] < 0 && r->last >= 0)
        return sv__sheet_fail(r->s, "there is no column ST or STATE" ADVICE);
    return SV_OK;
}

sv_status sv__read_squeue(sv__sheet *s)
{
    struct reader r = {.s = s};
    bool begun = false;
    for (sv_span line;;) {
        bool more;
        SV_TRY(sv_lines_next(&s->lines, &line, &more));
        if (!more)
            return SV_OK;
        while (line.length > 0 && strchr(" \t", line.at[line.length - 1]) != NULL)
            line.length--;
        if (line.length == 0)
            continue;
        if (r.titles > 0)
            SV_TRY(read_titled(&r, line));
        else if (begun)
            SV_TRY(read_plain(&r, line));
        else
            SV_TRY(read_first(&r, line));
        begun = begun || sv__squeue_plain(line);
        if (s->lines.number % 4096 == 0)
            SV_TRY(sv_progress(s->ctx, "jobs", s->lines.number, 0));
    }
}
