"""Updates in five phases inside the real OpenSM, over the real ibsim: the testbed of thesis 5.3.3.5,
two switches with two links between them and two nodes each, OpenSM on one of the nodes. Subscribers
(examples/subscriber.c) stand in for MPI libraries.

What is in the switches is read from outside (`selvage discover`) in every phase: base entries are
the old ones until everybody has left, high ones never change unless something fails.
"""
import json
import os
import re
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm, subscriber  # noqa: E402
from support.command import SELVAGE, ok, selvage  # noqa: E402
from support.ibsim import tables  # noqa: E402
from support.subscriber import Subscriber  # noqa: E402

TIMES = {"retry": 300, "lease": 3000, "margin": 1000}
OPTIONS = "update=five engine=sar retry=0.3 lease=3 patience=10"
VLS = 8
JOBS = [("0 1", "2 3"), ("0 3", "1 2")]  # two maps: hosts of each job


class Bed:
    """The testbed: a simulator, OpenSM, and what its switches hold."""

    def __init__(self, case, options=OPTIONS, spec="mesh:1x2,hosts=2,r=2"):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        case.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        ok("topo", spec, "-o", self.path("f.net"))
        self.fabric = json.loads(ok("convert", self.path("f.net"), "--format", "json").out)
        self.hosts = ["H-" + a["guid"][2:] for a in self.fabric["adapters"]]
        self.set_jobs(0)
        self.sim = self.enter(case, ibsim.simulate(self.path("f.net"), console=True))
        self.sm = self.start(case, options)

    def start(self, case, options=OPTIONS, folder="osm"):
        sm = self.enter(case, opensm.start(self.sim, self.path(folder), "%s jobs=%s" % (
            options, self.path("jobs")), lmc="1"))
        sm.wait_up()
        lease = re.search(r"lease=(\d+)", options)
        self.ripe = time.time() + int(lease[1]) + 0.2
        return sm

    def ripen(self):
        """No update begins before a lease has passed: whoever subscribed before is not known."""
        time.sleep(max(0, self.ripe - time.time()))

    def enter(self, case, manager):
        result = manager.__enter__()
        case.addCleanup(manager.__exit__, None, None, None)
        return result

    def set_jobs(self, number):
        with open(self.path("jobs.new"), "w") as file:
            for job, hosts in enumerate(JOBS[number]):
                for host in hosts.split():
                    file.write("%s %d\n" % (self.fabric["adapters"][int(host)]["name"], job + 1))
        os.replace(self.path("jobs.new"), self.path("jobs"))

    def change(self, number):
        """Other jobs, and a sweep that finds them."""
        self.ripen()
        self.set_jobs(number)
        os.kill(self.sm.pid(), signal.SIGHUP)

    def lids(self):
        """Base LIDs of the hosts, as ports have them: OpenSM may be writing its files just now."""
        self.sim.run(SELVAGE, "discover", "-o", self.path("now"))
        found = json.loads(ok("convert", self.path("now"), "--format", "json").out)
        by_guid = {a["guid"]: t["lid"] for t in found["terminals"]
                   for a in [found["adapters"][t["adapter"]]]}
        return [by_guid[a["guid"]] for a in self.fabric["adapters"]]

    def subscriber(self, case, host, **options):
        one = Subscriber(self.sim, self.hosts[host], self.path("s%d" % host),
                         **dict(TIMES, **options))
        return self.enter(case, one)

    def held(self):
        """Entries of base and of high addresses, as switches have them: two sets."""
        lids, base, high = self.lids(), set(), set()  # lids() has discovered
        for guid, entries in tables(self.path("now/opensm-lfts.dump")).items():
            for lid, port in entries.items():
                (high if lid - 1 in lids else base).add((guid, lid, port))
        return base, high

    def status(self):
        return self.sm.status()

    def wait_status(self, timeout=20, **wanted):
        deadline = time.time() + timeout
        while any(self.status().get(key) != value for key, value in wanted.items()):
            if time.time() > deadline:
                raise AssertionError("%s: %s\n%s" % (wanted, self.status(), self.sm.tail()))
            time.sleep(0.05)


