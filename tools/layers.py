#!/usr/bin/env python3
"""Checks that folders include only those above them (docs/design.md), that nobody shares code with
the judge, that no private tag has two meanings, and that the library neither prints nor exits nor reads a clock behind its caller's back.

Looks at all files of src/, include/, apps/ and plugin/, and at all ways to include a room: its
private headers ("verify/rows.h", or a path that leads there), its public one (<selvage/verify.h>, in
quotes, too), and selvage.h, which includes them all and so is not for src/.

usage: tools/layers.py          in the project's root; exit 1 and one line for each violation
"""
import glob
import os
import re
import sys

# In include order: a folder may include headers of folders before it, and its own.
ORDER = ["base", "text", "fabric", "topology", "faults", "jobmap", "cdg", "routes", "formats", "discover",
         "vls", "structure", "routing", "multicast", "verify", "repair", "metrics", "picture",
         "auto", "update", "live", "simulate", "traces", "adapt", "rehearse", "jobs", "study",
         "report"]
# Public headers that are not named after their folder.
ROOM = {"traffic": "simulate", "profiles": "simulate", "replay": "jobs"}
# Files that stand elsewhere in the order than their folder: engine auto asks the judge, engines must not.
APART = {"src/routing/auto.c": "auto"}
# verify/ judges what others computed, so it may know nothing of them ...
ONLY = {"verify": {"base", "fabric", "routes"}}
# ... and nobody else uses its inside: whoever makes tables or trees with the judge's own code has
# the judge's mistakes, which then finds nothing wrong. (Makers stand before it in the order, so
# they cannot even ask it.)
SEALED = {"verify"}
# Headers of other projects, by their folder or name, and who may include them.
FOREIGN = {"infiniband": {"src/discover"}, "opensm": {"plugin/opensm"}, "otf2": {"src/traces"},
           "mpi.h": {"plugin/mpi", "plugin/pmpi"}, "sqlite3.h": {"src/study", "src/report"},
           "jansson.h": {"src/base", "src/formats", "src/jobs", "src/study"},
           "metis.h": {"src/base"}}
SYSTEM = {"sys"}
FORBIDDEN = [(r"\b(printf|puts|putchar|fprintf|exit|abort|_exit)\s*\(", "prints or exits"),
             (r"\b(time|gettimeofday|clock)\s*\(", "reads a clock")]
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')


def without_comments(text):
    """Text without comments, and with as many lines. (What looks like one in a string is one here.)"""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n") or " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text.replace("\\\n", "  \n"))


def without_strings(text):
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def included(path, name, angle):
    """The room of src/ that a header belongs to and whether it is public; or None, None."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if not angle and (name.startswith(".") or os.path.exists(beside)) and beside.startswith("src/"):
        return beside.split("/")[1], False
    folder, _, rest = name.partition("/")
    if folder == "selvage" and (angle or path.startswith("src/") or
                                os.path.exists("include/" + name)):
        base = rest[:-2].replace("experimental/", "")
        return ("selvage", True) if base in ("selvage", "experimental") else (ROOM.get(base, base), True)
    return (folder, False) if folder in ORDER and rest else (None, None)


def foreign(place, name, where, problems):
    """A header that is none of ours."""
    folder, _, rest = name.partition("/")
    key = folder if rest else name
    if key in FOREIGN and place not in FOREIGN[key]:
        problems.append("%s: %s must not include %s (only %s)" %
                        (where, place, name, ", ".join(sorted(FOREIGN[key]))))
    elif rest and key not in FOREIGN and key not in SYSTEM and key != "selvage" and place.startswith(
            "src/"):
        problems.append("%s: includes %s/, which is no folder of src/" % (where, folder))


def check(path, place, problems):
    """place: the folder, such as src/verify or apps/selvage."""
    with open(path) as file:
        text = without_comments(file.read())
    room = APART.get(path, place[4:]) if place.startswith("src/") else None
    for line, words in enumerate(text.split("\n"), 1):
        found = INCLUDE.match(words)
        if not found:
            continue
        where, name = "%s:%d" % (path, line), found[1]
        other, public = included(path, name, "<" in words.split(found[1])[0])
        if other is None:
            foreign(place, name, where, problems)
        elif other == "selvage":
            if room is not None:
                problems.append("%s: src/ must not include %s, which has all rooms in it" %
                                (where, name))
        elif other not in ORDER:
            problems.append("%s: <%s> belongs to no folder of src/" % (where, name))
        elif not public and other in SEALED and other != room:
            problems.append("%s: %s must not include %s: only %s/ itself uses its inside" %
                            (where, place, name, other))
        elif room is not None and ORDER.index(other) > ORDER.index(room):
            problems.append("%s: %s/ must not include %s/, which is below it" % (where, room, other))
        elif room in ONLY and other not in ONLY[room] | {room}:
            problems.append("%s: %s/ must not include %s/: it may know only %s" %
                            (where, room, other, ", ".join(sorted(ONLY[room]))))
    if room is not None:
        plain = without_strings(text)
        for pattern, what in FORBIDDEN:
            for found in re.finditer(pattern, plain):
                problems.append("%s: %s: %s" % (path, what, found[0]))


DEFINITION = re.compile(r"^(?:typedef\s+)?(?:struct|union|enum)\s+(\w+)\s*\{", re.M)


def check_tags(problems):
    """A private tag means one thing in the whole tree."""
    found = {}
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
        with open(path) as file:
            for tag in DEFINITION.findall(without_comments(file.read())):
                if tag.startswith("sv_") or path.endswith(".h"):
                    found.setdefault(tag, []).append(path)
    for tag, paths in sorted(found.items()):
        if len(paths) > 1:
            problems.append("%s: the tag %s is defined in %s, too" % (paths[1], tag, paths[0]))


def check_public(path, problems):
    """A public header may include those of rooms above its own, and what every C compiler has."""
    name = os.path.basename(path)[:-2]
    promised = "experimental" not in path
    with open(path) as file:
        lines = without_comments(file.read()).split("\n")
    for line, words in enumerate(lines, 1):
        found = INCLUDE.match(words)
        if not found:
            continue
        where = "%s:%d" % (path, line)
        folder, _, rest = found[1].partition("/")
        other = rest[:-2].replace("experimental/", "")
        if not rest:
            continue
        if promised and "experimental/" in rest and name not in ("selvage", "experimental"):
            problems.append("%s: what is promised must not include %s" % (where, found[1]))
        if folder != "selvage" or "<" not in words.split(found[1])[0]:
            problems.append("%s: a public header must not include %s" % (where, found[1]))
        elif name not in ("selvage", "experimental") and (other in ("selvage", "experimental") or
                                    ORDER.index(ROOM.get(other, other)) >
                                    ORDER.index(ROOM.get(name, name))):
            problems.append("%s: must not include <%s>" % (where, found[1]))


def main():
    problems = []
    for folder in sorted(os.listdir("src")):
        if folder not in ORDER:
            problems.append("src/%s is not in the order of tools/layers.py" % folder)
    for place in sorted(glob.glob("src/*") + glob.glob("apps/*") + glob.glob("plugin/*")):
        if place.startswith("src/") and place[4:] not in ORDER:
            continue
        for path in sorted(glob.glob(place + "/**", recursive=True)):
            if os.path.isdir(path) or path.endswith(".txt"):
                continue
            if not path.endswith((".c", ".h")):
                problems.append("%s: is neither .c nor .h: nobody looks at what it includes" % path)
                continue
            check(path, place, problems)
    for path in sorted(glob.glob("include/**/*.h", recursive=True)):
        check_public(path, problems)
    check_tags(problems)
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
