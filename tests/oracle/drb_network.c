/*
 * drb_network.c: follows each packet through the simulator and says what switches must find, what
 * destinations must tell and when watchdogs must run out; then has drb_oracle.c decide, and
 * compares with what the policy did.
 *
 * The simulator tells of injections, grants and arrivals (rules 15 and 30 to 33: the hook for a
 * departure comes right after its grant, that for an arrival right after it).
 */
#include "drb_network.h"

/* ---- ways ---- */

/* Channels from a node to a destination, behind what is there. */
static void follow(const drb *o, uint32_t at, uint32_t destination, drb_path *path)
{
    uint32_t target = o->r->node[destination].i;
    while (at != target) {
        sv_channel c;
        if (at >= o->f->num_switches)
            c = o->f->hops[o->f->first[at]].channel;
        else
            c = sv_channel_at(o->f, (sv_node){at}, sv_route_port(o->r, (sv_node){at}, destination));
        assert_true(path->length < DRB_MAX_HOPS && c.i != SV_NONE);
        path->hops[path->length++] = c.i;
        at = o->f->head[c.i].i;
    }
}

static uint32_t add_path(drb_net *n, drb_pair *p, const sv_sim_way *way)
{
    const drb *o = &n->o;
    assert_true(p->num_paths < DRB_MAX_PATHS);
    drb_path *path = &p->paths[p->num_paths];
    uint32_t at = o->f->num_switches + p->from;
    *path = (drb_path){.vias = way->vias};
    for (uint32_t i = 0; i < way->vias; i++) {
        path->via[i] = way->via[i];
        follow(o, at, way->via[i], path);
        at = o->r->node[way->via[i]].i;
    }
    follow(o, at, p->destination, path);
    path->empty = (double)drb_empty(o, path->length, o->full);
    return p->num_paths++;
}

uint32_t drb_net_path(drb_net *n, drb_pair *p, const sv_sim_way *way)
{
    for (uint32_t i = 0; i < p->num_paths; i++) {
        const drb_path *path = &p->paths[i];
        if (path->vias == way->vias && (way->vias < 1 || path->via[0] == way->via[0]) &&
            (way->vias < 2 || path->via[1] == way->via[1]))
            return i;
    }
    return add_path(n, p, way);
}

drb_pair *drb_net_pair(drb_net *n, uint32_t from, uint32_t destination)
{
    const drb *o = &n->o;
    uint32_t to = o->r->node[destination].i - o->f->num_switches;
    drb_pair **at = &n->pairs[(size_t)from * o->r->num_destinations + destination];
    if (*at != NULL)
        return *at;
    drb_pair *p = *at = calloc(1, sizeof *p);
    sv__adapt_path found[DRB_MAX_PATHS];
    uint32_t count = 0;
    drb_path back = {0};
    p->from = from;
    p->to = to;
    p->destination = destination;
    p->zone = SV__MEDIUM;
    p->store = calloc(DRB_MAX_SOLUTIONS, sizeof *p->store);
    OK(n->ctx, sv__ways_find(n->a, from, p->destination, o->set.paths, found, &count));
    for (uint32_t i = 0; i < count; i++)
        add_path(n, p, &found[i].way);
    p->candidates = count;
    p->base = p->paths[0].empty;
    follow(o, o->f->num_switches + to, o->r->first[o->f->num_switches + from], &back);
    p->back = drb_empty(o, back.length, SV__WIRE_HEADER);
    p->open[p->num_open++] = (drb_open){0};
    return p;
}

/* ---- watchdogs (point 9) ---- */

/* The first packet, then all other bytes as fast as they go; late is who is later than that. */
static uint64_t span_of(const drb *o, const drb_pair *p, uint32_t bytes)
{
    uint32_t header = o->full - o->model.mtu_bytes;
    uint32_t first = bytes < o->model.mtu_bytes ? bytes : o->model.mtu_bytes;
    uint64_t there = drb_empty(o, p->paths[0].length, first + header);
    uint64_t slowest = o->model.drain > o->byte ? o->model.drain : o->byte;
    slowest = o->model.inject > slowest ? o->model.inject : slowest;
    for (bytes -= first; bytes > 0; bytes -= first) {
        first = bytes < o->model.mtu_bytes ? bytes : o->model.mtu_bytes;
        there += (first + header) * slowest;
    }
    return 1 + (uint64_t)(o->set.watchdog * (double)(there + p->back));
}

