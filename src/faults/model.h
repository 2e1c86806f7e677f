/*
 * model.h: what the files of the room know of models of failures.
 */
#ifndef SV_FAULTS_MODEL_H
#define SV_FAULTS_MODEL_H

#include <selvage/faults.h>

/* Bounds of a model's numbers. */
#define SV__MAX_ANNUAL 0.999
#define SV__MIN_SHAPE  0.01
#define SV__MAX_SHAPE  100.0
#define SV__MIN_OVER   0.001
#define SV__MAX_YEARS  1000.0

/* Whether all numbers are within their bounds. */
bool sv__failure_model_good(const sv_failure_model *model);

/* The years until H(t) is so much: for an exponential number of mean 1, how long a part lives. */
double sv__failure_life(const sv_failure_model *model, sv_failure_kind kind, double strength);

#endif
