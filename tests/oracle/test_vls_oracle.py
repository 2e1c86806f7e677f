"""
The oracle for VLs (vls_oracle.py) where answers are known, or can be had by trying everything.

Run: python3 -B tests/oracle/test_vls_oracle.py
"""
import itertools
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import vls_oracle as oracle  # noqa: E402
from support.trials import trials  # noqa: E402
from test_routes_oracle import ring, switch  # noqa: E402

NO_LIMIT = 10 ** 9


def word(text):
    """A path whose channels are the letters."""
    return tuple(text)


def clockwise(switches, hops):
    """All clockwise paths of so many hops in a ring."""
    return [tuple((start + i) % switches for i in range(hops)) for start in range(switches)]


def graph_of(switches, cables):
    """{switch: {port: switch}} from pairs of switches."""
    graph = {switch: {} for switch in range(switches)}
    for a, b in cables:
        for near, far in ((a, b), (b, a)):
            graph[near][len(graph[near]) + 1] = far
    return graph


def ring_graph(switches):
    return graph_of(switches, [(i, (i + 1) % switches) for i in range(switches)])


def by_trying(paths, most=9):
    """The fewest VLs: every way to put every path into every VL."""
    paths = list(paths)
    for vls in range(1, most + 1):
        for choice in itertools.product(range(vls), repeat=len(paths)):
            if oracle.acyclic_per_vl(dict(enumerate(paths)), dict(enumerate(choice))):
                return vls
    return None


def over_trees_by_trying(graph, sources):
    """The fewest VLs: every choice of a tree for every destination, then as for given paths."""
    best = None
    for trees in itertools.product(*(list(oracle.trees_to(graph, target, NO_LIMIT))
                                     for target in graph)):
        paths = {path for target, tree in zip(graph, trees)
                 for path in oracle.paths_in_tree(tree, graph if target in sources else sources)}
        vls = oracle.minimum_vls(paths, patience=NO_LIMIT)
        best = vls if best is None else min(best, vls)
    return best


def random_graph(rng, switches, cables):
    """Connected, perhaps with parallel cables."""
    pairs = [(i, rng.randrange(i)) for i in range(1, switches)]
    while len(pairs) < cables:
        pairs.append(tuple(rng.sample(range(switches), 2)))
    return graph_of(switches, pairs)


class Cycles(unittest.TestCase):
    def test_cycles(self):
        self.assertFalse(oracle.has_cycle([]))
        self.assertFalse(oracle.has_cycle([(1, 2), (2, 3), (1, 3)]))
        self.assertTrue(oracle.has_cycle([(1, 2), (2, 3), (3, 2)]))
        self.assertTrue(oracle.has_cycle([(1, 1)]))

    def test_edges_on_cycles(self):
        edges = {(1, 2), (2, 1), (2, 3), (3, 4), (4, 3), (4, 5), (0, 1), (6, 6)}
        self.assertEqual(oracle.on_cycles(edges), {(1, 2), (2, 1), (3, 4), (4, 3), (6, 6)})

    def test_vls(self):
        paths = dict(enumerate(clockwise(5, 2)))
        self.assertFalse(oracle.acyclic_per_vl(paths, {key: 0 for key in paths}))
        self.assertTrue(oracle.acyclic_per_vl(paths, {key: int(key == 3) for key in paths}))


