/*
 * test_sim_source.c: traffic that depends on what arrives (ping-pong, a token), terminals that do
 * not count, any number of threads, and all that is refused: models that are none, messages that
 * tables do not carry.
 */
#include "support/simulating.h"
#include "support/trials.h"

#include <ctype.h>

TEST_CONTEXT

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

enum { W = 2074, SLOT = W * QDR };

/* ---- answers ---- */

/* Terminals that send on what they get. Each looks at nothing but its own. */
struct answers {
    const sim_case *c;
    uint32_t to[SIM_MAX_TERMINALS];   /* whom it sends to */
    uint32_t left[SIM_MAX_TERMINALS]; /* messages that it still sends */
    uint32_t bytes;
    uint64_t ready[SIM_MAX_TERMINALS]; /* SV_NEVER: not before something arrives */
    uint64_t got[SIM_MAX_TERMINALS], last[SIM_MAX_TERMINALS];
};

static bool answer(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct answers *a = user;
    if (a->left[terminal] == 0 || a->ready[terminal] == SV_NEVER)
        return false;
    *message =
        (sv_sim_message){a->ready[terminal], sim_destination(a->c, a->to[terminal]), a->bytes, 77};
    a->left[terminal]--;
    a->ready[terminal] = SV_NEVER;
    return true;
}

static void hear(void *user, const sv_sim_arrival *arrival)
{
    struct answers *a = user;
    assert_int_equal(arrival->tag, 77);
    assert_int_equal(arrival->bytes, a->bytes);
    assert_int_equal(arrival->injected, arrival->ready); /* nobody is in the way */
    assert_true(a->got[arrival->to] == 0 || arrival->time > a->last[arrival->to]);
    a->got[arrival->to]++;
    a->last[arrival->to] = a->ready[arrival->to] = arrival->time;
}

static struct answers *answers_new(const sim_case *c, uint32_t bytes)
{
    struct answers *a = calloc(1, sizeof *a);
    a->c = c;
    a->bytes = bytes;
    for (uint32_t t = 0; t < SIM_MAX_TERMINALS; t++)
        a->ready[t] = SV_NEVER;
    return a;
}

static const sv_sim_result *run_answers(sim_case *c, struct answers *a, bool threads)
{
    const sv_sim_source source = {.user = a, .next = answer, .arrived = hear, .threads = threads};
    const sv_sim_setup setup = {c->model, c->control, &source, NULL};
    sim_again(c);
    OK(ctx, sv_simulate(ctx, c->f, c->r, &setup, &c->result));
    return c->result;
}

/*
 * A message of k packets takes, alone, as long as one packet and (k - 1) times the slowest link's W
 * tau. Ping-pong, each answer ready at the tick at which the question arrived: n round trips take n
 * times the way there and the way back, which differ where links do.
 */
static void n_round_trips_take_n_times_as_long(void **state)
{
    (void)state;
    enum { TRIPS = 1000 };
    const sim_cable cables[] = {{SIM_HOST, 0, SV_SPEED_HDR, 4},
                                {0, 1, SV_SPEED_QDR, 4},
                                {1, SIM_HOST + 1, SV_SPEED_FDR, 4}};
    const uint64_t there[] = {HDR, QDR, FDR}, back[] = {FDR, QDR, HDR};
    for (uint32_t packets = 1; packets <= 3; packets++) {
        sim_case c = sim_begin(ctx, sim_fabric(ctx, 2, 2, cables, 3));
        struct answers *a = answers_new(&c, packets * 2048);
        a->to[0] = 1;
        a->left[0] = a->left[1] = TRIPS;
        a->ready[0] = 5;
        c.model.input = c.model.output = 66;
        const sv_sim_result *result = run_answers(&c, a, false);
        uint64_t trip = sim_alone(&c.model, W, there, 3) + sim_alone(&c.model, W, back, 3) +
                        2 * (packets - 1) * SLOT;
        assert_int_equal(result->end, SV_SIM_COMPLETED);
        assert_int_equal(result->arrived_messages, 2 * TRIPS);
        assert_int_equal(a->last[0], 5 + TRIPS * trip);
        assert_int_equal(result->time, 5 + TRIPS * trip);
        assert_int_equal(result->latency_sum, TRIPS * trip);
        free(a);
        sim_finish(&c);
    }
}

/* A token that goes round all hosts of a torus, each sending it on to the next: every step takes
 * what its way takes alone. */
