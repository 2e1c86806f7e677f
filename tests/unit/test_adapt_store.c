/*
 * test_adapt_store.c: contending flows that are alike, solutions that are found and replaced, and
 * stores as text: there and back, and every refusal with its line.
 */
#include "support/adapting.h"

TEST_CONTEXT

/* ---- similarity ---- */

static sv__flows set(uint32_t *at, uint32_t count)
{
    return (sv__flows){at, count, SV_NONE};
}

static void flows_are_alike_by_what_they_share(void **state)
{
    (void)state;
    uint32_t a[] = {1, 2, 3, 4, 5}, b[] = {1, 2, 3, 4, 9}, c[] = {2, 3, 4, 5}, d[] = {7, 8};
    const sv__flows A = set(a, 5), B = set(b, 5), C = set(c, 4), D = set(d, 2), none = set(a, 0);
    assert_true(sv__flows_similarity(&A, &A) == 1);
    assert_true(sv__flows_similarity(&A, &B) == 0.8);
    assert_true(sv__flows_similarity(&B, &A) == 0.8);
    assert_true(sv__flows_similarity(&A, &C) == 0.8);
    assert_true(sv__flows_similarity(&B, &C) == 0.6);
    assert_true(sv__flows_similarity(&A, &D) == 0);
    assert_true(sv__flows_similarity(&A, &none) == 0);
    assert_true(sv__flows_similarity(&none, &none) == 0);
}

static void flows_become_sets(void **state)
{
    (void)state;
    uint32_t at[] = {5, 1, 5, 3, 1, 1, 9, 0};
    const uint32_t wanted[] = {0, 1, 3, 5, 9};
    sv__flows flows = set(at, 8);
    sv__flows_sort(&flows);
    assert_int_equal(flows.count, 5);
    assert_memory_equal(at, wanted, sizeof wanted);
}

static void the_max_similar_solution_is_found(void **state)
{
    (void)state;
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    const sv__shelf shelf = {&arena, 8, 4};
    sv__solution_store store = {0};
    uint32_t a[] = {1, 2, 3, 4, 5}, b[] = {1, 2, 3, 4, 5, 6}, q[] = {1, 2, 3, 4, 5, 7};
    sv__open_path open[2] = {{.path = 0, .waited = 3}, {.path = 2, .waited = 4}};
    sv__metapath m = {open, 2};
    assert_null(sv__store_find(&store, &(sv__flows){q, 6, 0}, 0.8));
    sv__solution *first = sv__store_add(&store, &shelf), *second = sv__store_add(&store, &shelf);
    sv__solution_fill(first, &(sv__flows){b, 6, 3}, &m, 10, 4);
    sv__solution_fill(second, &(sv__flows){a, 5, 4}, &m, 20, 4);
    /* 5 of 6 both: the first; with one more in common the second. */
    assert_ptr_equal(sv__store_find(&store, &(sv__flows){q, 6, 0}, 0.8), first);
    assert_ptr_equal(sv__store_find(&store, &(sv__flows){q, 5, 0}, 0.8), second);
    assert_null(sv__store_find(&store, &(sv__flows){q, 6, 0}, 0.84));
    assert_null(sv__store_find(&store, &(sv__flows){q, 3, 0}, 0.8));
    /* Not even a threshold of 0 finds what has nothing in common. */
    uint32_t other[] = {100};
    assert_null(sv__store_find(&store, &(sv__flows){other, 1, 0}, 0));

    assert_int_equal(first->num_paths, 2);
    assert_int_equal(first->paths[1].path, 2);
    assert_true(first->paths[1].waited == 4);
    assert_int_equal(first->flows.router, 3);
    assert_true(sv__solution_covered(first, &m));
    m.count = 1;
    assert_false(sv__solution_covered(first, &m));
    sv_arena_release(&arena);
}

/* ---- files ---- */

/* Terminals of a 3-ary 2-tree: three on each of three leaves, three roots. */
static bed new_bed(void)
{
    return bed_new(ctx, "kary:k=3,n=2,hosts=3", "updn", "drb");
}

