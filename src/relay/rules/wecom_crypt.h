// WeCom's BizMsgCrypt: the callback's signature, and the message inside its `Encrypt` element.
// Codes are named after the vendor's SDK.
//
// The cipher has no authenticator, so the signature is checked before anything is decrypted and a
// padding that does not agree with itself is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

struct WecomSecrets {
    std::string token;
    std::string encoding_aes_key;  // 43 characters.
    std::string receive_id;        // Whom messages are for; empty for suite callbacks.
};

struct WecomCallback {
    std::string msg_signature;
    std::string timestamp;
    std::string nonce;
    std::string encrypt;
    std::optional<std::int64_t> now_seconds;  // Nothing: freshness is not judged.
};

enum class WecomCode : int {
    ok = 0,
    bad_signature = -40001,
    bad_xml = -40002,
    bad_key = -40004,
    wrong_receiver = -40005,
    cannot_decrypt = -40007,
    bad_buffer = -40008,
    bad_base64 = -40010,
    stale = -40011,  // Ours: the timestamp is too far from now.
};

struct WecomMessage {
    WecomCode code = WecomCode::bad_signature;
    std::string text;  // Only with ok.
};
WecomMessage open_wecom(const WecomSecrets& secrets, const WecomCallback& callback);

// The `Encrypt` element of a callback's body.
std::optional<std::string> wecom_encrypted(std::string_view body_xml);

// For answers, and for tests: `random` is 16 bytes.
std::optional<std::string> seal_wecom(
    const WecomSecrets& secrets, std::string_view random, std::string_view text);
std::string sign_wecom(const std::string& token, const WecomCallback& callback);

}  // namespace interlock
