/*
 * test_oom.c: every call again with its 1st, 2nd, 3rd … allocation failing: each time it must say
 * "out of memory", leave its outputs alone and everything freed.
 *
 * METIS and jansson allocate behind our back; what they do is not counted here.
 */
#include "support/testing.h"

#include "base/file.h"

static sv_status generate(sv_ctx *ctx, void *arg)
{
    sv_fabric *f = NULL;
    sv_status status = sv_topology_generate(ctx, arg, &f);
    assert_true((status == SV_OK) == (f != NULL));
    sv_fabric_free(f);
    return status;
}

static void generating(void **state)
{
    (void)state;
    for (size_t i = 0; sv_topology_at(i) != NULL; i++) {
        const char *example = sv_topology_at(i)->example;
        char *spec = strdup(example);
        test_out_of_memory(spec, generate, spec);
        free(spec);
    }
    char preset[] = "t42-mesh2d,hosts=1";
    test_out_of_memory(preset, generate, preset);
}

/* A fabric that is not under test, and the text of it in a format. */
static char *text_of(const char *spec, sv_format format)
{
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, spec);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_fabric_write(ctx, f, format, &sink));
    sv_fabric_free(f);
    sv_ctx_free(ctx);
    return buffer.text;
}

static sv_status read_text(sv_ctx *ctx, void *arg)
{
    sv_memory memory = {arg, strlen(arg)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_fabric *f = NULL;
    sv_status status = sv_fabric_read(ctx, &source, SV_FORMAT_AUTO, &f);
    sv_fabric_free(f);
    return status;
}

static void reading(void **state)
{
    (void)state;
    char *net = text_of("torus:3x3,hosts=2", SV_FORMAT_IBNETDISCOVER);
    char *list = text_of("torus:3x3,hosts=2", SV_FORMAT_SUBNET);
    char cray[] = "c0-0c0s0a0l00(0:0:0) green -> c0-0c0s1a0l10(0:0:1)\n"
                  "c0-0c0s0a0l50(0:0:0) ptile -> processor\n"
                  "c0-0c0s1a0l10(0:0:1) green -> c0-0c0s0a0l00(0:0:0)\n"
                  "c0-0c0s1a0l50(0:0:1) ptile -> processor\n";
    test_out_of_memory("ibnetdiscover", read_text, net);
    test_out_of_memory("subnet", read_text, list);
    test_out_of_memory("cray", read_text, cray);
    free(net);
    free(list);
}

struct job {
    sv_fabric *f, *g;
    sv_format format;
};

static sv_status write_one(sv_ctx *ctx, void *arg)
{
    struct job *job = arg;
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_status status = sv_fabric_write(ctx, job->f, job->format, &sink);
    free(buffer.text);
    return status;
}

static sv_status save_one(sv_ctx *ctx, void *arg)
{
    struct job *job = arg;
    return sv_fabric_save(ctx, job->f, SV_FORMAT_IBNETDISCOVER, "/dev/null");
}

static sv_status diff_them(sv_ctx *ctx, void *arg)
{
    struct job *job = arg;
    sv_diff *diff = NULL;
    sv_status status = sv_fabric_diff(ctx, job->f, job->g, SV_MATCH_NAME, &diff);
    sv_diff_free(diff);
    return status;
}

static sv_status check_it(sv_ctx *ctx, void *arg)
{
    return sv_fabric_check(ctx, ((struct job *)arg)->f);
}

static sv_status look_around(sv_ctx *ctx, void *arg)
{
    const sv_fabric *f = ((struct job *)arg)->f;
    sv_oddities odd;
    sv_components components;
    sv_distances distances;
    uint32_t k, cut;
    sv_status status = sv_fabric_oddities(ctx, f, &odd);
    if (status == SV_OK)
        status = sv_fabric_components(ctx, f, &components);
    if (status == SV_OK)
        status = sv_fabric_distances(ctx, f, &distances);
    if (status == SV_OK)
        status = sv_fabric_edge_connectivity(ctx, f, &k);
    if (status == SV_OK)
        status = sv_fabric_vertex_connectivity(ctx, f, &k);
    sv_bisection halves;
    if (status == SV_OK)
        status = sv_fabric_bisection(ctx, f, 1, &halves);
    if (status == SV_UNSUPPORTED)
        status = SV_OK;
    if (status == SV_OK)
        status = sv_faults_cut_off(ctx, f, &cut);
    return status;
}

static sv_status find_one(sv_ctx *ctx, void *arg)
{
    sv_node v;
    sv_index *index = sv_index_new(ctx, ((struct job *)arg)->f);
    if (index == NULL)
        return sv_ctx_status(ctx);
    sv_status status = sv_index_find(ctx, index, "host1", &v);
    sv_index_free(index);
    return status;
}

static sv_status break_it(sv_ctx *ctx, void *arg)
{
    const sv_fabric *f = ((struct job *)arg)->f;
    const char *text = "switch sw0-0\nport sw1-1 4\n";
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_fault_plan plan = {.seed = 1,
                          .links = {false, 2},
                          .switches = {false, 1},
                          .adapters = {false, 1},
                          .limit_level = true};
    sv_fault_report report = {0};
    sv_fabric *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_status status =
        mask == NULL ? sv_ctx_status(ctx) : sv_faults_read(ctx, f, &source, mask, &report);
    if (status == SV_OK)
        status = sv_faults_draw(ctx, f, &plan, mask, &report);
    if (status == SV_OK)
        status = sv_fabric_mask(ctx, f, mask, &left);
    sv_mask_free(mask);
    sv_fabric_free(left);
    return status;
}

static sv_status grow_old(sv_ctx *ctx, void *arg)
{
    const sv_fabric *f = ((struct job *)arg)->f;
    const char *text = "1d link 2h\n20d switch\n300d hca\n301d link\n400d link\n";
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "oom");
    const sv_fit_request request = {.parts = {40, 20, 40}};
    sv_failure_log *log = NULL;
    sv_failure_fit fit;
    sv_fault_report report;
    uint32_t parts[SV_FAILURE_PARTS];
    sv_mask *mask = sv_mask_new(ctx, f);
    sv_status status = mask == NULL ? sv_ctx_status(ctx) : sv_failure_log_read(ctx, &source, &log);
    if (status == SV_OK)
        status = sv_failure_fit_log(ctx, log, &request, &fit);
    if (status == SV_OK)
        status = sv_failure_parts(ctx, f, parts);
    if (status == SV_OK)
        status = sv_faults_age(ctx, f, &fit.model, 5, 1, mask, &report);
    sv_failure_log_free(log);
    sv_mask_free(mask);
    return status;
}

