/*
 * plugin.c: an event plugin that registers a routing engine, "selvage", through OpenSM's own call.
 *
 * OpenSM loads the plugin (event_plugin_name selvage_osm), and uses the engine if routing_engine
 * names it. In each heavy sweep it asks for tables: the subnet is imported, the library comes to
 * proven tables, these are handed over, and OpenSM sends what changed.
 *
 * Whatever happens, OpenSM must not go on with tables that nobody proved. If nothing new can be
 * proven, not even the last proven tables without what is gone, switches keep the entries that they
 * have; if nothing ever was, OpenSM is told that routing failed, no_fallback keeps it from min-hop,
 * and it tries again.
 *
 * With dry-run, tables are made after each sweep beside those of another engine, and what they
 * would change is logged.
 */
#include "plugin.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- a sweep ---- */

/* What a report changes in what is told to those who watch. */
static void take_report(plugin *p, const sv_live_report *report, sv_status status)
{
    sv_live_status *s = &p->status;
    s->unix_time = (int64_t)time(NULL);
    if (status == SV_OK) {
        s->last = *report;
    } else { /* tables are those of before, and nobody knows whether they still hold */
        s->failures++;
        s->last.proven = s->last.whole = false;
        s->last.passage = SV_PASSAGE_UNJUDGED;
    }
    s->changes += status == SV_OK && report->how != SV_LIVE_SAME;
    if (report->parts_lost > 0) {
        snprintf(s->last_fault, sizeof s->last_fault, "%s", report->fabric);
        s->last_fault_time = s->unix_time;
    }
    if (report->problem[0] != 0) {
        snprintf(s->last_problem, sizeof s->last_problem, "%s", report->problem);
        s->last_problem_time = s->unix_time;
    }
}

/* Imports and comes to tables. */
static sv_status sweep(plugin *p)
{
    const osm_subn_t *subn = &p->osm->subn;
    sv_live_report report = {0};
    sv_fabric *fabric = NULL;
    unsigned flags = 0;
    if (subn->first_time_master_sweep || subn->coming_out_of_standby)
        flags |= SV_LIVE_UNKNOWN;
    if (p->anew)
        flags |= SV_LIVE_ANEW;
    p->anew = false;
    uint64_t begun = now_ns();
    p->status.sweeps++;
    if (p->options.dry_run)
        cl_plock_acquire(&p->osm->lock); /* nobody holds it for us then */
    sv_status status = plugin_import(p, &fabric);
    if (p->options.dry_run)
        cl_plock_release(&p->osm->lock);
    if (status == SV_OK) {
        p->status.switches = fabric->live_switches;
        p->status.terminals = fabric->live_terminals;
        status = sv_live_sweep(p->live, fabric, flags, &report);
    } else {
        snprintf(report.problem, sizeof report.problem, "the subnet could not be imported: %s",
                 sv_ctx_message(p->ctx));
    }
    take_report(p, &report, status);
    p->status.seconds = (double)(now_ns() - begun) / 1e9;
    plugin_log_sweep(p, &report, p->status.seconds);
    return status;
}

/* Ports between switches that have fewer VLs now than SL2VL tables name. */
static uint32_t count_short(const plugin *p)
{
    const sv_fabric *f = sv_live_fabric(p->live);
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    uint32_t count = 0;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        osm_node_t *node = ((osm_switch_t *)item)->p_node;
        uint32_t s = guid_index_switch(p->index, osm_node_get_node_guid(node));
        for (unsigned i = 1; s != SV_NONE && i <= f->switches[s].ports; i++) {
            osm_physp_t *port = osm_node_get_physp_ptr(node, i);
            sv_channel c = sv_channel_at(f, (sv_node){s}, i);
            if (port != NULL && c.i != SV_NONE && sv_joins_switches(f, c))
                count += plugin_vls(ib_port_info_get_op_vls(&port->port_info)) < p->vls;
        }
    }
    return count;
}

/*
 * OpenSM sets VLs of ports after it sets SL2VL tables, which it cuts to the VLs that ports have
 * before: in a first sweep that may be too few. Another sweep mends that. Ports that have too few
 * after that, too, are believed: tables with fewer VLs follow.
 */
