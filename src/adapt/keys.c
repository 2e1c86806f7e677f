/*
 * keys.c: all keys that policies have, what stands for those that are not given, and how values are
 * read.
 *
 * One table. A default is a text that is read as a given one is, so that help tells the truth. Two
 * rows may have the same name with different defaults; a policy lists one of them.
 *
 * Cost: linear in the spec, times the keys of a policy.
 */
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/near.h"
#include "text/quantity.h"

enum { COUNT, REAL, TIME, WORD, CHOICE }; /* CHOICE: of two, a bool */

#define AT(field) offsetof(sv__settings, field)
#define VIA_MEANING                                                                                \
    "switches that detours go by: terminals (any that has some), far (of a dragonfly those of "    \
    "groups that are neither end's, or, inside a group, of that; else as terminals), or all "      \
    "(those without terminals, too)"
#define VIA_WORDS                                                                                  \
    {                                                                                              \
        "terminals", "far", "all"                                                                  \
    }

const sv__key sv__keys[SV__KEYS] = {
    [SV__KEY_PATHS] = {{"paths", "open at a time, the tables' own among them", "4", true},
                       COUNT,
                       AT(paths),
                       1,
                       64},
    [SV__KEY_VIAS] = {{"vias", "switches that a way goes by, at most: each takes VLs of its own",
                       "2", true},
                      COUNT,
                      AT(vias),
                      1,
                      SV_SIM_MAX_VIAS},
    [SV__KEY_REACH] = {{"reach", "channels between a via and the switch it is near to, at most",
                        "2", true},
                       COUNT,
                       AT(reach),
                       1,
                       16},
    [SV__KEY_STRETCH] = {{"stretch", "channels that a way may have more than the tables' own", "4",
                          false},
                         COUNT,
                         AT(stretch),
                         0,
                         64},
    [SV__KEY_SMOOTH] = {{"smooth",
                         "share of the newest acknowledgement in a path's latency, above 0", "0.2",
                         false},
                        REAL,
                        AT(smooth),
                        0.001,
                        1},
    [SV__KEY_HIGH] = {{"high",
                       "latency of the metapath above which paths are opened, by what the "
                       "tables' own takes empty",
                       "1.25", false},
                      REAL,
                      AT(high),
                      0,
                      1e6},
    [SV__KEY_LOW] = {{"low", "latency of the metapath below which paths are closed, likewise",
                      "0.6", false},
                     REAL,
                     AT(low),
                     0,
                     1e6},
    [SV__KEY_ACK] = {{"ack", "what is acknowledged: message or packet", "message", true},
                     CHOICE,
                     AT(ack_packets),
                     0,
                     0,
                     {"message", "packet"}},
    [SV__KEY_WATCHDOG] = {{"watchdog",
                           "when an acknowledgement is late, by what it takes there and "
                           "back empty",
                           "2", false},
                          REAL,
                          AT(watchdog),
                          0.001,
                          1e6},
    [SV__KEY_CONTENTION] =
        {{"contention",
          "wait at a switch from which on it looks for contending flows (2us); 0: "
          "as long as a full packet takes on a link",
          "0", false},
         TIME,
         AT(contention)},
    [SV__KEY_LOOK] =
        {{"look",
          "time between two looks at one output of a switch, for each flow that was seen "
          "(10us); 0: that of 16 full packets on a link",
          "0", false},
         TIME,
         AT(look)},
    [SV__KEY_FLOWS] = {{"flows", "contending flows that are told of, at most", "8", false},
                       COUNT,
                       AT(flows),
                       1,
                       64},
    [SV__KEY_SHARE] = {{"share", "of waiting bytes that a contending flow has, at least", "0.05",
                        false},
                       REAL,
                       AT(share),
                       0,
                       1},
    [SV__KEY_NOTIFY] = {{"notify", "who tells sources of contending flows: destination or router",
                         "router", false},
                        CHOICE,
                        AT(by_router),
                        0,
                        0,
                        {"destination", "router"}},
    [SV__KEY_SIMILAR] = {{"similar", "share of contending flows that make two patterns alike",
                          "0.8", true},
                         REAL,
                         AT(similar),
                         0,
                         1},
    [SV__KEY_TRIAL] = {{"trial",
                        "acknowledgements after which a solution that did not help has "
                        "failed",
                        "8", false},
                       COUNT,
                       AT(trial),
                       1,
                       1000000},
    [SV__KEY_APPLY] =
        {{"apply",
          "when solutions are applied: notice (of contention), or also message: before a message "
          "of a pair that has no other path open",
          "notice", false},
         CHOICE,
         AT(unasked),
         0,
         0,
         {"notice", "message"}},
    [SV__KEY_TREND] = {{"trend", "latencies that a trend is drawn from; 0: no trend", "0", true},
                       COUNT,
                       AT(trend),
                       0,
                       1024},
    [SV__KEY_AHEAD] = {{"ahead", "how far a trend looks, by what it takes there and back empty",
                        "4", false},
                       REAL,
                       AT(ahead),
                       0,
                       1e6},
    [SV__KEY_BY] = {{"by", "what a way is chosen for: message or packet", "message", true},
                    CHOICE,
                    AT(by_packet),
                    0,
                    0,
                    {"message", "packet"}},
    [SV__KEY_BY_PACKET] = {{"by", "what a way is chosen for: message or packet", "packet", true},
                           CHOICE,
                           AT(by_packet),
                           0,
                           0,
                           {"message", "packet"}},
    [SV__KEY_VIA] = {{"via", VIA_MEANING, "terminals", true}, WORD, AT(via), 0, 0, VIA_WORDS},
    [SV__KEY_VIA_FAR] = {{"via", VIA_MEANING, "far", true}, WORD, AT(via), 0, 0, VIA_WORDS},
    [SV__KEY_BIAS] = {{"bias", "for the tables' own path: bytes × channels", "0", false},
                      REAL,
                      AT(bias),
                      0,
                      1e12},
    [SV__KEY_BIAS_SUM] =
        {{"bias", "for the tables' own path: bytes", "0", false}, REAL, AT(bias), 0, 1e12},
    [SV__KEY_ADAPTIVE] = {{"adaptive",
                           "VLs that all packets share, besides an escape VL a "
                           "segment",
                           "0", false},
                          COUNT,
                          AT(adaptive),
                          0,
                          SV_MAX_VLS},
};

