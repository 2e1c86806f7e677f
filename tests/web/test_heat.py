"""Heat maps in a real browser: drawn without complaints, white under them, nothing beyond the paper,
colours that are seen. Screenshots are kept in the build directory."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
from support.command import ok  # noqa: E402

SHOTS = os.path.join(os.environ.get("SELVAGE_BUILD", "build"), "screenshots")
REQUIRED = os.environ.get("SELVAGE_REQUIRE_LIVE") == "1"
FABRICS = (("tree", "xgft:h=1,m=10,w=6,hosts=18,r=3", "dfsssp"),
           ("torus", "torus:4x4x3,hosts=2", "updn"), ("two", "mesh:2,hosts=4", "updn"),
           ("hyperx", "hyperx:4x4,hosts=1", "sssp"))


class HeatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="selvage-heat-")
        cls.browser = browser.Browser()
        os.makedirs(SHOTS, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.directory)

    def open(self, name, spec, engine, **options):
        tables, path = os.path.join(self.directory, name), os.path.join(self.directory, name + ".svg")
        jobs = os.path.join(self.directory, "jobs.txt")
        with open(jobs, "w") as file:
            file.writelines("host%d job%d\n" % (i, i % 3) for i in range(100))
        ok("route", spec, "-e", engine, "-o", tables, "--no-check")
        ok("metrics", tables, "--jobs", jobs, "--heat", path)
        page = self.browser.page(**options)
        self.addCleanup(page.close)
        page.open(path, ready="document.documentElement?.tagName === 'svg'"
                              " && document.readyState === 'complete'")
        return page

    def test_drawn_on_the_paper(self):
        for name, spec, engine in FABRICS:
            with self.subTest(spec):
                page = self.open(name, spec, engine)
                self.assertEqual(page.complaints(), [])
                paper = page.run("(r => [r.width, r.height])(document.documentElement"
                                 ".getBoundingClientRect())")
                beyond = page.run(
                    "[...document.querySelectorAll('path, circle, text')].map(e => e"
                    ".getBoundingClientRect()).filter(r => r.left < -1 || r.top < -1 || r.right > "
                    "%f || r.bottom > %f).length" % (paper[0] + 1, paper[1] + 1))
                self.assertEqual(beyond, 0)
                page.screenshot(os.path.join(SHOTS, "heat-%s.png" % name))

    def test_colours_and_ground_of_a_dark_viewer(self):
        page = self.open(*FABRICS[0], features=[("prefers-color-scheme", "dark")])
        ground = page.run("getComputedStyle(document.querySelector('svg > rect')).fill")
        self.assertEqual(ground, "rgb(255, 255, 255)")
        # every colour has 1.5 times the contrast of nothing, the hottest that of text
        contrast = page.run("""(() => {
            const light = text => { const [r, g, b] = text.match(/\\d+/g).map(v => { v /= 255;
                return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
              return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            return [...document.querySelectorAll('.cables > g')].map(g =>
              [g.getAttribute('class'), 1.05 / (light(getComputedStyle(g.firstElementChild).stroke)
                                                + 0.05)]); })()""")
        classes = [name for name, _ in contrast]
        self.assertEqual(classes[0], "dark")
        self.assertGreater(len(classes), 1)
        self.assertTrue(all(value > 1.5 for _, value in contrast), contrast)
        self.assertGreater(contrast[-1][1], 4.5)


if __name__ == "__main__":
    if browser.program() is None:
        print("no Chromium: heat maps are not looked at", file=sys.stderr)
        sys.exit(1 if REQUIRED else 77)
    unittest.main()
