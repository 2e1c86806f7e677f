"""Texts of a study's answers as they stand: a small study whose figures can be followed by hand.
A changed text is changed here, on purpose.
"""
import os
import shutil
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.study import Database, answer, faults, run  # noqa: E402

EXCHANGE = {"traffic": "exchange", "profile": "qdr", "message": 20480}


def demo(path):
    """A small study whose figures can be followed by hand: lines 400 - 4x, 340 - 2x and 420 - x."""
    base = Database(path)
    base.fabric("torus:4x4,hosts=2", 16, 32, 100)
    for engine, top, slope in (("dfsssp", 400, -4), ("nue", 340, -2), ("minhop", 420, -1)):
        for percent in (0, 10, 40):
            for seed in (1, 2, 3) if percent else (0,):
                status = "ok" if engine != "minhop" else "deadlock" if seed == 2 else "unsafe"
                words = {"ok": "", "unsafe": "sw1 can wait for itself", "deadlock": "after 7 us"}[status]
                base.cell("torus:4x4,hosts=2", engine, faults("link", percent) if percent else None,
                          seed, status, words, links_failed=percent, switches_failed=0, terminals=32,
                          throughput=top + slope * percent + (seed - 2 if seed else 0), vls_needed=2,
                          efi_max=40, route_seconds=0.5, **EXCHANGE)
    base.cell("torus:4x4,hosts=2", "ftree", None, 0, "engine", "no tree: 'sw1' has no level", **EXCHANGE)
    return base.done()


