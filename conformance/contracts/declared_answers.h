// Whether an answer is what its operation declares: every member known, every required one there,
// every value of its type. What a program can be typed by must not have holes.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace interlock {

// One sentence for each thing that the schema does not say, with its path.
std::vector<std::string> undeclared(const Json& answer, const Json& schema);

// The parts of a schema that say nothing: objects without members, lists without items, values
// without a type.
std::vector<std::string> holes(const Json& schema);

}  // namespace interlock
