/*
 * ftree.c: engine ftree: fat-tree routing that shift patterns cannot contend in (thesis Alg. 3.2 to
 * 3.4, after Zahavi et al.).
 *
 * Hosts are routed one after the other in tree order. From a host's switch a chain climbs to the
 * top, at each step over the cable on which the fewest hosts come down yet; from the chain
 * everything below is served: all others of a subtree send packets for that host up to where they
 * meet the chain. So in a full tree every down cable carries packets for one host in as many as
 * there are ways, the hosts of a leaf leave by all its up cables in turn, and when all hosts send
 * to the one s places further, no two meet on a cable, for any s (a test shows all of them).
 *
 * Every hop keeps to an order of the switches (treeorder.c), first up and then down: no tree can
 * deadlock, on one VL, whatever has failed, and what is no leaf is reached, too: roots, hosts on
 * roots, management switches. A switch that no chain serves, because cables are missing, takes the
 * cable with the fewest routes of those that lead closer.
 *
 * Each leaf may be treated as if it had as many hosts as the fullest (align), so that hosts with
 * the same number on their leaf are reached by the same cables everywhere. Where leaves have no
 * more hosts than cables up, that can keep shifts free of contention although some hosts are
 * missing (a 10-ary 3-tree with 750 hosts: 1 flow on a cable at most instead of 2; a 6-ary one with
 * 162: 2 either way); where they have more, it only makes loads less even. I/O nodes, and hosts
 * that are neither compute nor I/O nodes, have counts of their own: they share the cables evenly
 * among themselves.
 *
 * Cost: O(channels) for each switch with destinations, O(switches) for each destination.
 */
#include <string.h>

#include "routing/orient.h"
#include "routing/treeorder.h"

struct ftree {
    sv__routing_job *job;
    sv_core core;
    sv_fat_tree tree;
    sv__tree_order up_down;
    sv__updn ways;

    /* Cables of a switch that lead up and down by level: entries into it, sorted. */
    uint32_t *above_first, *above; /* the first cable to each neighbour before any second one */
    uint32_t *below_first, *below;

    /* The ways to the home at hand. */
    uint32_t home, reached;
    uint32_t *order, *hops;
    uint32_t *via; /* [switches]: an entry that each may leave by */
    bool *down;
    bool *ancestor; /* [switches]: from where all ways to the home lead down a level at each hop */
    uint8_t *base;  /* [switches]: a row that is right for every destination of the home */

    uint64_t *count;   /* [entries]: routes to hosts, of the kind at hand, that take it */
    uint64_t *total;   /* [entries]: of all kinds */
    uint32_t *through; /* [switches]: chains that it is on */
    uint32_t *served;  /* [switches]: the last destination whose chain served it */
    uint32_t *taken;   /* [switches]: the entry it then took */
    uint64_t *flow;    /* [switches]: hosts that send over it to the destination at hand */
    uint32_t *queue, *way, stamp;
    bool *switch_done; /* [switches]: its own row is there */
    uint64_t unsafe;   /* paths that only switches without hosts use */
};

/* Whether the neighbour behind an entry may take it towards the home: e leads into s. */
static inline bool leads_closer(const struct ftree *x, uint32_t s, uint32_t e)
{
    uint32_t from = x->core.neighbour[e];
    return x->hops[from] == x->hops[s] + 1 && x->hops[from] != SV_NONE &&
           sv__updn_allows(x->up_down.place, x->down, from, s);
}

/* ---- what stays the same ---- */

/* Sorts the entries of a switch by how many before them lead to the same neighbour, then by it. */
static void sort_above(const struct ftree *x, uint32_t *list, uint32_t length)
{
    for (uint32_t i = 1; i < length; i++) { /* few, and mostly sorted */
        uint32_t e = list[i], k = i;
        for (; k > 0 && x->core.neighbour[list[k - 1]] > x->core.neighbour[e]; k--)
            list[k] = list[k - 1];
        list[k] = e;
    }
    for (uint32_t done = 0; done < length;) { /* one of each neighbour to the front, in order */
        uint32_t last = SV_NONE, put = done;
        for (uint32_t i = done; i < length; i++) {
            uint32_t e = list[i];
            if (x->core.neighbour[e] == last)
                continue;
            last = x->core.neighbour[e];
            memmove(list + put + 1, list + put, (i - put) * sizeof *list);
            list[put++] = e;
        }
        done = put;
    }
}

