/*
 * dragonfly.c: engines dla and d3r: at most one cable between groups, and two VLs.
 *
 * Both find the groups (structure/dragonfly.c) and go from the source to a switch with a cable into
 * the group of the destination, over that cable, and on to the destination. Whoever has several
 * ways of equal length takes the one of least weight, as sssp does: so several cables between two
 * groups and parallel cables are shared. They differ in what keeps packets from waiting for each
 * other in a circle.
 *
 * dla (Kim et al. 2008; Maglione-Mathey et al. 2019, Figs. 4 and 8) needs groups in which every two
 * switches have a cable. A packet takes one local cable in the group it comes from and one in the
 * group it goes to, the latter on VL 1: a switch sees that from its ports alone, because what
 * comes in from another group and leaves inside the group is on its last hop. So dependencies lead
 * from local cables on VL 0 to global ones, from those to local cables on VL 1, and from there
 * nowhere. One SL is enough, for packets of switches, too.
 *
 * d3r (Maglione-Mathey et al., TPDS 2018) asks nothing of groups but that they hold together. The
 * VL of the whole path says whether its group of destination comes after that of its source (VL
 * 0) or before (VL 1); packets that stay in a group are on VL 0. On VL 0 a packet that
 * changes groups enters a later one, so no chain of dependencies comes back to a group that it has
 * left: a circle would have to lie within one group, of local cables alone. On VL 1 the same
 * holds the other way round. Inside a group there is none either: where every two switches have a
 * cable, no packet takes two local ones in a row; elsewhere packets go up first and then down, in
 * an order of the group's switches (orient.h says why that joins them all), whether they look for a
 * way out of their group, come in or stay.
 *
 * A switch that can leave its group for another one by going down only must do so, as in updn: its
 * packets and those that come to it from above share an entry.
 *
 * Invariant of what ways are allowed: hops is the length of the shortest way of that form.
 * Cost: recognition, then O(channels) for each switch with destinations and O(ways) a destination.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "routing/sssp.h"
#include "structure/dragonfly.h"
#include "vls/vls.h"

struct flight {
    sv__sssp x;
    sv_dragonfly d;
    bool *complete;   /* [groups]: every two switches have a cable */
    uint32_t *place;  /* [switches]: up is to a smaller place, in groups that are not complete */
    uint32_t *ranked; /* the members of groups by place, laid out as d.members */
};

/* ---- ways ---- */

/*
 * The shortest ways in a complete group, to those members that have hops already. Whoever has a
 * cable of its own out of the group may as well go to a neighbour whose cable leads to the very
 * home.
 */
static uint32_t settle_complete(const struct flight *y, uint32_t group, uint32_t *order,
                                uint32_t *hops, uint32_t tail)
{
    const uint32_t *member = y->d.members + y->d.first[group];
    const uint32_t *end = y->d.members + y->d.first[group + 1];
    uint32_t min = SV_NONE;
    for (const uint32_t *m = member; m < end; m++)
        min = hops[*m] < min ? hops[*m] : min;
    if (min == SV_NONE)
        return tail;
    for (const uint32_t *m = member; m < end; m++)
        if (hops[*m] == min)
            order[tail++] = *m;
    for (const uint32_t *m = member; m < end; m++)
        if (hops[*m] != min) {
            hops[*m] = min + 1;
            order[tail++] = *m;
        }
    return tail;
}

/* The shortest that a switch has to neighbours of its group above or below it. */
static uint32_t nearest(const struct flight *y, uint32_t s, bool below, const uint32_t *hops,
                        const bool *down)
{
    const sv_core *core = &y->x.core;
    uint32_t min = SV_NONE;
    for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
        uint32_t to = core->neighbour[e];
        if (y->d.group[to] == y->d.group[s] && (y->place[to] > y->place[s]) == below &&
            (!below || down[to]) && hops[to] < min - 1)
            min = hops[to] + 1;
    }
    return min;
}

/* The same up and then down, where they are not complete: first who can go down only. */
static uint32_t settle_ordered(const struct flight *y, uint32_t group, uint32_t *order,
                               uint32_t *hops, bool *down, uint32_t tail)
{
    uint32_t begin = y->d.first[group], end = y->d.first[group + 1];
    for (uint32_t i = end; i-- > begin;) {
        uint32_t s = y->ranked[i], way = nearest(y, s, true, hops, down);
        hops[s] = way < hops[s] ? way : hops[s];
        down[s] = hops[s] != SV_NONE;
        if (down[s])
            order[tail++] = s;
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t s = y->ranked[i];
        if (down[s])
            continue;
        hops[s] = nearest(y, s, false, hops, down);
        if (hops[s] != SV_NONE)
            order[tail++] = s;
    }
    return tail;
}

