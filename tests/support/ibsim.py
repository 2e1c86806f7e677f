"""The real ibsim, ibnetdiscover and opensm, started and stopped by tests.

Every simulator gets a socket name of its own, so that tests can run side by side, and is ended by
its process id. Programs that are not installed raise Missing; tests then skip, saying so (exit code
77 for ctest), unless SELVAGE_REQUIRE_LIVE is set, as it is in `make check`.
"""
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from support.command import SELVAGE, Result, ok

PROGRAMS = ("ibsim", "ibsim-run", "ibnetdiscover", "opensm", "ibdmchk")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin:/usr/local/sbin"
FOLDER = os.path.dirname(os.path.abspath(__file__))
DATAGRAMS = os.path.join(FOLDER, "datagrams.py")
# For a selvage that is built with them: the simulator's library is loaded first, and not clean.
SANITIZERS = {
    "ASAN_OPTIONS": "verify_asan_link_order=0:suppressions=" + os.path.join(FOLDER, "asan.supp"),
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + os.path.join(FOLDER, "lsan.supp")}
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


def library():
    """The library by which programs reach the simulator; ibsim-run preloads it."""
    with open(shutil.which("ibsim-run", path=PATH)) as file:
        return re.search(r"^sim_so=(\S+)", file.read(), re.M)[1]


class Simulator:
    """An ibsim that serves one fabric file: with Simulator(path, host) as sim: sim.discover()."""

    def __init__(self, path, host, nodes, switches, ports, second_host=None, console=False):
        self.path, self.host, self.second_host = path, host, second_host
        self.console = console  # its commands are taken, by tell()
        self.folder = os.path.dirname(os.path.abspath(path))  # clients that die leave files there
        self.sizes = ["-N", str(nodes + 16), "-S", str(switches + 16), "-P", str(ports + 64)]
        self.environment = dict(os.environ, PATH=PATH, SIM_HOST=host, **SANITIZERS,
                                IBSIM_SOCKNAME="selvage-%d-%d" % (os.getpid(), next(_numbers)))

    def __enter__(self):
        self.log = tempfile.NamedTemporaryFile("w+", prefix="ibsim-", suffix=".log")
        mode = [] if self.console else ["-n"]
        self.process = subprocess.Popen(["ibsim", "-s", *mode, *self.sizes, self.path],
                                        stdin=subprocess.PIPE if self.console else
                                        subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, env=self.environment)
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

    def tell(self, command):
        """A command for the simulator's console, and time for it to be carried out."""
        self.command(command)
        time.sleep(0.2)  # it answers nothing that could be waited for

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
        if self.console:
            self.process.stdin.close()

    def selvage(self, *arguments, timeout=300, **environment):
        """Runs selvage at the host. Nothing is checked."""
        return Result(subprocess.run(["ibsim-run", SELVAGE, *arguments], stdin=subprocess.DEVNULL,
                                     env=dict(self.environment, **environment), cwd=self.folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     timeout=timeout))

    def program(self, *lines):
        """Changes what is programmed: commands of support/datagrams.py."""
        done = subprocess.run(["ibsim-run", sys.executable, "-B", DATAGRAMS],
                              env=self.environment, input="\n".join(lines).encode(),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stdout.decode(errors="replace"))

    def run(self, *command, timeout=300, **environment):
        done = subprocess.run(["ibsim-run", *command], env=dict(self.environment, **environment),
                              cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
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


class Manager:
    """An OpenSM that stays, at the second adapter: with Manager(sim, directory, "-R", "updn"): …"""

    def __init__(self, sim, directory, *options):
        self.directory, self.environment = directory, dict(
            sim.environment, SIM_HOST=sim.second_host, OSM_TMP_DIR=directory,
            OSM_CACHE_DIR=directory)
        self.command = ["ibsim-run", "opensm", "-f", os.path.join(directory, "log"),
                        "--dump_files_dir", directory, "-D", "0x43", "-d", "2", *options]

    def __enter__(self):
        os.makedirs(self.directory, exist_ok=True)
        self.said = open(os.path.join(self.directory, "said"), "w")
        self.process = subprocess.Popen(self.command, env=self.environment, cwd=self.directory,
                                        stdin=subprocess.DEVNULL, stdout=self.said,
                                        stderr=subprocess.STDOUT)
        self.wait(lambda: "SUBNET UP" in self.read("log"), "it is not up")
        return self

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGCONT)  # a test may have stopped it
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.said.close()

    def read(self, name):
        try:
            with open(os.path.join(self.directory, name), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait(self, condition, what, seconds=60):
        deadline = time.time() + seconds
        while not condition():
            if self.process.poll() is not None or time.time() > deadline:
                self.__exit__()
                raise AssertionError("%s: %s" % (what, self.read("said")[-2000:]))
            time.sleep(0.05)


def simulate(net, console=False):
    """A simulator large enough for a fabric file, its client at the first adapter."""
    fabric = ok("convert", net, "--format", "json").json
    ports = sum(s["ports"] + 1 for s in fabric["switches"])
    ports += sum(a["ports"] for a in fabric["adapters"])
    nodes = len(fabric["switches"]) + len(fabric["adapters"])
    hosts = ["H-" + a["guid"][2:] for a in fabric["adapters"][:2]]
    return Simulator(net, hosts[0], nodes, len(fabric["switches"]), ports, hosts[-1], console)


def tables(path):
    """{switch: {LID: port}} of an opensm-lfts.dump; switches by GUID."""
    result, at = {}, None
    with open(path) as file:
        for line in file:
            switch = re.match(r"Unicast lids .* guid (0x\w+)", line)
            entry = re.match(r"(0x\w+) (\d+) #", line)
            if switch:
                at = result.setdefault(int(switch[1], 16), {})
            elif entry:
                at[int(entry[1], 16)] = int(entry[2])
    return result


def ibdmchk(directory, psl=None, multicast=None):
    """Whether the real ibdmchk finds no credit loop between adapters; None if it does not say."""
    command = ["ibdmchk", "-s", os.path.join(directory, "opensm-subnet.lst"), "-f",
               os.path.join(directory, "opensm.fdbs"), "-m",
               multicast or os.path.join(directory, "opensm.mcfdbs")]
    vls = os.path.join(directory, "opensm-sl2vl.dump")
    if os.path.exists(vls):
        command += ["-d", vls]
    if psl is not None:
        command += ["-c", psl]
    # It crashes on its way out, after all has been said: only what it says counts.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, env=dict(os.environ, PATH=PATH))
    text = done.stdout.decode(errors="replace")
    if "no credit loops found" in text:
        return True
    return False if "credit loops in routing" in text else None
