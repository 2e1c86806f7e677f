/*
 * sim_case.c: random cases for the simulator, by a seed: what sim_case.h says.
 *
 * They are small, so that the slow simulator takes some milliseconds, and drawn so that each rule
 * of docs/simulator.md matters in many of them: buffers for a packet or two, several VLs that
 * change at every switch, links of all speeds, messages of nothing, of full packets and of whole
 * blocks. Half of the cases are made of round numbers: all times are multiples of what a block
 * takes at 4X QDR, so that much happens at one tick and rules about ties matter. mutate_sim.py
 * reports which mutants this finds.
 */
#include "sim_case.h"

#include "base/rng.h"
#include "support/testing.h"

enum { GRAIN = SIM_GRAIN, MAX_SWITCHES = 6, MAX_PORTS = 16 };

/* What a case is about. */
struct style {
    bool round;  /* numbers */
    bool mixed;  /* speeds of links */
    bool ring;   /* of switches */
    bool circle; /* on a ring: nearly all go two switches on, and none may get anywhere */
    bool hot;    /* all go to the first terminal */
    bool tables; /* of VL arbitration */
    bool crowd;  /* many on one switch, with something to send at once and much later */
    bool wide;   /* several switches */
    bool trap;   /* for policies: what draw_trap says */
    bool many;   /* messages: so many that deadlocks are looked for */
};

static bool one_in(sv_rng *rng, uint32_t n)
{
    return sv_rng_below(rng, n) == 0;
}

static uint32_t from_to(sv_rng *rng, uint32_t min, uint32_t max)
{
    return min + (uint32_t)sv_rng_below(rng, max - min + 1);
}

static struct style draw_style(sv_rng *rng)
{
    struct style style = {.round = one_in(rng, 2), .crowd = one_in(rng, 20)};
    style.ring = !style.crowd && one_in(rng, 4);
    style.mixed = !style.round || one_in(rng, 4);
    style.circle = style.ring && !one_in(rng, 4);
    style.tables = one_in(rng, 3);
    style.hot = style.crowd || (!style.circle && one_in(rng, style.tables ? 2 : 3));
    return style;
}

static sv_link draw_link(sv_rng *rng, bool mixed)
{
    static const uint8_t widths[] = {1, 4, 4, 12};
    return (sv_link){.width = mixed ? widths[sv_rng_below(rng, 4)] : 4,
                     .speed = (uint8_t)(mixed ? sv_rng_below(rng, SV_SPEED_COUNT) : SV_SPEED_QDR),
                     .vls = 8};
}

/* What is to become a fabric: cables between switches, hosts on each. */
struct plan {
    uint32_t switches, num_cables, hosts[MAX_SWITCHES];
    uint8_t cables[16][2];
    uint32_t ports[MAX_SWITCHES][MAX_PORTS]; /* in the order in which they get cables */
    uint16_t num_ports[MAX_SWITCHES], used[MAX_SWITCHES];
};

/* A connected graph of a few switches, or a ring, where packets get into circles. */
static void draw_plan(struct plan *plan, sv_rng *rng, const struct style *style)
{
    bool ring = style->ring, crowd = style->crowd;
    uint32_t n = plan->switches = crowd  ? 1
                                  : ring ? from_to(rng, style->trap ? 5 : 4, 6)
                                         : from_to(rng, style->wide ? 2 : 1, 4);
    uint32_t extra = ring ? 1 : (uint32_t)sv_rng_below(rng, 4);
    for (uint32_t i = 1; i < n + extra && n > 1; i++) {
        uint32_t a = i < n ? i : (uint32_t)sv_rng_below(rng, n);
        uint32_t b = (uint32_t)sv_rng_below(rng, i < n ? i : n);
        if (ring) {
            a = i % n;
            b = i - 1;
        }
        if (a == b)
            continue;
        plan->cables[plan->num_cables][0] = (uint8_t)a;
        plan->cables[plan->num_cables++][1] = (uint8_t)b;
        plan->num_ports[a]++;
        plan->num_ports[b]++;
    }
    for (uint32_t s = 0; s < n; s++) {
        plan->hosts[s] = n == 1 ? (crowd ? 14 : from_to(rng, 2, 5)) : from_to(rng, 1, ring ? 2 : 3);
        plan->hosts[s] = style->trap ? 3 : plan->hosts[s];
        plan->num_ports[s] += plan->hosts[s] + (one_in(rng, 3) ? 1 : 0);
        for (uint32_t i = 0; i < plan->num_ports[s]; i++)
            plan->ports[s][i] = i + 1;
        sv_rng_shuffle(rng, plan->ports[s], plan->num_ports[s]);
    }
}

