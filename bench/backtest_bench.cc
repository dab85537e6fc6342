#include "bench/backtest_bench.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/errors.h"
#include "base/text.h"
#include "bench/latency.h"
#include "bench/rounded.h"
#include "bench/scratch_folder.h"
#include "market/rules/synthetic_market.h"
#include "trader/backtest/backtest_run.h"

namespace interlock {
namespace {

constexpr std::int64_t kStartStep = step_of({1'735'689'600'000'000});
constexpr std::int64_t kGridLevels = 12;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The highest resident memory since it was last forgotten, which Linux lets a process ask for.
void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}
std::int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.starts_with("VmHWM:")) {
            return std::stoll(line.substr(6)) * 1024;
        }
    }
    return 0;
}

// One data file of each length, made in one pass.
class DataFiles {
public:
    DataFiles(const ScratchFolder& folder, const BacktestBenchOptions& options)
        : folder_(folder), options_(options) {}

    Result<void> make() {
        SyntheticOptions wanted;
        wanted.symbols = {default_symbols().front()};
        const SyntheticMarket market(wanted);
        rules_ = market.markets().front();
        std::vector<std::ofstream> files;
        std::int64_t most = 0;
        for (const std::int64_t length : options_.lengths) {
            files.emplace_back(path(length), std::ios::binary);
            most = std::max(most, length);
        }
        MarketView view;
        std::string line;
        std::int64_t made = 0;
        for (std::int64_t step = kStartStep; made < most * options_.rows; ++step) {
            market.view_at(0, step, view);
            std::int64_t at = time_of_step(step).microseconds / 1000;
            for (const MarketTrade& trade : view.trades) {
                write_trade(line, ++made, trade, at++);
                for (std::size_t i = 0; i < files.size(); ++i) {
                    if (made <= options_.lengths[i] * options_.rows) {
                        files[i] << line;
                    }
                }
            }
        }
        for (std::ofstream& file : files) {
            file.close();
            if (!file) {
                return fail(errors::io_failed, "The data of the benchmark cannot be written.");
            }
        }
        return {};
    }

    std::string path(std::int64_t length) const {
        return folder_.file(fmt::format("trades{}.csv", length));
    }
    const MarketRules& rules() const { return rules_; }

private:
    // As the public dumps have them.
    void write_trade(
        std::string& line, std::int64_t id, const MarketTrade& trade, std::int64_t at) const {
        const Decimal price = Decimal::from_units(rules_.tick_size.units() * trade.price.count);
        const Decimal qty = Decimal::from_units(rules_.step_size.units() * trade.quantity.count);
        line = fmt::format(
            "{},{},{},0.00000000,{},{},True\n",
            id,
            to_text(price),
            to_text(qty),
            at,
            trade.taker == BookSide::sell ? "True" : "False");
    }

    const ScratchFolder& folder_;
    const BacktestBenchOptions& options_;
    MarketRules rules_;
};

struct Subject {
    std::string strategy;
    Json config;
};

// Steps so small and ticks so frequent that it trades all the time.
Json busy_grid() {
    return Json::object({
        {"grid_levels", kGridLevels},
        {"tick_seconds", 10},
        {"volatility_multiplier", "0"},
        {"grid_step_pct", "0.001"},
        {"fee_rate", "0.0002"},
        {"fee_margin_pct", "0.0001"},
        {"order_notional_quote", "50"},
    });
}