static sv_status change_roles(sv_ctx *ctx, void *arg)
{
    const sv_fabric *f = ((struct job *)arg)->f;
    const char *text = "0x02005e1b00000011\n";
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_role roles[100] = {SV_ROLE_COMPUTE};
    sv_fabric *g = NULL;
    sv_status status = sv_roles_read(ctx, f, &source, SV_ROLE_IO, roles, NULL);
    if (status == SV_OK)
        status = sv_fabric_with_roles(ctx, f, roles, &g);
    sv_fabric_free(g);
    return status;
}

static void using(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct job job = {.f = test_fabric(ctx, "torus:4x5,hosts=2"),
                      .g = test_fabric(ctx, "mesh:4x5,hosts=1")};
    for (int format = SV_FORMAT_IBNETDISCOVER; format < SV_FORMAT_COUNT; format++) {
        job.format = (sv_format)format;
        if (sv_format_about(job.format)->writes)
            test_out_of_memory(sv_format_about(job.format)->name, write_one, &job);
    }
    test_out_of_memory("save", save_one, &job);
    test_out_of_memory("diff", diff_them, &job);
    test_out_of_memory("check", check_it, &job);
    test_out_of_memory("metrics", look_around, &job);
    test_out_of_memory("index", find_one, &job);
    test_out_of_memory("faults", break_it, &job);
    test_out_of_memory("failures", grow_old, &job);
    test_out_of_memory("roles", change_roles, &job);
    sv_fabric_free(job.f);
    sv_fabric_free(job.g);
    sv_ctx_free(ctx);
}

