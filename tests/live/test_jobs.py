"""Routing that follows jobs, with everything real but the cables: Slurm runs jobs on nodes that are
called as the hosts of an ibsim fabric, `jobs follow` asks it, OpenSM with the plugin reroutes.

- Jobs that are submitted with sbatch change the tables; routes inside them are spread better than
  before (`metrics --jobs`), and `check` proves OpenSM's dump.
- A job that takes the nodes of another changes nothing. Neither does one inside of one switch.
- Without Slurm the map stays, and that is said once; when Slurm is back it goes on.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm, slurm  # noqa: E402
from support.command import SELVAGE, ok, selvage  # noqa: E402

SPEC = "kary:k=4,n=2,hosts=4"  # host0 … host15, four on each leaf switch


class Follower:
    """selvage jobs follow as a daemon."""

    def __init__(self, directory, environment, *arguments):
        self.out, self.log = (os.path.join(directory, "follow." + end) for end in ("json", "log"))
        self.command = [SELVAGE, "jobs", "follow", *arguments, "--json"]
        self.environment = environment

    def __enter__(self):
        with open(self.out, "wb") as out, open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=log, env=self.environment)
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def decisions(self):
        with open(self.out) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def wait(self, condition, what, timeout=60):
        try:
            slurm.wait_for(condition, what, timeout)
        except AssertionError:
            raise AssertionError("no %s:\n%s" % (what, self.said()[-3000:]))

    def wait_decision(self, what, since=0, **wanted):
        """Until a decision after the first since is as wanted; its number."""
        found = []

        def look():
            found[:] = [i for i, d in enumerate(self.decisions()) if i >= since and
                        all(d[key] == value for key, value in wanted.items())]
            return found
        self.wait(look, what)
        return found[0]

    def freeze(self):
        """Stops it for a while; what it asked Slurm just before has been answered then."""
        self.process.send_signal(signal.SIGSTOP)

        def asks():
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open("/proc/%s/stat" % name) as file:
                        state, parent = file.read().rsplit(")", 1)[1].split()[:2]
                except OSError:
                    continue
                if int(parent) == self.process.pid and state != "Z":
                    return True
            return False
        slurm.wait_for(lambda: not asks(), "answer of Slurm")

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """As an administrator would: at once, and with exit code 0."""
        begun = time.time()
        self.process.terminate()
        code = self.process.wait(20)
        return code, time.time() - begun


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-jobs-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        ok("topo", SPEC, "-o", self.path("f.net"))

    def start_manager(self, sim, options="", **config):
        return opensm.start(sim, self.path("osm"), "jobs=%s %s" % (self.path("map"), options),
                            **config)

    def write_pid(self, sm):
        with open(self.path("pid"), "w") as file:
            file.write("%d\n" % sm.pid())

    def prove(self, sm):
        found = selvage("check", sm.dump, "--json")
        self.assertEqual(found.code, 0, found.out + found.err)
        self.assertIs(found.json["deadlock_free"], True)
        self.assertEqual(found.json["unreachable_pairs"], 0)

    def read_map(self):
        with open(self.path("map")) as file:
            lines = [line.split() for line in file if not line.startswith("#")]
        jobs = {}
        for node, job in lines:
            jobs.setdefault(job, set()).add(node)
        return jobs

    def wait_dumped(self, sm, jobs):
        """Until OpenSM has routed for so many jobs, and dumped it."""
        slurm.wait_for(lambda: sm.status().get("jobs") == jobs, "tables for %d jobs" % jobs)
        ups = sm.ups()
        deadline = time.time() + 1.5
        while time.time() < deadline:  # its dump follows
            time.sleep(0.1)
            if sm.ups() != ups:
                ups, deadline = sm.ups(), time.time() + 1.5


class Following(Case):
    @classmethod
    def setUpClass(cls):
        missing = slurm.missing(slurm.NODE_PROGRAMS)
        if missing:
            raise unittest.SkipTest(missing)

    def test_jobs_come_and_go(self):
        hosts = ["host%d" % i for i in range(16)]
        with ibsim.simulate(self.path("f.net"), console=True) as sim, \
                self.start_manager(sim, "engine=weave") as sm, \
                slurm.start(hosts, nodes=True) as cluster:
            sm.wait_up()
            self.write_pid(sm)
            self.prove(sm)
            shutil.copytree(sm.dump, self.path("before"))
            self.assertEqual(sm.status()["jobs"], 0)
            with Follower(self.path(""), cluster.environment, sm.dump, "--map", self.path("map"),
                          "--every", "500ms", "--timeout", "10s", "--floor", "0", "--gain", "0",
                          "--trigger", "pid:" + self.path("pid"), "--state",
                          self.path("state")) as follower:
                self.come(sm, cluster, follower)
                self.replace(sm, cluster, follower)
                self.stay_inside(sm, cluster, follower)
                self.lose_slurm(sm, cluster, follower)
                code, seconds = follower.stop()
                self.assertEqual(code, 0, follower.said())
                self.assertLess(seconds, 5)
            self.assertEqual(sm.lines("ERR SV"), [])

    def come(self, sm, cluster, follower):
        """Two jobs over all leaf switches: routed for, better than before, proven."""
        follower.wait_decision("first look", decision="same", jobs=0)
        self.jobs = [cluster.submit("host[0,4,8,12]"), cluster.submit("host[5-6,9,13]")]
        cluster.wait_running(*self.jobs)
        follower.wait_decision("reroute", decision="rerouted", several_switches=2)
        self.assertEqual(self.read_map(), {
            self.jobs[0]: {"host0", "host4", "host8", "host12"},
            self.jobs[1]: {"host5", "host6", "host9", "host13"}})
        self.wait_dumped(sm, 2)
        self.prove(sm)
        both = ok("metrics", self.path("before"), sm.dump, "--jobs", self.path("map"),
                  "--json").json
        before, after = both["a"]["jobs"], both["b"]["jobs"]
        self.assertEqual(after["count"], 2)
        self.assertLess(after["efi"]["max"], before["efi"]["max"])
        self.assertEqual(sm.status()["jobs_terminals"], 8)
        self.assertEqual(sm.status()["jobs_efi_max"], after["efi"]["max"])
        self.assertTrue(sm.lines("jobs: 2 on 8 terminals"))

    def replace(self, sm, cluster, follower):
        """Other jobs on the same nodes, between two looks."""
        follower.freeze()
        cluster.cancel(*self.jobs)
        self.jobs = [cluster.submit("host[5-6,9,13]"), cluster.submit("host[0,4,8,12]")]
        cluster.wait_running(*self.jobs)
        before, sweeps = len(follower.decisions()), sm.status()["sweeps"]
        follower.thaw()
        follower.wait(lambda: len(follower.decisions()) >= before + 3, "looks")
        self.assertEqual({d["decision"] for d in follower.decisions()[before:]}, {"same"})
        self.assertEqual(sm.status()["sweeps"], sweeps)

    def stay_inside(self, sm, cluster, follower):
        """A job on one switch."""
        before, sweeps = len(follower.decisions()), sm.status()["sweeps"]
        inside = cluster.submit("host[1-3]")
        cluster.wait_running(inside)
        follower.wait_decision("job inside", before, decision="one_switch", jobs=3)
        cluster.cancel(inside)
        self.assertEqual(sm.status()["sweeps"], sweeps)

    def lose_slurm(self, sm, cluster, follower):
        with open(self.path("map")) as file:
            kept = file.read()
        cluster.stop_controller()
        follower.wait(lambda: "slurm away, retry in" in follower.said(), "word of Slurm")
        time.sleep(3)
        self.assertEqual(follower.said().count("slurm away"), 1)
        with open(self.path("map")) as file:
            self.assertEqual(file.read(), kept)
        cluster.start_controller()
        follower.wait(lambda: "slurm is back" in follower.said(), "word of Slurm", 90)
        before = len(follower.decisions())
        self.jobs.append(cluster.submit("host[7,11,15]"))
        cluster.wait_running(self.jobs[-1])
        follower.wait_decision("reroute", before, decision="rerouted", several_switches=3)
        self.wait_dumped(sm, 3)
        self.prove(sm)
        self.assertEqual(len(self.read_map()), 3)


class Triggers(Case):
    """Without Slurm: what makes OpenSM reroute, and what does not."""

    def look(self, sm, nodes, *more, fabric=None):
        queue = "echo '1|RUNNING|%s'" % nodes if nodes else "true"
        return selvage("jobs", "follow", fabric or sm.dump, "--map", self.path("map"), "--once",
                       "--gain", "0", "--floor", "0", "--json", "--from", queue, *more)

    def test_console_signal_and_reroute(self):
        [port] = slurm.free_ports(1)
        with ibsim.simulate(self.path("f.net"), console=True) as sim, self.start_manager(
                sim, "engine=sar", console="loopback", console_port=str(port)) as sm:
            sm.wait_up()
            found = self.look(sm, "host[0,4,8]", "--trigger", "console:127.0.0.1:%d" % port)
            self.assertEqual((found.code, found.json["decision"]), (0, "rerouted"), found.err)
            self.wait_dumped(sm, 1)  # in a sweep as any other, which can be careful
            self.assertEqual(sm.lines("reroute: everything is routed anew"), [])
            self.prove(sm)
            found = self.look(sm, "host[0,4,9]", "--trigger", "signal:%d" % sm.pid())
            self.assertEqual((found.code, found.json["decision"]), (0, "rerouted"), found.err)
            slurm.wait_for(lambda: len(sm.lines("jobs: 1 on 3 terminals")) >= 2, "second map")
            # a process that is no opensm is left alone, and told so
            found = self.look(sm, "host[0,4,10]", "--trigger", "signal:%d" % os.getpid())
            self.assertEqual((found.code, found.json["decision"]), (5, "untold"))
            self.assertIn("is no opensm", found.err)
            found = self.look(sm, "host[0,4,11]", "--trigger", "console:127.0.0.1:%d" % port,
                              "--dry-run")
            self.assertEqual(found.json["decision"], "would_reroute")

    def test_restart(self):
        """Tables of the state file are used again for the same jobs, and for no others."""
        options = "engine=weave state=" + self.path("state.svr")
        with ibsim.simulate(self.path("f.net"), console=True) as sim:
            for nodes, how in (("host[0,4,8,12]", "routed"), ("host[0,4,8,12]", "returned"),
                               ("host[1,4,8,12]", "routed")):
                self.look(None, nodes, fabric=SPEC)
                with self.start_manager(sim, options) as sm:
                    sm.wait_up()
                    self.assertEqual((sm.status()["how"], sm.status()["jobs"]), (how, 1))
                    self.prove(sm)
                    self.assertEqual(sm.stop(), 0)
                os.unlink(sm.log)

    def lose_jobs(self, sim, passage):
        """A manager that has routed for a job on every other switch of a torus, which then ends."""
        with open(self.path("map"), "w") as file:
            file.write("".join("host%d 1\n" % i for i in range(0, 16, 2)))
        with self.start_manager(sim, "engine=weave update=at-once passage=%s state=%s" % (
                passage, self.path(passage + ".svr"))) as sm:
            sm.wait_up()
            self.assertEqual(sm.status()["jobs"], 1)
            self.assertEqual(self.look(sm, "", "--engine", "weave", fabric=self.path("t.net")).code,
                             0)
            self.assertEqual(self.read_map(), {})
            sm.sweep()
            yield sm
            self.assertEqual(sm.stop(), 0)
        os.unlink(sm.log)

    def test_careful(self):
        """A change of jobs that could deadlock for a moment is not made with passage=careful, not
        even when a cable fails or OpenSM is started again; and it is said once. (Step by step, a
        part of it could be.)"""
        said = "to follow the jobs could deadlock for a moment"
        ok("topo", "torus:4x4,hosts=1", "-o", self.path("t.net"))
        with ibsim.simulate(self.path("t.net"), console=True) as sim:
            for sm in self.lose_jobs(sim, "any"):
                self.assertEqual((sm.status()["how"], sm.status()["passage"]),
                                 ("routed", "not safe"))
                self.assertEqual(sm.lines(said), [])
            for sm in self.lose_jobs(sim, "careful"):
                sm.sweep()
                self.assertEqual(len(sm.lines(said)), 1)
                self.assertEqual(len(sm.lines(": routed ")), 1)
                self.prove(sm)
            with self.start_manager(sim, "engine=weave update=at-once passage=careful state=" +
                                    self.path("careful.svr")) as sm:
                sm.wait_up()
                sm.sweep()
                self.assertEqual(sm.lines(": routed "), [])
                self.assertEqual(len(sm.lines("returned .*" + said)), 1)
                sm.settle(lambda: sim.unlink("S-02005e1a00000001", 2))
                self.assertEqual(sm.lines(": routed "), [])
                self.assertEqual(len(sm.lines(": repaired ")), 1)
                self.assertNotEqual(sm.status()["passage"], "not safe")
                self.prove(sm)

    def test_bad_options(self):
        with ibsim.simulate(self.path("f.net"), console=True) as sim, self.start_manager(
                sim, "engine=updn") as sm:
            sm.wait("ERR SV00: .*engine updn follows no jobs")


if __name__ == "__main__":
    opensm.require()
    if not unittest.main(exit=False).result.wasSuccessful():
        sys.exit(1)
    slurm.require(slurm.NODE_PROGRAMS)  # if it is not there, what needs it was left out: say so
