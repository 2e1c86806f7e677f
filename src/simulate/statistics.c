/*
 * statistics.c: what is counted: bytes and latencies of terminals, the timeline of switches, and
 * whether bandwidths are steady.
 *
 * Latencies are put into bins, 32 for each power of two. Steady: the bytes that a terminal drains
 * in each interval are observations; its bandwidth is known when half of the 99 % interval of their
 * mean (Student's) is at most the precision times the mean. A terminal that nothing came to in ten
 * intervals is left out.
 *
 * Cost: O(1) for each packet; O(terminals) whenever somebody asks whether it is steady.
 */
#include <math.h>
#include <string.h>

#include "simulate/state.h"

static uint32_t bin_of(uint64_t ticks)
{
    if (ticks < 32)
        return (uint32_t)ticks;
    unsigned e = 63 - (unsigned)__builtin_clzll(ticks);
    return (e - 4) * 32 + (uint32_t)(ticks >> (e - 5) & 31);
}

uint64_t sv_sim_bin_from(uint32_t bin)
{
    if (bin < 32)
        return bin;
    unsigned e = bin / 32 + 4;
    return e > 63 ? UINT64_MAX : (uint64_t)(32 + bin % 32) << (e - 5);
}

uint64_t sv_sim_quantile(const sv_sim_result *result, double share)
{
    uint64_t below = 0, wanted = (uint64_t)ceil(share * (double)result->latencies);
    if (result->latencies == 0)
        return 0;
    for (uint32_t b = 0; b < SV_SIM_BINS; b++) {
        below += result->latency[b];
        if (below >= wanted && below > 0) {
            uint64_t max = sv_sim_bin_from(b + 1) - 1;
            return max < result->latency_max ? max : result->latency_max;
        }
    }
    return result->latency_max;
}

sv_status sv__statistics_init(sv__sim *x)
{
    if (x->k->steady == 0)
        return SV_OK;
    x->series = SV_ARENA_NEW(&x->arena, sv__series, x->f->num_terminals);
    return x->series == NULL ? SV_NO_MEMORY : SV_OK;
}

/* ---- steady ---- */

/* Closes the intervals of a terminal before one: the present one, and any number without bytes. */
static void roll(sv__series *s, uint64_t interval)
{
    if (s->interval >= interval)
        return;
    double delta = (double)s->bytes - s->mean, empty = (double)(interval - s->interval - 1);
    s->count++;
    s->mean += delta / s->count;
    s->squares += delta * ((double)s->bytes - s->mean);
    s->squares += s->mean * s->mean * s->count * empty / (s->count + empty);
    s->mean *= s->count / (s->count + empty);
    s->count += empty;
    s->bytes = 0;
    s->interval = interval;
}

static void observe(sv__sim *x, uint32_t t, uint32_t bytes, uint64_t time)
{
    if (time < x->k->warm_up)
        return;
    roll(&x->series[t], (time - x->k->warm_up) / x->k->steady);
    x->series[t].bytes += bytes;
}

