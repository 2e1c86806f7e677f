/*
 * fit.c: rates and Weibull shapes that make a log of failures most likely.
 *
 * Idea: two questions are asked of the times of failures. How they lie in the time observed (do
 * they get rarer or more frequent?) is a power-law process: the expected number up to time t is
 * proportional to t^shape, and the most likely shape has a closed form whose error is chi-square
 * distributed exactly. How long it is from one to the next (do they come in clusters?) is a Weibull
 * distribution of those times, the last of which did not end when the observation did; its shape is
 * the root of the profile likelihood's derivative, which falls with the shape, so halving finds it.
 *
 * The first is the shape of models: under minimal repair the first failure of each part has the
 * lifetime that models draw. The thesis fits "the distribution over the life span" (4.1) without
 * saying more; so both are told.
 *
 * Degrees of freedom are even here, so the chi-square distribution of 2m of them is the gamma
 * distribution of a whole number m, and the same function gives the interval of a Poisson number.
 *
 * Source: Crow, Reliability analysis for complex, repairable systems (1974), for the process;
 * Nelson, Applied Life Data Analysis, for censored Weibull samples; Garwood (1936) for the Poisson
 * interval. Cost: O(failures) a step, some hundred steps.
 */
#include <math.h>
#include <selvage/faults.h>

#include "base/arena.h"
#include "faults/model.h"
#include "text/times.h"

/* Standard deviations on both sides of the middle that hold 95 %. */
#define NORMAL_95 1.959963984540054

enum { MIN_SAMPLE = 3, STEPS = 200 };

struct fitting {
    sv_ctx *ctx;
    const sv_failure_log *log;
    const sv_fit_request *request;
    sv_failure_fit *fit;
    double *times, *logs; /* of the failures looked at: hours since the beginning; scratch */
    bool last_ends;       /* the observation ends with the log's last failure */
};

/* ---- distributions ---- */

/* P(m, x): the chance that a gamma number of a whole shape m is at most x. */
static double gamma_below(uint64_t m, double log_factorial, double x)
{
    double term = 1, sum = 1, n = (double)m;
    if (x > n + 10 * sqrt(n) + 30)
        return 1; /* to any precision, and the sum would overflow */
    for (double j = 1; term > sum * 1e-17; j++) {
        term *= x / (n + j);
        sum += term;
    }
    return exp(n * log(x) - x - log_factorial + log(sum));
}

