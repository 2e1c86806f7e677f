"""The real Slurm on one machine: munged, slurmctld and, where jobs are to run, a slurmd a node.

    with slurm.start(["n1", "n2", "n3"], nodes=True) as cluster:
        job = cluster.submit("n1,n3")
        cluster.wait_running(job)
        print(cluster.run("squeue"))

Everything is on loopback, in a directory of its own, and ended by process id. Node names are free,
so they can be those of a simulated fabric. Programs that are not installed make tests skip, saying
so (exit code 77 for ctest), with SELVAGE_REQUIRE_LIVE, too: not everybody can install Slurm. With
SELVAGE_REQUIRE_SLURM, which .ci/run sets, they fail.
"""
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PROGRAMS = {"slurmctld": "slurmctld", "scontrol": "slurm-client", "munged": "munge"}
NODE_PROGRAMS = dict(PROGRAMS, slurmd="slurmd", sbatch="slurm-client", squeue="slurm-client")

CONFIGURATION = """
ClusterName=test
SlurmctldHost=%(host)s(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=%(dir)s/munge.socket
CredType=cred/munge
SlurmUser=%(user)s
SlurmdUser=%(user)s
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=0
KillWait=1
MessageTimeout=3
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
StateSaveLocation=%(dir)s/state
SlurmctldPidFile=%(dir)s/slurmctld.pid
SlurmctldLogFile=%(dir)s/slurmctld.log
SlurmdPidFile=%(dir)s/%%n.pid
SlurmdLogFile=%(dir)s/%%n.log
SlurmdSpoolDir=%(dir)s/spool/%%n
SlurmctldPort=%(port)d
SlurmdPort=%(port2)d
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer_batch
%(more)s
%(nodes)s
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=NO
"""


def missing(programs=None):
    """Which packages of Slurm are not there, in words; or None."""
    programs = programs or PROGRAMS
    absent = sorted({package for program, package in programs.items()
                     if shutil.which(program, path=PATH) is None})
    return "not installed: %s (Debian packages)" % ", ".join(absent) if absent else None


def require(programs=None):
    """Ends the test program where Slurm is not there: it was skipped, or failed if Slurm must be."""
    message = missing(programs)
    if message:
        print("skipped: " + message)
        sys.exit(1 if os.environ.get("SELVAGE_REQUIRE_SLURM") else 77)


def free_ports(count):
    """Ports that nobody listens on, all different."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def wait_for(condition, what, timeout=60):
    deadline = time.time() + timeout
    while not condition():
        if time.time() > deadline:
            raise AssertionError("no " + what)
        time.sleep(0.05)


def expand(text):
    """Slurm's host[0-3,7] as a list."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, _, ranges = part.partition("[")
        for piece in ranges.rstrip("]").split(",") if ranges else [""]:
            low, _, high = piece.partition("-")
            numbers = range(int(low), int(high) + 1) if high else [None]
            names += [prefix + (piece if n is None else str(n).zfill(len(low))) for n in numbers]
    return names


