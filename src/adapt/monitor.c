/*
 * monitor.c: what switches see and destinations tell (points 8, 10, 11).
 *
 * A switch that grants a packet which waited for long looks at who waits for the same output: it
 * sums up bytes by pair of terminals, and those that have most are the contending flows. It tells
 * them to the packet, which carries them to its destination, whose next acknowledgement brings them
 * to the source; or (notify=router) to all sources among them at once.
 *
 * Looks are what costs, and each source that is told a packet; so an output is looked at only now
 * and then, the later the more flows were seen, and what was seen is told until the next look. Sums
 * are in a table of hashes that is never cleared: an entry of an earlier look is none.
 *
 * Cost: a look O(packets that wait + flows²), a packet that arrives O(1). Source: thesis 3.2.2,
 * 3.2.7, 3.4.1, A.1, A.4.
 */
#include "adapt/balance.h"

#define TOLD UINT32_MAX /* the note of a packet whose P is set */

/* ---- contending flows ---- */

static void add(sv__tallies *t, const sv_sim_waiting *w)
{
    uint32_t flow = sv__flow(w->from, w->to);
    uint32_t i = flow * 2654435769u >> 19;
    while (t->at[i].look == t->look && t->at[i].flow != flow)
        i = (i + 1) & (2 * SV__MAX_WAITING - 1);
    if (t->at[i].look != t->look) {
        t->at[i] = (sv__drb_tally){.flow = flow, .look = t->look};
        t->used[t->count++] = i;
    }
    t->at[i].bytes += /*~share_packets*/ w->bytes;
}

struct share {
    uint64_t bytes;
    uint32_t flow;
};

static bool more(const struct share *a, const struct share *b)
{
    return a->bytes != b->bytes ? a->bytes /*~share_min*/ > b->bytes : a->flow < b->flow;
}

/* Puts one among the first most of them. */
static void rank(struct share *best, uint32_t *count, uint32_t max, struct share one)
{
    uint32_t at = *count;
    while (at > 0 && more(&one, &best[at - 1]))
        at--;
    if (at == max)
        return;
    if (*count < max)
        (*count)++;
    for (uint32_t i = *count - 1; i > at; i--)
        best[i] = best[i - 1];
    best[at] = one;
}

void sv__monitor_pick(sv__tallies *tallies, const sv_sim_waiting *waiting, uint32_t count,
                      const sv_sim_waiting *granted, double share, uint32_t max, sv__flows *found)
{
    struct share best[SV__WIRE_MAX_FLOWS];
    uint64_t total = granted->bytes;
    uint32_t ranked = 0;
    tallies->look++;
    tallies->count = 0;
    /*~share_granted*/ add(tallies, granted);
    for (uint32_t i = 0; i < count; i++) {
        add(tallies, &waiting[i]);
        total += waiting[i].bytes;
    }
    for (uint32_t i = 0; i < tallies->count; i++) {
        const sv__drb_tally *t = &tallies->at[tallies->used[i]];
        if (/*~share_any*/ (double)t->bytes >= share * (double)total)
            rank(best, &ranked, max, (struct share){t->bytes, t->flow});
    }
    for (uint32_t i = 0; i < ranked; i++)
        found->at[i] = best[i].flow;
    found->count = ranked;
    sv__flows_sort(found);
}

/* ---- switches ---- */

/* Tells every source among the flows of a note, once. */
static sv_status tell_sources(sv__balance *b, sv_sim_run *stage, uint64_t now, sv_node s,
                              uint32_t note)
{
    sv_adapt *a = b->a;
    sv__note *n = sv__notes_at(&b->notes, note);
    uint32_t bytes = SV__WIRE_HEADER + sv__wire_predictive_bytes(n->flows.count);
    for (uint32_t i = 0; i < n->flows.count; i++) {
        uint32_t source = sv__flow_from(n->flows.at[i]);
        if (/*~notice_each*/ i > 0 && sv__flow_from(n->flows.at[i - 1]) == source)
            continue;
        /*~notice_one*/ n->uses++;
        SV_TRY(sv_sim_send(stage, s, a->r->first[a->f->num_switches + source], bytes, now + 1, 0,
                           note));
        a->report.predictive_acks++;
    }
    return SV_OK;
}

