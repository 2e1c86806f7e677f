/*
 * steps.c: updates step by step (update=steps, which is what is done unless something else is
 * asked for).
 *
 * Which tables are handed over in which step is the library's (sv_live_next, _pass, _held). Here
 * is what opens the gate of the next step: all switches have confirmed what they were sent, and
 * packets that were under way have had time to leave, where the plan wants that. Then a thread asks
 * for a sweep, which hands over the next step.
 *
 * Locks: as in five.c: OpenSM's, if it is needed, comes first, then the mutex here.
 * Cost: O(switches × LIDs) when OpenSM is done with a sweep, and only while something waits.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "plugin.h"

enum { AGAIN_MS = 10000 }; /* until a sweep that did not come is asked for again */

struct steps {
    plugin *p;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool running, stopping;
    bool waiting;   /* something is held back */
    bool settle;    /* packets must leave first */
    bool confirmed; /* what was handed over is in the switches … */
    uint64_t ready; /* … and the next step may follow from then on */
};

/* Sleeps, the mutex held, until somebody wakes the thread or a time has come. */
static void rest(struct steps *x, uint64_t until)
{
    uint64_t now = plugin_now_ms();
    if (until == UINT64_MAX)
        pthread_cond_wait(&x->wake, &x->mutex);
    else
        plugin_cond_wait(&x->wake, &x->mutex, until > now ? until - now : 1);
}

static void *run(void *data)
{
    struct steps *x = data;
    pthread_mutex_lock(&x->mutex);
    while (!x->stopping) {
        bool due = x->waiting && x->confirmed && plugin_now_ms() >= x->ready;
        if (!due) {
            rest(x, x->waiting && x->confirmed ? x->ready : UINT64_MAX);
            continue;
        }
        pthread_mutex_unlock(&x->mutex);
        x->p->osm->subn.force_heavy_sweep = TRUE;
        osm_sm_signal(&x->p->osm->sm, OSM_SIGNAL_SWEEP);
        pthread_mutex_lock(&x->mutex);
        if (!x->stopping && x->waiting && x->confirmed)
            rest(x, plugin_now_ms() + AGAIN_MS);
    }
    pthread_mutex_unlock(&x->mutex);
    return NULL;
}

bool steps_choose(plugin *p)
{
    struct steps *x = p->steps;
    sv_status status = SV_OK;
    uint32_t done, count;
    bool settle;
    p->step = p->step_count = 0;
    if (x == NULL)
        return true;
    pthread_mutex_lock(&x->mutex);
    if (!x->running)
        x->running = pthread_create(&x->thread, NULL, run, x) == 0;
    sv_live_gate gate = sv_live_next(p->live);
    sv_live_steps(p->live, &done, &count, &settle);
    bool open = gate == SV_LIVE_GATE_OPEN ||
                (gate == SV_LIVE_GATE_CONFIRMED && x->confirmed && plugin_now_ms() >= x->ready);
    if (open && (status = sv_live_pass(p->live)) == SV_OK) {
        p->step = done + 1;
        x->settle = settle;
    } else if (gate != SV_LIVE_GATE_NONE) {
        p->step = done;
    }
    p->step_count = count;
    if (open || gate == SV_LIVE_GATE_NONE)
        x->confirmed = false;
    x->waiting = sv_live_next(p->live) != SV_LIVE_GATE_NONE;
    p->status.step = x->waiting ? p->step : 0;
    p->status.steps = x->waiting ? count : 0;
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
    return status == SV_OK;
}

void steps_up(plugin *p)
{
    struct steps *x = p->steps;
    if (x == NULL || !p->handed)
        return;
    pthread_mutex_lock(&x->mutex);
    bool wanted = x->waiting && !x->confirmed;
    pthread_mutex_unlock(&x->mutex);
    if (!wanted || !plugin_confirmed(p))
        return;
    pthread_mutex_lock(&x->mutex);
    x->confirmed = true;
    x->ready = plugin_now_ms() + (x->settle ? p->options.settle_ms : 0);
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
}

bool steps_start(plugin *p)
{
    struct steps *x = calloc(1, sizeof *x);
    if (x == NULL)
        return false;
    x->p = p;
    if (pthread_mutex_init(&x->mutex, NULL) != 0 || !plugin_cond_init(&x->wake)) {
        free(x);
        return false;
    }
    p->steps = x;
    return true;
}

void steps_stop(plugin *p)
{
    struct steps *x = p->steps;
    if (x == NULL)
        return;
    pthread_mutex_lock(&x->mutex);
    x->stopping = true;
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
    if (x->running)
        pthread_join(x->thread, NULL);
    pthread_cond_destroy(&x->wake);
    pthread_mutex_destroy(&x->mutex);
    free(x);
    p->steps = NULL;
}
