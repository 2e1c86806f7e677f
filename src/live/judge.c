/*
 * judge.c: whether tables may be used: no packet circles, none can wait for ever, multicast packets
 * included, and everybody reaches everybody whom cables allow.
 *
 * Idea: for each SL that multicast groups have, one tree over all switches with every terminal on
 * it. Every group is a part of such a tree, so what is proven for the trees holds for all groups
 * that there are and will be. All proofs are verify/'s.
 *
 * Invariant: c->safe is true only if verify/ said so about exactly these tables and trees.
 * Cost: one or two of sv_verify.
 */
#include <stdio.h>
#include <string.h>

#include "base/bitset.h"
#include "base/text.h"
#include "fabric/derive.h"
#include "live/live.h"

void sv__live_candidate_release(sv__live_candidate *c)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        sv_mtree_free(c->trees[sl]);
    sv_verification_free(c->found);
    sv_routes_free(c->whole);
    sv_routes_free(c->routes);
    *c = (sv__live_candidate){0};
}

/* ---- trees ---- */

/*
 * The tree of an SL. Tables that nobody uses yet may have the names of SLs exchanged for it; those
 * that are in use, more or less, may not, nor those whose last SL is for high addresses.
 */
static sv_status plant(sv_live *live, const sv_fabric *f, sv__live_candidate *c, unsigned sl)
{
    const sv_mtree *others[SV_HARDWARE_SLS];
    size_t count = 0;
    unsigned swapped = sl;
    bool in_use = c->how == SV_LIVE_REPAIRED || c->how == SV_LIVE_REINSTALLED ||
                  (live->options.update == SV_LIVE_FIVE && c->routes->lmc > 0);
    for (unsigned i = 0; i < SV_HARDWARE_SLS; i++)
        if (c->trees[i] != NULL)
            others[count++] = c->trees[i];
    if (c->own_vl > 0 && count == 0)
        return sv_mtree_own_vl(live->ctx, f, c->routes, live->options.traffic, sl, c->own_vl,
                               others, count, &c->trees[sl], &swapped);
    if (in_use)
        return sv_mtree_new(live->ctx, f, c->routes, live->options.traffic, sl, others, count,
                            &c->trees[sl]);
    return sv_mtree_make_room(live->ctx, f, c->routes, live->options.traffic, sl, others, count,
                              &c->trees[sl], &swapped);
}

/* The tables with all trees as groups. */
static sv_status with_groups(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    sv_routes_free(c->whole);
    c->whole = NULL;
    SV_TRY(sv_routes_clone(live->ctx, c->routes, &c->whole));
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        if (c->trees[sl] != NULL)
            SV_TRY(sv_mtree_add_all(live->ctx, c->trees[sl], f, c->whole, 0xc000 + sl));
    return SV_OK;
}

static sv_status plant_all(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS && !live->options.no_multicast; sl++)
        if (live->group_sls >> sl & 1 && c->trees[sl] == NULL)
            SV_TRY(plant(live, f, c, sl));
    return with_groups(live, f, c);
}

/*
 * Repaired tables keep the trees that are in the switches, as far as these still join everybody:
 * then no multicast table changes.
 */
static sv_status keep_trees(sv_live *live, const sv_fabric *f, sv__live_candidate *c, bool *kept)
{
    sv_match *match = NULL;
    *kept = false;
    if ((c->how != SV_LIVE_REPAIRED && c->how != SV_LIVE_REINSTALLED) || live->now.routes == NULL)
        return SV_OK;
    SV_TRY(sv_match_new(live->ctx, live->now.fabric, f, SV_MATCH_GUID, &match));
    sv_status status = SV_OK;
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS && status == SV_OK; sl++)
        if (live->group_sls >> sl & 1 && live->used.trees[sl] != NULL) {
            status = sv_mtree_carry(live->ctx, live->used.trees[sl], f, match, &c->trees[sl]);
            *kept |= status == SV_OK;
            if (status == SV_INFEASIBLE)
                status = SV_OK;
        }
    sv_match_free(match);
    return status;
}

static void fell_trees(sv__live_candidate *c)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++) {
        sv_mtree_free(c->trees[sl]);
        c->trees[sl] = NULL;
    }
}

/* ---- who could be reached ---- */

static uint64_t count_bits(const uint64_t *set, uint32_t length)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < length; i++)
        count += sv_bit(set, i);
    return count;
}

