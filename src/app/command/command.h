// What every command of `interlock` shares: global options, exit codes, and how a command is added.
//
// A command's file has one function, add_…_command(), that describes it to the parser and sets what
// runs when it was chosen. main.cc calls them all.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace interlock {

// Documented in the man page; scripts match on these.
enum class ExitCode : int {
    ok = 0,
    refused = 1,      // The server or a check said no.
    usage = 2,        // The command line itself is wrong.
    unreachable = 3,  // No server answers on the operator socket.
    environment = 4,  // Configuration, data folder or machine do not allow it.
};

struct GlobalOptions {
    std::string data;         // --data DIR; empty: configuration, then the XDG default.
    std::string config_path;  // --config FILE; empty: INTERLOCK_CONFIG, then none.
    bool json = false;        // --json: one JSON document (or one per line) instead of text.
};

class CommandLine {
public:
    CLI::App app{"Interlock: what autonomous agents may do, once, on the record, until stopped."};
    GlobalOptions global;
    // Set by the chosen command's callback; run after parsing.
    std::function<ExitCode()> run;
};

// Prints an error the way --json asks for, to standard error, and gives the fitting exit code.
ExitCode report(const GlobalOptions& global, const Error& error);

}  // namespace interlock
