"""Repairs of random fabrics against slow second opinions: the repaired tables are judged by
routes_oracle.py, which shares no code with selvage: everybody who can be reached is, nothing loops or
deadlocks, LIDs stay, destinations whose paths still work keep every entry, what is called safe in any
order is, steps are safe one by one, and with the pairs listed quiet the rest is.

Run: python3 -B tests/oracle/test_repair.py [TRIALS [SEED]]
"""
import copy
import os
import random
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle
from support.command import ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(60)


def random_spec(rng):
    hosts = rng.randint(1, 2)
    return rng.choice([
        "torus:%dx%d,hosts=%d" % (rng.randint(3, 4), rng.randint(3, 4), hosts),
        "torus:3x3x2,hosts=1",
        "mesh:%dx3,hosts=%d" % (rng.randint(2, 4), hosts),
        "torus:%d,hosts=%d" % (rng.randint(4, 8), hosts),
        "kary:k=3,n=2,hosts=2", "kary:k=2,n=3,hosts=2",
        "xgft:h=2,m=2/3,w=2/2,hosts=2",
        "hypercube:3,hosts=1",
        "random:switches=%d,links=%d,total=%d,seed=%d" % (8, rng.randint(12, 18), rng.randint(6, 12),
                                                          rng.randint(1, 999)),
        "fullmesh:%d,hosts=%d" % (rng.randint(4, 6), hosts),
        "dragonfly:a=3,p=1,h=1,g=4",
        "kautz:d=2,k=3,hosts=1",
    ])


def random_engine(rng):
    engine = rng.choice(("weave", "weave", "weave", "updn", "nue", "dfsssp", "lash", "sssp"))
    vls = [] if engine in ("updn", "sssp", "dfsssp", "lash") else \
        ["--vls", str(rng.choice((1, 2, 4, 8)))]
    return [engine, *vls]


def random_failure(rng):
    return rng.choice((["--links", "1"], ["--links", "1"], ["--links", "2"], ["--links", "3"],
                       ["--switches", "1"], ["--adapters", "1"]))


def entries_of(tables):
    return {(switch, lid): port for switch, row in tables.lft.items() for lid, port in row.items()}


def path_of(tables, switch, lid):
    """The channels from a switch to a LID; None if packets do not arrive."""
    channels, seen = [], set()
    while switch not in seen:
        seen.add(switch)
        port = oracle.leave_by(tables, switch, lid, starting=False)
        if port == oracle.DELIVERED:
            return channels
        if port == oracle.DEAD_END:
            return None
        channels.append((switch, port))
        switch = tables.cables[switch, port][0]
        if switch not in tables.lft:
            return channels if tables.owner[lid] == switch else None
    return None


