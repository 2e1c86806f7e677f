/*
 * test_adapt_drb.c: distributed routing balancing, all four kinds, against drb_oracle.c and
 * drb_network.c in simulations: every choice, look, acknowledgement, notice, watchdog and decision
 * is worked out a second time, and what is left at the end is compared; what packets carry is
 * written and read as bytes (drb_wire.c).
 *
 *     oracle_test_adapt_drb [TRIALS [SEED]]
 *
 * Random fabrics with failures, tables of several engines, random parameters of all keys; bursts of
 * a few patterns that come again, and messages between them. Every third predictive run is made
 * once more with the solutions that it left behind, by the same parameters or others.
 */
#include "adapt_case.h"
#include "base/file.h"
#include "drb_network.h"
#include "support/trials.h"

enum { MAX_RANKS = 128, MAX_MESSAGES = 700, MAX_STILL = 30 };

static sv_ctx *ctx;
static uint32_t trials = 400;
static uint64_t seed = 1;
static char what[600];

typedef struct trial {
    adapt_case c;
    sv_sim_model model;
    char spec[500];
    bool fast, predictive;
    uint64_t limit;
    sv_node ranks[MAX_RANKS];
    uint32_t num_ranks;
    drb_message messages[MAX_MESSAGES];
    uint64_t ready[MAX_MESSAGES];
    uint32_t num_messages, next[MAX_RANKS];
} trial;

/* What happened in all of them. */
static struct totals {
    uint64_t choices, detours, acks, notices, opened, closed, watchdogs, foreseen, patterns,
        applied, improved, failed, seeded, looks, told, draws, at_once, unasked, wire_data,
        wire_turned, wire_acks, wire_told;
    double drawn;
} totals;

static uint32_t below(sv_rng *rng, uint32_t bound)
{
    return (uint32_t)sv_rng_below(rng, bound);
}

/* A number between two, which is nobody's threshold. */
static double between(sv_rng *rng, double from, double to)
{
    return from + (to - from) * (below(rng, 9973) + 0.37) / 9973;
}

/* ---- what is drawn ---- */

static void draw_model(trial *t, sv_rng *rng)
{
    static const uint32_t mtus[] = {256, 512, 1024, 2048};
    t->model = (sv_sim_model){.cable = 2 * below(rng, 5000),
                              .credit = 2 + 2 * below(rng, 3000),
                              .switch_delay = 2 * below(rng, 100000),
                              .input = 50 + below(rng, 100),
                              .output = 50 + below(rng, 50),
                              .speedup = 100 * (1 + below(rng, 3)),
                              .ways = 1 + below(rng, 3),
                              .mtu_bytes = mtus[below(rng, 4)],
                              .header_bytes = 10 + below(rng, 30),
                              .drain = 600 * (1 + below(rng, 3)),
                              .inject = below(rng, 3) == 0 ? 1400 : 0,
                              .inband_bytes = below(rng, 3) == 0 ? 8 : 0,
                              .open = 1 + below(rng, 3),
                              .voq = below(rng, 2) == 0,
                              .byte_ticks = 1200};
}

__attribute__((format(printf, 2, 3))) static void put(trial *t, const char *form, ...)
{
    size_t length = strlen(t->spec);
    va_list list;
    va_start(list, form);
    vsnprintf(t->spec + length, sizeof t->spec - length, form, list);
    va_end(list);
}

static void draw_predictive(trial *t, sv_rng *rng)
{
    if (below(rng, 4) > 0)
        put(t, ",contention=%uns", 1 + below(rng, 1500));
    if (below(rng, 4) > 0)
        put(t, ",look=%uns", 1 + below(rng, 3000));
    put(t, ",flows=%u", 1 + below(rng, 10));
    put(t, ",share=%.4f", below(rng, 3) == 0 ? 0 : between(rng, 0, 0.4));
    put(t, ",notify=%s", below(rng, 2) == 0 ? "router" : "destination");
    put(t, ",similar=%.2f", 0.1 * (1 + below(rng, 10)));
    put(t, ",trial=%u", 1 + below(rng, 6));
    if (below(rng, 3) == 0)
        put(t, ",apply=message");
    if (below(rng, 2) == 0) {
        put(t, ",trend=%u", 1 + below(rng, 6));
        put(t, ",ahead=%.4f", between(rng, 0, 8));
    }
}

