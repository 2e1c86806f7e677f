/*
 * test_traffic_bursts.c: bursts with one pattern after the other, hot spots inside a mesh, loads as
 * rates, and some ranks only.
 */
#include <math.h>

#include "unit/traffic_bed.h"

TEST_CONTEXT

enum { US = 1000 * SV_TICKS_PER_NS };

/* ---- patterns that change ---- */

/* Partners among 64 ranks, worked out in another way than src/simulate does. */
static uint32_t partner(int pattern, uint32_t rank)
{
    uint32_t to = 0;
    switch (pattern) {
    case 0:
        for (int i = 0; i < 6; i++)
            to += (rank >> i) % 2 * (32u >> i);
        return to;
    case 1:
        return rank * 2 % 64 + rank / 32;
    default:
        return rank % 8 * 8 + rank / 8;
    }
}

static void each_burst_has_its_pattern(void **state)
{
    (void)state;
    const uint64_t on = 10 * US, cycle = 30 * US;
    struct bed bed = bed_of(ctx, 64);
    ask(ctx, &bed,
        (sv_sim_traffic_request){
            .spec = "changing:patterns=bitreverse+shuffle+transpose,on=10us,off=20us,bursts=9",
            .load = 0.5});
    assert_false(sv_sim_traffic_endless(bed.t));
    assert_int_equal(bed.source->messages, 0);
    for (uint32_t rank = 0; rank < 64; rank++) {
        uint32_t seen[9] = {0};
        sv_sim_message message;
        while (next(&bed, rank, &message)) {
            uint64_t burst = message.ready / cycle;
            assert_true(burst < 9 && message.ready % cycle < on);
            assert_int_equal(terminal_of(&bed, message.destination),
                             partner((int)(burst % 3), rank));
            seen[burst]++;
        }
        for (int burst = 0; burst < 9; burst++) {
            bool idle = partner(burst % 3, rank) == rank;
            assert_true(idle ? seen[burst] == 0 : seen[burst] > 0); /* 5.4 are to be expected */
        }
        assert_false(next(&bed, rank, &message));
    }
    release(&bed);
}

static void patterns_may_come_at_random(void **state)
{
    (void)state;
    enum { BURSTS = 300 };
    struct bed bed = bed_of(ctx, 64);
    int which[BURSTS], counts[2] = {0};
    char text[] = "changing:patterns=shuffle+transpose,turns=random,on=20us,bursts=300";
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = text, .seed = 7});
    for (int i = 0; i < BURSTS; i++)
        which[i] = -1;
    for (uint32_t rank = 1; rank < 5; rank++) {
        sv_sim_message message;
        while (next(&bed, rank, &message)) {
            uint64_t burst = message.ready / (40 * US);
            uint32_t to = terminal_of(&bed, message.destination);
            int now = to == partner(1, rank) ? 0 : 1;
            assert_int_equal(to, partner(now + 1, rank));
            assert_true(which[burst] < 0 || which[burst] == now);
            which[burst] = now;
        }
    }
    for (int i = 0; i < BURSTS; i++)
        counts[which[i]]++;
    assert_true(counts[0] > 110 && counts[1] > 110);
    release(&bed);
}

/* As with one pattern: uniform between bursts, at the rest's load. */
static void between_bursts_is_rest(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 64);
    sv_sim_message message;
    uint32_t burst = 0, between = 0, strange = 0;
    ask(ctx, &bed,
        (sv_sim_traffic_request){
            .spec = "changing:patterns=uniform+transpose,on=100us,rest=0.1,bursts=200",
            .load = 0.4});
    while (next(&bed, 9 + 1, &message)) {
        bool on = message.ready % (200 * US) < 100 * US;
        bool swap = message.ready / (200 * US) % 2 == 1;
        uint32_t to = terminal_of(&bed, message.destination);
        burst += on;
        between += !on;
        strange += on && swap && to != partner(2, 10);
        assert_int_not_equal(to, 10);
    }
    const double each = 100.0 * US / (2074 * 450);
    assert_true(fabs(burst / (200 * each * 0.4) - 1) < 0.03);
    assert_true(fabs(between / (199 * each * 0.1) - 1) < 0.05);
    assert_int_equal(strange, 0);
    release(&bed);
}

