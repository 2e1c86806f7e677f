"""What tests of the command on forwarding tables share: a directory of their own, and what an error
looks like."""
import os
import re
import shutil
import tempfile
import unittest

from support.command import ok, selvage

FILES = {"opensm-subnet.lst", "opensm-lfts.dump", "opensm.fdbs", "opensm-sl2vl.dump", "opensm.psl",
         "opensm.mcfdbs", "opensm-qos.conf", "selvage.orders"}


def plain(directory):
    """Takes out of the files of a set what ties them to each other (generations, and for which
    forwarding tables SLs are), so that they may be changed one by one; as in what OpenSM dumps."""
    for name in FILES:
        path = os.path.join(directory, name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="latin-1") as file:
            head, _, rest = file.read().partition("\n")
        head = re.sub(r" ?# selvage generation [0-9a-f]{16}$", "", head)
        rest = re.sub(r"\A# selvage forwarding [0-9a-f]{16}\n", "", rest)
        with open(path, "w", encoding="latin-1") as file:
            file.write((head + "\n" if head else "") + rest)
    return directory


class Base(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="selvage-tables-")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def route(self, spec="torus:3x3,hosts=1", name="tables", *options):
        """Tables of updn, which uses one VL, unless options say something else."""
        engine = () if "-e" in options or "--engine" in options else ("-e", "updn")
        ok("route", spec, "-o", self.path(name), *engine, *options)
        return plain(self.path(name))

    def edit(self, path, pattern, replacement, count=1):
        with open(path) as file:
            text = file.read()
        changed = re.sub(pattern, replacement, text, count=count, flags=re.M)
        self.assertNotEqual(text, changed)
        with open(path, "w") as file:
            file.write(changed)

    def edit_all(self, tables, *changes):
        """Changes of text in all files of a directory."""
        for name in FILES:
            path = os.path.join(tables, name)
            with open(path) as file:
                text = file.read()
            for old, new in changes:
                text = text.replace(old, new)
            with open(path, "w") as file:
                file.write(text)

    def expect_error(self, code, text, *arguments):
        result = selvage(*arguments)
        self.assertEqual(result.code, code, result.err + result.out)
        self.assertIn(text, result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertEqual(result.out, "")
