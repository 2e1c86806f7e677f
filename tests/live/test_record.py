"""The recorder (plugin/pmpi) under real MPI programs: what a trace has is what the program says it did; the program sees nothing of it.

Traces are read by support/svt.py, which knows only the format. Programs are in tests/mpi: each says by itself which events there must be.
"""
import collections
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import svt  # noqa: E402
from support.command import SELVAGE  # noqa: E402

BUILD = os.environ.get("SELVAGE_BUILD", "build/check")
RECORDER = os.path.join(BUILD, "libselvage_trace.so")
PROGRAM = os.path.join(BUILD, "tests", "mpi_program")
INSIDE = os.path.join(BUILD, "tests", "mpi_inside")  # with the recorder in it, and sanitizers
FORTRAN = os.path.join(BUILD, "tests", "mpi_fortran")
FORTRAN_08 = os.path.join(BUILD, "tests", "mpi_fortran_08")
# All that must come out the same way every time, and all that says what it did.
SAYING = ("ring modes sendrecv begin any some test many persistent wildcard take cancel forget comms again duplicates inter all vary later overlap vary_later near "
          "errors").split()


def line(event, size):
    """An event as programs say it."""
    group = None
    if event.group is not None:
        ordinal, ranks = event.group
        group = "world" if (ordinal, ranks) == (0, tuple(range(size))) else "%d:%s" % (ordinal, ",".join(map(str, ranks)))
    words = [event.kind, event.call]
    if event.kind in ("send", "isend", "recv", "irecv"):
        words += ["to" if event.kind.endswith("send") else "from", "any" if event.peer is None else str(event.peer),
                  "tag", "any" if event.tag is None else str(event.tag), "bytes", str(event.amount), "in", group]
    if event.kind.endswith("collective"):
        words += ["root", str(event.peer), "bytes", str(event.amount), "in", group]
    if event.request is not None:
        words += ["request", str(event.request)]
    return " ".join(words)


class Run:
    """A program under mpirun, in a folder of its own."""

    def __init__(self, test, program, *arguments, ranks=4, recorder=True, timeout=300, folder=None, told=None):
        self.folder = folder or tempfile.mkdtemp(prefix="selvage-record-")
        test.addCleanup(shutil.rmtree, self.folder, True)
        self.ranks = ranks
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1", SAYS_DIR=self.folder, SELVAGE_TRACE_DIR=told or self.folder,
                           ASAN_OPTIONS="detect_leaks=0:detect_odr_violation=0", TMPDIR=self.folder)
        environment.pop("LD_PRELOAD", None)
        if recorder:
            environment["LD_PRELOAD"] = RECORDER
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), program, *arguments], env=environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
        self.code = done.returncode
        self.out = sorted(done.stdout.decode().splitlines())
        self.err = done.stderr.decode()

    def files(self, end=".svt"):
        return sorted(glob.glob(os.path.join(self.folder, "rank-*" + end)))

    def trace(self):
        return svt.join([svt.read(path) for path in self.files()])

    def lines(self, rank, trace=None):
        return [line(e, self.ranks) for e in (trace or self.trace()).ranks[rank] if e.kind != "compute"]

    def said(self, rank):
        with open(os.path.join(self.folder, "rank-%d.txt" % rank)) as file:
            return file.read().splitlines()


class Base(unittest.TestCase):
    maxDiff = 4000

    def check(self, run):
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(run.files()), run.ranks, run.err)
        self.assertEqual(run.files(".part") + run.files(".new"), [])
        trace = run.trace()
        for rank in range(run.ranks):
            self.assertEqual(run.lines(rank, trace), run.said(rank), "rank %d" % rank)
        return trace


