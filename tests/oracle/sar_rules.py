"""Job-aware routing a second time, slowly and from its definition alone (thesis Algorithm 5.1, and the
order in which destinations come, which docs and engine share): to compare with selvage.

Written without a look at the implementation.

- phases(): in which order destinations are routed, and where weights are forgotten.
- route(): obvious tables by that order: for each destination the shortest paths of least weight.
- replay(): whether given tables could have come of that order, however ties were broken.
- effective(): routes inside jobs on each channel (Definition 5.1).

A terminal, and a switch, is its number in the fabric; a channel is (switch, port). Tables are
{(destination, its address from 0): {switch: out port}}.
"""
import collections
import json

Terminal = collections.namedtuple("Terminal", "node name guid role switch port")


class Fabric:
    """Switches with channels between different ones, and the terminals that hang on them."""

    def __init__(self, text):
        data = json.loads(text)
        self.switches = [s["node"] for s in data["switches"]]
        self.guid = {s["node"]: s["guid"] for s in data["switches"]}
        self.out = {s: [] for s in self.switches}  # [(port, switch there)] by port
        self.terminals = {}
        ends = {}
        for cable in data["cables"]:
            a, b = (cable["a"], cable["a_port"]), (cable["b"], cable["b_port"])
            for (v, port), (w, other) in ((a, b), (b, a)):
                if v in self.out and w in self.out and v != w:
                    self.out[v].append((port, w))
                elif v in self.out and w not in self.out:
                    ends[w] = v, port
        for s in self.switches:
            self.out[s].sort()
        self.head = {(s, port): w for s in self.switches for port, w in self.out[s]}
        for t in data["terminals"]:
            if t["node"] in ends:
                self.terminals[t["node"]] = Terminal(
                    t["node"], data["adapters"][t["adapter"]]["name"], t["guid"], t["role"],
                    *ends[t["node"]])
                self.guid[t["node"]] = t["guid"]

    def hops_to(self, home):
        """Distances of all switches that reach a switch."""
        far, ring = {home: 0}, [home]
        while ring:
            following = []
            for s in ring:
                for _, w in self.out[s]:  # cables lead both ways
                    if w not in far:
                        far[w] = far[s] + 1
                        following.append(w)
            ring = following
        return far


def read_jobs(fabric, text):
    """{job: set of terminals}, from lines NODE JOB; a node is all adapters whose name begins with it."""
    jobs = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if len(words) == 2:
            found = {t.node for t in fabric.terminals.values()
                     if words[0] in (t.name, t.name.split(" ")[0])}
            if found:
                jobs.setdefault(words[1], set()).update(found)
    return jobs


# The order ----------------------------------------------------------------------------------------

def round_robin(fabric, terminals):
    """The first terminal of each switch, then the second of each, and so on."""
    beds = collections.defaultdict(list)
    for t in terminals:
        beds[fabric.terminals[t].switch].append((fabric.terminals[t].port, t))
    for bed in beds.values():
        bed.sort()
    longest = max(map(len, beds.values()), default=0)
    return [beds[s][k][1] for k in range(longest) for s in sorted(beds) if k < len(beds[s])]


def spread(fabric, jobs):
    """Jobs on several switches: no route inside another one takes a channel between switches."""
    return [members for members in jobs.values()
            if len({fabric.terminals[t].switch for t in members}) > 1]


def phases(fabric, jobs):
    """Three lists of terminals."""
    groups = sorted(spread(fabric, jobs), key=lambda members: (-len(members), sorted(members)))
    taken, first = set(), []
    for members in groups:
        first += round_robin(fabric, members - taken)
        taken |= members
    idle = set(fabric.terminals) - taken
    storage = {t for t in idle if fabric.terminals[t].role == "io"}
    return first, round_robin(fabric, storage), round_robin(fabric, idle - storage)


def counted(fabric, jobs, phase, destination):
    """{switch: how many of its terminals count when they send to a destination}."""
    if phase > 0:
        senders = set(fabric.terminals)
    else:
        senders = set().union(*(members for members in spread(fabric, jobs)
                                if destination in members))
    return collections.Counter(fabric.terminals[t].switch for t in senders - {destination})