SV_PRINTF(2, 3) static char *names(const bed *d, const char *format, ...)
{
    static char text[2000];
    va_list args;
    (void)d;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

static const char *host(const bed *d, uint32_t t)
{
    return sv_node_name(d->f, (sv_node){d->f->num_switches + t});
}

/* A switch that hangs on no terminal. */
static const char *root(const bed *d, uint32_t i)
{
    for (uint32_t s = 0; s < d->f->num_switches; s++) {
        bool leaf = false;
        SV_FOR_HOPS (d->f, (sv_node){s}, hop)
            leaf = leaf || !sv_is_switch(d->f, hop->to);
        if (!leaf && i-- == 0)
            return d->f->switches[s].name;
    }
    fail();
    return NULL;
}

static char *saved(const bed *d)
{
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    OK(ctx, sv_adapt_store_write(ctx, d->a, &sink));
    return buffer.text;
}

static void a_store_is_read_and_written(void **state)
{
    (void)state;
    bed d = new_bed();
    char line[1000];
    snprintf(line, sizeof line,
             "%s %s latency 812.500000 at %s path 700.000000 - - path 640.000000 %s - flow %s %s "
             "flow %s %s\n",
             host(&d, 0), host(&d, 8), root(&d, 1), root(&d, 2), host(&d, 0), host(&d, 8),
             host(&d, 1), host(&d, 7));
    bed_policy(ctx, &d, "pr-drb", names(&d, "# a comment\n\n%s", line));
    sv_adapt_report report = sv_adapt_end(d.a);
    assert_int_equal(report.patterns, 1);
    assert_int_equal(report.seeded, 1);
    const sv__solution *s = bed_pair(ctx, &d, 0, 8)->store.first;
    assert_true(s->latency == 812.5 * SV_TICKS_PER_NS);
    assert_int_equal(s->num_paths, 2);
    assert_int_equal(s->paths[0].path, 0);
    assert_true(s->paths[0].waited == 700.0 * SV_TICKS_PER_NS);
    assert_int_equal(s->flows.count, 2);
    assert_int_equal(s->flows.at[0], sv__flow(0, 8));
    assert_int_equal(s->flows.at[1], sv__flow(1, 7));
    assert_true(s->seeded);
    assert_int_equal(sv_adapt_routers(d.a)[s->flows.router].patterns, 1);
    char *text = saved(&d);
    const char *behind = strchr(text, '\n') + 1;
    assert_int_equal(text[0], '#');
    assert_string_equal(behind, line);
    free(text);
    bed_free(&d);
}

/* Words may be left out, put in another order and be in quotes; path 0 belongs to all. */
static void a_line_may_be_written_by_hand(void **state)
{
    (void)state;
    bed d = new_bed();
    char *text = names(&d, "\"%s\" %s flow %s %s path 5 \"%s\" - latency 1 # mine\n", host(&d, 3),
                       host(&d, 0), host(&d, 3), host(&d, 0), root(&d, 0));
    bed_policy(ctx, &d, "pr-drb:vias=1", text);
    const sv__drb_pair *p = bed_pair(ctx, &d, 3, 0);
    assert_int_equal(p->store.first->num_paths, 2);
    assert_int_equal(p->store.first->flows.router, SV_NONE);
    assert_int_equal(p->num_paths, 2);
    assert_int_equal(p->paths[1].way.vias, 1);
    assert_int_equal(p->paths[1].channels, 4);
    bed_free(&d);
}

/* Of lines with the same flows, in whatever order, the best counts, and counts once. */
static void the_same_flows_twice_are_one_solution(void **state)
{
    (void)state;
    bed d = new_bed();
    char text[2000] = "";
    for (int i = 0; i < 3; i++) {
        char line[600];
        bool turned = i == 1;
        snprintf(line, sizeof line, "%s %s latency %d at %s path %d %s - flow %s %s flow %s %s\n",
                 host(&d, 0), host(&d, 8), i == 1 ? 4 : 5 + i, root(&d, (uint32_t)i), i,
                 root(&d, (uint32_t)i), host(&d, turned), host(&d, 8u - turned), host(&d, !turned),
                 host(&d, 7u + turned));
        strcat(text, line);
    }
    bed_policy(ctx, &d, "pr-drb", text);
    const sv__solution *s = bed_pair(ctx, &d, 0, 8)->store.first;
    assert_true(s->latency == 4.0 * SV_TICKS_PER_NS);
    assert_int_equal(s->num_paths, 2);
    assert_true(s->paths[1].waited == 1.0 * SV_TICKS_PER_NS);
    assert_true(s->seeded);
    assert_null(s->next);
    assert_int_equal(sv_adapt_end(d.a).patterns, 1);
    assert_int_equal(sv_adapt_end(d.a).seeded, 1);
    assert_string_equal(d.f->switches[s->flows.router].name, root(&d, 1));
    for (uint32_t i = 0; i < d.f->num_switches; i++)
        assert_int_equal(sv_adapt_routers(d.a)[i].patterns, i == s->flows.router);
    bed_free(&d);
}

static void bad_lines_are_told_by_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *format, *message;
    } cases[] = {
        {"nobody %s latency 1", "nobody"},
        {"%s", "a destination is missing"},
        {"%s %s latency", "the latency is missing"},
        {"%s %s latency x", "'x' is not a number of nanoseconds"},
        {"%s %s latency -1", "'-1' is not a number of nanoseconds"},
        {"%s %s what 1", "'what' is not latency, at, path or flow"},
        {"%s %s latency 1 flow %s %s", "a solution has a latency, paths and flows"},
        {"%s %s latency 1 path 1 - -", "a solution has a latency, paths and flows"},
        {"%s %s latency 1 path 1 nowhere -", "nowhere"},
        {"%s %s latency 1 path 1 -", "a via of a path is missing"},
        {"%s %s latency 1 at nowhere", "nowhere"},
        {"%s %s latency 1 flow %s", "the destination of a flow is missing"},
        {"%s \"%s", "a quote is not closed"},
        {"%1$s %2$s latency 1 flow %1$s %1$s", "a flow goes from a terminal to itself"},
    };
    bed d = new_bed();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[1000], text[1200], place[1200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(line, sizeof line, cases[i].format, host(&d, 0), host(&d, 8), host(&d, 0),
                 host(&d, 8));
#pragma GCC diagnostic pop
        snprintf(text, sizeof text, "# first\n%s\n", line);
        sv_memory memory = {text, strlen(text)};
        sv_source source = sv_memory_source(&memory, "store");
        sv_adapt_request request = {
            .spec = "pr-drb", .model = &d.model, .seed = 1, .store = &source};
        unsigned vls = 0;
        FAILS(ctx, sv_adapt_new(ctx, d.f, d.r, &request, &d.a, &vls), SV_BAD_INPUT,
              cases[i].message);
        snprintf(place, sizeof place, "%s", sv_ctx_message(ctx));
        if (strncmp(place, "store:2: ", 9) != 0)
            fail_msg("'%s' does not begin with its place", place);
        assert_null(d.a);
    }
    bed_free(&d);
}

