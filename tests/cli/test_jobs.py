"""selvage jobs read and selvage jobs filter from outside: what is printed and written, what is refused,
exit codes, and real data where it is there."""
import calendar
import os
import stat
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.command import ok, real, selvage  # noqa: E402
from test_command import Base  # noqa: E402

NET = "kary:k=4,n=2,hosts=4"  # 16 hosts, four to a switch
TITLES = "JOBID|STATE|NODELIST\n"  # of squeue -o "%i|%T|%N"
HEAD = "# job map: NODE JOB\n"
SACCT = """JobID|Start|End|State|NodeList
7|2026-11-15T12:00:00|2026-11-15T13:00:00|COMPLETED|host[0-3]
7.batch|2026-11-15T12:00:00|2026-11-15T13:00:00|COMPLETED|host0
8|2026-11-15T12:30:00|Unknown|RUNNING|host[4-9]
9|Unknown|Unknown|PENDING|None assigned
"""


def needs_json(test):
    """Skips a test in a build that cannot read JSON, which says so."""
    result = selvage("jobs", "read", "-", stdin=b"{\"jobs\": []}")
    if result.code == 4:
        test.assertEqual(result.err, "selvage: <stdin>:1: this build has no jansson: no JSON files\n")
        test.skipTest("this build has no jansson")


