/*
 * test_rehearse.c: rehearsals recounted from what a watch saw, the slow and obvious way: every
 * packet's whole life is kept, and looked at when all is over. Shares nothing with src/rehearse.
 *
 * usage: test_rehearse [TRIALS [SEED]]
 */
#include "support/transition.h"
#include "support/trials.h"

#include "base/rng.h"

TEST_CONTEXT

/* A packet's life. */
struct life {
    uint32_t from, message;
    uint64_t injected, arrived; /* SV_NEVER: did not */
    uint64_t over;              /* arrived or dropped */
    uint32_t *hops;             /* channels it was granted */
    uint32_t num_hops;
    unsigned vl;    /* of the last of them */
    unsigned kinds; /* 1: went by an old entry, 2: by a new one */
};

struct message {
    uint32_t from, to, bytes; /* terminals */
};

/* What is sent, and all that was seen. */
struct book {
    const sv_fabric *f;
    struct message *messages;
    uint32_t num_messages, *next; /* of each terminal */
    uint32_t terminals;
    const sv_routes *r;
    struct life *lives;
    uint32_t num_lives, room;
};

static bool next(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct book *b = user;
    for (uint32_t i = b->next[terminal]; i < b->num_messages; i++)
        if (b->messages[i].from == terminal) {
            b->next[terminal] = i + 1;
            *message =
                (sv_sim_message){.destination = b->r->first[b->f->num_switches + b->messages[i].to],
                                 .bytes = b->messages[i].bytes,
                                 .tag = i};
            return true;
        }
    b->next[terminal] = b->num_messages;
    return false;
}

static void arrived_message(void *user, const sv_sim_arrival *arrival)
{
    const struct book *b = user;
    const struct message *m = &b->messages[arrival->tag];
    assert_true(m->from == arrival->from && m->to == arrival->to && m->bytes == arrival->bytes);
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    struct book *b = user;
    assert_int_equal(packet, b->num_lives);
    if (b->num_lives == b->room) {
        b->room = b->room == 0 ? 1024 : 2 * b->room;
        b->lives = realloc(b->lives, b->room * sizeof *b->lives);
    }
    b->lives[b->num_lives++] = (struct life){
        .from = terminal, .message = tag, .injected = time, .arrived = SV_NEVER, .over = SV_NEVER};
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    struct book *b = user;
    struct life *life = &b->lives[packet];
    (void)time;
    life->vl = vl;
    life->hops = realloc(life->hops, (life->num_hops + 1) * sizeof *life->hops);
    life->hops[life->num_hops++] = out.i;
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct book *b = user;
    b->lives[packet].arrived = b->lives[packet].over = time;
}

static void incident(void *user, sv_sim_incident what, const sv_sim_example *which)
{
    struct book *b = user;
    if (what == SV_SIM_DROPPED)
        b->lives[which->packet].over = which->time;
}

/* ---- recounting ---- */

/* Follows entries and VLs by hand. */
static bool joined(const sv_fabric *f, const sv_routes *r, uint32_t from, uint32_t to)
{
    uint32_t d = r->first[f->num_switches + to];
    unsigned sl = sv_route_sl(r, (sv_node){f->num_switches + from}, d);
    sv_node at = {r->home[from]};
    if (sl == SV_NO_SL || at.i == SV_NONE)
        return false;
    for (uint32_t hops = 0; hops <= f->num_switches; hops++) {
        unsigned port = r->ports[d][at.i];
        sv_channel c =
            port == 0 || port == SV_NO_PORT ? (sv_channel){SV_NONE} : sv_channel_at(f, at, port);
        if (c.i == SV_NONE)
            return false;
        at = f->head[c.i];
        if (!sv_is_switch(f, at))
            return at.i == f->num_switches + to;
    }
    return false;
}

