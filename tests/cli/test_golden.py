"""Tables are the same bytes as they were: 200 cases (fabric, faults, engine, mode) whose digests are in
tests/golden/tables.txt. A refactoring changes none of them; a better engine changes its own, and the list
is written anew with it:

    SELVAGE=build/selvage python3 -B tests/cli/test_golden.py --write
"""
import concurrent.futures
import hashlib
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SOURCE, ok, selvage  # noqa: E402
from support.trials import stride  # noqa: E402

LIST = os.path.join(SOURCE, "tests", "golden", "tables.txt")
FILES = ("opensm-lfts.dump", "opensm-sl2vl.dump", "opensm.psl", "opensm.mcfdbs")

ANY = ("minhop", "sssp", "updn", "dnup", "dfsssp", "lash", "nue", "weave", "sssp-df")
FABRICS = ("torus:4x4x3,hosts=2", "torus:5x5,hosts=1 --links 2", "mesh:4x5,hosts=2", "hypercube:4,hosts=1",
           "kary:k=4,n=3,hosts=4", "kary:k=4,n=3,hosts=4 --links 3%", "xgft:h=2,m=6/6,w=3/3,hosts=4",
           "kautz:d=2,k=3,hosts=1", "dragonfly:a=4,p=2,h=2,g=9", "dragonfly:a=4,p=2,h=2,g=9 --links 2 --switches 1",
           "random:switches=24,links=60,total=48,seed=3", "hyperx:4x4,hosts=2", "slimfly:q=5,hosts=1",
           "fullmesh:8,hosts=3")
SPECIAL = (("ftree", "kary:k=4,n=3,hosts=4"), ("ftree", "kary:k=4,n=3,hosts=4 --links 3%"),
           ("dmodk", "kary:k=4,n=3,hosts=4"), ("dmodk", "xgft:h=2,m=6/6,w=3/3,hosts=4 --links 3%"),
           ("torus2qos", "torus:4x4x3,hosts=2"), ("torus2qos", "torus:5x5,hosts=1 --links 2"),
           ("dor", "mesh:4x5,hosts=2"), ("dor", "hypercube:4,hosts=1"), ("dla", "dragonfly:a=4,p=2,h=2,g=9"),
           ("d3r", "dragonfly:a=4,p=2,h=2,g=9"), ("minhop-df", "torus:5x5,hosts=1"), ("sar", "mesh:4x5,hosts=2"))
MODES = ("--vls 1", "--vls 2", "--vls 4", "--sl reversible", "--sl destination", "--sl one", "--lmc 1", "--lmc 2",
         "--multicast", "--two-sets", "--seed 7", "--jobs", "--vls 15", "--sl-offset 2")
MODE_FABRICS = ("torus:4x4x3,hosts=2", "dragonfly:a=4,p=2,h=2,g=9 --links 2 --switches 1",
                "random:switches=24,links=60,total=48,seed=3", "kary:k=4,n=3,hosts=4 --links 3%")
REPAIRS = (("weave", "torus:4x4x3,hosts=2"), ("nue", "torus:4x4x3,hosts=2"), ("dfsssp", "hyperx:4x4,hosts=2"),
           ("updn", "kary:k=4,n=3,hosts=4"))


def cases():
    """(engine, fabric with its faults, mode)."""
    found = [(engine, fabric, "") for fabric in FABRICS for engine in ANY]
    found += [(engine, fabric, "") for engine, fabric in SPECIAL]
    found += [("weave", fabric, mode) for fabric in MODE_FABRICS[:2] for mode in MODES]
    found += [("nue", fabric, mode) for fabric in MODE_FABRICS[1:3] for mode in MODES[:4] + MODES[7:9]]
    found += [(engine, MODE_FABRICS[3], mode) for engine in ("dfsssp", "updn") for mode in ("--lmc 1", "--multicast", "--vls 2")]
    found += [("weave", MODE_FABRICS[3], mode) for mode in ("--vls 1", "--sl one", "--lmc 1", "--multicast", "--jobs")]
    found += [("auto", fabric, "") for fabric in FABRICS[::2]]
    return found + [(engine, fabric, "--repair") for engine, fabric in REPAIRS]


def digest(directory):
    """Of what switches and senders get; comments aside, which say when and by whom."""
    total = hashlib.sha256()
    for name in FILES:
        total.update(("= %s\n" % name).encode())
        with open(os.path.join(directory, name), "rb") as file:
            for line in file:
                if not line.startswith(b"# selvage"):
                    total.update(line.split(b" # ")[0].rstrip() + b"\n")
    return total.hexdigest()[:20]


def run(case, folder):
    """The digest of a case, or the exit code of its refusal."""
    engine, fabric, mode = case
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        path = lambda name: os.path.join(directory, name)  # noqa: E731
        spec, _, faults = fabric.partition(" ")
        net = path("fabric.net")
        if faults:
            ok("faults", spec, *faults.split(), "--seed", "5", "-o", net)
        else:
            ok("topo", spec, "-o", net)
        words = mode.split()
        if mode == "--jobs":
            with open(path("map"), "w") as file:
                file.write("".join("host%d %d\n" % (i, i % 3) for i in range(0, 20)))
            words = ["--jobs", path("map")]
        if mode == "--repair":
            ok("route", net, "-e", engine, "-o", path("old"))
            ok("faults", net, "--links", "2", "--seed", "9", "-o", path("now.net"))
            net, words = path("now.net"), ["--repair", path("old")]
        done = selvage("route", net, "-e", engine, *words, "--no-check", "-o", path("tables"))
        return digest(path("tables")) if done.code == 0 else "exit %d" % done.code


def run_all(chosen):
    folder = tempfile.mkdtemp(prefix="selvage-golden-")
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(lambda case: run(case, folder), chosen))
    finally:
        shutil.rmtree(folder)


def line(case, found):
    return "%s | %s | %s | %s" % (*case, found)


class Golden(unittest.TestCase):
    def test_tables(self):
        with open(LIST) as file:
            known = [text.rstrip("\n") for text in file if not text.startswith("#")]
        self.assertGreaterEqual(len(known), 200)
        self.assertEqual([text.rpartition(" | ")[0] for text in known], [line(case, "").rpartition(" | ")[0] for case in cases()])
        step = stride(2)
        chosen = cases()[::step]
        self.assertEqual([line(case, found) for case, found in zip(chosen, run_all(chosen))], known[::step])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        made = [line(case, found) for case, found in zip(cases(), run_all(cases()))]
        with open(LIST, "w") as file:
            file.write("# Written by tests/cli/test_golden.py --write: engine | fabric | mode | digest of tables\n")
            file.write("".join(text + "\n" for text in made))
    else:
        unittest.main()
