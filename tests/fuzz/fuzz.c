/*
 * fuzz.c: libFuzzer targets; which one is a macro (see CMakeLists.txt).
 *
 * Whatever bytes come in, a reader either refuses them with a one-line message or gives a fabric
 * that passes sv_fabric_check; and what was read, if it can be written, reads back as the same
 * fabric. Memory is limited, so that absurd sizes end in NO_MEMORY and not in a slow machine.
 */
#include "fuzz.h"

#include "base/file.h"
#include "formats/svr.h"
#include "formats/tables.h"
#include "structure/torus.h"
#include "traces/traces.h"

#if defined(FUZZ_SQUEUE) || defined(FUZZ_SACCT) || defined(FUZZ_SLURMJSON) || defined(FUZZ_SVT) || \
    defined(FUZZ_GOAL)
const size_t fuzz_memory =
    16 << 20; /* a list of few bytes may stand for a million hosts, or events */
#else
const size_t fuzz_memory = 192 << 20;
#endif

#if defined(FUZZ_SVT) || defined(FUZZ_GOAL)

#include "fuzz_traces.h"

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_mpi_trace *trace = NULL;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return;
    memcpy(copy, data, size);
    sv_memory memory = {(const char *)copy, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
#ifdef FUZZ_SVT
    sv__svt_seal(copy, size); /* or nothing would ever get past the sum */
    sv_status status = sv_mpi_read(ctx, &source, &trace);
#else
    sv_status status = sv_mpi_read_goal(ctx, &source, &trace);
#endif
    if (status == SV_OK)
        try_trace(ctx, trace);
    else
        must_refuse(ctx, status, "fuzz:");
    sv_mpi_free(trace);
    free(copy);
}

#elif defined(FUZZ_MESSAGES) || defined(FUZZ_PATTERN)

/* Traffic that is taken is simulated for a while: nothing it says may upset the simulator. */
static void play(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                 const sv_sim_model *model, const sv_sim_traffic *traffic)
{
    const sv_sim_setup setup = {
        .model = *model,
        .control = {.limit = (uint64_t)20000 * SV_TICKS_PER_NS, .wall_ns = 1000000000},
        .source = sv_sim_traffic_source(traffic)};
    sv_sim_result *result = NULL;
    sv_status status = sv_simulate(ctx, fabric, routes, &setup, &result);
    if (status != SV_OK)
        must_explain(ctx, status);
    sv_sim_free(result);
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    sv_sim_traffic *traffic = NULL;
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    const sv_sim_model model = {.cable = 77400,
                                .credit = 77400,
                                .input = 40,
                                .output = 33,
                                .speedup = 100,
                                .ways = 2,
                                .vls = 1,
                                .mtu_bytes = 2048,
                                .header_bytes = 26,
                                .inject = 450,
                                .drain = 450,
                                .open = 4};
    sv_sim_traffic_request request = {.model = &model};
    char *text = calloc(1, size + 1);
    if (text == NULL)
        return;
    memcpy(text, data, size);
#ifdef FUZZ_MESSAGES
    request.spec = "file";
    request.file = &source;
#else
    (void)source;
    request.spec = text;
#endif
    MUST(sv_topology_generate(ctx, "torus:3,hosts=2", &fabric) == SV_OK);
    MUST(sv_route(ctx, fabric, "updn", NULL, &routes, NULL) == SV_OK);
    bool file = request.file == NULL && strncmp(text, "file", 4) == 0; /* not of this machine */
    sv_status status = file ? SV_OK : sv_sim_traffic_new(ctx, fabric, routes, &request, &traffic);
    if (traffic != NULL)
        play(ctx, fabric, routes, &model, traffic);
    else if (status != SV_OK)
        must_explain(ctx, status);
#ifdef FUZZ_MESSAGES
    if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
#endif
    sv_sim_traffic_free(traffic);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    free(text);
}

#elif defined(FUZZ_FAILURES)

/* A model that is taken prints as what prints the same. */
static void go_round(sv_ctx *ctx, const sv_failure_model *model)
{
    char text[SV_FAILURE_MODEL_TEXT], again[SV_FAILURE_MODEL_TEXT];
    sv_failure_model same;
    sv_failure_model_text(model, text);
    MUST(sv_failure_model_parse(ctx, text, &same) == SV_OK);
    sv_failure_model_text(&same, again);
    MUST(strcmp(text, again) == 0);
    for (unsigned k = 0; k < SV_FAILURE_PARTS; k++) {
        double share = sv_failure_share(model, k, 5);
        MUST(share >= 0 && share <= 1);
    }
}

