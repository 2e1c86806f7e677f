"""`make install` gives other programs what they need: headers, both libraries, a pkg-config file, a
manual page; and every example in the public headers compiles and runs against them. The installed
command finds its modules wherever it lies."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import installed  # noqa: E402
from support.command import SOURCE  # noqa: E402

BUILD = os.environ["SELVAGE_BUILD"]
FRAME = """#include <selvage/experimental/discover.h>
#include <selvage/experimental.h>
#include <selvage/selvage.h>
#include <selvage/experimental/study.h>
#include <stdio.h>

int main(void)
{
%s
    return 0;
}
"""


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(command), done.stdout.decode()))
    return done.stdout.decode()


def examples():
    """(header, code) of every @example in a public header."""
    for path in sorted(glob.glob(os.path.join(SOURCE, "include", "selvage", "**", "*.h"), recursive=True)):
        with open(path) as file:
            for code in re.findall(r"@example\n(.*?)@end", file.read(), re.S):
                lines = [re.sub(r"^ \* ?", "    ", line) for line in code.rstrip(" *\n").split("\n")]
                yield os.path.basename(path), "\n".join(lines)


# Headers whose calls are in libraries of their own.
OWN = {"discover": "selvage-discover", "study": "selvage-study", "report": "selvage-study"}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="selvage-install-")
        cls.prefix = cls.directory.name
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        found = glob.glob(os.path.join(cls.prefix, "**", "selvage.pc"), recursive=True)
        cls.pkgconfig = os.path.dirname(found[0])
        cls.library = os.path.dirname(cls.pkgconfig)
        # The file names the prefix the build was configured for; this copy lies elsewhere.
        cls.environment = dict(os.environ, PKG_CONFIG_PATH=cls.pkgconfig)

    def test_nothing_outside_the_prefix(self):
        """Not even where the build was configured for another one."""
        with open(os.path.join(BUILD, "install_manifest.txt")) as file:
            outside = [path for path in file.read().split("\n") if path and not path.startswith(
                self.prefix + "/")]
        self.assertEqual(outside, [])
        if os.path.exists(os.path.join(self.library, "libselvage_osm.so")):
            state = os.path.join(self.prefix, "var", "lib", "selvage")
            self.assertEqual(os.stat(state).st_mode & 0o777, 0o755)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def flags(self, *options, package="selvage"):
        return run("pkg-config", "--define-variable=prefix=" + self.prefix, *options, package,
                   env=self.environment).split()

    def test_everything_is_there(self):
        for pattern in ("bin/selvage", "include/selvage/selvage.h", "lib*/**/libselvage.a",
                        "lib*/**/libselvage.so", "lib*/**/libselvage_discover.a",
                        "lib*/**/libselvage_study.a", "lib*/selvage/selvage-mpi.so",
                        "lib*/selvage/libselvage_trace.so", "lib*/**/libselvage_osm.so", "share/man/man1/selvage.1",
                        "share/doc/selvage/LICENSE", "share/doc/selvage/page.licenses.txt"):
            self.assertTrue(glob.glob(os.path.join(self.prefix, pattern), recursive=True), pattern)
        self.assertIn("selvage", run(os.path.join(self.prefix, "bin", "selvage"), "--version"))

    def test_modules_are_found_wherever_it_lies(self):
        """At a prefix that it was not configured for, and after the whole tree was moved."""
        with tempfile.TemporaryDirectory(prefix="selvage-moved-") as moved:
            for place in ("here", "there"):
                tree = os.path.join(moved, place)
                if place == "here":
                    shutil.copytree(self.prefix, tree, symlinks=True)
                else:
                    os.rename(os.path.join(moved, "here"), tree)
                installed.check_modules(self, os.path.join(tree, "bin", "selvage"))
            # By a link, as modules and stow make them.
            link = os.path.join(moved, "selvage")
            os.symlink(os.path.join(tree, "bin", "selvage"), link)
            installed.check_modules(self, link)

    def test_only_the_public_calls_are_exported(self):
        library = os.path.join(self.library, "libselvage.so")
        names = [line.split()[-1] for line in
                 run("nm", "-D", "--defined-only", library).strip().split("\n")]
        declared = set()
        for path in glob.glob(os.path.join(SOURCE, "include", "selvage", "**", "*.h"), recursive=True):
            if os.path.basename(path)[:-2] in OWN:
                continue
            with open(path) as file:
                declared.update(re.findall(r"^SV_API [^;]*?\b(sv_\w+)\(", file.read(), re.M))
        # What the linker adds to a library that is instrumented for fuzzing is nobody's call.
        names = [name for name in names if not re.match(r"__(start|stop)___sancov_", name)]
        self.assertEqual(set(names), declared)

    def test_examples_in_headers(self):
        with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
            if re.search(r"^SELVAGE_SANITIZE:STRING=\S", cache.read(), re.M):
                self.skipTest("a sanitized library needs sanitized programs")
        count = 0
        for header, code in examples():
            source = os.path.join(self.prefix, "example%d.c" % count)
            with open(source, "w") as file:
                file.write(FRAME % code)
            program = source[:-2]
            count += 1
            if header[:-2] in OWN:
                run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", source, "-o", program,
                    *self.flags("--static", "--cflags", "--libs", package=OWN[header[:-2]]))
                run(program)
                continue
            run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", source, "-o", program,
                *self.flags("--cflags"), *self.flags("--libs"), "-Wl,-rpath," + self.library)
            run(program)
            run("cc", "-std=c17", source, "-o", program + "-static", *self.flags("--cflags"),
                os.path.join(self.library, "libselvage.a"),
                *[f for f in self.flags("--static", "--libs") if f != "-lselvage"])
            run(program + "-static")
        self.assertGreaterEqual(count, 5)


if __name__ == "__main__":
    unittest.main()
