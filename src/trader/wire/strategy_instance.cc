// Rows of strategy instances and concerns. They are written with every tick and every decision, so
// each object is built in one go; times are whole microseconds, because a row must come back as it
// was.
#include "trader/wire/strategy_instance.h"

#include <array>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "codec/field_reader.h"
#include "market/wire/market_fields.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 3> kInstanceModes{"off", "observe", "active"};
constexpr std::array<std::string_view, 3> kPostures{"conservative", "balanced", "aggressive"};
constexpr std::array<std::string_view, 3> kQualities{"good", "degraded", "stalled"};
constexpr std::array<std::string_view, 3> kConcernStatuses{"active", "paused", "informational"};
constexpr std::array<std::string_view, 5> kRiskModes{
    "normal", "reduced", "defensive", "reduce_only", "halted"};

constexpr std::int64_t kCountMax = std::int64_t{1} << 53;
// There are ten reasons; a row with more than this is not ours.
constexpr std::size_t kQualityReasonsMax = 32;

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(at->microseconds) : Json();
}

std::optional<Timestamp> read_time_or_null(FieldReader& in, std::string_view key) {
    const auto at = in.required_nullable<std::int64_t>(key);
    return at ? std::optional(Timestamp{*at}) : std::nullopt;
}

Json id_or_null(const std::optional<StrategyId>& id) {
    return id ? Json(id->text()) : Json();
}

std::int64_t read_count(FieldReader& in, std::string_view key) {
    return in.required_integer(key, 0, kCountMax);
}

RiskMode read_stored_risk_mode(FieldReader& in, std::string_view key) {
    return static_cast<RiskMode>(in.required_word_index(key, kRiskModes));
}

// A part of a row decoded by its own function; problems join those of `in`.
template <class T>
T read_part(FieldReader& in, std::string_view key, Result<T> (*decode)(const Json&)) {
    const Json* part = in.required_object(key);
    if (part == nullptr) {
        return {};
    }
    auto decoded = decode(*part);
    if (!decoded) {
        in.absorb(decoded.error());
        return {};
    }
    return *std::move(decoded);
}

Json read_object(FieldReader& in, std::string_view key) {
    const Json* object = in.required_object(key);
    return object == nullptr ? Json::object() : *object;
}

Json encode(const SwitchUnderWay& change) {
    return Json::object({
        {"decision_id", change.decision_id.text()},
        {"from", id_or_null(change.from)},
        {"to", change.to.text()},
        {"risk_mode", to_word(change.risk_mode)},
        {"started_at", change.started_at.microseconds},
        {"deadline", change.deadline.microseconds},
        {"operation", change.operation},
        {"request", change.request},
        {"verdict", change.verdict},
    });
}

Result<SwitchUnderWay> decode_switch(const Json& json) {
    FieldReader in(json, "switching");
    SwitchUnderWay change{
        .decision_id = in.required<DecisionId>("decision_id"),
        .from = in.required_nullable<StrategyId>("from"),
        .to = in.required<StrategyId>("to"),
        .risk_mode = read_stored_risk_mode(in, "risk_mode"),
        .started_at = read_stored_time(in, "started_at"),
        .deadline = read_stored_time(in, "deadline"),
        .operation = in.required<Json>("operation"),
        .request = in.required<Json>("request"),
        .verdict = in.required<Json>("verdict"),
    };
    in.reject_unknown();
    return in.finish(std::move(change));
}

std::optional<SwitchUnderWay> read_switch(FieldReader& in) {
    const auto json = in.required_nullable<Json>("switching");
    if (!json) {
        return std::nullopt;
    }
    auto change = decode_switch(*json);
    if (!change) {
        in.absorb(change.error());
        return std::nullopt;
    }
    return *std::move(change);
}

std::vector<std::string> read_reasons(FieldReader& in) {
    std::vector<std::string> reasons;
    for (const Json& item : in.required_array("quality_reasons", kQualityReasonsMax)) {
        if (!item.is_string()) {
            in.add_problem("quality_reasons", "expected strings");
            break;
        }
        reasons.push_back(item.as_string());
    }
    return reasons;
}

}  // namespace

std::string_view to_word(InstanceMode mode) {
    return kInstanceModes[static_cast<std::size_t>(mode)];
}

std::string_view to_word(ExecutionQuality quality) {
    return kQualities[static_cast<std::size_t>(quality)];
}

std::string_view to_word(ConcernStatus status) {
    return kConcernStatuses[static_cast<std::size_t>(status)];
}

Json encode(const StrategyPolicy& policy) {
    return Json::object({
        {"risk_posture", policy.risk_posture},
        {"priority", policy.priority},
        {"metadata", policy.metadata},
    });
}

Result<StrategyPolicy> decode_strategy_policy(const Json& json) {
    FieldReader in(json, "policy");
    StrategyPolicy policy;
    if (const auto posture = in.optional_word_index("risk_posture", kPostures)) {
        policy.risk_posture = kPostures[*posture];
    }
    policy.priority =
        in.optional_integer_or("priority", kPriorityMin, kPriorityMax, policy.priority);
    if (const Json* metadata = in.optional_object("metadata")) {
        policy.metadata = *metadata;
        if (to_text(*metadata).size() > kPolicyMetadataBytesMax) {
            in.add_problem(
                "metadata", "is larger than " + std::to_string(kPolicyMetadataBytesMax) + " bytes");
        }
    }
    in.reject_unknown();
    return in.finish(std::move(policy));
}

