"""Wrong versions of the fast simulator: each is built and must be found out by the slow one.

Each of the mutations below changes a few words of src/simulate, as somebody might who has not read
docs/simulator.md well enough; it says which rule of that page it breaks. The changed files are
compiled beside copies of the others, linked with the library and with the objects of
oracle_test_sim, and run on the trials that the present simulator passes first. One that comes
through all of them is a hole in the tests: sim_case.c draws what nobody needs to get right. Those
of policy_mutations.py are about policies, and tried with oracle_test_sim_policy in the same way;
what simulations seldom or never meet in the order of events (ORDER_MUTATIONS), with
oracle_test_events.

Some changes make no difference to anything that can be seen. They say why, and must come through.

Compiler, options and libraries are those of the build, in mutate_sim.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_sim.py [TRIALS [SEED [FILE ...]]]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from oracle.policy_mutations import POLICY_MUTATIONS, Mutation  # noqa: E402
from support.mutate import SOURCE, Builder, check, judge_all  # noqa: E402

TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = sys.argv[3:]  # only what changes these; "policies": those
ROOM = os.path.join(SOURCE, "src", "simulate")

# Files that nobody needs but a director: their mutations are tried with tables that change.
DIRECTED = ("stage.c", "mishap.c")

MUTATIONS = [
    # ---- switch.c ----
    Mutation("switch.c", 9, "virtual output queues are not kept apart",
             "if (!x->m->voq)", "if (true)"),
    Mutation("switch.c", 9, "virtual output queues of different lanes are one",
             "lane * (x->first_port[s + 1] - first) + (out - first)", "(out - first)"),
    Mutation("switch.c", 9, "the next of a queue is first at the tick of the grant",
             ".ready = sv__max(ready, since)", ".ready = ready"),
    Mutation("switch.c", 9, "of a queue with several the last does not move on",
             "x->packets[queue->last].next = p;\n    queue->last = p;",
             "x->packets[queue->last].next = p;"),
    Mutation("switch.c", 10, "lanes do not depend on the input port",
             "sv_route_lanes(x->r, x->f, at, o->in_port, port)",
             "sv_route_lanes(x->r, x->f, at, 1, port)"),
    Mutation("switch.c", 10, "a packet keeps the lane it came by",
             "packet->out_lane = sv_route_lanes(x->r, x->f, at, o->in_port, port)->"
             "of_sl[packet->sl];", "packet->out_lane = packet->lane;"),
    Mutation("switch.c", 11, "a switch takes no time",
             "p->start + x->m->switch_delay + sv__ready_after(x, p->length",
             "p->start + sv__ready_after(x, p->length"),
    Mutation("switch.c", 11, "whether a packet can run through goes by the next link's pace",
             "sv__ready_after(x, p->length, from->byte, o->cross)",
             "sv__ready_after(x, p->length, from->byte, o->byte)"),
    Mutation("switch.c", 12, "of an input's ways the one taken is the one free last",
             "ways[i] < *way", "ways[i] > *way"),
    Mutation("switch.c", 12, "an input has as many ways as it wants",
             "w->ready > x->now ? w->ready : *way_of(x, w->in)", "w->ready"),
    Mutation("switch.c", 12, "a way is free again as soon as the first block is across",
             "*way_of(x, w.in) = crossed;",
             "*way_of(x, w.in) = x->now + sv__block_end(packet.length, 1) * o->cross;"),
    Mutation("switch.c", 12, "a port's entry is free when its link is",
             "o->entry_free = crossed;", "o->entry_free = sv__max(crossed, o->link_free);"),
    Mutation("switch.c", 12, "large packets are granted where small ones have room",
             "if (time <= x->now && o->buffer_free < w->blocks)", "if (false)"),
    Mutation("switch.c", 12, "for whom credits are lacking, they are for all on that lane",
             "if (w->blocks == x->least)", "if (true)"),
    Mutation("switch.c", 12, "a packet that becomes first is looked at a tick late",
             "sv__events_plan(x, p->out, sv__max(w->ready, o->entry_free))",
             "sv__events_plan(x, p->out, sv__max(w->ready, o->entry_free) + 1)"),
    Mutation("switch.c", 13, "input blocks are free when they leave the switch",
             "ramp = {.from = x->now, .rate = o->cross", "ramp = {.from = start, .rate = o->byte"),
    Mutation("switch.c", 13, "input blocks are free at the link's pace",
             "ramp = {.from = x->now, .rate = o->cross", "ramp = {.from = x->now, .rate = o->byte"),
    Mutation("switch.c", 14, "a link starts with what is not across yet",
             "x->now + sv__block_end(packet.length, 1) * o->cross)", "x->now)"),
    Mutation("switch.c", 14, "a link starts only when all of a packet is across",
             "x->now + sv__block_end(packet.length, 1) * o->cross)", "crossed)"),
    Mutation("switch.c", 14, "places in an output buffer are free from the grant on",
             "sv__room_take(x, o, start, packet.length)",
             "sv__room_take(x, o, x->now, packet.length)"),
    Mutation("switch.c", 4, "a switch's link leaves no time for flow control",
             "o->link_free = start + (uint64_t)(packet.length + x->m->inband_bytes) * o->byte;",
             "o->link_free = start + (uint64_t)packet.length * o->byte;"),
    Mutation("switch.c", 7, "a grant takes a credit too few",
             "c->there -= w.blocks;", "c->there -= w.blocks - (w.blocks > 1);"),
    Mutation("switch.c", 8, "credits wait for flow control in band as for packets",
             "start + (uint64_t)packet->length * x->outputs[channel].byte",
             "start + (uint64_t)(packet->length + x->m->inband_bytes) * x->outputs[channel].byte"),
    Mutation("switch.c", 16, "pairs are ordered by lane, then by port",
             "from->in_port * x->m->lanes + p->lane", "p->lane * 256u + from->in_port"),
    Mutation("switch.c", 16, "the pair granted last comes first again",
             "pair <= last", "pair < last"),
    Mutation("switch.c", 16, "a port remembers one pair for all lanes",
             "x->last_pair[(size_t)out * x->m->lanes + w.lane] = w.pair;",
             "for (uint32_t l = 0; l < x->m->lanes; l++)\n"
             "        x->last_pair[(size_t)out * x->m->lanes + l] = w.pair;"),
    Mutation("switch.c", 16, "switches grant the smallest lane",
             "unsigned lane = sv__one_lane(x, channel, lanes);",
             "unsigned lane = (unsigned)__builtin_ctzll(lanes);"),
    # ---- credits.c ----
    Mutation("credits.c", 18, "an adapter works through its pauses, as far as the clock goes",
             "time / m->period * busy + (part < busy ? part : busy)",
             "time / m->period * busy + part"),
    Mutation("credits.c", 18, "what is done as a pause begins is done when it is over",
             "(work - 1) / busy * m->period + (work - 1) % busy + 1",
             "work / busy * m->period + work % busy"),
    Mutation("credits.c", 18, "draining has no pauses",
             "if (m->pause == 0 || ticks == 0)", "if (true)"),
    Mutation("credits.c", 3, "a short last block takes as long as others",
             "if (done >= (uint64_t)ramp->length * ramp->rate)",
             "if (done >= (uint64_t)sv__blocks(ramp->length) * SV__BLOCK * ramp->rate)"),
    Mutation("credits.c", 8, "the last block is free a tick late",
             "if (done >= (uint64_t)ramp->length", "if (done > (uint64_t)ramp->length"),
    Mutation("credits.c", 14, "places in an output buffer are free as they cross",
             ".from = start, .rate = o->byte,", ".from = start, .rate = o->cross,"),
    Mutation("credits.c", 14, "an output buffer that lacks room forgets what is free already",
             "uint32_t lacking = n - o->buffer_free;", "uint32_t lacking = n;"),
    Mutation("credits.c", 8, "packets that credits wait for are forgotten when they have left",
             "line->at[line->first].until + delay < x->now",
             "line->at[line->first].until < x->now"),
    Mutation("credits.c", 8, "a credit waits for a packet that has just ended",
             "time < sent->until", "time <= sent->until"),
    Mutation("credits.c", 8, "credits in band wait for packets of their own direction",
             "const sv__line *line = &x->lines[x->f->reverse[channel].i];",
             "const sv__line *line = &x->lines[channel];"),
    Mutation("credits.c", 8, "credits in band do not wait",
             "x->lines == NULL ? NULL : on_the_way(x, channel, time)", "NULL"),
    Mutation("credits.c", 8, "credits in band take no time of their own",
             "x->m->credit + (uint64_t)x->m->inband_bytes * "
             "x->outputs[x->f->reverse[channel].i].byte", "x->m->credit"),
    Mutation("credits.c", 12, "of several packets that free blocks the first has to free them all",
             "(lacking - s.have + s.active - 1) / s.active;",
             "lacking - s.have;"),
    Mutation("credits.c", 12, "credits that just suffice are never heard of",
             "if (more < lacking)", "if (more <= lacking)"),
    Mutation("credits.c", 12, "who needs most is heard of, not who needs least",
             "c->need == 0 || n < c->need ? n : c->need",
             "c->need == 0 || n > c->need ? n : c->need"),
    Mutation("credits.c", 12, "nobody is told that credits come back",
             "if (c->need > 0) {", "if (false) {"),
    Mutation("credits.c", 19, "credits of an adapter come back through its pauses",
             "bool drain = !sv__is_switch(x, x->outputs[channel].head);", "bool drain = false;"),
    # ---- adapter.c ----
    Mutation("adapter.c", 17, "an adapter has one message more open",
             "a->coming.ready <= x->now && a->open < x->m->open",
             "a->coming.ready <= x->now && a->open <= x->m->open"),
    Mutation("adapter.c", 17, "messages are opened before they are ready",
             "while (a->has_coming && a->coming.ready <= x->now &&", "while (a->has_coming &&"),
    Mutation("adapter.c", 17, "the message opened last goes first",
             "        x->opened[box->last].next = i;\n    box->last = i;",
             "    {\n        x->opened[i].next = box->first;\n"
             "        box->first = i;\n    }\n    if (x->opened[i].next == SV_NONE)\n"
             "        box->last = i;"),
    Mutation("adapter.c", 17, "a message is not open any more when its first packet is sent",
             "        x->adapters[t].open--;\n", "    }\n    if (x->cargo[p].injected == x->now)\n"
             "        x->adapters[t].open--;\n    if (packet->last) {\n"),
    Mutation("adapter.c", 2, "a message of full packets has an empty one at its end",
             ".last = open->sent == open->message.bytes", ".last = payload < x->m->mtu_bytes"),
    Mutation("adapter.c", 2, "a packet's payload makes its credits",
             "sv__blocks(payload + x->header), &when", "sv__blocks(payload), &when"),
    Mutation("adapter.c", 17, "an adapter waits for credits of a full packet",
             "sv__blocks(payload + x->header), &when",
             "sv__blocks(x->m->mtu_bytes + x->header), &when"),
    Mutation("adapter.c", 4, "an adapter's link leaves no time for flow control",
             "o->link_free = x->now + (uint64_t)(length + x->m->inband_bytes) * o->byte;",
             "o->link_free = x->now + (uint64_t)length * o->byte;"),
    Mutation("adapter.c", 17, "headers come to the adapter for nothing",
             "o->entry_free = x->now + length * x->m->inject;",
             "o->entry_free = x->now + (length - x->header) * x->m->inject;"),
    Mutation("adapter.c", 17, "injecting takes no longer than the link",
             "free = sv__max(o->link_free, o->entry_free), next", "free = o->link_free, next"),
    Mutation("adapter.c", 16, "adapters inject the smallest lane",
             "sv__one_lane(x, channel, lanes), lanes)",
             "(unsigned)__builtin_ctzll(lanes), lanes)"),
    Mutation("adapter.c", 17, "what becomes ready while others wait for credits is not looked at",
             "if (a->has_coming && a->open < x->m->open) {",
             "if (a->has_coming && a->open < x->m->open && a->lanes == 0) {"),
    Mutation("adapter.c", 17, "who had nothing to send is not asked again",
             "    a->idle = false;\n    SV_TRY(ask(x, to));", "    SV_TRY(ask(x, to));"),
    Mutation("adapter.c", 18, "packets are drained side by side",
             "from = sv__max(x->adapters[to].drained, ready)", "from = ready"),
    Mutation("adapter.c", 18, "an adapter takes a switch's time",
             "ready = packet->start + sv__ready_after(",
             "ready = packet->start + x->m->switch_delay + sv__ready_after("),
    Mutation("adapter.c", 18, "draining waits until it can go on at the crossbar's pace",
             "sv__ready_after(x, packet->length, o->byte, drain)",
             "sv__ready_after(x, packet->length, o->byte, o->cross)"),
    Mutation("adapter.c", 19, "the next packet is drained while a pause would go on",
             "x->adapters[to].drained = end;",
             "x->adapters[to].drained = from + (uint64_t)packet->length * drain;"),
    Mutation("adapter.c", 19, "credits of an adapter come back from when a packet was ready",
             "(sv__ramp){.from = from, .rate = drain", "(sv__ramp){.from = ready, .rate = drain"),
    # ---- arbitrate.c ----
    Mutation("arbitrate.c", 16, "an entry goes on when nothing is left to it",
             "if (*left > 0 && list->lane[at]", "if (list->lane[at]"),
    Mutation("arbitrate.c", 16, "an entry gets no new weight",
             "            *left = list->weight[k];\n", ""),
    Mutation("arbitrate.c", 16, "the current entry is the first to be tried again",
             "(at + i) % list->length", "(at + i - 1) % list->length"),
    Mutation("arbitrate.c", 16, "the search does not come back to the current entry",
             "i <= list->length; i++", "i < list->length; i++"),
    Mutation("arbitrate.c", 16, "entries without weight are served",
             "if (list->weight[k] > 0 && list->lane[k] < 64", "if (list->lane[k] < 64"),
    Mutation("arbitrate.c", 16, "switches use the tables of adapters and the other way round",
             "adapter ? SV_VLARB_CA : SV_VLARB_SWE", "adapter ? SV_VLARB_SWE : SV_VLARB_CA"),
    Mutation("arbitrate.c", 16, "the limit counts blocks",
             "64u * v->high_limit", "v->high_limit"),
    Mutation("arbitrate.c", 16, "with a limit of 0 the low list goes first",
             "v->high_limit == 0 ? 1 :", "v->high_limit == 0 ? 0 :"),
    Mutation("arbitrate.c", 16, "a limit of 255 is one",
             "v->high_limit == 255 || ", ""),
    Mutation("arbitrate.c", 16, "what the high list has sent is not forgotten",
             "turn->high_sent + blocks : 0", "turn->high_sent + blocks : turn->high_sent"),
    Mutation("arbitrate.c", 16, "the limit counts packets",
             "turn->high_sent + blocks : 0", "turn->high_sent + 1 : 0"),
    Mutation("arbitrate.c", 16, "what is left to an entry falls below 0",
             "*left > blocks ? *left - blocks : 0", "*left - blocks"),
    Mutation("arbitrate.c", 16, "a packet counts as one block",
             "*left > blocks ? *left - blocks : 0", "*left - 1"),
    Mutation("arbitrate.c", 16, "the low list moves on when it is not taken",
             "    if (*from_high) {\n",
             "    if (has_low) {\n        turn->low_at = (uint8_t)low;\n"
             "        turn->low_left = low_left;\n    }\n    if (*from_high) {\n"),
    Mutation("arbitrate.c", 16, "the lane granted last is the first in turn",
             "lanes >> (last + 1) << (last + 1)", "lanes >> last << last"),
    Mutation("arbitrate.c", 16, "no lane is remembered",
             "    x->outputs[channel].last_lane = (uint8_t)lane;\n", ""),
    # ---- events.c ----
    Mutation("events.c", 15, "what is looked at at one tick comes in descending order",
             "a.channel < b.channel", "a.channel > b.channel"),
    Mutation("events.c", 15, "a look is put off by a later one",
             "        if (time >= e->when[channel])\n            return;\n", ""),
    Mutation("events.c", 15, "what lies nearly a round of buckets ahead is overlooked",
             "i <= words; i++", "i < words; i++"),
    Mutation("events.c", 15, "what is far ahead is put among what is near",
             "else if (b - e->floor < e->buckets)", "else if (true)"),
    Mutation("events.c", 15, "a bucket is taken in the order in which it was filled",
             "    near_sort(e);\n", ""),
    Mutation("events.c", 15, "what is planned for the present bucket goes to its end",
             "uint32_t at = near_place(e, event);", "uint32_t at = e->near.length;"),
    Mutation("events.c", 15, "a bucket waits if something far away has come into it",
             "channel = b <= far ? e->bucket[slot] : SV_NONE;\n    if (b <= far) {",
             "channel = b < far ? e->bucket[slot] : SV_NONE;\n    if (b < far) {"),
    Mutation("events.c", 15, "of a node's four children in a heap three are looked at",
             "first + 4 < h->length ? first + 4 :", "first + 3 < h->length ? first + 3 :"),
    Mutation("events.c", 15, "a bucket from which the first is taken loses all",
             "    e->bucket[b] = next;\n", "    e->bucket[b] = SV_NONE;\n"),
    # ---- deadlock.c ----
    Mutation("deadlock.c", 20, "a packet that just fits does not",
             "x->m->input - held[packet->out_lane] < n", "x->m->input - held[packet->out_lane] <= n"),
    Mutation("deadlock.c", 20, "the lane of the next buffer is that of this one",
             "x->m->input - held[packet->out_lane] < n", "x->m->input - held[packet->lane] < n"),
    Mutation("deadlock.c", 20, "with the first of a queue all are free",
             "t->front[q] = packet->next;", "t->front[q] = SV_NONE;"),
    Mutation("deadlock.c", 20, "room that is made is not looked at again",
             "while (t->waiting[in] != SV_NONE) {", "while (false) {"),
    Mutation("deadlock.c", 20, "packets in a buffer count one block",
             "+= sv__blocks(packets[p].length);", "+= 1;"),
    Mutation("deadlock.c", 20, "only the first of each queue holds anything",
             "p = packets[p].next)\n                t->held",
             "p = SV_NONE)\n                t->held"),
    # ---- setup.c ----
    Mutation("setup.c", 1, "a narrow link is as fast as one of 4X",
             "* 4 / width;\n    return ticks", ";\n    return ticks"),
    Mutation("setup.c", 1, "FDR is as fast as 14 Gbit/s by 8b/10b",
             "264,", "288,"),
    Mutation("setup.c", 11, "the crossbar is as fast as the link",
             "uint64_t cross = 100 * byte / x->m->speedup;", "uint64_t cross = byte;"),
    Mutation("setup.c", 11, "a crossbar may take no time at all",
             ".cross = (uint32_t)sv__max(1, cross)", ".cross = (uint32_t)cross"),
    Mutation("setup.c", 11, "the speed-up is rounded up",
             "100 * byte / x->m->speedup", "(100 * byte + x->m->speedup - 1) / x->m->speedup"),
    Mutation("setup.c", 7, "a credit is lacking from the beginning",
             "->there = x->m->input;", "->there = x->m->input - (x->m->input > "
             "sv__blocks(x->m->mtu_bytes + x->m->header_bytes));"),
    Mutation("setup.c", 14, "an output buffer is as large as an input buffer",
             ".buffer_free = x->m->output", ".buffer_free = x->m->input"),
    Mutation("setup.c", 16, "ports are told apart by the other end's number",
             ".in_port = f->port[f->reverse[c].i]", ".in_port = f->port[c]"),
    Mutation("setup.c", 16, "the first entry begins with nothing left to it",
             "x->turns[c].high_left = v->high.length > 0 ? v->high.weight[0] : 0;",
             "x->turns[c].high_left = 0;"),
    # ---- state.h ----
    Mutation("state.h", 3, "whole blocks have one more, empty",
             "(bytes + SV__BLOCK - 1) / SV__BLOCK", "bytes / SV__BLOCK + 1"),
    Mutation("state.h", 3, "the last block is as long as others",
             "return end < length ? end : length;", "return end;"),
    Mutation("state.h", 11, "the last block but one is never the one to wait for",
             "sv__max(most, sv__max(last, before))", "sv__max(most, last)"),
    Mutation("state.h", 11, "the last block is never the one to wait for",
             "sv__max(most, sv__max(last, before))", "sv__max(most, before)"),
    Mutation("state.h", 11, "a packet waits for its first block alone",
             "if (byte > cross && n > 1) {", "if (false) {"),
    Mutation("state.h", 5, "cables have no length",
             "return most + x->m->cable;", "return most;"),
    # ---- stage.c ----
    Mutation("stage.c", 21, "a director acts after what happens at his tick",
             "if (next <= event) {", "if (next < event) {"),
    Mutation("stage.c", 21, "a block takes the next one with it",
             "i < stage->block_first[block + 1]", "i < stage->block_first[block + 2]"),
    Mutation("stage.c", 21, "the first entry of a block stays as it is",
             "uint32_t i = stage->block_first[block];",
             "uint32_t i = stage->block_first[block] + 1;"),
    Mutation("stage.c", 21, "destinations are in the order of their LIDs",
             "stage->block_of[stage->block_first[sv__routes_block(r, d) + 1]++] = d;",
             "stage->block_first[sv__routes_block(r, d) + 1]++;\n    "
             "for (uint32_t d = 0; d < n; d++)\n        stage->block_of[d] = d;"),
    Mutation("stage.c", 21, "switches keep their lanes", "return sv__routes_take_lanes(",
             "return sv__is_switch(x, node.i) ? SV_OK : sv__routes_take_lanes("),
    Mutation("stage.c", 21, "adapters keep their lanes", "return sv__routes_take_lanes(",
             "return !sv__is_switch(x, node.i) ? SV_OK : sv__routes_take_lanes("),
    Mutation("stage.c", 21, "a message keeps its address",
             "    message->destination = changed.destination;\n", ""),
    Mutation("stage.c", 21, "a message keeps its SL", "    *sl = level;\n", ""),
    Mutation("stage.c", 21, "what is held back is opened",
             "        x->adapters[t].held = true;\n", ""),
    Mutation("stage.c", 21, "an adapter wakes a tick late",
             "x->adapters[terminal].channel, x->now);",
             "x->adapters[terminal].channel, x->now + 1);"),
    Mutation("stage.c", 21, "a call that is asked for is not made",
             "        x->stage->next = time;\n", "        (void)time;\n"),
    Mutation("stage.c", 21, "a call that is asked for in a call is not made",
             "stage->next = again < stage->next ? again : stage->next;", "stage->next = again;"),
    Mutation("stage.c", 22, "who is drained is not under way any more",
             "still = stage->coming.length;", "still = 0;"),
    Mutation("stage.c", 24, "arrivals are not settled before the director acts",
             "    sv__stage_settle(x, x->now);\n    stage->acting = true;",
             "    stage->acting = true;"),
    # ---- mishap.c ----
    Mutation("mishap.c", 22, "port 0 is no entry",
             "    if (port == 0)\n        return SV_TRACE_ASTRAY;",
             "    if (port == 0)\n        return SV_TRACE_NO_ENTRY;"),
    Mutation("mishap.c", 22, "a terminal takes what is not for it",
             "if (!sv__is_switch(x, to) && to != x->r->node[packet->destination].i)", "if (false)"),
    Mutation("mishap.c", 22, "what is dropped is gone before it has come over the cable",
             "{.from = packet->start + x->m->cable,", "{.from = packet->start,"),
    Mutation("mishap.c", 22, "what is dropped is gone when its link starts",
             ".rate = x->outputs[channel].byte,", ".rate = 1,"),
    Mutation("mishap.c", 22, "what is dropped frees another lane",
             "sv__credits_back(x, channel, packet->lane, ramp)",
             "sv__credits_back(x, channel, 0, ramp)"),
    Mutation("mishap.c", 10, "lanes do not depend on the input port, with a director",
             "sv_route_lanes(x->r, x->f, at, o->in_port, port)",
             "sv_route_lanes(x->r, x->f, at, 1, port)"),
    Mutation("mishap.c", 23, "every time round counts",
             "if (sv_bit(set, at.i) && !sv_bit(set, x->f->num_switches))",
             "if (sv_bit(set, at.i))"),
    Mutation("mishap.c", 23, "a packet has been where the one before it with its place was",
             "if (x->packets[p].hops == 0)", "if (false)"),
    Mutation("mishap.c", 23, "nobody remembers where packets have been",
             "    x->packets[p].hops = 1; /* that it has a set */\n", ""),
    Mutation("mishap.c", 24, "addresses are told apart",
             "(uint64_t)packet->from << 32 | to;",
             "(uint64_t)packet->from << 32 | packet->destination;"),
    Mutation("mishap.c", 24, "senders are not told apart",
             "(uint64_t)packet->from << 32 | to;", "to;"),
    Mutation("mishap.c", 24, "who comes after the last is not overtaken",
             "if (later > 0)", "if (later != 0)"),
    Mutation("mishap.c", 24, "the first to arrive is overtaken",
             ".overtaken = later < 0", ".overtaken = later <= 0"),
    Mutation("mishap.c", 24, "who arrives at a tick has arrived before it",
             "stage->coming.at[0].time < time", "stage->coming.at[0].time <= time"),
    # ---- run.c ----
    Mutation("run.c", 22, "what was dropped is waited for",
             "        gone += team->parts[i].arrived + team->parts[i].dropped;\n    }\n    for",
             "        gone += team->parts[i].arrived;\n    }\n    for"),
    Mutation("run.c", 22, "a run ends before the director's last call",
             "x->injected != x->arrived + x->dropped &&", "true &&"),
    Mutation("run.c", 24, "what arrives at the end is not told",
             "    if (x->stage != NULL)\n        sv__stage_settle(x, stop);\n", ""),
    # ---- what changes nothing ----
    Mutation("switch.c", 16, "at the beginning all pairs come after the last",
             "last != SV_NONE && pair <= last", "pair <= last",
             same="SV_NONE is larger than any pair: all get the same addition"),
    Mutation("switch.c", 12, "who lacked credits is remembered after a grant",
             "    c->there -= w.blocks;\n    c->need = 0;", "    c->there -= w.blocks;",
             same="looks that find nothing to do are all that follows"),
    Mutation("deadlock.c", 20, "an adapter's buffer is looked at like a switch's",
             "if (!sv__is_switch(x, x->outputs[packet->out].head))\n        return false;", "",
             same="packets never stand in queues there, so nothing is held and all fits"),
    Mutation("credits.c", 8, "a packet that starts as a credit goes is one it waits for",
             "sent->from <= time && time < sent->until", "sent->from < time && time < sent->until",
             same="what is free by the start of that packet is free by then either way"),
]

ORDER_MUTATIONS = [
    Mutation("events.c", 15, "of what is far ahead only one comes near at a time",
             "while (e->far.length > 0 && e->far.at[0].when >> e->shift == e->floor) {",
             "if (e->far.length > 0 && e->far.at[0].when >> e->shift == e->floor) {"),
    Mutation("events.c", 15, "what comes from far ahead is still there",
             "        e->near.at[e->near.length++] = event;\n        e->place[event.channel] = IN_NEAR;\n",
             "        e->near.at[e->near.length++] = event;\n"),
    Mutation("events.c", 15, "what takes a place in the middle of a heap only sinks",
             "if (at > 0 && earlier(last, e->far.at[(at - 1) / 4]))", "if (false)"),
    Mutation("events.c", 15, "what rises in a heap passes one place only",
             "    while (at > 0 && earlier(event, e->far.at[(at - 1) / 4])) {",
             "    if (at > 0 && earlier(event, e->far.at[(at - 1) / 4])) {"),
    Mutation("events.c", 15, "what moves in a heap is looked for where it was",
             "    e->place[event.channel] = at | IN_FAR;\n",
             "    if (e->place[event.channel] == SV_NONE)\n"
             "        e->place[event.channel] = at | IN_FAR;\n"),
    Mutation("events.c", 15, "what should sink in a heap stays at its top",
             "if (earlier(event, h->at[least]))", "if (at == 0 || earlier(event, h->at[least]))"),
    Mutation("events.c", 15, "what is far ahead comes first if a bucket is as near",
             "    near_sort(e);\n", "    if (b != far)\n        near_sort(e);\n"),
    Mutation("events.c", 15, "a bucket that was much out of order is sorted the other way round",
             "? -1 : 1;", "? 1 : -1;"),
    Mutation("events.c", 15, "a bucket that is much out of order stays so",
             "            qsort(at, length, sizeof *at, in_order);\n", ""),
    Mutation("events.c", 15, "what comes late for the present bucket waits a round",
             "if (b <= e->floor)", "if (b == e->floor)"),
    Mutation("events.c", 15, "in the present bucket what is taken out stays",
             "            near_cut(e, channel);\n", "            ;\n"),
    Mutation("events.c", 15, "the present bucket makes room and forgets where it begins",
             "        e->near_first = 0;\n", ""),
    Mutation("events.c", 15, "a bucket that was emptied by hand still counts",
             "    if (next == SV_NONE)\n        e->used[b / 64] &= ~((uint64_t)1 << (b & 63));\n", ""),
    Mutation("events.c", 15, "whoever leaves a bucket is still before the next",
             "    if (next != SV_NONE)\n        e->before[next] = before;\n", ""),
    Mutation("events.c", 15, "whoever joins a bucket is not known to the next",
             "        e->before[first] = channel;\n", "        ;\n"),
    Mutation("events.c", 15, "of the word in which a round begins the first half is looked at twice",
             "            bits &= ((uint64_t)1 << (first & 63)) - 1;\n", "            ;\n",
             same="the other half was empty when it was looked at"),
    Mutation("events.c", 15, "what is behind the present bucket is ahead by less than a round",
             "            bits &= ~(uint64_t)0 << (first & 63);\n", "            ;\n"),
    Mutation("events.c", 15, "buckets are counted from the end of the round",
             "return e->floor + 1 + ((b - first) & (e->buckets - 1));",
             "return (e->floor + 1) / e->buckets * e->buckets + b;"),
    Mutation("events.c", 15, "never is a time", "    if (time == SV_NEVER)\n        return;\n", ""),
    Mutation("events.c", 33, "arrivals come after channels",
             "sv__events_plan(x, terminal - x->events.base, time);",
             "sv__events_plan(x, x->f->num_channels - 1 - terminal, time);"),
]


def text_of(name):
    with open(os.path.join(ROOM, name)) as file:
        return file.read()


def affected(name):
    """The files to be compiled when one has changed."""
    if name.endswith(".c"):
        return [name]
    names = {name, "stage.h", "policy.h"} if name == "state.h" else {name}  # they include it
    return [file for file in sorted(os.listdir(ROOM)) if file.endswith(".c") and
            any('#include "simulate/%s"' % each in text_of(file) for each in names)]


class Shop(Builder):
    """Builds and runs simulators in folders of their own."""

    def __init__(self, folder):
        super().__init__("mutate_sim")
        self.folder = folder
        self.limit = 600  # seconds a run may take

    def make(self, number, mutation, test):
        """A test's program with a mutation (None: as it is); returns its name."""
        place = os.path.join(self.folder, str(number))
        copy = os.path.join(place, "simulate")
        shutil.copytree(ROOM, copy)
        if mutation is not None:
            with open(os.path.join(copy, mutation.file), "w") as file:
                file.write(text_of(mutation.file).replace(mutation.old, mutation.new))
        objects, what = [], mutation.what if mutation else "the simulator as it is"
        for name in affected(mutation.file if mutation else "state.h"):
            objects.append(os.path.join(place, name + ".o"))
            self.compile(os.path.join(copy, name), objects[-1], what, [place])
        program = os.path.join(place, "program")
        self.link([*objects, *self.build[test]], program, what)
        return program

    def run(self, program, only):
        """Whether it came through, and what happened otherwise."""
        try:
            done = subprocess.run([program, str(TRIALS), str(SEED), *only],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=self.limit)
        except subprocess.TimeoutExpired:
            return False, "caught: no end after %d s" % self.limit
        output = done.stdout.decode(errors="replace")
        if done.returncode == 0:
            return True, "came through"
        seed = re.search(r"oracle_test_\w+ 1 (\d+)", output)
        after = "after %5d" % (int(seed.group(1)) - SEED + 1) if seed else "somewhere"
        crash = done.returncode < 0 or "exception" in output
        return False, "caught %s%s" % (after, ", by a crash" if crash else "")

    def judge(self, number, mutation, test="object"):
        if mutation in POLICY_MUTATIONS:
            test = "policy"
        elif mutation in ORDER_MUTATIONS:
            test = "order"
        program = self.make(number, mutation, test)
        changing = mutation and (mutation.rule > 20 or mutation.file in DIRECTED)
        only = ["changing" if changing else "still"] if mutation and test == "object" else []
        passed, verdict = self.run(program, only)
        shutil.rmtree(os.path.dirname(program))
        return passed, verdict


