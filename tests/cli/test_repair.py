"""route --repair from outside: what it says, what it writes, what it refuses. Whether repairs are right
is asked in tests/oracle/test_repair.py.
"""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402
from support.tables import plain  # noqa: E402

SPEC = "torus:4x4,hosts=2"


class Repair(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-repair-")
        self.addCleanup(shutil.rmtree, self.directory)
        ok("faults", SPEC, "--links", "1", "--seed", "2", "-o", self.path("broken.net"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def route(self, name="old", engine="weave", *options):
        ok("route", SPEC, "-e", engine, "-o", self.path(name), *options)
        return self.path(name)

    def repair(self, old, *options, name="new"):
        return ok("route", self.path("broken.net"), "-e", "weave", "--repair", old, "-o",
                  self.path(name), *options)

    def test_modes_of_service_levels_stay(self):
        """What is made from tables keeps to their mode, anew if there is no other way."""
        for mode in "one", "reversible", "destination":
            old = self.route(mode, "weave", "--sl", mode)
            self.repair(old, name=mode + "-new")
            self.assertEqual(ok("check", self.path(mode + "-new"), "--strict", "--json")
                             .json["deadlock_free"], True)
        with open(os.path.join(plain(self.path("one-new")), "opensm.psl")) as file:
            self.assertRegex(file.read(), r"^(\* \d+ 0\n)+$")
        self.assertEqual(ok("check", self.path("reversible-new"), "--reversible", "--json")
                         .json["deadlock_free"], True)

    def test_text_and_json_agree(self):
        old = self.route()
        text = self.repair(old).out
        found = self.repair(old, "--json").json
        self.assertIn("%d entries, %d blocks of 64 LIDs" % (found["changed_entries"],
                                                            found["changed_blocks"]), text)
        self.assertIn("keeps to the orders of the old tables", text)
        self.assertIs(found["full"], False)
        self.assertEqual(found["why"], "")
        self.assertIs(found["check"]["connected"], True)
        self.assertIs(found["check"]["deadlock_free"], True)
        self.assertEqual(sum(map(len, found["steps"])), found["block_writes"])
        for key in ("prove_seconds", "repair_seconds", "verify_seconds"):
            self.assertGreaterEqual(found[key], 0)

    def test_check_agrees_about_blocks(self):
        old = self.route()
        found = self.repair(old, "--json").json
        checked = selvage("check", old, self.path("new"), "--json")
        self.assertEqual(checked.json["changed_blocks"], found["changed_blocks"])
        self.assertEqual(checked.code, 0 if found["safe"] == "any_order" else 1)

    def test_directories_and_files_are_the_same(self):
        reports = []
        for name in ("old", "old.svr"):
            found = self.repair(self.route(name), "--json", name="new" + name[3:]).json
            reports.append({key: found[key] for key in ("changed_entries", "changed_blocks", "safe",
                                                        "orders_found", "steps", "repath")})
        self.assertEqual(*reports)
        self.assertIs(reports[0]["orders_found"], False)

    def test_the_same_bytes_every_time(self):
        old = self.route()
        self.repair(old, "--threads", "1", name="a.svr")
        self.repair(old, "--threads", "5", name="b.svr")
        with open(self.path("a.svr"), "rb") as a, open(self.path("b.svr"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_orders_are_kept_for_the_next_time(self):
        old = self.route()
        self.repair(old)
        again = ok("route", SPEC, "-e", "weave", "--repair", self.path("new"), "--json").json
        self.assertIs(again["orders_found"], False)
        self.assertEqual(again["changed_entries"], 0)  # a cable that is back is no reason to change

    def test_other_engines_have_orders_too(self):
        self.assertIn("selvage.orders", os.listdir(self.route("u", "updn")))
        self.assertNotIn("selvage.orders", os.listdir(self.route("m", "minhop")))  # can deadlock
        self.assertIs(self.repair(self.path("u"), "--json").json["orders_found"], False)
        found = self.repair(self.path("m"), "--json").json
        self.assertIs(found["full"], True)
        self.assertIn("can deadlock", found["why"])

    def test_orders_are_for_all_traffic_that_counts(self):
        """Terminals alone could have an order here, but their talk with switches deadlocks."""
        fabric = self.path("tree.net")
        ok("faults", "xgft:h=2,m=2/3,w=2/2,hosts=2", "--links", "1", "--seed", "55", "-o", fabric)
        found = ok("route", fabric, "-e", "sssp", "-o", self.path("old"), "--json").json
        self.assertEqual(found["check"]["verdicts"]["terminal_terminal"], True)
        self.assertEqual(found["check"]["verdicts"]["terminal_switch"], False)
        self.assertNotIn("selvage.orders", os.listdir(self.path("old")))
        again = ok("route", fabric, "--repair", self.path("old"), "-e", "updn", "--json").json
        self.assertIn("can deadlock", again["why"])

    def test_pairs_go_to_a_file(self):
        old = self.route("old", "minhop")
        found = self.repair(old, "--json").json
        self.assertEqual(found["safe"], "none")
        self.assertEqual(found["repath_file"], self.path("new/repath.txt"))
        with open(found["repath_file"]) as file:
            lines = [line for line in file if not line.startswith("#")]
        self.assertEqual(len(lines), found["repath_pairs"])
        self.assertRegex(lines[0], r"^@0x[0-9a-f]{16} \d+ \d+ # \S+ to \S+$")
        found = self.repair(old, "--json", name="new.svr").json
        self.assertEqual(found["repath_file"], self.path("new.svr.repath"))

    def test_pairs_do_not_stay_beside_other_tables(self):
        """Whoever writes tables there: route, route --repair that needs no list, convert."""
        old = self.route("old", "minhop")
        for name in "new", "new.svr":
            listed = self.path("new/repath.txt" if name == "new" else "new.svr.repath")
            for write in (lambda: ok("route", SPEC, "-e", "updn", "-o", self.path(name)),
                          lambda: self.repair(self.route("fine"), name=name),
                          lambda: ok("convert", old, "-o", self.path(name), "--format", "tables")):
                self.repair(old, name=name)
                self.assertTrue(os.path.exists(listed))
                write()
                self.assertFalse(os.path.exists(listed), listed)
                self.assertEqual([f for f in os.listdir(self.directory) if "repath" in f], [])

    def test_full(self):
        old = self.route()
        self.assertGreaterEqual(self.repair(old, "--full", "--json").json["changed_entries"],
                                self.repair(old, "--json").json["changed_entries"])

    def test_proven(self):
        old = self.route()
        found = self.repair(old, "--json").json
        fast = self.repair(old, "--proven", "--no-check", "--json").json
        self.assertNotIn("check", fast)
        for key in ("changed_entries", "changed_blocks", "safe"):
            self.assertEqual(found[key], fast[key])

    def test_refusals(self):
        old = self.route()
        for arguments, code, text in (
                ((SPEC, "--full"), 2, "for --repair"),
                ((SPEC, "--repair", old, "--full", "--proven"), 2, "leaves nothing"),
                ((SPEC, "--repair", old, "--lmc", "1"), 4, "the LMC is 0 and stays so"),
                ((SPEC, "--repair", self.path("nobody")), 5, "cannot open"),
                ((SPEC, "--repair", old, "--full", "-e", "nobody"), 2, "no engine")):
            result = selvage("route", *arguments)
            self.assertEqual(result.code, code, result.err)
            self.assertIn(text, result.err)

    def test_orders_that_are_no_orders(self):
        old = plain(self.route())
        path = os.path.join(old, "selvage.orders")
        with open(path) as file:
            good = file.read()
        for text, message in (
                ("", "1: not orders"), ("selvage-orders 2\n", "1: not orders"),
                ("selvage-orders 1\nlanes 0\n", "2: expected \"lanes N\""),
                ("selvage-orders 1\nlanes 65\n", "2: expected \"lanes N\""),
                ("selvage-orders 1\nlanes 1\nx\n", "3: expected 0x<guid>"),
                ("selvage-orders 1\nlanes 2\n0x02005e1a00000001 1 3\n", "3: expected 2 numbers"),
                ("selvage-orders 1\nlanes 1\n0x02005e1a00000001 1 3 4\n", "3: unexpected '4'"),
                ("selvage-orders 1\nlanes 1\n0x02005e1a00000001 1 4294967295\n", "3: expected 1 num"),
                ("selvage-orders 1\nlanes 1\n0x02005e1a00000001 0 1\n", "3: expected 0x<guid>")):
            with open(path, "w") as file:
                file.write(text)
            result = selvage("route", self.path("broken.net"), "--repair", old)
            self.assertEqual(result.code, 3, text)
            self.assertIn("selvage.orders:" + message, result.err)
        with open(path, "w") as file:
            file.write(good + "0x0000000000000077 1" + " 5" * 8 + "\n")
        self.assertIn("0x0000000000000077 port 1 first", self.repair(old).err)
        with open(path, "w") as file:  # well-formed, but not true
            file.write("\n".join(line if not line.startswith("0x") else
                                 " ".join(line.split()[:2] + ["7"] * 8)
                                 for line in good.split("\n")))
        result = self.repair(old, "--json")
        self.assertIn("do not keep to the orders", result.err)
        self.assertIs(json.loads(result.out)["orders_found"], True)


if __name__ == "__main__":
    unittest.main()
