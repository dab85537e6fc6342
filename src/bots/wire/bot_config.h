// The configuration of a maker bot and the proposals that change it
// (docs/contracts/bot.md#4-changes).
//
// The wire writes numbers as floats. They are read from their text and kept as exact decimals;
// answers write them as JSON numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/decimal.h"
#include "base/json.h"
#include "base/result.h"
#include "market/wire/symbol.h"

namespace interlock {

inline constexpr std::size_t kBotSymbolsMax = 9;  // "Inventory rails hard limit."
inline constexpr std::int64_t kBotLevelsMax = 20;

// A side of one market: traded, off, or bounded by a price.
struct SideStop {
    bool is_off = false;
    std::optional<Decimal> price;  // No buys above it, or no sells below it.
    friend bool operator==(const SideStop&, const SideStop&) = default;
};
using SideStops = std::map<Symbol, SideStop>;  // Markets without an entry are not stopped.

struct BotConfig {
    std::vector<Symbol> symbols;        // In the owner's order; 1 to 9, distinct.
    std::map<Symbol, Decimal> amounts;  // Base units; one per symbol, > 0.
    Decimal pnl_perc = Decimal(1);      // Percent; 0.1 to 20.
    SideStops stop_buy;
    SideStops stop_sell;
    Decimal tight_quantile;           // BBANDS_TIGHT_QUANTILE; 0 to 1, both excluded.
    Decimal volatility = Decimal(1);  // 0 to 10.
    std::string timeframe = "1h";
    std::int64_t levels = 3;  // num_bids_ask; 1 to 20.
    friend bool operator==(const BotConfig&, const BotConfig&) = default;
};
BotConfig default_bot_config(std::map<Symbol, Decimal> amounts);

// As stored; decode checks everything that can be checked without a market.
Json encode(const BotConfig& config);
Result<BotConfig> decode_bot_config(const Json& json);
// As `GET /config` answers: the document's names, numbers as numbers.
Json describe(const BotConfig& config);

struct UpdatePnl {
    Decimal pnl_perc;
};
struct UpdateSymbol {
    Symbol old_symbol;
    Symbol new_symbol;
    Decimal new_amount;
};
struct UpdateAllSymbols {
    std::vector<Symbol> symbols;
    std::map<Symbol, Decimal> amounts;
};
// Only what is given changes. A stop of false or null clears it.
struct UpdateBotSettings {
    std::optional<SideStops> stop_buy;
    std::optional<SideStops> stop_sell;
    std::vector<Symbol> cleared_buy;
    std::vector<Symbol> cleared_sell;
    std::optional<Decimal> tight_quantile;
    std::optional<Decimal> volatility;
    std::optional<std::string> timeframe;
    std::optional<std::int64_t> levels;
};
using BotUpdate = std::variant<UpdatePnl, UpdateSymbol, UpdateAllSymbols, UpdateBotSettings>;

Result<UpdatePnl> decode_update_pnl(const Json& json);
Result<UpdateSymbol> decode_update_symbol(const Json& json);
Result<UpdateAllSymbols> decode_update_all_symbols(const Json& json);
Result<UpdateBotSettings> decode_update_bot_settings(const Json& json);

// The configuration after the update with every problem it has that needs no market to be seen.
struct UpdatedConfig {
    BotConfig config;
    std::vector<FieldProblem> problems;
};
UpdatedConfig updated(BotConfig config, const BotUpdate& update);
// All of them in one refusal; at least one.
Error config_refusal(std::vector<FieldProblem> problems);
// Nothing half-done: a configuration without a problem, or all of its problems.
Result<BotConfig> apply_update(BotConfig config, const BotUpdate& update);

// What differs, by the document's names: {"pnl_perc": {"from": 1, "to": 2}}. Empty when equal.
Json difference(const BotConfig& from, const BotConfig& to);

}  // namespace interlock