/* What was fitted must make sense. */
static void look_at(sv_ctx *ctx, const sv_failure_fit *fit)
{
    const sv_fit_kind *all = &fit->all;
    MUST(fit->years > 0 && all->failures >= fit->hardware.failures && fit->hardware.failures > 0);
    const sv_estimate *estimates[] = {&all->shape, &all->between, &fit->hardware.shape,
                                      &fit->of[SV_FAILURE_LINK].annual};
    for (int i = 0; i < 4; i++)
        MUST(!estimates[i]->known || (estimates[i]->low <= estimates[i]->value &&
                                      estimates[i]->value <= estimates[i]->high));
    go_round(ctx, &fit->model);
}

/* The same bytes as a log and as a model. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    sv_failure_log *log = NULL;
    sv_failure_model model;
    sv_failure_fit fit;
    const sv_fit_request request = {.parts = {10000, 1000, 0}};
    char *text = calloc(1, size + 1);
    if (text == NULL)
        return;
    memcpy(text, data, size);
    sv_status status = sv_failure_model_parse(ctx, text, &model);
    if (status == SV_OK)
        go_round(ctx, &model);
    else
        must_explain(ctx, status);
    free(text);
    status = sv_failure_log_read(ctx, &source, &log);
    if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    if (status == SV_OK) {
        for (size_t i = 1; i < log->length; i++)
            MUST(log->at[i - 1].hours <= log->at[i].hours);
        status = sv_failure_fit_log(ctx, log, &request, &fit);
    }
    if (status == SV_OK)
        look_at(ctx, &fit);
    else
        must_explain(ctx, status);
    sv_failure_log_free(log);
}

#elif defined(FUZZ_TORUSCONF)

/* What is read is held against a torus: it fits, or it is told what differs. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *fabric = NULL;
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    sv_arena arena;
    sv_torus_conf conf;
    sv_bundles bundles;
    sv_tori tori;
    MUST(sv_topology_generate(ctx, "torus:4x5x2,hosts=1", &fabric) == SV_OK);
    sv_arena_init(&arena, ctx);
    sv_status status = sv_torus_conf_read(ctx, &arena, &source, &conf);
    if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    if (status == SV_OK) {
        MUST(sv_bundles_init(&bundles, &arena, fabric) == SV_OK);
        status = sv_tori_find(ctx, &arena, fabric, &bundles, &conf, &tori);
    }
    if (status == SV_OK) {
        MUST(tori.count == 1 && tori.pieces[0].switches == 40);
        for (uint32_t s = 0; s < 40; s++)
            MUST(tori.pieces[0].at[tori.point[s]] == s);
    } else {
        must_explain(ctx, status);
    }
    sv_arena_release(&arena);
    sv_fabric_free(fabric);
}

#elif defined(FUZZ_HOSTLIST)

struct names {
    sv_ctx *ctx;
    size_t count, max;
};

static sv_status take(void *user, const char *name, size_t length)
{
    struct names *names = user;
    sv_ctx *ctx = names->ctx;
    MUST(length > 0 && length < 256 && strlen(name) == length && strpbrk(name, "[], ") == NULL);
    /* enough is known of a list that is too long to be looked at often */
    return ++names->count == names->max ? SV_CANCELLED : SV_OK;
}

