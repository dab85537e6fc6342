#include "app/command/backtest_command.h"

#include <toml++/toml.h>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iostream>

#include "app/command/backtest_page.h"
#include "app/command/backtest_text.h"
#include "app/command/console.h"
#include "app/wiring/data_path.h"
#include "app/wiring/server_client.h"
#include "base/errors.h"
#include "base/text.h"

namespace interlock {
namespace {

// Longer ones first where one ends like another.
constexpr std::array<std::string_view, 16> kQuotes{
    "FDUSD",
    "USDT",
    "USDC",
    "BUSD",
    "TUSD",
    "USDP",
    "USD",
    "EUR",
    "GBP",
    "TRY",
    "JPY",
    "BRL",
    "DAI",
    "BTC",
    "ETH",
    "BNB"};

struct Flags {
    std::string strategy;
    std::string config_path;
    std::vector<std::string> data;
    std::string from;
    std::string to;
    std::int64_t warmup_hours = 0;
    std::string symbol;
    std::string base;
    std::string quote;
    std::string deposit = "10000";
    std::string base_deposit = "0";
    std::string posture = "balanced";
    std::string maker_bps = "10";
    std::string taker_bps = "10";
    std::string spread_bps = "2";
    std::int64_t depth = 10'000;
    std::string tick_size;
    std::string step_size;
    std::string min_notional = "5";
    std::vector<std::string> limits;
    std::uint64_t seed = 1;
    std::int64_t skip_bad_rows = 0;
    std::string json_path;
    std::string html_path;
};

std::unexpected<Error> bad_flag(std::string_view flag, const std::string& problem) {
    return fail(errors::bad_usage, std::string(flag) + " " + problem);
}

Result<Decimal> decimal_flag(std::string_view flag, const std::string& text) {
    auto value = Decimal::parse(text);
    if (!value || value->is_negative()) {
        return bad_flag(flag, "must be a number that is not negative, found \"" + text + "\".");
    }
    return value;
}

// A number of units of which `per_one` make one; finer ones are refused.
Result<std::int64_t> scaled_flag(
    std::string_view flag, const std::string& text, std::int64_t per_one) {
    TRY_ASSIGN(const Decimal value, decimal_flag(flag, text));
    const __int128 unit = Decimal(1).units() / per_one;
    if (value.units() % unit != 0 || value > Decimal(10'000)) {
        return bad_flag(flag, "must be at most 10000 in steps of 0.01, found \"" + text + "\".");
    }
    return static_cast<std::int64_t>(value.units() / unit);
}

// A time or the beginning of a day.
Result<std::optional<Timestamp>> time_flag(std::string_view flag, const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    const auto at = parse_timestamp(text.size() == 10 ? text + "T00:00:00Z" : text);
    if (!at) {
        return bad_flag(flag, "must be a day or a time like 2026-01-31T12:00:00Z.");
    }
    return std::optional(*at);
}

Result<std::vector<LimitChange>> limits_of(const std::vector<std::string>& texts) {
    Json wanted = Json::object();
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
            return bad_flag("--limit", "must be NAME=VALUE, found \"" + text + "\".");
        }
        wanted.set(text.substr(0, equals), text.substr(equals + 1));
    }
    auto changes = decode_limit_changes(wanted);
    if (!changes) {
        const Error& error = changes.error();
        return bad_flag(
            "--limit",
            error.problems.empty()
                ? error.message
                : error.problems[0].path + " " + error.problems[0].problem + ".");
    }
    return changes;
}

Result<MarketRules> rules_of(const Flags& flags) {
    std::optional<SymbolParts> parts =
        flags.symbol.empty() ? symbol_of_file(flags.data.front()) : split_symbol(flags.symbol);
    if (!flags.base.empty() && !flags.quote.empty()) {
        SymbolParts named;
        TRY_ASSIGN(named.base, Asset::parse(flags.base));
        TRY_ASSIGN(named.quote, Asset::parse(flags.quote));
        const std::string text = flags.symbol.empty() ? flags.base + flags.quote : flags.symbol;
        TRY_ASSIGN(named.symbol, Symbol::parse(text));
        parts = named;
    }
    if (!parts) {
        return fail(
            errors::bad_usage,
            flags.symbol.empty() ? "The file's name does not begin with a known symbol."
                                 : "It is not clear which part of the symbol is the quote asset.",
            "Name --base and --quote.");
    }
    MarketRules rules = backtest_rules(parts->symbol, parts->base, parts->quote);
    if (!flags.tick_size.empty()) {
        TRY_ASSIGN(rules.tick_size, decimal_flag("--tick-size", flags.tick_size));
    }
    if (!flags.step_size.empty()) {
        TRY_ASSIGN(rules.step_size, decimal_flag("--step-size", flags.step_size));
    }
    TRY_ASSIGN(rules.notional_min, decimal_flag("--min-notional", flags.min_notional));
    return rules;
}

// The first problem of a refused configuration, with its key.
Error config_error(const Error& error, const std::string& path) {
    std::string message = error.message;
    if (!error.problems.empty()) {
        message = error.problems[0].path + " " + error.problems[0].problem + ".";
    }
    return fail(errors::bad_usage, (path.empty() ? "" : path + ": ") + message).error();
}

Result<void> choose_strategy(const Flags& flags, BacktestOptions& options) {
    const StrategyType* type = find_strategy_type(flags.strategy);
    if (type == nullptr) {
        std::string known;
        for (const StrategyType& one : strategy_types()) {
            known += (known.empty() ? "" : ", ") + std::string(one.name);
        }
        return fail(
            errors::bad_usage,
            "There is no strategy " + flags.strategy + ".",
            "Use " + known + ".");
    }
    options.strategy_type = flags.strategy;
    if (!flags.config_path.empty()) {
        TRY_ASSIGN(options.config, read_strategy_config(flags.config_path));
    }
    auto opened = type->open(options.config);
    if (!opened) {
        return std::unexpected(config_error(opened.error(), flags.config_path));
    }
    options.strategy = *std::move(opened);
    return {};
}

Result<BacktestOptions> options_of(const Flags& flags) {
    for (const std::string& path : flags.data) {
        if (path != "-") {
            TRY(require_readable(errors::invalid_request, "The market data", path));
        }
    }
    BacktestOptions options;
    options.paths = flags.data;
    TRY(choose_strategy(flags, options));
    TRY_ASSIGN(options.posture, parse_risk_posture(flags.posture));
    TRY_ASSIGN(options.rules, rules_of(flags));
    TRY_ASSIGN(options.deposit, decimal_flag("--deposit", flags.deposit));
    TRY_ASSIGN(options.base_deposit, decimal_flag("--base-deposit", flags.base_deposit));
    TRY_ASSIGN(options.limits, limits_of(flags.limits));
    TRY_ASSIGN(options.fees.maker_ppm, scaled_flag("--maker-bps", flags.maker_bps, 100));
    TRY_ASSIGN(options.fees.taker_ppm, scaled_flag("--taker-bps", flags.taker_bps, 100));
    TRY_ASSIGN(
        options.assumptions.spread_bps_e2, scaled_flag("--spread-bps", flags.spread_bps, 100));
    options.assumptions.depth_quote = flags.depth;
    options.assumptions.seed = flags.seed;
    TRY_ASSIGN(options.from, time_flag("--from", flags.from));
    TRY_ASSIGN(options.to, time_flag("--to", flags.to));
    if (options.from && options.to && *options.from >= *options.to) {
        return bad_flag("--from", "must lie before --to.");
    }
    options.warmup = Duration::of_hours(flags.warmup_hours);
    options.bad_rows_max = flags.skip_bad_rows;
    return options;
}

// Percent, events per second and what is left, on a terminal only.
class Bar {
public:
    explicit Bar(bool quiet) : line_(quiet) {}

