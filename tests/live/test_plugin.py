"""selvage inside the real OpenSM, over the real ibsim: fabrics are started, cables are pulled and put
back and switches killed while it runs, and after each change

- the fabric is routed, proven, and `check` says so of OpenSM's own dump, SLs and VLs included;
- what `discover` reads from the switches is what was handed over;
- the real ibdmchk agrees about credit loops;
- PathRecord queries (saquery) answer with our SLs;
- an offline `route` (or `route --repair`) of the same fabric comes to the same tables.
"""
import concurrent.futures
import json
import os
import random
import re
import socket
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support import ibsim, opensm  # noqa: E402
from support.command import SELVAGE, ok, real, selvage  # noqa: E402
from support.ibsim import tables  # noqa: E402

# Fabric, what fails before the start, and the options of the plugin.
RUNS = [("torus:4x4x3,hosts=4", ["--switches", "1"], "engine=weave"),
        ("kary:k=16,n=2,hosts=16", ["--links", "5%"], "engine=weave"),
        ("dragonfly:a=4,p=2,h=2,g=9", [], "engine=weave"),
        ("kautz:d=2,k=4,hosts=1", [], "engine=weave"),
        ("random:switches=32,links=128,total=96", [], "engine=weave"),
        ("deimos", [], "engine=weave"),
        # every other engine on one of them
        ("kary:k=4,n=3,hosts=4", [], "engine=minhop"),
        ("kary:k=4,n=2,hosts=4", [], "engine=sssp"),
        ("torus:4x4x3,hosts=4", [], "engine=updn"),
        ("random:switches=32,links=128,total=96", [], "engine=dnup"),
        ("mesh:4x4,hosts=2", [], "engine=dor"),
        ("torus:4x4x3,hosts=4", ["--links", "2"], "engine=dfsssp"),
        ("dragonfly:a=4,p=2,h=2,g=9", [], "engine=lash"),
        ("torus:4x4x3,hosts=4", [], "engine=nue"),
        ("kary:k=4,n=2,hosts=4", [], "engine=ftree"),
        ("kary:k=3,n=3,hosts=3", ["--links", "3"], "engine=dmodk"),
        ("torus:5x4,hosts=2", [], "engine=torus2qos"),
        ("dragonfly:a=4,p=2,h=2,g=9", [], "engine=dla"),
        ("dragonfly:a=4,p=2,h=2,g=9", [], "engine=d3r"),
        ("dragonfly:a=3,p=2,h=3,g=7", [], "engine=sssp-df"),
        ("dragonfly:a=3,p=2,h=3,g=7", [], "engine=minhop-df"),
        ("kary:k=4,n=2,hosts=4", [], "engine=auto"),
        # and weave's modes
        ("torus:4x4,hosts=2", [], "sl=one"),
        ("torus:4x4,hosts=2", [], "sl=reversible vls=4"),
        ("torus:4x4x3,hosts=2", [], "sl=destination"),
        ("torus:4x4x3,hosts=2", [], "vls=1"),
        ("torus:4x4x3,hosts=2", [], "traffic=all vls=2")]