static sv_end next_port(struct plan *plan, uint32_t s)
{
    return (sv_end){.index = s, .port = (uint16_t)plan->ports[s][plan->used[s]++]};
}

static sv_fabric *draw_fabric(sv_ctx *ctx, sv_rng *rng, const struct style *style)
{
    struct plan plan = {0};
    sv_builder *builder = sv_builder_new(ctx);
    uint32_t hosts = 0;
    draw_plan(&plan, rng, style);
    for (uint32_t s = 0; s < plan.switches; s++) {
        sv_switch_info about = {.name = "s", .guid = 0x100 + s, .ports = plan.num_ports[s]};
        sv_builder_add_switch(builder, &about, NULL);
    }
    for (uint32_t i = 0; i < plan.num_cables; i++) {
        sv_link link = draw_link(rng, style->mixed);
        sv_end a = next_port(&plan, plan.cables[i][0]), b = next_port(&plan, plan.cables[i][1]);
        sv_builder_add_cable(builder, a, b, &link);
    }
    for (uint32_t s = 0; s < plan.switches; s++)
        for (uint32_t k = 0; k < plan.hosts[s]; k++, hosts++) {
            sv_adapter_info card = {.name = "h", .guid = 0x1000 + 16 * hosts, .ports = 1};
            sv_terminal_info end = {.guid = 0x1001 + 16 * hosts, .adapter = hosts, .port = 1};
            sv_link link = draw_link(rng, style->mixed);
            sv_builder_add_adapter(builder, &card, NULL);
            sv_builder_add_terminal(builder, &end, NULL);
            sv_builder_add_cable(builder, next_port(&plan, s),
                                 (sv_end){.terminal = true, .index = hosts, .port = 1}, &link);
        }
    sv_fabric *f = NULL;
    OK(ctx, sv_builder_finish(builder, &f));
    return f;
}

/* Without one of its cables, if it can be routed then: entries may lead to a dead port. */
static void mask_cable(sim_case *c, sv_rng *rng)
{
    sv_channel cut = {(uint32_t)sv_rng_below(rng, c->f->num_channels)};
    if (!sv_joins_switches(c->f, cut))
        return;
    sv_mask *mask = sv_mask_new(c->ctx, c->f);
    sv_mask_cable(mask, c->f, cut);
    c->whole = c->f;
    OK(c->ctx, sv_fabric_mask(c->ctx, c->whole, mask, &c->f));
    sv_mask_free(mask);
}

