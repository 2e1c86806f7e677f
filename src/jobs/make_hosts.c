/*
 * make_hosts.c: the hosts of a fabric as a batch system knows them.
 *
 * Idea: batch systems know a host by its name, which is what stands before the first blank of an
 * adapter's description; adapters of one name are one host, as job maps have it (jobmap.h). Hosts
 * are sorted by name, numbers as numbers, because that is the order in which Slurm fills them.
 *
 * Invariants: every host has a live terminal that computes; names are different and can stand in a
 * list of hosts. Cost: sorting. Source: thesis 5.2.2 (node names tie jobs to terminals).
 */
#include <stdlib.h>
#include <string.h>

#include <selvage/fabric.h>

#include "base/pool.h"
#include "jobs/make.h"
#include "text/hostlist.h"

/* A port of a host. name comes first, so that sv_hostname_order can look at it. */
struct port {
    const char *name;
    uint32_t home; /* the switch it hangs on, or SV_NONE */
    bool computes;
};

static int by_name(const void *a, const void *b)
{
    const struct port *x = a, *y = b;
    int order = sv_hostname_order(&x->name, &y->name);
    return order != 0 ? order : (x->home > y->home) - (x->home < y->home);
}

static sv_status collect(sv_ctx *ctx, const sv_fabric *f, sv_arena *arena, struct port *ports,
                         uint32_t *count)
{
    *count = 0;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t};
        const sv_adapter_info *adapter = &f->adapters[f->terminals[t].adapter];
        if (!sv_node_alive(f, v) || adapter->kind != SV_ADAPTER_HOST)
            continue;
        const char *name = sv_arena_text(arena, adapter->name, strcspn(adapter->name, " \t"));
        if (name == NULL)
            return SV_NO_MEMORY;
        bool computes = f->terminals[t].role == SV_ROLE_COMPUTE;
        if (computes && !sv__host_listable(name))
            return sv_fail(ctx, SV_INFEASIBLE, "host '%.200s' cannot stand in a list of hosts",
                           adapter->name);
        ports[(*count)++] = (struct port){name, sv_switch_of(f, v).i, computes};
    }
    return SV_OK;
}

/* Hosts from sorted ports: those with a port that computes, and all their ports. */
static void group(const struct port *ports, uint32_t count, sv__hosts *hosts)
{
    uint32_t used = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        bool computes = false;
        for (end = i; end < count && strcmp(ports[end].name, ports[i].name) == 0; end++)
            computes = computes || ports[end].computes;
        if (!computes)
            continue;
        hosts->first[hosts->count] = used;
        hosts->names[hosts->count++] = ports[i].name;
        for (uint32_t k = i; k < end; k++)
            if (ports[k].home != SV_NONE && (k == i || ports[k].home != ports[k - 1].home))
                hosts->switches[used++] = ports[k].home;
    }
    hosts->first[hosts->count] = used;
}

sv_status sv__find_hosts(sv_ctx *ctx, const sv_fabric *fabric, sv_arena *arena, sv__hosts *hosts)
{
    size_t room = (size_t)fabric->num_terminals + 1;
    struct port *ports = SV_ARENA_NEW(arena, struct port, room);
    *hosts = (sv__hosts){.names = SV_ARENA_NEW(arena, const char *, room),
                         .first = SV_ARENA_NEW(arena, uint32_t, room),
                         .switches = SV_ARENA_NEW(arena, uint32_t, room)};
    uint32_t count;
    if (ports == NULL || hosts->names == NULL || hosts->first == NULL || hosts->switches == NULL)
        return SV_NO_MEMORY;
    SV_TRY(collect(ctx, fabric, arena, ports, &count));
    qsort(ports, count, sizeof *ports, by_name);
    group(ports, count, hosts);
    return hosts->count >= 2
               ? SV_OK
               : sv_fail(ctx, SV_INFEASIBLE, "%s computes: jobs need at least two hosts",
                         hosts->count == 0 ? "no host" : "one host");
}
