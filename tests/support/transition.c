#include "support/transition.h"

#include "base/file.h"
#include "base/rng.h"

enum { US = 1000 * SV_TICKS_PER_NS };

static const char *const specs[] = {"torus:4x4,hosts=1",
                                    "torus:3x3x2,hosts=1",
                                    "mesh:3x4,hosts=2",
                                    "kary:k=3,n=2,hosts=3",
                                    "torus:5,hosts=3",
                                    "fullmesh:5,hosts=3",
                                    "random:switches=9,links=18,hosts=2,seed=1",
                                    "random:switches=12,links=20,hosts=1,seed=2",
                                    "torus:2x5,hosts=2"};
static const char *const engines[] = {"dfsssp", "nue", "weave", "updn", "lash", "nue", "dfsssp"};

enum { KIND_FAILS, KIND_REPAIRED, KIND_SEEDS, KIND_ENGINES, KIND_MENDS, KIND_JOBS, KINDS };
enum { NUM_SPECS = sizeof specs / sizeof *specs, NUM_ENGINES = sizeof engines / sizeof *engines };

/* Tables by some engine on up to three VLs; engines that need more give way to updn. */
static sv_routes *route(sv_ctx *ctx, const sv_fabric *f, const char *engine, unsigned vls,
                        uint64_t seed, const sv_jobmap *jobs)
{
    sv_route_request request = {.vls = vls, .seed = seed, .jobs = jobs};
    sv_routes *r = NULL;
    if (sv_route(ctx, f, engine, &request, &r, NULL) == SV_OK)
        return r;
    request.jobs = NULL;
    OK(ctx, sv_route(ctx, f, "updn", &request, &r, NULL));
    return r;
}

static sv_fabric *broken(sv_ctx *ctx, const sv_fabric *f, uint64_t seed)
{
    sv_fault_plan plan = {.seed = seed, .links = {false, 1 + seed % 2}};
    sv_fault_report report;
    sv_fabric *made = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    if (sv_faults_draw(ctx, f, &plan, mask, &report) != SV_OK)
        plan.links.value = 0; /* it would fall apart: then nothing fails */
    OK(ctx, sv_fabric_mask(ctx, f, mask, &made));
    sv_mask_free(mask);
    return made;
}

/* Jobs at random: hosts of generated fabrics are host0, host1 … */
static sv_jobmap *jobs(sv_ctx *ctx, const sv_fabric *f, uint64_t seed)
{
    char text[4096];
    size_t length = 0;
    sv_rng rng;
    sv_jobmap *map = NULL;
    sv_rng_init(&rng, seed);
    for (uint32_t t = 0; t < f->num_terminals; t++)
        length += (size_t)snprintf(text + length, sizeof text - length, "host%u job%u\n", t,
                                   (unsigned)sv_rng_below(&rng, 3));
    sv_memory memory = {text, length};
    sv_source source = sv_memory_source(&memory, "jobs");
    OK(ctx, sv_jobmap_read(ctx, f, &source, &map));
    return map;
}

/* The new tables. */
static sv_routes *change(sv_ctx *ctx, unsigned kind, const sv_fabric *old, const sv_routes *before,
                         const sv_fabric *f, const char *engine, unsigned vls, uint64_t seed)
{
    const sv_route_request again = {.vls = vls, .seed = seed};
    const sv_repair_request wanted = {
        .engine = "weave", .route = &again, .traffic = SV_TRAFFIC_TERMINALS};
    sv_repair_report *report = NULL;
    sv_routes *r = NULL;
    if (kind == KIND_MENDS && sv_repair(ctx, old, before, f, &wanted, &r, &report) == SV_OK) {
        sv_repair_report_free(report);
        return r;
    }
    sv_jobmap *map = kind == KIND_JOBS ? jobs(ctx, f, seed) : NULL;
    r = route(ctx, f, engine, vls, seed, map);
    sv_jobmap_free(map);
    return r;
}

static void pair_up(sv_ctx *ctx, test_transition *t)
{
    sv_routes *high = NULL;
    const sv_route_request one = {.vls = 1, .seed = 1};
    const sv_update_request request = {.traffic = SV_TRAFFIC_TERMINALS};
    OK(ctx, sv_route(ctx, t->f, "updn", &one, &high, NULL));
    memcpy(t->after->lid, t->before->lid, t->before->num_destinations * sizeof *t->before->lid);
    OK(ctx, sv_update_two_sets(ctx, t->f, t->before, high, 3, &t->before2));
    OK(ctx, sv_update_two_sets(ctx, t->f, t->after, high, 3, &t->after2));
    OK(ctx, sv_update_plan(ctx, t->f, t->before, t->after, &request, &t->plan));
    OK(ctx, sv_update_plan(ctx, t->f, t->before2, t->after2, &request, &t->plan2));
    sv_routes_free(high);
}

