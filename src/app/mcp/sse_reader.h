// Reads server-sent events from a body that arrives bit by bit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace interlock {

// One event beyond this ends the stream: nobody sends such a message in good faith.
inline constexpr std::size_t kSseEventBytesMax = std::size_t{16} * 1024 * 1024;

struct SseEvent {
    std::string data;  // Lines joined by '\n'; empty for an event that only carries an id.
};

class SseReader {
public:
    // False when the event exceeds its bound; the reader is then of no more use.
    bool feed(std::string_view bytes, const std::function<void(const SseEvent&)>& on_event);

    // What to send as Last-Event-ID; empty when the server gave none.
    const std::string& last_event_id() const { return last_event_id_; }

private:
    void take_line(std::string_view line, const std::function<void(const SseEvent&)>& on_event);

    std::string line_;           // Not yet ended.
    bool skip_newline_ = false;  // The line before ended in '\r', so a '\n' belongs to it.
    SseEvent event_;
    bool has_data_ = false;
    std::string event_id_;
    std::string last_event_id_;
};

}  // namespace interlock
