"""tools/layers.py finds what it is for: each violation, in a small tree that has just that one."""
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["SELVAGE_SOURCE"]


class Layers(unittest.TestCase):
    def run_on(self, files):
        """Exit code and messages for a tree of files {path: text}."""
        with tempfile.TemporaryDirectory(prefix="selvage-layers-") as folder:
            for path, text in {"src/base/a.c": "", "include/selvage/base.h": "", **files}.items():
                os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(folder, path), "w") as file:
                    file.write(text)
            done = subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "layers.py")],
                                  cwd=folder, stderr=subprocess.PIPE, text=True)
            return done.returncode, done.stderr

    def refused(self, files, *words):
        code, said = self.run_on(files)
        self.assertEqual(code, 1, said)
        for word in words:
            self.assertIn(word, said)
        self.assertEqual(said.count("\n"), 1, said)

    def accepted(self, files):
        self.assertEqual(self.run_on(files), (0, ""))

    def test_the_tree_itself(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "layers.py")],
                              cwd=SOURCE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_makers_do_not_use_the_judges_inside(self):
        self.refused({"src/multicast/graph.c": '#include "verify/rows.h"\n'},
                     "src/multicast/graph.c:1", "only verify/ itself uses its inside")
        self.refused({"src/live/judge.c": '\n#include "verify/deps.h"\n'}, "src/live/judge.c:2")

    def test_makers_do_not_ask_the_judge(self):
        self.refused({"src/multicast/graph.c": "#include <selvage/verify.h>\n"},
                     "multicast/ must not include verify/")
        self.refused({"src/routing/weave.c": "#include <selvage/verify.h>\n"},
                     "routing/ must not include verify/")

    def test_auto_asks_the_judge(self):
        self.accepted({"src/routing/auto.c": "#include <selvage/verify.h>\n"})
        self.refused({"src/routing/auto.c": '#include "study/study.h"\n', "src/study/study.h": ""}, "auto/ must not include study/")

    def test_what_is_promised_includes_nothing_experimental(self):
        self.accepted({"include/selvage/experimental/live.h": "#include <selvage/base.h>\n"})
        self.refused({"include/selvage/metrics.h": "#include <selvage/experimental/repair.h>\n"}, "what is promised must not include")

    def test_tags_mean_one_thing(self):
        self.refused({"src/base/a.h": "typedef struct sv__x {\n    int a;\n} sv__x;\n", "src/fabric/b.c": "struct sv__x {\n    int b;\n};\n"},
                     "src/fabric/b.c: the tag sv__x is defined in src/base/a.h, too")
        self.accepted({"src/base/a.c": "struct x {\n    int a;\n};\n", "src/fabric/b.c": "struct x {\n    int b;\n};\n"})

    def test_the_judge_knows_only_tables(self):
        self.refused({"src/verify/rows.c": '#include "cdg/cdg.h"\n'}, "it may know only")
        self.refused({"src/verify/rows.c": "#include <selvage/routing.h>\n"}, "it may know only")
        self.accepted({"src/verify/rows.c": '#include <selvage/routes.h>\n#include "base/map.h"\n'})

    def test_public_headers_count_in_c_files(self):
        self.refused({"src/fabric/mask.c": "#include <selvage/experimental/study.h>\n"},
                     "fabric/ must not include study/")
        self.refused({"src/routing/weave.c": "#  include <selvage/traffic.h>\n"},
                     "routing/ must not include simulate/")
        self.accepted({"src/study/run.c": "#include <selvage/traffic.h>\n"})

    def test_apps_and_plugins_are_looked_at(self):
        self.refused({"apps/selvage/cmd_check.c": '#include "verify/rows.h"\n'},
                     "apps/selvage/cmd_check.c:1")
        self.refused({"plugin/opensm/plugin.c": '#include "verify/rows.h"\n'},
                     "plugin/opensm/plugin.c:1")
        self.refused({"apps/selvage/main.c": "#include <mpi.h>\n"}, "must not include mpi.h")
        self.refused({"src/live/live.c": "#include <opensm/osm_opensm.h>\n"}, "opensm")
        self.accepted({"apps/selvage/main.c": '#include "selvage/app.h"\n#include <selvage/verify.h>\n'})

    def test_all_ways_to_include(self):
        inside = "only verify/ itself uses its inside"
        self.refused({"src/multicast/graph.c": '#include "selvage/verify.h"\n'},
                     "multicast/ must not include verify/")
        self.refused({"src/multicast/graph.c": "#include <selvage/selvage.h>\n"}, "has all rooms in it")
        self.refused({"src/verify/rows.c": '#include "selvage/routing.h"\n'}, "it may know only")
        self.refused({"src/verify/rows.c": "#include <selvage/selvage.h>\n"}, "has all rooms in it")
        self.refused({"apps/selvage/main.c": '#include "../../src/verify/rows.h"\n'}, inside)
        self.refused({"plugin/opensm/plugin.c": '#include "../../src/verify/rows.h"\n'}, inside)
        self.refused({"src/multicast/graph.c": '#include "../verify/rows.h"\n'}, inside)
        self.refused({"src/multicast/graph.c": '/* a\n b */ #include "verify/rows.h"\n'},
                     "src/multicast/graph.c:2", inside)
        self.refused({"src/multicast/graph.c": '# /* a */ include /* b */ "verify/rows.h"\n'}, inside)
        self.refused({"src/multicast/part/graph.c": '#include "verify/rows.h"\n'}, inside)
        self.refused({"src/multicast/graph.inc": '#include "verify/rows.h"\n'}, "neither .c nor .h")
        self.accepted({"src/multicast/graph.c": '// #include "verify/rows.h"\n',
                       "src/multicast/graph.h": '/*\n#include "verify/rows.h"\n*/\n'})

    def test_public_headers(self):
        self.refused({"include/selvage/verify.h": '#include "verify/rows.h"\n'},
                     "include/selvage/verify.h:1: a public header must not include verify/rows.h")
        self.refused({"include/selvage/routes.h": "\n#include <selvage/verify.h>\n"},
                     "include/selvage/routes.h:2: must not include <selvage/verify.h>")
        self.refused({"include/selvage/routes.h": "#include <selvage/selvage.h>\n"}, "routes.h:1")
        self.accepted({"include/selvage/selvage.h": "#include <selvage/verify.h>\n",
                       "include/selvage/verify.h": "#include <selvage/routes.h>\n#include <stdio.h>\n"})

    def test_unknown_folders(self):
        self.refused({"src/new/a.c": ""}, "src/new is not in the order")
        self.refused({"src/base/b.c": '#include "nowhere/b.h"\n'}, "no folder of src/")

    def test_no_printing(self):
        self.refused({"src/base/b.c": 'void f(void) { printf("x"); } /* exit(1) */\n'},
                     "prints or exits: printf(")


if __name__ == "__main__":
    unittest.main()
