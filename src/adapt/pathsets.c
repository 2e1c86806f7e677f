/*
 * pathsets.c: for policies that spread packets over some fixed ways of a pair of terminals: those
 * ways, found when the pair first sends, and one of them for each that chooses.
 *
 * Cost: that of sv__ways_find once a pair, then a look-up. Memory: linear in pairs that talk.
 */
#include "adapt/pathsets.h"

const sv_adapt_key *const sv__pathsets_keys[] = {
    SV__KEY(PATHS),    SV__KEY(VIAS), SV__KEY(REACH), SV__KEY(STRETCH), SV__KEY(BY),
    SV__KEY(ADAPTIVE), NULL};

static sv_status add(sv_adapt *a, uint32_t from, uint32_t destination, uint64_t key)
{
    sv__pathsets *p = a->state;
    uint32_t count, held;
    SV_TRY(sv__ways_find(a, from, destination, a->set.paths, p->scratch, &count));
    SV_TRY(sv_array_reserve(a->ctx, &p->ways, p->ways.length + count));
    SV_TRY(sv_array_push(a->ctx, &p->sets, (sv__pathset){.first = p->ways.length, .count = count}));
    SV_TRY(sv_map_add(&p->index, key, (uint32_t)p->sets.length - 1, &held));
    for (uint32_t i = 0; i < count; i++)
        p->ways.at[p->ways.length++] = p->scratch[i].way;
    a->report.pairs += count > 1;
    if (count > a->report.max_paths)
        a->report.max_paths = count;
    return SV_OK;
}

/* Both are valid until the next call. BAD_INPUT: tables do not join the pair. */
static sv_status find(sv_adapt *a, uint32_t from, uint32_t destination, sv__pathset **set,
                      const sv_sim_way **ways)
{
    sv__pathsets *p = a->state;
    uint64_t key = (uint64_t)from << 32 | destination;
    uint32_t i = sv_map_get(&p->index, key);
    if (i == SV_ABSENT) {
        SV_TRY(add(a, from, destination, key));
        i = (uint32_t)p->sets.length - 1;
    }
    *set = &p->sets.at[i];
    *ways = p->ways.at + (*set)->first;
    return SV_OK;
}

static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    sv_adapt *a = user;
    sv__pathset *set;
    const sv_sim_way *ways;
    (void)stage, (void)now, (void)offset;
    SV_TRY(find(a, terminal, message->destination, &set, &ways));
    *way = ways[((sv__pathsets *)a->state)->pick(a, set)];
    a->report.choices++;
    a->report.detours += way->vias > 0;
    return SV_OK;
}

sv_status sv__pathsets_make(sv_adapt *a, uint32_t (*pick)(sv_adapt *a, sv__pathset *set))
{
    sv__pathsets *p = SV_ARENA_NEW(&a->arena, sv__pathsets, 1);
    if (p == NULL)
        return SV_NO_MEMORY;
    sv_map_init(&p->index, a->ctx);
    p->pick = pick;
    a->state = p;
    a->policy.choose = choose;
    p->scratch = SV_ARENA_NEW(&a->arena, sv__adapt_path, a->set.paths);
    return p->scratch != NULL ? SV_OK : SV_NO_MEMORY;
}

void sv__pathsets_release(sv_adapt *a)
{
    sv__pathsets *p = a->state;
    if (p == NULL)
        return;
    sv_map_release(&p->index);
    sv_array_release(a->ctx, &p->sets);
    sv_array_release(a->ctx, &p->ways);
}
