/*
 * subscriber.c: stands in for the event thread of an MPI library's rank 0 in the five phases of an
 * update (docs/operate.md, update=five; thesis 5.2.3).
 *
 * It subscribes to UnPath (68) and RePath (69) at the subnet administrator, and to the plugin by a
 * mail; leaves base addresses when it is told to, and comes back; here that takes as long as
 * --drain says and moves nothing. What is to be said when, lost datagrams included, is the
 * library's (sv_five_subscriber_…); here are datagrams, by libibumad, and a clock.
 *
 *     subscriber [--drain MS] [--peer LID]… [--retry MS] [--tries N] [--lease MS] [--margin MS]
 *                [--lose N] [--lose-answers N] [--sm 1]
 *
 * --lease, --retry and --tries are to be those of the plugin. --peer: after each migration the
 * administrator is asked for the path to that base address (or the high one beside it). --lose: the
 * first N UnPaths and RePaths are taken for lost, --lose-answers: the first N of the rest. SIGTERM
 * or SIGINT: unsubscribes and ends, after ten seconds at most.
 *
 * Each line of output is a time in seconds and what happened:
 *
 *     1794815861.803 subscribed lid 8
 *     1794815861.810 place on-base epoch 387631722
 *     1794815870.110 notice unpath epoch 387631723
 *     1794815870.613 path from 9 to 5 sl 3
 *
 * --sm 1 is for ibsim, which hands requests only to clients that say they are subnet managers: so
 * it says that, and answers when it is asked about it: an inactive one. (ibsim hands on no answers
 * to traps either, so nothing here depends on these.)
 *
 * Sizes and offsets of datagrams are those of the InfiniBand Architecture Specification, volume 1.
 */
#include <fcntl.h>
#include <infiniband/umad.h>
#include <selvage/experimental/update.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CLASS_LID = 0x01,
    CLASS_DIRECTED = 0x81,
    CLASS_SA = 0x03,
    GET = 0x01,
    SET = 0x02,
    TRAP = 0x05,
    REPORT = 0x06,
    RESPONSE = 0x80,
    NOTICE = 0x02,
    INFORM_INFO = 0x03,
    PORT_INFO = 0x15,
    SM_INFO = 0x20,
    PATH_RECORD = 0x35,
    UNPATH = 68,
    REPATH = 69,
    LOCAL_CHANGES = 144,
    MAD = 256,
    SMP_DATA = 64,       /* where data begins in datagrams of the subnet manager */
    SA_DATA = 56,        /* and of the administrator */
    NOTICE_DETAILS = 10, /* in a notice */
    MAIL = NOTICE_DETAILS + SV_FIVE_DETAILS - SV_FIVE_BYTES,
    MAX_PEERS = 16
};

struct options {
    sv_five_options five;
    uint64_t drain;
    unsigned peers[MAX_PEERS], num_peers;
    unsigned lose, lose_answers, sm;
};

struct client {
    struct options options;
    int port, agents[256];
    uint8_t *umad;         /* a buffer for one datagram */
    uint32_t number;       /* of the last transaction */
    uint64_t guid;         /* of this port */
    unsigned lid, sm_lid;  /* of this port, and of its subnet manager; 0: not known yet */
    uint32_t capabilities; /* of this port: a trap that tells new ones would cause a sweep */
    bool subscribed[2];    /* to UnPath, RePath: answered */
    uint64_t asked;        /* when for these last */
    unsigned unheard;      /* mails that subscribe since somebody was heard of last */
    sv_five_subscriber *machine;
    sv_five_place place;
    uint64_t drained; /* when flows will have migrated */
    uint32_t epoch;   /* that was told last */
    bool ending;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

/* ---- time and lines ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void say(const char *what, const char *name, uint32_t number)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%lld.%03ld %s %s %u\n", (long long)now.tv_sec, now.tv_nsec / 1000000, what, name,
           number);
    fflush(stdout);
}

static void say_path(unsigned from, unsigned to, unsigned sl)
{
    char text[80];
    snprintf(text, sizeof text, "from %u to %u sl", from, to);
    say("path", text, sl);
}

/* ---- bytes ---- */

static void put(uint8_t *at, unsigned bytes, uint64_t number)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | at[i];
    return number;
}

