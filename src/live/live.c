/*
 * live.c: from sweep to sweep.
 *
 * A sweep goes through the ways to tables (ways.c) in the order below and takes the first whose
 * tables are proven and reach everybody. If none does, those that are proven and reach most are
 * taken; if none is proven, nothing changes.
 *
 *     pinned       the tables of a directory, as long as they are valid
 *     returned     those that were routed last, if the fabric is again as it was then
 *     kept         those of the state file, if the fabric is as it was before a restart
 *     repaired     those of now, mended
 *     routed       by the engine, anew
 *     spared       the same with one VL less, which multicast packets get
 *     fell back    by weave, with a VL that has room for multicast
 *     simplest     by updn: one VL, which always leaves room for multicast
 *     reinstalled  those of now, without what is gone
 *
 * With a job map, tables of other jobs than those that run are none of the first four (jobs.c).
 * What was found first may be thought over: second.c.
 *
 * Invariant: live->now is proven by verify/ together with the trees in live->used.
 * Cost: as routing and verifying; memory: up to three tables (now, before the last repair, new).
 */
#include "live/live.h"

#include <selvage/formats.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- beginning and end ---- */

static bool host_cancelled(void *user)
{
    sv_live *live = user;
    if (live->deadline_ns != 0 && sv_now_ns(live->ctx) > live->deadline_ns) {
        live->overran = true;
        return true;
    }
    return live->host.cancelled != NULL && live->host.cancelled(live->host.user);
}

static void host_log(void *user, sv_log_level level, const char *message)
{
    sv_live *live = user;
    if (live->host.log != NULL)
        live->host.log(live->host.user, level, message);
}

static void *host_resize(void *user, void *block, size_t size)
{
    sv_live *live = user;
    return live->host.resize(live->host.user, block, size);
}

static uint64_t host_clock(void *user)
{
    sv_live *live = user;
    return live->host.clock_ns(live->host.user);
}

static const char *keep_text(sv_live *live, const char *text, bool *failed)
{
    if (text == NULL)
        return NULL;
    const char *copy = sv_arena_text(&live->arena, text, strlen(text));
    *failed |= copy == NULL;
    return copy;
}

static sv_status keep_options(sv_live *live, const sv_live_options *given)
{
    sv_live_options *o = &live->options;
    bool failed = false;
    size_t count = given->route.num_options;
    const char **list = SV_ARENA_NEW(&live->arena, const char *, count + 1);
    *o = *given;
    o->engine = keep_text(live, given->engine != NULL ? given->engine : "weave", &failed);
    o->roots_path = keep_text(live, given->roots_path, &failed);
    o->jobs_path = keep_text(live, given->jobs_path, &failed);
    o->pin_path = keep_text(live, given->pin_path, &failed);
    o->state_path = keep_text(live, given->state_path, &failed);
    o->route.roots = NULL;
    o->route.num_roots = 0;
    o->route.hosts = NULL; /* numbers of one fabric mean nothing in the next */
    o->route.num_hosts = 0;
    o->route.jobs = NULL; /* come from jobs_path */
    o->route.options = list;
    for (size_t i = 0; i < count && list != NULL; i++)
        list[i] = keep_text(live, given->route.options[i], &failed);
    return failed || list == NULL ? SV_NO_MEMORY : SV_OK;
}

/* An engine that is not there, or knows no such option, says so on the smallest of fabrics. */
static sv_status try_engine(sv_live *live)
{
    sv_builder *builder = sv_builder_new(live->ctx);
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    const sv_switch_info about[2] = {{.name = "a", .guid = 1, .ports = 1},
                                     {.name = "b", .guid = 2, .ports = 1}};
    const sv_link link = {0};
    sv_node root = {0};
    sv_route_request request = live->options.route;
    request.lmc = sv__live_engine_lmc(live);
    if (builder == NULL)
        return SV_NO_MEMORY;
    sv_builder_add_switch(builder, &about[0], NULL);
    sv_builder_add_switch(builder, &about[1], NULL);
    sv_builder_add_cable(builder, (sv_end){.index = 0, .port = 1}, (sv_end){.index = 1, .port = 1},
                         &link);
    SV_TRY(sv_builder_finish(builder, &fabric));
    if (live->options.roots_path != NULL) {
        request.roots = &root;
        request.num_roots = 1;
    }
    const sv_jobmap nothing = {0};
    if (live->options.jobs_path != NULL)
        request.jobs = &nothing;
    const char *used;
    sv_route_report report;
    sv_status status =
        sv__live_route(live, fabric, live->options.engine, &request, &used, &routes, &report);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    return status == SV_INFEASIBLE ? SV_OK : status;
}

