/*
 * update_print.c: what `selvage update` found, for people.
 *
 * Ways stand side by side. Mishaps are sums over all runs; "during" is from the beginning of the
 * update to its end (phases 2 to 4).
 */
#include <stdio.h>

#include "selvage/update_shared.h"

const char update_sl_condition[] =
    "path records must give new SLs only from the first step of their destination on";

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- the plan ---- */

static void print_plan(sv_text *out, const struct update *u)
{
    const sv_update *p = u->plan;
    sv_text_print(out, "changes        %llu entr%s in %llu block%s of 64 LIDs, %llu SL%s\n",
                  (unsigned long long)p->num_entries, p->num_entries == 1 ? "y" : "ies",
                  (unsigned long long)p->blocks, plural(p->blocks), (unsigned long long)p->sls,
                  plural(p->sls));
    sv_text_print(out, "plan           %s", sv_update_way_name(p->way));
    if (p->way != SV_UPDATE_NOTHING)
        sv_text_print(out, ": %u step%s, %llu datagram%s", p->steps, plural(p->steps),
                      (unsigned long long)p->writes, plural(p->writes));
    sv_text_print(out, "\n");
    if (p->why[0] != 0)
        sv_text_print(out, "  because      %s\n", p->why);
    if (p->vls)
        sv_text_print(out, "  VLs        SL-to-VL tables change in the first step\n");
    if (p->sls > 0)
        sv_text_print(out, "  condition    %s\n", update_sl_condition);
    if (p->settle)
        sv_text_print(out, "  settle       packets under way leave before the next step begins\n");
    if (p->num_pairs > 0)
        sv_text_print(out,
                      "  silent       %llu pair%s must be silent meanwhile; %llu more should, or "
                      "packets may overtake others\n",
                      (unsigned long long)p->must_pairs, plural(p->must_pairs),
                      (unsigned long long)(p->num_pairs - p->must_pairs));
    if (u->gone > 0)
        sv_text_print(
            out,
            "  gone         %u LID%s of the old tables: packets to them go by old entries, "
            "and are not judged\n",
            u->gone, plural(u->gone));
    sv_text_print(out, "  seconds      %.3f to plan, %.3f to prove\n", (double)p->plan_ns / 1e9,
                  (double)p->prove_ns / 1e9);
}

/* ---- rehearsals ---- */

/* A row of numbers, one a way. */
static void print_row(sv_text *out, const struct update *u, const char *name,
                      void (*print)(sv_text *out, const struct update_tally *tally, int arg),
                      int arg)
{
    sv_text_print(out, "  %-25s", name);
    for (int i = 0; i < SV_REHEARSE_WAYS; i++)
        if (u->tally[i].runs > 0)
            print(out, &u->tally[i], arg);
    sv_text_print(out, "\n");
}

static void number(sv_text *out, uint64_t value)
{
    sv_text_print(out, " %11llu", (unsigned long long)value);
}

static void real(sv_text *out, double value)
{
    sv_text_print(out, " %11.2f", value);
}

static void print_incidents(sv_text *out, const struct update_tally *t, int what)
{
    number(out, t->incidents[what]);
}

static void print_harmed(sv_text *out, const struct update_tally *t, int what)
{
    number(out, t->harmed[what]);
}

enum { INCONSISTENT, DEADLOCKS, DONE, VLS, STEPS };

static void print_count(sv_text *out, const struct update_tally *t, int what)
{
    const uint64_t values[] = {t->inconsistent, t->deadlocks, t->done, t->vls, t->steps};
    number(out, values[what]);
}

/* Means of a run. */
enum { BLOCKS, DATAGRAMS, AGAIN, HELD, TOOK };

static void print_mean(sv_text *out, const struct update_tally *t, int what)
{
    const double values[] = {(double)t->blocks, (double)t->datagrams, (double)t->again,
                             (double)t->held, sim_us(t->time[5])};
    sv_text_print(out, " %11.1f", values[what] / (double)t->runs);
}

static void print_max(sv_text *out, const struct update_tally *t, int drain)
{
    real(out, sim_us(drain ? t->drain_max : t->held_max));
}

static void print_throughput(sv_text *out, const struct update_tally *t, int phase)
{
    double seconds = (double)t->time[phase] / (SV_TICKS_PER_NS * 1e9);
    if (t->time[phase] == 0)
        sv_text_print(out, " %11s", "-");
    else
        real(out, (double)t->bytes[phase] / seconds / 1e9);
}

