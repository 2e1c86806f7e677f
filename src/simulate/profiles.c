/*
 * profiles.c: the numbers of the model by name, and the profiles.
 *
 * A parameter is a line of two tables: what it is called; and where in the model it stands and in
 * which unit people give it. A profile is a list of "name=value" texts, one a parameter and in the
 * same order, that go through the same door as what users set: what help prints is what is
 * simulated.
 *
 * Rates are whole ticks a byte in the model. 14,400 / (Gbit/s) is whole for every speed of
 * InfiniBand; others are rounded, and sv_sim_param_text tells the rate that is left.
 */
#include <selvage/profiles.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/near.h"
#include "text/quantity.h"

enum { GBIT_TICKS = 8 * SV_TICKS_PER_NS }; /* ticks a byte, at 1 Gbit/s */

static const sv_sim_param params[] = {
    {"cable-ns", "NS", "from one end of a cable to the other", true, NULL},
    {"credit-ns", "NS", "from a block that is free to the sender who knows it", true, NULL},
    {"switch-ns", "NS", "a switch looks at a packet for so long", true, NULL},
    {"link-gbit", "GBIT/S", "of every 4X link; links: as the fabric says", true, "links"},
    {"input-blocks", "BLOCKS", "of 64 bytes, of an input buffer, for each VL", true, NULL},
    {"output-blocks", "BLOCKS", "of an output buffer, for all VLs together", true, NULL},
    {"speedup-percent", "N", "how fast the crossbar is, of the link", true, NULL},
    {"ways", "N", "packets of an input port that cross at a time", true, NULL},
    {"voq", "off|on", "input buffers queue for each output port by itself", false, NULL},
    {"vls", "N", "with a buffer; tables: as many as they use", true, "tables"},
    {"arbitration", "turns|tables", "of VLs; tables: by those, where they tell", false, NULL},
    {"mtu-bytes", "BYTES", "of payload that a packet has at most", true, NULL},
    {"header-bytes", "BYTES", "that a packet has besides", true, NULL},
    {"inband-bytes", "BYTES", "of flow control after a packet; 0: not on the link", true, NULL},
    {"inject-gbit", "GBIT/S", "from memory into the adapter", true, NULL},
    {"drain-gbit", "GBIT/S", "from the adapter into memory", true, NULL},
    {"pause-ns", "NS", "that draining stands still …", true, NULL},
    {"period-ns", "NS", "… at the end of each of these", true, NULL},
    {"open", "N", "messages that an adapter sends at a time", true, NULL},
};

enum { NUM_PARAMS = sizeof params / sizeof params[0] };

typedef enum place_kind {
    TIME,  /* uint64_t ticks, given in nanoseconds */
    RATE,  /* uint64_t ticks a byte, given in Gbit/s */
    COUNT, /* uint32_t */
    CHOICE /* bool: the second of its two values */
} place_kind;

/* Where params are in a model, and between which values they must be. 0 is the word. */
static const struct place {
    size_t offset;
    place_kind kind;
    double min, max;
} places[NUM_PARAMS] = {
    {offsetof(sv_sim_model, cable), TIME, 0, 1e6},
    {offsetof(sv_sim_model, credit), TIME, 0.001, 1e6},
    {offsetof(sv_sim_model, switch_delay), TIME, 0, 1e6},
    {offsetof(sv_sim_model, byte_ticks), RATE, 0.01, GBIT_TICKS},
    {offsetof(sv_sim_model, input), COUNT, 1, 1 << 24},
    {offsetof(sv_sim_model, output), COUNT, 1, 1 << 24},
    {offsetof(sv_sim_model, speedup), COUNT, 100, 6400},
    {offsetof(sv_sim_model, ways), COUNT, 1, SV_MAX_PORTS},
    {offsetof(sv_sim_model, voq), CHOICE, 0, 0},
    {offsetof(sv_sim_model, vls), COUNT, 1, SV_MAX_VLS},
    {offsetof(sv_sim_model, weighted), CHOICE, 0, 0},
    {offsetof(sv_sim_model, mtu_bytes), COUNT, 1, 32768},
    {offsetof(sv_sim_model, header_bytes), COUNT, 1, 4096},
    {offsetof(sv_sim_model, inband_bytes), COUNT, 0, 4096},
    {offsetof(sv_sim_model, inject), RATE, 0.01, GBIT_TICKS},
    {offsetof(sv_sim_model, drain), RATE, 0.01, GBIT_TICKS},
    {offsetof(sv_sim_model, pause), TIME, 0, 1e6},
    {offsetof(sv_sim_model, period), TIME, 0, 1e6},
    {offsetof(sv_sim_model, open), COUNT, 1, 1 << 20},
};

