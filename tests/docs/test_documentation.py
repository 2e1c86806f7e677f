"""What the documentation shows is what happens.

- Commands in ```console blocks of README.md and docs/*.md are run, in the order of the file, in an
  empty directory; what is shown below them must be what they print ("…" alone on a line stands for
  any lines, inside a line for any text).
- Links between documents lead somewhere.
- The manual page is clean to mandoc's lint.
- No file of the project names a path of somebody's machine.

After a change of what commands print, `SELVAGE=build/selvage test_documentation.py --write` brings the
blocks up to date: lines that no longer fit are replaced, "…" stays. Read what it changed.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, SOURCE  # noqa: E402

DOCUMENTS = sorted([os.path.join(SOURCE, name) for name in ("README.md", "CONTRIBUTING.md")] +
                   glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True))


def examples(text):
    """(command, expected output) of every console block."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def matches(expected, actual):
    """Whether the shown text fits, "…" standing for anything."""
    lines = ["(.*\n)*?" if line.strip() == "…" else
             re.escape(line).replace("…", ".*") + "\n" for line in expected.splitlines()]
    return re.fullmatch("".join(lines), actual) is not None


def merged(expected, actual):
    """The lines of expected that still fit, with those of actual in place of the others."""
    old, new = expected.splitlines(), actual.splitlines()
    same = [[matches(a, b + "\n") for b in new] for a in old]
    best = [[None] * (len(new) + 1) for _ in range(len(old) + 1)]  # (cost, line or None, next i, next j)
    for i in range(len(old), -1, -1):
        for j in range(len(new), -1, -1):
            ways = [(0, None, i, j)] if i == len(old) and j == len(new) else []
            if i < len(old) and old[i].strip() == "…":
                ways.append((best[i + 1][j][0], old[i], i + 1, j))
                if j < len(new):
                    ways.append((best[i][j + 1][0], None, i, j + 1))
            elif i < len(old):
                ways.append((best[i + 1][j][0] + 1, None, i + 1, j))
                if j < len(new):
                    ways.append((best[i + 1][j + 1][0] + (not same[i][j]) * 1.5, old[i] if same[i][j] else new[j], i + 1, j + 1))
            if j < len(new):
                ways.append((best[i][j + 1][0] + 1, new[j], i, j + 1))
            best[i][j] = min(ways, key=lambda way: way[0])
    lines, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        _, line, i, j = best[i][j]
        lines += [] if line is None else [line]
    return "".join(line + "\n" for line in lines)


def outputs(text):
    """(command, expected, actual output) of every console block of a document."""
    with tempfile.TemporaryDirectory() as directory:
        environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=os.path.dirname(os.path.abspath(SELVAGE)) + ":" + os.environ["PATH"])
        for command, expected in examples(text):
            done = subprocess.run(["sh", "-c", command], cwd=directory, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            yield command, expected, done.stdout.decode()


def write():
    for path in DOCUMENTS:
        with open(path) as file:
            text = new = file.read()
        for command, expected, actual in outputs(text):
            if not matches(expected, actual):
                new = new.replace("$ %s\n%s" % (command, expected), "$ %s\n%s" % (command, merged(expected, actual)))
        if new != text:
            with open(path, "w") as file:
                file.write(new)
            print("written anew: " + path)


class Documentation(unittest.TestCase):
    def test_console_blocks(self):
        shown = 0
        for path in DOCUMENTS:
            with open(path) as file:
                text = file.read()
            for command, expected, actual in outputs(text):
                self.assertTrue(matches(expected, actual), "%s: $ %s\n%s" % (os.path.basename(path), command, actual))
                shown += 1
        self.assertGreater(shown, 10)

    def test_links_lead_somewhere(self):
        for path in DOCUMENTS:
            with open(path) as file:
                text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
                if "://" in target:
                    continue
                whole = os.path.join(os.path.dirname(path), target)
                self.assertTrue(os.path.exists(whole), "%s links to %s" % (path, target))

    def test_manual_page(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning",
                               os.path.join(SOURCE, "docs", "selvage.1")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.stdout.decode(), "")

    def test_nobodys_machine_is_named(self):
        files = subprocess.run(["git", "-C", SOURCE, "ls-files"], stdout=subprocess.PIPE, check=True)
        pattern = re.compile(rb"/(work|home|root)/[a-z]|registry\.npmjs|deb\.debian\.org|pypi\.org")
        for name in files.stdout.decode().split("\n"):
            path = os.path.join(SOURCE, name)
            if not os.path.isfile(path) or name.endswith("test_documentation.py"):
                continue
            with open(path, "rb") as file:
                self.assertIsNone(pattern.search(file.read()), name)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
