"""selvage jobs make against a second scheduler (history_oracle.py), on random plans: who begins when,
on which nodes, and what the head of the queue was promised.

Run: python3 -B tests/oracle/test_jobs_make.py [TRIALS [SEED]]
"""
import csv
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import history_oracle as oracle
from support.command import ok
from support.trials import arguments

TRIALS, SEED = arguments(12)
DAY = 86400


def number(text):
    return int(text) if text else None


class Make(unittest.TestCase):
    def make(self, spec, *options):
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, name) for name in ("history", "trace")]
            about = ok("jobs", "make", spec, "-o", paths[0], "--trace", paths[1], "--json",
                       *options).json
            with open(paths[0]) as file:
                history = oracle.read_sacct(file.read())
            with open(paths[1]) as file:
                trace = [{key: number(value) for key, value in row.items()}
                         for row in csv.DictReader(file)]
        return about, history, trace

    def compare(self, spec, days, warm_up, best, *options):
        about, history, trace = self.make(spec, "--days", str(days), "--warm-up", str(warm_up),
                                          "--place", "best" if best else "first", *options)
        hosts, until = about["hosts"], (days + warm_up) * DAY
        jobs = [(row["submit"], row["nodes"], row["limit"],
                 row["end"] - row["begin"] if row["begin"] is not None else row["limit"])
                for row in trace]
        self.assertEqual(jobs, sorted(jobs, key=lambda job: job[0]))
        self.assertTrue(all(1 <= nodes <= hosts and 0 < run <= limit
                            for _, nodes, limit, run in jobs))
        found, promised = oracle.schedule(jobs, hosts, until, best)
        waited = late = 0
        for row, mine, promise in zip(trace, found, promised):
            self.assertEqual(row["begin"], mine and mine[0], row)
            self.assertEqual(row["promised"], promise, row)
            if promise is not None and row["begin"] is not None:
                waited += 1
                late += row["begin"] > promise
        self.assertEqual(late, 0)
        begin = oracle.seconds(about["begin"][:-1])
        told = {i + 1: job for i, job in enumerate(found)
                if job and job[0] < until and job[0] + jobs[i][3] > warm_up * DAY}
        self.assertEqual(sorted(told), sorted(int(row[0]) for row in history))
        busy = 0
        for name, start, end, state, names in history:
            job = told[int(name)]
            run = jobs[int(name) - 1][3]
            self.assertEqual(names, ["host%d" % node for node in job[2]])
            self.assertEqual(start, begin + max(0, job[0] - warm_up * DAY))
            self.assertEqual(end, begin + min(days * DAY, job[0] + run - warm_up * DAY))
            self.assertEqual(state == "TIMEOUT", run == jobs[int(name) - 1][2])
            busy += (end - start) * len(names)
        self.assertEqual(about["jobs"], len(history))
        self.assertAlmostEqual(about["utilisation_percent"], 100 * busy / (hosts * days * DAY), 2)
        self.exclusive(history)
        return waited

    def exclusive(self, history):
        """No node has two jobs at once."""
        spans = {}
        for _, begin, end, _, hosts in history:
            for host in hosts:
                spans.setdefault(host, []).append((begin, end))
        for times in spans.values():
            times.sort()
            for (_, before), (after, _) in zip(times, times[1:]):
                self.assertLessEqual(before, after)

    def test_random_plans(self):
        rng, waited = random.Random(SEED), 0
        for trial in range(TRIALS):
            spec = rng.choice(("kary:k=4,n=2,hosts=4", "torus:3x3,hosts=3", "mesh:2x2,hosts=5"))
            options = ["--seed", str(rng.randrange(1000)), "--load", "%.2f" % rng.uniform(0.3, 1),
                       "--single", str(rng.randint(0, 60)), "--run", str(rng.choice((1, 3, 8))),
                       "--large", str(rng.randint(0, 40)), "--largest", str(rng.randint(4, 16)),
                       "--usual", "4"]
            with self.subTest(trial=trial, spec=spec, options=options):
                waited += self.compare(spec, rng.randint(1, 6), rng.randint(0, 4),
                                       rng.random() < 0.5, *options)
        if TRIALS >= 12:  # else it is a matter of luck
            self.assertGreater(waited, 20 * TRIALS if TRIALS > 5 else 0)  # else nothing was tried

    def test_utilisation_is_near_the_load(self):
        for seed in range(1, 5):
            for load in (0.5, 0.7, 0.85):
                about, _, _ = self.make("kary:k=6,n=2,hosts=6", "--seed", str(seed),
                                        "--load", str(load), "--days", "60")
                self.assertAlmostEqual(about["utilisation_percent"], 100 * load, delta=7)


if __name__ == "__main__":
    unittest.main()
