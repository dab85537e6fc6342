#include "app/mcp/sse_reader.h"

#include <utility>

namespace interlock {

bool SseReader::feed(std::string_view bytes, const std::function<void(const SseEvent&)>& on_event) {
    while (!bytes.empty()) {
        if (std::exchange(skip_newline_, false) && bytes.front() == '\n') {
            bytes.remove_prefix(1);
            continue;
        }
        const std::size_t end = bytes.find_first_of("\r\n");
        line_ += bytes.substr(0, end);
        if (line_.size() + event_.data.size() > kSseEventBytesMax) {
            return false;
        }
        if (end == std::string_view::npos) {
            break;
        }
        skip_newline_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        take_line(line_, on_event);
        line_.clear();
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
