"""The command on forwarding tables: route, check, path, metrics, engines, convert, from outside:
exit codes, messages with their place, nothing lost, nothing half-written.
"""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, ok, selvage  # noqa: E402
from support.tables import FILES, Base, plain  # noqa: E402


class Route(Base):
    def test_a_directory_has_all_files(self):
        self.assertEqual(set(os.listdir(self.route())), FILES)

    def test_json_keys(self):
        found = ok("route", "torus:3x3", "--engine", "updn", "--json").json
        for key in ("engine", "vls_used", "sls_used", "route_seconds", "fallbacks", "check"):
            self.assertIn(key, found)
        self.assertIs(found["check"]["deadlock_free"], True)
        self.assertIsNone(found["output"])
        found = ok("route", "mesh:3,hosts=2", "--lmc", "2", "--json").json
        self.assertEqual((found["switches"], found["destinations"]), (3, 3 + 6 * 4))

    def test_the_same_bytes_every_time(self):
        for engine in ("minhop", "sssp", "updn", "dnup", "dor"):
            one = self.route("random:switches=20,links=60,total=40", "one", "-e", engine)
            two = self.route("random:switches=20,links=60,total=40", "two", "-e", engine,
                             "--threads", "7")
            self.assertEqual(set(os.listdir(one)), set(os.listdir(two)))
            for name in os.listdir(one):
                with open(os.path.join(one, name)) as a, open(os.path.join(two, name)) as b:
                    self.assertEqual(a.read(), b.read(), engine + " " + name)

    def test_seeds(self):
        """Other lots, other tables; the same again for the same seed."""
        for engine in ("minhop", "sssp", "updn"):
            made = []
            for seed in ("1", "2", "1"):
                tables = self.route("torus:4x4,hosts=2", "s", "-e", engine, "--seed", seed)
                with open(os.path.join(tables, "opensm-lfts.dump")) as file:
                    made.append(file.read())
            self.assertEqual(made[0], made[2])
            self.assertNotEqual(made[0], made[1], engine)

    def test_what_was_there_stays_when_it_fails(self):
        tables = self.route()
        before = {name: os.stat(os.path.join(tables, name)).st_mtime_ns for name in FILES}
        self.expect_error(4, "InfiniBand has 49151 unicast LIDs", "route",
                          "kary:k=20,n=2,hosts=20", "--lmc", "7", "-o", tables)
        self.assertEqual(before, {name: os.stat(os.path.join(tables, name)).st_mtime_ns
                                  for name in FILES})
        self.expect_error(4, "51240 addresses", "route", "kary:k=20,n=2,hosts=20", "--lmc", "7",
                          "-o", self.path("new"))
        self.assertFalse(os.path.exists(self.path("new")))

    def test_switches_without_cables_have_no_tables(self):
        net = self.path("net")
        with open(net, "w") as file:
            file.write('Switch 8 "S-1"\n\nCa 1 "H-1"\n[1] "H-2"[1]\n\nCa 1 "H-2"\n[1] "H-1"[1]\n')
        self.expect_error(4, "no switch with a cable", "route", net, "-e", "updn", "-o",
                          self.path("tables"))
        self.assertFalse(os.path.exists(self.path("tables")))

    def test_more_destinations_than_lids_go_into_a_file(self):
        path = self.path("big.svr")
        ok("route", "kary:k=20,n=2,hosts=20", "--lmc", "7", "-o", path, "--no-check")
        self.assertEqual(ok("metrics", path, "--json").json["pairs"], 400 * 399 * 128)

    def test_roots(self):
        ok("convert", "kary:k=4,n=2,hosts=4", "-f", "root-guids", "-o", self.path("roots"))
        found = ok("route", "kary:k=4,n=2,hosts=4", "-e", "updn", "--roots", self.path("roots"),
                   "--json").json
        self.assertEqual(found["note"], "4 roots given")
        self.expect_error(2, "engine minhop knows no roots (updn does)", "route", "mesh:2x2", "-e", "minhop",
                          "--roots", self.roots("mesh:2x2"))
        with open(self.path("wrong"), "w") as file:
            file.write("0x5\n")
        result = selvage("route", "mesh:2x2", "-e", "updn", "--roots", self.path("wrong"))
        self.assertEqual(result.code, 3)
        self.assertIn("none of its GUIDs is a switch", result.err)

    def roots(self, spec):
        ok("convert", spec, "-f", "root-guids", "-o", self.path("r"))
        return self.path("r")

    def test_parts_of_a_fabric(self):
        net = self.path("cut.net")
        ok("faults", "mesh:4", "--port", "sw1/3", "-o", net)
        found = ok("route", net, "--engine", "sssp", "--json").json
        self.assertEqual(found["components"], 2)
        self.assertEqual(found["check"]["unreachable_pairs"], 8)
        self.assertEqual(found["check"]["split_pairs"], 8)
        self.assertIn("terminals of different ones cannot talk", ok("route", net).out)

    def test_offset_of_service_levels(self):
        tables = self.route("mesh:2x2", "tables", "--sl-offset", "5")
        with open(os.path.join(tables, "opensm.psl")) as file:
            self.assertRegex(file.read(), r"^(\* \d+ 5\n)+$")
        self.assertEqual(ok("check", tables, "--json").json["vls_used"], 1)

    def test_wrong_command_lines(self):
        self.expect_error(2, "there is no engine 'warp'", "route", "mesh:2", "-e", "warp")
        self.expect_error(2, "--lmc is 0 to 7", "route", "mesh:2", "--lmc", "8")
        self.expect_error(2, "--vls is 1 to 64", "route", "mesh:2", "--vls", "65")
        self.expect_error(2, "--vls is 1 to 64", "route", "mesh:2", "--vls", "0")
        self.expect_error(2, "not a stream", "route", "mesh:2", "-o", "-")
        self.expect_error(2, "engine weave has no option", "route", "mesh:2", "--option", "a=b")
        for fabric in "torus:5x5", "kary:k=2,n=2", "mesh:1x2":  # needed or not
            self.expect_error(2, "rounds=x is not 1-9", "route", fabric, "--vls", "2",
                              "--option", "rounds=x")
        self.expect_error(2, "--sl is pair, reversible, destination or one, not 'two'", "route",
                          "mesh:2", "--sl", "two")
        self.expect_error(2, "by source and destination only", "route", "mesh:2", "-e", "lash",
                          "--sl", "one")

    def test_modes_of_service_levels(self):
        for mode, vls in ("pair", 8), ("reversible", 8), ("destination", 8), ("one", 2):
            tables = self.path(mode)
            found = ok("route", "torus:5x5,hosts=2", "--sl", mode, "-o", tables, "--json").json
            self.assertEqual(found["sl_mode"], mode)
            self.assertLessEqual(found["check"]["vls_used"], vls)
            again = ok("check", tables, "--strict", "--json").json
            self.assertEqual(again["deadlock_free"], True)
        with open(os.path.join(plain(self.path("one")), "opensm.psl")) as file:
            self.assertRegex(file.read(), r"^(\* \d+ 0\n)+$")
        self.assertEqual(ok("check", self.path("reversible"), "--reversible", "--json")
                         .json["deadlock_free"], True)
        for sl in "0", "3", "15":  # nobody has to ask
            self.assertEqual(ok("check", self.path("one"), "--assume-sl", sl, "--json")
                             .json["deadlock_free"], True)

    def test_an_offset_leaves_fewer_vls(self):
        found = ok("route", "torus:5x5", "--sl-offset", "12", "--json").json
        self.assertEqual((found["engine"], found["sls_used"]), ("weave", 4))