/* A list that is taken stands for names that stand for themselves. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    struct names names = {.ctx = ctx, .max = 5000};
    sv_status status = sv_hostlist_expand(ctx, (const char *)data, size, take, &names);
    if (status == SV_BAD_INPUT)
        MUST(names.count == 0);
    else
        MUST(names.count > 0 && (status == SV_OK || status == SV_CANCELLED));
    if (status == SV_BAD_INPUT)
        must_explain(ctx, status);
}

#elif defined(FUZZ_MAILS)

/* Bytes of notices, as anybody on the fabric may send them, to both machines of the five phases:
 * a byte that says what else happens, then a mail. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    const sv_five_options options = {
        .retry = 10, .tries = 3, .lease = 1000, .margin = 100, .patience = 500};
    sv_five_manager *manager = NULL;
    sv_five_subscriber *subscriber = NULL;
    sv_five_mail mail, again;
    uint8_t bytes[SV_FIVE_BYTES];
    uint64_t now = 0;
    if (sv_five_manager_new(ctx, &options, &manager) == SV_OK &&
        sv_five_subscriber_new(ctx, 7, &options, &subscriber) == SV_OK) {
        sv_five_subscriber_begin(subscriber, now);
        for (; size > SV_FIVE_BYTES; data += SV_FIVE_BYTES + 1, size -= SV_FIVE_BYTES + 1) {
            now += data[0] & 63u;
            if (data[0] & 64)
                (void)!sv_five_manager_begin(manager, now);
            if (data[0] & 128) {
                sv_five_manager_programmed(manager, now);
                sv_five_subscriber_migrated(subscriber, now);
            }
            if (!sv_five_unpack(data + 1, &mail))
                continue;
            sv_five_pack(&mail, 1, bytes);
            MUST(sv_five_unpack(bytes, &again) && again.kind == mail.kind &&
                 again.epoch == mail.epoch && again.serial == mail.serial);
            sv_status status = sv_five_manager_receive(manager, &mail, now);
            if (status != SV_OK) {
                must_explain(ctx, status);
                break;
            }
            sv_five_subscriber_receive(subscriber, &mail, now);
            sv_five_manager_tick(manager, now);
            sv_five_subscriber_tick(subscriber, now);
            while (sv_five_manager_next(manager, &again))
                MUST(again.kind < SV_FIVE_KINDS);
            while (sv_five_subscriber_next(subscriber, &again))
                MUST(again.kind < SV_FIVE_KINDS);
            MUST(sv_five_manager_phase(manager) < SV_FIVE_PHASES);
        }
    }
    sv_five_subscriber_free(subscriber);
    sv_five_manager_free(manager);
}

#elif defined(FUZZ_SQUEUE) || defined(FUZZ_SACCT) || defined(FUZZ_SWF) || defined(FUZZ_SLURMJSON)

#if defined(FUZZ_SQUEUE)
#define JOBS SV_JOBS_SQUEUE
#elif defined(FUZZ_SACCT)
#define JOBS SV_JOBS_SACCT
#elif defined(FUZZ_SWF)
#define JOBS SV_JOBS_SWF
#else
#define JOBS SV_JOBS_JSON
#endif

static void look_at(sv_ctx *ctx, const sv_allocations *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        const sv_allocation *one = &jobs->list[i];
        MUST(one->job[0] != 0 && one->num_hosts > 0 && one->begin < one->end);
        MUST(i == 0 || jobs->list[i - 1].begin <= one->begin);
        MUST(one->begin == SV_TIME_UNKNOWN || one->begin >= jobs->begin);
        for (uint32_t h = 0; h < one->num_hosts; h++)
            MUST(one->hosts[h] < jobs->num_hosts && (h == 0 || one->hosts[h - 1] < one->hosts[h]));
    }
    for (uint32_t h = 0; h < jobs->num_hosts; h++)
        MUST(jobs->hosts[h][0] != 0);
}

/* What is read makes a map, and both can be written. */
void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    sv_allocations *jobs = NULL;
    sv_fabric *fabric = NULL;
    sv_jobmap *map = NULL;
    sv_placed placed;
    sv_status status = sv_allocations_read(ctx, &source, JOBS, &jobs);
    if (status == SV_OK) {
        look_at(ctx, jobs);
        status = sv_topology_generate(ctx, "torus:3x3,hosts=2", &fabric);
        MUST(status == SV_OK || status == SV_NO_MEMORY);
    }
    if (status == SV_OK) {
        status = sv_allocations_map(ctx, jobs, jobs->begin, fabric, SV_PLACE_BY_NAME, false, &map,
                                    &placed);
        MUST(status == SV_OK || status == SV_NO_MEMORY);
    }
    if (status == SV_OK) {
        MUST(map->num_jobs + placed.homeless == placed.running);
        status = sv_jobmap_save(ctx, fabric, map, "/dev/null");
        MUST(status == SV_OK || status == SV_NO_MEMORY);
        status = sv_allocations_save(ctx, jobs, SV_TIME_OPEN, "/dev/null");
        MUST(status == SV_OK || status == SV_NO_MEMORY);
    } else {
        must_explain(ctx, status);
        if (status == SV_BAD_INPUT)
            MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    }
    sv_jobmap_free(map);
    sv_fabric_free(fabric);
    sv_allocations_free(jobs);
}

#elif defined(FUZZ_FAULTS) || defined(FUZZ_GUIDS) || defined(FUZZ_JOBMAP)

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *fabric = NULL, *left = NULL;
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    MUST(sv_topology_generate(ctx, "torus:3x3,hosts=2", &fabric) == SV_OK);
    sv_status status;
