"""The command from outside: verbs, options, exit codes, JSON keys, and what is left behind when
something goes wrong."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, SOURCE, ok, real, selvage  # noqa: E402

VERBS = ("topo", "info", "faults", "route", "convert", "discover", "diff", "engines", "check", "path",
         "metrics", "sim", "update", "jobs", "study", "report")
# As they are typed; the verbs of jobs are two words.
TYPED = [verb for verb in VERBS if verb != "jobs"] + [
    "jobs read", "jobs filter", "jobs follow", "jobs replay", "jobs make"]


class Base(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-cli-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def expect_error(self, code, text, *arguments, **options):
        """A complaint in one line, nothing on standard output, no file left behind."""
        before = sorted(os.listdir(self.directory))
        result = selvage(*arguments, **options)
        self.assertEqual(result.code, code, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn(text, result.err)
        self.assertEqual(sorted(os.listdir(self.directory)), before)


class Help(Base):
    def test_help_shows_every_verb(self):
        for option in ("--help", "-h", "help"):
            text = ok(option).out
            for verb in VERBS:
                self.assertIn("\n  %s " % verb, text)

    def test_every_verb_explains_itself_with_an_example(self):
        for verb in TYPED:
            for option in ("--help", "-h"):
                text = ok(*verb.split(), option).out
                self.assertTrue(text.startswith("usage: selvage %s " % verb), text)
                self.assertIn("\nexample:\n  ", text)
                self.assertIn("--json", text)

    def test_help_stands_in_columns(self):
        for verb in TYPED:
            for line in ok(*verb.split(), "--help").out.split("example:")[0].splitlines():
                if re.match(r"  (-.,|   ) --", line) and len(line) > 29 and line[28] == " ":
                    self.assertNotEqual(line[29], " ", line)
                elif re.match(r"  (-.,|   ) --", line):
                    self.assertNotIn("  ", line[6:], line)

    def test_examples_of_help_work(self):
        """Those without a pipe or a file that has to be there already."""
        done = 0
        for verb in VERBS:
            if verb in ("discover", "jobs", "sim", "update"):
                continue  # want a live fabric, Slurm, tables: tests of their own
            lines = ok(verb, "--help").out.split("example:\n")[1].strip().splitlines()
            for line in lines:
                words = line.split()
                if "|" in words or "--picture" in words or any(w.endswith((".txt", ".lst")) for w in words[2:]):
                    continue
                self.assertEqual(words[0], "selvage")
                self.assertEqual(selvage(*words[1:], cwd=self.directory).code, 0, line)
                done += 1
        self.assertGreater(done, 4)

    def test_version_names_the_optional_parts(self):
        self.assertRegex(ok("--version").out, r"^selvage \d+\.\d+\.\d+ \(.*threads"
                         r"( ibnetdisc)?( sqlite)?( page)?\)\n$")

    def test_manual_page_has_every_option(self):
        with open(os.path.join(SOURCE, "docs", "selvage.1")) as file:
            manual = file.read()
        for verb in TYPED + ["trace " + verb for verb in ("record", "join", "convert", "make", "info", "check", "seed")]:
            about = ok(*verb.split(), "--help").out.split("example:")[0]
            for option in re.findall(r"^  (?:-.,|   ) --([a-z-]+)", about, re.M):
                self.assertIn("Fl -" + option, manual, "%s --%s" % (verb, option))


    def test_manual_page_has_every_policy_and_key(self):
        with open(os.path.join(SOURCE, "docs", "selvage.1")) as file:
            manual = file.read().split("\n.Sh POLICIES\n")[1].split("\n.Sh ")[0]
        names = set(re.findall(r"[a-z-]+", " ".join(re.findall(r"^\.It Cm (.*)$", manual, re.M))))
        for policy in ok("sim", "--policy", "help", "--json").json["policies"]:
            self.assertIn(policy["name"], names)
            self.assertLessEqual({key["name"] for key in policy["keys"]}, names)


class Usage(Base):
    def test_wrong_command_lines(self):
        for arguments, text in (
                (("dance",), "unknown verb 'dance'"),
                (("topo",), "which topology?"),
                (("topo", "mesh:2", "mesh:3"), "one argument too many"),
                (("info",), "1 argument is missing"),
                (("diff", "mesh:2"), "1 argument is missing"),
                (("diff",), "2 arguments are missing"),
                (("info", "mesh:2", "--nonsense"), "unknown option '--nonsense'"),
                (("info", "mesh:2", "-x"), "unknown option '-x'"),
                (("info", "mesh:2", "--json=yes"), "takes no value"),
                (("topo", "mesh:2", "--output"), "--output needs FILE"),
                (("info", "mesh:2", "--seed", "abc"), "'abc' is not a number"),
                (("info", "mesh:2", "--threads", "0"), "not in 1"),
                (("info", "mesh:2", "--threads", "1025"), "not in 1"),
                (("topo", "mesh:2", "--format", "pdf"), "unknown format 'pdf'"),
                (("topo", "mesh:2", "--format", "cray"), "can only be read"),
                (("topo", "mesh:2", "-o", self.path("x.ndat")), "can only be read"),
                (("diff", "mesh:2", "mesh:2", "--match", "luck"), "neither guid nor name"),
                (("faults", "mesh:2"), "what is to fail?"),
                (("faults", "mesh:2", "--links", "many"), "neither a number nor a percentage"),
                (("faults", "mesh:2", "--both", "1"), "--both and --ratio go together"),
                (("faults", "mesh:2", "--both", "1", "--ratio", "1"), "is not SWITCHES:LINKS"),
                (("faults", "mesh:2", "--both", "1", "--ratio", "1:0"), "is not SWITCHES:LINKS"),
                (("faults", "mesh:2", "--both", "1", "--ratio", "1:2", "--links", "1"), "stands for"),
                (("faults", "mesh:2", "--both", "1", "--ratio", "1:2", "--switches", "1"),
                 "stands for"),
                (("faults", "mesh:2", *["--switch", "sw0"] * 65), "more than 64 times"),
                (("faults", "mesh:2", "--links", "1", "--level", "x"), "'x' is not a number")):
            with self.subTest(arguments):
                self.expect_error(2, text, *arguments)
        self.assertEqual(selvage().code, 2)

    def test_options_in_all_forms(self):
        for form in (["-o", self.path("a")], ["-o" + self.path("a")],
                     ["--output", self.path("a")], ["--output=" + self.path("a")]):
            ok("topo", "mesh:2", *form)
            self.assertIn("Switch", self.read("a"))
            os.unlink(self.path("a"))
        self.assertIn("Switch", ok("topo", "--", "mesh:2").out)


class Errors(Base):
    def test_bad_specs(self):
        out = ("-o", self.path("out"))
        self.expect_error(2, "unknown key 'hots'", "topo", "torus:4x4,hots=3", *out)
        self.expect_error(2, "'tours' is no family", "info", "tours:4x4")
        self.expect_error(4, "needs 46 ports", "topo", "torus:4x4x4,hosts=40,radix=36", *out)

    def test_files_that_are_not_there(self):
        self.expect_error(5, "No such file", "info", self.path("absent.net"))
        self.expect_error(5, "no topology spec", "info", "absent")
        self.expect_error(5, "No such file", "info", "./absent:4x4")
        self.expect_error(3, "no opensm-subnet.lst in it", "info", self.directory)
        self.expect_error(5, "cannot create", "topo", "mesh:2", "-o", self.path("no/where"))
        self.expect_error(5, "directory", "topo", "mesh:2", "-o", self.directory)

    def test_bad_files(self):
        good = ok("topo", "torus:3x3,hosts=1").out
        cases = {
            "empty": (b"", ":1: the file is empty"),
            "binary": (bytes(range(256)) * 100, ":1: zero byte"),
            "words": (b"once upon a time\n", ":1: not a fabric"),
            "cut": (good[:len(good) // 2].encode(), ""),
            "twice": (good.replace("[2]\t", "[1]\t", 1).encode(), "is used twice"),
            "ends": (good.replace("[1](", "[2](", 1).encode(), ""),
            "unknown": (good.replace("H-02005e1b00000010", "H-02005e1b00000011", 1).encode(),
                        "unknown node"),
            "absurd": (good.replace("Switch\t5", "Switch\t99999999999", 1).encode(), "99999999999"),
        }
        for name, (content, text) in cases.items():
            with self.subTest(name):
                path = self.write(name, content)
                self.expect_error(3, text, "convert", path, "-o", self.path("out.net"))
                message = selvage("info", path).err
                self.assertRegex(message, r"^selvage: \S+/%s:\d+: \S" % name)

    def test_every_cut_of_a_file_is_refused_or_harmless(self):
        """A file cut at any byte is refused, unless only the last line break is missing, it is cut
        so early that nothing refers to anything yet, or so that a cable now has one end only, which
        info then warns of."""
        good = ok("topo", "mesh:2,hosts=1").out.encode()
        for length in range(len(good) - 1):
            result = selvage("info", "--quick", "-", stdin=good[:length])
            harmless = b"[1" not in good[:length] or "listed at one end only" in result.out
            if harmless and result.code == 0:
                continue
            self.assertEqual(result.code, 3, "cut after %d bytes: %s" % (length, result.err))

    def test_two_gigabytes_of_garbage(self):
        """Refused at once, from a pipe too, without reading it all into memory."""
        for head in (b"", b"# Topology file: x\n"):
            generator = subprocess.Popen(
                [sys.executable, "-c",
                 "import sys\nout = sys.stdout.buffer\nout.write(%r)\nblock = b'x' * 1048576\n"
                 "try:\n    for i in range(2048): out.write(block)\nexcept BrokenPipeError: pass\n"
                 % head], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            result = subprocess.run([SELVAGE, "info", "-"], stdin=generator.stdout,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            generator.stdout.close()
            generator.wait(60)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stderr.count(b"\n"), 1)

    def test_a_full_disk(self):
        for arguments in (("topo", "torus:9x9"), ("info", "mesh:2"), ("info", "mesh:2", "--json"),
                          ("diff", "mesh:2", "mesh:3"), ("topo", "--list"), ("--help",),
                          ("--version",), ("info", "--help")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SELVAGE, *arguments], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 5, arguments)
            self.assertEqual(done.stderr.count(b"\n"), 1, arguments)

    def test_an_old_file_stays_when_writing_fails(self):
        path = self.write("out.net", "precious")
        result = selvage("topo", "fullmesh:300", "-o", path)
        self.assertEqual(result.code, 4)
        self.assertEqual(self.read("out.net"), "precious")
        self.assertEqual(os.listdir(self.directory), ["out.net"])

    def test_ctrl_c_leaves_nothing(self):
        process = subprocess.Popen([SELVAGE, "topo", "random:switches=200000,links=4000000", "-o",
                                    self.path("big.json"), "-f", "json"], stderr=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("cancelled", error)
        self.assertEqual(os.listdir(self.directory), [])


class Interruptions(Base):
    """Whatever a signal finds us doing, it ends us cleanly."""

    def expect_cancelled(self, process):
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 130)
        self.assertIn(b"cancelled", process.stderr.read())
        process.stderr.close()

    def test_in_the_middle_of_json(self):
        process = subprocess.Popen([SELVAGE, "info", "-"], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(b'{"node_info":{' + b" " * 400000)
        process.stdin.flush()
        self.expect_cancelled(process)
        process.stdin.close()

    def test_while_waiting_for_input(self):
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([SELVAGE, "info", "-"], stdin=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(0.2)
            process.send_signal(name)
            self.assertEqual(process.wait(20), 130)
            process.stdin.close()
            process.stderr.close()

    def test_while_waiting_for_a_pipe(self):
        os.mkfifo(self.path("fifo"))
        for arguments in (("info", self.path("fifo")), ("topo", "mesh:2", "-o", self.path("fifo"))):
            self.expect_cancelled(subprocess.Popen([SELVAGE, *arguments], stderr=subprocess.PIPE))

    def test_while_output_is_stuck(self):
        reader, writer = os.pipe()
        process = subprocess.Popen([SELVAGE, "topo", "torus:40x40,hosts=4"], stdout=writer,
                                   stderr=subprocess.PIPE)
        os.close(writer)
        self.expect_cancelled(process)
        os.close(reader)

    def test_two_signals_leave_nothing_either(self):
        for delay in range(12):
            process = subprocess.Popen([SELVAGE, "topo", "torus:60x60,hosts=20", "-o",
                                        self.path("big.net")], stderr=subprocess.DEVNULL)
            time.sleep(0.01 * delay)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
            process.wait(60)
            left = [n for n in os.listdir(self.directory) if n != "big.net"]
            self.assertEqual(left, [])

    def test_a_file_that_may_not_grow(self):
        done = subprocess.run("ulimit -f 1; exec %s topo torus:9x9 -o out.net" % SELVAGE,
                              shell=True, cwd=self.directory, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(os.listdir(self.directory), [])


class Streams(Base):
    def test_one_thing_a_stream(self):
        net = ok("topo", "mesh:2").out.encode()
        for arguments, text in (
                (("topo", "mesh:2", "--json", "-o", "-"), "2 things want standard output"),
                (("convert", "mesh:2", "--json", "-o", "-"), "2 things want standard output"),
                (("faults", "mesh:3x3", "--links", "1", "--save-list", "-"), "standard output"),
                (("faults", "mesh:3x3", "--links", "1", "--save-list", "-", "--json"), "standard"),
                (("faults", "-", "--list", "-"), "2 things want standard input"),
                (("info", "-", "--cn-guids", "-"), "2 things want standard input"),
                (("diff", "-", "-"), "2 things want standard input"),
                (("faults", "mesh:3x3", "--links", "1", "-o", "x", "--save-list", "x"),
                 "the same file")):
            with self.subTest(arguments):
                self.expect_error(2, text, *arguments, stdin=net)

    def test_a_list_goes_with_its_fabric(self):
        self.write("list", "precious")
        result = selvage("faults", "torus:3x3", "--links", "1", "--save-list", self.path("list"),
                         "-o", "/dev/full")
        self.assertEqual(result.code, 5)
        self.assertEqual(self.read("list"), "precious")

    def test_closed_streams_are_not_written_into_files(self):
        done = subprocess.run("%s convert torus:1x2,hosts=0 -f subnet -o w 2>&- >&- <&-" % SELVAGE,
                              shell=True, cwd=self.directory)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(self.read("w").startswith("{ SW"))

    def test_links_are_followed_even_to_nothing(self):
        os.symlink("target", self.path("link"))
        ok("topo", "mesh:2", "-o", self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertIn("Switch", self.read("target"))
        os.symlink("circle", self.path("circle"))
        self.expect_error(5, "symbolic links", "topo", "mesh:2", "-o", self.path("circle"))

    def test_long_names_of_files(self):
        ok("topo", "mesh:2", "-o", self.path("n" * 255))
        self.expect_error(5, "too long", "topo", "mesh:2", "-o", self.path("n" * 256))

    def test_a_directory_does_not_hide_a_spec(self):
        os.mkdir(self.path("deimos"))
        self.assertEqual(ok("info", "deimos", "-q", "-j", cwd=self.directory).json["switches"], 108)


class Info(Base):
    def test_keys_that_others_rely_on(self):
        info = ok("info", "torus:4x4x3,hosts=4", "--json").json
        wanted = {"switches": 48, "terminals": 192, "links": 144, "diameter": 5,
                  "vertex_connectivity": 6, "edge_connectivity": 6, "components": 1}
        for key, value in wanted.items():
            self.assertEqual(info[key], value, key)
        self.assertAlmostEqual(info["mean_distance"], 128 / 47, places=5)
        self.assertEqual(info["roles"], {"compute": 192, "io": 0, "other": 0})
        self.assertEqual(info["ports_used"], {"min": 10, "avg": 10.0, "max": 10})
        self.assertEqual(info["warnings"], [])
        self.assertEqual(info["bisection"]["links"], 24)

    def test_threads_do_not_matter(self):
        results = {ok("info", "random:switches=300,links=900,seed=5", "--json", "--threads", n).out
                   for n in ("1", "2", "5")}
        self.assertEqual(len(results), 1)

    def test_quick_is_only_counts(self):
        info = ok("info", "torus:4x4x3", "--json", "--quick").json
        self.assertNotIn("diameter", info)
        self.assertEqual(info["switches"], 48)

    def test_warnings(self):
        text = ("Switch 8 \"A\"\n[1] \"B\"[1]\n[3] \"A\"[4]\n[4] \"A\"[3]\n\nSwitch 8 \"B\"\n\n"
                "Switch 8 \"C\" # \"A\"\n\nHca 1 \"x\"\n")
        info = selvage("info", "-", "--json", stdin=text.encode()).json
        self.assertEqual({w["what"]: w["count"] for w in info["warnings"]},
                         {"isolated switch": 1, "isolated adapter": 1, "duplicate name": 1,
                          "cable listed at one end only": 1, "cable from a switch to itself": 1})
        self.assertEqual(info["components"], 2)  # A and B, C; an adapter without port is no node

    def test_roles_from_guid_files(self):
        guids = ok("topo", "mesh:2x2", "--format", "cn-guids").out.split()
        compute = self.write("cn", "\n".join(guids[:2]))
        io = self.write("io", guids[3] + "\n0x77\n")
        result = ok("info", "mesh:2x2", "--json", "--cn-guids", compute, "--io-guids", io)
        self.assertEqual(result.json["roles"], {"compute": 2, "io": 1, "other": 1})
        self.assertIn("io:2: 0x0000000000000077 is no host of the fabric", result.err)

    def test_lists_of_io_nodes_leave_the_others_alone(self):
        guids = ok("topo", "mesh:2x2", "--format", "cn-guids").out.split()
        io = self.write("io", guids[3] + "\n")
        result = ok("info", "mesh:2x2", "--json", "--io-guids", io)
        self.assertEqual(result.json["roles"], {"compute": 3, "io": 1, "other": 0})

    def test_what_is_counted(self):
        """A leaf with two kinds of cable, a router, and a root with fewer ports in use."""
        text = ("Switch 8 \"A\"\n[1] \"x\"[1] # \"\" lid 0 4xQDR\n[2] \"r\"[1] # \"\" lid 0 4xQDR\n"
                "[3] \"B\"[1] # \"\" lid 0 4xEDR\n[4] \"B\"[2] # \"\" lid 0 4xEDR\n\n"
                "Switch 8 \"B\"\n[1] \"A\"[3] # \"\" lid 0 4xEDR\n[2] \"A\"[4] # \"\" lid 0 4xEDR\n\n"
                "caguid=0x10\nCa 1 \"x\"\n[1] \"A\"[1] # lid 0 lmc 0 \"\" lid 0 4xQDR\n\n"
                "rtguid=0x20\nRt 1 \"r\"\n[1] \"A\"[2] # lid 0 lmc 0 \"\" lid 0 4xQDR\n")
        info = ok("info", "-", "--json", stdin=text.encode()).json
        self.assertEqual(info["ports_used"], {"min": 2, "avg": 3.0, "max": 4})
        self.assertEqual(info["routers"], 1)
        self.assertEqual(info["speeds"],
                         [{"width": 4, "speed": "QDR", "links": 0, "other_links": 2},
                          {"width": 4, "speed": "EDR", "links": 2, "other_links": 0}])
        self.assertIn("2, 1 of them router\n", ok("info", "-", stdin=text.encode()).out)

    def test_pieces_are_told(self):
        whole = ok("info", "mesh:3").out
        self.assertIn("1 switch or 1 link must fail to disconnect switches\n", whole)
        self.assertNotIn("unreachable", whole)
        ok("faults", "mesh:2", "--port", "sw0/2", "-o", self.path("cut.net"))
        text = ok("info", self.path("cut.net")).out
        self.assertIn("components     2\n", text)
        self.assertIn("unreachable    2 ordered pairs of terminals\n", text)
        self.assertIn("connectivity   0: the switches are not connected\n", text)

    def test_a_file_wins_over_a_spec(self):
        path = self.write("deimos", ok("topo", "mesh:2").out)
        self.assertEqual(ok("info", "deimos", "--json", cwd=self.directory).json["switches"], 2)
        os.unlink(path)


class Faults(Base):
    def test_the_demo(self):
        result = ok("faults", "torus:4x4x3,hosts=4", "--switches", "1", "-o", self.path("b.net"),
                    "--json")
        self.assertEqual(result.json["switches"], 47)
        self.assertEqual(result.json["terminals"], 188)
        self.assertEqual(result.json["failed"], {"links": 0, "switches": 1, "adapters": 0})
        self.assertEqual(ok("info", self.path("b.net"), "--json").json["links"], 138)

    def test_seeds_repeat_and_differ(self):
        def draw(seed):
            return ok("faults", "torus:4x4x3", "--links", "5%", "--seed", seed).out
        self.assertEqual(draw("1"), draw("1"))
        self.assertNotEqual(draw("1"), draw("2"))

    def test_a_list_repeats_a_draw(self):
        ok("faults", "torus:4x4x3,hosts=2", "--links", "3", "--switches", "1", "--adapters", "2",
           "-o", self.path("a.net"), "--save-list", self.path("list"))
        ok("faults", "torus:4x4x3,hosts=2", "--list", self.path("list"), "-o", self.path("b.net"))
        self.assertEqual(self.read("a.net"), self.read("b.net"))

    def test_named_failures(self):
        result = ok("faults", "torus:4x4,hosts=2", "--switch", "sw0-0", "--adapter", "host31",
                    "--port", "sw2-2/3", "--json")
        self.assertEqual(result.json["failed"], {"links": 1, "switches": 1, "adapters": 1})
        self.expect_error(3, "no switch is called 'sw9'", "faults", "torus:4x4", "--switch", "sw9")

    def test_random_failures_are_drawn_from_what_is_left(self):
        self.expect_error(4, "only 1 of 2 links can fail (3 candidates)", "faults", "fullmesh:4",
                          "--switch", "sw0", "--links", "2")

    def test_critical_choices_are_counted(self):
        result = ok("faults", "mesh:9", "--switches", "3", "--seed", "1", "-o", "/dev/null")
        self.assertIn("; 7 critical choices skipped\n", result.err)

    def test_levels(self):
        ok("faults", "kary:k=2,n=3", "--links", "4", "--level", "1", "--json", "--save-list",
           self.path("list"))
        for line in self.read("list").splitlines():
            self.assertRegex(line, r"^link .* # l1-\d l2-\d$")

    def test_names_that_need_quoting(self):
        net = ("Switch 8 \"A\" # \"a\\b \"c\"\"\n[1] \"B\"[1]\n\nSwitch 8 \"B\"\n[1] \"A\"[1]\n")
        result = ok("faults", "-", "--switch", "a\\b \"c\"", "--json", stdin=net.encode()).json
        self.assertEqual(result["failed"]["switches"], 1)

    def test_cut_off_terminals_are_reported(self):
        result = ok("faults", "mesh:3,hosts=1", "--switch", "sw1", "--json")
        self.assertEqual(result.json["cut_off_terminals"], 1)
        self.assertIn("1 terminal(s) cannot reach the others", result.err)

    def test_real_names(self):
        path = real("ibnetdiscover", "ut-rocket-fdr10.ibnetdiscover")
        if path is None:
            self.skipTest("the real fabrics are not here")
        for option, value, lost in (("--adapter", "tank1", 2), ("--adapter", "tank1 mlx4_0", 2),
                                    ("--adapter", "0xf452140300081a20", 2),
                                    ("--port", "tank1 mlx4_0/2", 1), ("--port", "tank1/1", 1)):
            result = ok("faults", path, option, value, "--json").json
            self.assertEqual(result["lost_terminals"], lost, value)

    def test_nothing_left(self):
        self.expect_error(4, "nothing would be left", "faults", "torus:1", "--switches", "1", "-o",
                          self.path("out"))

    def test_no_choice_left(self):
        self.expect_error(4, "only 0 of 1 links can fail", "faults", "mesh:3", "--links", "1", "-o",
                          self.path("out"))


class Convert(Base):
    def test_formats_by_suffix(self):
        for name, start in (("f.dot", "// "), ("f.json", "{"), ("f.lst", "{ SW"), ("f.net", "#\n"),
                            ("topology.conf", "# topology.conf"), ("f", "#\n")):
            ok("convert", "torus:3x3", "-o", self.path(name))
            self.assertTrue(self.read(name).startswith(start), name)

    def test_dot_is_understood_by_graphviz(self):
        for spec in ("torus:4x4x3,hosts=4", "kary:k=2,n=3", "fullmesh:4,r=3,hosts=9"):
            ok("convert", spec, "-o", self.path("f.dot"))
            program = "dot" if "dot -Tsvg" in self.read("f.dot") else "neato"
            done = subprocess.run([program, "-Tplain", self.path("f.dot")], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=True)
            switches = ok("info", spec, "--json", "--quick").json["switches"]
            nodes = re.findall(rb"^node s\d+ ", done.stdout, re.M)
            self.assertEqual(len(nodes), switches)

    def test_json_has_everything(self):
        fabric = ok("convert", "deimos", "--format", "json").json
        self.assertEqual(len(fabric["switches"]), 108)
        self.assertEqual(len(fabric["terminals"]), 729)
        self.assertEqual(len(fabric["cables"]), 1653)
        cable = fabric["cables"][0]
        self.assertEqual(cable["speed"], "SDR")
        roles = [t["role"] for t in fabric["terminals"]]
        self.assertEqual(roles.count("other"), 3)

    def test_the_middle_of_the_largest_piece(self):
        ok("faults", "mesh:5", "--port", "sw0/2", "-o", self.path("cut.net"))
        roots = ok("convert", self.path("cut.net"), "--format", "root-guids").out
        self.assertIn(roots, ("0x02005e1a00000003\n", "0x02005e1a00000004\n"))

    def test_routers_without_guids(self):
        text = ('Switch 8 "A"\n[1] "x"[1]\n[2] "r"[1]\n\nHca 1 "x"\n[1] "A"[1]\n\n'
                'Rt 1 "r"\n[1] "A"[2]\n')
        again = ok("convert", "-", stdin=text.encode()).out
        self.assertEqual(ok("convert", "-", stdin=again.encode()).out, again)

    def test_what_only_one_end_knows(self):
        text = ('Switch 8 "A"\n[1] "B"[1]\n\n'
                'Switch 8 "B"\n[1] "A"[1] # "A" lid 0 4x?\n')
        link = json.loads(ok("convert", "-", "-f", "json", stdin=text.encode()).out)["cables"][0]
        self.assertEqual(link["width"], 4)

    def test_failed_names_do_not_matter(self):
        path = self.write("n.net", ok("topo", "mesh:3").out.replace('"sw2"', '"x} LID:1"'))
        self.assertEqual(selvage("convert", path, "-f", "subnet").code, 4)
        ok("faults", path, "--switch", "x} LID:1", "-f", "subnet")

    def test_lids_of_the_right_side(self):
        line = ok("convert", "mesh:1,hosts=1", "-f", "subnet").out.split("\n")[0]
        line = line.replace("LID:0000 PN:01 } PHY", "LID:0007 PN:01 } PHY")
        self.assertIn("{ CA", line[5:])
        self.assertIn("lid 7", ok("convert", "-", stdin=(line + "\n").encode()).out)

    def test_counts_as_json(self):
        result = ok("convert", "mesh:2", "-o", self.path("x.dot"), "--json").json
        self.assertEqual(result, {"format": "dot", "switches": 2, "terminals": 2, "links": 1})
        self.assertEqual(ok("convert", "mesh:2", "--json").json["format"], "ibnetdiscover")


class Diff(Base):
    def test_exit_codes(self):
        self.assertEqual(selvage("diff", "mesh:3x3", "mesh:3x3").code, 0)
        ok("faults", "mesh:3x3", "--port", "sw0-0/2", "-o", self.path("less.net"))
        result = selvage("diff", "mesh:3x3", self.path("less.net"))
        self.assertEqual(result.code, 1)
        self.assertEqual(result.out, "lost     cable    'sw0-0' port 2 to 'sw1-0' port 2\n"
                         "1 difference: 0 added, 1 lost, 0 moved, 0 changed, 0 renamed\n")
        changes = json.loads(selvage("diff", self.path("less.net"), "mesh:3x3", "--json").out)
        self.assertFalse(changes["same"])
        self.assertEqual([c["change"] for c in changes["changes"]], ["added"])

    OLD = ("Switch 8 \"A\" # \"twin\"\n[1] \"B\"[1] # \"\" lid 0 4xQDR\n[2] \"B\"[2] # \"\" lid 0 4xQDR\n"
           "[3] \"x\"[1]\n\nSwitch 8 \"B\" # \"twin\"\n[1] \"A\"[1] # \"\" lid 0 4xQDR\n"
           "[2] \"A\"[2] # \"\" lid 0 4xQDR\n\nHca 1 \"x\"\n[1] \"A\"[3]\n")
    NEW = ("Switch 8 \"A\" # \"twin\"\n[1] \"B\"[1] # \"\" lid 0 4xSDR\n[2] \"B\"[5] # \"\" lid 0 4xDDR\n\n"
           "Switch 8 \"B\" # \"twin\"\n[1] \"A\"[1] # \"\" lid 0 4xSDR\n[4] \"x\"[1]\n"
           "[5] \"A\"[2] # \"\" lid 0 4xDDR\n\nHca 1 \"x\"\n[1] \"B\"[4]\n")

    def test_what_is_said_of_cables(self):
        """Ports of both ends, speeds, and GUIDs where names are not enough."""
        self.write("old", self.OLD)
        result = selvage("diff", self.path("old"), "-", stdin=self.NEW.encode())
        a, b = "'twin' (0x0000000000200000)", "'twin' (0x0000000000200001)"
        self.assertEqual(result.out.splitlines(), [
            "changed  cable    %s port 1 to %s port 1 from 4xQDR to 4xSDR" % (a, b),
            "moved    cable    'x' port 1 from %s port 3 to %s port 4" % (a, b),
            "moved    cable    %s port 2 from %s port 2 to %s port 5, from 4xQDR to 4xDDR"
            % (a, b, b),
            "3 differences: 0 added, 0 lost, 2 moved, 1 changed, 0 renamed"])
        result = selvage("diff", self.path("old"), "-", "--json", stdin=self.NEW.encode())
        moved = result.json["changes"][2]
        self.assertEqual((moved["change"], moved["what"]), ("moved", "cable"))
        for key, port, speed in (("old", 2, "QDR"), ("new", 5, "DDR")):
            self.assertEqual(moved[key], {
                "from": {"name": "twin", "guid": "0x0000000000200000", "port": 2},
                "to": {"name": "twin", "guid": "0x0000000000200001", "port": port},
                "width": 4, "speed": speed})

    def test_what_is_said_of_nodes(self):
        self.write("more", self.OLD)
        less = "Switch 8 \"A\" # \"first\"\n"
        result = selvage("diff", self.path("more"), "-", "--json", stdin=less.encode())
        self.assertEqual([(c["change"], c["what"], c.get("old"), c.get("new"))
                          for c in result.json["changes"]],
                         [("renamed", "switch", {"name": "twin", "guid": "0x0000000000200000"},
                           {"name": "first", "guid": "0x0000000000200000"}),
                          ("lost", "switch", {"name": "twin", "guid": "0x0000000000200001"}, None),
                          ("lost", "adapter", {"name": "x", "guid": "0x0000000000100000"}, None)])

    def test_planned_against_found(self):
        plan = ok("topo", "torus:3x3,hosts=1").out
        found = re.sub(r"2005e1([ab])", r"20aa5e1\1", plan)  # real hardware has its own GUIDs
        self.write("found", found)
        self.assertEqual(selvage("diff", "torus:3x3,hosts=1", self.path("found")).code, 1)
        self.assertEqual(selvage("diff", "--match", "name", "torus:3x3,hosts=1",
                                 self.path("found")).code, 0)


class RealFabrics(Base):
    """Files that nobody here wrote; counted by hand or told by where they come from."""

    COUNTS = {
        ("ibnetdiscover", "selene-storage.ibnetdiscover"): (160, 1247, 2039),
        ("ibnetdiscover", "director-tabs-eaten.ibnetdiscover"): (400, 2328, 6395),
        ("ibnetdiscover", "topograph-dgx-ndr.ibnetdiscover"): (40, 582, 532),
        ("ibnetdiscover", "ut-rocket-fdr10.ibnetdiscover"): (8, 145, 47),
        ("ibnetdiscover", "psmn-x5.ibnetdiscover"): (11, 89, 70),
        ("ibnetdiscover", "mlnx-small-lab.ibnetdiscover"): (2, 13, 1),
        ("opensm", "subnet.lst"): (62, 3, 169),
        ("netloc", "plafrim-IB-nodes.ndat"): (9, 125, 76),
        ("cray", "theta.interconnect"): (864, 3456, 14688),
    }

    def setUp(self):
        super().setUp()
        if real("ibnetdiscover") is None:
            self.skipTest("the real fabrics are not here")

    def test_counts(self):
        for path, (switches, terminals, links) in self.COUNTS.items():
            info = ok("info", real(*path), "--json").json
            self.assertEqual((info["switches"], info["terminals"], info["links"]),
                             (switches, terminals, links), path)

    def test_copies_are_byte_for_byte(self):
        """What ibnetdiscover wrote, selvage writes again; only comments in front differ."""
        for name in ("selene-storage", "psmn-x5", "ut-rocket-fdr10", "mlnx-small-lab",
                     "topograph-dgx-ndr"):
            path = real("ibnetdiscover", name + ".ibnetdiscover")
            with open(path) as file:
                lines = [line for line in file.read().rstrip("\n").split("\n")
                         if not line.startswith("#")]
            copy = [line for line in ok("convert", path).out.rstrip("\n").split("\n")
                    if not line.startswith("#")]
            self.assertEqual(copy, lines, name)

    def test_theta_is_a_dragonfly_of_nine_groups(self):
        fabric = ok("convert", real("cray", "theta.interconnect"), "--format", "json").json
        group = {}
        for s in fabric["switches"]:
            column, row = re.match(r"c(\d+)-(\d+)", s["name"]).groups()
            group[s["node"]] = (int(column) // 2, int(row))
        self.assertEqual(len(set(group.values())), 9)
        pairs = {}
        for c in fabric["cables"]:
            if c["a"] in group and c["b"] in group and group[c["a"]] != group[c["b"]]:
                pair = tuple(sorted((group[c["a"]], group[c["b"]])))
                pairs[pair] = pairs.get(pair, 0) + 1
        self.assertEqual(set(pairs.values()), {48})
        self.assertEqual(len(pairs), 36)

    def test_roots_of_real_trees(self):
        for name, word, count in (("topograph-dgx-ndr", "IBSPINE", 9), ("selene-storage", "SCORE", 32),
                                  ("director-tabs-eaten", "/S", 80)):
            path = real("ibnetdiscover", name + ".ibnetdiscover")
            roots = ok("convert", path, "-f", "root-guids").out.split()
            names = {s["guid"]: s["name"] for s in ok("convert", path, "-f", "json").json["switches"]}
            self.assertEqual(len(roots), count, name)
            for guid in roots:
                self.assertIn(word, names[guid])

    def test_every_file_is_like_itself_by_name(self):
        for path in self.COUNTS:
            self.assertEqual(selvage("diff", "-m", "name", real(*path), real(*path)).code, 0, path)

    def test_sharp_nodes_are_no_compute_nodes(self):
        info = ok("info", real("ibnetdiscover", "topograph-dgx-ndr.ibnetdiscover"), "--json").json
        self.assertEqual(info["special_adapters"], 40)
        self.assertEqual(info["roles"]["compute"], 542)


if __name__ == "__main__":
    unittest.main()