static void draw_spec(trial *t, sv_rng *rng)
{
    static const char *const names[] = {"drb", "fr-drb", "pr-drb", "pr-fr-drb"};
    uint32_t kind = below(rng, 6);
    kind = kind < 4 ? kind : kind - 2;
    t->fast = kind % 2 == 1;
    t->predictive = kind >= 2;
    put(t, "%s", names[kind]);
    put(t, ":paths=%u", 1 + below(rng, 6));
    put(t, ",vias=%u", 1 + below(rng, 2));
    put(t, ",reach=%u", 1 + below(rng, 3));
    put(t, ",stretch=%u", below(rng, 5));
    put(t, ",smooth=%.4f", below(rng, 4) == 0 ? 1 : between(rng, 0.05, 1));
    put(t, ",high=%.4f", between(rng, 0.9, below(rng, 2) == 0 ? 1.5 : 4));
    put(t, ",low=%.4f", between(rng, 0.2, 1.2));
    put(t, ",ack=%s", below(rng, 2) == 0 ? "message" : "packet");
    put(t, ",by=%s", below(rng, 3) > 0 ? "message" : "packet");
    put(t, ",adaptive=%u", below(rng, 3) == 0 ? 1U : 0U);
    if (t->fast)
        put(t, ",watchdog=%.1f", 1 + 0.5 * below(rng, 8));
    if (t->predictive)
        draw_predictive(t, rng);
}

/* Who sends to whom in a pattern: random partners, or a few hot ones. */
static uint32_t partner(const trial *t, sv_rng *rng, uint32_t rank, uint32_t hot)
{
    uint32_t to = below(rng, 3) > 0 ? hot : below(rng, t->num_ranks);
    return to == rank ? (to + 1) % t->num_ranks : to;
}

static void add_message(trial *t, uint32_t from, uint32_t to, uint32_t bytes, uint64_t ready)
{
    if (t->num_messages == MAX_MESSAGES)
        return;
    uint32_t packets = (bytes + t->model.mtu_bytes - 1) / t->model.mtu_bytes;
    const uint32_t *first = &t->c.r->first[t->ranks[to].i]; /* any of its addresses */
    uint32_t address = (t->num_messages * 2654435769U >> 20) % (first[1] - first[0]);
    t->ready[t->num_messages] = ready;
    t->messages[t->num_messages++] = (drb_message){.from = t->ranks[from].i - t->c.f->num_switches,
                                                   .to = t->ranks[to].i - t->c.f->num_switches,
                                                   .destination = first[0] + address,
                                                   .bytes = bytes,
                                                   .packets = packets > 0 ? packets : 1};
}

static void draw_traffic(trial *t, sv_rng *rng)
{
    uint32_t patterns = 1 + below(rng, 2), to[2][MAX_RANKS], bursts = 2 + below(rng, 4);
    uint32_t each = 2 + below(rng, 8), parts = 1 + below(rng, 3);
    bool mixed = below(rng, 3) == 0; /* messages of a burst are of both patterns */
    uint64_t packet = (uint64_t)(t->model.mtu_bytes + 60) * t->model.byte_ticks, time = 0;
    for (uint32_t k = 0; k < patterns; k++) {
        uint32_t hot = below(rng, t->num_ranks);
        for (uint32_t i = 0; i < t->num_ranks; i++)
            to[k][i] = below(rng, 3) > 0 ? partner(t, rng, i, hot) : SV_NONE;
    }
    for (uint32_t b = 0; b < bursts; b++) {
        uint32_t k = below(rng, patterns);
        for (uint32_t m = 0; m < each; m++, time += 2 * (packet * parts * below(rng, 3) / 4))
            for (uint32_t i = 0; i < t->num_ranks; i++) {
                if (mixed)
                    k = below(rng, patterns);
                if (to[k][i] != SV_NONE)
                    add_message(t, i, to[k][i], below(rng, parts * t->model.mtu_bytes + 1), time);
            }
        uint32_t calm = below(rng, 6);
        for (uint32_t m = 0; m < calm; m++, time += 20 * packet)
            for (uint32_t i = 0; i < t->num_ranks; i++)
                if (to[k][i] != SV_NONE && below(rng, 2) == 0)
                    add_message(t, i, to[k][i], 1 + below(rng, t->model.mtu_bytes),
                                time + packet * below(rng, 9));
        time += 2 * packet * below(rng, 40);
    }
}

