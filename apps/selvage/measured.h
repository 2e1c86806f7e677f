/*
 * measured.h: what `selvage metrics` measures, between measuring (cmd_metrics.c) and printing
 * (metrics_print.c).
 */
#ifndef SELVAGE_APP_MEASURED_H
#define SELVAGE_APP_MEASURED_H

#include "selvage/app.h"

enum { METRICS_MAX_NUMBERS = 200 };

/* The value of an option that was not given; none that can be typed. */
#define METRICS_NOT_GIVEN UINT64_MAX

struct metrics_options {
    const char *jobs, *job, *lost, *failures;
    const char *heat, *links; /* files */
    uint64_t histogram, trials, bisection, seed;
    bool json;
    /* From the texts: */
    bool lost_switches;
    uint32_t numbers[METRICS_MAX_NUMBERS], num_numbers;
};

/* One set of tables. */
struct metrics {
    const char *name;
    sv_fabric *f;
    sv_routes *r;
    sv_load load;
    uint64_t *loads; /* [channels] */
    sv_bound bound;
    unsigned vls_used;
    sv_stretch stretch;
    sv_vl_use vls;
    sv_jobmap *read, *map; /* NULL: not asked for; with --job map is of that one only */
    sv_jobmap one;
    sv_job_load *job_loads;
    uint64_t *effective; /* [channels]: routes of jobs */
    uint32_t *users;     /* [channels]: jobs */
    sv_jobs_load jobs;
    sv_lost lost[METRICS_MAX_NUMBERS];
    uint64_t lost_pairs;
    sv_matchings matchings;
};

/* One set as lines, or two side by side with what is different. */
sv_status metrics_print_text(struct app *app, sv_text *out, const struct metrics_options *options,
                             const struct metrics *sets, int count);

/* One object; of two sets an object with both, "a" and "b". */
sv_status metrics_print_json(struct app *app, sv_text *out, const struct metrics_options *options,
                             const struct metrics *sets, int count);

/*
 * The files that are asked for, all or none: the heat map of one set, or of two side by side; the
 * channels between switches of the first set as comma-separated values.
 */
sv_status metrics_write_files(struct app *app, const struct metrics_options *options,
                              const struct metrics *sets, int count);

#endif