const sv_sim_param *sv_sim_param_at(size_t i)
{
    return i < NUM_PARAMS ? &params[i] : NULL;
}

/* ---- values ---- */

static const sv_profile_value qdr_values[] = {
    {"cable-ns=43", true, "7 m of copper at 6.1 ns/m"},
    {"credit-ns=173", false, "shipped: cable, 2 ns, and half of 256 ns between flow controls"},
    {"switch-ns=100", false, "shipped: 50 ns in the buffer, 50 ns at the arbiter"},
    {"link-gbit=links", false, "all 4X QDR there, as in fabrics of selvage topo"},
    {"input-blocks=128", true, "128 flits of 64 bytes for each of 8 VLs"},
    {"output-blocks=78", true, "78 flits"},
    {"speedup-percent=150", false, "shipped: 6 GB/s into an output"},
    {"ways=3", false, "shipped"},
    {"voq=on", false, "shipped"},
    {"vls=tables", false, "8 there; a VL that is not used changes nothing"},
    {"arbitration=turns", true, "fair share among VLs"},
    {"mtu-bytes=2048", true, "section 4.3.2"},
    {"header-bytes=26", true, "8 LRH, 12 BTH, 4 and 2 of CRC: packets of 2,074 bytes"},
    {"inband-bytes=0", false, "shipped: 8 bytes a VL, every 256 ns at most: under 1 %"},
    {"inject-gbit=32", true, "PCIe 2.0 x8"},
    {"drain-gbit=32", true, "PCIe 2.0 x8"},
    {"pause-ns=10", true, "hiccup of the bus, 0.01 us …"},
    {"period-ns=100", true, "… every 0.1 us"},
    {"open=4", false,
     "shipped: the next message is begun while one is sent, and others wait a VL each"},
};

static const sv_profile_value dla_values[] = {
    {"cable-ns=43", false, "as qdr: section 5.2 uses that simulator"},
    {"credit-ns=173", false, "as qdr"},
    {"switch-ns=100", false, "as qdr"},
    {"link-gbit=32", true, "4X QDR"},
    {"input-blocks=1040", true, "16 packets a VL, 65 blocks each"},
    {"output-blocks=78", false, "as qdr"},
    {"speedup-percent=150", false, "as qdr"},
    {"ways=3", false, "as qdr"},
    {"voq=on", true, "virtual output queues"},
    {"vls=tables", false, "8 there; a VL that is not used changes nothing"},
    {"arbitration=turns", false, "as qdr"},
    {"mtu-bytes=4096", true, "4 KB"},
    {"header-bytes=26", false, "as qdr"},
    {"inband-bytes=0", false, "as qdr"},
    {"inject-gbit=32", false, "as fast as the link: loads up to 100 % are offered"},
    {"drain-gbit=32", false, "as fast as the link, of which throughput is told as a share"},
    {"pause-ns=0", false, "none is told"},
    {"period-ns=0", false, "no pause"},
    {"open=4", false, "as qdr"},
};