static sv_sim_model draw_model(sv_rng *rng, const struct style *style)
{
    bool round = style->round;
    uint64_t grain = round ? GRAIN : 1, max = round ? 4 : one_in(rng, 3) ? 5000 : 100000;
    uint32_t header = from_to(rng, 1, 30), mtu = 64 * from_to(rng, 1, 8) - header;
    if (!one_in(rng, 3)) /* else full packets are whole blocks */
        mtu += (uint32_t)sv_rng_below(rng, 40);
    uint32_t blocks = (mtu + header + 63) / 64;
    uint32_t more = style->circle || one_in(rng, 2) ? 3 : 3 * blocks + 1;
    static const uint64_t per_byte[] = {1, 225, 450, 900}, byte_ticks[] = {3, 12, 450};
    static const uint32_t speedups[] = {100, 100, 150, 200, 1000};
    sv_sim_model m = {.cable = grain * sv_rng_below(rng, max),
                      .credit = one_in(rng, 4) ? 1 : grain * (1 + sv_rng_below(rng, max)),
                      .switch_delay = grain * sv_rng_below(rng, 2 * max),
                      .input = blocks + (uint32_t)sv_rng_below(rng, more),
                      .output = blocks + (uint32_t)sv_rng_below(rng, more),
                      .speedup =
                          one_in(rng, 2) ? speedups[sv_rng_below(rng, 5)] : from_to(rng, 100, 350),
                      .ways = from_to(rng, 1, 3),
                      .mtu_bytes = mtu,
                      .header_bytes = header,
                      .inject = round ? 450 * sv_rng_below(rng, 2) : sv_rng_below(rng, 900),
                      .drain = round ? per_byte[sv_rng_below(rng, 4)] : 1 + sv_rng_below(rng, 900),
                      .open = style->crowd || one_in(rng, 3) ? 1000 : from_to(rng, 1, 4),
                      .voq = one_in(rng, 2),
                      .byte_ticks = one_in(rng, 4) ? byte_ticks[sv_rng_below(rng, 3)] : 0,
                      .weighted = style->tables};
    if (one_in(rng, 3))
        m.inband_bytes = round ? 64 : from_to(rng, 1, 200);
    if (one_in(rng, 3)) {
        m.period = grain * (2 + sv_rng_below(rng, round ? 6 : 200000));
        m.pause = grain * (1 + sv_rng_below(rng, m.period / grain - 1));
    }
    return m;
}

/* Two lists of VL arbitration: each VL is in one or both, with small weights; and whatever else.
 */
static sv_vlarb draw_lists(sv_rng *rng, uint32_t vls)
{
    static const uint8_t limits[] = {0, 1, 1, 2, 255};
    sv_vlarb v = {.given = !one_in(rng, 8), .high_limit = limits[sv_rng_below(rng, 5)]};
    uint32_t order[16];
    for (uint32_t i = 0; i < 2 * vls; i++)
        order[i] = i % vls;
    sv_rng_shuffle(rng, order, 2 * vls);
    uint64_t listed = 0;
    for (uint32_t i = 0; i < 2 * vls; i++) {
        sv_vlarb_table *list = one_in(rng, 2) ? &v.high : &v.low;
        bool needed = !(listed >> order[i] & 1);
        if (!needed && one_in(rng, 2))
            continue;
        listed |= (uint64_t)1 << order[i];
        list->vl[list->length] = (uint8_t)order[i];
        list->weight[list->length++] = (uint8_t)(needed ? from_to(rng, 1, 12) : from_to(rng, 0, 3));
    }
    return v;
}

static void draw_arbitration(sim_case *c, sv_rng *rng)
{
    c->r->vlarb[SV_VLARB_CA] = draw_lists(rng, c->model.vls);
    c->r->vlarb[SV_VLARB_SWE] = draw_lists(rng, c->model.vls);
}

static int by_terminal(const void *a, const void *b)
{
    const sim_message *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->ready != y->ready)
        return x->ready < y->ready ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Nothing at all, full packets, whole blocks, or anything. */