Json encode(const StrategyInstance& instance) {
    return Json::object({
        {"strategy_id", instance.strategy_id.text()},
        {"strategy_type", instance.strategy_type},
        {"account", encode(instance.account)},
        {"symbol", instance.symbol.text()},
        {"base", instance.base.text()},
        {"quote", instance.quote.text()},
        {"created_at", instance.created_at.microseconds},
        {"mode", to_word(instance.mode)},
        {"paused", instance.paused},
        {"config", instance.config},
        {"memory", instance.memory},
        {"policy", encode(instance.policy)},
        {"name", instance.name},
        {"version", instance.version},
        {"ticks", instance.ticks},
        {"fail_count", instance.fail_count},
        {"last_error", instance.last_error},
        {"is_latched", instance.is_latched},
        {"updated_at", instance.updated_at.microseconds},
        {"last_tick_at", time_or_null(instance.last_tick_at)},
        {"last_transition", instance.last_transition},
        {"is_deleted", instance.is_deleted},
    });
}

Result<StrategyInstance> decode_strategy_instance(const Json& json) {
    FieldReader in(json);
    StrategyInstance instance{
        .strategy_id = in.required<StrategyId>("strategy_id"),
        .strategy_type = in.required_text("strategy_type"),
        .account = read_part(in, "account", &decode_venue_account),
        .symbol = read_stored_symbol(in, "symbol"),
        .base = read_stored_asset(in, "base"),
        .quote = read_stored_asset(in, "quote"),
        .created_at = read_stored_time(in, "created_at"),
        .mode = static_cast<InstanceMode>(in.required_word_index("mode", kInstanceModes)),
        .paused = in.required<bool>("paused"),
        .config = read_object(in, "config"),
        .memory = in.required<Json>("memory"),
        .policy = read_part(in, "policy", &decode_strategy_policy),
        .name = in.required<std::string>("name"),
        .version = read_count(in, "version"),
        .ticks = read_count(in, "ticks"),
        .fail_count = read_count(in, "fail_count"),
        .last_error = in.required<std::string>("last_error"),
        .is_latched = in.required<bool>("is_latched"),
        .updated_at = read_stored_time(in, "updated_at"),
        .last_tick_at = read_time_or_null(in, "last_tick_at"),
        .last_transition = in.required<std::string>("last_transition"),
        .is_deleted = in.required<bool>("is_deleted"),
    };
    in.reject_unknown();
    return in.finish(std::move(instance));
}

std::string_view status_of(const StrategyInstance& instance, ExecutionQuality quality) {
    if (instance.mode == InstanceMode::off) {
        return "stopped";
    }
    if (instance.paused) {
        return "paused";
    }
    if (instance.is_latched) {
        return "error";
    }
    if (quality != ExecutionQuality::good) {
        return "degraded";
    }
    return instance.mode == InstanceMode::observe ? "observing" : "running";
}

std::string_view status_of(
    const StrategyInstance& instance, ExecutionQuality quality, bool is_blocked) {
    const bool would_trade =
        instance.mode == InstanceMode::active && !instance.paused && !instance.is_latched;
    return would_trade && is_blocked ? "blocked" : status_of(instance, quality);
}

Json encode(const Concern& concern) {
    CHECK(!concern.concern_id.empty());
    Json::Array reasons;
    reasons.reserve(concern.quality_reasons.size());
    for (const std::string& reason : concern.quality_reasons) {
        reasons.emplace_back(reason);
    }
    return Json::object({
        {"concern_id", concern.concern_id.text()},
        {"account", encode(concern.account)},
        {"symbol", concern.symbol.text()},
        {"status", to_word(concern.status)},
        {"risk_mode", to_word(concern.risk_mode)},
        {"active_strategy_id", id_or_null(concern.active_strategy_id)},
        {"quality", to_word(concern.quality)},
        {"quality_reasons", std::move(reasons)},
        {"clean_evaluations", concern.clean_evaluations},
        {"activated_at", time_or_null(concern.activated_at)},
        {"switching", concern.switching ? encode(*concern.switching) : Json()},
        {"version", concern.version},
    });
}

Result<Concern> decode_concern(const Json& json) {
    FieldReader in(json);
    Concern concern{
        .concern_id = in.required<ConcernId>("concern_id"),
        .account = read_part(in, "account", &decode_venue_account),
        .symbol = read_stored_symbol(in, "symbol"),
        .status = static_cast<ConcernStatus>(in.required_word_index("status", kConcernStatuses)),
        .risk_mode = read_stored_risk_mode(in, "risk_mode"),
        .active_strategy_id = in.required_nullable<StrategyId>("active_strategy_id"),
        .quality = static_cast<ExecutionQuality>(in.required_word_index("quality", kQualities)),
        .quality_reasons = read_reasons(in),
        .clean_evaluations = read_count(in, "clean_evaluations"),
        .activated_at = read_time_or_null(in, "activated_at"),
        .switching = read_switch(in),
        .version = read_count(in, "version"),
    };
    in.reject_unknown();
    return in.finish(std::move(concern));
}

Result<ConcernId> make_concern_id(const AccountId& account_id, const Symbol& symbol) {
    ConcernId id = concern_id_of(account_id, symbol);
    if (id.empty()) {
        return fail(
            errors::invalid_request,
            "account_id: only accounts with an id of at most " +
                std::to_string(kConcernAccountLengthMax) + " characters can hold strategies.");
    }
    return id;
}

ConcernId concern_id_of(const AccountId& account_id, const Symbol& symbol) {
    if (account_id.text().size() > kConcernAccountLengthMax) {
        return {};
    }
    std::string text;
    text.reserve(account_id.text().size() + 1 + symbol.text().size());
    text += account_id.text();
    text += ':';
    for (const char c : symbol.text()) {
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return ConcernId::trusted(std::move(text));
}

}  // namespace interlock