Result<BacktestBenchRow> measure(
    const Subject& subject, const DataFiles& files, std::int64_t length, std::int64_t rounds) {
    const StrategyType* type = find_strategy_type(subject.strategy);
    if (type == nullptr) {
        return fail(errors::not_found, "There is no strategy " + subject.strategy + ".");
    }
    BacktestBenchRow row;
    row.strategy = subject.strategy;
    row.length = length;
    std::vector<double> wall;
    std::vector<double> cpu;
    forget_peak();
    for (std::int64_t round = 0; round < rounds; ++round) {
        BacktestOptions options;
        options.paths = {files.path(length)};
        options.strategy_type = subject.strategy;
        options.config = subject.config;
        TRY_ASSIGN(options.strategy, type->open(subject.config));
        const MarketRules& rules = files.rules();
        options.rules = backtest_rules(rules.symbol, rules.base, rules.quote);
        options.rules.tick_size = rules.tick_size;
        options.rules.step_size = rules.step_size;
        options.fees.maker_ppm = 200;
        const auto begun = std::chrono::steady_clock::now();
        const double begun_cpu = cpu_seconds();
        TRY_ASSIGN(const BacktestResult result, run_backtest(std::move(options), nullptr));
        cpu.push_back(cpu_seconds() - begun_cpu);
        wall.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
        row.layout = to_word(result.data.layout);
        row.rows = result.data.rows;
        row.events = result.events;
        row.fills = result.figures.fills;
        row.decisions = result.counts.decisions;
        if (!result.drift.empty()) {
            return fail(errors::internal, "Books and venue differ: " + result.drift.front());
        }
    }
    row.peak_bytes = peak_bytes();
    const auto per_second = [&row](std::vector<double> seconds) {
        std::ranges::transform(seconds, seconds.begin(), [&row](double took) {
            return static_cast<double>(row.events) / took;
        });
        return seconds;
    };
    row.events_per_s = row.spreads.note("events_per_s", per_second(std::move(wall)), 1);
    row.events_per_cpu_s = row.spreads.note("events_per_cpu_s", per_second(std::move(cpu)), 1);
    row.ns_per_event = 1e9 / row.events_per_cpu_s;
    return row;
}

}  // namespace

Result<std::vector<BacktestBenchRow>> run_backtest_bench(const BacktestBenchOptions& options) {
    TRY_ASSIGN(const ScratchFolder folder, ScratchFolder::create(options.folder));
    DataFiles files(folder, options);
    TRY(files.make());
    const std::vector<Subject> subjects{
        {"idle", Json::object()},
        {"grid_trader", busy_grid()},
    };
    std::vector<BacktestBenchRow> rows;
    for (const Subject& subject : subjects) {
        for (const std::int64_t length : options.lengths) {
            TRY_ASSIGN(BacktestBenchRow row, measure(subject, files, length, options.rounds));
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

Json encode(const BacktestBenchRow& row) {
    Json json = Json::object({
        {"strategy", row.strategy},
        {"layout", row.layout},
        {"length", row.length},
        {"rows", row.rows},
        {"events", row.events},
        {"fills", row.fills},
        {"decisions", row.decisions},
        {"events_per_s", rounded(row.events_per_s, 1)},
        {"events_per_cpu_s", rounded(row.events_per_cpu_s, 1)},
        {"ns_per_event", rounded(row.ns_per_event, 1)},
        {"peak_bytes", row.peak_bytes},
    });
    row.spreads.write(json);
    return json;
}

std::string to_table(const std::vector<BacktestBenchRow>& rows) {
    std::string table = fmt::format(
        "{:<13}{:>8}{:>12}{:>9}{:>11}{:>13}{:>15}{:>10}{:>10}\n",
        "strategy",
        "length",
        "events",
        "fills",
        "decisions",
        "events/s",
        "events/cpu-s",
        "ns/event",
        "peak MB");
    for (const BacktestBenchRow& row : rows) {
        table += fmt::format(
            "{:<13}{:>7}x{:>12}{:>9}{:>11}{:>13.0f}{:>15.0f}{:>10.1f}{:>10.1f}\n",
            row.strategy,
            row.length,
            row.events,
            row.fills,
            row.decisions,
            row.events_per_s,
            row.events_per_cpu_s,
            row.ns_per_event,
            static_cast<double>(row.peak_bytes) / 1e6);
    }
    return table;
}

}  // namespace interlock
