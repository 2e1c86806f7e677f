/*
 * sim_policy.c: a policy that makes no sense and is the same for both simulators: what sim_policy.h
 * says.
 *
 * Idea: whatever a hook decides is drawn from a generator whose seed is made of the trial's seed
 * and of what the hook was called with; nothing is remembered from one call to the next. So both
 * simulators get the same answers as long as they ask the same, and if they do not, the log shows
 * it. Hooks look at backlogs and at who waits, write down what they see, and let what they do
 * depend on it.
 *
 * Invariants: control packets beget others by hooks for two generations only (the low bits of their
 * note), and timers end: a run whose messages end does.
 */
#include "sim_policy.h"

#include "base/rng.h"
#include "support/testing.h"

static bool one_in(sv_rng *rng, uint32_t n)
{
    return n > 0 && sv_rng_below(rng, n) == 0;
}

static sv_rng generator(const sim_mind *mind, sim_event what, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t parts[] = {what, a, b, c};
    uint64_t seed = mind->seed;
    sv_rng rng;
    for (int i = 0; i < 4; i++) {
        sv_rng_init(&rng, seed ^ parts[i]);
        seed = sv_rng_next(&rng);
    }
    sv_rng_init(&rng, seed);
    return rng;
}

sim_mind sim_mind_draw(const sim_case *c, uint64_t seed)
{
    static const uint32_t often[] = {0, 1, 2, 4, 10}, sends[] = {0, 0, 3, 6, 20};
    static const uint64_t spans[] = {1, 2, 10, 100};
    sv_rng rng;
    sv_rng_init(&rng, ~seed);
    bool round = c->model.cable % SIM_GRAIN == 0;
    uint32_t room = c->model.input < c->model.output ? c->model.input : c->model.output;
    sim_mind mind = {.seed = sv_rng_next(&rng),
                     .by_packet = one_in(&rng, 2),
                     .first = SV_NEVER,
                     .grain = round ? SIM_GRAIN : 1,
                     .span = spans[sv_rng_below(&rng, 4)] * (round ? 1 : SIM_GRAIN),
                     .detours = often[sv_rng_below(&rng, 4)],
                     .looks = often[sv_rng_below(&rng, 5)],
                     .calls = often[sv_rng_below(&rng, 5)],
                     .longest = 64 * (uint32_t)(1 + sv_rng_below(&rng, room)),
                     .cut = SV_NEVER};
    mind.twins = c->num_messages < 5 || one_in(&rng, 6);
    mind.patience = one_in(&rng, 2) ? 0 : mind.grain * sv_rng_below(&rng, mind.span * 4);
    bool all = !one_in(&rng, 4);
    for (int i = 0; i < SIM_EVENTS; i++)
        mind.has[i] = all || one_in(&rng, 2);
    for (int i = 0; i < SIM_EVENTS; i++)
        mind.sends[i] = sends[sv_rng_below(&rng, 5)];
    if (!one_in(&rng, 4)) {
        mind.first = one_in(&rng, 3) ? 0 : mind.grain * sv_rng_below(&rng, mind.span);
        mind.until = mind.first + mind.grain * mind.span * (1 + sv_rng_below(&rng, 10));
    }
    return mind;
}

/* ---- the log ---- */

void sim_log_add(sim_log *log, const sim_record *record)
{
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 256;
        log->all = realloc(log->all, log->room * sizeof *log->all);
    }
    log->all[log->count++] = *record;
}

const char *sim_record_text(const sim_record *record)
{
    static const char *const names[] = {
        "injected (number terminal tag time)",
        "granted (number channel VL time)",
        "choose (time terminal tag ready destination bytes offset)",
        "depart (time channel waited; via via vias mark from destination bytes tag sequence "
        "injected waited note segment control last)",
        "deliver (time terminal; via via vias mark from destination bytes tag sequence injected "
        "waited note segment control last)",
        "timer (time)",
        "heard (tag time from to bytes injected ready)",
        "backlog (channel bytes)",
        "waiting (channel count from to bytes since …)"};
    static char text[2][1024];
    static int turn;
    char *line = text[turn = !turn];
    int at = snprintf(line, 1024, "%s", names[record->what]);
    for (int i = 0; i < SIM_VALUES; i++)
        at +=
            snprintf(line + at, (size_t)(1024 - at), " %llu", (unsigned long long)record->value[i]);
    return line;
}

