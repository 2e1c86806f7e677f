/*
 * test_traffic_file.c: files of messages: what lines mean, what is refused with its line, and that
 * no bytes do any harm.
 */
#include "unit/traffic_bed.h"

#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "support/trials.h"

TEST_CONTEXT

/* A host with two ports, names with blanks, two of one name, two hosts back to back. */
static const char *const net =
    "Switch 8 \"S-1\" # \"sw\"\n[1] \"H-1\"[1]\n[2] \"H-2\"[1]\n[3] \"H-2\"[2]\n[4] \"H-3\"[1]\n"
    "[5] \"H-4\"[1]\n[6] \"H-5\"[1]\n\n"
    "Ca 1 \"H-1\" # \"node1 HCA-1\"\n[1] \"S-1\"[1]\n\n"
    "Ca 2 \"H-2\" # \"node2\"\n[1] \"S-1\"[2]\n[2] \"S-1\"[3]\n\n"
    "Ca 1 \"H-3\" # \"node3\"\n[1] \"S-1\"[4]\n\n"
    "Ca 1 \"H-4\" # \"twin\"\n[1] \"S-1\"[5]\n\nCa 1 \"H-5\" # \"twin\"\n[1] \"S-1\"[6]\n\n"
    "Ca 1 \"H-6\" # \"here\"\n[1] \"H-7\"[1]\n\nCa 1 \"H-7\" # \"there\"\n[1] \"H-6\"[1]\n";

static struct bed bed_here(void)
{
    struct bed bed = {.f = test_read(ctx, net)};
    OK(ctx, sv_routes_new(ctx, bed.f, 1, &bed.r));
    return bed;
}

static sv_status read_bytes(sv_ctx *own, const struct bed *bed, const char *text, size_t length,
                            sv_sim_traffic **t)
{
    sv_memory memory = {text, length};
    sv_source source = sv_memory_source(&memory, "messages");
    sv_sim_traffic_request request = {.spec = "file", .model = &model, .file = &source};
    return sv_sim_traffic_new(own, bed->f, bed->r, &request, t);
}

static uint32_t host(const struct bed *bed, const char *name)
{
    sv_node v;
    sv_index *index = sv_index_new(ctx, bed->f);
    OK(ctx, sv_index_find(ctx, index, name, &v));
    sv_index_free(index);
    return v.i - bed->f->num_switches;
}

static const char *const lines = "# messages\n\n"
                                 "10.5 node1 node2/1 100\n"
                                 "\t5 node1 node3 200 7 # earlier\r\n"
                                 "10.5 \"node1 HCA-1\" node2/2 0 4294967295\n"
                                 "0.000000001 @0 @3 4294967295\n"
                                 "999999999999999.999999999 node3 node1 1#no comment? no: a word\n";

static void lines_are_messages(void **state)
{
    (void)state;
    struct bed bed = bed_here();
    const struct {
        uint64_t ready;
        const char *to;
        uint32_t bytes, tag;
    } wanted[] = {{0, "node3", 4294967295u, 0},
                  {9000, "node3", 200, 7},
                  {18900, "node2/1", 100, 0},
                  {18900, "node2/2", 0, 4294967295u}};
    char *text = strdup(lines), *last = strstr(text, "999999");
    FAILS(ctx, read_bytes(ctx, &bed, text, strlen(text), &bed.t), SV_BAD_INPUT,
          "messages:7: the number of bytes '1#no' is not a number up to 4294967295");
    strcpy(strchr(last, '#'), " #\n");
    OK(ctx, read_bytes(ctx, &bed, text, strlen(text), &bed.t));
    bed.source = sv_sim_traffic_source(bed.t);
    assert_int_equal(bed.source->messages, 5);
    assert_false(sv_sim_traffic_endless(bed.t));
    assert_null(bed.source->arrived);
    sv_sim_message message;
    for (int i = 0; i < 4; i++) {
        assert_true(next(&bed, host(&bed, "node1"), &message));
        assert_int_equal(message.ready, wanted[i].ready);
        assert_int_equal(terminal_of(&bed, message.destination), host(&bed, wanted[i].to));
        assert_int_equal(message.bytes, wanted[i].bytes);
        assert_int_equal(message.tag, wanted[i].tag);
    }
    assert_false(next(&bed, host(&bed, "node1"), &message));
    assert_true(next(&bed, host(&bed, "node3"), &message));
    assert_int_equal(message.ready, UINT64_C(999999999999999) * 1800 + 1799);
    for (uint32_t t = 0; t < bed.f->num_terminals; t++)
        assert_false(next(&bed, t, &message));
    free(text);
    release(&bed);
}

