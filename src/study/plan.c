/*
 * plan.c: the cells of a plan: the product of its axes.
 *
 * Order: fabric by fabric, then failures, seeds, engines, VLs, traffic; so cells that are alike
 * come together. A cell that would be there twice (no failures, several seeds) is there once. What
 * a cell is, is its key: a line with everything that decides about its result, files by a digest of
 * their content.
 *
 * Cost: linear in the cells and in the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/text.h"
#include "study/study.h"

enum { MAX_CELLS = 1000000 };

/* The axes, ready. */
struct axes {
    sv_study *study;
    sv_ctx *ctx;
    sv_arena *arena;
    sv__words fabrics, digests, traffic, held; /* held: digests of files of messages */
    sv__fault *faults;
    size_t num_faults;
    uint64_t *seeds, *vls, *messages;
    double *loads;
    size_t num_seeds, num_vls, num_messages, num_loads;
    sv__router *routers;
    size_t num_routers, routers_room;
    const char *profile;
};

/* ---- lists of numbers ---- */

static sv_status numbers(struct axes *a, sv_study_list list, const char *what, uint64_t otherwise,
                         uint64_t max, uint64_t **at, size_t *count)
{
    sv__words words = {0};
    for (size_t i = 0; i < list.length; i++)
        SV_TRY(sv__expand_numbers(a->arena, list.at[i], &words));
    *count = words.length > 0 ? words.length : 1;
    *at = SV_ARENA_NEW(a->arena, uint64_t, *count);
    if (*at == NULL)
        return SV_NO_MEMORY;
    (*at)[0] = otherwise;
    for (size_t i = 0; i < words.length; i++)
        if (!sv_span_number(sv_span_of(words.at[i]), max, &(*at)[i]))
            return sv_refuse(a->ctx, "%s: '%.100s' is not a number up to %llu", what, words.at[i],
                             (unsigned long long)max);
    return SV_OK;
}

static sv_status loads(struct axes *a, sv_study_list list)
{
    sv__words words = {0};
    for (size_t i = 0; i < list.length; i++)
        SV_TRY(sv__expand_numbers(a->arena, list.at[i], &words));
    a->num_loads = words.length > 0 ? words.length : 1;
    a->loads = SV_ARENA_NEW(a->arena, double, a->num_loads);
    if (a->loads == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < words.length; i++) {
        char *end;
        a->loads[i] = strtod(words.at[i], &end);
        if (*end != 0 || end == words.at[i] || !(a->loads[i] >= 0 && a->loads[i] <= 1))
            return sv_refuse(a->ctx, "loads: '%.100s' is not a number from 0 to 1", words.at[i]);
    }
    return SV_OK;
}

/* ---- engines ---- */

static const sv_engine_info *engine_named(sv_span name)
{
    const sv_engine_info *info = NULL;
    for (size_t i = 0; (info = sv_engine_at(i)) != NULL && !sv_span_is(name, info->name); i++)
        ;
    return info;
}

/* Starts an engine of that name. */
static sv_status new_router(struct axes *a, sv_span name)
{
    const sv_engine_info *info = engine_named(name);
    if (info == NULL) {
        const char *text = sv_arena_text(a->arena, name.at, name.length);
        return text == NULL ? SV_NO_MEMORY : sv_route_check(a->ctx, text, NULL);
    }
    if (a->num_routers == a->routers_room) {
        size_t room = 2 * a->routers_room + 16;
        sv__router *at = SV_ARENA_NEW(a->arena, sv__router, room);
        if (at == NULL)
            return SV_NO_MEMORY;
        if (a->num_routers > 0)
            memcpy(at, a->routers, a->num_routers * sizeof *at);
        a->routers = at;
        a->routers_room = room;
    }
    a->routers[a->num_routers++] = (sv__router){.name = info->name, .words = "", .digest = ""};
    return SV_OK;
}

static sv_status add_option(struct axes *a, sv_span piece)
{
    sv__router *router = &a->routers[a->num_routers - 1];
    size_t length = (size_t)((const char *)memchr(piece.at, '=', piece.length) - piece.at);
    SV_TRY(sv__digest_value(a->arena, piece.at + length + 1, piece.length - length - 1,
                            &router->digest));
    sv__words options = {router->options, router->num_options, router->num_options};
    SV_TRY(sv__words_add(a->arena, &options, piece.at, piece.length));
    router->options = options.at;
    router->num_options = options.length;
    router->words = sv__print(a->arena, "%s%s%.*s", router->words, *router->words == 0 ? "" : " ",
                              SV_SPAN(piece));
    return router->words == NULL ? SV_NO_MEMORY : SV_OK;
}

