"""Ctrl-C ends what only reads or computes within a second or so, wherever it is, with exit code 130;
and what would take days on a huge fabric is sampled, which is said."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, terminal  # noqa: E402
from support.trials import stride, trials  # noqa: E402

LINE = "mesh:1000000x1"  # a million switches in a row: nothing about it is small
LONG = 90000  # and a row so long that distances are sampled
PATIENCE = 20  # seconds, for machines that do other things, too: a second where it is quiet


class Interrupt(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-interrupt-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def interrupt(self, after, *arguments):
        """What was said, after Ctrl-C came so late; None: it had ended by itself."""
        process = subprocess.Popen([SELVAGE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            try:
                process.communicate(timeout=after)
                return None
            except subprocess.TimeoutExpired:
                pass
            process.send_signal(signal.SIGINT)
            begun = time.monotonic()
            said = process.communicate(timeout=60)[1].decode()
            self.assertLess(time.monotonic() - begun, PATIENCE, (arguments, after, said))
            if process.returncode == 0:
                return None  # at the same moment
            self.assertEqual(process.returncode, 130, (arguments, after, said))
            self.assertEqual(said.count("\n"), 1, said)
            self.assertIn("cancelled", said)
            return said
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def test_info(self):
        said = [self.interrupt(after, "info", LINE) for after in (0.8, 2, 0.2, 5)[:trials(4)]]
        self.assertEqual(said[:3].count(None), 0)  # the fourth may have ended

    def test_others(self):
        """Generating, writing, failing, comparing, routing."""
        all_verbs = (("topo", LINE, "-o", self.path("x.json")), ("convert", LINE, "-o", self.path("x.dot")),
                     ("faults", LINE, "--links", "5%", "-o", self.path("x.net")), ("diff", LINE, LINE),
                     ("route", "mesh:20000x1", "-e", "minhop", "-o", self.path("x.svr")))
        for arguments in all_verbs[::stride(2)]:
            for after in (0.5, 2)[:trials(2)]:
                self.interrupt(after, *arguments)
                self.assertEqual([name for name in os.listdir(self.directory) if not name.startswith("x.")], [])

    def test_a_long_calculation_in_a_library(self):
        """METIS does not ask; it is left where it is."""
        for after in (1, 3)[:trials(2)]:
            self.interrupt(after, "info", "random:switches=200000,links=1500000,total=200000")

    def test_progress_is_cleared(self):
        master, slave = terminal(self)
        process = subprocess.Popen([SELVAGE, "info", "mesh:300000x1"], stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        said = b""
        try:
            while True:
                piece = os.read(master, 65536)
                if not piece:
                    break
                if b"distances" in piece and b"distances" not in said:
                    process.send_signal(signal.SIGINT)
                said += piece
        except OSError:
            pass
        self.assertEqual(process.wait(PATIENCE), 130)
        os.close(master)
        self.assertIn(b"distances", said)
        self.assertRegex(said[said.rindex(b"\x1b[K") + 3:], rb"^selvage: cancelled[^\n]*\r?\n$")


class Bounded(unittest.TestCase):
    def test_long_lines_are_sampled(self):
        """Two of them: which terminals do not reach each other is exact."""
        with tempfile.TemporaryDirectory(prefix="selvage-interrupt-") as directory:
            net = os.path.join(directory, "cut.net")
            ok("faults", "mesh:%dx1" % LONG, "--port", "sw%d-0/3" % (LONG // 3 - 1), "-o", net, timeout=600)
            text = ok("info", net, timeout=600).out
            found = re.search(r"\ncomponents     2\ndiameter       at least (\d+) \(distances from \d+ of %d "
                              r"switches\)\n" % LONG, text)
            self.assertIsNotNone(found, text)
            self.assertTrue(LONG * 0.63 < int(found[1]) < LONG * 2 // 3, found[1])
            # Of a line of n switches n / 3; these have a ninth and four ninths of all pairs.
            mean = float(re.search(r"\nmean distance  ([\d.e+]+) between switches", text)[1])
            self.assertAlmostEqual(mean, LONG / 5, delta=LONG / 5 * 0.05)
            self.assertIn("\nunreachable    %d ordered pairs of terminals\n" % (2 * LONG // 3 * (LONG * 2 // 3)), text)

    def test_usual_fabrics_are_not(self):
        for spec in "torus:10x10x10", "kary:k=10,n=3", "mesh:3000x1":
            self.assertIsNone(ok("info", spec, "--json").json["sampled_switches"], spec)
        self.assertEqual(ok("info", "mesh:3000x1", "--json").json["diameter"], 2999)


if __name__ == "__main__":
    unittest.main()