static uint32_t settle(const struct flight *y, uint32_t group, uint32_t *order, uint32_t *hops,
                       bool *down, uint32_t tail)
{
    return y->complete[group] ? settle_complete(y, group, order, hops, tail)
                              : settle_ordered(y, group, order, hops, down, tail);
}

/* mark: first who is in the group of the home, then who goes down. */
static uint32_t search(void *engine, uint32_t home, uint32_t *order, uint32_t *hops, bool *mark)
{
    const struct flight *y = engine;
    const sv_core *core = &y->x.core;
    const sv_dragonfly *d = &y->d;
    uint32_t n = core->num_switches, group = d->group[home], tail;
    memset(hops, 0xff, n * sizeof *hops);
    memset(mark, 0, (size_t)n * 2 * sizeof *mark);
    hops[home] = 0;
    tail = settle(y, group, order, hops, mark + n, 0);
    for (uint32_t k = d->first[group]; k < d->first[group + 1]; k++)
        mark[d->members[k]] = true;
    for (uint32_t k = d->first[group]; k < d->first[group + 1]; k++) {
        uint32_t s = d->members[k];
        for (uint32_t e = core->first[s]; e < core->first[s + 1]; e++) {
            uint32_t from = core->neighbour[e];
            if (!mark[from] && hops[s] + 1 < hops[from])
                hops[from] = hops[s] + 1;
        }
    }
    for (uint32_t i = 0; i < d->num_groups; i++)
        if (i != group)
            tail = settle(y, i, order, hops, mark + n, tail);
    return tail;
}

/* From group to group only into that of the home; inside a group as settled. */
static bool allow(void *engine, const bool *mark, uint32_t from, uint32_t to)
{
    const struct flight *y = engine;
    const bool *down = mark + y->x.core.num_switches;
    uint32_t group = y->d.group[from];
    if (y->d.group[to] != group)
        return mark[to];
    if (y->complete[group])
        return true;
    bool goes_down = y->place[to] > y->place[from];
    return down[from] ? goes_down && down[to] : !goes_down;
}

/* ---- groups ---- */

/* Members by number of neighbours in the group, most first; marks complete groups. */
static uint32_t *rank_members(struct flight *y, uint32_t group, uint32_t *friends)
{
    const sv_dragonfly *d = &y->d;
    uint32_t begin = d->first[group], size = d->first[group + 1] - begin, top = begin;
    y->complete[group] = true;
    for (uint32_t i = begin; i < begin + size; i++) {
        uint32_t s = d->members[i];
        friends[s] = 0;
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1]; k++)
            friends[s] += d->group[d->near[k]] == group;
        y->complete[group] = y->complete[group] && friends[s] == size - 1;
        top = friends[s] > friends[d->members[top]] ? i : top;
    }
    return &d->members[top];
}

/*
 * An order of a group in which all but the first have a neighbour before them: breadth first from
 * the switch with the most neighbours.
 */
static void order_group(struct flight *y, uint32_t group, uint32_t root)
{
    const sv_dragonfly *d = &y->d;
    uint32_t head = d->first[group], tail = head;
    y->place[root] = tail;
    y->ranked[tail++] = root;
    while (head < tail) {
        uint32_t s = y->ranked[head++];
        for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1]; k++) {
            uint32_t to = d->near[k];
            if (d->group[to] != group || y->place[to] != SV_NONE)
                continue;
            y->place[to] = tail;
            y->ranked[tail++] = to;
        }
    }
}

static sv_status order_groups(struct flight *y)
{
    sv_arena *arena = y->x.job->arena;
    size_t n = y->x.core.num_switches;
    uint32_t *friends = SV_ARENA_NEW(arena, uint32_t, n);
    y->complete = SV_ARENA_NEW(arena, bool, y->d.num_groups);
    y->place = SV_ARENA_NEW(arena, uint32_t, n);
    y->ranked = SV_ARENA_NEW(arena, uint32_t, n);
    if (friends == NULL || y->complete == NULL || y->place == NULL || y->ranked == NULL)
        return SV_NO_MEMORY;
    memset(y->place, 0xff, n * sizeof *y->place);
    for (uint32_t i = 0; i < y->d.num_groups; i++)
        order_group(y, i, *rank_members(y, i, friends));
    return SV_OK;
}

