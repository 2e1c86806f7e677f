"""Mutants of how policies find ways, count VLs and choose: an order turned round, a switch that
may be a via though it may not, a VL too few.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_adapt.py [NAME or FILE ...]
"""
import os
import sys
from functools import partial

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.marks import drop, expr, operand, swap, term, through, token  # noqa: E402
from support.mutate import Suite, main, mutant  # noqa: E402

# Tests: their programs, and arguments.
TESTS = {
    "ways": ("ways", "300", "1"),
    "choices": ("choices", "100", "1"),
    "proof": ("proof", "100", "1"),
    "unit_ways": ("unit_ways",),
    "unit_oblivious": ("unit_oblivious",),
}
ways = partial(mutant, by="ways")
choices = partial(mutant, by="choices")
proof = partial(mutant, by="proof")
unit_ways = partial(mutant, by="unit_ways")
unit_oblivious = partial(mutant, by="unit_oblivious")

MUTANTS = [
    # ---- ways ----
    ways("via_near", None, "a via near both ends counts by its larger distance", token(">")),
    ways("way_twice", None, "ways may pass a switch twice", term("7")),
    ways("shared_more", None, "ways that share more come first", swap()),
    ways("vias_more", None, "ways with more vias come first", swap()),
    ways("draw_reverse", None, "the draw is the other way round", swap()),
    ways("same_twice", None, "the same channels come twice", term("true")),
    ways("via_end", None, "the destination's switch may be a via", through("&&")),
    ways("stretch_less", None, "stretch is one less", term("$0 - 1")),
    ways("reach_more", None, "reach is one more", term("$0 + (s == 0)")),
    ways("draw_pair", None, "draws do not know the pair", term("$1")),
    ways("segment_in", None, "a segment begins with the port the packet came by", drop()),
    ways("lists_kept", None, "lists are kept though they are forgotten", drop()),
    ways("own_shared", None, "path 0 shares nothing", token("0")),
    ways("marks_one", None, "marks begin with 1", term("$0 + 1")),
    # ---- empty latency ----
    unit_ways("empty_last", None, "the last block does not matter", drop()),
    unit_ways("empty_before", None, "the block before it does not matter", drop()),
    unit_ways("empty_cross", None, "crossing is as fast as the link it comes by", token("byte")),
    unit_ways("empty_first", None, "the first block has crossed at once", drop()),
    # ---- VLs ----
    proof("prove_hosts", None, "only terminals are asked about", token("SV_TRAFFIC_TERMINALS")),
    unit_ways("prove_unknown", None, "what is not known is safe", operand("$1 == SV_VERDICT_NO")),
    proof("vls_adaptive", None, "adaptive VLs are free", drop()),
    unit_ways("vls_many", None, "one VL too many is fine", term("$0 + 1")),
    unit_ways("vls_fifteen", None, "links offer 15 VLs whatever they say",
              term("SV_HARDWARE_VLS")),
    unit_ways("vls_own", None, "tables may not use more VLs than links offer", expr("$2")),
    # ---- vias ----
    choices("stretch_two", None, "the second stretch is not left out", token("1")),
    choices("group_end", None, "the destination's group may be in the way", drop()),
    choices("via_bare", None, "switches without terminals may be a via", operand("true")),
    choices("ring_dragonfly", None, "a ring is a dragonfly", drop()),
    choices("hyperx_groups", None, "rows of a HyperX are groups", token("0")),
    unit_oblivious("via_nowhere", None, "vias may lead nowhere", drop()),
    choices("vls_on", None, "VLs on from a via are not asked for", term("0")),
    choices("vls_to", None, "VLs to a via are asked for as if its switch had sent it",
            expr("detour.s")),
    # ---- choices ----
    choices("ugal_terminal", None, "the channel to the terminal counts, too", drop()),
    choices("ugal_bias", None, "no bias", drop()),
    choices("ugal_equal", None, "equal is enough", token(">=")),
    choices("ugal_last", None, "only the last channel counts", token("=")),
    choices("ugal_on", None, "the way on from the via does not count", drop()),
    unit_oblivious("random_last", None, "the last way is never taken", term("$0 > 1 ? $0 - 1 : 1")),
    unit_oblivious("cyclic_second", None, "turns begin with the second way", term("($0 + 1)")),
]

SUITE = Suite("adapt", "policies", TESTS, MUTANTS, ["tests/oracle/mutate_adapt.py"])

if __name__ == "__main__":
    sys.exit(main(SUITE))
