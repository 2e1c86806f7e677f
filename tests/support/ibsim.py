"""The real ibsim, ibnetdiscover and opensm, started and stopped by tests.

Every simulator gets a socket name of its own, so that tests can run side by side, and is ended by
its process id. Programs that are not installed raise Missing; tests then skip, saying so (exit code
77 for ctest), unless SELVAGE_REQUIRE_LIVE is set, as it is in `make check`.
"""
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time

from support.command import ok

PROGRAMS = ("ibsim", "ibsim-run", "ibnetdiscover", "opensm", "ibdmchk")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin:/usr/local/sbin"
_numbers = itertools.count()


class Missing(Exception):
    pass


def require():
    """Skips the whole test program when one of the real programs is not there."""
    missing = [p for p in PROGRAMS if shutil.which(p, path=PATH) is None]
    if not missing:
        return
    message = "not installed: %s (Debian: ibsim-utils infiniband-diags opensm ibutils)" % ", ".join(missing)
    if os.environ.get("SELVAGE_REQUIRE_LIVE"):
        sys.exit("live tests are required here, but " + message)
    print("skipped: " + message)
    sys.exit(77)


class Simulator:
    """An ibsim that serves one fabric file: with Simulator(path, host) as sim: sim.discover()."""

    def __init__(self, path, host, nodes, switches, ports, console=False):
        self.path, self.host, self.console = path, host, console
        self.sizes = ["-N", str(nodes + 16), "-S", str(switches + 16), "-P", str(ports + 64)]
        self.environment = dict(os.environ, PATH=PATH, SIM_HOST=host,
                                IBSIM_SOCKNAME="selvage-%d-%d" % (os.getpid(), next(_numbers)))

    def __enter__(self):
        self.log = tempfile.NamedTemporaryFile("w+", prefix="ibsim-", suffix=".log")
        command = ["ibsim", "-s", *([] if self.console else ["-n"]), *self.sizes, self.path]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT,
                                        stdin=subprocess.PIPE if self.console
                                        else subprocess.DEVNULL, env=self.environment)
        deadline = time.time() + 60
        while "Network simulator ready" not in self.output():
            if self.process.poll() is not None or time.time() > deadline:
                self.stop()
                raise AssertionError("ibsim did not take the file:\n" + self.output()[-2000:])
            time.sleep(0.02)
        return self

    def __exit__(self, *exception):
        self.stop()
        self.log.close()

    def output(self):
        with open(self.log.name, errors="replace") as log:
            return log.read()

    def command(self, text):
        """A command of ibsim's console."""
        self.process.stdin.write((text + "\n").encode())
        self.process.stdin.flush()

    def unlink(self, node, port=None):
        """Pulls the cable of a port, or all of a node ("S-…", "H-…")."""
        self.command('Unlink "%s"%s' % (node, "" if port is None else "[%d]" % port))

    def relink(self, node, port=None):
        """Puts what unlink pulled back."""
        self.command('ReLink "%s"%s' % (node, "" if port is None else "[%d]" % port))

    def stop(self):
        if self.console and self.process.stdin is not None and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def run(self, *command, timeout=300, **environment):
        done = subprocess.run(["ibsim-run", *command], env=dict(self.environment, **environment),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout)
        if done.returncode != 0:
            raise AssertionError("%s: %s" % (command, done.stderr.decode(errors="replace")[-2000:]))
        return done.stdout

    def discover(self, path):
        """What ibnetdiscover sees from the host, into a file."""
        with open(path, "wb") as out:
            out.write(self.run("ibnetdiscover"))

    def opensm(self, directory, *options):
        """One sweep of OpenSM (min-hop routing unless options say); dump files are in directory."""
        os.makedirs(directory, exist_ok=True)
        self.run("opensm", "-o", "-f", os.path.join(directory, "log"), "--dump_files_dir",
                 directory, "-D", "0x43", *(options or ("-R", "minhop")), OSM_TMP_DIR=directory,
                 OSM_CACHE_DIR=directory)


def simulate(net, console=False):
    """A simulator large enough for a fabric file, its client at the first adapter."""
    fabric = ok("convert", net, "--format", "json").json
    ports = sum(s["ports"] + 1 for s in fabric["switches"])
    ports += sum(a["ports"] for a in fabric["adapters"])
    nodes = len(fabric["switches"]) + len(fabric["adapters"])
    host = "H-" + fabric["adapters"][0]["guid"][2:]
    return Simulator(net, host, nodes, len(fabric["switches"]), ports, console)


def ibdmchk(directory, psl=None, multicast=None):
    """Whether the real ibdmchk finds no credit loop between adapters; None if it does not say."""
    command = ["ibdmchk", "-s", os.path.join(directory, "opensm-subnet.lst"), "-f",
               os.path.join(directory, "opensm.fdbs"), "-m",
               multicast or os.path.join(directory, "opensm.mcfdbs")]
    lanes = os.path.join(directory, "opensm-sl2vl.dump")
    if os.path.exists(lanes):
        command += ["-d", lanes]
    if psl is not None:
        command += ["-c", psl]
    # It crashes on its way out, after all has been said: only what it says counts.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, env=dict(os.environ, PATH=PATH))
    text = done.stdout.decode(errors="replace")
    if "no credit loops found" in text:
        return True
    return False if "credit loops in routing" in text else None
