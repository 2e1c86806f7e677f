/*
 * run.c: runs the cells of a plan that have no result yet, on the threads of this process and, in a
 * team, on those of others.
 *
 * The leader (rank 0) has the database and threads_of out cells one by one, to its own threads and
 * to whoever asks; so all are busy until the last cells, whatever single ones take. Others ask for
 * a cell for each thread and one in stock, and send back what came out. Messages begin with a kind.
 *
 * Other studies may run on the same database at the same time. A cell is taken (claims.h) when it
 * is handed out; one that another process has is looked at again later, until it has its result or
 * is free because that process ended. So all of a plan's cells have results in the end.
 *
 * Invariants: a cell is handed out once; what came out is written in one transaction; when the
 * leader ends, for whatever reason, it tells the others, they give up what they are at and say
 * goodbye, and it waits for that, so that no message is under way when they part.
 * Cost: microseconds a cell and some hundred for the database, while cells are being run.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "study/store.h"

enum kind { HELLO = 1, ASK, CELLS, RESULT, END, BYE, FAILED };

/* Waiting for finished cells: with a team, its messages must not wait longer. */
enum { ALONE_MS = 50, TEAM_MS = 2, MAX_ASKED = 64 };

/* Between two looks at cells that another study runs. */
enum { LATER_NS = 200000000 };

struct greeting {
    uint32_t kind, cells;
    uint64_t size, hash; /* of a result; of the keys */
};

struct leader {
    struct greeting own; /* what the others must say, too */
    sv_ctx *ctx;
    const sv_study *study;
    const sv_study_run *run;
    sv_study_outcome *outcome;
    sv__store_db store;
    sv__study_workers *workers;
    int64_t *ids;
    uint32_t *missing; /* cells without a result; those before given that others run come first */
    uint32_t num_missing, given, written;
    uint32_t num_later; /* of them */
    uint64_t looked;    /* when at those */
    uint32_t gone;      /* others that said goodbye */
    bool ended;
    uint64_t begun;
};

struct ask {
    uint32_t kind, count;
};

struct cells {
    uint32_t kind, count, at[MAX_ASKED];
};

static struct greeting greeting_of(const sv_study *study)
{
    uint64_t hash = SV_DIGEST_START;
    for (uint32_t i = 0; i < study->num_cells; i++)
        hash = sv_digest(hash, study->cells[i].key, strlen(study->cells[i].key) + 1);
    return (struct greeting){HELLO, study->num_cells, sizeof(sv__result), hash};
}

static double seconds_since(sv_ctx *ctx, uint64_t begun)
{
    return (double)(sv_now_ns(ctx) - begun) / 1e9;
}

/* ---- the leader ---- */

static void tell(struct leader *l)
{
    if (l->run->progress == NULL)
        return;
    uint32_t current = sv__workers_current(l->workers);
    const sv_study_progress progress = {
        .done = l->written + l->outcome->others,
        .total = l->num_missing,
        .before = l->outcome->before,
        .not_ok = l->outcome->not_ok,
        .current = current == SV_NONE ? NULL : l->study->cells[current].key,
        .seconds = seconds_since(l->ctx, l->begun)};
    l->run->progress(l->run->user, &progress);
}

static sv_status write_result(struct leader *l, uint32_t cell, const sv__result *result)
{
    uint64_t begun = sv_now_ns(l->ctx);
    SV_TRY(sv__store_put(&l->store, l->study, l->ids[cell], l->study->cells[cell].fabric, result));
    sv__store_give_back(&l->store, l->ids[cell]);
    l->outcome->waited += seconds_since(l->ctx, begun);
    l->written++;
    l->outcome->ran++;
    l->outcome->not_ok += strcmp(result->status, "ok") != 0;
    return SV_OK;
}

/* Everything that is finished here; waits for the first. */
static sv_status collect(struct leader *l, unsigned milliseconds)
{
    for (sv__study_job *job; (job = sv__workers_take(l->workers, milliseconds)) != NULL;
         milliseconds = 0) {
        sv_status status = job->status;
        if (status == SV_OK)
            status = write_result(l, job->cell, &job->result);
        else
            sv_fail(l->ctx, status, "%s", job->message);
        sv__workers_release(l->workers, job);
        SV_TRY(status);
    }
    return SV_OK;
}

