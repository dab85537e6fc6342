#include "relay/rules/wecom_crypt.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes.h"
#include "base/platform_crypto.h"
#include "relay/rules/flat_xml.h"
#include "relay/rules/webhook_signature.h"

namespace interlock {
namespace {

constexpr std::size_t kEncodedKeyCharacters = 43;
constexpr std::size_t kRandomBytes = 16;
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kPaddingMax = 32;
constexpr std::size_t kIvBytes = 16;
constexpr std::size_t kTimestampDigitsMax = 18;

// The 43 characters hold 258 bits of which WeCom uses 256: the last two are whatever its generator
// left there.
std::optional<std::string> key_of(const std::string& encoded) {
    static constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (encoded.size() != kEncodedKeyCharacters) {
        return std::nullopt;
    }
    const std::size_t last = kAlphabet.find(encoded.back());
    if (last == std::string_view::npos) {
        return std::nullopt;
    }
    std::string text = encoded;
    text.back() = kAlphabet[last & ~std::size_t{3}];
    auto key = from_base64(text + "=");
    return key ? std::optional(*std::move(key)) : std::nullopt;
}

CbcKey cbc_key(const std::string& key) {
    return {.key = key, .iv = std::string_view(key).substr(0, kIvBytes)};
}

bool is_fresh(const WecomCallback& callback) {
    if (!callback.now_seconds) {
        return true;
    }
    const std::string& text = callback.timestamp;
    std::int64_t at = 0;
    if (text.empty() || text.size() > kTimestampDigitsMax ||
        text.find_first_not_of("0123456789") != std::string::npos) {
        return false;
    }
    std::from_chars(text.data(), text.data() + text.size(), at);
    return *callback.now_seconds - at <= kWebhookFreshnessSeconds &&
           at - *callback.now_seconds <= kWebhookFreshnessSeconds;
}

// Padding is 1 to 32 bytes, each holding their number.
bool remove_padding(std::string& plain) {
    if (plain.empty()) {
        return false;
    }
    const auto count = static_cast<std::size_t>(static_cast<unsigned char>(plain.back()));
    if (count == 0 || count > kPaddingMax || count > plain.size()) {
        return false;
    }
    const std::string_view padding = std::string_view(plain).substr(plain.size() - count);
    if (padding.find_first_not_of(plain.back()) != std::string_view::npos) {
        return false;
    }
    plain.resize(plain.size() - count);
    return true;
}

WecomMessage failed(WecomCode code) {
    return {code, {}};
}

WecomMessage read_plain(std::string_view plain, std::string_view receive_id) {
    if (plain.size() < kRandomBytes + kLengthBytes) {
        return failed(WecomCode::bad_buffer);
    }
    plain.remove_prefix(kRandomBytes);
    std::uint64_t length = 0;
    for (const char c : plain.substr(0, kLengthBytes)) {
        length = length << 8 | static_cast<unsigned char>(c);
    }
    plain.remove_prefix(kLengthBytes);
    if (length > plain.size()) {
        return failed(WecomCode::bad_buffer);
    }
    if (plain.substr(length) != receive_id) {
        return failed(WecomCode::wrong_receiver);
    }
    return {WecomCode::ok, std::string(plain.substr(0, length))};
}

}  // namespace

std::string sign_wecom(const std::string& token, const WecomCallback& callback) {
    std::array<std::string_view, 4> parts = {
        token, callback.timestamp, callback.nonce, callback.encrypt};
    std::ranges::sort(parts);
    std::string joined;
    for (const std::string_view part : parts) {
        joined += part;
    }
    return sha1_hex(joined);
}

WecomMessage open_wecom(const WecomSecrets& secrets, const WecomCallback& callback) {
    if (secrets.token.empty() ||
        !equal_in_constant_time(sign_wecom(secrets.token, callback), callback.msg_signature)) {
        return failed(WecomCode::bad_signature);
    }
    if (!is_fresh(callback)) {
        return failed(WecomCode::stale);
    }
    const auto key = key_of(secrets.encoding_aes_key);
    if (!key) {
        return failed(WecomCode::bad_key);
    }
    const auto sealed = from_base64(callback.encrypt);
    if (!sealed) {
        return failed(WecomCode::bad_base64);
    }
    auto plain = aes_256_cbc_decrypt(cbc_key(*key), *sealed);
    if (!plain || !remove_padding(*plain)) {
        return failed(WecomCode::cannot_decrypt);
    }
    return read_plain(*plain, secrets.receive_id);
}

std::optional<std::string> wecom_encrypted(std::string_view body_xml) {
    auto fields = read_flat_xml(body_xml);
    if (!fields || !fields->contains("Encrypt")) {
        return std::nullopt;
    }
    return std::move(fields->at("Encrypt"));
}

std::optional<std::string> seal_wecom(
    const WecomSecrets& secrets, std::string_view random, std::string_view text) {
    const auto key = key_of(secrets.encoding_aes_key);
    if (!key || random.size() != kRandomBytes) {
        return std::nullopt;
    }
    std::string plain(random);
    for (int shift = 24; shift >= 0; shift -= 8) {
        plain += static_cast<char>(text.size() >> shift & 0xFF);
    }
    plain += text;
    plain += secrets.receive_id;
    const std::size_t padding = kPaddingMax - plain.size() % kPaddingMax;
    plain.append(padding, static_cast<char>(padding));
    const auto sealed = aes_256_cbc_encrypt(cbc_key(*key), plain);
    return sealed ? std::optional(to_base64(*sealed)) : std::nullopt;
}

}  // namespace interlock