DISCOVER = "discover" in selvage("--help").out
REAL = ["mlnx-small-lab", "psmn-x5"]


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-live-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)

    def net(self, spec, faults=()):
        """A fabric file, and its switches and adapters."""
        net = self.path("f.net")
        if faults:
            ok("faults", spec, *faults, "--seed", "5", "-o", net)
        else:
            ok("topo", spec, "-o", net)
        return net

    def offline(self, options, old=None):
        """The tables that the command comes to for the fabric in the state file."""
        words = dict(word.split("=") for word in options.split() if "=" in word)
        command = ["route", self.path("state.svr"), "-o", self.path("offline"), "--engine",
                   words.get("engine", "weave")]
        for option, name in (("--vls", "vls"), ("--sl", "sl")):
            if name in words:
                command += [option, words[name]]
        if old:
            command += ["--repair", old, "--proven"]
        ok(*command)
        return tables(self.path("offline/opensm-lfts.dump"))

    def judge(self, sm, sim, whole=True):
        """What must hold whenever OpenSM has routed."""
        status = sm.status()
        self.assertTrue(status["proven"])
        self.assertEqual(status["lost_pairs"], 0)
        dumped = selvage("check", sm.written(), "--json")
        self.assertEqual(dumped.code, 0 if whole else 1, dumped.out + dumped.err)
        self.assertIs(dumped.json["deadlock_free"], True)
        self.assertEqual(dumped.json["loops"], 0)
        self.assertEqual(dumped.json["unreachable_pairs"], dumped.json["split_pairs"])
        self.assertTrue(dumped.json["sl_known"] and dumped.json["sl2vl_known"])
        if sim is not None and DISCOVER:
            self.compare_with_switches(sm, sim)
        ok("convert", sm.dump, "--format", "ibdmchk-psl", "-o", self.path("psl"))
        self.assertIs(ibsim.ibdmchk(sm.dump, self.path("psl")), True)

    def compare_with_switches(self, sm, sim):
        """What is really in the switches is what was dumped."""
        sim.run(SELVAGE, "discover", "-o", self.path("now"))
        found, dumped = tables(self.path("now/opensm-lfts.dump")), tables(
            sm.dump + "/opensm-lfts.dump")
        self.assertEqual(found, dumped)
        now = selvage("check", self.path("now"), "--json")
        self.assertIn(now.code, (0, 6), now.out + now.err)  # it does not tell SLs
        self.assertEqual(now.json["unreachable_pairs"], now.json["split_pairs"])
        self.assertEqual(now.json["loops"], 0)

    def compare_sls(self, sm, sim, count=12):
        """What the subnet administrator answers is what was proven."""
        fabric = json.loads(ok("convert", sm.dump, "--format", "json").out)
        lids = [node["lid"] for node in fabric["terminals"] + fabric["switches"]]
        draw = random.Random(1)
        for _ in range(count):
            a, b = draw.sample(lids, 2)
            text = sim.run("saquery", "--src-to-dst", "%d:%d" % (a, b)).decode()
            sl = int(re.search(r"\bsl\.+0x([0-9a-fA-F]+)", text)[1], 16)
            path = ok("path", sm.dump, "lid %d" % a, "lid %d" % b, "--json").json
            self.assertEqual(path["sl"], sl, "LID %d to %d" % (a, b))


class Running(Case):
    def run_one(self, spec, faults, options):
        net = self.net(spec, faults)
        switches = json.loads(ok("convert", net, "--format", "json").out)["switches"]
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("osm"), options + " state=" + self.path("state.svr")) as sm:
            sm.wait_up()
            self.judge(sm, sim)
            self.compare_sls(sm, sim)
            self.assertEqual(self.offline(options), tables(sm.dump + "/opensm-lfts.dump"))
            engine = dict(w.split("=") for w in options.split()).get("engine", "weave")
            self.assertEqual(sm.status()["engine"], "ftree" if engine == "auto" else engine)
            self.change(sm, sim, net, switches, options)
            # dor deadlocks on a mesh with a hole; dla and d3r refuse groups that lost a cable.
            if engine not in ("dor", "dla", "d3r"):
                self.assertEqual(sm.lines("ERR SV"), [])
            self.assertEqual(sm.stop(), 0)

    def change(self, sm, sim, net, switches, options):
        """A cable out and in again, a switch out and in again."""
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        inner = [c for c in fabric["cables"] if max(c["a"], c["b"]) < len(switches)]
        degree = [sum(s in (c["a"], c["b"]) for c in inner) for s in range(len(switches))]
        cable = max(inner, key=lambda c: (min(degree[c["a"]], degree[c["b"]]), c["a"], c["a_port"]))
        node, port = "S-" + switches[cable["a"]]["guid"][2:], cable["a_port"]
        os.replace(self.path("state.svr"), self.path("before.svr"))
        sm.settle(lambda: sim.unlink(node, port))
        self.judge(sm, sim)
        if sm.status()["how"] == "repaired":
            self.assertEqual(self.offline(options, self.path("before.svr")),
                             tables(sm.dump + "/opensm-lfts.dump"))
        sm.settle(lambda: sim.relink(node, port))
        self.judge(sm, None)
        self.assertEqual(self.offline(options), tables(sm.dump + "/opensm-lfts.dump"))
        victim = "S-" + switches[-1]["guid"][2:]
        sm.settle(lambda: sim.unlink(victim))
        self.judge(sm, None)
        self.compare_sls(sm, sim, 4)
        sm.settle(lambda: sim.relink(victim))
        self.judge(sm, sim)