    void show(const BacktestProgress& progress) {
        const double seconds = elapsed();
        const double rate = seconds > 0 ? static_cast<double>(progress.events) / seconds : 0;
        std::string text;
        if (progress.bytes_total > 0) {
            const double share = std::min(
                1.0,
                static_cast<double>(progress.bytes_read) /
                    static_cast<double>(progress.bytes_total));
            constexpr int kWidth = 30;
            const int full = static_cast<int>(share * kWidth);
            text = "[" + std::string(static_cast<std::size_t>(full), '=') +
                   std::string(static_cast<std::size_t>(kWidth - full), ' ') + "] " +
                   fmt::format("{:.0f} %, ", share * 100);
            const double left = share > 0 ? seconds / share - seconds : 0;
            text += fmt::format("{:.1f} s left, ", left);
        }
        text += fmt::format("{:.2f} M events/s, {}", rate / 1e6, moment_text(progress.at));
        line_.show(text);
    }
    void clear() { line_.clear(); }
    double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    }

private:
    ProgressLine line_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

Result<void> write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
        return fail(errors::io_failed, path + " cannot be written.");
    }
    return {};
}

void print_report(const BacktestResult& result, double seconds) {
    BacktestRows rows = report_rows(result);
    rows.emplace_back(
        "speed",
        fmt::format(
            "{:.2f} s, {:.2f} M events/s",
            seconds,
            static_cast<double>(result.events) / std::max(seconds, 1e-9) / 1e6));
    std::cout << result.options.strategy_type << " on " << result.options.rules.symbol.text()
              << "\n\n"
              << render_fields(rows);
    if (const auto refused = refusal_rows(result); !refused.empty()) {
        std::cout << "\n" << render_table({"REFUSED BY", "REASON", "DECISIONS"}, refused);
    }
    std::cout << std::flush;
}