class Read(Base):
    def read_text(self, text, *options):
        return ok("jobs", "read", "-", *options, stdin=text.encode())

    def test_a_map_of_what_squeue_said(self):
        result = self.read_text("12|RUNNING|n[8-11]\n13_4|R|n10,login\n14|PENDING|\n")
        self.assertEqual(result.out, HEAD + "login 13_4\nn8 12\nn9 12\nn10 12\nn10 13_4\nn11 12\n")
        self.assertEqual(result.err, "")
        again = self.read_text(result.out)
        self.assertEqual(again.out, result.out)

    def test_nothing_runs(self):
        silence = self.read_text("")
        self.assertEqual(silence.out, HEAD)
        self.assertEqual(silence.err, "selvage: warning: <stdin>: not a word in it, not even titles: taken as "
                                      "that nothing runs\n")
        for text in (TITLES, "1|PENDING|\n"):
            result = self.read_text(text)
            self.assertEqual((result.out, result.err), (HEAD, ""))
        self.assertEqual(self.read_text("1|PENDING|\n").out, HEAD)
        self.assertEqual(self.read_text("", "--fabric", NET, "--json").json["running"], 0)

    def test_into_a_file(self):
        path = self.path("map")
        result = self.read_text("12|RUNNING|host[0-2]\n13|RUNNING|host2\n14|PENDING|\n", "-o", path)
        self.assertEqual(result.out, "jobs          2 on 3 hosts\nleft out      1\n"
                                     "map           %s\n" % path)
        self.assertEqual(self.read("map"), HEAD + "host0 12\nhost1 12\nhost2 12\nhost2 13\n")
        self.assertEqual(os.listdir(self.directory), ["map"])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o400, 0o400)

    def test_held_against_a_fabric(self):
        text = "1|R|host[0-3]\n2|R|host[3-4]\n3|R|gone[1-6]\n4|R|host5,gone1\n"
        result = self.read_text(text, "--fabric", NET)
        self.assertEqual(result.out, "jobs          4 on 12 hosts\nleft out      0\nterminals     6\n"
                                     "one switch    2\nunknown hosts 6\nhomeless jobs 1\n")
        self.assertEqual(result.err.splitlines(),
                         ["selvage: warning: <stdin>:3: host 'gone%d' is not in the fabric" % i
                          for i in range(1, 6)] +
                         ["selvage: warning: <stdin>: 1 more host is not in the fabric"])
        told = self.read_text(text, "--fabric", NET, "--json", "-o", self.path("map")).json
        self.assertEqual({key: told[key] for key in ("running", "hosts", "left_out", "terminals",
                                                     "one_switch", "unknown_hosts", "homeless")},
                         dict(running=4, hosts=12, left_out=0, terminals=6, one_switch=2,
                              unknown_hosts=6, homeless=1))
        self.assertEqual(told["jobs"][1], dict(job="2", begin=None, end=None,
                                               hosts=["host3", "host4"]))
        self.assertEqual(self.read("map"), HEAD + "host0 1\nhost1 1\nhost2 1\nhost3 1\nhost3 2\nhost4 2\n"
                                                  "host5 4\n")

    def test_another_fabric_is_noticed(self):
        self.expect_error_lines(3, "<stdin>:1: none of the 2 hosts is in the fabric", "jobs", "read", "-",
                                "--fabric", NET, stdin=b"1|R|a\n2|R|b\n")
        self.expect_error_lines(3, "<stdin>:1: the only host is not in the fabric: is it the right one?", "jobs", "read",
                                "-", "--fabric", NET, stdin=b"1|R|a\n")

    def expect_error_lines(self, code, text, *arguments, **options):
        """As expect_error, below warnings."""
        result = selvage(*arguments, **options)
        self.assertEqual((result.code, result.out), (code, ""), result.err)
        self.assertIn(text, result.err.splitlines()[-1])

    def test_a_moment_of_a_history(self):
        path = self.write("log", SACCT)
        self.assertEqual(ok("jobs", "read", path).out.count("\n"), 7)  # what has not ended
        for moment, jobs in (("2026-11-15T12:00:00", {"7"}), ("+45min", {"7", "8"}),
                             ("+45m", {"7", "8"}), ("2026-11-15T12:45:00Z", {"7", "8"}),
                             ("2026-11-15T11:59:59", set()), ("1794747600", {"8"}),
                             ("2026-11-15T13:15:00+01:00", {"7"}), ("2026-11-16", {"8"})):
            told = ok("jobs", "read", path, "--at", moment, "--json").json
            self.assertEqual({job["job"] for job in told["jobs"]}, jobs, moment)
        told = ok("jobs", "read", path, "--at", "+1h", "--json").json
        self.assertEqual([told[key] for key in ("at", "begin", "end")],
                         ["2026-11-15T13:00:00Z", "2026-11-15T12:00:00Z", "2026-11-15T13:00:00Z"])
        self.assertEqual(told["jobs"][0], dict(job="8", begin="2026-11-15T12:30:00Z", end=None,
                                               hosts=["host%d" % i for i in range(4, 10)]))
        self.assertEqual(ok("jobs", "read", path, "--at", "1960-01-01", "--json").json["at"], "1960-01-01T00:00:00Z")
        text = ok("jobs", "read", path, "--at", "+1h", "--fabric", NET).out
        self.assertIn("at            2026-11-15T13:00:00\n", text)
        self.assertIn("history       2026-11-15T12:00:00 to 2026-11-15T13:00:00\n", text)

    def test_hosts_in_the_order_of_the_fabric(self):
        line = "%d 100 0 50 1 1 1 1 1 1 1 1 1 1 1 1 1 1 {%s}\n"
        path = self.write("log.swf", line % (1, "9,9,10") + line % (2, "1000,10"))
        ok("jobs", "read", path, "--at", "120", "--fabric", NET, "--hosts", "order", "-o", self.path("map"))
        self.assertEqual(self.read("map"), HEAD + "host0 1\nhost1 1\nhost1 2\nhost2 2\n")
        many = self.write("many.swf", line % (1, ",".join(map(str, range(17)))))
        self.expect_error(4, "17 hosts, and only 16 adapters that compute", "jobs", "read", many, "--at", "120",
                          "--fabric", NET, "--hosts", "order")

    def test_what_is_refused(self):
        line = "1 100 0 50 1 1 1 1 1 1 1 1 1 1 1 1 1 1%s\n"
        plain, log = self.write("plain.swf", line % ""), self.write("log.swf", line % " {1}")
        net = self.write("net", ok("topo", NET).out)
        for code, text, arguments in (
                (2, "which file? or: squeue -o \"%i|%T|%N\" | selvage jobs read -", ()),
                (2, "all of these jobs have ended: --at says when, from 1970-01-01T00:01:40 to "
                    "1970-01-01T00:02:30", (log,)),
                (2, "--at: 'noon' is neither", (log, "--at", "noon")),
                (2, "--at: when these jobs began is not told", (self.write("m", "n1 12\n"), "--at", "2015-02-01")),
                (2, "--format: 'pbs' is none of", (log, "--format", "pbs")),
                (2, "--hosts: 'luck' is neither name nor order", (log, "--hosts", "luck", "--fabric", NET)),
                (2, "--hosts goes with --fabric", (log, "--hosts", "order")),
                (2, "--json and --output - both want standard output", (log, "--json", "-o", "-")),
                (2, "2 things want standard input", ("-", "--fabric", "-")),
                (4, "plain.swf: no lists of nodes", (plain,)),
                (3, "log.swf:1: titles of sacct --parsable2", (log, "--format", "sacct")),
                (3, "net:5: ", (net,)),
                (5, "cannot open", (self.path("nowhere"),))):
            self.expect_error(code, text, "jobs", "read", *arguments)
        self.expect_error(3, "<stdin>:1: nodes 'n[1-': '1-' in brackets is not a number or a range: it "
                             "looks cut off; squeue -o \"%i|%T|%N\"", "jobs", "read", "-", "-o",
                          self.path("map"), stdin=b"1|RUNNING|n[1-\n")

    def test_a_clock_that_was_put_back_is_told(self):
        path = self.write("log", SACCT + "10|2026-11-15T12:30:00|2026-11-15T11:45:00|COMPLETED|host1\n"
                                         "11|2026-11-15T12:30:00|2026-11-15T12:30:00|COMPLETED|host1\n")
        result = ok("jobs", "read", path, "--json")
        self.assertEqual(result.json["left_out"], 3)
        self.assertEqual(result.err, "selvage: warning: %s: 1 job ended before it began, left out\n" % path)

    def test_the_real_log(self):
        path = real("swf", "metacentrum-wagap-2013.swf")
        if path is None:
            self.skipTest("the MetaCentrum log is not there")
        begun = time.monotonic()
        told = ok("jobs", "read", path, "--at", "+36h", "--json").json
        self.assertLess(time.monotonic() - begun, 10)  # 0.1 s, but machines differ
        self.assertEqual((told["begin"], told["left_out"]), ("2012-12-31T23:22:27Z", 2))
        at = calendar.timegm(time.strptime(told["at"], "%Y-%m-%dT%H:%M:%SZ"))
        wanted = {}
        with open(path) as file:
            for line in file:
                words = line.split()
                begin = int(words[1]) + int(words[2])
                if begin <= at < begin + int(words[3]):
                    wanted[words[0]] = set(words[18][1:-1].split(","))
        self.assertEqual({job["job"]: set(job["hosts"]) for job in told["jobs"]}, wanted)
        self.assertGreater(len(wanted), 10)

    def test_the_real_answer_of_slurmrestd(self):
        path = real("slurm", "slurmrestd-24.05-0.0.41-jobs.json")
        if path is None:
            self.skipTest("slurmrestd's answer is not there")
        needs_json(self)
        told = ok("jobs", "read", path, "--json").json
        self.assertEqual({job["job"]: job["hosts"] for job in told["jobs"]},
                         {"649722": ["cn001"], "649726": ["cn003"],
                          "649728": ["cn004", "cn005", "cn006"]})
        self.assertEqual((told["left_out"], told["begin"]), (11, "2025-05-20T15:21:18Z"))


