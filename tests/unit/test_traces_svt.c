/*
 * test_traces_svt.c: .svt files: what is written is read again, loops are written once, bytes are
 * what the format says, and no bytes do any harm.
 */
#include "support/tracing.h"
#include "support/trials.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"

TEST_CONTEXT

static void assert_round_trip(const sv_mpi_trace *t, size_t *length)
{
    sv_mpi_trace *u = NULL;
    test_buffer buffer = trace_written(ctx, t);
    OK(ctx, trace_read(ctx, buffer.text, buffer.length, &u));
    assert_true(trace_same(t, u));
    *length = buffer.length;
    free(buffer.text);
    sv_mpi_free(u);
}

static void random_traces_come_back(void **state)
{
    (void)state;
    size_t length;
    for (uint64_t seed = 0; seed < test_times(300); seed++) {
        sv_rng rng;
        sv_rng_init(&rng, seed);
        sv_mpi_trace *t = trace_random(ctx, seed,
                                       (trace_wish){.ranks = 1 + (uint32_t)sv_rng_below(&rng, 9),
                                                    .groups = (uint32_t)sv_rng_below(&rng, 6),
                                                    .acts = (uint32_t)sv_rng_below(&rng, 400),
                                                    .bytes = seed % 3 == 0 ? 2 : 1000000,
                                                    .any = seed % 2 == 0,
                                                    .collectives = true,
                                                    .computes = seed % 5 != 0,
                                                    .begins = seed % 4 > 1});
        OK(ctx, sv_mpi_check(ctx, t));
        assert_round_trip(t, &length);
        sv_mpi_free(t);
    }
}

/* Few different events in any order: every mixture of loops in loops. */
static void random_loops_come_back(void **state)
{
    (void)state;
    size_t length;
    for (uint64_t seed = 0; seed < test_times(3000); seed++) {
        sv_rng rng;
        sv_mpi_trace *t = NULL;
        sv_rng_init(&rng, seed);
        OK(ctx, sv_mpi_new(ctx, "", 1, &t));
        uint64_t kinds = 1 + sv_rng_below(&rng, 4);
        for (int acts = (int)sv_rng_below(&rng, 12); acts >= 0; acts--) {
            sv_mpi_rank *of = &t->ranks[0];
            if (of->length > 0 && of->length < 3000 && sv_rng_below(&rng, 2)) {
                uint64_t back = 1 + sv_rng_below(&rng, of->length), end = of->length;
                for (uint64_t n = back * (1 + sv_rng_below(&rng, 4)), i = 0; i < n; i++) {
                    sv_mpi_event e = of->events[end - back + i];
                    OK(ctx, sv_mpi_add(t, 0, &e));
                }
            } else {
                for (uint64_t n = sv_rng_below(&rng, 5); n > 0; n--) {
                    sv_mpi_event e = {.amount = sv_rng_below(&rng, kinds)};
                    OK(ctx, sv_mpi_add(t, 0, &e));
                }
            }
        }
        assert_round_trip(t, &length);
        sv_mpi_free(t);
    }
}

/* steps × (a, inner × (b, c), d), each rank with its neighbours. */
static sv_mpi_trace *steps(uint32_t ranks, uint32_t count, uint32_t inner, uint32_t tail)
{
    sv_mpi_trace *t = NULL;
    OK(ctx, sv_mpi_new(ctx, "steps", ranks, &t));
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t s = 0; s < count; s++) {
            sv_mpi_event e = {.kind = SV_MPI_COMPUTE, .amount = 1000};
            OK(ctx, sv_mpi_add(t, rank, &e));
            for (uint32_t i = 0; i < inner; i++) {
                e = (sv_mpi_event){.kind = SV_MPI_SEND,
                                   .call = SV_CALL_SEND,
                                   .peer = (rank + 1) % ranks,
                                   .amount = 77};
                OK(ctx, sv_mpi_add(t, rank, &e));
                e.kind = SV_MPI_RECV;
                e.call = SV_CALL_RECV;
                e.peer = (rank + ranks - 1) % ranks;
                OK(ctx, sv_mpi_add(t, rank, &e));
            }
            for (uint32_t i = 0; i < tail; i++) {
                e = (sv_mpi_event){
                    .kind = SV_MPI_COLLECTIVE, .call = SV_CALL_ALLREDUCE, .amount = 8 * (i % 50)};
                OK(ctx, sv_mpi_add(t, rank, &e));
            }
        }
    return t;
}

