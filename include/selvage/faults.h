/*
 * faults.h: failures: chosen at random and repeatably, listed in a file, or by a model of how often
 * parts fail.
 *
 * Random failures are never critical: two terminals that could talk before, and that still exist,
 * can talk afterwards. A draw that would break this is skipped and another one made; when no choice
 * is left the call says so. A switch takes its terminals with it; that is not critical by itself.
 */
#ifndef SELVAGE_FAULTS_H
#define SELVAGE_FAULTS_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How many of something: a count, or a percentage of what there is to choose from in millionths
 * (1 % is 10,000), rounded down.
 */
typedef struct sv_amount {
    bool relative;
    uint64_t value;
} sv_amount;

/* Reads "12", "1%" or "0.5%". BAD_INPUT for anything else. Time: O(length). */
SV_API SV_MUST_USE sv_status sv_amount_parse(sv_ctx *ctx, const char *text, sv_amount *amount);

/* Reads "1:13", switches to links; BAD_INPUT for anything else. Time: O(length). */
SV_API SV_MUST_USE sv_status sv_ratio_parse(sv_ctx *ctx, const char *text, uint32_t *switches,
                                            uint32_t *links);

typedef struct sv_fault_plan {
    uint64_t seed;
    sv_amount links; /* cables between different switches */
    sv_amount switches;
    sv_amount adapters; /* host adapters, with all their ports */
    /*
     * Both in a ratio: ratio_switches to ratio_links (1:13). both is then the number of links (a
     * percentage is of the links to choose from), and switches follow, rounded down.
     */
    sv_amount both;
    uint32_t ratio_switches, ratio_links;
    /*
     * Only switches of one level, and links whose lower end is of it: the distance to the nearest
     * switch with terminals. Used when limit_level is set.
     */
    bool limit_level;
    uint32_t level;
    /* Only switches whose name fits the pattern (as in file names), links with both ends so. */
    const char *only;
    /* Only switches whose name fits, links with at least one end so. */
    const char *touching;
    /* Never a switch that has terminals. */
    bool keep_terminals;
} sv_fault_plan;

typedef struct sv_fault_report {
    uint32_t links, switches, adapters; /* failed by choice or by the list */
    uint32_t lost_terminals;            /* that went with them */
    uint32_t critical;                  /* draws that were skipped */
} sv_fault_report;

/*
 * Draws failures and adds them to the mask. Switches are drawn first, then links, then adapters.
 * The same fabric, plan and seed give the same failures; with more failures asked for, those of a
 * smaller number of the same kind are among them (as long as nothing else in the plan differs).
 * What failed before must be part of fabric (sv_fabric_mask it first): what the mask holds already
 * is not looked at. INFEASIBLE when fewer can fail than asked for; the mask is then unchanged.
 * Time: O(failures * degree) expected on fabrics with short detours, linear a failure at worst.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *whole = NULL, *broken = NULL;
 * sv_fault_plan plan = {.seed = 7};
 * sv_fault_report report;
 * if (sv_topology_generate(ctx, "torus:10x10x10,hosts=4", &whole) == SV_OK &&
 *     sv_amount_parse(ctx, "1%", &plan.links) == SV_OK) {
 *     sv_mask *mask = sv_mask_new(ctx, whole);
 *     if (sv_faults_draw(ctx, whole, &plan, mask, &report) == SV_OK &&
 *         sv_fabric_mask(ctx, whole, mask, &broken) == SV_OK)
 *         printf("%u of 3000 links failed\n", report.links);
 *     sv_mask_free(mask);
 * }
 * sv_fabric_free(broken);
 * sv_fabric_free(whole);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_faults_draw(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_fault_plan *plan, sv_mask *mask,
                                            sv_fault_report *report);

/*
 * Reads a list of failures, one a line, and adds them to the mask (see docs/formats.md):
 *
 *     switch NODE
 *     adapter NODE
 *     port NODE PORT
 *     link NODE PORT NODE PORT
 *
 * NODE as sv_index_find takes it, in double quotes if it has blanks; # starts a comment.
 * BAD_INPUT with file and line when something is not there; the mask is then unchanged.
 * Time: linear in the fabric and the file.
 */
SV_API SV_MUST_USE sv_status sv_faults_read(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_source *source, sv_mask *mask,
                                            sv_fault_report *report);

