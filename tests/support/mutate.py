"""Mutation tests: mutants of the source, each of which a test must find. What
tests/oracle/mutate_*.py share.

A mutant has a name, says which rule it breaks and how, and changes the source where a mark stands
(support/marks.py). All mutants of a suite are built at once: in the copies that are compiled a
function with marks has a body for each of its mutants beside its own, and an environment variable
says which is taken. So a mutant costs the run of a test, no compiling and no linking.
(docs/decisions/0031-mutants.md says why.)

    SELVAGE_MUTANTS=all       all of them; so it is if it is not set
    SELVAGE_MUTANTS=changed   those of rooms that differ from the merge base with origin/main,
                              uncommitted changes included: where their source, or the test that
                              finds them, does; where nobody can tell, a tenth
    SELVAGE_MUTANTS=tenth     a fixed tenth, spread over all files

Arguments are names of mutants or of files: only these. SELVAGE_TRIALS is set to 1 for what is run
here: whoever runs other tests for longer or shorter does not change what finds a mutant.

Compiler, options and libraries are those of the build: tests/mutate_NAME.txt in its folder has a
line "KEY VALUE" for each.
"""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, namedtuple

from support.marks import MarkError, Source, find_marks

SOURCE = os.path.abspath(os.environ.get("SELVAGE_SOURCE", "."))
BUILD = os.path.abspath(os.environ.get("SELVAGE_BUILD", "build"))
MACHINERY = ("tests/support/marks.py", "tests/support/mutate.py", "tests/support/testing.c",
             "tests/support/testing.h")
VARIABLE = "SELVAGE_MUTANT"  # the number of the mutant that is run; 0: none

# rule: a number of the page that the suite names, or None; at: its mark, if that has another name; by:
# the test that must find it (None: any of the suite); seed: of a trial that shows it, tried before all
# trials are; same: why it changes nothing, and must come through, where that is so.
Mutant = namedtuple("Mutant", "name rule what changes at by seed same")
# what: of what its mutants are; tests: {name: (key of its objects, argument …)}, of trials their number
# and the first seed before others; tables: files that the mutants stand in.
Suite = namedtuple("Suite", "name what tests mutants tables")


def mutant(name, rule, what, *changes, at=None, by=None, seed=None, same=None):
    return Mutant(name, rule, what, changes, at or name, by, seed, same)


# ---- where they are ----

