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
import threading
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
        self.spec(SPEC)

    def spec(self, spec):
        ok("topo", spec, "-o", self.path("f.net"))
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

    def copy_steps(self, sm, timeout=60, seen=0):
        """Copies what OpenSM dumped, in each step, until the last one is there. seen: how many steps
        the log tells of changes before."""
        kept, deadline = [], time.time() + timeout
        while time.time() < deadline:
            lines = [STEP.search(line) for line in sm.lines(STEP.pattern)]
            numbers = [(int(m[1]), int(m[2])) for m in lines if m]
            status = sm.status()
            if len(numbers) > seen and status["step"] == (
                    numbers[-1][0] if numbers[-1][0] < numbers[-1][1] else 0):
                seen = len(numbers)
                kept.append((numbers[-1], self.path("step%d" % seen)))
                shutil.copytree(sm.written(), kept[-1][1])  # it dumps after the plugin its status
                if numbers[-1][0] == numbers[-1][1]:
                    return kept
            time.sleep(0.05)
        self.fail("the last step did not come: %s\n%s" % (kept, sm.tail()))

    def test_failure(self):
        fabric, (guid, port) = self.cable()
        sm = self.start("settle=2")
        shutil.copytree(sm.written(), self.path("before"))
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

    def sls(self, directory):
        """{(switch, LID): SL} that opensm.psl tells."""
        by_lid, switches = {}, set()
        with open(os.path.join(directory, "opensm.psl")) as file:
            for who, lid, sl in (line.split() for line in file if line[0] != "#"):
                by_lid.setdefault(int(lid), {})[who.lstrip("@")] = int(sl)
        with open(os.path.join(directory, "opensm-subnet.lst")) as file:
            switches = set(re.findall(r"{ SW \S+ \S+ NodeGUID:(\w+)", file.read()))
        return {("0x" + s, lid): found.get("0x" + s, found.get("*"))
                for lid, found in by_lid.items() for s in switches}

    def cables_with_sls(self, state):
        """Cables whose return changes SLs of a destination after the first step: (guid, port), found
        offline (without what multicast adds). Their return, since all paths that there were last
        until their step: whoever asks meanwhile is answered."""
        fabric = json.loads(ok("convert", state, "--format", "json").out)
        guids = {s["node"]: (s["guid"], s["name"]) for s in fabric["switches"]}
        for c in fabric["cables"]:
            if c["a"] not in guids or c["b"] not in guids:
                continue
            less, after = self.path("less.net"), self.path("after")
            ok("faults", state, "--port", "%s/%d" % (guids[c["a"]][1], c["a_port"]), "-o", less)
            shutil.rmtree(after, ignore_errors=True)
            found = selvage("route", less, "--repair", state, "--proven", "--multicast", "-o", after)
            if found.code == 0 and self.has_later_sls(after, state):
                yield guids[c["a"]][0], c["a_port"]

    def has_later_sls(self, old, new):
        """Whether there is a plan, and SLs change in a later step than the first."""
        if selvage("update", old, new, "-o", self.path("plan.json")).code != 0:
            return False
        with open(self.path("plan.json")) as file:
            return any(d["new_sls"] > 0 and d["new_sls_from_step"] > 0
                       for d in json.load(file)["destinations"])

    def ask(self, pairs, seen, stop):
        """What the SA says of pairs of LIDs, again and again: (pair, SL, when it had said so)."""
        while not stop.is_set():
            for pair in pairs:
                out = self.sim.run("saquery", "PR", "--slid", str(pair[0]), "--dlid",
                                   str(pair[1])).decode()
                sl = re.search(r"\bsl\.+0x(\w+)", out)
                if sl:
                    seen.append((pair, int(sl[1], 16), time.time()))

    def take_steps(self, sm, guid, port):
        """A cable is gone and comes back: what was dumped in each step, and what the SA said meanwhile
        of all pairs whose SLs change. None if there are no such pairs, or no steps, or more pairs than
        can be asked again and again."""
        sm.settle(lambda: self.sim.unlink("S-" + guid[2:], port))
        shutil.rmtree(self.path("less"), ignore_errors=True)
        shutil.copytree(sm.written(), self.path("less"))
        was, wanted = self.sls(self.path("less")), self.sls(self.path("before"))
        lids = {s["guid"]: s["lid"] for s in
                json.loads(ok("convert", self.path("before"), "--format", "json").out)["switches"]}
        pairs = sorted((lids[s], lid) for s, lid in was
                       if was[s, lid] != wanted.get((s, lid)) and lids[s] != lid)
        if not 0 < len(pairs) <= 40:
            sm.settle(lambda: self.sim.relink("S-" + guid[2:], port))
            return None
        seen, stop, steps, ups = [], threading.Event(), len(sm.lines(STEP.pattern)), sm.ups()
        asking = threading.Thread(target=self.ask, args=(pairs, seen, stop))
        asking.start()
        try:
            while len(seen) < len(pairs):  # all of them are told their old SL first
                time.sleep(0.05)
            handed = len(sm.lines("handed over"))
            self.sim.relink("S-" + guid[2:], port)
            sm.wait("handed over", handed + 1)
            if len(sm.lines(STEP.pattern)) == steps:
                sm.wait_up(ups + 1)
                return None
            kept, asked = self.copy_steps(sm, seen=steps), len(seen)
            deadline = time.time() + 60
            while len(seen) < asked + len(pairs) and time.time() < deadline:
                time.sleep(0.05)  # all of them once more, now that it is over
        finally:
            stop.set()
            asking.join()
        return kept, seen, lids

    def test_new_sls_wait_for_their_step(self):
        """The condition of plans: path records give new SLs from the first step of their destination
        on, and not before. Asked of the SA while the steps go on, and read in what it dumps."""
        self.spec("torus:5x4,hosts=1")
        sm = self.start("settle=2 state=" + self.path("state.svr"))
        shutil.copytree(sm.written(), self.path("before"))
        shutil.copy(self.path("state.svr"), self.path("before.svr"))
        for guid, port in self.cables_with_sls(self.path("before.svr")):
            taken = self.take_steps(sm, guid, port)
            if taken:
                break
        else:
            self.fail("no cable whose return changes SLs in a later step")
        kept, seen, lids = taken
        names = [self.path("less")] + [name for _, name in kept]
        sls = [self.sls(name) for name in names]
        entries = [tables(os.path.join(name, "opensm-lfts.dump")) for name in names]
        # Every step is safe with old SLs and with those that it gives.
        for old, new in zip(names, names[1:]):
            self.assertEqual(selvage("check", old, new).code, 0, (old, new))
        # In which step entries of a LID, and SLs to it, change first.
        def begins(lid, states, of):
            return next((i for i, now in enumerate(states) if of(now, lid) != of(states[0], lid)),
                        None)

        def sls_to(now, lid):
            return {s: sl for (s, to), sl in now.items() if to == lid}

        def entries_of(now, lid):
            return {s: row[lid] for s, row in now.items()}

        steps, begun = sm.lines(r"step \d+ of")[-len(kept):], {}
        for lid in {lid for _, lid in sls[0]}:
            begun[lid], moved = begins(lid, sls, sls_to), begins(lid, entries, entries_of)
            if begun[lid] is not None and moved is not None:
                self.assertGreaterEqual(begun[lid], moved, "LID %d" % lid)
        self.assertGreater(max(step or 0 for step in begun.values()), 1)
        # What the SA answered: a new SL only when that step had been handed over.
        handed = {int(STEP.search(line)[1]): self.when(line) for line in steps}
        guids, news, waited = {lid: guid for guid, lid in lids.items()}, 0, 0
        for (source, lid), sl, then in seen:
            old, new = (now[guids[source], lid] for now in (sls[0], sls[-1]))
            self.assertIn(sl, (old, new))
            if old != new and sl == new:
                news += 1
                self.assertGreaterEqual(then, handed[begun[lid]], (source, lid))
            elif old != new and handed[1] < then < handed[begun[lid]]:
                waited += 1
        self.assertGreater(news, 0)
        self.assertGreater(waited, 0, "nobody asked between the first step and that of its SL")

    def when(self, line):
        """The time of a line of OpenSM's log, in seconds."""
        month, day, clock, micro = re.match(r"(\w+) (\d+) ([\d:]+) (\d+)", line).groups()
        stamp = time.strptime("%d %s %s %s" % (time.localtime().tm_year, month, day, clock),
                              "%Y %b %d %H:%M:%S")
        return time.mktime(stamp) + int(micro) / 1e6

    def test_at_once_if_asked_for(self):
        _, (guid, port) = self.cable()
        sm = self.start("update=at-once")
        sm.settle(lambda: self.sim.unlink("S-" + guid[2:], port))
        sm.wait("safe step by step; all at once")
        self.assertEqual(sm.lines("step 1 of"), [])

    def test_the_cable_comes_back_in_the_middle(self):
        _, (guid, port) = self.cable()
        sm = self.start("settle=3")
        self.sim.unlink("S-" + guid[2:], port)
        sm.wait("step 1 of")
        sm.settle(lambda: self.sim.relink("S-" + guid[2:], port), quiet=4)  # longer than settle
        sm.wait("cable .* new")
        self.assertEqual(sm.status()["steps"], 0, sm.tail())
        last = selvage("check", sm.written(), "--json")
        self.assertEqual((last.code, last.json["unreachable_pairs"]), (0, 0))
        self.assertEqual(sm.lines("ERR SV"), [])


if __name__ == "__main__":
    ibsim.require()
    opensm.require()
    unittest.main()
