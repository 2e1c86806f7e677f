/*
 * test_oom_jobs.c: reading jobs of each format, making maps of them, comparing and writing these,
 * again with the 1st, 2nd, 3rd … allocation failing.
 */
#include "support/testing.h"

#include "base/file.h"

struct bed {
    sv_fabric *f;
    const char *text;
};

static sv_status read_and_map(sv_ctx *ctx, void *arg)
{
    struct bed *bed = arg;
    sv_memory memory = {bed->text, strlen(bed->text)};
    sv_source source = sv_memory_source(&memory, "oom");
    sv_allocations *jobs = NULL;
    sv_jobmap *map = NULL, *other = NULL;
    bool same;
    sv_status status = sv_allocations_read(ctx, &source, SV_JOBS_AUTO, &jobs);
    assert_true((status == SV_OK) == (jobs != NULL));
    if (status == SV_OK)
        status = sv_allocations_map(ctx, jobs, 150, bed->f, SV_PLACE_BY_NAME, false, &map, NULL);
    assert_true((status == SV_OK) == (map != NULL));
    if (status == SV_OK)
        status = sv_allocations_map(ctx, jobs, 150, bed->f, SV_PLACE_IN_ORDER, true, &other, NULL);
    if (status == SV_OK)
        status = sv_jobmap_same(ctx, map, other, &same);
    if (status == SV_OK)
        status = sv_jobmap_save(ctx, bed->f, map, "/dev/null");
    if (status == SV_OK)
        status = sv_allocations_save(ctx, jobs, 150, "/dev/null");
    sv_jobmap_free(other);
    sv_jobmap_free(map);
    sv_allocations_free(jobs);
    return status;
}

static void jobs(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1|RUNNING|host[0-5,7]\n2|R|host8,nobody\n3|PENDING|\n1|RUNNING|host6\n",
        "JobID|Start|End|NodeList\n1|100|200|host[0-5]\n2|120|Unknown|host6\n",
        "1 100 0 90 1 1 1 1 1 1 1 1 1 1 1 1 1 1 {1,1,2,3}\n", "host0 a\nhost1 a\nhost2 \"b c\"\n",
        "{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"host[1-4]\"}]}"};
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct bed bed = {.f = test_fabric(ctx, "torus:3x3,hosts=2")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sv_memory memory = {texts[i], strlen(texts[i])};
        sv_source source = sv_memory_source(&memory, "oom");
        sv_allocations *found = NULL;
        bed.text = texts[i];
        if (sv_allocations_read(ctx, &source, SV_JOBS_AUTO, &found) == SV_UNSUPPORTED)
            continue; /* JSON without jansson */
        sv_allocations_free(found);
        test_out_of_memory(texts[i], read_and_map, &bed);
    }
    sv_fabric_free(bed.f);
    sv_ctx_free(ctx);
}

/* A line that makes the buffer grow. */
static void a_long_line(void **state)
{
    (void)state;
    char *text = malloc(300000);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "1|RUNNING|host0");
    while (used < 290000)
        used += (size_t)sprintf(text + used, ",host%zu", used % 18);
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct bed bed = {.f = test_fabric(ctx, "torus:3x3,hosts=2"), .text = text};
    test_out_of_memory("a long line", read_and_map, &bed);
    sv_fabric_free(bed.f);
    sv_ctx_free(ctx);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs), cmocka_unit_test(a_long_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
