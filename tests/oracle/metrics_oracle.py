"""
Numbers about forwarding tables a second time, slowly and from the definitions in
include/selvage/metrics.h: every route is followed by itself and written down as a list of channels;
everything else is counting in those lists.

Works on tables read by routes_oracle.load. A route is (source, destination LID, channels), for every
ordered pair of a terminal and a LID of another one where packets arrive; a channel is (guid, port)
of a switch whose cable leads to another switch.
"""
import itertools
import statistics
from collections import Counter, defaultdict, deque

import routes_oracle as oracle

MASK = 2 ** 64 - 1


# Routes -------------------------------------------------------------------------------------------

def terminals_of(tables):
    return sorted(guid for guid, node in tables.nodes.items() if not node.is_switch)


def channels_of(tables):
    """All channels between different switches."""
    return sorted(end for end, far in tables.cables.items()
                  if tables.nodes[end[0]].is_switch and tables.nodes[far[0]].is_switch
                  and end[0] != far[0])


def home_of(tables, terminal):
    return tables.cables[terminal, tables.nodes[terminal].port][0]


def follow(tables, source, lid):
    """The channels between switches on the way, or None where the packet does not arrive."""
    at, channels, visited = home_of(tables, source), [], set()
    while at not in visited:
        visited.add(at)
        port = oracle.leave_by(tables, at, lid, starting=False)
        if port in (oracle.DELIVERED, oracle.DEAD_END):
            return None
        far, _ = tables.cables[at, port]
        if not tables.nodes[far].is_switch:
            return channels if tables.owner[lid] == far else None
        channels.append((at, port))
        at = far
    return None


def routes_of(tables):
    routes = []
    for source in terminals_of(tables):
        for lid, target in sorted(tables.owner.items()):
            if target != source and not tables.nodes[target].is_switch:
                channels = follow(tables, source, lid)
                if channels is not None:
                    routes.append((source, lid, channels))
    return routes


# Balance and lengths ------------------------------------------------------------------------------

def describe(loads):
    if not loads:
        return {"min": 0, "avg": 0, "max": 0, "sdv": 0, "unused": 0}
    return {"min": min(loads), "avg": statistics.fmean(loads), "max": max(loads),
            "sdv": statistics.pstdev(loads), "unused": loads.count(0)}


def loads_of(tables, routes):
    """{channel: routes}"""
    counts = Counter(channel for _, _, channels in routes for channel in channels)
    return {channel: counts[channel] for channel in channels_of(tables)}


def distances_from(tables, switch):
    distance, queue = {switch: 0}, deque([switch])
    neighbours = defaultdict(set)
    for guid, port in channels_of(tables):
        neighbours[guid].add(tables.cables[guid, port][0])
    while queue:
        at = queue.popleft()
        for near in neighbours[at]:
            if near not in distance:
                distance[near] = distance[at] + 1
                queue.append(near)
    return distance


def stretch_of(tables, routes):
    distances = {switch: distances_from(tables, switch) for switch in oracle.switches_of(tables)}
    quotients = []
    for source, lid, channels in routes:
        home, target = home_of(tables, source), home_of(tables, tables.owner[lid])
        if home != target:
            quotients.append(len(channels) / distances[home][target])
    return {"avg": statistics.fmean(quotients or [1]), "max": max(quotients or [1]),
            "pairs": len(quotients), "longer_pairs": sum(q > 1 for q in quotients)}


# Bounds -------------------------------------------------------------------------------------------

