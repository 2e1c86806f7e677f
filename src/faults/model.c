/*
 * model.c: models of failures: presets, as text, and the share of parts that they let fail.
 *
 * A model's numbers are set by "key=value", those of a preset through the same door: what help
 * prints is what is drawn. A number that nobody published and nothing known leads to is missing in
 * a preset; whoever uses it has to give one.
 *
 * Source: the rates, shapes and spans are of Domke's thesis (2017), section 4.1; each number says
 * what is published there and what is ours.
 * Cost: O(length).
 */
#include <math.h>
#include <selvage/faults.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "faults/model.h"
#include "text/times.h"

const char *sv_failure_kind_name(sv_failure_kind kind)
{
    static const char *const names[] = {"link", "switch", "adapter", "software", "unspecified"};
    return (unsigned)kind < SV_FAILURE_KINDS ? names[kind] : NULL;
}

/* ---- presets ---- */

static const sv_failure_value deimos_values[] = {
    {"link", "0.2%", true, "Table 4.1; of 1,653 cables, those to hosts among them"},
    {"switch", "1.5%", true, "Table 4.1; of 108 switches, failed ports among the failures"},
    {"adapter", "1%", true, "Table 4.1"},
    {"shape", "0.76", true, "section 4.1, of all hardware: failures got rarer"},
    {"over", "5.1", false, "in operation from March 2007 to April 2012: 61 months"},
    {NULL, NULL, false, NULL}};

static const sv_failure_value tsubame2_values[] = {
    {"link", "0.9%", true, "Table 4.1, without the first month; of 7,005 cables"},
    {"switch", "1%", true, "Table 4.1; of 501 switches, failed ports among the failures"},
    {"adapter", "0.024%", false,
     "Table 4.1 has only 'far below 1%'; from its shares: 1% of hardware failures are of adapters, "
     "93% of links, which are 63 a year, so 0.68 a year of 2,816 (two in each of 1,408 nodes)"},
    {"shape", "1.07", true, "section 4.1, of all hardware; truly a bathtub, says Figure 4.1b"},
    {"over", "3", false,
     "of TSUBAME2.0 only, whose end is not told: September 2010 until 2.5 took its place in 2013"},
    {NULL, NULL, false, NULL}};

static const sv_failure_value lanl2_values[] = {
    {"link", NULL, false,
     "Table 4.1 has X: one failed every 97.2 days, of a number that is not known"},
    {"switch", NULL, false,
     "Table 4.1 has X: one failed every 41.8 days, of a number that is not known"},
    {"adapter", "6.1%", false,
     "Table 4.1 has X: one failed every 10.2 days, that is 35.8 a year, of 588 (section 3.2.6: 49 "
     "nodes of 12)"},
    {"shape", "0.95", true, "section 4.1, of all hardware: a constant rate"},
    {"over", "8.3", false, "in operation from April 1997 to August 2005: 100 months"},
    {NULL, NULL, false, NULL}};

static const char thesis[] =
    "Domke, Routing on the Channel Dependency Graph (thesis, 2017), section 4.1 and Table 4.1";

static const sv_failure_preset presets[] = {
    {"deimos", "InfiniBand SDR cluster of 728 nodes, TU Dresden", thesis, deimos_values},
    {"tsubame2", "InfiniBand QDR, two rails, 1,408 nodes, Tokyo Institute of Technology", thesis,
     tsubame2_values},
    {"lanl2", "Cluster 2 of Los Alamos National Laboratory, 49 nodes", thesis, lanl2_values},
};

enum { NUM_PRESETS = sizeof presets / sizeof presets[0] };

const sv_failure_preset *sv_failure_preset_at(size_t i)
{
    return i < NUM_PRESETS ? &presets[i] : NULL;
}

/* ---- keys ---- */

enum key {
    RATE,                            /* and those of the other kinds */
    SHAPE = RATE + SV_FAILURE_PARTS, /* likewise */
    ALL_SHAPES = SHAPE + SV_FAILURE_PARTS,
    OVER,
    NUM_KEYS
};

