/*
 * test_oom_simulate.c: simulating with the 1st, 2nd, 3rd … allocation failing: to the end with all
 * that can be asked for, into a deadlock, with so much under way that room has to grow, with
 * tables that change, and with a policy. A file of its own because test_oom.c is long.
 */
#include "support/testing.h"

enum { TERMINALS = 5 };

/* Everybody sends messages to the next but one of a ring, and one more for each that arrives early.
 */
struct simulation {
    const sv_fabric *f;
    const sv_routes *r;
    sv_sim_model model;
    sv_sim_control control;
    bool answers;
    uint32_t messages;     /* of each terminal, before answers */
    sv_sim_end end;        /* that it comes to */
    const sv_routes *then; /* to change to; NULL: no */
    bool chooses;          /* there is a policy */
    uint32_t sent[TERMINALS], left[TERMINALS];
};

static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct simulation *s = user;
    if (s->left[terminal] == 0)
        return false;
    s->left[terminal]--;
    *message = (sv_sim_message){.destination =
                                    s->r->first[s->f->num_switches + (terminal + 2) % TERMINALS],
                                .bytes = 3000,
                                .ready = 10000ULL * s->sent[terminal]++};
    return true;
}

static void one_more(void *user, const sv_sim_arrival *arrival)
{
    struct simulation *s = user;
    s->left[arrival->to] += arrival->time < 10000000;
}

/* Switch after switch takes its entries and VLs. */
static sv_status change(void *user, sv_sim_run *stage, uint64_t now, uint64_t *again)
{
    const struct simulation *s = user;
    sv_node v = {(uint32_t)(now / 900000)};
    sv_status status = sv_sim_set_block(stage, v, 0, s->then);
    if (status == SV_OK)
        status = sv_sim_set_sl2vl(stage, v, s->then);
    *again = v.i + 1 < s->f->num_switches ? now + 900000 : SV_NEVER;
    return status;
}

/* Every other packet goes by way of a switch; terminals acknowledge, and switches, too. */
static sv_status choose(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                        const sv_sim_message *message, uint32_t offset, sv_sim_way *way)
{
    const struct simulation *s = user;
    (void)stage, (void)now, (void)message;
    way->vias = offset == 0;
    way->via[0] = s->r->first[(terminal + 4) % TERMINALS];
    return SV_OK;
}

static sv_status depart(void *user, sv_sim_run *stage, uint64_t now, sv_channel out,
                        uint64_t waited, sv_sim_head *head)
{
    const struct simulation *s = user;
    (void)waited;
    if (head->control)
        return SV_OK;
    return sv_sim_send(stage, s->f->tail[out.i], s->r->first[head->from.i], 64, now + 1000000, 0,
                       0);
}

static sv_status deliver(void *user, sv_sim_run *stage, uint64_t now, uint32_t terminal,
                         sv_sim_head *head)
{
    const struct simulation *s = user;
    if (head->control)
        return SV_OK;
    return sv_sim_send(stage, (sv_node){s->f->num_switches + terminal}, s->r->first[head->from.i],
                       64, now + 10000000, 0, 0);
}

static sv_status simulate_it(sv_ctx *ctx, void *arg)
{
    struct simulation *s = arg;
    sv_sim_result *result = NULL;
    const sv_sim_source source = {
        .user = s, .next = next_message, .arrived = s->answers ? one_more : NULL};
    const sv_sim_director director = {.user = s, .act = change};
    const sv_sim_policy policy = {.user = s,
                                  .segments = 2,
                                  .adaptive = 1,
                                  .by_packet = true,
                                  .choose = choose,
                                  .depart = depart,
                                  .deliver = deliver};
    const sv_sim_setup setup = {.model = s->model,
                                .control = s->control,
                                .source = &source,
                                .director = s->then != NULL ? &director : NULL,
                                .policy = s->chooses ? &policy : NULL};
    for (uint32_t t = 0; t < TERMINALS; t++) {
        s->sent[t] = 0;
        s->left[t] = s->messages;
    }
    sv_status status = sv_simulate(ctx, s->f, s->r, &setup, &result);
    assert_true((status == SV_OK) == (result != NULL));
    if (status == SV_OK)
        assert_int_equal(result->end, s->end);
    sv_sim_free(result);
    return status;
}

static const sv_sim_model one_packet = {.cable = 7000,
                                        .credit = 1,
                                        .input = 33,
                                        .output = 33,
                                        .speedup = 100,
                                        .ways = 1,
                                        .vls = 2,
                                        .mtu_bytes = 2048,
                                        .header_bytes = 26,
                                        .drain = 450,
                                        .open = 2,
                                        .voq = true};

static void simulating(void **state)
{
    (void)state;
    sv_ctx *ctx = sv_ctx_new(NULL);
    sv_fabric *f = test_fabric(ctx, "torus:5,hosts=1");
    sv_routes *one_vl = NULL, *two_vls = NULL;
    OK(ctx, sv_route(ctx, f, "sssp", &(sv_route_request){.vls = 1}, &one_vl, NULL));
    OK(ctx, sv_route(ctx, f, "dfsssp", &(sv_route_request){.vls = 2}, &two_vls, NULL));
    struct simulation s = {.f = f,
                           .r = two_vls,
                           .model = one_packet,
                           .control = {.limit = SV_NEVER,
                                       .warm_up = 1000000,
                                       .steady = 1000000,
                                       .precision = 1e-9,
                                       .interval = 10000},
                           .answers = true,
                           .messages = 3,
                           .end = SV_SIM_COMPLETED};
    test_out_of_memory("simulate", simulate_it, &s);
    s.r = one_vl;
    s.answers = false;
    s.control.steady = 0;
    s.end = SV_SIM_DEADLOCK;
    test_out_of_memory("simulate into a deadlock", simulate_it, &s);
    s.r = two_vls;
    s.messages = 400;
    s.model.input = 20000;
    s.model.output = 200;
    s.model.drain = 4000;
    s.end = SV_SIM_COMPLETED;
    test_out_of_memory("simulate with large buffers", simulate_it, &s);
    /* Tables by ports, of other VLs, with an entry less, come while much is under way. */
    sv_routes *other = NULL;
    sv_sl2vl vls = {{1}};
    OK(ctx, sv_routes_clone(ctx, one_vl, &other));
    for (uint32_t v = 0; v < f->num_switches; v++)
        OK(ctx, sv_routes_set_sl2vl(ctx, f, other, (sv_node){v}, 1, 2,
                                    sv_routes_sl2vl_table(ctx, other, &vls)));
    sv_routes_row(ctx, other, other->first[f->num_switches])[2] = SV_NO_PORT;
    s.then = other;
    s.messages = 120;
    test_out_of_memory("simulate with tables that change", simulate_it, &s);
    s.then = NULL;
    s.chooses = true;
    s.model.vls = 2 * sv_sim_table_vls(f, two_vls) + 1;
    test_out_of_memory("simulate with a policy", simulate_it, &s);
    s.model.input = 33;
    s.model.output = 33;
    s.r = one_vl;
    s.messages = 12;
    s.end = SV_SIM_DEADLOCK;
    test_out_of_memory("simulate with a policy into a deadlock", simulate_it, &s);
    sv_routes_free(other);
    sv_routes_free(one_vl);
    sv_routes_free(two_vls);
    sv_fabric_free(f);
    sv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(simulating)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
