/*
 * faults.c: the axis of failures of a plan: links, switches, both in a ratio, years, and the state
 * that a fabric was found in.
 *
 * Amounts of nothing ("0", "0%", 0 years) are all the same entry: none. It comes first.
 *
 * Cost: linear in the entries.
 */
#include <selvage/faults.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "study/study.h"

struct axis {
    sv_ctx *ctx;
    sv_arena *arena;
    sv__fault *at;
    size_t length, room;
};

static sv_status add(struct axis *axis, sv__fault fault)
{
    if (fault.words == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < axis->length; i++)
        if (strcmp(axis->at[i].words, fault.words) == 0)
            return SV_OK;
    if (axis->length == axis->room) {
        size_t room = 2 * axis->room + 8;
        sv__fault *at = SV_ARENA_NEW(axis->arena, sv__fault, room);
        if (at == NULL)
            return SV_NO_MEMORY;
        if (axis->length > 0)
            memcpy(at, axis->at, axis->length * sizeof *at);
        axis->at = at;
        axis->room = room;
    }
    axis->at[axis->length++] = fault;
    return SV_OK;
}

static sv_status add_none(struct axis *axis)
{
    return add(axis, (sv__fault){.words = "none", .unit = ""});
}

/* One amount of links, switches or both. */
static sv_status add_amount(struct axis *axis, sv__fault_kind kind, const char *text,
                            const char *ratio)
{
    static const char *const word[] = {
        [SV__LINKS] = "links", [SV__SWITCHES] = "switches", [SV__BOTH] = "both"};
    sv__fault fault = {.kind = kind};
    SV_TRY(sv_amount_parse(axis->ctx, text, &fault.value));
    if (fault.value.value == 0)
        return add_none(axis);
    fault.unit = fault.value.relative ? "%" : "count";
    fault.amount =
        fault.value.relative ? (double)fault.value.value / 10000 : (double)fault.value.value;
    if (kind == SV__BOTH)
        SV_TRY(sv_ratio_parse(axis->ctx, ratio, &fault.ratio_switches, &fault.ratio_links));
    fault.words = sv__print(axis->arena, "%s %g%s%s%s", word[kind], fault.amount,
                            fault.value.relative ? "%" : "", kind == SV__BOTH ? " " : "",
                            kind == SV__BOTH ? ratio : "");
    return add(axis, fault);
}

static sv_status add_amounts(struct axis *axis, sv__fault_kind kind, sv_study_list list,
                             const char *ratio)
{
    sv__words words = {0};
    for (size_t i = 0; i < list.length; i++)
        SV_TRY(sv__expand_numbers(axis->arena, list.at[i], &words));
    for (size_t i = 0; i < words.length; i++)
        SV_TRY(add_amount(axis, kind, words.at[i], ratio));
    return SV_OK;
}

static sv_status add_years(struct axis *axis, sv_study_list list, const char *model)
{
    sv__words words = {0};
    for (size_t i = 0; i < list.length; i++)
        SV_TRY(sv__expand_numbers(axis->arena, list.at[i], &words));
    for (size_t i = 0; i < words.length; i++) {
        char *end;
        double years = strtod(words.at[i], &end);
        if (*end != 0 || end == words.at[i] || !(years >= 0 && years <= 1000))
            return sv_refuse(axis->ctx, "'%.100s' is no number of years (0 to 1000)", words.at[i]);
        SV_TRY(years == 0 ? add_none(axis)
                          : add(axis, (sv__fault){.kind = SV__YEARS,
                                                  .words = sv__print(axis->arena, "years %g %s",
                                                                     years, model),
                                                  .unit = "years",
                                                  .amount = years,
                                                  .model = model}));
    }
    return SV_OK;
}

sv_status sv__fault_axis(sv_ctx *ctx, sv_arena *arena, const sv_study_request *request,
                         sv__fault **faults, size_t *count)
{
    struct axis axis = {.ctx = ctx, .arena = arena};
    if (request->both.length > 0 && request->ratio == NULL)
        return sv_refuse(ctx, "both kinds of failures need a ratio (1:13)");
    if (request->years.length > 0 && request->model == NULL)
        return sv_refuse(ctx, "years need a model of failures (tsubame2, say)");
    SV_TRY(add_amounts(&axis, SV__LINKS, request->links, NULL));
    SV_TRY(add_amounts(&axis, SV__SWITCHES, request->switches, NULL));
    SV_TRY(add_amounts(&axis, SV__BOTH, request->both, request->ratio));
    if (request->years.length > 0) {
        char *model = sv_arena_text(arena, request->model, strlen(request->model));
        sv_failure_model parsed;
        if (model == NULL)
            return SV_NO_MEMORY;
        SV_TRY(sv_failure_model_parse(ctx, model, &parsed));
        SV_TRY(add_years(&axis, request->years, model));
    }
    for (size_t i = 0; i < request->states.length; i++) {
        char *file = sv_arena_text(arena, request->states.at[i], strlen(request->states.at[i]));
        if (file == NULL)
            return SV_NO_MEMORY;
        SV_TRY(add_none(&axis));
        SV_TRY(add(&axis, (sv__fault){.kind = SV__STATE,
                                      .words = sv__print(arena, "state %s", file),
                                      .unit = "state",
                                      .file = file}));
    }
    if (axis.length == 0)
        SV_TRY(add_none(&axis));
    *faults = axis.at;
    *count = axis.length;
    return SV_OK;
}
