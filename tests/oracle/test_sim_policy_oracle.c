/*
 * test_sim_policy_oracle.c: the slow simulator, where packets choose their way, against times
 * worked out by hand from docs/simulator.md, rules 25 to 33.
 *
 * Numbers are those of test_sim_oracle.c: packets of 256 bytes (4 blocks), links that take 2 ticks
 * a byte, switches that cross at 1, draining and injecting at 1, the cable 5, the switch 10, a
 * credit
 * 3. A packet is ready at a switch 335 after its link started, arrives at an adapter 581 after
 * that, and its link starts 64 after a grant. One of 64 bytes: ready at a switch 143 later, arrived
 * 197 later, link 64 after a grant.
 *
 * All is on one net: switches 0, 1, 2 in a triangle, port 2 to the next, port 3 to the one before;
 * adapters 3, 4, 5 at their ports 1, adapter 6 at port 4 of switch 0. Targets are nodes. Tables
 * take the shortest path. They have two VLs: v = (SL + the input port) mod 2, and the SL is
 * whether the target is switch 2.
 *
 * What happens is written down, a line for each, and compared with what should be there. Longer
 * than other files: one test for each rule, side by side with its arithmetic.
 */
#include "oracle/sim_oracle.h"
#include "support/testing.h"

#define NEVER UINT64_MAX

enum { MAX = 64, TEXT = 8192 };

/* What the timer does at a tick. */
struct task {
    uint64_t time;
    char what; /* b: backlog of node and port; w: who waits for it; s: node sends to `to` */
    uint32_t node, port, to, bytes;
    uint64_t ready;
};

static struct {
    oracle_params params;
    oracle_policy policy;
    oracle_counts counts;
    oracle_cable cables[7];
    oracle_packet packets[MAX];
    oracle_hop hops[MAX];
    oracle_way ways[MAX];
    struct task tasks[MAX];
    uint32_t num_packets, num_tasks;
    bool around; /* switches send by port 2 only */
    bool quiet;  /* only hooks are written down */
    char log[TEXT];
    size_t length;
} n;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int more = vsnprintf(n.log + n.length, TEXT - n.length, format, values);
    va_end(values);
    n.length += (size_t)more;
    assert_true(n.length < TEXT);
}

#define T(time) ((unsigned long long)(time))

/* ---- the tables ---- */

static uint32_t node_of(void *user, uint32_t target)
{
    (void)user;
    return target;
}

static uint32_t port_to(void *user, uint32_t node, uint32_t target)
{
    (void)user;
    uint32_t home = target < 3 ? target : target % 3;
    if (home != node)
        return n.around || home == (node + 1) % 3 ? 2 : 3;
    assert_true(target >= 3);
    return target == 6 ? 4 : 1;
}

static uint8_t sl_of(void *user, uint32_t from, uint32_t target)
{
    (void)user;
    (void)from;
    return target == 2;
}

static uint8_t vl_of(void *user, uint32_t node, uint32_t in, uint32_t out, uint8_t sl)
{
    (void)user;
    (void)out;
    assert_true(node < 3 || in == 0);
    return n.policy.vls == 1 ? 0 : (sl + in) % 2;
}

/* ---- the policy ---- */

static void choose(void *user, oracle_stage *stage, uint64_t now, uint32_t packet, oracle_way *way)
{
    (void)user;
    (void)stage;
    assert_int_equal(way->vias + way->via[0] + way->via[1] + way->mark, 0);
    if (!n.quiet)
        note("%llu choose %u\n", T(now), packet);
    *way = n.ways[packet];
}

static void depart(void *user, oracle_stage *stage, uint64_t now, uint32_t node, uint32_t out_port,
                   uint64_t waited, oracle_head *head)
{
    (void)user;
    note("%llu depart %u.%u waited %llu of %llu note %u backlog %llu\n", T(now), node, out_port,
         T(waited), T(head->waited), head->note, T(oracle_backlog(stage, node, out_port)));
    head->note++;
}