class GivenPaths(unittest.TestCase):
    def test_nothing_to_do(self):
        self.assertEqual(oracle.minimum_vls([]), 1)
        self.assertEqual(oracle.minimum_vls([(), (1,), (2,)]), 1)
        self.assertEqual(oracle.minimum_vls([(1, 2), (2, 3), (1, 2, 3)]), 1)

    def test_of_the_paper(self):
        """IPDPS'11, III.A: p1 = bc, p2 = abc, p3 = cdab."""
        self.assertEqual(oracle.minimum_vls(map(word, ("bc", "abc", "cdab"))), 2)
        self.assertEqual(oracle.minimum_vls(map(word, ("bc", "abc"))), 1)
        self.assertEqual(oracle.minimum_vls(map(word, ("cda", "ab", "da"))), 1)

    def test_ring_of_five(self):
        self.assertEqual(oracle.minimum_vls(clockwise(5, 2)), 2)
        self.assertEqual(oracle.minimum_vls(clockwise(5, 2)[1:]), 1)

    def test_rings(self):
        """A VL has no cycle if and only if it misses one of the n dependencies of the ring. A
        path of h hops misses n - h + 1 consecutive ones, and ceil(n / m) points are needed to have
        one in each m consecutive ones."""
        for switches in range(3, 10):
            for hops in range(2, switches + 1):
                wanted = -(-switches // (switches - hops + 1))
                self.assertEqual(oracle.minimum_vls(clockwise(switches, hops)), wanted)

    def test_limits(self):
        self.assertEqual(oracle.minimum_vls(clockwise(6, 6), most=6), 6)
        self.assertIsNone(oracle.minimum_vls(clockwise(6, 6), most=5))
        self.assertIsNone(oracle.minimum_vls([(1, 2, 1)]))
        with self.assertRaises(oracle.TooHard):
            oracle.minimum_vls(clockwise(9, 9), patience=5)

    def test_apart(self):
        """Two rings at once need no more VLs than the worse of them."""
        both = [tuple((name, i) for i in path) for name, paths in
                (("x", clockwise(7, 7)), ("y", clockwise(5, 2))) for path in paths]
        self.assertEqual(oracle.minimum_vls(both, patience=2000), 7)

    def test_bundles(self):
        """Four two-hop paths around a ring of four: alone 2 VLs; opposite ones together, too;
        three in one bundle and one alone, too; all four in one bundle never."""
        a, b, c, d = clockwise(4, 2)
        for bundles in (([a, c], [b, d]), ([a, b, c], [d])):
            self.assertEqual(oracle.minimum_vls_of_bundles(bundles), 2)
        self.assertIsNone(oracle.minimum_vls_of_bundles([[a, b, c, d]]))

    def test_trying_everything(self):
        rng = random.Random(1)
        seen = set()
        for _ in range(trials(400)):
            channels = rng.randint(3, 6)
            paths = [tuple(rng.sample(range(channels), rng.randint(2, channels)))
                     for _ in range(rng.randint(2, 6))]
            wanted = by_trying(paths)
            self.assertEqual(oracle.minimum_vls(paths), wanted, paths)
            seen.add(wanted)
        self.assertGreaterEqual(seen, {1, 2, 3, 4})


class AnyShortestPaths(unittest.TestCase):
    def over_trees(self, graph, sources=None):
        return oracle.minimum_vls_over_trees(graph, set(graph if sources is None else sources))

    def test_trees(self):
        self.assertEqual(self.over_trees(graph_of(6, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)])), 1)
        self.assertEqual(len(list(oracle.trees_to(ring_graph(6), 0, 99))), 2)
        self.assertEqual(len(list(oracle.trees_to(graph_of(2, [(0, 1)] * 3), 0, 99))), 3)

    def test_rings(self):
        """In a ring of four each pair of opposite switches can go either way round; from five
        switches on all the paths of two hops are fixed and close two cycles."""
        for switches, wanted in ((3, 1), (4, 1), (5, 2), (6, 2), (7, 2), (8, 2)):
            self.assertEqual(self.over_trees(ring_graph(switches)), wanted)

    def test_few_terminals(self):
        """Only 0 and 2 send to all of five, and only these are sent to by all."""
        self.assertEqual(self.over_trees(ring_graph(5), [0]), 1)
        self.assertEqual(self.over_trees(ring_graph(5), [0, 2]), 1)
        self.assertEqual(self.over_trees(ring_graph(5), []), 1)

    def test_dimension_order(self):
        """Meshes, and tori with rings of at most three: x before y is enough."""
        for rows, columns in ((2, 3), (3, 3)):
            at = {(x, y): x * columns + y for x in range(rows) for y in range(columns)}
            mesh = [(at[x, y], at[far]) for x, y in at for far in ((x + 1, y), (x, y + 1))
                    if far in at]
            around = [(at[0, y], at[rows - 1, y]) for y in range(columns) if rows > 2]
            around += [(at[x, 0], at[x, columns - 1]) for x in range(rows)]
            self.assertEqual(self.over_trees(graph_of(len(at), mesh)), 1)
            self.assertEqual(self.over_trees(graph_of(len(at), mesh + around)), 1)

    def test_trying_everything(self):
        rng = random.Random(2)
        for _ in range(trials(60)):
            switches = rng.randint(4, 6)
            graph = random_graph(rng, switches, switches + rng.randint(0, 1))
            sources = set(rng.sample(range(switches), rng.randint(1, switches)))
            ways = 1
            for target in graph:
                ways *= len(list(oracle.trees_to(graph, target, NO_LIMIT)))
            if ways <= 3000:
                self.assertEqual(self.over_trees(graph, sources),
                                 over_trees_by_trying(graph, sources), (graph, sources))


