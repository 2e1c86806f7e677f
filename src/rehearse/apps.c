/*
 * apps.c: applications and the manager of the five phases, in a rehearsal.
 *
 * Each application has a subscriber machine at its rank 0, its first terminal. Datagrams between
 * that and the manager take their time and get lost, as those to switches; rank 0 and the other
 * ranks talk over MPI: `forward` each way, never lost. When the machine's place changes ranks are
 * told; each pair of a rank drains and migrates by itself; when all of its pairs have, rank 0
 * hears.
 *
 * An application is told something new while ranks still do what they were told before: turns tell
 * which answer is to what, and only those to the last telling count.
 *
 * An application that is dead answers nothing and sends nothing from the beginning of the update
 * on; what it had under way goes on.
 *
 * Invariant: terminals of an application send nothing before its subscription is confirmed.
 * Cost: O(1) a datagram, O(ranks) a telling.
 */
#include "rehearse/trial.h"

typedef struct app {
    sv_five_subscriber *machine;
    sv_five_place place; /* that ranks were told */
    uint32_t *ranks;     /* [num_ranks]: terminals; the first is rank 0 */
    uint32_t num_ranks;
    uint32_t turn, left; /* tellings; ranks that have not answered the last */
    uint64_t armed;      /* its next tick is noted for then, or earlier */
    bool dead;
} app;

struct sv__apps {
    sv_five_manager *manager;
    app *at;
    uint32_t count;
    sv_five_phase phase; /* that was acted upon */
    bool begun, programmed;
    uint64_t armed;
};

/* ---- setting up ---- */

/* Numbers applications from 0 on, in the order of their first terminals. */
static sv_status number(sv__trial *x, sv_map *index)
{
    sv__apps *a = x->apps;
    for (uint32_t t = 0; t < x->f->num_terminals; t++) {
        uint32_t name = x->q->application != NULL ? x->q->application[t] : 0, i;
        if (name == SV_NONE || !sv_node_alive(x->f, (sv_node){x->f->num_switches + t}))
            continue;
        SV_TRY(sv_map_add(index, name, a->count, &i));
        a->count += i == a->count;
        x->terminals[t].application = i;
        /*~flows_early*/ x->terminals[t].outside = true;
    }
    return SV_OK;
}

static sv_status list_ranks(sv__trial *x)
{
    sv__apps *a = x->apps;
    uint32_t *all = SV_ARENA_NEW(&x->arena, uint32_t, (size_t)x->f->num_terminals + 1);
    if (all == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < x->f->num_terminals; t++)
        if (x->terminals[t].application != SV_NONE)
            a->at[x->terminals[t].application].num_ranks++;
    for (uint32_t i = 0; i < a->count; i++) {
        a->at[i].ranks = all;
        all += a->at[i].num_ranks;
        a->at[i].num_ranks = 0;
    }
    for (uint32_t t = 0; t < x->f->num_terminals; t++)
        if (x->terminals[t].application != SV_NONE) {
            app *of = &a->at[x->terminals[t].application];
            of->ranks[of->num_ranks++] = t;
        }
    return SV_OK;
}

static sv_status make(sv__trial *x, sv_map *index)
{
    sv__apps *a = x->apps;
    SV_TRY(number(x, index));
    a->at = SV_ARENA_NEW(&x->arena, app, (size_t)a->count + 1);
    if (a->at == NULL)
        return SV_NO_MEMORY;
    SV_TRY(list_ranks(x));
    SV_TRY(sv_five_manager_new(x->ctx, &x->q->five, &a->manager));
    for (uint32_t i = 0; i < a->count; i++) {
        SV_TRY(sv_five_subscriber_new(x->ctx, i, &x->q->five, &a->at[i].machine));
        a->at[i].place = SV_FIVE_OUTSIDE;
        a->at[i].armed = SV_NEVER;
        sv_five_subscriber_begin(a->at[i].machine, 0);
        sv__trial_note(x, 0, SV__DUE_TICK, i, 0, 0);
    }
    return x->status;
}