static drb_sent *oldest(const drb_pair *p)
{
    for (uint32_t i = 0; i < p->num_sent; i++)
        if (!p->sent[i].acknowledged)
            return &p->sent[i];
    return NULL;
}

static void forget_acknowledged(drb_pair *p)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->num_sent; i++)
        if (!p->sent[i].acknowledged)
            p->sent[left++] = p->sent[i];
    p->num_sent = left;
}

static void heard_of(drb_net *n, drb_pair *p, uint32_t message, uint64_t now)
{
    for (uint32_t i = 0; i < p->num_sent; i++)
        if (n->o.set.by_packet || p->sent[i].message == message) {
            if (&p->sent[i] == oldest(p))
                p->became = now;
            p->sent[i].acknowledged = true;
            break;
        }
    forget_acknowledged(p);
}

static void begin_watchdog(drb_net *n, drb_pair *p, uint32_t message, uint64_t now)
{
    if (!n->o.fast)
        return;
    if (p->num_sent == p->room_sent) {
        p->room_sent = 2 * p->room_sent + 8;
        p->sent = realloc(p->sent, p->room_sent * sizeof *p->sent);
    }
    p->sent[p->num_sent++] = (drb_sent){
        .message = message, .since = now, .span = span_of(&n->o, p, n->messages[message].bytes)};
}

/* When a pair's watchdog runs out: that of its oldest message; not before that is the oldest. */
static uint64_t due(const drb_pair *p)
{
    const drb_sent *s = p == NULL ? NULL : oldest(p);
    if (s == NULL)
        return SV_NEVER;
    uint64_t time = s->since + s->span;
    return time > p->became ? time : p->became + 1;
}

/* Nothing that should have run out has not. */
static void check_overdue(const drb_net *n, uint64_t now)
{
    for (uint32_t i = 0; n->o.fast && i < n->num_pairs; i++)
        assert_true(due(n->pairs[i]) >= now);
}

static sv_status timer(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    drb_net *n = user;
    drb *o = &n->o;
    check_overdue(n, now);
    OK(n->ctx, n->inner->timer(n->inner->user, stage, now, again));
    for (uint32_t i = 0; i < n->num_pairs; i++) {
        drb_pair *p = n->pairs[i];
        if (due(p) > now)
            continue;
        drb_tell(o, p, SV__SAW_LATE, 0, 0);
        o->report.watchdogs++;
        drb_late(o, p, now);
        for (uint32_t k = 0; k < p->num_sent; k++)
            p->sent[k].since = now;
        drb_net_compare(n, p);
    }
    drb_compare_events(n);
    return SV_OK;
}

/* ---- choosing ---- */

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    drb_net *n = user;
    drb_message *m = &n->messages[message->tag & ~DRB_DATA];
    drb_pair *p = drb_net_pair(n, terminal, message->destination);
    check_overdue(n, now);
    if (offset == 0)
        drb_speak(&n->o, p);
    OK(n->ctx, n->inner->choose(n->inner->user, stage, now, terminal, message, offset, way));
    assert_true(n->drawn >= 0 && n->drawn < 1);
    uint32_t path = p->open[drb_choose(p, n->drawn)].path;
    if (p->num_open > 1) {
        n->sum_drawn += n->drawn;
        n->draws++;
    }
    drb_tell(&n->o, p, SV__SAW_CHOICE, path, 0);
    assert_int_equal(drb_net_path(n, p, way), path);
    assert_int_equal(offset, m->chosen * n->o.model.mtu_bytes);
    m->mark[m->chosen] = way->mark;
    m->path[m->chosen++] = path;
    if (offset == 0)
        begin_watchdog(n, p, message->tag & ~DRB_DATA, now);
    n->o.report.choices++;
    n->o.report.detours += way->vias > 0;
    if (n->o.num_events > 1)
        drb_net_compare(n, p);
    drb_compare_events(n);
    return SV_OK;
}

