/*
 * faults_shared.h: what the files of `selvage faults` share.
 */
#ifndef SELVAGE_FAULTS_SHARED_H
#define SELVAGE_FAULTS_SHARED_H

#include "selvage/app.h"

/* selvage faults fit LOG: rates and shapes from a log of failures. argv[0] is "fit". */
int faults_fit(struct app *app, int argc, char **argv);

/* Years as a decimal number from 0 to 1000. */
bool faults_years(const char *text, double *years);

/* --model help: the presets with their sources. An exit code. */
int faults_list_models(struct app *app, bool json);

#endif
