"""Runs the same benchmark with two builds in turn and says what became slower.

    tools/bench_pairs.py OLD NEW -n 10 -- bots --part reads --rounds 1 --seconds 1

OLD and NEW are two `interlock` programs; what stands behind `--` goes to `interlock bench` of each.
The two take turns, and every second pair begins with the other one, so that a slow minute of the
machine hits both. For every figure it prints the median and range of both and of the pairs' ratios,
turned so that below 1 is worse. It exits 1 when the median ratio of a figure of ours lies below
0.90, or when a row of OLD is no longer there.

Rates, medians of times, time on a core and memory are judged. The slowest hundredth and the slowest
one are printed only: they move by more than that between two runs of one build. Yardsticks (bare
statements, the bare HTTP server, other products) are not ours and left out.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile

LEAST = 0.90
MORE_IS_BETTER = re.compile(r"per_(cpu_)?(s|second|minute)$")
LESS_IS_BETTER = re.compile(r"_(us|ns|ms|bytes)$|_per_(bot|socket)$|bytes_per_bot")
ONLY_SHOWN = re.compile(r"p99|max|first")
# What says which row of a benchmark this is, beside its words.
NUMBERS_THAT_NAME = {
    "callers", "instances", "in_flight", "open_orders", "intents", "symbols", "length", "sockets",
    "bots", "grown", "folding", "answer_bytes", "commit_bytes"}
NOT_OURS = re.compile(r"^(bare|raw|fdatasync|sync|clock|alone|flood)_|_(min|max)$|^(per_count|bytes)$")
# Words that are a result, not a name.
RESULTS = {"saturated", "fingerprint"}
RENAMED = {"orders_per_s": "calls_per_s"}  # Of `bench matching`, which counts refused calls too.


def name_of(row):
    """The words and numbers that tell one row from another."""
    parts = [f"{key}={value}" for key, value in row.items()
             if key not in RESULTS and (isinstance(value, str) or (
                 key in NUMBERS_THAT_NAME - {"answer_bytes", "commit_bytes"}))]
    return " ".join(parts)


def figures_of(row, prefix=""):
    """Every figure of a row of ours as {name: value}."""
    if row.get("store", "interlock") != "interlock" or row.get("server", "interlock") != "interlock":
        return {}
    here = f"{prefix}{name_of(row)} ".lstrip()
    found = {}
    for key, value in row.items():
        if key == "wal":
            continue  # How a figure came about, not one that is better or worse.
        if isinstance(value, dict):
            found |= figures_of(value, f"{here}{key}: ")
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    found |= figures_of(one, f"{here}{key}: ")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        elif key not in NUMBERS_THAT_NAME and not NOT_OURS.search(key):
            if "mix" in row:
                key = RENAMED.get(key, key)
            if MORE_IS_BETTER.search(key) or LESS_IS_BETTER.search(key):
                found[here + key] = value
    return found


def run(program, arguments, data):
    with tempfile.TemporaryDirectory(prefix="interlock_pairs_", dir=data) as folder:
        done = subprocess.run(
            [program, "bench", *arguments, "--data", folder, "--json"],
            capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_pairs: {program} bench {' '.join(arguments)} ended with exit code "
                 f"{done.returncode}: {done.stdout}{done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        found |= figures_of(json.loads(line))
    return found


def goodness(name, old, new):
    """How NEW does beside OLD: 1 is equal, less is worse."""
    better, worse = (new, old) if MORE_IS_BETTER.search(name) else (old, new)
    if worse == 0:
        return 1.0 if better == 0 else float("inf")
    return better / worse


def spread(values):
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def compare(old_runs, new_runs):
    """The lines to print, and what is worse."""
    lines = []
    worse = []
    for name in old_runs[0]:
        if any(name not in found for found in new_runs):
            worse.append(f"{name}: is no longer measured")
            continue
        old = [found[name] for found in old_runs]
        new = [found[name] for found in new_runs]
        ratios = [goodness(name, *pair) for pair in zip(old, new)]
        is_shown = ONLY_SHOWN.search(name.rsplit(" ", 1)[-1])
        has_fallen = not is_shown and statistics.median(ratios) < LEAST
        mark = "WORSE" if has_fallen else "shown" if is_shown else "ok"
        lines.append(f"{mark:6} {name}: {spread(ratios)}; old {spread(old)}, new {spread(new)}")
        if has_fallen:
            worse.append(f"{name}: {spread(ratios)} of what it was")
    return lines, worse


def main():
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(
        description="Runs one benchmark with two builds in turn.", usage="%(prog)s OLD NEW -n 10 -- …")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("-n", "--pairs", type=int, default=10)
    parser.add_argument("--data", help="the folder whose disk is measured")
    options = parser.parse_args(sys.argv[1:cut])
    arguments = sys.argv[cut + 1:]
    if not arguments or options.pairs < 1:
        parser.error("name a benchmark behind `--`, and at least one pair")
    old_runs, new_runs = [], []
    for pair in range(options.pairs):
        turns = [(options.old, old_runs), (options.new, new_runs)]
        for program, runs in turns if pair % 2 == 0 else reversed(turns):
            runs.append(run(program, arguments, options.data))
    lines, worse = compare(old_runs, new_runs)
    if not lines:
        sys.exit("bench_pairs: the benchmark gave no figure that both builds have")
    print(f"{options.pairs} pairs of `bench {' '.join(arguments)}`, below 1 is worse:")
    print(*lines, sep="\n")
    if worse:
        sys.exit("bench_pairs: " + "; ".join(worse))


if __name__ == "__main__":
    main()
