"""Runs the test cases of a build in groups: run_cases.py FOLDER PATTERN JOBS LOG

A process per case costs more than most cases do, above all under sanitizers, so a process gets a
group of them. Groups are small, so that they spread over the cores and little has to be said again
when one ends early: the case that was running has failed, and those behind it get a new process.
What fails is repeated alone, with everything it says in LOG. A group that fails although each of
its cases passed (a leak that is found at the end) is one failure more.

Prints `passed failed skipped`. A case that skipped itself proves nothing: the caller decides.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import threading

GROUP_CASES_MAX = 48
CASE_SECONDS_MAX = 120
GROUP_SECONDS_MAX = 600
OUTPUT_CHARACTERS_MAX = 20_000  # Of one failure, in the log.
LINE = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+)")


class Verdicts:
    """What became of the cases; shared by the threads that run them."""

    def __init__(self, log):
        self.lock = threading.Lock()
        self.log = log
        self.passed = self.failed = self.skipped = 0

    def add(self, passed=0, skipped=0):
        with self.lock:
            self.passed += passed
            self.skipped += skipped

    def fail(self, name, output):
        with self.lock:
            self.failed += 1
            self.log.write(f"FAILED {name}\n{output[-OUTPUT_CHARACTERS_MAX:]}\n\n")
            self.log.flush()


def list_cases(binary):
    """The cases of a test program, in its own order."""
    listed = subprocess.run(
        [binary, "--gtest_list_tests"], capture_output=True, text=True, check=True,
        timeout=CASE_SECONDS_MAX).stdout
    suite, cases = "", []
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            cases.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return cases


def run(binary, cases, seconds):
    """Gives (exit status, or None when its time was up; what it said)."""
    command = [binary, "--gtest_color=no", "--gtest_filter=" + ":".join(cases)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=seconds, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def read_verdicts(output):
    """Gives ({case: word of its end}, the case that was still running or nothing)."""
    ends, running = {}, None
    for line in output.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        word, case = found.groups()
        if word == "RUN":
            running = case
        elif case == running:
            ends[case] = word
            running = None
    return ends, running


def run_alone(binary, name, case, verdicts, earlier):
    """Repeats a case that failed among others. It has failed in any case."""
    status, output = run(binary, [case], CASE_SECONDS_MAX)
    if status == 0:
        output = f"It failed among others and passed alone. Among others it said:\n{earlier}"
    elif status is None:
        output += f"\nstopped after {CASE_SECONDS_MAX} seconds"
    verdicts.fail(f"{name}.{case}", output)


def run_group(binary, name, cases, verdicts):
    while cases:
        status, output = run(binary, cases, GROUP_SECONDS_MAX)
        ends, running = read_verdicts(output)
        words = list(ends.values())
        verdicts.add(passed=words.count("OK"), skipped=words.count("SKIPPED"))
        for case in [case for case, word in ends.items() if word == "FAILED"]:
            run_alone(binary, name, case, verdicts, output)
        if running:
            run_alone(binary, name, running, verdicts, output)
        elif status != 0 and "FAILED" not in words:
            verdicts.fail(f"{name}: {cases[0]} and those behind it", output)
        rest = [case for case in cases if case not in ends and case != running]
        if rest and not ends and not running:
            for case in rest:
                verdicts.fail(f"{name}.{case}", "It was not run.\n" + output)
            return
        cases = rest


def main(folder, pattern, jobs, log_path):
    wanted = re.compile(pattern)
    groups = []
    for binary in sorted(pathlib.Path(folder, "bin").glob("*_test")):
        name = binary.name.removesuffix("_test")
        cases = [case for case in list_cases(binary) if wanted.search(f"{name}.{case}")]
        groups += [
            (binary, name, cases[at:at + GROUP_CASES_MAX])
            for at in range(0, len(cases), GROUP_CASES_MAX)]
    # What takes long begins early: the last group to end then ends soon after the others.
    groups.sort(key=lambda group: group[1] not in ("sim", "services", "port_conformance"))
    with open(log_path, "w", encoding="utf-8") as log:
        verdicts = Verdicts(log)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(run_group, *group, verdicts) for group in groups]:
                future.result()
    print(verdicts.passed, verdicts.failed, verdicts.skipped)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
