"""
`selvage topo` against the second constructions of topology_rules.py, the papers' tables and closed
forms.

Run: SELVAGE=path/of/selvage python3 -B tests/oracle/test_topologies.py
"""
import itertools
import math
import os
import re
import tempfile
import unittest
from collections import Counter

from topology_rules import *  # noqa: F403
from support.trials import stride  # noqa: E402


class Definitions(Case):
    def test_random_specs(self):
        for rng, spec, (names, cables) in draws("graphs", 25):
            r = rng.choice((1, 1, 2, 3))
            self.check_graph(spec + (f",r={r}" if r > 1 else ""), names, cables, r)

    def test_rules_said_in_words(self):
        self.assertEqual(Fabric("torus:2,r=3").cables, {frozenset(("sw0", "sw1")): 3})
        self.assertEqual(Fabric("torus:1x1").cables, {})
        self.assertEqual(Fabric("kautz:d=2,k=2").cables[frozenset(("sw0.1", "sw1.0"))], 2)

    def test_every_arrangement_of_larger_dragonflies(self):
        for way in ARRANGEMENTS:
            for a, h, g in ((4, 2, 9), (10, 5, 4), (6, 3, 19), (3, 3, 10), (4, 4, 6), (5, 1, 2)):
                self.check_graph(f"dragonfly:a={a},h={h},g={g},arrangement={way}", *dragonfly(a, h, g, way))
                self.check_graph(f"dragonfly+:l=3,s={a},h={h},g={g},arrangement={way}",
                                 *dragonfly_plus(3, a, h, g, way))
        self.assertEqual(topo_bytes("dragonfly:a=4,h=2,g=9"),
                         topo_bytes("dragonfly:a=4,h=2,g=9,arrangement=absolute"))

    def test_trees_of_the_papers(self):
        self.check_graph("kary:k=5,n=3", *kary(5, 3))
        self.check_graph("xgft:h=2,m=6/6,w=3/3", *xgft((6, 6), (3, 3)))
        self.check_graph("xgft:h=1,m=22,w=11", *xgft((22,), (11,)))
        self.check_graph("xgft:h=2,m=4/4,w=4/4", *kary(4, 3))
        self.check_graph("xgft:h=0", *xgft((), ()))

    def test_same_graph_under_another_name(self):
        for one, other in (("hypercube:1", "mesh:2"), ("hyperx:2x2x2", "mesh:2x2x2"),
                           ("expressmesh:7x6,gap=1", "hyperx:7x6"), ("expressmesh:7x6,gap=99", "torus:7x6"),
                           ("flatfly:k=3,n=4", "hyperx:3x3x3"), ("fullmesh:7", "hyperx:7"),
                           ("hyperx:4x3,k=2/2", "hyperx:4x3,r=2")):
            self.assertEqual(Fabric(one).cables, Fabric(other).cables, one)

    def test_slimfly(self):
        for q in (3, 4, 5, 7, 8, 9, 11, 13, 16, 17)[::stride(2)]:
            f = Fabric(f"slimfly:q={q}")
            self.assertEqual(len(f.names), 2 * q * q)
            self.assertEqual(set(f.cables.values()), {1}, q)
            self.assertEqual(set(degrees(f.names, f.cables).values()), {(3 * q - SLIMFLY_DELTA[q % 4]) // 2}, q)
            table = neighbours(f.names, f.cables)
            for v in table:
                within_two = {v}.union(table[v], *(table[n] for n in table[v]))
                self.assertEqual(len(within_two), 2 * q * q, (q, v))
            self.assertLess(max(map(len, table.values())), 2 * q * q - 1, "diameter 1")
            self.assertTrue(any((set(f.names), f.cables) == slimfly(q, field) for field in fields(q)),
                            f"q={q}: no primitive element gives these cables")

    def test_hoffman_singleton(self):
        """Strongly regular (50, 7, 0, 1), so of girth 5; there is only one such graph."""
        f = Fabric("slimfly:q=5")
        table = neighbours(f.names, f.cables)
        self.assertEqual([len(table[v]) for v in table], [7] * 50)
        for v, w in itertools.combinations(table, 2):
            self.assertEqual(len(table[v].keys() & table[w].keys()), int(w not in table[v]))

    def test_cascade(self):
        for g in (1, 2, 3, 6, 7, 8, 10, 11, 25)[::stride(2)]:
            with self.subTest(groups=g):
                self.check_cascade(g)
        self.assertEqual(self.counts("cascade:g=2,global=96")[2], 2 * 1440 + 96)

    def check_cascade(self, g):
        f = Fabric(f"cascade:g={g}")
        self.assertEqual(set(f.names), {f"g{i}-x{a}-y{b}" for i in range(g) for a in range(16) for b in range(6)})
        between, at_switch, inside = Counter(), Counter(), Counter()
        for pair, count in f.cables.items():
            (i, a, b), (j, c, d) = (map(int, re.findall(r"\d+", n)) for n in pair)
            if i != j:
                between[frozenset((i, j))] += count
                at_switch.update({n: count for n in pair})
            else:
                self.assertEqual(count, 1 if b == d else 3, pair)
                self.assertEqual((a != c) + (b != d), 1, pair)
                inside[i] += count
        self.assertEqual(set(inside.values()), {96 * 15 // 2 + 3 * 96 * 5 // 2})
        self.assertEqual(len(between), math.comb(g, 2))
        self.assertLessEqual(len(set(between.values())), 1, "pairs of groups have as many cables each")
        if g == 2:
            self.assertEqual(between.total(), 192)
        self.assertLessEqual(max(at_switch.values(), default=0), 10, "an Aries switch has 10 global ports")
        self.assertEqual(set(f.hosts.values()), {8})


class RandomFamilies(Case):
    def test_random(self):
        for n, links, radix, seed in ((5, 5, 9, 1), (8, 20, 9, 2), (32, 256, 24, 3), (125, 1000, 36, 4),
                                      (2, 1, 4, 1), (3, 12, 9, 5), (40, 158, 9, 6)):
            spec = f"random:switches={n},links={links},radix={radix},seed={seed}"
            f = Fabric(spec)
            self.assertEqual(set(f.names), {f"sw{i}" for i in range(n)})
            self.assertEqual(f.cables.total(), links, spec)
            for i in range(n if n > 2 else n - 1):
                self.assertGreaterEqual(f.cables[frozenset((f"sw{i}", f"sw{(i + 1) % n}"))], 1, spec)
            self.assertTrue(all(len(p) == 2 for p in f.cables), "a cable to itself")
            self.assertLessEqual(max(degrees(f.names, f.cables).values()) + 1, radix, spec)
            self.assertEqual(run("topo", spec, "--format", "json").stdout, topo_bytes(spec))

    def test_random_doubles_with_r(self):
        one, two = (Fabric(f"random:switches=9,links=20,seed=3{r}").cables for r in ("", ",r=2"))
        self.assertEqual(two, one + one)

    def test_random_favours_no_pair(self):
        cables = Fabric("random:switches=6,links=3006,seed=1").cables
        for i in range(6):
            cables[frozenset((f"sw{i}", f"sw{(i + 1) % 6}"))] -= 1
        chi_square = sum((c - 200) ** 2 / 200 for c in cables.values())
        self.assertEqual(len(cables), 15)
        self.assertLess(chi_square, 45)  # 14 degrees of freedom: p < 0.0001

    def test_jellyfish(self):
        for n, degree, seed in ((4, 3, 1), (10, 3, 2), (64, 8, 1), (9, 4, 7), (12, 11, 3), (50, 2, 1), (2, 1, 1),
                                (40, 38, 2), (150, 148, 1)):
            spec = f"jellyfish:switches={n},degree={degree},seed={seed}"
            with self.subTest(spec=spec):
                f = Fabric(spec)
                self.assertEqual(set(f.cables.values()), {1})
                self.assertTrue(all(len(p) == 2 for p in f.cables), "a cable to itself")
                self.assertEqual(set(degrees(f.names, f.cables).values()), {degree})
                self.assertEqual(len(distances(neighbours(f.names, f.cables), "sw0")), n)
                self.assertEqual(run("topo", spec, "--format", "json").stdout, topo_bytes(spec))

    def test_seeds_differ_and_the_default_is_one(self):
        for spec in ("random:switches=20,links=60", "jellyfish:switches=20,degree=4"):
            seen = [frozenset(Fabric(f"{spec},seed={s}").cables.items()) for s in range(1, 21)]
            self.assertEqual(len(set(seen)), 20, spec)
            self.assertEqual(topo_bytes(spec), topo_bytes(spec + ",seed=1"))


class Systems(Case):
    def check_system(self, spec, switches, terminals, links, radix):
        f = Fabric(spec)
        self.assertEqual((len(f.names), f.hosts.total(), f.cables.total()), (switches, terminals, links), spec)
        self.assertLessEqual(max(map(max, f.ports.values())), radix, spec)
        self.assertEqual(len(distances(neighbours(f.names, f.cables), f.names[0])), switches, spec)
        return f

    def check_layers(self, f, rank, same=()):
        """Cables join neighbouring layers only; terminals are on the lowest."""
        for pair in f.cables:
            a, b = sorted(rank(n) for n in pair)
            self.assertTrue(b - a == 1 or (a, b) in same, pair)
        self.assertEqual({rank(n) for n in f.hosts}, {0})

    def test_deimos(self):
        f = self.check_system("deimos", 108, 729, 924, 24)
        self.assertEqual(f.cables.total() + f.hosts.total(), 1653)  # as published, with the hosts
        self.check_layers(f, lambda n: int("spine" in n), same=((0, 0),))
        between = Counter()
        for pair, count in f.cables.items():
            between[frozenset(n[:2] for n in pair)] += count
        self.assertEqual(between, {frozenset(("d0",)): 288, frozenset(("d1",)): 288, frozenset(("d2",)): 288,
                                   frozenset(("d0", "d1")): 30, frozenset(("d1", "d2")): 30})
        for d in range(3):
            for leaf, spine in itertools.product(range(24), range(12)):
                self.assertEqual(f.cables[frozenset((f"d{d}-leaf{leaf}", f"d{d}-spine{spine}"))], 1)

    def test_deimos_total(self):
        for total in (744, 729, 728, 726, 724, 600, 100, 15, 14, 3, 0):
            with self.subTest(total=total):
                f = Fabric(f"deimos:total={total}")
                self.assertEqual(f.hosts.total(), total)
        f = Fabric("deimos:total=744")
        by_director = Counter()
        for n, count in f.hosts.items():
            by_director[n[:2]] += count
        self.assertEqual(by_director, {"d0": 258, "d1": 228, "d2": 258})

    def test_tsubame2(self):
        def rank(n):
            return 0 if n.startswith("edge") else 1 if "leaf" in n else 2
        for spec, counts in (("tsubame2:rail=1", (258, 1555, 3621)), ("tsubame2:rail=2", (243, 1408, 3384))):
            f = self.check_system(spec, *counts, 36)
            self.check_layers(f, rank)
            up = Counter()
            for pair, count in f.cables.items():
                up.update({n: count for n in pair if rank(n) == 0})
            self.assertGreaterEqual(up.total(), f.hosts.total(), "full bisection bandwidth")
        self.assertEqual(topo_bytes("tsubame2"), topo_bytes("tsubame2:rail=1"))

    def test_taurus(self):
        f = self.check_system("taurus", 211, 2090, 2490, 36)
        self.assertEqual(f.cables.total() + f.hosts.total(), 4580)  # thesis 3.2.6
        def rank(n):
            return 2 * n.startswith("core") + ("spine" in n)
        self.check_layers(f, rank)
        island = Counter()
        for n, count in f.hosts.items():
            island[n.split("-")[0]] += count
        self.assertEqual(len(island), 6)
        name = {s["node"]: s["name"] for s in f.raw["switches"]}
        slow = {name[min(c["a"], c["b"])].split("-")[0] for c in f.raw["cables"]
                if c["speed"] == "QDR" and max(c["a"], c["b"]) not in name}
        self.assertEqual([island[i] for i in slow], [180])  # one QDR island
        self.assertEqual({c["speed"] for c in f.raw["cables"]}, {"QDR", "FDR"})
        all_qdr = Fabric("t61-taurus")
        self.assertEqual({c["speed"] for c in all_qdr.raw["cables"]}, {"QDR"})
        self.assertEqual(all_qdr.cables, f.cables)


class CommonRules(Case):
    def check_rules(self, spec, per_leaf=None, total=None, radix=None):
        f = Fabric(spec)
        for name, used in f.ports.items():
            self.assertEqual(sorted(used), list(range(1, len(used) + 1)), f"{spec}: {name} has gaps")
            inner = [used[p] is None for p in sorted(used)]
            self.assertEqual(inner, sorted(inner, reverse=True), f"{spec}: {name}: terminals first")
            self.assertLessEqual(len(used), f.declared[name], spec)
            if radix:
                self.assertEqual(f.declared[name], radix, spec)
        self.check_spread(spec, f, per_leaf, total)
        guids = [d["guid"] for kind in ("switches", "adapters", "terminals") for d in f.raw[kind]]
        self.assertEqual(len(guids), len(set(guids)), f"{spec}: GUIDs")
        ends = [(c[s], c[s + "_port"]) for c in f.raw["cables"] for s in "ab"]
        self.assertEqual(len(ends), len(set(ends)), f"{spec}: a cable twice, or two in a port")
        nodes = [d["node"] for kind in ("switches", "terminals") for d in f.raw[kind]]
        self.assertEqual(sorted(nodes), list(range(len(nodes))), spec)
        self.assertLessEqual({e[0] for e in ends}, set(nodes), spec)
        return f

    def check_spread(self, spec, f, per_leaf, total):
        leaves = [n for n in f.names if is_leaf(n)]
        each, extra = divmod(total, len(leaves)) if total is not None else (per_leaf, 0)
        self.assertEqual([f.hosts[n] for n in leaves], [each + (i < extra) for i in range(len(leaves))], spec)
        self.assertEqual(f.hosts.total(), each * len(leaves) + extra, f"{spec}: terminals above the leaves")
        self.assertEqual(len(f.raw["terminals"]), f.hosts.total(), spec)

    def test_random_specs(self):
        for rng, spec, _ in draws("rules", 12):
            self.check_rules(spec, per_leaf=1)
            n, r = rng.randint(0, 40), rng.randint(1, 3)
            self.check_rules(f"{spec},total={n},r={r}", total=n)
            self.check_rules(f"{spec},hosts={n % 7},radix=200", per_leaf=n % 7, radix=200)

    def test_other_families(self):
        for spec in ("random:switches=9,links=20", "jellyfish:switches=10,degree=3", "slimfly:q=4", "cascade:g=2"):
            self.check_rules(spec + ",total=47", total=47)
            self.check_rules(spec + ",hosts=2", per_leaf=2)
        self.check_rules("dragonfly:a=3,p=4,h=1,g=3", per_leaf=4)
        self.check_rules("dragonfly+:l=3,s=2,p=4,h=1,g=3", per_leaf=4)

    def test_same_bytes(self):
        specs = [spec for _, spec, _ in draws("bytes", 2)] + ["deimos", "taurus", "tsubame2:rail=2", "slimfly:q=9"]
        for spec in specs:
            for threads in ("1", "2"):
                again = run("topo", spec, "--format", "json", "--threads", threads).stdout
                self.assertEqual(again, topo_bytes(spec), spec)

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.json")
            done = run("topo", "torus:3x3", "--format", "json", "-o", path)
            self.assertEqual((done.returncode, os.listdir(folder)), (0, ["f.json"]))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), topo_bytes("torus:3x3"))

    def test_radix(self):
        for rng, spec, _ in draws("radix", 5):
            r, hosts = rng.randint(1, 2), rng.randint(1, 3)
            spec = f"{spec},r={r},hosts={hosts}"
            f = Fabric(spec)
            needs = {n: f.hosts[n] + d for n, d in degrees(f.names, f.cables).items()}
            limit = max(needs.values())
            self.check_rules(f"{spec},radix={limit}", per_leaf=hosts, radix=limit)
            if limit == 1:
                continue
            no = run("topo", f"{spec},radix={limit - 1}")
            self.assertEqual((no.returncode, no.stdout, no.stderr.count("\n")), (4, "", 1), spec)
            said = no.stderr.rsplit(f"radix={limit - 1}", 1)[1]
            named = [n for n in names_in(said) if n in needs]
            self.assertEqual(len(named), 1, no.stderr)
            self.assertEqual(needs[named[0]], limit, no.stderr)
            self.assertLessEqual({limit, limit - 1}, set(map(int, re.findall(r"\d+", said))), no.stderr)

    def test_ports_of_grids(self):
        for spec, dims in (("mesh:4x3x2", (4, 3, 2)), ("torus:4x3x5,hosts=2", (4, 3, 5)), ("torus:6,r=2", (6,)),
                           ("mesh:5x5,r=2", (5, 5)), ("torus:2x5x1,r=3", (2, 5, 1)), ("torus:3x3x3", (3, 3, 3))):
            f = Fabric(spec)
            for name, used in f.ports.items():
                order = [self.step(name, used[p], dims) for p in sorted(used) if used[p]]
                self.assertEqual(order, sorted(order), f"{spec}: {name}")

    def step(self, name, other, dims):
        """(dimension, 0 for minus or 1 for plus)."""
        at, to = ([int(i) for i in re.findall(r"\d+", n)] for n in (name, other))
        d, = (d for d in range(len(dims)) if at[d] != to[d])
        return d, int((at[d] - 1) % dims[d] != to[d])

    def test_ports_of_dimensions_and_levels(self):
        for spec in ("hyperx:3x4x2,k=2/1/3", "expressmesh:7x5,gap=2", "flatfly:k=3,n=4"):
            for name, used in Fabric(spec).ports.items():
                dims = [next(d for d, (i, j) in enumerate(zip(name[2:].split("-"), used[p][2:].split("-"))) if i != j)
                        for p in sorted(used) if used[p]]
                self.assertEqual(dims, sorted(dims), f"{spec}: {name}")
        flips = {tuple(int(name[2:]) ^ int(used[p][2:]) for p in sorted(used) if used[p])
                 for name, used in Fabric("hypercube:4").ports.items()}
        self.assertIn(flips, ({(1, 2, 4, 8)}, {(8, 4, 2, 1)}))  # which bit is the lowest, nobody says
        for spec in ("kary:k=3,n=3,hosts=2", "xgft:h=3,m=2/3/2,w=2/1/3"):
            for name, used in Fabric(spec).ports.items():
                levels = [level_of(used[p]) for p in sorted(used) if used[p]]
                self.assertEqual(levels, sorted(levels), f"{spec}: {name}")

    def test_cable_keys(self):
        def kinds(spec):
            return {(c["speed"], c["width"], c["mtu"], c["vls"]) for c in Fabric(spec).raw["cables"]}
        self.assertEqual(kinds("mesh:3"), {("QDR", 4, 2048, 8)})
        self.assertEqual(kinds("mesh:3,speed=EDR,width=12,mtu=4096,vls=15"), {("EDR", 12, 4096, 15)})


def names_in(line):
    return re.findall(r"[A-Za-z][A-Za-z0-9.+-]*", line)


# Published configurations: preset, spec, switches, terminals, links. Where a paper leaves a count
# out, it is what the definition gives.

TABLE_4_2 = [
    ("t42-mesh2d", "mesh:5x5,r=6", 25, 275, 256, 240), ("t42-mesh3d", "mesh:3x3x3,r=4", 27, 270, 256, 216),
    ("t42-torus2d", "torus:5x5,r=6", 25, 275, 256, 300), ("t42-torus3d", "torus:3x3x3,r=4", 27, 270, 256, 324),
    ("t42-kautz", "kautz:d=2,k=4,r=6", 24, 264, 256, 288), ("t42-kary", "kary:k=16,n=2", 32, 256, 270, 256),
    ("t42-xgft", "xgft:h=1,m=22,w=11", 33, 264, 256, 242),
    ("t42-dragonfly", "dragonfly:a=10,h=5,g=4", 40, 280, 256, 276),
    ("t42-random", "random:switches=32,links=256", 32, 256, 270, 256),
]
TABLE_6_1 = [
    ("t61-random", "random:switches=125,links=1000,total=1000,radix=36", 125, 1000, 1000),
    ("t61-torus", "torus:6x5x5,r=4,hosts=7,radix=36", 150, 1050, 1800),
    ("t61-kary", "kary:k=10,n=3,total=1100,radix=36", 300, 1100, 2000),
    ("t61-kautz", "kautz:d=5,k=3,r=2,hosts=7,radix=36", 150, 1050, 1500),
    ("t61-dragonfly", "dragonfly:a=12,p=6,h=6,g=15,radix=36", 180, 1080, 1515),
    ("t61-cascade", "cascade:g=2,radix=48", 192, 1536, 3072),
    ("t61-tsubame2", "tsubame2:rail=2,radix=36", 243, 1408, 3384),
    ("t61-taurus", "taurus:speed=QDR,radix=36", 211, 2090, 2490),
]
FIGURES = [  # 4.6 and 6.2
    ("f46-kary10", "kary:k=10,n=3,total=1100,radix=36", 3 * 10 ** 2, 1100, 2 * 10 ** 3),
    ("f46-kary14", "kary:k=14,n=3,total=2156,radix=36", 3 * 14 ** 2, 2156, 2 * 14 ** 3),
    ("f46-torus", "torus:7x7x7,hosts=6,radix=36", 343, 2058, 3 * 343),
    ("f46-dragonfly", "dragonfly:a=14,p=7,h=7,g=23,radix=36", 14 * 23, 2254,
     23 * math.comb(14, 2) + 14 * 7 // 22 * math.comb(23, 2)),
    ("f46-kautz", "kautz:d=7,k=3,hosts=6,radix=36", 7 ** 3 + 7 ** 2, 2352, 7 * (7 ** 3 + 7 ** 2)),
    ("f62-torus", "torus:4x4x3,hosts=4,radix=36", 48, 192, 3 * 48),
    ("tsubame2-rail1", "tsubame2:rail=1,radix=36", 258, 1555, 3621),
]
IPDPS_TABLE_I = [  # end points, XGFT(h; m; w), Kautz(b, n), k-ary n-tree
    (64, (1, (6,), (3,)), (2, 2), (6, 2)), (128, (1, (10,), (5,)), (2, 2), (10, 2)),
    (256, (1, (16,), (8,)), (2, 3), (16, 2)), (512, (2, (6, 6), (3, 3)), (3, 3), (6, 3)),
    (1024, (2, (10, 10), (5, 5)), (3, 3), (10, 3)), (2048, (2, (14, 14), (7, 7)), (4, 3), (14, 3)),
    (4096, (2, (18, 18), (9, 9)), (6, 3), (18, 3)),
]


class Published(Case):
    def check_row(self, preset, spec, switches, terminals, links):
        for one in (preset, spec):
            self.assertEqual(self.counts(one), (switches, terminals, links), one)
        self.assertEqual(topo_bytes(preset), topo_bytes(spec), f"{preset} is not {spec}")

    def test_table_4_2(self):
        for preset, spec, switches, balanced, unbalanced, links in TABLE_4_2:
            self.check_row(preset, f"{spec},total={balanced},radix=36", switches, balanced, links)
            self.check_row(preset + "-u", f"{spec},total={unbalanced},radix=36", switches, unbalanced, links)

    def test_table_6_1(self):
        for row in TABLE_6_1:
            self.check_row(*row)

    def test_figures_and_section_4_4_4(self):
        for row in FIGURES:
            self.check_row(*row)

    def test_ipdps_table_i(self):
        for ends, (h, m, w), (b, n), (k, levels) in IPDPS_TABLE_I:
            names, cables = xgft(m, w)
            tail = f",total={ends},radix=36"
            self.check_row(f"ipdps-xgft-{ends}", f"xgft:h={h},m={text(m, '/')},w={text(w, '/')}{tail}",
                           len(names), ends, cables.total())
            self.check_row(f"ipdps-kautz-{ends}", f"kautz:d={b},k={n}{tail}",
                           b ** n + b ** (n - 1), ends, b * (b ** n + b ** (n - 1)))
            self.check_row(f"ipdps-kary-{ends}", f"kary:k={k},n={levels}{tail}",
                           levels * k ** (levels - 1), ends, (levels - 1) * k ** levels)

    def test_graphs_of_the_named_rows(self):
        for preset, (names, cables), r in (
                ("t42-mesh2d", mesh((5, 5)), 6), ("t42-mesh3d", mesh((3, 3, 3)), 4),
                ("t42-torus2d-u", torus((5, 5)), 6), ("t61-torus", torus((6, 5, 5)), 4),
                ("t42-kautz", kautz(2, 4), 6), ("t61-kautz", kautz(5, 3), 2), ("f46-kautz", kautz(7, 3), 1),
                ("t42-dragonfly", dragonfly(10, 5, 4), 1), ("t61-dragonfly", dragonfly(12, 6, 15), 1),
                ("f46-dragonfly", dragonfly(14, 7, 23), 1), ("f46-torus", torus((7, 7, 7)), 1)):
            self.check_graph(preset, names, cables, r)
        self.check_graph("kary:k=10,n=3,total=1100", *kary(10, 3))
        self.check_graph("kary:k=16,n=2,total=270", *kary(16, 2))

    def test_the_list_has_the_presets(self):
        listed = re.findall(r"^  ((?:t42|t61|f46|f62|ipdps|tsubame2)-\S+)", run("topo", "--list").stdout, re.M)
        mine = [row[0] for row in TABLE_6_1 + FIGURES]
        mine += [row[0] + tail for row in TABLE_4_2 for tail in ("", "-u")]
        mine += [f"ipdps-{kind}-{row[0]}" for row in IPDPS_TABLE_I for kind in ("xgft", "kautz", "kary")]
        self.assertEqual(sorted(listed), sorted(mine))


class Info(Case):
    def check_info(self, spec, names, cables, most=32):
        i, f, table = info(spec), Fabric(spec), neighbours(names, cables)
        n, hosts = len(names), f.hosts
        self.assertEqual((i["switches"], i["links"], i["components"]), (n, cables.total(), 1), spec)
        apart = {v: distances(table, v) for v in table}
        self.assertEqual(i["diameter"], max(max(d.values()) for d in apart.values()), spec)
        total = sum(sum(d.values()) for d in apart.values())
        self.assertAlmostEqual(i["mean_distance"], total / max(n * (n - 1), 1), delta=1e-6, msg=spec)
        ends = hosts.total()
        far = sum(hosts[v] * hosts[w] * d for v in hosts for w, d in apart[v].items())
        self.assertAlmostEqual(i["mean_terminal_distance"], far / max(ends * (ends - 1), 1), delta=1e-6, msg=spec)
        if n <= most:
            self.assertEqual(i["vertex_connectivity"], vertex_connectivity(table), spec)
            self.assertEqual(i["edge_connectivity"], edge_connectivity(table), spec)

    def test_random_specs(self):
        for rng, spec, _ in draws("info", 8):
            spec = f"{spec},total={rng.randint(0, 60)},r={rng.randint(1, 2)}"
            f = Fabric(spec)
            self.check_info(spec, f.names, f.cables)

    def test_random_and_slimfly(self):
        for spec in ("random:switches=16,links=30,total=37", "jellyfish:switches=16,degree=3,seed=5",
                     "slimfly:q=3,hosts=2", "slimfly:q=7", "deimos", "taurus"):
            f = Fabric(spec)
            self.check_info(spec, f.names, f.cables)

    def connectivity(self, spec):
        return info(spec)["vertex_connectivity"]

    def test_table_3_1(self):
        for dims in ((5, 5), (3, 3, 3), (7, 7, 7), (4, 3, 5, 3)):
            self.assertEqual(self.connectivity(f"mesh:{text(dims)}"), len(dims))
            self.assertEqual(self.connectivity(f"torus:{text(dims)}"), 2 * len(dims))
        for k, n in ((16, 2), (6, 3), (10, 3), (3, 4)):
            self.assertEqual(self.connectivity(f"kary:k={k},n={n}"), k)
        for m, w in (((22,), (11,)), ((6, 6), (3, 3)), ((10, 10), (5, 5)), ((5, 4, 4), (2, 3, 3))):
            spec = f"xgft:h={len(m)},m={text(m, '/')},w={text(w, '/')}"
            self.assertEqual(self.connectivity(spec), w[0], spec)

    def test_table_3_1_with_its_errata(self):
        """Reciprocal arcs join the same two switches: 2d - 1, not 2d, neighbours to cut off."""
        for d, k in ((2, 2), (2, 4), (3, 3), (5, 3)):
            self.assertEqual(self.connectivity(f"kautz:d={d},k={k}"), 2 * d - 1)
            self.assertEqual(info(f"kautz:d={d},k={k}")["edge_connectivity"], 2 * d)
        for a, h in ((2, 1), (3, 1), (4, 2), (6, 3)):
            self.assertEqual(self.connectivity(f"dragonfly:a={a},h={h},g={a * h + 1}"), a + h - 1)
        self.assertLess(self.connectivity("dragonfly:a=10,h=5,g=4"), 14)

    def closed(self, spec, diameter, mean=None, between_terminals=None):
        i = info(spec)
        self.assertEqual(i["diameter"], diameter, spec)
        if mean is not None:
            self.assertAlmostEqual(i["mean_distance"], mean, delta=1e-6, msg=spec)
        if between_terminals is not None:
            self.assertAlmostEqual(i["mean_terminal_distance"], between_terminals, delta=1e-6, msg=spec)

    def test_closed_forms_of_grids(self):
        for dims in ((5,), (2,), (4, 4, 3), (7, 7, 7), (1, 6), (2, 3, 2, 4), (8, 1, 8)):
            n = math.prod(dims)
            other = n / (n - 1)  # mean over all pairs, to mean over pairs of different switches
            self.closed(f"mesh:{text(dims)}", sum(dims) - len(dims), other * sum((d * d - 1) / (3 * d) for d in dims))
            self.closed(f"torus:{text(dims)}", sum(d // 2 for d in dims), other * sum(d * d // 4 / d for d in dims))
            self.closed(f"hyperx:{text(dims)}", sum(d > 1 for d in dims), other * sum(1 - 1 / d for d in dims))
        for n in range(1, 8):
            self.closed(f"hypercube:{n}", n, n / 2 * 2 ** n / (2 ** n - 1))
        for n in (2, 3, 16, 40):
            t = 3 * n
            self.closed(f"fullmesh:{n},hosts=3", 1, 1.0, (t - 3) / (t - 1))

    def test_closed_forms_of_trees(self):
        for k, n, hosts in ((2, 2, 1), (2, 4, 3), (3, 3, 2), (4, 3, 4), (16, 2, 16), (10, 3, 10)):
            t = hosts * k ** (n - 1)
            far = sum(2 * j * hosts * (k ** j - k ** (j - 1)) for j in range(1, n))
            self.closed(f"kary:k={k},n={n},hosts={hosts}", 2 * (n - 1), None, far / (t - 1))

    def test_diameters(self):
        for d, k in ((2, 1), (2, 2), (2, 3), (2, 4), (3, 3), (4, 2), (5, 3), (7, 3)):
            self.closed(f"kautz:d={d},k={k}", k)
        for q in (3, 4, 5, 7, 8, 9, 11, 13):
            self.closed(f"slimfly:q={q}", 2)
        for a, h, g in ((4, 2, 9), (10, 5, 4), (12, 6, 15), (2, 1, 3), (3, 4, 13)):
            for way in ARRANGEMENTS:
                self.assertLessEqual(info(f"dragonfly:a={a},h={h},g={g},arrangement={way}")["diameter"], 3)
        self.closed("dragonfly:a=4,h=2,g=9", 3)


MALFORMED = """
    torus  torus:  torus:3x  torus:x3  torus:3xx3  torus:0x3  torus:-3  torus:3.5  torus:3,3  torus:3,hosts
    torus:3,hosts=  torus:3,hosts=x  torus:3,hosts=-1  torus:3,hosts=+1  torus:3,hosts=1;r=2  torus:3,hosts==1
    torus:3,hosts=1,hosts=2  torus:3,hosts=1,total=4  torus:3,bogus=1  torus:3,=1  torus:3,  torus:3,,hosts=1
    torus:3,r=0  torus:3,radix=0  torus:3,speed=FOO  torus:3,width=3  torus:3,mtu=1000  torus:3,vls=9
    torus:3,seed=abc  torus:3,seed=-1  mesh:5x5,seed=1.5  random:switches=4,links=5,seed=-1  Torus:3  nosuch:3
    torus:99999999999999999999  mesh:3,k=2  hypercube:  hypercube:2x3  hypercube:-1  fullmesh:0  fullmesh:3x3
    kary:k=2  kary:n=2  kary:k=0,n=2  kary:k=2,n=0  kary:4,k=2,n=2  xgft:h=2,m=2,w=2/2  xgft:h=2,m=2/2
    xgft:h=1,m=0,w=1  xgft:h=1,m=2/2,w=2/2  kautz:d=2  kautz:d=0,k=3  kautz:d=2,k=0  dragonfly:a=2,h=1
    dragonfly:a=2,h=1,g=0  dragonfly:a=0,h=1,g=1  dragonfly:a=2,h=1,g=3,p=x  dragonfly:a=2,h=1,g=3,arrangement=foo
    cascade:g=0  hyperx:3x3,k=1  hyperx:3x3,k=1/0  hyperx:3x3,k=1/2/3  flatfly:k=2,n=0  slimfly:q=5x  slimfly:
    expressmesh:5  expressmesh:5,gap=0  tsubame2:rail=3  deimos:hosts=3  taurus:3  t42-mesh2d,bogus=2
""".split() + ["", " ", "torus: 3", "torus:3, hosts=1", "torus:3,hosts=1 "]

IMPOSSIBLE = """
    dragonfly:a=2,h=1,g=4  dragonfly:a=2,h=0,g=2  dragonfly+:l=2,s=2,h=1,g=4  random:switches=5,links=4
    random:switches=3,links=100,radix=5  random:switches=1,links=1  jellyfish:switches=5,degree=3
    jellyfish:switches=4,degree=4  jellyfish:switches=4,degree=1  slimfly:q=6  slimfly:q=15  slimfly:q=12
    torus:100000x100000  hyperx:4000x4000  torus:3,radix=2  mesh:3x3,radix=4  mesh:3x3,r=2,radix=8
    hypercube:3,radix=3  kary:k=2,n=2,radix=2  fullmesh:4,hosts=3,radix=5  flatfly:k=4,n=3,radix=6
    torus:5x5,total=26,radix=5  deimos:radix=23  taurus:radix=35
""".split()


class Refusals(Case):
    def check_refused(self, spec, code):
        """With an old file in the way as well: it stays as it was, and nothing is left beside it."""
        with self.subTest(spec=spec), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old")
            with open(path, "w", encoding="utf-8") as file:
                file.write("old")
            for tail in ((), ("-o", os.path.join(folder, "new")), ("-o", path)):
                no = run("topo", spec, *tail)
                self.assertEqual((no.returncode, no.stdout[:99]), (code, ""), no.stderr)
                self.assertRegex(no.stderr, r"\A[^\n]+\n\Z", "exactly one line")
                self.assertEqual((os.listdir(folder), os.path.getsize(path)), (["old"], 3))

    def test_malformed(self):
        for spec in MALFORMED:
            self.check_refused(spec, 2)

    def test_impossible(self):
        for spec in IMPOSSIBLE:
            self.check_refused(spec, 4)

    def test_info_refuses_too(self):
        for spec, code in (("torus:3,hosts=x", 2), ("kary:k=2", 2), ("slimfly:q=6", 4), ("torus:3,radix=2", 4)):
            no = run("info", spec)
            self.assertEqual((no.returncode, no.stdout, no.stderr.count("\n")), (code, "", 1), spec)

    def test_just_possible(self):
        for spec in ("torus:5x5,total=25,radix=5", "dragonfly:a=2,h=1,g=3", "random:switches=3,links=6,radix=5",
                     "deimos:radix=24", "fullmesh:4,hosts=3,radix=6", "torus:3,hosts=0", "torus:3,total=0"):
            self.assertEqual(run("topo", spec, "--json").returncode, 0, spec)


if __name__ == "__main__":
    unittest.main()
