"""`selvage discover` over the real ibsim, with the real OpenSM: what it reads is what OpenSM says it
has programmed: fabric, forwarding tables, VLs, multicast tables, service levels; and what others
program into single switches is seen, too.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim  # noqa: E402
from support.command import SELVAGE, ok, real, selvage  # noqa: E402
from support.ibsim import tables as lfts  # noqa: E402
from support.tables import plain  # noqa: E402

# Fabric, what fails in it, options of OpenSM. With -Q OpenSM programs VLs.
PROGRAMMED = [
    ("torus:4x4x3,hosts=2", [], ["-R", "dfsssp", "-Q", "-l", "1"]),
    ("dragonfly:a=4,p=2,h=2,g=9", [], ["-R", "nue", "-Q", "--nue_max_num_vls", "4"]),
    ("kary:k=4,n=3,hosts=4", [], ["-R", "updn"]),
    ("torus:4x4x3,hosts=4", ["--links", "5%", "--switches", "2"], ["-R", "minhop", "-Q"]),
    ("fullmesh:4,hosts=37", [], ["-R", "minhop", "-Q", "-l", "2"]),
    ("mesh:2x2,hosts=1,r=3", [], ["-R", "lash", "-Q"]),
]

REAL = ["mlnx-small-lab", "psmn-x5", "selene-storage", "topograph-dgx-ndr", "director-tabs-eaten"]

BROADCAST = "ff12401bffff000000000000ffffffff"  # of IPoIB in the default partition

# Programs must not open the device: stands in front of the simulator's own library.
FORBID = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
int open(const char *path, int flags, ...);
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    if (strstr(path, "infiniband/umad") != 0 && strncmp(path, "/dev", 4) == 0) {
        errno = EACCES;
        return -1;
    }
    return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
"""


def vls(path):
    """{(switch or port, in, out): [VL of each SL]} of an opensm-sl2vl.dump."""
    result = {}
    with open(path) as file:
        for line in file:
            node = re.match(r"[A-Z][A-Za-z ]* (0x\w+),", line)
            row = re.match(r"(\d+) +(\d+) +: (.*)", line)
            if node:
                at = node[1]
            elif row:
                result[at, int(row[1]), int(row[2])] = [int(n) for n in row[3].split()]
    return result


def groups(path):
    """{(switch, MLID): [ports]} of an opensm.mcfdbs."""
    result = {}
    with open(path) as file:
        for line in file:
            switch = re.match(r"Switch (0x\w+)", line)
            row = re.match(r"0x(\w+) : (.*)", line)
            if switch:
                at = switch[1]
            elif row and row[2].strip():
                result[at, int(row[1], 16)] = sorted(int(p, 16) for p in row[2].split())
    return result


def cabled(directory):
    """{(switch, in, out)} with cables at both, in 0 being the switch; {port GUID} of adapters."""
    fabric = json.loads(ok("convert", directory, "--format", "json").out)
    guids = [s["guid"] for s in fabric["switches"]]
    ports = {guid: [] for guid in guids}
    for cable in fabric["cables"]:
        for end in "a", "b":
            if cable[end] < len(guids):
                ports[guids[cable[end]]].append(cable[end + "_port"])
    pairs = {(guid, into, out) for guid in guids for into in [0] + ports[guid]
             for out in ports[guid]}
    return pairs, {t["guid"] for t in fabric["terminals"]}