/* A pattern that goes on between bursts, at another load. */
static void rest_may_be_the_same(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 64);
    sv_sim_message message;
    uint32_t between = 0;
    ask(ctx, &bed,
        (sv_sim_traffic_request){.spec = "transpose:on=100us,rest=0.1,resting=same,bursts=200",
                                 .load = 0.4});
    while (next(&bed, 10, &message)) {
        between += message.ready % (200 * US) >= 100 * US;
        assert_int_equal(terminal_of(&bed, message.destination), partner(2, 10));
    }
    assert_true(fabs(between / (199 * 100.0 * US / (2074 * 450) * 0.1) - 1) < 0.05);
    release(&bed);
}

/* ---- rates and ranks ---- */

static void a_rate_is_of_payload(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 8);
    uint64_t bytes = 0;
    sv_sim_message message = {0};
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "shift:rate=400Mbps", .bytes = 1024});
    for (int k = 0; k < 40000; k++) {
        assert_true(next(&bed, 3, &message));
        bytes += message.bytes;
    }
    double seconds = (double)message.ready / (SV_TICKS_PER_NS * 1e9);
    assert_true(fabs((double)bytes * 8 / seconds / 400e6 - 1) < 0.02);
    ask(ctx, &bed,
        (sv_sim_traffic_request){.spec = "shift:rate=2.5Gbps,arrivals=regular", .load = 0.1});
    uint64_t last = 0;
    for (int k = 0; k < 5; k++, last = message.ready) {
        assert_true(next(&bed, 3, &message));
        assert_true(k == 0 || fabs((double)(message.ready - last) / SV_TICKS_PER_NS -
                                   2048 * 8 / 2.5) < 0.001); /* bits by bits a nanosecond */
    }
    release(&bed);
}

static void some_ranks_take_part(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 64);
    const char *const specs[] = {"shift:ranks=16", "shift:ranks=16,place=spread",
                                 "ring:ranks=16,place=random,rounds=1"};
    for (int i = 0; i < 3; i++) {
        ask(ctx, &bed, (sv_sim_traffic_request){.spec = specs[i], .seed = 3});
        uint32_t taking = 0, low = 0, before = SV_NONE;
        for (uint32_t t = 0; t < 64; t++) {
            uint32_t to = next_to(&bed, t);
            if (to == SV_NONE)
                continue;
            assert_true(i != 0 || (t < 16 && to == (t + 1) % 16));
            assert_true(i != 1 || (t % 4 == 3 && to == (t + 4) % 64));
            assert_true(i != 2 || before == SV_NONE || before < t);
            taking++;
            low += t < 16;
            before = t;
        }
        assert_int_equal(taking, 16);
        assert_true(i != 2 || low < 12);
    }
    release(&bed);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"shift:rate=400", "rate=400 is not a rate (400Mbps, say)"},
        {"shift:rate=0Mbps", "is not a rate"},
        {"shift:rate=1Gbps,load=0.5", "load and rate exclude each other"},
        {"shift:rate=33Gbps", "rank 0 has a link that is slower than rate"},
        {"shift:rate=1Gbps,bytes=0", "messages of 0 bytes have none"},
        {"shift:ranks=1", "ranks"},
        {"shift:ranks=65", "ranks"},
        {"shift:place=spread", "ranks is missing"},
        {"shift:bursts=3", "on is missing"},
        {"shift:on=1us,resting=same", "rest is missing"},
        {"changing:patterns=shuffle+ring", "'ring' cannot be the pattern of a burst"},
        {"changing:patterns=changing", "'changing' cannot be the pattern of a burst"},
        {"changing:patterns=hotspot", "'hotspot' cannot be the pattern of a burst"},
        {"changing:patterns=shuffle+", "'' is no pattern"},
        {"changing:patterns=shuffle+by", "'by' is no pattern"},
        {"meshspot:which=4", "which"},
        {"meshspot:ranks=63", "63 ranks are no mesh of 8 by 8"}};
    struct bed bed = bed_of(ctx, 64);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sv_sim_traffic *t = NULL;
        sv_sim_traffic_request request = {.spec = wrong[i][0], .model = &model};
        FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT, wrong[i][1]);
        assert_null(t);
    }
    release(&bed);
}

