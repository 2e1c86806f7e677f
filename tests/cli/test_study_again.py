"""Studies that are run again: what decides about a result is in the key of its cell, so that nothing
stale is taken for it; and what happens to databases meanwhile.
"""
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage  # noqa: E402
from support.studying import Case  # noqa: E402


class Again(Case):
    """What decides about a result is in the key."""

    def test_after_a_limit(self):
        plan = ("run", "-f", "torus:6x6x6,hosts=2", "-e", "updn", "--no-sim")
        self.run_study(*plan, "--cell-memory", "1MB")
        self.assertEqual(self.one("status"), "memory")
        self.assertIn("0 of 1 cells run", self.run_study(*plan).err)
        self.assertIn("1 of 1 cells run", self.run_study(*plan, "--retry").err)
        self.assertEqual(self.one("status"), "ok")
        self.assertIn("0 of 1 cells run", self.run_study(*plan, "--retry").err)

    def test_other_content_of_files(self):
        traffic, fabric = self.path("messages"), self.path("c:d{1}.net")
        ok("topo", "mesh:2x2", "-o", fabric)
        for expected, text in (("1 of 1", "0 @0 @1 2048\n"), ("1 of 1", "0 @1 @2 2048\n"),
                               ("0 of 1", "0 @1 @2 2048\n")):
            with open(traffic, "w") as file:
                file.write(text)
            found = self.run_study("run", "-f", fabric, "-e", "updn", "-t", "file:" + traffic)
            self.assertIn(expected + " cells run", found.err)
        self.assertEqual(self.ask("SELECT DISTINCT status FROM result"), [("ok",)])
        ok("topo", "mesh:2x3", "-o", fabric)
        found = self.run_study("run", "-f", fabric, "-e", "updn", "-t", "file:" + traffic)
        self.assertIn("1 of 1 cells run", found.err)

    def test_names_with_blanks(self):
        fabric, db = self.path("my 'net'.net"), self.path("my study.db")
        ok("topo", "mesh:2x2", "-o", fabric)
        script = ok("study", "run", "-f", fabric, "-e", "updn", "--no-sim", "--slurm", "2", "--db",
                    db).out
        environment = dict(os.environ, PATH=os.path.dirname(SELVAGE) + ":" + os.environ["PATH"])
        for task in ("1", "2"):
            subprocess.run(["sh", "-c", script], check=True, stderr=subprocess.DEVNULL,
                           env=dict(environment, SLURM_ARRAY_TASK_ID=task))
        line = re.search(r"#   (selvage study merge .*)", script)[1]
        subprocess.run(["sh", "-c", line], check=True, env=environment)
        self.db = db
        self.assertEqual(self.one("status"), "ok")

    def test_fabric_in_two_parts(self):
        ok("topo", "mesh:2x1,hosts=2", "-o", self.path("whole.net"))
        self.run_study("run", "-f", "mesh:2x1,hosts=2", "-e", "updn", "--state",
                       self.split(self.path("whole.net")))
        self.assertEqual(self.ask("SELECT status FROM result ORDER BY cell"), [("ok",), ("split",)])

    def split(self, whole):
        """Without the cable between the two switches."""
        found = ok("convert", whole, "--format", "json").json
        switches = {node["name"]: node for node in found["switches"]}
        self.assertEqual(len(switches), 2)
        cable = [c for c in found["cables"] if all(str(end).find("sw") >= 0 for end in c["ends"])] \
            if "ends" in found["cables"][0] else None
        out = self.path("split.net")
        first = sorted(switches)[0]
        port = 1
        for port in range(1, 5):
            done = selvage("faults", whole, "--port", "%s/%d" % (first, port), "-o", out)
            if done.code == 0 and ok("info", out, "--json").json["links"] == 0:
                return out
        self.fail("no cable between switches: %s" % cable)

    def test_state_of_another_fabric(self):
        ok("topo", "torus:4x4,hosts=1,seed=9", "-o", self.path("plan.net"))
        with open(self.path("plan.net")) as file:
            text = file.read()
        with open(self.path("other.net"), "w") as file:
            file.write(text.replace("2005e1a", "2005eaa"))
        self.run_study("run", "-f", self.path("plan.net"), "--state", self.path("other.net"), "-e",
                       "updn", "--no-sim")
        self.assertEqual(self.one("status", "fault_kind = 'state'"), "faults")
        self.assertIn("another fabric", self.one("words", "fault_kind = 'state'"))

    def test_removed_while_it_runs(self):
        process = subprocess.Popen([SELVAGE, "study", "run", "-f", "torus:5x5x5,hosts=4", "-e",
                                    "updn", "--links", "1", "--seeds", "1..2", "-q", "--db",
                                    self.db], stderr=subprocess.PIPE)
        while not os.path.exists(self.db):
            time.sleep(0.01)
        time.sleep(0.1)
        os.remove(self.db)
        error = process.communicate(timeout=120)[1].decode()
        self.assertEqual(process.returncode, 5, error)

    def test_tables_of_different_fabrics(self):
        for name, spec in (("a", "mesh:2x2"), ("b", "mesh:2x3")):
            ok("route", spec, "-e", "updn", "-o", self.path(name))
        self.expect(3, "tables of different fabrics", "compare", self.path("a"), self.path("b"),
                    "--db", self.db)

    def test_the_same_database(self):
        self.run_study("run", "-f", "mesh:2x2", "-e", "updn", "--no-sim")
        self.expect(2, "are the same database", "merge", self.db, "--db", self.db)

    def test_a_copy_of_a_killed_one(self):
        process = subprocess.Popen([SELVAGE, "study", "run", "-f", "torus:6x6x6,hosts=4", "-e",
                                    "updn", "--db", self.db], stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        process.kill()
        process.wait()
        shutil.copy(self.db, self.path("copy.db"))
        self.assertEqual(selvage("report", self.path("copy.db"), "--text").code, 0)


if __name__ == "__main__":
    unittest.main()
