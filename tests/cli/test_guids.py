"""Two nodes with one GUID (virtual machines, cloned firmware): said by info and diff with both of them, never the
reason for tables that read back as others; what can be told apart all the same is."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402

HOST0, HOST2 = "host0/1", "host2/1"
PORT = "2005e1b00000011"  # of host0


class Guids(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-guids-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.text = ok("topo", "mesh:2x2,hosts=2").out
        self.base = self.write("base.net", self.text)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def fabric(self, *changes, name="shared.net"):
        text = self.text
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write(name, text)

    # host0 is on sw0-0, host1, too; host2 on sw0-1.
    PORTS = ("2005e1b00000031", PORT)
    NODES = ("caguid=0x2005e1b00000030", "caguid=0x2005e1b00000010")
    SWITCHES = ("switchguid=0x2005e1a00000004(2005e1a00000004)", "switchguid=0x2005e1a00000001(2005e1a00000001)")
    SWITCH_AND_PORT = ("switchguid=0x2005e1a00000004(2005e1a00000004)", "switchguid=0x%s(%s)" % (PORT, PORT))
    PORT_AND_NODE = ("2005e1b00000031", "2005e1b00000020")

    def cases(self):
        """What is shared, the GUID, both nodes, and whether files that hold no tables can hold it."""
        return (
            ((self.PORTS,), "0x02005e1b00000011", "'host0/1'", "'host2/1'", True),
            (((("2005e1b00000021"), PORT),), "0x02005e1b00000011", "'host0/1'", "'host1/1'", True),
            ((self.NODES,), "0x02005e1b00000010", "'host0'", "'host2'", False),
            ((self.NODES, self.PORTS), "0x02005e1b00000010", "'host0'", "'host2'", False),
            ((self.SWITCHES,), "0x02005e1a00000001", "'sw0-0'", "'sw1-1'", False),
            ((self.SWITCH_AND_PORT,), "0x02005e1b00000011", "'sw1-1'", "'host0/1'", True),
            ((self.PORT_AND_NODE,), "0x02005e1b00000020", "'host2/1'", "'host1'", True))

    def test_info_names_both(self):
        self.assertIn("warnings       none", ok("info", self.base).out)
        for changes, guid, first, second, _ in self.cases():
            net = self.fabric(*changes)
            text = ok("info", net).out
            line = [line for line in text.splitlines() if line.startswith("warning ")]
            self.assertEqual(len(line), 1, text)
            self.assertRegex(line[0], r"^warning        duplicate GUID: \d, for example 0x[0-9a-f]{16} of ")
            if len(changes) == 1:
                for word in (guid, first, second):
                    self.assertIn(word, line[0])
            found = [w for w in ok("info", net, "--json").json["warnings"] if w["what"] == "duplicate GUID"]
            self.assertEqual([w["count"] for w in found], [len(changes)], changes)

    def test_a_card_may_call_its_port_as_itself(self):
        text = self.text
        for i in range(1, 9):
            text = text.replace("2005e1b000000%d1" % i, "2005e1b000000%d0" % i)
        self.assertIn("warnings       none", ok("info", self.write("same.net", text)).out)

    def test_tables_are_not_written(self):
        """Nothing is, and what was there stays."""
        for changes, _, first, second, _ in self.cases():
            if changes == (self.PORT_AND_NODE,):
                continue  # tables do not speak of the node
            net = self.fabric(*changes)
            for lmc in "0", "1":
                for name in "tables", "tables.svr":
                    out = self.path(name)
                    ok("route", self.base, "-e", "updn", "-o", out)
                    before = self.snapshot()
                    result = selvage("route", net, "-e", "nue", "--vls", "2", "--lmc", lmc, "-o", out)
                    self.assertEqual(result.code, 4, result.err)
                    self.assertEqual((result.out, result.err.count("\n")), ("", 1))
                    for word in (first.split("/")[0].rstrip("'"), second.split("/")[0].rstrip("'"), "share", "GUID 0x"):
                        self.assertIn(word, result.err)
                    self.assertEqual(self.snapshot(), before)
            self.assertIn("connected      yes", ok("route", net, "-e", "nue", "--vls", "2").out)

    def snapshot(self):
        found = {}
        for folder, _, files in os.walk(self.directory):
            for name in files:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(folder, name)] = file.read()
        return found

    def test_tables_of_others_read_back(self):
        """A port that is called as another's node: all paths of directory and file are those of the base."""
        net = self.fabric(self.PORT_AND_NODE)
        for engine in "updn", "nue":
            for name, fabric in (("base", self.base), ("dir", net), ("file.svr", net)):
                ok("route", fabric, "-e", engine, "--vls", "2", "--lmc", "1", "-o", self.path(name))
            for a in "host0", "host2", "sw1-1":
                for b in "host1", "host2", "host7":
                    for offset in "0", "1":
                        if a != b:
                            paths = [ok("path", self.path(name), a, b, "--offset", offset, "--json").out
                                     for name in ("base", "dir", "file.svr")]
                            self.assertEqual(len(set(paths)), 1, (a, b))

    def test_fabrics_are_written_if_they_read_back(self):
        def ports(fabric):
            return [t["guid"] for t in ok("convert", fabric, "-f", "json").json["terminals"]]
        for changes, _, first, second, fits in self.cases():
            net = self.fabric(*changes)
            for suffix in "net", "lst":
                out = self.path("out." + suffix)
                result = selvage("convert", net, "-o", out)
                if fits:
                    self.assertEqual(result.code, 0, result.err)
                    self.assertEqual(sorted(ports(out)), sorted(ports(net)))
                    os.remove(out)
                    continue
                self.assertEqual(result.code, 4, result.err)
                self.assertIn(first, result.err)
                self.assertIn(second, result.err)
                self.assertFalse(os.path.exists(out))
            for suffix in "dot", "json", "conf":
                ok("convert", net, "-o", self.path("out." + suffix))

    def test_diff_tells_ports_that_changed(self):
        net = self.fabric(self.PORTS)
        result = selvage("diff", self.base, net)
        self.assertEqual(result.code, 1)
        self.assertIn("changed  port     'host2' port 1 from 0x02005e1b00000031 to 0x02005e1b00000011\n"
                      "1 difference: 0 added, 0 lost, 0 moved, 1 changed, 0 renamed\n", result.out)
        self.assertRegex(result.err, "^selvage: warning: %s: duplicate GUID: 1, for example [^\n]*'host0/1'[^\n]*"
                         "'host2/1'[^\n]*\n$" % re.escape(net))
        change = selvage("diff", self.base, net, "--json").json["changes"][0]
        self.assertEqual(change, {"change": "changed", "what": "port",
                                  "old": {"name": "host2", "guid": "0x02005e1b00000031", "port": 1},
                                  "new": {"name": "host2", "guid": "0x02005e1b00000011", "port": 1}})
        self.assertEqual(selvage("diff", self.base, net, "--match", "name").code, 0)  # whatever GUIDs they have

    def test_diff_of_nodes_that_can_be_told_apart(self):
        for changes, *_ in self.cases():
            net = self.fabric(*changes)
            result = ok("diff", net, net)
            self.assertEqual(result.out, "no difference\n")
            self.assertIn("duplicate GUID", result.err)

    def test_diff_of_nodes_that_cannot(self):
        """One GUID and one name: they may have been exchanged."""
        net = self.fabric(self.NODES, ('"host2"', '"host0"'))
        result = selvage("diff", net, net)
        self.assertEqual(result.code, 6, result.err)
        self.assertEqual(result.out, "no difference that can be told: 2 nodes have GUID and name in common with another "
                         "('host0' 0x02005e1b00000010)\n")
        found = selvage("diff", net, net, "--json")
        self.assertEqual((found.code, found.json["same"], found.json["indistinguishable"]), (6, None, 2))
        self.assertEqual(selvage("diff", self.base, net).code, 1)
        self.assertEqual(ok("diff", self.base, self.base, "--json").json["indistinguishable"], 0)

    def test_lists_are_for_all_that_have_the_guid(self):
        net = self.fabric(self.PORTS)
        guids = self.write("guids", "0x%s\n" % PORT)
        roles = [t["role"] for t in ok("convert", net, "-f", "json", "--io-guids", guids).json["terminals"]]
        self.assertEqual(roles, ["io", "compute", "io"] + ["compute"] * 5)
        switches = self.fabric(self.SWITCHES, name="switches.net")
        found = ok("route", switches, "-e", "updn", "--roots", self.write("roots", "0x2005e1a00000001\n"), "--json").json
        self.assertEqual(found["note"], "2 roots given")

    def test_a_node_that_is_there_twice(self):
        """As ibnetdiscover calls nodes by their GUIDs."""
        net = self.fabric(("H-02005e1b00000030", "H-02005e1b00000010"))
        result = selvage("info", net)
        self.assertEqual(result.code, 3)
        self.assertRegex(result.err, r'^selvage: %s:\d+: node "H-02005e1b00000010" appears twice, first in line \d+: do two '
                         r"devices have one GUID\?\n$" % re.escape(net))

    def test_asking_for_one_of_them(self):
        net = self.fabric(self.PORTS)
        result = selvage("faults", net, "--adapter", "0x" + PORT)
        self.assertEqual(result.code, 3)
        self.assertIn("more than one adapter is called", result.err)
        self.assertIn("'host0/1' 0x02005e1b00000011 on 'sw0-0' port 1, 'host2/1' 0x02005e1b00000011 on 'sw0-1' port 1",
                      result.err)


if __name__ == "__main__":
    unittest.main()
