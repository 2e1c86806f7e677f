/*
 * critical.c: searches that tell critical failures from harmless ones.
 *
 * Idea: a cable is harmless if its two ends find each other another way. Two breadth-first
 * searches, one from each end, always advancing the smaller one, meet after a few steps wherever
 * there is a short detour, however large the fabric. If one of them runs dry, its side is cut off;
 * that is critical when both sides have live terminals. A switch is harmless if all its neighbours
 * find each other without it, or if those that do not have no terminals behind them.
 *
 * Invariants: terminals are leaves of the graph, so searches walk over switches only; every
 * search uses marks of its own, so nothing needs clearing in between.
 * Cost: the size of the neighbourhood searched; linear when something is cut off.
 */
#include "faults/critical.h"

sv_status sv__state_init(sv__state *state, sv_arena *arena, const sv_fabric *fabric)
{
    *state = (sv__state){.f = fabric};
    state->dead_nodes = sv_bitset_new(arena, sv_num_nodes(fabric));
    state->dead_channels = sv_bitset_new(arena, fabric->num_channels);
    state->mark = SV_ARENA_NEW(arena, uint32_t, fabric->num_switches);
    state->queue[0] = SV_ARENA_NEW(arena, uint32_t, fabric->num_switches);
    state->queue[1] = SV_ARENA_NEW(arena, uint32_t, fabric->num_switches);
    bool all = state->dead_nodes != NULL && state->dead_channels != NULL && state->mark != NULL &&
               state->queue[0] != NULL && state->queue[1] != NULL;
    return all ? SV_OK : SV_NO_MEMORY;
}

void sv__fail_cable(sv__state *state, sv_channel c)
{
    sv_bit_set(state->dead_channels, c.i);
    sv_bit_set(state->dead_channels, state->f->reverse[c.i].i);
}

uint32_t sv__fail_node(sv__state *state, sv_node v)
{
    uint32_t lost = 0;
    sv_bit_set(state->dead_nodes, v.i);
    SV_FOR_HOPS (state->f, v, hop) {
        sv__fail_cable(state, hop->channel);
        if (!sv_is_switch(state->f, hop->to) && !sv_bit(state->dead_nodes, hop->to.i)) {
            sv_bit_set(state->dead_nodes, hop->to.i);
            lost++;
        }
    }
    return lost;
}

void sv__state_mask(const sv__state *state, sv_mask *mask)
{
    for (size_t w = 0; w < sv_bitset_words(sv_num_nodes(state->f)); w++)
        mask->nodes[w] |= state->dead_nodes[w];
    for (size_t w = 0; w < sv_bitset_words(state->f->num_channels); w++)
        mask->channels[w] |= state->dead_channels[w];
}

/* A search: who it found and how far it has looked. */
struct search {
    uint32_t *queue, head, tail;
    uint32_t mark;   /* its own */
    uint32_t wanted; /* a mark of switches it hopes to meet */
    uint32_t met;    /* how many of those it did */
    bool terminals;  /* whether it saw a live terminal */
};

static void visit(sv__state *state, struct search *search, uint32_t s)
{
    search->met += state->mark[s] == search->wanted;
    state->mark[s] = search->mark;
    search->queue[search->tail++] = s;
}

/* Looks at the neighbours of the next switch, as if one switch and one cable were not there. */
static void advance(sv__state *state, struct search *search, uint32_t without_switch,
                    sv_channel without)
{
    const sv_fabric *f = state->f;
    sv_node s = {search->queue[search->head++]};
    uint32_t back = without.i == SV_NONE ? SV_NONE : f->reverse[without.i].i;
    SV_FOR_HOPS (f, s, hop) {
        uint32_t c = hop->channel.i, to = hop->to.i;
        if (sv_bit(state->dead_channels, c) || c == without.i || c == back || to == without_switch)
            continue;
        if (!sv_is_switch(f, hop->to))
            search->terminals = true;
        else if (state->mark[to] != search->mark)
            visit(state, search, to);
    }
}

bool sv__cable_is_critical(sv__state *state, sv_channel c)
{
    uint32_t mark = state->marks;
    state->marks += 2;
    struct search sides[2] = {{.queue = state->queue[0], .mark = mark + 1, .wanted = mark + 2},
                              {.queue = state->queue[1], .mark = mark + 2, .wanted = mark + 1}};
    visit(state, &sides[0], state->f->tail[c.i].i);
    visit(state, &sides[1], state->f->head[c.i].i);
    while (sides[0].head < sides[0].tail && sides[1].head < sides[1].tail) {
        bool second = sides[0].tail - sides[0].head > sides[1].tail - sides[1].head;
        advance(state, &sides[second], SV_NONE, c);
        if (sides[second].met > 0)
            return false;
    }
    for (int i = 0; i < 2; i++)
        while (sides[i].head < sides[i].tail)
            advance(state, &sides[i], SV_NONE, c);
    return sides[0].terminals && sides[1].terminals;
}

/* The different live switches next to one, marked; their number. */
static uint32_t mark_neighbours(sv__state *state, sv_node s, uint32_t mark, uint32_t *list)
{
    uint32_t count = 0;
    SV_FOR_HOPS (state->f, s, hop)
        if (!sv_bit(state->dead_channels, hop->channel.i) && sv_is_switch(state->f, hop->to) &&
            hop->to.i != s.i && state->mark[hop->to.i] != mark) {
            state->mark[hop->to.i] = mark;
            list[count++] = hop->to.i;
        }
    return count;
}

bool sv__switch_is_critical(sv__state *state, sv_node s)
{
    uint32_t wanted = state->marks + 1, mark = state->marks + 2, parts = 0;
    uint32_t *neighbours = state->queue[1], count = mark_neighbours(state, s, wanted, neighbours);
    state->marks += 2;
    for (uint32_t i = 0; i < count; i++) {
        if (state->mark[neighbours[i]] == mark)
            continue; /* an earlier search was here */
        struct search search = {.queue = state->queue[0], .mark = mark, .wanted = wanted};
        visit(state, &search, neighbours[i]);
        while (search.head < search.tail) {
            if (search.met == count)
                return false; /* all neighbours find each other */
            advance(state, &search, s.i, SV_NO_CHANNEL);
        }
        parts += search.terminals;
    }
    return parts > 1;
}
