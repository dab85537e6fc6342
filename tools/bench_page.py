"""Measures everything that docs/benchmarks/measured.md tells, and writes that page.

    tools/bench_page.py --runs 10 build/release/bin/interlock     # on a quiet machine
    tools/bench_page.py                                           # writes the page from what is stored
    tools/bench_page.py --check                                   # exits 1 when the page is not that

What the program answers is kept in docs/benchmarks/measured.json, and the page is made of it: every
row of every benchmark, each figure as the median and the whole range of its runs, the machine, the
command, the day, the commit and the load of the machine when the command began. So no row can be left
out of the page and no figure typed wrong. `--only turns,start` measures some again and keeps the rest.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
STORE = pathlib.Path("docs/benchmarks/measured.json")
PAGE = pathlib.Path("docs/benchmarks/measured.md")

# Name, title, arguments; RUNS stands for the number of runs. A benchmark without rounds of its own is
# run so often instead.
RUNS = "RUNS"
EACH = "EACH"
BENCHES = [
    ("turns", "Durable turns", "bench turns --seconds 0.5 --rounds RUNS", None),
    ("decisions", "Gated decisions", "bench decisions --seconds 0.5 --rounds RUNS", None),
    ("turns_grown", "Turns on grown data",
     "bench turns --grown 1000000 --callers 64 --seconds 1 --rounds RUNS", None),
    ("decisions_grown", "Decisions on grown data",
     "bench decisions --grown 200000 --callers 64 --seconds 1 --rounds RUNS", None),
    ("execute", "Whole orders", "bench execute --seconds 0.5 --rounds RUNS", None),
    ("control", "Control decisions", "bench control --seconds 0.5 --rounds RUNS", None),
    ("start", "Start", "bench start --rounds RUNS", None),
    ("start_killed", "Start after kill -9", "bench start --kill --rounds RUNS", None),
    ("gates", "Gates", "bench gates --rounds RUNS", None),
    ("tick", "One tick", "bench tick --rounds RUNS", None),
    ("paper", "Paper venue", "bench paper --seconds 0.5 --rounds RUNS", None),
    ("replay", "Replay", "bench replay --rounds RUNS", None),
    ("verify", "Verification", "bench verify --rounds RUNS", None),
    ("strategies", "Strategies that mostly watch", "bench strategies", None),
    ("strategies_acting", "Strategies that act",
     "bench strategies --acting --instances 1000 --accounts 112 --rounds 30", None),
    ("backtest", "Backtest", "bench backtest --rounds RUNS", None),
    ("matching", "Matching engine", "bench matching --rounds RUNS", None),
    ("bots_reads", "Reads of a bot", "bench bots --part reads --seconds 1 --rounds RUNS", None),
    ("bots_pulses", "Pulses of a thousand bots",
     "bench bots --part pulses --pulse-seconds 100", None),
    ("bots_growth", "What idle bots leave on the disk",
     "bench bots --part growth --pulse-seconds 30", None),
    ("bots_isolation", "One tenant beside a flood",
     "bench bots --part isolation --seconds 1 --rounds RUNS", None),
    ("relay_keys", "An event before it is stored", "bench relay --only keys --rounds RUNS", None),
    ("relay_sockets", "Idle gateways", "bench relay --only sockets --sockets 2000", EACH),
    ("relay_inbound", "Messages through the relay",
     "bench relay --only inbound --seconds 1 --rounds RUNS", None),
    ("kill", "Stopping a busy server", "drill kill", None),
    ("dos", "Stopping under a flood", "drill dos", EACH),
]
LEFT_OUT = {"runs", "rounds", "clock_ns"}


def answers_of(program, arguments, data):
    with tempfile.TemporaryDirectory(prefix="interlock_page_", dir=data) as folder:
        done = subprocess.run(
            [program, *arguments, "--data", folder, "--json"], capture_output=True, text=True,
            check=False)
    # A drill that missed a bound ends with 1 and says so: that is measured, too.
    has_missed = done.returncode == 1 and '"good":false' in done.stdout
    if done.returncode != 0 and not has_missed:
        raise RuntimeError(f"{' '.join(arguments)} ended with exit code {done.returncode}: "
                           f"{done.stdout}{done.stderr}")
    rows = []
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        rows += answer if isinstance(answer, list) else [answer]
    return rows


def combined(answers):
    """One answer of several like it: numbers become their median with `_min` and `_max` beside."""
    first = answers[0]
    if isinstance(first, dict):
        whole = {}
        for key, value in first.items():
            values = [answer[key] for answer in answers]
            whole[key] = combined(values)
            if is_number(value) and min(values) != max(values):
                whole[key + "_min"], whole[key + "_max"] = min(values), max(values)
        if any(is_number(value) for value in first.values()):
            whole["runs"] = len(answers)
        return whole
    if isinstance(first, list):
        return [combined(list(ones)) for ones in zip(*answers)]
    return statistics.median(answers) if is_number(first) else first


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*:\s*(.*)", text)
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="utf-8"))
    disk = subprocess.run(["findmnt", "-T", ".", "-no", "FSTYPE"], capture_output=True,
                          text=True, check=False).stdout.strip()
    governor = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    pace = f", governor {governor.read_text(encoding='utf-8').strip()}" if governor.exists() else ""
    return (f"{os.cpu_count()} cores of {model.group(1) if model else platform.machine()}{pace}, "
            f"{int(memory.group(1)) / 1e6:.0f} GB of memory, Linux {platform.release()}, {disk}")


def measure(program, options, stored):
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    for name, _, command, how in BENCHES:
        if options.only and name not in options.only:
            continue
        arguments = command.replace(RUNS, str(options.runs)).split()
        begun = time.monotonic()
        load = os.getloadavg()[0]
        times = options.runs if how == EACH else 1
        answers = [answers_of(program, arguments, options.data) for _ in range(times)]
        stored[name] = {
            "command": "interlock " + " ".join(arguments) + (f", {times} times" if times > 1 else ""),
            "at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "commit": re.search(r"\(([0-9a-f]+)", version).group(1),
            "machine": machine(), "load": round(load, 1),
            "seconds": round(time.monotonic() - begun),
            "rows": combined(answers) if times > 1 else answers[0]}
        print(f"{name}: {stored[name]['seconds']} s", file=sys.stderr)
        yield


def shown(value):
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(one)}" for key, one in value.items()) or "none"
    if not is_number(value):
        return str(value)
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cell(row, key):
    text = shown(row.get(key))
    if key + "_min" in row:
        text += f" ({shown(row[key + '_min'])} to {shown(row[key + '_max'])})"
    return text.replace("|", "\\|")


def columns_of(rows):
    """In the order in which they first come; a range stands with its median."""
    columns = {}
    for row in rows:
        for key in row:
            base = re.sub(r"_(min|max)$", "", key)
            if key not in LEFT_OUT and (base == key or base not in row):
                columns[key] = True
    return list(columns)


def table(rows):
    columns = columns_of(rows)
    lines = ["| " + " | ".join(column.replace("_", " ") for column in columns) + " |",
             "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row, column) for column in columns) + " |" for row in rows]
    return lines


def is_table(value):
    return isinstance(value, list) and value and all(isinstance(one, dict) for one in value)


def is_side(value):
    """A part of an answer with figures of its own, such as one side of a comparison."""
    return isinstance(value, dict) and "runs" in value


def tables(rows):
    """Every row of an answer: its own figures, then its sides and its lists."""
    lines = []
    own = [{key: value for key, value in row.items() if not is_table(value) and not is_side(value)
            and value != []} for row in rows]
    sides = [{"side": key, **value} for row in rows for key, value in row.items() if is_side(value)]
    lists = [value for row in rows for value in row.values() if is_table(value)]
    for group in ([row for row in own if columns_of([row])], sides, *lists):
        if group and any(any(is_number(value) for value in row.values()) for row in group):
            lines += ["", *table(group)]
    return lines


def runs_of(rows):
    """The numbers of runs that an answer's figures are of."""
    found = set()
    for row in rows:
        found |= {row["runs"]} if row.get("runs") else set()
        for value in row.values():
            if is_side(value):
                found |= runs_of([value])
            elif is_table(value):
                found |= runs_of(value)
    return found


