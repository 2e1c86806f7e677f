"""Wrong versions of rehearsals: each is built and must be found out.

Each of the mutations below changes a few words of src/rehearse, as somebody might who thinks that it
does not matter: a manager that does not wait, a terminal that answers too early, counts that are off
by one. They are linked with oracle_test_rehearse and unit_test_rehearse; one of the two must fail.

Compiler, options and libraries are those of the build, in mutate_rehearse.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_rehearse.py [TRIALS]
"""
import os
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, Builder, check, judge_all  # noqa: E402

TRIALS = sys.argv[1] if len(sys.argv) > 1 else "100"
ROOM = os.path.join(SOURCE, "src", "rehearse")
FILES = sorted(name for name in os.listdir(ROOM) if name.endswith(".c"))
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


def text_of(file):
    with open(os.path.join(ROOM, file)) as source:
        return source.read()


class Shop(Builder):
    """Builds and runs the tests with rehearsals in folders of their own."""

    def __init__(self, folder):
        super().__init__("mutate_rehearse")
        self.folder = folder
        self.limit = 600  # seconds a run may take

    def make(self, name, mutation):
        """Both programs with a mutation (None: as they are). What it leaves alone is the build's."""
        place = os.path.join(self.folder, str(name))
        os.makedirs(place)
        objects = []
        for file in FILES if mutation is None else [mutation.file]:
            text = text_of(file)
            if mutation is not None:
                text = text.replace(mutation.old, mutation.new)
            path = os.path.join(place, file)
            with open(path, "w") as copy:
                copy.write(text)
            self.compile(path, path + ".o", mutation.what if mutation else "as it is")
            objects.append(path + ".o")
        programs = []
        for test in TESTS:
            programs.append(os.path.join(place, test))
            self.link([*objects, *self.build[test]], programs[-1],
                      mutation.what if mutation else "as it is")
        return programs

    def run(self, program):
        """Whether it came through."""
        try:
            return subprocess.run([program, TRIALS], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=self.limit).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def judge(self, name, mutation):
        """Which test found it; None: none did."""
        for test, program in zip(TESTS, self.make(name, mutation)):
            if not self.run(program):
                return test
        return None


def main():
    check(MUTATIONS, text_of)
    with tempfile.TemporaryDirectory(prefix="selvage-mutate-") as folder:
        shop = Shop(folder)
        begin = time.monotonic()
        found = shop.judge("present", None)
        if found is not None:
            raise SystemExit("rehearsals as they are: found out by the %s test" % found)
        shop.limit = max(30, round(6 * (time.monotonic() - begin)))
        missed = 0
        for mutation, found in judge_all(shop.judge, MUTATIONS):
            missed += found is None
            print("%-12s %-11s %s" % (found or "CAME THROUGH", mutation.file, mutation.what),
                      flush=True)
    print("%d wrong rehearsals, %d came through; %.0f s" % (len(MUTATIONS), missed,
                                                            time.monotonic() - begin))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
