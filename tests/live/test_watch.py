"""What the plugin writes and reads as root, with the real OpenSM: its status is true at any time,
links and pipes that others can make lead it nowhere, and what it reads stays out of the log.
"""
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm, sanitizers  # noqa: E402
from support.command import ok, selvage  # noqa: E402

SECRET = "hunter2:$6$salt:19000:0:99999"


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        self.net = self.path("net")
        ok("topo", "torus:3x3,hosts=1", "-o", self.net)

    def metrics(self, sm):
        """{name: value} of the Prometheus file."""
        with open(sm.prometheus) as file:
            return {name: float(value) for name, value in
                    re.findall(r"^(\w+)(?:\{.*\})? (\S+)$", file.read(), re.M)}

    def until(self, what, check, timeout=60):
        deadline = time.time() + timeout
        while not check():
            if time.time() > deadline:
                self.fail("%s does not come" % what)
            time.sleep(0.05)


class Truth(Case):
    def withdrawn(self, sm, reason):
        self.until("'%s'" % reason, lambda: reason in (sm.status()["inactive_reason"] or ""))
        status = sm.status()
        self.assertIs(status["active"], False)
        self.assertIs(status["proven"], False)
        self.assertIs(status["whole"], False)
        self.assertIn(status["engine"], (None, ""))
        metrics = self.metrics(sm)
        self.assertEqual((metrics["selvage_active"], metrics["selvage_proven"]), (0, 0))

    def active(self, sm):
        self.until("an active status", lambda: sm.status()["active"])
        status = sm.status()
        self.assertIs(status["proven"], True)
        self.assertIsNone(status["inactive_reason"])
        self.assertEqual(status["engine"], "weave")
        metrics = self.metrics(sm)
        self.assertEqual((metrics["selvage_active"], metrics["selvage_proven"]), (1, 1))

    def test_back_to_another_engine(self):
        """The way back of docs/operate.md: the old routing_engine line, the plugin stays loaded."""
        with ibsim.simulate(self.net) as sim:
            with opensm.start(sim, self.path("osm")) as sm:
                sm.wait_up()
                self.active(sm)
                self.assertEqual(len(sm.lines("selvage: version .*, engine weave")), 1)
                ok("check", sm.written())
                sls = os.path.join(sm.dump, "opensm.psl")
                shutil.copy(sls, self.path("psl"))
            self.withdrawn(sm, "OpenSM has ended")
            os.remove(sm.log)
            with opensm.start(sim, self.path("osm"), routing_engine="minhop") as sm:
                sm.wait_up()
                self.withdrawn(sm, "OpenSM routes with minhop")
                said = sm.lines("selvage: version")
                self.assertEqual(len(said), 1)
                self.assertIn("routes nothing: routing_engine is minhop", said[0])
                self.assertNotIn("engine weave", "".join(sm.lines()))
                sm.sweep()
                self.withdrawn(sm, "OpenSM routes with minhop")
                # SLs of the tables before would make a proof of tables that can deadlock.
                self.assertFalse(os.path.exists(sls))
                self.assertEqual(selvage("check", sm.written()).code, 6)
                shutil.copy(self.path("psl"), sls)  # as where the plugin is not loaded any more
                found = selvage("check", sm.written())
                self.assertEqual(found.code, 3, found.out)
                self.assertIn("opensm.psl:1: these service levels are for other forwarding tables",
                              found.err)

    def test_another_engine_behind_it(self):
        """Wrong options, and somebody else routes."""
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), "colour=blue", routing_engine="selvage,minhop") as sm:
            sm.wait_up()
            self.withdrawn(sm, "colour")

    def test_behind_another_engine(self):
        """The log says when it routes, and the status that it does not."""
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), routing_engine="minhop,selvage") as sm:
            sm.wait_up()
            self.withdrawn(sm, "OpenSM routes with minhop")
            said, = sm.lines("selvage: version")
            self.assertIn("routes (engine weave) only if the engines before it in routing_engine "
                          "(minhop,selvage) fail", said)

    def test_too_many_options(self):
        """A status of before is withdrawn even then."""
        with ibsim.simulate(self.net) as sim:
            with opensm.start(sim, self.path("osm")) as sm:
                sm.wait_up()
                self.active(sm)
                os.kill(sm.pid(), 9)
                sm.process.wait(30)
            with opensm.start(sim, self.path("osm"), "seed=1 " * 70, routing_engine="minhop") as sm:
                self.withdrawn(sm, "more than 64 options")

    def test_a_heartbeat(self):
        """Nothing happens, and the status is written all the same; killed, it is not."""
        with ibsim.simulate(self.net) as sim, opensm.start(sim, self.path("osm"),
                                                           "heartbeat=1") as sm:
            sm.wait_up()
            self.active(sm)
            first = sm.status()
            self.assertEqual(first["heartbeat_seconds"], 1)
            self.until("a heartbeat", lambda: sm.status()["heartbeat_unix_time"] >=
                       first["heartbeat_unix_time"] + 3)
            self.assertEqual(sm.status()["unix_time"], first["unix_time"])  # of the last sweep
            self.assertEqual(self.metrics(sm)["selvage_heartbeat_interval_seconds"], 1)
            os.kill(sm.pid(), 9)
            sm.process.wait(30)
            # The rule of docs/operate.md: three heartbeats without one.
            self.until("staleness", lambda: time.time() - sm.status()["heartbeat_unix_time"] > 3)
            self.assertIs(sm.status()["active"], True)  # nobody was there to withdraw it

    @unittest.skipIf(sanitizers.runtime(opensm.PLUGIN),
                     "with sanitizers it is their library that asks for the time, for all of OpenSM")
    def test_a_clock_that_is_set_back(self):
        """Heartbeats go on: else a status would look fresh for as long as the clock was ahead."""
        library, set_back = self.path("libclock.so"), self.path("set-back")
        source = os.path.join(os.path.dirname(os.path.abspath(opensm.__file__)), "clock.c")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-o",
                        library, source, "-ldl"], check=True)
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), "heartbeat=1", preload=[library],
                environment={"SELVAGE_CLOCK": set_back}) as sm:
            sm.wait_up()
            self.active(sm)
            self.assertGreater(sm.status()["heartbeat_unix_time"], time.time() + 3000)
            with open(set_back, "w"):
                pass
            self.until("a heartbeat", lambda: sm.status()["heartbeat_unix_time"] < time.time() + 10,
                       15)

    def test_a_standby_says_nothing_of_the_tables(self):
        opensm.try_again(self.standby)

    def standby(self):
        self.setUp()
        guids = [a["guid"][2:] for a in
                 json.loads(ok("convert", self.net, "--format", "json").out)["adapters"]]
        with ibsim.simulate(self.net) as sim, opensm.start(sim, self.path("one"),
                                                           sm_priority="3") as one:
            one.wait_up()
            self.active(one)
            with opensm.start(sim, self.path("two"), host="H-" + guids[5], sm_priority="9") as two:
                two.take_over()
                one.wait("Entering STANDBY state", timeout=60)
                self.withdrawn(one, "not the master")
                self.active(two)

    def test_dry_run(self):
        with ibsim.simulate(self.net) as sim, opensm.start(sim, self.path("osm"), "dry-run",
                                                           routing_engine="dnup") as sm:
            sm.wait("dry-run: these tables would change")
            self.until("a status", lambda: sm.status()["dry_run_proven"])
            status, metrics = sm.status(), self.metrics(sm)
            self.assertEqual((status["active"], status["proven"]), (False, False))
            self.assertIn("dry-run", status["inactive_reason"])
            self.assertEqual((metrics["selvage_active"], metrics["selvage_proven"]), (0, 0))
            self.assertEqual(metrics["selvage_dry_run_proven"], 1)


