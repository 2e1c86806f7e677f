"""What the library says of traces (sv_mpi_summarise, sv_mpi_phase_flows) against a slow second
implementation, by the words of docs/traces.md: skeletons cut short, and random programs.

Run: python3 -B tests/oracle/test_summary.py [TRIALS [SEED]]
"""
import collections
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.trials import arguments  # noqa: E402

TRIALS, SEED = arguments(150)
PROGRAM = os.path.join(os.environ.get("SELVAGE_BUILD", "build/check"), "tests", "support_trace")
ANY = 2**32 - 1
COMPUTE, SEND, ISEND, RECV, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)

SKELETONS = ["lu:class=S,ranks=4,iterations=3", "lu:class=S,ranks=16,iterations=2",
             "lu:class=W,ranks=8,iterations=1", "mg:class=S,ranks=16,iterations=2",
             "mg:class=S,ranks=64,iterations=1", "ft:class=S,ranks=8,iterations=9",
             "ft:class=W,ranks=64,iterations=2", "pop:ranks=12,steps=2,iterations=5,levels=3",
             "pop:ranks=6,steps=1,iterations=4,sums=3,north=closed",
             "sweep3d:ranks=6,iterations=2,nz=40", "smg2000:ranks=8,n=3,iterations=1"]

Event = collections.namedtuple("Event", "kind call amount peer tag request group")


class Trace:
    def __init__(self, text):
        self.groups, self.said, self.schedule = [], collections.defaultdict(list), {}
        for line in text.split("\n"):
            words = line.split()
            if not words:
                continue
            numbers = words[1:]
            if words[0] != "degrees":
                numbers = [int(word) for word in numbers]
            if words[0] == "ranks":
                self.ranks = numbers[0]
                self.events = [[] for _ in range(self.ranks)]
            elif words[0] == "group":
                self.groups.append(numbers)
            elif words[0] == "e":
                event = Event(*numbers[1:])
                self.events[numbers[0]].append(event)
                if event.kind in (COLLECTIVE, ICOLLECTIVE):
                    key = (event.call, event.group, event.peer, event.amount)
                    self.schedule.setdefault(key, [])
            elif words[0] == "m":
                self.schedule[tuple(numbers[:4])].append(tuple(numbers[4:]))
            else:
                self.said[words[0]].append(numbers)

    def messages_of(self, event):
        return self.schedule[(event.call, event.group, event.peer, event.amount)]

    def first_of_groups(self):
        """Every collective once: the event of its group's first rank."""
        for rank, events in enumerate(self.events):
            for event in events:
                if event.kind in (COLLECTIVE, ICOLLECTIVE) and self.groups[event.group][0] == rank:
                    yield event


def check_sums(test, trace):
    point, everything = collections.Counter(), collections.Counter()
    messages, calls, sizes = collections.Counter(), collections.Counter(), collections.Counter()
    begun = collections.Counter()
    peers = [set() for _ in range(trace.ranks)]
    events = compute = 0
    for rank, all_of in enumerate(trace.events):
        for event in all_of:
            events += 1
            (begun if event.kind == ICOLLECTIVE else calls)[event.call] += event.call != 0
            compute += event.amount if event.kind == COMPUTE else 0
            if event.kind in (SEND, ISEND):
                everything[rank, event.peer] += event.amount
                messages[rank, event.peer] += 1
                sizes[event.amount.bit_length()] += 1
                if event.tag < 2**31:  # others are parts of collectives
                    point[rank, event.peer] += event.amount
                    peers[rank].add(event.peer)
    for event in trace.first_of_groups():
        for source, to, amount in trace.messages_of(event):
            everything[source, to] += amount
            messages[source, to] += 1
            sizes[amount.bit_length()] += 1
    degrees = [len(peers[rank] - {rank}) for rank in range(trace.ranks)]
    test.assertEqual(trace.said["total"], [[events, sum(messages.values()),
                                            sum(everything.values()), compute]])
    test.assertEqual(trace.said["calls"], [[calls[i] for i in range(len(trace.said["calls"][0]))]])
    test.assertEqual(trace.said["begun"], [[begun[i] for i in range(len(trace.said["begun"][0]))]])
    test.assertEqual(trace.said["sizes"], [[sizes[i] for i in range(65)]])
    test.assertEqual(trace.said["cell"],
                     [[a, b, point[a, b], everything[a, b], messages[a, b]]
                      for a in range(trace.ranks) for b in range(trace.ranks)])
    test.assertEqual(trace.said["degree"], [[r, d] for r, d in enumerate(degrees)])
    mean, most = trace.said["degrees"][0]
    test.assertAlmostEqual(float(mean), sum(degrees) / trace.ranks, places=6)
    test.assertEqual(int(most), max(degrees))
    return sum(everything.values())