static const char *const keys[NUM_KEYS] = {"link",         "switch",        "adapter", "link-shape",
                                           "switch-shape", "adapter-shape", "shape",   "over"};

/* A model on its way: which keys were given. */
struct draft {
    sv_failure_model model;
    bool given[NUM_KEYS];
};

static void put(sv_failure_model *model, unsigned key, double value)
{
    if (key < SHAPE)
        model->of[key - RATE].annual = value / 100;
    else if (key < ALL_SHAPES)
        model->of[key - SHAPE].shape = value;
    else if (key == ALL_SHAPES)
        for (int k = 0; k < SV_FAILURE_PARTS; k++)
            model->of[k].shape = value;
    else
        model->over = value;
}

static sv_status set(sv_ctx *ctx, struct draft *draft, unsigned key, sv_span text)
{
    sv_scan scan = sv_scan_of(text);
    double value;
    bool number = sv__scan_plain(&scan, &value);
    if (key < SHAPE) {
        if (!number || !sv_scan_char(&scan, '%') || !sv_scan_done(&scan) ||
            value > 100 * SV__MAX_ANNUAL)
            return sv_refuse(ctx, "%s is a share a year from 0%% to %g%%, not '%.*s'", keys[key],
                             100 * SV__MAX_ANNUAL, SV_SPAN(text));
    } else {
        double min = key == OVER ? SV__MIN_OVER : SV__MIN_SHAPE;
        double max = key == OVER ? SV__MAX_YEARS : SV__MAX_SHAPE;
        if (!number || !sv_scan_done(&scan) || value < min || value > max)
            return sv_refuse(ctx, "%s is a number from %g to %g, not '%.*s'", keys[key], min, max,
                             SV_SPAN(text));
    }
    put(&draft->model, key, value);
    return SV_OK;
}

static unsigned find_key(sv_span name)
{
    unsigned key = 0;
    while (key < NUM_KEYS && !sv_span_is(name, keys[key]))
        key++;
    return key;
}

/* ---- from text ---- */

static sv_status take_preset(sv_ctx *ctx, struct draft *draft, sv_span name,
                             const sv_failure_preset **preset)
{
    for (size_t i = 0; i < NUM_PRESETS; i++) {
        if (!sv_span_is(name, presets[i].name))
            continue;
        *preset = &presets[i];
        for (const sv_failure_value *v = presets[i].values; v->name != NULL; v++)
            if (v->value != NULL)
                SV_TRY(set(ctx, draft, find_key(sv_span_of(v->name)), sv_span_of(v->value)));
        return SV_OK;
    }
    return sv_refuse(ctx,
                     "'%.*s' is neither a preset (deimos, tsubame2, lanl2) nor "
                     "KEY=VALUE",
                     SV_SPAN(name));
}

static sv_status take_pair(sv_ctx *ctx, struct draft *draft, sv_span item)
{
    sv_scan scan = sv_scan_of(item);
    sv_span name;
    if (!sv_scan_until(&scan, '=', &name))
        return sv_refuse(ctx, "'%.*s' is not KEY=VALUE (a preset comes first)", SV_SPAN(item));
    unsigned key = find_key(name);
    if (key == NUM_KEYS)
        return sv_refuse(ctx,
                         "'%.*s' is not link, switch, adapter, shape, link-shape, switch-shape, "
                         "adapter-shape or over",
                         SV_SPAN(name));
    if (draft->given[key])
        return sv_refuse(ctx, "%s is given twice", keys[key]);
    draft->given[key] = true;
    return set(ctx, draft, key, sv_scan_rest(&scan));
}

/* Whether every kind has a rate. */
static sv_status check_rates(sv_ctx *ctx, const struct draft *draft,
                             const sv_failure_preset *preset)
{
    if (preset != NULL) {
        for (const sv_failure_value *v = preset->values; v->name != NULL; v++)
            if (v->value == NULL && !draft->given[find_key(sv_span_of(v->name))])
                return sv_refuse(ctx,
                                 "%s has no rate of %s failures, because none is published; add "
                                 "%s=P%%",
                                 preset->name, v->name, v->name);
        return SV_OK;
    }
    if (!draft->given[RATE] && !draft->given[RATE + 1] && !draft->given[RATE + 2])
        return sv_refuse(ctx, "no rate is given: link=P%%, switch=P%% or adapter=P%%");
    return SV_OK;
}

