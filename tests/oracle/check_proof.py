"""
Checks a proof that forwarding tables are free of deadlock: check_proof.py DIR PROOF

DIR holds OpenSM's dumps. PROOF gives every (channel, VL) a number; along the way of every unicast
packet the numbers must grow, so packets cannot wait for each other in a circle. Meant to be read in
a few minutes, so it shares nothing with the rest. A service level that opensm.psl does not say is
any of the 16. Exit 0: the proof holds; 1: it does not (first violation); 2: unreadable input.
"""
import os
import re
import sys

# Of each file: its name, what begins a block (ending in a number in hex), what a row of a block is.
END = r"\{ (\S+) Ports:.*? NodeGUID:(\w+) PortGUID:(\w+) .*?\} LID:(\w+) PN:(\w+) \}"
CABLES = "opensm-subnet.lst", r"(?!)", f"{END} {END}(?: PHY=.*)?"
ROUTES = "opensm-lfts.dump", r"Unicast .*?guid 0x(\w+)", r"0x(\w+) +(\d+)(?:.*?portguid 0x(\w+))?.*"
VLS = "opensm-sl2vl.dump", r"[A-Z].*? 0x(\w+), base LID", r"(\d+)\s+(\d+)\s*:((?:\s+\d+){16})"
LEVELS = "opensm.psl", r"(?!)", r"(@?)(?:\*|0x(\w+))\s+(\d+)\s+(\d+)\s*(?:#.*)?"
NUMBERS = r"selvage-proof 1()$", r"0x(\w+)\s+(\d+)\s+(\d+)\s+(-?\d+)"


def rows(folder, name, header, row, optional=False):
    """(number of the header before it, *groups) of every row; other lines must be comments."""
    path, block = os.path.join(folder, name), None
    for line in () if optional and not os.path.exists(path) else open(path, encoding="latin-1"):
        line = line.strip()
        if match := re.match(header, line):
            block = int(match[1] or "0", 16)
        elif match := re.fullmatch(row, line):
            yield block, *match.groups()
        elif line and not line.startswith("#") and not line.endswith("lids dumped"):
            raise ValueError(f"{path}: not understood: {line}")


def read(folder):
    cables, owner, switches, node = {}, {}, set(), {}  # node: the GUID of it, from its port GUID
    for _, *both in rows(folder, *CABLES):
        for kind, node_guid, port_guid, lid, _ in (both[:5], both[5:]):
            guid = int(node_guid if kind[:2] == "SW" else port_guid, 16)
            switches |= {guid} if kind[:2] == "SW" else set()
            node[int(port_guid, 16)] = owner[int(lid, 16)] = guid
        a, b = ((node[int(both[i], 16)], int(both[i + 2], 16)) for i in (2, 7))
        cables[a], cables[b] = b, a
    port, routes, vls = dict(list(cables)), {}, {}  # port: of a terminal its only one
    for switch, lid, out, target in rows(folder, *ROUTES):
        routes[switch, int(lid, 16)] = int(out)
        if target and int(target, 16) in node:
            owner[int(lid, 16)] = node[int(target, 16)]
    for guid, come, go, of_sl in rows(folder, *VLS, optional=True):
        guid = node.get(guid, guid)
        go = int(go) if guid in switches else port.get(guid)
        vls[guid, int(come), go] = [int(vl) for vl in of_sl.split()]
    levels = {(at, int(guid or "0", 16), int(lid)): int(sl)
              for _, at, guid, lid, sl in rows(folder, *LEVELS, optional=True)}
    return cables, port, switches, owner, routes, vls, levels


def packets(cables, port, switches, owner, routes, vls, levels):
    """Every packet, and the (guid, port, VL)s it goes through until it ends or repeats one."""
    for source, lid in ((s, d) for s in sorted(port) for d in sorted(owner) if d and owner[d] != s):
        near = source if source in switches else cables[source, port[source]][0]
        keys = ("", source, lid), ("@", near, lid), ("", 0, lid)
        for sl in [levels[key] for key in keys if key in levels][:1] or range(16):
            at, come, way = source, 0, []
            go = routes.get((at, lid)) if at in switches else port[at]
            while (at, go) in cables and len(set(way)) == len(way):
                vl = vls.get((at, come, go), [0] * 16)[sl]
                if vl == 15:  # discarded
                    break
                way.append((at, go, vl))
                at, come = cables[at, go]
                go = routes.get((at, lid))
            yield f"packet of 0x{source:016x} to LID {lid} with SL {sl}", way


def check(folder, proof, dependencies):
    """The first violation or None; all dependencies until then are put into the set."""
    with open(proof, encoding="latin-1") as file:
        if file.readline().rstrip() != "selvage-proof 1":
            raise ValueError(f"{proof}: not a proof")
    number = {(int(guid, 16), int(port), int(vl)): int(value)
              for _, guid, port, vl, value in rows("", proof, *NUMBERS)}
    for packet, way in packets(*read(folder)):
        dependencies.update(zip(way, way[1:]))
        for held, hop in zip([None, *way], way):
            if hop not in number:
                return f"{packet}: 0x%016x port %d VL %d has no number" % hop
            if held and number[held] >= number[hop]:
                numbers = f"number {number[hop]} after {number[held]}"
                return f"{packet}: 0x%016x port %d VL %d has {numbers}" % hop
    return None


if __name__ == "__main__":
    try:
        all_seen = set()
        violation = check(*sys.argv[1:], all_seen)
    except (OSError, ValueError, LookupError, TypeError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(violation or f"proof holds: {len(all_seen)} dependencies")
    sys.exit(1 if violation else 0)
