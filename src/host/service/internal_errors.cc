#include "host/service/internal_errors.h"

#include <utility>

#include "base/errors.h"
#include "base/log.h"

namespace interlock {
namespace {

constexpr std::string_view kRecordFunction = "record_internal_error";
constexpr std::size_t kMessageMax = 300;

bool is_own_mistake(const Error& error) {
    return error == errors::internal || error == errors::corrupt_data;
}

}  // namespace

InternalErrors::InternalErrors(SubmitTurn submit, KillSwitchService& kill)
    : submit_(std::move(submit)), kill_(kill) {}

void InternalErrors::note(const TurnRequest& turn, const Error* error) {
    if (error == nullptr || !is_own_mistake(*error)) {
        if (const auto row = rows_.find(turn.tenant_id);
            row != rows_.end() && row->second.functions.contains(turn.function)) {
            rows_.erase(row);
        }
        return;
    }
    if (turn.function == kRecordFunction || turn.tenant_id == system_tenant()) {
        log_error("internal_error", {{"function", turn.function}, {"message", error->message}});
        return;
    }
    record(turn, *error);
    Row& row = rows_[turn.tenant_id];
    row.functions.insert(turn.function);
    if (++row.count < kInternalErrorsMax) {
        return;
    }
    rows_.erase(turn.tenant_id);
    kill_.activate_by_rule(
        turn.tenant_id,
        "internal_errors",
        std::to_string(kInternalErrorsMax) + " internal errors in a row, the last in " +
            turn.function + ": " + std::string(error->code()) + ": " +
            error->message.substr(0, kMessageMax));
}

void InternalErrors::record(const TurnRequest& turn, const Error& error) {
    TurnRequest record;
    record.tenant_id = turn.tenant_id;
    record.principal = internal_principal("internal_errors");
    record.function = kRecordFunction;
    record.decide = [function = turn.function,
                     code = std::string(error.code()),
                     message = error.message.substr(0, kMessageMax)](Turn& t) -> Result<TurnReply> {
        AuditDraft draft = t.draft("ERROR_EVENT");
        draft.status = AuditStatus::failed;
        draft.reason = message;
        draft.detail = Json::object({{"code", code}, {"function", function}});
        TRY(t.audit_repeat(
            std::move(draft),
            {.subject = "internal_error/" + function, .what = "internal error", .varying = {}}));
        return Answer{200, "{}"};
    };
    record.reply = [](const Result<Answer>& answer) {
        if (!answer) {
            log_error("internal_error_unrecorded", {{"message", answer.error().message}});
        }
    };
    submit_(std::move(record));
}

}  // namespace interlock
