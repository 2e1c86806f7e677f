"""One walk with the real OpenSM and ibsim, for make check: what all the other live tests go through
at length (make check-deep).

The plugin routes, a cable fails and comes back, what is in the switches is proven from outside and
told by discover; stock OpenSM loads forwarding tables that selvage wrote, and ibdmchk agrees.
"""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm  # noqa: E402
from support.command import ok, selvage  # noqa: E402
from support.ibsim import tables  # noqa: E402


class Smoke(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        self.net = self.path("f.net")
        ok("topo", "torus:4x4,hosts=1", "-o", self.net)

    def judge(self, sm):
        found = selvage("check", sm.written(), "--json")
        self.assertEqual(found.code, 0, found.out + found.err)
        self.assertEqual(found.json["unreachable_pairs"], 0)
        self.assertIs(sm.status()["proven"], True)
        self.assertIs(sm.status()["active"], True)

    def test_the_plugin(self):
        fabric = json.loads(ok("convert", self.net, "--format", "json").out)
        node = "S-" + fabric["switches"][5]["guid"][2:]
        with ibsim.simulate(self.net, console=True) as sim, opensm.start(sim,
                                                                        self.path("osm")) as sm:
            sm.wait_up()
            self.judge(sm)
            before = tables(sm.dump + "/opensm-lfts.dump")
            sm.settle(lambda: sim.unlink(node, 2))
            self.judge(sm)
            self.assertEqual(sm.status()["how"], "repaired")
            sm.settle(lambda: sim.relink(node, 2))
            self.judge(sm)
            self.assertEqual(tables(sm.written() + "/opensm-lfts.dump"), before)
            if "discover" in selvage("--help").out:
                found = sim.selvage("discover", "-o", self.path("now"), "--sls")
                self.assertEqual(found.code, 0, found.err)
                self.assertEqual(selvage("check", self.path("now"), "--json").code, 0)
                self.assertEqual(tables(self.path("now/opensm-lfts.dump")), before)
            self.assertEqual(sm.lines("ERR SV"), [])
            self.assertEqual(sm.stop(), 0)

    def test_tables_for_stock_opensm(self):
        made, back, net = self.path("made"), self.path("back"), self.path("lids.net")
        ok("route", self.net, "--engine", "updn", "-o", made)
        self.assertIs(ibsim.ibdmchk(made), True)
        ok("convert", made, "-o", net)  # with the LIDs of these tables
        with ibsim.simulate(net) as sim:
            sim.opensm(back, "-R", "file", "-U", made + "/opensm-lfts.dump")
        self.assertEqual(tables(back + "/opensm-lfts.dump"), tables(made + "/opensm-lfts.dump"))


if __name__ == "__main__":
    opensm.require()
    unittest.main()
