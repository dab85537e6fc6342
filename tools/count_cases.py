"""Prints `passed failed` for a JUnit file written by ctest: count_cases.py FILE yes|no

A case that skipped itself proves nothing: it never counts as passed, and with `yes` (as in CI) it
counts as failed. A case that could not be started has failed. A missing or unreadable file counts
as nothing at all, which the caller treats as a failure.
"""

import sys
import xml.etree.ElementTree as xml


def skipped_itself(case):
    skipped = case.find("skipped")
    return case.get("status") == "disabled" or (
        skipped is not None and "SKIP" in skipped.get("message", ""))


def count(path, skipped_fails):
    try:
        cases = list(xml.parse(path).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return 0, 0
    passed = sum(case.get("status") == "run" for case in cases)
    skipped = sum(skipped_itself(case) for case in cases)
    return passed, len(cases) - passed - (0 if skipped_fails else skipped)


if __name__ == "__main__":
    print(*count(sys.argv[1], sys.argv[2] == "yes"))
