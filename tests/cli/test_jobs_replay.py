"""selvage jobs make and selvage jobs replay from outside: what is printed and written, exit codes,
Ctrl-C, and the real log of Metacentrum."""
import csv
import os
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.command import SELVAGE, ok, real, selvage  # noqa: E402
from test_command import Base  # noqa: E402

TREE = "kary:k=4,n=2,hosts=4"
HISTORY = """JobID|Start|End|State|NodeList
1|2015-02-01T00:00:00|2015-02-01T02:00:00|COMPLETED|host[0-5]
2|2015-02-01T00:30:00|2015-02-01T04:00:00|COMPLETED|host[6-7]
3|2015-02-01T03:00:00|2015-02-01T06:00:00|TIMEOUT|host[2-3,8-11,14]
"""


class Make(Base):
    def test_what_is_told(self):
        out = ok("jobs", "make", TREE, "--days", "7", "-o", self.path("h")).out
        for word in ("hosts             16", "7 days from 2015-02-01", "several switches",
                     "utilisation", "switches a job", "output"):
            self.assertIn(word, out)
        lines = self.read("h").splitlines()
        self.assertEqual(lines[0], "JobID|Start|End|State|NodeList")
        told = ok("jobs", "make", TREE, "--days", "7", "--json").json
        self.assertEqual(told["jobs"], len(lines) - 1)
        self.assertEqual(told["output"], None)
        self.assertGreater(told["several_switches"], 0)
        for line in lines[1:]:
            self.assertRegex(line, r"^\d+\|2015-02-0[1-8]T\d\d:\d\d:\d\d\|2015-02-0[1-8]T\d\d:\d\d:"
                                   r"\d\d\|(COMPLETED|TIMEOUT)\|host(\d+|\[[0-9,-]+\])$")

    def test_standard_output(self):
        result = ok("jobs", "make", TREE, "--days", "7")
        ok("jobs", "make", TREE, "--days", "7", "-o", self.path("h"))
        self.assertEqual(result.out, self.read("h"))
        self.assertIn("% on several switches", result.err)
        self.assertEqual(result.out, ok("jobs", "make", TREE, "--days=7", "--seed=1").out)
        self.assertNotEqual(result.out, ok("jobs", "make", TREE, "--days=7", "--seed=2").out)

    def test_other_days_and_shares(self):
        told = ok("jobs", "make", TREE, "--begin", "2024-02-28", "--days", "3", "--json", "-o",
                  self.path("h")).json
        self.assertEqual(told["begin"], "2024-02-28T00:00:00Z")
        self.assertIn("|2024-02-29T", self.read("h"))
        told = ok("jobs", "make", "kary:k=8,n=2,hosts=8", "--multi", "50", "--json").json
        self.assertAlmostEqual(told["several_switches_percent"], 50, delta=2)

    def test_wrong_lines(self):
        for code, text, *options in (
                (2, "--load: 'x' is not a number", "--load", "x"),
                (2, "--place: 'worst' is neither first nor best", "--place", "worst"),
                (2, "--begin: 'monday' is no date", "--begin", "monday"),
                (2, "--multi finds the number", "--multi", "50", "--single", "3"),
                (2, "things want standard output", "--trace", "-"),
                (2, "are the same file", "--trace", self.path("x"), "-o", self.path("x")),
                (2, "--days: 99999999999 is not in 1…3660", "--days", "99999999999"),
                (2, "--days: 0 is not in 1…3660", "--days", "0"),
                (2, "--load: 1.5 is not in 0.001…1", "--load", "1.5"),
                (2, "--single: 101 is not in 0…100", "--single", "101"),
                (2, "--run: 169 is not in 0.0167…168", "--run", "169"),
                (2, "--usual: 0 is not in 2…", "--usual", "0"),
                (2, "--largest: 0 is not in 2…", "--largest", "0"),
                (2, "--begin: the warm-up begins before 1970", "--begin", "1970-01-02"),
                (2, "jobs of 17 nodes: there are 16", "--largest", "17")):
            self.expect_error(code, text, "jobs", "make", TREE, *options)
        self.expect_error(4, "need at least two", "jobs", "make", "mesh:1,hosts=1")
        self.expect_error(5, "No such file", "jobs", "make", TREE, "-o", self.path("no/h"))
        # Both files or neither.
        self.expect_error(5, "No such file", "jobs", "make", TREE, "-o", self.path("h"), "--trace",
                          self.path("no/t"))


