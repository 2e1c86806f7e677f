"""
Histories of jobs a second time, slowly: scheduling from its rules, host lists, and replays from the
definitions (thesis 5.1, 5.2.2.1, 5.3.2).
"""
import datetime
import re
from collections import Counter

import metrics_oracle

EPOCH = datetime.datetime(1970, 1, 1)


# Histories ----------------------------------------------------------------------------------------

def expand(text):
    """The names of a host list with at most one pair of brackets a name."""
    names = []
    for word in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        found = re.fullmatch(r"([^\[]*)\[(.*)\]", word)
        if not found:
            names.append(word)
            continue
        for part in found[2].split(","):
            low, _, high = part.partition("-")
            for number in range(int(low), int(high or low) + 1):
                names.append("%s%0*d" % (found[1], len(low), number))
    return names


def seconds(date):
    return int((datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%S") - EPOCH).total_seconds())


def read_sacct(text):
    """[(job, begin, end, state, hosts)]"""
    lines = text.splitlines()
    assert lines[0] == "JobID|Start|End|State|NodeList", lines[0]
    rows = [line.split("|") for line in lines[1:]]
    return [(job, seconds(begin), seconds(end), state, expand(hosts))
            for job, begin, end, state, hosts in rows]


# Scheduling ---------------------------------------------------------------------------------------

def runs_of(free):
    """Runs of consecutive numbers among free ones: [[4, 5, 6], [9]]."""
    runs = []
    for node in sorted(free):
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def choose(free, wanted, best):
    """Nodes for a job: the lowest, or from the shortest run that has enough, else the longest."""
    if not best:
        return sorted(free)[:wanted]
    taken, free = [], set(free)
    while len(taken) < wanted:
        need, runs = wanted - len(taken), runs_of(free)
        enough = [run for run in runs if len(run) >= need]
        run = min(enough, key=len) if enough else max(runs, key=len)
        taken += run[:need]
        free -= set(run[:need])
    return sorted(taken)


def schedule(jobs, hosts, until, best):
    """
    EASY backfilling. jobs: [(submit, nodes, limit, run)] by submit. Returns for each job (begin,
    promised, nodes) or None. Second by second it would be too slow; so from event to event, with
    everything computed anew each time.
    """
    result, promised = [None] * len(jobs), [None] * len(jobs)
    queue, running, coming = [], {}, list(range(len(jobs)))
    while True:
        events = [jobs[i][0] for i in coming[:1]] + [running[i][0] + jobs[i][3] for i in running]
        if not events or min(events) >= until:
            return [(r and (r[0], p, r[1])) for r, p in zip(result, promised)], promised
        now = min(events)
        running = {i: r for i, r in running.items() if r[0] + jobs[i][3] > now}
        while coming and jobs[coming[0]][0] <= now:
            queue.append(coming.pop(0))

        def begin(i):
            free = set(range(hosts)) - {n for r in running.values() for n in r[1]}
            result[i] = running[i] = (now, choose(free, jobs[i][1], best))

        def free_nodes():
            return hosts - sum(jobs[i][1] for i in running)

        while queue and jobs[queue[0]][1] <= free_nodes():
            begin(queue.pop(0))
        if not queue:
            continue
        # The head's reservation: try the moments at which something must have ended.
        head = jobs[queue[0]][1]
        for at in sorted({r[0] + jobs[i][2] for i, r in running.items()}):
            there = hosts - sum(jobs[i][1] for i, r in running.items() if r[0] + jobs[i][2] > at)
            if there >= head:
                break
        spare = there - head
        if promised[queue[0]] is None:
            promised[queue[0]] = at
        for i in queue[1:]:
            _, nodes, limit, _ = jobs[i]
            if nodes > free_nodes():
                continue
            if now + limit <= at:
                begin(i)
            elif nodes <= spare:
                spare -= nodes
                begin(i)
        queue = [i for i in queue if result[i] is None]


# Replays ------------------------------------------------------------------------------------------

def jobs_at(history, at, homes):
    """Jobs on several switches that run at a moment: [hosts]. homes: {host: switch}."""
    found = []
    for _, begin, end, _, hosts in history:
        if begin <= at < end and len({homes[host] for host in hosts if host in homes}) > 1:
            found.append(sorted(host for host in hosts if host in homes))
    return found


def measure(tables, guid_of, jobs):
    """The four metrics of one sample, from every route between hosts of a job."""
    total, maxima, links = Counter(), [], []
    lids = {}
    for lid, guid in tables.owner.items():
        lids.setdefault(guid, []).append(lid)
    for hosts in jobs:
        mine = Counter()
        guids = [guid_of[host] for host in hosts]
        for a in guids:
            for b in guids:
                for lid in lids[b] if a != b else ():
                    mine.update(metrics_oracle.follow(tables, a, lid))
        total += mine
        maxima.append(max(mine.values()))
        links.append(len(mine))
    channels = metrics_oracle.channels_of(tables)
    return {"max_efi": max(total.values(), default=0),
            "job_efi_avg": sum(maxima) / len(maxima) if jobs else None,
            "dark_fibre_percent": 100 * sum(total[c] == 0 for c in channels) / len(channels),
            "job_links_avg": sum(links) / len(links) if jobs else None}


def improvement(pairs, more):
    """(max, max percent, mean, mean percent) of [(engine's value, other's value)]."""
    gains = [(a - b if more else b - a) for a, b in pairs]
    percents = [100 * gain / b for gain, (_, b) in zip(gains, pairs) if b > 0]
    mean = sum(gains) / len(gains)
    other = sum(b for _, b in pairs) / len(pairs)
    return (max(gains), max(percents, default=None), mean, 100 * mean / other if other else None)
