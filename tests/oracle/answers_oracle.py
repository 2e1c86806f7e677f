"""A second implementation of a study's answers, from docs/study.md and the tables' own sentences: plain
loops over rows of SQL, no order, no runs, no index. Slow and simple.
"""
import functools
import math

LETTERS = {"ok": "o", "unsafe": "c", "deadlock": "d", "incomplete": "i", "engine": "r"}
MEASURED = ("ok", "unsafe")


# ---- statistics ----

def student_cdf(t, df):
    """By Simpson's rule over the density: P(0 < T < t) + 1/2."""
    steps = 4000
    front = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    h = t / steps
    total = 0
    for i in range(steps + 1):
        weight = 1 if i in (0, steps) else 4 if i % 2 else 2
        total += weight * (1 + (i * h) ** 2 / df) ** (-(df + 1) / 2)
    return 0.5 + front * total * h / 3


@functools.lru_cache(maxsize=None)
def t975(df):
    if df < 1:
        return None
    low, high = 0.0, 16.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        if student_cdf(middle, df) < 0.975:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def half(numbers):
    n = len(numbers)
    if n < 2:
        return None
    m = mean(numbers)
    variance = sum((x - m) ** 2 for x in numbers) / (n - 1)
    return t975(n - 1) * math.sqrt(variance / n)


class Line:
    """Least squares by the normal equations."""

    def __init__(self, points):
        self.n = n = len(points)
        self.points = points
        sx, sy = sum(x for x, _ in points), sum(y for _, y in points)
        sxx, sxy = sum(x * x for x, _ in points), sum(x * y for x, y in points)
        below = n * sxx - sx * sx
        self.slope = (n * sxy - sx * sy) / below
        self.intercept = (sy - self.slope * sx) / n
        self.mean_x, self.spread = sx / n, below / n
        self.left = sum((y - self.at(x)) ** 2 for x, y in points)
        whole = sum((y - sy / n) ** 2 for _, y in points)
        self.r2 = 1 - self.left / whole if whole > 1e-12 else None

    def at(self, x):
        return self.intercept + self.slope * x

    def band(self, x):
        if self.n < 3:
            return None
        error = math.sqrt(self.left / (self.n - 2))
        return t975(self.n - 2) * error * math.sqrt(1 / self.n + (x - self.mean_x) ** 2 / self.spread)

    def slope_half(self):
        if self.n < 3:
            return None
        return t975(self.n - 2) * math.sqrt(self.left / (self.n - 2) / self.spread)

    def leaves(self, y, start, step):
        """Where its band leaves y, walking from where the line reaches it; None: never."""
        if self.n < 3:
            return None
        outside = lambda x: abs(self.at(x) - y) > self.band(x)  # noqa: E731
        wide = math.sqrt(self.spread)
        places = [start + step * 1.01 ** i for i in range(2500)]
        places += [self.mean_x + wide * i / 400 for i in range(-8000, 8001)]  # where it is narrow
        near = start
        for far in sorted((x for x in places if (x - start) * step > 0), key=lambda x: abs(x - start)):
            if outside(far):
                break
            near = far
        else:
            return None
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (near, middle) if outside(middle) else (middle, far)
        return far


def line_of(points):
    return Line(points) if len({x for x, _ in points}) > 1 else None


