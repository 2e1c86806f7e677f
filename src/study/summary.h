/*
 * summary.h: parts of the summary: which of several engines is the best, on cells that all of them
 * have; and what is said of fabrics that were not simulated.
 */
#ifndef SV_STUDY_SUMMARY_H
#define SV_STUDY_SUMMARY_H

#include "base/text.h"
#include "study/cases.h"

/* A cell that counts, with what engines are compared by. */
typedef struct sv__measured {
    uint32_t rank, level, fabric;
    int64_t seed;
    double value;
} sv__measured;

/* By rank, fabric and seed, as qsort has it. */
int sv__measured_order(const sv__measured *a, const sv__measured *b);

/* An engine that is safe wherever it was measured. */
typedef struct sv__study_candidate {
    uint32_t contender;
    sv__measured *at; /* by rank, fabric and seed */
    size_t count;
    bool compared; /* has cells that all others have, too */
    double score;  /* mean over levels of the mean over their common cells; NAN if not compared */
} sv__study_candidate;

typedef struct sv__choice {
    sv__study_candidate *at;
    size_t count;
    uint32_t *levels; /* those of the common cells, in order */
    size_t num_levels;
} sv__choice;

/* Room for so many candidates, of so many cells each. */
sv_status sv__choice_begin(const sv__study_cases *cases, size_t candidates, sv__choice *choice);
sv_status sv__choice_add(const sv__study_cases *cases, uint32_t contender, size_t room,
                         sv__choice *choice);
void sv__choice_cell(const sv__study_case *c, double value, sv__choice *choice);

/*
 * Compares the candidates on the cells that they have in common. Where there are none, those with
 * the fewest cells are left out, one after the other, until there are.
 */
sv_status sv__choose(const sv__study_cases *cases, sv__choice *choice);

/* The compared one with the best score but one; sign: 1 if more is better, -1 if less is. */
const sv__study_candidate *sv__choice_best(const sv__choice *choice, double sign,
                                           const sv__study_candidate *but);

/* " Compared at … only." and " Not measured: nue at …; lash at …." where levels are missing. */
void sv__say_missing(const sv__study_cases *cases, const sv__choice *choice, const uint32_t *levels,
                     size_t num_levels, sv_text *out);

/* What may be said where an engine has no next: a sentence, or "". more: others may follow. */
const char *sv__say_alone(const sv__choice *choice, size_t measured, bool more);

sv_status sv__summary_tables(const sv__study_cases *cases, sv_tables *tables);

#endif
