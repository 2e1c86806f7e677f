"""Wrong versions of code, which tests must find out: what mutate_*.py in tests/oracle share.

A mutation has a file, what it is, and the text (old) that stands there once and is replaced by
another (new). Compiler, options and libraries are those of the build: tests/NAME.txt in its folder
has a line "KEY VALUE" for each.
"""
import concurrent.futures
import os
import subprocess
import tempfile
import time
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


class Shop(Builder):
    """Builds and runs tests with one file of a room that is wrong; what it leaves alone is the
    build's. tests: {name: its argument, or None}."""

    def __init__(self, name, folder, room, files, tests):
        super().__init__(name)
        self.folder, self.room, self.files, self.tests = folder, room, files, tests
        self.limit = 600  # seconds a run may take

    def judge(self, number, mutation):
        """Which test found it (None: none did); mutation None: all files as they are."""
        place = os.path.join(self.folder, str(number))
        os.makedirs(place)
        what = mutation.what if mutation else "as it is"
        objects = []
        for file in [mutation.file] if mutation else self.files:
            with open(os.path.join(self.room, file)) as source:
                text = source.read()
            path = os.path.join(place, file)
            with open(path, "w") as copy:
                copy.write(text.replace(mutation.old, mutation.new) if mutation else text)
            self.compile(path, path + ".o", what)
            objects.append(path + ".o")
        for test, argument in self.tests.items():
            program = os.path.join(place, test)
            self.link([*objects, *self.build[test]], program, what)
            if not self.run([program, *([argument] if argument else [])]):
                return test
        return None

    def run(self, words):
        """Whether it came through."""
        try:
            return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=self.limit).returncode == 0
        except subprocess.TimeoutExpired:
            return False


def find_out(name, what, room, mutations, tests):
    """Tells which test finds out each mutation of a room; the exit code: 1 if one came through."""
    def text_of(file):
        with open(os.path.join(room, file)) as source:
            return source.read()

    check(mutations, text_of)
    with tempfile.TemporaryDirectory(prefix="selvage-mutate-") as folder:
        shop = Shop(name, folder, room, sorted({m.file for m in mutations}), tests)
        begin = time.monotonic()
        found = shop.judge("present", None)
        if found is not None:
            raise SystemExit("%s as they are: found out by the test %s" % (what, found))
        shop.limit = max(30, round(6 * (time.monotonic() - begin)))
        missed = 0
        for mutation, found in judge_all(shop.judge, mutations):
            missed += found is None
            print("%-14s %-11s %s" % (found or "CAME THROUGH", mutation.file, mutation.what),
                  flush=True)
    print("%d wrong %s, %d came through; %.0f s" % (len(mutations), what, missed,
                                                   time.monotonic() - begin))
    return 1 if missed else 0
