"""selvage trace from outside: what is printed and written, what is refused, exit codes; against support/svt.py, which knows only the format."""
import collections
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import svt  # noqa: E402
from support.command import SELVAGE, SOURCE, ok, selvage  # noqa: E402
from support.trials import trials  # noqa: E402
from test_command import Base  # noqa: E402

TRACES = os.path.join(SOURCE, "tests", "traces")
VERBS = ("record", "join", "convert", "make", "info", "check", "seed")
COMPUTE, SEND, ISEND, RECV, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)
CALL = {name: i for i, name in enumerate(svt.CALLS)}


def event(kind, call, *numbers):
    """An event that comes for the first time."""
    return [2, kind, CALL[call], *numbers]


def to(rank, peer):
    away = peer - rank
    return 1 + (2 * away if away >= 0 else -2 * away - 1)


def ping(rank, tag=7, more=()):
    """Rank 0 sends 100 bytes to rank 1, after computing; then both have a barrier."""
    first = event(SEND, "MPI_Send", to(0, 1), 1 + tag, 0, 100) if rank == 0 else event(RECV, "MPI_Recv", to(1, 0), 8, 0, 100)
    return [*event(COMPUTE, "-", 5000), *first, *event(COLLECTIVE, "MPI_Barrier", 0, 0, 0), *more]


def resolved(text):
    """Lines of convert's text with groups as svt.text has them."""
    lines, groups = text.splitlines(), {}
    ranks = int(lines[1].split()[1])
    groups["0"] = (0, tuple(range(ranks)))
    events = []
    for line in lines[2:]:
        words = line.split()
        if words[0] == "group":
            groups[words[1]] = (int(words[2]), tuple(map(int, words[3:])))
            continue
        if "group" in words:
            at = words.index("group")
            words[at + 1] = str(groups[words[at + 1]])
        events.append(" ".join(words))
    return events


