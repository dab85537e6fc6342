#include "trader/rules/supervisor/supervisor_facts.h"

#include <algorithm>
#include <array>

#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 5> kRegimes{
    "range", "trend_up", "trend_down", "volatile", "unclear"};
constexpr std::array<std::string_view, 5> kRiskModes{
    "normal", "reduced", "defensive", "reduce_only", "halted"};
constexpr std::array<std::string_view, 3> kModes{"off", "observe", "active"};
constexpr std::array<std::string_view, 3> kStatuses{"active", "paused", "informational"};
constexpr std::array<std::string_view, 3> kQualities{"good", "degraded", "stalled"};
constexpr std::int64_t kHoldSecondsMax = 7 * 24 * 60 * 60;

Json decimal_or_null(const std::optional<Decimal>& value) {
    return value ? Json(to_text(*value)) : Json();
}

Json flag_or_null(const std::optional<bool>& value) {
    return value ? Json(*value) : Json();
}

Json mode_or_null(const std::optional<RiskMode>& mode) {
    return mode ? Json(to_word(*mode)) : Json();
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

std::optional<RiskMode> read_mode(FieldReader& in, std::string_view key) {
    const auto index = in.optional_word_index(key, kRiskModes);
    return index ? std::optional(static_cast<RiskMode>(*index)) : std::nullopt;
}

Json encode(const CandidateFacts& facts) {
    return Json::object({
        {"strategy_id", facts.strategy_id.text()},
        {"strategy_type", facts.strategy_type},
        {"concern_id", facts.concern_id.text()},
        {"mode", to_word(facts.mode)},
        {"status", facts.status},
        {"paused", facts.paused},
        {"paused_by_supervisor", facts.paused_by_supervisor},
        {"is_latched", facts.is_latched},
        {"problem", facts.problem},
        {"trade_side", facts.trade_side},
        {"inventory_pressure", decimal_or_null(facts.inventory_pressure)},
        {"capacity_available", flag_or_null(facts.capacity_available)},
        {"buy_capacity", decimal_or_null(facts.buy_capacity)},
        {"sell_capacity", decimal_or_null(facts.sell_capacity)},
        {"rebalance_needed", flag_or_null(facts.rebalance_needed)},
        {"grid_step_pct", decimal_or_null(facts.grid_step_pct)},
    });
}

Result<CandidateFacts> decode_candidate(const Json& json) {
    FieldReader in(json);
    CandidateFacts facts;
    facts.strategy_id = in.required<StrategyId>("strategy_id");
    facts.strategy_type = in.required<std::string>("strategy_type");
    facts.concern_id = in.required<ConcernId>("concern_id");
    facts.mode = static_cast<InstanceMode>(in.required_word_index("mode", kModes));
    facts.status = in.required<std::string>("status");
    facts.paused = in.required<bool>("paused");
    facts.paused_by_supervisor = in.required<bool>("paused_by_supervisor");
    facts.is_latched = in.required<bool>("is_latched");
    facts.problem = in.required<std::string>("problem");
    facts.trade_side = in.required<std::string>("trade_side");
    facts.inventory_pressure = in.required_nullable<Decimal>("inventory_pressure");
    facts.capacity_available = in.required_nullable<bool>("capacity_available");
    facts.buy_capacity = in.required_nullable<Decimal>("buy_capacity");
    facts.sell_capacity = in.required_nullable<Decimal>("sell_capacity");
    facts.rebalance_needed = in.required_nullable<bool>("rebalance_needed");
    facts.grid_step_pct = in.required_nullable<Decimal>("grid_step_pct");
    in.reject_unknown();
    return in.finish(std::move(facts));
}

Json encode(const SupervisorPolicy& policy) {
    return Json::object({
        {"min_confidence", to_text(policy.min_confidence)},
        {"minimum_hold_seconds", policy.minimum_hold.microseconds / 1'000'000},
    });
}

Result<SupervisorPolicy> decode_policy(const Json& json) {
    FieldReader in(json);
    SupervisorPolicy policy;
    policy.min_confidence = in.required<Decimal>("min_confidence");
    policy.minimum_hold =
        Duration::of_seconds(in.required_integer("minimum_hold_seconds", 0, kHoldSecondsMax));
    in.reject_unknown();
    return in.finish(policy);
}

// A nested value through its own decoder; its problems become the reader's.
template <class T>
void take(FieldReader& in, Result<T> decoded, T& into) {
    if (decoded) {
        into = *std::move(decoded);
    } else {
        in.absorb(decoded.error());
    }
}

std::optional<Decimal> decimal_of(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    if (value == nullptr || !value->is_string()) {
        return std::nullopt;
    }
    const auto parsed = Decimal::parse(value->as_string());
    return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<bool> flag_of(const Json& json, std::string_view key) {
    const Json* value = json.find(key);
    return value != nullptr && value->is_bool() ? std::optional(value->as_bool()) : std::nullopt;
}

}  // namespace

std::string_view to_word(MarketRegime regime) {
    return kRegimes[static_cast<std::size_t>(regime)];
}

const CandidateFacts* SupervisorFacts::active() const {
    const auto found =
        std::find_if(candidates.begin(), candidates.end(), [&](const CandidateFacts& candidate) {
            return active_strategy_id && candidate.strategy_id == *active_strategy_id;
        });
    return found == candidates.end() ? nullptr : &*found;
}

Json encode(const SupervisorMemory& memory) {
    return Json::object({
        {"regime", to_word(memory.regime)},
        {"risk_mode_set", mode_or_null(memory.risk_mode_set)},
        {"risk_mode_before", mode_or_null(memory.risk_mode_before)},
        {"tightened_at", time_or_null(memory.tightened_at)},
    });
}

Result<SupervisorMemory> decode_supervisor_memory(const Json& json) {
    FieldReader in(json);
    SupervisorMemory memory;
    memory.regime = static_cast<MarketRegime>(in.required_word_index("regime", kRegimes));
    memory.risk_mode_set = read_mode(in, "risk_mode_set");
    memory.risk_mode_before = read_mode(in, "risk_mode_before");
    memory.tightened_at = in.required_nullable<Timestamp>("tightened_at");
    in.reject_unknown();
    return in.finish(memory);
}

Json encode(const SupervisorFacts& facts) {
    Json candidates = Json::array();
    for (const CandidateFacts& candidate : facts.candidates) {
        candidates.push(encode(candidate));
    }
    return Json::object({
        {"concern_id", facts.concern_id.text()},
        {"account_id", facts.account_id.text()},
        {"symbol", facts.symbol.text()},
        {"status", to_word(facts.status)},
        {"risk_mode", to_word(facts.risk_mode)},
        {"execution_quality", to_word(facts.quality)},
        {"is_switching", facts.is_switching},
        {"kill_switch_active", facts.kill_switch_active},
        {"active_strategy_id",
         facts.active_strategy_id ? Json(facts.active_strategy_id->text()) : Json()},
        {"active_since", time_or_null(facts.active_since)},
        {"signals", encode(facts.signals)},
        {"candidates", std::move(candidates)},
        {"memory", encode(facts.memory)},
        {"policy", encode(facts.policy)},
    });
}

Result<SupervisorFacts> decode_supervisor_facts(const Json& bundle, Timestamp now) {
    FieldReader in(bundle);
    SupervisorFacts facts;
    facts.now = now;
    facts.concern_id = in.required<ConcernId>("concern_id");
    facts.account_id = in.required<AccountId>("account_id");
    facts.symbol = read_stored_symbol(in, "symbol");
    facts.status = static_cast<ConcernStatus>(in.required_word_index("status", kStatuses));
    facts.risk_mode = static_cast<RiskMode>(in.required_word_index("risk_mode", kRiskModes));
    facts.quality =
        static_cast<ExecutionQuality>(in.required_word_index("execution_quality", kQualities));
    facts.is_switching = in.required<bool>("is_switching");
    facts.kill_switch_active = in.required<bool>("kill_switch_active");
    facts.active_strategy_id = in.required_nullable<StrategyId>("active_strategy_id");
    facts.active_since = in.required_nullable<Timestamp>("active_since");
    if (const Json* signals = in.required_object("signals")) {
        take(in, decode_market_signals(*signals), facts.signals);
    }
    for (const Json& item : in.required_array("candidates", kCandidatesMax)) {
        take(in, decode_candidate(item), facts.candidates.emplace_back());
    }
    if (const Json* memory = in.required_object("memory")) {
        take(in, decode_supervisor_memory(*memory), facts.memory);
    }
    if (const Json* policy = in.required_object("policy")) {
        take(in, decode_policy(*policy), facts.policy);
    }
    in.reject_unknown();
    return in.finish(std::move(facts));
}

void take_supervision(CandidateFacts& candidate, const Json& supervision) {
    candidate.inventory_pressure = decimal_of(supervision, "inventory_pressure");
    candidate.capacity_available = flag_of(supervision, "capacity_available");
    candidate.rebalance_needed = flag_of(supervision, "rebalance_needed");
    candidate.grid_step_pct = decimal_of(supervision, "grid_step_pct");
    if (const Json* sides = supervision.find("side_capacity")) {
        candidate.buy_capacity = decimal_of(*sides, "buy");
        candidate.sell_capacity = decimal_of(*sides, "sell");
    }
}

}  // namespace interlock
