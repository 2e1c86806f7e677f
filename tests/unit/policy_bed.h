/*
 * policy_bed.h: what tests of policies in the simulator share: a policy that follows a list and
 * keeps what it hears, and a fabric whose ways are easily counted.
 */
#ifndef SELVAGE_POLICY_BED_H
#define SELVAGE_POLICY_BED_H

#include "support/simulating.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- a policy that follows a list ---- */

/* A control packet that is sent at a call of the timer. */
struct order {
    uint64_t at, ready;
    uint32_t from, to, bytes, mark; /* from: a node, to: a terminal */
};

struct heard {
    uint64_t time, waited;
    uint32_t at; /* terminal, or channel */
    sv_sim_head head;
};

enum { MAX_HEARD = 64 };

struct script {
    const sim_case *c;
    sv_sim_way ways[8]; /* of packets, in the order in which it is asked */
    uint32_t num_ways, asked;
    uint32_t offsets[8];
    uint64_t asked_at[8];
    const struct order *orders; /* by at */
    uint32_t num_orders, ordered;
    struct heard delivered[MAX_HEARD], departed[MAX_HEARD];
    uint32_t num_delivered, num_departed;
    uint32_t waiting; /* in depart: how many wait for the channel */
    sv_sim_waiting who[4];
    uint64_t backlog;    /* in depart: of the channel … */
    sv_status fail_with; /* … and what it says then */
};

static inline sv_status choose_listed(void *user, sv_sim_run *stage, uint64_t now,
                                      uint32_t terminal, const sv_sim_message *message,
                                      uint32_t offset, sv_sim_way *way)
{
    struct script *s = user;
    (void)stage;
    (void)terminal;
    (void)message;
    assert_true(s->asked < LENGTH(s->ways));
    s->offsets[s->asked] = offset;
    s->asked_at[s->asked] = now;
    if (s->num_ways > 0)
        *way = s->ways[s->asked % s->num_ways];
    s->asked++;
    return SV_OK;
}

static inline sv_status depart_listed(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                                      uint64_t waited, sv_sim_head *head)
{
    struct script *s = user;
    assert_true(s->num_departed < MAX_HEARD);
    s->departed[s->num_departed++] = (struct heard){now, waited, out.i, *head};
    s->waiting = sv_sim_waiting_for(stage, out, s->who, LENGTH(s->who));
    s->backlog = sv_sim_backlog(stage, out);
    head->note++;
    head->tag = head->destination = head->bytes = 12345; /* nobody minds */
    return s->fail_with;
}

static inline sv_status deliver_listed(void *user, sv_sim_run *stage, uint64_t now,
                                       uint32_t terminal, sv_sim_head *head)
{
    struct script *s = user;
    (void)stage;
    assert_true(s->num_delivered < MAX_HEARD);
    s->delivered[s->num_delivered++] = (struct heard){now, head->waited, terminal, *head};
    return SV_OK;
}

static inline sv_status timer_listed(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    struct script *s = user;
    while (s->ordered < s->num_orders && s->orders[s->ordered].at <= now) {
        const struct order *o = &s->orders[s->ordered++];
        sv_status status = sv_sim_send(stage, (sv_node){o->from}, sim_destination(s->c, o->to),
                                       o->bytes, o->ready, o->mark, o->mark + 1);
        if (status != SV_OK)
            return status;
    }
    *again = s->ordered < s->num_orders ? s->orders[s->ordered].at : SV_NEVER;
    return SV_OK;
}

static inline sv_sim_policy scripted(struct script *s, unsigned segments)
{
    return (sv_sim_policy){.user = s,
                           .segments = segments,
                           .first = s->num_orders > 0 ? s->orders[0].at : SV_NEVER,
                           .choose = choose_listed,
                           .depart = depart_listed,
                           .deliver = deliver_listed,
                           .timer = timer_listed};
}

/* Runs a list with a script. */
static inline const sv_sim_result *run_script(sv_ctx *ctx, sim_case *c, struct script *s,
                                              const sv_sim_policy *policy, const sim_send *sends,
                                              uint32_t count)
{
    s->c = c;
    s->asked = s->ordered = s->num_delivered = s->num_departed = 0;
    c->policy = policy;
    return sim_run(ctx, c, sends, count, 1);
}

/* Four switches in a ring, with a host each. */
static inline sim_case ring(sv_ctx *ctx)
{
    static const sim_cable cables[] = {{0, 1, SV_SPEED_QDR, 4},
                                       {1, 2, SV_SPEED_QDR, 4},
                                       {2, 3, SV_SPEED_QDR, 4},
                                       {3, 0, SV_SPEED_QDR, 4},
                                       {0, SIM_HOST, SV_SPEED_QDR, 4},
                                       {1, SIM_HOST + 1, SV_SPEED_QDR, 4},
                                       {2, SIM_HOST + 2, SV_SPEED_QDR, 4},
                                       {3, SIM_HOST + 3, SV_SPEED_QDR, 4}};
    sim_case c = sim_begin(ctx, sim_fabric(ctx, 4, 4, cables, LENGTH(cables)));
    c.model.drain = QDR;
    return c;
}

/* What a packet of a block or more takes from its injection to its arrival (test_simulate.c). */
static inline uint64_t alone(uint32_t hops, uint32_t bytes)
{
    const uint64_t block = 64 * QDR, hop = 7001 + block + 180007 + block;
    return hops * hop + 7001 + block + (uint64_t)bytes * QDR;
}

#endif