/* Lists cables by where they lead. */
static sv_status list_cables(struct ftree *x)
{
    const uint32_t *level = x->tree.level;
    uint32_t n = x->core.num_switches, up = 0, low = 0;
    x->above_first = SV_ARENA_NEW(x->job->arena, uint32_t, (size_t)n + 1);
    x->below_first = SV_ARENA_NEW(x->job->arena, uint32_t, (size_t)n + 1);
    x->above = SV_ARENA_NEW(x->job->arena, uint32_t, x->core.num_entries);
    x->below = SV_ARENA_NEW(x->job->arena, uint32_t, x->core.num_entries);
    if (x->above_first == NULL || x->below_first == NULL || x->above == NULL || x->below == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++) {
        x->above_first[s] = up;
        x->below_first[s] = low;
        for (uint32_t e = x->core.first[s]; e < x->core.first[s + 1]; e++) {
            uint32_t other = level[x->core.neighbour[e]];
            if (level[s] == SV_NONE || other == SV_NONE || other == level[s])
                continue;
            if (other > level[s])
                x->above[up++] = e;
            else
                x->below[low++] = e;
        }
        sort_above(x, x->above + x->above_first[s], up - x->above_first[s]);
    }
    x->above_first[n] = up;
    x->below_first[n] = low;
    return SV_OK;
}

static sv_status init(struct ftree *x, sv__routing_job *job)
{
    uint32_t n = job->fabric->num_switches;
    x->job = job;
    x->home = SV_NONE;
    SV_TRY(sv_core_init(&x->core, job->arena, job->fabric));
    SV_TRY(sv_fat_tree_find(&x->tree, job->arena, job->fabric, &x->core, job->request->roots,
                            job->request->num_roots));
    SV_TRY(sv_fat_tree_fits(job->ctx, &x->tree, job->fabric, "ftree"));
    x->order = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->hops = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->via = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->down = SV_ARENA_NEW(job->arena, bool, n);
    x->ancestor = SV_ARENA_NEW(job->arena, bool, n);
    x->base = SV_ARENA_NEW(job->arena, uint8_t, n);
    x->count = SV_ARENA_NEW(job->arena, uint64_t, x->core.num_entries);
    x->total = SV_ARENA_NEW(job->arena, uint64_t, x->core.num_entries);
    x->served = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->through = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->taken = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->queue = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->flow = SV_ARENA_NEW(job->arena, uint64_t, n);
    x->way = SV_ARENA_NEW(job->arena, uint32_t, n);
    x->switch_done = SV_ARENA_NEW(job->arena, bool, n);
    if (x->order == NULL || x->hops == NULL || x->via == NULL || x->down == NULL ||
        x->ancestor == NULL || x->base == NULL || x->count == NULL || x->total == NULL ||
        x->served == NULL || x->through == NULL || x->taken == NULL || x->queue == NULL ||
        x->flow == NULL || x->way == NULL || x->switch_done == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv__tree_order_find(&x->up_down, job, &x->core, &x->tree));
    SV_TRY(sv__updn_init(&x->ways, job, &x->core, x->up_down.place));
    return list_cables(x);
}

/* ---- the ways to a home ---- */

/* Whether fewer routes, to hosts of the kind at hand and else of all, take one entry than another.
 */
static inline bool used_less(const struct ftree *x, uint32_t a, uint32_t b)
{
    return x->count[a] != x->count[b] ? x->count[a] < x->count[b] : x->total[a] < x->total[b];
}

/* Of the cables by which a switch may leave, that with the fewest routes. */
static uint32_t min_used(const struct ftree *x, uint32_t s)
{
    uint32_t best = SV_NONE;
    for (uint32_t back = x->core.first[s]; back < x->core.first[s + 1]; back++) {
        uint32_t to = x->core.neighbour[back], e = x->core.back[back];
        if (x->hops[to] + 1 != x->hops[s] || x->hops[to] == SV_NONE ||
            !sv__updn_allows(x->up_down.place, x->down, s, to))
            continue;
        bool served = x->served[to] == x->stamp;
        bool best_served = best != SV_NONE && x->served[x->core.to[best]] == x->stamp;
        if (best == SV_NONE || (served && !best_served) ||
            (served == best_served && used_less(x, e, best)))
            best = e;
    }
    return best;
}

