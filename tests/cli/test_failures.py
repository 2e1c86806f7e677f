"""selvage faults --years and selvage faults fit from outside: what is printed, exit codes, pairs of
seeds, and a model that goes from one into the other."""
import datetime
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.command import ok  # noqa: E402
from test_command import Base  # noqa: E402

TORUS = "torus:4x4x3,hosts=2"
MODEL = "link=4%,switch=1%,adapter=2%,shape=0.9"
LOG = """# what broke, and how long it took to repair
2010-09-03          link      30h
2010-09-20T14:05    switch    2d
2010-11-02 08:30    HCA       36min   # node 17
2011-01-15          link      -
2011-01-15          link
2011-06-30T23:59Z   software  5min
2011-12-24          cable     3d
2012-05-01          unspecified
"""


class Years(Base):
    def names(self, *options, model=MODEL):
        ok("faults", TORUS, "--model", model, "--save-list", self.path("list"), "-o", "/dev/null",
           *options)
        return {line.split("#")[0].rstrip() for line in self.read("list").splitlines()}

    def test_what_is_told(self):
        found = ok("faults", "tsubame2:rail=1", "--years", "5", "--model", "tsubame2", "--json").json
        self.assertEqual(found["model"], "link=0.9%,switch=1%,adapter=0.024%,shape=1.07,over=3")
        self.assertEqual(found["years"], 5)
        # 1 - 0.99^(3 (5/3)^1.07) of 258 switches, and so on
        self.assertAlmostEqual(found["expected"]["switches"], 13.093, 3)
        self.assertAlmostEqual(found["expected"]["links"], 165.729, 3)
        self.assertGreater(found["failed"]["links"], 120)
        self.assertLess(found["failed"]["links"], 215)
        self.assertEqual(found["cut_off_terminals"], 0)
        result = ok("faults", "mesh:9", "--years", "99", "--model", "link=50%", "-o", "/dev/null")
        self.assertIn("failed: 0 links, 0 switches, 0 adapters; 0 terminals went with them; "
                      "8 critical failures repaired\n", result.err)
        self.assertIn("expected after 99 years: 8.0 links, 0.0 switches, 0.0 adapters\n", result.err)

    def test_seeds_repeat_and_differ(self):
        one = self.names("--years", "5")
        self.assertEqual(one, self.names("--years", "5", "--seed", "1"))
        self.assertNotEqual(one, self.names("--years", "5", "--seed", "2"))

    def test_what_failed_after_three_years_is_among_that_of_five(self):
        """Cables that went with a switch since then are not listed, so switches do not fail here."""
        for seed in map(str, range(1, 9)):
            less, more = (self.names("--years", years, "--seed", seed, model="link=4%,adapter=2%,shape=0.9")
                          for years in ("3", "5.5"))
            self.assertLess(less, more)

    def test_named_failures_come_first(self):
        found = ok("faults", TORUS, "--years", "0", "--model", "deimos", "--switch", "sw0-0-0",
                   "--json").json
        self.assertEqual(found["failed"], {"links": 0, "switches": 1, "adapters": 0})

    def test_no_years_no_failures(self):
        self.assertEqual(ok("faults", TORUS, "--years", "0", "--model", "deimos").out,
                         ok("topo", TORUS).out)

    def test_help_tells_sources(self):
        text = ok("faults", "--model", "help").out
        for piece in ("deimos: ", "tsubame2: ", "lanl2: ", "shape=0.76 ", "shape=1.07 ",
                      "shape=0.95 ", "link=? ", "not published: ", "Table 4.1"):
            self.assertIn(piece, text)
        found = ok("faults", "--model", "help", "--json").json["presets"]
        self.assertEqual([preset["name"] for preset in found], ["deimos", "tsubame2", "lanl2"])
        for preset in found:
            given = [value["name"] + "=" + (value["value"] or "1%") for value in preset["values"]]
            self.assertEqual([value["name"] for value in preset["values"]],
                             ["link", "switch", "adapter", "shape", "over"])
            ok("faults", TORUS, "--years", "1", "--model", ",".join(given), "--json")

    def test_usage(self):
        for arguments, text in (
                ((), "1 argument is missing"),
                ((TORUS,), "what is to fail?"),
                ((TORUS, "--years", "5"), "--years and --model go together"),
                ((TORUS, "--model", "deimos"), "--years and --model go together"),
                ((TORUS, "--model", "deimos", "--years", "-1"), "'-1' is not a number from 0 to 1000"),
                ((TORUS, "--model", "deimos", "--years", "1001"), "not a number from 0 to 1000"),
                ((TORUS, "--model", "deimos", "--years", "5y"), "not a number from 0 to 1000"),
                ((TORUS, "--model", "deimos", "--years", "5", "--links", "1"), "stands for --links"),
                ((TORUS, "--model", "deimos", "--years", "5", "--only", "*"), "any part"),
                ((TORUS, "--model", "titan", "--years", "5"), "--model: 'titan' is neither a preset"),
                ((TORUS, "--model", "lanl2", "--years", "5"), "add link=P%"),
                ((TORUS, "--model", "link=2", "--years", "5"), "from 0% to 99.9%, not '2'")):
            self.expect_error(2, text, "faults", *arguments)


