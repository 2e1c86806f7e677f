/*
 * test_otf2_archive.c: an archive that the OTF2 library itself has written is read: two ranks that
 * begin a sum, one of which waits for it before it sends what the other receives first.
 */
#include "support/tracing.h"
#include "support/trials.h"

TEST_CONTEXT

#ifdef SELVAGE_OTF2
#include <otf2/otf2.h>
#endif

#if defined SELVAGE_OTF2 && OTF2_VERSION_MAJOR >= 3

enum { NAME, LOCATIONS = 0, MEMBERS, COMM = 0 };
enum { IALLREDUCE, WAIT, SEND, RECV, REGIONS };

static OTF2_FlushType flush(void *user, OTF2_FileType file, OTF2_LocationRef location, void *data,
                            bool last)
{
    (void)user, (void)file, (void)location, (void)data, (void)last;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp flushed(void *user, OTF2_FileType file, OTF2_LocationRef location)
{
    (void)user, (void)file, (void)location;
    return 0;
}

static const OTF2_FlushCallbacks flushes = {.otf2_pre_flush = flush, .otf2_post_flush = flushed};

static void write_events(OTF2_Archive *archive, uint64_t rank)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, rank);
    uint64_t t = 100;
    OTF2_EvtWriter_Enter(w, NULL, t, IALLREDUCE);
    OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t + 1, 77);
    OTF2_EvtWriter_Leave(w, NULL, t + 2, IALLREDUCE);
    if (rank == 1) {
        OTF2_EvtWriter_Enter(w, NULL, t + 10, RECV);
        OTF2_EvtWriter_MpiRecv(w, NULL, t + 11, 0, COMM, 3, 50);
        OTF2_EvtWriter_Leave(w, NULL, t + 12, RECV);
    }
    OTF2_EvtWriter_Enter(w, NULL, t + 20, WAIT);
    OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t + 21, OTF2_COLLECTIVE_OP_ALLREDUCE,
                                                 COMM, OTF2_COLLECTIVE_ROOT_NONE, 16, 16, 77);
    OTF2_EvtWriter_Leave(w, NULL, t + 22, WAIT);
    if (rank == 0) {
        OTF2_EvtWriter_Enter(w, NULL, t + 30, SEND);
        OTF2_EvtWriter_MpiSend(w, NULL, t + 31, 1, COMM, 3, 50);
        OTF2_EvtWriter_Leave(w, NULL, t + 32, SEND);
    }
    OTF2_Archive_CloseEvtWriter(archive, w);
}

/* members: of the communicator, and its copies. */
static void write_definitions(OTF2_Archive *archive, const uint64_t members[2], uint32_t copies)
{
    static const char *const names[] = {"MPI_Iallreduce", "MPI_Wait", "MPI_Send", "MPI_Recv"};
    const uint64_t ranks[] = {0, 1};
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(w, 1000000000, 0, 1000, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(w, NAME, "a name");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, NAME, NAME, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(w, rank, NAME, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, rank, NAME, OTF2_LOCATION_TYPE_CPU_THREAD, 9, rank);
    }
    for (uint32_t i = 0; i < REGIONS; i++) {
        OTF2_GlobalDefWriter_WriteString(w, NAME + 1 + i, names[i]);
        OTF2_GlobalDefWriter_WriteRegion(w, i, NAME + 1 + i, NAME, NAME,
                                         OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, NAME, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteGroup(w, LOCATIONS, NAME, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks);
    OTF2_GlobalDefWriter_WriteGroup(w, MEMBERS, NAME, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, 2, members);
    for (uint32_t i = 0; i <= copies; i++)
        OTF2_GlobalDefWriter_WriteComm(w, COMM + i, NAME, MEMBERS, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, w);
}

static void write_archive(const char *folder, const uint64_t members[2], uint32_t copies)
{
    OTF2_Archive *archive =
        OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, 1024 * 1024, 4 * 1024 * 1024,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    assert_non_null(archive);
    OTF2_Archive_SetFlushCallbacks(archive, &flushes, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint64_t rank = 0; rank < 2; rank++)
        write_events(archive, rank);
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint64_t rank = 0; rank < 2; rank++)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, rank));
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(archive, members, copies);
    assert_int_equal(OTF2_Archive_Close(archive), OTF2_SUCCESS);
}

static const uint64_t both[] = {0, 1};

