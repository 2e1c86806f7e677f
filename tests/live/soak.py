#!/usr/bin/env python3
"""A long run: the real OpenSM with selvage in it, over the real ibsim, while cables and switches come
and go at random, one by one and many at once. `make soak` runs it; it is no part of `make check`.

    tests/live/soak.py [--minutes 30] [--sweeps 1000] [--seed 1] [--fabric SPEC] [--options WORDS] [--csv FILE]

It goes on until both the minutes and the sweeps are over. After every step, from OpenSM's dump, which
`check` judges whole (SLs and VLs included): no loop, no deadlock, and exactly the hosts that cables
still join to the subnet manager are there and all reach each other. Every 25th step what is in the
switches is read back (`discover`) and must be what was dumped, and path records must answer with the
SLs that were proven.

Memory: a second OpenSM, without the plugin and with stock min-hop, goes through the same events over a
simulator of its own. How much memory is needed depends on the fabric of the moment; so every 20th step
all cables are put back, and what is compared is memory with the whole fabric: resident (RSS), in use
and held by malloc (support/heap.c), quarter by quarter, of both. In the end memory must be flat: from
the second quarter of the run to the last what is in use may grow by 1 %, and what is resident by 5 %,
beyond what stock OpenSM's grows by. At the very end malloc gives back what it can (malloc_trim): what is
resident then and not in use is holes, code and stacks.
"""
import argparse
import csv
import json
import os
import random
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, memory, opensm, sanitizers  # noqa: E402
from support.command import SELVAGE, ok, selvage  # noqa: E402

WHOLE = 20  # steps from one whole fabric to the next

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


def step(fabric, draw):
    """One random change: what it was, and the simulator's command."""
    kind, dead = draw.random(), fabric.dead()
    if dead and (kind < 0.2 or len(dead) > 2):
        switch = draw.choice(dead)
        fabric.out -= fabric.of[switch]  # ReLink puts all cables of a switch back
        return "switch %d back" % switch, ("relink", fabric.id(switch), None)
    pulled = sorted(i for i in fabric.out if i in fabric.inner)
    if pulled and (kind < 0.5 or len(pulled) > 12):
        cable = draw.choice(pulled)
        fabric.out.discard(cable)
        return "cable %d back" % cable, ("relink", fabric.id(fabric.cables[cable][0]), fabric.cables[cable][1])
    if kind < 0.65:
        switch = draw.choice([s for s in range(len(fabric.switches))
                              if s != fabric.home and s not in dead])
        fabric.out |= fabric.of[switch]
        return "switch %d lost" % switch, ("unlink", fabric.id(switch), None)
    cable = draw.choice([i for i in fabric.inner if i not in fabric.out])
    fabric.out.add(cable)
    return "cable %d lost" % cable, ("unlink", fabric.id(fabric.cables[cable][0]), fabric.cables[cable][1])


def mend(fabric):
    """Everything is put back: the commands, most cables with their switch."""
    commands = []
    for switch in range(len(fabric.switches)):
        if fabric.of[switch] & fabric.out:
            fabric.out -= fabric.of[switch]
            commands.append(("relink", fabric.id(switch), None))
    return commands


