#include "app/command/backtest_page.h"

#include "app/command/backtest_chart.h"
#include "app/command/backtest_text.h"
#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --paper: #f4f5f7; --panel: #fff; --ink: #1b1f24; --quiet: #57606a;
  --line: #d9dde3; --accent: #1f5fbf; --good: #1a7037; --bad: #b3141d; --warm: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --panel: #1d2126; --ink: #e8eaed; --quiet: #a3acb7; --line: #343a42;
    --accent: #8ab4f8; --good: #7ed69a; --bad: #ff8a85; --warm: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
.quiet { color: var(--quiet); margin: .25rem 0 1rem; }
section, figure { background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: .8rem 1rem; margin: 0 0 1rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem;
  margin: 0 0 1rem; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: .6rem .9rem; }
.card b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--quiet); font-size: .85rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
figure { padding: .6rem .8rem .4rem; margin: 0 0 .6rem; }
figcaption { font-size: .85rem; color: var(--quiet); }
.charts { position: relative; margin: 0 0 1rem; }
svg { display: block; width: 100%; height: auto; }
.grid { stroke: var(--line); stroke-width: 1; }
.axis { fill: var(--quiet); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.band { fill: var(--quiet); opacity: .25; }
.price { fill: none; stroke: var(--ink); stroke-width: 1.2; opacity: .75; }
.buys { fill: var(--good); stroke: var(--panel); stroke-width: .6; }
.sells { fill: var(--bad); stroke: var(--panel); stroke-width: .6; }
.equity { fill: none; stroke: var(--accent); stroke-width: 1.8; }
.equity-area { fill: var(--accent); opacity: .12; }
.start { stroke: var(--quiet); stroke-dasharray: 4 4; }
.drawdown { fill: none; stroke: var(--bad); stroke-width: 1.4; }
.drawdown-area { fill: var(--bad); opacity: .2; }
.exposure { fill: none; stroke: var(--warm); stroke-width: 1.2; }
.exposure-area { fill: var(--warm); opacity: .18; }
.cursor { stroke: var(--ink); stroke-width: 1; opacity: .5; }
#tip { position: absolute; top: 2.2rem; pointer-events: none; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; padding: .4rem .6rem;
  font: .8rem/1.5 ui-monospace, monospace; white-space: pre; box-shadow: 0 2px 8px #0003; }
#tip[hidden] { display: none; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
td, th { text-align: left; padding: .28rem .8rem .28rem 0; border-top: 1px solid var(--line);
  vertical-align: top; }
tr:first-child td, tr:first-child th { border-top: 0; }
th { color: var(--quiet); font-weight: 500; width: 32%; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 0 1rem;
  align-items: start; }
.key { font-size: .85rem; color: var(--quiet); } .key .good, .key .bad { font-weight: 600; }
@media (max-width: 40rem) { .columns { grid-template-columns: 1fr; } .axis { font-size: 19px; } }
)css";

// Finds the point next to the pointer and shows its row; the lines move in every chart.
constexpr std::string_view kScript = R"js(
'use strict';
const rows = JSON.parse(document.getElementById('rows').textContent);
const names = ['price', 'equity', 'drawdown', 'exposure'];
const charts = document.querySelector('.charts');
const tip = document.getElementById('tip');
const lines = charts.querySelectorAll('.cursor');
function nearest(x) {
    let low = 0, high = rows.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (rows[middle][0] < x) { low = middle + 1; } else { high = middle; }
    }
    return low > 0 && x - rows[low - 1][0] < rows[low][0] - x ? low - 1 : low;
}
function show(event) {
    const svg = event.target.closest('svg');
    if (!svg || rows.length === 0) { return; }
    const box = svg.getBoundingClientRect();
    const row = rows[nearest((event.clientX - box.left) / box.width * 10000)];
    for (const line of lines) {
        line.setAttribute('x1', row[0] / 10);
        line.setAttribute('x2', row[0] / 10);
    }
    tip.textContent = row[1] + ' UTC\n' + names.map((name, i) =>
        name.padEnd(10) + row[i + 2]).join('\n');
    tip.hidden = false;
    const left = box.left - charts.getBoundingClientRect().left + row[0] / 10000 * box.width;
    const flip = left > box.width / 2;
    tip.style.left = flip ? 'auto' : left + 14 + 'px';
    tip.style.right = flip ? charts.clientWidth - left + 14 + 'px' : 'auto';
}
charts.addEventListener('pointermove', show);
charts.addEventListener('pointerleave', () => {
    tip.hidden = true;
    for (const line of lines) { line.setAttribute('x1', -9); line.setAttribute('x2', -9); }
});
)js";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// JSON inside a script element: no '<' may stand there as itself.
std::string for_script(const std::string& json) {
    std::string out;
    for (const char c : json) {
        out += c == '<' ? std::string("\\u003c") : std::string(1, c);
    }
    return out;
}

