/*
 * run.c: the simulator from its beginning to its end: looks at outputs until all has arrived, or
 * somebody who decides so says stop.
 *
 * A run goes on in steps of simulated time. After each step comes what may end it: clocks,
 * cancelling, steadiness, deadlocks. A deadlock stays one, so it does not matter when it is found;
 * it is looked for as rarely as it costs as much as the hops in between. When that is depends on
 * simulated time and hops alone, so that every number of threads finds the same.
 *
 * Cost: some hundred nanoseconds for each packet and hop.
 */
#include "base/threads.h"
#include "simulate/state.h"

static sv_status result_new(sv__sim *x)
{
    const sv_fabric *f = x->f;
    sv_sim_result *r = sv_alloc(x->ctx, 1, sizeof *r);
    if (r == NULL)
        return SV_NO_MEMORY;
    r->ctx = x->ctx;
    x->result = r;
    r->latency = sv_alloc(x->ctx, SV_SIM_BINS, sizeof *r->latency);
    r->terminals = sv_alloc(x->ctx, f->num_terminals, sizeof *r->terminals);
    r->channels = sv_alloc(x->ctx, f->num_channels, sizeof *r->channels);
    if (r->latency == NULL || r->terminals == NULL || r->channels == NULL)
        return SV_NO_MEMORY;
    r->from = x->k->warm_up;
    r->until =
        x->k->sample > 0 && x->k->sample < SV_NEVER - r->from ? r->from + x->k->sample : SV_NEVER;
    r->until = x->k->limit < r->until ? x->k->limit : r->until;
    return SV_OK;
}

void sv_sim_free(sv_sim_result *result)
{
    if (result == NULL)
        return;
    sv_ctx *ctx = result->ctx;
    sv_release(ctx, result->latency);
    sv_release(ctx, result->terminals);
    sv_release(ctx, result->channels);
    sv_release(ctx, result->timeline);
    sv_release(ctx, result->stuck);
    sv_release(ctx, result);
}

/* Whether there is nothing any more that was to be sent. */
static bool all_arrived(const sv__team *team)
{
    const sv__sim *x = &team->parts[0];
    uint64_t injected = 0, gone = 0;
    if (x->policy != NULL)
        return sv__policy_done(x);
    for (uint32_t i = 0; i < team->count; i++) {
        injected += team->parts[i].injected;
        gone += team->parts[i].arrived /*~dropped_waits*/ + team->parts[i].dropped;
    }
    for (uint32_t t = 0; t < x->f->num_terminals; t++)
        if (x->adapters[t].open > 0 || x->adapters[t].has_coming)
            return false;
    return gone == injected;
}

/* When packets or adapters may do something next. */
static uint64_t next_move(const sv__team *team)
{
    uint64_t min = SV_NEVER;
    for (uint32_t i = 0; i < team->count; i++) {
        uint64_t time = sv__events_peek(&team->parts[i]);
        min = time < min ? time : min;
    }
    return min;
}

static uint64_t next_event(const sv__team *team)
{
    if (team->parts[0].policy != NULL)
        return sv__policy_next(&team->parts[0]);
    uint64_t move = next_move(team);
    uint64_t act = team->parts[0].direction != NULL ? sv__direct_next(&team->parts[0]) : SV_NEVER;
    return move < act ? move : act;
}

/* Whether packets are under way and nothing happens any more but that a director acts, or a timer
 * of a policy is called, who cannot free them. */
static bool hopeless(const sv__team *team)
{
    sv__sim *x = &team->parts[0];
    if (x->policy != NULL)
        return sv__policy_hopeless(x);
    return x->direction != NULL && !x->k->ignore_stuck &&
           /*~end_early*/ x->injected != x->arrived + x->dropped && sv__events_peek(x) == SV_NEVER;
}

static uint64_t last_arrival(const sv__team *team)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < team->count; i++)
        last = sv__max(last, team->parts[i].last_arrival);
    return last;
}

struct watchman {
    uint64_t begun, next_deadlock, next_steady;
};

