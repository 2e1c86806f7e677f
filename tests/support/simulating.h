/*
 * simulating.h: what tests of the simulator share: small fabrics cable by cable, lists of messages,
 * a log of what happened, and the times that docs/simulator.md gives for a packet that nobody
 * stands in the way of.
 */
#ifndef SELVAGE_SIMULATING_H
#define SELVAGE_SIMULATING_H

#include "support/testing.h"

#include "base/rng.h"

#include <math.h>

enum { SIM_MAX = 40000, SIM_MAX_TERMINALS = 512, SIM_HOST = 1000 };

/* Ticks a byte of 4X links (rule 1). */
enum { SDR = 1800, DDR = 900, QDR = 450, FDR = 264, EDR = 144, HDR = 72 };

/* A cable between two switches, or a switch and a host (SIM_HOST + number). */
typedef struct sim_cable {
    uint32_t a, b;
    uint8_t speed, width;
} sim_cable;

/* A message that a list holds. */
typedef struct sim_send {
    uint32_t from, to, bytes;
    uint64_t ready;
} sim_send;

/* One thing that happened to a packet; hop 0 is its injection. */
typedef struct sim_event {
    uint32_t packet, tag, terminal, hop;
    sv_channel channel;
    unsigned vl;
    uint64_t time;
} sim_event;

/* A fabric, its tables, what is sent, and what happened. */
typedef struct sim_case {
    sv_fabric *f;
    sv_routes *r;
    sv_sim_model model;
    sv_sim_control control;
    const sim_send *sends;
    uint32_t count;
    uint32_t times;              /* that each terminal goes through its part of the list */
    bool quiet;                  /* nobody watches packets */
    const sv_sim_policy *policy; /* or NULL */
    uint32_t at[SIM_MAX_TERMINALS], round[SIM_MAX_TERMINALS];
    sim_event *events; /* injections and grants */
    uint32_t num_events;
    uint32_t *tag_of, *hops_of; /* [packets] */
    uint64_t *packet_time;      /* [packets]: arrival */
    uint32_t num_packets;
    sv_sim_arrival *arrivals;
    uint32_t num_arrivals;
    uint32_t num_stuck;
    sv_sim_result *result;
} sim_case;

/* ---- fabrics ---- */

static inline sv_end sim_end_of(uint32_t node, uint16_t *used)
{
    if (node >= SIM_HOST)
        return (sv_end){.terminal = true, .index = node - SIM_HOST, .port = 1};
    return (sv_end){.index = node, .port = ++used[node]};
}

/* Ports are given out in the order of cables, from 1 on. */
static inline sv_fabric *sim_fabric(sv_ctx *ctx, uint32_t switches, uint32_t hosts,
                                    const sim_cable *cables, uint32_t count)
{
    sv_builder *builder = sv_builder_new(ctx);
    uint16_t used[64] = {0};
    sv_fabric *f = NULL;
    for (uint32_t s = 0; s < switches; s++) {
        sv_switch_info about = {.name = "s", .guid = 0x100 + s, .ports = 40};
        sv_builder_add_switch(builder, &about, NULL);
    }
    for (uint32_t h = 0; h < hosts; h++) {
        sv_adapter_info card = {.name = "h", .guid = 0x1000 + 16 * h, .ports = 1};
        sv_terminal_info end = {.guid = 0x1001 + 16 * h, .adapter = h, .port = 1};
        sv_builder_add_adapter(builder, &card, NULL);
        sv_builder_add_terminal(builder, &end, NULL);
    }
    for (uint32_t i = 0; i < count; i++) {
        sv_link link = {.width = cables[i].width != 0 ? cables[i].width : 4,
                        .speed = cables[i].speed,
                        .vls = 8};
        sv_builder_add_cable(builder, sim_end_of(cables[i].a, used), sim_end_of(cables[i].b, used),
                             &link);
    }
    OK(ctx, sv_builder_finish(builder, &f));
    OK(ctx, sv_fabric_check(ctx, f));
    return f;
}

/* One switch with hosts at ports 1, 2, …, all of one speed. */
static inline sv_fabric *sim_star(sv_ctx *ctx, uint32_t hosts, sv_speed speed)
{
    sim_cable cables[40];
    for (uint32_t h = 0; h < hosts; h++)
        cables[h] = (sim_cable){0, SIM_HOST + h, (uint8_t)speed, 4};
    return sim_fabric(ctx, 1, hosts, cables, hosts);
}

/* ---- tables ---- */

