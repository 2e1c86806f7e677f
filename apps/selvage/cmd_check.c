/*
 * cmd_check.c: selvage check DIR: are these tables all right? selvage check OLD NEW: is the way
 * from one to the other?
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"

struct check {
    const char *words[2]; /* DIR, or OLD and NEW */
    const char *assume, *proof, *against;
    bool reversible, strict, terminals_only, json;
    sv_verify_options options;
    sv_traffic traffic;
};

static int exit_of(sv_verdict verdict, bool otherwise_good)
{
    if (verdict == SV_VERDICT_NO || !otherwise_good)
        return EXIT_NO;
    return verdict == SV_VERDICT_YES ? EXIT_YES : EXIT_UNDECIDED;
}

/* ---- one set of tables ---- */

static sv_status write_proof(struct app *app, const struct check *o, const sv_fabric *f,
                             const sv_routes *r)
{
    sv_file file;
    SV_TRY(sv_file_create(&file, app->ctx, o->proof));
    sv_status status = sv_proof_write(app->ctx, f, r, &o->options, &file.sink);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    else
        sv_file_close(&file);
    return status;
}

static sv_status check_tables(struct app *app, const struct check *o, const sv_fabric *f,
                              const sv_routes *r, int *code)
{
    sv_verification *found = NULL;
    sv_text out;
    sv_json j;
    SV_TRY(sv_verify(app->ctx, f, r, &o->options, &found));
    bool good = found->unreachable[SV_PAIRS_TERMINAL_TERMINAL] == 0 && found->loops == 0;
    for (int k = 0; o->strict && k < SV_PAIRS_COUNT; k++)
        good &= found->unreachable[k] == 0;
    *code = exit_of(app_verdict(found, o->traffic), good);
    sv_status status = SV_OK;
    sv_verdict all = app_verdict(found, SV_TRAFFIC_ALL);
    bool proven = o->proof != NULL && all == SV_VERDICT_YES;
    if (proven) {
        status = write_proof(app, o, f, r);
    } else if (o->proof != NULL) {
        sv_warn(app->ctx, "no proof written: %s",
                all == SV_VERDICT_NO ? "a proof is about all packets, and some can wait for each "
                                       "other"
                                     : "service levels or VLs are not known");
        if (*code == EXIT_YES)
            *code = all == SV_VERDICT_NO ? EXIT_NO : EXIT_UNDECIDED;
    }
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        if (o->json) {
            sv_json_init(&j, &out);
            sv_json_begin_object(&j, NULL);
            app_json_verification(&j, f, r, found, o->traffic);
            sv_json_text(&j, "proof", proven ? o->proof : NULL);
            sv_json_end(&j, '}');
        } else {
            app_print_verification(&out, f, r, found, o->traffic);
            if (proven)
                sv_text_print(&out, "proof          %s\n", o->proof);
        }
        status = app_print_end(app, &out);
    }
    sv_verification_free(found);
    return status;
}

static sv_status check_proof(struct app *app, const struct check *o, const sv_fabric *f,
                             const sv_routes *r, int *code)
{
    sv_file file;
    sv_wait from, to;
    uint64_t dependencies = 0;
    bool holds = false, numbered = true;
    sv_text out;
    sv_json j;
    SV_TRY(sv_file_open(&file, app->ctx, o->against));
    sv_status status = sv_proof_check(app->ctx, f, r, &o->options, &file.source, &holds, &numbered,
                                      &from, &to, &dependencies);
    sv_file_close(&file);
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status != SV_OK)
        return status;
    *code = holds ? EXIT_YES : EXIT_NO;
    const sv_wait ends[] = {from, to};
    if (o->json) {
        sv_json_init(&j, &out);
        sv_json_begin_object(&j, NULL);
        sv_json_bool(&j, "holds", holds);
        sv_json_number(&j, "dependencies", dependencies);
        app_json_cycle(&j, f, r, ends, holds ? 0 : 2);
        sv_json_end(&j, '}');
    } else if (holds) {
        sv_text_print(&out, "proof holds    all %llu dependencies ascend\n",
                      (unsigned long long)dependencies);
    } else {
        sv_text_print(&out, "proof fails    ");
        app_print_wait(&out, f, &from);
        sv_text_print(&out, " waits for ");
        app_print_wait(&out, f, &to);
        sv_text_print(&out, numbered ? ", whose number is not larger\n"
                                     : ", and one of the two has no number\n");
    }
    return app_print_end(app, &out);
}

