"""Tables, with the real programs: what `route` writes is loaded by the real OpenSM over ibsim and
reads back the same; what the real OpenSM dumps is read whole; and the real ibdmchk agrees with
`check` about credit loops.
"""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim  # noqa: E402
from support.command import ok, real, selvage  # noqa: E402
from support.ibsim import tables  # noqa: E402

LOADED = [("torus:4x4x3,hosts=4", "updn", 0), ("torus:4x4x3,hosts=4", "sssp", 1),
          ("kary:k=4,n=3,hosts=4", "minhop", 0), ("dragonfly:a=4,p=2,h=2,g=9", "dnup", 2),
          ("random:switches=16,links=40,total=48", "updn", 3), ("mesh:3x3,hosts=2,r=2", "dor", 0),
          ("torus:5x3,hosts=2", "dfsssp", 1), ("dragonfly:a=4,p=2,h=2,g=9", "lash", 0),
          ("torus:5x6,hosts=2,r=2", "torus2qos", 1)]

# Which fabrics OpenSM itself has credit loops on is known (shared/opensm.md); ibdmchk judges
# traffic between adapters. True: free of them; None: as ties fall, but both must say the same. An
# engine and fabric that are not judged fail.
AGREED = [("torus:4x4x3,hosts=4", {"updn": True, "dnup": True, "dor": False, "minhop": False,
                                   "dfsssp": True, "lash": True, "nue": True,
                                   "weave": True, "torus2qos": True}),
          ("mesh:4x4,hosts=2", {"updn": True, "dnup": True, "dor": True, "torus2qos": True}),
          ("torus:5x6,hosts=2", {"torus2qos": True}),
          ("torus:6x5x3,hosts=1,r=2", {"torus2qos": True}),
          ("hypercube:4,hosts=1", {"updn": True, "dor": True}),
          ("kary:k=4,n=2,hosts=4", {"updn": True, "sssp": True, "minhop": True, "ftree": True,
                                    "dmodk": True}),
          ("kary:k=3,n=3,hosts=3", {"updn": True, "dnup": True, "sssp": True, "minhop": True,
                                    "ftree": True, "dmodk": True}),
          ("xgft:h=2,m=4/4,w=2/3,hosts=3,r=2", {"dmodk": True}),
          ("tsubame2:rail=2", {"dmodk": True, "ftree": True}),
          ("dragonfly:a=4,p=2,h=2,g=9", {"updn": True, "dnup": True, "minhop": False,
                                         "sssp": False, "dfsssp": True, "lash": True,
                                         "dla": True, "d3r": True, "sssp-df": True,
                                         "minhop-df": True}),
          ("dragonfly:a=3,p=2,h=3,g=7", {"dla": True, "d3r": True, "sssp-df": True}),
          ("dragonfly:a=4,p=1,h=2,g=5,r=2", {"dla": True, "d3r": True, "minhop-df": True}),
          ("dragonfly+:l=3,s=3,p=2,h=2,g=4", {"d3r": True, "sssp-df": True}),
          ("slimfly:q=5,hosts=1", {"sssp-df": True, "minhop-df": True}),
          ("random:switches=20,links=50,total=40", {"updn": True, "dnup": True, "minhop": False,
                                                    "sssp": False, "dfsssp": True,
                                                    "lash": True}),
          ("torus:8,hosts=1", {"updn": True, "dor": False, "minhop": False, "sssp": False,
                               "dfsssp": True, "lash": True, "nue": True}),
          ("hyperx:4x3,hosts=2", {"updn": True, "dor": True, "sssp": None, "nue": True}),
          ("kautz:d=2,k=3,hosts=1", {"updn": True, "dnup": True})]


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)


class Loading(Case):
    def test_opensm_loads_what_route_writes(self):
        for number, (spec, engine, lmc) in enumerate(LOADED):
            made, back = self.path("made%d" % number), self.path("back%d" % number)
            net = self.path("net%d" % number)
            with self.subTest(spec, engine=engine, lmc=lmc):
                ok("route", spec, "--engine", engine, "--lmc", str(lmc), "-o", made)
                ok("convert", made, "-o", net)
                with ibsim.simulate(net) as sim:
                    sim.opensm(back, "-R", "file", "-U", made + "/opensm-lfts.dump", "-l",
                               str(lmc))
                wanted, found = tables(made + "/opensm-lfts.dump"), tables(back +
                                                                         "/opensm-lfts.dump")
                self.assertEqual(set(wanted), set(found))
                for switch in wanted:
                    self.assertEqual(wanted[switch], found[switch], switch)
                self.assertEqual(ok("metrics", made, "--json").json["efi"],
                                 ok("metrics", back, "--json").json["efi"])
                same = selvage("check", made, back, "--json").json
                self.assertEqual(same["changed_blocks"], 0)

    def test_a_wrong_table_is_noticed(self):
        """The comparison above can fail: one entry changed shows."""
        made = self.path("made")
        ok("route", "mesh:3x3", "--engine", "updn", "-o", made)
        before = tables(made + "/opensm-lfts.dump")
        with open(made + "/opensm-lfts.dump") as file:
            text = re.sub(r"^0x0003 \d+", "0x0003 001", file.read(), flags=re.M)
        with open(made + "/opensm-lfts.dump", "w") as file:
            file.write(text)
        self.assertNotEqual(before, tables(made + "/opensm-lfts.dump"))


