"""dla, d3r, sssp-df and minhop-df against rules that are written down here once more, in terms of
the coordinates in switches' names (g3-sw1) and of paths that are followed packet by packet: random
dragonflies of any arrangement, with several cables between groups, parallel ones, several addresses
a terminal, and with failures.

Run: python3 -B tests/oracle/test_dragonfly.py [TRIALS [SEED]]
"""
import os
import random
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle
from support.command import inject, ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(25)
ARRANGEMENTS = "absolute", "relative", "circulant", "palmtree"


def random_spec(rng):
    """A dragonfly that cannot be taken for another one: groups are larger than what global cables
    make look like groups."""
    while True:
        a, h = rng.randint(3, 6), rng.randint(1, 3)
        g = rng.randint(2, min(a * h + 1, 9))
        if a > h + 1 and a > a * h // (g - 1) + 1:
            return "dragonfly:a=%d,p=%d,h=%d,g=%d,arrangement=%s,r=%d" % (
                a, rng.randint(1, 2), h, g, rng.choice(ARRANGEMENTS), rng.choice((1, 1, 2)))


class Dragonfly:
    """Tables of a dragonfly, and where its switches are."""

    def __init__(self, directory):
        self.tables = oracle.load(directory)
        self.switches = oracle.switches_of(self.tables)
        self.group = {}
        for switch in self.switches:
            self.group[switch] = int(re.match(r"g(\d+)-", self.tables.nodes[switch].name)[1])
        self.ends = {}  # switch: {port: switch behind it}
        for (guid, port), (far, _) in self.tables.cables.items():
            if guid in self.group and far in self.group:
                self.ends.setdefault(guid, {})[port] = far

    def home(self, lid):
        owner = self.tables.owner[lid]
        if owner in self.group:
            return owner
        return next(far for (guid, _), (far, _) in self.tables.cables.items() if guid == owner)

    def next_hop(self, switch, lid):
        return self.ends[switch].get(self.tables.lft[switch][lid])

    def leads_to(self, switch, group):
        return any(self.group[far] == group for far in self.ends[switch].values())

    def follow(self, source, lid):
        """VLs of a path's hops between switches, for each SL that it may have."""
        for sl in oracle.sls_of(self.tables, source, lid, None, False, "any"):
            end, hops = oracle.walk(self.tables, source, lid, sl)
            assert end == oracle.DELIVERED, (source, lid, sl, end)
            yield sl, [hop for hop in hops if oracle.between_switches(self.tables, hop)]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-dragonfly-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def route(self, fabric, engine, *options):
        directory = os.path.join(self.folder, "tables")
        shutil.rmtree(directory, ignore_errors=True)
        report = ok("route", fabric, "-e", engine, "-o", directory, "--json", *options).json
        return Dragonfly(directory), report

    def broken(self, rng, spec, count):
        """A file of a fabric that lacks some cables."""
        path = os.path.join(self.folder, "fabric.net")
        ok("topo", spec, "-o", path)
        with open(path) as file:
            names = re.findall(r'^Switch.*?# "([^"]+)"', file.read(), re.M)
        for _ in range(count):
            inject(path, "--port", "%s/%d" % (rng.choice(names), rng.randint(3, 8)))
        return path

    def trials(self, what, count=TRIALS):
        for trial in range(SEED, SEED + count):
            rng = random.Random("%s %d" % (what, trial))
            spec = random_spec(rng)
            yield rng, spec

    def verified(self, dragonfly):
        found = oracle.verify(dragonfly.tables)
        for kind in "terminal_terminal", "terminal_switch", "switch_switch":
            self.assertTrue(found[kind], found["cycle"])
        self.assertEqual(sum(found["unreachable"].values()), 0)


