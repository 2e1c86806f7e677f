"""The DLA paper's dragonflies: Table 1, Figures 10 to 12 (one size, buffers) and 14 to 19 (sizes, traffic)."""
import json
import statistics

from . import orders
from .lab import Refused, head, row

ENGINES = ["dla@2", "d3r@2", "lash@2", "updn@1", "dfsssp@8", "sssp-df@3", "minhop-df@3"]
GAIN = {"dla@2": (1.356, 1.428, 1.448), "d3r@2": (1.628, 2.373, 2.596),
        "lash@2": (1.179, 1.288, 1.420), "updn@1": (1.347, 1.412, 1.471),
        "dfsssp@8": (1.059, 1.126, 1.165), "sssp-df@3": (1.283, 1.298, 1.324),
        "minhop-df@3": (1.242, 1.251, 1.275)}
BUFFERS = [1, 2, 4, 8, 16, 32]
BLOCKS = 65  # of a packet of 4,096 + 26 bytes
SIZES = {72: "dragonfly:a=4,p=2,h=2,g=9", 342: "dragonfly:a=6,p=3,h=3,g=19",
         1056: "dragonfly:a=8,p=4,h=4,g=33", 2550: "dragonfly:a=10,p=5,h=5,g=51",
         144: "dragonfly:a=4,p=4,h=2,g=9", 684: "dragonfly:a=6,p=6,h=3,g=19"}


def enough(lab, size, engine):
    """The engine with a VL more, where it needs that (lash)."""
    try:
        lab.route(SIZES[size], engine)
        return engine
    except Refused:
        name, _, vls = engine.partition("@")
        return "%s@%d" % (name, int(vls) + 1)


def share(lab, size, engine, traffic, load, warm_up, sample, *words, **sets):
    """Accepted traffic, as a share of what the terminals that count can inject; None: deadlock."""
    result = lab.sim(lab.route(SIZES[size], engine), "--traffic", traffic, "--message", "4096",
                     "--profile", "dla", "--load", "%.1f" % load, "--warm-up", warm_up,
                     "--sample", sample, *words, **sets)
    return None if result["status"] == "deadlock" else result["injection_share"]


def accepted(lab, engine, buffers, voq, load=1.0):
    return share(lab, 72, engine, "uniform", load, "1ms", "5ms", voq="on" if voq else "off",
                 input_blocks=BLOCKS * buffers)


def dla1(lab, options):
    """72 nodes, uniform, load 1: accepted share by packets a VL of buffer, without and with VOQ."""
    found = {}
    head("engine@VLs", "VOQ", *["%d" % b for b in BUFFERS])
    for engine in ENGINES:
        for voq in (False, True):
            shares = [accepted(lab, engine, b, voq) for b in BUFFERS]
            found[engine, voq] = shares
            row(engine, "yes" if voq else "no", *["%.3f" % s for s in shares])
    print("\nGain by VOQ (with by without), over the six sizes of buffers:\n")
    head("engine@VLs", "min", "published", "median", "published", "max", "published",
         "median by published")
    for engine in ENGINES:
        gains = [on / off for on, off in zip(found[engine, True], found[engine, False])]
        ours = min(gains), statistics.median(gains), max(gains)
        row(engine, *["%.3f" % x for pair in zip(ours, GAIN[engine]) for x in pair],
            "%+.1f %%" % (100 * (ours[1] / GAIN[engine][1] - 1)))


DLA_SWEEP = [{}, {"speedup_percent": 100}, {"speedup_percent": 100, "ways": 1}, {"ways": 1},
             {"open": 1}, {"open": 16}, {"output_blocks": 65}, {"output_blocks": 1040},
             {"credit_ns": 45}, {"switch_ns": 0}, {"pause_ns": 10, "period_ns": 100},
             {"speedup_percent": 100, "ways": 1, "output_blocks": 65}, {"queues": 7},
             {"queues": 7, "speedup_percent": 100, "ways": 1, "output_blocks": 65}]