static void loops_are_written_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, inner, tail;
        size_t max; /* bytes a rank */
    } cases[] = {{1000, 0, 0, 12},   {1000, 1, 1, 40},    {1000, 100, 1, 45},
                 {1000, 3, 50, 400}, {100, 10, 200, 400}, {7, 1, 1, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length;
        sv_mpi_trace *t = steps(4, cases[i].count, cases[i].inner, cases[i].tail);
        OK(ctx, sv_mpi_check(ctx, t));
        assert_round_trip(t, &length);
        if (length > 4 * cases[i].max + 30)
            fail_msg("case %zu: %zu bytes", i, length);
        sv_mpi_free(t);
    }
}

/* ---- the format, byte by byte ---- */

/* A file of these bytes, with the right head and sum. */
static test_buffer file_of(uint32_t ranks, const char *name, const uint8_t *bytes, size_t length)
{
    test_buffer b = {.text = calloc(1, length + strlen(name) + 32)};
    b.length = (size_t)sprintf(b.text, "SVT1\n%c%c%s", (int)ranks, (int)strlen(name), name);
    memcpy(b.text + b.length, bytes, length);
    b.length += length + 8;
    sv__svt_seal((uint8_t *)b.text, b.length);
    return b;
}

static void bytes_are_what_the_decision_says(void **state)
{
    (void)state;
    /* Rank 2 of 4: group (ordinal 5: 1, 0, 2), computes 300 ns, receives from anybody, sends 5
     * bytes with tag 6 in the group to 0 by request 0, waits; all twice more; computes; a
     * reduction; a sum of all is begun by request 3. */
    const uint8_t file[] = {3, 1, 5, 3,  2, 1, 4, 2, 0, 0,  0xac, 2, 2, 3, 4, 0, 0,
                            0, 0, 2, 2,  3, 4, 7, 1, 5, 0,  2,    5, 7, 0, 3, 4, 2,
                            8, 2, 6, 13, 1, 1, 9, 2, 7, 14, 1,    1, 9, 3, 0, 0};
    test_buffer b = file_of(4, "p", file, sizeof file);
    sv_mpi_trace *t = NULL;
    OK(ctx, trace_read(ctx, b.text, b.length, &t));
    assert_int_equal(t->num_ranks, 4);
    assert_string_equal(t->name, "p");
    assert_int_equal(t->num_groups, 2);
    const uint32_t members[] = {1, 0, 2};
    assert_int_equal(t->groups[1].size, 3);
    assert_int_equal(t->groups[1].ordinal, 5);
    assert_memory_equal(t->groups[1].ranks, members, sizeof members);
    const sv_mpi_rank *of = &t->ranks[2];
    assert_int_equal(of->length, 15);
    for (uint64_t i = 0; i < 12; i += 4) {
        const sv_mpi_event *e = &of->events[i];
        assert_true(e[0].kind == SV_MPI_COMPUTE && e[0].amount == 300);
        assert_true(e[1].kind == SV_MPI_RECV && e[1].call == SV_CALL_RECV &&
                    e[1].peer == SV_MPI_ANY && e[1].tag == SV_MPI_ANY && e[1].group == 0);
        assert_true(e[2].kind == SV_MPI_ISEND && e[2].call == SV_CALL_ISEND && e[2].peer == 0 &&
                    e[2].tag == 6 && e[2].group == 1 && e[2].amount == 5 && e[2].request == 0);
        assert_true(e[3].kind == SV_MPI_WAIT && e[3].call == SV_CALL_WAIT && e[3].request == 0);
    }
    assert_true(of->events[12].kind == SV_MPI_COMPUTE && of->events[12].amount == 300);
    assert_true(of->events[13].kind == SV_MPI_COLLECTIVE && of->events[13].call == SV_CALL_REDUCE &&
                of->events[13].peer == 1 && of->events[13].group == 1 &&
                of->events[13].amount == 9);
    assert_true(of->events[14].kind == SV_MPI_ICOLLECTIVE &&
                of->events[14].call == SV_CALL_ALLREDUCE && of->events[14].peer == 1 &&
                of->events[14].group == 1 && of->events[14].amount == 9 &&
                of->events[14].request == 3);
    sv_mpi_free(t);
    free(b.text);
}

/* ---- what is refused ---- */