sv_status sv_failure_model_parse(sv_ctx *ctx, const char *text, sv_failure_model *model)
{
    struct draft draft = {.model = {{{0, 1}, {0, 1}, {0, 1}}, 1}};
    const sv_failure_preset *preset = NULL;
    sv_scan scan = sv_scan_of(sv_span_of(text));
    for (bool first = true, more = true; more; first = false) {
        sv_span item;
        more = sv_scan_until(&scan, ',', &item);
        if (!more)
            item = sv_scan_rest(&scan);
        if (item.length == 0)
            return sv_refuse(ctx, "'%.100s' has nothing %s", text,
                             first && !more ? "in it" : "beside a comma");
        if (first && memchr(item.at, '=', item.length) == NULL)
            SV_TRY(take_preset(ctx, &draft, item, &preset));
        else
            SV_TRY(take_pair(ctx, &draft, item));
    }
    SV_TRY(check_rates(ctx, &draft, preset));
    *model = draft.model;
    return SV_OK;
}

/* ---- to text ---- */

/* Appends a number (up to 1000) with six digits, without exponent and trailing zeroes: scan_decimal
 * reads it. */
static size_t add_number(char *text, size_t length, const char *name, double value,
                         const char *behind)
{
    char digits[64];
    int whole = value >= 1 ? (int)floor(log10(value)) + 1 : value > 0 ? (int)ceil(log10(value)) : 0;
    int places = whole < -8 ? 14 : 6 - whole;
    snprintf(digits, sizeof digits, "%.*f", places, value);
    size_t end = strlen(digits);
    while (digits[end - 1] == '0')
        end--;
    digits[end - (digits[end - 1] == '.')] = 0;
    int added = snprintf(text + length, SV_FAILURE_MODEL_TEXT - length, "%s%s=%s%s",
                         length > 0 ? "," : "", name, digits, behind);
    return length + (size_t)added;
}

void sv_failure_model_text(const sv_failure_model *model, char *text)
{
    size_t length = 0;
    bool same = true;
    for (unsigned k = 0; k < SV_FAILURE_PARTS; k++) {
        length = add_number(text, length, keys[RATE + k], 100 * model->of[k].annual, "%");
        same = same && model->of[k].shape == model->of[0].shape;
    }
    for (unsigned k = 0; k < SV_FAILURE_PARTS && !same; k++)
        length = add_number(text, length, keys[SHAPE + k], model->of[k].shape, "");
    if (same)
        length = add_number(text, length, keys[ALL_SHAPES], model->of[0].shape, "");
    if (model->over != 1)
        add_number(text, length, keys[OVER], model->over, "");
}

/* ---- what it says ---- */

bool sv__failure_model_good(const sv_failure_model *model)
{
    bool good = model->over >= SV__MIN_OVER && model->over <= SV__MAX_YEARS;
    for (int k = 0; k < SV_FAILURE_PARTS; k++)
        good = good && model->of[k].annual >= 0 &&
               model->of[k].annual <= SV__MAX_ANNUAL + 1e-9 && /* rounding */
               model->of[k].shape >= SV__MIN_SHAPE && model->of[k].shape <= SV__MAX_SHAPE;
    return good;
}

double sv_failure_share(const sv_failure_model *model, sv_failure_kind kind, double years)
{
    const sv_failure_rate *rate = &model->of[kind];
    double hazard = -log1p(-rate->annual) * model->over;
    return years > 0 ? -expm1(-hazard * pow(years / model->over, rate->shape)) : 0;
}

double sv__failure_life(const sv_failure_model *model, sv_failure_kind kind, double strength)
{
    const sv_failure_rate *rate = &model->of[kind];
    double hazard = -log1p(-rate->annual) * model->over;
    return hazard > 0 ? model->over * pow(strength / hazard, 1 / rate->shape) : INFINITY;
}
