/*
 * otf2.c: reads OTF2 archives with the library of that name (docs/traces.md has what becomes what).
 *
 * Idea: definitions first: strings, regions, groups, communicators, the clock. MPI's group of
 * locations says which location is which rank. Then the events of one rank after the other, by
 * callbacks that hand them to otf2_events.c.
 *
 * The library has one place for who hears of its errors, in the whole process: while an archive is
 * read it is ours, so that nothing is printed.
 *
 * Invariant: a callback that fails leaves its status, and the library stops.
 * Cost: linear in the archive. Source: OTF2 3.0.
 */
#include "traces/otf2.h"

#ifdef SELVAGE_OTF2

#include <otf2/otf2.h>
#include <stdio.h>
#include <string.h>

typedef struct group_def {
    uint32_t ref, count;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint64_t *members;
} group_def;

/* Everything that definitions say. */
struct archive {
    sv__otf2 o; /* first, so that callbacks find it */
    sv_arena arena;
    OTF2_Reader *reader;
    sv_map string_of, group_of;
    SV_ARRAY(const char *) strings;
    SV_ARRAY(group_def) groups;
    SV_ARRAY(uint64_t) locations;
    const group_def *world; /* locations by rank */
    uint64_t skipped;
    char said[400]; /* the library's first complaint */
};

static OTF2_ErrorCode hear_error(void *user, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list args)
    SV_PRINTF(6, 0);

static OTF2_ErrorCode hear_error(void *user, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list args)
{
    struct archive *a = user;
    (void)file, (void)line, (void)function;
    if (a != NULL && a->said[0] == 0) {
        int length = snprintf(a->said, sizeof a->said, "%s", OTF2_Error_GetDescription(code));
        if (format != NULL && length > 0 && (size_t)length + 2 < sizeof a->said) {
            memcpy(a->said + length, ": ", 3);
            vsnprintf(a->said + length + 2, sizeof a->said - (size_t)length - 2, format, args);
        }
    }
    return code;
}

static sv_status cannot(struct archive *a, const char *what)
{
    if (a->o.status != SV_OK)
        return a->o.status;
    return sv_fail(a->o.ctx, SV_BAD_INPUT, "%s: cannot read its %s%s%s", a->o.path, what,
                   a->said[0] != 0 ? ": " : "", a->said);
}

/* The end of a callback. */
static OTF2_CallbackCode ended(sv__otf2 *o, sv_status status)
{
    o->status = status;
    return status == SV_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

/* ---- definitions ---- */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct archive *a = user;
    (void)offset, (void)length, (void)realtime;
    a->o.resolution = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *string)
{
    struct archive *a = user;
    uint32_t held;
    const char *copy = sv_arena_text(&a->arena, string, strlen(string));
    sv_status status = copy == NULL
                           ? SV_NO_MEMORY
                           : sv_map_add(&a->string_of, self, (uint32_t)a->strings.length, &held);
    if (status == SV_OK)
        status = sv_array_push(a->o.ctx, &a->strings, copy);
    return ended(&a->o, status);
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events,
                                     OTF2_LocationGroupRef group)
{
    struct archive *a = user;
    (void)name, (void)type, (void)events, (void)group;
    return ended(&a->o, sv_array_push(a->o.ctx, &a->locations, self));
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct archive *a = user;
    (void)canonical, (void)description, (void)role, (void)flags, (void)file, (void)begin, (void)end;
    uint32_t held;
    const sv__otf2_region region = {.name_ref = name, .mpi = paradigm == OTF2_PARADIGM_MPI};
    sv_status status = sv_map_add(&a->o.region_of, self, (uint32_t)a->o.regions.length, &held);
    if (status == SV_OK)
        status = sv_array_push(a->o.ctx, &a->o.regions, region);
    return ended(&a->o, status);
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t count, const uint64_t *members)
{
    struct archive *a = user;
    (void)name, (void)flags;
    uint32_t held;
    group_def group = {self, count, type, paradigm, SV_ARENA_NEW(&a->arena, uint64_t, count)};
    if (group.members == NULL)
        return ended(&a->o, SV_NO_MEMORY);
    if (count > 0)
        memcpy(group.members, members, count * sizeof *members);
    sv_status status = sv_map_add(&a->group_of, self, (uint32_t)a->groups.length, &held);
    if (status == SV_OK)
        status = sv_array_push(a->o.ctx, &a->groups, group);
    return ended(&a->o, status);
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct archive *a = user;
    (void)name, (void)parent, (void)flags;
    uint32_t held;
    sv_status status = sv_map_add(&a->o.comm_of, self, (uint32_t)a->o.comms.length, &held);
    if (status == SV_OK)
        status = sv_array_push(a->o.ctx, &a->o.comms, (sv__otf2_comm){.group_ref = group});
    return ended(&a->o, status);
}

