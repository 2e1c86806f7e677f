"""How much tests do: one factor for all of them, SELVAGE_TRIALS in the environment (default 1).

make check runs with less, make check-deep with all, a night with ten times as much:

    SELVAGE_TRIALS=10 ctest --test-dir build/check -R oracle/

tests/support/trials.h is the same for tests in C.
"""
import os
import sys

try:
    FACTOR = float(os.environ.get("SELVAGE_TRIALS", "1"))
except ValueError:
    FACTOR = 0
if not FACTOR > 0:
    sys.exit("SELVAGE_TRIALS is a factor above 0, such as 0.1 or 5")


def trials(count):
    """A number of trials, times the factor; at least one."""
    return max(1, round(count * FACTOR))


def stride(widest):
    """The step of a loop that goes through everything: 1, or wider if the factor is below 1."""
    return min(widest, max(1, round(1 / FACTOR)))


def arguments(count):
    """Trials and first seed of a program that is called as test_x.py [TRIALS [SEED]] …, which are
    taken off its arguments."""
    given = []
    while len(given) < 2 and len(sys.argv) > 1 and sys.argv[1].isdigit():
        given.append(int(sys.argv.pop(1)))
    return (given + [trials(count), 1][len(given):])[:2]