# Routing ------------------------------------------------------------------------------------------

def min_weights(fabric, weight, home):
    """Distance, and the least weight of a shortest path, of every switch that reaches home."""
    far = fabric.hops_to(home)
    least = {home: 0}
    for s in sorted(far, key=far.get):
        if s != home:
            least[s] = min(weight[s, port] + least[w] for port, w in fabric.out[s]
                           if far[w] == far[s] - 1)
    return far, least


def walk(fabric, row, s, home):
    """The channels from a switch to another; None where the row does not lead there."""
    path = []
    while s != home:
        if (s, row.get(s)) not in fabric.head or len(path) > len(fabric.switches):
            return None
        path.append((s, row[s]))
        s = fabric.head[path[-1]]
    return path


def destinations(fabric, jobs, lmc):
    """(phase, destination, address) in order; switches belong to the last phase."""
    for phase, members in enumerate(phases(fabric, jobs)):
        for t in members:
            for address in range(1 << lmc):
                yield phase, t, address
    for s in fabric.switches:
        yield 2, s, 0


def home_of(fabric, v):
    return fabric.terminals[v].switch if v in fabric.terminals else v


def route(fabric, jobs, lmc=0, choose=min):
    """Tables by Algorithm 5.1; choose: a port of several that are equally good."""
    tables, weight, last = {}, collections.Counter(), 0
    for phase, v, address in destinations(fabric, jobs, lmc):
        if phase != last:
            weight.clear()
        last = phase
        home = home_of(fabric, v)
        far, least = min_weights(fabric, weight, home)
        row = {s: choose([port for port, w in fabric.out[s] if far[w] == far[s] - 1
                          and weight[s, port] + least[w] == least[s]]) for s in far if s != home}
        tables[v, address] = row
        if v in fabric.terminals:
            add_weights(fabric, weight, row, home, counted(fabric, jobs, phase, v))
    return tables


def add_weights(fabric, weight, row, home, senders):
    for s, count in senders.items():
        for channel in walk(fabric, row, s, home) or ():
            weight[channel] += count


def replay(fabric, jobs, tables, lmc=0):
    """Where tables are not what the order asks for: a list of words, empty if nowhere."""
    wrong, weight, last = [], collections.Counter(), 0
    for phase, v, address in destinations(fabric, jobs, lmc):
        if phase != last:
            weight.clear()
        last = phase
        home, row = home_of(fabric, v), tables.get((v, address), {})  # lone switches have none
        far, least = min_weights(fabric, weight, home)
        for s in far:
            path = walk(fabric, row, s, home)
            if path is None:
                wrong.append("phase %d, to %d: no way from %d" % (phase + 1, v, s))
            elif len(path) != far[s]:
                wrong.append("phase %d, to %d from %d: %d hops, not %d" % (
                    phase + 1, v, s, len(path), far[s]))
            elif sum(weight[c] for c in path) != least[s]:
                wrong.append("phase %d, to %d from %d: weight %d, not %d" % (
                    phase + 1, v, s, sum(weight[c] for c in path), least[s]))
        if v in fabric.terminals:
            add_weights(fabric, weight, row, home, counted(fabric, jobs, phase, v))
    return wrong


def effective(fabric, jobs, tables, lmc=0):
    """Routes inside jobs on each channel, a pair once for every job that has both."""
    load = collections.Counter()
    for members in jobs.values():
        for t in members:
            senders = collections.Counter(fabric.terminals[m].switch for m in members - {t})
            for address in range(1 << lmc):
                add_weights(fabric, load, tables[t, address], fabric.terminals[t].switch, senders)
    return load


def sharers(fabric, jobs, tables, lmc=0):
    """How many jobs have routes on each channel."""
    return collections.Counter(channel for name in jobs for channel, load in
                               effective(fabric, {name: jobs[name]}, tables, lmc).items() if load)