def median(numbers):
    ordered = sorted(numbers)
    n = len(ordered)
    if n == 0:
        return None
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def median_ranks(n):
    """The ranks (from 1) of a median's interval of at least 95 %, or None."""
    best = None
    for k in range(1, n // 2 + 1):
        if sum(math.comb(n, i) for i in range(k)) / 2 ** n <= 0.025:
            best = k
    return None if best is None else (best, n - best + 1)


# ---- a database ----

class Cases:
    """All cells with results as dicts; of cells that differ in `what` only, the last one."""

    def __init__(self, db):
        columns = [row[1] for row in db.execute("PRAGMA table_info(cell)")]
        results = [row[1] for row in db.execute("PRAGMA table_info(result)")]
        query = "SELECT c.*, r.*, s.route_seconds FROM cell c JOIN result r ON r.cell = c.id " \
                "LEFT JOIN spent s ON s.cell = c.id ORDER BY c.id"
        self.rows = {}
        self.fabrics = {name: (switches, terminals, links) for name, switches, terminals, links
                        in db.execute("SELECT name, switches, terminals, links FROM fabric")}
        self.lost = db.execute("SELECT * FROM lost").fetchall()
        vls = {row[0] for row in db.execute("SELECT DISTINCT c.vls FROM cell c JOIN result r"
                                              " ON r.cell = c.id")}
        found = [dict(zip(columns + results + ["route_seconds"], row)) for row in db.execute(query)]
        for case in found:
            case["undrawn"] = case["status"] in ("faults", "fabric")
        self.engines = [(c["engine"], c["vls"], c["options"]) for c in found]
        found = self.without_failures(found)
        for case in found:
            case["full"] = case["engine"] + ("/%d" % case["vls"] if case["vls"] else "") + \
                (" " + case["options"] if case["options"] else "")
            case["name"] = case["full"] if len(vls) > 1 else \
                case["engine"] + (" " + case["options"] if case["options"] else "")
            case["flow"] = "" if not case["traffic"] else "%s %d bytes%s, %s" % (
                case["traffic"], case["message"],
                " at load %g" % case["load"] if case["load"] else "", case["profile"])
            words = case["faults"].split(" ")
            case["family"] = "state" if words[0] == "state" else " ".join(words[:1] + words[2:])
            kind, _, rest = case["fabric"].partition(":")
            case["group"] = kind + ":" + ",".join(part for part in rest.split(",")
                                                  if not part.startswith("seed="))
            if not rest:
                case["group"] = case["fabric"]
            place = (case["fabric"], case["faults"], case["full"], case["flow"], case["seed"])
            older = self.rows.get(place)
            if older:
                for name in results[3:] + ["route_seconds"]:
                    if case[name] is None:
                        case[name] = older[name]
            self.rows[place] = case
        self.all = list(self.rows.values())
        for case in self.all:
            if case["status"] == "error":
                met = [c for c in self.all if all(c[key] == case[key] for key in
                                                  ("fabric", "faults", "seed", "flow"))]
                case["undrawn"] = len(met) > 1 and \
                    {(c["status"], c["words"]) for c in met} == {("error", case["words"])}
        names = {(c["engine"], c["vls"], c["options"]): c["name"] for c in self.all}
        self.order = list(dict.fromkeys(names[engine] for engine in self.engines))
        members = {}
        for case in self.all:
            members.setdefault(case["group"], set()).add(case["fabric"])
        for case in self.all:
            if len(members[case["group"]]) == 1:
                case["group"] = case["fabric"]

    @staticmethod
    def without_failures(found):
        """Amounts that round down to nothing on a fabric are the fault-free cell, which comes last."""
        amounts = {}
        for case in found:
            parts = [case["links_failed"], case["switches_failed"]]
            if None not in parts and not case["undrawn"]:
                amounts.setdefault((case["fabric"], case["faults"]), []).append(
                    sum(parts) + (case["adapters_failed"] or 0))
        converted = []
        for case in found:
            if case["fault_kind"] in ("link", "switch", "both") and not case["undrawn"] and \
                    set(amounts.get((case["fabric"], case["faults"]), [1])) == {0}:
                case.update(faults="none", fault_kind="none", seed=0)
                converted.append(case)
        return converted + [case for case in found if not any(case is c for c in converted)]

    def select(self, **wanted):
        return [case for case in self.all
                if all(case[key] == value for key, value in wanted.items())]


def throughput(case):
    return case["throughput"] if case["status"] in MEASURED else None


def failed(case, kind):
    if case["fault_kind"] == "none":
        return 0
    if kind == "link":
        return case["links_failed"]
    if kind == "switch":
        return case["switches_failed"]
    if case["links_failed"] is None or case["switches_failed"] is None:
        return None
    return case["links_failed"] + case["switches_failed"] + (case["adapters_failed"] or 0)


class Curve:
    """One engine on one fabric under one traffic and one family of failures."""

    def __init__(self, cases, fabric, flow, family, name):
        own = cases.select(fabric=fabric, flow=flow, family=family, name=name)
        if all(c["undrawn"] for c in own):
            own = []
        free = cases.select(fabric=fabric, flow=flow, family="none", name=name)
        self.cells = own + free if family != "none" and own else own
        self.name = name
        self.kind = own[0]["fault_kind"] if own else None
        self.fault_free = throughput(free[0]) if free else None
        self.all = self.cells  # and without those that say nothing of the engine:
        self.cells = [c for c in self.cells if not c["undrawn"]]
        self.points = {(c["faults"], c["seed"]): (failed(c, self.kind), throughput(c))
                       for c in self.cells
                       if throughput(c) is not None and failed(c, self.kind) is not None}
        self.line = line_of(list(self.points.values()))
        self.safe = all(c["status"] == "ok" for c in self.cells)

    def at(self, faults):
        return [throughput(c) for c in self.cells
                if c["faults"] == faults and throughput(c) is not None]

    def safe_at(self, faults):
        here = [c for c in self.cells if c["faults"] == faults]
        return bool(here) and all(c["status"] == "ok" and c["throughput"] is not None for c in here)


def scenes(cases):
    """{(fabric, flow, family): {engine: curve}}"""
    found = {}
    for case in cases.all:
        if case["flow"]:
            found.setdefault((case["fabric"], case["flow"]), set()).add(case["family"])
    out = {}
    for (fabric, flow), families in found.items():
        before = len(out)
        for family in sorted(families - {"none"}) + ["none"] * ("none" in families):
            if family == "none" and len(out) > before:
                continue
            names = {c["name"] for c in cases.select(fabric=fabric, flow=flow, family=family)}
            curves = {name: Curve(cases, fabric, flow, family, name) for name in names}
            curves = {name: curve for name, curve in curves.items() if curve.cells}
            if curves:
                out[fabric, flow, family] = curves
    return out


def differences(a, b, faults=None):
    return [a.points[place][1] - b.points[place][1] for place in a.points
            if place in b.points and faults in (None, place[0])]


def by_seed(a, b, amounts):
    """Differences in the mean over all amounts, one for each seed that has all of them."""
    seeds = {seed for level, seed in a.points if level != "none"} or {0}
    out = []
    for seed in seeds:
        places = [(level, 0 if level == "none" else seed) for level in amounts]
        if all(place in a.points and place in b.points for place in places):
            out.append(sum(a.points[p][1] - b.points[p][1] for p in places) / len(places))
    return out


def choose(curves, order):
    """Safe engines compared on the cells that all have, those with the fewest left out if need be:
    {engine: score}, and the amounts."""
    cells = {name: {(c["faults"], c["seed"]): throughput(c) for c in curve.cells
                    if throughput(c) is not None} for name, curve in curves.items() if curve.safe}
    cells = {name: found for name, found in cells.items() if found}
    while cells:
        common = set.intersection(*(set(found) for found in cells.values()))
        if common:
            break
        del cells[min(cells, key=lambda name: (len(cells[name]), -order.index(name)))]
    else:
        return {}, set()
    amounts = {place[0] for place in common}
    return {name: mean([mean([found[place] for place in common if place[0] == amount])
                        for amount in amounts]) for name, found in cells.items()}, amounts


def crossing(a, b):
    """(x, low, high, the better one before) or None."""
    line = line_of([(a.points[p][0], a.points[p][1] - b.points[p][1])
                    for p in a.points if p in b.points])
    if line is None or line.slope == 0:
        return None
    x = -line.intercept / line.slope
    xs = [p[0] for p in line.points]
    if not min(xs) < x <= max(xs):
        return None
    return x, line.leaves(0, x, -1e-3), line.leaves(0, x, 1e-3), a if line.slope < 0 else b


def life(curve, seed, target):
    """(how it ended, years)"""
    before, had = 0, curve.fault_free
    for case in sorted((c for c in curve.all if c["fault_kind"] == "years" and c["seed"] == seed),
                       key=lambda c: c["fault_amount"]):
        if case["status"] in ("deadlock", "incomplete", "engine"):
            return "ended", before
        has = throughput(case)
        if has is None:
            return "unknown", None
        if has < target:
            return "fell below", before + (had - target) / (had - has) * (case["fault_amount"] - before)
        before, had = case["fault_amount"], has
    return "lasted", math.inf