/* ---- tables ---- */

struct tables {
    const sv_fabric *f;
    sv_routes *r, *other;
    const char *engine, *option;
};

static sv_status route_it(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    const sv_route_request request = {
        .lmc = 1, .sl_offset = 2, .options = &t->option, .num_options = t->option != NULL};
    sv_routes *r = NULL;
    sv_status status = sv_route(ctx, t->f, t->engine, &request, &r, NULL);
    assert_true((status == SV_OK) == (r != NULL));
    sv_routes_free(r);
    return status;
}

static sv_status route_jobs(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    const char *text = "host0 a\nhost1 a\nhost2 b\nhost1 b\nhost0 b\n";
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_jobmap *map = NULL;
    sv_routes *r = NULL;
    sv_status status = sv_jobmap_read(ctx, t->f, &source, &map);
    if (status == SV_OK) {
        const sv_route_request request = {.vls = 4, .jobs = map};
        status = strcmp(t->engine, "auto") == 0
                     ? sv_route_auto(ctx, t->f, &request, SV_TRAFFIC_MANAGED, &r, NULL, NULL)
                     : sv_route(ctx, t->f, t->engine, &request, &r, NULL);
    }
    assert_true((status == SV_OK) == (r != NULL));
    sv_routes_free(r);
    sv_jobmap_free(map);
    return status;
}

static sv_status verify_it(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_verification *found = NULL;
    sv_load load;
    sv_status status = sv_verify(ctx, t->f, t->r, NULL, &found);
    sv_verification_free(found);
    return status == SV_OK ? sv_routes_load(ctx, t->f, t->r, NULL, &load) : status;
}

static sv_status count_it(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    static const uint32_t numbers[] = {1, 2};
    const sv_lost_plan links = {.trials = 2, .failures = numbers, .count = 1};
    const sv_lost_plan switches = {.switches = true, .trials = 2, .failures = numbers, .count = 2};
    sv_stretch stretch;
    sv_vl_use use;
    sv_matchings found;
    sv_bound bound;
    sv_lost lost[2];
    sv_status status = sv_routes_stretch(ctx, t->f, t->r, &stretch);
    if (status == SV_OK)
        status = sv_routes_bound(ctx, t->f, t->r, &bound);
    if (status == SV_OK)
        status = sv_routes_vls(ctx, t->f, t->r, &use);
    if (status == SV_OK)
        status = sv_routes_matchings(ctx, t->f, t->r, 3, 1, NULL, &found);
    if (status == SV_OK)
        status = sv_routes_lost(ctx, t->f, t->r, &links, lost, NULL, NULL);
    if (status == SV_OK)
        status = sv_routes_lost(ctx, t->f, t->r, &switches, lost, NULL, NULL);
    return status;
}

static sv_status count_jobs(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    const char *text = "host0 a\nhost1 a\nhost2 b\nhost1 b\nhost0 b\nnobody c\n";
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_jobmap *map = NULL;
    sv_job_load jobs[3];
    sv_jobs_load about;
    sv_status status = sv_jobmap_read(ctx, t->f, &source, &map);
    assert_true((status == SV_OK) == (map != NULL));
    if (status == SV_OK)
        status = sv_jobs_count(ctx, t->f, t->r, map, NULL, jobs, &about);
    uint32_t *users = calloc(t->f->num_channels, sizeof *users);
    if (status == SV_OK)
        status = sv_jobs_share(ctx, t->f, t->r, map, users);
    free(users);
    sv_jobmap_free(map);
    return status;
}

static sv_status verify_change(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_transition *found = NULL;
    sv_status status = sv_verify_transition(ctx, t->f, t->r, t->other, SV_TRAFFIC_ALL, &found);
    sv_transition_free(found);
    return status;
}

