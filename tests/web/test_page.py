"""One page in a real browser, for make check: test_report.py has all of them (make check-deep)."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_report  # noqa: E402

WANTED = ("test_sections_and_charts_are_there", "test_page_and_terminal_say_the_same",
          "test_names_are_not_markup")


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(test_report.PageTest(name) for name in WANTED)


if __name__ == "__main__":
    test_report.main()