static void a_path_is_the_rest_of_the_spec(void **state)
{
    (void)state;
    struct bed bed = bed_here();
    char path[] = "/tmp/selvage-a,b=c-XXXXXX", spec[64];
    int file = mkstemp(path);
    const char *text = "1 node1 node3 5\n";
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    snprintf(spec, sizeof spec, "file:%s", path);
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = spec});
    assert_int_equal(bed.source->messages, 1);
    assert_int_equal(next_to(&bed, host(&bed, "node1")), host(&bed, "node3"));
    unlink(path);
    sv_sim_traffic *t = NULL;
    sv_sim_traffic_request request = {.spec = spec, .model = &model};
    FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_IO, path);
    assert_null(t);
    release(&bed);
}

static void bad_lines_are_refused_with_their_number(void **state)
{
    (void)state;
    struct bed bed = bed_here();
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "messages:1: no message in it"},
        {"# nothing\n\n", "messages:2: no message in it"},
        {"\nx node1 node3 1\n", "messages:2: time 'x' is not nanoseconds"},
        {"-1 node1 node3 1\n", "messages:1: time '-1' is not nanoseconds"},
        {"1. node1 node3 1\n", "time '1.' is not nanoseconds"},
        {"1us node1 node3 1\n", "time '1us' is not nanoseconds"},
        {"0.0000000001 node1 node3 1\n", "is not nanoseconds"},
        {"1000000000000001 node1 node3 1\n", "is not nanoseconds"},
        {"1\n", "messages:1: the sender is missing"},
        {"1 # node1\n", "the sender is missing"},
        {"1 node1\n", "the receiver is missing"},
        {"1 node1 node3\n", "the number of bytes is missing"},
        {"1 node1 node3 x\n", "the number of bytes 'x' is not a number"},
        {"1 node1 node3 4294967296\n", "is not a number up to 4294967295"},
        {"1 node1 node3 1 y\n", "the tag 'y' is not a number"},
        {"1 node1 node3 1 2 3\n", "messages:1: '3' is too much"},
        {"1 node1 node3 1 2\n1 node1 node1 1\n", "messages:2: the sender is the receiver"},
        {"1 \"node1 node3 1\n", "a quote is not closed"},
        {"1 \"\" node3 1\n", "an empty name"},
        {"1 node9 node3 1\n", "messages:1: no node is called 'node9'"},
        {"1 twin node3 1\n",
         "messages:1: more than one node is called 'twin': give GUID, LID or port of one: "},
        {"1 node2 node3 1\n", "messages:1: more than one node is called 'node2'"},
        {"1 sw node3 1\n", "messages:1: 'sw' is a switch"},
        {"1 here there 1\n", "messages:1: 'here' is not on a switch"},
        {"1 @6 node3 1\n", "messages:1: '@6' is no rank: there are @0 … @5"},
        {"1 @ node3 1\n", "'@' is no rank"},
        {"1 @0x node3 1\n", "'@0x' is no rank"},
        {"1 \"@0\" node3 1\n", "no node is called '@0'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_sim_traffic *t = NULL;
        FAILS(ctx, read_bytes(ctx, &bed, cases[i].text, strlen(cases[i].text), &t), SV_BAD_INPUT,
              cases[i].message);
        assert_null(t);
    }
    sv_sim_traffic *t = NULL;
    FAILS(ctx, read_bytes(ctx, &bed, "1 node1\0node3 1\n", 16, &t), SV_BAD_INPUT,
          "messages:1: zero byte");
    release(&bed);
}

/* ---- whatever comes ---- */