/* ---- packets under way ---- */

static uint64_t ready_at(const drb *o, const drb_packet *k)
{
    /* Rule 11, block by block; all links are as fast. */
    uint64_t cross = 100 * o->byte / o->model.speedup, max = 0;
    for (uint64_t i = 1; 64 * (i - 1) < k->bytes; i++) {
        uint64_t end = 64 * i < k->bytes ? 64 * i : k->bytes, before = 64 * (i - 1) * cross;
        if (end * o->byte > before && end * o->byte - before > max)
            max = end * o->byte - before;
    }
    return k->start + o->model.cable + max + o->model.switch_delay;
}

static void injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag, uint64_t time)
{
    drb_net *n = user;
    assert_true(packet < DRB_MAX_PACKETS);
    drb_packet *k = &n->packets[packet];
    *k = (drb_packet){.start = time};
    n->max = packet > n->max ? packet : n->max;
    n->under_way++;
    if ((tag & DRB_DATA) == 0) {
        assert_true(n->first[terminal] < n->last[terminal]);
        uint32_t answer = n->queue[(size_t)terminal * DRB_MAX_PACKETS / 8 + n->first[terminal]++];
        const drb_answer *a = &n->answers[answer];
        if (a->alone) {
            assert_int_equal(time, a->ready);
            n->at_once++;
        }
        assert_true(time >= a->ready);
        n->control_bytes += a->bytes;
        k->kind = DRB_ANSWER;
        k->answer = answer;
        k->from = terminal;
        k->to = a->from;
        k->bytes = a->bytes;
        return;
    }
    drb_message *m = &n->messages[tag & ~DRB_DATA];
    k->kind = DRB_PACKET;
    k->message = tag & ~DRB_DATA;
    k->part = m->injected++;
    k->from = m->from;
    k->to = m->to;
    k->bytes = k->part + 1 < m->packets
                   ? n->o.full
                   : m->bytes - k->part * n->o.model.mtu_bytes + n->o.full - n->o.model.mtu_bytes;
    const drb_pair *p = drb_net_pair(n, m->from, m->destination);
    k->way = &p->paths[m->path[n->o.set.by_packet ? k->part : 0]];
    k->at = 1;
    n->detours += k->way->vias > 0;
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    drb_net *n = user;
    drb *o = &n->o;
    drb_packet *k = &n->packets[packet];
    uint64_t cross = 100 * o->byte / o->model.speedup;
    uint64_t across = time + (k->bytes < 64 ? k->bytes : 64) * cross;
    (void)vl;
    assert_true(packet <= n->max && k->kind != DRB_UNKNOWN);
    if (k->kind == DRB_PACKET)
        assert_int_equal(out.i, k->way->hops[k->at]);
    uint64_t ready = k->kind == DRB_NOTICE && k->at == 0 ? k->start : ready_at(o, k);
    k->at++;
    n->granted = packet;
    n->waited_here = time > ready ? time - ready : 0;
    k->waited += n->waited_here;
    k->start = across > n->link_free[out.i] ? across : n->link_free[out.i];
    n->link_free[out.i] = k->start + (uint64_t)(k->bytes + o->model.inband_bytes) * o->byte;
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    drb_net *n = user;
    (void)time;
    n->arrived = packet;
    n->packets[packet].arrived = true;
    n->under_way--;
}

/* ---- switches (points 10 and 11) ---- */

typedef struct weight {
    uint32_t flow;
    uint64_t bytes;
} weight;