/*
 * "nue,dfsssp,assign=weakest,all": what has a = is an option of the engine before it. Studies know
 * no jobs, without which sar is dfsssp: all is without it.
 */
static sv_status add_routers(struct axes *a, const char *text)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    size_t before = a->num_routers;
    for (bool more = true; more;) {
        sv_span piece;
        const sv_engine_info *info;
        more = sv_scan_until(&scan, ',', &piece);
        if (!more)
            piece = sv_scan_rest(&scan);
        if (piece.length > 0 && memchr(piece.at, '=', piece.length) != NULL) {
            if (a->num_routers == before)
                return sv_refuse(a->ctx, "engines: '%.*s' comes before an engine", SV_SPAN(piece));
            SV_TRY(add_option(a, piece));
        } else if (sv_span_is(piece, "all"))
            for (size_t k = 0; (info = sv_engine_at(k)) != NULL; k++)
                SV_TRY(strcmp(info->name, "sar") == 0 ? SV_OK
                                                      : new_router(a, sv_span_of(info->name)));
        else
            SV_TRY(new_router(a, piece));
    }
    return SV_OK;
}

/* ---- tables ---- */

static sv_status tables(struct axes *a, sv_study_list list)
{
    if (a->num_faults != 1 || a->faults[0].kind != SV__NO_FAULTS)
        return sv_refuse(a->ctx, "tables are for the fabric as it is: failures need engines");
    a->routers = SV_ARENA_NEW(a->arena, sv__router, list.length);
    if (a->routers == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < list.length; i++) {
        sv__router *router = &a->routers[a->num_routers++];
        char *path = sv_arena_text(a->arena, list.at[i], strlen(list.at[i]));
        if (path == NULL)
            return SV_NO_MEMORY;
        *router = (sv__router){.name = "tables", .words = path, .tables = path};
        SV_TRY(sv__digest(a->arena, path, &router->digest));
        if (i > 0)
            SV_TRY(sv__same_fabric(a->arena, a->routers[0].tables, path));
    }
    return SV_OK;
}

static sv_status routers(struct axes *a, sv_study_list list)
{
    for (size_t i = 0; i < list.length; i++)
        SV_TRY(add_routers(a, list.at[i]));
    if (list.length == 0)
        return add_routers(a, "all");
    for (size_t i = 0; i < a->num_routers; i++) {
        const sv__router *router = &a->routers[i];
        const sv_route_request request = {.options = router->options,
                                          .num_options = router->num_options};
        SV_TRY(sv_route_check(a->ctx, router->name, &request));
    }
    return SV_OK;
}

/* ---- fabrics ---- */

static sv_status fabrics(struct axes *a, sv_study_list list)
{
    if (a->num_routers > 0 && list.length == 0) { /* tables: with their fabric in them */
        SV_TRY(sv__words_add(a->arena, &a->fabrics, a->routers[0].tables,
                             strlen(a->routers[0].tables)));
        return sv__words_add(a->arena, &a->digests, "", 0);
    }
    if (list.length == 0)
        return sv_refuse(a->ctx, "a study needs a fabric");
    for (size_t i = 0; i < list.length; i++) {
        struct stat about;
        if (stat(list.at[i], &about) == 0) /* a file, whatever its name looks like */
            SV_TRY(sv__words_add(a->arena, &a->fabrics, list.at[i], strlen(list.at[i])));
        else
            SV_TRY(sv__expand_spec(a->arena, list.at[i], &a->fabrics));
    }
    for (size_t i = 0; i < a->fabrics.length; i++) {
        const char *text;
        SV_TRY(sv__digest(a->arena, a->fabrics.at[i], &text));
        SV_TRY(sv__words_add(a->arena, &a->digests, text, strlen(text)));
    }
    for (size_t i = 0; i < a->num_faults; i++) {
        const char *text;
        sv__fault *fault = &a->faults[i];
        if (fault->kind != SV__STATE)
            continue;
        SV_TRY(sv__digest(a->arena, fault->file, &text));
        fault->words = sv__print(a->arena, "state %s%s", fault->file, text);
        if (fault->words == NULL)
            return SV_NO_MEMORY;
    }
    return SV_OK;
}

/* ---- what is measured ---- */

