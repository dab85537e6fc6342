"""Prints `passed failed` for a JUnit file written by ctest: count_cases.py FILE yes|no

A skipped case proves nothing: it never counts as passed, and with `yes` (as in CI) it counts as
failed. A missing or unreadable file counts as nothing at all, which the caller treats as a failure.
"""

import sys
import xml.etree.ElementTree as xml


def count(path, skipped_fails):
    try:
        cases = list(xml.parse(path).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return 0, 0
    passed = sum(case.get("status") == "run" for case in cases)
    failed = sum(case.get("status") == "fail" for case in cases)
    if skipped_fails:
        failed = len(cases) - passed
    return passed, failed


if __name__ == "__main__":
    print(*count(sys.argv[1], sys.argv[2] == "yes"))
