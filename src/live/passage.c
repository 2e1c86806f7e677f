/*
 * passage.c: from the fabric and tables before to those of now: what became of the fabric, and what
 * happens while some switches have old entries and others new ones.
 *
 * A subnet manager sends all blocks at once and switches take them as they come, so any mixture may
 * be there for a moment; verify/ judges them all. Pairs that change their service level may use the
 * old one for as long as they like.
 *
 * Cost: as sv_verify_transition.
 */
#include <stdio.h>

#include "base/text.h"
#include "live/live.h"

/* ---- the fabric ---- */

/* One change of the fabric in words. */
static void print_change(sv_text *out, const sv_fabric *a, const sv_fabric *b, const sv_change *c)
{
    static const char *const kinds[] = {"new", "lost", "moved", "changed", "renamed"};
    const sv_fabric *f = c->a != SV_NONE ? a : b;
    uint32_t i = c->a != SV_NONE ? c->a : c->b;
    switch (c->what) {
    case SV_WHAT_SWITCH:
        sv_text_print(out, "switch \"%s\" %s", f->switches[i].name, kinds[c->kind]);
        break;
    case SV_WHAT_ADAPTER:
        sv_text_print(out, "adapter \"%s\" %s", f->adapters[i].name, kinds[c->kind]);
        break;
    default:
        sv_text_print(out, "cable \"%s\" port %u - \"%s\" port %u %s", sv_node_name(f, f->tail[i]),
                      f->port[i], sv_node_name(f, f->head[i]), f->port[f->reverse[i].i],
                      kinds[c->kind]);
    }
}

/* Whether switches may hold entries that nobody knows of: new ones, or for LIDs that moved. */
static sv_status is_unknown(sv_live *live, const sv_fabric *f, bool *unknown, uint32_t *moved)
{
    const sv_fabric *before = live->now.fabric;
    sv_match *match = NULL;
    uint32_t kept = 0;
    SV_TRY(sv_match_new(live->ctx, before, f, SV_MATCH_GUID, &match));
    for (uint32_t s = 0; s < before->num_switches; s++)
        if (match->switches[s] != SV_NONE) {
            kept++;
            *moved += before->switches[s].lid != f->switches[match->switches[s]].lid;
        }
    for (uint32_t t = 0; t < before->num_terminals; t++)
        if (match->terminals[t] != SV_NONE)
            *moved += before->terminals[t].lid != f->terminals[match->terminals[t]].lid;
    *unknown = *moved > 0 || kept < f->live_switches;
    sv_match_free(match);
    return SV_OK;
}

sv_status sv__live_compare(sv_live *live, const sv_fabric *f, sv_live_report *report, bool *unknown)
{
    const sv_fabric *before = live->now.fabric;
    sv_diff *diff = NULL;
    const sv_change *example = NULL;
    uint32_t moved = 0;
    sv_text out;
    if (before == NULL)
        return SV_OK;
    SV_TRY(is_unknown(live, f, unknown, &moved));
    SV_TRY(sv_fabric_diff(live->ctx, before, f, SV_MATCH_GUID, &diff));
    for (size_t i = 0; i < diff->length; i++) {
        const sv_change *c = &diff->changes[i];
        bool lost = c->kind == SV_CHANGE_LOST, added = c->kind == SV_CHANGE_ADDED;
        report->parts_lost += lost || c->kind == SV_CHANGE_MOVED;
        report->parts_added += added || c->kind == SV_CHANGE_MOVED;
        if (example == NULL || (lost && example->kind != SV_CHANGE_LOST))
            example = c;
    }
    sv_text_init(&out, live->ctx, NULL);
    if (example != NULL)
        print_change(&out, before, f, example);
    if (diff->length > 1)
        sv_text_print(&out, ", and %zu more changes", diff->length - 1);
    if (moved > 0)
        sv_text_print(&out, "%s%u LIDs are other nodes' than before", example != NULL ? "; " : "",
                      moved);
    snprintf(report->fabric, sizeof report->fabric, "%s", out.at != NULL ? out.at : "");
    sv_text_release(&out);
    sv_diff_free(diff);
    return SV_OK;
}

/* ---- the tables ---- */

/* Pairs that could not talk before have no SL of before: nothing of theirs is on the way. */
static sv_status forget_silence(sv_ctx *ctx, const sv_fabric *f, const sv_routes *now,
                                sv_routes *old)
{
    bool by_node = old->sl_form == SV_SL_BY_NODE;
    if (old->sl_form != now->sl_form || (!by_node && old->sl_form != SV_SL_BY_SWITCH))
        return SV_OK;
    uint32_t length = f->num_switches + (by_node ? f->num_terminals : 0);
    for (uint32_t d = 0; d < old->num_destinations; d++) {
        const uint8_t *is = now->sls[d];
        uint8_t *was = NULL;
        for (uint32_t v = 0; v < length; v++) {
            if (old->sls[d][v] != SV_NO_SL || is[v] == SV_NO_SL)
                continue;
            if (was == NULL && (was = sv_routes_sl_row(ctx, old, d)) == NULL)
                return SV_NO_MEMORY;
            was[v] = is[v];
        }
    }
    return SV_OK;
}

static sv_passage weigh(const sv_transition *t)
{
    if (t->deadlock_free != SV_VERDICT_YES)
        return SV_PASSAGE_UNSAFE;
    if (t->looping > 0 || t->dead_ends > t->broken || t->strays > 0)
        return SV_PASSAGE_LOSSY;
    return t->changed_blocks == 0 ? SV_PASSAGE_NONE : SV_PASSAGE_ANY_ORDER;
}

/* What going from the tables before to a candidate does, unless a repair has told already. */
sv_status sv__live_passage(sv_live *live, const sv_fabric *f, unsigned flags, sv__live_candidate *c)
{
    sv__set held = live->now;
    const sv__set *before = live->now.routes != NULL ? &held : &live->kept;
    sv_routes *old = NULL;
    sv_transition *found = NULL;
    if (live->stages.held != NULL) /* on the way to the tables of now */
        held.routes = live->stages.held;
    if (flags & SV_LIVE_UNKNOWN || before->routes == NULL ||
        before->routes->lmc != c->routes->lmc) {
        c->passage = SV_PASSAGE_UNJUDGED;
        return SV_OK;
    }
    if (c->passage != SV_PASSAGE_UNJUDGED && live->stages.held == NULL)
        return SV_OK;
    SV_TRY(sv__live_carry(live->ctx, before, f, &old));
    sv_status status = forget_silence(live->ctx, f, c->routes, old);
    if (status == SV_OK)
        status = sv_verify_transition(live->ctx, f, old, c->whole, live->options.traffic, &found);
    if (status == SV_OK)
        c->passage = weigh(found);
    sv_transition_free(found);
    sv_routes_free(old);
    return status;
}
