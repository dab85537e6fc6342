#include "bots/wire/bot_config.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "codec/field_reader.h"
#include "host/wire/call_key.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 11> kTimeframeWords{
    "1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "12h", "1d"};
// Tenths and hundredths of the ranges below, as units of 10^-18.
constexpr Decimal kPnlMin = Decimal::from_units(100'000'000'000'000'000);
const Decimal kPnlMax(20);
const Decimal kVolatilityMax(10);
constexpr Decimal kQuantileDefault = Decimal::from_units(200'000'000'000'000'000);

Json number(Decimal value) {
    return Json::number(to_text(value));
}

std::optional<Symbol> read_symbol(FieldReader& in, std::string_view key, const Json& json) {
    auto symbol = Symbol::parse(json.is_string() ? json.as_string() : "");
    if (!symbol) {
        in.add_problem(key, symbol.error().message);
        return std::nullopt;
    }
    return *symbol;
}

Symbol required_symbol(FieldReader& in, std::string_view key) {
    const std::string text = in.required_text(key, {.length_min = 1, .length_max = 40});
    return read_symbol(in, key, Json(text)).value_or(Symbol());
}

std::vector<Symbol> read_symbols(FieldReader& in) {
    std::vector<Symbol> symbols;
    for (const Json& item : in.required_array("symbols", kBotSymbolsMax)) {
        if (const auto symbol = read_symbol(in, "symbols", item)) {
            symbols.push_back(*symbol);
        }
    }
    return symbols;
}

std::optional<Decimal> read_decimal(const Json& json) {
    const bool is_text = json.is_string() || json.is_number();
    const auto value =
        is_text ? Decimal::parse(json.is_string() ? json.as_string() : json.number_text())
                : Decimal::parse("");
    return value ? std::optional(*value) : std::nullopt;
}

std::map<Symbol, Decimal> read_amounts(FieldReader& in) {
    std::map<Symbol, Decimal> amounts;
    const Json* object = in.required_object("amounts_by_symbol");
    if (object == nullptr) {
        return amounts;
    }
    if (object->members().size() > kBotSymbolsMax) {
        in.add_problem("amounts_by_symbol", "names more than 9 symbols");
        return amounts;
    }
    for (const auto& [name, value] : object->members()) {
        const std::string key = "amounts_by_symbol." + name;
        const auto symbol = read_symbol(in, key, Json(name));
        const auto amount = read_decimal(value);
        if (!amount) {
            in.add_problem(key, "expected a number");
        } else if (symbol) {
            amounts[*symbol] = *amount;
        }
    }
    return amounts;
}

// number: a bound; true: the side is off; false or null: cleared.
struct ReadStops {
    std::optional<SideStops> set;
    std::vector<Symbol> cleared;
};
ReadStops read_stops(FieldReader& in, std::string_view key) {
    ReadStops stops;
    const Json* object = in.optional_object(key);
    if (object == nullptr) {
        return stops;
    }
    stops.set.emplace();
    for (const auto& [name, value] : object->members()) {
        const std::string path = std::string(key) + "." + name;
        const auto symbol = read_symbol(in, path, Json(name));
        if (!symbol) {
            continue;
        }
        const auto price = read_decimal(value);
        if (value.is_null() || (value.is_bool() && !value.as_bool())) {
            stops.cleared.push_back(*symbol);
        } else if (value.is_bool()) {
            (*stops.set)[*symbol] = {.is_off = true, .price = std::nullopt};
        } else if (price && price->is_positive()) {
            (*stops.set)[*symbol] = {.is_off = false, .price = *price};
        } else {
            in.add_problem(path, "expected a price above zero, true, false or null");
        }
    }
    return stops;
}

Json encode_stops(const SideStops& stops) {
    Json json = Json::object();
    for (const auto& [symbol, stop] : stops) {
        json.set(std::string(symbol.text()), stop.is_off ? Json(true) : number(*stop.price));
    }
    return json;
}

using ConfigProblems = std::vector<FieldProblem>;

void check_symbols(const BotConfig& config, ConfigProblems& problems) {
    if (config.symbols.empty() || config.symbols.size() > kBotSymbolsMax) {
        problems.push_back({"symbols", "must be 1 to 9 trading pairs"});
    }
    std::vector<Symbol> sorted = config.symbols;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        problems.push_back({"symbols", "names a pair twice"});
    }
    for (const Symbol& symbol : config.symbols) {
        const std::string name(symbol.text());
        const auto amount = config.amounts.find(symbol);
        if (amount == config.amounts.end()) {
            problems.push_back({"amounts_by_symbol", "has no amount for " + name});
        } else if (!amount->second.is_positive()) {
            problems.push_back({"amounts_by_symbol." + name, "must be greater than zero"});
        }
    }
    for (const auto& [symbol, amount] : config.amounts) {
        if (!std::binary_search(sorted.begin(), sorted.end(), symbol)) {
            problems.push_back(
                {"amounts_by_symbol." + std::string(symbol.text()), "is not in symbols"});
        }
    }
}

// Every rule that needs no market, with the fields it belongs to.
ConfigProblems problems_of(const BotConfig& config) {
    ConfigProblems problems;
    check_symbols(config, problems);
    const auto require = [&](bool holds, std::string_view path, std::string_view problem) {
        if (!holds) {
            problems.push_back({std::string(path), std::string(problem)});
        }
    };
    require(
        config.pnl_perc >= kPnlMin && config.pnl_perc <= kPnlMax,
        "pnl_perc",
        "must be from 0.1 to 20 percent");
    require(
        config.tight_quantile.is_positive() && config.tight_quantile < Decimal(1),
        "BBANDS_TIGHT_QUANTILE",
        "must be above 0 and below 1");
    require(
        !config.volatility.is_negative() && config.volatility <= kVolatilityMax,
        "volatility",
        "must be from 0 to 10");
    require(
        std::ranges::find(kTimeframeWords, config.timeframe) != kTimeframeWords.end(),
        "timeframe",
        "must be one of 1m 3m 5m 15m 30m 1h 2h 4h 6h 12h 1d");
    require(
        config.levels >= 1 && config.levels <= kBotLevelsMax,
        "num_bids_ask",
        "must be from 1 to 20");
    for (const SideStops* stops : {&config.stop_buy, &config.stop_sell}) {
        for (const auto& [symbol, stop] : *stops) {
            require(
                config.amounts.contains(symbol),
                stops == &config.stop_buy ? "stop_buy" : "stop_sell",
                "names " + std::string(symbol.text()) + ", which is not traded");
        }
    }
    return problems;
}

void merge(SideStops& into, const std::optional<SideStops>& set, const std::vector<Symbol>& clear) {
    if (set) {
        for (const auto& [symbol, stop] : *set) {
            into[symbol] = stop;
        }
    }
    for (const Symbol& symbol : clear) {
        into.erase(symbol);
    }
}

void drop_stops_of_absent(BotConfig& config) {
    const auto gone = [&](const auto& entry) { return !config.amounts.contains(entry.first); };
    std::erase_if(config.stop_buy, gone);
    std::erase_if(config.stop_sell, gone);
}

void change(UpdatedConfig& next, const UpdatePnl& update) {
    next.config.pnl_perc = update.pnl_perc;
}

void change(UpdatedConfig& next, const UpdateSymbol& update) {
    BotConfig& config = next.config;
    const auto place = std::find(config.symbols.begin(), config.symbols.end(), update.old_symbol);
    if (place == config.symbols.end()) {
        next.problems.push_back(
            {"old_symbol", std::string(update.old_symbol.text()) + " is not traded"});
        return;
    }
    *place = update.new_symbol;
    config.amounts.erase(update.old_symbol);
    config.amounts[update.new_symbol] = update.new_amount;
    drop_stops_of_absent(config);
}

void change(UpdatedConfig& next, const UpdateAllSymbols& update) {
    next.config.symbols = update.symbols;
    next.config.amounts = update.amounts;
    drop_stops_of_absent(next.config);
}

void change(UpdatedConfig& next, const UpdateBotSettings& update) {
    BotConfig& config = next.config;
    merge(config.stop_buy, update.stop_buy, update.cleared_buy);
    merge(config.stop_sell, update.stop_sell, update.cleared_sell);
    config.tight_quantile = update.tight_quantile.value_or(config.tight_quantile);
    config.volatility = update.volatility.value_or(config.volatility);
    config.timeframe = update.timeframe.value_or(config.timeframe);
    config.levels = update.levels.value_or(config.levels);
}

template <class Update>
Result<Update> finish(FieldReader& in, Update update) {
    take_idempotency_key(in);
    in.reject_unknown();
    return in.finish(std::move(update));
}

}  // namespace