sv_status sv__apps_init(sv__trial *x)
{
    sv_map index;
    if (x->q->way != SV_REHEARSE_FIVE)
        return SV_OK;
    x->apps = SV_ARENA_NEW(&x->arena, sv__apps, 1);
    if (x->apps == NULL)
        return SV_NO_MEMORY;
    x->apps->armed = SV_NEVER;
    sv_map_init(&index, x->ctx);
    sv_status status = make(x, &index);
    sv_map_release(&index);
    return status;
}

void sv__apps_release(sv__trial *x)
{
    sv__apps *a = x->apps;
    for (uint32_t i = 0; a != NULL && a->at != NULL && i < a->count; i++)
        sv_five_subscriber_free(a->at[i].machine);
    if (a != NULL)
        sv_five_manager_free(a->manager);
}

void sv__apps_count(sv__trial *x)
{
    if (x->apps == NULL)
        return;
    x->report->five = sv_five_manager_count(x->apps->manager);
    x->report->again += x->report->five.again;
}

/* ---- ranks ---- */

/* Ranks hear where they belong. */
static void tell_ranks(sv__trial *x, uint32_t i)
{
    app *of = &x->apps->at[i];
    of->turn++;
    of->left = of->num_ranks;
    for (uint32_t k = 0; k < of->num_ranks; k++)
        sv__trial_note(x, x->now + (k > 0 ? x->q->forward : 0), SV__DUE_TOLD, of->ranks[k],
                       of->turn, (uint32_t)of->place);
}

static void be_told(sv__trial *x, uint32_t t, uint32_t turn, sv_five_place place)
{
    sv__terminal *terminal = &x->terminals[t];
    terminal->turn = turn;
    terminal->outside = place == SV_FIVE_OUTSIDE || x->apps->at[terminal->application].dead;
    terminal->owes = true;
    sv__pairs_move(x, t, place == SV_FIVE_LEAVING || place == SV_FIVE_ON_HIGH);
    if (terminal->draining == 0)
        sv__apps_rank_done(x, t);
}

void sv__apps_rank_done(sv__trial *x, uint32_t t)
{
    sv__terminal *terminal = &x->terminals[t];
    const app *of = &x->apps->at[terminal->application];
    if (!terminal->owes)
        return;
    terminal->owes = false;
    sv__trial_note(x, x->now + (t != of->ranks[0] ? x->q->forward : 0), SV__DUE_BACK,
                   terminal->application, terminal->turn, 0);
}

/* ---- machines ---- */

/* A machine is to be called when it is due; not before the next tick. */
static void arm(sv__trial *x, uint64_t due, uint64_t *armed, uint32_t which)
{
    due = due > x->now ? due : x->now + 1;
    if (due == SV_NEVER || due >= *armed)
        return;
    *armed = due;
    sv__trial_note(x, due, SV__DUE_TICK, which, 0, 0);
}

/* Whether nothing is left to be done: then nobody renews any more, and the run may end. */
static bool is_over(const sv__trial *x)
{
    const sv__apps *a = x->apps;
    bool over = a->begun && a->phase == SV_FIVE_IDLE;
    for (uint32_t i = 0; over && i < a->count; i++)
        over = a->at[i].dead || a->at[i].place == SV_FIVE_ON_BASE;
    return over;
}

/* Sends what an application's machine says, and sees whether its place has changed. */
static void pump_app(sv__trial *x, uint32_t i)
{
    app *of = &x->apps->at[i];
    sv_five_mail mail;
    while (!of->dead && sv_five_subscriber_next(of->machine, &mail))
        if (!sv__trial_lost(x))
            sv__trial_post(x, x->now + sv__trial_delay(x), SV__DUE_TO_MANAGER, &mail);
    sv_five_place place = sv_five_subscriber_place(of->machine);
    if (of->dead)
        return;
    if (place != of->place) {
        bool same = (of->place == SV_FIVE_LEAVING && place == SV_FIVE_ON_HIGH) ||
                    (of->place == SV_FIVE_RETURNING && place == SV_FIVE_ON_BASE);
        of->place = place;
        if (!same)
            tell_ranks(x, i);
    }
    if (!is_over(x))
        arm(x, sv_five_subscriber_due(of->machine), &of->armed, i);
}