static void a_token_takes_the_sum_of_its_ways(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    uint64_t tau[64], round = 0;
    sim_case c = sim_begin(ctx, test_fabric(ctx, "torus:4x3,hosts=2"));
    struct answers *a = answers_new(&c, 1000);
    uint32_t n = c.f->num_terminals;
    for (uint32_t i = 0; i < 64; i++)
        tau[i] = QDR;
    for (uint32_t t = 0; t < n; t++) {
        sv_hop_taken taken[64];
        uint32_t count;
        sv_node at;
        a->to[t] = (t + 5) % n; /* 5 and 24 have no common factor: all are on the way */
        a->left[t] = ROUNDS;
        sv_routes_trace(c.f, c.r, (sv_node){c.f->num_switches + t}, sim_destination(&c, a->to[t]),
                        0, taken, 64, &count, &at);
        round += sim_alone(&c.model, 1026, tau, count);
    }
    a->ready[0] = 0;
    assert_int_equal(run_answers(&c, a, false)->time, ROUNDS * round);
    assert_int_equal(c.result->arrived_messages, ROUNDS * n);
    free(a);
    sim_finish(&c);
}

/* ---- what goes back ---- */

/* Terminal 0 has something for terminal 1 late, and answers what comes from there at once. */
struct late {
    const sim_case *c;
    uint64_t late, answer; /* when; SV_NEVER: not, or not any more */
    uint32_t questions;    /* of terminal 1 */
    uint32_t backs;
    uint64_t arrived[2]; /* the late one, the answer: when at terminal 1 */
};

static bool late_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct late *l = user;
    uint64_t *first = l->answer < l->late ? &l->answer : &l->late;
    if (terminal == 1 && l->questions > 0) {
        l->questions--;
        *message = (sv_sim_message){.destination = sim_destination(l->c, 0), .bytes = 10};
        return true;
    }
    if (terminal != 0 || *first == SV_NEVER)
        return false;
    *message = (sv_sim_message){.ready = *first,
                                .destination = sim_destination(l->c, 1),
                                .bytes = 10,
                                .tag = first == &l->answer};
    *first = SV_NEVER;
    return true;
}

static void late_arrived(void *user, const sv_sim_arrival *arrival)
{
    struct late *l = user;
    if (arrival->to == 0)
        l->answer = arrival->time;
    else
        l->arrived[arrival->tag] = arrival->time;
}

static void late_back(void *user, uint32_t terminal, const sv_sim_message *message)
{
    struct late *l = user;
    assert_int_equal(terminal, 0);
    assert_int_equal(message->tag, 0);
    assert_true(message->ready > l->answer);
    l->late = message->ready;
    l->backs++;
}

static void answers_are_not_held_up_by_what_is_later(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    uint64_t flight = sim_alone(&c.model, 10 + c.model.header_bytes, tau, 2);
    for (uint64_t late = flight - 1; late <= flight + 1; late++) {
        struct late l = {.c = &c, .late = late, .answer = SV_NEVER, .questions = 1};
        const sv_sim_source source = {
            .user = &l, .next = late_next, .arrived = late_arrived, .back = late_back};
        const sv_sim_setup setup = {c.model, c.control, &source, NULL};
        sim_again(&c);
        OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
        assert_int_equal(c.result->arrived_messages, 3);
        assert_int_equal(l.backs, late > flight);
        /* Who is ready first has the link first. */
        uint32_t first = late > flight;
        assert_int_equal(l.arrived[first], (first ? flight : late) + flight);
        assert_true(l.arrived[!first] > l.arrived[first]);
    }
    sim_finish(&c);
}

/* ---- who counts ---- */

/* Terminals that do not count do not, but what they send to others does. */
static bool only_the_first(void *user, uint32_t terminal)
{
    (void)user;
    return terminal == 0;
}

static void terminals_may_not_count(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
    const sim_send sends[] = {{0, 1, 2048, 0}, {1, 0, 1000, 0}, {2, 0, 24, 0}, {1, 2, 99, 0}};
    const sv_sim_source source = {
        .user = &c, .next = sim_next, .arrived = sim_arrived, .counts = only_the_first};
    const sv_sim_setup setup = {c.model, c.control, &source, NULL};
    sim_run(ctx, &c, sends, 4, 5);
    sim_again(&c);
    c.arrivals = calloc(SIM_MAX, sizeof *c.arrivals);
    OK(ctx, sv_simulate(ctx, c.f, c.r, &setup, &c.result));
    assert_int_equal(c.result->end, SV_SIM_COMPLETED);
    assert_int_equal(c.result->arrived_messages, 20);
    assert_int_equal(c.num_arrivals, 20);
    assert_int_equal(c.result->payload_bytes, 5 * 1024);
    assert_int_equal(c.result->latencies, 10);
    assert_int_equal(c.result->terminals[0].received_bytes, 5 * 1024);
    sim_finish(&c);
}

