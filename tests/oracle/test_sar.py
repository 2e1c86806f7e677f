"""Job-aware routing against its second implementation (sar_rules.py), on random small fabrics with
random jobs: tables of sssp and sar must be what the documented order of destinations asks for, up to
ties; nue, weave and dfsssp with --jobs must keep their promises, and load channels less with routes
inside jobs than without.

Run: python3 -B tests/oracle/test_sar.py [TRIALS [SEED]]
"""
import csv
import os
import random
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle
import sar_rules as sar
from support.command import inject, ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(60)


def random_spec(rng):
    hosts = rng.randint(1, 4)
    return rng.choice([
        "torus:%dx%d,hosts=%d,r=%d" % (rng.randint(2, 4), rng.randint(2, 4), hosts,
                                       rng.randint(1, 2)),
        "mesh:%dx%d,hosts=%d" % (rng.randint(2, 3), rng.randint(2, 4), hosts),
        "kary:k=2,n=%d,hosts=%d" % (rng.randint(2, 3), rng.randint(1, 2)),
        "xgft:h=1,m=%d,w=%d,hosts=%d,r=%d" % (rng.randint(2, 6), rng.randint(1, 4), hosts,
                                              rng.randint(1, 3)),
        "xgft:h=2,m=2/3,w=2/2,hosts=%d" % hosts,
        "hypercube:3,hosts=%d" % hosts,
        "random:switches=%d,links=%d,total=%d,seed=%d" % (9, rng.randint(10, 20),
                                                          rng.randint(9, 30), rng.randint(1, 99)),
        "fullmesh:%d,hosts=%d,r=%d" % (rng.randint(2, 6), hosts, rng.randint(1, 2)),
        "dragonfly:a=2,p=2,h=1,g=3",
        "hyperx:3x3,hosts=%d" % hosts,
    ])