/* "links/1,2,5/100" */
static sv_status parse_lost(struct axes *a, const char *text)
{
    sv_lost_plan *lost = &a->study->lost;
    sv_scan scan = sv_scan_of(sv_span_of(text));
    sv_span kind, list;
    uint64_t trials, *at;
    size_t count;
    bool fine = sv_scan_until(&scan, '/', &kind) && sv_scan_until(&scan, '/', &list) &&
                sv_scan_number(&scan, 1000000, &trials) && sv_scan_done(&scan) && trials > 0 &&
                (sv_span_is(kind, "links") || sv_span_is(kind, "switches"));
    if (!fine)
        return sv_refuse(a->ctx, "lost: '%.100s' is not KIND/NUMBERS/TRIALS (links/1,2,5/100)",
                         text);
    const char *copy = sv_arena_text(a->arena, list.at, list.length);
    if (copy == NULL)
        return SV_NO_MEMORY;
    SV_TRY(numbers(a, (sv_study_list){&copy, 1}, "lost", 0, UINT32_MAX - 1, &at, &count));
    uint32_t *failures = SV_ARENA_NEW(a->arena, uint32_t, count);
    if (failures == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        failures[i] = (uint32_t)at[i];
        if ((i > 0 && at[i] <= at[i - 1]) || count > 200)
            return sv_refuse(a->ctx, "lost: numbers ascend and are at most 200");
    }
    *lost = (sv_lost_plan){.switches = sv_span_is(kind, "switches"),
                           .seed = 1,
                           .trials = (uint32_t)trials,
                           .failures = failures,
                           .count = (uint32_t)count};
    return SV_OK;
}

/* "qdr,ways=2" */
static sv_status parse_profile(struct axes *a, const char *text)
{
    sv_scan scan = sv_scan_of(sv_span_of(text));
    sv_span piece;
    bool more = sv_scan_until(&scan, ',', &piece);
    char *name = more ? sv_arena_text(a->arena, piece.at, piece.length)
                      : sv_arena_text(a->arena, text, strlen(text));
    if (name == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_profile_model(a->ctx, name, &a->study->model));
    while (more) {
        more = sv_scan_until(&scan, ',', &piece);
        if (!more)
            piece = sv_scan_rest(&scan);
        char *set = sv_arena_text(a->arena, piece.at, piece.length);
        if (set == NULL)
            return SV_NO_MEMORY;
        SV_TRY(sv_sim_param_set(a->ctx, &a->study->model, set));
    }
    a->profile = sv_arena_text(a->arena, text, strlen(text));
    return a->profile == NULL ? SV_NO_MEMORY : SV_OK;
}

/* A pattern that there is, or a file of messages, which counts by what it holds. */
static sv_status add_traffic(struct axes *a, const char *text)
{
    const char *held = "";
    SV_TRY(sv_sim_traffic_check(a->ctx, text));
    SV_TRY(sv__words_add(a->arena, &a->traffic, text, strlen(text)));
    if (strncmp(text, "file:", 5) == 0)
        SV_TRY(sv__digest(a->arena, text + 5, &held));
    return sv__words_add(a->arena, &a->held, held, strlen(held));
}

static sv_status measures(struct axes *a, const sv_study_request *q)
{
    sv_study *s = a->study;
    s->simulate = !q->no_simulation;
    s->bound = q->bound;
    s->matchings = q->matchings;
    if (q->lost != NULL)
        SV_TRY(parse_lost(a, q->lost));
    char *what = sv__print(a->arena, "metrics");
    if (what != NULL && q->bound)
        what = sv__print(a->arena, "%s bound", what);
    if (what != NULL && q->matchings > 0)
        what = sv__print(a->arena, "%s ebb=%u", what, q->matchings);
    if (what != NULL && q->lost != NULL)
        what = sv__print(a->arena, "%s lost=%s", what, q->lost);
    if (what != NULL && s->simulate)
        what = sv__print(a->arena, "%s sim", what);
    s->what = what;
    if (what == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; s->simulate && i < q->traffic.length; i++)
        SV_TRY(add_traffic(a, q->traffic.at[i]));
    if (a->traffic.length == 0) {
        SV_TRY(sv__words_add(a->arena, &a->traffic, s->simulate ? "exchange" : "",
                             s->simulate ? 8 : 0));
        SV_TRY(sv__words_add(a->arena, &a->held, "", 0));
    }
    SV_TRY(parse_profile(a, q->profile != NULL ? q->profile : "qdr"));
    if (!s->simulate)
        a->profile = "";
    const sv_study_list none = {0};
    SV_TRY(loads(a, s->simulate ? q->loads : none));
    return numbers(a, s->simulate ? q->messages : none, "message bytes", 0, UINT32_MAX - 1,
                   &a->messages, &a->num_messages);
}

