"""Mutation score of the rules that guard money and chats: mutants.py COMMAND [OPTIONS]

    build              a second tree below build/mutants, whose rules hold all mutants as switches
    cover              which test case comes by which mutant
    run [--group NAME] [--sample N --seed S] [--files A,B] [--sim-only] [--mutants 1,2] [--survivors]
    report             the table, the survivors, and the verdict as exit code
    absent PROGRAM     fails when the program holds a mutant

One build serves all mutants (mutant_schemata.py). Each mutant runs only the cases that come by it:
unit and conformance tests first, and those that survive them the simulator. What nothing notices
is a survivor: a test is missing, or the change makes no difference, and then a line of
mutants_equivalent.txt says why. Stale lines there are errors.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from mutant_schemata import Mutant, Rewriter

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
BIN = TREE / "build" / "release" / "bin"
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"

SYMBOL = b"interlock_mutant_on"  # In every program that holds a mutant (mutant_switch.h).
SURVIVORS_MAX = 0  # Without an explanation, in the groups of RULES. It only ever goes down.
SIM_SEEDS = 60
SIM_SECONDS_MAX = 240
BUILD_ROUNDS_MAX = 12
MUTANT_SECONDS_MAX = 6  # Of cases in one program, the first time.
CASE_SECONDS_LEAST = 5  # A case gets this and thrice what it takes.

# The rules. limit_proof_cases.cc and sample_world.cc are samples that the tests use as well.
RULES = {
    "gates": [
        "src/loop/rules/gates/exposure_leverage_gate.cc", "src/loop/rules/gates/gate_notes.cc",
        "src/loop/rules/gates/gates.cc", "src/loop/rules/gates/limit_proof.cc",
        "src/loop/rules/gates/market_sanity_gate.cc", "src/loop/rules/gates/order_filters.cc",
        "src/loop/rules/gates/plan_scratch.cc", "src/loop/rules/gates/policy_guardrails_gate.cc",
        "src/loop/rules/gates/risk_limits_gate.cc", "src/loop/rules/gates/runway_budget_gate.cc"],
    "approvals": ["src/host/rules/approval_step.cc", "src/host/service/approval_service.cc"],
    "kill": ["src/host/rules/kill_step.cc", "src/engine/service/kill_latch.cc"],
    "effects": ["src/engine/service/outbox_runner.cc"],
    "relay": [
        "src/relay/rules/dead_letters.cc", "src/relay/rules/delivery_gate.cc",
        "src/relay/rules/delivery_queue.cc", "src/relay/rules/discord_permissions.cc",
        "src/relay/rules/egress_guard.cc", "src/relay/rules/session_key.cc",
        "src/relay/rules/waiting_files.cc"],
}
# What is run when it is asked for and counts for nothing yet: codecs and credentials of the relay.
EXTRA = {
    "relay_codecs": [
        "src/relay/rules/agent_jwt.cc", "src/relay/rules/case_lines.cc",
        "src/relay/rules/flat_xml.cc", "src/relay/rules/message_split.cc",
        "src/relay/rules/normalise_discord.cc", "src/relay/rules/normalise_telegram.cc",
        "src/relay/rules/normalise_text.cc", "src/relay/rules/platform_event.cc",
        "src/relay/rules/upgrade_token.cc", "src/relay/rules/webhook_signature.cc",
        "src/relay/rules/wecom_crypt.cc"],
}
GROUPS = {**RULES, **EXTRA}
# In the order in which they are asked: the quick ones first.
TESTS = ["host_test", "loop_test", "gates_conformance_test", "relay_conformance_test", "control_conformance_test",
         "relay_outbound_conformance_test", "relay_isolation_conformance_test",
         "relay_manage_conformance_test", "engine_test", "relay_test",
         "contract_conformance_test"]
# Properties draw the same cases each time, or a mutant would live by luck.
STEADY = {"RC_PARAMS": "seed=20261118 max_success=60", "TZ": "UTC"}

# A literal that became a call is no constant any more, and the compiler is right to say so.
PROLOGUE = "\n".join((
    f'#include "{ROOT}/tools/mutant_switch.h"', "#pragma GCC diagnostic push",
    *(f'#pragma GCC diagnostic ignored "{warning}"' for warning in (
        "-Wsign-compare", "-Wnarrowing", "-Wconversion", "-Wparentheses", "-Wimplicit-fallthrough",
        "-Wextra", "-Warray-bounds")), "#line 1", ""))


def group_of(file):
    return next(name for name, files in GROUPS.items() if file in files)


def load(name, default=None):
    path = WORK / name
    return json.loads(path.read_text()) if path.exists() else default


def save(name, value):
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / name).write_text(json.dumps(value, indent=0))


def mutants():
    return {row[0]: Mutant(*row) for row in load("mutants.json", [])}


# Building.

def mirror_tree(rewritten):
    """Folders are real, files are links: the build sees our sources, and never writes to them."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for folder, _, files in os.walk(TREE):
        if "build" in pathlib.Path(folder).relative_to(TREE).parts[:1]:
            continue
        for file in files:
            path = pathlib.Path(folder) / file
            if str(path.relative_to(TREE)) not in wanted:
                path.unlink()
    for name in wanted - set(rewritten):
        path = TREE / name
        if not path.is_symlink():
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(ROOT / name)


