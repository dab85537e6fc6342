// Where two JSON documents first differ, for people who look into a replay that does not agree.
#pragma once

#include <string>

#include "base/json.h"

namespace interlock {

// "checks[0].pass: recorded true, replayed false"; "" when they mean the same. Members are compared
// by key: their order means nothing. Long values are cut.
std::string first_difference(const Json& recorded, const Json& replayed);

}  // namespace interlock
