/*
 * migrate.c: one flow leaves a link for another while its tables are changed, and comes back: the
 * testbed of thesis 5.3.3.5 (two QDR switches, two cables between them, two nodes each), in the
 * simulator.
 *
 *     bench_migrate [back|over] [DELAY_MS [SAMPLE_US]] [NAME=VALUE…]
 *
 * A node of the first switch sends messages of 1 MiByte, one after the other, to one of the second:
 * by its base address over cable 1, by its high one over cable 2. Five phases change the base
 * tables: `back`: those of others, so that the flow comes back to cable 1; `over`: its own, too, so
 * that it stays on cable 2. Between the last switch's answer and REPATH the manager waits DELAY_MS
 * (10; the thesis: 10,000). What each cable carries is printed for each sample of SAMPLE_US (70;
 * the thesis: 70,000), headers counted, as PortXmitData does. NAME=VALUE: of the model (qdr).
 *
 * The wait is the plan's: packets of before are to leave (`settle`), and that takes at least so
 * long.
 */
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 1 << 20, CABLES = 2, FLOW_FROM = 0, FLOW_TO = 2, OTHER_TO = 3 };

struct watch {
    uint64_t sample;                 /* ticks */
    uint64_t *packets;               /* [rows × CABLES]: granted */
    size_t rows;                     /* that there is room for */
    sv_channel cable[CABLES];        /* from the first switch to the second */
    uint64_t last, gap, gap_at, min; /* arrivals: the longest time without one, the shortest */
    uint64_t arrived;
};

static void must(sv_ctx *ctx, sv_status status)
{
    if (status == SV_OK)
        return;
    fprintf(stderr, "bench_migrate: %s\n", sv_ctx_message(ctx));
    exit(1);
}

/* ---- who sends, who watches ---- */

static bool next(void *user, uint32_t terminal, sv_sim_message *message)
{
    const uint32_t *destination = user;
    if (terminal != FLOW_FROM)
        return false;
    *message = (sv_sim_message){.destination = *destination, .bytes = MESSAGE};
    return true;
}

static void granted(void *user, uint32_t packet, sv_channel out, unsigned vl, uint64_t time)
{
    struct watch *w = user;
    uint64_t row = time / w->sample;
    (void)packet;
    (void)vl;
    for (unsigned k = 0; k < CABLES; k++)
        if (out.i == w->cable[k].i && row < w->rows)
            w->packets[row * CABLES + k]++;
}

static void arrived(void *user, uint32_t packet, uint64_t time)
{
    struct watch *w = user;
    uint64_t gap = time - w->last;
    (void)packet;
    if (w->arrived++ > 0 && gap > w->gap) {
        w->gap = gap;
        w->gap_at = w->last;
    }
    if (w->arrived > 1 && (w->min == 0 || gap < w->min))
        w->min = gap;
    w->last = time;
}

/* ---- tables ---- */

/* The port of a switch to a cable: they come in the same order at both ends. */
static unsigned port_of(const sv_fabric *f, uint32_t s, unsigned cable)
{
    for (unsigned port = 1; port <= f->switches[s].ports; port++) {
        sv_channel c = sv_channel_at(f, (sv_node){s}, port);
        if (c.i != SV_NONE && f->head[c.i].i < f->num_switches && cable-- == 0)
            return port;
    }
    return 0;
}

/* A terminal is reached over one cable from the other switch. */
static void lead(sv_ctx *ctx, const sv_fabric *f, sv_routes *r, uint32_t terminal, unsigned cable)
{
    uint32_t d = r->first[f->num_switches + terminal], far = r->home[terminal] == 0;
    uint8_t *row = sv_routes_row(ctx, r, d);
    if (row == NULL)
        exit(1);
    row[far] = (uint8_t)port_of(f, far, cable);
}

