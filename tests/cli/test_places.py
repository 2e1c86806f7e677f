"""Whatever is wrong in a text file is told with its place, as compilers do: `file:line: what`."""
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402


class Base(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-places-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)
        return self.path(name)

    def refused(self, name, line, text, *arguments, stdin=None):
        """Exit code 3, and a message that begins with the place."""
        result = selvage(*arguments, stdin=stdin)
        self.assertEqual(result.code, 3, result.err)
        last = result.err.splitlines()[-1]
        self.assertRegex(last, "^selvage: %s:%d: " % (re.escape(name), line))
        self.assertIn(text, last)


class Goal(Base):
    def goal(self, line, text, *lines):
        path = self.write("g.goal", "\n".join(lines) + "\n")
        for verb in "check", "info":
            self.refused(path, line, text, "trace", verb, path)
        self.refused(path, line, text, "sim", "mesh:2x2", "-e", "dor", "--trace", path)
        self.refused("<stdin>", line, text, "trace", "check", "-", stdin="\n".join(lines).encode())

    def test_what_is_no_schedule(self):
        self.goal(3, "'5' where a rank of those there are", "num_ranks 2", "rank 0 {", "l1: send 10b to 5 tag 1", "}")
        self.goal(4, "label 'l2' is not there", "num_ranks 2", "rank 0 {", "l1: calc 5", "l1 requires l2", "}")

    def test_what_does_not_fit_together(self):
        """Messages that nobody sends have the line of their receive."""
        self.goal(4, "there is no message for this receive", "num_ranks 2", "rank 0 {", "l1: send 9b to 1 tag 7",
                  "l2: recv 10b from 1 tag 1", "}", "rank 1 {", "l1: recv 9b from 0 tag 7", "}")
        self.goal(9, "there is no message for this receive", "num_ranks 2", "rank 0 {", "// nothing but", "/* a",
                  "comment */", "l1: calc 10", "}", "rank 1 {", "l2: recv 10b from 0 tag 1", "}")


JOBS = [{"job_id": 1, "job_state": "RUNNING", "nodes": "host0", "start_time": 5},
        {"job_id": 2, "job_state": ["RUNNING"], "nodes": "host1", "start_time": {"set": True, "number": 6}},
        {"job_id": 3, "job_state": "RUNNING", "nodes": "host2,host3", "start_time": 7}]


class Json(Base):
    def text(self, change=None, **more):
        """A list of jobs that begins in line 4 and has seven lines a job."""
        jobs = json.loads(json.dumps(JOBS))
        if change is not None:
            change(jobs)
        return '{\n"meta": {"a": [1, "}]", {"b\\"": null}]},\n"jobs": [\n%s\n]%s}\n' % (
            ",\n".join(json.dumps(job, indent=1) for job in jobs),
            "".join(', "%s": %s' % (key, json.dumps(value)) for key, value in more.items()))

    def jobs(self, line, text, change=None, **more):
        content = self.text(change, **more)
        path = self.write("jobs.json", content)
        self.refused(path, line, text, "jobs", "read", path)
        self.refused("<stdin>", line, text, "jobs", "read", "-", stdin=content.encode())

    def test_what_is_no_json(self):
        self.refused(self.write("a.json", '{\n"jobs": [\n{,}]}'), 3, "", "jobs", "read", self.path("a.json"))

    def test_jobs(self):
        ok("jobs", "read", self.write("good.json", self.text()))
        lines = self.text().splitlines()
        where = [i + 1 for i, line in enumerate(lines) if line == "{"][1:]
        self.assertEqual(len(where), 3)
        for i, line in enumerate(where):
            self.jobs(line, "jobs[%d]: no job_state" % i, lambda jobs, i=i: jobs[i].pop("job_state"))
            self.jobs(line, "jobs[%d]: nodes 'n[3': " % i, lambda jobs, i=i: jobs[i].update(nodes="n[3"))
            self.jobs(line, "jobs[%d]: it runs, and there is no nodes" % i, lambda jobs, i=i: jobs[i].pop("nodes"))
        self.jobs(where[1], "jobs[1]: not an object", lambda jobs: jobs.__setitem__(1, 17))

    def test_lists_that_are_none(self):
        self.refused(self.write("x.json", '{\n"jobs": 7}'), 2, "no list of jobs in it", "jobs", "read", self.path("x.json"))
        self.refused(self.write("y.json", '{\n\n"other": []}'), 1, "no list of jobs in it", "jobs", "read",
                     self.path("y.json"))
        lines = self.text(errors=[{"description": "no"}]).count("\n")
        self.jobs(lines, "Slurm reports an error: no", errors=[{"description": "no"}])
        self.refused(self.write("z.json", json.dumps([{"job_id": 1, "job_state": "NONSENSE"}], indent=1)), 2,
                     "jobs[0]: job_state is not", "jobs", "read", self.path("z.json"))

    def test_nodes_of_netloc(self):
        nodes = {"0002:c903:0006:dc31": {"node_type": "1", "desc": "s"},
                 "0002:c903:0006:dc32": {"node_type": "2", "desc": "h", "log_id": "4"}}
        edges = {"1": {"src_node_id": "0002:c903:0006:dc31", "dest_node_id": "0002:c903:0006:dc32", "src_port_id": "1",
                       "dest_port_id": "1"},
                 "2": {"src_node_id": "0002:c903:0006:dc32", "dest_node_id": "0002:c903:0006:dc31", "src_port_id": "1",
                       "dest_port_id": "1"}}

        def content(node_info, edge_info):
            return '{"node_info": {\n%s\n},\n"edge_info": {\n%s\n}}\n' % tuple(
                ",\n".join('"%s": %s' % (key, json.dumps(value)) for key, value in things.items())
                for things in (node_info, edge_info))

        def without(things, key, member):
            changed = json.loads(json.dumps(things))
            del changed[key][member]
            return changed
        path = self.write("n.ndat", content(nodes, edges))
        ok("info", path)
        second = list(nodes)[1]
        for line, text, changed in (
                (2, "has no node_type", content(without(nodes, list(nodes)[0], "node_type"), edges)),
                (3, "has no node_type", content(without(nodes, second, "node_type"), edges)),
                (3, "is not a GUID", content({**nodes, second: nodes[second]}, edges).replace('"%s": {"node' % second,
                                                                                              '"what": {"node')),
                (6, "edge 1 lacks a node", content(nodes, without(edges, "1", "dest_node_id"))),
                (7, "edge 2 lacks a port", content(nodes, without(edges, "2", "src_port_id"))),
                (6, "which leads to \"nobody\" port 1 (line 7)", content(nodes, {**edges, "2": {**edges["2"], "dest_node_id": "nobody"}}))):
            with self.subTest(text):
                path = self.write("n.ndat", changed)
                self.refused(path, line, text, "info", path)


