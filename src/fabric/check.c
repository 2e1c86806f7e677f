/*
 * check.c: the proof that a fabric is what fabric.h says.
 *
 * Idea: restate every promise of the header as a test and run all of them over all parts. It knows
 * nothing of how a fabric was built; the tests damage fabrics on purpose to see that each promise
 * is really looked at.
 *
 * Cost: linear in nodes, channels and ports.
 */
#include <selvage/fabric.h>

#include "base/pool.h"

struct checker {
    sv_ctx *ctx;
    const sv_fabric *f;
};

#define REQUIRE(checker, condition, ...)                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return sv_fail((checker)->ctx, SV_BAD_INPUT, "fabric check: " __VA_ARGS__);            \
    } while (0)

static unsigned ports_of(const sv_fabric *f, sv_node v)
{
    return sv_is_switch(f, v) ? f->switches[v.i].ports
                              : f->adapters[sv_terminal_of(f, v)->adapter].ports;
}

static sv_status check_channel(const struct checker *k, uint32_t c)
{
    const sv_fabric *f = k->f;
    uint32_t nodes = sv_num_nodes(f);
    REQUIRE(k, f->tail[c].i < nodes, "channel %u leaves no node", c);
    REQUIRE(k, f->head[c].i < nodes, "channel %u enters no node", c);
    REQUIRE(k, f->reverse[c].i < f->num_channels && f->reverse[c].i != c,
            "channel %u has no reverse", c);
    sv_channel back = f->reverse[c];
    REQUIRE(k, f->reverse[back.i].i == c, "the reverse of channel %u's reverse is another", c);
    REQUIRE(k, f->tail[back.i].i == f->head[c].i && f->head[back.i].i == f->tail[c].i,
            "channel %u and its reverse join different nodes", c);
    REQUIRE(k, f->port[c] >= 1 && f->port[c] <= ports_of(f, f->tail[c]),
            "channel %u leaves port %u of a node with %u", c, f->port[c], ports_of(f, f->tail[c]));
    REQUIRE(k, f->link[c] < f->num_links, "channel %u has no link", c);
    REQUIRE(k, f->link[c] == f->link[back.i], "the two directions of channel %u differ", c);
    REQUIRE(k, sv_channel_alive(f, (sv_channel){c}) == sv_channel_alive(f, back),
            "channel %u is dead in one direction", c);
    if (c > 0) {
        uint32_t before = f->tail[c - 1].i, here = f->tail[c].i;
        REQUIRE(k, before < here || (before == here && f->port[c - 1] < f->port[c]),
                "channels %u and %u are out of order", c - 1, c);
    }
    return SV_OK;
}

static sv_status check_hops(const struct checker *k, sv_node v, uint64_t *listed)
{
    const sv_fabric *f = k->f;
    REQUIRE(k, f->first[v.i] <= f->first[v.i + 1] && f->first[v.i + 1] <= f->live_channels,
            "hops of node %u are out of range", v.i);
    uint32_t previous = SV_NONE;
    SV_FOR_HOPS (f, v, hop) {
        uint32_t c = hop->channel.i;
        REQUIRE(k, c < f->num_channels, "node %u lists no channel", v.i);
        REQUIRE(k, f->tail[c].i == v.i, "node %u lists channel %u of another node", v.i, c);
        REQUIRE(k, f->head[c].i == hop->to.i, "node %u lists channel %u with a wrong end", v.i, c);
        REQUIRE(k, sv_channel_alive(f, hop->channel), "node %u lists dead channel %u", v.i, c);
        REQUIRE(k, previous == SV_NONE || previous < c, "hops of node %u are out of order", v.i);
        previous = c;
        sv_bit_set(listed, c);
    }
    if (!sv_node_alive(f, v))
        REQUIRE(k, sv_degree(f, v) == 0, "dead node %u has live hops", v.i);
    return SV_OK;
}