static const char *name_of(const struct flight *y, uint32_t s)
{
    return sv_node_name(y->x.job->fabric, (sv_node){s});
}

static const char *first_of(const struct flight *y, uint32_t group)
{
    return name_of(y, y->d.members[y->d.first[group]]);
}

static void report(const struct flight *y)
{
    const sv_dragonfly *d = &y->d;
    sv__routing_job *job = y->x.job;
    char size[40], between[60] = "";
    uint32_t sizes[] = {d->smallest, d->largest}, cables[] = {d->fewest_between, d->max_between};
    if (d->smallest == d->largest)
        snprintf(size, sizeof size, "%u", d->largest);
    else
        snprintf(size, sizeof size, "%u to %u", d->smallest, d->largest);
    if (d->num_groups > 1 && cables[0] == cables[1])
        snprintf(between, sizeof between, ", each pair %u cable%s", cables[0],
                 cables[0] == 1 ? "" : "s");
    else if (d->num_groups > 1)
        snprintf(between, sizeof between, ", each pair %u to %u cables", cables[0], cables[1]);
    sv__found(job, "dragonfly", "%u group%s of %s switches%s", d->num_groups,
              d->num_groups == 1 ? "" : "s", size, between);
    sv__fact(job, "groups", d->num_groups);
    sv__fact_list(job, "size", sizes, d->smallest == d->largest ? 1 : 2);
    sv__fact(job, "local_cables", d->local_cables);
    sv__fact(job, "global_cables", d->global_cables);
    sv__fact_list(job, "between", cables, cables[0] == cables[1] ? 1 : 2);
}

/* ---- both ---- */

/* 0: it is to be found. */
static uint32_t group_size(const sv__routing_job *job)
{
    const char *value = sv__job_option(job, "group-size");
    uint64_t size = 0;
    if (value != NULL && strcmp(value, "auto") != 0)
        sv_span_number(sv_span_of(value), UINT32_MAX, &size);
    return (uint32_t)size;
}

/* What was tried, and where it fails. */
static sv_status not_found(const struct flight *y, const char *engine)
{
    const sv_dragonfly *d = &y->d;
    sv__routing_job *job = y->x.job;
    bool groups = d->unjoined_groups > 0;
    return sv_fail(
        job->ctx, SV_INFEASIBLE,
        "%s is for dragonflies, and no groups can be told apart here: the best is %s, "
        "and no cable joins %s'%s' and '%s' (option group-size=N if consecutive switches "
        "make groups)",
        engine, job->report->structure.words, groups ? "those of " : "",
        groups ? first_of(y, d->strangers[0]) : name_of(y, d->apart[0]),
        groups ? first_of(y, d->strangers[1]) : name_of(y, d->apart[1]));
}

/* Finds groups and refuses those that neither engine can do. */
static sv_status find_groups(struct flight *y, sv__routing_job *job, const char *engine)
{
    const sv_dragonfly *d = &y->d;
    uint32_t size = group_size(job);
    SV_TRY(sv__sssp_init(&y->x, job, y, search, allow));
    SV_TRY(sv_dragonfly_find(&y->d, job->arena, &y->x.core, job->fabric, size));
    report(y);
    if (!d->found)
        return not_found(y, engine);
    if (d->split != SV_NONE)
        return sv_fail(job->ctx, SV_INFEASIBLE,
                       "the group of '%s' (%u switches) falls apart: no way inside it joins all",
                       first_of(y, d->split), d->first[d->split + 1] - d->first[d->split]);
    if (d->unjoined_groups > 0)
        return sv_fail(job->ctx, SV_INFEASIBLE,
                       "no cable joins the groups of '%s' and '%s' (of %s; %llu of the pairs lack "
                       "one)",
                       first_of(y, d->strangers[0]), first_of(y, d->strangers[1]),
                       job->report->structure.words, (unsigned long long)d->unjoined_groups);
    return order_groups(y);
}

/* Says how many VLs there must be. */
static sv_status need(const struct flight *y, const char *engine, unsigned vls)
{
    sv__routing_job *job = y->x.job;
    job->report->vls_needed = job->report->vls_used = vls;
    if (vls > job->vls)
        return sv_fail(job->ctx, SV_INFEASIBLE, "%s needs 2 VLs, 1 is there", engine);
    return SV_OK;
}

/* ---- dla ---- */

/* Whether some packet comes in from another group and goes on inside: this is what VL 1 is for.
 */
