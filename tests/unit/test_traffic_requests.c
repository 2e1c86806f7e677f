/*
 * test_traffic_requests.c: what goes for all traffic: the order of terminals, independence of the
 * order of asking, jobs, what is refused, memory.
 */
#include "unit/traffic_bed.h"

#include "base/file.h"
#include "base/rng.h"

TEST_CONTEXT

/* ---- the order ---- */

/* Cables crosswise, a host with two ports, a router; host d is for I/O. */
static const char *const net =
    "Switch 8 \"S-1\" # \"one\"\n[1] \"H-3\"[1]\n[2] \"S-2\"[1]\n[4] \"H-1\"[2]\n[6] \"R-5\"[1]\n\n"
    "Switch 8 \"S-2\" # \"two\"\n[1] \"S-1\"[2]\n[3] \"H-2\"[1]\n[5] \"H-1\"[1]\n[7] \"H-4\"[1]\n\n"
    "Ca 2 \"H-1\" # \"a\"\n[1] \"S-2\"[5]\n[2] \"S-1\"[4]\n\n"
    "Ca 1 \"H-2\" # \"b\"\n[1] \"S-2\"[3]\n\nCa 1 \"H-3\" # \"c\"\n[1] \"S-1\"[1]\n\n"
    "Ca 1 \"H-4\" # \"d\"\n[1] \"S-2\"[7]\n\nRt 1 \"R-5\" # \"r\"\n[1] \"S-1\"[6]\n";

static sv_node find(const sv_fabric *f, const char *name)
{
    sv_node v;
    sv_index *index = sv_index_new(ctx, f);
    OK(ctx, sv_index_find(ctx, index, name, &v));
    sv_index_free(index);
    return v;
}

/* Who a shift by one leads to from a host, round and back again. */
static void check_round(struct bed *bed, sv_sim_traffic_request request, const char *const *names,
                        uint32_t count)
{
    request.spec = "shift";
    request.messages = 1;
    ask(ctx, bed, request);
    assert_int_equal(bed->source->messages, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(next_to(bed, find(bed->f, names[i]).i - bed->f->num_switches),
                         find(bed->f, names[(i + 1) % count]).i - bed->f->num_switches);
}

static void ranks_are_by_switch_and_port(void **state)
{
    (void)state;
    struct bed bed = {0};
    sv_fabric *read = test_read(ctx, net), *whole = NULL;
    sv_role roles[6];
    for (uint32_t t = 0; t < 6; t++)
        roles[t] = (sv_role)read->terminals[t].role;
    roles[find(read, "d").i - read->num_switches] = SV_ROLE_IO;
    OK(ctx, sv_fabric_with_roles(ctx, read, roles, &whole));
    OK(ctx, sv_routes_new(ctx, whole, 1, &bed.r));
    bed.f = whole;
    const char *const all[] = {"c", "a/2", "b", "a/1"}, *const own[] = {"d", "c", "a/1"};
    check_round(&bed, (sv_sim_traffic_request){0}, all, 4);
    sv_node order[] = {find(whole, "d"), find(whole, "c"), find(whole, "a/1"), {0}};
    check_round(&bed, (sv_sim_traffic_request){.order = order, .num_order = 3}, own, 3);
    /* Without b. */
    sv_mask *mask = sv_mask_new(ctx, whole);
    sv_mask_node(mask, find(whole, "b"));
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &bed.f));
    const char *const left[] = {"c", "a/2", "a/1"};
    check_round(&bed, (sv_sim_traffic_request){0}, left, 3);
    order[3] = find(whole, "b");
    sv_sim_traffic *t = NULL;
    sv_sim_traffic_request request = {
        .spec = "shift", .model = &model, .order = order, .num_order = 4};
    FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
          "rank 3 of the order is no host on a switch");
    order[3] = (sv_node){0};
    FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT, "rank 3");
    order[3] = order[1];
    FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
          "'c' is in the order twice");
    request.num_order = 1;
    FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
          "fewer than two terminals");
    assert_null(t);
    sv_mask_free(mask);
    release(&bed);
    sv_fabric_free(whole);
    sv_fabric_free(read);
}

/* ---- the order of asking ---- */

enum { ASKED = 40 };