Result<void> run(const GlobalOptions& global, const Flags& flags) {
    TRY_ASSIGN(BacktestOptions options, options_of(flags));
    Bar bar(global.json);
    const auto result = run_backtest(
        std::move(options), [&](const BacktestProgress& progress) { bar.show(progress); });
    const double seconds = bar.elapsed();
    bar.clear();
    TRY(result);
    if (!flags.json_path.empty()) {
        TRY(write_file(flags.json_path, to_pretty_text(encode(*result)) + "\n"));
    }
    if (!flags.html_path.empty()) {
        TRY(write_file(flags.html_path, backtest_page(*result)));
    }
    if (global.json) {
        print_json(encode(*result));
    } else {
        print_report(*result, seconds);
    }
    if (!result->drift.empty()) {
        return fail(errors::internal, "Books and venue differ: " + result->drift.front() + ".");
    }
    return {};
}

void add_data_flags(CLI::App& command, Flags& flags) {
    command
        .add_option(
            "--market-data,--data",
            flags.data,
            "Binance klines, trades or aggTrades as CSV, or a recording; more files in the order "
            "of time, - for standard input.")
        ->required()
        ->type_name("FILE");
    command.add_option("--from", flags.from, "Trade from here on; earlier rows only warm up.")
        ->type_name("TIME");
    command.add_option("--to", flags.to, "End before this time.")->type_name("TIME");
    command
        .add_option(
            "--warmup-hours", flags.warmup_hours, "Without --from: hours that only warm up.")
        ->check(CLI::Range(0, 24 * 365));
    command.add_option(
        "--skip-bad-rows", flags.skip_bad_rows, "Leave out up to this many bad rows.");
    command.add_option(
        "--symbol", flags.symbol, "Market, like BTCUSDT (default: from the file's name).");
    command.add_option("--base", flags.base, "Base asset, when the symbol does not tell.");
    command.add_option("--quote", flags.quote, "Quote asset, when the symbol does not tell.");
    command.add_option("--tick-size", flags.tick_size, "Price step (default: from the data).");
    command.add_option("--step-size", flags.step_size, "Quantity step (default: from the data).");
}

