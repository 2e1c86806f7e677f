/*
 * test_profiles.c: profiles of the simulator: the numbers that papers tell, that each value goes in
 * and out of a model by its name, what is refused, how many VLs tables need; and numbers with
 * units.
 */
#include "support/testing.h"

#include "text/quantity.h"

TEST_CONTEXT

static sv_sim_model model_of(const char *profile)
{
    sv_sim_model model;
    OK(ctx, sv_profile_model(ctx, profile, &model));
    return model;
}

static size_t param(const char *name)
{
    size_t i = 0;
    while (sv_sim_param_at(i) != NULL && strcmp(sv_sim_param_at(i)->name, name) != 0)
        i++;
    assert_non_null(sv_sim_param_at(i));
    return i;
}

static void expect(const sv_sim_model *model, const char *name, const char *value)
{
    char text[64];
    sv_sim_param_text(model, param(name), text, sizeof text);
    assert_string_equal(text, value);
}

/* ---- profiles ---- */

static void what_the_thesis_tells(void **state)
{
    (void)state;
    sv_sim_model m = model_of("qdr");
    assert_int_equal(m.cable, 43 * SV_TICKS_PER_NS);
    assert_int_equal(m.byte_ticks, 0);
    assert_int_equal(m.input, 128);
    assert_int_equal(m.output, 78);
    assert_int_equal(m.mtu_bytes, 2048);
    assert_int_equal(m.mtu_bytes + m.header_bytes, 2074);
    assert_int_equal(m.inject, 450); /* ticks a byte at 32 Gbit/s */
    assert_int_equal(m.drain, 450);
    assert_int_equal(m.pause, 10 * SV_TICKS_PER_NS);
    assert_int_equal(m.period, 100 * SV_TICKS_PER_NS);
    assert_false(m.weighted);
}

static void what_the_others_tell(void **state)
{
    (void)state;
    sv_sim_model dla = model_of("dla"), drb = model_of("drb"), ndr = model_of("ndr");
    assert_int_equal(dla.byte_ticks, 450);
    assert_int_equal(dla.mtu_bytes, 4096);
    assert_int_equal(dla.input, 16 * ((4096 + dla.header_bytes + 63) / 64));
    assert_true(dla.voq);
    assert_int_equal(drb.byte_ticks, 7200);
    assert_int_equal(drb.mtu_bytes, 1024);
    assert_int_equal(drb.input * 64, 2 << 20);
    assert_int_equal(ndr.byte_ticks, 36);
    assert_int_equal(ndr.mtu_bytes, 4096);
    assert_true(ndr.weighted);
}

/* A profile is one value a parameter, in their order, each with a reason, and of a model that
 * comes back when its texts are set again. */
static void values_go_in_and_out(void **state)
{
    (void)state;
    const sv_profile *profile;
    char text[64], line[160];
    for (size_t p = 0; (profile = sv_profile_at(p)) != NULL; p++) {
        sv_sim_model m = model_of(profile->name), again = {.ways = 77};
        for (size_t i = 0; sv_sim_param_at(i) != NULL; i++) {
            sv_sim_param_text(&m, i, text, sizeof text);
            snprintf(line, sizeof line, "%s=%s", sv_sim_param_at(i)->name, text);
            assert_string_equal(line, profile->values[i].name_value);
            assert_string_not_equal(profile->values[i].why, "");
            OK(ctx, sv_sim_param_set(ctx, &again, line));
        }
        assert_int_equal(again.cable, m.cable);
        assert_int_equal(again.credit, m.credit);
        assert_int_equal(again.switch_delay, m.switch_delay);
        assert_int_equal(again.byte_ticks, m.byte_ticks);
        assert_int_equal(again.ways, m.ways);
        assert_int_equal(again.inject, m.inject);
        assert_int_equal(again.vls, 0);
        assert_int_equal(again.voq, m.voq);
        assert_int_equal(again.weighted, m.weighted);
    }
    assert_int_equal(sv_sim_param_at(99) == NULL, 1);
}

struct one {
    bool sent;
    uint32_t destination;
};

static bool next_message(void *user, uint32_t terminal, sv_sim_message *message)
{
    struct one *one = user;
    if (terminal != 0 || one->sent)
        return false;
    one->sent = true;
    *message = (sv_sim_message){.destination = one->destination, .bytes = 10000};
    return true;
}

/* Every profile is a model that the simulator takes: one message arrives, not before links can
 * carry it, and not much later. */
