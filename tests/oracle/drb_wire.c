/*
 * drb_wire.c: what packets of a run carry, as the bytes of src/adapt/wire.c.
 *
 * The head of each packet that has waited and leaves a switch, or that arrives, is written as
 * Figs. 3.16 to 3.18 have it, with what the policy has of it (its head, and the note behind that),
 * and read again. What is read must be what drb_network.c knows of the packet, must lead it on the
 * channel that it takes next, and must be as long as the simulator has it on the wire.
 *
 * Source, vias and destination are destinations of the tables (addresses); of an acknowledgement
 * the source is the address that its data had. MPI_sequence is the mark: a path and a message.
 */
#include "drb_network.h"

enum { ROOM = SV__WIRE_HEADER + SV__WIRE_PREDICTIVE + SV__WIRE_FLOW * SV__WIRE_MAX_FLOWS };

typedef struct seen {
    sv__header h;
    sv__predictive p;
    size_t bytes;
} seen;

/* ---- writing: what the policy has ---- */

static sv__predictive tell(sv__search type, uint32_t router, const sv__flows *flows)
{
    sv__predictive p = {.type = type, .router = (uint16_t)router, .count = (uint16_t)flows->count};
    for (uint32_t i = 0; i < flows->count; i++)
        p.flows[i] = flows->at[i];
    return p;
}

static seen of_data(const drb_net *n, const sv_sim_head *head)
{
    const sv_sim_way *way = &head->way;
    seen s = {.h = {.source = n->o.r->first[head->from.i],
                    .via = {way->vias > 0 ? way->via[0] : SV__WIRE_NO_VIA,
                            way->vias > 1 ? way->via[1] : SV__WIRE_NO_VIA},
                    .destination = head->destination,
                    .latency_ns = sv__wire_latency(head->waited),
                    .predictive = head->note != 0,
                    .final = head->last,
                    .segment = head->segment,
                    .mpi_sequence = way->mark}};
    if (!n->o.set.by_router && head->note != 0)
        s.p = tell(SV__SEARCH_FULL, 0, &sv__notes_at(&n->b->notes, head->note)->flows);
    return s;
}

static seen of_control(const drb_net *n, const sv_sim_head *head)
{
    const sv__note *note = sv__notes_at(&n->b->notes, head->note);
    seen s = {.h = {.source = n->o.r->first[head->from.i],
                    .via = {SV__WIRE_NO_VIA, SV__WIRE_NO_VIA},
                    .destination = head->destination,
                    .predictive = true,
                    .ack = true}};
    if (note->pair == SV_NONE) {
        s.p = tell(SV__SEARCH_FULL, 1 + note->flows.router, &note->flows);
        return s;
    }
    s.h.source = n->b->pairs.at[note->pair]->destination;
    s.h.latency_ns = sv__wire_latency(note->waited);
    s.h.final = note->last;
    s.h.predictive = note->told != 0;
    s.h.mpi_sequence = note->mark;
    if (note->told != 0)
        s.p = tell(SV__SEARCH_FULL, 0, &sv__notes_at(&n->b->notes, note->told)->flows);
    return s;
}

/* There and back. */
static seen pass(const seen *written, bool follows, size_t room)
{
    uint8_t bytes[ROOM];
    seen read;
    memset(&read, 0xa5, sizeof read);
    assert_true(room <= sizeof bytes);
    size_t length = sv__wire_put_header(&written->h, bytes, room);
    assert_int_equal(length, 32);
    if (follows)
        length += sv__wire_put_predictive(&written->p, bytes + length, room - length);
    read.bytes = sv__wire_get_header(bytes, length, &read.h);
    assert_int_equal(read.bytes, 32);
    assert_int_equal(read.h.mpi_type, 0);
    if (follows) {
        size_t more = sv__wire_get_predictive(bytes + 32, length - 32, &read.p);
        assert_true(more >= 8);
        read.bytes += more;
    }
    assert_int_equal(read.bytes, length);
    return read;
}

/* ---- reading: what it must be ---- */

static void assert_flows(const sv__predictive *p, const drb_flows *flows, uint32_t router)
{
    assert_int_equal(p->type, SV__SEARCH_FULL);
    assert_int_equal(p->router, router);
    assert_int_equal(p->count, flows->count);
    for (uint32_t i = 0; i < flows->count; i++)
        assert_int_equal(p->flows[i], flows->at[i]);
}

