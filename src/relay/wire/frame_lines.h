// Cuts what arrives on a socket into lines: a frame may span messages and a message may hold
// several. A line beyond its bound is the end of the stream, because nothing after it can be told
// apart from its rest.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "relay/wire/relay_frame.h"

namespace interlock {

class FrameLines {
public:
    explicit FrameLines(std::size_t line_bytes_max = kFrameBytesMax)
        : line_bytes_max_(line_bytes_max) {}

    // The whole lines there are now, without newlines; blank ones are left out. False in `ok()`
    // from the first line on that is too long.
    std::vector<std::string> take(std::string_view bytes);
    bool ok() const { return ok_; }
    std::size_t held_bytes() const { return rest_.size(); }

private:
    std::size_t line_bytes_max_;
    std::string rest_;
    bool ok_ = true;
};

}  // namespace interlock