static int heavier(const void *a, const void *b)
{
    const weight *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->flow < y->flow ? -1 : 1;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void weigh(weight *weights, uint32_t *count, const drb_packet *k)
{
    uint32_t flow = k->from * 65536 + k->to, i = 0;
    while (i < *count && weights[i].flow != flow)
        i++;
    if (i == *count)
        weights[(*count)++] = (weight){.flow = flow};
    weights[i].bytes += k->bytes;
}

static void look(drb_net *n, sv_channel out, drb_flows *found)
{
    static weight weights[DRB_MAX_PACKETS];
    uint32_t count = 0;
    uint64_t all = 0;
    weigh(weights, &count, &n->packets[n->granted]);
    for (uint32_t i = 0; i <= n->max; i++) {
        const drb_packet *k = &n->packets[i];
        if (k->kind == DRB_PACKET && !k->arrived && k->at < k->way->length &&
            k->way->hops[k->at] == out.i)
            weigh(weights, &count, k);
    }
    for (uint32_t i = 0; i < count; i++)
        all += weights[i].bytes;
    qsort(weights, count, sizeof *weights, heavier);
    *found = (drb_flows){.router = n->o.f->tail[out.i].i};
    for (uint32_t i = 0; i < count && found->count < n->o.set.flows; i++)
        if ((double)weights[i].bytes >= n->o.set.share * (double)all)
            found->at[found->count++] = weights[i].flow;
    qsort(found->at, found->count, sizeof *found->at, ascending);
    n->looks++;
}

/* The switch has sent a notice to each source among the flows. */
static void expect_notices(drb_net *n, const drb_flows *flows, uint32_t before, uint32_t after,
                           uint64_t now)
{
    uint32_t sources = 0;
    for (uint32_t i = 0; i < flows->count; i++) /* ascending: those of a source follow each other */
        sources += i == 0 || flows->at[i] >> 16 != flows->at[i - 1] >> 16;
    assert_int_equal(after - before, sources);
    for (uint32_t i = before; i < after; i++) {
        n->packets[i] = (drb_packet){.kind = DRB_NOTICE,
                                     .answer = n->num_answers,
                                     .bytes = 32 + 8 + 4 * flows->count,
                                     .start = now + 1};
        n->max = i > n->max ? i : n->max;
    }
    n->answers[n->num_answers++] = (drb_answer){.flows = *flows};
    n->o.report.predictive_acks += sources;
    n->under_way += sources;
    n->control_bytes += (uint64_t)sources * (32 + 8 + 4 * flows->count);
}

static void depart_told(drb_net *n, uint64_t now, sv_channel out, bool *looked)
{
    drb *o = &n->o;
    drb_packet *k = &n->packets[n->granted];
    drb_flows *seen = &n->seen[out.i];
    if (!o->predictive || n->waited_here <= o->set.contention || k->kind != DRB_PACKET)
        return;
    if (k->told && !o->set.by_router) /* it carries some */
        return;
    if (now >= n->may_look[out.i]) {
        look(n, out, seen);
        *looked = true;
        n->may_look[out.i] = now + o->set.look * seen->count;
        o->routers[o->f->tail[out.i].i].notices += seen->count >= 2;
        if (seen->count < 2)
            seen->count = 0;
        else
            o->events[o->num_events++] = (drb_event){.kind = SV__SAW_LOOK,
                                                     .from = SV_NONE,
                                                     .to = SV_NONE,
                                                     .out = out.i,
                                                     .flows = seen->count,
                                                     .hash = drb_hash(seen->at, seen->count)};
    }
    if (seen->count == 0)
        return;
    k->told = true;
    if (!o->set.by_router)
        k->flows = *seen;
    n->told++;
}

static sv_status depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                        uint64_t waited, sv_sim_head *head)
{
    drb_net *n = user;
    bool looked = false;
    check_overdue(n, now);
    assert_int_equal(waited, n->waited_here);
    assert_int_equal(head->waited, n->packets[n->granted].waited);
    assert_int_equal(head->bytes, n->packets[n->granted].bytes);
    uint32_t before = sv_sim_next_packet(stage);
    depart_told(n, now, out, &looked);
    if (n->inner->depart != NULL && waited > n->inner->patience)
        OK(n->ctx, n->inner->depart(n->inner->user, stage, now, out, waited, head));
    uint32_t after = sv_sim_next_packet(stage);
    if (looked && n->o.set.by_router && n->seen[out.i].count > 0)
        expect_notices(n, &n->seen[out.i], before, after, now);
    else
        assert_int_equal(before, after);
    drb_wire_check(n, &n->packets[n->granted], head, n->o.f->head[out.i].i);
    drb_compare_events(n);
    return SV_OK;
}