static void ask_again(plugin *p)
{
    enum { MAX = 3 };
    uint32_t count = count_short(p);
    if (count == 0) {
        p->resweeps = 0;
        return;
    }
    if (p->resweeps < MAX) {
        p->resweeps++;
        plugin_log(p, OSM_LOG_INFO, "%u ports do not have their VLs yet: one more sweep sets them",
                   count);
    } else {
        p->distrust = p->anew = true;
        p->resweeps = 0;
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV08: %u ports do not take the %u VLs that they offer: all is routed anew "
                   "with fewer",
                   count, p->vls);
    }
    p->osm->subn.force_heavy_sweep = TRUE;
}

/*
 * OpenSM does not build multicast trees anew when somebody types "reroute", so old trees would stay
 * beside new tables: a whole sweep is asked for instead.
 */
static int put_off(plugin *p)
{
    plugin_log(p, OSM_LOG_INFO, "reroute: everything is routed anew in a sweep of its own");
    plugin_fill_lfts(p);
    p->anew = true;
    p->osm->subn.force_heavy_sweep = TRUE;
    osm_sm_signal(&p->osm->sm, OSM_SIGNAL_SWEEP);
    return 0;
}

static void log_handover(plugin *p)
{
    static const char *const passages[SV_PASSAGE_COUNT] = {
        "what switches hold until then is not known",
        "no path changes",
        "any order of updates is safe",
        "safe step by step; all at once, as OpenSM sends it, packets can circle or deadlock for a "
        "moment",
        "no deadlock meanwhile, but packets can circle or be dropped for a moment",
        "safe step by step while pairs whose SLs change are quiet; all at once, as OpenSM sends "
        "it, it could deadlock for a moment",
        "old and new tables together could deadlock for a moment"};
    if (p->step_count > 1) {
        plugin_log(p, OSM_LOG_INFO,
                   "handed over: %llu entries change, in %llu blocks of LFTs; step %u of %u, safe "
                   "in any order%s%s",
                   (unsigned long long)p->status.entries, (unsigned long long)p->status.blocks,
                   p->step, p->step_count,
                   p->step < p->step_count ? ": the next when switches have confirmed this" : "",
                   sv_live_broken(p->live) ? "; paths that broke are not all mended yet" : "");
        return;
    }
    plugin_log(p, OSM_LOG_INFO,
               "handed over: %llu entries change, in %llu blocks of LFTs; unicast: %s",
               (unsigned long long)p->status.entries, (unsigned long long)p->status.blocks,
               sv_live_next(p->live) == SV_LIVE_GATE_LEFT
                   ? "those of base addresses wait until everybody has left"
               : p->left ? "everybody who subscribed has left those addresses"
                         : passages[p->status.last.passage]);
}

static int build_tables(void *context)
{
    plugin *p = context;
    if (p->options.dry_run) {
        plugin_log(p, OSM_LOG_INFO, "dry-run: the next engine of routing_engine routes");
        return -1;
    }
    if (p->refused[0] != 0) {
        plugin_log(p, OSM_LOG_ERROR, "ERR SV00: %s; selvage routes nothing", p->refused);
        return -1;
    }
    bool heavy = p->in_sweep;
    p->in_sweep = false;
    if (!heavy && sv_live_routes(p->live) != NULL && plugin_prepare(p))
        return put_off(p);
    if (p->osm->subn.opt.disable_multicast)
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV09: disable_multicast: trees that switches still have are not proven");
    sv_status status = sweep(p);
    if (status != SV_OK && sv_live_routes(p->live) == NULL) {
        plugin_log(
            p, OSM_LOG_ERROR,
            "ERR SV01: no tables could be proven, and there are none from before: nothing is "
            "handed over");
        plugin_withdraw_status(p, "no tables could be proven: nothing was handed over");
        return -1;
    }
    /* What is not handed over goes through no gate, and nobody confirms it. */
    p->handed = status == SV_OK;
    if ((p->handed && (!five_choose(p) || !steps_choose(p))) || !plugin_prepare(p)) {
        p->handed = false;
        plugin_log(p, OSM_LOG_ERROR, "ERR SV01: out of memory: nothing is handed over");
        plugin_withdraw_status(p, "out of memory: nothing was handed over");
        return -1;
    }
    if (status != SV_OK) {
        plugin_keep_lfts(p);
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV04: switches keep what they have: the last tables that were proven");
    } else {
        plugin_fill_lfts(p);
        log_handover(p);
        if (sv_live_broken(p->live))
            p->status.last.whole = false;
        if (!sv_live_held_proven(p->live)) {
            p->status.last.proven = false;
            plugin_log(p, OSM_LOG_ERROR,
                       "ERR SV12: what switches hold until everybody has left is not proven");
        }
    }
    if (p->osm->subn.opt.qos)
        ask_again(p);
    p->routes = true;
    return 0;
}