/* Some bytes changed, taken out, put in, or a piece of it twice. */
static size_t spoil(sv_rng *rng, char *text, size_t length, size_t room)
{
    static const char often[] = "\n\t \"@#.0123456789-node\\\r";
    for (uint64_t n = 1 + sv_rng_below(rng, 3); n > 0; n--) {
        size_t at = (size_t)sv_rng_below(rng, length + 1), left = length - at;
        char byte = sv_rng_below(rng, 3) == 0 ? (char)sv_rng_next(rng)
                                              : often[sv_rng_below(rng, sizeof often - 1)];
        size_t piece = (size_t)sv_rng_below(rng, left + 1);
        switch (sv_rng_below(rng, 4)) {
        case 0:
            if (left > 0)
                text[at] = byte;
            break;
        case 1:
            memmove(text + at, text + at + piece, left - piece);
            length -= piece;
            break;
        case 2:
            if (length < room) {
                memmove(text + at + 1, text + at, left);
                text[at] = byte;
                length++;
            }
            break;
        default:
            if (length + piece <= room) {
                memmove(text + at + piece, text + at, left);
                length += piece;
            }
        }
    }
    return length;
}

/* Everything that was read can be asked for, in order, and is for somebody else on a switch. */
static void drain(const struct bed *bed)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < bed->f->num_terminals; t++) {
        sv_sim_message message;
        uint64_t last = 0;
        for (; next(bed, t, &message); last = message.ready, count++) {
            assert_true(message.ready >= last);
            uint32_t to = terminal_of(bed, message.destination);
            sv_node v = {bed->f->num_switches + to};
            assert_true(to != t && sv_switch_of(bed->f, v).i != SV_NONE);
        }
    }
    assert_int_equal(count, bed->source->messages);
}

static void any_bytes_are_read_or_refused(void **state)
{
    (void)state;
    struct bed bed = bed_here();
    static const char *const start = "0 node1 node3 10\n10.25 @1 \"node1 HCA-1\" 65536 3 # so\n"
                                     "7 node2/1 @0 1\n\n1000 node3 node2/2 2\n3 node1 node3 10\n";
    sv_rng rng;
    uint32_t good = 0, bad = 0;
    sv_rng_init(&rng, 1);
    for (uint32_t trial = 0; trial < test_times(60000); trial++) {
        size_t length = strlen(start), room = 4 * length;
        char *text = malloc(room); /* of its own, so that sanitizers see its end */
        assert_non_null(text);
        memcpy(text, start, length);
        if (trial > 0)
            length = spoil(&rng, text, length, room);
        char *exact = malloc(length + 1);
        assert_non_null(exact);
        memcpy(exact, text, length);
        sv_status status = read_bytes(ctx, &bed, exact, length, &bed.t);
        if (status == SV_OK) {
            bed.source = sv_sim_traffic_source(bed.t);
            drain(&bed);
            good++;
        } else {
            const char *message = sv_ctx_message(ctx);
            assert_int_equal(status, SV_BAD_INPUT);
            assert_int_equal(strncmp(message, "messages:", 9), 0);
            assert_null(strchr(message, '\n'));
            assert_null(bed.t);
            bad++;
        }
        sv_sim_traffic_free(bed.t);
        bed.t = NULL;
        free(exact);
        free(text);
    }
    print_message("%u read, %u refused\n", good, bad);
    assert_true(good > test_times(3000) && bad > test_times(3000));
    release(&bed);
}

static sv_status read_again(sv_ctx *own, void *arg)
{
    const struct bed *bed = arg;
    sv_sim_traffic *t = NULL;
    char text[40 * 200] = "";
    size_t length = 0;
    for (int i = 0; i < 200; i++)
        length += (size_t)snprintf(text + length, 40, "%d node1 node3 5\n", i);
    sv_status status = read_bytes(own, bed, text, length, &t);
    assert_true((status == SV_OK) == (t != NULL));
    sv_sim_traffic_free(t);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct bed bed = bed_here();
    test_out_of_memory("messages", read_again, &bed);
    release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_messages),
        cmocka_unit_test(a_path_is_the_rest_of_the_spec),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(any_bytes_are_read_or_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
