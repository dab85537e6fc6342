// `interlock decide`: one control decision from the command line (apply_control_decision).
#pragma once

#include "app/command/command.h"

namespace interlock {

void add_decide_command(CommandLine& line);

struct DecideFlags {
    std::string file;  // "-": standard input; empty: the flags below are the decision.
    std::string id;    // Empty: one is made.
    std::string concern;
    std::string account;  // Empty: the concern's.
    std::string market;   // Empty: the concern's.
    std::string action;
    std::string target;
    std::string expected;
    std::string risk_mode;
    std::string confidence = "1";
    std::string reason;
    bool dry_run = false;
    bool override_guards = false;
};
// The payload that the flags make.
Result<Json> decision_payload(const DecideFlags& flags);

}  // namespace interlock