static void terminals_and_switches_are_told_apart(void **state)
{
    (void)state;
    bed d = new_bed();
    char text[500];
    snprintf(text, sizeof text, "%s %s latency 1", root(&d, 0), host(&d, 0));
    sv_memory memory = {text, strlen(text)};
    sv_source source = sv_memory_source(&memory, "store");
    sv_adapt_request request = {.spec = "pr-drb", .model = &d.model, .seed = 1, .store = &source};
    unsigned vls = 0;
    FAILS(ctx, sv_adapt_new(ctx, d.f, d.r, &request, &d.a, &vls), SV_BAD_INPUT, "is no terminal");
    snprintf(text, sizeof text, "%s %s latency 1", host(&d, 0), host(&d, 0));
    memory = (sv_memory){text, strlen(text)};
    FAILS(ctx, sv_adapt_new(ctx, d.f, d.r, &request, &d.a, &vls), SV_BAD_INPUT, "are the same");
    bed_free(&d);
}

static void only_predictive_policies_have_a_store(void **state)
{
    (void)state;
    bed d = new_bed();
    bed_policy(ctx, &d, "drb", NULL);
    test_buffer buffer;
    sv_sink sink = test_sink(&buffer);
    FAILS(ctx, sv_adapt_store_write(ctx, d.a, &sink), SV_UNSUPPORTED, "keeps no solutions");
    free(buffer.text);
    bed_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_alike_by_what_they_share),
        cmocka_unit_test(flows_become_sets),
        cmocka_unit_test(the_max_similar_solution_is_found),
        cmocka_unit_test(a_store_is_read_and_written),
        cmocka_unit_test(a_line_may_be_written_by_hand),
        cmocka_unit_test(the_same_flows_twice_are_one_solution),
        cmocka_unit_test(bad_lines_are_told_by_their_place),
        cmocka_unit_test(terminals_and_switches_are_told_apart),
        cmocka_unit_test(only_predictive_policies_have_a_store),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