class Repair(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-repair-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, rng):
        """Old tables, the fabric now; half of the time parts have come back instead of failed."""
        whole, broken = self.path("whole.net"), self.path("broken.net")
        ok("topo", random_spec(rng), "-o", whole)
        failed = selvage("faults", whole, *random_failure(rng), "--seed", str(rng.randint(1, 99)),
                         "-o", broken)
        if failed.code != 0:
            return None
        before, now = (whole, broken) if rng.random() < 0.7 else (broken, whole)
        engine = random_engine(rng)
        routed = selvage("route", before, "-e", *engine, "-o", self.path("old"), "--lmc",
                         rng.choice("0001"), "--sl-offset", rng.choice("0003"))
        if routed.code == 4:
            return None
        self.assertEqual(routed.code, 0, routed.err)
        if rng.random() < 0.15:  # as from somebody who knows no orders
            if os.path.exists(self.path("old/selvage.orders")):
                os.unlink(self.path("old/selvage.orders"))
        return engine, now

    def check_tables(self, found, new):
        """By themselves: nothing lost that can be reached, no loop, no deadlock."""
        verdict = oracle.verify(new)
        self.assertEqual(verdict["loops"], 0)
        self.assertEqual(verdict["unreachable"]["terminal_terminal"], oracle.split_pairs(new))
        if not found["full"]:
            self.assertTrue(verdict["terminal_switch"])

    def check_min(self, found, old, new):
        """LIDs stay; where all paths to a LID still work, nothing changes."""
        for lid, guid in old.owner.items():
            if guid in new.nodes:
                self.assertEqual(new.owner.get(lid), guid)
        if found["full"]:
            return
        carried = oracle.on_subnet_of(old, new)
        for lid in set(old.owner) & set(new.owner):
            switches = oracle.switches_of(new)
            works = all(switch in carried.lft and path_of(carried, switch, lid) is not None and
                        path_of(carried, switch, lid) == path_of(old, switch, lid)
                        for switch in switches)
            if works:
                for switch in switches:
                    self.assertEqual(old.lft[switch].get(lid), new.lft[switch].get(lid))

    def check_counts(self, found, old, new):
        was, now = entries_of(old), entries_of(new)
        live = oracle.switches_of(new)
        changed = {key for key in now if key[0] in live and key[1] in new.owner and
                   was.get(key, 0 if now[key] == 0 else 255) != now[key]}
        self.assertEqual(found["changed_entries"], len(changed))
        self.assertEqual(found["changed_blocks"], len({(s, lid // 64) for s, lid in changed}))
        self.assertEqual(self.entries_in(found["steps"]), {(self.number(s), lid)
                                                           for s, lid in changed})
        self.assertEqual(found["block_writes"], sum(map(len, found["steps"])))

    @staticmethod
    def number(guid):
        return guid if isinstance(guid, int) else int(str(guid), 16)

    @staticmethod
    def entries_in(steps):
        return {(int(block["guid"], 16), lid) for step in steps for block in step
                for lid in block["lids"]}

    def safe(self, a, b):
        """Whether every mixture of two tables is safe, for all that the first does join."""
        verdict = oracle.verify_transition(a, b, traffic="terminal_switch")
        either = oracle.on_subnet_of(a, b)
        already = sum(oracle.may_dead_end((either,), source, lid)
                      for kind, source, lid in oracle.pairs(b) if kind == "terminal_terminal")
        return not verdict["loop"] and verdict["deadlock_free"] and verdict["dead_ends"] == already

    def mixture(self, old, new, entries):
        """The old tables with some entries of the new ones."""
        made = copy.copy(oracle.on_subnet_of(old, new))
        made.lft = {}
        for switch, row in new.lft.items():
            made.lft[switch] = dict(old.lft.get(switch, {}))
            for lid in set(row) | set(made.lft[switch]):
                if (self.number(switch), lid) in entries:
                    made.lft[switch][lid] = row.get(lid, 255)
        return made

    def quiet_pairs(self, found, old, new):
        """The pairs that are listed; who is new has nothing to send yet."""
        listed = {(int(pair["guid"], 16), pair["lid"]) for pair in found["repath"]}
        quiet = set()
        for _, source, lid in oracle.pairs(new):
            node = new.nodes[source]
            switch = source if node.is_switch else new.cables[source, node.port][0]
            if {(self.number(source), lid), (self.number(switch), lid)} & listed or \
                    source not in old.nodes or new.owner[lid] not in old.nodes:
                quiet.add((source, lid))
        return quiet

    def check_quiet(self, found, old, new):
        quiet, every = self.quiet_pairs(found, old, new), oracle.pairs
        oracle.pairs = lambda tables: (pair for pair in every(tables) if pair[1:] not in quiet)
        try:
            self.check_steps(found, old, new)
        finally:
            oracle.pairs = every

    def check_steps(self, found, old, new):
        state, entries = self.mixture(old, new, set()), set()
        for step in found["steps"]:
            entries |= self.entries_in([step])
            then = self.mixture(old, new, entries)
            with_sls = copy.copy(new)
            with_sls.lft = then.lft
            self.assertTrue(self.safe(state, with_sls), "after %d entries" % len(entries))
            state = then

    def trial(self, number):
        rng = random.Random("repair %d" % number)
        made = self.make(rng)
        if made is None:
            return None
        engine, now = made
        result = selvage("route", now, "--repair", self.path("old"), "-e", *engine, "-o",
                         self.path("new"), "--json")
        if result.code == 4:  # the engine cannot do what is left
            return None
        self.assertNotIn("do not hold", result.err)
        self.assertEqual(result.code, 0, result.err)
        found = result.json
        old, new = oracle.load(self.path("old")), oracle.load(self.path("new"))
        self.check_tables(found, new)
        self.check_min(found, old, new)
        self.check_counts(found, old, new)
        checked = selvage("check", self.path("old"), self.path("new"))
        if found["safe"] == "any_order":
            self.assertTrue(self.safe(self.mixture(old, new, set()), new))
            self.assertEqual(checked.code, 0, checked.out)
        elif found["safe"] == "steps":
            self.check_steps(found, old, new)
        elif found["safe"] == "quiet":
            self.check_quiet(found, old, new)
        full = selvage("route", now, "--repair", self.path("old"), "-e", *engine, "--full",
                       "--no-check", "--json")
        if full.code == 0:
            self.entries += found["changed_entries"]
            self.entries_of_full += full.json["changed_entries"]
        return found["safe"], found["why"].split('"')[0]

    def test_random(self):
        seen = {}
        self.entries = self.entries_of_full = 0
        for number in range(SEED, SEED + TRIALS):
            with self.subTest(number):
                kind = self.trial(number)
                seen[kind] = seen.get(kind, 0) + 1
            for name in ("old", "new"):
                shutil.rmtree(self.path(name), ignore_errors=True)
        if os.environ.get("SELVAGE_VERBOSE"):
            print(seen, self.entries, self.entries_of_full)
        self.assertLess(self.entries, self.entries_of_full)


if __name__ == "__main__":
    unittest.main()