static sv_status send_end(const struct leader *l, unsigned to)
{
    const uint32_t end = END;
    return l->run->team->send(l->run->team->user, l->ctx, to, &end, sizeof end);
}

/* Takes a cell; it is to be run, or another study has run it, or is at it (later). */
static sv_status take(struct leader *l, uint32_t cell, bool *taken, bool *later)
{
    bool done;
    SV_TRY(sv__store_take(&l->store, l->ids[cell], taken, &done));
    l->outcome->others += done;
    *later = !*taken && !done;
    return SV_OK;
}

/* Cells that another study was at: one that is free now, if any. */
static sv_status look_again(struct leader *l, uint32_t *cell)
{
    uint64_t now = sv_now_ns(l->ctx);
    if (l->num_later == 0 || now - l->looked < LATER_NS)
        return SV_OK;
    l->looked = now;
    for (uint32_t i = 0; i < l->num_later && *cell == SV_NONE;) {
        uint32_t one = l->missing[i];
        bool taken, later;
        SV_TRY(take(l, one, &taken, &later));
        *cell = taken ? one : SV_NONE;
        if (later)
            i++;
        else
            l->missing[i] = l->missing[--l->num_later];
    }
    return SV_OK;
}

/* The next cell to run; SV_NONE: none now. */
static sv_status next_cell(struct leader *l, uint32_t *cell)
{
    *cell = SV_NONE;
    while (*cell == SV_NONE && l->given < l->num_missing) {
        uint32_t one = l->missing[l->given++];
        bool taken, later;
        SV_TRY(take(l, one, &taken, &later));
        *cell = taken ? one : SV_NONE;
        if (!later)
            continue;
        if (l->num_later == 0)
            sv_note(l->ctx, "another study runs on this database: cells are shared with it");
        l->missing[l->num_later++] = one; /* in the place of one that was given out */
        l->looked = sv_now_ns(l->ctx);
    }
    return *cell == SV_NONE ? look_again(l, cell) : SV_OK;
}

static sv_status hand_out(struct leader *l, unsigned to, uint32_t count)
{
    struct cells cells = {.kind = CELLS};
    while (cells.count < count && cells.count < MAX_ASKED) {
        uint32_t cell;
        SV_TRY(next_cell(l, &cell));
        if (cell == SV_NONE)
            break;
        cells.at[cells.count++] = cell;
    }
    return l->run->team->send(l->run->team->user, l->ctx, to, &cells, sizeof cells);
}

static sv_status take_mail(struct leader *l, const void *bytes, size_t length)
{
    sv_arena arena;
    uint32_t cell;
    sv__result *result = sv_alloc(l->ctx, 1, sizeof *result);
    if (result == NULL)
        return SV_NO_MEMORY;
    sv_arena_init(&arena, l->ctx);
    sv_status status = sv__message_unpack(&arena, bytes, length, &cell, result);
    if (status == SV_OK && cell >= l->study->num_cells)
        status = sv_fail(l->ctx, SV_BAD_INPUT, "a result from another process is of no cell");
    if (status == SV_OK)
        status = write_result(l, cell, result);
    sv_arena_release(&arena);
    sv_release(l->ctx, result);
    return status;
}

/* All that others have sent. */
static sv_status serve(struct leader *l)
{
    const sv_study_team *team = l->run->team;
    for (;;) {
        unsigned from;
        const void *bytes;
        size_t length;
        bool there;
        uint32_t kind = 0;
        SV_TRY(team->receive(team->user, l->ctx, &from, &bytes, &length, &there));
        if (!there)
            return SV_OK;
        if (length >= sizeof kind)
            memcpy(&kind, bytes, sizeof kind);
        l->gone += kind == BYE || kind == FAILED;
        if (l->ended)
            continue;
        if (kind == HELLO &&
            (length != sizeof l->own || memcmp(bytes, &l->own, sizeof l->own) != 0))
            return sv_fail(l->ctx, SV_BAD_INPUT, "process %u has another plan than process 0",
                           from);
        if (kind == BYE)
            return sv_fail(l->ctx, SV_CANCELLED, "process %u was stopped", from);
        if (kind == FAILED)
            return sv_fail(l->ctx, SV_IO, "process %u: %.*s", from, (int)(length - sizeof kind),
                           (const char *)bytes + sizeof kind);
        if (kind == ASK) {
            struct ask ask;
            memcpy(&ask, bytes, sizeof ask);
            SV_TRY(hand_out(l, from, ask.count));
        }
        if (kind == RESULT)
            SV_TRY(take_mail(l, bytes, length));
    }
}