/* ---- datagrams ---- */

static uint8_t *begin_mad(struct client *c, unsigned class, unsigned method, unsigned attribute)
{
    uint8_t *mad = umad_get_mad(c->umad);
    memset(c->umad, 0, umad_size() + MAD);
    mad[0] = 1;
    mad[1] = (uint8_t) class;
    mad[2] = class == CLASS_SA ? 2 : 1;
    mad[3] = (uint8_t)method;
    put(mad + 12, 4, ++c->number);
    put(mad + 16, 2, attribute);
    return mad;
}

/* Nothing waits for what becomes of it: whoever needs an answer asks again. */
static void send_mad(struct client *c, unsigned class, unsigned lid, bool answer)
{
    bool sa = class == CLASS_SA;
    umad_set_addr(c->umad, (int)lid, sa ? 1 : 0, 0, sa ? (int)0x80010000u : 0);
    (void)umad_send(c->port, c->agents[class], c->umad, MAD, answer ? 0 : 1000, 0);
}

/* What this port is: asked of the port itself, since LIDs may come later. */
static void ask_port(struct client *c)
{
    uint8_t *mad = begin_mad(c, CLASS_DIRECTED, GET, PORT_INFO);
    put(mad + 32, 4, 0xffffffffu); /* no LIDs on the way */
    send_mad(c, CLASS_DIRECTED, 0xffff, false);
}

static void take_port(struct client *c, const uint8_t *info)
{
    c->lid = (unsigned)get(info + 16, 2);
    c->sm_lid = (unsigned)get(info + 18, 2);
    c->capabilities = (uint32_t)get(info + 20, 4);
}

static void ask_inform(struct client *c, unsigned trap, bool subscribe)
{
    uint8_t *mad = begin_mad(c, CLASS_SA, SET, INFORM_INFO), *info = mad + SA_DATA;
    put(info + 16, 2, 0xffff); /* from whatever LID */
    info[22] = 1;              /* a generic trap */
    info[23] = subscribe;
    put(info + 24, 2, 0xffff); /* of whatever type */
    put(info + 26, 2, trap);
    put(info + 28, 4, 1u << 8 | 18); /* QP 1 takes them; answers take a second or so */
    put(info + 33, 3, 0xffffff);     /* from whatever kind of node */
    send_mad(c, CLASS_SA, c->sm_lid, false);
}

static void ask_path(struct client *c, unsigned to)
{
    uint8_t *mad = begin_mad(c, CLASS_SA, GET, PATH_RECORD), *path = mad + SA_DATA;
    unsigned high = c->place == SV_FIVE_ON_HIGH;
    put(mad + 48, 8, 1u << 4 | 1u << 5 | 1u << 12); /* by destination, source, and one of them */
    put(path + 40, 2, to + high);
    put(path + 42, 2, c->lid + high);
    path[49] = 1;
    send_mad(c, CLASS_SA, c->sm_lid, false);
}

/*
 * A mail to the manager, in a trap: local changes, of the node's description and nothing else. That
 * makes OpenSM read the description again; anything more would make it sweep.
 */
static void send_mail(struct client *c, const sv_five_mail *mail)
{
    uint8_t *mad = begin_mad(c, CLASS_LID, TRAP, NOTICE), *notice = mad + SMP_DATA;
    uint8_t *details = notice + NOTICE_DETAILS;
    notice[0] = 0x80 | 4;  /* generic, informational */
    put(notice + 1, 3, 1); /* from an adapter */
    put(notice + 4, 2, LOCAL_CHANGES);
    put(notice + 6, 2, c->lid);
    put(details + 2, 2, c->lid);
    details[5] = 1; /* other local changes: */
    put(details + 6, 4, c->capabilities);
    put(details + 10, 2, 1); /* the description */
    sv_five_pack(mail, c->number, notice + MAIL);
    send_mad(c, CLASS_LID, c->sm_lid | 1, false); /* by high entries: these are always good */
}