static sv_status check_one(struct app *app, const struct check *o, int *code)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    SV_TRY(app_load_tables(app, o->words[0], &f, &r));
    sv_status status =
        o->against != NULL ? check_proof(app, o, f, r, code) : check_tables(app, o, f, r, code);
    sv_routes_free(r);
    sv_fabric_free(f);
    return status;
}

/* ---- from old to new ---- */

static void print_moves(sv_text *out, const app_table_pair *x)
{
    enum { MAX = 10 };
    if (x->num_moves == 0)
        return;
    sv_text_print(out, "moved LIDs     %u: open connections would reach another node\n",
                  x->num_moves);
    for (uint32_t i = 0; i < x->num_moves && i < MAX; i++)
        sv_text_print(out, "  LID %u was %s, is %s\n", x->moves[i].lid,
                      sv_node_name(x->old_fabric, x->moves[i].was),
                      sv_node_name(x->f, x->moves[i].is));
    if (x->num_moves > MAX)
        sv_text_print(out, "  … and %u more\n", x->num_moves - MAX);
}

static void json_moves(sv_json *j, const app_table_pair *x)
{
    sv_json_number(j, "lids_moved", x->num_moves);
    sv_json_begin_array(j, "moves");
    for (uint32_t i = 0; i < x->num_moves; i++) {
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "lid", x->moves[i].lid);
        sv_json_text(j, "was", sv_node_name(x->old_fabric, x->moves[i].was));
        sv_json_text(j, "is", sv_node_name(x->f, x->moves[i].is));
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void transition_text(sv_text *out, const app_table_pair *x, const sv_transition *t)
{
    const sv_fabric *f = x->f;
    const sv_routes *r = x->r;
    static const char *const names[SV_VERDICT_COUNT] = {
        [SV_VERDICT_UNJUDGED] = "not judged",
        [SV_VERDICT_YES] = "yes, whatever the order",
        [SV_VERDICT_NO] = "no: not in every order",
        [SV_VERDICT_UNKNOWN] = "undecided",
    };
    sv_text_print(out, "changes        %llu blocks of 64 LIDs\n",
                  (unsigned long long)t->changed_blocks);
    if (t->dead_ends == 0)
        sv_text_print(out, "connected      yes: no pair of terminals is ever cut off\n");
    else if (t->dead_ends == t->broken)
        sv_text_print(out,
                      "connected      as before: %llu pairs of terminals are cut off already, no "
                      "others will be\n",
                      (unsigned long long)t->broken);
    else
        sv_text_print(
            out,
            "connected      no: %llu pairs of terminals may be cut off (%llu already are), "
            "for example %s to %s\n",
            (unsigned long long)t->dead_ends, (unsigned long long)t->broken,
            sv_node_name(f, t->lost.from), sv_node_name(f, r->node[t->lost.destination]));
    if (t->strays > 0)
        sv_text_print(out, "management     %llu pairs with switches may be cut off\n",
                      (unsigned long long)t->strays);
    if (t->looping == 0)
        sv_text_print(out, "loops          none\n");
    else
        sv_text_print(out, "loops          to %llu destinations, for example to %s at %s\n",
                      (unsigned long long)t->looping, sv_node_name(f, r->node[t->loop_destination]),
                      sv_node_name(f, t->loop_at));
    print_moves(out, x);
    if (t->discards)
        sv_text_print(out, "discarded      some VL table discards packets on their way\n");
    sv_text_print(out, "deadlock-free  %s\n", names[t->deadlock_free]);
    if (t->cycle_length > 0) {
        sv_text_print(out, "%zu channels might wait for each other:\n", t->cycle_length);
        app_print_cycle(out, f, r, t->cycle, t->cycle_length);
    }
}

static void transition_json(sv_text *out, const app_table_pair *x, const sv_transition *t)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_bool(&j, "connected", t->dead_ends == t->broken && !t->discards);
    sv_json_number(&j, "unreachable_pairs", t->dead_ends);
    sv_json_number(&j, "already_unreachable_pairs", t->broken);
    sv_json_number(&j, "stray_pairs", t->strays);
    sv_json_number(&j, "loops", t->looping);
    app_json_verdict(&j, "deadlock_free", t->deadlock_free);
    sv_json_number(&j, "changed_blocks", t->changed_blocks);
    json_moves(&j, x);
    app_json_cycle(&j, x->f, x->r, t->cycle, t->cycle_length);
    sv_json_end(&j, '}');
}

