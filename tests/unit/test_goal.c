/*
 * test_goal.c: GOAL schedules: what text means, what is refused with its line, that a trace written
 * as one and read again takes the same time wherever it is replayed, and that no text does harm.
 */
#include "support/simulating.h"
#include "support/tracing.h"
#include "support/trials.h"

#include <sys/stat.h>

TEST_CONTEXT

static int warnings;
static char last_warning[1024];

static void note_warning(void *user, sv_log_level level, const char *message)
{
    (void)user;
    if (level == SV_LOG_WARNING) {
        warnings++;
        snprintf(last_warning, sizeof last_warning, "%s", message);
    }
}

static sv_status read_text(sv_ctx *own, const char *text, size_t length, sv_mpi_trace **t)
{
    sv_memory memory = {text, length};
    sv_source source = sv_memory_source(&memory, "text");
    return sv_mpi_read_goal(own, &source, t);
}

/* The events of a rank in short: S SEND, s ISEND, R, r, W WAIT, c COMPUTE, each with its amount (of
 * WAIT the request). */
static void shorten(const sv_mpi_rank *rank, char *text)
{
    static const char letters[] = "cSsRrW";
    for (uint64_t i = 0; i < rank->length; i++) {
        const sv_mpi_event *e = &rank->events[i];
        uint64_t number = e->kind == SV_MPI_WAIT ? e->request : e->amount;
        text += sprintf(text, "%s%c%llu", i > 0 ? " " : "", letters[e->kind],
                        (unsigned long long)number);
    }
    *text = 0;
}

static void text_becomes_events(void **state)
{
    (void)state;
    static const struct {
        const char *text, *events; /* of rank 0, of two */
        int warnings;
    } cases[] = {
        {"", "", 0},
        {"calc 5", "c5", 0},
        {"send 10b to 1", "S10", 0},
        {"send 10 b to 1 tag 5 cpu 0 nic 3\nrecv 3b from -1 tag -1", "r3 s10 W0 W1", 0},
        {"a: send 1b to 1; b: calc 2; c: recv 3b from 1; b requires a; c requires b", "S1 c2 R3",
         0},
        {"b: calc 2\na: recv 1b from 1\nb requires a", "R1 c2", 0},
        {"a: recv 1b from 1\nb: recv 2b from 1\nc: calc 3\nc requires a\nc requires b",
         "r1 r2 W0 W1 c3", 0},
        {"a: recv 1b from 1\nb: recv 2b from 1\nc: calc 3\nd: calc 4\nc requires a\nd requires b",
         "r1 r2 W0 c3 W1 c4", 1},
        {"a: send 1b to 1\nb: recv 2b from 1\nb irequires a\nc: calc 3\nc requires b",
         "s1 R2 c3 W0", 0},
        {"a: recv 1b from 1\nb: send 2b to 1\nb requires a\nc: calc 3", "r1 c3 W0 S2", 1},
        {"a: calc 1 cpu 0\nb: calc 2 cpu 1", "c1 c2", 1},
        {"// a: calc 1\n/* calc 2\ncalc 3 */ calc 4 // 5\n", "c4", 0},
    };
    sv_host host = {.log = note_warning};
    sv_ctx *loud = sv_ctx_new(&host);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[500], events[500];
        sv_mpi_trace *t = NULL;
        snprintf(text, sizeof text, "num_ranks 2\nrank 0 {\n%s\n}\n", cases[i].text);
        warnings = 0;
        OK(loud, read_text(loud, text, strlen(text), &t));
        shorten(&t->ranks[0], events);
        assert_string_equal(events, cases[i].events);
        assert_int_equal(warnings, cases[i].warnings);
        assert_int_equal(t->ranks[1].length, 0);
        sv_mpi_free(t);
    }
    sv_ctx_free(loud);
}

static void what_words_mean(void **state)
{
    (void)state;
    sv_mpi_trace *t = NULL;
    const char *text = "\n// x\nnum_ranks 3\nrank 2 {\nsend 7b to 1 tag 9 nic 1\n}\n"
                       "rank 1 { recv 7b from 2 tag 9; }rank 0{recv 1b from -1 tag -1\n}";
    OK(ctx, read_text(ctx, text, strlen(text), &t));
    assert_int_equal(t->num_ranks, 3);
    assert_string_equal(t->name, "text");
    const sv_mpi_event *e = &t->ranks[2].events[0];
    assert_true(e->kind == SV_MPI_SEND && e->call == SV_CALL_SEND && e->peer == 1 && e->tag == 9 &&
                e->amount == 7 && e->group == 0);
    e = &t->ranks[1].events[0];
    assert_true(e->kind == SV_MPI_RECV && e->call == SV_CALL_RECV && e->peer == 2 && e->tag == 9);
    e = &t->ranks[0].events[0];
    assert_true(e->peer == SV_MPI_ANY && e->tag == SV_MPI_ANY);
    sv_mpi_free(t);
}