static unsigned kinds_of(const struct book *b, const test_transition *t, const struct life *life)
{
    uint32_t to = b->f->num_switches + b->messages[life->message].to;
    uint32_t d = t->before->first[to];
    unsigned kinds = 0;
    if (b->r->lmc == 1 && life->vl == 3) /* the VL of high addresses, which do not change */
        return 0;
    for (uint32_t i = 0; i < life->num_hops; i++) {
        uint32_t s = b->f->tail[life->hops[i]].i;
        unsigned old = t->before->ports[d][s], new = t->after->ports[d][s],
                 port = b->f->port[life->hops[i]];
        if (old == new)
            continue;
        assert_true(port == old || port == new);
        kinds |= port == new ? 2 : 1;
    }
    return kinds;
}

static bool overlap(const struct life *a, const struct life *b)
{
    return a->injected < b->over && b->injected < a->over;
}

/* Of one pair: packets of both kinds, and whether two of different kinds were there at a time. */
static uint64_t inconsistent_of(const struct book *b, uint32_t from, uint32_t to)
{
    uint64_t found = 0;
    bool mixed = false;
    for (uint32_t i = 0; i < b->num_lives; i++) {
        const struct life *one = &b->lives[i];
        if (one->from != from || b->messages[one->message].to != to)
            continue;
        found += one->kinds == 3;
        for (uint32_t k = 0; k < i && one->kinds != 0; k++) {
            const struct life *other = &b->lives[k];
            if (other->from == from && b->messages[other->message].to == to && other->kinds != 0 &&
                (other->kinds | one->kinds) == 3 && overlap(one, other))
                mixed = true;
        }
    }
    return found + mixed;
}

static uint64_t overtaken_of(const struct book *b, uint32_t from, uint32_t to)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < b->num_lives; i++) {
        const struct life *one = &b->lives[i];
        bool late = false;
        if (one->from != from || b->messages[one->message].to != to || one->arrived == SV_NEVER)
            continue;
        for (uint32_t k = i + 1; k < b->num_lives && !late; k++)
            late = b->lives[k].from == from && b->messages[b->lives[k].message].to == to &&
                   b->lives[k].arrived < one->arrived;
        found += late;
    }
    return found;
}

static bool circles(const struct book *b, const struct life *life)
{
    for (uint32_t i = 0; i < life->num_hops; i++) {
        uint32_t at = b->f->head[life->hops[i]].i;
        if (at == b->f->tail[life->hops[0]].i)
            return true;
        for (uint32_t k = 0; k < i; k++)
            if (b->f->head[life->hops[k]].i == at)
                return true;
    }
    return false;
}

static uint64_t bytes_in(const struct book *b, uint32_t mtu, uint64_t from, uint64_t until)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->num_lives; i++) {
        uint32_t before = 0;
        for (uint32_t k = i; k-- > 0;)
            before += b->lives[k].message == b->lives[i].message;
        uint32_t left = b->messages[b->lives[i].message].bytes - before * mtu;
        if (b->lives[i].arrived >= from && b->lives[i].arrived < until)
            sum += left < mtu ? left : mtu;
    }
    return sum;
}

/* Compares one rehearsal with what was seen of it. */
static void compare(const struct book *b, const test_transition *t, const sv_rehearsal *r,
                    const sv_rehearsal_request *q)
{
    uint64_t inconsistent = 0, overtaken = 0, kept = 0, looped = 0, gone = 0;
    for (uint32_t from = 0; from < b->terminals; from++)
        for (uint32_t to = 0; to < b->terminals; to++) {
            bool both = joined(b->f, t->before, from, to) && joined(b->f, t->after, from, to);
            uint64_t late = overtaken_of(b, from, to);
            overtaken += late;
            kept += both ? late : 0;
            bool part = q->way != SV_REHEARSE_FIVE || q->application == NULL ||
                        q->application[from] != SV_NONE;
            if (both && part)
                inconsistent += inconsistent_of(b, from, to);
        }
    for (uint32_t i = 0; i < b->num_lives; i++) {
        looped += circles(b, &b->lives[i]);
        gone += b->lives[i].arrived == SV_NEVER;
    }
    assert_int_equal(r->inconsistent, inconsistent);
    assert_int_equal(r->sim->incidents[SV_SIM_OVERTAKEN], overtaken);
    assert_int_equal(r->harmed[SV_SIM_OVERTAKEN], kept);
    assert_int_equal(r->sim->incidents[SV_SIM_LOOPED], looped);
    if (r->sim->end == SV_SIM_COMPLETED)
        assert_int_equal(r->sim->incidents[SV_SIM_DROPPED], gone);
    for (int i = 0; i < SV_REHEARSE_PHASES; i++) {
        const sv_rehearsal_phase *p = &r->phase[i];
        assert_int_equal(
            p->bytes, p->until < p->from ? 0 : bytes_in(b, q->model.mtu_bytes, p->from, p->until));
    }
    assert_int_equal(r->together, r->sim->end != SV_SIM_DEADLOCK);
}

