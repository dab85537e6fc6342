// How stored state spells a time that may be missing: whole microseconds, or null. Texts on the
// wire keep milliseconds only, and state must come back as it was.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "codec/field_reader.h"

namespace interlock {

inline Json stored_time(const std::optional<Timestamp>& at) {
    return at ? Json(at->microseconds) : Json();
}

inline std::optional<Timestamp> read_optional_time(FieldReader& in, std::string_view key) {
    const auto at = in.optional<std::int64_t>(key);
    return at ? std::optional(Timestamp{*at}) : std::nullopt;
}

}  // namespace interlock