/* ---- hot spots in a mesh ---- */

enum { MAX = 20 };

struct mesh {
    struct bed bed;
    sv_routes *r;
    uint32_t from[MAX], to[MAX], count;
    sv_channel way[MAX][MAX];
    uint32_t length[MAX];
};

/* The channels between switches of a way by the tables. */
static uint32_t trace(const struct mesh *m, sv_node from, sv_node to, sv_channel *way)
{
    sv_hop_taken all[MAX];
    uint32_t count = 0, between = 0;
    sv_node at;
    assert_int_equal(
        sv_routes_trace(m->bed.f, m->r, from, m->r->first[to.i], 0, all, MAX, &count, &at),
        SV_TRACE_ARRIVED);
    for (uint32_t i = 0; i < count; i++)
        if (sv_joins_switches(m->bed.f, all[i].channel))
            way[between++] = all[i].channel;
    return between;
}

static bool uses(const sv_channel *way, uint32_t length, sv_channel c)
{
    for (uint32_t i = 0; i < length; i++)
        if (way[i].i == c.i)
            return true;
    return false;
}

static uint32_t shared(const sv_channel *a, uint32_t na, const sv_channel *b, uint32_t nb)
{
    uint32_t both = 0;
    for (uint32_t i = 0; i < na; i++)
        both += uses(b, nb, a[i]);
    return both;
}

/* How many flows use the busiest channel, of those that a flow uses (SV_NONE: any). */
static uint32_t crowd(const struct mesh *m, uint32_t of, sv_channel *where)
{
    uint32_t max = 0;
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t i = 0; i < m->length[a]; i++) {
            uint32_t users = 0;
            for (uint32_t b = 0; b < m->count; b++)
                users += uses(m->way[b], m->length[b], m->way[a][i]);
            if ((of == SV_NONE || of == a) && users > max) {
                max = users;
                *where = m->way[a][i];
            }
        }
    return max;
}

/* Flows are those who send to one rank only. Their ends must all differ. */
static void mesh_of(struct mesh *m, int which)
{
    char spec[40];
    *m = (struct mesh){.bed = bed_on(ctx, "mesh:8x8")};
    OK(ctx, sv_route(ctx, m->bed.f, "dor", NULL, &m->r, NULL));
    snprintf(spec, sizeof spec, "meshspot:which=%d", which);
    ask(ctx, &m->bed, (sv_sim_traffic_request){.spec = spec});
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t to = next_to(&m->bed, t);
        if (to == SV_NONE)
            continue;
        for (uint32_t i = 0; i < m->count; i++)
            assert_true(m->from[i] != to && m->to[i] != to && m->to[i] != t);
        m->from[m->count] = t;
        m->to[m->count] = to;
        m->length[m->count] = trace(m, (sv_node){64 + t}, (sv_node){64 + to}, m->way[m->count]);
        m->count++;
    }
}

static void leave(struct mesh *m)
{
    sv_routes_free(m->r);
    release(&m->bed);
}

static void one_spot_and_a_bystander(void **state)
{
    (void)state;
    struct mesh m;
    mesh_of(&m, 1);
    assert_int_equal(m.count, 6);
    sv_channel spot;
    assert_int_equal(crowd(&m, SV_NONE, &spot), 5);
    uint32_t alone = 0;
    for (uint32_t i = 0; i < m.count; i++)
        if (!uses(m.way[i], m.length[i], spot))
            alone = i;
    for (uint32_t i = 0; i < m.count; i++) {
        if (i == alone)
            continue;
        assert_int_equal(shared(m.way[i], m.length[i], m.way[alone], m.length[alone]), 0);
        /* by way of the next switch of the line beside, where the bystander is */
        sv_channel rest[MAX];
        sv_node via = {m.from[i] + 1};
        uint32_t length = trace(&m, via, (sv_node){64 + m.to[i]}, rest);
        assert_false(uses(rest, length, spot));
        assert_true(shared(rest, length, m.way[alone], m.length[alone]) > 0);
    }
    leave(&m);
}

