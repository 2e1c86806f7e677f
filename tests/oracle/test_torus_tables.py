"""torus2qos judged by the second opinion on tables (routes_oracle.py): meshes and tori with random
failures, addresses and levels of service, as files: each is routed, and then the oracle finds all
pairs connected and no cycle of dependencies; or it is refused with exit code 4 and a switch named.

Run: python3 -B tests/oracle/test_torus_tables.py [TRIALS [SEED]]
"""
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle
from support.command import inject, ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(40)
VERDICTS = "terminal_terminal", "terminal_switch", "switch_switch"


class Tori(unittest.TestCase):
    def test_the_oracle_agrees(self):
        routed = 0
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("torus %d" % trial)
            sizes = rng.choice(("5x5", "4x4", "3x5", "6x2", "3x3x3", "5x2x2", "7", "3x4", "5x3x2"))
            spec = "%s:%s,hosts=1,r=%d" % (rng.choice(("torus", "torus", "mesh")), sizes,
                                           rng.choice((1, 1, 2)))
            with tempfile.TemporaryDirectory(prefix="selvage-torus-") as folder, self.subTest(
                    "python3 -B tests/oracle/test_torus_tables.py 1 %d" % trial, spec=spec):
                net, tables = os.path.join(folder, "fabric.net"), os.path.join(folder, "tables")
                ok("topo", spec, "-o", net)
                # Some cannot lose as many; they are whole then.
                inject(net, "--switches", str(rng.choice((0, 0, 1))), "--links",
                       str(rng.choice((0, 1, 2))), "--seed", str(trial))
                level = rng.choice(((), ("--sl-offset", "3"), ("--option", "qos=2"),
                                    ("--option", "qos=2", "--option", "level=1")))
                result = selvage("route", net, "--engine", "torus2qos", "-o", tables, "--no-check",
                                 "--lmc", str(rng.choice((0, 1))), *level)
                if result.code != 0:
                    self.assertEqual(result.code, 4, result.err)
                    self.assertIn("'", result.err)
                    continue
                routed += 1
                found = oracle.verify(oracle.load(tables))
                self.assertEqual(found["loops"], 0)
                self.assertTrue(all(found[v] for v in VERDICTS), found["cycle"])
                split = selvage("check", tables, "--json").json["split_pairs"]
                self.assertEqual(found["unreachable"]["terminal_terminal"], split)
        if TRIALS >= 40:  # else it is a matter of luck
            self.assertGreaterEqual(routed, TRIALS * 9 // 10)


if __name__ == "__main__":
    unittest.main()
