/*
 * test_sim_parts.c: the simulator on several threads says what it says on one: every terminal's and
 * channel's numbers, latencies, timeline, deadlocks and when they were found; also if some threads
 * are late, as they are on a busy machine. Who waits for them leaves the processor to others; who
 * fails ends the run for all.
 *
 * Sources are called by the thread that simulates their terminal; so they can nap there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/rng.h"
#include "support/testing.h"

TEST_CONTEXT

/* Which threads are late. */
enum late { NOBODY, CALLER, HELPERS, EVERYBODY };

struct drawn {
    const sv_fabric *f;
    const sv_routes *r;
    uint32_t messages, left[512];
    sv_rng rng[512];
    enum late late;
    long nap_ns;
    uint32_t nap_every, nappers; /* every so many messages, of every so many terminals; 0: all */
    pthread_t caller;
    atomic_uint naps, helped; /* messages that helpers asked for */
};

static void nap(struct drawn *d, uint32_t t)
{
    bool helps = !pthread_equal(pthread_self(), d->caller);
    const struct timespec time = {.tv_nsec = d->nap_ns};
    if (d->left[t] == d->messages) /* the first ones are asked for before threads begin */
        return;
    atomic_fetch_add(&d->helped, helps);
    if (d->late == NOBODY || d->left[t] % d->nap_every != 0 ||
        (d->nappers > 0 && t % d->nappers != 0) ||
        (d->late != EVERYBODY && helps != (d->late == HELPERS)))
        return;
    atomic_fetch_add(&d->naps, 1);
    nanosleep(&time, NULL);
}

static bool next_message(void *user, uint32_t t, sv_sim_message *message)
{
    struct drawn *d = user;
    uint32_t to = t;
    nap(d, t);
    if (d->left[t] == 0)
        return false;
    d->left[t]--;
    while (to == t)
        to = (uint32_t)sv_rng_below(&d->rng[t], d->f->num_terminals);
    *message = (sv_sim_message){.ready = message->ready + sv_rng_below(&d->rng[t], 2000000),
                                .destination = d->r->first[d->f->num_switches + to],
                                .bytes = (uint32_t)sv_rng_below(&d->rng[t], 5000)};
    return true;
}

static sv_sim_result *run(struct drawn *d, sv_sim_setup setup, uint32_t messages, unsigned threads)
{
    const sv_sim_source source = {.user = d, .next = next_message, .threads = true};
    sv_sim_result *result = NULL;
    assert_true(d->f->num_terminals <= 512);
    d->messages = messages;
    d->caller = pthread_self();
    d->naps = d->helped = 0;
    for (uint32_t t = 0; t < d->f->num_terminals; t++) {
        d->left[t] = messages;
        sv_rng_init(&d->rng[t], t + 1);
    }
    setup.source = &source;
    sv_ctx_set_threads(ctx, threads);
    OK(ctx, sv_simulate(ctx, d->f, d->r, &setup, &result));
    return result;
}

static void assert_same(const sv_fabric *f, const sv_sim_result *a, const sv_sim_result *b)
{
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->messages, b->messages);
    assert_int_equal(a->packets, b->packets);
    assert_int_equal(a->arrived_packets, b->arrived_packets);
    assert_int_equal(a->arrived_messages, b->arrived_messages);
    assert_int_equal(a->packet_hops, b->packet_hops);
    assert_int_equal(a->payload_bytes, b->payload_bytes);
    assert_int_equal(a->latency_sum, b->latency_sum);
    assert_int_equal(a->total_sum, b->total_sum);
    assert_true(a->throughput == b->throughput && a->steady_share == b->steady_share);
    assert_memory_equal(a->latency, b->latency, SV_SIM_BINS * sizeof *a->latency);
    assert_memory_equal(a->terminals, b->terminals, f->num_terminals * sizeof *a->terminals);
    assert_memory_equal(a->channels, b->channels, f->num_channels * sizeof *a->channels);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < (size_t)a->rows * f->num_switches; i++) {
        assert_int_equal(a->timeline[i].packets, b->timeline[i].packets);
        assert_int_equal(a->timeline[i].bytes, b->timeline[i].bytes);
        assert_int_equal(a->timeline[i].waited, b->timeline[i].waited);
    }
    assert_int_equal(a->num_stuck, b->num_stuck);
    for (uint32_t i = 0; i < a->num_stuck; i++) {
        assert_int_equal(a->stuck[i].in.i, b->stuck[i].in.i);
        assert_int_equal(a->stuck[i].out.i, b->stuck[i].out.i);
        assert_int_equal(a->stuck[i].since, b->stuck[i].since);
    }
}

