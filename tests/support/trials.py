"""How much tests do: one factor for all of them, SELVAGE_TRIALS in the environment (default 1).

make check runs with less, make check-deep with all, a night with ten times as much:

    SELVAGE_TRIALS=10 ctest --test-dir build/check -R oracle/

tests/support/trials.h is the same for tests in C.
"""
import os

FACTOR = float(os.environ.get("SELVAGE_TRIALS", "1"))
if not FACTOR > 0:
    raise SystemExit("SELVAGE_TRIALS is a factor above 0, such as 0.1 or 5")


def trials(count, least=1, coarser=None):
    """A number of trials, times the factor; at least so many.

    coarser: the count is the step of a loop that goes through everything; with a factor below 1 it
    becomes that much wider, at most `coarser`.
    """
    if coarser is not None:
        return max(least, count if FACTOR >= 1 else min(coarser, round(count / FACTOR)))
    return max(least, round(count * FACTOR))