static sv_status read_definitions(struct archive *a)
{
    uint64_t count;
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(a->reader);
    if (reader == NULL)
        return cannot(a, "definitions");
    OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
    if (c == NULL)
        return sv_fail(a->o.ctx, SV_NO_MEMORY, "out of memory in OTF2");
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
    OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(a->reader, reader, c, a);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllGlobalDefinitions(a->reader, reader, &count);
    return code == OTF2_SUCCESS && a->o.status == SV_OK ? SV_OK : cannot(a, "definitions");
}

/* ---- what definitions mean ---- */

static void find_calls(struct archive *a)
{
    for (size_t i = 0; i < a->o.regions.length; i++) {
        sv__otf2_region *region = &a->o.regions.at[i];
        uint32_t name = sv_map_get(&a->string_of, region->name_ref);
        if (region->mpi && name != SV_ABSENT)
            region->call = (uint8_t)sv__otf2_call(a->strings.at[name]);
    }
}

/* How many communicators of these ranks came before: one more than the last of them has. */
static uint32_t ordinal_of(const struct archive *a, size_t comm, const uint32_t *ranks,
                           uint32_t count)
{
    while (comm-- > 0) {
        const sv__otf2_comm *before = &a->o.comms.at[comm];
        const sv_mpi_group *g = &a->o.trace->groups[before->group];
        if (before->known && g->size == count &&
            memcmp(g->ranks, ranks, count * sizeof *ranks) == 0)
            return g->ordinal + 1;
    }
    return 0;
}

/* The group of the trace for a communicator. */
static sv_status add_comm(struct archive *a, size_t number, uint32_t *ranks)
{
    sv__otf2_comm *comm = &a->o.comms.at[number];
    uint32_t place = sv_map_get(&a->group_of, comm->group_ref), max = a->o.trace->num_ranks;
    const group_def *group = place == SV_ABSENT ? NULL : &a->groups.at[place];
    if (group == NULL || group->paradigm != OTF2_PARADIGM_MPI)
        return SV_OK;
    comm->self = group->type == OTF2_GROUP_TYPE_COMM_SELF;
    if (comm->self || group->type != OTF2_GROUP_TYPE_COMM_GROUP || group->count == 0)
        return SV_OK;
    if (group->count > max)
        return sv_fail(a->o.ctx, SV_BAD_INPUT, "%s: a communicator has %u ranks, of %u", a->o.path,
                       group->count, max);
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i] >= max)
            return sv_fail(a->o.ctx, SV_BAD_INPUT, "%s: a communicator has rank %llu, of %u",
                           a->o.path, (unsigned long long)group->members[i], max);
        ranks[i] = (uint32_t)group->members[i];
    }
    uint32_t ordinal = ordinal_of(a, number, ranks, group->count);
    sv_status status = sv_mpi_add_group(a->o.trace, ranks, group->count, ordinal, &comm->group);
    comm->known = status == SV_OK;
    if (status == SV_BAD_INPUT)
        return sv_fail(a->o.ctx, status, "%s: a communicator has a rank twice", a->o.path);
    if (status == SV_UNSUPPORTED)
        return sv_fail(a->o.ctx, status, "%s: more than %d communicators", a->o.path,
                       UINT16_MAX + 1);
    return status;
}

