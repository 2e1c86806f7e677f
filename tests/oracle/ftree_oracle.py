"""
Fat-tree routing a second time, slowly and from the rules (Zahavi et al. 2010, thesis 3.3.5), to
compare with selvage's.

Written without a look at the implementation, for trees whose switches' names tell their levels
(leaf0, l1-0, l2-0, …), all hosts on leaves. Hosts are taken in the order of the tree. For each a
chain climbs from its leaf to the top, at each step over the cable that the fewest hosts come down
so far; of several such cables one is taken from each parent before a second from any, and the
parent with the lowest number first. A switch that is not on the chain sends to the lowest switch
of the chain that it is below of, by whatever leads up there.

Switches and hosts are named as in routes_oracle (by GUID); a cable is the (switch, port) at its
upper end.

    tree = Tree(routes_oracle.load(directory))
    tree.route()         {host: [switches of its chain, leaf first]}, and tree.down: {cable: hosts}
    tree.next_switches() all switches to which a switch may send a packet for a host
"""
import re
from collections import defaultdict, deque


def level_of(name):
    """Leaves are 0."""
    if name.startswith("leaf"):
        return 0
    return int(re.fullmatch(r"l(\d+)-\d+", name)[1])


class Tree:
    def __init__(self, tables):
        self.level, self.leaf_of = {}, {}
        self.hosts_on = defaultdict(list)     # leaf: hosts, by port
        self.parents = defaultdict(list)      # switch: (parent, the parent's port), by number
        self.children = defaultdict(set)
        for guid, node in tables.nodes.items():
            if node.is_switch:
                self.level[guid] = level_of(node.name)
        for (near, port), (far, far_port) in sorted(tables.cables.items()):
            if near not in self.level:
                continue
            if far not in self.level:
                self.hosts_on[near].append(far)
                self.leaf_of[far] = near
            elif self.level[far] > self.level[near]:
                self.parents[near].append((far, far_port))
                self.children[far].add(near)
        for parents in self.parents.values():
            parents.sort()
        self.down = defaultdict(int)

    def below(self, switch):
        """The switch and all switches that can be come down to from it."""
        found = {switch}
        for child in self.children[switch]:
            found |= self.below(child)
        return found

    def leaf_order(self):
        """Leaves such that those below a switch stand together, level by level, else by number."""
        groups = [[leaf] for leaf in sorted(s for s in self.level if self.level[s] == 0)]
        for level in range(1, 1 + max(self.level.values())):
            for switch in sorted(s for s in self.level if self.level[s] == level):
                below = self.below(switch)
                mine = [group for group in groups if below & set(group)]
                if len(mine) > 1:
                    at = groups.index(mine[0])
                    groups = [group for group in groups if group not in mine]
                    groups.insert(at, sum(mine, []))
        return sum(groups, [])

    def host_order(self):
        return [host for leaf in self.leaf_order() for host in self.hosts_on[leaf]]

    def climb(self, switch):
        """The cable by which the chain goes on."""
        copies, best = defaultdict(int), None
        for parent, port in self.parents[switch]:
            key = self.down[parent, port], copies[parent], parent
            copies[parent] += 1
            if best is None or key < best[0]:
                best = key, (parent, port)
        return best[1]

    def route(self):
        chains = {}
        for host in self.host_order():
            chain = [self.leaf_of[host]]
            while self.parents[chain[-1]]:
                cable = self.climb(chain[-1])
                self.down[cable] += 1
                chain.append(cable[0])
            chains[host] = chain
        return chains

    def next_switches(self, chain, switch):
        """Where a switch may send to the host of that chain; empty: nowhere (or to the host)."""
        if switch in chain:
            at = chain.index(switch)
            return {chain[at - 1]} if at > 0 else set()
        for member in chain:
            if switch in self.below(member):
                return {parent for parent, _ in self.parents[switch]
                        if switch != member and switch in self.below(parent)
                        and parent in self.below(member)}
        return set()

    def up_down_distance(self, source):
        """{switch: hops} over the ways from there that never go up after a step down."""
        distance, todo = {(source, False): 0}, deque([(source, False)])
        while todo:
            switch, went_down = state = todo.popleft()
            steps = [(child, True) for child in self.children[switch]]
            if not went_down:
                steps += [(parent, False) for parent, _ in self.parents[switch]]
            for step in steps:
                if step not in distance:
                    distance[step] = distance[state] + 1
                    todo.append(step)
        least = {}
        for (switch, _), hops in distance.items():
            least[switch] = min(hops, least.get(switch, hops))
        return least
