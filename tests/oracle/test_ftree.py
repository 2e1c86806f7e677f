"""Engine ftree against a slow second implementation: the same chains on trees without failures,
shifts without contention, and on trees with failures paths between all hosts that levels join, up
and then down, as short as any such way.

Run: python3 -B tests/oracle/test_ftree.py [TRIALS [SEED]]
"""
import os
import random
import shutil
import sys
import tempfile
import unittest
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle
from support.command import ok, selvage
from support.trials import arguments
from ftree_oracle import Tree

TRIALS, SEED = arguments(120)

# As many hosts on each leaf as it has cables up; above, as many cables up as down.
FULL = ["kary:k=2,n=2,hosts=2", "kary:k=3,n=2,hosts=3", "kary:k=2,n=3,hosts=2",
        "kary:k=3,n=3,hosts=3", "kary:k=2,n=4,hosts=2", "kary:k=4,n=3,hosts=4",
        "kary:k=2,n=2,hosts=4,r=2", "kary:k=3,n=3,hosts=6,r=2", "xgft:h=1,m=6,w=3,hosts=3",
        "xgft:h=1,m=5,w=4,hosts=8,r=2", "xgft:h=2,m=3/4,w=2/3,hosts=2",
        "xgft:h=2,m=2/5,w=3/2,hosts=6,r=2", "xgft:h=3,m=2/3/2,w=2/2/3,hosts=2",
        "xgft:h=2,m=4/2,w=2/4,hosts=6,r=3"]
# Fewer cables up than down somewhere.
SLIM = ["xgft:h=1,m=6,w=2,hosts=4", "xgft:h=2,m=4/4,w=2/2,hosts=2", "xgft:h=2,m=4/3,w=2/2,hosts=4",
        "xgft:h=1,m=4,w=2,hosts=8,r=2", "kary:k=2,n=3,hosts=4", "kary:k=3,n=3,hosts=6",
        "xgft:h=2,m=6/6,w=3/3,hosts=3", "xgft:h=3,m=2/3/2,w=2/1/2,hosts=2",
        "xgft:h=2,m=4/2,w=2/2,hosts=4,r=2"]

# More cables than hosts need.
FEWER = ["kary:k=3,n=3,hosts=1", "kary:k=4,n=2,hosts=2", "kary:k=3,n=3,total=20",
         "xgft:h=2,m=3/4,w=3/3,hosts=1", "kary:k=2,n=4,hosts=1,r=2"]


def way(tables, source, lid):
    """The (switch, port)s of a packet from a host, and whether it arrives."""
    ending, hops = oracle.walk(tables, source, lid, 0)
    return ending, [(guid, port) for guid, port, _ in hops[1:]]


