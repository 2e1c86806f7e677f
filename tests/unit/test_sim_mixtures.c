/*
 * test_sim_mixtures.c: random changes of random tables under random traffic. The test keeps tables
 * of its own that it changes with the simulator's, follows each packet by what it is told of
 * injections and grants, and comes to the same incidents (docs/simulator.md, rules 21 to 24): who
 * is dropped where and why, who goes in a circle, who is overtaken, how many are under way. And
 * nothing is left over in the end: what has neither arrived nor been dropped is stuck.
 */
#include "support/simulating.h"
#include "support/trials.h"

TEST_CONTEXT

enum { MAX_PACKETS = 8000, TABLES = 4, MAX_SWITCHES = 16, MESSAGES = 12 };

struct track {
    sv_channel out; /* it goes on by */
    uint32_t from, destination;
    uint64_t time; /* it arrives */
    unsigned vl, why;
    bool dropped, looped, arrived, told[SV_SIM_INCIDENTS];
    uint64_t visited;
};

struct trial {
    sv_fabric *f;
    sv_routes *tables[TABLES], *now;
    sv_rng rng;
    sv_sim_model model;
    uint64_t until; /* then all becomes good */
    uint32_t sent[64];
    uint64_t ready[64];
    struct track *packets; /* [MAX_PACKETS] */
    uint32_t injected, dropped, looped, overtaken, told[SV_SIM_INCIDENTS];
    uint64_t changes;
    uint64_t time; /* of the last thing that happened */
};

static uint32_t below(struct trial *t, uint32_t n)
{
    return (uint32_t)sv_rng_below(&t->rng, n);
}

/* ---- what the test says ---- */

/* Where a packet goes from the switch that a channel leads to. */
static void follow(struct trial *t, struct track *p, sv_channel over)
{
    sv_node at = t->f->head[over.i];
    if (at.i >= t->f->num_switches)
        return;
    t->looped += (p->visited >> at.i & 1) && !p->looped;
    p->looped |= p->visited >> at.i & 1;
    p->visited |= (uint64_t)1 << at.i;
    unsigned port = t->now->ports[p->destination][at.i];
    sv_channel out = {SV_NONE};
    for (uint32_t c = 0; c < t->f->num_channels; c++)
        if (t->f->tail[c].i == at.i && t->f->port[c] == port)
            out.i = c;
    p->why = port == SV_NO_PORT ? SV_TRACE_NO_ENTRY
             : port == 0        ? SV_TRACE_ASTRAY
             : out.i == SV_NONE ? SV_TRACE_DEAD_PORT
                                : SV_TRACE_ARRIVED;
    if (p->why == SV_TRACE_ARRIVED) {
        sv_node to = t->f->head[out.i];
        unsigned in = t->f->port[t->f->reverse[over.i].i];
        p->vl = sv_route_sl2vl(t->now, t->f, at, in, port)->of_sl[0];
        if (to.i >= t->f->num_switches && to.i != t->now->node[p->destination].i)
            p->why = SV_TRACE_ASTRAY;
        else if (p->vl >= t->model.vls)
            p->why = SV_TRACE_DISCARDED;
    }
    p->out = out;
    p->dropped = p->why != SV_TRACE_ARRIVED;
    t->dropped += p->dropped;
}

/* ---- watching ---- */

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    struct trial *t = user;
    sv_node v = {t->f->num_switches + terminal};
    assert_int_equal(packet, t->injected);
    assert_true(t->injected < MAX_PACKETS && time >= t->time);
    t->time = time;
    struct track *p = &t->packets[t->injected++];
    *p = (struct track){.from = terminal, .destination = tag};
    follow(t, p, t->f->hops[t->f->first[v.i]].channel);
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    struct trial *t = user;
    struct track *p = &t->packets[packet];
    assert_true(!p->dropped && !p->arrived && time >= t->time);
    assert_int_equal(out.i, p->out.i);
    assert_int_equal(vl, p->vl);
    t->time = time;
    follow(t, p, out);
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct trial *t = user;
    struct track *p = &t->packets[packet];
    assert_true(!p->dropped && !p->arrived && time > t->time);
    p->arrived = true;
    p->time = time;
}