class Replay(Base):
    def test_what_is_told(self):
        history = self.write("h", HISTORY)
        result = ok("jobs", "replay", TREE, history)
        for word in ("samples         36, every 10 min, 2015-02-01T00:00:00 to 2015-02-01T05:50:00",
                     "sar better than dfsssp", "sar better than ftree", "sar better than updn",
                     "dark fibre"):
            self.assertIn(word, result.out)
        self.assertNotIn("NO:", result.out)
        told = ok("jobs", "replay", TREE, history, "--json", "--csv", self.path("csv"), "--svg",
                  self.path("svg"), "--engines", "dfsssp,sar,nue+jobs", "--against", "sar").json
        self.assertEqual([e["engine"] for e in told["engines"]], ["dfsssp", "sar", "nue+jobs"])
        self.assertEqual([e["follows_jobs"] for e in told["engines"]], [False, True, True])
        self.assertEqual([e["tables"] for e in told["engines"]], [1, 2, 2])
        self.assertEqual((told["scenes"], told["idle_samples"]), (3, 6))
        self.assertEqual({row["than"] for row in told["improvements"]}, {"dfsssp", "nue+jobs"})
        rows = list(csv.DictReader(self.read("csv").splitlines()))
        self.assertEqual(len(rows), 36 * 3)
        picture = xml.etree.ElementTree.fromstring(self.read("svg"))
        self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")
        words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
        for word in (TREE, "dfsssp", "sar", "nue+jobs", "days", "dark fibre [%]"):
            self.assertIn(word, words)

    def test_part_of_a_history(self):
        history = self.write("h", HISTORY)
        told = ok("jobs", "replay", TREE, history, "--engines", "sar", "--every", "5m", "--begin",
                  "+3h", "--until", "2015-02-01T05:00", "--json").json
        self.assertEqual((told["samples"], told["scenes"], told["begin"], told["last"]),
                         (24, 1, "2015-02-01T03:00:00Z", "2015-02-01T04:55:00Z"))
        minutes = ok("jobs", "replay", TREE, history, "--engines", "sar", "--begin", "+180m", "--until", "+300m",
                     "--every", "5min", "--json").json
        self.assertEqual([minutes[key] for key in ("samples", "begin", "last")],
                         [told[key] for key in ("samples", "begin", "last")])
        for every, text in (("90s", "90 s"), ("1s", "1 s"), ("120s", "2 min"), ("1h", "1 h"), ("100d", "100 d")):
            out = ok("jobs", "replay", TREE, history, "--engines", "updn", "--until", "+2h", "--every", every).out
            self.assertIn(", every %s, " % text, out)

    def test_hosts_in_order(self):
        """Names that no fabric knows, taken in order, are what their numbers say."""
        by_name = self.write("h", HISTORY)
        by_order = self.write("o", HISTORY.replace("host", "n") +
                              "9|2015-02-01T05:00:00|2015-02-01T06:00:00|COMPLETED|n[0-15]\n")
        self.write("n", HISTORY + "9|2015-02-01T05:00:00|2015-02-01T06:00:00|COMPLETED|host[0-15]\n")
        one = ok("jobs", "replay", TREE, self.path("n"), "--csv", self.path("a")).out
        two = ok("jobs", "replay", TREE, by_order, "--hosts", "order", "--csv", self.path("b")).out
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertNotIn("unknown", one + two)
        some = ok("jobs", "replay", "kary:k=3,n=2,hosts=3", by_name)
        self.assertIn("unknown hosts   4 at most", some.out)
        self.assertIn("warning: %s:4: host 'host9' is not in the fabric\n" % by_name, some.err)
        self.assertEqual(some.err.count("is not in the fabric"), 4)
        self.expect_error(4, "16", "jobs", "replay", "kary:k=3,n=2,hosts=3", by_order, "--hosts",
                          "order")

    def test_wrong_lines(self):
        history = self.write("h", HISTORY)
        for code, text, *options in (
                (2, "--every: '0s' is no length", "--every", "0s"),
                (2, "--every: '10' is no length", "--every", "10"),
                (2, "--vls: 0 is not in 1…15", "--vls", "0"),
                (2, "--vls: 16 is not in 1…15", "--vls", "16"),
                (2, "--begin: 'dawn' is neither", "--begin", "dawn"),
                (2, "--hosts: 'luck' is neither name nor order", "--hosts", "luck"),
                (2, "--engines: '' is no engine", "--engines", "sar,"),
                (2, "--engines: 'nue+x' is no engine", "--engines", "nue+x"),
                (2, "--engines: 'sar' is there twice", "--engines", "sar,sar"),
                (2, "--against: 'nue' is none of", "--against", "nue"),
                (2, "--format: 'pbs' is none of", "--format", "pbs"),
                (2, "things want standard output", "--csv", "-"),
                (2, "are the same file", "--csv", self.path("x"), "--svg", self.path("x")),
                (2, "are the same file", "--csv", self.path("x"), "--svg", self.path("./x")),
                (2, "no engine 'magic'", "--engines", "magic"),
                (2, "engine updn follows no jobs", "--engines", "updn+jobs"),
                (3, "is empty", "--begin", "+9h"),
                (2, "the time to replay is empty", "--until", "+0s"),
                (5, "No such file", "--csv", self.path("x"), "--svg", self.path("no/x"))):
            self.expect_error(code, text, "jobs", "replay", TREE, history, *options)
        self.expect_error(3, "not one host of the history is in the fabric", "jobs", "replay", TREE,
                          self.write("h", HISTORY.replace("host", "node")))
        history = self.write("h", HISTORY)
        self.expect_error_lines(4, "no engine has tables for this fabric", "jobs", "replay", "torus:4x4,hosts=1",
                                history, "--engines", "ftree,dmodk")
        self.expect_error(3, "h:2: ", "jobs", "replay", TREE,
                          self.write("h", HISTORY.replace("host[0-5]", "host[5-0]")))

        self.expect_error(3, "h: tells no times of jobs: give --begin and --until", "jobs", "replay", TREE,
                          self.write("h", "host0 a\nhost5 a\n"))

    def expect_error_lines(self, code, text, *arguments):
        """As expect_error, below warnings."""
        result = selvage(*arguments)
        self.assertEqual((result.code, result.out), (code, ""), result.err)
        self.assertIn(text, result.err.splitlines()[-1])

    def test_engines_that_cannot_do_the_fabric(self):
        history = self.write("h", HISTORY)
        result = ok("jobs", "replay", "torus:4x4,hosts=1", history)
        self.assertRegex(result.out, r"\nftree +0 +0 +0\.000  - \(none for this fabric\)\n")
        self.assertRegex(result.out, r"\nsar +5 +\d+ +\d+\.\d+  all\n")
        self.assertIn("warning: no tables of ftree: ftree: this is no tree", result.err)
        told = ok("jobs", "replay", "torus:4x4,hosts=1", history, "--json", "--csv", self.path("csv"), "--svg",
                  self.path("svg")).json
        self.assertEqual([(e["tables"], e["infeasible"]) for e in told["engines"]], [(5, 0), (1, 0), (0, 1), (1, 0)])
        self.assertEqual(set(told["engines"][2]["mean"].values()), {None})
        xml.etree.ElementTree.fromstring(self.read("svg"))
        # where nothing is ever routed nothing is proven
        one = self.write("one", HISTORY.splitlines()[0] + "\n2|2015-02-01T00:30:00|2015-02-01T04:00:00|COMPLETED|host6\n")
        self.assertRegex(ok("jobs", "replay", TREE, one, "--engines", "sar,updn").out, r"\nsar +0 +0 +0\.000  -\n")

    def test_many_engines_have_room_and_looks_of_their_own(self):
        history = self.write("h", HISTORY)
        names = ["sar:rounds=%d" % i for i in range(1, 9)] + ["weave:rounds=%d" % i for i in range(1, 9)]
        ok("jobs", "replay", TREE, history, "--every", "2h", "--engines", ",".join(names), "--svg", self.path("svg"))
        picture = xml.etree.ElementTree.fromstring(self.read("svg"))
        space = "{http://www.w3.org/2000/svg}"
        width, height = float(picture.get("width")), float(picture.get("height"))
        places, looks = set(), set()
        for text in picture.iter(space + "text"):
            x, y = float(text.get("x")), float(text.get("y"))
            self.assertTrue(0 <= y <= height, text.text)
            if text.text in names:
                self.assertLessEqual(x + 7 * len(text.text), width)
                places.add((x, y))
        self.assertEqual(len(places), 16)
        marks = [path for path in picture.iter(space + "path") if path.get("stroke-width") == "3"]
        lines = [path for path in picture.iter(space + "path") if path.get("stroke-width") == "1.3"]
        for paths, count in ((marks, 16), (lines, 64)):
            looks = {(path.get("stroke"), path.get("stroke-dasharray")) for path in paths}
            self.assertEqual((len(paths), len(looks)), (count, 16))
        lowest = max(y for _, y in places)
        self.assertLess(lowest, min(float(rect.get("y")) for rect in picture.iter(space + "rect") if rect.get("y")))

    def test_any_name_of_a_fabric_makes_a_picture(self):
        history = self.write("h", HISTORY)
        for name in ("a\uffff<&>'\".txt", "b\x1b\x7f\u0085.txt"):
            net = self.write(name, ok("topo", TREE).out)
            ok("jobs", "replay", net, history, "--every", "2h", "--engines", "updn", "--svg", self.path("svg"))
            with open(self.path("svg"), "rb") as file:
                xml.etree.ElementTree.fromstring(file.read())

    def test_tables_that_could_deadlock_are_told(self):
        result = selvage("jobs", "replay", "torus:4x4,hosts=1", self.write("h", HISTORY),
                         "--engines", "sar,sssp", "--json")
        self.assertEqual(result.code, 1, result.err)
        self.assertEqual([e["not_deadlock_free"] for e in result.json["engines"]], [0, 1])

    def test_interrupt_leaves_nothing(self):
        ok("jobs", "make", "taurus", "--days", "20", "-o", self.path("h"))
        before = sorted(os.listdir(self.directory))
        process = subprocess.Popen([SELVAGE, "jobs", "replay", "taurus", self.path("h"), "--csv",
                                    self.path("csv"), "--svg", self.path("svg")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(out, b"")
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_metacentrum(self):
        log = real("swf", "metacentrum-wagap-2013.swf")
        if log is None:
            self.skipTest("the log of Metacentrum is not there")
        told = ok("jobs", "replay", "kary:k=7,n=2,hosts=7", log, "--hosts", "order", "--json").json
        self.assertGreater(told["scenes"], 200)
        self.assertEqual(told["unknown_hosts"], 0)
        for engine in told["engines"]:
            self.assertEqual((engine["infeasible"], engine["not_connected"],
                              engine["not_deadlock_free"], engine["undecided"]), (0, 0, 0, 0))
        means = {engine["engine"]: engine["mean"] for engine in told["engines"]}
        for other in ("dfsssp", "ftree", "updn"):
            self.assertLess(means["sar"]["max_efi"], means[other]["max_efi"])
            self.assertLess(means["sar"]["dark_fibre_percent"], means[other]["dark_fibre_percent"])
            self.assertGreater(means["sar"]["job_links_avg"], means[other]["job_links_avg"])


if __name__ == "__main__":
    unittest.main()