/* Every SL goes to the VL of its number, everywhere; the SL of a packet is its sender's. */
static inline void sim_vls_by_sender(sv_ctx *ctx, sim_case *c, const uint8_t *vl_of)
{
    sv_sl2vl vls;
    for (uint32_t sl = 0; sl < SV_MAX_SLS; sl++)
        vls.of_sl[sl] = (uint8_t)sl;
    uint32_t table = sv_routes_sl2vl_table(ctx, c->r, &vls);
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
        c->r->vls_of[v] = (uint16_t)table;
    OK(ctx, sv_routes_set_sl_form(ctx, c->r, SV_SL_BY_NODE));
    for (uint32_t d = 0; d < c->r->num_destinations; d++)
        for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
            sv_routes_sl_row(ctx, c->r, d)[v] =
                v < c->f->num_switches ? 0 : vl_of[v - c->f->num_switches];
}

/* The same, but the SL is the destination's. */
static inline void sim_vls_by_receiver(sv_ctx *ctx, sim_case *c, const uint8_t *vl_of)
{
    static const uint8_t none[SIM_MAX_TERMINALS];
    sim_vls_by_sender(ctx, c, none);
    for (uint32_t d = 0; d < c->r->num_destinations; d++)
        for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
            if (c->r->node[d].i >= c->f->num_switches)
                sv_routes_sl_row(ctx, c->r, d)[v] = vl_of[c->r->node[d].i - c->f->num_switches];
}

/* ---- running ---- */

/* Numbers without common factors, so that no wrong sum comes out right; buffers of many packets. */
static inline sv_sim_model sim_model(void)
{
    return (sv_sim_model){.cable = 7001,
                          .credit = 3001,
                          .switch_delay = 180007,
                          .input = 1024,
                          .output = 256,
                          .speedup = 100,
                          .ways = 1,
                          .vls = 8,
                          .mtu_bytes = 2048,
                          .header_bytes = 26,
                          .drain = 1,
                          .open = 64};
}

/* Takes fabric and makes tables for it by minhop. */
static inline sim_case sim_begin(sv_ctx *ctx, sv_fabric *f)
{
    sim_case c = {.f = f, .model = sim_model(), .control = {.limit = SV_NEVER}, .times = 1};
    c.r = test_routed(ctx, f, "minhop", 0);
    return c;
}

static inline uint32_t sim_destination(const sim_case *c, uint32_t terminal)
{
    return c->r->first[c->f->num_switches + terminal];
}

/* A terminal's next message of the list, from the beginning again as often as was asked. */
static inline bool sim_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    sim_case *c = user;
    uint32_t *at = &c->at[terminal];
    for (uint32_t looked = 0; looked <= c->count; looked++, (*at)++) {
        if (*at == c->count) {
            if (c->round[terminal] + 1 >= c->times)
                return false;
            c->round[terminal]++;
            *at = 0;
        }
        const sim_send *send = &c->sends[*at];
        if (send->from == terminal) {
            *message =
                (sv_sim_message){send->ready, sim_destination(c, send->to), send->bytes, *at};
            (*at)++;
            return true;
        }
    }
    return false;
}

static inline void sim_arrived(void *user, const sv_sim_arrival *arrival)
{
    sim_case *c = user;
    if (arrival->time < c->control.limit && c->num_arrivals < SIM_MAX)
        c->arrivals[c->num_arrivals++] = *arrival;
}

static inline void sim_log(sim_case *c, sim_event event)
{
    if (c->num_events < SIM_MAX)
        c->events[c->num_events++] = event;
}

static inline void sim_injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag,
                                uint64_t time)
{
    sim_case *c = user;
    sv_node v = {c->f->num_switches + terminal};
    if (packet >= SIM_MAX)
        return;
    if (c->policy == NULL) /* switches send packets that nobody injects */
        assert_int_equal(packet, c->num_packets);
    c->num_packets = packet + 1;
    c->tag_of[packet] = tag;
    sim_log(c,
            (sim_event){packet, tag, terminal, 0, c->f->hops[c->f->first[v.i]].channel, 0, time});
}

static inline void sim_granted(void *user, uint32_t packet, sv_channel out, unsigned vl,
                               uint64_t time)
{
    sim_case *c = user;
    if (packet < SIM_MAX)
        sim_log(c, (sim_event){packet, c->tag_of[packet], SV_NONE, ++c->hops_of[packet], out, vl,
                               time});
}

static inline void sim_packet_arrived(void *user, uint32_t packet, uint64_t time)
{
    sim_case *c = user;
    if (packet < SIM_MAX)
        c->packet_time[packet] = time;
}

