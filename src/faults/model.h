/*
 * model.h: what the files of the room know of models of failures.
 */
#ifndef SV_FAULTS_MODEL_H
#define SV_FAULTS_MODEL_H

#include <selvage/failures.h>

/* Bounds of a model's numbers. */
#define SV__MOST_ANNUAL 0.999
#define SV__LEAST_SHAPE 0.01
#define SV__MOST_SHAPE  100.0
#define SV__LEAST_OVER  0.001
#define SV__MOST_YEARS  1000.0

/* Whether all numbers are within their bounds. */
bool sv__failure_model_good(const sv_failure_model *model);

/* The years until H(t) is so much: for an exponential number of mean 1, how long a part lives. */
double sv__failure_life(const sv_failure_model *model, sv_failure_kind kind, double strength);

#endif