static sv_status check_terminals(const struct checker *k, sv_arena *scratch)
{
    const sv_fabric *f = k->f;
    uint32_t *degree = SV_ARENA_NEW(scratch, uint32_t, f->num_terminals);
    if (degree == NULL)
        return SV_NO_MEMORY;
    for (uint32_t c = 0; c < f->num_channels; c++)
        if (!sv_is_switch(f, f->tail[c]))
            degree[f->tail[c].i - f->num_switches]++;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        const sv_terminal_info *about = &f->terminals[t];
        sv_node v = {f->num_switches + t};
        REQUIRE(k, degree[t] <= 1, "terminal %u has %u cables", t, degree[t]);
        REQUIRE(k, about->adapter < f->num_adapters, "terminal %u has no adapter", t);
        REQUIRE(k, about->port >= 1 && about->port <= f->adapters[about->adapter].ports,
                "terminal %u is port %u of an adapter with %u", t, about->port,
                f->adapters[about->adapter].ports);
        REQUIRE(k, about->role <= SV_ROLE_OTHER, "terminal %u has no role", t);
        REQUIRE(k, about->lid <= SV_LID_MAX && about->lmc <= 7, "terminal %u has a bad lid", t);
        SV_FOR_HOPS (f, v, hop)
            REQUIRE(k, f->port[hop->channel.i] == about->port,
                    "terminal %u is cabled at another port", t);
        REQUIRE(k, degree[t] == 0 || sv_node_alive(f, v) == (sv_degree(f, v) == 1),
                "terminal %u is alive without its cable", t);
    }
    return SV_OK;
}

static sv_status check_infos(const struct checker *k)
{
    const sv_fabric *f = k->f;
    for (uint32_t i = 0; i < f->num_switches; i++) {
        REQUIRE(k, f->switches[i].name != NULL, "switch %u has no name", i);
        REQUIRE(k, f->switches[i].lid <= SV_LID_MAX && f->switches[i].lmc <= 7,
                "switch %u has a bad lid", i);
    }
    for (uint32_t i = 0; i < f->num_adapters; i++) {
        REQUIRE(k, f->adapters[i].name != NULL, "adapter %u has no name", i);
        REQUIRE(k, f->adapters[i].kind <= SV_ADAPTER_SPECIAL, "adapter %u has no kind", i);
    }
    for (uint32_t i = 0; i < f->num_links; i++)
        REQUIRE(k, f->links[i].speed < SV_SPEED_COUNT, "link %u has no speed", i);
    return SV_OK;
}

static sv_status check_counts(const struct checker *k, const uint64_t *listed)
{
    const sv_fabric *f = k->f;
    uint32_t switches = 0, terminals = 0, channels = 0;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        if (sv_node_alive(f, (sv_node){v}))
            *(v < f->num_switches ? &switches : &terminals) += 1;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        bool alive = sv_channel_alive(f, (sv_channel){c});
        channels += alive;
        REQUIRE(k, alive == sv_bit(listed, c), "live channel %u is not listed", c);
    }
    REQUIRE(k, switches == f->live_switches, "%u live switches are called %u", switches,
            f->live_switches);
    REQUIRE(k, terminals == f->live_terminals, "%u live terminals are called %u", terminals,
            f->live_terminals);
    REQUIRE(k, channels == f->live_channels && f->first[sv_num_nodes(f)] == channels,
            "%u live channels are called %u", channels, f->live_channels);
    return SV_OK;
}

static sv_status check_all(const struct checker *k, sv_arena *scratch)
{
    const sv_fabric *f = k->f;
    uint64_t *listed = sv_bitset_new(scratch, f->num_channels);
    if (listed == NULL)
        return SV_NO_MEMORY;
    REQUIRE(k, f->first[0] == 0, "hops do not start at 0");
    REQUIRE(k, f->num_channels % 2 == 0, "an odd number of channels");
    SV_TRY(check_infos(k));
    for (uint32_t t = 0; t < f->num_terminals; t++)
        REQUIRE(k, f->terminals[t].adapter < f->num_adapters, "terminal %u has no adapter", t);
    for (uint32_t c = 0; c < f->num_channels; c++)
        SV_TRY(check_channel(k, c));
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        SV_TRY(check_hops(k, (sv_node){v}, listed));
    SV_TRY(check_counts(k, listed));
    return check_terminals(k, scratch);
}

sv_status sv_fabric_check(sv_ctx *ctx, const sv_fabric *fabric)
{
    struct checker k = {ctx, fabric};
    sv_arena scratch;
    sv_arena_init(&scratch, ctx);
    sv_status status = check_all(&k, &scratch);
    sv_arena_release(&scratch);
    return status;
}
