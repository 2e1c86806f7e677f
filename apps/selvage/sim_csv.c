/*
 * sim_csv.c: what `selvage sim` writes into files: comma-separated values with a line of names
 * first, as RFC 4180 has it but for line ends. Units are in the names.
 */
#include <string.h>

#include "base/csv.h"
#include "selvage/sim_shared.h"

/* A node's name and GUID as two fields. */
static void node(sv_text *out, const struct sim *sim, sv_node v)
{
    sv_csv_field(out, sv_node_name(sim->f, v));
    sv_text_print(out, ",0x%016llx", (unsigned long long)sv_node_guid(sim->f, v));
}

static double counted_ns(const struct sim *sim)
{
    return (double)(sim->result->until - sim->result->from) / SV_TICKS_PER_NS;
}

static void terminals(sv_text *out, const struct sim *sim)
{
    double ns = counted_ns(sim);
    sv_text_print(out,
                  "terminal,guid,sent_bytes,received_bytes,received_gbyte_s,messages,"
                  "latency_avg_us,latency_max_us,since_ready_avg_us,since_ready_max_us,last_us\n");
    for (uint32_t t = 0; t < sim->f->num_terminals; t++) {
        const sv_sim_terminal *about = &sim->result->terminals[t];
        sv_node v = {sim->f->num_switches + t};
        if (!sv_node_alive(sim->f, v))
            continue;
        node(out, sim, v);
        sv_text_print(out, ",%llu,%llu,%.6f,%llu", (unsigned long long)about->sent_bytes,
                      (unsigned long long)about->received_bytes,
                      ns > 0 ? (double)about->received_bytes / ns : 0,
                      (unsigned long long)about->messages);
        if (about->messages > 0)
            sv_text_print(
                out, ",%.6f,%.6f,%.6f,%.6f", sim_us(about->latency_sum) / (double)about->messages,
                sim_us(about->latency_max), sim_us(about->total_sum) / (double)about->messages,
                sim_us(about->total_max));
        else
            sv_text_print(out, ",,,,");
        if (about->last > 0)
            sv_text_print(out, ",%.6f\n", sim_us(about->last));
        else
            sv_text_print(out, ",\n");
    }
}

static void channels(sv_text *out, const struct sim *sim)
{
    const sv_fabric *f = sim->f;
    sv_text_print(out, "from,from_guid,from_port,to,to_guid,to_port,packets,bytes,utilisation,"
                       "waited_us\n");
    for (uint32_t i = 0; i < f->num_channels; i++) {
        const sv_sim_channel *about = &sim->result->channels[i];
        sv_channel c = {i};
        if (!sv_channel_alive(f, c))
            continue;
        node(out, sim, f->tail[i]);
        sv_text_print(out, ",%u,", f->port[i]);
        node(out, sim, f->head[i]);
        sv_text_print(out, ",%u,%llu,%llu,%.6f,%.6f\n", f->port[f->reverse[i].i],
                      (unsigned long long)about->packets, (unsigned long long)about->bytes,
                      sim_utilisation(sim, c), sim_us(about->waited));
    }
}

static void latencies(sv_text *out, const struct sim *sim)
{
    sv_text_print(out, "from_us,below_us,messages\n");
    for (uint32_t bin = 0; bin < SV_SIM_BINS; bin++) {
        if (sim->result->latency[bin] == 0)
            continue;
        uint64_t below =
            bin + 1 < SV_SIM_BINS ? sv_sim_bin_from(bin + 1) : sim->result->latency_max + 1;
        sv_text_print(out, "%.6f,%.6f,%llu\n", sim_us(sv_sim_bin_from(bin)), sim_us(below),
                      (unsigned long long)sim->result->latency[bin]);
    }
}

/* Bytes that the links out of a switch could send in a tick. */
static double capacity(const struct sim *sim, uint32_t s)
{
    double bytes = 0;
    SV_FOR_HOPS (sim->f, (sv_node){s}, hop)
        bytes += 1.0 / (double)sim_byte_ticks(sim, hop->channel);
    return bytes;
}

