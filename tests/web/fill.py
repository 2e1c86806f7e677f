#!/usr/bin/env python3
"""Fills a study's database with plausible results, for tests of reports: fabrics are real ones (names
and cables by selvage topo), what engines did on them is made up, but always the same.

The schema is read out of src/study/schema.c, so that there is only one.

usage: fill.py DATABASE [small|large|odd|empty]
"""
import json
import math
import os
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SELVAGE_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
SELVAGE = os.environ.get("SELVAGE", os.path.join(SOURCE, "build", "selvage"))
FORMULAS = ("=1+1", "+x", "-y,z", "@s", "'q", "-7.5", "-")
ODD = "</script><script>window.hurt=1</script>"


def schema():
    """The steps of the schema, and the application's id."""
    with open(os.path.join(SOURCE, "src", "study", "schema.c")) as file:
        text = file.read()
    text = text[text.index("steps[] = {") + len("steps[] = {"):]
    text = re.sub(r"/\*.*?\*/", "", text[:text.index("};")], flags=re.S)
    steps, step = [], ""
    for literal, comma in re.findall(r'"((?:\\.|[^"\\])*)"\s*(,?)', text):
        step += literal.replace('\\"', '"').replace("\\n", "\n")
        if comma:
            steps.append(step)
            step = ""
    with open(os.path.join(SOURCE, "src", "study", "schema.h")) as file:
        number = re.search(r"SV__SCHEMA_ID = (0x[0-9a-f]+)", file.read())[1]
    return steps + ([step] if step else []), int(number, 16)


def create(path):
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    steps, number = schema()
    for step in steps:
        database.executescript(step)
    database.execute("PRAGMA user_version = %d" % len(steps))
    database.execute("PRAGMA application_id = %d" % number)
    return database