# ---- logical time ----

class Rank:
    """What one rank does: a list of things, cut into blocks as it goes."""

    def __init__(self):
        self.at, self.posted, self.blocks = 0, None, [[]]

    def put(self, thing):
        """thing: ("in", channel, number), ("out", channel, number), ("all", group, number), ("begin", which), ("end", which)"""
        block = self.blocks[-1]
        same = any(other[:2] == thing[:2] for other in block)
        sent = any(other[0] == "out" for other in block)
        closed = any(other[0] in ("all", "begin") for other in block)
        if block and (closed or same or thing[0] in ("all", "begin") or (thing[0] in ("in", "end") and sent)):
            self.blocks.append([])
        self.blocks[-1].append(thing)


class Run:
    """Who receives which message: all ranks in turn, an event at a time."""

    def __init__(self, trace):
        self.trace = trace
        self.ranks = [Rank() for _ in range(trace.ranks)]
        self.sent = collections.defaultdict(list)  # channel: (rank, block, bytes) each
        self.taken = collections.Counter()         # channel: receives posted
        self.requests = {}
        self.met = collections.Counter()           # group, rank: collectives done
        self.collectives = {}                      # group, number: (event, {rank: block})
        self.begins = collections.Counter()        # rank, group: collectives begun
        self.begun = {}                            # group, number: (event, {rank: block})
        while True:
            while any([self.step(rank) for rank in range(trace.ranks)]):
                pass
            if not self.settle():
                break
        for rank, state in enumerate(self.ranks):
            assert state.at == len(trace.events[rank]), "rank %d hangs" % rank

    def event(self, rank):
        state = self.ranks[rank]
        events = self.trace.events[rank]
        return events[state.at] if state.at < len(events) else None

    def post(self, rank, event):
        if ANY in (event.peer, event.tag):
            return [event, None]
        channel = (event.peer, rank, event.tag, event.group)
        self.taken[channel] += 1
        return [channel, self.taken[channel] - 1]

    def receive(self, rank, want):
        state = self.ranks[rank]
        if want[1] is None or want[1] >= len(self.sent[want[0]]):
            return False
        state.put(("in", want[0], want[1]))
        state.at, state.posted = state.at + 1, None
        return True

    def step(self, rank):
        event, state = self.event(rank), self.ranks[rank]
        if event is None:
            return False
        if event.kind in (SEND, ISEND):
            channel = (rank, event.peer, event.tag, event.group)
            state.put(("out", channel, len(self.sent[channel])))
            self.sent[channel].append((rank, len(state.blocks) - 1, event.amount))
            if event.kind == ISEND:
                self.requests[rank, event.request] = None
        elif event.kind == IRECV:
            self.requests[rank, event.request] = self.post(rank, event)
        elif event.kind == RECV:
            state.posted = state.posted or self.post(rank, event)
            return self.receive(rank, state.posted)
        elif event.kind == ICOLLECTIVE:
            self.begin(rank, event)
        elif event.kind == WAIT and (self.requests[rank, event.request] or [0])[0] == "begun":
            which = self.requests[rank, event.request][1]
            if len(self.begun[which][1]) < len(self.trace.groups[which[0]]):
                return False
            state.put(("end", which))
        elif event.kind == WAIT and self.requests[rank, event.request] is not None:
            return self.receive(rank, self.requests[rank, event.request])
        elif event.kind == COLLECTIVE:
            return self.meet(rank, event)
        state.at += 1
        return True

    def begin(self, rank, event):
        which = (event.group, self.begins[rank, event.group])
        self.begins[rank, event.group] += 1
        self.requests[rank, event.request] = ["begun", which]
        self.ranks[rank].put(("begin", which))
        self.begun.setdefault(which, (event, {}))[1][rank] = len(self.ranks[rank].blocks) - 1

    def meet(self, rank, event):
        group = self.trace.groups[event.group]
        if state_waits(self, event, group):
            return False
        number = self.met[event.group]
        self.met[event.group] += 1
        blocks = {}
        for member in group:
            self.ranks[member].put(("all", event.group, number))
            blocks[member] = len(self.ranks[member].blocks) - 1
            self.ranks[member].at += 1
        self.collectives[event.group, number] = (event, blocks)
        return True

    def ticks(self):
        """The least numbers that are as they must be, by trying until nothing changes."""
        tick = [[0] * len(state.blocks) for state in self.ranks]
        changed = True
        while changed:
            changed = False
            for rank, state in enumerate(self.ranks):
                for i, block in enumerate(state.blocks):
                    least = tick[rank][i - 1] + 1 if i > 0 else 0
                    for kind, where, *number in block:
                        number = number[0] if number else None
                        if kind == "in":
                            sender, at, _ = self.sent[where][number]
                            least = max(least, tick[sender][at] + 1)
                        elif kind == "end":
                            least = max([least] + [tick[r][b] + 1 for r, b in self.begun[where][1].items()])
                        elif kind == "all":
                            if (where, number) in self.collectives:
                                blocks = self.collectives[where, number][1]
                                least = max([least] + [tick[r][b] for r, b in blocks.items()])
                    if least > tick[rank][i]:
                        tick[rank][i] = least
                        changed = True
        return tick

    def settle(self):
        """Nobody can go on: the lowest rank that takes from anybody gets the earliest message."""
        tick = None
        for rank in range(self.trace.ranks):
            event = self.event(rank)
            if event is None or event.kind not in (RECV, WAIT):
                continue
            want = (self.ranks[rank].posted if event.kind == RECV
                    else self.requests[rank, event.request])
            if want is None or want[1] is not None:
                continue
            tick = tick or self.ticks()
            best = []
            for channel, sent in self.sent.items():
                if (channel[1] == rank and self.taken[channel] < len(sent)
                        and want[0].peer in (ANY, channel[0]) and want[0].tag in (ANY, channel[2])
                        and want[0].group == channel[3]):
                    sender, block, _ = sent[self.taken[channel]]
                    best.append((tick[sender][block], channel[0], channel[2], channel))
            if best:
                want[0] = min(best)[3]
                want[1] = self.taken[want[0]]
                self.taken[want[0]] += 1
                return True
        return False


