"""Mutants: the language of marks, that marks and mutants belong together, which are run, and that
renaming breaks none.
"""
import glob
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import mutate  # noqa: E402
from support.marks import (MarkError, Source, drop, expr, member, operand, stmt, swap, term,  # noqa: E402
                           through, token)

SUITES = [importlib.import_module("oracle." + os.path.basename(path)[:-3]).SUITE
          for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "mutate_*.py")))]


def changed(line, change):
    source = Source("a.c", "void f(void)\n{\n%s\n}\n" % line)
    start, end, new = change.edit(source, source.marks["m"][0])
    text = source.text[:start] + new + source.text[end:]
    return " ".join(re.sub(r"/\*~m\*/", "", text)[15:-3].split())


class Language(unittest.TestCase):
    """What each change does to a line."""

    def check(self, line, change, expected):
        self.assertEqual(changed(line, change), expected)

    def test_tokens(self):
        self.check("if (a /*~m*/ <= b) c();", token("<"), "if (a < b) c();")
        self.check("/*~m*/ while (a) b();", token("if"), "if (a) b();")
        self.check("x = y /*~m*/ ? -1 : 1;", swap(), "x = y ? 1 : -1;")
        self.check("x = /*~m*/ x->f->tail[c->i].i;", member("head"), "x = x->f->head[c->i].i;")

    def test_operators_go_with_their_right_operand(self):
        self.check("x = a /*~m*/ + b * (c + d) - e;", drop(), "x = a - e;")
        self.check("x = a /*~m*/ - (uint64_t)b->c[d] * -e + f;", drop(), "x = a + f;")
        self.check("if (a /*~m*/ && !b(c, d) == e || f) g();", drop(), "if (a || f) g();")
        self.check("x = a /*~m*/ / b;", drop(), "x = a ;")

    def test_left_operands(self):
        self.check("if (/*~m*/ a == (b && c) && d) e();", through("&&"), "if ( d) e();")
        self.check("return /*~m*/ a ? b(c ? d : e) : f;", through(":"), "return f;")

    def test_statements(self):
        self.check("a(); /*~m*/ if (b) c(d); else { e(); } f();", drop(), "a(); ; f();")
        self.check("if (a)\n    /*~m*/ b = c;\nd();", drop(), "if (a) ; d();")
        self.check("/*~m*/ for (a; b; c) { d(); } e();", stmt("if (x) $0"), "if (x) for (a; b; c) { d(); } e();")
        self.check("/*~m*/ a[b] += c;", stmt("$1 = $1 > $2 ? $1 : $2;"), "a[b] = a[b] > c ? a[b] : c;")
        self.check("/*~m*/ SV_TRY(a(b, c));", stmt("return $1;"), "return a(b, c);")

    def test_extents(self):
        line = "if (/*~m*/ a.b + c(d)->e < f && g ? h : i) j();"
        self.check(line, term("0"), "if ( 0 + c(d)->e < f && g ? h : i) j();")
        self.check(line, operand("0"), "if ( 0 && g ? h : i) j();")
        self.check(line, expr("0"), "if ( 0) j();")
        self.check("f(a, /*~m*/ (size_t)*b++ + c, d);", term("($0 + 1)"), "f(a, ((size_t)*b++ + 1) + c, d);")
        self.check("x = (t){.a = /*~m*/ b, .c = d};", expr("$0, .e = 1"), "x = (t){.a = b, .e = 1, .c = d};")

    def test_parts(self):
        self.check("x = /*~m*/ f(a, g(b, c));", term("$2.1"), "x = b;")
        self.check("x = /*~m*/ (a + b - 1) / c;", expr("$1.1 / $2 + 1"), "x = a / c + 1;")
        self.check("x = /*~m*/ a < b ? a : b;", expr("$1.2"), "x = b;")
        self.check("x = y[/*~m*/ p->q[r].i];", expr("$1"), "x = y[ r];")
        self.check("for /*~m*/ (int i = 0; i < n->m; i++) a();", term("($1.1 = $2.2; $2.1-- > 0;)"),
                   "for (int i = n->m; i-- > 0;) a();")

    def test_what_does_not_fit(self):
        for line, change in (("x = /*~m*/ a;", drop()), ("x = /*~m*/ a;", expr("$1")), ("x = /*~m*/ a;", stmt("")),
                             ("x = /*~m*/ a || b;", through("&&")), ("x = /*~m*/ a;", swap()),
                             ("x = /*~m*/ a;", member("b"))):
            with self.assertRaisesRegex(MarkError, re.escape("a.c: %s does not fit" % change)):
                changed(line, change)