static void bad_text_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "text:1: 'num_ranks' is missing"},
        {"\n\nrank 0 {}", "text:3: 'rank' where 'num_ranks' should be"},
        {"num_ranks 0", "text:1: a schedule without ranks"},
        {"num_ranks x", "text:1: 'x' where a number of ranks should be"},
        {"num_ranks 2\nrunk 0 {}", "text:2: 'runk' where 'rank' should be"},
        {"num_ranks 2\nrank 2 {}", "text:2: '2' where a rank of those there are should be"},
        {"num_ranks 2\nrank 1 {\n}\nrank 1 {}", "text:4: the rank is there twice"},
        {"num_ranks 2\nrank 1\n{}", "text:2: '{' is missing"},
        {"num_ranks 2\nrank 1 {\n", "text:3: the end is missing: '}'"},
        {"num_ranks 2\nrank 1 {\nsend 5 to 1\n}", "text:3: 'to' where 'b' should be"},
        {"num_ranks 2\nrank 1 {\nsend 5b from 1\n}", "text:3: 'from' where 'to' should be"},
        {"num_ranks 2\nrank 1 {\nsend 5b to -1\n}", "text:3: '-1' where a rank should be"},
        {"num_ranks 2\nrank 1 {\nsend 5b to 0 tag -1\n}", "text:3: '-1' where a tag should be"},
        {"num_ranks 2\nrank 1 {\nsend xb to 1\n}",
         "text:3: 'xb' where a number of bytes should be"},
        {"num_ranks 2\nrank 1 {\nsend 5b to 1 gat 3\n}", "text:3: 'gat' where the end of the line"},
        {"num_ranks 2\nrank 1 {\ncalc\n}", "text:3: a time is missing"},
        {"num_ranks 2\nrank 1 {\na: jump 3\n}", "text:3: 'jump' where calc, send or recv should"},
        {"num_ranks 2\nrank 1 {\na : calc 1\na: calc 2\n}", "text:4: label 'a' is there twice"},
        {"num_ranks 2\nrank 1 {\na: calc 1\n\na requires b\n}", "text:5: label 'b' is not there"},
        {"num_ranks 2\nrank 1 {\na: calc 1\na needs a\n}", "text:4: 'needs' where ':', 'requires'"},
        {"num_ranks 2\nrank 1 {\na: calc 1\na requires\n}", "text:4: a label is missing"},
        {"num_ranks 2\nrank 1 {\na: calc 1\na requires a\n}",
         "text:5: rank 1 has operations that require each other"},
        {"num_ranks 2\nrank 1 {\na: calc 1\nb: calc 1\na irequires b\nb requires a\n}",
         "text:7: rank 1 has operations that require each other"},
        {"num_ranks 2\nrank 1 {\n/* calc 1\n}", "text:4: a comment has no end"},
        {"num_ranks 2\nrank 1 {\n3: calc 1\n}", "text:3: '3' where an operation, a label"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_mpi_trace *t = NULL;
        FAILS(ctx, read_text(ctx, cases[i].text, strlen(cases[i].text), &t), SV_BAD_INPUT,
              cases[i].says);
        assert_null(t);
    }
}

/* ---- round trips ---- */

static sv_mpi_replay_result replayed(sim_case *c, const sv_mpi_trace *t, uint32_t eager,
                                     uint64_t *messages)
{
    sv_mpi_replay *replay = NULL;
    sv_sim_result *result = NULL;
    const sv_mpi_replay_request request = {.model = &c->model, .eager_bytes = eager};
    OK(ctx, sv_mpi_replay_new(ctx, c->f, c->r, t, &request, &replay));
    const sv_sim_setup setup = {c->model, c->control, sv_mpi_replay_source(replay)};
    OK(ctx, sv_simulate(ctx, c->f, c->r, &setup, &result));
    sv_mpi_replay_result end = sv_mpi_replay_end(replay);
    *messages = result->messages;
    sv_sim_free(result);
    sv_mpi_replay_free(replay);
    return end;
}