def state_waits(run, event, group):
    """Whether one of a group is not at its collective yet."""
    for member in group:
        other = run.event(member)
        if other is None or other.kind != COLLECTIVE or other.group != event.group:
            return True
    return False


def steps_of(trace):
    """[(messages as a list, collectives as a list)] in the order of ticks, none empty."""
    run = Run(trace)
    tick = run.ticks()
    steps = collections.defaultdict(lambda: ([], []))
    for channel, sent in run.sent.items():
        for rank, block, amount in sent:
            steps[tick[rank][block]][0].append((channel[0], channel[1], amount))
    for event, blocks in run.collectives.values():
        rank, block = next(iter(blocks.items()))
        steps[tick[rank][block]][1].append(event)
    for event, blocks in run.begun.values():
        steps[max(tick[r][b] for r, b in blocks.items())][1].append(event)
    return [steps[t] for t in sorted(steps)]


# ---- phases ----

def all_messages(trace, step):
    messages = list(step[0])
    for event in step[1]:
        messages += trace.messages_of(event)
    return messages


def bits(step_bytes):
    return sum(step_bytes).bit_length()


def string_of(shapes, volume):
    """[(what it is, its steps)]: stretches that are phases as a whole, and single steps."""
    stretches, start = [], 0
    for i in range(1, len(shapes) + 1):
        if i == len(shapes) or bool(shapes[i][0]) != bool(shapes[start][0]):
            stretches.append(range(start, i))
            start = i
    alike = collections.Counter((tuple(shapes[i] for i in s), bits(volume[i] for i in s))
                                for s in stretches)
    string = []
    for s in stretches:
        what = (tuple(shapes[i] for i in s), bits(volume[i] for i in s))
        if len(s) <= 64 and alike[what] > 1:
            string.append((what, list(s)))
        else:
            string += [(((shapes[i],), volume[i].bit_length()), [i]) for i in s]
    return string