static uint32_t draw_bytes(const sv_sim_model *m, sv_rng *rng)
{
    uint32_t max = (m->mtu_bytes + m->header_bytes) / 64;
    switch (sv_rng_below(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return m->mtu_bytes * from_to(rng, 1, 4);
    case 2:
    case 3:
        return 64 * from_to(rng, 1, max > 0 ? max : 1) - m->header_bytes;
    default:
        return (uint32_t)sv_rng_below(rng, 4 * m->mtu_bytes);
    }
}

static uint32_t draw_target(const sv_fabric *f, sv_rng *rng, uint32_t from,
                            const struct style *style)
{
    uint32_t first = f->num_switches, at = sv_switch_of(f, (sv_node){first + from}).i;
    bool circle = style->circle && !one_in(rng, 8);
    if (style->hot && from != 0)
        return 0;
    for (;;) {
        uint32_t to = (uint32_t)sv_rng_below(rng, f->num_terminals);
        uint32_t there = sv_switch_of(f, (sv_node){first + to}).i;
        if (to != from && (!circle || there == (at + 2) % f->num_switches))
            return to;
    }
}

/* When messages are ready: at once, at any time, or in bursts; also so far apart that nothing
 * happens for long. */
static void draw_times(sim_case *c, sv_rng *rng, const struct style *style)
{
    static const uint64_t spreads[] = {1, 1, 1, 300000, 300000, 3000000, 30000000};
    uint64_t spread = spreads[sv_rng_below(rng, style->circle || c->changing ? 5 : 7)];
    uint64_t grain = style->round ? GRAIN : 1, instants[4] = {0};
    bool bursts = style->crowd || one_in(rng, 2);
    if (style->crowd || (!style->circle && one_in(rng, 4) && !c->changing))
        spread = (uint64_t)1 << from_to(rng, style->crowd ? 31 : 26, 34);
    for (int i = 1; i < 4; i++)
        instants[i] = sv_rng_below(rng, spread);
    for (uint32_t i = 0; i < c->num_messages; i++) {
        bool burst = bursts && !one_in(rng, 3);
        uint64_t time =
            burst ? instants[style->crowd ? 0 : sv_rng_below(rng, 4)] : sv_rng_below(rng, spread);
        c->messages[i].ready = time / grain * grain;
    }
}

static void draw_messages(sim_case *c, sv_rng *rng, const struct style *style)
{
    c->num_messages = from_to(rng, style->circle || style->hot ? 30 : 1, style->crowd ? 100 : 70);
    if (style->many)
        c->num_messages = from_to(rng, 500, 800);
    c->messages = calloc(c->num_messages, sizeof *c->messages);
    for (uint32_t i = 0; i < c->num_messages; i++) {
        uint32_t from = (uint32_t)sv_rng_below(rng, c->f->num_terminals);
        uint32_t to = draw_target(c->f, rng, from, style);
        c->messages[i] = (sim_message){.from = from,
                                       .number = i,
                                       .destination = c->r->first[c->f->num_switches + to],
                                       .bytes = draw_bytes(&c->model, rng)};
        if (c->r->lmc > 0)
            c->messages[i].destination += (uint32_t)sv_rng_below(rng, 1u << c->r->lmc);
    }
    draw_times(c, rng, style);
    qsort(c->messages, c->num_messages, sizeof *c->messages, by_terminal);
    if (one_in(rng, 6))
        c->limit = sv_rng_below(rng, 100) * GRAIN + (style->round ? 0 : sv_rng_below(rng, GRAIN));
    c->reluctant = one_in(rng, 2);
}

/*
 * As long as it takes to see that a limit of 255 is none: one host has 16,384 blocks and more for
 * the high list, and something for the low one all the time.
 */
static void draw_long(sim_case *c, sv_rng *rng)
{
    static const sv_sl2vl vls = {.of_sl = {0, 1}};
    c->f = test_fabric(c->ctx, "mesh:1,hosts=3");
    OK(c->ctx, sv_route(c->ctx, c->f, "minhop", &(sv_route_request){.vls = 2}, &c->r, NULL));
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
        c->r->vls_of[v] = (uint16_t)sv_routes_sl2vl_table(c->ctx, c->r, &vls);
    OK(c->ctx, sv_routes_set_sl_form(c->ctx, c->r, SV_SL_BY_DESTINATION));
    memset(sv_routes_sl_row(c->ctx, c->r, 0), 0, c->r->num_destinations);
    sv_routes_sl_row(c->ctx, c->r, 0)[c->r->first[c->f->num_switches + 2]] = 1;
    c->model = draw_model(rng, &(struct style){.round = true});
    c->model.vls = 2;
    c->model.mtu_bytes = 1024 * 60;
    c->model.input = c->model.output = 4096;
    c->model.byte_ticks = c->model.speedup = 100;
    c->model.inject = c->model.pause = 0;
    c->model.drain = 1;
    c->model.weighted = true;
    c->r->vlarb[SV_VLARB_CA] =
        (sv_vlarb){.given = true,
                   .high_limit = 255,
                   .high = {.length = 1, .vl = {0}, .weight = {(uint8_t)from_to(rng, 1, 200)}},
                   .low = {.length = 1, .vl = {1}, .weight = {1}}};
    c->num_messages = 21;
    c->messages = calloc(c->num_messages, sizeof *c->messages);
    for (uint32_t i = 0; i < c->num_messages; i++)
        c->messages[i] =
            (sim_message){.number = i,
                          .destination = c->r->first[c->f->num_switches + (i == 0 ? 2 : 1)],
                          .bytes = c->model.mtu_bytes};
    c->model.open = c->num_messages;
}

static const char *const engines[] = {"minhop", "sssp", "updn", "weave", "dfsssp"};

/* Tables by an engine; VLs are drawn if they are to be. */
static void draw_routes(sim_case *c, sv_rng *rng, const struct style *style, uint64_t seed)
{
    const sv_route_request request = {
        .vls = c->model.vls, .seed = seed, .lmc = (c->changing || c->choosing) && one_in(rng, 3)};
    const char *engine = engines[style->ring ? 0 : sv_rng_below(rng, 5)];
    if (sv_route(c->ctx, c->f, engine, &request, &c->r, NULL) != SV_OK)
        OK(c->ctx, sv_route(c->ctx, c->f, "minhop", &request, &c->r, NULL));
    if (style->tables || one_in(rng, 2) || c->changing)
        sim_vls_draw(c, c->r, rng, 0);
}

sim_case sim_case_draw(sv_ctx *ctx, uint64_t seed, bool changing)
{
    sim_case c = {.ctx = ctx, .limit = SV_NEVER, .changing = changing};
    sv_rng rng;
    sv_rng_init(&rng, seed);
    if (one_in(&rng, 50) && !changing) {
        draw_long(&c, &rng);
        return c;
    }
    struct style style = draw_style(&rng);
    style.crowd = style.crowd && !changing;
    style.wide = changing && !one_in(&rng, 8);
    c.f = draw_fabric(ctx, &rng, &style);
    if (changing && one_in(&rng, 4))
        mask_cable(&c, &rng);
    uint32_t vls = one_in(&rng, 10) ? 8 : from_to(&rng, style.tables ? 2 : 1, 3);
    c.model.vls = vls;
    draw_routes(&c, &rng, &style, seed);
    c.model = draw_model(&rng, &style);
    c.model.vls = vls;
    draw_arbitration(&c, &rng);
    draw_messages(&c, &rng, &style);
    if (changing)
        sim_changes_draw(&c, &rng, style.round ? GRAIN : 1);
    return c;
}

/* ---- for policies ---- */

/* Whether the tables carry packets from everywhere to everywhere. */
static bool all_to_all(const sim_case *c)
{
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++)
        for (uint32_t d = 0; d < c->r->num_destinations; d++) {
            sv_hop_taken taken[32];
            sv_node at, from = {v};
            uint32_t count = 0;
            unsigned sl = sv_route_sl(c->r, from, d);
            if (c->r->node[d].i != v &&
                (sl == SV_NO_SL || sv_routes_trace(c->f, c->r, from, d, sl, taken, 32, &count,
                                                   &at) != SV_TRACE_ARRIVED))
                return false;
        }
    return true;
}