/* The head's values, from one place on. */
static void put_head(sim_record *r, int at, const sv_sim_head *head)
{
    const uint64_t values[] = {head->way.via[0], head->way.via[1],  head->way.vias, head->way.mark,
                               head->from.i,     head->destination, head->bytes,    head->tag,
                               head->sequence,   head->injected,    head->waited,   head->note,
                               head->segment,    head->control,     head->last};
    memcpy(&r->value[at], values, sizeof values);
}

/* ---- what hooks do ---- */

static uint64_t see_backlog(const sim_world *w, sv_channel c)
{
    uint64_t bytes = w->backlog(w->stage, c);
    const sim_record record = {SIM_BACKLOG, {c.i, bytes}};
    w->note(w->user, &record);
    return bytes;
}

static uint32_t see_waiting(const sim_world *w, sv_channel c, uint32_t max)
{
    sv_sim_waiting waiting[5];
    uint32_t count = w->waiting_for(w->stage, c, waiting, max);
    sim_record record = {SIM_WAITING, {c.i, count}};
    assert_in_range(count, 0, max);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t values[] = {waiting[i].from, waiting[i].to, waiting[i].bytes,
                                   waiting[i].since};
        memcpy(&record.value[2 + 4 * i], values, sizeof values);
    }
    w->note(w->user, &record);
    return count;
}

static sv_channel draw_channel(const sim_world *w, sv_rng *rng)
{
    for (;;) {
        sv_channel c = {(uint32_t)sv_rng_below(rng, w->c->f->num_channels)};
        if (sv_channel_alive(w->c->f, c))
            return c;
    }
}

/* Looks at some channels. What it saw. */
static uint64_t look_around(const sim_world *w, sv_rng *rng)
{
    uint64_t seen = 0;
    for (int i = 0; i < 3 && one_in(rng, w->mind->looks); i++) {
        sv_channel c = draw_channel(w, rng);
        seen += see_backlog(w, c);
        if (sv_is_switch(w->c->f, w->c->f->tail[c.i]) && one_in(rng, 2))
            seen += see_waiting(w, c, (uint32_t)sv_rng_below(rng, 6));
    }
    return seen;
}

static uint64_t draw_delay(const sim_world *w, sv_rng *rng)
{
    return one_in(rng, 3) ? sv_rng_below(rng, 2)
                          : w->mind->grain * sv_rng_below(rng, w->mind->span);
}

/* Sends something from a node, perhaps, to a terminal. */
static void send_from(const sim_world *w, sv_rng *rng, uint64_t now, uint32_t from, uint32_t to,
                      uint32_t generation)
{
    const sv_routes *r = w->c->r;
    bool own = from < w->c->f->num_switches;
    uint32_t bytes =
        one_in(rng, 2) ? w->mind->longest : 1 + (uint32_t)sv_rng_below(rng, w->mind->longest);
    uint64_t ready = now + own + draw_delay(w, rng);
    uint32_t destination =
        r->first[to] + (uint32_t)sv_rng_below(rng, r->first[to + 1] - r->first[to]);
    uint32_t mark = (uint32_t)sv_rng_next(rng), note = (generation + 1) % 4 + 16 * (mark % 1000);
    if (from != to)
        w->send(w->stage, from, destination, bytes, ready, mark, note);
}

/* Sends from a node that the hook is about, or any; to one it is about, or any. */
static void send_some(const sim_world *w, sv_rng *rng, uint64_t now, sim_event hook, uint32_t here,
                      uint32_t there, uint32_t note)
{
    const sv_fabric *f = w->c->f;
    if (note % 4 >= 2 || (note % 4 > 0 && !one_in(rng, 3)))
        return;
    for (int i = 0; i < 3 && one_in(rng, w->mind->sends[hook]); i++) {
        uint32_t from = one_in(rng, 2) ? here : (uint32_t)sv_rng_below(rng, sv_num_nodes(f));
        uint32_t to = there;
        if (there < f->num_switches || one_in(rng, 2))
            to = f->num_switches + (uint32_t)sv_rng_below(rng, f->num_terminals);
        send_from(w, rng, now, from, to, note % 4);
    }
}

/* Another terminal sends as much at the same tick as this one will. */
static void send_twin(const sim_world *w, sv_rng *rng, uint64_t now, uint32_t terminal,
                      uint32_t left)
{
    const sv_sim_model *m = &w->c->model;
    uint32_t first = w->c->f->num_switches, terminals = w->c->f->num_terminals;
    uint32_t bytes = (left < m->mtu_bytes ? left : m->mtu_bytes) + m->header_bytes;
    for (uint32_t from = terminal + 1; from < terminals && from < terminal + 3; from++) {
        uint32_t to = (uint32_t)sv_rng_below(rng, terminals);
        if (to != from)
            w->send(w->stage, first + from, w->c->r->first[first + to], bytes + w->c->policy_bytes,
                    now, 0, 3);
    }
}