def dla2(lab, options):
    """Gain by VOQ with other numbers of the model: the median over buffers of 1, 4 and 16 packets.
    queues=7: with VOQ each VL of a port has so much for each of a switch's seven ports."""
    head("set", *ENGINES, "mean distance from published")
    row("published", *["%.3f" % GAIN[engine][1] for engine in ENGINES], "")
    for sets in DLA_SWEEP:
        name = " ".join("%s=%s" % (k.replace("_", "-"), v) for k, v in sorted(sets.items()))
        cells, off, sets = [], 0, dict(sets)
        queues = sets.pop("queues", 1)
        for engine in ENGINES:
            gains = []
            for buffers in (1, 4, 16):
                with_voq, without = [
                    share(lab, 72, engine, "uniform", 1.0, "1ms", "5ms", voq=voq,
                          input_blocks=BLOCKS * buffers * more, **sets)
                    for voq, more in (("on", queues), ("off", 1))]
                gains.append(with_voq / without)
            gain = statistics.median(gains)
            cells.append("%.3f" % gain)
            off += abs(gain / GAIN[engine][1] - 1) / len(ENGINES)
        row(name or "(as the profile)", *cells, "%.1f %%" % (100 * off))


# ---- sizes and traffic ----

LOADS = [0.2, 0.4, 0.6, 0.8, 1.0]
# size: (warm-up, sample, loads); hot-spot samples 1 ms everywhere
EFFORT = {72: ("1ms", "5ms", LOADS), 342: ("1ms", "5ms", LOADS), 1056: ("1ms", "2ms", [0.6, 1.0]),
          2550: ("1ms", "1ms", [1.0]), 144: ("1ms", "5ms", LOADS), 684: ("1ms", "5ms", [0.6, 1.0])}


def dla3(lab, options):
    """Accepted share by load: balanced and oversubscribed dragonflies."""
    sizes = [int(size) for size in options.fabrics.split(",")] if options.fabrics else EFFORT
    for size in sizes:
        warm_up, sample, loads = EFFORT[size]
        for traffic in ("uniform", "stencil", "hotspot"):
            if size == 2550 and traffic != "uniform":
                continue
            length = min(sample, "1ms", key=lambda t: int(t[:-2]) * (1000 if t[-2:] == "ms" else 1)
                         ) if traffic == "hotspot" else sample
            print("\n%d nodes, %s, warm-up %s, sample %s:\n" % (size, traffic, warm_up, length))
            head("engine", *["%.1f" % load for load in loads])
            for engine in ENGINES:
                cells = []
                for load in loads:
                    found = share(lab, size, enough(lab, size, engine), traffic, load, warm_up, length)
                    cells.append("%.3f" % found if found is not None else "deadlock")
                row(engine.partition("@")[0], *cells)


def dla4(lab, options):
    """Stencil at load 1 with ranks placed in other orders: of the switches' numbers, of one host of each
    switch after the other, by lot."""
    for size in (72, 342, 144, 684):
        places = orders.Places(json.loads(lab.run("convert", lab.fabric(SIZES[size]), "--format",
                                                  "json")))
        print("\n%d nodes, warm-up 1ms, sample 5ms:\n" % size)
        columns = {"switches": None, "dealt": orders.dealt(places),
                   **{"by lot %d" % seed: orders.shuffled(places, seed) for seed in (1, 2, 3)}}
        head("engine", *columns)
        for engine in ENGINES:
            cells = []
            for name, order in columns.items():
                words = ()
                if order is not None:
                    words = ("--order", lab.path("order", str(size), name))
                    with open(words[1], "w") as file:
                        file.write("\n".join(order) + "\n")
                cells.append("%.3f" % share(lab, size, enough(lab, size, engine), "stencil", 1.0,
                                            "1ms", "5ms", *words))
            row(engine.partition("@")[0], *cells)