def body_of(spec):
    """A fabric's body, and how many terminals it has."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "fabric.json")
        subprocess.run([SELVAGE, "topo", spec, "-o", path], check=True)
        with open(path) as file:
            fabric = json.load(file)
    count = len(fabric["switches"])
    terminals = [0] * count
    cables = []
    for cable in fabric["cables"]:
        a, b = cable["a"], cable["b"]
        if a < count and b < count:
            cables.append([a, cable["a_port"], b, cable["b_port"]])
        else:
            terminals[min(a, b)] += 1
    names = [s["name"] for s in fabric["switches"]]
    return {"switches": [[n, t] for n, t in zip(names, terminals)], "cables": cables}


# engine: share of the best throughput, how steeply it falls, VLs it needs
PLURAL = {"link": "links", "switch": "switches"}
ENGINES = {"nue": (0.86, 1.0, 2), "weave": (1.0, 0.9, 2), "dfsssp": (0.97, 1.15, 3),
           "lash": (0.55, 0.7, 3), "updn": (0.48, 0.6, 1), "minhop": (0.93, 1.3, 1),
           "torus2qos": (0.95, 1.8, 2)}


class Filler:
    def __init__(self, path):
        self.database = create(path)
        self.random = random.Random(1)
        self.cell = 0
        self.places = {}

    def insert(self, table, row):
        self.database.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            table, ", ".join(row), ", ".join("?" * len(row))), list(row.values()))

    def plan(self, study, words, cells):
        number = len(self.places) + 1
        self.insert("plan", dict(id=number, study=study, words="%s %s" % (study, words), version="0.1.0",
                                 cells=cells))
        self.places[number] = 0
        return number

    def fabric(self, name, body):
        terminals = sum(t for _, t in body["switches"])
        self.insert("fabric", dict(name=name, switches=len(body["switches"]), terminals=terminals,
                                   links=len(body["cables"]), body=json.dumps(body)))

    def add(self, plan, fabric, body, engine, kind, amount, seed, simulate=True, keep=False,
            message=2048, group=1.0, lost=()):
        self.cell += 1
        words = "none" if amount == 0 else "years %g tsubame2" % amount if kind == "years" else \
            "%s %g%%" % (PLURAL[kind], amount)
        cell = dict(id=self.cell, key="cell %d" % self.cell, fabric=fabric, faults=words,
                    fault_kind="none" if amount == 0 else kind,
                    fault_unit="" if amount == 0 else "years" if kind == "years" else "%", fault_amount=amount, seed=seed,
                    engine=engine, vls=0, options="", traffic="exchange" if simulate else "",
                    profile="qdr" if simulate else "", message=message if simulate else 0, load=0,
                    what="metrics" + (" sim" if simulate else ""))
        self.insert("cell", cell)
        self.insert("planned", dict(plan=plan, place=self.places[plan], cell=self.cell))
        self.places[plan] += 1
        result, dead = self.result(cell, body, simulate, group)
        self.insert("result", result)
        self.insert("spent", dict(cell=self.cell, route_seconds=self.random.uniform(0.01, 0.3),
                                  seconds=1.5, bytes=10 ** 7, machine="test", version="0.1.0",
                                  finished="2026-01-01T00:00:00Z"))
        if keep and result["status"] in ("ok", "unsafe"):
            self.keep(body, dead, simulate)
        for row in lost:
            self.insert("lost", dict(cell=self.cell, **row))
        return result

    def result(self, cell, body, simulate, group):
        rnd, engine = self.random, cell["engine"]
        share, fall, vls = ENGINES[engine]
        links, terminals = len(body["cables"]), sum(t for _, t in body["switches"])
        amount = cell["fault_amount"] * (3 if cell["fault_kind"] == "years" else 1)
        broken = random.Random("%s %s %s %d" % (cell["fabric"], cell["fault_kind"], amount,
                                                cell["seed"]))
        units = len(body["switches"]) if cell["fault_kind"] == "switch" else links
        failed = round(units * amount / 100)
        dead = set(broken.sample(range(units), failed))
        luck = broken.gauss(0, 0.015) + rnd.gauss(0, 0.006)
        row = dict(cell=cell["id"], status="ok", words="", links_failed=0
                   if cell["fault_kind"] == "switch" else failed,
                   switches_failed=failed if cell["fault_kind"] == "switch" else 0,
                   adapters_failed=0, terminals_lost=0, switches=len(body["switches"]),
                   terminals=terminals, links=links - failed)
        if engine == "torus2qos" and (amount > 3 or "torus" not in cell["fabric"]):
            row.update(status="engine", words="torus-2QoS: two failures in the ring of %s" %
                       body["switches"][0][0])
            return row, dead
        if engine == "lash" and rnd.random() < 0.02:
            row.update(status="time", words="took more than 60 s")
            return row, dead
        row.update(vls_needed=vls + (amount > 5 and rnd.random() < 0.5), vls_used=8, sls_used=8,
                   fallbacks=0, pairs=terminals * (terminals - 1), unreachable=0, loops=0,
                   deadlock_free=0 if engine == "minhop" else 1)
        top = terminals * 4 * (2 - share) * (1 + fall * amount / 40)
        row.update(efi_min=round(top / 5), efi_avg=top / 2.1, efi_max=round(top * rnd.uniform(.95, 1.1)),
                   efi_sdv=top / 6, hops_avg=3.1 + amount / 50, hops_max=7 + (amount > 5))
        if engine == "minhop":
            row.update(status="unsafe")
            if amount > 3 and simulate and rnd.random() < 0.6:
                row.update(status="deadlock", sim_status="deadlock",
                           words="deadlock after 41 us: 12 packets wait for each other")
                return row, dead
        if simulate:
            full = terminals * 3.2 * 0.42 * group
            value = full * share * max(0.05, 1 - fall * amount / 45 + luck)
            each = value / terminals
            row.update(sim_status="completed", throughput=value, simulated_us=9000 / value,
                       packets=terminals * 90, packet_hops=terminals * 300,
                       latency_avg=30 / share, latency_p50=22 / share, latency_p99=120 / share,
                       latency_max=300 / share, bw_min=each * 0.6 * share, bw_q1=each * .9,
                       bw_median=each * 1.01, bw_q3=each * 1.08, bw_max=each * (1.5 - share / 4),
                       bw_avg=each)
        return row, dead

    def keep(self, body, dead, simulate):
        rnd = self.random
        cables, links = bytearray(), len(body["cables"])
        kind = self.database.execute("SELECT fault_kind FROM cell WHERE id = ?",
                                     (self.cell,)).fetchone()[0]
        gone = dead if kind == "switch" else set()
        for number, (a, _, b, _) in enumerate(body["cables"]):
            if (kind != "switch" and number in dead) or a in gone or b in gone:
                cables += struct.pack("<HH", 65535, 65535)
                continue
            wave = 0.35 + 0.3 * math.sin(a / 5) * math.cos(b / 9)
            cables += struct.pack("<HH", *(int(65534 * min(1, max(0, wave + rnd.gauss(0, .07))))
                                           for _ in range(2)))
        nodes = bytes(0 if s in gone else 1 for s in range(len(body["switches"])))
        self.insert("loads", dict(cell=self.cell, cables=bytes(cables), nodes=nodes))
        assert len(cables) == 4 * links
        if not simulate:
            return
        columns = 48
        line = bytearray()
        for column in range(columns):
            for s in range(len(nodes)):
                hot = math.exp(-((s % 17) - 4) ** 2 / 9) * math.sin(math.pi * column / columns)
                line += struct.pack("<H", 0 if s in gone else
                                    int(65535 * min(1, max(0, 0.7 * hot + abs(rnd.gauss(0, .08))))))
        self.insert("timeline", dict(cell=self.cell, columns=columns, interval_us=2.5,
                                     largest_us=14.25, body=bytes(line)))

    def finish(self):
        self.database.commit()
        self.database.close()


def small(path, names=None):
    """Some fabrics, all kinds of answers."""
    f = Filler(path)
    specs = names or ["torus:4x4x3,hosts=4", "kary:k=4,n=3,hosts=4", "dragonfly:a=6,p=3,h=3,g=10"]
    bodies = {}
    levels = [0, 1, 3, 5, 10]
    for kind, where in (("link", specs), ("switch", specs[:1])):
        plan = f.plan("degradation", "--%s 0,1%%,3%%,5%%,10%%" % PLURAL[kind], 0)
        for spec in where:
            if spec not in bodies:
                bodies[spec] = body_of(spec)
                f.fabric(spec, bodies[spec])
            for engine in ENGINES:
                if engine == "torus2qos" and not spec.startswith("torus"):
                    continue
                for level in levels:
                    if level == 0 and kind == "switch":
                        continue
                    for seed in range(1, 2 if level == 0 else 6):
                        f.add(plan, spec, bodies[spec], engine, kind, level,
                              0 if level == 0 else seed, keep=seed == 1)
        f.database.execute("UPDATE plan SET cells = ? WHERE id = ?", (f.places[plan], plan))
    plan = f.plan("lifetime", "--years 1..8", 0)
    for engine in ("nue", "weave", "dfsssp", "updn"):
        for years in range(1, 9):
            for seed in range(1, 8):
                f.add(plan, specs[0], bodies[specs[0]], engine, "years", years, seed)
    f.database.execute("UPDATE plan SET cells = ? WHERE id = ?", (f.places[plan], plan))
    plan = f.plan("lost", "--lost links/1,2,5,10,20/100", 1)
    pairs = 192 * 191
    f.add(plan, specs[1], bodies[specs[1]], "dfsssp", "link", 0, 0, simulate=False, lost=[
        dict(kind="links", failures=n, trials=100, pairs=pairs, expected=pairs * n * 0.0031,
             min=int(pairs * n * 0.0012), q1=pairs * n * .0026, median=pairs * n * .003,
             q3=pairs * n * .0036, max=int(pairs * n * .005), mean=pairs * n * .00312)
        for n in (1, 2, 5, 10, 20)])
    f.finish()


def large(path):
    """Ten thousand cells, and a fabric of some thousand switches."""
    f = Filler(path)
    big = "random:switches=3000,links=24000,hosts=2"
    body = body_of(big)
    f.fabric(big, body)
    plan = f.plan("degradation", "--links 0..10%", 10000)
    small_spec = "torus:4x4x3,hosts=4"
    torus = body_of(small_spec)
    f.fabric(small_spec, torus)
    for engine in list(ENGINES)[:5]:
        for level in (0, 1, 3, 5, 10):
            f.add(plan, big, body, engine, "link", level, 1 if level else 0, keep=True)
    seed = 0
    while f.cell < 10000:
        seed += 1
        for level in (1, 2, 3, 5, 7, 10):
            for engine in list(ENGINES)[:6]:
                if f.cell < 10000:
                    f.add(plan, small_spec, torus, engine, "link", level, seed, keep=seed < 4)
    f.finish()


def odd(path):
    """Names that would be markup, or break lines, if anybody let them."""
    f = Filler(path)
    body = body_of("mesh:3x3,hosts=2")
    body["switches"] = [[ODD if i == 0 else "\u2028\"'&<b>%d" % i, t]
                        for i, (_, t) in enumerate(body["switches"])]
    f.fabric(ODD, body)
    plan = f.plan("degradation", ODD, 12)
    for engine in ("nue", "weave"):
        for level in (0, 5, 10):
            for seed in (1, 2):
                if level or seed == 1:
                    f.add(plan, ODD, body, engine, "link", level, seed if level else 0, keep=True)
    f.database.execute("UPDATE result SET status = 'engine', words = ? WHERE cell = 2", (ODD,))
    for cell, words in enumerate(FORMULAS, 3):
        f.database.execute("UPDATE result SET status = 'engine', words = ? WHERE cell = ?", (words, cell))
    f.finish()


def empty(path):
    """A study that was planned and never run."""
    f = Filler(path)
    f.plan("run", "torus:2x2", 5)
    f.finish()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip().split("\n")[-1])
    {"small": small, "large": large, "odd": odd, "empty": empty}[
        sys.argv[2] if len(sys.argv) > 2 else "small"](sys.argv[1])