class Filter(Base):
    def filter(self, code, text, *options):
        result = selvage("jobs", "filter", NET, "-", "--map", self.path("map"), *options,
                         stdin=text.encode())
        self.assertEqual(result.code, code, result.err)
        return result

    def test_only_what_matters_is_written(self):
        out = self.filter(0, "1|R|host[0-7]\n2|R|host[8-9]\n3|R|host[12,14]\n").out
        self.assertEqual(out, "jobs       3 run: 1 on several switches, 2 on one, 0 outside the fabric\n"
                              "compared   1 new, 0 gone, 0 the same\nterminals  8\n"
                              "map        %s: there was none, written\n" % self.path("map"))
        first = self.read("map")
        self.assertEqual(first, HEAD + "".join("host%d 1\n" % i for i in range(8)))
        before = os.stat(self.path("map"))
        # another name, and other jobs on one switch: nothing that tables would follow
        out = self.filter(1, "17|R|host[0-7]\n18|R|host[10-11]\n").out
        self.assertIn("compared   0 new, 0 gone, 1 the same\n", out)
        self.assertIn("nothing changed, left alone\n", out)
        after = os.stat(self.path("map"))
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertEqual(self.read("map"), first)
        told = self.filter(0, "17|R|host[0-7]\n18|R|host[7-8]\n19|R|gone\n", "--json").json
        self.assertEqual(told, dict(changed=True, first=False, running=3, several_switches=2,
                                    one_switch=0, homeless=1, unknown_hosts=1, new=1, gone=0, same=1,
                                    terminals=9, map=self.path("map")))
        self.assertNotEqual(os.stat(self.path("map")).st_ino, before.st_ino)
        told = self.filter(0, "20|R|host[6-8]\n", "--json").json
        self.assertEqual((told["new"], told["gone"], told["same"]), (1, 2, 0))
        self.assertEqual(os.listdir(self.directory), ["map"])

    def test_nothing_runs_any_more(self):
        for nothing, options in ((TITLES, ()), ("", ("--empty",)), ("2|PENDING|\n", ())):
            self.filter(0, nothing, *options)
            self.assertEqual(self.read("map"), HEAD)
            self.filter(1, nothing, *options)
            self.filter(0, "1|R|host[3-4]\n")
            self.filter(0, nothing, *options)
            self.assertEqual(self.read("map"), HEAD)
            os.remove(self.path("map"))

    def test_what_does_not_say_that_nothing_runs(self):
        """A squeue -h that failed, a history that is over, jobs whose nodes cannot be read."""
        self.filter(0, "1|R|host[3-4]\n")
        kept = self.read("map")
        over = SACCT.replace("Unknown|RUNNING", "2026-11-15T13:00:00|COMPLETED")
        cases = [(3, "", "<stdin>: not a word in it, not even titles: did squeue fail? without -h it prints "
                         "titles; --empty: nothing runs"),
                 (3, "\n \n", "not a word in it"),
                 (2, over, "<stdin>: all of these jobs have ended: which run now is not told"),
                 (3, "1|RUNNING|\n", "<stdin>:1: 1 job runs, and nodes are told of none")]
        if selvage("jobs", "read", "-", stdin=b"{\"jobs\": []}").code == 0:
            cases += [(3, '{"jobs":[{"job_id":1,"job_state":["RUNNING"],"nodes":["host0","host5"]}]}',
                       "jobs[0]: it runs, and nodes is not a text"),
                      (3, '{"jobs":[{"job_id":1,"job_state":[],"nodes":"host0"}]}',
                       "jobs[0]: job_state is not a state of a job")]
        for code, text, words in cases:
            for options in ((), ("--json",)):
                result = self.filter(code, text, *options)
                self.assertEqual(result.out, "")
                self.assertIn(words, result.err)
                self.assertEqual(self.read("map"), kept)

    def test_one_without_nodes_does_not_hide_others(self):
        result = self.filter(0, "1|RUNNING|\n2|RUNNING|host[3-4]\n")
        self.assertEqual(result.err, "selvage: warning: <stdin>: 1 job runs without nodes, left out\n")
        self.assertEqual(self.read("map"), HEAD + "host3 2\nhost4 2\n")

    def test_anybodys_file_is_not_replaced(self):
        for text in ("127.0.0.1 localhost\n", "# mine\nkey value\n"):
            self.write("map", text)
            for jobs in ("1|R|host[3-4]\n", TITLES):
                result = self.filter(3, jobs)
                self.assertIn("map: no node of this fabric, and no heading '# job map': it is not replaced", result.err)
                self.assertEqual(self.read("map"), text)
        for text in ("", "# mine\n", HEAD, HEAD + "gone1 x\ngone2 x\n", "gone1 x\nhost1 x\n"):
            self.write("map", text)
            self.filter(0, "1|R|host[3-4]\n")
            self.assertEqual(self.read("map"), HEAD + "host3 1\nhost4 1\n")

    def test_what_the_map_holds_is_made_by_others(self):
        """Jobs on one switch, nodes that left the fabric, and another order of lines."""
        self.write("map", "# mine\nhost9 x\nhost4 b\nhost3 a\nhost4 a\nhost8 x\ngone c\nhost3 b\n")
        self.filter(1, "1|R|host[3-4]\n2|R|host[3-4]\n")
        self.filter(0, "1|R|host[3-4]\n")

    def test_what_is_refused(self):
        self.write("map", "what is this\n")
        kept = self.read("map")
        result = self.filter(3, "1|R|host[3-4]\n")
        self.assertIn("map:1: 'what is this' is more than a node and a job", result.err)
        self.assertEqual(self.read("map"), kept)
        self.write("map", HEAD)
        for text in ("1|R|host[3-\n", "slurm_load_jobs error: Unable to contact slurm controller\n",
                     "1|R|other1\n"):
            self.assertEqual(self.filter(3, text).out, "")
            self.assertEqual(self.read("map"), HEAD)
        self.expect_error(2, "which jobs?", "jobs", "filter", NET, "--map", self.path("map"))
        self.expect_error(2, "--map MAP is missing", "jobs", "filter", NET, "-")
        self.expect_error(2, "--map: a file, not standard output", "jobs", "filter", NET, "-", "--map", "-")
        self.expect_error(2, "2 things want standard input", "jobs", "filter", "-", "-", "--map", self.path("m"))
        self.expect_error(5, "nowhere/map", "jobs", "filter", NET, "-", "--map", self.path("nowhere/map"),
                          stdin=b"1|R|host[3-4]\n")

    def test_an_answer_with_errors_does_not_mean_that_nothing_runs(self):
        needs_json(self)
        self.filter(0, "1|R|host[3-4]\n")
        kept = self.read("map")
        result = self.filter(3, '{"errors": [{"error": "Unable to contact slurm controller"}], "jobs": []}')
        self.assertIn("Slurm reports an error: Unable to contact slurm controller", result.err)
        self.assertEqual(self.read("map"), kept)

    def test_a_link_stays_a_link(self):
        os.symlink("target", self.path("map"))
        self.filter(0, "1|R|host[3-4]\n")
        self.assertTrue(os.path.islink(self.path("map")))
        self.assertIn("host3 1\n", self.read("target"))


class Help(unittest.TestCase):
    def test_each_explains_itself(self):
        for verb in ("read", "filter"):
            text = ok("jobs", verb, "--help").out
            self.assertTrue(text.startswith("usage: selvage jobs %s " % verb), text)
            self.assertIn("\nexample:\n  squeue -o \"%i|%T|%N\" | selvage jobs", text)
            self.assertIn("--json", text)


if __name__ == "__main__":
    unittest.main()