/* ---- values ---- */

static sv_status fail_value(sv_ctx *ctx, const char *spec, const sv__key *key, sv_span value,
                            const char *what)
{
    return sv_refuse(ctx, "policy '%.200s': %s=%.*s is not %s", spec, key->about.name,
                     SV_SPAN(value), what);
}

static bool find_word(const sv__key *key, sv_span value, unsigned *index)
{
    for (unsigned i = 0; i < 4 && key->words[i] != NULL; i++)
        if (sv_span_is(value, key->words[i])) {
            *index = i;
            return true;
        }
    return false;
}

static sv_status set_word(sv_ctx *ctx, const char *spec, const sv__key *key, sv_span value,
                          void *field)
{
    char known[120] = "";
    unsigned index;
    if (!find_word(key, value, &index)) {
        for (unsigned i = 0; i < 4 && key->words[i] != NULL; i++) {
            strcat(known, i > 0 ? ", " : "one of ");
            strcat(known, key->words[i]);
        }
        return fail_value(ctx, spec, key, value, known);
    }
    if (key->kind == CHOICE)
        *(bool *)field = index > 0;
    else
        *(unsigned *)field = index;
    return SV_OK;
}

static sv_status set_number(sv_ctx *ctx, const char *spec, const sv__key *key, sv_span value,
                            void *field)
{
    double number;
    bool whole = key->kind == COUNT;
    if (!sv_span_decimal(value, &number) || number < key->min || number > key->max ||
        (whole && number != (double)(unsigned)number)) {
        char range[120];
        snprintf(range, sizeof range, "a %s in %.15g…%.15g", whole ? "whole number" : "number",
                 key->min, key->max);
        return fail_value(ctx, spec, key, value, range);
    }
    if (whole)
        *(unsigned *)field = (unsigned)number;
    else
        *(double *)field = number;
    return SV_OK;
}

