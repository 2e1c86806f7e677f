#!/usr/bin/env python3
"""Checks that folders include only those above them (docs/design.md), and that the library neither
prints nor exits nor reads a clock behind its caller's back.

usage: tools/layers.py
"""
import glob
import os
import re
import sys

# In include order: a folder may include headers of folders before it, and its own.
ORDER = ["base", "fabric", "topology", "faults", "jobmap", "cdg", "routes", "formats", "discover",
         "lanes", "structure", "routing", "verify", "multicast", "repair", "metrics", "picture", "select",
         "update", "live", "simulate", "traces", "adapt", "rehearse", "jobs", "study", "report"]
# Public headers that are not named after their folder.
ROOM = {"traffic": "simulate", "profiles": "simulate", "failures": "faults", "replay": "jobs"}
# verify/ judges what others computed, so it may know nothing of them.
ONLY = {"verify": {"base", "fabric", "routes"}}
# Headers of other projects in folders, and who may include them.
FOREIGN = {"infiniband": {"discover"}}
FORBIDDEN = [(r"\b(printf|puts|putchar|fprintf|exit|abort|_exit)\s*\(", "prints or exits"),
             (r"\b(time|gettimeofday|clock)\s*\(", "reads a clock")]


def code(text):
    """Text without comments and strings."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def check(path, folder, problems):
    with open(path) as file:
        text = file.read()
    for line, name in enumerate(text.split("\n"), 1):
        found = re.match(r'#include [<"]([a-z]+)/[a-z_0-9]+\.h[>"]', name)
        if not found or found[1] not in ORDER:
            if found and found[1] not in ("selvage", "sys") and folder not in FOREIGN.get(
                    found[1], ()):
                problems.append("%s:%d: includes %s, which is no folder of src/" %
                                (path, line, found[1]))
            continue
        above = ORDER.index(found[1]) <= ORDER.index(folder)
        if not above or (folder in ONLY and found[1] not in ONLY[folder] | {folder}):
            problems.append("%s:%d: %s/ must not include %s/" % (path, line, folder, found[1]))
    plain = code(text)
    for pattern, what in FORBIDDEN:
        for found in re.finditer(pattern, plain):
            problems.append("%s: %s: %s" % (path, what, found[0]))


def main():
    problems = []
    for folder in sorted(os.listdir("src")):
        if folder not in ORDER:
            problems.append("src/%s is not in the order of tools/layers.py" % folder)
            continue
        for path in sorted(glob.glob("src/%s/*.[ch]" % folder)):
            check(path, folder, problems)
    for path in sorted(glob.glob("include/selvage/*.h")):
        name = os.path.basename(path)[:-2]
        with open(path) as file:
            for other in re.findall(r"#include <selvage/([a-z]+)\.h>", file.read()):
                if name != "selvage" and (ORDER.index(ROOM.get(other, other)) >
                                          ORDER.index(ROOM.get(name, name))):
                    problems.append("%s must not include <selvage/%s.h>" % (path, other))
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
