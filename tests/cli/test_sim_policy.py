"""selvage sim with policies, traces and several seeds from outside: what is told, in text and JSON, files, what is
refused, and how it ends. What policies do: tests/unit/test_adapt*.c; ways and rules: tests/oracle.
"""
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, SOURCE, ok, selvage  # noqa: E402

MESH = ("mesh:8x8", "-e", "dor", "-p", "drb")
SPOT = ("--traffic", "meshspot:which=2,rate=600Mbps,noise=0.05,on=200us,off=200us,bursts=3")
LARGEST = str(2 ** 64 - 1)
TREE = ("kary:k=4,n=3,hosts=4", "-e", "updn", "-p", "drb")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-policy-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def rows(self, name):
        with open(self.path(name), newline="") as file:
            return list(csv.DictReader(file))

    def json(self, *arguments, code=0):
        result = selvage("sim", *arguments, "--json")
        self.assertEqual(result.code, code, result.err)
        return result.json

    def expect(self, code, message, *arguments):
        result = selvage("sim", *arguments)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.strip().split("\n")), 1, result.err)
        self.assertEqual(result.out, "")


class Listing(Case):
    def test_policies_and_keys(self):
        text = ok("sim", "--policy", "help").out
        found = json.loads(ok("sim", "--policy", "help", "--json").out)
        names = [p["name"] for p in found["policies"]]
        for name in ("deterministic", "random", "cyclic", "valiant", "ugal-l", "ugal-g", "drb", "fr-drb", "pr-drb",
                     "pr-fr-drb"):
            self.assertIn(name, names)
            self.assertRegex(text, r"(?m)^  %s +\S" % re.escape(name))
        keys = {k["name"]: k for p in found["policies"] if p["name"] == "pr-drb" for k in p["keys"]}
        self.assertEqual(keys["similar"]["otherwise"], "0.8")
        self.assertTrue(keys["similar"]["published"])
        self.assertTrue(all(k["meaning"] for k in keys.values()))

    def test_patterns_are_listed(self):
        text = ok("sim", "--traffic", "help").out
        for word in ("changing", "meshspot", "rate", "ranks", "resting", "bursts"):
            self.assertRegex(text, r"(?m)^ +%s +\S" % word)


