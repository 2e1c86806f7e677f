"""Other orders of the terminals of a fabric than that of its file, for exchange traffic."""
import collections
import random


class Places:
    """Where terminals are, from selvage convert --format json."""

    def __init__(self, fabric):
        switches = len(fabric["switches"])
        self.guids = [terminal["guid"] for terminal in fabric["terminals"]]
        self.names = [fabric["adapters"][t["adapter"]]["name"] for t in fabric["terminals"]]
        self.home = [0] * len(self.guids)
        self.beside = collections.defaultdict(set)
        for cable in fabric["cables"]:
            a, b = sorted((cable["a"], cable["b"]))
            if b >= switches:
                self.home[b - switches] = a
            else:
                self.beside[a].add(b)
                self.beside[b].add(a)

    def hops(self, switch):
        """{switch: distance}"""
        found, queue = {switch: 0}, [switch]
        for at in queue:
            for to in sorted(self.beside[at]):
                if to not in found:
                    found[to] = found[at] + 1
                    queue.append(to)
        return found

    def by_switch(self):
        hosts = collections.defaultdict(list)
        for guid, switch in zip(self.guids, self.home):
            hosts[switch].append(guid)
        return [hosts[switch] for switch in sorted(hosts)]


def shuffled_switches(places, seed):
    """Hosts of a switch stay together; the switches are in any order."""
    groups = places.by_switch()
    random.Random(seed).shuffle(groups)
    return [guid for group in groups for guid in group]


def dealt(places):
    """One host of each switch, then the next of each …"""
    groups, order = places.by_switch(), []
    while any(groups):
        order += [group.pop(0) for group in groups if group]
    return order


def shuffled(places, seed):
    order = list(places.guids)
    random.Random(seed).shuffle(order)
    return order


def nearest(places, bytes):
    """Lines for sim --traffic file: each terminal's messages of an exchange, the nearest first."""
    count, lines = len(places.guids), []
    for at in range(count):
        hops = places.hops(places.home[at])
        shifts = [shift for k in range(1, count // 2 + 1) for shift in (k, -k)][:count - 1]
        turns = sorted(((at + shift) % count for shift in shifts),
                       key=lambda to: hops[places.home[to]])
        lines += ["0 %s %s %d" % (places.names[at], places.names[to], bytes) for to in turns]
    return lines