static void deliver(void *user, oracle_stage *stage, uint64_t now, uint32_t node, oracle_head *head)
{
    (void)user;
    (void)stage;
    note("%llu deliver %u from %u number %u sequence %u segment %u note %u%s%s\n", T(now), node,
         head->from, head->number, head->sequence, head->segment, head->note,
         head->control ? " control" : "", head->last ? " last" : "");
    assert_int_equal(head->destination, node);
}

static void do_task(oracle_stage *stage, const struct task *t)
{
    oracle_waiting waiting[4];
    if (t->what == 'b')
        note("%llu backlog %llu\n", T(t->time), T(oracle_backlog(stage, t->node, t->port)));
    if (t->what == 's')
        oracle_send(stage, t->node, t->to, t->bytes, t->ready, 0, 0);
    if (t->what == 'c')
        oracle_call(stage, t->ready);
    if (t->what == 'w') {
        uint32_t count = oracle_waiting_for(stage, t->node, t->port, waiting, 4);
        note("%llu waiting", T(t->time));
        for (uint32_t i = 0; i < count; i++)
            note(" %u-%u %u since %llu", waiting[i].from, waiting[i].to, waiting[i].bytes,
                 T(waiting[i].since));
        note("\n");
    }
}

static void timer(void *user, oracle_stage *stage, uint64_t now, uint64_t *again)
{
    (void)user;
    assert_int_equal(*again, NEVER);
    note("%llu timer\n", T(now));
    for (uint32_t i = 0; i < n.num_tasks; i++) {
        const struct task *t = &n.tasks[i];
        if (t->time == now)
            do_task(stage, t);
        if (t->time > now && t->time < *again)
            *again = t->time;
    }
}

static void injected(void *user, const oracle_head *head, uint64_t now)
{
    (void)user;
    if (!n.quiet)
        note("%llu inject %u%s\n", T(now), head->from, head->control ? " control" : "");
}

static void granted(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                    uint32_t vl, uint64_t now, uint64_t waited)
{
    (void)waited;
    (void)user;
    if (!n.quiet)
        note("%llu grant %u.%u VL %u%s\n", T(now), node, out_port, vl,
             head->control ? " control" : "");
}

static void started(void *user, const oracle_head *head, uint32_t node, uint32_t out_port,
                    uint64_t waited)
{
    (void)user;
    (void)head;
    (void)node;
    (void)out_port;
    (void)waited;
}

static void heard(void *user, uint32_t message, uint64_t now)
{
    (void)user;
    note("%llu heard %u\n", T(now), message);
}

static void stuck(void *user, const oracle_stuck *s)
{
    (void)user;
    note("stuck %u.%u VL %u to %u.%u VL %u since %llu%s\n", s->in_node, s->in_port, s->vl, s->node,
         s->out_port, s->out_vl, T(s->since), s->behind ? " behind" : "");
}

/* ---- a case ---- */

static void fresh(void)
{
    memset(&n, 0, sizeof n);
    n.params = oracle_easy(8, 1000000);
    n.policy = (oracle_policy){.segments = 3,
                               .adaptive = 0,
                               .vls = 2,
                               .patience = NEVER,
                               .first = NEVER,
                               .node = node_of,
                               .port = port_to,
                               .sl = sl_of,
                               .vl = vl_of,
                               .choose = choose,
                               .depart = depart,
                               .deliver = deliver,
                               .timer = timer,
                               .injected = injected,
                               .granted = granted,
                               .started = started,
                               .heard = heard,
                               .stuck = stuck};
    const oracle_cable cables[] = {{0, 2, 1, 3, 2}, {1, 2, 2, 3, 2}, {2, 2, 0, 3, 2},
                                   {3, 1, 0, 1, 2}, {4, 1, 1, 1, 2}, {5, 1, 2, 1, 2},
                                   {6, 1, 0, 4, 2}};
    memcpy(n.cables, cables, sizeof cables);
}

