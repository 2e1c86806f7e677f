"""
Forwarding tables checked a second time, slowly and from the definitions, to compare with selvage.

Written without a look at the implementation, so that a misread definition shows as a difference.
Reads what OpenSM dumps (opensm-subnet.lst, opensm-lfts.dump, opensm-sl2vl.dump, opensm.psl,
opensm.mcfdbs), then sends one packet for every (source, destination LID, service level), follows
it hop by hop, and writes down which (channel, VL) it holds while it wants the next one.
Deadlock-free means that the graph of those dependencies has no cycle (Dally and Seitz 1987).

A node is named by "0x%016x" of its GUID: the node GUID of a switch, the port GUID of a terminal
(one adapter port). A channel is one direction of a cable, named by the node and the port it leaves;
together with a VL it is (guid, port, VL).

    tables = load(directory)
    verify(tables, assume_sl=None, reversible=False, unknown_sl="any")
    verify_transition(old, new, assume_sl=None, reversible=False, unknown_sl="any")
"""
import copy
import os
import re
from collections import defaultdict

SERVICE_LEVELS = range(16)
DISCARD_VL = 15
NO_ENTRY = 255

# How a packet can end; a port number instead means that it goes on.
DELIVERED, DEAD_END, DISCARDED, LOOP = "delivered", "dead end", "discarded", "loop"

# Each verdict is over the packets of these kinds, named source_destination.
VERDICTS = {
    "terminal_terminal": ("terminal_terminal",),
    "terminal_switch": ("terminal_terminal", "terminal_switch", "switch_terminal"),
    "switch_switch": ("terminal_terminal", "terminal_switch", "switch_terminal", "switch_switch"),
}
KINDS = VERDICTS["switch_switch"]


class Node:
    """A switch, or one port of an adapter or router (a terminal)."""

    def __init__(self, kind, node_guid, port_guid, name, lid, port):
        self.is_switch = kind.startswith("SW")
        self.node_guid, self.port_guid, self.name, self.lid = node_guid, port_guid, name, lid
        self.guid = node_guid if self.is_switch else port_guid
        self.port = None if self.is_switch else port
        self.word = "switch" if self.is_switch else "terminal"


class Tables:
    """All that the files of one directory say."""

    def __init__(self):
        self.nodes = {}    # guid: Node
        self.cables = {}   # (guid, port): (guid, port), both directions
        self.owner = {}    # LID: guid
        self.lft = {}      # switch: {LID: out port}
        self.sl2vl = None  # guid: {(in, out): [VL of SL 0, …]}; None: there is no such file
        self.psl = None    # (scope, guid, destination LID): SL; None: there is no such file
        self.masks = {}    # switch: {multicast LID: set of out ports}


# Reading ------------------------------------------------------------------------------------------

END = (r"\{ (\S+) Ports:\S+ SystemGUID:\S+ NodeGUID:(\w+) PortGUID:(\w+)"
       r" VenID:\S+ DevID:\S+ Rev:\S+ \{(.*?)\} LID:(\w+) PN:(\w+) \}")
CABLE = re.compile(END + " " + END + r"( PHY=.*)?")
LFT_SWITCH = re.compile(r"Unicast lids .*? guid (0x\w+)\b.*")
LFT_ENTRY = re.compile(r"(0x\w+)\s+(\d+)\b(?:.*?\bportguid (0x\w+))?.*")
LFT_LAST = re.compile(r"\d+ (valid )?lids dumped\s*")
SL2VL_NODE = re.compile(r"[A-Z][A-Za-z ]* (0x\w+), base LID (\d+)\b.*")
SL2VL_ROW = re.compile(r"(\d+)\s+(\d+)\s*:((?:\s+\d+){16})\s*")
MASK_SWITCH = re.compile(r"Switch (0x\w+).*")
MASK_HEADER = re.compile(r"LID\s*:\s*Out Port\(s\)\s*")
MASK_ROW = re.compile(r"(0x\w+)\s*:((?:\s*0x\w+)*)\s*")


def guid_of(text):
    return "0x%016x" % int(text, 16)


def lines_of(directory, name):
    """The lines that are neither blank nor a comment, or None if there is no such file."""
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="latin-1") as file:
        lines = [line.rstrip("\n") for line in file]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def needed(lines, name):
    if lines is None:
        raise ValueError(f"{name} is missing")
    return lines


