// The planner's tools on the wire (the kill switch is in host/wire/kill_switch). Requests are
// strict: an unknown field is refused, because a misspelt guard must not disarm it.
// docs/contracts/agent-loop.md is the table of these fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "base/json.h"
#include "base/time.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind gate_not_passed{
    "gate_not_passed",
    409,
    false,
    "Call py_validate_plan and py_dry_run_plan for exactly these intents first."};
inline constexpr ErrorKind gate_ticket_expired{
    "gate_ticket_expired", 409, true, "Validate and dry-run the plan again, then execute it."};
inline constexpr ErrorKind gate_recheck_failed{
    "gate_recheck_failed",
    409,
    false,
    "State or market moved since validation; read the reasons and plan anew."};
inline constexpr ErrorKind order_client_id_mismatch{
    "order_client_id_mismatch",
    422,
    false,
    "Use the order_client_ids the dry run returned; they are derived from the intent."};
inline constexpr ErrorKind order_client_id_taken{
    "order_client_id_taken", 409, false, "Plan anew under a new decision_id."};
inline constexpr ErrorKind mode_mismatch{
    "mode_mismatch", 409, false, "Read runtime_flags.mode and use that execution_mode."};
inline constexpr ErrorKind decision_closed{
    "decision_closed", 409, false, "Start a new decision; this one was executed."};
inline constexpr ErrorKind decision_mismatch{
    "decision_mismatch",
    409,
    false,
    "Use one account, one mode and one tick_id for one decision_id."};
inline constexpr ErrorKind unknown_decision{
    "unknown_decision", 404, false, "Check the decision_id; nothing was planned under it."};
inline constexpr ErrorKind unknown_order{
    "unknown_order", 404, false, "Name order_client_ids of this account's own orders."};
inline constexpr ErrorKind unknown_symbol{
    "unknown_symbol", 404, false, "Use a symbol of the market snapshot."};
inline constexpr ErrorKind stale_market_data{
    "stale_market_data", 503, true, "Wait for fresh market data, then ask again."};
inline constexpr ErrorKind unknown_account{
    "unknown_account", 404, false, "Leave account_id out, or use one that a human opened."};
inline constexpr ErrorKind as_of_not_held{
    "as_of_not_held",
    409,
    false,
    "Go by state.as_of; only the present state is held. Send the present time to ask for it."};
inline constexpr ErrorKind live_not_enabled{
    "live_not_enabled", 403, false, "Live trading must be enabled by a human; use paper."};
}  // namespace errors

// What every tool call carries.
struct ToolCall {
    DecisionId decision_id;
    TickId tick_id;
    IdempotencyKey idempotency_key;
    AccountId account_id;  // "main" unless given.
};

struct CanonicalStateRequest {
    ToolCall call;
    Timestamp as_of;
};
struct MarketSnapshotRequest {
    ToolCall call;
    std::vector<Symbol> symbols;
    Decimal max_staleness_sec;
};
inline constexpr std::size_t kSnapshotSymbolsMax = 100;
struct ValidatePlanRequest {
    ToolCall call;
    Plan plan;
};
struct DryRunPlanRequest {
    ToolCall call;
    Plan plan;
    Decimal slippage_bps;
    Decimal fee_bps;
};
struct ExecutePlanRequest {
    ToolCall call;
    TradeMode mode = TradeMode::paper;
    Plan plan;  // approved_intents and cancels.
};
struct VerifyExecutionRequest {
    ToolCall call;
    std::vector<OrderClientId> order_client_ids;
};
inline constexpr std::size_t kVerifyOrdersMax = 150;
struct RecordDecisionRequest {
    ToolCall call;
    Json record;  // Its six fields, checked.
};
inline constexpr std::size_t kSummaryLengthMax = 4000;
inline constexpr std::size_t kRecordBytesMax = std::size_t{64} * 1024;

Result<CanonicalStateRequest> decode_canonical_state_request(const Json& json);
Result<MarketSnapshotRequest> decode_market_snapshot_request(const Json& json);
Result<ValidatePlanRequest> decode_validate_plan_request(const Json& json);
Result<DryRunPlanRequest> decode_dry_run_plan_request(const Json& json);
Result<ExecutePlanRequest> decode_execute_plan_request(const Json& json);
Result<VerifyExecutionRequest> decode_verify_execution_request(const Json& json);
Result<RecordDecisionRequest> decode_record_decision_request(const Json& json);

// The tools by name, with the schemas of what they take and give.
struct LoopToolSchema {
    std::string_view name;
    Json request;
    Json answer;
};
std::vector<LoopToolSchema> loop_tool_schemas();

// The ids of a request that could not be decoded, as far as they can be read, for its ERROR_EVENT.
struct ClaimedIds {
    DecisionId decision_id;
    TickId tick_id;
};
ClaimedIds claimed_ids(const Json& json);

// {"status": "error", "errors": [...], "audit_ref": ...}: the shape every refusal of a tool has.
Json tool_error_answer(const Error& error, std::string_view audit_ref);

}  // namespace interlock
