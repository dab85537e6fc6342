// What must not reach a log: values under names that speak of secrets, and our own credentials
// wherever they stand. When in doubt it masks; a log with one word too few costs nothing.
#include <algorithm>
#include <array>
#include <vector>

#include "base/log.h"
#include "base/text.h"

namespace interlock {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::string_view kRedacted = "[redacted]";
// Kinds of our credentials: access key, operator, session, one-time code or login, relay.
constexpr std::string_view kPrefixLetters = "koscr";
constexpr std::size_t kPrefixLength = 4;
// Right after a letter or digit, a prefix may be part of a word ("details_"), unless so many
// characters follow as only a credential has.
constexpr std::size_t kTailInsideWordMin = 16;

bool is_word_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_credential_character(char c) {
    return is_word_character(c) || c == '_' || c == '-';
}

// The length of the credential that begins at `at`; 0 when none does.
std::size_t credential_length(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at);
    if (rest.size() <= kPrefixLength || rest[3] != '_' ||
        !equal_ignoring_case(rest.substr(0, 2), "il") ||
        kPrefixLetters.find(to_lower(rest.substr(2, 1))) == std::string_view::npos) {
        return 0;
    }
    std::size_t end = kPrefixLength;
    while (end < rest.size() && is_credential_character(rest[end])) {
        ++end;
    }
    const bool inside_word = at > 0 && is_word_character(text[at - 1]);
    const std::size_t tail_min = inside_word ? kTailInsideWordMin : 1;
    return end - kPrefixLength >= tail_min ? end : 0;
}

// "clientSecret", "X-Api-Key" and "client_secret" as lower-case words.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    bool after_lower = false;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (!is_word_character(c) || (upper && after_lower)) {
            if (!words.back().empty()) {
                words.emplace_back();
            }
        }
        if (is_word_character(c)) {
            words.back() += to_lower(std::string_view(&c, 1));
        }
        after_lower = is_word_character(c) && !upper;
    }
    if (words.back().empty() && words.size() > 1) {
        words.pop_back();
    }
    return words;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& set) {
    return std::find(set.begin(), set.end(), word) != set.end();
}

constexpr std::array<std::string_view, 19> kSecretWords = {
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "tokens",
    "bearer",
    "credential",
    "authorization",
    "cookie",
    "cookies",
    "totp",
    "otp",
    "apikey",
    "credentials",
    "privatekey",
    "seed",
    "mnemonic"};
// Secret when the word "key" or "code" follows.
constexpr std::array<std::string_view, 7> kSecretKeys = {
    "access", "api", "private", "secret", "signing", "master", "encryption"};
constexpr std::array<std::string_view, 6> kSecretCodes = {
    "time", "login", "activation", "recovery", "backup", "verification"};
// What a name may end in that makes it speak about a secret rather than hold one.
constexpr std::array<std::string_view, 6> kHarmlessEndings = {
    "id", "at", "count", "name", "kind", "hint"};

}  // namespace

std::string redact(std::string_view text) {
    std::string out;
    std::size_t copied = 0;
    std::size_t at = 0;
    while (at + kPrefixLength < text.size()) {
        const std::size_t length =
            text[at + 3] == '_' ? credential_length(text, at) : std::size_t{0};
        if (length == 0) {
            ++at;
            continue;
        }
        out.append(text, copied, at + kPrefixLength - copied);
        out += kMask;
        at += length;
        copied = at;
    }
    out.append(text, copied);
    return out;
}

bool is_secret_name(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    if (words.size() == 1 && words[0] == "code") {
        return true;
    }
    if (is_one_of(words.back(), kHarmlessEndings)) {
        return false;
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
        if (is_one_of(words[i], kSecretWords) ||
            (next == "key" && is_one_of(words[i], kSecretKeys)) ||
            (next == "code" && is_one_of(words[i], kSecretCodes))) {
            return true;
        }
    }
    return false;
}

Json redact(const Json& json) {
    if (json.is_string()) {
        return Json(redact(json.as_string()));
    }
    if (json.is_array()) {
        Json copy = Json::array();
        for (const Json& item : json.items()) {
            copy.push(redact(item));
        }
        return copy;
    }
    if (json.is_object()) {
        Json copy = Json::object();
        for (const auto& [key, value] : json.members()) {
            const bool hidden = is_secret_name(key) && !value.is_null();
            copy.members().emplace_back(redact(key), hidden ? Json(kRedacted) : redact(value));
        }
        return copy;
    }
    return json;
}

}  // namespace interlock