def not_understood(name, line):
    return ValueError(f"{name}: not understood: {line}")


def read_end(tables, kind, node_guid, port_guid, name, lid, port):
    """One end of a cable; gives (guid, port)."""
    node = Node(kind, guid_of(node_guid), guid_of(port_guid), name, int(lid, 16), int(port, 16))
    known = tables.nodes.setdefault(node.guid, node)
    if (known.is_switch, known.lid, known.port) != (node.is_switch, node.lid, node.port):
        raise ValueError(f"node {node.guid} is described in two ways")
    return node.guid, int(port, 16)


def read_subnet(tables, directory):
    name = "opensm-subnet.lst"
    for line in needed(lines_of(directory, name), name):
        match = CABLE.fullmatch(line.strip())
        if not match:
            raise not_understood(name, line)
        ends = [read_end(tables, *match.groups()[i:i + 6]) for i in (0, 6)]
        for near, far in (ends, reversed(ends)):
            if tables.cables.setdefault(near, far) != far:
                raise ValueError(f"{name}: two cables in port {near[1]} of {near[0]}")


def read_lfts(tables, directory):
    """The tables, and as a result {port GUID: set of the LIDs that comments give to it}."""
    name, switch, lids = "opensm-lfts.dump", None, defaultdict(set)
    for line in needed(lines_of(directory, name), name):
        if match := LFT_SWITCH.fullmatch(line):
            switch = guid_of(match[1])
            tables.lft.setdefault(switch, {})
        elif switch and (match := LFT_ENTRY.fullmatch(line)):
            lid, port = int(match[1], 16), int(match[2])
            if port < NO_ENTRY:
                tables.lft[switch][lid] = port
            if match[3]:
                lids[guid_of(match[3])].add(lid)
        elif not LFT_LAST.fullmatch(line):
            raise not_understood(name, line)
    return lids


def give_lids(tables, lids):
    """Base LID L and a power of two of LIDs from there, so many that all commented ones are in."""
    for guid, node in tables.nodes.items():
        if node.lid == 0:
            continue
        last = max([node.lid, *lids.get(node.port_guid, ())])
        number = 1
        while node.lid + number - 1 < last:
            number *= 2
        for lid in range(node.lid, node.lid + number):
            if tables.owner.setdefault(lid, guid) != guid:
                raise ValueError(f"LID {lid} belongs to {guid} and to {tables.owner[lid]}")


def node_of_block(tables, guid, base_lid):
    """The node a block of the SL2VL file is of; of two ports of an adapter the LID tells which."""
    for node in tables.nodes.values():
        if node.lid == base_lid and guid in (node.guid, node.node_guid, node.port_guid):
            return node.guid
    for node in tables.nodes.values():
        if guid in (node.guid, node.port_guid):
            return node.guid
    return guid


def read_sl2vl(tables, directory):
    name, node = "opensm-sl2vl.dump", None
    lines = lines_of(directory, name)
    if lines is None:
        return
    tables.sl2vl = {}
    for line in lines:
        if match := SL2VL_NODE.fullmatch(line):
            node = node_of_block(tables, guid_of(match[1]), int(match[2]))
            tables.sl2vl.setdefault(node, {})
        elif node and (match := SL2VL_ROW.fullmatch(line)):
            vls = [int(vl) for vl in match[3].split()]
            if max(vls) > DISCARD_VL:
                raise not_understood(name, line)
            tables.sl2vl[node][int(match[1]), int(match[2])] = vls
        else:
            raise not_understood(name, line)


def read_psl(tables, directory):
    name = "opensm.psl"
    lines = lines_of(directory, name)
    if lines is None:
        return
    tables.psl = {}
    for line in lines:
        source, lid, sl = line.split("#")[0].split()
        if int(sl) not in SERVICE_LEVELS:
            raise not_understood(name, line)
        if source == "*":
            key = "any", None
        elif source.startswith("@"):
            key = "switch", guid_of(source[1:])
        else:
            key = "port", guid_of(source)
        tables.psl[(*key, int(lid))] = int(sl)