static const sv_sim_setup plain = {.model = {.cable = 43 * SV_TICKS_PER_NS,
                                             .credit = 20 * SV_TICKS_PER_NS,
                                             .switch_delay = 100 * SV_TICKS_PER_NS,
                                             .input = 70,
                                             .output = 40,
                                             .speedup = 150,
                                             .ways = 2,
                                             .vls = 8,
                                             .mtu_bytes = 2048,
                                             .header_bytes = 26,
                                             .inject = 450,
                                             .drain = 450,
                                             .open = 4,
                                             .voq = true},
                                   .control = {.limit = SV_NEVER, .precision = 0.05}};

static sv_sim_end compare(const char *spec, const char *engine, sv_sim_setup setup,
                          uint32_t messages)
{
    sv_fabric *f = NULL;
    sv_routes *r = NULL;
    struct drawn *d = calloc(1, sizeof *d);
    OK(ctx, sv_topology_generate(ctx, spec, &f));
    OK(ctx, sv_route(ctx, f, engine, NULL, &r, NULL));
    d->f = f;
    d->r = r;
    sv_sim_result *one = run(d, setup, messages, 1);
    for (unsigned threads = 2; threads <= 3; threads++) {
        sv_sim_result *many = run(d, setup, messages, threads);
        assert_same(f, one, many);
        sv_sim_free(many);
    }
    sv_sim_end end = one->end;
    sv_sim_free(one);
    sv_routes_free(r);
    sv_fabric_free(f);
    free(d);
    return end;
}

static void completed_runs_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(compare("kary:k=4,n=3,hosts=4", "ftree", plain, 30), SV_SIM_COMPLETED);
    assert_int_equal(compare("dragonfly:a=4,p=2,h=2,g=9", "dfsssp", plain, 30), SV_SIM_COMPLETED);
    sv_sim_setup slow = plain;
    slow.model.voq = false;
    slow.model.pause = 10 * SV_TICKS_PER_NS;
    slow.model.period = 110 * SV_TICKS_PER_NS;
    assert_int_equal(compare("torus:4x4x3,hosts=4", "nue", slow, 30), SV_SIM_COMPLETED);
}

static void windows_timelines_and_limits_are_the_same(void **state)
{
    (void)state;
    sv_sim_setup setup = plain;
    setup.control.warm_up = 5000 * SV_TICKS_PER_NS;
    setup.control.sample = 20000 * SV_TICKS_PER_NS;
    setup.control.interval = 3000 * SV_TICKS_PER_NS;
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 1000), SV_SIM_STEADY);
    setup.control = (sv_sim_control){.limit = 7777777};
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 1000), SV_SIM_LIMIT);
    setup.control =
        (sv_sim_control){.limit = SV_NEVER, .steady = 10000 * SV_TICKS_PER_NS, .precision = 0.2};
    assert_int_equal(compare("torus:4x4x3,hosts=4", "dfsssp", setup, 5000), SV_SIM_STEADY);
}

static void deadlocks_are_the_same(void **state)
{
    (void)state;
    sv_sim_setup setup = plain;
    setup.model.input = setup.model.output = 33;
    setup.model.voq = false;
    assert_int_equal(compare("torus:5x5,hosts=3", "minhop", setup, 200), SV_SIM_DEADLOCK);
}

static struct drawn *drawn_new(const char *spec, const char *engine)
{
    struct drawn *d = calloc(1, sizeof *d);
    sv_fabric *f = test_fabric(ctx, spec);
    d->f = f;
    d->r = test_routed(ctx, f, engine, 0);
    return d;
}

static void drawn_free(struct drawn *d)
{
    sv_routes_free((sv_routes *)(uintptr_t)d->r);
    sv_fabric_free((sv_fabric *)(uintptr_t)d->f);
    free(d);
}

static void late_threads_change_nothing(void **state)
{
    (void)state;
    struct drawn *d = drawn_new("torus:4x4x3,hosts=4", "dfsssp");
    sv_sim_result *one = run(d, plain, 12, 1);
    for (unsigned threads = 2; threads <= 5; threads++) {
        for (enum late late = CALLER; late <= EVERYBODY; late++) {
            d->late = late;
            d->nap_ns = threads % 2 ? 1000000 : 20000; /* both sides of what is waited awake */
            d->nap_every = threads % 2 ? 7 : 3;
            sv_sim_result *many = run(d, plain, 12, threads);
            assert_same(d->f, one, many);
            assert_true(d->naps > 0 || late != EVERYBODY); /* one alone may have nothing to do */
            sv_sim_free(many);
        }
    }
    sv_sim_free(one);
    drawn_free(d);
}

/* If the caller takes its time, others come to its aid: not in every run, if the machine is busy.
 */
