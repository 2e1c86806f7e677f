/*
 * measure.c: what is counted in a cell: the fabric, the tables, the simulation.
 *
 * Cost: that of the calls it makes.
 */
#include <selvage/simulate.h>
#include <selvage/traffic.h>
#include <selvage/verify.h>
#include <stdlib.h>

#include "study/study.h"

/* Traffic that does not end is watched as in the paper on DLA: 5 ms after 1 ms. */
static const uint64_t WARM_UP = (uint64_t)1000000 * SV_TICKS_PER_NS,
                      SAMPLE = (uint64_t)5000000 * SV_TICKS_PER_NS;

/* Columns that a timeline has at most. */
enum { TIMELINE = 64 };

static uint32_t links_of(const sv_fabric *f)
{
    uint32_t links = 0;
    for (uint32_t c = 0; c < f->num_channels; c++)
        links += c < f->reverse[c].i && sv_channel_alive(f, (sv_channel){c}) &&
                 sv_is_switch(f, f->tail[c]) && sv_is_switch(f, f->head[c]);
    return links;
}

sv_status sv__measure_fabric(sv__bench *b)
{
    sv__result *r = b->result;
    r->fabric_switches = b->whole->live_switches;
    r->fabric_terminals = b->whole->live_terminals;
    r->fabric_links = links_of(b->whole);
    sv__set_integer(r, SV__C_switches, b->f->live_switches);
    sv__set_integer(r, SV__C_terminals, b->f->live_terminals);
    sv__set_integer(r, SV__C_links, links_of(b->f));
    return b->cell->keep ? sv__snapshot_fabric(b) : SV_OK;
}

sv_status sv__verify_tables(sv__bench *b)
{
    sv__result *r = b->result;
    sv_verification *found = NULL;
    SV_TRY(sv_verify(b->ctx, b->f, b->r, NULL, &found));
    uint64_t unreachable = found->unreachable[SV_PAIRS_TERMINAL_TERMINAL];
    sv_verdict verdict = found->deadlock_free[SV_TRAFFIC_TERMINALS];
    sv__set_integer(r, SV__C_pairs, found->pairs[SV_PAIRS_TERMINAL_TERMINAL]);
    sv__set_integer(r, SV__C_unreachable, unreachable);
    sv__set_integer(r, SV__C_loops, found->loops);
    if (verdict != SV_VERDICT_UNKNOWN)
        sv__set_integer(r, SV__C_deadlock_free, verdict == SV_VERDICT_YES);
    if (b->cell->router->tables != NULL)
        sv__set_integer(r, SV__C_vls_used, found->vls_used);
    b->incomplete = unreachable > found->split_pairs || found->loops > 0;
    b->split = found->split_pairs > 0;
    if (b->incomplete)
        sv__say(r, "incomplete", "%llu of %llu pairs are not joined, %llu loops",
                (unsigned long long)unreachable,
                (unsigned long long)found->pairs[SV_PAIRS_TERMINAL_TERMINAL],
                (unsigned long long)found->loops);
    else if (b->split)
        sv__say(r, "split", "%llu of %llu pairs of terminals are in different parts of the fabric",
                (unsigned long long)found->split_pairs,
                (unsigned long long)found->pairs[SV_PAIRS_TERMINAL_TERMINAL]);
    else if (verdict != SV_VERDICT_YES)
        sv__say(r, "unsafe", "tables can deadlock: a cycle of %zu channels", found->cycle_length);
    sv_verification_free(found);
    return SV_OK;
}

static sv_status measure_lost(sv__bench *b)
{
    const sv_lost_plan *plan = &b->study->lost;
    sv_lost *lost = SV_ARENA_NEW(b->arena, sv_lost, plan->count);
    uint64_t pairs;
    b->result->lost = SV_ARENA_NEW(b->arena, sv__lost_row, plan->count);
    if (lost == NULL || b->result->lost == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_routes_lost(b->ctx, b->f, b->r, plan, lost, &pairs, NULL));
    for (uint32_t i = 0; i < plan->count; i++)
        b->result->lost[i] = (sv__lost_row){pairs, lost[i]};
    b->result->num_lost = plan->count;
    return SV_OK;
}

