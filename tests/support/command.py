"""Running the command under test."""
import json
import os
import pty
import subprocess

SELVAGE = os.path.abspath(os.environ.get("SELVAGE", "build/selvage"))
SOURCE = os.environ.get("SELVAGE_SOURCE", ".")
FABRICS = os.path.join(SOURCE, "..", "shared", "fabrics")


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.out)


def selvage(*arguments, stdin=None, timeout=300, cwd=None):
    """Runs selvage; stdin is bytes. Nothing is checked."""
    return Result(subprocess.run([SELVAGE, *arguments], input=stdin, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=timeout, cwd=cwd))


def ok(*arguments, **options):
    """Runs selvage, which must exit with 0."""
    result = selvage(*arguments, **options)
    if result.code != 0:
        raise AssertionError("selvage %s: exit %d: %s" % (" ".join(arguments), result.code,
                                                          result.err))
    return result


def inject(path, *faults):
    """Injects faults into a fabric file, in place; False, and the file as it was, where the fabric does
    not have that part (exit 3), cannot lose that many (exit 4) or would have nothing left to route.

    Any other exit code is an error of the test: a trial must not go on without its faults unnoticed.
    """
    left = path + ".failed.net"
    result = selvage("faults", path, *faults, "-o", left)
    if result.code not in (0, 3, 4):
        raise AssertionError("selvage faults %s: exit %d: %s" % (" ".join(faults), result.code,
                                                                 result.err))
    if result.code != 0 or selvage("convert", left, "-f", "subnet").code != 0:
        return False
    os.replace(left, path)
    return True


def real(*path):
    """A file of the real fabrics, or None where they are not there."""
    whole = os.path.join(FABRICS, *path)
    return whole if os.path.exists(whole) else None


def terminal(test):
    """Both ends of a pseudo-terminal; the test is skipped where there are none (in a bare chroot)."""
    try:
        return pty.openpty()
    except OSError as error:
        test.skipTest("no pseudo-terminals here: %s" % error)