def generate(disabled):
    """Writes the sources with their switches; returns how many mutants were left out."""
    rows, skipped, number = [], 0, 1
    for files in GROUPS.values():
        for name in files:
            rewriter = Rewriter(name, (ROOT / name).read_text(), number,
                                {(line, change) for line, change in disabled.get(name, [])})
            text = PROLOGUE + rewriter.mutate() + "#pragma GCC diagnostic pop\n"
            path = TREE / name
            if path.is_symlink():
                path.unlink()
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            rows += rewriter.mutants
            skipped += rewriter.skipped
            number = rewriter.next
    save("mutants.json", rows)
    return skipped


def blame(output, disabled):
    """Which mutants the compiler's complaints are about; how many are new."""
    lines = set()
    for match in re.finditer(r"(src/[\w/]+\.cc):(\d+):\d+: (?:error|  +required)", output):
        lines.add((match[1], int(match[2])))
    for match in re.finditer(r"(src/[\w/]+\.cc):(\d+):\d+:   required from", output):
        lines.add((match[1], int(match[2])))
    count = 0
    for mutant in mutants().values():
        if (mutant.file, mutant.line) in lines:
            rows = disabled.setdefault(mutant.file, [])
            if [mutant.line, mutant.change] not in rows:
                rows.append([mutant.line, mutant.change])
                count += 1
    return count


def build(targets):
    rewritten = [name for files in GROUPS.values() for name in files]
    mirror_tree(rewritten)
    disabled = load("disabled.json", {})
    environment = dict(os.environ, CCACHE_BASEDIR=str(TREE), CCACHE_NOHASHDIR="1")
    for _ in range(BUILD_ROUNDS_MAX):
        skipped = generate(disabled)
        if not (TREE / "build/release/build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release"], cwd=TREE, env=environment, check=True,
                           stdout=subprocess.DEVNULL)
        done = subprocess.run(
            ["nice", "ninja", "-C", "build/release", "-k", "0", "-j", str(os.cpu_count()), *targets],
            cwd=TREE, env=environment, capture_output=True, text=True)
        (WORK / "build.log").write_text(done.stdout + done.stderr)
        if done.returncode == 0:
            print(f"{len(mutants())} mutants, {skipped} left out because they do not compile")
            return 0
        if blame(done.stdout, disabled) == 0:
            print(done.stdout[-6000:])
            return 1
        save("disabled.json", disabled)
    return 1


# Running.

