"""selvage jobs follow with commands that pretend to be Slurm: every way a decision can go, what is
remembered from one run to the next, and how a daemon behaves."""
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage  # noqa: E402

SPEC = "kary:k=4,n=2,hosts=4"  # host0 … host15, four on each leaf switch
TWO = "1|RUNNING|host[0,4,8,12]\n2|RUNNING|host[1-3]\n3|RUNNING|host[5-6,9,13]\n"
MAP = {"1": {"host0", "host4", "host8", "host12"}, "3": {"host5", "host6", "host9", "host13"}}


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-follow-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        self.say(TWO)

    def write(self, name, text):
        """At once, as whoever writes files that others read."""
        with open(self.path(name + ".new"), "w") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def say(self, text):
        """What the batch system says from now on."""
        self.write("queue", text)

    def arguments(self, *more, fabric=SPEC, source=None):
        words = ["jobs", "follow", fabric, "--map", self.path("map"), "--json", "--from",
                 source or "cat " + self.path("queue")]
        return words + list(more)

    def look(self, *more, state=True, **options):
        """One look; exit code, decision, and standard error."""
        extra = ["--state", self.path("state")] if state else []
        found = selvage(*self.arguments("--once", *extra, *more, **options))
        lines = found.out.splitlines()
        self.assertLessEqual(len(lines), 1, found.out)
        self.assertLessEqual(len(found.err.splitlines()), 2, found.err)
        return found.code, json.loads(lines[0]) if lines else None, found.err

    def decision(self, *more, code=0, **options):
        found, decision, error = self.look(*more, **options)
        self.assertEqual(found, code, error)
        return decision["decision"]

    def map(self):
        jobs = {}
        for line in self.read("map").splitlines():
            if not line.startswith("#"):
                node, job = line.split()
                jobs.setdefault(job, set()).add(node)
        return jobs

    def state(self):
        return dict(line.split() for line in self.read("state").splitlines()
                    if not line.startswith("#"))

    def change_state(self, **values):
        state = dict(self.state(), **{key: str(value) for key, value in values.items()})
        self.write("state", "".join("%s %s\n" % pair for pair in state.items()))


