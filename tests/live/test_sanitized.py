"""The plugin with sanitizers inside the real OpenSM: errors in it are found and fail the test, so that
silence of the other live tests means something. Only in builds with ASan; the plugin with errors is
tests/support/faulty.c."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm  # noqa: E402
from support.command import ok  # noqa: E402

FAULTY = os.path.join(os.environ["SELVAGE_BUILD"], "tests", "faulty")
# The fault, what its report says, and whether OpenSM goes on until it is ended.
FAULTS = [("overflow", "heap-buffer-overflow", False), ("freed", "heap-use-after-free", False),
          ("undefined", "signed integer overflow", False), ("leak", "detected memory leaks", True)]


class Sanitized(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        ok("topo", "torus:3x3,hosts=1", "-o", self.path("f.net"))

    def run_with(self, plugin, fault):
        """A sweep, a second one, and the end."""
        with ibsim.simulate(self.path("f.net"), console=True) as sim:
            if fault is not None:
                sim.environment["SELVAGE_FAULT"] = fault
            with opensm.start(sim, self.path("osm-%s" % fault), plugin=plugin) as sm:
                self.assertTrue(sm.sanitized)
                sm.wait_up()
                sm.sweep()
                return sm.stop()

    def test_errors_are_found(self):
        for fault, says, goes_on in FAULTS:
            with self.subTest(fault):
                with self.assertRaises(AssertionError) as caught:
                    self.run_with(FAULTY, fault)
                self.assertIn("a sanitizer in OpenSM reports", str(caught.exception))
                self.assertIn(says, str(caught.exception))
                self.assertIn("sv_live_sweep", str(caught.exception))
                if goes_on:  # with its place, though OpenSM unloads plugins at its end
                    self.assertIn("faulty.c", str(caught.exception))

    def test_without_errors_nothing_is_found(self):
        self.assertEqual(self.run_with(FAULTY, None), 0)
        self.assertEqual(self.run_with(opensm.PLUGIN, "overflow"), 0)


if __name__ == "__main__":
    opensm.require()
    unittest.main(verbosity=2)
