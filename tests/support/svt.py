"""A second, slow reader of .svt files (docs/decisions/0029-traces.md), for tests: knows nothing of the C one.

read(path) -> Trace; pack(size, name, {rank: ops}) -> bytes of a file (ops are numbers, as they come); Event(kind, call, amount, peer, tag, group, request), peer and tag None for any. group is a tuple (ordinal, ranks), so that
traces of different files can be compared. problems(trace) says what is wrong with it.
"""
import collections

KINDS = "compute send isend recv irecv wait collective icollective".split()
CALLS = ("- MPI_Send MPI_Ssend MPI_Isend MPI_Recv MPI_Irecv MPI_Sendrecv MPI_Wait MPI_Waitall MPI_Waitany MPI_Test MPI_Barrier MPI_Bcast MPI_Reduce "
         "MPI_Allreduce MPI_Gather MPI_Allgather MPI_Scatter MPI_Alltoall MPI_Reduce_scatter MPI_Scan").split()

Event = collections.namedtuple("Event", "kind call amount peer tag group request")
Trace = collections.namedtuple("Trace", "name ranks")  # ranks: {rank: [Event]}


class Bad(Exception):
    pass


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            if self.at >= len(self.data):
                raise Bad("ends in the middle")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(self, length):
        if self.at + length > len(self.data):
            raise Bad("ends in the middle")
        self.at += length
        return self.data[self.at - length:self.at]


def unzigzag(value):
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def leb(value):
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def pack(size, name, sections):
    """sections: {rank: numbers of its ops, without the 0 at the end}."""
    data = b"SVT1\n" + leb(size) + leb(len(name.encode())) + name.encode()
    for rank, numbers in sections.items():
        data += leb(1 + rank) + b"".join(map(leb, numbers)) + leb(0)
    data += leb(0)
    return data + fnv(data).to_bytes(8, "little")


def text(trace):
    """As selvage trace convert --format text has it, but groups are (ordinal, ranks) instead of their numbers."""
    lines = []
    for rank in sorted(trace.ranks):
        for e in trace.ranks[rank]:
            if e.kind == "compute":
                lines.append("%d compute %d" % (rank, e.amount))
                continue
            line = "%d %s %s" % (rank, e.kind, e.call)
            if e.kind.endswith("collective"):
                line += " root %d group %s bytes %d" % (e.peer, e.group, e.amount)
            elif e.kind != "wait":
                line += " %s %s tag %s group %s bytes %d" % ("from" if e.kind.endswith("recv") else "to", "any" if e.peer is None else e.peer,
                                                             "any" if e.tag is None else e.tag, e.group, e.amount)
            lines.append(line + (" request %d" % e.request if e.request is not None else ""))
    return lines


def read_event(b, rank, groups):
    kind, call = KINDS[b.number()], CALLS[b.number()]
    amount = peer = tag = group = request = None
    if kind in ("send", "isend", "recv", "irecv"):
        peer, tag, group, amount = b.number(), b.number(), groups[b.number()], b.number()
        peer = None if peer == 0 else rank + unzigzag(peer - 1)
        tag = None if tag == 0 else tag - 1
    elif kind in ("collective", "icollective"):
        peer, group, amount = b.number(), groups[b.number()], b.number()
    elif kind == "compute":
        amount = b.number()
    if kind in ("isend", "irecv", "icollective", "wait"):
        request = b.number()
    if kind == "icollective":
        call = "MPI_I" + call[4:].lower()
    return Event(kind, call, amount, peer, tag, group, request)


def read_section(b, rank, size):
    groups = [(0, tuple(range(size)))]
    known, records = [], []  # records: lists of events
    while True:
        op = b.number()
        if op == 0:
            return [event for record in records for event in record]
        if op == 1:
            ordinal, count, last, members = b.number(), b.number(), 0, []
            for _ in range(count):
                last += unzigzag(b.number())
                members.append(last)
            groups.append((ordinal, tuple(members)))
        elif op == 2:
            known.append(read_event(b, rank, groups))
            records.append([known[-1]])
        elif op == 3:
            length, count = b.number(), b.number()
            if length == 0 or length > len(records):
                raise Bad("repeats more than there is")
            again = [event for record in records[-length:] for event in record]
            records.append(again * count)
        elif op >= 8:
            records.append([known[op - 8]])
        else:
            raise Bad("op %d" % op)


def parse(data):
    b = Bytes(data)
    if b.take(5) != b"SVT1\n":
        raise Bad("no trace")
    size = b.number()
    name = b.take(b.number()).decode()
    ranks = {}
    while True:
        section = b.number()
        if section == 0:
            break
        if section > size or section - 1 in ranks:
            raise Bad("section of rank %d" % (section - 1))
        ranks[section - 1] = read_section(b, section - 1, size)
    at = b.at
    if int.from_bytes(b.take(8), "little") != fnv(data[:at]) or b.at != len(data):
        raise Bad("sum")
    return size, Trace(name, ranks)


def read(path):
    with open(path, "rb") as file:
        return parse(file.read())[1]


def join(traces):
    ranks = {}
    for trace in traces:
        ranks.update(trace.ranks)
    return Trace(traces[0].name, ranks)


def problems(trace):
    """What is wrong with a whole trace: requests, collectives' order, receives without messages. Nothing: []."""
    found, size = [], len(trace.ranks)
    sent, wanted, collectives = collections.Counter(), collections.Counter(), {}
    for rank, events in trace.ranks.items():
        open_requests = set()
        order = collections.defaultdict(list)
        for place, e in enumerate(events):
            where = "rank %d event %d: " % (rank, place)
            if e.kind in ("isend", "irecv", "icollective"):
                if e.request in open_requests:
                    found.append(where + "request %d is open" % e.request)
                open_requests.add(e.request)
            if e.kind == "wait":
                if e.request not in open_requests:
                    found.append(where + "request %d is not open" % e.request)
                open_requests.discard(e.request)
            if e.kind in ("send", "isend"):
                sent[rank, e.peer, e.tag, e.group] += 1
            if e.kind in ("recv", "irecv"):
                wanted[e.peer, rank, e.tag, e.group] += 1
            if e.group is not None and (rank not in e.group[1] or e.peer is None or not 0 <= e.peer < size):
                found.append(where + "group or peer")
            if e.kind.endswith("collective"):
                order[e.group].append((e.call, e.peer, e.amount))
        if open_requests:
            found.append("rank %d: open at the end: %s" % (rank, sorted(open_requests)))
        for group, calls in order.items():
            collectives.setdefault(group, {})[rank] = calls
    for key in set(sent) | set(wanted):
        if wanted[key] > sent[key]:
            found.append("%d receives and %d messages from %s to %s tag %s" % ((wanted[key], sent[key]) + key[:3]))
    for (_, members), by_rank in collectives.items():
        for rank in members:
            if by_rank.get(rank) != by_rank.get(members[0]):
                found.append("collectives of rank %d are not those of rank %d" % (rank, members[0]))
    return found


def unmatched(trace):
    """Messages that nobody receives: (from, to, tag, group) -> how many."""
    left = collections.Counter()
    for rank, events in trace.ranks.items():
        for e in events:
            if e.kind in ("send", "isend"):
                left[rank, e.peer, e.tag, e.group] += 1
            if e.kind in ("recv", "irecv"):
                left[e.peer, rank, e.tag, e.group] -= 1
    return {key: count for key, count in left.items() if count}


def calls(trace):
    return collections.Counter(e.call for events in trace.ranks.values() for e in events if e.call != "-")