static inline void sim_stuck_told(void *user, uint32_t packet, sv_channel in, unsigned vl)
{
    sim_case *c = user;
    (void)packet;
    (void)in;
    (void)vl;
    c->num_stuck++;
}

/* Forgets what happened, so that the same case can run again. */
static inline void sim_again(sim_case *c)
{
    sv_sim_free(c->result);
    free(c->events);
    free(c->tag_of);
    free(c->hops_of);
    free(c->packet_time);
    free(c->arrivals);
    c->result = NULL;
    c->events = NULL;
    c->tag_of = c->hops_of = NULL;
    c->packet_time = NULL;
    c->arrivals = NULL;
    c->num_events = c->num_packets = c->num_arrivals = c->num_stuck = 0;
    memset(c->at, 0, sizeof c->at);
    memset(c->round, 0, sizeof c->round);
}

static inline sv_status sim_try(sv_ctx *ctx, sim_case *c)
{
    const sv_sim_source source = {.user = c, .next = sim_next, .arrived = sim_arrived};
    const sv_sim_watch watch = {c, sim_injected, sim_granted, sim_packet_arrived, sim_stuck_told};
    const sv_sim_setup setup = {.model = c->model,
                                .control = c->control,
                                .source = &source,
                                .watch = c->quiet ? NULL : &watch,
                                .policy = c->policy};
    sim_again(c);
    c->events = calloc(SIM_MAX, sizeof *c->events);
    c->tag_of = calloc(SIM_MAX, sizeof *c->tag_of);
    c->hops_of = calloc(SIM_MAX, sizeof *c->hops_of);
    c->packet_time = calloc(SIM_MAX, sizeof *c->packet_time);
    c->arrivals = calloc(SIM_MAX, sizeof *c->arrivals);
    return sv_simulate(ctx, c->f, c->r, &setup, &c->result);
}

/* Runs a list, each terminal going through its part a number of times. */
static inline const sv_sim_result *sim_run(sv_ctx *ctx, sim_case *c, const sim_send *sends,
                                           uint32_t count, uint32_t times)
{
    c->sends = sends;
    c->count = count;
    c->times = times;
    OK(ctx, sim_try(ctx, c));
    return c->result;
}

static inline void sim_finish(sim_case *c)
{
    sim_again(c);
    sv_routes_free(c->r);
    sv_fabric_free(c->f);
}

/* ---- traffic without an end ---- */

/* Everybody draws whom to send a packet to next; they are ready two of the slots that a packet
 * takes on QDR apart, on the average. What a terminal says depends on its own calls only. */
typedef struct sim_uniform {
    const sim_case *c;
    sv_rng rng[SIM_MAX_TERMINALS];
    uint64_t ready[SIM_MAX_TERMINALS];
} sim_uniform;

static inline sim_uniform *sim_uniform_new(const sim_case *c, uint64_t seed)
{
    sim_uniform *u = calloc(1, sizeof *u);
    u->c = c;
    for (uint32_t t = 0; t < c->f->num_terminals; t++)
        sv_rng_init(&u->rng[t], seed * 1000 + t);
    return u;
}

static inline bool sim_uniform_next(void *user, uint32_t terminal, sv_sim_message *message)
{
    sim_uniform *u = user;
    uint32_t to = terminal;
    while (to == terminal)
        to = (uint32_t)sv_rng_below(&u->rng[terminal], u->c->f->num_terminals);
    *message = (sv_sim_message){u->ready[terminal], sim_destination(u->c, to), 2048, 0};
    u->ready[terminal] += sv_rng_below(&u->rng[terminal], 4 * 2074 * QDR);
    return true;
}

/* ---- reading the log ---- */

/* When the number-th packet was injected by a terminal; SV_NEVER if it was not. */
static inline uint64_t sim_injection(const sim_case *c, uint32_t terminal, uint32_t number)
{
    for (uint32_t i = 0; i < c->num_events; i++)
        if (c->events[i].hop == 0 && c->events[i].terminal == terminal && number-- == 0)
            return c->events[i].time;
    return SV_NEVER;
}

/* The number-th grant of a channel, or NULL. */
static inline const sim_event *sim_grant(const sim_case *c, sv_channel channel, uint32_t number)
{
    for (uint32_t i = 0; i < c->num_events; i++)
        if (c->events[i].hop > 0 && c->events[i].channel.i == channel.i && number-- == 0)
            return &c->events[i];
    return NULL;
}

/* The channel that leads to a terminal. */
static inline sv_channel sim_last_channel(const sv_fabric *f, uint32_t terminal)
{
    return f->reverse[f->hops[f->first[f->num_switches + terminal]].channel.i];
}