def ways(net):
    """{switch GUID: way from the first adapter} of a fabric file."""
    fabric = json.loads(ok("convert", net, "--format", "json").out)
    hops = {}
    for c in fabric["cables"]:
        hops.setdefault(c["a"], []).append((c["a_port"], c["b"]))
        hops.setdefault(c["b"], []).append((c["b_port"], c["a"]))
    start = fabric["terminals"][0]["node"]
    found, queue = {start: []}, [start]
    for node in queue:
        for port, to in hops[node]:
            if to not in found and to < len(fabric["switches"]):
                found[to] = found[node] + [port]
                queue.append(to)
    return {fabric["switches"][n]["guid"]: ",".join(map(str, way)) for n, way in found.items()
            if n != start}


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name="": os.path.join(directory.name, name)

    def expect(self, result, code):
        self.assertEqual(result.code, code, result.err + result.out)
        return result

    def expect_same(self, dump, now):
        """Whether two directories hold the same fabric, LFTs, VLs and multicast tables."""
        for match in "guid", "name":
            self.expect(selvage("diff", dump, now, "--match", match), 0)
        wanted, found = lfts(dump + "/opensm-lfts.dump"), lfts(now + "/opensm-lfts.dump")
        self.assertGreater(len(wanted), 1)
        self.assertEqual(wanted, found)
        self.assertEqual(groups(dump + "/opensm.mcfdbs"), groups(now + "/opensm.mcfdbs"))
        if os.path.exists(dump + "/opensm-sl2vl.dump"):
            pairs, ports = cabled(dump)
            wanted, found = (vls(d + "/opensm-sl2vl.dump") for d in (dump, now))
            for key in [*pairs, *[(p, 0, 0) for p in ports]]:
                self.assertEqual(wanted[key], found[key], key)
        same = selvage("check", dump, now, "--json").json
        self.assertEqual((same["changed_blocks"], same["lids_moved"]), (0, 0))


class Programmed(Case):
    def test_what_opensm_programmed(self):
        for number, (spec, failed, options) in enumerate(PROGRAMMED):
            net, dump, now = (self.path("%s%d" % (n, number)) for n in ("net", "dump", "now"))
            with self.subTest(spec, options=options):
                ok("topo", spec, "-o", net)
                if failed:
                    ok("faults", net, *failed, "-o", net)
                with ibsim.simulate(net) as sim:
                    sim.opensm(dump, *options)
                    told = self.expect(sim.selvage("discover", "-o", now, "--json"), 0).json
                    self.expect(sim.selvage("discover", "-o", now + ".svr", "--window", "1"), 0)
                self.expect_same(dump, now)
                ok("convert", now + ".svr", "-o", now + "-again", "--format", "tables")
                self.expect_same(dump, now + "-again")
                pairs, ports = cabled(now)
                self.assertEqual(told["sl2vl_tables"], len(pairs) + len(ports))
                self.assertTrue(told["sl2vl_known"])
                self.assertFalse(told["sl_known"])
                self.assertFalse(os.path.exists(now + "/opensm.psl"))

    def test_vls_that_differ_by_ports(self):
        """torus-2QoS gives each turn its own table."""
        net, dump, now, conf = (self.path(n) for n in ("net", "dump", "now", "torus.conf"))
        ok("topo", "torus:5x3x3,hosts=1", "-o", net)
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        guids = {s["name"]: s["guid"] for s in fabric["switches"]}
        with open(conf, "w") as file:
            file.write("torus 5 3 3\n")
            for axis, other in ("x", "sw1-0-0"), ("y", "sw0-1-0"), ("z", "sw0-0-1"):
                file.write("%sp_link %s %s\n" % (axis, guids["sw0-0-0"], guids[other]))
        with ibsim.simulate(net) as sim:
            sim.opensm(dump, "-R", "torus-2QoS,no_fallback", "-Q", "--torus_config", conf)
            self.expect(sim.selvage("discover", "-o", now), 0)
        self.expect_same(dump, now)
        self.assertGreater(len({tuple(row) for row in vls(now + "/opensm-sl2vl.dump").values()}),
                           4)

    def test_what_others_programmed(self):
        """One entry, one table of VLs and one multicast group changed by hand are seen, and
        nothing else is: so the comparisons of these tests can fail."""
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "torus:3x3,hosts=2", "-o", net)
        way = ways(net)
        changed = sorted(way)[5]
        identity = list(range(8)) * 2
        with ibsim.simulate(net) as sim:
            sim.opensm(dump, "-R", "updn", "-Q")
            was = lfts(dump + "/opensm-lfts.dump")
            lid = max(was[int(changed, 16)])
            port = was[int(changed, 16)][lid] % 6 + 1
            sim.program("lft %s %d %d" % (way[changed], lid, port),
                        "sl2vl %s 3 5 %s" % (way[changed], ",".join(map(str, identity[::-1]))),
                        "mft %s c021 1,6" % way[changed])
            self.expect(sim.selvage("discover", "-o", now), 0)
            with self.assertRaises(AssertionError):
                self.expect_same(dump, now)
            was[int(changed, 16)][lid] = port
            self.assertEqual(lfts(now + "/opensm-lfts.dump"), was)
            self.assertEqual(groups(now + "/opensm.mcfdbs"), {(changed, 0xc021): [1, 6]})
            for key, row in vls(now + "/opensm-sl2vl.dump").items():
                self.assertEqual(row, identity[::-1] if key == (changed, 3, 5) else identity, key)
            # No such port: packets are dropped, and it is said.
            sim.program("lft %s %d 77" % (way[changed], lid))
            result = self.expect(sim.selvage("discover", "-o", now), 0)
            self.assertIn("1 entries name ports that their switch does not have", result.err)
            self.assertEqual(self.expect(selvage("check", now, "--json"), 1).json["connected"],
                             False)

    def test_multicast(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "fullmesh:3,hosts=35", "-o", net)
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        guids = [t["guid"] for t in fabric["terminals"]]
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, dump, "-R", "minhop") as manager:
            told = self.expect(sim.selvage("discover", "--json"), 0).json
            self.assertEqual(told["multicast_groups"], 0)
            lid = int(re.search(r"lid (\d+)", sim.run("sminfo").decode())[1])
            members = guids[::4]
            sim.program(*["join %s %s %d" % (BROADCAST, g, lid) for g in members])
            manager.wait(lambda: len([1 for ports in groups(dump + "/opensm.mcfdbs").values()
                                      for _ in ports]) >= len(members) + 4, "no group")
            deadline = time.time() + 60
            while True:  # until the trees are in the switches
                told = self.expect(sim.selvage("discover", "-o", now, "--json"), 0).json
                if groups(now + "/opensm.mcfdbs") == groups(dump + "/opensm.mcfdbs"):
                    break
                self.assertLess(time.time(), deadline)
        self.assertEqual(told["multicast_groups"], 1)
        self.assertEqual(len(groups(now + "/opensm.mcfdbs")), 3)
        self.expect_same(dump, now)
        self.assertIn("multicast", ok("check", now).out)


