"""The real OpenSM as a daemon over ibsim, with selvage's plugin in it (or without).

    with ibsim.simulate(net, console=True) as sim, opensm.start(sim, directory, "engine=weave") as sm:
        sm.wait_up()
        sim.unlink("S-0000000000000001", 3)
        sm.wait_routed()

OpenSM's dump files are in sm.dump after each sweep; its log is sm.log. A plugin that was built with sanitizers runs
with them, and what they report fails the test (sanitizers.py).
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from support import ibsim, sanitizers
from support.command import SELVAGE

PLUGIN = os.path.join(os.path.dirname(SELVAGE), "plugin", "opensm")


def require():
    """Skips the whole test program where the plugin was not built."""
    ibsim.require()
    if os.path.exists(os.path.join(PLUGIN, "libselvage_osm.so")):
        return
    message = "the plugin was not built (Debian: libopensm-dev)"
    if os.environ.get("SELVAGE_REQUIRE_LIVE"):
        sys.exit("live tests are required here, but " + message)
    print("skipped: " + message)
    sys.exit(77)


class Hung(Exception):
    """Two OpenSMs wait for each other through the simulator, before any routing."""


def try_again(test, times=6):
    """Runs a test of handovers (a function) until one does not hang."""
    for left in reversed(range(times)):
        try:
            return test()
        except Hung as error:
            print("flaky: %s; %d more tries" % (error, left), flush=True)  # for tools/tests.py
    raise AssertionError("a handover hangs every time")


class OpenSM:
    def __init__(self, sim, directory, options, host=None, plugin=PLUGIN, preload=(), environment=None,
                 **config):
        self.sim, self.dump = sim, os.path.abspath(directory)
        os.makedirs(directory, exist_ok=True)
        self.log = os.path.join(directory, "opensm.log")
        self.status_path = os.path.join(directory, "status.json")
        self.prometheus = os.path.join(directory, "selvage.prom")
        words = "status=%s prometheus=%s %s" % (self.status_path, self.prometheus, options or "")
        settings = {"routing_engine": "selvage,no_fallback", "qos": "TRUE",
                    "event_plugin_name": "selvage_osm", "event_plugin_options": words.strip(),
                    "sweep_interval": "0", "log_flags": "0x43", "log_file": self.log,
                    "dump_files_dir": directory, "sweep_on_trap": "TRUE", "max_wire_smps": "32",
                    "force_log_flush": "TRUE", "sminfo_polling_timeout": "1000", "daemon": "FALSE"}
        if options is None:
            del settings["event_plugin_name"], settings["event_plugin_options"]
        settings.update(config)
        self.config = os.path.join(directory, "opensm.conf")
        with open(self.config, "w") as file:
            for key, value in settings.items():
                if value is not None:
                    file.write("%s %s\n" % (key, value))
        self.environment = dict(sim.environment, OSM_TMP_DIR=directory, OSM_CACHE_DIR=directory,
                                LD_LIBRARY_PATH=plugin, **(environment or {}))
        self.sanitized = options is not None and sanitizers.Sanitized(plugin, self.dump)
        if self.sanitized:
            self.environment.update(self.sanitized.environment())
            preload = [self.sanitized.runtime, *preload]
        self.run = ["ibsim-run"]
        if preload:  # ibsim-run does not add to what is there
            self.run = []
            self.environment["LD_PRELOAD"] = ":".join([*preload, ibsim.library()])
        if host is not None:
            self.environment["SIM_HOST"] = host
        self.known, self.at = [], 0  # lines of the log so far, and where the next one begins
        self.found = {}  # pattern: how many of them were looked at, and those that have it

    def __enter__(self):
        self.out = open(os.path.join(self.dump, "stdout"), "w")
        self.process = subprocess.Popen([*self.run, "opensm", "-F", self.config],
                                        stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT, env=self.environment,
                                        cwd=self.dump)  # umad2sim leaves a folder there if killed
        return self

    def __exit__(self, *exception):
        try:
            self.stop()
        finally:
            self.out.close()

    def stop(self):
        """Ends OpenSM as an administrator would; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(120 if self.sanitized else 30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.sanitized:
            self.sanitized.check(self.process.returncode)
        return self.process.returncode

    # ---- the log ----

    def lines(self, pattern="selvage: "):
        """Lines of the log with a pattern. Each is read and looked at once, however long the log."""
        try:
            with open(self.log, "rb") as file:
                file.seek(self.at)
                text = file.read()
        except FileNotFoundError:
            text = b""
        whole = text[:text.rfind(b"\n") + 1]
        self.at += len(whole)
        self.known += whole.decode(errors="replace").split("\n")[:-1]
        seen, found = self.found.get(pattern, (0, []))
        found += [line for line in self.known[seen:] if re.search(pattern, line)]
        self.found[pattern] = len(self.known), found
        return list(found)

    def wait(self, pattern, count=1, timeout=60):
        """Until the log has count lines with a pattern."""
        deadline = time.time() + timeout
        while len(self.lines(pattern)) < count:
            if self.process.poll() is not None:
                if self.sanitized:
                    self.sanitized.check(self.process.returncode)
                raise AssertionError("opensm ended (%s):\n%s" % (self.process.returncode,
                                                                 self.tail()))
            if time.time() > deadline:
                raise AssertionError("no %d lines with '%s' in the log:\n%s" % (count, pattern,
                                                                               self.tail()))
            time.sleep(0.02)

    def tail(self, count=40):
        return "\n".join(self.lines("")[-count:])

    def ups(self):
        return len(self.lines("SUBNET UP"))

    def wait_up(self, count=1, timeout=60):
        self.wait("SUBNET UP", count, timeout)

    def take_over(self, timeout=30):
        """Until a handover is done. umad2sim has no timeouts: one datagram lost between two OpenSMs
        leaves the sweep of one of them waiting for ever, with or without plugin (one in twenty, one
        in three on a loaded machine). Hung, if that is how it looks: then see try_again."""
        try:
            self.wait_up(timeout=timeout)
        except AssertionError as error:
            if self.lines("selvage: sweep") or self.process.poll() is not None:
                raise  # it was about to route: that is no lost datagram of the handover
            raise Hung("a handover hangs") from error

    def written(self, quiet=0.3, timeout=30):
        """The folder of dump files, once OpenSM is not writing there: a file is empty, then part of
        itself, until it is closed."""
        deadline = time.time() + timeout
        while True:
            files = [os.stat(entry.path) for entry in os.scandir(self.dump)
                     if entry.name.startswith("opensm") and entry.name != "opensm.log"]
            subnet = os.path.join(self.dump, "opensm-subnet.lst")  # others may well be empty
            if os.path.exists(subnet) and os.stat(subnet).st_size and time.time() - max(
                    file.st_mtime for file in files) > quiet:
                return self.dump
            if time.time() > deadline:
                raise AssertionError("OpenSM does not stop writing to %s" % self.dump)
            time.sleep(0.05)

    def settle(self, change, timeout=60, quiet=0.5):
        """Makes a change, and waits until it is routed and nothing more happens."""
        before = self.ups()
        change()
        self.wait_up(before + 1, timeout)
        last, since, deadline = self.ups(), time.time(), time.time() + timeout
        seen = -1  # sweeps that were done while steps were still to come: the last is not
        while time.time() - since < quiet or self.ups() <= seen:
            time.sleep(0.05)
            ups = self.ups()  # before the status is read: the last sweep may come between the two
            if self.is_under_way():
                seen, since = ups, time.time()
            if self.ups() != last:
                last, since, deadline = self.ups(), time.time(), time.time() + timeout
            if time.time() > deadline:
                raise AssertionError("the last step does not come:\n%s" % self.tail())

    def is_under_way(self):
        """Whether steps of an update are still to come."""
        try:
            return self.status().get("steps", 0) > 0
        except (OSError, ValueError):
            return False

    def sweep(self):
        """A heavy sweep, as SIGHUP asks for."""
        self.settle(lambda: os.kill(self.pid(), signal.SIGHUP))

    def pid(self):
        """Of OpenSM itself: ibsim-run may be a shell around it."""
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open("/proc/%s/cmdline" % name, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"opensm") and self.config.encode() in words:
                return int(name)
        raise AssertionError("opensm is not running")

    def status(self):
        with open(self.status_path) as file:
            return json.load(file)

    def rss(self):
        """Resident memory in KiB."""
        with open("/proc/%d/status" % self.pid()) as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def start(sim, directory, options="", host=None, **config):
    """OpenSM with the plugin and options (None: without). Besides OpenSM's settings: plugin, its folder; preload,
    libraries to load first; environment, variables."""
    return OpenSM(sim, directory, options, host, **config)