/* ---- running ---- */

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The next message of a terminal; times ascend: the k-th has the k-th time of its terminal. */
static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    trial *t = user;
    uint64_t times[MAX_MESSAGES];
    uint32_t count = 0, own = SV_NONE, turn = t->next[terminal];
    for (uint32_t i = 0; i < t->num_messages; i++)
        if (t->messages[i].from == terminal) {
            if (count == turn)
                own = i;
            times[count++] = t->ready[i];
        }
    if (own == SV_NONE)
        return false;
    qsort(times, count, sizeof *times, by_time);
    const drb_message *m = &t->messages[own];
    *message = (sv_sim_message){.ready = times[t->next[terminal]++],
                                .destination = m->destination,
                                .bytes = m->bytes,
                                .tag = DRB_DATA | own};
    return true;
}

static void compare_reports(const drb_net *n, const sv_sim_result *result)
{
    const sv_adapt_report is = sv_adapt_end(n->a), *o = &n->o.report;
    const sv_adapt_router *routers = sv_adapt_routers(n->a);
    assert_int_equal(is.choices, o->choices);
    assert_int_equal(is.detours, o->detours);
    assert_int_equal(is.acks, o->acks);
    assert_int_equal(is.predictive_acks, o->predictive_acks);
    assert_int_equal(is.notices, o->notices);
    assert_int_equal(is.opened, o->opened);
    assert_int_equal(is.closed, o->closed);
    assert_int_equal(is.watchdogs, o->watchdogs);
    assert_int_equal(is.foreseen, o->foreseen);
    assert_int_equal(is.patterns, o->patterns);
    assert_int_equal(is.seeded, o->seeded);
    assert_int_equal(is.repeated, o->repeated);
    assert_int_equal(is.applied, o->applied);
    assert_int_equal(is.max_applied, o->max_applied);
    assert_int_equal(is.improved, o->improved);
    assert_int_equal(is.unasked, o->unasked);
    assert_int_equal(is.failed, o->failed);
    assert_int_equal(is.pairs, o->pairs);
    assert_int_equal(is.max_paths, o->max_paths);
    assert_int_equal(routers != NULL, n->o.predictive);
    for (uint32_t s = 0; routers != NULL && s < n->o.f->num_switches; s++) {
        assert_int_equal(routers[s].notices, n->o.routers[s].notices);
        assert_int_equal(routers[s].patterns, n->o.routers[s].patterns);
        assert_int_equal(routers[s].repeated, n->o.routers[s].repeated);
        assert_int_equal(routers[s].applied, n->o.routers[s].applied);
    }
    assert_int_equal(result->control_packets, o->acks - n->unsent + o->predictive_acks);
    assert_int_equal(result->control_bytes, n->control_bytes);
    assert_int_equal(result->detours, n->detours);
}