static void call_some(const sim_world *w, sv_rng *rng, uint64_t now)
{
    if (now < w->mind->until && one_in(rng, w->mind->calls))
        w->call(w->stage, now + draw_delay(w, rng));
}

void sim_choose(const sim_world *w, uint64_t now, uint32_t terminal, const sv_sim_message *message,
                uint32_t offset, sv_sim_way *way)
{
    const sim_record record = {SIM_CHOOSE,
                               {now, terminal, message->tag, message->ready, message->destination,
                                message->bytes, offset}};
    sv_rng rng = generator(w->mind, SIM_CHOOSE, terminal, message->tag, offset);
    w->note(w->user, &record);
    uint64_t seen = look_around(w, &rng);
    uint32_t here = w->c->f->num_switches + terminal;
    send_some(w, &rng, now, SIM_CHOOSE, here, w->c->r->node[message->destination].i, 0);
    call_some(w, &rng, now);
    if (w->mind->twins)
        send_twin(w, &rng, now, terminal, message->bytes - offset);
    assert_int_equal(way->vias + way->mark + way->via[0] + way->via[1], 0);
    way->mark = (uint32_t)(sv_rng_next(&rng) + seen);
    for (unsigned i = 0; i + 1 < w->c->segments && one_in(&rng, w->mind->detours); i++) {
        uint64_t s = (sv_rng_below(&rng, w->c->f->num_switches) + seen) % w->c->f->num_switches;
        if (i > 0 && one_in(&rng, 4))
            way->via[i] = way->via[i - 1];
        else
            way->via[i] = w->c->r->first[s];
        way->vias++;
    }
}

void sim_depart(const sim_world *w, uint64_t now, sv_channel out, uint64_t waited,
                sv_sim_head *head)
{
    sim_record record = {SIM_DEPART, {now, out.i, waited}};
    sv_rng rng = generator(w->mind, SIM_DEPART, now, out.i, head->injected);
    put_head(&record, 3, head);
    w->note(w->user, &record);
    sv_node next = w->c->f->head[out.i];
    if (one_in(&rng, w->mind->looks)) {
        see_backlog(w, out);
        see_waiting(w, out, (uint32_t)sv_rng_below(&rng, 6));
        for (uint32_t i = w->c->f->first[next.i]; i < w->c->f->first[next.i + 1]; i++)
            if (sv_is_switch(w->c->f, next))
                see_backlog(w, w->c->f->hops[i].channel);
    }
    send_some(w, &rng, now, SIM_DEPART, w->c->f->tail[out.i].i, head->from.i, head->note);
    call_some(w, &rng, now);
    if (one_in(&rng, 2))
        head->note += 4 * (uint32_t)sv_rng_below(&rng, 1000);
}

void sim_deliver(const sim_world *w, uint64_t now, uint32_t terminal, sv_sim_head *head)
{
    sim_record record = {SIM_DELIVER, {now, terminal}};
    sv_rng rng = generator(w->mind, SIM_DELIVER, now, terminal, head->injected);
    put_head(&record, 2, head);
    w->note(w->user, &record);
    look_around(w, &rng);
    uint32_t here = w->c->f->num_switches + terminal;
    send_some(w, &rng, now, SIM_DELIVER, here, head->from.i, head->note);
    call_some(w, &rng, now);
}

void sim_timer(const sim_world *w, uint64_t now, uint64_t *again)
{
    const sim_record record = {SIM_TIMER, {now}};
    sv_rng rng = generator(w->mind, SIM_TIMER, now, 0, 0);
    w->note(w->user, &record);
    assert_int_equal(*again, SV_NEVER);
    look_around(w, &rng);
    uint32_t nodes = sv_num_nodes(w->c->f);
    send_some(w, &rng, now, SIM_TIMER, (uint32_t)sv_rng_below(&rng, nodes), 0, 0);
    if (one_in(&rng, 4))
        call_some(w, &rng, now);
    uint64_t step = w->mind->grain * (1 + sv_rng_below(&rng, w->mind->span));
    if (now < w->mind->until && !one_in(&rng, 8))
        *again = now + (one_in(&rng, 4) ? 1 : step);
}
