/*
 * cases.c: reads the cells of a database with their results.
 *
 * Idea: one query brings everything; names become small numbers as they come, in the order in which
 * the plan has them; then the cases are put in order. What belongs together is a run after that,
 * and single cases are found by bisection.
 *
 * A cell can have been measured by several plans that ask for different things (its key has them).
 * For answers that is one case: the last one counts, and what it did not measure is taken from
 * those before it.
 *
 * Invariant: no two cases agree in fabric, traffic, contender, level and seed.
 * Cost: O(cells log cells), some 300 bytes a cell.
 */
#include "study/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

static const char *const value_columns[SV__NUM_VALUES] = {
    [SV__LINKS_FAILED] = "r.links_failed",
    [SV__SWITCHES_FAILED] = "r.switches_failed",
    [SV__ADAPTERS_FAILED] = "r.adapters_failed",
    [SV__SWITCHES] = "r.switches",
    [SV__TERMINALS] = "r.terminals",
    [SV__LINKS] = "r.links",
    [SV__VLS_NEEDED] = "r.vls_needed",
    [SV__VLS_USED] = "r.vls_used",
    [SV__FALLBACKS] = "r.fallbacks",
    [SV__EFI_MIN] = "r.efi_min",
    [SV__EFI_AVG] = "r.efi_avg",
    [SV__EFI_MAX] = "r.efi_max",
    [SV__EFI_SDV] = "r.efi_sdv",
    [SV__EFI_BOUND] = "r.efi_bound",
    [SV__HOPS_AVG] = "r.hops_avg",
    [SV__HOPS_MAX] = "r.hops_max",
    [SV__EBB_AVG] = "r.ebb_avg",
    [SV__EBB_MIN] = "r.ebb_min",
    [SV__EBB_MAX] = "r.ebb_max",
    [SV__EBB_SDV] = "r.ebb_sdv",
    [SV__THROUGHPUT] = "r.throughput",
    [SV__LATENCY_AVG] = "r.latency_avg",
    [SV__LATENCY_P99] = "r.latency_p99",
    [SV__ROUTE_SECONDS] = "s.route_seconds",
};

/* Columns of the query in front of the values. */
enum {
    AT_ID,
    AT_FABRIC,
    AT_FAULTS,
    AT_KIND,
    AT_UNIT,
    AT_AMOUNT,
    AT_SEED,
    AT_ENGINE,
    AT_VLS,
    AT_OPTIONS,
    AT_TRAFFIC,
    AT_PROFILE,
    AT_MESSAGE,
    AT_LOAD,
    AT_STATUS,
    AT_WORDS,
    AT_VALUES
};

sv_status sv__sql_failed(sv_ctx *ctx, sqlite3 *db)
{
    int code = sqlite3_errcode(db);
    return sv_fail(ctx, code == SQLITE_NOMEM ? SV_NO_MEMORY : SV_IO, "the database: %s",
                   sqlite3_errmsg(db));
}

/* ---- names become numbers ---- */

typedef struct name_list {
    sv_names map;
    SV_ARRAY(const char *) names;
} name_list;

typedef struct reader {
    sv__cases *cases;
    sv_ctx *ctx;
    sv_arena *arena;
    sqlite3 *db;
    name_list fabrics, groups, levels, families, contenders, traffics;
    SV_ARRAY(sv__fabric) fabric;
    SV_ARRAY(sv__level) level;
    SV_ARRAY(sv__contender) contender;
    SV_ARRAY(sv__case) at;
} reader;

static sv_status keep(reader *r, const char *text, const char **kept)
{
    *kept = sv_arena_text(r->arena, text, strlen(text));
    return *kept == NULL ? SV_NO_MEMORY : SV_OK;
}

/* The number of a name; *fresh: it got it just now. */
static sv_status number_of(reader *r, name_list *list, const char *name, uint32_t *number,
                           bool *fresh)
{
    *number = sv_names_get(&list->map, sv_span_of(name));
    *fresh = *number == SV_ABSENT;
    if (!*fresh)
        return SV_OK;
    const char *kept;
    SV_TRY(keep(r, name, &kept));
    *number = (uint32_t)list->names.length;
    SV_TRY(sv_array_push(r->ctx, &list->names, kept));
    return sv_names_add(&list->map, sv_span_of(kept), *number, number);
}

static const char *text_at(sqlite3_stmt *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query, column);
    return text == NULL ? "" : (const char *)text;
}

/* A spec without its seed=: "random:switches=9,seed=4,hosts=2" is "random:switches=9,hosts=2". */
static void without_seed(const char *spec, char *out, size_t size)
{
    size_t length = 0;
    for (const char *c = spec; *c != 0 && length + 1 < size;) {
        if ((*c == ',' || *c == ':') && strncmp(c + 1, "seed=", 5) == 0) {
            const char *rest = c + 6 + strcspn(c + 6, ",");
            if (*c == ':') {
                out[length++] = ':';
                rest += *rest == ',';
            }
            c = rest;
        } else {
            out[length++] = *c++;
        }
    }
    out[length] = 0;
}