class Recorder(Base):
    def test_what_programs_say_they_did(self):
        for name in SAYING:
            for ranks in {"near": (2, 5), "vary": (2, 5), "comms": (4,), "inter": (4,)}.get(name, (5,)):
                with self.subTest(program=name, ranks=ranks):
                    trace = self.check(Run(self, PROGRAM, name, ranks=ranks))
                    self.assertEqual(trace.name, "mpi_program")
                    self.assertEqual(svt.problems(trace), [])
                    self.assertEqual(svt.unmatched(trace), {})

    def test_with_sanitizers(self):
        for name in SAYING:
            with self.subTest(program=name):
                run = Run(self, INSIDE, name, ranks=4, recorder=False)
                self.check(run)
                self.assertNotIn("Sanitizer", run.err)

    def test_a_receive_that_is_open_for_very_long(self):
        trace = self.check(Run(self, PROGRAM, "long", ranks=2))
        self.assertEqual(len([e for e in trace.ranks[0] if e.peer is None and e.kind == "irecv"]), 1)
        self.check(Run(self, INSIDE, "long", ranks=2, recorder=False))

    def test_very_many_that_nobody_waits_for(self):
        self.check(Run(self, PROGRAM, "leave", ranks=2))

    def test_one_rank_alone(self):
        for name in ("ring", "many", "persistent", "wildcard"):
            with self.subTest(program=name):
                run = Run(self, PROGRAM, name, ranks=1)
                self.assertEqual(svt.problems(run.trace()), [])
                self.assertEqual(svt.unmatched(run.trace()), {})

    def test_twice_the_same(self):
        for name in ("modes", "persistent", "comms", "vary", "later"):
            with self.subTest(program=name):
                first, second = Run(self, PROGRAM, name), Run(self, PROGRAM, name)
                for rank in range(4):
                    self.assertEqual(first.lines(rank), second.lines(rank))

    def test_calls_are_counted_as_they_were_made(self):
        self.assertEqual(svt.calls(Run(self, PROGRAM, "begin").trace()),
                         {"MPI_Irecv": 4, "MPI_Isend": 8, "MPI_Wait": 8, "MPI_Recv": 4, "MPI_Waitall": 4})