def main():
    mutations = [m for m in MUTATIONS + ORDER_MUTATIONS + POLICY_MUTATIONS
                 if not FILES or m.file in FILES or
                 ("policies" in FILES and m in POLICY_MUTATIONS)]
    check(mutations, text_of)
    with tempfile.TemporaryDirectory(prefix="selvage-mutate-") as folder:
        shop = Shop(folder)
        begin = time.monotonic()
        for test in ("object", "order", "policy"):
            passed, verdict = shop.judge("present", None, test)
            if not passed:
                raise SystemExit("the simulator as it is: %s" % verdict)
        took = time.monotonic() - begin
        shop.limit = max(10, round(6 * took))
        print("The simulator as it is: %d trials passed, seed %d, %.1f s" % (TRIALS, SEED, took))
        wrong = 0
        for mutation, (passed, verdict) in judge_all(shop.judge, mutations):
            if passed != (mutation.same is not None):
                wrong += 1
                verdict = verdict.upper()
            print("%-30s %-11s rule %2d  %s%s" % (
                verdict, mutation.file, mutation.rule, mutation.what,
                ": " + mutation.same if mutation.same else ""), flush=True)
    counted = sum(m.same is None for m in mutations)
    print("%d wrong simulators, %d that change nothing; %d not as they should; %.0f s" % (
        counted, len(mutations) - counted, wrong, time.monotonic() - begin))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