class ServiceLevels(Case):
    def saquery(self, sim, source, to):
        out = sim.run("saquery", "PR", "--slid", str(source), "--dlid", str(to)).decode()
        return int(re.search(r"\bsl\.+0x(\w+)", out)[1], 16)

    def test_same_as_saquery(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "torus:4x4,hosts=2", "-o", net)
        with ibsim.simulate(net) as sim, \
                ibsim.Manager(sim, dump, "-R", "nue", "-Q", "-l", "1", "--nue_max_num_vls", "4"):
            told = self.expect(sim.selvage("discover", "-o", now, "--sls", "--json"), 0)
            self.assertIn("for the SLs of", told.err)
            # 16 switches with one address, 32 terminals with two
            self.assertEqual(told.json["paths"], 48 * (16 + 64) - 16 - 64)
            used = self.compare(sim, now, 2)
        self.assertGreater(len(used), 1)
        self.expect_same(dump, now)

    def test_same_as_saquery_by_source(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "torus:5x3,hosts=2", "-o", net)
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, dump, "-R", "lash", "-Q"):
            self.expect(sim.selvage("discover", "-o", now, "--sls"), 0)
            self.assertGreater(len(self.compare(sim, now, 1)), 1)

    def compare(self, sim, now, addresses):
        """Compares some SLs in a directory with what saquery says; returns those."""
        psl = {}
        with open(plain(now) + "/opensm.psl") as file:
            for line in file:
                guid, to, sl = line.split()
                psl[guid, int(to)] = int(sl)
        fabric = json.loads(ok("convert", now, "--format", "json").out)
        switches, terminals = fabric["switches"], fabric["terminals"]
        home = {c["b"]: switches[c["a"]]["guid"] for c in fabric["cables"]
                if c["b"] >= len(switches)}
        nodes, used = switches + terminals, set()
        for i in range(40):
            source, to = nodes[i * 5 % len(nodes)], nodes[i * 11 % len(nodes)]
            lid = to["lid"] + (i % addresses if to in terminals else 0)
            if source is not to:
                at = "@" + home.get(source["node"], source["guid"])
                told = [psl.get((k, lid)) for k in (source["guid"], at, "*")]
                sl = self.saquery(sim, source["lid"], lid)
                self.assertEqual([s for s in told if s is not None], [sl], (source, lid))
                used.add(sl)
        return used

    def test_with_them_it_can_be_told(self):
        """dfsssp is safe between terminals, whichever SL of several it answers each time."""
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "torus:4x4,hosts=2", "-o", net)
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, dump, "-R", "dfsssp", "-Q"):
            self.expect(sim.selvage("discover", "-o", now, "--sls"), 0)
        self.expect(selvage("check", now, "--terminals-only"), 0)
        os.remove(now + "/opensm.psl")
        self.expect(selvage("check", now, "--terminals-only"), 6)

    def test_one_for_all_is_said_shortly(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "kary:k=4,n=2,hosts=4", "-o", net)
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, dump, "-R", "updn"):
            self.expect(sim.selvage("discover", "-o", now, "--sls"), 0)
        with open(plain(now) + "/opensm.psl") as file:
            self.assertRegex(file.read(), r"\A(\* \d+ 0\n)+\Z")
        self.assertIn("deadlock-free  yes", ok("check", now).out)

    def test_a_manager_that_is_gone(self):
        net, now = self.path("net"), self.path("now")
        ok("topo", "mesh:2x2,hosts=1", "-o", net)
        with ibsim.simulate(net) as sim:
            sim.opensm(self.path("dump"))
            gone = sim.selvage("discover", "-o", now, "--sls", "--timeout", "100")
        # The simulator spins once the queue of a client is full: few questions at a time.
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, self.path("stuck")) as manager:
            manager.process.send_signal(signal.SIGSTOP)
            stuck = sim.selvage("discover", "-o", now, "--sls", "--timeout", "100", "--window",
                                "2", "--tries", "2")
        for result in gone, stuck:
            self.expect(result, 5)
            self.assertRegex(result.err, r"the subnet manager at LID \d+ does not answer")
        self.assertFalse(os.path.exists(now))


