/*
 * case_find.c: looking things up among the cases of a database.
 *
 * Cost: a run is found in its length, a case by bisection, names by looking at all.
 */
#include <math.h>
#include <string.h>

#include "study/cases.h"

size_t sv__run_end(const sv__study_cases *cases, size_t from, int parts)
{
    const sv__study_case *first = &cases->at[from];
    size_t i = from + 1;
    for (; i < cases->count; i++) {
        const sv__study_case *c = &cases->at[i];
        if (c->fabric != first->fabric || (parts > 1 && c->traffic != first->traffic) ||
            (parts > 2 && c->contender != first->contender) ||
            (parts > 3 && c->level != first->level))
            break;
    }
    return i;
}

const sv__study_case *sv__case_find(const sv__study_cases *cases, uint32_t fabric, uint32_t traffic,
                                    uint32_t contender, uint32_t level, int64_t seed)
{
    if (level >= cases->num_levels)
        return NULL;
    const uint32_t wanted[] = {fabric, traffic, contender, cases->levels[level].rank};
    size_t low = 0, high = cases->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const sv__study_case *c = &cases->at[middle];
        const uint32_t here[] = {c->fabric, c->traffic, c->contender, c->rank};
        int order = 0;
        for (int i = 0; i < 4 && order == 0; i++)
            order = (here[i] > wanted[i]) - (here[i] < wanted[i]);
        if (order == 0)
            order = (c->seed > seed) - (c->seed < seed);
        if (order == 0)
            return c;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

double sv__case_throughput(const sv__study_case *c)
{
    return c->outcome == SV__CASE_OK || c->outcome == SV__CASE_UNSAFE ? c->value[SV__THROUGHPUT]
                                                                      : NAN;
}

double sv__case_failed(const sv__study_cases *cases, const sv__study_case *c, sv__cause kind)
{
    if (cases->levels[c->level].kind == SV__CAUSE_NONE)
        return 0;
    if (kind == SV__CAUSE_LINKS)
        return c->value[SV__LINKS_FAILED];
    if (kind == SV__CAUSE_SWITCHES)
        return c->value[SV__SWITCHES_FAILED];
    double adapters = c->value[SV__ADAPTERS_FAILED];
    return c->value[SV__LINKS_FAILED] + c->value[SV__SWITCHES_FAILED] +
           (isnan(adapters) ? 0 : adapters);
}

sv__cause sv__family_cause(const sv__study_cases *cases, uint32_t family)
{
    for (size_t i = 0; i < cases->num_levels; i++)
        if (cases->levels[i].family == family)
            return cases->levels[i].kind;
    return SV__CAUSE_NONE;
}

const sv__contender *sv__contender_find(const sv__study_cases *cases, const char *name)
{
    const sv__contender *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < cases->num_contenders; i++) {
        const sv__contender *c = &cases->contenders[i];
        if (strcmp(c->name, name) == 0 || strcmp(c->full, name) == 0)
            return c;
        if (strcmp(c->engine, name) == 0)
            only = c, count++;
    }
    return count == 1 ? only : NULL;
}

void sv__note_cells(const sv__study_cases *cases, sv_table *table)
{
    if (cases->open > 0)
        sv_table_note(table, "%zu cell%s no result yet.", cases->open,
                      cases->open == 1 ? " has" : "s have");
    if (cases->repeated > 0)
        sv_table_note(table, "%zu cell%s measured by more than one plan: the last counts.",
                      cases->repeated, cases->repeated == 1 ? " was" : "s were");
    if (cases->nothing > 0)
        sv_table_note(table,
                      "%zu cell%s a share of failures that rounds down to none: counted as the "
                      "fault-free cell, once.",
                      cases->nothing, cases->nothing == 1 ? " has" : "s have");
}

void sv__note_undrawn(const sv__study_cases *cases, sv_table *table)
{
    if (cases->undrawn > 0)
        sv_table_note(table,
                      "%zu cell%s out, as no engine could have done anything: failures that cannot "
                      "be drawn, or the same error for all.",
                      cases->undrawn, cases->undrawn == 1 ? " is left" : "s are left");
}
