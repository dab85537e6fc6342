// An agent's control decision on the wire and its answer. docs/contracts/control-decision.md is the
// table of these fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/state_facts.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/wire/ids.h"

namespace interlock {

namespace errors {
// Refusals of a control decision, as `errors[].code`; control-decision.md#rules has the order of
// the checks.
inline constexpr ErrorKind invalid_payload{
    "invalid_payload", 200, false, "Correct the fields named and send it under the same id."};
inline constexpr ErrorKind unsupported_action{
    "unsupported_action",
    200,
    false,
    "Use switch, pause, resume or set_risk_mode; keep is for your own records."};
inline constexpr ErrorKind invalid_confidence{
    "invalid_confidence", 200, false, "Send confidence as a number from 0 to 1."};
inline constexpr ErrorKind decision_id_conflict{
    "decision_id_conflict", 200, false, "Use a new decision_id for a new decision."};
inline constexpr ErrorKind concern_mismatch{
    "concern_mismatch", 200, false, "Name a concern that list_strategies shows."};
inline constexpr ErrorKind account_mismatch{
    "account_mismatch", 200, false, "Send the account_id the concern belongs to."};
inline constexpr ErrorKind market_mismatch{
    "market_mismatch", 200, false, "Send the market_symbol the concern belongs to."};
inline constexpr ErrorKind concern_informational{
    "concern_informational",
    200,
    false,
    "This concern only informs; ask a human to set its status to active first."};
inline constexpr ErrorKind target_missing{
    "target_missing", 200, false, "Name an instance that list_strategies shows."};
inline constexpr ErrorKind target_concern_mismatch{
    "target_concern_mismatch", 200, false, "Choose a target of the same account and market."};
inline constexpr ErrorKind target_not_runnable{
    "target_not_runnable", 200, false, "Ask a human to mend or enable the target first."};
inline constexpr ErrorKind target_not_active{
    "target_not_active", 200, false, "Leave target_strategy_id out, or name the active one."};
inline constexpr ErrorKind no_active_strategy{
    "no_active_strategy", 200, false, "Switch to a strategy first."};
inline constexpr ErrorKind expected_active_mismatch{
    "expected_active_mismatch",
    200,
    false,
    "Read the concern again and decide anew on what is active now."};
inline constexpr ErrorKind invalid_risk_mode{
    "invalid_risk_mode", 200, false, "Use normal, reduced, defensive, reduce_only or halted."};
inline constexpr ErrorKind control_kill_switch_active{
    "kill_switch_active", 200, false, "A human must release the kill switch first."};
inline constexpr ErrorKind trading_stopped{
    "trading_stopped", 200, false, "A human must lift the stop named here first."};
inline constexpr ErrorKind execution_degraded{
    "execution_degraded", 200, true, "Wait until execution is good again, or override."};
inline constexpr ErrorKind switch_in_progress{
    "switch_in_progress", 200, true, "Wait for the switch under way, then decide anew."};
inline constexpr ErrorKind confidence_too_low{
    "confidence_too_low", 200, false, "Decide with more confidence, or lower min_confidence."};
inline constexpr ErrorKind minimum_hold{
    "minimum_hold", 200, true, "Wait until the active strategy was held long enough, or override."};
inline constexpr ErrorKind cancel_unconfirmed{
    "cancel_unconfirmed", 200, true, "The old strategy goes on; try again once execution is good."};
inline constexpr ErrorKind switch_interrupted{
    "switch_interrupted", 200, true, "The old strategy goes on; send the decision again."};
}  // namespace errors

enum class ControlAction { switch_strategy, pause, resume, set_risk_mode };
std::string_view to_word(ControlAction action);

inline constexpr std::size_t kControlReasonMax = 2000;

// What its sender believes is active now: nothing, so that it is not checked (the field is left
// out); that no strategy is (null); or this one.
using ExpectedActive = std::optional<std::optional<StrategyId>>;

struct ControlDecision {
    DecisionId decision_id;
    ConcernId concern_id;
    AccountId account_id;
    std::string market_symbol;  // As it was spelt.
    ControlAction action = ControlAction::pause;
    std::optional<StrategyId> target_strategy_id;
    ExpectedActive expected_active_strategy_id;
    std::optional<RiskMode> risk_mode;  // Aliases are read as what they stand for.
    std::string reason;
    Decimal confidence;
    bool dry_run = false;
    bool override_guards = false;  // `override` on the wire.
    std::optional<Timestamp> requested_at;
    friend bool operator==(const ControlDecision&, const ControlDecision&) = default;
};
// Strict. A refusal carries the code of the problem that is looked for first: invalid_payload,
// unsupported_action, invalid_confidence or invalid_risk_mode.
Result<ControlDecision> decode_control_decision(const Json& json);
Json encode(const ControlDecision& decision);
// SHA-256 hex of the canonical decision without `requested_at` (control-decision.md#rules).
std::string fingerprint(const ControlDecision& decision);
Json control_decision_schema();

enum class ControlStatus { applied, rejected, noop, failed };
std::string_view to_word(ControlStatus status);

struct ControlValidation {
    bool concern_match = false;
    bool account_match = false;
    bool market_match = false;
    bool expected_active_match = false;
    bool target_exists = false;
    bool target_runnable = false;
    friend bool operator==(const ControlValidation&, const ControlValidation&) = default;
};
Json encode(const ControlValidation& validation);

struct ControlResult {
    ControlStatus status = ControlStatus::rejected;
    // As far as the request could be read; empty otherwise.
    std::string decision_id;
    std::string concern_id;
    std::string action;
    std::optional<StrategyId> from_strategy_id;
    std::optional<StrategyId> to_strategy_id;
    std::optional<RiskMode> risk_mode;  // Of the concern after the decision; null when unknown.
    bool dry_run = false;
    ControlValidation validation;
    std::vector<std::string> warnings;
    std::vector<Error> errors;
    Json result = Json::object();
    std::optional<Timestamp> applied_at;
};
// `ok` is true for applied and noop. Errors as {code, message, retryable, next_step}.
Json encode(const ControlResult& result);
// Of a result without errors.
Result<ControlResult> decode_control_result(const Json& json);
// What became of the concern, for ControlResult::result.
Json mode_change(std::string_view word, bool reconciled);
Json control_result_schema();
// The answer to a request that could not be decoded: rejected, with ids as far as they are ids and
// the action as far as it is a word we know; nothing else of an unread request is repeated.
ControlResult control_refusal(const Json& request, Error error);

}  // namespace interlock
