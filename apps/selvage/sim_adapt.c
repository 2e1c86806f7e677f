/*
 * sim_adapt.c: what policies are measured by, and what `selvage sim` says about one of them.
 *
 * Global average latency is Eq. 4.2 of Nunez Castillo's thesis: the mean over destinations of the
 * mean latency of what arrived there. Contention is how long packets waited at a router (thesis
 * 4.2: the height of a latency map), in the mean of packets; the worst router is the map's peak.
 */
#include <math.h>
#include <string.h>

#include "selvage/sim_shared.h"

void sim_router(const struct sim *sim, uint32_t s, uint64_t *packets, sv_sim_sum *waited)
{
    *packets = 0;
    *waited = 0;
    SV_FOR_HOPS (sim->f, (sv_node){s}, hop) {
        *packets += sim->result->channels[hop->channel.i].packets;
        *waited += sim->result->channels[hop->channel.i].waited;
    }
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void measure_latency(const struct sim *sim, sim_measures *m)
{
    double sum = 0, total = 0;
    for (uint32_t t = 0; t < sim->f->num_terminals; t++) {
        const sv_sim_terminal *about = &sim->result->terminals[t];
        if (about->messages == 0)
            continue;
        sum += sim_us(about->latency_sum) / (double)about->messages;
        total += sim_us(about->total_sum) / (double)about->messages;
        m->destinations++;
    }
    m->latency_us = share(sum, m->destinations);
    m->since_ready_us = share(total, m->destinations);
}

static void measure_contention(const struct sim *sim, sim_measures *m)
{
    uint64_t packets = 0;
    sv_sim_sum waited = 0;
    m->worst = (sv_node){SV_NONE};
    m->worst_us = 0;
    for (uint32_t s = 0; s < sim->f->num_switches; s++) {
        uint64_t own;
        sv_sim_sum ticks;
        sim_router(sim, s, &own, &ticks);
        packets += own;
        waited += ticks;
        if (own > 0 && sim_us(ticks) / (double)own > m->worst_us) {
            m->worst_us = sim_us(ticks) / (double)own;
            m->worst = (sv_node){s};
        }
    }
    m->contention_us = share(sim_us(waited), (double)packets);
}

/* Bytes that terminals put on their links, in the time that counts. */
static double sent_bytes(const struct sim *sim)
{
    double bytes = 0;
    for (uint32_t i = 0; i < sim->f->num_channels; i++)
        if (!sv_is_switch(sim->f, sim->f->tail[i]))
            bytes += (double)sim->result->channels[i].bytes;
    return bytes;
}

/* How long it took; NAN where it did not come to its end. */
static double execution_us(const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    if (sim->replay != NULL)
        return sim->replayed.done ? sim_us(sim->replayed.time) : NAN;
    return r->end == SV_SIM_COMPLETED || r->end == SV_SIM_STEADY ? sim_us(r->time) : NAN;
}

sim_measures sim_measure(const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    double data = (double)(r->packets - r->control_packets);
    sim_measures m = {.throughput_gbyte_s = r->throughput / 1e9,
                      .execution_us = execution_us(sim),
                      .waiting_share = NAN,
                      .control_share = NAN,
                      .detour_share = share((double)r->detours, data),
                      .early_share = share((double)r->early, data),
                      .early_us = share(sim_us(r->early_wait), (double)r->early),
                      .early_max_bytes = (double)r->early_max};
    if (sim->replay != NULL)
        m.waiting_share =
            share(sim_us(sim->replayed.waiting), m.execution_us * sim->trace->num_ranks);
    if (r->from == 0) /* control packets are counted from the beginning on */
        m.control_share = share((double)r->control_bytes, sent_bytes(sim));
    measure_latency(sim, &m);
    measure_contention(sim, &m);
    return m;
}

/* ---- for people ---- */

/* Where the VLs of a policy come from, and who says that nothing waits for ever on them. */
static void print_vls(sv_text *out, const struct sim *sim, const sv_adapt_report *a)
{
    unsigned own = (sim->vls - a->adaptive) / a->segments;
    sv_text_print(out, "  VLs        %u segment%s × %u of the tables + %u adaptive: %s\n",
                  a->segments, a->segments == 1 ? "" : "s", own, a->adaptive,
                  a->proven ? "proven deadlock-free, all pairs of nodes"
                            : "as the tables, not judged");
}

static void print_policy(sv_text *out, const struct sim *sim, const sim_measures *m)
{
    const sv_sim_result *r = sim->result;
    const sv_adapt_report a = sv_adapt_end(sim->adapt);
    sv_text_print(out, "policy         %s: %u VL%s, %.2f %% of the packets by detours\n",
                  sim->policy, sim->vls, sim->vls == 1 ? "" : "s",
                  100 * (m->detour_share >= 0 ? m->detour_share : 0));
    print_vls(out, sim, &a);
    if (r->control_packets > 0) {
        sv_text_print(out, "  control      %llu packets, %llu bytes",
                      (unsigned long long)r->control_packets, (unsigned long long)r->control_bytes);
        if (m->control_share >= 0)
            sv_text_print(out, ": %.2f %% of what terminals send", 100 * m->control_share);
        sv_text_print(out, "\n");
    }
    if (r->early > 0)
        sv_text_print(out,
                      "  order        %llu packets came early and waited %.3f us each, at most "
                      "%llu bytes at a terminal\n",
                      (unsigned long long)r->early, m->early_us, (unsigned long long)r->early_max);
    if (a.opened > 0)
        sv_text_print(
            out, "  paths        %llu opened, %llu closed; %u pairs had several, at most %u\n",
            (unsigned long long)a.opened, (unsigned long long)a.closed, a.pairs, a.max_paths);
    if (a.watchdogs > 0)
        sv_text_print(out, "  watchdogs    %llu ran out\n", (unsigned long long)a.watchdogs);
    if (a.notices + a.patterns > 0)
        sv_text_print(out,
                      "  patterns     %llu found, %llu repeated, %llu applied (one of them %llu), "
                      "%llu improved, %llu failed\n",
                      (unsigned long long)a.patterns, (unsigned long long)a.repeated,
                      (unsigned long long)a.applied, (unsigned long long)a.max_applied,
                      (unsigned long long)a.improved, (unsigned long long)a.failed);
    if (a.seeded + a.foreseen + a.unasked > 0)
        sv_text_print(out,
                      "  foreseen     %llu by the trend; %llu solutions to begin with; %llu times "
                      "before a message\n",
                      (unsigned long long)a.foreseen, (unsigned long long)a.seeded,
                      (unsigned long long)a.unasked);
}

void sim_print_adapt(sv_text *out, const struct sim *sim)
{
    if (sim->adapt == NULL && sim->trace == NULL)
        return;
    const sim_measures m = sim_measure(sim);
    if (sim->replay != NULL && sim->replayed.done)
        sv_text_print(out, "execution      %.3f us, of which ranks waited %.1f %%\n",
                      m.execution_us, 100 * (m.waiting_share >= 0 ? m.waiting_share : 0));
    else if (sim->replay != NULL && sim->replayed.blocked != SV_NONE)
        sv_text_print(out, "execution      not to its end: rank %u is at event %llu\n",
                      sim->replayed.blocked, (unsigned long long)sim->replayed.blocked_at);
    if (m.destinations > 0)
        sv_text_print(out, "global latency %.3f us, mean of %u destinations; %.3f since ready\n",
                      m.latency_us, m.destinations, m.since_ready_us);
    if (m.worst.i != SV_NONE)
        sv_text_print(out, "contention     %.3f us a packet and switch; at the worst, %s, %.3f\n",
                      m.contention_us, sv_node_name(sim->f, m.worst), m.worst_us);
    if (sim->adapt != NULL)
        print_policy(out, sim, &m);
}

/* ---- for programs ---- */

static void json_number(sv_json *j, const char *key, double number)
{
    if (isfinite(number))
        sv_json_real(j, key, number, 6);
    else
        sv_json_null(j, key);
}

static void json_report(sv_json *j, const sv_adapt_report *a)
{
    const struct {
        const char *key;
        uint64_t value;
    } values[] = {{"choices", a->choices},    {"chosen_detours", a->detours},
                  {"acks", a->acks},          {"predictive_acks", a->predictive_acks},
                  {"notices", a->notices},    {"opened", a->opened},
                  {"closed", a->closed},      {"watchdogs", a->watchdogs},
                  {"foreseen", a->foreseen},  {"patterns", a->patterns},
                  {"seeded", a->seeded},      {"repeated", a->repeated},
                  {"applied", a->applied},    {"max_applied", a->max_applied},
                  {"unasked", a->unasked},    {"improved", a->improved},
                  {"failed", a->failed},      {"pairs", a->pairs},
                  {"max_paths", a->max_paths}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        sv_json_number(j, values[i].key, values[i].value);
}

static void json_policy(sv_json *j, const struct sim *sim, const sim_measures *m)
{
    const sv_sim_result *r = sim->result;
    const sv_adapt_report a = sv_adapt_end(sim->adapt);
    sv_json_begin_object(j, "policy");
    sv_json_text(j, "spec", sim->policy);
    sv_json_number(j, "vls", sim->vls);
    sv_json_number(j, "segments", a.segments);
    sv_json_number(j, "adaptive", a.adaptive);
    sv_json_bool(j, "proven", a.proven);
    sv_json_number(j, "control_packets", r->control_packets);
    sv_json_number(j, "control_bytes", r->control_bytes);
    json_number(j, "control_share", m->control_share);
    sv_json_number(j, "detours", r->detours);
    json_number(j, "detour_share", m->detour_share);
    sv_json_number(j, "early", r->early);
    json_number(j, "early_wait_us", m->early_us);
    sv_json_number(j, "early_max_bytes", r->early_max);
    json_report(j, &a);
    sv_json_end(j, '}');
}

void sim_json_adapt(sv_json *j, const struct sim *sim)
{
    const sim_measures m = sim_measure(sim);
    json_number(j, "execution_us", m.execution_us);
    json_number(j, "global_latency_us", m.latency_us);
    json_number(j, "global_since_ready_us", m.since_ready_us);
    sv_json_number(j, "destinations", m.destinations);
    json_number(j, "contention_us", m.contention_us);
    sv_json_begin_row(j, "worst_router", '{');
    sv_json_text(j, "name", m.worst.i == SV_NONE ? NULL : sv_node_name(sim->f, m.worst));
    json_number(j, "contention_us", m.worst_us);
    sv_json_end(j, '}');
    if (sim->replay != NULL) {
        sv_json_begin_object(j, "trace");
        sv_json_text(j, "name", sim->trace->name);
        sv_json_number(j, "ranks", sim->trace->num_ranks);
        sv_json_text(j, "map", sim->o->map != NULL ? sim->o->map : "linear");
        sv_json_bool(j, "done", sim->replayed.done);
        json_number(j, "waiting_share", m.waiting_share);
        sv_json_end(j, '}');
    }
    if (sim->adapt != NULL)
        json_policy(j, sim, &m);
    else
        sv_json_null(j, "policy");
}
