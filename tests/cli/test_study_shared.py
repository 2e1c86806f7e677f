"""Two studies on one database, each a real process: every cell is run once, none is lost, nobody fails, and what a process
that was killed had begun is run by the other."""
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE  # noqa: E402
from support.studying import Case  # noqa: E402
from support.trials import trials  # noqa: E402

PLAN = ("study", "run", "-f", "torus:3x3,hosts=2", "-e", "updn,nue,dfsssp", "--links", "0,1,2,3", "--seeds", "1..6")
CELLS = 3 * (1 + 3 * 6)
LONG = ("study", "run", "-f", "torus:5x5x5,hosts=3", "-e", "updn,dor", "--links", "0,1,2", "--seeds", "1..4")
LONG_CELLS = 2 * (1 + 2 * 4)


class Shared(Case):
    def start(self, plan, db, *options):
        return subprocess.Popen([SELVAGE, *plan, "--db", db, "--threads", "2", *options], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def end(self, processes, code=0):
        """What each said: cells it ran, cells of the other."""
        ran = []
        for process in processes:
            said = process.communicate(timeout=300)[1].decode()
            self.assertEqual(process.returncode, code, said)
            self.assertNotIn("locked", said)
            found = re.search(r"(\d+) of (\d+) cells run in [^\n]*?(?:, (\d+) by another study)?(?:, \d+ were in [^\n]*)?"
                              r"(?:, \d+ not ok)?\n", said)
            self.assertIsNotNone(found, said)
            ran.append(int(found[1]))
        return ran

    def began(self, db, cells=1):
        """Waits until so many cells have results."""
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            try:
                if os.path.exists(db) and self.ask("SELECT count(*) FROM result", db=db)[0][0] >= cells:
                    return
            except sqlite3.OperationalError:  # not yet made
                pass
            time.sleep(0.01)
        self.fail("no results in two minutes")

    def left(self):
        return sorted(os.listdir(self.directory))

    def check(self, db, cells):
        self.assertEqual(self.ask("SELECT count(*), count(DISTINCT cell) FROM result", db=db), [(cells, cells)])
        self.assertEqual(self.ask("SELECT count(*) FROM spent", db=db), [(cells,)])
        connection = sqlite3.connect(db)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(connection.execute("PRAGMA journal_mode").fetchall(), [("delete",)])
        connection.close()

    def test_started_together(self):
        single = self.path("single.db")
        self.end([self.start(PLAN, single)])
        times = max(2, trials(4))
        for i in range(times):
            db = self.path("two%d.db" % i)
            ran = self.end([self.start(PLAN, db) for _ in range(2)])
            self.assertEqual(sum(ran), CELLS, "cells that were run twice: %s" % ran)
            self.check(db, CELLS)
            self.assertEqual(self.everything(db), self.everything(single))
        ran = self.end([self.start(PLAN, self.path("four.db")) for _ in range(4)])
        self.assertEqual(sum(ran), CELLS)
        self.assertEqual(self.left(), sorted(["single.db", "four.db"] + ["two%d.db" % i for i in range(times)]))

    def test_one_after_the_other_began(self):
        """The second has work, too, and both end when all is there."""
        first = self.start(LONG, self.db)
        self.began(self.db, 2)
        second = self.start(LONG, self.db)
        ran = self.end([first, second])
        self.assertEqual(sum(ran), LONG_CELLS)
        self.check(self.db, LONG_CELLS)
        self.assertEqual(self.left(), ["study.db"])

    def test_other_plans(self):
        """Cells that both plans have are run once; each ends with all of its own."""
        more = ("study", "run", "-f", "torus:3x3,hosts=2", "-e", "nue,lash", "--links", "0,1", "--seeds", "1..6")
        common, own = 1 * (1 + 6), 1 * (1 + 6)
        for i in range(2):
            db = self.path("plans%d.db" % i)
            ran = self.end([self.start(PLAN, db), self.start(more, db)])
            self.assertEqual(sum(ran), CELLS + own, ran)
            self.assertGreaterEqual(ran[0], CELLS - common)
            self.check(db, CELLS + own)

    def test_a_study_that_is_killed(self):
        for i in range(2):
            db = self.path("killed%d.db" % i)
            victim = self.start(LONG, db)
            self.began(db, 1 + 3 * i)
            other = self.start(LONG, db)
            self.began(db, 5 + 3 * i)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            self.end([other])
            # Where the other had left before, nobody made one file of it; the next one does.
            self.assertEqual(self.end([self.start(LONG, db)]), [0])
            self.check(db, LONG_CELLS)
            self.assertNotIn(os.path.basename(db) + "-claims", self.left())

    def test_some_of_many_are_killed(self):
        """Those that live wait for what the dead left locked, whatever these were at."""
        plan = ("study", "run", "-f", "mesh:2x2,hosts=2", "-e", "updn,dor", "--links", "0,1", "--seeds", "1..4", "--no-sim")
        draw = random.Random(1)
        for i in range(max(5, trials(30))):
            db = self.path("many%d.db" % i)
            studies = []
            for _ in range(draw.randrange(3, 7)):
                studies.append(self.start(plan, db))
                time.sleep(draw.random() * 0.02)
            victims = [study for study in studies[:-1] if draw.random() < 0.5]
            for victim in victims:
                time.sleep(draw.random() * 0.03)
                victim.kill()
            self.end([study for study in studies if study not in victims])
            for victim in victims:
                victim.communicate()
            self.assertEqual(self.end([self.start(plan, db)]), [0])
            self.check(db, 2 * (1 + 4))

    def test_a_study_that_is_stopped(self):
        """Ctrl-C: what it gave up is run by the other."""
        first, second = self.start(LONG, self.db), self.start(LONG, self.db)
        self.began(self.db, 3)
        first.send_signal(signal.SIGINT)
        said = first.communicate(timeout=60)[1].decode()
        self.assertEqual(first.returncode, 130, said)
        self.end([second])
        self.check(self.db, LONG_CELLS)

    def test_what_a_dead_one_left(self):
        """A file of claims without anybody in it does no harm, and goes."""
        open(self.db + "-claims", "w").close()
        self.assertEqual(self.end([self.start(PLAN, self.db)]), [CELLS])
        self.assertEqual(self.left(), ["study.db"])

    def test_by_another_name(self):
        os.symlink("study.db", self.path("link.db"))
        ran = self.end([self.start(LONG, self.db), self.start(LONG, self.path("link.db"))])
        self.assertEqual(sum(ran), LONG_CELLS)
        self.check(self.db, LONG_CELLS)

    def test_merging_beside_a_study(self):
        part = self.path("part.db")
        self.end([self.start(PLAN, part)])
        study = self.start(LONG, self.db)
        self.began(self.db)
        for _ in range(3):
            merge = subprocess.run([SELVAGE, "study", "merge", part, "--db", self.db], stderr=subprocess.PIPE, timeout=120)
            self.assertEqual(merge.returncode, 0, merge.stderr)
        self.end([study])
        self.check(self.db, LONG_CELLS + CELLS)


if __name__ == "__main__":
    unittest.main()
