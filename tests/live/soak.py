#!/usr/bin/env python3
"""A long run: the real OpenSM with selvage in it, over the real ibsim, while cables and switches come
and go at random, one by one and many at once. `make soak` runs it; it is no part of `make check`.

    tests/live/soak.py [--minutes 30] [--sweeps 1000] [--seed 1] [--fabric SPEC] [--options WORDS]

It goes on until both the minutes and the sweeps are over. After every step, from OpenSM's dump, which
`check` judges whole (SLs and lanes included): no loop, no deadlock, and exactly the hosts that cables
still join to the subnet manager are there and all reach each other. Every 25th step what is in the
switches is read back (`discover`) and must be what was dumped, and path records must answer with the
SLs that were proven. In the end memory must be flat: the median of the last quarter of the run may be
at most 5 % above that of the second quarter.
"""
import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm  # noqa: E402
from support.command import SELVAGE, ok, selvage  # noqa: E402

GROUP = """MC Group 0xc010 : mgid=0xff12a01bffff0000:0x000000000000c010\
 port_gid=0xfe80000000000000:0x0 qkey=0x00000b1b mlid=0xc010 mtu=0x84 tclass=0x00 pkey=0xffff\
 rate=0x83 pkt_life=0x92 sl_flow_hop=0x00000000 scope_state=0x21 proxy_join=0x0

"""
MEMBER = """mcm_port: port_gid=0xfe80000000000000:%s scope_state=0x21 proxy_join=0x0

"""


class Fabric:
    """What is cabled, by our own book-keeping."""

    def __init__(self, net):
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        self.switches, self.terminals = fabric["switches"], fabric["terminals"]
        self.cables = [(c["a"], c["a_port"], c["b"], c["b_port"]) for c in fabric["cables"]]
        self.inner = [i for i, c in enumerate(self.cables)
                      if max(c[0], c[2]) < len(self.switches)]
        self.of = [{i for i, c in enumerate(self.cables) if s in (c[0], c[2])}
                   for s in range(len(self.switches))]
        self.out = set()  # cables that are pulled
        first = fabric["terminals"][0]["node"]  # where the subnet manager is
        self.home = next(c[0] if c[2] == first else c[2] for c in self.cables
                         if first in (c[0], c[2]))
        self.first = first

    def id(self, switch):
        return "S-" + self.switches[switch]["guid"][2:]

    def alive(self):
        return [c for i, c in enumerate(self.cables) if i not in self.out]

    def dead(self):
        """Switches without any cable."""
        return [s for s in range(len(self.switches)) if self.of[s] <= self.out]

    def reached(self):
        """Switches and terminals that cables join to the subnet manager."""
        peers = {}
        for a, _, b, _ in self.alive():
            peers.setdefault(a, []).append(b)
            peers.setdefault(b, []).append(a)
        seen, todo = {self.first}, [self.first]
        while todo:
            at = todo.pop()
            if at >= len(self.switches) and at != self.first:
                continue
            for v in peers.get(at, ()):
                if v not in seen:
                    seen.add(v)
                    todo.append(v)
        switches = sum(v < len(self.switches) for v in seen)
        return switches, len(seen) - switches


def step(sim, fabric, draw):
    """One random change; says what it was."""
    kind, dead = draw.random(), fabric.dead()
    if dead and (kind < 0.2 or len(dead) > 2):
        switch = draw.choice(dead)
        fabric.out -= fabric.of[switch]  # ReLink puts all cables of a switch back
        sim.relink(fabric.id(switch))
        return "switch %d back" % switch
    pulled = sorted(i for i in fabric.out if i in fabric.inner)
    if pulled and (kind < 0.5 or len(pulled) > 12):
        cable = draw.choice(pulled)
        fabric.out.discard(cable)
        sim.relink(fabric.id(fabric.cables[cable][0]), fabric.cables[cable][1])
        return "cable %d back" % cable
    if kind < 0.65:
        switch = draw.choice([s for s in range(len(fabric.switches))
                              if s != fabric.home and s not in dead])
        fabric.out |= fabric.of[switch]
        sim.unlink(fabric.id(switch))
        return "switch %d lost" % switch
    cable = draw.choice([i for i in fabric.inner if i not in fabric.out])
    fabric.out.add(cable)
    sim.unlink(fabric.id(fabric.cables[cable][0]), fabric.cables[cable][1])
    return "cable %d lost" % cable


def judge(sm, fabric, what):
    """Raises when something is not as it must be; else how many hosts there are."""
    deadline = time.time() + 30
    switches, terminals = fabric.reached()
    while True:
        status, found = sm.status(), selvage("check", sm.dump, "--json")
        if found.code in (0, 1, 6):
            j = found.json
            pairs = terminals * (terminals - 1)
            good = (found.code == 0 and j["deadlock_free"] is True and j["loops"] == 0 and
                    j["unreachable_pairs"] == 0 and status["proven"] and status["whole"] and
                    status["pairs"] == pairs and status["switches"] == switches)
            if good:
                return terminals
        if time.time() > deadline:  # OpenSM may have been at it when we looked
            raise AssertionError("%s: expected %d switches, %d terminals; %s\n%s\n%s" % (
                what, switches, terminals, json.dumps(status), found.out + found.err, sm.tail(30)))
        time.sleep(0.1)


