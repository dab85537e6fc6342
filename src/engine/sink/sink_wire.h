// The lines that the plane and the recording sink exchange: one JSON document each, one answer for
// each request, in order.
//
//   {"op":"perform","effect_id","tenant_id","kind","json","delivery"}
//                                           -> done (receipt) | refused | failed
//   {"op":"find","effect_id"}               -> done (receipt) | never_arrived | failed
//   {"op":"count"}                          -> counts
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "engine/ports/ledger_store.h"

namespace interlock {

// A longer line, without its newline, ends the connection.
inline constexpr std::size_t kSinkLineBytesMax = std::size_t{1024} * 1024;

struct SinkPerform {
    EffectId effect_id;
    TenantId tenant_id;
    std::string kind;
    std::string json;
    Delivery delivery = Delivery::at_most_once;
};
struct SinkFind {
    EffectId effect_id;
};
struct SinkCount {};
using SinkRequest = std::variant<SinkPerform, SinkFind, SinkCount>;

Json encode(const SinkRequest& request);
Result<SinkRequest> decode_sink_request(const Json& json);

enum class SinkStatus {
    done,
    refused,        // Nothing was done.
    never_arrived,  // And from now on it would be refused.
    failed,         // The sink itself cannot tell.
};

struct SinkAnswer {
    SinkStatus status = SinkStatus::failed;
    std::string receipt;  // When done.
    std::string message;  // Otherwise.
};
Json encode(const SinkAnswer& answer);
Result<SinkAnswer> decode_sink_answer(const Json& json);

struct SinkCounts {
    std::int64_t performed = 0;
    std::int64_t duplicates = 0;  // At-most-once effects that came a second time.
    std::int64_t repeats = 0;     // Repeatable ones; harmless.
    std::int64_t late = 0;        // Came after someone had asked what became of them.
    std::int64_t tombstones = 0;
    friend bool operator==(const SinkCounts&, const SinkCounts&) = default;
};
Json encode(const SinkCounts& counts);
Result<SinkCounts> decode_sink_counts(const Json& json);

}  // namespace interlock
