"""selvage's verdicts on forwarding tables against the slow second opinion of routes_oracle.py, on
thousands of random small fabrics: with failures, parallel links, several addresses a terminal, odd
VL tables, service levels of every form, and with seeded mutations of correct tables, which must
all be noticed.

Run: python3 -B tests/oracle/test_routes.py [TRIALS [SEED]]
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import routes_oracle as oracle  # noqa: E402
from support.command import inject, ok, selvage  # noqa: E402
from support.tables import plain  # noqa: E402
from support.trials import arguments  # noqa: E402

TRIALS, SEED = arguments(150)
CHECKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_proof.py")
ENGINES = ("minhop", "sssp", "updn", "dnup", "dor", "dfsssp", "lash", "nue", "weave", "sar", "sssp-df",
           "minhop-df")
DEADLOCK_FREE = "updn", "dnup", "nue", "weave"
TREES = "ftree", "dmodk"  # trees only, free of deadlock
# Free of deadlock, but for packets between switches without terminals.
LAYERED = "dfsssp", "sar", "lash", "sssp-df", "minhop-df"
MODES = "pair", "reversible", "destination", "one"
MINIMAL = "minhop", "sssp", "dor", "dfsssp", "sar", "lash", "sssp-df", "minhop-df"
KINDS = "terminal_terminal", "terminal_switch", "switch_terminal", "switch_switch"
VERDICTS = "terminal_terminal", "terminal_switch", "switch_switch"
TRAFFIC = {"terminal_terminal": ["--terminals-only"], "terminal_switch": [],
           "switch_switch": ["--strict"]}


def random_spec(rng):
    hosts = rng.randint(0, 2)
    return rng.choice([
        "torus:%dx%d,hosts=%d,r=%d" % (rng.randint(2, 4), rng.randint(2, 3), hosts,
                                       rng.randint(1, 2)),
        "mesh:%dx%d,hosts=%d" % (rng.randint(1, 3), rng.randint(2, 3), hosts),
        "torus:%d,hosts=%d" % (rng.randint(3, 7), rng.randint(1, 2)),
        "kary:k=2,n=%d,hosts=1" % rng.randint(2, 3),
        "xgft:h=2,m=2/2,w=1/2,hosts=2",
        "hypercube:3,hosts=1",
        "random:switches=%d,links=%d,total=%d,seed=%d" % (6, rng.randint(7, 11), rng.randint(3, 8),
                                                          rng.randint(1, 99)),
        "fullmesh:%d,hosts=%d" % (rng.randint(2, 5), hosts),
        "dragonfly:a=2,p=1,h=1,g=3",
        "kautz:d=2,k=2,hosts=1",
    ])


def random_fabric(rng, directory):
    """A fabric file with failures, which may cut it into pieces."""
    path = os.path.join(directory, "fabric.net")
    ok("topo", random_spec(rng), "-o", path)
    if rng.random() < 0.5:
        with open(path) as file:
            found = re.findall(r'^Switch.*?# "([^"]+)"', file.read(), re.M)
        ends = ["%s/%d" % (rng.choice(found), rng.randint(1, 4))]
        if rng.random() < 0.5:  # and many a terminal, which are at the first ports
            ends += [name + "/1" for name in found if rng.random() < 0.4]
        inject(path, *(word for end in sorted(set(ends)) for word in ("--port", end)))
    return path


FOLLOWERS = "sssp", "dfsssp", "sar", "nue", "weave"


def random_jobs(rng, fabric):
    """Words that give the engine a random job map, or none where there are no hosts."""
    with open(fabric) as file:
        hosts = re.findall(r'^Ca.*?# "([^"]+)"', file.read(), re.M)
    if not hosts:
        return ()
    with open(fabric + ".jobs", "w") as file:
        for job in range(rng.randint(1, 4)):
            for host in rng.sample(hosts, rng.randint(1, len(hosts))):
                file.write('"%s" j%d\n' % (host, job))
    return "--jobs", fabric + ".jobs"


def route(rng, fabric, directory, engine=None):
    engine = engine or rng.choice(ENGINES)
    jobs = random_jobs(rng, fabric) if engine in FOLLOWERS and rng.random() < 0.5 else ()
    modes = ("--sl", rng.choice(MODES), "--vls", str(rng.randint(1, 9))) if engine == "weave" else ()
    ok("route", fabric, "--engine", engine, "-o", directory, "--no-check", "--lmc",
       str(rng.choice((0, 0, 1))), "--sl-offset", str(rng.choice((0, 0, 3))), *modes, *jobs)
    plain(directory)
    return engine


def rewrite(directory, name, change):
    path = os.path.join(directory, name)
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(change(text))


# Mutations of files -------------------------------------------------------------------------------

def spoil_lfts(rng, directory, share=0.1):
    """Some entries get another port or none (255)."""
    ports = {}

    def change(text):
        lines, at = [], None
        for line in text.split("\n"):
            if line.startswith("Unicast"):
                at = re.search(r"guid (0x[0-9a-f]+)", line)[1]
            if line.startswith("0x") and rng.random() < share:
                port = 255 if rng.random() < 0.2 else rng.randint(0, ports[at])
                line = "%s %03d%s" % (line[:6], port, line[10:])
            lines.append(line)
        return "\n".join(lines)

    with open(os.path.join(directory, "opensm-subnet.lst")) as file:
        for ends in re.findall(r"SW Ports:([0-9A-Fa-f]+) \S+ NodeGUID:([0-9a-f]+)", file.read()):
            ports["0x" + ends[1]] = int(ends[0], 16)
    rewrite(directory, "opensm-lfts.dump", change)


def spoil_vls(rng, directory, vls=3):
    """Rows of the VL tables become random, some with VL 15."""
    share = rng.choice((0.1, 0.5, 1))
    values = list(range(vls)) + ([15] if rng.random() < 0.3 else [])

    def change(text):
        return re.sub(r"^(\d+ +\d+ +: ).*$", lambda row: row[0] if rng.random() > share else
                      row[1] + " ".join(str(rng.choice(values)) for _ in range(16)), text,
                      flags=re.M)

    rewrite(directory, "opensm-sl2vl.dump", change)


def random_psl(rng, directory):
    """Service levels of a random form, perhaps with holes."""
    tables = oracle.load(directory)
    lids = sorted(tables.owner)
    switches = sorted(oracle.switches_of(tables))
    nodes = sorted(tables.nodes)
    form = rng.choice(("any", "switch", "node", "mixed"))
    holes = rng.choice((0, 0, 0.2))
    lines = ["# made up"]
    for lid in lids:
        if form in ("any", "mixed") and rng.random() >= holes:
            lines.append("* %d %d" % (lid, rng.randint(0, 3)))
        if form in ("switch", "mixed"):
            lines += ["@%s %d %d" % (s, lid, rng.randint(0, 3)) for s in switches
                      if rng.random() >= holes]
        if form in ("node", "mixed"):
            lines += ["%s %d %d" % (v, lid, rng.randint(0, 3)) for v in nodes
                      if rng.random() >= (0.7 if form == "mixed" else holes)]
    rng.shuffle(lines)
    with open(os.path.join(directory, "opensm.psl"), "w") as file:
        file.write("\n".join(lines) + "\n")


def random_groups(rng, directory):
    tables = oracle.load(directory)
    with open(os.path.join(directory, "opensm.mcfdbs"), "w") as file:
        for switch in sorted(oracle.switches_of(tables)):
            file.write("\nSwitch %s\nLID    : Out Port(s)\n" % switch)
            for mlid in (0xc000, 0xc001):
                ports = [p for p in range(1, 5) if (switch, p) in tables.cables
                         and rng.random() < 0.5]
                if ports:
                    file.write("0x%04X : %s \n" % (mlid, " ".join("0x%03X" % p for p in ports)))


def random_tables(rng, directory, fabric=None):
    """Tables in a directory; says which files it took away."""
    fabric = fabric or random_fabric(rng, os.path.dirname(directory))
    route(rng, fabric, directory)
    if rng.random() < 0.6:
        spoil_lfts(rng, directory, rng.choice((0.01, 0.1, 0.4)))
    if rng.random() < 0.5:
        random_psl(rng, directory)
    if rng.random() < 0.6:
        spoil_vls(rng, directory)
    if rng.random() < 0.3:
        random_groups(rng, directory)
    gone = [name for name in ("opensm.psl", "opensm-sl2vl.dump") if rng.random() < 0.12]
    for name in gone:
        os.remove(os.path.join(directory, name))
    return fabric


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="selvage-routes-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def keep(self, trial):
        """Says which trial failed, so that it can be had again."""
        return "trial %d: python3 -B tests/oracle/test_routes.py 1 %d" % (trial, trial)


class Verdicts(Case):
    def compare(self, directory, trial, *options, **how):
        tables = oracle.load(directory)
        wanted = oracle.verify(tables, **how)
        result = selvage("check", directory, "--json", *options)
        self.assertIn(result.code, (0, 1, 6), result.err)
        found = result.json
        if not how.get("reversible"):
            self.assertEqual(found["unreachable"], wanted["unreachable_every_sl"])
        for kind in KINDS:
            self.assertLessEqual(found["unreachable"][kind], wanted["unreachable"][kind])
            self.assertGreaterEqual(found["unreachable"][kind],
                                    wanted["unreachable_every_sl"][kind])
        self.assertEqual(found["split_pairs"], oracle.split_pairs(tables))
        self.assertEqual(found["loops"], wanted["loops"])
        self.assertEqual(found["vls_used"], wanted["vls_used"])
        self.assertEqual(found["dependencies"], wanted["dependencies"])
        sl2vl_known = os.path.exists(os.path.join(directory, "opensm-sl2vl.dump"))
        self.assertEqual(found["sl2vl_known"], sl2vl_known)
        for verdict in VERDICTS:
            self.verdict(found, wanted, verdict, tables, how, sl2vl_known)
        self.examples(found, tables, how)
        if sl2vl_known:
            self.assertEqual(found["verdicts"]["multicast"], wanted["multicast"])
        return found

    def verdict(self, found, wanted, verdict, tables, how, sl2vl_known):
        mine = found["verdicts"][verdict]
        if wanted[verdict]:
            self.assertIs(mine, True)
            return
        self.assertIsNot(mine, True)
        if mine is None and sl2vl_known:
            # Undecided: there is an unknown SL that matters, so with all at 0 it may differ.
            zero = oracle.verify(tables, **dict(how, unknown_sl=0))
            self.assertEqual(found["on_sl0"][verdict], zero[verdict])

    def examples(self, found, tables, how):
        """The pairs that are named make every step of the cycle; the lost pair is lost."""
        guids = {node.name: guid for guid, node in tables.nodes.items()}
        cycle = found["cycle"] or []
        vertices = [(step["guid"], step["port"], step["vl"]) for step in cycle]
        for i, step in enumerate(cycle):
            if "source" not in step:
                self.assertIs(step.get("multicast"), True, step)
                continue
            self.assertEqual(tables.owner[step["lid"]], guids[step["destination"]])
            self.assertIn(step["sl"], oracle.sls_of(tables, guids[step["source"]], step["lid"],
                                                    how.get("assume_sl"), how.get("reversible"), "any"))
            _, hops = oracle.walk(tables, guids[step["source"]], step["lid"], step["sl"])
            self.assertIn((vertices[i], vertices[(i + 1) % len(cycle)]), zip(hops, hops[1:]))
        if found["lost"]:
            self.assertNotEqual(found["lost"]["why"], "arrives")
            source, target = guids[found["lost"]["source"]], guids[found["lost"]["destination"]]
            self.assertTrue(any(oracle.walk(tables, source, lid, sl)[0] != oracle.DELIVERED
                                for lid in oracle.lids_of(tables, target) for sl in range(16)))

    def test_random_tables(self):
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random(trial)
            directory = self.path("t%d" % trial)
            with self.subTest(self.keep(trial)):
                random_tables(rng, directory)
                self.compare(directory, trial)
                if rng.random() < 0.3:
                    sl = rng.randint(0, 4)
                    self.compare(directory, trial, "--assume-sl", str(sl), assume_sl=sl)
                if rng.random() < 0.3:
                    self.compare(directory, trial, "--reversible", reversible=True)
            shutil.rmtree(directory, ignore_errors=True)

    def test_what_is_known_is_decided(self):
        """With all SLs and VLs told there is no "undecided"."""
        for trial in range(SEED, SEED + max(1, TRIALS // 3)):
            rng = random.Random("known %d" % trial)
            directory = self.path("k%d" % trial)
            with self.subTest(self.keep(trial)):
                route(rng, random_fabric(rng, self.folder), directory)
                spoil_vls(rng, directory)
                spoil_lfts(rng, directory)
                found = self.compare(directory, trial)
                self.assertNotIn(None, [found["verdicts"][v] for v in VERDICTS])
            shutil.rmtree(directory, ignore_errors=True)


class Engines(Case):
    def test_engines_keep_their_promises(self):
        """Shortest, connected, no loops, no deadlock: as the oracle sees it."""
        for trial in range(SEED, SEED + max(1, TRIALS // 3)):
            rng = random.Random("engines %d" % trial)
            fabric = random_fabric(rng, self.folder)
            least = None
            for engine in ENGINES:
                directory = self.path("%s%d" % (engine, trial))
                with self.subTest(self.keep(trial), engine=engine):
                    route(rng, fabric, directory, engine)
                    tables = oracle.load(directory)
                    wanted = oracle.verify(tables)
                    self.assertEqual(wanted["loops"], 0)
                    split = ok_or_no("check", directory, "--json")["split_pairs"]
                    self.assertEqual(wanted["unreachable"]["terminal_terminal"], split)
                    if engine in DEADLOCK_FREE:
                        self.assertTrue(all(wanted[v] for v in VERDICTS), wanted["cycle"])
                    if engine in LAYERED:
                        self.assertTrue(all(wanted[v] for v in VERDICTS[:2]), wanted["cycle"])
                    if engine in MINIMAL:
                        hops = ok("metrics", directory, "--json").json["hops"]["avg"]
                        least = hops if least is None else least
                        self.assertAlmostEqual(hops, least)
                shutil.rmtree(directory, ignore_errors=True)


    def test_trees_or_refused(self):
        """Engines for trees: all promises, or exit code 4 and a place."""
        routed = 0
        for trial in range(SEED, SEED + TRIALS):
            rng = random.Random("trees %d" % trial)
            fabric = random_fabric(rng, self.folder)
            directory = self.path("trees%d" % trial)
            engine = rng.choice(TREES)
            with self.subTest(self.keep(trial), engine=engine):
                done = selvage("route", fabric, "--engine", engine, "-o", directory, "--no-check",
                               "--lmc", str(rng.choice((0, 1))))
                if done.code == 4:
                    self.assertRegex(done.err, engine + ": (this is no tree.*'|no switch has hosts)")
                    continue
                self.assertEqual(done.code, 0, done.err)
                routed += 1
                wanted = oracle.verify(oracle.load(directory))
                self.assertEqual(wanted["loops"], 0)
                split = ok_or_no("check", directory, "--json")["split_pairs"]
                self.assertEqual(wanted["unreachable"]["terminal_terminal"], split)
                self.assertTrue(all(wanted[v] for v in VERDICTS), wanted["cycle"])
            shutil.rmtree(directory, ignore_errors=True)
        if TRIALS >= 150:  # else it is a matter of luck
            self.assertGreater(routed, TRIALS // 8)


def ok_or_no(*arguments):
    result = selvage(*arguments)
    if result.code not in (0, 1, 6):
        raise AssertionError(result.err)
    return result.json


class Mutations(Case):
    """Correct tables, changed so that something is wrong for sure: every one must be noticed."""

    def notice(self, directory, trial):
        self.assertEqual(selvage("check", directory, "--json").code, 1, self.keep(trial))

    def two_vls(self, directory, switches):
        """A ring, correct with two VLs: paths over one cable use SL 1 and so VL 1."""
        ok("route", "torus:%d,hosts=1" % switches, "--engine", "dor", "-o", directory, "--no-check")
        plain(directory)
        tables = oracle.load(directory)
        first, last = (min(oracle.switches_of(tables)), max(oracle.switches_of(tables)))
        dateline = {end for end, other in tables.cables.items() if {end[0], other[0]} == {first, last}}
        lines = ["* %d 0" % lid for lid in tables.owner]
        for source in tables.nodes:
            for lid, owner in tables.owner.items():
                _, hops = oracle.walk(tables, source, lid, 0) if owner != source else (None, [])
                if any(hop[:2] in dateline for hop in hops):
                    lines.append("%s %d 1" % (source, lid))
        with open(os.path.join(directory, "opensm.psl"), "w") as file:
            file.write("\n".join(lines) + "\n")
        rewrite(directory, "opensm-sl2vl.dump",
                lambda text: re.sub(r"^(\d+ +\d+ +: 0 +)0", r"\g<1>1", text, flags=re.M))

    def test_shifted_vls(self):
        for switches in range(4, 9):
            directory = self.path("vls%d" % switches)
            self.two_vls(directory, switches)
            self.assertEqual(selvage("check", directory, "--strict").code, 0)
            self.assertTrue(oracle.verify(oracle.load(directory))["switch_switch"])
            good = self.path("good")
            shutil.copytree(directory, good)
            # Every SL one further: SL 1 is then on VL 0, as SL 0 is.
            rewrite(directory, "opensm-sl2vl.dump",
                    lambda text: re.sub(r"^(\d+ +\d+ +: 0 +)1", r"\g<1>0", text, flags=re.M))
            self.notice(directory, switches)
            # All paths on SL 1: one VL again.
            rewrite(good, "opensm.psl", lambda text: re.sub(r"^\* (\d+) 0", r"* \1 1", text,
                                                            flags=re.M))
            self.notice(good, switches)
            shutil.rmtree(good)

    def test_swapped_ports(self):
        noticed = 0
        for trial in range(SEED, SEED + max(1, TRIALS // 2)):
            rng = random.Random("mutation %d" % trial)
            directory = self.path("m%d" % trial)
            with self.subTest(self.keep(trial)):
                route(rng, random_fabric(rng, self.folder), directory, rng.choice(DEADLOCK_FREE))
                before = oracle.verify(oracle.load(directory))
                spoil_lfts(rng, directory, 0.05)
                after = oracle.verify(oracle.load(directory))
                worse = (after["unreachable"]["terminal_terminal"] > 0 or after["loops"] > 0
                         or not after["terminal_switch"])
                if worse and before["unreachable"]["terminal_terminal"] == 0:
                    self.notice(directory, trial)
                    noticed += 1
            shutil.rmtree(directory, ignore_errors=True)
        if TRIALS >= 100:
            self.assertGreater(noticed, TRIALS // 20)


class Proofs(Case):
    def check_proof(self, directory, proof):
        done = subprocess.run([sys.executable, "-B", CHECKER, directory, proof],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode == 0

    def test_proofs_hold_and_wrong_ones_do_not(self):
        for trial in range(SEED, SEED + max(1, TRIALS // 5)):
            rng = random.Random("proof %d" % trial)
            directory, proof = self.path("p%d" % trial), self.path("proof%d" % trial)
            with self.subTest(self.keep(trial)):
                route(rng, random_fabric(rng, self.folder), directory, rng.choice(DEADLOCK_FREE))
                if rng.random() < 0.5:
                    spoil_vls(rng, directory)
                found = selvage("check", directory, "--json", "--proof", proof)
                if not found.json["verdicts"]["switch_switch"]:
                    self.assertFalse(os.path.exists(proof))
                    continue
                self.assertTrue(self.check_proof(directory, proof))
                self.assertEqual(selvage("check", directory, "--against", proof).code, 0)
                self.spoil(rng, proof)
                self.assertEqual(selvage("check", directory, "--against", proof).code,
                                 0 if self.check_proof(directory, proof) else 1)
            shutil.rmtree(directory, ignore_errors=True)

    def spoil(self, rng, proof):
        with open(proof) as file:
            lines = file.read().split("\n")
        numbers = [i for i, line in enumerate(lines) if line.startswith("0x")]
        for i in rng.sample(numbers, min(3, len(numbers))):
            words = lines[i].split()
            lines[i] = " ".join(words[:3] + [str(rng.randint(0, len(numbers)))])
        with open(proof, "w") as file:
            file.write("\n".join(lines))


class Transitions(Case):
    def exchange(self, rng, directory):
        """Another adapter in the place of one, with its LIDs; 0 if there is none."""
        tables = oracle.load(directory)
        hosts = sorted(tables.nodes.keys() - oracle.switches_of(tables))
        if not hosts:
            return 0
        guid = rng.choice(hosts)[2:-1]  # of the node and its port, but for the last digit
        for name in os.listdir(directory):
            rewrite(directory, name, lambda text: text.replace(guid, "ff" + guid[2:]))
        return 1

    def test_old_and_new(self):
        for trial in range(SEED, SEED + max(1, TRIALS // 2)):
            rng = random.Random("transition %d" % trial)
            old, new = self.path("old%d" % trial), self.path("new%d" % trial)
            with self.subTest(self.keep(trial)):
                fabric = random_fabric(rng, self.folder)
                lmc = str(rng.choice((0, 0, 1)))
                for directory in (old, new):
                    ok("route", fabric, "--engine", rng.choice(ENGINES), "-o", directory,
                       "--no-check", "--lmc", lmc, "--sl-offset", str(rng.choice((0, 3))))
                    plain(directory)
                    if rng.random() < 0.3:
                        spoil_lfts(rng, directory, 0.05)
                    if rng.random() < 0.3:
                        spoil_vls(rng, directory)
                    if rng.random() < 0.3:
                        random_psl(rng, directory)
                if rng.random() < 0.5:  # other numbers for the same nodes
                    rewrite(new, "opensm-subnet.lst",
                            lambda text: "\n".join(reversed(text.strip().split("\n"))) + "\n")
                moved = self.exchange(rng, new) << int(lmc) if rng.random() < 0.3 else 0
                traffic = rng.choice(VERDICTS)
                wanted = oracle.verify_transition(oracle.load(old), oracle.load(new),
                                                  traffic=traffic)
                found = ok_or_no("check", old, new, "--json", *TRAFFIC[traffic])
                self.assertEqual(found["lids_moved"], moved)
                self.assertEqual(found["loops"] > 0, wanted["loop"])
                self.assertEqual(found["unreachable_pairs"], wanted["dead_ends"])
                if wanted["dead_ends_or_discards"] > wanted["dead_ends"]:
                    self.assertIs(found["connected"], False)
                self.assertEqual(found["deadlock_free"] is True, wanted["deadlock_free"])
            shutil.rmtree(old, ignore_errors=True)
            shutil.rmtree(new, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
