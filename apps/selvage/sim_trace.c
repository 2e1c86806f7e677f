/*
 * sim_trace.c: programs that are replayed: traces from files or skeletons by name, and on which
 * host each rank is.
 *
 * A map is a line a rank: a host's name, GUID or what else names one (sv_index_find); several ranks
 * may be on one. '#' starts a comment.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "selvage/sim_shared.h"
#include "selvage/trace_shared.h"

/* By the name up to its colon. */
bool sim_is_skeleton(const char *argument)
{
    struct stat about;
    size_t length = strcspn(argument, ":");
    const sv_mpi_skeleton *skeleton;
    if (stat(argument, &about) == 0)
        return false;
    for (size_t i = 0; (skeleton = sv_mpi_skeleton_at(i)) != NULL; i++)
        if (strlen(skeleton->name) == length && strncmp(skeleton->name, argument, length) == 0)
            return true;
    return false;
}

sv_status sim_load_trace(struct app *app, const char *argument, sv_mpi_trace **trace)
{
    SV_TRY(trace_load(app, argument, trace));
    sv_status status = trace_in(app, argument, sv_mpi_check(app->ctx, *trace));
    if (status != SV_OK) {
        sv_mpi_free(*trace);
        *trace = NULL;
    }
    return status;
}

/* ---- a map ---- */

struct reader {
    struct app *app;
    const struct sim *sim;
    sv_lines lines;
    sv_index *index;
    sv_node *nodes;
    uint32_t count;
};

static sv_status read_host(struct reader *r, sv_span line)
{
    const sv_fabric *f = r->sim->f;
    char name[400], why[400];
    sv_node v;
    sv_scan scan = sv_scan_of(line);
    sv_scan_blanks(&scan);
    if (sv_scan_done(&scan) || *scan.at == '#')
        return SV_OK;
    sv_span rest = sv_scan_rest(&scan);
    if (rest.length >= sizeof name)
        return sv_lines_fail(&r->lines, "a name that is too long");
    sv_scan_quoted(&scan, name);
    if (r->count == r->sim->trace->num_ranks)
        return sv_lines_fail(&r->lines, "more hosts than the trace has ranks (%u)", r->count);
    if (sv_index_find(r->app->ctx, r->index, name, &v) != SV_OK) {
        strncpy(why, sv_ctx_message(r->app->ctx), sizeof why - 1);
        why[sizeof why - 1] = 0;
        return sv_lines_fail(&r->lines, "%s", why);
    }
    if (sv_is_switch(f, v) || sv_switch_of(f, v).i == SV_NONE)
        return sv_lines_fail(&r->lines, "'%.200s' is no host on a switch", name);
    r->nodes[r->count++] = v;
    return SV_OK;
}

static sv_status read_hosts(struct reader *r)
{
    bool more = true;
    sv_status status = SV_OK;
    for (sv_span line; status == SV_OK;) {
        status = sv_lines_next(&r->lines, &line, &more);
        if (status != SV_OK || !more)
            break;
        status = read_host(r, line);
    }
    if (status == SV_OK && r->count < r->sim->trace->num_ranks)
        return sv_lines_fail(&r->lines, "%u hosts, but the trace has %u ranks", r->count,
                             r->sim->trace->num_ranks);
    return status;
}

sv_status sim_read_map(struct app *app, const struct sim *sim, const char *path, sv_node **nodes)
{
    struct reader r = {.app = app, .sim = sim};
    sv_file file;
    SV_TRY(sv_file_open(&file, app->ctx, path));
    sv_status status = sv_lines_init(&r.lines, app->ctx, &file.source);
    if (status == SV_OK) {
        r.index = sv_index_new(app->ctx, sim->f);
        r.nodes = sv_alloc(app->ctx, sim->trace->num_ranks, sizeof *r.nodes);
        status = r.index == NULL || r.nodes == NULL ? SV_NO_MEMORY : read_hosts(&r);
        sv_index_free(r.index);
        sv_lines_release(&r.lines);
    }
    sv_file_close(&file);
    if (status == SV_OK)
        *nodes = r.nodes;
    else
        sv_release(app->ctx, r.nodes);
    return status;
}

sv_status sim_make_replay(struct app *app, struct sim *sim)
{
    const struct sim_options *o = sim->o;
    sv_mpi_replay_request request = {.model = &sim->setup.model,
                                     .random = o->map != NULL && strcmp(o->map, "random") == 0,
                                     .seed = o->seed,
                                     .eager_bytes = (uint32_t)o->eager_bytes,
                                     .compute = o->compute_factor,
                                     .repeat = o->repeat == SIM_NOT_GIVEN ? 1 : (uint32_t)o->repeat,
                                     .checked = true};
    sv_node *map = NULL;
    if (sim_path_of(o->map) != NULL) {
        SV_TRY(sim_read_map(app, sim, sim_path_of(o->map), &map));
        request.map = map;
        request.num_map = sim->trace->num_ranks;
    }
    sv_status status =
        sv_mpi_replay_new(app->ctx, sim->f, sim->r, sim->trace, &request, &sim->replay);
    sv_release(app->ctx, map);
    SV_TRY(trace_in(app, o->trace, status));
    sim->setup.source = sv_mpi_replay_source(sim->replay);
    sim->traffic = o->trace;
    sim->endless = false;
    return SV_OK;
}
