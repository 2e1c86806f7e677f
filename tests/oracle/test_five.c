/*
 * test_five.c: the machines of the five phases (update.h) in random trials, watched from outside.
 *
 * A trial has one manager, a few applications with flows, and a network that loses, delays and
 * doubles datagrams, some until long after leases have ended. Applications join, leave, die, and
 * numbers are used again; managers are started again; updates begin at any time. Flows drain and
 * migrate one by one, in up to `margin`. The checker knows nothing of epochs and leases: it looks
 * at where flows are.
 *
 *   1 base      while the manager programs, nobody alive has flows on base addresses, or may have
 *               any moment
 *   2 tables    no flow stays on base addresses from one set of tables to the next
 *   3 end       leaving and returning are over in the time that the options promise
 *   4 quiet     once nothing is lost and nothing new happens, the manager is idle and everybody on
 *               base addresses
 *   5 truth     DONE is said when it is so
 *
 * With `trust` 1 and 2 do not hold when much is lost: it is counted that they are broken there,
 * so they can be.
 *
 *     oracle_test_five [TRIALS [SEED]]
 *
 * mutate_five.py shows that mutants do not come through.
 */
#include "support/testing.h"
#include "support/trials.h"

#include "update/five.h"

enum { APPS = 5, FLOWS = 3, MAILS = 4096, MAX_DELAY = 8 };

static sv_ctx *ctx;
static uint32_t trials = 6000;
static uint64_t seed = 1, present;

/* splitmix64 */
static uint64_t roll(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct flow {
    bool on_base;
    uint64_t moves;  /* when it has drained and goes to the other address; UINT64_MAX: it stays */
    uint32_t tables; /* the set it came to base addresses under */
};

struct app {
    sv_five_subscriber *machine; /* NULL: dead, or not born yet */
    sv_five_place place;
    bool begun;
    struct flow flows[FLOWS];
    uint64_t gone; /* when the manager is told that it has gone, if nobody has its number then */
};

struct letter {
    uint64_t at;
    bool to_manager;
    sv_five_mail mail;
};

struct world {
    uint64_t dice, now;
    sv_five_options options;
    sv_five_manager *manager;
    struct app apps[APPS];
    struct letter letters[MAILS];
    uint32_t num_letters;
    uint32_t loss, doubling, delay, odd_delay; /* the first two in percent */
    uint64_t longest;                          /* that a datagram was under way, or may be */
    uint64_t programmed;                       /* when phase 3 ends */
    uint64_t since;                            /* the present phase */
    sv_five_phase phase;
    uint32_t tables;
    uint64_t begins; /* no update before that */
    bool lively, hasty, slow, broken, restarts;
};

/* What trials have seen, so that it is known that they see much. */
static struct {
    uint64_t updates, called_off, expelled, turned_back, turned_again, joined_late, fenced, reborn,
        outside, broken, restarts, sent, again;
} seen;

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)(roll(&w->dice) % n);
}

static bool percent(struct world *w, uint32_t n)
{
    return below(w, 100) < n;
}