/* Progress: by messages where their number is known, else by time where it is limited. */
static sv_status tell(const sv__sim *x, uint64_t now, uint64_t arrived)
{
    uint64_t until = x->result->until;
    if (x->source->messages == 0 && until < SV_NEVER)
        return sv_progress(x->ctx, "simulating nanoseconds", now / SV_TICKS_PER_NS,
                           until / SV_TICKS_PER_NS);
    return sv_progress(x->ctx, "simulating messages", arrived, x->source->messages);
}

/* What may end a run after a step; *end is true to stop. */
static sv_status look_around(sv__team *team, struct watchman *w, uint64_t now, bool *end)
{
    sv__sim *x = &team->parts[0];
    sv_sim_result *r = x->result;
    uint64_t done = 0, hops = 0, packets = 0; /* under way: exact in the sum */
    for (uint32_t i = 0; i < team->count; i++) {
        done += team->parts[i].result->arrived_messages;
        hops += team->parts[i].result->packet_hops;
        packets += team->parts[i].injected - team->parts[i].arrived - team->parts[i].dropped;
    }
    *end = true;
    r->end = SV_SIM_CANCELLED;
    if (tell(x, now, done) != SV_OK)
        return SV_OK;
    r->end = SV_SIM_LIMIT;
    if (x->k->wall_ns > 0 && sv_now_ns(x->ctx) - w->begun > x->k->wall_ns)
        return SV_OK;
    r->end = SV_SIM_STEADY;
    if (x->series != NULL && now >= w->next_steady) {
        if (sv__steady_share(team, now) >= 0.99) { /* unless it is because nothing moves */
            if (!x->k->ignore_stuck)
                SV_TRY(sv__find_stuck(team, false));
            r->end = r->num_stuck > 0 ? SV_SIM_DEADLOCK : SV_SIM_STEADY;
            return SV_OK;
        }
        w->next_steady = now + x->k->steady;
    }
    r->end = SV_SIM_DEADLOCK;
    if (!x->k->ignore_stuck && hops >= w->next_deadlock) {
        SV_TRY(sv__find_stuck(team, false));
        if (r->num_stuck > 0)
            return SV_OK;
        uint64_t all = sv__max(4096, x->first_queue[x->num_inputs] + packets);
        w->next_deadlock = hops + (x->policy != NULL ? 4 : 1) * all; /* policies' VLs are proven */
    }
    *end = false;
    return SV_OK;
}

/* Ticks of a step: about as much work in each, whatever the fabric. */
static uint64_t step_of(const sv__sim *x)
{
    uint64_t step = (uint64_t)1 << 24, byte = UINT32_MAX, usual = 2048 * 450;
    for (uint32_t c = 0; c < x->f->num_channels; c++)
        byte = x->outputs[c].byte < byte ? x->outputs[c].byte : byte;
    uint64_t packet = byte * (x->m->mtu_bytes + x->header);
    for (; packet < usual && step > 1 << 14; usual /= 2)
        step /= 2;
    for (uint32_t t = 4096; t < x->f->num_terminals && step > 1 << 14; t *= 2)
        step /= 2;
    return step;
}

/* What happened in the end, when nothing happens any more or the time is over. */
static sv_status conclude(sv__team *team, uint64_t stop, bool nothing)
{
    sv_sim_result *r = team->parts[0].result;
    uint64_t last = last_arrival(team);
    for (uint32_t i = 0; i < team->count; i++)
        sv__count_until(&team->parts[i], stop);
    r->time = last;
    r->end = SV_SIM_COMPLETED;
    if (nothing && all_arrived(team) && last < stop)
        return SV_OK;
    SV_TRY(sv__find_stuck(team, true));
    last = sv__max(last, r->stuck_since);
    r->time = nothing && last < stop ? last : stop;
    r->end = r->num_stuck > 0                 ? SV_SIM_DEADLOCK
             : stop < team->parts[0].k->limit ? SV_SIM_STEADY
                                              : SV_SIM_LIMIT;
    return SV_OK;
}