class Dumps(Case):
    """Directories that the real OpenSM wrote."""

    def dump(self, spec, *options):
        net, directory = self.path("f.net"), self.path("dump")
        ok("topo", spec, "-o", net)
        with ibsim.simulate(net) as sim:
            sim.opensm(directory, *options)
        return directory

    def test_min_hop_deadlocks_on_a_torus(self):
        directory = self.dump("torus:4x4x3,hosts=2")
        result = selvage("check", directory, "--json")
        self.assertEqual(result.code, 6, result.err)  # it does not tell SLs and VLs
        self.assertIsNone(result.json["deadlock_free"])
        self.assertIs(result.json["on_sl0"]["terminal_terminal"], False)
        self.assertEqual(result.json["unreachable_pairs"], 0)
        self.assertIs(ibsim.ibdmchk(directory), False)

    def test_a_tree_is_fine_whatever_the_vls(self):
        directory = self.dump("kary:k=4,n=2,hosts=4")
        result = selvage("check", directory, "--json")
        self.assertEqual(result.code, 0, result.out)
        self.assertIs(result.json["deadlock_free"], True)
        self.assertIs(ibsim.ibdmchk(directory), True)
        path = ok("path", directory, "host0", "host15", "--json").json
        self.assertTrue(path["arrives"])
        self.assertFalse(path["sl_known"])
        self.assertEqual(len(path["hops"]), 4)

    def test_vls_and_several_addresses(self):
        directory = self.dump("torus:3x3,hosts=2", "-R", "dfsssp", "-Q", "-l", "1")
        result = selvage("check", directory, "--json")
        self.assertIn(result.code, (0, 6), result.out)
        self.assertTrue(result.json["sl2vl_known"])
        self.assertFalse(result.json["sl_known"])
        self.assertEqual(result.json["unreachable_pairs"], 0)
        self.assertEqual(ok("metrics", directory, "--json").json["pairs"], 18 * 17 * 2)

    def test_either_file_of_tables(self):
        directory = self.dump("dragonfly:a=4,p=2,h=2,g=9", "-R", "minhop", "-l", "2")
        first = ok("metrics", directory, "--json").json
        os.remove(directory + "/opensm-lfts.dump")  # then opensm.fdbs is read
        self.assertEqual(ok("metrics", directory, "--json").json, first)

    def test_an_old_dump(self):
        folder = real("opensm")
        if folder is None:
            self.skipTest("the real dumps are not here")
        result = selvage("check", folder, "--json")
        self.assertEqual(result.code, 0, result.err + result.out)
        self.assertEqual(result.json["unreachable_pairs"], 0)


class SecondOpinion(Case):
    def test_ibdmchk_agrees(self):
        for spec, engines in AGREED:
            for engine, free in engines.items():
                made, psl = self.path("made"), self.path("psl")
                with self.subTest(spec, engine=engine):
                    ok("route", spec, "--engine", engine, "-o", made)
                    ok("convert", made, "--format", "ibdmchk-psl", "-o", psl)
                    said = ibsim.ibdmchk(made, psl)
                    mine = selvage("check", made, "--terminals-only", "--json").json
                    self.assertIsNotNone(said, "ibdmchk did not say")
                    self.assertIs(mine["verdicts"]["terminal_terminal"], said)
                    if free is not None:
                        self.assertIs(said, free)

    def test_ibdmchk_agrees_on_detours(self):
        """torus2qos around failed switches and cables: turns on VLs of their own."""
        for number, options in enumerate((("--switches", "1"), ("--switches", "2"),
                                          ("--links", "3%", "--switches", "1"))):
            net, made, psl = (self.path(name + str(number)) for name in ("net", "made", "psl"))
            with self.subTest(options):
                ok("faults", "torus:6x5x4,hosts=1", *options, "--seed", "3", "-o", net)
                result = ok("route", net, "--engine", "torus2qos", "-o", made, "--json").json
                self.assertEqual(result["vls_needed"], 4)
                ok("convert", made, "--format", "ibdmchk-psl", "-o", psl)
                self.assertIs(ibsim.ibdmchk(made, psl), True)


if __name__ == "__main__":
    ibsim.require()
    unittest.main()