/*
 * Fails one thing: the words of one line of such a list. name (of a file, an option) goes into
 * messages. The report's counts go up.
 */
SV_API SV_MUST_USE sv_status sv_faults_add(sv_ctx *ctx, const sv_index *index,
                                           const sv_fabric *fabric, const char *line, sv_mask *mask,
                                           sv_fault_report *report);

/*
 * Writes the failures of a mask as such a list, without what is dead in fabric already. Time:
 * linear in the fabric.
 */
SV_API SV_MUST_USE sv_status sv_faults_write(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_mask *mask, const sv_sink *sink);

/*
 * How many of the live terminals are cut off from the largest group of terminals that can talk to
 * each other. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_faults_cut_off(sv_ctx *ctx, const sv_fabric *fabric,
                                               uint32_t *terminals);

/* ---- how often parts fail ---- */

/*
 * Models of failures, what they do to a fabric over the years, and the model that fits a log.
 *
 * Every part lives on its own, for a time that is Weibull distributed. After t years a share
 *
 *     F(t) = 1 - exp(-H(t)),   H(t) = -ln(1 - annual) * over * (t / over)^shape
 *
 * of the parts of a kind has failed, if nobody repairs any. With shape 1 the rate is constant and F
 * of a year is the annual rate, each year anew for those that are left. Below 1 failures get rarer
 * with age, above 1 more frequent; over then is the number of years whose mean the annual rate is
 * (1 unless told: F(1) is the annual rate). A year has 365.25 days.
 */

/* What fails. The first three are parts of a fabric; a log knows of more. */
typedef enum sv_failure_kind {
    SV_FAILURE_LINK,    /* cables between different switches */
    SV_FAILURE_SWITCH,  /* with their terminals */
    SV_FAILURE_ADAPTER, /* host adapters, with all their ports */
    SV_FAILURE_PARTS,
    SV_FAILURE_SOFTWARE = SV_FAILURE_PARTS,
    SV_FAILURE_UNSPECIFIED,
    SV_FAILURE_KINDS
} sv_failure_kind;

/* "link", "switch", "adapter", "software", "unspecified"; NULL for anything else. Time: O(1). */
SV_API const char *sv_failure_kind_name(sv_failure_kind kind);

/* ---- models ---- */

typedef struct sv_failure_rate {
    double annual; /* share of the parts that fail in a year, from 0 to 0.999 */
    double shape;  /* of the Weibull distribution, from 0.01 to 100 */
} sv_failure_rate;

typedef struct sv_failure_model {
    sv_failure_rate of[SV_FAILURE_PARTS];
    double over; /* years that the annual rates are the mean of, from 0.001 to 1000 */
} sv_failure_model;

/* A number of a preset. */
typedef struct sv_failure_value {
    const char *name;  /* as models are written: "link", "shape" … */
    const char *value; /* "0.9%"; NULL: nobody tells, so whoever uses the preset has to */
    bool published;    /* the source says so; else it is derived or chosen, and why */
    const char *why;
} sv_failure_value;

typedef struct sv_failure_preset {
    const char *name, *summary, *source;
    const sv_failure_value *values; /* ends with a NULL name */
} sv_failure_preset;

/* The presets, in the order of the manual; NULL beyond the last. Time: O(1). */
SV_API const sv_failure_preset *sv_failure_preset_at(size_t i);

/*
 * Reads a model: the name of a preset, key=value pairs that replace numbers of it, or only those,
 * separated by commas: "tsubame2", "deimos,link=0.4%", "link=0.9%,switch=1%,shape=1.07".
 *
 *     link, switch, adapter                     annual rates, in percent
 *     shape                                     of all kinds
 *     link-shape, switch-shape, adapter-shape   of one
 *     over                                      years that the rates are the mean of
 *
 * Pairs hold in their order. Without a preset, kinds that are not named do not fail, shapes and
 * over are 1. BAD_INPUT: something else, or a preset does not tell a rate and neither does the
 * text. Time: O(length).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_failure_model model;
 * char text[SV_FAILURE_MODEL_TEXT];
 * if (sv_failure_model_parse(ctx, "tsubame2,switch=2%", &model) == SV_OK) {
 *     sv_failure_model_text(&model, text);
 *     printf("%s: after five years %.1f %% of the switches are gone\n", text,
 *            100 * sv_failure_share(&model, SV_FAILURE_SWITCH, 5));
 * }
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_failure_model_parse(sv_ctx *ctx, const char *text,
                                                    sv_failure_model *model);

enum { SV_FAILURE_MODEL_TEXT = 256 };

/*
 * A model in the same words, always in the same order, six digits a number. What is printed parses
 * to what prints the same. text: of SV_FAILURE_MODEL_TEXT bytes. Time: O(1).
 */