# answer, format, options, text
TEXTS = [
    ("summary", "text", {}, """\
What to use
Of the engines that are ok in every cell, the one with the most throughput in the mean over all
amounts of failures, and the next after it; the difference is of both means, seed by seed, with its
95 % confidence.

fabric             traffic                    failures  engine  fault-free (GB/s)  after      throughput (GB/s)  a terminal (GB/s)  kept (%)  next  difference (GB/s)  ± (GB/s)  told apart
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     dfsssp                400  links 40%                240             7.5000      60.0  nue              26.667         0  yes

torus:4x4,hosts=2, exchange 20480 bytes, qdr, links: use dfsssp: 400 GB/s without failures, 240 GB/s
(60 %) after links 40%. Next is nue, 26.67 ± 0 GB/s below in the mean over 3 seeds. From about 30
failed links on, nue is better (between 30.0 and 30.0 they cannot be told apart). Not measured with
these failures: ftree. Not usable: minhop (can deadlock 5, deadlocked in 2 of 7 cells).
"""),
    ("usability", "text", {"table": "usability"}, """\
Which engine can be used where
o: deadlock-free and complete; c: can deadlock, but did not; d: deadlocked in the simulation; i:
incomplete; r: refused; x: cannot be told. With numbers of cells where they differ, over all
failures. (The papers' o is o or c.)

fabric             dfsssp  nue  minhop  ftree
torus:4x4,hosts=2  o       o    c5 d2   r
"""),
    ("usability", "text", {"table": "usability-words"}, """\
Why cells failed
The first failing cell's own words, and how many ended so.

fabric             faults     engine  end           cells  words
torus:4x4,hosts=2  none       minhop  can deadlock      1  sw1 can wait for itself
torus:4x4,hosts=2  none       ftree   refused           1  no tree: 'sw1' has no level
torus:4x4,hosts=2  links 10%  minhop  can deadlock      2  sw1 can wait for itself
torus:4x4,hosts=2  links 10%  minhop  deadlock          1  after 7 us
torus:4x4,hosts=2  links 40%  minhop  can deadlock      2  sw1 can wait for itself
torus:4x4,hosts=2  links 40%  minhop  deadlock          1  after 7 us
"""),
    ("degradation", "text", {"table": "degradation-lines"}, """\
Throughput over the number of failures: regression
A line over all measured cells: throughput = intercept + slope × failed parts (links, switches, or
both together), with 95 % confidence of both.

fabric             traffic                    failures  engine  cells  intercept (GB/s)  intercept ± (GB/s)  slope (GB/s a failure)  slope ± (GB/s a failure)    R²  slope/intercept (% a failure)  fault-free (GB/s)  safe
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     dfsssp      7               400              1.4291                      -4                  0.052947  1.00                         -1.000                400  yes
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     nue         7               340              1.4291                      -2                  0.052947  1.00                         -0.588                340  yes
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     minhop      5               420              2.5611                      -1                  0.098212  1.00                         -0.238                420  no
"""),
    ("degradation", "text", {"table": "degradation-best"}, """\
The best engine for each amount of failures
By mean throughput, of engines that are ok in all cells of the row; the difference to the next is of
paired cells, and those that it cannot be told apart from are named. Faster: one that failed or can
deadlock in some cell.

fabric             traffic                    failures  faults     best    throughput (GB/s)  next    difference (GB/s)  ± (GB/s)  cannot be told from  faster, not safe  its throughput (GB/s)
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     none       dfsssp                400  nue                    60         -  -                    minhop                              420
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     links 10%  dfsssp                360  nue                    40         0  -                    minhop                              410
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     links 40%  nue                   260  dfsssp                 20         0  -                    minhop                              380
"""),
    ("degradation", "csv", {"table": "degradation-crossings"}, """\
fabric,traffic,failures,from,to,at,low,high,of all links (%),throughput (GB/s),cells,switch
"torus:4x4,hosts=2","exchange 20480 bytes, qdr",links,dfsssp,nue,30,30,30,30,280,7,yes
"""),
    ("lifetime", "text", {"links": "0.1"}, """\
Years that a fabric lasts, by regressions
Years until the regression line of throughput over failures falls below 80 % of the fault-free one,
if 10 % of all links and 0 % of all switches fail each year.

fabric             traffic                    failures  engine  threshold (GB/s)  failures a year  failures until then  years  low (years)  high (years)  simulated (years)  remark
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     dfsssp               320            10.00                 20.0   2.00         1.98          2.02               4.00  -
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     nue                  272            10.00                 34.0   3.40         3.35          3.46               4.00  -
torus:4x4,hosts=2  exchange 20480 bytes, qdr  links     minhop               336            10.00                 84.0   8.40         7.81          9.12               4.00  extrapolated
"""),
    ("vls", "csv", {}, """\
# vls
fabric,faults,dfsssp,nue,minhop,ftree
"torus:4x4,hosts=2",none,2,2,2,
"torus:4x4,hosts=2",links 10%,2,2,2,
"torus:4x4,hosts=2",links 40%,2,2,2,

# vls-range
fabric,faults,engine,cells,routed,min,mean,±,max,max used
"torus:4x4,hosts=2",none,dfsssp,1,1,2,2,,2,
"torus:4x4,hosts=2",none,nue,1,1,2,2,,2,
"torus:4x4,hosts=2",none,minhop,1,1,2,2,,2,
"torus:4x4,hosts=2",none,ftree,1,0,,,,,
"torus:4x4,hosts=2",links 10%,dfsssp,3,3,2,2,0,2,
"torus:4x4,hosts=2",links 10%,nue,3,3,2,2,0,2,
"torus:4x4,hosts=2",links 10%,minhop,3,3,2,2,0,2,
"torus:4x4,hosts=2",links 40%,dfsssp,3,3,2,2,0,2,
"torus:4x4,hosts=2",links 40%,nue,3,3,2,2,0,2,
"torus:4x4,hosts=2",links 40%,minhop,3,3,2,2,0,2,
"""),
    ("compare", "text", {"a": "nue", "b": "dfsssp", "table": "compare"}, """\
Compared over all cells
A: nue. B: dfsssp. Means over the pairs of cells where both have a value; ± is of the mean
difference (95 %).

measure                        unit  pairs       A       B   B - A       ±  B / A  A better  B better  equal  told apart
throughput                     GB/s      7  297.14  314.29  17.143  32.792  1.058         3         4      0  no
EFI, most routes on a channel  -         7   40.00   40.00   0.000   0.000  1.000         0         0      7  no
VLs needed                     -         7    2.00    2.00   0.000   0.000  1.000         0         0      7  no
seconds to route               s         7    0.50    0.50   0.000   0.000  1.000         0         0      7  no
"""),
    ("ebb", "text", {}, """\
Effective bisection bandwidth
The share of full bandwidth that a flow gets in the mean when random halves of the terminals send to
each other.

(nothing)
"""),
]