static sv_status make_trace(struct archive *a)
{
    for (size_t i = 0; i < a->groups.length; i++)
        if (a->groups.at[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            a->groups.at[i].paradigm == OTF2_PARADIGM_MPI)
            a->world = &a->groups.at[i];
    if (a->world == NULL || a->world->count == 0 || a->o.resolution == 0)
        return sv_fail(a->o.ctx, SV_BAD_INPUT, "%s: %s", a->o.path,
                       a->o.resolution == 0 ? "its clock is not defined" : "it has no MPI ranks");
    SV_TRY(sv_mpi_new(a->o.ctx, a->o.path, a->world->count, &a->o.trace));
    uint32_t *ranks = SV_ARENA_NEW(&a->arena, uint32_t, a->world->count);
    if (ranks == NULL)
        return SV_NO_MEMORY;
    find_calls(a);
    for (size_t i = 0; i < a->o.comms.length; i++)
        SV_TRY(add_comm(a, i, ranks));
    return SV_OK;
}

/* ---- events ---- */

#define HEAD                                                                                       \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,                 \
        OTF2_AttributeList *attributes
#define UNUSED (void)location, (void)time, (void)position, (void)attributes

static OTF2_CallbackCode on_enter(HEAD, OTF2_RegionRef region)
{
    UNUSED;
    return ended(user, sv__otf2_enter(user, time, region));
}

static OTF2_CallbackCode on_leave(HEAD, OTF2_RegionRef region)
{
    UNUSED;
    return ended(user, sv__otf2_leave(user, time, region));
}

static OTF2_CallbackCode on_send(HEAD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t length)
{
    UNUSED;
    return ended(user, sv__otf2_send(user, &(sv__otf2_message){receiver, comm, tag, length}));
}

static OTF2_CallbackCode on_recv(HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t length)
{
    UNUSED;
    return ended(user, sv__otf2_receive(user, &(sv__otf2_message){sender, comm, tag, length}));
}

static OTF2_CallbackCode on_isend(HEAD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t length, uint64_t request)
{
    UNUSED;
    const sv__otf2_message m = {receiver, comm, tag, length};
    return ended(user, sv__otf2_isend(user, &m, request));
}

static OTF2_CallbackCode on_isend_complete(HEAD, uint64_t request)
{
    UNUSED;
    return ended(user, sv__otf2_complete(user, request, NULL));
}

static OTF2_CallbackCode on_irecv_request(HEAD, uint64_t request)
{
    UNUSED;
    return ended(user, sv__otf2_irecv(user, request));
}

static OTF2_CallbackCode on_irecv(HEAD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t length, uint64_t request)
{
    UNUSED;
    const sv__otf2_message m = {sender, comm, tag, length};
    return ended(user, sv__otf2_complete(user, request, &m));
}

static OTF2_CallbackCode on_collective_begin(HEAD)
{
    UNUSED;
    sv__otf2 *o = user;
    o->handled++;
    return OTF2_CALLBACK_SUCCESS;
}

static unsigned call_of(OTF2_CollectiveOp op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return SV_CALL_BARRIER;
    case OTF2_COLLECTIVE_OP_BCAST:
        return SV_CALL_BCAST;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
        return SV_CALL_GATHER;
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return SV_CALL_SCATTER;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return SV_CALL_ALLGATHER;
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        return SV_CALL_ALLTOALL;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        return SV_CALL_ALLREDUCE;
    case OTF2_COLLECTIVE_OP_REDUCE:
        return SV_CALL_REDUCE;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return SV_CALL_REDUCE_SCATTER;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
        return SV_CALL_SCAN;
    default:
        return SV_CALL_NONE;
    }
}

static OTF2_CallbackCode on_collective(HEAD, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                       uint64_t sent, uint64_t received)
{
    UNUSED;
    const sv__otf2_coll c = {call_of(op), comm, root, sent, received};
    return ended(user, sv__otf2_collective(user, &c));
}

#if OTF2_VERSION_MAJOR >= 3
static OTF2_CallbackCode on_begun(HEAD, uint64_t request)
{
    UNUSED;
    return ended(user, sv__otf2_collective_begin(user, request));
}

static OTF2_CallbackCode on_begun_end(HEAD, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                                      uint64_t sent, uint64_t received, uint64_t request)
{
    UNUSED;
    const sv__otf2_coll c = {call_of(op), comm, root, sent, received};
    return ended(user, sv__otf2_collective_end(user, request, &c));
}
#endif

static OTF2_EvtReaderCallbacks *make_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    if (c == NULL)
        return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective);
#if OTF2_VERSION_MAJOR >= 3
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_begun);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_begun_end);
#endif
    return c;
}

static sv_status read_rank(struct archive *a, uint32_t rank, OTF2_EvtReaderCallbacks *callbacks)
{
    uint64_t count = 0;
    SV_TRY(sv__otf2_begin(&a->o, rank));
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(a->reader, a->world->members[rank]);
    if (events == NULL)
        return cannot(a, "events");
    OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(a->reader, events, callbacks, &a->o);
    if (code == OTF2_SUCCESS)
        code = OTF2_Reader_ReadAllLocalEvents(a->reader, events, &count);
    OTF2_Reader_CloseEvtReader(a->reader, events);
    if (code != OTF2_SUCCESS || a->o.status != SV_OK)
        return cannot(a, "events");
    a->skipped += count > a->o.handled ? count - a->o.handled : 0;
    return sv__otf2_end(&a->o);
}

