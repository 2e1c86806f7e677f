/* study_tables.h: a database's answers on standard output. */
#ifndef SELVAGE_STUDY_TABLES_H
#define SELVAGE_STUDY_TABLES_H

#include "selvage/app.h"
#include "study/answers.h"

enum study_format { STUDY_TEXT, STUDY_CSV, STUDY_JSON };

struct study_print_options {
    sv_answer_options answer; /* other is opened by study_print */
    const char *other;        /* compare: the second database, or NULL */
    enum study_format format;
    const char *table; /* only this one of the answer's tables, or NULL */
};

/*
 * Prints an answer ("degradation", …) of a database, or all that it has anything for ("all").
 * Returns an exit code; what went wrong is on standard error then.
 */
int study_print(struct app *app, const char *db, const char *name,
                const struct study_print_options *options);

#endif