/* ---- terminals (points 8 and 11) ---- */

static void expect_answer(drb_net *n, drb_pair *p, const drb_packet *k, uint64_t now)
{
    const drb_message *m = &n->messages[k->message];
    bool last = k->part + 1 == m->packets;
    if (k->told && !n->o.set.by_router)
        p->carried = k->flows;
    if (!last && !n->o.set.ack_packets)
        return;
    drb_answer *a = &n->answers[n->num_answers];
    *a = (drb_answer){.from = p->from,
                      .destination = p->destination,
                      .path = m->path[n->o.set.by_packet ? k->part : 0],
                      .mark = m->mark[n->o.set.by_packet ? k->part : 0],
                      .message = k->message,
                      .waited = k->waited,
                      .ready = now,
                      .last = last,
                      .alone = n->under_way == 0 && n->first[p->to] == n->last[p->to],
                      .flows = p->carried};
    a->bytes = 32 + (a->flows.count > 0 ? 8 + 4 * a->flows.count : 0);
    p->carried.count = 0;
    n->queue[(size_t)p->to * DRB_MAX_PACKETS / 8 + n->last[p->to]++] = n->num_answers++;
    n->o.report.acks++;
}

static void take_answer(drb_net *n, const drb_answer *a, uint64_t now)
{
    drb *o = &n->o;
    drb_pair *p = drb_net_pair(n, a->from, a->destination);
    drb_tell(o, p, SV__SAW_ACK, a->path, 0);
    drb_event *e = &o->events[o->num_events - 1];
    e->waited = a->waited;
    e->flows = a->flows.count;
    e->hash = a->flows.count == 0 ? 0 : drb_hash(a->flows.at, a->flows.count);
    o->report.notices += a->flows.count > 0;
    drb_ack(o, p, now, a->path, a->waited, a->flows.count > 0 ? &a->flows : NULL);
    if (a->last)
        heard_of(n, p, a->message, now);
    drb_compare_events(n);
    drb_net_compare(n, p);
}

/* Whatever addresses of the destination the source has talked to. */
static void take_notice(drb_net *n, const drb_answer *a, uint32_t terminal, uint64_t now)
{
    drb *o = &n->o;
    bool own = false;
    for (uint32_t i = 0; i < a->flows.count * o->r->num_destinations; i++) {
        uint32_t flow = a->flows.at[i / o->r->num_destinations], d = i % o->r->num_destinations;
        drb_pair *p = n->pairs[(size_t)terminal * o->r->num_destinations + d];
        if (p == NULL || p->from != flow >> 16 || p->to != (flow & 0xffff))
            continue;
        own = true;
        drb_tell(o, p, SV__SAW_NOTICE, 0, 0);
        o->events[o->num_events - 1].flows = a->flows.count;
        o->events[o->num_events - 1].hash = drb_hash(a->flows.at, a->flows.count);
        o->report.notices++; /* it is taken for each pair */
        drb_notice(o, p, now, &a->flows);
        drb_net_compare(n, p);
    }
    assert_true(own);
}