static const sv_profile_value drb_values[] = {
    {"cable-ns=5", false, "not told: a metre, next to nothing at 4 ns a byte"},
    {"credit-ns=5", false, "not told: the cable"},
    {"switch-ns=100", false, "not told: as qdr"},
    {"link-gbit=2", true, "2 Gbps"},
    {"input-blocks=32768", true, "2 MB; taken for each VL of an input port"},
    {"output-blocks=24", false,
     "not told: one packet with a policy's header: packets wait at inputs"},
    {"speedup-percent=100", false, "not told"},
    {"ways=1", false, "not told"},
    {"voq=off", false, "not told"},
    {"vls=tables", false, "not told"},
    {"arbitration=turns", false, "not told"},
    {"mtu-bytes=1024", true, "packets of 1,024 bytes (of bits for applications, section 4.8.1)"},
    {"header-bytes=1", false, "not told: the least there can be"},
    {"inband-bytes=0", false, "not told"},
    {"inject-gbit=2", false, "as fast as the link"},
    {"drain-gbit=2", false, "as fast as the link"},
    {"pause-ns=0", false, "not told"},
    {"period-ns=0", false, "no pause"},
    {"open=1", false, "not told"},
};

static const sv_profile_value ndr_values[] = {
    {"cable-ns=50", false, "10 m at 5 ns/m"},
    {"credit-ns=100", false, "the cable, and as long again to make and read flow control"},
    {"switch-ns=200", false, "the vendor tells none; sellers say 150 to 400 ns"},
    {"link-gbit=400", true, "4X NDR: four VLs of 100 Gbit/s"},
    {"input-blocks=512", false, "32 KiB: 400 Gbit/s for the 650 ns until credits are back"},
    {"output-blocks=130", false, "two packets: one comes while the other leaves"},
    {"speedup-percent=150", false, "no vendor tells: as qdr"},
    {"ways=3", false, "no vendor tells: as qdr"},
    {"voq=on", false, "no vendor tells: as qdr"},
    {"vls=tables", false, "a VL that is not used changes nothing"},
    {"arbitration=tables", true, "VL arbitration; without tables fair share"},
    {"mtu-bytes=4096", true, "the largest there is"},
    {"header-bytes=26", true, "8 LRH, 12 BTH, 4 and 2 of CRC"},
    {"inband-bytes=0", false, "as qdr"},
    {"inject-gbit=400", false, "PCIe 5.0 x16 has 504 Gbit/s: the link is what limits"},
    {"drain-gbit=480", false, "PCIe 5.0 x16 less headers of its packets"},
    {"pause-ns=0", false, "memory keeps up"},
    {"period-ns=0", false, "no pause"},
    {"open=16", false, "a few of the queue pairs that an adapter serves at a time"},
};

_Static_assert(sizeof qdr_values / sizeof qdr_values[0] == NUM_PARAMS, "one a parameter");
_Static_assert(sizeof dla_values / sizeof dla_values[0] == NUM_PARAMS, "one a parameter");
_Static_assert(sizeof drb_values / sizeof drb_values[0] == NUM_PARAMS, "one a parameter");
_Static_assert(sizeof ndr_values / sizeof ndr_values[0] == NUM_PARAMS, "one a parameter");

static const sv_profile profiles[] = {
    {"qdr", "InfiniBand 4X QDR, as fail-in-place networks were studied",
     "Domke, Routing on the Channel Dependency Graph (thesis, 2017), section 4.3.2; shipped: with "
     "the public release of its simulator (ib_flit_sim, Mellanox 2013)",
     qdr_values},
    {"dla", "4X QDR with virtual output queues, as routing of dragonflies was studied",
     "Maglione-Mathey et al., Leveraging InfiniBand Controller (2019), sections 5.1 and 5.2",
     dla_values},
    {"drb", "links of 2 Gbit/s, as distributed routing balancing was studied",
     "Nunez Castillo, Predictive and Distributed Routing Balancing (thesis, 2013), tables 4.2 and "
     "4.3",
     drb_values},
    {"ndr", "InfiniBand 4X NDR, what is bought today",
     "InfiniBand Architecture Specification, volume 1, and our choices", ndr_values},
};

