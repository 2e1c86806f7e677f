"""Latency maps in a real browser: the picture of selvage sim --latency-map, drawn without complaints, on white, nothing
beyond the paper, what is high in another colour than what is not; and surfaces and pictures on a report's page.
Screenshots are kept in the build directory."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import fill  # noqa: E402
from support.command import ok, selvage  # noqa: E402

SHOTS = os.path.join(os.environ.get("SELVAGE_BUILD", "build"), "screenshots")
REQUIRED = os.environ.get("SELVAGE_REQUIRE_LIVE") == "1"
SPOT = "meshspot:which=2,rate=600Mbps,noise=0.05,on=200us,off=200us,bursts=3"
RUNS = (("mesh", ("mesh:8x8", "-e", "dor", "-p", "drb", "--traffic", SPOT, "--policy", "deterministic", "--policy", "drb",
                  "--policy", "random", "--policy", "cyclic")),
        ("tree", ("kary:k=4,n=3,hosts=4", "-e", "updn", "--traffic", "transpose:load=0.6", "--sample", "100", "--warm-up", "0")),
        ("dragonfly", ("dragonfly:a=4,p=2,h=2,g=9", "-e", "minhop", "--traffic", "uniform:load=0.6", "--sample", "100",
                       "--warm-up", "0")),
        ("idle", ("mesh:2,hosts=1", "-e", "updn", "--traffic", "shift:messages=1")))


class SurfaceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="selvage-surface-")
        cls.browser = browser.Browser()
        os.makedirs(SHOTS, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def draw(self, name, arguments):
        ok("sim", *arguments, "--interval", "10", "--latency-map", self.path(name + ".svg"))
        return self.path(name + ".svg")

    def test_drawn_on_the_paper(self):
        for name, arguments in RUNS:
            with self.subTest(name):
                page = self.browser.page(width=1500, height=1300)
                self.addCleanup(page.close)
                page.open(self.draw(name, arguments), ready="document.documentElement?.tagName === 'svg'"
                                                            " && document.readyState === 'complete'")
                self.assertEqual(page.complaints(), [])
                paper = page.run("(r => [r.width, r.height])(document.documentElement.getBoundingClientRect())")
                beyond = page.run(
                    "[...document.querySelectorAll('path, circle, text, polygon, rect')].map(e => [e.outerHTML.slice(0, 90),"
                    " e.getBoundingClientRect()]).filter(([e, r]) => r.left < -1 || r.top < -1 || r.right > %f || r.bottom > "
                    "%f).map(([e, r]) => e)" % (paper[0] + 1, paper[1] + 1))
                self.assertEqual(beyond, [])
                page.screenshot(os.path.join(SHOTS, "surface-%s.png" % name))

    def test_the_spot_is_what_is_high(self):
        page = self.browser.page(width=1500, height=1300)
        self.addCleanup(page.close)
        page.open(self.draw(*RUNS[0]), ready="document.documentElement?.tagName === 'svg'"
                                             " && document.readyState === 'complete'")
        self.assertEqual(page.run("getComputedStyle(document.querySelector('svg > rect')).fill"), "rgb(255, 255, 255)")
        tops = page.run("""[...document.querySelectorAll('.panel')].map(p => [...p.querySelectorAll('.surface circle')]
            .map(c => [c.getBoundingClientRect().top, c.textContent]).sort((a, b) => a[0] - b[0])[0][1])""")
        self.assertEqual(len(tops), 4)
        self.assertTrue(tops[0].startswith("sw6-3: "), tops)
        # of drb nothing is as high: its panel has no patch of the hottest colours
        steps = page.run("""[...document.querySelectorAll('.panel')].map(p => Math.max(...[...p.querySelectorAll(
            '.surface polygon')].map(q => +(q.getAttribute('class').match(/^s(\\d+)$/)?.[1] ?? 0))))""")
        self.assertGreater(steps[0], 8)
        self.assertLess(steps[1], 3)

    def test_on_the_page(self):
        fill.small(self.path("small.db"))
        picture = self.draw(*RUNS[0])
        ok("report", self.path("small.db"), "-o", self.path("page.html"), "--picture", picture)
        page = self.browser.page(width=1300, height=900)
        self.addCleanup(page.close)
        page.open(self.path("page.html"))
        for name in ("latency", "pictures"):
            page.run("document.getElementById('%s').scrollIntoView({behavior: 'instant'})" % name)
            page.settle()
            page.settle()
            page.screenshot(os.path.join(SHOTS, "page-%s.png" % name))
        self.assertEqual(page.complaints(), [])
        # the height of each point is the mean of its row in the table beside it
        page.run("document.querySelector('#figure-surface').scrollIntoView({behavior: 'instant'})")
        page.settle()
        page.screenshot(os.path.join(SHOTS, "page-surface.png"))
        points = page.run("[...document.querySelectorAll('#figure-surface circle, #figure-surface .bar title')].length")
        self.assertGreater(points, 10)
        highest, words = page.run("""(() => {
            const points = [...document.querySelectorAll('#figure-surface svg title')].map(t => t.textContent);
            points.sort((a, b) => parseFloat(b.split(': ')[1]) - parseFloat(a.split(': ')[1]));
            return [points[0], document.querySelector('#figure-surface figcaption').textContent]; })()""")
        self.assertIn("highest at %s" % highest.split(": ")[0], words)
        size = page.run("(i => [i.complete, i.naturalWidth])(document.querySelector('#pictures img'))")
        self.assertEqual(size, [True, 1380])
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 1300)

    def test_what_is_no_picture(self):
        fill.small(self.path("other.db"))
        with open(self.path("no.svg"), "w") as file:
            file.write("<html>")
        result = selvage("report", self.path("other.db"), "-o", self.path("other.html"), "--picture", self.path("no.svg"))
        self.assertEqual(result.code, 3)
        self.assertIn("is no SVG", result.err)
        self.assertFalse(os.path.exists(self.path("other.html")))
        result = selvage("report", self.path("other.db"), "-o", self.path("other.html"), "--picture", self.path("none.svg"))
        self.assertEqual(result.code, 5)
        result = selvage("report", self.path("other.db"), "--text", "--picture", self.path("no.svg"))
        self.assertEqual(result.code, 2)


if __name__ == "__main__":
    if browser.program() is None:
        print("no Chromium: latency maps are not looked at", file=sys.stderr)
        sys.exit(1 if REQUIRED else 77)
    unittest.main()