void test_transition_init(sv_ctx *ctx, uint64_t seed, test_transition *t)
{
    static const char *const kinds[] = {"fails", "repaired", "seeds", "engines", "mends", "jobs"};
    sv_rng rng;
    sv_rng_init(&rng, seed);
    const char *spec = specs[sv_rng_below(&rng, NUM_SPECS)];
    const char *a = engines[sv_rng_below(&rng, NUM_ENGINES)],
               *b = engines[sv_rng_below(&rng, NUM_ENGINES)];
    unsigned kind = (unsigned)sv_rng_below(&rng, KINDS), vls = 1 + (unsigned)sv_rng_below(&rng, 3);
    uint64_t s1 = 1 + sv_rng_below(&rng, 1000), s2 = 1 + sv_rng_below(&rng, 1000);
    sv_fabric *whole = test_fabric(ctx, spec), *less = broken(ctx, whole, s1);
    *t = (test_transition){.f = kind == KIND_FAILS || kind == KIND_MENDS ? less : whole};
    const sv_fabric *old = kind == KIND_REPAIRED ? less : whole;
    b = kind == KIND_ENGINES ? b : a;
    snprintf(t->about, sizeof t->about, "seed %llu: %s %s, %s to %s on %u VLs",
             (unsigned long long)seed, kinds[kind], spec, a, b, vls);
    t->before = route(ctx, old, a, vls, s1, NULL);
    t->after = change(ctx, kind, old, t->before, t->f, b, vls, kind == KIND_FAILS ? s1 : s2);
    pair_up(ctx, t);
    sv_fabric_free(t->f == whole ? less : whole);
}

void test_transition_release(test_transition *t)
{
    sv_update_free(t->plan);
    sv_update_free(t->plan2);
    sv_routes_free(t->before2);
    sv_routes_free(t->after2);
    sv_routes_free(t->before);
    sv_routes_free(t->after);
    sv_fabric_free(t->f);
}

sv_sim_model test_transition_model(sv_ctx *ctx, const test_transition *t)
{
    sv_sim_model model;
    OK(ctx, sv_profile_model(ctx, "qdr", &model));
    model.mtu_bytes = 256;
    model.input = 12;
    model.output = 12;
    unsigned a = sv_sim_vls(t->f, t->before2), b = sv_sim_vls(t->f, t->after2);
    model.vls = a > b ? a : b;
    return model;
}

sv_rehearsal_request test_transition_request(sv_ctx *ctx, const test_transition *t,
                                             sv_rehearsal_way way, uint64_t seed,
                                             uint32_t *application)
{
    sv_rng rng;
    sv_rng_init(&rng, seed);
    sv_rehearsal_request q = {.way = way,
                              .plan = way == SV_REHEARSE_FIVE ? t->plan2 : t->plan,
                              .model = test_transition_model(ctx, t),
                              .control = {.limit = 20000 * (uint64_t)US},
                              .begin = 6 * US,
                              .delay_min = US / 5,
                              .delay_max = (1 + sv_rng_below(&rng, 3)) * US,
                              .loss = (unsigned)sv_rng_below(&rng, 3) * 30,
                              .retry = (1 + sv_rng_below(&rng, 8)) * US,
                              .window = (uint32_t)sv_rng_below(&rng, 3) * 4,
                              .ack = US / 3,
                              .settle = US,
                              .dead = SV_NONE,
                              .forward = US / 2,
                              .seed = seed};
    uint32_t apps = 1 + (uint32_t)sv_rng_below(&rng, 3);
    bool lease = sv_rng_below(&rng, 2) == 0;
    q.five = (sv_five_options){
        .retry = 5 * US, .tries = 12, .lease = lease ? 200 * US : 0, .margin = lease ? 50 * US : 0};
    if (lease && way == SV_REHEARSE_FIVE && sv_rng_below(&rng, 3) == 0)
        q.dead = 0;
    for (uint32_t i = 0; i < t->f->num_terminals; i++)
        application[i] = (uint32_t)sv_rng_below(&rng, apps);
    q.application = apps > 1 ? application : NULL;
    return q;
}

sv_rehearsal *test_transition_rehearse(sv_ctx *ctx, const test_transition *t,
                                       sv_rehearsal_request *q, uint64_t messages)
{
    bool two = q->way == SV_REHEARSE_FIVE;
    const sv_routes *before = two ? t->before2 : t->before, *after = two ? t->after2 : t->after;
    const sv_sim_model model = test_transition_model(ctx, t);
    const sv_sim_traffic_request request = {
        .spec = "uniform", .model = &model, .bytes = 700, .seed = q->seed, .messages = messages};
    sv_sim_traffic *traffic = NULL;
    sv_rehearsal *found = NULL;
    OK(ctx, sv_sim_traffic_new(ctx, t->f, after, &request, &traffic));
    q->source = sv_sim_traffic_source(traffic);
    if (sv_rehearse(ctx, t->f, before, after, q, &found) != SV_OK)
        fail_msg("%s: %s", t->about, sv_ctx_message(ctx));
    sv_sim_traffic_free(traffic);
    q->source = NULL;
    return found;
}
