// Completion scripts for the shells, made from the tree of commands.
#pragma once

#include <string>
#include <vector>

#include "app/command/command_tree.h"

namespace interlock {

std::string bash_completion(const std::vector<CommandEntry>& tree);
std::string zsh_completion(const std::vector<CommandEntry>& tree);
std::string fish_completion(const std::vector<CommandEntry>& tree);

}  // namespace interlock
