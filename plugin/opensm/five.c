/*
 * five.c: updates in five phases (update=five).
 *
 * What is handed over when, and who is asked what, is the library's (sv_live_phases_…, and the
 * manager in it). Here is a thread that sends its mails, knows the time, and asks for sweeps; traps
 * and sweeps of OpenSM are passed on.
 *
 * Epochs begin with the time, so that those of an OpenSM that is restarted, or takes over, are
 * newer than any that subscribers know. One that becomes master begins as if it were started then:
 * whoever subscribed to another one meanwhile is not known, and epochs of that one may be newer.
 *
 * Locks: OpenSM's lock, if it is needed, comes first, then the mutex here. Sweeps and traps come
 * with OpenSM's lock held; the thread takes it for sending only, with the mutex free.
 * Cost: O(subscribers) a tick.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin.h"

enum {
    MAX_MAILS = 64,   /* at a time */
    LONGEST_MS = 200, /* that the thread sleeps */
    AGAIN_MS = 10000  /* until a sweep that did not come is asked for again */
};

struct member {
    ib_net64_t guid; /* of its port */
    uint32_t number; /* its base LID */
    uint64_t heard;  /* when it subscribed last */
};

struct five {
    plugin *p;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool running, stopping;
    sv_ctx *ctx;
    sv_live_phases *phases;
    sv_five_manager *manager; /* of these */
    uint32_t counter;
    struct member *members;
    size_t count, room;
    bool master;      /* a sweep as master has begun */
    uint64_t asked;   /* when a sweep was asked for; 0: none is wanted */
    sv_live_news now; /* the last, which status files tell */
    bool news;        /* they do not tell it yet */
};

struct letter {
    ib_net64_t guid;
    sv_five_mail mail;
    uint32_t counter;
};

/* ---- members: the mutex is held ---- */

static struct member *find(struct five *x, uint32_t number)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->members[i].number == number)
            return &x->members[i];
    return NULL;
}

static void forget(struct five *x, struct member *member)
{
    *member = x->members[--x->count];
}

/* A port that has another LID now has no flows under the one before: addresses are gone with it. */
static void move(struct five *x, ib_net64_t guid, uint32_t number, uint64_t now)
{
    for (size_t i = 0; i < x->count;) {
        struct member *member = &x->members[i++];
        if (member->guid != guid || member->number == number)
            continue;
        sv_five_manager_gone(x->manager, member->number, now);
        forget(x, member);
        i--;
    }
}

static bool add(struct five *x, ib_net64_t guid, uint32_t number, uint64_t now)
{
    move(x, guid, number, now);
    struct member *member = find(x, number);
    if (member == NULL && x->count == x->room) {
        size_t room = 2 * x->room + 16;
        struct member *grown = realloc(x->members, room * sizeof *grown);
        if (grown == NULL)
            return false;
        x->members = grown;
        x->room = room;
    }
    if (member == NULL)
        member = &x->members[x->count++];
    *member = (struct member){guid, number, now};
    return true;
}

/* ---- lines: the mutex is held ---- */

static void tell_phase(struct five *x, const sv_live_news *news)
{
    uint32_t update = news->count.updates, subscribers = news->count.subscribers;
    if (news->called_off > 0)
        plugin_log(x->p, OSM_LOG_ERROR,
                   "ERR SV11: update %u is called off: somebody did not leave base addresses in "
                   "time; %s",
                   update,
                   news->forced ? "they have lost paths, so their entries change all the same"
                                : "tables stay until the next sweep");
    else if (news->to == SV_FIVE_LEAVE)
        plugin_log(x->p, OSM_LOG_INFO,
                   "update %u, phase 2: %u subscribers are to leave base addresses", update,
                   subscribers);
    else if (news->to == SV_FIVE_PROGRAM)
        plugin_log(x->p, OSM_LOG_INFO, "update %u, phase 3: %s: entries of base addresses change",
                   update,
                   news->from == SV_FIVE_IDLE ? "nobody has subscribed" : "everybody has left");
    else if (news->to == SV_FIVE_RETURN)
        plugin_log(x->p, OSM_LOG_INFO,
                   "update %u, phase 4: switches have confirmed, %u subscribers are to come back",
                   update, subscribers);
    else
        plugin_log(x->p, OSM_LOG_INFO, "update %u, phase 5: over, %u subscribers", update,
                   subscribers);
}

/* Looks what became of the protocol since the last time. */
static void look(struct five *x)
{
    if (!sv_live_phases_news(x->phases, &x->now))
        return;
    x->news = true;
    if (x->now.expelled > 0)
        plugin_log(x->p, OSM_LOG_INFO,
                   "update: %u subscribers have not been heard of, and are taken for gone",
                   x->now.expelled);
    if (x->now.from != x->now.to || x->now.called_off > 0)
        tell_phase(x, &x->now);
}