class Fabric(Case):
    def facts(self, path):
        """Everything a fabric file tells, whatever the order."""
        f = json.loads(ok("convert", path, "--format", "json").out)
        names = {s["node"]: s["guid"] for s in f["switches"]}
        names.update({t["node"]: t["guid"] for t in f["terminals"]})
        cables = set()
        for c in f["cables"]:
            ends = sorted([(names[c["a"]], c["a_port"]), (names[c["b"]], c["b_port"])])
            cables.add((*ends, c["width"], c["speed"]))
        return ({tuple(s[k] for k in ("guid", "name", "ports", "lid")) for s in f["switches"]},
                {tuple(a[k] for k in ("guid", "name", "ports", "kind")) for a in f["adapters"]},
                {tuple(t[k] for k in ("guid", "port", "lid", "lmc", "role"))
                 for t in f["terminals"]}, cables)

    def test_same_as_ibnetdiscover(self):
        nets = ["torus:4x4x3,hosts=4", "deimos", "xgft:h=2,m=3/4,w=2/2,hosts=2,speed=EDR",
                "hyperx:4x3,hosts=2,speed=DDR,width=12", "mesh:3x2,hosts=1,r=3,speed=HDR,width=1"]
        nets += [n for n in (real("ibnetdiscover", n + ".ibnetdiscover") for n in REAL) if n]
        for net in nets:
            with self.subTest(os.path.basename(net)):
                ok("convert", net, "-o", self.path("net"))
                with ibsim.simulate(self.path("net")) as sim:
                    sim.discover(self.path("theirs"))
                    self.expect(sim.selvage("discover", "--no-tables", "-o", self.path("ours")), 0)
                self.assertEqual(self.facts(self.path("theirs")), self.facts(self.path("ours")))

    def test_before_any_manager(self):
        net, now = self.path("net"), self.path("now")
        ok("topo", "mesh:2x2,hosts=1", "-o", net)
        with ibsim.simulate(net) as sim:
            result = self.expect(sim.selvage("discover", "-o", now), 4)
            self.assertIn("has no LID", result.err)
            self.assertFalse(os.path.exists(now))
            self.assertIn("not active", self.expect(
                sim.selvage("discover", "--no-tables", "-o", self.path("found.json")), 0).err)
        with open(self.path("found.json")) as file:
            self.assertEqual(len(json.load(file)["switches"]), 4)

    def test_a_terminal_without_a_lid(self):
        net, now = self.path("net"), self.path("now")
        ok("topo", "mesh:2x2,hosts=2", "-o", net)
        with ibsim.simulate(net, console=True) as sim:
            sim.opensm(self.path("dump"))
            host = json.loads(ok("convert", net, "--format", "json").out)["adapters"][5]
            for command in "Clear", "ReLink":
                sim.tell('%s "H-%s"[1]' % (command, host["guid"][2:]))
            result = self.expect(sim.selvage("discover", "-o", now), 0)
        self.assertIn('1 port(s) of adapters have no LID and are left out, "host5"', result.err)
        found = json.loads(ok("convert", now, "--format", "json").out)
        self.assertEqual(len(found["terminals"]), 7)
        self.assertEqual(selvage("check", now, "--json").json["unreachable_pairs"], 0)


