"""Databases of studies that are none, are damaged, or are not what they should be: invalid input
(exit code 3) with the name of the file, whoever reads or writes them; nothing else is harmed."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, selvage  # noqa: E402
from support.studying import Case  # noqa: E402

PLAN = ("study", "run", "-f", "mesh:2x2,hosts=2", "-e", "updn,dor", "--seeds", "1..3", "--links", "0,1")
TABLES = ("plan", "cell", "planned", "result", "lost", "fabric", "loads", "timeline", "spent")


class Damaged(Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(selvage(*PLAN, "--db", self.path("good.db")).code, 0)
        with open(self.path("good.db"), "rb") as file:
            self.good = file.read()
        self.bad = self.path("bad.db")

    def put(self, content):
        for name in os.listdir(self.directory):
            if not name.startswith("good"):
                os.remove(self.path(name))
        with open(self.bad, "wb") as file:
            file.write(content)
        with open(self.path("good.db"), "wb") as file:
            file.write(self.good)

    def changed(self, *statements):
        """The database after some SQL."""
        self.put(self.good)
        connection = sqlite3.connect(self.bad)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        with open(self.bad, "rb") as file:
            return file.read()

    VERBS = {"run": (*PLAN, "--db"),
             "summary": ("study", "summary", "--db"),
             "text": ("report", "--text"),
             "page": ("report", "-o", "page.html"),
             "into": ("study", "merge", "good.db", "--db"),
             "from": ("study", "merge", "--db", "into.db"),
             "compare": ("study", "compare", "good.db")}

    def refused(self, content, text, code=3, untouched=True):
        for name in self.VERBS:
            with self.subTest(text, verb=name):
                self.put(content)
                result = selvage(*self.VERBS[name], self.bad, cwd=self.directory)
                self.assertEqual(result.code, code, result.err)
                self.assertEqual(result.out, "")
                self.assertRegex(result.err, r"^selvage: %s: [^\n]*%s[^\n]*\n$" % (re.escape(self.bad), text))
                self.assertFalse(os.path.exists(self.path("page.html")))
                with open(self.path("good.db"), "rb") as file:
                    self.assertEqual(file.read(), self.good)
                self.assertFalse(os.path.exists(self.path("into.db")))
                with open(self.bad, "rb") as file:
                    self.assertEqual(file.read() == content, untouched or name not in ("run", "into"))

    def test_what_is_no_database(self):
        self.refused(b"this is text\n" * 100, "is no database of a study")
        self.refused(self.good[:50], "is no database of a study|damaged")
        self.refused(self.changed("PRAGMA application_id = 7"), "is no database of a study")

    def test_cut_off(self):
        for length in (4096, len(self.good) // 2, len(self.good) // 2 + 100, len(self.good) - 4096):
            self.refused(self.good[:length], "is damaged")

    def test_pages_that_are_wrong(self):
        """Who touches a page that is none says so; zeroes everywhere are seen by all."""
        self.refused(self.good[:4096] + bytes(len(self.good) - 4096), "is damaged",
                     untouched=False)  # a log was begun
        seen = 0
        for at in range(4096, len(self.good), 4096):
            content = self.good[:at] + bytes(byte ^ 0x55 for byte in self.good[at:at + 64]) + self.good[at + 64:]
            for name, verb in self.VERBS.items():
                self.put(content)
                result = selvage(*verb, self.bad, cwd=self.directory)
                self.assertIn(result.code, (0, 3), (name, at, result.err))
                seen += result.code == 3
                if result.code == 3:
                    self.assertIn("bad.db: ", result.err)
                if name == "from":  # reads all of it
                    self.assertEqual(result.code, 3, (name, at))
        self.assertGreater(seen, 20)

    def test_tables_that_are_missing(self):
        for table in TABLES:
            self.refused(self.changed("DROP TABLE " + table), "has no table '%s'" % table)
        self.refused(self.changed("ALTER TABLE result RENAME COLUMN throughput TO thruput"),
                     "has no column 'throughput' in table 'result'")

    def test_more_is_fine(self):
        """Somebody's own tables and columns do not matter."""
        self.put(self.changed("CREATE TABLE notes (text)", "ALTER TABLE spent ADD COLUMN who TEXT"))
        result = selvage("study", "summary", "--db", self.bad)
        self.assertEqual(result.code, 0, result.err)

    def test_versions(self):
        self.refused(self.changed("PRAGMA user_version = 99"), "newer selvage", code=4)

    def test_a_directory(self):
        shutil.rmtree(self.bad, ignore_errors=True)
        os.mkdir(self.path("folder.db"))
        self.assertEqual(selvage("study", "summary", "--db", self.path("folder.db")).code, 5)

    def test_a_pipe(self):
        """Nobody waits for what may never come."""
        pipe = self.path("pipe.db")
        os.mkfifo(pipe)
        for arguments in (("study", "summary", "--db", pipe), ("report", pipe, "--text"),
                          ("study", "run", "-f", "mesh:2x2,hosts=1", "-e", "updn", "--db", pipe)):
            result = selvage(*arguments, timeout=60)
            self.assertEqual(result.code, 3, arguments)
            self.assertIn("not a regular file", result.err)

    def test_a_journal_of_somebody(self):
        self.put(self.good)
        with open(self.bad + "-journal", "wb") as file:
            file.write(bytes(range(1, 256)) * 32)
        for arguments in ("study", "summary", "--db", self.bad), ("report", self.bad, "--text"):
            result = selvage(*arguments)
            self.assertEqual(result.code, 3, result.err)
            self.assertIn(self.bad + "-journal", result.err)

    def test_what_never_ends_can_be_interrupted(self):
        names = [name for name, in self.ask("SELECT name FROM pragma_table_info('result')", db=self.path("good.db"))]
        self.put(self.changed("ALTER TABLE result RENAME TO real", "CREATE VIEW result AS WITH RECURSIVE n(x) AS (SELECT 1 "
                              "UNION ALL SELECT x + 1 FROM n) SELECT %s FROM real, n" % ", ".join("real." + n for n in names)))
        for arguments in ("study", "summary", "--db", self.bad), ("report", self.bad, "--text"):
            process = subprocess.Popen([SELVAGE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with self.assertRaises(subprocess.TimeoutExpired):
                process.communicate(timeout=1)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (130, b""), said)
            self.assertIn(b"cancelled", said)


if __name__ == "__main__":
    unittest.main()
