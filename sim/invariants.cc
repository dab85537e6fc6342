#include "sim/invariants.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "engine/service/outbox_runner.h"

namespace interlock::sim {
namespace {

// What a server may always say instead of an answer: it was too busy, or its store failed.
bool is_infrastructure(std::string_view code) {
    constexpr std::array<std::string_view, 5> kCodes{
        "overloaded", "unavailable", "commit_failed", "commit_unknown", "io_failed"};
    return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

std::string name_of(const Command& command) {
    return "(" + to_text(command) + ")";
}

}  // namespace

void TenantInvariant::check_text(
    const TenantId& tenant_id, std::string_view text, std::string_view where) {
    if (tenant_id == system_tenant()) {
        return;  // Whoever runs the host knows its tenants.
    }
    for (const TenantId& other : people_.tenants) {
        if (other != tenant_id && text.find(other.text()) != std::string_view::npos) {
            log_.report(
                "I7",
                std::string(where) + " of " + tenant_id.text() + " names " + other.text() + ": " +
                    std::string(text.substr(0, 300)));
        }
    }
}

void TenantInvariant::on_record(const AuditRecord& record, std::string_view canonical) {
    const TenantId& tenant_id = record.draft.tenant_id;
    check_text(tenant_id, canonical, "a record in the chain");
    const TenantId* home = people_.home_of(record.draft.principal);
    const bool cites = record.draft.event.starts_with("GLOBAL_KILL_SWITCH_");
    if (home != nullptr && *home != tenant_id && !(cites && *home == system_tenant())) {
        log_.report(
            "I7",
            record.draft.principal + " of " + home->text() + " wrote " + record.draft.event +
                " into the chain of " + tenant_id.text());
    }
}

void ChainInvariant::on_entry(const LedgerEntry& entry) {
    const auto [chain, is_new] = chains_.try_emplace(entry.tenant_id, entry.tenant_id);
    chain->second.add(entry.seq, entry.canonical_json, entry.hash);
    if (const auto& fault = chain->second.fault()) {
        log_.report(
            "chain",
            "the chain of " + entry.tenant_id.text() + " broke at record " +
                std::to_string(fault->seq) + ": " + std::string(fault->reason));
    }
}

void AnswerInvariant::on_delivered(const Command& command) {
    if (const auto key = answer_key_of(command)) {
        keys_[*key].tried.insert(command.request_hash);
    }
}

void AnswerInvariant::on_reply(const Command& command, const Result<Answer>& result) {
    const auto answer_key = answer_key_of(command);
    if (!answer_key) {
        return;
    }
    Key& key = keys_[*answer_key];
    if (result) {
        on_answer(command, key, *result);
    } else if (!is_infrastructure(result.error().code())) {
        on_error(command, key, result.error());
    }
}

void AnswerInvariant::on_answer(const Command& command, Key& key, const Answer& answer) {
    if (!answer.keep) {
        if (!key.answered_hash.empty()) {
            log_.report("I2", "an answered key was decided anew by " + name_of(command));
        }
        return;
    }
    if (key.answered_hash.empty()) {
        key.answered_hash = command.request_hash;
        key.body = answer.body;
        key.http_status = answer.http_status;
    } else if (key.answered_hash != command.request_hash) {
        log_.report(
            "I2", "two requests were answered under one key, the second " + name_of(command));
    } else if (key.body != answer.body || key.http_status != answer.http_status) {
        log_.report(
            "I2",
            "the answer to " + name_of(command) + " was " + key.body + " and is now " +
                answer.body);
    }
}

void AnswerInvariant::on_error(const Command& command, const Key& key, const Error& error) {
    const bool is_answered = key.answered_hash == command.request_hash;
    if (error == errors::idempotency_key_conflict) {
        if (is_answered) {
            log_.report("I2", "its own key is a conflict for " + name_of(command));
        } else if (key.tried.size() < 2) {
            log_.report(
                "I7", "a key that only another tenant used is a conflict for " + name_of(command));
        }
        return;
    }
    if (is_answered) {
        log_.report(
            "I2", name_of(command) + " had an answer and now gets " + std::string(error.code()));
    }
}

bool AnswerInvariant::is_answered(const AnswerKey& key) const {
    const auto found = keys_.find(key);
    return found != keys_.end() && !found->second.answered_hash.empty();
}

bool AnswerInvariant::was_altered(const AnswerKey& key) const {
    const auto found = keys_.find(key);
    return found != keys_.end() && found->second.tried.size() > 1;
}

void EffectInvariant::on_arrival(const OutboxItem& effect, bool is_justified) {
    if (effect.kind == kCancelAllKind) {
        return;  // The one exception to I1, and harmless twice.
    }
    if (!is_justified) {
        log_.report(
            "I1",
            effect.effect_id.text() + " of " + effect.tenant_id.text() +
                " was sent before the record that justifies it was durable");
    }
    if (!arrived_.insert(effect.effect_id).second) {
        log_.report("I4", effect.effect_id.text() + " was sent a second time");
    }
    const auto json = parse_json(effect.json);
    const Json* key = json ? json->find("idempotency_key") : nullptr;
    if (key == nullptr || !key->is_string()) {
        log_.report("I2", effect.effect_id.text() + " carries no idempotency key");
        return;
    }
    const auto [first, is_new] =
        by_key_.try_emplace({effect.tenant_id, key->as_string()}, effect.effect_id);
    if (first->second != effect.effect_id) {
        log_.report(
            "I2",
            "the key " + key->as_string() + " of " + effect.tenant_id.text() +
                " had two effects in the world");
    }
}

void AgeInvariant::on_commit(const TurnCommit& turn, const Clocks& clocks) {
    for (const OutboxItem& item : turn.outbox) {
        if (adds_no_exposure(item.kind)) {
            continue;
        }
        const Duration left = item.not_after - clocks.now;
        const Deadline deadline{
            item.not_after,
            Duration{clocks.monotonic.microseconds + left.microseconds},
            clocks.life};
        effects_[item.effect_id] = deadline;
        const auto json = parse_json(item.json);
        const Json* request = json ? json->find("request") : nullptr;
        const Json* id = request == nullptr ? nullptr : request->find("order_client_id");
        if (id != nullptr && id->is_string()) {
            orders_[{item.tenant_id, id->as_string()}] = deadline;
        }
    }
}

void AgeInvariant::on_arrival(const OutboxItem& effect, const Clocks& clocks) {
    if (const auto found = effects_.find(effect.effect_id); found != effects_.end()) {
        check(found->second, effect.effect_id.text(), clocks);
    }
}

void AgeInvariant::on_submit(
    const TenantId& tenant_id, const OrderClientId& id, const Clocks& clocks) {
    if (const auto found = orders_.find({tenant_id, id.text()}); found != orders_.end()) {
        check(found->second, id.text(), clocks);
    }
}

void AgeInvariant::check(const Deadline& deadline, const std::string& what, const Clocks& clocks) {
    const bool is_late = clocks.life == deadline.life && clocks.monotonic > deadline.send_until;
    if (clocks.now > deadline.not_after || is_late) {
        log_.report("age", what + " was sent after " + to_text(deadline.not_after));
    }
}

void ReplyInvariant::on_reply(const Delivered& delivered) {
    open_.erase(delivered.number);
    if (!answered_.insert(delivered.number).second) {
        log_.report("reply", "two replies to " + name_of(delivered.command));
    }
}

void ReplyInvariant::on_quiet() {
    if (!open_.empty()) {
        log_.report("reply", "no reply to " + name_of(open_.begin()->second));
    }
}

}  // namespace interlock::sim