/* SLs in one of the smaller forms. */
static void draw_sls(const sim_case *c, sv_rng *rng)
{
    static const sv_sl_form forms[] = {SV_SL_CONSTANT, SV_SL_BY_DESTINATION, SV_SL_BY_SWITCH};
    sv_sl_form form = forms[sv_rng_below(rng, 3)];
    OK(c->ctx, sv_routes_set_sl_form(c->ctx, c->r, form));
    if (form == SV_SL_CONSTANT) {
        c->r->sl = (uint8_t)sv_rng_below(rng, 16);
        return;
    }
    bool one_row = form == SV_SL_BY_DESTINATION;
    uint32_t columns = one_row ? c->r->num_destinations : c->f->num_switches;
    for (uint32_t d = 0; d < (one_row ? 1 : c->r->num_destinations); d++)
        for (uint32_t i = 0; i < columns; i++)
            sv_routes_sl_row(c->ctx, c->r, d)[i] = (uint8_t)sv_rng_below(rng, 16);
}

/* A VL that one SL has between two ports of a switch, and perhaps nobody ever takes. */
static void draw_odd_vl(const sim_case *c, sv_rng *rng)
{
    uint32_t s = (uint32_t)sv_rng_below(rng, c->f->num_switches), ports = c->f->switches[s].ports;
    unsigned in = one_in(rng, 2) ? 0 : from_to(rng, 1, ports), out = from_to(rng, 1, ports);
    sv_sl2vl vl = *sv_route_sl2vl(c->r, c->f, (sv_node){s}, in, out);
    vl.of_sl[sv_rng_below(rng, 16)] = (uint8_t)c->model.vls;
    OK(c->ctx, sv_routes_set_sl2vl(c->ctx, c->f, c->r, (sv_node){s}, in, out,
                                   sv_routes_sl2vl_table(c->ctx, c->r, &vl)));
}

