"""Runs a range of simulation seeds on all cores: sim_seeds.py PROGRAM FIRST..LAST [OPTION...]

A seed is one thread by nature (its SQLite draws from one sequence a process), so a core gets a
process and a part of the range. Options go to `interlock sim`. Fails when a promise was broken. A
range of 50 seeds or more also fails when a limit was never met within one step from inside and from
outside: a limit that nobody comes near is not tested, however clean the runs are.
`--self-test PROGRAM` shows that both happen.
"""

import collections
import json
import os
import subprocess
import sys

EDGE_SEEDS_MIN = 50  # Fewer need not meet every limit.
OWN_VOTE = "own_vote"  # Somebody else is always there, so it is met from outside only.


def parts(first, last, count):
    """The range in so many parts of about one size."""
    seeds = last - first + 1
    count = min(count, seeds)
    ends = [first + seeds * i // count for i in range(count + 1)]
    return [f"{ends[i]}..{ends[i + 1] - 1}" for i in range(count)]


def run(program, first, last, options):
    """Gives (sum of the summaries, violations, whether every process ended well)."""
    processes = [
        subprocess.Popen(
            [program, "--json", "sim", "--seeds", part, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for part in parts(first, last, os.cpu_count() or 1)]
    total, edges, violations, clean = collections.Counter(), {}, [], True
    for process in processes:
        lines = [json.loads(line) for line in process.communicate()[0].splitlines()]
        clean = clean and process.returncode == 0 and bool(lines)
        if not lines:
            continue
        summary = lines.pop()
        violations += lines
        relay = {"relay_" + name: value for name, value in summary["relay"].items()}
        for name, value in {**summary, **relay}.items():
            if isinstance(value, int) and name not in ("first_seed", "last_seed", "turns"):
                total[name] += value
        for name, (inside, outside) in summary["edges"].items():
            before = edges.get(name, (0, 0))
            edges[name] = (before[0] + inside, before[1] + outside)
    return total, edges, violations, clean and not violations


def unmet(edges):
    """The limits that were not met from a side that they have."""
    return [
        f"{name} {inside}/{outside}" for name, (inside, outside) in edges.items()
        if outside == 0 or (inside == 0 and name != OWN_VOTE)]


def main(program, seeds, *options):
    first, last = (int(end) for end in seeds.split(".."))
    total, edges, violations, clean = run(program, first, last, options)
    for violation in violations:
        print(json.dumps(violation, indent=1))
    print(", ".join(f"{name} {value}" for name, value in total.items()))
    print("edges met, inside/outside: " + ", ".join(f"{n} {i}/{o}" for n, (i, o) in edges.items()))
    missing = unmet(edges) if last - first + 1 >= EDGE_SEEDS_MIN else []
    if missing:
        print("never met within one step: " + ", ".join(missing))
    return 0 if clean and edges and not missing and total["seeds"] == last - first + 1 else 1


def self_test(program):
    assert parts(1, 500, 2) == ["1..250", "251..500"], parts(1, 500, 2)
    assert parts(4, 6, 2) == ["4..4", "5..6"] and parts(7, 7, 2) == ["7..7"]
    assert unmet({"a": (1, 1), "own_vote": (0, 1)}) == []
    assert unmet({"a": (0, 1), "b": (1, 0)}) == ["a 0/1", "b 1/0"]
    assert main(program, f"1..{EDGE_SEEDS_MIN}", "--turns", "5") == 1, "no plan, yet limits met"
    assert main(program, "1..2", "--turns", "5") == 0
    assert main(program, "1..1", "--quick", "--plant", "act_before_commit") == 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test(sys.argv[2]))
    sys.exit(main(*sys.argv[1:]))
