#!/usr/bin/env python3
"""Measures how the code hangs together, from the object files of a build (docs/developers/design.md
has the figures): files, cycles among files, private functions with a single caller that stands in
another file, private symbols of the library that the command uses, private type tags that are
defined twice, and repeated blocks of six lines or more.

    tools/structure.py BUILD [--list] [--check]

--list names what is counted. --check fails if there are file cycles, duplicated tags, or private
symbols that the command uses.
"""
import collections
import glob
import os
import re
import subprocess
import sys

ROOMS = ("src/", "apps/", "plugin/")


def objects(build):
    """Source path -> object file, for the normal build of everything."""
    found = {}
    for path in glob.glob(os.path.join(build, "**", "*.c.o"), recursive=True):
        source = re.sub(r"^.*?\.dir/", "", os.path.relpath(path, build))[:-2]
        if source.startswith(ROOMS) and "fuzz" not in path and os.path.exists(source):
            found.setdefault(source, path)
    return found


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(path):
    """Names that a file defines for others, and names it takes from others."""
    defined, taken = set(), set()
    for line in run("nm", path).splitlines():
        kind, name = line.split()[-2:]
        if kind in "TDRBVW":
            defined.add(name)
        elif kind == "U":
            taken.add(name)
    return defined, taken


def components(graph):
    """Strongly connected components of more than one file (Tarjan, without recursion)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            at, rest = work[-1]
            for to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(graph[to]))))
                    break
                if to in on:
                    low[at] = min(low[at], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    part = []
                    while not part or part[-1] != at:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def callers(paths):
    """Symbol -> set of (file, function) that refer to it; data counts as a function of its own."""
    found = collections.defaultdict(set)
    for source, path in paths.items():
        at = "?"
        for line in run("objdump", "-dr", "--no-show-raw-insn", path).splitlines():
            head = re.match(r"^[0-9a-f]+ <([^>]+)>:$", line)
            if head:
                at = re.sub(r"\.(part|constprop|isra|cold)\.?\d*", "", head[1])
                continue
            name = re.search(r"R_X86_64_\w+\s+([A-Za-z_]\w*)", line)
            if name:
                found[name[1]].add((source, at))
        for line in run("objdump", "-r", "-j", ".data.rel.ro", "-j", ".data.rel.ro.local", "-j",
                        ".data", path).splitlines():
            name = re.search(r"R_X86_64_64\s+([A-Za-z_]\w*)", line)
            if name:
                found[name[1]].add((source, "(data)"))
    return found


def repeated(sources):
    """Blocks of six or more lines of code that stand in two places, counted without overlaps."""
    places = collections.defaultdict(list)
    for path in sources:
        with open(path) as file:
            lines = [re.sub(r"\s+", " ", line).strip() for line in file]
        code = [(i, line) for i, line in enumerate(lines, 1)
                if line and line not in "{}" and not line.startswith(("/*", "*", "#", "//", "extern"))]
        for k in range(len(code) - 5):
            places["\n".join(line for _, line in code[k:k + 6])].append((path, code[k][0]))
    blocks, last = [], {}
    for text, where in places.items():
        if len(where) > 1:
            key = tuple(path for path, _ in where)
            if key in last and all(0 <= b - a <= 8 for (_, a), (_, b) in zip(last[key], where)):
                last[key] = where
                continue
            last[key] = where
            blocks.append(where)
    return blocks


def tags(sources):
    found = collections.defaultdict(list)
    for path in sources:
        with open(path) as file:
            for tag in re.findall(r"^(?:typedef )?(?:struct|union|enum) (sv_\w+)\s*\{", file.read(),
                                  re.M):
                found[tag].append(path)
    return {tag: paths for tag, paths in found.items() if len(paths) > 1}


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    listing, checking = "--list" in sys.argv, "--check" in sys.argv
    if len(arguments) != 1:
        print(__doc__.strip().split("\n\n")[1], file=sys.stderr)
        return 2
    paths = objects(arguments[0])
    sources = sorted(glob.glob("src/**/*.[ch]", recursive=True) +
                     glob.glob("apps/**/*.[ch]", recursive=True) +
                     glob.glob("plugin/**/*.[ch]", recursive=True))
    takes, owner = {}, {}
    for source, path in paths.items():
        defined, takes[source] = symbols(path)
        for name in defined:
            owner.setdefault(name, source)
    graph = {source: {owner[name] for name in taken if owner.get(name, source) != source}
             for source, taken in takes.items()}
    cycles = components(graph)
    who = callers(paths)
    single = sorted((name, sorted(places)[0]) for name, places in who.items()
                    if len(places) == 1 and name.startswith("sv__") and name in owner and
                    owner[name] != sorted(places)[0][0])
    public = set()
    for path in glob.glob("include/**/*.h", recursive=True):
        with open(path) as file:
            public |= set(re.findall(r"\b(sv_[a-z0-9]\w*)\s*\(", file.read()))
    hidden = sorted({name for source, taken in takes.items() if source.startswith("apps/")
                     for name in taken
                     if owner.get(name, "").startswith("src/") and name not in public})
    twice = tags(sources)
    blocks = repeated(sources)
    rows = [("files", len(sources), ()),
            ("lines", sum(len(open(p).readlines()) for p in sources), ()),
            ("file cycles", len(cycles), [" ".join(c) for c in cycles]),
            ("files in cycles", sum(map(len, cycles)), ()),
            ("private functions with one caller, in another file", len(single),
             ["%s (%s) by %s in %s" % (n, owner[n], f, s) for n, (s, f) in single]),
            ("private symbols of the library that apps use", len(hidden), hidden),
            ("private tags defined twice", len(twice), ["%s: %s" % (t, " ".join(p))
                                                         for t, p in sorted(twice.items())]),
            ("repeated blocks of six lines", len(blocks),
             [" = ".join("%s:%d" % w for w in where) for where in blocks])]
    for what, count, names in rows:
        print("%7d  %s" % (count, what))
        for name in names if listing else ():
            print("           " + name)
    return 1 if checking and (cycles or hidden or twice) else 0


if __name__ == "__main__":
    sys.exit(main())