def read_masks(tables, directory):
    name, switch = "opensm.mcfdbs", None
    for line in lines_of(directory, name) or []:
        if match := MASK_SWITCH.fullmatch(line):
            switch = guid_of(match[1])
            tables.masks.setdefault(switch, {})
        elif switch and (match := MASK_ROW.fullmatch(line)):
            ports = {int(port, 16) for port in match[2].split()}
            tables.masks[switch].setdefault(int(match[1], 16), set()).update(ports)
        elif not MASK_HEADER.fullmatch(line):
            raise not_understood(name, line)


def load(directory):
    tables = Tables()
    read_subnet(tables, directory)
    give_lids(tables, read_lfts(tables, directory))
    read_sl2vl(tables, directory)
    read_psl(tables, directory)
    read_masks(tables, directory)
    return tables


# What the tables say ------------------------------------------------------------------------------

def lids_of(tables, guid):
    return sorted(lid for lid, owner in tables.owner.items() if owner == guid)


def switches_of(tables):
    return sorted(guid for guid, node in tables.nodes.items() if node.is_switch)


def between_switches(tables, channel):
    guid, port, _ = channel
    far, _ = tables.cables[guid, port]
    return tables.nodes[guid].is_switch and tables.nodes[far].is_switch


def vl_of(tables, guid, in_port, out_port, sl):
    """The VL on which a packet of that SL leaves; an adapter's one row may have any out port."""
    if tables.sl2vl is None:
        return 0
    rows = tables.sl2vl.get(guid, {})
    row = rows.get((in_port, out_port))
    if row is None and not tables.nodes[guid].is_switch:
        row = rows.get((0, 0))
    return row[sl] if row else 0


def said_sl(tables, source, lid):
    """The SL of the path file, from the most specific line; None if it has none."""
    if tables.psl is None:
        return None
    node = tables.nodes[source]
    switch = source if node.is_switch else tables.cables[source, node.port][0]
    for key in (("port", source), ("switch", switch), ("any", None)):
        if (*key, lid) in tables.psl:
            return tables.psl[(*key, lid)]
    return None


def sls_of(tables, source, lid, assume_sl, reversible, unknown_sl):
    """All service levels with which the source may send to the LID."""
    if assume_sl is not None:
        return {assume_sl}
    paths = [(source, lid)]
    if reversible:
        paths += [(tables.owner[lid], back) for back in lids_of(tables, source)]
    sls = set()
    for path in paths:
        sl = said_sl(tables, *path)
        if sl is not None:
            sls.add(sl)
        else:
            sls.update(SERVICE_LEVELS if unknown_sl == "any" else {unknown_sl})
    return sls


def split_pairs(tables):
    """How many (terminal, LID of a terminal) no cables join."""
    part = {guid: guid for guid in tables.nodes}
    for (a, _), (b, _) in tables.cables.items():
        if part[a] != part[b]:
            old, new = part[a], part[b]
            part = {guid: new if of == old else of for guid, of in part.items()}
    return sum(kind == "terminal_terminal" and part[source] != part[tables.owner[lid]]
               for kind, source, lid in pairs(tables))


# Packets ------------------------------------------------------------------------------------------

def leave_by(tables, guid, lid, starting):
    """The cabled port by which a packet leaves a node, or how it ends there."""
    node, is_mine = tables.nodes[guid], tables.owner[lid] == guid
    if not node.is_switch:
        if starting:
            return node.port
        return DELIVERED if is_mine else DEAD_END
    port = tables.lft.get(guid, {}).get(lid)
    if port == 0:
        return DELIVERED if is_mine else DEAD_END
    return port if (guid, port) in tables.cables else DEAD_END


def walk(tables, source, lid, sl):
    """How the packet ends and the (guid, port, VL)s on its way, the first repeated one last."""
    at, in_port, hops = source, 0, []
    while True:
        out_port = leave_by(tables, at, lid, starting=not hops)
        if out_port in (DELIVERED, DEAD_END):
            return out_port, hops
        vl = vl_of(tables, at, in_port, out_port, sl)
        if vl == DISCARD_VL:
            return DISCARDED, hops
        been_here = (at, out_port, vl) in hops
        hops.append((at, out_port, vl))
        if been_here:
            return LOOP, hops
        at, in_port = tables.cables[at, out_port]


