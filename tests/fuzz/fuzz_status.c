/*
 * fuzz_status.c: status files, whatever bytes are in names, faults and problems, and whatever the
 * numbers: JSON that jansson reads, and text that Prometheus reads (its exposition format: comments
 * HELP and TYPE before each metric, once; labels escaped and in UTF-8).
 *
 * Pieces (files.h): e engine, v version, p phase, i inactive, f fault, q problem; n: numbers, eight
 * bytes each, in the order of fill.
 */
#include <jansson.h>
#include <math.h>

#include "files.h"

const size_t fuzz_memory = 16 << 20;

/* ---- a status of bytes ---- */

static void take_text(char *to, size_t room, const struct piece *p)
{
    size_t length = p->size < room - 1 ? p->size : room - 1;
    memcpy(to, p->at, length);
    to[length] = 0;
}

/* The next number; 0 when there are no more. */
static uint64_t number(struct piece *p)
{
    uint64_t value = 0;
    size_t length = p->size < 8 ? p->size : 8;
    memcpy(&value, p->at, length);
    p->at += length;
    p->size -= length;
    return value;
}

static double real(struct piece *p)
{
    uint64_t bits = number(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void fill(sv_live_status *s, struct piece *p)
{
    sv_live_report *r = &s->last;
    uint64_t flags = number(p);
    s->active = flags & 1;
    s->dry_run = flags & 2;
    r->proven = flags & 4;
    r->whole = flags & 8;
    r->how = (sv_live_how)(flags >> 8 & 15);
    r->passage = (sv_passage)(flags >> 16 & 15);
    uint64_t *const wide[] = {&r->pairs,  &r->lost,     &r->split,    &r->dependencies,
                              &r->efi,    &r->jobs_efi, &r->route_ns, &r->verify_ns,
                              &s->sweeps, &s->changes,  &s->failures, &s->entries,
                              &s->blocks, &s->groups};
    uint32_t *const narrow[] = {&s->switches,
                                &s->terminals,
                                &r->jobs,
                                &r->jobs_terminals,
                                &s->steps,
                                &s->step,
                                &s->updates,
                                &s->subscribers,
                                &s->expelled,
                                &s->called_off,
                                &s->heartbeat_seconds};
    int64_t *const times[] = {&s->heartbeat, &s->unix_time, &s->last_fault_time,
                              &s->last_problem_time};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] = (int64_t)(number(p) >> 1);
    s->seconds = real(p);
    r->hops = real(p);
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
        *narrow[i] = (uint32_t)number(p);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        *wide[i] = number(p);
}

/* ---- JSON ---- */

/* Whether it is the text, or has U+FFFD where that is no UTF-8. */
static bool says(const json_t *value, const char *text)
{
    const char *told = json_string_value(value);
    return told != NULL && (strcmp(told, text) == 0 || strstr(told, "\xef\xbf\xbd") != NULL);
}

static void must_be_json(sv_ctx *ctx, const char *text, size_t size, const sv_live_status *s)
{
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (root == NULL)
        fprintf(stderr, "%s\n%s, line %d\n", text, error.text, error.line);
    MUST(root != NULL);
    MUST(says(json_object_get(root, "engine"), s->last.engine));
    const json_t *problem = json_object_get(root, "last_problem");
    MUST(s->last_problem_time == 0 ? json_is_null(problem)
                                   : says(json_object_get(problem, "text"), s->last_problem));
    if (!s->active)
        MUST(says(json_object_get(root, "inactive_reason"), s->inactive));
    json_decref(root);
}

/* ---- Prometheus ---- */

static size_t name_length(const char *at)
{
    size_t length = 0;
    while ((at[length] >= 'a' && at[length] <= 'z') || at[length] == '_' ||
           (at[length] >= 'A' && at[length] <= 'Z') ||
           (length > 0 && at[length] >= '0' && at[length] <= '9'))
        length++;
    return length;
}

/* The length of a UTF-8 character, or 0. */
static size_t character(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    uint32_t code = c[0] & (0xffu >> (length + 1));
    if (length <= 1)
        return length;
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3fu);
    }
    bool wrong = code < (length == 2   ? 0x80u
                         : length == 3 ? 0x800u
                                       : 0x10000u) ||
                 code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    return wrong ? 0 : length;
}

