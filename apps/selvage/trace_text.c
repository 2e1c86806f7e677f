/*
 * trace_text.c: a trace as text, one line an event.
 *
 *     # selvage trace: NAME
 *     ranks N
 *     group G ORDINAL RANK RANK …            all but group 0, which is all ranks
 *     RANK compute NS
 *     RANK send CALL to PEER tag TAG group G bytes B
 *     RANK isend CALL to PEER tag TAG group G bytes B request R
 *     RANK recv CALL from PEER tag TAG group G bytes B
 *     RANK irecv CALL from PEER tag TAG group G bytes B request R
 *     RANK wait CALL request R
 *     RANK collective CALL root RANK group G bytes B
 *     RANK icollective CALL root RANK group G bytes B request R
 *
 * CALL is the MPI call that the event is the first of, or -; PEER and TAG may be any.
 */
#include <stdio.h>

#include "selvage/trace_shared.h"

static const char *const kinds[SV_MPI_KINDS] = {"compute", "send", "isend",      "recv",
                                                "irecv",   "wait", "collective", "icollective"};

static const char *number_or_any(uint32_t value, char *room)
{
    if (value == SV_MPI_ANY)
        return "any";
    snprintf(room, 12, "%u", value);
    return room;
}

static void print_event(sv_text *out, uint32_t rank, const sv_mpi_event *e)
{
    char peer[12], tag[12];
    const char *call = sv_mpi_call_name(e->call);
    if (e->call == SV_CALL_NONE)
        call = "-";
    else if (e->kind == SV_MPI_ICOLLECTIVE && sv_mpi_begun_name(e->call) != NULL)
        call = sv_mpi_begun_name(e->call);
    if (e->kind == SV_MPI_COMPUTE) {
        sv_text_print(out, "%u compute %llu\n", rank, (unsigned long long)e->amount);
        return;
    }
    sv_text_print(out, "%u %s %s", rank, kinds[e->kind], call);
    if (e->kind == SV_MPI_COLLECTIVE || e->kind == SV_MPI_ICOLLECTIVE)
        sv_text_print(out, " root %u group %u bytes %llu", e->peer, e->group,
                      (unsigned long long)e->amount);
    else if (e->kind != SV_MPI_WAIT)
        sv_text_print(out, " %s %s tag %s group %u bytes %llu",
                      e->kind == SV_MPI_RECV || e->kind == SV_MPI_IRECV ? "from" : "to",
                      number_or_any(e->peer, peer), number_or_any(e->tag, tag), e->group,
                      (unsigned long long)e->amount);
    if (e->kind == SV_MPI_ISEND || e->kind == SV_MPI_IRECV || e->kind == SV_MPI_WAIT ||
        e->kind == SV_MPI_ICOLLECTIVE)
        sv_text_print(out, " request %u", e->request);
    sv_text_print(out, "\n");
}

sv_status trace_write_text(struct app *app, const sv_mpi_trace *trace, const sv_sink *sink)
{
    sv_text out;
    sv_text_init(&out, app->ctx, sink);
    sv_text_print(&out, "# selvage trace: %s\nranks %u\n", trace->name, trace->num_ranks);
    for (uint32_t g = 1; g < trace->num_groups; g++) {
        sv_text_print(&out, "group %u %u", g, trace->groups[g].ordinal);
        for (uint32_t i = 0; i < trace->groups[g].size; i++)
            sv_text_print(&out, " %u", trace->groups[g].ranks[i]);
        sv_text_print(&out, "\n");
    }
    for (uint32_t r = 0; r < trace->num_ranks && out.status == SV_OK; r++)
        for (uint64_t i = 0; i < trace->ranks[r].length; i++)
            print_event(&out, r, &trace->ranks[r].events[i]);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}
