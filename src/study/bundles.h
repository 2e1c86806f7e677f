/*
 * bundles.h: cases that are told of together: one group of fabrics, one level of failures, one
 * contender; for answers about tables, whatever traffic then went over them.
 */
#ifndef SV_STUDY_BUNDLES_H
#define SV_STUDY_BUNDLES_H

#include "study/cases.h"
#include "study/statistics.h"

typedef struct sv__bundle {
    uint32_t group, level, contender;
    const sv__study_case *at; /* by fabric and seed */
    size_t count;
} sv__bundle;

typedef struct sv__bundles {
    sv__bundle *at; /* by group, level and contender */
    size_t count;
    double *scratch; /* room for a number of each case of the largest bundle */
} sv__bundles;

/*
 * merge: cases that differ in traffic only are one (their tables are the same), with all values
 * that any of them has. In the arena of the cases.
 */
sv_status sv__bundles_make(const sv__study_cases *cases, bool merge, sv__bundles *bundles);

/* The values of a bundle's cases that have one. */
sv_sample sv__bundle_sample(const sv__bundles *bundles, const sv__bundle *bundle,
                            sv__study_measure value);

/* How many cases have an outcome; how many of them got tables at all. */
size_t sv__bundle_outcomes(const sv__bundle *bundle, sv__outcome outcome);
size_t sv__bundle_routed(const sv__bundle *bundle);

/* How many cases say something of an engine. */
size_t sv__bundle_drawn(const sv__bundle *bundle);

/* Columns fabric, faults and engine, and their values. */
void sv__bundle_columns(sv_table *table);
void sv__bundle_names(const sv__study_cases *cases, const sv__bundle *bundle, sv_table *table);

/*
 * A table with fabrics and failures down, contenders across. put adds one value for a bundle;
 * digits as of a column.
 */
typedef void sv__bundle_put(const sv__bundles *bundles, const sv__bundle *bundle, sv_table *table);
sv_table *sv__matrix(const sv__study_cases *cases, const sv__bundles *bundles, sv_tables *tables,
                     const char *name, const char *title, const char *says, int digits,
                     sv__bundle_put *put);

#endif