/* A manager that does not answer may have forgotten what it knew, or have come to another place. */
static void remind(struct client *c)
{
    enum { OFTEN = 3 };
    if (++c->unheard % OFTEN != 0)
        return;
    ask_port(c);
    ask_inform(c, UNPATH, true);
    ask_inform(c, REPATH, true);
}

/* ---- what comes in ---- */

/* The same datagram back, as an answer. */
static void answer(struct client *c, uint8_t *mad)
{
    unsigned class = mad[1];
    mad[3] |= RESPONSE;
    if (class == CLASS_DIRECTED)
        mad[4] |= 0x80; /* on its way back */
    int lid = (mad[1] == CLASS_DIRECTED) ? 0xffff : ntohs(umad_get_mad_addr(c->umad)->lid);
    send_mad(c, class, (unsigned)lid, true);
}

/* Whoever asks what subnet manager this is: one that does nothing (see above). */
static void answer_sm_info(struct client *c, uint8_t *mad)
{
    memset(mad + SMP_DATA, 0, 64);
    put(mad + SMP_DATA, 8, c->guid);
    put(mad + SMP_DATA + 8, 8, 1); /* OpenSM's usual key, or it would complain */
    answer(c, mad);
}

/* Whether a mail is to be taken for lost. */
static bool is_lost(struct client *c, const sv_five_mail *mail)
{
    bool asks = mail->kind == SV_FIVE_UNPATH || mail->kind == SV_FIVE_REPATH;
    unsigned *left = asks ? &c->options.lose : &c->options.lose_answers;
    if (*left == 0)
        return false;
    --*left;
    say("lost", mail->epoch % 2 == 1 ? "unpath epoch" : "repath epoch", mail->epoch);
    return true;
}

static void take_report(struct client *c, uint8_t *mad, uint64_t now)
{
    const uint8_t *notice = mad + SA_DATA;
    unsigned trap = (unsigned)get(notice + 4, 2);
    sv_five_mail mail;
    bool ours = (trap == UNPATH || trap == REPATH) && sv_five_unpack(notice + MAIL, &mail);
    if (ours && is_lost(c, &mail))
        return;
    answer(c, mad);
    if (!ours || mail.subscriber != c->lid)
        return;
    c->epoch = mail.epoch;
    c->unheard = 0;
    if (mail.kind == SV_FIVE_UNPATH || mail.kind == SV_FIVE_REPATH)
        say("notice", mail.kind == SV_FIVE_UNPATH ? "unpath epoch" : "repath epoch", mail.epoch);
    sv_five_subscriber_receive(c->machine, &mail, now);
}

static void take_answer(struct client *c, const uint8_t *mad)
{
    const uint8_t *data = mad + SA_DATA;
    unsigned attribute = (unsigned)get(mad + 16, 2), status = (unsigned)get(mad + 4, 2);
    if (mad[1] == CLASS_DIRECTED && attribute == PORT_INFO) {
        take_port(c, mad + SMP_DATA);
    } else if (mad[1] == CLASS_SA && status != 0) {
        say("refused", "attribute", attribute);
    } else if (mad[1] == CLASS_SA && attribute == INFORM_INFO) {
        unsigned trap = (unsigned)get(data + 26, 2);
        if (trap == UNPATH || trap == REPATH)
            c->subscribed[trap == REPATH] = data[23] != 0;
    } else if (mad[1] == CLASS_SA && attribute == PATH_RECORD) {
        say_path((unsigned)get(data + 42, 2), (unsigned)get(data + 40, 2),
                 (unsigned)get(data + 52, 2) & 15);
    }
}

