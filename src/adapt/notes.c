/*
 * notes.c: what packets carry for the family of distributed routing balancing.
 *
 * A packet has a number of 32 bits for its policy; behind it is a note with all else. Notes stand
 * in blocks that never move; a free one is used before a new one is made, so a run that is warm
 * makes none. Those of packets under way when a run ends go with the arena.
 *
 * Cost: O(1) a note.
 */
#include "adapt/balance.h"

enum { BLOCK = 256 };

sv__note *sv__notes_at(const sv__notes *notes, uint32_t note)
{
    return &notes->blocks.at[(note - 1) / BLOCK][(note - 1) % BLOCK];
}

static sv_status grow(sv_ctx *ctx, sv__notes *notes)
{
    sv__note *block = SV_ARENA_NEW(notes->arena, sv__note, BLOCK);
    uint32_t *flows = SV_ARENA_NEW(notes->arena, uint32_t, (size_t)BLOCK * notes->max_flows);
    if (block == NULL || flows == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_array_push(ctx, &notes->blocks, block));
    for (uint32_t i = 0; i < BLOCK; i++)
        block[i].flows.at = flows + (size_t)i * notes->max_flows;
    return SV_OK;
}

uint32_t sv__notes_take(sv_ctx *ctx, sv__notes *notes)
{
    uint32_t note = notes->free;
    if (note == 0) {
        if (notes->count % BLOCK == 0 && grow(ctx, notes) != SV_OK)
            return 0;
        note = ++notes->count;
    } else {
        notes->free = sv__notes_at(notes, note)->next;
    }
    sv__note *n = sv__notes_at(notes, note);
    *n = (sv__note){.uses = 1, .pair = SV_NONE, .flows = {.at = n->flows.at, .router = SV_NONE}};
    return note;
}

void sv__notes_drop(sv__notes *notes, uint32_t note)
{
    if (note == 0)
        return;
    sv__note *n = sv__notes_at(notes, note);
    if (--n->uses > 0)
        return;
    n->next = notes->free;
    notes->free = note;
}