static sv_status lead_on(struct leader *l)
{
    const sv_study_team *team = l->run->team;
    bool alone = team == NULL;
    while (l->written + l->outcome->others < l->num_missing) {
        uint32_t cell = 0;
        while (cell != SV_NONE &&
               sv__workers_busy(l->workers) < sv__workers_threads(l->workers) + (alone ? 1u : 0u)) {
            SV_TRY(next_cell(l, &cell));
            if (cell != SV_NONE)
                SV_TRY(sv__workers_give(l->workers, cell));
        }
        SV_TRY(collect(l, alone ? ALONE_MS : TEAM_MS));
        if (!alone)
            SV_TRY(serve(l));
        tell(l);
        if (sv_cancelled(l->ctx))
            return sv_fail(l->ctx, SV_CANCELLED, "stopped; what is finished is in the database");
    }
    return SV_OK;
}

/* Which cells have no result; no more than are wanted. */
static sv_status find_missing(struct leader *l)
{
    uint32_t n = l->study->num_cells;
    uint64_t max = l->run->limits.stop_after > 0 ? l->run->limits.stop_after : UINT32_MAX;
    bool *done = sv_alloc(l->ctx, n, sizeof *done);
    l->ids = sv_alloc(l->ctx, n, sizeof *l->ids);
    l->missing = sv_alloc(l->ctx, n, sizeof *l->missing);
    sv_status status = done == NULL || l->ids == NULL || l->missing == NULL ? SV_NO_MEMORY : SV_OK;
    if (status == SV_OK)
        status = sv__store_plan(&l->store, l->study, l->run->retry, l->ids, done);
    for (uint32_t i = 0; status == SV_OK && i < n; i++) {
        l->outcome->before += done[i];
        if (!done[i] && l->num_missing < max)
            l->missing[l->num_missing++] = i;
    }
    sv_release(l->ctx, done);
    return status;
}

/* Tells the others that it is over, and waits until they have heard it. */
static void part(struct leader *l)
{
    const struct timespec moment = {.tv_nsec = TEAM_MS * 1000000};
    sv_ctx quiet = *l->ctx; /* what failed before stays what is told */
    l->ctx = &quiet;
    l->ended = true;
    for (unsigned i = 1; i < l->run->team->size; i++)
        if (send_end(l, i) != SV_OK)
            return;
    while (l->gone + 1 < l->run->team->size && serve(l) == SV_OK)
        nanosleep(&moment, NULL);
}

static sv_status lead(sv_ctx *ctx, const sv_study *study, const sv_study_run *run,
                      sv_study_outcome *outcome)
{
    struct leader l = {
        .ctx = ctx, .study = study, .run = run, .outcome = outcome, .begun = sv_now_ns(ctx)};
    if (run->team != NULL)
        l.own = greeting_of(study);
    sv_status status = sv__store_open(&l.store, ctx, run->database);
    if (status == SV_OK)
        status = find_missing(&l);
    if (status == SV_OK && l.num_missing > 0)
        status = sv__workers_new(ctx, study, &run->limits, &l.workers);
    if (status == SV_OK)
        status = lead_on(&l);
    sv__workers_free(l.workers);
    if (run->team != NULL)
        part(&l);
    if (l.store.db != NULL)
        sv__store_close(&l.store);
    if (status == SV_OK && run->database[0] != ':' && access(run->database, F_OK) != 0)
        status = sv_fail(ctx, SV_IO, "'%s' was removed while the study ran", run->database);
    sv_release(ctx, l.ids);
    sv_release(ctx, l.missing);
    outcome->seconds = seconds_since(ctx, l.begun);
    return status;
}

/* ---- others ---- */

static sv_status send_result(sv_ctx *ctx, const sv_study_team *team, const sv__study_job *job)
{
    void *bytes = NULL;
    size_t length;
    SV_TRY(sv__message_pack(ctx, RESULT, job->cell, &job->result, &bytes, &length));
    sv_status status = team->send(team->user, ctx, 0, bytes, length);
    sv_release(ctx, bytes);
    return status;
}