static sv_status deliver(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                         sv_sim_head *head)
{
    drb_net *n = user;
    const drb_packet *k = &n->packets[n->arrived];
    check_overdue(n, now);
    assert_int_equal(head->bytes, k->bytes);
    assert_int_equal(head->control, k->kind != DRB_PACKET);
    assert_int_equal(head->waited, k->waited);
    drb_wire_check(n, k, head, n->o.f->num_switches + terminal);
    OK(n->ctx, n->inner->deliver(n->inner->user, stage, now, terminal, head));
    if (k->kind == DRB_PACKET) {
        assert_int_equal(terminal, k->to);
        expect_answer(n, drb_net_pair(n, k->from, n->messages[k->message].destination), k, now);
    } else if (k->kind == DRB_ANSWER) {
        assert_int_equal(terminal, k->to);
        take_answer(n, &n->answers[k->answer], now);
    } else {
        take_notice(n, &n->answers[k->answer], terminal, now);
    }
    drb_compare_events(n);
    return SV_OK;
}

/* ---- all of it ---- */

static void take_settings(drb_net *n)
{
    drb *o = &n->o;
    o->set = n->a->set;
    o->full = o->model.mtu_bytes + o->model.header_bytes + 32;
    if (o->predictive && !o->set.by_router)
        o->full += 8 + 4 * o->set.flows;
    assert_int_equal(o->full, o->model.mtu_bytes + o->model.header_bytes + n->inner->header_bytes);
    if (o->set.contention == 0)
        o->set.contention = o->full * o->byte;
    if (o->set.look == 0)
        o->set.look = 16 * o->full * o->byte;
}

void drb_net_begin(drb_net *n, sv_ctx *ctx, const sv_fabric *f, const sv_routes *r,
                   const sv_sim_model *model, sv_adapt *a, bool fast, bool predictive)
{
    size_t terminals = f->num_terminals, channels = f->num_channels;
    *n = (drb_net){.ctx = ctx, .a = a, .b = a->state, .inner = sv_adapt_policy(a)};
    n->o = (drb){.f = f, .r = r, .model = *model, .fast = fast, .predictive = predictive};
    n->o.byte = model->byte_ticks;
    n->num_pairs = f->num_terminals * r->num_destinations;
    n->pairs = calloc(n->num_pairs, sizeof *n->pairs);
    n->packets = calloc(DRB_MAX_PACKETS, sizeof *n->packets);
    n->answers = calloc(DRB_MAX_PACKETS, sizeof *n->answers);
    n->queue = calloc(terminals * DRB_MAX_PACKETS / 8, sizeof *n->queue);
    n->first = calloc(terminals, sizeof *n->first);
    n->last = calloc(terminals, sizeof *n->last);
    n->link_free = calloc(channels, sizeof *n->link_free);
    n->may_look = calloc(channels, sizeof *n->may_look);
    n->seen = calloc(channels, sizeof *n->seen);
    take_settings(n);
    n->spy = (sv__spy){n, drb_saw};
    sv__balance_spy(a, &n->spy);
    n->outer = *n->inner;
    n->outer.user = n;
    n->outer.patience = 0;
    n->outer.choose = choose;
    n->outer.depart = depart;
    n->outer.deliver = deliver;
    n->outer.timer = n->inner->timer == NULL ? NULL : timer;
    n->watch =
        (sv_sim_watch){.user = n, .injected = injected, .granted = granted, .arrived = arrived};
    for (uint32_t i = 0; i < n->b->pairs.length; i++)
        drb_copy_store(n, n->b->pairs.at[i]);
}

void drb_net_finish(drb_net *n)
{
    for (uint32_t i = 0; i < n->num_pairs; i++)
        if (n->pairs[i] != NULL)
            drb_net_compare(n, n->pairs[i]);
    for (uint32_t t = 0; t < n->o.f->num_terminals; t++)
        n->unsent += n->last[t] - n->first[t];
}

void drb_net_end(drb_net *n)
{
    for (uint32_t i = 0; i < n->num_pairs; i++)
        if (n->pairs[i] != NULL) {
            free(n->pairs[i]->store);
            free(n->pairs[i]->sent);
            free(n->pairs[i]);
        }
    free(n->pairs);
    free(n->packets);
    free(n->answers);
    free(n->queue);
    free(n->first);
    free(n->last);
    free(n->link_free);
    free(n->may_look);
    free(n->seen);
}
