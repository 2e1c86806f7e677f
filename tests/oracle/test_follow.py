"""What jobs follow decides, computed a second time: from the fabric as JSON (who hangs on which
switch), from tables that `route --jobs` makes, and from what `metrics --jobs` says of them."""
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok  # noqa: E402
from support.trials import trials  # noqa: E402

SPECS = ("kary:k=4,n=2,hosts=4", "torus:3x3,hosts=2", "random:switches=8,links=16,total=24",
         "dragonfly:a=3,p=2,h=1,g=4")


class Decisions(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-oracle-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        self.draw = random.Random(20)

    def load(self, spec):
        """{host: its switch}."""
        fabric = ok("convert", spec, "--format", "json").json
        switches = {s["node"] for s in fabric["switches"]}
        names = {a["adapter"]: a["name"] for a in fabric["adapters"]}
        host = {t["node"]: names[t["adapter"]] for t in fabric["terminals"]}
        at = {}
        for cable in fabric["cables"]:
            for here, there in ((cable["a"], cable["b"]), (cable["b"], cable["a"])):
                if here in host and there in switches:
                    at[host[here]] = there
        return at

    def jobs(self, at):
        """Some jobs, each a set of hosts; a host runs one."""
        hosts = sorted(at)
        self.draw.shuffle(hosts)
        jobs = []
        while hosts and len(jobs) < 5 and self.draw.random() < 0.9:
            size = min(len(hosts), self.draw.choice((1, 2, 3, 4, 8)))
            jobs.append(frozenset(hosts.pop() for _ in range(size)))
        return jobs

    def write_map(self, name, jobs):
        with open(self.path(name), "w") as file:
            for number, job in enumerate(jobs):
                for host in sorted(job):
                    file.write("%s j%d\n" % (host, number))
        return self.path(name)

    def weigh(self, spec, engine, made_for, judged_by):
        more = ["--jobs", self.write_map("made", made_for)] if made_for else []
        ok("route", spec, "--engine", engine, "-o", self.path("t.svr"), *more)
        if not judged_by:
            return 0, 0
        found = ok("metrics", self.path("t.svr"), "--jobs", self.write_map("judged", judged_by),
                   "--json").json["jobs"]
        return found["efi"]["max"], found["job_max_avg"]

    @staticmethod
    def gain(now, then):
        parts = sorted(100 * (a - b) / a if a else 0 for a, b in zip(now, then))
        return parts[1] + min(parts[0], 0)

    def follow(self, spec, engine, jobs, floor):
        with open(self.path("queue"), "w") as file:
            order = list(jobs)
            self.draw.shuffle(order)
            for job in order:
                file.write("%d|RUNNING|%s\n" % (self.draw.randrange(10 ** 6), ",".join(sorted(job))))
        found = ok("jobs", "follow", spec, "--map", self.path("map"), "--once", "--json", "--state",
                   self.path("state"), "--engine", engine, "--floor", floor, "--from",
                   "cat " + self.path("queue"))
        return json.loads(found.out)

    def test_random_jobs(self):
        seen = set()
        for spec in SPECS:
            at = self.load(spec)
            spread = lambda jobs: [j for j in jobs if len({at[h] for h in j}) > 1]  # noqa: E731
            for name in ("map", "state"):
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            kept, last, acted = [], None, False
            engine = self.draw.choice(("sar", "weave", "dfsssp"))
            for _ in range(max(8, trials(8))):  # fewer would not meet every decision
                again = last is not None and self.draw.random() < 0.3
                jobs = last if again else self.jobs(at)
                floor = self.draw.choice(("0", "0", "1h"))
                found = self.follow(spec, engine, jobs, floor)
                new = spread(jobs)
                added = [j for j in new if j not in kept]
                gone = [j for j in kept if j not in new]
                self.assertEqual((found["jobs"], found["several_switches"]), (len(jobs), len(new)))
                self.assertEqual((found["added"], found["gone"]), (len(added), len(gone)))
                wanted = self.judge(spec, engine, kept, new, found,
                                    last is not None and set(jobs) != set(last),
                                    bool(added or gone), acted and floor != "0")
                self.assertEqual(found["decision"], wanted, found)
                if wanted == "rerouted":
                    kept, acted = new, True
                last = jobs
                seen.add(wanted)
        self.assertEqual(seen, {"same", "one_switch", "floor", "gain", "rerouted"})

    def judge(self, spec, engine, kept, new, found, inside, changed, held):
        if not changed:
            return "one_switch" if inside else "same"
        if held:
            return "floor"
        now = self.weigh(spec, engine, kept, new)
        then = self.weigh(spec, engine, new, new)
        gain = self.gain(now, then)
        self.assertEqual(found["efi_max"], [now[0], then[0]])
        self.assertAlmostEqual(found["gain_percent"], gain, delta=0.1)
        return "rerouted" if gain >= 5 else "gain"


if __name__ == "__main__":
    unittest.main()
