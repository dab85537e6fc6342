// Calls the servers of tenants, whose URLs nobody of this host chose (notices.md#4-the-webhook).
#pragma once

#include <string>

#include "base/result.h"

namespace interlock {

namespace errors {
// Nobody answered, or not with 2xx.
inline constexpr ErrorKind webhook_failed{
    "webhook_failed",
    502,
    true,
    "See that the server behind the URL answers a POST with 2xx within five seconds."};
}  // namespace errors

struct WebhookPost {
    std::string url;
    std::string body;  // JSON.
    std::string signature_header;
    std::string signature;
};

class WebhookCaller {
public:
    virtual ~WebhookCaller() = default;
    // Whether the URL may be called and can be: `url_not_allowed` for good, `unavailable` for now.
    // Any thread; blocks while names are looked up.
    virtual Result<void> judge(const std::string& url) const = 0;
    // Judges again and posts; any 2xx is success. `url_not_allowed`, `unavailable` or
    // `webhook_failed`, none of them with the URL. Any thread; blocks.
    virtual Result<void> post(const WebhookPost& post) = 0;
};

}  // namespace interlock
