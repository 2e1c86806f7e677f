"""Wrong versions of code, which tests must find out: what mutate_*.py in tests/oracle share.

A mutation has a file, what it is, and the text (old) that stands there once and is replaced by
another (new). Compiler, options and libraries are those of the build: tests/NAME.txt in its folder
has a line "KEY VALUE" for each.
"""
import concurrent.futures
import os
import subprocess
from collections import defaultdict

SOURCE = os.path.abspath(os.environ.get("SELVAGE_SOURCE", "."))
BUILD = os.path.abspath(os.environ.get("SELVAGE_BUILD", "build"))


def check(mutations, text_of):
    """Each text that is to be replaced must stand in its file once."""
    for m in mutations:
        count = text_of(m.file).count(m.old)
        if count != 1:
            raise SystemExit("%s: this is in %s %d times, not once:\n%s" % (m.what, m.file, count,
                                                                           m.old))


class Builder:
    """Compiles and links as the build does."""

    def __init__(self, name):
        self.build = defaultdict(list)
        with open(os.path.join(BUILD, "tests", name + ".txt")) as file:
            for line in file:
                key, _, value = line.rstrip("\n").partition(" ")
                if value:
                    self.build[key].append(value)

    def call(self, arguments, what):
        done = subprocess.run([*self.build["cc"], *self.build["flag"], *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit("%s: cannot be built:\n%s" % (what, done.stdout.decode()))

    def compile(self, path, target, what, first=(), rooms=("src", "include")):
        """first: folders that are looked in before those of the source."""
        self.call(["-std=c17", *self.build["option"], "-O1", "-w",
                   *("-D" + d for d in self.build["definition"]), *("-I" + i for i in first),
                   *("-I" + i for i in self.build["include"]),
                   *("-I" + os.path.join(SOURCE, room) for room in rooms),
                   "-c", path, "-o", target], what)

    def link(self, objects, program, what):
        self.call([*objects, *self.build["library"], "-o", program], what)


def judge_all(judge, mutations):
    """Each mutation with its verdict, on all cores, in order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield from zip(mutations, pool.map(judge, range(len(mutations)), mutations))