/* A message of so many packets of 256 bytes; vias: of switches, 9 is none. */
static void message(uint64_t ready, uint32_t from, uint32_t to, uint32_t count, uint32_t first,
                    uint32_t second)
{
    uint32_t number = n.num_packets ? n.packets[n.num_packets - 1].message + 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = n.num_packets++;
        assert_true(p < MAX);
        n.ways[p] = (oracle_way){
            {first < 9 ? first : 0, second < 9 ? second : 0}, (first < 9) + (second < 9), p};
        n.hops[p] = (oracle_hop){from, 1, 0};
        n.packets[p] = (oracle_packet){.ready = ready,
                                       .message = number,
                                       .length = 256,
                                       .payload = 200 + p,
                                       .destination = to,
                                       .num_hops = 1,
                                       .hops = &n.hops[p]};
    }
}

static void task(uint64_t time, char what, uint32_t node, uint32_t port)
{
    n.tasks[n.num_tasks++] = (struct task){.time = time, .what = what, .node = node, .port = port};
    n.policy.first = n.tasks[0].time;
}

static void control(uint64_t time, uint32_t from, uint32_t to, uint32_t bytes, uint64_t ready)
{
    task(time, 's', from, 0);
    n.tasks[n.num_tasks - 1].to = to;
    n.tasks[n.num_tasks - 1].bytes = bytes;
    n.tasks[n.num_tasks - 1].ready = ready;
}

static void run(oracle_end end, const char *log)
{
    static const uint32_t ports[] = {4, 3, 3};
    n.params.policy = &n.policy;
    n.params.counts = &n.counts;
    assert_int_equal(oracle_run(&n.params, 3, ports, 4, n.cables, 7, n.packets, n.num_packets),
                     end);
    assert_string_equal(n.log, log);
}

static void release(void)
{
    for (uint32_t p = 0; p < n.num_packets; p++) {
        free(n.packets[p].hops);
        free(n.packets[p].granted);
    }
}

/* Without vias all is as ever: the SL is 0, so VL 1 by port 1 into switch 0, and 1 by port 3 into
 * switch 1. */
static void test_no_vias(void **state)
{
    (void)state;
    fresh();
    message(0, 3, 4, 1, 9, 9);
    run(ORACLE_COMPLETED, "0 choose 0\n0 inject 3\n335 grant 0.2 VL 1\n734 grant 1.1 VL 1\n"
                          "1379 deliver 4 from 3 number 0 sequence 0 segment 0 note 0 last\n"
                          "1379 heard 0\n");
    assert_int_equal(n.packets[0].hops[0].vl, 0);
    assert_int_equal(n.counts.detours, 0);
    assert_int_equal(n.counts.time, 1379);
    release();
}

/* By switch 2. To it the SL is 1: VL 1 at the adapter, (1 + 1) mod 2 = 0 at switch 0. There the
 * second segment begins: SL 0 from input port 0: 2 + 0; then by port 2 into switch 1: 2 + 0. */
static void test_via(void **state)
{
    (void)state;
    fresh();
    message(0, 3, 4, 1, 2, 9);
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 inject 3\n335 grant 0.3 VL 0\n734 grant 2.3 VL 2\n"
        "1133 grant 1.1 VL 2\n"
        "1778 deliver 4 from 3 number 0 sequence 0 segment 1 note 0 last\n1778 heard 0\n");
    assert_int_equal(n.packets[0].hops[0].vl, 1);
    assert_int_equal(n.counts.detours, 1);
    release();
}

/* The first via is the source's switch, the second 2: segment 1 begins at once with SL 1 from port
 * 0, VL 2 + 1; segment 2 at switch 2. Twice the same: one switch, two segments. At the
 * destination's switch: the last segment is that of one link. */
