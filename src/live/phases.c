/*
 * phases.c: five phases around sweeps: who keeps the gate that base entries wait behind.
 *
 * The protocol (update/) knows nothing of tables, the queue of tables (stages.c) nothing of the
 * protocol. Here a gate that is closed begins an update, the end of its phase 2 opens the gate, and
 * what was handed over then ends phase 3 once it is confirmed.
 *
 * Invariants: nothing goes through SV_LIVE_GATE_LEFT unless the phase is PROGRAM or entries are
 * broken and the update was called off; phase 3 ends only after a sweep in which nothing was held
 * back any more.
 * Cost: O(1), and passing gates.
 */
#include "live/live.h"

struct sv_live_phases {
    sv_ctx *ctx;
    sv_five_manager *manager;
    uint64_t from;    /* when updates may begin */
    bool programming; /* all was handed over, in phase 3, and is not confirmed yet */
    bool waiting;     /* something is held back */
    bool broken;      /* and what is held is broken */
    bool given_up;    /* the last update was called off: not again before the next sweep */
    bool forced;      /* the same, and what is broken is to change */
    bool left;
    uint32_t called_off; /* that are known here */
    sv_five_phase told;  /* in the last news */
    sv_five_count counted;
};

sv_status sv_live_phases_new(sv_ctx *ctx, const sv_five_options *options, uint64_t now,
                             sv_live_phases **phases)
{
    sv_live_phases *x = sv_alloc(ctx, 1, sizeof *x);
    if (x == NULL)
        return SV_NO_MEMORY;
    x->ctx = ctx;
    x->from = now + options->lease;
    sv_status status = sv_five_manager_new(ctx, options, &x->manager);
    if (status != SV_OK) {
        sv_release(ctx, x);
        return status;
    }
    *phases = x;
    return SV_OK;
}

void sv_live_phases_free(sv_live_phases *x)
{
    if (x == NULL)
        return;
    sv_five_manager_free(x->manager);
    sv_release(x->ctx, x);
}

sv_five_manager *sv_live_phases_manager(sv_live_phases *x)
{
    return x->manager;
}

/* What the manager did by itself since it was looked at last. */
static sv_five_phase look(sv_live_phases *x)
{
    sv_five_phase phase = sv_five_manager_phase(x->manager);
    uint32_t called_off = sv_five_manager_count(x->manager).called_off;
    if (called_off != x->called_off) {
        x->called_off = called_off;
        x->given_up = true;
        x->forced = x->waiting && x->broken;
    }
    if (phase == SV_FIVE_PROGRAM)
        x->given_up = x->forced = false;
    return phase;
}

static bool is_open(sv_live_phases *x, sv_live_gate gate, uint64_t now)
{
    if (gate != SV_LIVE_GATE_LEFT)
        return gate == SV_LIVE_GATE_OPEN;
    if (!x->forced && now >= x->from)
        (void)!sv_five_manager_begin(x->manager, now); /* unless one is under way */
    return x->forced || look(x) == SV_FIVE_PROGRAM;
}

sv_status sv_live_phases_choose(sv_live_phases *x, sv_live *live, uint64_t now)
{
    sv_live_gate gate;
    sv_status status = SV_OK;
    if (look(x) == SV_FIVE_IDLE)
        x->given_up = false;
    x->broken = sv_live_broken(live);
    x->left = false;
    while (status == SV_OK && (gate = sv_live_next(live)) != SV_LIVE_GATE_NONE &&
           is_open(x, gate, now)) {
        status = sv_live_pass(live);
        x->left |= gate == SV_LIVE_GATE_LEFT && !x->forced;
    }
    x->waiting = sv_live_next(live) != SV_LIVE_GATE_NONE;
    x->forced = x->forced && x->waiting;
    x->programming = !x->waiting && look(x) == SV_FIVE_PROGRAM;
    return status;
}

void sv_live_phases_confirmed(sv_live_phases *x, uint64_t now)
{
    if (x->programming)
        sv_five_manager_programmed(x->manager, now);
    x->programming = false;
}

bool sv_live_phases_wants_sweep(sv_live_phases *x, uint64_t now)
{
    sv_five_phase phase = look(x);
    return (phase == SV_FIVE_PROGRAM && !x->programming) || x->forced ||
           (phase == SV_FIVE_IDLE && x->waiting && !x->given_up && now >= x->from);
}

bool sv_live_phases_news(sv_live_phases *x, sv_live_news *news)
{
    sv_five_phase phase = look(x);
    sv_five_count count = sv_five_manager_count(x->manager);
    *news = (sv_live_news){.from = x->told,
                           .to = phase,
                           .count = count,
                           .called_off = count.called_off - x->counted.called_off,
                           .expelled = count.expelled - x->counted.expelled,
                           .forced = x->forced};
    bool any = phase != x->told || news->called_off > 0 || news->expelled > 0 ||
               count.updates != x->counted.updates || count.subscribers != x->counted.subscribers;
    x->told = phase;
    x->counted = count;
    return any;
}

bool sv_live_phases_left(const sv_live_phases *x)
{
    return x->left;
}
