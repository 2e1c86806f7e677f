"""CSV that spreadsheets open: no name becomes a formula, and every name can be had back."""
import csv
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402

NAMES = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1:A9)", "'=quoted", "a,b", "-7", "plain")


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


class Csv(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-csv-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def make(self, spec, names):
        """A fabric whose switches, and hosts with " h" behind, are called so."""
        text = ok("topo", spec).out
        for i, name in enumerate(names):
            text = text.replace('"sw%d"' % i, '"%s"' % name).replace('"host%d"' % i, '"%s h"' % name)
        with open(self.path("fabric.net"), "w") as file:
            file.write(text)
        return self.path("fabric.net")

    def path(self, name):
        return os.path.join(self.directory, name)

    def look(self, text, columns, names):
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertGreater(len(rows), 0)
        got = set()
        for row in rows:
            for column, value in row.items():
                dangerous = value[:1] in ("=", "+", "-", "@", "\t", "\r") and len(value) > 1 and not is_number(value)
                self.assertFalse(dangerous, (column, value))
                if column in columns:
                    got.add(value[1:] if value.startswith("'") else value)
        self.assertLessEqual(names, got)

    def read(self, name):
        with open(self.path(name), newline="") as file:
            return file.read()

    def test_metrics(self):
        tables = self.path("tables")
        ok("route", self.make("mesh:8,hosts=1", NAMES), "-e", "updn", "-o", tables)
        ok("metrics", tables, "--links", self.path("links.csv"))
        self.look(self.read("links.csv"), ("from", "to"), set(NAMES))

    def test_sim(self):
        hosts = {name + " h" for name in NAMES}
        files = {"terminals": (("terminal",), hosts), "channels": (("from", "to"), hosts | set(NAMES)),
                 "timeline": (("switch",), set(NAMES)), "routers": (("switch",), set(NAMES))}
        ok("sim", self.make("mesh:8,hosts=1", NAMES), "-e", "updn", "-t", "uniform:messages=20", "--policy", "deterministic",
           *[word for name in files for word in ("--" + name, self.path(name))])
        for name, (columns, names) in files.items():
            self.look(self.read(name), columns, names)

    def test_stuck(self):
        names = ("=a", "+b", "-c", "@d", "e")
        result = selvage("sim", self.make("torus:5,hosts=4", names), "-e", "minhop", "-t", "uniform", "--stuck",
                         self.path("stuck"))
        self.assertEqual(result.code, 1, result.err)
        self.look(self.read("stuck"), ("switch",), set(names))

    def test_studies(self):
        os.rename(self.make("mesh:2x2", ()), self.path("=evil.net"))
        text = ok("study", "usability", "--no-sim", "-f", "=evil.net", "-e", "updn", "--db", "s.db", "--csv",
                  cwd=self.directory).out
        first = text.split("\n\n")[0]
        self.look(first[first.index("\n") + 1:] if first.startswith("#") else first, ("fabric",), {"=evil.net"})


if __name__ == "__main__":
    unittest.main()