def random_jobs(rng, names):
    """Lines of a job map: nodes of several jobs, of none, nodes that nobody knows."""
    jobs = ["job%d" % i for i in range(rng.randint(1, 5))]
    lines = []
    kind = rng.choice(("scattered", "blocks", "overlapping", "one"))
    for place, name in enumerate(names):
        if kind == "one":
            lines.append("%s %s" % (name, jobs[0]))
        elif kind == "blocks":
            lines.append("%s %s" % (name, jobs[place * len(jobs) // len(names)]))
        elif rng.random() < 0.8:
            lines.append("%s %s" % (name, rng.choice(jobs)))
        if kind == "overlapping":
            lines += ["%s %s" % (name, job) for job in jobs if rng.random() < 0.2]
    lines = lines or ["%s %s" % (names[0], jobs[0])]
    rng.shuffle(lines)
    return "\n".join(lines + ["gone %s" % jobs[0]]) + "\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-sar-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def keep(self, trial):
        return "trial %d: python3 -B tests/oracle/test_sar.py 1 %d" % (trial, trial)

    def scene(self, rng):
        """A fabric file with jobs: (path, map, fabric, jobs, more options of route)."""
        path = self.path("fabric.net")
        ok("topo", random_spec(rng), "-o", path)
        if rng.random() < 0.4:
            inject(path, "--links", str(rng.randint(1, 3)), "--seed", str(rng.randint(1, 999)))
        fabric = sar.Fabric(ok("convert", path, "-f", "json").out)
        nodes = [t for t in fabric.terminals.values()]
        text = random_jobs(rng, [t.name for t in nodes])
        options = []
        if rng.random() < 0.5:
            storage = [t for t in nodes if rng.random() < 0.2]
            for t in storage:
                fabric.terminals[t.node] = t._replace(role="io")
            if storage:
                options = ["--io-guids", self.write("io.txt", "".join(t.guid + "\n"
                                                                      for t in storage))]
        return path, self.write("jobs.txt", text), fabric, sar.read_jobs(fabric, text), options

    def tables(self, fabric, directory, lmc):
        """The tables in a directory as sar_rules has them."""
        found = routes_oracle.load(directory)
        number = {int(guid, 16): v for v, guid in fabric.guid.items()}
        rows = {}
        for v, guid in fabric.guid.items():
            owned = sorted(lid for lid, of in found.owner.items() if int(of, 16) == int(guid, 16))
            for address, lid in enumerate(owned[:1 << lmc] if v in fabric.terminals else owned[:1]):
                rows[v, address] = {number[int(s, 16)]: row[lid] for s, row in found.lft.items()
                                    if lid in row}
        return rows


class TheRules(Case):
    """The second implementation, judged by itself."""

    def test_own_tables_pass_and_wrong_ones_do_not(self):
        noticed = 0
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("rules %d" % trial)
            with self.subTest(self.keep(trial)):
                _, _, fabric, jobs, _ = self.scene(rng)
                lmc = rng.choice((0, 0, 1))
                tables = sar.route(fabric, jobs, lmc, rng.choice)
                self.assertEqual(sar.replay(fabric, jobs, tables, lmc), [])
                dull = sar.route(fabric, {}, lmc, min)  # knows of no jobs
                noticed += sar.replay(fabric, jobs, dull, lmc) != []
        if TRIALS >= 60:  # else it is a matter of luck
            self.assertGreater(noticed, TRIALS // 2)

    def test_order_by_hand(self):
        fabric = sar.Fabric(ok("convert", "mesh:3,hosts=3", "-f", "json").out)
        a, b, c = ([t for t in sorted(fabric.terminals) if fabric.terminals[t].switch == s]
                   for s in fabric.switches)
        for v in (a, b, c):
            v.sort(key=lambda t: fabric.terminals[t].port)
        jobs = {"small": {b[2], c[0]}, "large": {a[0], a[1], b[0], c[0]}, "same": {a[1], b[1]}}
        fabric.terminals[c[2]] = fabric.terminals[c[2]]._replace(role="io")
        first, second, third = sar.phases(fabric, jobs)
        # of the two jobs of two terminals the one with the lower terminal comes first
        self.assertEqual(first, [a[0], b[0], c[0], a[1], b[1], b[2]])
        self.assertEqual(second, [c[2]])
        self.assertEqual(third, [a[2], c[1]])
        self.assertEqual(sum(sar.counted(fabric, jobs, 0, c[0]).values()), 4)
        self.assertEqual(sum(sar.counted(fabric, jobs, 2, c[1]).values()), 8)


class Replay(Case):
    def check(self, *engine):
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("replay %d" % trial)
            with self.subTest(self.keep(trial)):
                path, text, fabric, jobs, options = self.scene(rng)
                lmc = rng.choice((0, 0, 1))
                directory = self.path("tables")
                ok("route", path, *engine, "--jobs", text, "--seed", str(trial), "--lmc", str(lmc),
                   "--no-check", "-o", directory, *options)
                wrong = sar.replay(fabric, jobs, self.tables(fabric, directory, lmc), lmc)
                self.assertEqual(wrong[:3], [], "%d in all" % len(wrong))
                shutil.rmtree(directory)

    def test_sssp(self):
        self.check("--engine", "sssp")

    def test_sar(self):
        self.check("--engine", "sar", "--option", "assign=online")


class Links(Case):
    def test_routes_and_jobs_on_each_channel(self):
        """metrics --links against Definition 5.1."""
        for trial in range(SEED, SEED + TRIALS // 2):
            rng = random.Random("links %d" % trial)
            with self.subTest(self.keep(trial)):
                path, text, fabric, jobs, options = self.scene(rng)
                lmc, directory = rng.choice((0, 0, 1)), self.path("tables")
                ok("route", path, "--engine", rng.choice(("sssp", "updn", "nue")), "--lmc", str(lmc),
                   "--no-check", "-o", directory, *options)
                tables = self.tables(fabric, directory, lmc)
                ok("metrics", directory, "--jobs", text, "--links", self.path("links.csv"))
                number = {int(fabric.guid[s], 16): s for s in fabric.switches}
                with open(self.path("links.csv"), newline="") as file:
                    found = {(number[int(r["from_guid"], 16)], int(r["from_port"])):
                             (int(r["effective_routes"]), int(r["jobs"])) for r in csv.DictReader(file)}
                routes = sar.effective(fabric, jobs, tables, lmc)
                users = sar.sharers(fabric, jobs, tables, lmc)
                self.assertEqual(found, {c: (routes[c], users[c]) for c in fabric.head})
                shutil.rmtree(directory)


class Promises(Case):
    """What engines promise holds with jobs, too, and jobs gain by it."""

    def engine(self, name, vls, minimal, oblivious=None):
        """oblivious: the engine to compare with; its own self where it can do without jobs."""
        sums = {"with": 0, "without": 0}
        refused = 0
        for trial in range(SEED, SEED + TRIALS // 2):
            rng = random.Random("promises %d" % trial)
            with self.subTest(self.keep(trial), engine=name):
                path, text, _, _, options = self.scene(rng)
                limit = str(rng.choice(vls))
                found = {}
                for kind, by, more in (("without", oblivious or name, []),
                                       ("with", name, ["--jobs", text])):
                    done = selvage("route", path, "--engine", by, "--vls", limit, "--no-check",
                                   "-o", self.path(kind), *options, *more)
                    if done.code == 4 and minimal:
                        break
                    self.assertEqual(done.code, 0, done.err)
                    self.judge(self.path(kind), minimal, int(limit))
                    found[kind] = ok("metrics", self.path(kind), "--jobs", text,
                                     "--json").json["jobs"]["efi"]["max"]
                if len(found) < 2:
                    refused += 1  # too few VLs
                    continue
                for kind, most in found.items():
                    sums[kind] += most
        print("%s: effective EFI, sum of the largest: %d without jobs, %d with (%.3f); %d refused" % (
            name, sums["without"], sums["with"], sums["with"] / max(1, sums["without"]), refused),
            file=sys.stderr)
        if TRIALS >= 20:
            self.assertLess(refused, TRIALS // 4)
            self.assertLess(sums["with"], sums["without"])

    def judge(self, directory, minimal, vls):
        tables = routes_oracle.load(directory)
        found = routes_oracle.verify(tables)
        self.assertEqual(found["loops"], 0)
        self.assertEqual(found["unreachable"]["terminal_terminal"],
                         routes_oracle.split_pairs(tables))
        self.assertTrue(found["terminal_terminal"] and found["terminal_switch"], found["cycle"])
        self.assertLessEqual(found["vls_used"], vls)
        if minimal:
            stretch = ok("metrics", directory, "--json").json["stretch"]
            self.assertEqual(stretch["longer_pairs"], 0)

    def test_nue(self):
        self.engine("nue", (1, 2, 4, 8), False)

    def test_weave(self):
        self.engine("weave", (1, 2, 4, 8), False)

    def test_dfsssp(self):
        self.engine("dfsssp", (2, 4, 8), True)

    def test_sar(self):
        self.engine("sar", (2, 4, 8), True, "dfsssp")

    def test_second_round(self):
        """What sar does beyond Algorithm 5.1 makes the busiest channels less busy."""
        sums = {"sssp": 0, "sar": 0}
        for trial in range(SEED, SEED + TRIALS // 2):
            rng = random.Random("round %d" % trial)
            path, text, _, _, options = self.scene(rng)
            for engine in sums:
                ok("route", path, "--engine", engine, "--jobs", text, "--no-check", "-o",
                   self.path(engine), *options)
                sums[engine] += ok("metrics", self.path(engine), "--jobs", text,
                                   "--json").json["jobs"]["efi"]["max"]
        print("effective EFI, sum of the largest: %d after one round, %d after two (%.3f)" % (
            sums["sssp"], sums["sar"], sums["sar"] / max(1, sums["sssp"])), file=sys.stderr)
        if TRIALS >= 20:
            self.assertLess(sums["sar"], sums["sssp"])

    def test_sar_is_dfsssp_with_a_map(self):
        text = self.write("jobs.txt", "host0 a\nhost5 a\nhost9 b\nhost20 b\n")
        found = []
        for engine in "sar", "dfsssp":
            ok("route", "torus:4x4,hosts=2", "--engine", engine, "--jobs", text, "-o",
               self.path(engine))
            with open(os.path.join(self.path(engine), "opensm-lfts.dump")) as file:
                found.append(file.read())
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    unittest.main()
