"""Engine dmodk from outside: refusals, and the real trees, whole and broken."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, real, selvage  # noqa: E402

TREES = {"director-tabs-eaten": 3, "mlnx-small-lab": 2, "psmn-x5": 2, "selene-storage": 3,
         "topograph-dgx-ndr": 2, "ut-rocket-fdr10": 2}


class Dmodk(unittest.TestCase):
    def route(self, *arguments):
        """Routes; whatever it says is judged for all traffic."""
        found = ok("route", *arguments, "--engine", "dmodk", "--json").json
        check = found["check"]
        for traffic in "terminal_terminal", "terminal_switch", "switch_switch":
            self.assertIs(check["verdicts"][traffic], True, arguments)
        self.assertEqual(set(check["unreachable"].values()), {0}, arguments)
        return found

    def test_what_is_no_tree_is_refused(self):
        for spec in ("torus:4x4,hosts=2", "dragonfly:a=4,p=2,h=2,g=9", "fullmesh:5,hosts=1"):
            result = selvage("route", spec, "--engine", "dmodk")
            self.assertEqual(result.code, 4, spec)
            self.assertRegex(result.err, "dmodk: this is no tree.*for example '[^']+' and '[^']+'")

    def test_what_it_found(self):
        found = self.route("kary:k=4,n=3,hosts=4")["structure"]
        self.assertEqual(found["kind"], "fat tree")
        self.assertEqual(found["levels"], 3)
        self.assertEqual(found["switches_by_level"], [16, 16, 16])
        self.assertEqual(found["hosts"], 64)

    def test_real_trees(self):
        if real("ibnetdiscover") is None:
            self.skipTest("the real fabrics are not here")
        for name, levels in TREES.items():
            with self.subTest(name):
                path = real("ibnetdiscover", name + ".ibnetdiscover")
                found = self.route(path)
                self.assertEqual(found["structure"]["levels"], levels)
                # Its spines have terminals inside, which reach each other over the foot.
                inside = name == "topograph-dgx-ndr"
                self.assertEqual(found["fallbacks"] > 0, inside)
                self.assertEqual(found["note"], "")

    def test_real_trees_broken(self):
        if real("ibnetdiscover") is None:
            self.skipTest("the real fabrics are not here")
        with tempfile.TemporaryDirectory(prefix="selvage-dmodk-") as directory:
            left = os.path.join(directory, "left.net")
            for name in ("director-tabs-eaten", "selene-storage", "topograph-dgx-ndr"):
                path = real("ibnetdiscover", name + ".ibnetdiscover")
                for seed, share in enumerate(("1%", "3%", "10%", "25%")):
                    with self.subTest(name, share=share):
                        ok("faults", path, "--links", share, "--seed", str(seed + 1), "-o", left)
                        self.route(left)


if __name__ == "__main__":
    unittest.main()
