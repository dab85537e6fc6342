#include "relay/rules/webhook_signature.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kDiscordTimestampDigits = 10;
constexpr std::size_t kSlackTimestampDigitsMax = 12;
constexpr std::size_t kEd25519SignatureDigits = 128;
constexpr std::size_t kEd25519KeyDigits = 64;
constexpr std::size_t kTelegramSecretBytesMax = 256;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kTelegramAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

WebhookVerdict accept() {
    return {true, {}};
}

WebhookVerdict reject(std::string code) {
    return {false, std::move(code)};
}

bool is_made_of(std::string_view text, std::string_view alphabet) {
    return text.find_first_not_of(alphabet) == std::string_view::npos;
}

bool is_fresh(const WebhookRequest& request, std::string_view timestamp) {
    std::int64_t at = 0;
    std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), at);
    return !request.now_seconds || (*request.now_seconds - at <= kWebhookFreshnessSeconds &&
                                    at - *request.now_seconds <= kWebhookFreshnessSeconds);
}

int hex_digit(char c) {
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string decode_field(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && text.size() - at >= 3 && hex_digit(text[at + 1]) >= 0 &&
            hex_digit(text[at + 2]) >= 0) {
            out += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
            at += 2;
        } else {
            out += text[at] == '+' ? ' ' : text[at];
        }
    }
    return out;
}

// The URL without its port and with it (its own or the scheme's): Twilio signs one or the other.
std::vector<std::string> url_forms(const std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos) {
        return {url};
    }
    const std::size_t start = scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
    const std::string authority = url.substr(start, end - start);
    const std::size_t host = authority.rfind('@') + 1;  // npos + 1 is 0.
    const std::size_t bracket = authority.find(']', host);
    const std::size_t colon = authority.find(':', bracket == std::string::npos ? host : bracket);
    const std::string before = url.substr(0, start);
    const std::string after = url.substr(end);
    if (colon != std::string::npos) {
        return {url, before + authority.substr(0, colon) + after};
    }
    const std::string port = url.starts_with("https:") ? ":443" : ":80";
    return {url, before + authority + port + after};
}

// Each name with each of its distinct values once, in byte order.
std::string signed_fields(FormFields fields) {
    std::ranges::sort(fields);
    const auto rest = std::ranges::unique(fields);
    fields.erase(rest.begin(), rest.end());
    std::string text;
    for (const auto& [name, value] : fields) {
        text += name;
        text += value;
    }
    return text;
}

bool is_form(const WebhookRequest& request) {
    const auto type = single_header(request, "content-type");
    return type && to_lower(*type).starts_with("application/x-www-form-urlencoded");
}

// The first value of `name` in the query of `url`.
std::optional<std::string> query_value(std::string_view url, std::string_view name) {
    const std::size_t start = url.find('?');
    if (start == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view query = url.substr(start + 1, url.find('#') - start - 1);
    const auto fields = read_form(query);
    if (!fields) {
        return std::nullopt;
    }
    const auto found =
        std::ranges::find_if(*fields, [&](const auto& field) { return field.first == name; });
    return found == fields->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<std::string> single_header(const WebhookRequest& request, std::string_view name) {
    const std::string* found = nullptr;
    for (const auto& [key, value] : request.headers) {
        if (!equal_ignoring_case(key, name)) {
            continue;
        }
        if (found != nullptr) {
            return std::nullopt;
        }
        found = &value;
    }
    return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<FormFields> read_form(std::string_view body) {
    FormFields fields;
    for (const std::string_view part : split(body, '&')) {
        if (part.empty()) {
            continue;
        }
        if (fields.size() == kFormFieldsMax) {
            return std::nullopt;
        }
        const std::size_t equals = part.find('=');
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
        fields.emplace_back(decode_field(part.substr(0, equals)), decode_field(value));
    }
    return fields;
}

WebhookVerdict verify_discord(const WebhookRequest& request, std::string_view public_key_hex) {
    const auto signature = single_header(request, "x-signature-ed25519");
    const auto timestamp = single_header(request, "x-signature-timestamp");
    if (!signature || !timestamp) {
        return reject("missing_header");
    }
    if (timestamp->size() != kDiscordTimestampDigits || !is_made_of(*timestamp, kDigits)) {
        return reject("bad_timestamp");
    }
    const auto key = from_hex(to_lower(public_key_hex));
    if (public_key_hex.size() != kEd25519KeyDigits || !key) {
        return reject("bad_key");
    }
    const auto raw = from_hex(to_lower(*signature));
    if (signature->size() != kEd25519SignatureDigits || !raw ||
        !ed25519_verify(*key, *timestamp + request.body, *raw)) {
        return reject("bad_signature");
    }
    return is_fresh(request, *timestamp) ? accept() : reject("stale");
}

WebhookVerdict verify_telegram(const WebhookRequest& request, std::string_view secret) {
    if (secret.empty() || secret.size() > kTelegramSecretBytesMax ||
        !is_made_of(secret, kTelegramAlphabet)) {
        return reject("no_secret");
    }
    const auto given = single_header(request, "x-telegram-bot-api-secret-token");
    if (!given) {
        return reject("missing_header");
    }
    // Over digests, so that the time does not tell how long the secret is.
    if (!equal_in_constant_time(sha256(*given), sha256(secret))) {
        return reject("bad_signature");
    }
    const auto body = parse_json(request.body);
    return body && body->is_object() ? accept() : reject("bad_body");
}

WebhookVerdict verify_twilio(const WebhookRequest& request, std::string_view auth_token) {
    const auto signature = single_header(request, "x-twilio-signature");
    if (!signature) {
        return reject("missing_header");
    }
    if (auth_token.empty()) {
        return reject("no_secret");
    }
    std::string fields;
    if (is_form(request)) {
        auto form = read_form(request.body);
        if (!form) {
            return reject("bad_body");
        }
        fields = signed_fields(*std::move(form));
    } else if (const auto digest = query_value(request.url, "bodySHA256")) {
        if (!equal_in_constant_time(*digest, sha256_hex(request.body))) {
            return reject("bad_body_hash");
        }
    } else if (!request.body.empty()) {
        return reject("unsigned_body");
    }
    bool is_good = false;
    for (const std::string& url : url_forms(request.url)) {
        const std::string expected = to_base64(hmac_sha1(auth_token, url + fields));
        is_good = is_good | equal_in_constant_time(expected, *signature);
    }
    return is_good ? accept() : reject("bad_signature");
}

WebhookVerdict verify_slack(const WebhookRequest& request, std::string_view signing_secret) {
    const auto signature = single_header(request, "x-slack-signature");
    const auto timestamp = single_header(request, "x-slack-request-timestamp");
    if (!signature || !timestamp) {
        return reject("missing_header");
    }
    if (signing_secret.empty()) {
        return reject("no_secret");
    }
    if (timestamp->empty() || timestamp->size() > kSlackTimestampDigitsMax ||
        !is_made_of(*timestamp, kDigits)) {
        return reject("bad_timestamp");
    }
    const std::string expected =
        "v0=" + to_hex(hmac_sha256(signing_secret, "v0:" + *timestamp + ":" + request.body));
    if (!equal_in_constant_time(expected, *signature)) {
        return reject("bad_signature");
    }
    return is_fresh(request, *timestamp) ? accept() : reject("stale");
}

}  // namespace interlock