#ifdef FUZZ_FAULTS
    sv_fault_report report = {0};
    sv_mask *mask = sv_mask_new(ctx, fabric);
    status = sv_faults_read(ctx, fabric, &source, mask, &report);
    if (status == SV_OK)
        MUST(sv_fabric_mask(ctx, fabric, mask, &left) == SV_OK);
    sv_mask_free(mask);
#elif defined(FUZZ_JOBMAP)
    sv_jobmap *map = NULL;
    status = sv_jobmap_read(ctx, fabric, &source, &map);
    if (status == SV_OK) {
        uint32_t max = 0;
        for (uint32_t j = 0; j < map->num_jobs; j++) {
            const sv_job *job = &map->jobs[j];
            MUST(job->name[0] != 0 && job->num_terminals <= fabric->num_terminals);
            for (uint32_t i = 0; i < job->num_terminals; i++)
                MUST(job->terminals[i].i >= fabric->num_switches &&
                     job->terminals[i].i < sv_num_nodes(fabric) &&
                     (i == 0 || job->terminals[i - 1].i < job->terminals[i].i));
            max = job->num_terminals > max ? job->num_terminals : max;
        }
        MUST(map->num_terminals >= max && map->num_terminals <= fabric->num_terminals);
    } else if (status == SV_BAD_INPUT) {
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    }
    sv_jobmap_free(map);
#else
    sv_role roles[18] = {SV_ROLE_COMPUTE};
    status = sv_roles_read(ctx, fabric, &source, SV_ROLE_IO, roles, NULL);
    if (status == SV_OK)
        MUST(sv_fabric_with_roles(ctx, fabric, roles, &left) == SV_OK);
#endif
    if (status != SV_OK)
        must_explain(ctx, status);
    if (left != NULL)
        MUST(sv_fabric_check(ctx, left) == SV_OK);
    sv_fabric_free(left);
    sv_fabric_free(fabric);
}

#elif defined(FUZZ_LFTS) || defined(FUZZ_SL2VL) || defined(FUZZ_PSL) || defined(FUZZ_MCFDBS) ||    \
    defined(FUZZ_QOS) || defined(FUZZ_SVR) || defined(FUZZ_PROOF) || defined(FUZZ_ORDERS)

/* Tables that were read must bear being looked at. */
static void look_at(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes)
{
    sv_verification *found = NULL;
    sv_load load;
    MUST(sv_routes_check(ctx, fabric, routes) == SV_OK);
    sv_status status = sv_verify(ctx, fabric, routes, NULL, &found);
    MUST(status == SV_OK || status == SV_NO_MEMORY);
    status = sv_routes_load(ctx, fabric, routes, NULL, &load);
    MUST(status == SV_OK || status == SV_NO_MEMORY);
    sv_stretch stretch;
    status = sv_routes_stretch(ctx, fabric, routes, &stretch);
    MUST(status == SV_OK || status == SV_NO_MEMORY);
    sv_vl_use vls;
    status = sv_routes_vls(ctx, fabric, routes, &vls);
    MUST(status == SV_OK || status == SV_NO_MEMORY);
    sv_matchings matchings;
    status = sv_routes_matchings(ctx, fabric, routes, 2, 1, NULL, &matchings);
    MUST(status == SV_OK || status == SV_NO_MEMORY);
    sv_ascent ascent;
    status =
        sv_verify_ascent(ctx, fabric, routes, routes, SV_TRAFFIC_ALL, NULL, false, NULL, &ascent);
    MUST(status == SV_OK || status == SV_NO_MEMORY || status == SV_UNSUPPORTED);
    sv_verification_free(found);
}

#ifdef FUZZ_SVR

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *fabric = NULL;
    sv_routes *routes = NULL;
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL)
        return;
    memcpy(bytes, data, size);
    sv__svr_seal(bytes, size); /* or nothing would ever get past the sums */
    sv_status status = sv__parse_svr(ctx, "fuzz", bytes, size, &fabric, &routes);
    if (status == SV_OK)
        look_at(ctx, fabric, routes);
    else
        must_explain(ctx, status);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    free(bytes);
}

#else

#if defined(FUZZ_LFTS)
#define READ sv__read_lfts
#elif defined(FUZZ_SL2VL)
#define READ sv__read_sl2vl
#elif defined(FUZZ_PSL)
#define READ sv__read_psl
#elif defined(FUZZ_MCFDBS)
#define READ sv__read_mcfdbs
#elif defined(FUZZ_ORDERS)
#define READ sv__read_orders
#else
#define READ sv__read_qos
#endif