static void test_vias(void **state)
{
    (void)state;
    fresh();
    message(0, 3, 4, 1, 0, 2);
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 inject 3\n335 grant 0.3 VL 3\n734 grant 2.3 VL 4\n"
        "1133 grant 1.1 VL 4\n"
        "1778 deliver 4 from 3 number 0 sequence 0 segment 2 note 0 last\n1778 heard 0\n");
    assert_int_equal(n.packets[0].hops[0].vl, 0);
    release();
    fresh();
    message(0, 3, 4, 1, 2, 2);
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 inject 3\n335 grant 0.3 VL 0\n734 grant 2.3 VL 4\n"
        "1133 grant 1.1 VL 4\n"
        "1778 deliver 4 from 3 number 0 sequence 0 segment 2 note 0 last\n1778 heard 0\n");
    release();
    fresh();
    message(0, 3, 4, 1, 1, 9);
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 inject 3\n335 grant 0.2 VL 1\n734 grant 1.1 VL 2\n"
        "1379 deliver 4 from 3 number 0 sequence 0 segment 1 note 0 last\n1379 heard 0\n");
    release();
}

/* One adaptive VL (2), buffers for a packet. That of adapter 3 goes first, by VL 2; that of 6
 * at 591, when the entry is free, by its escape VL (0 + 4) mod 2 = 0; the third is injected when
 * the credits of the first are back, 335 + 256 + 3 = 594, is ready at 929, and its escape VL (1)
 * is free: it need not wait for the adaptive one, whose credits are back at 734 + 256 + 3 = 993.
 * The fourth, ready at 929 + 256 + 3 + 335 = 1523, has the adaptive VL again. On the last link
 * every second one has it: the first is drained at 1379. */
static void test_adaptive(void **state)
{
    (void)state;
    fresh();
    n.policy.segments = n.policy.adaptive = 1;
    n.params.input = 4;
    for (int i = 0; i < 3; i++)
        message(0, 3, 4, 1, 9, 9);
    message(0, 6, 4, 1, 9, 9);
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 choose 1\n0 choose 2\n0 inject 3\n0 choose 3\n0 inject 6\n"
        "335 grant 0.2 VL 2\n591 grant 0.2 VL 0\n594 inject 3\n734 grant 1.1 VL 2\n"
        "929 grant 0.2 VL 1\n1188 inject 3\n1246 grant 1.1 VL 1\n"
        "1379 deliver 4 from 3 number 0 sequence 0 segment 0 note 0 last\n1379 heard 0\n"
        "1523 grant 0.2 VL 2\n1758 grant 1.1 VL 2\n"
        "1891 deliver 4 from 6 number 1 sequence 0 segment 0 note 0 last\n1891 heard 3\n"
        "2270 grant 1.1 VL 1\n"
        "2403 deliver 4 from 3 number 2 sequence 1 segment 0 note 0 last\n2403 heard 1\n"
        "2915 deliver 4 from 3 number 3 sequence 2 segment 0 note 0 last\n2915 heard 2\n");
    release();
}

/* A control packet goes before the second packet of a message, when the link is free, at 512; two
 * are in the order of their ready times, and one that is not ready does not hold anybody up: the
 * link is free at 640, 768 (ready at 1200 only: data) and 1280. */
static void test_control(void **state)
{
    (void)state;
    fresh();
    n.quiet = false;
    message(0, 3, 4, 3, 9, 9);
    control(100, 3, 4, 64, 1200);
    control(100, 3, 4, 64, 400);
    control(100, 3, 5, 64, 400);
    n.params.limit = 1500;
    run(ORACLE_LIMIT,
        "0 choose 0\n0 inject 3\n100 timer\n335 grant 0.2 VL 1\n512 inject 3 control\n"
        "640 inject 3 control\n655 grant 0.2 VL 1 control\n734 grant 1.1 VL 1\n"
        "768 inject 3\n783 grant 0.3 VL 1 control\n990 grant 2.1 VL 0 control\n"
        "1054 grant 1.1 VL 1 control\n1103 grant 0.2 VL 1\n"
        "1251 deliver 5 from 3 number 2 sequence 0 segment 0 note 0 control\n"
        "1280 inject 3 control\n"
        "1379 deliver 4 from 3 number 0 sequence 0 segment 0 note 0\n"
        "1408 inject 3\n1423 grant 0.2 VL 1 control\n");
    assert_int_equal(n.counts.control_packets, 3);
    assert_int_equal(n.counts.control_bytes, 192);
    release();
}