static void incident(void *user, sv_sim_incident what, const sv_sim_example *which)
{
    struct trial *t = user;
    struct track *p = &t->packets[which->packet];
    assert_true(which->packet < t->injected && !p->told[what]);
    p->told[what] = true;
    t->told[what]++;
    assert_int_equal(which->from, p->from);
    assert_int_equal(which->destination, p->destination);
    if (what == SV_SIM_OVERTAKEN) {
        assert_int_equal(which->time, p->time);
        assert_int_equal(which->at.i, t->now->node[p->destination].i);
    }
}

/* How many have not arrived before a time. */
static uint64_t under_way(const struct trial *t, uint64_t now)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < t->injected; i++)
        count += !t->packets[i].dropped && !(t->packets[i].arrived && t->packets[i].time < now);
    return count;
}

static void count_overtaken(struct trial *t)
{
    for (uint32_t i = 0; i < t->injected; i++) {
        const struct track *p = &t->packets[i];
        bool late = false;
        for (uint32_t k = i + 1; p->arrived && k < t->injected; k++) {
            const struct track *other = &t->packets[k];
            late |= other->arrived && other->time < p->time && other->from == p->from &&
                    t->now->node[other->destination].i == t->now->node[p->destination].i;
        }
        assert_int_equal(late, p->told[SV_SIM_OVERTAKEN]);
        assert_int_equal(p->dropped, p->told[SV_SIM_DROPPED]);
        assert_int_equal(p->looped, p->told[SV_SIM_LOOPED]);
        t->overtaken += late;
    }
}

/* ---- directing ---- */

static sv_status act(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct trial *t = user;
    assert_int_equal(sv_sim_under_way(stage), under_way(t, now));
    assert_int_equal(sv_sim_next_packet(stage), t->injected);
    assert_true(now >= t->time);
    bool over = now >= t->until;
    uint32_t count = over ? t->f->num_switches : below(t, 4);
    for (uint32_t i = 0; i < count; i++) {
        sv_node s = {over ? i : below(t, t->f->num_switches)};
        const sv_routes *with = t->tables[over ? 0 : below(t, TABLES)];
        if (over || below(t, 4) > 0) {
            OK(ctx, sv_sim_set_block(stage, s, 0, with));
            OK(ctx, sv_routes_mix_block(ctx, t->now, with, s, 0));
        }
        if (over || below(t, 4) == 0) { /* VLs of tables are of one table a node */
            OK(ctx, sv_sim_set_sl2vl(stage, s, with));
            t->now->vls_of[s.i] =
                (uint16_t)sv_routes_sl2vl_table(ctx, t->now, &with->vl_tables[with->vls_of[s.i]]);
        }
        t->changes++;
    }
    for (uint32_t v = 0; v < t->f->num_terminals; v++)
        if (over || below(t, 2) == 0)
            sv_sim_wake(stage, v);
    *again = over ? SV_NEVER : now + 1 + below(t, 3000000);
    return SV_OK;
}

static bool open_message(void *user, uint32_t terminal, uint64_t now, sv_sim_message *message,
                         uint8_t *sl)
{
    struct trial *t = user;
    (void)terminal;
    (void)sl;
    assert_true(now >= message->ready && now >= t->time);
    if (now < t->until && below(t, 6) == 0)
        return false;
    return true;
}

static bool next(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct trial *t = user;
    if (t->sent[terminal]++ >= MESSAGES)
        return false;
    uint32_t to = terminal;
    while (to == terminal)
        to = below(t, t->f->num_terminals);
    uint32_t d = t->now->first[t->f->num_switches + to] + below(t, 1u << t->now->lmc);
    *message = (sv_sim_message){t->ready[terminal], d, below(t, 9000), d};
    t->ready[terminal] += below(t, 4000000);
    return true;
}

/* ---- trials ---- */