#ifndef FUZZ_PROOF
static sv_status read_part(sv_ctx *ctx, const sv_fabric *fabric, const sv_source *source,
                           sv_routes **routes)
{
    sv__tables t;
    sv_lines lines;
    sv_status status = sv__tables_init(&t, ctx, fabric);
    t.routes = *routes;
    if (status == SV_OK && t.routes != NULL)
        status = sv__tables_index(&t);
    if (status == SV_OK)
        status = sv_lines_init(&lines, ctx, source);
    if (status == SV_OK) {
        status = READ(&t, &lines);
        sv_lines_release(&lines);
    }
    *routes = t.routes;
    sv__tables_release(&t);
    return status;
}
#endif

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *plain = NULL, *fabric = NULL;
    sv_routes *routes = NULL;
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    const sv_route_request request = {.lmc = 1};
    MUST(sv_topology_generate(ctx, "torus:3,hosts=2", &plain) == SV_OK);
    MUST(sv_route(ctx, plain, "minhop", &request, &routes, NULL) == SV_OK);
    MUST(sv_fabric_with_lids(ctx, plain, routes, &fabric) == SV_OK);
    sv_status status;
#ifdef FUZZ_PROOF
    bool holds, numbered;
    sv_wait from, to;
    uint64_t count;
    status =
        sv_proof_check(ctx, fabric, routes, NULL, &source, &holds, &numbered, &from, &to, &count);
#else
#ifdef FUZZ_LFTS
    sv_routes_free(routes);
    routes = NULL;
#endif
    status = read_part(ctx, fabric, &source, &routes);
#endif
    if (status == SV_OK)
        look_at(ctx, fabric, routes);
    else
        must_explain(ctx, status);
    if (status == SV_BAD_INPUT)
        MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    sv_routes_free(routes);
    sv_fabric_free(fabric);
    sv_fabric_free(plain);
}

#endif

#elif defined(FUZZ_SPEC)

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_fabric *fabric = NULL;
    char *text = calloc(1, size + 1);
    if (text == NULL)
        return;
    memcpy(text, data, size);
    sv_status status = sv_topology_generate(ctx, text, &fabric);
    if (status == SV_OK)
        MUST(sv_fabric_check(ctx, fabric) != SV_BAD_INPUT);
    else
        must_explain(ctx, status);
    sv_fabric_free(fabric);
    free(text);
}

#else

#if defined(FUZZ_IBNETDISCOVER)
#define FORMAT SV_FORMAT_IBNETDISCOVER
#elif defined(FUZZ_SUBNET)
#define FORMAT SV_FORMAT_SUBNET
#elif defined(FUZZ_NETLOC)
#define FORMAT SV_FORMAT_NETLOC
#elif defined(FUZZ_CRAY)
#define FORMAT SV_FORMAT_CRAY
#else
#define FORMAT SV_FORMAT_AUTO
#endif

/* Writes and reads again; the result must be the same fabric. */
static void round_trip(sv_ctx *ctx, const sv_fabric *fabric)
{
    struct bytes buffer = {NULL, 0};
    sv_sink sink = {"buffer", &buffer, keep_bytes};
    sv_status status = sv_fabric_write(ctx, fabric, SV_FORMAT_IBNETDISCOVER, &sink);
    if (status == SV_OK) {
        sv_memory memory = {buffer.at, buffer.length};
        sv_source source = sv_memory_source(&memory, "again");
        sv_fabric *again = NULL;
        sv_diff *diff = NULL;
        MUST(sv_fabric_read(ctx, &source, SV_FORMAT_IBNETDISCOVER, &again) == SV_OK);
        MUST(sv_fabric_check(ctx, again) == SV_OK);
        MUST(sv_fabric_diff(ctx, fabric, again, SV_MATCH_GUID, &diff) == SV_OK);
        MUST(diff->length == 0);
        sv_diff_free(diff);
        sv_fabric_free(again);
    } else {
        must_explain(ctx, status);
    }
    free(buffer.at);
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    sv_memory memory = {(const char *)data, size};
    sv_source source = sv_memory_source(&memory, "fuzz");
    sv_fabric *fabric = NULL;
    sv_status status = sv_fabric_read(ctx, &source, FORMAT, &fabric);
    if (status == SV_OK) {
        MUST(sv_fabric_check(ctx, fabric) == SV_OK);
        round_trip(ctx, fabric);
    } else {
        must_explain(ctx, status);
        if (status == SV_BAD_INPUT)
            MUST(strncmp(sv_ctx_message(ctx), "fuzz:", 5) == 0);
    }
    sv_fabric_free(fabric);
}

#endif
