"""Thesis Figures 5.2, 5.9 to 5.12: routing that follows jobs."""
import collections
import csv
import json
import os
import random
import statistics

from .lab import Refused, head, row

# Thesis Fig. 3.6: the island of 180 nodes; how many spines it has is not told. presets have six.
ISLAND = "xgft:h=1,m=10,w=%d,hosts=18,r=%d"
FORMS = ((6, 3), (9, 2), (18, 1))
THREE = {"j1": ((1, 30), (91, 120)), "j2": ((31, 60), (151, 180)), "j3": ((61, 90), (121, 150))}
TSUBAME2 = "tsubame2:rail=1"


def save_map(lab, name, jobs):
    """A job map: {job: names of nodes}."""
    path = lab.path("jobs", name) + ".txt"
    with open(path, "w") as file:
        file.writelines("%s %s\n" % (node, job) for job, nodes in jobs.items() for node in nodes)
    return path


def tables(lab, spec, engine, jobs=None):
    """Tables of an engine, which is told the jobs if there is a map."""
    if engine.startswith("opensm:"):
        return lab.route(spec, engine)["tables"]
    path = lab.path("tables", spec, engine, jobs or "")
    if not os.path.exists(path):
        lab.run("route", lab.fabric(spec), "--engine", engine, "--no-check", "--json", "--threads",
                lab.threads, "-o", path, *(("--jobs", jobs) if jobs else ()))
    return path


def metrics(lab, path, jobs, *words):
    return json.loads(lab.run("metrics", path, "--jobs", jobs, "--json", *words))


def routed(lab, spec, way, jobs):
    """Tables by a way: an engine, or ENGINE+jobs; sar always knows them."""
    engine, _, told = way.partition("+")
    return tables(lab, spec, engine, jobs if told or engine == "sar" else None)


# ---- Figure 5.2 ----

def three_jobs(lab, options):
    """Fig. 5.2: three jobs of 60 nodes on ten leaf switches of 18; published: over 160 with an oblivious
    routing (which is not told), 60 with SAR."""
    nodes = {job: ["host%d" % (n - 1) for first, last in spans for n in range(first, last + 1)]
             for job, spans in THREE.items()}
    jobs = save_map(lab, "three", nodes)
    ways = ["ftree", "dmodk", "updn", "minhop", "dfsssp", "nue", "weave", "lash", "sssp+jobs",
            "nue+jobs", "weave+jobs", "sar"]
    if options.opensm:
        ways += ["opensm:" + engine for engine in ("ftree", "updn", "minhop", "dfsssp")]
    head("busiest channel, routes inside jobs (of all routes)", *("%d spines" % w for w, _ in FORMS))
    for way in ways:
        cells = []
        for form in FORMS:
            try:
                found = metrics(lab, routed(lab, ISLAND % form, way, jobs), jobs)
                cells.append("%d (%d)" % (found["jobs"]["efi"]["max"], found["efi"]["max"]))
            except Refused:
                cells.append("r")
        row(way, *cells)
    print("\nThe same with 60 nodes each drawn from all 180, %d times: least / median / most\n" % options.draws)
    head("busiest channel, routes inside jobs", *("%d spines" % w for w, _ in FORMS))
    for way in ways:
        cells = []
        for form in FORMS:
            most = []
            for draw in range(options.draws):
                hosts = ["host%d" % n for n in range(180)]
                random.Random("three %d" % draw).shuffle(hosts)
                drawn = save_map(lab, "three %d" % draw, {
                    "j%d" % j: hosts[60 * j:60 * j + 60] for j in range(3)})
                try:
                    most.append(metrics(lab, routed(lab, ISLAND % form, way, drawn),
                                        drawn)["jobs"]["efi"]["max"])
                except Refused:
                    pass
            cells.append(spread(most) if most else "r")
        row(way, *cells)
    if options.heat:
        pair = [routed(lab, ISLAND % FORMS[0], way, jobs) for way in ("dfsssp", "sar")]
        lab.run("metrics", *pair, "--jobs", jobs, "--json", "--heat",
                os.path.join(options.heat, "three-jobs.svg"))


# ---- Figures 5.9 to 5.11 ----

def leaves(lab, spec):
    """Names of compute nodes by leaf switch."""
    fabric = json.loads(lab.run("convert", lab.fabric(spec), "--format", "json"))
    names = {t["node"]: fabric["adapters"][t["adapter"]]["name"] for t in fabric["terminals"]
             if t["role"] == "compute"}
    found = collections.defaultdict(list)
    for cable in fabric["cables"]:
        for here, there in (("a", "b"), ("b", "a")):
            if cable[there] in names:
                found[cable[here]].append(names[cable[there]])
    return [found[s] for s in sorted(found)]


def place(rng, beds, how, nodes=200, switches=15):
    """So many nodes over so many leaf switches: leaves that follow each other, or any."""
    able = [bed for bed in beds if len(bed) * switches >= nodes]
    if how == "neighbours":
        first = rng.randrange(len(able) - switches + 1)
        chosen = able[first:first + switches]
    else:
        chosen = rng.sample(able, switches)
    while True:  # all of the switches have some
        mine = rng.sample([node for bed in chosen for node in bed], nodes)
        if all(set(mine) & set(bed) for bed in chosen):
            return mine


def spread(values):
    values = sorted(values)
    return "%d / %d / %d" % (values[0], statistics.median_low(values), values[-1])