static void begun_collectives_are_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/selvage-archive-XXXXXX", path[100], command[100];
    sv_mpi_trace *t = NULL;
    assert_non_null(mkdtemp(folder));
    write_archive(folder, both, 0);
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    sv_status status = sv_mpi_load(ctx, path, &t);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    OK(ctx, status);
    OK(ctx, sv_mpi_check(ctx, t));
    const sv_mpi_event starts = {
        .kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_ALLREDUCE, .amount = 8};
    const sv_mpi_event wait = {.kind = SV_MPI_WAIT, .call = SV_CALL_WAIT};
    const sv_mpi_event send = {
        .kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = 1, .tag = 3, .amount = 50};
    const sv_mpi_event receive = {
        .kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = 0, .tag = 3, .amount = 50};
    const sv_mpi_event *wanted[2][3] = {{&starts, &wait, &send}, {&starts, &receive, &wait}};
    assert_int_equal(t->num_ranks, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_int_equal(t->ranks[rank].length, 5); /* computing between two calls */
        for (uint32_t i = 0; i < 3; i++)
            assert_true(trace_event_same(t, wanted[rank][i], t, &t->ranks[rank].events[2 * i]));
    }
    sv_mpi_free(t);
}

/* An archive of which a file is missing is refused, and leaves nothing behind (LeakSanitizer). */
static void parts_that_are_missing(void **state)
{
    (void)state;
    static const char *const parts[] = {"traces.def", "traces/0.evt", "traces"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char folder[] = "/tmp/selvage-archive-XXXXXX", path[100], command[100];
        sv_mpi_trace *t = NULL;
        assert_non_null(mkdtemp(folder));
        write_archive(folder, both, 0);
        snprintf(command, sizeof command, "rm -r %s/%s", folder, parts[i]);
        assert_int_equal(system(command), 0);
        snprintf(path, sizeof path, "%s/traces.otf2", folder);
        sv_status status = sv_mpi_load(ctx, path, &t);
        snprintf(command, sizeof command, "rm -r %s", folder);
        assert_int_equal(system(command), 0);
        FAILS(ctx, status, SV_BAD_INPUT,
              i == 0 ? "cannot read its definitions" : "cannot read its events");
        assert_null(t);
    }
}

/* A communicator that cannot be is told with the archive that has it. */
static void communicators_that_cannot_be(void **state)
{
    (void)state;
    static const uint64_t wrong[][2] = {{1, 1}, {0, 2}};
    static const char *const told[] = {"a communicator has a rank twice",
                                       "a communicator has rank 2, of 2"};
    for (int i = 0; i < 2; i++) {
        char folder[] = "/tmp/selvage-archive-XXXXXX", path[100], command[100], message[200];
        sv_mpi_trace *t = NULL;
        assert_non_null(mkdtemp(folder));
        write_archive(folder, wrong[i], 0);
        snprintf(path, sizeof path, "%s/traces.otf2", folder);
        sv_status status = sv_mpi_load(ctx, path, &t);
        snprintf(command, sizeof command, "rm -r %s", folder);
        assert_int_equal(system(command), 0);
        snprintf(message, sizeof message, "%s: %s", path, told[i]);
        assert_int_equal(status, SV_BAD_INPUT);
        assert_string_equal(sv_ctx_message(ctx), message);
        assert_null(t);
    }
}

/* Programs that never free communicators have thousands of the same ranks. */
static void many_communicators_of_the_same_ranks(void **state)
{
    (void)state;
    const uint32_t copies = test_times(20000);
    char folder[] = "/tmp/selvage-archive-XXXXXX", path[100], command[100];
    sv_mpi_trace *t = NULL;
    assert_non_null(mkdtemp(folder));
    write_archive(folder, both, copies);
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    sv_status status = sv_mpi_load(ctx, path, &t);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    OK(ctx, status);
    assert_int_equal(t->num_groups, copies + 1); /* the first is the world */
    for (uint32_t i = 0; i <= copies; i++)
        assert_int_equal(t->groups[i].ordinal, i);
    sv_mpi_free(t);
}

#else

static void begun_collectives_are_read(void **state)
{
    (void)state;
    print_message("skipped: built without OTF2 3.0 or later\n");
    skip();
}

static void parts_that_are_missing(void **state)
{
    begun_collectives_are_read(state);
}

static void communicators_that_cannot_be(void **state)
{
    begun_collectives_are_read(state);
}

static void many_communicators_of_the_same_ranks(void **state)
{
    begun_collectives_are_read(state);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(begun_collectives_are_read),
                                       cmocka_unit_test(parts_that_are_missing),
                                       cmocka_unit_test(communicators_that_cannot_be),
                                       cmocka_unit_test(many_communicators_of_the_same_ranks)};
    return cmocka_run_group_tests(tests, begin, end);
}