class Fabrics(Running):
    def test_fabrics_and_engines(self):
        """Two at a time, each with a simulator and a directory of its own: mostly they wait."""
        def alone(run):
            case = Running()
            case.setUp()
            try:
                case.run_one(*run)
            finally:
                case.doCleanups()

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            under_way = [(run, pool.submit(alone, run)) for run in RUNS]
            for (spec, _, options), done in under_way:
                with self.subTest(spec, options=options):
                    done.result()

    def test_real_fabrics(self):
        done = 0
        for name in REAL:
            path = real("ibnetdiscover", name + ".ibnetdiscover")
            if path is None:
                continue
            with self.subTest(name):
                self.setUp()
                ok("convert", path, "-o", self.path("f.net"))
                with ibsim.simulate(self.path("f.net"), console=True) as sim, opensm.start(
                        sim, self.path("osm")) as sm:
                    sm.wait_up()
                    self.judge(sm, sim)
                    self.compare_sls(sm, sim)
                done += 1
        if done == 0:
            self.skipTest("the real fabrics are not here")


class Settings(Case):
    """OpenSM's settings and the plugin's options."""

    def start(self, sim, options="", **config):
        return opensm.start(sim, self.path("osm"), options, **config)

    def test_several_addresses(self):
        for lmc in ("1", "3"):
            with self.subTest(lmc=lmc):
                self.setUp()
                net = self.net("torus:3x3,hosts=2")
                with ibsim.simulate(net) as sim, self.start(sim, lmc=lmc) as sm:
                    sm.wait_up()
                    self.judge(sm, sim)
                    self.assertEqual(ok("metrics", sm.dump, "--json").json["pairs"],
                                     18 * 17 << int(lmc))

    def test_several_addresses_of_switches(self):
        """An enhanced port 0 may have several LIDs, too; files of tables name only the first."""
        net = self.net("torus:3x3,hosts=1")
        with ibsim.simulate(net) as sim, self.start(sim, lmc="2", lmc_esp0="TRUE") as sm:
            sm.wait_up()
            self.judge(sm, None)
            fabric = json.loads(ok("convert", sm.dump, "--format", "json").out)
            entries = tables(sm.dump + "/opensm-lfts.dump")
            for switch in fabric["switches"]:
                for lid in range(switch["lid"], switch["lid"] + 4):
                    for at in entries.values():
                        self.assertEqual(at[lid], at[switch["lid"]])

    def test_without_qos_there_is_one_vl(self):
        with ibsim.simulate(self.net("torus:4x4,hosts=1")) as sim, self.start(sim,
                                                                           qos="FALSE") as sm:
            sm.wait_up()
            self.assertEqual(sm.status()["vls_used"], 1)
            self.assertEqual(len(sm.lines("qos is FALSE")), 1)
            self.assertEqual(selvage("check", sm.dump).code, 0)

    def test_fewer_vls_by_opensm(self):
        with ibsim.simulate(self.net("torus:4x4,hosts=1")) as sim, self.start(
                sim, max_op_vls="2") as sm:  # a code: two VLs
            sm.wait_up()
            self.assertEqual(sm.status()["vls_used"], 2)
            self.judge(sm, sim)

    def test_wrong_options_are_refused(self):
        for options, said in (("engine=magic", "magic"), ("vls=0", "VLs are 1 to 15"),
                              ("vls=many", "VLs are 1 to 15"), ("sl=none", "sl is pair"),
                              ("colour=blue", "no such option"), ("dry-run=yes", "no such option"),
                              ("engine=", "value is missing"), ("budget=-1", "budget is seconds"),
                              ("option=rounds", "option=NAME=VALUE"),
                              ("option=none=1", "no option"), ("vls=0x4", "VLs are 1 to 15"),
                              ("vls=8 sl-offset=12", "SLs above 15"), ("state=x", "ends in .svr"),
                              ("pin=/does/not/exist", "/does/not/exist"),
                              ("engine=updn roots=/does/not/exist", "/does/not/exist")):
            with self.subTest(options):
                self.setUp()
                with ibsim.simulate(self.net("mesh:1x2,hosts=1")) as sim, self.start(
                        sim, options, routing_engine="selvage") as sm:
                    sm.wait("ERR SV00")
                    lines = sm.lines("ERR SV00")
                    self.assertIn(said, lines[0])
                    self.assertIn("selvage routes nothing", lines[0])
                    # and nothing is routed by anybody else
                    sm.wait("No routing engine able")
                    self.assertEqual(sm.ups(), 0)

    def test_vls_that_are_not_there(self):
        """Whatever asks for more VLs than ports have, what is dumped is free of deadlocks."""
        net = self.net("torus:5x5,hosts=1")
        for options, config, vls in (("vls=15", {}, 8), ("vls=4", {"qos": "FALSE"}, 1),
                                       ("vls=4", {"max_op_vls": "2"}, 2)):
            with self.subTest(options, **config):
                self.setUp()
                with ibsim.simulate(net) as sim, self.start(sim, options, **config) as sm:
                    sm.wait_up()
                    self.assertEqual(sm.status()["vls_used"], vls)
                    self.judge(sm, None)

    def test_vls_that_come_and_go(self):
        """max_op_vls and qos may be changed while OpenSM runs."""
        with ibsim.simulate(self.net("torus:5x5,hosts=1")) as sim, self.start(sim) as sm:
            sm.wait_up()
            self.assertEqual(sm.status()["vls_used"], 8)
            for old, new, vls in (("max_op_vls 5", "max_op_vls 1", 1),
                                    ("max_op_vls 1", "max_op_vls 3", 4),
                                    ("qos TRUE", "qos FALSE", 1), ("qos FALSE", "qos TRUE", 4)):
                with open(sm.config) as file:
                    text = file.read()
                if old.startswith("max") and old not in text:
                    text += old + "\n"
                with open(sm.config, "w") as file:
                    file.write(text.replace(old, new))
                sm.sweep()
                sm.sweep()
                self.assertEqual(sm.status()["vls_used"], vls, new)
                self.judge(sm, None)

    def test_an_engine_after_selvage_is_said(self):
        with ibsim.simulate(self.net("mesh:2x2,hosts=1")) as sim, self.start(
                sim, routing_engine="selvage,minhop") as sm:
            sm.wait_up()
            self.assertIn("minhop", sm.lines("ERR SV10")[0])

    def test_options_beside_those_of_other_plugins(self):
        with ibsim.simulate(self.net("mesh:2x2,hosts=1")) as sim, self.start(
                sim, "colour=blue,selvage.engine=updn,selvage.vls=1") as sm:
            sm.wait_up()
            self.assertEqual(len(sm.lines("engine updn")), 1)

    def test_fallback_and_cache_are_switched_off(self):
        with ibsim.simulate(self.net("mesh:2x2,hosts=1")) as sim, self.start(
                sim, routing_engine="selvage", use_ucast_cache="TRUE") as sm:
            sm.wait_up()
            self.assertEqual(len(sm.lines("no_fallback is assumed")), 1)
            self.assertEqual(len(sm.lines("use_ucast_cache is switched off")), 1)

    def test_roots_and_roles(self):
        net = self.net("torus:3x3,hosts=1")
        ok("convert", net, "--format", "cn-guids", "-o", self.path("cn"))
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        with open(self.path("roots"), "w") as file:
            file.write(fabric["switches"][4]["guid"] + "\n")
        with open(self.path("io"), "w") as file:
            file.write(fabric["terminals"][2]["guid"] + "\n")
        with ibsim.simulate(net) as sim, self.start(
                sim, "engine=updn state=" + self.path("state.svr"),
                root_guid_file=self.path("roots"), cn_guid_file=self.path("cn"),
                io_guid_file=self.path("io")) as sm:
            sm.wait_up()
            self.judge(sm, sim)
            ok("route", self.path("state.svr"), "--engine", "updn", "--roots", self.path("roots"),
               "-o", self.path("offline"))
            self.assertEqual(tables(self.path("offline/opensm-lfts.dump")),
                             tables(sm.dump + "/opensm-lfts.dump"))
            self.assertEqual(sm.lines("ERR SV"), [])

    def test_a_missing_file_of_roles_is_said(self):
        with ibsim.simulate(self.net("mesh:1x2,hosts=1")) as sim, self.start(
                sim, io_guid_file=self.path("none")) as sm:
            sm.wait_up()
            self.assertIn("none", sm.lines("ERR SV07")[0])

    def test_throttled_links_are_avoided(self):
        with open(self.net("torus:4x4,hosts=1")) as file:
            text = file.read()
        # A cable between switches that runs slower in one direction.
        slow, count = re.subn(r'^(\[2\]\s+"S-.*4x)QDR', r"\1DDR", text, count=1, flags=re.M)
        self.assertEqual(count, 1)
        for value, said in (("FALSE", 0), ("TRUE", 1)):
            with self.subTest(avoid_throttled_links=value):
                self.setUp()
                with open(self.path("f.net"), "w") as file:
                    file.write(slow)
                with ibsim.simulate(self.path("f.net")) as sim, self.start(
                        sim, "state=" + self.path("state.svr"),
                        avoid_throttled_links=value) as sm:
                    sm.wait_up()
                    sm.sweep()  # OpenSM knows what ports are set to only now
                    self.judge(sm, sim)
                    self.assertEqual(len(sm.lines("left out: 1 throttled")), said)
                    links = ok("info", self.path("state.svr"), "--json").json["links"]
                    self.assertEqual(links, 32 - said)

    def test_the_smallest_fabrics(self):
        for spec in ("mesh:1x1,hosts=2", "mesh:1x1,hosts=1", "mesh:1x2,hosts=1"):
            with self.subTest(spec):
                self.setUp()
                with ibsim.simulate(self.net(spec)) as sim, self.start(sim) as sm:
                    sm.wait_up()
                    self.assertTrue(sm.status()["proven"])
                    sm.sweep()
                    self.assertEqual(sm.stop(), 0)

    def test_two_hosts_without_a_switch(self):
        with open(self.path("f.net"), "w") as file:
            file.write('Ca 1 "H-0000000000000001"\n[1] "H-0000000000000002"[1]\n\n'
                       'Ca 1 "H-0000000000000002"\n[1] "H-0000000000000001"[1]\n')
        sim = ibsim.Simulator(self.path("f.net"), "H-0000000000000001", 2, 0, 4)
        with sim, self.start(sim) as sm:
            sm.wait_up()
            sm.sweep()
            self.assertEqual(sm.stop(), 0)