class Silence(Case):
    def test_a_switch_that_does_not_answer(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "mesh:3x3,hosts=2", "-o", net)
        for attribute, what in (25, "lft"), (23, "sl2vl"), (27, "mft"):
            with self.subTest(what), ibsim.simulate(net, console=True) as sim:
                sim.opensm(dump, "-R", "updn", "-Q")
                sim.tell('Error "S-02005e1a00000005" 100 %d' % attribute)
                result = self.expect(sim.selvage("discover", "-o", now, "--timeout", "50",
                                                 "--json"), 1)
                self.assertIn('switch "sw1-1" (0x02005e1a00000005) does not answer', result.err)
                self.assertEqual(result.json["silent_nodes"], 1)
                self.assertGreater(result.json["unanswered"], 0)
                wanted, found = lfts(dump + "/opensm-lfts.dump"), lfts(now + "/opensm-lfts.dump")
                if what == "lft":
                    self.assertLess(len(found.pop(0x02005e1a00000005)), 2)  # the way to itself
                    wanted.pop(0x02005e1a00000005)
                self.assertEqual(wanted, found)
                self.assertEqual(os.path.exists(now + "/opensm-sl2vl.dump"), what == "mft")
                self.assertEqual(result.json["sl2vl_known"], what == "mft")

    def test_one_that_answers_now_and_then(self):
        net, dump, now = (self.path(n) for n in ("net", "dump", "now"))
        ok("topo", "mesh:3x3,hosts=2", "-o", net)
        with ibsim.simulate(net, console=True) as sim:
            sim.opensm(dump, "-R", "updn", "-Q")
            sim.tell('Error "S-02005e1a00000005" 30 23')
            told = self.expect(sim.selvage("discover", "-o", now, "--timeout", "50", "--tries",
                                           "50", "--json"), 0).json
        self.assertGreater(told["sent_again"], 0)
        self.assertEqual(told["unanswered"], 0)
        self.expect_same(dump, now)

    def wait_catching(self, *words, timeout=60):
        """Until the program with these words catches SIGINT."""
        deadline, bit = time.time() + timeout, 1 << (signal.SIGINT - 1)
        while time.time() < deadline:
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open("/proc/%s/cmdline" % name) as file:
                        line = file.read().split("\0")
                    with open("/proc/%s/status" % name) as file:
                        caught = int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16)
                except (OSError, UnicodeDecodeError, TypeError):
                    continue
                if line[:len(words)] == list(words) and caught & bit:
                    return
            time.sleep(0.02)
        self.fail("no program %s that catches SIGINT" % (words,))

    def test_cancelling(self):
        net, now = self.path("net"), self.path("now")
        ok("topo", "mesh:3x3,hosts=2", "-o", net)
        with ibsim.simulate(net) as sim, ibsim.Manager(sim, self.path("dump")) as manager:
            manager.process.send_signal(signal.SIGSTOP)
            process = subprocess.Popen(["ibsim-run", SELVAGE, "discover", "-o", now, "--sls",
                                        "--timeout", "60000", "--window", "2"],
                                       env=sim.environment, cwd=self.path(),
                                       stderr=subprocess.PIPE)
            self.wait_catching(SELVAGE, "discover")
            running = process.poll() is None
            process.send_signal(signal.SIGINT)
            message = process.communicate(timeout=20)[1]
            manager.process.send_signal(signal.SIGCONT)
            self.assertTrue(running)
            self.assertEqual(process.returncode, 130, message)
            self.assertIn(b"cancelled", message)
        self.assertFalse(os.path.exists(now))


