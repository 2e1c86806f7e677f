"""selvage's VLs against the exact answers of vls_oracle.py, on random small fabrics: every VL
without cycles, never fewer VLs than possible (that would be a bug on either side), not many more,
and paths shortest. Ends with a table of how far the methods are from the true minimum.

Run: python3 -B tests/oracle/test_vls.py [TRIALS [SEED]]
"""
import os
import random
import re
import shutil
import sys
import tempfile
import unittest
from collections import Counter, defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import vls_oracle as oracle
from support.command import inject, ok, selvage
from support.trials import arguments
from routes_oracle import load

TRIALS, SEED = arguments(50)
PATIENCE = 1000          # steps of a search; what takes longer is not compared, but counted
MAX = 15                # InfiniBand's data VLs
INFEASIBLE = 4           # exit code
FIXED = "weakest", "strongest", "first", "online"  # with the tables of sssp
GOOD = "weakest", "online"  # of these, those which may exceed the minimum by TOLERANCE only
TOLERANCE = 2
DEFAULT = "(default)"


def say(text):
    print(text, file=sys.stderr, flush=True)


def listed():
    """{engine: methods of its option `assign`} from selvage itself."""
    engines = {}
    for engine in ok("engines", "--json").json:
        values = [option["values"] for option in engine["options"] if option["name"] == "assign"]
        engines[engine["name"]] = values[0].split("|") if values else []
    return engines


LISTED = listed()
METHODS = LISTED.get("dfsssp", [])
JOINT = [method for method in METHODS if method not in FIXED]  # these choose paths, too


# Fabrics ------------------------------------------------------------------------------------------

def larger_spec(rng):
    """Up to sixteen switches: the minimum for given paths is still within reach."""
    switches = rng.randint(8, 14)
    return rng.choice([
        "torus:%d,hosts=1" % rng.randint(8, 12),
        "torus:%dx%d,hosts=1" % (rng.randint(4, 5), 3),
        "torus:4x4,total=%d" % rng.randint(6, 16),
        "kautz:d=2,k=3,hosts=1",
        "dragonfly:a=3,p=1,h=1,g=4",
        "jellyfish:switches=%d,degree=3,hosts=1,seed=%d" % (2 * rng.randint(4, 6),
                                                            rng.randint(1, 999)),
    ] + 4 * ["random:switches=%d,links=%d,hosts=1,seed=%d" % (
        switches, switches + rng.randint(1, 7), rng.randint(1, 999))])


def random_spec(rng):
    if rng.random() < 0.25:
        return larger_spec(rng)
    hosts = rng.randint(1, 2)
    switches = rng.randint(4, 7)
    return rng.choice([
        "torus:%d,hosts=%d" % (rng.randint(3, 7), hosts),
        "torus:%d,total=%d,r=%d" % (rng.randint(3, 6), rng.randint(2, 5), rng.randint(1, 2)),
        "torus:3x3,hosts=1",
        "torus:%dx3,total=%d" % (rng.randint(2, 3), rng.randint(2, 6)),
        "torus:4x2,hosts=%d" % hosts,
        "mesh:2x3,hosts=%d,r=%d" % (hosts, rng.randint(1, 2)),
        "hypercube:3,hosts=1",
        "kautz:d=2,k=2,hosts=1",
        "dragonfly:a=2,p=1,h=1,g=3",
        "kary:k=2,n=2,hosts=%d" % hosts,
    ] + 3 * [
        "random:switches=%d,links=%d,hosts=%d,seed=%d" % (
            switches, switches + rng.randint(0, 4), hosts, rng.randint(1, 999)),
        "random:switches=%d,links=%d,total=%d,seed=%d" % (
            switches, switches + rng.randint(0, 4), rng.randint(2, switches + 2),
            rng.randint(1, 999)),
    ])


