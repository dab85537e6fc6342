// `interlock relay dead-letters requeue|discard`: one letter, or many in as many calls as it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/command/command.h"

namespace interlock {

struct LettersWish {
    std::string instance;
    std::string tenant;
    std::string buffer_id;  // Set: this one alone.
    bool all = false;
    std::string older_than;  // "3d"; empty: of any age.
};

// `word` is "requeue" or "discard".
ExitCode settle_letters(
    const GlobalOptions& global, const LettersWish& wish, const std::string& word);

// "90s", "45m", "12h" or "3d" in seconds; nothing when it is none of these.
std::optional<std::int64_t> read_span(const std::string& text);

}  // namespace interlock