class Files(unittest.TestCase):
    """The ring of test_routes_oracle.py: port 1 is clockwise, 2 the other way, 3 a terminal."""

    def tables(self, size, way, psl=(), **options):
        fabric = ring(size, **options).route(way)
        fabric.psl = ["* %d 1" % lid for lid in fabric.lids()] + list(psl)
        fabric.sl2vl = {("switch", s): {(come, go): [0, s == 2] + [0] * 14 for come in range(4)
                                        for go in range(1, 4)} for s in range(size)}
        return fabric.load()

    def test_paths(self):
        tables = self.tables(5, lambda s, target, lid: 1)
        paths = oracle.paths_of(tables)
        self.assertEqual(len(paths), 50)
        self.assertEqual({len(path) for path in paths.values()}, set(range(5)))
        self.assertEqual(oracle.minimum_vls(paths.values()), 3)
        self.assertEqual(oracle.hops_too_many(tables), 10 * (1 + 3))
        self.assertEqual(oracle.minimum_vls_of_minimal_routing(tables), 2)
        shortest = self.tables(5, lambda s, target, lid: 1 if (target - s) % 5 < 3 else 2)
        self.assertEqual(oracle.hops_too_many(shortest), 0)
        self.assertEqual(oracle.minimum_vls(oracle.paths_of(shortest).values()), 2)
        self.assertEqual(oracle.minimum_vls_of_pairs(shortest), 2)

    def test_what_counts(self):
        """Terminals at 0 and 1 only: 5 switches send to 2 terminals, 2 to 5 switches; if strict,
        5 to 5 and 5 to 2."""
        tables = self.tables(5, lambda s, target, lid: 1, hosts=[0, 1])
        self.assertEqual(len(oracle.paths_of(tables)), 20)
        self.assertEqual(len(oracle.paths_of(tables, strict=True)), 35)

    def test_vls(self):
        """VL 1 behind switch 2: a path over it changes VLs."""
        tables = self.tables(3, lambda s, target, lid: 1 if (target - s) % 3 == 1 else 2)
        paths, vls = oracle.vls_of(tables)
        self.assertEqual({vl for (start, _), vl in vls.items()
                          if paths[start, _][0][0].endswith("2")}, {1})
        self.assertEqual(set(vls.values()), {0, 1})
        with self.assertRaises(ValueError):
            oracle.vls_of(self.tables(4, lambda s, target, lid: 1))

    def test_pairs(self):
        """A ring of three: switches have LID 1, 2, 3, terminals 4, 5, 6."""
        def shortest(s, target, lid):
            return 1 if (target - s) % 3 == 1 else 2

        tables = self.tables(3, shortest)
        self.assertEqual(oracle.pairs_with_several_paths(tables), set())
        self.assertEqual(oracle.pairs_with_several_sls(tables), set())
        tables = self.tables(3, shortest, [f"@{switch(0)} 5 0"])
        self.assertEqual(oracle.pairs_with_several_sls(tables), {frozenset((switch(0), switch(1)))})
        tables = self.tables(3, lambda s, target, lid: 3 - shortest(s, target, lid)
                             if (s, lid) == (0, 5) else shortest(s, target, lid))
        self.assertEqual(oracle.pairs_with_several_paths(tables), {(switch(0), switch(1))})

    def test_broken_tables(self):
        with self.assertRaisesRegex(ValueError, "circles"):
            oracle.paths_of(self.tables(4, lambda s, target, lid: 1 + s % 2))
        with self.assertRaisesRegex(ValueError, "end at"):
            oracle.paths_of(self.tables(4, lambda s, target, lid: 3))


if __name__ == "__main__":
    unittest.main()
