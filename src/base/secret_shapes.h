// The table of known shapes behind base/redaction.h. Nobody else includes it.
#pragma once

#include <cstddef>
#include <string_view>

namespace interlock {

struct SecretMatch {
    std::size_t begin = 0;
    std::size_t length = 0;  // 0: no match.
    std::string_view kind;
};

inline bool is_letter_or_digit(char c) {
    const char small = static_cast<char>(c | 0x20);
    return (c >= '0' && c <= '9') || (small >= 'a' && small <= 'z');
}

// The known shape that begins exactly at `at`, where a word begins: what stands before is no letter
// or digit. Length 0 when there is none.
SecretMatch known_shape_at(std::string_view text, std::size_t at);
// One of our own credentials, which are recognised inside words, too.
SecretMatch own_credential_at(std::string_view text, std::size_t at);
// The token of base64 characters at [begin, end): of an exchange's key, or too random for a word.
SecretMatch exchange_key(std::string_view text, std::size_t begin, std::size_t end);
bool is_high_entropy(std::string_view token);

// A UUID, or one of our own public ids.
bool is_plain_id(std::string_view token);
// Hex digits, as many as a digest in use has.
bool is_digest_form(std::string_view token);

// Shorter tokens are never taken for random ones.
inline constexpr std::size_t kEntropyTokenMin = 20;

}  // namespace interlock
