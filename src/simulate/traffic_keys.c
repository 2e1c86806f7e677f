/*
 * traffic_keys.c: the list of patterns, and the values that their keys have beyond plain numbers.
 *
 * To add a pattern: declare it here and put it into the table. Whatever lists patterns or keys,
 * help and messages of errors, comes from these tables.
 *
 * Cost: linear in what is read.
 */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "simulate/traffic.h"

extern const sv__pattern sv__exchange, sv__uniform, sv__bitreverse, sv__shuffle, sv__transpose,
    sv__shift, sv__tornado, sv__stencil, sv__hotspot, sv__matching, sv__one_to_n, sv__n_to_one,
    sv__pingpong, sv__ring, sv__allreduce, sv__allgather, sv__meshspot, sv__changing;

/* Not opened as the others are, but listed with them. */
static const sv_sim_pattern_key no_keys[] = {{NULL, NULL, NULL}};
static const sv__pattern file_pattern = {
    .info = {.name = "file",
             .summary = "messages from a file (file:PATH), a line \"TIME_ns FROM TO BYTES [TAG]\"",
             .keys = no_keys}};

static const sv__pattern *const patterns[] = {
    &sv__exchange,  &sv__uniform,  &sv__bitreverse, &sv__shuffle, &sv__transpose,
    &sv__shift,     &sv__tornado,  &sv__stencil,    &sv__hotspot, &sv__matching,
    &sv__one_to_n,  &sv__n_to_one, &sv__pingpong,   &sv__ring,    &sv__allreduce,
    &sv__allgather, &sv__meshspot, &sv__changing,   &file_pattern};

enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static const sv_sim_pattern_key common[] = {
    {"bytes", "payload of a message", "that of the request"},
    {"load", "of the bandwidth of a terminal's link, above 0, at most 1",
     "that of the request, or as fast as possible"},
    {"rate", "payload of a terminal in place of a load: 400Mbps, 2Gbps", "none"},
    {"messages", "at most so many a terminal", "that of the request, or no limit"},
    {"arrivals", "distances of messages: poisson, or regular from a random beginning", "poisson"},
    {"on", "length of a burst (20us), in which the load is; 1 if there is none", "no bursts"},
    {"off", "time between two bursts", "as on"},
    {"phases", "of bursts: together, or random for each terminal", "together"},
    {"rest", "load between bursts", "0"},
    {"resting", "messages between bursts: uniform random, or the same as in bursts", "uniform"},
    {"bursts", "so many, and all is over with the last", "no end"},
    {"ranks", "so many of them take part", "all"},
    {"place", "of those: the first, spread evenly, or random", "first"},
    {NULL, NULL, NULL}};

static const sv_sim_pattern_key common_waits[] = {
    {"bytes", "payload of a message; of allreduce the vector, of allgather a rank's block",
     "that of the request"},
    {"ranks", "so many of them take part", "all"},
    {"place", "of those: the first, spread evenly, or random", "first"},
    {NULL, NULL, NULL}};

const sv_sim_pattern *sv_sim_pattern_at(size_t i)
{
    return i < PATTERNS ? &patterns[i]->info : NULL;
}

const sv_sim_pattern_key *sv_sim_pattern_keys(bool waits)
{
    return waits ? common_waits : common;
}

const sv__pattern *sv__pattern_find(sv_span name)
{
    for (size_t i = 0; i < PATTERNS; i++)
        if (sv_span_is(name, patterns[i]->info.name))
            return patterns[i];
    return NULL;
}

/* Appends a word to "a, b", if there is room. */
static void add_word(char *text, size_t room, const char *word)
{
    size_t length = strlen(text);
    if (length + strlen(word) + 3 <= room)
        snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", word);
}

sv_status sv__pattern_of(const sv__spec *spec, const sv__pattern **pattern)
{
    char known[500] = "";
    sv_near near;
    *pattern = sv__pattern_find(spec->family);
    if (*pattern != NULL)
        return SV_OK;
    for (size_t i = 0; i < PATTERNS; i++)
        add_word(known, sizeof known, patterns[i]->info.name);
    return sv__spec_fail(spec, "'%.*s' is no pattern%s (there are: %s)", SV_SPAN(spec->family),
                         sv_near_hint(&near, spec->family, known), known);
}

void sv__pattern_keys(const sv__pattern *pattern, char *text, size_t room)
{
    const sv_sim_pattern_key *lists[2] = {pattern->info.keys,
                                          sv_sim_pattern_keys(pattern->info.waits)};
    text[0] = 0;
    for (int i = 0; i < 2; i++)
        for (const sv_sim_pattern_key *key = lists[i]; key->name != NULL; key++)
            add_word(text, room, key->name);
}

sv_status sv_sim_traffic_check(sv_ctx *ctx, const char *text)
{
    sv__spec spec;
    const sv__pattern *pattern;
    char known[500];
    if (strncmp(text, "file:", 5) == 0)
        return SV_OK;
    SV_TRY(sv__spec_parse(&spec, ctx, text));
    SV_TRY(sv__pattern_of(&spec, &pattern));
    sv__pattern_keys(pattern, known, sizeof known);
    const sv_sim_pattern_key *lists[2] = {pattern->info.keys,
                                          sv_sim_pattern_keys(pattern->info.waits)};
    for (size_t i = 0; i < spec.num_keys; i++) {
        bool there = false;
        for (int k = 0; k < 2; k++)
            for (const sv_sim_pattern_key *key = lists[k]; key->name != NULL; key++)
                there = there || sv_span_is(spec.keys[i].key, key->name);
        if (!there)
            return sv__spec_unknown(&spec, spec.keys[i].key, known);
    }
    return SV_OK;
}