static test_buffer goal_of(const sv_mpi_trace *t)
{
    test_buffer b = {0};
    sv_sink sink = test_sink(&b);
    OK(ctx, sv_mpi_write_goal(ctx, t, &sink));
    return b;
}

static void what_is_written_takes_the_same_time(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 8, SV_SPEED_QDR));
    for (uint64_t seed = 0; seed < test_times(300); seed++) {
        sv_mpi_trace *t = trace_random(ctx, seed,
                                       (trace_wish){.ranks = 1 + (uint32_t)(seed % 8),
                                                    .groups = (uint32_t)(seed % 4),
                                                    .acts = 20 + (uint32_t)(seed % 60),
                                                    .bytes = 3000,
                                                    .collectives = seed % 3 > 0,
                                                    .computes = true});
        sv_mpi_trace *u = NULL;
        test_buffer b = goal_of(t);
        OK(ctx, read_text(ctx, b.text, b.length, &u));
        OK(ctx, sv_mpi_check(ctx, u));
        for (uint32_t eager = 0; eager < 3000; eager += 1000) {
            uint64_t messages, again;
            sv_mpi_replay_result x = replayed(&c, t, eager, &messages);
            sv_mpi_replay_result y = replayed(&c, u, eager, &again);
            assert_true(x.done && y.done);
            assert_int_equal(x.time, y.time);
            assert_int_equal(messages, again);
        }
        sv_mpi_free(u);
        sv_mpi_free(t);
        free(b.text);
    }
    sim_finish(&c);
}

/* What goes on beside the rank is one sequence with it when it is read again. */
static void begun_collectives_are_written(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 8, SV_SPEED_QDR));
    uint32_t ended = 0, same = 0, warned = 0;
    sv_host host = {.log = note_warning};
    sv_ctx *telling = sv_ctx_new(&host);
    for (uint64_t seed = 0; seed < test_times(100); seed++) {
        sv_mpi_trace *t = trace_random(ctx, seed,
                                       (trace_wish){.ranks = 1 + (uint32_t)(seed % 8),
                                                    .groups = (uint32_t)(seed % 4),
                                                    .acts = 20 + (uint32_t)(seed % 60),
                                                    .bytes = 3000,
                                                    .collectives = true,
                                                    .computes = true,
                                                    .begins = true});
        sv_mpi_trace *u = NULL;
        test_buffer b = goal_of(t);
        warnings = 0;
        OK(telling, read_text(telling, b.text, b.length, &u));
        OK(ctx, sv_mpi_check(ctx, u));
        uint64_t messages, again;
        sv_mpi_replay_result x = replayed(&c, t, 0, &messages);
        sv_mpi_replay_result y = replayed(&c, u, 0, &again);
        assert_true(x.done);
        ended += y.done;
        same += y.done && x.time == y.time;
        assert_true(!y.done || messages == again);
        warned += warnings > 0;
        sv_mpi_free(u);
        sv_mpi_free(t);
        free(b.text);
    }
    print_message("%u of %u come to their end, %u at the same time; %u are warned of\n", ended,
                  test_times(100), same, warned);
    assert_true(!test_enough() ||
                (ended > test_times(80) && same > test_times(30) && warned > test_times(30)));
    sv_ctx_free(telling);
    sim_finish(&c);
}

/* A program without requests comes back event by event. */
static void sequences_come_back(void **state)
{
    (void)state;
    sv_mpi_trace *t = NULL, *u = NULL;
    OK(ctx, sv_mpi_new(ctx, "text", 2, &t));
    const sv_mpi_event events[] = {
        {.kind = SV_MPI_COMPUTE, .amount = 17},
        {.kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = 1, .tag = 5, .amount = 3},
        {.kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = SV_MPI_ANY, .tag = SV_MPI_ANY},
        {.kind = SV_MPI_COMPUTE, .amount = 0},
        {.kind = SV_MPI_SEND, .call = SV_CALL_SEND, .peer = 0, .tag = 4, .amount = 9},
        {.kind = SV_MPI_RECV, .call = SV_CALL_RECV, .peer = 0, .tag = 5, .amount = 3},
    };
    for (uint32_t i = 0; i < 6; i++)
        OK(ctx, sv_mpi_add(t, i / 4, &events[i]));
    test_buffer b = goal_of(t);
    OK(ctx, read_text(ctx, b.text, b.length, &u));
    assert_true(trace_same(t, u));
    free(b.text);
    sv_mpi_free(t);
    sv_mpi_free(u);
}