static sv_status check_transition(struct app *app, const struct check *o, int *code)
{
    app_table_pair x = {0};
    sv_transition *t = NULL;
    sv_text out;
    sv_status status = app_load_table_pair(app, o->words[0], o->words[1], &x);
    if (status == SV_OK)
        status = sv_verify_transition(app->ctx, x.f, x.carried, x.r, o->traffic, &t);
    if (status == SV_OK)
        status = app_print_begin(app, &out);
    if (status == SV_OK) {
        bool good = t->looping == 0 && t->dead_ends == t->broken && t->strays == 0 && !t->discards;
        *code = exit_of(t->deadlock_free, good && x.num_moves == 0);
        if (o->json)
            transition_json(&out, &x, t);
        else
            transition_text(&out, &x, t);
        status = app_print_end(app, &out);
    }
    sv_transition_free(t);
    app_release_table_pair(app, &x);
    return status;
}

/* ---- the command ---- */

static int make_options(struct app *app, struct check *o)
{
    uint64_t sl;
    bool two = o->words[1] != NULL;
    if (o->assume != NULL) {
        if (!sv_span_number(sv_span_of(o->assume), SV_HARDWARE_SLS - 1, &sl))
            return app_usage_error(app, "--assume-sl: '%s' is not 0 to %d", o->assume,
                                   SV_HARDWARE_SLS - 1);
        o->options.assume = true;
        o->options.assumed_sl = (uint8_t)sl;
    }
    o->options.reversible = o->reversible;
    if (o->assume != NULL && o->reversible)
        return app_usage_error(app, "--assume-sl leaves nothing for --reversible");
    if (o->strict && o->terminals_only)
        return app_usage_error(app, "--strict and --terminals-only exclude each other");
    if (o->proof != NULL && o->against != NULL)
        return app_usage_error(app, "--proof writes and --against reads: one at a time");
    if (two && (o->assume || o->reversible || o->proof || o->against))
        return app_usage_error(app, "OLD NEW takes no --assume-sl, --reversible, --proof, "
                                    "--against");
    if (o->against != NULL && (o->strict || o->terminals_only))
        return app_usage_error(app, "--against is about all traffic");
    const char *const outputs[] = {"-", o->proof};
    int code = app_one_stream(app, "output", outputs, 2);
    o->traffic = o->strict           ? SV_TRAFFIC_ALL
                 : o->terminals_only ? SV_TRAFFIC_TERMINALS
                                     : SV_TRAFFIC_MANAGED;
    return code;
}

int cmd_check(struct app *app, int argc, char **argv)
{
    struct check o = {0};
    const app_option options[] = {
        {"assume-sl", 0, OPTION_TEXT, &o.assume, "N", "as if all traffic used service level N"},
        {"reversible", 0, OPTION_FLAG, &o.reversible, NULL,
         "a pair may use either direction's service level both ways"},
        {"strict", 0, OPTION_FLAG, &o.strict, NULL, "traffic between switches counts, too"},
        {"terminals-only", 0, OPTION_FLAG, &o.terminals_only, NULL,
         "only traffic from terminals to terminals counts"},
        {"proof", 0, OPTION_TEXT, &o.proof, "FILE", "write a proof that anybody can check"},
        {"against", 0, OPTION_TEXT, &o.against, "FILE", "only check the tables against a proof"},
        {"json", 'j', OPTION_FLAG, &o.json, NULL, "print JSON"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const app_usage usage = {
        "DIR | OLD NEW",
        "Judge tables (a directory as OpenSM or selvage writes it, or a .svr file): does\n"
        "every packet arrive, can none wait for each other for ever? Exit code 0: yes; 1: no;\n"
        "6: it cannot be told from these files. With OLD NEW: is the change safe while\n"
        "switches are reprogrammed in any order?",
        "selvage check tables --proof tables.proof\n"
        "selvage check tables --against tables.proof",
        options};
    int code = app_parse(app, &usage, argc, argv, o.words, 1, 2);
    if (code < 0)
        code = make_options(app, &o);
    if (code >= 0)
        return code;
    sv_status status =
        o.words[1] != NULL ? check_transition(app, &o, &code) : check_one(app, &o, &code);
    return status == SV_OK ? code : app_exit(app, status);
}
