"""Thesis Table 4.4: exchange on nine small fabrics, fault-free and with failed links."""
import json
import math
import os

from . import orders
from .lab import Refused, fit, head, percent, row

# fabric: the thesis' routing, its intercept in GB/s, slope in GB/s a failed link, R²
PUBLISHED = {"t42-mesh2d": ("torus2qos", 263.63, -1.83, 0.94),
             "t42-mesh3d": ("torus2qos", 276.18, -2.37, 0.87),
             "t42-torus2d": ("torus2qos", 341.11, -1.68, 0.95),
             "t42-torus3d": ("dfsssp", 508.97, -2.12, 0.90),
             "t42-kautz": ("dfsssp", 299.48, -1.45, 0.88),
             "t42-kary": ("dfsssp", 629.76, -3.59, 0.69),
             "t42-xgft": ("dfsssp", 527.31, -3.03, 0.88),
             "t42-dragonfly": ("dfsssp", 479.03, -2.39, 0.94),
             "t42-random": ("dfsssp", 417.53, -2.17, 0.76)}
THEIRS = {"torus2qos": "opensm:torus-2QoS", "dfsssp": "opensm:dfsssp"}
OTHERS = ["dfsssp", "dfsssp/assign=weakest", "nue", "weave"]
EXCHANGE = ("--traffic", "exchange", "--message", "20480", "--profile", "qdr")


def figure(lab, fabric, way, *words, faults=(), traffic=EXCHANGE, **sets):
    """GB/s of an exchange."""
    result = lab.sim(lab.route(fabric, way, faults), *traffic, *words, **sets)
    if result["status"] != "completed":
        raise Refused(result["status"])
    return result["throughput_gbyte_s"]


def table44(lab, options):
    """Fault-free, beside the published intercepts."""
    head("fabric", "routing", "published", "ours", "difference", "EFI", "OpenSM's tables",
         "difference", "EFI", *OTHERS)
    for fabric, (engine, published, _, _) in PUBLISHED.items():
        cells = []
        for way in (engine, THEIRS[engine]):
            ours = figure(lab, fabric, way)
            cells += ["%.1f" % ours, percent(ours, published), lab.route(fabric, way)["efi"]]
        cells += ["%.1f" % figure(lab, fabric, way) for way in OTHERS]
        row("`%s`" % fabric, engine, "%.2f" % published, *cells)


# ---- with failures ----

def cables(lab, fabric, faults):
    path = lab.fabric(fabric, faults)
    return lab.kept(("cables", fabric, *faults), lambda: {
        "count": len(json.loads(lab.run("convert", path, "--format", "json"))["cables"])})["count"]


def points(lab, fabric, way, seeds):
    """[(failed links, GB/s)], and how many fabrics were not routed."""
    found, refused, all_cables = [], 0, cables(lab, fabric, ())
    for share in (0, 1, 3, 5, 10, 20, 40):
        for seed in range(1, (seeds if share else 1) + 1):
            faults = ("--links", "%d%%" % share, "--seed", str(seed)) if share else ()
            try:
                found.append((all_cables - cables(lab, fabric, faults),
                              figure(lab, fabric, way, faults=faults)))
            except Refused:
                refused += 1
    return found, refused


def regression(lab, options):
    """Intercept, slope and R² of 0, 1, 3, 5, 10, 20 and 40 % failed links."""
    head("fabric", "routing", "intercept", "published", "difference", "slope", "published",
         "slope/intercept", "published", "R²", "published", "not routed")
    for fabric, (engine, *published) in PUBLISHED.items():
        for way in (engine, THEIRS[engine]) if options.opensm else (engine,):
            found, refused = points(lab, fabric, way, options.seeds)
            ours = fit(found)
            row("`%s`" % fabric, way, "%.1f" % ours[0], "%.2f" % published[0],
                percent(ours[0], published[0]), "%.2f" % ours[1], "%.2f" % published[1],
                "%.2f %%" % (100 * ours[1] / ours[0]),
                "%.2f %%" % (100 * published[1] / published[0]), "%.2f" % ours[2],
                "%.2f" % published[2], "%d of %d" % (refused, refused + len(found)))


# ---- what moves the figures ----

SWEEP = [{}, {"cable_ns": 42}, {"cable_ns": 44}, {"open": 1}, {"open": 2}, {"open": 16},
         {"credit_ns": 45}, {"credit_ns": 300}, {"credit_ns": 45, "inband_bytes": 8},
         {"pause_ns": 0}, {"period_ns": 110}, {"inject_gbit": 26, "drain_gbit": 26},
         {"speedup_percent": 100}, {"speedup_percent": 300}, {"ways": 1}, {"ways": 8},
         {"switch_ns": 0}, {"switch_ns": 200}, {"input_blocks": 64}, {"input_blocks": 256},
         {"output_blocks": 39}, {"output_blocks": 156}, {"voq": "off"},
         {"voq": "off", "ways": 1, "speedup_percent": 100}]
