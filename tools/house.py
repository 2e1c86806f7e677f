#!/usr/bin/env python3
"""Counts what makes this tree easy or hard to live in, from its sources and object files.

usage: tools/house.py [-v]      in the project's root; builds build/house (no optimization, no tests)

    files, functions          .c files with code, and functions in them (median and 90th percentile of lines)
    one caller elsewhere      functions that one function in one other file of the same folder calls, and nobody else
    file cycles               sets of files of a folder that need each other's symbols, each with its size
    tags with two meanings    private struct, union and enum tags that are defined more than once
    hidden symbols in apps    symbols that the command uses and the shared libraries do not export

-v lists them. docs/dev/house.md has the figures from before and after the large refactoring.
"""
import collections
import glob
import os
import re
import subprocess
import sys

BUILD = "build/house"
DEFINITION = re.compile(r"^(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)\s*\{", re.M)


def build():
    flags = "-O0 -ffunction-sections -fdata-sections -fno-inline"
    quiet = {"stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "-S", ".", "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                    "-DCMAKE_C_FLAGS=" + flags, "-DSELVAGE_TESTS=OFF"], check=True, **quiet)
    subprocess.run(["cmake", "--build", BUILD], check=True, **quiet)


class Object:
    """What an object file defines and refers to."""

    def __init__(self, path, source):
        self.source = source
        self.functions, self.data, self.hidden = {}, set(), set()  # global functions: section
        self.uses = collections.defaultdict(set)  # section: symbols
        self.undefined = set()
        sections = {}
        text = subprocess.run(["readelf", "-SsrW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in text.split("\n"):
            found = re.match(r"\s*\[\s*(\d+)\] (\S+)", line)
            if found:
                sections[found[1]] = found[2]
        self.local = {}  # local functions: section
        current = None
        for line in text.split("\n"):
            found = re.match(r"Relocation section '\.rela(\S+)'", line)
            if found:
                current = found[1]
                continue
            words = line.split()
            if re.match(r"\s*\d+: [0-9a-f]{16}", line) and len(words) >= 8:
                kind, bind, sight, index, name = words[3], words[4], words[5], words[6], words[7]
                if index == "UND":
                    self.undefined.add(name)
                elif bind == "GLOBAL" and kind == "FUNC":
                    self.functions[name] = sections.get(index)
                elif bind == "GLOBAL":
                    self.data.add(name)
                elif kind == "FUNC":
                    self.local[name] = sections.get(index)
                if sight == "HIDDEN" and index != "UND" and bind == "GLOBAL":
                    self.hidden.add(name)
            elif current and re.match(r"[0-9a-f]{16} ", line) and len(words) >= 5:
                self.uses[current].add(words[4].split("+")[0].split("@")[0])
        self.place = {section: name for name, section in list(self.functions.items()) + list(self.local.items())}


def objects():
    found = {}
    for path in glob.glob(BUILD + "/**/*.o", recursive=True):
        source = re.sub(r"^.*?\.dir/", "", path)[:-2]
        here = os.path.dirname(re.sub(BUILD + "/", "", path.split("CMakeFiles")[0]))
        source = source if os.path.exists(source) else os.path.join(here, source)
        if os.path.exists(source) and source not in found:
            found[source] = Object(path, source)
    return found


def cycles(nodes, edges):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, on, found, counter = {}, {}, [], set(), [], [0]
    sys.setrecursionlimit(10000)

    def visit(v):
        index[v] = low[v] = counter[0]
        counter[0] += 1
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while True:
                w = stack.pop()
                on.discard(w)
                part.append(w)
                if w == v:
                    break
            if len(part) > 1:
                found.append(sorted(part))
    for v in nodes:
        if v not in index:
            visit(v)
    return found


def callers(all_objects):
    """{global function: {(file, function or section)}}."""
    found = collections.defaultdict(set)
    for source, o in all_objects.items():
        for section, names in o.uses.items():
            for name in names:
                found[name].add((source, o.place.get(section, section)))
    return found


def lengths():
    """Lines of every function, by the layout of clang-format."""
    found = []
    for path in glob.glob("src/**/*.c", recursive=True) + glob.glob("apps/**/*.c", recursive=True) + glob.glob(
            "plugin/**/*.c", recursive=True):
        start = None
        for i, line in enumerate(open(path).read().split("\n")):
            if line.startswith("{"):
                start = i
            elif line.startswith("}") and start is not None:
                found.append(i - start + 1)
                start = None
    return sorted(found)


def tags():
    """{private tag: files that define it}, for those with several."""
    found = collections.defaultdict(list)
    for path in glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("apps/**/*.[ch]", recursive=True) + glob.glob(
            "plugin/**/*.[ch]", recursive=True):
        for tag in DEFINITION.findall(open(path).read()):
            if tag.startswith("sv_") or path.endswith(".h"):
                found[tag].append(path)
    return {tag: paths for tag, paths in found.items() if len(paths) > 1}


def main():
    verbose = "-v" in sys.argv[1:]
    build()
    found = objects()
    home = {name: source for source, o in found.items() for name in list(o.functions) + list(o.data)}
    folder = os.path.dirname
    once = []
    calls = callers(found)
    for source, o in sorted(found.items()):
        for name in sorted(o.functions):
            users = calls.get(name, set())
            if len(users) == 1:
                (other, where), = users
                if other != source and folder(other) == folder(source) and where in found[other].place.values():
                    once.append("%s: %s, only %s in %s" % (source, name, where, os.path.basename(other)))
    edges = collections.defaultdict(set)
    for source, o in found.items():
        for name in o.undefined:
            other = home.get(name)
            if other and other != source and folder(other) == folder(source):
                edges[source].add(other)
    rings = cycles(sorted(found), edges)
    twice = tags()
    hidden = {name for source, o in found.items() if source.startswith("src/") for name in o.hidden}
    used = sorted({name for source, o in found.items() if source.startswith("apps/") for name in o.undefined} & hidden)
    numbers = lengths()
    print("files                    %d" % len(found))
    print("functions                %d (median %d lines, 90th percentile %d, longest %d)" % (
        len(numbers), numbers[len(numbers) // 2], numbers[len(numbers) * 9 // 10], numbers[-1]))
    print("one caller elsewhere     %d" % len(once))
    print("file cycles              %d: %s" % (len(rings), ", ".join("%s %d" % (folder(r[0]), len(r)) for r in rings)))
    print("tags with two meanings   %d" % len(twice))
    print("hidden symbols in apps   %d" % len(used))
    if verbose:
        print("\n".join(["", "one caller elsewhere:"] + once))
        for ring in rings:
            print("cycle: " + " ".join(ring))
        for tag, paths in sorted(twice.items()):
            print("tag %s: %s" % (tag, " ".join(paths)))
        print("hidden: " + " ".join(used))


if __name__ == "__main__":
    main()
