// A strategy instance and the concern it trades
// (docs/contracts/control-decision.md#strategy-instances), as stored and as told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account/wire/state_facts.h"
#include "account/wire/venue_order.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace interlock {

// What is wanted of an instance, kept over restarts. `paused` stands beside it.
enum class InstanceMode { off, observe, active };
std::string_view to_word(InstanceMode mode);

inline constexpr std::int64_t kPriorityMin = 0;
inline constexpr std::int64_t kPriorityMax = 10;
inline constexpr std::size_t kPolicyMetadataBytesMax = 4 * 1024;

struct StrategyPolicy {
    std::string risk_posture = "balanced";  // conservative, balanced, aggressive.
    std::int64_t priority = 5;              // Higher ticks more often; 5 is the type's own cadence.
    Json metadata = Json::object();
    friend bool operator==(const StrategyPolicy&, const StrategyPolicy&) = default;
};
Json encode(const StrategyPolicy& policy);
Result<StrategyPolicy> decode_strategy_policy(const Json& json);  // Strict.

struct StrategyInstance {
    // Never change.
    StrategyId strategy_id;
    std::string strategy_type;
    VenueAccount account;
    Symbol symbol;
    Asset base;
    Asset quote;
    Timestamp created_at;

    InstanceMode mode = InstanceMode::off;
    bool paused = false;
    Json config = Json::object();
    Json memory;  // The strategy's state; null before its first tick.
    StrategyPolicy policy;
    std::string name;  // For people; may be empty.
    std::int64_t version = 0;
    std::int64_t ticks = 0;
    std::int64_t fail_count = 0;  // Failed ticks in a row.
    std::string last_error;
    bool is_latched = false;  // Three in a row: no ticks until resumed or reloaded.
    Timestamp updated_at;
    std::optional<Timestamp> last_tick_at;
    std::string last_transition;  // "observe -> active by dec_7"
    bool is_deleted = false;      // Kept, so that its orders stay known as a strategy's.
    friend bool operator==(const StrategyInstance&, const StrategyInstance&) = default;
};
Json encode(const StrategyInstance& instance);
Result<StrategyInstance> decode_strategy_instance(const Json& json);

enum class ExecutionQuality { good, degraded, stalled };  // Worst last.
std::string_view to_word(ExecutionQuality quality);

// Stopped, paused, error, degraded, observing or running.
std::string_view status_of(const StrategyInstance& instance, ExecutionQuality quality);
// The same when it is known whether its account trades: an active one that runs is then "blocked".
std::string_view status_of(
    const StrategyInstance& instance, ExecutionQuality quality, bool is_blocked);

enum class ConcernStatus { active, paused, informational };
std::string_view to_word(ConcernStatus status);

// A switch that has been journalled and is not finished: the old strategy is frozen, its orders are
// being cancelled.
struct SwitchUnderWay {
    DecisionId decision_id;
    std::optional<StrategyId> from;
    StrategyId to;
    RiskMode risk_mode = RiskMode::normal;  // To be set with it.
    Timestamp started_at;
    Timestamp deadline;
    Json operation;  // The call that waits for the answer; null without one.
    Json request;    // The decision as it came.
    Json verdict;    // What the validation said.
    friend bool operator==(const SwitchUnderWay&, const SwitchUnderWay&) = default;
};

struct Concern {
    ConcernId concern_id;
    VenueAccount account;
    Symbol symbol;
    ConcernStatus status = ConcernStatus::active;
    RiskMode risk_mode = RiskMode::normal;
    std::optional<StrategyId> active_strategy_id;
    ExecutionQuality quality = ExecutionQuality::good;
    std::vector<std::string> quality_reasons;
    std::int64_t clean_evaluations = 0;     // In a row, towards leaving.
    std::optional<Timestamp> activated_at;  // When the active strategy became it.
    std::optional<SwitchUnderWay> switching;
    std::int64_t version = 0;
    friend bool operator==(const Concern&, const Concern&) = default;
};
Json encode(const Concern& concern);
Result<Concern> decode_concern(const Json& json);

// `main:btcusdt` for account `main` and BTCUSDT: the account as it is spelt, the symbol's letters
// and digits in lower case. An account with a longer id can hold no concern, since the concern's id
// would be longer than ids may be.
inline constexpr std::size_t kConcernAccountLengthMax = kIdLengthMax - 1 - Symbol::kLengthMax;
// For requests: says no to an account whose id is too long.
Result<ConcernId> make_concern_id(const AccountId& account_id, const Symbol& symbol);
// For looking up: an account whose id is too long gives the empty id, which no concern has;
// encode() CHECKs that it never stores one.
ConcernId concern_id_of(const AccountId& account_id, const Symbol& symbol);

}  // namespace interlock
