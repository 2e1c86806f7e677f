/*
 * test_live_phases.c: five phases around sweeps: when base entries are handed over, when a sweep is
 * wanted, what becomes of updates that are called off. Subscribers are mails that the test writes.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>

#include "base/rng.h"
#include "support/living.h"

static const char torus[] = "torus:3x3,hosts=1";
static const sv_five_options times = {
    .retry = 10, .tries = 3, .lease = 300, .margin = 50, .patience = 100, .epoch = 40};
enum { SOMEBODY = 7, RIPE = 300 };

static sv_live *live;
static sv_live_phases *phases;
static sv_five_manager *manager;
static sv_routes *old; /* base entries of the first sweep */

static int begin_bed(void **state)
{
    begin(state);
    sv_live_options options = defaults();
    options.update = SV_LIVE_FIVE;
    options.route.lmc = 1;
    options.route.vls = 4;
    live = start(&options);
    OK(ctx, sv_live_phases_new(ctx, &times, 0, &phases));
    manager = sv_live_phases_manager(phases);
    sweep(live, found_with(torus, NULL, 1), 0);
    OK(ctx, sv_live_phases_choose(phases, live, 0));
    OK(ctx, sv_routes_clone(ctx, sv_live_held(live), &old));
    return 0;
}

static int end_bed(void **state)
{
    sv_routes_free(old);
    sv_live_phases_free(phases);
    sv_live_free(live);
    return end(state);
}

/* A sweep that finds a fabric without something. */
static void find(const char *without, uint64_t now)
{
    sweep(live, found_with(torus, without, 1), 0);
    OK(ctx, sv_live_phases_choose(phases, live, now));
}

/* Whether switches are to hold the base entries of the first sweep. */
static bool is_old(void)
{
    const sv_routes *held = sv_live_held(live);
    for (uint32_t d = 0; d < old->num_destinations; d++)
        if (d == old->first[old->node[d].i] &&
            memcmp(held->ports[d], old->ports[d], old->num_switches) != 0)
            return false;
    return true;
}

static void say(sv_five_kind kind, uint64_t now)
{
    static uint32_t serial;
    bool answers = kind == SV_FIVE_HEARD || kind == SV_FIVE_DONE;
    const sv_five_mail mail = {.kind = kind,
                               .subscriber = SOMEBODY,
                               .epoch = answers ? sv_five_manager_count(manager).epoch : 0,
                               .serial = answers ? 0 : ++serial};
    OK(ctx, sv_five_manager_receive(manager, &mail, now));
}

/* Whether a mail of a kind goes out; all others are read and forgotten. */
static bool hears(sv_five_kind kind)
{
    sv_five_mail mail;
    bool found = false;
    while (sv_five_manager_next(manager, &mail)) {
        assert_int_equal(mail.subscriber, SOMEBODY);
        found |= mail.kind == kind;
    }
    return found;
}

static bool wants(uint64_t now)
{
    return sv_live_phases_wants_sweep(phases, now);
}

static sv_five_phase phase(void)
{
    return sv_five_manager_phase(manager);
}

static void test_nobody(void **state)
{
    (void)state;
    sv_live_news news;
    assert_false(sv_live_phases_news(phases, &news));
    find("cable 3", RIPE);
    assert_false(is_old());
    assert_true(sv_live_phases_left(phases));
    assert_int_equal(phase(), SV_FIVE_PROGRAM);
    assert_true(sv_live_phases_news(phases, &news));
    assert_int_equal(news.from, SV_FIVE_IDLE);
    assert_int_equal(news.to, SV_FIVE_PROGRAM);
    assert_false(wants(RIPE));
    sv_live_phases_confirmed(phases, RIPE);
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_false(wants(RIPE));
    assert_false(sv_live_phases_left(phases) && sv_live_next(live) != SV_LIVE_GATE_NONE);
}