class OneRun(Case):
    def test_numbers_agree_with_files(self):
        found = self.json(*MESH, *SPOT, "--policy", "drb", "--routers", self.path("routers.csv"), "--terminals",
                          self.path("terminals.csv"))
        received = [r for r in self.rows("terminals.csv") if int(r["messages"]) > 0]
        means = [float(r["latency_avg_us"]) for r in received]
        self.assertEqual(found["destinations"], len(received))
        self.assertAlmostEqual(found["global_latency_us"], sum(means) / len(means), places=4)
        ready = [float(r["since_ready_avg_us"]) for r in received]
        self.assertAlmostEqual(found["global_since_ready_us"], sum(ready) / len(ready), places=4)
        routers = self.rows("routers.csv")
        self.assertEqual(len(routers), 64)
        worst = max((r for r in routers if r["contention_us"]), key=lambda r: float(r["contention_us"]))
        self.assertEqual(found["worst_router"]["name"], worst["switch"])
        self.assertAlmostEqual(found["worst_router"]["contention_us"], float(worst["contention_us"]), places=5)
        packets, waited = (sum(float(r[key]) for r in routers) for key in ("packets", "waited_us"))
        self.assertAlmostEqual(found["contention_us"], waited / packets, places=4)
        self.assertEqual(found["arrived_messages"], found["messages"])

    def test_vls_are_told_alike(self):
        """Tables' VLs and each policy's, alone and compared, whatever the model has."""
        policies = {"deterministic": 1, "valiant": 2, "drb": 3, "drb:adaptive=1": 4}
        several = [word for policy in policies for word in ("--policy", policy)]
        for more in ((), ("--set", "vls=9")):
            with self.subTest(more):
                run = (*MESH, "--traffic", "uniform:messages=1", *more)
                found = self.json(*run, *several)
                self.assertEqual(found["vls"], 1)
                self.assertEqual({p["policy"]: p["vls"] for p in found["policies"]}, policies)
                for policy, vls in policies.items():
                    alone = self.json(*run, "--policy", policy)
                    self.assertEqual((alone["vls"], alone["policy"]["vls"]), (1, vls))
                    text = ok("sim", *run, "--policy", policy).out
                    self.assertRegex(text, r"(?m)^tables +by dor, 1 VL$")
                    self.assertRegex(text, r"(?m)^policy +%s: %d VLs?, \d" % (policy, vls))
                for bare in (self.json(*run), self.json(*run, "--seeds", "2")):
                    self.assertEqual(bare["vls"], 1)
                self.assertEqual(bare["policies"][0]["vls"], 1)

    def test_the_proof_is_told(self):
        """Who is judged, and what the VLs are made of; alone, compared, for people and for programs."""
        policies = {"deterministic": (1, 0, False), "valiant": (2, 0, True), "drb": (3, 0, True), "drb:vias=1,adaptive=1": (2, 1, True),
                    "pr-drb:notify=router": (3, 0, True)}
        run = (*MESH, "--traffic", "uniform:messages=1")
        for policy, (segments, adaptive, proven) in policies.items():
            told = self.json(*run, "--policy", policy)["policy"]
            self.assertEqual((told["segments"], told["adaptive"], told["proven"]), (segments, adaptive, proven), policy)
            self.assertEqual(told["vls"], segments + adaptive)
            self.assertRegex(ok("sim", *run, "--policy", policy).out,
                             r"(?m)^  VLs +%d segments? × 1 of the tables \+ %d adaptive: %s" %
                             (segments, adaptive, "proven deadlock-free" if proven else "as the tables, not judged"))
        several = [word for policy in policies for word in ("--policy", policy)]
        self.assertEqual([p["proven"] for p in self.json(*run, *several)["policies"]], [p[2] for p in policies.values()])
        self.assertIn("Proven beforehand", ok("sim", *run, *several).out)
        self.assertNotIn("Proven", ok("sim", *run, "--policy", "deterministic", "--seeds", "2").out)
        self.assertNotIn("proven", self.json(*run, "--seeds", "2")["policies"][0])

    def test_what_a_policy_tells(self):
        found = self.json(*MESH, *SPOT, "--policy", "drb")
        policy = found["policy"]
        self.assertEqual(policy["spec"], "drb")
        self.assertEqual((found["vls"], policy["vls"], found["profile"]["vls"]), (1, 3, 3))
        self.assertGreater(policy["opened"], 0)
        self.assertGreater(policy["detours"], 0)
        self.assertGreaterEqual(policy["acks"], found["messages"])
        self.assertGreater(policy["control_bytes"], policy["control_packets"])
        self.assertTrue(0 < policy["control_share"] < 0.2)
        self.assertTrue(1 < policy["max_paths"] <= 4)
        plain = self.json(*MESH, *SPOT)
        self.assertIsNone(plain["policy"])
        self.assertLess(found["contention_us"], plain["contention_us"] / 4)
        text = ok("sim", *MESH, *SPOT, "--policy", "drb").out
        for word in ("global latency", "contention ", "policy  ", "  control ", "  order ", "  paths "):
            self.assertIn("\n" + word, text)
        self.assertNotIn("policy", ok("sim", *MESH, *SPOT).out)

    def test_deterministic_is_what_tables_do(self):
        keys = ("simulated_us", "global_latency_us", "contention_us", "packet_hops", "messages", "payload_bytes")
        plain, policy = self.json(*MESH, *SPOT), self.json(*MESH, *SPOT, "--policy", "deterministic")
        self.assertEqual([plain[k] for k in keys], [policy[k] for k in keys])

    def test_same_seed_same_run(self):
        first, again, other = (self.json(*MESH, *SPOT, "--policy", "pr-fr-drb", "--seed", seed)
                               for seed in ("3", "3", "4"))
        for found in (first, again, other):
            del found["wall_seconds"]
        self.assertEqual(first, again)
        self.assertNotEqual(first["global_latency_us"], other["global_latency_us"])

    def test_seeds_have_64_bits(self):
        short = (*MESH, "--traffic", "uniform", "--sample", "20", "--warm-up", "0")
        runs = {seed: self.json(*short, "--seed", seed) for seed in ("0", "1", LARGEST)}
        self.assertEqual(runs[LARGEST]["seed"], 2 ** 64 - 1)
        self.assertEqual(len({run["events"] for run in runs.values()}), 3)
        found = self.json(*short, "--seeds", "%d..%s" % (2 ** 64 - 2, LARGEST))
        self.assertEqual((found["first_seed"], found["seeds"]), (2 ** 64 - 2, 2))
        for seed in (str(2 ** 64), "99999999999999999999999"):
            self.expect(2, "--seed: '%s' is not a number: it is too large" % seed, *MESH, "--seed", seed)
        for seed in ("-1", "1e3", "", " 1", "0x10", "1.5"):
            self.expect(2, "--seed: '%s' is not a number (digits alone)" % seed, *MESH, "--seed", seed)
        self.expect(2, "--wall: '%s' is not a number: it is too large" % LARGEST, *MESH, "--wall", LARGEST)

    def test_a_store_is_written_and_read(self):
        spec = "pr-drb:notify=router,low=0.9"
        first = self.json(*MESH, *SPOT, "--policy", spec, "--store-out", self.path("store"))
        self.assertGreater(first["policy"]["patterns"], 0)
        self.assertEqual(first["policy"]["seeded"], 0)
        second = self.json(*MESH, *SPOT, "--policy", spec, "--store", self.path("store"), "--store-out",
                           self.path("store"))
        self.assertEqual(second["policy"]["seeded"], first["policy"]["patterns"])
        self.assertGreater(second["policy"]["applied"], 0)
        both = self.json(*MESH, *SPOT, "--policy", "drb", "--policy", spec, "--store", self.path("store"))
        self.assertGreater(both["policies"][1]["did"]["applied"], 0)
        alone = self.json(*MESH, *SPOT, "--policy", "drb")
        self.assertAlmostEqual(both["policies"][0]["global_latency_us"]["mean"], alone["global_latency_us"], places=5)

    def test_a_store_is_of_policies_that_keep_solutions(self):
        for option in ("store", "store-out"):
            for policy in ("drb:paths=2", "deterministic"):
                # Before it simulates: this run would have no end.
                self.expect(2, "--%s: policy '%s' keeps no solutions (those that do: pr-drb, pr-fr-drb)" % (option, policy), *MESH,
                            "--traffic", "uniform", "--wall", "1000", "--policy", policy, "--" + option, self.path("none"))
        self.expect(2, "keeps no solutions", *MESH, "--policy", "drb", "--policy", "random", "--store", self.path("none"))
        self.assertFalse(os.path.exists(self.path("none")))
        self.expect(5, "cannot create '%s'" % self.path("no/where"), *MESH, "--traffic", "uniform", "--wall", "1000", "--policy",
                    "pr-drb", "--store-out", self.path("no/where"))
        self.expect(5, "cannot create '%s'" % self.path("no/a.svg"), *MESH, "--traffic", "uniform", "--wall", "1000", "--seeds",
                    "2", "--latency-map", self.path("no/a.svg"))

    def test_a_window_has_no_share_of_control(self):
        found = self.json(*MESH, "--traffic", "uniform:load=0.2", "--policy", "drb", "--warm-up", "50", "--sample", "100")
        self.assertIsNone(found["policy"]["control_share"])
        self.assertGreater(found["policy"]["control_packets"], 0)