static void count_totals(const drb_net *n)
{
    const sv_adapt_report *o = &n->o.report;
    totals.choices += o->choices;
    totals.detours += o->detours;
    totals.acks += o->acks;
    totals.notices += o->notices;
    totals.opened += o->opened;
    totals.closed += o->closed;
    totals.watchdogs += o->watchdogs;
    totals.foreseen += o->foreseen;
    totals.patterns += o->patterns;
    totals.applied += o->applied;
    totals.improved += o->improved;
    totals.unasked += o->unasked;
    totals.failed += o->failed;
    totals.seeded += o->seeded;
    totals.looks += n->looks;
    totals.told += n->told;
    totals.draws += n->draws;
    totals.at_once += n->at_once;
    totals.drawn += n->sum_drawn;
    totals.wire_data += n->wire_data;
    totals.wire_turned += n->wire_turned;
    totals.wire_acks += n->wire_acks;
    totals.wire_told += n->wire_told;
}

/* One run; store: what it begins with, or NULL; left: where its solutions go, or NULL. */
static void run(trial *t, const char *store, test_buffer *left)
{
    static drb_net n;
    sv_memory memory = {store, store == NULL ? 0 : strlen(store)};
    sv_source solutions = sv_memory_source(&memory, "store");
    const sv_adapt_request request = {.spec = t->spec,
                                      .model = &t->model,
                                      .seed = seed,
                                      .max_vls = SV_MAX_VLS,
                                      .unproven = true,
                                      .store = store == NULL ? NULL : &solutions};
    sv_adapt *a = NULL;
    unsigned vls = 0;
    sv_sim_result *result = NULL;
    sv_status status = sv_adapt_new(ctx, t->c.f, t->c.r, &request, &a, &vls);
    if (status == SV_INFEASIBLE) /* more VLs than there can be */
        return;
    if (status == SV_BAD_INPUT && store != NULL) { /* the only thing that may be wrong with it */
        assert_non_null(strstr(sv_ctx_message(ctx), "vias, and the policy"));
        return;
    }
    assert_int_equal(status, SV_OK);
    t->model.vls = vls;
    memset(t->next, 0, sizeof t->next);
    for (uint32_t i = 0; i < t->num_messages; i++)
        t->messages[i].chosen = t->messages[i].injected = 0;
    drb_net_begin(&n, ctx, t->c.f, t->c.r, &t->model, a, t->fast, t->predictive);
    n.messages = t->messages;
    sv_sim_source source = {.user = t, .next = next_message};
    const sv_sim_setup setup = {.model = t->model,
                                .control = {.limit = t->limit},
                                .source = &source,
                                .watch = &n.watch,
                                .policy = &n.outer};
    OK(ctx, sv_simulate(ctx, t->c.f, t->c.r, &setup, &result));
    drb_net_finish(&n);
    compare_reports(&n, result);
    count_totals(&n);
    if (left != NULL) {
        sv_sink sink = test_sink(left);
        OK(ctx, sv_adapt_store_write(ctx, a, &sink));
    }
    sv_sim_free(result);
    drb_net_end(&n);
    sv_adapt_free(a);
}

/* Another policy that predicts. */
static void draw_again(trial *t, sv_rng *rng)
{
    do {
        t->spec[0] = 0;
        draw_spec(t, rng);
    } while (!t->predictive);
    snprintf(what, sizeof what, "%s by %s, %u failed, with a store: %.430s", t->c.spec, t->c.engine,
             t->c.failed, t->spec);
}

/* Path 0 alone for some pairs that talk, before or behind what is there; and messages ask. */
static void add_still(trial *t, sv_rng *rng, test_buffer *store)
{
    char *text = malloc(store->length + MAX_STILL * 200 + 1), *at = text;
    assert_non_null(text);
    bool before = below(rng, 2) == 0;
    if (!before)
        at += sprintf(at, "%s", store->text);
    for (uint32_t i = 1 + below(rng, MAX_STILL); i > 0 && t->num_messages > 0; i--) {
        const drb_message *m = &t->messages[below(rng, t->num_messages)];
        const char *from = sv_node_name(t->c.f, (sv_node){t->c.f->num_switches + m->from});
        const char *to = sv_node_name(t->c.f, (sv_node){t->c.f->num_switches + m->to});
        at +=
            sprintf(at, "%.30s %.30s latency 1 path 0 - - flow %.30s %.30s\n", from, to, from, to);
    }
    if (before)
        sprintf(at, "%s", store->text);
    free(store->text);
    store->text = text;
    if (strstr(t->spec, "apply=") == NULL)
        put(t, ",apply=message");
}

