// What somebody meant who mistyped a command or an option: the wrong word is repeated, and what
// there is that looks like it is named. The parser itself only says that something is missing.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace interlock {

struct UsageHint {
    std::string problem;
    std::string next_step;
};

// About the first word that is no command where one has to stand, or no option of its command;
// nothing when there is no such word.
std::optional<UsageHint> usage_hint(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace interlock