SV_API void sv_failure_model_text(const sv_failure_model *model, char *text);

/* F: the share of a kind (one of the parts) that fails within so many years. Time: O(1). */
SV_API double sv_failure_share(const sv_failure_model *model, sv_failure_kind kind, double years);

/* ---- what they do to a fabric ---- */

/*
 * How many parts of each kind a fabric has that can fail; times sv_failure_share, so many are
 * expected to. Time: linear in the fabric.
 */
SV_API SV_MUST_USE sv_status sv_failure_parts(sv_ctx *ctx, const sv_fabric *fabric,
                                              uint32_t parts[SV_FAILURE_PARTS]);

/*
 * Lets a fabric grow old: every part draws how long it lives, and those that do not live so many
 * years fail, one after the other, and are added to the mask. A failure that would cut terminals
 * off from each other at that moment is repaired at once, for good (fail in place repairs critical
 * failures only), and counted in the report. Parts that went with another one do not fail any more.
 *
 * The same fabric, model and seed give the same lives: what fails within three years is among what
 * fails within five. Lives belong to ids, so masking a fabric first does not change those of its
 * other parts. What failed before must be part of fabric (sv_fabric_mask it first), as for
 * sv_faults_draw.
 *
 * years: from 0 to 1000, fractions, too. BAD_INPUT: not so, or numbers of the model are out of
 * bounds; the mask is then unchanged.
 * Time: linear, and for each failure a search as of sv_faults_draw.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *whole = NULL;
 * sv_failure_model model;
 * sv_fault_report report;
 * if (sv_topology_generate(ctx, "tsubame2:rail=1", &whole) == SV_OK &&
 *     sv_failure_model_parse(ctx, "tsubame2", &model) == SV_OK) {
 *     sv_mask *mask = sv_mask_new(ctx, whole);
 *     if (mask != NULL && sv_faults_age(ctx, whole, &model, 8, 1, mask, &report) == SV_OK)
 *         printf("%u links and %u switches fail, %u failures are repaired\n", report.links,
 *                report.switches, report.critical);
 *     sv_mask_free(mask);
 * }
 * sv_fabric_free(whole);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_faults_age(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_failure_model *model, double years,
                                           uint64_t seed, sv_mask *mask, sv_fault_report *report);

/* ---- logs ---- */

typedef struct sv_failure {
    double hours;        /* when: since 1970 (UTC) in a log of dates, else as the log counts */
    double repair_hours; /* how long it took; negative: not told */
    sv_failure_kind kind;
} sv_failure;

typedef struct sv_failure_log {
    const sv_failure *at; /* by time */
    size_t length;
    bool dated; /* times are dates; else they count from the beginning of the observation */
    sv_pool *store;
} sv_failure_log;

/*
 * Reads a log, a failure a line, in any order (see docs/formats.md):
 *
 *     TIME KIND [REPAIR]
 *
 * TIME is a date (2010-09-01), with a time of day if known (2010-09-01T17:30, 2010-09-01 17:30:05,
 * with Z or +09:00 behind it if it is not UTC), or a number with s, min, h, d or y behind it. KIND
 * is link (or cable), switch, adapter (or nic, hca), software or unspecified (or unknown). REPAIR
 * is how long it took, a number with such a unit, or -. # starts a comment. Failures of a day
 * without a time are spread evenly over the day.
 *
 * BAD_INPUT with file and line: anything else, or dates beside numbers. The log is to be freed.
 * Time: linear, and sorting.
 */
SV_API SV_MUST_USE sv_status sv_failure_log_read(sv_ctx *ctx, const sv_source *source,
                                                 sv_failure_log **log);

/* Reads a log from a file; "-" is standard input. As sv_failure_log_read, and IO. */
SV_API SV_MUST_USE sv_status sv_failure_log_load(sv_ctx *ctx, const char *path,
                                                 sv_failure_log **log);

/* Frees a log. NULL is fine. Time: O(1). */
SV_API void sv_failure_log_free(sv_failure_log *log);