class Modes(Case):
    def test_dry_run(self):
        net = self.net("torus:4x4,hosts=1")
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("osm"), "dry-run", routing_engine="dnup") as sm:
            sm.wait_up()
            sm.wait("dry-run: these tables would change")
            first = tables(sm.dump + "/opensm-lfts.dump")
            sm.sweep()
            self.assertEqual(tables(sm.dump + "/opensm-lfts.dump"), first)
            line = sm.lines("dry-run: these tables would change")[0]
            self.assertGreater(int(re.search(r"change (\d+) entries", line)[1]), 0)
            self.assertTrue(sm.status()["dry_run"])
            self.assertFalse(os.path.exists(sm.dump + "/opensm.psl"))
            self.assertEqual(len(sm.lines("dnup tables configured")), 2)

    def test_pinned_tables(self):
        net = self.net("torus:4x4,hosts=1")
        with ibsim.simulate(net) as sim:
            with opensm.start(sim, self.path("osm"), "state=" + self.path("state.svr")) as sm:
                sm.wait_up()
        ok("route", self.path("state.svr"), "--engine", "dfsssp", "-o", self.path("pin"))
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("osm2"), "pin=" + self.path("pin")) as sm:
            sm.wait_up()
            self.judge(sm, sim)
            pinned = tables(self.path("pin/opensm-lfts.dump"))
            self.assertEqual(sm.status()["how"], "pinned")
            self.assertEqual(tables(sm.dump + "/opensm-lfts.dump"), pinned)
            switch = json.loads(ok("convert", net, "--format", "json").out)["switches"][5]
            node = "S-" + switch["guid"][2:]
            sm.settle(lambda: sim.unlink(node, 2))
            self.judge(sm, sim)
            self.assertNotEqual(sm.status()["how"], "pinned")
            sm.settle(lambda: sim.relink(node, 2))
            self.judge(sm, sim)
            self.assertEqual(sm.status()["how"], "pinned")
            self.assertEqual(tables(sm.dump + "/opensm-lfts.dump"), pinned)

    def test_a_restart_changes_nothing(self):
        net = self.net("torus:4x4,hosts=1")
        state = "state=" + self.path("state.svr")
        switch = json.loads(ok("convert", net, "--format", "json").out)["switches"][5]
        with ibsim.simulate(net, console=True) as sim:
            with opensm.start(sim, self.path("osm"), state) as sm:
                sm.wait_up()
                sm.settle(lambda: sim.unlink("S-" + switch["guid"][2:], 2))
                before = tables(sm.dump + "/opensm-lfts.dump")
                self.assertEqual(sm.status()["how"], "repaired")
            with opensm.start(sim, self.path("osm"), state) as sm:
                sm.wait("SUBNET UP", 3)
                self.assertEqual(tables(sm.dump + "/opensm-lfts.dump"), before)
                self.judge(sm, sim)

    def test_standby_and_back(self):
        opensm.try_again(self.standby_and_back)

    def standby_and_back(self):
        self.setUp()
        net = self.net("torus:4x4,hosts=1")
        guids = [a["guid"][2:] for a in json.loads(ok("convert", net, "--format",
                                                      "json").out)["adapters"]]
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("first"), sm_priority="3") as one:
            one.wait_up()
            with opensm.start(sim, self.path("second"), host="H-" + guids[7],
                              sm_priority="9") as two:
                two.take_over()
                one.wait("Entering STANDBY state", timeout=60)
                self.judge(two, sim)
                switch = json.loads(ok("convert", net, "--format", "json").out)["switches"][5]
                two.settle(lambda: sim.unlink("S-" + switch["guid"][2:], 2))
                self.judge(two, sim)
                before = one.ups()
            one.wait_up(before + 1, timeout=120)
            self.judge(one, sim)
            self.assertTrue(any("not known" in line for line in one.lines("handed over")[1:]))

    def test_addresses_that_are_gone(self):
        """PathRecords for LIDs that were, or never were, do no harm."""
        net = self.net("torus:4x4,hosts=1")
        with ibsim.simulate(net, console=True) as sim, opensm.start(sim, self.path("osm")) as sm:
            sm.wait_up()
            fabric = json.loads(ok("convert", sm.dump, "--format", "json").out)
            gone = fabric["terminals"][-1]
            adapter = fabric["adapters"][gone["adapter"]]
            sm.settle(lambda: sim.unlink("H-" + adapter["guid"][2:], 1))
            for lid in (gone["lid"], 40000, 49151):
                found = sim.run("saquery", "--src-to-dst", "%d:%d" % (
                    fabric["terminals"][0]["lid"], lid))
                self.assertNotIn(b"dlid", found)
            self.compare_sls(sm, sim, 3)