static sv_status note_fabric(reader *r, const char *name, uint32_t *number)
{
    bool fresh, fresh_group;
    char group[512];
    sv__fabric fabric = {.switches = NAN, .terminals = NAN, .links = NAN};
    SV_TRY(number_of(r, &r->fabrics, name, number, &fresh));
    if (!fresh)
        return SV_OK;
    without_seed(name, group, sizeof group);
    SV_TRY(number_of(r, &r->groups, group, &fabric.group, &fresh_group));
    fabric.name = r->fabrics.names.at[*number];
    return sv_array_push(r->ctx, &r->fabric, fabric);
}

static sv__cause kind_of(const char *kind)
{
    static const char *const names[] = {"none", "link", "switch", "both", "years", "state"};
    for (int i = 0; i < 6; i++)
        if (strcmp(kind, names[i]) == 0)
            return (sv__cause)i;
    return SV__CAUSE_BOTH;
}

/* Its words without the amount: "both 3% 1:13" is of "both 1:13". All states are one family. */
static void family_of(const char *words, sv__cause kind, char *out, size_t size)
{
    if (kind == SV__CAUSE_STATE) { /* the rest is the name of a file, blanks and all */
        snprintf(out, size, "state");
        return;
    }
    size_t first = strcspn(words, " ");
    const char *rest = words + first + (words[first] == ' ');
    rest += strcspn(rest, " ");
    snprintf(out, size, "%.*s%s", (int)(first > 60 ? 60 : first), words, rest);
}

static sv_status note_level(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh, fresh_family;
    char family[256];
    SV_TRY(number_of(r, &r->levels, text_at(query, AT_FAULTS), number, &fresh));
    if (!fresh)
        return SV_OK;
    sv__level level = {.words = r->levels.names.at[*number],
                       .kind = kind_of(text_at(query, AT_KIND)),
                       .amount = sqlite3_column_double(query, AT_AMOUNT)};
    family_of(level.words, level.kind, family, sizeof family);
    SV_TRY(number_of(r, &r->families, family, &level.family, &fresh_family));
    SV_TRY(keep(r, text_at(query, AT_UNIT), &level.unit));
    return sv_array_push(r->ctx, &r->level, level);
}

static sv_status note_contender(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh;
    char full[512], lanes[24] = "";
    sv__contender contender = {.vls = sqlite3_column_int(query, AT_VLS)};
    const char *options = text_at(query, AT_OPTIONS);
    if (contender.vls != 0)
        snprintf(lanes, sizeof lanes, "/%d", contender.vls);
    snprintf(full, sizeof full, "%s%s%s%s", text_at(query, AT_ENGINE), lanes,
             options[0] != 0 ? " " : "", options);
    SV_TRY(number_of(r, &r->contenders, full, number, &fresh));
    if (!fresh)
        return SV_OK;
    contender.full = contender.name = r->contenders.names.at[*number];
    SV_TRY(keep(r, text_at(query, AT_ENGINE), &contender.engine));
    SV_TRY(keep(r, options, &contender.options));
    return sv_array_push(r->ctx, &r->contender, contender);
}

static sv_status note_traffic(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh;
    char text[512] = "", load[40] = "";
    double share = sqlite3_column_double(query, AT_LOAD);
    if (share > 0)
        snprintf(load, sizeof load, " at load %g", share);
    if (text_at(query, AT_TRAFFIC)[0] != 0)
        snprintf(text, sizeof text, "%s %lld bytes%s, %s", text_at(query, AT_TRAFFIC),
                 (long long)sqlite3_column_int64(query, AT_MESSAGE), load,
                 text_at(query, AT_PROFILE));
    return number_of(r, &r->traffics, text, number, &fresh);
}

/* ---- one case ---- */

static sv__outcome outcome_of(const char *status)
{
    static const char *const names[] = {"ok", "unsafe", "deadlock", "incomplete", "engine"};
    for (int i = 0; i < 5; i++)
        if (strcmp(status, names[i]) == 0)
            return (sv__outcome)i;
    return SV__CASE_OTHER;
}

