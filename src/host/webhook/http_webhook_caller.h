// Posts to tenants' webhooks through the guard (notices.md#4-the-webhook): no redirect, a short
// wait, a small answer.
#pragma once

#include <atomic>
#include <chrono>

#include "host/ports/webhook_caller.h"
#include "net/egress_guard.h"

namespace interlock {

inline constexpr std::chrono::milliseconds kWebhookTimeout{5'000};
inline constexpr std::size_t kWebhookAnswerBytesMax = 64 * 1024;

class HttpWebhookCaller final : public WebhookCaller {
public:
    explicit HttpWebhookCaller(EgressGuard guard) : guard_(std::move(guard)) {}

    Result<void> judge(const std::string& url) const override;
    Result<void> post(const WebhookPost& post) override;
    // A call under way ends within a second.
    void stop() { is_stopping_.store(true); }

private:
    const EgressGuard guard_;
    std::atomic<bool> is_stopping_{false};
};

}  // namespace interlock