/* Numbers of definitions may differ from file to file: the library has to see all of them. */
static void read_local_definitions(struct archive *a)
{
    uint64_t count;
    bool there = OTF2_Reader_OpenDefFiles(a->reader) == OTF2_SUCCESS;
    for (uint32_t rank = 0; there && rank < a->world->count; rank++) {
        OTF2_DefReader *reader = OTF2_Reader_GetDefReader(a->reader, a->world->members[rank]);
        if (reader == NULL)
            continue;
        OTF2_Reader_ReadAllLocalDefinitions(a->reader, reader, &count);
        OTF2_Reader_CloseDefReader(a->reader, reader);
    }
    if (there)
        OTF2_Reader_CloseDefFiles(a->reader);
    a->said[0] = 0; /* archives without local definitions are fine */
}

static sv_status read_events(struct archive *a)
{
    sv_status status = SV_OK;
    OTF2_EvtReaderCallbacks *callbacks = make_callbacks();
    if (callbacks == NULL)
        return sv_fail(a->o.ctx, SV_NO_MEMORY, "out of memory in OTF2");
    for (uint32_t rank = 0; rank < a->world->count; rank++)
        OTF2_Reader_SelectLocation(a->reader, a->world->members[rank]);
    read_local_definitions(a);
    if (OTF2_Reader_OpenEvtFiles(a->reader) != OTF2_SUCCESS)
        status = cannot(a, "events");
    for (uint32_t rank = 0; rank < a->world->count && status == SV_OK; rank++) {
        status = sv_progress(a->o.ctx, "reading ranks", rank, a->world->count);
        if (status == SV_OK)
            status = read_rank(a, rank, callbacks);
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseEvtFiles(a->reader);
    return status != SV_OK ? status : sv__otf2_even_out(&a->o);
}

static sv_status read_archive(struct archive *a)
{
    a->reader = OTF2_Reader_Open(a->o.path);
    if (a->reader == NULL)
        return cannot(a, "anchor file");
    if (OTF2_Reader_SetSerialCollectiveCallbacks(a->reader) != OTF2_SUCCESS)
        return cannot(a, "anchor file");
    SV_TRY(read_definitions(a));
    SV_TRY(make_trace(a));
    SV_TRY(read_events(a));
    uint64_t others =
        a->locations.length > a->world->count ? a->locations.length - a->world->count : 0;
    if (a->skipped + a->o.lost + a->o.uneven + others > 0)
        sv_warn(a->o.ctx,
                "%s: left out: %llu events that are no messages or regions, %llu receives and "
                "collectives without an end or a meaning here, %llu locations that are no ranks; "
                "%llu collectives had ranks with other sizes",
                a->o.path, (unsigned long long)a->skipped, (unsigned long long)a->o.lost,
                (unsigned long long)others, (unsigned long long)a->o.uneven);
    return SV_OK;
}

sv_status sv__read_otf2(sv_ctx *ctx, const char *path, sv_mpi_trace **trace)
{
    struct archive a = {.o = {.ctx = ctx, .path = path}};
    sv_arena_init(&a.arena, ctx);
    sv_map_init(&a.o.comm_of, ctx);
    sv_map_init(&a.o.region_of, ctx);
    sv_map_init(&a.string_of, ctx);
    sv_map_init(&a.group_of, ctx);
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(hear_error, &a);
    sv_status status = read_archive(&a);
    if (a.reader != NULL)
        OTF2_Reader_Close(a.reader);
    OTF2_Error_RegisterCallback(before, NULL);
    sv__otf2_release(&a.o);
    sv_array_release(ctx, &a.strings);
    sv_array_release(ctx, &a.groups);
    sv_array_release(ctx, &a.locations);
    sv_array_release(ctx, &a.o.comms);
    sv_array_release(ctx, &a.o.regions);
    sv_map_release(&a.o.comm_of);
    sv_map_release(&a.o.region_of);
    sv_map_release(&a.string_of);
    sv_map_release(&a.group_of);
    sv_arena_release(&a.arena);
    if (status != SV_OK) {
        sv_mpi_free(a.o.trace);
        return status;
    }
    *trace = a.o.trace;
    return SV_OK;
}

#else

sv_status sv__read_otf2(sv_ctx *ctx, const char *path, sv_mpi_trace **trace)
{
    (void)trace;
    return sv_fail(ctx, SV_UNSUPPORTED, "%s: an OTF2 archive, which this build does not read",
                   path);
}

#endif