class Check(Base):
    def test_yes_no_and_undecided(self):
        tables = self.route()
        self.assertEqual(selvage("check", tables).code, 0)
        os.remove(os.path.join(tables, "opensm.psl"))  # one VL for all SLs: still decided
        self.assertEqual(selvage("check", tables).code, 0)
        ring = self.route("torus:5,hosts=1", "ring", "-e", "minhop")
        result = selvage("check", ring)
        self.assertEqual(result.code, 1)
        self.assertIn("5 channels can wait for each other (terminal to terminal):", result.out)
        self.assertIn(", where it began\n", result.out)
        os.remove(os.path.join(ring, "opensm.psl"))  # all SLs on one VL: decided, too
        self.assertEqual(selvage("check", ring).code, 1)
        self.assertEqual(selvage("check", ring, ring).code, 1)
        os.remove(os.path.join(ring, "opensm-sl2vl.dump"))
        result = selvage("check", ring)
        self.assertEqual(result.code, 6)
        self.assertIn("channels might wait for each other", result.out)
        self.assertIn("if everything used SL 0: no", result.out)
        self.assertIn("VLs: there is no opensm-sl2vl.dump", result.out)

    def test_which_traffic_counts(self):
        """Spine to spine, packets of min-hop can wait for each other."""
        tables = self.route("kary:k=4,n=2,hosts=4", "tree", "-e", "minhop")
        self.assertEqual(selvage("check", tables).code, 0)
        self.assertEqual(selvage("check", tables, "--terminals-only").code, 0)
        result = selvage("check", tables, "--strict", "--json")
        self.assertEqual(result.code, 1)
        self.assertIs(result.json["deadlock_free"], False)
        self.assertIs(result.json["verdicts"]["terminal_switch"], True)

    def test_rings_through_switches_without_terminals(self):
        """Every other switch of a ring only hands on what comes in."""
        net = self.path("ring.net")
        ok("faults", "torus:8,hosts=1", *(word for s in range(1, 8, 2)
                                          for word in ("--port", "sw%d/1" % s)), "-o", net)
        tables = self.route(net, "ring", "-e", "dor")
        result = selvage("check", tables, "--terminals-only", "--json")
        self.assertEqual(result.code, 1)
        self.assertEqual(len(result.json["cycle"]), 8)
        self.assertTrue(all(step["source"].startswith("host") for step in result.json["cycle"]))

    def test_vls_break_a_ring(self):
        """Odd sources on VL 1, even ones on VL 0: neither VL goes all the way round."""
        ring = self.route("torus:4,hosts=1", "ring", "-e", "dor")
        self.assertEqual(selvage("check", ring, "--terminals-only").code, 1)
        self.edit(os.path.join(ring, "opensm-sl2vl.dump"), r": 0  0  ", ": 0  1  ", 0)
        with open(os.path.join(ring, "opensm.psl"), "w") as file:
            for source in range(4):
                for target in range(4):
                    if source != target:
                        file.write("0x02005e1b000000%d1 %d %d\n" %
                                   (source + 1, 5 + target, source % 2))
            for target in range(4):
                file.write("* %d 0\n" % (1 + target))
        result = selvage("check", ring, "--terminals-only", "--json")
        self.assertEqual(result.code, 0, result.out)
        self.assertEqual(result.json["vls_used"], 2)
        self.assertEqual(selvage("check", ring, "--terminals-only", "--assume-sl", "1").code, 1)

    def test_damage_is_described(self):
        tables = self.route("mesh:3,hosts=1", "line")
        # host2 is LID 6: the middle switch sends it back.
        lfts = os.path.join(tables, "opensm-lfts.dump")
        with open(lfts) as file:
            text = file.read()
        first, second, third = re.split(r"(?=^Unicast)", text, flags=re.M)[1:]
        back = re.sub(r"^0x0006 003", "0x0006 002", second, flags=re.M)
        self.assertNotEqual(back, second)
        with open(lfts, "w") as file:
            file.write(first + back + third)
        result = selvage("check", tables)
        self.assertEqual(result.code, 1)
        self.assertIn("connected      no: 2 of 6 pairs of terminals cannot talk", result.out)
        self.assertIn("host0 to host2: the packet goes round in circles", result.out)
        self.assertIn("loops          1, for example to host2 at sw0", result.out)

    def test_where_a_loop_is(self):
        tables = self.route("mesh:4,hosts=1", "line")  # host3 is LID 8: sw2 sends it back to sw1
        lfts = os.path.join(tables, "opensm-lfts.dump")
        self.edit(lfts, r"( guid 0x02005e1a00000003(?:.*\n)*?0x0008) 003", r"\1 002")
        self.assertIn("loops          1, for example to host3 at sw1", selvage("check", tables).out)

    def test_proofs(self):
        tables, proof = self.route(), self.path("proof")
        ok("check", tables, "--proof", proof)
        self.assertIn("dependencies ascend", ok("check", tables, "--against", proof).out)
        other = self.route("torus:3x3,hosts=1", "other", "-e", "minhop")
        result = selvage("check", other, "--against", proof)
        self.assertEqual(result.code, 1)
        self.assertIn("whose number is not larger", result.out)
        result = selvage("check", other, "--proof", self.path("none"), "--json")
        self.assertIn("no proof written", result.err)
        self.assertFalse(os.path.exists(self.path("none")))
        for line in ("0x5 1", "5 1 0 0", "0x5 256 0 0", "0x5 1 256 0", "0x5 1 0 4294967295",
                     "0x5 1 0 0 0"):
            with open(proof, "w") as file:
                file.write("selvage-proof 1\n%s\n" % line)
            self.expect_error(3, "proof:2: expected 0x<guid> <port> <VL> <number>", "check",
                              tables, "--against", proof)
        with open(proof, "w") as file:
            file.write("something else\n")
        self.expect_error(3, "proof:1: not a proof", "check", tables, "--against", proof)

    def test_proofs_with_vls(self):
        """A number of one VL is not that of another, nor is that of one port another's."""
        tables, proof = self.route("mesh:3,hosts=1"), self.path("proof")
        self.edit(os.path.join(tables, "opensm-sl2vl.dump"), r": 0 ", ": 2 ", 0)
        ok("check", tables, "--proof", proof)
        with open(proof) as file:
            good = file.read()
        lines = re.findall(r"^0x.*\n", good, flags=re.M)
        self.assertEqual({line.split()[2] for line in lines}, {"2"})
        self.assertEqual(len(lines), 2 * 2 + 2 * 3)
        for line in lines:
            for change in ("", line.replace(" 2 ", " 1 ", 1) if " 2 2 " not in line else "",
                           line.replace(" 2 ", " 77 ", 1)):
                with open(proof, "w") as file:
                    file.write(good.replace(line, change))
                result = selvage("check", tables, "--against", proof)
                self.assertEqual(result.code, 1)
                self.assertIn("has no number", result.out)
                self.ends_do_not_ascend(tables, proof, lines)
        with open(proof, "w") as file:
            file.write(re.sub(r"^(0x.*) \d+$", r"\1 5", good, flags=re.M))
        self.assertIn("not larger", selvage("check", tables, "--against", proof).out)
        self.ends_do_not_ascend(tables, proof, lines)

    def ends_do_not_ascend(self, tables, proof, lines):
        with open(proof) as file:
            numbers = {tuple(line.split()[:3]): int(line.split()[3]) for line in file
                       if line.startswith("0x")}
        ends = selvage("check", tables, "--against", proof, "--json").json["cycle"]
        a, b = ((end["guid"], str(end["port"]), str(end["vl"])) for end in ends)
        self.assertNotEqual(a, b)
        self.assertLessEqual({a, b}, {tuple(line.split()[:3]) for line in lines})
        if a in numbers and b in numbers:
            self.assertGreaterEqual(numbers[a], numbers[b])

    def test_short_cycles_are_shown(self):
        """As short as the shortest rings of cables, where a first search finds longer ones."""
        for spec, engine, length in (("torus:5x5,hosts=1", "minhop", 4), ("torus:5,hosts=1", "dor", 5),
                                     ("hypercube:4,hosts=1", "minhop", 4)):
            tables = self.route(spec, "rings", "-e", engine)
            found = selvage("check", tables, "--strict", "--json").json
            self.assertEqual(len(found["cycle"]), length, spec)

    def test_proofs_need_guids_that_differ(self):
        """A proof names channels by GUID and port: of two nodes with one GUID it could be either."""
        for twin, who in (("02005e1a00000002", '"sw1" and "host0"'),
                          ("02005e1b00000021", '"host0" and "host1"')):
            tables, proof = self.route("mesh:2,hosts=1"), self.path("proof")
            ok("check", tables, "--proof", proof)
            self.edit_all(tables, ("02005e1b00000011", twin))
            self.assertEqual(selvage("check", tables, "--strict").code, 0)
            for options in (("--proof", self.path("none")), ("--against", proof)):
                self.expect_error(4, who + " have the same GUID 0x" + twin, "check", tables, *options)
            self.assertFalse(os.path.exists(self.path("none")))

    def test_from_old_to_new(self):
        old = self.route("torus:4x4,hosts=1", "old", "-e", "updn")
        self.assertEqual(selvage("check", old, old).code, 0)
        self.assertIn("changes        0 blocks", ok("check", old, old).out)
        new = self.route("torus:4x4,hosts=1", "new", "-e", "dor")
        result = selvage("check", old, new, "--json")
        self.assertEqual(result.code, 1)
        self.assertGreater(result.json["changed_blocks"], 0)
        lmc = self.route("torus:4x4,hosts=1", "lmc", "--lmc", "1")
        self.expect_error(4, "the LMC changes from 0 to 1", "check", old, lmc)
        ok("faults", old, "--switch", "sw0-0", "-o", self.path("less.net"))
        less = self.route(self.path("less.net"), "less")
        result = selvage("check", old, less, "--json")
        self.assertGreater(result.json["already_unreachable_pairs"], 0)

    def test_new_dead_ends(self):
        old, new = (self.route("mesh:3,hosts=1", name) for name in ("old", "new"))
        self.assertIs(ok("check", old, new, "--json").json["connected"], True)
        self.edit(os.path.join(new, "opensm-lfts.dump"), r"^0x0006 002.*\n", "")  # to host2, at sw0
        found = selvage("check", old, new, "--json")
        self.assertEqual(found.code, 1)
        self.assertIs(found.json["connected"], False)
        self.assertEqual(found.json["unreachable_pairs"], 1)
        self.assertEqual(found.json["already_unreachable_pairs"], 0)
        found = selvage("check", new, old, "--json")  # repaired by the change
        self.assertEqual(found.code, 0)
        self.assertEqual(found.json["already_unreachable_pairs"], 1)

    def test_unknown_levels_before_a_change(self):
        """Only the old VLs tell SLs apart, and only the old SLs are not known."""
        old = self.route("torus:4,hosts=1", "old", "-e", "dor")
        new = self.route("torus:4,hosts=1", "new", "-e", "updn")
        result = selvage("check", old, new)
        self.assertEqual(result.code, 1)
        self.assertIn("\ndeadlock-free  no: not in every order\n", result.out)
        self.assertIn("\ndeadlock-free  yes, whatever the order\n", ok("check", new, new).out)
        self.edit(os.path.join(old, "opensm-sl2vl.dump"), r": 0  0  ", ": 0  1  ", 0)
        with open(os.path.join(old, "opensm.psl"), "w"):
            pass
        self.assertEqual(selvage("check", old).code, 6)
        result = selvage("check", old, new)
        self.assertEqual(result.code, 6)
        self.assertIn("\ndeadlock-free  undecided\n", result.out)
        result = selvage("check", new, old, "--json")
        self.assertEqual((result.code, result.json["deadlock_free"]), (6, None))

    def test_another_node_with_the_same_lid(self):
        """Switches know LIDs: what is sent to the old owner of one reaches the new one."""
        for lmc, lids in ((0, [6]), (1, [8, 9])):
            old, new = (self.route("torus:4,hosts=1", name + str(lmc), "--lmc", str(lmc))
                        for name in ("old", "new"))
            self.assertEqual(ok("check", old, new, "--json").json["lids_moved"], 0)
            self.edit_all(new, ("02005e1b0000002", "02ff5e1b0000002"), ("host1", "guest"))
            result = selvage("check", old, new, "--json")
            self.assertEqual(result.code, 1, result.err)
            found = result.json
            self.assertEqual(found["lids_moved"], len(lids))
            self.assertEqual(found["moves"], [{"lid": lid, "was": "host1", "is": "guest"}
                                              for lid in lids])
            self.assertIs(found["deadlock_free"], True)
            self.assertEqual((found["unreachable_pairs"], found["changed_blocks"]), (0, 0))
        self.assertIn("moved LIDs     1: open connections would reach another node\n"
                      "  LID 6 was host1, is guest\n",
                      selvage("check", self.path("old0"), self.path("new0")).out)

    def test_many_nodes_with_the_same_lids(self):
        old, new = (self.route("mesh:1,hosts=11", name) for name in ("old", "new"))
        self.edit_all(new, ("02005e1b", "02ff5e1b"))
        self.assertIn("  … and 1 more\n", selvage("check", old, new).out)

    def test_old_entries_of_a_moved_lid_count(self):
        """What was sent to its old owner still goes the old way: here round a ring."""
        old = self.route("torus:5,hosts=1", "old", "-e", "dor")
        new = self.route("torus:5,hosts=1", "new", "-e", "updn")
        self.edit_all(new, ("02005e1b", "02ff5e1b"))
        result = selvage("check", old, new, "--terminals-only", "--json")
        self.assertEqual(result.code, 1)
        self.assertEqual(result.json["lids_moved"], 5)
        self.assertIs(result.json["deadlock_free"], False)

    def test_wrong_files(self):
        tables = self.route()
        lfts = os.path.join(tables, "opensm-lfts.dump")
        with open(lfts) as file:
            good = file.read()
        for pattern, replacement, message in (
                (r"^0x0003 \d+", "0x0003 099", r":4: port 99 of switch .*, which has 5"),
                (r"^0x0003", "0xffff", r":4: 0xffff is no unicast LID"),
                (r"^0x0003", "0x0002", r":4: a second entry for LID 0x0002"),
                (r"^0x0003.*", "hello", r":4: neither a switch nor an entry: 'hello'"),
                (r"guid 0x\w+", "guid", r":1: a table without the guid of its switch"),
                (r" guid 0x02005e1a00000002", " guid 0x02005e1a00000001",
                 r":\d+: a second table of switch 0x02005e1a00000001"),
                (r"\AUnicast.*\n", "", r":1: an entry before the first switch"),
                (r"^\d+ lids dumped\n\Z", "", r": the last table does not end: is the file cut off\?")):
            with open(lfts, "w") as file:
                file.write(re.sub(pattern, replacement, good, count=1, flags=re.M))
            result = selvage("check", tables)
            self.assertEqual(result.code, 3, result.out)
            self.assertRegex(result.err, message)
        with open(lfts, "w") as file:
            file.write(good)
        for name, text, message in (
                ("opensm.psl", "0x5 4 16\n", "opensm.psl:1: expected a service level of 0 to 15"),
                ("opensm.psl", "5 4 1\n", "opensm.psl:1: expected 0x<guid>, @0x<guid> or *"),
                ("opensm-sl2vl.dump", "0 1 : 0 0\n", "opensm-sl2vl.dump:1: a row before any node"),
                ("opensm-sl2vl.dump", "# none\n", "no table of VLs in the file"),
                ("opensm.mcfdbs", "Switch 0x02005e1a00000001\n0x0004 : 0x001\n",
                 "opensm.mcfdbs:2: 0x4 is no multicast LID"),
                ("opensm.mcfdbs", "Switch 0x02005e1a00000001\n0xC000 : 0x006\n",
                 "opensm.mcfdbs:2: port 6 of switch"),
                ("opensm.mcfdbs", "0xC000 : 0x001\n", "opensm.mcfdbs:1: neither a switch nor a group"),
                ("opensm-qos.conf", "qos_ca_vlarb_high 15:1\n", "opensm-qos.conf:1: expected up to")):
            path = os.path.join(tables, name)
            with open(path) as file:
                kept = file.read()
            with open(path, "w") as file:
                file.write(text)
            self.expect_error(3, message, "check", tables)
            with open(path, "w") as file:
                file.write(kept)
        self.assertEqual(selvage("check", tables).code, 0)
        os.remove(lfts)
        os.remove(os.path.join(tables, "opensm.fdbs"))
        self.expect_error(3, "no forwarding tables", "check", tables)
        self.expect_error(5, "cannot open", "check", self.path("nowhere"))

    def test_sls_of_other_forwarding_tables(self):
        """SLs that were proven with other tables prove nothing; whoever changes tables by hand too."""
        one, two = self.path("one"), self.path("two")
        ok("route", "torus:4x4,hosts=2", "-e", "weave", "-o", one)
        ok("route", "torus:4x4,hosts=2", "-e", "minhop", "-o", two)
        sls = self.path("sls")
        ok("convert", one, "--format", "psl", "-o", sls)
        with open(sls) as file:
            head, _, rest = file.read().partition("\n")
        self.assertRegex(head, "^# selvage forwarding [0-9a-f]{16}$")
        for directory in (one, two):
            plain(directory)
            shutil.copy(sls, os.path.join(directory, "opensm.psl"))
        ok("check", one)
        self.expect_error(3, "opensm.psl:1: these service levels are for other forwarding tables than "
                          "those beside them: dump both again, or remove this file", "check", two)
        with open(os.path.join(two, "opensm.psl"), "w") as file:
            file.write(rest)  # without the line nobody knows
        self.assertEqual(selvage("check", two).code, 1)
        self.edit(os.path.join(one, "opensm-lfts.dump"), r"^(0x0011) 00(\d)",
                  lambda found: "%s 00%d" % (found[1], int(found[2]) % 6 + 1))
        self.expect_error(3, "for other forwarding tables", "check", one)

    def test_entries_of_strangers(self):
        for lid in 100, 49151:
            tables = self.route("mesh:3,hosts=1", "line")
            self.edit(os.path.join(tables, "opensm-lfts.dump"), r"^6 lids dumped",
                      "0x%04x 001 # unknown node and type\n6 lids dumped" % lid)
            result = selvage("check", tables)
            self.assertEqual(result.code, 0, result.err)
            self.assertIn("LID %d first" % lid, result.err)

    def test_comments_of_missing_entries(self):
        """Port 255 is no entry, but the comment still tells whose LID it is."""
        tables = self.route("mesh:2,hosts=1", "line", "--lmc", "1")
        lfts = os.path.join(tables, "opensm-lfts.dump")
        self.edit(lfts, r"^0x0007 \d+", "0x0007 255", 0)
        result = selvage("check", tables, "--json")
        self.assertEqual(result.err, "")
        self.assertEqual(result.json["unreachable_pairs"], 1)

    def test_tables_of_strangers(self):
        """Switches that the fabric does not have are named and left out, whatever the file."""
        tables = self.route("mesh:3,hosts=1", "line")
        wanted = ok("check", tables, "--json").json
        for name, text in (
                ("opensm-lfts.dump", "Unicast lids [0-6] of switch Lid 7 guid 0x77 ('x'):\n"
                 "0x0002 099\n6 lids dumped\n"),
                ("opensm-sl2vl.dump", "Switch 0x77, base LID 7, \"x\"\n0 99 :" + 16 * " 1" + "\n"),
                ("opensm.psl", "0x77 1 1\n@0x77 1 1\n"),
                ("opensm.mcfdbs", "Switch 0x77\nLID    : Out Port(s)\n0xC000 : 0x063\n")):
            path = os.path.join(tables, name)
            with open(path) as file:
                kept = file.read()
            with open(path, "a") as file:
                file.write(text)
            result = selvage("check", tables, "--json")
            self.assertEqual(result.code, 0, result.err)
            self.assertRegex(result.err, r"/%s: \d GUID.* are not in the fabric, .*77 first" % name)
            self.assertEqual(result.json, wanted)
            with open(path, "w") as file:
                file.write(kept)

    def test_wrong_command_lines(self):
        tables = self.route()
        for arguments in (("--strict", "--terminals-only"), ("--assume-sl", "16"),
                          ("--assume-sl", "1", "--reversible"),
                          ("--proof", "a", "--against", "b"), ("--proof", "-"),
                          (tables, "--proof", "a"), ("--against", "a", "--strict")):
            self.assertEqual(selvage("check", tables, *arguments).code, 2, arguments)


