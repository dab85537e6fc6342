// The content-addressed inputs of recorded decisions, read back and held to their hashes.
//
// What a replay finds wrong travels as an Error of one of these kinds, so that it ends the step it
// was found in; DecisionReplay turns it into a verdict. Any other Error means that reading failed.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "account/wire/intent.h"
#include "account/wire/state_facts.h"
#include "market/wire/market_facts.h"

namespace interlock {

namespace errors {
inline constexpr ErrorKind replay_differs{
    "replay_differs",
    409,
    false,
    "Keep a copy of the data folder, run `interlock audit verify`, and find out who changed it."};
inline constexpr ErrorKind not_replayable{
    "not_replayable",
    409,
    false,
    "Replay it with the version that made it, or restore the missing input from a backup."};
// The same for a policy that is not ours: nothing is missing and nothing is wrong.
inline constexpr ErrorKind other_policy{
    "other_policy", 409, false, "Replay it with the version that made it."};
}  // namespace errors

// The policy this version can re-run; the `policy` of a decision's config artifact.
inline constexpr std::string_view kReplayPolicy = "loop.v2";
// Different config artifacts remembered as checked; more are simply checked again.
inline constexpr std::size_t kCheckedConfigsMax = 1000;

class ReplayInputs {
public:
    // Bytes stored under a hash (64 hex digits); nothing when there are none.
    using Read = std::function<Result<std::optional<std::string>>(const std::string& hash)>;
    explicit ReplayInputs(Read read) : read_(std::move(read)) {}

    // The bytes of "sha256:<hex>": missing ones are not_replayable, bytes with another hash differ.
    Result<std::string> text_of(const std::string& ref);
    Result<Json> json_of(const std::string& ref);

    Result<Plan> plan_of(const std::string& ref);
    struct Facts {
        StateFacts state;
        MarketSet market;
    };
    Result<Facts> facts_of(const std::string& state_ref, const std::string& market_ref);
    // Refuses a decision that another policy made.
    Result<void> require_policy(const std::string& config_ref);

private:
    Read read_;
    std::set<std::string> checked_configs_;
};

}  // namespace interlock