/* ---- threads ---- */

static void assert_same_result(const sim_case *x, const sim_case *y)
{
    const sv_sim_result *a = x->result, *b = y->result;
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->arrived_messages, b->arrived_messages);
    assert_int_equal(a->arrived_packets, b->arrived_packets);
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_int_equal(a->latency_sum, b->latency_sum);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->num_stuck, b->num_stuck);
    assert_memory_equal(a->latency, b->latency, SV_SIM_BINS * sizeof *a->latency);
    assert_memory_equal(a->terminals, b->terminals, x->f->num_terminals * sizeof *a->terminals);
    assert_memory_equal(a->channels, b->channels, x->f->num_channels * sizeof *a->channels);
    for (uint32_t i = 0; i < a->rows * x->f->num_switches; i++) {
        assert_int_equal(a->timeline[i].packets, b->timeline[i].packets);
        assert_int_equal(a->timeline[i].bytes, b->timeline[i].bytes);
        assert_int_equal(a->timeline[i].waited, b->timeline[i].waited);
    }
}

/* The same numbers whatever the threads, and however it ends. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *engine;
        sv_sim_control control;
        sv_sim_end end;
    } runs[] = {
        {"torus:4x4x3,hosts=4",
         "dfsssp",
         {SV_NEVER, 0, 100ULL * SLOT, 500ULL * SLOT, 0, 0, 50ULL * SLOT, false},
         SV_SIM_STEADY},
        {"torus:4x4x3,hosts=4", "updn", {300ULL * SLOT + 12345}, SV_SIM_LIMIT},
        {"torus:4x4x3,hosts=4",
         "dfsssp",
         {.limit = SV_NEVER, .steady = 20ULL * SLOT, .precision = 0.05},
         SV_SIM_STEADY},
        {"torus:5x5,hosts=4", "sssp", {SV_NEVER}, SV_SIM_DEADLOCK},
    };
    for (uint32_t i = 0; i < LENGTH(runs); i += test_enough() ? 1 : 3) {
        sim_case c[4];
        for (unsigned k = 0; k < 4; k++) {
            c[k] = sim_begin(ctx, test_fabric(ctx, runs[i].spec));
            sim_uniform *u = sim_uniform_new(&c[k], 5);
            const sv_sim_source source = {.user = u, .next = sim_uniform_next, .threads = k > 0};
            sv_routes_free(c[k].r);
            c[k].r = test_routed(ctx, c[k].f, runs[i].engine, 0);
            c[k].model.inband_bytes = i % 2 == 0 ? 8 : 0;
            c[k].model.cable = 77400; /* threads need some time between switches */
            c[k].model.credit = 36000;
            c[k].model.input = 70;
            c[k].model.voq = true;
            const sv_sim_setup setup = {c[k].model, runs[i].control, &source, NULL};
            sv_ctx_set_threads(ctx, k == 0 ? 1 : k);
            OK(ctx, sv_simulate(ctx, c[k].f, c[k].r, &setup, &c[k].result));
            assert_int_equal(c[k].result->end, runs[i].end);
            assert_true(c[k].result->payload_bytes > 0);
            assert_same_result(&c[0], &c[k]);
            free(u);
        }
        for (unsigned k = 0; k < 4; k++)
            sim_finish(&c[k]);
    }
    sv_ctx_set_threads(ctx, 0);
}

/* Ping-pong of all pairs of neighbours at once, each on a switch of their own. */
static void answers_come_with_threads_too(void **state)
{
    (void)state;
    const uint64_t tau[] = {QDR, QDR};
    for (unsigned threads = 1; threads <= 3; threads++) {
        sim_case c = sim_begin(ctx, test_fabric(ctx, "mesh:4x4,hosts=2"));
        struct answers *a = answers_new(&c, 2048);
        c.model.cable = 77400;
        c.model.credit = 36000;
        for (uint32_t t = 0; t < 32; t++) {
            a->to[t] = t ^ 1;
            a->left[t] = 200;
            if (t % 2 == 0)
                a->ready[t] = 1000 * t;
        }
        sv_ctx_set_threads(ctx, threads);
        run_answers(&c, a, true);
        assert_int_equal(c.result->end, SV_SIM_COMPLETED);
        for (uint32_t t = 0; t < 32; t += 2)
            assert_int_equal(a->last[t], 1000 * t + 400 * sim_alone(&c.model, W, tau, 2));
        free(a);
        sim_finish(&c);
    }
    sv_ctx_set_threads(ctx, 0);
}

