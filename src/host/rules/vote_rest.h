// A vote that rests after a recovery (docs/contracts/principals.md 8.4): until when, and what else
// it waits for.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace interlock {

struct VoteRest {
    std::optional<Timestamp> until = std::nullopt;
    bool second_factor_due = false;

    bool rests_at(Timestamp at) const { return second_factor_due || (until && at < *until); }
};

// `vote_rests` with when it ends.
Result<void> check_vote(const VoteRest& rest, Timestamp at);

}  // namespace interlock
