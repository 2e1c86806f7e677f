/*
 * pairs.c: who is to be silent while tables change: because its packets could overtake each other,
 * or because with what it holds from before there could be a deadlock.
 *
 * A pair's path changes if its old path meets an entry that does: up to the first of them old and
 * new are the same.
 *
 * Cost: O(switches) for each destination that changes, and the pairs.
 */
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "update/update.h"

enum { MAX_PAIRS = 1 << 24 };

struct lister {
    const sv__sides *x;
    sv_update *u;
    const sv__silence *silence;
    const uint32_t *last_step;
    uint8_t *mark;   /* [switches]: an sv__update_path */
    uint32_t *stack; /* [switches] */
    sv_update_pair *pairs;
    uint64_t count, musts, sls;
    bool held; /* somebody must be silent whose SL stays */
};

void sv__mark_paths(const sv__sides *x, uint32_t d, uint8_t *mark, uint32_t *stack)
{
    const uint8_t *was = x->before->ports[d];
    memset(mark, SV__UNSEEN, x->f->num_switches);
    for (uint32_t start = 0; start < x->f->num_switches; start++) {
        uint32_t depth = 0, s = start;
        uint8_t end = SV__LOST;
        while (s != SV_NONE && mark[s] == SV__UNSEEN) {
            mark[s] = SV__ON_WAY;
            stack[depth++] = s;
            if (sv__is_end(x, s, was[s], d)) {
                end = SV__SAME;
                break;
            }
            s = sv__next_switch(x, s, was[s]);
            bool known = s != SV_NONE && mark[s] != SV__UNSEEN && mark[s] != SV__ON_WAY;
            end = known ? mark[s] : SV__LOST;
        }
        while (depth > 0) {
            s = stack[--depth];
            end = end == SV__SAME && sv__changes(x, s, d) ? SV__OTHER : end;
            mark[s] = end;
        }
    }
}

/* A source of packets to a destination: whether it is listed, and must be silent. */
static void list_one(struct lister *p, uint32_t d, sv_node v)
{
    const sv__sides *x = p->x;
    sv_node home = sv_is_switch(x->f, v) ? v : sv_switch_of(x->f, v);
    bool other_sl = p->u->first_step[d] != SV_NONE && sv__old_sl(x, v, d) != sv__new_sl(x, v, d);
    if (home.i == SV_NONE)
        return;
    p->sls += other_sl && sv_node_alive(x->f, x->after->node[d]);
    uint8_t mark = p->mark[home.i];
    bool hushed = sv_bit(p->silence->hushed, d);
    bool listed =
        mark == SV__OTHER || (p->u->vls && mark == SV__SAME) || (hushed && mark == SV__LOST);
    if (!other_sl && !listed)
        return;
    bool must = hushed || (other_sl && sv_bit(p->silence->repath, d));
    uint32_t first = p->u->first_step[d], last = p->last_step[d];
    if (p->pairs != NULL)
        p->pairs[p->count] = (sv_update_pair){.from = v,
                                              .destination = d,
                                              .from_step = p->u->vls ? 0 : first,
                                              .to_step = last == SV_NONE ? 0 : last,
                                              .must = must};
    p->count++;
    p->musts += must;
    p->held |= must && !other_sl;
}

static void list(struct lister *p)
{
    const sv__sides *x = p->x;
    uint32_t sources = x->by_node ? sv_num_nodes(x->f) : x->f->num_switches;
    p->count = p->musts = p->sls = 0;
    for (uint32_t d = 0; d < x->after->num_destinations; d++) {
        sv_node to = x->after->node[d];
        bool must = sv_bit(p->silence->hushed, d) || sv_bit(p->silence->repath, d);
        if ((p->u->first_step[d] == SV_NONE && !p->u->vls) || (!must && !sv_node_alive(x->f, to)))
            continue; /* who sends to the dead is of no interest unless it must not */
        sv__mark_paths(x, d, p->mark, p->stack);
        for (uint32_t v = 0; v < sources; v++)
            if (v != to.i && sv_node_alive(x->f, (sv_node){v}))
                list_one(p, d, (sv_node){v});
    }
}

sv_status sv__list_pairs(const sv__sides *x, sv_arena *arena, const sv__silence *silence,
                         const uint32_t *last_step, sv_update *u, bool *held)
{
    struct lister p = {.x = x, .u = u, .silence = silence, .last_step = last_step};
    p.mark = SV_ARENA_NEW(arena, uint8_t, x->f->num_switches);
    p.stack = SV_ARENA_NEW(arena, uint32_t, x->f->num_switches);
    if (p.mark == NULL || p.stack == NULL)
        return SV_NO_MEMORY;
    list(&p);
    *held = p.held;
    u->num_pairs = p.count;
    u->must_pairs = p.musts;
    u->sls = p.sls;
    if (p.count > MAX_PAIRS)
        return SV_OK;
    u->pairs = SV_POOL_NEW(u->store, x->ctx, sv_update_pair, p.count + 1);
    if (u->pairs == NULL)
        return SV_NO_MEMORY;
    p.pairs = u->pairs;
    list(&p);
    return SV_OK;
}