static sv_jobmap *map_of(const struct bed *bed, const char *text)
{
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "map");
    sv_jobmap *map = NULL;
    OK(ctx, sv_jobmap_read(ctx, bed->f, &source, &map));
    return map;
}

/* Messages of all terminals, some at a time if seed is not 0; what there is not is all ones. */
static sv_sim_message *listen(const struct bed *bed, uint64_t seed)
{
    uint32_t n = bed->f->num_terminals, *asked = calloc(n, sizeof *asked);
    sv_sim_message *heard = malloc((size_t)n * ASKED * sizeof *heard);
    sv_rng rng;
    assert_true(asked != NULL && heard != NULL);
    memset(heard, 0xff, (size_t)n * ASKED * sizeof *heard);
    sv_rng_init(&rng, seed);
    for (uint32_t left = n * ASKED, i = 0; left > 0; left--) {
        if (seed != 0)
            i = (uint32_t)sv_rng_below(&rng, n);
        while (asked[i] == ASKED)
            i = (i + 1) % n;
        next(bed, i, &heard[i * ASKED + asked[i]++]);
    }
    free(asked);
    return heard;
}

static const char *const endless[] = {"uniform",
                                      "hotspot:senders=3,spots=2",
                                      "matching:rounds=17",
                                      "matching:rounds=0",
                                      "exchange",
                                      "stencil",
                                      "bitreverse",
                                      "tornado",
                                      "1toN:rounds=0",
                                      "uniform:on=5us,off=3us,phases=random",
                                      "shift:on=1us,off=1us,rest=0.2",
                                      "uniform:arrivals=regular"};

static void what_is_said_does_not_depend_on_when(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 21);
    size_t size = (size_t)21 * ASKED * sizeof(sv_sim_message);
    sv_jobmap *map =
        map_of(&bed, "host1 x\nhost2 x\nhost3 x\nhost2 y\nhost3 y\nhost7 y\nhost9 z\nhost3 z\n");
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        for (int jobs = 0; jobs < 2; jobs++) {
            sv_sim_traffic_request request = {
                .spec = endless[i], .seed = 8, .load = 0.5, .jobs = jobs ? map : NULL};
            if (jobs && (i == 1 || i == 6 || i == 7)) /* not for two or three terminals */
                continue;
            ask(ctx, &bed, request);
            sv_sim_message *first = listen(&bed, 0);
            ask(ctx, &bed, request);
            sv_sim_message *second = listen(&bed, 3);
            request.seed = 9;
            ask(ctx, &bed, request);
            sv_sim_message *other = listen(&bed, 0);
            assert_memory_equal(first, second, size);
            assert_memory_not_equal(first, other, size);
            for (uint32_t k = 1; k < 21 * ASKED; k++)
                if (k % ASKED != 0 && first[k].ready != SV_NEVER)
                    assert_true(first[k].ready >= first[k - 1].ready);
            free(first);
            free(second);
            free(other);
        }
    sv_jobmap_free(map);
    release(&bed);
}

/* ---- jobs ---- */

static void jobs_have_their_own_patterns(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 12);
    sv_jobmap *map = map_of(&bed, "host7 a=b\nhost2 a=b\nhost4 a=b\nhost1 2\nhost3 2\nhost5 2\n"
                                  "host8 3\nhost10 3\nhost11 lone\n");
    const char *const specs[] = {"a=b=shift:by=2,bytes=7", "2=exchange:bytes=9"};
    ask(ctx, &bed,
        (sv_sim_traffic_request){.spec = "Nto1:root=1",
                                 .bytes = 5,
                                 .messages = 4,
                                 .jobs = map,
                                 .job_specs = specs,
                                 .num_job_specs = 2});
    assert_int_equal(bed.source->messages, 3 * 4 + 3 * 2 + 1);
    /* Ranks of job a=b are host2, host4, host7. */
    const struct {
        uint32_t from, to, bytes, job;
    } wanted[] = {{2, 7, 7, 0}, {4, 2, 7, 0}, {7, 4, 7, 0}, {1, 3, 9, 1},
                  {3, 5, 9, 1}, {5, 1, 9, 1}, {8, 10, 5, 2}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        sv_sim_message message;
        assert_true(next(&bed, wanted[i].from, &message));
        assert_int_equal(terminal_of(&bed, message.destination), wanted[i].to);
        assert_int_equal(message.bytes, wanted[i].bytes);
        assert_int_equal(message.tag >> 8, wanted[i].job);
    }
    const uint32_t idle[] = {0, 6, 9, 10, 11};
    for (int i = 0; i < 5; i++)
        assert_int_equal(next_to(&bed, idle[i]), SV_NONE);
    /* The order of the request is that of the ranks of each job. */
    sv_node order[12];
    for (uint32_t i = 0; i < 12; i++)
        order[i] = (sv_node){bed.f->num_switches + 11 - i};
    ask(ctx, &bed,
        (sv_sim_traffic_request){
            .spec = "shift", .order = order, .num_order = 12, .messages = 1, .jobs = map});
    assert_int_equal(next_to(&bed, 7), 4);
    assert_int_equal(next_to(&bed, 4), 2);
    assert_int_equal(next_to(&bed, 2), 7);
    sv_jobmap_free(map);
    release(&bed);
}

