#include "relay/rules/upgrade_token.h"

#include <charconv>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::size_t kExpiryDigitsMax = 18;
constexpr std::size_t kSignatureDigits = 64;

std::optional<std::int64_t> read_expiry(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (text.empty() || text.size() > kExpiryDigitsMax ||
        text.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string signed_text(std::string_view gateway_id, std::int64_t expires_at) {
    return std::string(gateway_id) + ":" + std::to_string(expires_at);
}

}  // namespace

std::optional<UpgradeToken> read_upgrade_token(std::string_view text) {
    if (text.size() > kUpgradeTokenBytesMax) {
        return std::nullopt;
    }
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    const auto plain = from_base64url(text);
    if (!plain || !is_valid_utf8(*plain)) {
        return std::nullopt;
    }
    const std::string_view whole = *plain;
    const std::size_t last = whole.rfind(':');
    if (last == std::string_view::npos || last == 0) {
        return std::nullopt;
    }
    const std::size_t first = whole.rfind(':', last - 1);
    if (first == std::string_view::npos) {
        return std::nullopt;
    }
    const auto expires_at = read_expiry(whole.substr(first + 1, last - first - 1));
    const std::string digits = to_lower(whole.substr(last + 1));
    auto signature = from_hex(digits);
    if (!expires_at || digits.size() != kSignatureDigits || !signature) {
        return std::nullopt;
    }
    return UpgradeToken{
        .gateway_id = std::string(whole.substr(0, first)),
        .expires_at = *expires_at,
        .signature = *std::move(signature)};
}

TokenVerdict verify_upgrade_token(
    const UpgradeToken& token, const std::vector<std::string>& secrets, const TokenCheck& check) {
    const std::string message = signed_text(token.gateway_id, token.expires_at);
    bool is_good = false;
    for (const std::string& secret : secrets) {
        // An empty secret is one that was never set; a signature with it proves nothing.
        const bool matches = equal_in_constant_time(hmac_sha256(secret, message), token.signature);
        is_good = is_good | (matches & !secret.empty());
    }
    if (!is_good) {
        return TokenVerdict::rejected;
    }
    const bool is_expired =
        token.expires_at != 0 && check.now_seconds - check.skew_seconds > token.expires_at;
    return is_expired ? TokenVerdict::expired : TokenVerdict::accepted;
}

std::string mint_upgrade_token(
    std::string_view gateway_id, std::string_view secret, std::int64_t expires_at) {
    const std::string message = signed_text(gateway_id, expires_at);
    return to_base64url(message + ":" + to_hex(hmac_sha256(secret, message)));
}

}  // namespace interlock