/* All over one cable. */
static sv_routes *tables(sv_ctx *ctx, const sv_fabric *f, unsigned cable)
{
    sv_routes *r = NULL;
    must(ctx, sv_route(ctx, f, "minhop", NULL, &r, NULL));
    for (uint32_t t = 0; t < f->num_terminals; t++)
        lead(ctx, f, r, t, cable);
    return r;
}

/* ---- running ---- */

static const char *phase_at(const sv_rehearsal *r, uint64_t time)
{
    static const char *const names[] = {"1", "2", "3", "4", "5"};
    for (int i = 4; i >= 0; i--)
        if (r->phase[i].until >= r->phase[i].from && time >= r->phase[i].from)
            return names[i];
    return "1";
}

static double us(uint64_t ticks)
{
    return (double)ticks / (1000.0 * SV_TICKS_PER_NS);
}

/* Bytes of so many packets on the wire, in GB/s. */
static double rate(const sv_sim_model *m, uint64_t packets, uint64_t ticks)
{
    double bytes = (double)packets * (m->mtu_bytes + m->header_bytes);
    return ticks > 0 ? bytes / ((double)ticks / SV_TICKS_PER_NS) : 0;
}

/* Samples that are whole within a phase. */
static void tell_phase(const struct watch *w, const sv_sim_model *m, const char *name,
                       const sv_rehearsal_phase *phase)
{
    uint64_t from = (phase->from + w->sample - 1) / w->sample, until = phase->until / w->sample;
    uint64_t sum[CABLES] = {0};
    for (uint64_t i = from; i < until && i < w->rows; i++)
        for (unsigned k = 0; k < CABLES; k++)
            sum[k] += w->packets[i * CABLES + k];
    uint64_t ticks = until > from ? (until - from) * w->sample : 0;
    printf("# phase %s: %.3f us, cable 1 %.3f GB/s, cable 2 %.3f GB/s, payload %.3f GB/s\n", name,
           us(phase->until - phase->from), rate(m, sum[0], ticks), rate(m, sum[1], ticks),
           phase->until > phase->from
               ? (double)phase->bytes / ((double)(phase->until - phase->from) / SV_TICKS_PER_NS)
               : 0);
}

static void tell(const struct watch *w, const sv_sim_model *m, const sv_rehearsal *r)
{
    static const char *const names[] = {"1 (before)", "2 (leave)", "3 (program)",
                                        "4 (return)", "5 (after)", "2 to 4"};
    uint64_t end = r->phase[4].until / w->sample;
    printf("ms cable1_gbyte_s cable2_gbyte_s phase\n");
    for (uint64_t i = 0; i < end && i < w->rows; i++)
        printf("%.3f %.3f %.3f %s\n", us(i * w->sample) / 1000,
               rate(m, w->packets[i * CABLES], w->sample),
               rate(m, w->packets[i * CABLES + 1], w->sample), phase_at(r, i * w->sample));
    for (int i = 0; i < SV_REHEARSE_PHASES; i++)
        tell_phase(w, m, names[i], &r->phase[i]);
    printf("# %s; longest time without an arrival %.3f us (at %.3f ms; shortest %.3f us)\n",
           r->done ? "done" : "not done", us(w->gap), us(w->gap_at) / 1000, us(w->min));
    printf("# packets %llu, dropped %llu, looped %llu, overtaken %llu, inconsistent %llu\n",
           (unsigned long long)w->arrived, (unsigned long long)r->sim->incidents[SV_SIM_DROPPED],
           (unsigned long long)r->sim->incidents[SV_SIM_LOOPED],
           (unsigned long long)r->sim->incidents[SV_SIM_OVERTAKEN],
           (unsigned long long)r->inconsistent);
    printf(
        "# drained in %.3f us at most, silent for %.3f us at most; %llu blocks, %llu datagrams\n",
        us(r->drain_max), us(r->held_max), (unsigned long long)r->blocks,
        (unsigned long long)r->datagrams);
}