class Review(Base):
    """What a hostile reader of the first version found."""

    def write(self, directory, name, text):
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)

    def ring_of_copies(self):
        """A ring under updn, with a group that goes all the way round."""
        tables = self.route("torus:4,hosts=1", "mc")
        self.write(tables, "opensm.mcfdbs", "".join(
            "\nSwitch 0x02005e1a0000000%d\nLID    : Out Port(s)\n0xC000 : 0x001 0x002 0x003 \n" % s
            for s in range(1, 5)))
        return tables

    def test_what_is_unknown_stays_so(self):
        tables = self.route("torus:4,hosts=1", "t", "-e", "dor")
        os.remove(os.path.join(tables, "opensm.psl"))
        os.remove(os.path.join(tables, "opensm-sl2vl.dump"))
        ok("convert", tables, "--format", "tables", "-o", self.path("u"))
        self.assertEqual(FILES - set(os.listdir(self.path("u"))),
                         {"opensm.psl", "opensm-sl2vl.dump", "selvage.orders"})
        ok("convert", tables, "-o", self.path("u.svr"))
        for where in ("u", "u.svr"):
            self.assertEqual(selvage("check", self.path(where)).code, 6)
        for part in ("psl", "sl2vl", "ibdmchk-psl"):
            self.expect_error(4, "do not tell that", "convert", tables, "--format", part)
        full = self.route("torus:4,hosts=1", "full")
        ok("convert", tables, "--format", "tables", "-o", full)  # older files must not stay
        self.assertEqual(selvage("check", full).code, 6)

    def test_multicast_counts_everywhere(self):
        tables, proof = self.ring_of_copies(), self.path("proof")
        result = selvage("check", tables, "--proof", proof)
        self.assertEqual(result.code, 1)
        self.assertIn("(multicast, terminal to terminal)", result.out)
        self.assertFalse(os.path.exists(proof))
        plain = self.route("torus:4,hosts=1", "plain")
        ok("check", plain, "--proof", proof)
        self.assertEqual(selvage("check", tables, "--against", proof).code, 1)
        self.assertEqual(selvage("check", tables, tables).code, 1)

    def test_stale_masks_are_believed(self):
        """A ring of copies that no terminal feeds any more may still hold some."""
        tables = self.route("torus:4,hosts=0", "mc")
        self.assertEqual(selvage("check", tables).code, 0)
        self.write(tables, "opensm.mcfdbs", "".join(
            "\nSwitch 0x02005e1a0000000%d\nLID    : Out Port(s)\n0xC000 : 0x001 0x002 \n" % s
            for s in range(1, 5)))
        result = selvage("check", tables, "--json")
        self.assertEqual(result.code, 1)
        self.assertIs(result.json["verdicts"]["multicast"], False)

    def test_a_change_to_itself_is_judged_like_itself(self):
        tree = self.route("kary:k=4,n=2,hosts=4", "tree", "-e", "minhop")
        self.assertEqual(selvage("check", tree, tree).code, 0)
        self.assertEqual(selvage("check", tree, tree, "--strict").code, 1)
        for row in (r"^(0   0   : )0 ", r"^(1   2   : )0 ", r"^(2   1   : )0 "):
            line = self.route("mesh:2,hosts=1", "line")  # discarded at once, on the way, at the end
            self.edit(os.path.join(line, "opensm-sl2vl.dump"), row, r"\g<1>15", 0)
            self.assertEqual(selvage("check", line).code, 1)
            self.assertEqual(selvage("check", line, line).code, 1)
            self.assertIs(selvage("check", line, line, "--json").json["connected"], False)
        line = self.route("mesh:2,hosts=1", "line")
        self.edit(os.path.join(line, "opensm-sl2vl.dump"), r": 0  0 ", ": 0  15", 0)
        self.write(line, "opensm.psl", "* 1 0\n* 2 0\n* 3 1\n* 4 0\n")
        self.assertEqual(selvage("check", line).code, 1)
        result = selvage("check", line, line)
        self.assertEqual(result.code, 1)
        self.assertIn("discards packets", result.out)
        self.assertEqual(selvage("check", line, "--reversible").code, 1)
        ring = self.route("torus:4,hosts=1", "ring", "-e", "dor")
        self.edit(os.path.join(ring, "opensm-sl2vl.dump"), r": 0  0  ", ": 0  1  ", 0)
        self.write(ring, "opensm.psl", "")
        self.assertEqual(selvage("check", ring).code, 6)
        self.assertEqual(selvage("check", ring, ring).code, 6)
        self.assertIn("opensm.psl does not tell all", selvage("check", ring).out)

    def test_why_one_of_two_levels_is_lost(self):
        """The level of the way back is the one that is discarded."""
        tables = self.route("mesh:2,hosts=1", "t")
        self.edit(os.path.join(tables, "opensm-sl2vl.dump"), r"^(1   2   : 0  )0 ", r"\g<1>15", 0)
        self.write(tables, "opensm.psl", "* 1 0\n* 2 0\n* 3 0\n* 4 1\n")
        self.assertIn("host0 to host1: the VL table discards", selvage("check", tables).out)
        self.assertIn("host1 to host0: the VL table discards",
                      selvage("check", tables, "--reversible").out)

    def test_a_host_without_a_lid(self):
        tables = self.route("mesh:1,hosts=3", "t")
        self.edit(os.path.join(tables, "opensm-subnet.lst"), "LID:0002", "LID:0000", 0)
        found = selvage("check", tables, "--json").json
        self.assertLessEqual(found["unreachable_pairs"], 4)

    def test_strict_wants_switches_reached(self):
        tables = self.route("mesh:3,hosts=1", "t")
        self.edit(os.path.join(tables, "opensm-lfts.dump"), r"^0x.* # Switch .*\n", "", 0)
        self.assertEqual(selvage("check", tables).code, 0)
        self.assertEqual(selvage("check", tables, "--strict").code, 1)

    def test_no_proof_is_no_success(self):
        tree = self.route("kary:k=4,n=2,hosts=4", "tree", "-e", "minhop")
        result = selvage("check", tree, "--proof", self.path("proof"))
        self.assertEqual(result.code, 1)
        self.assertIn("a proof is about all packets", result.err)

    def test_a_new_host_breaks_nothing(self):
        old = self.route("mesh:2,total=3", "old")
        new = self.route("mesh:2,total=4", "new")
        result = selvage("check", old, new)
        self.assertIn(result.code, (0, 4), result.out)

    def test_a_missing_line_of_a_proof(self):
        tables, proof = self.route(), self.path("proof")
        ok("check", tables, "--proof", proof)
        self.edit(proof, r"^0x02005e1a00000001 2 0 \d+\n", "")
        self.assertIn("has no number", selvage("check", tables, "--against", proof).out)

    def test_what_has_no_cable_is_in_no_file(self):
        net = self.path("n.net")
        ok("faults", "mesh:3,hosts=0", "--port", "sw2/1", "-o", net)
        tables = self.route(net, "t")
        result = selvage("check", tables)
        self.assertNotIn("not in the fabric", result.err)
        for name in ("opensm-lfts.dump", "opensm-sl2vl.dump", "opensm.fdbs"):
            with open(os.path.join(tables, name)) as file:
                self.assertNotIn("0x02005e1a00000003", file.read())

    def test_ctrl_c_while_writing(self):
        process = subprocess.Popen([SELVAGE, "route", "torus:13x13x13,hosts=3", "-e", "dor", "-o",
                                    self.path("d"), "--no-check"], stderr=subprocess.PIPE)
        for _ in range(600):
            time.sleep(0.05)
            if os.path.isdir(self.path("d")):
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        error = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130, error)
        self.assertLess(time.monotonic() - began, 30)
        self.assertFalse(os.path.exists(self.path("d")))

    def test_no_switches(self):
        net = self.path("b2b.net")
        with open(net, "w") as file:
            file.write('Hca 1 "x"\n[1] "y"[1]\n\nHca 1 "y"\n[1] "x"[1]\n')
        self.expect_error(4, "no switch with a cable has no forwarding tables", "route", net,
                          "-o", self.path("d"))

    def test_offsets_do_not_wrap(self):
        self.expect_error(3, "no offset", "path", self.route(), "host0", "host1", "--offset",
                          "18446744073709551614")

    def test_long_rings_are_explained_in_time(self):
        result = selvage("route", "torus:600,hosts=1", "--engine", "dor", timeout=60)
        self.assertIn("600 channels can wait for each other", result.out)

    def test_lines_of_an_opensm_configuration(self):
        tables = self.route()
        self.write(tables, "opensm-qos.conf", "qos TRUE\nqos_ca_vlarb_high (null)\n"
                   "qos_swe_vlarb_low\t0:1,1:2 # fine\n")
        self.assertIn("qos_swe_vlarb_low 0:1,1:2", ok("convert", tables, "-f", "qos").out)
        self.write(tables, "opensm-qos.conf", "qos_ca_vlarb_high 0:4,1:4 junk\n")
        self.expect_error(3, "unexpected 'junk'", "check", tables)