class Update(unittest.TestCase):
    def judge(self, bed):
        """What OpenSM dumped is proven from outside, with both sets of routes."""
        found = selvage("check", bed.sm.written(), "--json")
        self.assertEqual(found.code, 0, found.out + found.err)
        self.assertIs(found.json["deadlock_free"], True)
        self.assertEqual(found.json["unreachable_pairs"], 0)
        self.assertEqual(bed.sm.lines("ERR SV"), [])

    def test_migration(self):
        bed = Bed(self)
        lids = bed.lids()
        self.assertTrue(all(lid % 2 == 0 for lid in lids))
        slow = bed.subscriber(self, 2, drain=5000, peers=lids[:2])
        fast = bed.subscriber(self, 3, drain=300, peers=lids[:2])
        for one in (slow, fast):
            one.wait("place on-base")
        bed.wait_status(subscribers=2, update_phase="idle")
        old_base, high = bed.held()
        bed.change(1)
        asked = [one.wait("notice unpath")[0] for one in (slow, fast)]
        self.assertEqual(bed.held(), (old_base, high))
        fast.wait("place on-high")
        self.assertEqual(bed.held(), (old_base, high))  # one of them has left
        self.assertEqual(bed.status()["update_phase"], "leave")
        self.assertEqual(slow.events("place on-high"), [], "too slow a machine for this test")
        left = [one.wait("place on-high")[0] for one in (slow, fast)]
        back = [one.wait("notice repath")[0] for one in (slow, fast)]
        base, now_high = bed.held()
        self.assertNotEqual(base, old_base)
        self.assertEqual(now_high, high)
        self.assertGreater(min(back), max(left))
        self.assertGreater(min(left), max(asked))
        for one in (slow, fast):
            one.wait("place on-base", 2)
        bed.wait_status(update_phase="idle", updates=1, called_off=0, expelled=0)
        self.assertEqual(bed.held(), (base, high))
        self.compare_paths(bed, slow, lids)
        self.judge(bed)
        self.assertEqual([re.search(r"phase \d", line)[0] for line in bed.sm.lines("update 1, ph")],
                         ["phase 2", "phase 3", "phase 4", "phase 5"])
        self.assertEqual([one.end() for one in (slow, fast)], [0, 0])
        for one in (slow, fast):
            self.assertEqual(len(one.events("^unsubscribed")), 1, one.events()[-5:])
        bed.wait_status(subscribers=0)
        self.assertNotIn(b"InformInfoRecord", bed.sim.run("saquery", "IIR"))
        bed.change(0)  # nobody is left to be asked: at once
        bed.sm.wait("nobody has subscribed")
        bed.wait_status(update_phase="idle", updates=2)
        self.assertEqual(bed.held(), (old_base, high))
        self.assertEqual(bed.sm.stop(), 0)

    def compare_paths(self, bed, one, lids):
        """SLs that the administrator told are those of what switches had: high ones on the last."""
        told = [tuple(map(int, re.findall(r"\d+", what))) for _, what in one.events("^path")]
        self.assertEqual(len(told), 6)
        for start, to, sl in told:
            self.assertEqual(start % 2, to % 2)
            if to % 2 == 1:
                self.assertEqual(sl, VLS - 1)
            else:
                self.assertLess(sl, VLS - 1)
        self.assertEqual([to % 2 for _, to, _ in told], [0, 0, 1, 1, 0, 0])
        for start, to, sl in told[2:]:
            path = ok("path", bed.sm.written(), "lid %d" % (start - start % 2), "lid %d" % (to - to % 2),
                      "--offset", str(to % 2), "--json").json
            self.assertEqual(path["sl"], sl)

    def test_torus(self):
        """VLs are scarcer there: everything is proven, with a failure, too."""
        bed = Bed(self, "update=five lease=1 vls=4", "torus:4x4,hosts=1")
        self.judge(bed)
        self.assertEqual(bed.status()["vls_used"], 4)
        bed.ripen()
        for change in (bed.sim.unlink, bed.sim.relink):
            bed.sm.settle(lambda: change("S-" + bed.fabric["switches"][5]["guid"][2:], 2))
            bed.wait_status(update_phase="idle")
            self.judge(bed)
            base, high = bed.held()
            dumped = {(guid, lid, port) for guid, entries in tables(
                bed.sm.written() + "/opensm-lfts.dump").items() for lid, port in entries.items()}
            self.assertEqual(base | high, dumped)
        self.assertEqual(bed.status()["updates"], 2)
        self.assertEqual(bed.status()["how"], "returned")

    def test_links_of_both_sets(self):
        """Both sets use both links, and somebody's base address has one and its high the other."""
        bed = Bed(self)
        bed.change(1)
        bed.wait_status(updates=1, update_phase="idle")
        base, high = bed.held()
        between = {c["a_port"] for c in bed.fabric["cables"]
                   if max(c["a"], c["b"]) < len(bed.fabric["switches"])}
        for entries in (base, high):
            self.assertEqual({port for _, _, port in entries if port in between}, between)
        above = {(guid, lid): port for guid, lid, port in high}
        self.assertTrue(any(port in between and above.get((guid, lid + 1), port) != port
                            for guid, lid, port in base))

    def test_dead_subscriber(self):
        bed = Bed(self, OPTIONS.replace("lease=3", "lease=6"))
        dead = bed.subscriber(self, 2, drain=100, lease=6000)
        alive = bed.subscriber(self, 3, drain=100, lease=6000)
        for one in (dead, alive):
            one.wait("place on-base")
        bed.wait_status(subscribers=2)
        old = bed.held()
        bed.ripen()
        dead.end(signal.SIGKILL)
        bed.change(1)
        alive.wait("place on-high")
        self.assertEqual(bed.held(), old)  # the lease of the dead is not over
        alive.wait("place on-base", 2)
        bed.wait_status(update_phase="idle", updates=1, called_off=0, expelled=1, subscribers=1)
        base, high = bed.held()
        self.assertNotEqual(base, old[0])
        self.assertEqual(high, old[1])
        self.assertEqual(len(bed.sm.lines("taken for gone")), 1)
        deadline = time.time() + 20  # nor does OpenSM remember it
        while bed.sim.run("saquery", "IIR").count(b"InformInfoRecord dump") != 2:
            self.assertLess(time.time(), deadline)
            time.sleep(0.2)

    def test_trust(self):
        """As in the thesis: who does not answer is dead, and its lease does not count."""
        bed = Bed(self, OPTIONS.replace("lease=3", "lease=9 tries=3 trust"))
        dead = bed.subscriber(self, 2, lease=9000)
        dead.wait("place on-base")
        bed.wait_status(subscribers=1)
        bed.ripen()
        dead.end(signal.SIGKILL)
        bed.change(1)
        bed.wait_status(timeout=4, update_phase="idle", updates=1, expelled=1)

    def test_lost_datagrams(self):
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=100, lose=2, lose_answers=2)
        one.wait("place on-base")
        old = bed.held()
        bed.change(1)
        one.wait("place on-base", 2)
        bed.wait_status(update_phase="idle", updates=1, called_off=0, expelled=0)
        base, high = bed.held()
        self.assertNotEqual(base, old[0])
        self.assertEqual(high, old[1])
        self.assertEqual(len(one.events("^lost")), 4)

    def test_called_off(self):
        """Somebody does not leave: tables stay, the others come back; later it works."""
        bed = Bed(self, OPTIONS.replace("patience=10", "patience=1"))
        stuck = bed.subscriber(self, 2, drain=100000)
        other = bed.subscriber(self, 3, drain=100)
        for one in (stuck, other):
            one.wait("place on-base")
        bed.wait_status(subscribers=2)
        old = bed.held()
        bed.change(1)
        other.wait("place on-base", 2)
        bed.wait_status(called_off=1)
        self.assertEqual(len(bed.sm.lines("ERR SV11")), 1)
        self.assertEqual(bed.held(), old)
        self.assertEqual(stuck.end(), 0)
        bed.wait_status(update_phase="idle", subscribers=1)
        self.assertEqual(bed.held(), old)
        os.kill(bed.sm.pid(), signal.SIGHUP)
        other.wait("place on-base", 3)
        bed.wait_status(update_phase="idle", called_off=1)
        self.assertNotEqual(bed.held()[0], old[0])
        self.assertEqual(bed.held()[1], old[1])

    def test_failure(self):
        """High entries are mended at once, base ones when everybody has left."""
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=3000)
        one.wait("place on-base")
        bed.wait_status(subscribers=1)
        old_base, old_high = bed.held()
        cable = next(c for c in bed.fabric["cables"]
                     if max(c["a"], c["b"]) < len(bed.fabric["switches"]))
        switch = bed.fabric["switches"][cable["a"]]["guid"]
        bed.ripen()
        bed.sim.unlink("S-" + switch[2:], cable["a_port"])
        one.wait("notice unpath")
        base, high = bed.held()
        self.assertEqual(base, old_base)
        self.assertFalse(any(port == cable["a_port"] for _, _, port in high))
        self.assertTrue(any(port == cable["a_port"] for _, _, port in old_high))
        one.wait("place on-base", 2)
        base, now_high = bed.held()
        self.assertFalse(any(port == cable["a_port"] for _, _, port in base))
        self.assertEqual(now_high, high)
        bed.sim.relink("S-" + switch[2:], cable["a_port"])
        one.wait("place on-base", 3)
        self.assertEqual(bed.held(), (old_base, old_high))
        bed.wait_status(called_off=0, expelled=0, update_phase="idle")
        self.judge(bed)

    def test_failure_and_called_off(self):
        """What is broken is mended, whoever does not leave."""
        bed = Bed(self, OPTIONS.replace("patience=10", "patience=1"))
        stuck = bed.subscriber(self, 2, drain=100000)
        stuck.wait("place on-base")
        bed.wait_status(subscribers=1)
        cable = next(c for c in bed.fabric["cables"]
                     if max(c["a"], c["b"]) < len(bed.fabric["switches"]))
        bed.ripen()
        bed.sim.unlink("S-" + bed.fabric["switches"][cable["a"]]["guid"][2:], cable["a_port"])
        stuck.wait("notice unpath")
        bed.sm.wait("ERR SV11.*lost paths")
        deadline = time.time() + 10
        while any(port == cable["a_port"] for _, _, port in bed.held()[0]):
            self.assertLess(time.time(), deadline)
        self.assertEqual(bed.status()["called_off"], 1)

    def test_one_after_the_other(self):
        """A change that comes while subscribers return waits until they are back."""
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=3000)
        one.wait("place on-base")
        old = bed.held()
        bed.change(1)
        one.wait("place returning")
        base, high = bed.held()
        self.assertNotEqual(base, old[0])
        bed.change(0)
        one.wait("place on-base", 2)
        one.wait("place leaving", 2)
        self.assertEqual(bed.held(), (base, high))
        one.wait("place on-base", 3)
        bed.wait_status(update_phase="idle", updates=2, called_off=0)
        self.assertEqual(bed.held(), old)

    def test_cut_off(self):
        """Who cannot be reached leaves of its own accord before anything changes, and comes back."""
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=100)
        one.wait("place on-base")
        bed.wait_status(subscribers=1)
        bed.ripen()
        old = {entry for entry in bed.held()[0] if entry[1] != bed.lids()[2]}
        lids = bed.lids()
        bed.sm.settle(lambda: bed.sim.unlink(bed.hosts[2], 1))
        bed.change(1)
        left = one.wait("place on-high")[0]
        bed.sm.wait("taken for gone")
        bed.wait_status(update_phase="idle", called_off=0, expelled=1, subscribers=0)
        gone = min(line[:15] for line in bed.sm.lines("taken for gone"))
        self.assertLessEqual(time.strftime("%b %d %H:%M:%S", time.localtime(left)), gone)
        bed.sim.run(SELVAGE, "discover", "-o", bed.path("now"))
        now = {(guid, lid, port) for guid, entries in tables(
            bed.path("now/opensm-lfts.dump")).items() for lid, port in entries.items()
               if lid not in (lids[2], lids[2] + 1) and lid - 1 not in lids}
        self.assertNotEqual(now, old)
        bed.sim.relink(bed.hosts[2], 1)
        one.wait("place on-base", 2)
        bed.wait_status(subscribers=1, update_phase="idle")

    def test_restart(self):
        """A subscriber subscribes again with an OpenSM that knows nothing of it."""
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=100)
        one.wait("place on-base")
        bed.wait_status(subscribers=1)
        self.assertEqual(bed.sm.stop(), 0)
        bed.sm = bed.start(self, folder="again")
        bed.wait_status(subscribers=1)
        old = bed.held()
        bed.change(1)
        one.wait("notice unpath")
        one.wait("notice repath")
        bed.wait_status(update_phase="idle", updates=1, called_off=0, expelled=0)
        self.assertNotEqual(bed.held()[0], old[0])

    def test_take_over(self):
        """Who becomes master after a long wait knows nobody, and waits as if it had just begun."""
        opensm.try_again(self.take_over)

    def take_over(self):
        self.doCleanups()  # of an earlier try
        options = OPTIONS.replace("lease=3", "lease=6")
        bed = Bed(self, options)
        one = bed.subscriber(self, 2, drain=100, lease=6000)
        one.wait("place on-base")
        bed.wait_status(subscribers=1)
        second = bed.enter(self, opensm.start(bed.sim, bed.path("second"), "%s jobs=%s" % (
            options, bed.path("jobs")), lmc="1", host=bed.hosts[1], sm_priority="0"))
        second.wait("now standby")
        time.sleep(7)  # longer than a lease
        os.kill(bed.sm.pid(), signal.SIGKILL)
        bed.sm = second
        second.take_over()
        old = bed.held()
        bed.set_jobs(1)
        os.kill(second.pid(), signal.SIGHUP)
        one.wait("notice unpath", timeout=40)
        self.assertEqual(second.lines("nobody has subscribed"), [])
        bed.wait_status(timeout=40, update_phase="idle", updates=1, called_off=0, expelled=0)
        self.assertNotEqual(bed.held()[0], old[0])

    def set_vls(self, bed, number):
        """Another max_op_vls, and a sweep that finds it; with 1 nothing can be proven."""
        with open(bed.sm.config) as file:
            lines = [line for line in file if not line.startswith("max_op_vls")]
        with open(bed.sm.config, "w") as file:
            file.writelines(lines + ["max_op_vls %d\n" % number])
        os.kill(bed.sm.pid(), signal.SIGHUP)

    def test_nothing_can_be_proven(self):
        """Sweeps that come to nothing hand nothing over: nobody is told to come back after one."""
        bed = Bed(self)
        one = bed.subscriber(self, 2, drain=3000)
        one.wait("place on-base")
        bed.wait_status(subscribers=1)
        old = bed.held()
        bed.change(1)
        one.wait("notice unpath")
        self.set_vls(bed, 1)
        bed.sm.wait("ERR SV04")
        one.wait("place on-high")
        bed.sm.wait("phase 3")
        bed.sm.wait("ERR SV04", 2)
        time.sleep(1)
        self.assertEqual(one.events("notice repath"), [])
        self.assertEqual(bed.held(), old)
        self.assertEqual(bed.status()["update_phase"], "program")
        self.set_vls(bed, 4)
        one.wait("notice repath")
        self.assertNotEqual(bed.held()[0], old[0])
        one.wait("place on-base", 2)
        bed.wait_status(update_phase="idle", called_off=0, expelled=0)

    def test_too_early(self):
        """A change right after the start waits until everybody who was there must have renewed."""
        bed = Bed(self, OPTIONS.replace("lease=3", "lease=8"))
        old = bed.held()
        bed.set_jobs(1)
        os.kill(bed.sm.pid(), signal.SIGHUP)
        bed.sm.wait("wait until everybody has left")
        self.assertLess(time.time(), bed.ripe, "too slow a machine for this test")
        self.assertEqual(bed.status()["updates"], 0)
        self.assertEqual(bed.held(), old)
        bed.wait_status(updates=1, update_phase="idle")
        self.assertGreater(time.time(), bed.ripe - 0.5)
        self.assertNotEqual(bed.held()[0], old[0])

    def test_refusals(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        net = os.path.join(directory.name, "f.net")
        ok("topo", "mesh:1x2,hosts=2,r=2", "-o", net)
        for options, lmc, words in (("update=five", "0", "LMC 1"), ("update=six", "1", "at-once"),
                                    ("update=five lease=x", "1", "a lease is seconds")):
            with self.subTest(options), ibsim.simulate(net) as sim, opensm.start(
                    sim, os.path.join(directory.name, "osm"), options, lmc=lmc) as sm:
                sm.wait("ERR SV00.*" + words)


if __name__ == "__main__":
    opensm.require()
    subscriber.require()
    unittest.main()