/* One datagram, if one comes in time. */
static void receive(struct client *c, int wait_ms)
{
    int length = MAD;
    memset(c->umad, 0, umad_size() + MAD);
    if (umad_recv(c->port, c->umad, &length, wait_ms) < 0 || umad_status(c->umad) != 0)
        return;
    uint8_t *mad = umad_get_mad(c->umad);
    if (mad[3] & RESPONSE)
        take_answer(c, mad);
    else if (mad[1] == CLASS_SA && mad[3] == REPORT)
        take_report(c, mad, now_ms());
    else if (mad[1] != CLASS_SA && mad[3] == GET && get(mad + 16, 2) == SM_INFO)
        answer_sm_info(c, mad);
}

/* ---- places ---- */

static void look_at_place(struct client *c, uint64_t now)
{
    static const char *const names[] = {"outside epoch", "on-base epoch", "leaving epoch",
                                        "on-high epoch", "returning epoch"};
    sv_five_place place = sv_five_subscriber_place(c->machine);
    if (place == c->place)
        return;
    c->place = place;
    say("place", names[place], c->epoch);
    if (place == SV_FIVE_LEAVING || place == SV_FIVE_RETURNING)
        c->drained = now + c->options.drain;
    for (unsigned i = 0; i < c->options.num_peers; i++)
        if (place == SV_FIVE_ON_BASE || place == SV_FIVE_ON_HIGH)
            ask_path(c, c->options.peers[i]);
}

static bool is_moving(const struct client *c)
{
    return c->place == SV_FIVE_LEAVING || c->place == SV_FIVE_RETURNING;
}

static void run_machine(struct client *c)
{
    uint64_t now = now_ms();
    sv_five_mail mail;
    if (sv_five_subscriber_due(c->machine) <= now)
        sv_five_subscriber_tick(c->machine, now);
    look_at_place(c, now);
    if (is_moving(c) && c->drained <= now) {
        sv_five_subscriber_migrated(c->machine, now);
        look_at_place(c, now);
    }
    while (sv_five_subscriber_next(c->machine, &mail)) {
        if (mail.kind == SV_FIVE_SUBSCRIBE)
            remind(c);
        send_mail(c, &mail);
    }
}

/* Asks the administrator until it has answered: for the port's LIDs, then for subscriptions (or
 * their end). True: all is as it should be. */
static bool is_set_up(struct client *c, bool subscribe)
{
    uint64_t now = now_ms();
    if (c->sm_lid != 0 && c->subscribed[0] == subscribe && c->subscribed[1] == subscribe)
        return true;
    if (now < c->asked + c->options.five.retry && c->asked != 0)
        return false;
    c->asked = now;
    ask_port(c);
    for (unsigned i = 0; i < 2 && c->sm_lid != 0; i++)
        if (c->subscribed[i] != subscribe)
            ask_inform(c, i == 0 ? UNPATH : REPATH, subscribe);
    return false;
}

static void run(struct client *c)
{
    enum { WAIT = 20, FAREWELL = 10000 }; /* ms */
    while (!stopped && !is_set_up(c, true))
        receive(c, WAIT);
    if (stopped)
        return;
    say("subscribed", "lid", c->lid);
    sv_five_subscriber_begin(c->machine, now_ms());
    while (!stopped) {
        run_machine(c);
        receive(c, WAIT);
    }
    sv_five_subscriber_end(c->machine, now_ms());
    while (sv_five_subscriber_due(c->machine) != UINT64_MAX) {
        run_machine(c);
        receive(c, WAIT);
    }
    run_machine(c);
    c->asked = 0;
    bool gone = false; /* an administrator may be busy: what it keeps, it keeps for ever */
    for (uint64_t until = now_ms() + FAREWELL; now_ms() < until && !gone;
         gone = is_set_up(c, false))
        receive(c, WAIT);
    say(gone ? "unsubscribed" : "still-subscribed", "lid", c->lid);
}

/* ---- the beginning ---- */