static void all_threads_take_part(void **state)
{
    (void)state;
    struct drawn *d = drawn_new("kary:k=4,n=3,hosts=4", "ftree");
    d->late = CALLER;
    d->nap_ns = 3000000;
    d->nap_every = 3;
    for (unsigned tries = 0; tries < 50 && (d->naps == 0 || d->helped == 0); tries++)
        sv_sim_free(run(d, plain, 20, 2));
    assert_true(d->naps > 0 && d->helped > 0);
    drawn_free(d);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Not a matter of how fast the machine is: naps take no processor, and waiting for them neither. */
static void waiting_takes_no_processor(void **state)
{
    (void)state;
    struct drawn *d = drawn_new("kary:k=4,n=3,hosts=4", "ftree");
    double begun = cpu_seconds(), awake, napping;
    sv_sim_free(run(d, plain, 50, 3));
    awake = cpu_seconds() - begun;
    d->late = EVERYBODY; /* who has the part of the first terminal */
    d->nap_ns = 10000000;
    d->nap_every = 1;
    d->nappers = d->f->num_terminals;
    begun = cpu_seconds();
    sv_sim_free(run(d, plain, 50, 3));
    napping = cpu_seconds() - begun;
    assert_int_equal(d->naps, 50); /* one less, and one more that finds nothing */
    double naps = d->naps * (double)d->nap_ns / 1e9;
    if (napping > 2 * awake + 0.25 * naps)
        fail_msg("%.3f s of processors with naps of %.3f s, %.3f without", napping, naps, awake);
    drawn_free(d);
}

/* A terminal whose last message comes before the one before it. */
static bool next_or_wrong(void *user, uint32_t t, sv_sim_message *message)
{
    const struct drawn *d = user;
    bool there = next_message(user, t, message);
    if (there && t == 37 && d->left[t] == 0)
        message->ready = 0;
    return there;
}

static void failures_end_the_run_for_all(void **state)
{
    (void)state;
    struct drawn *d = drawn_new("kary:k=4,n=3,hosts=4", "ftree");
    const sv_sim_source source = {.user = d, .next = next_or_wrong, .threads = true};
    for (unsigned threads = 1; threads <= 4; threads++) {
        sv_sim_setup setup = plain;
        sv_sim_result *result = NULL;
        sv_sim_free(run(d, plain, 0, 1));
        for (uint32_t t = 0; t < d->f->num_terminals; t++)
            d->left[t] = 20;
        setup.source = &source;
        sv_ctx_set_threads(ctx, threads);
        FAILS(ctx, sv_simulate(ctx, d->f, d->r, &setup, &result), SV_BAD_INPUT,
              "are not in order of time");
        assert_null(result);
    }
    drawn_free(d);
}

/* ---- memory that ends while several threads run ---- */

struct memory {
    atomic_uint_fast64_t count, fail_at;
    atomic_int_fast64_t blocks;
};

static void *limited_resize(void *user, void *block, size_t size)
{
    struct memory *memory = user;
    if (size == 0) {
        atomic_fetch_sub(&memory->blocks, block != NULL);
        free(block);
        return NULL;
    }
    if (atomic_fetch_add(&memory->count, 1) + 1 == atomic_load(&memory->fail_at))
        return NULL;
    void *grown = realloc(block, size);
    atomic_fetch_add(&memory->blocks, block == NULL && grown != NULL);
    return grown;
}

static void memory_may_end_in_any_thread(void **state)
{
    (void)state;
    struct drawn *d = drawn_new("kary:k=4,n=3,hosts=4", "ftree");
    sv_ctx *usual = ctx;
    bool reached = true;
    uint64_t n = 1;
    for (; reached; n++) {
        struct memory memory = {.fail_at = SV_NEVER};
        const sv_host host = {.user = &memory, .resize = limited_resize};
        const sv_sim_source source = {.user = d, .next = next_message, .threads = true};
        sv_sim_setup setup = plain;
        sv_sim_result *result = NULL;
        setup.source = &source;
        d->messages = 40;
        for (uint32_t t = 0; t < d->f->num_terminals; t++) {
            d->left[t] = d->messages;
            sv_rng_init(&d->rng[t], t + 1);
        }
        ctx = sv_ctx_new(&host);
        assert_non_null(ctx);
        sv_ctx_set_threads(ctx, 2);
        memory.fail_at = memory.count + n;
        sv_status status = sv_simulate(ctx, d->f, d->r, &setup, &result);
        reached = memory.count >= memory.fail_at;
        assert_int_equal(status, reached ? SV_NO_MEMORY : SV_OK);
        assert_true((status == SV_OK) == (result != NULL));
        sv_sim_free(result);
        sv_ctx_free(ctx);
        assert_int_equal(memory.blocks, 0);
    }
    ctx = usual;
    assert_true(n > 30); /* most of them before threads begin, the last ones by them */
    drawn_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completed_runs_are_the_same),
        cmocka_unit_test(windows_timelines_and_limits_are_the_same),
        cmocka_unit_test(deadlocks_are_the_same),
        cmocka_unit_test(late_threads_change_nothing),
        cmocka_unit_test(all_threads_take_part),
        cmocka_unit_test(waiting_takes_no_processor),
        cmocka_unit_test(failures_end_the_run_for_all),
        cmocka_unit_test(memory_may_end_in_any_thread),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