/* A switch's own: ready at 200 and, behind it though ready earlier, at 150. The second goes when
 * the entry is free, at 264, and has waited for 114, of which is told since patience is 113. At
 * switch 1 it is ready 399 - 256 + 335 … = 264 + 64 + 64 + 143 after: its link starts at max(328,
 * 392). */
static void test_switch_control(void **state)
{
    (void)state;
    for (uint64_t patience = 113; patience < 115; patience++) {
        fresh();
        n.policy.patience = patience;
        n.params.limit = 900;
        message(800, 3, 4, 1, 9, 9);
        control(100, 0, 4, 64, 200);
        control(100, 0, 4, 64, 150);
        run(ORACLE_LIMIT,
            patience == 113 ? "100 timer\n200 grant 0.2 VL 0 control\n264 grant 0.2 VL 0 control\n"
                              "264 depart 0.2 waited 114 of 114 note 0 backlog 128\n"
                              "407 grant 1.1 VL 1 control\n535 grant 1.1 VL 1 control\n"
                              "668 deliver 4 from 0 number 0 sequence 0 segment 0 note 0 control\n"
                              "796 deliver 4 from 0 number 1 sequence 0 segment 0 note 1 control\n"
                              "800 choose 0\n800 inject 3\n"
                            : "100 timer\n200 grant 0.2 VL 0 control\n264 grant 0.2 VL 0 control\n"
                              "407 grant 1.1 VL 1 control\n535 grant 1.1 VL 1 control\n"
                              "668 deliver 4 from 0 number 0 sequence 0 segment 0 note 0 control\n"
                              "796 deliver 4 from 0 number 1 sequence 0 segment 0 note 0 control\n"
                              "800 choose 0\n800 inject 3\n");
        release();
    }
}

/* With virtual output queues those to another output do not stand behind it; with one way they wait
 * until it is across. */
static void test_switch_control_queues(void **state)
{
    (void)state;
    for (int voq = 0; voq < 2; voq++) {
        fresh();
        n.params.voq = voq;
        n.params.ways = 1;
        n.params.limit = 400;
        message(800, 3, 4, 1, 9, 9);
        control(100, 0, 4, 64, 200);
        control(100, 0, 5, 64, 190);
        run(ORACLE_LIMIT, voq ? "100 timer\n190 grant 0.3 VL 0 control\n"
                                "254 grant 0.2 VL 0 control\n397 grant 2.1 VL 0 control\n"
                              : "100 timer\n200 grant 0.2 VL 0 control\n"
                                "264 grant 0.3 VL 0 control\n");
        release();
    }
}

/* Two that want one output, that of adapter 6 by VL 0, the other by VL 1: it waits for 256;
 * then behind the other on the next link, whose start is 911 instead of 655: ready at 1246, no
 * wait. The backlog in the hook: the link is free at 911 + 512 = 1423, (1423 - 591) / 2 = 416. */
static void test_waiting(void **state)
{
    (void)state;
    fresh();
    n.quiet = true;
    n.policy.patience = 0;
    message(0, 3, 4, 1, 9, 9);
    message(0, 6, 4, 1, 9, 9);
    run(ORACLE_COMPLETED,
        "591 depart 0.2 waited 256 of 256 note 0 backlog 416\n"
        "1379 deliver 4 from 6 number 1 sequence 0 segment 0 note 0 last\n1379 heard 1\n"
        "1891 deliver 4 from 3 number 0 sequence 0 segment 0 note 1 last\n1891 heard 0\n");
    release();
}

/* What is to be seen of those: at 0 nothing yet; then both, from their injection on, in the order
 * of ports; when the first is granted (timers are called before) the link's part comes for it: free
 * at 399 + 512 = 911. The adapter's link: (512 - 1) / 2. In switch 1 they are from their grants on,
 * though their links start later: at 399 and 911. With 10 bytes in band: 532, and 399 + 532 = 931;
 * the last link starts at 798, and is free at 1330. */