/* A terminal of two jobs: fast ones take turns, others go by time; waiting ones do not mix up. */
static void jobs_share_terminals(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 4);
    sv_sim_message message;
    sv_jobmap *map = map_of(&bed, "host0 a\nhost1 a\nhost0 b\nhost2 b\nhost0 c\nhost3 c\n");
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "shift", .jobs = map});
    for (uint32_t k = 0; k < 9; k++)
        assert_int_equal(next_to(&bed, 0), 1 + k % 3);
    const char *const loads[] = {"a=shift:load=0.1", "b=shift:load=0.4", "c=shift:load=0.8"};
    ask(ctx, &bed, (sv_sim_traffic_request){.jobs = map, .job_specs = loads, .num_job_specs = 3});
    uint32_t count[3] = {0};
    uint64_t last = 0;
    for (uint32_t k = 0; k < 13000; k++, last = message.ready) {
        assert_true(next(&bed, 0, &message));
        assert_true(message.ready >= last);
        count[message.tag >> 8]++;
    }
    assert_true(count[0] > 900 && count[0] < 1100 && count[1] > 3800 && count[1] < 4200);
    /* Only b's ping is answered: only b goes on. */
    ask(ctx, &bed, (sv_sim_traffic_request){.spec = "pingpong", .jobs = map});
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(next_to(&bed, 0), 1 + k);
    assert_int_equal(next_to(&bed, 0), SV_NONE);
    sv_sim_arrival arrival = {.to = 0, .from = 2, .time = 77, .tag = 1 << 8};
    bed.source->arrived(bed.source->user, &arrival);
    assert_true(next(&bed, 0, &message));
    assert_int_equal(terminal_of(&bed, message.destination), 2);
    assert_int_equal(message.ready, 77);
    assert_int_equal(next_to(&bed, 0), SV_NONE);
    sv_jobmap_free(map);
    release(&bed);
}

static void impossible_jobs_are_refused(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 5);
    sv_jobmap *map = map_of(&bed, "host0 a\nhost1 a\nhost2 a\nhost1 b\nhost3 b\nhost4 lone\n");
    const struct {
        const char *spec, *jobs[2], *text;
        double load;
    } cases[] = {
        {NULL, {"a"}, "'a' is not JOB=SPEC", 0},
        {NULL, {"q=uniform"}, "no job of the map is called 'q'", 0},
        {NULL, {"a=uniform", "a=exchange"}, "job 'a' has two patterns", 0},
        {NULL, {"a=no"}, "job 'a': spec 'no': 'no' is no pattern", 0},
        {NULL, {"lone=uniform"}, "job 'lone' has fewer than two terminals", 0},
        {NULL, {NULL}, "no job of the map has two terminals and a pattern", 0},
        {NULL, {"a=file:x"}, "a job cannot have a file of messages", 0},
        {"file:x", {NULL}, "a job cannot have a file of messages", 0},
        {"stencil:dims=3x1x1", {NULL}, "job 'b': spec 'stencil:dims=3x1x1': dims need more", 0},
        {"uniform", {"a=ring"}, "'host1' runs jobs 'a' and 'b'", 0},
        {"uniform", {"a=uniform:load=1"}, "'host1' runs jobs 'a' and 'b'", 0},
        {"ring", {NULL}, "a load is not for pattern 'ring'", 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_sim_traffic *t = NULL;
        sv_sim_traffic_request request = {.spec = cases[i].spec,
                                          .model = &model,
                                          .load = cases[i].load,
                                          .jobs = map,
                                          .job_specs = cases[i].jobs,
                                          .num_job_specs = (cases[i].jobs[0] != NULL) +
                                                           (cases[i].jobs[1] != NULL)};
        FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
              cases[i].text);
        assert_null(t);
    }
    sv_jobmap_free(map);
    release(&bed);
}

