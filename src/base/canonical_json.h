// RFC 8785 (JCS): the one text of a JSON value that we hash and sign. Keys sorted by UTF-16 code
// units, numbers as ECMAScript prints them, minimal escapes, no white space.
//
// Money never reaches this as a number: contracts encode decimals as strings.
#pragma once

#include <string>

#include "base/json.h"

namespace interlock {

// Fails for a number that no IEEE double can hold (1e400) and for an integer that would lose digits
// as one (2^53 + 1): such a value has no canonical form and must be a string. Fails too for text
// that is not UTF-8 and for a key held twice, which parse_json() never yields.
Result<std::string> canonical_json(const Json& json);

}  // namespace interlock