static sv_status carry_over(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_match *match = NULL;
    sv_routes *carried = NULL;
    sv_lid_move moves[16];
    uint32_t count = 0;
    sv_status status = sv_match_new(ctx, t->f, t->f, SV_MATCH_GUID, &match);
    if (status == SV_OK)
        status = sv_routes_remap(ctx, t->f, t->r, t->f, match, &carried);
    if (status == SV_OK) {
        carried->lid[7] = 0; /* as if its node were new */
        status = sv_routes_remap_lids(ctx, t->f, t->r, t->f, match, t->r, carried, moves, &count);
    }
    assert_int_equal(count, status == SV_OK);
    sv_routes_free(carried);
    sv_match_free(match);
    return status;
}

static sv_status clone_and_change(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_routes *clone = NULL;
    sv_group *group;
    sv_status status = sv_routes_clone(ctx, t->r, &clone);
    if (status == SV_OK && sv_routes_row(ctx, clone, 3) == NULL)
        status = SV_NO_MEMORY;
    if (status == SV_OK)
        status = sv_routes_set_sl_form(ctx, clone, SV_SL_BY_SWITCH);
    if (status == SV_OK && sv_routes_sl_row(ctx, clone, 3) == NULL)
        status = SV_NO_MEMORY;
    if (status == SV_OK)
        status = sv_routes_add_group(ctx, clone, 0xc000, &group);
    sv_routes_free(clone);
    return status;
}

/* Room made for a tree by exchanging SLs, a second tree beside it, groups. */
static sv_status grow_trees(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_routes *clone = NULL;
    sv_mtree *tree = NULL, *second = NULL;
    const sv_node members[] = {{0}, {t->f->num_switches}, {t->f->num_switches + 2}};
    uint64_t ports[16][4];
    unsigned other = 0;
    sv_status status = sv_routes_clone(ctx, t->r, &clone);
    if (status == SV_OK)
        status = sv_mtree_make_room(ctx, t->f, clone, SV_TRAFFIC_ALL, 0, NULL, 0, &tree, &other);
    assert_true((status == SV_OK) == (tree != NULL) && (status == SV_OK) == (other != 0));
    const sv_mtree *others[] = {tree};
    if (status == SV_OK)
        status = sv_mtree_new(ctx, t->f, clone, SV_TRAFFIC_ALL, 0, others, 1, &second);
    sv_mtree_free(second);
    second = NULL;
    if (status == SV_OK)
        status =
            sv_mtree_own_vl(ctx, t->f, clone, SV_TRAFFIC_ALL, 1, 2, others, 1, &second, &other);
    if (status == SV_OK)
        status = sv_mtree_prune(ctx, tree, t->f, members, 3, ports);
    if (status == SV_OK)
        status = sv_mtree_add_all(ctx, second, t->f, clone, 0xc000);
    sv_mtree_free(second);
    sv_mtree_free(tree);
    sv_routes_free(clone);
    return status;
}

