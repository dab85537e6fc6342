// Secrets as people say them, without a sign between name and value: "my password is hunter2",
// "api-key hunter2", "private key 0x…", "2fa code 483920". The judge of base/redaction.h asks it.
#pragma once

#include <string>
#include <string_view>

#include "base/secret_shapes.h"

namespace interlock {

// The name that ends at or, over blanks and quotes, before `end`: "api_key", also of "api key".
std::string name_before(std::string_view text, std::size_t end);
// What follows the word at [begin, end), when that word, or it and the one before, names a secret.
// Length 0: nothing, or what follows does not look like one.
SecretMatch spoken_secret_at(std::string_view text, std::size_t begin, std::size_t end);

bool is_value_end(char c);
// "none", "wrong": what is said about a secret, and is none.
bool is_plain_answer(std::string_view value);
inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

inline constexpr std::string_view kMaskOpen = "[masked:";

}  // namespace interlock
