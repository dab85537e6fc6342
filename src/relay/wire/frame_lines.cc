#include "relay/wire/frame_lines.h"

#include "base/text.h"

namespace interlock {

std::vector<std::string> FrameLines::take(std::string_view bytes) {
    std::vector<std::string> lines;
    while (ok_ && !bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        if (part.size() > line_bytes_max_ - rest_.size()) {
            ok_ = false;
            rest_.clear();
            break;
        }
        rest_ += part;
        if (end == std::string_view::npos) {
            break;
        }
        if (!trim(rest_).empty()) {
            lines.push_back(std::move(rest_));
        }
        rest_.clear();
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

}  // namespace interlock