static bool some_go_on(const struct flight *y, const sv_core_ports *ports)
{
    const sv__routing_job *job = y->x.job;
    const uint32_t *group = y->d.group;
    for (uint32_t d = 0; d < job->routes->num_destinations; d++) {
        const uint8_t *row = job->routes->ports[d];
        uint32_t home = sv__home_of(job, d);
        for (uint32_t s = 0; home != SV_NONE && s < y->x.core.num_switches; s++) {
            if (group[s] == SV_NONE || group[s] == group[home] || row[s] == SV_NO_PORT)
                continue;
            uint32_t next = y->x.core.to[sv_core_entry(ports, s, row[s])];
            if (next != home && group[next] == group[home])
                return true;
        }
    }
    return false;
}

/* What comes in from another group and stays in this one goes VL 1 (Fig. 8). */
static sv_status set_vls(const struct flight *y)
{
    const sv_core *core = &y->x.core;
    const sv__routing_job *job = y->x.job;
    sv_sl2vl last = {{0}};
    for (unsigned sl = 0; sl < job->routes->num_sls; sl++)
        last.of_sl[sl] = 1;
    uint32_t table = sv_routes_sl2vl_table(job->ctx, job->routes, &last);
    if (table == SV_NONE)
        return SV_NO_MEMORY;
    for (uint32_t in = 0; in < core->num_entries; in++) {
        uint32_t s = core->to[in];
        if (y->d.group[core->neighbour[in]] == y->d.group[s])
            continue;
        for (uint32_t out = core->first[s]; out < core->first[s + 1]; out++)
            if (y->d.group[core->neighbour[out]] == y->d.group[s])
                SV_TRY(sv_routes_set_sl2vl(job->ctx, job->fabric, job->routes, (sv_node){s},
                                           core->port[in], core->port[out], table));
    }
    return SV_OK;
}

static sv_status route_dla(sv__routing_job *job)
{
    struct flight y = {0};
    sv_core_ports ports;
    SV_TRY(find_groups(&y, job, "dla"));
    if (y.d.unjoined_switches > 0)
        return sv_fail(job->ctx, SV_INFEASIBLE,
                       "no cable joins '%s' and '%s', which are in one group, and dla needs one "
                       "(of %s; %llu pairs inside groups lack one)",
                       name_of(&y, y.d.apart[0]), name_of(&y, y.d.apart[1]),
                       job->report->structure.words, (unsigned long long)y.d.unjoined_switches);
    SV_TRY(sv__sssp_run(&y.x));
    SV_TRY(sv_core_ports_init(&ports, job->arena, &y.x.core, job->fabric));
    bool two = y.d.num_groups > 1 && some_go_on(&y, &ports);
    SV_TRY(need(&y, "dla", two ? 2 : 1));
    return two ? set_vls(&y) : SV_OK;
}

/* ---- d3r ---- */

static sv_status route_d3r(sv__routing_job *job)
{
    struct flight y = {0};
    SV_TRY(find_groups(&y, job, "d3r"));
    bool alone = y.d.max_between == 0; /* no two groups are in one part */
    SV_TRY(need(&y, "d3r", alone ? 1 : 2));
    SV_TRY(sv__sssp_run(&y.x));
    if (alone)
        return SV_OK;
    SV_TRY(sv_routes_set_sl_form(job->ctx, job->routes, SV_SL_BY_SWITCH));
    for (uint32_t to = 0; to < job->routes->num_destinations; to++) {
        uint8_t *sls = sv_routes_sl_row(job->ctx, job->routes, to);
        uint32_t home = sv__home_of(job, to);
        if (sls == NULL)
            return SV_NO_MEMORY;
        uint32_t group = home == SV_NONE ? SV_NONE : y.d.group[home];
        for (uint32_t s = 0; s < job->routes->num_switches; s++)
            sls[s] = group != SV_NONE && y.d.group[s] != SV_NONE && y.d.group[s] > group;
    }
    job->report->sls_used = 2;
    return sv_sl2vl_identity(job->ctx, job->routes, 2);
}

static const sv_engine_option options[] = {
    {"group-size", "auto|N", "switches of a group, if their numbers are consecutive"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_dla = {
    {"dla", "fully connected dragonflies: two VLs by ports, one SL",
     "Kim et al. 2008; Maglione-Mathey et al. 2019, Figs. 4 and 8",
     SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS | SV_ENGINE_ONE_SL | SV_ENGINE_BY_PORTS, options},
    route_dla};

const sv__engine sv__engine_d3r = {
    {"d3r", "dragonflies with groups of any pattern: two VLs by the order of groups",
     "Maglione-Mathey et al., TPDS 2018", SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_VLS, options},
    route_d3r};