/* Finds what stands above the home, and for each the cable down with the fewest routes. */
static void find_ancestors(struct ftree *x)
{
    uint32_t tail = 0;
    memset(x->ancestor, 0, x->core.num_switches * sizeof *x->ancestor);
    x->ancestor[x->home] = true;
    x->queue[tail++] = x->home;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t s = x->queue[head];
        for (uint32_t i = x->above_first[s]; i < x->above_first[s + 1]; i++) {
            uint32_t e = x->above[i], from = x->core.neighbour[e];
            if (!leads_closer(x, s, e))
                continue;
            if (!x->ancestor[from])
                x->queue[tail++] = from;
            if (!x->ancestor[from] || used_less(x, e, x->taken[from]))
                x->taken[from] = e;
            x->ancestor[from] = true;
        }
    }
    for (uint32_t i = 1; i < tail; i++)
        x->base[x->queue[i]] = x->core.entries[x->taken[x->queue[i]]].port;
}

/* Turns to a home: how far everybody is, and what stands above it. */
static void turn_to(struct ftree *x, uint32_t home)
{
    if (x->home == home)
        return;
    x->home = home;
    x->reached = sv__updn_search(&x->ways, home, x->order, x->hops, x->down, x->via);
    memset(x->base, SV_NO_PORT, x->core.num_switches);
    for (uint32_t i = 1; i < x->reached; i++)
        x->base[x->order[i]] = x->core.entries[x->via[x->order[i]]].port;
    find_ancestors(x);
}

/* ---- one destination ---- */

static void serve(struct ftree *x, uint32_t s, uint32_t e, uint32_t *tail)
{
    x->served[s] = x->stamp;
    x->taken[s] = e;
    x->queue[(*tail)++] = s;
}

/* The chain from the home to the top, which offset begins elsewhere; into queue. */
static uint32_t climb(struct ftree *x, uint32_t offset)
{
    uint32_t tail = 0, at = x->home;
    serve(x, at, SV_NONE, &tail);
    for (;;) {
        uint32_t first = x->above_first[at], length = x->above_first[at + 1] - first;
        uint32_t best = SV_NONE;
        for (uint32_t k = 0; k < length; k++) {
            uint32_t e = x->above[first + (k + offset) % length];
            if (!leads_closer(x, at, e))
                continue;
            uint32_t from = x->core.neighbour[e];
            if (best == SV_NONE || used_less(x, e, best) ||
                (!used_less(x, best, e) && x->through[from] < x->through[x->core.neighbour[best]]))
                best = e;
        }
        if (best == SV_NONE)
            return tail;
        at = x->core.neighbour[best];
        serve(x, at, best, &tail);
    }
}

/* From what is served down to what lies below it. Returns how many are served. */
static uint32_t descend(struct ftree *x, uint32_t tail)
{
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t s = x->queue[head];
        for (uint32_t i = x->below_first[s]; i < x->below_first[s + 1]; i++) {
            uint32_t e = x->below[i], from = x->core.neighbour[e];
            if (!leads_closer(x, s, e))
                continue;
            if (x->served[from] != x->stamp)
                serve(x, from, e, &tail);
            else if (!x->ancestor[from] && used_less(x, e, x->taken[from]))
                x->taken[from] = e;
        }
    }
    return tail;
}

/* Serves a switch by the cable with the fewest routes, and before it those on the way. */
static void serve_along(struct ftree *x, uint32_t s, uint32_t *tail)
{
    uint32_t length = 0;
    for (; x->served[s] != x->stamp; s = x->core.to[x->way[length++]])
        x->way[length] = min_used(x, s);
    while (length-- > 0)
        serve(x, x->core.neighbour[x->way[length]], x->way[length], tail);
}

/*
 * Switches with hosts that nobody served: each by the cable with the fewest routes. What no host
 * sends anything over, because it stands above the home or aside of all chains, keeps its way of
 * the home: if that counted, all ways down would always look the same.
 */
