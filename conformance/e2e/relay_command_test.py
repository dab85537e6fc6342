#!/usr/bin/env python3
"""`interlock relay` answers every case of conformance/vectors as the programs that made them did, one
line for each line, and names the lines it cannot read."""

import json
import os
import pathlib
import subprocess
import sys

PROGRAM = os.environ["INTERLOCK_BIN"]
VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def vectors(name):
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def run(check_name, lines, *options):
    return subprocess.run(
        [PROGRAM, *options, "relay", check_name], input="".join(line + "\n" for line in lines),
        capture_output=True, text=True, timeout=60, encoding="utf-8", check=False)


def answers(check_name, cases, *options):
    result = run(check_name, [json.dumps(case) for case in cases], *options)
    check(result.returncode == 0, f"{check_name}: exit {result.returncode}: {result.stderr[:300]}")
    lines = result.stdout.split("\n")[:-1]
    check(len(lines) == len(cases), f"{check_name}: {len(lines)} answers to {len(cases)} lines")
    return list(zip(cases, lines))


def session_keys():
    cases = vectors("relay_session_keys.json")
    for case, line in answers("session-key", cases):
        check(line == case["key"], f"session-key: {line!r}, expected {case['key']!r}")
    return len(cases)


def tokens():
    cases = vectors("relay_upgrade_tokens.json")["tokens"]
    for case, line in answers("check-token", cases):
        if case["verdict"] == "accept":
            check(line == "accept " + case["payload"], f"check-token {case['name']}: {line!r}")
        else:
            check(line.startswith("reject "), f"check-token {case['name']}: {line!r}")
    for case, line in answers("check-token", cases, "--json"):
        said = json.loads(line)
        check(
            (said["verdict"], said["payload"]) == (case["verdict"], case["payload"]),
            f"check-token --json {case['name']}: {line!r}")
    return len(cases)


def webhooks():
    count = 0
    for path in sorted(VECTORS.glob("webhook_*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        cases = [{**case, "scheme": document["scheme"]} for case in document["cases"]]
        count += len(cases)
        for case, line in answers("verify-webhook", cases):
            expected = case["expect"]
            if expected["accept"]:
                check(line == "accept", f"{path.name} {case['id']}: {line!r}")
            else:
                code = str(expected.get("code", ""))
                check(
                    line.startswith("reject ") and line.endswith(code),
                    f"{path.name} {case['id']}: {line!r}, expected reject {code}")
    return count


def permissions():
    cases = vectors("discord_permissions.json")["cases"]
    for case, line in answers("permissions", cases):
        check(json.loads(line) == case["expect"], f"permissions {case['id']}: {line}")
    return len(cases)


def bad_lines():
    good = json.dumps({"source": {"platform": "sms", "chat_id": "+1"}})
    result = run("session-key", [good, "", "not json", '{"source":[]}', good])
    key = "agent:main:sms:dm:+1"
    check(result.stdout == f"{key}\nerror\nerror\n{key}\n", f"bad lines: {result.stdout!r}")
    check(result.returncode == 2, f"bad lines: exit {result.returncode}")
    problems = result.stderr.splitlines()
    check(
        len(problems) == 2 and problems[0].startswith("line 3: ")
        and problems[1].startswith("line 4: "), f"bad lines: {result.stderr!r}")


def help_texts():
    for name in ("session-key", "check-token", "verify-webhook", "permissions"):
        result = subprocess.run(
            [PROGRAM, "relay", name, "--help"], capture_output=True, text=True, timeout=60,
            check=False)
        check(result.returncode == 0 and "Line: {" in result.stdout, f"help of {name}")


def main():
    asked = session_keys() + tokens() + webhooks() + permissions()
    check(asked >= 700, f"only {asked} cases were there to ask")
    bad_lines()
    help_texts()
    for failure in failures[:20]:
        print(failure)
    print(f"{asked} cases, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