static sv_status note_case(reader *r, sqlite3_stmt *query)
{
    sv__case c = {.id = sqlite3_column_int64(query, AT_ID),
                  .seed = sqlite3_column_int64(query, AT_SEED),
                  .outcome = outcome_of(text_at(query, AT_STATUS))};
    SV_TRY(note_fabric(r, text_at(query, AT_FABRIC), &c.fabric));
    SV_TRY(note_level(r, query, &c.level));
    SV_TRY(note_contender(r, query, &c.contender));
    SV_TRY(note_traffic(r, query, &c.traffic));
    const char *words = text_at(query, AT_WORDS), *status = text_at(query, AT_STATUS);
    SV_TRY(keep(r, words[0] == 0 && c.outcome != SV__CASE_OK ? status : words, &c.words));
    for (int v = 0; v < SV__NUM_VALUES; v++)
        c.value[v] = sqlite3_column_type(query, AT_VALUES + v) == SQLITE_NULL
                         ? NAN
                         : sqlite3_column_double(query, AT_VALUES + v);
    return sv_array_push(r->ctx, &r->at, c);
}

static sv_status read_all(reader *r, const sv_answer_options *options)
{
    char sql[2000] = "SELECT c.id, c.fabric, c.faults, c.fault_kind, c.fault_unit, c.fault_amount,"
                     " c.seed, c.engine, c.vls, c.options, c.traffic, c.profile, c.message, c.load,"
                     " r.status, r.words";
    for (int v = 0; v < SV__NUM_VALUES; v++) {
        strcat(sql, ", ");
        strcat(sql, value_columns[v]);
    }
    strcat(sql, " FROM cell c JOIN result r ON r.cell = c.id LEFT JOIN spent s ON s.cell = c.id"
                " WHERE (?1 = 0 OR c.id IN (SELECT cell FROM planned WHERE plan = ?1))"
                " AND (?2 IS NULL OR c.fabric = ?2) ORDER BY c.id");
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &query, NULL) != SQLITE_OK)
        return sv__sql_failed(r->ctx, r->db);
    sqlite3_bind_int64(query, 1, options->plan);
    sqlite3_bind_text(query, 2, options->fabric, -1, SQLITE_STATIC);
    sv_status status = SV_OK;
    int step;
    while ((step = sqlite3_step(query)) == SQLITE_ROW && status == SV_OK) {
        status = note_case(r, query);
        if (status == SV_OK && r->at.length % 1024 == 0)
            status = sv_progress(r->ctx, "reading cells", r->at.length, 0);
    }
    if (status == SV_OK && step != SQLITE_DONE)
        status = sv__sql_failed(r->ctx, r->db);
    sqlite3_finalize(query);
    return status;
}

/* ---- what else there is to know ---- */

static sv_status count_open(reader *r, const sv_answer_options *options)
{
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(r->db,
                           "SELECT count(*) FROM cell c WHERE NOT EXISTS"
                           " (SELECT 1 FROM result WHERE cell = c.id)"
                           " AND (?1 = 0 OR c.id IN (SELECT cell FROM planned WHERE plan = ?1))"
                           " AND (?2 IS NULL OR c.fabric = ?2)",
                           -1, &query, NULL) != SQLITE_OK)
        return sv__sql_failed(r->ctx, r->db);
    sqlite3_bind_int64(query, 1, options->plan);
    sqlite3_bind_text(query, 2, options->fabric, -1, SQLITE_STATIC);
    bool found = sqlite3_step(query) == SQLITE_ROW;
    if (found)
        r->cases->open = (size_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return found ? SV_OK : sv__sql_failed(r->ctx, r->db);
}

static sv_status read_fabrics(reader *r)
{
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT name, switches, terminals, links FROM fabric", -1, &query,
                           NULL) != SQLITE_OK)
        return sv__sql_failed(r->ctx, r->db);
    int step;
    while ((step = sqlite3_step(query)) == SQLITE_ROW) {
        uint32_t number = sv_names_get(&r->fabrics.map, sv_span_of(text_at(query, 0)));
        if (number == SV_ABSENT)
            continue;
        r->fabric.at[number].switches = sqlite3_column_double(query, 1);
        r->fabric.at[number].terminals = sqlite3_column_double(query, 2);
        r->fabric.at[number].links = sqlite3_column_double(query, 3);
    }
    sqlite3_finalize(query);
    return step == SQLITE_DONE ? SV_OK : sv__sql_failed(r->ctx, r->db);
}

/* Groups of one fabric have its name, seed and all. */
static void name_groups(reader *r)
{
    for (size_t g = 0; g < r->groups.names.length; g++) {
        size_t count = 0, last = 0;
        for (size_t f = 0; f < r->fabric.length; f++)
            if (r->fabric.at[f].group == g)
                count++, last = f;
        if (count == 1)
            r->groups.names.at[g] = r->fabric.at[last].name;
    }
}

/* If all have the same number of lanes, names do not repeat it. */
static sv_status name_contenders(reader *r)
{
    bool same = true;
    for (size_t i = 1; i < r->contender.length; i++)
        same = same && r->contender.at[i].vls == r->contender.at[0].vls;
    for (size_t i = 0; same && i < r->contender.length; i++) {
        sv__contender *c = &r->contender.at[i];
        char name[512];
        snprintf(name, sizeof name, "%s%s%s", c->engine, c->options[0] != 0 ? " " : "", c->options);
        SV_TRY(keep(r, name, &c->name));
    }
    return SV_OK;
}