enum { NUM_PROFILES = sizeof profiles / sizeof profiles[0] };

const sv_profile *sv_profile_at(size_t i)
{
    return i < NUM_PROFILES ? &profiles[i] : NULL;
}

/* ---- in and out of a model ---- */

static void *member(sv_sim_model *model, const struct place *place)
{
    return (char *)model + place->offset;
}

void sv_sim_param_text(const sv_sim_model *model, size_t i, char *text, size_t room)
{
    sv_sim_model copy = *model;
    const struct place *place = &places[i];
    const void *at = member(&copy, place);
    const char *bar = strchr(params[i].values, '|');
    switch (place->kind) {
    case TIME:
        snprintf(text, room, "%.10g", (double)*(const uint64_t *)at / SV_TICKS_PER_NS);
        break;
    case RATE:
        if (*(const uint64_t *)at == 0)
            snprintf(text, room, "%s", params[i].word);
        else
            snprintf(text, room, "%.6g", (double)GBIT_TICKS / (double)*(const uint64_t *)at);
        break;
    case COUNT:
        if (*(const uint32_t *)at == 0 && params[i].word != NULL)
            snprintf(text, room, "%s", params[i].word);
        else
            snprintf(text, room, "%u", *(const uint32_t *)at);
        break;
    case CHOICE:
        if (*(const bool *)at)
            snprintf(text, room, "%s", bar + 1);
        else
            snprintf(text, room, "%.*s", (int)(bar - params[i].values), params[i].values);
        break;
    }
}

/* A number for a place; false: not one that it takes. */
static bool put_number(sv_sim_model *model, const struct place *place, double value)
{
    uint64_t whole = (uint64_t)(value < 0 || value > 1e15 ? 0 : value);
    void *at = member(model, place);
    if (!(value >= place->min && value <= place->max))
        return false;
    if (place->kind == COUNT) {
        if ((double)whole != value)
            return false;
        *(uint32_t *)at = (uint32_t)whole;
        return true;
    }
    double ticks = place->kind == TIME ? value * SV_TICKS_PER_NS : GBIT_TICKS / value;
    *(uint64_t *)at = (uint64_t)(ticks + 0.5);
    return true;
}

static sv_status put(sv_ctx *ctx, sv_sim_model *model, size_t i, sv_span value)
{
    const sv_sim_param *param = &params[i];
    const struct place *place = &places[i];
    double number;
    if (place->kind == CHOICE) {
        const char *bar = strchr(param->values, '|');
        bool first = value.length == (size_t)(bar - param->values) &&
                     memcmp(value.at, param->values, value.length) == 0;
        if (!first && !sv_span_is(value, bar + 1))
            return sv_refuse(ctx, "%s is %s, not '%.*s'", param->name, param->values,
                             SV_SPAN(value));
        *(bool *)member(model, place) = !first;
        return SV_OK;
    }
    if (param->word != NULL && sv_span_is(value, param->word)) {
        memset(member(model, place), 0, place->kind == COUNT ? sizeof(uint32_t) : sizeof(uint64_t));
        return SV_OK;
    }
    if (!sv_span_decimal(value, &number) || !put_number(model, place, number))
        return sv_refuse(ctx, "%s is %s%.10g to %.10g%s%s, not '%.*s'", param->name,
                         place->kind == COUNT ? "a whole number from " : "", place->min, place->max,
                         param->word != NULL ? ", or " : "", param->word != NULL ? param->word : "",
                         SV_SPAN(value));
    return SV_OK;
}

