// The texts a control decision leaves behind, written straight into one string each: its answer
// and the detail of its record. Every decision writes both, and trees of JSON values in between
// would cost more than judging it does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trader/wire/control_decision.h"

namespace interlock {

// The bytes of to_text(encode(result)); a test holds the two equal.
std::string answer_text(const ControlResult& result);

// What the ledger keeps of one attempt.
struct ControlAttemptRecord {
    const ControlResult& result;
    std::string_view payload;  // Canonical text.
    bool override_guards = false;
    std::int64_t attempt = 1;
    Timestamp received_at;
};
// Canonical JSON. Fails when a text is not UTF-8.
Result<std::string> detail_text(const ControlAttemptRecord& record);
// The answer that the attempt got, as encode(result) had it: the record tells all of it.
Result<Json> answer_from_detail(const Json& detail);

}  // namespace interlock
