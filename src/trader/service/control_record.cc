#include "trader/service/control_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/canonical_json.h"
#include "base/crypto.h"
#include "loop/service/loop_service.h"
#include "trader/service/strategy_store.h"
#include "trader/wire/control_text.h"

namespace interlock {
namespace {

constexpr std::size_t kPayloadBytesMax = 16 * 1024;  // The longest decision there is is shorter.
constexpr std::array<std::string_view, 4> kOwnPrefixes{
    kBuiltinDecisionPrefix,
    kSystemDecisionPrefix,
    kOperatorDecisionPrefix,
    kSupervisorDecisionPrefix};

std::string text_of(const Json& payload, std::string_view key) {
    const Json* value = payload.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

AuditStatus audit_status_of(ControlStatus status) {
    switch (status) {
        case ControlStatus::applied:
            return AuditStatus::passed;
        case ControlStatus::noop:
            return AuditStatus::skipped;
        case ControlStatus::rejected:
        case ControlStatus::failed:
            break;
    }
    return AuditStatus::failed;
}

// A repeated or conflicting id leaves the first word standing; so does a switch that is still under
// way under this very id.
bool is_remembered(const SettledAttempt& settled) {
    return !settled.result.dry_run && !settled.is_duplicate &&
           std::ranges::none_of(settled.result.errors, [](const Error& error) {
               return error == errors::decision_id_conflict || error == errors::switch_in_progress;
           });
}

}  // namespace

Result<ControlRequest> read_control_request(const Json& payload) {
    ControlRequest request;
    TRY_ASSIGN(request.decision, decode_control_decision(payload));
    auto text = canonical_json(payload);
    if (!text) {  // The one number of a decision is one that no double is near.
        const std::string& problem = text.error().message;
        return std::unexpected(Error{
            &errors::invalid_confidence,
            "confidence: " + problem,
            {},
            {{.path = "confidence", .problem = problem}}});
    }
    request.payload_text = *std::move(text);
    request.fingerprint = fingerprint(request.decision);
    return request;
}

Result<ControlRequest> read_foreign_request(const Json& payload) {
    const std::string id = text_of(payload, "decision_id");
    const auto begins_id = [&id](std::string_view prefix) { return id.starts_with(prefix); };
    if (std::ranges::any_of(kOwnPrefixes, begins_id)) {
        return fail(
            errors::invalid_payload,
            "decision_id: ids that begin with auto., sys_, op_ or hermes. are the server's own.");
    }
    return read_control_request(payload);
}

UnreadRequest told_by_hash(UnreadRequest unread) {
    const std::string text = to_text(unread.payload);
    if (text.size() <= kPayloadBytesMax) {
        return unread;
    }
    Json told = Json::object({{"bytes", text.size()}, {"sha256", sha256_hex(text)}});
    for (const std::string_view key : {"decision_id", "concern_id", "action"}) {
        const std::string word = text_of(unread.payload, key);
        if (!word.empty() && word.size() <= kIdLengthMax) {
            told.set(std::string(key), word);
        }
    }
    const std::string problem = "must have at most " + std::to_string(kPayloadBytesMax) +
                                " bytes, found " + std::to_string(text.size());
    return {
        std::move(told),
        {&errors::invalid_payload,
         "document: " + problem,
         {},
         {{.path = "document", .problem = problem}}}};
}

Result<TurnReply> refuse_unread(Turn& turn, const UnreadRequest& unread) {
    const auto& [payload, error] = unread;
    const ControlResult result = control_refusal(payload, error);
    const Json answer = encode(result);
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    if (auto id = DecisionId::parse(result.decision_id)) {
        draft.decision_id = *std::move(id);
    }
    draft.status = AuditStatus::failed;
    draft.reason = error.message;
    draft.detail = Json::object({
        // Some numbers have no canonical form; then the text stands for what came.
        {"payload", canonical_json(payload) ? payload : Json(to_text(payload))},
        {"validation", encode(result.validation)},
        {"status", "rejected"},
        {"errors", *answer.find("errors")},
        {"result", result.result},
        {"received_at", to_text(turn.now())},
    });
    TRY(turn.audit(std::move(draft)));
    return Answer{200, to_text(answer)};
}

Result<Answer> settle_attempt(Turn& turn, const SettledAttempt& settled) {
    const auto& [tenant_id, request, result, attempt, received_at, is_duplicate] = settled;
    AuditDraft draft = turn.draft("CONTROL_DECISION");
    draft.tenant_id = tenant_id;
    draft.decision_id = request.decision.decision_id;
    draft.status = audit_status_of(result.status);
    draft.reason = request.decision.reason;
    TRY_ASSIGN(
        draft.detail_text,
        detail_text(
            {.result = result,
             .payload = request.payload_text,
             .override_guards = request.decision.override_guards,
             .attempt = attempt,
             .received_at = received_at}));
    TRY(turn.audit(std::move(draft)));
    std::string answer = answer_text(result);
    if (is_remembered(settled)) {
        save_control_row(
            turn,
            tenant_id,
            request.decision.decision_id,
            {.history =
                 {.fingerprint = request.fingerprint, .status = result.status, .attempts = attempt},
             .seq = turn.head_of(tenant_id).seq,
             .answer_text = answer});
    }
    return Answer{200, std::move(answer)};
}

}  // namespace interlock
