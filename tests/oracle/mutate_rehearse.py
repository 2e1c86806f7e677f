"""Mutants of rehearsals: a manager that does not wait, a terminal that answers too early, counts
that are off by one.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_rehearse.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.marks import drop, expr, operand, term, through, token  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "unit": ("unit", "100", "1"),
    "oracle": ("oracle", "100", "1"),
}
unit = partial(mutant, by="unit")
oracle = partial(mutant, by="oracle")

MUTANTS = [
    # ---- datagrams ----
    unit("copy_late", None, "a late copy may come in the next step", through(":")),
    unit("send_once", None, "nothing is sent again", drop()),
    unit("window_more", None, "the window is one too large", token("<=")),
    unit("answer_early", None, "a terminal answers before its packets have arrived", drop()),
    unit("switch_ever", None, "a switch is asked for ever", expr("$1.1 > 100")),
    unit("blocks_each", None, "blocks count every time they come", term("1")),
    unit("loss_none", None, "nothing is lost", operand("$1 > 1000")),
    unit("delay_longer", None, "delays are one longer", token("1")),
    # ---- steps ----
    unit("step_waits", None, "the next step does not wait for packets of before", expr("true")),
    unit("silent_untold", None, "those who must be silent are not told", term("false")),
    unit("speak_untold", None, "nobody is told that it may speak again", drop()),
    unit("broken_speak", None, "pairs without an old path are not silent", expr("$3")),
    unit("step_last", None, "a step writes what the last one makes of the tables",
         operand("memcpy(row, x->after->ports[e->destination], x->f->num_switches)")),
    unit("vls_kept", None, "VLs do not change", expr("false")),
    unit("fail_unseen", None, "who fails is not noticed", term("false")),
    # ---- pairs ----
    unit("drained_told", None, "drained is who has been told", operand("true")),
    unit("high_sl", None, "who comes back from high addresses keeps its SL", drop()),
    unit("silent_sl", None, "who was silent keeps its SL", drop()),
    unit("sl_begin", None, "new SLs are told from the beginning", term("$0 + 1000")),
    unit("ask_message", None, "connections ask for each message", expr("true")),
    unit("silence_early", None, "silence ends a step early", drop()),
    unit("left_base", None, "a new pair of a terminal that left is on base addresses",
         term("false")),
    unit("ack_free", None, "the sender's knowledge comes for free", expr("$1 ? $3 : $2.2")),
    unit("held_uncounted", None, "waiting is not counted", drop()),
    # ---- applications ----
    unit("rank_one", None, "one rank speaks for all", token(">")),
    unit("dead_answers", None, "dead applications answer", token("false")),
    unit("flows_early", None, "flows begin before the subscription is confirmed", drop()),
    # ---- counts ----
    oracle("left_kinds", None, "packets that have left do not count as of their time", drop()),
    oracle("mixed_self", None, "a packet is mixed with itself", drop()),
    oracle("phase_end", None, "what arrives at the end of a phase is of that", token(">")),
    unit("settle_none", None, "nobody waits for packets of before", term("0")),
    oracle("pathless_count", None, "those without a path count, too", through("&&")),
    unit("dropped_ever", None, "a dropped message is under way for ever", drop()),
    unit("rest_time", None, "the end counts what leaves an empty fabric", drop()),
    oracle("tag_seen", None, "sources see our tags", drop()),
    unit("traffic_ends", None, "traffic does not end", drop()),
]

SUITE = Suite("rehearse", "rehearsals", TESTS, MUTANTS, ["tests/oracle/mutate_rehearse.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
