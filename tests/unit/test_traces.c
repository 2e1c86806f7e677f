/*
 * test_traces.c: traces in memory: ranks, groups, names of calls, and what sv_mpi_check refuses,
 * with rank and event.
 */
#include "support/tracing.h"

TEST_CONTEXT

static void calls_have_names(void **state)
{
    (void)state;
    assert_string_equal(sv_mpi_call_name(SV_CALL_SEND), "MPI_Send");
    assert_string_equal(sv_mpi_call_name(SV_CALL_REDUCE_SCATTER), "MPI_Reduce_scatter");
    assert_string_equal(sv_mpi_call_name(SV_CALL_SCAN), "MPI_Scan");
    for (unsigned i = 0; i < SV_CALL_COUNT; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(sv_mpi_call_name(i), sv_mpi_call_name(k));
    assert_null(sv_mpi_call_name(SV_CALL_COUNT));
}

static void groups_are_numbered(void **state)
{
    (void)state;
    sv_mpi_trace *t = NULL;
    const uint32_t all[] = {0, 1, 2}, turned[] = {2, 1, 0}, bad[] = {0, 3}, twice[] = {1, 1};
    uint16_t group = 99;
    OK(ctx, sv_mpi_new(ctx, "t", 3, &t));
    OK(ctx, sv_mpi_add_group(t, all, 3, 0, &group));
    assert_int_equal(group, 0);
    OK(ctx, sv_mpi_add_group(t, all, 3, 1, &group));
    assert_int_equal(group, 1);
    OK(ctx, sv_mpi_add_group(t, turned, 3, 0, &group));
    assert_int_equal(group, 2);
    OK(ctx, sv_mpi_add_group(t, all, 2, 0, &group));
    assert_int_equal(group, 3);
    OK(ctx, sv_mpi_add_group(t, turned, 3, 0, &group));
    assert_int_equal(group, 2);
    FAILS(ctx, sv_mpi_add_group(t, bad, 2, 0, &group), SV_BAD_INPUT, "rank 3, of 3");
    FAILS(ctx, sv_mpi_add_group(t, twice, 2, 0, &group), SV_BAD_INPUT, "rank 1 twice");
    FAILS(ctx, sv_mpi_add_group(t, all, 0, 0, &group), SV_BAD_INPUT, "a group of 0 ranks");
    FAILS(ctx, sv_mpi_add(t, 3, &(sv_mpi_event){0}), SV_BAD_INPUT, "rank 3, of 3");
    assert_int_equal(t->num_groups, 4);
    sv_mpi_free(t);
    t = NULL;
    FAILS(ctx, sv_mpi_new(ctx, "t", 0, &t), SV_BAD_INPUT, "not 0");
    FAILS(ctx, sv_mpi_new(ctx, "t", UINT32_MAX, &t), SV_BAD_INPUT, "1 to 1048576");
    assert_null(t);
    sv_mpi_free(NULL);
}

/* Three ranks, group 1 of ranks 2 and 0; rank 0 has up to three events, rank 1 one, rank 2 two. */
struct wrong {
    sv_mpi_event zero[3], one, two[2];
    const char *says; /* NULL: nothing is wrong */
};

#define NONE                                                                                       \
    {                                                                                              \
        .kind = SV_MPI_COMPUTE                                                                     \
    }
#define TO(p)                                                                                      \
    {                                                                                              \
        .kind = SV_MPI_SEND, .peer = (p)                                                           \
    }
#define FROM(p)                                                                                    \
    {                                                                                              \
        .kind = SV_MPI_RECV, .peer = (p)                                                           \
    }
#define WAIT(r)                                                                                    \
    {                                                                                              \
        .kind = SV_MPI_WAIT, .request = (r)                                                        \
    }
#define ALL(c)                                                                                     \
    {                                                                                              \
        .kind = SV_MPI_COLLECTIVE, .call = (c)                                                     \
    }
#define BEGIN(c)                                                                                   \
    {                                                                                              \
        .kind = SV_MPI_ICOLLECTIVE, .call = (c)                                                    \
    }
#define ANY SV_MPI_ANY

static const struct wrong wrongs[] = {
    {{NONE, NONE, NONE}, NONE, {NONE, NONE}, NULL},
    {{{.kind = SV_MPI_KINDS}}, NONE, {NONE}, "rank 0, event 0: there is no such kind"},
    {{NONE, {.call = SV_CALL_COUNT}}, NONE, {NONE}, "rank 0, event 1: there is no such kind"},
    {{NONE}, {.kind = SV_MPI_SEND, .group = 2}, {NONE}, "rank 1, event 0: there is no such group"},
    {{NONE}, {.kind = SV_MPI_SEND, .group = 1}, {NONE}, "rank 1, event 0: the rank is not in"},
    {{{.kind = SV_MPI_SEND, .group = 1, .peer = 1}}, NONE, {NONE}, "the peer is not in the group"},
    {{TO(3)}, NONE, {NONE}, "rank 0, event 0: the peer is not in the group"},
    {{TO(ANY)}, NONE, {NONE}, "rank 0, event 0: the peer is not in the group"},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = ANY}}, NONE, {NONE}, "a message with any tag"},
    {{ALL(SV_CALL_SEND)}, NONE, {NONE}, "rank 0, event 0: the call is no collective"},
    {{{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .group = 1, .peer = 1}},
     NONE,
     {NONE},
     "rank 0, event 0: the root is not in the group"},
    /* requests */
    {{{.kind = SV_MPI_ISEND, .peer = 0, .request = 3}, FROM(0)},
     NONE,
     {NONE},
     "rank 0, event 0: a request's number is not below"},
    {{{.kind = SV_MPI_ISEND, .peer = 0}, FROM(0)}, NONE, {NONE}, "event 0: nobody waits"},
    {{{.kind = SV_MPI_ISEND, .peer = 0}, {.kind = SV_MPI_IRECV, .peer = 0}},
     NONE,
     {NONE},
     "rank 0, event 1: the request is not waited for yet"},
    {{{.kind = SV_MPI_ISEND, .peer = 0}, FROM(0), WAIT(0)}, NONE, {NONE}, NULL},
    {{WAIT(0)}, NONE, {NONE}, "rank 0, event 0: waits for a request that is not there"},
    {{NONE}, NONE, {NONE, WAIT(1)}, "rank 2, event 1: waits for a request that is not there"},
    /* collectives */
    {{ALL(SV_CALL_BARRIER)}, ALL(SV_CALL_BARRIER), {NONE, ALL(SV_CALL_BARRIER)}, NULL},
    {{ALL(SV_CALL_BARRIER)},
     ALL(SV_CALL_BARRIER),
     {NONE, ALL(SV_CALL_SCAN)},
     "rank 2, event 1: MPI_Scan, where rank 0 of the group has MPI_Barrier"},
    {{ALL(SV_CALL_BARRIER)},
     ALL(SV_CALL_BARRIER),
     {NONE, NONE},
     "rank 2, event 2: it ends with 0 of the 1 collectives of group 0: MPI_Barrier is missing"},
    {{NONE},
     ALL(SV_CALL_BARRIER),
     {NONE},
     "rank 1, event 0: MPI_Barrier, where rank 0 of the group has none"},
    {{{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .peer = 1}},
     {.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .peer = 1},
     {{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .peer = 2}},
     "rank 2, event 0: MPI_Bcast, where rank 0 of the group has it with another root or size"},
    {{{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_SCAN, .peer = 1}},
     {.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_SCAN, .peer = 2},
     {ALL(SV_CALL_SCAN)},
     NULL},
    {{{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_SCAN, .amount = 1}},
     ALL(SV_CALL_SCAN),
     {ALL(SV_CALL_SCAN)},
     "rank 1, event 0: MPI_Scan, where rank 0 of the group has it with another root or size"},
    {{{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_SCAN, .group = 1}},
     NONE,
     {{.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_SCAN, .group = 1}},
     NULL},
    /* collectives that are begun */
    {{BEGIN(SV_CALL_SCAN), WAIT(0)},
     ALL(SV_CALL_SCAN),
     {BEGIN(SV_CALL_SCAN), WAIT(0)},
     "rank 1, event 0: MPI_Scan, where rank 0 of the group has MPI_Iscan"},
    {{{.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_SCAN, .group = 1}, WAIT(0)},
     NONE,
     {{.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_SCAN, .group = 1}, WAIT(0)},
     NULL},
    {{BEGIN(SV_CALL_SCAN)}, NONE, {NONE}, "rank 0, event 0: nobody waits for the request"},
    {{BEGIN(SV_CALL_SEND), WAIT(0)}, NONE, {NONE}, "rank 0, event 0: the call is no collective"},
    {{{.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_BARRIER, .group = 1}, WAIT(0)},
     NONE,
     {NONE},
     "rank 0, event 0: MPI_Ibarrier, where rank 2 of the group has none"},
    {{NONE},
     NONE,
     {{.kind = SV_MPI_ICOLLECTIVE, .call = SV_CALL_BARRIER, .group = 1}, WAIT(0)},
     "it ends with 0 of the 1 collectives of group 1: MPI_Ibarrier is missing"},
    /* messages */
    {{TO(1), TO(2)}, FROM(0), {FROM(0), NONE}, NULL},
    {{TO(1)}, NONE, {NONE}, NULL}, /* that nobody receives a message is allowed */
    {{NONE}, FROM(0), {NONE}, "rank 1, event 0: there is no message for this receive"},
    {{TO(2)}, NONE, {FROM(0), FROM(0)}, "rank 2, event 1: there is no message"},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = 5}}, FROM(0), {NONE}, "there is no message"},
    {{{.kind = SV_MPI_SEND, .peer = 2, .group = 1}}, NONE, {FROM(0)}, "there is no message"},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = 5}},
     {.kind = SV_MPI_RECV, .peer = 0, .tag = ANY},
     {NONE},
     NULL},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = 5}},
     {.kind = SV_MPI_RECV, .peer = ANY, .tag = 5},
     {NONE},
     NULL},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = 5}},
     {.kind = SV_MPI_RECV, .peer = ANY, .tag = 6},
     {NONE},
     "there is no message"},
    {{{.kind = SV_MPI_SEND, .peer = 1, .tag = 5}},
     {.kind = SV_MPI_RECV, .peer = 2, .tag = ANY},
     {NONE},
     "there is no message"},
    {{TO(2)}, TO(2), {FROM(ANY), FROM(ANY)}, NULL},
    {{TO(2)}, NONE, {FROM(ANY), FROM(ANY)}, "rank 2, event 1: there is no message"},
    {{TO(2)},
     NONE,
     {FROM(0), {.kind = SV_MPI_RECV, .peer = ANY, .tag = ANY}},
     "rank 2, event 1: there is no message"},
    {{TO(2)},
     NONE,
     {FROM(0), {.kind = SV_MPI_RECV, .peer = 0, .tag = ANY}},
     "rank 2, event 1: there is no message"},
};

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const struct wrong *w = &wrongs[i];
        const uint32_t ranks[] = {2, 0};
        uint16_t group;
        sv_mpi_trace *t = NULL;
        OK(ctx, sv_mpi_new(ctx, "t", 3, &t));
        OK(ctx, sv_mpi_add_group(t, ranks, 2, 0, &group));
        for (int k = 0; k < 3; k++)
            OK(ctx, sv_mpi_add(t, 0, &w->zero[k]));
        OK(ctx, sv_mpi_add(t, 1, &w->one));
        for (int k = 0; k < 2; k++)
            OK(ctx, sv_mpi_add(t, 2, &w->two[k]));
        sv_status status = sv_mpi_check(ctx, t);
        if (status != (w->says == NULL ? SV_OK : SV_BAD_INPUT) ||
            (w->says != NULL && strstr(sv_ctx_message(ctx), w->says) == NULL))
            fail_msg("case %zu: %d: %s", i, status, sv_ctx_message(ctx));
        sv_mpi_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_names),
        cmocka_unit_test(groups_are_numbered),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
