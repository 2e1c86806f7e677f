"""What selvage writes, the real ibsim accepts; what the real ibnetdiscover and OpenSM then see and
write, selvage reads back as the same fabric: same nodes by GUID and by name, same cables between
the same ports, same speeds.

Debian's ibsim 0.10 knows no speed above HDR and takes FDR10 for QDR; for real files that have those
only the speeds may differ.
"""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim  # noqa: E402
from support.command import ok, real, selvage  # noqa: E402

GENERATED = [
    "torus:4x4x3,hosts=4", "mesh:3x2,hosts=1,r=3", "hypercube:3", "kary:k=16,n=2,hosts=16",
    "xgft:h=2,m=3/4,w=2/2,hosts=2,speed=EDR", "kautz:d=2,k=3,hosts=2,speed=FDR",
    "dragonfly:a=4,p=2,h=2,g=9,speed=HDR", "dragonfly+:l=2,s=2,p=2,h=2,g=4", "cascade:g=1,hosts=1",
    "random:switches=32,links=256,total=256,radix=36", "jellyfish:switches=16,degree=4,speed=SDR",
    "hyperx:4x3,hosts=2,speed=DDR,width=12", "flatfly:k=3,n=3", "slimfly:q=5",
    "expressmesh:6x5,gap=2", "fullmesh:8,width=1", "deimos", "tsubame2:rail=2", "taurus",
]

REAL = ["mlnx-small-lab", "psmn-x5", "selene-storage", "topograph-dgx-ndr", "ut-rocket-fdr10",
        "director-tabs-eaten"]


class Ibsim(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)

    def expect_same(self, old, new, speeds_too=True):
        for match in ("guid", "name"):
            result = selvage("diff", old, new, "--match", match, "--json")
            if match == "name" and result.code == 3:
                continue  # names that are not unique cannot be compared
            self.assertIn(result.code, (0, 1), result.err)
            changes = [c for c in json.loads(result.out)["changes"]
                       if speeds_too or c["change"] != "changed"]
            self.assertEqual(changes, [], "%s against %s by %s" % (old, new, match))

    def round_trip(self, net, speeds_too=True, opensm=False):
        with ibsim.simulate(net) as sim:
            sim.discover(self.path("found.net"))
            self.expect_same(net, self.path("found.net"), speeds_too)
            if opensm:
                sim.opensm(self.path("dump"))
                self.expect_same(net, self.path("dump/opensm-subnet.lst"), speeds_too)

    def test_generated_fabrics(self):
        for spec in GENERATED:
            with self.subTest(spec):
                ok("topo", spec, "-o", self.path("made.net"))
                self.round_trip(self.path("made.net"))

    def test_with_failures(self):
        for seed in ("1", "2", "3"):
            ok("faults", "torus:4x4x3,hosts=4", "--links", "5%", "--switches", "2", "--seed", seed,
               "-o", self.path("broken.net"))
            self.round_trip(self.path("broken.net"))

    def test_opensm_dumps(self):
        for spec in ("torus:4x4x3,hosts=4", "xgft:h=1,m=6,w=3,total=64,radix=36,speed=HDR",
                     "dragonfly:a=4,p=2,h=2,g=9,speed=FDR,width=1"):
            with self.subTest(spec), tempfile.TemporaryDirectory() as directory:
                self.path = lambda name: os.path.join(directory, name)
                ok("topo", spec, "-o", self.path("made.net"))
                self.round_trip(self.path("made.net"), opensm=True)

    def test_real_fabrics(self):
        done = 0
        for name in REAL:
            path = real("ibnetdiscover", name + ".ibnetdiscover")
            if path is None:
                continue
            with self.subTest(name):
                ok("convert", path, "-o", self.path("copy.net"))
                self.round_trip(self.path("copy.net"), speeds_too=False)
                done += 1
        if done == 0:
            self.skipTest("the real fabrics are not here")


if __name__ == "__main__":
    ibsim.require()
    unittest.main()
