#include "relay/platforms/telegram/update_order.h"

#include <algorithm>
#include <utility>

namespace interlock {

bool UpdateOrder::has(State state) const {
    return std::ranges::any_of(
        entries_, [state](const auto& entry) { return entry.second.state == state; });
}

bool UpdateOrder::is_waiting(const std::string& chat_id) const {
    return std::ranges::any_of(entries_, [&chat_id](const auto& entry) {
        return entry.second.state == State::waiting && entry.second.chat_id == chat_id;
    });
}

bool UpdateOrder::is_stored(std::int64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.state == State::stored;
}

bool UpdateOrder::await_chat(const std::string& chat_id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || has(State::refused) || !is_waiting(chat_id); });
    return !is_stopped_ && !has(State::refused);
}

void UpdateOrder::begin(std::int64_t id, std::string chat_id) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(id, Entry{State::waiting, std::move(chat_id)});
}

void UpdateOrder::settle(std::int64_t id, bool is_stored) {
    const std::lock_guard lock(mutex_);
    entries_[id].state = is_stored ? State::stored : State::refused;
    changed_.notify_all();
}

bool UpdateOrder::await_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || !has(State::waiting); });
    return !is_stopped_;
}

UpdateOrder::Progress UpdateOrder::advance(const std::vector<std::int64_t>& ids) {
    const std::lock_guard lock(mutex_);
    Progress progress;
    progress.is_complete = true;
    for (const std::int64_t id : ids) {
        const auto found = entries_.find(id);
        if (found == entries_.end() || found->second.state != State::stored) {
            progress.is_complete = false;
            break;
        }
        progress.offset = id + 1;
        entries_.erase(found);
    }
    std::erase_if(entries_, [](const auto& entry) { return entry.second.state == State::refused; });
    return progress;
}

void UpdateOrder::stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
}

}  // namespace interlock