/* One more than the largest VL of the tables, whether somebody has that SL or not. */
static uint32_t count_vls(const sim_case *c)
{
    uint32_t max = 0;
    for (uint32_t v = 0; v < sv_num_nodes(c->f); v++) {
        unsigned ports = v < c->f->num_switches ? c->f->switches[v].ports : 1;
        for (unsigned in = 0; in <= ports; in++)
            for (unsigned out = 1; out <= ports; out++)
                for (unsigned sl = 0; sl < c->r->num_sls; sl++) {
                    uint8_t vl = sv_route_sl2vl(c->r, c->f, (sv_node){v}, in, out)->of_sl[sl];
                    max = vl != SV_NO_VL && vl > max ? vl : max;
                }
    }
    return max + 1;
}

/* Some of a packet's header is the policy's. */
static void split_header(sim_case *c, sv_rng *rng)
{
    uint32_t whole = c->model.header_bytes;
    c->policy_bytes = (uint32_t)sv_rng_below(rng, whole);
    c->model.header_bytes = whole - c->policy_bytes;
}

/*
 * A ring of full buffers, seen at a limit: from each switch three hosts send a packet each, one
 * after the other, all of them to the next switch or to the one after that. Who goes on lies in his
 * buffer, and all wait for credits of VLs that are empty: nobody may be said to be stuck who
 * could take one.
 */
