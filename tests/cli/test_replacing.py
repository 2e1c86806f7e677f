"""A directory of tables is replaced as one: whoever reads it, beside whichever writers, killed when
they may be, gets one whole set; and what was mixed by hand is refused.

strace kills the writer at, or fails, one system call after the other.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, SOURCE, ok, selvage  # noqa: E402
from support.tables import FILES, Base, plain  # noqa: E402
from support.trials import stride, trials  # noqa: E402

SPEC = "torus:4x4,hosts=2"
# What a writer does to a directory, and how often at most, roughly.
CALLS = ("pwrite64", "fsync", "flock", "linkat", "renameat2", "renameat", "unlinkat")

# LeakSanitizer does not work in a process that is traced.
TRACED = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")


def contents(directory):
    """{name: bytes} of all that is in it."""
    found = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = file.read()
    return found


def generation(text):
    """What a file says of its set, or None."""
    found = re.search(rb"# selvage generation ([0-9a-f]{16})$", text.split(b"\n")[0])
    return found and found[1]


class Sets(Base):
    def setUp(self):
        super().setUp()
        self.one, self.two = self.path("one"), self.path("two")
        ok("route", SPEC, "-e", "weave", "-o", self.one)
        ok("route", SPEC, "-e", "nue", "-o", self.two)
        self.of_one, self.of_two = contents(self.one), contents(self.two)

    def copy(self, name="dir", of=None):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(of or self.one, path)
        return path

    def refused(self, *arguments):
        result = selvage(*arguments)
        self.assertEqual(result.code, 3, result.err)
        self.assertIn("files of different sets of tables", result.err)
        self.assertEqual(result.err.count("\n"), 1)
        return result.err


class Stamps(Sets):
    def test_all_files_of_a_set_have_one_generation(self):
        for files in (self.of_one, self.of_two):
            self.assertEqual(set(files), FILES)
            self.assertEqual(len({generation(text) for text in files.values()}), 1)
        self.assertNotEqual(generation(self.of_one["opensm.psl"]),
                            generation(self.of_two["opensm.psl"]))
        for text in self.of_one.values():
            self.assertIsNotNone(generation(text))

    def test_mixtures_are_refused(self):
        for name in sorted(FILES):  # opensm.fdbs, too: ibdmchk reads that
            with self.subTest(file=name):
                mixed = self.copy()
                shutil.copy(os.path.join(self.two, name), mixed)
                said = self.refused("check", mixed)
                self.assertIn("write the tables again", said)
        mixed = self.copy()
        shutil.copy(os.path.join(self.two, "opensm.psl"), mixed)
        before = contents(mixed)
        self.refused("route", SPEC, "--repair", mixed, "-o", self.path("new"))
        self.refused("metrics", mixed)
        self.refused("update", mixed, self.two)
        self.assertFalse(os.path.exists(self.path("new")))
        self.assertEqual(contents(mixed), before)

    def test_sets_without_generations_are_accepted(self):
        self.assertIs(ok("check", plain(self.copy()), "--json").json["deadlock_free"], True)

    def test_some_files_without_are_a_mixture(self):
        bare = plain(self.copy("bare"))
        for name in ("opensm-lfts.dump", "opensm-subnet.lst", "opensm-sl2vl.dump"):
            part = self.copy()
            shutil.copy(os.path.join(bare, name), part)
            self.assertIn("none", self.refused("check", part))

    def test_long_names(self):
        """The first line of opensm-subnet.lst, which ends with the generation, has names in it."""
        text = ok("topo", SPEC, "-o", "-").out
        fabric, made = self.path("long.txt"), self.path("long")
        for length in (1000, 1800, 3900, 4000, 4096, 8150, 20000):
            with open(fabric, "w") as file:
                file.write(text.replace('"sw0-0"', '"' + "x" * length + '"'))
            ok("route", fabric, "-o", made)
            ok("check", made)
            shutil.copy(os.path.join(self.two, "opensm.psl"), made)
            self.refused("check", made)

    def test_a_part_of_a_set_is_accepted(self):
        part = self.copy()
        os.remove(os.path.join(part, "opensm.psl"))
        self.assertEqual(selvage("check", part).code, 6)

    def test_a_list_of_pairs_goes_with_its_tables(self):
        made = self.copy()
        with open(os.path.join(made, "repath.txt"), "w") as file:
            file.write("# of other tables\n")
        with open(os.path.join(made, "notes"), "w") as file:
            file.write("not selvage's\n")
        ok("route", SPEC, "-e", "nue", "-o", made)
        self.assertEqual(set(os.listdir(made)), FILES | {"notes"})
        svr = self.path("t.svr")
        with open(svr + ".repath", "w") as file:
            file.write("# of other tables\n")
        ok("route", SPEC, "-o", svr)
        self.assertFalse(os.path.exists(svr + ".repath"))


class Killed(Sets):
    """One call after the other: what comes out is one of the two sets."""

    def faults(self, inject, begin, *arguments, calls=CALLS, always=()):
        """Runs a command again and again, in each run one call of one kind is met by a fault.

        begin: what is done before each run. always: faults that all runs have.

        Yields (kind and number, exit code, what it said); last None: a run without a fault.
        """
        log = self.path("strace.txt")
        for call in calls:
            for k in range(1, 1000, stride(5)):
                begin()
                done = subprocess.run(
                    ["strace", "-f", "-o", log, "-e",
                     "trace=" + ",".join([call] + [fault.split(":")[0] for fault in always]),
                     *(word for fault in always for word in ("-e", "inject=" + fault)),
                     "-e", "inject=%s:%s:when=%d" % (call, inject, k), SELVAGE, *arguments],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=TRACED)
                with open(log) as file:
                    text = "".join(line for line in file if call + "(" in line or "killed" in line)
                if "INJECTED" not in text and "killed by SIGKILL" not in text:
                    break
                yield "%s %d" % (call, k), done.returncode, done.stderr.decode()
        yield None, done.returncode, done.stderr.decode()

    def whole(self, directory):
        """Which of the two sets a reader gets."""
        self.assertEqual(selvage("check", directory).code, 0)
        psl = self.path("psl")
        ok("convert", directory, "--format", "psl", "-o", psl)
        with open(psl, "rb") as file:
            text = file.read()
        bodies = [files["opensm.psl"].split(b"\n", 1)[1] for files in (self.of_one, self.of_two)]
        self.assertIn(text, bodies)
        return bodies.index(text)

    def test_killed_at_any_call(self):
        made, seen = self.copy(), [0, 0]
        for fault, code, _ in self.faults("signal=KILL", self.copy, "route", SPEC, "-e", "nue",
                                          "-o", made):
            seen[self.whole(made)] += 1
            if fault is None:
                self.assertEqual(code, 0)
                break
            # The next one finishes or forgets what the dead one left.
            ok("route", SPEC, "-e", "nue", "-o", made)
            self.assertEqual(contents(made), self.of_two, fault)
        self.assertTrue(min(seen) > 1, seen)

    def test_file_systems_that_can_less(self):
        """No files without names (no /proc), no exchange of two files: as on some network drives."""
        nameless, exchange = "access:error=ENOENT", "renameat2:error=EINVAL"
        for always in ((nameless,), (exchange,), (nameless, exchange)):
            made, seen = self.copy(), set()
            for fault, code, said in self.faults("signal=KILL", self.copy, "route", SPEC, "-e", "nue",
                                                 "-o", made, calls=("renameat", "unlinkat"),
                                                 always=always):
                seen.add(self.whole(made))
                self.assertIn(code, (0, -9), said)
                ok("route", SPEC, "-e", "nue", "-o", made)
                names = {n: t for n, t in contents(made).items()
                         if not re.fullmatch(r"\.selvage\.\d{6}", n)}  # whose writer was killed
                self.assertEqual(names, self.of_two, (fault, always))
            self.assertEqual((fault, code), (None, 0))
            self.assertIn(1, seen)

    def test_killed_while_a_set_gets_smaller(self):
        """The new set has no SLs: the old file of them must go with the old set."""
        small, made, codes = self.copy("small"), self.copy(), set()
        os.remove(os.path.join(small, "opensm.psl"))
        os.remove(os.path.join(small, "selvage.orders"))
        for fault, _, _ in self.faults("signal=KILL", self.copy, "convert", small, "--format", "tables",
                                       "-o", made):
            code = selvage("check", made).code
            self.assertIn(code, (0, 6), fault)  # proven, or SLs unknown; never 1 or 3
            codes.add(code)
        self.assertEqual(codes, {0, 6})
        self.assertFalse(os.path.exists(os.path.join(made, "opensm.psl")))

    def test_an_error_leaves_what_was_there(self):
        made, kept, changed = self.copy(), 0, 0
        for fault, code, said in self.faults("error=EIO", self.copy, "route", SPEC, "-e", "nue",
                                             "-o", made):
            now = contents(made)
            if code == 0:  # it made no difference
                left = {n: t for n, t in now.items() if not n.startswith(".selvage-next")}
                self.assertEqual(left, self.of_two, fault)
                self.assertEqual(self.whole(made), 1)
                changed += 1
            else:
                self.assertEqual(code, 5, said)
                self.assertIn("Input/output error", said)
                self.assertEqual(now, self.of_one, fault)
                kept += 1
            ok("route", SPEC, "-e", "nue", "-o", made)
            self.assertEqual(contents(made), self.of_two)
        self.assertEqual(code, 0)
        self.assertTrue(changed > 1 and kept > 1)

    def test_new_directories(self):
        """Killed while it is made for the first time: nothing, or all of it."""
        codes, made = set(), self.path("new")

        def begin():
            shutil.rmtree(made, ignore_errors=True)

        for _ in self.faults("signal=KILL", begin, "route", SPEC, "-e", "nue", "-o", made):
            codes.add(selvage("check", made).code)
        self.assertEqual(codes, {0, 3})

    def single(self, inject, repair):
        """Tables in one file with their list, written anew while calls are met by faults: yields
        (fault, exit code, whether tables and list are the new ones; None: there is no list)."""
        svr, net, old = self.path("t.svr"), self.path("left.net"), self.path("old.svr")
        ok("faults", SPEC, "--links", "2", "-o", net)
        ok("route", SPEC, "-e", "minhop", "-o", old)  # which deadlock, so pairs are listed
        shutil.copy(old, svr)
        arguments = ("-e", "nue", *(("--repair", old) if repair else ()))
        ok("route", net, *arguments, "-o", svr)
        lists = [b"# of the old tables\n"]
        if repair:
            with open(svr + ".repath", "rb") as file:
                lists.append(file.read())
        tables = []
        for path in (old, svr):
            with open(path, "rb") as file:
                tables.append(file.read())

        def begin():
            shutil.copy(old, svr)
            with open(svr + ".repath", "wb") as file:
                file.write(lists[0])

        for fault, code, said in self.faults(inject, begin, "route", net, *arguments, "-o", svr,
                                             calls=("fsync", "linkat", "renameat", "unlinkat")):
            with open(svr, "rb") as file:
                new = tables.index(file.read())
            beside = None
            if os.path.exists(svr + ".repath"):
                with open(svr + ".repath", "rb") as file:
                    beside = lists.index(file.read())
            yield fault, code, new, beside

    def test_an_error_leaves_a_file_and_its_list(self):
        """x.svr and x.svr.repath: both old, or both new."""
        for repair in (False, True):
            kept = 0
            for fault, code, new, beside in self.single("error=ENOSPC", repair):
                if code == 0 or fault.startswith("fsync") and new:  # the last: it is there all the same
                    self.assertEqual((new, beside), (1, 1 if repair else None), fault)
                else:
                    self.assertEqual((code, new, beside), (5, 0, 0), fault)
                    kept += 1
            self.assertEqual(code, 0)
            self.assertGreater(kept, 1)

    def test_a_list_is_never_beside_other_tables(self):
        for repair in (False, True):
            seen = set()
            for fault, _, new, beside in self.single("signal=KILL", repair):
                self.assertIn((new, beside), ((0, 0), (0, None), (1, None), (1, 1)), fault)
                seen.add(new)
            self.assertEqual(seen, {0, 1})

    def test_everything_is_on_the_disk_before_the_next_step(self):
        """New files, then their names, then the journal, then the exchange."""
        made, log = self.copy(), self.path("strace.txt")
        subprocess.run(["strace", "-f", "-y", "-o", log, "-e", "trace=fsync,linkat,renameat2,unlinkat",
                        SELVAGE, "route", SPEC, "-e", "nue", "-o", made], check=True,
                       stdout=subprocess.DEVNULL, env=TRACED)
        with open(log) as file:
            calls = [re.sub(r"^\d+ +", "", line) for line in file if made in line or "deleted" in line]
        steps = []  # what happened, each run of the same kind once
        for call in calls:
            name = call.split("(")[0]
            kind = ("fsync directory" if name == "fsync" and "<%s>" % made in call else
                    "fsync file" if name == "fsync" else
                    "link journal" if name == "linkat" and '".selvage-next"' in call else
                    "link file" if name == "linkat" else
                    "exchange" if name == "renameat2" else
                    "remove journal" if '".selvage-next"' in call else "remove file")
            self.assertTrue(call.rstrip().endswith("= 0") or "ENOENT" in call, call)
            if "ENOENT" not in call and (not steps or steps[-1] != kind):
                steps.append(kind)
        self.assertEqual(steps, ["fsync file", "link file", "fsync directory", "fsync file",
                                 "link journal", "fsync directory", "exchange", "fsync directory",
                                 "remove journal", "remove file", "fsync directory"])
        self.assertEqual(sum(call.startswith("fsync") for call in calls), len(FILES) + 1 + 4)

    def test_no_room(self):
        """A file that may not grow: as a full disk."""
        made = self.copy()
        done = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$0" route %s -e nue -o "$1"' % SPEC,
                               SELVAGE, made], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(contents(made), self.of_one)

    def test_a_directory_in_the_way(self):
        made = self.copy()
        os.remove(os.path.join(made, "opensm.psl"))
        os.mkdir(os.path.join(made, "opensm.psl"))
        result = selvage("route", SPEC, "-e", "nue", "-o", made)
        self.assertEqual(result.code, 5)
        self.assertIn("opensm.psl': Is a directory", result.err)
        os.rmdir(os.path.join(made, "opensm.psl"))
        left = {n: t for n, t in self.of_one.items() if n != "opensm.psl"}
        self.assertEqual(contents(made), left)


class Foreign(Sets):
    """Somebody else changes files of a directory in which a writer died before it was done."""

    def dead(self, k=1, of=None):
        """A directory with set one, whose writer of set two was killed at its k-th exchange."""
        made = self.copy(of=of)
        subprocess.run(["strace", "-f", "-o", self.path("strace.txt"), "-e", "trace=renameat2", "-e",
                        "inject=renameat2:signal=KILL:when=%d" % k, SELVAGE, "route", SPEC, "-e",
                        "nue", "-o", made], stdout=subprocess.DEVNULL, env=TRACED)
        self.assertIn(".selvage-next", os.listdir(made))
        found = ok("check", made)
        self.assertIn("a program died here that replaced tables: the new ones are read", found.err)
        self.assertIn("write the tables again", found.err)
        return made

    def changed(self, made):
        result = selvage("check", made)
        self.assertEqual(result.code, 3, result.out + result.err)
        self.assertRegex(result.err, r"'(opensm|selvage)[a-z0-9.-]+' was changed after a program died")
        self.assertIn("remove '.selvage-next' to keep what is there", result.err)

    def test_other_tables_are_not_hidden(self):
        """What OpenSM dumps there, a copy by hand, the old tables put back."""
        minhop = self.path("minhop")
        self.assertEqual(selvage("route", SPEC, "-e", "minhop", "-o", minhop).code, 0)
        self.assertEqual(selvage("check", minhop).code, 1)
        bare = plain(self.copy("bare", minhop))
        for of, code, copy in ((minhop, 1, shutil.copyfile), (bare, 1, shutil.copyfile),
                               (self.one, 0, shutil.copyfile), (self.one, 0, shutil.copy2)):
            for k in (1, 4):
                made = self.dead(k)
                for name in os.listdir(of):
                    copy(os.path.join(of, name), os.path.join(made, name))
                self.changed(made)
                os.remove(os.path.join(made, ".selvage-next"))
                for name in FILES - set(os.listdir(of)):  # what min-hop has none of
                    os.remove(os.path.join(made, name))
                self.assertEqual(selvage("check", made).code, code)

    def test_tables_without_generations(self):
        """Those that were there had none, and those that came have none."""
        bare = plain(self.copy("bare"))
        made = self.dead(of=bare)
        for name in os.listdir(bare):
            shutil.copyfile(os.path.join(bare, name), os.path.join(made, name))
        self.changed(made)

    def test_removed(self):
        made = self.dead()
        for name in FILES:
            os.remove(os.path.join(made, name))
        self.changed(made)
        made = self.dead()
        for name in os.listdir(made):
            if name.startswith(".selvage-next."):
                os.remove(os.path.join(made, name))
        self.changed(made)
        os.remove(os.path.join(made, ".selvage-next"))
        self.assertEqual(contents(made), self.of_one)

    def test_the_next_writer(self):
        """It replaces all of it, or leaves what is there."""
        for k, copy in ((1, shutil.copyfile), (4, shutil.copy2)):  # as cp and cp -a do it
            made = self.dead(k)
            for name in os.listdir(self.one):
                copy(os.path.join(self.one, name), os.path.join(made, name))
            failed = subprocess.run(["strace", "-f", "-o", self.path("strace.txt"), "-e",
                                     "trace=linkat", "-e", "inject=linkat:error=ENOSPC", SELVAGE,
                                     "route", SPEC, "-e", "updn", "-o", made],
                                    stderr=subprocess.PIPE, env=TRACED)
            self.assertEqual(failed.returncode, 5, failed.stderr)
            self.assertEqual(contents(made), self.of_one)
            ok("check", made)
        made = self.dead()
        shutil.copyfile(os.path.join(self.one, "opensm.psl"), os.path.join(made, "opensm.psl"))
        ok("route", SPEC, "-e", "nue", "-o", made)
        self.assertEqual(contents(made), self.of_two)


class Races(Sets):
    def test_two_writers(self):
        made = self.copy()
        for _ in range(trials(60)):
            both = [subprocess.Popen([SELVAGE, "route", SPEC, "-e", engine, "-o", made],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    for engine in ("weave", "nue")]
            for one in both:
                said = one.communicate()[1]
                self.assertEqual((one.returncode, said), (0, b""))
            self.assertIn(contents(made), (self.of_one, self.of_two))

    def test_readers_beside_writers(self):
        made, stop, writes = self.copy(), threading.Event(), [0]

        def write():
            while not stop.is_set():
                for engine in ("nue", "weave"):
                    ok("route", SPEC, "-e", engine, "-o", made)
                    writes[0] += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(trials(300)):
                result = selvage("check", made)
                self.assertEqual(result.code, 0, result.out + result.err)
        finally:
            stop.set()
            thread.join()
        self.assertGreater(writes[0], 3)

    def test_readers_beside_copies(self):
        """Somebody copies other tables over these, as cp does it: into the files that are there."""
        made, stop = self.copy(), threading.Event()

        def copy():
            while not stop.is_set():
                for files in (self.of_two, self.of_one):
                    for name, text in files.items():
                        with open(os.path.join(made, name), "wb") as file:
                            file.write(text)

        thread = threading.Thread(target=copy)
        thread.start()
        try:
            for _ in range(trials(100)):
                result = selvage("check", made)
                self.assertIn(result.code, (0, 3), result.out + result.err)
        finally:
            stop.set()
            thread.join()
        ok("check", made)

    def held(self, name, *arguments):
        """Starts a program that waits where self.path(name) has files (tests/support/pause.c)."""
        library = self.path("libpause.so")
        if not os.path.exists(library):
            subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-o",
                            library, os.path.join(SOURCE, "tests", "support", "pause.c"), "-ldl"],
                           check=True)
        return subprocess.Popen([SELVAGE, *arguments], stdout=subprocess.PIPE, env=dict(
            os.environ, LD_PRELOAD=library, SELVAGE_PAUSE=self.path(name)))

    def pauses(self, name, *places):
        os.mkdir(self.path(name))
        for place in places:
            with open(os.path.join(self.path(name), place), "w"):
                pass

    def reached(self, name, place):
        deadline = time.time() + 60
        while not os.path.exists(os.path.join(self.path(name), place + ".reached")):
            self.assertLess(time.time(), deadline, "%s never comes to %s" % (name, place))
            time.sleep(0.01)

    def go_on(self, name, place):
        os.remove(os.path.join(self.path(name), place))

    def test_members_that_only_one_set_has(self):
        """The new set has SLs, the old one none. A reader looks for their file just before the writer
        puts it there: the new tables without their SLs are not what it gets."""
        small = self.copy("small", self.two)
        os.remove(os.path.join(small, "opensm.psl"))
        os.remove(os.path.join(small, "selvage.orders"))
        made = self.copy(of=small)
        self.pauses("reader", "open:.selvage-next", "open:opensm.psl")
        self.pauses("writer", "rename:opensm.psl")
        reader = self.held("reader", "check", "--json", made)
        self.reached("reader", "open:.selvage-next")  # there is none
        writer = self.held("writer", "convert", self.one, "--format", "tables", "-o", made)
        self.reached("writer", "rename:opensm.psl")  # forwarding tables are in their places
        self.go_on("reader", "open:.selvage-next")
        self.reached("reader", "open:opensm.psl")  # there is none
        self.go_on("writer", "rename:opensm.psl")
        writer.communicate(timeout=60)
        self.assertEqual((writer.returncode, contents(made)), (0, self.of_one))
        self.go_on("reader", "open:opensm.psl")
        found = json.loads(reader.communicate(timeout=60)[0])
        self.assertEqual((reader.returncode, found["sl_known"]), (0, True))

    def test_a_writer_waits_for_another(self):
        import fcntl
        made = self.copy()
        held = os.open(made, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        one = subprocess.Popen([SELVAGE, "route", SPEC, "-e", "nue", "-o", made],
                               stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        self.assertIsNone(one.poll())
        self.assertEqual(contents(made), self.of_one)
        os.close(held)
        self.assertEqual(one.wait(60), 0)
        self.assertEqual(contents(made), self.of_two)


class Pipes(Sets):
    """What is no regular file keeps nobody waiting, unless it is the input itself."""

    def test_a_pipe_in_a_directory(self):
        for name in ("opensm.psl", "opensm-lfts.dump", "opensm-subnet.lst", ".selvage-next"):
            made = self.copy()
            path = os.path.join(made, name)
            if os.path.exists(path):
                os.remove(path)
            os.mkfifo(path)
            result = selvage("check", made, timeout=20)
            self.assertEqual(result.code, 5)
            self.assertIn("'%s': it is not a regular file" % path, result.err)

    def test_a_pipe_as_input(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        text = ok("topo", "mesh:2x2", "-o", "-").out
        reader = subprocess.Popen([SELVAGE, "info", pipe], stdout=subprocess.PIPE)
        time.sleep(0.3)  # it waits for somebody who writes
        self.assertIsNone(reader.poll())
        with open(pipe, "w") as file:
            file.write(text[:100])
            file.flush()
            time.sleep(0.3)
            file.write(text[100:])
        self.assertIn(b"switches", reader.communicate(timeout=20)[0])
        self.assertEqual(reader.returncode, 0)
        done = subprocess.run(["bash", "-c", '"$0" info <("$0" topo mesh:2x2 -o -)', SELVAGE],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_pipe_as_input_can_be_interrupted(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        for arguments in (["info", pipe], ["check", pipe], ["diff", pipe, "mesh:2"], ["info", "-"]):
            for hold in (False, True):  # nobody writes, or somebody who says nothing
                keep = os.open(pipe, os.O_RDWR) if hold else None
                reader = subprocess.Popen([SELVAGE, *arguments], stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(0.4)
                self.assertIsNone(reader.poll(), arguments)
                reader.terminate()
                self.assertEqual(reader.wait(10), 130, arguments)
                reader.communicate()
                if keep is not None:
                    os.close(keep)


if __name__ == "__main__":
    unittest.main()
