/*
 * skeleton.c: the list of skeletons, what their keys have in common, and how events are written.
 *
 * Time that a rank computes is a number of floating-point operations, which each skeleton states,
 * divided by the speed of a core (key speed, in millions a second). Nothing is random: the same
 * spec gives the same trace.
 *
 * Cost: linear in the events written.
 */
#include "traces/skeleton.h"

#include <math.h>
#include <string.h>

#include "base/near.h"

static const sv__skeleton *const skeletons[] = {&sv__skeleton_lu,  &sv__skeleton_mg,
                                                &sv__skeleton_ft,  &sv__skeleton_pop,
                                                &sv__skeleton_smg, &sv__skeleton_sweep};

enum { SKELETONS = sizeof skeletons / sizeof skeletons[0], MAX_RANKS = 65536 };

const sv_mpi_skeleton *sv_mpi_skeleton_at(size_t i)
{
    return i < SKELETONS ? &skeletons[i]->info : NULL;
}

static const sv__skeleton *find(sv_span name)
{
    for (size_t i = 0; i < SKELETONS; i++)
        if (sv_span_is(name, skeletons[i]->info.name))
            return skeletons[i];
    return NULL;
}

static sv_status no_such(const sv__spec *spec)
{
    char known[200] = "";
    for (size_t i = 0; i < SKELETONS; i++) {
        const char *name = skeletons[i]->info.name;
        size_t length = strlen(known), more = strlen(name);
        if (length + more + 3 > sizeof known)
            break;
        if (i > 0) {
            memcpy(known + length, ", ", 3);
            length += 2;
        }
        memcpy(known + length, name, more + 1);
    }
    sv_near near;
    return sv__spec_fail(spec, "no skeleton '%.*s'%s (there are %s)", SV_SPAN(spec->family),
                         sv_near_hint(&near, spec->family, known), known);
}

static sv_status read_common(sv__skel *s, const sv__skeleton *skeleton)
{
    uint64_t ranks, speed;
    SV_TRY(sv__spec_number(&s->spec, "ranks", 1, MAX_RANKS, 64, &ranks));
    SV_TRY(sv__spec_number(&s->spec, "speed", 1, 1000000000, 1000, &speed));
    if (skeleton->powers && (ranks & (ranks - 1)) != 0)
        return sv__spec_fail(&s->spec, "ranks=%llu is not a power of two",
                             (unsigned long long)ranks);
    s->ranks = (uint32_t)ranks;
    s->flops_per_ns = (double)speed / 1000;
    return SV_OK;
}

sv_status sv_mpi_skeleton_make(sv_ctx *ctx, const char *spec, sv_mpi_trace **trace)
{
    sv__skel s = {.ctx = ctx};
    SV_TRY(sv__spec_parse(&s.spec, ctx, spec));
    const sv__skeleton *skeleton = find(s.spec.family);
    if (skeleton == NULL)
        return no_such(&s.spec);
    SV_TRY(read_common(&s, skeleton));
    sv_status status = skeleton->write(&s);
    if (status != SV_OK)
        sv_mpi_free(s.trace);
    else
        *trace = s.trace;
    return status;
}

sv_status sv__skel_class(sv__skel *s, unsigned *place)
{
    static const char classes[] = "SWABC";
    sv_span value = sv__spec_text(&s->spec, "class");
    *place = 2;
    if (value.at == NULL)
        return SV_OK;
    const char *found = value.length == 1 ? strchr(classes, value.at[0]) : NULL;
    if (found == NULL)
        return sv__spec_fail(&s->spec, "class=%.*s is none of S, W, A, B, C", SV_SPAN(value));
    *place = (unsigned)(found - classes);
    return SV_OK;
}

sv_status sv__skel_begin(sv__skel *s, const sv__skeleton *skeleton)
{
    SV_TRY(sv__spec_done(&s->spec, skeleton->info.keys));
    return sv_mpi_new(s->ctx, s->spec.text, s->ranks, &s->trace);
}

sv_status sv__skel_ranks(sv__skel *s, void (*program)(sv__skel *s, const void *user),
                         const void *user)
{
    for (s->rank = 0; s->rank < s->ranks && s->status == SV_OK; s->rank++) {
        SV_TRY(sv_progress(s->ctx, "writing the skeleton", s->rank, s->ranks));
        program(s, user);
    }
    return s->status;
}

void sv__skel_square(uint32_t ranks, uint32_t *sides)
{
    sides[1] = 1;
    for (uint32_t i = 1; (uint64_t)i * i <= ranks; i++)
        if (ranks % i == 0)
            sides[1] = i;
    sides[0] = ranks / sides[1];
}

/* ---- events ---- */

static void add(sv__skel *s, sv_mpi_event event)
{
    if (s->status == SV_OK)
        s->status = sv_mpi_add(s->trace, s->rank, &event);
}

void sv__skel_compute(sv__skel *s, double flops)
{
    uint64_t ns = (uint64_t)floor(flops / s->flops_per_ns + 0.5);
    if (ns > 0)
        add(s, (sv_mpi_event){.kind = SV_MPI_COMPUTE, .amount = ns});
}

void sv__skel_send(sv__skel *s, uint32_t to, uint32_t tag, uint64_t bytes)
{
    add(s, (sv_mpi_event){
               .kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = to, .tag = tag, .amount = bytes});
}

void sv__skel_recv(sv__skel *s, uint32_t from, uint32_t tag, uint64_t bytes)
{
    add(s,
        (sv_mpi_event){
            .kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = from, .tag = tag, .amount = bytes});
}

void sv__skel_isend(sv__skel *s, uint32_t to, uint32_t tag, uint64_t bytes, uint32_t request)
{
    add(s, (sv_mpi_event){.kind = SV_MPI_ISEND,
                          .call = SV_CALL_ISEND,
                          .peer = to,
                          .tag = tag,
                          .amount = bytes,
                          .request = request});
}

void sv__skel_irecv(sv__skel *s, uint32_t from, uint32_t tag, uint64_t bytes, uint32_t request)
{
    add(s, (sv_mpi_event){.kind = SV_MPI_IRECV,
                          .call = SV_CALL_IRECV,
                          .peer = from,
                          .tag = tag,
                          .amount = bytes,
                          .request = request});
}

void sv__skel_wait(sv__skel *s, uint32_t request)
{
    add(s, (sv_mpi_event){.kind = SV_MPI_WAIT, .call = SV_CALL_WAIT, .request = request});
}

void sv__skel_waitall(sv__skel *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add(s, (sv_mpi_event){.kind = SV_MPI_WAIT,
                              .call = i == 0 ? SV_CALL_WAITALL : SV_CALL_NONE,
                              .request = first + i});
}

void sv__skel_collective(sv__skel *s, sv_mpi_call call, uint16_t group, uint32_t root,
                         uint64_t bytes)
{
    add(s, (sv_mpi_event){.kind = SV_MPI_COLLECTIVE,
                          .call = (uint8_t)call,
                          .peer = root,
                          .group = group,
                          .amount = bytes});
}

void sv__skel_all(sv__skel *s, sv_mpi_call call, uint64_t bytes, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        sv__skel_collective(s, call, 0, 0, bytes);
}
