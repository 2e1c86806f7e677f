"""selvage study from outside: cells against the single commands, killed studies, parts, processes
under mpirun, limits, what is recorded when something fails, and what is refused. What the database
says about it all: tests/oracle/test_answers.py.
"""
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage, terminal  # noqa: E402
from support.studying import TORUS, Case  # noqa: E402


class Cells(Case):
    """What a cell gives is what the single commands give."""

    def by_hand(self, engine, links, seed, vls):
        fabric, tables = self.path("broken.net"), self.path("tables")
        shutil.rmtree(tables, ignore_errors=True)
        faults = ok("faults", TORUS, "--links", links, "--seed", str(seed), "-o", fabric,
                    "--save-list", self.path("failed"))
        self.assertEqual(faults.code, 0)
        ok("route", fabric, "-e", engine, "--vls", str(vls), "-o", tables, "--no-check")
        return {"check": selvage("check", tables, "--json").json,
                "metrics": ok("metrics", tables, "--json").json,
                "sim": selvage("sim", tables, "--json").json,
                "route": ok("route", fabric, "-e", engine, "--vls", str(vls), "-o",
                            self.path("again"), "--no-check", "--json").json}

    def compare(self, engine, links, seed, vls):
        self.run_study("run", "-f", TORUS, "--links", links, "--seeds", str(seed), "-e", engine,
                       "--vls", str(vls))
        hand = self.by_hand(engine, links, seed, vls)
        where = "engine = '%s' AND seed = %d AND faults = 'links %s'" % (engine, seed, links)

        def cell(column):
            return self.one(column, where)
        metrics, sim = hand["metrics"], hand["sim"]
        for key in ("min", "avg", "max", "sdv"):
            self.assertAlmostEqual(cell("efi_" + key), metrics["efi"][key], delta=0.006)
        self.assertAlmostEqual(cell("hops_avg"), metrics["hops"]["avg"], delta=0.006)
        self.assertEqual(cell("hops_max"), metrics["hops"]["max"])
        self.assertEqual(cell("vls_used"), hand["route"]["vls_used"])
        self.assertEqual(cell("deadlock_free"), int(hand["check"]["deadlock_free"]))
        self.assertEqual(cell("unreachable"), hand["check"]["unreachable_pairs"])
        self.assertEqual(cell("sim_status"), sim["status"])
        self.assertEqual(cell("packet_hops"), sim["packet_hops"])
        if sim["status"] == "completed":
            self.assertAlmostEqual(cell("throughput"), sim["throughput_gbyte_s"], delta=0.006)
            self.assertAlmostEqual(cell("latency_avg"), sim["latency_us"]["avg"], delta=0.006)
            self.assertAlmostEqual(cell("latency_max"), sim["latency_us"]["max"], delta=0.006)
        with open(self.path("failed")) as file:
            failed = len([line for line in file if line.startswith("link")])
        self.assertEqual(cell("links_failed"), failed)

    def test_against_single_commands(self):
        for engine, links, seed, vls in (("dfsssp", "3%", 2, 8), ("nue", "10%", 5, 2),
                                         ("updn", "4", 1, 1), ("minhop", "1%", 3, 1)):
            with self.subTest(engine=engine):
                self.compare(engine, links, seed, vls)

    def test_box_of_terminals(self):
        self.run_study("run", "-f", TORUS, "-e", "updn")
        ok("sim", TORUS, "-e", "updn", "--terminals", self.path("terminals.csv"))
        import csv
        with open(self.path("terminals.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        values = sorted(float(row["received_bytes"]) / float(row["last_us"]) / 1e3 for row in rows)
        self.assertLess(values[0], values[-1])
        self.assertAlmostEqual(self.one("bw_min"), values[0], places=6)
        self.assertAlmostEqual(self.one("bw_max"), values[-1], places=6)
        middle = (values[len(values) // 2 - 1] + values[len(values) // 2]) / 2
        self.assertAlmostEqual(self.one("bw_median"), middle, places=6)
        self.assertAlmostEqual(self.one("bw_avg"), sum(values) / len(values), places=6)

    def test_one_cell_without_failures(self):
        self.run_study("run", "-f", "torus:3x3,hosts=2", "--links", "0,1,0%", "--seeds", "1..4",
                       "-e", "updn", "--no-sim")
        self.assertEqual(self.ask("SELECT faults, count(*), min(seed) FROM cell GROUP BY faults "
                                  "ORDER BY 1"), [("links 1", 4, 1), ("none", 1, 0)])

    def test_loads_are_kept_for_the_first_seed(self):
        self.run_study("run", "-f", "torus:3x3,hosts=2", "--links", "0,1", "--seeds", "5,6", "-e",
                       "updn")
        kept = self.ask("SELECT faults, seed, length(cables), length(nodes) FROM loads JOIN cell "
                        "ON id = cell ORDER BY id")
        self.assertEqual(kept, [("none", 0, 18 * 4, 9), ("links 1", 5, 18 * 4, 9)])
        cables = self.ask("SELECT cables FROM loads JOIN cell ON id = cell WHERE seed = 5")[0][0]
        dead = [i for i in range(18) if cables[4 * i:4 * i + 4] == b"\xff\xff\xff\xff"]
        self.assertEqual(len(dead), 1)
        columns, body = self.ask("SELECT columns, body FROM timeline LIMIT 1")[0]
        self.assertEqual(len(body), 2 * 9 * columns)

    def test_matchings_and_lost_routes(self):
        self.run_study("run", "-f", "kary:k=4,n=2,hosts=4", "-e", "ftree", "--no-sim", "--ebb",
                       "50", "--lost", "links/1,3/20", "--bound")
        tables = self.path("tables")
        ok("route", "kary:k=4,n=2,hosts=4", "-e", "ftree", "-o", tables)
        found = ok("metrics", tables, "--bisection", "50", "--lost", "links", "--failures", "1,3",
                   "--trials", "20", "--json").json
        text = str(found)
        self.assertIn("bisection", text)
        self.assertEqual(self.one("ebb_matchings"), 50)
        bandwidth = [value for key, value in found.items() if "bisection" in key][0]
        self.assertAlmostEqual(self.one("ebb_avg"), bandwidth["avg"], delta=0.0006)
        lost = [value for key, value in found.items() if key == "lost"][0]
        rows = self.ask("SELECT failures, min, max FROM lost ORDER BY failures")
        self.assertEqual([row[0] for row in rows], [1, 3])
        self.assertGreaterEqual(rows[1][2], rows[0][2])
        self.assertIn(str(rows[0][2]), str(lost))
        self.assertGreater(self.one("efi_bound"), 0)

    def test_state_that_was_found(self):
        plan, found = self.path("plan.net"), self.path("found.net")
        ok("topo", TORUS, "-o", plan)
        ok("faults", plan, "--links", "5", "--seed", "3", "-o", found)
        self.run_study("run", "-f", plan, "--state", found, "--links", "5", "--seeds", "3", "-e",
                       "nue")
        for column in ("links_failed", "throughput", "efi_max", "latency_max", "terminals"):
            self.assertEqual(self.one(column, "fault_kind = 'state'"),
                             self.one(column, "fault_kind = 'link'"), column)
        self.assertEqual(self.one("links_failed", "fault_kind = 'state'"), 5)
        # As `selvage discover` leaves it: a directory with tables.
        ok("route", found, "-e", "updn", "-o", self.path("now"))
        self.run_study("run", "-f", plan, "--state", self.path("now"), "-e", "dfsssp", "--no-sim")
        self.assertEqual(self.one("links_failed", "engine = 'dfsssp' AND fault_kind = 'state'"), 5)
        ok("faults", plan, "--links", "5", "--switches", "1", "--seed", "3", "-o", found)
        self.run_study("run", "-f", plan, "--state", found, "-e", "updn", "--no-sim")
        self.assertEqual(self.one("links_failed", "engine = 'updn' AND seed = 0 AND switches = 47"),
                         5)
        self.assertEqual(self.one("terminals", "engine = 'updn' AND switches = 47"), 188)

    def test_years(self):
        self.run_study("run", "-f", TORUS, "--years", "0,4,8", "--model", "link=5%,switch=1%",
                       "--seeds", "1,2", "-e", "nue", "--no-sim")
        for seed in (1, 2):
            failed = [self.one("links_failed + switches_failed",
                               "seed = %d AND fault_amount = %d" % (seed, years))
                      for years in (4, 8)]
            self.assertLess(0, failed[0])
            self.assertLess(failed[0], failed[1])


class Failures(Case):
    """What fails is recorded in its own words, and the study goes on."""

    def test_each_of_its_kind(self):
        self.run_study("run", "-f", "torus:5,hosts=4", "-f", "torus:0x3", "--links", "0,4", "-e",
                       "minhop,ftree,updn", "--profile", "qdr,input-blocks=33")
        rows = self.ask("SELECT fabric, faults, engine, status, words FROM cell JOIN result ON "
                        "cell = id")
        found = {row[:3]: row[3:] for row in rows}
        self.assertEqual(found["torus:5,hosts=4", "none", "updn"], ("ok", ""))
        self.assertEqual(found["torus:5,hosts=4", "none", "minhop"][0], "deadlock")
        self.assertIn("can never move", found["torus:5,hosts=4", "none", "minhop"][1])
        self.assertEqual(found["torus:5,hosts=4", "none", "ftree"][0], "engine")
        self.assertIn("tree", found["torus:5,hosts=4", "none", "ftree"][1])
        self.assertEqual(found["torus:5,hosts=4", "links 4", "updn"][0], "faults")
        self.assertEqual(found["torus:0x3", "none", "updn"][0], "fabric")
        self.assertEqual(len(rows), 12)

    def test_unsafe_without_simulation(self):
        self.run_study("run", "-f", TORUS, "-e", "minhop", "--no-sim")
        self.assertEqual(self.one("status"), "unsafe")
        self.assertEqual(self.one("deadlock_free"), 0)

    def test_limit_of_time(self):
        self.run_study("run", "-f", "torus:8x8x8,hosts=4", "-f", "mesh:2x2", "-e", "updn",
                       "--cell-seconds", "0.3")
        self.assertEqual(self.one("status", "fabric LIKE 'torus%'"), "time")
        self.assertEqual(self.one("status", "fabric LIKE 'mesh%'"), "ok")

    def test_limit_of_memory(self):
        self.run_study("run", "-f", "torus:6x6x6,hosts=2", "-f", "mesh:2x2", "-e", "updn",
                       "--cell-memory", "1MB", "--no-sim")
        self.assertEqual(self.one("status", "fabric LIKE 'torus%'"), "memory")
        self.assertEqual(self.one("status", "fabric LIKE 'mesh%'"), "ok")
        self.assertLessEqual(self.ask("SELECT max(bytes) FROM spent")[0][0], 1000000)


PLAN = ("run", "-f", "torus:3x3,hosts=2", "-f", "kary:k=3,n=2,hosts=3", "--links", "0,1,2",
        "--seeds", "1..4", "-e", "updn,minhop,nue", "--vls", "1,2")


# MPI runs as root, too; it frees not all of its memory, which is not ours to judge.
MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")


class Going(Case):
    """However a study comes about, its rows are the same."""

    def setUp(self):
        super().setUp()
        self.whole = self.path("whole.db")
        self.run_study(*PLAN, db=self.whole)
        self.expected = self.everything(self.whole)

    def test_one_thread(self):
        self.run_study(*PLAN, "--threads", "1")
        self.assertEqual(self.everything(), self.expected)

    def test_killed_again_and_again(self):
        rng, partial = random.Random(7), set()
        begun = time.monotonic()
        self.run_study(*PLAN, db=self.path("timed.db"))
        whole = time.monotonic() - begun
        for _ in range(60):
            process = subprocess.Popen([SELVAGE, "study", *PLAN, "--db", self.db],
                                       stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.1, 0.6) * whole)
            process.kill()
            process.wait()
            if os.path.exists(self.db):
                tables = self.ask("SELECT count(*) FROM sqlite_master WHERE name = 'result'")
                partial.add(self.ask("SELECT count(*) FROM result")[0][0] if tables[0][0] else 0)
            if 108 in partial:  # all of it is there: from the beginning
                partial.discard(108)
                for name in (self.db, self.db + "-wal", self.db + "-shm"):
                    if os.path.exists(name):
                        os.remove(name)
        self.run_study(*PLAN)
        self.assertGreater(len(partial), 4, "killed at several places")
        self.assertEqual(self.everything(), self.expected)
        self.assertEqual(self.ask("PRAGMA integrity_check"), [("ok",)])

    def test_interrupted(self):
        process = subprocess.Popen([SELVAGE, "study", "run", "-f", "torus:6x6x6,hosts=4", "-e",
                                    "updn", "--seeds", "1..9", "--links", "1", "--db", self.db],
                                   stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("the same command goes on", error)

    def test_nothing_twice(self):
        self.run_study(*PLAN, "--stop-after", "10")
        self.assertEqual(self.ask("SELECT count(*) FROM result"), [(10,)])
        error = self.run_study(*PLAN).err
        self.assertIn("10 were in", error)
        self.assertEqual(self.everything(), self.expected)
        before = self.ask("SELECT * FROM spent")
        self.assertIn("0 of 108 cells run", self.run_study(*PLAN).err)
        self.assertEqual(self.ask("SELECT * FROM spent"), before)

    def test_more_is_only_what_is_new(self):
        self.run_study(*PLAN)
        more = [word if word != "1..4" else "1..5" for word in PLAN]
        self.assertRegex(self.run_study(*more).err, r"\b24 of 132 cells run")

    def test_parts_together(self):
        for part in (2, 1, 3):
            self.run_study(*PLAN, "--part", "%d/3" % part, db=self.path("part-%d" % part))
        self.run_study("merge", *(self.path("part-%d" % part) for part in (1, 2, 3)))
        self.assertEqual(self.everything(), self.expected)
        self.run_study("merge", self.path("part-1"))
        self.assertEqual(self.everything(), self.expected)
        self.assertIn("0 of 108 cells run", self.run_study(*PLAN).err)

    def test_script_for_slurm(self):
        script = self.path("job.sh")
        with open(script, "w") as file:
            file.write(ok("study", *PLAN, "--slurm", "4", "--db", self.db).out)
        self.assertFalse(os.path.exists(self.db))
        with open(script) as file:
            self.assertIn("#SBATCH --array=1-4\n", file.read())
        bin_directory = self.path("bin")
        os.mkdir(bin_directory)
        os.symlink(SELVAGE, os.path.join(bin_directory, "selvage"))
        for task in range(1, 5):
            environment = dict(os.environ, SLURM_ARRAY_TASK_ID=str(task),
                               PATH=bin_directory + ":" + os.environ["PATH"])
            subprocess.run(["sh", script], env=environment, check=True, stderr=subprocess.PIPE)
        with open(script) as file:
            line = re.search(r"#   (selvage study merge .*)", file.read())[1]
        subprocess.run(["sh", "-c", line], env=environment, check=True)
        self.assertEqual(self.everything(), self.expected)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (openmpi-bin)")
    def test_processes_under_mpirun(self):
        if not os.path.exists(os.path.join(os.path.dirname(SELVAGE), "selvage-mpi.so")):
            self.skipTest("selvage was built without MPI")
        environment = MPI

        def mpirun(ranks, *more):
            return subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), SELVAGE, "study",
                                   *PLAN, "--db", self.db, *more], env=environment,
                                  stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(mpirun(2, "--stop-after", "20").returncode, 0)
        self.assertEqual(self.ask("SELECT count(*) FROM result"), [(20,)])
        done = mpirun(3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"88 of 108 cells run", done.stderr)
        self.assertEqual(self.everything(), self.expected)
        # What rank 0 cannot do ends all of them.
        os.mkdir(self.path("folder"))
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", SELVAGE, "study", *PLAN,
                               "--db", self.path("folder")], env=environment,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"cannot open", done.stderr)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed (openmpi-bin)")
    def test_killed_under_mpirun(self):
        if not os.path.exists(os.path.join(os.path.dirname(SELVAGE), "selvage-mpi.so")):
            self.skipTest("selvage was built without MPI")
        environment = MPI
        process = subprocess.Popen(["mpirun", "--oversubscribe", "-n", "2", SELVAGE, "study",
                                    *PLAN, "--db", self.db], env=environment,
                                   stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(0.6)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        time.sleep(0.5)
        self.run_study(*PLAN)
        self.assertEqual(self.everything(), self.expected)

    def test_company_that_cannot_be_talked_to(self):
        lone = self.path("lone")
        os.mkdir(lone)
        shutil.copy(SELVAGE, os.path.join(lone, "selvage"))
        environment = dict(os.environ, OMPI_COMM_WORLD_SIZE="4")
        done = subprocess.run([os.path.join(lone, "selvage"), "study", *PLAN, "--db", self.db],
                              env=environment, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"cannot talk to the others: no 'selvage-mpi.so' in '%s'" %
                      os.path.realpath(lone).encode(), done.stderr)
        with open(os.path.join(lone, "selvage-mpi.so"), "w") as file:
            file.write("not a library\n")
        done = subprocess.run([os.path.join(lone, "selvage"), "study", *PLAN, "--db", self.db],
                              env=environment, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, b"cannot talk to the others: .*/lone/selvage-mpi.so: ")


class Answers(Case):
    def test_of_what_was_typed(self):
        self.run_study("run", "-f", "torus:3x3,hosts=2", "-e", "updn")
        out = self.run_study("usability", "-f", "mesh:3x3,hosts=2", "-e", "nue").out
        self.assertIn("mesh:3x3,hosts=2", out)
        self.assertNotIn("torus", out)
        self.assertIn("torus", self.run_study("summary").out)

    def test_one_table(self):
        out = self.run_study("degradation", "-f", "torus:3x3,hosts=2", "-e", "updn", "--links",
                             "0,1,2", "--seeds", "1..2", "--csv", "--table", "degradation-lines").out
        self.assertEqual(len(out.strip().split("\n")), 2)
        self.assertIn("intercept", out)

    def test_directories_of_tables(self):
        for engine in ("nue", "updn"):
            ok("route", TORUS, "-e", engine, "-o", self.path(engine))
        out = self.run_study("compare", self.path("nue"), self.path("updn"), "-t", "exchange").out
        self.assertIn("tables " + self.path("nue"), out)
        for engine in ("nue", "updn"):
            sim = ok("sim", self.path(engine), "--json").json["throughput_gbyte_s"]
            self.assertAlmostEqual(self.one("throughput", "options = '%s'" % self.path(engine)),
                                   sim, places=4)
        # Other tables in the same place are other cells.
        shutil.rmtree(self.path("nue"))
        ok("route", TORUS, "-e", "dfsssp", "-o", self.path("nue"))
        self.assertIn("1 of 2 cells run", self.run_study("compare", self.path("nue"),
                                                         self.path("updn"), "-t", "exchange").err)
        self.expect(2, "failures need engines", "run", "--tables", self.path("nue"), "--links", "1",
                    "--db", self.db)

    def test_two_databases(self):
        for name, engines in (("a", "nue,updn"), ("b", "dfsssp,nue")):
            self.run_study("run", "-f", TORUS, "-e", engines, "--no-sim", db=self.path(name))
        out = self.run_study("compare", self.path("a"), self.path("b")).out
        self.assertRegex(out, r"EFI, most routes on a channel .* 0\.0+ ")


class Terminal(Case):
    def test_progress(self):
        leader, follower = terminal(self)
        process = subprocess.Popen([SELVAGE, "study", "run", "-f", TORUS, "--links", "1", "--seeds",
                                    "1..30", "-e", "updn", "--threads", "1", "--db", self.db],
                                   stderr=follower, stdout=subprocess.DEVNULL)
        os.close(follower)
        seen = b""
        while True:
            try:
                more = os.read(leader, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more
        self.assertEqual(process.wait(), 0)
        os.close(leader)
        text = seen.decode()
        self.assertRegex(text, r"\[#*\.*\] \d+/30 cells, [\d.]+/s, \d+ s left  torus:4x4x3")
        self.assertIn("30 of 30 cells run", text)

    def test_cells_are_listed(self):
        out = self.run_study("degradation", "-f", "torus:{3x3,4x4},hosts={1..2}", "--links",
                             "0,5%", "--seeds", "1..2", "-e", "nue,dfsssp,assign=weakest",
                             "--dry-run").out
        self.assertEqual(len(out.split("\n")) - 1, 4 * 3 * 2)
        self.assertIn("fabric=torus:4x4,hosts=2 faults=links 5% seed=2 engine=dfsssp", out)
        self.assertFalse(os.path.exists(self.db))


class Refused(Case):
    def test_usage(self):
        for message, arguments in (
                ("there is no study 'nonsense'", ("nonsense",)),
                ("which fabric", ("run",)),
                ("fabrics are given with --fabric", ("run", "torus:3x3")),
                ("--both needs --ratio", ("run", "-f", "mesh:2x2", "--both", "1")),
                ("--ratio: '1-2'", ("run", "-f", "mesh:2x2", "--both", "1", "--ratio", "1-2")),
                ("--threshold: '80'", ("lifetime", "-f", "mesh:2x2", "--threshold", "80")),
                ("in place of --engine and --fabric", ("run", "--tables", "x", "-f", "mesh:2x2")),
                ("--part: '5/3'", ("run", "-f", "mesh:2x2", "--part", "5/3")),
                ("--keep: 'some'", ("run", "-f", "mesh:2x2", "--keep", "some")),
                ("--cell-memory: 'much'", ("run", "-f", "mesh:2x2", "--cell-memory", "much")),
                ("--cell-seconds: '-1'", ("run", "-f", "mesh:2x2", "--cell-seconds", "-1")),
                ("compare takes two", ("compare", "nue")),
                ("not with --tables", ("compare", "a", "b", "--tables", "c")),
                ("merge takes", ("merge",))):
            with self.subTest(message=message):
                self.expect(2, message, *arguments)

    def test_plans(self):
        for message, arguments in (
                ("there is no engine 'nonsense'", ("-f", "mesh:2x2", "-e", "nonsense")),
                ("'vls=x' comes before an engine", ("-f", "mesh:2x2", "-e", "vls=x")),
                                ("did you mean 'torus'?", ("-f", "torsu:3x3")),
                ("'exchagne' is no pattern: did you mean 'exchange'?", ("-f", "mesh:2x2", "-t", "exchagne")),
                ("engine dfsssp has no option 'foo'", ("-f", "mesh:2x2", "-e", "dfsssp,foo=bar")),
                ("tsubmae2", ("-f", "mesh:2x2", "--years", "1", "--model", "tsubmae2")),
                ("'no' is no family", ("-f", "mesh:2x2", "--state", "no:file.net")),
                ("{ without a }", ("-f", "torus:{3x3")),
                ("is no range", ("-f", "mesh:2x2", "--seeds", "9..1")),
                ("empty entry", ("-f", "mesh:2x2", "--links", "1,,2")),
                ("seeds: 'x' is not a number", ("-f", "mesh:2x2", "--seeds", "x")),
                ("neither a number nor a percentage", ("-f", "mesh:2x2", "--links", "few")),
                ("years need a model", ("-f", "mesh:2x2", "--years", "3")),
                ("lost: 'links' is not", ("-f", "mesh:2x2", "--lost", "links")),
                ("more than a million", ("-f", "mesh:2x2", "--links", "1", "--seeds",
                                         "1..900000", "-e", "updn,nue"))):
            with self.subTest(message=message):
                self.expect(2, message, "run", *arguments, "--db", self.db)
        self.expect(5, "no topology spec", "run", "-f", "nowhere", "--db", self.db)
        self.assertFalse(os.path.exists(self.db))

    def test_databases(self):
        plan = ("run", "-f", "mesh:2x2", "-e", "updn", "--no-sim", "--db")
        with open(self.path("text"), "w") as file:
            file.write("this is no database, only some text that is long enough\n" * 30)
        self.expect(3, "is no database of a study", *plan, self.path("text"))
        connection = sqlite3.connect(self.path("other"))
        connection.execute("CREATE TABLE things (name)")
        connection.commit()
        connection.close()
        self.expect(3, "is no database of a study", *plan, self.path("other"))
        self.run_study(*plan[:-1])
        connection = sqlite3.connect(self.db)
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
        connection.close()
        self.expect(4, "newer selvage", *plan, self.db)
        self.expect(5, "cannot open", *plan, self.path("no/such/folder"))
        self.expect(5, "cannot open", "degradation", "-f", "mesh:2x2", "--db", self.path("a/b"))


if __name__ == "__main__":
    unittest.main()
