// RFC 8785 (JCS): the one text of a JSON value that we hash and sign. Keys sorted by UTF-16 code
// units, numbers as ECMAScript prints them, minimal escapes, no white space.
//
// Money never reaches this as a number: contracts encode decimals as strings.
#pragma once

#include <string>

#include "base/json.h"

namespace interlock {

// Fails only for a number that no IEEE double can hold (1e400) or that would lose digits as one
// (an integer beyond 2^53): such a value has no canonical form and must be a string.
Result<std::string> canonical_json(const Json& json);

}  // namespace interlock
