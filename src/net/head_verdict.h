// What is said of a request when only its head has arrived: who sends it, and how much of a body it
// may bring. So nothing is read for a caller who would be refused, and a connection counts as
// somebody's as soon as somebody proved to be behind it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "net/http_message.h"

namespace interlock {

struct HeadVerdict {
    // Who proved to be the caller, for bounds only; empty: a stranger.
    std::string holder = {};
    std::size_t body_bytes_max = 0;  // Never beyond the server's own bound, unless `is_large`.
    bool is_large = false;           // A body beyond that bound needs one of the few places.
    // The answer to a larger body, instead of 413.
    std::optional<HttpResponse> refusal = std::nullopt;
    bool is_urgent = false;  // Handled before everything else that waits for the thread.
};

// Runs on a network thread, for every request, and must be quick. The body is not there yet.
using HeadJudge = std::function<HeadVerdict(const HttpRequest& head)>;

}  // namespace interlock
