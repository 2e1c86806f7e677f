"""selvage sim from outside: keys that stay, files against each other, how runs end and with which
exit code, and what is refused. What it computes to the tick: tests/oracle/test_sim.c.
"""
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage, terminal  # noqa: E402

FILES = ("terminals", "channels", "latencies", "timeline", "stuck")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-sim-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def route(self, spec="torus:3x3,hosts=2", engine="updn", *options, name="tables"):
        ok("route", spec, "-e", engine, "-o", self.path(name), "--no-check", *options)
        return self.path(name)

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

    def expect(self, code, message, *arguments, stdin=None):
        result = selvage("sim", *arguments, stdin=stdin)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.strip().split("\n")), 1, result.err)
        self.assertEqual(result.out, "")


class Numbers(Case):
    def test_keys_that_stay(self):
        found = self.json(self.route())
        for key in ("status", "partial", "throughput_gbyte_s", "simulated_us", "events",
                    "packet_hops", "wall_seconds", "packets", "messages", "terminals",
                    "payload_bytes", "state_bytes", "profile", "traffic", "deadlock"):
            self.assertIn(key, found)
        self.assertEqual(set(found["latency_us"]), {"avg", "p50", "p99", "max"})
        self.assertEqual((found["status"], found["partial"], found["deadlock"]),
                         ("completed", False, None))
        self.assertEqual(found["traffic"], "exchange")
        self.assertGreater(found["state_bytes"], 0)
        self.assertGreater(found["events"], found["packet_hops"])

    def test_exchange_is_counted(self):
        """18 terminals, each to all others; 5,000 bytes are three packets (equation 4.2)."""
        found = self.json(self.route(), "--message", "5000")
        self.assertEqual(found["messages"], 18 * 17)
        self.assertEqual(found["arrived_messages"], 18 * 17)
        self.assertEqual(found["packets"], 18 * 17 * 3)
        self.assertEqual(found["payload_bytes"], 18 * 17 * 5000)
        self.assertAlmostEqual(found["throughput_gbyte_s"],
                               found["payload_bytes"] / found["simulated_us"] / 1000, places=3)
        self.assertAlmostEqual(found["injection_share"],
                               found["throughput_gbyte_s"] / (18 * 4), places=4)
        latency = found["latency_us"]
        self.assertLess(latency["avg"], latency["max"])
        self.assertLessEqual(latency["p50"], latency["p99"])
        self.assertLessEqual(latency["p99"], latency["max"])
        self.assertGreaterEqual(found["since_ready_us"]["avg"], latency["avg"])

    def test_same_again(self):
        tables = self.route()
        options = (tables, "--traffic", "uniform", "--messages", "50")
        once, twice, other = (self.json(*options, "--seed", seed) for seed in "112")
        for found in (once, twice, other):
            del found["wall_seconds"]
        self.assertEqual(once, twice)
        self.assertNotEqual(once["simulated_us"], other["simulated_us"])

    def test_text_has_all_parts(self):
        out = ok("sim", self.route(), "--set", "cable-ns=50").out
        for text in ("\ntables ", "\ntraffic        exchange", "\nprofile        qdr, cable-ns=50\n",
                     "\nstatus         completed\n", "\nsimulated ", "\nthroughput ", "\nlatency ",
                     "\nbusiest ", "packet-hops/s", "bytes a terminal\n"):
            self.assertIn(text, out)

    def test_files_agree_with_the_rest(self):
        tables = self.route("torus:3x3,hosts=3")
        options = [word for name in FILES for word in ("--" + name, self.path(name))]
        found = self.json(tables, "--message", "3000", *options)
        terminals = self.rows("terminals")
        self.assertEqual(len(terminals), found["terminals"])
        self.assertEqual(sum(int(row["received_bytes"]) for row in terminals),
                         found["payload_bytes"])
        self.assertEqual(sum(int(row["sent_bytes"]) for row in terminals), found["payload_bytes"])
        self.assertEqual(sum(int(row["messages"]) for row in terminals), found["arrived_messages"])
        self.assertAlmostEqual(sum(float(row["received_gbyte_s"]) for row in terminals),
                               found["throughput_gbyte_s"], places=3)
        self.assertEqual(max(float(row["latency_max_us"]) for row in terminals),
                         found["latency_us"]["max"])
        mean = sum(float(row["latency_avg_us"]) * int(row["messages"]) for row in terminals)
        self.assertAlmostEqual(mean / found["arrived_messages"], found["latency_us"]["avg"],
                               places=4)
        self.check_channels(found)
        self.check_latencies(found)
        self.assertEqual(self.rows("stuck"), [])

    def check_channels(self, found):
        channels = self.rows("channels")
        self.assertEqual(len(channels), 2 * (18 + 27))
        inside = [row for row in channels if row["from"].startswith("sw")]
        leave = [row for row in channels if row["from"].startswith("host")]
        self.assertEqual(sum(int(row["packets"]) for row in leave), found["packets"])
        self.assertEqual(sum(int(row["bytes"]) for row in leave),
                         found["payload_bytes"] + 26 * found["packets"])
        between = [row for row in inside if row["to"].startswith("sw")]
        self.assertEqual(max(float(row["utilisation"]) for row in between),
                         found["busiest"]["utilisation"])
        row = channels[0]
        self.assertAlmostEqual(float(row["utilisation"]),
                               int(row["bytes"]) / 4000 / found["simulated_us"], places=4)
        timeline = self.rows("timeline")
        self.assertEqual({float(row["from_us"]) % 10 for row in timeline}, {0})
        for key in ("packets", "bytes"):
            self.assertEqual(sum(int(row[key]) for row in timeline),
                             sum(int(row[key]) for row in inside))
        self.assertAlmostEqual(sum(float(row["waited_us"]) for row in timeline),
                               sum(float(row["waited_us"]) for row in inside), places=3)

    def check_latencies(self, found):
        bins = [(float(row["from_us"]), float(row["below_us"]), int(row["messages"]))
                for row in self.rows("latencies")]
        self.assertEqual(sum(count for _, _, count in bins), found["arrived_messages"])
        for before, after in zip(bins, bins[1:]):
            self.assertLessEqual(before[1], after[0])
        self.assertTrue(bins[-1][0] <= found["latency_us"]["max"] < bins[-1][1])
        mean = sum(low * count for low, _, count in bins) / found["arrived_messages"]
        self.assertTrue(mean <= found["latency_us"]["avg"] <= mean * 33 / 32 + 1e-3)
        below = 0
        for _, high, count in bins:
            below += count
            if 2 * below >= found["arrived_messages"]:
                self.assertAlmostEqual(min(high, found["latency_us"]["max"]),
                                       found["latency_us"]["p50"], places=3)
                break

    def test_one_file_on_standard_output(self):
        tables = self.route()
        found = self.json(tables)
        out = ok("sim", tables, "--terminals", "-").out
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(sum(int(row["received_bytes"]) for row in rows), found["payload_bytes"])
        self.expect(2, "2 things want standard output", tables, "--terminals", "-", "--json")
        self.expect(2, "2 things want standard output", tables, "--terminals", "-", "--stuck", "-")

    def test_names_with_commas(self):
        text = ok("topo", "mesh:1x2,hosts=1").out.replace('"host1"', '"host1, left"')
        ok("sim", self.write("net", text), "-e", "updn", "--terminals", self.path("csv"))
        self.assertEqual({row["terminal"] for row in self.rows("csv")}, {"host0", "host1, left"})