/* ---- the thread ---- */

/* Whether a sweep is to be asked for, now. */
static bool wants_sweep(struct five *x, uint64_t now)
{
    if (!sv_live_phases_wants_sweep(x->phases, now)) {
        x->asked = 0;
        return false;
    }
    if (x->asked != 0 && now < x->asked + AGAIN_MS)
        return false;
    x->asked = now;
    return true;
}

static size_t collect(struct five *x, struct letter *letters)
{
    size_t count = 0;
    sv_five_mail mail;
    while (count < MAX_MAILS && sv_five_manager_next(x->manager, &mail)) {
        const struct member *member = find(x, mail.subscriber);
        if (member != NULL)
            letters[count++] = (struct letter){member->guid, mail, ++x->counter};
    }
    return count;
}

/* Subscriptions whose lease is long over. */
static size_t expire(struct five *x, uint64_t now, ib_net64_t *guids)
{
    uint64_t lease = x->p->options.five.lease;
    size_t count = 0;
    for (size_t i = 0; lease > 0 && i < x->count && count < MAX_MAILS;) {
        if (now > x->members[i].heard + 2 * lease) {
            guids[count++] = x->members[i].guid;
            forget(x, &x->members[i]);
        } else {
            i++;
        }
    }
    return count;
}

static void post(plugin *p, const struct letter *letters, size_t count)
{
    if (count == 0)
        return;
    cl_plock_acquire(&p->osm->lock);
    for (size_t i = 0; i < count && p->osm->subn.sm_state == IB_SMINFO_STATE_MASTER; i++)
        notices_send(p, letters[i].guid, &letters[i].mail, letters[i].counter);
    cl_plock_release(&p->osm->lock);
}

static void bury(plugin *p, const ib_net64_t *guids, size_t count)
{
    if (count == 0)
        return;
    cl_plock_excl_acquire(&p->osm->lock);
    for (size_t i = 0; i < count; i++)
        notices_drop(p, guids[i]);
    cl_plock_release(&p->osm->lock);
}

/* One turn of the thread, the mutex held; it is free while OpenSM is spoken to. */
static void turn(struct five *x)
{
    struct letter letters[MAX_MAILS];
    ib_net64_t guids[MAX_MAILS];
    uint64_t now = plugin_now_ms();
    if (sv_five_manager_due(x->manager) <= now)
        sv_five_manager_tick(x->manager, now);
    look(x);
    size_t count = collect(x, letters), dead = expire(x, now, guids);
    bool sweep = wants_sweep(x, now), news = x->news;
    x->news = false;
    pthread_mutex_unlock(&x->mutex);
    post(x->p, letters, count);
    bury(x->p, guids, dead);
    if (news) {
        cl_plock_acquire(&x->p->osm->lock);
        plugin_write_status(x->p);
        cl_plock_release(&x->p->osm->lock);
    }
    if (sweep) {
        x->p->osm->subn.force_heavy_sweep = TRUE;
        osm_sm_signal(&x->p->osm->sm, OSM_SIGNAL_SWEEP);
    }
    pthread_mutex_lock(&x->mutex);
}

static void rest(struct five *x)
{
    uint64_t now = plugin_now_ms(), due = sv_five_manager_due(x->manager), wait = LONGEST_MS;
    if (due < now + wait)
        wait = due > now ? due - now : 1;
    if (!x->stopping)
        plugin_cond_wait(&x->wake, &x->mutex, wait);
}

static void *run(void *data)
{
    struct five *x = data;
    pthread_mutex_lock(&x->mutex);
    while (!x->stopping) {
        turn(x);
        rest(x);
    }
    pthread_mutex_unlock(&x->mutex);
    return NULL;
}

/* ---- what OpenSM tells ---- */

void five_trap(plugin *p, const ib_mad_notice_attr_t *notice)
{
    struct five *x = p->five;
    ib_net64_t guid;
    sv_five_mail mail;
    if (x == NULL || !notices_read(notice, &guid, &mail))
        return;
    const osm_port_t *port = osm_get_port_by_guid(&p->osm->subn, guid);
    if (port == NULL || !notices_subscribed(p, guid))
        return;
    mail.subscriber = cl_ntoh16(osm_port_get_base_lid(port));
    uint64_t now = plugin_now_ms();
    pthread_mutex_lock(&x->mutex);
    bool known = mail.kind == SV_FIVE_SUBSCRIBE ? add(x, guid, mail.subscriber, now)
                                                : find(x, mail.subscriber) != NULL;
    if (known && sv_five_manager_receive(x->manager, &mail, now) != SV_OK)
        plugin_log(p, OSM_LOG_INFO, "warning: a mail of LID %u is lost: %s", mail.subscriber,
                   sv_ctx_message(x->ctx));
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
}

