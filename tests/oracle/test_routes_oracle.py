"""
The oracle for forwarding tables (routes_oracle.py, check_proof.py) on tiny fabrics whose answers
are known: rings deadlock, lines do not, a dateline breaks a ring's cycle (Dally and Seitz 1987).

Run: python3 -B tests/oracle/test_routes_oracle.py
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle  # noqa: E402
from support.trials import trials  # noqa: E402

CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_proof.py")
NONE = {"terminal_terminal": 0, "terminal_switch": 0, "switch_terminal": 0, "switch_switch": 0}
VERDICTS = "terminal_terminal", "terminal_switch", "switch_switch"


def switch(i):
    return "0x%016x" % (0xa00 + i)


def host(i):
    return "0x%016x" % (0xb00 + i)


# A fabric and its files ---------------------------------------------------------------------------

class Fabric:
    """Switches 0, 1, … with LID 1, 2, …; then hosts 0, 1, … with 2 ** lmc LIDs each."""

    def __init__(self, switches, cables, hosts, lmc=0):
        self.switches, self.cables, self.lmc = switches, cables, lmc
        self.hosts = hosts  # of each host the (switch, port) it is in
        self.lft = {s: {} for s in range(switches)}
        self.sl2vl, self.psl, self.masks, self.names = None, None, None, {}
        self.one_direction = False

    def base(self, i):
        start = -(-(self.switches + 1) // 2 ** self.lmc)
        return (start + i) * 2 ** self.lmc

    def lids(self):
        """{LID: (the switch where it is, port there or 0)}"""
        found = {s + 1: (s, 0) for s in range(self.switches)}
        for i, place in enumerate(self.hosts):
            found.update({self.base(i) + j: place for j in range(2 ** self.lmc)})
        return found

    def route(self, way):
        """way(switch, target switch, LID): the port to leave by."""
        for lid, (target, port) in self.lids().items():
            for s in range(self.switches):
                self.lft[s][lid] = port if s == target else way(s, target, lid)
        return self

    def end(self, s, port):
        name = self.names.get(("switch", s), f"sw {s}")
        return (f"{{ SW Ports:24 SystemGUID:{s:016x} NodeGUID:{switch(s)[2:]} "
                f"PortGUID:{switch(s)[2:]} VenID:000000 DevID:0000 Rev:000000A1 {{{name}}} "
                f"LID:{s + 1:04X} PN:{port:02X} }}")

    def host_end(self, i):
        name = self.names.get(("host", i), f"host{i}")
        return (f"{{ {'CA' if i else 'CA-SM'} Ports:01 SystemGUID:{i:016x} "
                f"NodeGUID:{0xc00 + i:016x} PortGUID:{host(i)[2:]} VenID:00000000 DevID:0000 "
                f"Rev:000000A1 {{{name}}} LID:{self.base(i):04X} PN:01 }}")

    def subnet(self):
        for (a, a_port), (b, b_port) in self.cables:
            yield self.end(a, a_port), self.end(b, b_port)
        for i, (s, port) in enumerate(self.hosts):
            yield self.end(s, port), self.host_end(i)

    def owner_guid(self, lid):
        if lid <= self.switches:
            return "Switch", switch(lid - 1)
        return "Channel Adapter", host((lid >> self.lmc) - (self.base(0) >> self.lmc))

    def lfts(self):
        for s, table in self.lft.items():
            yield f"Unicast lids [0-99] of switch Lid {s + 1} guid {switch(s)} ('sw {s}'):"
            for lid, port in sorted(table.items()):
                kind, guid = self.owner_guid(lid)
                yield f"0x{lid:04x} {port:03d} # {kind} portguid {guid}: 'name'"
            yield "99 lids dumped"

    def vl_blocks(self):
        """From {("switch", s): {(in, out): VLs}, ("host", i): VLs}."""
        for (kind, i), rows in self.sl2vl.items():
            guid, lid = (switch(i), i + 1) if kind == "switch" else (host(i), self.base(i))
            word = "Switch" if kind == "switch" else "Channel Adapter"
            yield f'{word} {guid}, base LID {lid}, "name"'
            yield "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15"
            for (come, go), vls in (rows if kind == "switch" else {(0, 0): rows}).items():
                yield f"{come:<3} {go:<3} : " + "".join(f"{vl:<2} " for vl in vls)
            yield "#--------------------------------------------------------\n"

    def mask_blocks(self):
        for s, masks in self.masks.items():
            yield f"\nSwitch {switch(s)}\nLID    : Out Port(s)"
            for mlid, ports in masks.items():
                yield f"0x{mlid:04X} :" + "".join(f" 0x{port:03X} " for port in sorted(ports))

    def write(self, directory):
        lines = [f"{pair[0]} {pair[1]} PHY=4x LOG=ACT SPD=10" for pair in self.subnet()]
        if not self.one_direction:
            lines += [f"{pair[1]} {pair[0]} PHY=4x LOG=ACT SPD=10" for pair in self.subnet()]
        files = {"opensm-subnet.lst": lines, "opensm-lfts.dump": self.lfts(),
                 "opensm-sl2vl.dump": None if self.sl2vl is None else self.vl_blocks(),
                 "opensm.psl": self.psl,
                 "opensm.mcfdbs": None if self.masks is None else self.mask_blocks()}
        for name, content in files.items():
            if content is not None:
                with open(os.path.join(directory, name), "w", encoding="latin-1") as file:
                    file.writelines(line + "\n" for line in content)

    def load(self):
        with tempfile.TemporaryDirectory() as directory:
            self.write(directory)
            return oracle.load(directory)

    def verify(self, **options):
        return oracle.verify(self.load(), **options)


# Well-known fabrics: port 1 goes clockwise (or up a line), port 2 the other way, 3 to a host -----

def ring(size, hosts=None, **options):
    cables = [((i, 1), ((i + 1) % size, 2)) for i in range(size)]
    places = [(i, 3) for i in (range(size) if hosts is None else hosts)]
    return Fabric(size, cables, places, **options)


def line(size, **options):
    fabric = ring(size, **options)
    fabric.cables.pop()
    return fabric.route(lambda s, target, lid: 1 if target > s else 2)


def clockwise(fabric):
    return fabric.route(lambda s, target, lid: 1)


def dateline_ring():
    """Four switches, clockwise; packets that pass from 3 to 0 have SL 1, and from there VL 1."""
    fabric = clockwise(ring(4))
    late = [0, 1] + [0] * 14
    fabric.sl2vl = {("switch", 0): {(2, 1): late}, ("switch", 1): {(2, 1): late}}
    fabric.psl = [f"@{switch(s)} {lid} {int(target < s)}" for s in range(4)
                  for lid, (target, _) in fabric.lids().items()]
    return fabric


class Deadlock(unittest.TestCase):
    def test_clockwise_ring_deadlocks(self):
        result = clockwise(ring(4)).verify()
        for verdict in VERDICTS:
            self.assertFalse(result[verdict])
        self.assertTrue(result["multicast"])
        self.assertEqual(result["cycle_of"], "terminal_terminal")
        self.assertEqual(sorted(result["cycle"]), [(switch(i), 1, 0) for i in range(4)])
        self.assertEqual((result["vls_used"], result["dependencies"], result["loops"]), (1, 4, 0))
        self.assertEqual(result["unreachable"], NONE)

    def test_line_does_not(self):
        result = line(4).verify()
        for verdict in VERDICTS:
            self.assertTrue(result[verdict])
        self.assertIsNone(result["cycle"])
        self.assertEqual((result["vls_used"], result["dependencies"], result["loops"]), (1, 4, 0))
        self.assertEqual(result["unreachable"], NONE)

    def test_shortest_ways_on_rings(self):
        """Ring of three: one hop, nothing to wait for. Of five: two hops each way, a cycle."""
        for size, free in ((3, True), (5, False)):
            way = ring(size).route(lambda s, t, lid: 1 if (t - s) % size <= size // 2 else 2)
            self.assertEqual(way.verify()["switch_switch"], free)

    def test_verdicts_are_cumulative(self):
        """Clockwise ring of three: c0->c1 is 0 to 2, c1->c2 is 1 to 0, c2->c0 is 2 to 1."""
        for hosts, verdicts in (((0, 1, 2), (False, False, False)), ((0, 1), (True, False, False)),
                                ((0,), (True, True, False)), ((), (True, True, False))):
            result = clockwise(ring(3, hosts)).verify()
            self.assertEqual(tuple(result[verdict] for verdict in VERDICTS), verdicts, hosts)
            self.assertEqual(result["cycle_of"], VERDICTS[verdicts.index(False)])
            self.assertEqual(result["dependencies"], 3)

    def test_undelivered_packets_wait_too(self):
        """Nobody is reached over the ring, for the last switch drops all; c3 -> c0 still exists."""
        fabric = clockwise(ring(4))
        self.assertFalse(fabric.verify()["switch_switch"])
        for s in range(4):  # to the switch before s: three hops, and no entry there
            del fabric.lft[s][s + 1]
        result = fabric.verify()
        self.assertFalse(result["switch_switch"])
        self.assertEqual(result["unreachable"]["switch_switch"], 12)
        self.assertEqual(result["unreachable"]["terminal_terminal"], 0)


class Lanes(unittest.TestCase):
    def test_dateline_breaks_the_cycle(self):
        result = dateline_ring().verify()
        for verdict in VERDICTS:
            self.assertTrue(result[verdict])
        self.assertEqual((result["vls_used"], result["dependencies"]), (2, 5))
        self.assertEqual(result["unreachable"], NONE)

    def test_one_service_level_for_all_brings_it_back(self):
        for sl in (0, 1):
            self.assertFalse(dateline_ring().verify(assume_sl=sl)["terminal_terminal"], sl)

    def test_unknown_service_level(self):
        fabric = dateline_ring()
        fabric.psl = [text for text in fabric.psl if text.endswith(" 1")]
        self.assertFalse(fabric.verify()["switch_switch"])
        self.assertTrue(fabric.verify(unknown_sl=0)["switch_switch"])
        fabric.psl = None
        self.assertFalse(fabric.verify(unknown_sl=0)["switch_switch"])

    def test_max_specific_service_level_wins(self):
        fabric = dateline_ring()
        lids = fabric.lids()
        fabric.psl = [f"{host(0)} {lid} 0  # of one port" for lid in lids] + fabric.psl
        fabric.psl += [f"* {lid} 1" for lid in lids] + [f"{switch(0)} {lid} 0" for lid in lids]
        self.assertEqual(fabric.verify(), dateline_ring().verify())
        fabric.psl = [f"{host(1)} {lid} 7" for lid in lids] + [f"@{switch(1)} 5 6", "* 5 4"]
        tables = fabric.load()
        said = [oracle.said_sl(tables, node, 5) for node in (host(1), switch(1), host(2))]
        self.assertEqual(said, [7, 6, 4])
        self.assertIsNone(oracle.said_sl(tables, host(2), 8))

    def test_reversible_adds_the_way_back(self):
        """Every pair then has SL 0 and 1, the cycle of SL 0 among them."""
        self.assertFalse(dateline_ring().verify(reversible=True)["terminal_terminal"])
        same = dateline_ring()
        same.psl = [f"* {lid} 3" for lid in same.lids()]
        self.assertEqual(same.verify(reversible=True), same.verify())

    def test_reversible_with_more_lids(self):
        fabric = line(2, lmc=1)
        a, b = fabric.base(0), fabric.base(1)
        fabric.psl = [f"* {lid} 9" for lid in fabric.lids()]
        fabric.psl += [f"{host(0)} {b} 1", f"{host(1)} {a} 2", f"{host(1)} {a + 1} 3"]
        tables = fabric.load()
        self.assertEqual(oracle.sls_of(tables, host(0), b, None, True, "any"), {1, 2, 3})
        self.assertEqual(oracle.sls_of(tables, host(0), b + 1, None, True, "any"), {9, 2, 3})
        self.assertEqual(oracle.sls_of(tables, host(0), b, None, False, "any"), {1})
        self.assertEqual(oracle.sls_of(tables, host(0), b, 5, True, "any"), {5})

    def test_vl_of_each_hop(self):
        fabric = line(3)
        fabric.sl2vl = {("switch", 0): {(3, 1): [2] * 16, (0, 1): [6] * 16},
                        ("switch", 1): {(2, 1): [3] * 16}, ("host", 0): list(range(15)) + [0]}
        tables = fabric.load()
        lid = fabric.base(2)
        self.assertEqual(oracle.walk(tables, host(0), lid, 9), ("delivered", [
            (host(0), 1, 9), (switch(0), 1, 2), (switch(1), 1, 3), (switch(2), 3, 0)]))
        self.assertEqual(oracle.walk(tables, switch(0), lid, 9), ("delivered", [
            (switch(0), 1, 6), (switch(1), 1, 3), (switch(2), 3, 0)]))
        self.assertEqual(oracle.verify(tables)["vls_used"], 4)

    def test_vl_15_discards(self):
        fabric = line(3)
        drop = [0] * 8 + [15] * 8
        fabric.sl2vl = {("switch", 1): {(2, 1): drop}}
        for sl, count in ((0, 0), (7, 0), (8, 1)):
            result = fabric.verify(assume_sl=sl)
            self.assertEqual(result["unreachable"], {kind: count for kind in NONE})
        result = fabric.verify()
        self.assertEqual(result["unreachable"], {kind: 1 for kind in NONE})
        self.assertEqual(result["unreachable_every_sl"], NONE)
        fabric.sl2vl = {("host", 1): drop}
        self.assertEqual(fabric.verify(assume_sl=15)["unreachable"],
                         NONE | {"terminal_terminal": 2, "terminal_switch": 3})

    def test_vl_15_ends_the_dependencies(self):
        fabric = clockwise(ring(4))
        fabric.sl2vl = {("switch", 0): {(2, 1): [15] * 16}}
        result = fabric.verify()
        self.assertTrue(result["switch_switch"])
        self.assertEqual(result["dependencies"], 3)


class Reachability(unittest.TestCase):
    def test_ping_pong(self):
        fabric = line(2)
        fabric.lft[1][fabric.base(1)] = 2
        result = fabric.verify()
        self.assertEqual(result["loops"], 1)
        self.assertEqual(result["unreachable"],
                         NONE | {"terminal_terminal": 1, "switch_terminal": 2})
        self.assertEqual(sorted(result["cycle"]), [(switch(0), 1, 0), (switch(1), 2, 0)])

    def test_round_and_round(self):
        fabric = clockwise(ring(4, hosts=[0]))
        fabric.lft[0][fabric.base(0)] = 1
        result = fabric.verify()
        self.assertEqual(result["loops"], 1)
        self.assertEqual(result["unreachable"], NONE | {"switch_terminal": 4})

    def test_loops_are_counted_per_lid(self):
        """Two islands of ping-pong for one LID, and one for another."""
        fabric = line(5)
        for s, port in ((0, 1), (1, 2), (2, 1), (3, 2)):
            fabric.lft[s][fabric.base(4)] = port
        fabric.lft[3][5] = 2
        fabric.lft[2][5] = 1
        self.assertEqual(fabric.verify()["loops"], 3)

    def test_cable_from_a_switch_to_itself(self):
        fabric = Fabric(1, [((0, 1), (0, 2))], [(0, 3), (0, 4)]).route(lambda s, target, lid: 1)
        fabric.lft[0][fabric.base(1)] = 1
        result = fabric.verify()
        self.assertEqual(result["loops"], 1)
        self.assertEqual(result["unreachable"],
                         NONE | {"terminal_terminal": 1, "switch_terminal": 1})
        self.assertEqual(result["cycle"], [(switch(0), 1, 0)])

    def test_vl_changes_on_the_second_round(self):
        """The loop of VL 0 is entered on VL 5 from the host: one turn more until it repeats."""
        fabric = line(2)
        lid = fabric.base(1)
        fabric.lft[1][lid] = 2
        fabric.sl2vl = {("switch", 0): {(3, 1): [5] * 16}}
        self.assertEqual(oracle.walk(fabric.load(), host(0), lid, 0), ("loop", [
            (host(0), 1, 0), (switch(0), 1, 5), (switch(1), 2, 0), (switch(0), 1, 0),
            (switch(1), 2, 0)]))

    def test_dead_ends(self):
        """No entry, port 255, a port without cable, port 0 of another switch, a wrong terminal."""
        for port in (None, 255, 20, 0, 4):
            fabric = line(3)
            fabric.hosts.append((1, 4))
            fabric.route(lambda s, target, lid: 1 if target > s else 2)
            fabric.lft[1][fabric.base(2)] = port
            if port is None:
                del fabric.lft[1][fabric.base(2)]
            result = fabric.verify()
            # To host 2: from the three other hosts and from switches 0 and 1.
            self.assertEqual(result["unreachable"],
                             NONE | {"terminal_terminal": 3, "switch_terminal": 2}, port)
            self.assertEqual(result["loops"], 0)
            self.assertEqual(oracle.verify_transition(fabric.load(), fabric.load())["dead_ends"], 3)

    def test_switch_that_sends_its_own_lid_away(self):
        fabric = line(2)
        fabric.lft[1][2] = 2
        result = fabric.verify()
        self.assertEqual(result["loops"], 1)
        self.assertEqual(result["unreachable"], NONE | {"terminal_switch": 2, "switch_switch": 1})

    def test_switch_without_table(self):
        fabric = line(3)
        fabric.lft.pop(1)
        result = fabric.verify()
        # All that is left is host 0 with switch 0, and host 2 with switch 2.
        self.assertEqual(result["unreachable"], {"terminal_terminal": 6, "terminal_switch": 7,
                                                 "switch_terminal": 7, "switch_switch": 6})


class Reading(unittest.TestCase):
    def test_lmc(self):
        fabric = line(3, lmc=2)
        tables = fabric.load()
        self.assertEqual(oracle.lids_of(tables, host(1)), list(range(8, 12)))
        self.assertEqual(oracle.lids_of(tables, switch(1)), [2])
        del fabric.lft[1][fabric.base(2) + 3]
        self.assertEqual(fabric.verify()["unreachable"],
                         NONE | {"terminal_terminal": 2, "switch_terminal": 2})

    def test_ways_of_all_lids_count(self):
        """Second LID of each host clockwise, first one along the line."""
        fabric = ring(4, lmc=1).route(lambda s, t, lid: 1 if lid % 2 or t > s else 2)
        self.assertFalse(fabric.verify()["terminal_terminal"])
        fabric = ring(4, lmc=1).route(lambda s, t, lid: 1 if t > s else 2)
        self.assertTrue(fabric.verify()["terminal_terminal"])

    def test_names_and_directions(self):
        fabric = dateline_ring()
        expected = fabric.verify()
        fabric.names = {("switch", 0): "a {b} 'c' : #\xe9", ("host", 1): "} { LID:12"}
        fabric.one_direction = True
        self.assertEqual(fabric.verify(), expected)
        tables = fabric.load()
        self.assertEqual(tables.nodes[switch(0)].name, "a {b} 'c' : #\xe9")
        self.assertEqual(len(tables.cables), 16)

    def test_ports_above_nine(self):
        """Ports are hex in the subnet list and the masks, decimal in the forwarding tables."""
        fabric = Fabric(2, [((0, 18), (1, 31))], [(0, 10), (1, 11)])
        fabric.route(lambda s, target, lid: 31 if s else 18)
        fabric.masks = {0: {0xc001: {10, 18}}}
        tables = fabric.load()
        self.assertEqual(oracle.verify(tables)["unreachable"], NONE)
        self.assertEqual(tables.masks, {switch(0): {0xc001: {10, 18}}})

    def test_unreadable(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertRaises(ValueError, oracle.load, directory)
            line(2).write(directory)
            for name in ("opensm-subnet.lst", "opensm-lfts.dump", "opensm-sl2vl.dump", "opensm.psl",
                         "opensm.mcfdbs"):
                line(2).write(directory)
                with open(os.path.join(directory, name), "a", encoding="latin-1") as file:
                    file.write("this is nothing we know of\n")
                self.assertRaises(ValueError, oracle.load, directory)
                os.remove(os.path.join(directory, name))


class Multicast(unittest.TestCase):
    def test_tree_and_ring(self):
        fabric = line(4)
        fabric.masks = {s: {0xc000: {1, 2, 3}} for s in range(4)}
        self.assertTrue(fabric.verify()["multicast"])
        fabric = ring(4).route(lambda s, t, lid: 1 if t > s else 2)
        fabric.masks = {s: {0xc000: {1, 3}} for s in range(4)}
        result = fabric.verify()
        self.assertFalse(result["multicast"])
        self.assertTrue(result["switch_switch"])
        self.assertEqual(result["cycle_of"], "multicast")
        self.assertEqual(sorted(result["cycle"]), [(switch(i), 1, 0) for i in range(4)])
        fabric.masks[2] = {0xc000: {3}, 0xc001: {1}}
        self.assertTrue(fabric.verify()["multicast"])

    def test_trees_together(self):
        """Each group alone is a piece of the ring, all of them close it."""
        fabric = ring(4).route(lambda s, t, lid: 1 if t > s else 2)
        groups = {0xc000 + i: {i, (i + 1) % 4} for i in range(4)}
        fabric.masks = {s: {mlid: {1, 3} for mlid, where in groups.items() if s in where}
                        for s in range(4)}
        self.assertFalse(fabric.verify()["multicast"])
        fabric.masks[0].pop(0xc000)
        self.assertTrue(fabric.verify()["multicast"])

    def test_not_back_where_it_came_from(self):
        fabric = line(2)
        fabric.masks = {0: {0xc000: {1, 3}}, 1: {0xc000: {2, 3}}}
        self.assertTrue(fabric.verify()["multicast"])

    def test_vls_of_service_level_0(self):
        fabric = ring(4).route(lambda s, t, lid: 1 if t > s else 2)
        fabric.masks = {s: {0xc000: {1, 3}} for s in range(4)}
        fabric.sl2vl = {("switch", 0): {(2, 1): [1] * 16}, ("switch", 1): {(2, 1): [1] * 16}}
        self.assertFalse(fabric.verify()["multicast"])
        fabric.sl2vl = {("switch", 0): {(2, 1): [15] + [0] * 15}}
        self.assertTrue(fabric.verify()["multicast"])


class Transition(unittest.TestCase):
    def test_two_lines_of_one_ring(self):
        """Each avoids one cable of the ring; a packet can bounce between the two."""
        old = ring(4).route(lambda s, t, lid: 1 if t > s else 2)
        new = ring(4).route(lambda s, t, lid: 1 if (t - 2) % 4 > (s - 2) % 4 else 2)
        for fabric in (old, new):
            self.assertTrue(fabric.verify()["switch_switch"])
        result = oracle.verify_transition(old.load(), new.load())
        self.assertEqual((result["loop"], result["deadlock_free"], result["dead_ends"]),
                         (True, False, 0))

    def test_deadlock_without_loop(self):
        """Opposite corners: half of the clockwise ways in the old, the other half in the new."""
        def corners(parity):
            ports = {1: 1, 3: 2}
            return ring(4).route(lambda s, t, lid: ports.get((t - s) % 4, 1 + (t + parity) % 2))
        old, new = corners(0), corners(1)
        for fabric in (old, new):
            self.assertTrue(fabric.verify()["switch_switch"])
        result = oracle.verify_transition(old.load(), new.load())
        self.assertEqual((result["loop"], result["deadlock_free"], result["dead_ends"]),
                         (False, False, 0))

    def test_dead_ends_of_the_old_table(self):
        old, new = line(3), line(3)
        del old.lft[1][old.base(2)]
        result = oracle.verify_transition(old.load(), new.load())
        self.assertEqual((result["loop"], result["deadlock_free"], result["dead_ends"]),
                         (False, True, 2))
        self.assertEqual(oracle.verify_transition(new.load(), new.load())["dead_ends"], 0)

    def test_dead_end_at_the_sender(self):
        """A packet that comes back to its own terminal is at a wrong one."""
        fabric = line(2)
        fabric.lft[0][fabric.base(1)] = 3
        self.assertEqual(oracle.verify_transition(fabric.load(), fabric.load())["dead_ends"], 1)

    def test_new_vls_in_some_switches_only(self):
        """The dateline's table in switch 0 is not yet there: SL 1 goes round on VL 0."""
        old, new = dateline_ring(), dateline_ring()
        self.assertTrue(oracle.verify_transition(old.load(), new.load())["deadlock_free"])
        old.sl2vl = None
        self.assertFalse(oracle.verify_transition(old.load(), new.load())["deadlock_free"])
        self.assertFalse(oracle.verify_transition(new.load(), old.load())["deadlock_free"])

    def test_old_service_levels(self):
        old, new = dateline_ring(), dateline_ring()
        old.psl = [f"* {lid} 0" for lid in old.lids()]
        self.assertFalse(oracle.verify_transition(old.load(), new.load())["deadlock_free"])

    def test_discards(self):
        old, new = line(3), line(3)
        old.sl2vl = {("switch", 1): {(2, 1): [15] * 16}}
        result = oracle.verify_transition(old.load(), new.load())
        self.assertEqual((result["dead_ends"], result["dead_ends_or_discards"]), (0, 1))

    def test_subnet_is_that_of_the_new(self):
        """The old ring lost the cable from 3 to 0: what was sent there is a dead end."""
        old = clockwise(ring(4))
        result = oracle.verify_transition(old.load(), line(4).load())
        self.assertTrue(result["loop"])
        self.assertEqual(result["dead_ends"], 6)  # from s to t < s


