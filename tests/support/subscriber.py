"""Subscribers of the five phases (examples/subscriber.c), one at a host of a simulated fabric.

    with Subscriber(sim, "H-…", directory, drain=500) as one:
        one.wait("place on-base")
"""
import os
import re
import signal
import subprocess
import sys
import time

PROGRAM = os.path.join(os.environ.get("SELVAGE_BUILD", "build/check"), "tests", "subscriber")


def require():
    """Skips the whole test program where it was not built."""
    if os.path.exists(PROGRAM):
        return
    message = "examples/subscriber.c was not built (Debian: libibumad-dev)"
    if os.environ.get("SELVAGE_REQUIRE_LIVE"):
        sys.exit("live tests are required here, but " + message)
    print("skipped: " + message)
    sys.exit(77)


class Subscriber:
    def __init__(self, sim, host, directory, peers=(), **options):
        os.makedirs(directory, exist_ok=True)
        self.directory, self.path = directory, os.path.join(directory, "out")
        self.environment = dict(sim.environment, SIM_HOST=host)
        self.command = ["ibsim-run", PROGRAM, "--sm", "1"]
        for name, value in options.items():
            self.command += ["--" + name.replace("_", "-"), str(value)]
        for lid in peers:
            self.command += ["--peer", str(lid)]

    def __enter__(self):
        self.out = open(self.path, "w")
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT, env=self.environment,
                                        cwd=self.directory)
        return self

    def __exit__(self, *exception):
        self.end(signal.SIGKILL)
        self.out.close()

    def end(self, number=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def events(self, pattern=""):
        """[(time, what)], as they came."""
        with open(self.path, errors="replace") as file:
            found = [re.match(r"(\d+\.\d+) (.*)\n", line) for line in file]
        return [(float(m[1]), m[2]) for m in found if m and re.search(pattern, m[2])]

    def wait(self, pattern, count=1, timeout=30):
        """The count'th event with a pattern: its time and what."""
        deadline = time.time() + timeout
        while len(self.events(pattern)) < count:
            if self.process.poll() is not None or time.time() > deadline:
                raise AssertionError("no %d of '%s' (exit code %s):\n%s" % (
                    count, pattern, self.process.poll(), self.text()))
            time.sleep(0.02)
        return self.events(pattern)[count - 1]

    def text(self):
        with open(self.path, errors="replace") as file:
            return file.read()