class Demand:
    """Terminals and addresses of a component's switches, and the channels between them."""

    def __init__(self, tables, switches):
        self.switches = sorted(switches)
        self.terminals, self.addresses = Counter(), Counter()
        for terminal in terminals_of(tables):
            if (terminal, tables.nodes[terminal].port) in tables.cables:
                home = home_of(tables, terminal)
                self.terminals[home] += 1
                self.addresses[home] += sum(owner == terminal for owner in tables.owner.values())
        self.channels = [(guid, tables.cables[guid, port][0])
                         for guid, port in channels_of(tables) if guid in switches]
        self.distances = {switch: distances_from(tables, switch) for switch in switches}

    def cut(self, inside):
        """What the channels into or out of a set of switches carry at least."""
        outside = set(self.switches) - set(inside)
        crossing = sum(a in inside and b in outside for a, b in self.channels)

        def carried(here, there):
            return sum(self.terminals[a] * self.addresses[b] for a in here for b in there)

        return -(-max(carried(inside, outside), carried(outside, inside)) // crossing)

    def one_switch(self, switch):
        """All terminals of a switch send to an address on the same channel."""
        out = sum(a == switch for a, _ in self.channels)
        others = sum(self.addresses[other] for other in self.switches if other != switch)
        return -(-others // out) * self.terminals[switch]

    def hops(self):
        """Sums over all routes: of their distances, and of ones."""
        total = sum(self.terminals[a] * self.addresses[b] * self.distances[a][b]
                    for a in self.switches for b in self.switches)
        terminals = sum(self.terminals[a] for a in self.switches)
        return total, (terminals - 1) * sum(self.addresses[a] for a in self.switches)

    def ball(self, centre, radius):
        return {s for s in self.switches if self.distances[centre][s] <= radius}

    def cluster(self, centre, radius):
        """The ball, less those on its rim with more channels outwards than into it."""
        ball = self.ball(centre, radius)

        def leans_out(switch):
            return (sum(a == switch and b not in ball for a, b in self.channels) >
                    sum(a == switch and b in ball for a, b in self.channels))

        return {s for s in ball if self.distances[centre][s] < radius or not leans_out(s)}


def components_of(tables):
    left, components = set(oracle.switches_of(tables)), []
    while left:
        components.append(set(distances_from(tables, min(left))))
        left -= components[-1]
    return components


def bounds_of(tables, all_cuts):
    """{kind: bound} and the bound of hops. all_cuts: every set of switches is tried."""
    best, hops, pairs = defaultdict(int), 0, 0
    for switches in components_of(tables):
        demand = Demand(tables, switches)
        total, routes = demand.hops()
        hops, pairs = hops + total, pairs + max(0, routes)
        if len(switches) == 1:
            continue
        found = [("mean", -(-total // len(demand.channels)))]
        for centre in demand.switches:
            found += [("switch", demand.cut({centre})), ("switch", demand.one_switch(centre))]
            for radius in range(1, max(demand.distances[centre].values())):
                found.append(("ball", demand.cut(demand.ball(centre, radius))))
            for radius in range(1, max(demand.distances[centre].values()) + 1):
                cluster = demand.cluster(centre, radius)
                if len(cluster) < len(switches):
                    found.append(("cluster", demand.cut(cluster)))
        for size in range(1, len(switches) if all_cuts else 0):
            found += [("cut", demand.cut(set(inside)))
                      for inside in itertools.combinations(demand.switches, size)]
        for kind, bound in found:
            best[kind] = max(best[kind], bound)
    return dict(best), hops / pairs if pairs else 0, pairs


def random_routing(rng, tables, switches):
    """The busiest channel of a routing by random trees, one for each address."""
    demand, load = Demand(tables, switches), Counter()
    ways = sorted((guid, port, tables.cables[guid, port][0])
                  for guid, port in channels_of(tables) if guid in switches)
    for home in demand.switches:
        for _ in range(demand.addresses[home]):
            out, reached = {}, {home}
            while len(reached) < len(switches):
                # Nearer ones first more often than not: some routings should be good.
                open_ways = [way for way in ways if way[0] not in reached and way[2] in reached]
                nearest = min(demand.distances[home][way[0]] for way in open_ways)
                near = [way for way in open_ways if demand.distances[home][way[0]] == nearest]
                guid, port, to = rng.choice(near if rng.random() < 0.9 else open_ways)
                out[guid] = (guid, port, to)
                reached.add(guid)
            for switch in demand.switches:
                at = switch
                while at != home:
                    load[out[at][:2]] += demand.terminals[switch]
                    at = out[at][2]
    return max(load.values(), default=0)


def vls_of(tables, routes):
    """{VL: [routes, hops]}, and the routes without one: local, discarded, unknown."""
    vls, rest = defaultdict(lambda: [0, 0]), {"local": 0, "discarded": 0, "unknown": 0}
    for source, lid, _ in routes:
        sl = oracle.said_sl(tables, source, lid)
        if sl is None:
            rest["unknown"] += 1
            continue
        ending, hops = oracle.walk(tables, source, lid, sl)
        on = [vl for guid, port, vl in hops
              if oracle.between_switches(tables, (guid, port, vl))]
        for vl in on:
            vls[vl][1] += 1
        if on:
            vls[on[0]][0] += 1
        rest["local"] += ending == oracle.DELIVERED and not on
        rest["discarded"] += ending == oracle.DISCARDED
    return dict(vls), rest


# Jobs ---------------------------------------------------------------------------------------------

def read_jobs(tables, text):
    """{job: set of terminals}, in the order of the file."""
    jobs = {}
    for line in text.split("\n"):
        words = line.split("#")[0].split()
        if words:
            node, job = words
            jobs.setdefault(job, set()).update(
                guid for guid in terminals_of(tables)
                if node in (tables.nodes[guid].name, tables.nodes[guid].name.split()[0]))
    return jobs


def jobs_of(tables, routes, jobs):
    total, listed = Counter(), []
    for job, members in jobs.items():
        mine = [route for route in routes
                if route[0] in members and tables.owner[route[1]] in members]
        loads = loads_of(tables, mine)
        total.update(loads)
        listed.append({"job": job, "terminals": len(members), "pairs": len(mine),
                       "max": max(loads.values(), default=0),
                       "links": sum(load > 0 for load in loads.values())})
    loads = [total[channel] for channel in channels_of(tables)]
    spread = [job for job in listed if job["links"] > 0]
    return {"efi": describe(loads), "list": listed, "spread": len(spread),
            "dark_fibre_percent": 100 * loads.count(0) / len(loads) if loads else 0,
            "job_max_avg": statistics.fmean([job["max"] for job in spread] or [0]),
            "job_links_avg": statistics.fmean([job["links"] for job in spread] or [0])}


# Failures -----------------------------------------------------------------------------------------

def read_failures(text):
    """Failed switches, and failed ends of cables, of a list that selvage faults wrote."""
    switches, ends = set(), set()
    for line in text.split("\n"):
        words = line.split("#")[0].split()
        if words[:1] == ["switch"]:
            switches.add(oracle.guid_of(words[1]))
        elif words[:1] == ["link"]:
            ends.add((oracle.guid_of(words[1]), int(words[2])))
            ends.add((oracle.guid_of(words[3]), int(words[4])))
    return switches, ends


def lost_of(tables, routes, switches, ends):
    lost = 0
    for source, lid, channels in routes:
        passed = {home_of(tables, source), home_of(tables, tables.owner[lid])}
        passed.update(guid for guid, _ in channels)
        lost += bool(passed & switches or ends & set(channels))
    return lost


def expected_lost(tables, routes, failures, switches):
    hops = sum(len(channels) for _, _, channels in routes)
    if switches:
        return failures * (hops + len(routes)) / len(oracle.switches_of(tables))
    return 2 * failures * hops / len(channels_of(tables))


def whisker(samples):
    q1, median, q3 = (statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1
                      else samples * 3)
    return {"min": min(samples), "q1": q1, "median": median, "q3": q3, "max": max(samples),
            "mean": statistics.fmean(samples)}


# Matchings ----------------------------------------------------------------------------------------

class Random:
    """xoshiro256** 1.0, its state from splitmix64."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9e3779b97f4a7c15) & MASK
            z = seed
            z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
            z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
            self.state.append(z ^ (z >> 31))

    def next(self):
        def turn(x, by):
            return ((x << by) | (x >> (64 - by))) & MASK

        s = self.state
        result = (turn((s[1] * 5) & MASK, 7) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = turn(s[3], 45)
        return result

    def below(self, bound):
        while True:
            number = self.next()
            if number >= 2 ** 64 % bound:
                return number % bound

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def matching_bandwidth(tables, senders, receivers):
    """The mean share of the flows, how many do not arrive, and the most on a channel."""
    ways = [follow(tables, source, tables.nodes[target].lid)
            for source, target in zip(senders, receivers)]
    crowd = Counter(channel for way in ways if way is not None for channel in way)
    most = [max([1] + [crowd[channel] for channel in way]) for way in ways if way is not None]
    mean = sum(1 / m for m in most) / len(ways) if ways else 0
    return mean, ways.count(None), max(most, default=0)


def bisection_of(tables, compute, matchings, seed):
    """compute: the compute terminals in the order of their numbers."""
    first, results = Random(seed).next(), []
    for number in range(matchings):
        order = list(compute)
        Random((first + number) & MASK).shuffle(order)
        half = len(order) // 2
        results.append(matching_bandwidth(tables, order[:half], order[half:2 * half]))
    means = [mean for mean, _, _ in results]
    return {"flows": len(compute) // 2, "avg": statistics.fmean(means), "min": min(means),
            "max": max(means), "sdv": statistics.pstdev(means),
            "lost_flows": sum(lost for _, lost, _ in results),
            "max_on_a_channel": max(worst for _, _, worst in results)}