static void each_can_be_simulated(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=1");
    sv_routes *r = test_routed(ctx, f, "minhop", 0);
    const sv_profile *profile;
    for (size_t p = 0; (profile = sv_profile_at(p)) != NULL; p++) {
        struct one one = {.destination = r->first[f->num_switches + 1]};
        const sv_sim_source source = {.user = &one, .next = next_message};
        sv_sim_setup setup = {.model = model_of(profile->name), .control = {.limit = SV_NEVER}};
        sv_sim_result *result = NULL;
        setup.source = &source;
        setup.model.vls = sv_sim_vls(f, r);
        uint64_t byte = setup.model.byte_ticks != 0 ? setup.model.byte_ticks : 450;
        OK(ctx, sv_simulate(ctx, f, r, &setup, &result));
        assert_int_equal(result->end, SV_SIM_COMPLETED);
        assert_int_equal(result->payload_bytes, 10000);
        assert_true(result->time > 10000 * byte);
        assert_true(result->time < 20000 * byte + 2000 * SV_TICKS_PER_NS);
        sv_sim_free(result);
    }
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- setting ---- */

static void units(void **state)
{
    (void)state;
    sv_sim_model m = model_of("qdr");
    OK(ctx, sv_sim_param_set(ctx, &m, "cable-ns=0.5"));
    assert_int_equal(m.cable, 900);
    OK(ctx, sv_sim_param_set(ctx, &m, "link-gbit=100"));
    assert_int_equal(m.byte_ticks, 144);
    expect(&m, "link-gbit", "100");
    OK(ctx, sv_sim_param_set(ctx, &m, "link-gbit=links"));
    assert_int_equal(m.byte_ticks, 0);
    OK(ctx, sv_sim_param_set(ctx, &m, "inject-gbit=504"));
    assert_int_equal(m.inject, 29); /* 28.6 */
    expect(&m, "inject-gbit", "496.552");
    OK(ctx, sv_sim_param_set(ctx, &m, "voq=off"));
    assert_false(m.voq);
    expect(&m, "voq", "off");
    OK(ctx, sv_sim_param_set(ctx, &m, "arbitration=tables"));
    assert_true(m.weighted);
    OK(ctx, sv_sim_param_set(ctx, &m, "vls=4"));
    assert_int_equal(m.vls, 4);
    OK(ctx, sv_sim_param_set(ctx, &m, "speedup-percent=150"));
    assert_int_equal(m.speedup, 150);
}

static void what_is_refused(void **state)
{
    (void)state;
    sv_sim_model m = model_of("qdr"), before = m;
    FAILS(ctx, sv_profile_model(ctx, "sdr", &m), SV_BAD_INPUT, "there is no profile 'sdr'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable=3"), SV_BAD_INPUT, "the model has no 'cable'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable-ns"), SV_BAD_INPUT, "is not NAME=VALUE");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable-ns="), SV_BAD_INPUT, "not ''");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable-ns=-1"), SV_BAD_INPUT, "not '-1'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable-ns=1e3"), SV_BAD_INPUT, "not '1e3'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "cable-ns=links"), SV_BAD_INPUT, "not 'links'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "ways=1.5"), SV_BAD_INPUT, "a whole number from 1 to");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "ways=0"), SV_BAD_INPUT, "not '0'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "vls=65"), SV_BAD_INPUT, "or tables, not '65'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "credit-ns=0"), SV_BAD_INPUT, "not '0'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "link-gbit=0"), SV_BAD_INPUT, "or links, not '0'");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "voq=yes"), SV_BAD_INPUT, "off|on");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "voq=o"), SV_BAD_INPUT, "off|on");
    FAILS(ctx, sv_sim_param_set(ctx, &m, "open=99999999999999999999"), SV_BAD_INPUT, "not '9999");
    assert_memory_equal(&m, &before, sizeof m);
}

/* ---- VLs ---- */

static unsigned vls_of(const char *spec, const char *engine, unsigned vls)
{
    sv_fabric *f = test_fabric(ctx, spec);
    sv_routes *r = NULL;
    const sv_route_request request = {.vls = vls};
    OK(ctx, sv_route(ctx, f, engine, &request, &r, NULL));
    unsigned used = sv_sim_vls(f, r);
    sv_routes_free(r);
    sv_fabric_free(f);
    return used;
}

static void vls_of_engines(void **state)
{
    (void)state;
    assert_int_equal(vls_of("torus:4x4,hosts=2", "minhop", 0), 1);
    assert_int_equal(vls_of("torus:4x4,hosts=2", "nue", 3), 3);
    assert_int_equal(vls_of("torus:5x5,hosts=1", "torus2qos", 8), 2); /* by source switch */
    assert_int_equal(vls_of("dragonfly:a=4,p=2,h=2,g=9", "dla", 2), 2);
}

