"""Mutants of how stores are worked out from traces. Each breaks "Stores from traces" of
docs/decisions/0028-policies.md.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_seed.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.marks import (drop, expr, member, operand, stmt, swap,
                           term, through, token)  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "seed": ("seed", "300", "1"),
}
seed = partial(mutant, by="seed")

MUTANTS = [
    # ---- flows ----
    seed("steps_one", None, "all steps are one", operand("$1.1.2 == 0")),
    seed("phase_any", None, "phases that are not relevant count, too", term("true")),
    seed("bytes_none", None, "messages without bytes weigh nothing", drop()),
    seed("flow_steps", None, "a flow is in the steps of its first pair of ranks", drop()),
    seed("flow_bytes", None, "a flow has the bytes of its first pair of ranks", drop()),
    seed("flow_all", None, "a flow weighs in each step what it does in all", operand("$1 + $2.1")),
    seed("flow_rounds", None, "what is rounded down is not made up for", through("+"),
         at="flow_all"),
    seed("flows_light", None, "light flows come first", swap()),
    seed("flows_pair", None, "flows come by pair alone", drop()),
    # ---- ways ----
    seed("cand_two", None, "two candidates a path", token("2")),
    seed("cand_fewer", None, "fewer candidates", token("24"), token("24")),
    seed("seed_other", None, "ways are those of another seed", term("$0 + 1")),
    seed("paths_three", None, "three paths if nobody says", token("3")),
    seed("flows_asked", None, "flows that are asked for do not matter", operand("false")),
    # ---- loads ----
    seed("load_all", None, "a flow is on its channels in all steps", through("&&")),
    seed("load_ends", None, "ends count as the way", term("($1.1 = 0; $2.1.1 < $2.2; $3)")),
    seed("load_last", None, "the last channel between switches does not count", token("2")),
    seed("busy_any", None, "a way is as busy as in any step", through("&&")),
    seed("crowd_equal", None, "a flow that is as busy as its ends is crowded", token(">=")),
    seed("crowd_one", None, "one end that is less busy is enough", swap()),
    seed("crowd_others", None, "a flow is crowded in steps of others", through("&&")),
    seed("crowd_step", None, "the first end is as busy as in the first step", token("0")),
    # ---- laying ----
    seed("stay_none", None, "nobody stays", term("true")),
    seed("lie_both", None, "flows lie on path 0 as well", drop()),
    seed("rounds_one", None, "flows are laid once", token("1")),
    seed("rounds_three", None, "flows are laid three times", token("3"), at="rounds_one"),
    seed("lie_again", None, "what is laid anew lies where it was, too", operand("0")),
    seed("length_any", None, "of ways as busy the longer ones are as good", term("false")),
    seed("length_last", None, "of ways as busy the last is taken", token("<=")),
    seed("length_first", None, "short ways come first",
         operand("($0 && w->length <= best->length)")),
    seed("used_zero", None, "path 0 does not count as used", term("$0 - (flow->ways->pieces > 0)")),
    seed("pieces_one", None, "all pieces of a flow weigh as much as one", stmt("if (k == 0) $0")),
    # ---- solutions ----
    seed("path_left", None, "path 0 is left out if nothing lies on it", through("&&")),
    seed("piece_half", None, "path 0 has half a piece if nothing lies on it", token("0.5")),
    seed("latency_one", None, "the latency is that of one path", drop()),
    seed("wait_latency", None, "waits are latencies", drop()),
    seed("longest_last", None, "the longest is that of the last path", expr("$2")),
    seed("full_bare", None, "packets are full without headers", term("x->a->model.mtu_bytes")),
    # ---- patterns ----
    seed("told_contend", None, "who is told decides whether a channel is contended",
         term("$0 || pattern->count == x->a->set.flows")),
    seed("source_self", None, "a source contends with itself", operand("pattern->count > 1")),
    seed("told_steps", None, "flows of other steps are told of", drop()),
    seed("found_end", None, "a pattern is found at the end of its channel", member("head")),
    seed("pattern_order", None, "flows of a pattern are not in order", drop()),
    seed("kept_untold", None, "who is not told of keeps nothing", operand("i < x->first[c] + $1")),
    seed("kept_steps", None, "flows of other steps keep a pattern", expr("$1")),
    seed("kept_alone", None, "path 0 is kept against contending flows", through("&&"),
         at="kept_steps"),
    seed("channels_down", None, "channels come in descending order",
         term("($1.1 = $2.2; $2.1-- > 0;)")),
    seed("steps_down", None, "steps come in descending order", term("($1.1 = $2.2; $2.1-- > 0;)")),
    seed("alike_same", None, "only the same pattern is alike", term("1")),
    seed("alike_none", None, "nothing is alike", operand("false")),
    seed("solution_one", None, "a pair has one solution", term("p->store.first"), at="alike_none"),
    # ---- who stays ----
    seed("stay_crowded", None, "who is crowded stays", drop()),
    seed("stay_tables", None, "who was crowded by the tables alone does not stay",
         term("flow->contends || $0")),
    seed("stay_switch", None, "who stays is found by a switch", token("0")),
    seed("stay_told", None, "nobody is told to stay", term("SV_OK")),
]

SUITE = Suite("seed", "stores from traces", TESTS, MUTANTS, ["tests/oracle/mutate_seed.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
