// The comparisons a replay is made of: each gives the Error of replay_inputs.h that ends its step.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "engine/wire/audit_record.h"

namespace interlock {

std::unexpected<Error> differs(std::string sentence);
std::unexpected<Error> differs(
    std::string_view what, const std::string& recorded, const std::string& replayed);
Result<void> require_equal(
    std::string_view what, const std::string& recorded, const std::string& replayed);
// That the record names as many inputs as its kind has.
Result<void> require_count(const AuditRecord& record, std::size_t artifacts);

// "" when it is missing or no text.
std::string told_text(const Json& detail, std::string_view key);
std::string status_word(AuditStatus status);
std::string hash_or_nothing(const Json& json);

}  // namespace interlock
