"""What batch systems say of jobs, read the obvious way: the second implementation of the readers in
src/jobs, and of what a change filter should say.

A reader gives ({(job, begin, end): set of hosts}, left out); None is a time that is not known."""
import calendar
import itertools
import json
import re
import time

RUNS = {"R": "RUNNING", "RS": "RESIZING", "SI": "SIGNALING"}
OTHERS = {"PD": "PENDING", "S": "SUSPENDED", "CG": "COMPLETING", "CF": "CONFIGURING", "ST": "STOPPED",
          "CA": "CANCELLED", "CD": "COMPLETED", "F": "FAILED", "NF": "NODE_FAIL", "TO": "TIMEOUT",
          "OOM": "OUT_OF_MEMORY", "PR": "PREEMPTED", "SO": "STAGE_OUT", "SE": "SPECIAL_EXIT"}
SILENT = {"SUSPENDED", "STOPPED", "CONFIGURING", "COMPLETING", "STAGE_OUT", "POWER_UP_NODE"}


def expand(text):
    """The names of a host list, in order."""
    names = []
    for item in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        parts = []
        for literal, inside in re.findall(r"([^\[]+)|\[([^\]]*)\]", item):
            if literal:
                parts.append([literal])
                continue
            numbers = []
            for piece in inside.split(","):
                low, _, high = piece.partition("-")
                numbers += [str(n).zfill(len(low)) for n in range(int(low), int(high or low) + 1)]
            parts.append(numbers)
        names += ["".join(choice) for choice in itertools.product(*parts)]
    return names


def compress(rng, names):
    """A host list for names, in one of many ways."""
    groups, items = {}, []
    for name in names:
        found = list(re.finditer(r"\d+", name))
        if not found or rng.random() < 0.1:
            items.append(name)
            continue
        match = rng.choice(found) if rng.random() < 0.3 else found[-1]
        groups.setdefault((name[:match.start()], name[match.end():]), set()).add(match.group())
    for (before, after), digits in groups.items():
        ranges = []
        for text in sorted(digits, key=lambda d: (len(d), d)):
            last = ranges[-1] if ranges else None
            # the next number, written with the digits that the range would give it
            if last and rng.random() < 0.95 and int(text) == int(last[1]) + 1 and \
                    text == str(int(text)).zfill(len(last[0])):
                last[1] = text
            else:
                ranges.append([text, text])
        rng.shuffle(ranges)
        written = ["%s-%s" % (a, b) if a != b or rng.random() < 0.05 else a for a, b in ranges]
        if len(written) == 1 and "-" not in written[0]:
            items.append(before + written[0] + after)
        else:
            items.append("%s[%s]%s" % (before, ",".join(written), after))
    rng.shuffle(items)
    return ",".join(items)


class Sheet:
    def __init__(self):
        self.jobs, self.left_out = {}, 0

    def add(self, job, begin, end, hosts):
        self.jobs.setdefault((job.split("+")[0], begin, end), set()).update(hosts)

    @property
    def result(self):
        return self.jobs, self.left_out


def runs(state):
    return state in RUNS or state in RUNS.values()


def read_squeue_bars(text):
    """-h -o "%i|%T|%N", or between blanks."""
    sheet = Sheet()
    for line in text.splitlines():
        words = line.split("|") if "|" in line else line.split()
        if runs(words[1]) and len(words) > 2 and words[2]:
            sheet.add(words[0], None, None, expand(words[2]))
        else:
            sheet.left_out += 1
    return sheet.result


def read_squeue_columns(text):
    """The columns that squeue prints if it is not told otherwise: widths tell them apart."""
    sheet = Sheet()
    for line in text.splitlines()[1:]:
        job, state, nodes = line[:18].strip(), line[47:49].strip(), line[68:].strip()
        if runs(state):
            sheet.add(job, None, None, expand(nodes))
        else:
            sheet.left_out += 1
    return sheet.result