def page_of(stored):
    lines = [
        "# Every figure, as measured", "",
        "Made by `tools/bench_page.py` of what the program answered; not to be edited. A figure is the",
        "median of its runs, in brackets the whole range. What is measured and how, and what the words",
        "mean, stands in the help of each benchmark and on the pages beside this one."]
    for name, title, _, _ in BENCHES:
        if name not in stored:
            continue
        one = stored[name]
        runs = sorted(runs_of(one["rows"]))
        told = " and ".join(str(number) for number in runs) + " runs; " if runs else ""
        lines += ["", f"## {title}", "",
                  f"`{one['command']}`, {told}{one['at']}, commit `{one['commit']}`, load average "
                  f"{one['load']} before it began; {one['machine']}."]
        lines += tables(one["rows"])
    return "\n".join(lines) + "\n"


def problem_with(root):
    """What is wrong with the page, as check_docs.py says it; nothing when it is right."""
    store, page = root / STORE, root / PAGE
    if not store.exists():
        return f"{PAGE}: has no {STORE} that it is made of" if page.exists() else None
    wanted = page_of(json.loads(store.read_text(encoding="utf-8")))
    if not page.exists() or page.read_text(encoding="utf-8") != wanted:
        return f"{PAGE}: is not what {STORE} says; run tools/bench_page.py"
    return None


def main():
    parser = argparse.ArgumentParser(description="Measures and writes docs/benchmarks/measured.md.")
    parser.add_argument("program", nargs="?", help="an `interlock`; without it nothing is measured")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", type=lambda text: text.split(","), help="names, such as turns,start")
    parser.add_argument("--data", default=".", help="the folder whose disk is measured")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    unknown = set(options.only or []) - {name for name, *_ in BENCHES}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are "
                     + ", ".join(name for name, *_ in BENCHES))
    if options.check:
        sys.exit(problem_with(options.root))
    store = options.root / STORE
    stored = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    if options.program:
        program = str(pathlib.Path(options.program).resolve())
        for _ in measure(program, options, stored):  # Kept after each, in case the next one fails.
            store.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    if stored:
        (options.root / PAGE).write_text(page_of(stored), encoding="utf-8")


if __name__ == "__main__":
    main()
