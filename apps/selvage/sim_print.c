/*
 * sim_print.c: what `selvage sim` found, for people and for programs.
 *
 * Throughput is payload that arrived, in 10^9 bytes a second. Its share is of what the adapters
 * that count could inject: the slower of their link and their bus, headers and pauses aside.
 */
#include <stdlib.h>
#include <string.h>

#include "selvage/sim_shared.h"

const char *sim_end_name(sv_sim_end end)
{
    static const char *const names[] = {"completed", "steady", "deadlock", "limit", "cancelled"};
    return names[end];
}

double sim_utilisation(const struct sim *sim, sv_channel c)
{
    const sv_sim_channel *about = &sim->result->channels[c.i];
    uint64_t counted = sim->result->until - sim->result->from;
    double bytes =
        (double)about->bytes + (double)about->packets * (double)sim->setup.model.inband_bytes;
    double share = counted > 0 ? bytes * (double)sim_byte_ticks(sim, c) / (double)counted : 0;
    return share < 1 ? share : 1; /* the last packet ends when counting is over */
}

/* Of the channels between switches, or of all where there are none; SV_NO_CHANNEL: all idle. */
static sv_channel busiest(const struct sim *sim)
{
    sv_channel best = SV_NO_CHANNEL;
    for (int all = 0; all < 2 && best.i == SV_NONE; all++)
        for (uint32_t i = 0; i < sim->f->num_channels; i++) {
            sv_channel c = {i};
            if (sim->result->channels[i].packets == 0 || (!all && !sv_joins_switches(sim->f, c)))
                continue;
            if (best.i == SV_NONE || sim_utilisation(sim, c) > sim_utilisation(sim, best))
                best = c;
        }
    return best;
}

/* ---- for people ---- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The spec's own keys win over options: what they tell is in it already. */
static void print_traffic(sv_text *out, const struct sim *sim)
{
    const struct sim_options *o = sim->o;
    if (sim->trace != NULL) {
        sv_text_print(out, "trace          %s: %u rank%s, mapped %s", o->trace,
                      sim->trace->num_ranks, sim->trace->num_ranks == 1 ? "" : "s",
                      o->map != NULL ? o->map : "linear");
        if (o->several)
            sv_text_print(out, "\n");
        else
            sv_text_print(out, ", seed %llu\n", (unsigned long long)o->seed);
        return;
    }
    sv_text_print(out, "traffic        %s%s", o->list != NULL ? "messages in " : "", sim->traffic);
    if (sim_same_bytes(sim))
        sv_text_print(out, ", messages of %u bytes", sim_message_bytes(sim));
    if (o->load != NULL)
        sv_text_print(out, ", load %s", o->load);
    if (o->messages != SIM_NOT_GIVEN)
        sv_text_print(out, ", at most %llu a terminal", (unsigned long long)o->messages);
    if (o->jobs != NULL)
        sv_text_print(out, ", in each job of %s", o->jobs);
    for (size_t i = 0; i < o->job_traffic.length; i++)
        sv_text_print(out, ", %s", o->job_traffic.at[i]);
    if (o->several)
        sv_text_print(out, "\n");
    else
        sv_text_print(out, ", seed %llu\n", (unsigned long long)o->seed);
}

void sim_print_what(sv_text *out, const struct sim *sim)
{
    const struct sim_options *o = sim->o;
    unsigned vls = sv_sim_vls(sim->f, sim->r);
    sv_text_print(out, "fabric         %s: %u switch%s, %u terminal%s\n", o->input,
                  sim->f->live_switches, sim->f->live_switches == 1 ? "" : "es",
                  sim->f->live_terminals, plural(sim->f->live_terminals));
    sv_text_print(out, "tables         %s%s, %u VL%s%s\n",
                  sim->engine != NULL ? "by " : "as they are there",
                  sim->engine != NULL ? sim->engine : "", vls, plural(vls),
                  o->assume_sl != SIM_NOT_GIVEN ? ", one service level assumed" : "");
    print_traffic(out, sim);
    sv_text_print(out, "profile        %s", o->profile);
    for (size_t i = 0; i < o->set.length; i++)
        sv_text_print(out, ", %s", o->set.at[i]);
    sv_text_print(out, "\n");
}

