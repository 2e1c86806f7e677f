"""Whether a command that lies somewhere finds its modules: the recorder, and MPI for studies."""
import os
import subprocess
import tempfile

from support import svt

BUILD = os.environ.get("SELVAGE_BUILD", "build/check")
PROGRAM = os.path.join(BUILD, "tests", "mpi_program")
CELLS = 6


def environment(folder):
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                OMPI_MCA_rmaps_base_oversubscribe="1", SAYS_DIR=folder, TMPDIR=folder,
                ASAN_OPTIONS="detect_leaks=0:detect_odr_violation=0")


def check_modules(test, command):
    """Records an MPI program and runs a study under mpirun, both with two ranks."""
    with tempfile.TemporaryDirectory(prefix="selvage-run-") as folder:
        def run(*words):
            done = subprocess.run(words, cwd=folder, env=environment(folder), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=300)
            test.assertEqual(done.returncode, 0, "%s: %s" % (command, done.stderr.decode()))
            return done.stderr.decode()

        run(command, "trace", "record", "-o", "ring.svt", "mpirun", "--oversubscribe", "-n", "2", PROGRAM, "ring")
        trace = svt.read(os.path.join(folder, "ring.svt"))
        test.assertEqual(sorted(trace.ranks), [0, 1])
        said = run("mpirun", "--oversubscribe", "-n", "2", command, "study", "run", "-f", "mesh:3x3,hosts=1",
                   "--links", "1,2", "--seeds", "1..%d" % (CELLS // 2), "-e", "minhop", "--no-sim", "--db", "study.db")
        test.assertIn("%d of %d cells run" % (CELLS, CELLS), said)
