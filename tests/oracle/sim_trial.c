/*
 * sim_trial.c: what tables that change add to a trial: a director for either simulator, both of
 * which say what sim_changes.c does, and what befalls packets, compared. What sim_trial.h says.
 *
 * The oracle asks about a tick and gets the answer for that tick. The fast one is changed as it
 * runs, and must have been changed at the right ticks to come to the same.
 */
#include "sim_trial.h"

#include "support/testing.h"

/* ---- the oracle's director ---- */

static void note_incident(struct incidents *m, struct incident one)
{
    if (m->count == m->room) {
        m->room = m->room ? 2 * m->room : 16;
        m->all = realloc(m->all, m->room * sizeof *m->all);
    }
    m->all[m->count++] = one;
}

static bool oracle_looks(void *user, uint32_t packet, uint32_t node, uint32_t in_port, uint64_t now,
                         oracle_hop *way, uint8_t *why)
{
    const struct trial *t = user;
    uint32_t message = t->packets[packet].message;
    *why = (uint8_t)sim_way_at(&t->c, t->destination[message], t->sl[message], (sv_node){node},
                               in_port, now, &way->out_port, &way->vl);
    return *why == SV_TRACE_ARRIVED;
}

static bool oracle_opens(void *user, uint32_t packet, uint64_t now, uint8_t *vl)
{
    struct trial *t = user;
    uint32_t i = t->packets[packet].message, from = t->c.messages[i].from;
    t->destination[i] = t->c.messages[i].destination;
    if (!sim_open_at(&t->c, from, now, &t->destination[i], &t->sl[i]))
        return false;
    *vl = sim_vl_at(&t->c, from, t->sl[i], now);
    return true;
}

static void oracle_incidents(void *user, oracle_incident what, uint32_t packet, uint32_t node,
                             uint64_t now, uint8_t why)
{
    struct trial *t = user;
    note_incident(&t->expected, (struct incident){now, what, packet, node, why});
}

static oracle_end run_once(struct trial *t, oracle_params *params, const uint32_t *ports,
                           const oracle_cable *cables, uint32_t num_cables)
{
    uint64_t *wakes = calloc(t->c.num_wakes + 1, sizeof *wakes);
    for (uint32_t i = 0; i < t->c.num_wakes; i++)
        wakes[i] = t->c.wakes[i].tick;
    const oracle_director director = {.user = t,
                                      .look = oracle_looks,
                                      .open = oracle_opens,
                                      .incident = oracle_incidents,
                                      .wakes = wakes,
                                      .num_wakes = t->c.num_wakes};
    params->director = t->c.changing ? &director : NULL;
    oracle_end end = oracle_run(params, t->c.f->num_switches, ports, t->c.f->num_terminals, cables,
                                num_cables, t->packets, t->num_packets);
    free(wakes);
    return end;
}

void trial_forget(struct trial *t)
{
    for (uint32_t p = 0; p < t->num_packets && t->c.changing; p++) {
        free(t->packets[p].hops);
        free(t->packets[p].granted);
        t->packets[p].hops = t->hops + (size_t)p * MAX_HOPS;
        t->packets[p].num_hops = 1;
    }
    t->expected.count = 0;
}

/* Changes are moved to where it matters whether they are a tick early or late: a run without that
 * has told when packets are granted. */
static void snap(struct trial *t)
{
    uint32_t count = 0, room = 0;
    for (uint32_t p = 0; p < t->num_packets; p++)
        room += t->packets[p].num_hops;
    uint64_t *ticks = calloc(room + 1, sizeof *ticks);
    for (uint32_t p = 0; p < t->num_packets; p++)
        for (uint32_t k = 0; k < t->packets[p].num_hops; k++)
            if (t->packets[p].granted[k] != UINT64_MAX)
                ticks[count++] = t->packets[p].granted[k];
    sim_changes_snap(&t->c, t->seed, ticks, count);
    free(ticks);
    trial_forget(t);
}

oracle_end trial_run_oracle(struct trial *t, oracle_params *params, const uint32_t *ports,
                            const oracle_cable *cables, uint32_t num_cables)
{
    oracle_end end = run_once(t, params, ports, cables, num_cables);
    if (!t->c.changing || !t->c.snap)
        return end;
    snap(t);
    return run_once(t, params, ports, cables, num_cables);
}

/* ---- the fast one's director ---- */

static uint64_t next_moment(const struct trial *t)
{
    uint64_t change = t->change < t->c.num_changes ? t->c.changes[t->change].tick : SV_NEVER;
    uint64_t wake = t->wake < t->c.num_wakes ? t->c.wakes[t->wake].tick : SV_NEVER;
    return change < wake ? change : wake;
}

/* What is under way when a tick begins. */
static void compare_count(const struct trial *t, const sv_sim_run *stage, uint64_t now)
{
    uint32_t sent = 0, gone = 0;
    for (uint32_t p = 0; p < t->num_packets; p++) {
        sent += t->packets[p].granted[0] < now;
        gone += t->packets[p].arrived < now;
    }
    for (uint32_t i = 0; i < t->expected.count; i++)
        gone += t->expected.all[i].what == ORACLE_DROPPED && t->expected.all[i].time < now;
    assert_int_equal(sv_sim_next_packet(stage), sent);
    assert_int_equal(sv_sim_under_way(stage), sent - gone);
}

