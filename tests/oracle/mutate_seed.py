"""Wrong versions of how stores are worked out from traces: each is built and must be found out.

Each of the mutations below changes a few words of src/adapt/seed.c, as somebody might who has not read
"Stores from traces" of docs/decisions/0028-policies.md well enough. They are linked with
oracle_test_adapt_seed, one after the other, and run on the trials that the present version passes first.

Compiler, options and libraries are those of the build, in mutate_seed.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_seed.py
"""
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, find_out  # noqa: E402

ROOM = os.path.join(SOURCE, "src", "adapt")
# Tests, and how many trials.
TESTS = {"seed": "300"}

_Mutation = namedtuple("Mutation", "file what old new")


def Mutation(what, old, new):
    return _Mutation("seed.c", what, old, new)


MUTATIONS = [
    # ---- flows ----
    Mutation("all steps are one", "return (flow->steps >> step & 1) != 0;", "return step == 0;"),
    Mutation("phases that are not relevant count, too", "if (summary->phases[i].relevant)", "if (true)"),
    Mutation("messages without bytes weigh nothing", ".bytes = ranks[i].bytes + ranks[i].messages,",
             ".bytes = ranks[i].bytes,"),
    Mutation("a flow is in the steps of its first pair of ranks", "    to->steps |= from->steps;\n", ""),
    Mutation("a flow has the bytes of its first pair of ranks", "    to->bytes += from->bytes;\n", ""),
    Mutation("a flow weighs in each step what it does in all",
             "flow->bytes = 1 + flow->bytes / (count > 0 ? count : 1);", "flow->bytes = 1 + flow->bytes;"),
    Mutation("what is rounded down is not made up for",
             "flow->bytes = 1 + flow->bytes /", "flow->bytes = flow->bytes /"),
    Mutation("light flows come first", "return x->bytes > y->bytes ? -1 : 1;",
             "return x->bytes > y->bytes ? 1 : -1;"),
    Mutation("flows come by pair alone", "    if (x->bytes != y->bytes)\n        return x->bytes > y->bytes ? -1 : 1;\n",
             ""),
    # ---- ways ----
    Mutation("two candidates a path", "CANDIDATES_A_PATH = 3", "CANDIDATES_A_PATH = 2"),
    Mutation("fewer candidates", "MOST_CANDIDATES = 32", "MOST_CANDIDATES = 24"),
    Mutation("ways are those of another seed", ".seed = request->seed,", ".seed = request->seed + 1,"),
    Mutation("three paths if nobody says", "request->paths > 0 ? request->paths : 4", "request->paths > 0 ? request->paths : 3"),
    Mutation("flows that are asked for do not matter", "    if (request->flows > 0)\n", "    if (false)\n"),
    # ---- loads ----
    Mutation("a flow is on its channels in all steps", "for (uint32_t i = 0; is_in(flow, s) && i < w->length; i++)",
             "for (uint32_t i = 0; i < w->length; i++)"),
    Mutation("ends count as the way", "for (uint32_t i = 1; i + 1 < w->length; i++)",
             "for (uint32_t i = 0; i < w->length; i++)"),
    Mutation("the last channel between switches does not count", "for (uint32_t i = 1; i + 1 < w->length; i++)",
             "for (uint32_t i = 1; i + 2 < w->length; i++)"),
    Mutation("a way is as busy as in any step", "if (is_in(flow, s) && busiest_in(x, w, s) > most)",
             "if (busiest_in(x, w, s) > most)"),
    Mutation("a flow that is as busy as its ends is crowded", "busiest_in(x, w, s) > (out > in ? out : in)",
             "busiest_in(x, w, s) >= (out > in ? out : in)"),
    Mutation("one end that is less busy is enough", "busiest_in(x, w, s) > (out > in ? out : in)",
             "busiest_in(x, w, s) > (out > in ? in : out)"),
    Mutation("a flow is crowded in steps of others", "if (is_in(flow, s) && busiest_in(x, w, s) > (out",
             "if (busiest_in(x, w, s) > (out"),
    Mutation("the first end is as busy as in the first step",
             "        uint64_t out = loads(x, s)[w->channels[0].i];\n",
             "        uint64_t out = loads(x, 0)[w->channels[0].i];\n"),
    # ---- laying ----
    Mutation("nobody stays", "x->flows[i].contends = is_crowded(x, &x->flows[i]);", "x->flows[i].contends = true;"),
    Mutation("flows lie on path 0 as well", "    memset(x->load, 0, (size_t)x->steps * x->a->f->num_channels * sizeof *x->load);\n",
             ""),
    Mutation("flows are laid once", "ROUNDS = 2", "ROUNDS = 1"),
    Mutation("flows are laid three times", "ROUNDS = 2", "ROUNDS = 3"),
    Mutation("what is laid anew lies where it was, too", "flow->ways[i].pieces * flow->bytes, true)", "0, true)"),
    Mutation("of ways as busy the longer ones are as good", "(most == least && w->length < best->length)", "false"),
    Mutation("of ways as busy the last is taken", "w->length < best->length)", "w->length <= best->length)"),
    Mutation("short ways come first", "best == NULL || most < least ||",
             "best == NULL || (most < least && w->length <= best->length) ||"),
    Mutation("path 0 does not count as used", "if (i > 0 && w->pieces == 0 && flow->used == pieces)",
             "if (i > 0 && w->pieces == 0 && flow->used == pieces - (flow->ways->pieces > 0))"),
    Mutation("all pieces of a flow weigh as much as one", "        put(x, flow, best, flow->bytes, false);\n",
             "        if (k == 0)\n            put(x, flow, best, flow->bytes, false);\n"),
    # ---- solutions ----
    Mutation("path 0 is left out if nothing lies on it", "        if (i > 0 && w->pieces == 0)\n            continue;\n        SV_TRY",
             "        if (w->pieces == 0)\n            continue;\n        SV_TRY"),
    Mutation("path 0 has half a piece if nothing lies on it", "w->pieces : 0.25", "w->pieces : 0.5"),
    Mutation("the latency is that of one path", "*latency = whole / pieces;", "*latency = whole;"),
    Mutation("waits are latencies", "m->at[i].waited = whole / m->at[i].waited - m->at[i].empty;",
             "m->at[i].waited = whole / m->at[i].waited;"),
    Mutation("the longest is that of the last path", "whole = share * empty > whole ? share * empty : whole;",
             "whole = share * empty;"),
    Mutation("packets are full without headers", "w->length, x->b->full)", "w->length, x->a->model.mtu_bytes)"),
    # ---- patterns ----
    Mutation("who is told decides whether a channel is contended",
             "        if (!is_in(flow, step))\n            continue;\n",
             "        if (!is_in(flow, step) || pattern->count == x->a->set.flows)\n            continue;\n"),
    Mutation("a source contends with itself", "contended = contended || sv__flow_from(pattern->at[0]) != flow->from;",
             "contended = contended || pattern->count > 1;"),
    Mutation("flows of other steps are told of", "        if (!is_in(flow, step))\n            continue;\n", ""),
    Mutation("a pattern is found at the end of its channel", "x->a->f->tail[c].i}", "x->a->f->head[c].i}"),
    Mutation("flows of a pattern are not in order", "    sv__flows_sort(pattern);\n", ""),
    Mutation("who is not told of keeps nothing", "pattern->count > 0 && i < x->first[c + 1]; i++)",
             "i < x->first[c] + pattern->count && i < x->first[c + 1]; i++)"),
    Mutation("flows of other steps keep a pattern", "if (flow->used > 1 && is_in(flow, s))", "if (flow->used > 1)"),
    Mutation("path 0 is kept against contending flows", "if (flow->used > 1 && is_in(flow, s))", "if (is_in(flow, s))"),
    Mutation("channels come in descending order", "for (uint32_t c = 0; c < x->a->f->num_channels; c++)\n        for (unsigned s",
             "for (uint32_t c = x->a->f->num_channels; c-- > 0;)\n        for (unsigned s"),
    Mutation("steps come in descending order", "        for (unsigned s = 0; s < x->steps; s++) {\n            pattern_of",
             "        for (unsigned s = x->steps; s-- > 0;) {\n            pattern_of"),
    Mutation("only the same pattern is alike", "sv__store_find(&p->store, pattern, a->set.similar)",
             "sv__store_find(&p->store, pattern, 1)"),
    Mutation("nothing is alike", "sv__store_find(&p->store, pattern, a->set.similar) != NULL", "false"),
    Mutation("a pair has one solution", "sv__store_find(&p->store, pattern, a->set.similar) != NULL",
             "p->store.first != NULL"),
    # ---- who stays ----
    Mutation("who is crowded stays", "if (flow->used > 1 || is_crowded(x, flow))", "if (flow->used > 1)"),
    Mutation("who was crowded by the tables alone does not stay", "if (flow->used > 1 || is_crowded(x, flow))",
             "if (flow->used > 1 || flow->contends || is_crowded(x, flow))"),
    Mutation("who stays is found by a switch", "(sv__flows){pattern->at, 1, SV_NONE};", "(sv__flows){pattern->at, 1, 0};"),
    Mutation("nobody is told to stay", "    return keep_still(x, pattern);\n", "    return SV_OK;\n"),
]


if __name__ == "__main__":
    sys.exit(find_out("mutate_seed", "stores from traces", ROOM, MUTATIONS, TESTS))