/* The 99.5 % quantile of Student's distribution, by Cornish and Fisher's expansion. */
static double student(double n)
{
    const double z = 2.5758293035489;
    double z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

double sv__steady_share(const sv__team *team, uint64_t now)
{
    const sv__sim *x = &team->parts[0];
    uint32_t steady = 0, all = 0;
    if (x->series == NULL || now < x->k->warm_up)
        return 0;
    uint64_t interval = (now - x->k->warm_up) / x->k->steady;
    for (uint32_t t = 0; t < x->f->num_terminals; t++) {
        sv__series *s = &x->series[t];
        if (x->adapters[t].channel == SV_NONE)
            continue;
        roll(s, interval > s->interval ? interval : s->interval);
        if (s->count >= 10 && s->mean == 0) /* nobody sends to it */
            continue;
        all++;
        if (s->count < 10)
            continue;
        double deviation = sqrt(s->squares / (s->count - 1));
        double half = student(s->count - 1) * deviation / sqrt(s->count);
        steady += half <= x->k->precision * s->mean;
    }
    return all == 0 ? 0 : (double)steady / all;
}

/* ---- counting ---- */

static void count(sv__sim *x, const sv__sim_late *arrival)
{
    sv_sim_result *r = x->result;
    uint64_t time = arrival->time;
    uint32_t payload = arrival->drained ? arrival->length - x->header : 0, to = arrival->to;
    r->arrived_packets += arrival->drained;
    r->arrived_messages += arrival->last;
    if (x->series != NULL && arrival->drained)
        observe(x, to, payload, time);
    if (time < r->from || time >= r->until)
        return;
    sv_sim_terminal *terminal = &r->terminals[to];
    bool counts = x->source->counts == NULL || x->source->counts(x->source->user, to);
    terminal->received_bytes += payload;
    if (arrival->drained)
        terminal->last = sv__max(terminal->last, time);
    r->payload_bytes += counts ? payload : 0;
    if (!arrival->last)
        return;
    uint64_t latency = time - arrival->cargo.injected, total = time - arrival->cargo.ready;
    terminal->messages++;
    terminal->latency_sum += latency;
    terminal->latency_max = sv__max(terminal->latency_max, latency);
    terminal->total_sum += total;
    terminal->total_max = sv__max(terminal->total_max, total);
    if (!counts)
        return;
    r->latencies++;
    r->latency[bin_of(latency)]++;
    r->latency_sum += latency;
    r->latency_max = sv__max(r->latency_max, latency);
    r->total_sum += total;
    r->total_max = sv__max(r->total_max, total);
}

sv_status sv__count_arrival(sv__sim *x, const sv__sim_late *arrival)
{
    if (arrival->time < x->step_end) {
        count(x, arrival);
        return SV_OK;
    }
    if (x->num_late == x->late_room) {
        uint32_t room = x->late_room == 0 ? 256 : 2 * x->late_room;
        sv__sim_late *late = sv_resize(x->ctx, x->late, room, sizeof *late);
        if (late == NULL)
            return SV_NO_MEMORY;
        x->late = late;
        x->late_room = room;
    }
    x->late[x->num_late++] = *arrival;
    return SV_OK;
}

void sv__count_until(sv__sim *x, uint64_t time)
{
    uint32_t kept = 0;
    x->step_end = time;
    for (uint32_t i = 0; i < x->num_late; i++)
        if (x->late[i].time < time)
            count(x, &x->late[i]);
        else
            x->late[kept++] = x->late[i];
    x->num_late = kept;
}

/* A run that was stopped: packets whose link would have started later have not been sent. */
static void take_back(const sv__sim *x, uint64_t time)
{
    for (uint32_t c = 0; c < x->f->num_channels; c++) {
        const sv__output *o = &x->outputs[c];
        for (uint32_t i = 0; i < o->buffer_length; i++) {
            const sv__ramp *ramp =
                &o->buffer[(o->buffer_first + i) & (((uint32_t)1 << o->buffer_log) - 1)];
            if (ramp->from < time || ramp->from < x->result->from ||
                ramp->from >= x->result->until) /* it was not counted */
                continue;
            x->result->channels[c].packets--;
            x->result->channels[c].bytes -= ramp->length;
        }
    }
}

sv_status sv__rows_until(sv__sim *x, uint64_t time)
{
    if (x->k->interval == 0)
        return SV_OK;
    uint64_t rows = time / x->k->interval + 1;
    uint32_t switches = x->f->num_switches;
    if (rows >= UINT32_MAX / 2 || rows * switches > (uint64_t)1 << 28)
        return sv_fail(x->ctx, SV_BAD_INPUT, "the timeline's interval is too short for this run");
    if (rows > x->rows_room) {
        uint32_t room = (uint32_t)(rows + rows / 2);
        sv_sim_cell *cells =
            sv_resize(x->ctx, x->result->timeline, (size_t)room * switches, sizeof *cells);
        if (cells == NULL)
            return SV_NO_MEMORY;
        memset(cells + (size_t)x->rows_room * switches, 0,
               (size_t)(room - x->rows_room) * switches * sizeof *cells);
        x->result->timeline = cells;
        x->rows_room = room;
    }
    return SV_OK;
}

void sv__count_cell(sv__sim *x, uint32_t node, uint32_t bytes, uint64_t waited)
{
    uint32_t row = (uint32_t)(x->now / x->k->interval);
    x->result->rows = row + 1 > x->result->rows ? row + 1 : x->result->rows;
    sv_sim_cell *cell = &x->result->timeline[(size_t)row * x->f->num_switches + node];
    cell->packets++;
    cell->bytes += bytes;
    cell->waited += waited;
}

/* ---- summing up ---- */

/* What a part counted, added to the result. */
static void add(sv_sim_result *r, const sv_sim_result *part)
{
    r->messages += part->messages;
    r->arrived_messages += part->arrived_messages;
    r->arrived_packets += part->arrived_packets;
    r->packet_hops += part->packet_hops;
    r->looks += part->looks;
    r->payload_bytes += part->payload_bytes;
    r->latencies += part->latencies;
    r->latency_sum += part->latency_sum;
    r->latency_max = sv__max(r->latency_max, part->latency_max);
    r->total_sum += part->total_sum;
    r->total_max = sv__max(r->total_max, part->total_max);
    r->rows = part->rows > r->rows ? part->rows : r->rows;
    for (uint32_t b = 0; b < SV_SIM_BINS; b++)
        r->latency[b] += part->latency[b];
}

static uint64_t state_of(const sv__sim *x)
{
    return x->arena.taken + x->late_room * sizeof *x->late +
           x->packets_room * (sizeof *x->packets + sizeof *x->cargo) +
           x->opened_room * sizeof *x->opened + SV_SIM_BINS * sizeof(uint64_t) +
           (x->direction != NULL ? sv__direct_bytes(x) : 0) +
           (x->policy != NULL ? sv__policy_bytes(x) : 0);
}

void sv__statistics_end(const sv__team *team)
{
    sv_sim_result *r = team->parts[0].result;
    const sv_fabric *f = team->parts[0].f;
    if (r->time < r->until)
        take_back(&team->parts[0], r->time);
    r->state_bytes =
        f->num_terminals * sizeof *r->terminals + f->num_channels * sizeof *r->channels;
    for (uint32_t i = 0; i < team->count; i++) {
        const sv__sim *x = &team->parts[i];
        if (i > 0)
            add(r, x->result);
        r->packets += x->injected;
        r->state_bytes += state_of(x);
    }
    uint64_t until = r->until < r->time ? r->until : r->time;
    r->until = sv__max(until, r->from);
    if (r->until > r->from)
        r->throughput =
            (double)r->payload_bytes / ((double)(r->until - r->from) / (SV_TICKS_PER_NS * 1e9));
    r->steady_share = sv__steady_share(team, r->time);
}
