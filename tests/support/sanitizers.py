"""A plugin that was built with ASan and UBSan inside the real OpenSM, which was not.

The sanitizers' runtime must be the first library of the process, before the simulator's: opensm.py
preloads both. What they report goes to files in OpenSM's folder, which the test reads when OpenSM has
ended: any report fails it, leaks included. What is reported of OpenSM and its libraries is in asan-opensm.supp and lsan-opensm.supp, with reasons.

All of it is automatic: plugin/opensm/CMakeLists.txt writes the runtime's path beside the plugin when the
build has sanitizers. tests/live/test_sanitized.py shows that errors in the plugin are found.
"""
import glob
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
ERRORS = os.path.join(FOLDER, "asan-opensm.supp")
CODE = 99  # of a process that a sanitizer ends
LEAKS = os.path.join(FOLDER, "lsan-opensm.supp")


def runtime(folder):
    """The runtime that the plugin in a folder needs; None: it was built without sanitizers."""
    try:
        with open(os.path.join(folder, "libselvage_osm.so"), "rb") as file:
            if b"__asan_init" not in file.read():
                return None
        with open(os.path.join(folder, "asan-runtime")) as file:
            path = file.read().strip()
    except FileNotFoundError:
        path = ""
    if not os.path.exists(path):
        raise AssertionError("the plugin in '%s' has ASan, but its runtime was not found: configure the build again"
                             % folder)
    return path


class Sanitized:
    """Of one OpenSM: environment and reports. False if its plugin has no sanitizers."""

    def __init__(self, folder, directory):
        self.runtime, self.directory = runtime(folder), directory

    def __bool__(self):
        return self.runtime is not None

    def environment(self):
        # Whole stacks (OpenSM has no frame pointers), so that what is suppressed is what it says.
        log = "log_path=%s:exitcode=%d" % (os.path.join(self.directory, "sanitizer"), CODE)
        return {"ASAN_OPTIONS": log + ":detect_leaks=1:handle_abort=1:detect_stack_use_after_return=1:"
                                "strict_string_checks=1:fast_unwind_on_malloc=0:suppressions=" + ERRORS,
                "UBSAN_OPTIONS": log + ":print_stacktrace=1",
                "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + LEAKS}

    def check(self, code):
        """Raises if there are reports (each once) of an OpenSM that ended with a code."""
        for path in sorted(glob.glob(os.path.join(glob.escape(self.directory), "sanitizer.*"))):
            with open(path, errors="replace") as file:
                text = file.read()
            os.rename(path, path.replace("sanitizer.", "seen-sanitizer."))
            raise AssertionError("a sanitizer in OpenSM reports:\n" + text[:8000])
        if code == CODE and not glob.glob(os.path.join(glob.escape(self.directory), "seen-sanitizer.*")):
            with open(os.path.join(self.directory, "stdout"), errors="replace") as file:  # gcc's UBSan
                raise AssertionError("a sanitizer in OpenSM reports:\n" + file.read()[-8000:])