static sv_status read_set(sv_live *live, const char *path, sv__set *set)
{
    SV_TRY(sv_dump_read(live->ctx, path, &set->fabric, &set->routes));
    set->routes->num_groups = 0;
    return SV_OK;
}

static sv_status read_files(sv_live *live)
{
    const sv_live_options *o = &live->options;
    if (o->update == SV_LIVE_FIVE && (o->route.lmc != 1 || o->route.sl_offset != 0))
        return sv_fail(live->ctx, SV_BAD_INPUT,
                       "five phases need LMC 1 (it is %u) and service levels from 0 on",
                       o->route.lmc);
    if (o->roots_path != NULL && access(o->roots_path, R_OK) != 0)
        return sv_fail(live->ctx, SV_IO, "cannot read the root file \"%s\"", o->roots_path);
    if (o->jobs_path != NULL && o->pin_path != NULL)
        return sv_fail(live->ctx, SV_BAD_INPUT, "pinned tables follow no jobs: either pin or jobs");
    if (o->pin_path != NULL)
        SV_TRY(read_set(live, o->pin_path, &live->pin));
    if (o->state_path == NULL || access(o->state_path, F_OK) != 0)
        return SV_OK;
    if (read_set(live, o->state_path, &live->kept) != SV_OK) {
        sv_warn(live->ctx, "the state file is of no use, and will be replaced: %s",
                sv_ctx_message(live->ctx));
        live->kept = (sv__set){0};
    }
    return sv__live_load_key(live);
}

static void drop(sv__set *set)
{
    sv_routes_free(set->routes);
    sv_fabric_free(set->fabric);
    *set = (sv__set){0};
}

sv_status sv_live_new(const sv_host *host, const sv_live_options *options, sv_live **result,
                      char *message, size_t size)
{
    sv_ctx *outer = sv_ctx_new(host);
    sv_live *live = outer == NULL ? NULL : sv_alloc(outer, 1, sizeof *live);
    snprintf(message, size, "out of memory");
    if (live == NULL) {
        sv_ctx_free(outer);
        return SV_NO_MEMORY;
    }
    live->host = outer->host;
    live->outer = outer;
    const sv_host inner = {.user = live,
                           .resize = host_resize,
                           .log = host_log,
                           .cancelled = host_cancelled,
                           .clock_ns = host_clock,
                           .privileged = outer->host.privileged};
    live->ctx = sv_ctx_new(&inner);
    if (live->ctx == NULL) {
        sv_live_free(live);
        return SV_NO_MEMORY;
    }
    sv_arena_init(&live->arena, live->ctx);
    live->group_sls = options->no_multicast ? 0 : 1;
    sv_status status = keep_options(live, options);
    if (status == SV_OK)
        status = try_engine(live);
    if (status == SV_OK)
        status = read_files(live);
    if (status == SV_OK) {
        message[0] = 0;
        *result = live;
        return SV_OK;
    }
    snprintf(message, size, "%s", sv_ctx_message(live->ctx));
    sv_live_free(live);
    return status;
}

void sv_live_free(sv_live *live)
{
    if (live == NULL)
        return;
    sv_ctx *outer = live->outer;
    live->used.routes = NULL;
    sv__live_candidate_release(&live->used);
    sv__live_stages_release(&live->stages);
    drop(&live->now);
    drop(&live->home);
    drop(&live->kept);
    drop(&live->pin);
    if (live->ctx != NULL)
        sv_array_release(live->ctx, &live->jobs_text);
    if (live->ctx != NULL)
        sv_arena_release(&live->arena);
    sv_ctx_free(live->ctx);
    sv_release(outer, live);
    sv_ctx_free(outer);
}

/* ---- a sweep ---- */

/* Notes what went wrong; the first problems are the ones to read. */
static void complain(sv_live_report *report, const char *text)
{
    size_t used = strlen(report->problem);
    if (strstr(report->problem, text) != NULL)
        return;
    snprintf(report->problem + used, sizeof report->problem - used, "%s%s", used > 0 ? "; " : "",
             text);
}