static void bad_bytes_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[12];
        size_t length;
        sv_status status;
        const char *says;
    } cases[] = {
        {{0}, 0, SV_BAD_INPUT, "byte 8: it is cut off"},
        {{1, 0}, 2, SV_BAD_INPUT, "it is cut off"},
        {{6, 0, 0}, 3, SV_BAD_INPUT, "byte 9: a section of rank + 1 = 6, of at most 5"},
        {{1, 0, 1, 0, 0}, 5, SV_BAD_INPUT, "rank 0 is there twice"},
        {{0, 0}, 2, SV_BAD_INPUT, "something follows its end"},
        {{1, 4, 0, 0}, 4, SV_BAD_INPUT, "there is no such operation"},
        {{1, 8, 0, 0}, 4, SV_BAD_INPUT, "an event that is not known yet"},
        {{1, 2, 8, 0, 0}, 5, SV_BAD_INPUT, "kind 8, of at most 7"},
        {{1, 2, 0, 21, 0}, 5, SV_BAD_INPUT, "call 21, of at most 20"},
        {{1, 2, 1, 0, 0, 1, 0, 0}, 8, SV_BAD_INPUT, "a message to anybody"},
        {{1, 2, 1, 0, 1, 0, 0, 0}, 8, SV_BAD_INPUT, "a message with any tag"},
        {{1, 2, 1, 0, 2, 1, 0, 0}, 8, SV_BAD_INPUT, "a rank is out of range"},
        {{1, 2, 1, 0, 11, 1, 0, 0}, 8, SV_BAD_INPUT, "a rank is out of range"},
        {{1, 2, 1, 0, 3, 1, 1, 0}, 8, SV_BAD_INPUT, "group 1, of at most 0"},
        {{1, 2, 6, 12, 5, 0, 0}, 7, SV_BAD_INPUT, "root 5, of at most 4"},
        {{1, 1, 0, 2, 2, 0, 0, 0}, 8, SV_BAD_INPUT, "a group has no ranks, or one twice"},
        {{1, 1, 0, 0, 0, 0}, 6, SV_BAD_INPUT, "a group has no ranks, or one twice"},
        {{1, 1, 0, 6, 0, 0}, 6, SV_BAD_INPUT, "ranks of a group 6, of at most 5"},
        {{1, 2, 0, 0, 1, 3, 2, 1, 0, 0}, 10, SV_BAD_INPUT, "a repetition of 2, of at most 1"},
        {{1, 2, 0, 0, 1, 3, 0, 1, 0, 0}, 10, SV_BAD_INPUT, "a repetition of nothing"},
        {{1, 2, 0, 0, 1, 3, 1, 0, 0, 0}, 10, SV_BAD_INPUT, "a repetition of nothing"},
        {{1, 2, 0, 0, 1, 3, 1, 255, 255, 255, 64}, 11, SV_UNSUPPORTED, "more than 134217728"},
        {{255, 255, 255, 255, 255, 255, 255, 255, 255, 2}, 10, SV_BAD_INPUT, "more than 64 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_buffer b = file_of(5, "p", cases[i].bytes, cases[i].length);
        sv_mpi_trace *t = NULL;
        FAILS(ctx, trace_read(ctx, b.text, b.length, &t), cases[i].status, cases[i].says);
        assert_null(t);
        free(b.text);
    }
    sv_mpi_trace *t = NULL;
    FAILS(ctx, trace_read(ctx, "SVT2\n", 5, &t), SV_BAD_INPUT, "memory: no .svt file");
    FAILS(ctx, trace_read(ctx, "", 0, &t), SV_BAD_INPUT, "memory: no .svt file");
}

static void loops_in_loops_have_a_limit(void **state)
{
    (void)state;
    /* One event, then forty repetitions of everything so far: 3^40 events. Up to the limit they
     * take gigabytes. */
    if (!test_enough())
        return;
    uint8_t bytes[200] = {1, 2, 0, 0, 1};
    size_t length = 5;
    for (uint8_t i = 0; i < 40; i++) {
        bytes[length++] = 3;
        bytes[length++] = (uint8_t)(i + 1);
        bytes[length++] = 2;
    }
    bytes[length++] = 0;
    bytes[length++] = 0;
    test_buffer b = file_of(1, "", bytes, length);
    sv_mpi_trace *t = NULL;
    FAILS(ctx, trace_read(ctx, b.text, b.length, &t), SV_UNSUPPORTED, "more than 134217728 events");
    free(b.text);
}