def seconds(text):
    if text.isdigit():
        return int(text)
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def moment(text):
    """A time as selvage's JSON has it."""
    return None if text is None else calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def read_sacct(text):
    sheet = Sheet()
    lines = text.splitlines()
    titles = lines[0].split("|")
    for line in lines[1:]:
        job = dict(zip(titles, line.split("|")))
        if "." in job["JobID"]:
            continue
        begin = None if job["Start"] in ("Unknown", "None") else seconds(job["Start"])
        end = None if job["End"] == "Unknown" else seconds(job["End"])
        if begin is None or job["NodeList"] in ("", "None assigned") or job.get("State") == "PENDING" or \
                (end is not None and end <= begin):
            sheet.left_out += 1
        else:
            sheet.add(job["JobID"], begin, end, expand(job["NodeList"]))
    return sheet.result


def read_swf(text):
    sheet = Sheet()
    start = 0
    for line in text.splitlines():
        if line.startswith(";"):
            found = re.match(r";\s*UnixStartTime:\s*(\d+)", line)
            start = int(found[1]) if found else start
            continue
        words = line.split()
        submit, wait, run = (int(float(word)) for word in words[1:4])
        hosts = set(re.findall(r"\d+", words[18])) if len(words) > 18 and words[18][0] == "{" else set()
        if submit < 0 or wait < 0 or run <= 0 or not hosts:
            sheet.left_out += 1
            continue
        begin = submit + wait + (start if submit < start else 0)
        sheet.add(words[0], begin, begin + run, hosts)
    return sheet.result


def number(value):
    if isinstance(value, dict):
        return value["number"] if value.get("set", True) and not value.get("infinite") else None
    return value


def states_of(job):
    states = job["job_state"]
    return states if isinstance(states, list) else [states]


def is_running(job):
    states = states_of(job)
    return any(runs(state) for state in states) and not SILENT & set(states)


def some_run(text):
    """Whether jobs run, with nodes or without."""
    return any(is_running(job) for job in json.loads(text)["jobs"])


def read_json(text):
    sheet = Sheet()
    for job in json.loads(text)["jobs"]:
        nodes = job.get("nodes") or (job.get("job_resources") or {}).get("nodes") or ""
        nodes = nodes["list"] if isinstance(nodes, dict) else nodes
        if not is_running(job) or not nodes:
            sheet.left_out += 1
            continue
        name = str(number(job["job_id"]))
        if number(job.get("het_job_id")):
            name = str(number(job["het_job_id"]))
        elif number(job.get("array_job_id")) and number(job.get("array_task_id")) is not None:
            name = "%d_%d" % (number(job["array_job_id"]), number(job["array_task_id"]))
        sheet.add(name, number(job.get("start_time")) or None, None, expand(nodes))
    return sheet.result


def jobs_on(result, at):
    """The hosts of each job at a moment; None: of those that have not ended."""
    jobs = {}
    for (job, begin, end), hosts in result[0].items():
        if end is None if at is None else (begin is None or begin <= at) and (end is None or at < end):
            jobs.setdefault(job, set()).update(hosts)
    return jobs


class Fabric:
    """Which ports, on which switch, answer to a name: from selvage's JSON."""

    def __init__(self, about):
        switches = {switch["node"] for switch in about["switches"]}
        self.switch, self.ports = {}, {}
        for cable in about["cables"]:
            for a, b in (("a", "b"), ("b", "a")):
                if cable[a] in switches and cable[b] not in switches:
                    self.switch[cable[b]] = cable[a]
        names = {adapter["adapter"]: adapter["name"] for adapter in about["adapters"]}
        for terminal in about["terminals"]:
            name = names[terminal["adapter"]]
            for called in {name, name.split(" ")[0]}:
                self.ports.setdefault(called, set()).add(terminal["node"])

    def place(self, jobs):
        """Of each job that is somewhere its ports."""
        placed = {job: frozenset().union(*(self.ports.get(host, ()) for host in hosts))
                  for job, hosts in jobs.items()}
        return {job: ports for job, ports in placed.items() if ports}

    def several(self, ports):
        return len({self.switch[port] for port in ports}) > 1
