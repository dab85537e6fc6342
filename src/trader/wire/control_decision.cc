// Reading a control decision is strict: a misspelt guard must not disarm it
// (control-decision.md#request). Every problem is told; the kind that is checked first gives the
// code.
#include "trader/wire/control_decision.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/crypto.h"
#include "codec/canonical_writer.h"
#include "codec/error_json.h"
#include "codec/field_reader.h"

namespace interlock {
namespace {

constexpr std::array<std::string_view, 4> kActions{"switch", "pause", "resume", "set_risk_mode"};
constexpr std::array<std::string_view, 4> kStatuses{"applied", "rejected", "noop", "failed"};
constexpr std::string_view kKeep = "keep";
// Longer than any symbol with its separators; what is no symbol at all fits no market.
constexpr std::size_t kMarketSymbolMax = 64;
// More than any answer has.
constexpr std::size_t kResultWarningsMax = 64;

// Problems by the code they give, in the order in which they are looked for.
struct Problems {
    std::vector<FieldProblem> action;
    std::vector<FieldProblem> confidence;
    std::vector<FieldProblem> risk_mode;
};

std::size_t characters_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

std::string read_reason(FieldReader& in, const Json& json) {
    std::string reason = in.required<std::string>("reason");
    const Json* found = json.find("reason");
    if (found == nullptr || !found->is_string()) {
        return reason;
    }
    const std::size_t length = characters_of(reason);
    if (length > kControlReasonMax) {
        in.add_problem(
            "reason",
            "must have 1 to " + std::to_string(kControlReasonMax) + " characters, found " +
                std::to_string(length));
    } else if (reason.find_first_not_of(" \t\r\n") == std::string::npos) {
        in.add_problem("reason", "must say why");
    }
    return reason;
}

// Null is no wish: `"dry_run": null` read as false would carry out what was to be tried.
bool read_flag(FieldReader& in, const Json& json, std::string_view key) {
    const Json* found = json.find(key);
    return found == nullptr ? false : in.required<bool>(key);
}

ControlAction read_action(FieldReader& in, Problems& problems, bool& is_known) {
    is_known = false;
    const std::string word = in.required_text("action", {.length_max = 64});
    if (word.empty()) {
        return {};
    }
    const auto at = std::find(kActions.begin(), kActions.end(), word);
    if (at != kActions.end()) {
        is_known = true;
        return static_cast<ControlAction>(at - kActions.begin());
    }
    if (word == kKeep) {
        problems.action.push_back(
            {"action",
             "keep changes nothing and is no write action; record it on your own side and send "
             "nothing"});
    } else {
        problems.action.push_back(
            {"action", "must be one of switch, pause, resume, set_risk_mode"});
    }
    return {};
}

// The digits of a number and where its point stands: 0.digits × 10^point.
struct Digits {
    std::string digits;
    long point = 0;
};

Digits digits_of(std::string_view number) {
    constexpr long kExponentCap = 100'000;  // Beyond it every number is zero or too large.
    Digits out;
    bool after_point = false;
    std::size_t at = 0;
    for (; at < number.size() && number[at] != 'e' && number[at] != 'E'; ++at) {
        if (number[at] == '.') {
            after_point = true;
        } else {
            out.digits += number[at];
            out.point += after_point ? 0 : 1;
        }
    }
    long exponent = 0;
    bool is_negative = false;
    for (++at; at < number.size(); ++at) {
        if (number[at] == '-') {
            is_negative = true;
        } else if (number[at] != '+') {
            exponent = std::min(exponent * 10 + (number[at] - '0'), kExponentCap);
        }
    }
    out.point += is_negative ? -exponent : exponent;
    const std::size_t zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
    out.digits.erase(0, zeros);
    out.point -= static_cast<long>(zeros);
    return out;
}

// A confidence may have more digits than a Decimal; those are cut.
std::optional<Decimal> confidence_of(const Json& json) {
    if (!json.is_number() && !json.is_string()) {
        return std::nullopt;
    }
    const std::string& text = json.is_number() ? json.number_text() : json.as_string();
    if (text.size() > Decimal::kTextLengthMax || !is_json_number(text)) {
        return std::nullopt;
    }
    std::optional<Decimal> value;
    if (const auto exact = Decimal::parse(text)) {
        value = *exact;
    } else if (text.front() != '-') {
        Digits digits = digits_of(text);
        if (digits.point > 0) {
            return std::nullopt;  // At least 1, and 1 itself is exact.
        }
        const auto zeros = static_cast<std::size_t>(std::min<long>(-digits.point, Decimal::kScale));
        std::string fraction = std::string(zeros, '0') + digits.digits;
        fraction.resize(Decimal::kScale, '0');
        value = *Decimal::parse("0." + fraction);
    }
    const bool is_inside = value && *value >= Decimal(0) && *value <= Decimal(1);
    return is_inside ? value : std::nullopt;
}

// Absent is a problem of the payload; anything else that is no confidence is one of the value.
Decimal read_confidence(FieldReader& in, const Json& json, Problems& problems) {
    in.required<Json>("confidence");
    const Json* found = json.find("confidence");
    if (found == nullptr) {
        return {};
    }
    const auto confidence = confidence_of(*found);
    if (!confidence) {
        problems.confidence.push_back({"confidence", "must be a number from 0 to 1"});
        return {};
    }
    return *confidence;
}

std::optional<RiskMode> read_risk_mode(FieldReader& in, Problems& problems) {
    const auto word = in.optional<std::string>("risk_mode");
    if (!word) {
        return std::nullopt;
    }
    const auto mode = parse_risk_mode(*word);
    if (!mode) {
        problems.risk_mode.push_back(
            {"risk_mode", "must be one of normal, reduced, defensive, reduce_only, halted"});
        return std::nullopt;
    }
    return *mode;
}

Error error_of(std::vector<FieldProblem> payload, Problems problems) {
    const ErrorKind* kind = nullptr;
    std::vector<FieldProblem> all;
    const auto take = [&](std::vector<FieldProblem>& some, const ErrorKind& of) {
        if (kind == nullptr && !some.empty()) {
            kind = &of;
        }
        std::move(some.begin(), some.end(), std::back_inserter(all));
    };
    take(payload, errors::invalid_payload);
    take(problems.action, errors::unsupported_action);
    take(problems.confidence, errors::invalid_confidence);
    take(problems.risk_mode, errors::invalid_risk_mode);
    std::string message = all.front().path + ": " + all.front().problem;
    if (all.size() > 1) {
        message = std::to_string(all.size()) + " problems; the first: " + message;
    }
    return {kind, std::move(message), {}, std::move(all)};
}

template <class Tag>
Json id_or_null(const std::optional<Id<Tag>>& id) {
    return id ? Json(id->text()) : Json();
}

Json risk_mode_or_null(const std::optional<RiskMode>& mode) {
    return mode ? Json(to_word(*mode)) : Json();
}

Json time_or_null(const std::optional<Timestamp>& at) {
    return at ? Json(to_text(*at)) : Json();
}

// The text of a member that may be repeated because it is an id.
template <class SomeId>
std::string claimed_id(const Json& request, std::string_view key) {
    const Json* member = request.find(key);
    const bool is_id =
        member != nullptr && member->is_string() && SomeId::parse(member->as_string()).has_value();
    return is_id ? member->as_string() : std::string();
}

}  // namespace

std::string_view to_word(ControlAction action) {
    return kActions[static_cast<std::size_t>(action)];
}

std::string_view to_word(ControlStatus status) {
    return kStatuses[static_cast<std::size_t>(status)];
}

Result<ControlDecision> decode_control_decision(const Json& json) {
    FieldReader in(json);
    Problems problems;
    bool is_known_action = false;
    ControlDecision decision{
        .decision_id = in.required<DecisionId>("decision_id"),
        .concern_id = in.required<ConcernId>("concern_id"),
        .account_id = in.required<AccountId>("account_id"),
        .market_symbol = in.required_text("market_symbol", {.length_max = kMarketSymbolMax}),
        .action = read_action(in, problems, is_known_action),
        .target_strategy_id = in.optional<StrategyId>("target_strategy_id"),
        .expected_active_strategy_id =
            in.optional_nullable<StrategyId>("expected_active_strategy_id"),
        .risk_mode = read_risk_mode(in, problems),
        .reason = read_reason(in, json),
        .confidence = read_confidence(in, json, problems),
        .dry_run = read_flag(in, json, "dry_run"),
        .override_guards = read_flag(in, json, "override"),
        .requested_at = in.optional<Timestamp>("requested_at"),
    };
    const auto is_absent = [&json](std::string_view key) {
        const Json* member = json.find(key);
        return member == nullptr || member->is_null();
    };
    in.require_if(
        is_known_action && decision.action == ControlAction::switch_strategy,
        !is_absent("target_strategy_id"),
        "target_strategy_id");
    in.require_if(
        is_known_action && decision.action == ControlAction::set_risk_mode,
        !is_absent("risk_mode"),
        "risk_mode");
    in.reject_unknown();
    auto checked = in.finish(true);
    const bool is_clean = checked && problems.action.empty() && problems.confidence.empty() &&
                          problems.risk_mode.empty();
    if (is_clean) {
        return decision;
    }
    return std::unexpected(error_of(
        checked ? std::vector<FieldProblem>() : std::move(checked.error().problems),
        std::move(problems)));
}

Json encode(const ControlDecision& decision) {
    Json json = Json::object({
        {"decision_id", decision.decision_id.text()},
        {"concern_id", decision.concern_id.text()},
        {"account_id", decision.account_id.text()},
        {"market_symbol", decision.market_symbol},
        {"action", to_word(decision.action)},
        {"target_strategy_id", id_or_null(decision.target_strategy_id)},
    });
    if (decision.expected_active_strategy_id) {
        json.set("expected_active_strategy_id", id_or_null(*decision.expected_active_strategy_id));
    }
    json.set("risk_mode", risk_mode_or_null(decision.risk_mode));
    json.set("reason", decision.reason);
    json.set("confidence", to_text(decision.confidence));
    json.set("dry_run", decision.dry_run);
    json.set("override", decision.override_guards);
    json.set("requested_at", time_or_null(decision.requested_at));
    return json;
}

// The canonical text by hand, since every decision has its own; a test holds it to the bytes of
// canonical_json(encode()).
std::string fingerprint(const ControlDecision& decision) {
    std::string text;
    text.reserve(512);
    CanonicalWriter out(text);
    const auto id_or_none = [&out](std::string_view key, const std::optional<StrategyId>& id) {
        id ? out.text(key, id->text()) : out.raw(key, "null");
    };
    out.open_object();
    out.text("account_id", decision.account_id.text());
    out.text("action", to_word(decision.action));
    out.text("concern_id", decision.concern_id.text());
    out.decimal("confidence", decision.confidence);
    out.text("decision_id", decision.decision_id.text());
    out.flag("dry_run", decision.dry_run);
    if (decision.expected_active_strategy_id) {
        id_or_none("expected_active_strategy_id", *decision.expected_active_strategy_id);
    }
    out.text("market_symbol", decision.market_symbol);
    out.flag("override", decision.override_guards);
    out.text("reason", decision.reason);
    out.raw("requested_at", "null");
    decision.risk_mode ? out.text("risk_mode", to_word(*decision.risk_mode))
                       : out.raw("risk_mode", "null");
    id_or_none("target_strategy_id", decision.target_strategy_id);
    out.close_object();
    CHECK(out.verdict().has_value());  // Texts of a parsed document.
    return sha256_hex(text);
}

Json encode(const ControlValidation& validation) {
    return Json::object({
        {"concern_match", validation.concern_match},
        {"account_match", validation.account_match},
        {"market_match", validation.market_match},
        {"expected_active_match", validation.expected_active_match},
        {"target_exists", validation.target_exists},
        {"target_runnable", validation.target_runnable},
    });
}

Json encode(const ControlResult& result) {
    Json::Array warnings;
    warnings.reserve(result.warnings.size());
    for (const std::string& warning : result.warnings) {
        warnings.emplace_back(warning);
    }
    Json::Array refusals;
    refusals.reserve(result.errors.size());
    for (const Error& error : result.errors) {
        refusals.push_back(encode(error));
    }
    const bool is_ok =
        result.status == ControlStatus::applied || result.status == ControlStatus::noop;
    return Json::object({
        {"ok", is_ok},
        {"status", to_word(result.status)},
        {"decision_id", result.decision_id},
        {"concern_id", result.concern_id},
        {"action", result.action},
        {"from_strategy_id", id_or_null(result.from_strategy_id)},
        {"to_strategy_id", id_or_null(result.to_strategy_id)},
        {"risk_mode", risk_mode_or_null(result.risk_mode)},
        {"dry_run", result.dry_run},
        {"validation", encode(result.validation)},
        {"warnings", std::move(warnings)},
        {"errors", std::move(refusals)},
        {"result", result.result},
        {"applied_at", time_or_null(result.applied_at)},
    });
}

Result<ControlResult> decode_control_result(const Json& json) {
    FieldReader in(json, "answer");
    ControlResult result;
    result.status = static_cast<ControlStatus>(in.required_word_index("status", kStatuses));
    result.decision_id = in.required<std::string>("decision_id");
    result.concern_id = in.required<std::string>("concern_id");
    result.action = in.required<std::string>("action");
    result.from_strategy_id = in.required_nullable<StrategyId>("from_strategy_id");
    result.to_strategy_id = in.required_nullable<StrategyId>("to_strategy_id");
    if (const auto mode = in.required_nullable<std::string>("risk_mode")) {
        TRY_ASSIGN(result.risk_mode, parse_risk_mode(*mode));
    }
    result.dry_run = in.required<bool>("dry_run");
    if (const Json* flags = in.required_object("validation")) {
        FieldReader of(*flags, "validation");
        result.validation = {
            .concern_match = of.required<bool>("concern_match"),
            .account_match = of.required<bool>("account_match"),
            .market_match = of.required<bool>("market_match"),
            .expected_active_match = of.required<bool>("expected_active_match"),
            .target_exists = of.required<bool>("target_exists"),
            .target_runnable = of.required<bool>("target_runnable")};
        TRY(of.finish(true));
    }
    for (const Json& warning : in.required_array("warnings", kResultWarningsMax)) {
        result.warnings.push_back(warning.is_string() ? warning.as_string() : to_text(warning));
    }
    in.required_array("errors", 0);
    result.result = in.required<Json>("result");
    result.applied_at = in.required_nullable<Timestamp>("applied_at");
    return in.finish(std::move(result));
}

Json mode_change(std::string_view word, bool reconciled) {
    return Json::object({{"mode_change", word}, {"reconciled", reconciled}});
}

ControlResult control_refusal(const Json& request, Error error) {
    ControlResult result;
    result.decision_id = claimed_id<DecisionId>(request, "decision_id");
    result.concern_id = claimed_id<ConcernId>(request, "concern_id");
    if (const Json* action = request.find("action"); action != nullptr && action->is_string()) {
        const std::string& word = action->as_string();
        const bool is_ours = std::find(kActions.begin(), kActions.end(), word) != kActions.end();
        result.action = is_ours || word == kKeep ? word : "";
    }
    if (const Json* dry_run = request.find("dry_run"); dry_run != nullptr && dry_run->is_bool()) {
        result.dry_run = dry_run->as_bool();
    }
    result.errors.push_back(std::move(error));
    result.result = mode_change("none", false);
    return result;
}

}  // namespace interlock