static bool read_options(struct options *o, int count, char **words)
{
    o->five = (sv_five_options){.retry = 1000, .tries = 5, .lease = 60000, .margin = 10000};
    o->drain = 100;
    for (int i = 1; i < count; i += 2) {
        const char *name = words[i];
        char *end = NULL;
        unsigned long long value = i + 1 < count ? strtoull(words[i + 1], &end, 10) : 0;
        if (end == NULL || *end != 0 || end == words[i + 1])
            return false;
        if (strcmp(name, "--drain") == 0)
            o->drain = value;
        else if (strcmp(name, "--retry") == 0)
            o->five.retry = value;
        else if (strcmp(name, "--tries") == 0)
            o->five.tries = (uint32_t)value;
        else if (strcmp(name, "--lease") == 0)
            o->five.lease = value;
        else if (strcmp(name, "--margin") == 0)
            o->five.margin = value;
        else if (strcmp(name, "--lose") == 0)
            o->lose = (unsigned)value;
        else if (strcmp(name, "--lose-answers") == 0)
            o->lose_answers = (unsigned)value;
        else if (strcmp(name, "--sm") == 0)
            o->sm = (unsigned)value;
        else if (strcmp(name, "--peer") == 0 && o->num_peers < MAX_PEERS)
            o->peers[o->num_peers++] = (unsigned)value;
        else
            return false;
    }
    return true;
}

/* This port has a subnet manager from now on, as long as the program runs. */
static bool say_sm(void)
{
    char path[256];
    return umad_get_issm_path(NULL, 0, path, sizeof path) >= 0 && open(path, O_RDWR) >= 0;
}

static bool open_port(struct client *c)
{
    long reports[16 / sizeof(long)] = {1L << REPORT};
    umad_port_t about;
    if (umad_init() < 0 || umad_get_port(NULL, 0, &about) < 0)
        return false;
    c->guid = get((const uint8_t *)&about.port_guid, 8);
    umad_release_port(&about);
    if ((c->port = umad_open_port(NULL, 0)) < 0)
        return false;
    c->agents[CLASS_LID] = umad_register(c->port, CLASS_LID, 1, 0, NULL);
    c->agents[CLASS_DIRECTED] = umad_register(c->port, CLASS_DIRECTED, 1, 0, NULL);
    c->agents[CLASS_SA] = umad_register(c->port, CLASS_SA, 2, 0, reports);
    c->umad = umad_alloc(1, umad_size() + MAD);
    if (c->options.sm != 0 && !say_sm())
        return false;
    return c->agents[CLASS_LID] >= 0 && c->agents[CLASS_DIRECTED] >= 0 &&
           c->agents[CLASS_SA] >= 0 && c->umad != NULL;
}

/* The number is given when the LID is known: until then nobody hears of it. */
static bool make_machine(struct client *c, sv_ctx *ctx)
{
    while (!stopped && c->lid == 0) {
        uint64_t now = now_ms();
        if (c->asked == 0 || now >= c->asked + c->options.five.retry) {
            c->asked = now;
            ask_port(c);
        }
        receive(c, 20);
    }
    c->asked = 0;
    return ctx != NULL &&
           sv_five_subscriber_new(ctx, c->lid, &c->options.five, &c->machine) == SV_OK;
}

int main(int count, char **words)
{
    static struct client c;
    const struct sigaction action = {.sa_handler = stop};
    if (!read_options(&c.options, count, words)) {
        fprintf(stderr, "usage: subscriber [--drain MS] [--peer LID]... [--retry MS] [--tries N] "
                        "[--lease MS] [--margin MS] [--lose N] [--lose-answers N] [--sm 1]\n");
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (!open_port(&c)) {
        fprintf(stderr, "subscriber: no port to be used\n");
        return 5;
    }
    sv_ctx *ctx = sv_ctx_new(NULL);
    bool made = make_machine(&c, ctx);
    if (made)
        run(&c);
    else
        fprintf(stderr, "subscriber: %s\n", ctx == NULL ? "out of memory" : sv_ctx_message(ctx));
    sv_five_subscriber_free(c.machine);
    sv_ctx_free(ctx);
    umad_free(c.umad);
    umad_close_port(c.port);
    return made ? 0 : 2;
}
