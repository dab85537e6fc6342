#include "host/webhook/http_webhook_caller.h"

#include "base/errors.h"

namespace interlock {

Result<void> HttpWebhookCaller::judge(const std::string& url) const {
    TRY(guard_.judge(url, EgressGuard::Giver::stranger));
    return {};
}

Result<void> HttpWebhookCaller::post(const WebhookPost& post) {
    const auto client = WebClient::create();  // One for one thread; these calls are few.
    WebCall call;
    call.method = "POST";
    call.url = post.url;
    call.headers = {{"Content-Type", "application/json"}, {post.signature_header, post.signature}};
    call.body = post.body;
    call.timeout = kWebhookTimeout;
    call.body_bytes_max = kWebhookAnswerBytesMax;
    call.is_cancelled = &is_stopping_;
    const auto answer = guard_.send(*client, std::move(call), EgressGuard::Giver::stranger);
    if (!answer) {
        const Error& error = answer.error();
        if (error == errors::url_not_allowed || error == errors::unavailable) {
            return std::unexpected(error);
        }
        return fail(errors::webhook_failed, "it did not answer: " + std::string(error.code()));
    }
    if (answer->status < 200 || answer->status > 299) {
        return fail(errors::webhook_failed, "it answered " + std::to_string(answer->status));
    }
    return {};
}

}  // namespace interlock