struct way {
    sv__live_way *make;
    sv_live_how how;
};

static const struct way ways[] = {
    {sv__live_pinned, SV_LIVE_PINNED},          {sv__live_returned, SV_LIVE_RETURNED},
    {sv__live_kept, SV_LIVE_RETURNED},          {sv__live_repaired, SV_LIVE_REPAIRED},
    {sv__live_routed, SV_LIVE_ROUTED},          {sv__live_spared, SV_LIVE_ROUTED},
    {sv__live_fell_back, SV_LIVE_FELL_BACK},    {sv__live_simplest, SV_LIVE_FELL_BACK},
    {sv__live_reinstalled, SV_LIVE_REINSTALLED}};

enum { NUM_WAYS = sizeof ways / sizeof ways[0] };

/* Whether the second tables are better than the first. */
static bool is_better(const sv__live_candidate *best, const sv__live_candidate *c)
{
    if (!c->safe)
        return false;
    return best->routes == NULL || c->lost < best->lost ||
           (c->lost == best->lost && c->lost_others < best->lost_others);
}

sv_status sv__live_go(sv_live *live, const sv_fabric *f, sv__live_way *make, sv_live_how how,
                      sv__live_candidate *best, sv_live_report *report)
{
    char text[400] = "";
    sv__live_candidate c = {.how = how, .jobs = sv__live_told(live)};
    uint64_t begun = sv_now_ns(live->ctx);
    sv_status status = make(live, f, &c);
    uint64_t made = sv_now_ns(live->ctx);
    report->route_ns += made - begun;
    if (status == SV_OK && c.routes != NULL)
        status = sv__live_judge(live, f, &c, text, sizeof text);
    if (status == SV_OK && c.safe)
        status = sv__live_add_set(live, f, &c);
    report->verify_ns += sv_now_ns(live->ctx) - made;
    if (status != SV_OK && status != SV_CANCELLED)
        snprintf(text, sizeof text, "%.399s", sv_ctx_message(live->ctx));
    if (text[0] != 0)
        complain(report, text);
    if (status == SV_OK && c.routes != NULL && is_better(best, &c)) {
        sv__live_candidate_release(best);
        *best = c;
    } else {
        sv__live_candidate_release(&c);
    }
    return status == SV_CANCELLED ? status : SV_OK;
}

static sv_status find(sv_live *live, const sv_fabric *f, unsigned flags, sv__live_candidate *best,
                      sv_live_report *report)
{
    for (int i = 0; i < NUM_WAYS; i++) {
        bool old = ways[i].how == SV_LIVE_RETURNED || ways[i].how == SV_LIVE_REPAIRED;
        if (old && flags & SV_LIVE_ANEW)
            continue;
        SV_TRY(sv__live_go(live, f, ways[i].make, ways[i].how, best, report));
        if (best->routes != NULL && best->whole_reach)
            return SV_OK;
    }
    return best->routes != NULL ? SV_OK
                                : sv_fail(live->ctx, SV_INFEASIBLE, "no tables could be proven");
}

/* ---- what comes of it ---- */

static void describe(const sv__live_candidate *c, sv_live_report *report)
{
    const sv_verification *v = c->found;
    report->how = c->how;
    snprintf(report->engine, sizeof report->engine, "%s", c->engine);
    report->proven = true;
    report->whole = c->whole_reach;
    report->pairs = v->pairs[SV_PAIRS_TERMINAL_TERMINAL];
    report->lost = c->lost;
    report->lost_others = c->lost_others;
    report->split = v->unreachable[SV_PAIRS_TERMINAL_TERMINAL] - c->lost;
    report->vls = v->vls_used;
    report->dependencies = v->dependencies;
    report->efi = c->load.max;
    report->hops = c->load.hops_avg;
    report->passage = c->passage;
    report->steps = c->steps;
}

/*
 * Which tables to go back to, one day: the last ones that were routed, not repaired, for the fabric
 * with most cables. Those that are not kept are freed.
 */