/* The manager's phase: what is to be done for it. */
static sv_status heed_phase(sv__trial *x)
{
    sv__apps *a = x->apps;
    sv_five_phase phase = sv_five_manager_phase(a->manager);
    if (phase == a->phase)
        return SV_OK;
    a->phase = phase;
    if (phase == SV_FIVE_PROGRAM)
        return sv__scene_write(x);
    if (phase == SV_FIVE_RETURN)
        sv__phase_begin(x, 3);
    if (phase == SV_FIVE_IDLE)
        sv__scene_over(x, a->programmed);
    return SV_OK;
}

static sv_status pump_manager(sv__trial *x)
{
    sv__apps *a = x->apps;
    sv_five_mail mail;
    sv_five_phase seen;
    do {
        while (sv_five_manager_next(a->manager, &mail))
            if (!sv__trial_lost(x))
                sv__trial_post(x, x->now + sv__trial_delay(x), SV__DUE_TO_SUBSCRIBER, &mail);
        seen = a->phase;
        SV_TRY(heed_phase(x));
    } while (seen != a->phase);
    if (!is_over(x))
        arm(x, sv_five_manager_due(a->manager), &a->armed, SV_NONE);
    return x->status;
}

sv_status sv__apps_begin(sv__trial *x)
{
    sv__apps *a = x->apps;
    for (uint32_t t = 0; t < x->f->num_terminals; t++) {
        uint32_t name = x->q->application != NULL ? x->q->application[t] : 0;
        sv__terminal *terminal = &x->terminals[t];
        if (terminal->application == SV_NONE || name != x->q->dead)
            continue;
        terminal->outside = true;
        a->at[terminal->application].dead = /*~dead_answers*/ true;
    }
    a->begun = sv_five_manager_begin(a->manager, x->now);
    return pump_manager(x);
}

sv_status sv__apps_programmed(sv__trial *x)
{
    x->apps->programmed = true;
    sv_five_manager_programmed(x->apps->manager, x->now);
    return pump_manager(x);
}

static sv_status tick(sv__trial *x, uint32_t which)
{
    sv__apps *a = x->apps;
    if (which == SV_NONE) {
        a->armed = SV_NEVER;
        sv_five_manager_tick(a->manager, x->now);
        return pump_manager(x);
    }
    a->at[which].armed = SV_NEVER;
    if (!a->at[which].dead)
        sv_five_subscriber_tick(a->at[which].machine, x->now);
    pump_app(x, which);
    return x->status;
}

sv_status sv__apps_due(sv__trial *x, const sv__due *due)
{
    sv__apps *a = x->apps;
    uint32_t i = due->kind == SV__DUE_TO_SUBSCRIBER ? due->mail.subscriber : due->a;
    switch (due->kind) {
    case SV__DUE_TO_MANAGER:
        SV_TRY(sv_five_manager_receive(a->manager, &due->mail, x->now));
        return pump_manager(x);
    case SV__DUE_TO_SUBSCRIBER:
        if (!a->at[i].dead)
            sv_five_subscriber_receive(a->at[i].machine, &due->mail, x->now);
        pump_app(x, i);
        return x->status;
    case SV__DUE_TOLD:
        be_told(x, due->a, due->b, (sv_five_place)due->c);
        return x->status;
    case SV__DUE_BACK:
        if (due->b == a->at[i].turn && !a->at[i].dead && --a->at[i].left /*~rank_one*/ == 0)
            sv_five_subscriber_migrated(a->at[i].machine, x->now);
        pump_app(x, i);
        return x->status;
    default:
        return tick(x, due->a);
    }
}
