// What surrounds the judgement of a control decision: reading the request, on the caller's thread,
// and putting the attempt on the record, whatever became of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/service/turn.h"
#include "trader/wire/control_decision.h"

namespace interlock {

// Decisions that a person's helper call becomes.
inline constexpr std::string_view kOperatorDecisionPrefix = "op_";
// Decisions of the built-in supervisor.
inline constexpr std::string_view kSupervisorDecisionPrefix = "hermes.";

// A payload that was read, with the texts that the engine would else have to make.
struct ControlRequest {
    std::string payload_text;  // Canonical; what ledger and journal keep.
    ControlDecision decision;
    std::string fingerprint;
};
Result<ControlRequest> read_control_request(const Json& payload);
// The same for a caller from outside, to whom the server's own ids are closed.
Result<ControlRequest> read_foreign_request(const Json& payload);

struct UnreadRequest {
    Json payload;
    Error error;
};
// What is longer than any decision, by its size and hash, so that refusals do not fill the ledger.
UnreadRequest told_by_hash(UnreadRequest unread);
Result<TurnReply> refuse_unread(Turn& turn, const UnreadRequest& unread);

struct SettledAttempt {
    const TenantId& tenant_id;  // Whose it is; the turn may be the system's.
    const ControlRequest& request;
    const ControlResult& result;
    std::int64_t attempt = 1;
    Timestamp received_at;
    bool is_duplicate = false;
};
// Puts the attempt on the record, remembers it under its id and gives the answer.
Result<Answer> settle_attempt(Turn& turn, const SettledAttempt& settled);

}  // namespace interlock
