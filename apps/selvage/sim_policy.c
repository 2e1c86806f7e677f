/*
 * sim_policy.c: policies of a simulation: made for its tables, VLs for them, what they learned.
 *
 * A policy's VLs are those of its segments and adaptive ones, which may be more than the tables
 * have; unless told, the model gets as many, if links offer them. VLs take turns then, whatever
 * the profile says (rule 25), unless arbitration was set by name: then it is refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/sim_shared.h"
#include "text/quantity.h"

/* A factor that leaves nothing of any time; 0 itself would stand for 1. */
#define NO_COMPUTING 1e-30

/* What a spec names, or NULL. */
static const sv_adapt_about *policy_of(const char *spec)
{
    const sv_adapt_about *about;
    size_t length = strcspn(spec, ":");
    for (size_t i = 0; (about = sv_adapt_at(i)) != NULL; i++)
        if (strlen(about->name) == length && strncmp(about->name, spec, length) == 0)
            return about;
    return NULL;
}

static bool keeps(const char *spec)
{
    const sv_adapt_about *about = policy_of(spec);
    return about != NULL && about->keeps;
}

sv_status sim_make_policy(struct app *app, struct sim *sim)
{
    const struct sim_options *o = sim->o;
    sv_sim_model *model = &sim->setup.model;
    sv_adapt_request request = {
        .spec = sim->policy, .model = model, .seed = o->seed, .max_vls = o->model.vls};
    sv_file file;
    if (sim->policy == NULL)
        return SV_OK;
    bool stored = o->store != NULL && keeps(sim->policy);
    if (!sim_is_set(o, "arbitration="))
        model->weighted = false;
    if (stored) {
        SV_TRY(sv_file_open(&file, app->ctx, o->store));
        request.store = &file.source;
    }
    sv_status status = sv_adapt_new(app->ctx, sim->f, sim->r, &request, &sim->adapt, &sim->vls);
    if (stored)
        sv_file_close(&file);
    SV_TRY(status);
    if (o->model.vls == 0)
        model->vls = sim->vls;
    sim->setup.policy = sv_adapt_policy(sim->adapt);
    return SV_OK;
}

sv_status sim_write_store(struct app *app, const struct sim *sim)
{
    sv_file file;
    if (sim->o->store_out == NULL)
        return SV_OK;
    SV_TRY(sv_file_create(&file, app->ctx, sim->o->store_out));
    sv_status status = sv_adapt_store_write(app->ctx, sim->adapt, &file.sink);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

/* ---- options ---- */

/* "5" (seeds from --seed on) or "3..7". */
static int parse_seeds(struct app *app, struct sim_options *o)
{
    const uint64_t max = 10000;
    o->first_seed = o->seed;
    o->num_seeds = 1;
    if (o->seeds == NULL)
        return -1;
    sv_scan scan = sv_scan_of(sv_span_of(o->seeds));
    uint64_t number, last;
    bool good = sv_scan_number(&scan, UINT64_MAX, &number);
    if (good && sv_scan_char(&scan, '.')) {
        good = sv_scan_char(&scan, '.') && sv_scan_number(&scan, UINT64_MAX, &last) &&
               last >= number && last - number < max;
        o->first_seed = number;
        o->num_seeds = good ? last - number + 1 : 0;
    } else {
        o->num_seeds = number;
        good = good && number >= 1 && number <= max;
    }
    if (!good || !sv_scan_done(&scan))
        return app_usage_error(
            app, "--seeds: '%s' is neither a number in 1…%u nor FIRST..LAST of so many at most",
            o->seeds, (unsigned)max);
    if (o->num_seeds - 1 > UINT64_MAX - o->first_seed)
        return app_usage_error(app, "--seeds: there are no %llu seeds from %llu on",
                               (unsigned long long)o->num_seeds, (unsigned long long)o->first_seed);
    return -1;
}

/* Whoever keeps solutions, as words. */
static void list_keepers(char *text, size_t room)
{
    const sv_adapt_about *about;
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; (about = sv_adapt_at(i)) != NULL && length < room; i++)
        if (about->keeps)
            length += (size_t)snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "",
                                       about->name);
}

/* A store is for at least one of the policies. Those that are none are told of later. */
static int check_store(struct app *app, const struct sim_options *o)
{
    char keepers[100];
    bool any = o->store == NULL && o->store_out == NULL;
    for (size_t i = 0; i < o->policies.length; i++)
        any = any || policy_of(o->policies.at[i]) == NULL || keeps(o->policies.at[i]);
    if (any)
        return -1;
    list_keepers(keepers, sizeof keepers);
    return app_usage_error(app, "--%s: policy '%s' keeps no solutions (those that do: %s)",
                           o->store != NULL ? "store" : "store-out", o->policies.at[0], keepers);
}

static int check_policies(struct app *app, const struct sim_options *o)
{
    if (o->policies.length == 0 && (o->store != NULL || o->store_out != NULL))
        return app_usage_error(app, "--store and --store-out go with --policy");
    if (o->store_out != NULL && o->several)
        return app_usage_error(app, "--store-out goes with one policy and one seed");
    for (int i = 0; o->several && i < SIM_NUM_FILES; i++)
        if (o->files[i] != NULL)
            return app_usage_error(app, "CSV files are of one run: one policy and one seed");
    return check_store(app, o);
}

static int parse_trace(struct app *app, struct sim_options *o)
{
    if (o->eager != NULL && !sv_span_bytes(sv_span_of(o->eager), UINT32_MAX, &o->eager_bytes))
        return app_usage_error(
            app, "--eager: '%s' is no number of bytes below 4 GiB (0, 65536, 64KiB)", o->eager);
    if (o->compute != NULL &&
        (!sv_span_decimal(sv_span_of(o->compute), &o->compute_factor) || o->compute_factor > 1e6))
        return app_usage_error(app, "--compute: '%s' is no factor (0 … 1000000)", o->compute);
    if (o->compute != NULL && o->compute_factor == 0)
        o->compute_factor = NO_COMPUTING;
    const app_limit repeat = {"repeat", o->repeat, 1, 1000000};
    return app_check_limits(app, &repeat, 1);
}

int sim_check_map(struct app *app, const char *map)
{
    if (map == NULL || strcmp(map, "linear") == 0 || strcmp(map, "random") == 0 ||
        sim_path_of(map) != NULL)
        return -1;
    return app_usage_error(app, "--map: '%s' is neither linear nor random nor file:FILE", map);
}

int sim_parse_policies(struct app *app, struct sim_options *o)
{
    int code = parse_seeds(app, o);
    if (code >= 0)
        return code;
    o->several = o->policies.length > 1 || o->seeds != NULL;
    if (o->trace == NULL &&
        (o->map != NULL || o->eager != NULL || o->compute != NULL || o->repeat != SIM_NOT_GIVEN))
        return app_usage_error(app, "--map, --eager, --compute and --repeat go with --trace");
    if (o->trace != NULL &&
        (o->traffic != NULL || o->list != NULL || o->jobs != NULL || o->load != NULL ||
         o->message != NULL || o->messages != SIM_NOT_GIVEN || o->order != NULL))
        return app_usage_error(app, "--trace tells all messages: no --traffic, --file, --jobs, "
                                    "--message, --messages, --load or --order");
    code = sim_check_map(app, o->map);
    if (code < 0)
        code = parse_trace(app, o);
    return code >= 0 ? code : check_policies(app, o);
}
