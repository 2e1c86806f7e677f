"""Studies in a directory of their own, and what is in their databases."""
import os
import shutil
import sqlite3
import tempfile
import unittest

from support.command import ok, selvage

TORUS = "torus:4x4x3,hosts=4"
TABLES = ("result", "lost", "loads", "timeline")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-study-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.db = self.path("study.db")

    def path(self, name):
        return os.path.join(self.directory, name)

    def run_study(self, *arguments, db=None):
        return ok("study", *arguments, "--db", db or self.db)

    def ask(self, sql, *values, db=None):
        connection = sqlite3.connect(db or self.db)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def one(self, column, where="true"):
        rows = self.ask("SELECT %s FROM cell JOIN result ON cell = id WHERE %s" % (column, where))
        self.assertEqual(len(rows), 1, rows)
        return rows[0][0]

    def everything(self, db=None):
        """All rows but those of what was spent, by the keys of cells and plans."""
        found = {}
        for table in TABLES:
            rows = self.ask("SELECT c.key, t.* FROM %s t JOIN cell c ON c.id = t.cell" % table,
                            db=db)
            found[table] = sorted((row[:1] + row[2:] for row in rows), key=repr)
        found["cell"] = sorted(row[1:] for row in self.ask("SELECT * FROM cell", db=db))
        found["fabric"] = sorted(self.ask("SELECT * FROM fabric", db=db))
        found["plan"] = sorted(row[1:] for row in self.ask("SELECT * FROM plan", db=db))
        found["planned"] = sorted(self.ask(
            "SELECT p.words, x.place, c.key FROM planned x JOIN plan p ON p.id = x.plan "
            "JOIN cell c ON c.id = x.cell", db=db))
        return found

    def expect(self, code, message, *arguments):
        result = selvage("study", *arguments)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.strip().split("\n")), 1, result.err)
        self.assertEqual(result.out, "")
