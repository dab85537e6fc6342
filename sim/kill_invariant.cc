// The checkers of the kill switch (I6, I5) and of the approvals that release it.
#include <algorithm>

#include "base/errors.h"
#include "host/rules/approval_step.h"
#include "sim/invariants.h"

namespace interlock::sim {
namespace {

std::string text_at(const Json& detail, std::string_view key) {
    const Json* found = detail.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

// Times in records are cut to the millisecond: a step of a deadline.
constexpr Duration kTimeGrain = Duration::of_milliseconds(1);

bool is_near(Timestamp a, Timestamp b) {
    const std::int64_t apart = (a - b).microseconds;
    return apart <= kTimeGrain.microseconds && -apart <= kTimeGrain.microseconds;
}

}  // namespace

void ApprovalInvariant::on_record(const AuditRecord& record) {
    const std::string& event = record.draft.event;
    if (!event.starts_with("APPROVAL_")) {
        return;
    }
    const std::pair place(record.draft.tenant_id, text_at(record.draft.detail, "approval_id"));
    if (event == "APPROVAL_REQUESTED") {
        const bool is_proposal = text_at(record.draft.detail, "kind") == "config_proposal";
        const Held fresh{
            "pending", {}, record.draft.timestamp, is_proposal, record.draft.principal};
        if (!approvals_.try_emplace(place, fresh).second) {
            log_.report("approval", place.second + " was requested twice");
        }
        return;
    }
    const auto found = approvals_.find(place);
    if (found == approvals_.end()) {
        log_.report("approval", event + " of " + place.second + ", which nobody requested");
        return;
    }
    Held& held = found->second;
    const std::string wanted = event == "APPROVAL_CONSUMED" ? "granted" : "pending";
    if (held.state != wanted) {
        log_.report("approval", event + " of " + place.second + ", which is " + held.state);
    }
    if (event == "APPROVAL_VOTED") {
        on_vote(held, record, 0);
    } else if (event == "APPROVAL_GRANTED") {
        on_vote(held, record, needed_for(held));
        check_own_vote(held, record.draft.tenant_id, record.draft.principal);
        held.state = "granted";
    } else if (event == "APPROVAL_CONSUMED") {
        held.state = "consumed";
    } else if (event == "APPROVAL_REJECTED") {
        on_vote(held, record, 0);
        held.state = "rejected";
    } else if (event == "APPROVAL_EXPIRED" || event == "APPROVAL_LAPSED") {
        held.state = "expired";
    }
}

void ApprovalInvariant::on_vote(Held& held, const AuditRecord& record, std::size_t needed) {
    const std::string& voter = record.draft.principal;
    const TenantId* home = people_.home_of(voter);
    if (!voter.starts_with("human:") || home == nullptr || *home != record.draft.tenant_id) {
        log_.report(
            "approval", voter + " decided on an approval of " + record.draft.tenant_id.text());
    }
    const Duration life = held.is_proposal ? kApprovalLife : kKillReleaseLife;
    // Times in records are cut to the millisecond, which can only make this smaller.
    if (record.draft.timestamp - held.requested_at > life) {
        log_.report("approval", voter + " decided on an approval after its time");
    }
    held.voters.insert(voter);
    if (held.voters.size() < needed) {
        log_.report("approval", "an approval was granted by too few humans");
    }
}

// Nobody waves through what they asked for themselves while there is somebody else.
void ApprovalInvariant::check_own_vote(
    const Held& held, const TenantId& tenant_id, const std::string& voter) {
    if (needed_for(held) == 1 && voter == held.requested_by &&
        people_.humans.at(tenant_id).size() > 1) {
        log_.report("approval", voter + " alone approved what it asked for itself");
    }
}

ApprovalInvariant::Request ApprovalInvariant::request_of(
    const TenantId& tenant_id, const ApprovalId& approval_id) const {
    const auto found = approvals_.find({tenant_id, approval_id.text()});
    if (found == approvals_.end()) {
        return {};
    }
    const Held& held = found->second;
    return {
        held.requested_by,
        held.requested_at + (held.is_proposal ? kApprovalLife : kKillReleaseLife)};
}

void ApprovalInvariant::on_reply(
    const Command& command, const Result<Answer>& result, Timestamp now) {
    const bool decides =
        command.kind == Command::Kind::approve || command.kind == Command::Kind::reject;
    const bool may = command.principal.kind == PrincipalKind::human &&
                     command.principal.belongs_to(command.tenant_id);
    if (decides && result && !may) {
        log_.report("approval", "no human of the tenant, yet it worked: " + to_text(command));
    }
    const auto found = approvals_.find({command.tenant_id, command.approval_id.text()});
    if (!decides || !may || found == approvals_.end()) {
        return;
    }
    const Request request = request_of(command.tenant_id, command.approval_id);
    if (is_near(now, request.until)) {
        edges_.add(Edge::approval_expiry, result.has_value());
    }
    const bool is_own = to_text(command.principal) == request.by;
    if (command.kind != Command::Kind::approve || !is_own || needed_for(found->second) != 1) {
        return;
    }
    const bool has_others = people_.humans.at(command.tenant_id).size() > 1;
    const Timestamp fresh_until = command.principal.authenticated_at + kFreshAuthentication;
    if (has_others) {
        edges_.add(Edge::own_vote, result.has_value());
    } else if (is_near(now, fresh_until)) {
        edges_.add(Edge::fresh_login, result.has_value());
    }
    if (result && !has_others && now > fresh_until) {
        log_.report("approval", "an old login was enough to approve an own request");
    }
}

bool ApprovalInvariant::is_being_used(
    const TenantId& tenant_id, const std::string& approval_id) const {
    const auto found = approvals_.find({tenant_id, approval_id});
    return found != approvals_.end() && found->second.state == "granted";
}

std::vector<ApprovalId> ApprovalInvariant::all(const TenantId& tenant_id) const {
    std::vector<ApprovalId> ids;
    for (const auto& [place, held] : approvals_) {
        if (place.first == tenant_id) {
            ids.push_back(ApprovalId::trusted(place.second));
        }
    }
    return ids;
}

std::vector<ApprovalId> ApprovalInvariant::pending(const TenantId& tenant_id) const {
    std::vector<ApprovalId> ids;
    for (const auto& [place, held] : approvals_) {
        if (place.first == tenant_id && held.state == "pending") {
            ids.push_back(ApprovalId::trusted(place.second));
        }
    }
    return ids;
}

void KillInvariant::on_accepted(Activation activation) {
    Open open;
    open.activation = std::move(activation);
    open.order = ++order_;
    open_.push_back(std::move(open));
}

void KillInvariant::on_delivered(const Delivered& delivered) {
    if (delivered.command.kind == Command::Kind::kill_status) {
        asked_[delivered.number] = ++order_;
    }
}

void KillInvariant::on_reply(const Delivered& delivered, const Result<Answer>& result) {
    for (Open& open : open_) {
        if (open.activation.delivery_number == delivered.number) {
            open.answered = result.has_value();
            open.failed = !result;
            open.is_covered = result && switches_[open.activation.tenant_id].active;
            if (result && !open.is_covered) {
                log_.report("I6", "acknowledged, but not on record: " + open.activation.reason);
            }
        }
    }
    const auto asked = asked_.find(delivered.number);
    if (asked == asked_.end()) {
        return;
    }
    const std::uint64_t order = asked->second;
    asked_.erase(asked);
    const auto body = result ? parse_json(result->body) : Result<Json>(Json());
    const Json* active = body ? body->find("active") : nullptr;
    if (active == nullptr || !active->is_bool() || active->as_bool()) {
        return;
    }
    for (const Open& open : open_) {
        const TenantId& stopped = open.activation.tenant_id;
        if (open.order < order &&
            (stopped == delivered.command.tenant_id || stopped == system_tenant())) {
            log_.report(
                "I6",
                "the status of " + delivered.command.tenant_id.text() +
                    " says off, but it was stopped: " + open.activation.reason);
        }
    }
}

void KillInvariant::on_record(const AuditRecord& record) {
    const std::string& event = record.draft.event;
    const std::string effect_id = text_at(record.draft.detail, "effect_id");
    if (event == "EFFECT_UNKNOWN") {
        unknown_effects_[record.draft.tenant_id].insert(effect_id);
    } else if (event.starts_with("EFFECT_")) {
        unknown_effects_[record.draft.tenant_id].erase(effect_id);
    } else if (event == "KILL_SWITCH_ACTIVATED" || event == "KILL_SWITCH_REPEATED") {
        on_activation(record);
    } else if (event == "KILL_SWITCH_RELEASED") {
        on_release(record);
    }
}

void KillInvariant::on_activation(const AuditRecord& record) {
    Switch& held = switches_[record.draft.tenant_id];
    const bool repeated = record.draft.event == "KILL_SWITCH_REPEATED";
    if (repeated != held.active) {
        log_.report(
            "I6",
            record.draft.event + " of " + record.draft.tenant_id.text() + ", which is " +
                (held.active ? "on" : "off"));
    }
    if (!held.active) {
        held = {true, record.draft.reason};
    }
    if (text_at(record.draft.detail, "first_reason") != held.reason) {
        log_.report("I6", "a repeated activation did not keep the first reason");
    }
    for (Open& open : open_) {
        if (!open.recorded_seq && open.activation.tenant_id == record.draft.tenant_id &&
            open.activation.reason == record.draft.reason &&
            open.activation.head_seq < record.seq) {
            open.recorded_seq = record.seq;
        }
    }
    const bool is_held = std::any_of(open_.begin(), open_.end(), [&](const Open& open) {
        return open.recorded_seq && open.activation.tenant_id == record.draft.tenant_id;
    });
    if (!is_held) {
        // Recorded by a server that crashed before it could say so: on all the same.
        Open open;
        open.activation = {record.draft.tenant_id, record.draft.reason, record.seq - 1};
        open.order = ++order_;
        open.recorded_seq = record.seq;
        open_.push_back(std::move(open));
    }
}

void KillInvariant::on_release(const AuditRecord& record) {
    const TenantId& tenant_id = record.draft.tenant_id;
    if (!approvals_.is_being_used(tenant_id, text_at(record.draft.detail, "approval_id"))) {
        log_.report("I6", tenant_id.text() + " was released without a granted approval");
    }
    if (!record.draft.principal.starts_with("human:")) {
        log_.report("I6", tenant_id.text() + " was released by " + record.draft.principal);
    }
    if (!unknown_effects_[tenant_id].empty()) {
        log_.report(
            "I5",
            tenant_id.text() + " was released while the outcome of " +
                *unknown_effects_[tenant_id].begin() + " was unknown");
    }
    switches_[tenant_id] = {};
    std::erase_if(open_, [&](const Open& open) {
        return open.activation.tenant_id == tenant_id &&
               (open.recorded_seq || open.failed || open.is_covered ||
                open.activation.may_go_unrecorded);
    });
}

void KillInvariant::on_file_written() {
    for (Open& open : open_) {
        const bool is_unattended = open.activation.delivery_number == 0;
        open.failed = open.failed || (is_unattended && !open.recorded_seq);
    }
}

void KillInvariant::on_crash() {
    std::erase_if(open_, [](const Open& open) { return !open.recorded_seq && !open.answered; });
    asked_.clear();
}

bool KillInvariant::is_stopped_itself(const TenantId& tenant_id) const {
    return std::any_of(open_.begin(), open_.end(), [&](const Open& open) {
        return open.activation.tenant_id == tenant_id;
    });
}

std::string KillInvariant::why_stopped(const TenantId& tenant_id) const {
    for (const Open& open : open_) {
        if (open.activation.tenant_id == tenant_id ||
            open.activation.tenant_id == system_tenant()) {
            return open.activation.tenant_id.text() + ": " + open.activation.reason;
        }
    }
    return {};
}

}  // namespace interlock::sim