class Side:
    """An OpenSM over a simulator of its own, and what its memory was with the whole fabric."""

    def __init__(self, name, net, directory, options, **config):
        self.name, self.directory = name, os.path.join(directory, name)
        self.heap = memory.Heap(self.directory)
        self.sim = ibsim.simulate(net, console=True)
        self.sm = lambda: opensm.start(self.sim, os.path.join(self.directory, "osm"), options,
                                       preload=self.heap.preload, environment=self.heap.environment,
                                       sweep_interval="1",  # OpenSM ignores traps that come too often
                                       sa_db_file=os.path.join(directory, "sa.dump"), **config)
        self.samples = []  # (seconds, steps, sweeps, KiB resident, KiB in use, KiB held)

    def __enter__(self):
        self.sim.__enter__()
        self.sm = self.sm()
        self.sm.__enter__()
        return self

    def __exit__(self, *exception):
        try:
            self.sm.__exit__(*exception)
        finally:
            self.sim.__exit__(*exception)

    def tell(self, commands):
        for verb, node, port in commands:
            getattr(self.sim, verb)(node, port)

    def wait(self, before):
        try:
            self.sm.wait_up(before + 1, timeout=10)
        except AssertionError:
            if self.sm.process.poll() is not None:
                raise
            # changes may have undone each other: judge looks at the result

    def sample(self, seconds, steps):
        heap = self.heap.ask()
        self.samples.append((round(seconds), steps, self.sm.ups(), self.sm.rss(), heap["in_use"] // 1024,
                             heap["held"] // 1024))
        return self.samples[-1]

    def column(self, name):
        return [sample[COLUMNS.index(name)] for sample in self.samples]


COLUMNS = ("seconds", "steps", "sweeps", "resident", "in_use", "held")


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


def change(sides, commands):
    """Lets all simulators change, and waits until their OpenSMs have routed."""
    befores = [side.sm.ups() for side in sides]
    for side in sides:
        side.tell(commands)
    for side, before in zip(sides, befores):
        side.wait(before)


def measure(sides, fabric, begun, steps):
    """Memory with the whole fabric, of all."""
    change(sides, mend(fabric))
    judge(sides[0].sm, fabric, "step %d (all put back)" % steps)
    time.sleep(0.5)
    told = [side.sample(time.time() - begun, steps) for side in sides]
    if steps % (5 * WHOLE) == 0:
        print("%5d steps, %4.0f s: %s" % (steps, time.time() - begun, "; ".join(
            "%s %d sweeps, %d KiB resident, %d in use, %d held" % (side.name, *sample[2:])
            for side, sample in zip(sides, told))), flush=True)


def tables(sm):
    """How tables came about, and how often."""
    hows = {}
    for line in sm.lines("selvage: sweep "):
        how = re.search(r"sweep \d+: ([a-z ]+)", line)[1].split(" (")[0].strip()
        hows[how] = hows.get(how, 0) + 1
    return ", ".join("%s %d" % item for item in sorted(hows.items()))


def percent(series):
    """Growth of a series of one OpenSM."""
    return 100 * memory.growth(series) / memory.quarters(series)[1]


def report_memory(sides, path):
    """Quarter by quarter, and what is wrong: None, or a sentence."""
    plugin, stock = sides
    print("memory          KiB with the whole fabric, medians of four quarters of the run; the last against the second")
    for side in sides:
        for name in ("in_use", "held", "resident"):
            column = side.column(name)
            print("  %-8s %-9s %s  %+6d KiB %+5.1f %%" % (side.name, name, " ".join(
                "%6d" % q for q in memory.quarters(column)), memory.growth(column), percent(column)))
    for side in sides:
        print("  %-8s at the end %d resident; %d after malloc_trim, %d in use" % (side.name, *side.trimmed))
    if path is not None:
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("opensm",) + COLUMNS)
            for side in sides:
                table.writerows((side.name,) + sample for sample in side.samples)
    for name, limit in (("in_use", 1), ("resident", 5)):
        beyond = memory.growth([a - b for a, b in zip(plugin.column(name), stock.column(name))])
        share = 100 * beyond / memory.quarters(plugin.column(name))[1]
        print("  %-8s %-9s %+.0f KiB beyond stock's growth: %+.1f %% (limit %d %%)" % (
            plugin.name, name, beyond, share, limit))
        if share > limit:
            return "memory grows (%s): %.1f %% beyond stock OpenSM's" % (name, share)
    return None


def run(arguments, sides, fabric, directory):
    """Steps until the time is over; how many, and how many of them were several changes at once."""
    draw, begun, steps, bursts = random.Random(arguments.seed), time.time(), 0, 0
    sm = sides[0].sm
    for side in sides:
        side.sm.wait_up()
    judge(sm, fabric, "at the start")
    while time.time() - begun < 60 * arguments.minutes or sm.status()["sweeps"] < arguments.sweeps:
        steps += 1
        count = draw.choice([1, 1, 1, 2, 5])
        bursts += count > 1
        changes = [step(fabric, draw) for _ in range(count)]
        change(sides, [command for _, command in changes])
        judge(sm, fabric, "step %d (%s)" % (steps, ", ".join(what for what, _ in changes)))
        if steps % 25 == 0:
            read_back(sm, sides[0].sim, os.path.join(directory, "now"))
        if steps % WHOLE == 0:
            measure(sides, fabric, begun, steps)
    return steps, bursts, time.time() - begun


def soak(arguments, directory):
    net = os.path.join(directory, "f.net")
    ok("topo", arguments.fabric, "-o", net)
    fabric = Fabric(net)
    with open(os.path.join(directory, "sa.dump"), "w") as file:
        file.write(GROUP + "".join(MEMBER % t["guid"] for t in fabric.terminals))
    with Side("plugin", net, directory, arguments.options) as plugin, Side(
            "stock", net, directory, None, routing_engine="minhop") as stock:
        sides = (plugin, stock)
        steps, bursts, seconds = run(arguments, sides, fabric, directory)
        status, hows, errors = plugin.sm.status(), tables(plugin.sm), plugin.sm.lines("ERR SV")
        for side in sides:
            before = side.sm.rss()
            in_use = side.heap.ask(trim=True)["in_use"] // 1024
            side.trimmed = before, side.sm.rss(), in_use
        code = plugin.sm.stop()
    print("fabric          %s, options '%s', seed %d" % (arguments.fabric, arguments.options, arguments.seed))
    print("run             %d steps (%d of them several changes at once), %d sweeps, %.0f s" % (
        steps, bursts, status["sweeps"], seconds))
    print("tables          " + hows)
    print("every step      no loop, no deadlock, every host that cables join reaches every other")
    print("read back       %d times from the switches: as dumped" % (steps // 25))
    print("error lines     %d" % len(errors))
    for line in errors[:5]:
        print("                " + line[:160])
    wrong = "too short a run to say anything about memory: %d whole fabrics, 16 are needed" % len(plugin.samples)
    if len(plugin.samples) >= 16:
        wrong = report_memory(sides, arguments.csv)
    if code != 0:
        wrong = "opensm ended with %d" % code
    print("verdict         " + (wrong or "passed: memory is flat"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fabric", default="torus:4x4x3,hosts=2")
    parser.add_argument("--options", default="")
    parser.add_argument("--csv")
    opensm.require()
    if sanitizers.runtime(opensm.PLUGIN):
        sys.exit("soak.py: a plugin with sanitizers says nothing about memory; build without")
    with tempfile.TemporaryDirectory(prefix="selvage-soak-", ignore_cleanup_errors=True) as path:
        soak(parser.parse_args(), path)