def random_fabric(rng, directory):
    """A fabric file, in some of which a cable is gone, so that it may be in two pieces."""
    path, spec = os.path.join(directory, "fabric.net"), random_spec(rng)
    ok("topo", spec, "-o", path)
    if rng.random() < 0.3:
        with open(path) as file:
            names = re.findall(r'^Switch.*?# "([^"]+)"', file.read(), re.M)
        broken = "%s/%d" % (rng.choice(names), rng.randint(1, 4))
        if inject(path, "--port", broken):
            spec += " without " + broken
    return path, spec


# The table at the end -----------------------------------------------------------------------------

class Tally:
    """How many VLs more than necessary, by method and against which minimum."""

    def __init__(self):
        self.excess = defaultdict(Counter)

    def note(self, row, found, minimum):
        self.excess[row]["?" if minimum is None else found - minimum] += 1

    def show(self):
        columns = sorted({each for row in self.excess.values() for each in row}, key=str)
        say("\nVLs above the true minimum (?: too hard to know), number of fabrics")
        say("%-30s" % "" + "".join("%6s" % ("+%d" % each if each != "?" else each)
                                   for each in columns))
        for row, counts in self.excess.items():
            say("%-30s" % row + "".join("%6d" % counts[each] for each in columns))


TALLY, MINIMA = Tally(), Counter()


def tearDownModule():
    TALLY.show()
    say("true minima of all the tables that differ: " + ", ".join(
        "%s in %d of them" % (each, MINIMA[each]) for each in sorted(MINIMA, key=str)))


def known(function, *arguments):
    """The oracle's answer, or None if it is too hard."""
    try:
        return function(*arguments, MAX, PATIENCE)
    except oracle.TooHard:
        return None


# Trials -------------------------------------------------------------------------------------------

class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-vls-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.number = 0

    def keep(self, trial):
        """Says which trial failed, so that it can be had again."""
        return "trial %d: python3 -B tests/oracle/test_vls.py 1 %d" % (trial, trial)

    def route(self, fabric, engine, *options, vls=MAX):
        """What selvage says, and the tables it wrote; None for these if VLs do not suffice."""
        self.number += 1
        directory = os.path.join(self.folder, "tables%d" % self.number)
        result = selvage("route", fabric, "--engine", engine, "--vls", str(vls), "-o", directory,
                         "--json", *options)
        if result.code == INFEASIBLE:
            return None, None
        self.assertEqual(result.code, 0, result.err)
        tables = load(directory)
        shutil.rmtree(directory)
        return result.json, tables

    def hold_to_promises(self, said, tables, there):
        """Shortest paths, one VL each, no cycle, no more VLs than there are."""
        self.assertEqual(oracle.hops_too_many(tables), 0)
        paths, vls = oracle.vls_of(tables)
        self.assertTrue(oracle.acyclic_per_vl(paths, vls))
        self.assertIs(said["check"]["verdicts"]["terminal_switch"], True)
        self.assertIs(said["check"]["verdicts"]["switch_switch"],
                      oracle.acyclic_per_vl(*oracle.vls_of(tables, strict=True)))
        self.assertLess(max(vls.values(), default=0), there)
        self.assertLessEqual(len(set(vls.values())), said["vls_used"])
        self.assertLessEqual(said["vls_used"], there)
        self.assertLessEqual(said["vls_needed"], there)

    def judge(self, fabric, engine, *options):
        """With many VLs; with just the needed ones; and one fewer must not do. Gives the number
        of needed VLs, and both tables."""
        said, tables = self.route(fabric, engine, *options)
        self.assertIsNotNone(said, "not even with %d VLs" % MAX)
        self.hold_to_promises(said, tables, MAX)
        needed = said["vls_needed"]
        tight, tight_tables = self.route(fabric, engine, *options, vls=needed)
        self.assertIsNotNone(tight, "not with the %d VLs needed" % needed)
        self.hold_to_promises(tight, tight_tables, needed)
        self.assertEqual(tight["vls_needed"], needed)
        if needed > 1:
            self.assertIsNone(self.route(fabric, engine, *options, vls=needed - 1)[0],
                              "needs fewer than %d VLs" % needed)
        return needed, tables, tight_tables