def pairs(tables):
    """All (source, destination LID), without the source's own LIDs, and what kind of pair it is."""
    for source in sorted(tables.nodes):
        for lid, target in sorted(tables.owner.items()):
            if target != source:
                kind = f"{tables.nodes[source].word}_{tables.nodes[target].word}"
                yield kind, source, lid


class Traffic:
    """What all packets of one kind of pair do."""

    def __init__(self):
        self.dependencies = set()         # pairs of (guid, port, VL)
        self.channels = set()             # (guid, port, VL)
        self.unreachable = 0              # pairs for which some SL of the pair does not arrive
        self.unreachable_every_sl = 0     # pairs for which no SL of the pair does


def unicast(tables, assume_sl=None, reversible=False, unknown_sl="any"):
    """Every packet sent; gives {kind: Traffic}."""
    traffic = {kind: Traffic() for kind in KINDS}
    for kind, source, lid in pairs(tables):
        endings = set()
        for sl in sls_of(tables, source, lid, assume_sl, reversible, unknown_sl):
            ending, hops = walk(tables, source, lid, sl)
            endings.add(ending)
            traffic[kind].channels.update(hops)
            traffic[kind].dependencies.update(zip(hops, hops[1:]))
        traffic[kind].unreachable += endings != {DELIVERED}
        traffic[kind].unreachable_every_sl += DELIVERED not in endings
    return traffic


# Cycles -------------------------------------------------------------------------------------------

def find_cycle(edges):
    """Some cycle of a directed graph, as a list of its vertices in order, or None."""
    after = defaultdict(list)
    for a, b in sorted(edges):
        after[a].append(b)
    finished = set()
    for start in sorted(after):
        if start in finished:
            continue
        path, waiting = [start], [list(after[start])]
        while path:
            if not waiting[-1]:
                finished.add(path.pop())
                waiting.pop()
                continue
            vertex = waiting[-1].pop(0)
            if vertex in path:
                return path[path.index(vertex):]
            if vertex not in finished:
                path.append(vertex)
                waiting.append(list(after.get(vertex, ())))
    return None


def next_switch(tables, switch, lid):
    """Where the switch sends packets for the LID, if that is a switch; otherwise None."""
    port = leave_by(tables, switch, lid, starting=False)
    if port in (DELIVERED, DEAD_END):
        return None
    far, _ = tables.cables[switch, port]
    return far if tables.nodes[far].is_switch else None


def forwarding_loops(tables, lid):
    """The cycles of the switches' forwarding graph for one LID, each as the set of its switches."""
    found = set()
    for start in switches_of(tables):
        path = [start]
        while (following := next_switch(tables, path[-1], lid)) is not None:
            if following in path:
                found.add(frozenset(path[path.index(following):]))
                break
            path.append(following)
    return found


# Multicast ----------------------------------------------------------------------------------------

def mask_of(tables, switch, mlid):
    return tables.masks.get(switch, {}).get(mlid, set())


def multicast_in_ports(tables, switch, mlid):
    """Ports at which packets of the group come in: from a terminal or a switch that sends there."""
    ports = set()
    for (guid, port), (far, far_port) in tables.cables.items():
        if guid != switch:
            continue
        if not tables.nodes[far].is_switch or far_port in mask_of(tables, far, mlid):
            ports.add(port)
    return ports


def multicast_vls(tables, guid, out_port, mlid):
    """All VLs on which packets of the group (SL 0) can be on that channel."""
    if not tables.nodes[guid].is_switch:
        vls = {vl_of(tables, guid, 0, out_port, 0)}
    else:
        vls = {vl_of(tables, guid, in_port, out_port, 0)
                 for in_port in multicast_in_ports(tables, guid, mlid) if in_port != out_port}
    return vls - {DISCARD_VL}


def multicast_dependencies(tables):
    found = set()
    groups = {mlid for masks in tables.masks.values() for mlid in masks}
    for mlid in groups:
        for switch in switches_of(tables):
            for in_port in multicast_in_ports(tables, switch, mlid):
                far, far_port = tables.cables[switch, in_port]
                for out_port in mask_of(tables, switch, mlid) - {in_port}:
                    vl = vl_of(tables, switch, in_port, out_port, 0)
                    if (switch, out_port) not in tables.cables or vl == DISCARD_VL:
                        continue
                    for held in multicast_vls(tables, far, far_port, mlid):
                        found.add(((far, far_port, held), (switch, out_port, vl)))
    return found