/* OpenSM's own distances serve its dumps. */
static int build_distances(void *context)
{
    (void)context;
    return 1;
}

/* ---- dry run ---- */

/* Compares with what switches have; OpenSM's lock is held. */
static void compare(plugin *p)
{
    cl_qmap_t *table = &p->osm->subn.sw_guid_tbl;
    const sv_routes *r = sv_live_routes(p->live);
    uint64_t entries = 0, blocks = 0;
    for (cl_map_item_t *item = cl_qmap_head(table); item != cl_qmap_end(table);
         item = cl_qmap_next(item)) {
        const osm_switch_t *sw = (osm_switch_t *)item;
        uint32_t s = guid_index_switch(p->index, osm_node_get_node_guid(sw->p_node)),
                 last = SV_NONE;
        const uint8_t *lft = sw->new_lft != NULL ? sw->new_lft : sw->lft;
        for (uint32_t lid = 1; s != SV_NONE && lft != NULL && lid <= sw->max_lid_ho; lid++) {
            if (lid >= sw->lft_size || lid > SV_LID_MAX || p->lids[lid].destination == SV_NONE ||
                lft[lid] == r->ports[p->lids[lid].destination][s])
                continue;
            entries++;
            blocks += last != lid / 64;
            last = lid / 64;
        }
    }
    p->status.entries = entries;
    p->status.blocks = blocks;
    plugin_log(p, OSM_LOG_INFO,
               "dry-run: these tables would change %llu entries, in %llu blocks of LFTs; nothing "
               "is handed over",
               (unsigned long long)entries, (unsigned long long)blocks);
}

static void dry_run(plugin *p)
{
    if (cl_qmap_count(&p->osm->subn.sw_guid_tbl) > 0 && sweep(p) == SV_OK) {
        sv_status status = SV_OK; /* no gate would ever open */
        while (status == SV_OK && sv_live_next(p->live) != SV_LIVE_GATE_NONE)
            status = sv_live_pass(p->live);
        cl_plock_acquire(&p->osm->lock);
        if (status == SV_OK && plugin_prepare(p))
            compare(p);
        cl_plock_release(&p->osm->lock);
    }
    plugin_write_status(p);
}

/* ---- what OpenSM calls ---- */

/* OpenSM is not to route by itself when selvage does not. */
static void guard(plugin *p, osm_opensm_t *osm)
{
    const char *names = osm->subn.opt.routing_engine_names, *ours;
    if (names == NULL || strstr(names, "no_fallback") == NULL)
        plugin_log(p, OSM_LOG_INFO,
                   "no_fallback is assumed: OpenSM is not to route min-hop instead");
    osm->no_fallback_routing_engine = TRUE;
    ours = names == NULL ? NULL : strstr(names, "selvage");
    ours = ours == NULL ? NULL : ours + strspn(ours + 7, " ,\t") + 7;
    if (ours != NULL && *ours != 0 && strncmp(ours, "no_fallback", 11) != 0)
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV10: routing_engine names \"%s\" after selvage: it would route, unproven, "
                   "where selvage cannot",
                   ours);
}

