"""The benchmarks run on any machine and print what scripts read. Says nothing about speed."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program

FIELDS = {"transport", "callers", "turns_per_s", "raw_turns_per_s", "ratio", "p50_us", "p99_us",
          "mean_batch", "fdatasync_p50_us", "engine_cpu_share", "saturated"}


def lines_of(*arguments):
    with tempfile.TemporaryDirectory(prefix="interlock_bench_test_") as folder:
        done = subprocess.run(
            [program(), "bench", *arguments, "--data", folder, "--json"],
            capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        left = list(pathlib.Path(folder).iterdir())
        assert not left, f"left behind: {left}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    rows = lines_of("turns", "--seconds", "0.1", "--rounds", "1", "--callers", "1,16")
    assert [(row["transport"], row["callers"]) for row in rows] == [
        ("inprocess", 1), ("inprocess", 16), ("http", 1), ("http", 16)], rows
    for row in rows:
        missing = FIELDS - row.keys()
        assert not missing, f"{row} lacks {missing}"
        assert row["turns_per_s"] > 0 and row["raw_turns_per_s"] > 0, row
        assert (row["transport"] == "http") == ("bare_http_per_s" in row), row
    for kind in ("turns", "decisions"):
        grown = lines_of(
            kind, "--grown", "400", "--seconds", "0.1", "--rounds", "2", "--callers", "4",
            *(["--transport", "inprocess"] if kind == "decisions" else []))
        assert [row["transport"] for row in grown] == ["inprocess", "http"][:len(grown)], grown
        for row in grown:
            assert row["grown"] == 400 and row["turns_per_s"] > 0 < row["raw_turns_per_s"], row
            assert row["p50_us"] <= row["p99_us"] <= row["max_us"] and row["runs"] == 2, row
    (start,) = lines_of("start", "--rounds", "1", "--turns", "100")
    assert start["ready_p50_us"] > 0 and start["resident_bytes"] > 0, start
    assert start["tradeable_p50_us"] > start["ready_p50_us"] == start["ready_p50_us_max"], start
    decisions = lines_of(
        "decisions", "--seconds", "0.1", "--rounds", "1", "--callers", "8")
    assert [row["transport"] for row in decisions] == ["inprocess", "http"], decisions
    for row in decisions:
        missing = FIELDS - row.keys()
        assert not missing, f"{row} lacks {missing}"
        assert row["turns_per_s"] > 0 and row["raw_turns_per_s"] > 0, row
    # Long enough for whole paths on a busy machine.
    executed = lines_of("execute", "--seconds", "0.8", "--rounds", "2", "--callers", "4")
    assert [row["transport"] for row in executed] == ["inprocess", "http"], executed
    for row in executed:
        assert row["paths"] > 0 and row["runs"] == 2, row
        assert row["ratio_min"] <= row["ratio"] <= row["ratio_max"], row
        # validate, dry run, execute, its outcome, verify, the venue's report
        assert row["turns_per_path"] >= 6, row
        assert row["path_p50_us"] >= row["execute_p50_us"] > 0 < row["verify_p50_us"], row
    (control,) = lines_of("control", "--seconds", "0.1", "--rounds", "1", "--callers", "8")
    for side in ("plain", "control", "http_plain", "http_control"):
        assert control[side]["per_s"] > 0, control
    (strategies,) = lines_of("strategies", "--instances", "40", "--accounts", "2", "--rounds", "2")
    assert strategies["running"] == 40 and strategies["open_orders"] > 0, strategies
    (tick,) = lines_of("tick", "--samples", "2", "--rounds", "1")
    assert tick["open_orders"] == 180 and all(row["p50_us"] > 0 for row in tick["rows"]), tick
    (verify,) = lines_of("verify", "--records", "200", "--artifacts", "20", "--rounds", "1")
    assert verify["records"] >= 220 and verify["artifacts"] >= 20, verify
    (replay,) = lines_of("replay", "--decisions", "50", "--rounds", "1")
    assert replay["decisions"] == 50 and replay["decisions_per_minute"] > 0, replay
    (bots,) = lines_of(
        "bots", "--part", "reads,pulses,isolation", "--seconds", "1", "--rounds", "1",
        "--endpoints", "/status,/positions", "--bots", "4", "--pulse-seconds", "15",
        "--acting-bots", "2")
    assert [row["endpoint"] for row in bots["reads"]] == ["/status", "/positions"], bots
    for row in bots["reads"]:
        assert row["bare_per_s"] > 0 and row["header_per_s"] > 0 and row["path_per_s"] > 0, row
    assert bots["pulses"]["bots"] == 4 and bots["pulses"]["pulses"] >= 1, bots
    assert 0 < bots["pulses"]["acting"] < bots["pulses"]["pulses"], bots
    assert bots["pulses"]["missed"] == bots["pulses"]["stalled"] == 0, bots
    assert len(bots["isolation"]) == 12 and all(row["calls"] > 0 for row in bots["isolation"]), bots
    (idle,) = lines_of("bots", "--part", "growth", "--bots", "2", "--pulse-seconds", "3")
    assert [row["folding"] for row in idle["growth"]] == [True, False], idle
    print(*rows, start, *decisions, control, strategies, tick, replay, verify, bots, idle, sep="\n")


main()