static void test_one(void **state)
{
    (void)state;
    say(SV_FIVE_SUBSCRIBE, RIPE);
    find("cable 3", RIPE);
    assert_int_equal(phase(), SV_FIVE_LEAVE);
    assert_true(hears(SV_FIVE_UNPATH));
    assert_true(is_old());
    assert_false(wants(RIPE));
    say(SV_FIVE_HEARD, RIPE + 1);
    find("cable 3", RIPE + 2); /* a sweep in between, and its end */
    sv_live_phases_confirmed(phases, RIPE + 2);
    assert_true(is_old());
    assert_int_equal(phase(), SV_FIVE_LEAVE);
    say(SV_FIVE_DONE, RIPE + 3);
    assert_int_equal(phase(), SV_FIVE_PROGRAM);
    assert_true(wants(RIPE + 3));
    sv_live_phases_confirmed(phases, RIPE + 3); /* the end of a sweep that began before */
    assert_int_equal(phase(), SV_FIVE_PROGRAM);
    find("cable 3", RIPE + 4);
    assert_false(is_old());
    assert_true(sv_live_phases_left(phases));
    assert_false(wants(RIPE + 4));
    assert_int_equal(phase(), SV_FIVE_PROGRAM);
    sv_live_phases_confirmed(phases, RIPE + 5);
    assert_int_equal(phase(), SV_FIVE_RETURN);
    assert_true(hears(SV_FIVE_REPATH));
    say(SV_FIVE_DONE, RIPE + 6);
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_false(wants(RIPE + 6));
}

/* Who subscribed to a manager before is given time to do so again. */
static void test_too_early(void **state)
{
    (void)state;
    find("cable 3", RIPE - 1);
    assert_true(is_old());
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_false(wants(RIPE - 1));
    assert_true(wants(RIPE));
    find("cable 3", RIPE);
    assert_false(is_old());
}

/* Other tables while somebody returns: they wait until all are back. */
static void test_another(void **state)
{
    (void)state;
    say(SV_FIVE_SUBSCRIBE, RIPE);
    find("cable 3", RIPE);
    say(SV_FIVE_DONE, RIPE + 1);
    find("cable 3", RIPE + 2);
    sv_live_phases_confirmed(phases, RIPE + 3);
    assert_int_equal(phase(), SV_FIVE_RETURN);
    find(NULL, RIPE + 4);
    assert_false(is_old());
    assert_false(wants(RIPE + 4));
    say(SV_FIVE_DONE, RIPE + 5);
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_true(wants(RIPE + 5));
    find(NULL, RIPE + 6);
    assert_int_equal(phase(), SV_FIVE_LEAVE);
    assert_int_equal(sv_five_manager_count(manager).updates, 2);
    say(SV_FIVE_DONE, RIPE + 7);
    find(NULL, RIPE + 8);
    assert_true(is_old());
}

/* The fabric is as it was before anybody has left: nothing is to be done, but they come back. */
static void test_never_mind(void **state)
{
    (void)state;
    say(SV_FIVE_SUBSCRIBE, RIPE);
    find("cable 3", RIPE);
    find(NULL, RIPE + 1);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    assert_int_equal(phase(), SV_FIVE_LEAVE);
    assert_false(wants(RIPE + 1));
    say(SV_FIVE_DONE, RIPE + 2);
    assert_true(wants(RIPE + 2));
    find(NULL, RIPE + 3);
    sv_live_phases_confirmed(phases, RIPE + 4);
    assert_int_equal(phase(), SV_FIVE_RETURN);
    assert_true(is_old());
}

/* Somebody hears, and does not leave: entries that are good stay; tried again by the next sweep. */
static void test_called_off(void **state)
{
    (void)state;
    sv_live_news news;
    find("cable 3", RIPE);
    sv_live_phases_confirmed(phases, RIPE);
    sv_routes_free(old);
    OK(ctx, sv_routes_clone(ctx, sv_live_held(live), &old));
    say(SV_FIVE_SUBSCRIBE, RIPE);
    find(NULL, RIPE + 1); /* a cable is back: nothing is broken */
    assert_false(sv_live_broken(live));
    say(SV_FIVE_HEARD, RIPE + 2);
    sv_five_manager_tick(manager, RIPE + 150);
    assert_int_equal(phase(), SV_FIVE_RETURN);
    assert_true(sv_live_phases_news(phases, &news));
    assert_int_equal(news.called_off, 1);
    assert_false(news.forced);
    assert_false(wants(RIPE + 150));
    find(NULL, RIPE + 151);
    assert_true(is_old());
    say(SV_FIVE_DONE, RIPE + 152);
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_false(wants(RIPE + 152));
    find(NULL, RIPE + 153);
    assert_int_equal(phase(), SV_FIVE_LEAVE);
    assert_true(is_old());
    say(SV_FIVE_DONE, RIPE + 154);
    find(NULL, RIPE + 155);
    assert_false(is_old());
}