/* ---- trials ---- */

static uint64_t trials = 60, first_seed = 1;

/* few: one packet each, so that many a pair has but one under way. */
static void draw_messages(struct book *b, sv_rng *rng, uint32_t count, bool few)
{
    b->messages = calloc(count, sizeof *b->messages);
    b->next = calloc(b->terminals, sizeof *b->next);
    b->num_messages = count;
    for (uint32_t i = 0; i < count; i++) {
        struct message *m = &b->messages[i];
        m->from = (uint32_t)sv_rng_below(rng, b->terminals);
        do /* few pairs, so that many packets of one are under way */
            m->to =
                (m->from + 1 + (uint32_t)sv_rng_below(rng, few ? b->terminals : 3)) % b->terminals;
        while (m->to == m->from);
        m->bytes = (uint32_t)sv_rng_below(rng, few ? 256 : 1200);
    }
}

static void finish(struct book *b)
{
    for (uint32_t i = 0; i < b->num_lives; i++)
        free(b->lives[i].hops);
    free(b->lives);
    free(b->messages);
    free(b->next);
}

static uint64_t try_way(const test_transition *t, sv_rehearsal_way way, uint64_t seed)
{
    static uint32_t application[256];
    sv_rehearsal_request q = test_transition_request(ctx, t, way, seed, application);
    bool two = way == SV_REHEARSE_FIVE;
    struct book b = {.f = t->f, .r = two ? t->after2 : t->after, .terminals = t->f->num_terminals};
    sv_rng rng;
    sv_rng_init(&rng, seed);
    draw_messages(&b, &rng, 40 * b.terminals, seed % 3 == 0);
    const sv_sim_source source = {.user = &b, .next = next, .arrived = arrived_message};
    const sv_sim_watch watch = {.user = &b,
                                .injected = injected,
                                .granted = granted,
                                .arrived = arrived,
                                .incident = incident};
    sv_rehearsal *r = NULL;
    q.source = &source;
    q.watch = &watch;
    if (two && seed % 2 == 0) /* some who never subscribed */
        for (uint32_t i = 0; i < b.terminals; i += 2)
            application[i] = SV_NONE;
    OK(ctx, sv_rehearse(ctx, t->f, two ? t->before2 : t->before, b.r, &q, &r));
    for (uint32_t i = 0; i < b.num_lives; i++)
        b.lives[i].kinds = kinds_of(&b, t, &b.lives[i]);
    compare(&b, t, r, &q);
    uint64_t found = r->inconsistent;
    sv_rehearsal_free(r);
    finish(&b);
    return found;
}

static void counts_are_those_of_the_trace(void **state)
{
    (void)state;
    uint64_t found[SV_REHEARSE_WAYS] = {0};
    for (uint64_t seed = first_seed; seed < first_seed + trials; seed++) {
        test_transition t;
        test_transition_init(ctx, seed, &t);
        for (int way = 0; way < SV_REHEARSE_WAYS; way++)
            found[way] += try_way(&t, (sv_rehearsal_way)way, seed);
        test_transition_release(&t);
    }
    print_message("inconsistent: %llu at once, %llu in steps, %llu silent, %llu in five phases\n",
                  (unsigned long long)found[0], (unsigned long long)found[1],
                  (unsigned long long)found[2], (unsigned long long)found[3]);
    assert_true(trials < 20 || found[SV_REHEARSE_AT_ONCE] > 0);
    assert_int_equal(found[SV_REHEARSE_HOLD] + found[SV_REHEARSE_FIVE], 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_the_trace)};
    trials = test_trials(argc, argv, (uint32_t)trials);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, begin, end);
}
