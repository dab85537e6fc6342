// Why nothing trades: the one answer that every display gives, be it the kill switch, an account, a
// strategy, a bot or the doctor. Only the strongest reason is told; the next one shows when it is
// gone.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace interlock {

struct Blocked {
    std::string code;    // A word of docs/contracts/kill-switch.md, 2.5.
    std::string reason;  // One sentence.
    std::string next;    // What to do about it.
    friend bool operator==(const Blocked&, const Blocked&) = default;
};
// The sentence with its cause, when there is one: "The kill switch is on: smoke".
std::string because(std::string sentence, const std::string& cause);
// Null: it trades.
Json encode(const std::optional<Blocked>& blocked);
// Of the field `blocked` in answers.
Json blocked_schema();

}  // namespace interlock
