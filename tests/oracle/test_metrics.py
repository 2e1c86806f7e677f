"""selvage metrics against the slow second implementation of metrics_oracle.py, on random small
fabrics with random tables: loops, holes, odd VLs, several addresses a terminal, parallel links.

Run: python3 -B tests/oracle/test_metrics.py [TRIALS [SEED]]
"""
import os
import random
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import metrics_oracle as metrics
import routes_oracle as oracle
from support.command import ok, selvage
from test_routes import SEED, TRIALS, Case, random_fabric, random_tables, rewrite


def rename_hosts(rng, directory):
    """Some hosts get several adapters: their names share the first word."""
    names = {}

    def new_name(match):
        if match[1] not in names:
            names[match[1]] = ("{node%d HCA-%d}" % (rng.randint(1, 3), len(names))
                               if rng.random() < 0.5 else match[0])
        return names[match[1]]

    rewrite(directory, "opensm-subnet.lst", lambda text: re.sub(r"\{(host\d+)\}", new_name, text))


def random_jobs(rng, tables, path):
    hosts = sorted({tables.nodes[t].name.split()[0] for t in metrics.terminals_of(tables)})
    lines = ["# made up", ""]
    for host in hosts:
        lines += ["%s job%d%s" % (host, rng.randint(1, 3), rng.choice(("", " # why", "  ")))
                  for _ in range(rng.randint(0, 2))]
    rng.shuffle(lines)
    with open(path, "w") as file:
        file.write("\n".join(lines))
    return "\n".join(lines)