static void print_table(sv_text *out, const struct update *u)
{
    sv_text_print(out, "  %-25s", "");
    for (int i = 0; i < SV_REHEARSE_WAYS; i++)
        if (u->tally[i].runs > 0)
            sv_text_print(out, " %11s", update_ways[i]);
    sv_text_print(out, "\n");
    print_row(out, u, "packets dropped", print_incidents, SV_SIM_DROPPED);
    print_row(out, u, "  of pairs with a path", print_harmed, SV_SIM_DROPPED);
    print_row(out, u, "packets in circles", print_incidents, SV_SIM_LOOPED);
    print_row(out, u, "packets overtaken", print_incidents, SV_SIM_OVERTAKEN);
    print_row(out, u, "inconsistent", print_count, INCONSISTENT);
    print_row(out, u, "runs that deadlocked", print_count, DEADLOCKS);
    print_row(out, u, "runs that were done", print_count, DONE);
    print_row(out, u, "vls", print_count, VLS);
    print_row(out, u, "steps", print_count, STEPS);
    print_row(out, u, "blocks", print_mean, BLOCKS);
    print_row(out, u, "datagrams", print_mean, DATAGRAMS);
    print_row(out, u, "  sent again", print_mean, AGAIN);
    print_row(out, u, "pairs made silent", print_mean, HELD);
    print_row(out, u, "longest drain, us", print_max, 1);
    print_row(out, u, "longest silence, us", print_max, 0);
    print_row(out, u, "Gbyte/s before", print_throughput, 0);
    print_row(out, u, "  during", print_throughput, 5);
    print_row(out, u, "  after", print_throughput, 4);
    print_row(out, u, "us until done", print_mean, TOOK);
}

static void print_example(sv_text *out, const struct update *u, unsigned way, int what)
{
    static const char *const names[SV_SIM_INCIDENTS] = {"dropped", "circle", "overtaken"};
    const struct update_first *first = &u->tally[way].first[what];
    const sv_sim_example *e = &first->example;
    const sv_fabric *f = u->x.f;
    sv_text_print(out, "%-14s %s, seed %llu, at %.3f us: packet %u from %s to %s, ", names[what],
                  update_ways[way], (unsigned long long)first->seed, sim_us(e->time), e->packet,
                  sv_node_name(f, (sv_node){f->num_switches + e->from}),
                  sv_node_name(f, update_tables(u, way)->node[e->destination]));
    if (what == SV_SIM_DROPPED)
        sv_text_print(out, "at %s: %s\n", sv_node_name(f, e->at),
                      sv_trace_end_name((sv_trace_end)e->why));
    else if (what == SV_SIM_LOOPED)
        sv_text_print(out, "at %s for the second time\n", sv_node_name(f, e->at));
    else
        sv_text_print(out, "where one that was sent later had arrived\n");
}

/* The first of each kind, whichever way it happened. */
static void print_examples(sv_text *out, const struct update *u)
{
    for (int what = SV_SIM_INCIDENTS; what-- > 0;)
        for (unsigned way = 0; way < SV_REHEARSE_WAYS; way++)
            if (u->tally[way].incidents[what] > 0) {
                print_example(out, u, way, what);
                break;
            }
    for (unsigned way = 0; way < SV_REHEARSE_WAYS; way++) {
        const struct update_tally *t = &u->tally[way];
        if (t->deadlocks == 0)
            continue;
        sv_text_print(out,
                      "deadlock       %s, seed %llu, since %.3f us: %u packets never move; %zu "
                      "channels wait for each other:\n",
                      update_ways[way], (unsigned long long)t->deadlock_seed,
                      sim_us(t->deadlock_time), t->stuck, t->cycle_length);
        app_print_cycle(out, u->x.f, update_tables(u, way), t->cycle, t->cycle_length);
        break;
    }
}

static void print_rehearsal(sv_text *out, const struct update *u)
{
    const struct update_options *o = u->o;
    const struct update_tally *five = &u->tally[SV_REHEARSE_FIVE];
    sv_text_print(out,
                  "rehearsed      %s, %s%s; from %s us on; datagrams take %s us, %llu of 1000 "
                  "are lost; %llu run%s%s\n",
                  u->traffic != NULL ? u->traffic : "nothing", o->sim.load != NULL ? "load " : "",
                  o->sim.load != NULL ? o->sim.load : "as fast as it goes", o->begin, o->delay,
                  (unsigned long long)o->loss, (unsigned long long)o->runs, plural(o->runs),
                  u->cancelled ? " (interrupted)" : "");
    print_table(out, u);
    if (five->why_not != NULL)
        sv_text_print(out, "no five phases %s\n", five->why_not);
    else if (five->runs > 0 && u->composed)
        sv_text_print(out,
                      "two sets       composed for five phases: high addresses by updn on VL %u, "
                      "which others lose\n",
                      five->vls - 1);
    if (five->called_off > 0)
        sv_text_print(out, "called off     five phases, in %llu run%s\n",
                      (unsigned long long)five->called_off, plural(five->called_off));
    print_examples(out, u);
}

void update_print_text(sv_text *out, const struct update *u)
{
    print_plan(out, u);
    if (u->o->output != NULL)
        sv_text_print(out, "written        %s\n", u->o->output);
    if (u->o->rehearse != NULL)
        print_rehearsal(out, u);
}