class Program(Base):
    """What the program and those who started it see."""

    def test_output_and_exit_code_are_the_same(self):
        for arguments in (("ring",), ("errors",), ("all", "code"), ("ring", "exit")):
            with self.subTest(arguments=arguments):
                plain, recorded = (Run(self, PROGRAM, *arguments, recorder=r) for r in (False, True))
                self.assertEqual(plain.code, recorded.code)
                if plain.code != 7:  # mpirun ends the others then, whatever they have printed
                    self.assertEqual(plain.out, recorded.out)
                self.assertEqual("selvage" in recorded.err, False, recorded.err)
        self.assertEqual(plain.files(), [])

    def test_a_program_that_ends_without_finalize(self):
        run = Run(self, PROGRAM, "ring", "exit")
        self.assertEqual(run.code, 7)
        whole = run.files()
        self.assertGreater(len(whole), 0)  # mpirun may end the others before they are done
        for path in whole:
            self.assertEqual(svt.read(path).name, "mpi_program (ended without MPI_Finalize)")
        self.check_unfinished(run, 4 - len(whole))

    def check_unfinished(self, run, count):
        self.assertEqual(len(run.files(".part")), count)
        for path in run.files(".part"):
            with open(path, "rb") as file:
                data = file.read()
            if data:  # nothing of its first buffer may be there
                self.assertIn(b"mpi_program (did not end)", data)
            with self.assertRaises(svt.Bad):
                svt.parse(data)

    def test_a_program_that_aborts(self):
        run = Run(self, PROGRAM, "ring", "abort")
        self.assertEqual(run.code, 9)
        self.assertEqual([svt.read(path).name for path in run.files()], ["mpi_program (ended by MPI_Abort)"])
        self.check_unfinished(run, 3)

    def test_a_program_that_is_killed(self):
        run = Run(self, PROGRAM, "ring", "kill")
        self.assertNotEqual(run.code, 0)
        self.assertEqual(run.files(), [])
        self.check_unfinished(run, 4)

    def test_threads_at_the_same_time(self):
        run = Run(self, PROGRAM, "threads")
        self.assertEqual(run.code, 0)
        for rank in range(4):
            self.assertIn("selvage trace: rank %d is no longer recorded: several threads call MPI at the same time (MPI_THREAD_MULTIPLE)\n" % rank,
                          run.err)
        self.assertEqual(run.files(), [])
        self.check_unfinished(run, 4)

    def without_says(self, folder, *arguments):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", LD_PRELOAD=RECORDER,
                           SELVAGE_TRACE_DIR=folder)
        environment.pop("SAYS_DIR", None)
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.decode().splitlines()), ["rank 0 of 2 is done", "rank 1 of 2 is done"])
        return collections.Counter(done.stderr.decode().splitlines())

    def test_a_folder_that_is_not_there(self):
        said = self.without_says("/nowhere/at/all", "ring")
        self.assertEqual(said["selvage trace: rank 0 is no longer recorded: cannot write to '/nowhere/at/all': No such file or directory"], 1)

    def test_files_that_may_not_be_large(self):
        folder = tempfile.mkdtemp(prefix="selvage-record-")
        self.addCleanup(shutil.rmtree, folder, True)
        said = self.without_says(folder, "leave", "small")
        self.assertEqual(said["selvage trace: rank 0 is no longer recorded: cannot write: File too large"], 1)
        self.assertEqual(sorted(os.listdir(folder)), ["rank-000000.svt.part", "rank-000001.svt.part"])

    def test_a_program_that_goes_elsewhere(self):
        self.check(Run(self, PROGRAM, "ring", "elsewhere", told="."))

    def test_ranks_that_are_there_are_not_written_over(self):
        first = Run(self, PROGRAM, "ring")
        os.rename(first.files()[3], first.files()[3] + ".part")
        before = self.contents(first)
        again = Run(self, PROGRAM, "many", folder=first.folder)
        self.assertEqual(again.code, 0)
        for rank, why in ((0, "this rank is there already"), (3, "File exists")):
            self.assertIn("selvage trace: rank %d is no longer recorded: cannot write to '%s': %s\n" % (rank, first.folder, why), again.err)
        self.assertEqual(self.contents(first), before)

    @staticmethod
    def contents(run):
        found = {}
        for path in run.files() + run.files(".part"):
            with open(path, "rb") as file:
                found[path] = file.read()
        return found

    def test_programs_that_are_not_mpis(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        done = subprocess.run(["sh", "-c", "echo hello; exit 3"], env=dict(os.environ, LD_PRELOAD=RECORDER, SELVAGE_TRACE_DIR=folder),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, b"hello\n", b""))
        self.assertEqual(os.listdir(folder), [])

    def test_fortran(self):
        programs = [path for path in (FORTRAN, FORTRAN_08) if os.path.exists(path)]
        if not programs:
            if os.environ.get("SELVAGE_REQUIRE_LIVE"):
                self.fail("no Fortran compiler (gfortran)")
            self.skipTest("no Fortran compiler (gfortran)")
        for program in programs:
            with self.subTest(program=program):
                run = Run(self, program)
                self.assertEqual(run.code, 0, run.err)
                for rank in range(4):
                    self.assertEqual(run.lines(rank), self.expected(rank))

    @staticmethod
    def expected(rank):
        after, before, half = (rank + 1) % 4, (rank + 3) % 4, rank % 2
        return ["isend MPI_Sendrecv to %d tag 5 bytes 4 in world request 0" % after, "irecv - from %d tag 5 bytes 4 in world request 1" % before,
                "wait - request 0", "wait - request 1", "irecv MPI_Irecv from %d tag 6 bytes 4 in world request 0" % before,
                "isend MPI_Isend to %d tag 6 bytes 4 in world request 1" % after, "wait MPI_Waitall request 0", "wait - request 1",
                "collective MPI_Allreduce root 0 bytes 8 in world", "collective MPI_Bcast root %d bytes 4 in 0:%d,%d" % (half, half, half + 2)]