class Refusals(Case):
    def test_no_device(self):
        if os.path.exists("/sys/class/infiniband"):
            self.skipTest("there is a device here")
        result = self.expect(selvage("discover", "-o", self.path("now")), 5)
        self.assertRegex(result.err, r"\Aselvage: no InfiniBand device here: .*\n\Z")
        self.assertFalse(os.path.exists(self.path("now")))

    def test_no_such_device_or_port(self):
        net = self.path("net")
        ok("topo", "mesh:1x2,hosts=1", "-o", net)
        with ibsim.simulate(net) as sim:
            for options, message in ((["--ca", "mlx5_7"], "no InfiniBand port on device 'mlx5_7'"),
                                     (["--ca", "mlx5_7", "--port", "1"],
                                      "no device 'mlx5_7' with a port 1"),
                                     (["--port", "2"], "port 2")):
                result = self.expect(sim.selvage("discover", *options), 5)
                self.assertIn(message, result.err)
                self.assertEqual(result.err.count("\n"), 1, result.err)

    def test_no_permission(self):
        net, shim = self.path("net"), self.path("forbid.so")
        ok("topo", "mesh:1x2,hosts=1", "-o", net)
        with open(self.path("forbid.c"), "w") as file:
            file.write(FORBID)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, self.path("forbid.c"), "-ldl"],
                       check=True)
        with open(subprocess.run(["which", "ibsim-run"], stdout=subprocess.PIPE, env=dict(
                os.environ, PATH=ibsim.PATH)).stdout.decode().strip()) as script:
            library = re.search(r"^sim_so=(.*)", script.read(), re.M)[1]
        with ibsim.simulate(net) as sim:
            done = subprocess.run([SELVAGE, "discover"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=self.path(),
                                  env=dict(sim.environment, LD_PRELOAD=shim + ":" + library))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, rb"\Aselvage: no permission to send datagrams .*\n\Z")

    def test_output_that_cannot_be_written(self):
        net = self.path("net")
        ok("topo", "mesh:2x2,hosts=1", "-o", net)
        with ibsim.simulate(net) as sim:
            sim.opensm(self.path("dump"))
            for output in net + "/below", self.path("none/now"), self.path("none/now.svr"):
                self.expect(sim.selvage("discover", "-o", output), 5)
            self.assertEqual(sorted(os.listdir(self.path())), ["dump", "net"])

    def test_nonsense(self):
        for line in (["--window", "0"], ["--window", "1025"], ["--timeout", "0"], ["--tries", "0"],
                     ["--port", "256"], ["--port", "x"], ["--no-tables", "--sls"], ["-o", "-"],
                     ["somewhere"], ["--sls=yes"], ["--unknown"]):
            result = self.expect(selvage("discover", *line), 2)
            self.assertIn("see selvage discover --help", result.err)


if __name__ == "__main__":
    ibsim.require()
    if "ibnetdisc" not in ok("--version").out:
        print("skipped: built without libibnetdisc")
        sys.exit(1 if os.environ.get("SELVAGE_REQUIRE_LIVE") else 77)
    unittest.main()