sv_status sv_sim_param_set(sv_ctx *ctx, sv_sim_model *model, const char *name_value)
{
    sv_scan scan = sv_scan_of(sv_span_of(name_value));
    sv_span name;
    if (!sv_scan_until(&scan, '=', &name))
        return sv_refuse(ctx, "'%s' is not NAME=VALUE", name_value);
    for (size_t i = 0; i < NUM_PARAMS; i++)
        if (sv_span_is(name, params[i].name))
            return put(ctx, model, i, sv_scan_rest(&scan));
    sv_near near;
    char known[500] = "";
    size_t used = 0;
    for (size_t i = 0; i < NUM_PARAMS && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", params[i].name);
    return sv_refuse(ctx, "the model has no '%.*s'%s", SV_SPAN(name),
                     sv_near_hint(&near, name, known));
}

sv_status sv_profile_model(sv_ctx *ctx, const char *name, sv_sim_model *model)
{
    for (size_t i = 0; i < NUM_PROFILES; i++) {
        if (strcmp(profiles[i].name, name) != 0)
            continue;
        sv_sim_model made = {0};
        for (size_t k = 0; k < NUM_PARAMS; k++)
            SV_TRY(sv_sim_param_set(ctx, &made, profiles[i].values[k].name_value));
        *model = made;
        return SV_OK;
    }
    sv_near near;
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < NUM_PROFILES; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 profiles[i].name);
    return sv_refuse(ctx, "there is no profile '%.200s'%s (there are %s)", name,
                     sv_near_hint(&near, sv_span_of(name), known), known);
}

/* ---- VLs ---- */

/* Bits of the service levels of a row. */
static uint64_t levels_of(const uint8_t *row, uint32_t from, uint32_t to)
{
    uint64_t levels = 0;
    for (uint32_t i = from; i < to; i++)
        if (row[i] < SV_MAX_SLS)
            levels |= (uint64_t)1 << row[i];
    return levels;
}

/* Bits of those that terminals send to terminals with. */
static uint64_t levels_in_use(const sv_fabric *f, const sv_routes *r)
{
    uint64_t levels = 0;
    switch (r->sl_form) {
    case SV_SL_CONSTANT:
        return (uint64_t)1 << r->sl;
    case SV_SL_BY_DESTINATION:
        return levels_of(r->sls[0], r->first[f->num_switches], r->num_destinations);
    case SV_SL_BY_SWITCH:
        for (uint32_t d = r->first[f->num_switches]; d < r->num_destinations; d++)
            levels |= levels_of(r->sls[d], 0, f->num_switches);
        return levels;
    case SV_SL_BY_NODE:
        for (uint32_t d = r->first[f->num_switches]; d < r->num_destinations; d++)
            levels |= levels_of(r->sls[d], f->num_switches, sv_num_nodes(f));
        return levels;
    default:
        return 1;
    }
}

/* One more than the highest VL of a table, for some service levels; at least least. */
static unsigned vls_of(const sv_sl2vl *table, uint64_t levels, unsigned min)
{
    for (unsigned sl = 0; sl < SV_MAX_SLS; sl++)
        if (((levels >> sl) & 1) && table->of_sl[sl] != SV_NO_VL && table->of_sl[sl] >= min)
            min = table->of_sl[sl] + 1u;
    return min;
}

unsigned sv_sim_vls(const sv_fabric *f, const sv_routes *r)
{
    uint64_t levels = levels_in_use(f, r);
    unsigned vls = 1;
    for (uint32_t v = 0; v < sv_num_nodes(f); v++) {
        if (!sv_node_alive(f, (sv_node){v}))
            continue;
        vls = vls_of(&r->vl_tables[r->vls_of[v]], levels, vls);
        if (v >= f->num_switches || r->sl2vl_by_port[v] == NULL)
            continue;
        size_t ports = f->switches[v].ports + 1u;
        for (size_t i = 0; i < ports * ports; i++)
            vls = vls_of(&r->vl_tables[r->sl2vl_by_port[v][i]], levels, vls);
    }
    return vls;
}
