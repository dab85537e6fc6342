"""Lets engines take turns in the public matching benchmark that bench/harness/README.md names.

    tools/harness_rounds.py /path/to/harness ours=build/release/lib/libinterlock_engine.so other=….so

The benchmark and the other engines are built by whoever runs this. In each of ten rounds every engine
runs every scenario once; who begins changes with the round. Printed are millions of messages a second,
median and range, and the range of the rounds' ratios of the first engine to the best of the others. It
exits 1 when a run of the first engine is not VALID; another engine's is told and not counted.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

SCENARIOS = ("normal", "static", "swing-25", "swing-40", "flash-crash")


def run(harness, engine, scenario):
    """Millions of messages a second; nothing when the run does not count."""
    done = subprocess.run(
        [harness, "--scenario", scenario, "--mode", "perf", "--engine", engine],
        cwd=harness.parent, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("Result file:"):
            result = json.loads((harness.parent / line.split(":", 1)[1].strip()).read_text())
            if result.get("verdict") == "VALID" and done.returncode == 0:
                return result["throughput_msgs_per_s"] / 1e6
    return None


def spread(values):
    if not values:
        return "never VALID"
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def ratios(rounds, first):
    """The first engine's to the best of the others, of the rounds in which both counted."""
    found = []
    for one in rounds:
        others = [rate for name, rate in one.items() if name != first and rate]
        if one[first] and others:
            found.append(one[first] / max(others))
    return found


def main():
    parser = argparse.ArgumentParser(description="Lets matching engines take turns.")
    parser.add_argument("harness", type=pathlib.Path)
    parser.add_argument("engines", nargs="+", help="name=library.so; the first is ours")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    options = parser.parse_args()
    engines = {}
    for word in options.engines:
        name, _, library = word.partition("=")
        if not pathlib.Path(library).is_file():
            parser.error(f"{word}: give name=library.so; there is no file {library!r}")
        engines[name] = str(pathlib.Path(library).resolve())
    first = next(iter(engines))
    is_valid = True
    print("| scenario | " + " | ".join(engines) + f" | {first} against the best of the others |")
    print("|" + "---|" * (len(engines) + 2))
    for scenario in options.scenario or SCENARIOS:
        rounds = []
        for turn in range(options.rounds):
            names = list(engines)[turn % len(engines):] + list(engines)[:turn % len(engines)]
            rates = {name: run(options.harness.resolve(), engines[name], scenario) for name in names}
            rounds.append(rates)
        is_valid &= all(one[first] for one in rounds)
        cells = [spread([one[name] for one in rounds if one[name]]) for name in engines]
        best = ratios(rounds, first)
        print(f"| {scenario} | " + " | ".join(cells) + f" | {spread(best) if best else ''} |", flush=True)
    if not is_valid:
        sys.exit(f"harness_rounds: a run of {first} was not VALID")


if __name__ == "__main__":
    main()
