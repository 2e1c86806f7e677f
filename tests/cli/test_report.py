#!/usr/bin/env python3
"""selvage report from outside: what it refuses and how, and that pages are the same each time. What
the page shows is tested in a browser (tests/web)."""
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "web")]
import fill  # noqa: E402
from support.command import SOURCE, ok, selvage  # noqa: E402


def data_of(page):
    """The data in a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page,
                                re.S)[1])


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="selvage-report-")
        cls.database = os.path.join(cls.directory, "study.db")
        fill.odd(cls.database)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def refused(self, code, words, *arguments):
        result = selvage("report", *arguments)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(words, result.err)
        self.assertEqual(result.out, "")

    def test_usage(self):
        self.refused(2, "say where the page goes", self.database)
        self.refused(2, "exclude each other", self.database, "--text", "--json")
        self.refused(2, "exclude each other", self.database, "--text", "-o", self.path("x"))
        self.refused(2, "at most 4000", self.database, "-o", self.path("x"), "--megabytes", "5000")

    def test_text(self):
        result = ok("report", self.database, "--text")
        self.assertIn("What to use", result.out)
        told = ok("report", self.database, "--json").json
        self.assertIn("summary", [t["name"] for t in (told if isinstance(told, list) else
                                                      told["tables"])])

    def test_no_database(self):
        page = self.path("none.html")
        self.refused(5, "none.db", self.path("none.db"), "-o", page)
        with open(self.path("text"), "w") as file:
            file.write("not a database, but long enough to look at\n" * 100)
        self.refused(3, "is no database of a study", self.path("text"), "-o", page)
        open(self.path("empty"), "w").close()
        self.refused(3, "is no database of a study", self.path("empty"), "-o", page)
        other = sqlite3.connect(self.path("other.db"))
        other.execute("CREATE TABLE cell (id)")
        other.commit()
        other.close()
        self.refused(3, "is no database of a study", self.path("other.db"), "-o", page)
        self.assertFalse(os.path.exists(page))

    def test_newer_database(self):
        newer = self.path("newer.db")
        shutil.copy(self.database, newer)
        database = sqlite3.connect(newer)
        database.execute("PRAGMA user_version = 99")
        database.commit()
        database.close()
        self.refused(4, "written by a newer selvage", newer, "-o", self.path("newer.html"))

    def test_damage_is_named(self):
        for number, (body, words) in enumerate((
                ('{"switches": [["a", 1]], "cables": [[0, 1, 7, 1]]}', "a switch that is not there"),
                ('{"switches": [["a", 1]], "cables": [[0, 1, 0, 999]]}', "a port that is not there"),
                ('{"switches": [["a", -1]], "cables": []}', "number of terminals"),
                ('{"switches": [', "malformed JSON"))):
            path = self.path("damaged%d.db" % number)
            shutil.copy(self.database, path)
            database = sqlite3.connect(path)
            database.execute("UPDATE fabric SET body = ?", (body,))
            database.commit()
            database.close()
            self.refused(3, words, path, "-o", self.path("damaged.html"))
            self.assertFalse(os.path.exists(self.path("damaged.html")))

    def test_loads_that_do_not_fit_are_left_out(self):
        path = self.path("unfit.db")
        shutil.copy(self.database, path)
        database = sqlite3.connect(path)
        database.execute("UPDATE loads SET cables = x'0000' WHERE cell = 1")
        database.execute("UPDATE timeline SET columns = 7 WHERE cell = 3")
        database.commit()
        database.close()
        result = ok("report", path, "-o", self.path("unfit.html"))
        self.assertIn("the loads of cell 1 do not fit its fabric", result.err)
        self.assertIn("the timeline of cell 3 does not fit its fabric", result.err)
        with open(self.path("unfit.html")) as file:
            data = data_of(file.read())
        self.assertNotIn(1, [kept["cell"] for kept in data["loads"]])
        self.assertNotIn(3, [kept["cell"] for kept in data["timelines"]])

    def test_page(self):
        first = ok("report", self.database, "-o", self.path("a.html"), "--title", "<b>&\"A\"")
        self.assertEqual(first.err, "")
        ok("report", self.database, "-o", self.path("b.html"), "--title", "<b>&\"A\"")
        with open(self.path("a.html"), newline="") as a, open(self.path("b.html"), newline="") as b:
            page = a.read()
            self.assertEqual(page, b.read())
        self.assertIn("<title>&lt;b>&amp;&quot;A&quot;</title>", page)
        data = data_of(page)
        with open(os.path.join(SOURCE, "web", "dist", "page.html"), newline="") as file:
            head, middle, tail = re.split("@TITLE@|@DATA@", file.read())
        self.assertTrue(page.startswith(head + "&lt;b>&amp;&quot;A&quot;" + middle + "{"))
        self.assertTrue(page.endswith("}\n" + tail))
        self.assertEqual(data["title"], "<b>&\"A\"")
        self.assertEqual(data["fabrics"][0]["name"], fill.ODD)
        self.assertEqual(data["cells"]["rows"], 10)
        self.assertEqual(page.count("<script"), 2)
        # Nothing is fetched: no address in any attribute that browsers follow.
        self.assertNotRegex(page, r"<(?:link|script|img|iframe)[^>]+(?:src|href)=\"(?!data:)")
        standard = ok("report", self.database, "-o", "-", "--title", "<b>&\"A\"")
        self.assertEqual(standard.out, page)


if __name__ == "__main__":
    unittest.main()