class Decisions(Case):
    def test_new_jobs(self):
        code, found, error = self.look()
        self.assertEqual((code, found["decision"], found["acted"]), (0, "rerouted", True))
        self.assertEqual((found["jobs"], found["several_switches"]), (3, 2))
        self.assertEqual((found["added"], found["gone"]), (2, 0))
        self.assertGreater(found["gain_percent"], 5)
        self.assertEqual(self.map(), MAP)
        self.assertRegex(error, r"^20\S+Z 3 jobs, 2 over several switches, 2 new, 0 gone: rerouted")
        self.assertGreater(int(self.state()["rerouted"]), time.time() - 60)

    def test_nothing_changed(self):
        self.decision()
        before = self.read("map")
        self.assertEqual(self.decision(), "same")
        self.say("".join(reversed(TWO.splitlines(True))).replace("1|R", "71|R"))
        self.assertEqual(self.decision(), "same")  # neither order nor numbers count
        self.assertEqual(self.read("map"), before)

    def test_only_inside_one_switch(self):
        self.decision()
        self.say(TWO.replace("host[1-3]", "host[1-2]"))
        self.assertEqual(self.decision(), "one_switch")
        self.assertEqual(self.decision(), "same")
        self.assertEqual(self.map(), MAP)

    def test_first_looks(self):
        """Who remembers nothing does not know of any change."""
        self.decision(state=False)
        self.assertEqual(self.decision(state=False), "same")
        self.assertEqual(self.decision(), "same")
        self.say(TWO.replace("host[1-3]", "host[1-2]"))
        self.assertEqual(self.decision(state=False), "same")
        self.assertEqual(self.decision(), "one_switch")
        os.unlink(self.path("state"))
        self.look(source="false")  # a state without jobs
        self.change_state(retry=0)
        self.assertEqual(self.decision(), "same")

    def test_floor(self):
        self.decision()
        self.say("4|RUNNING|host[0,5,10]\n")
        code, found, error = self.look("--floor", "1h")
        self.assertEqual((code, found["decision"]), (0, "floor"))
        self.assertTrue(3590 < found["seconds_left"] <= 3600)
        self.assertRegex(error, r"floor: 3\d+ s left")
        self.assertEqual(self.map(), MAP)
        self.assertEqual(self.decision("--floor", "0", "--gain", "0"), "rerouted")
        self.assertEqual(self.map(), {"4": {"host0", "host5", "host10"}})

    def test_clocks_that_jump(self):
        self.decision()
        self.say("4|RUNNING|host[0,5,10]\n")
        self.change_state(rerouted=int(time.time()) + 10 ** 6)  # it was set back
        found = self.look("--floor", "1h")[1]
        self.assertEqual(found["decision"], "floor")
        self.assertLessEqual(found["seconds_left"], 3600)
        self.assertLessEqual(int(self.state()["rerouted"]), time.time())
        self.change_state(failures=1, retry=int(time.time()) + 10 ** 6)
        self.assertEqual(self.decision("--floor", "0", "--gain", "0"), "rerouted")

    def test_gain(self):
        self.decision()
        self.say("4|RUNNING|host[0,5]\n")
        code, found, error = self.look("--floor", "0")
        self.assertEqual((code, found["decision"]), (0, "gain"))
        self.assertLess(found["gain_percent"], 5)
        self.assertIn("below 5 %", error)
        self.assertEqual(self.map(), MAP)
        self.say("")  # nothing runs, nothing to gain
        self.assertEqual(self.decision("--floor", "0"), "gain")
        self.assertEqual(self.decision("--floor", "0", "--gain", "0"), "rerouted")
        self.assertEqual(self.map(), {})
        self.say(TWO)
        self.assertEqual(self.decision("--floor", "0", "--gain", "99"), "gain")
        self.assertEqual(self.decision("--floor", "0", "--gain", "20"), "rerouted")

    def test_hosts_that_are_not_there(self):
        self.say("1|RUNNING|n[0,4]\n2|RUNNING|m7\n")
        self.assertEqual(self.decision(), "strangers")
        self.assertFalse(os.path.exists(self.path("map")))
        self.say("1|RUNNING|host[0,4,8,12,99]\n")
        found = self.look("--gain", "0")[1]
        self.assertEqual((found["decision"], found["unknown_hosts"]), ("rerouted", 1))
        self.assertIn(", 1 host unknown:", self.look("--gain", "0")[2])
        self.assertEqual(self.map(), {"1": {"host0", "host4", "host8", "host12"}})

    def test_dry_run(self):
        code, found, error = self.look("--dry-run", "--trigger", "command:touch " +
                                       self.path("told"))
        self.assertEqual((code, found["decision"], found["acted"]), (0, "would_reroute", False))
        self.assertIn("would reroute", error)
        for name in ("map", "state", "told"):
            self.assertFalse(os.path.exists(self.path(name)))

    def test_maps_that_are_no_use(self):
        self.write("map", "one two three\n")
        code, found, error = self.look()
        self.assertEqual((code, found["decision"]), (0, "rerouted"))
        self.assertIn("map:1:", error)
        self.assertEqual(self.map(), MAP)

    def test_maps_that_are_no_use_and_no_gain(self):
        """Nobody can use such a map, so it is replaced whatever is gained, once the floor is over."""
        self.decision()
        for queue, wanted in ((TWO, MAP), ("", {})):
            self.say(queue)
            self.write("map", "one two three\n")
            self.assertEqual(self.decision("--floor", "1h", "--gain", "99"), "floor")
            told = ("--trigger", "command:echo >>" + self.path("told"))
            self.assertEqual(self.decision("--floor", "0", "--gain", "99", *told), "rerouted")
            self.assertEqual(self.map(), wanted)
            self.assertEqual(self.decision("--floor", "0", "--gain", "99", *told), "same")
        self.assertEqual(self.read("told"), "\n\n")

    def test_nothing_to_wait_for(self):
        """A pipe where a file should be is refused at once, not waited for."""
        os.mkfifo(self.path("pipe"))
        begun = time.time()
        found = selvage("jobs", "follow", SPEC, "--map", self.path("pipe"), "--once", "--json",
                        "--from", "cat " + self.path("queue"))
        self.assertEqual((found.code, found.json["decision"]), (5, "broken"))
        self.assertIn("no regular file", found.err)
        code, _, error = self.look("--state", self.path("pipe"), state=False)
        self.assertEqual(code, 5)
        self.assertIn("no regular file", error)
        code, _, error = self.look(fabric=self.path("pipe"))
        self.assertEqual(code, 5)
        self.assertIn("no regular file", error)
        code, found, _ = self.look("--trigger", "pid:" + self.path("pipe"))
        self.assertEqual((code, found["decision"]), (5, "untold"))
        self.assertIn("no regular file", found["problem"])
        self.assertLess(time.time() - begun, 20)

    def test_maps_that_cannot_be(self):
        found = selvage("jobs", "follow", SPEC, "--map", self.path("no/such/map"), "--once",
                        "--json", "--from", "cat " + self.path("queue"))
        self.assertEqual((found.code, found.json["decision"]), (5, "broken"))
        self.assertIn("no/such/map", found.err)

    def test_json_of_slurm(self):
        self.say(json.dumps({"jobs": [
            {"job_id": 5, "job_state": "RUNNING", "nodes": "host[0,4,8,12]"},
            {"job_id": 6, "job_state": "PENDING", "nodes": ""}]}))
        self.assertEqual(self.decision("--gain", "0"), "rerouted")
        self.assertEqual(self.map(), {"5": MAP["1"]})

    def test_log_file(self):
        code, _, error = self.look("--log", self.path("log"))
        self.assertEqual((code, error), (0, ""))
        self.look("--log", self.path("log"))
        lines = self.read("log").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("rerouted", lines[0])
        self.assertIn("nothing changed", lines[1])

    def test_spoilt_state(self):
        self.write("state", "nonsense\n")
        code, found, error = self.look()
        self.assertEqual((code, found["decision"]), (0, "rerouted"))
        self.assertIn("state:1:", error)
        self.assertEqual(self.state()["failures"], "0")


