// Calls to the Bot API over HTTP. The token is part of every URL, so nothing of a URL ever leaves
// this file.
#pragma once

#include <atomic>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "base/secret_string.h"
#include "relay/platforms/common/platform_http.h"
#include "relay/platforms/telegram/telegram_json.h"

namespace interlock {

inline constexpr std::size_t kTelegramDownloadBytesMax = std::size_t{20} * 1000 * 1000;

struct TelegramFailure {
    HttpFailure kind = HttpFailure::unknown;
    // Telegram answered, but something in this update cannot be read.
    std::optional<std::int64_t> unreadable_update;
};

class TelegramApi {
public:
    struct Parts {
        std::string api_base;  // "https://api.telegram.org"
        SecretString token;
        PlatformHttp http;
        const std::atomic<bool>& is_stopped;
    };
    explicit TelegramApi(Parts parts) : parts_(std::move(parts)) {}

    struct Patience {
        Duration timeout = kPlatformCallTimeout;
        std::size_t answer_bytes_max = kPlatformAnswerBytesMax;
        bool ends_with_stop = false;  // A call that changes nothing need not be waited for.
    };
    // An answer is a definite one. A 5xx says nothing of what was done, so it is `unknown`.
    std::expected<TelegramAnswer, TelegramFailure> ask(
        const TelegramRequest& request, const Patience& patience) const;
    // The bytes of a file by the path that getFile told.
    struct FetchBounds {
        Duration timeout;
        std::size_t bytes_max = kTelegramDownloadBytesMax;
    };
    std::expected<std::string, HttpFailure> fetch(
        const std::string& path, const FetchBounds& bounds) const;

    std::string_view token() const { return parts_.token.reveal(); }

private:
    Parts parts_;
};

}  // namespace interlock