static void multicast(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1");
    struct tables t = {.f = f};
    const sv_route_request request = {.vls = 2, .seed = 1};
    sv_mtree *tree = NULL;
    OK(ctx, sv_route(ctx, f, "dfsssp", &request, &t.r, NULL));
    /* Most of a ring is on SL 0, which leaves no room for a tree. */
    FAILS(ctx, sv_mtree_new(ctx, f, t.r, SV_TRAFFIC_ALL, 0, NULL, 0, &tree), SV_INFEASIBLE, "SL 0");
    test_out_of_memory("multicast", grow_trees, &t);
    sv_routes_free(t.r);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

static sv_status prove_it(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    sv_status status = sv_proof_write(ctx, t->f, t->other, NULL, &sink);
    if (status == SV_OK) {
        sv_memory memory = {buffer.text, buffer.length};
        sv_source source = sv_memory_source(&memory, "oom");
        bool holds, numbered;
        sv_wait from, to;
        uint64_t count;
        status = sv_proof_check(ctx, t->f, t->other, NULL, &source, &holds, &numbered, &from, &to,
                                &count);
    }
    free(buffer.text);
    return status;
}

static sv_status save_and_load(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    char directory[] = "/tmp/selvage-oom-XXXXXX", command[128];
    assert_non_null(mkdtemp(directory));
    char file[64];
    snprintf(file, sizeof file, "%s/t.svr", directory);
    const char *paths[] = {directory, file};
    sv_status status = SV_OK;
    for (int i = 0; status == SV_OK && i < 2; i++) {
        sv_fabric *f = NULL;
        sv_routes *r = NULL;
        status = sv_dump_write(ctx, t->f, t->r, paths[i]);
        if (status == SV_OK)
            status = sv_dump_read(ctx, paths[i], &f, &r);
        sv_routes_free(r);
        sv_fabric_free(f);
    }
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    return status;
}

static sv_status repair_it(sv_ctx *ctx, void *arg)
{
    struct tables *t = arg;
    sv_fabric *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, t->f);
    sv_routes *r = NULL;
    sv_repair_report *report = NULL;
    const sv_repair_request request = {.engine = "updn", .full = t->option != NULL};
    if (mask == NULL)
        return SV_NO_MEMORY;
    sv_mask_cable(mask, t->f, sv_channel_at(t->f, (sv_node){1}, 2));
    sv_status status = sv_fabric_mask(ctx, t->f, mask, &left);
    if (status == SV_OK)
        status = sv_repair(ctx, t->f, t->other, left, &request, &r, &report);
    assert_true((status == SV_OK) == (r != NULL) && (status == SV_OK) == (report != NULL));
    sv_repair_report_free(report);
    sv_routes_free(r);
    sv_mask_free(mask);
    sv_fabric_free(left);
    return status;
}

static sv_status route_auto(sv_ctx *ctx, void *arg)
{
    const struct tables *t = arg;
    sv_routes *routes = NULL;
    sv_status status = sv_route_auto(ctx, t->f, NULL, SV_TRAFFIC_MANAGED, &routes, NULL, NULL);
    sv_routes_free(routes);
    return status;
}

/* torus2qos: a ring, a torus with a hole, which needs detours, and its configuration. */
static void torus(sv_ctx *ctx, struct tables *t)
{
    sv_fabric *whole = test_fabric(ctx, "torus:5x3,hosts=1"), *left = NULL;
    sv_mask *mask = sv_mask_new(ctx, whole);
    char path[] = "/tmp/selvage-oom-XXXXXX", option[60];
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(
        file, "torus 5 3 1\nxp_link 0x%llx 0x%llx\nyp_link 0x%llx 0x%llx\nport_order 2 1\n",
        (unsigned long long)whole->switches[0].guid, (unsigned long long)whole->switches[3].guid,
        (unsigned long long)whole->switches[0].guid, (unsigned long long)whole->switches[1].guid);
    fclose(file);
    snprintf(option, sizeof option, "config=%s", path);
    sv_mask_node(mask, (sv_node){7});
    OK(ctx, sv_fabric_mask(ctx, whole, mask, &left));
    t->engine = "torus2qos";
    t->f = left;
    test_out_of_memory("torus2qos with a hole", route_it, t);
    t->f = whole;
    t->option = option;
    test_out_of_memory("torus2qos with a configuration", route_it, t);
    remove(path);
    sv_mask_free(mask);
    sv_fabric_free(left);
    sv_fabric_free(whole);
}