/* The same with paths that are lost anyway: they are mended. */
static void test_forced(void **state)
{
    (void)state;
    sv_live_news news;
    say(SV_FIVE_SUBSCRIBE, RIPE);
    find("cable 3", RIPE);
    assert_true(sv_live_broken(live));
    say(SV_FIVE_HEARD, RIPE + 2);
    sv_five_manager_tick(manager, RIPE + 150);
    assert_true(sv_live_phases_news(phases, &news));
    assert_true(news.forced);
    assert_true(wants(RIPE + 150));
    find("cable 3", RIPE + 151);
    assert_false(is_old());
    assert_false(sv_live_phases_left(phases));
    assert_false(wants(RIPE + 151));
    assert_int_equal(phase(), SV_FIVE_RETURN);
    sv_live_phases_confirmed(phases, RIPE + 152);
    assert_int_equal(phase(), SV_FIVE_RETURN);
}

/* ---- a walk: real subscribers, datagrams that get lost, sweeps at any time ---- */

enum { WALKERS = 3, POST = 4000 };

struct post {
    uint64_t when;
    bool up; /* to the manager */
    sv_five_mail mail;
};

struct walk {
    sv_rng rng;
    uint64_t now, confirm_at; /* 0: no sweep under way */
    unsigned loss;            /* percent */
    struct post *post;
    size_t count;
    sv_five_subscriber *walker[WALKERS];
    bool dead[WALKERS];
    uint64_t drained[WALKERS]; /* 0: nothing drains */
    sv_routes *held;           /* what was handed over last */
    uint32_t changes;          /* of base entries with somebody alive */
};

static unsigned draw(struct walk *w, unsigned max)
{
    return (unsigned)sv_rng_below(&w->rng, max);
}

static void put_post(struct walk *w, bool up, const sv_five_mail *mail)
{
    if (draw(w, 100) < w->loss || w->count == POST)
        return;
    w->post[w->count++] = (struct post){w->now + 1 + draw(w, 6), up, *mail};
}

static void deliver(struct walk *w)
{
    for (size_t i = 0; i < w->count;) {
        struct post p = w->post[i];
        if (p.when > w->now) {
            i++;
            continue;
        }
        w->post[i] = w->post[--w->count];
        if (p.up)
            OK(ctx, sv_five_manager_receive(manager, &p.mail, w->now));
        else if (!w->dead[p.mail.subscriber])
            sv_five_subscriber_receive(w->walker[p.mail.subscriber], &p.mail, w->now);
    }
}

static void move_walkers(struct walk *w)
{
    sv_five_mail mail;
    for (unsigned i = 0; i < WALKERS; i++) {
        if (w->dead[i])
            continue;
        if (sv_five_subscriber_due(w->walker[i]) <= w->now)
            sv_five_subscriber_tick(w->walker[i], w->now);
        sv_five_place place = sv_five_subscriber_place(w->walker[i]);
        bool moves = place == SV_FIVE_LEAVING || place == SV_FIVE_RETURNING;
        if (moves && w->drained[i] == 0)
            w->drained[i] = w->now + 1 + draw(w, 20);
        if (moves && w->drained[i] <= w->now) {
            sv_five_subscriber_migrated(w->walker[i], w->now);
            w->drained[i] = 0;
        }
        while (sv_five_subscriber_next(w->walker[i], &mail))
            put_post(w, true, &mail);
    }
    if (sv_five_manager_due(manager) <= w->now)
        sv_five_manager_tick(manager, w->now);
    while (sv_five_manager_next(manager, &mail))
        put_post(w, false, &mail);
}

/* Whether somebody alive has flows on base addresses. */
static bool is_on_base(const struct walk *w)
{
    for (unsigned i = 0; i < WALKERS; i++) {
        sv_five_place place = sv_five_subscriber_place(w->walker[i]);
        if (!w->dead[i] && place != SV_FIVE_OUTSIDE && place != SV_FIVE_ON_HIGH)
            return true;
    }
    return false;
}