class Ftree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-ftree-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tables(self, fabric, *options):
        directory = self.path("tables")
        shutil.rmtree(directory, ignore_errors=True)
        ok("route", fabric, "-e", "ftree", "-o", directory, *options)
        return oracle.load(directory)

    def ways(self, tables, tree):
        """{(host, host): (switch, port)s}; all arrive."""
        found = {}
        for source in tree.leaf_of:
            for target in tree.leaf_of:
                if source != target:
                    ending, hops = way(tables, source, tables.nodes[target].lid)
                    self.assertEqual(ending, oracle.DELIVERED, (source, target))
                    found[source, target] = hops
        return found

    def assert_chains(self, tables, tree, ways):
        """Every hop of every way goes to the switch that the rules say."""
        chains = tree.route()
        for (_, target), hops in ways.items():
            for at, port in hops[:-1]:
                wanted = tree.next_switches(chains[target], at)
                self.assertEqual(len(wanted), 1)
                self.assertIn(tables.cables[at, port][0], wanted, (at, target))

    def assert_counts(self, tables, tree, ways):
        """As many hosts come down each cable as the rules say."""
        down = {}
        for (_, target), hops in ways.items():
            for at, port in hops[:-1]:
                far = tables.cables[at, port][0]
                if tree.level[far] < tree.level[at]:
                    down.setdefault((at, port), set()).add(target)
        for cable, hosts in tree.down.items():
            # Chains go on above the last switch that packets turn at.
            self.assertLessEqual(len(down.get(cable, ())), hosts, cable)
        self.assertEqual({cable: len(hosts) for cable, hosts in down.items()},
                         {cable: tree.down[cable] for cable in down})

    def max_in_shifts(self, tree, ways):
        order, most = tree.host_order(), 0
        for shift in range(1, len(order)):
            flows = Counter()
            for i, source in enumerate(order):
                flows.update(ways[source, order[(i + shift) % len(order)]])
            most = max(most, *flows.values())
        return most

    def test_full_trees(self):
        for spec in FULL:
            with self.subTest(spec):
                tables = self.tables(spec)
                tree = Tree(tables)
                ways = self.ways(tables, tree)
                self.assert_chains(tables, tree, ways)
                self.assert_counts(tables, tree, ways)
                self.assertEqual(self.max_in_shifts(tree, ways), 1)

    def test_slim_trees(self):
        for spec in SLIM:
            with self.subTest(spec):
                tables = self.tables(spec)
                tree = Tree(tables)
                ways = self.ways(tables, tree)
                self.assert_chains(tables, tree, ways)
                self.assert_counts(tables, tree, ways)

    def broken(self, rng):
        """A tree with failures that leave all hosts joined by some way or other."""
        path = self.path("broken.net")
        faults = []
        if rng.random() < 0.8:
            faults += ["--links", "%d%%" % rng.randint(1, 40)]
        if rng.random() < 0.5:
            faults += ["--switches", str(rng.randint(1, 4))]
        if rng.random() < 0.3:
            faults += ["--adapters", "%d%%" % rng.randint(1, 70)]
        if not faults:
            faults = ["--links", "2"]
        spec, seed = rng.choice(FULL + SLIM + FEWER), str(rng.randint(1, 9999))
        while (selvage("faults", spec, *faults, "--seed", seed, "-o", path).code != 0
               or selvage("convert", path, "-f", "subnet").code != 0):
            spec = rng.choice(FULL + SLIM + FEWER)
        return path, [spec, *faults, "--seed", seed]

    def test_trees_with_failures(self):
        trials = joined = 0
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("ftree %d" % trial)
            with self.subTest("python3 -B tests/oracle/test_ftree.py 1 %d" % trial):
                fabric, said = self.broken(rng)
                tables = self.tables(fabric, "--lmc", str(rng.choice((0, 0, 0, 1))), "--vls", "1")
                trials += 1
                joined += self.assert_short_ways(tables, said)
                self.assertFalse(any(oracle.forwarding_loops(tables, lid) for lid in tables.owner))
        if trials >= 60:  # else it is a matter of luck
            self.assertGreater(joined, trials / 2)

    def assert_short_ways(self, tables, said):
        """All LIDs of hosts are reached; by shortest ways up and then down if these join all hosts,
        which is the result."""
        tree = Tree(tables)
        distance = {leaf: tree.up_down_distance(leaf) for leaf in tree.hosts_on}
        joined = all(other in distance[leaf] for leaf in distance for other in distance)
        targets = [(lid, owner) for lid, owner in tables.owner.items() if owner in tree.leaf_of]
        for source, leaf in tree.leaf_of.items():
            for lid, owner in targets:
                if owner == source:
                    continue
                ending, hops = way(tables, source, lid)
                self.assertEqual(ending, oracle.DELIVERED, (source, lid, said))
                if not joined:
                    continue
                levels = [tree.level[at] for at, _ in hops]
                top = levels.index(max(levels))
                self.assertEqual(levels[:top + 1], sorted(set(levels[:top + 1])), said)
                self.assertEqual(levels[top:], sorted(set(levels[top:]), reverse=True), said)
                self.assertEqual(len(hops) - 1, distance[leaf][tree.leaf_of[owner]], said)
        return joined


if __name__ == "__main__":
    unittest.main()