class Sources(Case):
    def squeue(self, text, path=os.environ["PATH"]):
        """A squeue of our own, first in the path."""
        with open(self.path("squeue"), "w") as file:
            file.write(text)
        os.chmod(self.path("squeue"), 0o755)
        words = self.arguments("--once")
        del words[words.index("--from"):words.index("--from") + 2]
        environment = dict(os.environ, PATH=self.path("") + ":" + path)
        return subprocess.run([SELVAGE, *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)

    def test_squeue_without_a_shell(self):
        done = self.squeue("#!/bin/sh\nprintf '%%s\\n' \"$@\" >%s\ncat %s\n" % (
            self.path("words"), self.path("queue")))
        self.assertEqual(json.loads(done.stdout)["decision"], "rerouted", done.stderr)
        self.assertEqual(self.read("words").split("\n")[:-1],
                         ["-a", "-h", "-t", "R,CG", "-o", "%i|%T|%N"])
        done = self.squeue("#!/no/such/program\n", "/nowhere")
        self.assertEqual((done.returncode, json.loads(done.stdout)["decision"]), (5, "away"))
        self.assertIn(b"squeue: No such file", done.stderr)

    def test_away(self):
        self.decision()
        kept = self.read("map")
        for source, what, limit in (("echo oh no >&2; exit 3", "exit code 3: oh no", "60s"),
                                    ("kill -SEGV $$", "signal 11", "60s"),
                                    ("echo what is this", "jobs:1:", "60s"),
                                    ("head -c 100000 /dev/urandom", "jobs:", "60s"),
                                    ("echo '{\"jobs\": [{'", "jobs:", "60s"),
                                    ("sleep 60", "did not end within 0.3 s", "300ms")):
            with self.subTest(source):
                self.change_state(failures=0, retry=0)
                code, found, error = self.look("--timeout", limit, source=source)
                self.assertEqual((code, found["decision"]), (5, "away"))
                self.assertIn(what, found["problem"])
                self.assertIn("slurm away, retry in 600 s", error)
                self.assertEqual(self.read("map"), kept)

    def test_waits_double(self):
        for tries, seconds in enumerate((600, 1200, 2400, 3600, 3600), 1):
            found = self.look(source="false")[1]
            self.assertEqual((found["decision"], found["seconds_left"]), ("away", seconds))
            self.assertEqual(self.state()["failures"], str(tries))
            self.assertEqual(self.decision(), "wait")  # not asked at all
            self.assertFalse(os.path.exists(self.path("map")))
            self.change_state(retry=int(time.time()))
        code, found, error = self.look()
        self.assertEqual((code, found["decision"]), (0, "rerouted"))
        self.assertIn("slurm is back after 5 attempts", error)
        self.assertEqual((self.state()["failures"], self.state()["retry"]), ("0", "0"))

    def alive(self, name):
        """Whether the process whose number is in a file is there, and not only not buried yet."""
        try:
            with open("/proc/%d/stat" % int(self.read(name))) as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def assert_ended(self, name):
        """A killed process may take a moment to end where others want the cores, too."""
        ends = time.monotonic() + 20  # it would have lived for 70
        while self.alive(name):
            self.assertLess(time.monotonic(), ends, "%s is still there" % name)
            time.sleep(0.01)

    def test_children_are_ended_too(self):
        source = "sh -c 'sleep 70 & echo $! >%s; wait' & echo $! >%s; wait" % (
            self.path("grandchild"), self.path("child"))
        begun = time.time()
        self.assertEqual(self.decision("--timeout", "500ms", source=source, code=5), "away")
        self.assertLess(time.time() - begun, 10)
        for name in ("child", "grandchild"):
            self.assert_ended(name)

    def test_children_that_hold_the_output(self):
        """The command has ended well; what it left behind is not waited for, and ended."""
        source = "cat %s; sleep 70 & echo $! >%s" % (self.path("queue"), self.path("child"))
        begun = time.time()
        self.assertEqual(self.decision(source=source), "rerouted")
        self.assertLess(time.time() - begun, 10)
        self.assert_ended("child")


class Triggers(Case):
    def test_command(self):
        self.assertEqual(self.decision("--trigger", "command:cp %s %s" % (
            self.path("map"), self.path("seen"))), "rerouted")
        self.assertEqual(self.read("seen"), self.read("map"))  # it is there when others are told

    def test_told_again(self):
        failing = ("--trigger", "command:echo no luck >&2; exit 1")
        code, found, error = self.look(*failing)
        self.assertEqual((code, found["decision"], found["acted"]), (5, "untold", False))
        self.assertIn("no luck", error)
        self.assertEqual(self.map(), MAP)
        self.assertEqual((self.state()["pending"], self.state()["rerouted"]), ("1", "0"))
        self.assertEqual(self.decision(*failing, code=5), "untold")
        told = ("--trigger", "command:touch " + self.path("told"))
        self.assertEqual(self.decision(*told), "told_again")
        self.assertTrue(os.path.exists(self.path("told")))
        self.assertEqual(self.state()["pending"], "0")
        self.assertEqual(self.decision(*told), "same")

    def test_killed_before_telling(self):
        """Who is killed between writing the map and telling tells when it is started again."""
        found = selvage(*self.arguments("--once", "--state", self.path("state"), "--trigger",
                                        "command:kill -9 $PPID"))
        self.assertEqual((found.code, found.out), (-signal.SIGKILL, ""))
        self.assertEqual(self.map(), MAP)
        told = ("--trigger", "command:touch " + self.path("told"))
        self.assertEqual(self.decision(*told), "told_again")
        self.assertTrue(os.path.exists(self.path("told")))
        self.assertEqual(self.decision(*told), "same")

    def test_told_again_of_other_jobs(self):
        """Somebody has to be told anyway, so of the jobs of now: without floor and gain."""
        self.decision("--trigger", "command:false", code=5)
        self.say("1|RUNNING|host[0,4,8,12]\n")
        told = ("--trigger", "command:cp %s %s" % (self.path("map"), self.path("seen")))
        for more in (("--gain", "99"), ("--floor", "1h")):
            self.change_state(pending=1, rerouted=int(time.time()))
            self.say("1|RUNNING|host[0,4,8,12]\n" if more[0] == "--gain" else TWO)
            self.assertEqual(self.decision(*told, *more, "--dry-run"), "would_reroute")
            self.assertEqual(self.decision(*told, *more), "rerouted")
            self.assertEqual(self.read("seen"), self.read("map"))
            self.assertEqual(self.map(), {"1": MAP["1"]} if more[0] == "--gain" else MAP)
            self.assertEqual(self.state()["pending"], "0")
        self.say("1|RUNNING|host[0,4,8,12]\n")
        self.assertEqual(self.decision(*told, "--floor", "1h"), "floor")
        self.assertEqual(self.decision(*told, "--floor", "0", "--gain", "99"), "gain")

    def test_a_map_that_cannot_be_written_is_not_told_of(self):
        self.decision()
        self.say("1|RUNNING|host[0,4,8,12]\n")
        os.unlink(self.path("map"))
        os.symlink(self.path("no/such/map"), self.path("map"))
        self.assertEqual(self.decision("--floor", "0", "--gain", "0", code=5), "broken")
        self.assertEqual(self.state()["pending"], "0")

    def test_processes(self):
        self.write("pid", "%d\n" % os.getpid())
        self.write("empty", "")
        for trigger, what in (("pid:" + self.path("pid"), "is no opensm but"),
                              ("pid:" + self.path("empty"), "it is empty"),
                              ("pid:" + self.path("none"), "cannot read"),
                              ("pid:" + self.path("queue"), "is no process"),
                              ("signal:1", "is no process"),
                              ("signal:999999999", "there is no process")):
            with self.subTest(trigger):
                code, found, _ = self.look("--trigger", trigger)
                self.assertEqual((code, found["decision"]), (5, "untold"))
                self.assertIn(what, found["problem"])

    def test_an_opensm(self):
        """Anything of that name is one: here a shell that notes its SIGHUP."""
        os.symlink("/bin/sh", self.path("opensm"))
        script = "trap 'echo hup >%s' HUP; echo ready; while :; do sleep 0.05; done" % \
            self.path("hup")
        with subprocess.Popen([self.path("opensm"), "-c", script],
                              stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                self.write("pid", "%d\n" % process.pid)
                self.assertEqual(self.decision("--trigger", "pid:" + self.path("pid")), "rerouted")
                deadline = time.time() + 10
                while not os.path.exists(self.path("hup")) and time.time() < deadline:
                    time.sleep(0.02)
                self.assertEqual(self.read("hup"), "hup\n")
            finally:
                process.kill()

    def console(self, talk, address="127.0.0.1"):
        """A console that talks as told, and what it heard; to be joined."""
        server, heard = socket.create_server(
            (address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET), []

        def serve():
            with server, server.accept()[0] as client:
                client.settimeout(20)
                for text in talk:
                    client.sendall(text)
                    try:
                        heard.append(client.recv(100))
                    except OSError:
                        return
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        name = "[%s]" % address if ":" in address else "localhost"
        return "console:%s:%d" % (name, server.getsockname()[1]), heard, thread

    def test_console(self):
        trigger, heard, thread = self.console([b"hello\nOpenSM $ ", b"done\nOpenSM $ "])
        self.assertEqual(self.decision("--trigger", trigger), "rerouted")
        thread.join(20)
        self.assertEqual(heard, [b"resweep heavy\n", b"quit\n"])
        code, found, _ = self.look("--trigger", trigger, "--floor", "0", "--gain", "0",
                                   source="echo '1|RUNNING|host[0,4]'")
        self.assertEqual((code, found["decision"]), (5, "untold"))
        self.assertIn("Connection refused", found["problem"])
        trigger, heard, thread = self.console([b"OpenSM Console connection already in use\n"])
        code, found, _ = self.look("--trigger", trigger, "--floor", "0", "--gain", "0")
        self.assertEqual((code, found["decision"]), (5, "untold"))
        self.assertIn("does not answer as OpenSM's does", found["problem"])
        thread.join(20)


    def test_console_of_ip6(self):
        try:
            trigger, heard, thread = self.console([b"OpenSM $ ", b"OpenSM $ "], "::1")
        except OSError:
            self.skipTest("no IPv6 here")
        self.assertEqual(self.decision("--trigger", trigger), "rerouted")
        thread.join(20)
        self.assertEqual(len(heard), 2)


class Fabrics(Case):
    """What is in use is read from a directory of tables, which changes."""

    def route(self, spec, jobs=None):
        more = [] if jobs is None else ["--jobs", jobs]
        ok("route", spec, "--engine", "sar" if jobs else "dfsssp", "-o", self.path("dump"), *more)

    def test_tables_in_use(self):
        self.route(SPEC)
        code, found, error = self.look("--engine", "sar", fabric=self.path("dump"))
        self.assertEqual((code, found["decision"]), (0, "rerouted"), error)
        now, then = found["efi_max"]
        metrics = ok("metrics", self.path("dump"), "--jobs", self.path("map"), "--json").json
        self.assertEqual(metrics["jobs"]["efi"]["max"], now)
        self.route(SPEC, self.path("map"))
        metrics = ok("metrics", self.path("dump"), "--jobs", self.path("map"), "--json").json
        self.assertEqual(metrics["jobs"]["efi"]["max"], then)
        os.unlink(self.path("map"))  # tables are as good as can be, whatever the map says
        self.assertEqual(self.decision("--engine", "sar", "--floor", "0",
                                       fabric=self.path("dump")), "gain")

    def test_state_files_of_the_plugin(self):
        ok("route", SPEC, "--engine", "dfsssp", "-o", self.path("t.svr"))
        self.assertEqual(self.decision("--engine", "sar", fabric=self.path("t.svr")), "rerouted")

    def test_several_addresses(self):
        """Tables in use with several LIDs a port are compared with others that have as many."""
        jobs = "1|RUNNING|host[0-14]\n"
        self.write("map", "".join("host%d 1\n" % i for i in range(16)))
        for lmc in (0, 2):
            ok("route", SPEC, "--engine", "weave", "--lmc", str(lmc), "--jobs", self.path("map"), "-o",
               self.path("t.svr"))
            self.say(jobs)
            found = self.look("--floor", "0", "--dry-run", fabric=self.path("t.svr"),
                              state=False)[1]
            ok("route", SPEC, "--engine", "weave", "--lmc", str(lmc), "--jobs", self.written(jobs), "-o",
               self.path("new.svr"))
            metrics = ok("metrics", self.path("new.svr"), "--jobs", self.path("wanted"),
                         "--json").json
            self.assertEqual(found["efi_max"][1], metrics["jobs"]["efi"]["max"])

    def written(self, queue):
        """A map of what the batch system says."""
        self.write("text", queue)
        ok("jobs", "read", self.path("text"), "-o", self.path("wanted"))
        return self.path("wanted")

    def test_engines(self):
        for engine in ("sar", "dfsssp", "nue", "sssp", "auto"):
            with self.subTest(engine):
                if os.path.exists(self.path("map")):
                    os.unlink(self.path("map"))
                self.assertIn(self.decision("--engine", engine, state=False),
                              ("rerouted", "gain"))

    def test_no_fabric(self):
        for fabric in (self.path("nothing"), self.path("")):
            code, found, error = self.look(fabric=fabric)
            self.assertIn(code, (3, 5))
            self.assertIsNone(found)
            self.assertEqual(len(error.splitlines()), 1)


class Usage(Case):
    def test_wrong_words(self):
        for words, what in ((["--every", "soon"], "length of time"), (["--every", "0"], "--every"),
                            (["--floor", "-1"], "--floor"), (["--timeout", "5x"], "--timeout"),
                            (["--gain", "x"], "percentage"), (["--gain", "101"], "percentage"),
                            (["--trigger", "maybe"], "none of pid:FILE"),
                            (["--trigger", "console:host"], "console:HOST:PORT"),
                            (["--trigger", "console:host:99999999"], "console:HOST:PORT"),
                            (["--trigger", "console:host:65536"], "console:HOST:PORT"),
                            (["--trigger", "console:host:0"], "console:HOST:PORT"),
                            (["--trigger", "signal:x"], "signal:PID"),
                            (["--trigger", "pid:"], "pid:FILE"),
                            (["--engine", "updn"], "follows no jobs"),
                            (["--engine", "magic"], "no engine"), (["--vls", "99"], "--vls"),
                            (["--vls", "0"], "--vls"), (["--every", "5x"], "length of time")):
            with self.subTest(words):
                code, found, error = self.look(*words)
                self.assertEqual((code, found), (2, None))
                self.assertIn(what, error)
        self.assertEqual(selvage("jobs", "follow", SPEC).code, 2)
        self.assertEqual(selvage("jobs", "follow", "--map", "x").code, 2)

    def test_help(self):
        said = ok("jobs", "follow", "--help").out
        self.assertIn("--trigger", said)
        self.assertIn("--map /var/lib/selvage/jobs/map ", said)  # jobs/ is the units' own directory


class Daemon(Case):
    def start(self, *more, **options):
        self.out = open(self.path("out"), "w+")
        self.err = open(self.path("err"), "w+")
        self.addCleanup(self.out.close)
        self.addCleanup(self.err.close)
        process = subprocess.Popen([SELVAGE, *self.arguments(*more, **options)],
                                   stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.addCleanup(end)
        return process

    def decisions(self):
        return [json.loads(line) for line in self.read("out").splitlines(True)
                if line.endswith("\n")]

    def wait(self, condition, what, timeout=30):
        deadline = time.time() + timeout
        while not condition():
            if time.time() > deadline:
                self.fail("no %s:\n%s" % (what, self.read("err")))
            time.sleep(0.01)

    def wait_for(self, decision, count=1, timeout=30):
        self.wait(lambda: sum(d["decision"] == decision for d in self.decisions()) >= count,
                  decision, timeout)

    def stop(self, process, number=signal.SIGTERM):
        begun = time.time()
        process.send_signal(number)
        self.assertEqual(process.wait(20), 0, self.read("err"))
        self.assertLess(time.time() - begun, 5)
        self.assertIn("asked to stop", self.read("err"))

    def test_polls_and_stops(self):
        process = self.start("--every", "200ms", "--floor", "0", "--gain", "0")
        self.wait_for("rerouted")
        self.wait_for("same", 3)
        self.say("4|RUNNING|host[0,5]\n")
        self.wait_for("rerouted", 2)
        self.assertEqual(self.map(), {"4": {"host0", "host5"}})
        self.stop(process)

    def test_looks_when_told(self):
        process = self.start("--every", "1h", "--floor", "0", "--gain", "0")
        self.wait_for("rerouted")
        time.sleep(0.3)
        self.say("4|RUNNING|host[0,5]\n")
        process.send_signal(signal.SIGHUP)
        self.wait_for("rerouted", 2)
        time.sleep(0.3)  # it waits again, and without work
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        time.sleep(1)
        self.stop(process, signal.SIGINT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)
        self.assertEqual(len(self.decisions()), 2)

    def test_stops_while_slurm_is_asked(self):
        process = self.start("--timeout", "60s", source="echo $$ >%s; sleep 60" %
                             self.path("child"))
        self.wait(lambda: os.path.exists(self.path("child")) and self.read("child"), "command")
        self.stop(process)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(self.read("child")), 0)

    def test_floor(self):
        """Changes wait for the floor's end, and come together then, not a whole interval later."""
        process = self.start("--every", "300ms", "--floor", "2s", "--gain", "0")
        self.wait_for("rerouted")
        begun = time.time()
        self.say("4|RUNNING|host[0,5]\n")
        self.wait_for("floor")
        self.say("4|RUNNING|host[0,5]\n5|RUNNING|host[1,6]\n")
        self.wait_for("rerouted", 2)
        self.assertGreater(time.time() - begun, 1.5)
        self.assertEqual(self.map(), {"4": {"host0", "host5"}, "5": {"host1", "host6"}})
        self.assertEqual(sum(d["acted"] for d in self.decisions()), 2)
        self.stop(process)

    def test_away_is_said_once(self):
        self.say("garbage\n")
        process = self.start("--every", "100ms", "--gain", "0")
        self.wait(lambda: "slurm away" in self.read("err"), "word")
        time.sleep(1)
        self.assertEqual(self.read("err").count("slurm away"), 1)
        self.assertFalse(os.path.exists(self.path("map")))
        self.say(TWO)
        self.wait_for("rerouted")
        self.assertRegex(self.read("err"), r"slurm is back after \d+ attempts?\n")
        self.stop(process)

    def test_slow(self):
        process = self.start("--every", "200ms", "--timeout", "4s", source="sleep 2.2; cat " +
                             self.path("queue"))
        self.wait(lambda: "slurm is slow" in self.read("err"), "word")
        self.wait_for("same")
        self.assertEqual([d["next_seconds"] for d in self.decisions()], [0.4] * len(
            self.decisions()))
        self.stop(process)

    def test_not_worth_it_is_found_once(self):
        process = self.start("--every", "100ms", "--gain", "99")
        self.wait_for("gain", 4)
        gains = {d["gain_percent"] for d in self.decisions()}
        self.assertEqual(len(gains), 1)
        self.stop(process)

    def test_not_worth_it_is_forgotten(self):
        """What was not worth it may be, once other tables are in use."""
        one, all_hosts = "1|RUNNING|host[0,4,8,12]\n", "3|RUNNING|host[0-15]\n"
        self.say(one + "2|RUNNING|host[1,5]\n")
        process = self.start("--every", "100ms", "--floor", "0", "--gain", "20")
        self.wait_for("rerouted")
        self.say(one)
        self.wait_for("gain", 2)
        self.say(all_hosts)
        self.wait_for("rerouted", 2)
        seen = len(self.decisions())
        self.say(one)
        self.wait(lambda: len(self.decisions()) > seen + 2, "look")
        self.stop(process)
        daemon = [d for d in self.decisions()[seen:] if "gain_percent" in d][0]
        self.write("map", "".join("host%d 3\n" % i for i in range(16)))
        fresh = self.look("--floor", "0", "--gain", "20", "--dry-run", state=False)[1]
        self.assertEqual(fresh["decision"], "would_reroute")
        self.assertEqual((daemon["decision"], daemon["efi_max"]), ("rerouted", fresh["efi_max"]))

    def test_told_again(self):
        process = self.start("--every", "100ms", "--trigger", "command:test -e " +
                             self.path("ready"))
        self.wait_for("untold", 2)
        self.write("ready", "")
        self.wait_for("told_again")
        self.wait_for("same")
        self.stop(process)

    def test_fabric_changes(self):
        ok("route", SPEC, "--engine", "dfsssp", "-o", self.path("dump"))
        process = self.start("--every", "200ms", "--settle", "100ms", "--floor", "0", "--gain",
                             "0", "--engine", "sar", fabric=self.path("dump"))
        self.wait_for("rerouted")
        with open(self.path("dump/opensm-subnet.lst"), "w") as file:
            file.write("half a fi")  # being written, or worse
        self.say("4|RUNNING|host[0,5]\n")
        self.wait_for("rerouted", 2)
        self.assertIn("the fabric of before is used", self.read("err"))
        ok("route", "kary:k=4,n=2,hosts=5", "--engine", "dfsssp", "-o", self.path("dump"))
        self.say("4|RUNNING|host[0,19]\n")
        self.wait_for("rerouted", 3)
        self.assertEqual(self.map(), {"4": {"host0", "host19"}})
        self.stop(process)

    def test_fabric_goes(self):
        """While the file is away, the tables that were in it are still those in use."""
        table, away = self.path("t.svr"), self.path("away.svr")
        ok("route", SPEC, "--engine", "dfsssp", "-o", table)
        process = self.start("--every", "100ms", "--settle", "0", "--floor", "0", "--gain", "0.1",
                             "--engine", "sar", fabric=table)
        self.wait_for("rerouted")
        os.rename(table, away)
        self.say(TWO + "4|RUNNING|host[7,15]\n")
        self.wait_for("rerouted", 2)
        self.assertIn("the fabric of before is used", self.read("err"))
        self.say(TWO)
        self.wait_for("rerouted", 3, 10)
        self.stop(process)
        first, _, third = (d for d in self.decisions() if d["decision"] == "rerouted")
        self.assertEqual(third["efi_max"], first["efi_max"])

    def test_killed_at_any_moment(self):
        """The map is a whole one, whenever somebody looks at it and whatever became of us."""
        draw = random.Random(7)
        texts = ("4|RUNNING|host[0-15]\n", "5|RUNNING|host[0,5,10]\n6|RUNNING|host[1-15]\n")
        wanted = [{"4": {"host%d" % i for i in range(16)}},
                  {"5": {"host0", "host5", "host10"}, "6": {"host%d" % i for i in range(1, 16)}}]
        for i in range(30):
            self.say(texts[i % 2])
            process = self.start("--every", "50ms", "--floor", "0", "--gain", "0", "--state",
                                 self.path("state"))
            time.sleep(draw.uniform(0, 0.12))
            process.kill()
            process.wait()
            if os.path.exists(self.path("map")):
                self.assertIn(self.map(), wanted)
        self.assertIn(self.map(), wanted)
        self.assertIn(self.decision("--floor", "0", "--gain", "0"), ("same", "one_switch",
                                                                     "rerouted", "told_again"))


if __name__ == "__main__":
    unittest.main()
