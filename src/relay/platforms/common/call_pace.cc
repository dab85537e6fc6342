#include "relay/platforms/common/call_pace.h"

#include <algorithm>

namespace interlock {

// The generic cell rate algorithm: a meter's time runs ahead of the clock by one interval for each
// call, and at most by a burst of them.
Duration CallPace::earliest(const Meter& meter, const PaceRule& rule, Duration now) {
    const Duration allowed{
        meter.full_again.microseconds - (rule.burst - 1) * rule.interval.microseconds};
    return std::max({now, allowed, meter.blocked_until});
}

void CallPace::count(Meter& meter, const PaceRule& rule, Duration at) {
    meter.full_again = {std::max(meter.full_again, at).microseconds + rule.interval.microseconds};
}

CallPace::Meter& CallPace::meter_of(const std::string& chat_id, Duration now) {
    if (const auto found = meters_.find(chat_id); found != meters_.end()) {
        return found->second;
    }
    if (meters_.size() >= chats_max_) {
        std::erase_if(meters_, [now](const auto& entry) {
            return entry.second.full_again <= now && entry.second.blocked_until <= now;
        });
    }
    if (meters_.size() >= chats_max_) {
        meters_.erase(std::ranges::min_element(meters_, {}, [](const auto& entry) {
            return std::max(entry.second.full_again, entry.second.blocked_until);
        }));
    }
    return meters_[chat_id];
}

CallPace::Turn CallPace::take(const std::string& chat_id, Duration now, Duration longest_wait) {
    const std::lock_guard lock(mutex_);
    const Duration next = earliest(all_, total_, now);
    Meter* const chat = chat_id.empty() ? nullptr : &meter_of(chat_id, now);
    const Duration at = chat == nullptr ? next : std::max(next, earliest(*chat, chat_, now));
    const Duration wait{at.microseconds - now.microseconds};
    if (wait > longest_wait) {
        return {wait, false};
    }
    // Counted as if it left now: a chat that waits must not hold the others up.
    count(all_, total_, next);
    if (chat != nullptr) {
        count(*chat, chat_, at);
    }
    return {wait, true};
}

void CallPace::block(const std::string& chat_id, Duration until) {
    const std::lock_guard lock(mutex_);
    Meter& meter = chat_id.empty() ? all_ : meter_of(chat_id, Duration{});
    meter.blocked_until = std::max(meter.blocked_until, until);
}

std::size_t CallPace::chats() const {
    const std::lock_guard lock(mutex_);
    return meters_.size();
}

}  // namespace interlock
