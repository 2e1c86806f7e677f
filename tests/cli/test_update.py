"""selvage update from outside: plans as text, JSON and files; rehearsals; how they end and with which
exit code; what is refused. And selvage route --two-sets, which makes tables for five phases.
What is planned and counted: tests/unit/test_update*.c, test_rehearse.c, tests/oracle/test_rehearse.c.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage  # noqa: E402

WAYS = ("at-once", "steps", "hold", "five")
QUICK = ("--begin", "20", "--delay", "0.5-3", "--retry", "10", "--rest", "5", "--settle", "1")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-update-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def route(self, name, spec="torus:4x4,hosts=1", engine="updn", *options):
        ok("route", spec, "-e", engine, "-o", self.path(name), "--no-check", *options)
        return self.path(name)

    def update(self, *arguments, code=0):
        result = selvage("update", *arguments, "--json")
        self.assertEqual(result.code, code, result.err)
        return result.json

    def expect(self, code, message, *arguments, verb="update"):
        result = selvage(verb, *arguments)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(message, result.err)
        self.assertEqual(len(result.err.strip().split("\n")), 1, result.err)
        self.assertEqual(result.out, "")

    def risky(self):
        """Two tables between which a careless change deadlocks."""
        return (self.route("old", "torus:4x4,hosts=2", "weave", "--vls", "2"),
                self.route("new", "torus:4x4,hosts=2", "nue", "--vls", "2"))


class Plans(Case):
    def test_options_of_rehearsals_without_one(self):
        for words in (["--loss", "5"], ["--traffic", "exchange"], ["--runs", "3"], ["--load", "0.5"]):
            found = selvage("update", "old", "new", *words)
            self.assertEqual(found.code, 2, found.err)
            self.assertIn("%s is for --rehearse" % words[0], found.err)

    def test_nothing_changes(self):
        old = self.route("old")
        found = self.update(old, old)
        self.assertEqual((found["way"], found["steps"], found["entries"]), ("nothing", 0, 0))
        self.assertTrue(found["safe"])
        self.assertIn("nothing changes", ok("update", old, old).out)

    def test_keys_that_stay(self):
        old, new = self.risky()
        found = self.update(old, new, code=1)
        for key in ("way", "safe", "why", "steps", "settle", "vls", "entries", "blocks",
                    "datagrams", "sls", "silent_pairs", "must_be_silent", "plan_seconds",
                    "prove_seconds", "output"):
            self.assertIn(key, found)
        self.assertIn(found["way"], ("repath", "never"))
        self.assertFalse(found["safe"])
        self.assertGreater(found["must_be_silent"], 0)

    def test_lids_that_are_gone_are_told(self):
        old = self.route("old", "mesh:3x4,total=12")
        new = self.route("new", "mesh:3x4,total=11")
        self.assertEqual(selvage("update", old, new, "--json").json["gone_lids"], 1)
        self.assertIn("1 LID of the old tables: packets to them", selvage("update", old, new).out)
        self.assertEqual(selvage("update", new, old, "--json").json["gone_lids"], 0)
        self.assertNotIn("gone", selvage("update", new, old).out)

    def test_vls_that_are_not_known_decide_nothing(self):
        old, new = self.risky()
        os.unlink(os.path.join(new, "opensm-sl2vl.dump"))
        self.expect(6, "may deadlock by themselves: that cannot be told", old, new)

    def test_multicast_trees_are_heeded(self):
        """Plans that forget them do not hold, and were refused with exit code 4."""
        for was, now in (("weave", "dfsssp"), ("dfsssp", "weave")):
            old, new = (self.route(engine, "torus:4x4,hosts=2", engine, "--vls", "2", "--multicast")
                        for engine in (was, now))
            found = selvage("update", old, new, "--json")
            self.assertIn(found.code, (0, 1), found.err)

    def test_a_safe_order_is_a_yes(self):
        mesh = "mesh:3x4,hosts=1"
        old = self.route("old", mesh, "updn", "--seed", "1")
        new = self.route("new", mesh, "dnup")
        result = selvage("update", old, new)
        found = selvage("update", old, new, "--json").json
        self.assertEqual(result.code, 0 if found["safe"] else 1, result.err)

    def test_the_plan_in_a_file(self):
        """Its writes, one after the other, make new tables of old ones."""
        old, new = self.risky()
        found = self.update(old, new, "-o", self.path("plan.json"), code=1)
        with open(self.path("plan.json")) as file:
            plan = json.load(file)
        self.assertEqual(list(plan), ["way", "steps", "settle", "vls", "list", "destinations",
                                      "silent"])
        self.assertEqual(plan["way"], found["way"])
        self.assertEqual(len(plan["list"]), found["datagrams"])
        self.assertEqual(sum(len(write["entries"]) for write in plan["list"]), found["entries"])
        steps = [write["step"] for write in plan["list"]]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual(max(steps), found["steps"] - 1)
        tables, wanted = lfts(old), lfts(new)
        self.assertNotEqual(tables, wanted)
        for write in plan["list"]:
            for entry in write["entries"]:
                self.assertEqual(entry["lid"] // 64, write["block"])
                tables[write["switch"]][entry["lid"]] = entry["port"]
        self.assertEqual(tables, wanted)
        self.assertEqual(len(plan["silent"]), found["silent_pairs"])
        self.assertEqual(sum(pair["must"] for pair in plan["silent"]), found["must_be_silent"])
        for pair in plan["silent"]:
            self.assertLessEqual(pair["from_step"], pair["to_step"])
            self.assertLess(pair["to_step"], plan["steps"])

    def sls(self, directory):
        """{(switch, LID): SL} of opensm.psl, where SLs are by switch."""
        found = {}
        with open(os.path.join(directory, "opensm.psl")) as file:
            for who, lid, sl in (line.split() for line in file if line[0] != "#"):
                found.setdefault(int(lid), {})[who] = int(sl)
        return {("@" + who, lid): by.get("@" + who, by.get("*")) for lid, by in found.items()
                for who in lfts(directory)}

    def test_from_which_step_on_new_sls_are_given(self):
        """A field for each destination: its first step, recounted from entries and SLs."""
        for engines in (("weave", "nue"), ("nue", "weave"), ("weave", "updn")):
            old, new = (self.route(engine, "torus:4x4,hosts=1", engine, "--vls", "2")
                        for engine in engines)
            result = selvage("update", old, new, "-o", self.path("plan.json"))
            found = selvage("update", old, new, "--json").json
            with open(self.path("plan.json")) as file:
                plan = json.load(file)
            was, now = self.sls(old), self.sls(new)
            counts, first = {}, {}
            by_lid = {d["lid"]: d for d in plan["destinations"]}
            for key in was.keys() | now.keys():
                if was.get(key) != now.get(key) and key[0][1:] != by_lid[key[1]]["guid"]:
                    counts[key[1]] = counts.get(key[1], 0) + 1
            for write in plan["list"]:
                for entry in write["entries"]:
                    first[entry["lid"]] = min(first.get(entry["lid"], 999), write["step"])
            self.assertEqual(len(by_lid), len(plan["destinations"]))
            self.assertEqual(by_lid.keys(), counts.keys() | first.keys())
            for lid, d in by_lid.items():
                self.assertEqual(d["new_sls"], counts.get(lid, 0))
                self.assertLess(d["new_sls_from_step"], plan["steps"])
                if lid in first:
                    self.assertLessEqual(d["new_sls_from_step"], first[lid])
            self.assertGreater(sum(counts.values()), 0)
            self.assertEqual(found["condition"], "path records must give new SLs only from the "
                             "first step of their destination on")
            self.assertIn("condition    " + found["condition"], result.out)
        same = self.route("same", "torus:4x4,hosts=1", "updn")
        other = self.route("other", "torus:4x4,hosts=1", "updn", "--seed", "2")
        self.assertIsNone(selvage("update", same, other, "--json").json["condition"])

    def test_after_a_failure(self):
        spec = "torus:4x4,hosts=1"
        old = self.route("old", spec, "weave", "--vls", "2")
        ok("faults", spec, "--links", "2", "--seed", "3", "-o", self.path("less.net"))
        new = self.route("new", self.path("less.net"), "weave", "--vls", "2", "--repair", old)
        found = self.update(old, new, code=selvage("update", old, new).code)
        self.assertGreater(found["entries"], 0)
        back = self.update(new, old, code=selvage("update", new, old).code)
        self.assertEqual(back["blocks"], found["blocks"])


def lfts(directory):
    """Forwarding tables by switch and LID, from a dump."""
    tables, table = {}, None
    with open(os.path.join(directory, "opensm-lfts.dump")) as file:
        for line in file:
            words = line.split()
            if line.startswith("Unicast lids"):
                guid = line.split("guid ")[1].split()[0]
                table = tables.setdefault("0x%016x" % int(guid, 16), {})
            elif words and words[0].startswith("0x"):
                table[int(words[0], 16)] = int(words[1])
    return tables


class Rehearsals(Case):
    def ways(self, *arguments, code=1):
        found = self.update(*arguments, *QUICK, code=code)
        return {way["way"]: way for way in found["rehearsals"]}

    def test_side_by_side(self):
        old, new = self.risky()
        ways = self.ways(old, new, "--rehearse", "--runs", "6", "--loss", "20", "--window", "0")
        self.assertEqual(tuple(ways), WAYS)
        self.assertGreater(ways["at-once"]["inconsistent"], 0)
        self.assertGreater(ways["at-once"]["overtaken"], 0)
        self.assertIsNotNone(ways["at-once"]["overtaken_example"])
        for way in ("steps", "hold", "five"):
            self.assertEqual(ways[way]["deadlocks"], 0)
            self.assertEqual(ways[way]["dropped_with_path"], 0)
            self.assertEqual(ways[way]["looped_with_path"], 0)
            self.assertEqual(ways[way]["done"], 6)
        for way in ("hold", "five"):
            self.assertEqual((ways[way]["inconsistent"], ways[way]["overtaken"]), (0, 0))
        self.assertEqual(ways["five"]["vls"], ways["hold"]["vls"] + 1)
        for way in ways.values():
            self.assertTrue(way["both_deadlock_free"])
            self.assertEqual([phase["phase"] for phase in way["phases"]],
                             ["before", "leave", "program", "return", "after", "during"])

    def test_a_deadlock_is_told_with_its_cycle(self):
        old, new = self.risky()
        arguments = (old, new, "--rehearse=at-once", "--runs", "40", "--begin", "60", "--delay",
                     "5-50", "--window", "4")
        found = self.update(*arguments, code=1)["rehearsals"][0]
        self.assertGreater(found["deadlocks"], 0)
        self.assertGreater(found["stuck"], 1)
        text = selvage("update", *arguments)
        self.assertIn("deadlock       at-once, seed %d" % found["deadlock_seed"], text.out)
        self.assertIn("where it began", text.out)

    def test_the_same_seed_is_the_same_run(self):
        old, new = self.risky()
        line = (old, new, "--rehearse", "--loss", "50")

        def timeless(found):
            return [{key: value for key, value in way.items()} for way in found["rehearsals"]]
        first = timeless(self.update(*line, *QUICK, code=1))
        self.assertEqual(first, timeless(self.update(*line, *QUICK, code=1)))
        self.assertNotEqual(first, timeless(self.update(*line, *QUICK, "--seed", "2", code=1)))

    def test_no_vl_is_left(self):
        old, new = self.risky()
        ways = self.ways(old, new, "--rehearse", "--vls", "2")
        self.assertEqual(ways["five"]["runs"], 0)
        self.assertIn("use 2 of 2", ways["five"]["why_not"])
        self.assertIn("no five phases", selvage("update", old, new, "--rehearse", "--vls", "2",
                                                *QUICK).out)
        self.expect(4, "five phases need a VL for themselves", old, new, "--rehearse=five",
                    "--vls", "2")

    def test_tables_with_two_sets(self):
        spec = "torus:4x4,hosts=2"
        old = self.route("old", spec, "weave", "--vls", "3", "--two-sets")
        new = self.route("new", spec, "nue", "--vls", "3", "--two-sets")
        ways = self.ways(old, new, "--rehearse=five")
        self.assertEqual(ways["five"]["vls"], 3)
        self.assertEqual((ways["five"]["done"], ways["five"]["inconsistent"]), (1, 0))
        other = self.route("other", spec, "nue", "--vls", "3", "--lmc", "1")
        self.expect(3, "has other routes in the new tables", old, other, "--rehearse=five")

    def test_jobs_are_applications(self):
        old, new = self.risky()
        with open(self.path("jobs"), "w") as file:
            for host in range(24):
                file.write("host%d job%d\n" % (host, host % 3))
        ways = self.ways(old, new, "--rehearse", "--jobs", self.path("jobs"), "--load", "0.5")
        self.assertEqual(ways["five"]["done"], 1)
        self.assertEqual(ways["five"]["inconsistent"], 0)

    def test_ctrl_c(self):
        old, new = self.risky()
        process = subprocess.Popen([SELVAGE, "update", old, new, "--rehearse=steps", "--runs",
                                    "100000", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertTrue(json.loads(out)["partial"])


class Refusals(Case):
    def test_lines_that_make_no_sense(self):
        for message, *arguments in (
                ("1 argument is missing", "a"),
                ("'c' is one argument too many", "a", "b", "c"),
                ("is not at-once, steps, hold, five or all", "a", "b", "--rehearse=x"),
                ("exclude each other", "a", "b", "--strict", "--terminals-only"),
                ("--load and rate= of --traffic", "a", "b", "--traffic", "uniform:rate=1Gbps", "--load", "0.5"),
                ("--delay: '9-2' ends before it begins", "a", "b", "--delay", "9-2"),
                ("--delay: 'x' is no time", "a", "b", "--delay", "x"),
                ("--loss: 901 is not in 0…900", "a", "b", "--loss", "901"),
                ("--runs: 0 is not in", "a", "b", "--runs", "0"),
                ("--retry: '0' is no time above 0", "a", "b", "--retry", "0"),
                ("--load: '2' is not more than 0", "a", "b", "--load", "2"),
                ("--profile:", "a", "b", "--profile", "x"),
                ("cannot be read for each run again", "a", "b", "--jobs", "-"),
                ("--output is a file", "a", "b", "-o", "-")):
            self.expect(2, message, *arguments)

    def test_tables_that_do_not_belong_together(self):
        old = self.route("old")
        self.expect(5, "cannot open", old, self.path("nothing"))
        two = self.route("two", "torus:4x4,hosts=1", "updn", "--lmc", "1")
        self.expect(4, "the LMC changes from 0 to 1", old, two)
        bad = self.route("bad", "torus:5x5,hosts=1", "minhop")
        good = self.route("good", "torus:5x5,hosts=1", "updn")
        self.expect(3, "the new tables can deadlock by themselves", good, bad)
        self.assertIn(selvage("update", bad, good).code, (0, 1))
        self.expect(5, "cannot", good, good, "-o", self.path("no/such/file"))

    def test_a_run_that_ends_too_early(self):
        old = self.route("old")
        self.expect(2, "a run stops (--limit) before the update begins (--begin)", old, old,
                    "--rehearse", "--begin", "5ms", "--limit", "5ms")

    def test_service_levels_that_nobody_told(self):
        old, new = self.route("old"), self.route("new", "torus:4x4,hosts=1", "dnup")
        os.unlink(os.path.join(old, "opensm.psl"))
        self.expect(6, "service levels are not known", old, new)
        self.assertIn(selvage("update", old, new, "--assume-sl", "0").code, (0, 1))


class TwoSets(Case):
    def test_tables_hold(self):
        made = self.route("tables", "torus:4x4,hosts=2", "weave", "--vls", "3", "--two-sets")
        found = selvage("check", made, "--json", "--strict").json
        self.assertTrue(found["deadlock_free"])
        self.assertEqual(found["vls_used"], 3)
        told = ok("route", "torus:4x4,hosts=2", "--two-sets", "--vls", "3", "--json").json
        self.assertEqual(told["two_sets"], {"high": "updn", "vl": 2})
        self.assertIn("high ones by updn on VL 7", ok("route", "torus:4x4", "--two-sets").out)

    def test_what_makes_no_sense(self):
        for message, *options in (("needs two VLs", "--vls", "1"), ("means --lmc 1", "--lmc", "2"),
                                  ("--sl one cannot be", "--sl", "one"),
                                  ("not for --repair", "--repair", "x")):
            self.expect(2, message, "torus:4x4", "--two-sets", *options, verb="route")
        ok("route", "torus:4x4", "--two-sets", "--lmc", "1")


if __name__ == "__main__":
    unittest.main()