static void draw_trap(sim_case *c, sv_rng *rng)
{
    sv_sim_model *m = &c->model;
    uint32_t n = c->f->num_switches, far[3];
    m->input = (m->mtu_bytes + m->header_bytes + 63) / 64;
    m->cable = 60 * (uint64_t)GRAIN; /* all are sent before the first is there */
    m->credit = 400 * (uint64_t)GRAIN;
    c->limit = from_to(rng, 100, 450) * (uint64_t)GRAIN;
    uint32_t gone = (uint32_t)sv_rng_below(rng, c->adaptive + 1);
    bool any = one_in(rng, 4);
    for (uint32_t h = 0; h < 3; h++)
        far[h] = any ? from_to(rng, 1, 2) : 1 + (h != gone);
    free(c->messages);
    c->num_messages = 3 * n;
    c->messages = calloc(c->num_messages, sizeof *c->messages);
    for (uint32_t i = 0; i < 3 * n; i++) { /* hosts of a switch have numbers in a row */
        uint32_t to = 3 * ((i / 3 + far[i % 3]) % n) + i % 3;
        c->messages[i] = (sim_message){.ready = i % 3 * 15 * (uint64_t)GRAIN,
                                       .from = i,
                                       .number = i,
                                       .destination = c->r->first[n + to],
                                       .bytes = m->mtu_bytes};
    }
}

sim_case sim_case_draw_choosing(sv_ctx *ctx, uint64_t seed)
{
    sim_case c = {.ctx = ctx, .limit = SV_NEVER, .choosing = true};
    sv_rng rng;
    sv_rng_init(&rng, seed ^ 0x9e3779b97f4a7c15);
    struct style style = draw_style(&rng);
    style.tables = style.crowd = false;
    style.wide = !one_in(&rng, 8);
    style.trap = one_in(&rng, 16);
    style.ring = style.ring || style.trap;
    style.circle = style.circle || style.trap;
    style.mixed = style.mixed && !style.trap;
    style.many = !style.trap && one_in(&rng, 150);
    c.f = draw_fabric(ctx, &rng, &style);
    if (one_in(&rng, 8) && !style.trap)
        mask_cable(&c, &rng);
    bool tight = style.trap || (style.circle && !one_in(&rng, 3)); /* much waits for each other */
    c.model.vls = tight ? 1 : from_to(&rng, 1, 3);
    draw_routes(&c, &rng, &style, seed);
    if (!all_to_all(&c))
        sim_vls_draw(&c, c.r, &rng, 0);
    if (!all_to_all(&c) && c.whole) { /* that cable was needed */
        sv_routes_free(c.r);
        sv_fabric_free(c.f);
        c.f = c.whole;
        c.whole = NULL;
        draw_routes(&c, &rng, &style, seed);
        sim_vls_draw(&c, c.r, &rng, 0);
    }
    if (one_in(&rng, 3))
        draw_sls(&c, &rng);
    if (!tight && one_in(&rng, 4))
        draw_odd_vl(&c, &rng);
    assert_true(all_to_all(&c));
    c.segments = tight ? 1 : from_to(&rng, 1, 3);
    c.adaptive = (unsigned)sv_rng_below(&rng, 3);
    c.table_vls = count_vls(&c);
    c.model = draw_model(&rng, &style);
    c.model.vls = c.segments * c.table_vls + c.adaptive + (one_in(&rng, 4) ? 1 : 0);
    draw_messages(&c, &rng, &style);
    if (style.trap)
        draw_trap(&c, &rng);
    if (!tight && !style.many &&
        one_in(&rng, 8)) /* what happens at the end is more of what happens */
        c.num_messages = c.num_messages < 4 ? c.num_messages : from_to(&rng, 1, 4);
    bool even = one_in(&rng, 5); /* control packets may be the smallest */
    for (uint32_t i = 0; i < c.num_messages && even; i++)
        c.messages[i].bytes = c.model.mtu_bytes * from_to(&rng, 1, 3);
    split_header(&c, &rng);
    c.patient = one_in(&rng, 2);
    return c;
}

void sim_case_release(sim_case *c)
{
    free(c->messages);
    free(c->changes);
    free(c->wakes);
    free(c->habits);
    if (c->changing) {
        sv_routes_free(c->tables[0]);
        sv_routes_free(c->tables[1]);
    } else {
        sv_routes_free(c->r);
    }
    sv_fabric_free(c->f);
    sv_fabric_free(c->whole);
}