GROUP = """MC Group 0x%04x : mgid=0xff12401bffff0000:0x%016x port_gid=0xfe80000000000000:0x%016x\
 qkey=0x00000b1b mlid=0x%04x mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92\
 sl_flow_hop=0x%x0000000 scope_state=0x21 proxy_join=0x0

"""
MEMBER = """mcm_port: port_gid=0xfe80000000000000:0x%016x scope_state=0x21 proxy_join=0x0

"""


class Multicast(Case):
    def test_groups_have_proven_trees(self):
        for spec, options in (("torus:4x4,hosts=2", ""), ("dragonfly:a=4,p=2,h=2,g=9", ""),
                              ("torus:4x4,hosts=2", "vls=1"), ("kary:k=4,n=2,hosts=4", ""),
                              ("torus:4x4x3,hosts=2", "engine=dfsssp")):
            with self.subTest(spec, options=options):
                self.setUp()
                self.run_groups(self.net(spec), options)

    def test_reroute_on_the_console(self):
        """New tables come with new trees: what is in the switches is safe whole."""
        net = self.net("torus:4x4x3,hosts=1")
        fabric, groups = self.make_groups(net)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("osm"), "drift=0", sa_db_file=self.path("sa.dump"),
                console="loopback", console_port=str(port)) as sm:
            sm.wait_up()
            for switch, out in ((5, 2), (9, 4), (13, 3), (20, 5), (30, 6), (40, 2)):
                node = "S-" + fabric["switches"][switch]["guid"][2:]
                sm.settle(lambda: sim.unlink(node, out))
            with socket.create_connection(("127.0.0.1", port), timeout=20) as console:
                said = b""
                while b"$" not in said:  # OpenSM's prompt
                    said += console.recv(4096)
                sm.settle(lambda: console.sendall(b"reroute\n"))
            self.assertEqual(len(sm.lines("reroute: everything is routed anew")), 1)
            self.assertEqual(sm.status()["how"], "routed")
            self.compare_groups(sm, groups, fabric)
            sim.run(SELVAGE, "discover", "--sls", "-o", self.path("now"))
            found = selvage("check", self.path("now"), "--json")
            self.assertEqual(found.code, 0, found.out)
            self.assertIs(found.json["verdicts"]["multicast_and_unicast"], True)

    def make_groups(self, net):
        """Some groups with SL 0, of two members to all, in a file that OpenSM restores."""
        fabric = json.loads(ok("convert", net, "--format", "json").out)
        ports = [int(t["guid"], 16) for t in fabric["terminals"]]
        draw = random.Random(3)
        groups = {0xc010 + i: draw.sample(ports, size)
                  for i, size in enumerate((2, 5, len(ports) // 2, len(ports)))}
        with open(self.path("sa.dump"), "w") as file:
            for mlid, members in groups.items():
                file.write(GROUP % (mlid, mlid, 0, mlid, 0))
                for member in members:
                    file.write(MEMBER % member)
        return fabric, groups

    def run_groups(self, net, options):
        fabric, groups = self.make_groups(net)
        with ibsim.simulate(net, console=True) as sim, opensm.start(
                sim, self.path("osm"), options, sa_db_file=self.path("sa.dump")) as sm:
            sm.wait_up()
            self.compare_groups(sm, groups, fabric)
            sm.sweep()
            self.assertEqual(sm.status()["multicast_groups"], len(groups))
            switch = fabric["switches"][-1]
            lost = {int(t["guid"], 16) for t in fabric["terminals"]
                    if any(switch["node"] in (c["a"], c["b"]) and t["node"] in (c["a"], c["b"])
                           for c in fabric["cables"])}
            sm.settle(lambda: sim.unlink("S-" + switch["guid"][2:]))
            self.compare_groups(sm, {mlid: [m for m in members if m not in lost]
                                     for mlid, members in groups.items()}, fabric)
            sm.settle(lambda: sim.relink("S-" + switch["guid"][2:]))
            self.judge(sm, sim)

    def compare_groups(self, sm, groups, fabric):
        """Every member gets what every other member sends, once, and nobody else does."""
        self.judge(sm, None)
        now = json.loads(ok("convert", sm.dump, "--format", "json").out)
        peer = {}
        for c in now["cables"]:
            peer[c["a"], c["a_port"]] = (c["b"], c["b_port"])
            peer[c["b"], c["b_port"]] = (c["a"], c["a_port"])
        by_guid = {int(n["guid"], 16): n["node"] for n in now["switches"] + now["terminals"]}
        forwarding = self.multicast_tables(sm.dump + "/opensm.mcfdbs", by_guid)
        for mlid, members in groups.items():
            nodes = {by_guid[m] for m in members}
            for start in sorted(nodes)[:3]:
                got, todo = [], [peer[start, next(p for n, p in peer if n == start)]]
                while todo:
                    at, came = todo.pop()
                    if at >= len(now["switches"]):
                        got.append(at)
                        continue
                    self.assertLess(len(todo), 1000, "a loop")
                    todo += [peer[at, p] for p in forwarding.get((at, mlid), ()) if p != came]
                if len(members) < 2:
                    self.assertEqual(got, [])
                else:
                    self.assertEqual(sorted(got), sorted(nodes - {start}), hex(mlid))

    def multicast_tables(self, path, by_guid):
        result, at = {}, None
        with open(path) as file:
            for line in file:
                switch = re.match(r"Switch (0x\w+)", line)
                entry = re.match(r"(0x\w+)\s*:\s*(.*)", line)
                if switch:
                    at = by_guid[int(switch[1], 16)]
                elif entry:
                    result[at, int(entry[1], 16)] = [int(p, 16) for p in entry[2].split()]
        return result


if __name__ == "__main__":
    opensm.require()
    unittest.main()
