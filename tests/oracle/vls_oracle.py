"""
Paths and their VLs a second time, slowly and from the definitions: how few VLs would do?

Written without a look at the implementation. A path is a tuple of channels, each one direction of a
cable between two switches, named (guid, port) by the switch and the port it leaves. Each two
consecutive channels of a path are a dependency; a set of paths can share a VL if the graph of
their dependencies (vertices: channels) has no cycle (Dally and Seitz 1987).

    paths = paths_of(tables)                       # from the forwarding tables alone
    minimum_vls(paths.values(), most)            # fewest VLs for given paths
    minimum_vls_of_minimal_routing(tables, most) # fewest VLs for any shortest-path tables
    acyclic_per_vl(paths, vl_of_path)          # are given VLs right?

The first minimum is the acyclic path partitioning problem of the DFSSSP paper (Domke, Hoefler,
Nagel, IPDPS 2011, III.A), which is NP-complete; the second one also chooses, for each destination
switch, a tree of shortest paths. Both are searched exhaustively, so for tiny fabrics only. Branches
are left out only where that cannot change the answer:

- A dependency that is on no cycle of all (possible) dependencies never matters.
- A path whose dependencies are all dependencies of another path can go where that one goes.
- A path whose dependencies all follow from the order that a VL already has can go there for free.
- VLs without paths are all alike: only the first of them is tried.
- Sets of paths that share no channels are problems of their own.

A search that takes more than `patience` steps ends with TooHard: an answer is exact or not given.
"""
import itertools
from collections import deque

from routes_oracle import vl_of, said_sl, switches_of


class TooHard(Exception):
    """The search ran out of patience; the answer is unknown."""


# What the tables say ------------------------------------------------------------------------------

def switch_graph(tables):
    """{switch: {port: switch at the other end}}, cables between two switches only."""
    graph = {switch: {} for switch in switches_of(tables)}
    for (guid, port), (far, _) in tables.cables.items():
        if guid in graph and far in graph:
            graph[guid][port] = far
    return graph


def home_of(tables, guid):
    """The switch where a node is; None for a terminal without a switch."""
    node = tables.nodes[guid]
    if node.is_switch:
        return guid
    far, _ = tables.cables[guid, node.port]
    return far if tables.nodes[far].is_switch else None


def with_terminals(tables):
    """The switches that have terminals."""
    return {home_of(tables, guid) for guid, node in tables.nodes.items() if not node.is_switch}


def distances_to(graph, target):
    """{switch: hops to the target} for all that can reach it; cables go both ways."""
    distance, queue = {target: 0}, deque([target])
    while queue:
        at = queue.popleft()
        for far in graph[at].values():
            if far not in distance:
                distance[far] = distance[at] + 1
                queue.append(far)
    return distance


def path_from(tables, graph, start, lid):
    """The channels between switches from a switch to the switch where the LID is."""
    goal = home_of(tables, tables.owner[lid])
    at, path = start, []
    while at != goal:
        port = tables.lft[at].get(lid)
        if port not in graph[at]:
            raise ValueError(f"packets to LID {lid} from {start} end at {at}, port {port}")
        path.append((at, port))
        at = graph[at][port]
        if len(path) > len(graph):
            raise ValueError(f"packets to LID {lid} from {start} go in circles")
    return tuple(path)


def paths_of(tables, strict=False):
    """{(source switch, LID): path} wherever cables lead there. Paths from a switch without
    terminals to another switch's own LID count only if strict."""
    graph, sources = switch_graph(tables), with_terminals(tables)
    paths = {}
    for lid, owner in tables.owner.items():
        goal = home_of(tables, owner)
        for start in distances_to(graph, goal) if goal else ():
            if strict or start in sources or not tables.nodes[owner].is_switch:
                paths[start, lid] = path_from(tables, graph, start, lid)
    return paths


def hops_too_many(tables):
    """How many hops the paths of the tables have more than shortest ones, in all."""
    graph = switch_graph(tables)
    far = {target: distances_to(graph, target) for target in graph}
    return sum(len(path) - far[home_of(tables, tables.owner[lid])][start]
               for (start, lid), path in paths_of(tables, strict=True).items())


def vls_on(tables, source, lid, path):
    """The VL of each channel of the path, for packets that the node sends to the LID."""
    sl, vls = said_sl(tables, source, lid), []
    if sl is None:
        raise ValueError(f"no service level from {source} to LID {lid}")
    node, in_port = tables.nodes[source], 0
    if not node.is_switch:
        in_port = tables.cables[source, node.port][1]
    for switch, out_port in path:
        vls.append(vl_of(tables, switch, in_port, out_port, sl))
        in_port = tables.cables[switch, out_port][1]
    return vls