static bool level_before(const sv__level *a, const sv__level *b)
{
    bool free_a = a->kind == SV__CAUSE_NONE, free_b = b->kind == SV__CAUSE_NONE;
    if (free_a != free_b)
        return free_a;
    if (a->family != b->family)
        return a->family < b->family;
    int unit = strcmp(a->unit, b->unit);
    return unit != 0 ? unit < 0 : a->amount < b->amount;
}

static void rank_levels(reader *r)
{
    for (size_t i = 0; i < r->level.length; i++) {
        uint32_t rank = 0;
        for (size_t k = 0; k < r->level.length; k++)
            rank += level_before(&r->level.at[k], &r->level.at[i]) ||
                    (k < i && !level_before(&r->level.at[i], &r->level.at[k]));
        r->level.at[i].rank = rank;
    }
    for (size_t i = 0; i < r->at.length; i++)
        r->at.at[i].rank = r->level.at[r->at.at[i].level].rank;
}

/* ---- order ---- */

static int compare_places(const sv__case *a, const sv__case *b)
{
    const uint32_t x[] = {a->fabric, a->traffic, a->contender, a->rank};
    const uint32_t y[] = {b->fabric, b->traffic, b->contender, b->rank};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return (a->seed > b->seed) - (a->seed < b->seed);
}

static int compare_cases(const void *a, const void *b)
{
    const sv__case *x = a, *y = b;
    int order = compare_places(x, y);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

static void put_in_order(reader *r)
{
    sv__case *at = r->at.at;
    size_t count = 0;
    if (r->at.length > 1)
        qsort(at, r->at.length, sizeof *at, compare_cases);
    for (size_t i = 0; i < r->at.length; i++) {
        if (count == 0 || compare_places(&at[count - 1], &at[i]) != 0) {
            at[count++] = at[i];
            continue;
        }
        sv__case older = at[count - 1];
        at[count - 1] = at[i];
        for (int v = 0; v < SV__NUM_VALUES; v++)
            if (isnan(at[i].value[v]))
                at[count - 1].value[v] = older.value[v];
    }
    r->cases->repeated = r->at.length - count;
    r->at.length = count;
}

/* A growing array becomes one of the arena. */
static sv_status move(reader *r, const void *from, size_t count, size_t size, void **to)
{
    *to = sv_arena_raw(r->arena, count + 1, size);
    if (*to == NULL)
        return SV_NO_MEMORY;
    if (count > 0)
        memcpy(*to, from, count * size);
    return SV_OK;
}

#define MOVE(r, array, field, number)                                                              \
    SV_TRY(move((r), (r)->array.at, (r)->array.length, sizeof *(r)->array.at,                      \
                (void **)&(r)->cases->field));                                                     \
    (r)->cases->number = (r)->array.length

static sv_status hand_over(reader *r)
{
    MOVE(r, at, at, count);
    MOVE(r, fabric, fabrics, num_fabrics);
    MOVE(r, level, levels, num_levels);
    MOVE(r, contender, contenders, num_contenders);
    MOVE(r, traffics.names, traffics, num_traffics);
    MOVE(r, families.names, families, num_families);
    MOVE(r, groups.names, groups, num_groups);
    return SV_OK;
}

static sv_status read_and_order(reader *r, const sv_answer_options *options)
{
    uint32_t none;
    bool fresh;
    SV_TRY(number_of(r, &r->traffics, "", &none, &fresh));
    SV_TRY(read_all(r, options));
    SV_TRY(count_open(r, options));
    SV_TRY(read_fabrics(r));
    name_groups(r);
    SV_TRY(name_contenders(r));
    rank_levels(r);
    put_in_order(r);
    return hand_over(r);
}

sv_status sv__cases_read(sv__cases *cases, sv_arena *arena, sqlite3 *db,
                         const sv_answer_options *options)
{
    reader r = {.cases = cases, .ctx = arena->ctx, .arena = arena, .db = db};
    name_list *lists[] = {&r.fabrics,  &r.groups,     &r.levels,
                          &r.families, &r.contenders, &r.traffics};
    *cases = (sv__cases){.ctx = arena->ctx, .arena = arena, .db = db};
    for (int i = 0; i < 6; i++)
        sv_names_init(&lists[i]->map, r.ctx);
    sv_status status = read_and_order(&r, options);
    for (int i = 0; i < 6; i++) {
        sv_names_release(&lists[i]->map);
        sv_array_release(r.ctx, &lists[i]->names);
    }
    sv_array_release(r.ctx, &r.fabric);
    sv_array_release(r.ctx, &r.level);
    sv_array_release(r.ctx, &r.contender);
    sv_array_release(r.ctx, &r.at);
    return status;
}
