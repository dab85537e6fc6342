// What humans ask about strategy instances (docs/contracts/control-decision.md#strategy-instances).
// Requests are strict. Agents have apply_control_decision and the reads, nothing here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "trader/wire/control_decision.h"
#include "trader/wire/strategy_instance.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind unknown_instance{
    "unknown_instance", 404, false, "Name an instance that list_strategies shows."};
inline constexpr ErrorKind unknown_strategy_type{
    "unknown_strategy_type", 422, false, "Use a type that list_strategy_types shows."};
inline constexpr ErrorKind invalid_strategy_config{
    "invalid_strategy_config", 422, false, "Correct the fields named; see list_strategy_types."};
inline constexpr ErrorKind instance_is_active{
    "instance_is_active", 409, false, "Switch away from it or stop it first."};
inline constexpr ErrorKind concern_has_active{
    "concern_has_active", 409, false, "Use switch_strategy to hand the concern over."};
inline constexpr ErrorKind kept_by_bot{
    "kept_by_bot", 409, false, "Change the bot's configuration, or stop the bot."};
inline constexpr ErrorKind orders_still_open{
    "orders_still_open", 409, true, "Wait until its orders are cancelled, then try again."};
inline constexpr ErrorKind switch_under_way{
    "switch_in_progress", 409, true, "Wait for the switch under way, then try again."};
inline constexpr ErrorKind unknown_concern{
    "unknown_concern", 404, false, "Name a concern that list_concerns shows."};
}  // namespace errors

inline constexpr std::size_t kInstanceNameMax = 80;
inline constexpr std::size_t kConfigBytesMax = 16 * 1024;

// What every helper call carries.
struct StrategyCall {
    IdempotencyKey idempotency_key;
    std::string reason;  // Why, in the caller's words; may be empty.
};

struct CreateStrategyRequest {
    StrategyCall call;
    std::string strategy_type;
    AccountId account_id;  // "main" unless given.
    std::string market_symbol;
    std::string name;
    Json config = Json::object();
    InstanceMode mode = InstanceMode::off;  // off or observe; active comes by a switch.
    StrategyPolicy policy;
};
struct UpdateStrategyRequest {
    StrategyCall call;
    std::optional<std::string> name;
    std::optional<Json> config;        // Whole, not a patch.
    std::optional<Json> state;         // Keys of the type's state schema.
    std::optional<InstanceMode> mode;  // off or observe, of one that is not active.
};
struct DeleteStrategyRequest {
    StrategyCall call;
};
enum class HelperAction { start, pause, resume, stop, reconcile };
struct ControlStrategyRequest {
    StrategyCall call;
    HelperAction action = HelperAction::pause;
};
struct StrategyPolicyRequest {
    StrategyCall call;
    StrategyPolicy policy;
};
// switch_strategy, pause_strategy, resume_strategy, reconcile_instance.
struct MoveStrategyRequest {
    StrategyCall call;
    ExpectedActive expected_active_strategy_id;
    std::optional<RiskMode> risk_mode;
    bool override_guards = false;
};
struct ConcernRequest {
    StrategyCall call;
    ConcernStatus status = ConcernStatus::active;
};

Result<CreateStrategyRequest> decode_create_strategy(const Json& json);
Result<UpdateStrategyRequest> decode_update_strategy(const Json& json);
Result<DeleteStrategyRequest> decode_delete_strategy(const Json& json);
Result<ControlStrategyRequest> decode_control_strategy(const Json& json);
Result<StrategyPolicyRequest> decode_strategy_policy_request(const Json& json);
Result<MoveStrategyRequest> decode_move_strategy(const Json& json);
Result<ConcernRequest> decode_concern_request(const Json& json);

// The request schema of a helper by its operation id.
Json strategy_request_schema(std::string_view operation_id);

}  // namespace interlock