class Links(Case):
    """A directory that everybody can write, and in it links to what is nobody's business."""

    def setUp(self):
        super().setUp()
        self.shared, self.victims = self.path("shared"), {}
        os.mkdir(self.shared)
        os.chmod(self.shared, 0o777)

    def trap(self, name):
        """A link in the shared directory to a file of ours; returns its path."""
        victim = self.path("victim-" + name)
        with open(victim, "w") as file:
            file.write("precious\n")
        self.victims[name] = victim
        os.symlink(victim, os.path.join(self.shared, name))
        return os.path.join(self.shared, name)

    def unharmed(self):
        for name, victim in self.victims.items():
            with open(victim) as file:
                self.assertEqual(file.read(), "precious\n", name)
            self.assertTrue(os.path.islink(os.path.join(self.shared, name)), name)

    def test_links_are_not_followed(self):
        options = "status=%s prometheus=%s state=%s" % (
            self.trap("status.json"), self.trap("selvage.prom"), self.trap("state.svr"))
        self.trap("opensm.psl.new")  # a fixed name, once
        self.trap("opensm.psl")
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), options, dump_files_dir=self.shared) as sm:
            sm.wait_up()
            for name in ("status.json", "selvage.prom", "opensm.psl"):
                sm.wait("ERR SV06: cannot create '[^']*%s': .* symbolic link in a directory that "
                        "others can write" % re.escape(name))
            sm.wait("state file could not be written: .*symbolic link")
            self.unharmed()
            sm.sweep()
            self.unharmed()

    def test_modes(self):
        state = self.path("state.svr")
        with ibsim.simulate(self.net) as sim, opensm.start(sim, self.path("osm"),
                                                           "state=" + state) as sm:
            sm.wait_up()
            self.until("a state", lambda: os.path.exists(state))
            for path, mode in ((state, 0o640), (sm.status_path, 0o644), (sm.prometheus, 0o644)):
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), mode, path)

    def test_pipes_do_not_stop_a_start(self):
        pipes = {name: self.path(name) for name in ("state.svr", "state.svr.jobs", "jobs", "roots")}
        for path in pipes.values():
            os.mkfifo(path)
        options = "state=%s jobs=%s roots=%s engine=auto" % (
            pipes["state.svr"], pipes["jobs"], pipes["roots"])
        with ibsim.simulate(self.net) as sim, opensm.start(sim, self.path("osm"), options) as sm:
            sm.wait_up()
            sm.wait("state.svr': it is not a regular file")
            self.assertEqual(selvage("check", sm.written()).code, 0)

    def test_a_pipe_that_is_pinned(self):
        ok("route", self.net, "-o", self.path("pin"))
        os.remove(self.path("pin/opensm.psl"))
        os.mkfifo(self.path("pin/opensm.psl"))
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), "pin=" + self.path("pin"), routing_engine="selvage") as sm:
            sm.wait("ERR SV00: .*opensm.psl': it is not a regular file")

    def test_a_mixture_that_is_pinned(self):
        for name, engine in (("pin", "weave"), ("other", "nue")):
            ok("route", self.net, "-e", engine, "-o", self.path(name))
        os.replace(self.path("other/opensm.psl"), self.path("pin/opensm.psl"))
        with ibsim.simulate(self.net) as sim, opensm.start(
                sim, self.path("osm"), "pin=" + self.path("pin"), routing_engine="selvage") as sm:
            sm.wait("ERR SV00: .*files of different sets of tables")
            sm.wait("No routing engine able")
            self.assertEqual(sm.ups(), 0)

    def test_secrets_stay_out_of_the_log(self):
        secret = self.path("shadow")
        with open(secret, "w") as file:
            file.write(SECRET + "\n%s two words\n" % SECRET)
        os.chmod(secret, 0o600)
        for options, config in (("jobs=" + secret, {}), ("engine=updn roots=" + secret, {}),
                                ("", {"cn_guid_file": secret}), ("", {"io_guid_file": secret}),
                                ("pin=" + secret, {"routing_engine": "selvage"}),
                                ("engine=torus2qos option=config=" + secret, {})):
            with self.subTest(options, **config):
                directory = self.path("osm%d" % len(os.listdir(os.path.dirname(self.net))))
                with ibsim.simulate(self.net) as sim, opensm.start(sim, directory, options,
                                                                   **config) as sm:
                    sm.wait("shadow")  # it was read, and is not what it should be
                    self.until("a line", lambda: sm.ups() > 0 or sm.lines("ERR SV00"))
                with open(sm.log, errors="replace") as file:
                    self.assertNotIn("hunter2", file.read())
                for path in (sm.status_path, sm.prometheus):
                    with open(path) as file:
                        self.assertNotIn("hunter2", file.read())


if __name__ == "__main__":
    opensm.require()
    unittest.main()
