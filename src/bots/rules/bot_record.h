// What is stored of one tenant's maker bot (docs/contracts/bot.md#2-states): its state, its two
// configurations and the markets it holds. One machine, `bot/<tenant>`.
//
// `config` is what the bot trades by; `approved` is what its owner approved last. They differ only
// when the host's operator changed something: `reload_from_config` makes them equal again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "bots/rules/bot_step.h"
#include "bots/wire/bot_config.h"
#include "engine/wire/ids.h"
#include "host/wire/blocked.h"
#include "market/wire/market_facts.h"

namespace interlock {

// "bot.btcusdt"
StrategyId bot_strategy_id(const Symbol& symbol);

struct BotRecord {
    BotState state = BotState::uninitialized;
    std::string exchange;  // Whose keys it was built with; empty before the first time.
    bool is_connected = true;
    bool cancel_on_stop = false;  // The owner's policy for orders that a stop leaves behind.
    Stall stall;
    BotConfig config;
    BotConfig approved;
    std::int64_t config_version = 1;  // Raised by every change of `config`.
    std::vector<Symbol> markets;      // Where it holds the concern; kept while it is stopped.
    std::string trouble;              // Why it fell back to uninitialized; empty otherwise.
    Timestamp changed_at;
    std::string changed_by;  // A principal's text form.
    friend bool operator==(const BotRecord&, const BotRecord&) = default;
};

inline constexpr std::string_view kBotPrefix = "bot/";
std::string bot_machine(const TenantId& tenant_id);
Json encode(const BotRecord& record);
Result<BotRecord> decode_bot_record(const Json& json);

// What inventory_rails is configured with for one market of the bot.
Json rails_config_of(const BotConfig& config, const Symbol& symbol);

// Why a bot that runs places nothing, by its own word: its session is closed, the exchange does not
// answer, or it is being read anew.
std::optional<Blocked> why_stalled(const BotRecord& record);

// One sentence for each market whose amount is too small for a single order at the prices of now,
// in the configuration's order; markets without a price are passed over.
std::vector<std::string> too_small_amounts(const BotConfig& config, const MarketSet& market);
// When these are all markets it has.
std::optional<Blocked> why_too_small(
    const std::vector<std::string>& too_small, const BotConfig& config);

}  // namespace interlock