static int setup(struct osm_routing_engine *engine, osm_opensm_t *osm)
{
    plugin *p = engine->context;
    engine->build_lid_matrices = build_distances;
    engine->ucast_build_fwd_tables = build_tables;
    engine->path_sl = plugin_path_sl;
    engine->update_sl2vl = plugin_update_sl2vl;
    engine->update_vlarb = plugin_update_vlarb;
    engine->mcast_build_stree = plugin_build_tree;
    if (!p->options.dry_run)
        guard(p, osm);
    if (osm->subn.opt.use_ucast_cache && !p->options.dry_run) {
        osm->subn.opt.use_ucast_cache = FALSE;
        plugin_log(p, OSM_LOG_INFO,
                   "use_ucast_cache is switched off: it would hand over tables that nobody proved");
    }
    if (!osm->subn.opt.qos)
        plugin_log(p, OSM_LOG_INFO,
                   "qos is FALSE, so OpenSM sets no VLs: tables use one; set qos TRUE for more");
    return 0;
}

static void destroy(plugin *p)
{
    if (p == NULL)
        return;
    five_stop(p);
    steps_stop(p);
    watch_stop(p);
    sv_live_free(p->live);
    guid_index_free(p->index);
    free(p->lids);
    sv_ctx_free(p->ctx);
    free(p);
}

/* Reads options and starts; what is wrong with them goes into p->refused. */
static void start(plugin *p)
{
    const sv_host host = {.user = p, .log = plugin_log_hook, .privileged = true};
    char message[600] = "out of memory";
    p->status.version = p->osm->osm_version;
    p->ctx = sv_ctx_new(&host);
    bool done = p->ctx != NULL &&
                plugin_read_options(&p->options, p->osm->subn.opt.event_plugin_options,
                                    &p->osm->subn.opt, message, sizeof message) &&
                sv_live_new(&host, &p->options.live, &p->live, message, sizeof message) == SV_OK;
    if (done && p->options.live.update == SV_LIVE_STEPS && !p->options.dry_run) {
        snprintf(message, sizeof message, "out of memory");
        done = steps_start(p);
    }
    if (done && p->options.live.update == SV_LIVE_FIVE && !p->options.dry_run) {
        snprintf(message, sizeof message, "out of memory");
        done = five_start(p, message, sizeof message);
    }
    p->status.dry_run = p->options.dry_run;
    if (done) {
        sv_live_set_threads(p->live, p->options.threads);
        plugin_withdraw_status(p, "OpenSM has started, and has not routed yet");
        watch_beat(p);
        return;
    }
    snprintf(p->refused, sizeof p->refused, "%s%s",
             strncmp(message, "event", 5) == 0 ? "" : "event_plugin_options: ", message);
    plugin_log(p, OSM_LOG_ERROR, "ERR SV00: %s; selvage routes nothing", p->refused);
    if (p->ctx != NULL)
        plugin_withdraw_status(p, "%s", p->refused);
}

/* Where OpenSM's configuration names our engine: its list from there on, or NULL. */
static const char *find_name(const osm_opensm_t *osm)
{
    static const char ours[] = "selvage";
    const size_t length = sizeof ours - 1;
    const char *names = osm->subn.opt.routing_engine_names;
    for (const char *at = names; at != NULL && (at = strstr(at, ours)) != NULL; at += length)
        if ((at == names || strchr(", \t", at[-1]) != NULL) &&
            (at[length] == 0 || strchr(", \t\n", at[length]) != NULL))
            return at;
    return NULL;
}

/* What is said when it is loaded: not that an engine routes which nobody asked for. */
static void log_start(plugin *p)
{
    const char *engine = p->options.live.engine != NULL ? p->options.live.engine : "weave";
    const char *names = p->osm->subn.opt.routing_engine_names;
    if (p->refused[0] != 0)
        return;
    const char *named = find_name(p->osm);
    if (p->options.dry_run || (named != NULL && named == names))
        plugin_log(p, OSM_LOG_INFO, "version %s for %s, engine %s%s", sv_version(), OSM_VERSION,
                   engine, p->options.dry_run ? ", dry-run" : "");
    else if (named != NULL)
        plugin_log(p, OSM_LOG_INFO,
                   "version %s for %s: routes (engine %s) only if the engines before it in "
                   "routing_engine (%s) fail",
                   sv_version(), OSM_VERSION, engine, names);
    else
        plugin_log(
            p, OSM_LOG_INFO,
            "version %s for %s: loaded, but routes nothing: routing_engine is %s, not selvage",
            sv_version(), OSM_VERSION, names != NULL ? names : "OpenSM's default");
}

