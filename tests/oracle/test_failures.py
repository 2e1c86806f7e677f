"""selvage faults fit against the slow second implementation of failures_oracle.py, on random logs;
shapes and rates that logs were made with are found again; and fabrics that grow old by a model that
was fitted lose as many parts as the log did.

Run: python3 -B tests/oracle/test_failures.py [TRIALS [SEED]]
"""
import datetime
import math
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import failures_oracle as oracle
from support.command import ok
from support.trials import arguments

TRIALS, SEED = arguments(60)
START = datetime.datetime(2007, 3, 1, tzinfo=datetime.timezone.utc)
WORDS = list(oracle.KINDS)


def written_date(rng, days):
    """A moment, in one of the ways to write it; never the next day."""
    moment = START + datetime.timedelta(days=days)
    style = rng.randint(0, 4)
    if style == 0:
        return moment.strftime("%Y-%m-%d")
    if style == 1:
        return moment.strftime("%Y-%m-%d %H:%M")
    if style == 2:
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if style == 3:
        zone = datetime.timezone(datetime.timedelta(hours=rng.choice((-5, 1, 9))))
        return moment.astimezone(zone).isoformat(timespec="minutes")
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def written_number(rng, days):
    unit = rng.choice(("h", "d", "min", "y", "s"))
    return "%.*f%s" % (rng.randint(0, 4) if unit != "y" else 6, days * 24 / oracle.UNITS[unit], unit)


def written_repair(rng):
    return rng.choice(("", "", " -", " %dmin" % rng.randint(0, 90), " %.1fh" % rng.expovariate(0.1),
                       " %dd # deferred" % rng.randint(1, 200)))


def random_log(rng, dated, days):
    shape = math.exp(rng.uniform(-1.5, 1.5))
    clusters = rng.random() < 0.3
    lines, at = ["# made up"], 0
    for _ in range(rng.choice((1, 2, 3, 5, 30, 200))):
        at = days * rng.random() ** (1 / shape) if not (clusters and rng.random() < 0.5) else at
        word = rng.choice(WORDS) if rng.random() < 0.7 else "Link"
        lines.append((written_date if dated else written_number)(rng, at) + " " + word +
                     written_repair(rng))
    rng.shuffle(lines)
    return "\n".join(lines) + "\n"


