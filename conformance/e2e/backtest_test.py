"""The backtest as people call it: public layouts load as they are, a bad row is named by its line, the same
data gives the same bytes, and the page is whole and fetches nothing."""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

from plane import program

START = 1_735_689_600  # 2025-01-01.
KLINES_HEADER = ("open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,"
                 "taker_buy_quote_volume,ignore\n")


def price_at(minute):
    """Two waves: enough to and fro for a grid."""
    return 50_000 * (1 + 0.02 * math.sin(minute / 37) + 0.01 * math.sin(minute / 11))


def klines(minutes, unit=1000):
    lines = []
    for minute in range(minutes):
        begin, end = price_at(minute), price_at(minute + 1)
        low, high = min(begin, end) * 0.9995, max(begin, end) * 1.0005
        opened = (START + 60 * minute) * unit
        lines.append(f"{opened},{begin:.2f},{high:.2f},{low:.2f},{end:.2f},12.50000,"
                     f"{opened + 60 * unit - 1},625000.00,100,6.00000,300000.00,0\n")
    return lines


def trades(seconds, aggregated=False):
    lines = []
    for second in range(seconds):
        price, at = f"{price_at(second / 60):.2f}", (START + second) * 1000
        sold = "True" if second % 2 else "False"
        lines.append(f"{second},{price},0.05000000,{second},{second},{at},{sold},True\n" if aggregated
                     else f"{second},{price},0.05000000,2500.0,{at},{sold},True\n")
    return lines


class Desk:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(lines))
        return str(path)

    def run(self, *arguments, code=0):
        done = subprocess.run([program(), "backtest", *arguments], capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def result(self, *arguments):
        path = self.folder / "result.json"
        self.run(*arguments, "--json", str(path))
        return json.loads(path.read_text())


def check_grid(desk, data):
    config = desk.write("grid.toml", ["grid_levels = 4\n", "order_notional_quote = 150.5\n",
                                      'grid_step_pct = "0.008"\n'])
    wanted = ["--strategy", "grid_trader", "--config", config, "--data", data, "--warmup-hours", "2"]
    texts = []
    for name in ("a", "b"):
        paths = [desk.folder / f"{name}.json", desk.folder / f"{name}.html"]
        report = desk.run(*wanted, "--json", str(paths[0]), "--html", str(paths[1]))
        texts.append([path.read_bytes() for path in paths])
    assert texts[0] == texts[1], "the same data gave other bytes"
    result = json.loads(texts[0][0])
    assert result["format"] == "interlock-backtest-1", result
    assert result["parameters"]["config"] == {
        "grid_levels": 4, "order_notional_quote": 150.5, "grid_step_pct": "0.008"}, result["parameters"]
    assert result["result"]["fills"] > 5, result["result"]
    assert result["loop"]["drift"] == [], result["loop"]
    assert len(result["curve"]) > 100, len(result["curve"])
    assert result["data"]["warmup_events"] == 480, result["data"]
    for word in ("return", "max drawdown", "Sharpe", "fees", "exposure", "refused"):
        assert word in report, report
    return texts[0][1].decode()


def check_page(page):
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>"), page[-200:]
    assert page.count("<svg") == 4, page.count("<svg")
    assert "Content-Security-Policy" in page and "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=|https?://|@import|url\(", page), "the page fetches something"


def check_bad_rows(desk):
    lines = klines(40)
    lines[20] = lines[20].replace(",12.50000,", ",oops,")
    lines[30] = re.sub(r"^(\d+),[\d.]+,", r"\1,0,", lines[30])
    path = desk.write("BTCUSDT-bad.csv", lines)
    told = desk.run("--strategy", "idle", "--data", path, code=1)
    assert "BTCUSDT-bad.csv:21: a quantity is not a number" in told, told
    told = desk.run("--strategy", "idle", "--data", path, "--skip-bad-rows", "1", code=1)
    assert "BTCUSDT-bad.csv:31: a price is zero" in told, told
    skipped = desk.result("--strategy", "idle", "--data", path, "--skip-bad-rows", "2")
    assert skipped["data"]["bad_rows"] == 2 and skipped["data"]["gaps"] == 2, skipped["data"]
    lines = klines(10)
    path = desk.write("BTCUSDT-order.csv", [*lines[:5], lines[2], *lines[5:]])
    told = desk.run("--strategy", "idle", "--data", path, code=1)
    assert "BTCUSDT-order.csv:6: the time goes back" in told, told


def check_layouts(desk, plain):
    """The same market in every layout is the same time covered."""
    cases = {
        "BTCUSDT-header.csv": [KLINES_HEADER, *klines(60)],
        "BTCUSDT-micro.csv": klines(60, 1_000_000),
    }
    for name, lines in cases.items():
        result = desk.result("--strategy", "idle", "--data", desk.write(name, lines))
        assert result["data"]["layout"] == "klines" and result["data"]["events"] == 240, result["data"]
    for layout, aggregated in (("trades", False), ("aggTrades", True)):
        path = desk.write(f"BTCUSDT-{layout}.csv", trades(600, aggregated))
        result = desk.result("--strategy", "idle", "--data", path)
        assert result["data"]["layout"] == layout and result["data"]["events"] == 600, result["data"]
    tick = ["time,symbol,bid,bid_qty,ask,ask_qty\n"] + [
        f"2025-01-01T00:{i // 60:02}:{i % 60:02}Z,BTCUSDT,{49_999 + i}.5,1,{50_001 + i},2\n"
        for i in range(300)]
    result = desk.result("--strategy", "idle", "--data", desk.write("own.csv", tick), "--symbol", "BTCUSDT")
    assert result["data"]["layout"] == "recording" and result["data"]["events"] == 300, result["data"]
    cut = desk.result("--strategy", "idle", "--data", plain, "--from", "2025-01-01T01:00:00Z",
                      "--to", "2025-01-01T02:00:00Z")
    assert cut["result"]["from"] == "2025-01-01T01:00:00.000Z", cut["result"]
    assert cut["data"]["events"] == 480 and cut["data"]["warmup_events"] == 240, cut["data"]


def check_refusals(desk, data):
    config = desk.write("bad.toml", ["grid_levles = 4\n"])
    told = desk.run("--strategy", "grid_trader", "--config", config, "--data", data, code=2)
    assert "grid_levles" in told, told
    told = desk.run("--strategy", "no_such", "--data", data, code=2)
    assert "no_such" in told or "grid_trader" in told, told
    told = desk.run("--strategy", "idle", "--data", data, "--limit", "max_drawdwon=1", code=2)
    assert "max_drawdwon" in told, told
    told = desk.run("--strategy", "idle", "--data", str(desk.folder / "missing-BTCUSDT.csv"),
                    "--symbol", "BTCUSDT", code=1)
    assert "cannot be read" in told, told


def main():
    with tempfile.TemporaryDirectory(prefix="interlock_backtest_test_") as folder:
        desk = Desk(folder)
        data = desk.write("BTCUSDT-1m-2025-01-01.csv", klines(1440))
        check_page(check_grid(desk, data))
        check_bad_rows(desk)
        check_layouts(desk, data)
        check_refusals(desk, data)
    print("backtest: grid, page, bad rows, layouts, refusals")


main()
