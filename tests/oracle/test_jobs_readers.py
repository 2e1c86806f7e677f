"""selvage jobs read and jobs filter against the slow second implementation of jobs_oracle.py, on random
files of each format. Host lists go both ways: sets of hosts are written as lists in many ways, and
read again; where scontrol is installed, it is asked, too.

Run: python3 -B tests/oracle/test_jobs_readers.py [TRIALS [SEED]]
"""
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import jobs_oracle as oracle
from support.command import ok, selvage
from support.trials import arguments

TRIALS, SEED = arguments(60)
TITLES = "%18s %9s %8s %8s %2s %10s %6s %s\n" % ("JOBID", "PARTITION", "NAME", "USER", "ST", "TIME",
                                               "NODES", "NODELIST(REASON)")
REASONS = ("(Resources)", "(Priority)", "(ReqNodeNotAvail, UnavailableNodes:n[1-2])",
           "(Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions)")
NAMES = ("wrap", "my job", "a R b", "x  y", "(PD)", "job|3", "R", "12", "n[1-3]")
EVIL = ("", "R", "PENDING", "RUNNING x", "x|R|n1", "7 R n1", "S n2", "a b c d e", "PD|", "(x)")
NETS = ("kary:k=3,n=2,hosts=3", "torus:3x3,hosts=2", "mesh:4,hosts=5", "fullmesh:6,hosts=3")


