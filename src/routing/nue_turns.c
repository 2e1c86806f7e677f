/*
 * nue_turns.c: whether a turn may be used: the states of the complete dependency graph (thesis
 * 6.2.6.1).
 *
 * A turn is used (in the dependency graph of the layer), blocked (it is known to close a cycle) or
 * unused. Turns are taken out again only while one destination is routed, and then what was found
 * to be blocked meanwhile is forgotten too; so blocked means blocked for good.
 *
 * For unused turns there are two searches with the same answers:
 *   order  the graph keeps a topological order (cdg.c), which answers most questions at once;
 *   omega  subgraphs are numbered; a turn between two of them closes no cycle, one within is
 *          searched for from its end. The numbers are a forest of sets, so that joining two
 *          subgraphs does not visit all of their channels.
 *
 * Cost: O(1) for used and blocked turns.
 */
#include "base/bitset.h"
#include "routing/nue.h"

sv_status sv__nue_turns_init(sv__nue *x)
{
    sv_arena *arena = x->job->arena;
    x->added = SV_ARENA_NEW(arena, uint64_t, x->cdg.num_turns);
    x->refused = SV_ARENA_NEW(arena, size_t, x->cdg.num_turns);
    if (x->added == NULL || x->refused == NULL)
        return SV_NO_MEMORY;
    for (unsigned l = 0; l < x->num_layers; l++)
        if ((x->blocked[l] = sv_bitset_new(arena, x->cdg.num_turns)) == NULL)
            return SV_NO_MEMORY;
    if (!x->omega)
        return SV_OK;
    size_t count = (size_t)x->num_layers * x->core.num_entries;
    x->subgraph = SV_ARENA_NEW(arena, uint32_t, count);
    if (x->subgraph == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        x->subgraph[i] = (uint32_t)(i % x->core.num_entries);
    return SV_OK;
}

static uint32_t number_of(uint32_t *subgraph, uint32_t e)
{
    while (subgraph[e] != e)
        e = subgraph[e] = subgraph[subgraph[e]];
    return e;
}

static bool add_numbered(sv__nue *x, uint32_t in, uint32_t out)
{
    uint32_t *subgraph = x->subgraph + (size_t)x->at * x->core.num_entries;
    uint32_t a = number_of(subgraph, in), b = number_of(subgraph, out);
    if (a == b)
        return sv_cdg_add(&x->cdg, x->at, in, out);
    subgraph[b] = a;
    sv_cdg_join(&x->cdg, x->at, in, out);
    return true;
}

bool sv__nue_add(sv__nue *x, uint32_t in, uint32_t out)
{
    size_t turn = sv_cdg_turn(&x->cdg, in, out);
    if (x->cdg.vls[turn] >> x->at & 1)
        return true;
    if (sv__nue_blocked(x, turn))
        return false;
    if (x->omega ? add_numbered(x, in, out) : sv_cdg_add(&x->cdg, x->at, in, out)) {
        x->added[x->num_added++] = (uint64_t)in << 32 | out;
        return true;
    }
    sv_bit_set(x->blocked[x->at], turn);
    x->refused[x->num_refused++] = turn;
    return false;
}

void sv__nue_undo(sv__nue *x, size_t added, size_t refused)
{
    if (x->num_added == added)
        return;
    while (x->num_added > added) {
        uint64_t turn = x->added[--x->num_added];
        sv_cdg_remove(&x->cdg, x->at, (uint32_t)(turn >> 32), (uint32_t)turn);
    }
    while (x->num_refused > refused)
        sv_bit_clear(x->blocked[x->at], x->refused[--x->num_refused]);
}

void sv__nue_drop(sv__nue *x, uint32_t in, uint32_t out)
{
    uint64_t turn = (uint64_t)in << 32 | out;
    for (size_t i = x->num_added; i-- > 0;)
        if (x->added[i] == turn) {
            x->added[i] = x->added[--x->num_added];
            sv_cdg_remove(&x->cdg, x->at, in, out);
            while (x->num_refused > 0)
                sv_bit_clear(x->blocked[x->at], x->refused[--x->num_refused]);
            return;
        }
}