/*
 * A sweep needs several times the memory that is left after it. By itself glibc's malloc learns
 * from large blocks that are freed to keep as much for later, in the heap of that thread; what
 * stays resident then goes up and down by megabytes with the last sweeps. So large blocks are
 * always mapped, and go back when they are freed. Settings of the administrator's own stay.
 */
static void settle_heap(void)
{
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
    enum { LARGE = 64 * 1024 };
    const char *tunables = getenv("GLIBC_TUNABLES");
    if (getenv("MALLOC_MMAP_THRESHOLD_") != NULL || getenv("MALLOC_TRIM_THRESHOLD_") != NULL ||
        (tunables != NULL && strstr(tunables, "glibc.malloc.") != NULL))
        return;
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
#endif
}

/* With wrong options the engine is there all the same, and refuses: else OpenSM would fall back. */
static void *create(osm_opensm_t *osm)
{
    const external_routing_engine_module_t module = {.name = "selvage", .setup = setup};
    plugin *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->osm = osm;
    settle_heap();
    if (!watch_start(p)) {
        free(p);
        return NULL;
    }
    start(p);
    if (osm_register_external_routing_engine(osm, &module, p) != CL_SUCCESS) {
        plugin_log(p, OSM_LOG_ERROR,
                   "ERR SV00: OpenSM does not take the engine \"selvage\": not loaded");
        destroy(p);
        return NULL;
    }
    log_start(p);
    if (p->options.dry_run && !osm->subn.opt.qos)
        plugin_log(p, OSM_LOG_INFO, "qos is FALSE: the dry run shows what would be with qos TRUE");
    return p;
}

static void unload(void *data)
{
    destroy(data);
}

static void report(void *data, osm_epi_event_id_t event, void *about)
{
    plugin *p = data;
    bool ours = p->osm->routing_engine_used != NULL && p->osm->routing_engine_used->context == p;
    if (p->refused[0] != 0)
        return;
    switch (event) {
    case OSM_EVENT_ID_HEAVY_SWEEP_START:
        p->in_sweep = true;
        break;
    case OSM_EVENT_ID_UCAST_ROUTING_DONE:
        if (p->options.dry_run) {
            dry_run(p);
        } else if (ours && about == (void *)UCAST_ROUTING_HEAVY_SWEEP) {
            plugin_dump_sls(p); /* beside what OpenSM dumps in a moment */
            plugin_write_status(p);
        } else if (!ours) {
            const struct osm_routing_engine *used = p->osm->routing_engine_used;
            plugin_withdraw_status(p, "OpenSM routes with %s",
                                   used != NULL && used->name != NULL ? used->name : "no engine");
            plugin_drop_sls(p); /* they are not for the tables that OpenSM dumps in a moment */
        }
        break;
    case OSM_EVENT_ID_SUBNET_UP: /* groups have their trees now */
        if (ours && !p->options.dry_run) {
            five_up(p);
            steps_up(p);
            plugin_write_status(p);
        }
        break;
    case OSM_EVENT_ID_TRAP:
        if (ours)
            five_trap(p, about);
        break;
    case OSM_EVENT_ID_STATE_CHANGE:
        plugin_log(p, OSM_LOG_INFO, "this subnet manager is now %s",
                   p->osm->subn.sm_state == IB_SMINFO_STATE_MASTER ? "master"
                   : p->osm->subn.sm_state == IB_SMINFO_STATE_STANDBY
                       ? "standby"
                       : "neither master nor standby");
        break;
    default:
        break;
    }
}

__attribute__((visibility("default"))) osm_event_plugin_t osm_event_plugin = {
    .osm_version = OSM_VERSION, .create = create, .delete = unload, .report = report};
