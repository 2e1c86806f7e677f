"""selvage jobs replay against an obvious one: at every sample the jobs on several switches are
found, the fabric is routed with selvage route, and every route between hosts of a job is followed in
the tables as they were written. Tables of improvements are computed again from the CSV.

Run: python3 -B tests/oracle/test_jobs_replay.py [TRIALS [SEED]]
"""
import csv
import datetime
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import history_oracle as oracle
import metrics_oracle
import routes_oracle
from support.command import ok
from support.trials import arguments

TRIALS, SEED = arguments(6)
METRICS = ("max_efi", "job_efi_avg", "dark_fibre_percent", "job_links_avg")
BEGIN = oracle.seconds("2015-02-01T00:00:00")


def date(at):
    return (oracle.EPOCH + datetime.timedelta(seconds=at)).isoformat()


def random_history(rng, hosts, length):
    """sacct's text; jobs may share nodes, some hosts are in no fabric, some jobs are pending."""
    rows = []
    for job in range(rng.randint(3, 12)):
        begin = BEGIN + rng.randrange(length)
        end = begin + rng.randrange(1, length)
        names = rng.sample(hosts, rng.randint(1, min(8, len(hosts))))
        if rng.random() < 0.2:
            names.append("elsewhere%d" % rng.randrange(3))
        rows.append((begin, "%d|%s|%s|COMPLETED|%s" % (job, date(begin), date(end), ",".join(names))))
        if rng.random() < 0.3:  # the same nodes again, at once: nothing that routing would see
            rows.append((end, "%d|%s|%s|FAILED|%s" % (100 + job, date(end), date(end + 999),
                                                      ",".join(reversed(names)))))
    rng.shuffle(rows)
    text = "JobID|Start|End|State|NodeList\n" + "".join(row + "\n" for _, row in rows)
    return text + "999|Unknown|Unknown|PENDING|None assigned\n"


class Replay(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.routed = 0

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def tables(self, spec, engine, jobs):
        """Tables of an engine, told the jobs unless they are None."""
        self.routed += 1
        options = []
        if jobs is not None:
            with open(self.path("map"), "w") as file:
                for number, hosts in enumerate(jobs):
                    file.writelines("%s %d\n" % (host, number) for host in hosts)
            options = ["--jobs", self.path("map")]
        where = self.path("tables%d" % self.routed)
        ok("route", spec, "--engine", engine, "-o", where, *options)
        return routes_oracle.load(where)

    def slow_replay(self, spec, history, samples, engines):
        """[{engine: metrics}, …]: a sample each."""
        fixed = {engine: self.tables(spec, engine, None) for engine, jobs in engines.items()
                 if not jobs}
        some = next(iter(fixed.values()))
        guid_of = {some.nodes[guid].name: guid for guid in metrics_oracle.terminals_of(some)}
        homes = {name: metrics_oracle.home_of(some, guid) for name, guid in guid_of.items()}
        found, before, tables = [], None, {}
        for at in samples:
            jobs = oracle.jobs_at(history, at, homes)
            if sorted(jobs) != before:
                before = sorted(jobs)
                tables = dict(fixed)
                if jobs:
                    tables.update((engine, self.tables(spec, engine.split("+")[0], jobs))
                                  for engine, follows in engines.items() if follows)
                now = {engine: oracle.measure(tables.get(engine, some), guid_of, jobs)
                       for engine in engines}
            found.append((len(jobs), before, now))
        return found

    def compare(self, rng, spec, engines):
        hosts = ["host%d" % i for i in range(ok("info", spec, "--json").json["terminals"])]
        length, every = 6 * 3600, rng.choice((600, 1200, 3000))
        text = random_history(rng, hosts, length)
        with open(self.path("history"), "w") as file:
            file.write(text)
        rows = oracle.read_sacct(text.rsplit("\n", 2)[0])
        rows.sort(key=lambda row: row[1])
        samples = range(BEGIN, BEGIN + 2 * length, every)
        about = ok("jobs", "replay", spec, self.path("history"), "--begin", date(BEGIN), "--until",
                   date(BEGIN + 2 * length), "--every", "%ds" % every, "--engines",
                   ",".join(engines), "--csv", self.path("csv"), "--svg", self.path("svg"),
                   "--json").json
        with open(self.path("csv")) as file:
            found = list(csv.DictReader(file))
        wanted = self.slow_replay(spec, rows, samples, engines)
        self.assertEqual(about["samples"], len(wanted))
        self.assertEqual(len(found), len(wanted) * len(engines))
        changes = sum(a[1] != b[1] for a, b in zip(wanted, wanted[1:]))
        self.assertEqual(about["scenes"], 1 + changes)
        self.assertEqual(about["changes_a_day"], {"days": 1, "min": changes, "mean": changes,
                                                  "max": changes})
        for row, (sample, engine) in zip(found, ((i, e) for i in range(len(wanted))
                                                 for e in engines)):
            jobs, _, values = wanted[sample]
            self.assertEqual((row["time"], row["engine"], int(row["jobs"])),
                             (date(samples[sample]), engine, jobs))
            for metric in METRICS:
                mine = values[engine][metric]
                if mine is None:
                    self.assertEqual(row[metric], "")
                else:
                    self.assertAlmostEqual(float(row[metric]), mine, 5, (row, metric))
        self.check_improvements(about, found, list(engines))
        return changes

    def check_improvements(self, about, found, engines):
        values = {engine: [row for row in found if row["engine"] == engine and int(row["jobs"])]
                  for engine in engines}
        if not values[engines[0]]:
            return
        for told in about["improvements"]:
            pairs = [(float(a[told["metric"]]), float(b[told["metric"]]))
                     for a, b in zip(values[engines[0]], values[told["than"]])]
            wanted = oracle.improvement(pairs, told["metric"] == "job_links_avg")
            self.assertEqual(told["samples"], len(pairs))
            for key, value in zip(("max", "max_percent", "mean", "mean_percent"), wanted):
                if value is None:
                    self.assertIsNone(told[key])
                else:
                    self.assertAlmostEqual(told[key], value, 3, (told, key))

    def test_random_histories(self):
        rng, changes = random.Random(SEED), 0
        cases = (("kary:k=3,n=2,hosts=3", {"sar": True, "dfsssp": False, "ftree": False}),
                 ("torus:3x3,hosts=2", {"sar": True, "dfsssp": False, "nue+jobs": True}),
                 ("kary:k=2,n=3,hosts=2", {"weave+jobs": True, "updn": False}))
        for trial in range(TRIALS):
            spec, engines = cases[trial % len(cases)]
            with self.subTest(trial=trial, spec=spec):
                changes += self.compare(rng, spec, engines)
        if TRIALS >= 6:  # else it is a matter of luck
            self.assertGreater(changes, 3 * TRIALS)


if __name__ == "__main__":
    unittest.main()
