// A probe: one turn through every layer that touches no money. It writes a state, an audit record
// and an answer, and on request sends one effect to the sink. Drills, benchmarks and crash tests
// live on it; an agent can use it to learn the idempotency rules without risk.
// docs/contracts/probe.md is the table of these fields.
#pragma once

#include <string>

#include "base/json.h"
#include "engine/wire/ids.h"

namespace interlock {

struct ProbeRequest {
    DecisionId decision_id;
    TickId tick_id;
    IdempotencyKey idempotency_key;
    std::string note;
    bool effect = false;  // Send one effect to the sink.
    bool wait = false;    // With effect: answer only when the sink has, instead of at once.
};
Result<ProbeRequest> decode_probe_request(const Json& json);
Json probe_request_schema();

struct ProbeAnswer {
    bool ok = true;
    std::int64_t probe_no = 0;  // Counts the tenant's probes, from 1.
    EffectId effect_id;         // Empty: none was asked for.
    std::string effect_status;  // "none", "queued", "done", "refused", "unknown", "never_arrived".
    Json errors = Json::array();
    std::string audit_ref;
};
Json encode(const ProbeAnswer& answer);
Json probe_answer_schema();

}  // namespace interlock
