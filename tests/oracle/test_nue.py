"""Engine nue on many random small fabrics: with failures, parallel links, several components, one
to eight VLs, several addresses a terminal, all partitions. Every table must be free of deadlock
for all traffic, by selvage's own check and by the slow second opinion; reach whatever can be
reached; and be the same again, whichever search and however many threads.

Run: python3 -B tests/oracle/test_nue.py [TRIALS [SEED]]
"""
import os
import random
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle
from support.command import inject, ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(60)


def random_spec(rng):
    hosts = rng.randint(0, 2)
    return rng.choice([
        "torus:%dx%d,hosts=%d,r=%d" % (rng.randint(3, 5), rng.randint(3, 5), hosts,
                                       rng.randint(1, 2)),
        "torus:%dx3x3,hosts=1" % rng.randint(2, 4),
        "torus:%d,hosts=%d" % (rng.randint(3, 9), rng.randint(1, 2)),
        "mesh:%dx%d,hosts=%d" % (rng.randint(1, 4), rng.randint(2, 5), hosts),
        "kary:k=3,n=3,hosts=1",
        "hypercube:4,hosts=1",
        "fullmesh:%d,hosts=%d,r=2" % (rng.randint(2, 6), hosts),
        "dragonfly:a=4,p=1,h=1,g=5",
        "kautz:d=2,k=3,hosts=1",
        "random:switches=%d,links=%d,total=%d,seed=%d" % (16, rng.randint(20, 45),
                                                          rng.randint(4, 20), rng.randint(1, 999)),
    ])


def random_options(rng):
    options = []
    for name, values in (("partition", ("kway", "random", "clustered")),
                         ("impasse", ("guard", "escape", "never")), ("lay", ("auto", "yes", "no"))):
        options += ["--option", "%s=%s" % (name, rng.choice(values))]
    return options + ["--vls", str(rng.choice((1, 1, 2, 3, 4, 5, 8))), "--lmc",
                      str(rng.choice((0, 0, 1))), "--seed", str(rng.randint(1, 9))]


def contents(directory):
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = file.read()
    return found


class Nue(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-nue-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def fabric(self, rng):
        """Some links and switches fail, so that it may fall apart."""
        path = self.path("fabric.net")
        ok("topo", random_spec(rng), "-o", path)
        if rng.random() < 0.6:
            inject(path, "--links", str(rng.randint(1, 6)), "--seed", str(rng.randint(1, 999)))
        return path

    def test_random_fabrics(self):
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("nue %d" % trial)
            with self.subTest("python3 -B tests/oracle/test_nue.py 1 %d" % trial):
                fabric, options = self.fabric(rng), random_options(rng)
                tables, other = self.path("tables"), self.path("other")
                report = ok("route", fabric, "-e", "nue", "-o", tables, "--json", *options).json
                found = selvage("check", tables, "--strict", "--json")
                self.assertIn(found.code, (0, 1), found.err)
                self.assertTrue(found.json["verdicts"]["switch_switch"])
                self.assertEqual(found.json["unreachable_pairs"], 0)
                self.assertEqual(found.json["loops"], 0)
                vls = int(options[options.index("--vls") + 1])
                self.assertLessEqual(report["vls_used"], vls)
                if "partition=clustered" not in options:
                    self.assertEqual(report["vls_used"], min(vls, report["destinations"]))
                self.second_opinion(tables, found.json)
                ok("route", fabric, "-e", "nue", "-o", other, "--option", "search=omega",
                   "--threads", str(rng.randint(1, 3)), *options)
                self.assertEqual(contents(tables), contents(other))
            shutil.rmtree(self.path("tables"), ignore_errors=True)
            shutil.rmtree(self.path("other"), ignore_errors=True)

    def second_opinion(self, directory, found):
        wanted = oracle.verify(oracle.load(directory))
        self.assertEqual(wanted["loops"], 0)
        self.assertTrue(wanted["switch_switch"], wanted["cycle"])
        self.assertEqual(wanted["unreachable"]["terminal_terminal"], found["split_pairs"])

    def test_clustered_keeps_terminals_together(self):
        tables = self.path("clustered")
        ok("route", "torus:4x4,hosts=3", "-e", "nue", "-o", tables, "--vls", "4", "--option",
           "partition=clustered")
        loaded = oracle.load(tables)
        with open(os.path.join(tables, "opensm.psl")) as file:
            vl = {int(w[1]): int(w[2]) for w in map(str.split, file) if w and w[0] == "*"}
        together = {}
        for lid, owner in loaded.owner.items():
            at = owner if owner in oracle.switches_of(loaded) else loaded.cables[(owner, 1)][0]
            together.setdefault(at, set()).add(vl[lid])
        self.assertTrue(all(len(vls) == 1 for vls in together.values()))
        self.assertEqual(len(set(vl.values())), 4)

    def test_refusals(self):
        for option in ("partition=half", "search=luck", "impasse=", "lay=maybe", "eggs=1"):
            result = selvage("route", "mesh:2x2", "-e", "nue", "--option", option)
            self.assertEqual(result.code, 2)
            self.assertIn(option.split("=")[0], result.err)

    def test_where_searches_fail(self):
        """Tori on which there are impasses that backtracking does not solve."""
        fallbacks = dict.fromkeys(("guard", "escape", "never"), 0)
        tables = self.path("hard.svr")
        for impasse in fallbacks:
            for seed in range(1, 9):
                fallbacks[impasse] += ok(
                    "route", "torus:20x20,hosts=1", "-e", "nue", "--vls", "2", "--seed", str(seed),
                    "--option", "partition=clustered", "--option", "lay=no", "--option",
                    "impasse=" + impasse, "--json", "-o", tables).json["fallbacks"]
                self.assertEqual(selvage("check", tables, "--strict").code, 0)
        self.assertGreater(fallbacks["escape"], 0)
        self.assertGreater(fallbacks["guard"], 0)
        self.assertEqual(fallbacks["never"], 0)


if __name__ == "__main__":
    unittest.main()
