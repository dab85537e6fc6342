// How people steer the agent loop on the wire: limits, mode, trading, strategies, universe,
// treasury, recovery, alerts. Requests are strict. What needs a human's approval is answered with
// 202 and the approval's id. docs/contracts/agent-loop.md has the rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/intent.h"
#include "account/wire/risk_limits.h"
#include "base/json.h"
#include "base/money.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind base_moved{
    "base_moved",
    409,
    false,
    "What this approval was asked for has changed since; reject it, read anew and ask again."};
inline constexpr ErrorKind mode_unavailable{
    "mode_unavailable", 409, false, "Use a mode this server has a venue for."};
inline constexpr ErrorKind unknown_strategy{
    "unknown_strategy",
    404,
    false,
    "Name one of the strategy_ids that the state of the account has."};
inline constexpr ErrorKind symbol_in_use{
    "symbol_in_use", 409, false, "Close the position and cancel the orders of the symbol first."};
inline constexpr ErrorKind not_escalated{
    "not_escalated", 409, false, "Nothing to resume; read the account's recovery."};
inline constexpr ErrorKind account_exists{
    "account_exists", 409, false, "Use the account as it is, or choose another name."};
inline constexpr ErrorKind too_many_accounts{
    "too_many_accounts", 409, false, "Use one of the accounts that list_accounts shows."};
inline constexpr ErrorKind drawdown_not_latched{
    "drawdown_not_latched", 409, false, "Nothing to reset; read the account's tier."};
}  // namespace errors

// What every control call carries.
struct ControlCall {
    IdempotencyKey idempotency_key;
    AccountId account_id;  // "main" unless given.
    std::string reason;    // Why, in the caller's words; may be empty.
};

// Of one tenant, the main one among them.
inline constexpr std::size_t kAccountsMax = 8;
inline constexpr std::size_t kAccountNameMax = 64;  // Letters, digits, - and _.
struct OpenAccountRequest {
    ControlCall call;  // `account_id` is the name of the new one.
};
struct ChangeLimitsRequest {
    ControlCall call;
    std::vector<LimitChange> changes;  // At least one.
};
struct SetModeRequest {
    ControlCall call;
    TradeMode mode = TradeMode::paper;
};
struct SetTradingRequest {
    ControlCall call;
    bool enabled = false;
};
struct PutStrategyRequest {
    ControlCall call;
    StrategyId strategy_id;
    bool is_active = false;
    // Only ever tighter than the account's own limits: the stricter of the two holds.
    std::optional<Decimal> max_staleness_sec;
    std::optional<Decimal> max_spread_bps;
    std::optional<Decimal> max_vol_1m;
};
struct EnableStrategyRequest {
    ControlCall call;
    StrategyId strategy_id;
};
inline constexpr std::size_t kUniverseChangesMax = 64;
struct ChangeUniverseRequest {
    ControlCall call;
    std::vector<Symbol> add;
    std::vector<Symbol> remove;
};
// Words of treasury books and cost kinds, in the order of their enumerations
// (account/rules/treasury_books.h).
inline constexpr std::string_view kTreasuryBookWords[] = {"trading", "ops_reserve", "profit"};
inline constexpr std::string_view kCostKindWords[] = {"model", "infra", "data", "ops"};
struct TransferTreasuryRequest {
    ControlCall call;
    std::size_t from = 0;  // Into kTreasuryBookWords.
    std::size_t to = 0;
    Decimal amount;  // > 0.
};
struct BookCostRequest {
    ControlCall call;
    std::size_t kind = 0;  // Into kCostKindWords.
    Decimal amount;        // > 0.
};
struct ResumeRecoveryRequest {
    ControlCall call;
};
struct ResetDrawdownRequest {
    ControlCall call;
};
struct ConfirmFlowRequest {
    ControlCall call;
    Asset asset;
    std::optional<Decimal> price;  // Quote per unit; nothing: the market's mid.
};
inline constexpr std::int64_t kSuppressionHoursMax = 168;
struct SuppressAlertRequest {
    ControlCall call;
    std::string event;
    std::int64_t hours = 0;
};

Result<OpenAccountRequest> decode_open_account(const Json& json);
Result<ChangeLimitsRequest> decode_change_limits(const Json& json);
Result<SetModeRequest> decode_set_mode(const Json& json);
Result<SetTradingRequest> decode_set_trading(const Json& json);
Result<PutStrategyRequest> decode_put_strategy(const Json& json);
Result<EnableStrategyRequest> decode_enable_strategy(const Json& json);
Result<ChangeUniverseRequest> decode_change_universe(const Json& json);
Result<TransferTreasuryRequest> decode_transfer_treasury(const Json& json);
Result<BookCostRequest> decode_book_cost(const Json& json);
Result<ResumeRecoveryRequest> decode_resume_recovery(const Json& json);
Result<ResetDrawdownRequest> decode_reset_drawdown(const Json& json);
Result<ConfirmFlowRequest> decode_confirm_flow(const Json& json);
Result<SuppressAlertRequest> decode_suppress_alert(const Json& json);

// The request schema of a control operation by its id.
Json control_schema(std::string_view operation_id);

// An alert kept out of the feed for a while; its record stays where it is.
inline constexpr std::size_t kSuppressionsMax = 64;
struct AlertSuppression {
    std::string event;
    Timestamp until;
    std::string approval_id;
};
struct AlertSuppressions {
    std::vector<AlertSuppression> list;  // One per event.
};
Json encode(const AlertSuppressions& suppressions);
Result<AlertSuppressions> decode_alert_suppressions(const Json& json);

}  // namespace interlock
