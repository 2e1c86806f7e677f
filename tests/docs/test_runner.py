"""tools/tests.py: a test with real daemons that fails is run once more, alone; what failed once is
shown as flaky and counted, what fails twice fails the run, and all other tests have one try.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import opensm  # noqa: E402

SOURCE = os.environ["SELVAGE_SOURCE"]
# A test that fails the first times it is run: which time this is, is in a file.
FAILS = """
import os, sys
path, times = sys.argv[1], int(sys.argv[2])
count = os.path.getsize(path) if os.path.exists(path) else 0
open(path, "a").write("x")
print("try number %d" % (count + 1))
if "much" in sys.argv:  # more than ctest keeps by default
    print(("x" * 99 + "\\n") * 4000)
print(" ".join(sys.argv[3:]))
if count < times and "crash" in sys.argv:
    os.abort()
sys.exit(count < times)
"""


class Runner(unittest.TestCase):
    def run_tests(self, *tests):
        """tests: (name, label, how often it fails, words that it says). Exit code, what was printed, {test:
        what became of it} and what was left out."""
        directory = tempfile.TemporaryDirectory(prefix="selvage-runner-")
        self.addCleanup(directory.cleanup)
        path = lambda name: os.path.join(directory.name, name)  # noqa: E731
        with open(path("fails.py"), "w") as file:
            file.write(FAILS)
        with open(path("CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.20)\nproject(runner NONE)\n"
                       "enable_testing()\n")
            for name, label, times, *words in tests:
                file.write('add_test(NAME %s COMMAND "%s" fails.py %s %s%s)\n'
                           'set_tests_properties(%s PROPERTIES LABELS "%s" SKIP_RETURN_CODE 77 '
                           'WORKING_DIRECTORY "%s")\n' % (
                               name, sys.executable, name.replace("/", "-"), times,
                               "".join(' "%s"' % word for word in words), name, label,
                               directory.name))
        subprocess.run(["cmake", "-S", directory.name, "-B", path("build")], check=True,
                       stdout=subprocess.DEVNULL)
        done = subprocess.run([os.path.join(SOURCE, "tools", "tests.py"), path("build"),
                               "--results", path("results"), "-j", "2"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(path("results")) as file:
            lines = file.read().splitlines()
        self.left_out = [line for line in lines if line.startswith("0 part ")]
        return done.returncode, done.stdout, {line.split()[2]: line.split()[1] for line in lines
                                              if line not in self.left_out}

    def test_all_pass(self):
        code, said, results = self.run_tests(("a/one", "unit", 0), ("a/two", "live", 0))
        self.assertEqual((code, said), (0, "2 passed\n"))
        self.assertEqual(results, {"a/one": "passed", "a/two": "passed"})

    def test_flaky(self):
        code, said, results = self.run_tests(("live/x", "live;deep", 1), ("a/one", "unit", 0))
        self.assertEqual(code, 0, said)
        self.assertIn("failed once: live/x", said)
        self.assertIn("try number 1", said)  # what it said then
        self.assertIn("flaky: live/x: passed when it was run alone", said)
        self.assertIn("1 passed, 1 flaky", said)
        self.assertEqual(results, {"a/one": "passed", "live/x": "flaky"})

    def test_twice_is_a_failure(self):
        code, said, results = self.run_tests(("live/x", "live", 2), ("web/y", "web", 1))
        self.assertEqual(code, 1)
        self.assertIn("failed again, alone: live/x", said)
        self.assertIn("try number 2", said)
        self.assertEqual(results, {"live/x": "failed", "web/y": "flaky"})

    def test_a_report_of_a_sanitizer_is_no_flake(self):
        """However much came before it."""
        code, said, results = self.run_tests(("live/x", "live", 1, "much",
                                               "ERROR: AddressSanitizer: bad"))
        self.assertEqual((code, results), (1, {"live/x": "failed"}))
        self.assertNotIn("try number 2", said)

    def test_why_it_failed(self):
        said = self.run_tests(("live/x", "live", 1, "crash"), ("unit/y", "unit", 1))[1]
        self.assertRegex(said, r"failed once: live/x \([0-9.]+ s, Subprocess aborted Exception\):")
        self.assertRegex(said, r"failed: unit/y \([0-9.]+ s\):")

    def test_what_begins_again_by_itself(self):
        code, said, results = self.run_tests(("live/x", "live", 0, "flaky: it hung; 5 more tries"))
        self.assertEqual((code, results), (0, {"live/x": "flaky"}))
        self.assertIn("flaky: live/x: it hung; 5 more tries", said)
        self.assertIn("1 flaky", said)

    def test_what_is_left_out(self):
        code, _, results = self.run_tests(
            ("cli/x", "cli", 0, "test_a (b) ... skipped 'no systemd-analyze here'"),
            ("unit/y", "unit", 0, "[  SKIPPED ] real_files_are_read"), ("unit/z", "unit", 0))
        self.assertEqual((code, set(results.values())), (0, {"passed"}))
        self.assertEqual(sorted(self.left_out), ["0 part cli/x: no systemd-analyze here",
                                                 "0 part unit/y: real_files_are_read"])

    def test_others_have_one_try(self):
        code, said, results = self.run_tests(("unit/x", "unit", 1), ("live/y", "live", 0))
        self.assertEqual(code, 1)
        self.assertIn("failed: unit/x", said)
        self.assertNotIn("try number 2", said)
        self.assertEqual(results, {"unit/x": "failed", "live/y": "passed"})


class Settling(unittest.TestCase):
    """OpenSM.settle of tests/support: the last sweep may come while the status is being read."""

    class Fake(opensm.OpenSM):
        def __init__(self):
            self.sweeps, self.steps = 0, 1

        def ups(self):
            return self.sweeps

        def wait_up(self, count=1, timeout=60):
            self.sweeps = count

        def status(self):
            was = self.steps
            if self.steps > 0:  # what was read was true until now
                self.steps, self.sweeps = 0, self.sweeps + 1
            return {"steps": was}

        def tail(self, count=40):
            return ""

    def test_a_sweep_beside_the_status(self):
        self.Fake().settle(lambda: None, timeout=2, quiet=0.1)


if __name__ == "__main__":
    unittest.main()
