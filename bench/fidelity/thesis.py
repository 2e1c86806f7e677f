"""Thesis Table 4.3, Figures 6.2a and 6.11, and the ring of five of the DFSSSP paper."""
from .lab import Refused, head, row

SHORT = ("--traffic", "exchange", "--message", "2048", "--profile", "qdr")

# ---- Table 4.3: o no deadlock, r not routed, d deadlock ----

ENGINES = ["ftree", "updn", "dor", "torus2qos", "minhop", "sssp", "dfsssp", "lash"]
THEIRS = ["opensm:" + ("torus-2QoS" if engine == "torus2qos" else engine) for engine in ENGINES]
PUBLISHED = {"t42-mesh2d": "rrooddoo", "t42-mesh3d": "rrooddoo", "t42-torus2d": "rrdoddoo",
             "t42-torus3d": "rrooddoo", "t42-kautz": "rrdrddoo", "t42-kary": "oooroooo",
             "t42-xgft": "oooroooo", "t42-dragonfly": "rrdrddoo", "t42-random": "rrorddoo",
             "deimos,speed=QDR": "rooroooo", "tsubame2-rail1": "oooroooo"}
UNIFORM = ("--traffic", "uniform", "--message", "2048", "--profile", "qdr", "--warm-up", "0")


def verdict(lab, fabric, engine, *words, **sets):
    """(letter, cell) of a fabric and an engine."""
    try:
        route = lab.route(fabric, engine)
    except Refused:
        return "r", "r"
    sample = () if "--sample" in words else ("--sample", "1ms")
    result = lab.sim(route, *UNIFORM, *sample, *words, **sets)
    if result["status"] == "deadlock":
        return "d", "d %.0f µs" % result["deadlock"]["since_us"]
    return "o", "o" if route["safe"] else "o c"


def table43(lab, options):
    """Uniform traffic as fast as possible, 1 ms. d: deadlock, and when; o c: none, but the tables
    have cycles; r: not routed. In brackets: what is published, where it differs."""
    head("fabric", *ENGINES)
    same = 0
    for fabric, published in PUBLISHED.items():
        cells = []
        for engine, there in zip(THEIRS if options.opensm else ENGINES, published):
            letter, cell = verdict(lab, fabric, engine)
            same += letter == there
            cells.append(cell if letter == there else "**%s** (%s)" % (cell, there))
        row("`%s`" % fabric, *cells)
    print("\n%d of %d as published.\n" % (same, len(PUBLISHED) * len(ENGINES)))


HARD = [("4 seeds", {}, [("--seed", str(seed)) for seed in range(1, 5)]),
        ("10 ms", {}, [("--sample", "10ms")]),
        ("input-blocks=66", {"input_blocks": 66}, [()]),
        ("input-blocks=33", {"input_blocks": 33}, [()])]


def hard(lab, options):
    """Cells of Table 4.3 whose tables have cycles: does a longer run, another seed or a smaller
    buffer find a deadlock?"""
    head("fabric", "engine", "published", "1 ms", *[name for name, _, _ in HARD])
    for fabric, published in PUBLISHED.items():
        for engine, there in zip(ENGINES, published):
            try:
                route = lab.route(fabric, engine)
            except Refused:
                continue
            if route["safe"]:
                continue
            first = verdict(lab, fabric, engine)
            if first[0] == "d" and there == "d":
                continue
            cells = []
            for _, sets, variants in HARD:
                found = [verdict(lab, fabric, engine, *words, **sets) for words in variants]
                bad = [cell for letter, cell in found if letter == "d"]
                cells.append(bad[0] + (", %d of %d" % (len(bad), len(found)) if len(found) > 1 else "")
                             if bad else "o")
            row("`%s`" % fabric, engine, there, first[1], *cells)


# ---- Figure 6.2a ----

SMALL = [("torus2qos@4", ""), ("dfsssp@8/assign=weakest", "needs more than 4 VLs"),
         ("dfsssp@4", ""), ("updn@4", ""), ("lash@4", ""), ("minhop@4", "can deadlock"),
         ("sssp@4", "can deadlock"), *[("nue@%d" % k, "") for k in (1, 2, 3, 4)],
         *[("weave@%d" % k, "") for k in (1, 2, 3, 4)]]


SMALL_THEIRS = [("opensm:torus-2QoS", ""), ("opensm:dfsssp", "may use 8 VLs"), ("opensm:updn", ""),
                ("opensm:lash", ""), *[("opensm:nue@%d" % k, "") for k in (1, 2, 3, 4)]]


