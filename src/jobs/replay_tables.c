/*
 * replay_tables.c: what a replay says: improvements as in thesis Tables 5.1 and 5.2, changes a day,
 * and the series as CSV.
 *
 * Idea: a sample counts as often as its scene has samples. Of the tables' four numbers the maxima
 * are taken on their own, the mean in percent is of the means: the published numbers fit that and
 * nothing else that was tried (321.0 and 61.2 % cannot be of one sample; 80.5 is 29.7 % of the mean
 * that the other columns tell).
 *
 * Invariants: samples without jobs on several switches, or without tables, count for nothing.
 * Cost: linear in scenes or samples. Source: thesis 5.3.2.1, 5.3.3.2.
 */
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "jobs/replay.h"
#include "text/times.h"

enum { DAY = 86400 };

sv_improvement sv_replay_improvement(const sv_replay *replay, sv_replay_metric metric,
                                     uint32_t engine, uint32_t other)
{
    sv_improvement found = {.max = NAN, .max_percent = NAN};
    double sum = 0, others = 0;
    for (uint32_t s = 0; s < replay->num_scenes; s++) {
        double a = sv__values(replay, s, engine)[metric], b = sv__values(replay, s, other)[metric];
        if (replay->scenes[s].jobs == 0 || isnan(a) || isnan(b))
            continue;
        double gain = metric == SV_REPLAY_LINKS ? a - b : b - a, weight = replay->scenes[s].samples;
        found.samples += replay->scenes[s].samples;
        sum += weight * a;
        others += weight * b;
        if (!(gain <= found.max))
            found.max = gain;
        if (b > 0 && !(100 * gain / b <= found.max_percent))
            found.max_percent = 100 * gain / b;
    }
    found.value = found.samples > 0 ? sum / found.samples : NAN;
    found.other = found.samples > 0 ? others / found.samples : NAN;
    found.mean = metric == SV_REPLAY_LINKS ? found.value - found.other : found.other - found.value;
    found.mean_percent = found.other > 0 ? 100 * found.mean / found.other : NAN;
    return found;
}

sv_replay_changes sv_replay_count_changes(const sv_replay *replay)
{
    sv_replay_changes found = {0};
    uint64_t total = 0;
    int64_t begin = replay->samples[0].at;
    int64_t length = (int64_t)replay->num_samples * replay->every;
    int64_t days = length / DAY > 0 ? length / DAY : 1; /* a part of a day only if it is alone */
    uint32_t i = 1;
    for (int64_t day = 0; day < days; day++) {
        uint32_t changes = 0;
        for (; i < replay->num_samples && replay->samples[i].at - begin < (day + 1) * DAY; i++)
            changes += replay->samples[i].scene != replay->samples[i - 1].scene;
        found.min = day == 0 || changes < found.min ? changes : found.min;
        found.max = changes > found.max ? changes : found.max;
        total += changes;
    }
    found.days = (uint32_t)days;
    found.mean = (double)total / (double)days;
    return found;
}

/* ---- CSV ---- */

static void write_value(sv_text *out, double value, int digits)
{
    if (isnan(value))
        sv_text_print(out, ",");
    else
        sv_text_print(out, ",%.*f", digits, value);
}

sv_status sv_replay_write_csv(sv_ctx *ctx, const sv_replay *replay, const sv_sink *sink)
{
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out, "time,day,scene,running,jobs,terminals,engine");
    for (int m = 0; m < SV_REPLAY_METRICS; m++)
        sv_text_print(&out, ",%s", sv_replay_metric_name(m));
    sv_text_print(&out, "\n");
    for (uint32_t i = 0; i < replay->num_samples; i++) {
        const sv_replay_sample *sample = &replay->samples[i];
        const sv_replay_scene *scene = &replay->scenes[sample->scene];
        char date[SV__DATE_ROOM];
        sv__date_text(sample->at, date);
        for (uint32_t e = 0; e < replay->num_engines; e++) {
            const double *values = sv__values(replay, sample->scene, e);
            sv_text_print(&out, "%s,%.6f,%u,%u,%u,%u,", date,
                          (double)(sample->at - replay->samples[0].at) / DAY, sample->scene,
                          sample->running, scene->jobs, scene->terminals);
            sv_csv_field(&out, replay->engines[e].label);
            for (int m = 0; m < SV_REPLAY_METRICS; m++)
                write_value(&out, values[m], m == SV_REPLAY_EFI ? 0 : 6);
            sv_text_print(&out, "\n");
        }
    }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}
