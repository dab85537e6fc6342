// Webhooks that keep what is posted to them, and refuse as told.
#pragma once

#include <functional>
#include <vector>

#include "base/outbound_url.h"
#include "host/ports/webhook_caller.h"

namespace interlock {

class FakeWebhooks final : public WebhookCaller {
public:
    // As the guard judges without looking names up.
    Result<void> judge(const std::string& url) const override {
        TRY(judge_outbound_url(url, {}));
        return {};
    }
    Result<void> post(const WebhookPost& post) override {
        ++tries;
        if (while_calling) {
            while_calling();
        }
        if (failure != nullptr) {
            return fail(*failure, "The webhook could not be called.");
        }
        TRY(judge(post.url));
        posts.push_back(post);
        return {};
    }

    std::vector<WebhookPost> posts;
    int tries = 0;
    const ErrorKind* failure = nullptr;  // Null: every call is answered.
    std::function<void()> while_calling;
};

}  // namespace interlock
