// The manual page, made from the tree of commands and a few sections of prose.
#pragma once

#include <string>
#include <vector>

#include "app/command/command_tree.h"

namespace interlock {

// roff with the man macros.
std::string man_page(const std::vector<CommandEntry>& tree, std::string_view version);

}  // namespace interlock