/* ---- the product ---- */

/* Adds a cell, unless it is there. */
static sv_status add_cell(struct axes *a, sv_names *keys, sv__cell cell, const char *file_digest,
                          uint32_t *room)
{
    sv_study *s = a->study;
    cell.key =
        sv__print(a->arena,
                  "fabric=%s%s faults=%s seed=%llu engine=%s vls=%u options=%s%s traffic=%s%s "
                  "profile=%s message=%u load=%g what=%s",
                  cell.fabric, file_digest, cell.fault->words, (unsigned long long)cell.seed,
                  cell.router->name, cell.vls, cell.router->words, cell.router->digest,
                  cell.traffic, cell.held, cell.profile, cell.message, cell.load, s->what);
    if (cell.key == NULL)
        return SV_NO_MEMORY;
    uint32_t held;
    SV_TRY(sv_names_add(keys, sv_span_of(cell.key), s->num_cells, &held));
    if (held != s->num_cells)
        return SV_OK;
    if (s->num_cells == MAX_CELLS)
        return sv_refuse(a->ctx, "the plan has more than a million cells");
    if (s->num_cells == *room) {
        *room = 2 * *room + 64;
        sv__cell *cells = sv_arena_raw(a->arena, *room, sizeof *cells);
        if (cells == NULL)
            return SV_NO_MEMORY;
        if (s->num_cells > 0)
            memcpy(cells, s->cells, s->num_cells * sizeof *cells);
        s->cells = cells;
    }
    cell.place = s->num_cells;
    s->cells[s->num_cells++] = cell;
    return SV_OK;
}

/* All that is left to choose for a fabric with failures, a seed and an engine. */
static sv_status add_runs(struct axes *a, sv_names *keys, sv__cell cell, const char *file_digest,
                          uint32_t *room)
{
    for (size_t v = 0; v < a->num_vls; v++)
        for (size_t t = 0; t < a->traffic.length; t++)
            for (size_t m = 0; m < a->num_messages; m++)
                for (size_t l = 0; l < a->num_loads; l++) {
                    cell.vls = (unsigned)a->vls[v];
                    cell.traffic = a->traffic.at[t];
                    cell.held = a->held.at[t];
                    cell.message = (uint32_t)(a->messages[m] > 0 || !a->study->simulate
                                                  ? a->messages[m]
                                                  : a->study->model.mtu_bytes);
                    cell.load = a->loads[l];
                    SV_TRY(add_cell(a, keys, cell, file_digest, room));
                }
    return SV_OK;
}

static sv_status multiply(struct axes *a, const sv_study_request *q, sv_names *keys)
{
    uint32_t room = 0;
    for (size_t f = 0; f < a->fabrics.length; f++)
        for (size_t k = 0; k < a->num_faults; k++)
            for (size_t s = 0; s < a->num_seeds; s++)
                for (size_t r = 0; r < a->num_routers; r++) {
                    const sv__fault *fault = &a->faults[k];
                    bool drawn = fault->kind != SV__NO_FAULTS && fault->kind != SV__STATE;
                    const sv__cell cell = {.fabric = a->fabrics.at[f],
                                           .fault = fault,
                                           .router = &a->routers[r],
                                           .profile = a->profile,
                                           .seed = drawn ? a->seeds[s] : 0,
                                           .keep = q->keep_all || (!q->keep_none && s == 0)};
                    SV_TRY(add_runs(a, keys, cell, a->digests.at[f], &room));
                }
    return SV_OK;
}

/*
 * Only the cells of one part. Of each run of parts cells every part has one, at a place that is
 * drawn for the run, so that no part gets only the engines that take long.
 */
static void take_part(sv_study *s, uint32_t part, uint32_t parts)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->num_cells; i++) {
        uint64_t turn = i / parts * 0x9e3779b97f4a7c15 >> 32;
        if ((i + turn) % parts == part - 1)
            s->cells[kept++] = s->cells[i];
    }
    s->num_cells = kept;
}

/* ---- in words ---- */

/* An option with its value as a shell takes it. */
static void word(sv_text *out, const char *option, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                ":=,./_-+%";
    if (value == NULL)
        return;
    sv_text_print(out, " --%s ", option);
    if (*value != 0 && value[strspn(value, plain)] == 0) {
        sv_text_print(out, "%s", value);
        return;
    }
    sv_text_print(out, "'");
    for (const char *c = value; *c != 0; c++)
        if (*c == '\'')
            sv_text_print(out, "'\\''");
        else
            sv_text_add(out, c, 1);
    sv_text_print(out, "'");
}

