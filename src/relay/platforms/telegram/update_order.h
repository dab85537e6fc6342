// Which of the updates that were fetched are stored. An update is confirmed to Telegram only when
// it and all before it are; messages of one chat are handed in one after the other, so that a
// refused one is not overtaken by its successors.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace interlock {

// Thread-safe: one thread fetches, answers come from any other, even after that one has ended.
class UpdateOrder {
public:
    // Fetched before and stored: it must not be handed in again.
    bool is_stored(std::int64_t id) const;
    // Waits until nothing of the chat is unanswered. False: something was refused or it is stopped,
    // and nothing more may be handed in.
    bool await_chat(const std::string& chat_id);
    void begin(std::int64_t id, std::string chat_id);
    void settle(std::int64_t id, bool is_stored);

    // Waits for every answer. False: stopped.
    bool await_all();
    // The offset that confirms the longest start of `ids` that is stored; nothing when the first is
    // not. Forgets those, and that others were refused.
    struct Progress {
        std::optional<std::int64_t> offset;
        bool is_complete = false;
    };
    Progress advance(const std::vector<std::int64_t>& ids);

    void stop();

private:
    enum class State { waiting, stored, refused };
    struct Entry {
        State state = State::waiting;
        std::string chat_id;
    };
    bool has(State state) const;
    bool is_waiting(const std::string& chat_id) const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::int64_t, Entry> entries_;  // At most what one answer of Telegram holds.
    bool is_stopped_ = false;
};

}  // namespace interlock