static void test_seen(void **state)
{
    (void)state;
    fresh();
    n.quiet = true;
    message(0, 6, 4, 1, 9, 9);
    message(0, 3, 4, 1, 9, 9);
    task(0, 'b', 0, 2);
    task(1, 'b', 0, 2);
    task(1, 'b', 3, 1);
    task(1, 'w', 0, 2);
    task(335, 'b', 0, 2);
    task(336, 'b', 0, 2);
    task(336, 'w', 0, 2);
    task(336, 'w', 1, 1);
    task(592, 'w', 1, 1);
    task(592, 'b', 1, 1);
    run(ORACLE_COMPLETED,
        "0 timer\n0 backlog 0\n1 timer\n1 backlog 512\n1 backlog 255\n"
        "1 waiting 3-4 256 since 0 6-4 256 since 0\n335 timer\n335 backlog 512\n336 timer\n"
        "336 backlog 543\n336 waiting 3-4 256 since 0\n336 waiting 6-4 256 since 399\n592 timer\n"
        "592 waiting 6-4 256 since 399 3-4 256 since 911\n592 backlog 512\n"
        "1379 deliver 4 from 6 number 1 sequence 0 segment 0 note 0 last\n1379 heard 0\n"
        "1891 deliver 4 from 3 number 0 sequence 0 segment 0 note 0 last\n1891 heard 1\n");
    release();
    fresh();
    n.quiet = true;
    n.params.inband = 10;
    message(0, 3, 4, 1, 9, 9);
    task(1, 'b', 3, 1);
    task(336, 'b', 0, 2);
    task(1320, 'b', 1, 1);
    run(ORACLE_COMPLETED,
        "1 timer\n1 backlog 265\n336 timer\n336 backlog 297\n1320 timer\n1320 backlog 5\n"
        "1379 deliver 4 from 3 number 0 sequence 0 segment 0 note 0 last\n1379 heard 0\n");
    release();
}

/* A control packet of a switch counts from its call on, though not among those who wait. */
static void test_control_seen(void **state)
{
    (void)state;
    fresh();
    n.quiet = true;
    n.params.limit = 500;
    message(800, 3, 4, 1, 9, 9);
    control(100, 0, 4, 64, 200);
    task(100, 'b', 0, 2);
    task(200, 'b', 0, 2);
    task(200, 'w', 0, 2);
    task(201, 'b', 0, 2);
    task(201, 'b', 1, 1);
    run(ORACLE_LIMIT, "100 timer\n100 backlog 64\n200 timer\n200 backlog 64\n200 waiting\n"
                      "201 timer\n201 backlog 95\n201 backlog 64\n");
    release();
}

/* By packet: the first by way of switch 2 (1778), the second, injected at 512, straight: granted at
 * 847 and 1246, arrived at 1891: not early. With a third switch's cable that takes 4 a byte the
 * first is late: granted by 0 at 5 + 128 + 10 = 143, its link starts at 271, it is ready at
 * 271 + 5 + max(256, 1024 - 192) + 10 = 1118, starts at 1182, and so on: ready at 1517, starts
 * when the link is free of the second, 1310 + 512, and arrives at 2403. The second is early, waits
 * for 512, and its 201 bytes with it. */
static void test_early(void **state)
{
    (void)state;
    fresh();
    n.policy.by_packet = true;
    message(0, 3, 4, 2, 2, 9);
    n.ways[1].vias = 0;
    n.cables[2].tau = 4;
    run(ORACLE_COMPLETED,
        "0 choose 0\n0 inject 3\n0 choose 1\n143 grant 0.3 VL 0\n512 inject 3\n"
        "847 grant 0.2 VL 1\n1118 grant 2.3 VL 2\n1246 grant 1.1 VL 1\n"
        "1517 grant 1.1 VL 2\n"
        "1891 deliver 4 from 3 number 1 sequence 1 segment 0 note 0 last\n"
        "2403 deliver 4 from 3 number 0 sequence 0 segment 1 note 0\n2403 heard 0\n");
    assert_int_equal(n.counts.early, 1);
    assert_int_equal(n.counts.early_wait, 512);
    assert_int_equal(n.counts.early_max, 201);
    assert_int_equal(n.counts.detours, 1);
    assert_int_equal(n.counts.time, 2403);
    assert_int_equal(n.packets[1].arrived, 1891);
    assert_int_equal(n.packets[1].delivered, 2403);
    release();
}