static void list_words(sv_text *out, const char *option, sv_study_list list)
{
    for (size_t i = 0; i < list.length; i++)
        word(out, option, list.at[i]);
}

static sv_status canonical(struct axes *a, const sv_study_request *q)
{
    sv_text out;
    sv_text_init(&out, a->ctx, NULL);
    sv_text_print(&out, "%s", q->study);
    list_words(&out, "fabric", q->fabrics);
    list_words(&out, "links", q->links);
    list_words(&out, "switches", q->switches);
    list_words(&out, "both", q->both);
    word(&out, "ratio", q->both.length > 0 ? q->ratio : NULL);
    list_words(&out, "years", q->years);
    word(&out, "model", q->years.length > 0 ? q->model : NULL);
    list_words(&out, "state", q->states);
    list_words(&out, "seeds", q->seeds);
    list_words(&out, "engine", q->tables.length > 0 ? (sv_study_list){0} : q->engines);
    list_words(&out, "tables", q->tables);
    list_words(&out, "vls", q->vls);
    if (q->no_simulation)
        sv_text_print(&out, " --no-sim");
    else {
        list_words(&out, "traffic", q->traffic);
        list_words(&out, "message", q->messages);
        list_words(&out, "load", q->loads);
        word(&out, "profile", q->profile);
    }
    if (q->bound)
        sv_text_print(&out, " --bound");
    if (q->matchings > 0)
        sv_text_print(&out, " --ebb %u", q->matchings);
    word(&out, "lost", q->lost);
    if (q->keep_all || q->keep_none)
        sv_text_print(&out, " --keep %s", q->keep_all ? "all" : "none");
    sv_status status = sv_text_finish(&out);
    if (status == SV_OK) {
        a->study->words = sv_arena_text(a->arena, out.at, out.length);
        status = a->study->words == NULL ? SV_NO_MEMORY : SV_OK;
    }
    sv_text_release(&out);
    return status;
}

static sv_status make(struct axes *a, const sv_study_request *q, sv_names *keys)
{
    if (q->parts > 0 && (q->part == 0 || q->part > q->parts))
        return sv_refuse(a->ctx, "part %u of %u: parts are 1 to %u", q->part, q->parts, q->parts);
    SV_TRY(sv__fault_axis(a->ctx, a->arena, q, &a->faults, &a->num_faults));
    if (q->tables.length > 0 && q->fabrics.length > 0)
        return sv_refuse(a->ctx, "tables come with their fabric: give none besides");
    if (q->tables.length > 0)
        SV_TRY(tables(a, q->tables));
    SV_TRY(fabrics(a, q->fabrics));
    SV_TRY(numbers(a, q->seeds, "seeds", 1, UINT64_MAX / 2, &a->seeds, &a->num_seeds));
    SV_TRY(numbers(a, q->vls, "vls", 0, SV_MAX_VLS, &a->vls, &a->num_vls));
    if (q->tables.length == 0)
        SV_TRY(routers(a, q->engines));
    SV_TRY(measures(a, q));
    SV_TRY(multiply(a, q, keys));
    if (q->parts > 0)
        take_part(a->study, q->part, q->parts);
    return canonical(a, q);
}

sv_status sv_study_new(sv_ctx *ctx, const sv_study_request *request, sv_study **study)
{
    sv_study *made = sv_alloc(ctx, 1, sizeof *made);
    if (made == NULL)
        return SV_NO_MEMORY;
    made->ctx = ctx;
    sv_arena_init(&made->arena, ctx);
    sv_names keys;
    sv_names_init(&keys, ctx);
    struct axes axes = {.study = made, .ctx = ctx, .arena = &made->arena};
    made->name = sv_arena_text(&made->arena, request->study, strlen(request->study));
    sv_status status = made->name == NULL ? SV_NO_MEMORY : make(&axes, request, &keys);
    sv_names_release(&keys);
    if (status == SV_OK)
        *study = made;
    else
        sv_study_free(made);
    return status;
}

void sv_study_free(sv_study *study)
{
    if (study == NULL)
        return;
    sv_arena_release(&study->arena);
    sv_release(study->ctx, study);
}

uint32_t sv_study_cells(const sv_study *study)
{
    return study->num_cells;
}

const char *sv_study_key(const sv_study *study, uint32_t cell)
{
    return study->cells[cell].key;
}

const char *sv_study_words(const sv_study *study)
{
    return study->words;
}