sv_status sv__measure_tables(sv__bench *b)
{
    sv__result *r = b->result;
    sv_load load;
    b->load = sv_alloc(b->ctx, b->f->num_channels, sizeof *b->load);
    if (b->load == NULL)
        return SV_NO_MEMORY;
    SV_TRY(sv_routes_load(b->ctx, b->f, b->r, b->load, &load));
    sv__set_integer(r, SV__C_efi_min, load.min);
    sv__set_real(r, SV__C_efi_avg, load.avg);
    sv__set_integer(r, SV__C_efi_max, load.max);
    sv__set_real(r, SV__C_efi_sdv, load.sdv);
    sv__set_real(r, SV__C_hops_avg, load.hops_avg);
    sv__set_integer(r, SV__C_hops_max, load.hops_max);
    if (b->study->bound) {
        sv_bound bound;
        SV_TRY(sv_routes_bound(b->ctx, b->f, b->r, &bound));
        sv__set_integer(r, SV__C_efi_bound, bound.efi);
    }
    if (b->study->matchings > 0) {
        sv_matchings found;
        SV_TRY(sv_routes_matchings(b->ctx, b->f, b->r, b->study->matchings, 1, NULL, &found));
        sv__set_real(r, SV__C_ebb_avg, found.avg);
        sv__set_real(r, SV__C_ebb_min, found.min);
        sv__set_real(r, SV__C_ebb_max, found.max);
        sv__set_real(r, SV__C_ebb_sdv, found.sdv);
        sv__set_integer(r, SV__C_ebb_matchings, b->study->matchings);
    }
    if (b->study->lost.trials > 0)
        SV_TRY(measure_lost(b));
    return b->cell->keep && !b->study->simulate ? sv__snapshot_loads(b, NULL) : SV_OK;
}

/* ---- simulation ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A quantile of sorted values, between two of them if need be. */
static double quantile(const double *at, uint32_t count, double share)
{
    double place = share * (count - 1);
    uint32_t below = (uint32_t)place;
    double rest = place - below;
    return below + 1 < count ? at[below] * (1 - rest) + at[below + 1] * rest : at[below];
}

/*
 * What single terminals received, of those that took part: a second of a sample, or, if all traffic
 * came to an end, until the terminal had all of its own.
 */
static sv_status terminals(sv__bench *b, const sv_sim_result *from)
{
    double all = (double)(from->until - from->from) / (SV_TICKS_PER_NS * 1e9), sum = 0;
    double *at = SV_ARENA_NEW(b->arena, double, b->f->num_terminals);
    uint32_t count = 0;
    if (at == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < b->f->num_terminals; t++) {
        const sv_sim_terminal *about = &from->terminals[t];
        if (about->sent_bytes == 0 && about->received_bytes == 0)
            continue;
        double seconds = from->end == SV_SIM_COMPLETED && about->last > from->from
                             ? (double)(about->last - from->from) / (SV_TICKS_PER_NS * 1e9)
                             : all;
        at[count] = seconds > 0 ? (double)about->received_bytes / seconds / 1e9 : 0;
        sum += at[count++];
    }
    if (count == 0)
        return SV_OK;
    qsort(at, count, sizeof *at, by_size);
    const enum sv__column columns[] = {SV__C_bw_min, SV__C_bw_q1, SV__C_bw_median, SV__C_bw_q3,
                                       SV__C_bw_max};
    for (int i = 0; i < 5; i++)
        sv__set_real(b->result, columns[i], quantile(at, count, i / 4.0));
    sv__set_real(b->result, SV__C_bw_avg, sum / count);
    return SV_OK;
}