/* Messages of the leader; *ended when there is nothing more to do. */
static sv_status listen_to(sv_ctx *ctx, const sv_study_team *team, sv__study_workers *workers,
                           bool *asked, bool *ended)
{
    unsigned from;
    const void *bytes;
    size_t length;
    bool there;
    SV_TRY(team->receive(team->user, ctx, &from, &bytes, &length, &there));
    if (!there)
        return SV_OK;
    struct cells cells = {0};
    memcpy(&cells, bytes, length < sizeof cells ? length : sizeof cells);
    *ended = cells.kind == END;
    if (cells.kind != CELLS)
        return SV_OK;
    *asked = cells.count == 0; /* there are no more: wait for the end */
    for (uint32_t i = 0; i < cells.count; i++)
        SV_TRY(sv__workers_give(workers, cells.at[i]));
    return SV_OK;
}

static sv_status follow_on(sv_ctx *ctx, const sv_study *study, const sv_study_team *team,
                           sv__study_workers *workers)
{
    const struct greeting greeting = greeting_of(study);
    bool asked = false, ended = false;
    SV_TRY(team->send(team->user, ctx, 0, &greeting, sizeof greeting));
    while (!ended) {
        uint32_t busy = sv__workers_busy(workers), wanted = sv__workers_threads(workers) + 1;
        if (!asked && busy < wanted) {
            const struct ask ask = {ASK, wanted - busy < MAX_ASKED ? wanted - busy : MAX_ASKED};
            SV_TRY(team->send(team->user, ctx, 0, &ask, sizeof ask));
            asked = true;
        }
        SV_TRY(listen_to(ctx, team, workers, &asked, &ended));
        unsigned wait = TEAM_MS;
        for (sv__study_job *job; (job = sv__workers_take(workers, wait)) != NULL; wait = 0) {
            sv_status status = job->status == SV_OK ? send_result(ctx, team, job)
                                                    : sv_fail(ctx, job->status, "%s", job->message);
            sv__workers_release(workers, job);
            SV_TRY(status);
        }
        if (sv_cancelled(ctx))
            return sv_fail(ctx, SV_CANCELLED, "stopped");
    }
    return SV_OK;
}

static sv_status wait_for_end(sv_ctx *ctx, const sv_study_team *team)
{
    const struct timespec moment = {.tv_nsec = TEAM_MS * 1000000};
    for (uint32_t kind = 0; kind != END;) {
        unsigned from;
        const void *bytes;
        size_t length;
        bool there;
        SV_TRY(team->receive(team->user, ctx, &from, &bytes, &length, &there));
        if (there && length >= sizeof kind)
            memcpy(&kind, bytes, sizeof kind);
        if (!there)
            nanosleep(&moment, NULL);
    }
    return SV_OK;
}

static sv_status follow(sv_ctx *ctx, const sv_study *study, const sv_study_run *run)
{
    sv__study_workers *workers = NULL;
    sv_status status = sv__workers_new(ctx, study, &run->limits, &workers);
    if (status == SV_OK)
        status = follow_on(ctx, study, run->team, workers);
    sv__workers_free(workers);
    bool failed = status != SV_OK && status != SV_CANCELLED;
    struct {
        uint32_t kind;
        char text[sizeof ctx->message];
    } bye = {.kind = failed ? FAILED : BYE};
    memcpy(bye.text, ctx->message, sizeof bye.text);
    sv_status sent = run->team->send(run->team->user, ctx, 0, &bye,
                                     sizeof bye.kind + (failed ? strlen(bye.text) : 0));
    if (failed || status == SV_CANCELLED) /* until the leader has ended, too */
        sent = wait_for_end(ctx, run->team);
    return status == SV_OK ? sent : status;
}

sv_status sv_study_run_cells(sv_ctx *ctx, const sv_study *study, const sv_study_run *run,
                             sv_study_outcome *outcome)
{
    sv_study_outcome found = {0};
    bool leads = run->team == NULL || run->team->rank == 0;
    sv_status status = leads ? lead(ctx, study, run, &found) : follow(ctx, study, run);
    *outcome = found;
    return status;
}