/* A sweep; if it changes base entries, nobody may be on them until that is confirmed. */
static void sweep_walk(struct walk *w, const char *without)
{
    bool changed = false;
    find(without, w->now);
    const sv_routes *held = sv_live_held(live);
    for (uint32_t d = 0; d < held->num_destinations; d++)
        changed |= d == held->first[held->node[d].i] &&
                   memcmp(held->ports[d], w->held->ports[d], held->num_switches) != 0;
    if (changed) {
        assert_false(is_on_base(w));
        w->changes += !w->dead[0] || !w->dead[1] || !w->dead[2];
    }
    sv_routes_free(w->held);
    OK(ctx, sv_routes_clone(ctx, held, &w->held));
    w->confirm_at = w->now + 1 + draw(w, 15);
}

static void step(struct walk *w, bool calm)
{
    static const char *const fabrics[] = {NULL, "cable 3", "cable 8", "cable 12"};
    static unsigned found_last;
    w->now += 1 + draw(w, 4);
    deliver(w);
    move_walkers(w);
    if (sv_five_manager_phase(manager) == SV_FIVE_PROGRAM)
        assert_false(is_on_base(w));
    if (w->confirm_at != 0 && w->confirm_at <= w->now) {
        sv_live_phases_confirmed(phases, w->now);
        w->confirm_at = 0;
    }
    bool any = !calm && draw(w, 40) == 0;
    found_last = any ? draw(w, 4) : found_last;
    if (w->confirm_at == 0 && (any || wants(w->now)))
        sweep_walk(w, fabrics[found_last]);
    if (!calm && draw(w, 2000) == 0)
        w->dead[draw(w, WALKERS)] = true;
}

static void end_walk(struct walk *w)
{
    w->loss = 0;
    for (unsigned i = 0; i < 2000; i++)
        step(w, true);
    assert_int_equal(phase(), SV_FIVE_IDLE);
    assert_int_equal(sv_live_next(live), SV_LIVE_GATE_NONE);
    for (unsigned i = 0; i < WALKERS; i++) {
        if (!w->dead[i])
            assert_int_equal(sv_five_subscriber_place(w->walker[i]), SV_FIVE_ON_BASE);
        sv_five_subscriber_free(w->walker[i]);
    }
    sv_routes_free(w->held);
    free(w->post);
}

static void test_walks(void **state)
{
    uint32_t changes = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct walk w = {.loss = seed % 4 * 10, .post = calloc(POST, sizeof *w.post)};
        sv_five_options options = times;
        options.patience = 0; /* nothing is called off, so nothing is forced */
        assert_non_null(w.post);
        begin_bed(state);
        sv_live_phases_free(phases);
        OK(ctx, sv_live_phases_new(ctx, &options, 0, &phases));
        manager = sv_live_phases_manager(phases);
        OK(ctx, sv_routes_clone(ctx, sv_live_held(live), &w.held));
        sv_rng_init(&w.rng, seed);
        for (unsigned i = 0; i < WALKERS; i++) {
            OK(ctx, sv_five_subscriber_new(ctx, i, &options, &w.walker[i]));
            sv_five_subscriber_begin(w.walker[i], 0);
        }
        for (unsigned i = 0; i < 1500; i++)
            step(&w, false);
        end_walk(&w);
        changes += w.changes;
        end_bed(state);
    }
    assert_true(changes > 50);
}

static void test_wrong_options(void **state)
{
    (void)state;
    sv_five_options wrong = times;
    sv_live_phases *none = NULL;
    wrong.tries = 0;
    assert_int_equal(sv_live_phases_new(ctx, &wrong, 0, &none), SV_BAD_INPUT);
    assert_null(none);
}

int main(void)
{
#define BED(name) cmocka_unit_test_setup_teardown(name, begin_bed, end_bed)
    const struct CMUnitTest tests[] = {
        BED(test_nobody),  BED(test_one),           BED(test_too_early),
        BED(test_another), BED(test_never_mind),    BED(test_called_off),
        BED(test_forced),  BED(test_wrong_options), cmocka_unit_test(test_walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