def machine(rng):
    """Names of hosts, of one kind or another."""
    kind = rng.randint(0, 5)
    count = rng.choice((1, 3, 12, 40, 150))
    if kind == 0:
        return ["n%d" % i for i in range(count)]
    if kind == 1:
        return ["n%03d" % i for i in range(95, 95 + count)]
    if kind == 2:
        return ["r%dn%02d" % (i // 12, i % 12) for i in range(count)]
    if kind == 3:
        return ["n%d-ib" % (i * 3) for i in range(count)] + ["login", "gpu7"]
    if kind == 4:
        return ["rack%02d.c%d.b%03d" % (i // 20, i // 5 % 4, i % 5) for i in range(count)]
    return sorted({form % i for i in range(9, 9 + count) for form in ("n%d", "n%03d")})


def some(rng, hosts):
    return rng.sample(hosts, min(len(hosts), rng.choice((1, 1, 2, 5, 30, 200))))


def random_id(rng):
    base = str(rng.randint(1, 60))
    return base + rng.choice(("", "", "", "_%d" % rng.randint(0, 5), "+%d" % rng.randint(0, 2)))


def random_state(rng):
    code = rng.choice(list(oracle.RUNS) * 4 + ["R"] * 30 + list(oracle.OTHERS))
    return code, dict(oracle.RUNS, **oracle.OTHERS)[code]


def write_bars(rng, hosts):
    bars, lines = rng.random() < 0.5, []
    for _ in range(rng.choice((1, 5, 50))):
        state = rng.choice(random_state(rng))
        nodes = "" if state in ("PD", "PENDING") else oracle.compress(rng, some(rng, hosts))
        lines.append(("|" if bars else " ").join((random_id(rng), state, nodes)))
    return "\n".join(lines) + "\n", oracle.read_squeue_bars


def write_columns(rng, hosts):
    text = TITLES
    for _ in range(rng.choice((0, 5, 50))):
        code, _ = random_state(rng)
        chosen = some(rng, hosts)
        waits = code in ("PD", "CA", "TO", "F", "OOM", "CD", "NF")
        nodes = rng.choice(REASONS) if waits else oracle.compress(rng, chosen)
        text += "%18s %9s %8s %8s %2s %10s %6d %s\n" % (
            random_id(rng), "batch", rng.choice(NAMES)[:8], "bob", code[:2], "1-02:03:04", len(chosen), nodes)
    return text, oracle.read_squeue_columns


def written_time(rng, moment):
    return str(moment) if rng.random() < 0.1 else time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


def write_sacct(rng, hosts):
    titles = ["JobID", "Start", "End", "State", "NodeList", "JobName", "Elapsed"]
    rng.shuffle(titles)
    lines = ["|".join(titles)]
    for _ in range(rng.choice((1, 5, 50))):
        begin = 1700000000 + rng.randint(0, 100000)
        end = begin + rng.choice((0, 1, 5000, 50000))
        job = dict(JobID=random_id(rng), Start=written_time(rng, begin), End=written_time(rng, end),
                   State=rng.choice(("COMPLETED", "RUNNING", "CANCELLED by 12", "PENDING")),
                   NodeList=oracle.compress(rng, some(rng, hosts)), JobName="x y", Elapsed="01:00")
        if rng.random() < 0.2:
            job["End"] = "Unknown"
        if rng.random() < 0.1:
            job.update(Start="Unknown", NodeList="None assigned")
        lines.append("|".join(job[title] for title in titles))
        if rng.random() < 0.5:
            job["JobID"] += rng.choice((".batch", ".0", ".extern"))
            lines.append("|".join(job[title] for title in titles))
    return "\n".join(lines) + "\n", oracle.read_sacct


def write_swf(rng, _):
    start = rng.choice((0, 0, 1700000000))
    lines = ["; Version: 2.2", "; UnixStartTime: %d" % start] if start else []
    for job in range(rng.choice((1, 5, 50))):
        submit = rng.randint(0, 100000) + rng.choice((0, start))
        run = rng.choice((-1, 0, 1, 5000, 50000))
        hosts = [str(rng.randint(1, 30)) for _ in range(rng.choice((1, 2, 20)))]
        numbers = [job, submit, rng.choice((-1, 0, 7, 5000)), run] + [rng.randint(-1, 9) for _ in range(14)]
        words = [str(number) for number in numbers]
        if rng.random() < 0.95 or not job:
            words.append("{%s}" % ",".join(h for h in hosts for _ in range(rng.randint(1, 3))))
            words += rng.choice(([], ["q_2w", "1:ppn=12"]))
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n", oracle.read_swf


def written_number(rng, style, value):
    if style == 0:
        return value
    return dict(set=value is not None, infinite=False, number=value or 0)


def write_json(rng, hosts):
    style, jobs = rng.randint(0, 1), []
    for _ in range(rng.choice((0, 5, 50))):
        _, state = random_state(rng)
        nodes = "" if rng.random() < 0.1 else oracle.compress(rng, some(rng, hosts))
        job = dict(job_id=rng.randint(1, 60), job_state=state, nodes=nodes,
                   start_time=written_number(rng, style, rng.choice((0, 1700000000, 1700000500))),
                   array_job_id=written_number(rng, style, rng.choice((0, 0, 61, 62))),
                   array_task_id=written_number(rng, style, rng.choice((None, 0, 3))),
                   het_job_id=written_number(rng, style, rng.choice((0, 0, 0, 63))))
        if style:
            job["job_state"] = [state] + rng.choice(([], [], ["RESIZING"], ["COMPLETING"], ["NEW_WORD"]))
        if rng.random() < 0.3:
            job["nodes"] = ""
            job["job_resources"] = dict(nodes=rng.choice((nodes, dict(count=1, list=nodes))))
        jobs.append(job)
    about = dict(jobs=jobs, errors=[], meta=dict(x="{\"jobs\": 7}"))
    return json.dumps(about, indent=rng.choice((None, 1))), oracle.read_json


def write_titles(rng, hosts):
    """Any columns in any order, under titles, names that look like anything between them. What is
    meant is known here: ({job: hosts}, left out), and whether a name can be in the way."""
    columns = ["JOBID", rng.choice(("ST", "STATE")), rng.choice(("NODELIST", "NODELIST(REASON)"))]
    columns += rng.sample(("NAME", "USER", "NODES", "PARTITION", "COMMENT", "TIME"), rng.randint(0, 4))
    if rng.random() < 0.1:
        columns.pop(1)  # then all that have nodes run
    rng.shuffle(columns)
    bars = rng.random() < 0.5
    lines, jobs, left_out, names = [(" |"[bars]).join(columns)], {}, 0, {"NAME", "COMMENT"} & set(columns)
    names = names or not {"ST", "STATE"} & set(columns)
    for number in range(rng.choice((1, 2, 8))):
        code, state = random_state(rng)
        chosen = some(rng, hosts)
        nodes = oracle.compress(rng, chosen)
        if code in ("PD", "CA", "TO", "F", "OOM", "CD", "NF"):
            nodes = rng.choice(REASONS) if "NODELIST(REASON)" in columns else ""
        if not {"ST", "STATE"} & set(columns) and nodes[:1] not in ("", "("):
            code = "R"
        text = {"JOBID": str(number), "ST": code, "STATE": state, "NODELIST": nodes, "NODELIST(REASON)": nodes,
                "NAME": rng.choice(NAMES + EVIL), "COMMENT": rng.choice(NAMES + EVIL), "USER": "bob",
                "NODES": str(len(chosen)), "PARTITION": "batch", "TIME": "0:05"}
        lines.append((" |"[bars]).join(text[column] for column in columns))
        if oracle.runs(code):
            jobs[str(number)] = set(chosen)
        else:
            left_out += 1
    return "\n".join(lines) + "\n", jobs, left_out, names


WRITERS = (write_bars, write_columns, write_sacct, write_swf, write_json)


class Readers(unittest.TestCase):
    def read(self, text, *options):
        return ok("jobs", "read", "-", "--json", *options, stdin=text.encode()).json

    def check(self, text, reader, at):
        jobs, left_out = reader(text)
        if not jobs and reader == oracle.read_json and oracle.some_run(text):
            self.assertEqual(selvage("jobs", "read", "-", stdin=text.encode()).code, 3, text)
            return {}
        told = self.read(text, *(() if at is None else ("--at", str(at))))
        found = {(job["job"], oracle.moment(job["begin"]), oracle.moment(job["end"])): set(job["hosts"])
                 for job in told["jobs"]}
        self.assertEqual(len(found), len(told["jobs"]))
        wanted = {key: hosts for key, hosts in jobs.items()
                  if oracle.jobs_on(({key: hosts}, 0), at)}
        self.assertEqual(found, wanted, text)
        self.assertEqual(told["left_out"], left_out, text)
        self.assertEqual(told["running"], len({job for job, _, _ in wanted}))
        return wanted

    def test_random_files(self):
        seen = collections.Counter()
        json_is_read = selvage("jobs", "read", "-", stdin=b"{\"jobs\": []}").code == 0
        if not json_is_read:
            print("skipped: JSON: this build has no jansson")
        for trial in range(TRIALS):
            for writer in WRITERS if json_is_read else WRITERS[:-1]:
                rng = random.Random("%s %d %d" % (writer.__name__, SEED, trial))
                text, reader = writer(rng, machine(rng))
                moments = [None]
                if reader in (oracle.read_sacct, oracle.read_swf):
                    edges = [edge for _, begin, end in reader(text)[0] for edge in (begin, end) if edge]
                    moments = [rng.choice(edges) + rng.randint(-1, 1) for _ in range(3) if edges]
                for at in moments:
                    seen[reader] += bool(self.check(text, reader, at))
        for reader, count in seen.items():
            if TRIALS >= 60:  # else it is a matter of luck
                self.assertGreater(count, TRIALS // 3, reader)

    def test_titles_in_any_order(self):
        """Whatever names say, a job is never taken for another: what cannot be told is refused."""
        taken = refused = 0
        for trial in range(10 * TRIALS):
            rng = random.Random(SEED * 65537 + trial)
            text, jobs, left_out, names = write_titles(rng, machine(rng))
            result = selvage("jobs", "read", "-", "--json", stdin=text.encode())
            if result.code == 3 and names:
                refused += 1
                continue
            self.assertEqual(result.code, 0, text + result.err)
            told = result.json
            self.assertEqual({job["job"]: set(job["hosts"]) for job in told["jobs"]}, jobs, text)
            self.assertEqual(told["left_out"], left_out, text)
            taken += 1
        self.assertGreater(taken, 2 * refused)

    def test_maps_go_round(self):
        """What is written as a map says the same, line by line in natural order."""
        for trial in range(max(1, TRIALS // 3)):
            rng = random.Random(SEED * 7919 + trial)
            text, reader = write_bars(rng, machine(rng))
            once = ok("jobs", "read", "-", stdin=text.encode()).out
            self.assertEqual(ok("jobs", "read", "-", stdin=once.encode()).out, once)
            lines = [tuple(line.split()) for line in once.splitlines()[1:]]
            wanted = {(host, job) for job, hosts in oracle.jobs_on(reader(text), None).items()
                      for host in hosts}
            self.assertEqual(set(lines), wanted)
            self.assertEqual(len(lines), len(wanted))

            def key(name):
                parts = oracle.re.split(r"(\d+)", name)
                return [(int(p), "") if p.isdigit() else (-1, p) for p in parts if p]
            hosts = [host for host, _ in lines]
            for a, b in zip(hosts, hosts[1:]):
                if a[0].isalpha() and b[0].isalpha() and key(a)[0] == key(b)[0]:
                    self.assertLessEqual(key(a), key(b), (a, b))

    def test_host_lists_as_slurm_reads_them(self):
        scontrol = shutil.which("scontrol")
        if scontrol is None:
            self.skipTest("scontrol is not installed (Debian: slurm-client)")
        with tempfile.TemporaryDirectory(prefix="selvage-hosts-") as directory:
            conf = os.path.join(directory, "slurm.conf")
            with open(conf, "w") as file:
                file.write("ClusterName=x\nSlurmctldHost=localhost\n")

            def slurm(what, text):
                return subprocess.run([scontrol, "show", what, text], check=True, stdout=subprocess.PIPE,
                                      env=dict(os.environ, SLURM_CONF=conf)).stdout.decode().split()
            asked = 0
            for trial in range(TRIALS):
                rng = random.Random(SEED * 104729 + trial)
                written = oracle.compress(rng, some(rng, machine(rng)))
                if trial % 3 == 0:
                    a, b = rng.randint(0, 12), rng.randint(0, 12)
                    written = "r[%d-%d]n[%02d-%02d,77],x" % (a, a + rng.randint(0, 3), b, b + rng.randint(0, 9))
                if oracle.re.search(r"\][^\[,]+(,|$)", written):
                    continue  # letters behind the last bracket: other versions of Slurm only
                asked += 1
                names = slurm("hostnames", written)
                self.assertEqual(oracle.expand(written), names, written)
                self.hosts_are(written, names)
                again = slurm("hostlist", ",".join(names))[0]  # as Slurm would write it
                self.hosts_are(again, names)
            if TRIALS >= 60:  # else it is a matter of luck
                self.assertGreater(asked, TRIALS // 2)

    def hosts_are(self, written, names):
        told = self.read("1|RUNNING|%s\n" % written)
        self.assertEqual(sorted(told["jobs"][0]["hosts"]), sorted(set(names)), written)


class Filter(unittest.TestCase):
    def test_random_days(self):
        """Jobs come and go; what the filter says is what two lists of sets say."""
        answers = collections.Counter()
        for trial in range(max(2, TRIALS // 6)):
            rng = random.Random(SEED * 31337 + trial)
            spec = rng.choice(NETS)
            fabric = oracle.Fabric(ok("topo", spec, "--format", "json").json)
            hosts = sorted(fabric.ports)
            with tempfile.TemporaryDirectory(prefix="selvage-filter-") as directory:
                self.day(rng, spec, fabric, hosts, os.path.join(directory, "map"), answers)
        if TRIALS >= 60:  # else it is a matter of luck
            self.assertGreater(answers[0], TRIALS // 6)
        if TRIALS >= 60:  # else it is a matter of luck
            self.assertGreater(answers[1], TRIALS // 12)

    def day(self, rng, spec, fabric, hosts, path, answers):
        jobs, before, number = {}, None, 0
        for _ in range(12):
            for job in list(jobs):
                if rng.random() < 0.15:
                    nodes = jobs.pop(job)
                    if rng.random() < 0.6:  # another job on the same nodes
                        number += 1
                        jobs["9%d" % number] = nodes
            if rng.random() < 0.4:
                number += 1
                jobs["%d" % number] = some(rng, hosts + ["gone1"])[:rng.choice((1, 2, 4, 9))]
            titles = "JOBID|STATE|NODELIST\n" if not jobs or rng.random() < 0.5 else ""
            text = titles + "".join("%s|R|%s\n" % (job, oracle.compress(rng, jobs[job]))
                           for job in rng.sample(sorted(jobs), len(jobs)))
            placed = fabric.place(jobs)
            now = collections.Counter(ports for ports in placed.values() if fabric.several(ports))
            wanted = 1 if before == now else 0
            result = selvage("jobs", "filter", spec, "-", "--map", path, "--json", stdin=text.encode())
            if jobs and not placed:  # as if it were another's fabric
                self.assertEqual(result.code, 3, result.err)
                continue
            self.assertEqual(result.code, wanted, (text, result.err))
            told, old = result.json, before or collections.Counter()
            self.assertEqual((told["new"], told["gone"], told["same"]),
                             (sum((now - old).values()), sum((old - now).values()), sum((now & old).values())))
            self.assertEqual(told["homeless"], len(jobs) - len(placed))
            self.assertEqual(told["one_switch"], len(placed) - sum(now.values()))
            self.assertEqual(told["terminals"], len(frozenset().union(*now)))
            with open(path) as file:
                held = collections.defaultdict(set)
                for line in file.read().splitlines()[1:]:
                    held[line.split()[1]].add(line.split()[0])
            self.assertEqual(collections.Counter(fabric.place(held).values()), now)
            answers[wanted] += 1
            before = now


if __name__ == "__main__":
    unittest.main()