/* An engine on a fabric that it does. */
static const struct able {
    const char *engine, *spec, *option;
} able[] = {{"minhop", "torus:4,hosts=1", NULL},
            {"sssp", "torus:4,hosts=1", NULL},
            {"updn", "torus:4,hosts=1", NULL},
            {"dnup", "torus:4,hosts=1", NULL},
            {"dor", "torus:4,hosts=1", NULL},
            {"dfsssp", "torus:4,hosts=1", NULL},
            {"lash", "torus:4,hosts=1", NULL},
            {"nue", "torus:4,hosts=1", NULL},
            {"weave", "torus:4,hosts=1", NULL},
            /* one that needs two VLs, and every way to get them */
            {"dfsssp", "torus:5,hosts=1", "assign=joint"},
            {"dfsssp", "torus:5,hosts=1", "assign=weakest"},
            {"dfsssp", "torus:5,hosts=1", "assign=online"},
            /* those for one kind of fabric */
            {"ftree", "kary:k=2,n=2,hosts=1", NULL},
            {"dmodk", "xgft:h=2,m=2/2,w=1/2,hosts=2", NULL}, /* with what is worked around */
            {"dmodk", "taurus", NULL},                       /* too odd for that */
            /* a new chunk of memory for the middle of its scratch */
            {"dmodk", "xgft:h=2,m=178/7,w=1/1,hosts=1", NULL},
            {"torus2qos", "torus:4,hosts=1", NULL},
            {"dla", "dragonfly:a=3,p=1,h=1,g=4", NULL},
            {"d3r", "dragonfly:a=3,p=1,h=1,g=4", NULL},
            {"sssp-df", "dragonfly:a=3,p=1,h=1,g=4", NULL},
            {"minhop-df", "dragonfly:a=3,p=1,h=1,g=4", NULL},
            /* groups of another pattern, which takes all ways to look for them */
            {"d3r", "dragonfly+:l=2,s=2,p=1,h=1,g=3", NULL},
            {"sssp-df", "dragonfly+:l=2,s=2,p=1,h=1,g=3", NULL},
            {"minhop-df", "dragonfly+:l=2,s=2,p=1,h=1,g=3", NULL}};

static void routing(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct tables t = {0};
    for (size_t i = 0; i < sizeof able / sizeof able[0]; i++) {
        sv_fabric *f = test_fabric(ctx, able[i].spec);
        t = (struct tables){.f = f, .engine = able[i].engine, .option = able[i].option};
        test_out_of_memory(able[i].option != NULL ? able[i].option : able[i].engine, route_it, &t);
        if (i == 0)
            test_out_of_memory("auto", route_auto, &t);
        sv_fabric_free(f);
    }
    t.option = NULL;
    torus(ctx, &t);
    sv_ctx_free(ctx);
}

static void routing_for_jobs(void **state)
{
    (void)state;
    static const char *const engines[] = {"sssp", "sar", "nue", "weave", "auto"};
    static const char *const specs[] = {"torus:5,hosts=1", "kary:k=2,n=2,hosts=2"};
    sv_ctx *ctx = sv_ctx_new(NULL);
    for (int i = 0; i < 10; i++) {
        sv_fabric *f = test_fabric(ctx, specs[i % 2]);
        struct tables t = {.f = f, .engine = engines[i / 2]};
        test_out_of_memory(engines[i / 2], route_jobs, &t);
        sv_fabric_free(f);
    }
    sv_ctx_free(ctx);
}

static void judging(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "torus:4,hosts=1");
    struct tables t = {.f = f};
    OK(ctx, sv_route(ctx, f, "dor", NULL, &t.r, NULL));
    OK(ctx, sv_route(ctx, f, "updn", NULL, &t.other, NULL));
    test_out_of_memory("verify", verify_it, &t);
    test_out_of_memory("route metrics", count_it, &t);
    test_out_of_memory("jobs", count_jobs, &t);
    test_out_of_memory("transition", verify_change, &t);
    test_out_of_memory("carry over", carry_over, &t);
    test_out_of_memory("clone", clone_and_change, &t);
    test_out_of_memory("proof", prove_it, &t);
    test_out_of_memory("dump", save_and_load, &t);
    test_out_of_memory("repair", repair_it, &t);
    t.option = "full";
    test_out_of_memory("repair in full", repair_it, &t);
    sv_routes_free(t.other);
    sv_routes_free(t.r);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generating), cmocka_unit_test(reading),          cmocka_unit_test(using),
        cmocka_unit_test(routing),    cmocka_unit_test(routing_for_jobs), cmocka_unit_test(judging),
        cmocka_unit_test(multicast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