class Marks(unittest.TestCase):
    """Those of src, and those of the tables."""

    def test_each_mutant_has_its_marks_and_each_mark_its_mutants(self):
        files = mutate.sources()
        mutants = [each for suite in SUITES for each in suite.mutants]
        mutate.place_all(mutants, files)
        self.assertEqual({name for source in files.values() for name in source.marks},
                         {each.at for each in mutants})

    def test_names_are_told_apart(self):
        names = [each.name for suite in SUITES for each in suite.mutants]
        self.assertEqual(sorted(set(names)), sorted(names))
        self.assertGreater(len(names), 500)

    def test_no_mark_is_misspelt_or_the_name_of_something(self):
        """Who renames words of the source renames no mark."""
        marks, words = set(), set()
        for folder, _, names in os.walk(os.path.join(mutate.SOURCE, "src")):
            for name in names:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(folder, name)) as file:
                        source = Source(name, file.read())
                    self.assertEqual(source.text.count("/*~"), sum(map(len, source.marks.values())), name)
                    marks.update(source.marks)
                    words.update(each.text for each in source.tokens)
        self.assertEqual(marks & words, set())

    def test_tests_are_known(self):
        for suite in SUITES:
            for each in suite.mutants:
                self.assertTrue(each.by is None or each.by in suite.tests, each.name)
                self.assertTrue(each.changes, each.name)

    def test_what_vanished_or_does_not_fit_is_named(self):
        for each, said in ((mutate.mutant("gone", None, "", drop()), "mutant gone: the mark gone is in src 0 times"),
                           (mutate.mutant("odd", None, "", swap(), at="flow_all"), "mutant odd: src/.*: swap.. does not fit"),
                           (mutate.mutant("idle", None, "", expr("$0"), at="flow_all"),
                            "mutant idle: src/.*: nothing changes")):
            with self.assertRaisesRegex(SystemExit, said):
                mutate.place_all([each], mutate.sources())

    def test_what_cannot_be_built_is_named(self):
        suite = next(suite for suite in SUITES if suite.name == "seed")
        broken = suite._replace(mutants=[
            each._replace(changes=(expr("no_such_name"),)) if each.name == "flow_all" else each
            for each in suite.mutants])
        files = mutate.sources()
        placed = mutate.place_all(broken.mutants, files)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
            with self.assertRaisesRegex(SystemExit, "cannot be built: mutant flow_all$"):
                mutate.build(broken, mutate.Builder("seed"), folder, files, placed,
                             range(len(placed)), pool)