/* ---- what is refused ---- */

/* With the right status, one line in lower case without a full stop, and no result. */
static void refuse(sim_case *c, const char *what, sv_status wanted)
{
    sv_status status = sim_try(ctx, c);
    const char *message = sv_ctx_message(ctx);
    if (status != wanted)
        fail_msg("%s: \"%s\" (%s), should be \"%s\"", what, sv_status_name(status),
                 status == SV_OK ? "" : message, sv_status_name(wanted));
    assert_null(c->result);
    /* "MTU" may begin a line, "Mtu" may not. */
    assert_true(message[0] != 0 &&
                (!isupper((unsigned char)message[0]) || isupper((unsigned char)message[1])));
    assert_null(strchr(message, '\n'));
    assert_true(message[strlen(message) - 1] != '.');
}

#define REFUSED(field, value, wanted)                                                              \
    do {                                                                                           \
        c.model = sim_model();                                                                     \
        c.model.field = (value);                                                                   \
        refuse(&c, #field " = " #value, (wanted));                                                 \
    } while (0)

static void models_that_are_none(void **state)
{
    (void)state;
    const sim_send send = {0, 1, 2048, 0};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    sim_run(ctx, &c, &send, 1, 1); /* is fine as it is */
    REFUSED(mtu_bytes, 0, SV_BAD_INPUT);
    REFUSED(vls, 0, SV_BAD_INPUT);
    REFUSED(ways, 0, SV_BAD_INPUT);
    REFUSED(speedup, 0, SV_BAD_INPUT);
    REFUSED(speedup, 99, SV_BAD_INPUT);
    REFUSED(open, 0, SV_BAD_INPUT);
    REFUSED(credit, 0, SV_BAD_INPUT);
    REFUSED(drain, 0, SV_BAD_INPUT);
    REFUSED(header_bytes, 0, SV_BAD_INPUT);
    REFUSED(pause, 1, SV_BAD_INPUT); /* of a period of 0 */
    REFUSED(input, 32, SV_INFEASIBLE);
    REFUSED(output, 32, SV_INFEASIBLE);
    REFUSED(input, 0, SV_INFEASIBLE);
    REFUSED(output, 0, SV_INFEASIBLE);
    c.model = sim_model();
    c.model.pause = c.model.period = 1000;
    refuse(&c, "a pause as long as its period", SV_BAD_INPUT);
    c.model.pause = 1001;
    refuse(&c, "a pause longer than its period", SV_BAD_INPUT);
    c.model.pause = 999;
    c.model.input = c.model.output = 33; /* room for just one */
    OK(ctx, sim_try(ctx, &c));
    sim_finish(&c);
}

/* A message that tables do not carry, whatever comes before it. */
static void messages_that_tables_do_not_carry(void **state)
{
    (void)state;
    const sim_send send = {0, 3, 2048, 0};
    for (int i = 0; i < 9; i++) {
        sim_case c =
            sim_begin(ctx, test_fabric(ctx, "mesh:1x3,hosts=2,radix=9")); /* 0 1, 2 3, 4 5 */
        uint32_t to = sim_destination(&c, 3);
        uint8_t *row = sv_routes_row(ctx, c.r, to);
        static const uint8_t none[6] = {0};
        const char *what = "?";
        sim_vls_by_receiver(ctx, &c, none);
        c.sends = &send;
        c.count = 1;
        OK(ctx, sim_try(ctx, &c));
        assert_int_equal(c.result->end, SV_SIM_COMPLETED);
        switch (i) {
        case 0:
            what = "no entry at the first switch";
            row[0] = SV_NO_PORT;
            break;
        case 1:
            what = "no entry at the second";
            row[1] = SV_NO_PORT;
            break;
        case 2:
            what = "another terminal";
            row[1] = row[1] == 1 ? 2 : 1;
            break;
        case 3:
            what = "a port without a cable";
            row[1] = 9;
            break;
        case 4:
            what = "an SL that is not known";
            sv_routes_sl_row(ctx, c.r, to)[c.f->num_switches] = SV_NO_SL;
            break;
        case 5:
            what = "a VL beyond those there are";
            sv_routes_sl_row(ctx, c.r, to)[c.f->num_switches] = 3;
            c.model.vls = 3;
            break;
        case 6:
            what = "an SL that is discarded";
            c.r->vl_tables[c.r->vls_of[1]].of_sl[0] = SV_NO_VL;
            break;
        default:
            what = "nobody told SLs";
            OK(ctx, sv_routes_set_sl_form(ctx, c.r, SV_SL_UNKNOWN));
        }
        refuse(&c, what, SV_BAD_INPUT);
        sim_finish(&c);
    }
}

/* Nor do they where they send it round in circles. */
static void tables_with_a_loop(void **state)
{
    (void)state;
    const sim_send send = {0, 3, 2048, 0};
    sim_case c = sim_begin(ctx, test_fabric(ctx, "mesh:1x3,hosts=2"));
    uint8_t *row = sv_routes_row(ctx, c.r, sim_destination(&c, 3));
    sv_channel there = sv_channel_at(c.f, (sv_node){0}, row[0]);
    row[1] = (uint8_t)c.f->port[c.f->reverse[there.i].i];
    c.sends = &send;
    c.count = 1;
    c.control.limit = 1ULL << 32; /* should it go round until then */
    refuse(&c, "a loop", SV_BAD_INPUT);
    sim_finish(&c);
}

/* A source that goes wrong with its second message, a long time after the first. */
struct wrong {
    sv_sim_message messages[2];
    uint32_t count;
};

static bool go_wrong(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct wrong *w = user;
    if (terminal != 0 || w->count == 2)
        return false;
    *message = w->messages[w->count++];
    return true;
}

static void destinations_that_are_none(void **state)
{
    (void)state;
    sim_case c = sim_begin(ctx, sim_star(ctx, 3, SV_SPEED_QDR));
    const uint64_t late = 1ULL << 33;
    const sv_sim_message good = {1000, sim_destination(&c, 1), 2048, 0};
    const struct {
        const char *what;
        sv_sim_message message;
    } bad[] = {{"itself", {late, sim_destination(&c, 0), 8, 0}},
               {"a switch", {late, c.r->first[0], 8, 0}},
               {"beyond the last", {late, c.r->num_destinations, 8, 0}},
               {"far beyond", {late, SV_NONE, 8, 0}},
               {"ready before the one before", {999, sim_destination(&c, 1), 8, 0}}};
    for (uint32_t i = 0; i < 2 * LENGTH(bad); i++) {
        struct wrong w = {{good, bad[i / 2].message}, 0};
        const sv_sim_source source = {.user = &w, .next = go_wrong};
        const sv_sim_setup setup = {c.model, c.control, &source, NULL};
        if (i % 2 == 1 && i / 2 < 4) { /* the first message already */
            w.messages[0] = bad[i / 2].message;
            w.messages[0].ready = 0;
        }
        if (sv_simulate(ctx, c.f, c.r, &setup, &c.result) != SV_BAD_INPUT)
            fail_msg("%s is not refused", bad[i / 2].what);
        assert_null(c.result);
    }
    sim_finish(&c);
}

/* Rule 16: with weights, a VL in use must have one. */
static void vls_without_weight(void **state)
{
    (void)state;
    static const uint8_t vl_of[] = {0, 1};
    const sim_send sends[] = {{0, 1, 2048, 0}, {1, 0, 2048, 0}};
    sim_case c = sim_begin(ctx, sim_star(ctx, 2, SV_SPEED_QDR));
    sim_vls_by_sender(ctx, &c, vl_of);
    c.model.weighted = true;
    c.model.vls = 2;
    c.sends = sends;
    c.count = 2;
    for (int who = SV_VLARB_CA; who <= SV_VLARB_SWE; who++) {
        sv_vlarb *v = &c.r->vlarb[who];
        *v = (sv_vlarb){.given = true, .high = {1, {0}, {3}}, .low = {1, {1}, {0}}};
        refuse(&c, "a weight of 0", SV_BAD_INPUT);
        v->low = (sv_vlarb_table){0};
        refuse(&c, "no weight", SV_BAD_INPUT);
        v->low = (sv_vlarb_table){1, {1}, {1}};
        OK(ctx, sim_try(ctx, &c));
        v->low = (sv_vlarb_table){0};
        v->given = false;
        OK(ctx, sim_try(ctx, &c));
    }
    sim_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(n_round_trips_take_n_times_as_long),
        cmocka_unit_test(a_token_takes_the_sum_of_its_ways),
        cmocka_unit_test(answers_are_not_held_up_by_what_is_later),
        cmocka_unit_test(terminals_may_not_count),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(answers_come_with_threads_too),
        cmocka_unit_test(models_that_are_none),
        cmocka_unit_test(messages_that_tables_do_not_carry),
        cmocka_unit_test(tables_with_a_loop),
        cmocka_unit_test(destinations_that_are_none),
        cmocka_unit_test(vls_without_weight),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
