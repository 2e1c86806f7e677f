"""Rates and Weibull shapes of a log of failures, slowly and obviously: the log is read with datetime,
likelihoods are written down as they stand in textbooks and climbed by trying, curvatures are
differences, chi-square quantiles come from adding up Poisson chances. Nothing here knows the closed
forms of src/faults."""
import datetime
import math
import re

YEAR = 365.25 * 24
SECOND = 1 / 3600
UNITS = {"s": SECOND, "min": 1 / 60, "h": 1, "d": 24, "y": YEAR}
KINDS = {"link": "link", "cable": "link", "switch": "switch", "adapter": "adapter", "nic": "adapter",
         "hca": "adapter", "software": "software", "unspecified": "unspecified",
         "unknown": "unspecified"}
HARDWARE = ("link", "switch", "adapter")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def length(text):
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


def read(text):
    """[(hours, kind, repair hours or None)] by time."""
    exact, days = [], {}
    for line in text.split("\n"):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) > 1 and re.match(r"\d\d:", words[1]):
            words[:2] = [words[0] + "T" + words[1]]
        when, kind, repair = (words + ["-"])[:3]
        event = (KINDS[kind.lower()], None if repair == "-" else length(repair))
        if re.fullmatch(r"\d{4}-\d\d-\d\d", when):
            days.setdefault(when, []).append(event)
        elif re.match(r"\d{4}-", when):
            moment = datetime.datetime.fromisoformat(when.replace("Z", "+00:00"))
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=datetime.timezone.utc)
            exact.append(((moment - EPOCH).total_seconds() / 3600,) + event)
        else:
            exact.append((length(when),) + event)
    for day, events in days.items():
        midnight = datetime.datetime.fromisoformat(day + "T00:00+00:00")
        for i, event in enumerate(events):
            hours = (midnight - EPOCH).total_seconds() / 3600 + 24 * (i + 0.5) / len(events)
            exact.append((hours,) + event)
    return sorted(exact, key=lambda event: event[0])


def climb(likelihood, low=0.01, high=100):
    """Where a function of one hill is highest, or None at an end."""
    low, high = math.log(low), math.log(high)
    ends = low, high
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if likelihood(math.exp(a)) < likelihood(math.exp(b)):
            low = a
        else:
            high = b
    best = (low + high) / 2
    return None if min(best - ends[0], ends[1] - best) < 1e-6 else math.exp(best)


def poisson_at_max(n, mean):
    """The chance of at most n events."""
    return math.fsum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(n + 1))


def chi_square_quantile(degrees, p):
    """Of an even number of degrees: n events by time x means that n gamma steps took at most x."""
    low, high = 1e-9, 10 * degrees + 100
    for _ in range(100):
        middle = (low + high) / 2
        if 1 - poisson_at_max(degrees // 2 - 1, middle / 2) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def process_shape(times, end, last_ends):
    """A Poisson process of intensity c k t^(k-1): likelihood product of intensities times the chance
    of no other events, with c at its best, n / end^k, put in."""
    n = len(times)
    if n < 3:
        return None

    def likelihood(k):
        c = n / (end / 1000) ** k
        return sum(math.log(c * k) + (k - 1) * math.log(t / 1000) for t in times) - c * (end / 1000) ** k

    best = climb(likelihood)
    if best is None:
        return None
    degrees = 2 * (n - 1 if last_ends else n)
    return (best, best * chi_square_quantile(degrees, 0.025) / (2 * n),
            best * chi_square_quantile(degrees, 0.975) / (2 * n))


def weibull_likelihood(spaces, censored, k):
    """Logarithm of the Weibull density of all spaces and of the survival of the last, with the scale
    that suits k best."""
    everything = spaces + ([censored] if censored is not None else [])
    top = max(everything)
    mean = sum((x / top) ** k for x in everything) / len(spaces)
    scale = top * mean ** (1 / k)
    value = sum(math.log(k / scale) + (k - 1) * math.log(x / scale) - (x / scale) ** k
                for x in spaces)
    return value - ((censored / scale) ** k if censored is not None else 0)


def between_shape(times, end):
    if len(times) < 4:
        return None
    spaces = [max(b - a, SECOND) for a, b in zip(times, times[1:])]
    rest = end - times[-1]
    censored = rest if rest > SECOND else None

    def likelihood(log_k):
        return weibull_likelihood(spaces, censored, math.exp(log_k))

    best = climb(lambda k: likelihood(math.log(k)))
    if best is None:
        return None
    step, at = 1e-3, math.log(best)
    curve = (likelihood(at + step) - 2 * likelihood(at) + likelihood(at - step)) / step ** 2
    error = 1.959963984540054 / math.sqrt(-curve)
    return best, best * math.exp(-error), best * math.exp(error)


def rate(n, part_years):
    """With the interval of a Poisson number: means at which so few or so many have a chance of
    2.5 %."""
    low, high = 0.0, None
    if n > 0:
        low = chi_square_quantile(2 * n, 0.025) / 2
    high = chi_square_quantile(2 * n + 2, 0.975) / 2
    return n / part_years, low / part_years, high / part_years


def fit(text, parts, begin, end):
    """begin, end: hours; end None: the last failure."""
    events = read(text)
    last_ends = end is None
    end = events[-1][0] if end is None else end
    seen = [event for event in events if begin <= event[0] <= end]
    groups = {kind: (kind,) for kind in ("link", "switch", "adapter", "software", "unspecified")}
    groups.update(hardware=HARDWARE, all=tuple(groups))
    result = {"years": (end - begin) / YEAR, "outside": len(events) - len(seen)}
    for name, kinds in groups.items():
        mine = [event for event in seen if event[1] in kinds]
        times = [max(event[0] - begin, SECOND) for event in mine]
        repairs = [event[2] for event in mine if event[2] is not None]
        result[name] = {
            "failures": len(mine), "share": len(mine) / len(seen) if seen else 0,
            "annual_rate": (rate(len(mine), parts[name] * result["years"])
                            if parts.get(name) else None),
            "mtbf_hours": (end - begin) / len(mine) if mine else None,
            "mttr_hours": sum(repairs) / len(repairs) if repairs else None, "repairs": len(repairs),
            "shape": process_shape(times, end - begin,
                                   last_ends and bool(mine) and mine[-1][0] == end),
            "between_shape": between_shape(times, end - begin)}
    return result
