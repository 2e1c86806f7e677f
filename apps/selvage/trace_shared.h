/* trace_shared.h: the verbs below selvage trace, one a file. */
#ifndef SELVAGE_TRACE_SHARED_H
#define SELVAGE_TRACE_SHARED_H

#include <selvage/experimental/traces.h>

#include "selvage/app.h"

typedef enum trace_format { TRACE_SVT, TRACE_GOAL, TRACE_TEXT } trace_format;

/* --format F, or by the suffix of the output's name. EXIT_USAGE for an unknown one, else -1. */
int trace_format_of(struct app *app, const char *name, const char *output, trace_format *format);

/* A file of any format, a folder of a recording, which must be whole, or a skeleton by name. */
sv_status trace_load(struct app *app, const char *path, sv_mpi_trace **trace);
/* Puts the file's name before what is wrong with its contents. Returns status. */
sv_status trace_in(struct app *app, const char *path, sv_status status);
/* Writes it, all or nothing; "-" is standard output. */
sv_status trace_save(struct app *app, const sv_mpi_trace *trace, const char *path,
                     trace_format format);

/* One line an event, for people and tests. */
sv_status trace_write_text(struct app *app, const sv_mpi_trace *trace, const sv_sink *sink);

/* Makes computing between the same two events of a rank their mean: *trace is another then. */
sv_status trace_smooth(struct app *app, sv_mpi_trace **trace);

/* "64 ranks, 12345 events": what is in it, for a note. */
void trace_note(struct app *app, const sv_mpi_trace *trace, const char *output);

/* What sv_mpi_summarise found; phases: all of them, too. */
void trace_print_summary(sv_text *out, const sv_mpi_trace *trace, const sv_mpi_summary *summary,
                         bool phases);
void trace_json_summary(sv_text *out, const sv_mpi_trace *trace, const sv_mpi_summary *summary,
                        bool phases);
/* from,to,messages,bytes,point_to_point_bytes: pairs that talk. */
sv_status trace_write_matrix(struct app *app, const sv_mpi_summary *summary, const char *path);

int trace_record(struct app *app, int argc, char **argv);
int trace_join(struct app *app, int argc, char **argv);
int trace_convert(struct app *app, int argc, char **argv);
int trace_make(struct app *app, int argc, char **argv);
int trace_info(struct app *app, int argc, char **argv);
int trace_check(struct app *app, int argc, char **argv);
int trace_seed(struct app *app, int argc, char **argv);

#endif