static sv_status act(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct trial *t = user;
    t->stage = stage;
    assert_true(now < t->c.limit);
    assert_true(now <= next_moment(t)); /* none was left out */
    assert_int_equal(*again, SV_NEVER);
    compare_count(t, stage, now);
    for (; t->change < t->c.num_changes && t->c.changes[t->change].tick == now; t->change++) {
        const sim_change *change = &t->c.changes[t->change];
        const sv_routes *with = t->c.tables[change->with];
        if (change->block == SIM_VLS)
            OK(t->c.ctx, sv_sim_set_sl2vl(stage, (sv_node){change->node}, with));
        else
            OK(t->c.ctx, sv_sim_set_block(stage, (sv_node){change->node}, change->block, with));
    }
    for (; t->wake < t->c.num_wakes && t->c.wakes[t->wake].tick == now; t->wake++)
        sv_sim_wake(stage, t->c.wakes[t->wake].terminal);
    if (!t->c.calls)
        *again = next_moment(t);
    else if (next_moment(t) != SV_NEVER)
        sv_sim_call(stage, next_moment(t));
    return SV_OK;
}

static bool opens(void *user, uint32_t terminal, uint64_t now, sv_sim_message *message, uint8_t *sl)
{
    const struct trial *t = user;
    const sim_message *m = &t->c.messages[message->tag];
    assert_int_equal(m->from, terminal);
    assert_int_equal(m->destination, message->destination);
    assert_int_equal(
        *sl, sv_route_sl(t->c.r, (sv_node){t->c.f->num_switches + terminal}, m->destination));
    return sim_open_at(&t->c, terminal, now, &message->destination, sl);
}

sv_sim_director trial_director(struct trial *t)
{
    bool acts = next_moment(t) != SV_NEVER;
    return (sv_sim_director){.user = t,
                             .first = next_moment(t),
                             .act = acts ? act : NULL,
                             .open = t->c.asks ? opens : NULL};
}

static void check_example(const struct trial *t, const sv_sim_example *e)
{
    const oracle_packet *p = &t->packets[t->packet_of[e->packet]];
    assert_int_equal(e->from, t->c.messages[p->message].from);
    assert_int_equal(e->destination, t->destination[p->message]);
}

void trial_incident(void *user, sv_sim_incident what, const sv_sim_example *which)
{
    static const uint32_t kinds[] = {[SV_SIM_DROPPED] = ORACLE_DROPPED,
                                     [SV_SIM_LOOPED] = ORACLE_CIRCLED,
                                     [SV_SIM_OVERTAKEN] = ORACLE_OVERTAKEN};
    struct trial *t = user;
    uint8_t why = what == SV_SIM_DROPPED ? which->why : 0;
    check_example(t, which);
    if (which->time < t->c.limit)
        note_incident(&t->told, (struct incident){which->time, kinds[what],
                                                  t->packet_of[which->packet], which->at.i, why});
}

bool trial_cut(struct trial *t, const sv_sim_result *r)
{
    t->cut = next_moment(t);
    if (t->cut >= t->c.limit)
        return false;
    assert_false(t->c.patient);
    assert_int_equal(r->end, SV_SIM_DEADLOCK);
    sim_changes_cut(&t->c, t->cut);
    trial_forget(t);
    return true;
}

static int by_packet(const void *a, const void *b)
{
    const struct incident *x = a, *y = b;
    if (x->packet != y->packet)
        return x->packet < y->packet ? -1 : 1;
    return x->what < y->what ? -1 : x->what > y->what;
}

/* The first of a kind: any of those of the same tick. */
static void compare_first(const struct trial *t, const sv_sim_example *e, uint32_t what)
{
    uint64_t first = SV_NEVER;
    bool found = false;
    for (uint32_t i = 0; i < t->expected.count; i++) {
        const struct incident *m = &t->expected.all[i];
        if (m->what == what) {
            first = m->time < first ? m->time : first;
            found = found || (m->time == e->time && m->packet == t->packet_of[e->packet] &&
                              m->node == e->at.i && (what != ORACLE_DROPPED || m->why == e->why));
        }
    }
    assert_int_equal(e->time, first);
    assert_true(found);
    check_example(t, e);
}

void trial_compare_incidents(struct trial *t, const sv_sim_result *r)
{
    struct incidents *a = &t->told, *b = &t->expected;
    uint64_t counts[3] = {0};
    for (int i = 0; i < 2 && a->count > 0 && b->count > 0; i++)
        qsort(i ? a->all : b->all, i ? a->count : b->count, sizeof *a->all, by_packet);
    for (uint32_t i = 0; i < a->count || i < b->count; i++) {
        static const struct incident none = {.packet = UINT32_MAX};
        const struct incident *x = i < a->count ? &a->all[i] : &none;
        const struct incident *y = i < b->count ? &b->all[i] : &none;
        if (x->time != y->time || x->what != y->what || x->packet != y->packet ||
            x->node != y->node || x->why != y->why)
            fail_msg(
                "seed %llu: incident %u of packet %d at %llu in %u (%u), should be %u of %d at "
                "%llu in %u (%u)",
                (unsigned long long)t->seed, x->what, (int)x->packet, (unsigned long long)x->time,
                x->node, x->why, y->what, (int)y->packet, (unsigned long long)y->time, y->node,
                y->why);
        counts[y->what]++;
    }
    static const sv_sim_incident kinds[] = {SV_SIM_DROPPED, SV_SIM_LOOPED, SV_SIM_OVERTAKEN};
    for (uint32_t what = 0; what < 3; what++) {
        assert_int_equal(r->incidents[kinds[what]], counts[what]);
        if (counts[what] > 0)
            compare_first(t, &r->example[kinds[what]], what);
    }
}