static void print_status(sv_text *out, const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    sv_text_print(out, "status         %s", sim_end_name(r->end));
    switch (r->end) {
    case SV_SIM_COMPLETED:
        break;
    case SV_SIM_STEADY:
        if (sim->o->steady)
            sv_text_print(out, ": the bandwidths of %.1f %% of the terminals are known",
                          100 * r->steady_share);
        else
            sv_text_print(out, ": the sample is over");
        break;
    case SV_SIM_DEADLOCK:
        sv_text_print(out, " since %.3f us: %u packet%s can never move", sim_us(r->stuck_since),
                      r->num_stuck, plural(r->num_stuck));
        break;
    case SV_SIM_LIMIT:
        sv_text_print(out, " of %s reached",
                      r->time >= sim->setup.control.limit ? "simulated time" : "wall time");
        break;
    case SV_SIM_CANCELLED:
        sv_text_print(out, ": this is what there is so far");
        break;
    }
    sv_text_print(out, "\nsimulated      %.3f us", sim_us(r->time));
    if (r->until == r->from)
        sv_text_print(out, ", which is before anything counts");
    else if (r->from > 0 || r->until != r->time)
        sv_text_print(out, ", counted from %.3f to %.3f us", sim_us(r->from), sim_us(r->until));
    sv_text_print(out,
                  "\nmessages       %llu begun, %llu arrived; packets %llu sent, %llu arrived\n",
                  (unsigned long long)r->messages, (unsigned long long)r->arrived_messages,
                  (unsigned long long)r->packets, (unsigned long long)r->arrived_packets);
}

static void print_latency(sv_text *out, const sv_sim_result *r)
{
    if (r->latencies == 0)
        return;
    sv_text_print(out, "latency        %.3f us on average, p50 %.3f, p99 %.3f, most %.3f\n",
                  sim_us(r->latency_sum) / (double)r->latencies, sim_us(sv_sim_quantile(r, 0.5)),
                  sim_us(sv_sim_quantile(r, 0.99)), sim_us(r->latency_max));
    sv_text_print(out, "  since ready  %.3f us on average, most %.3f\n",
                  sim_us(r->total_sum) / (double)r->latencies, sim_us(r->total_max));
}

static void print_numbers(sv_text *out, const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    if (r->until > r->from)
        sv_text_print(out,
                      "throughput     %.3f GB/s of %u terminal%s: %.4f each, %.2f %% of what they "
                      "can inject\n",
                      r->throughput / 1e9, sim->counting, plural(sim->counting),
                      sim->counting > 0 ? r->throughput / 1e9 / sim->counting : 0,
                      sim->injection > 0 ? 100 * r->throughput / sim->injection : 0);
    print_latency(out, r);
    sv_channel c = busiest(sim);
    if (c.i != SV_NONE)
        sv_text_print(out, "busiest        %s port %u to %s: %.1f %% busy, %llu packets\n",
                      sv_node_name(sim->f, sim->f->tail[c.i]), sim->f->port[c.i],
                      sv_node_name(sim->f, sim->f->head[c.i]), 100 * sim_utilisation(sim, c),
                      (unsigned long long)r->channels[c.i].packets);
    double microseconds = sim->seconds > 0 ? sim->seconds * 1e6 : 1;
    sv_text_print(out,
                  "took           %.3f s: %.2f M events/s, %.2f M packet-hops/s, state of %.0f "
                  "bytes a terminal\n",
                  sim->seconds, (double)sim_events(r) / microseconds,
                  (double)r->packet_hops / microseconds,
                  sim->f->live_terminals > 0 ? (double)r->state_bytes / sim->f->live_terminals : 0);
}

void sim_print_text(sv_text *out, const struct sim *sim)
{
    sim_print_what(out, sim);
    print_status(out, sim);
    print_numbers(out, sim);
    sim_print_adapt(out, sim);
    if (sim->result->end != SV_SIM_DEADLOCK)
        return;
    sv_text_print(out, "%zu channels wait for each other%s%s%s:\n", sim->cycle_length,
                  sim->engine == NULL ? " (selvage check " : "",
                  sim->engine == NULL ? sim->o->input : "",
                  sim->engine == NULL ? " names such a cycle, too)" : "");
    app_print_cycle(out, sim->f, sim->r, sim->cycle, sim->cycle_length);
}

/* ---- for programs ---- */

/* "cable_ns": 43, with underscores for hyphens; the word of a number is null. */
static void json_profile(sv_json *j, const struct sim *sim)
{
    char key[64], text[64];
    const sv_sim_param *param;
    sv_json_begin_object(j, "profile");
    sv_json_text(j, "name", sim->o->profile);
    for (size_t i = 0; (param = sv_sim_param_at(i)) != NULL; i++) {
        size_t length = strlen(param->name);
        for (size_t k = 0; k <= length; k++)
            key[k] = param->name[k] == '-' ? '_' : param->name[k];
        sv_sim_param_text(&sim->setup.model, i, text, sizeof text);
        if (!param->is_number && strcmp(param->values, "off|on") == 0)
            sv_json_bool(j, key, strcmp(text, "on") == 0);
        else if (!param->is_number)
            sv_json_text(j, key, text);
        else if (param->word != NULL && strcmp(text, param->word) == 0)
            sv_json_null(j, key);
        else
            sv_json_real(j, key, strtod(text, NULL), strchr(text, '.') != NULL ? 6 : 0);
    }
    sv_json_end(j, '}');
}