/* ---- what is refused ---- */

static const struct refusal {
    const char *spec, *text;
} refusals[] = {
    {"", "'' is no pattern (there are: exchange, uniform, "},
    {"unifrom", "spec 'unifrom': 'unifrom' is no pattern: did you mean 'uniform'? (there are: "
                "exchange, uniform, "},
    {"files", "'files' is no pattern"},
    {"uniform:", "nothing after the colon"},
    {"uniform:7", "'7' is not key=value"},
    {"uniform:by=1", "unknown key 'by': did you mean 'bytes'? (known: bytes, load, "},
    {"ring:load=1", "unknown key 'load' (known: rounds, bytes, ranks, place)"},
    {"ring:on=1us", "unknown key 'on'"},
    {"uniform:bytes=4294967296", "bytes=4294967296 is not a number in 0…4294967295"},
    {"uniform:bytes=1,bytes=2", "key 'bytes' is given twice"},
    {"uniform:load=0", "load=0 is not a load: above 0, at most 1"},
    {"uniform:load=1.01", "load=1.01 is not a load"},
    {"uniform:load=.5", "load=.5 is not a load"},
    {"uniform:load=0.", "load=0. is not a load"},
    {"uniform:load=0.0000000001", "is not a load"},
    {"uniform:load=1e-1", "is not a load"},
    {"uniform:messages=0", "messages=0 is not a number in 1…"},
    {"uniform:arrivals=odd,load=1", "arrivals=odd is none of poisson, regular"},
    {"uniform:arrivals=regular", "arrivals are of a load"},
    {"uniform:off=1us", "on is missing"},
    {"uniform:phases=random", "on is missing"},
    {"uniform:rest=0.1", "on is missing"},
    {"uniform:on=0", "on=0 is not a time"},
    {"uniform:on=1m", "on=1m is not a time"},
    {"uniform:on=us", "on=us is not a time"},
    {"uniform:on=1000000s", "is not a time"},
    {"uniform:on=99999999999999999999", "is not a time"},
    {"uniform:on=1us,phases=some", "phases=some is none of together, random"},
    {"exchange:rounds=-1", "rounds=-1 is not a number in 0…1000000000"},
    {"shift:by=0", "by=0 is not a number in 1…9"},
    {"shift:by=10", "by=10 is not a number in 1…9"},
    {"1toN:root=10", "root=10 is not a number in 0…9"},
    {"Nto1:root=x", "root=x is not a number"},
    {"tornado:dims=3x2", "dims do not divide 10 ranks"},
    {"tornado:dims=0x5", "dims=0x5 is not up to 3 numbers"},
    {"tornado:dims=5x2x1x1", "dims=5x2x1x1 is not up to 3 numbers"},
    {"tornado:dims=4294967295x4294967295", "dims do not divide"},
    {"tornado:dims=2x2x5x", "is not up to 3 numbers"},
    {"tornado:dims=1x2x5", NULL},
    {"tornado:dims=2x1", "no terminal of 10 has anything to send"},
    {"stencil:dims=3x3x3", "dims need more than 10 ranks"},
    {"stencil:dims=65536x65536x65536", "dims need more than 10 ranks"},
    {"stencil:dims=3x3", "dims has not three sides"},
    {"stencil:dims=1x1x1", "no terminal of 10 has anything to send"},
    {"hotspot", "6 % of 10 ranks are too few: give senders and spots"},
    {"hotspot:senders=1", "give senders and spots"},
    {"hotspot:senders=6,spots=5", "6 senders and 5 spots are more than 10 ranks"},
    {"hotspot:senders=0,spots=5", "senders=0 is not a number in 1…9"},
    {"pingpong:pairs=all", "pairs=all is none of near, far, random"},
    {"allreduce:by=tree", "by=tree is none of ring, doubling"},
    {"allgather:by=doubling,bytes=500000000", "10 blocks of 500000000 bytes are more than 4 GiB"},
    {"file", "give file:PATH"},
    {"file:", "give file:PATH"},
};

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 10);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        sv_sim_traffic_request request = {.spec = refusals[i].spec, .model = &model};
        if (refusals[i].text == NULL) {
            ask(ctx, &bed, request);
            continue;
        }
        sv_sim_traffic *t = NULL;
        FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
              refusals[i].text);
        assert_null(t);
    }
    release(&bed);
}