class Command(Base):
    """selvage trace record, which does all that."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-record-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.output = os.path.join(self.folder, "x.svt")

    def record(self, *arguments, before=()):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", SAYS_DIR=self.folder)
        environment.pop("LD_PRELOAD", None)
        return subprocess.run([SELVAGE, "trace", "record", "-o", self.output, *before, "mpirun", "--oversubscribe", "-n", "4", PROGRAM, *arguments],
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def test_a_run(self):
        done = self.record("vary")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.decode().splitlines()), ["rank %d of 4 is done" % rank for rank in range(4)])
        trace = svt.read(self.output)
        events = sum(map(len, trace.ranks.values()))
        self.assertEqual(done.stderr.decode(), "selvage: %s: 4 ranks of 'mpi_program', %d events\n" % (self.output, events))
        for rank in range(4):
            with open(os.path.join(self.folder, "rank-%d.txt" % rank)) as said:
                self.assertEqual([line(e, 4) for e in trace.ranks[rank] if e.kind != "compute"], said.read().splitlines())
        self.assertEqual(sorted(os.listdir(self.folder)), ["rank-%d.txt" % rank for rank in range(4)] + ["x.svt"])
        check = subprocess.run([SELVAGE, "trace", "check", self.output], stdout=subprocess.PIPE)
        self.assertEqual((check.returncode, check.stdout), (0, b"sound: 4 ranks of mpi_program\n"))

    def test_every_program_is_sound_for_the_library(self):
        for name in set(SAYING) - {"vary"}:
            with self.subTest(program=name):
                self.assertEqual(self.record(name, before=("--smooth", "--")).returncode, 0)
                check = subprocess.run([SELVAGE, "trace", "check", self.output], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(check.returncode, 0, check.stderr)

    def test_collectives_that_are_begun_hold_nobody_up(self):
        self.assertEqual(self.record("overlap").returncode, 0)
        info = subprocess.run([SELVAGE, "trace", "info", self.output], stdout=subprocess.PIPE).stdout.decode()
        self.assertRegex(info, r"\n  MPI_Iallreduce +4 +33\.33 %\n")
        done = subprocess.run([SELVAGE, "sim", "mesh:2x2", "-e", "dor", "--trace", self.output], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"\nexecution +[0-9.]+ us")

    def test_what_is_not_sound_is_told(self):
        done = self.record("never")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), "selvage: warning: .*x.svt: something was not recorded: rank 0, event [01]: nobody waits for the request\n")

    def test_files_of_ranks_are_kept(self):
        ranks = os.path.join(self.folder, "ranks")
        self.assertEqual(self.record("ring", before=("--keep", ranks)).returncode, 0)
        self.assertEqual(sorted(os.listdir(ranks)), ["rank-%06d.svt" % rank for rank in range(4)])
        again = self.record("ring", before=("--keep", ranks))
        self.assertEqual((again.returncode, again.stderr.decode()), (3, "selvage: '%s' has traces in it already\n" % ranks))

    def test_exit_codes_are_passed_on(self):
        self.assertEqual(self.record("all", "code").returncode, 5)  # the trace is whole
        self.assertTrue(os.path.exists(self.output))
        os.remove(self.output)
        killed = self.record("ring", "kill")
        self.assertEqual(killed.returncode, 137)
        self.assertIn(".svt.part: this rank did not end", killed.stderr.decode())
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("x.svt")], [])


def main():
    missing = [name for name, there in (("mpirun", shutil.which("mpirun")), (RECORDER, os.path.exists(RECORDER)),
                                        (PROGRAM, os.path.exists(PROGRAM))) if not there]
    if missing:
        print("not there: %s (Debian: libopenmpi-dev openmpi-bin)" % ", ".join(missing))
        sys.exit(1 if os.environ.get("SELVAGE_REQUIRE_LIVE") else 77)
    unittest.main()


if __name__ == "__main__":
    main()
