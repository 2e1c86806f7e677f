"""The topology.conf that selvage writes, in the real slurmctld: accepted without complaint, with
every host on the leaf switch it is cabled to, and one switch above all of them.

Needs slurmctld, scontrol and munged (Debian: slurmctld slurm-client munge). Everything runs on
loopback, in a directory of its own, and is ended by process id.
"""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import slurm  # noqa: E402
from support.command import ok  # noqa: E402
from support.slurm import expand  # noqa: E402

SPECS = ("kary:k=4,n=3,hosts=4", "torus:4x4x3,hosts=4", "deimos", "taurus",
         "dragonfly:a=4,p=2,h=2,g=9", "xgft:h=2,m=3/4,w=2/2,total=25")


class Topology(unittest.TestCase):
    def test_slurmctld_takes_it(self):
        for spec in SPECS:
            with self.subTest(spec):
                fabric = ok("convert", spec, "--format", "json").json
                topology = ok("convert", spec, "--format", "slurm").out
                hosts = [n for line in re.findall(r" Nodes=(\S+)", topology) for n in expand(line)]
                with slurm.start(hosts, topology) as cluster:
                    shown = cluster.topology()
                    log = cluster.read("slurmctld.log")
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
    slurm.require()
    unittest.main()