static void senseless_requests_are_refused(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 10), two = bed_of(ctx, 2), one = bed_of(ctx, 1);
    const sv_sim_model none = {.mtu_bytes = 2048};
    const char *const specs[] = {"a=uniform"};
    const struct {
        const struct bed *bed, *tables;
        sv_sim_traffic_request request;
        const char *text;
    } cases[] = {
        {&one, &one, {.spec = "uniform", .model = &model}, "fewer than two terminals"},
        {&two, &two, {.spec = "bitreverse", .model = &model}, "no terminal of 2 has anything"},
        {&two, &bed, {.spec = "uniform", .model = &model}, "do not belong together"},
        {&bed, &bed, {.spec = "uniform"}, "the model is missing"},
        {&bed, &bed, {.spec = "uniform", .model = &none}, "the model is missing"},
        {&bed, &bed, {.model = &model}, "no pattern is given"},
        {&bed, &bed, {.spec = "uniform", .model = &model, .load = 1.5}, "load 1.5 is not in 0…1"},
        {&bed, &bed, {.spec = "uniform", .model = &model, .load = -1}, "load -1 is not in 0…1"},
        {&bed, &bed, {.spec = "ring", .model = &model, .load = 1}, "a load is not for pattern"},
        {&bed, &bed, {.spec = "ring", .model = &model, .messages = 1}, "a number of messages is"},
        {&bed, &bed, {.spec = "file:x", .model = &model, .load = 1}, "a load is not for a file"},
        {&bed,
         &bed,
         {.spec = "uniform", .model = &model, .job_specs = specs, .num_job_specs = 1},
         "patterns of jobs need a job map"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sv_sim_traffic *t = NULL;
        FAILS(ctx,
              sv_sim_traffic_new(ctx, cases[i].bed->f, cases[i].tables->r, &cases[i].request, &t),
              SV_BAD_INPUT, cases[i].text);
        assert_null(t);
    }
    release(&bed);
    release(&two);
    release(&one);
}

/* What is listed can be asked for, with every key, and is what it says. */
static void patterns_are_listed(void **state)
{
    (void)state;
    struct bed bed = bed_of(ctx, 64);
    const sv_sim_pattern *pattern;
    for (size_t i = 0; (pattern = sv_sim_pattern_at(i)) != NULL; i++) {
        char wrong[80];
        sv_sim_traffic *t = NULL;
        sv_sim_traffic_request request = {.spec = pattern->name, .model = &model};
        assert_true(pattern->summary[0] != 0 && pattern->keys != NULL);
        if (strcmp(pattern->name, "file") == 0)
            continue;
        ask(ctx, &bed, request);
        assert_int_equal(sv_sim_traffic_endless(bed.t), pattern->endless);
        assert_int_equal(bed.source->arrived != NULL, pattern->waits);
        snprintf(wrong, sizeof wrong, "%s:nonsense=1", pattern->name);
        request.spec = wrong;
        FAILS(ctx, sv_sim_traffic_new(ctx, bed.f, bed.r, &request, &t), SV_BAD_INPUT,
              "unknown key 'nonsense' (known: ");
        for (int list = 0; list < 2; list++) {
            const sv_sim_pattern_key *key =
                list ? sv_sim_pattern_keys(pattern->waits) : pattern->keys;
            for (; key->name != NULL; key++) {
                assert_true(key->meaning[0] != 0 && key->otherwise[0] != 0);
                if (strstr(strstr(sv_ctx_message(ctx), "(known: "), key->name) == NULL)
                    fail_msg("%s is not listed: %s", key->name, sv_ctx_message(ctx));
            }
        }
    }
    release(&bed);
}

/* ---- memory ---- */

struct making {
    struct bed bed;
    sv_sim_traffic_request request;
};