static void run(sv_ctx *ctx, const sv_fabric *f, bool over, uint64_t delay, struct watch *w,
                sv_sim_model *model)
{
    enum { US = 1000 * SV_TICKS_PER_NS };
    static const uint32_t application[] = {0, SV_NONE, 0, SV_NONE};
    sv_routes *one = tables(ctx, f, 0), *other = tables(ctx, f, 0), *high = tables(ctx, f, 1);
    sv_routes *before = NULL, *after = NULL;
    sv_update *plan = NULL;
    sv_rehearsal *r = NULL;
    lead(ctx, f, other, OTHER_TO, 1);
    if (over)
        lead(ctx, f, other, FLOW_TO, 1);
    must(ctx, sv_update_two_sets(ctx, f, one, high, 1, &before));
    must(ctx, sv_update_two_sets(ctx, f, other, high, 1, &after));
    must(ctx, sv_update_plan(ctx, f, before, after, NULL, &plan));
    plan->settle = true;
    for (unsigned k = 0; k < CABLES; k++)
        w->cable[k] = sv_channel_at(f, (sv_node){0}, port_of(f, 0, k));
    uint32_t destination = after->first[f->num_switches + FLOW_TO];
    const sv_sim_source source = {.user = &destination, .next = next};
    const sv_sim_watch watch = {.user = w, .granted = granted, .arrived = arrived};
    model->vls = 2;
    const sv_rehearsal_request q = {.way = SV_REHEARSE_FIVE,
                                    .plan = plan,
                                    .model = *model,
                                    .control = {.limit = SV_NEVER},
                                    .source = &source,
                                    .begin = delay,
                                    .delay_min = 5 * US,
                                    .delay_max = 50 * US,
                                    .retry = 200 * US,
                                    .window = 4,
                                    .ack = US,
                                    .settle = delay,
                                    .five = {.retry = 200 * US, .tries = 20},
                                    .application = application,
                                    .dead = SV_NONE,
                                    .forward = 10 * US,
                                    .rest = delay,
                                    .seed = 1,
                                    .watch = &watch};
    must(ctx, sv_rehearse(ctx, f, before, after, &q, &r));
    tell(w, model, r);
    sv_rehearsal_free(r);
    sv_update_free(plan);
    sv_routes *const all[] = {one, other, high, before, after};
    for (int i = 0; i < 5; i++)
        sv_routes_free(all[i]);
}

int main(int argc, char **argv)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *fabric = NULL;
    sv_sim_model model;
    struct watch watch = {0};
    double times[] = {10, 70}; /* ms, us */
    bool over = false;
    unsigned given = 0;
    must(ctx, sv_profile_model(ctx, "qdr", &model));
    model.open = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "over") == 0 || strcmp(argv[i], "back") == 0)
            over = argv[i][0] == 'o';
        else if (strchr(argv[i], '=') != NULL)
            must(ctx, sv_sim_param_set(ctx, &model, argv[i]));
        else if (given < 2 && atof(argv[i]) > 0)
            times[given++] = atof(argv[i]);
        else
            return fprintf(stderr, "usage: bench_migrate [back|over] [DELAY_MS [SAMPLE_US]] "
                                   "[NAME=VALUE…]\n"),
                   2;
    }
    uint64_t delay = (uint64_t)(times[0] * 1000 * 1000) * SV_TICKS_PER_NS;
    watch.sample = (uint64_t)(times[1] * 1000) * SV_TICKS_PER_NS;
    watch.rows = (size_t)(5 * delay / watch.sample + 100);
    watch.packets = calloc(watch.rows * CABLES, sizeof *watch.packets);
    if (watch.packets == NULL)
        return 1;
    must(ctx, sv_topology_generate(ctx, "mesh:1x2,hosts=2,r=2", &fabric));
    run(ctx, fabric, over, delay, &watch, &model);
    free(watch.packets);
    sv_fabric_free(fabric);
    sv_ctx_free(ctx);
    return 0;
}