/* Two messages that are open, 0 by switch 2 (VL 1) and 1 (VL 0): VLs take turns. By packet
 * the second of message 0 goes to VL 0, behind message 1, which has two. */
static void test_vl_changes(void **state)
{
    (void)state;
    fresh();
    n.policy.by_packet = true;
    n.params.limit = 1600;
    message(0, 3, 4, 2, 2, 9);
    n.ways[1].vias = 0;
    message(0, 3, 4, 2, 9, 9);
    n.cables[0].tau = n.cables[2].tau = 1000; /* they get no further */
    run(ORACLE_LIMIT,
        "0 choose 0\n0 choose 2\n0 inject 3\n0 choose 3\n143 grant 0.2 VL 1\n512 inject 3\n"
        "512 choose 1\n655 grant 0.3 VL 0\n1024 inject 3\n1536 inject 3\n");
    assert_int_equal(n.packets[3].granted[0], 1024);
    assert_int_equal(n.packets[1].granted[0], 1536);
    release();
}

/* Timers: a call that is earlier than what is planned counts, a later one does not; none is in the
 * present tick. They are not waited for. */
static void test_timer(void **state)
{
    (void)state;
    fresh();
    n.quiet = true;
    message(0, 3, 4, 1, 9, 9);
    task(10, 'c', 0, 0);
    n.tasks[0].ready = 5;
    task(11, 'c', 0, 0);
    n.tasks[1].ready = 20;
    task(50, 'c', 0, 0);
    n.tasks[2].ready = 70;
    task(60, 'c', 0, 0);
    n.tasks[3].ready = 1379;
    task(5000, 'b', 0, 2);
    run(ORACLE_COMPLETED,
        "10 timer\n11 timer\n20 timer\n50 timer\n60 timer\n"
        "1379 deliver 4 from 3 number 0 sequence 0 segment 0 note 0 last\n1379 heard 0\n");
    release();
}

/* Round and round: each adapter has four packets for the one two switches on, there is room for one
 * in each buffer, and an adaptive VL besides the escape VL. The first of
 * each goes on at 734 by the escape VL and arrives. The second has the adaptive one at
 * 734 + 259 = 993, when its credits are back, and its link at 399 + 2 · 512 = 1423; the third,
 * injected at 993 + 259, is ready at 1587, has the escape VL, and its link at 1935; the fourth is
 * injected at 1587 + 259. Then all wait. */
static void test_deadlock(void **state)
{
    (void)state;
    fresh();
    n.quiet = n.around = true;
    n.policy.segments = n.policy.adaptive = n.policy.vls = 1;
    n.params.vls = 2;
    n.params.input = 4;
    for (uint32_t from = 3; from < 6; from++)
        message(0, from, 3 + (from - 1) % 3, 6, 9, 9);
    char log[TEXT] = "1891 deliver 3 from 4 number 1 sequence 0 segment 0 note 0\n"
                     "1891 deliver 4 from 5 number 2 sequence 0 segment 0 note 0\n"
                     "1891 deliver 5 from 3 number 0 sequence 0 segment 0 note 0\n";
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            snprintf(log + strlen(log), TEXT - strlen(log),
                     k < 2 ? "stuck %d.2 VL %d to %d.2 VL 0 since %d\n"
                           : "stuck %d.1 VL %d to %d.2 VL 0 since %d\n",
                     k < 2 ? i : i + 3, k == 0 ? 1 : 0, k < 2 ? (i + 1) % 3 : i,
                     k == 0   ? 1423
                     : k == 1 ? 1935
                              : 1846);
    run(ORACLE_DEADLOCK, log);
    release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_vias),
        cmocka_unit_test(test_via),
        cmocka_unit_test(test_vias),
        cmocka_unit_test(test_adaptive),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_switch_control),
        cmocka_unit_test(test_switch_control_queues),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_control_seen),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_vl_changes),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
