"""Wrong versions of the machines of the five phases: each is built and must be found out.

Each of the mutations below changes a few words of src/update/five*, as somebody might who has not
read docs/decisions/0027-update.md well enough; it says which of its rules it breaks. They are
linked with oracle_test_five, which watches from outside, and with the unit tests. What the first
does not find the second must; those that break safety are marked, and the random trials have to
find them by themselves.

Compiler, options and libraries are those of the build, in mutate_five.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_five.py [TRIALS [SEED]]
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, Builder, check, judge_all  # noqa: E402

TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = ["five.h", "five_manager.c", "five_subscriber.c"]
TESTS = ["oracle/test_five.c", "unit/test_five.c", "unit/test_five_manager.c"]

# unsafe: flows are under tables that change.
Mutation = namedtuple("Mutation", "file rule what old new unsafe", defaults=(False,))

MUTATIONS = [
    # ---- the manager ----
    Mutation("five_manager.c", 1, "a renewal does not lengthen a lease",
             "    member->lease_end = m->options.lease == 0",
             "    if (member->lease_end == 0)\n"
             "        member->lease_end = m->options.lease == 0", True),
    Mutation("five_manager.c", 1, "who joins while others leave is told the epoch before",
             "                               .epoch = m->count.epoch,",
             "                               .epoch = m->count.epoch - "
             "(kind == SV_FIVE_CONFIRM && odd),", True),
    Mutation("five_manager.c", 2, "UNPATH is sent once",
             "member->times < m->options.tries || waits", "false && (waits)"),
    Mutation("five_manager.c", 2, "who has not answered is confirmed and given more lease",
             "member->state == SV__ASKED && m->phase == SV_FIVE_LEAVE", "false"),
    Mutation("five_manager.c", 2, "who has not answered is confirmed, and given no more lease",
             "        owe_ask(m, member);\n        return SV_OK;",
             "        owe_ask(m, member);\n        member->confirm = mail->serial;\n"
             "        member->owes |= OWES(SV_FIVE_CONFIRM);\n        return SV_OK;", True),
    Mutation("five_manager.c", 3, "NOTED of one epoch is sent in the next",
             "member->owes &= ~(OWES(SV_FIVE_NOTED) | OWES(SV_FIVE_UNPATH));",
             "member->owes &= ~OWES(SV_FIVE_UNPATH);"),
    Mutation("five_manager.c", 3, "DONE of an older epoch is not answered",
             "        if (mail->kind == SV_FIVE_DONE)\n            owe_ask",
             "        if (false)\n            owe_ask"),
    Mutation("five_manager.c", 4, "DONE of any epoch will do",
             "if (mail->epoch != m->count.epoch) {", "if (false) {", True),
    Mutation("five_manager.c", 4, "having heard is being done",
             "set_state(m, member, SV__HEARD);", "set_state(m, member, SV__DONE);\n"
             "        advance(m);", True),
    Mutation("five_manager.c", 5, "who does not come back is waited for as long as it lives",
             "waits = leave && m->options.lease > 0", "waits = m->options.lease > 0"),
    Mutation("five_manager.c", 6, "who does not answer is expelled without trust, too",
             "return !heard && m->options.trust ?", "return !heard ?", True),
    Mutation("five_manager.c", 6, "who does not answer is not given its lease",
             "bool waits = leave && m->options.lease > 0 && !m->options.trust;",
             "bool waits = false;"),
    Mutation("five_manager.c", 6, "who is not done in time is expelled",
             "return !heard && m->options.trust ?", "return heard || m->options.trust ?", True),
    Mutation("five_manager.c", 6, "what is called off goes on",
             "        enter(m, SV_FIVE_RETURN, now);\n    }\n    advance(m);",
             "        m->missing = 0;\n    }\n    advance(m);", True),
    Mutation("five_manager.c", 6, "who has heard has no lease",
             "    if (now >= member->lease_end)",
             "    if (now >= member->lease_end && member->state != SV__HEARD)"),
    Mutation("five_manager.c", 6, "a lease is over a little early",
             "    if (now >= member->lease_end)",
             "    if (now + m->options.margin / 2 >= member->lease_end)", True),
    Mutation("five_manager.c", 6, "without patience whoever has heard is never asked again",
             "    if (heard && m->options.patience == 0) {\n        owe_ask(m, member);",
             "    if (heard && m->options.patience == 0) {"),
    Mutation("five_manager.c", 8, "a farewell of an earlier life counts",
             "member->state != SV__LEFT && !sv__newer(mail->serial, member->serial)", "false", True),
    Mutation("five_manager.c", 8, "the last serial counts, not the newest",
             "    if (sv__newer(mail->serial, member->serial))\n"
             "        member->serial = mail->serial;\n"
             "    member->confirm = mail->serial;\n    member->owes |=",
             "    member->serial = mail->serial;\n"
             "    member->confirm = mail->serial;\n    member->owes |="),
    Mutation("five_manager.c", 8, "who leaves in mid-update is waited for",
             "    member->owes = OWES(SV_FIVE_CONFIRM);\n    advance(m);",
             "    member->owes = OWES(SV_FIVE_CONFIRM);"),
    # ---- an application ----
    Mutation("five_subscriber.c", 1, "the lease counts from the confirmation",
             ": sv__after(s->first, s->options.lease - s->options.margin);",
             ": sv__after(now, s->options.lease - s->options.margin);", True),
    Mutation("five_subscriber.c", 1, "a confirmation is never too late",
             "if (s->asking && now >= good) {", "if (false) {", True),
    Mutation("five_subscriber.c", 1, "any serial is confirmed",
             "if (!s->once || mail->serial != s->serial)", "if (!s->once)", True),
    Mutation("five_subscriber.c", 1, "serials of each life begin at 1",
             "s->once ? s->serial + 1 : first_serial(s, now)",
             "s->once ? s->serial + 1 : 1 + 0 * first_serial(s, now)", True),
    Mutation("five_subscriber.c", 1, "a round goes on until it is confirmed",
             "if (s->options.lease > 0 && now - s->first >= sv__third(&s->options))",
             "if (false)"),
    Mutation("five_subscriber.c", 1, "who joins comes to base addresses",
             "s->place = is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE;",
             "s->place = SV_FIVE_ON_BASE;", True),
    Mutation("five_subscriber.c", 1, "who joins goes by what CONFIRM says",
             "s->place = is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE;",
             "s->place = mail->epoch & 1 ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE;", True),
    Mutation("five_subscriber.c", 3, "an older epoch counts",
             "if (s->knows && !sv__newer(epoch, s->epoch))",
             "if (s->knows && epoch == s->epoch)", True),
    Mutation("five_subscriber.c", 3, "the present epoch is not answered",
             "return epoch == s->epoch;", "return false;"),
    Mutation("five_subscriber.c", 3, "DONE of one epoch is sent in the next",
             "        s->owes &= ~OWES(SV_FIVE_DONE);\n    } else if", "    } else if"),
    Mutation("five_subscriber.c", 3, "DONE is said before flows have migrated",
             "s->place == (is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE)",
             "(s->place == (is_odd(s) ? SV_FIVE_ON_HIGH : SV_FIVE_ON_BASE) || "
             "s->place == SV_FIVE_LEAVING)", True),
    Mutation("five_subscriber.c", 3, "DONE is said once",
             "    if (now >= s->done) {", "    if (false) {"),
    Mutation("five_subscriber.c", 3, "whatever is noted, it is DONE",
             "s->knows && mail->epoch == s->epoch &&", "s->knows &&"),
    Mutation("five_subscriber.c", 3, "who comes back does not turn round",
             "high && (s->place == SV_FIVE_ON_BASE || s->place == SV_FIVE_RETURNING)",
             "high && s->place == SV_FIVE_ON_BASE"),
    Mutation("five_subscriber.c", 6, "who leaves is not called back",
             "!high && (s->place == SV_FIVE_ON_HIGH || s->place == SV_FIVE_LEAVING)",
             "!high && s->place == SV_FIVE_ON_HIGH"),
    Mutation("five_subscriber.c", 5, "without a lease who is on high never asks",
             "    else if (s->place == SV_FIVE_ON_HIGH)\n        s->renew",
             "    else if (false)\n        s->renew"),
    Mutation("five_subscriber.c", 7, "nobody leaves of its own accord",
             "if (s->member && !s->fenced && now >= s->fence) {", "if (false) {", True),
    Mutation("five_subscriber.c", 7, "who leaves of its own accord does so when the lease ends",
             ": sv__after(s->first, s->options.lease - s->options.margin);",
             ": sv__after(s->first, s->options.lease);", True),
    Mutation("five_subscriber.c", 7, "who left of its own accord comes back by REPATH",
             "    bool high = s->fenced || is_odd(s);", "    bool high = is_odd(s);", True),
    Mutation("five_subscriber.c", 7, "any news ends a fence",
             "    s->epoch = epoch;", "    s->epoch = epoch;\n    s->fenced = false;"),
    Mutation("five_subscriber.c", 8, "who is outside does not answer",
             "s->owes |= OWES(SV_FIVE_DONE) | (s->once ? OWES(SV_FIVE_UNSUBSCRIBE) : 0);", ""),
    Mutation("five_subscriber.c", 8, "a farewell has the serial of the last round",
             "    next_serial(s, now);\n    s->farewells", "    s->farewells"),
    Mutation("five.h", 1, "numbers do not go round",
             "return a != b && a - b < UINT32_C(1) << 31;", "return a > b;", True),
]


def text_of(name):
    with open(os.path.join(SOURCE, "src", "update", name)) as file:
        return file.read()


class Shop(Builder):
    """Builds and runs the tests with machines in folders of their own."""

    def __init__(self, folder):
        super().__init__("mutate_five")
        self.folder = folder
        self.limit = 600  # seconds a run may take
        self.objects = {}  # as they are

    def compile_one(self, place, source, what):
        target = os.path.join(place, source.replace("/", "_") + ".o")
        path = os.path.join(place, "update", source) if source in FILES else os.path.join(
            SOURCE, "tests", source)
        self.compile(path, target, what, [place], ("src", "include", "tests"))
        return target

    def make(self, name, mutation):
        """The three programs with a mutation (None: as they are)."""
        place = os.path.join(self.folder, str(name))
        os.makedirs(os.path.join(place, "update"))
        for file in FILES:
            text = text_of(file)
            if mutation is not None and mutation.file == file:
                text = text.replace(mutation.old, mutation.new)
            with open(os.path.join(place, "update", file), "w") as copy:
                copy.write(text)
        what = mutation.what if mutation else "the machines as they are"
        objects = dict(self.objects)
        for source in FILES[1:] + TESTS:
            if mutation is None or mutation.file in (source, "five.h"):
                objects[source] = self.compile_one(place, source, what)
        if mutation is None:
            self.objects = objects
        programs = []
        for test in TESTS:
            programs.append(os.path.join(place, test.replace("/", "_")[:-2]))
            self.link([*(objects[source] for source in FILES[1:]), objects[test]], programs[-1],
                      what)
        return programs

    def run(self, program, *arguments):
        """None if it came through, else what it said."""
        try:
            done = subprocess.run([program, *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return "no end after %d s" % self.limit
        return None if done.returncode == 0 else done.stdout.decode(errors="replace")

    def judge(self, name, mutation):
        """Whether trials found it, whether unit tests did, and what to say."""
        programs = self.make(name, mutation)
        trials = self.run(programs[0], str(TRIALS), str(SEED))
        unit = any([self.run(program) is not None for program in programs[1:]])
        if trials is None:
            return False, unit, "by unit tests" if unit else "came through"
        seed = re.search(r"trial (\d+): ", trials)
        after = "after %d" % (int(seed.group(1)) - SEED + 1) if seed else "somewhere"
        return True, unit, after + (", unit tests" if unit else "")


def main():
    check(MUTATIONS, text_of)
    with tempfile.TemporaryDirectory(prefix="selvage-mutate-") as folder:
        shop = Shop(folder)
        begin = time.monotonic()
        trials, unit, verdict = shop.judge("present", None)
        if trials or unit:
            raise SystemExit("the machines as they are: found out %s" % verdict)
        shop.limit = max(20, round(6 * (time.monotonic() - begin)))
        wrong = by_trials = 0
        for mutation, (trials, unit, verdict) in judge_all(shop.judge, MUTATIONS):
            by_trials += trials
            if not trials and (mutation.unsafe or not unit):
                wrong += 1
                verdict = verdict.upper()
            print("%-24s %-18s rule %d  %s" % (verdict, mutation.file, mutation.rule,
                                                   mutation.what), flush=True)
    print("%d wrong machines, %d found by %d trials, %d not as they should; %.0f s" % (
        len(MUTATIONS), by_trials, TRIALS, wrong, time.monotonic() - begin))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
