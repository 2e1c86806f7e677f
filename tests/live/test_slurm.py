"""The topology.conf that selvage writes, in the real slurmctld: accepted without complaint, with
every host on the leaf switch it is cabled to, and one switch above all of them.

Needs slurmctld, scontrol and munged (Debian: slurmctld slurm-client munge). Everything runs on
loopback, in a directory of its own, and is ended by process id.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok  # noqa: E402

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PROGRAMS = ("slurmctld", "scontrol", "munged")
SPECS = ("kary:k=4,n=3,hosts=4", "torus:4x4x3,hosts=4", "deimos", "taurus",
         "dragonfly:a=4,p=2,h=2,g=9", "xgft:h=2,m=3/4,w=2/2,total=25")

CONFIGURATION = """
ClusterName=test
SlurmctldHost=%(host)s(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=%(dir)s/munge.socket
CredType=cred/munge
SlurmUser=root
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
TopologyPlugin=topology/tree
StateSaveLocation=%(dir)s/state
SlurmctldPidFile=%(dir)s/slurmctld.pid
SlurmctldLogFile=%(dir)s/slurmctld.log
SlurmdSpoolDir=%(dir)s/spool
SlurmctldPort=%(port)d
SlurmdPort=%(port2)d
%(nodes)s
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def require():
    missing = [p for p in PROGRAMS if shutil.which(p, path=PATH) is None]
    if not missing:
        return
    print("skipped: not installed: %s (Debian: slurmctld slurm-client munge)" % ", ".join(missing))
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what):
    deadline = time.time() + 60
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
    """A munged and a slurmctld around one topology.conf."""

    def __init__(self, topology):
        self.directory = tempfile.TemporaryDirectory(prefix="selvage-slurm-")
        self.dir = self.directory.name
        os.chmod(self.dir, 0o755)
        hosts = [n for line in re.findall(r" Nodes=(\S+)", topology) for n in expand(line)]
        nodes = "\n".join("NodeName=%s NodeAddr=127.0.0.1 CPUs=1 RealMemory=1" % n for n in hosts)
        self.write("topology.conf", topology)
        self.write("slurm.conf", CONFIGURATION % dict(
            dir=self.dir, host=socket.gethostname(), nodes=nodes, port=free_port(),
            port2=free_port()))
        self.write("key", "k" * 128)
        os.chmod(os.path.join(self.dir, "key"), 0o400)
        os.mkdir(os.path.join(self.dir, "state"))
        self.processes = []

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.dir, name)) as file:
            return file.read()

    def start(self, *command):
        environment = dict(os.environ, PATH=PATH, SLURM_CONF=os.path.join(self.dir, "slurm.conf"))
        self.processes.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def __enter__(self):
        place = lambda name: os.path.join(self.dir, name)  # noqa: E731
        self.start("munged", "--foreground", "--force", "--key-file", place("key"), "--socket",
                   place("munge.socket"), "--pid-file", place("munge.pid"), "--log-file",
                   place("munge.log"), "--seed-file", place("munge.seed"))
        wait_for(lambda: os.path.exists(place("munge.socket")), "munged")
        self.start("slurmctld", "-D", "-c", "-f", place("slurm.conf"))
        return self

    def __exit__(self, *exception):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.directory.cleanup()

    def topology(self):
        environment = dict(os.environ, PATH=PATH, SLURM_CONF=os.path.join(self.dir, "slurm.conf"))
        for _ in range(100):
            done = subprocess.run(["scontrol", "show", "topology"], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode == 0 and b"error" not in done.stdout:
                return done.stdout.decode()
            time.sleep(0.2)
        raise AssertionError("scontrol: %s\n%s" % (done.stdout.decode(),
                                                   self.read("slurmctld.log")[-3000:]))


class Topology(unittest.TestCase):
    def test_slurmctld_takes_it(self):
        for spec in SPECS:
            with self.subTest(spec):
                fabric = ok("convert", spec, "--format", "json").json
                topology = ok("convert", spec, "--format", "slurm").out
                with Slurm(topology) as slurm:
                    shown = slurm.topology()
                    log = slurm.read("slurmctld.log")
                self.assertNotIn("TOPOLOGY", log)
                switches = [dict(re.findall(r"(\w+)=(\S+)", line))
                            for line in shown.strip().split("\n")]
                top = max(switches, key=lambda s: int(s["Level"]))
                compute = {t["adapter"] for t in fabric["terminals"] if t["role"] == "compute"}
                names = {a["name"] for a in fabric["adapters"] if a["adapter"] in compute}
                self.assertEqual(set(expand(top["Nodes"])), names)
                self.check_leaves(fabric, switches)

    def check_leaves(self, fabric, switches):
        """Every leaf of Slurm's has exactly the compute hosts of the switch it is called after."""
        name = {s["node"]: s["name"] for s in fabric["switches"]}
        adapter = {a["adapter"]: a["name"] for a in fabric["adapters"]}
        host = {t["node"]: adapter[t["adapter"]] for t in fabric["terminals"]
                if t["role"] == "compute"}
        wanted = {}
        for c in fabric["cables"]:
            for here, there in ((c["a"], c["b"]), (c["b"], c["a"])):
                if here in name and there in host:
                    wanted.setdefault(name[here], set()).add(host[there])
        found = {s["SwitchName"]: set(expand(s["Nodes"])) for s in switches if s["Level"] == "0"}
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    require()
    unittest.main()
