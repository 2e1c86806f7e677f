/*
 * cases_order.c: puts cases in order, each of them once, and tells those apart that say nothing.
 *
 * A cell can have been measured by several plans that ask for different things (its key has them).
 * For answers that is one case: the last one counts, and what it did not measure is taken from
 * those before it.
 *
 * Shares of a small fabric can round down to no failures at all. All seeds of them are one
 * experiment, the fault-free one: such cases become that one, and are merged with it. (Years draw
 * how many parts fail, so none is a result of theirs as any other; states are what they are.)
 *
 * Where failures cannot be drawn, or all engines fail with the same words, no engine is to blame:
 * such cases are undrawn, and no comparison counts them.
 *
 * Cost: O(cases log cases), a byte for each fabric and level.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/cases.h"

/* ---- nothing failed ---- */

enum { NONE_FAILED = 1, SOME_FAILED = 2 };

static bool may_round_down(sv__cause kind)
{
    return kind == SV__CAUSE_LINKS || kind == SV__CAUSE_SWITCHES || kind == SV__CAUSE_BOTH;
}

/* The level without failures, which is made where no cell had it. There is room for one. */
static uint32_t free_level(sv__study_cases *cases)
{
    for (uint32_t i = 0; i < cases->num_levels; i++)
        if (cases->levels[i].kind == SV__CAUSE_NONE)
            return i;
    cases->families[cases->num_families] = "none";
    cases->levels[cases->num_levels] = (sv__level){.words = "none",
                                                   .unit = "%",
                                                   .kind = SV__CAUSE_NONE,
                                                   .family = (uint32_t)cases->num_families++};
    return (uint32_t)cases->num_levels++;
}

static sv_status find_nothing(sv__study_cases *cases)
{
    size_t levels = cases->num_levels;
    unsigned char *seen = SV_ARENA_NEW(cases->arena, unsigned char, cases->num_fabrics *levels + 1);
    if (seen == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < cases->count; i++) {
        const sv__study_case *c = &cases->at[i];
        double failed = sv__case_failed(cases, c, SV__CAUSE_BOTH);
        if (!isnan(failed) && !c->undrawn && may_round_down(cases->levels[c->level].kind))
            seen[c->fabric * levels + c->level] |= failed > 0 ? SOME_FAILED : NONE_FAILED;
    }
    for (size_t i = 0; i < cases->count; i++) {
        sv__study_case *c = &cases->at[i];
        if (seen[c->fabric * levels + c->level] != NONE_FAILED || c->undrawn)
            continue;
        c->nothing = true;
        c->level = free_level(cases);
        c->seed = 0;
        cases->nothing++;
    }
    return SV_OK;
}

/* ---- levels ---- */

/* What levels are ordered by. */
typedef struct weight {
    double parts; /* that fail in the mean */
    bool by_parts;
} weight;

static bool level_before(const sv__level *a, const weight *x, const sv__level *b, const weight *y)
{
    bool free_a = a->kind == SV__CAUSE_NONE, free_b = b->kind == SV__CAUSE_NONE;
    if (free_a != free_b)
        return free_a;
    if (a->family != b->family)
        return a->family < b->family;
    if (x->by_parts && x->parts != y->parts)
        return x->parts < y->parts;
    int unit = strcmp(a->unit, b->unit);
    return unit != 0 ? unit < 0 : a->amount < b->amount;
}

/* How many parts fail in the mean; more than anything where that is not known. */
static sv_status weigh_levels(const sv__study_cases *cases, weight *weights)
{
    size_t *counts = SV_ARENA_NEW(cases->arena, size_t, cases->num_levels + 1);
    if (counts == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < cases->count; i++) {
        const sv__study_case *c = &cases->at[i];
        double failed = sv__case_failed(cases, c, SV__CAUSE_BOTH);
        if (isnan(failed))
            continue;
        weights[c->level].parts += failed;
        counts[c->level]++;
    }
    for (size_t i = 0; i < cases->num_levels; i++) {
        weights[i].parts = counts[i] == 0 ? INFINITY : weights[i].parts / (double)counts[i];
        for (size_t k = 0; k < cases->num_levels; k++)
            if (cases->levels[k].family == cases->levels[i].family &&
                strcmp(cases->levels[k].unit, cases->levels[i].unit) != 0)
                weights[i].by_parts = true;
    }
    return SV_OK;
}

static sv_status rank_levels(sv__study_cases *cases)
{
    weight *weights = SV_ARENA_NEW(cases->arena, weight, cases->num_levels + 1);
    if (weights == NULL)
        return SV_NO_MEMORY;
    SV_TRY(weigh_levels(cases, weights));
    for (size_t i = 0; i < cases->num_levels; i++) {
        sv__level *own = &cases->levels[i];
        uint32_t rank = 0;
        for (size_t k = 0; k < cases->num_levels; k++) {
            const sv__level *other = &cases->levels[k];
            rank += level_before(other, &weights[k], own, &weights[i]) ||
                    (k < i && !level_before(own, &weights[i], other, &weights[k]));
        }
        own->rank = rank;
    }
    for (size_t i = 0; i < cases->count; i++)
        cases->at[i].rank = cases->levels[cases->at[i].level].rank;
    return SV_OK;
}

/* ---- order ---- */

static int compare_places(const sv__study_case *a, const sv__study_case *b)
{
    const uint32_t x[] = {a->fabric, a->traffic, a->contender, a->rank};
    const uint32_t y[] = {b->fabric, b->traffic, b->contender, b->rank};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return (a->seed > b->seed) - (a->seed < b->seed);
}

/* The real fault-free cell comes last, and counts. */
static int compare_cases(const void *a, const void *b)
{
    const sv__study_case *x = a, *y = b;
    int order = compare_places(x, y);
    if (order == 0)
        order = y->nothing - x->nothing;
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

static void put_in_order(sv__study_cases *cases)
{
    sv__study_case *at = cases->at;
    size_t count = 0;
    if (cases->count > 1)
        qsort(at, cases->count, sizeof *at, compare_cases);
    for (size_t i = 0; i < cases->count; i++) {
        if (count == 0 || compare_places(&at[count - 1], &at[i]) != 0) {
            at[count++] = at[i];
            continue;
        }
        sv__study_case older = at[count - 1];
        cases->repeated += !older.nothing;
        at[count - 1] = at[i];
        for (int v = 0; v < SV__NUM_VALUES; v++)
            if (isnan(at[i].value[v]))
                at[count - 1].value[v] = older.value[v];
    }
    cases->count = count;
}

/* ---- the same error for all ---- */

/* Whether all engines (and more than one) met the same error where one did. */
static bool blames_nobody(const sv__study_cases *cases, const sv__study_case *c)
{
    size_t met = 0;
    for (uint32_t k = 0; k < cases->num_contenders; k++) {
        const sv__study_case *other =
            sv__case_find(cases, c->fabric, c->traffic, k, c->level, c->seed);
        if (other == NULL)
            continue;
        if (!other->error || strcmp(other->words, c->words) != 0)
            return false;
        met++;
    }
    return met > 1;
}

sv_status sv__cases_order(sv__study_cases *cases)
{
    SV_TRY(find_nothing(cases));
    SV_TRY(rank_levels(cases));
    put_in_order(cases);
    for (size_t i = 0; i < cases->count; i++) {
        sv__study_case *c = &cases->at[i];
        c->undrawn = c->undrawn || (c->error && blames_nobody(cases, c));
        cases->undrawn += c->undrawn;
    }
    return SV_OK;
}