/* A label's value with its quotes; what is behind it, or NULL. */
static const char *label_value(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        size_t length = *at == 0 || *at == '\n' ? 0 : character(at);
        if (*at == '\\') {
            if (at[1] != '\\' && at[1] != '"' && at[1] != 'n')
                return NULL;
            length = 2;
        }
        if (length == 0)
            return NULL;
        at += length;
    }
    return at + 1;
}

/* {a="b",c="d"}, if there are labels; what is behind them, or NULL. */
static const char *labels(const char *at)
{
    if (*at != '{')
        return at;
    do {
        size_t length = name_length(++at);
        if (length == 0 || at[length] != '=')
            return NULL;
        at = label_value(at + length + 1);
    } while (at != NULL && *at == ',');
    return at != NULL && *at == '}' ? at + 1 : NULL;
}

/* A blank and a number as Go reads it; what is behind it, or NULL. */
static const char *value(const char *at)
{
    char *end;
    if (*at != ' ')
        return NULL;
    if (strchr("0123456789+-.", at[1]) == NULL && strncmp(at + 1, "NaN", 3) != 0)
        return NULL;
    double number = strtod(at + 1, &end);
    if (isnan(number))
        return strncmp(at + 1, "NaN", 3) == 0 ? end : NULL;
    return end == at + 1 ? NULL : end;
}

/* One metric: its two comments and its line; what is behind it, or NULL. */
static const char *metric(const char *at, const char *all)
{
    static const char *const kinds[] = {"counter", "gauge"};
    char help[200], type[200];
    size_t length = strncmp(at, "# HELP ", 7) == 0 ? name_length(at + 7) : 0;
    const char *name = at + 7, *end = strchr(at, '\n');
    if (length == 0 || name[length] != ' ' || end == NULL ||
        memchr(name, '\\', (size_t)(end - name)) != NULL)
        return NULL;
    snprintf(help, sizeof help, "\n# HELP %.*s ", (int)length, name);
    const char *first = strncmp(all, help + 1, strlen(help + 1)) == 0 ? all : strstr(all, help) + 1;
    if (first != at) /* another of that name before */
        return NULL;
    at = end + 1;
    for (int k = 0; k < 2; k++) {
        snprintf(type, sizeof type, "# TYPE %.*s %s\n", (int)length, name, kinds[k]);
        if (strncmp(at, type, strlen(type)) != 0)
            continue;
        at += strlen(type);
        if (strncmp(at, name, length) != 0 || (at = labels(at + length)) == NULL ||
            (at = value(at)) == NULL)
            return NULL;
        return *at == '\n' ? at + 1 : NULL;
    }
    return NULL;
}

static void must_be_prometheus(sv_ctx *ctx, const char *text)
{
    for (const char *at = text; *at != 0;) {
        const char *next = metric(at, text);
        if (next == NULL)
            fprintf(stderr, "%s", at);
        MUST(next != NULL);
        at = next;
    }
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_live_status status = {0};
    char version[64] = "", phase[32] = "";
    size_t length = 0;
    bool has_phase = false, has_version = false;
    for (struct piece p = {.rest = data, .left = size}; fuzz_next_piece(&p);) {
        struct piece rest = p;
        if (p.letter == 'e')
            take_text(status.last.engine, sizeof status.last.engine, &p);
        else if (p.letter == 'i')
            take_text(status.inactive, sizeof status.inactive, &p);
        else if (p.letter == 'f')
            take_text(status.last_fault, sizeof status.last_fault, &p);
        else if (p.letter == 'q')
            take_text(status.last_problem, sizeof status.last_problem, &p);
        else if (p.letter == 'v' && (has_version = true))
            take_text(version, sizeof version, &p);
        else if (p.letter == 'p' && (has_phase = true))
            take_text(phase, sizeof phase, &p);
        else if (p.letter == 'n')
            fill(&status, &rest);
    }
    status.version = has_version ? version : NULL;
    status.phase = has_phase ? phase : NULL;
    fuzz_folder();
    MUST(sv_live_write_json(ctx, &status, fuzz_path("json")) == SV_OK);
    MUST(sv_live_write_prometheus(ctx, &status, fuzz_path("prometheus")) == SV_OK);
    char *json = fuzz_read("json", &length);
    MUST(json != NULL);
    must_be_json(ctx, json, length, &status);
    free(json);
    char *prometheus = fuzz_read("prometheus", &length);
    MUST(prometheus != NULL && strlen(prometheus) == length);
    must_be_prometheus(ctx, prometheus);
    free(prometheus);
}