# The verdicts -------------------------------------------------------------------------------------

def joined(sets):
    return set().union(*sets)


def verify(tables, assume_sl=None, reversible=False, unknown_sl="any"):
    traffic = unicast(tables, assume_sl, reversible, unknown_sl)
    cycles = {verdict: find_cycle(joined(traffic[kind].dependencies for kind in kinds))
              for verdict, kinds in VERDICTS.items()}
    cycles["multicast"] = find_cycle(multicast_dependencies(tables))
    first_false = next((verdict for verdict in cycles if cycles[verdict]), None)
    inner_channels = {channel for kind in KINDS for channel in traffic[kind].channels
                      if between_switches(tables, channel)}
    inner_dependencies = {(a, b) for kind in KINDS for a, b in traffic[kind].dependencies
                          if a in inner_channels and b in inner_channels}
    return {
        "unreachable": {kind: traffic[kind].unreachable for kind in KINDS},
        "unreachable_every_sl": {kind: traffic[kind].unreachable_every_sl for kind in KINDS},
        "loops": sum(len(forwarding_loops(tables, lid)) for lid in tables.owner),
        **{verdict: cycle is None for verdict, cycle in cycles.items()},
        "vls_used": len({vl for _, _, vl in inner_channels}),
        "dependencies": len(inner_dependencies),
        "cycle_of": first_false,
        "cycle": cycles.get(first_false),
    }


# From one set of tables to another ----------------------------------------------------------------

def on_subnet_of(tables, other):
    """The tables with the nodes, cables and LIDs of others."""
    moved = copy.copy(tables)
    moved.nodes, moved.cables, moved.owner = other.nodes, other.cables, other.owner
    return moved


def explore(either, source, lid, sl):
    """All (endings, dependencies) of a packet if every node decides by old or new at every step."""
    endings, dependencies = set(), set()
    todo, seen = [(source, 0, None)], {(source, 0, None)}
    while todo:
        at, in_port, held = todo.pop()
        for forwarding in either:
            out_port = leave_by(forwarding, at, lid, starting=held is None)
            if out_port in (DELIVERED, DEAD_END):
                endings.add(out_port)
                continue
            for mapping in either:
                vl = vl_of(mapping, at, in_port, out_port, sl)
                if vl == DISCARD_VL:
                    endings.add(DISCARDED)
                    continue
                wanted = at, out_port, vl
                if held is not None:
                    dependencies.add((held, wanted))
                state = (*forwarding.cables[at, out_port], wanted)
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
    return endings, dependencies


def may_dead_end(either, source, lid):
    """Whether some mixture of the forwarding tables, whatever the VLs, leads to a dead end."""
    todo, seen = [(source, True)], {(source, True)}
    while todo:
        at, starting = todo.pop()
        for tables in either:
            port = leave_by(tables, at, lid, starting)
            if port == DEAD_END:
                return True
            if port == DELIVERED:
                continue
            state = tables.cables[at, port][0], False
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return False


def union_loop(either, lid):
    """Whether the old and new forwarding for one LID together have a cycle."""
    edges = set()
    for tables in either:
        for switch in switches_of(tables):
            if following := next_switch(tables, switch, lid):
                edges.add((switch, following))
    return find_cycle(edges) is not None


def verify_transition(old, new, assume_sl=None, reversible=False, unknown_sl="any",
                      traffic="switch_switch"):
    either = on_subnet_of(old, new), new
    dependencies, dead_ends, not_delivered = set(), 0, 0
    for kind, source, lid in pairs(new):
        sls = joined(sls_of(tables, source, lid, assume_sl, reversible, unknown_sl)
                     for tables in either)
        results = [explore(either, source, lid, sl) for sl in sls]
        if kind in VERDICTS[traffic]:
            dependencies |= joined(more for _, more in results)
        if kind == "terminal_terminal":
            dead_ends += may_dead_end(either, source, lid)
            not_delivered += bool(joined(ends for ends, _ in results) & {DEAD_END, DISCARDED})
    cycle = find_cycle(dependencies)
    return {
        "loop": any(union_loop(either, lid) for lid in new.owner),
        "dead_ends": dead_ends,
        "dead_ends_or_discards": not_delivered,
        "deadlock_free": cycle is None,
        "cycle": cycle,
    }