static sv_status set_value(sv_ctx *ctx, const char *spec, const sv__key *key, sv_span value,
                           sv__settings *set)
{
    void *field = (char *)set + key->at;
    switch (key->kind) {
    case TIME:
        return sv_span_ticks(value, 1, SV_TICKS_PER_NS, (uint64_t *)field)
                   ? SV_OK
                   : fail_value(ctx, spec, key, value, "a time (20us, say)");
    case COUNT:
    case REAL:
        return set_number(ctx, spec, key, value, field);
    default:
        return set_word(ctx, spec, key, value, field);
    }
}

/* ---- specs ---- */

/* A policy's row of the table; about is the first thing in it. */
static const sv__key *row_of(const sv_adapt_key *about)
{
    return (const sv__key *)(const void *)about;
}

static sv_status find_key(sv_ctx *ctx, const sv_adapt_about *about, const char *spec, sv_span name,
                          size_t *index)
{
    char known[400] = "";
    for (size_t i = 0; about->keys[i] != NULL; i++) {
        if (sv_span_is(name, about->keys[i]->name)) {
            *index = i;
            return SV_OK;
        }
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                 about->keys[i]->name);
    }
    sv_near near;
    return sv_refuse(ctx, "policy '%.200s': '%s' has no key '%.*s'%s (%s%s)", spec, about->name,
                     SV_SPAN(name), sv_near_hint(&near, name, known),
                     known[0] != 0 ? "known: " : "it has none", known);
}

static sv_status read_item(sv_ctx *ctx, const sv_adapt_about *about, const char *spec, sv_span item,
                           uint64_t *given, sv__settings *set)
{
    sv_scan scan = sv_scan_of(item);
    sv_span name;
    size_t i = 0;
    if (!sv_scan_until(&scan, '=', &name) || name.length == 0 || sv_scan_done(&scan))
        return sv_refuse(ctx, "policy '%.200s': '%.*s' is not key=value", spec, SV_SPAN(item));
    SV_TRY(find_key(ctx, about, spec, name, &i));
    if ((*given >> i) & 1)
        return sv_refuse(ctx, "policy '%.200s': key '%.*s' is given twice", spec, SV_SPAN(name));
    *given |= (uint64_t)1 << i;
    return set_value(ctx, spec, row_of(about->keys[i]), sv_scan_rest(&scan), set);
}

sv_status sv__keys_read(sv_ctx *ctx, const sv_adapt_about *about, const char *spec, sv_span text,
                        sv__settings *set)
{
    sv__settings made = {0};
    uint64_t given = 0;
    for (size_t i = 0; i < SV__KEYS; i++)
        SV_TRY(set_value(ctx, spec, &sv__keys[i], sv_span_of(sv__keys[i].about.otherwise), &made));
    for (size_t i = 0; about->keys[i] != NULL; i++)
        SV_TRY(set_value(ctx, spec, row_of(about->keys[i]), sv_span_of(about->keys[i]->otherwise),
                         &made));
    sv_scan scan = sv_scan_of(text);
    while (!sv_scan_done(&scan)) {
        sv_span item;
        bool more = sv_scan_until(&scan, ',', &item);
        if (!more) {
            item = sv_scan_rest(&scan);
            scan.at = scan.end;
        }
        if (more && sv_scan_done(&scan))
            return sv_refuse(ctx, "policy '%.200s': nothing after the last comma", spec);
        SV_TRY(read_item(ctx, about, spec, item, &given, &made));
    }
    *set = made;
    return SV_OK;
}