static void tell(sv__bench *b, const sv_sim_result *from)
{
    static const char *const ends[] = {[SV_SIM_COMPLETED] = "completed",
                                       [SV_SIM_STEADY] = "steady",
                                       [SV_SIM_DEADLOCK] = "deadlock",
                                       [SV_SIM_LIMIT] = "limit",
                                       [SV_SIM_CANCELLED] = "cancelled"};
    sv__result *r = b->result;
    const double us = SV_TICKS_PER_NS * 1e3;
    const char *end = ends[from->end];
    for (size_t i = 0; i < sizeof r->sim_status - 1 && (r->sim_status[i] = end[i]) != 0; i++)
        ;
    sv__set_real(r, SV__C_simulated_us, (double)from->time / us);
    sv__set_integer(r, SV__C_packets, from->packets);
    sv__set_integer(r, SV__C_packet_hops, from->packet_hops);
    if (from->end == SV_SIM_DEADLOCK) {
        sv__say(r, "deadlock", "%u packets can never move again, from %.3f us on", from->num_stuck,
                (double)from->stuck_since / us);
        return;
    }
    sv__set_real(r, SV__C_throughput, from->throughput / 1e9);
    if (from->latencies == 0)
        return;
    sv__set_real(r, SV__C_latency_avg, (double)from->latency_sum / (double)from->latencies / us);
    sv__set_real(r, SV__C_latency_p50, (double)sv_sim_quantile(from, 0.5) / us);
    sv__set_real(r, SV__C_latency_p99, (double)sv_sim_quantile(from, 0.99) / us);
    sv__set_real(r, SV__C_latency_max, (double)from->latency_max / us);
}

/* How long an interval of the timeline should be: a part of what it takes at least. */
static uint64_t interval_of(const sv__bench *b, const sv_sim_setup *setup)
{
    const sv_sim_model *m = &setup->model;
    if (setup->control.sample > 0)
        return (setup->control.warm_up + setup->control.sample) / TIMELINE;
    uint64_t bytes = b->cell->message > 0 ? b->cell->message : m->mtu_bytes;
    uint64_t ticks = m->inject > 0 ? m->inject : 450;
    uint64_t min = setup->source->messages / (b->f->live_terminals + 1) * bytes * ticks;
    return min / TIMELINE > SV_TICKS_PER_NS * 1000 ? min / TIMELINE : SV_TICKS_PER_NS * 1000;
}

static sv_status simulate(sv__bench *b, sv_sim_setup *setup)
{
    sv_sim_result *result = NULL;
    uint64_t now = sv_now_ns(b->ctx);
    if (b->until_ns > 0)
        setup->control.wall_ns = b->until_ns > now ? b->until_ns - now : 1;
    if (b->cell->keep)
        setup->control.interval = interval_of(b, setup);
    SV_TRY(sv_simulate(b->ctx, b->f, b->r, setup, &result));
    tell(b, result);
    sv_status status = result->end == SV_SIM_DEADLOCK ? SV_OK : terminals(b, result);
    if (status == SV_OK && b->cell->keep)
        status = sv__snapshot_loads(b, result);
    if (status == SV_OK && b->cell->keep && result->end != SV_SIM_DEADLOCK)
        status = sv__snapshot_timeline(b, result, setup->control.interval);
    if (status == SV_OK && result->end == SV_SIM_LIMIT)
        sv__say(b->result, "time", "%s", "the simulation took longer than it may");
    sv_sim_free(result);
    return status;
}

sv_status sv__measure_simulation(sv__bench *b)
{
    if (!b->study->simulate || b->incomplete || b->split)
        return SV_OK;
    sv_sim_setup setup = {.model = b->study->model, .control.limit = SV_NEVER};
    unsigned vls = sv_sim_vls(b->f, b->r);
    sv_sim_traffic *traffic = NULL;
    if (setup.model.vls == 0)
        setup.model.vls = vls;
    if (setup.model.vls < vls)
        return sv_fail(b->ctx, SV_INFEASIBLE, "tables use %u VLs, the model has %u", vls,
                       setup.model.vls);
    const sv_sim_traffic_request request = {.spec = b->cell->traffic,
                                            .model = &setup.model,
                                            .bytes = b->cell->message,
                                            .load = b->cell->load,
                                            .seed = 1};
    SV_TRY(sv_sim_traffic_new(b->ctx, b->f, b->r, &request, &traffic));
    setup.source = sv_sim_traffic_source(traffic);
    if (sv_sim_traffic_endless(traffic)) {
        setup.control.warm_up = WARM_UP;
        setup.control.sample = SAMPLE;
    }
    sv_status status = simulate(b, &setup);
    sv_sim_traffic_free(traffic);
    return status;
}
