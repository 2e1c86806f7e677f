"""Wrong versions of how policies find ways, count lanes and choose: each is built and must be found out.

Each of the mutations below changes a few words of src/adapt, as somebody might who thinks that it does
not matter: an order turned round, a switch that may be a via though it may not, a lane too few. They are
linked with the tests of these files, one after the other; one of them must fail.

Compiler, options and libraries are those of the build, in mutate_adapt.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_adapt.py
"""
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, find_out  # noqa: E402

ROOM = os.path.join(SOURCE, "src", "adapt")
# Tests, and how many trials.
TESTS = {"ways": "300", "choices": "100", "proof": "100", "unit_ways": "", "unit_oblivious": ""}

Mutation = namedtuple("Mutation", "file what old new")

MUTATIONS = [
    # ---- ways ----
    Mutation("ways.c", "a via near both ends counts by its larger distance",
             "both && x->in->at[j].distance < v.distance", "both && x->in->at[j].distance > v.distance"),
    Mutation("ways.c", "ways may pass a switch twice", "x->once && w->been[at->i] == w->stamp",
             "x->once && w->been[at->i] == 7"),
    Mutation("ways.c", "ways that share more come first", "x->shared < y->shared ? -1 : 1",
             "x->shared < y->shared ? 1 : -1"),
    Mutation("ways.c", "ways with more vias come first", "x->vias < y->vias ? -1 : 1",
             "x->vias < y->vias ? 1 : -1"),
    Mutation("ways.c", "the draw is the other way round", "x->draw < y->draw ? -1 : 1",
             "x->draw < y->draw ? 1 : -1"),
    Mutation("ways.c", "the same channels come twice", "if (!is_taken(x))", "if (!is_taken(x) || 1)"),
    Mutation("ways.c", "the destination's switch may be a via", "if (v.at != x->d && w->last[v.at] != SV_NONE)",
             "if (w->last[v.at] != SV_NONE)"),
    Mutation("ways.c", "stretch is one less",
             ".limit = (uint32_t)w->channels.length + a->set.stretch", ".limit = (uint32_t)w->channels.length + a->set.stretch - 1"),
    Mutation("ways.c", "reach is one more", "out  ? follow(a, s, a->r->first[v], a->set.reach)",
             "out  ? follow(a, s, a->r->first[v], a->set.reach + (s == 0))"),
    Mutation("ways.c", "draws do not know the pair", "mix(mix(mix(a->seed, x->from), x->destination), c.via[0])",
             "mix(mix(a->seed, x->destination), c.via[0])"),
    Mutation("ways.c", "a segment begins with the port the packet came by",
             "    if (x->way->vias > 0)\n        in = 0;\n", ""),
    Mutation("ways.c", "lists are kept though they are forgotten", "memset(w->out, 0, n * sizeof *w->out);", ""),
    Mutation("ways.c", "path 0 shares nothing", "SV_TRY(take(&x, own, between));", "SV_TRY(take(&x, own, 0));"),
    Mutation("ways.c", "marks begin with 1", "way.mark = x->count;", "way.mark = x->count + 1;"),
    # ---- empty latency ----
    Mutation("empty.c", "the last block does not matter",
             "most = larger(most, bytes * byte - 64 * (blocks - 1) * cross);", ""),
    Mutation("empty.c", "the block before it does not matter",
             "most = larger(most, 64 * ((blocks - 1) * byte - (blocks - 2) * cross));", ""),
    Mutation("empty.c", "crossing is as fast as the link it comes by", "larger(1, 100 * next_byte / a->model.speedup)",
             "larger(1, 100 * byte / a->model.speedup)"),
    Mutation("empty.c", "the first block has crossed at once", " + first * cross;", " + 0 * first;"),
    # ---- lanes ----
    Mutation("lanes.c", "only terminals are asked about", "deadlock_free[SV_TRAFFIC_ALL]",
             "deadlock_free[SV_TRAFFIC_TERMINALS]"),
    Mutation("lanes.c", "what is not known is safe", "verdict != SV_VERDICT_YES", "verdict == SV_VERDICT_NO"),
    Mutation("lanes.c", "adaptive lanes are free", "segments * own + adaptive;", "segments * own;"),
    Mutation("lanes.c", "one lane too many is fine", "    if (needed > most)\n", "    if (needed > most + 1)\n"),
    Mutation("lanes.c", "links offer 15 lanes whatever they say", "unsigned offered = sv_lanes_offered(a->f);",
             "unsigned offered = SV_HARDWARE_LANES;"),
    Mutation("lanes.c", "tables may not use more lanes than links offer", "offered > own ? offered : own;", "offered;"),
    # ---- vias ----
    Mutation("vias.c", "the second stretch is not left out", "for (int k = 0; k < 2; k++)", "for (int k = 0; k < 1; k++)"),
    Mutation("vias.c", "the destination's group may be in the way",
             "        b = (struct stretch){v->first[v->group[d]], v->first[v->group[d] + 1]};\n", ""),
    Mutation("vias.c", "switches without terminals may be a via", "bool may = a->set.via == SV__VIA_ALL;",
             "bool may = true;"),
    Mutation("vias.c", "a ring is a dragonfly", " || 2 * d.smallest <= d.largest)", ")"),
    Mutation("vias.c", "rows of a HyperX are groups", "if (2 * count_central(", "if (0 * count_central("),
    Mutation("vias.c", "vias may lead nowhere", "if (there == SV_NONE || on == SV_NONE)", "if (there == SV_NONE)"),
    Mutation("vias.c", "lanes on from a via are not asked for",
             "                            !has_lanes(a, (sv_node){via}, destination)))", "                            0))"),
    Mutation("vias.c", "lanes to a via are asked for as if its switch had sent it",
             "(sv_node){a->f->num_switches + from}, a->r->first[via])", "(sv_node){detour.s}, a->r->first[via])"),
    # ---- choices ----
    Mutation("ugal_l.c", "the channel to the terminal counts, too", "destination, own - 1)", "destination, own)"),
    Mutation("ugal_l.c", "no bias", "detour.channels - 1) + a->set.bias", "detour.channels - 1)"),
    Mutation("ugal_l.c", "equal is enough", "own - 1) >\n", "own - 1) >=\n"),
    Mutation("ugal_g.c", "only the last channel counts", "bytes += sv_sim_backlog(stage, c);",
             "bytes = sv_sim_backlog(stage, c);"),
    Mutation("ugal_g.c", "the way on from the via does not count", "    other += waits(a, stage, &at, destination);\n", ""),
    Mutation("random.c", "the last way is never taken", "sv_rng_below(&a->rng, set->count)",
             "sv_rng_below(&a->rng, set->count > 1 ? set->count - 1 : 1)"),
    Mutation("cyclic.c", "turns begin with the second way", "set->turn++ % set->count", "++set->turn % set->count"),
]


if __name__ == "__main__":
    sys.exit(find_out("mutate_adapt", "policies", ROOM, MUTATIONS, TESTS))
