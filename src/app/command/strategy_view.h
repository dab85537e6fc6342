// Strategies, concerns and control decisions laid out for people, from the JSON that the API gives.
#pragma once

#include <string>

#include "app/command/command.h"
#include "base/json.h"

namespace interlock {

std::string describe_strategies(const Json& answer);
// One instance; with its config, state and the blocks of its report when they are there.
std::string describe_strategy(const Json& strategy);
std::string describe_concerns(const Json& answer);
// Every type, or the parameters of the named one; empty when there is no such type.
std::string describe_types(const Json& answer, const std::string& named);

// What became of a control decision: status, what moved, what failed and what to do next.
std::string describe_control(const Json& result);
// Applied and noop are fine; a rejected or failed decision is a refusal.
ExitCode exit_code_of(const Json& control_result);

}  // namespace interlock