class Tables(Case):
    def test_where_they_come_from(self):
        """A directory, a file and an engine, all the same."""
        folder = self.route("torus:4x4,hosts=2", "nue", "--vls", "2")
        ok("route", "torus:4x4,hosts=2", "-e", "nue", "--vls", "2", "-o", self.path("t.svr"))
        results = [self.json(folder), self.json(self.path("t.svr")),
                   self.json("torus:4x4,hosts=2", "-e", "nue", "--vls", "2"),
                   self.json(folder, "-e", "nue", "--vls", "2")]
        self.assertEqual(len({found["simulated_us"] for found in results}), 1)
        self.assertEqual([found["engine"] for found in results], [None, None, "nue", "nue"])
        self.assertEqual({found["profile"]["vls"] for found in results}, {2})

    def test_engines(self):
        found = self.json("kary:k=3,n=2,hosts=3", "--engine", "auto")
        self.assertIn(found["engine"], ("dmodk", "ftree", "weave"))
        self.json("torus:4x4", "-e", "nue", "--option", "partition=random")
        self.expect(2, "no engine", "torus:4x4", "-e", "nothing")
        self.expect(4, "VL", "torus:5", "-e", "dfsssp", "--vls", "1")
        net = ok("topo", "mesh:2x2").out.encode()
        self.assertEqual(selvage("sim", "-", "-e", "updn", stdin=net).code, 0)

    def test_a_fabric_without_tables(self):
        net = self.write("net", ok("topo", "mesh:2x2").out)
        for fabric in ("mesh:2x2", net, "-", "deimos"):
            self.expect(2, "'%s' is a fabric without tables: --engine ENGINE computes them" % fabric,
                        fabric)
        self.expect(5, "cannot open", self.path("nothing"))
        self.expect(5, "cannot open", self.path("nothing"), "-e", "updn")

    def test_service_levels_that_nobody_told(self):
        tables = self.route()
        found = self.json(tables)
        os.unlink(os.path.join(tables, "opensm.psl"))
        self.expect(6, "--assume-sl 0", tables)
        assumed = self.json(tables, "--assume-sl", "0")
        self.assertEqual(assumed["simulated_us"], found["simulated_us"])
        self.expect(2, "0…15", tables, "--assume-sl", "16")
        self.expect(2, "not for --engine", tables, "--assume-sl", "0", "-e", "updn")

    def test_too_few_vls(self):
        tables = self.route("torus:4x4,hosts=2", "nue", "--vls", "3")
        self.expect(4, "tables use 3 VLs, the model has 2", tables, "--set", "vls=2")
        self.assertEqual(self.json(tables, "--set", "vls=5")["profile"]["vls"], 5)


