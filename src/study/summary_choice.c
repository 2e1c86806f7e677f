/*
 * summary_choice.c: which of several safe engines is the best.
 *
 * A study that still runs (or was stopped, or grew) has engines that lack amounts of failures or
 * seeds. Means over different cells say nothing, so engines are compared on the cells that all of
 * them have, each amount counting once; and it is said which amounts that are, and what was not
 * measured of whom.
 *
 * Invariant: cells of a candidate are by rank, fabric and seed, and no two are of the same.
 * Cost: O(candidates² × cells log cells), once less wherever one has to be left out.
 */
#include <math.h>

#include "study/summary.h"

/* ---- candidates ---- */

sv_status sv__choice_begin(const sv__study_cases *cases, size_t candidates, sv__choice *choice)
{
    *choice = (sv__choice){.at = SV_ARENA_NEW(cases->arena, sv__study_candidate, candidates + 1),
                           .levels = SV_ARENA_NEW(cases->arena, uint32_t, cases->num_levels + 1)};
    return choice->at == NULL || choice->levels == NULL ? SV_NO_MEMORY : SV_OK;
}

sv_status sv__choice_add(const sv__study_cases *cases, uint32_t contender, size_t room,
                         sv__choice *choice)
{
    sv__study_candidate *candidate = &choice->at[choice->count++];
    *candidate = (sv__study_candidate){.contender = contender,
                                       .at = SV_ARENA_NEW(cases->arena, sv__measured, room + 1),
                                       .score = NAN};
    return candidate->at == NULL ? SV_NO_MEMORY : SV_OK;
}

void sv__choice_cell(const sv__study_case *c, double value, sv__choice *choice)
{
    sv__study_candidate *candidate = &choice->at[choice->count - 1];
    if (!isnan(value))
        candidate->at[candidate->count++] =
            (sv__measured){c->rank, c->level, c->fabric, c->seed, value};
}

/* ---- common cells ---- */

int sv__measured_order(const sv__measured *a, const sv__measured *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->fabric != b->fabric)
        return a->fabric < b->fabric ? -1 : 1;
    return (a->seed > b->seed) - (a->seed < b->seed);
}

/* Its value at a cell; NAN if it does not have it. */
static double value_at(const sv__study_candidate *candidate, const sv__measured *cell)
{
    size_t low = 0, high = candidate->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = sv__measured_order(&candidate->at[middle], cell);
        if (order == 0)
            return candidate->at[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NAN;
}

static bool all_have(const sv__choice *choice, const sv__measured *cell)
{
    for (size_t i = 0; i < choice->count; i++)
        if (choice->at[i].compared && isnan(value_at(&choice->at[i], cell)))
            return false;
    return true;
}

/* Moves the cells of a candidate that all compared ones have into common. */
static size_t find_common(const sv__choice *choice, const sv__study_candidate *of,
                          sv__measured *common)
{
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        if (all_have(choice, &of->at[i]))
            common[count++] = of->at[i];
    return count;
}

/* The compared one with the fewest cells, the last of several. */
static sv__study_candidate *poorest(const sv__choice *choice)
{
    sv__study_candidate *found = NULL;
    for (size_t i = 0; i < choice->count; i++)
        if (choice->at[i].compared && (found == NULL || choice->at[i].count <= found->count))
            found = &choice->at[i];
    return found;
}

static double score(const sv__study_candidate *candidate, const sv__measured *common, size_t count)
{
    double means = 0;
    size_t levels = 0, end;
    for (size_t i = 0; i < count; i = end) {
        double sum = 0;
        for (end = i; end < count && common[end].rank == common[i].rank; end++)
            sum += value_at(candidate, &common[end]);
        means += sum / (double)(end - i);
        levels++;
    }
    return means / (double)levels;
}

sv_status sv__choose(const sv__study_cases *cases, sv__choice *choice)
{
    size_t max = 0, count = 0;
    for (size_t i = 0; i < choice->count; i++) {
        choice->at[i].compared = choice->at[i].count > 0;
        max = choice->at[i].count > max ? choice->at[i].count : max;
    }
    sv__measured *common = SV_ARENA_NEW(cases->arena, sv__measured, max + 1);
    if (common == NULL)
        return SV_NO_MEMORY;
    for (sv__study_candidate *of; (of = poorest(choice)) != NULL; of->compared = false)
        if ((count = find_common(choice, of, common)) > 0)
            break;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || common[i].rank != common[i - 1].rank)
            choice->levels[choice->num_levels++] = common[i].level;
    for (size_t i = 0; i < choice->count; i++)
        if (choice->at[i].compared)
            choice->at[i].score = score(&choice->at[i], common, count);
    return SV_OK;
}

const sv__study_candidate *sv__choice_best(const sv__choice *choice, double sign,
                                           const sv__study_candidate *but)
{
    const sv__study_candidate *best = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        const sv__study_candidate *c = &choice->at[i];
        if (c->compared && c != but && (best == NULL || sign * c->score > sign * best->score))
            best = c;
    }
    return best;
}

/* ---- saying ---- */

static bool was_measured(const sv__study_candidate *candidate, uint32_t level)
{
    for (size_t i = 0; i < candidate->count; i++)
        if (candidate->at[i].level == level)
            return true;
    return false;
}

void sv__say_missing(const sv__study_cases *cases, const sv__choice *choice, const uint32_t *levels,
                     size_t num_levels, sv_text *out)
{
    size_t compared = 0;
    const char *start = " Not measured: ";
    for (size_t i = 0; i < choice->count; i++)
        compared += choice->at[i].compared;
    if (compared > 1 && choice->num_levels < num_levels) {
        for (size_t l = 0; l < choice->num_levels; l++)
            sv_text_print(out, "%s%s", l == 0 ? " Compared at " : ", ",
                          cases->levels[choice->levels[l]].words);
        sv_text_print(out, " only.");
    }
    for (size_t i = 0; i < choice->count; i++) {
        const char *comma = NULL;
        for (size_t l = 0; l < num_levels; l++) {
            if (was_measured(&choice->at[i], levels[l]))
                continue;
            if (comma == NULL)
                sv_text_print(out, "%s%s at ", start,
                              cases->contenders[choice->at[i].contender].name);
            sv_text_print(out, "%s%s", comma == NULL ? "" : comma, cases->levels[levels[l]].words);
            comma = ", ";
            start = "; ";
        }
    }
    if (start[0] == ';')
        sv_text_print(out, ".");
}

const char *sv__say_alone(const sv__choice *choice, size_t measured, bool more)
{
    if (choice->count > 1)
        return ""; /* others are safe, but have no cells in common: these are told of */
    if (measured == 1)
        return more ? "No other engine was measured here yet." : "No other engine was run here.";
    return more ? "No other engine that was measured is safe in all cells."
                : "No other engine is safe in all cells.";
}
