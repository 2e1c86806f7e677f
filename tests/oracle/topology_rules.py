"""
Every topology family a second time, slowly and from its definition, against `selvage topo`.

Written without a look at src/topology, so that a misread definition shows as a difference. What
is compared is the graph of switches as a multigraph: {frozenset of two switch names: number of
cables}, by name where names carry coordinates, otherwise (fat trees, whose numbering nobody
prescribes) by a search for an isomorphism that keeps the levels.

Definitions come from: Domke, "Routing on the Channel Dependency Graph" (2017), section 3.2, called
"thesis" below (mesh, torus, k-ary n-tree with Eq. 3.3 corrected, Kautz, dragonfly, Cascade, random,
systems); Öhring et al. 1995 (XGFT); Kim et al. 2008 (dragonfly); Hastings et al. 2015 (absolute,
relative and circulant arrangement) and Camarero et al. 2014 (palmtree); Shpiner et al. 2017
(dragonfly+); Singla et al. 2012 (jellyfish); Ahn et al. 2009 (HyperX); Kim et al. 2007 (flattened
butterfly); Besta and Hoefler 2014, after McKay, Miller and Širáň 1998 (Slim Fly). The published
tables are typed in from the papers, in test_topologies.py, which is run against this.
"""
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import unittest
from collections import Counter, defaultdict, deque
from functools import lru_cache

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.trials import trials  # noqa: E402

SELVAGE = os.environ.get("SELVAGE", "selvage")


# The command under test ---------------------------------------------------------------------------

def run(*arguments):
    return subprocess.run([SELVAGE, *arguments], capture_output=True, text=True, timeout=120)


@lru_cache(maxsize=None)
def topo_bytes(spec):
    result = run("topo", spec, "--format", "json")
    if result.returncode != 0:
        raise AssertionError(f"topo {spec}: exit {result.returncode}: {result.stderr}")
    return result.stdout


