#include "api/mcp/sse_reader.h"

namespace interlock {

bool SseReader::feed(std::string_view bytes, const std::function<void(const SseEvent&)>& on_event) {
    for (const char c : bytes) {
        if (skip_newline_ && c == '\n') {
            skip_newline_ = false;
            continue;
        }
        skip_newline_ = c == '\r';
        if (c == '\n' || c == '\r') {
            take_line(line_, on_event);
            line_.clear();
            continue;
        }
        line_ += c;
        if (line_.size() + event_.data.size() > kSseEventBytesMax) {
            return false;
        }
    }
    return true;
}

void SseReader::take_line(
    std::string_view line, const std::function<void(const SseEvent&)>& on_event) {
    if (line.empty()) {
        last_event_id_ = event_id_;
        if (has_data_) {
            on_event(event_);
        }
        event_ = {};
        has_data_ = false;
        return;
    }
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    if (field == "data") {
        if (has_data_) {
            event_.data += '\n';
        }
        event_.data += value;
        has_data_ = true;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
        event_id_ = value;
    }
}

}  // namespace interlock