#define WRONG(...)                                                                                 \
    do {                                                                                           \
        print_error("trial %llu: ", (unsigned long long)present);                                  \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

/* ---- the checker ---- */

static void check_flows(struct world *w)
{
    for (uint32_t a = 0; a < APPS; a++) {
        const struct app *app = &w->apps[a];
        bool wrong = false;
        if (app->machine == NULL || app->place == SV_FIVE_OUTSIDE)
            continue;
        if (w->phase == SV_FIVE_PROGRAM)
            wrong = app->place == SV_FIVE_ON_BASE || app->place == SV_FIVE_RETURNING;
        for (uint32_t i = 0; i < FLOWS; i++)
            if (app->flows[i].on_base)
                wrong |= w->phase == SV_FIVE_PROGRAM || app->flows[i].tables != w->tables;
        if (wrong && !w->options.trust)
            WRONG("application %u has flows on base addresses that change", a);
        w->broken |= wrong;
    }
}

/* In how long leaving or returning is over. */
static uint64_t longest_phase(const struct world *w, bool leave)
{
    const sv_five_options *o = &w->options;
    uint64_t answer = o->retry * o->tries;
    if (leave && o->lease > 0 && !o->trust)
        answer = o->lease;
    if (o->patience > 0)
        return answer + o->patience;
    /* Somebody who has heard takes its time, may die, and its last words be on their way; or none
     * of many come through. */
    return answer + o->margin + 2 * o->lease + 100 * o->retry + 2 * w->longest + 3000;
}

static void look(struct world *w)
{
    sv_five_phase phase = sv_five_manager_phase(w->manager);
    if (phase != w->phase) {
        if (phase == SV_FIVE_PROGRAM) {
            w->tables++;
            w->programmed = w->now + below(w, w->slow ? 600 : 40);
        }
        if (w->phase == SV_FIVE_IDLE && phase != SV_FIVE_LEAVE && phase != SV_FIVE_PROGRAM)
            WRONG("from idle to %d", phase);
        if (w->phase == SV_FIVE_PROGRAM && phase != SV_FIVE_RETURN && phase != SV_FIVE_IDLE)
            WRONG("from programming to %d", phase);
        w->phase = phase;
        w->since = w->now;
    }
    bool waits = phase == SV_FIVE_LEAVE || phase == SV_FIVE_RETURN;
    if (waits && w->now - w->since > longest_phase(w, phase == SV_FIVE_LEAVE))
        WRONG("phase %d has taken more than %llu", phase,
              (unsigned long long)longest_phase(w, phase == SV_FIVE_LEAVE));
    if (waits && sv_five_manager_due(w->manager) == UINT64_MAX)
        WRONG("phase %d waits for ever", phase);
    check_flows(w);
}

static void check_done(struct world *w, const struct app *app, uint32_t epoch)
{
    (void)w;
    if (app->place == SV_FIVE_OUTSIDE)
        return;
    for (uint32_t i = 0; i < FLOWS; i++)
        if (app->flows[i].on_base != !(epoch & 1))
            WRONG("DONE(%u) is not true", epoch);
}

/* ---- the network ---- */

static void post_one(struct world *w, bool to_manager, const sv_five_mail *mail)
{
    uint32_t delay = below(w, w->delay + 1);
    if (percent(w, w->odd_delay))
        delay = below(w, (uint32_t)w->longest);
    assert_true(w->num_letters < MAILS);
    w->letters[w->num_letters++] = (struct letter){w->now + delay, to_manager, *mail};
}

static void post(struct world *w, bool to_manager, const sv_five_mail *mail)
{
    if (!percent(w, w->loss))
        post_one(w, to_manager, mail);
    if (percent(w, w->doubling))
        post_one(w, to_manager, mail);
}

/* ---- flows ---- */

static void follow(struct world *w, struct app *app);

static void take_mail(struct world *w, struct app *app)
{
    sv_five_mail mail;
    if (app != NULL) {
        while (app->machine != NULL && sv_five_subscriber_next(app->machine, &mail)) {
            if (mail.kind == SV_FIVE_DONE)
                check_done(w, app, mail.epoch);
            post(w, true, &mail);
        }
        return;
    }
    while (sv_five_manager_next(w->manager, &mail))
        post(w, false, &mail);
    look(w);
}

/* Whether all flows are where the place leads to. */
static bool arrived(const struct app *app)
{
    for (uint32_t i = 0; i < FLOWS; i++)
        if (app->flows[i].moves != UINT64_MAX)
            return false;
    return app->place == SV_FIVE_LEAVING || app->place == SV_FIVE_RETURNING;
}

static void maybe_migrated(struct world *w, struct app *app)
{
    if (arrived(app)) {
        sv_five_subscriber_migrated(app->machine, w->now);
        follow(w, app);
    }
}

/* After whatever a machine was told. */
static void follow(struct world *w, struct app *app)
{
    sv_five_place before = app->place, place = sv_five_subscriber_place(app->machine);
    app->place = place;
    if (place != before) {
        bool base = place == SV_FIVE_ON_BASE || place == SV_FIVE_RETURNING;
        seen.turned_back += before == SV_FIVE_LEAVING && place == SV_FIVE_RETURNING;
        seen.turned_again += before == SV_FIVE_RETURNING && place == SV_FIVE_LEAVING;
        seen.joined_late += before == SV_FIVE_OUTSIDE && place == SV_FIVE_ON_HIGH;
        if (before == SV_FIVE_OUTSIDE && place != SV_FIVE_ON_BASE && place != SV_FIVE_ON_HIGH)
            WRONG("from outside to %d", place);
        if (before == SV_FIVE_ON_BASE && place != SV_FIVE_LEAVING && place != SV_FIVE_OUTSIDE)
            WRONG("from base to %d", place);
        for (uint32_t i = 0; i < FLOWS; i++) {
            struct flow *flow = &app->flows[i];
            if (before == SV_FIVE_OUTSIDE)
                *flow = (struct flow){.on_base = base, .tables = w->tables};
            flow->moves = UINT64_MAX;
            if (place == SV_FIVE_OUTSIDE)
                flow->on_base = false;
            else if (flow->on_base != base)
                flow->moves = w->now + below(w, (uint32_t)w->options.margin + 1);
        }
        if (place == SV_FIVE_LEAVING && app->machine->fenced)
            seen.fenced++;
        maybe_migrated(w, app);
    }
    take_mail(w, app);
    check_flows(w);
}

static void move_flows(struct world *w, struct app *app)
{
    bool moved = false;
    for (uint32_t i = 0; i < FLOWS; i++) {
        struct flow *flow = &app->flows[i];
        if (flow->moves > w->now)
            continue;
        flow->moves = UINT64_MAX;
        flow->on_base = !flow->on_base;
        flow->tables = w->tables;
        moved = true;
    }
    if (moved)
        maybe_migrated(w, app);
    check_flows(w);
}

/* ---- lives ---- */

static void add_up(struct world *w)
{
    sv_five_count count = sv_five_manager_count(w->manager);
    seen.updates += count.updates;
    seen.called_off += count.called_off;
    seen.expelled += count.expelled;
    seen.sent += count.sent;
    seen.again += count.again;
}

static void die(struct world *w, struct app *app)
{
    sv_five_subscriber_free(app->machine);
    *app = (struct app){.gone = UINT64_MAX};
    for (uint32_t i = 0; i < FLOWS; i++)
        app->flows[i].moves = UINT64_MAX;
    if (w->options.lease == 0 || percent(w, 30))
        app->gone = w->now + below(w, 400);
}

static void be_born(struct world *w, uint32_t number)
{
    struct app *app = &w->apps[number];
    OK(ctx, sv_five_subscriber_new(ctx, number * 7, &w->options, &app->machine));
    app->gone = UINT64_MAX;
    seen.reborn++;
}

static void live(struct world *w, uint32_t number)
{
    struct app *app = &w->apps[number];
    uint32_t what = below(w, 100);
    if (app->machine == NULL) {
        if (what < 40)
            be_born(w, number);
        return;
    }
    if (!app->begun && what < 60) {
        app->begun = true;
        sv_five_subscriber_begin(app->machine, w->now);
    } else if (!app->begun && what < 70) {
        die(w, app);
        return;
    } else if (app->begun && what < 6) {
        app->begun = false;
        sv_five_subscriber_end(app->machine, w->now);
    } else if (app->begun && what < 10) {
        die(w, app);
        if (percent(w, 40)) { /* the number is used again at once */
            be_born(w, number);
            w->apps[number].begun = true;
            sv_five_subscriber_begin(app->machine, w->now);
        } else {
            return;
        }
    }
    follow(w, app);
}

/* Another manager takes over, which knows nobody but the epoch. */
static void restart(struct world *w)
{
    w->options.epoch = sv_five_manager_count(w->manager).epoch;
    add_up(w);
    sv_five_manager_free(w->manager);
    OK(ctx, sv_five_manager_new(ctx, &w->options, &w->manager));
    w->begins = w->now + w->options.lease;
    seen.restarts++;
    look(w);
}

static void happen(struct world *w)
{
    live(w, below(w, APPS));
    if (w->restarts && w->phase != SV_FIVE_PROGRAM && percent(w, 1))
        restart(w);
    if (percent(w, 12) && w->now >= w->begins) {
        bool idle = w->phase == SV_FIVE_IDLE;
        assert_int_equal(sv_five_manager_begin(w->manager, w->now), idle);
        take_mail(w, NULL);
    }
}

/* ---- time ---- */

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_time(const struct world *w)
{
    uint64_t at = sv_five_manager_due(w->manager);
    for (uint32_t i = 0; i < w->num_letters; i++)
        at = sooner(at, w->letters[i].at);
    for (uint32_t a = 0; a < APPS; a++) {
        const struct app *app = &w->apps[a];
        if (app->machine == NULL) {
            at = sooner(at, app->gone);
            continue;
        }
        at = sooner(at, sv_five_subscriber_due(app->machine));
        for (uint32_t i = 0; i < FLOWS; i++)
            at = sooner(at, app->flows[i].moves);
    }
    return w->phase == SV_FIVE_PROGRAM ? sooner(at, w->programmed) : at;
}

static void deliver(struct world *w)
{
    for (uint32_t i = 0; i < w->num_letters;) {
        struct letter letter = w->letters[i];
        if (letter.at > w->now) {
            i++;
            continue;
        }
        w->letters[i] = w->letters[--w->num_letters];
        if (letter.to_manager) {
            OK(ctx, sv_five_manager_receive(w->manager, &letter.mail, w->now));
            take_mail(w, NULL);
            continue;
        }
        struct app *app = &w->apps[letter.mail.subscriber / 7];
        seen.outside += app->machine != NULL && app->place == SV_FIVE_OUTSIDE &&
                        letter.mail.kind == SV_FIVE_UNPATH;
        if (app->machine != NULL) {
            sv_five_subscriber_receive(app->machine, &letter.mail, w->now);
            follow(w, app);
        }
    }
}

/* Whatever is due now: flows and applications first. */
static void step(struct world *w)
{
    for (uint32_t a = 0; a < APPS; a++) {
        struct app *app = &w->apps[a];
        if (app->machine == NULL) {
            if (app->gone <= w->now) {
                app->gone = UINT64_MAX;
                sv_five_manager_gone(w->manager, a * 7, w->now);
                take_mail(w, NULL);
            }
            continue;
        }
        move_flows(w, app);
        if (sv_five_subscriber_due(app->machine) <= w->now) {
            sv_five_subscriber_tick(app->machine, w->now);
            follow(w, app);
            if (sv_five_subscriber_due(app->machine) <= w->now)
                WRONG("application %u is due again at once", a);
        }
    }
    deliver(w);
    if (w->phase == SV_FIVE_PROGRAM && w->programmed <= w->now) {
        sv_five_manager_programmed(w->manager, w->now);
        take_mail(w, NULL);
    }
    if (sv_five_manager_due(w->manager) <= w->now) {
        sv_five_manager_tick(w->manager, w->now);
        if (sv_five_manager_due(w->manager) <= w->now)
            WRONG("the manager is due again at once");
        take_mail(w, NULL);
    }
    look(w);
    if (w->lively && w->hasty && w->phase == SV_FIVE_IDLE && w->now >= w->begins &&
        percent(w, 10)) {
        sv_five_manager_begin(w->manager, w->now);
        take_mail(w, NULL);
    }
}

static void run_until(struct world *w, uint64_t end)
{
    for (uint64_t at = next_time(w); at <= end; at = next_time(w)) {
        w->now = at > w->now ? at : w->now;
        step(w);
    }
    w->now = end;
}

/* ---- trials ---- */

static struct world *draw(uint64_t number, bool heavy)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->dice = number * 0x2545f4914f6cdd1du + heavy;
    sv_five_options *o = &w->options;
    o->retry = 5 + below(w, percent(w, 15) ? 400 : 16); /* some try more seldom than they renew */
    o->tries = 1 + below(w, 4);
    o->lease = percent(w, 75) ? 60 + below(w, 300) : 0;
    /* A renewal and its answer come in time when nothing is lost. */
    uint32_t max = o->lease > 0 ? (uint32_t)(o->lease - o->lease / 3 - 2 * MAX_DELAY - 1) : 60;
    o->margin = 1 + below(w, max);
    o->patience = percent(w, 60) ? 1 + below(w, 200) : 0;
    o->trust = heavy || percent(w, 15);
    w->loss = heavy ? 50 : percent(w, 20) ? 0 : below(w, 60);
    w->doubling = percent(w, 50) ? 0 : below(w, 30);
    w->delay = below(w, MAX_DELAY + 1);
    w->longest = 1 + (percent(w, 50) ? below(w, 1000) : below(w, 60));
    w->odd_delay = percent(w, 50) ? 0 : below(w, 20);
    w->hasty = percent(w, 30);
    w->slow = percent(w, 30);
    w->lively = true;
    w->restarts = o->lease > 0 && percent(w, 20);
    o->epoch = percent(w, 30) ? UINT32_MAX - below(w, 9) : 0; /* epochs go round */
    OK(ctx, sv_five_manager_new(ctx, o, &w->manager));
    if (percent(w, 30)) /* serials go round */
        w->now = (UINT64_C(1) << 32) - below(w, 1500);
    for (uint32_t a = 0; a < APPS; a++) {
        w->apps[a].gone = UINT64_MAX;
        for (uint32_t i = 0; i < FLOWS; i++)
            w->apps[a].flows[i].moves = UINT64_MAX;
    }
    return w;
}

