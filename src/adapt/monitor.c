/*
 * monitor.c: what switches see and destinations tell (points 8, 10, 11).
 *
 * A switch that grants a packet which waited for long looks at who waits for the same output: it
 * sums up bytes by pair of terminals, and those that have most are the contending flows. It tells
 * them to the packet, which carries them to its destination, whose next acknowledgement brings them
 * to the source; or (notify=router) to all sources among them at once.
 *
 * Looks are what costs, so an output is looked at only now and then. Sums are in a table of hashes
 * that is never cleared: an entry of an earlier look is none.
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
        i = (i + 1) & (2 * SV__MOST_WAITING - 1);
    if (t->at[i].look != t->look) {
        t->at[i] = (sv__tally){.flow = flow, .look = t->look};
        t->used[t->count++] = i;
    }
    t->at[i].bytes += w->bytes;
}

struct share {
    uint64_t bytes;
    uint32_t flow;
};

static bool more(const struct share *a, const struct share *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->flow < b->flow;
}

/* Puts one among the first most of them. */
static void rank(struct share *best, uint32_t *count, uint32_t most, struct share one)
{
    uint32_t at = *count;
    while (at > 0 && more(&one, &best[at - 1]))
        at--;
    if (at == most)
        return;
    if (*count < most)
        (*count)++;
    for (uint32_t i = *count - 1; i > at; i--)
        best[i] = best[i - 1];
    best[at] = one;
}

void sv__monitor_pick(sv__tallies *tallies, const sv_sim_waiting *waiting, uint32_t count,
                      const sv_sim_waiting *granted, double share, uint32_t most, sv__flows *found)
{
    struct share best[SV__WIRE_MOST_FLOWS];
    uint64_t total = granted->bytes;
    uint32_t ranked = 0;
    tallies->look++;
    tallies->count = 0;
    add(tallies, granted);
    for (uint32_t i = 0; i < count; i++) {
        add(tallies, &waiting[i]);
        total += waiting[i].bytes;
    }
    for (uint32_t i = 0; i < tallies->count; i++) {
        const sv__tally *t = &tallies->at[tallies->used[i]];
        if ((double)t->bytes >= share * (double)total)
            rank(best, &ranked, most, (struct share){t->bytes, t->flow});
    }
    for (uint32_t i = 0; i < ranked; i++)
        found->at[i] = best[i].flow;
    found->count = ranked;
    sv__flows_sort(found);
}

/* ---- switches ---- */

/* Tells every source among the flows, once. */
static sv_status tell_sources(sv__balance *b, sv_sim_stage *stage, uint64_t now, sv_node s)
{
    sv_adapt *a = b->a;
    uint32_t note = sv__notes_take(a->ctx, &b->notes);
    if (note == 0)
        return SV_NO_MEMORY;
    sv__note *n = sv__notes_at(&b->notes, note);
    sv__flows_copy(&n->flows, &b->found);
    uint32_t bytes = SV__WIRE_HEADER + sv__wire_predictive_bytes(b->found.count);
    for (uint32_t i = 0; i < b->found.count; i++) {
        uint32_t source = sv__flow_from(b->found.at[i]);
        if (i > 0 && sv__flow_from(b->found.at[i - 1]) == source)
            continue;
        n->uses++;
        SV_TRY(sv_sim_send(stage, s, a->r->first[a->f->num_switches + source], bytes, now + 1, 0,
                           note));
        a->report.predictive_acks++;
    }
    sv__notes_drop(&b->notes, note);
    return SV_OK;
}

static sv_status tell_packet(sv__balance *b, sv_sim_head *head)
{
    head->note = sv__notes_take(b->a->ctx, &b->notes);
    if (head->note == 0)
        return SV_NO_MEMORY;
    sv__flows_copy(&sv__notes_at(&b->notes, head->note)->flows, &b->found);
    return SV_OK;
}

sv_status sv__monitor_depart(void *user, sv_sim_stage *stage, uint64_t now, sv_channel out,
                             uint64_t waited, sv_sim_head *head)
{
    sv_adapt *a = user;
    sv__balance *b = a->state;
    if (head->control || now < b->looked[out.i] || (!a->set.by_router && head->note != 0))
        return SV_OK;
    b->looked[out.i] = now + a->set.look;
    uint32_t count = sv_sim_waiting_for(stage, out, b->waiting, SV__MOST_WAITING - 1);
    sv_sim_waiting granted = {.from = head->from.i - a->f->num_switches,
                              .to = a->r->node[head->destination].i - a->f->num_switches,
                              .bytes = head->bytes};
    sv__monitor_pick(b->tallies, b->waiting, count, &granted, a->set.share, a->set.flows,
                     &b->found);
    if (b->found.count < 2)
        return SV_OK; /* nobody contends with anybody */
    b->found.router = a->f->tail[out.i].i;
    a->routers[b->found.router].notices++;
    sv__tell(
        b,
        &(sv__saw){
            .kind = SV__SAW_LOOK, .time = now, .waited = waited, .out = out, .flows = &b->found});
    if (!a->set.by_router)
        return tell_packet(b, head);
    head->note = TOLD;
    return tell_sources(b, stage, now, a->f->tail[out.i]);
}

/* ---- destinations ---- */

sv_status sv__monitor_arrive(sv__balance *b, sv_sim_stage *stage, uint64_t now, uint32_t terminal,
                             sv_sim_head *head)
{
    sv_adapt *a = b->a;
    uint32_t pair = sv__pairs_find(b, head->from.i - a->f->num_switches, head->destination);
    sv__pair *p = b->pairs.at[pair];
    if (head->note != 0 && head->note != TOLD) {
        sv__notes_drop(&b->notes, p->carried);
        p->carried = head->note;
        head->note = 0;
    }
    if (!head->last && !a->set.ack_packets)
        return SV_OK;
    uint32_t note = p->carried != 0 ? p->carried : sv__notes_take(a->ctx, &b->notes);
    if (note == 0)
        return SV_NO_MEMORY;
    p->carried = 0;
    sv__note *n = sv__notes_at(&b->notes, note);
    n->pair = pair;
    n->mark = head->way.mark;
    n->waited = head->waited;
    n->last = head->last;
    uint32_t bytes =
        SV__WIRE_HEADER + (n->flows.count > 0 ? sv__wire_predictive_bytes(n->flows.count) : 0);
    a->report.acks++;
    return sv_sim_send(stage, (sv_node){a->f->num_switches + terminal}, a->r->first[head->from.i],
                       bytes, now, n->mark, note);
}
