// A person's call that steers the loop or its strategies, as one turn: carried out or refused once
// per key, and a refusal by a rule is on the record like the change itself (CONTROL_REFUSED).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "loop/service/loop_service.h"

namespace interlock {

struct ControlFunction {
    std::string name;  // The operation's id.
    IdempotencyKey key;
};
// `run` stages its changes last, so that one that failed has left none behind.
TurnRequest control_turn(
    LoopService::Caller caller,
    ControlFunction function,
    std::function<Result<TurnReply>(Turn&)> run,
    LoopService::Reply reply);

// Records the refusal; the answer is the error with the record's audit_ref.
Result<TurnReply> refuse_control(Turn& turn, const std::string& function, const Error& error);

// Why, in the caller's words, or `otherwise` when the caller gave none.
std::string reason_or(const std::string& reason, std::string_view otherwise);

}  // namespace interlock