/*
 * Those whose ports are no more; OpenSM's lock is held exclusively. A port may come back, with all
 * its flows where they were: so with leases it is these that count.
 */
static void miss(struct five *x, uint64_t now)
{
    const sv_five_options *options = &x->p->options.five;
    bool leases = options->lease > 0 && !options->trust;
    for (size_t i = 0; i < x->count && !leases;) {
        ib_net64_t guid = x->members[i].guid;
        if (osm_get_port_by_guid(&x->p->osm->subn, guid) != NULL) {
            i++;
            continue;
        }
        sv_five_manager_gone(x->manager, x->members[i].number, now);
        notices_drop(x->p, guid);
        forget(x, &x->members[i]);
    }
}

/* The protocol from its beginning; false: no memory, and all is as it was. The mutex is held. */
static bool begin(struct five *x, uint64_t now)
{
    sv_live_phases *phases = NULL;
    sv_five_options options = x->p->options.five;
    uint32_t last = x->manager == NULL ? 0 : sv_five_manager_count(x->manager).epoch;
    options.epoch = 2 * (uint32_t)((uint64_t)time(NULL) & 0x7fffffff);
    if (options.epoch - last > INT32_MAX) /* a clock that was set back */
        options.epoch = last + 2;
    if (sv_live_phases_new(x->ctx, &options, now, &phases) != SV_OK)
        return false;
    sv_live_phases_free(x->phases);
    x->phases = phases;
    x->manager = sv_live_phases_manager(phases);
    x->count = 0;
    x->now = (sv_live_news){0};
    x->news = true;
    return true;
}

/* Whether this is the first sweep since another subnet manager was in charge, or nobody was. */
static bool is_new_master(const struct five *x)
{
    const osm_subn_t *subn = &x->p->osm->subn;
    return subn->coming_out_of_standby || (subn->first_time_master_sweep && !x->master);
}

bool five_choose(plugin *p)
{
    struct five *x = p->five;
    uint64_t now = plugin_now_ms();
    if (x == NULL)
        return true;
    pthread_mutex_lock(&x->mutex);
    if (!x->running)
        x->running = pthread_create(&x->thread, NULL, run, x) == 0;
    bool well = !is_new_master(x) || begin(x, now);
    x->master = true;
    miss(x, now);
    look(x);
    well = well && sv_live_phases_choose(x->phases, p->live, now) == SV_OK;
    p->left = sv_live_phases_left(x->phases);
    x->asked = 0;
    look(x);
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
    return well;
}

void five_up(plugin *p)
{
    struct five *x = p->five;
    if (x == NULL || !p->handed || !plugin_confirmed(p))
        return;
    pthread_mutex_lock(&x->mutex);
    sv_live_phases_confirmed(x->phases, plugin_now_ms());
    look(x);
    pthread_cond_signal(&x->wake);
    pthread_mutex_unlock(&x->mutex);
}

void five_status(plugin *p)
{
    static const char *const names[SV_FIVE_PHASES] = {"idle", "leave", "program", "return"};
    struct five *x = p->five;
    if (x == NULL)
        return;
    pthread_mutex_lock(&x->mutex);
    p->status.phase = names[x->now.to];
    p->status.subscribers = x->now.count.subscribers;
    p->status.updates = x->now.count.updates;
    p->status.called_off = x->now.count.called_off;
    p->status.expelled = x->now.count.expelled;
    pthread_mutex_unlock(&x->mutex);
}

/* ---- beginning and end ---- */

bool five_start(plugin *p, char *message, size_t size)
{
    const sv_host host = {.user = p, .log = plugin_log_hook};
    struct five *x = calloc(1, sizeof *x);
    if (x == NULL)
        return false;
    x->p = p;
    x->ctx = sv_ctx_new(&host);
    if (x->ctx != NULL && begin(x, plugin_now_ms()) && pthread_mutex_init(&x->mutex, NULL) == 0 &&
        plugin_cond_init(&x->wake)) {
        p->five = x;
        return true;
    }
    if (x->ctx != NULL && x->phases == NULL)
        snprintf(message, size, "%s", sv_ctx_message(x->ctx));
    sv_live_phases_free(x->phases);
    sv_ctx_free(x->ctx);
    free(x);
    return false;
}

void five_stop(plugin *p)
{
    struct five *x = p->five;
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
    sv_live_phases_free(x->phases);
    sv_ctx_free(x->ctx);
    free(x->members);
    free(x);
    p->five = NULL;
}
