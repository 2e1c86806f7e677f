#!/usr/bin/env python3
"""Runs tests with ctest, and those with real daemons once more if they fail.

usage: tools/tests.py BUILD [--results FILE] [ctest's options]

A test with the label live or web (the real OpenSM, ibsim, Slurm, Chromium) can fail for want of a
datagram or a core. It is run once more, alone: if it fails again the run fails; if it does not it is
printed as flaky, with the output of the first time, and counted. All other tests have one try, and
so has one in which a sanitizer reports: that is an error, whenever it happens.

A test that begins something again by itself says so in a line "flaky: …", and is counted, too.

--results: a line is added for each test: seconds, what became of it (passed, flaky, failed,
skipped), name; and "0 part NAME: WHY" for what a program that passed has left out. tools/check.sh
prints the slowest, the flaky and the skipped ones from that.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

AGAIN = {"live", "web"}
# What sanitizers say, and tests/support/sanitizers.py.
REPORTS = ("a sanitizer in OpenSM reports", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", ": runtime error: ")


# What a program that passes left out: unittest, with its reason; cmocka.
LEFT_OUT = re.compile(r"\.\.\. skipped (?:'(.*)'|\"(.*)\")$|^\[  SKIPPED \] (\w+)$", re.M)
# How ctest says what became of a test: "2/3 Test #2: live/x ......***Timeout   1.00 sec".
HOW = re.compile(r"Test +#\d+: (\S+) \.*(.*?) +[0-9.]+ sec")
ALL_OUTPUT = 1 << 26  # bytes; by default ctest cuts it off, and with it what sanitizers report


class Result:
    def __init__(self, case):
        self.name = case.get("name")
        self.seconds = float(case.get("time") or 0)
        self.output = case.findtext("system-out") or ""
        self.skipped = case.find("skipped") is not None and "SKIP" in (
            case.find("skipped").get("message") or "")
        self.passed = case.get("status") == "run"
        self.what = "skipped" if self.skipped else "passed" if self.passed else "failed"
        self.why = ""  # Timeout, Subprocess aborted …

    def left_out(self):
        """Reasons for which parts of it were not run."""
        return sorted({next(word for word in found if word) for found in LEFT_OUT.findall(self.output)
                       if any(found)}) if self.passed else []


def ctest(build, options):
    """Exit code of ctest, what it printed, and the results."""
    with tempfile.TemporaryDirectory(prefix="selvage-tests-") as folder:
        junit = os.path.join(folder, "junit.xml")
        done = subprocess.run(["ctest", "--test-dir", build, "--no-tests=error", "--output-junit",
                               junit, "--test-output-size-passed", str(ALL_OUTPUT),
                               "--test-output-size-failed", str(ALL_OUTPUT), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        if not os.path.exists(junit):
            return done.returncode or 1, done.stdout, []
        results = [Result(case) for case in xml.parse(junit).getroot().iter("testcase")]
        why = dict(HOW.findall(done.stdout))
        for result in results:
            result.why = why.get(result.name, "").replace("***", " ").replace("Failed", "").strip(" :")
        return done.returncode, done.stdout, results


def labels_of(build):
    """{test: its labels}."""
    told = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                                     stdout=subprocess.PIPE, check=True).stdout)
    return {test["name"]: {label for property in test.get("properties", ())
                           if property["name"] == "LABELS" for label in property["value"]}
            for test in told["tests"]}


def show(result, title):
    why = ", %s" % result.why if result.why else ""
    print("%s %s (%.1f s%s):" % (title, result.name, result.seconds, why))
    print("\n".join("    " + line for line in result.output.rstrip().split("\n")))


def main():
    build, options, results_path = sys.argv[1], sys.argv[2:], None
    if options[:1] == ["--results"]:
        results_path, options = options[1], options[2:]
    code, printed, results = ctest(build, options)
    failed = [result for result in results if result.what == "failed"]
    if code != 0 and not failed:
        print(printed)  # ctest itself could not
        return 1
    bad, labels = 0, labels_of(build) if failed else {}
    for result in failed:
        if labels[result.name] & AGAIN and not any(text in result.output for text in REPORTS):
            show(result, "failed once:")
            _, said, again = ctest(build, ["-R", "^%s$" % re.escape(result.name)])
            if again and again[0].passed:
                result.what = "flaky"
                result.seconds += again[0].seconds
                print("flaky: %s: passed when it was run alone" % result.name)
                continue
            show(again[0], "failed again, alone:") if again else print(said)
        else:
            show(result, "failed:")
        bad += 1
    for result in results:
        again = [line for line in result.output.split("\n") if line.startswith("flaky: ")]
        if result.passed and again:
            result.what = "flaky"
            show(result, "failed once:")
            print("flaky: %s: %s" % (result.name, again[0][len("flaky: "):]))
    if results_path:
        with open(results_path, "a") as file:
            for result in results:
                file.write("%.1f %s %s\n" % (result.seconds, result.what, result.name))
                for reason in result.left_out():
                    file.write("0 part %s: %s\n" % (result.name, reason))
    count = {what: sum(result.what == what for result in results)
             for what in ("passed", "flaky", "skipped", "failed")}
    print(", ".join("%d %s" % (number, what) for what, number in count.items() if number) or
          "no tests")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