# Random tables, one check against another ---------------------------------------------------------

def random_fabric(rng):
    """A random tree with some more cables, ways mostly along the tree, VLs and SLs at random."""
    size = rng.randint(2, 6)
    pairs = [(rng.randrange(i), i) for i in range(1, size)]
    pairs += [tuple(rng.sample(range(size), 2)) for _ in range(rng.randint(0, 3))]
    next_port, cables = [1] * size, []
    for pair in pairs:
        cables.append(tuple((s, next_port[s]) for s in pair))
        for s in pair:
            next_port[s] += 1
    fabric = Fabric(size, cables, [(s, next_port[s]) for s in range(size) if rng.random() < .8],
                    lmc=rng.choice((0, 0, 1)))
    ports = {}
    for (a, a_port), (b, b_port) in cables[:size - 1]:
        ports[a, b], ports[b, a] = a_port, b_port

    def way(s, target, lid):
        if rng.random() < .06:
            return rng.randint(0, next_port[s])
        ancestors = [target]
        while ancestors[-1]:
            ancestors.append(pairs[ancestors[-1] - 1][0])
        below = next((child for child in ancestors if child and pairs[child - 1][0] == s), None)
        return ports[s, below if below is not None else pairs[s - 1][0]]

    fabric.route(way)
    if rng.random() < .6:
        fabric.sl2vl = {("switch", s): {(come, go): rng.choices((0, 1, 2, 15), (9, 3, 3, 1), k=16)
                                        for come in range(4) for go in range(1, 4)}
                        for s in range(size)}
        fabric.sl2vl.update({("host", i): list(range(16)) for i in range(len(fabric.hosts) // 2)})
    if rng.random() < .6:
        lids = fabric.lids()
        fabric.psl = [f"* {lid} {rng.randrange(16)}" for lid in lids if rng.random() < .8]
        fabric.psl += [f"@{switch(s)} {lid} {rng.randrange(16)}" for s in range(size)
                       for lid in lids if rng.random() < .3]
        fabric.psl += [f"{host(i)} {lid} {rng.randrange(16)}" for i in range(len(fabric.hosts))
                       for lid in lids if rng.random() < .3]
    return fabric


def unicast_graph(tables):
    """All (channels, dependencies) of all unicast packets."""
    traffic = oracle.unicast(tables).values()
    return (set().union(*(kind.channels for kind in traffic)),
            set().union(*(kind.dependencies for kind in traffic)))


def ranks(channels, dependencies):
    """A number for each vertex, larger than those before it; a cycle's members get none."""
    number, left = {}, set(channels)
    while True:
        free = {c for c in left if not any(b == c and a in left for a, b in dependencies)}
        if not free:
            return number
        number.update({c: len(number) + i for i, c in enumerate(sorted(free))})
        left -= free


def check_proof(directory, text):
    path = os.path.join(directory, "proof")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return subprocess.run([sys.executable, "-B", CHECKER, directory, path], capture_output=True,
                          text=True, timeout=120)


def proof_text(number):
    lines = [f"{guid} {port} {vl} {value}\n" for (guid, port, vl), value in number.items()]
    return "selvage-proof 1\n# made by a test\n" + "".join(lines)


class Proof(unittest.TestCase):
    def test_by_hand(self):
        fabric = Fabric(1, [], [(0, 1), (0, 2)]).route(None)
        numbers = [f"{host(0)} 1 0 1", f"{host(1)} 1 0 1",
                   f"{switch(0)} 1 0 2", f"{switch(0)} 2 0 3"]
        good = "\n".join(["selvage-proof 1", "# comment", *numbers, ""])
        with tempfile.TemporaryDirectory() as directory:
            fabric.write(directory)
            result = check_proof(directory, good)
            self.assertEqual(result.stdout, "proof holds: 2 dependencies\n")
            self.assertEqual(result.returncode, 0)
            for text, code in ((good.replace("0 3", "0 1"), 1), (good.replace("0 3", "0 0"), 1),
                               (good.replace(numbers[2], ""), 1), (good.replace(numbers[0], ""), 1),
                               (good.replace("proof 1", "proof 2"), 2), ("", 2), (good + "x\n", 2)):
                result = check_proof(directory, text)
                self.assertEqual(result.returncode, code, text)
                self.assertNotIn("holds", result.stdout)
            os.remove(os.path.join(directory, "opensm-lfts.dump"))
            self.assertEqual(check_proof(directory, good).returncode, 2)
        self.assertEqual(subprocess.run([sys.executable, "-B", CHECKER], capture_output=True,
                                        timeout=60).returncode, 2)

    def test_dateline(self):
        fabric = dateline_ring()
        with tempfile.TemporaryDirectory() as directory:
            fabric.write(directory)
            number = ranks(*unicast_graph(oracle.load(directory)))
            self.assertEqual(check_proof(directory, proof_text(number)).returncode, 0)
            os.remove(os.path.join(directory, "opensm.psl"))
            self.assertEqual(check_proof(directory, proof_text(number)).returncode, 1)

    def test_random_tables(self):
        rng, seen = random.Random("proofs"), set()
        for _ in range(max(8, trials(40))):
            fabric = random_fabric(rng)
            with tempfile.TemporaryDirectory() as directory:
                fabric.write(directory)
                tables = oracle.load(directory)
                channels, dependencies = unicast_graph(tables)
                number = ranks(channels, dependencies)
                free = len(number) == len(channels)
                seen.add(free)
                self.assertEqual(oracle.verify(tables)["switch_switch"], free)
                for c in channels:
                    number.setdefault(c, 0)
                result = check_proof(directory, proof_text(number))
                self.assertEqual(result.returncode, 0 if free else 1)
                if free and dependencies:
                    self.assertIn(f": {len(dependencies)} dependencies\n", result.stdout)
                    a, b = rng.choice(sorted(dependencies))
                    number[a], number[b] = number[b], number[a]
                    self.assertEqual(check_proof(directory, proof_text(number)).returncode, 1)
                    del number[rng.choice(sorted(number))]
                    self.assertEqual(check_proof(directory, proof_text(number)).returncode, 1)
        self.assertEqual(seen, {True, False})


class Same(unittest.TestCase):
    def test_transition_to_itself(self):
        """Nothing to mix: the verdicts are those of the tables alone."""
        rng = random.Random("same")
        for _ in range(trials(60)):
            tables = random_fabric(rng).load()
            alone, both = oracle.verify(tables), oracle.verify_transition(tables, tables)
            self.assertEqual(both["deadlock_free"], alone["switch_switch"])
            self.assertEqual(both["loop"], alone["loops"] > 0)
            self.assertLessEqual(both["dead_ends"], alone["unreachable"]["terminal_terminal"])
            if not both["loop"]:
                self.assertEqual(both["dead_ends_or_discards"],
                                 alone["unreachable"]["terminal_terminal"])

    def test_transition_by_trying_all_mixtures(self):
        """Every switch has wholly the old or wholly the new tables, in all combinations."""
        rng = random.Random("mixtures")
        for _ in range(trials(15)):
            one = random_fabric(rng)
            old = one.load()
            one.route(lambda s, t, lid: one.lft[s][lid] if rng.random() < .7 else rng.randint(1, 3))
            new = one.load()
            either = oracle.verify_transition(old, new)
            dead, loop, dependencies = set(), False, set()
            for choice in range(2 ** one.switches):
                mixed = oracle.on_subnet_of(new, new)
                mixed.lft = {switch(s): (old, new)[choice >> s & 1].lft[switch(s)]
                             for s in range(one.switches)}
                loop |= any(oracle.forwarding_loops(mixed, lid) for lid in mixed.owner)
                dependencies |= unicast_graph(mixed)[1]
                mixed.sl2vl = None
                dead |= {(source, lid) for kind, source, lid in oracle.pairs(mixed)
                         if kind == "terminal_terminal"
                         and oracle.walk(mixed, source, lid, 0)[0] == "dead end"}
            self.assertEqual((either["loop"], either["dead_ends"]), (loop, len(dead)))
            if either["deadlock_free"]:
                self.assertIsNone(oracle.find_cycle(dependencies))
            elif not loop:
                self.assertIsNotNone(oracle.find_cycle(dependencies))


if __name__ == "__main__":
    unittest.main()