static uint32_t serve_rest(struct ftree *x, uint32_t tail)
{
    for (uint32_t i = 0; i < x->tree.num_leaves; i++) {
        uint32_t s = x->tree.leaves[i];
        if (x->served[s] != x->stamp && !x->ancestor[s] && x->hops[s] != SV_NONE)
            serve_along(x, s, &tail);
    }
    return tail;
}

/* Works out who takes which cable to the destination at hand. */
static uint32_t lay(struct ftree *x, uint32_t offset)
{
    x->stamp++;
    return serve_rest(x, descend(x, climb(x, offset)));
}

/* Counts the routes that this makes. */
static void count_routes(struct ftree *x, uint32_t tail)
{
    for (uint32_t i = 1; i < tail && x->tree.level[x->queue[i]] > x->tree.level[x->queue[i - 1]];
         i++)
        x->through[x->queue[i]]++;
    for (uint32_t i = 0; i < tail; i++)
        x->flow[x->queue[i]] = x->core.terminals[x->queue[i]];
    for (uint32_t i = tail; i-- > 1;) { /* next hops come before those who take them */
        uint32_t s = x->queue[i], e = x->taken[s];
        x->count[e] += x->flow[s];
        x->total[e] += x->flow[s];
        x->flow[x->core.to[e]] += x->flow[s];
    }
}

/*
 * Gives switches that do not reach a switch by going up and then down a way to it all the same,
 * over those that do. Between switches without hosts nobody sends anything that could wait
 * (decision 8).
 */
static uint64_t join_rest(struct ftree *x, uint8_t *row)
{
    uint32_t tail = x->reached;
    x->home = SV_NONE; /* hops are no longer those of the order */
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t s = x->order[head];
        for (uint32_t e = x->core.first[s]; e < x->core.first[s + 1]; e++) {
            uint32_t from = x->core.neighbour[e];
            if (x->hops[from] != SV_NONE)
                continue;
            x->hops[from] = x->hops[s] + 1;
            row[from] = x->core.entries[e].port;
            x->order[tail++] = from;
        }
    }
    return tail - x->reached;
}

/* Fills in the row of one address of a host, or of a switch. */
static sv_status fill_row(struct ftree *x, uint32_t d, uint32_t offset, uint32_t *laid)
{
    uint8_t *row;
    sv_node home;
    *laid = 0;
    SV_TRY(sv__end_row(x->job, d, &row, &home));
    if (row == NULL)
        return SV_OK;
    turn_to(x, home.i);
    uint8_t out = row[home.i];
    *laid = lay(x, offset);
    memcpy(row, x->base, x->core.num_switches);
    row[home.i] = out;
    for (uint32_t i = 1; i < *laid; i++)
        row[x->queue[i]] = x->core.entries[x->taken[x->queue[i]]].port;
    return SV_OK;
}

/* A switch as a destination, while its home is the one at hand anyway. */
static sv_status route_switch(struct ftree *x, uint32_t s)
{
    uint32_t laid;
    if (x->switch_done[s])
        return SV_OK;
    x->switch_done[s] = true;
    SV_TRY(fill_row(x, x->job->routes->first[s], 0, &laid));
    if (laid > 0 && x->up_down.plain)
        x->unsafe += join_rest(x, x->job->routes->ports[x->job->routes->first[s]]);
    return SV_OK;
}

/* ---- all of them ---- */

struct queue_of_hosts {
    uint32_t *hosts, count;
    uint32_t max; /* of this kind, on one leaf */
    bool align;
};

/* All addresses of hosts that stand side by side; one pass for each address. */
static sv_status route_hosts(struct ftree *x, const struct queue_of_hosts *q)
{
    const sv_routes *r = x->job->routes;
    uint32_t laid;
    for (uint32_t k = 0; k < 1u << r->lmc; k++)
        for (uint32_t i = 0, on_leaf = 0; i < q->count; i++) {
            uint32_t home = sv_switch_of(x->job->fabric, (sv_node){q->hosts[i]}).i;
            if (i % 64 == 0)
                SV_TRY(sv_progress(x->job->ctx, "routing", (uint64_t)k * q->count + i,
                                   (uint64_t)q->count << r->lmc));
            SV_TRY(fill_row(x, r->first[q->hosts[i]] + k, k, &laid));
            count_routes(x, laid);
            on_leaf++;
            bool last = i + 1 == q->count ||
                        sv_switch_of(x->job->fabric, (sv_node){q->hosts[i + 1]}).i != home;
            for (; last && q->align && on_leaf < q->max; on_leaf++)
                count_routes(x, lay(x, k));
            if (last)
                SV_TRY(route_switch(x, home));
            on_leaf = last ? 0 : on_leaf;
        }
    return SV_OK;
}