/* Whole nanoseconds of ticks. */
static void assert_waited(uint32_t ns, uint64_t ticks)
{
    assert_true(ns < UINT32_MAX);
    assert_true((uint64_t)ns * SV_TICKS_PER_NS <= ticks);
    assert_true(ticks - (uint64_t)ns * SV_TICKS_PER_NS < SV_TICKS_PER_NS);
}

/* Whoever has the bytes alone sends the packet on as it goes. */
static void assert_leads(const drb_net *n, const drb_packet *k, const sv__header *h, uint32_t at)
{
    const drb *o = &n->o;
    bool by_way = h->segment < 2 && h->via[h->segment] != SV__WIRE_NO_VIA;
    uint32_t target = by_way ? h->via[h->segment] : h->destination;
    if (at >= o->f->num_switches) {
        assert_int_equal(o->r->node[target].i, at);
        return;
    }
    sv_node node = {at};
    assert_int_equal(sv_channel_at(o->f, node, sv_route_port(o->r, node, target)).i,
                     k->way->hops[k->at]);
}

static void check_data(drb_net *n, const drb_packet *k, const sv_sim_head *head, uint32_t at)
{
    const drb *o = &n->o;
    const drb_message *m = &n->messages[k->message];
    bool room = o->predictive && !o->set.by_router;
    uint32_t payload =
        k->part + 1 < m->packets ? o->model.mtu_bytes : m->bytes - k->part * o->model.mtu_bytes;
    uint32_t header = head->bytes - payload - o->model.header_bytes;
    seen written = of_data(n, head);
    seen read = pass(&written, room, header);
    const sv__header *h = &read.h;
    assert_int_equal(header, 32 + (room ? sv__wire_predictive_bytes(o->set.flows) : 0));
    assert_int_equal(o->r->node[h->source].i, o->f->num_switches + k->from);
    assert_int_equal(h->destination, m->destination);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(h->via[i], i < k->way->vias ? k->way->via[i] : SV__WIRE_NO_VIA);
    assert_waited(h->latency_ns, k->waited);
    assert_int_equal(h->predictive, k->told);
    assert_int_equal(h->final, k->part + 1 == m->packets);
    assert_false(h->ack);
    assert_int_equal(h->mpi_sequence, m->mark[o->set.by_packet ? k->part : 0]);
    assert_leads(n, k, h, at);
    if (room && k->told)
        assert_flows(&read.p, &k->flows, 0);
    else if (room)
        assert_true(read.p.type == SV__SEARCH_NONE && read.p.count == 0);
    n->wire_data++;
    n->wire_turned += h->segment > 0;
}

static void check_control(drb_net *n, const drb_packet *k, const sv_sim_head *head)
{
    const drb *o = &n->o;
    const drb_answer *a = &n->answers[k->answer];
    bool notice = k->kind == DRB_NOTICE;
    seen written = of_control(n, head);
    seen read = pass(&written, a->flows.count > 0, head->bytes);
    const sv__header *h = &read.h;
    assert_int_equal(read.bytes, head->bytes);
    assert_int_equal(o->r->node[h->source].i, head->from.i);
    assert_true(h->via[0] == SV__WIRE_NO_VIA && h->via[1] == SV__WIRE_NO_VIA && h->segment == 0);
    assert_true(h->ack);
    assert_int_equal(h->predictive, a->flows.count > 0);
    if (a->flows.count > 0)
        assert_flows(&read.p, &a->flows, notice ? 1 + a->flows.router : 0);
    n->wire_told += a->flows.count > 0;
    n->wire_acks++;
    if (notice)
        return;
    /* The pair, and which of its paths: by these bytes and what the source has. */
    uint32_t from = o->r->node[h->destination].i - o->f->num_switches;
    uint32_t pair = sv__pairs_find(n->b, from, h->source);
    assert_int_equal(from, a->from);
    assert_int_equal(h->source, a->destination);
    assert_int_not_equal(pair, SV_NONE);
    const sv_sim_way *way = &n->b->pairs.at[pair]->paths[h->mpi_sequence & 0xff].way;
    assert_int_equal(drb_net_path(n, drb_net_pair(n, from, h->source), way), a->path);
    assert_int_equal(h->mpi_sequence, a->mark);
    assert_int_equal(h->final, a->last);
    assert_waited(h->latency_ns, a->waited);
}

void drb_wire_check(drb_net *n, const drb_packet *k, const sv_sim_head *head, uint32_t at)
{
    if (k->kind == DRB_PACKET)
        check_data(n, k, head, at);
    else
        check_control(n, k, head);
}
