"""selvage metrics from outside: keys that stay, two directories side by side, job maps, and what is
refused with which exit code. The numbers themselves: tests/unit/test_loads.c, tests/oracle.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage  # noqa: E402


class Metrics(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-metrics-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def route(self, spec="torus:3x3,hosts=2", name="tables", engine="minhop"):
        ok("route", spec, "-e", engine, "-o", self.path(name), "--no-check")
        return self.path(name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def expect(self, code, message, *arguments, stdin=None):
        result = selvage("metrics", *arguments, stdin=stdin)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.strip().split("\n")), 1, result.err)
        self.assertEqual(result.out, "")

    def test_keys_that_stay(self):
        found = ok("metrics", self.route(), "--json").json
        for key in ("switches", "terminals", "channels", "pairs", "vls_used", "stretch", "vls"):
            self.assertIn(key, found)
        self.assertLessEqual({"min", "avg", "max", "sdv"}, set(found["efi"]))
        self.assertEqual(set(found["hops"]), {"avg", "max"})
        for key in ("jobs", "lost", "bisection", "histogram"):
            self.assertNotIn(key, found)

    def test_bounds(self):
        """A group of the dragonfly has 72 terminals and 70 cables, all others 1,008."""
        found = ok("metrics", self.route("dragonfly:a=12,p=6,h=6,g=15", engine="sssp"), "--json").json
        self.assertEqual(found["efi_bound"], -(-72 * 1008 // 70))
        self.assertEqual(found["efi_bound_kind"], "cluster")
        self.assertEqual(found["efi_bound_cut"], {"terminals": 72, "channels": 70})
        self.assertLess(found["efi_bound"], found["efi"]["max"])
        self.assertEqual(found["hops_bound"], found["hops"]["avg"])  # shortest paths
        self.assertIn("  bound of any routing (cluster) ", ok("metrics", self.path("tables")).out)
        one = ok("metrics", self.route("mesh:1,hosts=3", name="one"), "--json").json
        self.assertEqual((one["efi_bound"], one["efi_bound_kind"]), (0, "none"))
        both = ok("metrics", self.path("tables"), self.path("one")).out
        self.assertRegex(both, r"\n  bound of any routing +1037 +0 +-1037 +0.000\n")

    def test_text_has_all_parts(self):
        jobs = self.write("jobs", "host0 a\nhost5 a\nhost1 b\n")
        out = ok("metrics", self.route(), "--jobs", jobs, "--lost", "links", "--bisection", "9",
                 "--histogram", "3").out
        for text in ("routes on a channel: least", "hops / distance", "dark fibre, %",
                     "effective bisection bandwidth", "100 draws", "channels"):
            self.assertIn(text, out)

    def test_two_side_by_side(self):
        """Of different fabrics: one switch failed."""
        whole = self.route()
        ok("faults", "torus:3x3,hosts=2", "--switches", "1", "-o", self.path("broken.net"))
        broken = self.route(self.path("broken.net"), "broken", "updn")
        jobs = self.write("jobs", "".join("host%d j%d\n" % (i, i % 3) for i in range(18)))
        options = ("--jobs", jobs, "--lost", "switches", "--failures", "1", "--bisection", "5",
                   "--histogram", "4")
        result = ok("metrics", whole, broken, *options)
        rows = {line[:34].strip(): line[34:].split() for line in result.out.split("\n")}
        self.assertEqual(rows["switches"], ["9", "8", "-1", "0.889"])
        self.assertEqual(rows["terminals"], ["18", "16", "-2", "0.889"])
        self.assertEqual(rows["channels without routes"][0], "0")
        self.assertIn("% lost to 1 switches: expected", rows)
        self.assertIn("warning: ", result.err)  # two hosts are gone
        both = ok("metrics", whole, broken, "--json", *options).json
        self.assertEqual(set(both), {"a", "b"})
        self.assertEqual(both["a"]["histogram"]["width"], both["b"]["histogram"]["width"])
        self.assertEqual(both["b"]["jobs"]["unknown_lines"], 2)
        for name, directory in (("a", whole), ("b", broken)):
            alone = ok("metrics", directory, "--json", *options).json
            self.assertEqual(both[name].pop("tables"), directory)
            alone.pop("histogram")
            both[name].pop("histogram")
            self.assertEqual(both[name], alone)

    def test_same_bytes_at_any_number_of_threads(self):
        tables = self.route("random:switches=20,links=50,total=60,seed=2")
        jobs = self.write("jobs", "".join("host%d j%d\n" % (i, i % 7) for i in range(60)))
        options = ("--jobs", jobs, "--lost", "links", "--bisection", "200", "--json")
        outs = {ok("metrics", tables, *options, "--threads", n).out for n in ("1", "2", "9")}
        self.assertEqual(len(outs), 1)
        self.assertNotIn(ok("metrics", tables, *options, "--seed", "2").out, outs)

    def test_job_map_from_standard_input(self):
        tables = self.route()
        found = ok("metrics", tables, "--jobs", "-", "--json", stdin=b"host0 7\nhost3 7\n").json
        self.assertEqual(found["jobs"]["list"][0]["terminals"], 2)
        self.expect(2, "cannot both read standard input", tables, tables, "--jobs", "-")

    def test_nodes_that_are_not_there(self):
        tables = self.route()
        jobs = self.write("jobs", "host0 7\nelsewhere 7\n")
        result = ok("metrics", tables, "--jobs", jobs)
        self.assertEqual(result.err, "selvage: warning: %s:2: node 'elsewhere' is not in the "
                                     "fabric\n" % jobs)

    def test_bad_job_maps(self):
        tables = self.route()
        for text, what in (("host0 7\nhost1\n", ":2: node 'host1' has no job"),
                           ("host0 7 8\n", ":1: 'host0 7 8' is more than a node and a job"),
                           ("\"host0 7\n", ":1: a quote is not closed"),
                           ("host0 7\n\0\n", ":2: ")):
            jobs = self.write("jobs", text)
            self.expect(3, jobs + what, tables, "--jobs", jobs)
        self.assertEqual(selvage("metrics", tables, "--jobs", self.write("jobs", "x 7\n")).code, 3)
        self.expect(5, "cannot open", tables, "--jobs", self.path("nothing"))

    def test_bad_options(self):
        tables = self.route()
        for message, *options in (
                ("neither links nor switches", "--lost", "hosts"),
                ("not a list of ascending numbers", "--lost", "links", "--failures", "3,2"),
                ("not a list of ascending numbers", "--lost", "links", "--failures", "1,,2"),
                ("not a list of ascending numbers", "--lost", "links", "--failures", "many"),
                ("go with --lost", "--failures", "3"),
                ("go with --lost", "--trials", "3"),
                ("--trials: 0 is not in", "--lost", "links", "--trials", "0"),
                ("--histogram: 0 is not in", "--histogram", "0"),
                ("--bisection: 99999999999 is not in", "--bisection", "99999999999"),
                ("--bisection: 4294967295 is not in", "--bisection", "4294967295"),
                ("'x' is not a number", "--seed", "x"),
                ("one argument too many", tables, tables)):
            self.expect(2, message, tables, *options)
        self.expect(2, "1 argument is missing")

    def test_more_failures_than_can_be(self):
        self.expect(4, "only 0 of 1 links can fail", self.route("mesh:3,hosts=1"), "--lost", "links")

    def test_it_can_be_stopped(self):
        tables = self.route("torus:6x6,hosts=4")
        for options in (("--bisection", "10000000"), ("--lost", "links", "--trials", "1000000")):
            process = subprocess.Popen([SELVAGE, "metrics", tables, *options],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertEqual(out, b"")

    def test_tables_that_are_not_there(self):
        self.expect(5, "cannot open", self.path("nothing"))
        self.expect(5, "cannot open", self.route(), self.path("nothing"))


if __name__ == "__main__":
    unittest.main()
