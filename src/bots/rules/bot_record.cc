#include "bots/rules/bot_record.h"

#include <array>

#include "codec/field_reader.h"
#include "trader/rules/strategies/inventory_rails/inventory_rails.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kStates{"uninitialized", "ready", "running", "stopped"};
constexpr std::array<std::string_view, 4> kCauses{"exchange", "start", "session", "pulse"};
// By cause, while the exchange answers.
constexpr std::array<std::string_view, 4> kCauseWords{
    "The exchange answers again",
    "The server was started",
    "The session was opened",
    "A pulse failed"};

Json encode_stall(const Stall& stall) {
    return Json::object({
        {"is_stalled", stall.is_stalled},
        {"cause", kCauses[static_cast<std::size_t>(stall.cause)]},
        {"failures", stall.failures},
        {"good_pulses", stall.good_pulses},
        {"next_try_at", stall.next_try_at ? Json(to_text(*stall.next_try_at)) : Json()},
        {"is_told", stall.is_told},
    });
}

Result<Stall> decode_stall(const Json& json) {
    FieldReader in(json, "stall");
    Stall stall;
    stall.is_stalled = in.required<bool>("is_stalled");
    // Not in rows of older servers.
    stall.cause = static_cast<StallCause>(in.optional_word_index("cause", kCauses).value_or(0));
    stall.failures = in.required<std::int64_t>("failures");
    stall.good_pulses = in.required<std::int64_t>("good_pulses");
    stall.next_try_at = in.required_nullable<Timestamp>("next_try_at");
    stall.is_told = in.optional<bool>("is_told").value_or(false);  // Older rows have none.
    return in.finish(stall);
}

}  // namespace

StrategyId bot_strategy_id(const Symbol& symbol) {
    std::string text(kKeptStrategyPrefix);
    for (const char c : symbol.text()) {
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return StrategyId::trusted(std::move(text));
}

std::string bot_machine(const TenantId& tenant_id) {
    return std::string(kBotPrefix) + tenant_id.text();
}

Json encode(const BotRecord& record) {
    Json markets = Json::array();
    for (const Symbol& symbol : record.markets) {
        markets.push(symbol.text());
    }
    return Json::object({
        {"state", to_word(record.state)},
        {"exchange", record.exchange},
        {"is_connected", record.is_connected},
        {"cancel_on_stop", record.cancel_on_stop},
        {"stall", encode_stall(record.stall)},
        {"config", encode(record.config)},
        {"approved", encode(record.approved)},
        {"config_version", record.config_version},
        {"markets", std::move(markets)},
        {"trouble", record.trouble},
        {"changed_at", to_text(record.changed_at)},
        {"changed_by", record.changed_by},
    });
}

Result<BotRecord> decode_bot_record(const Json& json) {
    FieldReader in(json);
    BotRecord record;
    record.state = static_cast<BotState>(in.required_word_index("state", kStates));
    record.exchange = in.required<std::string>("exchange");
    record.is_connected = in.required<bool>("is_connected");
    record.cancel_on_stop = in.required<bool>("cancel_on_stop");
    const Json* stall = in.required_object("stall");
    const Json* config = in.required_object("config");
    const Json* approved = in.required_object("approved");
    record.config_version = in.required<std::int64_t>("config_version");
    for (const Json& item : in.required_array("markets", kBotSymbolsMax)) {
        TRY_ASSIGN(Symbol symbol, Symbol::parse(item.is_string() ? item.as_string() : ""));
        record.markets.push_back(symbol);
    }
    record.trouble = in.required<std::string>("trouble");
    record.changed_at = in.required<Timestamp>("changed_at");
    record.changed_by = in.required<std::string>("changed_by");
    if (in.ok()) {
        TRY_ASSIGN(record.stall, decode_stall(*stall));
        TRY_ASSIGN(record.config, decode_bot_config(*config));
        TRY_ASSIGN(record.approved, decode_bot_config(*approved));
    }
    return in.finish(std::move(record));
}

Json rails_config_of(const BotConfig& config, const Symbol& symbol) {
    const auto stop_of = [&](const SideStops& stops) -> Json {
        const auto found = stops.find(symbol);
        if (found == stops.end()) {
            return {};
        }
        return found->second.is_off ? Json(true) : Json(to_text(*found->second.price));
    };
    const auto amount = config.amounts.find(symbol);
    return Json::object({
        {"amount", to_text(amount == config.amounts.end() ? Decimal() : amount->second)},
        {"pnl_perc", to_text(config.pnl_perc)},
        {"timeframe", config.timeframe},
        {"BBANDS_TIGHT_QUANTILE", to_text(config.tight_quantile)},
        {"volatility", to_text(config.volatility)},
        {"num_bids_ask", config.levels},
        {"stop_buy", stop_of(config.stop_buy)},
        {"stop_sell", stop_of(config.stop_sell)},
    });
}

std::optional<Blocked> why_stalled(const BotRecord& record) {
    if (record.state != BotState::running) {
        return std::nullopt;
    }
    if (!record.is_connected) {
        return Blocked{
            "stalled",
            "The session with the exchange is closed.",
            "POST /connect-exchange opens it again."};
    }
    if (!record.stall.is_stalled) {
        return std::nullopt;
    }
    if (record.stall.failures > 0) {
        return Blocked{
            "stalled",
            "The exchange does not answer; nothing is placed until it has answered twice in a row.",
            "It is asked again by itself; look at /exchange_status."};
    }
    return Blocked{
        "stalled",
        std::string(kCauseWords[static_cast<std::size_t>(record.stall.cause)]) +
            ", so everything is being read anew; nothing is placed until then.",
        "It goes on by itself within seconds; `hydration` of /status shows how far it is."};
}

std::vector<std::string> too_small_amounts(const BotConfig& config, const MarketSet& market) {
    std::vector<std::string> sentences;
    for (const Symbol& symbol : config.symbols) {
        const MarketFacts* facts = market.find(symbol);
        const auto maker = open_inventory_rails(rails_config_of(config, symbol));
        if (facts == nullptr || !maker) {
            continue;
        }
        if (auto sentence = (*maker)->why_too_small(*facts)) {
            sentences.push_back(*std::move(sentence));
        }
    }
    return sentences;
}

std::optional<Blocked> why_too_small(
    const std::vector<std::string>& too_small, const BotConfig& config) {
    if (too_small.empty() || too_small.size() < config.symbols.size()) {
        return std::nullopt;
    }
    return Blocked{
        "below_minimum",
        too_small.front(),
        "Propose larger amounts with /update_all_symbols, or fewer levels with "
        "/update_bot_settings; a human approves them."};
}

}  // namespace interlock