class Slurm:
    def __init__(self, hosts, topology=None, nodes=False):
        self.directory = tempfile.TemporaryDirectory(prefix="selvage-slurm-",
                                                     ignore_cleanup_errors=True)
        self.dir, self.hosts, self.nodes = self.directory.name, list(hosts), nodes
        os.chmod(self.dir, 0o755)
        ports = free_ports(2 + len(self.hosts))
        lines = ["NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=1" %
                 (name, socket.gethostname(), port)
                 for name, port in zip(self.hosts, ports[2:])]
        more = ""
        if topology is not None:
            more = "TopologyPlugin=topology/tree"
            self.write("topology.conf", topology)
        self.write("slurm.conf", CONFIGURATION % dict(
            dir=self.dir, host=socket.gethostname(), nodes="\n".join(lines), port=ports[0],
            port2=ports[1], user=getpass.getuser(), more=more))
        self.write("key", "k" * 128)
        os.chmod(self.place("key"), 0o400)
        os.makedirs(self.place("state"))
        self.environment = dict(os.environ, PATH=PATH, SLURM_CONF=self.place("slurm.conf"))
        self.processes = []
        self.controller = None

    def place(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.place(name), "w") as file:
            file.write(text)

    def read(self, name):
        try:
            with open(self.place(name), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    # ---- beginning and end ----

    def start(self, *command):
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   cwd=self.dir)
        self.processes.append(process)
        return process

    def start_controller(self, *options):
        self.controller = self.start("slurmctld", "-D", "-f", self.place("slurm.conf"), *options)

    def end(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process in self.processes:
            self.processes.remove(process)

    def stop_controller(self):
        self.end(self.controller)

    def __enter__(self):
        try:
            self.start("munged", "--foreground", "--force", "--key-file", self.place("key"),
                       "--socket", self.place("munge.socket"), "--pid-file",
                       self.place("munge.pid"), "--log-file", self.place("munge.log"),
                       "--seed-file", self.place("munge.seed"))
            wait_for(lambda: os.path.exists(self.place("munge.socket")), "munged")
            self.start_controller("-c")
            if self.nodes:
                for name in self.hosts:
                    os.makedirs(self.place("spool/" + name))
                    self.start("slurmd", "-D", "-N", name, "-f", self.place("slurm.conf"))
                self.wait_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        if self.nodes:
            try:  # steps of jobs are children of nobody we know: Slurm ends them
                self.run("scancel", "--signal=KILL", "--user=" + getpass.getuser(), check=False,
                         timeout=20)
                self.run("scancel", "--user=" + getpass.getuser(), check=False, timeout=20)
                wait_for(lambda: not self.run("squeue", "-h", check=False, timeout=20).strip(),
                         "end of jobs", 20)
            except (AssertionError, subprocess.TimeoutExpired):
                pass
        for process in reversed(list(self.processes)):
            self.end(process)
        self.directory.cleanup()

    # ---- use ----

    def run(self, *command, check=True, timeout=60):
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        text = done.stdout.decode(errors="replace")
        if check and done.returncode != 0:
            raise AssertionError("%s: %s\n%s" % (" ".join(command), text,
                                                 self.read("slurmctld.log")[-3000:]))
        return text

    def wait_idle(self, timeout=120):
        """Until all nodes are up."""
        def idle():
            text = self.run("sinfo", "-h", "-N", "-o", "%N %t", check=False)
            states = dict(line.split() for line in text.strip().split("\n") if
                          len(line.split()) == 2)
            return all(states.get(name) == "idle" for name in self.hosts)
        try:
            wait_for(idle, "nodes", timeout)
        except AssertionError:
            raise AssertionError("nodes are not idle:\n%s\n%s\n%s" % (
                self.run("sinfo", "-N", check=False), self.read("slurmctld.log")[-3000:],
                self.read(self.hosts[0] + ".log")[-3000:]))

    def submit(self, nodes, seconds=600):
        """A job on a list of nodes that sleeps; its number."""
        count = len(expand(nodes))
        text = self.run("sbatch", "--parsable", "-N", str(count), "-w", nodes, "-o", "/dev/null",
                        "--chdir", self.dir, "--wrap", "exec sleep %d" % seconds)
        return text.strip().split("\n")[-1].split(";")[0]

    def wait_running(self, *jobs, timeout=60):
        def running():
            text = self.run("squeue", "-h", "-t", "R", "-o", "%i", check=False)
            return set(jobs) <= set(text.split())
        try:
            wait_for(running, "running jobs", timeout)
        except AssertionError:
            raise AssertionError("jobs %s do not run:\n%s\n%s" % (
                jobs, self.run("squeue", check=False), self.read("slurmctld.log")[-4000:]))

    def cancel(self, *jobs):
        """Ends jobs, and waits until their nodes are free."""
        self.run("scancel", *jobs)
        wait_for(lambda: not set(jobs) & set(self.run("squeue", "-h", "-o", "%i",
                                                      check=False).split()), "end of jobs")

    def topology(self):
        for _ in range(100):
            text = self.run("scontrol", "show", "topology", check=False)
            if "SwitchName" in text and "error" not in text:
                return text
            time.sleep(0.2)
        raise AssertionError("scontrol: %s\n%s" % (text, self.read("slurmctld.log")[-3000:]))


def start(hosts, topology=None, nodes=False):
    return Slurm(hosts, topology, nodes)
