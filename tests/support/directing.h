/*
 * directing.h: what tests of tables that change share: a director that follows a script, and the
 * times of a packet that nobody stands in the way of.
 */
#ifndef SELVAGE_DIRECTING_H
#define SELVAGE_DIRECTING_H

#include "support/simulating.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* A packet of 2048 bytes and its time on a QDR link; that of a block. From the start of a link to
 * the grant at its end, and to the next such grant (model sim_model, 64 bytes or more). */
enum { W = 2074, BLOCKS = 33, SLOT = W * QDR, FIRST = 64 * QDR };
enum { READY = 7001 + FIRST + 180007, HOP = READY + FIRST };

/* What a director does at a time, or from then on. */
enum { BLOCK, VLS, WAKE, LOOK, FAIL };

struct step {
    uint64_t time;
    int kind;
    uint32_t node, block; /* of WAKE: the terminal */
    const sv_routes *with;
    uint64_t times; /* of LOOK: how often, a SLOT apart */
};

enum { MAX_ACTS = 64 };

struct script {
    sim_case *c;
    const struct step *steps; /* in order of time */
    uint32_t count, at;
    uint64_t looked;
    uint32_t acted;
    uint64_t when[MAX_ACTS], under_way[MAX_ACTS];
    uint32_t next_packet[MAX_ACTS];
    uint64_t told[SV_SIM_INCIDENTS], last_told[SV_SIM_INCIDENTS];
    bool (*open)(void *user, uint32_t t, uint64_t now, sv_sim_message *message, uint8_t *sl);
};

static inline sv_status script_act(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct script *s = user;
    assert_int_equal(*again, SV_NEVER);
    if (s->acted < MAX_ACTS) {
        s->when[s->acted] = now;
        s->under_way[s->acted] = sv_sim_under_way(stage);
        s->next_packet[s->acted] = sv_sim_next_packet(stage);
    }
    s->acted++;
    for (; s->at < s->count && s->steps[s->at].time <= now; s->at++) {
        const struct step *step = &s->steps[s->at];
        if (step->kind == BLOCK) {
            sv_status status =
                sv_sim_set_block(stage, (sv_node){step->node}, step->block, step->with);
            if (status != SV_OK)
                return status;
        } else if (step->kind == VLS) {
            sv_status status = sv_sim_set_sl2vl(stage, (sv_node){step->node}, step->with);
            if (status != SV_OK)
                return status;
        } else if (step->kind == WAKE) {
            sv_sim_wake(stage, step->node);
        } else if (step->kind == FAIL) {
            return SV_INFEASIBLE;
        } else if (++s->looked < step->times) {
            *again = now + SLOT;
            return SV_OK;
        }
    }
    *again = s->at < s->count ? s->steps[s->at].time : SV_NEVER;
    return SV_OK;
}

/* ---- watching: the log of simulating.h, and incidents ---- */

static inline void script_injected(void *user, uint32_t packet, uint32_t terminal, uint32_t tag,
                                   uint64_t time)
{
    sim_injected(((struct script *)user)->c, packet, terminal, tag, time);
}

static inline void script_granted(void *user, uint32_t packet, sv_channel out, unsigned vl,
                                  uint64_t time)
{
    sim_granted(((struct script *)user)->c, packet, out, vl, time);
}

static inline void script_arrived(void *user, uint32_t packet, uint64_t time)
{
    sim_packet_arrived(((struct script *)user)->c, packet, time);
}

static inline void script_stuck(void *user, uint32_t packet, sv_channel in, unsigned vl)
{
    sim_stuck_told(((struct script *)user)->c, packet, in, vl);
}

static inline void script_incident(void *user, sv_sim_incident what, const sv_sim_example *which)
{
    struct script *s = user;
    assert_true(which->from < s->c->f->num_terminals && which->packet < s->c->num_packets);
    assert_true(which->time >= s->last_told[what]); /* in order */
    s->last_told[what] = which->time;
    s->told[what]++;
}

/* ---- running ---- */

static inline sv_status try_script(sv_ctx *ctx, struct script *s, const sim_send *sends,
                                   uint32_t count)
{
    sim_case *c = s->c;
    const sv_sim_source source = {.user = c, .next = sim_next, .arrived = sim_arrived};
    const sv_sim_watch watch = {
        s, script_injected, script_granted, script_arrived, script_stuck, script_incident};
    const sv_sim_director director = {.user = s,
                                      .first = s->count > 0 ? s->steps[0].time : SV_NEVER,
                                      .act = script_act,
                                      .open = s->open};
    const sv_sim_setup setup = {c->model, c->control, &source, &watch, &director};
    sim_again(c);
    c->sends = sends;
    c->count = count;
    c->events = calloc(SIM_MAX, sizeof *c->events);
    c->tag_of = calloc(SIM_MAX, sizeof *c->tag_of);
    c->hops_of = calloc(SIM_MAX, sizeof *c->hops_of);
    c->packet_time = calloc(SIM_MAX, sizeof *c->packet_time);
    c->arrivals = calloc(SIM_MAX, sizeof *c->arrivals);
    s->at = s->acted = 0;
    s->looked = 0;
    memset(s->told, 0, sizeof s->told);
    memset(s->last_told, 0, sizeof s->last_told);
    return sv_simulate(ctx, c->f, c->r, &setup, &c->result);
}

/* Runs a list of messages under a script. */
static inline void run_script(sv_ctx *ctx, struct script *s, const sim_send *sends, uint32_t count)
{
    OK(ctx, try_script(ctx, s, sends, count));
    for (uint32_t what = 0; what < SV_SIM_INCIDENTS; what++)
        assert_int_equal(s->told[what], s->c->result->incidents[what]);
}

/* ---- tables ---- */

/* A switch sends what is for a terminal to a port. */
static inline void set_entry(sv_ctx *ctx, const sim_case *c, sv_routes *r, uint32_t s,
                             uint32_t terminal, unsigned port)
{
    sv_routes_row(ctx, r, sim_destination(c, terminal))[s] = (uint8_t)port;
}

/* The case's tables, with that changed. */
static inline sv_routes *changed(sv_ctx *ctx, const sim_case *c, uint32_t s, uint32_t terminal,
                                 unsigned port)
{
    sv_routes *r = NULL;
    OK(ctx, sv_routes_clone(ctx, c->r, &r));
    set_entry(ctx, c, r, s, terminal, port);
    return r;
}

/* The channel that leaves a port of a switch. */
static inline sv_channel channel_of(const sim_case *c, uint32_t s, unsigned port)
{
    for (uint32_t i = 0; i < c->f->num_channels; i++)
        if (c->f->tail[i].i == s && c->f->port[i] == port)
            return (sv_channel){i};
    fail_msg("switch %u has no cable at port %u", s, port);
    return (sv_channel){SV_NONE};
}

#endif