class Dla(Case):
    def vls(self, dragonfly):
        """Fig. 8 of Maglione-Mathey et al. 2019: for each pair of ports and any SL."""
        for switch, ends in dragonfly.ends.items():
            mine = dragonfly.group[switch]
            for inp, before in ends.items():
                for out, after in ends.items():
                    last = dragonfly.group[before] != mine and dragonfly.group[after] == mine
                    for sl in range(16):
                        self.assertEqual(oracle.vl_of(dragonfly.tables, switch, inp, out, sl),
                                         1 if last else 0)
            for inp in {0} | {port for guid, port in dragonfly.tables.cables if guid == switch}:
                if inp not in ends:
                    for out in ends:
                        self.assertEqual(oracle.vl_of(dragonfly.tables, switch, inp, out, 0), 0)

    def rule(self, dragonfly):
        """Fig. 4, for each switch and destination."""
        for lid in dragonfly.tables.owner:
            home = dragonfly.home(lid)
            theirs = dragonfly.group[home]
            for switch in dragonfly.switches:
                to = dragonfly.next_hop(switch, lid)
                if switch == home:
                    self.assertIsNone(to)
                elif dragonfly.group[switch] == theirs:
                    self.assertEqual(to, home)
                elif dragonfly.leads_to(switch, theirs):
                    # Several cables: to a neighbour that is next to the home is as near.
                    if dragonfly.group[to] != theirs:
                        self.assertEqual(dragonfly.group[to], dragonfly.group[switch])
                        self.assertIn(home, dragonfly.ends[to].values())
                        self.assertNotIn(home, dragonfly.ends[switch].values())
                else:
                    self.assertEqual(dragonfly.group[to], dragonfly.group[switch])
                    self.assertTrue(dragonfly.leads_to(to, theirs))

    def test_rules(self):
        for rng, spec in self.trials("dla"):
            with self.subTest(spec):
                found, report = self.route(spec, "dla", "--lmc", str(rng.choice((0, 0, 1))))
                groups, size = int(re.search(r"g=(\d+)", spec)[1]), int(re.search(r"a=(\d+)", spec)[1])
                self.assertEqual(report["structure"]["groups"], groups)
                self.assertEqual(report["structure"]["size"], [size])
                self.assertEqual((report["sls_used"], report["vls_used"]), (1, 2))
                self.rule(found)
                self.vls(found)
                self.verified(found)

    def test_rules_with_failures(self):
        """What dla still does, it does by the rules, and it refuses exactly what is not complete."""
        refused = 0
        for rng, spec in self.trials("dla failed"):
            with self.subTest(spec):
                fabric = self.broken(rng, spec, rng.randint(1, 3))
                other, _ = self.route(fabric, "sssp", "--no-check")
                pairs = {(other.group[s], other.group[far]) for s, ends in other.ends.items()
                         for far in ends.values()}
                groups = set(other.group.values())
                whole = all((x, y) in pairs for x in groups for y in groups if x != y) and all(
                    t in other.ends.get(s, {}).values() for s in other.switches for t in other.switches
                    if s != t and other.group[s] == other.group[t])
                result = selvage("route", fabric, "-e", "dla", "--json", "-o",
                                 os.path.join(self.folder, "tables"))
                self.assertEqual(result.code, 0 if whole else 4, result.err)
                if whole:
                    found = Dragonfly(os.path.join(self.folder, "tables"))
                    self.rule(found)
                    self.vls(found)
                else:
                    refused += 1
                    self.assertRegex(result.err, r"no cable joins .*'g\d+-sw\d+' and 'g\d+-sw\d+'")
        if TRIALS >= 25:  # else it is a matter of luck
            self.assertTrue(0 < refused < TRIALS or TRIALS < 10)


class D3r(Case):
    def one_global_hop(self, dragonfly, source, hops):
        groups = [dragonfly.group[hop[0]] for hop in hops]
        if hops:
            groups.append(dragonfly.group[dragonfly.tables.cables[hops[-1][0], hops[-1][1]][0]])
        changes = sum(a != b for a, b in zip(groups, groups[1:]))
        self.assertLessEqual(changes, 1, source)
        return groups

    def test_vls_follow_the_order_of_groups(self):
        """Also with local cables gone: one global hop, and one VL for the whole path."""
        routed = 0
        for rng, spec in self.trials("d3r"):
            with self.subTest(spec):
                fabric = self.broken(rng, spec, rng.randint(0, 2))
                result = selvage("route", fabric, "-e", "d3r", "--no-check", "-o",
                                 os.path.join(self.folder, "tables"))
                if result.code == 4:
                    self.assertRegex(result.err, r"'g\d+-sw\d+'")
                    continue
                self.assertEqual(result.code, 0, result.err)
                routed += 1
                found = Dragonfly(os.path.join(self.folder, "tables"))
                for source in found.tables.nodes:
                    for lid, owner in found.tables.owner.items():
                        if owner == source:
                            continue
                        for sl, hops in found.follow(source, lid):
                            groups = self.one_global_hop(found, source, hops)
                            vl = 1 if groups and groups[-1] < groups[0] else 0
                            self.assertEqual({hop[2] for hop in hops} - {vl}, set())
                self.verified(found)
        if TRIALS >= 25:  # else it is a matter of luck
            self.assertGreater(routed, TRIALS // 3)


class LaneHopping(Case):
    def test_hop_n_is_on_vl_n(self):
        specs = ["dragonfly:a=4,p=1,h=2,g=9", "slimfly:q=3,hosts=1", "hyperx:3x3,hosts=1",
                 "dragonfly+:l=2,s=2,p=1,h=2,g=5", "torus:4x3,hosts=1"]
        for trial in range(SEED, SEED + TRIALS // 4 + 1):
            rng = random.Random("hops %d" % trial)
            spec, engine = rng.choice(specs), rng.choice(("sssp-df", "minhop-df"))
            with self.subTest(spec, engine=engine, trial=trial):
                directory = os.path.join(self.folder, "tables%d" % trial)
                report = ok("route", spec, "-e", engine, "-o", directory, "--json", "--seed",
                            str(trial), "--lmc", str(rng.choice((0, 1))), "--option",
                            "sls=" + rng.choice(("few", "first"))).json
                tables = oracle.load(directory)
                longest, used = 0, set()
                for source in tables.nodes:
                    for lid, owner in tables.owner.items():
                        if owner == source:
                            continue
                        for sl in oracle.sls_of(tables, source, lid, None, False, "any"):
                            end, hops = oracle.walk(tables, source, lid, sl)
                            self.assertEqual(end, oracle.DELIVERED)
                            hops = [hop for hop in hops if oracle.between_switches(tables, hop)]
                            self.assertEqual([hop[2] for hop in hops], list(range(len(hops))))
                            longest = max(longest, len(hops))
                            used.add(sl)
                self.assertEqual(report["vls_used"], longest)
                self.assertEqual(report["sls_used"], len(used))


if __name__ == "__main__":
    unittest.main()