void sim_json_what(sv_json *j, const struct sim *sim)
{
    const struct sim_options *o = sim->o;
    sv_json_text(j, "fabric", o->input);
    sv_json_text(j, "engine", sim->engine);
    sv_json_number(j, "switches", sim->f->live_switches);
    sv_json_number(j, "terminals", sim->f->live_terminals);
    sv_json_number(j, "vls", sv_sim_vls(sim->f, sim->r));
    sv_json_text(j, "traffic", sim->traffic);
    if (sim_same_bytes(sim))
        sv_json_number(j, "message_bytes", sim_message_bytes(sim));
    if (o->load != NULL)
        sv_json_real(j, "load", o->load_share, 6);
    if (!o->several)
        sv_json_number(j, "seed", o->seed);
    json_profile(j, sim);
}

static void json_time(sv_json *j, const char *key, uint64_t ticks)
{
    sv_json_real(j, key, sim_us(ticks), 6);
}

static void json_latency(sv_json *j, const sv_sim_result *r)
{
    sv_json_begin_row(j, "latency_us", '{');
    if (r->latencies > 0) {
        sv_json_real(j, "avg", sim_us(r->latency_sum) / (double)r->latencies, 6);
        json_time(j, "p50", sv_sim_quantile(r, 0.5));
        json_time(j, "p99", sv_sim_quantile(r, 0.99));
        json_time(j, "max", r->latency_max);
    } else {
        sv_json_null(j, "avg");
        sv_json_null(j, "p50");
        sv_json_null(j, "p99");
        sv_json_null(j, "max");
    }
    sv_json_end(j, '}');
    sv_json_begin_row(j, "since_ready_us", '{');
    if (r->latencies > 0) {
        sv_json_real(j, "avg", sim_us(r->total_sum) / (double)r->latencies, 6);
        json_time(j, "max", r->total_max);
    } else {
        sv_json_null(j, "avg");
        sv_json_null(j, "max");
    }
    sv_json_end(j, '}');
}

static void json_busiest(sv_json *j, const struct sim *sim)
{
    sv_channel c = busiest(sim);
    if (c.i == SV_NONE) {
        sv_json_null(j, "busiest");
        return;
    }
    sv_json_begin_row(j, "busiest", '{');
    sv_json_text(j, "from", sv_node_name(sim->f, sim->f->tail[c.i]));
    sv_json_number(j, "port", sim->f->port[c.i]);
    sv_json_text(j, "to", sv_node_name(sim->f, sim->f->head[c.i]));
    sv_json_number(j, "packets", sim->result->channels[c.i].packets);
    sv_json_real(j, "utilisation", sim_utilisation(sim, c), 6);
    sv_json_end(j, '}');
}

static void json_deadlock(sv_json *j, const struct sim *sim)
{
    if (sim->result->end != SV_SIM_DEADLOCK) {
        sv_json_null(j, "deadlock");
        return;
    }
    sv_json_begin_object(j, "deadlock");
    json_time(j, "since_us", sim->result->stuck_since);
    sv_json_number(j, "packets", sim->result->num_stuck);
    app_json_cycle(j, sim->f, sim->r, sim->cycle, sim->cycle_length);
    sv_json_end(j, '}');
}

void sim_print_json(sv_text *out, const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    sv_json j;
    sv_json_init(&j, out);
    sv_json_begin_object(&j, NULL);
    sv_json_text(&j, "status", sim_end_name(r->end));
    sv_json_bool(&j, "partial", r->end == SV_SIM_CANCELLED);
    sim_json_what(&j, sim);
    json_time(&j, "simulated_us", r->time);
    json_time(&j, "counted_from_us", r->from);
    json_time(&j, "counted_until_us", r->until);
    sv_json_real(&j, "throughput_gbyte_s", r->throughput / 1e9, 6);
    sv_json_number(&j, "terminals_counted", sim->counting);
    sv_json_real(&j, "injection_share", sim->injection > 0 ? r->throughput / sim->injection : 0, 6);
    json_latency(&j, r);
    sv_json_number(&j, "messages", r->messages);
    sv_json_number(&j, "packets", r->packets);
    sv_json_number(&j, "arrived_messages", r->arrived_messages);
    sv_json_number(&j, "arrived_packets", r->arrived_packets);
    sv_json_number(&j, "counted_messages", r->latencies);
    sv_json_number(&j, "payload_bytes", r->payload_bytes);
    if (sim->o->steady)
        sv_json_real(&j, "steady_share", r->steady_share, 6);
    json_busiest(&j, sim);
    sim_json_adapt(&j, sim);
    sv_json_number(&j, "events", sim_events(r));
    sv_json_number(&j, "packet_hops", r->packet_hops);
    sv_json_number(&j, "state_bytes", r->state_bytes);
    sv_json_real(&j, "wall_seconds", sim->seconds, 6);
    json_deadlock(&j, sim);
    sv_json_end(&j, '}');
}