class Path(Base):
    def test_by_name_guid_and_lid(self):
        tables = self.route("mesh:3,hosts=1", "line")
        for a, b in (("host0", "host2"), ("0x02005e1b00000011", "0x02005e1b00000031"),
                     ("lid 4", "lid 6"), ("4", "6")):
            found = ok("path", tables, a, b, "--json").json
            self.assertEqual([hop["to"] for hop in found["hops"]], ["sw0", "sw1", "sw2", "host2"])
            self.assertTrue(found["arrives"])
        self.assertIn("arrives after 2 channels", ok("path", tables, "sw0", "sw2").out)
        self.assertIn("SL 7", ok("path", tables, "sw0", "sw2", "--sl", "7").out)

    def test_why_there_is_none(self):
        net = self.path("cut.net")
        ok("faults", "mesh:3", "--port", "sw1/3", "-o", net)
        tables = self.route(net)
        result = selvage("path", tables, "host0", "host2")
        self.assertEqual(result.code, 1)
        self.assertIn("no path: at sw0, no entry for the destination", result.out)

    def test_addresses(self):
        tables = self.route("mesh:2,hosts=1,r=2", "two", "--lmc", "1")
        ports = {ok("path", tables, "host0", "host1", "--offset", str(k), "--json")
                 .json["hops"][1]["out_port"] for k in (0, 1)}
        self.assertEqual(len(ports), 2)
        self.expect_error(3, "has 2 address(es): no offset 2", "path", tables, "host0", "host1",
                          "--offset", "2")

    def test_every_lid_of_a_range(self):
        """A LID that is not the base one is a destination of its own; as a source it is its node."""
        for name in "range", "range.svr":
            tables = self.route("mesh:2,hosts=1,r=4", name, "--lmc", "2")
            base = ok("path", tables, "host0", "host1", "--json").json["lid"]
            ports = set()
            for k in range(4):
                for text in str(base + k), "lid %d" % (base + k):
                    found = ok("path", tables, "host0", text, "--json").json
                    self.assertEqual(found["lid"], base + k)
                    self.assertEqual(found, ok("path", tables, "host0", "host1", "--offset", str(k), "--json").json)
                    self.assertEqual(ok("path", tables, text, "host0", "--json").json["source"], "host1")
                ports.add(found["hops"][1]["out_port"])
            self.assertEqual(len(ports), 4)
            self.expect_error(3, "no node has LID %d" % (base + 9), "path", tables, "host0", str(base + 9))
            self.expect_error(2, "LID %d is one of several of \'host1\': give no --offset besides" % (base + 1), "path",
                              tables, "host0", str(base + 1), "--offset", "1")
            self.assertEqual(ok("path", tables, "host0", str(base), "--offset", "1", "--json").json["lid"], base + 1)

    def test_errors(self):
        tables = self.route()
        self.expect_error(3, "nobody", "path", tables, "nobody", "host1")
        self.expect_error(2, "--sl: '16' is not 0 to 15", "path", tables, "host0", "host1", "--sl",
                          "16")