/* At 600 Mbps a flow and 2 Gbps a link: more than two links' worth. */
static void one_spot_for_several_paths(void **state)
{
    (void)state;
    struct mesh m;
    sv_channel spot;
    mesh_of(&m, 2);
    assert_int_equal(m.count, 7);
    assert_int_equal(crowd(&m, SV_NONE, &spot), 7);
    leave(&m);
}

static void two_spots_on_one_path(void **state)
{
    (void)state;
    struct mesh m;
    mesh_of(&m, 3);
    assert_int_equal(m.count, 9);
    uint32_t both = 0, whose = 0;
    sv_channel spots[2];
    for (uint32_t i = 0; i < m.count; i++)
        assert_int_equal(crowd(&m, i, &spots[0]), 5);
    assert_int_equal(crowd(&m, 0, &spots[0]), 5);
    for (uint32_t i = 0; i < m.count; i++)
        if (!uses(m.way[i], m.length[i], spots[0]))
            assert_int_equal(crowd(&m, i, &spots[1]), 5);
    assert_int_not_equal(spots[0].i, spots[1].i);
    for (uint32_t i = 0; i < m.count; i++)
        if (uses(m.way[i], m.length[i], spots[0]) && uses(m.way[i], m.length[i], spots[1])) {
            both++;
            whose = i;
        }
    assert_int_equal(both, 1);
    assert_int_equal(m.to[whose], 5 * 8 + 7);
    leave(&m);
}

/* Noise goes on while flows rest, and all ends with the last burst. */
static void noise_has_no_bursts(void **state)
{
    (void)state;
    struct bed bed = bed_on(ctx, "mesh:8x8");
    ask(ctx, &bed,
        (sv_sim_traffic_request){
            .spec = "meshspot:which=2,rate=600Mbps,noise=0.1,on=50us,off=150us,bursts=20",
            .bytes = 1024});
    uint32_t messages[2] = {0}, outside[2] = {0};
    for (uint32_t t = 0; t < 64; t++) {
        bool flow = t % 8 == 3 && t < 56;
        sv_sim_message message;
        while (next(&bed, t, &message)) {
            messages[flow]++;
            outside[flow] += message.ready % (200 * US) >= 50 * US;
            assert_true(message.ready < (19 * 200 + 50) * (uint64_t)US);
        }
    }
    assert_int_equal(outside[1], 0);
    /* 0.6 bits a nanosecond; 57 ranks, a tenth of 32 bits a nanosecond with 26 bytes of header */
    assert_true(fabs(messages[1] / (7 * 20 * 50000 * 0.6 / 8192) - 1) < 0.1);
    assert_true(fabs(messages[0] / (57 * 3850000 * 3.2 / (1050 * 8)) - 1) < 0.02);
    assert_true(fabs((double)outside[0] / messages[0] / (2850.0 / 3850) - 1) < 0.02);
    release(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_burst_has_its_pattern), cmocka_unit_test(patterns_may_come_at_random),
        cmocka_unit_test(between_bursts_is_rest),     cmocka_unit_test(rest_may_be_the_same),
        cmocka_unit_test(a_rate_is_of_payload),       cmocka_unit_test(some_ranks_take_part),
        cmocka_unit_test(nonsense_is_refused),        cmocka_unit_test(one_spot_and_a_bystander),
        cmocka_unit_test(one_spot_for_several_paths), cmocka_unit_test(two_spots_on_one_path),
        cmocka_unit_test(noise_has_no_bursts),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