static sv_status make(sv_ctx *own, void *arg)
{
    const struct making *making = arg;
    sv_sim_traffic *t = NULL;
    sv_status status = sv_sim_traffic_new(own, making->bed.f, making->bed.r, &making->request, &t);
    assert_true((status == SV_OK) == (t != NULL));
    sv_sim_traffic_free(t);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct making making = {.bed = bed_on(ctx, "mesh:1x50,hosts=200")};
    const sv_sim_pattern *pattern;
    sv_jobmap *map = map_of(&making.bed, "host0 a\nhost1 a\nhost0 b\nhost2 b\n");
    const char *const specs[] = {"a=uniform"};
    making.request = (sv_sim_traffic_request){.model = &model};
    for (size_t i = 0; (pattern = sv_sim_pattern_at(i)) != NULL; i++) {
        bool spot = strcmp(pattern->name, "meshspot") == 0;
        making.request.spec = spot ? "meshspot:ranks=64" : pattern->name;
        if (strcmp(pattern->name, "file") != 0)
            test_out_of_memory(pattern->name, make, &making);
    }
    making.request.spec = "uniform:on=1us,phases=random";
    test_out_of_memory("bursts", make, &making);
    making.request = (sv_sim_traffic_request){
        .spec = "exchange", .model = &model, .jobs = map, .job_specs = specs, .num_job_specs = 1};
    test_out_of_memory("jobs", make, &making);
    sv_jobmap_free(map);
    release(&making.bed);
}

/* Bytes that are in use, and their most. Each block has its size in front. */
struct usage {
    size_t now, max;
};

static void *weighing(void *user, void *block, size_t size)
{
    struct usage *usage = user;
    size_t *head = block == NULL ? NULL : (size_t *)block - 2;
    usage->now -= head == NULL ? 0 : head[0];
    if (size == 0) {
        free(head);
        return NULL;
    }
    head = realloc(head, size + 2 * sizeof *head);
    assert_non_null(head);
    head[0] = size;
    usage->now += size;
    usage->max = usage->now > usage->max ? usage->now : usage->max;
    return head + 2;
}

static void many_terminals_fit(void **state)
{
    (void)state;
    enum { TERMINALS = 100000 };
    sv_fabric *f = test_fabric(ctx, "mesh:1x500,hosts=200");
    uint32_t *first = calloc(TERMINALS + 501, sizeof *first);
    assert_non_null(first);
    for (uint32_t i = 0; i < TERMINALS + 501; i++)
        first[i] = i;
    sv_routes tables = {.num_switches = 500, .num_terminals = TERMINALS, .first = first};
    const struct {
        const char *spec;
        uint32_t max;
    } cases[] = {{"uniform:load=0.5", 90}, {"uniform", 80},
                 {"exchange", 60},         {"ring", 90},
                 {"allreduce", 80},        {"allreduce:by=doubling", 210}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct usage usage = {0};
        sv_host host = {.user = &usage, .resize = weighing};
        sv_ctx *own = sv_ctx_new(&host);
        sv_sim_traffic *t = NULL;
        sv_sim_traffic_request request = {.spec = cases[i].spec, .model = &model};
        OK(own, sv_sim_traffic_new(own, f, &tables, &request, &t));
        print_message("%s: %zu bytes a terminal, %zu while it is made\n", cases[i].spec,
                      usage.now / TERMINALS, usage.max / TERMINALS);
        assert_true(usage.now / TERMINALS < cases[i].max);
        const sv_sim_source *source = sv_sim_traffic_source(t);
        for (uint32_t k = 0; k < TERMINALS; k++) {
            sv_sim_message message;
            bool waits = i == 5 && k < 2 * (TERMINALS - 65536) && k % 2 == 1;
            assert_int_equal(source->next(source->user, k, &message), !waits);
        }
        sv_sim_traffic_free(t);
        sv_ctx_free(own);
        assert_int_equal(usage.now, 0);
    }
    free(first);
    sv_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_by_switch_and_port),
        cmocka_unit_test(what_is_said_does_not_depend_on_when),
        cmocka_unit_test(jobs_have_their_own_patterns),
        cmocka_unit_test(jobs_share_terminals),
        cmocka_unit_test(impossible_jobs_are_refused),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(senseless_requests_are_refused),
        cmocka_unit_test(patterns_are_listed),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(many_terminals_fit),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
