"""The five phases as models for spin: five.pml (what may never happen), five_ends.pml (what must).

Every configuration must be searched to the end without an error; every model with a rule left out
must be found out, and the end of its counter-example (of five.pml; the shortest where that is cheap) is
printed. A model that shows
nothing because nothing happens in it would be found out by REACH.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SAFE, ENDS = "five.pml", "five_ends.pml"
MEMORY_MB = 1500

# What must hold: model, definitions.
GOOD = [
    (SAFE, ""),
    (SAFE, "MORTAL=1"),
    (SAFE, "PLAIN MORTAL=0"),
    (SAFE, "PLAIN UPDATES=2"),
    (SAFE, "PLAIN REJOIN"),
    (SAFE, "PLAIN RESTART"),
    (ENDS, "LOSSES=1"),
    (ENDS, "LOSSES=1 PATIENCE=0 NO_RETRY"),
    (ENDS, "LOSSES=1 TRIES=1 PATIENCE=0 MORTAL=0"),
    (ENDS, "LOSSES=0 TRIES=1 PATIENCE=0 DEAF=0"),
]

# What must be found out: model, definitions, the rule that is left out.
BROKEN = [
    (SAFE, "NO_WAIT", "programs without waiting for the last DONE"),
    (SAFE, "NO_DRAIN", "migrates with packets under way"),
    (SAFE, "DONE_EARLY", "DONE before the flow is drained"),
    (SAFE, "TRUST", "who does not answer is taken for dead (the thesis)"),
    (SAFE, "NO_FENCE", "no leaving when the lease is about to end"),
    (SAFE, "REPATH_EARLY", "REPATH before all switches confirmed"),
    (SAFE, "NO_SERIAL", "CONFIRM without serial"),
    (SAFE, "CONFIRM_LATE", "a CONFIRM counts after its round's lease"),
    (SAFE, "PLAIN UPDATES=2 REPATH_FENCE", "REPATH ends the fence"),
    (SAFE, "PLAIN UPDATES=2 FORGET", "who does not answer REPATH is forgotten"),
    (SAFE, "BLIND", "'all have migrated' does not say where to"),
    (SAFE, "PLAIN UPDATES=2 LATE_BLOCK", "a block of an earlier update arrives in a later one"),
    (SAFE, "PLAIN REJOIN UNSUB_LATE", "UNSUBSCRIBE counts whatever its serial"),
    (SAFE, "PLAIN MORTAL=0 RANK0", "rank 0 dies alone"),
    (SAFE, "PLAIN RESTART HASTY", "a new manager does not wait for a lease"),
    (SAFE, "PLAIN RESTART EVEN", "a new manager takes base entries for good"),
    (ENDS, "LOSSES=0 PATIENCE=0 MORTAL=0 HEARD_DEAD", "who has heard and died is waited for"),
    (ENDS, "LOSSES=0 PATIENCE=0 DEAF=0 RENEW", "who cannot hear UNPATH renews for ever"),
    (ENDS, "LOSSES=2 PATIENCE=0 TRIES=1 NO_NEWS", "renewals do not tell the epoch"),
    (ENDS, "LOSSES=1 PATIENCE=0 ONE_SHOT", "DONE is not repeated"),
]


def require():
    """Ends the test program where spin is not there: skipped, or failed if it must be."""
    absent = [program for program in ("spin", "gcc") if shutil.which(program) is None]
    if absent:
        print("skipped: not installed: %s (Debian packages)" % ", ".join(absent))
        sys.exit(1 if os.environ.get("SELVAGE_REQUIRE_SPIN") else 77)


def run(command, folder, limit=600):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=limit, check=False).stdout


class Search:
    """One run of spin: builds pan in a folder of its own, and reads what it says."""

    def __init__(self, model, words, shortest=False):
        self.name = "%s %s" % (model, words)
        flags = ["-D" + word for word in words.split()]
        source = os.path.join(HERE, model)
        with tempfile.TemporaryDirectory() as folder:
            made = run(["spin", "-a"] + flags + [source], folder)
            options = ["-DNP"] if model == ENDS else ["-DSAFETY"]
            options += ["-O1"] if shortest else ["-O2"]
            # breadth first: the shortest, unless it is so long that this takes too much memory
            options += ["-DBFS"] if shortest and model == SAFE and "UPDATES=2" not in words else []
            made += run(["gcc", "-w", "-DCOLLAPSE", "-DMEMLIM=%d" % MEMORY_MB] + options +
                        ["-o", "pan", "pan.c"], folder)
            if not os.path.exists(os.path.join(folder, "pan")):
                raise AssertionError(self.name + ": " + made)
            # -E: five.pml is not asked for invalid ends: mail is under way for ever in it
            self.said = run(["./pan", "-m300000"] + (["-l"] if model == ENDS else ["-E"]), folder)
            self.trace = []
            if os.path.exists(os.path.join(folder, model + ".trail")):
                told = run(["spin", "-w", "-t", "-k", model + ".trail"] + flags + [source], folder)
                self.trace = [line.strip() for line in told.splitlines()
                              if re.match(r"\s*(manager|subscriber|switch|flow|time)\b.*:", line)]
        found = re.search(r"errors: (\d+)", self.said)
        self.errors = int(found.group(1)) if found else None
        found = re.search(r"(\d+) states, stored", self.said)
        self.states = int(found.group(1)) if found else 0
        found = re.search(r"pan:1: (.*)", self.said)
        self.why = found.group(1) if found else ""

    def whole(self):
        """Nothing was cut off."""
        cut = re.search(r"Search not completed|max search depth too small|out of memory|reached.*limit|"
                        r"hash table.*full|interrupted", self.said)
        return self.errors is not None and not cut


def searches(items, shortest=False):
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(lambda item: Search(item[0], item[1], shortest), items))


class FiveModel(unittest.TestCase):
    def test_rules_hold(self):
        for search in searches(GOOD):
            print("%-55s %8d states" % (search.name, search.states), flush=True)
            with self.subTest(search.name):
                self.assertEqual(search.errors, 0, search.said + "\n".join(search.trace))
                self.assertTrue(search.whole(), search.said)
                self.assertGreater(search.states, 1000)

    def test_broken_rules_are_found_out(self):
        for (_, _, rule), search in zip(BROKEN, searches(BROKEN, shortest=True)):
            print("%s: %s\n  %s" % (search.name, rule, search.why))
            print("".join("    %s\n" % line for line in search.trace[-12:]), end="", flush=True)
            with self.subTest(search.name):
                self.assertEqual(search.errors, 1, search.said)
                self.assertRegex(search.why, "assertion violated|non-progress cycle|invalid end state")

    def test_something_happens(self):
        for words in ("REACH", "REACH PLAIN MORTAL=0"):
            search = Search(SAFE, words)
            self.assertEqual(search.errors, 1, words + ": never back on base under new entries")
            self.assertIn("assertion violated 0", search.why)


if __name__ == "__main__":
    require()
    unittest.main()