static void timeline(sv_text *out, const struct sim *sim)
{
    const sv_sim_result *r = sim->result;
    uint64_t length = sim->setup.control.interval;
    uint32_t switches = sim->f->num_switches;
    sv_text_print(out, "from_us,switch,guid,packets,bytes,utilisation,waited_us\n");
    for (uint32_t row = 0; row < r->rows; row++)
        for (uint32_t s = 0; s < switches; s++) {
            const sv_sim_cell *cell = &r->timeline[(size_t)row * switches + s];
            double max = capacity(sim, s) * (double)length;
            double bytes =
                (double)cell->bytes + (double)cell->packets * sim->setup.model.inband_bytes;
            if (!sv_node_alive(sim->f, (sv_node){s}))
                continue;
            sv_text_print(out, "%.6f,", sim_us(row * length));
            node(out, sim, (sv_node){s});
            sv_text_print(out, ",%u,%llu,%.6f,%.6f\n", cell->packets,
                          (unsigned long long)cell->bytes, max > 0 ? bytes / max : 0,
                          sim_us(cell->waited));
        }
}

static void routers(sv_text *out, const struct sim *sim)
{
    const sv_adapt_router *found = sim->adapt != NULL ? sv_adapt_routers(sim->adapt) : NULL;
    sv_text_print(out, "switch,guid,packets,waited_us,contention_us,notices,patterns,repeated,"
                       "applied\n");
    for (uint32_t s = 0; s < sim->f->num_switches; s++) {
        uint64_t packets;
        sv_sim_sum waited;
        if (!sv_node_alive(sim->f, (sv_node){s}))
            continue;
        sim_router(sim, s, &packets, &waited);
        node(out, sim, (sv_node){s});
        sv_text_print(out, ",%llu,%.6f,", (unsigned long long)packets, sim_us(waited));
        if (packets > 0)
            sv_text_print(out, "%.6f", sim_us(waited) / (double)packets);
        if (found == NULL)
            sv_text_print(out, ",,,,\n");
        else
            sv_text_print(out, ",%llu,%llu,%llu,%llu\n", (unsigned long long)found[s].notices,
                          (unsigned long long)found[s].patterns,
                          (unsigned long long)found[s].repeated,
                          (unsigned long long)found[s].applied);
    }
}

static void stuck(sv_text *out, const struct sim *sim)
{
    const sv_fabric *f = sim->f;
    sv_text_print(out, "switch,guid,in_port,vl,out_port,out_vl,behind,source,destination,"
                       "since_us\n");
    for (uint32_t i = 0; i < sim->result->num_stuck; i++) {
        const sv_sim_stuck *s = &sim->result->stuck[i];
        unsigned in = s->in.i == SV_NONE ? 0 : f->port[f->reverse[s->in.i].i];
        node(out, sim, f->tail[s->out.i]);
        sv_text_print(out, ",%u,%u,%u,%u,%s,", in, s->vl, f->port[s->out.i], s->out_vl,
                      s->behind ? "yes" : "no");
        sv_csv_field(out, sv_node_name(f, (sv_node){f->num_switches + s->from}));
        sv_text_add(out, ",", 1);
        sv_csv_field(out, sv_node_name(f, sim->r->node[s->destination]));
        sv_text_print(out, ",%.6f\n", sim_us(s->since));
    }
}

void sim_print_csv(sv_text *out, const struct sim *sim, enum sim_file file)
{
    switch (file) {
    case SIM_TERMINALS:
        terminals(out, sim);
        break;
    case SIM_CHANNELS:
        channels(out, sim);
        break;
    case SIM_LATENCIES:
        latencies(out, sim);
        break;
    case SIM_TIMELINE:
        timeline(out, sim);
        break;
    case SIM_ROUTERS:
        routers(out, sim);
        break;
    case SIM_STUCK:
        stuck(out, sim);
        break;
    case SIM_NUM_FILES:
        break;
    }
}
