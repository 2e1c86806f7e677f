"""What is wrong with a command line is exit code 2, for every verb, and a name that is nearly right
is answered with the right one; what is wrong in a file is 3."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import ok, selvage  # noqa: E402


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="selvage-usage-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = directory.name
        cls.tables = cls.path("tables")
        ok("route", "mesh:2x2,hosts=2", "-o", cls.tables)
        ok("topo", "mesh:2x2,hosts=2", "-o", cls.path("f.net"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.directory, name)

    def write(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)
        return self.path(name)

    def expect(self, code, text, *arguments):
        """A complaint in one line, nothing on standard output, no file made."""
        before = sorted(os.listdir(self.directory))
        result = selvage(*arguments)
        self.assertEqual(result.code, code, "%s: %s" % (" ".join(arguments), result.err))
        self.assertEqual(result.out, "", arguments)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn(text, result.err)
        self.assertEqual(sorted(os.listdir(self.directory)), before)


class Names(Base):
    """Names that selvage does not know, and values that its keys cannot take."""

    def check(self, *cases):
        for text, *arguments in cases:
            with self.subTest(arguments):
                self.expect(2, text, *arguments)

    def test_engines(self):
        mesh, tables = "mesh:2x2,hosts=2", self.path("x.db")
        self.check(
            ("no engine 'waeve': did you mean 'weave'?", "route", mesh, "-e", "waeve"),
            ("no engine 'warp' (there are minhop, ", "route", mesh, "-e", "warp"),
            ("no engine 'waeve': did you mean 'weave'?", "sim", mesh, "-e", "waeve"),
            ("no engine 'waeve': did you mean 'weave'?", "study", "run", "-f", mesh, "-e", "waeve", "-d", tables),
            ("no engine 'waeve': did you mean 'weave'?", "jobs", "replay", mesh, "--engines", "waeve", "h"),
            ("no engine 'waeve': did you mean 'weave'?", "jobs", "follow", mesh, "--engine", "waeve",
             "--map", self.path("map")),
            ("no engine 'waeve': did you mean 'weave'?", "route", mesh, "-e", "waeve", "--repair", self.tables))

    def test_options_of_engines(self):
        mesh = "mesh:2x2,hosts=2"
        self.check(
            ("engine weave has no option 'round': did you mean 'rounds'?", "route", mesh, "--option", "round=2"),
            ("engine weave: rounds=x is not 1-9", "route", mesh, "--option", "rounds=x"),
            ("engine weave: rounds=12 is not 1-9", "route", mesh, "--option", "rounds=12"),
            ("engine nue: lay=maybe is not auto|yes|no", "route", mesh, "-e", "nue", "--option", "lay=maybe"),
            ("engine dla: group-size=0 is not auto|N", "route", mesh, "-e", "dla", "--option", "group-size=0"),
            ("'rounds' is not NAME=VALUE", "route", mesh, "--option", "rounds"),
            ("level is 0, or 1 with qos=2", "route", mesh, "-e", "torus2qos", "--option", "level=1"),
            ("auto passes no options on: 'a=b'", "route", mesh, "-e", "auto", "--option", "a=b"),
            ("engine weave has no option 'a'", "sim", mesh, "-e", "weave", "--option", "a=b"),
            ("engine weave has no option 'a'", "study", "run", "-f", mesh, "-e", "weave,a=b", "-d", self.path("x.db")),
            ("engine weave: rounds=x is not 1-9", "study", "run", "-f", mesh, "-e", "weave,rounds=x",
             "-d", self.path("x.db")),
            ("by source and destination only", "route", mesh, "-e", "lash", "--sl", "destination"),
            ("engine minhop knows no roots", "route", mesh, "-e", "minhop", "--roots", self.path("none")),
            ("engine weave knows no order of hosts", "route", mesh, "--order", self.path("none")),
            ("engine minhop follows no jobs", "route", mesh, "-e", "minhop", "--jobs", self.path("none")))

    def test_topologies(self):
        self.check(
            ("'tours' is no family or preset: did you mean 'torus'? (selvage topo --list)", "info", "tours:4x4"),
            ("'tours' is no family or preset: did you mean 'torus'?", "topo", "tours"),
            ("'tsubame' is no family or preset: did you mean 'tsubame2'?", "topo", "tsubame"),
            ("unknown key 'hots': did you mean 'hosts'? (known: ", "topo", "torus:4x4,hots=3"),
            ("unknown key 'hots': did you mean 'hosts'? (known: ", "route", "torus:4x4,hots=3"),
            ("size '0x4' is not numbers", "info", "torus:0x4"),
            ("'tours' is no family or preset: did you mean 'torus'?", "study", "run", "-f", "tours:4x4",
             "-d", self.path("x.db")),
            ("unknown key 'hots': did you mean 'hosts'?", "study", "run", "-f", "torus:4x4,hots=3",
             "-d", self.path("x.db")))

    def test_policies_profiles_traffic(self):
        sim = ("sim", self.tables)
        study = ("study", "run", "-f", "mesh:2x2", "-e", "weave", "-d", self.path("x.db"))
        update = ("update", self.tables, self.tables, "--rehearse")
        self.check(
            ("there is no 'ugal': did you mean 'ugal-l'? (known: ", *sim, "--policy", "ugal"),
            ("'drb' has no key 'path': did you mean 'paths'? (known: ", *sim, "--policy", "drb:path=3"),
            ("paths=none is not a whole number", *sim, "--policy", "drb:paths=none"),
            ("there is no 'drbb': did you mean 'drb'?", *sim, "--policy", "drb", "--policy", "drbb"),
            ("no profile 'qrd': did you mean 'qdr'?", *sim, "--profile", "qrd"),
            ("the model has no 'vl': did you mean 'vls'?", *sim, "--set", "vl=3"),
            ("'uniforn' is no pattern: did you mean 'uniform'? (there are: ", *sim, "-t", "uniforn"),
            ("unknown key 'lod': did you mean 'load'?", *sim, "-t", "uniform:lod=1"),
            ("load=7 is not a load", *sim, "-t", "uniform:load=7"),
            ("'uniforn' is no pattern: did you mean 'uniform'?", *study, "-t", "uniforn"),
            ("unknown key 'lod': did you mean 'load'?", *study, "-t", "uniform:lod=1"),
            ("no profile 'qrd': did you mean 'qdr'?", *study, "-p", "qrd"),
            ("no profile 'qrd': did you mean 'qdr'?", *update, "--profile", "qrd"),
            ("'uniforn' is no pattern: did you mean 'uniform'?", *update, "--traffic", "uniforn"))

    def test_failures(self):
        study = ("study", "run", "-f", "mesh:2x2", "-e", "weave", "-d", self.path("x.db"))
        self.check(
            ("'x' is neither a number nor a percentage", *study, "--links", "x"),
            ("'5..1' is no range", *study, "--seeds", "5..1"),
            ("vls: '300' is not a number", *study, "--vls", "300"),
            ("'tsubame' is neither a preset (deimos, tsubame2, lanl2)", *study, "--years", "3", "--model", "tsubame"),
            ("'tsubame' is neither a preset", "faults", "mesh:2x2", "--years", "3", "--model", "tsubame"))

    def test_studies_and_traces(self):
        ok("study", "run", "-f", "mesh:2x2", "-e", "weave", "--no-sim", "-q", "-d", self.path("s.db"))
        self.check(
            ("there is no study 'degredation': did you mean 'degradation'?", "study", "degredation"),
            ("there is no table 'cell'", "study", "summary", "-d", self.path("s.db"), "--table", "cell"),
            ("no skeleton 'lux': did you mean 'lu'?", "trace", "make", "lux:ranks=4", "-o", self.path("x.svt")),
            ("unknown key 'rank'", "trace", "make", "lu:rank=4", "-o", self.path("x.svt")),
            ("'mak' is none of", "trace", "mak"),
            ("'reed' is none of", "jobs", "reed"))

    def test_options_and_verbs(self):
        self.check(
            ("unknown verb 'rout': did you mean 'route'?", "rout"),
            ("unknown option '--engin': did you mean '--engine'?", "route", "mesh:2", "--engin", "weave"),
            ("unknown option '--jsno': did you mean '--json'?", "info", "mesh:2", "--jsno"),
            ("unknown option '--hlep': did you mean '--help'?", "info", "mesh:2", "--hlep"),
            ("unknown format 'ibnetdiscove': did you mean 'ibnetdiscover'?", "convert", "mesh:2", "--format",
             "ibnetdiscove"))


class Help(Base):
    def test_help_of_a_verb(self):
        """As VERB --help; jobs and trace have verbs of their own."""
        for verb in ("topo", "info", "route", "study", "report", "jobs", "trace", "jobs read", "trace make"):
            self.assertEqual(ok("help", *verb.split()).out, ok(*verb.split(), "--help").out)
        self.assertEqual(ok("help").out, ok("--help").out)
        self.assertEqual(ok("help", "help").out, ok("--help").out)
        self.assertIn("selvage help VERB explains a verb", ok("help").out)

    def test_help_of_what_is_no_verb(self):
        self.expect(2, "unknown verb 'rout': did you mean 'route'?", "help", "rout")
        self.expect(2, "unknown verb 'dance' (see selvage --help)", "help", "dance")
        self.expect(2, "'reed' is none of read, filter, ", "help", "jobs", "reed")


class Lanes(Base):
    """More VLs than InfiniBand has are for models, and never mean fewer in silence."""

    def test_a_directory_has_no_room_for_them(self):
        mesh = "mesh:2x2,hosts=2"
        for vls in "16", "20", "64":
            self.expect(2, "--vls %s: InfiniBand has 15 data VLs; more are for models: -o FILE.svr" % vls, "route", mesh,
                        "--vls", vls, "-o", self.path("t"))
        self.assertEqual(ok("route", "mesh:2x2,hosts=2,vls=15", "--vls", "15", "-o", self.path("t15")).err, "")

    def test_a_model_may_have_them(self):
        svr = self.path("m.svr")
        result = ok("route", "torus:5x5,hosts=2,vls=15", "-e", "nue", "--vls", "20", "-o", svr, "--json")
        self.assertEqual(result.json["vls_used"], 20)
        self.assertIn("warning: these tables use 20 VLs, and links offer 15", result.err)
        self.assertEqual(ok("check", svr, "--json").json["vls_used"], 20)

    def test_fewer_are_told(self):
        for output in ((), ("-o", self.path("w.svr"))):
            result = ok("route", "torus:5x5,hosts=2,vls=15", "--vls", "20", "--json", *output)
            self.assertEqual(result.json["vls_used"], 15)
            self.assertEqual(result.err, "selvage: warning: --vls 20: no more than 15 VLs are used unless they are "
                             "needed, as InfiniBand has no more\n")

        result = ok("sim", "torus:5x5,hosts=2,vls=15", "-e", "weave", "--vls", "20")
        self.assertEqual(result.err.count("warning: --vls 20: no more than 15 VLs are used"), 1, result.err)

    def test_more_than_links_offer(self):
        result = ok("route", "torus:5x5,hosts=2,vls=4", "-e", "nue", "--vls", "6", "-o", self.path("more"))
        self.assertEqual(result.err, "selvage: warning: these tables use 6 VLs, and links offer 4: for these switches "
                         "give --vls 4\n")
        self.assertEqual(ok("route", "torus:5x5,hosts=2,vls=4", "-e", "nue", "-o", self.path("fits")).err, "")

    def test_studies(self):
        study = ("study", "run", "-f", "mesh:2x2", "-e", "weave", "-d", self.path("v.db"))
        self.expect(2, "vls: '65' is not a number up to 64", *study, "--vls", "1,65")


class Suffixes(Base):
    """A file whose suffix says nothing is not written in a format that nobody asked for."""

    TEXT = "ends in none of .ibnetdiscover, .net, .topo, .txt, .lst, .dot, .gv, .json, .conf, and there is no --format"

    def test_unknown_suffixes(self):
        for arguments in (("convert", self.path("f.net")), ("topo", "mesh:2x2"), ("faults", "mesh:2x2", "--links", "1")):
            for name in "x.xyz", "x.dott", "x.net.gz", ".hidden.net~", "x.":
                self.expect(2, self.TEXT, *arguments, "-o", self.path(name))
                self.expect(2, "'%s' ends" % self.path(name), *arguments, "-o", self.path(name), "--json")

    def test_formats_that_are_told(self):
        ok("convert", self.path("f.net"), "--format", "json", "-o", self.path("y.xyz"))
        with open(self.path("y.xyz")) as file:
            self.assertEqual(file.read(1), "{")
        ok("topo", "mesh:2x2", "-o", self.path("without"))  # as documented: ibnetdiscover
        ok("topo", "mesh:2x2", "-o", self.path(".hidden"))
        ok("info", self.path("without"))
        os.mkdir(self.path("a.directory"))
        ok("topo", "mesh:2x2", "-o", self.path("a.directory/without"))


class Files(Base):
    """The same words, in files: invalid input."""

    def test_files_are_invalid_input(self):
        conf = self.write("torus.conf", "torus 4 4 1\nnonsense\n")
        self.expect(3, "torus.conf:2: ", "route", "torus:4x4", "-e", "torus2qos", "--option", "config=" + conf)
        self.expect(3, "bad.net:1: ", "info", self.write("bad.net", "Switch nonsense\n"))
        self.expect(3, "list:1: ", "faults", "mesh:2x2", "--list", self.write("list", "swich sw0\n"))
        self.expect(3, "no node is called 'nobody'", "path", self.tables, "host0", "nobody")


if __name__ == "__main__":
    unittest.main()