class Traces(Case):
    TRACE = ("--trace", "mg:class=S")

    def test_a_program_runs_to_its_end(self):
        found = self.json(*TREE, *self.TRACE)
        self.assertEqual(found["status"], "completed")
        self.assertTrue(found["trace"]["done"])
        self.assertEqual(found["trace"]["ranks"], 64)
        self.assertEqual(found["trace"]["map"], "linear")
        self.assertTrue(0 < found["trace"]["waiting_share"] < 1)
        self.assertEqual(found["messages"], found["arrived_messages"])
        text = ok("sim", *TREE, *self.TRACE).out
        self.assertIn("\ntrace          mg:class=S: 64 ranks, mapped linear, seed 1\n", text)
        self.assertRegex(text, r"\nexecution +[\d.]+ us, of which ranks waited [\d.]+ %")

    def test_computing_and_repeating(self):
        plain = self.json(*TREE, *self.TRACE)
        none = self.json(*TREE, *self.TRACE, "--compute", "0")
        slow = self.json(*TREE, *self.TRACE, "--compute", "10")
        twice = self.json(*TREE, *self.TRACE, "--repeat", "2")
        self.assertLess(none["execution_us"], plain["execution_us"])
        self.assertGreater(slow["execution_us"], 1.5 * plain["execution_us"])
        self.assertEqual(none["messages"], plain["messages"])
        self.assertEqual(twice["messages"], 2 * plain["messages"])
        self.assertAlmostEqual(twice["execution_us"] / plain["execution_us"], 2, delta=0.3)

    def test_large_messages_ask_first(self):
        eager, asking = self.json(*TREE, *self.TRACE), self.json(*TREE, *self.TRACE, "--eager", "512")
        self.assertGreater(asking["messages"], eager["messages"])
        self.assertGreater(asking["execution_us"], eager["execution_us"])
        self.assertEqual(asking["payload_bytes"], eager["payload_bytes"])

    def test_where_ranks_are(self):
        linear, first, again, other = (self.json(*TREE, *self.TRACE, *options) for options in (
            (), ("--map", "random"), ("--map", "random"), ("--map", "random", "--seed", "2")))
        self.assertEqual(first["execution_us"], again["execution_us"])
        self.assertNotEqual(first["execution_us"], other["execution_us"])
        self.assertNotEqual(first["execution_us"], linear["execution_us"])
        hosts = self.write("hosts", "# a rank a line\n" + "".join("host%d\n" % i for i in range(64)))
        given = self.json(*TREE, *self.TRACE, "--map", "file:" + hosts)
        self.assertEqual(given["execution_us"], linear["execution_us"])
        one = self.write("one", "".join("host%d\n" % (i // 2) for i in range(64)))
        self.assertLess(self.json(*TREE, *self.TRACE, "--map", "file:" + one)["messages"], linear["messages"])
        for text, message in (("host0\n", "1 hosts, but the trace has 64 ranks"), ("nobody\n", "nobody"),
                              ("leaf0\n", "'leaf0' is no host on a switch"), ("host0\n" * 65, "more hosts than")):
            with self.subTest(message):
                self.expect(3, message, *TREE, *self.TRACE, "--map", "file:" + self.write("wrong", text))

    def test_policies_on_a_program(self):
        found = self.json(*TREE, *self.TRACE, "--policy", "deterministic", "--policy", "drb", "--policy", "cyclic")
        self.assertEqual([p["ends"]["completed"] for p in found["policies"]], [1, 1, 1])
        plain = self.json(*TREE, *self.TRACE)
        self.assertAlmostEqual(found["policies"][0]["execution_us"]["mean"], plain["execution_us"], places=3)
        self.assertTrue(all(0 < p["waiting_share"]["mean"] < 1 for p in found["policies"]))
        self.assertIn("waiting (%)", ok("sim", *TREE, *self.TRACE, "--seeds", "2").out)

    def test_ranks_that_wait_for_ever(self):
        one = self.write("one.goal", "num_ranks 2\nrank 0 {\na: send 9000b to 1\nb: recv 9000b from 1\nb requires a\n}\n"
                                     "rank 1 {\na: send 9000b to 0\nb: recv 9000b from 0\nb requires a\n}\n")
        self.json(*TREE, "--trace", one)
        told = "selvage: warning: %s: rank 0 waits for ever at its event 0\n" % one
        for options in ((), ("--json",), ("--policy", "deterministic", "--policy", "drb")):
            result = selvage("sim", *TREE, "--trace", one, "--eager", "4096", *options)
            self.assertEqual((result.code, result.err), (1, told))
        self.assertIn("\nexecution      not to its end: rank 0 is at event 0\n", selvage("sim", *TREE, "--trace", one, "--eager", "4096").out)

    def test_nothing_to_wait_for(self):
        idle = self.write("idle.goal", "num_ranks 1\nrank 0 {\n}\n")
        told = ok("sim", *TREE, "--trace", idle).out
        self.assertIn("\nexecution      0.000 us, of which ranks waited 0.0 %\n", told)
        self.assertIn(": 1 rank, mapped linear", told)
        self.assertEqual(ok("trace", "check", idle).out.split(" of ")[0], "sound: 1 rank")
        self.assertIsNone(self.json(*TREE, "--trace", idle)["trace"]["waiting_share"])

    def test_messages_name_the_trace(self):
        large = self.write("large.goal", "num_ranks 2\nrank 0 {\nsend 4294967296b to 1\n}\nrank 1 {\n}\n")
        self.expect(4, "%s:3: rank 0, event 0: messages of 4 GiB or more" % large, *TREE, "--trace", large)
        self.expect(4, "lu:ranks=128: 128 ranks, but 64 terminals", *TREE, "--trace", "lu:ranks=128")
        long = self.write("long.goal", "num_ranks 1\nrank 0 {\na: calc 700000000000000\nb: calc 700000000000000\nb requires a\n}\n")
        self.expect(4, "%s:4: rank 0, event 1: the rank computes for more than 14 days" % long, *TREE, "--trace", long)
        self.assertEqual(self.json(*TREE, "--trace", long, "--compute", "0.5")["execution_us"], 700000000000)
        self.expect(4, "rank 0, event 0: the rank computes", *TREE, "--trace", long, "--compute", "0.5", "--repeat", "4")
        lonely = self.write("lonely.goal", "num_ranks 2\nrank 0 {\n}\nrank 1 {\nrecv 1b from 0\n}\n")
        self.expect(3, "%s:5: rank 1, event 0: there is no message for this receive" % lonely, *TREE, "--trace", lonely)

    def test_what_is_no_trace(self):
        self.expect(5, "none.svt", *TREE, "--trace", self.path("none.svt"))
        self.expect(3, "", *TREE, "--trace", self.write("text.svt", "nonsense\n"))
        self.expect(2, "class", *TREE, "--trace", "mg:class=Q")
        self.expect(4, "", "mesh:2x2", "-e", "dor", *self.TRACE)


class Several(Case):
    def test_means_and_changes(self):
        """Means, halves and changes are those of single runs."""
        single = {(p, s): self.json(*MESH, *SPOT, "--policy", p, "--seed", str(s)) for p in ("deterministic", "drb")
                  for s in (2, 3, 4)}
        found = self.json(*MESH, *SPOT, "--policy", "deterministic", "--policy", "drb", "--seeds", "2..4")
        self.assertEqual(found["first_seed"], 2)
        self.assertEqual(found["seeds"], 3)
        for entry in found["policies"]:
            self.assertEqual(entry["ends"]["completed"], 3)
            for key, one in (("global_latency_us", "global_latency_us"), ("execution_us", "simulated_us"),
                             ("contention_us", "contention_us"), ("throughput_gbyte_s", "throughput_gbyte_s")):
                values = [single[entry["policy"], s][one] for s in (2, 3, 4)]
                mean = sum(values) / 3
                half = 4.302653 * math.sqrt(sum((v - mean) ** 2 for v in values) / 2 / 3)
                self.assertAlmostEqual(entry[key]["mean"], mean, delta=1e-5 * mean)
                self.assertAlmostEqual(entry[key]["half"], half, delta=1e-3 * half + 1e-5)
        changes = [100 * (single["drb", s]["global_latency_us"] / single["deterministic", s]["global_latency_us"] - 1)
                   for s in (2, 3, 4)]
        drb = found["policies"][1]["global_latency_us"]
        self.assertAlmostEqual(drb["change_percent"], sum(changes) / 3, places=3)
        self.assertIsNone(found["policies"][0]["global_latency_us"]["change_percent"])
        self.assertLess(drb["change_percent"], -20)

    def test_text(self):
        text = ok("sim", *MESH, *SPOT, "--policy", "deterministic", "--policy", "drb", "--seeds", "2").out
        self.assertRegex(text, r"(?m)^drb +[\d.]+ ± [\d.]+ +-[\d.]+ ± [\d.]+ ")
        self.assertRegex(text, r"(?m)^deterministic +[\d.]+ ± [\d.]+ +- ")
        self.assertIn("2 completed", text)
        self.assertIn("95 % confidence", text)
        self.assertNotIn("seed 1", text)
        text = ok("sim", *MESH, *SPOT, "--seeds", "3").out
        self.assertRegex(text, r"(?m)^\(tables\) +[\d.]+ ± [\d.]+")
        self.assertNotIn("change", text.split("\n\n")[2])

    def test_one_seed_has_no_interval(self):
        found = self.json(*MESH, *SPOT, "--policy", "random", "--policy", "cyclic")
        self.assertIsNone(found["policies"][0]["global_latency_us"]["half"])
        self.assertIsNotNone(found["policies"][1]["global_latency_us"]["change_percent"])

    def test_ctrl_c_tells_what_there_is(self):
        command = [SELVAGE, "sim", *MESH, *SPOT, "--policy", "deterministic", "--policy", "drb", "--seeds", "10000",
                   "--json", "--threads", "2"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        found = json.loads(out)
        self.assertTrue(found["partial"])
        runs = [p["runs"] for p in found["policies"]]
        # In turns, not one policy after the other; but a thread may have to wait for a core.
        self.assertTrue(0 < min(runs) and max(runs) < 10000 and max(runs) <= 2 * min(runs) + 2, runs)

    def test_threads_change_nothing(self):
        """Runs at once are told as runs one after the other."""
        found = []
        for threads in ("1", "3"):
            picture = self.path("map-%s.svg" % threads)
            told = self.json(*MESH, *SPOT, "--policy", "drb", "--policy", "deterministic", "--policy", "pr-fr-drb",
                             "--seeds", "4", "--threads", threads, "--latency-map", picture)
            for entry in told["policies"]:
                del entry["wall_seconds"]
            with open(picture) as file:
                found.append((told, file.read()))
        self.assertEqual(found[0][0], found[1][0])
        self.assertEqual(found[0][1], found[1][1])

    def test_the_first_failure_is_told_and_ends_it(self):
        """However many run at once; runs after it are stopped."""
        for threads in ("1", "2", "4"):
            self.expect(4, "and 20 adaptive ones", *MESH, "--traffic", "uniform:messages=10", "--policy", "deterministic",
                        "--policy", "drb:adaptive=20", "--policy", "drb:adaptive=30", "--threads", threads)
        begun = time.monotonic()
        self.expect(4, "and 20 adaptive ones", *MESH, "--traffic", "uniform:messages=1000000", "--policy",
                    "drb:adaptive=20", "--policy", "deterministic", "--threads", "2")
        self.assertLess(time.monotonic() - begun, 30)

    def test_a_warning_is_said_once(self):
        err = ok("sim", "mesh:4x4,speed=ndr", "-e", "dor", "--traffic", "uniform:messages=10", "--seeds", "3",
                 "--threads", "2").err
        self.assertEqual(err.count("slower than their links"), 1, err)


class Maps(Case):
    def drawn(self, *arguments):
        ok("sim", *arguments, "--interval", "10", "--latency-map", self.path("map.svg"))
        root = xml.etree.ElementTree.parse(self.path("map.svg")).getroot()
        return root, lambda name: root.findall(".//{http://www.w3.org/2000/svg}" + name)

    def test_a_surface_for_each_policy(self):
        root, find = self.drawn(*MESH, *SPOT, "--policy", "deterministic", "--policy", "drb")
        panels = [g for g in find("g") if g.get("class") == "panel"]
        self.assertEqual(len(panels), 2)
        for panel in panels:
            svg = "{http://www.w3.org/2000/svg}"
            patches = [p for p in panel.findall(".//%spolygon" % svg) if p.get("class") != "floor"]
            self.assertEqual(len(patches), 49)
            self.assertEqual(len(panel.findall(".//%scircle" % svg)), 64)
            self.assertGreater(len(panel.findall(".//%srect" % svg)), 24 * 20)
        titles = [t.text for t in panels[0].iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(re.match(r"sw6-3: \d+(\.\d+)? us$", t) for t in titles))

    def test_trees_by_level_and_others_as_bars(self):
        _, find = self.drawn(*TREE, "--traffic", "uniform:load=0.5", "--warm-up", "0", "--sample", "100")
        self.assertEqual(len([p for p in find("polygon") if p.get("class") != "floor"]), 2 * 15)
        _, find = self.drawn("dragonfly:a=4,p=2,h=2,g=9", "-e", "minhop", "--traffic", "uniform:load=0.5", "--warm-up", "0",
                             "--sample", "100")
        self.assertEqual(len([p for p in find("path") if p.get("class", "").startswith("bar")]), 36)

    def test_rows_of_a_run_that_is_long(self):
        """A picture has few columns, however long a run is."""
        ok("sim", *MESH, "--traffic", "uniform:load=0.01", "--sample", "100ms", "--latency-map", self.path("long.svg"))
        with open(self.path("long.svg")) as file:
            text = file.read()
        columns = len(re.findall('<rect class="s\\d+" x="[0-9.]+" y="0" width="[^"]*" height="10"', text))
        self.assertTrue(32 < columns <= 65, columns)
        self.assertIn(">101 ms<", text)

    def test_the_map_alone_on_standard_output(self):
        result = ok("sim", *MESH, *SPOT, "--latency-map", "-")
        self.assertTrue(result.out.startswith("<?xml"))
        self.assertTrue(result.out.rstrip().endswith("</svg>"))


class Unfinished(Case):
    def test_runs_without_an_end_have_no_time(self):
        """How long something took is not known of what deadlocked or was stopped, and is not compared."""
        stuck = ("torus:5,hosts=4", "-e", "sssp", "--vls", "1", "--traffic", "shift:by=8,messages=100")
        spec = ("--policy", "deterministic", "--policy", "deterministic:adaptive=1")
        self.assertIsNone(self.json(*stuck, *spec[:2], code=1)["execution_us"])
        found = self.json(*stuck, *spec, code=1)["policies"]
        self.assertEqual([p["ends"]["deadlock"] for p in found], [1, 1])
        for policy in found:
            self.assertEqual(policy["execution_us"], dict.fromkeys(("mean", "half", "change_percent", "change_half")))
        stopped = self.json(*TREE, "--trace", "lu:ranks=16,iterations=2", "--limit", "100", *spec[:2])
        self.assertIsNone(stopped["execution_us"])
        self.assertIsNone(stopped["trace"]["waiting_share"])


class Manual(Case):
    def commands(self, heading):
        """Of an example, a list of words each."""
        with open(os.path.join(SOURCE, "docs", "selvage.1")) as file:
            block = re.search(re.escape(heading) + r".*?^\.Bd.*?$(.*?)^\.Ed", file.read(), re.M | re.S)[1]
        return [line.split()[1:] for line in block.replace("\\e\n", " ").strip().split("\n")]

    def test_how_a_program_fares(self):
        """As it is typed, but that a program is at hand."""
        ok("trace", "make", "lu:class=S,ranks=16,iterations=2", "-o", self.path("mine.svt"))
        for command in self.commands("The thesis' torus with a failed switch")[:2] + self.commands("How does a program fare"):
            if command[:2] != ["trace", "record"]:
                ok(*command, cwd=self.directory)
        self.assertTrue(os.path.exists(self.path("waits.svg")))


class Refused(Case):
    def test_usage(self):
        for message, options in (
                ("--store and --store-out go with --policy", ("--store", "x")),
                ("one policy and one seed", ("--policy", "drb", "--seeds", "2", "--store-out", "x")),
                ("CSV files are of one run", ("--seeds", "2", "--routers", "x")),
                ("--seeds: 'x' is neither", ("--seeds", "x")),
                ("--seeds: '5..3' is neither", ("--seeds", "5..3")),
                ("--seeds: '0' is neither", ("--seeds", "0")),
                ("--seeds: there are no 2 seeds from %s on" % LARGEST, ("--seed", LARGEST, "--seeds", "2")),
                ("--seeds: '1..%d' is neither" % 2 ** 64, ("--seeds", "1..%d" % 2 ** 64)),
                ("go with --trace", ("--map", "random")),
                ("go with --trace", ("--repeat", "2")),
                ("--trace is given twice", ("--trace", "lu", "--trace", "mg")),
                ("--seeds is given twice", ("--seeds", "2", "--seeds=3")),
                ("--threads is given twice", ("--threads", "2", "--threads", "2")),
                ("cannot be read for each run again", ("--seeds", "2", "--policy", "pr-drb", "--store", "-")),
                ("cannot be read for each run again", ("--seeds", "2", "--trace", "lu", "--map", "file:-")),
                ("cannot be read for each run again", ("--policy", "drb", "--policy", "random", "--order", "-")),
                ("cannot be read for each run again", ("--seeds", "2", "--traffic", "file:-")),
                ("2 things want standard input", ("--trace", "-", "--map", "file:-")),
                ("--trace tells all messages", ("--trace", "x", "--load", "0.5")),
                ("neither linear nor random", ("--trace", "x", "--map", "round")),
                ("--eager: 'much'", ("--trace", "x", "--eager", "much")),
                ("--compute: '-1'", ("--trace", "x", "--compute", "-1"))):
            with self.subTest(options):
                self.expect(2, message, *MESH, *options)

    def test_specs(self):
        self.expect(2, "nonsense", *MESH, "--policy", "nonsense")
        self.expect(2, "nonsense", *MESH, "--policy", "drb:nonsense=1")
        # Links say how many VLs there are, unless the model is told.
        self.expect(4, "needs a VL for each of 3 segments and 6 adaptive ones, and switches have 8", *MESH, *SPOT,
                    "--policy", "drb:adaptive=6")
        self.expect(4, "switches have 4", "mesh:8x8,vls=4", *MESH[1:], *SPOT, "--policy", "drb:adaptive=2")
        self.json("mesh:8x8,vls=15", *MESH[1:], *SPOT, "--policy", "drb:adaptive=6", "--limit", "10")
        self.json(*MESH, *SPOT, "--policy", "drb:adaptive=6", "--limit", "10", "--set", "vls=9")
        self.json("torus:4x4,vls=2", "-e", "dfsssp", "--vls", "4", "--policy", "deterministic")
        self.expect(4, "switches have 2", *MESH, *SPOT, "--policy", "drb", "--set", "vls=2")
        self.expect(5, "none", *MESH, *SPOT, "--policy", "pr-drb", "--store", self.path("none"))


if __name__ == "__main__":
    unittest.main()
