"""selvage metrics --heat, --links, --job: pictures and tables of what jobs do to channels."""
import collections
import csv
import os
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.command import ok, selvage  # noqa: E402
from support.tables import Base  # noqa: E402
from support.trials import trials  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
# Thesis Fig. 5.2: ten leaf switches with 18 nodes and 18 uplinks each, and three jobs.
ISLAND = "xgft:h=1,m=10,w=6,hosts=18,r=3"
THREE_JOBS = "".join("host%d j%d\n" % (node - 1, job) for job, spans in (
    (1, ((1, 30), (91, 120))), (2, ((31, 60), (151, 180))), (3, ((61, 90), (121, 150))))
    for first, last in spans for node in range(first, last + 1))


def class_of(element):
    return (element.get("class") or "").split(" ")[0]


class Picture:
    """What an SVG says: of each panel the numbers of halves by class, and its bars."""

    def __init__(self, path):
        self.root = ElementTree.parse(path).getroot()
        self.panels = [self.panel(g) for g in self.root.iter(SVG + "g")
                       if class_of(g) == "panel"]

    def panel(self, panel):
        found = {"halves": collections.Counter(), "bars": collections.Counter(), "titles": [],
                 "switches": len(list(panel.iter(SVG + "circle"))),
                 "text": [t.text for t in panel.iter(SVG + "text")]}
        for group in panel.iter(SVG + "g"):
            if re.fullmatch("dark|h[0-9]+", class_of(group)):
                for path in group.iter(SVG + "path"):
                    found["halves"][class_of(group)] += 1
                    found["titles"] += [t.text for t in path.iter(SVG + "title")]
        for rect in panel.iter(SVG + "rect"):
            if "bar" in (rect.get("class") or ""):
                found["bars"][class_of(rect)] += int(rect.find(SVG + "title").text.split()[0])
        return found