@unittest.skipUnless("dfsssp" in LISTED, "NOT TESTED: there is no engine dfsssp")
class Dfsssp(Case):
    @classmethod
    def setUpClass(cls):
        for method in FIXED:
            if method not in METHODS:
                say("NOT TESTED: dfsssp has no assign=%s" % method)
        if not JOINT:
            say("NOT TESTED: dfsssp has no method that chooses paths and VLs together")

    def options(self, method, lmc):
        chosen = ("--option", "assign=" + method) if method != DEFAULT else ()
        return (*chosen, "--lmc", str(lmc))

    def methods(self, fabric, lmc, trial, spec):
        """{method: VLs} of all methods; each is held to the minimum for its own tables. Those
        that choose paths, too, choose freer if there are more VLs than needed; what they say of
        the needed VLs is about the tables they have with just these."""
        needed, minima, fixed, tables = {}, {}, set(), None
        for method in [*METHODS, DEFAULT]:
            with self.subTest(self.keep(trial), method=method, spec=spec, lmc=lmc):
                needed[method], loose, tables = self.judge(fabric, "dfsssp",
                                                           *self.options(method, lmc))
                key = repr(sorted(tables.lft.items()))
                if method in FIXED:
                    fixed |= {key, repr(sorted(loose.lft.items()))}
                    self.assertEqual(len(fixed), 1, "not the same tables")
                if key not in minima:
                    minima[key] = known(oracle.minimum_vls, oracle.paths_of(tables).values())
                    MINIMA[minima[key] or "?"] += 1
                minimum = minima[key]
                TALLY.note("dfsssp " + method, needed[method], minimum)
                if minimum is None:
                    continue
                self.assertGreaterEqual(needed[method], minimum, "fewer VLs than possible")
                if method in GOOD:
                    self.assertLessEqual(needed[method], minimum + TOLERANCE)
        return needed, tables

    def test_vls(self):
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("VLs %d" % trial)
            fabric, spec = random_fabric(rng, self.folder)
            lmc = rng.choice((0, 0, 1))
            needed, tables = self.methods(fabric, lmc, trial, spec)
            if len(needed) < len(METHODS) + 1:
                continue  # said already
            with self.subTest(self.keep(trial), spec=spec, lmc=lmc):
                self.together(needed, known(oracle.minimum_vls_of_minimal_routing, tables))

    def together(self, needed, least):
        """No method has fewer VLs than any shortest paths need; those that choose paths, too,
        need no more than the best of the others."""
        if least is not None:
            self.assertGreaterEqual(min(needed.values()), least, "fewer than any tables need")
        best = min(needed[method] for method in FIXED if method in needed)
        for method in JOINT + [DEFAULT] * bool(JOINT):
            TALLY.note("dfsssp %s, any tables" % method, needed[method], least)
            self.assertLessEqual(needed[method], best, method)


@unittest.skipUnless("lash" in LISTED, "NOT TESTED: there is no engine lash")
class Lash(Case):
    def test_vls(self):
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("VLs %d" % trial)
            fabric, spec = random_fabric(rng, self.folder)
            with self.subTest(self.keep(trial), engine="lash", spec=spec):
                needed, _, tables = self.judge(fabric, "lash")
                self.assertEqual(oracle.pairs_with_several_paths(tables), set())
                self.assertEqual(oracle.pairs_with_several_sls(tables), set())
                minimum = known(oracle.minimum_vls_of_pairs, tables)
                TALLY.note("lash", needed, minimum)
                if minimum is not None:
                    self.assertGreaterEqual(needed, minimum, "fewer VLs than possible")
                least = known(oracle.minimum_vls_of_minimal_routing, tables)
                TALLY.note("lash, any tables", needed, least)
                if least is not None:
                    self.assertGreaterEqual(needed, least, "fewer than any tables need")


if __name__ == "__main__":
    for name in ("dfsssp", "lash"):
        if name not in LISTED:
            say("NOT TESTED: there is no engine %s" % name)
    if "dfsssp" not in LISTED and "lash" not in LISTED:
        sys.exit(77)
    unittest.main()