def day16(lab, options):
    """Fig. 5.9 to 5.11: one job of 200 nodes on 15 leaf switches of TSUBAME2 (rebuilt; where the nodes were
    is not published, so placements are drawn: least / median / most of them). Published: fat-tree 1,272
    paths on the busiest channel and 1,274 ports used, SAR 376 and 1,555."""
    beds = leaves(lab, TSUBAME2)
    ways = ["ftree", "updn", "dfsssp", "sar"]
    if options.opensm:
        ways = ["opensm:ftree", "opensm:dfsssp"] + ways
    head("placement", "way", "busiest channel", "channels used")
    for how in "neighbours", "anywhere":
        found = {way: {"max": [], "links": []} for way in ways}
        worst = (0, None)
        for draw in range(options.draws):
            mine = place(random.Random("%s %d" % (how, draw)), beds, how)
            jobs = save_map(lab, "day16 %s %d" % (how, draw), {"day16": mine})
            for way in ways:
                try:
                    job = metrics(lab, routed(lab, TSUBAME2, way, jobs), jobs)["jobs"]["list"][0]
                except Refused:
                    continue
                for key in found[way]:
                    found[way][key].append(job[key])
            worst = max(worst, (found["ftree"]["max"][-1], jobs))
        for way in ways:
            if found[way]["max"]:
                row(how, way, spread(found[way]["max"]), spread(found[way]["links"]))
            else:
                row(how, way, "r", "r")
        if options.heat:
            pair = [routed(lab, TSUBAME2, way, worst[1]) for way in ("ftree", "sar")]
            lab.run("metrics", *pair, "--jobs", worst[1], "--json", "--heat",
                    os.path.join(options.heat, "day16-%s.svg" % how))


# ---- Figure 5.12 ----

def bench_jobs(rng, others):
    """28 nodes, two or three on each of ten leaf switches; the others in jobs of 4 to 32 nodes."""
    drawn = [leaf * 18 + k for leaf in range(10) for k in rng.sample(range(18), 3)]
    for extra in rng.sample(range(10), 2):
        drawn.remove(next(n for n in drawn if n // 18 == extra))
    jobs = {"bench": ["host%d" % n for n in sorted(drawn)]}
    rest = [n for n in range(180) if n not in drawn]
    rng.shuffle(rest)
    while others and rest:
        size = rng.choice((4, 8, 16, 32))
        jobs["other%d" % len(jobs)] = ["host%d" % n for n in sorted(rest[:size])]
        rest = rest[size:]
    return jobs


def run_time(lab, path, jobs, nodes, load, more):
    """When the last of the job's messages arrived, in µs."""
    def measure():
        each = lab.path("terminals", path, jobs, str(load)) + ".csv"
        words = ["sim", path, "--jobs", jobs, "--profile", "qdr", "--json", "--terminals", each,
                 "--threads", lab.threads, "--traffic", "uniform:bytes=65536,load=%g" % (load or 1),
                 "--job-traffic", "bench=exchange:bytes=1048576,rounds=1"]
        words += more
        words += ["--warm-up", "0", "--sample", "40ms", "--limit", "40ms"] if load else []
        lab.run(*words)
        with open(each, newline="") as file:
            rows = {r["terminal"]: r for r in csv.DictReader(file)}
        if any(int(rows[n]["messages"]) != len(nodes) - 1 for n in nodes):
            raise Refused("not done in 40 ms")
        return {"us": max(float(rows[n]["last_us"]) for n in nodes)}
    return lab.kept(("alltoall", path, jobs, str(load)), measure)["us"]


def alltoall(lab, options):
    """Fig. 5.12: 28 nodes on ten leaf switches of the island, 1 MiB from each to each (exchange), alone and
    beside jobs of others that send random messages; means over placements. Published, on the
    machine: SAR 17.6 % faster than DFSSSP and 11.7 % faster than fat-tree."""
    ways = ["ftree", "dfsssp", "sar"]
    if options.opensm:
        ways = ["opensm:ftree", "opensm:dfsssp"] + ways
    spec = ISLAND % FORMS[0]
    head("others' load", *("%s, ms" % way for way in ways), *("sar : %s" % way for way in ways[:-1]),
         "sar : dfsssp, least and most")
    for load in 0, 0.2, 0.4, 0.6:
        times = {way: [] for way in ways}
        for draw in range(max(1, options.draws // 2)):
            members = bench_jobs(random.Random("alltoall %d" % draw), load > 0)
            jobs = save_map(lab, "alltoall %g %d" % (load, draw), members)
            for way in ways:
                # OpenSM's ftree uses one VL, and tells no service levels
                more = ["--assume-sl", "0"] if way == "opensm:ftree" else []
                times[way].append(run_time(lab, routed(lab, spec, way, jobs), jobs,
                                           members["bench"], load, more))
        mean = {way: statistics.mean(times[way]) for way in ways}
        ratios = sorted(s / d for s, d in zip(times["sar"], times["dfsssp"]))
        row("%g" % load, *("%.2f" % (mean[way] / 1000) for way in ways),
            *("%+.1f %%" % (100 * (mean["sar"] / mean[way] - 1)) for way in ways[:-1]),
            "%+.1f … %+.1f %%" % (100 * (ratios[0] - 1), 100 * (ratios[-1] - 1)))
