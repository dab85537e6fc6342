#include "loop/service/control_call.h"

#include <utility>

#include "codec/error_json.h"

namespace interlock {

TurnRequest control_turn(
    LoopService::Caller caller,
    ControlFunction function,
    std::function<Result<TurnReply>(Turn&)> run,
    LoopService::Reply reply) {
    TurnRequest turn;
    turn.tenant_id = std::move(caller.tenant_id);
    turn.principal = std::move(caller.principal);
    turn.function = std::move(function.name);
    turn.key = std::move(function.key);
    turn.request_hash = std::move(caller.request_hash);
    turn.reply = std::move(reply);
    turn.decide = [run = std::move(run)](Turn& t) -> Result<TurnReply> {
        auto outcome = run(t);
        if (!outcome && outcome.error().http_status() < 500) {
            return refuse_control(t, t.request().function, outcome.error());
        }
        return outcome;
    };
    return turn;
}

Result<TurnReply> refuse_control(Turn& turn, const std::string& function, const Error& error) {
    AuditDraft draft = turn.draft("CONTROL_REFUSED");
    draft.status = AuditStatus::failed;
    draft.reason = error.message;
    draft.detail = Json::object({{"operation", function}, {"code", error.code()}});
    TRY_ASSIGN(const std::string ref, turn.audit_refusal(std::move(draft)));
    Json body = encode_error_body(error);
    body.set("audit_ref", ref);
    // What may not be sent again stays refused under its key.
    return Answer{error.http_status(), to_text(body), !error.retryable()};
}

std::string reason_or(const std::string& reason, std::string_view otherwise) {
    return reason.empty() ? std::string(otherwise) : reason;
}

}  // namespace interlock
