"""Mutants of the fast simulator, which the slow one must find.

Each breaks a rule of docs/simulator.md. One that comes through the trials that the simulator passes
is a hole in the tests: sim_case.c draws what nobody needs to get right. What only directors need is
tried with tables that change (changing), the rest with tables that do not (still); what simulations
seldom or never meet in the order of events, with oracle_test_events (order); policies are in
policy_mutants.py.

Some changes make no difference to anything that can be seen. They say why, and must come through.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_sim.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from oracle.policy_mutants import POLICY_MUTANTS  # noqa: E402
from support.marks import (drop, expr, member, operand, stmt, swap,
                           term, through, token)  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "still": ("sim", "1000", "1", "still"),
    "changing": ("sim", "1000", "1", "changing"),
    "order": ("order", "1000", "1"),
    "policy": ("policy", "1000", "1"),
}
still = partial(mutant, by="still")
changing = partial(mutant, by="changing")
order = partial(mutant, by="order")

MUTANTS = [
    # ---- switches ----
    still("voq_none", 9, "virtual output queues are not kept apart", term("true")),
    still("voq_vls", 9, "virtual output queues of different VLs are one", drop()),
    still("first_early", 9, "the next of a queue is first at the tick of the grant", term("$1")),
    still("queue_last", 9, "of a queue with several the last does not move on", drop()),
    still("vl_in_port", 10, "VLs do not depend on the input port", term("1")),
    still("vl_kept", 10, "a packet keeps the VL it came by", term("packet->vl")),
    still("delay_none", 11, "a switch takes no time", drop()),
    still("ready_pace", 11, "whether a packet can run through goes by the next link's pace",
          member("byte")),
    still("way_last", 12, "of an input's ways the one taken is the one free last", token(">")),
    still("way_any", 12, "an input has as many ways as it wants", expr("$2")),
    still("way_block", 12, "a way is free again as soon as the first block is across",
          term("x->now + sv__block_end(packet.length, 1) * o->cross")),
    still("entry_link", 12, "a port's entry is free when its link is",
          term("sv__max($0, o->link_free)")),
    still("room_small", 12, "large packets are granted where small ones have room", expr("false")),
    still("lack_all", 12, "for whom credits are lacking, they are for all on that VL",
          operand("true")),
    still("look_late", 12, "a packet that becomes first is looked at a tick late", term("$0 + 1")),
    still("input_link", 13, "input blocks are free when they leave the switch", expr("start"),
          member("byte")),
    still("input_pace", 13, "input blocks are free at the link's pace", member("byte")),
    still("link_now", 14, "a link starts with what is not across yet", operand("$1")),
    still("link_whole", 14, "a link starts only when all of a packet is across",
          operand("crossed"), at="link_now"),
    still("room_now", 14, "places in an output buffer are free from the grant on", term("x->now")),
    still("switch_inband", 4, "a switch's link leaves no time for flow control",
          term("(uint64_t)packet.length")),
    still("grant_credit", 7, "a grant takes a credit too few", term("$0 - ($0 > 1)")),
    still("credit_inband", 8, "credits wait for flow control in band as for packets",
          term("(uint64_t)(packet->length + x->m->inband_bytes)")),
    still("pair_vl", 16, "pairs are ordered by VL, then by port", operand("$2 * 256u + $1.1")),
    still("pair_again", 16, "the pair granted last comes first again", token("<")),
    still("pair_vls", 16, "a port remembers one pair for all VLs",
          stmt("for (uint32_t l = 0; l < x->m->vls; l++) x->last_pair[(size_t)out * "
               "x->m->vls + l] = $2;")),
    still("vl_min", 16, "switches grant the smallest VL",
          term("(unsigned)__builtin_ctzll($3)")),
    # ---- credits ----
    still("pause_work", 18, "an adapter works through its pauses, as far as the clock goes",
          term("$2")),
    still("pause_edge", 18, "what is done as a pause begins is done when it is over",
          operand("work / busy * m->period + work % busy")),
    still("pause_none", 18, "draining has no pauses", expr("true")),
    still("block_short", 3, "a short last block takes as long as others",
          term("(uint64_t)sv__blocks(ramp->length) * SV__BLOCK")),
    still("block_late", 8, "the last block is free a tick late", token(">")),
    still("room_cross", 14, "places in an output buffer are free as they cross", member("cross")),
    still("room_forget", 14, "an output buffer that lacks room forgets what is free already",
          drop()),
    still("sent_forget", 8, "packets that credits wait for are forgotten when they have left",
          drop()),
    still("sent_end", 8, "a credit waits for a packet that has just ended", token("<=")),
    still("inband_own", 8, "credits in band wait for packets of their own direction", term("$1")),
    still("inband_free", 8, "credits in band do not wait", expr("NULL")),
    still("inband_time", 8, "credits in band take no time of their own", drop()),
    still("free_first", 12, "of several packets that free blocks the first has to free them all",
          operand("$1.1 - $1.2")),
    still("credit_just", 12, "credits that just suffice are never heard of", token("<=")),
    still("need_max", 12, "who needs most is heard of, not who needs least", token(">")),
    still("need_none", 12, "nobody is told that credits come back", operand("false")),
    still("drain_pauses", 19, "credits of an adapter come back through its pauses", term("false")),
    # ---- adapters ----
    still("open_more", 17, "an adapter has one message more open", token("<=")),
    still("open_early", 17, "messages are opened before they are ready", drop()),
    still("open_last", 17, "the message opened last goes first",
          stmt("{ x->opened[i].next = box->first; box->first = $2; } if (x->opened[i].next == "
               "SV_NONE)")),
    still("open_first", 17, "a message is not open any more when its first packet is sent",
          stmt("} if (x->cargo[p].injected == x->now) $0 if (packet->last) {")),
    still("last_full", 2, "a message of full packets has an empty one at its end",
          operand("payload < x->m->mtu_bytes")),
    still("credit_header", 2, "a packet's payload makes its credits", operand("$1")),
    still("credit_full", 17, "an adapter waits for credits of a full packet",
          term("x->m->mtu_bytes"), at="credit_header"),
    still("adapter_inband", 4, "an adapter's link leaves no time for flow control",
          term("(uint64_t)length")),
    still("inject_header", 17, "headers come to the adapter for nothing", term("($0 - x->header)")),
    still("inject_link", 17, "injecting takes no longer than the link", term("$1")),
    still("inject_min", 16, "adapters inject the smallest VL",
          term("(unsigned)__builtin_ctzll($3)")),
    still("ready_waits", 17, "what becomes ready while others wait for credits is not looked at",
          operand("$0 && a->vls == 0")),
    still("idle_asked", 17, "who had nothing to send is not asked again", drop()),
    still("drain_beside", 18, "packets are drained side by side", term("$2")),
    still("drain_delay", 18, "an adapter takes a switch's time", term("x->m->switch_delay + $0")),
    still("drain_pace", 18, "draining waits until it can go on at the crossbar's pace",
          term("o->cross")),
    still("drain_early", 19, "the next packet is drained while a pause would go on",
          term("from + (uint64_t)packet->length * drain")),
    still("drain_ready", 19, "credits of an adapter come back from when a packet was ready",
          token("ready")),
    # ---- arbitration ----
    still("entry_on", 16, "an entry goes on when nothing is left to it", through("&&")),
    still("entry_weight", 16, "an entry gets no new weight", drop()),
    still("entry_again", 16, "the current entry is the first to be tried again", term("$0 - 1")),
    still("entry_round", 16, "the search does not come back to the current entry", token("<")),
    still("entry_zero", 16, "entries without weight are served", through("&&"), seed=128),
    still("arb_swapped", 16, "switches use the tables of adapters and the other way round", swap()),
    still("limit_blocks", 16, "the limit counts blocks", through("*")),
    still("limit_zero", 16, "with a limit of 0 the low list goes first", token("0")),
    still("limit_255", 16, "a limit of 255 is one", drop()),
    still("high_kept", 16, "what the high list has sent is not forgotten", expr("$1 ? $2 : $2.1")),
    still("limit_packets", 16, "the limit counts packets", token("1")),
    still("left_below", 16, "what is left to an entry falls below 0", expr("$2")),
    still("left_packet", 16, "a packet counts as one block", expr("$2.1 - 1"), at="left_below"),
    still("low_moves", 16, "the low list moves on when it is not taken",
          stmt("if (has_low) { turn->low_at = (uint8_t)low; turn->low_left = low_left; } $0")),
    still("turn_last", 16, "the VL granted last is the first in turn",
          operand("$1 >> $2.1 << $2.1")),
    still("turn_none", 16, "no VL is remembered", drop()),
    # ---- events ----
    still("tick_order", 15, "what is looked at at one tick comes in descending order", token(">")),
    still("look_later", 15, "a look is put off by a later one", drop()),
    still("round_cut", 15, "what lies nearly a round of buckets ahead is overlooked", token("<"),
          seed=152),
    still("far_near", 15, "what is far ahead is put among what is near", operand("true")),
    still("bucket_order", 15, "a bucket is taken in the order in which it was filled", drop()),
    still("bucket_end", 15, "what is planned for the present bucket goes to its end",
          term("$1->near.length")),
    still("bucket_far", 15, "a bucket waits if something far away has come into it", token("<"),
          token("<")),
    still("heap_three", 15, "of a node's four children in a heap three are looked at",
          expr("$1.1.1 + 3 < $1.2 ? $1.1.1 + 3 : $3")),
    still("bucket_lost", 15, "a bucket from which the first is taken loses all", token("SV_NONE")),
    # ---- deadlocks ----
    still("fits_just", 20, "a packet that just fits does not", token("<="), seed=150),
    still("stuck_vl", 20, "the VL of the next buffer is that of this one", member("vl")),
    still("stuck_front", 20, "with the first of a queue all are free", term("SV_NONE"), seed=363),
    still("stuck_again", 20, "room that is made is not looked at again", operand("false")),
    still("held_block", 20, "packets in a buffer count one block", term("1")),
    still("held_first", 20, "only the first of each queue holds anything", term("SV_NONE")),
    # ---- what is set up ----
    still("width_4x", 1, "a narrow link is as fast as one of 4X", operand("$1")),
    still("fdr_speed", 1, "FDR is as fast as 14 Gbit/s by 8b/10b",
          operand("$0 * (link->speed == SV_SPEED_FDR ? 288 : 264) / 264"), at="width_4x"),
    still("cross_link", 11, "the crossbar is as fast as the link", operand("$2")),
    still("cross_zero", 11, "a crossbar may take no time at all", term("(uint32_t)$2")),
    still("cross_up", 11, "the speed-up is rounded up", operand("($1 * $2 + $3 - 1) / $3"),
          at="cross_link"),
    still("credit_lacks", 7, "a credit is lacking from the beginning",
          term("$0 - ($0 > sv__blocks(x->m->mtu_bytes + x->m->header_bytes))")),
    still("output_size", 14, "an output buffer is as large as an input buffer", member("input")),
    still("in_port_own", 16, "ports are told apart by the other end's number", term("$1")),
    still("weight_first", 16, "the first entry begins with nothing left to it", through(":")),
    # ---- blocks and links ----
    still("blocks_empty", 3, "whole blocks have one more, empty", operand("$1.1 / $2 + 1")),
    still("block_long", 3, "the last block is as long as others", expr("$2")),
    still("wait_before", 11, "the last block but one is never the one to wait for", term("$1")),
    still("wait_last", 11, "the last block is never the one to wait for", term("$2"),
          at="wait_before"),
    still("wait_first", 11, "a packet waits for its first block alone", expr("false")),
    still("cable_none", 5, "cables have no length", drop()),
    # ---- directors ----
    changing("act_after", 21, "a director acts after what happens at his tick", token("<")),
    changing("block_next", 21, "a block takes the next one with it", token("2")),
    changing("entry_first", 21, "the first entry of a block stays as it is", term("$0 + 1")),
    changing("block_lids", 21, "destinations are in the order of their LIDs",
             stmt("direction->block_first[sv__routes_block(r, d) + 1]++; for (uint32_t d = 0; d < "
                  "n; d++) direction->block_of[d] = d;")),
    changing("vls_switch", 21, "switches keep their VLs",
             term("sv__is_switch(x, node.i) ? SV_OK : $0")),
    changing("vls_adapter", 21, "adapters keep their VLs",
             term("!sv__is_switch(x, node.i) ? SV_OK : $0"), at="vls_switch"),
    changing("told_address", 21, "a message keeps its address", drop()),
    changing("told_sl", 21, "a message keeps its SL", drop()),
    changing("held_opened", 21, "what is held back is opened", drop()),
    changing("wake_late", 21, "an adapter wakes a tick late", term("$0 + 1")),
    changing("call_lost", 21, "a call that is asked for is not made", stmt("(void)$2;")),
    changing("call_again", 21, "a call that is asked for in a call is not made", expr("$2")),
    changing("drained_gone", 22, "who is drained is not under way any more", term("0")),
    changing("settle_first", 24, "arrivals are not settled before the director acts", drop()),
    # ---- what goes astray, what is dropped ----
    changing("port_zero", 22, "port 0 is no entry", token("SV_TRACE_NO_ENTRY")),
    changing("astray_taken", 22, "a terminal takes what is not for it", expr("false")),
    changing("drop_cable", 22, "what is dropped is gone before it has come over the cable", drop()),
    changing("drop_start", 22, "what is dropped is gone when its link starts", term("1")),
    changing("drop_vl", 22, "what is dropped frees another VL", term("0")),
    changing("incident_in_port", 10, "VLs do not depend on the input port, with a director",
             term("1")),
    changing("loop_every", 23, "every time round counts", drop()),
    changing("loop_before", 23, "a packet has been where the one before it with its place was",
             operand("false")),
    changing("loop_forgets", 23, "nobody remembers where packets have been", drop()),
    changing("pair_address", 24, "addresses are told apart", term("packet->destination")),
    changing("pair_sender", 24, "senders are not told apart", through("|")),
    changing("late_last", 24, "who comes after the last is not overtaken", token("!=")),
    changing("late_first", 24, "the first to arrive is overtaken", token("<=")),
    changing("late_tick", 24, "who arrives at a tick has arrived before it", token("<=")),
    # ---- the end of runs ----
    changing("dropped_waits", 22, "what was dropped is waited for", drop()),
    changing("end_early", 22, "a run ends before the director's last call", operand("true")),
    changing("end_arrivals", 24, "what arrives at the end is not told", drop()),
    # ---- what changes nothing ----
    still("pair_none", 16, "at the beginning all pairs come after the last", through("&&"),
          same="SV_NONE is larger than any pair: all get the same addition"),
    still("need_kept", 12, "who lacked credits is remembered after a grant", drop(),
          same="looks that find nothing to do are all that follows"),
    still("stuck_adapter", 20, "an adapter's buffer is looked at like a switch's", drop(),
          same="packets never stand in queues there, so nothing is held and all fits"),
    still("sent_start", 8, "a packet that starts as a credit goes is one it waits for", token("<"),
          same="what is free by the start of that packet is free by then either way"),
]

ORDER_MUTANTS = [
    order("far_one", 15, "of what is far ahead only one comes near at a time", token("if")),
    order("far_place", 15, "what comes from far ahead is still there", drop()),
    order("heap_sinks", 15, "what takes a place in the middle of a heap only sinks", expr("false")),
    order("heap_once", 15, "what rises in a heap passes one place only", token("if")),
    order("heap_moved", 15, "what moves in a heap is looked for where it was",
          stmt("if ($1 == SV_NONE) $0")),
    order("heap_top", 15, "what should sink in a heap stays at its top", term("at == 0 || $0")),
    order("far_bucket", 15, "what is far ahead comes first if a bucket is as near",
          stmt("if (b != far) $0"), at="bucket_order"),
    order("sort_reverse", 15, "a bucket that was much out of order is sorted the other way "
                              "round", swap()),
    order("sort_none", 15, "a bucket that is much out of order stays so", drop()),
    order("late_round", 15, "what comes late for the present bucket waits a round", token("==")),
    order("cut_none", 15, "in the present bucket what is taken out stays", drop()),
    order("near_begin", 15, "the present bucket makes room and forgets where it begins", drop()),
    order("bucket_used", 15, "a bucket that was emptied by hand still counts", drop()),
    order("list_before", 15, "whoever leaves a bucket is still before the next", drop()),
    order("list_joins", 15, "whoever joins a bucket is not known to the next", drop()),
    order("round_twice", 15, "of the word in which a round begins the first half is looked at "
                             "twice", drop(),
          same="the other half was empty when it was looked at"),
    order("round_behind", 15, "what is behind the present bucket is ahead by less than a round",
          drop()),
    order("round_count", 15, "buckets are counted from the end of the round",
          operand("($1 + $2) / e->buckets * e->buckets + b")),
    order("never_time", 15, "never is a time", drop()),
    order("arrive_after", 33, "arrivals come after channels",
          operand("x->f->num_channels - 1 - $1")),
]

SUITE = Suite("sim", "the simulator", TESTS, MUTANTS + ORDER_MUTANTS + POLICY_MUTANTS,
              ["tests/oracle/mutate_sim.py", "tests/oracle/policy_mutants.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