/* Below which a gamma number of shape m > 0 is with a chance of p. */
static double gamma_quantile(uint64_t m, double p)
{
    double log_factorial = 0, low = 0, high = (double)m + 10 * sqrt((double)m) + 30;
    for (uint64_t i = 2; i <= m; i++)
        log_factorial += log((double)i);
    for (int step = 0; step < STEPS && low < high; step++) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high)
            break;
        if (gamma_below(m, log_factorial, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- estimates ---- */

static sv_estimate estimate_rate(uint64_t failures, double part_years)
{
    double low = failures > 0 ? gamma_quantile(failures, 0.025) : 0;
    return (sv_estimate){true, (double)failures / part_years, low / part_years,
                         gamma_quantile(failures + 1, 0.975) / part_years};
}

/* How failures lie in the time observed. */
static sv_estimate estimate_shape(const double *times, uint64_t count, double end, bool last_ends)
{
    double sum = 0;
    if (count < MIN_SAMPLE)
        return (sv_estimate){0};
    for (uint64_t i = 0; i < count; i++)
        sum += log(end / times[i]);
    double n = (double)count, shape = n / sum;
    if (!(shape >= SV__MIN_SHAPE && shape <= SV__MAX_SHAPE))
        return (sv_estimate){0};
    uint64_t m = count - last_ends;
    return (sv_estimate){true, shape, shape * gamma_quantile(m, 0.025) / n,
                         shape * gamma_quantile(m, 0.975) / n};
}

/* Sums over all times x, given by ln x: of x^k, x^k ln x and x^k (ln x)^2. */
static void power_sums(const double *logs, uint64_t count, double k, double sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    for (uint64_t i = 0; i < count; i++) {
        double power = exp(k * logs[i]);
        sums[0] += power;
        sums[1] += power * logs[i];
        sums[2] += power * logs[i] * logs[i];
    }
}

/* The most likely Weibull shape of times given by their logarithms, the last perhaps censored. */
static sv_estimate weibull_shape(const double *logs, uint64_t count, bool censored)
{
    uint64_t ended = count - censored;
    double mean = 0, sums[3], low = SV__MIN_SHAPE, high = SV__MAX_SHAPE, r = (double)ended;
    for (uint64_t i = 0; i < ended; i++)
        mean += logs[i] / r;
    power_sums(logs, count, high, sums);
    if (!(sums[1] / sums[0] - 1 / high > mean))
        return (sv_estimate){0}; /* (nearly) all the same */
    power_sums(logs, count, low, sums);
    if (sums[1] / sums[0] - 1 / low > mean)
        return (sv_estimate){0};
    for (int step = 0; step < STEPS; step++) {
        double k = sqrt(low * high);
        if (k <= low || k >= high)
            break;
        power_sums(logs, count, k, sums);
        if (sums[1] / sums[0] - 1 / k > mean)
            high = k;
        else
            low = k;
    }
    power_sums(logs, count, high, sums);
    double first = sums[1] / sums[0], spread = sums[2] / sums[0] - first * first;
    double error = 1 / sqrt(r * (1 + high * high * spread)); /* of ln k: (k^2 * information)^-1/2 */
    return (sv_estimate){true, high, high * exp(-NORMAL_95 * error), high * exp(NORMAL_95 * error)};
}

/* How long it is from one failure to the next. */
static sv_estimate estimate_between(struct fitting *x, uint64_t count, double end)
{
    static const double second = 1.0 / 3600;
    double max = second;
    uint64_t used = 0;
    if (count < MIN_SAMPLE + 1)
        return (sv_estimate){0};
    for (uint64_t i = 1; i < count; i++) {
        double space = fmax(x->times[i] - x->times[i - 1], second);
        x->logs[used++] = space;
        max = fmax(max, space);
    }
    bool censored = end - x->times[count - 1] > second;
    if (censored) {
        x->logs[used++] = end - x->times[count - 1];
        max = fmax(max, x->logs[used - 1]);
    }
    for (uint64_t i = 0; i < used; i++)
        x->logs[i] = log(x->logs[i] / max); /* so that no power overflows */
    return weibull_shape(x->logs, used, censored);
}

/* ---- kinds ---- */

/* All estimates of the failures of some kinds (bits), and of so many parts (0: not known). */
static void fit_kinds(struct fitting *x, unsigned kinds, uint64_t parts, sv_fit_kind *result)
{
    static const double second = 1.0 / 3600;
    const sv_failure_fit *fit = x->fit;
    double hours = fit->end_hours - fit->begin_hours, repairs = 0;
    sv_fit_kind k = {0};
    bool last_ends = false;
    for (size_t i = 0; i < x->log->length; i++) {
        const sv_failure *failure = &x->log->at[i];
        if (failure->hours < fit->begin_hours || failure->hours > fit->end_hours ||
            !((kinds >> failure->kind) & 1))
            continue;
        x->times[k.failures++] = fmax(failure->hours - fit->begin_hours, second);
        last_ends = x->last_ends && failure->hours == fit->end_hours;
        if (failure->repair_hours >= 0) {
            k.repairs++;
            repairs += failure->repair_hours;
        }
    }
    if (k.failures > 0)
        k.mtbf_hours = hours / (double)k.failures;
    if (k.repairs > 0)
        k.mttr_hours = repairs / (double)k.repairs;
    if (parts > 0)
        k.annual = estimate_rate(k.failures, (double)parts * fit->years);
    k.shape = estimate_shape(x->times, k.failures, hours, last_ends);
    k.between = estimate_between(x, k.failures, hours);
    *result = k;
}

static sv_status fit_all(struct fitting *x)
{
    const unsigned hardware = (1u << SV_FAILURE_PARTS) - 1, all = (1u << SV_FAILURE_KINDS) - 1;
    sv_failure_fit *fit = x->fit;
    fit_kinds(x, all, 0, &fit->all);
    fit_kinds(x, hardware, 0, &fit->hardware);
    for (unsigned k = 0; k < SV_FAILURE_KINDS; k++)
        fit_kinds(x, 1u << k, k < SV_FAILURE_PARTS ? x->request->parts[k] : 0, &fit->of[k]);
    if (fit->hardware.failures == 0)
        return sv_fail(x->ctx, SV_INFEASIBLE,
                       "no link, switch or adapter failed in the time observed: nothing to fit");
    double every = (double)fit->all.failures;
    fit->all.share = 1;
    fit->hardware.share = (double)fit->hardware.failures / every;
    for (unsigned k = 0; k < SV_FAILURE_KINDS; k++)
        fit->of[k].share = (double)fit->of[k].failures / every;
    fit->outside = x->log->length - fit->all.failures;
    return SV_OK;
}

static sv_status make_model(struct fitting *x)
{
    sv_failure_fit *fit = x->fit;
    double shape = fit->begin_known && fit->hardware.shape.known ? fit->hardware.shape.value : 1;
    fit->model.over = fit->years;
    for (unsigned k = 0; k < SV_FAILURE_PARTS; k++) {
        fit->model.of[k] = (sv_failure_rate){-expm1(-fit->of[k].annual.value), shape};
        if (fit->model.of[k].annual > SV__MAX_ANNUAL)
            return sv_fail(x->ctx, SV_INFEASIBLE,
                           "%llu failures of %llu %ss in %.3g years: more than a model can hold",
                           (unsigned long long)fit->of[k].failures,
                           (unsigned long long)x->request->parts[k], sv_failure_kind_name(k),
                           fit->years);
    }
    return SV_OK;
}

/* ---- the time observed ---- */

static sv_status observe(struct fitting *x)
{
    const sv_failure_log *log = x->log;
    const sv_fit_request *request = x->request;
    sv_failure_fit *fit = x->fit;
    if (log->length == 0)
        return sv_fail(x->ctx, SV_INFEASIBLE, "the log has no failures: nothing to fit");
    fit->begin_known = request->has_begin || !log->dated;
    fit->begin_hours = request->has_begin ? request->begin_hours
                       : log->dated       ? floor(log->at[0].hours / 24) * 24
                                          : 0;
    fit->end_hours = request->has_end          ? request->end_hours
                     : request->span_hours > 0 ? fit->begin_hours + request->span_hours
                                               : log->at[log->length - 1].hours;
    fit->years = (fit->end_hours - fit->begin_hours) / SV__YEAR_HOURS;
    x->last_ends = !request->has_end && !(request->span_hours > 0);
    if (!(fit->years > 0))
        return sv_fail(x->ctx, SV_BAD_INPUT, "the observation ends before it begins");
    if (fit->years < SV__MIN_OVER || fit->years > SV__MAX_YEARS)
        return sv_fail(x->ctx, SV_BAD_INPUT,
                       "an observation of %.3g years: from %g to %g can be fitted", fit->years,
                       SV__MIN_OVER, SV__MAX_YEARS);
    return SV_OK;
}

sv_status sv_failure_fit_log(sv_ctx *ctx, const sv_failure_log *log, const sv_fit_request *request,
                             sv_failure_fit *fit)
{
    sv_failure_fit made = {0};
    struct fitting x = {.ctx = ctx, .log = log, .request = request, .fit = &made};
    sv_arena arena;
    SV_TRY(observe(&x));
    sv_arena_init(&arena, ctx);
    x.times = SV_ARENA_NEW(&arena, double, log->length + 1);
    x.logs = SV_ARENA_NEW(&arena, double, log->length + 1);
    sv_status status = x.times == NULL || x.logs == NULL ? SV_NO_MEMORY : fit_all(&x);
    if (status == SV_OK)
        status = make_model(&x);
    sv_arena_release(&arena);
    if (status == SV_OK)
        *fit = made;
    return status;
}