class Fit(Base):
    OBSERVED = ("--since", "2010-09-01", "--until", "2012-08-31")

    def setUp(self):
        super().setUp()
        self.log = self.write("failures.log", LOG)

    def test_the_table(self):
        text = ok("faults", "fit", self.log, *self.OBSERVED, "--links", "400", "--switches", "40",
                  "--adapters", "100").out
        self.assertTrue(text.startswith("observed 2.001 years, from 2010-09-01 00:00 to "
                                        "2012-09-01 00:00\n"), text)
        self.assertRegex(text, r"\nlink +4 +50\.0% +66\.7% +0\.5% \(0\.136 to 1\.28\) +182\.8 d +2\.1 d ")
        self.assertRegex(text, r"\nadapter +1 +12\.5% +16\.7% .* 36\.0 min +- +-\n")
        self.assertIn("\nhardware: failures get rarer with age (95 % sure)\n", text)
        model = text.splitlines()[-1]
        self.assertRegex(model, r"^link=0\.498412%,switch=1\.24138%,adapter=0\.498412%,"
                                r"shape=0\.\d+,over=2\.00137$")
        ok("faults", TORUS, "--years", "5", "--model", model, "--json")

    def test_json(self):
        found = ok("faults", "fit", self.log, *self.OBSERVED, "--switches", "40", "--json")
        self.assertIn("the model lets no link fail, because it is not known how many", found.err)
        self.assertIn("the model lets no adapter fail", found.err)
        found = found.json
        self.assertEqual(found["outside"], 0)
        self.assertEqual(found["begin"], "2010-09-01 00:00")
        self.assertIsNone(found["kinds"]["link"]["annual_rate"])
        self.assertAlmostEqual(found["kinds"]["link"]["mttr_hours"], (30 + 72) / 2)
        self.assertEqual(found["kinds"]["link"]["repairs"], 2)
        self.assertAlmostEqual(found["kinds"]["switch"]["annual_rate"]["value"],
                               1 / 40 / found["years"])
        self.assertEqual(found["all"]["failures"], 8)
        self.assertTrue(found["model"].startswith("link=0%,switch=1.2"))
        self.assertIsNone(ok("faults", "fit", self.log, "--json").json["model"])

    def test_from_standard_input_and_without_parts(self):
        text = ok("faults", "fit", "-", stdin=b"1d link\n30d switch\n400d link\n").out
        self.assertTrue(text.startswith("observed 1.095 years, from 0.0 days to 400.0 days (the last "
                                        "failure)\n"), text)
        self.assertTrue(text.endswith("no model: --links, --switches, --adapters tell how many parts "
                                      "there are\n"), text)

    def test_trends_are_told(self):
        for power, word in ((3, "rarer"), (1 / 3, "more frequent")):
            log = "".join("%.4fd link\n" % (1000 * ((i + 0.5) / 50) ** power) for i in range(50))
            text = ok("faults", "fit", "-", "--span", "1000d", stdin=log.encode()).out
            self.assertIn("\nhardware: failures get %s with age (95 %% sure)\n" % word, text)
        log = "".join("%dd link\n" % day for day in range(1, 1000, 20))
        self.assertIn("\nhardware: a constant rate fits (shape 1 is within the interval)\n",
                      ok("faults", "fit", "-", "--span", "1000d", stdin=log.encode()).out)
        self.assertIn("too few failures to tell a shape",
                      ok("faults", "fit", "-", "--span", "1000d", stdin=b"1d link\n").out)

    def test_what_is_outside_is_left_out(self):
        text = ok("faults", "fit", self.log, "--since", "2010-10-01", "--span", "1y").out
        self.assertIn("\n4 failures before or after that are left out\n", text)

    def test_help(self):
        text = ok("faults", "fit", "--help").out
        self.assertTrue(text.startswith("usage: selvage faults fit LOG [options]\n"))
        self.assertIn("selvage faults fit LOG", ok("faults", "--help").out)

    def test_usage(self):
        for arguments, text in (
                ((), "1 argument is missing: selvage faults fit LOG"),
                ((self.log, "--until", "tomorrow"), "--until: 'tomorrow' is neither a date nor"),
                ((self.log, "--until", "5d"), "'5d' is a number, and the log's times are dates"),
                ((self.log, "--since", "2010-02-30"), "--since: '2010-02-30' is neither"),
                ((self.log, "--span", "2"), "--span: '2' is not a number with s, min, h, d or y"),
                ((self.log, "--span", "0d"), "nothing can be observed in no time"),
                ((self.log, "--span", "2y", "--until", "2012-01-01"), "both tell the end"),
                ((self.log, "--links", "many"), "--links: 'many' is not a number")):
            self.expect_error(2, text, "faults", "fit", *arguments)

    def test_bad_input(self):
        bad = self.write("bad.log", LOG + "2012-06-01 router\n")
        self.expect_error(3, "bad.log:10: 'router' is not link, switch, adapter, software or "
                             "unspecified", "faults", "fit", bad)
        self.expect_error(3, "the observation ends before it begins", "faults", "fit", self.log,
                          "--since", "2013-01-01")
        self.expect_error(3, "<stdin>:1: 'vendid=0x0' is neither a date", "faults", "fit", "-",
                          stdin=b"vendid=0x0\n")
        self.expect_error(5, "missing.log", "faults", "fit", self.path("missing.log"))

    def test_infeasible(self):
        self.expect_error(4, "the log has no failures: nothing to fit", "faults", "fit", "-",
                          stdin=b"# all is well\n")
        self.expect_error(4, "no link, switch or adapter failed in the time observed", "faults", "fit",
                          self.log, "--since", "2012-01-01")
        log = "".join("%dd link\n" % day for day in range(1, 300, 10))
        self.expect_error(4, "30 failures of 3 links in 1 years: more than a model can hold",
                          "faults", "fit", "-", "--links", "3", "--span", "1y", stdin=log.encode())


class Beginning(unittest.TestCase):
    """Without the day on which a machine began, its log says nothing about age."""

    def fit(self, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            for month in range(20):
                day = datetime.date(2012, 1, 1) + datetime.timedelta(days=30 * month)
                file.write("%s 00:00:05 link\n" % day)
            file.flush()
            return ok("faults", "fit", file.name, "--links", "1000", *options).out

    def test_unknown(self):
        out = self.fit()
        self.assertIn("cannot be told without the day", out)
        self.assertNotIn("sure", out)
        self.assertNotIn("shape=0", out)

    def test_known(self):
        out = self.fit("--since", "2011-12-01")
        self.assertNotIn("cannot be told", out)
        self.assertIn("constant rate fits", out)


if __name__ == "__main__":
    unittest.main()