static sv_status run(sv__team *team)
{
    sv__sim *x = &team->parts[0];
    struct watchman w = {.begun = sv_now_ns(x->ctx), .next_deadlock = 4096};
    uint64_t stop = x->result->until;
    uint64_t step = step_of(x), next;
    while ((next = hopeless(team) ? SV_NEVER : next_event(team)) < stop) {
        uint64_t until = next / step < SV_NEVER / step - 1 ? (next / step + 1) * step : SV_NEVER;
        until = until < stop ? until : stop;
        bool end;
        SV_TRY(sv__rows_until(x, until));
        for (uint32_t i = 0; i < team->count; i++) {
            team->parts[i].result->timeline = x->result->timeline;
            sv__count_until(&team->parts[i], until);
        }
        SV_TRY(sv__run_until(team, until));
        if (x->policy != NULL && sv__policy_next(x) == SV_NEVER)
            continue;
        SV_TRY(look_around(team, &w, until, &end));
        if (end) {
            x->result->time = until;
            if (x->direction != NULL)
                sv__direct_settle(x, until);
            return SV_OK;
        }
    }
    /*~end_arrivals*/ if (x->direction != NULL)
        sv__direct_settle(x, stop);
    return conclude(team, stop, next == SV_NEVER || next_move(team) == SV_NEVER);
}

/* ---- setting up ---- */

/* How many parts are worth while. */
static uint32_t parts_for(const sv__sim *x, const sv_sim_setup *setup)
{
    const sv_sim_model *m = x->m;
    bool watched = x->watch->injected != NULL || x->watch->granted != NULL ||
                   x->watch->arrived != NULL || x->watch->stuck != NULL;
    if (watched || setup->director != NULL || setup->policy != NULL || !x->source->threads ||
        m->inband_bytes > 0 || x->f->num_terminals < 64)
        return 1;
    if (m->cable + m->switch_delay < 10 * SV_TICKS_PER_NS || m->credit < 10 * SV_TICKS_PER_NS)
        return 1;
    return sv_ctx_threads(x->ctx,
                          x->f->num_switches < SV__MAX_PARTS ? x->f->num_switches : SV__MAX_PARTS);
}

/* The first part makes what all share; the others get what they have for themselves. */
static sv_status part_init(sv__team *team, uint32_t i)
{
    sv__sim *x = &team->parts[i], *first = &team->parts[0];
    if (i > 0) {
        *x = *first;
        x->me = i;
        x->packets = NULL;
        x->cargo = NULL;
        x->opened = NULL;
        x->num_packets = x->packets_room = x->num_opened = x->opened_room = 0;
        x->could = NULL;
        x->late = NULL;
        x->could_room = x->num_late = x->late_room = 0;
        x->events = (sv__events){0};
        sv_arena_init(&x->arena, first->ctx);
        x->result = SV_ARENA_NEW(&x->arena, sv_sim_result, 1);
        if (x->result == NULL)
            return SV_NO_MEMORY;
        *x->result = *first->result;
        x->result->latency = SV_ARENA_NEW(&x->arena, uint64_t, SV_SIM_BINS);
        if (x->result->latency == NULL)
            return SV_NO_MEMORY;
    }
    x->boxes = SV_ARENA_NEW(&x->arena, sv__box, 2 * (size_t)team->count);
    if (x->boxes == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__events_init(x));
    return sv__audit_init(x);
}

/*
 * The time after which, at the earliest, a part feels what another does: a packet's first block
 * crosses, goes over the cable, is whole and has been looked at; a credit's block crosses.
 */
static uint64_t lookahead_of(const sv__sim *x)
{
    const sv_sim_model *m = x->m;
    uint64_t byte = UINT32_MAX, cross = UINT32_MAX;
    for (uint32_t c = 0; c < x->f->num_channels; c++) {
        byte = x->outputs[c].byte < byte ? x->outputs[c].byte : byte;
        cross = x->outputs[c].cross < cross ? x->outputs[c].cross : cross;
    }
    uint64_t first = sv__block_end(m->header_bytes, 1);
    uint64_t packet = first * (cross + byte) + m->cable + m->switch_delay;
    uint64_t credit = first * cross + m->credit;
    return packet < credit ? packet : credit;
}