def vls_of(tables, strict=False):
    """({(source node, LID): path}, {(source node, LID): VL}): one VL from start to end."""
    paths, found, vl_of_path = paths_of(tables, strict), {}, {}
    for source, node in tables.nodes.items():
        start = home_of(tables, source)
        for lid, owner in tables.owner.items():
            if (start, lid) not in paths or owner == source or not paths[start, lid]:
                continue
            if node.is_switch and tables.nodes[owner].is_switch and not strict:
                continue
            vls = vls_on(tables, source, lid, paths[start, lid])
            if len(set(vls)) > 1:
                raise ValueError(f"from {source} to LID {lid} on several VLs: {vls}")
            found[source, lid], vl_of_path[source, lid] = paths[start, lid], vls[0]
    return found, vl_of_path


def pairs_with_several_paths(tables):
    """(switch, switch) where the LIDs at the second one are not all reached through the same
    switches; of parallel cables any may be taken."""
    found = {}
    for (start, lid), path in paths_of(tables).items():
        pair = start, home_of(tables, tables.owner[lid])
        found.setdefault(pair, set()).add(tuple(switch for switch, _ in path))
    return {pair for pair, paths in found.items() if len(paths) > 1}


def pairs_with_several_sls(tables):
    """{switch, switch} between which there is not one service level for both directions, all LIDs
    and all terminals."""
    found = {}
    for source, lid in vls_of(tables)[0]:
        pair = frozenset(home_of(tables, node) for node in (source, tables.owner[lid]))
        found.setdefault(pair, set()).add(said_sl(tables, source, lid))
    return {pair for pair, sls in found.items() if len(sls) > 1}


# Cycles -------------------------------------------------------------------------------------------

def dependencies(*paths):
    """Pairs of consecutive channels."""
    return frozenset(pair for path in paths for pair in zip(path, path[1:]))


def has_cycle(edges):
    """Take away edges that nothing leads to, as long as there are any: cycles remain."""
    edges = set(edges)
    while True:
        entered = {b for _, b in edges}
        remaining = {(a, b) for a, b in edges if a in entered}
        if remaining == edges:
            return bool(edges)
        edges = remaining


def acyclic_per_vl(paths, vl_of_path):
    """Whether the paths {key: path} on the VLs {key: VL} cannot deadlock."""
    return not any(has_cycle(dependencies(*(paths[key] for key in paths
                                            if vl_of_path[key] == vl)))
                   for vl in set(vl_of_path.values()))


def on_cycles(edges):
    """Those edges that are on some cycle: their end leads back to their start."""
    after = {}
    for a, b in edges:
        after.setdefault(a, set()).add(b)
    reached = {}
    for start in after:
        seen, todo = set(), [start]
        while todo:
            for vertex in after.get(todo.pop(), ()):
                if vertex not in seen:
                    seen.add(vertex)
                    todo.append(vertex)
        reached[start] = seen
    return {(a, b) for a, b in edges if a in reached.get(b, ())}


def without_contained(sets):
    """The non-empty sets that are in no other one, each once."""
    sets = {frozenset(each) for each in sets if each}
    return {each for each in sets if not any(each < other for other in sets)}


# Search -------------------------------------------------------------------------------------------

class Lane:
    """An order of channels: of each channel a bit for each one that must come behind it."""

    def __init__(self, numbers):
        self.numbers = numbers  # {channel: its bit's number}
        self.behind = [0] * len(numbers)
        self.is_empty = True

    def implies(self, edges):
        return all(self.behind[self.numbers[a]] >> self.numbers[b] & 1 for a, b in edges)

    def plus(self, edges):
        """The VL with more dependencies, or None if they close a cycle."""
        more = Lane(self.numbers)
        more.behind, more.is_empty = list(self.behind), False
        for a, b in edges:
            i, j = self.numbers[a], self.numbers[b]
            if i == j or more.behind[j] >> i & 1:
                return None
            gain = more.behind[j] | 1 << j
            for x, bits in enumerate(more.behind):
                if x == i or bits >> i & 1:
                    more.behind[x] = bits | gain
        return more


class Search:
    """Puts sets of dependencies into VLs. `choices` is a list of lists of alternatives; of each
    list one alternative, a list of sets, has to be placed."""

    def __init__(self, patience):
        self.patience = patience

    def step(self):
        self.patience -= 1
        if self.patience < 0:
            raise TooHard

    def options(self, vls, edges):
        """[(number of the VL, VL with the edges)], all empty VLs counting as one."""
        found, seen_empty = [], False
        for number, vl in enumerate(vls):
            if vl.is_empty and seen_empty:
                continue
            seen_empty |= vl.is_empty
            if more := vl.plus(edges):
                found.append((number, more))
        return found

    def scarcest(self, vls, sets):
        """The set with the fewest options, and these: the sooner a dead end, the better."""
        best = None
        for edges in sets:
            options = self.options(vls, edges)
            if best is None or len(options) < len(best[1]):
                best = edges, options
            if len(options) < 2:
                break
        return best

    def branches(self, sets, vls, choices):
        """What can be done next, as a list of what is then left to do, in what VLs."""
        if not sets:
            return [(chosen, vls, choices[1:]) for chosen in choices[0]]
        edges, options = self.scarcest(vls, sets)
        rest = [other for other in sets if other is not edges]
        return [(rest, vls[:number] + [vl] + vls[number + 1:], choices)
                for number, vl in options]

    def fits(self, choices, vls):
        """Whether everything can be placed: depth first through all branches."""
        channels = sorted({channel for alternatives in choices for sets in alternatives
                           for edges in sets for edge in edges for channel in edge})
        numbers = {channel: number for number, channel in enumerate(channels)}
        todo = [([], [Lane(numbers)] * vls, choices)]
        while todo:
            self.step()
            sets, into, choices = todo.pop()
            sets = [edges for edges in sets if not any(vl.implies(edges) for vl in into)]
            if not sets and not choices:
                return True
            todo += reversed(self.branches(sets, into, choices))
        return False