static void keep_home(sv_live *live, const sv_fabric *f, const sv__live_candidate *c)
{
    bool mended = c->how == SV_LIVE_REPAIRED || c->how == SV_LIVE_REINSTALLED;
    if (live->home.routes == NULL && !live->mended) {
        live->home = live->now;
        live->now = (sv__set){0};
    }
    drop(&live->now);
    if (live->home.routes != NULL && !mended &&
        live->home.fabric->live_channels <= f->live_channels)
        drop(&live->home);
    live->mended = mended;
}

/* What was found takes the place of what was there. */
static void adopt(sv_live *live, sv_fabric *f, sv__live_candidate *c, const sv__stages *stages)
{
    sv__live_stages_release(&live->stages);
    live->stages = *stages;
    drop(&live->kept);
    keep_home(live, f, c);
    if (c->how == SV_LIVE_ROUTED || c->how == SV_LIVE_FELL_BACK)
        live->excusing = false;
    if (live->home.jobs.digest != c->jobs.digest) /* nobody would go back to those of other jobs */
        drop(&live->home);
    if (!live->mended)
        live->routed_efi = c->load.max;
    live->now = (sv__set){f, c->routes, c->jobs};
    live->used.routes = NULL;
    sv__live_candidate_release(&live->used);
    live->used = *c;
}

/* Which jobs the tables are for that are held is not known: parts of them are for others. */
void sv__live_save(sv_live *live)
{
    const sv_live_options *o = &live->options;
    bool held = o->update == SV_LIVE_FIVE && live->stages.held != NULL;
    if (o->state_path == NULL)
        return;
    sv_status status = sv__live_save_key(live, true); /* whose tables are there is not sure now */
    if (status == SV_OK)
        status = sv_dump_write(live->ctx, live->now.fabric,
                               held ? live->stages.held : live->now.routes, o->state_path);
    if (status == SV_OK && !held)
        status = sv__live_save_key(live, false);
    if (status != SV_OK)
        sv_warn(live->ctx, "the state file could not be written: %s", sv_ctx_message(live->ctx));
}

static sv_status check_size(sv_live *live, const sv_fabric *f)
{
    uint64_t wanted = f->live_switches + ((uint64_t)f->live_terminals << live->options.route.lmc);
    if (wanted > SV_LID_MAX)
        return sv_fail(live->ctx, SV_INFEASIBLE,
                       "%llu addresses, but InfiniBand has %u unicast LIDs",
                       (unsigned long long)wanted, SV_LID_MAX);
    return SV_OK;
}

/*
 * Tables of a repair share rows, and so memory, with those before, and these with theirs. Every now
 * and then they are copied whole, so that the oldest can go. A copy is proven as anything else is.
 */
static sv_status unshare(sv_live *live, sv_fabric *f, sv__live_candidate *c)
{
    enum { MAX = 16 };
    const sv__set set = {f, c->routes};
    sv_routes *copy = NULL;
    if (c->how != SV_LIVE_REPAIRED && c->how != SV_LIVE_REINSTALLED) {
        live->shared = 0;
        return SV_OK;
    }
    if (++live->shared < MAX)
        return SV_OK;
    SV_TRY(sv__live_carry(live->ctx, &set, f, &copy));
    sv_routes_free(c->routes);
    c->routes = copy;
    live->shared = 0;
    return sv__live_verify_again(live, f, c);
}