void add_account_flags(CLI::App& command, Flags& flags) {
    command.add_option("--deposit", flags.deposit, "Quote to begin with (default 10000).");
    command.add_option("--base-deposit", flags.base_deposit, "Base to begin with (default 0).");
    command.add_option("--risk-posture", flags.posture, "How bold the strategy is.")
        ->check(CLI::IsMember({"conservative", "balanced", "aggressive"}));
    command
        .add_option("--limit", flags.limits, "A risk limit, as in the configuration's [limits].")
        ->type_name("NAME=VALUE");
    command.add_option("--maker-bps", flags.maker_bps, "The venue's maker fee (default 10).");
    command.add_option("--taker-bps", flags.taker_bps, "The venue's taker fee (default 10).");
    command.add_option("--min-notional", flags.min_notional, "Smallest order (default 5).");
    command.add_option(
        "--spread-bps",
        flags.spread_bps,
        "Spread around prices of candles and trades (default 2).");
    command
        .add_option("--depth", flags.depth, "What stands at the touch, in quote (default 10000).")
        ->check(CLI::Range(1, 1'000'000'000));
    command.add_option(
        "--seed", flags.seed, "Decides which extreme of an even candle came first (default 1).");
}

}  // namespace

std::optional<SymbolParts> split_symbol(const std::string& text) {
    const auto symbol = Symbol::parse(text);
    if (!symbol) {
        return std::nullopt;
    }
    const std::string_view whole = symbol->text();
    for (const std::string_view quote : kQuotes) {
        if (whole.size() > quote.size() && whole.ends_with(quote)) {
            const auto base = Asset::parse(whole.substr(0, whole.size() - quote.size()));
            const auto parsed = Asset::parse(quote);
            if (base && parsed) {
                return SymbolParts{*symbol, *base, *parsed};
            }
        }
    }
    return std::nullopt;
}

std::optional<SymbolParts> symbol_of_file(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    return split_symbol(name.substr(0, name.find_first_of("-_.")));
}

Result<Json> read_strategy_config(const std::string& path) {
    TRY(require_readable(errors::bad_usage, "The strategy's configuration", path));
    try {
        const toml::table table = toml::parse_file(path);
        Json config = Json::object();
        for (const auto& [name, node] : table) {
            const std::string key(name.str());
            if (const auto text = node.value_exact<std::string>()) {
                config.set(key, *text);
            } else if (const auto whole = node.value_exact<std::int64_t>()) {
                config.set(key, *whole);
            } else if (const auto flag = node.value_exact<bool>()) {
                config.set(key, *flag);
            } else if (const auto number = node.value_exact<double>()) {
                // The shortest text that means this number: what was written.
                std::array<char, 64> digits{};
                const auto end = std::to_chars(
                    digits.data(),
                    digits.data() + digits.size(),
                    *number,
                    std::chars_format::fixed);
                if (end.ec != std::errc() ||
                    !is_json_number(std::string_view(digits.data(), end.ptr))) {
                    return fail(errors::bad_usage, path + ": " + key + " is no number.");
                }
                config.set(key, Json::number(std::string(digits.data(), end.ptr)));
            } else {
                return fail(
                    errors::bad_usage, path + ": " + key + " has a type that no key takes.");
            }
        }
        return config;
    } catch (const toml::parse_error& error) {
        return fail(
            errors::bad_usage,
            path + " is not valid TOML: " + std::string(error.description()) + " (line " +
                std::to_string(error.source().begin.line) + ").");
    }
}

void add_backtest_command(CommandLine& line) {
    CLI::App* command = line.app.add_subcommand(
        "backtest", "Run a strategy over recorded market data; works without a server.");
    const auto flags = std::make_shared<Flags>();
    std::vector<std::string> types;
    for (const StrategyType& type : strategy_types()) {
        types.emplace_back(type.name);
    }
    command->add_option("--strategy", flags->strategy, "Which strategy.")
        ->required()
        ->check(CLI::IsMember(types));
    command
        ->add_option(
            "--strategy-config,--config",
            flags->config_path,
            "The strategy's parameters (TOML); defaults without.")
        ->type_name("FILE");
    add_data_flags(*command, *flags);
    add_account_flags(*command, *flags);
    command->add_option("--json-file,--json", flags->json_path, "Write the result as JSON.")
        ->type_name("FILE");
    command->add_option("--html-file,--html", flags->html_path, "Write the result as a page.")
        ->type_name("FILE");
    command->callback([&line, flags] {
        line.run = [&line, flags] {
            const auto ran = run(line.global, *flags);
            return ran ? ExitCode::ok : report_failure(line.global, ran.error());
        };
    });
}

}  // namespace interlock