static void one(void)
{
    static trial t;
    sv_rng rng;
    sv_rng_init(&rng, seed);
    t = (trial){.limit = SV_NEVER};
    t.c = adapt_draw(ctx, &rng, true);
    draw_model(&t, &rng);
    draw_spec(&t, &rng);
    snprintf(what, sizeof what, "%s by %s, %u failed: %.450s", t.c.spec, t.c.engine, t.c.failed,
             t.spec);
    t.num_ranks = adapt_ranks(&t.c, t.ranks);
    if (below(&rng, 4) == 0)
        t.limit = 1 + sv_rng_below(&rng, 300000000);
    if (t.num_ranks >= 2) {
        test_buffer left = {0};
        bool twice = t.predictive && below(&rng, 3) == 0;
        draw_traffic(&t, &rng);
        run(&t, NULL, twice ? &left : NULL);
        if (left.text != NULL && below(&rng, 2) == 0)
            draw_again(&t, &rng);
        if (left.text != NULL && below(&rng, 2) == 0)
            add_still(&t, &rng, &left);
        if (left.text != NULL)
            run(&t, left.text, NULL);
        free(left.text);
    }
    adapt_free(&t.c);
}

static void same_runs(void **state)
{
    uint64_t first = seed;
    (void)state;
    for (uint32_t i = 0; i < trials; i++) {
        seed = first + i;
        one();
    }
    seed = first;
    const struct totals *s = &totals;
    print_message("%llu choices (%llu detours), %llu acks, %llu looks, %llu told, %llu notices\n",
                  (unsigned long long)s->choices, (unsigned long long)s->detours,
                  (unsigned long long)s->acks, (unsigned long long)s->looks,
                  (unsigned long long)s->told, (unsigned long long)s->notices);
    print_message("%llu opened, %llu closed, %llu late, %llu foreseen, %llu kept (%llu seeded), "
                  "%llu improved, %llu applied (%llu unasked), %llu failed\n",
                  (unsigned long long)s->opened, (unsigned long long)s->closed,
                  (unsigned long long)s->watchdogs, (unsigned long long)s->foreseen,
                  (unsigned long long)s->patterns, (unsigned long long)s->seeded,
                  (unsigned long long)s->improved, (unsigned long long)s->applied,
                  (unsigned long long)s->unasked, (unsigned long long)s->failed);
    print_message("as bytes: %llu heads of data (%llu beyond a via), %llu acks (%llu with flows)\n",
                  (unsigned long long)s->wire_data, (unsigned long long)s->wire_turned,
                  (unsigned long long)s->wire_acks, (unsigned long long)s->wire_told);
    if (trials >= 100) {
        assert_true(s->wire_turned > trials && s->wire_told > trials);
        assert_true(s->wire_data >= s->choices / 2 && s->wire_acks >= s->acks / 2);
        assert_true(s->opened > trials && s->closed > 0 && s->at_once > 0 && s->watchdogs > trials);
        assert_true(s->patterns > s->seeded && s->seeded > 0 && s->foreseen > 0);
        assert_true(s->applied > s->failed && s->failed > 0 && s->improved > 0);
        assert_true(s->unasked > 0);
        double mean = s->drawn / (double)s->draws; /* with its error, five times */
        assert_true((mean - 0.5) * (mean - 0.5) < 25.0 / 12 / (double)s->draws);
    }
}

int main(int argc, char **argv)
{
    trials = test_trials(argc, argv, trials);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_runs)};
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) /* seed is still that of the trial */
        print_error("%s\noracle_test_adapt_drb 1 %llu shows it\n", what, (unsigned long long)seed);
    sv_ctx_free(ctx);
    return failed;
}
