/*
 * test_oom_rehearse.c: rehearsals of all ways with the 1st, 2nd, 3rd … allocation failing.
 */
#include "support/transition.h"

struct rehearsal {
    test_transition t;
    sv_rehearsal_request request;
    uint32_t left[64];
};

/* Everybody to the next but one, and then to the next. */
static bool next(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct rehearsal *r = user;
    const sv_routes *routes = r->t.before2;
    uint32_t n = r->t.f->num_terminals, to;
    if (r->left[terminal] == 0)
        return false;
    to = (terminal + 1 + r->left[terminal]-- % 2) % n;
    if (r->request.way != SV_REHEARSE_FIVE)
        routes = r->t.before;
    *message =
        (sv_sim_message){.destination = routes->first[r->t.f->num_switches + to], .bytes = 700};
    return true;
}

static sv_status rehearse(sv_ctx *ctx, void *arg)
{
    struct rehearsal *r = arg;
    const sv_sim_source source = {.user = r, .next = next};
    bool two = r->request.way == SV_REHEARSE_FIVE;
    sv_rehearsal *found = NULL;
    for (uint32_t i = 0; i < r->t.f->num_terminals; i++)
        r->left[i] = 40;
    r->request.source = &source;
    sv_status status = sv_rehearse(ctx, r->t.f, two ? r->t.before2 : r->t.before,
                                   two ? r->t.after2 : r->t.after, &r->request, &found);
    assert_true((status == SV_OK) == (found != NULL));
    if (found != NULL)
        assert_true(found->done || !found->together);
    sv_rehearsal_free(found);
    return status;
}

static void rehearsing(void **state)
{
    (void)state;
    static const char *const names[] = {"at once", "steps", "hold", "five phases"};
    static uint32_t application[256];
    sv_ctx *ctx = sv_ctx_new(NULL);
    struct rehearsal r;
    test_transition_init(ctx, 5, &r.t);
    for (int way = 0; way < SV_REHEARSE_WAYS; way++) {
        r.request = test_transition_request(ctx, &r.t, (sv_rehearsal_way)way, 5, application);
        r.request.dead = SV_NONE;
        test_out_of_memory(names[way], rehearse, &r);
    }
    test_transition_release(&r.t);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rehearsing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