def sources(root=SOURCE):
    """{path: Source} of all files of src that have marks."""
    found = {}
    for folder, _, names in os.walk(os.path.join(root, "src")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith((".c", ".h")):
                with open(path) as file:
                    text = file.read()
                if find_marks(text):
                    found[os.path.relpath(path, root)] = Source(os.path.relpath(path, root), text)
    return found


def edits_of(mutant, files):
    """The file of a mutant, the braces of its function, and what it changes there."""
    places = [(path, i) for path, source in files.items() for i in source.marks.get(mutant.at, [])]
    if len(places) != len(mutant.changes):
        raise MarkError("the mark %s is in src %d times, not %d" % (mutant.at, len(places),
                                                                   len(mutant.changes)))
    path = places[0][0]
    bodies = {(place, files[place].body(i)) for place, i in places}
    if len(bodies) != 1 or files[path].body(places[0][1]) is None:
        raise MarkError("%s: the mark %s is not in one function" % (path, mutant.at))
    edits = [change.edit(files[path], i) for change, (_, i) in zip(mutant.changes, places)]
    if all(files[path].text[start:end].split() == text.split() for start, end, text in edits):
        raise MarkError("%s: nothing changes at the mark %s" % (path, mutant.at))
    return path, files[path].body(places[0][1]), edits


def place_all(mutants, files):
    """[(path, body, edits)] for each mutant; ends with all of those that have no place, if some have none."""
    placed, wrong = [], []
    for each in mutants:
        try:
            placed.append(edits_of(each, files))
        except MarkError as error:
            wrong.append("mutant %s: %s" % (each.name, error))
    if wrong:
        raise SystemExit("\n".join(wrong))
    return placed


def with_mutants(source, chosen):
    """The text of a file in which each of chosen, (number, name, body, edits), has a body of its own."""
    text, at, pieces = source.text, 0, ["extern int sv__mutant;\n"]
    bodies = defaultdict(list)
    for number, name, body, edits in chosen:
        bodies[body].append((number, name, edits))

    def go_to(end):
        pieces.append('#line %d "%s"\n%s\n' % (text.count("\n", 0, at) + 1, source.path,
                                              text[at:end]))

    for (first, last), mutants in sorted(bodies.items()):
        begin, end = source.tokens[first].end, source.tokens[last].start
        go_to(begin)
        at = begin
        for number, name, edits in mutants:
            wrong, cut = [], begin
            for start, stop, new in sorted(edits):
                wrong += [text[cut:start], " ", new, " "]
                cut = stop
            pieces += ["if (__builtin_expect(sv__mutant == %d, 0)) {\n" % number,
                       '#line 1 "mutant %s"\n' % name, *wrong, text[cut:end], "\n} else\n"]
        pieces.append("{\n")
        go_to(end)
        at = end
        pieces.append("}\n")
    go_to(len(text))
    return "".join(pieces)


# ---- which are run ----

def git(*words):
    done = subprocess.run(["git", "-C", SOURCE, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout.decode() if done.returncode == 0 else None


def differing():
    """(files that differ from the merge base, what that is), or (None, why nobody can tell)."""
    try:
        top = git("rev-parse", "--show-toplevel")
    except OSError:
        return None, "there is no git"
    if top is None or os.path.realpath(top.strip()) != os.path.realpath(SOURCE):
        return None, "the source is no git repository"
    if git("rev-parse", "--verify", "--quiet", "origin/main") is None:
        return None, "there is no origin/main"
    base = git("merge-base", "HEAD", "origin/main")
    if base is None:
        return None, "there is no merge base with origin/main (a shallow clone?)"
    changed = git("diff", "--name-only", "--no-renames", "-z", base.strip())
    added = git("ls-files", "--others", "--exclude-standard", "-z")
    if changed is None or added is None:
        return None, "the merge base with origin/main is not there (a shallow clone?)"
    return ({path for path in (changed + added).split("\0") if path},
            "the merge base %s with origin/main" % base[:9])


def concerns(suite, mutant, path, objects, changed):
    """The changed files that a mutant has to do with: of its room, of its test, of its tables."""
    room = os.path.dirname(path)
    tests = [mutant.by] if mutant.by else suite.tests
    watched = {*MACHINERY, *suite.tables}
    for test in tests:
        watched.update(test_sources(objects[suite.tests[test][0]]))
    return {each for each in changed if os.path.dirname(each) == room or each in watched or
            each == "include/selvage/%s.h" % os.path.basename(room)}


def test_sources(objects):
    """tests/oracle/sim_case.c of …/oracle_test_sim.dir/oracle/sim_case.c.o."""
    return {"tests/" + match.group(1) for match in
            (re.search(r"\.dir/(.*\.c)\.o(bj)?$", each) for each in objects) if match}


def tenth(numbers, placed):
    """Every tenth of those numbers, by file and place in it."""
    def place(i):
        path, (first, _), edits = placed[i]
        return path, first, edits

    return sorted(sorted(numbers, key=place)[::10])


def select(suite, placed, objects, words):
    """The numbers of mutants that are run, and a line that says which and why."""
    every = list(range(len(suite.mutants)))
    if words:
        called = [{suite.mutants[i].name, placed[i][0], os.path.basename(placed[i][0])} for i in every]
        unknown = set(words).difference(*called)
        if unknown:
            raise SystemExit("neither mutants nor files with some: %s" % " ".join(sorted(unknown)))
        return [i for i in every if called[i].intersection(words)], "those that are named"
    how = os.environ.get("SELVAGE_MUTANTS", "all")
    if how not in ("all", "changed", "tenth"):
        raise SystemExit("SELVAGE_MUTANTS is '%s': say all, changed or tenth" % how)
    if how == "all":
        return every, "all"
    if how == "tenth":
        return tenth(every, placed), "a fixed tenth, as SELVAGE_MUTANTS says"
    changed, against = differing()
    if changed is None:
        return tenth(every, placed), "a fixed tenth: " + against
    if not changed:
        return tenth(every, placed), "a fixed tenth: nothing differs from " + against
    why = [concerns(suite, suite.mutants[i], placed[i][0], objects, changed) for i in every]
    reasons = sorted({os.path.dirname(each) if each.startswith("src/") else each for found in why
                      for each in found})
    return [i for i in every if why[i]], "those of what differs from %s: %s" % (
        against, " ".join(reasons) or "nothing here")


# ---- building ----

class Builder:
    """Compiles and links as the build does."""

    def __init__(self, name):
        self.build = defaultdict(list)
        path = os.path.join(BUILD, "tests", "mutate_%s.txt" % name)
        if not os.path.exists(path):
            raise SystemExit("%s is not there: SELVAGE_BUILD has to be a folder that was built with "
                             "tests and without sanitizers" % path)
        with open(path) as file:
            for line in file:
                key, _, value = line.rstrip("\n").partition(" ")
                if value:
                    self.build[key].append(value)

    def call(self, arguments):
        done = subprocess.run([*self.build["cc"], *self.build["flag"], *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            said = done.stdout.decode(errors="replace")
            names = sorted(set(re.findall(r"\bmutant ([a-z0-9_]+):\d+", said)))
            raise SystemExit("%s\n%s" % (said, "cannot be built: %s" % (
                "mutant " + ", ".join(names) if names else "what has no mutant in it")))

    def compile(self, path, target, folder):
        """folder: where headers are looked for before those of the source."""
        self.call(["-std=c17", *(o for o in self.build["option"] if not o.startswith("-W")), "-O1",
                   "-Werror=implicit-function-declaration",
                   *("-D" + d for d in self.build["definition"]),
                   *("-I" + os.path.join(place, room) for place, room in
                     ((folder, "src"), (SOURCE, "src"), (SOURCE, "include"))),
                   "-c", path, "-o", target])

    def link(self, objects, program):
        self.call([*objects, *self.build["library"], "-o", program])


def included_by(headers):
    """The .c files of src that include one of these headers of src, themselves or by others."""
    includes = {}
    for folder, _, names in os.walk(os.path.join(SOURCE, "src")):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".c", ".h")):
                with open(path) as file:
                    found = re.findall(r'^#include "(.*)"', file.read(), re.M)
                includes[os.path.relpath(path, SOURCE)] = {"src/" + each for each in found}
    reached = set(headers)
    while True:
        more = {path for path, those in includes.items() if those & reached} - reached
        if not more:
            return {path for path in reached if path.endswith(".c")}
        reached |= more


CHOICE = """#include <stdlib.h>
int sv__mutant;
__attribute__((constructor)) static void choose(void)
{
    const char *text = getenv("%s");
    sv__mutant = text != NULL ? atoi(text) : 0;
}
""" % VARIABLE


def build(suite, builder, folder, files, placed, chosen, pool):
    """The programs of the tests that the chosen need: {key: path}."""
    by_file = defaultdict(list)
    for i in chosen:
        path, body, edits = placed[i]
        by_file[path].append((i + 1, suite.mutants[i].name, body, edits))
    for path, mutants in by_file.items():
        copy = os.path.join(folder, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w") as file:
            file.write(with_mutants(files[path], mutants))
    choice = os.path.join(folder, "choice.c")
    with open(choice, "w") as file:
        file.write(CHOICE)
    compiled = {path for path in by_file if path.endswith(".c")} | included_by(
        {path for path in by_file if path.endswith(".h")})
    jobs = [(choice, choice + ".o")]
    for path in sorted(compiled, key=lambda path: -len(by_file.get(path, ()))):
        made = path in by_file
        jobs.append((os.path.join(folder if made else SOURCE, path),
                     os.path.join(folder, path.replace("/", "_") + ".o")))
    list(pool.map(lambda job: builder.compile(*job, folder), jobs))
    keys = {suite.tests[test][0] for i in chosen for test in tests_of(suite, suite.mutants[i])}
    programs = {key: os.path.join(folder, key) for key in keys}
    list(pool.map(lambda key: builder.link([*(target for _, target in jobs), *builder.build[key]],
                                           programs[key]), programs))
    return programs


# ---- running ----

def tests_of(suite, mutant):
    return [mutant.by] if mutant.by else list(suite.tests)


class Runner:
    """Runs tests with one mutant, or none, in place of what is right."""
    LIMIT = 120  # seconds of a processor that a test may take; all take less than ten

    def __init__(self, suite, programs):
        self.suite, self.programs = suite, programs

    def run(self, test, number, seed=None):
        """None if it came through, else what happened. seed: of the one trial."""
        key, *arguments = self.suite.tests[test]
        return self.call(key, ["1", str(seed), *arguments[2:]] if seed is not None else arguments,
                         number)

    def present(self, test, share):
        """The same without a mutant; share: of all trials."""
        key, *arguments = self.suite.tests[test]
        if arguments:
            arguments[0] = str(max(1, round(int(arguments[0]) * share)))
        return self.call(key, arguments, 0)

    def call(self, key, arguments, number):
        environment = {**os.environ, "SELVAGE_TRIALS": "1", "CMOCKA_TEST_ABORT": "1",
                       VARIABLE: str(number)}
        # Processor time: a mutant is not found because others keep the machine busy.
        limits = "ulimit -c 0; ulimit -v 8000000; ulimit -t %d; " % self.LIMIT
        try:
            done = subprocess.run(["sh", "-c", limits + 'exec "$0" "$@"', self.programs[key], *arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                  timeout=20 * self.LIMIT)
        except subprocess.TimeoutExpired:
            return "no end"
        if done.returncode == 0:
            return None
        if done.returncode == -signal.SIGXCPU:
            return "no end"
        found = re.search(r"(?:seed|trial) (\d+)", done.stdout.decode(errors="replace"))
        return "seed " + found.group(1) if found else "found"

    def judge(self, number, mutant):
        """Which test found it and how, or (None, None)."""
        for test in tests_of(self.suite, mutant):
            how = self.run(test, number, mutant.seed) if mutant.seed else None
            how = how or self.run(test, number)
            if how is not None:
                return test, how
        return None, None


def try_all(suite, runner, placed, chosen, pool):
    """How many are not as they should be: lines for all. That the tests pass without a mutant is
    their own to show, before; here, that these programs do: some trials will do for some mutants."""
    used = sorted({test for i in chosen for test in tests_of(suite, suite.mutants[i])})
    share = 1 if len(chosen) == len(suite.mutants) else 0.1
    present = pool.map(lambda test: runner.present(test, share), used)
    longest = sorted(chosen, key=lambda i: suite.mutants[i].same is None)
    verdicts = dict(zip(longest, pool.map(lambda i: runner.judge(i + 1, suite.mutants[i]),
                                          longest)))
    for test, how in zip(used, present):
        if how is not None:
            raise SystemExit("without a mutant the test %s fails: %s" % (test, how))
    wrong = 0
    for i in chosen:
        each, (test, how) = suite.mutants[i], verdicts[i]
        verdict = "%s %s" % (test, how) if test else "came through"
        if (test is None) != (each.same is not None):
            wrong += 1
            verdict = verdict.upper()
        print("%-18s %-17s %-16s %s%s%s" % (
            verdict, os.path.basename(placed[i][0]), each.name,
            "rule %d: " % each.rule if each.rule else "", each.what,
            " (" + each.same + ")" if each.same else ""))
    return wrong


def main(suite):
    """Runs a suite; the exit code: 1 if a mutant came through."""
    begin = time.monotonic()
    files = sources()
    placed = place_all(suite.mutants, files)
    builder = Builder(suite.name)
    chosen, why = select(suite, placed, builder.build, sys.argv[1:])
    print("%d of %d mutants of %s: %s" % (len(chosen), len(suite.mutants), suite.what, why),
          flush=True)
    if not chosen:
        return 0
    with tempfile.TemporaryDirectory(prefix="selvage-mutate-") as folder, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        programs = build(suite, builder, folder, files, placed, chosen, pool)
        built = time.monotonic()
        wrong = try_all(suite, Runner(suite, programs), placed, chosen, pool)
    same = sum(suite.mutants[i].same is not None for i in chosen)
    print("%d mutants of %s ran (%d change nothing), %d not as they should; "
          "built in %.0f s, ran in %.0f s" % (len(chosen), suite.what, same, wrong, built - begin,
                                              time.monotonic() - built))
    return 1 if wrong else 0
