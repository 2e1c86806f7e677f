"""Mutants of distributed routing balancing. Each breaks a point of docs/decisions/0028-policies.md
(its rule is that point's number), or the formats of packets, which oracle_test_adapt_drb works out
a second time.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_drb.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.marks import drop, expr, operand, stmt, term, through, token  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "drb": ("drb", "600", "1"),
    "unit_decide": ("unit_decide",),
    "unit_store": ("unit_store",),
    "unit_drb": ("unit_drb",),
}
drb = partial(mutant, by="drb")
unit_decide = partial(mutant, by="unit_decide")
unit_drb = partial(mutant, by="unit_drb")

MUTANTS = [
    # ---- paths, latencies, zones ----
    drb("paths_less", 1, "one path less than there may be", term("$0 + 1")),
    drb("order_last", 2, "candidates from the last on", term("p->num_order - 1 - $0")),
    drb("smooth_first", 3, "the first acknowledgement is smoothed, too", expr("$2")),
    drb("smooth_share", 3, "the share is that of what was known",
        operand("$2.1 * $1.2 + $1.1 * $2.2")),
    drb("opened_heard", 3, "a path that is opened was heard of", term("$0, .heard = true")),
    drb("empty_path", 3, "paths take as long empty as path 0", expr("p->base")),
    drb("empty_payload", 3, "packets without payload are what counts",
        term("$0 - a->model.mtu_bytes")),
    drb("meta_best", 4, "the metapath's latency is that of its best path",
        stmt("$1 = $1 > $2 ? $1 : $2;")),
    drb("zones_one", 5, "high and low are one", expr("$2")),
    drb("high_first", 5, "thresholds are of the metapath's first latency, not of path 0 empty",
        term("sv__open_latency(&p->meta.at[0])")),
    drb("probe_none", 6, "paths are opened though the last was not heard of", operand("0")),
    drb("probe_any", 6, "any acknowledgement is one of the path that was opened",
        operand("$1 != SV__NO_PATH")),
    drb("close_none", 6, "nothing is closed", stmt("return; $0")),
    drb("close_medium", 6, "closed where it is medium, too", operand("$1 <= SV__MEDIUM")),
    drb("draw_even", 7, "all paths are as likely", operand("$1.1 * m->count < i + 1")),
    drb("draw_slow", 7, "slow paths are the likely ones", term("m->count - 1 - $0")),
    unit_drb("draw_same", 7, "it is the same draw each time", expr("0.3")),
    # ---- acknowledgements and watchdogs ----
    drb("ack_all", 8, "all packets are acknowledged", expr("true")),
    drb("ack_waited", 8, "acknowledgements tell nothing of waiting", drop()),
    drb("ack_late", 8, "acknowledgements are sent a tick later", term("$0 + 1")),
    drb("span_first", 9, "only the first packet of a message counts", drop()),
    drb("span_back", 9, "the way back does not count", term("(double)there")),
    drb("back_there", 9, "the way back is as long as the way there", expr("$2")),
    drb("adapter_fast", 9, "adapters are as fast as links", term("$1")),
    drb("younger_alone", 9, "younger messages begin anew alone", term("1")),
    drb("alarm_holds", 9, "alarms of messages that were acknowledged hold", through(":")),
    drb("alarm_all", 9, "alarms of messages that are all acknowledged hold", expr("false")),
    drb("alarm_once", 9, "a watchdog runs out once",
        stmt("if (oldest->since == now) return SV_OK; $0")),
    drb("ack_oldest", 9, "any acknowledgement is of the oldest", expr("$1.1")),
    drb("ack_message", 9, "packets that choose for themselves know their message", through(":")),
    drb("ack_each", 9, "each packet acknowledges its message", drop()),
    drb("late_trial", 9, "late acknowledgements end trials", through(":"), seed=42),
    drb("late_probe", 9, "nobody is late as long as a path was not heard of",
        operand("$0 || p->probe != SV__NO_PATH"), at="late_trial"),
    # ---- contending flows ----
    drb("contend_one", 10, "one flow contends", token("1")),
    drb("share_packets", 10, "flows count by packets", term("1")),
    drb("share_granted", 10, "the packet that leaves does not count", drop()),
    drb("share_min", 10, "those that contribute least", token("<")),
    drb("share_any", 10, "small shares count", operand("true")),
    drb("look_free", 10, "looks do not wait for each other", operand("1")),
    drb("look_apart", 10, "looks are as far apart whatever was seen", drop()),
    drb("look_once", 10, "what was seen is told once",
        stmt("if (b->looked[out.i] != now + b->look * b->found.count) return SV_OK; $0")),
    drb("carry_more", 11, "packets that carry flows are looked for others", term("0")),
    drb("look_control", 11, "control packets are looked for, too", through("||")),
    drb("carry_again", 11, "what was told once is told again", drop()),
    drb("carry_first", 11, "the first flows stay", term("$0 && p->carried == 0")),
    drb("notice_one", 11, "only one source is told", stmt("if (i > 0) continue; $0")),
    drb("notice_each", 11, "a source is told for each of its flows", expr("0")),
    drb("ack_length", 11, "acknowledgements with flows are no longer", drop()),
    drb("flows_room", 11, "there is no room for flows", term("0")),
    drb("notice_first", 11, "a notice is for the first pair of its source", stmt("return $1;")),
    drb("notice_address", 11, "a notice is for the first address of a destination",
        term("a->r->first[to] + 1")),
    drb("file_twice", 14, "a better solution of a file is counted twice", drop(), seed=62),
    # ---- solutions ----
    drb("alike_smaller", 12, "similarity by the smaller set", token("<")),
    drb("alike_above", 12, "alike is above", token(">")),
    drb("alike_first", 13, "the first that is alike", operand("best == NULL"), seed=62),
    drb("alike_newest", 13, "of several the newest", operand("$1 >= $2 && $1 > 0"),
        at="alike_first", seed=62),
    drb("flows_older", 13, "flows of other times count", drop()),
    drb("flows_late", 13, "flows that come late do not count", drop()),
    drb("flows_newest", 13, "the newest flows count, not the first", operand("!p->asked")),
    drb("paths_anew", 13, "paths that are open begin anew",
        operand("sv__metapath_open(&made, path, empty_of(b, p, path), s->paths[i].waited)"),
        seed=62),
    drb("paths_empty", 13, "a solution's paths begin empty", term("0")),
    drb("open_applied", 13, "what is open already is applied", term("0")),
    drb("open_failed", 13, "what is open already has not failed", drop()),
    drb("trial_longer", 13, "a trial is one longer", term("$0 + 1")),
    drb("fail_never", 13, "solutions do not fail", drop()),
    drb("probe_solution", 13, "a solution's path is waited for", drop(), seed=266),
    drb("notice_episode", 13, "notices do not care for episodes", drop(), seed=266),
    drb("notice_zone", 13, "a notice that is applied is no episode", drop()),
    drb("keep_alone", 14, "path 0 alone is kept", drop()),
    drb("keep_newest", 14, "the newest is the best", expr("0")),
    drb("keep_failed", 14, "what failed stays", expr("$1 && $2"), at="keep_newest"),
    drb("fail_ever", 14, "what failed once has failed for ever", drop()),
    drb("keep_medium", 14, "kept whenever it is not high", operand("$1 != SV__LOW")),
    # ---- the trend ----
    drb("trend_falls", 15, "a line that falls", token("!=")),
    drb("trend_fewer", 15, "through fewer samples", term("2")),
    drb("trend_now", 15, "where it is now", token("0")),
    drb("trend_ahead", 15, "ahead by what it takes there", term("p->base")),
    drb("trend_kept", 15, "nothing is forgotten", drop()),
    # ---- unasked ----
    drb("held_closed", 17, "what was applied unasked is closed", term("1")),
    drb("held_failed", 17, "held though it has failed", drop(), seed=171),
    drb("held_other", 17, "another solution ends what is held", stmt("$0 p->held = false;"),
        seed=106),
    drb("alone_opens", 17, "path 0 alone opens paths", expr("0")),
    drb("held_opens", 17, "what is held opens no paths", expr("$1"), at="alone_opens", seed=65),
    drb("oldest_alone", 17, "the oldest, path 0 alone or not", expr("$1")),
    drb("oldest_failed", 17, "failed ones, too", through("&&"), at="oldest_alone", seed=389),
    drb("alone_failed", 17, "path 0 alone that has failed", through("&&"), seed=389),
    drb("alone_never", 17, "never path 0 alone", token("NULL")),
    unit_decide("last_never", 17, "the oldest, not the last", expr("0")),
    drb("last_failed", 17, "the last though it has failed", expr("$1"), at="last_never", seed=389),
    drb("alone_applied", 17, "path 0 alone is applied", operand("1")),
    drb("alone_counts", 17, "path 0 alone counts", operand("1")),
    drb("ask_packet", 17, "before every packet", through("&&"), seed=521),
    drb("ask_always", 17, "asked or not", term("b->predictive")),
    # ---- packets as bytes (Figs. 3.16 to 3.18) ----
    drb("wire_via", None, "formats: the second via is the first", token("0")),
    drb("wire_id", None, "formats: Header_id has one bit", token("1")),
    drb("wire_ticks", None, "formats: latencies are ticks", drop()),
    drb("wire_final", None, "formats: acknowledgements have no F",
        term("(uint32_t)(header->final && !header->ack)")),
    drb("wire_sequence", None, "formats: MPI_sequence tells no path", term("$0 & ~0xffu")),
    drb("wire_router", None, "formats: router ids begin with 0", term("(uint16_t)($0 - ($0 > 0))")),
    drb("wire_flows", None, "formats: flows without what is reserved", term("$0 - 2")),
    # ---- kinds ----
    drb("kind_fr", None, "fr-drb is drb", token("false")),
    drb("kind_pr", None, "pr-drb is pr-fr-drb", token("true")),
    drb("kind_pr_fr", None, "pr-fr-drb is pr-drb", token("false")),
    drb("kind_drb", None, "drb is fr-drb", token("true")),
]

SUITE = Suite("drb", "distributed routing balancing", TESTS, MUTANTS,
              ["tests/oracle/mutate_drb.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
