/*
 * update_json.c: what `selvage update` found, for programs; and the plan itself, for --output.
 */
#include "selvage/update_shared.h"

static const char *const way_names[SV_UPDATE_WAYS] = {"none",  "nothing", "at-once",
                                                      "steps", "repath",  "never"};

static uint32_t lid_of(const sv_routes *r, uint32_t d)
{
    return r->lid[d] != 0 ? r->lid[d] : d;
}

/* ---- the plan itself ---- */

/* Entries that one datagram sets; returns the first of the next. */
static uint64_t print_write(sv_json *j, const struct update *u, uint64_t i)
{
    const sv_update *p = u->plan;
    const sv_update_entry *e = &p->entries[i];
    sv_json_begin_row(j, NULL, '{');
    sv_json_number(j, "step", e->step);
    sv_json_guid(j, "switch", sv_node_guid(u->x.f, e->s));
    sv_json_number(j, "block", e->block);
    sv_json_begin_row(j, "entries", '[');
    for (; i < p->num_entries && p->entries[i].step == e->step && p->entries[i].s.i == e->s.i &&
           p->entries[i].block == e->block;
         i++) {
        uint32_t d = p->entries[i].destination;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "lid", lid_of(u->x.r, d));
        sv_json_number(j, "port", u->x.r->ports[d][e->s.i]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
    sv_json_end(j, '}');
    return i;
}

/* How many nodes (switches where these stand for their terminals) get another SL to a destination.
 */
static uint64_t count_sls(const struct update *u, uint32_t d)
{
    uint64_t count = 0;
    bool by_node = u->x.r->sl_form == SV_SL_BY_NODE || u->x.carried->sl_form == SV_SL_BY_NODE;
    uint32_t nodes = by_node ? sv_num_nodes(u->x.f) : u->x.f->num_switches;
    for (uint32_t v = 0; v < nodes; v++)
        count += sv_node_alive(u->x.f, (sv_node){v}) && v != u->x.r->node[d].i &&
                 sv_route_sl(u->x.carried, (sv_node){v}, d) != sv_route_sl(u->x.r, (sv_node){v}, d);
    return count;
}

/* From which step on what belongs to a destination is new: also its SLs, and not before. */
static void print_destinations(sv_json *j, const struct update *u)
{
    const sv_update *p = u->plan;
    sv_json_begin_array(j, "destinations");
    for (uint32_t d = 0; d < u->x.r->num_destinations && p->first_step != NULL; d++) {
        if (p->first_step[d] == SV_NONE)
            continue;
        sv_json_begin_row(j, NULL, '{');
        sv_json_number(j, "lid", lid_of(u->x.r, d));
        sv_json_guid(j, "guid", sv_node_guid(u->x.f, u->x.r->node[d]));
        sv_json_number(j, "new_sls_from_step", p->first_step[d]);
        sv_json_number(j, "new_sls", count_sls(u, d));
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void print_pairs(sv_json *j, const struct update *u)
{
    const sv_update *p = u->plan;
    if (p->num_pairs > 0 && p->pairs == NULL) { /* too many to be listed */
        sv_json_null(j, "silent");
        return;
    }
    sv_json_begin_array(j, "silent");
    for (uint64_t i = 0; i < p->num_pairs; i++) {
        const sv_update_pair *pair = &p->pairs[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_guid(j, "from", sv_node_guid(u->x.f, pair->from));
        sv_json_number(j, "lid", lid_of(u->x.r, pair->destination));
        sv_json_number(j, "from_step", pair->from_step);
        sv_json_number(j, "to_step", pair->to_step);
        sv_json_bool(j, "must", pair->must);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

void update_print_plan(sv_text *out, const struct update *u)
{
    const sv_update *p = u->plan;
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "way", way_names[p->way]);
    sv_json_number(&j, "steps", p->steps);
    sv_json_bool(&j, "settle", p->settle);
    sv_json_bool(&j, "vls", p->vls);
    sv_json_begin_array(&j, "list");
    for (uint64_t i = 0; i < p->num_entries;)
        i = print_write(&j, u, i);
    sv_json_end(&j, ']');
    print_destinations(&j, u);
    print_pairs(&j, u);
    sv_json_end(&j, '}');
}

/* ---- what was found ---- */

static void json_plan(sv_json *j, const struct update *u)
{
    const sv_update *p = u->plan;
    sv_json_text(j, "way", way_names[p->way]);
    sv_json_bool(j, "safe", update_needs_nobody(p));
    sv_json_text(j, "condition", p->sls > 0 ? update_sl_condition : NULL);
    sv_json_text(j, "why", p->why[0] != 0 ? p->why : NULL);
    sv_json_number(j, "steps", p->steps);
    sv_json_bool(j, "settle", p->settle);
    sv_json_bool(j, "vls", p->vls);
    sv_json_number(j, "entries", p->num_entries);
    sv_json_number(j, "blocks", p->blocks);
    sv_json_number(j, "datagrams", p->writes);
    sv_json_number(j, "sls", p->sls);
    sv_json_number(j, "silent_pairs", p->num_pairs);
    sv_json_number(j, "must_be_silent", p->must_pairs);
    sv_json_number(j, "gone_lids", u->gone);
    sv_json_real(j, "plan_seconds", (double)p->plan_ns / 1e9, 6);
    sv_json_real(j, "prove_seconds", (double)p->prove_ns / 1e9, 6);
    sv_json_text(j, "output", u->o->output);
}

static void json_example(sv_json *j, const struct update *u, unsigned way, int what)
{
    static const char *const keys[SV_SIM_INCIDENTS] = {"dropped_example", "looped_example",
                                                       "overtaken_example"};
    const struct update_first *first = &u->tally[way].first[what];
    const sv_sim_example *e = &first->example;
    const sv_fabric *f = u->x.f;
    if (u->tally[way].incidents[what] == 0) {
        sv_json_null(j, keys[what]);
        return;
    }
    sv_json_begin_row(j, keys[what], '{');
    sv_json_number(j, "seed", first->seed);
    sv_json_real(j, "us", sim_us(e->time), 6);
    sv_json_number(j, "packet", e->packet);
    sv_json_text(j, "from", sv_node_name(f, (sv_node){f->num_switches + e->from}));
    sv_json_text(j, "to", sv_node_name(f, update_tables(u, way)->node[e->destination]));
    sv_json_text(j, "at", sv_node_name(f, e->at));
    if (what == SV_SIM_DROPPED)
        sv_json_text(j, "why", sv_trace_end_name((sv_trace_end)e->why));
    sv_json_end(j, '}');
}

static void json_phases(sv_json *j, const struct update_tally *t)
{
    static const char *const names[SV_REHEARSE_PHASES] = {"before", "leave", "program",
                                                          "return", "after", "during"};
    sv_json_begin_array(j, "phases");
    for (int i = 0; i < SV_REHEARSE_PHASES; i++) {
        double seconds = (double)t->time[i] / (SV_TICKS_PER_NS * 1e9);
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "phase", names[i]);
        sv_json_real(j, "us", sim_us(t->time[i]) / (double)t->runs, 3);
        if (t->time[i] > 0)
            sv_json_real(j, "gbyte_s", (double)t->bytes[i] / seconds / 1e9, 6);
        else
            sv_json_null(j, "gbyte_s");
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static void json_counts(sv_json *j, const struct update_tally *t)
{
    static const char *const names[SV_SIM_INCIDENTS] = {"dropped", "looped", "overtaken"};
    static const char *const kept[SV_SIM_INCIDENTS] = {"dropped_with_path", "looped_with_path",
                                                       "overtaken_with_path"};
    for (int i = 0; i < SV_SIM_INCIDENTS; i++) {
        sv_json_number(j, names[i], t->incidents[i]);
        sv_json_number(j, kept[i], t->harmed[i]);
    }
    sv_json_number(j, "inconsistent", t->inconsistent);
    sv_json_number(j, "deadlocks", t->deadlocks);
    sv_json_bool(j, "both_deadlock_free", t->both_deadlock_free);
    sv_json_number(j, "done", t->done);
    sv_json_number(j, "called_off", t->called_off);
    sv_json_number(j, "vls", t->vls);
    sv_json_number(j, "steps", t->steps);
    sv_json_number(j, "blocks", t->blocks);
    sv_json_number(j, "datagrams", t->datagrams);
    sv_json_number(j, "datagrams_lost", t->lost);
    sv_json_number(j, "datagrams_again", t->again);
    sv_json_number(j, "silent_pairs", t->held);
    sv_json_real(j, "drain_max_us", sim_us(t->drain_max), 6);
    sv_json_real(j, "silence_max_us", sim_us(t->held_max), 6);
}

static void json_way(sv_json *j, const struct update *u, unsigned way)
{
    const struct update_tally *t = &u->tally[way];
    sv_json_begin_object(j, NULL);
    sv_json_text(j, "way", update_ways[way]);
    sv_json_number(j, "runs", t->runs);
    sv_json_text(j, "why_not", t->why_not);
    if (t->runs > 0) {
        json_counts(j, t);
        json_phases(j, t);
        for (int i = 0; i < SV_SIM_INCIDENTS; i++)
            json_example(j, u, way, i);
        if (t->deadlocks > 0) {
            sv_json_number(j, "deadlock_seed", t->deadlock_seed);
            sv_json_real(j, "deadlock_us", sim_us(t->deadlock_time), 6);
            sv_json_number(j, "stuck", t->stuck);
            app_json_cycle(j, u->x.f, update_tables(u, way), t->cycle, t->cycle_length);
        }
    }
    sv_json_end(j, '}');
}

void update_print_json(sv_text *out, const struct update *u)
{
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    json_plan(&j, u);
    if (u->o->rehearse != NULL) {
        sv_json_bool(&j, "partial", u->cancelled);
        sv_json_text(&j, "traffic", u->traffic);
        sv_json_number(&j, "runs", u->o->runs);
        sv_json_begin_array(&j, "rehearsals");
        for (unsigned way = 0; way < SV_REHEARSE_WAYS; way++)
            if (u->o->ways[way])
                json_way(&j, u, way);
        sv_json_end(&j, ']');
    }
    sv_json_end(&j, '}');
}