@lru_cache(maxsize=None)
def info(spec):
    result = run("info", spec, "--json")
    if result.returncode != 0:
        raise AssertionError(f"info {spec}: exit {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


class Fabric:
    """What selvage wrote: switch names, cables between them, terminals, what is in each port."""

    def __init__(self, spec):
        self.raw = raw = json.loads(topo_bytes(spec))
        name = {s["node"]: s["name"] for s in raw["switches"]}
        self.names = [name[node] for node in sorted(name)]
        self.declared = {s["name"]: s["ports"] for s in raw["switches"]}
        self.cables, self.hosts = Counter(), Counter()
        self.ports = defaultdict(dict)  # switch -> port -> name of the other switch, None: terminal
        for c in raw["cables"]:
            a, b = name.get(c["a"]), name.get(c["b"])
            if a and b:
                self.cables[frozenset((a, b))] += 1
            else:
                self.hosts[a or b] += 1
            for near, port, far in ((a, c["a_port"], b), (b, c["b_port"], a)):
                if near:
                    self.ports[near][port] = far


# Graphs -------------------------------------------------------------------------------------------

def neighbours(names, cables):
    table = {n: {} for n in names}
    for pair, count in cables.items():
        a, b = pair
        table[a][b] = table[b][a] = count
    return table


def distances(table, start):
    found, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        for n in table[at]:
            if n not in found:
                found[n] = found[at] + 1
                queue.append(n)
    return found


def degrees(names, cables):
    degree = Counter({n: 0 for n in names})
    for pair, count in cables.items():
        for end in pair:
            degree[end] += count
    return degree


def flow(capacity, source, sink):
    """Maximum flow, an augmenting path at a time (Ford and Fulkerson)."""
    left = {u: dict(vs) for u, vs in capacity.items()}
    for u, vs in capacity.items():
        for v in vs:
            left[v].setdefault(u, 0)
    total = 0
    while True:
        before, queue = {source: None}, deque([source])
        while queue and sink not in before:
            u = queue.popleft()
            for v, room in left[u].items():
                if room and v not in before:
                    before[v] = u
                    queue.append(v)
        if sink not in before:
            return total
        v, total = sink, total + 1
        while before[v] is not None:
            u = before[v]
            left[u][v] -= 1
            left[v][u] += 1
            v = u


def edge_connectivity(table):
    first, *others = table
    return min((flow(table, first, n) for n in others), default=0)


def vertex_connectivity(table):
    """Thesis Definition 3.9 and n - 1 for a complete graph; some of any k + 1 vertices stay uncut."""
    split = {("in", v): {("out", v): 1} for v in table}
    split.update({("out", v): {("in", n): 1 for n in table[v]} for v in table})
    best, order = len(table) - 1, list(table)
    for i, v in enumerate(order):
        if i > best:
            break
        for w in order[i + 1:]:
            if w not in table[v]:
                best = min(best, flow(split, ("out", v), ("in", w)))
    return best


def isomorphic(left, right, colour_left, colour_right):
    """Colour refinement on both graphs at once; where it stops, one vertex is told apart and tried."""
    near = {(s, v): [((s, n), c) for n, c in t[v].items()] for s, t in ((0, left), (1, right)) for v in t}

    def refine(colour):
        while True:
            mark = {v: (colour[v], tuple(sorted((colour[n], c) for n, c in near[v]))) for v in near}
            rank = {m: i for i, m in enumerate(sorted(set(mark.values())))}
            finer = {v: rank[m] for v, m in mark.items()}
            if len(rank) == len(set(colour.values())):
                return finer
            colour = finer

    def search(colour):
        colour = refine(colour)
        cells = defaultdict(lambda: ([], []))
        for v in near:
            cells[colour[v]][v[0]].append(v)
        if any(len(a) != len(b) for a, b in cells.values()):
            return False
        open_cells = [cell for cell in cells.values() if len(cell[0]) > 1]
        if not open_cells:
            to = {a[0]: b[0] for a, b in cells.values()}
            return all({to[n]: c for n, c in near[v]} == dict(near[to[v]]) for v in to)
        a, b = min(open_cells, key=lambda cell: len(cell[0]))
        fresh = len(near)
        return any(search({**colour, a[0]: fresh, w: fresh}) for w in b)

    start = {(0, v): c for v, c in colour_left.items()} | {(1, v): c for v, c in colour_right.items()}
    return search(start)


# Definitions: each gives the set of switch names and the cables -----------------------------------

def together(names, pairs):
    """From all unordered pairs (with repetition for parallel cables) to a multigraph."""
    cables = Counter(frozenset(p) for p in pairs)
    assert all(len(p) == 2 for p in cables), "a cable from a switch to itself"
    return set(names), cables


def grid(dims, count):
    """Cartesian product; count(dimension, i, j) cables join positions i < j of a line."""
    def name(place):
        return "sw" + "-".join(map(str, place))
    places = list(itertools.product(*map(range, dims)))
    pairs = []
    for place in places:
        for d, size in enumerate(dims):
            for j in range(place[d] + 1, size):
                other = place[:d] + (j,) + place[d + 1:]
                pairs += [(name(place), name(other))] * count(d, place[d], j)
    return together(map(name, places), pairs)


def ring_distance(i, j, size):
    return min((i - j) % size, (j - i) % size)


def mesh(dims):
    return grid(dims, lambda d, i, j: j - i == 1)


def torus(dims):
    return grid(dims, lambda d, i, j: ring_distance(i, j, dims[d]) == 1)


def hyperx(dims, k):
    return grid(dims, lambda d, i, j: k[d])


def expressmesh(dims, gap):
    return grid(dims, lambda d, i, j: (ring_distance(i, j, dims[d]) - 1) % gap == 0)


def hypercube(n):
    return together((f"sw{i}" for i in range(2 ** n)),
                    ((f"sw{i}", f"sw{j}") for i, j in itertools.combinations(range(2 ** n), 2)
                     if bin(i ^ j).count("1") == 1))


def fullmesh(n):
    return together((f"sw{i}" for i in range(n)),
                    ((f"sw{i}", f"sw{j}") for i, j in itertools.combinations(range(n), 2)))


def kary(k, n):
    """Switches (digits, level), level 0 the leaves; levels l, l+1 may differ in digit l only."""
    words = list(itertools.product(range(k), repeat=n - 1))
    return together(((w, level) for w in words for level in range(n)),
                    (((v, level), (w, level + 1)) for level in range(n - 1) for v in words for w in words
                     if all(v[i] == w[i] for i in range(n - 1) if i != level)))


def xgft(m, w):
    """Recursion of Öhring et al.: copies of the smaller tree under new roots."""
    if not m:
        return {(("root", 0), 0)}, Counter()
    names, cables = xgft(m[:-1], w[:-1])
    top, roots = len(m), math.prod(w[:-1])
    # The root with number i of every copy is joined to the new roots i, i + roots, i + 2 roots, …
    def inside(copy, vertex):
        return ((copy, vertex[0]), vertex[1])
    all_names, pairs = set(), Counter()
    for copy in range(m[-1]):
        all_names |= {inside(copy, v) for v in names}
        pairs.update({frozenset(inside(copy, v) for v in p): c for p, c in cables.items()})
        for i, j in itertools.product(range(roots), range(w[-1])):
            new = (("root", i + j * roots), top)
            all_names.add(new)
            pairs[frozenset((inside(copy, (("root", i), top - 1)), new))] += 1
    return all_names, pairs


def kautz(d, k):
    words = [w for w in itertools.product(range(d + 1), repeat=k) if all(a != b for a, b in zip(w, w[1:]))]
    def name(w):
        return "sw" + ".".join(map(str, w))
    return together(map(name, words), ((name(w), name(w[1:] + (b,))) for w in words
                                       for b in range(d + 1) if b != w[-1]))


def other_group(arrangement, group, port, g):
    """The group that global port `port` (of g - 1) of a group leads to."""
    if arrangement == "absolute":
        return port if port < group else port + 1
    if arrangement == "relative":
        return (group + port + 1) % g
    if arrangement == "palmtree":
        return (group - port - 1) % g
    step = port // 2 + 1  # circulant: +1, -1, +2, -2, …
    return (group + step if port % 2 == 0 else group - step) % g


def global_pairs(g, ports, h, arrangement, name):
    """floor(ports / (g - 1)) rounds of one cable for every pair of groups; port n is of switch n // h."""
    for turn in range(ports // (g - 1) if g > 1 else 0):
        port_to = {(x, other_group(arrangement, x, n, g)): turn * (g - 1) + n
                   for x in range(g) for n in range(g - 1)}
        for x, y in itertools.combinations(range(g), 2):
            yield name(x, port_to[x, y] // h), name(y, port_to[y, x] // h)


def dragonfly(a, h, g, arrangement="absolute"):
    def name(x, s):
        return f"g{x}-sw{s}"
    local = ((name(x, s), name(x, t)) for x in range(g) for s, t in itertools.combinations(range(a), 2))
    return together((name(x, s) for x in range(g) for s in range(a)),
                    itertools.chain(local, global_pairs(g, a * h, h, arrangement, name)))


def dragonfly_plus(l, s, h, g, arrangement="absolute"):
    def spine(x, i):
        return f"g{x}-spine{i}"
    leaves = [(x, f"g{x}-leaf{i}") for x in range(g) for i in range(l)]
    local = ((leaf, spine(x, i)) for x, leaf in leaves for i in range(s))
    return together([leaf for _, leaf in leaves] + [spine(x, i) for x in range(g) for i in range(s)],
                    itertools.chain(local, global_pairs(g, s * h, h, arrangement, spine)))


def fields(q):
    """All (add, multiply, generator) of the field of q elements, numbered by their digits to base p."""
    p = next(i for i in range(2, q + 1) if q % i == 0)
    n = round(math.log(q, p))
    word = {i: tuple(i // p ** e % p for e in range(n)) for i in range(q)}
    number = {w: i for i, w in word.items()}
    add = [[number[tuple((x + y) % p for x, y in zip(word[a], word[b]))] for b in range(q)] for a in range(q)]
    for low in itertools.product(range(p), repeat=n) if n > 1 else [(0,)]:
        def times(a, b):
            full = [0] * (2 * n - 1)
            for i, j in itertools.product(range(n), repeat=2):
                full[i + j] += word[a][i] * word[b][j]
            for e in range(2 * n - 2, n - 1, -1):  # x^n = -low
                for i in range(n):
                    full[e - n + i] -= full[e] * low[i]
            return number[tuple(x % p for x in full[:n])]
        mul = [[times(a, b) for b in range(q)] for a in range(q)]
        for xi in range(1, q):
            powers = list(itertools.accumulate([xi] * (q - 2), lambda a, b: mul[a][b], initial=1))
            if len(set(powers)) == q - 1 and 0 not in powers:
                yield add, mul, powers


SLIMFLY_DELTA = {0: 0, 1: 1, 3: -1}  # q = 4w + delta


def slimfly(q, field):
    add, mul, power = field
    delta, w = SLIMFLY_DELTA[q % 4], (q + 1) // 4
    if delta >= 0:
        own = {power[e] for e in range(0, q - 1, 2)}, {power[e % (q - 1)] for e in range(1, q, 2)}
    else:
        own = ({power[e] for e in [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]},
               {power[e % (q - 1)] for e in [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)]})
    triples = list(itertools.product(range(2), range(q), range(q)))
    pairs = {frozenset(((s, x, y), (s, x, add[y][step]))) for s, x, y in triples for step in own[s]}
    pairs |= {frozenset(((0, x, add[mul[m][x]][c]), (1, m, c)))
              for m, c, x in itertools.product(range(q), repeat=3)}
    name = {t: "sw" + "-".join(map(str, t)) for t in triples}
    return together(name.values(), ([name[t] for t in p] for p in pairs))


# Random specs -------------------------------------------------------------------------------------

ARRANGEMENTS = ("absolute", "relative", "circulant", "palmtree")


def text(values, between="x"):
    return between.join(map(str, values))


def draw(rng, family):
    """A spec of moderate size and its graph."""
    dims = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    small = rng.randint
    if family in ("mesh", "torus"):
        return f"{family}:{text(dims)}", (mesh if family == "mesh" else torus)(dims)
    if family == "hyperx":
        k = [small(1, 3) for _ in dims]
        return f"hyperx:{text(dims)},k={text(k, '/')}", hyperx(dims, k)
    if family == "flatfly":
        k, n = small(1, 4), small(2, 4)
        return f"flatfly:k={k},n={n}", hyperx([k] * (n - 1), [1] * n)
    if family == "expressmesh":
        dims, gap = [small(1, 11) for _ in range(small(1, 2))], small(1, 5)
        return f"expressmesh:{text(dims)},gap={gap}", expressmesh(dims, gap)
    if family == "hypercube":
        n = small(0, 5)
        return f"hypercube:{n}", hypercube(n)
    if family == "fullmesh":
        n = small(1, 12)
        return f"fullmesh:{n}", fullmesh(n)
    if family == "kautz":
        d, k = rng.choice([(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 2), (5, 2)])
        return f"kautz:d={d},k={k}", kautz(d, k)
    if family == "kary":
        k, n = rng.choice([(1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (4, 3), (6, 2)])
        return f"kary:k={k},n={n}", kary(k, n)
    if family == "xgft":
        h = small(1, 3)
        m, w = [small(1, 3) for _ in range(h)], [small(1, 3) for _ in range(h)]
        return f"xgft:h={h},m={text(m, '/')},w={text(w, '/')}", xgft(m, w)
    arrangement, a, h = rng.choice(ARRANGEMENTS), small(1, 5), small(1, 4)
    g = small(1, min(a * h + 1, 11))
    if family == "dragonfly":
        return f"dragonfly:a={a},h={h},g={g},arrangement={arrangement}", dragonfly(a, h, g, arrangement)
    l = small(1, 4)
    return (f"dragonfly+:l={l},s={a},h={h},g={g},arrangement={arrangement}",
            dragonfly_plus(l, a, h, g, arrangement))


FAMILIES = ("mesh", "torus", "hypercube", "kary", "xgft", "kautz", "dragonfly", "dragonfly+", "hyperx",
            "flatfly", "expressmesh", "fullmesh")


def draws(seed, number):
    rng = random.Random(seed)
    for family in FAMILIES:
        for _ in range(trials(number)):
            yield rng, *draw(rng, family)


def level_of(name):
    """Of a switch of a fat tree: leaf3 is on level 0, l2-7 on level 2."""
    return 0 if name.startswith("leaf") else int(re.match(r"l(\d+)-", name)[1])


def is_leaf(name):
    return "leaf" in name or name.startswith(("sw", "g")) and "spine" not in name


class Case(unittest.TestCase):
    longMessage = True

    def check_graph(self, spec, names, cables, r=1):
        f, wanted = Fabric(spec), Counter({p: c * r for p, c in cables.items()})
        self.assertEqual(len(f.names), len(set(f.names)), spec)
        if spec.startswith(("kary", "xgft")):
            levels = {n: level_of(n) for n in f.names}
            self.assertEqual(Counter(levels.values()), Counter(level for _, level in names), spec)
            self.assertTrue(isomorphic(neighbours(names, wanted), neighbours(f.names, f.cables),
                                       {n: n[1] for n in names}, levels), spec)
        else:
            self.assertEqual(set(f.names), set(names), spec)
            self.assertEqual(f.cables, wanted, spec)
        return f

    def counts(self, spec):
        i = json.loads(run("topo", spec, "--json").stdout)
        return i["switches"], i["terminals"], i["links"]