/* *stay: the tables of now are to be kept though others could be had; *report is not set then. */
static sv_status change(sv_live *live, sv_fabric *f, unsigned flags, bool *stay,
                        sv_live_report *report)
{
    sv__live_candidate best = {0};
    sv__stages stages = {0};
    uint64_t begun;
    bool unknown = false;
    live->report.note[0] = 0;
    live->no_room = false;
    SV_TRY(check_size(live, f));
    SV_TRY(sv__live_compare(live, f, report, &unknown));
    if (unknown)
        flags |= SV_LIVE_UNKNOWN;
    if (live->now.routes != NULL && sv__live_vls_offered(f) > live->offered)
        flags |= SV_LIVE_ANEW; /* there are more VLs than before */
    sv_status status = find(live, f, flags, &best, report);
    begun = sv_now_ns(live->ctx);
    if (status == SV_OK)
        status = sv__live_passage(live, f, flags, &best);
    if (status == SV_OK)
        status = sv__live_find_steps(live, f, flags, &best, &stages);
    if (status == SV_OK)
        sv__live_shun(live, f, flags, &best, stay, report);
    const sv_routes *first = best.routes;
    if (status == SV_OK && !*stay)
        status = sv__live_reconsider(live, f, flags, &best, report);
    if (status == SV_OK && !*stay && best.routes != first) {
        sv__live_stages_release(&stages);
        status = sv__live_find_steps(live, f, flags, &best, &stages);
    }
    report->verify_ns += sv_now_ns(live->ctx) - begun;
    if (status == SV_OK && !*stay)
        status = unshare(live, f, &best);
    if (status == SV_OK && !*stay)
        status = sv__live_count_jobs(live, f, best.routes, report);
    if (status == SV_OK && !*stay)
        status = sv__live_aim(live, f, flags, &best, &stages);
    if (status != SV_OK || *stay) {
        sv__live_stages_release(&stages);
        sv__live_candidate_release(&best);
        return status;
    }
    describe(&best, report);
    snprintf(report->note, sizeof report->note, "%s", live->report.note);
    adopt(live, f, &best, &stages);
    live->offered = sv__live_vls_offered(f);
    live->report = *report;
    sv__live_save(live);
    return SV_OK;
}

/* What is told if the tables of now stay; made: what it took to find that out. */
static void tell_same(const sv_live *live, unsigned flags, const sv_live_report *made,
                      sv_live_report *report)
{
    *report = live->report;
    report->how = SV_LIVE_SAME;
    report->passage = flags & SV_LIVE_UNKNOWN ? SV_PASSAGE_UNJUDGED : SV_PASSAGE_NONE;
    report->route_ns = made->route_ns;
    report->verify_ns = made->verify_ns;
    report->problem[0] = report->note[0] = report->fabric[0] = 0;
    report->parts_lost = report->parts_added = 0;
}

sv_status sv_live_sweep(sv_live *live, sv_fabric *fabric, unsigned flags, sv_live_report *report)
{
    sv_live_report made = {0};
    bool same = false, stay = false;
    sv_status status = sv__live_read_jobs(live, fabric);
    if (status == SV_OK)
        same = live->now.routes != NULL && live->report.whole && !(flags & SV_LIVE_ANEW) &&
               sv__live_same(live->now.fabric, fabric) && sv__live_jobs_fit(live, &live->now);
    if (status == SV_OK && !same)
        status = change(live, fabric, flags, &stay, &made);
    if (status == SV_OK && (same || stay)) {
        status = sv__live_count_jobs(live, fabric, live->now.routes, &live->report);
        tell_same(live, flags, &made, report);
    }
    if (status == SV_OK && stay)
        snprintf(report->note, sizeof report->note, "%s", made.note);
    if (status != SV_OK || same || stay)
        sv_fabric_free(fabric);
    if (status != SV_OK)
        complain(&made, sv_ctx_message(live->ctx));
    if (status != SV_OK || (!same && !stay))
        *report = made;
    sv__live_drop_jobs(live);
    return status;
}

/* ---- answers ---- */

void sv_live_set_threads(sv_live *live, unsigned threads)
{
    sv_ctx_set_threads(live->ctx, threads);
}

const sv_fabric *sv_live_fabric(const sv_live *live)
{
    return live->now.fabric;
}

const sv_routes *sv_live_routes(const sv_live *live)
{
    return live->now.routes;
}

const char *sv_live_message(const sv_live *live)
{
    return sv_ctx_message(live->ctx);
}

sv_status sv_live_group(sv_live *live, unsigned sl, const sv_node *members, size_t count,
                        uint64_t (*ports)[4])
{
    if (live->now.routes == NULL)
        return sv_fail(live->ctx, SV_INFEASIBLE, "there are no tables yet");
    if (sl >= SV_HARDWARE_SLS)
        return sv_fail(live->ctx, SV_BAD_INPUT, "there is no SL %u", sl);
    if (live->used.trees[sl] == NULL)
        SV_TRY(sv__live_add_tree(live, sl));
    live->group_sls |= (uint16_t)(1u << sl);
    const sv_mtree *tree = live->used.trees[sl];
    if (live->stages.held != NULL)
        SV_TRY(sv__live_held_tree(live, sl, &tree));
    return sv_mtree_prune(live->ctx, tree, live->now.fabric, members, count, ports);
}