/* Pairs of each kind that no tables could join. */
static sv_status count_split(sv_ctx *ctx, const sv_fabric *f, unsigned lmc,
                             uint64_t split[SV_PAIRS_COUNT])
{
    sv_arena arena;
    uint64_t t = f->live_terminals, s = f->live_switches, switches = 0;
    memset(split, 0, SV_PAIRS_COUNT * sizeof *split);
    sv_arena_init(&arena, ctx);
    uint64_t *seen = sv_bitset_new(&arena, sv_num_nodes(f));
    uint32_t *stack = SV_ARENA_NEW(&arena, uint32_t, sv_num_nodes(f));
    for (uint32_t v = 0; seen != NULL && stack != NULL && v < sv_num_nodes(f); v++) {
        if (!sv_node_alive(f, (sv_node){v}) || sv_bit(seen, v))
            continue;
        uint64_t terminals = sv_flood(f, (sv_node){v}, false, seen, stack), before = switches;
        switches = count_bits(seen, f->num_switches);
        uint64_t here = switches - before;
        split[SV_PAIRS_TERMINAL_TERMINAL] += terminals * (t - terminals) << lmc;
        split[SV_PAIRS_TERMINAL_SWITCH] += terminals * (s - here);
        split[SV_PAIRS_SWITCH_TERMINAL] += here * (t - terminals) << lmc;
        split[SV_PAIRS_SWITCH_SWITCH] += here * (s - here);
    }
    sv_status status = seen == NULL || stack == NULL ? SV_NO_MEMORY : SV_OK;
    sv_arena_release(&arena);
    return status;
}

static uint64_t beyond(uint64_t lost, uint64_t split)
{
    return lost > split ? lost - split : 0;
}

static sv_status count_lost(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    uint64_t split[SV_PAIRS_COUNT];
    const uint64_t *lost = c->found->unreachable;
    SV_TRY(count_split(live->ctx, f, c->routes->lmc, split));
    c->lost = beyond(lost[SV_PAIRS_TERMINAL_TERMINAL], split[SV_PAIRS_TERMINAL_TERMINAL]);
    c->lost_others = beyond(lost[SV_PAIRS_TERMINAL_SWITCH], split[SV_PAIRS_TERMINAL_SWITCH]) +
                     beyond(lost[SV_PAIRS_SWITCH_TERMINAL], split[SV_PAIRS_SWITCH_TERMINAL]);
    if (live->options.traffic == SV_TRAFFIC_ALL)
        c->lost_others += beyond(lost[SV_PAIRS_SWITCH_SWITCH], split[SV_PAIRS_SWITCH_SWITCH]);
    c->whole_reach = c->lost + c->lost_others == 0;
    return SV_OK;
}

/* ---- what is wrong ---- */

/* The witness: who waits for whom, in one line. */
static void print_cycle(sv_text *out, const sv_fabric *f, const sv_verification *v)
{
    enum { MAX = 8 };
    for (size_t i = 0; i < v->cycle_length && i < MAX; i++)
        sv_text_print(out, "%s\"%s\" port %u VL%u", i == 0 ? ": " : " -> ",
                      sv_node_name(f, f->tail[v->cycle[i].channel.i]),
                      f->port[v->cycle[i].channel.i], v->cycle[i].vl);
    if (v->cycle_length > MAX)
        sv_text_print(out, " -> %zu more", v->cycle_length - MAX);
    if (v->cycle_length > 0)
        sv_text_print(out, " -> where it began");
}

static void explain(sv_live *live, const sv_fabric *f, const sv__live_candidate *c, char *text,
                    size_t size)
{
    const sv_verification *v = c->found;
    sv_text out;
    text[0] = 0;
    if (c->safe && c->whole_reach)
        return;
    sv_text_init(&out, live->ctx, NULL);
    sv_text_print(&out, "tables of %s", c->engine);
    if (v->loops > 0)
        sv_text_print(&out, " go round in circles, for example to \"%s\" at \"%s\"",
                      sv_node_name(f, c->routes->node[v->loop_destination]),
                      sv_node_name(f, v->loop_at));
    else if (!c->safe && v->cycle_length > 0) {
        sv_text_print(&out, " can deadlock");
        print_cycle(&out, f, v);
    } else if (!c->safe)
        sv_text_print(&out, " cannot be proven: SLs or VLs are not known");
    else
        sv_text_print(&out, " leave %llu pairs of terminals and %llu with switches without a path",
                      (unsigned long long)c->lost, (unsigned long long)c->lost_others);
    if (out.at != NULL)
        snprintf(text, size, "%s", out.at);
    sv_text_release(&out);
}

/* Whether some SL goes to a VL that a port does not have: hardware would fold it onto another. */
static bool folds(const sv_sl2vl *map, unsigned vls)
{
    for (unsigned sl = 0; sl < SV_HARDWARE_SLS; sl++)
        if (map->of_sl[sl] != SV_NO_VL && map->of_sl[sl] >= vls)
            return true;
    return false;
}