BotConfig default_bot_config(std::map<Symbol, Decimal> amounts) {
    BotConfig config;
    for (const auto& [symbol, amount] : amounts) {
        config.symbols.push_back(symbol);
    }
    config.amounts = std::move(amounts);
    config.tight_quantile = kQuantileDefault;
    return config;
}

Json describe(const BotConfig& config) {
    Json symbols = Json::array();
    Json amounts = Json::object();
    for (const Symbol& symbol : config.symbols) {
        symbols.push(symbol.text());
        const auto amount = config.amounts.find(symbol);
        if (amount != config.amounts.end()) {
            amounts.set(std::string(symbol.text()), number(amount->second));
        }
    }
    return Json::object({
        {"symbols", std::move(symbols)},
        {"pnl_perc", number(config.pnl_perc)},
        {"amounts_by_symbol", std::move(amounts)},
        {"stop_buy", encode_stops(config.stop_buy)},
        {"stop_sell", encode_stops(config.stop_sell)},
        {"BBANDS_TIGHT_QUANTILE", number(config.tight_quantile)},
        {"volatility", number(config.volatility)},
        {"timeframe", config.timeframe},
        {"num_bids_ask", config.levels},
    });
}

Json encode(const BotConfig& config) {
    return describe(config);
}

Result<BotConfig> decode_bot_config(const Json& json) {
    FieldReader in(json);
    BotConfig config;
    config.symbols = read_symbols(in);
    config.amounts = read_amounts(in);
    config.pnl_perc = in.required<Decimal>("pnl_perc");
    config.stop_buy = read_stops(in, "stop_buy").set.value_or(SideStops{});
    config.stop_sell = read_stops(in, "stop_sell").set.value_or(SideStops{});
    config.tight_quantile = in.required<Decimal>("BBANDS_TIGHT_QUANTILE");
    config.volatility = in.required<Decimal>("volatility");
    config.timeframe = in.required<std::string>("timeframe");
    config.levels = in.required<std::int64_t>("num_bids_ask");
    if (in.ok()) {
        for (const FieldProblem& problem : problems_of(config)) {
            in.add_problem(problem.path, problem.problem);
        }
    }
    in.reject_unknown();
    return in.finish(std::move(config));
}

