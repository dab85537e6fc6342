// One HTTP call to a chat platform, as its adapter sees it: an answer, or which kind of nothing.
// The failures carry no text on purpose, because a library's would quote the URL, and URLs of
// platforms hold credentials.
#pragma once

#include <atomic>
#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace interlock {

inline constexpr std::size_t kPlatformAnswerBytesMax = std::size_t{4} * 1024 * 1024;
inline constexpr Duration kPlatformCallTimeout = Duration::of_seconds(20);

struct PlatformHttpCall {
    std::string method = "POST";
    std::string url;  // A secret: never logged, never in an error.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    Duration timeout = kPlatformCallTimeout;
    std::size_t answer_bytes_max = kPlatformAnswerBytesMax;
    // An answer named the address, and not the configuration, so the guard judges it.
    bool is_told = false;
    const std::atomic<bool>* is_cancelled = nullptr;  // Set: the call ends soon after it is true.
};

struct PlatformHttpAnswer {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
};

enum class HttpFailure {
    not_sent,  // Nothing left: no address, no connection, no TLS.
    unknown,   // It left in part or whole, and no complete answer came.
};

// Blocking; from several threads at once.
using PlatformHttp =
    std::function<std::expected<PlatformHttpAnswer, HttpFailure>(const PlatformHttpCall&)>;

}  // namespace interlock
