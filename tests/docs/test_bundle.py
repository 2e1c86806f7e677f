"""The page that is shipped (web/dist) was made from the sources beside it: nobody forgot `make web`.

Digests only, without Node.js: web/dist/page.sources has those of the sources and of what was made from
them. That these sources give these bytes is for `make check-web`.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SOURCE  # noqa: E402

WEB = os.path.join(SOURCE, "web")
MADE = {"dist/page.html", "dist/page.licenses.txt"}
AGAIN = "run 'make web' and commit web/dist"


def sources(web):
    """What the page is made from, as web/build.mjs has it."""
    own = [path for path in glob.glob(os.path.join(web, "src", "*")) if path.endswith((".js", ".css", ".html"))]
    return {"build.mjs", "package.json", "package-lock.json"} | {"src/" + os.path.basename(path) for path in own}


def complaints(web):
    """How a folder web/ differs from what its dist/page.sources says."""
    with open(os.path.join(web, "dist", "page.sources")) as file:
        noted = dict(reversed(line.split("  ")) for line in file.read().splitlines())
    there = sources(web) | MADE
    found = ["%s is new: %s" % (name, AGAIN) for name in sorted(there - set(noted))]
    found += ["%s is gone: %s" % (name, AGAIN) for name in sorted(set(noted) - there)]
    for name in sorted(there & set(noted)):
        with open(os.path.join(web, name), "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != noted[name]:
                found.append("%s has changed: %s" % (name, AGAIN))
    return found


class Bundle(unittest.TestCase):
    def test_made_from_these_sources(self):
        self.assertEqual(complaints(WEB), [])

    def test_what_is_forgotten_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            web = os.path.join(directory, "web")
            shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules"))
            for name in sorted(sources(web) | MADE):
                path = os.path.join(web, name)
                with open(path, "rb") as file:
                    before = file.read()
                with open(path, "ab") as file:
                    file.write(b"\n")
                self.assertEqual(complaints(web), ["%s has changed: %s" % (name, AGAIN)])
                with open(path, "wb") as file:
                    file.write(before)
            os.rename(os.path.join(web, "src", "map.js"), os.path.join(web, "src", "maps.js"))
            self.assertEqual(complaints(web), ["src/maps.js is new: " + AGAIN, "src/map.js is gone: " + AGAIN])

    def test_licences_are_those_of_the_packages(self):
        """Of every package that the page needs, in the version of the lock file: the text, not only the name."""
        with open(os.path.join(WEB, "package-lock.json")) as file:
            packages = json.load(file)["packages"]
        with open(os.path.join(WEB, "dist", "page.licenses.txt")) as file:
            parts = file.read().split("\n\n" + "=" * 80 + "\n\n")[1:]
        titles = [part.split("\n")[0] for part in parts]
        expected = ["%s %s (%s)" % (name[len("node_modules/"):], about["version"], about["license"])
                    for name, about in packages.items()
                    if name and (not about.get("dev") or name == "node_modules/esbuild")]
        self.assertEqual(titles, sorted(expected))
        for part in parts:
            self.assertRegex(part, r"(?i)copyright")
            self.assertRegex(part, r"(?i)warrant")
        self.assertIn("Mike Bostock", parts[0])  # of d3, inside ECharts
        with open(os.path.join(WEB, "dist", "page.html")) as file:
            page = file.read()
        for title in titles:
            self.assertIn("\n" + title + "\n", page)

    def test_names_nobodys_machine(self):
        """The lock file has no addresses, and what is made no paths of where it was made."""
        with open(os.path.join(WEB, "package-lock.json")) as file:
            self.assertNotIn('"resolved"', file.read())
        for name in sorted(os.listdir(os.path.join(WEB, "dist"))):
            with open(os.path.join(WEB, "dist", name)) as file:
                self.assertIsNone(re.search(r"node_modules|(?<![\w.:])/(?:tmp|home|root|work|usr)/\w", file.read()), name)


if __name__ == "__main__":
    unittest.main()
