/*
 * cases.c: reads the cells of a database with their results.
 *
 * Idea: one query brings everything; names become small numbers as they come, in the order in which
 * the plan has them; then the cases are put in order (cases_order.c). What belongs together is a
 * run after that, and single cases are found by bisection. Files of one name with several contents
 * are several fabrics.
 *
 * Invariant: no two cases agree in fabric, traffic, contender, level and seed.
 * Cost: O(cells log cells), some 300 bytes a cell.
 */
#include "study/cases.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"

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
    AT_KEY,
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
    return sv_database_fail(ctx, db, NULL, "read");
}

/* ---- names become numbers ---- */

typedef struct name_list {
    sv_names map;
    SV_ARRAY(const char *) names;
} name_list;

typedef struct reader {
    sv__study_cases *cases;
    sv_ctx *ctx;
    sv_arena *arena;
    sqlite3 *db;
    name_list fabrics, groups, levels, families, contenders, traffics;
    SV_ARRAY(sv__fabric) fabric;
    SV_ARRAY(sv__level) level;
    SV_ARRAY(sv__contender) contender;
    SV_ARRAY(sv__study_case) at;
    sv_text words; /* scratch: names have no length that is known before */
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

/* The scratch, empty again; and what was then printed into it. */
static sv_text *begin(reader *r)
{
    r->words.length = 0;
    return &r->words;
}

static sv_status printed(reader *r, const char **text)
{
    *text = r->words.length == 0 ? "" : r->words.at;
    return sv_text_finish(&r->words);
}

/* A spec without its seed=: "random:switches=9,seed=4,hosts=2" is "random:switches=9,hosts=2". */
static void without_seed(const char *spec, sv_text *out)
{
    for (const char *c = spec; *c != 0;) {
        if ((*c == ',' || *c == ':') && strncmp(c + 1, "seed=", 5) == 0) {
            const char *rest = c + 6 + strcspn(c + 6, ",");
            if (*c == ':') {
                sv_text_add(out, ":", 1);
                rest += *rest == ',';
            }
            c = rest;
        } else {
            sv_text_add(out, c++, 1);
        }
    }
}

/* "#…", what a cell's key says of a file's contents behind its name; "" of other fabrics. */
static sv_span digest_of(const char *key, const char *name)
{
    static const char front[] = "fabric=";
    size_t length = strlen(name);
    if (strncmp(key, front, sizeof front - 1) != 0 ||
        strncmp(key + sizeof front - 1, name, length) != 0)
        return (sv_span){"", 0};
    const char *behind = key + sizeof front - 1 + length;
    return (sv_span){behind, *behind == '#' ? strcspn(behind, " ") : 0};
}

static sv_status note_fabric(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh, fresh_group;
    const char *name = text_at(query, AT_FABRIC), *text;
    sv_span digest = digest_of(text_at(query, AT_KEY), name);
    sv__fabric fabric = {.switches = NAN, .terminals = NAN, .links = NAN};
    sv_text_print(begin(r), "%s%.*s", name, (int)digest.length, digest.at);
    SV_TRY(printed(r, &text));
    SV_TRY(number_of(r, &r->fabrics, text, number, &fresh));
    if (!fresh)
        return SV_OK;
    fabric.full = r->fabrics.names.at[*number];
    SV_TRY(keep(r, name, &fabric.name));
    without_seed(fabric.full, begin(r));
    SV_TRY(printed(r, &text));
    SV_TRY(number_of(r, &r->groups, text, &fabric.group, &fresh_group));
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
static void family_of(const char *words, sv__cause kind, sv_text *out)
{
    if (kind == SV__CAUSE_STATE) { /* the rest is the name of a file, blanks and all */
        sv_text_print(out, "state");
        return;
    }
    size_t first = strcspn(words, " ");
    const char *rest = words + first + (words[first] == ' ');
    rest += strcspn(rest, " ");
    sv_text_add(out, words, first);
    sv_text_print(out, "%s", rest);
}

static sv_status note_level(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh, fresh_family;
    const char *family;
    SV_TRY(number_of(r, &r->levels, text_at(query, AT_FAULTS), number, &fresh));
    if (!fresh)
        return SV_OK;
    sv__level level = {.words = r->levels.names.at[*number],
                       .kind = kind_of(text_at(query, AT_KIND)),
                       .amount = sqlite3_column_double(query, AT_AMOUNT)};
    family_of(level.words, level.kind, begin(r));
    SV_TRY(printed(r, &family));
    SV_TRY(number_of(r, &r->families, family, &level.family, &fresh_family));
    SV_TRY(keep(r, text_at(query, AT_UNIT), &level.unit));
    return sv_array_push(r->ctx, &r->level, level);
}

static sv_status note_contender(reader *r, sqlite3_stmt *query, uint32_t *number)
{
    bool fresh;
    sv__contender contender = {.vls = sqlite3_column_int(query, AT_VLS)};
    const char *options = text_at(query, AT_OPTIONS), *full;
    sv_text_print(begin(r), "%s", text_at(query, AT_ENGINE));
    if (contender.vls != 0)
        sv_text_print(&r->words, "/%d", contender.vls);
    sv_text_print(&r->words, "%s%s", options[0] != 0 ? " " : "", options);
    SV_TRY(printed(r, &full));
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
    const char *text;
    double share = sqlite3_column_double(query, AT_LOAD);
    begin(r);
    if (text_at(query, AT_TRAFFIC)[0] != 0) {
        sv_text_print(&r->words, "%s %lld bytes", text_at(query, AT_TRAFFIC),
                      (long long)sqlite3_column_int64(query, AT_MESSAGE));
        if (share > 0)
            sv_text_print(&r->words, " at load %g", share);
        sv_text_print(&r->words, ", %s", text_at(query, AT_PROFILE));
    }
    SV_TRY(printed(r, &text));
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
    sv__study_case c = {.id = sqlite3_column_int64(query, AT_ID),
                        .seed = sqlite3_column_int64(query, AT_SEED),
                        .outcome = outcome_of(text_at(query, AT_STATUS))};
    const char *words = text_at(query, AT_WORDS), *status = text_at(query, AT_STATUS);
    c.undrawn = strcmp(status, "faults") == 0 || strcmp(status, "fabric") == 0;
    c.error = strcmp(status, "error") == 0;
    SV_TRY(note_fabric(r, query, &c.fabric));
    SV_TRY(note_level(r, query, &c.level));
    SV_TRY(note_contender(r, query, &c.contender));
    SV_TRY(note_traffic(r, query, &c.traffic));
    SV_TRY(keep(r, words[0] == 0 && c.outcome != SV__CASE_OK ? status : words, &c.words));
    for (int v = 0; v < SV__NUM_VALUES; v++)
        c.value[v] = sqlite3_column_type(query, AT_VALUES + v) == SQLITE_NULL
                         ? NAN
                         : sqlite3_column_double(query, AT_VALUES + v);
    return sv_array_push(r->ctx, &r->at, c);
}

static sv_status read_all(reader *r, const sv_answer_options *options)
{
    char sql[2000] = "SELECT c.id, c.key, c.fabric, c.faults, c.fault_kind, c.fault_unit,"
                     " c.fault_amount, c.seed, c.engine, c.vls, c.options, c.traffic, c.profile, "
                     "c.message, c.load,"
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

/* Sizes, by names (of the first fabric of each name). */
static sv_status read_sizes(reader *r, const sv_names *names)
{
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(r->db, "SELECT name, switches, terminals, links FROM fabric", -1, &query,
                           NULL) != SQLITE_OK)
        return sv__sql_failed(r->ctx, r->db);
    int step;
    while ((step = sqlite3_step(query)) == SQLITE_ROW) {
        uint32_t number = sv_names_get(names, sv_span_of(text_at(query, 0)));
        if (number == SV_ABSENT || r->fabric.at[number].several)
            continue; /* of several contents nobody knows which one this is of */
        r->fabric.at[number].switches = sqlite3_column_double(query, 1);
        r->fabric.at[number].terminals = sqlite3_column_double(query, 2);
        r->fabric.at[number].links = sqlite3_column_double(query, 3);
    }
    sqlite3_finalize(query);
    return step == SQLITE_DONE ? SV_OK : sv__sql_failed(r->ctx, r->db);
}

/* Of several contents of a file, the second is "name (2)", and their sizes are those measured. */
static sv_status tell_contents_apart(reader *r, sv_names *names)
{
    for (uint32_t i = 0; i < r->fabric.length; i++) {
        sv__fabric *fabric = &r->fabric.at[i];
        uint32_t first;
        SV_TRY(sv_names_add(names, sv_span_of(fabric->name), i, &first));
        if (first == i)
            continue;
        unsigned before = ++r->fabric.at[first].several;
        const char *text;
        fabric->several = 1;
        sv_text_print(begin(r), "%s (%u)", fabric->name, before + 1);
        SV_TRY(printed(r, &text));
        SV_TRY(keep(r, text, &fabric->name));
    }
    for (size_t i = 0; i < r->at.length; i++) {
        const sv__study_case *c = &r->at.at[i];
        sv__fabric *fabric = &r->fabric.at[c->fabric];
        if (fabric->several == 0 || r->level.at[c->level].kind != SV__CAUSE_NONE ||
            isnan(c->value[SV__SWITCHES]))
            continue;
        fabric->switches = c->value[SV__SWITCHES];
        fabric->terminals = c->value[SV__TERMINALS];
        fabric->links = c->value[SV__LINKS];
    }
    return SV_OK;
}

static sv_status read_fabrics(reader *r)
{
    sv_names names;
    sv_names_init(&names, r->ctx);
    sv_status status = tell_contents_apart(r, &names);
    if (status == SV_OK)
        status = read_sizes(r, &names);
    sv_names_release(&names);
    return status;
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

/* If all have the same number of VLs, names do not repeat it. */
static sv_status name_contenders(reader *r)
{
    bool same = true;
    for (size_t i = 1; i < r->contender.length; i++)
        same = same && r->contender.at[i].vls == r->contender.at[0].vls;
    for (size_t i = 0; same && i < r->contender.length; i++) {
        sv__contender *c = &r->contender.at[i];
        const char *name;
        sv_text_print(begin(r), "%s%s%s", c->engine, c->options[0] != 0 ? " " : "", c->options);
        SV_TRY(printed(r, &name));
        SV_TRY(keep(r, name, &c->name));
    }
    return SV_OK;
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
    SV_TRY(hand_over(r));
    return sv__cases_order(r->cases);
}

sv_status sv__cases_read(sv__study_cases *cases, sv_arena *arena, sqlite3 *db,
                         const sv_answer_options *options)
{
    reader r = {.cases = cases, .ctx = arena->ctx, .arena = arena, .db = db};
    name_list *lists[] = {&r.fabrics,  &r.groups,     &r.levels,
                          &r.families, &r.contenders, &r.traffics};
    *cases = (sv__study_cases){.ctx = arena->ctx, .arena = arena, .db = db};
    sv_text_init(&r.words, r.ctx, NULL);
    for (int i = 0; i < 6; i++)
        sv_names_init(&lists[i]->map, r.ctx);
    sv_status status = read_and_order(&r, options);
    for (int i = 0; i < 6; i++) {
        sv_names_release(&lists[i]->map);
        sv_array_release(r.ctx, &lists[i]->names);
    }
    sv_text_release(&r.words);
    sv_array_release(r.ctx, &r.fabric);
    sv_array_release(r.ctx, &r.level);
    sv_array_release(r.ctx, &r.contender);
    sv_array_release(r.ctx, &r.at);
    return status;
}
