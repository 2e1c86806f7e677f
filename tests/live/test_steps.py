"""Updates step by step inside the real OpenSM, over the real ibsim (update=steps, the default).

A cable fails in a tree where all blocks at once could make packets circle: OpenSM is given one step
a sweep. What it dumped in each step is held against what it dumped before, from outside: every step
is safe in any order (`selvage check OLD NEW`), all of it at once would not be.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm  # noqa: E402
from support.command import ok, selvage  # noqa: E402
from support.ibsim import tables  # noqa: E402

SPEC = "kary:k=4,n=2"
STEP = re.compile(r"step (\d+) of (\d+)")


class Steps(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        ok("topo", SPEC, "-o", self.path("f.net"))
        self.sim = self.enter(ibsim.simulate(self.path("f.net"), console=True))

    def enter(self, manager):
        result = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return result

    def start(self, options):
        sm = self.enter(opensm.start(self.sim, self.path("osm"), options))
        sm.wait_up()
        return sm

    def cable(self):
        """A cable whose failure needs several steps: (switch, port), found offline."""
        ok("route", self.path("f.net"), "--engine", "weave", "-o", self.path("whole.svr"))
        fabric = json.loads(ok("convert", self.path("f.net"), "--format", "json").out)
        for seed in range(1, 30):
            ok("faults", self.path("f.net"), "--links", "1", "--seed", str(seed), "-o",
               self.path("less.net"))
            ok("route", self.path("less.net"), "--repair", self.path("whole.svr"), "-o",
               self.path("less.svr"))
            found = selvage("update", self.path("whole.svr"), self.path("less.svr"), "--json")
            if found.json["steps"] > 1:
                return fabric, self.lost(fabric)
        self.fail("no cable whose failure needs several steps")

    def lost(self, fabric):
        """The end of the cable that is not there any more."""
        left = json.loads(ok("convert", self.path("less.net"), "--format", "json").out)
        def ends(f):
            guids = {switch["node"]: switch["guid"] for switch in f["switches"]}
            return {(guids[c["a"]], c["a_port"]) for c in f["cables"]
                    if c["a"] in guids and c["b"] in guids}
        (end,) = ends(fabric) - ends(left)
        return end

    def copy_steps(self, sm, timeout=60):
        """Copies what OpenSM dumped, in each step, until the last one is there."""
        kept, deadline, seen = [], time.time() + timeout, 0
        while time.time() < deadline:
            lines = [STEP.search(line) for line in sm.lines("step ")]
            numbers = [(int(m[1]), int(m[2])) for m in lines if m]
            status = sm.status()
            if len(numbers) > seen and status["step"] == (
                    numbers[-1][0] if numbers[-1][0] < numbers[-1][1] else 0):
                time.sleep(0.3)  # OpenSM writes its dumps after the plugin its status
                seen = len(numbers)
                kept.append((numbers[-1], self.path("step%d" % seen)))
                shutil.copytree(sm.dump, kept[-1][1])
                if numbers[-1][0] == numbers[-1][1]:
                    return kept
            time.sleep(0.05)
        self.fail("the last step did not come: %s\n%s" % (kept, sm.tail()))

    def test_failure(self):
        fabric, (guid, port) = self.cable()
        sm = self.start("settle=2")
        time.sleep(0.5)
        shutil.copytree(sm.dump, self.path("before"))
        self.sim.unlink("S-" + guid[2:], port)
        kept = self.copy_steps(sm)
        count = kept[-1][0][1]
        self.assertGreater(count, 1)
        self.assertEqual([number for number, _ in kept], [(i + 1, count) for i in range(count)])
        names = [self.path("before")] + [name for _, name in kept]
        changed = [tables(os.path.join(name, "opensm-lfts.dump")) for name in names]
        for i in range(count):
            self.assertNotEqual(changed[i], changed[i + 1])
            found = selvage("check", names[i], names[i + 1], "--json")
            self.assertEqual(found.code, 0, "step %d: %s" % (i + 1, found.out + found.err))
        at_once = selvage("check", names[0], names[-1], "--json")
        self.assertEqual(at_once.code, 1, "all at once would have been safe: %s" % at_once.out)
        last = selvage("check", sm.dump, "--json")
        self.assertEqual((last.code, last.json["unreachable_pairs"]), (0, 0))
        self.assertEqual(sm.lines("ERR SV"), [])

    def test_at_once_if_asked_for(self):
        _, (guid, port) = self.cable()
        sm = self.start("update=at-once")
        ups = sm.ups()
        self.sim.unlink("S-" + guid[2:], port)
        sm.wait_up(ups + 1)
        time.sleep(1)
        self.assertEqual(sm.lines("step 1 of"), [])
        self.assertNotEqual(sm.lines("safe step by step; all at once"), [], sm.tail())

    def test_the_cable_comes_back_in_the_middle(self):
        _, (guid, port) = self.cable()
        sm = self.start("settle=3")
        self.sim.unlink("S-" + guid[2:], port)
        sm.wait("step 1 of")
        self.sim.relink("S-" + guid[2:], port)
        deadline = time.time() + 60
        while time.time() < deadline:
            time.sleep(1)
            if sm.status()["step"] == 0 and len(sm.lines("cable .* new")) > 0:
                break
        time.sleep(2)
        self.assertEqual(sm.status()["steps"], 0, sm.tail())
        last = selvage("check", sm.dump, "--json")
        self.assertEqual((last.code, last.json["unreachable_pairs"]), (0, 0))
        self.assertEqual(sm.lines("ERR SV"), [])


if __name__ == "__main__":
    ibsim.require()
    opensm.require()
    unittest.main()
