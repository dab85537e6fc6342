// The part of the runner that records what effects came to.
#include "engine/service/turn_runner.h"

namespace interlock {

std::int64_t TurnRunner::unknown_effects(const TenantId& tenant_id) const {
    std::int64_t count = 0;
    for (const auto& [effect_id, effect] : open_effects_) {
        if (effect.unknown && (tenant_id == system_tenant() || effect.tenant_id == tenant_id)) {
            ++count;
        }
    }
    return count;
}

TurnRequest TurnRunner::outcome_turn(EffectOutcome outcome) {
    TurnRequest request;
    request.tenant_id = outcome.effect.tenant_id;
    request.principal = internal_principal("outbox");
    request.function = "effect_outcome";
    request.reply = [this, outcome](const Result<Answer>& result) {
        if (!result) {
            unrecorded_.emplace(now() + kRetryAfter, outcome);
        }
    };
    request.decide = [this, outcome = std::move(outcome)](Turn& turn) {
        return record_outcome(turn, outcome);
    };
    return request;
}

namespace {

// Longer receipts are kept beside the record, not in it.
constexpr std::size_t kReceiptInlineMax = 200;

}  // namespace

Result<TurnReply> TurnRunner::record_outcome(Turn& turn, const EffectOutcome& outcome) {
    const EffectId& effect_id = outcome.effect.effect_id;
    if (!turn.is_effect_open(effect_id)) {
        return Answer{};  // Settled already; a late second report changes nothing.
    }
    AuditDraft draft = turn.draft("EFFECT_" + [&] {
        std::string word(to_word(outcome.fate));
        for (char& c : word) {
            c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
        return word;
    }());
    draft.step = AuditStep::execute;
    draft.status = outcome.fate == EffectFate::done ? AuditStatus::passed : AuditStatus::failed;
    if (outcome.fate != EffectFate::done) {
        draft.reason = outcome.error_message;
    } else if (outcome.receipt.size() <= kReceiptInlineMax) {
        draft.reason = outcome.receipt;
    } else {
        draft.reason = "the receipt is kept as an artifact";
        draft.artifacts.push_back(turn.put_artifact(outcome.receipt));
    }
    draft.detail.set("effect_id", effect_id.text());
    draft.detail.set("kind", outcome.effect.kind);
    if (!outcome.error_code.empty()) {
        draft.detail.set("code", outcome.error_code);
    }
    TRY(turn.audit(std::move(draft)));
    if (outcome.fate == EffectFate::unknown) {
        turn.mark_effect_unknown(effect_id);
    } else {
        turn.finish_effect(effect_id);
    }
    if (const auto handler = effect_handlers_.find(outcome.effect.kind);
        handler != effect_handlers_.end()) {
        TRY(handler->second(turn, outcome));
    }
    return Answer{};
}

}  // namespace interlock
