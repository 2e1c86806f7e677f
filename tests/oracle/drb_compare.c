/*
 * drb_compare.c: what a policy of the family did, beside what it must have done: events of a call,
 * in any order, and all that is left of a pair after it.
 */
#include "drb_network.h"

#include <math.h>

#define SAME(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * (fabs(a) + fabs(b)))

/* ---- what was seen ---- */

static void copy_flows(drb_flows *to, const sv__flows *from)
{
    to->count = from->count;
    to->router = from->router;
    for (uint32_t i = 0; i < from->count; i++)
        to->at[i] = from->at[i];
}

void drb_saw(void *user, const sv__saw *s)
{
    drb_net *n = user;
    assert_true(n->num_spied < DRB_MAX_EVENTS);
    drb_event *e = &n->spied[n->num_spied++];
    *e = (drb_event){.kind = s->kind, .from = SV_NONE, .to = SV_NONE};
    if (s->pair != NULL) {
        e->from = s->pair->from;
        e->to = s->pair->destination;
        drb_pair *p = drb_net_pair(n, e->from, e->to);
        bool of_path = s->kind == SV__SAW_CHOICE || s->kind == SV__SAW_ACK ||
                       s->kind == SV__SAW_OPENED || s->kind == SV__SAW_CLOSED;
        if (of_path)
            e->path = drb_net_path(n, p, &s->pair->paths[s->path].way);
    }
    if (s->kind == SV__SAW_CHOICE)
        n->drawn = s->drawn;
    if (s->kind == SV__SAW_ACK)
        e->waited = s->waited;
    if (s->kind == SV__SAW_LOOK)
        e->out = s->out.i;
    if (s->kind == SV__SAW_ZONE)
        e->latency = s->latency;
    if (s->kind == SV__SAW_LOOK || s->kind == SV__SAW_ACK || s->kind == SV__SAW_NOTICE) {
        e->flows = s->flows == NULL ? 0 : s->flows->count;
        e->hash = e->flows == 0 ? 0 : drb_hash(s->flows->at, e->flows);
    }
}

static int by_kind(const void *a, const void *b)
{
    const drb_event *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

static void show(const char *who, const drb_event *at, uint32_t count)
{
    static const char *const names[] = {"choice", "look",     "ack",     "notice", "late",
                                        "zone",   "foreseen", "opened",  "closed", "applied",
                                        "failed", "kept",     "improved"};
    for (uint32_t i = 0; i < count; i++)
        print_error(
            "%s: %s of %d to %d, path %u, waited %llu, latency %.17g, out %u, %u flows %llx\n", who,
            names[at[i].kind], (int)at[i].from, (int)at[i].to, at[i].path,
            (unsigned long long)at[i].waited, at[i].latency, at[i].out, at[i].flows,
            (unsigned long long)at[i].hash);
}

/* What was seen is what had to be; order does not matter. */
void drb_compare_events(drb_net *n)
{
    drb *o = &n->o;
    bool same = n->num_spied == o->num_events;
    qsort(n->spied, n->num_spied, sizeof *n->spied, by_kind);
    qsort(o->events, o->num_events, sizeof *o->events, by_kind);
    for (uint32_t i = 0; i < n->num_spied && same; i++) {
        const drb_event *x = &n->spied[i], *y = &o->events[i];
        same = x->kind == y->kind && x->from == y->from && x->to == y->to && x->path == y->path &&
               x->waited == y->waited && x->out == y->out && x->flows == y->flows &&
               x->hash == y->hash &&
               fabs(x->latency - y->latency) <= 1e-9 * (x->latency + y->latency);
    }
    if (!same) {
        show("is", n->spied, n->num_spied);
        show("must be", o->events, o->num_events);
        fail();
    }
    n->num_spied = o->num_events = 0;
}

/* ---- what is left ---- */

static void compare_store(drb_net *n, drb_pair *p, const sv__drb_pair *other)
{
    const sv__solution *s = other->store.first;
    for (uint32_t i = 0; i < p->solutions; i++, s = s->next) {
        const drb_solution *own = &p->store[i];
        assert_non_null(s);
        assert_int_equal(s->flows.count, own->flows.count);
        assert_int_equal(s->flows.router, own->flows.router);
        assert_memory_equal(s->flows.at, own->flows.at, own->flows.count * sizeof *own->flows.at);
        assert_int_equal(s->num_paths, own->paths);
        assert_int_equal(s->applied, own->applied);
        assert_int_equal(s->failed, own->failed);
        assert_int_equal(s->seeded, own->seeded);
        SAME(s->latency, own->latency);
        for (uint32_t k = 0; k < own->paths; k++) {
            const sv_sim_way *way = &other->paths[s->paths[k].path].way;
            assert_int_equal(drb_net_path(n, p, way), own->path[k]);
            SAME(s->paths[k].waited, own->waited[k]);
        }
    }
    assert_null(s);
}

void drb_net_compare(drb_net *n, drb_pair *p)
{
    uint32_t i = sv__pairs_find(n->b, p->from, p->destination);
    assert_int_not_equal(i, SV_NONE);
    const sv__drb_pair *other = n->b->pairs.at[i];
    assert_int_equal(other->zone, p->zone);
    SAME(other->base, p->base);
    assert_int_equal(other->meta.count, p->num_open);
    for (i = 0; i < p->num_open; i++) {
        const sv__open_path *x = &other->meta.at[i];
        uint32_t path = drb_net_path(n, p, &other->paths[x->path].way);
        assert_int_equal(path, p->open[i].path);
        SAME(x->empty, p->paths[path].empty);
        SAME(x->waited, p->open[i].waited);
    }
    compare_store(n, p, other);
}

void drb_copy_store(drb_net *n, const sv__drb_pair *other)
{
    drb_pair *p = drb_net_pair(n, other->from, other->destination);
    for (const sv__solution *s = other->store.first; s != NULL; s = s->next) {
        drb_solution *own = &p->store[p->solutions++];
        *own = (drb_solution){.paths = s->num_paths, .latency = s->latency, .seeded = s->seeded};
        copy_flows(&own->flows, &s->flows);
        for (uint32_t i = 0; i < s->num_paths; i++) {
            own->path[i] = drb_net_path(n, p, &other->paths[s->paths[i].path].way);
            own->waited[i] = s->paths[i].waited;
        }
        n->o.report.patterns++;
        n->o.report.seeded++;
        if (own->flows.router != SV_NONE)
            n->o.routers[own->flows.router].patterns++;
    }
}