/* Looks at an output; what is seen is in its note. */
static sv_status look(sv__balance *b, sv_sim_run *stage, uint64_t now, sv_channel out,
                      const sv_sim_head *head)
{
    sv_adapt *a = b->a;
    sv_sim_waiting granted = {.from = head->from.i - a->f->num_switches,
                              .to = a->r->node[head->destination].i - a->f->num_switches,
                              .bytes = head->bytes};
    uint32_t count = sv_sim_waiting_for(stage, out, b->waiting, SV__MAX_WAITING - 1);
    sv__notes_drop(&b->notes, b->told[out.i]);
    b->told[out.i] = 0;
    sv__monitor_pick(b->tallies, b->waiting, count, &granted, a->set.share, a->set.flows,
                     &b->found);
    if (b->found.count < /*~contend_one*/ 2)
        return SV_OK; /* nobody contends with anybody */
    b->found.router = a->f->tail[out.i].i;
    a->routers[b->found.router].notices++;
    sv__tell(b, &(sv__saw){.kind = SV__SAW_LOOK, .time = now, .out = out, .flows = &b->found});
    uint32_t note = sv__notes_take(a->ctx, &b->notes);
    if (note == 0)
        return SV_NO_MEMORY;
    sv__flows_copy(&sv__notes_at(&b->notes, note)->flows, &b->found);
    b->told[out.i] = note;
    return a->set.by_router ? tell_sources(b, stage, now, a->f->tail[out.i], note) : SV_OK;
}

sv_status sv__monitor_depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                             uint64_t waited, sv_sim_head *head)
{
    sv_adapt *a = user;
    sv__balance *b = a->state;
    (void)waited;
    if (/*~look_control*/ head->control || /*~carry_more*/ (!a->set.by_router && head->note != 0))
        return SV_OK;
    if (/*~look_free*/ now >= b->looked[out.i]) {
        SV_TRY(look(b, stage, now, out, head));
        b->looked[out.i] = now + b->look /*~look_apart*/ * b->found.count;
    }
    uint32_t note = b->told[out.i];
    if (note == 0)
        return SV_OK;
    /*~look_once*/ head->note = a->set.by_router ? TOLD : note;
    if (!a->set.by_router)
        sv__notes_at(&b->notes, note)->uses++;
    return SV_OK;
}

/* ---- destinations ---- */

sv_status sv__monitor_arrive(sv__balance *b, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                             sv_sim_head *head)
{
    sv_adapt *a = b->a;
    bool carries = head->note != 0 && head->note != TOLD;
    bool answers = /*~ack_all*/ head->last || a->set.ack_packets;
    if (!carries && !answers)
        return SV_OK;
    uint32_t pair = sv__pairs_find(b, head->from.i - a->f->num_switches, head->destination);
    sv__drb_pair *p = b->pairs.at[pair];
    if (/*~carry_first*/ carries) {
        sv__notes_drop(&b->notes, p->carried);
        p->carried = head->note;
        head->note = 0;
    }
    if (!answers)
        return SV_OK;
    uint32_t note = sv__notes_take(a->ctx, &b->notes), bytes = SV__WIRE_HEADER;
    if (note == 0)
        return SV_NO_MEMORY;
    sv__note *n = sv__notes_at(&b->notes, note);
    n->pair = pair;
    n->mark = head->way.mark;
    /*~ack_waited*/ n->waited = head->waited;
    n->last = head->last;
    n->told = p->carried;
    if (n->told != 0)
        /*~ack_length*/ bytes +=
            sv__wire_predictive_bytes(sv__notes_at(&b->notes, n->told)->flows.count);
    /*~carry_again*/ p->carried = 0;
    a->report.acks++;
    return sv_sim_send(stage, (sv_node){a->f->num_switches + terminal}, a->r->first[head->from.i],
                       bytes, /*~ack_late*/ now, n->mark, note);
}
