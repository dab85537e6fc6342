// How stored facts spell symbols and assets: exactly in their canonical form, because stored facts
// are hashed and compared as bytes. Requests are more lenient (Symbol::parse) and do not use these.
#pragma once

#include <string_view>

#include "base/money.h"
#include "codec/field_reader.h"
#include "market/wire/symbol.h"

namespace interlock {

Symbol read_stored_symbol(FieldReader& in, std::string_view key);
Asset read_stored_asset(FieldReader& in, std::string_view key);

// Facts keep their times to the microsecond, which the wire's RFC 3339 text does not: as whole
// microseconds since 1970, small enough for any JSON reader to hold exactly.
inline constexpr std::int64_t kStoredMicrosecondsMax = std::int64_t{1} << 53;
Timestamp read_stored_time(FieldReader& in, std::string_view key);

}  // namespace interlock