class Failures(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-failures-")
        self.addCleanup(directory.cleanup)
        self.log = os.path.join(directory.name, "log")

    def fit(self, text, *options):
        with open(self.log, "w") as file:
            file.write(text)
        return ok("faults", "fit", self.log, "--json", *options).json

    def near(self, found, wanted, what, relative=1e-6):
        if wanted is None or found is None:
            self.assertEqual(found, wanted, what)
        else:
            self.assertLess(abs(found - wanted), relative * abs(wanted) + 2e-6, what)

    def same(self, found, wanted, what):
        for key in ("failures", "repairs"):
            self.assertEqual(found[key], wanted[key], (what, key))
        for key in ("share", "mtbf_hours", "mttr_hours"):
            self.near(found[key], wanted[key], (what, key))
        for key in ("annual_rate", "shape", "between_shape"):
            values = wanted[key] or (None,) * 3
            for name, value in zip(("value", "low", "high"), values):
                self.near((found[key] or {}).get(name), value, (what, key, name), 2e-5)

    def test_random_logs(self):
        shapes = 0
        for trial in range(TRIALS):
            rng = random.Random(SEED * 1000003 + trial)
            dated, days = rng.random() < 0.6, rng.choice((30, 400, 3000))
            text = random_log(rng, dated, days)
            events = oracle.read(text)
            if not any(event[1] in oracle.HARDWARE for event in events):
                continue
            parts = {kind: rng.randint(500, 9000) for kind in oracle.HARDWARE
                     if rng.random() < 0.7}
            options = ["--%s=%d" % ({"switch": "switches"}.get(kind, kind + "s"), n)
                       for kind, n in parts.items()]
            begin, end = 0, None
            if dated:
                begin = (START - oracle.EPOCH).total_seconds() / 3600
                options += ["--since", "2007-03-01"]
            if rng.random() < 0.7:
                end = begin + 24 * (days + 2)
                options += ["--span", "%dd" % (days + 2)]
            elif events[-1][0] - begin < 24:
                continue  # nothing to observe
            wanted = oracle.fit(text, parts, begin, end)
            found = self.fit(text, *options)
            self.near(found["years"], wanted["years"], "years")
            self.assertEqual(found["outside"], wanted["outside"])
            for kind in ("link", "switch", "adapter", "software", "unspecified"):
                self.same(found["kinds"][kind], wanted[kind], (trial, kind))
            for kind in ("hardware", "all"):
                self.same(found[kind], wanted[kind], (trial, kind))
            shapes += found["hardware"]["between_shape"] is not None
            self.assertEqual(found["model"] is None, not parts)
        if TRIALS >= 60:  # else it is a matter of luck
            self.assertGreater(shapes, TRIALS // 5)

    def test_a_day_without_a_beginning(self):
        text = "2010-05-03T17:00 link\n2010-07-01 link\n2010-09-01 switch\n2011-01-01 link\n"
        begin = (datetime.datetime(2010, 5, 3, tzinfo=datetime.timezone.utc) -
                 oracle.EPOCH).total_seconds() / 3600
        found, wanted = self.fit(text), oracle.fit(text, {}, begin, None)
        self.same(found["hardware"], wanted["hardware"], "hardware")
        self.assertEqual(found["begin"], "2010-05-03 00:00")

    def processes(self, rng, shape, expected, days):
        """Failures of a power-law process: uniform numbers, bent."""
        n = sum(1 for _ in range(10 * expected) if rng.random() < 0.1)
        return sorted(days * rng.random() ** (1 / shape) for _ in range(n))

    def test_known_shapes_are_found(self):
        """The 95 % interval holds the truth in 95 of 100 logs on average; fewer than 88 of 100 have a
        chance of less than 1 in 500 (and seeds are fixed)."""
        rng = random.Random(SEED)
        for shape in (0.76, 1.07, 2.0):
            held = {"shape": 0, "rate": 0}
            total = 0
            for _ in range(100):
                times = self.processes(rng, shape, 80, 1461)
                found = self.fit("".join("%.5fd link\n" % t for t in times), "--links", "5000",
                                 "--span", "1461d")["kinds"]["link"]
                held["shape"] += found["shape"]["low"] <= shape <= found["shape"]["high"]
                rate = found["annual_rate"]
                held["rate"] += rate["low"] <= 80 / 5000 / 4 <= rate["high"]
                total += math.log(found["shape"]["value"])
            self.assertGreaterEqual(held["shape"], 88, (shape, held))
            self.assertGreaterEqual(held["rate"], 88, (shape, held))
            # The mean of the logarithms has a deviation of 1 / sqrt(80 * 100), and a bias of 1/160.
            self.assertLess(abs(total / 100 - math.log(shape) - 1 / 160), 4 / math.sqrt(8000))

    def test_known_spaces_are_found(self):
        rng = random.Random(SEED + 1)
        for shape in (0.6, 1.0, 1.8):
            held = 0
            for _ in range(100):
                at, times = 0, []
                while len(times) < 100:
                    at += rng.weibullvariate(10, shape)
                    times.append(at)
                found = self.fit("".join("%.6fd switch\n" % t for t in times), "--span",
                                 "%.6fd" % (at + 1))["kinds"]["switch"]["between_shape"]
                held += found["low"] <= shape <= found["high"]
            self.assertGreaterEqual(held, 88, shape)

    def test_a_fitted_model_lets_as_many_fail(self):
        """A log of 570 cables (fullmesh:20 has 190, thrice) becomes a model, by which as many of the
        fabric's cables fail on average as the log lost, in all and in half the time."""
        rng = random.Random(SEED + 2)
        times = self.processes(rng, 0.8, 57, 2000)
        text = "".join("%.5fd link\n" % t for t in times)
        model = self.fit(text, "--links", "570", "--span", "2000d")["model"]
        shape = self.fit(text, "--links", "570", "--span", "2000d")["hardware"]["shape"]["value"]
        for share in (1, 0.5):
            years = "%.6f" % (2000 / 365.25 * share)
            failed, expected = [], len(times) * share ** shape / 3
            for seed in range(150):
                found = ok("faults", "fullmesh:20,hosts=1", "--years", years, "--model", model,
                           "--seed", str(seed), "--json").json
                failed.append(found["failed"]["links"])
                # Parts that failed twice in the log can fail once only.
                self.near(found["expected"]["links"], 190 * -math.expm1(-expected / 190), "expected",
                          1e-3)
            mean = sum(failed) / len(failed)
            self.assertLess(abs(mean - 190 * -math.expm1(-expected / 190)),
                            4 * math.sqrt(expected / len(failed)))


if __name__ == "__main__":
    unittest.main()