def run_process(command, environment, seconds):
    """Exit status, or None after the time is up."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, env={**os.environ, **STEADY, **environment, "TMPDIR": folder}, timeout=seconds,
                cwd=TREE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return done.returncode
        except subprocess.TimeoutExpired:
            return None


def cases_of(binary):
    listed = subprocess.run([str(BIN / binary), "--gtest_list_tests"], check=True,
                            capture_output=True, text=True, env={**os.environ, **STEADY}).stdout
    suites, suite = {}, None
    for line in listed.split("\n"):
        if line and not line.startswith(" "):
            suite = line.split("#")[0].strip()
        elif line.startswith("  ") and suite is not None:
            suites.setdefault(suite, []).append(suite + line.split("#")[0].strip())
    return {name: cases for name, cases in suites.items() if "." in name}


def cover_of(command):
    with tempfile.NamedTemporaryFile() as file:
        begun = time.monotonic()
        status = run_process(command, {"INTERLOCK_MUTANT_COVER": file.name}, 900)
        seconds = time.monotonic() - begun
        numbers = [int(line) for line in pathlib.Path(file.name).read_text().split()]
    return {"seconds": round(seconds, 3), "ok": status == 0,
            "reached": sorted({number for number in numbers if number > 0}),
            "impossible": sorted({-number for number in numbers if number < 0})}


def cover(jobs, tests):
    """Of all programs, or anew of those that are named."""
    result, impossible = load("cover.json", {}), set(load("impossible.json", []))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for binary in [test for test in TESTS if test in tests]:
            path = str(BIN / binary)
            suites = cases_of(binary)
            found = pool.map(lambda name: cover_of([path, f"--gtest_filter={name}*"]), suites)
            cases = [case for name, one in zip(suites, found) if one["reached"] or not one["ok"]
                     for case in suites[name]]
            rows = pool.map(lambda case: cover_of([path, f"--gtest_filter={case}"]), cases)
            result[binary] = {}
            for case, row in zip(cases, rows):
                impossible |= set(row.pop("impossible"))
                if row["ok"] and row["reached"]:
                    result[binary][case] = row
                elif not row["ok"]:
                    print(f"left out, it fails without a mutant: {binary} {case}")
            print(f"{binary}: {len(result[binary])} cases come by mutants", flush=True)
        worlds = ("trading", "relay") if "sim" in tests else ()
        for world, row in zip(worlds, pool.map(lambda world: cover_of(sim_command(world)), worlds)):
            impossible |= set(row.pop("impossible"))
            result["sim " + world] = row
    save("cover.json", result)
    save("impossible.json", sorted(impossible))


def sim_command(world):
    return [str(BIN / "interlock"), "sim", "--world", world, "--seeds", f"1..{SIM_SEEDS}", "--quick"]


def most_telling(cases, seconds_max):
    """The cases that come by the fewest mutants are about this one, most likely; as many of them as
    there is time for."""
    picked, seconds = [], 0.0
    for case in sorted(cases, key=lambda case: len(cases[case]["set"])):
        seconds += cases[case]["seconds"]
        if picked and seconds > seconds_max:
            break
        picked.append(case)
    return picked


def verdict_of(mutant, coverage, options):
    """(how, by what)"""
    # On a busy machine cases seem slow and few of them are asked; what survived is asked by all.
    seconds_max = math.inf if options.survivors else MUTANT_SECONDS_MAX
    number = str(mutant.number)
    reached = False
    for binary in [] if options.sim_only else TESTS:
        cases = {case: row for case, row in coverage.get(binary, {}).items()
                 if mutant.number in row["set"]}
        if not cases:
            continue
        reached = True
        picked = most_telling(cases, seconds_max)
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write(f"--gtest_filter={':'.join(picked)}\n--gtest_fail_fast\n")
            flags.flush()
            status = run_process([str(BIN / binary), f"--gtest_flagfile={flags.name}"],
                                 {"INTERLOCK_MUTANT": number},
                                 CASE_SECONDS_LEAST + 3 * sum(cases[case]["seconds"] for case in picked))
        if status != 0:
            return "tests", binary if status is not None else binary + " (time)"
    for world in ("trading", "relay"):
        if mutant.number in coverage.get("sim " + world, {}).get("set", ()):
            reached = True
            status = run_process(sim_command(world), {"INTERLOCK_MUTANT": number}, SIM_SECONDS_MAX)
            if status != 0:
                return "simulator", world if status is not None else world + " (time)"
    return ("survived", "") if reached else ("unreached", "")


def chosen(options):
    impossible = set(load("impossible.json", []))
    picked = [mutant for mutant in mutants().values() if mutant.number not in impossible]
    if options.group:
        picked = [mutant for mutant in picked if group_of(mutant.file) in options.group.split(",")]
    if options.files:
        picked = [mutant for mutant in picked if any(part in mutant.file for part in options.files.split(","))]
    if options.mutants:
        wanted = {int(number) for number in options.mutants.split(",")}
        picked = [mutant for mutant in picked if mutant.number in wanted]
    if options.survivors:
        verdicts = load("verdicts.json", {})
        picked = [mutant for mutant in picked
                  if verdicts.get(key_of(mutant), ["survived"])[0] in ("survived", "unreached")]
    if options.sample and options.sample < len(picked):
        picked = random.Random(options.seed).sample(picked, options.sample)
    return picked


def key_of(mutant):
    """Numbers move when sources do; this stays."""
    text = f"{mutant.file}|{mutant.line}|{mutant.change}|{mutant.text}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def run(options):
    coverage = {name: cases for name, cases in load("cover.json").items()
                if name.split(" ")[0] in options.tests.split(",")}
    for binary, cases in coverage.items():
        for row in [cases] if binary.startswith("sim") else cases.values():
            row["set"] = set(row["reached"])
        if not binary.startswith("sim") and cases:
            # What it costs to start the program is paid once, however many cases it runs.
            start = statistics.median(row["seconds"] for row in cases.values())
            for row in cases.values():
                row["seconds"] = max(0.002, row["seconds"] - start)
    verdicts = load("verdicts.json", {})
    picked = chosen(options)
    begun = time.monotonic()
    done = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        under_way = {pool.submit(verdict_of, mutant, coverage, options): mutant
                     for mutant in picked}
        for future in concurrent.futures.as_completed(under_way):
            mutant = under_way[future]
            how, by = future.result()
            verdicts[key_of(mutant)] = [how, by]
            done += 1
            if how in ("survived", "unreached") or options.mutants:
                print(f"{how} {by}: {tell(mutant)}", flush=True)
            if done % 50 == 0:
                save("verdicts.json", verdicts)
                print(f"-- {done} of {len(picked)}, {time.monotonic() - begun:.0f} s", flush=True)
    save("verdicts.json", verdicts)
    print(f"-- {done} mutants in {time.monotonic() - begun:.0f} s")
    return report([mutant.number for mutant in picked])


# Reporting.

def tell(mutant):
    return f"{mutant.file}:{mutant.line} #{mutant.number} {mutant.change}: {mutant.text[:150]}"


def read_equivalent(path=EQUIVALENT):
    """{(file, change, text): reason}; a line is `file | change | text | reason`."""
    known, problems = {}, []
    for number, line in enumerate(path.read_text().split("\n") if path.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(" | ")
        if len(parts) < 4 or not parts[-1].strip():
            problems.append(f"{path.name}:{number} is not `file | change | text | reason`")
            continue
        known[(parts[0].strip(), parts[1].strip(), " | ".join(parts[2:-1]).strip())] = parts[-1].strip()
    return known, problems


def stale_lines(known, all_mutants):
    present = {(mutant.file, mutant.change, mutant.text) for mutant in all_mutants}
    return [f"stale: no such mutant any more: {' | '.join(key)}" for key in known if key not in present]


def report(numbers=None):
    all_mutants = mutants()
    impossible = set(load("impossible.json", []))
    verdicts = load("verdicts.json", {})
    known, problems = read_equivalent()
    problems += stale_lines(known, all_mutants.values())
    rows, survivors = {}, []
    for mutant in all_mutants.values():
        if mutant.number in impossible or (numbers is not None and mutant.number not in numbers):
            continue
        how = verdicts.get(key_of(mutant), ["not run"])[0]
        row = rows.setdefault(mutant.file, dict.fromkeys(
            ("mutants", "tests", "simulator", "survived", "equivalent", "not run"), 0))
        row["mutants"] += 1
        if how in ("survived", "unreached"):
            if (mutant.file, mutant.change, mutant.text) in known:
                how = "equivalent"
            else:
                how = "survived"
                survivors.append(mutant)
        row[how] += 1
    print(f"{'file':45} mutants  tests  simulator alone  survivors  equivalent  not run")
    for file, row in rows.items():
        print(f"{file:45} {row['mutants']:7} {row['tests']:6} {row['simulator']:16} "
              f"{row['survived']:10} {row['equivalent']:11} {row['not run']:8}")
    total = {key: sum(row[key] for row in rows.values()) for key in next(iter(rows.values()), {})}
    if total:
        counted = total["mutants"] - total["equivalent"] - total["not run"]
        killed = total["tests"] + total["simulator"]
        print(f"{killed} of {counted} killed ({100 * killed / max(counted, 1):.1f} %), "
              f"{total['equivalent']} equivalent, {len(impossible)} that the types forbid")
    for mutant in survivors:
        print("survivor: " + tell(mutant))
    for problem in problems:
        print(problem)
    counting = [mutant for mutant in survivors if group_of(mutant.file) in RULES]
    return 1 if problems or len(counting) > SURVIVORS_MAX else 0


def absent(program):
    """Whether a program is free of mutants, by the name of the function each of them calls."""
    found = SYMBOL in pathlib.Path(program).read_bytes()
    print(f"{program} {'holds mutants' if found else 'holds no mutant'}")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=("build", "cover", "run", "report", "clean", "absent"))
    parser.add_argument("program", nargs="?")
    parser.add_argument("--group")
    parser.add_argument("--files")
    parser.add_argument("--mutants")
    parser.add_argument("--survivors", action="store_true", help="only those that survived last time, by every case")
    parser.add_argument("--tests", default=",".join([*TESTS, "sim"]), help="what cover and run look at")
    parser.add_argument("--sim-only", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.command == "build":
        return build([*TESTS, "interlock"])
    if options.command == "cover":
        cover(options.jobs, options.tests.split(","))
        return 0
    if options.command == "run":
        return run(options)
    if options.command == "absent":
        return absent(options.program)
    if options.command == "clean":
        shutil.rmtree(WORK, ignore_errors=True)
        return 0
    return report()


if __name__ == "__main__":
    sys.exit(main())