static sv_status simulate(sv__team *team)
{
    sv__sim *x = &team->parts[0];
    SV_TRY(result_new(x));
    if (team->chooses != NULL)
        SV_TRY(sv__policy_init(x, team->chooses));
    SV_TRY(sv__sim_init(x));
    if (team->chooses != NULL)
        SV_TRY(sv__waiting_init(x));
    SV_TRY(sv__statistics_init(x));
    if (x->director != NULL)
        SV_TRY(sv__direct_init(x));
    if (team->count > 1) {
        uint8_t *part_of = SV_ARENA_NEW(&x->arena, uint8_t, sv_num_nodes(x->f));
        uint32_t *queue = SV_ARENA_NEW(&x->arena, uint32_t, x->f->num_switches);
        if (part_of == NULL || queue == NULL)
            return SV_NO_MEMORY;
        sv__cut(x->f, team->count, part_of, queue);
        x->part_of = part_of;
        team->lookahead = lookahead_of(x);
    }
    for (uint32_t i = 0; i < team->count; i++)
        SV_TRY(part_init(team, i));
    for (uint32_t i = 0; i < team->count; i++)
        SV_TRY(sv__adapters_begin(&team->parts[i]));
    SV_TRY(run(team));
    sv__statistics_end(team);
    return sv__audit_end(team);
}

static void release(sv__team *team, sv_ctx *ctx)
{
    for (uint32_t i = team->count; i-- > 0;) {
        sv__sim *x = &team->parts[i];
        for (uint32_t k = 0; x->boxes != NULL && k < 2 * team->count; k++) {
            sv_release(ctx, x->boxes[k].mails);
            sv_release(ctx, x->boxes[k].slips);
        }
        sv_release(ctx, x->packets);
        sv_release(ctx, x->cargo);
        sv_release(ctx, x->opened);
        sv_release(ctx, x->late);
        sv__direct_release(x);
        sv__policy_release(x);
        x->arena.ctx = ctx;
        sv_arena_release(&x->arena);
    }
}

static sv_status with_pool(sv_threads *pool, void *arg)
{
    sv__team *team = arg;
    team->pool = pool;
    if (sv_threads_count(pool) < team->count) /* the system gave fewer */
        team->count = 1;
    return simulate(team);
}

sv_status sv_simulate(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                      const sv_sim_setup *setup, sv_sim_result **result)
{
    static const sv_sim_watch nobody;
    const sv_sim_watch *watch = setup->watch != NULL ? setup->watch : &nobody;
    const sv_sim_model *m = &setup->model;
    uint32_t header = m->header_bytes;
    if (setup->policy != NULL) {
        SV_TRY(sv__policy_check(ctx, setup));
        /*~header_free*/ header += setup->policy->header_bytes;
    }
    SV_TRY(sv__check_model(ctx, m, header));
    sv__sim first = {.ctx = ctx,
                     .f = fabric,
                     .r = routes,
                     .m = m,
                     .k = &setup->control,
                     .source = setup->source,
                     .watch = watch,
                     .director = setup->director,
                     .num_inputs = fabric->num_channels,
                     .header = header,
                     .plain = watch->granted == NULL && setup->control.interval == 0};
    uint32_t parts = parts_for(&first, setup);
    sv__team team = {.ctx = ctx, .count = parts, .chooses = setup->policy};
    team.parts = sv_alloc(ctx, parts, sizeof *team.parts);
    if (team.parts == NULL)
        return SV_NO_MEMORY;
    team.parts[0] = first;
    sv_arena_init(&team.parts[0].arena, ctx);
    sv_status status = parts > 1 ? sv_threads_use(ctx, parts, with_pool, &team) : simulate(&team);
    sv_sim_result *made = team.parts[0].result;
    release(&team, ctx);
    sv_release(ctx, team.parts);
    if (status == SV_OK)
        *result = made;
    else
        sv_sim_free(made);
    return status;
}