def entries(path):
    """The set of (switch, LID, port) of an opensm-lfts.dump."""
    return {(switch, lid, port) for switch, at in ibsim.tables(path).items()
            for lid, port in at.items()}


def read_back(sm, sim, path):
    """What is in the switches must be what was dumped, and path records what was proven."""
    deadline = time.time() + 20
    while True:
        sim.run(SELVAGE, "discover", "-o", path)
        now, dumped = entries(path + "/opensm-lfts.dump"), entries(sm.dump + "/opensm-lfts.dump")
        if now == dumped:
            break
        if time.time() > deadline:  # OpenSM may have been sweeping when we looked
            raise AssertionError("what is in the switches is not what was dumped: %s are, %s should "
                                 "be\n%s" % (sorted(now - dumped)[:10], sorted(dumped - now)[:10],
                                             sm.tail(40)))
        time.sleep(0.5)
    fabric = json.loads(ok("convert", sm.dump, "--format", "json").out)
    lids = [node["lid"] for node in fabric["terminals"]]
    for a, b in zip(lids[:4], lids[-4:]):
        if a != b:
            text = sim.run("saquery", "--src-to-dst", "%d:%d" % (a, b)).decode()
            sl = int(re.search(r"\bsl\.+0x([0-9a-fA-F]+)", text)[1], 16)
            proven = ok("path", sm.dump, "lid %d" % a, "lid %d" % b, "--json").json["sl"]
            if sl != proven:
                raise AssertionError("the SL of a path is not the proven one")


def soak(arguments, directory):
    net = os.path.join(directory, "f.net")
    ok("topo", arguments.fabric, "-o", net)
    fabric, draw = Fabric(net), random.Random(arguments.seed)
    with open(os.path.join(directory, "sa.dump"), "w") as file:
        file.write(GROUP + "".join(MEMBER % t["guid"] for t in fabric.terminals))
    memory, steps, bursts, begun = [], 0, 0, time.time()
    with ibsim.simulate(net, console=True) as sim, opensm.start(
            sim, os.path.join(directory, "osm"), arguments.options,
            sa_db_file=os.path.join(directory, "sa.dump"),
            sweep_interval="1") as sm:  # OpenSM ignores traps that come too often
        sm.wait_up()
        judge(sm, fabric, "at the start")
        while time.time() - begun < 60 * arguments.minutes or (
                sm.status()["sweeps"] < arguments.sweeps):
            steps += 1
            count = draw.choice([1, 1, 1, 2, 5])
            bursts += count > 1
            before = sm.ups()
            what = ", ".join(step(sim, fabric, draw) for _ in range(count))
            try:
                sm.wait_up(before + 1, timeout=10)
            except AssertionError:
                pass  # changes may have undone each other: judge looks at the result
            judge(sm, fabric, "step %d (%s)" % (steps, what))
            if steps % 25 == 0:
                read_back(sm, sim, os.path.join(directory, "now"))
            memory.append(sm.rss())
            if steps % 100 == 0:
                print("%5d steps, %5d sweeps, %4.0f s, %d KiB" % (
                    steps, sm.status()["sweeps"], time.time() - begun, memory[-1]), flush=True)
        status, hows = sm.status(), {}
        for line in sm.lines("selvage: sweep "):
            how = re.search(r"sweep \d+: ([a-z ]+)", line)[1].split(" (")[0].strip()
            hows[how] = hows.get(how, 0) + 1
        errors = sm.lines("ERR SV")
        code = sm.stop()
    quarter = len(memory) // 4
    second = statistics.median(memory[quarter:2 * quarter])
    last = statistics.median(memory[3 * quarter:])
    print("fabric          %s, options '%s', seed %d" % (arguments.fabric, arguments.options,
                                                         arguments.seed))
    print("run             %d steps (%d of them several changes at once), %d sweeps, %.0f s" % (
        steps, bursts, status["sweeps"], time.time() - begun))
    print("tables          %s" % ", ".join("%s %d" % item for item in sorted(hows.items())))
    print("every step      no loop, no deadlock, every host that cables join reaches every other")
    print("read back       %d times from the switches: as dumped" % (steps // 25))
    print("memory          %d KiB (median) in the second quarter, %d KiB in the last; %d KiB at "
          "most" % (second, last, max(memory)))
    print("error lines     %d" % len(errors))
    for line in errors[:5]:
        print("                " + line[:160])
    if code != 0:
        sys.exit("opensm ended with %d" % code)
    if last > 1.05 * second:
        sys.exit("memory grows")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fabric", default="torus:4x4x3,hosts=2")
    parser.add_argument("--options", default="")
    opensm.require()
    with tempfile.TemporaryDirectory(prefix="selvage-soak-", ignore_cleanup_errors=True) as path:
        soak(parser.parse_args(), path)
