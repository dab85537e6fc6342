#include "host/service/troubles.h"

#include <utility>

#include "base/log.h"

namespace interlock {

void Troubles::set(std::string_view name, std::string_view sentence) {
    const std::string key(name);
    std::string was;
    {
        const std::lock_guard lock(mutex_);
        const auto found = now_.find(key);
        if ((found == now_.end()) == sentence.empty()) {
            return;  // It goes on as it was.
        }
        if (sentence.empty()) {
            was = std::move(found->second);
            now_.erase(found);
        } else {
            now_.emplace(key, sentence);
        }
    }
    tell(key, sentence.empty() ? was : std::string(sentence), sentence.empty());
}

// A record that cannot be made, because it is the engine that is in trouble, leaves the log.
void Troubles::tell(const std::string& name, const std::string& sentence, bool is_over) {
    if (is_over) {
        log_info("server_trouble_over", {{"what", name}});
    } else {
        log_error("server_trouble", {{"what", name}, {"message", sentence}});
    }
    TurnRequest request;
    request.tenant_id = system_tenant();
    request.principal = internal_principal("watch");
    request.function = "tell_trouble";
    request.decide = [name, sentence, is_over](Turn& turn) -> Result<TurnReply> {
        AuditDraft draft = turn.draft(is_over ? "SERVER_TROUBLE_OVER" : "SERVER_TROUBLE");
        draft.severity = AuditSeverity::critical;  // Whoever was told of the beginning is told.
        draft.status = is_over ? AuditStatus::passed : AuditStatus::failed;
        draft.reason = sentence;
        draft.detail = Json::object({{"what", name}});
        TRY(turn.audit(std::move(draft)));
        return Answer{};
    };
    request.reply = [](const Result<Answer>&) {};
    submit_(std::move(request));
}

std::string Troubles::first() const {
    const std::lock_guard lock(mutex_);
    return now_.empty() ? std::string() : now_.begin()->second;
}

std::size_t Troubles::count() const {
    const std::lock_guard lock(mutex_);
    return now_.size();
}

}  // namespace interlock