std::string policy_of(std::string_view text) {
    return "'sha256-" + to_base64(sha256(text)) + "'";
}

std::string card(std::string_view name, const std::string& value, std::string_view css) {
    return "<div class=\"card\"><span>" + escaped(name) + "</span><b class=\"" + std::string(css) +
           "\">" + escaped(value) + "</b></div>";
}

std::string_view tone_of(Decimal value) {
    return value.is_positive() ? "good" : value.is_negative() ? "bad" : "";
}

std::string cards_of(const BacktestResult& result) {
    const BacktestFigures& figures = result.figures;
    const std::int64_t trips = figures.round_trips;
    const Decimal won = trips == 0
                            ? Decimal()
                            : Decimal::from_units(Decimal(figures.round_trips_won).units() / trips);
    return "<div class=\"cards\">" +
           card("Return", percent_text(figures.total_return, true), tone_of(figures.total_return)) +
           card("Holding instead", percent_text(figures.hold_return, true), "") +
           card("Max drawdown", percent_text(figures.drawdown.fraction), "") +
           card("Sharpe", figures.sharpe ? fixed_text(*figures.sharpe, 2) : "n/a", "") +
           card("Fills", fixed_text(Decimal(figures.fills), 0), "") +
           card("Round trips won", trips == 0 ? "n/a" : percent_text(won), "") + "</div>\n";
}

std::string table_of(const BacktestRows& rows) {
    std::string out = "<table>";
    for (const auto& [name, value] : rows) {
        out += "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) +
               "</td></tr>\n";
    }
    return out + "</table>";
}

std::string refusals_of(const BacktestResult& result) {
    const auto rows = refusal_rows(result);
    if (rows.empty()) {
        return "<p class=\"quiet\">No decision was refused.</p>";
    }
    std::string out = "<table><tr><th>gate</th><th>reason</th><th>decisions</th></tr>";
    for (const auto& row : rows) {
        out += "<tr>";
        for (const std::string& cell : row) {
            out += "<td>" + escaped(cell) + "</td>";
        }
        out += "</tr>\n";
    }
    return out + "</table>";
}

std::string key_of(const BacktestResult& result) {
    std::string out =
        "<p class=\"key\"><span class=\"good\">&#9650; bought</span> &nbsp; "
        "<span class=\"bad\">&#9660; sold</span>";
    if (result.drawn_every > 1) {
        out += " &nbsp; every " + std::to_string(result.drawn_every) + "th fill is drawn";
    }
    return out + " &nbsp; point at a chart to read it</p>";
}

}  // namespace

std::string backtest_page(const BacktestResult& result) {
    const BacktestOptions& options = result.options;
    const std::string title =
        escaped(options.strategy_type + " on " + std::string(options.rules.symbol.text()));
    std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
    page +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src " +
        policy_of(kStyle) + "; script-src " + policy_of(kScript) +
        "; base-uri 'none'; form-action 'none'\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
            title + ": backtest</title>\n<style>" + std::string(kStyle) + "</style></head>\n<body>";
    page += "<h1>" + title + "</h1>\n<p class=\"quiet\">Backtest from " +
            moment_text(result.figures.first_at) + " to " + moment_text(result.figures.last_at) +
            " UTC, " + span_text(result.figures.last_at - result.figures.first_at) + "</p>\n";
    page += cards_of(result);
    page += "<div class=\"charts\">" + price_chart(result) + equity_chart(result) +
            drawdown_chart(result) + exposure_chart(result) +
            "<div id=\"tip\" hidden></div></div>\n" + key_of(result);
    page += "<section><h2>Report</h2>" + table_of(report_rows(result)) + "</section>\n";
    page += "<div class=\"columns\"><section><h2>Refused decisions</h2>" + refusals_of(result) +
            "</section>\n<section><h2>Parameters</h2>" + table_of(parameter_rows(result)) +
            "</section></div>\n";
    page += "<script type=\"application/json\" id=\"rows\">" + for_script(chart_data(result)) +
            "</script>\n<script>" + std::string(kScript) + "</script>\n</body></html>\n";
    return page;
}

}  // namespace interlock