/* Every truncation, every changed byte, with and without the right sum. */
static void no_bytes_do_harm(void **state)
{
    (void)state;
    trace_wish wish = {.ranks = 3,
                       .groups = 2,
                       .acts = 60,
                       .bytes = 300,
                       .any = true,
                       .collectives = true,
                       .computes = true,
                       .begins = true};
    sv_mpi_trace *t = trace_random(ctx, 5, wish), *u = NULL;
    test_buffer b = trace_written(ctx, t);
    uint8_t *copy = malloc(b.length);
    for (size_t length = 0; length < b.length; length++) {
        memcpy(copy, b.text, length);
        assert_int_equal(trace_read(ctx, (char *)copy, length, &u), SV_BAD_INPUT);
        sv__svt_seal(copy, length);
        assert_int_equal(trace_read(ctx, (char *)copy, length, &u), SV_BAD_INPUT);
        assert_null(strchr(sv_ctx_message(ctx), '\n'));
    }
    for (size_t i = 0; i < b.length; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, b.text, b.length);
            copy[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(trace_read(ctx, (char *)copy, b.length, &u), SV_BAD_INPUT);
            sv__svt_seal(copy, b.length);
            sv_status status = trace_read(ctx, (char *)copy, b.length, &u);
            assert_true(status == SV_OK || status == SV_BAD_INPUT);
            if (status == SV_OK) {
                status = sv_mpi_check(ctx, u);
                assert_true(status == SV_OK || status == SV_BAD_INPUT);
                sv_mpi_free(u);
                u = NULL;
            }
        }
    free(copy);
    free(b.text);
    sv_mpi_free(t);
}

/* ---- folders ---- */

static void put_file(const char *folder, const char *name, const test_buffer *b)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(b->text, 1, b->length, file), b->length);
    fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static int warnings;

static void count_warnings(void *user, sv_log_level level, const char *message)
{
    (void)user;
    (void)message;
    warnings += level == SV_LOG_WARNING;
}

static void files_of_a_folder_are_joined(void **state)
{
    (void)state;
    char folder[] = "/tmp/selvage-trace-XXXXXX", path[200];
    assert_non_null(mkdtemp(folder));
    const uint8_t one[] = {1, 2, 0, 0, 5, 0, 0}, two[] = {2, 2, 0, 0, 6, 0, 0}, three[] = {3, 0, 0};
    test_buffer a = file_of(3, "p", one, 7), b = file_of(3, "p", two, 7),
                c = file_of(3, "p", three, 3), d = file_of(3, "q", three, 3);
    sv_mpi_trace *t = NULL;
    FAILS(ctx, sv_mpi_load(ctx, folder, &t), SV_BAD_INPUT, "a folder without .svt files");
    put_file(folder, "b.svt", &a);
    put_file(folder, "a.svt", &b);
    put_file(folder, "readme", &b);
    FAILS(ctx, sv_mpi_load(ctx, folder, &t), SV_BAD_INPUT, "no file has rank 2, of 3");
    put_file(folder, "c.svt", &d);
    FAILS(ctx, sv_mpi_load(ctx, folder, &t), SV_BAD_INPUT,
          "c.svt: of 'q' with 3 ranks, others are of 'p' with 3");
    put_file(folder, "c.svt", &a);
    FAILS(ctx, sv_mpi_load(ctx, folder, &t), SV_BAD_INPUT, "c.svt: byte 9: rank 0 is there twice");
    assert_null(t);
    put_file(folder, "c.svt", &c);
    OK(ctx, sv_mpi_load(ctx, folder, &t));
    assert_int_equal(t->ranks[0].events[0].amount, 5);
    assert_int_equal(t->ranks[1].events[0].amount, 6);
    assert_int_equal(t->ranks[2].length, 0);
    sv_mpi_free(t);
    t = NULL;
    sv_host host = {.log = count_warnings};
    sv_ctx *loud = sv_ctx_new(&host);
    snprintf(path, sizeof path, "%s/a.svt", folder);
    OK(loud, sv_mpi_load(loud, path, &t));
    assert_int_equal(warnings, 1);
    assert_int_equal(t->ranks[1].events[0].amount, 6);
    sv_mpi_free(t);
    sv_ctx_free(loud);
    test_buffer text = {.text = strdup("hello, world\n"), .length = 13};
    put_file(folder, "a.svt", &text);
    t = NULL;
    FAILS(ctx, sv_mpi_load(ctx, path, &t), SV_BAD_INPUT,
          "a.svt:1: no trace: neither .svt nor GOAL");
    static const char *const names[] = {"a.svt", "b.svt", "c.svt", "readme"};
    for (int i = 0; i < 4; i++)
        remove_file(folder, names[i]);
    FAILS(ctx, sv_mpi_load(ctx, path, &t), SV_IO, "a.svt");
    rmdir(folder);
    free(a.text), free(b.text), free(c.text), free(d.text), free(text.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces_come_back),
        cmocka_unit_test(random_loops_come_back),
        cmocka_unit_test(loops_are_written_once),
        cmocka_unit_test(bytes_are_what_the_decision_says),
        cmocka_unit_test(bad_bytes_are_refused_with_their_place),
        cmocka_unit_test(loops_in_loops_have_a_limit),
        cmocka_unit_test(no_bytes_do_harm),
        cmocka_unit_test(files_of_a_folder_are_joined),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
