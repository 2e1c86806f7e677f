"""Runs selvage for the experiments, and remembers what it said.

A way to route is one word: [opensm:]ENGINE[@LANES][/OPTION=VALUE…], say nue@4 or
dfsssp/assign=weakest. "opensm:" are the tables of the real OpenSM, over the real ibsim; the SLs of paths
are those that it answers. VLs are 8 unless told.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = 4  # exit code of selvage
SHAPES = {"t42-mesh2d": "mesh:5x5", "t42-mesh3d": "mesh:3x3x3", "t42-torus2d": "torus:5x5",
          "t42-torus3d": "torus:3x3x3"}


def compare_opensm():
    """bench/compare-opensm, which knows how to configure torus-2QoS."""
    loader = SourceFileLoader("compare_opensm", os.path.join(HERE, "..", "compare-opensm"))
    module = module_from_spec(spec_from_loader("compare_opensm", loader))
    loader.exec_module(module)
    return module


class Refused(Exception):
    """An engine does not route a fabric."""


def wait_until_up(manager, limit=60):
    """Instead of support.ibsim's, which waits even where a routing has failed already."""
    deadline = time.time() + limit
    while "SUBNET UP" not in manager.read("log"):
        if time.time() > deadline or re.search(r"cannot build (lid matrices|fwd tables)",
                                               manager.read("log")):
            raise Refused("OpenSM does not route it")
        time.sleep(0.1)


class Lab:
    def __init__(self, build, threads, folder, verbose=False):
        self.verbose = verbose
        self.selvage = os.path.abspath(os.path.join(build, "selvage"))
        self.threads, self.folder = str(threads), os.path.abspath(folder)
        os.makedirs(folder, exist_ok=True)
        os.environ["SELVAGE"] = self.selvage
        sys.path.insert(0, os.path.join(HERE, "..", "..", "tests"))

    def path(self, *words):
        name = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "_", word) for word in words if word)
        return os.path.join(self.folder, name[:120] + "-" +
                            hashlib.sha256(repr(words).encode()).hexdigest()[:10])

    def run(self, *words):
        if self.verbose:
            print("selvage", *words, file=sys.stderr, flush=True)
        done = subprocess.run([self.selvage, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode == REFUSED:
            raise Refused(done.stderr.decode().strip().split(": ", 1)[-1])
        if done.returncode not in (0, 1, 6) or not done.stdout:  # 1: can deadlock, or did; 6: not known
            sys.exit("selvage %s\n%s" % (" ".join(words), done.stderr.decode()))
        return done.stdout.decode()

    def kept(self, key, make):
        """JSON that make() gives, or gave for the same key before."""
        path = self.path(*key) + ".json"
        if not os.path.exists(path):
            try:
                result = make()
            except Refused as why:
                result = {"refused": str(why)}
            with open(path + ".new", "w") as file:
                json.dump(result, file)
            os.rename(path + ".new", path)
        with open(path) as file:
            result = json.load(file)
        if "refused" in result:
            raise Refused(result["refused"])
        return result

    # ---- fabrics and tables ----

    def fabric(self, spec, faults=()):
        """A file with the fabric, with some of it failed: words of selvage faults."""
        path = self.path("fabric", spec, *faults) + ".net"
        if not os.path.exists(path):
            if faults:
                self.run("faults", spec, *faults, "-o", path, "--json")
            else:
                subprocess.run([self.selvage, "convert", spec, "-o", path], check=True)
        return path

    def route(self, spec, way, faults=()):
        """{"tables": path, "efi": busiest channel, "safe": cannot deadlock, …}"""
        key = ("route", spec, way, *faults)
        return self.kept(key, lambda: self.route_now(spec, way, faults, self.path(*key)))

    def route_now(self, spec, way, faults, tables):
        engine, *options = way.split("/")
        engine, _, vls = engine.partition("@")
        net = self.fabric(spec, faults)
        if engine.startswith("opensm:"):
            return self.opensm(spec, net, engine[len("opensm:"):], vls or "8", tables)
        words = [word for option in options for word in ("--option", option)]
        report = json.loads(self.run("route", net, "--engine", engine, "--vls", vls or "8",
                                     "--json", "--threads", self.threads, "-o", tables, *words))
        check = report["check"]
        return {"tables": tables, "efi": self.efi(tables), "vls": check["vls_used"],
                "needed": report["vls_needed"], "words": [],
                "safe": check["verdicts"]["terminal_terminal"]}

    def efi(self, tables):
        return json.loads(self.run("metrics", tables, "--json"))["efi"]["max"]

    def opensm(self, spec, net, engine, vls, tables):
        """The incumbent's tables for a fabric; where an engine has VLs, with the SLs that it
        answers for all pairs, else SL 0 is assumed."""
        from support import ibsim
        ibsim.require()
        several = engine in ("dfsssp", "lash", "nue", "torus-2QoS")
        words = (["-Q"] if several else []) + (["--nue_max_num_vls", vls] if engine == "nue" else [])
        if engine == "torus-2QoS":
            if not re.match("(torus|mesh):", SHAPES.get(spec, spec)):
                raise Refused("there is no configuration for what is no torus")
            fabric = json.loads(self.run("convert", net, "--format", "json"))
            words += ["--torus_config", tables + ".conf"]
            compare_opensm().torus_config(SHAPES.get(spec, spec), fabric, tables + ".conf")
        shutil.rmtree(tables + ".opensm", ignore_errors=True)  # the log of a run that was stopped
        with ibsim.simulate(net) as sim:
            manager = ibsim.Manager(sim, tables + ".opensm", "-R", engine + ",no_fallback", *words)
            manager.wait = lambda *_: wait_until_up(manager)
            try:
                with manager:
                    done = sim.selvage("discover", "-o", tables, "--json",
                                       *(["--sls"] if several else []))
            except Refused:
                manager.__exit__()
                raise
        if done.code != 0:
            sys.exit("selvage discover: " + done.err)
        check = json.loads(self.run("check", tables, "--terminals-only", "--json"))
        if not check["connected"]:  # as in the thesis: "considered a failed routing"
            raise Refused("OpenSM's tables are not complete")
        safe = check["verdicts" if several else "on_sl0"]["terminal_terminal"]
        return {"tables": tables, "efi": self.efi(tables), "vls": check["vls_used"],
                "needed": None, "words": [] if several else ["--assume-sl", "0"], "safe": safe}

    # ---- simulations ----

    def sim(self, route, *words, **sets):
        """What selvage sim --json says of tables. sets: names of the model with _ for -."""
        words += tuple(w for name, value in sorted(sets.items())
                       for w in ("--set", "%s=%s" % (name.replace("_", "-"), value)))
        tables, words = route["tables"], tuple(route.get("words", ())) + words
        return self.kept(("sim", os.path.basename(tables), *words), lambda: json.loads(
            self.run("sim", tables, "--threads", self.threads, "--json", *words)))


# ---- printing ----

def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def percent(ours, published):
    return "%+.1f %%" % (100 * (ours / published - 1))


def fit(points):
    """Least squares of (x, y): intercept, slope, R²."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    sxx = sum((x - mx) ** 2 for x, _ in points)
    sxy = sum((x - mx) * (y - my) for x, y in points)
    syy = sum((y - my) ** 2 for _, y in points)
    slope = sxy / sxx
    return my - slope * mx, slope, sxy * sxy / (sxx * syy)