class Guids(Base):
    SPEC = "kary:k=2,n=2,hosts=2"

    def setUp(self):
        super().setUp()
        ok("convert", self.SPEC, "-f", "root-guids", "-o", self.path("roots"))
        ok("convert", self.SPEC, "-f", "cn-guids", "-o", self.path("hosts"))

    def content(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def test_none_of_them_is_there(self):
        for kind, verb in (("switch", ("route", self.SPEC, "-e", "updn", "--roots")),
                           ("host", ("route", self.SPEC, "-e", "ftree", "--order")),
                           ("host", ("sim", self.SPEC, "-e", "updn", "--order"))):
            path = self.write("wrong", "# comment\n\n0x5\n0x6\n")
            self.refused(path, 3, "none of its GUIDs is a %s of the fabric, 0x0000000000000005 is the first" % kind,
                         *verb, path)
            path = self.write("empty", "# comment\n\n")
            self.refused(path, 2, "no GUIDs in it", *verb, path)
            path = self.write("words", "# comment\n0x5\nhost0\n")
            self.refused(path, 3, "'host0' is not a GUID", *verb, path)

    def test_some_are_not_there(self):
        for kind, good, verb in (("switch", "roots", ("route", self.SPEC, "-e", "updn", "--roots")),
                                 ("host", "hosts", ("route", self.SPEC, "-e", "ftree", "--order")),
                                 ("host", "hosts", ("sim", self.SPEC, "-e", "updn", "--order")),
                                 ("host", "hosts", ("route", self.SPEC, "-e", "ftree", "--cn-guids")),
                                 ("host", "hosts", ("convert", self.SPEC, "-f", "json", "--io-guids"))):
            first, second = self.content(good).splitlines()[:2]
            path = self.write("some", "%s\n0x5\n0x6\n%s\n" % (first, second))
            self.assertEqual(ok(*verb, path).err, "selvage: warning: %s:2: 0x0000000000000005 is no %s of the fabric, nor "
                             "is 1 more GUID of this file\n" % (path, kind))
            path = self.write("one", "%s\n%s\n0x7" % (first, second))
            self.assertEqual(ok(*verb, path).err,
                             "selvage: warning: %s:3: 0x0000000000000007 is no %s of the fabric\n" % (path, kind))


class Others(Base):
    def test_jobs_without_nodes_in_the_fabric(self):
        path = self.write("map", "# job map\nnowhere 1\nnobody 2\n")
        self.refused(path, 3, "none of the 2 nodes", "route", "mesh:2x2", "--jobs", path)
        table = "JOBID ST NODELIST\n1 R nowhere\n2 R nobody\n"
        path = self.write("squeue", table)
        self.refused(path, 2, "none of the 2 hosts is in the fabric", "jobs", "read", path, "--fabric", "mesh:2x2")
        path = self.write("squeue1", "JOBID ST NODELIST\n1 R nowhere\n")
        self.refused(path, 2, "the only host is not in the fabric", "jobs", "read", path, "--fabric", "mesh:2x2")
        path = self.write("nodeless", "JOBID|STATE|NODELIST\n7|PENDING|\n1|RUNNING|\n")
        self.refused(path, 3, "nodes are told of none", "jobs", "read", path)

    def test_what_is_no_trace(self):
        path = self.write("x.svt", "nonsense\n")
        self.refused(path, 1, "no trace: neither", "trace", "info", path)


if __name__ == "__main__":
    unittest.main()