def chains_of(string):
    """Kinds that nearly always follow each other, [[kind, ...]], by their first coming."""
    kinds = [what for what, _ in string]
    count, follows = collections.Counter(kinds), collections.Counter(zip(kinds, kinds[1:]))
    order = list(dict.fromkeys(kinds))
    after = {}
    for (a, b), often in follows.items():
        alone = bool(a[0][0][0]) == bool(b[0][0][0])
        if a != b and alone and 5 * often >= 4 * count[a] and 5 * often >= 4 * count[b]:
            assert a not in after
            after[a] = b
    headless = set(after.values())
    chains, done = [], set()
    for start in [k for k in order if k not in headless] + order:
        chain = []
        while start is not None and start not in done:
            chain.append(start)
            done.add(start)
            start = after.get(start)
        if chain:
            chains.append(chain)
    chains.sort(key=lambda chain: order.index(chain[0]))
    return chains


class Phase:
    """The chains that are alike; the first is what one time of it is."""

    def __init__(self, chain, steps):
        self.chain, self.steps, self.weight, self.all = chain, steps, 0, []


def check_phases(test, trace, all_bytes):
    steps = steps_of(trace)
    volume = [sum(m[2] for m in all_messages(trace, step)) for step in steps]
    shapes = [(tuple(sorted((a, b) for a, b, _ in points)),
               tuple(sorted((e.call, e.group, e.peer, e.amount.bit_length()) for e in calls)))
              for points, calls in steps]
    string = string_of(shapes, volume)
    comings = collections.defaultdict(list)
    for what, where in string:
        comings[what].append(where)
    found = {}
    chains = chains_of(string)
    for chain in chains:
        one = [i for kind in chain for i in comings[kind][0]]
        alike = (tuple(shapes[i] for i in one), bits(volume[i] for i in one))
        phase = found.setdefault(alike, Phase(chain, one))
        phase.weight += len(comings[chain[0]])
        phase.all += [i for kind in chain for where in comings[kind] for i in where]
    phases, flows, relevant = [], [], []
    for p, phase in enumerate(found.values()):
        pairs = collections.defaultdict(lambda: [0, 0, 0])
        for k, i in enumerate(phase.steps):
            for a, b, amount in all_messages(trace, steps[i]):
                pairs[a, b][0] += 1
                pairs[a, b][1] += amount
                pairs[a, b][2] |= 1 << k % 64
        share = sum(volume[i] for i in phase.all)
        matters = phase.weight >= 2 and (0 < share >= all_bytes / 100
                                         or len(phase.all) >= len(steps) / 100)
        phases.append([phase.weight, sum(n for n, _, _ in pairs.values()),
                       sum(n for _, n, _ in pairs.values()), phase.steps[0], int(matters),
                       int(not shapes[phase.steps[0]][0])])
        relevant.append(phase.weight if matters else 0)
        flows += [[p, a, b] + numbers for (a, b), numbers in pairs.items()]
    test.assertEqual(sorted(i for phase in found.values() for i in phase.all),
                     list(range(len(steps))))
    test.assertEqual(trace.said["phases"],
                     [[len(phases), sum(w > 0 for w in relevant), sum(relevant)]])
    test.assertEqual(trace.said["phase"], phases)
    test.assertEqual(sorted(trace.said["flow"]), sorted(flows))
    return len(chains) - len(phases), max([len(chain) for chain in chains], default=0)


class Summary(unittest.TestCase):
    def one(self, *arguments):
        run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        trace = Trace(run.stdout)
        return trace, check_phases(self, trace, check_sums(self, trace))

    def test_skeletons(self):
        for spec in SKELETONS:
            with self.subTest(spec):
                self.one(spec)

    def test_random_programs(self):
        anybody = longest = alike = 0
        for seed in range(SEED, SEED + TRIALS):
            with self.subTest(seed=seed):
                trace, (same, chain) = self.one("random", str(seed))
                alike += same
                anybody += any(e.peer == ANY and e.kind in (RECV, IRECV)
                               for events in trace.events for e in events)
                longest = max(longest, chain)
        if TRIALS >= 50:  # what the trials are to try has been tried
            self.assertGreater(anybody, TRIALS / 20)
            self.assertGreater(longest, 3)
        if TRIALS >= 1000:
            self.assertGreater(alike, 0)


if __name__ == "__main__":
    unittest.main()