def fig62(lab, options):
    """torus 4x4x3 with four hosts a switch and one failed switch: exchange of 2 KiB, GB/s."""
    seeds = range(1, options.seeds + 1)
    head("engine@VLs", "VLs needed", *["seed %d" % seed for seed in seeds], "mean", "EFI", "")
    for way, remark in SMALL + (SMALL_THEIRS if options.opensm else []):
        cells, figures, routes = [], [], []
        for seed in seeds:
            try:
                routes.append(lab.route("torus:4x4x3,hosts=4", way,
                                        ("--switches", "1", "--seed", str(seed))))
            except Refused:
                cells.append("–")
                continue
            result = lab.sim(routes[-1], *SHORT)
            if result["status"] == "completed":
                figures.append(result["throughput_gbyte_s"])
            cells.append("%.1f" % figures[-1] if result["status"] == "completed" else result["status"])
        needed, busiest = {r["needed"] for r in routes} - {None}, {r["efi"] for r in routes}
        row(way, max(needed, default="–"), *cells,
            "%.1f" % (sum(figures) / len(figures)) if figures else "–",
            "–".join(str(e) for e in sorted({min(busiest), max(busiest)})) if busiest else "–", remark)


# ---- Figure 6.11 ----

LARGE = ["t61-random", "t61-torus", "t61-kary", "t61-kautz", "t61-dragonfly", "t61-cascade",
         "t61-tsubame2", "t61-taurus"]
OTHERS = ["dfsssp", "torus2qos", "ftree", "updn", "lash", "minhop", "sssp"]


def large(lab, fabric, way):
    """(GB/s or None, cell)"""
    try:
        route = lab.route(fabric, way)
    except Refused:
        return None, "–"
    result = lab.sim(route, *SHORT)
    if result["status"] != "completed":
        return None, result["status"]
    cell = "%.0f" % result["throughput_gbyte_s"]
    return result["throughput_gbyte_s"], cell if route["safe"] else cell + " c"


def fig611(lab, options):
    """Exchange of 2 KiB, GB/s. c: can deadlock, but did not."""
    nues, weaves = ["nue@%d" % k for k in range(1, 9)], ["weave@%d" % k for k in (1, 2, 4, 8)]
    head("fabric", *OTHERS, *nues, "nue's best by the best other", *weaves)
    for fabric in LARGE if not options.fabrics else options.fabrics.split(","):
        found = {way: large(lab, fabric, way) for way in OTHERS + nues + weaves}
        best = max(found[way][0] or 0 for way in OTHERS if not found[way][1].endswith("c"))
        nue = max(found[way][0] or 0 for way in nues)
        row("`%s`" % fabric, *[found[way][1] for way in OTHERS + nues],
            "%.1f %%" % (100 * nue / best), *[found[way][1] for way in weaves])


# ---- the ring of five ----

RING = [("torus:5", "sssp@1", 2, {"input_blocks": 33}), ("torus:5", "sssp@1", 2, {}),
        ("torus:5,hosts=4", "sssp@1", 8, {}), ("torus:5,hosts=4", "minhop@1", 8, {}),
        ("torus:5,hosts=4", "dfsssp@1", 8, {}), ("torus:5,hosts=4", "dfsssp@2", 8, {}),
        ("torus:5,hosts=4", "updn@1", 8, {}), ("torus:5,hosts=4", "nue@1", 8, {}),
        ("torus:5,hosts=4", "weave@1", 8, {})]


def ring5(lab, options):
    """Each node to the one two further, 1,000 messages each."""
    head("fabric", "engine@VLs", "set", "end", "GB/s")
    for fabric, way, by, sets in RING:
        name = " ".join("%s=%s" % (k.replace("_", "-"), v) for k, v in sets.items()) or "–"
        try:
            result = lab.sim(lab.route(fabric, way), "--traffic", "shift:by=%d" % by,
                             "--messages", "1000", "--profile", "qdr", **sets)
        except Refused as why:
            row("`%s`" % fabric, way, name, "not routed: " + str(why), "–")
            continue
        end = result["status"]
        if end == "deadlock":
            stuck = result["deadlock"]
            end = "deadlock at %.3f µs: %d packets, a ring of %d channels" % (
                stuck["since_us"], stuck["packets"], len(stuck["cycle"]))
        row("`%s`" % fabric, way, name, end, "%.2f" % result["throughput_gbyte_s"])