static void groups_get_tags_of_their_own(void **state)
{
    (void)state;
    sv_mpi_trace *t = NULL, *u = NULL;
    const uint32_t both[] = {1, 0};
    uint16_t group;
    OK(ctx, sv_mpi_new(ctx, "text", 2, &t));
    OK(ctx, sv_mpi_add_group(t, both, 2, 0, &group));
    const sv_mpi_event events[] = {
        {.kind = SV_MPI_SEND, .peer = 1, .tag = 5},
        {.kind = SV_MPI_SEND, .peer = 1, .tag = 5, .group = group},
        {.kind = SV_MPI_SEND, .peer = 1, .tag = 3, .group = group},
        {.kind = SV_MPI_SEND, .peer = 1, .tag = 5, .group = group},
        {.kind = SV_MPI_COLLECTIVE, .call = SV_CALL_BCAST, .peer = 0, .amount = 1},
    };
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t rank = 0; rank < 2; rank++) {
            sv_mpi_event e = events[i];
            if (e.kind == SV_MPI_SEND && rank == 1) {
                e.kind = SV_MPI_RECV;
                e.peer = 0;
            }
            OK(ctx, sv_mpi_add(t, rank, &e));
        }
    test_buffer b = goal_of(t);
    OK(ctx, read_text(ctx, b.text, b.length, &u));
    static const uint32_t tags[] = {5, 6, 7, 6, 8};
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_int_equal(u->ranks[rank].events[i].tag, tags[i]);
    free(b.text);
    sv_mpi_free(t);
    sv_mpi_free(u);
}

static void no_text_does_harm(void **state)
{
    (void)state;
    sv_mpi_trace *t = trace_random(
        ctx, 3,
        (trace_wish){.ranks = 3, .acts = 12, .bytes = 90, .collectives = true, .computes = true});
    sv_mpi_trace *u = NULL;
    test_buffer b = goal_of(t);
    char *copy = malloc(b.length);
    static const char odd[] = "\n;:{}-/*0a \t\xff";
    for (size_t i = 0; i < b.length; i++) {
        sv_status status = read_text(ctx, b.text, i, &u);
        assert_true(status == SV_OK || status == SV_BAD_INPUT);
        if (status == SV_OK)
            sv_mpi_free(u);
        for (size_t k = 0; k < sizeof odd; k++) {
            memcpy(copy, b.text, b.length);
            copy[i] = odd[k];
            status = read_text(ctx, copy, b.length, &u);
            assert_true(status == SV_OK || status == SV_BAD_INPUT);
            if (status == SV_OK)
                sv_mpi_free(u);
            else
                assert_true(strncmp(sv_ctx_message(ctx), "text:", 5) == 0);
        }
    }
    free(copy);
    free(b.text);
    sv_mpi_free(t);
}

/* ---- a real one ---- */

static void a_real_schedule_is_read(void **state)
{
    (void)state;
    const char *source = getenv("SELVAGE_SOURCE");
    char path[1000];
    struct stat about;
    snprintf(path, sizeof path, "%s/../shared/fabrics/traces/binomialtreebcast_128_1024.goal",
             source == NULL ? "." : source);
    if (stat(path, &about) != 0) {
        print_message("skipped: the real schedule is not there\n");
        skip();
    }
    sv_mpi_trace *t = NULL;
    OK(ctx, sv_mpi_load(ctx, path, &t));
    OK(ctx, sv_mpi_check(ctx, t));
    assert_int_equal(t->num_ranks, 128);
    uint64_t sends = 0, receives = 0;
    for (uint32_t rank = 0; rank < 128; rank++)
        for (uint64_t i = 0; i < t->ranks[rank].length; i++) {
            uint8_t kind = t->ranks[rank].events[i].kind;
            sends += kind == SV_MPI_SEND || kind == SV_MPI_ISEND;
            receives += kind == SV_MPI_RECV || kind == SV_MPI_IRECV;
        }
    assert_int_equal(sends, 127);
    assert_int_equal(receives, 127);
    sv_mpi_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_becomes_events),
        cmocka_unit_test(what_words_mean),
        cmocka_unit_test(bad_text_is_refused_with_its_line),
        cmocka_unit_test(what_is_written_takes_the_same_time),
        cmocka_unit_test(begun_collectives_are_written),
        cmocka_unit_test(sequences_come_back),
        cmocka_unit_test(groups_get_tags_of_their_own),
        cmocka_unit_test(no_text_does_harm),
        cmocka_unit_test(a_real_schedule_is_read),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
