#!/usr/bin/env python3
"""The page of selvage report in a real browser (headless Chromium): it opens from disk without
errors and without any network, shows what the database holds, offers it as CSV, and can be read on
a phone, in print, dark and light, and by keyboard. Screenshots are kept in the build directory.
"""
import csv
import glob
import io
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import browser  # noqa: E402
import fill  # noqa: E402
from support.command import ok  # noqa: E402

BUILD = os.environ.get("SELVAGE_BUILD", "build")
SHOTS = os.path.join(BUILD, "screenshots")
REQUIRED = os.environ.get("SELVAGE_REQUIRE_LIVE") == "1"

# How many of a canvas' pixels differ from its first one.
INK = """(canvas => {
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let i = 4; i < data.length; i += 4)
        if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) count++;
    return count;
})"""


def number(text):
    return float(text.replace(",", "").replace("%", "").strip())


def show(page, section):
    """Scrolls a section into sight and waits until it is drawn."""
    page.run("document.getElementById('%s').scrollIntoView({behavior: 'instant'})" % section)
    page.settle()
    page.settle()


def choose(page, section, field, words):
    """Chooses an option of a field by its words, as a person would."""
    page.run("""(() => {
        const label = [...document.querySelectorAll('#%s label')].find(l => l.firstChild.textContent === %r);
        const select = label.querySelector('select');
        const at = [...select.options].findIndex(o => o.textContent === %r);
        if (at < 0) throw new Error('no such option: ' + [...select.options].map(o => o.textContent));
        select.selectedIndex = at;
        select.dispatchEvent(new Event('change'));
    })()""" % (section, field, words))
    page.settle()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="selvage-page-")
        cls.browser = browser.Browser()
        os.makedirs(SHOTS, exist_ok=True)
        cls.pages = {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        shutil.rmtree(cls.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def report(self, kind):
        """The page of a kind of database, and the database."""
        if kind not in self.pages:
            getattr(fill, kind)(self.path(kind + ".db"))
            begin = time.monotonic()
            ok("report", self.path(kind + ".db"), "-o", self.path(kind + ".html"))
            self.pages[kind] = time.monotonic() - begin
        return self.path(kind + ".html"), sqlite3.connect(self.path(kind + ".db"))

    def open(self, kind="small", **options):
        path, database = self.report(kind)
        page = self.browser.page(**options)
        self.addCleanup(page.close)
        self.addCleanup(database.close)
        page.open(path)
        page.settle()
        return page, database

    def saved(self, page, click):
        """The rows of the CSV file that a click saves."""
        folder = tempfile.mkdtemp(dir=self.directory)
        page.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        page.run(click)
        end = time.monotonic() + 20
        size = 0  # of the file; the browser makes it empty first
        while size == 0 or size != self.size_of(folder):
            self.assertLess(time.monotonic(), end, "nothing was saved by " + click)
            size = self.size_of(folder)
            time.sleep(0.05)
        with open(glob.glob(os.path.join(folder, "*.csv"))[0], newline="") as file:
            return list(csv.reader(file))

    @staticmethod
    def size_of(folder):
        """Bytes of the CSV file in a folder; 0: there is none, or it is being written."""
        if glob.glob(os.path.join(folder, "*.crdownload")):
            return 0
        return sum(os.path.getsize(name) for name in glob.glob(os.path.join(folder, "*.csv")))

    def figure_csv(self, page, name):
        return self.saved(page, "[...document.querySelectorAll('#figure-%s .tools button')]"
                                ".find(b => b.textContent === 'CSV').click()" % name)

    def assert_clean(self, page):
        # This one is about the test, which reads pixels.
        self.assertEqual([c for c in page.complaints() if "getImageData" not in c], [])
        self.assertEqual([u for u in page.requests() if not u.startswith("file://")], [])
        self.assertEqual(len(page.requests()), 1)

    # ---- it works at all ----

    def test_sections_and_charts_are_there(self):
        page, _ = self.open()
        sections = page.run("[...document.querySelectorAll('section')].map(s => s.id)")
        self.assertEqual(sections, ["summary", "degradation", "lifetime", "bandwidth", "usability",
                                    "vls", "balance", "lost", "runtime", "fabric", "latency",
                                    "data"])
        for name in sections:
            show(page, name)
            for place, ink in enumerate(page.run(
                    "[...document.querySelectorAll('#%s .chart canvas, #%s .map canvas')].map(%s)" %
                    (name, name, INK))):
                self.assertGreater(ink, 2000, "%s: canvas %d is blank" % (name, place))
            page.screenshot(os.path.join(SHOTS, "light-%s.png" % name))
        charts = page.run("[...document.querySelectorAll('.chart')]"
                                  ".filter(c => c.querySelector('canvas')).length")
        self.assertEqual(charts, page.run("document.querySelectorAll('.chart').length"))
        self.assertEqual(charts, 8)
        self.assertIn("ebb", page.run("document.getElementById('missing').textContent"))
        self.assert_clean(page)

    def test_nothing_studied_yet(self):
        page, _ = self.open("empty")
        self.assertEqual(page.run("[...document.querySelectorAll('section')].map(s => s.id)"),
                         ["summary", "data"])
        self.assertIn("5 cells of 5 are not done",
                      page.run("document.querySelector('header').textContent"))
        self.assertGreater(page.run("document.querySelectorAll('#missing li').length"), 8)
        self.assert_clean(page)

    def test_names_are_not_markup(self):
        page, _ = self.open("odd")
        for name in page.run("[...document.querySelectorAll('section')].map(s => s.id)"):
            show(page, name)
        self.assertIsNone(page.run("window.hurt ?? null"))
        self.assertIn(fill.ODD, page.run("document.title"))
        self.assertEqual(page.run("document.querySelectorAll('script').length"), 2)
        self.assertIn(fill.ODD, page.run("document.getElementById('fabric').textContent"))
        rows = self.figure_csv(page, "fabric")
        self.assertIn(fill.ODD, [r[0] for r in rows])
        self.assert_clean(page)

    # ---- it says what the database says ----

    def test_no_formulas_in_csv(self):
        """As sv_csv_field of src/base: an apostrophe in front of what a spreadsheet would run, but for numbers."""
        page, _ = self.open("odd")
        rows = self.saved(page, "document.getElementById('all-cells').click()")
        words = [row[rows[0].index("words")] for row in rows[1:]]
        self.assertEqual(words[2:2 + len(fill.FORMULAS)], ["'=1+1", "'+x", "'-y,z", "'@s", "''q", "-7.5", "-"])

    def test_all_cells_as_csv(self):
        page, database = self.open()
        rows = self.saved(page, "document.getElementById('all-cells').click()")
        head, rows = rows[0], rows[1:]
        self.assertEqual(len(rows), 764)
        for column in ("throughput", "bw_median", "efi_max", "vls_needed", "fault_amount"):
            table = "cell" if column == "fault_amount" else "result"
            wanted = [r[0] for r in database.execute(
                "SELECT %s FROM cell JOIN result ON result.cell = cell.id ORDER BY cell.id" %
                (table + "." + column))]
            got = [r[head.index(column)] for r in rows]
            self.assertEqual([None if g == "" else float(g) for g in got], wanted, column)
        for column in ("cell.engine", "cell.fabric", "result.status", "result.words"):
            self.assertEqual([r[head.index(column.split(".")[1])] for r in rows], [r[0] for r in database.execute(
                "SELECT %s FROM cell JOIN result ON result.cell = cell.id ORDER BY cell.id" % column)])

    def test_degradation_is_the_database(self):
        page, database = self.open()
        show(page, "degradation")
        rows = self.figure_csv(page, "degradation")
        head = rows[0]
        for row in rows[1:]:
            cell = dict(zip(head, row))
            values = [r[0] for r in database.execute(
                "SELECT throughput FROM cell JOIN result ON result.cell = cell.id WHERE fabric = ?"
                " AND faults = ? AND engine = ? AND throughput IS NOT NULL AND traffic = 'exchange'",
                (cell["fabric"], cell["faults"], cell["engine"]))]
            self.assertEqual(int(cell["measured"]), len(values))
            if values:
                self.assertAlmostEqual(float(cell["throughput (GB/s)"]), sum(values) / len(values),
                                       places=6)
        self.assertEqual(len(rows) - 1, 35)

    def test_page_and_terminal_say_the_same(self):
        page, _ = self.open()
        told = ok("report", self.path("small.db"), "--json").json
        tables = told if isinstance(told, list) else told["tables"]
        seen = 0
        for table in tables:
            if not page.run("!!document.querySelector('#figure-%s')" % table["name"]):
                continue
            show(page, page.run("document.querySelector('#figure-%s').closest('section').id" %
                                table["name"]))
            rows = self.figure_csv(page, table["name"])[1:]
            if table["name"] == "degradation":  # the chart's: of one scene
                continue
            self.assertEqual(len(rows), len(table["rows"]), table["name"])
            for got, wanted in zip(rows, table["rows"]):
                for a, b in zip(got, wanted):
                    if isinstance(b, str) or b is None:
                        self.assertEqual(a, b or "")
                    else:
                        self.assertAlmostEqual(float(a), b, delta=1e-9 + 1e-8 * abs(b))
            seen += 1
        self.assertGreaterEqual(seen, 10)

    def test_tables_show_what_the_terminal_shows(self):
        page, _ = self.open()
        told = ok("report", self.path("small.db"), "--text").out
        for name in ("summary", "usability", "usability-faults", "usability-words", "balance"):
            seen = page.run(
                "[...document.querySelectorAll('#figure-%s tr')].map(r => [...r.cells].map(c => "
                "c.textContent === '–' ? '-' : c.textContent))" % name)
            title = page.run("document.querySelector('#figure-%s figcaption').textContent" % name)
            text = told[told.index(title + "\n"):]
            text = text[text.index("\n\n") + 2:]
            lines = text[:text.index("\n\n")].split("\n")[:len(seen)]
            self.assertGreater(len(seen), 3)
            for wanted, got in zip(lines, seen):
                self.assertEqual(re.split(r"\s{2,}", wanted.strip()), got)

    def test_shown_numbers_are_the_database(self):
        page, database = self.open()
        facts = dict(page.run("[...document.querySelectorAll('.facts li')].map(l => "
                              "[l.querySelector('span').textContent, l.querySelector('b').textContent])"))
        count = database.execute("SELECT count(*) FROM result").fetchone()[0]
        fine = database.execute("SELECT count(*) FROM result WHERE status = 'ok'").fetchone()[0]
        self.assertEqual(number(facts["cells done"]), count)
        self.assertAlmostEqual(number(facts["of them without fault"]), 100 * fine / count, delta=.06)
        best = page.run("document.querySelector('.answer .head').textContent")
        self.assertTrue(best.startswith("Use weave: "), best)
        value = database.execute(
            "SELECT throughput FROM cell JOIN result ON result.cell = cell.id WHERE engine = 'weave'"
            " AND fabric = 'torus:4x4x3,hosts=4' AND faults = 'none'").fetchone()[0]
        self.assertIn("%.5g GB/s without failures" % value, best)

    def test_boxes_and_lost_are_the_database(self):
        page, database = self.open()
        show(page, "bandwidth")
        choose(page, "bandwidth", "Failures", "links 5%")
        rows = self.figure_csv(page, "bandwidth")
        wanted = list(database.execute(
            "SELECT engine, bw_min, bw_q1, bw_median, bw_q3, bw_max FROM cell JOIN result ON"
            " result.cell = cell.id WHERE fabric = 'torus:4x4x3,hosts=4' AND faults = 'links 5%'"
            " AND seed = 1 AND bw_median IS NOT NULL"))
        at = rows[0].index("engine")
        got = {r[at]: [float(v) for v in r[at + 1:at + 6]] for r in rows[1:]}
        for engine, *five in wanted:
            self.assertEqual(got[engine], five)
        rows = self.figure_csv(page, "lost-routes")
        wanted = list(database.execute("SELECT failures, median, max FROM lost ORDER BY failures"))
        self.assertEqual([(float(r[3]), float(r[9]), float(r[11])) for r in rows[1:]], wanted)

    # ---- the drawing ----

    def test_map_is_the_database(self):
        page, database = self.open()
        show(page, "fabric")
        self.assertIn("weave", page.run("document.querySelector('#figure-fabric figcaption')"
                                        ".textContent"))  # the one that is recommended
        choose(page, "fabric", "Failures", "links 10%")
        choose(page, "fabric", "Engine", "nue (seed 1)")
        rows = self.figure_csv(page, "fabric")[1:]
        cables, = database.execute(
            "SELECT cables FROM loads JOIN cell ON cell.id = loads.cell WHERE engine = 'nue' AND"
            " fabric = 'torus:4x4x3,hosts=4' AND faults = 'links 10%'").fetchone()
        wanted = [int.from_bytes(cables[i:i + 2], "little") for i in range(0, len(cables), 2)]
        self.assertEqual(len(rows), 144)
        for row, there, back in zip(rows, wanted[::2], wanted[1::2]):
            self.assertEqual(row[6], "failed" if there == 65535 else "alive")
            if there != 65535:
                self.assertAlmostEqual(float(row[4]), there / 655.34, places=3)
                self.assertAlmostEqual(float(row[5]), back / 655.34, places=3)
        self.assertEqual(sum(r[6] == "failed" for r in rows), 14)
        self.assertIn("14 cables and 0 switches are out of order",
                      page.run("document.getElementById('map-facts').textContent"))
        page.screenshot(os.path.join(SHOTS, "light-fabric-broken.png"))

    def test_map_hover_find_zoom_and_pan(self):
        page, _ = self.open()
        show(page, "fabric")
        page.run("document.querySelector('#fabric input').focus()")
        for letter in "sw2-1-1":
            page.key(letter)
        self.assertEqual(page.run("[...document.querySelectorAll('#fabric .list button')]"
                                  ".map(b => b.firstChild.textContent)"), ["sw2-1-1"])
        page.key("Enter")
        page.settle()
        self.assertIn("sw2-1-1", page.run("document.querySelector('#fabric .tip').textContent"))
        self.assertIn("4 terminals", page.run("document.getElementById('said').textContent"))
        # The found switch is in the middle now; moving over it shows it, and dragging moves it.
        box = page.run("(() => { const b = document.querySelector('.map canvas').getBoundingClientRect();"
                       " return [b.left + b.width / 2, b.top + b.height / 2] })()")
        page.mouse("mouseMoved", box[0] + 150, box[1] + 77)
        page.mouse("mouseMoved", *box)
        page.settle()
        self.assertIn("sw2-1-1", page.run("document.querySelector('#fabric .tip').textContent"))
        before = page.run(INK + "(document.querySelector('.map canvas'))")
        page.screenshot(os.path.join(SHOTS, "light-fabric-found.png"))
        page.mouse("mousePressed", *box, button="left", clickCount=1)
        page.mouse("mouseMoved", box[0] + 120, box[1], buttons=1)
        page.mouse("mouseReleased", box[0] + 120, box[1], button="left", clickCount=1)
        page.mouse("mouseMoved", box[0] + 120, box[1])
        page.settle()
        self.assertIn("sw2-1-1", page.run("document.querySelector('#fabric .tip').textContent"))
        page.run("document.querySelector('.map canvas').focus()")
        page.key("0")
        page.settle()
        self.assertNotEqual(before, page.run(INK + "(document.querySelector('.map canvas'))"))

    def test_colours_follow_loads(self):
        """On the drawing of a mesh in one colour each: idle cables and full ones differ."""
        path = self.path("two.db")
        filler = fill.Filler(path)
        body = fill.body_of("mesh:2x2,hosts=1")
        filler.fabric("mesh", body)
        plan = filler.plan("run", "mesh", 2)
        for engine, value in (("nue", 0), ("weave", 65534)):
            filler.add(plan, "mesh", body, engine, "link", 0, 0)
            filler.insert("loads", dict(cell=filler.cell, nodes=b"\1" * 4,
                                        cables=value.to_bytes(2, "little") * 2 * len(body["cables"])))
        filler.finish()
        ok("report", path, "-o", self.path("two.html"))
        page = self.browser.page()
        self.addCleanup(page.close)
        page.open(self.path("two.html"))
        show(page, "fabric")
        colours = []
        for engine in ("nue", "weave"):
            choose(page, "fabric", "Engine", engine)
            colours.append(page.run("""(canvas => {
                const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                const counts = {};
                for (let i = 0; i < data.length; i += 4) {
                    const c = data.slice(i, i + 3).join(' ');
                    counts[c] = (counts[c] ?? 0) + 1;
                }
                return Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(1, 2)[0][0];
            })(document.querySelector('.map canvas'))"""))
        self.assertNotEqual(*colours)
        light = [sum(map(int, c.split())) for c in colours]
        self.assertGreater(light[0], light[1] + 150)  # on light paper more is darker

    def test_latency_map_is_the_database(self):
        page, database = self.open()
        show(page, "latency")
        choose(page, "latency", "Engine", "nue")
        rows = self.figure_csv(page, "latency")[1:]
        body, = database.execute(
            "SELECT body FROM timeline JOIN cell ON cell.id = timeline.cell WHERE engine = 'nue' AND"
            " fabric = 'torus:4x4x3,hosts=4' AND faults = 'none'").fetchone()
        self.assertEqual(len(rows), 48 * 48)
        names = ["sw%d-%d-%d" % (x, y, z) for x in range(4) for y in range(4) for z in range(3)]
        for name, begin, _, waited in rows[::53]:
            at = 2 * (48 * round(float(begin) / 2.5) + names.index(name))
            self.assertAlmostEqual(float(waited), int.from_bytes(body[at:at + 2], "little") / 65535
                                   * 14.25, places=9)

    # ---- everywhere ----

    def test_phone(self):
        page, _ = self.open(width=360, height=740, mobile=True)
        for name in page.run("[...document.querySelectorAll('section')].map(s => s.id)"):
            show(page, name)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360)
        self.assertEqual(page.run(
            "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, .unseen, .skip') &&"
            " e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80))"), [])
        for name in ("summary", "degradation", "fabric", "latency"):
            show(page, name)
            page.screenshot(os.path.join(SHOTS, "phone-%s.png" % name))
        self.assert_clean(page)

    def test_dark_and_light(self):
        paper = "getComputedStyle(document.body).backgroundColor"
        page, _ = self.open(features=[("prefers-color-scheme", "dark")])
        self.assertEqual(page.run(paper), "rgb(16, 22, 28)")
        show(page, "degradation")
        page.screenshot(os.path.join(SHOTS, "dark-degradation.png"))
        show(page, "fabric")
        page.screenshot(os.path.join(SHOTS, "dark-fabric.png"))
        first = "[...document.querySelector('.map canvas').getContext('2d').getImageData(2, 2, 1, 1).data]"
        self.assertEqual(page.run(first), [16, 22, 28, 255])
        page.run("(s => { s.selectedIndex = 1; s.dispatchEvent(new Event('change')) })"
                 "(document.querySelector('header select'))")
        page.settle()
        self.assertEqual(page.run(paper), "rgb(255, 255, 255)")
        self.assertEqual(page.run(first), [255, 255, 255, 255])
        self.assert_clean(page)

    def test_contrast_is_enough(self):
        """Text against what is behind it: at least 4.5 to 1 (WCAG 2.1, AA)."""
        script = """(() => {
            const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
            const read = text => text.match(/[\\d.]+/g).map(Number);
            const bad = new Set();
            for (const e of document.querySelectorAll('main *, header *, footer *, nav *')) {
                if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
                if (e.closest('.unseen') || e.offsetParent === null || e.tagName === 'OPTION') continue;
                let behind = e;
                while (behind && read(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
                const a = light(read(getComputedStyle(e).color)), b = light(read(getComputedStyle(behind ?? document.body).backgroundColor));
                const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (contrast < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + contrast.toFixed(2));
            }
            return [...bad];
        })()"""
        for scheme in ("light", "dark"):
            page, _ = self.open(features=[("prefers-color-scheme", scheme)])
            self.assertEqual(page.run(script), [], scheme)

    def test_print(self):
        page, _ = self.open(features=[("prefers-color-scheme", "dark")])
        page.pdf(os.path.join(SHOTS, "print.pdf"))
        with open(os.path.join(SHOTS, "print.pdf"), "rb") as file:
            data = file.read()
        self.assertTrue(data.startswith(b"%PDF"))
        self.assertGreater(len(data), 100000)  # with its charts, though none had been in sight
        page.media("print")
        page.settle()
        self.assertEqual(page.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(page.run("getComputedStyle(document.querySelector('nav')).display"), "none")
        self.assertEqual(page.run("[...document.querySelectorAll('.chart')]"
                                  ".filter(c => c.querySelector('canvas')).length"),
                         page.run("document.querySelectorAll('.chart').length"))
        self.assert_clean(page)

    def test_keyboard_reaches_everything(self):
        page, _ = self.open()
        wanted = page.run("""(() => {
            const list = [...document.querySelectorAll('a[href], button, select, input, [tabindex="0"]')]
                .filter(e => e.tabIndex >= 0 && e.offsetParent !== null);
            list.forEach((e, i) => e.dataset.stop = i);
            return list.length;
        })()""")
        self.assertGreater(wanted, 50)
        reached = []
        for _ in range(wanted + 5):
            page.key("Tab")
            stop = page.run("document.activeElement.dataset.stop ?? null")
            if stop is None:
                break
            reached.append(int(stop))
        self.assertEqual(reached[:wanted], list(range(wanted)))
        self.assertEqual(page.run(
            "[...document.querySelectorAll('button, select, input, canvas[tabindex], .scroll, .chart')]"
            ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() && e.tagName === 'BUTTON'"
            " || e.closest('label'))).map(e => e.outerHTML.slice(0, 100))"), [])

    def test_table_instead_of_chart(self):
        page, _ = self.open()
        show(page, "degradation")
        page.run("document.querySelector('#figure-degradation .tools button').focus()")
        page.key("Enter")
        page.settle()
        self.assertEqual(page.run("document.querySelectorAll('#figure-degradation tbody tr').length"), 35)
        self.assertTrue(page.run("document.querySelector('#figure-degradation .plot').hidden"))
        page.key("Enter")
        page.settle()
        self.assertFalse(page.run("document.querySelector('#figure-degradation .plot').hidden"))

    def test_switch_list_by_keyboard(self):
        page, _ = self.open()
        show(page, "fabric")
        page.run("document.querySelector('#fabric .list button').focus()")
        first = page.run("document.activeElement.textContent")
        page.key("ArrowDown")
        self.assertNotEqual(first, page.run("document.activeElement.textContent"))
        page.key("Enter")
        page.settle()
        self.assertEqual(page.run("document.activeElement.getAttribute('aria-pressed')"), "true")

    def test_charts_can_be_changed(self):
        page, _ = self.open()
        show(page, "degradation")
        canvas = "(" + INK + ")(document.querySelector('#figure-degradation canvas'))"
        seen = {page.run(canvas)}
        for words in ("regression lines", "confidence bands", "lash"):
            page.run("[...document.querySelectorAll('#degradation label.line')].find(l => l.textContent"
                     " === %r).querySelector('input').click()" % words)
            page.settle()
            self.assertNotIn(page.run(canvas), seen)
            seen.add(page.run(canvas))
        choose(page, "degradation", "Measure", "share of fault-free throughput")
        self.assertNotIn(page.run(canvas), seen)
        self.assert_clean(page)

    # ---- limits ----

    def test_ten_thousand_cells(self):
        path, database = self.report("large")
        self.assertEqual(database.execute("SELECT count(*) FROM result").fetchone()[0], 10000)
        size = os.path.getsize(path)
        slow = "asan" in BUILD  # sanitizers are allowed to take longer
        self.assertLess(self.pages["large"], 60 if slow else 5)
        self.assertLessEqual(size, 10 * 1000 * 1000)
        page, _ = self.open("large")
        show(page, "fabric")
        self.assertGreater(page.run("(%s)(document.querySelector('.map canvas'))" % INK), 20000)
        page.screenshot(os.path.join(SHOTS, "large-fabric.png"))
        # Moving about in 3,000 switches and 24,000 cables.
        took = page.run("""new Promise(done => {
            const canvas = document.querySelector('.map canvas'), begin = performance.now();
            let n = 0;
            const step = () => {
                canvas.dispatchEvent(new KeyboardEvent('keydown', {key: n % 2 ? 'ArrowLeft' : 'ArrowRight'}));
                requestAnimationFrame(() => ++n < 20 ? step() : done((performance.now() - begin) / 20));
            };
            step();
        })""")
        self.assertLess(took, 100)
        self.assert_clean(page)

    def test_a_smaller_page_on_request(self):
        self.report("large")
        ok("report", self.path("large.db"), "-o", self.path("less.html"), "--megabytes", "6")
        self.assertLessEqual(os.path.getsize(self.path("less.html")), 6 * 1000 * 1000)
        page = self.browser.page()
        self.addCleanup(page.close)
        page.open(self.path("less.html"))
        said = page.run("document.getElementById('fabric').textContent")
        self.assertRegex(said, r"\d+ drawings with loads were left out")
        self.assert_clean(page)


def main():
    if browser.program() is None:
        print("no Chromium here (Debian: chromium)", file=sys.stderr)
        sys.exit(1 if REQUIRED else 77)
    unittest.main()


if __name__ == "__main__":
    main()