class Texts(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-answers-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "study.db")
        demo(self.path)

    def test_texts(self):
        for name, form, options, text in TEXTS:
            with self.subTest(name=name, options=options):
                self.assertEqual(run(self.path, name, form, **options), (0, text, ""))

    def test_several_tables_as_csv(self):
        code, out, _ = run(self.path, "vls", "csv")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("# vls\nfabric,faults,dfsssp,nue,minhop,ftree\n"), out)
        self.assertIn("\n\n# vls-range\nfabric,faults,engine,cells,", out)

    def test_what_is_refused(self):
        for code, message, arguments, options in (
                (3, "no answer is called 'beauty'", ("beauty",), {}),
                (3, "there is no table 'x' in this answer", ("vls",), {"table": "x"}),
                (3, "compare needs two engines or two databases", ("compare",), {"a": "nue"}),
                (3, "no cells of 'hypernue'", ("compare",), {"a": "nue", "b": "hypernue"}),
                (5, "cannot open '/nowhere/b.db'", ("compare",), {"a": "nue", "other": "/nowhere/b.db"})):
            found = run(self.path, *arguments, "text", **options)
            self.assertEqual((found[0], found[1]), (code, ""), found)
            self.assertIn(message, found[2])
            self.assertEqual(found[2].count("\n"), 1)

    def test_plans_and_fabrics(self):
        db = sqlite3.connect(self.path)
        db.execute("INSERT INTO plan VALUES (1, 'run', 'words', '1', 2)")
        db.execute("INSERT INTO planned SELECT 1, id, id FROM cell WHERE engine = 'nue' AND seed < 2")
        db.commit()
        code, out, _ = run(self.path, "usability", "csv", table="usability", plan=1)
        self.assertEqual((code, out), (0, "fabric,nue\n\"torus:4x4,hosts=2\",o\n"))
        code, out, _ = run(self.path, "usability", "csv", table="usability", fabric="other")
        self.assertEqual((code, out), (0, "fabric\n"))

    def test_cells_without_results(self):
        base = sqlite3.connect(self.path)
        base.execute("DELETE FROM result WHERE cell IN (SELECT id FROM cell WHERE seed = 3)")
        base.commit()
        self.assertIn("6 cells have no result yet.", run(self.path, "usability", "text")[1])
        self.assertIn("6 cells have no result yet.", run(self.path, "summary", "text")[1])
        base.execute("DELETE FROM cell WHERE id NOT IN (SELECT cell FROM result) AND id NOT IN"
                     " (SELECT max(id) FROM cell WHERE seed = 3)")
        base.commit()
        self.assertIn("1 cell has no result yet.", run(self.path, "usability", "text")[1])