class Ends(Case):
    def test_deadlock(self):
        """Shortest ways round a ring of five; the cycle is one of packets that are really there."""
        tables = self.route("torus:5,hosts=4", "minhop")
        found = self.json(tables, "--traffic", "uniform", "--stuck", self.path("stuck"), code=1)
        self.assertEqual(found["status"], "deadlock")
        deadlock = found["deadlock"]
        self.assertLessEqual(deadlock["since_us"], found["simulated_us"])
        stuck = self.rows("stuck")
        self.assertEqual(len(stuck), deadlock["packets"])
        self.assertEqual(max(float(row["since_us"]) for row in stuck), deadlock["since_us"])
        cycle = deadlock["cycle"]
        self.assertEqual(len(cycle), 5)
        channels = self.path("channels")
        selvage("sim", tables, "--traffic", "uniform", "--channels", channels)
        leads = {(row["from"], row["from_port"]): row for row in self.rows("channels")}
        for step, after in zip(cycle, cycle[1:] + cycle[:1]):
            over = leads[step["switch"], str(step["port"])]
            self.assertEqual(over["to"], after["switch"])
            self.assertTrue(any(
                row["switch"] == over["to"] and row["in_port"] == over["to_port"] and
                row["vl"] == str(step["vl"]) and row["out_port"] == str(after["port"]) and
                row["out_vl"] == str(after["vl"]) and row["source"] == step["source"] and
                row["destination"] == step["destination"] and row["behind"] == "no"
                for row in stuck), step)
        self.assertEqual(selvage("check", tables).code, 1)

    def test_deadlock_as_text(self):
        tables = self.route("torus:5,hosts=4", "minhop")
        result = selvage("sim", tables, "--traffic", "uniform")
        self.assertEqual(result.code, 1)
        self.assertRegex(result.out, r"\nstatus         deadlock since [0-9.]+ us: \d+ packets can "
                                     r"never move\n")
        self.assertIn("5 channels wait for each other (selvage check %s names such a cycle, too):"
                      % tables, result.out)
        self.assertIn(", where it began\n", result.out)

    def test_no_deadlock_where_there_is_none(self):
        for engine in ("updn", "nue", "dfsssp"):
            found = self.json("torus:5,hosts=4", "-e", engine, "--traffic", "uniform",
                              "--messages", "200")
            self.assertEqual((found["status"], found["messages"]), ("completed", 4000), engine)

    def test_window_of_endless_traffic(self):
        result = ok("sim", self.route(), "--traffic", "uniform")
        self.assertIn("counted from 1000.000 to 6000.000 us", result.out)
        found = self.json(self.path("tables"), "--traffic", "uniform", "--sample", "200")
        self.assertEqual((found["status"], found["counted_from_us"], found["counted_until_us"],
                          found["simulated_us"]), ("steady", 1000, 1200, 1200))
        found = self.json(self.path("tables"), "--traffic", "uniform", "--warm-up", "0.1ms",
                          "--sample", "100000ns", "--terminals", self.path("terminals"))
        self.assertEqual((found["counted_from_us"], found["counted_until_us"]), (100, 200))
        received = sum(int(row["received_bytes"]) for row in self.rows("terminals"))
        self.assertEqual(received, found["payload_bytes"])
        self.assertAlmostEqual(found["throughput_gbyte_s"], received / 100000, places=3)
        self.assertGreater(found["messages"], found["counted_messages"])

    def test_limits(self):
        tables = self.route()
        found = self.json(tables, "--traffic", "uniform", "--limit", "50")
        self.assertEqual((found["status"], found["simulated_us"], found["counted_from_us"]),
                         ("limit", 50, 0))
        found = self.json(tables, "--limit", "5")
        self.assertEqual(found["status"], "limit")
        self.assertLess(found["arrived_messages"], 18 * 17)
        self.assertIn("limit of simulated time reached", ok("sim", tables, "--limit", "5").out)
        self.assertIn("limit of wall time reached",
                      ok("sim", tables, "--traffic", "uniform", "--wall", "1").out)
        begun = time.monotonic()
        found = self.json(tables, "--traffic", "uniform", "--wall", "1")
        self.assertEqual(found["status"], "limit")
        self.assertTrue(0.9 < found["wall_seconds"] < time.monotonic() - begun < 20)

    def test_steady(self):
        tables = self.route("mesh:1x2,hosts=2")
        found = self.json(tables, "--traffic", "uniform", "--steady", "--precision", "0.05")
        self.assertEqual(found["status"], "steady")
        self.assertGreaterEqual(found["steady_share"], 0.99)
        finer = self.json(tables, "--traffic", "uniform", "--steady", "--precision", "0.01")
        self.assertGreater(finer["simulated_us"], found["simulated_us"])
        self.assertNotIn("steady_share", self.json(tables))
        never = self.json(tables, "--traffic", "uniform", "--steady", "--precision", "0.0000001",
                          "--limit", "3ms")
        self.assertEqual((never["status"], never["simulated_us"]), ("limit", 3000))

    def test_it_can_be_stopped(self):
        """What there is so far is told, and files are whole."""
        tables = self.route("torus:4x4,hosts=2", "nue")
        options = [word for name in FILES for word in ("--" + name, self.path(name))]
        process = subprocess.Popen([SELVAGE, "sim", tables, "--traffic", "uniform", "--limit",
                                    "1000s", "--interval", "1s", "--json", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(err, b"")
        found = json.loads(out)
        self.assertEqual((found["status"], found["partial"]), ("cancelled", True))
        self.assertGreater(found["throughput_gbyte_s"], 0)
        self.assertEqual(sum(int(row["received_bytes"]) for row in self.rows("terminals")),
                         found["payload_bytes"])
        self.assertEqual(len(self.rows("channels")), 2 * (32 + 32))


class Found(Case):
    """What a review found, once."""

    def test_flows_of_one_hash_are_two(self):
        """These two flows once were one for the audit, which called the simulator wrong."""
        listed = self.write("messages", "0 @473 @1 100\n0 @473 @2 100\n0 @473 @797 100\n"
                            "10000 @2196 @507 100\n")
        found = self.json("mesh:10x20,hosts=15", "-e", "updn", "--file", listed)
        self.assertEqual((found["status"], found["arrived_messages"]), ("completed", 4))

    def test_a_deadlock_is_the_same_with_threads(self):
        """One that comes late, while small jobs go on: when it is looked for shows."""
        job = ["A" if host % 16 < 8 else "L%d" % (host // 16) for host in range(256)]
        jobs = self.write("jobs", "".join("host%d %s\n" % pair for pair in enumerate(job)))
        results = []
        for threads in ("1", "2", "5"):
            found = self.json("torus:16,hosts=16", "-e", "sssp", "--vls", "1", "--jobs", jobs,
                              "--job-traffic", "A=shift:by=24,load=0.027", "--traffic",
                              "uniform:load=0.9", "--set", "link-gbit=2", "--set", "inject-gbit=2",
                              "--set", "drain-gbit=2", "--set", "pause-ns=0", "--limit", "20000",
                              "--threads", threads, code=1)
            del found["wall_seconds"], found["state_bytes"]
            results.append(found)
        self.assertEqual(results[0]["status"], "deadlock")
        self.assertEqual(results[1], results[0])
        self.assertEqual(results[2], results[0])

    def test_sums_of_days(self):
        """150,000 messages of 0.01 Gbit/s, ready from the beginning on, in 200 s: they wait 100 s."""
        found = self.json("mesh:1x1,hosts=2", "-e", "updn", "--traffic", "shift", "--set",
                          "link-gbit=0.01", "--set", "inject-gbit=0.01", "--set",
                          "drain-gbit=0.01", "--set", "pause-ns=0", "--limit", "200s")
        self.assertAlmostEqual(found["since_ready_us"]["avg"], 100e6, delta=1e6)

    def test_clocks_are_looked_at_whatever_packets_are_like(self):
        begun = time.time()
        found = self.json("mesh:8x8,hosts=16", "-e", "updn", "--traffic", "shift", "--profile", "ndr",
                          "--set", "mtu-bytes=8", "--set", "header-bytes=1", "--wall", "1")
        self.assertEqual(found["status"], "limit")
        self.assertLess(time.time() - begun, 60)

    def test_bytes_that_others_tell(self):
        self.assertNotIn("message_bytes", self.json("mesh:1x2,hosts=2", "-e", "updn", "--traffic",
                                                    "uniform:bytes=64", "--messages", "3"))
        listed = self.write("messages", "0 @0 @1 5\n")
        self.expect(2, "tells all messages", "mesh:1x2,hosts=2", "-e", "updn", "--traffic",
                    "file:" + listed, "--message", "77")


class Models(Case):
    def test_profiles_are_listed(self):
        out = ok("sim", "--profile", "help").out
        found = ok("sim", "--profile", "help", "--json").json
        names = [parameter["name"] for parameter in found["parameters"]]
        self.assertIn("cable-ns", names)
        self.assertEqual([profile["name"] for profile in found["profiles"]],
                         ["qdr", "dla", "drb", "ndr"])
        for profile in found["profiles"]:
            self.assertEqual([value["name"] for value in profile["values"]], names)
            self.assertTrue(any(value["published"] for value in profile["values"]))
            used = self.json("mesh:2x2", "-e", "updn", "--profile", profile["name"])["profile"]
            for value in profile["values"]:
                self.assertIn("%s=%s " % (value["name"], value["value"]), out)
                got = used[value["name"].replace("-", "_")]
                got = {True: "on", False: "off", None: "links"}.get(got, got) \
                    if isinstance(got, (bool, type(None))) else got
                if value["name"] != "vls":
                    self.assertEqual(str(got), value["value"])

    def test_numbers_are_set(self):
        tables = self.route("mesh:1x2,hosts=4")
        plain = self.json(tables, "--message", "64KiB")
        slow = self.json(tables, "--message", "64KiB", "--set", "link-gbit=8")
        self.assertEqual(slow["profile"]["link_gbit"], 8)
        self.assertGreater(slow["simulated_us"], 3 * plain["simulated_us"])
        ndr = self.json(tables, "--message", "64KiB", "--profile", "ndr")
        self.assertLess(ndr["simulated_us"], plain["simulated_us"] / 8)
        long = self.json(tables, "--message", "64KiB", "--set", "cable-ns=5000", "--set", "credit-ns=5000.25")
        self.assertEqual(long["profile"]["credit_ns"], 5000.25)
        self.assertGreater(long["latency_us"]["avg"], plain["latency_us"]["avg"] + 10)

    def test_what_is_no_model(self):
        tables = self.route()
        for message, *options in (
                ("--profile: there is no profile 'fdr'", "--profile", "fdr"),
                ("--set: the model has no 'cable'", "--set", "cable=3"),
                ("--set: 'cable-ns' is not NAME=VALUE", "--set", "cable-ns"),
                ("--set: cable-ns is 0 to 1000000, not '-3'", "--set", "cable-ns=-3"),
                ("--set: voq is off|on, not 'maybe'", "--set", "voq=maybe")):
            self.expect(2, message, tables, *options)
        self.expect(4, "does not fit", tables, "--set", "input-blocks=10")
        self.expect(3, "pauses are as long", tables, "--set", "pause-ns=100")

    def test_adapters_slower_than_links(self):
        result = ok("sim", "mesh:2x2,speed=EDR", "-e", "updn")
        self.assertEqual(result.err, "selvage: warning: adapters of profile qdr are slower than "
                                     "their links: see --profile help\n")
        for options in (("--set", "inject-gbit=20"), ("--profile", "dla"), ("--profile", "ndr")):
            self.assertEqual(ok("sim", "mesh:2x2,speed=EDR", "-e", "updn", *options).err, "")


class Traffic(Case):
    def test_patterns_are_listed(self):
        out = ok("sim", "--traffic", "help").out
        found = ok("sim", "--traffic", "help", "--json").json
        patterns = {pattern["name"]: pattern for pattern in found["patterns"]}
        self.assertFalse(patterns["exchange"]["endless"])
        self.assertTrue(patterns["uniform"]["endless"])
        for name, pattern in patterns.items():
            self.assertRegex(out, r"\n  %s +%s" % (name, re.escape(pattern["summary"])))
        self.assertIn("load", {key["name"] for key in found["keys"]})

    def test_order_of_ranks(self):
        """Only those in it take part."""
        tables = self.route()
        guids = ok("convert", tables, "--format", "cn-guids").out.split("\n")[:4]
        order = self.write("order", "\n".join(guids) + "\n")
        found = self.json(tables, "--order", order)
        self.assertEqual(found["messages"], 4 * 3)
        guids[1:1] = ["0x77"]
        result = ok("sim", tables, "--order", self.write("order", "\n".join(guids)))
        self.assertIn("warning: %s:2: 0x0000000000000077 is no host of the fabric" % order, result.err)
        self.expect(3, "order:1: no GUIDs in it", tables, "--order", self.write("order", ""))

    def test_jobs(self):
        tables = self.route()
        jobs = self.write("jobs", "".join("host%d %s\n" % (i, "aaaabbb"[i]) for i in range(7)))
        found = self.json(tables, "--jobs", jobs)
        self.assertEqual(found["messages"], 4 * 3 + 3 * 2)
        self.assertEqual((found["terminals"], found["terminals_counted"]), (18, 7))
        self.assertAlmostEqual(found["injection_share"], found["throughput_gbyte_s"] / 28, places=4)
        found = self.json(tables, "--jobs", jobs, "--job-traffic", "b=uniform:messages=10")
        self.assertEqual(found["messages"], 4 * 3 + 3 * 10)
        self.assertIn(", in each job of %s, b=uniform:messages=10, seed 1\n" % jobs,
                      ok("sim", tables, "--jobs", jobs, "--job-traffic",
                         "b=uniform:messages=10").out)
        self.expect(3, "'c'", tables, "--jobs", jobs, "--job-traffic", "c=exchange")

    def test_messages_in_a_file(self):
        tables = self.route()
        messages = self.write("messages", "# two\n1000 host0 host5 1000\n0 host3 host0 5000 7\n")
        found = self.json(tables, "--file", messages, "--terminals", self.path("terminals"))
        self.assertEqual((found["messages"], found["packets"], found["payload_bytes"]),
                         (2, 4, 6000))
        self.assertEqual({row["terminal"]: row["received_bytes"]
                          for row in self.rows("terminals") if row["messages"] != "0"},
                         {"host5": "1000", "host0": "5000"})
        with open(messages, "rb") as file:
            found = selvage("sim", tables, "--file", "-", "--json", stdin=file.read())
        self.assertEqual(found.json["payload_bytes"], 6000)
        self.expect(3, "%s:2: " % self.write("messages", "0 host0 host1 7\n0 host0 nobody 7\n"),
                    tables, "--file", messages)
        self.expect(5, "cannot open", tables, "--file", self.path("nothing"))

    def test_load(self):
        """Little is delivered as it comes."""
        tables = self.route()
        found = self.json(tables, "--traffic", "uniform", "--load", "0.1")
        self.assertAlmostEqual(found["injection_share"] * 2074 / 2048, 0.1, delta=0.005)
        self.assertEqual(found["load"], 0.1)

    def test_a_job_may_have_a_load_of_its_own(self):
        """--load is for those that do not tell."""
        tables = self.route()
        jobs = self.write("jobs", "host0 a\nhost1 a\nhost2 b\nhost3 b\n")
        self.json(tables, "--jobs", jobs, "--traffic", "uniform:rate=1Gbps", "--job-traffic", "a=uniform", "--load", "0.1",
                  "--sample", "100")

    def test_specs_that_are_none(self):
        tables = self.route()
        self.expect(2, "load and rate exclude each other", tables, "--traffic", "uniform:load=0.5,rate=1Gbps")
        self.expect(2, "'nothing'", tables, "--traffic", "nothing")
        self.expect(2, "'by'", tables, "--traffic", "exchange:by=3")


class Refused(Case):
    def test_bad_options(self):
        tables = self.route()
        for message, *options in (
                ("--message: '2KB' is no number of bytes", "--message", "2KB"),
                ("--message: '0' is no number", "--message", "0"),
                ("--message: '4GiB' is no number", "--message", "4GiB"),
                ("--load: '0' is not more than 0", "--load", "0"),
                ("--load: '1.01' is not", "--load", "1.01"),
                ("--load: 'much' is not", "--load", "much"),
                ("--messages: 0 is not in", "--messages", "0"),
                ("--wall: 0 is not in", "--wall", "0"),
                ("'x' is not a number", "--seed", "x"),
                ("--sample: '0' is no time above 0", "--sample", "0"),
                ("--limit: '5m' is no time above 0", "--limit", "5m"),
                ("--warm-up: '-1' is no time (", "--warm-up=-1"),
                ("exclude each other", "--steady", "--sample", "5"),
                ("--precision goes with --steady", "--precision", "0.1"),
                ("--precision: '2' is not", "--steady", "--precision", "2"),
                ("--interval goes with --steady, --timeline or --latency-map", "--interval", "5"),
                ("'waits.png' does not end in .svg", "--latency-map", "waits.png"),
                ("--interval: '0ns' is no time above 0", "--steady", "--interval", "0ns"),
                ("--vls and --option go with --engine", "--vls", "3"),
                ("--vls and --option go with --engine", "--option", "a=b"),
                ("--vls: 65 is not in 1…64", "--vls", "65", "-e", "nue"),
                ("--job-traffic goes with --jobs", "--job-traffic", "7=exchange"),
                ("--file tells all messages", "--file", "x", "--traffic", "uniform"),
                ("--load and rate= of --traffic", "--traffic", "uniform:rate=1Gbps", "--load", "0.5"),
                ("--load and load= of --traffic", "--traffic", "uniform:arrivals=regular,load=0.1", "--load", "0.5"),
                ("--message and bytes= of --traffic", "--traffic", "uniform:bytes=64", "--message", "128"),
                ("--messages and messages= of --traffic", "--messages", "3", "--traffic", "uniform:messages=2"),
                ("2 things want standard input", "--order", "-", "--jobs", "-"),
                ("one argument too many", tables)):
            self.expect(2, message, tables, *options)
        self.expect(2, "1 argument is missing")

    def test_files_that_cannot_be_written(self):
        tables = self.route()
        self.expect(5, "cannot", tables, "--channels", self.path("no/where"))
        old = self.write("old", "kept\n")
        self.expect(5, "cannot", tables, "--terminals", self.path("no/where"), "--channels", old)
        with open(old) as file:
            self.assertEqual(file.read(), "kept\n")
        self.assertEqual(sorted(os.listdir(self.directory)), ["old", "tables"])
        # Before it runs, which would take long; and before any file is written.
        endless = (tables, "--traffic", "uniform", "--wall", "1000", "--terminals", old)
        for option in ("channels", "latencies", "timeline", "routers", "stuck", "latency-map"):
            for path in ("no/where.svg", "old/where.svg", "x" * 300 + ".svg"):
                self.expect(5, "cannot create '%s'" % self.path(path), *endless, "--" + option, self.path(path))
        self.expect(5, "cannot create ''", *endless, "--channels", "")
        self.expect(5, "cannot create '%s'" % self.path("where/"), *endless, "--channels", self.path("where/"))
        self.expect(5, "cannot write '%s': it is a directory" % self.directory, *endless, "--channels", self.directory)
        with open(old) as file:
            self.assertEqual(file.read(), "kept\n")
        self.assertEqual(sorted(os.listdir(self.directory)), ["old", "tables"])

    def test_files_are_different(self):
        tables = self.route()
        for one, other in (("out", "out"), ("out", "./out"), ("out", "tables/../out")):
            self.expect(2, "--terminals and --routers are the same file", tables, "--routers", self.path(one), "--terminals",
                        self.path(other))
        self.assertFalse(os.path.exists(self.path("out")))
        ok("route", "torus:3x3", "--engine", "updn", "-o", self.path("tables.svr"))
        self.expect(2, "is what is simulated", self.path("tables.svr"), "--terminals", self.path("tables.svr"))
        self.assertEqual(selvage("sim", tables, "--routers", "-", "--terminals", "/dev/null").code, 0)

    def test_results_begin_on_an_empty_line(self):
        """On a terminal progress is wiped away before."""
        main, other = terminal(self)
        process = subprocess.Popen([SELVAGE, "sim", "torus:4x4,hosts=2", "-e", "nue", "--traffic",
                                    "uniform"], stdout=other, stderr=other)
        os.close(other)
        shown = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(main)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"simulating nanoseconds: ", shown)
        self.assertIn(b"\r\x1b[Kfabric ", shown)


if __name__ == "__main__":
    unittest.main()