def step(load, most):
    """The class of a load, from the header's words."""
    if load == 0:
        return "dark"
    steps = min(16, most)
    return "h%d" % next(k for k in range(1, steps + 1) if load <= k * most // steps)


class Heat(Base):
    def jobs(self, text, name="jobs.txt"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def links(self, *arguments):
        ok("metrics", *arguments, "--links", self.path("links.csv"))
        with open(self.path("links.csv"), newline="") as file:
            return list(csv.DictReader(file))

    def compare(self, tables, *jobs):
        """Picture, rows and JSON of one set of tables tell the same."""
        found = ok("metrics", tables, *jobs, "--json", "--heat", self.path("heat.svg")).json
        rows = self.links(tables, *jobs)
        efi = found["jobs"]["efi"] if jobs else found["efi"]
        column = "effective_routes" if jobs else "routes"
        loads = [int(row[column]) for row in rows]
        self.assertEqual(len(rows), found["channels"])
        self.assertEqual(max(loads), efi["max"])
        self.assertEqual(min(loads), efi["min"])
        self.assertEqual(loads.count(0), efi["unused"])
        self.assertAlmostEqual(sum(loads) / len(loads), efi["avg"], 3)
        panel, = Picture(self.path("heat.svg")).panels
        wanted = collections.Counter(step(load, efi["max"]) for load in loads)
        self.assertEqual(panel["halves"], wanted)
        self.assertEqual(panel["bars"], wanted)
        self.assertEqual(panel["switches"], found["switches"])
        if panel["titles"]:
            self.assertEqual(
                sorted(panel["titles"]),
                sorted("%s port %s → %s port %s: %s" % (r["from"], r["from_port"], r["to"],
                                                        r["to_port"], r[column]) for r in rows))
        dark = 100 * efi["unused"] / found["channels"]
        self.assertTrue(any(t and "dark fibre: %.2f %%" % dark in t for t in panel["text"]))
        return found, panel, rows

    def test_agrees_with_numbers(self):
        text = "".join("host%d j%d\n" % (i, i % 3) for i in range(8)) + "host1 j0\n"
        for spec, engine in (("torus:4x3,hosts=2", "dfsssp"), ("mesh:2,hosts=4", "minhop"),
                             ("kary:k=3,n=2,hosts=3", "ftree"), ("fullmesh:4,hosts=3,r=3", "sssp"),
                             ("dragonfly:a=4,p=2,h=1,g=5", "updn"),
                             ("random:switches=20,links=40,total=60,seed=2", "nue")):
            with self.subTest(spec):
                tables = self.route(spec, "t", "-e", engine, "--no-check")
                self.compare(tables)
                self.compare(tables, "--jobs", self.jobs(text))
                self.compare(tables, "--jobs", self.jobs(text), "--job", "j1")

    def test_from_two_to_two_thousand_switches(self):
        for spec, engine in (("mesh:2,hosts=1", "updn"), ("kary:k=6,n=3,hosts=6", "ftree"),
                             ("torus:10x10x20,hosts=1", "updn"), ("kary:k=12,n=3,hosts=12", "ftree"))[:1 + trials(3)]:
            with self.subTest(spec):
                tables = self.route(spec, "t", "-e", engine, "--no-check")
                found, panel, _ = self.compare(tables)
                size = os.path.getsize(self.path("heat.svg"))
                self.assertLess(size, 3000 + 150 * found["channels"] + 150 * found["switches"])
                root = Picture(self.path("heat.svg")).root
                for side in "width", "height":
                    self.assertLess(int(root.get(side)), 3000)
                    self.assertGreater(int(root.get(side)), 200)

    def test_one_job_only(self):
        tables = self.route("mesh:3,hosts=2", "t")
        jobs = self.jobs("host0 near\nhost2 near\nhost0 far\nhost4 far\n")
        both = self.links(tables, "--jobs", jobs)
        near = self.links(tables, "--jobs", jobs, "--job", "near")
        self.assertEqual(collections.Counter(r["jobs"] for r in both), {"1": 2, "2": 2})
        self.assertEqual(collections.Counter(r["jobs"] for r in near), {"0": 2, "1": 2})
        self.assertEqual([r["routes"] for r in both], [r["routes"] for r in near])
        found = ok("metrics", tables, "--jobs", jobs, "--job", "near", "--json").json["jobs"]
        self.assertEqual([j["job"] for j in found["list"]], ["near"])
        self.assertEqual(found["dark_fibre_percent"], 50)
        self.expect_error(3, "there is no job 'nobody'", "metrics", tables, "--jobs", jobs, "--job",
                          "nobody")
        self.expect_error(2, "--job goes with --jobs", "metrics", tables, "--job", "near")

    def test_links_without_jobs(self):
        rows = self.links(self.route("mesh:3,hosts=2", "t"))
        self.assertEqual({(r["effective_routes"], r["jobs"]) for r in rows}, {("", "")})
        self.assertEqual({r["routes"] for r in rows}, {"8"})
        self.assertRegex(rows[0]["from_guid"], "^0x[0-9a-f]{16}$")

    def test_names_are_not_markup(self):
        tables = self.route("mesh:2,hosts=1", "t")
        self.edit_all(tables, ("sw0", 'a<b&"c'), ("sw1", "tür"))
        ok("metrics", tables, "--heat", self.path("heat.svg"))
        panel, = Picture(self.path("heat.svg")).panels
        self.assertTrue(any('a<b&' in t for t in panel["titles"]), panel["titles"])
        self.assertTrue(any('tür' in t for t in panel["titles"]), panel["titles"])

    def test_two_sets_have_one_scale(self):
        jobs = self.jobs(THREE_JOBS)
        a = self.route(ISLAND, "a", "-e", "dfsssp", "--no-check")
        b = self.route(ISLAND, "b", "-e", "sar", "--jobs", jobs, "--no-check")
        found = ok("metrics", a, b, "--jobs", jobs, "--json", "--heat", self.path("heat.svg")).json
        left, right = Picture(self.path("heat.svg")).panels
        most = found["a"]["jobs"]["efi"]["max"]
        for panel, tables in (left, a), (right, b):
            loads = [int(r["effective_routes"]) for r in self.links(tables, "--jobs", jobs)]
            self.assertEqual(panel["halves"], collections.Counter(step(n, most) for n in loads))
            self.assertEqual(sum(panel["halves"].values()), 360)  # each parallel cable, both ways

    def test_three_jobs_of_the_thesis(self):
        """Fig. 5.2: published over 160 with an oblivious routing, 60 with one that knows the jobs."""
        jobs = self.jobs(THREE_JOBS)
        most = {}
        for engine in "dfsssp", "sar":
            more = ("--jobs", jobs) if engine == "sar" else ()
            tables = self.route(ISLAND, engine, "-e", engine, "--no-check", *more)
            most[engine] = ok("metrics", tables, "--jobs", jobs, "--json").json["jobs"]["efi"]["max"]
        self.assertLessEqual(most["sar"], 60)
        self.assertLessEqual(most["sar"], most["dfsssp"])

    def test_histogram_of_jobs(self):
        tables = self.route("mesh:3,hosts=2", "t")
        jobs = self.jobs("host0 near\nhost2 near\nhost0 far\nhost4 far\n")
        found = ok("metrics", tables, "--jobs", jobs, "--histogram", "3", "--json").json
        self.assertEqual(found["histogram"], {"width": 3, "channels": [0, 0, 4]})
        self.assertEqual(found["jobs"]["histogram"], {"width": 1, "channels": [0, 2, 2]})
        text = ok("metrics", tables, "--jobs", jobs, "--histogram", "3").out
        self.assertRegex(text, r"routes inside jobs +channels\n +0 … +0 +0\n +1 … +1 +2\n"
                               r" +2 … +2 +2\n")
        both = ok("metrics", tables, tables, "--jobs", jobs, "--histogram", "3").out
        self.assertRegex(both, r"near +2 +2 +1 +1 +2 +2\n")
        self.assertRegex(both, r" +1 … +1 +2 +2\n")

    def test_standard_output(self):
        tables = self.route("mesh:3,hosts=2", "t")
        for option, begin in ("--heat", "<?xml"), ("--links", "from,"):
            result = ok("metrics", tables, option, "-")
            self.assertTrue(result.out.startswith(begin))
            self.assertNotIn("channels between switches", result.out)
        self.expect_error(2, "2 things want standard output", "metrics", tables, "--heat", "-",
                          "--links", "-")
        for option in "--heat", "--links":
            self.expect_error(2, "2 things want standard output", "metrics", tables, option, "-", "--json")
        self.expect_error(2, "--links: of one directory only", "metrics", tables, tables, "--links",
                          "x")

    def test_nothing_half_written(self):
        tables = self.route("mesh:3,hosts=2", "t")
        self.expect_error(5, "nowhere", "metrics", tables, "--heat", self.path("nowhere/heat.svg"))
        with open(self.path("heat.svg"), "w") as file:
            file.write("old")
        result = selvage("metrics", tables, "--jobs", self.path("missing"), "--heat",
                         self.path("heat.svg"))
        self.assertEqual(result.code, 5)
        with open(self.path("heat.svg")) as file:
            self.assertEqual(file.read(), "old")

    def test_both_files_or_neither(self):
        tables = self.route("mesh:3,hosts=2", "t")
        kept = sorted(os.listdir(self.path("")))
        for bad in self.path("nowhere/links.csv"), "/dev/full":
            for heat, links in (self.path("new"), bad), (bad, self.path("new")):
                result = selvage("metrics", tables, "--heat", heat, "--links", links)
                self.assertEqual((result.code, result.out), (5, ""))
                self.assertEqual(sorted(os.listdir(self.path(""))), kept)
        ok("metrics", tables, "--heat", self.path("a.svg"), "--links", self.path("b.csv"))
        self.assertEqual(set(os.listdir(self.path(""))) - set(kept), {"a.svg", "b.csv"})

    def test_one_file_under_two_names(self):
        tables = self.route("mesh:3,hosts=2", "t")
        os.mkdir(self.path("d"))
        os.symlink("d", self.path("e"))
        with open(self.path("there"), "w"):
            pass
        os.link(self.path("there"), self.path("d/link"))
        for heat, links in (("x", "x"), ("x", "./x"), ("d/x", "e/x"), ("d/../x", "x"), ("there", "d/link")):
            result = selvage("metrics", tables, "--heat", heat, "--links", links, cwd=self.path(""))
            self.assertEqual(result.code, 2, (heat, links))
            self.assertIn("--heat and --links are the same file", result.err)
        result = selvage("metrics", tables, "--heat", "d/x", "--links", "x", cwd=self.path(""))
        self.assertEqual(result.code, 0, result.err)

    def test_names_of_jobs_are_no_commands(self):
        tables = self.route("mesh:3,hosts=2", "t")
        names = ["\x1b[31mred", "\u00e4\u00f6\u00fc", "\u009b5m", "plain", "x" * 30]
        jobs = self.jobs("".join("host%d \"%s\"\n" % (host, name) for name in names for host in (0, 3)))
        for sets in (tables,), (tables, tables):
            lines = ok("metrics", *sets, "--jobs", jobs).out.split("\n")
            self.assertFalse([line for line in lines if "\x1b" in line or "\x9b" in line])
            rows = [next(line for line in lines if line.startswith(name))
                    for name in ("job ", "?[31mred", "\u00e4\u00f6\u00fc", "?5m", "plain")]
            self.assertEqual(len({len(row) for row in rows}), 1, rows)
        self.assertEqual([job["job"] for job in ok("metrics", tables, "--jobs", jobs, "--json").json["jobs"]["list"]],
                         names)

    def test_terminals_of_both_sets(self):
        small = self.route("mesh:3,hosts=2", "small")
        other = self.route("mesh:3,hosts=3", "other")
        jobs = self.jobs("host0 a\nhost2 a\nhost7 a\n")
        self.assertRegex(ok("metrics", small, other, "--jobs", jobs).out, r"\na +2 +3 +\d")


if __name__ == "__main__":
    unittest.main()