def fewest(choices, most, patience):
    """The smallest number of VLs up to `most` into which the choices fit, or None."""
    return next((vls for vls in range(1, most + 1) if Search(patience).fits(choices, vls)),
                None)


# Given paths --------------------------------------------------------------------------------------

def apart(sets):
    """Groups of sets of dependencies; sets of different groups share no channel."""
    groups = []  # (channels, sets)
    for edges in sets:
        channels, members = {channel for edge in edges for channel in edge}, [edges]
        others = []
        for group in groups:
            if group[0] & channels:
                channels, members = channels | group[0], members + group[1]
            else:
                others.append(group)
        groups = others + [(channels, members)]
    return [members for _, members in groups]


def minimum_vls_of_bundles(bundles, most=16, patience=20000):
    """The fewest VLs for bundles of paths, those of one bundle all on one VL; None if more than
    `most` (or if a bundle has a cycle by itself)."""
    every = [dependencies(*bundle) for bundle in bundles]
    cyclic = on_cycles(set().union(*every))
    answer = 1
    for group in apart(without_contained(edges & cyclic for edges in every)):
        group.sort(key=lambda edges: (-len(edges), sorted(edges)))
        vls = fewest([[group]], most, patience)
        if vls is None:
            return None
        answer = max(answer, vls)
    return answer


def minimum_vls(paths, most=16, patience=20000):
    """The fewest VLs into which the paths fit without deadlock; None if more than `most`."""
    return minimum_vls_of_bundles(([path] for path in set(paths)), most, patience)


def minimum_vls_of_pairs(tables, most=16, patience=20000):
    """The same if paths from switch to switch and back must share a VL, all LIDs alike."""
    bundles = {}
    for (start, lid), path in paths_of(tables).items():
        pair = frozenset((start, home_of(tables, tables.owner[lid])))
        bundles.setdefault(pair, set()).add(path)
    return minimum_vls_of_bundles(bundles.values(), most, patience)


# Any shortest paths -------------------------------------------------------------------------------

def trees_to(graph, target, max_trees):
    """All trees of shortest paths to a switch, each as {switch: (channel, next switch)}."""
    distance = distances_to(graph, target)
    switches = [switch for switch in distance if switch != target]
    ways = [[((switch, port), far) for port, far in sorted(graph[switch].items())
             if distance[far] == distance[switch] - 1] for switch in switches]
    number = 1
    for way in ways:
        number *= len(way)
    if number > max_trees:
        raise TooHard
    for choice in itertools.product(*ways):
        yield dict(zip(switches, choice))


def paths_in_tree(tree, sources):
    for switch in sources:
        path = []
        while switch in tree:
            channel, switch = tree[switch]
            path.append(channel)
        yield tuple(path)


def easiest(alternatives):
    """Alternative sets of sets of dependencies without those that are never better than another:
    if each set of one is in some set of another, the one fits wherever the other does."""
    kept = []
    for one in sorted(set(alternatives), key=lambda sets: sum(map(len, sets))):
        if not any(all(any(a <= b for b in one) for a in other) for other in kept):
            kept.append(one)
    return kept


def minimum_vls_over_trees(graph, sources, most=16, patience=20000, max_trees=600):
    """The fewest VLs for any choice of a tree of shortest paths for each destination switch.
    `sources` are the switches with terminals: they send to all, the others to these only."""
    wanted = []  # for each destination the alternatives, each a list of paths
    for target in sorted(graph):
        starts = graph if target in sources else sources
        wanted.append([list(paths_in_tree(tree, starts))
                       for tree in trees_to(graph, target, max_trees)])
    cyclic = on_cycles({edge for trees in wanted for paths in trees
                        for edge in dependencies(*paths)})
    choices = [easiest(frozenset(without_contained(dependencies(path) & cyclic for path in paths))
                       for paths in trees) for trees in wanted]
    choices = [[sorted(sets, key=lambda edges: (-len(edges), sorted(edges)))
                for sets in alternatives] for alternatives in choices]
    choices.sort(key=len)
    return fewest(choices, most, patience)


def minimum_vls_of_minimal_routing(tables, most=16, patience=20000):
    """The fewest VLs for any shortest-path forwarding tables on the fabric of the tables."""
    return minimum_vls_over_trees(switch_graph(tables), with_terminals(tables) - {None}, most,
                                    patience)