/* What no terminal uses needs no VL: OpenSM gives every SL one. */
static void vls_that_nobody_uses(void **state)
{
    (void)state;
    sv_fabric *f = test_fabric(ctx, "mesh:1x2,hosts=2");
    sv_routes *r = test_routed(ctx, f, "minhop", 0);
    sv_sl2vl table;
    for (unsigned i = 0; i < SV_MAX_SLS; i++)
        table.of_sl[i] = (uint8_t)(i < 15 ? i : SV_NO_VL);
    uint32_t number = sv_routes_sl2vl_table(ctx, r, &table);
    for (uint32_t v = 0; v < sv_num_nodes(f); v++)
        r->vls_of[v] = (uint16_t)number;
    assert_int_equal(sv_sim_vls(f, r), 1);
    r->sl = 9;
    assert_int_equal(sv_sim_vls(f, r), 10);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_NODE)); /* none known yet */
    assert_int_equal(sv_sim_vls(f, r), 1);
    sv_routes_sl_row(ctx, r, r->first[f->num_switches])[f->num_switches + 3] = 4;
    assert_int_equal(sv_sim_vls(f, r), 5);
    sv_routes_sl_row(ctx, r, 0)[f->num_switches + 3] = 7; /* to a switch */
    assert_int_equal(sv_sim_vls(f, r), 5);
    OK(ctx, sv_routes_set_sl_form(ctx, r, SV_SL_BY_DESTINATION));
    sv_routes_sl_row(ctx, r, 0)[r->first[f->num_switches + 1]] = 6;
    assert_int_equal(sv_sim_vls(f, r), 7);
    OK(ctx, sv_routes_set_sl2vl(ctx, f, r, (sv_node){1}, 1, 2, 0)); /* all on VL 0 there */
    assert_int_equal(sv_sim_vls(f, r), 7);
    table.of_sl[6] = 12;
    OK(ctx,
       sv_routes_set_sl2vl(ctx, f, r, (sv_node){1}, 2, 1, sv_routes_sl2vl_table(ctx, r, &table)));
    assert_int_equal(sv_sim_vls(f, r), 13);
    sv_routes_free(r);
    sv_fabric_free(f);
}

/* ---- numbers with units ---- */

static void decimals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0}, {"0.1", 0.1}, {".5", 0.5}, {"7.", 7}, {"0012.50", 12.5}};
    static const char *const bad[] = {
        "", ".", "-1", "+1", "1e3", "1 ", "1.2.3", "0x1", "1234567890123456"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(sv_span_decimal(sv_span_of(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(sv_span_decimal(sv_span_of(bad[i]), &value));
}

static void times(void **state)
{
    (void)state;
    uint64_t ticks = 0;
    assert_true(sv_span_ticks(sv_span_of("3"), 1000, SV_TICKS_PER_NS, &ticks));
    assert_int_equal(ticks, 3000 * SV_TICKS_PER_NS);
    assert_true(sv_span_ticks(sv_span_of("3ns"), 1000, SV_TICKS_PER_NS, &ticks));
    assert_int_equal(ticks, 3 * SV_TICKS_PER_NS);
    assert_true(sv_span_ticks(sv_span_of("0.25us"), 1, SV_TICKS_PER_NS, &ticks));
    assert_int_equal(ticks, 250 * SV_TICKS_PER_NS);
    assert_true(sv_span_ticks(sv_span_of("1.5ms"), 1, SV_TICKS_PER_NS, &ticks));
    assert_int_equal(ticks, UINT64_C(1500000) * SV_TICKS_PER_NS);
    assert_true(sv_span_ticks(sv_span_of("2s"), 1, SV_TICKS_PER_NS, &ticks));
    assert_int_equal(ticks, UINT64_C(2000000000) * SV_TICKS_PER_NS);
    assert_false(sv_span_ticks(sv_span_of("2min"), 1, SV_TICKS_PER_NS, &ticks));
    assert_false(sv_span_ticks(sv_span_of("ms"), 1, SV_TICKS_PER_NS, &ticks));
    assert_false(sv_span_ticks(sv_span_of("900000s"), 1, SV_TICKS_PER_NS, &ticks));
}

static void bytes(void **state)
{
    (void)state;
    uint64_t value = 0;
    assert_true(sv_span_bytes(sv_span_of("2048"), UINT32_MAX, &value));
    assert_int_equal(value, 2048);
    assert_true(sv_span_bytes(sv_span_of("2KiB"), UINT32_MAX, &value));
    assert_int_equal(value, 2048);
    assert_true(sv_span_bytes(sv_span_of("2kB"), UINT32_MAX, &value));
    assert_int_equal(value, 2000);
    assert_true(sv_span_bytes(sv_span_of("3MiB"), UINT32_MAX, &value));
    assert_int_equal(value, 3 << 20);
    assert_false(sv_span_bytes(sv_span_of("4GiB"), UINT32_MAX, &value));
    assert_true(sv_span_bytes(sv_span_of("4294967295B"), UINT32_MAX, &value));
    assert_int_equal(value, UINT32_MAX);
    assert_false(sv_span_bytes(sv_span_of("1.5KiB"), UINT32_MAX, &value));
    assert_false(sv_span_bytes(sv_span_of("2kib"), UINT32_MAX, &value));
    assert_false(sv_span_bytes(sv_span_of("KiB"), UINT32_MAX, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_thesis_tells),
                                       cmocka_unit_test(what_the_others_tell),
                                       cmocka_unit_test(values_go_in_and_out),
                                       cmocka_unit_test(each_can_be_simulated),
                                       cmocka_unit_test(units),
                                       cmocka_unit_test(what_is_refused),
                                       cmocka_unit_test(vls_of_engines),
                                       cmocka_unit_test(vls_that_nobody_uses),
                                       cmocka_unit_test(decimals),
                                       cmocka_unit_test(times),
                                       cmocka_unit_test(bytes)};
    return cmocka_run_group_tests_name("profiles", tests, begin, end);
}