/* Every VL that tables lead to must be there, on every cable between switches. */
static sv_status check_vls(sv_live *live, const sv_fabric *f, const sv__live_candidate *c)
{
    for (uint32_t s = 0; s < f->num_switches; s++)
        SV_FOR_HOPS (f, ((sv_node){s}), hop) {
            unsigned vls = sv_link_of(f, hop->channel)->vls, out = f->port[hop->channel.i];
            unsigned max = c->routes->sl2vl_by_port[s] != NULL ? f->switches[s].ports : 0;
            if (!sv_is_switch(f, hop->to) || vls == 0)
                continue;
            for (unsigned in = 0; in <= max; in++)
                if (folds(sv_route_sl2vl(c->routes, f, (sv_node){s}, in, out), vls))
                    return sv_fail(live->ctx, SV_INFEASIBLE,
                                   "tables of %s use more VLs than the %u of \"%s\" port %u",
                                   c->engine, vls, f->switches[s].name, out);
        }
    return SV_OK;
}

static sv_status verify(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    sv_traffic traffic = live->options.traffic;
    sv_verification_free(c->found);
    c->found = NULL;
    SV_TRY(sv_routes_check(live->ctx, f, c->routes));
    SV_TRY(check_vls(live, f, c));
    SV_TRY(sv_verify(live->ctx, f, c->whole, NULL, &c->found));
    c->safe = c->found->loops == 0 && c->found->deadlock_free[traffic] == SV_VERDICT_YES &&
              c->found->together[traffic] == SV_VERDICT_YES &&
              c->found->multicast == SV_VERDICT_YES;
    return count_lost(live, f, c);
}

/* Tables without orders get those that the proof came by: a repair will need them. */
sv_status sv__live_keep_orders(sv_live *live, const sv_fabric *f, sv__live_candidate *c)
{
    uint32_t *numbers;
    sv_routes *r = c->routes;
    if (r->orders != NULL || c->found->order == NULL)
        return SV_OK;
    SV_TRY(sv_routes_set_orders(live->ctx, f, r, c->found->order_vls, &numbers));
    memcpy(numbers, c->found->order,
           (size_t)r->order_first[f->num_switches] * r->order_vls * sizeof *numbers);
    return SV_OK;
}

/* Plants and verifies; what was planted is not what is wrong if unicast alone can deadlock. */
static sv_status plant_and_verify(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c)
{
    sv_status planted = plant_all(live, fabric, c);
    if (planted != SV_OK && planted != SV_INFEASIBLE)
        return planted;
    if (planted == SV_INFEASIBLE) {
        char why[200];
        snprintf(why, sizeof why, "%s", sv_ctx_message(live->ctx));
        SV_TRY(with_groups(live, fabric, c));
        SV_TRY(verify(live, fabric, c));
        live->no_room |= c->safe;
        if (c->safe)
            return sv_fail(live->ctx, SV_INFEASIBLE, "tables of %s leave no room for multicast: %s",
                           c->engine, why);
        return SV_OK;
    }
    return verify(live, fabric, c);
}

sv_status sv__live_judge(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c, char *text,
                         size_t size)
{
    bool kept = false;
    SV_TRY(keep_trees(live, fabric, c, &kept));
    sv_status status = plant_and_verify(live, fabric, c);
    if (kept && ((status == SV_OK && !c->safe) || status == SV_INFEASIBLE)) {
        fell_trees(c);
        status = plant_and_verify(live, fabric, c);
    }
    SV_TRY(status);
    explain(live, fabric, c, text, size);
    if (!c->safe)
        return SV_OK;
    SV_TRY(sv__live_keep_orders(live, fabric, c));
    return sv_routes_load(live->ctx, fabric, c->routes, NULL, &c->load);
}

sv_status sv__live_verify_again(sv_live *live, const sv_fabric *fabric, sv__live_candidate *c)
{
    SV_TRY(with_groups(live, fabric, c));
    SV_TRY(verify(live, fabric, c));
    return c->safe ? SV_OK : sv_fail(live->ctx, SV_INFEASIBLE, "a copy of tables is not as good");
}

sv_status sv__live_add_tree(sv_live *live, unsigned sl)
{
    const sv_fabric *f = live->now.fabric;
    sv__live_candidate *used = &live->used, trial = {.routes = live->now.routes,
                                                     .how = SV_LIVE_REPAIRED,
                                                     .engine = live->report.engine};
    char text[512] = "";
    memcpy(trial.trees, used->trees, sizeof trial.trees);
    sv_status status = plant(live, f, &trial, sl);
    if (status == SV_OK)
        status = with_groups(live, f, &trial);
    if (status == SV_OK)
        status = verify(live, f, &trial);
    if (status == SV_OK && !trial.safe) {
        explain(live, f, &trial, text, sizeof text);
        status = sv_fail(live->ctx, SV_INFEASIBLE, "SL %u has no multicast tree: %s", sl, text);
    }
    if (status == SV_OK) {
        used->trees[sl] = trial.trees[sl];
        trial.trees[sl] = NULL;
    } else {
        sv_mtree_free(trial.trees[sl]);
    }
    sv_verification_free(trial.found);
    sv_routes_free(trial.whole);
    return status;
}
