// Counts what somebody tried within a window of time, for guessing codes and minting them. The
// counts are rows that end with their window, so a restart forgives nothing. Lane only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "relay/service/relay_state.h"

namespace interlock {

class RelayAttempts {
public:
    struct Limit {
        std::string_view name;  // What is counted; keeps the keys of two limits apart.
        std::int64_t count_max = 1;
        Duration window;
    };
    RelayAttempts(RelayState& state, Limit limit) : state_(state), limit_(limit) {}

    bool is_spent(const std::string& key, Timestamp now) {
        const auto held = find(key, now);
        return !held || held->count >= limit_.count_max;
    }
    // False when the key's attempts are used up; then nothing is counted.
    bool take(RelayTurn& turn, const std::string& key) {
        const auto held = find(key, turn.now());
        if (!held || held->count >= limit_.count_max) {
            return false;
        }
        AttemptRow row = *held;
        if (++row.count == 1) {
            row.ends_at = turn.now() + limit_.window;
        }
        state_.attempts.put(turn, key_of(key), row, row.ends_at);
        return true;
    }

private:
    std::string key_of(const std::string& key) const { return row_key({limit_.name, key}); }

    // A count that cannot be read counts as used up (I5).
    Result<AttemptRow> find(const std::string& key, Timestamp now) {
        TRY_ASSIGN(const AttemptRow* row, state_.attempts.find(key_of(key), now));
        return row == nullptr ? AttemptRow{} : *row;
    }

    RelayState& state_;
    const Limit limit_;
};

}  // namespace interlock
