"""The Makefile: `make` says which optional parts are in and which are not, and why; `make install` installs a command that works, whatever
was configured before.

Builds selvage in directories of its own: without optimization, and with ccache where there is one.
"""
import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import installed  # noqa: E402
from support.command import SELVAGE, SOURCE  # noqa: E402

BUILD = os.environ["SELVAGE_BUILD"]
PARTS = ["METIS", "jansson", "OTF2", "libibnetdisc", "SQLite", "page of reports", "MPI recorder", "MPI module", "OpenSM plugin"]
# What `selvage --version` calls them. The others are no part of the command.
WORDS = {"METIS": "metis", "jansson": "jansson", "OTF2": "otf2", "libibnetdisc": "ibnetdisc", "SQLite": "sqlite", "page of reports": "page"}
QUICK = "-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0"


class Make(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-make-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def make(self, *words, code=0, **variables):
        """make with variables; what it printed."""
        environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR")}
        if shutil.which("ccache"):
            environment["CC"] = "ccache cc"
        done = subprocess.run(["make", *words, "BUILD=" + os.path.join(self.directory, "build"),
                               *["%s=%s" % (key, value) for key, value in variables.items()]], cwd=SOURCE, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=800)
        self.assertEqual(done.returncode, code, done.stdout.decode())
        return done.stdout.decode()

    def parts(self, printed):
        """{part: why it is not in, or None}, from what make printed."""
        short = re.fullmatch(r"selvage [\d.]+: all optional parts are in: (.*)\n", printed)
        if short:
            return dict.fromkeys(short[1].split(", "))
        first, inside, *outside = printed.splitlines()
        self.assertRegex(first, r"^selvage [\d.]+, optional parts:$")
        found = dict.fromkeys(re.fullmatch("  in   (.*)", inside)[1].split(", "))
        for line in outside:
            name, why = re.fullmatch(r"  out  (.*?) \(.*?\): (.*)", line).groups()
            found[name] = why
        return found

    def test_parts_are_told_when_they_change(self):
        everything = self.parts(self.make("configure"))
        self.assertEqual(sorted(everything), sorted(PARTS))
        self.assertEqual(self.make("configure"), "")
        # Switched off is not the same as not there.
        told = self.parts(self.make("configure", CMAKE_FLAGS="-DSELVAGE_METIS=OFF -DSELVAGE_OPENSM=OFF -DOTF2_LIBRARY= "
                                    "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"))
        expected = dict(everything, **{"METIS": "switched off (SELVAGE_METIS=OFF)", "OpenSM plugin": "switched off (SELVAGE_OPENSM=OFF)",
                                       "OTF2": "not found (Debian: libotf2-trace-dev)", "MPI recorder": "not found (Debian: libopenmpi-dev)",
                                       "MPI module": "not found (Debian: libopenmpi-dev)"})
        self.assertEqual(told, expected)
        self.assertEqual(self.make("configure"), "")
        expected.update({"SQLite": "switched off (SELVAGE_SQLITE=OFF)", "page of reports": "needs SQLite", "MPI module": "needs SQLite"})
        self.assertEqual(self.parts(self.make("configure", CMAKE_FLAGS="-DSELVAGE_SQLITE=OFF")), expected)
        # What must be there is not left out.
        self.assertIn("OTF2 (reading traces of that format): not found (Debian: libotf2-trace-dev)",
                      " ".join(self.make("configure", CMAKE_FLAGS="-DSELVAGE_OTF2=ON", code=2).split()))
        self.assertIn("SELVAGE_OTF2 is ON, OFF or AUTO, not 'perhaps'", self.make("configure", CMAKE_FLAGS="-DSELVAGE_OTF2=perhaps", code=2))

    def test_parts_are_those_of_the_command(self):
        with open(os.path.join(BUILD, "parts.txt")) as file:
            parts = self.parts(file.read())
        version = subprocess.run([SELVAGE, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
        words = re.fullmatch(r"selvage [\d.]+ \((.*)\)\n", version)[1].split()
        self.assertEqual(sorted(words), sorted(["threads"] + [WORDS[name] for name, why in parts.items() if why is None and name in WORDS]))
        beside = {"MPI recorder": "libselvage_trace.so", "MPI module": "selvage-mpi.so", "OpenSM plugin": "plugin/opensm/libselvage_osm.so"}
        for name, path in beside.items():
            self.assertEqual(os.path.exists(os.path.join(BUILD, path)), parts[name] is None, name)

    def check_state(self, path):
        """The directory for status and state files of the plugin: nobody else can write there."""
        with open(os.path.join(BUILD, "parts.txt")) as file:
            if self.parts(file.read())["OpenSM plugin"] is None:
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o755)

    def test_install_at_one_prefix_after_another(self):
        """/usr has its libraries elsewhere than /opt/first has, so both the place and the command change."""
        self.make("configure", CMAKE_FLAGS=QUICK)
        prefix, stage = os.path.join(self.directory, "first"), os.path.join(self.directory, "stage")
        self.make("install", PREFIX=prefix)
        installed.check_modules(self, os.path.join(prefix, "bin", "selvage"))
        self.check_state(os.path.join(prefix, "var", "lib", "selvage"))
        self.make("install", PREFIX="/usr", DESTDIR=stage)
        shutil.rmtree(prefix)
        shutil.rmtree(os.path.join(self.directory, "build"))
        self.check_state(os.path.join(stage, "var", "lib", "selvage"))
        installed.check_modules(self, os.path.join(stage, "usr", "bin", "selvage"))
        named = glob.glob(os.path.join(stage, "usr", "lib", "**", "selvage.pc"), recursive=True)
        with open(named[0]) as file:
            self.assertIn("prefix=/usr\n", file.read())


if __name__ == "__main__":
    unittest.main()