class Trace(Base):
    def write(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def pinged(self, **options):
        return self.write("ping.svt", svt.pack(2, "ping", {rank: ping(rank, **options) for rank in range(2)}))

    def refused(self, code, message, *arguments):
        result = selvage(*arguments)
        self.assertEqual((result.code, result.out), (code, ""), result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)


class Usage(Trace):
    def test_help(self):
        out = ok("trace", "--help").out
        for verb in VERBS:
            self.assertIn("\n  %-8s " % verb, out)
            self.assertTrue(ok("trace", verb, "--help").out.startswith("usage: selvage trace %s " % verb))

    def test_wrong_usage(self):
        names = "record, join, convert, make, info, check and seed"
        self.refused(2, "selvage trace: which of %s?" % names, "trace")
        self.refused(2, "selvage trace: 'play' is none of %s" % names, "trace", "play")
        self.refused(2, "selvage trace record: which command?", "trace", "record")
        self.refused(2, "selvage trace record: unknown option '-np'", "trace", "record", "-np", "4", "true")
        self.refused(2, "selvage trace join: where to?", "trace", "join", "folder")
        self.refused(2, "selvage trace make: where to?", "trace", "make", "lu")
        self.refused(2, "--format: 'tgz' is none of svt, goal and text", "trace", "convert", "x", "--format", "tgz")
        self.refused(2, "'x.y' ends in none of .svt, .goal and .txt", "trace", "convert", "x", "-o", "x.y")
        self.refused(2, "2 things want standard output", "trace", "info", self.pinged(), "--matrix", "-")


class Files(Trace):
    def test_text(self):
        self.assertEqual(ok("trace", "convert", self.pinged()).out,
                         "# selvage trace: ping\nranks 2\n"
                         "0 compute 5000\n0 send MPI_Send to 1 tag 7 group 0 bytes 100\n0 collective MPI_Barrier root 0 group 0 bytes 0\n"
                         "1 compute 5000\n1 recv MPI_Recv from 0 tag 7 group 0 bytes 100\n1 collective MPI_Barrier root 0 group 0 bytes 0\n")

    def test_text_of_everything(self):
        ops = [[1, 0, 1, 2 * r] + event(ISEND, "MPI_Isend", to(r, 1 - r), 4, 0, 10, 0) + event(IRECV, "MPI_Irecv", 0, 0, 0, 10, 1) +
               event(WAIT, "MPI_Waitall", 0) + event(WAIT, "-", 1) + event(COLLECTIVE, "MPI_Bcast", r, 1, 3) + [3, 5, 2, 8] + event(WAIT, "MPI_Wait", 0)
               for r in range(2)]
        path = self.write("all.svt", svt.pack(2, "all", dict(enumerate(ops))))
        out = ok("trace", "convert", path).out
        self.assertEqual(resolved(out), svt.text(svt.read(path)))
        self.assertIn("0 irecv MPI_Irecv from any tag any group 0 bytes 10 request 1\n", out)
        self.assertIn("\ngroup 1 0 0\ngroup 2 0 1\n", out)
        self.assertEqual(out.count("irecv"), 6)

    def test_collectives_that_are_begun(self):
        """One waits before it sends, the other receives before it waits: nobody is blocked."""
        begun = event(ICOLLECTIVE, "MPI_Allreduce", 0, 0, 8, 0)
        path = self.write("begun.svt", svt.pack(2, "begun", {
            0: begun + event(WAIT, "MPI_Wait", 0) + event(SEND, "MPI_Send", to(0, 1), 1, 0, 10),
            1: begun + event(RECV, "MPI_Recv", to(1, 0), 1, 0, 10) + event(WAIT, "MPI_Wait", 0)}))
        out = ok("trace", "convert", path).out
        self.assertEqual(resolved(out), svt.text(svt.read(path)))
        self.assertIn("1 icollective MPI_Iallreduce root 0 group 0 bytes 8 request 0\n", out)
        calls = {row["call"]: row["count"] for row in ok("trace", "info", path, "--json").json["calls"]}
        self.assertEqual(calls, {"MPI_Iallreduce": 2, "MPI_Wait": 2, "MPI_Send": 1, "MPI_Recv": 1})
        self.assertRegex(ok("sim", "mesh:1x2", "-e", "dor", "--trace", path).out, r"\nexecution +[0-9.]+ us")
        self.refused(3, "rank 1, event 0: MPI_Allreduce, where rank 0 of the group has MPI_Iallreduce", "trace", "check",
                     self.write("w.svt", svt.pack(2, "w", {0: begun + event(WAIT, "MPI_Wait", 0), 1: event(COLLECTIVE, "MPI_Allreduce", 0, 0, 8)})))

    def test_faster_links_may_end_later(self):
        """The example of docs/traces.md: a small packet just before a large one, or just behind it."""
        with open(os.path.join(SOURCE, "docs", "traces.md")) as file:
            goal = re.findall(r"^\$ echo '(.*)' >>?later\.goal$", file.read(), re.M)
        path = self.write("later.goal", ("\n".join(goal) + "\n").encode())
        for speed, time in (("DDR", "2.454"), ("QDR", "2.963")):
            self.assertIn("\nexecution      %s us, " % time, ok("sim", "mesh:1x1,hosts=3,speed=" + speed, "-e", "dor", "--trace", path).out)
        empty = self.write("empty.goal", b"num_ranks 2\nrank 0 { send 0b to 1; }\nrank 1 { recv 0b from 0; }\n")
        for profile, time in (("qdr", "0.210"), ("ndr", "0.302")):
            self.assertIn("\nexecution      %s us, " % time, ok("sim", "mesh:1x1,hosts=2", "-e", "dor", "-p", profile, "--trace", empty).out)

    def test_to_a_file_and_back(self):
        made, again, text = self.path("a.svt"), self.path("b.svt"), self.path("c.txt")
        result = ok("trace", "make", "mg:class=S,ranks=16", "-o", made)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"^selvage: .*a\.svt: 16 ranks of 'mg:class=S,ranks=16', \d+ events\n$")
        ok("trace", "convert", made, "-o", again)
        ok("trace", "convert", again, "-o", text)
        with open(text) as file:
            self.assertEqual(resolved(file.read()), svt.text(svt.read(made)))
        with open(made, "rb") as one, open(again, "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_goal(self):
        goal, back = self.path("a.goal"), self.path("b.svt")
        ok("trace", "convert", self.pinged(), "-o", goal)
        with open(goal) as file:
            self.assertIn("num_ranks 2", file.read())
        ok("trace", "convert", goal, "-o", back)
        events = [e for e in svt.read(back).ranks[0] if e.kind in ("send", "isend")]
        self.assertIn((1, 100), [(e.peer, e.amount) for e in events])

    def test_every_skeleton_is_sound(self):
        names = [line.split()[0] for line in ok("trace", "make", "help").out.splitlines() if not line.startswith(" ")]
        self.assertEqual(names, ["lu", "mg", "ft", "pop", "smg2000", "sweep3d"])
        for name in names:
            path = self.path(name + ".svt")
            small = {"pop": "steps=2,iterations=3"}.get(name, "iterations=2")
            ok("trace", "make", "%s:ranks=16,%s" % (name, small), "-o", path)
            self.assertEqual(svt.problems(svt.read(path)), [], name)
            self.assertRegex(ok("trace", "check", path).out, "^sound: 16 ranks of %s:" % name)

    def test_bad_skeletons(self):
        self.refused(2, "no skeleton 'foo'", "trace", "make", "foo", "-o", self.path("x.svt"))
        self.refused(2, "'colour'", "trace", "make", "lu:colour=red", "-o", self.path("x.svt"))
        self.assertFalse(os.path.exists(self.path("x.svt")))

    def test_where_nothing_can_be_written(self):
        """That is told before anything is read."""
        nowhere, absent = self.path("no/x.svt"), self.path("absent")
        for arguments in (("convert", absent, "-o", nowhere), ("join", absent, "-o", nowhere), ("info", absent, "--matrix", nowhere),
                          ("make", "lu:ranks=3", "-o", nowhere), ("seed", absent, absent, "-o", nowhere)):
            self.refused(5, "cannot create '%s'" % nowhere, "trace", *arguments)

    def test_a_trace_is_not_written_over_by_its_matrix(self):
        trace = self.path("t.svt")
        ok("trace", "make", "lu:class=S,ranks=4,iterations=1", "-o", trace)
        self.refused(2, "--matrix: '%s' is the trace" % trace, "trace", "info", trace, "--matrix", trace)
        self.refused(2, "--trace and --routers are the same file", "sim", "mesh:2x2", "-e", "dor", "--trace", trace, "--routers", trace)
        self.refused(2, "--store and --routers are the same file", "sim", "mesh:2x2", "-e", "dor", "--policy", "pr-drb", "--store",
                     trace, "--routers", trace)
        ok("trace", "check", trace)

    def test_neither_file_nor_skeleton(self):
        for verb in (("trace", "check"), ("trace", "info"), ("sim", "mesh:2x2", "-e", "dor", "--trace")):
            self.refused(5, "cannot open 'lux:ranks=4': No such file or directory (and it is no skeleton; selvage trace make help "
                         "lists them)", *verb, "lux:ranks=4")

    def test_bad_files(self):
        self.refused(5, "cannot open", "trace", "info", self.path("nothing.svt"))
        with open(self.pinged(), "rb") as file:
            data = file.read()
        for cut in (0, 3, 7, 12, 20, len(data) - 9, len(data) - 1):
            path = self.write("cut.svt", data[:cut])
            result = selvage("trace", "check", path)
            self.assertEqual(result.code, 3, (cut, result.err))
            self.assertIn(path, result.err)
        for at in range(5, len(data), 7):
            path = self.write("wrong.svt", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
            self.assertEqual(selvage("trace", "check", path).code, 3, at)

    def test_names_that_are_more_than_letters(self):
        path = self.write("odd.svt", svt.pack(1, "a\nb\x1b[31m\x7f\u00e4", {0: event(COMPUTE, "-", 5)}))
        self.assertEqual(ok("trace", "check", path).out, "sound: 1 rank of a?b?[31m?\u00e4\n")
        self.assertTrue(ok("trace", "convert", path).out.startswith("# selvage trace: a?b?[31m?\u00e4\nranks 1\n"))

    def test_too_many_groups(self):
        groups = [number for ordinal in range(65536) for number in (1, ordinal, 1, 0)]
        path = self.write("groups.svt", svt.pack(2, "x", {0: groups}))
        self.refused(4, path + ": byte ", "trace", "check", path)

    def test_unsound_traces(self):
        """What is no trace is told with rank and event."""
        self.assertEqual(ok("trace", "check", self.pinged()).out, "sound: 2 ranks of ping\n")
        self.assertEqual(ok("trace", "check", self.pinged(), "--json").json, {"sound": True, "ranks": 2})
        self.refused(3, self.path("ping.svt") + ": rank 1", "trace", "check", self.pinged(tag=8))
        self.refused(3, "rank 0", "trace", "check", self.write("w.svt", svt.pack(2, "w", {
            0: ping(0, more=event(WAIT, "MPI_Wait", 3)), 1: ping(1)})))
        self.refused(3, self.path("w.svt"), "trace", "info", self.write("w.svt", svt.pack(2, "w", {
            0: ping(0, more=event(COLLECTIVE, "MPI_Bcast", 0, 0, 4)), 1: ping(1)})))


class Join(Trace):
    def folder(self, names=("ping", "ping"), ranks=(0, 1), size=2):
        os.makedirs(self.path("ranks"), exist_ok=True)
        for rank in ranks:
            self.write(os.path.join("ranks", "rank-%06d.svt" % rank), svt.pack(size, names[rank], {rank: ping(rank)}))
        return self.path("ranks")

    def test_ranks_become_one_file(self):
        output = self.path("one.svt")
        result = ok("trace", "join", self.folder(), "-o", output)
        self.assertEqual(result.err, "selvage: %s: 2 ranks of 'ping', 6 events\n" % output)
        self.assertEqual(svt.text(svt.read(output)), svt.text(svt.read(self.pinged())))
        self.assertEqual(ok("trace", "check", self.folder()).out, "sound: 2 ranks of ping\n")

    def test_a_rank_is_missing(self):
        self.refused(3, "rank 1", "trace", "join", self.folder(ranks=(0,)), "-o", self.path("one.svt"))
        self.assertFalse(os.path.exists(self.path("one.svt")))

    def test_a_rank_did_not_end(self):
        folder = self.folder()
        os.rename(os.path.join(folder, "rank-000001.svt"), os.path.join(folder, "rank-000001.svt.part"))
        self.refused(3, "rank-000001.svt.part: this rank did not end: it was killed, or could not be recorded", "trace", "join", folder, "-o",
                     self.path("one.svt"))

    def test_a_program_that_ended_in_another_way(self):
        name = "ping (ended without MPI_Finalize)"
        result = ok("trace", "join", self.folder(names=(name, name)), "-o", self.path("one.svt"))
        self.assertIn("warning: %s: '%s'\n" % (self.path("ranks"), name), result.err)

    def test_smooth(self):
        """Computing between like events becomes their mean; all else stays, and so does the sum."""
        def loop(rank, times):
            ops = []
            for ns in times:
                ops += event(COMPUTE, "-", ns) if ns else []
                ops += event(SEND, "MPI_Send", to(0, 1), 1, 0, 8) if rank == 0 else event(RECV, "MPI_Recv", to(1, 0), 1, 0, 8)
            return ops
        path = self.write("loop.svt", svt.pack(2, "loop", {0: loop(0, [9000, 3000, 5000, 4000, 0]), 1: loop(1, [7000, 1500, 100, 200, 300])}))
        output = self.path("smooth.svt")
        ok("trace", "join", path, "-o", output, "--smooth")
        before, after = svt.read(path), svt.read(output)
        for rank in range(2):
            self.assertEqual([e for e in before.ranks[rank] if e.kind != "compute"], [e for e in after.ranks[rank] if e.kind != "compute"])
        # Of rank 0: 9000 stands before the first; then (3000 + 5000 + 4000 + 0) / 4. Both to three binary digits.
        self.assertEqual([e.amount for e in after.ranks[0] if e.kind == "compute"], [8192] + [3072] * 4)
        # Of rank 1: less than a microsecond on average is nothing.
        self.assertEqual([e.amount for e in after.ranks[1] if e.kind == "compute"], [7168])


class Info(Trace):
    def test_small(self):
        out = ok("trace", "info", self.pinged()).out
        self.assertIn("program           ping\nranks             2\ncommunicators     1\nevents            6\n", out)
        self.assertIn("computing         0.000005 s a rank\ndegree            mean 0.50, most 1 (point to point)\n", out)
        self.assertIn("calls             4\n  MPI_Barrier                   2   50.00 %\n  MPI_Send                      1   25.00 %\n", out)
        self.assertNotIn("first   weight", out)
        self.assertIn("first   weight", ok("trace", "info", self.pinged(), "--phases").out)

    def test_counts(self):
        """Against counting by the other reader."""
        path, matrix = self.path("s.svt"), self.path("m.csv")
        ok("trace", "make", "sweep3d:ranks=12,iterations=2", "-o", path)
        info = ok("trace", "info", path, "--json", "--matrix", matrix, "--phases").json
        trace = svt.read(path)
        events = [(rank, e) for rank, all_of_it in trace.ranks.items() for e in all_of_it]
        self.assertEqual(info["events"], len(events))
        self.assertEqual({row["call"]: row["count"] for row in info["calls"]}, svt.calls(trace))
        self.assertEqual(info["calls_all"], sum(svt.calls(trace).values()))
        self.assertEqual(info["compute_ns"], sum(e.amount for _, e in events if e.kind == "compute"))
        pairs = collections.Counter()
        for rank, e in events:
            if e.kind in ("send", "isend"):
                pairs[rank, e.peer] += e.amount
        degree = collections.Counter(rank for rank, _ in pairs)
        self.assertEqual((info["degree_max"], info["degree_mean"]), (max(degree.values()), round(sum(degree.values()) / 12, 4)))
        with open(matrix) as file:
            title, *rows = file.read().splitlines()
        self.assertEqual(title, "from,to,messages,bytes,point_to_point_bytes")
        rows = [tuple(map(int, row.split(","))) for row in rows]
        self.assertEqual({row[:2]: row[4] for row in rows if row[4]}, {pair: n for pair, n in pairs.items() if n})
        self.assertEqual(sum(row[2] for row in rows), info["messages"])
        self.assertEqual(sum(row[3] for row in rows), info["bytes"])
        self.assertEqual(sum(row["messages"] for row in info["sizes"]), info["messages"])
        self.assertEqual(len(info["phase_list"]), info["phases"])
        self.assertEqual(sum(row["weight"] for row in info["phase_list"] if row["relevant"]), info["relevant_weight"])


    def test_skeletons_without_a_file(self):
        trace = self.path("lu.svt")
        ok("trace", "make", "lu:class=S,ranks=4,iterations=2", "-o", trace)
        for verb in (("info", "--json"), ("convert",)):
            self.assertEqual(ok("trace", verb[0], "lu:class=S,ranks=4,iterations=2", *verb[1:]).out, ok("trace", verb[0], trace, *verb[1:]).out)
        self.refused(2, "is none of S, W, A, B, C", "trace", "info", "lu:class=Q")


class Seed(Trace):
    NET = "mesh:4x4,hosts=1"

    def seed(self, *options):
        trace = self.path("t.svt")
        ok("trace", "make", "mg:class=S,ranks=16", "-o", trace)
        output = self.path("store")
        return output, ok("trace", "seed", trace, self.NET, "-e", "dor", "-o", output, *options)

    def test_a_store_that_policies_take(self):
        output, result = self.seed()
        self.assertEqual(result.out, "")
        with open(output, "rb") as file:
            first = file.read()
        self.assertGreater(len(first), 0)
        self.assertIn("%s: %d solutions\n" % (output, first.count(b"\n") - 1), result.err)
        with open(self.seed()[0], "rb") as file:
            self.assertEqual(file.read(), first)
        run = ok("sim", self.NET, "-e", "dor", "--trace", self.path("t.svt"), "--policy", "pr-drb", "--store", output, "--set", "vls=8", "--json")
        self.assertEqual(run.json["status"], "completed")
        self.assertRegex(run.out, '"seeded": [1-9]')
        tables = self.path("tables")
        ok("route", self.NET, "-e", "dor", "-o", tables)
        again = self.path("again")
        ok("trace", "seed", self.path("t.svt"), tables, "-o", again)
        with open(again, "rb") as file:
            self.assertEqual(file.read(), first)

    def test_ranks_elsewhere(self):
        self.seed("--map", "random", "--seed", "3")
        hosts = self.path("hosts")
        with open(hosts, "w") as file:
            file.writelines("host%d\n" % i for i in range(3))
        self.refused(3, "3 hosts, but the trace has 16 ranks", "trace", "seed", self.path("t.svt"), self.NET, "-e", "dor", "--map", "file:" + hosts,
                     "-o", self.path("x"))
        self.refused(2, "--map: 'there' is neither linear nor random nor file:FILE", "trace", "seed", self.path("t.svt"), self.NET, "-e", "dor",
                     "--map", "there", "-o", self.path("x"))
        self.refused(4, "16 ranks, but 4 terminals that compute", "trace", "seed", self.path("t.svt"), "mesh:2x2,hosts=1", "-e", "dor", "-o",
                     self.path("x"))
        self.refused(4, "%s: 16 ranks, but" % self.path("t.svt"), "trace", "seed", self.path("t.svt"), "mesh:2x2,hosts=1", "-e", "dor",
                     "-o", self.path("x"))
        for message, *options in (("--paths: 0 is not in 1…64", "--paths", "0"), ("--paths: 65 is not in 1…64", "--paths", "65"),
                                  ("--flows: 65 is not in 1…64", "--flows", "65"), ("--vls: 1000 is not in 1…64", "--vls", "1000")):
            self.refused(2, message, "trace", "seed", self.path("t.svt"), self.NET, "-e", "dmodk", "-o", self.path("x"), *options)
        self.refused(2, "--vls goes with --engine", "trace", "seed", self.path("t.svt"), "tables", "--vls", "2", "-o", self.path("x"))
        shown = ok("trace", "seed", self.path("t.svt"), self.NET, "-e", "auto", "-o", "-")
        self.assertTrue(shown.out.startswith("# selvage store"))
        self.assertEqual(shown.err, "")
        self.refused(2, "where to?", "trace", "seed", "t", self.NET)
        self.refused(2, "'%s' is a fabric without tables: --engine ENGINE computes them" % self.NET, "trace", "seed", self.path("t.svt"),
                     self.NET, "-o", self.path("x"))
        self.assertFalse(os.path.exists(self.path("x")))


class Record(Trace):
    """Without MPI; tests/live/test_record.py has the rest."""

    def test_not_an_mpi_program(self):
        output = self.path("x.svt")
        result = selvage("trace", "record", "-o", output, "sh", "-c", "echo hello")
        if result.code == 4:
            self.assertIn("built without MPI", result.err)
            self.skipTest("this build has no recorder")
        self.assertEqual((result.code, result.out), (3, "hello\n"))
        self.assertIn("nothing was recorded", result.err)
        self.assertEqual(os.listdir(self.path("")), [])
        self.assertEqual(selvage("trace", "record", "-o", output, "--", "sh", "-c", "exit 42").code, 42)
        self.assertEqual(selvage("trace", "record", "-o", output, "sh", "-c", "kill -9 $$").code, 137)
        missing = selvage("trace", "record", "-o", output, "no-such-command")
        self.assertEqual(missing.code, 127)
        self.assertEqual("selvage: cannot run 'no-such-command': No such file or directory\n", missing.err)
        self.assertEqual(os.listdir(self.path("")), [])

    def test_where_the_recorder_is(self):
        """Beside the command, or nowhere; and where it can be preloaded from."""
        place = self.path("with space")
        os.mkdir(place)
        lone = shutil.copy(SELVAGE, place)
        command = [lone, "trace", "record", "-o", self.path("x.svt"), "true"]
        done = subprocess.run(command, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertIn("no 'libselvage_trace.so' in '%s' or '%s/../" % (os.path.realpath(place), os.path.realpath(place)), done.stderr.decode())
        open(os.path.join(place, "libselvage_trace.so"), "w").close()
        done = subprocess.run(command, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertIn("with space/libselvage_trace.so': LD_PRELOAD takes no spaces", done.stderr.decode())

    def test_what_cannot_be_joined_is_not_lost(self):
        for rank in (0, 1):
            self.write("%d" % rank, svt.pack(2, "program %d" % rank, {rank: ping(rank)}))
        copy = "for i in 0 1; do cp %s/$i $SELVAGE_TRACE_DIR/rank-00000$i.svt; done" % self.path("")
        result = selvage("trace", "record", "-o", self.path("x.svt"), "sh", "-c", copy)
        if result.code == 4:
            self.skipTest("this build has no recorder")
        (folder,) = [name for name in os.listdir(self.path("")) if name.startswith("x.svt.")]
        self.assertEqual(sorted(os.listdir(self.path(folder))), ["rank-000000.svt", "rank-000001.svt"])
        self.assertEqual(result.code, 3)
        self.assertIn("selvage: warning: the files of ranks stay in '%s'\n" % os.path.realpath(self.path(folder)), result.err)
        copy = "cp %s $SELVAGE_TRACE_DIR/rank-000000.svt.part" % self.path("0")
        self.assertEqual(selvage("trace", "record", "-o", self.path("y.svt"), "sh", "-c", copy).code, 3)
        self.assertEqual([name for name in os.listdir(self.path("")) if name.startswith("y.svt")], [])

    def test_a_file_that_cannot_be_written(self):
        os.makedirs(self.path("folder"))
        for output in ("no/x.svt", "folder"):
            result = selvage("trace", "record", "-o", self.path(output), "--keep", self.path("kept"), "touch", self.path("was-run"))
            if result.code == 4:
                self.skipTest("this build has no recorder")
            self.assertEqual(result.code, 5, result.err)
            self.assertIn("'%s'" % self.path(output), result.err)
        self.assertEqual(os.listdir(self.path("")), ["folder"])

    def test_a_folder_is_no_file(self):
        self.refused(2, "--output and --keep are the same file", "trace", "record", "-o", self.path("x"), "--keep", self.path("x"), "true")

    def test_standard_output_is_the_commands(self):
        self.refused(2, "standard output is the command's", "trace", "record", "-o", "-", "echo", "hello")

    def test_a_folder_with_traces_in_it(self):
        folder = self.path("ranks")
        os.makedirs(folder)
        self.write("ranks/rank-000000.svt", b"")
        result = selvage("trace", "record", "--keep", folder, "true")
        if result.code != 4:
            self.assertEqual((result.code, result.err), (3, "selvage: '%s' has traces in it already\n" % folder))
            self.write("file", b"")
            result = selvage("trace", "record", "--keep", self.path("file"), "true")
            self.assertEqual((result.code, result.err), (3, "selvage: '%s' is no folder\n" % self.path("file")))


class Shipped(Trace):
    """The traces in tests/traces, recorded from real programs."""

    def test_sound(self):
        names = sorted(name for name in os.listdir(TRACES) if name.endswith(".svt"))
        self.assertEqual(names, ["chain.svt", "comb.svt", "hpcc.svt"])
        for name in names:
            with self.subTest(name=name):
                path = os.path.join(TRACES, name)
                self.assertRegex(ok("trace", "check", path).out, "^sound: 64 ranks of (lmp|hpcc)\n")
                if name != names[0] and trials(10) < 10:
                    continue  # the second reader is slow
                trace = svt.read(path)
                self.assertEqual(svt.unmatched(trace), {})
                info = ok("trace", "info", path, "--json").json
                self.assertEqual({row["call"]: row["count"] for row in info["calls"]}, svt.calls(trace))

    def test_lammps_is_the_benchmark_it_looks_like(self):
        """Six neighbours in a grid of 4 x 4 x 4, most calls point to point (thesis, Table 2.1)."""
        for name in ("chain", "comb"):
            info = ok("trace", "info", os.path.join(TRACES, name + ".svt"), "--json").json
            calls = {row["call"]: row["percent"] for row in info["calls"]}
            self.assertEqual(info["ranks"], 64)
            self.assertGreater(calls["MPI_Send"], 25)
            self.assertGreater(calls["MPI_Wait"], 25)
            self.assertGreater(calls["MPI_Allreduce"], 2)
            self.assertLess(abs(info["degree_mean"] - 6), 1.5)


if __name__ == "__main__":
    unittest.main()
