/*
 * arbitrate.c: which VL's turn it is at an output (rule 16): by turns, or by the tables' VL
 * arbitration.
 *
 * Cost: O(1) by turns, O(entries) by tables.
 */
#include "simulate/state.h"

/* The entry that a list offers for VLs that have packets, and what is left to it; its length:
 * none. */
static unsigned offer(const sv_vlarb_table *list, unsigned at, uint32_t *left, uint64_t vls)
{
    if (list->length == 0)
        return 0;
    if (/*~entry_on*/ *left > 0 && list->vl[at] < 64 && (vls >> list->vl[at] & 1))
        return at;
    for (unsigned i = 1; i /*~entry_round*/ <= list->length; i++) {
        unsigned k = (at + /*~entry_again*/ i) % list->length;
        if (/*~entry_zero*/ list->weight[k] > 0 && list->vl[k] < 64 && (vls >> list->vl[k] & 1)) {
            /*~entry_weight*/ *left = list->weight[k];
            return k;
        }
    }
    return list->length;
}

static const sv_vlarb *tables_of(const sv__sim *x, uint32_t channel)
{
    bool adapter = x->f->tail[channel].i >= x->f->num_switches;
    return &x->r->vlarb[adapter /*~arb_swapped*/ ? SV_VLARB_CA : SV_VLARB_SWE];
}

/* Chooses, and tells where turns stand afterwards but for the blocks. */
static unsigned by_tables(const sv__sim *x, uint32_t channel, uint64_t vls, sv__turn *turn,
                          bool *from_high)
{
    const sv_vlarb *v = tables_of(x, channel);
    uint32_t high_left = turn->high_left, low_left = turn->low_left;
    unsigned high = offer(&v->high, turn->high_at, &high_left, vls);
    unsigned low = offer(&v->low, turn->low_at, &low_left, vls);
    uint32_t max = v->high_limit == 0 ? /*~limit_zero*/ 1 : /*~limit_blocks*/ 64u * v->high_limit;
    bool has_high = high < v->high.length, has_low = low < v->low.length;
    *from_high =
        has_high && (!has_low /*~limit_255*/ || v->high_limit == 255 || turn->high_sent < max);
    /*~low_moves*/ if (*from_high) {
        turn->high_at = (uint8_t)high;
        turn->high_left = high_left;
        return v->high.vl[high];
    }
    turn->low_at = (uint8_t)low;
    turn->low_left = low_left;
    return v->low.vl[low];
}

unsigned sv__choose_vl(const sv__sim *x, uint32_t channel, uint64_t vls)
{
    if (x->turns != NULL && tables_of(x, channel)->given) {
        sv__turn turn = x->turns[channel];
        bool from_high;
        return by_tables(x, channel, vls, &turn, &from_high);
    }
    unsigned last = x->outputs[channel].last_vl;
    uint64_t after = last >= 63 ? 0 : /*~turn_last*/ vls >> (last + 1) << (last + 1);
    return (unsigned)__builtin_ctzll(after != 0 ? after : vls);
}

void sv__take_vl(sv__sim *x, uint32_t channel, unsigned vl, uint64_t vls, uint32_t blocks)
{
    /*~turn_none*/ x->outputs[channel].last_vl = (uint8_t)vl;
    if (x->turns == NULL || !tables_of(x, channel)->given)
        return;
    sv__turn *turn = &x->turns[channel];
    bool from_high;
    by_tables(x, channel, vls, turn, &from_high);
    uint32_t *left = from_high ? &turn->high_left : &turn->low_left;
    *left = /*~left_below*/ *left > blocks ? *left - blocks : 0;
    turn->high_sent = /*~high_kept*/ from_high ? turn->high_sent + /*~limit_packets*/ blocks : 0;
}