/* ---- sums ---- */

static inline uint64_t sim_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What holds of every result, however it ended: its parts add up. */
static inline void sim_assert_adds_up(const sim_case *c)
{
    const sv_sim_result *r = c->result;
    sv_sim_terminal all = {0};
    uint64_t binned = 0;
    for (uint32_t t = 0; t < c->f->num_terminals; t++) {
        const sv_sim_terminal *one = &r->terminals[t];
        all.sent_bytes += one->sent_bytes;
        all.received_bytes += one->received_bytes;
        all.messages += one->messages;
        all.latency_sum += one->latency_sum;
        all.total_sum += one->total_sum;
        all.latency_max = sim_max(all.latency_max, one->latency_max);
        all.total_max = sim_max(all.total_max, one->total_max);
        all.last = sim_max(all.last, one->last);
        assert_true((one->last > 0) == (one->received_bytes > 0));
        assert_true(one->last == 0 || (one->last >= r->from && one->last <= r->until));
        assert_true(one->latency_sum <= one->total_sum);
        assert_true(one->latency_sum <= one->messages * one->latency_max);
    }
    for (uint32_t b = 0; b < SV_SIM_BINS; b++)
        binned += r->latency[b];
    assert_int_equal(all.received_bytes, r->payload_bytes);
    assert_int_equal(all.messages, r->latencies);
    assert_int_equal(all.latency_sum, r->latency_sum);
    assert_int_equal(all.total_sum, r->total_sum);
    assert_int_equal(all.latency_max, r->latency_max);
    assert_int_equal(all.total_max, r->total_max);
    assert_int_equal(binned, r->latencies);
    if (r->end == SV_SIM_COMPLETED && c->control.sample == 0)
        assert_int_equal(all.last, r->time);
    assert_true(r->arrived_messages <= r->messages && r->arrived_packets <= r->packets);
    assert_true(r->from <= r->until);
    if (r->until > r->from) {
        double seconds = (double)(r->until - r->from) / (SV_TICKS_PER_NS * 1e9);
        double wanted = (double)r->payload_bytes / seconds;
        assert_true(fabs(r->throughput - wanted) <= 1e-9 * wanted);
    } else {
        assert_true(r->throughput == 0);
    }
}

/* ---- times by the rules ---- */

/* Rule 3: the byte that block k ends with. */
static inline uint64_t sim_end_byte(uint64_t length, uint64_t k)
{
    return 64 * k < length ? 64 * k : length;
}

static inline uint64_t sim_blocks(uint64_t length)
{
    return (length + 63) / 64;
}

/* Rule 11: ticks a byte into an output port whose link takes tau. */
static inline uint64_t sim_crossing(const sv_sim_model *m, uint64_t tau)
{
    uint64_t chi = 100 * tau / m->speedup;
    return chi > 0 ? chi : 1;
}

/* Rule 11: from when the first byte is there to when it can run on at chi, having come at tau. */
static inline uint64_t sim_wait(uint64_t length, uint64_t tau, uint64_t chi)
{
    int64_t max = 0;
    for (uint64_t k = 1; k <= sim_blocks(length); k++) {
        int64_t wait = (int64_t)(sim_end_byte(length, k) * tau) - (int64_t)(64 * (k - 1) * chi);
        max = wait > max ? wait : max;
    }
    return (uint64_t)max;
}

/* From the start of one link to the start of the next, through a switch that is free. */
static inline uint64_t sim_hop(const sv_sim_model *m, uint64_t length, uint64_t tau_in,
                               uint64_t tau_out)
{
    uint64_t chi = sim_crossing(m, tau_out);
    return m->cable + sim_wait(length, tau_in, chi) + m->switch_delay +
           sim_end_byte(length, 1) * chi;
}

/* From the start of the last link to arrival, without pauses: rules 11, 18, 19. */
static inline uint64_t sim_drained(const sv_sim_model *m, uint64_t length, uint64_t tau)
{
    return m->cable + sim_wait(length, tau, m->drain) + length * m->drain;
}

/* From injection to arrival over links with these ticks a byte, all switches and links free. */
static inline uint64_t sim_alone(const sv_sim_model *m, uint64_t length, const uint64_t *tau,
                                 uint32_t links)
{
    uint64_t time = 0;
    for (uint32_t i = 1; i < links; i++)
        time += sim_hop(m, length, tau[i - 1], tau[i]);
    return time + sim_drained(m, length, tau[links - 1]);
}

#endif