/*
 * A moment as a log's TIME, which must be of the log's sort: a date or a number. last: a day
 * without a time is its end, not its beginning. BAD_INPUT: anything else. Time: O(length).
 */
SV_API SV_MUST_USE sv_status sv_failure_moment(sv_ctx *ctx, const sv_failure_log *log,
                                               const char *text, bool last, double *hours);

/* A length of time, as REPAIR: "36min", "8y". BAD_INPUT: anything else. Time: O(length). */
SV_API SV_MUST_USE sv_status sv_failure_hours(sv_ctx *ctx, const char *text, double *hours);

/* ---- fitting ---- */

/* What is asked of a log. Zeroes: nothing is known besides. */
typedef struct sv_fit_request {
    uint64_t parts[SV_FAILURE_PARTS]; /* how many of each there are; 0: not known */
    /*
     * When the observation began and ended; failures outside are left out. Without a beginning, it
     * is midnight before the first failure (of dates) or 0 (of numbers). Without an end, it lasts
     * span_hours, or, if that is 0, until the last failure.
     */
    bool has_begin, has_end;
    double begin_hours, end_hours, span_hours;
} sv_fit_request;

/* A number from a sample, with the 95 % interval. */
typedef struct sv_estimate {
    bool known; /* else the sample does not tell */
    double value, low, high;
} sv_estimate;

typedef struct sv_fit_kind {
    uint64_t failures;
    double share;        /* of all failures in the log */
    sv_estimate annual;  /* failures a part and year; known if the number of parts is */
    double mtbf_hours;   /* observation / failures; 0: no failure */
    uint64_t repairs;    /* that tell how long they took … */
    double mttr_hours;   /* … and their mean */
    sv_estimate shape;   /* over the time observed: the Weibull shape of models */
    sv_estimate between; /* the Weibull shape of the times between two failures */
} sv_fit_kind;

typedef struct sv_failure_fit {
    double begin_hours, end_hours, years; /* that were observed */
    bool begin_known; /* else it is the day of the first failure, and shapes tell nothing of age */
    uint64_t outside; /* failures before or after that */
    sv_fit_kind of[SV_FAILURE_KINDS], hardware, all;
    /*
     * The model: rates of the kinds whose number of parts is known (others: 0), the shape of the
     * hardware's failures (1 if they do not tell one, or it is not known when the observation
     * began), over the years observed.
     */
    sv_failure_model model;
} sv_failure_fit;

/*
 * Fits rates and Weibull shapes to a log, by maximum likelihood.
 *
 * shape: a part that is repaired is as good as it was before it failed, so failures of n parts up
 * to time t after the beginning are n H(t) on average (a power-law process; the first failure of
 * each part then is Weibull distributed with the same shape). Of m failures at times t_i within T
 * the most likely shape is m / sum ln(T / t_i), and 2 m shape / estimate is chi-square distributed
 * with 2 m degrees of freedom (2 less if the observation ends with the last failure), from which
 * the interval is. It does not depend on the number of parts. At least three failures are needed.
 *
 * between: times between one failure and the next, as if each started afresh: the most likely
 * Weibull shape, the time after the last failure being censored, with an interval from the
 * observed Fisher information of its logarithm. At least three such times are needed. Times and
 * spaces below a second count as one.
 *
 * annual: failures / (parts * years), with the exact interval of a Poisson number.
 *
 * INFEASIBLE: no hardware failure within the observation. BAD_INPUT: it ends before it begins.
 * Time: O(failures), times some hundred steps of the searches.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_failure_log *log = NULL;
 * sv_failure_fit fit;
 * sv_fit_request request = {.parts = {[SV_FAILURE_LINK] = 7005, [SV_FAILURE_SWITCH] = 501}};
 * char text[SV_FAILURE_MODEL_TEXT];
 * if (sv_failure_log_load(ctx, "failures.log", &log) == SV_OK &&
 *     sv_failure_fit_log(ctx, log, &request, &fit) == SV_OK) {
 *     sv_failure_model_text(&fit.model, text);
 *     printf("%s\n", text);
 * } else {
 *     printf("%s\n", sv_ctx_message(ctx));
 * }
 * sv_failure_log_free(log);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_failure_fit_log(sv_ctx *ctx, const sv_failure_log *log,
                                                const sv_fit_request *request, sv_failure_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