class Files(Base):
    def test_there_and_back(self):
        tables = self.route("dragonfly:a=4,p=2,h=2,g=9", "tables", "--lmc", "1", "-e", "sssp")
        with open(os.path.join(tables, "opensm.mcfdbs"), "w") as file:
            file.write("\nSwitch 0x02005e1a00000001\nLID    : Out Port(s)\n"
                       "0xC000 : 0x001 0x003 \n0xC001 : 0x002 \n")
        with open(os.path.join(tables, "opensm-qos.conf"), "a") as file:
            file.write("qos_swe_high_limit 3\nqos_swe_vlarb_high 0:4,1:5\n")
        self.edit(os.path.join(tables, "opensm-sl2vl.dump"), r"^(3   5   : )0 ", r"\g<1>2 ")
        with open(os.path.join(tables, "opensm.psl"), "a") as file:
            file.write("@0x02005e1a00000003 40 2\n0x02005e1b00000011 44 3\n")
        ok("convert", tables, "-o", self.path("a.svr"))
        ok("convert", self.path("a.svr"), "--format", "tables", "-o", self.path("b"))
        ok("convert", self.path("b"), "-o", self.path("b.svr"))
        with open(self.path("a.svr"), "rb") as a, open(self.path("b.svr"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        plain(self.path("b"))
        for name in ("opensm-lfts.dump", "opensm-sl2vl.dump", "opensm-subnet.lst"):
            with open(os.path.join(tables, name)) as a, open(self.path("b/" + name)) as b:
                self.assertEqual(a.read(), b.read(), name)
        for name in ("opensm.mcfdbs", "opensm-qos.conf"):
            with open(self.path("b/" + name)) as file:
                self.assertIn({"opensm.mcfdbs": "0xC000 : 0x001 0x003 \n0xC001 : 0x002 \n",
                               "opensm-qos.conf": "qos_swe_vlarb_high 0:4,1:5"}[name], file.read())
        one, two = (ok("path", where, "host0", "lid 44", "--json").json
                    for where in (tables, self.path("b.svr")))
        self.assertEqual(one, two)
        self.assertEqual(one["sl"], 3)

    def test_sections_can_be_mapped(self):
        ok("route", "mesh:3,hosts=2", "-o", self.path("a.svr"))
        with open(self.path("a.svr"), "rb") as file:
            data = file.read()
        version, count, size = struct.unpack_from("<IIQ", data, 8)
        self.assertEqual((data[:8], version, size), (b"selvage\0", 1, len(data)))
        end = 0
        for i in range(count):
            name, _, offset, length = struct.unpack_from("<4sIQQ", data, 64 + 32 * i)
            self.assertEqual(offset % 64, 0, name)
            self.assertGreaterEqual(offset, end)
            end = offset + length
        self.assertLess(len(data) - end, 64)

    def test_damaged_files(self):
        ok("route", "torus:3", "-o", self.path("a.svr"))
        with open(self.path("a.svr"), "rb") as file:
            good = file.read()
        for change, message in ((lambda b: b[:-64], "its length is not what it says"),
                                (lambda b: b[:12] + struct.pack("<IQ", 40, 128) + bytes(104),
                                 "its length is not what it says"),
                                (lambda b: b[:700] + b"x" + b[701:], "its sum is wrong"),
                                (lambda b: b[:8] + b"\2" + b[9:], "version 2, this selvage reads 1"),
                                (lambda b: b"s" * 100, "neither a directory of tables nor")):
            with open(self.path("bad.svr"), "wb") as file:
                file.write(change(good))
            result = selvage("check", self.path("bad.svr"))
            self.assertIn(result.code, (3, 4), result.err)
            self.assertIn(message, result.err)

    def test_either_file_of_forwarding_tables(self):
        """opensm.fdbs tells the same, though not whose LIDs are whose."""
        for lmc in "0", "2":
            tables = self.route("torus:3x4,hosts=2", "t" + lmc, "--lmc", lmc, "-e", "sssp")
            ok("convert", tables, "-o", self.path("a.svr"))
            os.remove(os.path.join(tables, "opensm-lfts.dump"))
            ok("convert", tables, "-o", self.path("b.svr"))
            with open(self.path("a.svr"), "rb") as a, open(self.path("b.svr"), "rb") as b:
                self.assertEqual(a.read(), b.read())
        fdbs = os.path.join(tables, "opensm.fdbs")
        with open(fdbs) as file:
            good = file.read()
        for pattern, replacement, message in (
                (r"^0x0002 : \d+ .*", "0x0002 = 1", r":4: expected ':' after the LID"),
                (r"^0x0002 : \d+ .*", "0x0002 : x", r":4: expected a port"),
                (r"^0x0002 : \d+ .*", "0x0002 : 099", r":4: port 99 of switch .*, which has 6"),
                (r"^0x0002 : \d+ .*", "hello", r":4: neither a switch nor an entry: 'hello'"),
                (r"Switch 0x\w+", "Switch 0x", r":1: a guid is missing")):
            with open(fdbs, "w") as file:
                file.write(re.sub(pattern, replacement, good, count=1, flags=re.M))
            result = selvage("check", tables)
            self.assertEqual(result.code, 3, result.out)
            self.assertRegex(result.err, message)

    def test_hops_for_ibdmchk(self):
        """opensm.fdbs tells how far it is, and whether that is as short as can be."""
        tables = self.route("torus:5,hosts=1", "ring", "-e", "updn")
        with open(os.path.join(tables, "opensm.fdbs")) as file:
            blocks = re.split(r"^dump_ucast_routes: Switch .*\n", file.read(), flags=re.M)[1:]
        far = 0
        for s, block in enumerate(blocks):
            rows = re.findall(r"^0x(\w+) : (\d+)  : (\d+)   : (yes|no)$", block, flags=re.M)
            self.assertEqual([int(row[0], 16) for row in rows], list(range(1, 11)))
            for lid, port, hops, best in rows:
                to = int(lid, 16) - 1
                found = ok("path", tables, "sw%d" % s, "lid %d" % (to + 1), "--json").json["hops"]
                self.assertEqual(len(found), int(hops))
                self.assertEqual([hop["out_port"] for hop in found[:1]], [int(port)] * bool(found))
                round_it = abs(s - to % 5)
                self.assertEqual(best == "yes",
                                 int(hops) == min(round_it, 5 - round_it) + (to >= 5))
                far += best == "no"
        self.assertGreater(far, 0)
        self.edit(os.path.join(tables, "opensm-lfts.dump"), r"^0x000a 00[23].*\n", "")
        text = ok("convert", tables, "-f", "fdbs").out
        self.assertEqual(text.count("0x000A : UNREACHABLE"), 1)

    def test_tables_are_fabrics(self):
        tables = self.route("torus:3x3", "tables")
        self.assertEqual(ok("info", tables, "--json").json["switches"], 9)
        self.assertEqual(selvage("diff", tables, "torus:3x3").code, 0)
        ok("convert", tables, "-o", self.path("t.svr"))
        self.assertEqual(ok("info", self.path("t.svr"), "--json").json["links"], 18)

    def test_ibdmchk_psl(self):
        tables = self.route("mesh:2", "tables")
        text = ok("convert", tables, "-f", "ibdmchk-psl").out
        self.assertEqual(len(text.splitlines()), 2 * 4)
        self.assertTrue(text.startswith("0x02005e1b00000010 1 0\n"), text)

    def test_wrong_command_lines(self):
        tables = self.route()
        self.assertEqual(selvage("convert", tables, "-f", "tables").code, 2)
        self.assertEqual(selvage("convert", tables, "-f", "lfts", "--json").code, 2)


class Engines(Base):
    def test_list(self):
        names = [engine["name"] for engine in json.loads(ok("engines", "--json").out)]
        self.assertEqual(names, ["minhop", "sssp", "updn", "dnup", "dor", "dfsssp", "lash", "nue", "weave", "sar",
                                 "ftree", "dmodk", "torus2qos", "dla", "d3r", "sssp-df",
                                 "minhop-df"])
        for name in names:
            self.assertIn("\n" + name, "\n" + ok("engines").out)
        follow = {e["name"] for e in json.loads(ok("engines", "--json").out) if e["jobs"]}
        self.assertEqual(follow, {"sssp", "dfsssp", "nue", "weave", "sar"})


if __name__ == "__main__":
    unittest.main()
