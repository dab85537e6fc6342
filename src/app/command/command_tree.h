// The parser's own description of the commands as plain data. Completions and the man page are made
// from it, so a new command or option is in both without anyone remembering.
#pragma once

#include <string>
#include <vector>

#include "app/command/command.h"

namespace interlock {

struct OptionEntry {
    std::vector<std::string> names;  // "--tenant", "-n"; none for a positional.
    std::string positional;          // Its name.
    std::string value;               // What it takes ("TENANT"); empty for a flag.
    std::vector<std::string> words;  // The values allowed, when they are a fixed set.
    std::string description;
    bool required = false;
};

struct CommandEntry {
    std::vector<std::string> path;  // {"kill", "on"}; empty for the program itself.
    std::string description;
    std::vector<OptionEntry> options = {};
    std::vector<std::string> children = {};

    std::string path_text() const;  // "kill on"
};

// The program first, then every command with its subcommands after it, in the order they were
// added.
std::vector<CommandEntry> command_tree(const CLI::App& app);

}  // namespace interlock
