#include "sim/world.h"

#include "base/errors.h"

namespace interlock::sim {

void SinkModel::set_mood(SinkMood mood, std::uint64_t calls) {
    mood_ = mood;
    mood_calls_ = calls;
}

SinkMood SinkModel::next_mood() {
    if (mood_calls_ == 0) {
        return SinkMood::works;
    }
    --mood_calls_;
    return mood_;
}

Result<EffectReceipt> SinkModel::perform(const OutboxItem& effect) {
    if (!power_.on) {
        return fail(errors::timed_out, "the simulated machine is off");
    }
    const SinkMood mood = next_mood();
    if (mood == SinkMood::loses_request) {
        return fail(errors::timed_out, "the sink gave no answer");
    }
    if (on_arrival) {
        on_arrival(effect);
    }
    if (mood == SinkMood::refuses || performed_.contains(effect.effect_id) ||
        never_.contains(effect.effect_id)) {
        return fail(errors::effect_refused, "the sink does not take this effect");
    }
    const EffectReceipt receipt{"receipt-" + std::to_string(performed_.size() + 1)};
    performed_[effect.effect_id] = receipt;
    if (mood == SinkMood::loses_answer) {
        return fail(errors::timed_out, "the sink gave no answer");
    }
    return receipt;
}

Result<std::optional<EffectReceipt>> SinkModel::find(const EffectId& effect_id) {
    if (!power_.on) {
        return fail(errors::timed_out, "the simulated machine is off");
    }
    if (silent_calls_ > 0) {
        --silent_calls_;
        return fail(errors::unavailable, "the sink cannot be reached");
    }
    if (const auto found = performed_.find(effect_id); found != performed_.end()) {
        return std::optional<EffectReceipt>(found->second);
    }
    never_.insert(effect_id);
    return std::optional<EffectReceipt>();
}

Result<void> FlagModel::raise(std::string_view reason) {
    if (power_.on && on_raise) {
        on_raise();
    }
    if (!power_.on || unwritable_) {
        return fail(errors::io_failed, "the KILL file cannot be written");
    }
    put_file(std::string(reason));
    return {};
}

Result<void> FlagModel::lower() {
    if (!power_.on || unwritable_) {
        return fail(errors::io_failed, "the KILL file cannot be removed");
    }
    remove_file();
    return {};
}

void FlagModel::put_file(std::string reason) {
    if (!raised_) {
        reason_ = std::move(reason);
    }
    raised_ = true;
}

void FlagModel::remove_file() {
    raised_ = false;
    reason_.clear();
}

void MirrorModel::publish(const std::map<TenantId, LedgerHead>& changed) {
    if (!power_.on) {
        return;
    }
    for (const auto& [tenant_id, head] : changed) {
        LedgerHead& now = now_[tenant_id];
        older_[tenant_id] = now;
        now = head;
    }
}

Result<std::map<TenantId, LedgerHead>> MirrorModel::load() {
    if (load_fails_) {
        load_fails_ = false;
        return fail(errors::io_failed, "the head file cannot be read");
    }
    std::map<TenantId, LedgerHead> heads;
    for (const auto& [tenant_id, head] : now_) {
        if (head.seq > 0) {
            heads[tenant_id] = head;
        }
    }
    return heads;
}

void MirrorModel::settle_after_crash(SeededRandom& random) {
    for (auto& [tenant_id, head] : now_) {
        if (random.chance(400)) {
            head = older_[tenant_id];
        }
    }
}

void MirrorModel::roll_back(const TenantId& tenant_id, const LedgerHead& head) {
    now_[tenant_id] = head;
    older_[tenant_id] = head;
}

}  // namespace interlock::sim
