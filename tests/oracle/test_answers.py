"""A study's answers against a second implementation (answers_oracle.py) on databases full of random
cells: all kinds of failures, ends, gaps, repeated and unfinished cells; and texts as they stand.
"""
import math
import os
import random
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(__file__))
import answers_oracle as oracle  # noqa: E402
from support.study import Database, answer, faults, run  # noqa: E402
from support.trials import trials  # noqa: E402

STATUSES = ["ok"] * 12 + ["unsafe"] * 2 + ["deadlock", "incomplete", "engine", "time", "faults",
                                           "error"]
FABRICS = ["torus:4x4,hosts=2", "kary:k=4,n=2", "random:switches=9,seed=1,links=20",
           "random:switches=9,seed=2,links=20", "random:seed=7,switches=9", "cabinet.net"]
ENGINES = [("minhop", 0, ""), ("nue", 4, ""), ("nue", 8, ""), ("dfsssp", 8, "assign=weakest"),
           ("lash", 8, "")]
FLOWS = [{}, {"traffic": "exchange", "profile": "qdr", "message": 20480},
         {"traffic": "uniform", "profile": "qdr,ways=2", "message": 2048, "load": 0.6}]


def levels(rng):
    """Amounts of failures of some kinds."""
    out = [faults("link", p) for p in rng.sample([0.01, 1, 3, 5, 10, 20, 40], rng.randint(1, 4))]
    if rng.random() < 0.5:
        out += [faults("link", n, "count") for n in (2, 12)]
    if rng.random() < 0.5:
        out += [faults("both", p, rest="1:13") for p in (2, 4)]
    if rng.random() < 0.5:
        out += [faults("switch", n, "count") for n in (1, 2, 3)]
    if rng.random() < 0.7:
        out += [faults("years", y, "years", "deimos") for y in range(1, rng.randint(3, 7))]
    if rng.random() < 0.4:
        out += [{"faults": "state found in %d.net" % year, "fault_kind": "state", "fault_unit": "state",
                 "fault_amount": 0} for year in (2024, 2025)]
    return out