class Metrics(Case):
    def near(self, found, wanted, keys=None, places=3):
        for key in keys or wanted:
            self.assertAlmostEqual(found[key], wanted[key], places, key)

    def basics(self, found, tables, routes):
        loads = metrics.loads_of(tables, routes)
        self.assertEqual(found["channels"], len(loads))
        self.near(found["efi"], metrics.describe(list(loads.values())))
        self.assertEqual(found["pairs"], len(routes))
        hops = [len(channels) for _, _, channels in routes] or [0]
        self.near(found["hops"], {"avg": sum(hops) / len(hops), "max": max(hops)})
        self.near(found["stretch"], metrics.stretch_of(tables, routes))
        vls, rest = metrics.vls_of(tables, routes)
        self.assertEqual({row["vl"]: [row["routes"], row["hops"]] for row in found["vls"]},
                         vls)
        self.assertEqual(found["no_vl"], rest)
        self.assertEqual(found["sl2vl_known"], tables.sl2vl is not None)
        width, counts = found["histogram"]["width"], found["histogram"]["channels"]
        self.assertLessEqual(len(counts), 4)
        self.assertEqual(counts, [sum(load // width == i for load in loads.values())
                                  for i in range(len(counts))])
        self.assertEqual(sum(counts), len(loads))

    def bounds(self, found, tables, all_cuts=True):
        """Beyond 16 switches subtrees and halves are looked at, too: not repeated here."""
        wanted, hops, pairs = metrics.bounds_of(tables, all_cuts)
        best = max(wanted.values(), default=0)
        if found["efi_bound_kind"] in ("subtree", "halves") and not all_cuts:
            self.assertGreater(found["efi_bound"], best)
        else:
            self.assertEqual(found["efi_bound"], best)
            first = [kind for kind in ("mean", "switch", "ball", "cluster", "cut")
                     if best and wanted.get(kind) == best]
            if found["efi_bound_kind"] != "subtree":
                self.assertEqual(found["efi_bound_kind"], (first or ["none"])[0])
        self.assertAlmostEqual(found["hops_bound"], hops, 5)
        if found["pairs"] == pairs:
            self.assertLessEqual(found["efi_bound"], found["efi"]["max"])
            self.assertLessEqual(found["hops_bound"], found["hops"]["avg"] + 1e-5)

    def lost(self, found, tables, routes, directory, what, trials, seed):
        for row in found["failures"]:
            number, samples = row["failures"], []
            if what == "switches" and number == len(oracle.switches_of(tables)):
                self.assertEqual(row["min"], len(routes))  # all; `faults` does not write nothing
                continue
            for trial in range(trials):
                listed = self.path("failed")
                ok("faults", directory, "--" + what, str(number), "--seed", str(seed + trial),
                   "--save-list", listed, "--json")
                with open(listed) as file:
                    failed = metrics.read_failures(file.read())
                self.assertEqual(len(failed[0]) + len(failed[1]) // 2, number)
                samples.append(metrics.lost_of(tables, routes, *failed))
            self.near(row, metrics.whisker(samples), places=1)
            self.assertAlmostEqual(row["mean"], sum(samples) / trials, 3)
            self.assertAlmostEqual(row["expected"], metrics.expected_lost(
                tables, routes, number, what == "switches"), 3)

    def jobs(self, found, tables, routes, text):
        wanted = metrics.jobs_of(tables, routes, metrics.read_jobs(tables, text))
        self.assertEqual(found["list"], wanted["list"])
        self.near(found["efi"], wanted["efi"])
        self.near(found, wanted, ("spread", "dark_fibre_percent", "job_max_avg", "job_links_avg"))

    def bisection(self, found, tables, directory, seed):
        nodes = ok("convert", directory, "--format", "json").json["terminals"]
        compute = [node["guid"] for node in nodes if node["role"] == "compute"]
        wanted = metrics.bisection_of(tables, compute, found["matchings"], seed)
        self.near(found, wanted, places=5)

    def one(self, trial):
        rng = random.Random("metrics %d" % trial)
        directory = self.path("t%d" % trial)
        random_tables(rng, directory)
        rename_hosts(rng, directory)
        tables = oracle.load(directory)
        routes = metrics.routes_of(tables)
        text = random_jobs(rng, tables, self.path("jobs"))
        seed, what = rng.randint(0, 5), rng.choice(("links", "switches"))
        found = ok("metrics", directory, "--json", "--histogram", "4", "--jobs", self.path("jobs"),
                   "--bisection", "5", "--seed", str(seed)).json
        self.basics(found, tables, routes)
        self.bounds(found, tables)
        self.jobs(found["jobs"], tables, routes, text)
        self.bisection(found["bisection"], tables, directory, seed)
        lost = selvage("metrics", directory, "--json", "--lost", what, "--failures", "1,2",
                       "--trials", "3", "--seed", str(seed))
        self.assertIn(lost.code, (0, 4), lost.err)
        if lost.code == 0:
            self.lost(lost.json["lost"], tables, routes, directory, what, 3, seed)
        else:
            self.assertIn("can fail", lost.err)
        shutil.rmtree(directory)
        return lost.code == 0

    def test_random_tables(self):
        drawn = 0
        for trial in range(SEED, SEED + max(1, TRIALS // 2)):
            with self.subTest("trial %d: python3 -B tests/oracle/test_metrics.py 2 %d" %
                              (trial, trial)):
                drawn += self.one(trial)
        if TRIALS >= 150:  # else it is a matter of luck
            self.assertGreater(drawn, TRIALS // 6)

    def measured(self, fabric, engine, *options):
        ok("route", fabric, "--engine", engine, "--no-check", "-o", self.path("tables"), *options)
        return ok("metrics", self.path("tables"), "--json").json, oracle.load(self.path("tables"))

    def test_no_routing_is_below_the_bound(self):
        """Neither an engine's nor any of many random ones; some reach it."""
        reached = 0
        for trial in range(SEED, SEED + max(1, TRIALS // 5)):
            rng = random.Random("bound %d" % trial)
            fabric = random_fabric(rng, self.folder)
            lmc = rng.choice((0, 0, 0, 1, 2))
            for engine in ("sssp", "updn", "minhop"):
                found, tables = self.measured(fabric, engine, "--lmc", str(lmc))
                self.bounds(found, tables)
                reached += found["efi_bound"] == found["efi"]["max"] > 0
            loads = [max(metrics.random_routing(rng, tables, switches)
                         for switches in metrics.components_of(tables)) for _ in range(10)]
            self.assertLessEqual(found["efi_bound"], min(loads), "trial %d" % trial)
            reached += found["efi_bound"] == min(loads) > 0
        if TRIALS >= 20:  # else it is a matter of luck
            self.assertGreater(reached, 0)

    def test_bounds_of_larger_fabrics(self):
        kinds = set()
        for spec in ("torus:6x5,hosts=2", "mesh:12x3,hosts=2", "dragonfly:a=4,p=2,h=2,g=6",
                     "dragonfly:a=6,p=2,h=1,g=4", "xgft:h=2,m=4/4,w=2/1,hosts=3", "kary:k=3,n=3",
                     "random:switches=24,links=40,total=30,seed=4", "hyperx:5x4,hosts=2",
                     "slimfly:q=4,hosts=2", "dragonfly+:l=3,s=4,p=6,h=4,g=3"):
            found, tables = self.measured(spec, "sssp")
            with self.subTest(spec):
                self.bounds(found, tables, all_cuts=False)
                kinds.add(found["efi_bound_kind"])
        self.assertGreaterEqual(kinds, {"mean", "switch", "ball", "cluster"})


if __name__ == "__main__":
    unittest.main(defaultTest="Metrics")
