"""Wrong versions of rehearsals: each is built and must be found out.

Each of the mutations below changes a few words of src/rehearse, as somebody might who thinks that it
does not matter: a manager that does not wait, a terminal that answers too early, counts that are off
by one. They are linked with oracle_test_rehearse and unit_test_rehearse; one of the two must fail.

Compiler, options and libraries are those of the build, in mutate_rehearse.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_rehearse.py [TRIALS]
"""
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, find_out  # noqa: E402

TRIALS = sys.argv[1] if len(sys.argv) > 1 else "100"
ROOM = os.path.join(SOURCE, "src", "rehearse")
TESTS = ["unit", "oracle"]

Mutation = namedtuple("Mutation", "file what old new")

MUTATIONS = [
    # ---- datagrams ----
    Mutation("batch.c", "a late copy may come in the next step",
             "b->repeated ? b->last_sent + x->q->delay_most + 1 : x->now", "x->now"),
    Mutation("batch.c", "nothing is sent again",
             "        send(x, due->a);\n    }\n    return x->status;", "    }\n    return x->status;"),
    Mutation("batch.c", "the window is one too large",
             "b->waiting < x->q->window", "b->waiting <= x->q->window"),
    Mutation("batch.c", "a terminal answers before its packets have arrived",
             "        if (t->draining > 0)\n            return SV_OK;\n", ""),
    Mutation("batch.c", "a switch is asked for ever",
             "x->q->tries > 0 && item->tries >= x->q->tries", "x->q->tries > 100"),
    Mutation("batch.c", "blocks count every time they come",
             "x->report->blocks += first;", "x->report->blocks += 1 + 0 * first;"),
    Mutation("agenda.c", "nothing is lost", "sv_rng_below(&x->rng, 1000) < x->q->loss",
             "sv_rng_below(&x->rng, 1000) > 1000"),
    Mutation("agenda.c", "delays are one longer", "most - least + 1) : 0);",
             "most - least + 1) : 1);"),
    # ---- steps ----
    Mutation("scenes.c", "the next step does not wait for packets of before",
             "if (plan == NULL || !plan->settle)", "if (plan == NULL || plan != NULL)"),
    Mutation("scenes.c", "those who must be silent are not told",
             "x->q->way == SV_REHEARSE_STEPS && pair->must",
             "x->q->way == SV_REHEARSE_STEPS && pair->must && x->steps > 100000"),
    Mutation("scenes.c", "nobody is told that it may speak again",
             "    sv_bit_set(x->tells, (pair->to_step + 1) * n + terminal);\n", ""),
    Mutation("scenes.c", "pairs without an old path are not silent",
             "return x->q->way == SV_REHEARSE_HOLD ? note_broken(x, plan) : SV_OK;",
             "return x->q->way > SV_REHEARSE_WAYS ? note_broken(x, plan) : SV_OK;"),
    Mutation("scenes.c", "a step writes what the last one makes of the tables",
             "row[e->s.i] = x->after->ports[e->destination][e->s.i];",
             "memcpy(row, x->after->ports[e->destination], x->f->num_switches);"),
    Mutation("scenes.c", "lanes do not change",
             "if (x->step == 0 && (plan == NULL || plan->lanes))", "if (x->step > 9999)"),
    Mutation("scenes.c", "who fails is not noticed", "if (x->batch.failed) {",
             "if (x->batch.failed && x->steps > 9999) {"),
    # ---- pairs ----
    Mutation("pairs.c", "drained is who has been told",
             "    if (pair->open == 0)\n        note_drained(x, i);\n}\n\nvoid",
             "    note_drained(x, i);\n}\n\nvoid"),
    Mutation("pairs.c", "who comes back from high addresses keeps its SL",
             "        pair->asks |= !pair->high;\n", ""),
    Mutation("pairs.c", "who was silent keeps its SL", "            pair->asks = true;\n", ""),
    Mutation("pairs.c", "new SLs are told from the beginning",
             "plan->first_step[d] < x->begun", "plan->first_step[d] < x->begun + 1000"),
    Mutation("pairs.c", "connections ask for each message", "if (!pair->sent || pair->asks)",
             "if (pair != NULL)"),
    Mutation("pairs.c", "silence ends a step early", "at <= pair->to_step + 1",
             "at <= pair->to_step"),
    Mutation("pairs.c", "a new pair of a terminal that left is on base addresses",
             ".high = terminal->high", ".high = false"),
    Mutation("pairs.c", "the sender's knowledge comes for free",
             "pair->sent ? pair->last + x->q->ack : 0", "pair->sent ? 0 : x->q->ack"),
    Mutation("pairs.c", "waiting is not counted", "x->report->held_sum += waited;", ""),
    # ---- applications ----
    Mutation("apps.c", "one rank speaks for all", "--a->at[i].left == 0", "--a->at[i].left > 0"),
    Mutation("apps.c", "dead applications answer", "a->at[terminal->application].dead = true;",
             "a->at[terminal->application].dead = false;"),
    Mutation("apps.c", "flows begin before the subscription is confirmed",
             "        x->terminals[t].outside = true;\n    }\n    return SV_OK;",
             "    }\n    return SV_OK;"),
    # ---- counts ----
    Mutation("packets.c", "packets that have left do not count as of their time",
             " || pair->until[other] > track->injected", ""),
    Mutation("packets.c", "a packet is mixed with itself",
             "pair->alive[other] - (track->kinds != 0)", "pair->alive[other]"),
    Mutation("packets.c", "what arrives at the end of a phase is of that",
             "if (x->late.at[i].time >= before)", "if (x->late.at[i].time > before)"),
    Mutation("packets.c", "nobody waits for packets of before", "x->settle_left = x->under_way;",
             "x->settle_left = 0;"),
    Mutation("packets.c", "those without a path count, too", "return pair->joined &&", "return"),
    Mutation("packets.c", "a dropped message is under way for ever",
             "        leave(x, which->packet, which->time);\n", ""),
    Mutation("packets.c", "the end counts what leaves an empty fabric", "        time = x->rested;",
             "        time += 0;"),
    Mutation("packets.c", "sources see our tags", "told.tag = parcel->tag;", ""),
    Mutation("rehearse.c", "traffic does not end", "        x->resting = true;\n", ""),
]


if __name__ == "__main__":
    sys.exit(find_out("mutate_rehearse", "rehearsals", ROOM, MUTATIONS, dict.fromkeys(TESTS, TRIALS)))