ORDERS = ["nearest first", "switches shuffled 1", "switches shuffled 2", "switches shuffled 3",
          "dealt", "shuffled 1"]


def order_words(lab, fabric, name, size):
    """(traffic, further words) of an exchange in another order of terminals."""
    path = lab.path("order", fabric, name, size)
    if not os.path.exists(path):
        places = orders.Places(json.loads(lab.run("convert", lab.fabric(fabric), "--format", "json")))
        seed = int(name.split()[-1]) if name[-1].isdigit() else 0
        lines = (orders.nearest(places, int(size)) if name == "nearest first" else
                 orders.dealt(places) if name == "dealt" else
                 orders.shuffled_switches(places, seed) if name.startswith("switches") else
                 orders.shuffled(places, seed))
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
    if name == "nearest first":
        return ("--traffic", "file:" + path, "--profile", "qdr"), ()
    return ("--traffic", "exchange", "--message", size, "--profile", "qdr"), ("--order", path)


def sweep_row(lab, name, opensm, take):
    """How far figures are moved, and how far they are from the published ones then."""
    cells = []
    ways = [{f: p[0] for f, p in PUBLISHED.items()}]
    if opensm:
        ways.append({f: THEIRS[p[0]] for f, p in PUBLISHED.items()})
    for number, way in enumerate(ways):
        squares = 0
        for fabric, (_, published, _, _) in PUBLISHED.items():
            ours = take(fabric, way[fabric])
            squares += (ours / published - 1) ** 2
            if number == 0:
                moved = 100 * (ours / figure(lab, fabric, way[fabric]) - 1)
                cells.append("%+.0f" % moved)
        cells.append("%.1f %%" % (100 * math.sqrt(squares / len(PUBLISHED))))
    row(name, *cells)


def sweep(lab, options):
    """One parameter at a time, on the nine fabrics: percent by which it moves our figure, and the
    distance of all nine from the published ones (root of the mean square)."""
    head("set", *[fabric[4:] for fabric in PUBLISHED], "from published",
         *(["with OpenSM's tables"] if options.opensm else []))
    for sets in SWEEP:
        name = " ".join("%s=%s" % (k.replace("_", "-"), v) for k, v in sorted(sets.items()))
        sweep_row(lab, name or "(as the profile)", options.opensm,
                  lambda fabric, way: figure(lab, fabric, way, **sets))
    for name in ORDERS:
        def take(fabric, way):
            traffic, words = order_words(lab, fabric, name, "20480")
            return figure(lab, fabric, way, *words, traffic=traffic)
        sweep_row(lab, "order: " + name, options.opensm, take)


# ---- larger fabrics: Tables 4.5 and 4.6, 1 MTU ----

LARGER = [("f46-torus,r=2", "torus2qos", 2794.89), ("f46-torus,r=4", "torus2qos", 2794.89),
          ("f46-torus,r=5", "torus2qos", 2794.89), ("f46-dragonfly", "dfsssp", 2166.54),
          ("f46-kautz", "lash", 1541.58), ("f46-kautz,r=2", "lash", 1541.58),
          ("f46-kary14", "dfsssp", 5015.53), ("tsubame2-rail1", "dfsssp", 1393.40),
          ("tsubame2-rail1", "ftree", 1187.19), ("tsubame2-rail1", "updn", 717.76),
          ("tsubame2-rail1", "lash", 22.92),
          *[("deimos" + speed, engine, published) for speed in ("", ",speed=QDR")
            for engine, published in (("dfsssp", 93.40), ("updn", 30.10), ("minhop", 29.94),
                                      ("lash", 8.37))]]


def table45(lab, options):
    """Fault-free exchange of 2,048 bytes beside the intercepts of Tables 4.5 and 4.6, GB/s."""
    head("fabric", "routing", "published", "ours", "difference", "EFI")
    for fabric, engine, published in LARGER:
        try:
            ours = figure(lab, fabric, engine, traffic=("--traffic", "exchange", "--message",
                                                        "2048", "--profile", "qdr"))
        except Refused as why:
            row("`%s`" % fabric, engine, "%.2f" % published, why, "–", "–")
            continue
        row("`%s`" % fabric, engine, "%.2f" % published, "%.1f" % ours, percent(ours, published),
            lab.route(fabric, engine)["efi"])