/* ---- values ---- */

bool sv__scan_decimal(sv_scan *scan, uint64_t max, uint64_t *whole, uint64_t *billionths)
{
    sv_scan at = *scan;
    if (!sv_scan_number(&at, max, whole))
        return false;
    *billionths = 0;
    if (sv_scan_char(&at, '.')) {
        uint64_t weight = 100000000;
        const char *from = at.at;
        for (; !sv_scan_done(&at) && *at.at >= '0' && *at.at <= '9'; at.at++, weight /= 10) {
            if (weight == 0)
                return false;
            *billionths += (uint64_t)(*at.at - '0') * weight;
        }
        if (at.at == from)
            return false;
    }
    *scan = at;
    return true;
}

/* A whole span as a time. */
static bool time_in(sv_span value, uint64_t *ticks)
{
    static const char *const units[] = {"", "ns", "us", "ms", "s"};
    static const uint64_t ns[] = {1, 1, 1000, 1000000, 1000000000};
    const uint64_t max_ns = 1000000000000000, billion = 1000000000;
    sv_scan scan = sv_scan_of(value);
    uint64_t whole, billionths;
    if (!sv__scan_decimal(&scan, max_ns, &whole, &billionths))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (sv_span_is(sv_scan_rest(&scan), units[i])) {
            *ticks =
                whole * ns[i] * SV_TICKS_PER_NS + billionths * SV_TICKS_PER_NS / (billion / ns[i]);
            return whole < max_ns / ns[i] && *ticks > 0;
        }
    return false;
}

sv_status sv__key_time(sv__spec *spec, const char *key, uint64_t absent, uint64_t *ticks)
{
    sv_span value = sv__spec_text(spec, key);
    *ticks = absent;
    if (value.at != NULL && !time_in(value, ticks))
        return sv__spec_fail(spec, "%s=%.*s is not a time (20us, say)", key, SV_SPAN(value));
    return SV_OK;
}

/* A whole span as a rate: bytes a tick. */
static bool rate_in(sv_span value, double *rate)
{
    static const char *const units[] = {"kbps", "Mbps", "Gbps"};
    static const double bits[] = {1e3, 1e6, 1e9};
    sv_scan scan = sv_scan_of(value);
    uint64_t whole, billionths;
    if (!sv__scan_decimal(&scan, 1000000000, &whole, &billionths))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (sv_span_is(sv_scan_rest(&scan), units[i])) {
            double number = (double)whole + (double)billionths / 1e9;
            *rate = number * bits[i] / 8 / (SV_TICKS_PER_NS * 1e9);
            return number > 0;
        }
    return false;
}

sv_status sv__key_rate(sv__spec *spec, const char *key, double *rate)
{
    sv_span value = sv__spec_text(spec, key);
    *rate = 0;
    if (value.at != NULL && !rate_in(value, rate))
        return sv__spec_fail(spec, "%s=%.*s is not a rate (400Mbps, say)", key, SV_SPAN(value));
    return SV_OK;
}

sv_status sv__key_load(sv__spec *spec, const char *key, double absent, double *load)
{
    sv_span value = sv__spec_text(spec, key);
    *load = absent;
    if (value.at == NULL)
        return SV_OK;
    sv_scan scan = sv_scan_of(value);
    uint64_t whole, billionths, billion = 1000000000;
    if (!sv__scan_decimal(&scan, 1, &whole, &billionths) || !sv_scan_done(&scan) ||
        whole * billion + billionths == 0 || whole * billion + billionths > billion)
        return sv__spec_fail(spec, "%s=%.*s is not a load: above 0, at most 1", key,
                             SV_SPAN(value));
    *load = (double)(whole * billion + billionths) / (double)billion;
    return SV_OK;
}

sv_status sv__key_choice(sv__spec *spec, const char *key, const char *const *words,
                         unsigned *choice)
{
    sv_span value = sv__spec_text(spec, key);
    char known[200] = "";
    *choice = 0;
    if (value.at == NULL)
        return SV_OK;
    for (unsigned i = 0; words[i] != NULL; i++) {
        if (sv_span_is(value, words[i])) {
            *choice = i;
            return SV_OK;
        }
        add_word(known, sizeof known, words[i]);
    }
    return sv__spec_fail(spec, "%s=%.*s is none of %s", key, SV_SPAN(value), known);
}

sv_status sv__key_dims(sv__spec *spec, const char *key, uint32_t *dims, size_t room, size_t *count)
{
    sv_span value = sv__spec_text(spec, key);
    *count = 0;
    if (value.at == NULL)
        return SV_OK;
    sv_scan scan = sv_scan_of(value);
    bool more = true;
    for (uint64_t side; more && *count < room; dims[(*count)++] = (uint32_t)side) {
        if (!sv_scan_number(&scan, UINT32_MAX, &side) || side == 0)
            break;
        more = sv_scan_char(&scan, 'x');
    }
    if (more || !sv_scan_done(&scan))
        return sv__spec_fail(spec, "%s=%.*s is not up to %zu numbers with 'x' between them", key,
                             SV_SPAN(value), room);
    return SV_OK;
}

sv_status sv__key_rounds(sv__play *play, sv__spec *spec, uint64_t absent)
{
    return sv__spec_number(spec, "rounds", 0, 1000000000, absent, &play->rounds);
}
