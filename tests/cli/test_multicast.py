"""route --multicast from outside: what it writes is judged by check, and followed port by port here."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402
from support.tables import plain as without  # noqa: E402


class Multicast(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-multicast-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def masks(self, name):
        """The ports of MLID 0xc000, by switch GUID."""
        masks, at = {}, None
        with open(os.path.join(self.path(name), "opensm.mcfdbs")) as file:
            for line in file:
                if line.startswith("Switch "):
                    at = int(line.split()[1], 16)
                elif line.startswith("0xC000 :"):
                    masks[at] = {int(port, 16) for port in line.split(":")[1].split()}
        return masks

    def check_reach(self, spec, masks):
        """A packet from each terminal reaches each other one exactly once."""
        fabric = json.loads(ok("convert", spec, "-o", "-", "--format", "json").out)
        cables, guids = {}, {s["node"]: int(s["guid"], 16) for s in fabric["switches"]}
        for cable in fabric["cables"]:
            a, b = ((cable[end], cable[end + "_port"]) for end in "ab")
            cables[a], cables[b] = b, a
        hosts = [terminal["node"] for terminal in fabric["terminals"]]
        for host in hosts:
            got, waiting = [], [cables[host, 1]]
            while waiting:
                node, came = waiting.pop()
                if node in hosts:
                    got.append(node)
                    continue
                waiting += [cables[node, port] for port in masks[guids[node]] - {came}]
            self.assertEqual(sorted(got + [host]), hosts)

    def test_groups_are_judged_and_reach_everybody(self):
        for spec, options in (("torus:4x4,hosts=2", []), ("torus:5x5,hosts=1", ["--vls", "4"]),
                              ("torus:4x4x3,hosts=1", ["--sl", "one"]),
                              ("kary:k=3,n=3,hosts=1", ["-e", "updn"])):
            with self.subTest(spec=spec, options=options):
                found = ok("route", spec, "--multicast", "-o", self.path("t"), "--json",
                           *options).json
                self.assertIs(found["check"]["verdicts"]["multicast_and_unicast"], True)
                self.assertEqual(found["multicast"]["mlid"], 0xC000)
                checked = ok("check", self.path("t"), "--json").json
                self.assertIs(checked["verdicts"]["multicast"], True)
                self.assertIs(checked["verdicts"]["multicast_and_unicast"], True)
                self.assertIs(checked["deadlock_free"], True)
                self.check_reach(spec, self.masks("t"))
                shutil.rmtree(self.path("t"))

    def test_exchanged_service_levels(self):
        """A torus whose first VL is full: the packets keep their VLs, only names change."""
        plain = ok("route", "torus:5x5,hosts=1", "--vls", "4", "-o", self.path("plain"), "--json").json
        found = ok("route", "torus:5x5,hosts=1", "--vls", "4", "--multicast", "-o", self.path("t"),
                   "--json").json
        other = found["multicast"]["exchanged_sl"]
        self.assertNotEqual(other, 0)
        self.assertEqual(plain["check"]["dependencies"], found["check"]["dependencies"])
        text = ok("route", "torus:5x5,hosts=1", "--vls", "4", "--multicast").out
        self.assertIn("; SLs 0 and %d exchanged\n" % other, text)

        def levels(name):
            with open(os.path.join(without(self.path(name)), "opensm.psl")) as file:
                return [line.rsplit(" ", 1) for line in file.read().splitlines()]

        for (pair, old), (same, new) in zip(levels("plain"), levels("t"), strict=True):
            self.assertEqual(pair, same)
            self.assertEqual(new, {"0": str(other), str(other): "0"}.get(old, old))

    def test_weave_is_asked_for_room(self):
        spec = "random:switches=40,links=90,total=60,seed=1"
        found = ok("route", spec, "--vls", "2", "--multicast", "--json").json
        self.assertIs(found["multicast"]["routed_again"], True)
        self.assertIs(found["check"]["verdicts"]["multicast_and_unicast"], True)
        asked = ok("route", spec, "--vls", "2", "--multicast", "--option", "multicast=yes",
                   "--json").json
        self.assertIs(asked["multicast"]["routed_again"], False)
        self.assertEqual(selvage("route", spec, "--option", "multicast=perhaps").code, 2)

    def test_a_vl_less(self):
        """Engines that fill all their VLs get one less; the tree is alone on the last."""
        for engine in "nue", "weave":
            found = ok("route", "torus:5x5,hosts=1", "-e", engine, "--vls", "2", "--multicast",
                       "--json", "-o", self.path("t"),
                       *(["--option", "multicast=no"] if engine == "weave" else [])).json
            if engine == "nue":
                self.assertIs(found["multicast"]["own_vl"], True)
                self.assertEqual(found["vls_used"], 1)
            self.assertIs(ok("check", self.path("t"), "--json")
                          .json["verdicts"]["multicast_and_unicast"], True)

    def test_refusals(self):
        run = selvage("route", "torus:5x5,hosts=1", "-e", "minhop", "--multicast", "-o",
                      self.path("t"))
        self.assertEqual(run.code, 4)
        self.assertRegex(run.err, r"^selvage: [^\n]*even without multicast packets\n$")
        self.assertFalse(os.path.exists(self.path("t")))

    def test_repairs(self):
        ok("route", "torus:5x5,hosts=1", "--vls", "4", "--multicast", "-o", self.path("old"))
        ok("faults", "torus:5x5,hosts=1", "--links", "2", "--seed", "1", "-o",
           self.path("broken.net"))
        found = ok("route", self.path("broken.net"), "--repair", self.path("old"), "--multicast",
                   "-o", self.path("new"), "--json").json
        self.assertEqual(found["multicast"]["exchanged_sl"], 0)
        self.assertIs(found["full"], False)
        self.assertIs(ok("check", self.path("new"), "--json")
                      .json["verdicts"]["multicast_and_unicast"], True)
        self.assertEqual(len(self.masks("new")), 25)


if __name__ == "__main__":
    unittest.main()