/* Good tables, others, and some with anything in them. */
static void make_tables(struct trial *t)
{
    static const char *const engines[TABLES] = {"updn", "minhop", "sssp", "minhop"};
    unsigned lmc = below(t, 2);
    for (uint32_t i = 0; i < TABLES; i++) {
        const sv_route_request request = {.vls = 1, .lmc = lmc, .seed = i};
        OK(ctx, sv_route(ctx, t->f, engines[i], &request, &t->tables[i], NULL));
    }
    sv_routes *odd = t->tables[TABLES - 1];
    for (uint32_t i = 0; i < 20; i++) {
        static const uint8_t ports[] = {SV_NO_PORT, 0, 1, 2, 3, 4, 5, 6, 77};
        uint32_t d = below(t, odd->num_destinations);
        sv_routes_row(ctx, odd, d)[below(t, t->f->num_switches)] =
            ports[below(t, sizeof ports / sizeof *ports)];
    }
    sv_sl2vl vls[2];
    memset(&vls[0], 1, sizeof vls[0]);
    memset(&vls[1], SV_NO_VL, sizeof vls[1]);
    for (uint32_t s = 0; s < t->f->num_switches; s++)
        if (below(t, 3) == 0)
            odd->vls_of[s] = (uint16_t)sv_routes_sl2vl_table(ctx, odd, &vls[below(t, 8) == 0]);
    OK(ctx, sv_routes_clone(ctx, t->tables[0], &t->now));
}

static sv_sim_end one_trial(uint64_t seed, uint64_t totals[SV_SIM_INCIDENTS])
{
    static const char *const specs[] = {"torus:3x3,hosts=1", "torus:5,hosts=2", "mesh:2x3,hosts=2",
                                        "torus:4x4,hosts=1"};
    struct trial t = {.model = sim_model()};
    sv_sim_result *r = NULL;
    sv_rng_init(&t.rng, seed);
    t.f = test_fabric(ctx, specs[below(&t, 4)]);
    t.packets = calloc(MAX_PACKETS, sizeof *t.packets);
    make_tables(&t);
    t.until = 1 + below(&t, 60000000);
    t.model.input = 33 * (1 + below(&t, 3));
    t.model.output = 33 + below(&t, 60);
    t.model.vls = 2;
    t.model.voq = below(&t, 2);
    t.model.inband_bytes = below(&t, 2) * 8;
    t.model.open = 1 + below(&t, 3);
    t.model.drain = below(&t, 2) ? 1 : QDR;
    t.model.ways = 1 + below(&t, 3);
    t.model.speedup = 100 + below(&t, 100);
    const sv_sim_source source = {.user = &t, .next = next};
    const sv_sim_watch watch = {.user = &t,
                                .injected = injected,
                                .granted = granted,
                                .arrived = arrived,
                                .incident = incident};
    const sv_sim_director director = {.user = &t, .act = act, .open = open_message};
    const sv_sim_setup setup = {
        t.model, {.limit = SV_NEVER, .ignore_stuck = true}, &source, &watch, &director};
    OK(ctx, sv_simulate(ctx, t.f, t.tables[0], &setup, &r));
    count_overtaken(&t);
    assert_int_equal(r->packets, t.injected);
    assert_int_equal(r->incidents[SV_SIM_DROPPED], t.dropped);
    assert_int_equal(r->incidents[SV_SIM_LOOPED], t.looped);
    assert_int_equal(r->incidents[SV_SIM_OVERTAKEN], t.overtaken);
    assert_int_equal(r->arrived_packets + t.dropped + r->num_stuck, t.injected);
    assert_true(r->end == (r->num_stuck > 0 ? SV_SIM_DEADLOCK : SV_SIM_COMPLETED));
    if (r->end == SV_SIM_COMPLETED)
        assert_int_equal(r->messages, MESSAGES * t.f->num_terminals);
    for (uint32_t what = 0; what < SV_SIM_INCIDENTS; what++) {
        assert_int_equal(r->incidents[what], t.told[what]);
        totals[what] += r->incidents[what];
    }
    sv_sim_end how = r->end;
    sv_sim_free(r);
    for (uint32_t i = 0; i < TABLES; i++)
        sv_routes_free(t.tables[i]);
    sv_routes_free(t.now);
    sv_fabric_free(t.f);
    free(t.packets);
    return how;
}

static void packets_meet_what_was_there(void **state)
{
    (void)state;
    uint64_t totals[SV_SIM_INCIDENTS] = {0}, ends[SV_SIM_CANCELLED + 1] = {0};
    for (uint64_t seed = 1; seed <= test_times(400); seed++)
        ends[one_trial(seed, totals)]++;
    if (!test_enough())
        return;
    /* All of it has happened, and often. */
    assert_true(ends[SV_SIM_COMPLETED] > 50 && ends[SV_SIM_DEADLOCK] > 2);
    for (uint32_t what = 0; what < SV_SIM_INCIDENTS; what++)
        assert_true(totals[what] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets_meet_what_was_there)};
    return cmocka_run_group_tests(tests, begin, end);
}
