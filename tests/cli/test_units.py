"""The units for systemd: what systemd itself says of them, and that what they run is a command line
that selvage takes."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.command import SELVAGE, SOURCE, selvage  # noqa: E402

FOLDER = os.path.join(SOURCE, "systemd")
BUILT = os.path.join(os.environ.get("SELVAGE_BUILD", "build"), "systemd")
SERVICES = ("selvage-jobs.service", "selvage-jobs-once.service")
TIMER = "selvage-jobs-once.timer"
SECTIONS = {"service": {"Unit", "Service", "Install"}, "timer": {"Unit", "Timer", "Install"}}
LISTS = {"SystemCallFilter", "After"}  # may come several times


def read(path):
    with open(path) as file:
        return file.read()


def parse(text):
    """{section: {key: [values]}} of a unit; anything that is none of it fails."""
    result, section = {}, None
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        found = re.fullmatch(r"\[(\w+)\]", line)
        if found:
            section = result.setdefault(found[1], {})
            continue
        key, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"[A-Z]\w+", key) or section is None:
            raise AssertionError("not a line of a unit: " + line)
        section.setdefault(key, []).append(value)
    return result


def environment():
    """What the example file sets, as systemd reads it: the whole line, without quotes around it."""
    values = {}
    for line in read(os.path.join(FOLDER, "selvage-jobs.env")).splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            values[key] = value[1:-1] if value.startswith('"') else value
    return values


def command(line, values):
    """A command line as systemd makes it: ${NAME} is one word, $NAME is split."""
    words = []
    for word in line.split():
        whole, split = re.fullmatch(r"\$\{(\w+)\}", word), re.fullmatch(r"\$(\w+)", word)
        if whole:
            words.append(values[whole[1]])
        elif split:
            words += shlex.split(values[split[1]])
        else:
            words.append(word)
    return words


class Units(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="selvage-units-")
        self.addCleanup(directory.cleanup)
        self.path = lambda name: os.path.join(directory.name, name)
        for name in SERVICES:
            text = read(os.path.join(BUILT, name))
            self.assertNotIn("@CMAKE", text)
            with open(self.path(name), "w") as file:
                file.write(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=" + SELVAGE, text))
        shutil.copy(os.path.join(FOLDER, TIMER), self.path(TIMER))

    def test_they_are_units(self):
        for name in SERVICES + (TIMER,):
            with self.subTest(name):
                unit = parse(read(self.path(name)))
                self.assertLessEqual(set(unit), SECTIONS[name.rsplit(".", 1)[1]])
                for section in unit.values():
                    for key, values in section.items():
                        self.assertTrue(len(values) == 1 or key in LISTS, key)
        timer = parse(read(self.path(TIMER)))["Timer"]
        self.assertIn("OnUnitInactiveSec", timer)
        for name in SERVICES:
            service = parse(read(self.path(name)))["Service"]
            self.assertEqual(service["ProtectSystem"], ["strict"])
            self.assertEqual(service["CapabilityBoundingSet"], [""])
            self.assertEqual(service["NoNewPrivileges"], ["yes"])

    def test_both_services_are_held_alike(self):
        """All that is there to hold them is in both."""
        kept = [{key: value for key, value in parse(read(self.path(name)))["Service"].items()
                 if key not in ("Type", "ExecStart", "ExecReload", "Restart", "RestartSec",
                                "TimeoutStartSec", "RestartPreventExitStatus",
                                "SuccessExitStatus")} for name in SERVICES]
        self.assertEqual(kept[0], kept[1])

    def test_exit_codes(self):
        """Wrong words are not tried for ever; who is asked to stop has not failed."""
        daemon, once = (parse(read(self.path(name)))["Service"] for name in SERVICES)
        self.assertEqual(daemon["RestartPreventExitStatus"], ["2"])
        self.assertEqual(once["SuccessExitStatus"], ["130"])

    def test_the_trigger(self):
        """Somebody is told only if there is somebody."""
        values = environment()
        self.assertTrue(values["TRIGGER"].startswith("command:"))
        for active, code in ((0, 0), (3, 3)):
            with open(self.path("systemctl"), "w") as file:
                file.write("#!/bin/sh\necho \"$@\" >>%s\ncase \"$*\" in *is-active*) exit %d;; "
                           "esac\n" % (self.path("asked"), active))
            os.chmod(self.path("systemctl"), 0o755)
            done = subprocess.run(["sh", "-c", values["TRIGGER"][len("command:"):]],
                                  env=dict(os.environ, PATH=self.path("") + ":" +
                                           os.environ["PATH"]))
            self.assertEqual(done.returncode, code)
            asked = read(self.path("asked")).splitlines()
            self.assertEqual(asked[0], "-q is-active opensm@*.service")
            self.assertEqual(asked[1:], [] if code else
                             ["kill --kill-who=main --signal=HUP opensm@*.service"])
            os.unlink(self.path("asked"))

    def test_what_systemd_says(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("no systemd-analyze here")
        files = [self.path(name) for name in SERVICES + (TIMER,)]
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *files],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        said = [line for line in done.stdout.decode().splitlines() if "selvage" in line]
        self.assertEqual((done.returncode, said), (0, []), done.stdout.decode())
        version = subprocess.run(["systemd-analyze", "--version"], stdout=subprocess.PIPE)
        if int(version.stdout.split()[1]) < 250:
            return
        for name in SERVICES:  # 0 is safe, 10.0 is not
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes",
                                   "--threshold=25", self.path(name)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout.decode()[-300:])

    def test_the_command_is_one(self):
        values = environment()
        self.assertEqual(set(values), {"FABRIC", "MAP", "TRIGGER", "OPTIONS"})
        for name in SERVICES:
            line = parse(read(self.path(name)))["Service"]["ExecStart"][0]
            words = command(line, dict(values, FABRIC=self.path("nothing")))
            self.assertEqual(words[:3], [SELVAGE, "jobs", "follow"])
            self.assertIn(values["TRIGGER"], words)
            for old, new in (("/var/lib/selvage/jobs", self.path("")),):
                words = [word.replace(old, new) for word in words]
            found = selvage(*words[1:])  # all options are taken; the fabric is not there
            self.assertEqual(found.code, 5, found.err)
            self.assertIn("nothing", found.err)

    def test_installed(self):
        """Where the units go."""
        build = os.environ.get("SELVAGE_BUILD")
        if build is None or shutil.which("cmake") is None:
            self.skipTest("no build directory")
        text = read(os.path.join(build, "cmake_install.cmake"))
        for name in SERVICES + (TIMER, "selvage-jobs.env"):
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