class Selection(unittest.TestCase):
    """Which are run: of 30 mutants in two rooms, in repositories of all sorts."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = os.path.join(scratch.name, "here")
        self.suite = mutate.Suite("s", "examples", {"x": ("x",), "y": ("y",)}, [], ["tests/oracle/mutate_s.py"])
        self.objects = {"x": ["b/x.dir/oracle/x.c.o", "b/x.dir/oracle/x_case.c.o"], "y": ["b/y.dir/oracle/y.c.o"]}
        for room, test, first in (("a", "x", 0), ("b", "y", 20)):
            count = 20 if room == "a" else 10
            self.write("src/%s/%s.c" % (room, room), "".join(
                "void %s%d(void)\n{\n    /*~m_%d*/ f();\n}\n" % (room, i, i) for i in range(first, first + count)))
            self.suite.mutants.extend(mutate.mutant("m_%d" % i, None, "", drop(), by=test)
                                      for i in range(first, first + count))
        self.write("tests/oracle/x_case.c", "")
        patch = mock.patch.object(mutate, "SOURCE", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        self.placed = mutate.place_all(self.suite.mutants, mutate.sources(self.root))

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write(text)

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=n", "-c", "user.email=e@example.org",
                        "-c", "commit.gpgsign=false", *words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def commit(self, message="x"):
        self.git("add", "-A")
        self.git("commit", "-m", message)

    def repository(self):
        self.git("init", "-b", "main")
        self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")

    def select(self, how, *words):
        environment = {"SELVAGE_MUTANTS": how} if how else {}
        with mock.patch.dict(os.environ, environment):
            if not how:
                os.environ.pop("SELVAGE_MUTANTS", None)
            return mutate.select(self.suite, self.placed, self.objects, list(words))

    def test_all_and_a_tenth(self):
        self.assertEqual(self.select(None), (list(range(30)), "all"))
        self.assertEqual(self.select("all")[0], list(range(30)))
        self.assertEqual(self.select("tenth")[0], [0, 10, 20])
        self.assertEqual(self.select("tenth"), self.select("tenth"))
        with self.assertRaisesRegex(SystemExit, "'half': say all, changed or tenth"):
            self.select("half")

    def test_what_is_named(self):
        self.assertEqual(self.select("tenth", "m_3", "b.c")[0], [3, *range(20, 30)])
        with self.assertRaisesRegex(SystemExit, "neither mutants nor files with some: c.c m_77"):
            self.select(None, "m_77", "a.c", "c.c")

    def test_rooms_that_differ(self):
        self.repository()
        chosen, why = self.select("changed")
        self.assertEqual(chosen, [0, 10, 20])
        self.assertRegex(why, "a fixed tenth: nothing differs from the merge base [0-9a-f]{9} with origin/main")
        self.write("docs/a.md", "text")  # not tracked
        chosen, why = self.select("changed")
        self.assertEqual(chosen, [])
        self.assertRegex(why, "those of what differs from .*: nothing here")
        self.write("src/b/other.c", "")  # not tracked
        chosen, why = self.select("changed")
        self.assertEqual(chosen, list(range(20, 30)))
        self.assertRegex(why, ": src/b$")
        self.commit()
        self.assertEqual(self.select("changed")[0], list(range(20, 30)))
        self.write("src/a/a.c", "\n")  # not committed
        self.assertEqual(self.select("changed")[0], list(range(30)))

    def test_room_from_which_a_file_has_gone(self):
        self.write("src/a/gone.c", "int gone;\n")
        self.repository()
        os.makedirs(os.path.join(self.root, "src/c"))
        self.git("mv", "src/a/gone.c", "src/c/come.c")
        self.assertEqual(self.select("changed")[0], list(range(20)))

    def test_tests_tables_and_machinery_that_differ(self):
        self.repository()
        for path, expected in (("tests/oracle/x_case.c", range(20)), ("tests/oracle/y.c", range(20, 30)),
                               ("tests/oracle/z.c", []), ("include/selvage/b.h", range(20, 30)),
                               ("tests/oracle/mutate_s.py", range(30)), ("tests/support/marks.py", range(30))):
            self.write(path, "\n")
            self.assertEqual(self.select("changed")[0], list(expected), path)
            self.git("stash", "-u")

    def test_others_commits_on_main_do_not_count(self):
        self.repository()
        self.git("checkout", "-b", "topic")
        self.write("src/b/b.c", "\n")
        self.commit()
        self.git("checkout", "main")
        self.write("src/a/a.c", "\n")
        self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("checkout", "topic")
        self.assertEqual(self.select("changed")[0], list(range(20, 30)))

    def test_nobody_can_tell(self):
        def says(why):
            self.assertEqual(self.select("changed"), ([0, 10, 20], "a fixed tenth: " + why))

        says("the source is no git repository")
        with mock.patch.dict(os.environ, {"PATH": self.root}):
            says("there is no git")
        self.git("init", "-b", "main")
        self.commit()
        says("there is no origin/main")
        self.git("checkout", "--orphan", "other")
        self.commit("not the commit of main")
        self.git("update-ref", "refs/remotes/origin/main", "main")
        says("there is no merge base with origin/main (a shallow clone?)")

    def test_shallow_clone(self):
        self.repository()
        self.git("checkout", "-b", "topic")
        self.write("src/a/a.c", "\n")
        self.commit()
        self.git("checkout", "main")
        self.write("src/b/b.c", "\n")
        self.commit()
        shallow = self.root + "-shallow"
        subprocess.run(["git", "clone", "-q", "--depth", "1", "--no-single-branch", "-b", "topic",
                        "file://" + self.root, shallow], check=True)
        with mock.patch.object(mutate, "SOURCE", shallow):
            self.assertEqual(self.select("changed"), (
                [0, 10, 20], "a fixed tenth: there is no merge base with origin/main (a shallow clone?)"))

    def test_every_suite_has_a_tenth_in_many_files(self):
        with mock.patch.object(mutate, "SOURCE", os.path.abspath(os.environ.get("SELVAGE_SOURCE", "."))):
            files = mutate.sources(mutate.SOURCE)
            for suite in SUITES:
                placed = mutate.place_all(suite.mutants, files)
                with mock.patch.dict(os.environ, {"SELVAGE_MUTANTS": "tenth"}):
                    chosen, _ = mutate.select(suite, placed, {}, [])
                self.assertEqual(len(chosen), (len(placed) + 9) // 10)
                large = {path for path in {p[0] for p in placed}
                         if sum(p[0] == path for p in placed) >= 10}
                self.assertLessEqual(large, {placed[i][0] for i in chosen})


class Renaming(unittest.TestCase):
    """In a copy of the source in which variables, functions, members, types and files have other names, and no line
    is where it was, mutants are found as they were."""
    # Words that mutants of the five phases use: locals, static functions, members, a type, constants.
    WORDS = ("member", "mail", "lease_end", "owes", "set_state", "owe_ask", "advance", "first_serial", "is_odd",
             "epoch", "serial", "fenced", "sv__member", "SV__DONE", "SV__HEARD")
    MUTANTS = ("lease_renew", "join_epoch", "confirm_asked", "heard_done", "goes_on", "heard_lease", "lease_early",
               "epoch_older", "fence_news", "expel_late", "numbers_round", "bye_serial", "high_asks")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name
        for folder in ("src", "include"):
            shutil.copytree(os.path.join(mutate.SOURCE, folder), os.path.join(self.root, folder))
        for folder in ("tests/oracle", "tests/support"):
            os.makedirs(os.path.join(self.root, folder))
            for path in glob.glob(os.path.join(mutate.SOURCE, folder, "*.py")):
                shutil.copy(path, os.path.join(self.root, folder))

    def edit(self, folders, change):
        for folder in folders:
            for place, _, names in os.walk(os.path.join(self.root, folder)):
                for name in names:
                    path = os.path.join(place, name)
                    with open(path) as file:
                        text = file.read()
                    new = change(text)
                    if new != text:
                        with open(path, "w") as file:
                            file.write(new)

    def rename(self, words, folders):
        pattern = re.compile(r"\b(%s)\b" % "|".join(words))
        self.edit(folders, lambda text: pattern.sub(r"renamed_\1", text))

    def run_suite(self, *names):
        done = subprocess.run([sys.executable, "-B", os.path.join(self.root, "tests/oracle/mutate_five.py"), *names],
                              env=dict(os.environ, SELVAGE_SOURCE=self.root, SELVAGE_BUILD=mutate.BUILD),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode()

    def spread(self, text):
        """Each token of a line on a line of its own."""
        return "".join(line if line.startswith("#") or '"' in line or line.endswith("\\\n") else
                       re.sub(r"(?<=[\w)\]]) (?=\S)", "\n", line) for line in text.splitlines(True))

    def test_other_names_and_other_lines(self):
        self.rename(self.WORDS, ("src", "include", "tests"))
        room = os.path.join(self.root, "src/update")
        for old, new in (("five.h", "phases.h"), ("five_manager.c", "phases_manager.c")):
            os.rename(os.path.join(room, old), os.path.join(room, new))
        self.edit(["src"], lambda text: text.replace('"update/five.h"', '"update/phases.h"'))
        self.edit(["src/update"], self.spread)
        with open(os.path.join(room, "phases_manager.c")) as file:
            text = file.read()
        self.assertIn("renamed_member->renamed_lease_end", text)
        self.assertNotRegex(text, r"[^_]\bowe_ask\b")
        code, said = self.run_suite(*self.MUTANTS)
        self.assertEqual(code, 0, said)
        for name in self.MUTANTS:
            self.assertRegex(said, r"(?m)^(trials|unit|manager) (seed \d+|found) +(phases|five)\S+ +%s " % name)

    def test_names_that_were_forgotten(self):
        self.rename(("set_state", "lease_end"), ("src",))  # and not in the tables
        code, said = self.run_suite("heard_done", "heard_lease", "lease_renew")
        self.assertNotEqual(code, 0)
        self.assertRegex(said, r"cannot be built: mutant heard_done\n")  # the others do not name them

    def test_a_mutant_that_nothing_finds(self):
        """One that changes nothing is said to have come through."""
        self.edit(["tests/oracle"], lambda text: text.replace('expr("$1.1 > $1.2")', 'expr("$0 && 1")'))
        code, said = self.run_suite("numbers_round")
        self.assertEqual(code, 1, said)
        self.assertIn("CAME THROUGH", said)


if __name__ == "__main__":
    unittest.main()
