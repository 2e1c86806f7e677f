/*
 * cmd_update.c: selvage update OLD NEW: how to get from old tables to new ones while traffic runs,
 * and what that does in the simulator.
 */
#include <string.h>

#include "base/file.h"
#include "selvage/update_shared.h"

/* ---- both sides ---- */

/* All packets of one service level, where tables do not tell; an exit code, or -1. */
static int settle_sls(struct app *app, const struct update *u)
{
    sv_routes *const sides[] = {u->x.carried, u->x.r};
    for (int i = 0; i < 2; i++) {
        sv_routes *r = sides[i];
        sv_status status = SV_OK;
        if (u->o->assume_sl != SIM_NOT_GIVEN) {
            status = sv_routes_set_sl_form(app->ctx, r, SV_SL_CONSTANT);
            r->sl = (uint8_t)u->o->assume_sl;
        }
        if (status != SV_OK)
            return app_exit(app, status);
        if (r->sl_form != SV_SL_UNKNOWN)
            continue;
        sv_fail(app->ctx, SV_BAD_INPUT,
                "%s: service levels are not known, there is no opensm.psl (--assume-sl 0 takes all "
                "to be 0)",
                u->o->words[i]);
        app_exit(app, SV_BAD_INPUT);
        return EXIT_UNDECIDED;
    }
    return -1;
}

/* LIDs that nobody has any more: packets to them go by old entries, and no plan knows of them. */
static uint32_t count_gone(const app_table_pair *x)
{
    uint64_t has[(UINT16_MAX + 1) / 64] = {0};
    uint32_t gone = 0;
    for (uint32_t d = 0; d < x->r->num_destinations; d++)
        has[x->r->lid[d] / 64] |= (uint64_t)1 << x->r->lid[d] % 64;
    for (uint32_t d = 0; d < x->old->num_destinations; d++) {
        unsigned lid = x->old->lid[d];
        gone += lid != 0 && !(has[lid / 64] >> lid % 64 & 1);
    }
    return gone;
}

static sv_status load(struct app *app, struct update *u)
{
    SV_TRY(app_load_table_pair(app, u->o->words[0], u->o->words[1], &u->x));
    if (u->x.num_moves > 0)
        return sv_fail(app->ctx, SV_INFEASIBLE,
                       "LID %u was '%s' and is '%s': open connections would reach another node",
                       u->x.moves[0].lid, sv_node_name(u->x.old_fabric, u->x.moves[0].was),
                       sv_node_name(u->x.f, u->x.moves[0].is));
    u->gone = count_gone(&u->x);
    memcpy(u->x.carried->lid, u->x.r->lid, u->x.r->num_destinations * sizeof *u->x.r->lid);
    return SV_OK;
}

/* ---- planning ---- */

static sv_status plan(struct app *app, struct update *u)
{
    const sv_update_request request = {
        .traffic = u->o->traffic,
        .max_steps = u->o->max_steps == SIM_NOT_GIVEN ? 0 : (uint32_t)u->o->max_steps};
    return sv_update_plan(app->ctx, u->x.f, u->x.carried, u->x.r, &request, &u->plan);
}

static sv_status write_plan(struct app *app, const struct update *u)
{
    sv_file file;
    sv_text out;
    SV_TRY(sv_file_create(&file, app->ctx, u->o->output));
    sv_text_init(&out, app->ctx, &file.sink);
    update_print_plan(&out, u);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    if (status == SV_OK)
        return sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}

/* ---- the command ---- */

static sv_status tell(struct app *app, const struct update *u)
{
    sv_text out;
    if (u->o->output != NULL)
        SV_TRY(write_plan(app, u));
    SV_TRY(app_print_begin(app, &out));
    (u->o->json ? update_print_json : update_print_text)(&out, u);
    return app_print_end(app, &out);
}

static int run(struct app *app, struct update *u)
{
    sv_status status = load(app, u);
    int code = status == SV_OK ? settle_sls(app, u) : app_exit(app, status);
    if (code >= 0)
        return code;
    status = plan(app, u);
    if (status == SV_UNSUPPORTED) { /* VLs that decide are not known */
        app_exit(app, status);
        return EXIT_UNDECIDED;
    }
    if (status == SV_OK && u->o->rehearse != NULL)
        status = update_rehearse(app, u);
    if (status == SV_OK) {
        app->concluding = true;
        status = tell(app, u);
    }
    if (status != SV_OK)
        return app_exit(app, status);
    if (u->cancelled)
        return EXIT_CANCELLED;
    return update_needs_nobody(u->plan) ? EXIT_YES : EXIT_NO;
}

static void release(struct app *app, struct update *u)
{
    for (int i = 0; i < SV_REHEARSE_WAYS; i++)
        sv_release(app->ctx, u->tally[i].cycle);
    if (u->composed) {
        sv_routes_free(u->before2);
        sv_routes_free(u->after2);
    }
    sv_update_free(u->plan2);
    sv_update_free(u->plan);
    app_release_table_pair(app, &u->x);
}

/* Options that mean nothing without --rehearse; usual: none of them given. */
static int check_needless(struct app *app, const struct update_options *o,
                          const struct update_options *usual)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {{"begin", o->begin != usual->begin},
                   {"delay", o->delay != usual->delay},
                   {"retry", o->retry != usual->retry},
                   {"settle", o->settle != usual->settle},
                   {"rest", o->rest != usual->rest},
                   {"loss", o->loss != usual->loss},
                   {"window", o->window != usual->window},
                   {"runs", o->runs != usual->runs},
                   {"vls", o->vls != usual->vls},
                   {"traffic", o->sim.traffic != usual->sim.traffic},
                   {"message", o->sim.message != usual->sim.message},
                   {"messages", o->sim.messages != usual->sim.messages},
                   {"load", o->sim.load != usual->sim.load},
                   {"jobs", o->sim.jobs != usual->sim.jobs},
                   {"order", o->sim.order != usual->sim.order},
                   {"profile", o->sim.profile != usual->sim.profile},
                   {"limit", o->sim.limit != usual->sim.limit}};
    for (size_t i = 0; o->rehearse == NULL && i < sizeof options / sizeof options[0]; i++)
        if (options[i].given)
            return app_usage_error(app, "--%s is for --rehearse", options[i].name);
    return -1;
}

int cmd_update(struct app *app, int argc, char **argv)
{
    char all[] = "--rehearse=all";
    struct update_options o = {
        .begin = "400",
        .delay = "5-50",
        .retry = "200",
        .settle = "10",
        .rest = "100",
        .window = 4,
        .runs = 1,
        .seed = 1,
        .vls = SIM_NOT_GIVEN,
        .max_steps = SIM_NOT_GIVEN,
        .assume_sl = SIM_NOT_GIVEN,
        .sim = {
            .profile = "qdr", .traffic = "uniform", .limit = "100ms", .messages = SIM_NOT_GIVEN}};
    const struct update_options usual = o;
    struct update u = {.o = &o};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--rehearse") == 0) /* its value may be left out */
            argv[i] = all;
    int code = update_parse(app, &o, argc, argv);
    o.sim.seed = o.seed;
    if (code < 0)
        code = check_needless(app, &o, &usual);
    if (code < 0)
        code = run(app, &u);
    release(app, &u);
    return code;
}