class Judgements(unittest.TestCase):
    """Cells that say less than they seem to."""

    def setUp(self):
        directory = tempfile.mkdtemp(prefix="selvage-answers-")
        self.addCleanup(shutil.rmtree, directory)
        self.path = os.path.join(directory, "study.db")
        self.base = Database(self.path)
        self.base.fabric("t", 16, 32, 100)

    def cell(self, engine, level=None, seed=0, throughput=100, status="ok", fabric="t", **values):
        values = dict({"links_failed": 0, "switches_failed": 0, "terminals": 32}, **values)
        return self.base.cell(fabric, engine, level, seed, status, values.pop("words", ""),
                              throughput=throughput if status == "ok" else None, **EXCHANGE, **values)

    def answer(self, name, **options):
        self.base.done()
        return answer(self.path, name, **options)

    def test_no_lines_over_years(self):
        """Adapters fail there too, and no rate of theirs is given."""
        for engine in ("nue", "lash"):
            self.cell(engine)
            for year in (1, 2, 3):
                self.cell(engine, faults("years", year, "years"), 1, 100 - 9 * year, links_failed=year,
                          adapters_failed=2 * year)
                self.cell(engine, faults("link", year), 1, 100 - 9 * year, links_failed=year)
        tables = self.answer("lifetime", links="0.1")
        self.assertEqual({row["failures"] for row in tables["lifetime-lines"].rows}, {"links"})
        self.assertEqual({row["failures"] for row in tables["lifetime"].rows}, {"years"})
        self.assertEqual(tables["lifetime-lines"].notes,
                         ["Fabrics that aged by years are in the table lifetime only."])

    def undrawable(self, status, words=""):
        for engine, top in (("nue", 100), ("lash", 90)):
            self.cell(engine, None, 0, top)
            for seed in (1, 2, 3):
                self.cell(engine, faults("link", 10), seed, top - 20 - seed, links_failed=10)
                self.cell(engine, faults("link", 90), seed, None, status, words=words, links_failed=None,
                          switches_failed=None)
        tables = self.answer("summary")
        row = tables["summary"].rows[0]
        self.assertEqual((row["engine"], row["next"], row["after"], row["told apart"]),
                         ("nue", "lash", "links 10%", "yes"))
        self.assertIn("6 cells are left out, as no engine could have done anything: failures that cannot"
                      " be drawn, or the same error for all.", tables["summary"].notes)
        self.assertFalse([note for note in tables["summary"].notes if "Not usable" in note])

    def test_failures_that_cannot_be_drawn(self):
        self.undrawable("faults")

    def test_the_same_error_for_all(self):
        self.undrawable("error", "no terminal is left")

    def test_nothing_but_failures_that_cannot_be_drawn(self):
        """What is left is the fault-free cell, if that was measured."""
        self.cell("nue")
        self.cell("nue", faults("link", 90), 1, status="faults")
        self.cell("nue", faults("link", 90), 1, status="faults", fabric="other")
        rows = self.answer("summary")["summary"].rows
        self.assertEqual([(row["fabric"], row["failures"], row["engine"]) for row in rows],
                         [("t", "none", "nue")])

    def test_an_error_of_one_engine(self):
        for engine in ("nue", "lash"):
            self.cell(engine, faults("link", 10), 1, status="ok" if engine == "nue" else "error",
                      words="out of luck", links_failed=10)
        note = self.answer("summary")["summary"].notes[0]
        self.assertIn("Not usable: lash (could not be judged in 1 of 1 cell).", note)

    def test_shares_that_round_down_to_nothing(self):
        for engine, top in (("nue", 100), ("lash", 90)):
            self.cell(engine, None, 0, top)
            for seed in (1, 2, 3):
                self.cell(engine, faults("link", 1), seed, top)
                self.cell(engine, faults("link", 10), seed, top - 20 - seed, links_failed=10)
        tables = self.answer("degradation")
        self.assertEqual([(row["faults"], row["engine"], row["cells"])
                          for row in tables["degradation"].rows],
                         [("none", "nue", 1), ("none", "lash", 1), ("links 10%", "nue", 3),
                          ("links 10%", "lash", 3)])
        self.assertEqual([row["cells"] for row in tables["degradation-lines"].rows], [4, 4])
        self.assertEqual(tables["degradation"].notes,
                         ["6 cells have a share of failures that rounds down to none: counted as the "
                          "fault-free cell, once."])

    def test_nothing_failed_and_no_fault_free_cell(self):
        for seed in (1, 2, 3):
            self.cell("nue", faults("link", 1), seed)
            self.cell("nue", faults("link", 10), seed, 80 - seed, links_failed=10)
        rows = self.answer("degradation")["degradation"].rows
        self.assertEqual([(row["faults"], row["cells"], row["kept"]) for row in rows],
                         [("none", 1, 100), ("links 10%", 3, 78)])

    def test_years_in_which_nothing_failed(self):
        """That none fails is something years can draw."""
        self.cell("nue")
        for seed in (1, 2, 3):
            self.cell("nue", faults("years", 1, "years"), seed)
        self.assertEqual(self.answer("lifetime")["lifetime"].rows[0]["lasted"], 3)

    def test_the_largest_amount(self):
        """Units do not order amounts: 40 % is more than two links."""
        for level, parts in ((faults("link", 40), 40), (faults("link", 2, "count"), 2),
                             (faults("link", 5), 5)):
            for seed in (1, 2):
                self.cell("nue", level, seed, 100 - parts, links_failed=parts)
        tables = self.answer("summary")
        self.assertEqual(tables["summary"].rows[0]["after"], "links 40%")
        rows = self.answer("degradation")["degradation"].rows
        self.assertEqual([row["faults"] for row in rows], ["links 2", "links 5%", "links 40%"])

    def test_two_contents_of_one_file(self):
        for digest, top in (("0123456789abcdef", 100), ("fedcba9876543210", 200)):
            for seed in (0, 1):
                number = self.cell("nue", faults("link", 3) if seed else None, seed, top - seed,
                                   fabric="n.net", links_failed=3 * seed, terminals=top, switches=9,
                                   links=50)
                self.base.db.execute("UPDATE cell SET key = ? WHERE id = ?", (
                    "fabric=n.net#%s faults=x seed=%d" % (digest, seed), number))
        self.base.fabric("n.net", 1, 1, 1)
        rows = self.answer("summary")["summary"].rows
        self.assertEqual([(row["fabric"], row["fault-free"], row["a terminal"]) for row in rows],
                         [("n.net", 100, 0.99), ("n.net (2)", 200, 0.995)])
        rows = self.answer("usability")["usability"].values
        self.assertEqual(rows, [["n.net", "o"], ["n.net (2)", "o"]])

    # ---- studies that are not finished ----

    def said(self):
        return self.answer("summary")["summary"].notes[0]

    def test_compared_on_common_cells(self):
        """The second engine is better wherever both were measured; seeds 2 and 3 are open."""
        for engine, gain in (("nue", 0), ("lash", 10)):
            self.cell(engine, None, 0, 100 + gain)
            for percent in (10, 40):
                for seed in (1, 2, 3):
                    if engine == "nue" or (percent == 10 and seed == 1):
                        self.cell(engine, faults("link", percent), seed, 100 - percent + gain +
                                  (60 if seed > 1 else 0), links_failed=percent)
        row = self.answer("summary")["summary"].rows[0]
        self.assertEqual((row["engine"], row["next"], row["after"], row["difference"], row["±"]),
                         ("lash", "nue", "links 10%", 10, None))
        self.assertEqual(self.said(),
                         "t, exchange 20480 bytes, qdr, links: use lash: 110 GB/s without failures, 100 "
                         "GB/s (91 %) after links 10%. Next is nue, 10 GB/s below with the only seed: no "
                         "confidence. Compared at none, links 10% only. Not measured: lash at links 40%.")

    def test_no_common_cells(self):
        for engine, percent in (("nue", 10), ("lash", 40)):
            self.cell(engine, faults("link", percent), 1, 100 - percent, links_failed=percent)
        self.assertEqual(self.said(),
                         "t, exchange 20480 bytes, qdr, links: use nue: 90 GB/s after links 10%. Not "
                         "measured: nue at links 40%; lash at links 10%.")

    def test_an_engine_that_did_not_begin(self):
        self.cell("nue")
        self.cell("nue", faults("link", 10), 1, 80, links_failed=10)
        self.cell("lash")
        self.assertEqual(self.said(),
                         "t, exchange 20480 bytes, qdr, links: use nue: 100 GB/s without failures, 80 GB/s "
                         "(80 %) after links 10%. No other engine was measured here yet. Not measured with "
                         "these failures: lash.")

    def test_one_engine(self):
        self.cell("nue")
        self.assertEqual(self.said(), "t, exchange 20480 bytes, qdr, none: use nue: 100 GB/s without "
                                      "failures. No other engine was run here.")

    def test_no_other_is_safe(self):
        self.cell("nue")
        self.cell("lash", status="engine")
        self.assertEqual(self.said(),
                         "t, exchange 20480 bytes, qdr, none: use nue: 100 GB/s without failures. No other "
                         "engine is safe in all cells. Not usable: lash (refused 1 of 1 cell).")
        self.cell("minhop", faults("link", 3), 1, result=False)
        self.assertIn(" No other engine that was measured is safe in all cells.", self.said())

    def test_engines_that_are_equal(self):
        self.cell("nue")
        self.cell("lash")
        self.assertIn(" lash has the same throughput with the only seed: no confidence.", self.said())

    def test_fabrics_that_are_equal(self):
        for fabric in ("a", "b"):
            self.base.fabric(fabric, 16, 32, 100)
            self.cell("nue", fabric=fabric)
        notes = self.answer("summary")["summary"].notes
        self.assertEqual(notes[2:], ["All 2 fabrics give a terminal the same without failures (exchange "
                                     "20480 bytes, qdr): 3.125 GB/s."])
        self.base.fabric("c", 16, 32, 100)
        self.cell("nue", throughput=200, fabric="c")
        notes = self.answer("summary")["summary"].notes
        self.assertEqual(notes[3:], ["Of 3 fabrics, c with nue gives a terminal most without failures "
                                     "(exchange 20480 bytes, qdr): 6.25 GB/s."])

    def test_tables_compared_on_common_cells(self):
        """Without traffic, by the busiest channel, which has fewer routes the better."""
        for engine, more in (("nue", 5), ("lash", 0)):
            for level, seed in ((None, 0), (faults("link", 40), 1)):
                if engine == "nue" or level is None:
                    self.base.cell("t", engine, level, seed, efi_max=50 + more - 30 * seed,
                                   links_failed=40 * seed, switches_failed=0)
        table = self.answer("summary")["summary-tables"]
        self.assertEqual([table.rows[0][name] for name in ("engine", "EFI", "next", "more")],
                         ["lash", 50, "nue", 5])
        self.assertEqual(table.notes, [
            "t, not simulated: lash has the least loaded busiest channel; next is nue with 5 routes more "
            "(one cell, so without confidence). Compared at none only. Not measured: lash at links 40%."])

    def test_tables_of_one_engine(self):
        self.base.cell("t", "nue", efi_max=50)
        self.assertEqual(self.answer("summary")["summary-tables"].notes,
                         ["t, not simulated: use nue. No other engine was run here."])

    def test_long_names(self):
        """Engines and traffic that differ far behind are not the same."""
        long = "x" * 2000
        for end, top in (("a", 100), ("b", 90)):
            self.cell("nue", throughput=top, options="root=" + long + end)
            self.base.cell("t", "nue", throughput=top, **dict(EXCHANGE, traffic=long + end))
        tables = self.answer("degradation")
        self.assertEqual({(row["engine"], row["traffic"]) for row in tables["degradation"].rows},
                         {("nue root=" + long + end, "exchange 20480 bytes, qdr") for end in "ab"} |
                         {("nue", long + end + " 20480 bytes, qdr") for end in "ab"})


if __name__ == "__main__":
    unittest.main()
