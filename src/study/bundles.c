/*
 * bundles.c: cases by group of fabrics, level of failures and contender.
 *
 * Cost: O(cases log cases).
 */
#include "study/bundles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct key {
    uint32_t group, rank, contender, fabric, traffic;
    int64_t seed;
    const sv__study_case *of;
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    const int64_t p[] = {x->group, x->rank, x->contender, x->fabric, x->seed, x->traffic};
    const int64_t q[] = {y->group, y->rank, y->contender, y->fabric, y->seed, y->traffic};
    for (int i = 0; i < 6; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static bool same_bundle(const key *a, const key *b)
{
    return a->group == b->group && a->rank == b->rank && a->contender == b->contender;
}

/* Takes over what only the other has. */
static void merge_case(sv__study_case *into, const sv__study_case *other)
{
    if (into->outcome == SV__CASE_OTHER) {
        into->outcome = other->outcome;
        into->words = other->words;
        into->undrawn = other->undrawn;
    }
    into->traffic = into->traffic == 0 ? other->traffic : into->traffic;
    for (int v = 0; v < SV__NUM_VALUES; v++)
        if (isnan(into->value[v]))
            into->value[v] = other->value[v];
}

static void fill(const sv__study_cases *cases, const key *keys, bool merge, sv__study_case *copies,
                 sv__bundles *bundles)
{
    size_t made = 0, largest = 0;
    for (size_t i = 0; i < cases->count; i++) {
        bool starts = i == 0 || !same_bundle(&keys[i - 1], &keys[i]);
        if (starts)
            bundles->at[bundles->count++] = (sv__bundle){.group = keys[i].group,
                                                         .level = keys[i].of->level,
                                                         .contender = keys[i].contender,
                                                         .at = &copies[made]};
        sv__bundle *bundle = &bundles->at[bundles->count - 1];
        if (merge && !starts && keys[i - 1].fabric == keys[i].fabric &&
            keys[i - 1].seed == keys[i].seed) {
            merge_case(&copies[made - 1], keys[i].of);
            continue;
        }
        copies[made++] = *keys[i].of;
        bundle->count++;
        largest = bundle->count > largest ? bundle->count : largest;
    }
}

sv_status sv__bundles_make(const sv__study_cases *cases, bool merge, sv__bundles *bundles)
{
    size_t room = cases->count + 1;
    key *keys = SV_ARENA_NEW(cases->arena, key, room);
    sv__study_case *copies = SV_ARENA_NEW(cases->arena, sv__study_case, room);
    *bundles = (sv__bundles){.at = SV_ARENA_NEW(cases->arena, sv__bundle, room),
                             .scratch = SV_ARENA_NEW(cases->arena, double, room)};
    if (keys == NULL || copies == NULL || bundles->at == NULL || bundles->scratch == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < cases->count; i++) {
        const sv__study_case *c = &cases->at[i];
        keys[i] = (key){cases->fabrics[c->fabric].group,
                        c->rank,
                        c->contender,
                        c->fabric,
                        c->traffic,
                        c->seed,
                        c};
    }
    if (cases->count > 1)
        qsort(keys, cases->count, sizeof *keys, compare_keys);
    fill(cases, keys, merge, copies, bundles);
    return SV_OK;
}

sv_sample sv__bundle_sample(const sv__bundles *bundles, const sv__bundle *bundle,
                            sv__study_measure value)
{
    size_t count = 0;
    for (size_t i = 0; i < bundle->count; i++)
        if (!isnan(bundle->at[i].value[value]))
            bundles->scratch[count++] = bundle->at[i].value[value];
    return sv_sample_of(bundles->scratch, count);
}

size_t sv__bundle_outcomes(const sv__bundle *bundle, sv__outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < bundle->count; i++)
        count += bundle->at[i].outcome == outcome;
    return count;
}

size_t sv__bundle_routed(const sv__bundle *bundle)
{
    return bundle->count - sv__bundle_outcomes(bundle, SV__CASE_ENGINE) -
           sv__bundle_outcomes(bundle, SV__CASE_OTHER);
}

size_t sv__bundle_drawn(const sv__bundle *bundle)
{
    size_t count = 0;
    for (size_t i = 0; i < bundle->count; i++)
        count += !bundle->at[i].undrawn;
    return count;
}

void sv__bundle_columns(sv_table *table)
{
    sv_table_column(table, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(table, "faults", NULL, SV_TEXT_COLUMN);
    sv_table_column(table, "engine", NULL, SV_TEXT_COLUMN);
}

void sv__bundle_names(const sv__study_cases *cases, const sv__bundle *bundle, sv_table *table)
{
    sv_table_text(table, cases->groups[bundle->group]);
    sv_table_text(table, cases->levels[bundle->level].words);
    sv_table_text(table, cases->contenders[bundle->contender].name);
}

sv_table *sv__matrix(const sv__study_cases *cases, const sv__bundles *bundles, sv_tables *tables,
                     const char *name, const char *title, const char *says, int digits,
                     sv__bundle_put *put)
{
    sv_table *t = sv_table_new(tables, name, title, says);
    sv_table_column(t, "fabric", NULL, SV_TEXT_COLUMN);
    sv_table_column(t, "faults", NULL, SV_TEXT_COLUMN);
    for (size_t k = 0; k < cases->num_contenders; k++)
        sv_table_column(t, cases->contenders[k].name, NULL, digits);
    for (size_t i = 0; i < bundles->count;) {
        const sv__bundle *first = &bundles->at[i];
        sv_table_text(t, cases->groups[first->group]);
        sv_table_text(t, cases->levels[first->level].words);
        for (size_t k = 0; k < cases->num_contenders; k++) {
            const sv__bundle *b = &bundles->at[i];
            if (i < bundles->count && b->group == first->group && b->level == first->level &&
                b->contender == k) {
                put(bundles, b, t);
                i++;
            } else {
                sv_table_missing(t);
            }
        }
    }
    return t;
}
