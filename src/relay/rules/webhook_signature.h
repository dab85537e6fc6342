// Whether a webhook comes from its platform, judged over the exact bytes that arrived
// (docs/contracts/relay-connector.md#webhooks). Pure functions: `interlock relay verify-webhook`
// and the server run the same ones.
//
// A header that is there twice is refused: which one a proxy means is anybody's guess. WeCom has a
// file of its own, because its messages are also encrypted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interlock {

inline constexpr std::int64_t kWebhookFreshnessSeconds = 300;
inline constexpr std::size_t kFormFieldsMax = 1000;

struct WebhookRequest {
    std::string method = "POST";
    std::string url;  // Twilio: as the platform was told it, with its query.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;                         // Raw.
    std::optional<std::int64_t> now_seconds;  // Nothing: freshness is not judged.
};

struct WebhookVerdict {
    bool accepted = false;
    std::string code;  // Why not: missing_header, bad_signature, stale, …
};

// Ed25519 over timestamp and body; the timestamp is exactly ten digits, or bytes could wander
// between the two.
WebhookVerdict verify_discord(const WebhookRequest& request, std::string_view public_key_hex);

// The shared header; no secret configured means no. The body is not signed at all, so it must at
// least be a JSON object.
WebhookVerdict verify_telegram(const WebhookRequest& request, std::string_view secret);

// HMAC-SHA1 over the URL and the form's fields; a body of another kind must be bound by bodySHA256
// in the URL.
WebhookVerdict verify_twilio(const WebhookRequest& request, std::string_view auth_token);

WebhookVerdict verify_slack(const WebhookRequest& request, std::string_view signing_secret);

using FormFields = std::vector<std::pair<std::string, std::string>>;
// The fields of an x-www-form-urlencoded body in their order; nothing when there are too many. A
// malformed escape stands for itself.
std::optional<FormFields> read_form(std::string_view body);

// The value of a header that is there exactly once; names in any case.
std::optional<std::string> single_header(const WebhookRequest& request, std::string_view name);

}  // namespace interlock