/* Those of one kind, that were not given an order, in tree order. */
static void choose(const struct ftree *x, sv_role role, const bool *listed,
                   struct queue_of_hosts *q)
{
    const sv_fabric *f = x->job->fabric;
    uint32_t on_leaf = 0, leaf = SV_NONE;
    q->count = q->max = 0;
    for (uint32_t i = 0; i < x->tree.num_hosts; i++) {
        sv_node host = {x->tree.hosts[i]};
        if (sv_terminal_of(f, host)->role != role || listed[host.i - f->num_switches])
            continue;
        uint32_t home = sv_switch_of(f, host).i;
        on_leaf = home == leaf ? on_leaf + 1 : 1;
        leaf = home;
        q->max = on_leaf > q->max ? on_leaf : q->max;
        q->hosts[q->count++] = host.i;
    }
}

/* Whether all switches that hosts of a kind hang on have a cable up for as many as the fullest. */
static bool has_room(const struct ftree *x, const struct queue_of_hosts *q)
{
    for (uint32_t i = 0; i < q->count; i++) {
        uint32_t home = sv_switch_of(x->job->fabric, (sv_node){q->hosts[i]}).i;
        if (x->above_first[home + 1] - x->above_first[home] < q->max)
            return false;
    }
    return true;
}

static sv_status route_terminals(struct ftree *x, const char *align)
{
    const sv_fabric *f = x->job->fabric;
    const sv_route_request *request = x->job->request;
    struct queue_of_hosts q = {.hosts = SV_ARENA_NEW(x->job->arena, uint32_t, f->num_terminals)};
    bool *listed = SV_ARENA_NEW(x->job->arena, bool, f->num_terminals);
    if (q.hosts == NULL || listed == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < request->num_hosts; i++) {
        sv_node host = request->hosts[i];
        if (sv_is_switch(f, host) || !sv_node_alive(f, host) ||
            sv_switch_of(f, host).i == SV_NONE || listed[host.i - f->num_switches])
            continue;
        q.hosts[q.count++] = host.i;
        listed[host.i - f->num_switches] = true;
    }
    SV_TRY(route_hosts(x, &q));
    for (sv_role role = SV_ROLE_COMPUTE; role <= SV_ROLE_OTHER; role++) {
        choose(x, role, listed, &q);
        q.align = strcmp(align, "auto") == 0 ? has_room(x, &q) : strcmp(align, "yes") == 0;
        memset(x->count, 0, x->core.num_entries * sizeof *x->count);
        SV_TRY(route_hosts(x, &q));
    }
    return SV_OK;
}

static sv_status route_switches(struct ftree *x)
{
    for (uint32_t s = 0; s < x->core.num_switches; s++) {
        if (s % 64 == 0)
            SV_TRY(sv_progress(x->job->ctx, "routing to switches", s, x->core.num_switches));
        SV_TRY(route_switch(x, s));
    }
    sv__note_unsafe(x->job, x->unsafe);
    return SV_OK;
}

static sv_status route(sv__routing_job *job)
{
    struct ftree x = {0};
    const char *align = sv__job_option(job, "align");
    SV_TRY(init(&x, job));
    sv__tree_tell(job, &x.tree);
    SV_TRY(route_terminals(&x, align != NULL ? align : "auto"));
    return route_switches(&x);
}

static const sv_engine_option options[] = {
    {"align", "yes|no|auto",
     "treat each leaf as if it had as many hosts as the fullest (default auto: if they fit)"},
    {NULL, NULL, NULL}};

const sv__engine sv__engine_ftree = {
    {"ftree", "fat trees: shift patterns without contention; any tree with failures",
     "thesis Alg. 3.2-3.4", SV_ENGINE_DEADLOCK_FREE | SV_ENGINE_ROOTS | SV_ENGINE_HOSTS, options},
    route};