/* Nothing new, nothing lost. */
static void quiet(struct world *w)
{
    w->lively = false;
    w->loss = w->doubling = w->odd_delay = 0;
    run_until(w, w->now + w->longest + longest_phase(w, true) + longest_phase(w, false) +
                     3 * w->options.lease + 3 * w->options.margin + 1000);
    if (w->phase != SV_FIVE_IDLE)
        WRONG("not idle in the end but in phase %d", w->phase);
    for (uint32_t a = 0; a < APPS; a++)
        if (w->apps[a].machine != NULL && w->apps[a].begun && w->apps[a].place != SV_FIVE_ON_BASE)
            WRONG("application %u is at %d in the end", a, w->apps[a].place);
}

static void one(uint64_t number, bool heavy)
{
    present = number;
    struct world *w = draw(number, heavy);
    uint64_t end = w->now + 3000;
    while (w->now < end) {
        run_until(w, w->now + 1 + below(w, 25));
        happen(w);
    }
    quiet(w);
    seen.broken += w->broken;
    add_up(w);
    for (uint32_t a = 0; a < APPS; a++)
        sv_five_subscriber_free(w->apps[a].machine);
    sv_five_manager_free(w->manager);
    free(w);
}

static void watched_from_outside(void **state)
{
    (void)state;
    for (uint64_t i = seed; i < seed + trials; i++)
        one(i, false);
    print_message("%llu updates, %llu called off, %llu expelled, %llu lives, %llu joined high, "
                  "%llu fenced, %llu called back, %llu sent off again, %llu asked outside, "
                  "%llu datagrams, %llu again, %llu managers anew\n",
                  (unsigned long long)seen.updates, (unsigned long long)seen.called_off,
                  (unsigned long long)seen.expelled, (unsigned long long)seen.reborn,
                  (unsigned long long)seen.joined_late, (unsigned long long)seen.fenced,
                  (unsigned long long)seen.turned_back, (unsigned long long)seen.turned_again,
                  (unsigned long long)seen.outside, (unsigned long long)seen.sent,
                  (unsigned long long)seen.again, (unsigned long long)seen.restarts);
    if (trials < 1000)
        return;
    assert_true(seen.called_off > 100 && seen.expelled > 100 && seen.joined_late > 100);
    assert_true(seen.fenced > 100 && seen.turned_back > 100 && seen.turned_again > 100);
    assert_true(seen.outside > 100 && seen.restarts > 100);
}

/* As in the thesis: who does not answer is forgotten, and may be there all the same. */
static void trust_is_broken(void **state)
{
    (void)state;
    seen.broken = 0;
    for (uint64_t i = seed; i < seed + trials / 20 + 1; i++)
        one(i, true);
    print_message("flows under tables that change in %llu of %u trials\n",
                  (unsigned long long)seen.broken, trials / 20 + 1);
    if (trials >= 1000)
        assert_true(seen.broken > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(watched_from_outside),
                                       cmocka_unit_test(trust_is_broken)};
    trials = test_trials(argc, argv, trials);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    ctx = sv_ctx_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed)
        fprintf(stderr, "again: oracle_test_five 1 %llu\n", (unsigned long long)present);
    sv_ctx_free(ctx);
    return failed;
}