Result<UpdatePnl> decode_update_pnl(const Json& json) {
    FieldReader in(json);
    UpdatePnl update{.pnl_perc = in.required<Decimal>("pnl_perc")};
    return finish(in, update);
}

Result<UpdateSymbol> decode_update_symbol(const Json& json) {
    FieldReader in(json);
    UpdateSymbol update;
    update.old_symbol = required_symbol(in, "old_symbol");
    update.new_symbol = required_symbol(in, "new_symbol");
    update.new_amount = in.required<Decimal>("new_amount");
    return finish(in, std::move(update));
}

Result<UpdateAllSymbols> decode_update_all_symbols(const Json& json) {
    FieldReader in(json);
    UpdateAllSymbols update;
    update.symbols = read_symbols(in);
    update.amounts = read_amounts(in);
    return finish(in, std::move(update));
}

Result<UpdateBotSettings> decode_update_bot_settings(const Json& json) {
    FieldReader in(json);
    UpdateBotSettings update;
    ReadStops buy = read_stops(in, "stop_buy");
    ReadStops sell = read_stops(in, "stop_sell");
    update.stop_buy = std::move(buy.set);
    update.cleared_buy = std::move(buy.cleared);
    update.stop_sell = std::move(sell.set);
    update.cleared_sell = std::move(sell.cleared);
    update.tight_quantile = in.optional<Decimal>("BBANDS_TIGHT_QUANTILE");
    update.volatility = in.optional<Decimal>("volatility");
    update.timeframe = in.optional<std::string>("timeframe");
    update.levels = in.optional<std::int64_t>("num_bids_ask");
    return finish(in, std::move(update));
}

UpdatedConfig updated(BotConfig config, const BotUpdate& update) {
    UpdatedConfig next{std::move(config), {}};
    std::visit([&](const auto& one) { change(next, one); }, update);
    for (FieldProblem& problem : problems_of(next.config)) {
        next.problems.push_back(std::move(problem));
    }
    return next;
}

Error config_refusal(std::vector<FieldProblem> problems) {
    const std::size_t more = problems.size() - 1;
    std::string message = problems.front().path + " " + problems.front().problem;
    if (more > 0) {
        message += "; and " + std::to_string(more) + " more in problems";
    }
    return {&errors::invalid_request, message + ".", {}, std::move(problems)};
}

Result<BotConfig> apply_update(BotConfig config, const BotUpdate& update) {
    UpdatedConfig next = updated(std::move(config), update);
    if (!next.problems.empty()) {
        return std::unexpected(config_refusal(std::move(next.problems)));
    }
    return std::move(next.config);
}

Json difference(const BotConfig& from, const BotConfig& to) {
    const Json before = describe(from);
    const Json after = describe(to);
    Json changed = Json::object();
    for (const auto& [name, value] : after.members()) {
        const Json* old = before.find(name);
        if (old == nullptr || *old != value) {
            changed.set(
                name, Json::object({{"from", old == nullptr ? Json() : *old}, {"to", value}}));
        }
    }
    return changed;
}

}  // namespace interlock
