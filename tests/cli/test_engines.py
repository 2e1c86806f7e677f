"""The command's engines for one kind of fabric, and auto, from outside."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, real  # noqa: E402
from support.tables import Base  # noqa: E402


class Trees(Base):
    def test_order_of_hosts(self):
        order = self.path("order")
        ok("route", "kary:k=2,n=2,hosts=2", "--engine", "ftree", "--order-out", order)
        with open(order) as file:
            lines = file.read().splitlines()
        self.assertEqual([line.split(" # ")[1] for line in lines],
                         ["host0", "host1", "host2", "host3"])
        with open(order, "w") as file:
            file.write("\n".join(reversed(lines)) + "\n0x99\n")
        again = self.path("again")
        result = ok("route", "kary:k=2,n=2,hosts=2", "--engine", "ftree", "--order", order,
                    "--order-out", again)
        self.assertIn("order:5: 0x0000000000000099 is no host of the fabric", result.err)
        with open(again) as file:
            self.assertEqual(file.read().splitlines(), list(reversed(lines)))
        self.expect_error(4, "--order-out: weave has no order of hosts", "route", "mesh:2",
                          "--order-out", order)
        self.expect_error(2, "engine weave knows no order of hosts", "route",
                          "kary:k=2,n=2,hosts=2", "--order", again)

    def test_order_has_only_hosts_that_compute(self):
        """Whoever is listed for routing: I/O nodes have no ranks."""
        for name, guids in ("order", [0x02005e1b00000021, 0x02005e1b00000011]), \
                ("io", [0x02005e1b00000021]):
            with open(self.path(name), "w") as file:
                file.writelines("0x%x\n" % guid for guid in guids)
        ok("route", "kary:k=2,n=2,hosts=2", "--engine", "ftree", "--order", self.path("order"),
           "--io-guids", self.path("io"), "--order-out", self.path("ranks"))
        with open(self.path("ranks")) as file:
            self.assertEqual([line.split()[2] for line in file], ["host0", "host2", "host3"])

    def test_real_trees(self):
        trees = {"director-tabs-eaten": [160, 160, 80], "selene-storage": [64, 64, 32],
                 "psmn-x5": [7, 4], "ut-rocket-fdr10": [6, 2], "topograph-dgx-ndr": [31, 9]}
        for name, levels in trees.items():
            path = real("ibnetdiscover", name + ".ibnetdiscover")
            if path is None:
                self.skipTest("the real fabrics are not here")
            made = ok("route", path, "--engine", "ftree", "--json").json
            self.assertEqual(made["structure"]["switches_by_level"], levels, name)
            self.assertTrue(made["check"]["connected"] and made["check"]["deadlock_free"], name)
            self.assertEqual(made["check"]["unreachable"]["terminal_switch"], 0, name)


class Auto(Base):
    def test_auto(self):
        text = ok("route", "kary:k=4,n=3,hosts=4", "--engine", "auto").out
        self.assertRegex(text, r"tried +VLs +SLs +busiest +hops +seconds\n")
        self.assertRegex(text, r"\n  ftree +1 +1 +60 +3\.4286 .*taken: best of those that do it")
        self.assertRegex(text, r"\n  weave .*ftree has fewer routes on its busiest channel")
        self.assertIn("\nengine         ftree: 1 VL", text)
        made = ok("route", "torus:5x5,hosts=2", "--engine", "auto", "--json", "-o",
                  self.path("auto")).json
        tried = {c["engine"]: c for c in made["candidates"]}
        self.assertIn("this is no tree", tried["ftree"]["why"])
        self.assertEqual(tried[made["engine"]]["status"], "chosen")
        metrics = ok("metrics", self.path("auto"), "--json").json
        self.assertEqual(metrics["efi"]["max"], tried[made["engine"]]["efi_max"])
        self.expect_error(2, "not auto", "route", "mesh:2x2", "--engine", "auto", "--repair",
                          self.path("auto"))
        self.expect_error(2, "auto passes no options on: 'a=b'", "route", "mesh:2", "-e", "auto",
                          "--option", "a=b")

    def test_roots_and_orders_go_to_those_who_heed_them(self):
        """Also when weave, which does not, is asked again for room for a multicast tree."""
        spec = "random:switches=40,links=90,total=60,seed=1"
        for option, guid in ("--roots", "0x02005e1a00000001"), ("--order", "0x02005e1b00000011"):
            with open(self.path("guids"), "w") as file:
                file.write(guid + "\n")
            made = ok("route", spec, "--vls", "2", "-e", "auto", "--multicast", option,
                      self.path("guids"), "--json").json
            self.assertEqual(made["engine"], "weave")
            self.assertIs(made["multicast"]["routed_again"], True)


if __name__ == "__main__":
    unittest.main()
