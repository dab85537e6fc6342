// Archiving as an action that crashes interrupt: at the end of a run, two days later, old segments
// leave the store while the server dies again and again. What must hold then (invariant `archive`):
// verification holds at every crash and at the end, with the files and without them; every record
// is in the store or in a file, unchanged; nothing from the cut on is touched, and nothing old but
// the seals of `_system` is left.
#pragma once

#include <functional>
#include <string>

#include "sim/server.h"

namespace interlock::sim {

// Leaves the world's store with its chains cut.
void check_archive(
    World& world, ViolationLog& log, const std::function<void(const std::string&)>& tell);

}  // namespace interlock::sim