def measures(rng, level, draw, base, slope):
    """Columns of a result, some of them missing."""
    parts = int(level["fault_amount"] * 2) if level else 0
    if level and level["fault_kind"] == "state":
        parts = len(level["faults"]) + int(level["faults"][-5])
    kind = level["fault_kind"] if level else "none"
    values = {"links_failed": parts if kind != "switch" else 0,
              "switches_failed": {"switch": level and level["fault_amount"], "both": 1,
                                  "years": parts // 8}.get(kind, 0),
              "adapters_failed": (None, 0, 1)[draw % 3] if kind == "years" else 0,
              "terminals": rng.randint(90, 100), "fallbacks": rng.choice([0, 0, 3]),
              "vls_needed": rng.randint(1, 8), "vls_used": 8, "efi_min": rng.randint(1, 9),
              "efi_avg": rng.uniform(20, 40), "efi_max": rng.randint(50, 99),
              "efi_sdv": rng.uniform(1, 5), "efi_bound": 40, "hops_avg": rng.uniform(2, 3),
              "hops_max": rng.randint(4, 9), "ebb_avg": rng.uniform(.2, .6), "ebb_min": .1,
              "ebb_max": .9, "ebb_sdv": .05, "latency_avg": rng.uniform(1, 9),
              "latency_p99": rng.uniform(10, 20), "route_seconds": rng.uniform(0.001, 3),
              "throughput": base + slope * parts + rng.gauss(0, 20)}
    for name in list(values):
        if rng.random() < 0.02 and name != "terminals" and not name.endswith("failed"):
            values[name] = None
    return values


def fill(path, seed, reliable=0.0):
    """A random database. reliable: the share of cells whose end is not drawn but ok."""
    rng = random.Random(seed)
    base = Database(path)
    fabrics = rng.sample(FABRICS, rng.randint(2, 5))
    engines = rng.sample(ENGINES, rng.randint(2, 5))
    shapes = levels(rng)
    for fabric in fabrics:
        if rng.random() < 0.8:
            base.fabric(fabric, rng.randint(5, 20), rng.randint(50, 100), rng.randint(50, 200))
        for flow in rng.sample(FLOWS, rng.randint(1, 3)):
            for engine, vls, options in engines:
                line = rng.uniform(300, 600), rng.uniform(-9, 1)
                for level in [None] + shapes:
                    for draw in range(1, rng.randint(3, 10)) if level else [0]:
                        if rng.random() < 0.03:
                            continue
                        status = "ok" if rng.random() < reliable else rng.choice(STATUSES)
                        values = measures(rng, level, draw, *line)
                        if status not in ("ok", "unsafe", "deadlock"):
                            values = {name: values[name] if name.endswith("failed") else None
                                      for name in values}
                        again = {name: value if name.endswith("failed") or rng.random() < 0.7 else None
                                 for name, value in values.items()}
                        for what in ["metrics sim"] + ["metrics ebb=10"] * (rng.random() < 0.03):
                            values = values if what == "metrics sim" else again
                            base.cell(fabric, engine, level, draw, status, "words of %d" % draw,
                                      result=rng.random() > 0.02, vls=vls, options=options, what=what,
                                      **flow, **values)
    return base.done()


class Answers(unittest.TestCase):
    TRIALS = max(3, trials(6))  # every third database has another share of cells that end

    def setUp(self):
        self.seed = 0
        self.directory = tempfile.mkdtemp(prefix="selvage-answers-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name="study.db"):
        return os.path.join(self.directory, name)

    def databases(self):
        for seed in range(1, self.TRIALS + 1):
            path = self.path("%d.db" % seed)
            base = fill(path, seed, reliable=(0, 0.9, 1)[seed % 3])
            self.seed = seed
            yield path, oracle.Cases(base.db)
            base.db.close()

    def same(self, found, wanted, what):
        if isinstance(wanted, float) and not math.isfinite(wanted):
            wanted = None
        if wanted is None or found is None or isinstance(wanted, str):
            self.assertEqual(found, wanted, what)
        else:
            self.assertLessEqual(abs(found - wanted), 1e-6 * max(1, abs(wanted)), (what, found, wanted))

    def row(self, table, found, **wanted):
        for name, value in wanted.items():
            self.same(found[name.replace("_", " ")], value, (self.seed, table.name, name, found))

    def keyed(self, table, *columns):
        rows = {}
        for row in table.rows:
            place = tuple(row[column] for column in columns)
            self.assertNotIn(place, rows, table.name)
            rows[place] = row
        return rows

    # ---- tables ----

    def test_usability(self):
        for path, cases in self.databases():
            tables = answer(path, "usability")
            ends = ["ok", "unsafe", "deadlock", "incomplete", "engine"]
            for table, keys in (("usability", ("group",)), ("usability-faults", ("group", "faults"))):
                found = tables[table]
                names = found.columns[len(keys):]
                self.assertEqual(set(names), {case["name"] for case in cases.all})
                wanted = {tuple(case[key] for key in keys) for case in cases.all}
                self.assertEqual({tuple(row[:len(keys)]) for row in found.values}, wanted)
                for row in found.values:
                    for name, letters in zip(names, row[len(keys):]):
                        here = [case["status"] for case in cases.select(
                            name=name, **dict(zip(keys, row)))]
                        counts = [(oracle.LETTERS[end], here.count(end)) for end in ends]
                        counts += [("x", sum(end not in ends for end in here))]
                        some = [(letter, n) for letter, n in counts if n]
                        text = None if not some else some[0][0] if len(some) == 1 else \
                            " ".join("%s%d" % pair for pair in some)
                        self.assertEqual(letters, text, (row, name))
            shares = self.keyed(tables["usability-shares"], "fabric", "faults", "engine")
            for (group, level, name), row in shares.items():
                here = [case["status"] for case in cases.select(group=group, faults=level, name=name)]
                self.row(tables["usability-shares"], row, cells=len(here),
                         ok=100 * here.count("ok") / len(here),
                         refused=100 * here.count("engine") / len(here),
                         can_deadlock=100 * here.count("unsafe") / len(here))
            words = sum(row["cells"] for row in tables["usability-words"].rows)
            self.assertEqual(words, sum(case["status"] != "ok" for case in cases.all))

    def merged(self, cases, **wanted):
        """Cells that differ in traffic only are one, with the values of the first that has them."""
        out = {}
        order = []
        for case in cases.all:  # in the order in which the plan has them
            if case["flow"] not in order:
                order.append(case["flow"])
        order.sort(key=lambda flow: flow != "")
        for case in sorted(cases.select(**wanted), key=lambda c: order.index(c["flow"])):
            into = out.setdefault((case["fabric"], case["seed"]), dict(case))
            if into["status"] not in oracle.LETTERS:
                into["status"] = case["status"]
            for name in case:
                if into[name] is None:
                    into[name] = case[name]
        return list(out.values())

    def test_means_of_tables(self):
        for path, cases in self.databases():
            places = {(c["group"], c["faults"], c["name"]) for c in cases.all}
            found = {}
            for name in ("vls-range", "balance", "runtime-range", "ebb-range"):
                table = answer(path, name.split("-")[0])[name]
                found[name] = table, self.keyed(table, "fabric", "faults", "engine")
            for place in places:
                here = self.merged(cases, group=place[0], faults=place[1], name=place[2])
                got = lambda key: [c[key] for c in here if c[key] is not None]  # noqa: E731
                routed = [c for c in here if c["status"] in oracle.LETTERS and c["status"] != "engine"]
                head = {"cells": len(here), "routed": len(routed)}
                needed = got("vls_needed")
                self.line(found["vls-range"], place, needed or not routed, **head,
                          min=min(needed, default=None), mean=oracle.mean(needed),
                          max=max(needed, default=None), **{"±": oracle.half(needed)})
                counted = [c for c in here if None not in (c["fallbacks"], c["terminals"])]
                self.line(found["balance"], place, got("efi_max"), **head, **{
                    "EFI min": oracle.mean(got("efi_min")), "EFI avg": oracle.mean(got("efi_avg")),
                    "EFI max": oracle.mean(got("efi_max")), "±": oracle.half(got("efi_max")),
                    "EFI sdv": oracle.mean(got("efi_sdv")), "bound": oracle.mean(got("efi_bound")),
                    "hops": oracle.mean(got("hops_avg")), "longest path": oracle.mean(got("hops_max")),
                    "longest of all": max(got("hops_max"), default=None),
                    "fallbacks": 100 * sum(c["fallbacks"] for c in counted) /
                    sum(c["terminals"] for c in counted) if counted else None})
                seconds = [c["route_seconds"] for c in routed if c["route_seconds"] is not None]
                self.line(found["runtime-range"], place, got("route_seconds") or not routed, **head,
                          applicability=100 * len(routed) / len(here), mean=oracle.mean(seconds),
                          min=min(seconds, default=None), **{"±": oracle.half(seconds)})
                self.line(found["ebb-range"], place, got("ebb_avg"), **head,
                          mean=oracle.mean(got("ebb_avg")), **{"±": oracle.half(got("ebb_avg"))})

    def line(self, found, place, expected, **wanted):
        table, rows = found
        self.assertEqual(place in rows, bool(expected), (table.name, place))
        if place in rows:
            self.row(table, rows[place], **wanted)

    # ---- throughput ----

    def test_degradation(self):
        for path, cases in self.databases():
            tables = answer(path, "degradation")
            means = self.keyed(tables["degradation"], "fabric", "traffic", "failures", "faults", "engine")
            lines = self.keyed(tables["degradation-lines"], "fabric", "traffic", "failures", "engine")
            wanted_means, wanted_lines = set(), set()
            for scene, curves in oracle.scenes(cases).items():
                for name, curve in curves.items():
                    for level in {c["faults"] for c in curve.cells}:
                        place = scene + (level, name)
                        wanted_means.add(place)
                        here, cells = curve.at(level), [c for c in curve.cells if c["faults"] == level]
                        kept = 100 * oracle.mean(here) / curve.fault_free \
                            if here and curve.fault_free else None
                        self.row(tables["degradation"], means[place], cells=len(cells),
                                 measured=len(here), throughput=oracle.mean(here), kept=kept,
                                 min=min(here, default=None), **{"±": oracle.half(here)})
                    if curve.line is None:
                        continue
                    wanted_lines.add(scene + (name,))
                    line = curve.line
                    self.row(tables["degradation-lines"], lines[scene + (name,)], cells=line.n,
                             intercept=line.intercept, slope=line.slope, safe="yes" if curve.safe else "no",
                             **{"R²": line.r2, "intercept ±": line.band(0), "slope ±": line.slope_half(),
                                "slope/intercept": 100 * line.slope / line.intercept,
                                "fault-free": curve.fault_free})
            self.assertEqual(set(means), wanted_means)
            self.assertEqual(set(lines), wanted_lines)

    def test_best(self):
        for path, cases in self.databases():
            table = answer(path, "degradation")["degradation-best"]
            rows = self.keyed(table, "fabric", "traffic", "failures", "faults")
            wanted = set()
            for scene, curves in oracle.scenes(cases).items():
                for level in {c["faults"] for curve in curves.values() for c in curve.cells}:
                    measured = {n: oracle.mean(c.at(level)) for n, c in curves.items() if c.at(level)}
                    if not measured:
                        continue
                    wanted.add(scene + (level,))
                    row = rows[scene + (level,)]
                    safe = sorted((n for n in measured if curves[n].safe_at(level)),
                                  key=lambda n: -measured[n])
                    first, second = (safe + [None, None])[:2]
                    apart = oracle.differences(curves[first], curves[second], level) if second else []
                    equals = set()
                    for other in safe[1:]:
                        d = oracle.differences(curves[first], curves[other], level)
                        if len(d) > 1 and abs(oracle.mean(d)) <= oracle.half(d):
                            equals.add(other)
                    top = max(measured, key=lambda n: measured[n])
                    self.row(table, row, best=first, next=second, difference=oracle.mean(apart),
                             throughput=measured.get(first), **{
                                 "±": oracle.half(apart),
                                 "faster, not safe": top if not curves[top].safe_at(level) else None})
                    said = row["cannot be told from"]
                    self.assertEqual(set(said.split(", ")) if said else set(), equals, row)
            self.assertEqual(set(rows), wanted)

    def test_crossings(self):
        seen = 0
        for path, cases in self.databases():
            table = answer(path, "degradation")["degradation-crossings"]
            rows = self.keyed(table, "fabric", "traffic", "failures", "from", "to")
            wanted = set()
            for scene, curves in oracle.scenes(cases).items():
                names = sorted(curves)
                for i, a in enumerate(names):
                    for b in names[i + 1:]:
                        found = oracle.crossing(curves[a], curves[b])
                        if found is None:
                            continue
                        x, low, high, first = found
                        second = curves[b] if first is curves[a] else curves[a]
                        place = scene + (first.name, second.name)
                        wanted.add(place)
                        others = [c for c in curves.values()
                                  if c.safe and c.line and c not in (first, second)]
                        best = first.safe and second.safe and \
                            all(c.line.at(x) <= first.line.at(x) for c in others)
                        switch = "no" if not best else "cannot be told" if None in (low, high) else "yes"
                        self.assertIn(place, rows)
                        links = cases.fabrics.get(scene[0], (0, 0, 0))[2]
                        self.row(table, rows[place], at=x, low=low, high=high, switch=switch,
                                 of_all_links=100 * x / links
                                 if links and first.kind == "link" else None,
                                 throughput=first.line.at(x))
                        seen += 1
            self.assertEqual(set(rows), wanted)
        self.assertGreater(seen, 0)

    def test_lifetime(self):
        seen = 0
        for path, cases in self.databases():
            table = answer(path, "lifetime", threshold=0.9)["lifetime"]
            rows = self.keyed(table, "fabric", "traffic", "failures", "engine")
            wanted = set()
            for scene, curves in oracle.scenes(cases).items():
                for name, curve in curves.items():
                    if curve.kind != "years" or curve.fault_free is None:
                        continue
                    wanted.add(scene + (name,))
                    seeds = {c["seed"] for c in curve.all if c["fault_kind"] == "years"}
                    lives = [oracle.life(curve, seed, 0.9 * curve.fault_free) for seed in seeds]
                    ends = [end for end, _ in lives]
                    years = sorted(y for _, y in lives if y is not None)
                    finite = years if math.inf not in years else []
                    ranks = oracle.median_ranks(len(years))
                    self.row(table, rows[scene + (name,)], seeds=len(seeds), ended=ends.count("ended"),
                             fell_below=ends.count("fell below"), lasted=ends.count("lasted"),
                             unknown=ends.count("unknown"), mean=oracle.mean(finite),
                             median=oracle.median(years),
                             low=years[ranks[0] - 1] if ranks else None,
                             high=years[ranks[1] - 1] if ranks else None,
                             **{"±": oracle.half(finite)})
                    seen += 1
            self.assertEqual(set(rows), wanted)
        self.assertGreater(seen, 0)

    def test_lifetime_by_lines(self):
        for path, cases in self.databases():
            tables = answer(path, "lifetime", threshold=0.7, links=0.01, switches=0.02)
            table = tables["lifetime-lines"]
            rows = self.keyed(table, "fabric", "traffic", "failures", "engine")
            wanted = set()
            for scene, curves in oracle.scenes(cases).items():
                if scene[0] not in cases.fabrics or scene[2].startswith("years"):
                    continue
                switches, _, links = cases.fabrics[scene[0]]
                for name, curve in curves.items():
                    if curve.line is None:
                        continue
                    rate = {"link": links * .01, "switch": switches * .02}.get(
                        curve.kind, links * .01 + switches * .02)
                    wanted.add(scene + (name,))
                    line = curve.line
                    target = 0.7 * (line.intercept if curve.fault_free is None else curve.fault_free)
                    x = (target - line.intercept) / line.slope
                    low, high = line.leaves(target, x, -1e-3), line.leaves(target, x, 1e-3)
                    falls = line.slope < 0
                    if line.n > 2:  # without a bound a life may already be over
                        low = 0 if low is None else max(low, 0)
                    self.row(table, rows[scene + (name,)], threshold=target,
                             years=max(x, 0) / rate if falls else None,
                             low=low / rate if falls and low is not None else None,
                             high=max(high, 0) / rate if falls and high is not None else None)
            self.assertEqual(set(rows), wanted)

    # ---- the rest ----

    def test_names(self):
        """Tables and columns have names of their own, and rows are whole and of their kind."""
        for path, _ in self.databases():
            tables = answer(path, "all", links=0.01)
            self.assertEqual(list(tables)[0], "summary")
            for table in tables.values():
                self.assertEqual(len(table.columns), len(set(table.columns)), table.name)
                self.assertGreater(len(table.values), 0, table.name)
                for row in table.values:
                    self.assertEqual(len(row), len(table.columns))
                    for value, kind in zip(row, table.kinds):
                        if value is not None:
                            self.assertIsInstance(value, str if kind == "text" else (int, float))

    def test_lost(self):
        base = Database(self.path())
        number = base.cell("kary:k=10,n=3", "dfsssp", what="lost=links/1,2/100")
        for failures in (2, 1):
            base.insert("lost", {"cell": number, "kind": "links", "failures": failures, "trials": 100,
                                 "pairs": 2000, "expected": 20 * failures, "min": 1, "q1": 2,
                                 "median": 3, "q3": None, "max": 50, "mean": 19.5})
        base.done()
        table = answer(self.path(), "lost")["lost"]
        self.assertEqual([row["failures"] for row in table.rows], [1, 2])
        self.row(table, table.rows[1], fabric="kary:k=10,n=3", engine="dfsssp", routes=2000,
                 trials=100, expected=2.0, min=0.05, median=0.15, upper_quartile=None, max=2.5,
                 mean=0.975)

    def test_compare(self):
        for path, cases in self.databases():
            names = sorted({case["name"] for case in cases.all})[:2]
            tables = answer(path, "compare", a=names[0], b=names[1])
            pairs = [(a, b) for a in cases.select(name=names[0]) for b in cases.select(name=names[1])
                     if all(a[key] == b[key] for key in ("fabric", "faults", "seed", "flow"))]
            self.assertEqual(len(tables["compare-cells"].rows), len(pairs))
            self.assertEqual(sum(v for row in tables["compare-ends"].values for v in row[1:]), len(pairs))
            rows = self.keyed(tables["compare"], "measure")
            usable = ("ok", "unsafe", "deadlock")
            for measure, key, better, ends in (
                    ("throughput", "throughput", 1, oracle.MEASURED),
                    ("latency, mean", "latency_avg", -1, oracle.MEASURED),
                    ("VLs needed", "vls_needed", -1, usable),
                    ("EFI, most routes on a channel", "efi_max", -1, usable)):
                values = [(a[key], b[key]) for a, b in pairs if None not in (a[key], b[key]) and
                          a["status"] in ends and b["status"] in ends]
                if not values:
                    self.assertNotIn((measure,), rows)
                    continue
                d = [b - a for a, b in values]
                margin = oracle.half(d)
                self.row(tables["compare"], rows[measure,], pairs=len(d),
                         A=oracle.mean([a for a, _ in values]), B=oracle.mean([b for _, b in values]),
                         A_better=sum(x * better < 0 for x in d), B_better=sum(x * better > 0 for x in d),
                         equal=d.count(0), told_apart=None if margin is None else
                         "yes" if abs(oracle.mean(d)) > margin else "no",
                         **{"B - A": oracle.mean(d), "±": margin})

    def test_compare_two_databases(self):
        first, second = Database(self.path("a.db")), Database(self.path("b.db"))
        for seed in (1, 2, 3):
            for base, gain in ((first, 0), (second, 10)):
                base.cell("torus:4x4", "nue", faults("link", 3), seed, throughput=100 + seed + gain,
                          **FLOWS[1])
        second.cell("torus:4x4", "lash", throughput=1, **FLOWS[1])
        first.done()
        second.done()
        tables = answer(self.path("a.db"), "compare", other=self.path("b.db"))
        self.row(tables["compare"], tables["compare"].rows[0], pairs=3, A=102, B=112, B_better=3,
                 **{"B - A": 10, "±": 0})
        tables = answer(self.path("a.db"), "compare", other=self.path("b.db"), a="nue")
        self.assertEqual(len(tables["compare-cells"].rows), 3)
        code, _, err = run(self.path("a.db"), "compare", other=self.path("b.db"), a="lash")
        self.assertEqual(code, 3)
        self.assertIn("no cells of 'lash'", err)

    def test_summary(self):
        for path, cases in self.databases():
            table = answer(path, "summary")["summary"]
            rows = self.keyed(table, "fabric", "traffic", "failures")
            self.assertEqual(set(rows), set(oracle.scenes(cases)))
            for scene, curves in oracle.scenes(cases).items():
                scores, amounts = oracle.choose(curves, cases.order)
                ranked = sorted(scores, key=lambda n: -scores[n])
                first, second = (ranked + [None, None])[:2]
                d = oracle.by_seed(curves[first], curves[second], amounts) if second else []
                margin = oracle.half(d)
                told = None if margin is None else "yes" if abs(oracle.mean(d)) > margin else "no"
                self.row(table, rows[scene], engine=first, next=second, difference=oracle.mean(d),
                         told_apart=told)
                said = [note for note in table.notes if note.startswith("%s, %s, %s: " % scene)]
                self.assertEqual(len(said), 1)
                self.assertRegex(said[0], "use %s" % re.escape(first) if first else
                                 "no throughput of a safe engine" if any(c.safe for c in curves.values())
                                 else "no engine (that was measured )?is safe")
                lacks = [n for n, c in curves.items() if c.safe and
                         any(not c.at(c2["faults"]) for c1 in curves.values() for c2 in c1.cells)]
                listed = re.findall(r"(?:Not measured: |; )(.*?) at ", said[0])
                self.assertEqual(sorted(listed), sorted(lacks), said[0])
                self.assertEqual("cannot be told apart from" in said[0], told == "no", said[0])


if __name__ == "__main__":
    unittest.main()
